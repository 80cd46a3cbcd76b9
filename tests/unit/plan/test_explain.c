/* Stages and critical paths. */
#include "situ/explain.h"

#include "../../lab/lab.h"
#include "../../lab/test.h"
#include "graph/graph.h"
#include "plan/plan.h"
#include "situ/solve.h"

static situ_explanation_summary summary_of(const situ_explanation *x) {
  situ_explanation_summary summary = SITU_EXPLANATION_SUMMARY_INIT;
  assert_true(situ_explanation_get_summary(x, &summary));
  return summary;
}

static situ_explanation *explained(const situ_plan *plan) {
  situ_explanation *x = NULL;
  situ_error error = {0};
  if (situ_explain(&x, plan, &error) != SITU_STATUS_OK) fail_msg("%s", error.text);
  return x;
}

/* HEFT's schedule of Topcuoglu, Hariri, Wu, TPDS 2002, fig. 4a, from its end: task 10 (73-80) waits for 8's data, sent
 * 62-73; 8 (57-62) for 6's, sent 42-57; 6 (26-42) for its processor, which 4 (18-26) holds; 4 for 1's data, sent 9-18.
 */
TEST(the_path_of_heft_is_that_of_the_paper) {
  static const int64_t expected[8][3] = {{1, 0, 9},   {0, 9, 18},  {4, 18, 26}, {6, 26, 42},
                                         {0, 42, 57}, {8, 57, 62}, {0, 62, 73}, {10, 73, 80}}; /* task or 0, times */
  OWN(lab) l = lab_topcuoglu();
  OWN(situ_plan) *plan = NULL;
  situ_solve_options options = {.size = sizeof(situ_solve_options), .solvers = "heft", .max_steps = 100};
  assert_int_equal(situ_solve(&plan, l.problem, &options, NULL), SITU_STATUS_OK);
  assert_int_equal(plan->value_ns, 80);
  OWN(situ_explanation) *x = explained(plan);
  assert_int_equal(summary_of(x).n_steps, 8);
  for (int32_t k = 0; k < 8; k++) {
    situ_path_step s = situ_explanation_step(x, k);
    assert_int_equal(s.op >= 0 ? l.graph->source_id[s.op] : 0, expected[k][0]);
    assert_true((s.op >= 0) != (s.transfer >= 0));
    assert_int_equal(s.start_ns, expected[k][1]);
    assert_int_equal(s.finish_ns, expected[k][2]);
  }
  assert_int_equal(summary_of(x).n_stages, 3);
}

/* The simulator starts everything as soon as data and device or link are there, so a path has no holes. */
TEST(a_path_leads_from_the_beginning_to_the_end_without_a_hole) {
  for (uint64_t seed = 0; seed < 300; seed++) {
    lab_options wish = {.seed = seed, .n_operators = 30, .n_devices = 4, .density = 0.1};
    wish.options.contention = seed % 3 ? SITU_CONTENTION_LINK : SITU_CONTENTION_NONE;
    wish.options.execution = SITU_EXECUTION_STREAM;
    OWN(lab) l = lab_random(&wish);
    int32_t device[30];
    for (int32_t v = 0; v < 30; v++) device[v] = (int32_t)((seed + (uint64_t)v * (seed % 7 + 1)) % 4);
    OWN(situ_plan) *plan = NULL;
    assert_int_equal(situ_simulate(&plan, l.problem, device, NULL, NULL), SITU_STATUS_OK);
    OWN(situ_explanation) *x = explained(plan);
    int64_t now = 0;
    for (int32_t k = 0; k < summary_of(x).n_steps; k++) {
      situ_path_step s = situ_explanation_step(x, k);
      if (s.start_ns != now) fail_msg("seed %d: a step starts at %d, not %d", (int)seed, (int)s.start_ns, (int)now);
      now = s.finish_ns;
    }
    assert_int_equal(now, plan->value_ns);
  }
}

/* a -> b -> c -> d, and e, which nothing reads, added first: on devices 2, 0, 0, 1 and 1. Data goes 2, 0, 1, though the
 * first operator is on 1. */
