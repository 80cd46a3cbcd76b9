/* The best of several plans by measurement: searches that differ in what they prefer, raced on an engine. */
#include <string.h>

#include "api/instance.h"
#include "base/arguments.h"
#include "engine/measure.h"
#include "plan/plan.h"
#include "read/reader.h"
#include "split/model_file.h"
#include "view/equal_devices.h"

enum { MAX_PLANS = 16, VARIANT_STEPS = 2000 };

/* The kind of a further candidate: the plan of a solver, or the best plan found by all with a limit on parts. */
typedef struct variant {
  const char *name, *solvers;
  int32_t max_parts; /* streams only; 0: none */
} variant;
static const variant variants[] = {{"best single device", "single", 0},
                                   {"best found", "auto", 0},
                                   {"at most 2 parts", "auto", 2},
                                   {"at most 3 parts", "auto", 3},
                                   {"one part for each device", "contiguous", 0},
                                   {"at most 5 parts", "auto", 5},
                                   {"chain split", "linear_dp", 0},
                                   {"HEFT", "heft", 0},
                                   {"pipedream", "pipedream", 0},
                                   {"layers", "layers", 0}};

typedef struct field {
  situ_plan *plans[MAX_PLANS];
  const char *names[MAX_PLANS];
  int32_t n;
  const situ_problem *problem;
  equal_devices equal;
} field;

static int32_t n_replicas(const field *f, const situ_plan *plan, int32_t device) {
  int32_t n = 0;
  for (int32_t d = 0; plan->replica_of && d < f->problem->n_devices; d++) n += plan->replica_of[d] == device;
  return n;
}

/* Whether two plans are the same but for the names of equal devices. */
static bool same_plan(const field *f, const situ_plan *a, const situ_plan *b) {
  int32_t to[SITU_MAX_DEVICES], from[SITU_MAX_DEVICES];
  for (int32_t d = 0; d < f->problem->n_devices; d++) to[d] = from[d] = -1;
  for (int32_t v = 0; v < a->n_operators; v++) {
    int32_t d = a->device[v], e = b->device[v];
    if (to[d] < 0 && from[e] < 0 && f->equal.type_of[d] == f->equal.type_of[e]) {
      to[d] = e;
      from[e] = d;
    }
    if (to[d] != e) return false;
  }
  for (int32_t d = 0; d < f->problem->n_devices; d++)
    if (to[d] >= 0 && n_replicas(f, a, d) != n_replicas(f, b, to[d])) return false;
  return true;
}

/* Takes over the plan; one that is there already, or that places nothing, is freed. */
static void enter(field *f, situ_plan *plan, const char *name) {
  bool known = !plan || !plan->device;
  for (int32_t i = 0; i < f->n && !known; i++) known = same_plan(f, f->plans[i], plan);
  if (known) {
    situ_plan_free(plan);
    return;
  }
  f->plans[f->n] = plan;
  f->names[f->n++] = name;
}

/* Where a variant does not suit the problem, or finds nothing, there is one candidate less. */
static void add_variant(field *f, const variant *v, const situ_solve_options *solve, int32_t form) {
  const situ_problem *p = f->problem;
  situ_solve_options o = {.size = sizeof o, .solvers = v->solvers, .seed = solve->seed, .threads = solve->threads};
  situ_plan *plan = NULL;
  o.max_steps = solve->max_steps > 0 && solve->max_steps < VARIANT_STEPS ? solve->max_steps : VARIANT_STEPS;
  o.no_bounds = true;
  o.form = form;
  if (strcmp(v->solvers, "auto") != 0 && !situ_solver_serves(v->solvers, p)) return;
  if (v->max_parts > 0 && p->execution != SITU_EXECUTION_STREAM) return;
  o.max_parts = v->max_parts;
  if (situ_solve(&plan, p, &o, NULL) == SITU_STATUS_OK) enter(f, plan, v->name);
}

situ_status situ_place_measured(situ_plan **out, situ_instance **instance, situ_race **race,
                                const situ_instance_options *options, const situ_solve_options *solve, int32_t n_plans,
                                const situ_race_options *race_options, situ_error *error) {
  situ_solve_options own;
  measure_options how;
  field f = {.n = 0};
  situ_plan *first = NULL;
  if (out) *out = NULL;
  if (instance) *instance = NULL;
  if (race) *race = NULL;
  TRY(GIVEN(error, out, instance, race));
  TRY(TAKE(own, solve, SITU_SOLVE_OPTIONS_INIT, error));
  TRY(measure_take_race(&how, race_options, error));
  if (n_plans < 2 || n_plans > MAX_PLANS)
    return fail_with(error, SITU_STATUS_BAD_ARGUMENT, NULL, "from 2 to %d plans can be measured", (int)MAX_PLANS);
  TRY(situ_place(&first, instance, options, &own, error));
  const situ_instance *i = *instance;
  bool exists = plan_exists(first);
  arena *a = arena_new();
  f.problem = i->problem;
  situ_status status =
      a && equal_devices_find(&f.equal, f.problem, EQUAL_ALWAYS, a) ? SITU_STATUS_OK : fail_no_memory(error);
  if (status == SITU_STATUS_OK) status = model_format_need(i->model->reader, i->options.call.model, error);
  if (exists)
    enter(&f, first, "the answer");
  else
    *out = first;
  for (size_t k = 0; k < sizeof variants / sizeof *variants && exists && f.n < n_plans && status == SITU_STATUS_OK; k++)
    add_variant(&f, &variants[k], &own, own.form | i->form);
  arena_free(a);
  how.read = &i->options.read;
  if (exists && status == SITU_STATUS_OK)
    status = race_plans(race, (const situ_plan *const *)f.plans, f.names, f.n, i->problem, i->options.call.model, &how,
                        error);
  int32_t kept = status == SITU_STATUS_OK && *race ? (*race)->winner : 0;
  if (status == SITU_STATUS_OK && f.n > 0) *out = f.plans[kept];
  for (int32_t k = 0; k < f.n; k++)
    if (f.plans[k] != *out) situ_plan_free(f.plans[k]);
  if (status == SITU_STATUS_OK) return status;
  situ_plan_free(*out);
  *out = NULL;
  situ_instance_free(*instance);
  *instance = NULL;
  return status;
}
