/* The one-call face: opening, placing, pins, and plans to files and back. */
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../lab/test.h"
#include "base/file.h"
#include "check/judge.h"
#include "plan/plan.h"
#include "problem/problem.h"
#include "situ.h"

static const char model[] = "builtin:resnet50?image=64";
static const char platform[] = "cpu+2*v100-16g";

static char folder[64];

static int enter_folder(void **state) {
  strcpy(folder, "/tmp/situ-api-XXXXXX");
  return mkdtemp(folder) && chdir(folder) == 0 ? 0 : -1;
}

static int leave_folder(void **state) {
  char command[128];
  snprintf(command, sizeof command, "rm -r %s", folder);
  return chdir("/") == 0 ? system(command) : -1;
}

static situ_plan *place(situ_instance **instance, const situ_instance_options *options, const char *solvers) {
  situ_plan *plan = NULL;
  situ_error error = {0};
  situ_solve_options solve = {.size = sizeof(situ_solve_options), .solvers = solvers, .max_steps = 200};
  if (situ_place(&plan, instance, options, &solve, &error) != SITU_STATUS_OK)
    fail_msg("%s %s", error.where, error.text);
  return plan;
}

/* Everything that a problem asks for. */
static void same_question(const situ_problem *p, const situ_problem *q) {
  assert_int_equal(p->objective, q->objective);
  assert_int_equal(p->execution, q->execution);
  assert_int_equal(p->contention, q->contention);
  assert_int_equal(p->communication, q->communication);
  assert_int_equal(p->contiguous, q->contiguous);
  assert_int_equal(p->async_copies, q->async_copies);
  assert_int_equal(p->replicate, q->replicate);
  assert_int_equal(p->schedule, q->schedule);
  assert_int_equal(p->in_flight, q->in_flight);
  assert_int_equal(p->n_copies, q->n_copies);
  assert_int_equal(p->max_calls, q->max_calls);
  assert_true(p->max_period_ns == q->max_period_ns);
  assert_true(p->max_latency_ns == q->max_latency_ns);
  assert_int_equal(p->n_operators, q->n_operators);
  assert_memory_equal(p->pin, q->pin, (size_t)p->n_operators * sizeof *p->pin);
  assert_memory_equal(p->unused, q->unused, (size_t)p->n_devices * sizeof *p->unused);
}

TEST(a_plan_file_brings_its_problem_back) {
  const situ_problem_options kinds[] = {
      {.size = sizeof(situ_problem_options)},
      {.size = sizeof(situ_problem_options), .contention = SITU_CONTENTION_NONE},
      {.size = sizeof(situ_problem_options), .execution = SITU_EXECUTION_CALLS},
      {.size = sizeof(situ_problem_options), .objective = SITU_OBJECTIVE_THROUGHPUT},
      {.size = sizeof(situ_problem_options),
       .objective = SITU_OBJECTIVE_THROUGHPUT,
       .communication = SITU_COMMUNICATION_HOST_STAGED,
       .free = true,
       .async_copies = true,
       .in_flight = 3},
      {.size = sizeof(situ_problem_options),
       .objective = SITU_OBJECTIVE_THROUGHPUT,
       .schedule = SITU_SCHEDULE_GPIPE,
       .replicate = true},
      {.size = sizeof(situ_problem_options), .max_period_ns = 123456789},
      {.size = sizeof(situ_problem_options), .max_latency_ns = 987654321, .copies = 2},
      {.size = sizeof(situ_problem_options), .max_calls = 3},
  };
  for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
    const char *unused[] = {"gpu1"};
    situ_instance_options o = {.size = sizeof(situ_instance_options),
                               .model = model,
                               .platform = platform,
                               .cost = &(situ_cost_options){.size = sizeof(situ_cost_options), .efficiency = 0.25},
                               .problem = &kinds[k],
                               .unused = unused,
                               .n_unused = 1};
    OWN(situ_instance) *first = NULL, *second = NULL;
    OWN(situ_plan) *plan = place(&first, &o, NULL), *again = NULL, *replayed = NULL;
    situ_error error = {0};
    OWN(situ_verdict) *verdict = NULL;
    assert_int_equal(situ_plan_write(plan, first, "plan.json", &error), SITU_STATUS_OK);
    if (situ_plan_read(&again, &second, "plan.json", &error) != SITU_STATUS_OK)
      fail_msg("%s %s", error.where, error.text);
    assert_int_equal(again->value_ns, plan->value_ns);
    const situ_problem *p = situ_instance_problem(second);
    assert_int_equal(p->objective, situ_instance_problem(first)->objective);
    assert_int_equal(p->execution, situ_instance_problem(first)->execution);
    assert_int_equal(p->contention, kinds[k].contention);
    assert_int_equal(!p->contiguous, kinds[k].free);
    same_question(p, situ_instance_problem(first));
    assert_int_equal(situ_check(&verdict, again, &error), SITU_STATUS_OK);
    assert_int_equal(verdict->n_found, 0);
    assert_int_equal(situ_replay(&replayed, again, &error), SITU_STATUS_OK);
    assert_int_equal(replayed->value_ns, plan->value_ns);
  }
}