TEST(stages_are_in_the_order_of_their_data) {
  OWN(lab) s = lab_new();
  for (int d = 0; d < 3; d++) lab_device(&s, SITU_UNLIMITED_BYTES, -1, d == 0);
  for (int d = 0; d < 3; d++)
    for (int e = 0; e < 3; e++)
      if (d != e) lab_link(&s, d, e, 1, -1);
  const char *names[] = {"e", "a", "b", "c", "d"};
  for (int v = 0; v < 5; v++) lab_operator(&s, names[v], 10 + v, 0, 0);
  for (int v = 1; v < 4; v++) lab_tensor(&s, v, 5, v + 1, -1);
  situ_problem_options options = {.size = sizeof options, .objective = SITU_OBJECTIVE_THROUGHPUT};
  lab_pose(&s, &options);
  const int32_t device[] = {1, 2, 0, 0, 1};
  OWN(situ_plan) *plan = NULL;
  assert_int_equal(situ_simulate(&plan, s.problem, device, NULL, NULL), SITU_STATUS_OK);
  OWN(situ_explanation) *x = explained(plan);
  assert_int_equal(summary_of(x).n_stages, 3);
  static const int32_t expected[3][4] = {{2, 1, 1, 1}, {0, 2, 2, 3}, {1, 2, 0, 4}}; /* device, operators, first, last */
  for (int32_t k = 0; k < 3; k++) {
    situ_stage stage = situ_explanation_stage(x, k);
    assert_int_equal(stage.device, expected[k][0]);
    assert_int_equal(stage.n_operators, expected[k][1]);
    assert_int_equal(stage.first_operator, expected[k][2]);
    assert_int_equal(stage.last_operator, expected[k][3]);
    assert_int_equal(stage.n_devices, 1);
    assert_int_equal(stage.load_ns, plan->uses[stage.device].load_ns);
  }
  assert_int_equal(summary_of(x).n_steps, 0); /* a pipeline has no times */
}

/* a and c on one device, b between them on the other: data goes in a circle. */
TEST(stages_in_a_circle_are_in_the_order_of_their_first_operators) {
  OWN(lab) s = lab_new();
  for (int d = 0; d < 2; d++) lab_device(&s, SITU_UNLIMITED_BYTES, -1, d == 0);
  lab_link(&s, 0, 1, 1, -1);
  lab_link(&s, 1, 0, 1, -1);
  for (int v = 0; v < 3; v++) lab_operator(&s, NULL, 10, 0, 0);
  for (int v = 0; v < 2; v++) lab_tensor(&s, v, 5, v + 1, -1);
  lab_pose(&s, NULL);
  const int32_t device[] = {1, 0, 1};
  OWN(situ_plan) *plan = NULL;
  assert_int_equal(situ_simulate(&plan, s.problem, device, NULL, NULL), SITU_STATUS_OK);
  OWN(situ_explanation) *x = explained(plan);
  assert_int_equal(summary_of(x).n_stages, 2);
  assert_int_equal(situ_explanation_stage(x, 0).device, 1);
  assert_int_equal(situ_explanation_stage(x, 1).device, 0);
  assert_int_equal(summary_of(x).n_steps, 5); /* a, its tensor, b, its tensor, c */
}

/* Two devices joined by links of 1 ns and a byte a nanosecond; operators of 10 ns; a chain a -> b -> c, and a is read
 * by c too. a and c on one device, b on the other: a path leaves the device and comes back, so c begins a part of its
 * own, though a and c are neighbours. */
