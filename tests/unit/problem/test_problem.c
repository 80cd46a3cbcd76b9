/* Posing a problem: which models the options stand for, which constraints contradict each other, what views ask. */
#include "../../lab/lab.h"
#include "../../lab/test.h"
#include "graph/builder.h"

/* Two operators on a host and an accelerator; `unit` as from a workload file. */
static lab two(bool unit) {
  lab s = lab_new();
  lab_device(&s, 100, -1, true);
  lab_device(&s, 100, -1, false);
  lab_star(&s);
  lab_operator(&s, "a", 1, 0, 0);
  lab_operator(&s, "b", 1, 0, 0);
  lab_pose(&s, NULL);
  if (unit) s.costs->unit_ns = 1000000;
  return s;
}

static situ_status pose(const lab *s, const situ_problem_options *options, situ_error *error) {
  OWN(situ_problem) *p = NULL;
  situ_status status = situ_problem_pose(&p, s->graph, s->platform, s->costs, options, error);
  return status;
}

enum { D = 0, LATENCY = SITU_OBJECTIVE_LATENCY, THROUGHPUT = SITU_OBJECTIVE_THROUGHPUT };
enum { STREAM = SITU_EXECUTION_STREAM, CALLS = SITU_EXECUTION_CALLS, PIPELINE = SITU_EXECUTION_PIPELINE };

typedef struct asked {
  int objective, execution, copies, calls, period_ns, latency_ns;
} asked;

static situ_problem_options options_of(asked a) {
  return (situ_problem_options){.size = sizeof(situ_problem_options),
                                .objective = (situ_objective)a.objective,
                                .execution = (situ_execution)a.execution,
                                .copies = a.copies,
                                .max_calls = a.calls,
                                .max_period_ns = a.period_ns,
                                .max_latency_ns = a.latency_ns};
}

/* situ/problem.h: the objective follows the execution model, else it is throughput for workload files; the execution
 * model is stream under a limit or with copies, calls with a number of them, pipeline for throughput, and for latency
 * calls with workload files, else stream. */
TEST(defaults_follow_what_is_asked_for) {
  static const struct {
    asked asked;
    bool unit;
    int objective, execution;
  } rows[] = {
      {{D, D, 0, 0, 0, 0}, false, LATENCY, STREAM},
      {{D, D, 0, 0, 0, 0}, true, THROUGHPUT, PIPELINE},
      {{LATENCY, D, 0, 0, 0, 0}, false, LATENCY, STREAM},
      {{LATENCY, D, 0, 0, 0, 0}, true, LATENCY, CALLS},
      {{THROUGHPUT, D, 0, 0, 0, 0}, false, THROUGHPUT, PIPELINE},
      {{D, STREAM, 0, 0, 0, 0}, true, LATENCY, STREAM},
      {{D, CALLS, 0, 0, 0, 0}, false, LATENCY, CALLS},
      {{D, PIPELINE, 0, 0, 0, 0}, false, THROUGHPUT, PIPELINE},
      {{D, D, 2, 0, 0, 0}, false, LATENCY, STREAM},
      {{D, D, 2, 0, 0, 0}, true, LATENCY, STREAM},
      {{D, D, 1, 0, 0, 0}, true, THROUGHPUT, PIPELINE},
      {{D, D, 0, 1, 0, 0}, false, LATENCY, CALLS},
      {{D, D, 0, 1, 0, 0}, true, LATENCY, CALLS},
      {{D, D, 0, 0, 1, 0}, false, LATENCY, STREAM},
      {{D, D, 0, 0, 1, 0}, true, LATENCY, STREAM},
      {{D, D, 0, 0, 0, 1}, false, THROUGHPUT, STREAM},
      {{D, D, 2, 0, 0, 1}, true, THROUGHPUT, STREAM},
      {{THROUGHPUT, STREAM, 0, 0, 0, 5}, false, THROUGHPUT, STREAM},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    OWN(lab) s = two(rows[i].unit);
    situ_problem_options options = options_of(rows[i].asked);
    OWN(situ_problem) *p = NULL;
    situ_error error = {0};
    if (situ_problem_pose(&p, s.graph, s.platform, s.costs, &options, &error) != SITU_STATUS_OK)
      fail_msg("row %d: %s", (int)i, error.text);
    if ((int)p->objective != rows[i].objective || (int)p->execution != rows[i].execution)
      fail_msg("row %d: %s, %s", (int)i, situ_objective_name(p->objective), situ_execution_name(p->execution));
    assert_int_equal(p->communication, rows[i].unit ? SITU_COMMUNICATION_HOST_STAGED : SITU_COMMUNICATION_LINK);
    assert_int_equal(p->n_copies, rows[i].asked.copies == 2 ? 2 : 1);
    situ_problem_summary says = SITU_PROBLEM_SUMMARY_INIT;
    assert_true(situ_problem_get_summary(p, &says));
    assert_int_equal(says.max_calls, rows[i].asked.calls);
    assert_true(p->max_period_ns == (rows[i].asked.period_ns ? rows[i].asked.period_ns : SITU_NEVER_NS));
    assert_true(p->max_latency_ns == (rows[i].asked.latency_ns ? rows[i].asked.latency_ns : SITU_NEVER_NS));
    assert_true(p->contention == SITU_CONTENTION_LINK && p->schedule == SITU_SCHEDULE_1F1B);
    assert_false(!p->contiguous || p->replicate || p->async_copies || p->training);
    assert_int_equal(p->in_flight, 1);
    assert_int_equal(problem_has_period(p), rows[i].asked.period_ns || rows[i].asked.latency_ns);
    assert_true(situ_problem_graph(p) == s.graph && situ_problem_platform(p) == s.platform);
    assert_true(situ_problem_costs(p) == s.costs);
  }
}