TEST(pins_come_back_too) {
  situ_error error = {0};
  assert_int_equal(situ_text_write("{\"fc\": \"gpu1\"}", "pins.json", &error), SITU_STATUS_OK);
  situ_instance_options o = {
      .size = sizeof(situ_instance_options), .model = model, .platform = platform, .fix = "pins.json"};
  OWN(situ_instance) *first = NULL, *second = NULL;
  OWN(situ_plan) *plan = place(&first, &o, NULL), *again = NULL;
  int32_t fc = situ_graph_find(situ_problem_graph(situ_instance_problem(first)), "fc");
  assert_int_equal(situ_plan_device(plan, fc), 2);
  assert_int_equal(situ_plan_write(plan, first, "plan.json", &error), SITU_STATUS_OK);
  remove("pins.json"); /* the plan keeps them */
  assert_int_equal(situ_plan_read(&again, &second, "plan.json", &error), SITU_STATUS_OK);
  same_question(situ_instance_problem(second), situ_instance_problem(first));
  OWN(situ_plan) *single = NULL; /* with the pin in force, one device alone is no plan */
  situ_solve_options solve = {.size = sizeof(situ_solve_options), .solvers = "single"};
  assert_int_equal(situ_solve(&single, situ_instance_problem(second), &solve, &error), SITU_STATUS_OK);
  assert_true(!plan_exists(single) || situ_plan_device(single, fc) == 2);
}

TEST(a_changed_platform_is_stated) {
  situ_error error = {0};
  static const char slow[] = "{\"situ_platform\":1,\"devices\":[{\"name\":\"a\",\"base\":\"cpu\"}]}";
  static const char fast[] = "{\"situ_platform\":1,\"devices\":[{\"name\":\"a\",\"base\":\"xeon8480\"}]}";
  assert_int_equal(situ_text_write(slow, "p.json", &error), SITU_STATUS_OK);
  situ_instance_options o = {.size = sizeof(situ_instance_options), .model = model, .platform = "p.json"};
  situ_instance *instance = NULL;
  situ_plan *plan = place(&instance, &o, "single"), *again = NULL;
  assert_int_equal(situ_plan_write(plan, instance, "plan.json", &error), SITU_STATUS_OK);
  situ_instance_free(instance);
  assert_int_equal(situ_text_write(fast, "p.json", &error), SITU_STATUS_OK);
  assert_int_equal(situ_plan_read(&again, &instance, "plan.json", &error), SITU_STATUS_BAD_INPUT);
  assert_non_null(strstr(error.text, "platform"));
  assert_non_null(strstr(error.text, "changed"));
  assert_null(again);
  assert_null(instance);
  situ_plan_free(plan);
}

