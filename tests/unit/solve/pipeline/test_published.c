/* The published workloads: values of the published code (data/workloads/reference.csv), to six digits. Needs the shared
 * data; skipped without. */
#include "../../../lab/test.h"
#include "base/file.h"
#include "base/json.h"
#include "bound/bound.h"
#include "cost/costs.h"
#include "plan/plan.h"
#include "problem/problem.h"
#include "read/reader.h"
#include "solve/common/solver.h"

extern const solver linear_dp_solver, pipedream_solver, scotch_solver, steepest_descent_solver;
extern const reader workload_reader;

enum { MAX_FIELDS = 64, MAX_ROWS = 64 };

/* The table as text; fields of row i at cell[i][..], names in row 0. */
static char table[65536];
static char *cell[MAX_ROWS][MAX_FIELDS];
static int32_t n_rows;
static char folder[400];

static int open_table(void **state) {
  const char *shared = getenv("SITU_SHARED");
  snprintf(folder, sizeof folder, "%s/data/workloads", shared ? shared : ".");
  char path[512];
  snprintf(path, sizeof path, "%s/reference.csv", folder);
  file_view view;
  situ_error e;
  n_rows = 0;
  if (file_open(&view, path, &e) != SITU_STATUS_OK) return 0;
  size_t n = view.size_bytes < sizeof table - 1 ? view.size_bytes : sizeof table - 1;
  memcpy(table, view.bytes, n);
  table[n] = '\0';
  file_close(&view);
  int32_t field = 0;
  cell[0][field++] = table;
  for (char *c = table; *c && n_rows < MAX_ROWS; c++) {
    if (*c == '\r') *c = '\0';
    if (*c == '\n') {
      *c = '\0';
      field = 0;
      n_rows++;
      if (c[1]) cell[n_rows][field++] = c + 1;
    } else if (*c == ',' && field < MAX_FIELDS) {
      *c = '\0';
      cell[n_rows][field++] = c + 1;
    }
  }
  return 0;
}

static const char *field_of(int32_t row, const char *name) {
  for (int32_t f = 0; f < MAX_FIELDS && cell[0][f]; f++)
    if (strcmp(cell[0][f], name) == 0) return cell[row][f] ? cell[row][f] : "";
  fail_msg("the table has no column %s", name);
  return "";
}

static bool is_latency(int32_t row) { return strncmp(field_of(row, "suite"), "latency", 7) == 0; }

typedef struct instance {
  read_result model;
  situ_problem *problem;
  arena *arena;
  simulator *simulator;
  int32_t *device;
} instance;

/* Reads the workload of a row, with more accelerators where `accelerators` asks for them. */
static instance open_row(int32_t row, situ_objective objective, bool free_of_contiguity, int32_t accelerators) {
  instance i = {0};
  char path[600];
  situ_error e = {0};
  file_view view;
  snprintf(path, sizeof path, "%s/%s/%s.json", folder, is_latency(row) ? "latency" : "throughput",
           field_of(row, "workload"));
  if (file_open(&view, path, &e) != SITU_STATUS_OK) fail_msg("%s: %s", e.where, e.text);
  json_value *root;
  assert_int_equal(json_parse(&root, (const char *)view.bytes, view.size_bytes, path, &e), SITU_STATUS_OK);
  if (json_int(json_get(root, "maxFPGAs"), 0) < accelerators)
    assert_true(json_set(root, "maxFPGAs", json_new_int(accelerators)));
  char *text = json_print(root, 0);
  situ_read_options options = {.size = sizeof(situ_read_options), .default_dim = 1};
  read_source source = {
      .path = path, .bytes = (const unsigned char *)text, .size_bytes = strlen(text), .options = &options};
  if (workload_reader.read(&i.model, &source, &e) != SITU_STATUS_OK) fail_msg("%s: %s", e.where, e.text);
  free(text);
  json_free(root);
  file_close(&view);
  situ_problem_options posed = {.size = sizeof(situ_problem_options),
                                .objective = objective,
                                .free = free_of_contiguity && objective == SITU_OBJECTIVE_THROUGHPUT};
  assert_int_equal(situ_problem_pose(&i.problem, i.model.graph, i.model.platform, i.model.costs, &posed, &e),
                   SITU_STATUS_OK);
  i.arena = arena_new();
  i.simulator = simulator_new(i.problem, i.arena);
  i.device = ARENA_NEW(i.arena, int32_t, i.problem->n_operators);
  return i;
}

static void instance_free(instance *i) {
  arena_free(i->arena);
  situ_problem_free(i->problem);
  situ_costs_free(i->model.costs);
  situ_platform_free(i->model.platform);
  situ_graph_free(i->model.graph);
  text_free(&i->model.notes);
}

