/* The main path: an instance is opened and its problem solved. Everything else of situ hangs on an arrow of
 * api/instance.c, or on this one:
 *
 *     problem --solve--> plan
 *
 * Where devices may split operators (tensor parallelism) in groups of any size, each size is a problem of its own, and
 * the best plan is the answer. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/place_instance.h"
#include "base/arguments.h"
#include "base/checked.h"
#include "base/fail.h"
#include "plan/plan.h"
#include "platform/grouped.h"
#include "read/reader.h"

enum { MAX_SIZES = 16 };

typedef struct tried {
  int32_t size;               /* 0: left out */
  int64_t value_ns, bound_ns; /* SITU_NEVER_NS: there is no plan; the bound is that of plans with such groups */
} tried;

/* The sizes to try: powers of two, and the whole of what is equal (six GPUs: 1, 2, 4, 6). */
static int32_t find_sizes(tried *rows, int32_t max) {
  int32_t n = 0;
  for (int32_t k = 1; k <= max && n + 1 < MAX_SIZES; k *= 2) rows[n++] = (tried){.size = k};
  if (rows[n - 1].size < max) rows[n++] = (tried){.size = max};
  return n;
}

/* The largest group that the platform of the options allows; the instance itself, without groups, is for the caller to
 * use. */
static situ_status open_whole(situ_instance **out, const instance_options *o, int32_t *max, situ_error *error) {
  instance_options whole = *o;
  whole.call.tensor_parallel = NULL;
  TRY(instance_open(out, &whole, error));
  *max = platform_max_group((*out)->platform);
  for (int32_t v = 0; v<(*out)->model->graph->n_operators && * max> 1; v++)
    if ((*out)->model->graph->phase[v] != SITU_PHASE_FORWARD) *max = 1;
  if ((*out)->model->costs && (*out)->platform == (*out)->model->platform) *max = 1;
  return SITU_STATUS_OK;
}

static void name_size(char into[16], int32_t size) { snprintf(into, 16, "%d", (int)size); }

/* "groups tried: 1 51.5 ms (at least 51.4 ms), 2 ...; with groups of one size no plan takes less than 18.0 ms" */
static char *describe(const tried *rows, int32_t n) {
  text_buffer t = {0};
  int64_t bound_ns = SITU_NEVER_NS;
  char a[TEXT_UNIT_BYTES];
  text_add(&t, "devices that split operators, and the best plan:");
  for (int32_t i = 0; i < n; i++) {
    if (rows[i].size == 0) continue;
    text_add(&t, "%s %d %s", i == 0 ? "" : ",", (int)rows[i].size,
             rows[i].value_ns == SITU_NEVER_NS ? "none" : text_time(a, rows[i].value_ns));
    if (rows[i].bound_ns < SITU_NEVER_NS) text_add(&t, " (at least %s)", text_time(a, rows[i].bound_ns));
    bound_ns = min64(bound_ns, rows[i].bound_ns);
  }
  if (bound_ns < SITU_NEVER_NS)
    text_add(&t, "; no plan with groups of these sizes takes less than %s", text_time(a, bound_ns));
  return text_take(&t);
}

/* Takes a plan and its instance into `rows`, and keeps them if they are the best so far. */
static void keep_best(situ_plan **best, situ_instance **its, situ_plan *plan, situ_instance *instance, tried *row) {
  bool exists = plan_exists(plan);
  row->value_ns = exists ? plan->value_ns : SITU_NEVER_NS;
  row->bound_ns = plan->outcome == SITU_OUTCOME_INFEASIBLE ? SITU_NEVER_NS : plan->lower_bound_ns;
  bool better = !*best || (exists && (!plan_exists(*best) || plan->value_ns < (*best)->value_ns));
  situ_plan *other = better ? *best : plan;
  situ_instance *unused = better ? *its : instance;
  if (better) {
    *best = plan;
    *its = instance;
  }
  situ_plan_free(other);
  situ_instance_free(unused);
}

static situ_status place_all(situ_plan **out, situ_instance **its, const instance_options *o,
                             const situ_solve_options *solve, situ_instance *whole, tried *rows, int32_t n,
                             situ_error *error) {
  situ_solve_options each = *solve;
  double spent_s = 0;
  if (each.time_limit_s > 0 || each.max_steps == 0)
    each.time_limit_s = (each.time_limit_s > 0 ? each.time_limit_s : PLACE_USUAL_S) / n;
  for (int32_t i = 0; i < n; i++) {
    char size[16];
    situ_plan *plan = NULL;
    situ_instance *instance = i == 0 ? whole : NULL;
    instance_options own = *o;
    name_size(size, rows[i].size);
    own.call.tensor_parallel = size;
    situ_status status = i == 0 ? SITU_STATUS_OK : instance_open(&instance, &own, error);
    if (status == SITU_STATUS_UNSUPPORTED && i > 0) { /* a writer takes no such groups */
      rows[i] = (tried){0};
      continue;
    }
    if (status == SITU_STATUS_OK) status = place_instance(&plan, instance, &each, error);
    if (status != SITU_STATUS_OK) {
      situ_instance_free(instance);
      return status;
    }
    spent_s += plan->seconds;
    bool stopped = plan->outcome == SITU_OUTCOME_CANCELLED;
    keep_best(out, its, plan, instance, &rows[i]);
    for (int32_t j = i + 1; stopped && j < n; j++) rows[j] = (tried){rows[j].size, SITU_NEVER_NS, 0};
    if (stopped) break;
  }
  (*out)->seconds = spent_s;
  return SITU_STATUS_OK;
}

/* Opens instances with groups of 1, 2, 4, ... devices, as many as are equal, and gives the plan of the minimum value
 * with its instance, whose notes say what the others take. Limits of time are shared evenly. */
static situ_status place_best_groups(situ_plan **out, situ_instance **instance, const instance_options *options,
                                     const situ_solve_options *solve, situ_error *error) {
  tried rows[MAX_SIZES];
  situ_instance *whole;
  int32_t max;
  TRY(open_whole(&whole, options, &max, error));
  int32_t n = find_sizes(rows, max);
  situ_status status = place_all(out, instance, options, solve, whole, rows, n, error);
  char *note = status == SITU_STATUS_OK && n > 1 ? describe(rows, n) : NULL;
  if (note) status = instance_add_note(*instance, note, error);
  free(note);
  if (status == SITU_STATUS_OK) return status;
  situ_plan_free(*out);
  situ_instance_free(*instance);
  *out = NULL;
  *instance = NULL;
  return status;
}

situ_status situ_place(situ_plan **out, situ_instance **instance, const situ_instance_options *options,
                       const situ_solve_options *solve, situ_error *error) {
  instance_options given;
  situ_solve_options own;
  int32_t group_size;
  if (out) *out = NULL;
  if (instance) *instance = NULL;
  TRY(GIVEN(error, out, instance));
  TRY(instance_options_take(&given, options, error));
  TRY(TAKE(own, solve, SITU_SOLVE_OPTIONS_INIT, error));
  own.size = sizeof own;
  TRY(instance_group_size(&group_size, &given, error));
  if (group_size == INSTANCE_AUTO_GROUPS) return place_best_groups(out, instance, &given, &own, error);
  TRY(instance_open(instance, &given, error));
  situ_status status = place_instance(out, *instance, &own, error);
  if (status == SITU_STATUS_OK) return status;
  situ_instance_free(*instance);
  *instance = NULL;
  return status;
}