TEST(what_is_wrong_in_a_plan_file_is_input) {
  static const char *const bad[] = {
      "",
      "{}",
      "[]",
      "{\"instance\": 1}",
      "{\"instance\": {}}",
      "{\"instance\": {\"model\": 7}}",
      "{\"instance\": {\"model\": \"builtin:nothing\", \"objective\": \"latency\", \"execution\": \"stream\"}}",
      "{\"instance\": {\"model\": \"builtin:resnet50\", \"objective\": \"speed\", \"execution\": \"stream\"}}",
      "{\"instance\": {\"model\": \"builtin:resnet50\", \"objective\": \"latency\", \"execution\": \"pipeline\"}}",
      "{\"instance\": {\"model\": \"builtin:resnet50\", \"objective\": \"latency\", \"execution\": \"stream\","
      " \"model_hash\": \"0\"}}",
      "{\"instance\": {\"model\": \"builtin:resnet50\", \"objective\": \"latency\", \"execution\": \"stream\","
      " \"pins\": {\"no such operator\": \"cpu\"}}}",
  };
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    situ_error error = {0};
    situ_plan *plan = NULL;
    situ_instance *instance = NULL;
    assert_int_equal(situ_text_write(bad[i], "bad.json", &error), SITU_STATUS_OK);
    situ_status status = situ_plan_read(&plan, &instance, "bad.json", &error);
    assert_true(status == SITU_STATUS_BAD_INPUT || status == SITU_STATUS_UNSUPPORTED);
    assert_true(error.text[0] != '\0');
    assert_null(plan);
    assert_null(instance);
  }
}

TEST(options_that_contradict_are_arguments) {
  const char *nobody[] = {"tpu"};
  const situ_instance_options bad[] = {
      {.size = sizeof(situ_instance_options)},
      {.size = sizeof(situ_instance_options), .model = model, .unused = nobody, .n_unused = 1},
      {.size = sizeof(situ_instance_options),
       .model = model,
       .cost = &(situ_cost_options){.size = sizeof(situ_cost_options), .model = "astrology"}},
      {.size = sizeof(situ_instance_options),
       .model = model,
       .problem = &(situ_problem_options){.size = sizeof(situ_problem_options),
                                          .objective = SITU_OBJECTIVE_LATENCY,
                                          .execution = SITU_EXECUTION_PIPELINE}},
      {.size = sizeof(situ_instance_options),
       .model = model,
       .problem =
           &(situ_problem_options){
               .size = sizeof(situ_problem_options), .objective = SITU_OBJECTIVE_LATENCY, .free = true}},
      {.size = sizeof(situ_instance_options),
       .model = model,
       .problem =
           &(situ_problem_options){
               .size = sizeof(situ_problem_options), .objective = SITU_OBJECTIVE_LATENCY, .async_copies = true}},
      {.size = sizeof(situ_instance_options),
       .model = model,
       .problem =
           &(situ_problem_options){
               .size = sizeof(situ_problem_options), .objective = SITU_OBJECTIVE_LATENCY, .replicate = true}},
      {.size = sizeof(situ_instance_options),
       .model = model,
       .problem =
           &(situ_problem_options){
               .size = sizeof(situ_problem_options), .objective = SITU_OBJECTIVE_LATENCY, .in_flight = 2}},
      {.size = sizeof(situ_instance_options),
       .model = model,
       .problem = &(situ_problem_options){.size = sizeof(situ_problem_options),
                                          .objective = SITU_OBJECTIVE_LATENCY,
                                          .schedule = SITU_SCHEDULE_GPIPE}},
  };
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    situ_instance *instance = NULL;
    situ_error error = {0};
    assert_int_equal(situ_instance_open(&instance, &bad[i], &error), SITU_STATUS_BAD_ARGUMENT);
    assert_null(instance);
  }
}

TEST(outputs_are_probed_without_a_trace) {
  situ_error error = {0};
  assert_int_equal(situ_path_check_writable("new.json", &error), SITU_STATUS_OK);
  assert_false(file_exists("new.json"));
  assert_int_equal(situ_path_check_writable("no/new.json", &error), SITU_STATUS_IO);
  assert_int_equal(situ_path_check_writable(".", &error), SITU_STATUS_IO);
  assert_int_equal(mkdir("taken.json", 0700), 0);
  assert_int_equal(situ_text_write("x", "taken.json", &error), SITU_STATUS_IO);
}

/* What was heard: the levels as letters, and the lines. */
typedef struct heard {
  char levels[64];
  char lines[64][200];
  int n;
} heard;

static void hear(void *context, situ_log_level level, const char *text) {
  heard *t = context;
  assert_true(t->n < 63);
  assert_null(strchr(text, '\n'));
  t->levels[t->n] = level == SITU_LOG_WARNING ? 'w' : 'n';
  snprintf(t->lines[t->n++], sizeof t->lines[0], "%s", text);
}

