/* The critical path with heads and tails strengthened by joins: max over v of min over d of (head(v,d) + tail(v,d)).
 * docs/theory/bounds/joins.md */
#include "base/checked.h"
#include "base/fail.h"
#include "bound/alive.h"
#include "bound/bound.h"
#include "bound/joins.h"

static situ_status join_compute(int64_t *lower_ns, certificate *proof, const situ_problem *p, arena *scratch, budget *b,
                                situ_error *error) {
  int64_t cells = (int64_t)p->n_operators * p->n_devices;
  int32_t width = joins_width(p), worst = 0, at;
  bool fewer = false;
  *lower_ns = 0;
  if (width == 0) return SITU_STATUS_OK;
  int64_t *head = ARENA_NEW(scratch, int64_t, cells), *tail = ARENA_NEW(scratch, int64_t, cells);
  bool *may = ARENA_NEW(scratch, bool, cells);
  joins *j = joins_new(p, width, scratch);
  if (!head || !tail || !may || !j) return fail_no_memory(error);
  for (int64_t i = 0; i < cells; i++)
    may[i] = problem_allows(p, (int32_t)(i / p->n_devices), (int32_t)(i % p->n_devices));
  if (!alive_find(&at, p, scratch) || (at >= 0 && !alive_rooms(may, &fewer, p, at, scratch)))
    return fail_no_memory(error);
  if (!joins_find(j, head, tail, may, b)) return SITU_STATUS_OK;
  for (int32_t v = 0; v < p->n_operators; v++) {
    int64_t min = SITU_NEVER_NS;
    for (int64_t i = (int64_t)v * p->n_devices; i < (int64_t)(v + 1) * p->n_devices; i++)
      min = min64(min, sat_add(head[i], tail[i]));
    if (min > *lower_ns) worst = v;
    *lower_ns = max64(*lower_ns, min);
  }
  if (*lower_ns == 0) return SITU_STATUS_OK;
  certificate_start(proof, "join", *lower_ns);
  int64_t *operator_ = certificate_add_operators(proof, "operator", 1, scratch);
  int64_t *claimed = certificate_add(proof, "window", 1, scratch);
  if (!operator_ || !claimed) return fail_no_memory(error);
  *operator_ = worst;
  *claimed = width;
  int64_t *instant = fewer ? certificate_add_operators(proof, "instant", 1, scratch) : NULL;
  if (fewer && !instant) return fail_no_memory(error);
  if (fewer) *instant = at;
  return SITU_STATUS_OK;
}

const bound join_bound = {
    .name = "join",
    .title = "longest chain, with producers on the same device or transfers paid",
    .source = "Papadimitriou and Yannakakis, SIAM J. Comput. 1990",
    .models = MODEL_STREAM,
    .compute = join_compute,
};
