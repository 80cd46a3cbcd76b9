/* situ/pareto.h - latency against throughput: the front of stream plans that no other dominates.
 *
 * A front is frozen: any number of threads may read it. It owns its plans and texts. */
#ifndef SITU_PARETO_H
#define SITU_PARETO_H

#include "situ/solve.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A front with its plans. */
typedef struct situ_front situ_front;

typedef struct situ_pareto_options {
  size_t size;
  int32_t points; /* number of solves, at least 2: the two ends of the front, and limits on latency between them; 0
                     means 8 */
  const situ_solve_options *solve; /* its limits apply to the whole front, its starts are ignored; may be NULL */
} situ_pareto_options;
#define SITU_PARETO_OPTIONS_INIT SITU_SIZED(situ_pareto_options)

/* Finds the front of a stream problem. The problem's limits on period and latency are ignored; everything else holds.
 * Every point is a plan that situ_solve found and checked. BAD_ARGUMENT for other execution models. options may be
 * NULL. */
SITU_API situ_status situ_pareto(situ_front **out, const situ_problem *problem, const situ_pareto_options *options,
                                 situ_error *error);
SITU_API void situ_front_free(situ_front *front);
/* The problem that it is a front of, borrowed: it lives as long as the front. */
SITU_API const situ_problem *situ_front_problem(const situ_front *front);
/* The number of points, which are sorted by rising latency and falling period; 0 if no plan was found. */
SITU_API int32_t situ_front_n_points(const situ_front *front);
/* The plan of a point, borrowed; NULL past the end. situ_plan_latency_ns and situ_plan_period_ns give its latency and
 * period. */
SITU_API const situ_plan *situ_front_plan(const situ_front *front, int32_t index);
/* Proved lower bounds on the latency and on the period of every plan. */
SITU_API int64_t situ_front_least_latency_ns(const situ_front *front);
SITU_API int64_t situ_front_least_period_ns(const situ_front *front);
/* The names of these bounds, "" for none. */
SITU_API const char *situ_front_latency_bound(const situ_front *front);
SITU_API const char *situ_front_period_bound(const situ_front *front);
/* Why there is no plan at all, or "". */
SITU_API const char *situ_front_reason(const situ_front *front);
/* Whether it is proved that there is no plan. */
SITU_API bool situ_front_infeasible(const situ_front *front);
SITU_API double situ_front_seconds(const situ_front *front);

#ifdef __cplusplus
}
#endif
#endif