TEST(a_call_tells_what_it_finds) {
  heard t = {.n = 0};
  situ_cost_options unfused = {.size = sizeof unfused, .fusion = "none"};
  situ_instance_options o = {.size = sizeof o,
                             .model = "builtin:inception-v3?image=128",
                             .platform = platform,
                             .cost = &unfused,
                             .log = hear,
                             .log_context = &t};
  situ_solve_options solve = {
      .size = sizeof solve, .solvers = "single,heft", .max_steps = 50, .log = hear, .log_context = &t};
  OWN(situ_instance) *instance = NULL;
  OWN(situ_plan) *plan = NULL;
  assert_int_equal(situ_place(&plan, &instance, &o, &solve, NULL), SITU_STATUS_OK);
  assert_string_equal(t.levels, "nnnn");
  assert_non_null(strstr(t.lines[0], (situ_problem_costs(situ_instance_problem(instance)))->source));
  assert_ptr_equal(strstr(t.lines[1], "bounds: "), t.lines[1]);
  assert_ptr_equal(strstr(t.lines[2], "single: value "), t.lines[2]);
  assert_ptr_equal(strstr(t.lines[3], "heft: value "), t.lines[3]);
}

TEST(a_question_without_an_answer_is_a_warning) {
  heard t = {.n = 0};
  const char *all[] = {"cpu", "gpu0", "gpu1"};
  situ_instance_options o = {
      .size = sizeof o, .model = model, .platform = "cpu+2*v100-16g", .unused = all, .n_unused = 3};
  situ_solve_options solve = {.size = sizeof solve, .max_steps = 50, .log = hear, .log_context = &t};
  OWN(situ_instance) *instance = NULL;
  OWN(situ_plan) *plan = NULL;
  assert_int_equal(situ_place(&plan, &instance, &o, &solve, NULL), SITU_STATUS_OK);
  assert_int_equal(plan->outcome, SITU_OUTCOME_INFEASIBLE);
  assert_string_equal(t.levels, "w");
  assert_non_null(strstr(t.lines[0], plan->reason));
}

/* ---- lifetimes ---- */

/* A chain of three operators on a host and a device; every noun is freed as soon as another was made of it. */
static situ_problem *pose_alone(const situ_problem_options *options) {
  situ_graph_builder *g;
  situ_platform_builder *f;
  OWN(situ_graph) *graph = NULL;
  OWN(situ_platform) *machine = NULL;
  OWN(situ_costs) *costs = NULL;
  situ_problem *problem;
  situ_operator op = SITU_OPERATOR_INIT;
  situ_tensor tensor = SITU_TENSOR_INIT;
  assert_int_equal(situ_graph_builder_new(&g, "chain", NULL), SITU_STATUS_OK);
  op.dtype = SITU_DTYPE_F32;
  op.flops = 1000000000;
  tensor.size_bytes = 1000;
  for (int32_t v = 0; v < 3; v++) {
    situ_graph_builder_add_operator(g, &op);
    if (v > 0) situ_graph_builder_add_use(g, v, situ_graph_builder_add_tensor(g, v - 1, &tensor));
  }
  assert_int_equal(situ_graph_freeze(&graph, g, NULL), SITU_STATUS_OK);
  situ_graph_builder_free(g);
  assert_int_equal(situ_platform_builder_new(&f, "machine", NULL), SITU_STATUS_OK);
  for (int32_t d = 0; d < 2; d++) {
    situ_device device = SITU_DEVICE_INIT;
    device.name = device.class_name = d == 0 ? "cpu" : "gpu";
    device.peak_flops[SITU_DTYPE_F32] = d == 0 ? 1e11 : 1e13;
    device.memory_bytes_per_s = 1e11;
    device.is_host = d == 0;
    situ_platform_builder_add_device(f, &device);
    situ_platform_builder_add_link(f, &(situ_link){d, 1 - d, 1000, 1e10, -1});
  }
  assert_int_equal(situ_platform_freeze(&machine, f, NULL), SITU_STATUS_OK);
  situ_platform_builder_free(f);
  assert_int_equal(situ_costs_estimate(&costs, graph, machine, NULL, NULL), SITU_STATUS_OK);
  situ_problem_options own = options ? *options : (situ_problem_options)SITU_PROBLEM_OPTIONS_INIT;
  OWN(situ_costs) *secondary = NULL;
  if (own.max_secondary_ns > 0)
    assert_int_equal(situ_costs_estimate(&secondary, graph, machine, NULL, NULL), SITU_STATUS_OK);
  own.secondary_costs = secondary;
  assert_int_equal(situ_problem_pose(&problem, graph, machine, costs, &own, NULL), SITU_STATUS_OK);
  return problem;
}

