/* What the nouns below bounds promise: one broken field is named. */
#include "../../lab/lab.h"
#include "../broken.h"
#include "exact/block.h"
#include "exact/call_graph.h"
#include "exact/shares.h"
#include "view/items.h"

static lab draw(situ_execution execution, uint64_t seed) {
  lab_options o = {.seed = seed, .n_operators = 24, .n_devices = 3, .density = 0.25, .n_colocations = 2};
  o.options.execution = execution;
  if (execution == SITU_EXECUTION_PIPELINE) o.options.communication = SITU_COMMUNICATION_HOST_STAGED;
  return lab_random(&o);
}

TEST(a_broken_thin_graph_is_named) {
  OWN(lab) l = draw(SITU_EXECUTION_STREAM, 3);
  OWN(arena) *a = arena_new();
  thin_graph g;
  assert_true(thin_whole(&g, l.problem, a));
  int32_t t = 0;
  while (g.use_start[t + 1] - g.use_start[t] < 2) t++;
  int32_t *use = g.use + g.use_start[t];
  int64_t way = 0, *ways = &way;
  BREAKS(thin_check(&g), g.operator_of[0], 24, "nodes are operators");
  BREAKS(thin_check(&g), g.use_start[1], -1, "use_start");
  BREAKS(thin_check(&g), use[0], g.n, "users are nodes");
  BREAKS(thin_check(&g), g.producer[0], -1, "producers are nodes");
  BREAKS(thin_check(&g), g.tensor_of[0], l.graph->n_tensors, "tensors are the problem's");
  BREAKS(thin_check(&g), g.tensor_of[0], -2, "tensors are the problem's");
  BREAKS(thin_check(&g), g.use_start[t + 1], g.use_start[t], "a tensor has users");
  BREAKS(thin_check(&g), use[0], use[1], "which ascend");
  BREAKS(thin_check(&g), use[0], g.producer[t], "topological");
  BREAKS(thin_check(&g), g.producer[0], g.producer[1] + 1, "");
  BREAKS(thin_check(&g), g.transfer_ns[0], ways, "is no tensor");
}

TEST(a_broken_block_is_named) {
  OWN(lab) l = draw(SITU_EXECUTION_STREAM, 3);
  OWN(arena) *a = arena_new();
  thin_graph g;
  block_machine m;
  block b;
  bool fits;
  assert_true(block_serves(l.problem) && thin_whole(&g, l.problem, a));
  assert_true(block_machine_init(&m, l.problem, a));
  assert_true(block_take(&b, &fits, &m, &g, 6, 20, a)); /* tensors come in */
  assert_true(b.n_entry > 0 && b.n_tensors > b.n_entry);
  BREAKS(block_check(&b), b.n, BLOCK_OPERATORS + 1, "a block is small");
  BREAKS(block_check(&b), b.n, -1, "a block is small");
  BREAKS(block_check(&b), m.n_devices, BLOCK_DEVICES + 1, "a block is small");
  BREAKS(block_check(&b), b.operator_of[0], -1, "operators are the problem's");
  BREAKS(block_check(&b), b.in[0], b.n_tensors, "inputs exist");
  BREAKS(block_check(&b), b.in[0], -1, "inputs exist");
  BREAKS(block_check(&b), b.out_start[1], -1, "outputs are listed");
  BREAKS(block_check(&b), b.source[b.n_tensors - 1], b.first + b.n, "come first");
  BREAKS(block_check(&b), b.before[0], 1, "topological");
  BREAKS(block_check(&b), b.time_ns[0], -1, "times are at most");
  BREAKS(block_check(&b), b.time_ns[b.n * m.n_devices - 1], BLOCK_FAR_NS + 1, "BLOCK_FAR_NS");
  BREAKS(block_check(&b), b.users[0], 0, "is of use");
  BREAKS(block_check(&b), b.n_entry, b.n_tensors + 1, "few tensors");
  BREAKS(block_check(&b), b.n_entry, -1, "few tensors");
  BREAKS(block_check(&b), b.n_tensors, BLOCK_TENSORS + 1, "few tensors");
  BREAKS(block_check(&b), b.operator_of[0], 24, "operators are the problem's");
  BREAKS(block_check(&b), b.in_start[1], -1, "inputs exist");
  BREAKS(block_check(&b), b.n_entry, b.n_entry - 1, "outputs are listed");
  BREAKS(block_check(&b), b.source[0], b.first, "from before the block");
  BREAKS(block_check(&b), b.users[0], (uint64_t)1 << b.n, "is of use");
  BREAKS(block_check(&b), b.users[b.n_entry], (uint64_t)1 << (b.source[b.n_entry] - b.first), "after the producer");
  BREAKS(block_check(&b), b.before[2], (uint64_t)1 << 2, "topological");
  BREAKS(block_check(&b), b.time_ns[0], BLOCK_FAR_NS + 1, "BLOCK_FAR_NS");
}

