#include "solve/answer/form_search.h"

#include <stdio.h>
#include <string.h>

#include "base/checked.h"
#include "base/disjoint.h"
#include "base/fail.h"
#include "base/text.h"
#include "solve/stream/chain_labels.h"
#include "view/unit.h"

/* Rows that find plans of whole layers quickly: the labels along the chain start from these. */
static const solver *const first_rows[] = {
    &single_solver,     &contiguous_solver,      &llamacpp_fit_solver, &exo_ring_solver,
    &vllm_equal_solver, &accelerate_auto_solver, &priced_chain_solver, NULL};

/* Time limit for searches that would not end by themselves, where nothing else limits them. */
static const int64_t SEARCH_LIMIT_NS = 3000000000;

static bool asks(const form_search *f, int32_t bits) { return f->form.form & bits; }

situ_status form_search_open(form_search *out, solve_run *run, int32_t form) {
  *out = (form_search){0};
  TRY(layer_plan_open(&out->form, run->problem, form, NULL, run->error));
  return incumbent_init(&out->best, run->problem, run->arena) ? SITU_STATUS_OK : fail_no_memory(run->error);
}

void form_search_free(form_search *f) {
  layer_plan_free(&f->form);
  incumbent_free(&f->best);
}

/* ---- the problem of the form ---- */

/* The block of the form that operator v is in: a layer, the experts of one, or what precedes or follows the layers.
 * Numbers are below 2 layers + 2. -1: v is not a forward operator, and goes where its group goes. */
static int32_t block_of(const form_search *f, const situ_graph *g, int32_t v) {
  const layer_list *l = &f->form.layers;
  int32_t k = l->of[v], ends = asks(f, SITU_FORM_ENDS);
  if (g->phase[v] != SITU_PHASE_FORWARD) return -1;
  if (k >= 0) return f->form.expert[v] && !asks(f, SITU_FORM_EXPERTS) ? l->n + k : k;
  if (l->before[v]) return ends ? 0 : 2 * l->n;
  return ends ? l->n - 1 : 2 * l->n + 1;
}

/* Keys of what every plan of the form keeps together. NULL without memory. */
static int32_t *form_keys(const form_search *f, const situ_problem *p, arena *a) {
  int32_t n = p->n_operators, *into, *first, n_whole = 2 * f->form.n;
  if (!ARENA_ARRAYS(a, ARRAY(into, n), ARRAY(first, n_whole + 2))) return NULL;
  disjoint_init(into, n);
  for (int32_t u = 0; u < p->units.n; u++) {
    unit_members of = unit_list_members(&p->units, u);
    for (int32_t i = 1; i < of.n; i++) disjoint_join(into, of.member[0], of.member[i]);
  }
  for (int32_t b = 0; b < n_whole + 2; b++) first[b] = -1;
  for (int32_t v = 0; v < n; v++) {
    int32_t b = block_of(f, p->given, v);
    if (b < 0 || (b >= n_whole && !asks(f, SITU_FORM_BLOCKS))) continue;
    if (first[b] < 0) first[b] = v;
    disjoint_join(into, first[b], v);
  }
  int32_t *key = ARENA_NEW(a, int32_t, n);
  for (int32_t v = 0; key && v < n; v++) key[v] = disjoint_root(into, v);
  return key;
}

/* The pins of the problem, and what is before the layers at home, where programs with one group keep it. NULL without
 * memory. */
static int32_t *form_pins(const form_search *f, const situ_problem *p, arena *a) {
  int32_t home = platform_home(p->platform), *pin = ARENA_NEW(a, int32_t, p->n_operators);
  bool grouped = false;
  for (int32_t d = 0; d < p->n_devices; d++) grouped |= platform_members(p->platform, d) > 1;
  bool keeps = grouped && asks(f, SITU_FORM_ONE_GROUP) && !p->unused[home];
  for (int32_t v = 0; pin && v < p->n_operators; v++) {
    bool first =
        keeps && f->form.layers.of[v] < 0 && f->form.layers.before[v] && p->graph->phase[v] == SITU_PHASE_FORWARD;
    pin[v] = p->pin && p->pin[v] >= 0 ? p->pin[v] : first ? home : -1;
  }
  return pin;
}

/* Marks as unused what the form excludes, besides what the problem leaves empty; server -1: all servers. Whether any
 * device remains. */
static bool mark_unused(bool *unused, const form_search *f, const situ_problem *p, int32_t server) {
  bool any = false;
  for (int32_t d = 0; d < p->n_devices; d++) {
    const situ_device *device = &p->platform->devices[d];
    bool far_group = platform_members(p->platform, d) > 1 && !problem_is_near(p, d);
    unused[d] = p->unused[d] || (device->is_host && asks(f, SITU_FORM_NO_HOST)) ||
                (far_group && asks(f, SITU_FORM_ONE_GROUP)) || (server >= 0 && device->server != server);
    any |= !unused[d];
  }
  return any;
}

