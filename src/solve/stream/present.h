/* solve/stream/present.h - the present schedule of a search for streams: the one from which it tries others.
 *
 * A search compares schedules by their cost: the simulated value, OVER_PRICE times what exceeds a limit of latency or
 * period, and a price for each byte over the limit of a memory. So it may pass through schedules that break limits; the
 * incumbent takes only those that keep them (solve_try). */
#ifndef SITU_SOLVE_STREAM_PRESENT_H
#define SITU_SOLVE_STREAM_PRESENT_H

#include "solve/common/solver.h"
#include "solve/stream/critical.h"

typedef struct present {
  solve_run *run;
  placement where;               /* with an order of its own */
  int64_t *start_ns, *finish_ns; /* [operator] */
  int64_t *peak_bytes;           /* [memory] 0 where memory is not followed */
  int64_t over_ns, excess_bytes; /* as in a simulation */
  double cost;                   /* PRESENT_NONE before the first schedule */
  double price;                  /* nanoseconds for a byte of excess */
  critical critical;             /* of this schedule, from present_explain on */
  bool explained;
  simulator_base *base; /* the schedule of the last present_go_to; NULL in searches that never go on below a cost */
} present;

/* More than any schedule costs; also the cost of a trial that was stopped. */
#define PRESENT_NONE 1e301

/* The price of a byte of excess: as many bytes as the smallest memory cost ten times value_ns (or ten seconds if that
 * is SITU_NEVER_NS). */
double present_price(const situ_problem *problem, int64_t value_ns);
/* No schedule yet; the price is that of the incumbent's value. with_base: present_try and present_go_to are used. False
 * without memory; everything lives in the arena of the run. */
bool present_init(present *s, solve_run *run, bool with_base);
/* Room for another placement of the run's problem. False without memory. */
bool present_room(placement *out, const solve_run *run);

double present_cost(const present *s, const simulation *found);
/* Tries a placement and returns its cost, or PRESENT_NONE as soon as the cost is sure to be `below` or more. A step. */
double present_try(present *s, const placement *where, double below);
/* Makes the placement, just simulated and with a value, the present schedule. O(V). An order of NULL is the index
 * order, here and below. */
void present_settle(present *s, const placement *where, const simulation *found);
/* Simulates the placement, which must have a value, and makes it the present schedule. No step. */
void present_go_to(present *s, const placement *where);
/* Fills `critical` unless it is filled for this schedule. O(V + E). */
void present_explain(present *s);

/* ---- changes of a placement ---- */

/* Copies devices and order of n operators. */
void present_copy(placement *to, const placement *from, int32_t n);
/* The positions that v may take in the present order, after its producers and before its users, while nothing else
 * moves. The schedule must be explained. O(degree of v). */
void present_range(const present *s, int32_t v, int32_t *low, int32_t *high);
/* Takes the operator at position `from` of an order to position `to`. */
void present_shift(int32_t *order, int32_t from, int32_t to);

#endif
