#include "cost/costs.h"

#include "base/arguments.h"
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
                     ZEROS(c->row_min_ns, n_rows), ZEROS(c->row_max_ns, n_rows),
                     ZEROS(c->pair_kind, (int64_t)n_memories * n_memories), ZEROS(c->link_kind, n_links),
                     ZEROS(c->link, n_links)))
      return c;
  }
  arena_free(a);
  return NULL;
}

void costs_find_extremes(situ_costs *c) {
  for (int32_t r = 0; r < c->n_rows; r++) {
    const int64_t *row = c->transfer_rows + (int64_t)r * c->n_kinds;
    c->row_min_ns[r] = c->n_kinds > 1 ? SITU_NEVER_NS : 0;
    c->row_max_ns[r] = 0;
    for (int32_t k = 1; k < c->n_kinds; k++) {
      c->row_min_ns[r] = min64(c->row_min_ns[r], row[k]);
      c->row_max_ns[r] = max64(c->row_max_ns[r], row[k]);
    }
  }
}

bool costs_set_measured(situ_costs *c) {
  int64_t n = (int64_t)c->n_operators * c->n_classes;
  c->measured = ARENA_NEW(c->arena, bool, n);
  for (int64_t i = 0; c->measured && i < n; i++) c->measured[i] = true;
  return c->measured != NULL;
}

void situ_costs_free(situ_costs *costs) {
  if (costs) arena_free(costs->arena);
}

bool situ_costs_get_summary(const situ_costs *c, situ_costs_summary *out) {
  if (!c) return false;
  situ_costs_summary summary = {.source = c->source, .unit_ns = c->unit_ns};
  return GIVE(out, summary);
}

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
