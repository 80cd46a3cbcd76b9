/* greedy on the published latency workloads, against column lat_greedy of the published figures and against a separate
 * program of the published rule: with ties in the order of the file that program has the published values, with ties by
 * the lowest number of a class those of greedy. Skipped without the shared data. */
#include "../../../lab/lab.h"
#include "../../../lab/test.h"
#include "situ.h"

static void hold(const char *name, double published_ms, double separate_ms) {
  OWN(situ_instance) *instance = lab_published_calls(name);
  OWN(situ_plan) *plan = NULL;
  double value_ms = lab_value_ms(&plan, instance, "greedy");
  assert_true(value_ms > separate_ms * (1 - 6e-6) && value_ms < separate_ms * (1 + 6e-6));
  assert_true(value_ms <= published_ms * (1 + 6e-6));
}

TEST(layer_graphs_have_the_values_of_the_published_rule) {
  hold("LayerGraphs/bert24_inference", 100.219, 100.219);
  hold("LayerGraphs/gnmt_inference", 268.5, 268.5005);
  hold("LayerGraphs/inceptionv3_inference", 2485.24, 2447.0621);
  hold("LayerGraphs/resnet50_inference", 4197.06, 4197.0555);
}

TEST(groups_of_operator_graphs_are_not_cut) {
  hold("OperatorGraphs/bert_l-12_inference", 867.839, 867.8395);
  hold("OperatorGraphs/bert_l-3_inference", 416.204, 414.7395);
  hold("OperatorGraphs/bert_l-6_inference", 494.135, 492.6703);
  hold("OperatorGraphs/resnet50_inference", 839.536, 755.7961);
}

TEST_MAIN
