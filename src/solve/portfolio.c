/* The portfolio `auto`: one matrix, to be read from top to bottom. Rows that do not serve the problem at hand are
 * passed over. docs/theory/heuristics/auto.md tells why they stand as they do, and what each is worth. */
#include "base/checked.h"
#include "base/clock.h"
#include "base/fail.h"
#include "solve/common/exchange.h"
#include "solve/common/solver.h"
#include "solve/common/walks.h"
#include "solve/select.h"
#include "solve/stream/sequence.h"

/* The roles of a row in a class of problems. */
enum {
  NONE = '.',
  ENDS = 'e',   /* ends by itself: may use all that is left */
  QUICK = 'E',  /* the same, at once: portfolio_begin runs it */
  BEFORE = 'F', /* only portfolio_begin runs it; what it does not end is another row */
  PAIRS = '2',  /* the same, on few operators, since it compares all that are ready */
  FIRST = 'f',  /* only portfolio_begin runs it, and it makes its first plans only; all of it is another row */
  BRIEF = 'b',  /* may take long: gets TRIED of what is left; its plan or bound helps those after it */
  RESCUE = 'r', /* the same, only while there is no plan: repairing plans that do not fit may use up few steps */
  PROOF = 'p',  /* a proof: gets PROVED of what is left */
  SHARE = 's',  /* runs until it is stopped: an even part, among all rows that do */
  DOUBLE = 'd', /* the same, two parts */
  ROUNDS = 'R', /* the same, in the rounds at the end, from many starts */
  PROVES = 'P'  /* a proof that takes its turn in each of those rounds */
};

/* Classes of problems, the columns of the matrix. */
typedef enum problem_class {
  STREAM, /* one input at a time, or copies: constructions first, then rounds of searches and proofs */
  LARGE_STREAM,
  CALLS,
  CONTIGUOUS, /* exact programs find the plans too */
  FREE,       /* host-staged, few operators. Bounds of contiguous plans do not hold: ideal_dp runs for its plan */
  LINKED,     /* free, with link communication: local_search knows the load of each channel */
  MIDSIZE,    /* free, more than SOLVE_FEW operators: exact rows rarely finish and get a brief run */
  LARGE_FREE, /* more than SOLVE_SMALL: exact rows would use up the limits */
  CLASSES
} problem_class;

typedef struct portfolio_row {
  const solver *solver;
  char roles[CLASSES + 1];
} portfolio_row;

/* A column for each class, in the order of problem_class. A solver stands twice where classes want it at different
 * times; ideal_dp comes again for contiguous pipelines once stage_prices and configuration have raised the bound. */
/* clang-format off */
static const portfolio_row matrix[] = {
    /* S stream, L large stream, C calls, = contiguous, F free, K linked, M midsize, G large free
                                  SLC=FKMG */
    {&single_solver,              "EEEEEEEE"},
    {&visit_plan_solver,          "e......."},
    {&families_solver,            "rr......"},
    {&heft_solver,                "ff......"},
    {&slices_solver,              ".f......"},
    {&layers_solver,              "ff......"},
    {&families_solver,            "F......."},
    {&m_etf_solver,               "2......."},
    {&m_topo_solver,              "EEEEEEEE"},
    {&regions_solver,             "f......."},
    {&lookahead_solver,           "F......."},
    {&dls_solver,                 "2......."},
    {&m_sct_solver,               "2......."},
    {&min_cut_solver,             "ee......"},
    {&families_solver,            ".b......"},
    {&heft_solver,                "Ee......"},
    {&layers_solver,              ".d......"},
    {&slices_solver,              ".e......"},
    {&regions_solver,             ".d......"},
    {&multilevel_solver,          ".s......"},
    {&server_heft_solver,         ".e......"},
    {&peft_solver,                "ee......"},
    {&lookahead_solver,           "ee......"},
    {&cpop_solver,                "ee......"},
    {&dls_solver,                 "e......."},
    {&m_etf_solver,               "e......."},
    {&priced_chain_solver,        "e......."},
    {&chain_labels_solver,        "e......."},
    {&families_solver,            "b......."},
    {&layers_solver,              "s......."},
    {&chunk_cuts_solver,          "....eeee"},
    {&server_dp_solver,           "...eeeee"},
    {&server_heft_solver,         "e......."},
    {&m_sct_solver,               "e......."},
    {&tradeoff_solver,            "ss......"},
    {&regions_solver,             "s......."},
    {&greedy_solver,              "..E....."},
    {&call_dp_solver,             "..p....."},
    {&potential_solver,           "....bbsd"},
    {&ideal_dp_solver,            "...bpp.."},
    {&linear_dp_solver,           "...EEEbb"},
    {&ideal_dp_solver,            "......b."},
    {&stage_lns_solver,           "...eeeb."},
    {&stage_prices_solver,        "...p...."},
    {&configuration_solver,       "...pppb."},
    {&stage_prices_solver,        "....p.b."},
    {&ideal_dp_solver,            "...p...."},
    {&chain_search_solver,        "...pppb."},
    {&free_search_solver,         "....s.ss"},
    {&regions_solver,             "RR......"},
    {&splitting_solver,           "RR......"},
    {&tabu_solver,                "RR......"},
    {&iterated_greedy_solver,     "RR......"},
    {&call_search_solver,         "..R....."},
    {&local_search_solver,        "...RRRRR"},
    {&branch_and_bound_solver,    "P......."},
    {&decision_diagram_solver,    "P......."},
};
/* clang-format on */
enum { MATRIX_ROWS = sizeof matrix / sizeof *matrix, PAIRS_UP_TO = 1024 };