TEST(what_does_not_go_together_is_refused) {
  static const struct {
    asked asked;
    const char *text;
  } rows[] = {
      {{LATENCY, PIPELINE, 0, 0, 0, 0}, "objective latency cannot be combined with execution pipeline"},
      {{THROUGHPUT, CALLS, 0, 0, 0, 0}, "objective throughput cannot be combined with execution calls"},
      {{THROUGHPUT, STREAM, 0, 0, 0, 0}, "objective throughput cannot be combined with execution stream"},
      {{D, CALLS, 0, 0, 1, 0}, "a limit on period or latency needs execution stream, not calls"},
      {{D, PIPELINE, 0, 0, 0, 1}, "a limit on period or latency needs execution stream, not pipeline"},
      {{D, CALLS, 2, 0, 0, 0}, "copies need execution stream, not calls"},
      {{D, D, 3, 0, 0, 0}, "3 copies of equal size cannot be made of 2 operators"},
      {{D, STREAM, 0, 1, 0, 0}, "a limit on calls needs execution calls, not stream"},
      {{THROUGHPUT, STREAM, 0, 0, 1, 0},
       "the objective itself cannot be limited; combine latency with a limit on the period"},
      {{LATENCY, STREAM, 0, 0, 0, 1},
       "the objective itself cannot be limited; combine latency with a limit on the period"},
      {{D, D, 0, 0, 1, 1},
       "period and latency cannot both be limited, because one of them is the objective; combine latency"},
  };
  OWN(lab) s = two(false);
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    situ_error error = {0};
    situ_problem_options options = options_of(rows[i].asked);
    assert_int_equal(pose(&s, &options, &error), SITU_STATUS_BAD_ARGUMENT);
    if (strncmp(error.text, rows[i].text, strlen(rows[i].text)) != 0) fail_msg("row %d: %s", (int)i, error.text);
  }
}

TEST(options_of_pipelines_go_with_pipelines_only) {
  const struct {
    situ_problem_options options;
    const char *text;
  } rows[] = {
      {{.size = sizeof(situ_problem_options), .free = true},
       "non-contiguous parts (free): needs execution pipeline, not stream"},
      {{.size = sizeof(situ_problem_options), .async_copies = true},
       "copies during computation (async_copies): needs execution pipeline"},
      {{.size = sizeof(situ_problem_options), .replicate = true}, "replicas: needs execution pipeline"},
      {{.size = sizeof(situ_problem_options), .in_flight = 2},
       "more than one input in flight: needs execution pipeline"},
      {{.size = sizeof(situ_problem_options), .schedule = SITU_SCHEDULE_GPIPE},
       "a schedule of passes: needs execution pipeline"},
  };
  OWN(lab) s = two(false);
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    situ_error error = {0};
    situ_problem_options options = rows[i].options;
    assert_int_equal(pose(&s, &options, &error), SITU_STATUS_BAD_ARGUMENT);
    if (strncmp(error.text, rows[i].text, strlen(rows[i].text)) != 0) fail_msg("row %d: %s", (int)i, error.text);
    options.objective = SITU_OBJECTIVE_THROUGHPUT;
    assert_int_equal(pose(&s, &options, &error), SITU_STATUS_OK);
  }
  assert_int_equal(pose(&s, &(situ_problem_options){.size = sizeof(situ_problem_options), .in_flight = 1}, NULL),
                   SITU_STATUS_OK);
}

