/* metis: multilevel k-way partitioning by the library METIS (Karypis, Kumar, SIAM J. Sci. Comput. 20, 1998), which
 * balances time and memory over the accelerators and keeps the sum of the cut transfers small. It ignores limits,
 * support and contiguity: baselines/parts.h repairs that. */
#include "base/fail.h"
#include "solve/baselines/parts.h"

#ifdef SITU_METIS

#include <limits.h>

#include <metis.h>

enum {
  BALANCED = 2,
  TIME_SLACK = 30,
  MEMORY_SLACK = 1000
}; /* slack in thousandths; memory only has to fit in the end */

typedef struct inputs {
  idx_t *weight; /* [class * BALANCED]: time, bytes */
  idx_t *transfer;
  real_t *share; /* [part * BALANCED] */
} inputs;

static bool make_inputs(inputs *in, const parts *g, arena *a) {
  int32_t n = g->classes.n_classes;
  idx_t *time, *bytes;
  if (!ARENA_ARRAYS(a, ARRAY(time, n), ARRAY(bytes, n), ARRAY(in->weight, (int64_t)n * BALANCED),
                    ARRAY(in->transfer, g->n_edges), ARRAY(in->share, (int64_t)g->n_parts * BALANCED)))
    return false;
  parts_scale(time, g->time_ns, n);
  parts_scale(bytes, g->bytes, n);
  parts_scale(in->transfer, g->transfer_ns, g->n_edges);
  for (int32_t c = 0; c < n; c++) {
    in->weight[c * BALANCED] = time[c];
    in->weight[c * BALANCED + 1] = bytes[c];
  }
  for (int32_t k = 0; k < g->n_parts; k++) {
    in->share[k * BALANCED] = (real_t)g->share[k];
    in->share[k * BALANCED + 1] = 1 / (real_t)g->n_parts;
  }
  return true;
}

static situ_status metis_solve(solve_run *run) {
  arena *a = run->arena;
  parts g;
  inputs in;
  if (!parts_find(&g, run)) return fail_no_memory(run->error);
  idx_t n = g.classes.n_classes, n_parts = g.n_parts, n_balanced = BALANCED, cut;
  if (n_parts == 0 || n == 0 || g.n_edges > INT_MAX) return SITU_STATUS_OK;
  idx_t *start = ARENA_COPY(a, g.start, idx_t, (int64_t)n + 1), *to = ARENA_COPY(a, g.to, idx_t, g.n_edges);
  idx_t *part = ARENA_ZERO(a, idx_t, n);
  if (!start || !to || !part || !make_inputs(&in, &g, a)) return fail_no_memory(run->error);
  idx_t options[METIS_NOPTIONS];
  METIS_SetDefaultOptions(options);
  options[METIS_OPTION_SEED] = (idx_t)(run->seed & 0x7fffffff);
  real_t slack[BALANCED] = {1 + (real_t)TIME_SLACK / 1000, 1 + (real_t)MEMORY_SLACK / 1000};
  int result = METIS_OK;
  if (n <= n_parts) { /* METIS needs more vertices than parts */
    for (idx_t c = 0; c < n; c++) part[c] = c;
  } else if (n_parts > 1) {
    result = METIS_PartGraphKway(&n, &n_balanced, start, to, in.weight, NULL, in.transfer, &n_parts, in.share, slack,
                                 options, &cut, part);
  }
  if (result == METIS_ERROR_MEMORY) return fail_no_memory(run->error);
  if (result != METIS_OK)
    return fail_with(run->error, SITU_STATUS_ENGINE, NULL, "the library METIS failed with code %d", result);
  return parts_offer(&g, part);
}

_Static_assert(sizeof(idx_t) == sizeof(int32_t), "a 32-bit METIS is expected");
#endif

const solver metis_solver = {
    .name = "metis",
    .title = "multilevel k-way partitioning by METIS, repaired",
    .source = "Karypis, Kumar, SIAM J. Sci. Comput. 20, 1998",
    .models = MODEL_STREAM | MODEL_PIPELINE,
#ifdef SITU_METIS
    .solve = metis_solve,
#else
    .missing = "situ was built without the library METIS (libmetis-dev)",
#endif
};
