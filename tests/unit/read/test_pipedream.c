/* PipeDream profiles: a small one by hand, bad lines, and the published ones when they are there. */
#include <unistd.h>

#include "../../lab/lab.h"
#include "../../lab/test.h"
#include "base/rng.h"
#include "cost/costs.h"
#include "graph/graph.h"
#include "platform/platform.h"
#include "read/reader.h"

extern const reader pipedream_reader;

static situ_status read_step(read_result *result, const char *text, bool training, situ_error *error) {
  situ_read_options options = {.size = sizeof(situ_read_options), .default_dim = 1, .training = training};
  read_source source = {
      .path = "graph.txt", .bytes = (const unsigned char *)text, .size_bytes = strlen(text), .options = &options};
  *result = (read_result){0};
  return pipedream_reader.read(result, &source, error);
}

static situ_status read_text(read_result *result, const char *text, situ_error *error) {
  return read_step(result, text, false, error);
}

static void result_free(read_result *r) {
  situ_costs_free(r->costs);
  situ_platform_free(r->platform);
  situ_graph_free(r->graph);
  free(r->measured_ns);
  text_free(&r->notes);
}

#define VALUES(f, b, a, p) \
  "forward_compute_time=" #f ", backward_compute_time=" #b ", activation_size=" a ", parameter_size=" #p "\n"

TEST(lines_become_operators_and_edges) {
  read_result r;
  situ_error e = {0};
  const char *text = "node1 -- Input0 -- " VALUES(0.000, 0.000, "0.0", 0.000)
                     "node4 -- LSTM(4, 8 -- odd) -- " VALUES(0.073, 6.9, "[6.0; 2.5;1e1 ]", 132382720.000)
                     "node5 -- Dropout(p=0.2) -- " VALUES(1e-3, 0, "12", 0) "\tnode1 -- node4\r\n\tnode4 -- node5\n"
                     "\tnode1 -- node5";
  if (read_text(&r, text, &e) != SITU_STATUS_OK) fail_msg("%s", e.text);
  const situ_graph *g = r.graph;
  assert_int_equal(g->n_operators, 3);
  assert_int_equal(g->n_edges, 3);
  assert_string_equal(g->name[1], "node4");
  assert_string_equal(graph_operator(g, 1).kind, "LSTM");
  assert_int_equal(g->weight_bytes[1], 132382720);
  assert_int_equal(g->size_bytes[g->out_start[1]], 19); /* floor(6 + 2.5 + 10 + 0.5) */
  assert_int_equal(situ_costs_time_ns(r.costs, r.platform, 1, 1), 73000);
  assert_int_equal(situ_costs_time_ns(r.costs, r.platform, 2, 4), 1000);
  assert_true(situ_costs_time_ns(r.costs, r.platform, 1, 0) == SITU_NEVER_NS);
  assert_int_equal(situ_costs_transfer_ns(r.costs, r.platform, g->out_start[0], 0, 1), 10000);
  assert_int_equal(r.costs->unit_ns, 0);
  assert_non_null(strstr(r.notes.bytes, "backward"));
  result_free(&r);
}

static int64_t time_of(const read_result *r, const char *name) {
  for (int32_t v = 0; v < r->graph->n_operators; v++)
    if (strcmp(r->graph->name[v], name) == 0) return situ_costs_time_ns(r->costs, r->platform, v, 1);
  fail_msg("no operator %s", name);
  return -1;
}

TEST(a_training_step_takes_the_measured_backward_times) {
  read_result r;
  situ_error e = {0};
  const char *text = "node1 -- Input0 -- " VALUES(0, 0, "8", 0) "node2 -- Linear(4, 8) -- " VALUES(
      1, 2.5, "8", 9000) "node3 -- ReLU -- " VALUES(0.25, 0.5, "8", 0) "\tnode1 -- node2\n\tnode2 -- node3\n";
  if (read_step(&r, text, true, &e) != SITU_STATUS_OK) fail_msg("%s", e.text);
  assert_true(r.trained);
  assert_int_equal(time_of(&r, "node2"), 1000000);
  assert_int_equal(time_of(&r, "gradient(node2)"), 2500000);
  assert_int_equal(time_of(&r, "gradient(node3)"), 500000);
  int64_t update_ns = time_of(&r, "update(node2)"); /* not measured: a few times its 9000 bytes at 900 GB/s */
  assert_true(update_ns >= 20 && update_ns <= 100);
  for (int32_t v = 0; v < r.graph->n_operators; v++) /* work in proportion to times, for other devices */
    if (r.graph->phase[v] == SITU_PHASE_BACKWARD)
      assert_int_equal(r.graph->flops[v], (int64_t)(r.measured_ns[v] * 15.7e3 * 0.5));
  result_free(&r);
}

