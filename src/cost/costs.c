#include "cost/costs.h"

#include <string.h>

#include "base/checked.h"
#include "base/contracts.h"
#include "base/fail.h"
#include "graph/graph.h"
#include "platform/platform.h"

situ_costs *costs_new(int32_t n_operators, int32_t n_tensors, int32_t n_classes, int32_t n_memories, int32_t n_links,
                      int32_t n_kinds, int32_t n_rows) {
  REQUIRE(n_operators >= 0 && n_tensors >= 0 && n_classes >= 1 && n_memories >= 1 && n_links >= 0 && n_kinds >= 1);
  REQUIRE(n_rows >= 0);
  arena *a = arena_new();
  situ_costs *c = ARENA_ZERO(a, situ_costs, 1);
  if (c) {
    *c = (situ_costs){.arena = a,
                      .n_operators = n_operators,
                      .n_tensors = n_tensors,
                      .n_classes = n_classes,
                      .n_memories = n_memories,
                      .n_links = n_links,
                      .n_kinds = n_kinds,
                      .n_rows = n_rows};
    c->source = "";
    if (ARENA_ARRAYS(a, ZEROS(c->time_ns, (int64_t)n_operators * n_classes),
                     ZEROS(c->transfer_rows, (int64_t)n_rows * n_kinds), ZEROS(c->transfer_ns, n_tensors),
                     ZEROS(c->row_least_ns, n_rows), ZEROS(c->row_most_ns, n_rows),
                     ZEROS(c->pair_kind, (int64_t)n_memories * n_memories), ZEROS(c->link_kind, n_links),
                     ZEROS(c->link, n_links)))
      return c;
  }
  arena_free(a);
  return NULL;
}

situ_costs *costs_copies(const situ_costs *c, int32_t n) {
  REQUIRE(n >= 1);
  situ_costs *out =
      costs_new(c->n_operators * n, c->n_tensors * n, c->n_classes, c->n_memories, c->n_links, c->n_kinds, c->n_rows);
  if (!out) return NULL;
  int64_t times = (int64_t)c->n_operators * c->n_classes;
  memcpy(out->transfer_rows, c->transfer_rows, (size_t)c->n_rows * (size_t)c->n_kinds * sizeof(int64_t));
  for (int32_t k = 0; k < n; k++) memcpy(out->time_ns + k * times, c->time_ns, (size_t)times * sizeof(int64_t));
  if (c->part && !(out->part = ARENA_COPY(out->arena, c->part, part_cost, c->n_classes))) {
    situ_costs_free(out);
    return NULL;
  }
  int64_t *workspace = c->workspace_bytes ? ARENA_NEW(out->arena, int64_t, out->n_operators) : NULL;
  for (int32_t v = 0; workspace && v < out->n_operators; v++) workspace[v] = c->workspace_bytes[v % c->n_operators];
  out->workspace_bytes = workspace;
  if (c->ruled) out->ruled = ARENA_NEW(out->arena, bool, times *n);
  for (int32_t k = 0; out->ruled && k < n; k++) memcpy(out->ruled + k * times, c->ruled, (size_t)times * sizeof(bool));
  if (c->group) out->group = ARENA_NEW(out->arena, int32_t, out->n_operators);
  for (int32_t v = 0; out->group && v < out->n_operators; v++)
    out->group[v] = c->group[v % c->n_operators] + v / c->n_operators * c->n_operators;
  for (int32_t t = 0; t < out->n_tensors; t++)
    out->transfer_ns[t] = out->transfer_rows + (int64_t)costs_row(c, t % c->n_tensors) * c->n_kinds;
  costs_find_extremes(out);
  memcpy(out->pair_kind, c->pair_kind, (size_t)c->n_memories * (size_t)c->n_memories * sizeof(int32_t));
  memcpy(out->link_kind, c->link_kind, (size_t)c->n_links * sizeof(int32_t));
  if (c->n_links > 0) memcpy(out->link, c->link, (size_t)c->n_links * sizeof(situ_link));
  out->source = arena_string(out->arena, c->source);
  out->unit_name = arena_string(out->arena, c->unit_name);
  out->unit_ns = c->unit_ns;
  out->fusion = c->fusion;
  out->reserved_bytes = c->reserved_bytes;
  out->n_kernels = c->n_kernels * n;
  out->moved_bytes = sat_mul(c->moved_bytes, n);
  if (out->source && (out->unit_name || !c->unit_name) && (out->group || !c->group) && (out->ruled || !c->ruled) &&
      (out->workspace_bytes || !c->workspace_bytes))
    return out;
  situ_costs_free(out);
  return NULL;
}