/* Both to six digits; the table has some values with more, some with three decimals. */
static void assert_published(int32_t row, const char *column, int64_t value_ns) {
  double expected = strtod(field_of(row, column), NULL), got = (double)value_ns / 1e6;
  char a[32], b[32];
  snprintf(a, sizeof a, "%.6g", expected);
  snprintf(b, sizeof b, "%.6g", got);
  if (strcmp(a, b) != 0) fail_msg("%s of %s is %s; published %s", column, field_of(row, "workload"), b, a);
}

static int32_t n_hosts(const situ_problem *p) {
  int32_t n = 0;
  for (int32_t d = 0; d < p->n_devices; d++) n += problem_is_host(p, d);
  return n;
}

TEST(single_devices_have_the_published_loads) {
  if (n_rows == 0) skip();
  for (int32_t row = 1; row < n_rows; row++) {
    instance i = open_row(row, SITU_OBJECTIVE_THROUGHPUT, false, 0);
    int32_t devices[2] = {0, n_hosts(i.problem)};
    const char *const columns[2] = {"sum_cpu", "sum_acc"}; /* sum_acc is oneFpga where that is given */
    for (int32_t k = 0; k < 2; k++) {
      for (int32_t v = 0; v < i.problem->n_operators; v++) i.device[v] = devices[k];
      assert_published(row, columns[k], simulator_run(i.simulator, &(placement){.device = i.device}, true).value_ns);
    }
    instance_free(&i);
  }
}

/* A run on that instance of at most max_steps; 0: no limit. */
static solve_run start_run(const instance *i, const char *name, int64_t max_steps, budget *b, incumbent *best) {
  *b = budget_new(max_steps, 0, NULL, NULL);
  assert_true(incumbent_init(best, i->problem, i->arena));
  return (solve_run){.problem = i->problem,
                     .simulator = i->simulator,
                     .budget = b,
                     .incumbent = best,
                     .solver = name,
                     .arena = i->arena};
}

/* With one step linear_dp splits the published order alone. */
TEST(the_published_order_reaches_the_published_loads) {
  if (n_rows == 0) skip();
  for (int32_t row = 1; row < n_rows; row++) {
    instance i = open_row(row, SITU_OBJECTIVE_THROUGHPUT, false, 0);
    budget b;
    incumbent best;
    solve_run run = start_run(&i, "linear_dp", 1, &b, &best);
    assert_int_equal(linear_dp_solver.solve(&run), SITU_STATUS_OK);
    assert_published(row, "linearize", best.value_ns);
    int64_t lower_ns;
    b = budget_new(0, 0, NULL, NULL);
    bound_found found;
    assert_int_equal(bound_best(&found, i.problem, i.arena, &b, NULL), SITU_STATUS_OK);
    lower_ns = found.lower_ns;
    assert_true(lower_ns <= best.value_ns);
    const char *published = field_of(row, "balance_lb"); /* ours may be greater: classes are larger than nodes */
    if (*published && (double)lower_ns / 1e6 < strtod(published, NULL) - 2e-4)
      fail_msg("the bound of %s is %.6f; published %s", field_of(row, "workload"), (double)lower_ns / 1e6, published);
    instance_free(&i);
  }
}

/* Of the three workloads on which the one published order loses (gnmt_inference, inceptionv3_training,
 * resnet50_training) only inceptionv3_training still loses, and less. */
TEST(linear_dp_loses_on_one_workload_only) {
  if (n_rows == 0) skip();
  int32_t n_reached = 0, n_better = 0;
  for (int32_t row = 1; row < n_rows; row++) {
    if (is_latency(row)) continue;
    instance i = open_row(row, SITU_OBJECTIVE_THROUGHPUT, false, 0);
    budget b;
    incumbent best;
    solve_run run = start_run(&i, "linear_dp", 0, &b, &best);
    assert_int_equal(linear_dp_solver.solve(&run), SITU_STATUS_OK);
    double value = (double)best.value_ns / 1e6, one = strtod(field_of(row, "linearize"), NULL);
    const char *exact = *field_of(row, "dp_objective") ? field_of(row, "dp_objective") : field_of(row, "own_objective");
    double optimum = strtod(exact, NULL);
    assert_true(value <= one * (1 + 5e-6) && value >= optimum * (1 - 5e-6)); /* the table has six digits */
    n_reached += value <= optimum * (1 + 5e-6);
    n_better += value < one * (1 - 5e-6);
    instance_free(&i);
  }
  assert_true(n_reached >= 15);
  assert_int_equal(n_better, 3);
}

/* On bert24 and gnmt the published code leaves out the edges of some nodes by number, which we do not. For training
 * that makes no difference; for inference a value is held against the exact optimum alone. */