TEST(broken_shares_are_named) {
  OWN(lab) l = draw(SITU_EXECUTION_PIPELINE, 3);
  OWN(arena) *a = arena_new();
  shares s;
  assert_true(shares_serve(l.problem) && shares_find(&s, l.problem, a));
  assert_true(s.n_edges > 0);
  int32_t c = 0;
  while (s.touch_start[c + 1] - s.touch_start[c] < 2) c++;
  int32_t *touch = s.touch + s.touch_start[c];
  BREAKS(shares_check(&s), s.n_devices[0], 0, "has devices");
  BREAKS(shares_check(&s), s.n_devices[0], SITU_MAX_DEVICES + 1, "has devices");
  BREAKS(shares_check(&s), s.pin_start[1], 1, "two pins or more");
  BREAKS(shares_check(&s), s.time_ns[0], -1, "times");
  BREAKS(shares_check(&s), s.in_ns[0], -1, "prices");
  BREAKS(shares_check(&s), s.out_ns[0], -1, "prices");
  BREAKS(shares_check(&s), s.pin_start[1], -1, "pin_start");
  BREAKS(shares_check(&s), s.touch_start[1], -1, "touch_start");
  BREAKS(shares_check(&s), s.pin[0], s.n, "pins are classes");
  BREAKS(shares_check(&s), s.pin[0], s.pin[1], "which ascend");
  BREAKS(shares_check(&s), s.producer[0], -1, "one of its pins");
  BREAKS(shares_check(&s), touch[0], s.n_edges, "touch edges");
  BREAKS(shares_check(&s), touch[0], touch[1], "edges of a class ascend");
}

TEST(a_broken_call_graph_is_named) {
  OWN(lab) l = draw(SITU_EXECUTION_CALLS, 3);
  OWN(arena) *a = arena_new();
  call_graph g;
  assert_true(call_graph_find(&g, l.problem, 0, a));
  int32_t t = 0;
  while (t < g.n_tensors && g.use_start[t + 1] - g.use_start[t] < 2) t++;
  assert_true(t < g.n_tensors);
  int32_t *use = g.use + g.use_start[t];
  BREAKS(call_graph_check(&g), g.node_of[0], g.n, "in nodes");
  BREAKS(call_graph_check(&g), g.node_of[0], -2, "in nodes");
  BREAKS(call_graph_check(&g), g.host_ns[0], -1, "times");
  BREAKS(call_graph_check(&g), g.out_ns[0], -1, "transfers");
  BREAKS(call_graph_check(&g), g.in[0], g.n_tensors, "a use of in");
  BREAKS(call_graph_check(&g), g.in[0], -1, "a use of in");
  BREAKS(call_graph_check(&g), g.use_start[t + 1], g.use_start[t], "leaves its node");
  BREAKS(call_graph_check(&g), g.call_ns[0], -1, "times");
  BREAKS(call_graph_check(&g), g.in_ns[0], -1, "transfers");
  BREAKS(call_graph_check(&g), g.weight_bytes[0], -1, "sizes");
  BREAKS(call_graph_check(&g), g.out_start[1], -1, "out_start lists");
  BREAKS(call_graph_check(&g), g.use_start[1], -1, "use_start");
  BREAKS(call_graph_check(&g), g.in_start[1], -1, "in_start");
  BREAKS(call_graph_check(&g), g.use[0], g.n, "users are nodes");
  BREAKS(call_graph_check(&g), g.producer[0], g.producer[0] + 1, "producer agrees");
  BREAKS(call_graph_check(&g), use[0], use[1], "users ascend");
  BREAKS(call_graph_check(&g), use[0], g.producer[t], "topological");
  BREAKS(call_graph_check(&g), g.in_use[0], g.use_start[g.n_tensors], "a use of in");
  int32_t other = 1; /* whose node uses neither the tensor before nor the one behind */
  while (g.in[other] + 1 == g.n_tensors || g.use[g.use_start[g.in[other] + 1]] == g.use[g.in_use[other]] ||
         g.in[other] == 0 || g.use[g.use_start[g.in[other]] - 1] == g.use[g.in_use[other]])
    other++;
  BREAKS(call_graph_check(&g), g.in_use[other], g.use_start[g.in[other] + 1], "a use of in");
  BREAKS(call_graph_check(&g), g.in_use[other], g.use_start[g.in[other]] - 1, "a use of in");
  int32_t i = 0, first = g.use_start[t];
  while (g.in[i] != t) i++;
  BREAKS(call_graph_check(&g), g.in_use[i], first + (g.in_use[i] == first), "the node's own");
}

TEST(broken_items_are_named) {
  OWN(lab) l = draw(SITU_EXECUTION_STREAM, 3);
  OWN(arena) *a = arena_new();
  items x;
  assert_int_equal(items_list(&x, l.problem, a, NULL), SITU_STATUS_OK);
  const situ_problem *p = l.problem;
  BREAKS(items_check(&x, p), x.column_of[0], x.n_columns, "devices are of a sort");
  BREAKS(items_check(&x, p), x.column_of[0], -2, "devices are of a sort");
  BREAKS(items_check(&x, p), x.room_of[0], x.n_rooms, "has a room");
  BREAKS(items_check(&x, p), x.room_bytes[0], -1, "rooms");
  BREAKS(items_check(&x, p), x.n, x.n - 1, "units of the problem");
  BREAKS(items_check(&x, p), x.weight_bytes[0], -1, "sizes");
  BREAKS(items_check(&x, p), x.time_ns[0], -1, "times");
  BREAKS(items_check(&x, p), x.time_ns[x.n * x.n_columns - 1], -1, "times");
  BREAKS(items_check(&x, p), x.devices[0], x.devices[0] + 1, "counts those of a sort");
}

TEST_MAIN
