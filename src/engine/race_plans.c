/* Races of plans on an engine, and the log from which a race is replayed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arguments.h"
#include "base/hash.h"
#include "base/json.h"
#include "engine/measure.h"
#include "split/plan_parts.h"

enum { SEGMENT = 10 };

typedef struct racing {
  situ_race *race;
  measuring m;
  const situ_problem *problem;
  const model_file *file;
  model_parts **parts;
  executor **executors;
  run_times *times;      /* scratch */
  const json_value *log; /* rounds that were measured; NULL: measure */
  int32_t *n_read;       /* [plan] of the log */
} racing;

/* ---- measuring ---- */

static situ_status start_plan(racing *r, int32_t i, const situ_plan *plan, const char **names, situ_error *error) {
  executor_options o = r->m.executor;
  TRY(plan_parts_find(&r->parts[i], r->file, r->problem->graph, plan, error));
  o.names = names;
  if (r->race->pipeline) executor_queue(&o, r->parts[i], plan->replica_of, r->problem->n_devices, r->m.options.queue);
  return executor_start(&r->executors[i], r->parts[i], &o, error);
}

/* A latency, or the period of a segment of inputs, after n_copies inputs that fill the pipeline. */
static situ_status measure_once(racing *r, int32_t i, int64_t *time_ns, situ_error *error) {
  executor *x = r->executors[i];
  if (!r->race->pipeline) return executor_latency(x, time_ns, r->times, error);
  enum { MAX_RUNS = SEGMENT + 2 * 64 };
  int64_t finish_ns[MAX_RUNS], *sum_ns = ARENA_ZERO(r->race->arena, int64_t, r->parts[i]->n_parts);
  int32_t first = x->options.n_copies, round = x->options.replica_of ? first : 1;
  int32_t n = (SEGMENT + round - 1) / round * round; /* replicas end a round together */
  if (!sum_ns) return fail_no_memory(error);
  TRY(executor_pipeline(x, first + n, finish_ns, sum_ns, NULL, error));
  *time_ns = (finish_ns[first + n - 1] - finish_ns[first - 1]) / n;
  return SITU_STATUS_OK;
}

static situ_status sample(void *context, int32_t i, int64_t *time_ns, situ_error *error) {
  racing *r = context;
  r->m.done += i == 0;
  if (!r->log) return measure_once(r, i, time_ns, error);
  const json_value *times = json_get(json_at(json_get(r->log, "plans"), (size_t)i), "times_ns");
  if ((size_t)r->n_read[i] >= json_size(times))
    return fail_with(error, SITU_STATUS_BAD_INPUT, r->m.options.replay, "ends before the race");
  *time_ns = measure_logged_ns(times, r->n_read[i]++);
  return *time_ns >= 0 ? SITU_STATUS_OK
                       : fail_with(error, SITU_STATUS_BAD_INPUT, r->m.options.replay,
                                   "has a time of plan %d that is no whole number from 0 to 2^54", (int)i + 1);
}

static bool is_late(void *context) {
  const racing *r = context;
  return !r->log && measure_is_late(&r->m);
}

static situ_status start_all(racing *r, const situ_plan *const *plans, situ_error *error) {
  situ_race *race = r->race;
  const char **names = ARENA_NEW(race->arena, const char *, r->problem->n_devices);
  int32_t max_parts = 1, n_in = 0;
  if (!names) return fail_no_memory(error);
  for (int32_t d = 0; d < r->problem->n_devices; d++) names[d] = r->problem->platform->devices[d].name;
  TRY(measure_lanes(&r->m.executor, &r->m, r->problem->platform, race->arena, error));
  for (int32_t i = 0; i < race->n; i++) {
    situ_error own = {0};
    situ_status status = start_plan(r, i, plans[i], names, &own);
    if (status == SITU_STATUS_CANCELLED) return fail_with(error, status, own.where, "%s", own.text);
    race->lanes[i].out = status != SITU_STATUS_OK;
    if (race->lanes[i].out && !(race->why[i] = arena_string(race->arena, own.text))) return fail_no_memory(error);
    if (r->parts[i] && r->parts[i]->n_parts > max_parts) max_parts = r->parts[i]->n_parts;
    n_in += !race->lanes[i].out;
    if (i == race->n - 1 && n_in == 0) return fail_with(error, status, own.where, "%s", own.text);
  }
  r->times = ARENA_NEW(race->arena, run_times, max_parts);
  return r->times ? SITU_STATUS_OK : fail_no_memory(error);
}

