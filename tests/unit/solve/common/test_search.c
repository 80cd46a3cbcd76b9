/* The loop of local searches, on a walk along a line whose costs are given; and the tables of parameters. */
#include "../../../lab/lab.h"
#include "../../../lab/test.h"
#include "solve/common/search.h"

/* Positions 0 .. 9; the neighbours of a position are those beside it. */
enum { LINE = 10 };
enum { STRIDE = N_SEARCH_CYCLES, N_PARAMETERS };
static const solver_parameter LINE_PARAMETERS[N_PARAMETERS] = {
    SEARCH_CYCLES(10, 1e9, 0.5, 0.005), [STRIDE] = {"stride", 1, 1, 9, "length of a move"}};

typedef struct line {
  search base;
  int32_t at, trial, chosen;
} line;

static const double *line_cost;
static int32_t n_begins, n_restarts, n_accepted, n_perturbed;
static double first_temperature, last_temperature;

static situ_status line_init(search *s) {
  if (s->row->growth == 0) s->hot = s->cold = 1e-8;
  s->patience = 5;
  return SITU_STATUS_OK;
}

static bool line_begin(search *s, bool restart) {
  line *x = (line *)s;
  n_begins++;
  n_restarts += restart;
  if (restart) x->at = 0;
  s->cost = line_cost[x->at];
  s->scale = 100;
  return true;
}

static bool line_propose(search *s, int32_t i) {
  line *x = (line *)s;
  int32_t stride = (int32_t)search_get(s, STRIDE);
  x->trial = x->at + (s->row->list ? (i == 0 ? stride : -stride) : search_draw(s, 2) ? stride : -stride);
  return x->trial >= 0 && x->trial < LINE;
}

static double line_evaluate(search *s, double below) {
  line *x = (line *)s;
  if (n_accepted == 0) first_temperature = s->temperature;
  last_temperature = s->temperature;
  budget_spend(s->run->budget, 1);
  return line_cost[x->trial] < below ? line_cost[x->trial] : SEARCH_NONE;
}

static void line_accept(search *s, double cost) {
  line *x = (line *)s;
  n_accepted++;
  x->at = s->row->list ? x->chosen : x->trial;
  assert_true(cost == line_cost[x->at]);
}

static int32_t two_sides(search *s) { return 2; }
static bool never_tabu(search *s, int32_t i) { return false; }
static void choose_trial(search *s, int32_t i) { ((line *)s)->chosen = ((line *)s)->trial; }
static void perturb_line(search *s) { n_perturbed++; }

typedef struct run_of {
  lab s;
  budget budget;
  incumbent best;
  solve_run run;
} run_of;

static void run_new(run_of *x, int64_t steps) {
  *x = (run_of){.s = lab_mesh(2, SITU_UNLIMITED_BYTES), .budget = budget_new(steps, 0, NULL, NULL)};
  lab_operator(&x->s, "a", 1, 0, 0);
  lab_pose(&x->s, &(situ_problem_options){.execution = SITU_EXECUTION_STREAM});
  assert_true(incumbent_init(&x->best, x->s.problem, x->s.arena));
  x->run = (solve_run){.problem = x->s.problem,
                       .simulator = x->s.simulator,
                       .budget = &x->budget,
                       .incumbent = &x->best,
                       .solver = "line",
                       .seed = 3,
                       .arena = x->s.arena};
  n_begins = n_restarts = n_accepted = n_perturbed = 0;
}

static search_row row_of(search_rule rule) {
  return (search_row){.size = sizeof(line),
                      .rule = rule,
                      .parameters = LINE_PARAMETERS,
                      .n_parameters = N_PARAMETERS,
                      .constructs = true,
                      .init = line_init,
                      .begin = line_begin,
                      .propose = line_propose,
                      .evaluate = line_evaluate,
                      .accept = line_accept};
}

/* Accepted moves of a run of 200 steps. */
static int32_t accepted_by(search_rule rule, const double *cost) {
  run_of x;
  line_cost = cost;
  run_new(&x, 200);
  search_row row = row_of(rule);
  assert_int_equal(search_run(&x.run, &row), SITU_STATUS_OK);
  assert_int_equal(x.budget.steps, 200);
  lab_free(&x.s);
  return n_accepted;
}

