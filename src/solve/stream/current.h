/* solve/stream/current.h - the current solution of a search of streams, a schedule with its cost, and what such
 * searches share.
 *
 * A search compares schedules by their cost: the simulated value, OVER_PRICE times what exceeds a limit of latency or
 * period, and a price for each byte over the limit of a memory. So it may pass through schedules that break limits; the
 * incumbent takes only those that keep them (solve_try). */
#ifndef SITU_SOLVE_STREAM_CURRENT_H
#define SITU_SOLVE_STREAM_CURRENT_H

#include "solve/common/search.h"
#include "solve/stream/critical.h"

typedef struct current {
  solve_run *run;
  placement where;               /* with an order of its own */
  int64_t *start_ns, *finish_ns; /* [operator] */
  int64_t *peak_bytes;           /* [memory] 0 where memory is not followed */
  int64_t over_ns, excess_bytes; /* as in a simulation */
  double cost;                   /* SEARCH_NONE before the first schedule */
  double price;                  /* nanoseconds for a byte of excess */
  critical critical;             /* of this schedule, from current_explain on */
  bool explained;
  simulator_base *base; /* the schedule of the last current_go_to; NULL in searches that never go on below a cost */
} current;

/* The price of a byte of excess: as many bytes as the smallest memory cost ten times value_ns (or ten seconds if that
 * is SITU_NEVER_NS). */
double current_price(const situ_problem *problem, int64_t value_ns);
/* No schedule yet; the price is that of the incumbent's value. with_base: current_try and current_go_to are used. False
 * without memory; everything lives in the arena of the run. */
bool current_init(current *s, solve_run *run, bool with_base);
/* Room for another placement of the run's problem. False without memory. */
bool current_new_placement(placement *out, const solve_run *run);

double current_cost(const current *s, const simulation *found);
/* Tries a placement and returns its cost, or SEARCH_NONE as soon as the cost is sure to be `below` or more. A step. */
double current_try(current *s, const placement *where, double below);
/* Makes the placement, just simulated and with a value, the current one. O(V). An order of NULL is the index
 * order, here and below. */
void current_settle(current *s, const placement *where, const simulation *found);
/* Simulates the placement, which must have a value, and makes it the current one. No step. */
void current_go_to(current *s, const placement *where);
/* Fills `critical` unless it is filled for this schedule. O(V + E). */
void current_explain(current *s);

/* ---- changes of a placement ---- */

/* Copies devices and order of n operators. */
void current_copy(placement *to, const placement *from, int32_t n);
/* The positions that v may take in the current order, after its producers and before its users, while nothing else
 * moves. The schedule must be explained. O(degree of v). */
void current_range(const current *s, int32_t v, int32_t *low, int32_t *high);
/* Takes the operator at position `from` of an order to position `to`. */
void current_shift(int32_t *order, int32_t from, int32_t to);

/* ---- rows of solve/common/search.h ---- */

/* The first members of the state of a row; the functions below take the state for a stream_search. */
#define STREAM_SEARCH                  \
  search s;                            \
  current now;                         \
  placement trial; /* the neighbour */ \
  simulation found /* of the trial, if complete */
typedef struct stream_search {
  STREAM_SEARCH;
} stream_search;

/* search_row.init without parameters; with_base: for the second pair of functions below. */
situ_status stream_search_init(search *s, bool with_base);
/* search_row.begin: restarts from the incumbent. The scale is the best cost. */
bool stream_search_begin(search *s, bool restart);
/* search_row.evaluate and accept: a complete simulation of the trial, which accept takes over. */
double stream_search_simulate(search *s, double below);
void stream_search_settle(search *s, double cost);
/* The same with trials that stop at `below`, and one more simulation for each accepted one. */
double stream_search_try(search *s, double below);
void stream_search_go_to(search *s, double cost);

#endif
