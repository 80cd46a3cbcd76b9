/* solve/pipeline/stage_ascent.h - subgradient ascent for one subproblem: the plans of a sequence of devices with each
 * class at some of its stages.
 *
 * The minimum priced sum of loads is a concave function of the prices; the loads of the assignment that attains it are
 * a subgradient (Held and Karp, Mathematical Programming 1, 1971). Steps are those of Polyak, with the period to be
 * refuted as the target. Each assignment is also a contiguous plan, and is offered if it is better than the incumbent.
 */
#ifndef SITU_SOLVE_PIPELINE_STAGE_ASCENT_H
#define SITU_SOLVE_PIPELINE_STAGE_ASCENT_H

#include "solve/pipeline/stage_space.h"

enum { STAGE_PRICES = 3 * STAGES_MAX };

/* A subproblem (stage_space.h), and the best prices found for it. */
typedef struct stage_subproblem {
  const device_sequence *sequence;
  uint16_t *may, *held;
  double *price; /* [STAGE_PRICES] of compute of each stage; with overlap then those of in and of out */
} stage_subproblem;

typedef enum stage_verdict {
  STAGE_OPEN,    /* not refuted */
  STAGE_REFUTED, /* has no plan of period max_ns or less */
  STAGE_BETTER,  /* the incumbent now has a period of max_ns or less */
  STAGE_STOPPED  /* the budget is spent; in free pipelines also: its tables are too wide */
} stage_verdict;

typedef struct stage_ascent {
  solve_run *run;
  stage_space *space;
  double *share;        /* [(n + n_edges) * STAGES_MAX] share of assignments with a class, or a tensor, at a stage */
  double lower_ns;      /* lower bound of the last subproblem */
  int64_t work, passes; /* so far: table entries computed; prices tried */
  uint8_t *stage;       /* [class] scratch */
} stage_ascent;

/* False without memory. */
bool stage_ascent_init(stage_ascent *out, solve_run *run, stage_space *space);
/* Initial prices: proportional to rate[type] (boundary_ranges.h), which balances the work of the devices. */
void stage_price_start(double *price, const device_sequence *sequence, const int64_t *rate);
/* The prices as integers, in units of 1 / STAGE_PRICE_ONE, with a sum of at most 1. */
void stage_price_round(stage_price *out, const stages *s, const device_sequence *sequence, const double *price);
/* Tries some tens of prices for a subproblem, and again as long as that narrows it much. Narrows may and held, and
 * leaves the best prices. Errors: NO_MEMORY. */
situ_status stage_ascent_run(stage_verdict *verdict, stage_ascent *a, const stage_subproblem *sub, int64_t max_ns);

#endif
