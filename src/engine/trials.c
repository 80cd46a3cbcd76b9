#include "engine/trials.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "base/fail.h"
#include "base/json.h"
#include "base/os.h"
#include "engine/profile.h"
#include "split/plan_parts.h"

enum { ROUNDS = 7, SINGLE_ROUNDS = 15, MIN_ROUNDS = 3, SETTLE_ROUNDS = 30, MIN_IDLE = 100, CALM_NS = 3000000 };

/* ---- running ---- */

static situ_status load_trial(executor **x, model_parts **parts, trials *t, const trial *one, situ_error *error) {
  situ_plan plan = {.n_operators = t->problem->n_operators, .device = one->device, .order = one->order};
  executor_options o = t->m.executor;
  o.names = t->names;
  TRY(plan_parts_find(parts, t->file, t->problem->graph, &plan, error));
  return executor_start(x, *parts, &o, error);
}

/* Waits until idle threads of the engine have stopped spinning on cores that the next run may use. */
static void let_threads_idle(const trials *t) {
  if (t->m.options.threads > 1 || t->m.options.map) os_nap(CALM_NS);
}

static situ_status run_once(const trials *t, executor *x, int64_t *time_ns, situ_error *error) {
  run_times *times = malloc((size_t)x->parts->n_parts * sizeof *times);
  if (!times) return fail_no_memory(error);
  let_threads_idle(t);
  situ_status status = executor_latency(x, time_ns, times, error);
  free(times);
  return status;
}

static double median_ratio(const trial *one) {
  double all[TRIALS_MAX_ROUNDS];
  for (int32_t i = 0; i < one->n; i++) {
    double ratio = (double)one->times_ns[i] / (double)one->reference_ns[i];
    int32_t k = i;
    for (; k > 0 && all[k - 1] > ratio; k--) all[k] = all[k - 1];
    all[k] = ratio;
  }
  return one->n % 2 ? all[one->n / 2] : (all[one->n / 2 - 1] + all[one->n / 2]) / 2;
}

/* Whether it has lost every round to the best so far. */
static bool is_lost(const trials *t, const trial *one) {
  bool lost = one->n >= MIN_ROUNDS;
  for (int32_t i = 0; i < one->n && lost; i++)
    lost = (double)one->times_ns[i] > t->all[t->best].ratio * (double)one->reference_ns[i];
  return lost;
}

static situ_status run_rounds(trials *t, trial *one, executor *x, int32_t rounds, situ_error *error) {
  int64_t unused_ns;
  for (int32_t w = 0; w < t->m.options.warm_up; w++) TRY(run_once(t, x, &unused_ns, error));
  while (one->n < rounds && !is_lost(t, one)) {
    TRY(run_once(t, t->reference, &one->reference_ns[one->n], error));
    TRY(run_once(t, x, &one->times_ns[one->n], error));
    one->n++;
  }
  return SITU_STATUS_OK;
}

/* A placement that the engine rejects is not a failure: the trial has the reason. */
static situ_status measure_trial(trials *t, trial *one, situ_error *error) {
  model_parts *parts = NULL;
  executor *x = NULL;
  situ_error own = {0};
  situ_status status = load_trial(&x, &parts, t, one, &own);
  int32_t rounds = t->m.options.items < TRIALS_MAX_ROUNDS ? t->m.options.items : TRIALS_MAX_ROUNDS;
  if (status == SITU_STATUS_OK) status = run_rounds(t, one, x, rounds, &own);
  executor_stop(x);
  model_parts_free(parts);
  if (status == SITU_STATUS_OK) return status;
  if (status != SITU_STATUS_UNSUPPORTED) return fail_with(error, status, own.where, "%s", own.text);
  one->n = 0;
  one->why = arena_string(t->arena, own.text);
  return one->why ? SITU_STATUS_OK : fail_no_memory(error);
}

/* ---- trials ---- */

static situ_status new_trial(trial **out, trials *t, const int32_t *device, const int32_t *order, situ_error *error) {
  int32_t n = t->problem->n_operators;
  trial *one = &t->all[t->n];
  *one = (trial){.hash = measure_hash(device, order, n), .why = "", .time_ns = SITU_NEVER_NS};
  one->device = ARENA_COPY(t->arena, device, int32_t, n);
  one->order = order ? ARENA_COPY(t->arena, order, int32_t, n) : NULL;
  if (!one->device || (order && !one->order) ||
      !ARENA_ARRAYS(t->arena, ARRAY(one->times_ns, TRIALS_MAX_ROUNDS), ARRAY(one->reference_ns, TRIALS_MAX_ROUNDS)))
    return fail_no_memory(error);
  *out = one;
  return SITU_STATUS_OK;
}

