/* bound/bound.h - certified lower bounds. Each is one file with one const struct, listed in bound/bounds.c. A bound
 * holds for every plan that keeps the constraints of its problem, whatever its contention, and is computed in exact
 * integers or with safe rounding. docs/theory tells why each one holds. */
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

/* The table of bounds, in the order in which they are computed: cheap ones first. A bound is one file that exports one
 * const struct called NAME_bound, and one line here. */
#define BOUND_ROWS(ROW)  \
  ROW(memory_price)      \
  ROW(packing)           \
  ROW(critical_path)     \
  ROW(memory_cut)        \
  ROW(unit_chain)        \
  ROW(balance)           \
  ROW(area)              \
  ROW(largest)           \
  ROW(join)              \
  ROW(destructive)       \
  ROW(cut_vertex)        \
  ROW(linear_relaxation) \
  ROW(memory_visits)
#define BOUND_DECLARE(NAME) extern const bound NAME##_bound;
BOUND_ROWS(BOUND_DECLARE)

/* Ended by NULL. */
extern const bound *const bounds[];

/* What all bounds came to. */
typedef struct bound_found {
  int64_t lower_ns;
  const char *name;  /* of the best */
  certificate proof; /* the strongest, of at most lower_ns */
} bound_found;

/* The best of all bounds that serve the problem, each on half of the time that is left to it; the proof is copied to
 * `keep`. */
situ_status bound_best(bound_found *out, const situ_problem *problem, arena *scratch, arena *keep, budget *b,
                       situ_error *error);

/* Heads and tails of the device-indexed critical path (B1), for solvers that prune or rank with them:
 *   head[v*n_devices+d]: earliest finish of v on d;  tail[v*n_devices+d]: least time from the end of v on d to the end
 * of everything, both without contention; SITU_NEVER_NS where v may not run on d. */
bool bound_heads_tails(int64_t *head, int64_t *tail, const situ_problem *problem);
/* The same where more is known: head comes filled with times before which v does not start on d, tail with least times
 * after its end, may[v*n_devices+d] says where v may run (NULL: as the problem says). */
bool bound_chains(int64_t *head, int64_t *tail, const bool *may, const situ_problem *problem, arena *scratch);

#endif
