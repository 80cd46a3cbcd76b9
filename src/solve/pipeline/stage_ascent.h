/* solve/pipeline/stage_ascent.h - one subproblem, the plans of a sequence of devices with each class at some of its
 * stages, looked at with better and better prices.
 *
 * The least priced sum of loads is a concave function of the prices; the loads of the assignment that attains it are a
 * subgradient (Held and Karp, Mathematical Programming 1, 1971). Steps are those of Polyak, aimed at the period that is
 * to be refuted. Each assignment is a contiguous plan, too, and is offered when it is better than the incumbent. */
#ifndef SITU_SOLVE_PIPELINE_STAGE_ASCENT_H
#define SITU_SOLVE_PIPELINE_STAGE_ASCENT_H

#include "solve/pipeline/stage_space.h"

enum { STAGE_PRICES = 3 * STAGE_MOST };

/* What stage_space.h says of the plans of a subproblem, and the prices that were best for it. */
typedef struct stage_subproblem {
  const device_sequence *sequence;
  uint16_t *may, *held;
  double *price; /* [STAGE_PRICES] of compute of each stage; with overlap of in and of out, too */
} stage_subproblem;

typedef enum stage_verdict {
  STAGE_OPEN,    /* not refuted */
  STAGE_REFUTED, /* has no plan of period most_ns or less */
  STAGE_BETTER,  /* the incumbent has a period of most_ns or less now */
  STAGE_STOPPED  /* by the budget */
} stage_verdict;

typedef struct stage_ascent {
  solve_run *run;
  stage_space *space;
  double *share;        /* [(n + n_edges) * STAGE_MOST] how often a class, or its tensor, was at a stage so far */
  double lower_ns;      /* what the last subproblem was proved to take */
  int64_t work, passes; /* so far: entries of tables added up; prices tried */
  uint8_t *stage;       /* [class] scratch */
} stage_ascent;

/* False without memory. */
bool stage_ascent_init(stage_ascent *out, solve_run *run, stage_space *space);
/* Prices to begin with: those that make the work of the devices even, reach[type] being what a nanosecond is worth. */
void stage_price_start(double *price, const device_sequence *sequence, const int64_t *reach);
/* The prices as whole numbers, not more than 1 in sum. */
void stage_price_round(stage_price *out, const stages *s, const device_sequence *sequence, const double *price);
/* Looks at a subproblem: at some tens of prices, and again as long as that narrows it much. Narrows may and held,
 * leaves the best prices. Errors: NO_MEMORY. */
situ_status stage_ascent_look(stage_verdict *verdict, stage_ascent *a, const stage_subproblem *sub, int64_t most_ns);

#endif