/* ---- constraints ---- */

typedef struct group {
  int64_t weight_bytes;
  int64_t time_ns[2]; /* -1: never */
  int64_t colocation;
  int32_t pin;
} group;

/* Operators "a", "b", ... on d0, the host, and d1, each with a memory of 10 bytes, and how the problem conflicts. */
static void hold_conflict(const group *rows, int32_t n, const bool unused[2], const char *expected,
                          const int32_t *pins) {
  static const char *const names[] = {"a", "b", "c", "d"};
  lab s = lab_new();
  int32_t asked_pins[4];
  for (int32_t d = 0; d < 2; d++) lab_device(&s, 10, -1, d == 0);
  lab_star(&s);
  for (int32_t v = 0; v < n; v++) {
    situ_operator op = {
        .name = names[v], .source_id = -1, .colocation = rows[v].colocation, .weight_bytes = rows[v].weight_bytes};
    lab_add(&s, op, 0);
    for (int32_t d = 0; d < 2; d++) s.time_ns[v][d] = rows[v].time_ns[d] < 0 ? SITU_NEVER_NS : rows[v].time_ns[d];
    asked_pins[v] = rows[v].pin;
  }
  situ_problem_options options = {.size = sizeof(situ_problem_options), .pins = asked_pins, .unused = unused};
  lab_pose(&s, &options);
  const char *found = s.problem->conflict;
  if ((found == NULL) != (expected == NULL) || (found && strncmp(found, expected, strlen(expected)) != 0))
    fail_msg("found '%s', expected '%s'", found ? found : "", expected ? expected : "");
  for (int32_t v = 0; pins && v < n; v++) assert_int_equal(s.problem->pin[v], pins[v]);
  lab_free(&s);
}

/* Keys 0: a, b; 2: c, d; colocation b, c: one unit of four, and e alone. */
TEST(kernels_and_colocation_groups_join) {
  OWN(lab) s = lab_new();
  for (int32_t d = 0; d < 2; d++) lab_device(&s, 10, -1, d == 0);
  lab_star(&s);
  static const char *const names[] = {"a", "b", "c", "d", "e"};
  for (int32_t v = 0; v < 5; v++)
    lab_add(&s, (situ_operator){.name = names[v], .source_id = -1, .colocation = v == 1 || v == 2 ? 7 : -1}, 0);
  lab_pose(&s, NULL);
  assert_int_equal(s.problem->units.n, 4);
  situ_problem_free(s.problem);
  s.costs->group = (int32_t[]){0, 0, 2, 2, 4};
  assert_int_equal(situ_problem_pose(&s.problem, s.graph, s.platform, s.costs, NULL, NULL), SITU_STATUS_OK);
  static const int32_t units[] = {0, 0, 0, 0, 1}, groups[] = {0, 0, 0, 0, -1};
  assert_int_equal(s.problem->units.n, 2);
  assert_memory_equal(s.problem->units.of, units, sizeof units);
  assert_memory_equal(s.problem->graph->colocation, groups, sizeof groups);
  assert_int_equal(s.problem->graph->n_colocations, 1);
  assert_ptr_equal(situ_problem_graph(s.problem), s.graph);
  assert_null(s.problem->conflict);
  situ_problem_free(s.problem);

  /* Pins part what is one kernel, directly or through a colocation group. */
  static const struct {
    int32_t pins[5];
    const char *conflict;
  } rows[] = {{{0, -1, -1, -1, 1}, NULL},
              {{0, 1, -1, -1, -1},
               "fusion: a and b are one kernel, that of a, but are pinned to different devices; with fusion none they "
               "can be placed separately"},
              {{0, -1, -1, 1, -1}, "colocation: a and d must share a device but are pinned to different ones"}};
  for (int k = 0; k < 3; k++) {
    situ_problem_options o = {.size = sizeof o, .pins = rows[k].pins};
    assert_int_equal(situ_problem_pose(&s.problem, s.graph, s.platform, s.costs, &o, NULL), SITU_STATUS_OK);
    const char *found = s.problem->conflict;
    if (!rows[k].conflict) assert_null(found);
    if (rows[k].conflict) assert_string_equal(found, rows[k].conflict);
    for (int32_t v = 1; k == 0 && v < 4; v++) assert_int_equal(s.problem->pin[v], 0);
    if (k < 2) situ_problem_free(s.problem);
  }
}

