/* Plan files and pins: what is written is read back, and what is wrong is one clear line. */
#include <sys/stat.h>
#include <unistd.h>

#include "../../lab/lab.h"
#include "../../lab/test.h"
#include "base/file.h"
#include "base/json.h"
#include "read/reader.h"
#include "situ/read.h"

/* Where there are several devices, the last one is a replica of the first in pipelines. */
static situ_plan *plan_of(lab *s, int32_t *device, int32_t *order) {
  situ_plan *plan;
  int32_t replica_of[8] = {-1, -1, -1, -1, -1, -1, -1, -1};
  placement where = {.device = device, .order = order, .replica_of = replica_of};
  if (s->n_devices > 1) replica_of[s->n_devices - 1] = 0;
  assert_int_equal(simulator_plan(&plan, s->simulator, &where, NULL), SITU_STATUS_OK);
  return plan;
}

static void same_array(const void *a, const void *b, int64_t count, size_t size) {
  assert_true((a == NULL) == (b == NULL));
  if (a) assert_memory_equal(a, b, (size_t)count * size);
}

static void same_plan(const situ_plan *a, const situ_plan *b) {
  assert_int_equal(a->outcome, b->outcome);
  same_array(a->device, b->device, a->n_operators, sizeof *a->device);
  same_array(a->order, b->order, a->n_operators, sizeof *a->order);
  same_array(a->start_ns, b->start_ns, a->n_operators, sizeof *a->start_ns);
  same_array(a->finish_ns, b->finish_ns, a->n_operators, sizeof *a->finish_ns);
  same_array(a->replica_of, b->replica_of, a->n_devices, sizeof *a->replica_of);
  same_array(a->call, b->call, a->n_operators, sizeof *a->call);
  assert_int_equal(a->n_transfers, b->n_transfers);
  for (int32_t i = 0; i < a->n_transfers; i++) {
    assert_int_equal(a->transfers[i].tensor, b->transfers[i].tensor);
    assert_int_equal(a->transfers[i].link, b->transfers[i].link);
    assert_int_equal(a->transfers[i].to_memory, b->transfers[i].to_memory);
    assert_int_equal(a->transfers[i].start_ns, b->transfers[i].start_ns);
    assert_int_equal(a->transfers[i].finish_ns, b->transfers[i].finish_ns);
  }
  assert_true((a->uses == NULL) == (b->uses == NULL));
  for (int32_t d = 0; a->uses && d < a->n_devices; d++) {
    assert_int_equal(a->uses[d].n_operators, b->uses[d].n_operators);
    assert_true(a->uses[d].load_ns == b->uses[d].load_ns);
    assert_true(a->uses[d].memory_bytes == b->uses[d].memory_bytes);
    assert_true(a->uses[d].memory_limit_bytes == b->uses[d].memory_limit_bytes);
    assert_int_equal(a->uses[d].replica_of, b->uses[d].replica_of);
  }
  assert_true(a->value_ns == b->value_ns && a->lower_bound_ns == b->lower_bound_ns);
  assert_true(a->best_single_ns == b->best_single_ns && a->best_single_device == b->best_single_device);
  assert_string_equal(a->solver, b->solver);
  assert_string_equal(a->bound, b->bound);
  assert_string_equal(a->reason, b->reason);
  assert_true(a->steps == b->steps && a->seed == b->seed && a->form == b->form);
  assert_true((a->proof.kind == NULL) == (b->proof.kind == NULL) && !b->proof.fault);
  if (!a->proof.kind) return;
  assert_string_equal(a->proof.kind, b->proof.kind);
  assert_string_equal(a->proof.bound, b->proof.bound);
  assert_true(a->proof.lower_ns == b->proof.lower_ns && a->proof.n_lists == b->proof.n_lists);
  for (int32_t i = 0; i < a->proof.n_lists; i++) {
    assert_string_equal(a->proof.list[i].name, b->proof.list[i].name);
    assert_true(a->proof.list[i].n == b->proof.list[i].n);
    same_array(a->proof.list[i].values, b->proof.list[i].values, a->proof.list[i].n, sizeof(int64_t));
  }
}

/* Plans that claims are of come back with them: values that run, as a file cannot hold others of these. */
static void add_shown(situ_plan *plan, lab *s, int32_t *device, int32_t *order, int32_t which) {
  situ_plan **shown[] = {&plan->best_found, &plan->unrestricted, &plan->compared};
  situ_plan *made = plan_of(s, device, order);
  if (made->value_ns == SITU_NEVER_NS) {
    situ_plan_free(made);
    return;
  }
  int64_t value_ns = made->value_ns;
  int32_t n_handovers = made->n_handovers;
  assert_int_equal(plan_show(plan, shown[which], made, NULL), SITU_STATUS_OK);
  if (which == 0) plan->best_found_ns = value_ns, plan->best_found_handovers = n_handovers;
  if (which == 1) plan->unrestricted_ns = value_ns;
  if (which == 2) plan->robustness = (situ_robustness){sizeof plan->robustness, .uncertainty = 0.5, .draws = 9};
}