/* Everything that reads the problem of a plan, which the caller has freed. */
static void use_all(const situ_plan *plan) {
  OWN(situ_verdict) *verdict = NULL;
  situ_explanation *why;
  situ_plan *again;
  char *text;
  assert_string_equal(situ_platform_device_name(situ_problem_platform(situ_plan_problem(plan)), 1), "gpu");
  assert_int_equal(situ_check(&verdict, plan, NULL), SITU_STATUS_OK);
  assert_int_equal(verdict->n_found, 0);
  assert_int_equal(situ_explain(&why, plan, NULL), SITU_STATUS_OK);
  situ_explanation_free(why);
  assert_int_equal(situ_report_plan(&text, plan, NULL, SITU_REPORT_TABLE, NULL, NULL), SITU_STATUS_OK);
  assert_non_null(strstr(text, "chain on machine"));
  situ_text_free(text);
  assert_int_equal(situ_write(&text, "csv", plan, NULL), SITU_STATUS_OK);
  situ_text_free(text);
  assert_int_equal(situ_replay(&again, plan, NULL), SITU_STATUS_OK);
  assert_int_equal(again->value_ns, plan->value_ns);
  situ_plan_free(again);
  assert_int_equal(situ_report_verdict(&text, verdict, SITU_REPORT_TABLE, NULL, NULL), SITU_STATUS_OK);
  situ_text_free(text);
}

TEST(a_plan_outlives_all_that_it_was_made_of) {
  situ_problem *problem = pose_alone(NULL);
  situ_plan *plan, *given;
  OWN(situ_verdict) *verdict = NULL;
  char *text;
  const int32_t device[] = {0, 1, 1};
  assert_int_equal(situ_solve(&plan, problem, NULL, NULL), SITU_STATUS_OK);
  assert_int_equal(situ_simulate(&given, problem, device, NULL, NULL), SITU_STATUS_OK);
  situ_problem_free(problem);
  use_all(plan);
  situ_plan_free(plan);
  use_all(given);
  assert_int_equal(situ_check(&verdict, given, NULL), SITU_STATUS_OK);
  situ_plan_free(given);
  assert_int_equal(situ_report_verdict(&text, verdict, SITU_REPORT_TABLE, NULL, NULL),
                   SITU_STATUS_OK); /* tells of the plan */
  assert_non_null(strstr(text, "chain on machine"));
  situ_text_free(text);
}

TEST(secondary_costs_live_as_long_as_a_plan) {
  situ_problem_options options = SITU_PROBLEM_OPTIONS_INIT;
  options.execution = SITU_EXECUTION_STREAM;
  options.overlap = SITU_OVERLAP_NONE;
  options.max_secondary_ns = 1000000000000;
  situ_problem *problem = pose_alone(&options);
  OWN(situ_plan) *plan = NULL;
  assert_int_equal(situ_solve(&plan, problem, NULL, NULL), SITU_STATUS_OK);
  situ_problem_free(problem);
  assert_int_equal(plan->secondary_ns, plan->value_ns); /* the costs are the same */
  use_all(plan);
}

TEST(a_front_outlives_its_problem) {
  situ_problem_options options = SITU_PROBLEM_OPTIONS_INIT;
  options.execution = SITU_EXECUTION_STREAM;
  situ_problem *problem = pose_alone(&options);
  OWN(situ_front) *front = NULL;
  char *text;
  situ_solve_options few = {.size = sizeof few, .max_steps = 100};
  situ_pareto_options points = {.size = sizeof points, .points = 3, .solve = &few};
  assert_int_equal(situ_pareto(&front, problem, &points, NULL), SITU_STATUS_OK);
  situ_problem_free(problem);
  situ_front_summary says = SITU_FRONT_SUMMARY_INIT;
  assert_true(situ_front_get_summary(front, &says) && says.n_points > 0);
  use_all(situ_front_plan(front, 0));
  assert_int_equal(situ_report_pareto(&text, front, NULL, SITU_REPORT_TABLE, NULL, NULL), SITU_STATUS_OK);
  situ_text_free(text);
}

