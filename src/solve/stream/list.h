/* solve/stream/list.h - the two loops of list scheduling, for stream problems.
 *
 * list_schedule takes the ready operator of highest priority and puts it where it ends first: HEFT, CPOP, PEFT are
 * choices of a policy. list_pairs takes the best pair of a ready operator and a device: ETF, DLS. */
#ifndef SITU_SOLVE_STREAM_LIST_H
#define SITU_SOLVE_STREAM_LIST_H

#include "solve/common/solver.h"
#include "solve/stream/partial.h"

typedef struct list_policy {
  const double *priority; /* [operator], the highest first; ties: the lower number */
  /* NULL, or the operators in that order, if it is available: then nothing is sorted and priority may be NULL. */
  const int32_t *sequence;
  const int64_t *tail_ns; /* [operator * n_devices + device] added to the finish when devices are compared; or NULL */
  const int32_t *forced;  /* [operator] its device if that is a candidate, or -1; or NULL */
  /* NULL, or what chooses the device of an operator instead: one of partial_candidates, after partial_arrive; -1: none.
   */
  int32_t (*choose)(void *context, partial_schedule *s, int32_t v);
  void *context;
} list_policy;

/* Schedules everything into an empty partial schedule. False when the budget ended before that, or memory. */
bool list_schedule(partial_schedule *s, const list_policy *policy, budget *b, arena *scratch);

typedef enum list_pair_rule {
  LIST_EARLIEST_START, /* ETF: the earliest start, ties by the highest level, then a device that waits for nothing, then
                          the earliest finish */
  LIST_DYNAMIC_LEVEL   /* DLS: the maximum level - start + (mean time - time) */
} list_pair_rule;

typedef struct list_pair_policy {
  list_pair_rule rule;
  const double *level, *mean; /* [operator] static level and mean time, without transfers; mean only for DLS */
  /* [operator] its favourite consumer or -1; or NULL. A device whose last operator has a favourite that is ready, and
   * that no other device could start earlier, waits for it: it takes another operator v only as late as the last device
   * could start v (Hanen, Munier 1995: the operator is urgent). */
  const int32_t *favourite;
} list_pair_policy;

/* Schedules everything into an empty partial schedule. Only the LIST_SHORTLIST ready operators of highest level are
 * considered in each step. False if the budget or memory ended first. */
enum { LIST_SHORTLIST = 64 };
bool list_pairs(partial_schedule *s, const list_pair_policy *policy, budget *b, arena *scratch);

/* Offers the schedules of list_schedule by upward ranks: one for each way to derive ranks from heterogeneous devices,
 * and if links serve one transfer at a time another with channels tracked. forced: as in list_policy. */
situ_status list_by_rank(solve_run *run, const int32_t *forced);

/* Offers a finished schedule to the incumbent, after moving operators off memories that are too full. Returns the
 * value, SITU_NEVER_NS where it did not come to fit. */
int64_t list_offer(solve_run *run, partial_schedule *s);

#endif
