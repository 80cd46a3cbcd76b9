/* call_dp on the published latency workloads: no worse than any column of the published table that keeps memory, and
 * proved. These need the shared data and are skipped without. And its packing of calls on accelerators. */
#include "../../../lab/lab.h"
#include "../../../lab/test.h"
#include "situ.h"
#include "solve/calls/call_pack.h"

static void hold(const char *name, double longest_path_ms, double published_ms) {
  OWN(situ_instance) *instance = lab_published_calls(name);
  OWN(situ_plan) *plan = NULL;
  double value_ms = lab_value_ms(&plan, instance, "call_dp");
  assert_true(plan->value_ns == plan->lower_bound_ns);
  assert_true(value_ms >= longest_path_ms - 1e-3);
  assert_true(value_ms <= published_ms + 1e-3);
}

TEST(bert24_is_proved) { hold("LayerGraphs/bert24_inference", 92.406, 100.219); }

TEST(gnmt_is_proved) { hold("LayerGraphs/gnmt_inference", 182.435, 244.331); }

TEST(resnet50_layers_are_proved) { hold("LayerGraphs/resnet50_inference", 187.455, 1443.793); }

TEST(resnet50_operators_are_proved) { hold("OperatorGraphs/resnet50_inference", 289.855, 839.536); }

/* Two equal accelerators, 1 and 2; the only call is pinned to 2, or 1 must stay empty. That 1 is as empty as 2 is no
 * reason to leave 2 out. */
TEST(a_call_goes_to_the_second_of_two_equal_devices_where_it_must) {
  for (int pinned = 0; pinned < 2; pinned++) {
    OWN(lab) s = lab_new();
    s.alike = true;
    lab_device(&s, SITU_UNLIMITED_BYTES, -1, true);
    for (int32_t d = 1; d < 3; d++) {
      lab_device(&s, 100, -1, false);
      lab_link(&s, 0, d, 0, -1);
      lab_link(&s, d, 0, 0, -1);
    }
    lab_operator(&s, "a", 1, 10, 0);
    int32_t pins[] = {2}, unit[] = {0}, device[1], call[1];
    bool unused[] = {false, true, false}, host[] = {false};
    situ_problem_options options = {.size = sizeof(situ_problem_options), .execution = SITU_EXECUTION_CALLS};
    if (pinned)
      options.pins = pins;
    else
      options.unused = unused;
    lab_pose(&s, &options);
    call_graph g;
    assert_true(call_graph_find(&g, s.problem, 0, s.arena));
    assert_int_equal(g.n, 1);
    assert_true(call_pack(&g, unit, host, 1, device, call, s.arena));
    assert_int_equal(device[0], 2);
    assert_int_equal(call[0], 0);
  }
}

TEST_MAIN
