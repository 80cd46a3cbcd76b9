/* solve/kit/list.h - the two loops of list scheduling, for stream problems.
 *
 * list_schedule takes the ready operator of highest priority and puts it where it ends first: HEFT, CPOP, PEFT are
 * choices of a policy. list_pairs takes the best pair of a ready operator and a device: ETF, DLS. */
#ifndef SITU_SOLVE_KIT_LIST_H
#define SITU_SOLVE_KIT_LIST_H

#include "solve/kit/draft.h"
#include "solve/solver.h"

typedef struct list_policy {
  const double *priority; /* [operator], the highest first; ties: the lower number */
  const int64_t *tail_ns; /* [operator * n_devices + device] added to the finish when devices are compared; or NULL */
  const int32_t *forced;  /* [operator] its device if that is a candidate, or -1; or NULL */
} list_policy;

/* Schedules everything into the empty draft. False when the budget ended before that, or memory. */
bool list_schedule(draft *s, const list_policy *policy, budget *b, arena *scratch);

typedef enum list_pair_rule {
  LIST_EARLIEST_START, /* ETF: the least start, ties by the highest level */
  LIST_DYNAMIC_LEVEL   /* DLS: the greatest level - start + (mean time - time) */
} list_pair_rule;

/* Level: static level of each operator, without transfers; mean: its mean time. Only the LIST_WINDOW ready operators of
 * highest level are looked at in each turn. */
enum { LIST_WINDOW = 64 };
bool list_pairs(draft *s, list_pair_rule rule, const double *level, const double *mean, budget *b, arena *scratch);

/* A whole solver of that kind: levels, list_pairs, and the offer. */
situ_status list_solve_pairs(solve_run *run, list_pair_rule rule);

/* Offers a finished draft to the incumbent, after moving operators off memories that are too full. */
void list_offer(solve_run *run, draft *s);

#endif
