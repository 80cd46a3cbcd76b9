/* Workload files: a small one by hand, hostile ones, and the published ones when they are there. */
#include <unistd.h>

#include "../../lab/lab.h"
#include "../../lab/test.h"
#include "base/rng.h"
#include "cost/costs.h"
#include "graph/graph.h"
#include "platform/platform.h"
#include "read/reader.h"

extern const reader workload_reader;

static situ_status read_text(read_result *result, const char *text, situ_error *error) {
  situ_read_options options = {.size = sizeof(situ_read_options), .default_dim = 1};
  read_source source = {.path = "folder/small.json",
                        .bytes = (const unsigned char *)text,
                        .size_bytes = strlen(text),
                        .options = &options};
  *result = (read_result){0};
  return workload_reader.read(result, &source, error);
}

static void result_free(read_result *r) {
  situ_costs_free(r->costs);
  situ_platform_free(r->platform);
  situ_graph_free(r->graph);
  text_free(&r->notes);
}

#define MACHINE "\"maxSizePerFPGA\": 100.9, \"maxFPGAs\": 2, \"maxCPUs\": 2.0"
#define NODE(id, rest)                                                \
  "{\"id\": " #id                                                     \
  ", \"fpgaLatency\": 1, \"cpuLatency\": 2, \"supportedOnFpga\": 1, " \
  "\"isBackwardNode\": 0" rest "}"
#define EDGE(from, to, cost) "{\"sourceId\": " #from ", \"destId\": " #to ", \"cost\": " #cost "}"
#define FILE_OF(nodes, edges) "{" MACHINE ", \"nodes\": [" nodes "], \"edges\": [" edges "]}"

TEST(every_field_arrives) {
  read_result r;
  situ_error e = {0};
  const char *text = FILE_OF(
      "{\"id\": 7, \"name\": \"x\", \"fpgaLatency\": 0.0000014, \"cpuLatency\": 0.0000015, \"supportedOnFpga\": false, "
      "\"isBackwardNode\": false, \"size\": 10.5, \"colorClass\": 3, \"layerId\": 4},"
      "{\"id\": 5, \"name\": \"x\", \"fpgaLatency\": 2, \"cpuLatency\": 3, \"supportedOnFpga\": 1, "
      "\"isBackwardNode\": true, \"colorClass\": 3, \"comment\": [1]}," NODE(6, ""),
      EDGE(7, 5, 0.25) "," EDGE(7, 6, 0.2500001));
  if (read_text(&r, text, &e) != SITU_STATUS_OK) fail_msg("%s", e.text);
  const situ_graph *g = r.graph;
  assert_string_equal(g->model, "small.json");
  assert_int_equal(g->n_operators, 3);
  assert_int_equal(g->n_tensors, 1);
  assert_string_equal(g->name[0], "x");
  assert_string_equal(g->name[1], "x#5");
  assert_string_equal(g->name[2], "#6");
  assert_int_equal(g->source_id[1], 5);
  assert_int_equal(g->phase[1], SITU_PHASE_BACKWARD);
  assert_int_equal(g->colocation[0], g->colocation[1]);
  assert_int_equal(g->colocation[2], -1);
  assert_int_equal(g->weight_bytes[0], 11);
  assert_string_equal(graph_operator(g, 0).layer, "layer4");
  const situ_platform *p = r.platform;
  assert_int_equal(p->n_devices, 4);
  assert_int_equal(p->n_memories, 3); /* hosts share one */
  assert_true(p->devices[0].is_host && p->devices[1].is_host && !p->devices[2].is_host);
  assert_int_equal(p->memory_bytes[p->memory_of[2]], 100);
  assert_true(p->memory_bytes[p->memory_of[0]] == SITU_UNLIMITED_BYTES);
  assert_int_equal(situ_costs_time_ns(r.costs, p, 0, 0), 2); /* floor(1.5 + 0.5) */
  assert_true(situ_costs_time_ns(r.costs, p, 0, 2) == SITU_NEVER_NS);
  assert_int_equal(situ_costs_time_ns(r.costs, p, 1, 3), 2000000);
  assert_int_equal(situ_costs_transfer_ns(r.costs, p, 0, 0, 1), 0);
  assert_int_equal(situ_costs_transfer_ns(r.costs, p, 0, 0, 2), 250000);
  assert_int_equal(situ_costs_transfer_ns(r.costs, p, 0, 2, 0), 250000);
  assert_int_equal(situ_costs_transfer_ns(r.costs, p, 0, 2, 3), 500000); /* through the host */
  assert_int_equal(r.costs->unit_ns, 1000000);
  result_free(&r);
}