TEST(a_bad_line_is_named) {
  static const char *const cases[] = {
      "node1 -- A\n",
      "node1\n",
      "node1 -- A -- forward_compute_time=1\n",
      "node1 -- A -- " VALUES(-1, 0, "0", 0),
      "node1 -- A -- " VALUES(nan, 0, "0", 0),
      "node1 -- A -- " VALUES(1e300, 0, "0", 0),
      "node1 -- A -- " VALUES(1e99999999999, 0, "0", 0),
      "node1 -- A -- " VALUES(1, 0, "[1, 2]", 0),
      "node1 -- A -- " VALUES(1, 0, "[1", 0),
      "node1 -- A -- " VALUES(1, 0, "0", 0) "\tnode1 -- node1\n",
      "node1 -- A -- " VALUES(1, 0, "0", 0) "\tnode1 -- node2\n",
      "node1 -- A -- " VALUES(1, 0, "0", 0) "\tnode1\n",
      "node1 -- A -- " VALUES(1, 0, "0", 0) "node1 -- A -- " VALUES(1, 0, "0", 0),
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    read_result r;
    situ_error e = {0};
    situ_status status = read_text(&r, cases[i], &e);
    if (status != SITU_STATUS_BAD_INPUT || !strstr(e.text, "line ") || strchr(e.text, '\n'))
      fail_msg("case %zu gives %s: %s", i, situ_status_name(status), e.text);
    result_free(&r);
  }
}

/* Cut short anywhere, or with any of its bytes changed, a profile is read or refused in one line. */
TEST(a_damaged_profile_does_no_harm) {
  static const char whole[] =
      "n1 -- A(1) -- " VALUES(1.5, 0, "[1; 2]", 3) "n2 -- B -- " VALUES(1, 0, "4", 0) "\tn1 -- n2\n";
  char text[sizeof whole];
  rng random = rng_new(1);
  for (int32_t round = 0; round < 20000; round++) {
    lab_damage(text, whole, sizeof whole, round, &random, "09-.e=[]; \tn1\n\x80");
    read_result r;
    situ_error e = {0};
    situ_status status = read_text(&r, text, &e);
    assert_true(status == SITU_STATUS_OK || (status == SITU_STATUS_BAD_INPUT && e.text[0] && !strchr(e.text, '\n')));
    result_free(&r);
  }
}

/* Nodes, edges and sums of forward times as the index of the data gives them. */
typedef struct published {
  const char *name;
  int32_t nodes;
  int64_t edges;
  double forward_ms;
} published;

static const published profiles[] = {
    {"alexnet", 23, 23, 680.7},        {"densenet121", 429, 487, 186.5},    {"gnmt", 48, 58, 33.5},
    {"inception_v3", 326, 362, 311.0}, {"nasnetalarge", 1251, 1468, 416.1}, {"resnet101", 347, 380, 207.7},
    {"resnet18", 71, 79, 581.1},       {"resnet50", 177, 193, 201.5},       {"resnext101", 347, 380, 249.6},
    {"squeezenet1_0", 68, 76, 587.9},
};

TEST(published_profiles_have_their_published_sums) {
  const char *shared = getenv("SITU_SHARED");
  char path[512];
  for (size_t i = 0; i < sizeof profiles / sizeof profiles[0]; i++) {
    snprintf(path, sizeof path, "%s/data/profiles/pipedream_%s.graph.txt", shared ? shared : ".", profiles[i].name);
    if (access(path, R_OK) != 0) skip();
    OWN(situ_model) *m = NULL;
    situ_error e = {0};
    if (situ_model_read(&m, path, NULL, &e) != SITU_STATUS_OK) fail_msg("%s: %s", e.where, e.text);
    assert_string_equal(m->reader, "pipedream");
    assert_int_equal(m->graph->n_operators, profiles[i].nodes);
    assert_int_equal(m->graph->n_edges, profiles[i].edges);
    double sum = 0;
    for (int32_t v = 0; v < m->graph->n_operators; v++)
      sum += (double)situ_costs_time_ns(m->costs, m->platform, v, 1) / 1e6;
    assert_true(sum > profiles[i].forward_ms - 0.051 && sum < profiles[i].forward_ms + 0.051);
  }
}

TEST_MAIN
