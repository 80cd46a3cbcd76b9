/* The judge of cuts: operators that everything else comes before or after, and for each cut and device the minimum time
 * from its end there to the end of everything. Each number is checked by a search of the block after its cut, with the
 * numbers of the next cut as tails. docs/theory/bounds/cut_vertex.md */
#include "base/checked.h"
#include "base/fail.h"
#include "check/check_block.h"

enum { DEVICES = 64 };
static const int64_t MAX_WORK = 400000000;

/* Whether all kept operators of the block come after its cut and before its last, over deleted ones if need be. */
static bool is_between(const judge *j, const check_span *s, bool *after, bool *before) {
  const situ_graph *g = j->graph;
  for (int32_t v = s->first; v <= s->last; v++) {
    after[v] = s->cut < 0;
    for (int64_t i = g->in_start[v]; i < g->in_start[v + 1] && !after[v]; i++) {
      int32_t u = g->producer[g->in[i]];
      after[v] = u == s->cut || (u >= s->first && after[u]);
    }
    if (!s->deleted[v] && !after[v]) return false;
  }
  for (int32_t v = s->last; v >= s->first && s->closed; v--) {
    before[v] = v == s->last;
    for (int32_t t = g->out_start[v]; t < g->out_start[v + 1]; t++)
      for (int64_t i = g->use_start[t]; i < g->use_start[t + 1] && !before[v]; i++)
        before[v] = g->use[i] <= s->last && before[g->use[i]];
    if (!s->deleted[v] && !before[v]) return false;
  }
  return true;
}

typedef struct claim {
  int32_t n_blocks, n_cuts;
  const int64_t *cut, *rest; /* rest[block * devices + device of the cut before it] */
  bool *deleted;
} claim;

/* The lists as they should be: cuts ascending and kept; one row of rests for each block. */
static bool read_claim(claim *c, const judge *j, const certificate *proof) {
  int64_t n = j->problem->n_operators, n_devices = j->problem->n_devices,
          n_deleted = certificate_size(proof, "deleted");
  int64_t n_cuts = certificate_size(proof, "cuts"), n_rests = certificate_size(proof, "rests");
  const int64_t *deleted = certificate_get(proof, "deleted", -1);
  c->cut = certificate_get(proof, "cuts", -1);
  c->rest = certificate_get(proof, "rests", -1);
  c->n_cuts = (int32_t)n_cuts;
  if (n_rests / n_devices != n_cuts && n_rests / n_devices != n_cuts + 1) return false;
  c->n_blocks = (int32_t)(n_rests / n_devices);
  for (int64_t i = 0; i < n_deleted; i++) c->deleted[deleted[i]] = true;
  for (int64_t i = 0; i < n_cuts; i++)
    if ((i > 0 && c->cut[i] <= c->cut[i - 1]) || c->deleted[c->cut[i]]) return false;
  for (int64_t v = c->n_blocks == n_cuts ? c->cut[n_cuts - 1] + 1 : n; v < n; v++)
    if (!c->deleted[v]) return false;
  return true;
}

/* Whether the numbers of one block hold. */
static check_found judge_block(const judge *j, const claim *c, int32_t k, bool *marks, check_work *work) {
  static const int64_t nothing[DEVICES] = {0};
  int32_t n = j->problem->n_operators, n_devices = j->problem->n_devices;
  check_span span = {.cut = k > 0 ? (int32_t)c->cut[k - 1] : -1, .closed = k < c->n_cuts, .deleted = c->deleted};
  span.first = span.cut + 1;
  span.last = span.closed ? (int32_t)c->cut[k] : n - 1;
  span.end_ns = k + 1 < c->n_blocks ? c->rest + (int64_t)(k + 1) * n_devices : nothing;
  if (!is_between(j, &span, marks, marks + n)) return CHECK_SOME_BELOW;
  for (int32_t a = 0; a < (k > 0 ? n_devices : 1); a++) {
    int64_t limit = c->rest[(int64_t)k * n_devices + a];
    if (limit == 0 || (k > 0 && !check_may_run(j, span.cut, a))) continue;
    check_found found = check_block(j, &span, a, limit, work);
    if (found != CHECK_NONE_BELOW) return found;
  }
  return CHECK_NONE_BELOW;
}

static situ_status prove(int64_t *proved_ns, judge *j, const certificate *proof, situ_error *error) {
  int32_t n = j->problem->n_operators;
  claim c = {.deleted = ARENA_ZERO(j->scratch, bool, n)};
  bool *marks = ARENA_ZERO(j->scratch, bool, 2 * (int64_t)n);
  if (!c.deleted || !marks) return fail_no_memory(error);
  *proved_ns = CERTIFICATE_MALFORMED;
  if (!read_claim(&c, j, proof)) return SITU_STATUS_OK;
  *proved_ns = CERTIFICATE_TOO_LONG;
  if (j->problem->n_devices > DEVICES || j->platform->n_memories > BLOCK_MEMORIES) return SITU_STATUS_OK;
  check_work work = {.max = MAX_WORK};
  for (int32_t k = 0; k < c.n_blocks; k++) {
    check_found found = judge_block(j, &c, k, marks, &work);
    if (found == CHECK_NO_MEMORY) return fail_no_memory(error);
    if (found == CHECK_SOME_BELOW) *proved_ns = 0;
    if (found != CHECK_NONE_BELOW) return SITU_STATUS_OK;
  }
  *proved_ns = min64(c.rest[0], (int64_t)1 << 55);
  return SITU_STATUS_OK;
}

const certificate_rule cut_vertex_rule = {.kind = "cut_vertex",
                                          .form =
                                              "cuts in ascending order that are not deleted, and rests: a row of "
                                              "devices for each block, after the last of which all is deleted",
                                          .models = MODEL_STREAM,
                                          .prove = prove};