static void count_trial(trials *t, trial *one) {
  if (one->n > 0) {
    one->ratio = median_ratio(one);
    one->time_ns = sat_round(one->ratio * (double)t->single_ns);
    if (one->time_ns < t->all[t->best].time_ns) t->best = t->n;
  }
  t->n_idle = 0;
  t->over = ++t->n >= t->budget;
}

int64_t trials_time(trials *t, const placement *where) {
  uint64_t hash = measure_hash(where->device, where->order, t->problem->n_operators);
  trial *one = NULL;
  for (int32_t i = 0; i < t->n; i++)
    if (t->all[i].hash == hash) {
      t->n_again++;
      t->over = t->over || ++t->n_idle >= (t->budget > MIN_IDLE ? t->budget : MIN_IDLE);
      return t->all[i].time_ns;
    }
  if (t->over) return SITU_NEVER_NS;
  t->m.done = t->n;
  situ_status status = new_trial(&one, t, where->device, where->order, &t->failure);
  if (status == SITU_STATUS_OK)
    status = t->log ? trials_log_take(one, t, t->n, &t->failure) : measure_trial(t, one, &t->failure);
  if (status == SITU_STATUS_OK) {
    count_trial(t, one);
    return one->time_ns;
  }
  t->status = status;
  t->over = true;
  return SITU_NEVER_NS;
}

/* ---- single devices ---- */

static bool runs_all(const situ_problem *p, int32_t d) {
  for (int32_t v = 0; v < p->n_operators; v++)
    if (!problem_allows(p, v, d)) return false;
  return true;
}

/* Everything on one device, by itself: its rounds are its own reference. */
static situ_status run_single(trials *t, trial *one, executor **x, model_parts **parts, situ_error *error) {
  int64_t time_ns;
  TRY(load_trial(x, parts, t, one, error));
  for (int32_t w = 0; w < t->m.options.warm_up; w++) TRY(run_once(t, *x, &time_ns, error));
  while (one->n < SINGLE_ROUNDS) {
    TRY(run_once(t, *x, &time_ns, error));
    one->times_ns[one->n] = one->reference_ns[one->n] = time_ns;
    one->n++;
  }
  return SITU_STATUS_OK;
}

/* Keeps the faster one as the reference. */
static situ_status measure_single(trials *t, trial *one, situ_error *error) {
  executor *x = NULL;
  model_parts *parts = NULL;
  int64_t scratch_ns[TRIALS_MAX_ROUNDS];
  situ_error own = {0};
  situ_status status = t->log ? trials_log_take(one, t, t->n, &own) : run_single(t, one, &x, &parts, &own);
  if (status == SITU_STATUS_UNSUPPORTED) {
    one->why = arena_string(t->arena, own.text);
    status = one->why ? SITU_STATUS_OK : SITU_STATUS_NO_MEMORY;
    one->n = 0;
  }
  if (one->n > 0) {
    memcpy(scratch_ns, one->times_ns, (size_t)one->n * sizeof *scratch_ns);
    one->time_ns = median_of(scratch_ns, one->n, NULL);
  }
  if (status == SITU_STATUS_OK && one->n > 0 && (t->single_ns == 0 || one->time_ns < t->single_ns)) {
    executor_stop(t->reference);
    model_parts_free(t->reference_parts);
    t->single_ns = one->time_ns;
    t->single = t->best = t->n;
    t->reference = x;
    t->reference_parts = parts;
    x = NULL;
    parts = NULL;
  }
  t->n += status == SITU_STATUS_OK;
  executor_stop(x);
  model_parts_free(parts);
  return status == SITU_STATUS_OK ? status : fail_with(error, status, own.where, "%s", own.text);
}

static situ_status measure_singles(trials *t, situ_error *error) {
  const situ_problem *p = t->problem;
  int32_t *device = ARENA_NEW(t->arena, int32_t, p->n_operators);
  if (!device) return fail_no_memory(error);
  for (int32_t d = 0; d < p->n_devices && t->n < t->budget; d++) {
    trial *one;
    if (!runs_all(p, d)) continue;
    for (int32_t v = 0; v < p->n_operators; v++) device[v] = d;
    TRY(new_trial(&one, t, device, NULL, error));
    TRY(measure_single(t, one, error));
  }
  if (t->single_ns == 0)
    return fail_with(error, SITU_STATUS_UNSUPPORTED, p->graph->model,
                     "runs on no single device, which is the reference of all measurements: %s",
                     t->n > 0 ? t->all[0].why : "none can run all of it");
  for (int32_t i = 0; i < t->n; i++) t->all[i].ratio = (double)t->all[i].time_ns / (double)t->single_ns;
  t->over = t->n >= t->budget;
  return SITU_STATUS_OK;
}

