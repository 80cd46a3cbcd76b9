/* solve/stream/sequence.h - the sequence of operators where their devices are settled. */
#ifndef SITU_SOLVE_STREAM_SEQUENCE_H
#define SITU_SOLVE_STREAM_SEQUENCE_H

#include "solve/common/solver.h"

/* Fills order with the better of two sequences. In both no device waits while it could run something
 * (simulator_dispatch). Of its ready operators it picks the one with the longest tail (rank_tail), or the first one in
 * the graph. The latter keeps the parts of a batch separate: if all of them are equally urgent, the former works on all
 * at once and finishes all late. Without dispatch the two keys alone determine the sequences. Ignores memory limits.
 * False if out of memory. O((V + E) log V). */
bool sequence_find(int32_t *order, simulator *s, const situ_problem *problem, const int32_t *device, arena *scratch);

/* The same, and the time that it takes. */
bool sequence_time(int64_t *value_ns, int32_t *order, simulator *s, const situ_problem *problem, const int32_t *device,
                   arena *scratch);

/* Fills order by one priority of operators, as simulator_dispatch does, or where it cannot, by the priorities alone
 * (which must then be higher for producers). Returns the time, ignoring memory limits; if that is limit_ns or more, it
 * may return any such value, and order is undefined; -1 without memory. */
int64_t sequence_by(int32_t *order, const double *priority, simulator *s, const situ_problem *problem,
                    const int32_t *device, int64_t limit_ns, arena *scratch);

/* Offers the best placement so far in that order; does nothing without a placement, or if the problem is not a stream.
 * A step. */
situ_status sequence_offer(solve_run *run);

#endif
