/* write/equal_shares.h - what engines for language models can share among the devices of a group: equal parts. */
#ifndef SITU_WRITE_EQUAL_SHARES_H
#define SITU_WRITE_EQUAL_SHARES_H

#include "problem/problem.h"

/* Whether the groups of a problem, if there are any, share heads and hidden units evenly; UNSUPPORTED otherwise, in the
 * name of the engine. `copies`: it gives several members a copy of each head of keys and values, where there are fewer
 * of these than members. O(V + E). */
situ_status equal_shares_check(const situ_problem *problem, bool copies, const char *engine, situ_error *error);

/* Refuses schedules of micro-batches that an engine does not have. `has`: those that it has, a bit for each. */
situ_status equal_shares_check_schedule(const situ_problem *problem, unsigned has, const char *engine,
                                        situ_error *error);

#endif