static void same_shown(const situ_plan *a, const situ_plan *b) {
  const situ_plan *pairs[][2] = {
      {a->best_found, b->best_found}, {a->unrestricted, b->unrestricted}, {a->compared, b->compared}};
  for (int k = 0; k < 3; k++) {
    assert_true((pairs[k][0] == NULL) == (pairs[k][1] == NULL));
    if (pairs[k][0]) same_plan(pairs[k][0], pairs[k][1]);
  }
  assert_true(a->best_found_ns == b->best_found_ns && a->unrestricted_ns == b->unrestricted_ns);
  assert_true(a->best_found_handovers == b->best_found_handovers && a->robustness.draws == b->robustness.draws);
}

/* Every execution model, random placements, those that cannot run included; through the text of a file. */
TEST(what_is_written_is_read_back) {
  const situ_problem_options options[] = {
      {.size = sizeof(situ_problem_options), .execution = SITU_EXECUTION_STREAM},
      {.size = sizeof(situ_problem_options), .execution = SITU_EXECUTION_CALLS},
      {.size = sizeof(situ_problem_options), .objective = SITU_OBJECTIVE_THROUGHPUT}};
  for (uint64_t seed = 0; seed < 600; seed++) {
    OWN(lab) s = lab_random_tiny(seed, 25, &options[seed % 3]);
    rng r = rng_new(seed);
    int32_t device[LAB_MAX_OPERATORS], order[LAB_MAX_OPERATORS];
    lab_random_placement(&s, &r, device, order);
    situ_plan *plan = plan_of(&s, device, order), *again;
    plan->seed = rng_next(&r);
    plan->steps = rng_below(&r, 1000);
    plan->solver = "tabu \"x\"";
    plan->bound = "balance";
    plan->form = (int32_t)rng_below(&r, 2048);
    plan->lower_bound_ns = rng_below(&r, 9);
    if (seed % 3) {
      certificate_start(&plan->proof, "some_kind", seed % 2 ? SITU_NEVER_NS : rng_below(&r, 100));
      plan->proof.bound = "some_bound";
      int64_t *numbers = certificate_add(&plan->proof, "numbers", rng_below(&r, 4), plan->arena);
      for (int64_t i = 0; i < certificate_size(&plan->proof, "numbers"); i++)
        numbers[i] = rng_below(&r, 3) ? rng_below(&r, 1000) : SITU_NEVER_NS - rng_below(&r, 2);
      int64_t *operators = certificate_add_operators(&plan->proof, "operators", 1 + rng_below(&r, 2), plan->arena);
      for (int64_t i = 0; i < certificate_size(&plan->proof, "operators"); i++)
        operators[i] = rng_below(&r, s.problem->n_operators);
    }
    if (seed % 2) plan->best_single_device = 0, plan->best_single_ns = seed % 5 ? 77 : SITU_NEVER_NS;
    for (int32_t k = 0; k < 3; k++)
      if (rng_below(&r, 2)) add_shown(plan, &s, device, order, k);
    json_value *root = plan_to_json(plan), *parsed;
    assert_non_null(root);
    char *text = json_print(root, (int)(seed % 3));
    situ_error error = {0};
    assert_int_equal(json_parse(&parsed, text, strlen(text), "plan", &error), SITU_STATUS_OK);
    if (plan_from_json(&again, s.problem, parsed, "plan", &error) != SITU_STATUS_OK)
      fail_msg("seed %d: %s: %s", (int)seed, error.where, error.text);
    same_plan(plan, again);
    same_shown(plan, again);
    situ_plan_free(again);
    situ_plan_free(plan);
    json_free(root);
    json_free(parsed);
    free(text);
  }
}

TEST(a_plan_without_a_placement_survives) {
  const situ_problem_options options = {.size = sizeof(situ_problem_options), .execution = SITU_EXECUTION_STREAM};
  OWN(lab) s = lab_random_tiny(3, 10, &options);
  OWN(situ_plan) *plan = plan_new(s.problem), *again = NULL;
  plan->outcome = SITU_OUTCOME_INFEASIBLE;
  plan->reason = "memory: the weights take more than there is";
  json_value *root = plan_to_json(plan);
  assert_int_equal(plan_from_json(&again, s.problem, root, "plan", NULL), SITU_STATUS_OK);
  same_plan(plan, again);
  assert_false(plan_exists(again));
  json_free(root);
}