TEST(pins_hold_for_their_group) {
  const bool none[2] = {false, false};
  const group rows[] = {{0, {1, 1}, 5, -1}, {0, {1, 1}, -1, -1}, {0, {1, 1}, 5, 0}, {0, {1, 1}, 6, 1}};
  hold_conflict(rows, 4, none, NULL, (int32_t[]){0, -1, 0, 1});
  const group apart[] = {{0, {1, 1}, 5, 0}, {0, {1, 1}, 6, 1}, {0, {1, 1}, 5, 1}, {0, {1, 1}, 6, 1}};
  hold_conflict(apart, 4, none, "colocation: a and c must share a device but are pinned to different ones", NULL);
  const group twice[] = {{0, {1, 1}, 5, 1}, {0, {1, 1}, 5, 1}, {0, {1, 1}, 5, -1}};
  hold_conflict(twice, 3, none, NULL, (int32_t[]){1, 1, 1});
}

/* Two memories that share 100 bytes: weights of 150 fit neither of them, nor both together. */
TEST(a_pool_counts_once) {
  for (int32_t apart = 0; apart < 2; apart++) {
    OWN(lab) s = lab_new();
    lab_device(&s, 100, -1, true);
    lab_device(&s, 100, apart ? 0 : -1, false);
    s.devices[1].separate_address_space = apart;
    lab_link(&s, 0, 1, 0, -1);
    lab_link(&s, 1, 0, 0, -1);
    lab_operator(&s, "a", 1, 75, 0);
    lab_operator(&s, "b", 1, 75, 0);
    lab_pose(&s, NULL);
    assert_true((s.problem->conflict != NULL) == (apart == 1));
  }
}

