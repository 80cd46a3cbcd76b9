/* solve/pipeline/stage_space.h - where the classes of a contiguous pipeline may be: the sequences of devices that plans
 * can have, and for one of them the stages of each class. What stage_prices and stage_lns share. */
#ifndef SITU_SOLVE_PIPELINE_STAGE_SPACE_H
#define SITU_SOLVE_PIPELINE_STAGE_SPACE_H

#include "solve/common/solver.h"
#include "solve/pipeline/stage_energy.h"

enum { STAGE_MOST_SEQUENCES = 64, STAGE_MOST_CLASSES = 4096 };
/* No load is greater where there are sequences: sums of priced loads stay below ELIMINATION_NEVER. */
#define STAGE_MOST_NS ((int64_t)1 << 40)

/* Every plan is one of a sequence here, with some stages left empty: sequences are all orders of all devices, those of
 * equal devices being one. */
typedef struct stage_space {
  const stages *s;
  int32_t n_sequences; /* 0: there are too many, or too many devices or classes, or times too great for prices */
  device_sequence *sequences;
  stage_order order;
  uint64_t *before, *after;   /* [class * n_words] all that comes before it in F, and after it, as bits */
  int64_t *up, *down, *least; /* [class] scratch: sums over what comes before and after it; its own part of them */
  int64_t *in_word;           /* [n_words] scratch */
} stage_space;

/* Whether the loads of a problem are those of stage_energy.h: contiguous, host-staged, no replicas, one number of
 * forward and backward load. */
bool stage_space_serves(const situ_problem *problem);
/* O(classes^2 * classes / 64). False without memory. */
bool stage_space_init(stage_space *out, const stages *s, arena *a);

/* A subproblem of a sequence of devices: may[class] says at which stages the class is, held[edge] which stages
 * make or receive its tensor in any case. These begin with all plans of period at most most_ns. */
void stage_space_open(const stage_space *g, const device_sequence *sequence, int64_t most_ns, uint16_t *may,
                      uint16_t *held);
/* Drops stages that F forbids. False when a class has none left, or a tensor cannot be where it is held. */
bool stage_space_tighten(const stage_space *g, uint16_t *may, const uint16_t *held);
/* Drops stages where what comes before a class, or after it, is too much for the devices there, told in prices of
 * compute; then tightens. */
bool stage_space_drop(stage_space *g, const device_sequence *sequence, const stage_price *price, int64_t most_ns,
                      uint16_t *may, const uint16_t *held);

/* Fills least, up and down of classes that are not decided with the work that is not. */
void stage_space_weigh(stage_space *g, const device_sequence *sequence, const uint16_t *may);

/* The greatest load. */
int64_t stage_period(const stages *s, const device_sequence *sequence, const stage_cost *loads);
/* Offers an assignment as a plan. NO_MEMORY or OK. */
situ_status stage_offer(solve_run *run, const stages *s, const device_sequence *sequence, const uint8_t *stage);

#endif