void costs_find_extremes(situ_costs *c) {
  for (int32_t r = 0; r < c->n_rows; r++) {
    const int64_t *row = c->transfer_rows + (int64_t)r * c->n_kinds;
    c->row_least_ns[r] = c->n_kinds > 1 ? SITU_NEVER_NS : 0;
    c->row_most_ns[r] = 0;
    for (int32_t k = 1; k < c->n_kinds; k++) {
      c->row_least_ns[r] = min64(c->row_least_ns[r], row[k]);
      c->row_most_ns[r] = max64(c->row_most_ns[r], row[k]);
    }
  }
}

void situ_costs_free(situ_costs *costs) {
  if (!costs) return;
  for (int k = 0; k < 2; k++) situ_costs_free(costs->step[k]);
  arena_free(costs->arena);
}

const char *situ_costs_source(const situ_costs *c) { return c ? c->source : ""; }
int64_t situ_costs_unit_ns(const situ_costs *c) { return c ? c->unit_ns : 0; }

/* Whether the costs are for this platform, and it has this device. */
static bool is_device(const situ_costs *c, const situ_platform *platform, int32_t d) {
  return c && platform && c->n_classes == platform->n_classes && c->n_memories == platform->n_memories && d >= 0 &&
         d < platform->n_devices;
}

int32_t situ_costs_kernel(const situ_costs *c, int32_t op) {
  if (!c || op < 0 || op >= c->n_operators) return -1;
  return c->group ? c->group[op] : op;
}

int64_t situ_costs_time_ns(const situ_costs *c, const situ_platform *platform, int32_t op, int32_t device) {
  if (!is_device(c, platform, device) || op < 0 || op >= c->n_operators) return SITU_NEVER_NS;
  return c->time_ns[(int64_t)op * c->n_classes + platform->class_of[device]];
}

int64_t situ_costs_transfer_ns(const situ_costs *c, const situ_platform *platform, int32_t tensor, int32_t from_device,
                               int32_t to_device) {
  if (!is_device(c, platform, from_device) || !is_device(c, platform, to_device) || tensor < 0 ||
      tensor >= c->n_tensors)
    return SITU_NEVER_NS;
  int64_t from = platform->memory_of[from_device], to = platform->memory_of[to_device];
  return c->transfer_ns[tensor][c->pair_kind[from * c->n_memories + to]];
}

situ_status costs_check(const situ_costs *c, const situ_graph *graph, const situ_platform *platform,
                        situ_error *error) {
  const char *wrong = NULL;
  if (c->n_operators != graph->n_operators || c->n_tensors != graph->n_tensors)
    wrong = "the cost tables are not of this graph";
  else if (c->n_classes != platform->n_classes || c->n_memories != platform->n_memories ||
           c->n_links != platform->n_links)
    wrong = "the cost tables are not of this platform";
  if (wrong) return fail_with(error, SITU_STATUS_BAD_ARGUMENT, c->source, "%s", wrong);

  int64_t n_times = (int64_t)c->n_operators * c->n_classes, n_transfers = (int64_t)c->n_rows * c->n_kinds;
  int64_t n_pairs = (int64_t)c->n_memories * c->n_memories;
  for (int64_t i = 0; i < n_times && !wrong; i++)
    if (c->time_ns[i] < 0) wrong = "an operator has a negative time";
  for (int64_t i = 0; i < n_transfers && !wrong; i++)
    if (c->transfer_rows[i] < 0) wrong = "a transfer has a negative time";
  for (int32_t t = 0; t < c->n_tensors && !wrong; t++)
    if (c->transfer_ns[t][0] != 0) wrong = "a tensor that stays in its memory has a time";
  for (int64_t i = 0; i < n_pairs && !wrong; i++) {
    int32_t kind = c->pair_kind[i];
    bool same = i / c->n_memories == i % c->n_memories;
    if (kind < 0 || kind >= c->n_kinds || (kind == 0) != same) wrong = "a pair of memories has no kind of route";
  }
  for (int32_t v = 0; c->group && v < c->n_operators && !wrong; v++) {
    int32_t head = c->group[v];
    if (head < 0 || head >= c->n_operators || c->group[head] != head) wrong = "a fused kernel has no head";
  }
  for (int32_t l = 0; l < c->n_links && !wrong; l++)
    if (c->link_kind[l] < 1 || c->link_kind[l] >= c->n_kinds) wrong = "a link has no kind of route";
  return wrong ? fail_with(error, SITU_STATUS_INTERNAL, c->source, "%s", wrong) : SITU_STATUS_OK;
}