TEST(a_path_that_comes_back_begins_another_part) {
  OWN(lab) s = lab_new();
  for (int d = 0; d < 2; d++) lab_device(&s, SITU_UNLIMITED_BYTES, -1, d == 0);
  lab_link(&s, 0, 1, 1, -1);
  lab_link(&s, 1, 0, 1, -1);
  const char *names[] = {"a", "b", "c"};
  for (int v = 0; v < 3; v++) lab_operator(&s, names[v], 10, 0, 0);
  lab_tensor(&s, 0, 5, 1, 2, -1);
  lab_tensor(&s, 1, 7, 2, -1);
  lab_pose(&s, NULL);
  const int32_t device[] = {1, 0, 1};
  OWN(situ_plan) *plan = NULL;
  assert_int_equal(situ_simulate(&plan, s.problem, device, NULL, NULL), SITU_STATUS_OK);
  OWN(situ_explanation) *x = explained(plan);
  assert_int_equal(summary_of(x).n_parts, 3);
  for (int32_t k = 0; k < 3; k++) {
    situ_part part = situ_explanation_part(x, k);
    assert_int_equal(part.device, device[k]);
    assert_int_equal(part.first_operator, k);
    assert_int_equal(part.last_operator, k);
    assert_int_equal(part.n_working, 1);
    assert_int_equal(part.work_ns, 10);
    assert_int_equal(situ_explanation_part_of(x, k), k);
    assert_string_equal(situ_explanation_part_name(x, k), names[k]);
  }
  assert_int_equal(plan->n_handovers, 2);
  assert_int_equal(summary_of(x).transfer_bytes, 12);
  /* a 0-10, its tensor 10-16, b 16-26, its tensor 26-34, c 34-44. */
  assert_int_equal(plan->value_ns, 44);
  assert_int_equal(summary_of(x).limit.kind, SITU_LIMIT_CHAIN);
  assert_true(summary_of(x).limit.share == 20.0 / 44.0);
  assert_int_equal(summary_of(x).n_shares, 4);
  static const int64_t expected[4][3] = {{1, -1, 20}, {0, -1, 10}, {-1, 1, 8}, {-1, 0, 6}}; /* device, link, time */
  int64_t sum = 0;
  for (int32_t k = 0; k < 4; k++) {
    situ_path_share share = situ_explanation_share(x, k);
    sum += share.time_ns;
    assert_int_equal(share.time_ns, expected[k][2]);
    assert_int_equal(share.device, expected[k][0]);
    if (k < 2) assert_int_equal(share.link, expected[k][1]);
  }
  assert_int_equal(sum, 44);
}

/* b and c share a memory and read a's tensor of 90 bytes: two hand-overs, one transfer. It takes 91 of 100 ns, so the
 * link is what limits. Without it, on one device, that device is. */
TEST(a_busy_resource_is_the_limit) {
  OWN(lab) s = lab_new();
  lab_device(&s, SITU_UNLIMITED_BYTES, -1, true);
  lab_device(&s, SITU_UNLIMITED_BYTES, -1, false);
  lab_device(&s, SITU_UNLIMITED_BYTES, 1, false);
  lab_link(&s, 0, 1, 1, -1);
  lab_link(&s, 1, 0, 1, -1);
  lab_operator(&s, "a", 4, 0, 0);
  lab_operator(&s, "b", 5, 0, 0);
  lab_operator(&s, "c", 5, 0, 0);
  lab_tensor(&s, 0, 90, 1, 2, -1);
  lab_pose(&s, NULL);
  static const int32_t split[] = {0, 1, 2}, alone[] = {0, 0, 0};
  situ_plan *plan = NULL;
  assert_int_equal(situ_simulate(&plan, s.problem, split, NULL, NULL), SITU_STATUS_OK);
  assert_int_equal(plan->value_ns, 100);
  situ_explanation *x = explained(plan);
  assert_int_equal(plan->n_handovers, 2);
  assert_int_equal(summary_of(x).transfer_bytes, 90);
  assert_int_equal(summary_of(x).limit.kind, SITU_LIMIT_LINK);
  assert_int_equal(summary_of(x).limit.index, 0);
  assert_true(summary_of(x).limit.share == 0.91);
  situ_explanation_free(x);
  situ_plan_free(plan);
  assert_int_equal(situ_simulate(&plan, s.problem, alone, NULL, NULL), SITU_STATUS_OK);
  x = explained(plan);
  assert_int_equal(summary_of(x).n_parts, 1);
  assert_int_equal(situ_explanation_part(x, 0).n_operators, 3);
  assert_string_equal(situ_explanation_part_name(x, 0), "the whole model");
  assert_int_equal(plan->n_handovers, 0);
  assert_int_equal(summary_of(x).limit.kind, SITU_LIMIT_DEVICE);
  assert_int_equal(summary_of(x).limit.index, 0);
  situ_explanation_free(x);
  situ_plan_free(plan);
}

/* A chain: embed, four layers of three operators, head. Cut inside the third layer. A constant of the last layer, which
 * lies with the first part, belongs to no part that anybody asks for. */
