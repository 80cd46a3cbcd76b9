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
/* The plan of a point, by rising latency and falling period; borrowed. NULL past the end. */
SITU_API const situ_plan *situ_front_plan(const situ_front *front, int32_t index);

typedef struct situ_front_summary {
  size_t size;
  int32_t n_points;                         /* 0 if no plan was found */
  bool infeasible;                          /* it is proved that there is no plan */
  int64_t min_latency_ns, min_period_ns;    /* proved lower bounds on the latency and on the period of every plan */
  const char *latency_bound, *period_bound; /* the names of these bounds, "" for none */
  const char *reason;                       /* why there is no plan at all, or "" */
  double seconds;
} situ_front_summary;
#define SITU_FRONT_SUMMARY_INIT SITU_SIZED(situ_front_summary)
/* False, and nothing is written, if the front or `out` is NULL or `out` has no size. */
SITU_API bool situ_front_get_summary(const situ_front *front, situ_front_summary *out);

#ifdef __cplusplus
}
#endif
#endif