situ_status trials_begin(trials *t, const situ_problem *problem, const char *model, int32_t budget,
                         const measure_options *options, situ_error *error) {
  measure_options own = *options;
  if (own.items == 0) own.items = ROUNDS;
  *t = (trials){.problem = problem, .model = model, .budget = budget, .arena = arena_new()};
  if (!t->arena) return fail_no_memory(error);
  TRY(own.replay ? measure_options_take(&t->m, &own, error)
                 : measure_begin(&t->m, &own, problem, model, t->arena, error));
  t->m.phase = "trials";
  t->m.total = budget;
  if (!ARENA_ARRAYS(t->arena, ZEROS(t->all, budget), ARRAY(t->names, problem->n_devices),
                    ZEROS(t->lanes, 1 + TRIALS_FINAL)))
    return fail_no_memory(error);
  for (int32_t d = 0; d < problem->n_devices; d++) t->names[d] = problem->platform->devices[d].name;
  if (own.replay) {
    TRY(json_read(&t->log, own.replay, error));
    if (json_int(json_get(t->log, "budget"), 0) != budget)
      return fail_with(error, SITU_STATUS_BAD_INPUT, own.replay, "is not a log of %d measurements but of %lld",
                       (int)budget, (long long)json_int(json_get(t->log, "budget"), 0));
    snprintf(t->engine, sizeof t->engine, "%s", json_text(json_get(t->log, "engine"), "?"));
  } else {
    char version[MEASURE_NAME_BYTES];
    TRY(measure_lanes(&t->m.executor, &t->m, problem->platform, t->arena, error));
    TRY(measure_version(version, &t->m, error));
    snprintf(t->engine, sizeof t->engine, "%s %s", t->m.executor.engine->name, version);
    TRY(model_file_open(&t->file, model, error));
  }
  return measure_singles(t, error);
}

/* ---- the last race ---- */

/* Puts the best trials after the reference, the best first. */
static void choose_lanes(trials *t) {
  t->n_lanes = 1;
  t->lane_trial[0] = t->single;
  while (t->n_lanes <= TRIALS_FINAL) {
    int32_t next = -1;
    for (int32_t i = 0; i < t->n; i++) {
      bool taken = t->all[i].time_ns == SITU_NEVER_NS;
      for (int32_t k = 0; k < t->n_lanes; k++) taken = taken || t->lane_trial[k] == i;
      if (!taken && (next < 0 || t->all[i].time_ns < t->all[next].time_ns)) next = i;
    }
    if (next < 0) break;
    t->lane_trial[t->n_lanes++] = next;
  }
}

typedef struct settling {
  trials *t;
  executor *x[1 + TRIALS_FINAL];
  int32_t n_read[1 + TRIALS_FINAL];
} settling;

static situ_status sample(void *context, int32_t lane, int64_t *time_ns, situ_error *error) {
  settling *s = context;
  if (s->t->log) return trials_log_final(time_ns, s->t, lane, s->n_read[lane]++, error);
  return run_once(s->t, s->x[lane], time_ns, error);
}

situ_status trials_race(trials *t, situ_error *error) {
  settling s = {.t = t};
  model_parts *parts[1 + TRIALS_FINAL] = {NULL};
  situ_status status = SITU_STATUS_OK;
  int32_t winner = 0;
  int64_t unused_ns;
  choose_lanes(t);
  t->m.phase = "the last race";
  s.x[0] = t->reference;
  for (int32_t k = 1; k < t->n_lanes && !t->log && status == SITU_STATUS_OK; k++) {
    status = load_trial(&s.x[k], &parts[k], t, &t->all[t->lane_trial[k]], error);
    for (int32_t w = 0; w < t->m.options.warm_up && status == SITU_STATUS_OK; w++)
      status = run_once(t, s.x[k], &unused_ns, error);
  }
  if (status == SITU_STATUS_OK)
    status = race_run(t->lanes, t->n_lanes, SETTLE_ROUNDS, sample, NULL, &s, &winner, t->arena, error);
  if (status == SITU_STATUS_OK) t->best = t->lane_trial[winner];
  for (int32_t k = 1; k < t->n_lanes; k++) {
    executor_stop(s.x[k]);
    model_parts_free(parts[k]);
  }
  return status;
}

situ_status trials_write(const trials *t, situ_error *error) {
  if (!t->m.options.log) return SITU_STATUS_OK;
  return json_write(t->m.options.log, trials_log(t), 1, error);
}

void trials_end(trials *t) {
  executor_stop(t->reference);
  model_parts_free(t->reference_parts);
  model_file_free(t->file);
  json_free(t->log);
  arena_free(t->arena);
}