TEST(a_plan_of_an_instance_outlives_it) {
  static const char *const rules[] = {"not MaxPool=gpu0", "reserve gpu1=1GB"};
  const situ_problem_options copies = {
      .size = sizeof copies, .copies = 2, .objective = SITU_OBJECTIVE_THROUGHPUT, .max_latency_ns = INT64_C(1) << 40};
  const situ_cost_options engine = {.size = sizeof engine, .engine = "onnxruntime", .efficiency = 0.5};
  const situ_instance_options kinds[] = {{.model = model, .platform = platform},
                                         {.model = model, .platform = platform, .rules = rules, .n_rules = 2},
                                         {.model = model, .problem = &copies},
                                         {.model = model, .cost = &engine, .granularity = SITU_GRANULARITY_LAYER}};
  for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
    situ_instance_options o = kinds[k];
    o.size = sizeof o;
    situ_instance *instance;
    situ_plan *plan = place(&instance, &o, k == 2 ? "tradeoff" : "heft"), *read;
    OWN(situ_verdict) *verdict = NULL;
    assert_int_equal(situ_plan_write(plan, instance, "lives.json", NULL), SITU_STATUS_OK);
    situ_instance_free(instance);
    situ_plan_free(plan);
    assert_int_equal(situ_plan_read(&read, &instance, "lives.json", NULL), SITU_STATUS_OK);
    assert_ptr_equal(situ_plan_problem(read), situ_instance_problem(instance));
    situ_instance_free(instance);
    assert_int_equal(situ_check(&verdict, read, NULL), SITU_STATUS_OK);
    if (verdict->n_found > 0) fail_msg("kind %d: %s", (int)k, situ_verdict_violation(verdict, 0).text);
    situ_plan_free(read);
  }
}

/* Two models of one size: the numbers of one mean other nodes in the file of the other. */
TEST(a_plan_of_another_model_of_its_size_is_refused) {
  static const char one[] = "{\"situ_graph\": 1, \"operators\": [{\"name\": \"a\", \"flops\": 1000}], \"tensors\": []}";
  static const char two[] = "{\"situ_graph\": 1, \"operators\": [{\"name\": \"b\", \"flops\": 1000}], \"tensors\": []}";
  situ_error error = {0};
  assert_int_equal(situ_text_write(one, "one.json", NULL) + situ_text_write(two, "two.json", NULL), SITU_STATUS_OK);
  OWN(situ_instance) *a = NULL, *b = NULL;
  OWN(situ_plan) *plan =
      place(&a, &(situ_instance_options){.size = sizeof(situ_instance_options), .model = "one.json"}, "single");
  OWN(situ_plan) *other =
      place(&b, &(situ_instance_options){.size = sizeof(situ_instance_options), .model = "two.json"}, "single");
  assert_int_equal(situ_plan_write(plan, b, "wrong.json", &error), SITU_STATUS_BAD_ARGUMENT);
  assert_string_equal(error.where, "b");
  assert_int_equal(situ_plan_write(plan, a, "right.json", &error), SITU_STATUS_OK);
}

/* Plans of one problem that come and go in threads, the last of which frees it. */
enum { THREADS = 4, ROUNDS = 50 };

static void *come_and_go(void *at) {
  const int32_t device[] = {0, 1, 1};
  for (int k = 0; k < ROUNDS; k++) {
    situ_plan *plan = NULL;
    if (situ_simulate(&plan, at, device, NULL, NULL) != SITU_STATUS_OK) return at;
    situ_plan_free(plan);
  }
  situ_plan *kept = NULL;
  return situ_simulate(&kept, at, device, NULL, NULL) == SITU_STATUS_OK ? kept : NULL;
}

TEST(plans_of_one_problem_go_in_any_thread) {
  situ_problem *problem = pose_alone(NULL);
  pthread_t threads[THREADS];
  void *kept[THREADS];
  for (int k = 0; k < THREADS; k++) assert_int_equal(pthread_create(&threads[k], NULL, come_and_go, problem), 0);
  for (int k = 0; k < THREADS; k++) assert_int_equal(pthread_join(threads[k], &kept[k]), 0);
  situ_problem_free(problem);
  for (int k = 0; k < THREADS; k++) {
    use_all(kept[k]);
    situ_plan_free(kept[k]);
  }
}

int main(void) { return TEST_RUN(enter_folder, leave_folder); }
