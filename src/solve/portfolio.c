/* The portfolio `auto`: one table for each kind of problem, to be read from top to bottom. Rows that do not serve the
 * problem at hand are passed over. docs/theory/heuristics/auto.md tells why they stand as they do. */
#include "base/fail.h"
#include "solve/common/exchange.h"
#include "solve/common/solver.h"
#include "solve/common/walks.h"
#include "solve/stream/sequence.h"

/* How a row takes part. */
typedef enum portfolio_part {
  END = 0, /* ends by itself: may use all that is left */
  TRY,     /* what may take long, as a short try: its plan or bound helps those behind it */
  RESCUE,  /* the same, only while there is no plan: what mends plans that do not fit may use up few steps */
  PROVE,   /* a proof: may take half of what is left */
  SHARE,   /* goes on until it is stopped: an even part, among all rows that do */
  TWICE,   /* the same, two parts */
  SEARCH,  /* the same, in the rounds at the end, from many starts: tables list them behind all others */
  CERTIFY  /* a proof that takes its turn in each of those rounds */
} portfolio_part;

typedef struct portfolio_row {
  const solver *solver;
  portfolio_part part;
} portfolio_row;

/* One input at a time, or many: constructions first, then rounds of searches and proofs. A proof may take for ever
 * here, and what is known without it is poor, so proofs take turns with the searches. */
static const portfolio_row stream_rows[] = {
    {&single_solver, END},
    {&families_solver, RESCUE},
    {&m_topo_solver, END},
    {&min_cut_solver, END},
    {&heft_solver, END},
    {&peft_solver, END},
    {&lookahead_solver, END},
    {&cpop_solver, END},
    {&dls_solver, END},
    {&m_etf_solver, END},
    {&priced_chain_solver, END},
    {&chain_labels_solver, END},
    {&families_solver, TRY},
    {&layers_solver, SHARE},
    {&server_dp_solver, END},
    {&server_heft_solver, END},
    {&m_sct_solver, END},
    {&tradeoff_solver, SHARE},
    {&regions_solver, SHARE},
    {&regions_solver, SEARCH},
    {&splitting_solver, SEARCH},
    {&tabu_solver, SEARCH},
    {&iterated_greedy_solver, SEARCH},
    {&lns_solver, SEARCH},
    {&block_dp_solver, CERTIFY},
    {&branch_and_bound_solver, CERTIFY},
    {0},
};

/* The same for large problems (SOLVE_SMALL): the layouts of people before what takes long. */
static const portfolio_row large_stream_rows[] = {
    {&single_solver, END},
    {&families_solver, RESCUE},
    {&m_topo_solver, END},
    {&min_cut_solver, END},
    {&families_solver, TRY},
    {&heft_solver, END},
    {&layers_solver, TWICE},
    {&regions_solver, TWICE},
    {&multilevel_solver, SHARE},
    {&server_dp_solver, END},
    {&server_heft_solver, END},
    {&peft_solver, END},
    {&lookahead_solver, END},
    {&cpop_solver, END},
    {&tradeoff_solver, SHARE},
    {&regions_solver, SEARCH},
    {&splitting_solver, SEARCH},
    {&tabu_solver, SEARCH},
    {&iterated_greedy_solver, SEARCH},
    {&lns_solver, SEARCH},
    {0},
};

static const portfolio_row calls_rows[] = {
    {&single_solver, END},    {&m_topo_solver, END},         {&greedy_solver, END},
    {&call_dp_solver, PROVE}, {&call_search_solver, SEARCH}, {0},
};

/* Exact programs find the plans too. ideal_dp comes again once stage_prices and configuration have raised the bound. */
static const portfolio_row contiguous_rows[] = {
    {&single_solver, END},         {&m_topo_solver, END},          {&server_dp_solver, END},
    {&ideal_dp_solver, TRY},       {&linear_dp_solver, END},       {&stage_lns_solver, END},
    {&stage_prices_solver, PROVE}, {&configuration_solver, PROVE}, {&ideal_dp_solver, PROVE},
    {&chain_search_solver, PROVE}, {&local_search_solver, SEARCH}, {0},
};

/* The bounds of contiguous plans hold for nothing here, so ideal_dp comes once, for its plan. */
static const portfolio_row free_rows[] = {
    {&single_solver, END},
    {&m_topo_solver, END},
    {&server_dp_solver, END},
    {&potential_solver, TRY},
    {&ideal_dp_solver, PROVE},
    {&linear_dp_solver, END},
    {&stage_lns_solver, END},
    {&stage_prices_solver, PROVE},
    {&configuration_solver, PROVE},
    {&chain_search_solver, PROVE},
    {&free_search_solver, SHARE},
    {&local_search_solver, SEARCH},
    {0},
};