TEST(pipedream_reaches_the_published_loads) {
  if (n_rows == 0) skip();
  for (int32_t row = 1; row < n_rows; row++) {
    if (is_latency(row)) continue;
    instance i = open_row(row, SITU_OBJECTIVE_THROUGHPUT, false, 0);
    budget b;
    incumbent best;
    solve_run run = start_run(&i, "pipedream", 0, &b, &best);
    assert_int_equal(pipedream_solver.solve(&run), SITU_STATUS_OK);
    const char *workload = field_of(row, "workload");
    if (strcmp(workload, "LayerGraphs/bert24_inference") && strcmp(workload, "LayerGraphs/gnmt_inference"))
      assert_published(row, "pipeDream", best.value_ns);
    else
      assert_true((double)best.value_ns / 1e6 >= strtod(field_of(row, "dp_objective"), NULL) * (1 - 5e-6));
    instance_free(&i);
  }
}

/* Another version of the library gives other parts: comparable, not equal. */
TEST(scotch_comes_near_the_published_loads) {
  if (n_rows == 0 || scotch_solver.missing) skip();
  for (int32_t row = 1; row < n_rows; row++) {
    if (is_latency(row)) continue;
    instance i = open_row(row, SITU_OBJECTIVE_THROUGHPUT, true, 0);
    budget b;
    incumbent best;
    solve_run run = start_run(&i, "scotch", 0, &b, &best);
    assert_int_equal(scotch_solver.solve(&run), SITU_STATUS_OK);
    double ratio = (double)best.value_ns / 1e6 / strtod(field_of(row, "scotch"), NULL);
    if (!(ratio > 0.66 && ratio < 1.5)) fail_msg("%s: %.2f times the published", field_of(row, "workload"), ratio);
    instance_free(&i);
  }
}

/* Random starts and ties fall otherwise: comparable, not equal. Two of the published runs were cut off before the tenth
 * restart, and are worse for it. */
TEST(steepest_descent_comes_near_the_published_local_search) {
  if (n_rows == 0) skip();
  int32_t n_close = 0;
  for (int32_t row = 1; row < n_rows; row++) {
    if (is_latency(row)) continue;
    instance i = open_row(row, SITU_OBJECTIVE_THROUGHPUT, true, 0);
    budget b;
    incumbent best;
    solve_run run = start_run(&i, "steepest_descent", 0, &b, &best);
    assert_int_equal(steepest_descent_solver.solve(&run), SITU_STATUS_OK);
    double ratio = (double)best.value_ns / 1e6 / strtod(field_of(row, "localSearch"), NULL);
    if (!(ratio > 0.5 && ratio < 1.1)) fail_msg("%s: %.2f times the published", field_of(row, "workload"), ratio);
    n_close += ratio > 0.99 && ratio < 1.01;
    instance_free(&i);
  }
  assert_true(n_close >= 5); /* the layer graphs, on which restarts differ little */
}

/* The file of the expert's split: training has that of inference where it has none of its own. */
static void find_expert(char path[600], int32_t row) {
  const char *name = strchr(field_of(row, "workload"), '/') + 1;
  snprintf(path, 600, "%s/human-experts/%s_expert.json", folder, name);
  if (!file_exists(path))
    snprintf(path, 600, "%s/human-experts/%.*s_inference_expert.json", folder, (int)strcspn(name, "_"), name);
}

TEST(expert_splits_have_the_published_values) {
  if (n_rows == 0) skip();
  int32_t n_compared = 0;
  for (int32_t row = 1; row < n_rows; row++) {
    const char *column = is_latency(row) ? "lat_expert" : "expert";
    if (!*field_of(row, column)) continue;
    /* the split of bert24 uses six accelerators, its latency workload has five */
    instance i = open_row(row, is_latency(row) ? SITU_OBJECTIVE_LATENCY : SITU_OBJECTIVE_THROUGHPUT, true, 6);
    char path[600];
    situ_error e = {0};
    find_expert(path, row);
    if (plan_read_pins(i.device, i.model.graph, i.model.platform, path, &e) != SITU_STATUS_OK)
      fail_msg("%s: %s", e.where, e.text);
    assert_published(row, column, simulator_run(i.simulator, &(placement){.device = i.device}, true).value_ns);
    n_compared++;
    instance_free(&i);
  }
  assert_int_equal(n_compared, 12);
}

TEST(all_on_the_host_has_the_published_latency) {
  if (n_rows == 0) skip();
  for (int32_t row = 1; row < n_rows; row++) {
    if (!is_latency(row)) continue;
    instance i = open_row(row, SITU_OBJECTIVE_LATENCY, false, 0);
    for (int32_t v = 0; v < i.problem->n_operators; v++) i.device[v] = 0;
    simulation found = simulator_run(i.simulator, &(placement){.device = i.device}, true);
    assert_published(row, "lat_all_cpu", found.value_ns);
    instance_free(&i);
  }
}

int main(void) { return TEST_RUN(open_table, NULL); }
