/* Plans that the target of a writer can run: the best of them all, as the target's own rule makes them of its settings.
 */
#include "../../../lab/lab.h"
#include "../../../lab/test.h"
#include "../../../lab/tier.h"
#include "situ/solve.h"
#include "situ/write.h"

enum { MAX_LAYERS = 4, MAX_DEVICES = 4, HOST = 0 };

/* An embedding, layers of two operators with routed experts between them, or of three plain ones, and a head; a host
 * with room for everything, and faster devices with random rooms. */
typedef struct model {
  lab s;
  int n_layers, n_devices;
  int32_t embedding, layer[MAX_LAYERS][3], head;
} model;

static int32_t add(model *m, rng *r, const char *name, const char *kind, int32_t after, int64_t weight) {
  int32_t v = lab_add(
      &m->s, (situ_operator){.name = name, .kind = kind, .source_id = -1, .colocation = -1, .weight_bytes = weight},
      weight / 10 + 1);
  for (int d = 1; d < m->n_devices; d++) m->s.time_ns[v][d] = weight / (20 + 30 * d) + 1;
  if (after >= 0) lab_tensor(&m->s, after, 1 + rng_below(r, 20), v, -1);
  return v;
}

static model random_model(rng *r, int32_t n_servers) {
  model m = {.s = lab_new(), .n_layers = 2 + (int)rng_below(r, MAX_LAYERS - 1)};
  bool experts = rng_below(r, 2);
  m.n_devices = 2 + (int)rng_below(r, MAX_DEVICES - 1);
  for (int32_t d = 0; d < m.n_devices; d++) {
    lab_device(&m.s, d == HOST ? SITU_UNLIMITED_BYTES : 1000 + rng_below(r, 12000), -1, d == HOST);
    m.s.devices[d].server = d % n_servers;
  }
  for (int32_t a = 0; a < m.n_devices; a++)
    for (int32_t b = 0; b < m.n_devices; b++)
      if (a != b) lab_link(&m.s, a, b, rng_below(r, 60), -1);
  int32_t before = m.embedding = add(&m, r, "embed", "Gather", -1, 100 + rng_below(r, 900));
  for (int k = 0; k < m.n_layers; k++)
    for (int i = 0; i < 3; i++) {
      char name[32];
      bool expert = experts && i == 1;
      snprintf(name, sizeof name, "model.layers.%d.%s", k, i == 0 ? "attn" : i == 1 ? "mlp" : "out");
      before = m.layer[k][i] = add(&m, r, name, expert ? "ExpertsMatMul" : "MatMul", before,
                                   expert ? 2000 + rng_below(r, 3000) : 300 + rng_below(r, 700));
      if (i == 2) lab_tensor(&m.s, m.layer[k][0], 5, before, -1);
    }
  m.head = add(&m, r, "lm_head", "MatMul", before, 300 + rng_below(r, 900));
  lab_pose(&m.s, &(situ_problem_options){.execution = SITU_EXECUTION_STREAM, .overlap = SITU_OVERLAP_NONE});
  return m;
}

/* ---- every setting of a target ---- */

typedef struct search {
  model *m;
  int64_t best_ns;
  int at[MAX_LAYERS + 1]; /* [layer] its device; behind them the head */
} search;

/* The value of one setting: where experts are away (a bit each) they are on the host. */
static void judge(search *s, int embedding, unsigned away) {
  int32_t device[LAB_MAX_OPERATORS];
  const model *m = s->m;
  const int32_t *placed = m->s.graph->built_index;
  int32_t of[LAB_MAX_OPERATORS];
  of[m->embedding] = embedding;
  of[m->head] = s->at[m->n_layers];
  for (int k = 0; k < m->n_layers; k++)
    for (int i = 0; i < 3; i++) of[m->layer[k][i]] = i == 1 && away >> k & 1 ? HOST : s->at[k];
  for (int32_t v = 0; v < m->s.graph->n_operators; v++) device[v] = of[placed[v]];
  simulation found = simulator_run(m->s.simulator, &(placement){.device = device}, true);
  if (found.excess_bytes == 0 && found.value_ns < s->best_ns) s->best_ns = found.value_ns;
}

static bool has_experts(const model *m) {
  const situ_graph *g = m->s.graph;
  for (int32_t v = 0; v < g->n_operators; v++)
    if (strncmp(g->kind_name[g->kind[v]], "Experts", 7) == 0) return true;
  return false;
}