/* By links: local_search knows the load of each channel. */
static const portfolio_row linked_rows[] = {
    {&single_solver, END},         {&m_topo_solver, END},          {&server_dp_solver, END},
    {&potential_solver, TRY},      {&ideal_dp_solver, PROVE},      {&linear_dp_solver, END},
    {&stage_lns_solver, END},      {&stage_prices_solver, PROVE},  {&configuration_solver, PROVE},
    {&chain_search_solver, PROVE}, {&local_search_solver, SEARCH}, {0},
};

/* Free problems of some thousand operators (SOLVE_FEW): what is exact hardly ends there, and linear_dp would use up
 * what is left of a short limit. So each of these only has a short try, and the searches have most of it. */
static const portfolio_row midsize_free_rows[] = {
    {&single_solver, END},          {&m_topo_solver, END},
    {&server_dp_solver, END},       {&potential_solver, SHARE},
    {&stretched_solver, SHARE},     {&linear_dp_solver, TRY},
    {&ideal_dp_solver, TRY},        {&stage_lns_solver, TRY},
    {&stage_prices_solver, TRY},    {&configuration_solver, TRY},
    {&chain_search_solver, TRY},    {&free_search_solver, SHARE},
    {&local_search_solver, SEARCH}, {0},
};

/* Free problems that are large: what is exact would use up the limits. free_search moves much at once, local_search
 * ends what it leaves. */
static const portfolio_row large_free_rows[] = {
    {&single_solver, END},        {&m_topo_solver, END},          {&server_dp_solver, END},
    {&potential_solver, TWICE},   {&linear_dp_solver, TRY},       {&stretched_solver, SHARE},
    {&free_search_solver, SHARE}, {&local_search_solver, SEARCH}, {0},
};

static const double TRIED = 0.15, PROVED = 0.5; /* of what is left */

static const portfolio_row *rows_of(const situ_problem *p) {
  if (p->execution == SITU_EXECUTION_STREAM) return solve_is_large(p) ? large_stream_rows : stream_rows;
  if (p->execution == SITU_EXECUTION_CALLS) return calls_rows;
  if (p->contiguous) return contiguous_rows;
  if (solve_is_large(p)) return large_free_rows;
  if (p->n_operators > SOLVE_FEW) return midsize_free_rows;
  return p->communication == SITU_COMMUNICATION_LINK ? linked_rows : free_rows;
}

static int32_t parts_of(const portfolio_row *row) {
  return row->part == TWICE ? 2 : row->part == SHARE || row->part == SEARCH;
}

/* The part of what is left that a row may use. */
static double share_of(const portfolio_row *row, int32_t n_sharing) {
  int32_t parts = parts_of(row);
  if (parts > 0) return (double)parts / n_sharing;
  return row->part == TRY || row->part == RESCUE ? TRIED : row->part == PROVE ? PROVED : 1;
}

/* Who takes part in the rounds at the end; returns in how many even parts rows share what is left, those included. */
static int32_t cast_rounds(walks_cast *rounds, const portfolio_row *rows, const situ_problem *p) {
  int32_t n_sharing = 0;
  *rounds = (walks_cast){.n_searches = 0};
  for (const portfolio_row *row = rows; row->solver; row++) {
    if (!solver_serves(row->solver, p)) continue;
    n_sharing += parts_of(row);
    if (row->part == SEARCH) rounds->search[rounds->n_searches++] = row->solver;
    if (row->part == CERTIFY) rounds->proof[rounds->n_proofs++] = row->solver;
  }
  return n_sharing;
}

static situ_status run_portfolio(solve_run *run) {
  const portfolio_row *rows = rows_of(run->problem);
  bool done;
  walks_cast rounds;
  int32_t n_sharing = cast_rounds(&rounds, rows, run->problem);
  bool started = false;
  for (const portfolio_row *row = rows; row->solver; row++) {
    if (row->part == SEARCH || row->part == CERTIFY || !solver_serves(row->solver, run->problem)) continue;
    TRY(exchange_best(run, &done));
    if (done && (started || run->budget->stop == BUDGET_CANCELLED)) return SITU_STATUS_OK;
    started = true; /* some plan is found even where the bounds have used up the limits */
    if (row->part == RESCUE && run->incumbent->best.device) continue;
    double share = share_of(row, n_sharing);
    n_sharing -= parts_of(row);
    int64_t before_ns = run->incumbent->value_ns;
    TRY(solver_run(row->solver, run, share, 0));
    if (run->incumbent->value_ns < before_ns && !solve_done(run)) TRY(sequence_offer(run));
  }
  TRY(exchange_best(run, &done));
  return rounds.n_searches > 0 && !done ? walks_rounds(run, &rounds) : SITU_STATUS_OK;
}

const solver auto_solver = {
    .name = "auto",
    .title = "a portfolio of all solvers that support the problem",
    .source = "",
    .models = MODEL_ALL,
    .periods = true,
    .anytime = true,
    .leads = true,
    .solve = run_portfolio,
};