/* a on d0 for 2 ns, 3 bytes over the link, b on d1. */
static lab pair(void) {
  const situ_problem_options options = {.size = sizeof(situ_problem_options), .execution = SITU_EXECUTION_STREAM};
  lab s = lab_new();
  for (int d = 0; d < 2; d++) lab_device(&s, 100, -1, d == 0);
  lab_star(&s);
  int32_t a = lab_operator(&s, "a", 2, 0, 0), b = lab_operator(&s, "b", 1, 0, 0);
  lab_tensor(&s, a, 3, b, -1);
  lab_pose(&s, &options);
  return s;
}

/* Replaces the first `from` of the file by `to` and expects BAD_INPUT with `message`. */
TEST(bad_files_are_one_clear_line) {
  static const struct {
    const char *from, *to, *message;
  } rows[] = {
      {"situ_plan", "other", "not a plan file"},
      {"\"situ_plan\": 1", "\"situ_plan\": 2", "version 1"},
      {"\"feasible\"", "\"good\"", "outcome"},
      {"\"value_ns\": 6", "\"value_ns\": -6", "value_ns"},
      {"\"value_ns\": 6", "\"value_ns\": 6.5", "value_ns"},
      {"\"value_ns\": 6", "\"value_ns\": \"6\"", "value_ns"},
      {"[\"a\",\"d0\",0,2]", "[\"zz\",\"d0\",0,2]", "no operator 'zz'"},
      {"[\"a\",\"d0\",0,2]", "[\"b\",\"d0\",0,2]", "'b' appears twice"},
      {"[\"a\",\"d0\",0,2]", "[\"a\",\"d9\",0,2]", "no device 'd9'"},
      {"[\"a\",\"d0\",0,2]", "[\"a\",\"d0\",-1,2]", "row 1"},
      {"[\"a\",\"d0\",0,2]", "[\"a\",0,0,2]", "name of a device"},
      {"[\"a\",\"d0\",0,2]", "[\"a\"]", "rows of 2, 4 or 5"},
      {"[\"a\",\"d0\",0,2],", "", "missing is a"},
      {"\"operators\": [", "\"operatoren\": [", "operators"},
      {"[\"a\",0,0,\"d1\",2,5]", "[\"a\",1,0,\"d1\",2,5]", "no output 1"},
      {"[\"a\",0,0,\"d1\",2,5]", "[\"a\",0,7,\"d1\",2,5]", "no link 7"},
      {"[\"a\",0,0,\"d1\",2,5]", "[\"a\",0,0,\"d1\",2]", "transfers, row 1"},
      {"[\"d0\",\"d1\"]", "[\"d1\",\"d0\"]", "but not on platform"},
      {"\"name\": \"d0\"", "\"name\": \"d1\"", "every device once"},
      {"\"seed\": 0", "\"seed\": \"99999999999999999999999\"", "seed"},
      {"\"steps\": 0", "\"steps\": null", "steps"},
      {"\"best_single\": null", "\"best_single\": 5", "best_single"},
  };
  OWN(lab) s = pair();
  int32_t device[] = {0, 1};
  situ_plan *plan = plan_of(&s, device, NULL), *again;
  json_value *root = plan_to_json(plan);
  char *text = json_print(root, 1);
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    const char *at = strstr(text, rows[i].from);
    if (!at) fail_msg("row %d: '%s' is not in %s", (int)i, rows[i].from, text);
    char changed[8192];
    snprintf(changed, sizeof changed, "%.*s%s%s", (int)(at - text), text, rows[i].to, at + strlen(rows[i].from));
    json_value *bad;
    situ_error error = {0};
    if (json_parse(&bad, changed, strlen(changed), "plan", &error) != SITU_STATUS_OK)
      fail_msg("row %d: %s", (int)i, error.text);
    assert_int_equal(plan_from_json(&again, s.problem, bad, "my.plan", &error), SITU_STATUS_BAD_INPUT);
    assert_null(again);
    assert_string_equal(error.where, "my.plan");
    if (!strstr(error.text, rows[i].message)) fail_msg("row %d: %s", (int)i, error.text);
    json_free(bad);
  }
  free(text);
  json_free(root);
  situ_plan_free(plan);
}

/* ---- pins ---- */

