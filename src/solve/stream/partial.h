/* solve/stream/partial.h - a partial stream schedule, to which operators are appended one by one.
 *
 * Times are without contention on the links; or, with partial_follow_links, each channel serves transfers sequentially
 * in the order in which operators are placed, which is close to the simulator's order of readiness.
 *
 * Memory is estimated from its permanent part: the weights on a memory and the maximum footprint (workspace, inputs and
 * outputs) of an operator on it. A device whose memory is full in that sense is not a candidate. The memory of live
 * tensors is left to the simulator and to common/repair.h. In large problems (SOLVE_SMALL), where repair would take too
 * long, outputs that stay count as weights do: those without users, and those that forward operators keep for operators
 * of other phases. */
#ifndef SITU_SOLVE_STREAM_PARTIAL_H
#define SITU_SOLVE_STREAM_PARTIAL_H

#include "plan/plan.h"
#include "problem/problem.h"
#include "solve/stream/timeline.h"

typedef struct partial_schedule {
  const situ_problem *problem;
  int32_t *device; /* [operator], -1: not placed yet */
  int32_t *order;  /* [operator]; filled by partial_placement */
  int64_t *start_ns, *finish_ns;
  timeline_pool pool;
  timeline *lines;                        /* [device] */
  int64_t *arrival_ns;                    /* [memory]: when the inputs of the current operator are available */
  int32_t *candidates;                    /* [device] */
  int64_t *weights, *footprint;           /* [memory] bytes: of weights, and of what counts as they do */
  const unit_list *units;                 /* whose members share a device; borrowed */
  int64_t *unit_weights, *unit_footprint; /* [unit] bytes */
  int32_t *unit_device;                   /* [unit], -1: not placed yet */
  int32_t *unit_pin;                      /* [unit] device or -1 */
  bool *unit_runs;                        /* [unit * n_classes] whether the class can run all members */
  /* The next five are the caller's to set. */
  const int32_t *only_server; /* [operator] the server that it must stay in, -1: any; or NULL */
  const bool *closed;         /* [memory] whose devices take only what can go nowhere else; or NULL */
  const int64_t *spare_bytes; /* [memory] left free, for what lives for a while; or NULL */
  const double *byte_ns;      /* [memory] price of a byte that stays, for list_policy without a choice; or NULL */
  bool spare_hosts;           /* hosts are candidates only where nothing else is */
  bool short_of_room;         /* set where a device was no candidate for want of memory */
  bool limited;               /* some memory could be too small */
  bool links;                 /* channels are followed */
  int64_t *channel_ns;        /* [channel] until when it is busy */
  int64_t *sent_ns;           /* [tensor * n_memories + memory] when it came there, -1: it did not; or NULL */
  void *sorting;              /* scratch of partial_placement */
} partial_schedule;

/* For the units of the problem, or for larger ones. False without memory. */
bool partial_init(partial_schedule *s, const situ_problem *problem, arena *a);
bool partial_init_units(partial_schedule *s, const situ_problem *problem, const unit_list *units, arena *a);
/* Back to nothing placed. */
void partial_clear(partial_schedule *s);
/* From now on channels are followed. False where the tables would be too large, or without memory. */
bool partial_follow_links(partial_schedule *s, arena *a);

/* Fills arrival_ns for operator v, whose producers are all placed. */
void partial_arrive(partial_schedule *s, int32_t v);
/* The same for the memory of device d alone. */
void partial_arrive_at(partial_schedule *s, int32_t v, int32_t d);
/* The price, by byte_ns, of the permanent bytes of v's unit on device d; 0 if its device is already fixed or there are
 * no prices.
 */
int64_t partial_price_ns(const partial_schedule *s, int32_t v, int32_t d);

/* Fills candidates: the devices allowed for v by support, pins, its unit and memory; if none has room, the device with
 * the most room. Returns how many; 0 only if no device can run v. */
int32_t partial_candidates(partial_schedule *s, int32_t v);
/* Whether device d is certainly one of them, decided without examining others; false if that is not enough to
 * decide. */
bool partial_takes(const partial_schedule *s, int32_t v, int32_t d);
/* The earliest start of v on device d after partial_arrive: in a gap, or after everything else. */
int64_t partial_start(const partial_schedule *s, int32_t v, int32_t d, bool in_gaps);
void partial_place(partial_schedule *s, int32_t v, int32_t d, int64_t start_ns);
/* Sends the inputs of v to device d over the channels; arrival_ns of its memory is then what came of it. Call it before
 * the start is taken for good; it does nothing where channels are not followed. */
void partial_send(partial_schedule *s, int32_t v, int32_t d);

/* NULL, or which invariant of what is placed does not hold (base/contracts.h). O(V + E). */
const char *partial_check(const partial_schedule *s);

/* The whole schedule as a placement that borrows the arrays. Every operator must be placed. */
placement partial_placement(partial_schedule *s);

#endif
