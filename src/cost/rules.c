#include "cost/rules.h"

#include "base/checked.h"
#include "base/contracts.h"
#include "base/disjoint.h"
#include "base/fail.h"
#include "graph/graph.h"
#include "platform/platform.h"

void rules_free(rule_set *r) {
  if (r) arena_free(r->arena);
}

/* ---- the platform ---- */

/* Whether the rules treat both devices in the same way. */
static bool same_rules(const rule_set *r, int32_t a, int32_t b) {
  if (r->efficiency[a] != r->efficiency[b] || r->precision[a] != r->precision[b]) return false;
  for (int32_t i = 0; i < r->n_rows; i++) {
    const rule_row *row = &r->rows[i];
    if (row->forbids && row->forbids[a] != row->forbids[b]) return false;
    if (row->factor && row->factor[a] != row->factor[b]) return false;
  }
  return true;
}

/* The first device in the class of d that the rules treat like d. */
static int32_t first_equal(const rule_set *r, const situ_platform *p, int32_t d) {
  int32_t e = p->class_device[p->class_of[d]];
  while (p->class_of[e] != p->class_of[d] || !same_rules(r, d, e)) e++;
  return e;
}

static bool change_devices(situ_device *devices, const rule_set *r, const situ_platform *p, arena *a) {
  int32_t *alike = ARENA_NEW(a, int32_t, p->n_devices);
  if (!alike) return false;
  for (int32_t d = 0; d < p->n_devices; d++) {
    alike[d] = first_equal(r, p, d);
    if (r->efficiency[d] > 0) devices[d].efficiency = r->efficiency[d];
    if (p->memory_bytes[p->memory_of[d]] != SITU_UNLIMITED_BYTES)
      devices[d].memory_bytes = p->memory_bytes[p->memory_of[d]] - r->reserve_bytes[p->memory_of[d]];
  }
  return platform_split_classes(devices, p, alike, a);
}

situ_status rules_platform(situ_platform **out, const rule_set *r, const situ_platform *p, situ_error *error) {
  REQUIRE(r->n_devices == p->n_devices);
  arena *scratch = arena_new();
  situ_device *devices = scratch ? ARENA_COPY(scratch, p->devices, situ_device, p->n_devices) : NULL;
  *out = NULL;
  situ_status status = devices && change_devices(devices, r, p, scratch)
                           ? platform_new_like(out, p, devices, p->n_devices, p->links, p->n_links, error)
                           : fail_no_memory(error);
  arena_free(scratch);
  return status;
}

/* ---- costs ---- */

static int64_t *time_at(situ_costs *c, int32_t v, int32_t k) { return &c->time_ns[(int64_t)v * c->n_classes + k]; }

void rules_scale(const rule_set *r, situ_costs *c, const situ_platform *p) {
  for (int32_t i = 0; i < r->n_rows; i++) {
    const rule_row *row = &r->rows[i];
    for (int32_t j = 0; row->factor && j < row->n; j++)
      for (int32_t k = 0; k < c->n_classes; k++) {
        double factor = row->factor[p->class_device[k]];
        int64_t *time = time_at(c, row->member[j], k);
        bool measured = c->measured && c->measured[time - c->time_ns];
        if (factor != 1 && *time != SITU_NEVER_NS && !measured)
          *time = min64(sat_round((double)*time * factor), SITU_NEVER_NS - 1);
      }
  }
}

/* A kernel runs as a whole: what is forbidden for a member is forbidden for its head. */
static void forbid(situ_costs *c, int32_t v, int32_t k) {
  int32_t head = c->group ? c->group[v] : v;
  *time_at(c, v, k) = *time_at(c, head, k) = SITU_NEVER_NS;
  c->ruled[(int64_t)v * c->n_classes + k] = c->ruled[(int64_t)head * c->n_classes + k] = true;
}

/* Element types of arithmetic. Every device can compute with sizes, indices and booleans. */
static const uint32_t JUDGED = 1u << SITU_DTYPE_F64 | 1u << SITU_DTYPE_F32 | 1u << SITU_DTYPE_F16 |
                               1u << SITU_DTYPE_BF16 | 1u << SITU_DTYPE_F8 | 1u << SITU_DTYPE_I8 | 1u << SITU_DTYPE_U8 |
                               1u << SITU_DTYPE_I4;

bool rules_forbid(const rule_set *r, situ_costs *c, const situ_platform *p, const fusion *work) {
  REQUIRE(r->n_operators == c->n_operators);
  c->ruled = ARENA_ZERO(c->arena, bool, (int64_t)c->n_operators * c->n_classes);
  if (!c->ruled) return false;
  for (int32_t m = 0; m < c->n_memories; m++) c->reserved_bytes = sat_add(c->reserved_bytes, r->reserve_bytes[m]);
  for (int32_t k = 0; k < c->n_classes; k++) {
    int32_t d = p->class_device[k];
    for (int32_t i = 0; i < r->n_rows; i++)
      for (int32_t j = 0; r->rows[i].forbids && r->rows[i].forbids[d] && j < r->rows[i].n; j++)
        forbid(c, r->rows[i].member[j], k);
    for (int32_t v = 0; r->precision[d] && v < c->n_operators; v++) {
      uint32_t type = UINT32_C(1) << work->dtype[v];
      bool works = work->flops[v] > 0 || work->moved_bytes[v] > 0;
      if (works && (type & JUDGED) && !(type & r->precision[d])) forbid(c, v, k);
    }
  }
  return true;
}

/* ---- what stays together ---- */

/* Whether results of u may go to another device. For a kernel, any member that is a cut point suffices. */
static bool is_cut(const bool *cuts, const situ_costs *c, int32_t u) { return cuts[c->group ? c->group[u] : u]; }

void rules_join(const rule_set *r, int32_t *into, const situ_graph *g, const situ_costs *c) {
  for (int32_t i = 0; i < r->n_kept; i++)
    for (int32_t j = 1; j < r->kept[i].n; j++) disjoint_join(into, r->kept[i].member[0], r->kept[i].member[j]);
  if (!r->cuts) return;
  for (int32_t v = 0; c->group && v < g->n_operators; v++) r->cuts[c->group[v]] |= r->cuts[v];
  for (int32_t t = 0; t < g->n_tensors; t++) {
    int32_t u = g->producer[t];
    bool known = c->n_kinds > 1 && g->size_bytes[t] > 0 && c->row_max_ns[costs_row(c, t)] == 0;
    /* Backward operators stay with their forward operators. */
    if (known || is_cut(r->cuts, c, u) || g->phase[u] != SITU_PHASE_FORWARD) continue;
    for (int64_t i = g->use_start[t]; i < g->use_start[t + 1]; i++)
      if (g->phase[g->use[i]] == SITU_PHASE_FORWARD) disjoint_join(into, u, g->use[i]);
  }
}