TEST(constraints_that_no_plan_can_meet_are_named) {
  const bool none[2] = {false, false}, no_host[2] = {true, false}, nobody[2] = {true, true};
  static const struct {
    group rows[3];
    int32_t n;
    int unused; /* 0: none, 1: the host, 2: both */
    const char *expected;
  } cases[] = {
      {{{0, {1, -1}, -1, -1}}, 1, 0, NULL},
      {{{0, {1, -1}, -1, -1}}, 1, 1, "support: a can run on no usable device"},
      {{{0, {1, -1}, -1, 0}}, 1, 1, "unused: a is pinned to d0, which must stay unused"},
      {{{0, {1, -1}, -1, 1}}, 1, 0, "support: a is pinned to d1 but cannot run there"},
      {{{0, {1, 1}, -1, -1}, {0, {-1, -1}, -1, -1}}, 2, 0, "support: b can run on no usable device"},
      {{{0, {1, 1}, -1, -1}}, 1, 2, "support: a can run on no usable device"},
      {{{0, {1, -1}, 7, -1}, {0, {-1, 1}, 7, -1}}, 2, 0, "colocation: no device can run the whole group of a"},
      {{{0, {1, 1}, 7, -1}, {0, {-1, 1}, 7, -1}}, 2, 0, NULL},
      {{{10, {1, 1}, -1, -1}, {10, {1, 1}, -1, -1}}, 2, 0, NULL},
      {{{10, {1, 1}, -1, -1}, {11, {1, 1}, -1, -1}},
       2,
       0,
       "memory: the weights need 21 B, all usable memories together hold 20 B"},
      {{{11, {1, 1}, -1, -1}}, 1, 1, "memory: the weights need 11 B, all usable memories together hold 10 B"},
      {{{11, {1, 1}, -1, -1}, {0, {1, 1}, -1, 0}}, 2, 1, "unused: b is pinned to d0, which must stay unused"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
    hold_conflict(cases[i].rows, cases[i].n,
                  cases[i].unused == 2 ? nobody
                  : cases[i].unused    ? no_host
                                       : none,
                  cases[i].expected, NULL);
}

TEST(micro_batches_are_of_training_steps_in_contiguous_parts) {
  const struct {
    situ_problem_options options;
    bool training;
    const char *text;
  } rows[] = {
      {{.micro_batches = 1, .execution = SITU_EXECUTION_STREAM},
       true,
       "a step of micro-batches: needs execution pipeline, not stream"},
      {{.micro_batches = 2}, false, "micro-batches are of training steps: add training"},
      {{.micro_batches = 2, .free = true}, true, "micro-batches pass from part to part: parts must be contiguous"},
      {{.micro_batches = 2, .in_flight = 1},
       true,
       "micro-batches and their schedule say how many inputs are in flight"},
      {{.zero = 1}, true, "zero shards what replicas hold in training: add replicate"},
      {{.zero = 1, .replicate = true}, false, "zero shards what replicas hold in training: add training"},
      {{.zero = 4, .replicate = true}, true, "the option zero has an invalid value"},
      {{.zero = 3, .replicate = true}, true, NULL},
      {{.micro_batches = 2}, true, NULL},
      {{.micro_batches = 2, .schedule = SITU_SCHEDULE_GPIPE, .replicate = true}, true, NULL},
      {{.micro_batches = 2, .schedule = SITU_SCHEDULE_ZB_H1}, true, NULL},
      {{.schedule = SITU_SCHEDULE_ZB_H1}, true, "schedule zb-h1 needs micro_batches, at least 1"},
      {{.micro_batches = 2, .schedule = SITU_SCHEDULE_INTERLEAVED, .chunks = 3}, true, NULL},
      {{.micro_batches = 2, .schedule = SITU_SCHEDULE_ZB_V}, true, NULL},
      {{.schedule = SITU_SCHEDULE_ZB_V}, true, "schedule zb-v needs micro_batches, at least 1"},
      {{.micro_batches = 2, .chunks = 2}, true, "chunks are those of schedule interleaved"},
      {{.micro_batches = 2, .schedule = SITU_SCHEDULE_ZB_V, .chunks = 3}, true, "schedule zb-v has two chunks"},
      {{.micro_batches = 2, .schedule = SITU_SCHEDULE_ZB_V, .free = true}, true, "schedules by chunks cut the model"},
      {{.micro_batches = 2, .schedule = SITU_SCHEDULE_ZB_V, .replicate = true}, true, "schedules by chunks are for"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    OWN(lab) s = two(false);
    situ_error error = {0};
    situ_problem_options options = rows[i].options;
    options.size = sizeof options;
    if (options.execution == SITU_EXECUTION_DEFAULT) options.execution = SITU_EXECUTION_PIPELINE;
    if (rows[i].training) s.graph->phase[1] = SITU_PHASE_BACKWARD;
    situ_status status = pose(&s, &options, &error);
    assert_int_equal(status, rows[i].text ? SITU_STATUS_BAD_ARGUMENT : SITU_STATUS_OK);
    if (rows[i].text && strncmp(error.text, rows[i].text, strlen(rows[i].text)) != 0) fail_msg("%s", error.text);
  }
}

TEST(pins_beyond_the_platform_are_refused) {
  OWN(lab) s = two(false);
  for (int32_t pin = -3; pin < 4; pin++) {
    int32_t pins[2] = {-1, pin};
    situ_error error = {0};
    situ_status status = pose(&s, &(situ_problem_options){.size = sizeof(situ_problem_options), .pins = pins}, &error);
    assert_int_equal(status, pin >= -1 && pin < 2 ? SITU_STATUS_OK : SITU_STATUS_BAD_ARGUMENT);
  }
}

/* Two operators that take no time, with a tensor of no bytes between them. */
static lab joined(void) {
  lab s = lab_new();
  lab_device(&s, 100, -1, true);
  lab_device(&s, 100, -1, false);
  lab_star(&s);
  int32_t a = lab_operator(&s, "a", 0, 0, 0), b = lab_operator(&s, "b", 0, 0, 0);
  lab_tensor(&s, a, 0, b, -1);
  lab_pose(&s, NULL);
  return s;
}

/* a on the host and b on the accelerator, where each is slowest, and the tensor, which counts twice: once for its one
 * user and once for a way out. */
TEST(times_beyond_the_limit_are_refused) {
  static const int64_t half = PROBLEM_MAX_NS / 2;
  const struct {
    int64_t a_ns, b_ns, transfer_ns;
    bool good;
  } cases[] = {{half, half, 0, true},      {half, half + 1, 0, false},       {half, half - 2, 1, true},
               {half, half - 1, 1, false}, {0, 0, PROBLEM_MAX_NS / 2, true}, {0, 0, PROBLEM_MAX_NS / 2 + 1, false},
               {0, 0, INT64_MAX, false},   {INT64_MAX - 1, 1, 0, false},     {0, SITU_NEVER_NS, 1, true}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    OWN(lab) s = joined();
    s.costs->time_ns[0] = cases[i].a_ns;
    s.costs->time_ns[3] = cases[i].b_ns;
    for (int32_t k = 1; k < s.costs->n_kinds; k++) s.costs->transfer_rows[k] = cases[i].transfer_ns;
    costs_find_extremes(s.costs);
    situ_error error = {0};
    assert_int_equal(pose(&s, NULL, &error), cases[i].good ? SITU_STATUS_OK : SITU_STATUS_BAD_INPUT);
    if (!cases[i].good) assert_non_null(strstr(error.text, "2^54 ns"));
  }
}

/* Weights count once, workspaces and tensors for each of three inputs in flight. */
TEST(sizes_beyond_the_limit_are_refused) {
  for (int64_t more = 0; more < 2; more++) {
    OWN(lab) s = joined();
    s.graph->weight_bytes[0] = PROBLEM_MAX_BYTES - 3 * (5 + 7) + more;
    s.graph->workspace_bytes[1] = 5;
    s.graph->size_bytes[0] = 7;
    const situ_problem_options options = {.size = sizeof options, .execution = SITU_EXECUTION_PIPELINE, .in_flight = 3};
    situ_error error = {0};
    assert_int_equal(pose(&s, &options, &error), more ? SITU_STATUS_BAD_INPUT : SITU_STATUS_OK);
    if (more) assert_non_null(strstr(error.text, "2^56 bytes"));
  }
}

/* ---- what inner loops look up ---- */

/* d0 and d2 share a memory; only d1 and d3 are hosts: the first is d1. Nobody is: d0. */
TEST(devices_are_looked_up) {
  for (int hosts = 0; hosts < 2; hosts++) {
    OWN(lab) s = lab_new();
    for (int32_t d = 0; d < 4; d++) lab_device(&s, 10, d == 2 ? 0 : -1, hosts && d % 2 == 1);
    for (int32_t a = 0; a < 4; a++)
      for (int32_t b = 0; b < 4; b++)
        if (a != b && a != 2 && b != 2) lab_link(&s, a, b, a == 0 ? 3 : 0, -1);
    int32_t a = lab_operator(&s, "a", 1, 0, 0), b = lab_operator(&s, "b", 1, 0, 0);
    s.time_ns[b][3] = SITU_NEVER_NS;
    lab_tensor(&s, a, 5, b, -1);
    int32_t pins[] = {-1, 3};
    bool unused[] = {false, true, false, false};
    lab_pose(&s, &(situ_problem_options){.size = sizeof(situ_problem_options), .pins = pins, .unused = unused});
    const situ_problem *p = s.problem;
    assert_int_equal(p->host, hosts);
    assert_int_equal(problem_transfer_ns(p, 0, 0, 2), 0);
    assert_int_equal(problem_transfer_ns(p, 0, 0, 1), 8);
    assert_int_equal(problem_transfer_ns(p, 0, 2, 1), 8); /* from the memory of d0 */
    assert_int_equal(problem_transfer_ns(p, 0, 1, 2), 5);
    assert_true(problem_allows(p, a, 0) && !problem_allows(p, a, 1) && problem_allows(p, a, 3));
    for (int32_t d = 0; d < 4; d++) assert_false(problem_allows(p, b, d)); /* where it is pinned to it cannot run */
  }
}

TEST(only_training_has_two_phases_and_only_in_gpipe) {
  for (int trained = 0; trained < 2; trained++)
    for (int gpipe = 0; gpipe < 2; gpipe++)
      for (int pipeline = 0; pipeline < 2; pipeline++) {
        if (gpipe && !pipeline) continue;
        OWN(lab) s = lab_new();
        lab_device(&s, 10, -1, true);
        situ_operator forward = {.name = "f", .source_id = -1, .colocation = -1};
        situ_operator later = {.name = "b",
                               .source_id = -1,
                               .colocation = -1,
                               .phase = trained ? SITU_PHASE_BACKWARD : SITU_PHASE_FORWARD};
        lab_add(&s, forward, 0);
        lab_add(&s, later, 0);
        lab_pose(&s, &(situ_problem_options){.size = sizeof(situ_problem_options),
                                             .execution = pipeline ? SITU_EXECUTION_PIPELINE : SITU_EXECUTION_STREAM,
                                             .schedule = gpipe ? SITU_SCHEDULE_GPIPE : SITU_SCHEDULE_1F1B});
        bool two_phases = trained && gpipe;
        assert_int_equal(s.problem->training, trained);
        assert_int_equal(s.problem->n_phases, two_phases ? 2 : 1);
        assert_int_equal(problem_phase(s.problem, 0), 0);
        assert_int_equal(problem_phase(s.problem, 1), two_phases);
      }
}

/* ---- views ---- */

TEST(views_ask_another_question_of_the_same_things) {
  OWN(lab) s = two(false);
  OWN(situ_problem) *p = NULL;
  const situ_problem_options options = {.size = sizeof(situ_problem_options), .max_period_ns = 9, .copies = 2};
  assert_int_equal(situ_problem_pose(&p, s.graph, s.platform, s.costs, &options, NULL), SITU_STATUS_OK);
  p->async_copies = p->replicate = true; /* whatever else it asks for */
  p->in_flight = 4;
  p->max_calls = 3;
  situ_problem view;
  problem_view_pipeline(&view, p);
  assert_true(view.objective == SITU_OBJECTIVE_THROUGHPUT && view.execution == SITU_EXECUTION_PIPELINE);
  assert_true(view.communication == SITU_COMMUNICATION_LINK && !view.contiguous && !view.async_copies &&
              !view.replicate);
  assert_true(view.in_flight == 1 && view.max_period_ns == SITU_NEVER_NS && view.max_latency_ns == SITU_NEVER_NS);
  assert_true(view.graph == p->graph && view.n_copies == 2 && view.max_calls == 3);
  problem_view_contiguous(&view, p);
  assert_true(view.objective == SITU_OBJECTIVE_THROUGHPUT && view.execution == SITU_EXECUTION_PIPELINE);
  assert_true(view.communication == SITU_COMMUNICATION_HOST_STAGED && view.contiguous && !view.async_copies);
  assert_true(view.max_calls == INT32_MAX);
  p->max_latency_ns = 7;
  problem_view_latency(&view, p);
  assert_true(view.objective == SITU_OBJECTIVE_LATENCY && view.execution == SITU_EXECUTION_STREAM &&
              view.in_flight == 4);
  assert_true(view.max_period_ns == SITU_NEVER_NS && view.max_latency_ns == SITU_NEVER_NS);
}

/* Three copies of two operators with a tensor between them: the view of one has the sizes of one. */
TEST(the_first_copy_is_a_problem_of_its_own) {
  OWN(lab) s = lab_new();
  lab_device(&s, 100, -1, true);
  int32_t a[3], b[3];
  for (int k = 0; k < 3; k++) {
    situ_operator op = {.source_id = -1, .colocation = k, .weight_bytes = k ? 0 : 6};
    a[k] = lab_add(&s, op, 0);
    op.weight_bytes = k ? 0 : 8;
    b[k] = lab_add(&s, op, 0);
    lab_tensor(&s, a[k], 4, b[k], -1);
  }
  lab_pose(&s, &(situ_problem_options){.size = sizeof(situ_problem_options), .copies = 3});
  assert_int_equal(problem_shared_bytes(s.problem, 0), 0);
  assert_int_equal(problem_shared_bytes(s.problem, 1), 0);
  assert_int_equal(problem_shared_bytes(s.problem, 2), 6);
  assert_int_equal(problem_shared_bytes(s.problem, 5), 8);
  situ_problem view;
  situ_graph graph;
  problem_view_latency(&view, s.problem);
  problem_view_copy(&view, &graph);
  assert_true(view.graph == &graph && view.n_copies == 1 && view.n_operators == 2);
  assert_true(graph.n_operators == 2 && graph.n_tensors == 1 && graph.n_colocations == 1);
  assert_true(graph.n_uses == 1 && graph.n_edges == 1);
}

/* ---- certificates ---- */

TEST(certificates_keep_lists_by_name) {
  OWN(arena) *a = arena_new();
  certificate c, copy;
  certificate_start(&c, "kind", 7);
  int64_t *plain = certificate_add(&c, "plain", 2, a), *named = certificate_add_operators(&c, "named", 1, a);
  assert_true(plain && named && plain[0] == 0 && plain[1] == 0 && named[0] == 0);
  plain[1] = 5;
  assert_true(!c.list[0].of_operators && c.list[1].of_operators);
  assert_true(certificate_get(&c, "plain", 2) == plain && certificate_get(&c, "plain", -1) == plain);
  assert_null(certificate_get(&c, "plain", 3));
  assert_null(certificate_get(&c, "other", -1));
  assert_int_equal(certificate_size(&c, "plain"), 2);
  assert_int_equal(certificate_size(&c, "other"), 0);
  c.bound = "bound";
  c.fault = "fault";
  c.memory = (int32_t[]){4, -1};
  c.n_placed = 2;
  assert_true(certificate_copy(&copy, &c, a));
  assert_true(copy.n_placed == 2 && copy.memory != c.memory && copy.memory[0] == 4 && copy.memory[1] == -1);
  assert_true(copy.kind != c.kind && copy.bound != c.bound && copy.fault != c.fault);
  assert_string_equal(copy.kind, "kind");
  assert_string_equal(copy.bound, "bound");
  assert_string_equal(copy.fault, "fault");
  assert_true(copy.lower_ns == 7 && copy.n_lists == 2 && copy.list[1].of_operators);
  const int64_t *values = certificate_get(&copy, "plain", 2);
  assert_true(values && values != plain && values[1] == 5);
  c.bound = c.fault = NULL;
  assert_true(certificate_copy(&copy, &c, a) && !copy.bound && !copy.fault);
  certificate nothing = {0};
  assert_true(certificate_copy(&copy, &nothing, a) && !copy.kind && copy.n_lists == 0);
  while (c.n_lists < CERTIFICATE_LISTS) assert_non_null(certificate_add(&c, "more", 0, a));
  assert_null(certificate_add(&c, "too many", 0, a));
  assert_int_equal(c.n_lists, CERTIFICATE_LISTS);
}

TEST(every_choice_has_a_name) {
  assert_string_equal(situ_objective_name(SITU_OBJECTIVE_DEFAULT), "default");
  assert_string_equal(situ_objective_name(SITU_OBJECTIVE_LATENCY), "latency");
  assert_string_equal(situ_objective_name(SITU_OBJECTIVE_THROUGHPUT), "throughput");
  assert_string_equal(situ_objective_name((situ_objective)3), "unknown");
  assert_string_equal(situ_execution_name(SITU_EXECUTION_DEFAULT), "default");
  assert_string_equal(situ_execution_name(SITU_EXECUTION_STREAM), "stream");
  assert_string_equal(situ_execution_name(SITU_EXECUTION_CALLS), "calls");
  assert_string_equal(situ_execution_name(SITU_EXECUTION_PIPELINE), "pipeline");
  assert_string_equal(situ_execution_name((situ_execution)4), "unknown");
  assert_string_equal(situ_communication_name(SITU_COMMUNICATION_DEFAULT), "default");
  assert_string_equal(situ_communication_name(SITU_COMMUNICATION_HOST_STAGED), "host-staged");
  assert_string_equal(situ_communication_name(SITU_COMMUNICATION_LINK), "link");
  assert_string_equal(situ_communication_name((situ_communication)3), "unknown");
  assert_string_equal(situ_schedule_name(SITU_SCHEDULE_GPIPE), "gpipe");
  assert_string_equal(situ_schedule_name(SITU_SCHEDULE_ZB_H1), "zb-h1");
  assert_string_equal(situ_schedule_name(SITU_SCHEDULE_INTERLEAVED), "interleaved");
  assert_string_equal(situ_schedule_name(SITU_SCHEDULE_ZB_V), "zb-v");
  assert_string_equal(situ_schedule_name(SITU_SCHEDULE_1F1B), "1f1b");
  assert_string_equal(situ_contention_name(SITU_CONTENTION_NONE), "none");
  assert_string_equal(situ_contention_name(SITU_CONTENTION_LINK), "link");
}

TEST_MAIN