/* ---- its plans ---- */

static situ_status run_rows(solve_run *run) {
  const situ_problem *p = run->problem;
  bool stream = p->execution == SITU_EXECUTION_STREAM;
  for (const solver *const *row = first_rows; *row && stream; row++)
    if (solver_serves(*row, p) && !(solve_done(run) && run->incumbent->best.device)) TRY(solver_run(*row, run, 1, 0));
  run->solver = chain_labels_solver.name;
  if (chain_labels_takes(p)) TRY(chain_labels_run(run));
  if (stream && run->incumbent->best.device) return SITU_STATUS_OK;
  const solver *last = stream ? &layers_solver : &auto_solver;
  return solver_serves(last, p) ? solver_run(last, run, 1, SEARCH_LIMIT_NS) : SITU_STATUS_OK;
}

/* Searches the posed problem, and offers its plans to the run of the original problem. */
static situ_status search_posed(solve_run *run, const situ_problem *posed) {
  incumbent found;
  solve_run own = *run;
  own.problem = posed;
  own.incumbent = &found;
  own.threads = 1;
  own.islands = NULL;
  own.rounds = NULL;
  own.ended = NULL;
  own.simulator = simulator_new(posed, run->arena);
  situ_status status =
      incumbent_init(&found, posed, run->arena) && own.simulator ? run_rows(&own) : fail_no_memory(run->error);
  if (status == SITU_STATUS_OK && found.best.device) {
    run->solver = found.solver;
    solve_offer(run, &found.best);
  }
  incumbent_free(&found);
  return status;
}

static situ_status search_server(form_search *f, solve_run *run, int32_t server) {
  const situ_problem *p = run->problem;
  situ_problem_options o = problem_options_of(p);
  situ_problem *posed = NULL;
  arena *a = arena_new();
  bool *unused = a ? ARENA_NEW(a, bool, p->n_devices) : NULL;
  o.keep_together = a ? form_keys(f, p, a) : NULL;
  o.unused = unused;
  o.pins = a ? form_pins(f, p, a) : NULL;
  situ_status status = unused && o.keep_together && o.pins ? SITU_STATUS_OK : fail_no_memory(run->error);
  if (status == SITU_STATUS_OK && mark_unused(unused, f, p, server))
    status = situ_problem_pose(&posed, p->given, p->platform, p->costs, &o, run->error);
  if (posed && posed->conflict && !f->best.reason) f->best.reason = arena_string(run->arena, posed->conflict);
  if (posed && !posed->conflict) status = search_posed(run, posed);
  situ_problem_free(posed);
  arena_free(a);
  return status;
}

/* Searches each server separately if the form wants one server, else all at once. */
static situ_status search_servers(form_search *f, solve_run *run) {
  const situ_problem *p = run->problem;
  const situ_device *devices = p->platform->devices;
  if (!asks(f, SITU_FORM_ONE_SERVER)) return search_server(f, run, -1);
  for (int32_t d = 0; d < p->n_devices; d++) {
    bool seen = false;
    for (int32_t e = 0; e < d && !seen; e++) seen = devices[e].server == devices[d].server;
    if (!seen) TRY(search_server(f, run, devices[d].server));
  }
  return SITU_STATUS_OK;
}

situ_status form_search_run(form_search *f, solve_run *run) {
  budget *whole = run->budget;
  int64_t steps = budget_steps_left(whole), time = budget_time_left(whole);
  budget part = budget_part(whole, steps == INT64_MAX ? 0 : steps / 2 + 1, time == INT64_MAX ? 0 : time / 2 + 1);
  solve_run own = *run;
  own.budget = &part;
  own.form = &f->form;
  own.incumbent = &f->best;
  run->watch->running = &part;
  situ_status status = search_servers(f, &own);
  run->watch->running = whole;
  budget_join(whole, &part);
  if (status == SITU_STATUS_OK) incumbent_take(run->incumbent, &f->best, run->problem);
  return status;
}

bool form_search_costs(form_search *f, const solve_run *run) {
  const incumbent *any = run->incumbent;
  if (any->best.device && layer_plan_take(&f->form, run->problem, any->best.device, NULL, NULL) == SITU_STATUS_OK)
    incumbent_take(&f->best, any, run->problem);
  f->best.lower_bound_ns = any->lower_bound_ns;
  f->best.bound = any->bound;
  return any->value_ns < f->best.value_ns;
}

const char *form_search_reason(const form_search *f, const solve_run *run) {
  char line[400], value[TEXT_UNIT_BYTES];
  snprintf(line, sizeof line,
           "no plan was found that the writers can represent%s%s; without them the best plan found takes %s: "
           "omit a writer, or choose another",
           f->best.reason ? ": " : "", f->best.reason ? f->best.reason : "",
           text_time(value, run->incumbent->value_ns));
  return arena_string(run->arena, line);
}