static situ_status warm_up(racing *r, situ_error *error) {
  int64_t unused_ns;
  r->m.phase = "warming up";
  for (int32_t w = 0; w < r->m.options.warm_up; w++)
    for (int32_t i = 0; i < r->race->n; i++)
      if (!r->race->lanes[i].out) TRY(measure_once(r, i, &unused_ns, error));
  return SITU_STATUS_OK;
}

/* ---- the log ---- */

static json_value *plan_log(const situ_race *race, int32_t i) {
  char hash[24];
  const race_lane *lane = &race->lanes[i];
  snprintf(hash, sizeof hash, "%016llx", (unsigned long long)race->hash[i]);
  return JSON_OBJECT({"name", json_new_text(race->names[i])}, {"hash", json_new_text(hash)},
                     {"predicted_ns", json_new_int(race->predicted_ns[i])}, {"why", json_new_text(race->why[i])},
                     {"dropped", json_new_bool(lane->out)}, {"median_ns", json_new_int(lane->median_ns)},
                     {"spread_ns", json_new_int(lane->half_ns)}, {"times_ns", json_new_ints(lane->times_ns, lane->n)});
}

json_value *race_log(const situ_race *race) {
  json_value *plans = json_new_array();
  bool ok = plans;
  for (int32_t i = 0; ok && i < race->n; i++) ok = json_push(plans, plan_log(race, i));
  json_value *root =
      JSON_OBJECT({"situ_race", json_new_int(1)}, {"engine", json_new_text(race->engine)},
                  {"rounds", json_new_int(race->rounds)}, {"winner", json_new_int(race->winner)}, {"plans", plans});
  return json_if(ok, root);
}

static situ_status write_log(const situ_race *race, const char *path, situ_error *error) {
  return json_write(path, race_log(race), 1, error);
}

/* Checks that the log is of these plans, and takes its number of rounds. */
static situ_status take_log(racing *r, const json_value *log, situ_error *error) {
  const json_value *plans = json_get(log, "plans");
  const char *path = r->m.options.replay;
  situ_race *race = r->race;
  int64_t rounds = json_int(json_get(log, "rounds"), 0), n_raced = 0;
  if (json_int(json_get(log, "situ_race"), 0) != 1 || json_kind_of(plans) != JSON_ARRAY_KIND ||
      json_size(plans) != (size_t)race->n || rounds < 1 || rounds > (1 << 20))
    return fail_with(error, SITU_STATUS_BAD_INPUT, path, "is not the log of a race of %d plans", (int)race->n);
  for (int32_t i = 0; i < race->n; i++) {
    const json_value *plan = json_at(plans, (size_t)i);
    uint64_t hash = strtoull(json_text(json_get(plan, "hash"), "0"), NULL, 16);
    if (hash != race->hash[i])
      return fail_with(error, SITU_STATUS_BAD_INPUT, path,
                       "has another plan than \"%s\"; repeat the search with the same options and seed",
                       race->names[i]);
    const json_value *times = json_get(plan, "times_ns");
    if (json_kind_of(times) != JSON_ARRAY_KIND || json_size(times) > (size_t)rounds)
      return fail_with(error, SITU_STATUS_BAD_INPUT, path,
                       "has no list of times of plan %d; expected \"times_ns\" with at most %lld", (int)i + 1,
                       (long long)rounds);
    race->lanes[i].out = json_size(times) == 0;
    n_raced += !race->lanes[i].out;
    race->why[i] = arena_string(race->arena, json_text(json_get(plan, "why"), ""));
    if (!race->why[i]) return fail_no_memory(error);
  }
  if (n_raced == 0)
    return fail_with(error, SITU_STATUS_BAD_INPUT, path, "has no time of any plan; expected those of at least one");
  race->rounds = (int32_t)rounds;
  snprintf(race->engine, sizeof race->engine, "%s", json_text(json_get(log, "engine"), "?"));
  r->log = log;
  return SITU_STATUS_OK;
}

/* ---- the call ---- */

