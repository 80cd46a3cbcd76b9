/* What a problem is: every option, every number of graph, machine and costs changes its hash, and posing it again from
 * its options does not. Which problems relax which. */
#include "../../lab/lab.h"
#include "../../lab/test.h"
#include "graph/builder.h"

static const int32_t pin_a[] = {1, -1}, apart[] = {0, 1}, together[] = {0, 0};
static const bool no_last[] = {false, false, true};

/* A host and two accelerators; a 5 ns, b 7 ns, a tensor of 3 bytes from a to b. `wrong` >= 0 changes one number. */
enum { N_NUMBERS = 13 };
static lab three(int wrong, const situ_problem_options *options) {
  lab s = lab_new();
  lab_device(&s, 100, -1, true);
  lab_device(&s, wrong == 0 ? 99 : 100, -1, false);
  lab_device(&s, 100, wrong == 1 ? 1 : -1, wrong == 2);
  s.devices[2].server = wrong == 3;
  for (int32_t d = 1; d < 3 - (wrong == 1); d++) {
    lab_link(&s, 0, d, wrong == 4, wrong == 5 ? 0 : -1);
    lab_link(&s, d, 0, 0, wrong == 5 ? 0 : -1);
  }
  situ_operator a = {.name = wrong == 6 ? "c" : "a",
                     .source_id = -1,
                     .colocation = -1,
                     .weight_bytes = 10 + (wrong == 7),
                     .workspace_bytes = 4 + (wrong == 8)};
  lab_add(&s, a, 5 + (wrong == 9));
  lab_of_phase(&s, "b", 7, wrong == 10 ? SITU_PHASE_BACKWARD : SITU_PHASE_FORWARD, -1);
  lab_tensor(&s, 0, 3 + (wrong == 11), wrong == 12 ? -1 : 1, -1);
  lab_pose(&s, options);
  return s;
}

TEST(every_number_of_graph_machine_and_costs_counts) {
  uint64_t seen[N_NUMBERS + 1];
  for (int wrong = -1; wrong < N_NUMBERS; wrong++) {
    OWN(lab) s = three(wrong, NULL);
    seen[wrong + 1] = problem_hash(s.problem);
    for (int k = 0; k <= wrong; k++)
      if (seen[k] == seen[wrong + 1]) fail_msg("changes %d and %d give one hash", k - 1, wrong);
  }
}

static situ_problem_options options_of(situ_objective objective, situ_execution execution) {
  situ_problem_options o = SITU_PROBLEM_OPTIONS_INIT;
  o.objective = objective;
  o.execution = execution;
  return o;
}

/* Each field of the options: where it is, a problem that may have it, and another value. A new field without a row
 * makes a gap in the struct, which fails. */
enum { STREAM = SITU_EXECUTION_STREAM, CALLS = SITU_EXECUTION_CALLS, PIPELINE = SITU_EXECUTION_PIPELINE };
typedef struct change {
  const char *name;
  size_t offset, bytes;
  int execution;
  union {
    int word;
    int32_t small;
    int64_t whole;
    bool truth;
    const void *pointer;
  } to;
} change;
#define FIELD(NAME, EXECUTION, ...)                                                                                 \
  {                                                                                                                 \
#NAME, offsetof(situ_problem_options, NAME), sizeof((situ_problem_options){0}).NAME, EXECUTION, { __VA_ARGS__ } \
  }
static const change changes[] = {
    FIELD(objective, -1),
    FIELD(execution, STREAM, .word = SITU_EXECUTION_CALLS),
    FIELD(contention, STREAM, .word = SITU_CONTENTION_NONE),
    FIELD(overlap, STREAM, .word = SITU_OVERLAP_NONE),
    FIELD(communication, PIPELINE, .word = SITU_COMMUNICATION_HOST_STAGED),
    FIELD(free, PIPELINE, .truth = true),
    FIELD(async_copies, PIPELINE, .truth = true),
    FIELD(schedule, PIPELINE, .word = SITU_SCHEDULE_GPIPE),
    FIELD(replicate, PIPELINE, .truth = true),
    FIELD(in_flight, PIPELINE, .small = 3),
    FIELD(copies, STREAM, .small = 2),
    FIELD(max_calls, CALLS, .small = 1),
    FIELD(micro_batches, PIPELINE, .small = 3),
    FIELD(chunks, -1), /* needs a schedule: below */
    FIELD(zero, -1),   /* needs replicas: below */
    FIELD(max_period_ns, STREAM, .whole = 50),
    FIELD(max_latency_ns, -1),
    FIELD(pins, STREAM, .pointer = pin_a),
    FIELD(unused, STREAM, .pointer = no_last),
    FIELD(keep_together, STREAM, .pointer = together),
    FIELD(secondary_costs, -1),
    FIELD(max_secondary_ns, -1),
    FIELD(secondary_name, -1),
    FIELD(keep_name, -1), /* words of messages */
    FIELD(names, -1),     /* and of writers */
    FIELD(max_unknown_percent, -1),
};
enum { CHANGES = sizeof changes / sizeof changes[0] };

