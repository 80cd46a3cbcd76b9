/* The writers: what they write is well formed, whole, and says what the plan says. */
#include "../../lab/lab.h"
#include "../../lab/test.h"
#include "base/file.h"
#include "base/json.h"
#include "situ/write.h"

#include <unistd.h>

/* a on d0 (0..2), 3 bytes to d1 (2..5), "b,\"x\"" on d1 (5..6). */
static lab pair(const situ_problem_options *options, situ_plan **plan) {
  static int32_t device[] = {0, 1};
  lab s = lab_new();
  for (int d = 0; d < 2; d++) lab_device(&s, 100, -1, d == 0);
  lab_star(&s);
  int32_t a = lab_operator(&s, "a", 2, 0, 0), b = lab_operator(&s, "b,\"x\"", 1, 0, 0);
  lab_tensor(&s, a, 3, b, -1);
  lab_pose(&s, options);
  placement where = {.device = device};
  assert_int_equal(simulator_plan(plan, s.simulator, &where, NULL), SITU_STATUS_OK);
  return s;
}

static char *written(const char *name, const situ_plan *plan) {
  char *text;
  situ_error error = {0};
  if (situ_write(&text, name, plan, &error) != SITU_STATUS_OK) fail_msg("%s: %s", name, error.text);
  return text;
}

static const situ_problem_options stream = {.size = sizeof(situ_problem_options), .execution = SITU_EXECUTION_STREAM};

TEST(csv_quotes_what_it_has_to) {
  OWN(situ_plan) *plan = NULL;
  OWN(lab) s = pair(&stream, &plan);
  char *text = written("csv", plan);
  assert_string_equal(text, "operator,device,start_ns,finish_ns,call\r\na,d0,0,2,\r\n\"b,\"\"x\"\"\",d1,5,6,\r\n");
  free(text);
}

static json_value *parsed(char *text) {
  json_value *root;
  situ_error error = {0};
  if (json_parse(&root, text, strlen(text), "text", &error) != SITU_STATUS_OK)
    fail_msg("%s: %s", error.where, error.text);
  free(text);
  return root;
}

static int count_phase(const json_value *events, const char *phase) {
  int n = 0;
  for (size_t i = 0; i < json_size(events); i++)
    n += strcmp(json_text(json_get(json_at(events, i), "ph"), ""), phase) == 0;
  return n;
}

/* Of the event with that name and phase "X". */
static double slice_member(const json_value *events, const char *name, const char *key) {
  for (size_t i = 0; i < json_size(events); i++) {
    const json_value *e = json_at(events, i);
    if (strcmp(json_text(json_get(e, "name"), ""), name) == 0 && strcmp(json_text(json_get(e, "ph"), ""), "X") == 0)
      return json_number(json_get(e, key), -1);
  }
  return -1;
}

TEST(a_trace_has_a_slice_for_each_operator_and_hop) {
  OWN(situ_plan) *plan = NULL;
  OWN(lab) s = pair(&stream, &plan);
  json_value *root = parsed(written("trace", plan));
  const json_value *events = json_get(root, "traceEvents");
  assert_int_equal(count_phase(events, "X"), 3); /* two operators, one hop */
  assert_int_equal(count_phase(events, "s"), 1);
  assert_int_equal(count_phase(events, "f"), 1);
  assert_int_equal(count_phase(events, "M"), 3 + 2 + 2); /* processes, devices, links */
  assert_true(count_phase(events, "C") >= 2);            /* each memory at least once */
  assert_true(slice_member(events, "b,\"x\"", "ts") == 0.005);
  assert_true(slice_member(events, "b,\"x\"", "dur") == 0.001);
  json_free(root);
}

/* calls: a on the host beside others, b one call. pipeline: six inputs, for each two stages and two operators. */
TEST(a_trace_shows_calls_and_inputs) {
  const situ_problem_options options[] = {
      {.size = sizeof(situ_problem_options), .execution = SITU_EXECUTION_CALLS},
      {.size = sizeof(situ_problem_options), .objective = SITU_OBJECTIVE_THROUGHPUT}};
  const int slices[] = {1, 6 * 4}, asynchronous[] = {1, 0};
  for (int i = 0; i < 2; i++) {
    OWN(situ_plan) *plan = NULL;
    OWN(lab) s = pair(&options[i], &plan);
    json_value *root = parsed(written("trace", plan));
    const json_value *events = json_get(root, "traceEvents");
    assert_int_equal(count_phase(events, "X"), slices[i]);
    assert_int_equal(count_phase(events, "b"), asynchronous[i]);
    assert_int_equal(count_phase(events, "e"), asynchronous[i]);
    if (i == 1) assert_true(slice_member(events, "input 1", "ts") == 0.003); /* the period: 3 bytes on the link */
    json_free(root);
  }
}

