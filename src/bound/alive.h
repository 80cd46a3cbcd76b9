/* bound/alive.h - what the memory of a unit is certain to hold at one instant of a stream plan, whatever its order, and
 * where a unit has no room for that reason: docs/theory/bounds/alive.md. */
#ifndef SITU_BOUND_ALIVE_H
#define SITU_BOUND_ALIVE_H

#include "view/items.h"

/* Whether the operator takes time on every device that it may use. Only then is there an instant at which it runs. */
bool alive_takes_time(const situ_problem *p, int32_t v);

/* An operator during which units hold many bytes: the best that is found on a long chain of operators. -1 where no
 * memory can be too small, or the problem is no stream. O((V + E) log V). False without memory. */
bool alive_find(int32_t *at, const situ_problem *p, arena *scratch);

/* bytes: [unit] of the tensors that its memory is certain to hold while operator `at` runs, each tensor counted with
 * one unit; 0 where `at` may take no time. False without memory. */
bool alive_bytes(int64_t *bytes, const situ_problem *p, int32_t at, arena *scratch);

/* may: [operator * n_devices + device] where the problem allows it and the memory has room for the weights of its unit,
 * with what it is certain to hold while `at` runs, and with what each operator of it needs while that one runs.
 * *fewer: that is not everywhere. False without memory. */
bool alive_rooms(bool *may, bool *fewer, const situ_problem *p, int32_t at, arena *scratch);

/* Adds to the weights of the items what is certain to be in memory while `at` runs, and forbids sorts of devices
 * without room for it. False without memory. */
bool alive_add(items *all, const situ_problem *p, int32_t at, arena *scratch);

#endif