static situ_status race_on_engine(racing *r, const situ_plan *const *plans, const char *model, situ_error *error) {
  situ_race *race = r->race;
  char version[MEASURE_NAME_BYTES];
  model_file *file = NULL;
  if (r->m.options.in_process && race->pipeline)
    return fail_with(error, SITU_STATUS_UNSUPPORTED, "in process",
                     "parts run sequentially in one process, so pipelines cannot be measured");
  TRY(measure_version(version, &r->m, error));
  snprintf(race->engine, sizeof race->engine, "%s %s", r->m.executor.engine->name, version);
  TRY(model_file_open(&file, model, error));
  r->file = file;
  situ_status status = start_all(r, plans, error);
  if (status == SITU_STATUS_OK) status = warm_up(r, error);
  r->m.phase = "racing";
  if (status == SITU_STATUS_OK)
    status = race_run(race->lanes, race->n, race->rounds, sample, is_late, r, &race->winner, race->arena, error);
  int32_t max = 0;
  for (int32_t i = 0; i < race->n; i++) max = race->lanes[i].n > max ? race->lanes[i].n : max;
  race->rounds = max;
  for (int32_t i = 0; i < race->n; i++) {
    executor_stop(r->executors[i]);
    model_parts_free(r->parts[i]);
  }
  model_file_free(file);
  return status;
}

/* Lanes that were out from the start leave no winner, however a log came to have none. */
static situ_status need_winner(const situ_race *race, situ_error *error) {
  if (race->winner >= 0) return SITU_STATUS_OK;
  return fail_with(error, SITU_STATUS_INTERNAL, NULL, "a race of %d plans has no winner", (int)race->n);
}

static situ_status race_into(racing *r, const situ_plan *const *plans, const char *model, situ_error *error) {
  situ_race *race = r->race;
  const char *replay = r->m.options.replay;
  json_value *log = NULL;
  r->m.total = race->rounds = r->m.options.items;
  if (!replay) {
    TRY(race_on_engine(r, plans, model, error));
  } else {
    situ_status status = json_read(&log, replay, error);
    if (status == SITU_STATUS_OK) status = take_log(r, log, error);
    if (status == SITU_STATUS_OK)
      status = race_run(race->lanes, race->n, race->rounds, sample, NULL, r, &race->winner, race->arena, error);
    json_free(log);
    TRY(status);
  }
  TRY(need_winner(race, error));
  return r->m.options.log ? write_log(race, r->m.options.log, error) : SITU_STATUS_OK;
}

situ_status race_plans(situ_race **out, const situ_plan *const *plans, const char *const *names, int32_t n,
                       const situ_problem *problem, const char *model, const measure_options *options,
                       situ_error *error) {
  *out = NULL;
  situ_race *race = NOUN_NEW(situ_race, NULL);
  if (!race) return fail_no_memory(error);
  *race = (situ_race){
      .arena = race->arena, .n = n, .winner = -1, .pipeline = problem->execution == SITU_EXECUTION_PIPELINE};
  racing r = {.race = race, .problem = problem};
  bool room =
      ARENA_ARRAYS(race->arena, ZEROS(race->lanes, n), ZEROS(race->names, n), ZEROS(race->why, n), ZEROS(race->hash, n),
                   ZEROS(race->predicted_ns, n), ZEROS(r.parts, n), ZEROS(r.executors, n), ZEROS(r.n_read, n));
  for (int32_t i = 0; room && i < n; i++) {
    race->names[i] = names[i];
    race->why[i] = "";
    race->hash[i] = measure_hash(plans[i]->device, plans[i]->order, plans[i]->n_operators);
    if (plans[i]->replica_of)
      race->hash[i] = hash_bytes(plans[i]->replica_of, sizeof(int32_t) * (size_t)problem->n_devices, race->hash[i]);
    race->predicted_ns[i] = situ_plan_by_parts_ns(plans[i]);
  }
  situ_status status = room ? measure_options_take(&r.m, options, error) : fail_no_memory(error);
  if (status == SITU_STATUS_OK && !r.m.options.replay)
    status = measure_begin(&r.m, options, problem, model, race->arena, error);
  if (status == SITU_STATUS_OK) status = race_into(&r, plans, model, error);
  HAND_OUT(out, race, status, situ_race_free);
}

void situ_race_free(situ_race *race) {
  if (race) arena_free(race->arena);
}

int64_t situ_race_measured_ns(const situ_race *race, int32_t plan) {
  return race && plan >= 0 && plan < race->n && race->lanes[plan].n > 0 ? race->lanes[plan].median_ns : SITU_NEVER_NS;
}

bool situ_race_get_summary(const situ_race *race, situ_race_summary *out) {
  if (!race) return false;
  situ_race_summary summary = {.n_plans = race->n, .winner = race->winner};
  return GIVE(out, summary);
}