/* a on d0; b (2 ns) on d1 and d2 by turns, period 1: b's first input comes to d1, its second a period later to d2. */
TEST(a_trace_deals_inputs_out_to_replicas) {
  OWN(lab) s = lab_new();
  s.alike = true;
  for (int32_t d = 0; d < 3; d++) lab_device(&s, 100, -1, d == 0);
  lab_star(&s);
  lab_operator(&s, "a", 1, 0, 0);
  lab_operator(&s, "b", 2, 0, 0);
  lab_pose(&s, &(situ_problem_options){
                   .size = sizeof(situ_problem_options), .objective = SITU_OBJECTIVE_THROUGHPUT, .replicate = true});
  int32_t device[2] = {0, 1}, replica_of[3] = {-1, -1, 1};
  OWN(situ_plan) *plan = NULL;
  placement where = {.device = device, .replica_of = replica_of};
  assert_int_equal(simulator_plan(&plan, s.simulator, &where, NULL), SITU_STATUS_OK);
  assert_int_equal(plan->value_ns, 1);
  json_value *root = parsed(written("trace", plan));
  const json_value *events = json_get(root, "traceEvents");
  int64_t on[3] = {0};
  for (size_t i = 0; i < json_size(events); i++) {
    const json_value *e = json_at(events, i);
    if (strcmp(json_text(json_get(e, "name"), ""), "b") != 0 || strcmp(json_text(json_get(e, "ph"), ""), "X") != 0)
      continue;
    int64_t d = json_int(json_get(e, "tid"), 0);
    double expected_us = (double)(1 + 2 * on[d] + d - 1) / 1000; /* a period for a; two for each round of b */
    assert_true(json_number(json_get(e, "ts"), -1) > expected_us - 1e-9);
    assert_true(json_number(json_get(e, "ts"), -1) < expected_us + 1e-9);
    on[d]++;
  }
  assert_int_equal(on[1], 3);
  assert_int_equal(on[2], 3);
  json_free(root);
}

TEST(a_split_is_read_back_as_pins) {
  OWN(situ_plan) *plan = NULL;
  OWN(lab) s = pair(&stream, &plan);
  char path[] = "/tmp/situ-split-XXXXXX";
  int file = mkstemp(path);
  assert_true(file >= 0);
  close(file);
  char *text = written("split", plan);
  assert_int_equal(situ_text_write(text, path, NULL), SITU_STATUS_OK);
  situ_text_free(text);
  int32_t pins[2];
  assert_int_equal(plan_read_pins(pins, s.graph, s.platform, path, NULL), SITU_STATUS_OK);
  assert_int_equal(pins[0], 0);
  assert_int_equal(pins[1], 1);
  unlink(path);
}

TEST(dot_dashes_what_crosses) {
  OWN(situ_plan) *plan = NULL;
  OWN(lab) s = pair(&stream, &plan);
  char *text = written("dot", plan);
  assert_non_null(strstr(text, "digraph \"scenario\" {"));
  assert_non_null(strstr(text, "n0 -> n1 [style=dashed];"));
  assert_non_null(strstr(text, "label=\"b,\\\"x\\\"\""));
  free(text);
}

TEST(what_cannot_be_written_is_refused) {
  OWN(situ_plan) *plan = NULL;
  OWN(lab) s = pair(&stream, &plan);
  char *text;
  situ_error error = {0};
  assert_int_equal(situ_write(&text, "tracy", plan, &error), SITU_STATUS_BAD_ARGUMENT);
  assert_null(text);
  assert_int_equal(situ_text_write("device,operator\n", "/nowhere/at/all.csv", &error), SITU_STATUS_IO);
  plan->start_ns = NULL;
  assert_int_equal(situ_write(&text, "trace", plan, &error), SITU_STATUS_UNSUPPORTED);
  s.graph->source_id[1] = -1;
  assert_int_equal(situ_write(&text, "split", plan, &error), SITU_STATUS_UNSUPPORTED);
  plan->device = NULL;
  situ_writer_info info = SITU_WRITER_INFO_INIT;
  for (int32_t i = 0; situ_writer_at(i, &info); i++)
    assert_int_equal(situ_write(&text, info.name, plan, &error), SITU_STATUS_BAD_ARGUMENT);
}

TEST_MAIN