TEST(without_cpus_a_host_that_runs_nothing_stands_in) {
  read_result r;
  situ_error e = {0};
  const char *text =
      "{\"maxSizePerFPGA\": 1, \"maxFPGAs\": 1, \"maxCPUs\": 0, \"nodes\": [" NODE(1, "") "], \"edges\": []}";
  if (read_text(&r, text, &e) != SITU_STATUS_OK) fail_msg("%s", e.text);
  assert_int_equal(r.platform->n_devices, 2);
  assert_true(situ_costs_time_ns(r.costs, r.platform, 0, 0) == SITU_NEVER_NS);
  assert_int_equal(situ_costs_time_ns(r.costs, r.platform, 0, 1), 1000000);
  result_free(&r);
}

typedef struct bad_case {
  const char *text, *says;
} bad_case;

static const bad_case bad_cases[] = {
    {"[]", "object"},
    {"{\"maxFPGAs\": 1", "JSON"},
    {"{" MACHINE "}", "\"nodes\""},
    {"{" MACHINE ", \"nodes\": [], \"edges\": []}", "\"nodes\""},
    {"{" MACHINE ", \"nodes\": 3, \"edges\": []}", "\"nodes\""},
    {"{" MACHINE ", \"nodes\": [" NODE(1, "") "]}", "\"edges\""},
    {"{\"maxSizePerFPGA\": 1, \"maxFPGAs\": 1000000000, \"maxCPUs\": 1, \"nodes\": [], \"edges\": []}", "1000000000"},
    {"{\"maxSizePerFPGA\": 1, \"maxFPGAs\": 9223372036854775807, \"maxCPUs\": 9223372036854775807}", "devices"},
    {"{\"maxSizePerFPGA\": 1, \"maxFPGAs\": -1, \"maxCPUs\": 1}", "-1"},
    {"{\"maxSizePerFPGA\": 1, \"maxFPGAs\": 0, \"maxCPUs\": 0}", "1 to"},
    {"{\"maxSizePerFPGA\": 1, \"maxFPGAs\": 1.5, \"maxCPUs\": 1}", "\"maxFPGAs\""},
    {"{\"maxSizePerFPGA\": -1, \"maxFPGAs\": 1, \"maxCPUs\": 1}", "\"maxSizePerFPGA\""},
    {FILE_OF("3", ""), "\"id\""},
    {FILE_OF("{\"id\": \"a\"}", ""), "\"id\""},
    {FILE_OF("{\"id\": 1}", ""), "node 1: \"cpuLatency\""},
    {FILE_OF("{\"id\": 1, \"cpuLatency\": -1}", ""), "\"cpuLatency\""},
    {FILE_OF("{\"id\": 1, \"cpuLatency\": 1e300}", ""), "\"cpuLatency\""},
    {FILE_OF("{\"id\": 1, \"cpuLatency\": 1e999}", ""), ""},
    {FILE_OF("{\"id\": 1, \"cpuLatency\": NaN}", ""), ""},
    {FILE_OF("{\"id\": 1, \"cpuLatency\": \"1\"}", ""), "\"cpuLatency\""},
    {FILE_OF("{\"id\": 1, \"cpuLatency\": 1, \"fpgaLatency\": 1, \"supportedOnFpga\": 2}", ""), "\"supportedOnFpga\""},
    {FILE_OF(NODE(1, ", \"size\": -3"), ""), "\"size\""},
    {FILE_OF(NODE(1, ", \"colorClass\": 0.5"), ""), "\"colorClass\""},
    {FILE_OF(NODE(1, "") "," NODE(1, ""), ""), "two nodes have the id 1"},
    {FILE_OF(NODE(1, ""), EDGE(1, 1, 0)), "itself"},
    {FILE_OF(NODE(1, ""), EDGE(1, 2, 0)), "\"destId\" is 2"},
    {FILE_OF(NODE(1, "") "," NODE(2, ""), EDGE(1, 2, -1)), "\"cost\""},
    {FILE_OF(NODE(1, "") "," NODE(2, ""), EDGE(1, 2, 1) "," EDGE(2, 1, 1)), "cycle"},
    {FILE_OF(NODE(1, "") "," NODE(2, "") "," NODE(3, ""), EDGE(1, 2, 1) "," EDGE(1, 3, 1.001)), "cost the same"},
    {FILE_OF("{\"id\": 1, \"fpgaLatency\": 1, \"cpuLatency\": 2, \"supportedOnFpga\": 1, \"isBackwardNode\": 1}," NODE(
                 2, ""),
             EDGE(1, 2, 0)),
     "backward node 1"},
};