/* llama.cpp: layers and head are L + 1 rows, the first of them on the CPU, then runs on devices in any order (-dev,
 * -ts, -ngl); any experts of layers on the CPU, and the embedding there or on a device in use (-ot). */
static void llamacpp_from(search *s, int row, unsigned used) {
  const model *m = s->m;
  if (row == m->n_layers + 1) {
    unsigned most = has_experts(m) ? 1u << m->n_layers : 1;
    for (unsigned away = 0; away < most; away++)
      for (int d = 0; d < m->n_devices; d++)
        if (d == HOST || used >> d & 1) judge(s, d, away);
    return;
  }
  for (int d = 1; d < m->n_devices; d++)
    for (int end = row + 1; end <= m->n_layers + 1 && !(used >> d & 1); end++) {
      for (int i = row; i < end; i++) s->at[i] = d;
      llamacpp_from(s, end, used | 1u << d);
    }
}

static void llamacpp(search *s) {
  for (int row = 0; row <= s->m->n_layers + 1; row++) {
    for (int i = 0; i < row; i++) s->at[i] = HOST;
    llamacpp_from(s, row, 0);
  }
}

/* Stages around a ring, of which the first has the embedding and the last the head; `least` leaves hosts out. */
static void stages_from(search *s, int row, unsigned used, int least) {
  if (row == s->m->n_layers) {
    s->at[row] = s->at[row - 1];
    judge(s, s->at[0], 0);
    return;
  }
  for (int d = least; d < s->m->n_devices; d++)
    for (int end = row + 1; end <= s->m->n_layers && !(used >> d & 1); end++) {
      for (int i = row; i < end; i++) s->at[i] = d;
      stages_from(s, end, used | 1u << d, least);
    }
}

static void vllm(search *s) { stages_from(s, 0, 0, 1); }
static void exo(search *s) { stages_from(s, 0, 0, 0); }

/* accelerate: any module anywhere. */
static void device_map(search *s) {
  int n = s->m->n_layers + 2, total = 1;
  for (int i = 0; i < n; i++) total *= s->m->n_devices;
  for (int code = 0; code < total; code++) {
    int rest = code / s->m->n_devices;
    for (int i = 0; i < n - 1; i++, rest /= s->m->n_devices) s->at[i] = rest % s->m->n_devices;
    judge(s, code % s->m->n_devices, 0);
  }
}

static int32_t form_of(const char *name) {
  situ_writer_info info = SITU_WRITER_INFO_INIT;
  for (int32_t i = 0; situ_writer_at(i, &info); i++)
    if (strcmp(info.name, name) == 0) return info.form;
  return 0;
}

static void expect_best(const char *writer, void (*settings)(search *), uint64_t seed) {
  rng r = rng_new(seed);
  model m = random_model(&r, 1);
  search s = {.m = &m, .best_ns = SITU_NEVER_NS};
  situ_solve_options o = SITU_SOLVE_OPTIONS_INIT;
  situ_plan *plan;
  situ_error error = {0};
  char *text = NULL;
  settings(&s);
  o.max_steps = 2000;
  o.form = form_of(writer);
  if (situ_solve(&plan, m.s.problem, &o, &error) != SITU_STATUS_OK) fail_msg("%s", error.text);
  if (plan->value_ns != s.best_ns)
    fail_msg("%s, seed %d: %lld, and %lld is the best", writer, (int)seed, (long long)plan->value_ns,
             (long long)s.best_ns);
  if (s.best_ns < SITU_NEVER_NS) {
    assert_true(plan->lower_bound_ns <= plan_unrestricted_ns(plan));
    assert_true(plan_unrestricted_ns(plan) <= s.best_ns);
    if (situ_write(&text, writer, plan, &error) != SITU_STATUS_OK) fail_msg("%s", error.text);
    situ_text_free(text);
  } else {
    assert_int_equal(plan->outcome, SITU_OUTCOME_LIMIT);
    assert_non_null(strstr(plan->reason, "no plan was found that the writers can represent"));
  }
  situ_plan_free(plan);
  lab_free(&m.s);
}

TEST(plans_are_the_best_that_the_target_can_run) {
  int32_t rounds = rounds_of(100);
  for (uint64_t seed = 1; seed <= (uint64_t)rounds; seed++) {
    expect_best("llama.cpp", llamacpp, seed);
    expect_best("vllm", vllm, seed);
    expect_best("exo", exo, seed);
    expect_best("device-map", device_map, seed);
  }
}