/* On a slope down all rules walk to its end, nine moves; cold annealing does not climb. On a plain only those that take
 * equals move. Uphill none does. */
TEST(rules_accept_what_they_say) {
  const double down[LINE] = {9, 8, 7, 6, 5, 4, 3, 2, 1, 0}, plain[LINE] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
  const double up[LINE] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
  for (search_rule rule = SEARCH_BETTER; rule <= SEARCH_THRESHOLD; rule++) {
    assert_int_equal(accepted_by(rule, down), 9);
    assert_int_equal(accepted_by(rule, up), 0);
    if (rule == SEARCH_BETTER)
      assert_int_equal(accepted_by(rule, plain), 0);
    else
      assert_true(accepted_by(rule, plain) > 50);
  }
}

/* A hill of 100 ln 2 at a temperature of 100 is climbed half of the times by both forms of the rule: 4,000 tries, four
 * standard deviations are 126. */
TEST(both_forms_of_metropolis_climb_as_often) {
  rng random = rng_new(1);
  int32_t n[2] = {0};
  for (int32_t k = 0; k < 4000; k++) {
    n[0] += search_metropolis(&random, 100 * log(2), 100);
    n[1] += 100 * log(2) < search_threshold(&random, 100);
  }
  for (int32_t k = 0; k < 2; k++) assert_in_range(n[k], 2000 - 126, 2000 + 126);
}

/* Of 10 + 10 + 20 + 20 + 40 steps each second cycle restarts; fewer than a whole cycle would remain after the fourth of
 * 100, so it takes the rest. The temperature falls from 100 x hot towards 100 x cold. */
TEST(cycles_grow_and_the_last_ends_cold) {
  const double plain[LINE] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
  run_of x;
  line_cost = plain;
  run_new(&x, 100);
  search_row row = row_of(SEARCH_METROPOLIS);
  row.growth = 2;
  row.per_restart = 2;
  row.fills = true;
  assert_int_equal(search_run(&x.run, &row), SITU_STATUS_OK);
  assert_int_equal(x.budget.steps, 100);
  assert_int_equal(n_begins, 5);   /* 10, 10, 20, 20, 40 */
  assert_int_equal(n_restarts, 3); /* before the first, third and fifth */
  assert_true(first_temperature <= 50 && first_temperature > 25);
  assert_true(last_temperature >= 0.5 && last_temperature < 1);
  lab_free(&x.s);
}

/* The better of both sides is taken even uphill: with strides of 9 there is one side, and the walk goes up and down. No
 * step has a new best cost, so that it is perturbed after each five. */
TEST(the_best_candidate_is_taken_and_patience_ends) {
  const double up[LINE] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
  run_of x;
  line_cost = up;
  run_new(&x, 100);
  search_row row = row_of(SEARCH_BEST);
  row.list = two_sides;
  row.is_tabu = never_tabu;
  row.choose = choose_trial;
  row.perturb = perturb_line;
  solver_setting settings[] = {{"line", "stride", 9}, {"other", "stride", 2}, {NULL, NULL, 0}};
  x.run.settings = settings;
  assert_int_equal(search_run(&x.run, &row), SITU_STATUS_OK);
  assert_int_equal(n_accepted, 100);
  assert_int_equal(n_perturbed, 20);
  lab_free(&x.s);
}

/* Every parameter has a name of its own, a text, and a default within its limits. */
TEST(tables_of_parameters_are_sound) {
  const solver *rows[] = {
#define ROW_OF(NAME) &NAME##_solver,
      SOLVER_ROWS(ROW_OF)};
  int32_t n_with = 0;
  for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
    const solver *s = rows[r];
    assert_true(!s->solve != !s->search || s->missing);
    const solver_parameter *table = s->search ? s->search->parameters : s->parameters;
    int32_t n = s->search ? s->search->n_parameters : s->n_parameters;
    n_with += n > 0;
    for (int32_t k = 0; k < n; k++) {
      assert_true(table[k].name && table[k].name[0] && table[k].text && table[k].text[0]);
      assert_true(table[k].min <= table[k].default_value && table[k].default_value <= table[k].max);
      for (int32_t i = 0; i < k; i++) assert_string_not_equal(table[i].name, table[k].name);
    }
  }
  assert_true(n_with >= 8);
}

TEST_MAIN