TEST(every_field_of_the_options_has_a_row) {
  size_t end = sizeof(size_t); /* behind the size */
  for (int k = 0; k < CHANGES; k++) {
    size_t align = changes[k].bytes, at = (end + align - 1) / align * align;
    if (changes[k].offset != at) fail_msg("a field before %s has no row", changes[k].name);
    end = changes[k].offset + changes[k].bytes;
  }
  assert_int_equal((end + sizeof(void *) - 1) / sizeof(void *) * sizeof(void *), sizeof(situ_problem_options));
}

static uint64_t hash_posed(const lab *s, const situ_problem_options *o, situ_problem **out) {
  situ_problem *p;
  situ_error error = {0};
  if (situ_problem_pose(&p, s->graph, s->platform, s->costs, o, &error) != SITU_STATUS_OK) fail_msg("%s", error.text);
  uint64_t hash = problem_hash(p);
  if (out)
    *out = p;
  else
    situ_problem_free(p);
  return hash;
}

/* Posed again from its own options, a problem has the same hash. */
static void check_variant(const lab *s, const situ_problem *p, const char *name) {
  situ_problem_options o = problem_options_of(p);
  if (hash_posed(s, &o, NULL) != problem_hash(p)) fail_msg("%s: posing it again gives another problem", name);
}

TEST(shares_of_replicas_count_and_survive_posing_again) {
  OWN(lab) s = three(10, NULL);
  uint64_t before = 0;
  for (int32_t stage = 0; stage < 4; stage++) {
    situ_problem_options o = options_of(SITU_OBJECTIVE_DEFAULT, SITU_EXECUTION_PIPELINE);
    o.replicate = true;
    o.zero = stage;
    OWN(situ_problem) *p = NULL;
    uint64_t hash = hash_posed(&s, &o, &p);
    assert_true(hash != before);
    before = hash;
    check_variant(&s, p, "zero");
  }
}

TEST(chunks_count_and_survive_posing_again) {
  OWN(lab) s = three(10, NULL);
  uint64_t before = 0;
  for (int32_t chunks = 2; chunks < 5; chunks++) {
    situ_problem_options o = options_of(SITU_OBJECTIVE_DEFAULT, SITU_EXECUTION_PIPELINE);
    o.schedule = chunks < 4 ? SITU_SCHEDULE_INTERLEAVED : SITU_SCHEDULE_ZB_V;
    o.micro_batches = 6;
    o.chunks = chunks < 4 ? chunks : 0;
    OWN(situ_problem) *p = NULL;
    uint64_t hash = hash_posed(&s, &o, &p);
    assert_true(hash != before && p->chunks == (chunks < 4 ? chunks : 2) && !p->contiguous);
    before = hash;
    check_variant(&s, p, "chunks");
  }
}

TEST(every_option_counts_and_survives_posing_again) {
  OWN(lab) s = three(10, NULL); /* b is a backward operator */
  for (int k = 0; k < CHANGES; k++) {
    const change *c = &changes[k];
    if (c->execution < 0) continue;
    situ_problem_options o = options_of(SITU_OBJECTIVE_DEFAULT, (situ_execution)c->execution);
    OWN(situ_problem) *changed = NULL;
    uint64_t before = hash_posed(&s, &o, NULL);
    memcpy((char *)&o + c->offset, &c->to, c->bytes);
    uint64_t after = hash_posed(&s, &o, &changed);
    if (before == after) fail_msg("%s does not count", c->name);
    check_variant(&s, changed, c->name);
  }
}

/* Those that need others: the objective under a limit, limits of latency, and limits by secondary costs. */
TEST(limits_count_and_survive_posing_again) {
  OWN(lab) s = three(-1, NULL), slower = three(9, NULL);
  uint64_t seen[6];
  situ_problem_options o[6];
  for (int k = 0; k < 6; k++) o[k] = options_of(SITU_OBJECTIVE_LATENCY, SITU_EXECUTION_STREAM);
  for (int k = 0; k < 2; k++) {
    o[k].objective = SITU_OBJECTIVE_THROUGHPUT;
    o[k].max_latency_ns = 50 + k;
  }
  for (int k = 2; k < 5; k++) {
    o[k].overlap = SITU_OVERLAP_NONE;
    o[k].secondary_costs = k < 4 ? s.costs : slower.costs;
    o[k].max_secondary_ns = k == 2 ? 30 : 40;
  }
  for (int k = 0; k < 6; k++) {
    situ_problem *p;
    seen[k] = hash_posed(&s, &o[k], &p);
    check_variant(&s, p, "a limit");
    situ_problem_free(p);
    for (int j = 0; j < k; j++) assert_true(seen[j] != seen[k]);
  }
}