static const double TRIED = 0.15, PROVED = 0.5; /* of what is left */

static problem_class class_of(const situ_problem *p) {
  if (p->execution == SITU_EXECUTION_STREAM) return solve_is_large(p) ? LARGE_STREAM : STREAM;
  if (p->execution == SITU_EXECUTION_CALLS) return CALLS;
  if (p->contiguous) return CONTIGUOUS;
  if (solve_is_large(p)) return LARGE_FREE;
  if (p->n_operators > SOLVE_FEW) return MIDSIZE;
  return p->communication == SITU_COMMUNICATION_LINK ? LINKED : FREE;
}

/* The role of a row in a run; NONE where it does not serve the problem or is left out. */
static char role_of(const portfolio_row *row, const solve_run *run) {
  char role = row->roles[class_of(run->problem)];
  bool takes_part = role != NONE && solver_serves(row->solver, run->problem) && solve_includes(run, row->solver->name);
  return takes_part ? role : NONE;
}

/* How many even parts of the budget a row gets. */
static int32_t parts_of(char role) { return role == DOUBLE ? 2 : role == SHARE || role == ROUNDS; }

/* The part of what is left that a row may use. */
static double share_of(char role, int32_t n_sharing) {
  int32_t parts = parts_of(role);
  if (parts > 0) return (double)parts / n_sharing;
  return role == BRIEF || role == RESCUE ? TRIED : role == PROOF ? PROVED : 1;
}

/* Who takes part in the rounds at the end; returns in how many even parts rows share what is left, those included. */
static int32_t cast_rounds(walks_cast *rounds, const solve_run *run) {
  int32_t n_sharing = 0;
  *rounds = (walks_cast){.n_searches = 0};
  for (int32_t k = 0; k < MATRIX_ROWS; k++) {
    char role = role_of(&matrix[k], run);
    n_sharing += parts_of(role);
    if (role == ROUNDS) rounds->search[rounds->n_searches++] = matrix[k].solver;
    if (role == PROVES) rounds->proof[rounds->n_proofs++] = matrix[k].solver;
  }
  return n_sharing;
}

/* More time than any quick row should take, and what pays for a local search before the bounds; of a limit, at most
 * three quarters. */
static int64_t quick_ns(const solve_run *run, const solver *row) {
  static const int64_t BASE_NS = 50000000, OPERATOR_NS = 5000, SEARCH_OPERATOR_NS = 5000;
  int64_t n = run->problem->n_operators, left_ns = budget_time_left(run->budget);
  int64_t max_ns = row->search ? min64(BASE_NS, SEARCH_OPERATOR_NS * n) : BASE_NS + OPERATOR_NS * n;
  return left_ns == INT64_MAX ? max_ns : min64(max_ns, left_ns / 4 * 3 + 1);
}

/* The maximum time of a row before the rounds, where these run it again: several searches by turns find more than one
 * alone. The same for `layers`, whose first plans are nearly as good as all of them. Large problems, where a turn takes
 * long, keep both for longer. 0, no limit: it is not in the rounds, or steps
 * count, and no plan may depend on time. */