TEST(a_bad_file_is_one_clear_line) {
  for (size_t i = 0; i < sizeof bad_cases / sizeof bad_cases[0]; i++) {
    read_result r;
    situ_error e = {0};
    situ_status status = read_text(&r, bad_cases[i].text, &e);
    if (status != SITU_STATUS_BAD_INPUT || !strstr(e.text, bad_cases[i].says) || strchr(e.text, '\n'))
      fail_msg("%s gives %s: %s; expected %s", bad_cases[i].text, situ_status_name(status), e.text, bad_cases[i].says);
    result_free(&r);
  }
}

TEST(names_are_unique_whatever_the_file_says) {
  read_result r;
  situ_error e = {0};
  const char *text = FILE_OF(NODE(1, ", \"name\": \"a#3\"") "," NODE(2, ", \"name\": \"a\"") "," NODE(
                                 3, ", \"name\": \"a\"") "," NODE(4, ", \"name\": \"\"") "," NODE(5, ", \"name\": 5"),
                             "");
  if (read_text(&r, text, &e) != SITU_STATUS_OK) fail_msg("%s", e.text);
  static const char *const expected[] = {"a#3", "a", "a#3#3", "#4", "#5"};
  for (int32_t v = 0; v < 5; v++) assert_string_equal(r.graph->name[v], expected[v]);
  result_free(&r);
}

/* Cut short anywhere, or with any of its bytes changed, a file is read or refused in one line. */
TEST(a_damaged_file_does_no_harm) {
  static const char whole[] = FILE_OF(
      NODE(1, ", \"name\": \"a\", \"size\": 3") "," NODE(2, ", \"colorClass\": 1") "," NODE(3, ", \"colorClass\": 1"),
      EDGE(1, 2, 0.5) "," EDGE(2, 3, 1));
  char text[sizeof whole];
  rng random = rng_new(1);
  for (int32_t round = 0; round < 20000; round++) {
    lab_damage(text, whole, sizeof whole, round, &random, "09-.e\"{}[],:ax\x80");
    read_result r;
    situ_error e = {0};
    situ_status status = read_text(&r, text, &e);
    assert_true(status == SITU_STATUS_OK || (status == SITU_STATUS_BAD_INPUT && e.text[0] && !strchr(e.text, '\n')));
    result_free(&r);
  }
}

/* Nodes, edges, accelerators, CPUs and sums of times as the index of the data gives them. */
typedef struct published {
  const char *file;
  int32_t nodes, accelerators, cpus;
  int64_t edges;
  double sum_acc, sum_cpu;
} published;

static const published published_files[] = {
    {"throughput/LayerGraphs/bert24_training.json", 64, 6, 1, 110, 217.813, 2178.13},
    {"throughput/LayerGraphs/inceptionv3_training.json", 652, 6, 1, 726, 710.738, 7107.38},
    {"throughput/OperatorGraphs/bert_L-12_training.json", 2012, 6, 1, 2751, 1891.7423, 43510.0734},
    {"throughput/OperatorGraphs/resnet50_training.json", 1243, 6, 1, 1806, 684.8906, 15752.4828},
    {"latency/OperatorGraphs/bert_l-3_inference.json", 235, 4, 8, 250, 49.3526, 1135.1091},
};

TEST(published_files_have_their_published_sums) {
  const char *shared = getenv("SITU_SHARED");
  char path[512];
  for (size_t i = 0; i < sizeof published_files / sizeof published_files[0]; i++) {
    const published *f = &published_files[i];
    snprintf(path, sizeof path, "%s/data/workloads/%s", shared ? shared : ".", f->file);
    if (access(path, R_OK) != 0) skip();
    OWN(situ_model) *m = NULL;
    situ_error e = {0};
    if (situ_model_read(&m, path, NULL, &e) != SITU_STATUS_OK) fail_msg("%s: %s", e.where, e.text);
    assert_string_equal(m->reader, "workload");
    assert_int_equal(m->graph->n_operators, f->nodes);
    assert_int_equal(m->graph->n_edges, f->edges);
    assert_int_equal(m->platform->n_devices, f->accelerators + f->cpus);
    double acc = 0, cpu = 0;
    for (int32_t v = 0; v < m->graph->n_operators; v++) {
      cpu += (double)situ_costs_time_ns(m->costs, m->platform, v, 0) / 1e6;
      acc += (double)situ_costs_time_ns(m->costs, m->platform, v, f->cpus) / 1e6;
    }
    assert_true(acc > f->sum_acc - 6e-4 && acc < f->sum_acc + 6e-4); /* figures of 6 digits */
    assert_true(cpu > f->sum_cpu - 6e-3 && cpu < f->sum_cpu + 6e-3);
  }
}

TEST_MAIN