/* Contradicting pins of what must stay together are a conflict of every variant. */
TEST(a_conflict_of_pins_survives_posing_again) {
  OWN(lab) s = three(-1, NULL);
  situ_problem_options o = SITU_PROBLEM_OPTIONS_INIT;
  o.pins = apart;
  o.keep_together = together;
  OWN(situ_problem) *p = NULL;
  hash_posed(&s, &o, &p);
  assert_non_null(p->conflict);
  check_variant(&s, p, "pins that contradict each other");
}

TEST(views_relax_their_problem_only_for_its_objective) {
  OWN(lab) s = three(-1, NULL);
  situ_problem_options o = options_of(SITU_OBJECTIVE_THROUGHPUT, SITU_EXECUTION_STREAM);
  situ_problem *rate, *time, view, of;
  o.max_latency_ns = 50;
  hash_posed(&s, &o, &rate);
  o = options_of(SITU_OBJECTIVE_LATENCY, SITU_EXECUTION_STREAM);
  hash_posed(&s, &o, &time);
  assert_true(problem_is_relaxation(rate, rate) && !problem_is_relaxation(time, rate));
  problem_view_latency(&view, rate);
  assert_false(problem_is_relaxation(&view, rate)); /* a bound on the latency is none on the period */
  assert_true(problem_is_relaxation(&view, time) && problem_of_value(&of, time) == time);
  problem_view_pipeline(&view, rate);
  assert_true(problem_is_relaxation(&view, rate) && problem_is_relaxation(problem_of_value(&of, rate), rate));
  assert_false(problem_is_relaxation(rate, &view)); /* limits only hold for some of its plans */
  problem_view_contiguous(&view, time);
  assert_false(problem_is_relaxation(&view, time) || problem_is_relaxation(&view, rate));
  problem_view_costs(&view, time, s.costs);
  assert_true(problem_is_relaxation(&view, time));
  situ_problem_free(rate);
  situ_problem_free(time);
}

/* Memory is that of a plan by its own costs. Where b takes time by the secondary costs only, its workspace counts in no
 * interval of the plan, and bounds by the secondary costs must not count it either. */
TEST(by_other_costs_nothing_holds_what_is_held_for_no_time) {
  OWN(lab) s = three(-1, NULL), slower = three(9, NULL);
  situ_problem_options o = options_of(SITU_OBJECTIVE_LATENCY, SITU_EXECUTION_STREAM);
  o.overlap = SITU_OVERLAP_NONE;
  o.secondary_costs = slower.costs;
  o.max_secondary_ns = 40;
  for (int zero = 0; zero < 2; zero++) {
    situ_problem *p, view;
    OWN(arena) *a = arena_new();
    if (zero)
      for (int32_t k = 0; k < s.costs->n_classes; k++) s.costs->time_ns[s.costs->n_classes + k] = 0;
    hash_posed(&s, &o, &p);
    assert_true(problem_view_secondary(&view, p, a));
    assert_true(view.time_ns == slower.costs->time_ns && view.max_secondary_ns == SITU_NEVER_NS);
    for (int32_t m = 0; m < p->n_memories; m++)
      assert_true(view.platform->memory_bytes[m] == (zero ? SITU_UNLIMITED_BYTES : 100));
    assert_null(problem_check(&view));
    situ_problem_free(p);
  }
}

/* r has one constraint more than p. */
TEST(a_problem_with_more_constraints_is_no_relaxation) {
  OWN(lab) s = three(-1, NULL);
  for (int k = 0; k < CHANGES; k++) {
    const change *c = &changes[k];
    bool constraint = c->to.pointer == pin_a || c->to.pointer == no_last || !strcmp(c->name, "max_calls") ||
                      !strcmp(c->name, "max_period_ns");
    if (c->execution < 0 || !constraint) continue;
    situ_problem_options o = options_of(SITU_OBJECTIVE_DEFAULT, (situ_execution)c->execution);
    OWN(situ_problem) *loose = NULL, *tight = NULL;
    hash_posed(&s, &o, &loose);
    memcpy((char *)&o + c->offset, &c->to, c->bytes);
    hash_posed(&s, &o, &tight);
    if (problem_is_relaxation(tight, loose) || !problem_is_relaxation(loose, tight)) fail_msg("%s", c->name);
  }
}

TEST_MAIN