/* Several writers: a plan that all of them take. */
TEST(forms_add_up) {
  static const char *const names[] = {"llama.cpp", "vllm", "device-map"};
  int32_t rounds = rounds_of(50);
  for (uint64_t seed = 1; seed <= (uint64_t)rounds; seed++) {
    rng r = rng_new(seed);
    model m = random_model(&r, 1);
    situ_solve_options o = SITU_SOLVE_OPTIONS_INIT;
    situ_plan *plan;
    o.max_steps = 500;
    for (int k = 0; k < 3; k++) o.form |= form_of(names[k]);
    assert_int_equal(situ_solve(&plan, m.s.problem, &o, NULL), SITU_STATUS_OK);
    for (int k = 0; k < 3 && plan_exists(plan); k++) {
      char *text;
      situ_error error = {0};
      if (situ_write(&text, names[k], plan, &error) != SITU_STATUS_OK) fail_msg("%s", error.text);
      situ_text_free(text);
    }
    situ_plan_free(plan);
    lab_free(&m.s);
  }
}

/* One machine only: with two servers, all is in one of them. */
TEST(one_machine_is_one_server) {
  int32_t rounds = rounds_of(50), n_apart = 0;
  for (uint64_t seed = 1; seed <= (uint64_t)rounds; seed++) {
    rng r = rng_new(seed);
    model m = random_model(&r, 2);
    situ_solve_options o = SITU_SOLVE_OPTIONS_INIT;
    situ_plan *plan;
    char *text;
    o.max_steps = 500;
    o.form = form_of("llama.cpp") | SITU_FORM_ONE_SERVER;
    assert_int_equal(situ_solve(&plan, m.s.problem, &o, NULL), SITU_STATUS_OK);
    assert_true(plan_exists(plan)); /* the host alone is one */
    assert_int_equal(situ_write(&text, "llama.cpp", plan, NULL), SITU_STATUS_OK);
    situ_text_free(text);
    for (int32_t v = 1; v < m.s.graph->n_operators; v++)
      assert_int_equal(situ_plan_device(plan, v) % 2, situ_plan_device(plan, 0) % 2);
    n_apart += plan_unrestricted_ns(plan) < plan->value_ns;
    situ_plan_free(plan);
    lab_free(&m.s);
  }
  assert_true(n_apart > 0);
}

/* A plan without the form that is better by less than the tolerance would not have been the answer: the form costs
 * nothing. So it is where no time is left to choose anew. */
TEST(what_is_within_the_tolerance_costs_nothing) {
  int32_t rounds = rounds_of(50), n_within = 0;
  for (uint64_t seed = 1; seed <= (uint64_t)rounds; seed++) {
    rng r = rng_new(seed);
    model m = random_model(&r, 1);
    situ_solve_options o = SITU_SOLVE_OPTIONS_INIT;
    situ_plan *best, *plan;
    o.max_steps = 500;
    assert_int_equal(situ_solve(&best, m.s.problem, &o, NULL), SITU_STATUS_OK);
    if (plan_exists(best)) {
      const situ_plan *starts[] = {best};
      o.starts = starts;
      o.n_starts = 1;
      o.max_steps = 0;
      o.time_limit_s = 1e-9;
      o.tolerance = 0.5;
      o.form = form_of("llama.cpp");
      assert_int_equal(situ_solve(&plan, m.s.problem, &o, NULL), SITU_STATUS_OK);
      double value = (double)plan->value_ns, without = (double)plan_unrestricted_ns(plan);
      if (plan_exists(plan) && without < value) assert_true(value > 1.5 * (double)best->value_ns);
      n_within += value > (double)best->value_ns && value <= 1.5 * (double)best->value_ns;
      situ_plan_free(plan);
    }
    situ_plan_free(best);
    lab_free(&m.s);
  }
  assert_true(n_within > 0);
}

TEST(what_has_no_layers_is_refused_before_the_search) {
  OWN(lab) s = lab_mesh(2, 1000);
  lab_add(&s, (situ_operator){.name = "alone"}, 1);
  lab_pose(&s, &(situ_problem_options){.execution = SITU_EXECUTION_STREAM});
  situ_solve_options o = SITU_SOLVE_OPTIONS_INIT;
  situ_plan *plan;
  o.form = form_of("exo");
  assert_int_equal(situ_solve(&plan, s.problem, &o, NULL), SITU_STATUS_UNSUPPORTED);
  assert_null(plan);
}

TEST_MAIN