static int64_t before_rounds_ns(const walks_cast *rounds, const solver *row, const solve_run *run) {
  static const int64_t BASE_NS = 100000000, OPERATOR_NS = 100000, LARGE_FACTOR = 30;
  bool again = row == &layers_solver;
  for (int32_t k = 0; k < rounds->n_searches; k++) again |= rounds->search[k] == row;
  if (!again || run->budget->max_steps != INT64_MAX) return 0;
  int64_t ns = BASE_NS + OPERATOR_NS * run->problem->n_operators;
  return solve_is_large(run->problem) ? LARGE_FACTOR * ns : ns;
}

/* Runs a row, and improves the order of a better plan than those before. */
static situ_status run_row(const solver *row, solve_run *run, double share, int64_t limit_ns) {
  int64_t before_ns = run->incumbent->value_ns;
  TRY(solver_run(row, run, share, limit_ns));
  return run->incumbent->value_ns < before_ns && !solve_done(run) ? sequence_offer(run) : SITU_STATUS_OK;
}

/* Marks a row as ended wherever it stands. */
static void mark_ended(solve_run *run, const solver *row) {
  for (int32_t k = 0; k < MATRIX_ROWS; k++) run->ended[k] |= matrix[k].solver == row;
}

/* Whether portfolio_begin runs a row. */
static bool begins(char role, const situ_problem *p) {
  return role == QUICK || role == BEFORE || role == FIRST || (role == PAIRS && p->n_operators <= PAIRS_UP_TO);
}

/* Whether a row runs after the bounds, before the rounds. */
static bool follows(char role) {
  return role != NONE && role != BEFORE && role != PAIRS && role != FIRST && role != ROUNDS && role != PROVES;
}

situ_status portfolio_begin(solve_run *run) {
  run->solver = auto_solver.name;
  run->ended = ARENA_ZERO(run->arena, bool, MATRIX_ROWS);
  if (!run->ended) return fail_no_memory(run->error);
  for (int32_t k = 0; k < MATRIX_ROWS && (k == 0 || !solve_done(run)); k++) {
    char role = role_of(&matrix[k], run);
    if (!begins(role, run->problem) || run->ended[k]) continue;
    if (matrix[k].solver == &single_solver) {
      if (!run->incumbent->best.device) TRY(solver_run(&single_solver, run, 1, 0));
      continue;
    }
    int64_t limit_ns = quick_ns(run, matrix[k].solver), start_ns = clock_now_ns();
    bool all = role != FIRST;
    run->brief = role == FIRST;
    run->brief_is_all = &all;
    TRY(run_row(matrix[k].solver, run, 1, limit_ns));
    run->brief = false;
    run->brief_is_all = NULL;
    if (!all || clock_now_ns() - start_ns >= limit_ns || solve_done(run)) continue;
    if (role == QUICK)
      run->ended[k] = true;
    else
      mark_ended(run, matrix[k].solver);
  }
  return SITU_STATUS_OK;
}

static situ_status run_portfolio(solve_run *run) {
  bool done;
  walks_cast rounds;
  int32_t n_sharing = cast_rounds(&rounds, run);
  bool started = false;
  for (int32_t k = 0; k < MATRIX_ROWS; k++) {
    char role = role_of(&matrix[k], run);
    if (!follows(role)) continue;
    TRY(exchange_best(run, &done));
    if (done && (started || run->budget->stop == BUDGET_CANCELLED)) return SITU_STATUS_OK;
    started = true; /* some plan is found even where the bounds have used up the limits */
    if ((role == RESCUE && run->incumbent->best.device) || (run->ended && run->ended[k])) continue;
    double share = share_of(role, n_sharing);
    n_sharing -= parts_of(role);
    TRY(run_row(matrix[k].solver, run, share, before_rounds_ns(&rounds, matrix[k].solver, run)));
  }
  TRY(exchange_best(run, &done));
  return rounds.n_searches > 0 && !done ? walks_rounds(run, &rounds) : SITU_STATUS_OK;
}

const solver auto_solver = {
    .name = "auto",
    .title = "a portfolio of all solvers that support the problem",
    .source = "",
    .models = MODEL_ALL,
    .chunks = true,
    .periods = true,
    .anytime = true,
    .leads = true,
    .solve = run_portfolio,
};