static situ_status pins_of(int32_t *pins, const lab *s, const char *text, situ_error *error) {
  char path[] = "/tmp/situ-pins-XXXXXX";
  int file = mkstemp(path);
  assert_true(file >= 0);
  assert_int_equal(write(file, text, strlen(text)), strlen(text));
  close(file);
  situ_status status = plan_read_pins(pins, s->graph, s->platform, path, error);
  unlink(path);
  return status;
}

TEST(pins_come_in_three_forms) {
  OWN(lab) s = pair();
  int32_t pins[2];
  assert_int_equal(pins_of(pins, &s, "{\"b\": \"d1\"}", NULL), SITU_STATUS_OK);
  assert_int_equal(pins[0], -1);
  assert_int_equal(pins[1], 1);
  assert_int_equal(
      pins_of(pins, &s, "{\"fpgas\":[{\"load\":-1,\"nodes\":[1]},{\"nodes\":[]}],\"cpus\":[{\"nodes\":[0]}]}", NULL),
      SITU_STATUS_OK);
  assert_int_equal(pins[0], 0);
  assert_int_equal(pins[1], 1);
  int32_t device[] = {1, 0};
  OWN(situ_plan) *plan = plan_of(&s, device, NULL);
  json_value *root = plan_to_json(plan);
  char *text = json_print(root, 1);
  assert_int_equal(pins_of(pins, &s, text, NULL), SITU_STATUS_OK);
  assert_int_equal(pins[0], 1);
  assert_int_equal(pins[1], 0);
  free(text);
  json_free(root);
}

TEST(bad_pins_are_one_clear_line) {
  static const char *const rows[][2] = {
      {"[]", "expected a plan"},
      {"{\"zz\": \"d0\"}", "no operator 'zz'"},
      {"{\"a\": \"d7\"}", "no device 'd7'"},
      {"{\"a\": 1}", "name of a device"},
      {"{\"fpgas\":[{\"nodes\":[0]},{\"nodes\":[1]}]}", "no accelerator"},
      {"{\"fpgas\":[{\"nodes\":[5]}]}", "no node 5"},
      {"{\"fpgas\":[{\"nodes\":[-1]}]}", "at least 0"},
      {"{\"fpgas\":[{\"nodes\":[0]}],\"cpus\":[{\"nodes\":[0]}]}", "two devices"},
      {"{\"fpgas\":[{}]}", "expected an array \"nodes\""},
      {"{\"situ_plan\":1}", "no placement"},
  };
  OWN(lab) s = pair();
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    int32_t pins[2];
    situ_error error = {0};
    assert_int_equal(pins_of(pins, &s, rows[i][0], &error), SITU_STATUS_BAD_INPUT);
    if (!strstr(error.text, rows[i][1])) fail_msg("row %d: %s", (int)i, error.text);
  }
}

/* The expert splits: every operator of their workloads gets a device; the training graphs of inception and resnet50
 * take the split of inference, and their backward operators follow their colour. */
TEST(expert_splits_cover_their_workloads) {
  static const char *const rows[][2] = {{"bert24_inference", "bert24_inference"},
                                        {"bert24_training", "bert24_training"},
                                        {"gnmt_inference", "gnmt_inference"},
                                        {"gnmt_training", "gnmt_training"},
                                        {"inceptionv3_inference", "inceptionv3_inference"},
                                        {"inceptionv3_training", "inceptionv3_inference"},
                                        {"resnet50_inference", "resnet50_inference"},
                                        {"resnet50_training", "resnet50_inference"}};
  const char *shared = getenv("SITU_SHARED");
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    char graph[512], split[512];
    snprintf(graph, sizeof graph, "%s/data/workloads/throughput/LayerGraphs/%s.json", shared ? shared : "", rows[i][0]);
    snprintf(split, sizeof split, "%s/data/workloads/human-experts/%s_expert.json", shared ? shared : "", rows[i][1]);
    if (!shared || !file_exists(graph) || !file_exists(split)) skip();
    OWN(situ_model) *model = NULL;
    situ_error error = {0};
    if (situ_model_read(&model, graph, NULL, &error) != SITU_STATUS_OK) fail_msg("%s: %s", error.where, error.text);
    int32_t n = model->graph->n_operators, *pins = calloc((size_t)n, sizeof *pins);
    assert_non_null(pins);
    if (plan_read_pins(pins, model->graph, model->platform, split, &error) != SITU_STATUS_OK)
      fail_msg("%s: %s", error.where, error.text);
    for (int32_t v = 0; v < n; v++)
      if (pins[v] < 0) fail_msg("%s: %s has no device", rows[i][0], graph_operator(model->graph, v).name);
    free(pins);
  }
}

TEST_MAIN