TEST(parts_are_named_by_their_layers) {
  OWN(lab) s = lab_new();
  for (int d = 0; d < 2; d++) lab_device(&s, SITU_UNLIMITED_BYTES, -1, d == 0);
  lab_link(&s, 0, 1, 1, -1);
  lab_link(&s, 1, 0, 1, -1);
  const char *names[] = {"embed",    "layer0.q", "layer0.k", "layer0.v", "layer1.q", "layer1.k", "layer1.v",
                         "layer2.q", "layer2.k", "layer2.v", "layer3.q", "layer3.k", "layer3.v", "head"};
  for (int v = 0; v < 14; v++) lab_operator(&s, names[v], 10, 5, 0);
  lab_add(&s, (situ_operator){.name = "layer3.constant", .source_id = 14, .colocation = -1, .inferred = true}, 0);
  for (int v = 0; v < 13; v++) lab_tensor(&s, v, 5, v + 1, -1);
  lab_pose(&s, NULL);
  static const int32_t cut[] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 0};
  OWN(situ_plan) *plan = NULL;
  assert_int_equal(situ_simulate(&plan, s.problem, cut, NULL, NULL), SITU_STATUS_OK);
  OWN(situ_explanation) *x = explained(plan);
  assert_int_equal(summary_of(x).n_parts, 2);
  assert_string_equal(situ_explanation_part_name(x, 0), "the beginning, layers 0-1, some of layer 2");
  assert_string_equal(situ_explanation_part_name(x, 1), "layer2.v, layer 3, the end");
}

/* What the second device computes comes last, though a constant of its part stands there from the beginning. */
TEST(parts_come_in_the_order_of_their_work) {
  OWN(lab) s = lab_new();
  for (int d = 0; d < 2; d++) lab_device(&s, SITU_UNLIMITED_BYTES, -1, d == 0);
  lab_link(&s, 0, 1, 1, -1);
  lab_link(&s, 1, 0, 1, -1);
  lab_add(&s, (situ_operator){.name = "constant", .source_id = 0, .colocation = -1, .inferred = true}, 0);
  const char *names[] = {"a", "b", "c", "d"};
  for (int v = 0; v < 4; v++) lab_operator(&s, names[v], 10, 10, 0);
  lab_tensor(&s, 0, 0, 3, -1);
  for (int v = 1; v < 4; v++) lab_tensor(&s, v, 5, v + 1, -1);
  lab_pose(&s, NULL);
  static const int32_t cut[] = {1, 0, 0, 1, 1};
  OWN(situ_plan) *plan = NULL;
  assert_int_equal(situ_simulate(&plan, s.problem, cut, NULL, NULL), SITU_STATUS_OK);
  OWN(situ_explanation) *x = explained(plan);
  assert_int_equal(summary_of(x).n_parts, 2);
  assert_string_equal(situ_explanation_part_name(x, 0), "a, b");
  assert_string_equal(situ_explanation_part_name(x, 1), "c, d");
}

/* Whether a path leads from u to w through an operator of another part. */
static bool leaves_and_returns(const situ_graph *g, const situ_explanation *x, int32_t u) {
  bool out[64] = {false};
  int32_t part = situ_explanation_part_of(x, u);
  for (int32_t v = u + 1; v < g->n_operators; v++)
    for (int64_t i = g->in_start[v]; i < g->in_start[v + 1]; i++) {
      int32_t w = g->producer[g->in[i]];
      bool same = situ_explanation_part_of(x, v) == part;
      if (out[w] && same) return true;
      if (out[w] || (w >= u && situ_explanation_part_of(x, w) == part && !same)) out[v] = true;
    }
  return false;
}

/* Parts are what an engine can run as one sub-graph: on one device, and convex. Their operators and times add up. */
TEST(parts_are_convex_and_cover_the_graph) {
  for (uint64_t seed = 0; seed < 300; seed++) {
    rng r = rng_new(seed);
    OWN(lab) s = lab_random_tiny(seed, 20, NULL);
    const situ_graph *g = s.graph;
    int32_t device[LAB_MAX_OPERATORS], order[LAB_MAX_OPERATORS], n = 0;
    lab_random_placement(&s, &r, device, order);
    OWN(situ_plan) *plan = NULL;
    assert_int_equal(situ_simulate(&plan, s.problem, device, order, NULL), SITU_STATUS_OK);
    OWN(situ_explanation) *x = explained(plan);
    for (int32_t k = 0; k < summary_of(x).n_parts; k++) n += situ_explanation_part(x, k).n_operators;
    assert_int_equal(n, g->n_operators);
    for (int32_t v = 0; v < g->n_operators; v++) {
      assert_int_equal(situ_explanation_part(x, situ_explanation_part_of(x, v)).device, device[v]);
      if (leaves_and_returns(g, x, v)) fail_msg("seed %d: the part of operator %d is not convex", (int)seed, (int)v);
    }
  }
}

TEST_MAIN
