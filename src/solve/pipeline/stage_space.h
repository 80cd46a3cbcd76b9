/* solve/pipeline/stage_space.h - the search space of stage_prices and stage_lns: the sequences of devices of contiguous
 * plans, and for one of them the possible stages of each class. Of plans that need not be contiguous the devices have
 * no order: one sequence has them all, each stage is a device, and F forbids nothing. */
#ifndef SITU_SOLVE_PIPELINE_STAGE_SPACE_H
#define SITU_SOLVE_PIPELINE_STAGE_SPACE_H

#include "solve/common/solver.h"
#include "solve/pipeline/stage_energy.h"

enum { STAGE_MAX_SEQUENCES = 64, STAGE_MAX_CLASSES = 4096 };
/* With sequences no load is greater, so sums of priced loads stay below ELIMINATION_NEVER. */
#define STAGE_MAX_NS ((int64_t)1 << 40)

/* Every plan has one of the sequences, with some stages left empty: these are all orders of all devices, up to the
 * exchange of equal devices. */
typedef struct stage_space {
  const stages *s;
  int32_t n_sequences; /* 0: too many sequences, devices or classes, or times too long for prices */
  device_sequence *sequences;
  stage_order order;        /* of classes; empty where F forbids nothing */
  uint64_t *before, *after; /* [class * n_words] all predecessors in F, all successors, as bits */
  int64_t *up, *down, *min; /* [class] scratch: sums over predecessors and successors; its own term */
  int64_t *in_word;         /* [n_words] scratch */
} stage_space;

/* Whether stage_energy.h models the loads of a problem: host-staged, no replicas, forward and backward load as one
 * number. */
bool stage_space_serves(const situ_problem *problem);
/* O(classes^2 * classes / 64). False without memory. */
bool stage_space_init(stage_space *out, const stages *s, arena *a);

/* A subproblem of a sequence of devices: may[class] are the allowed stages of a class, held[edge] the stages that make
 * or receive the tensor of an edge whatever is decided. This one has all plans of period at most max_ns. */
void stage_space_open(const stage_space *g, const device_sequence *sequence, int64_t max_ns, uint16_t *may,
                      uint16_t *held);
/* Drops stages that F forbids. False if a class has none left, or a tensor cannot be where it is held. */
bool stage_space_tighten(const stage_space *g, uint16_t *may, const uint16_t *held);
/* Drops stages where the priced work before a class, or after it, exceeds what the devices there can do; then
 * tightens. */
bool stage_space_drop(stage_space *g, const device_sequence *sequence, const stage_price *price, int64_t max_ns,
                      uint16_t *may, const uint16_t *held);

/* Whether the same classes and tensors may be, and are, at two stages. */
bool stage_space_alike(const stage_space *g, int32_t a, int32_t b, const uint16_t *may, const uint16_t *held);
/* Which of several equal devices that are alike has class v does not matter: leaves it the first. Only where the plans
 * need not be contiguous. */
void stage_space_break_symmetry(const stage_space *g, const device_sequence *sequence, int32_t v, uint16_t *may,
                                const uint16_t *held);

/* Fills min, up and down of undecided classes with the undecided work. */
void stage_space_weigh(stage_space *g, const device_sequence *sequence, const uint16_t *may);

/* The maximum load. */
int64_t stage_period(const stages *s, const device_sequence *sequence, const stage_cost *loads);
/* Offers an assignment as a plan. NO_MEMORY or OK. */
situ_status stage_offer(solve_run *run, const stages *s, const device_sequence *sequence, const uint8_t *stage);

#endif
