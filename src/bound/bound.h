/* bound/bound.h - certified lower bounds. Each is one file with one const struct, listed below. A bound
 * holds for every plan that satisfies the constraints of its problem, whatever its contention, and is computed in exact
 * integers or with safe rounding. docs/theory has the proofs. */
#ifndef SITU_BOUND_BOUND_H
#define SITU_BOUND_BOUND_H

#include "base/budget.h"
#include "problem/certificate.h"
#include "problem/problem.h"

typedef struct bound {
  const char *name, *title, *source;
  unsigned models; /* the execution models it holds for: MODEL_... (problem/problem.h) */
  /* *lower_ns >= 0. `proof` comes empty: a bound that can leave a certificate of at most that value starts one, in
   * scratch memory, which is the caller's arena between mark and release. */
  situ_status (*compute)(int64_t *lower_ns, certificate *proof, const situ_problem *problem, arena *scratch, budget *b,
                         situ_error *error);
} bound;

/* The table of bounds, in the order in which they begin: cheap ones first. A bound is one file that exports one
 * const struct called NAME_bound, and one line here. */
#define BOUND_ROWS(ROW)  \
  ROW(memory_price)      \
  ROW(packing)           \
  ROW(critical_path)     \
  ROW(memory_cut)        \
  ROW(unit_chain)        \
  ROW(area)              \
  ROW(largest)           \
  ROW(side_cut)          \
  ROW(runs)              \
  ROW(join)              \
  ROW(destructive)       \
  ROW(cut_vertex)        \
  ROW(linear_relaxation) \
  ROW(visit_label)
#define BOUND_DECLARE(NAME) extern const bound NAME##_bound;
BOUND_ROWS(BOUND_DECLARE)

#define BOUND_COUNT(NAME) +1
enum { BOUNDS = 0 BOUND_ROWS(BOUND_COUNT) };

/* Ended by NULL. */
extern const bound *const bounds[];

/* The result of a bound. */
typedef struct bound_result {
  bool known; /* it has run, or serves another execution model */
  int64_t lower_ns;
  certificate proof; /* of at most lower_ns */
} bound_result;

/* The results of all bounds. */
typedef struct bound_found {
  const situ_problem *of; /* the problem that they bound, which a view of another may be */
  int64_t lower_ns;
  const char *name;  /* of the best */
  certificate proof; /* the strongest, of at most lower_ns */
} bound_found;

/* Runs the wanted bounds (NULL: all) that support the problem, in parallel on n_threads threads, each with half of its
 * remaining time; other results are unchanged. Bounds are independent and count no steps, so that without a time limit
 * the results do not depend on the number of threads. Proofs are in `keep`. */
situ_status bound_compute(bound_result results[BOUNDS], const bool *wanted, const situ_problem *problem,
                          int32_t n_threads, arena *keep, budget *b, situ_error *error);
/* The best of them, of equal ones the first of the table; `problem` is the one that they were computed for. */
void bound_pick(bound_found *out, const bound_result results[BOUNDS], const situ_problem *problem);
/* The best of all bounds, on one thread. */
situ_status bound_best(bound_found *out, const situ_problem *problem, arena *keep, budget *b, situ_error *error);

/* Heads and tails of the device-indexed critical path, for solvers that prune or rank with them:
 * head[v*n_devices+d]: earliest finish of v on d;  tail[v*n_devices+d]: minimum time from the end of v on d to the end
 * of everything, both without contention; SITU_NEVER_NS where v must not run on d. */
bool bound_heads_tails(int64_t *head, int64_t *tail, const situ_problem *problem);
/* The same with additional knowledge: on entry head holds times before which v does not start on d, and tail minimum
 * times after its end; may[v*n_devices+d] says where v may run (NULL: as in the problem). */
bool bound_chains(int64_t *head, int64_t *tail, const bool *may, const situ_problem *problem, arena *scratch);

#endif
