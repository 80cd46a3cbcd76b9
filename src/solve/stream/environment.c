#include "solve/stream/environment.h"

#include <math.h>
#include <string.h>

#include "base/checked.h"
#include "base/contracts.h"
#include "base/csr.h"
#include "solve/stream/rank.h"
#include "solve/stream/sequence.h"
#include "view/footprint.h"
#include "view/level.h"

static const double INVALID_REWARD = -10;

/* ---- Units ---- */

/* Lists the members of units from unit_of. Units are numbered by their first operators. */
static void list_members(environment *env) {
  memset(env->member_start, 0, ((size_t)env->n_units + 2) * sizeof *env->member_start);
  csr_fill(env->member_start, env->member, env->unit_of, env->problem->n_operators, env->n_units);
}

static void describe_unit(environment *env, int32_t u) {
  const situ_problem *p = env->problem;
  bool *allowed = env->allowed + (int64_t)u * p->n_devices;
  env->weight_bytes[u] = env->footprint_bytes[u] = 0;
  for (int32_t d = 0; d < p->n_devices; d++) allowed[d] = true;
  for (int32_t i = env->member_start[u]; i < env->member_start[u + 1]; i++) {
    int32_t v = env->member[i];
    env->weight_bytes[u] = sat_add(env->weight_bytes[u], p->graph->weight_bytes[v]);
    env->footprint_bytes[u] = max64(env->footprint_bytes[u], footprint_bytes(p->graph, v));
    for (int32_t d = 0; d < p->n_devices; d++) allowed[d] = allowed[d] && problem_allows(p, v, d);
  }
}

static void describe_units(environment *env) {
  for (int32_t u = 0; u < env->n_units; u++) describe_unit(env, u);
}

void environment_join(environment *env, const int32_t *group) {
  REQUIRE(contracts_within(group, env->n_units, 0, env->n_units));
  int32_t n = env->problem->n_operators;
  for (int32_t v = 0; v < n; v++) env->unit_of[v] = group[env->unit_of[v]];
  env->n_units = csr_number_keys(env->unit_of, env->unit_of, n, env->device, env->n_units);
  list_members(env);
  describe_units(env);
  CONTRACT(environment_check(env));
}

static bool join_groups(environment *env, int32_t max_units, arena *a) {
  rank_costs costs;
  level_list groups;
  unit_list units = {env->n_units, env->unit_of, env->member_start, env->member};
  int32_t *group = ARENA_NEW(a, int32_t, env->n_units);
  if (!group || !rank_costs_find(&costs, a, env->problem, RANK_MEAN)) return false;
  level_request request = {.fine = &units, .n_wanted = max_units, .work_ns = costs.work, .transfer_ns = costs.transfer};
  if (!level_groups.find(&groups, env->problem, &request, a)) return false;
  for (int32_t u = 0; u < env->n_units; u++) group[u] = groups.of[0].of[env->member[env->member_start[u]]];
  environment_join(env, group);
  return true;
}

bool environment_group(environment *env, int32_t max_units, arena *a) {
  REQUIRE(max_units >= 1);
  if (env->n_units <= max_units) return true;
  arena_mark mark = arena_get_mark(a);
  bool done = join_groups(env, max_units, a);
  arena_release(a, mark);
  return done;
}

void environment_follow(const environment *env, const int32_t *device, int32_t *of_unit) {
  double part[SITU_MAX_DEVICES];
  for (int32_t u = 0; u < env->n_units; u++) {
    const bool *allowed = env->allowed + (int64_t)u * env->n_devices;
    for (int32_t d = 0; d < env->n_devices; d++) part[d] = 0;
    for (int32_t i = env->member_start[u]; i < env->member_start[u + 1]; i++) {
      int32_t v = env->member[i], d = device[v];
      part[d] += 1 + (double)problem_time_ns(env->problem, v, d);
    }
    of_unit[u] = -1;
    for (int32_t d = 0; d < env->n_devices; d++)
      if (allowed[d] && (of_unit[u] < 0 || part[d] > part[of_unit[u]])) of_unit[u] = d;
    if (of_unit[u] < 0) of_unit[u] = 0;
  }
}

/* The scale of values; where no device runs everything, the sum of each operator's minimum time. */
static int64_t scale(const situ_problem *p) {
  int64_t best = SITU_NEVER_NS, min_sum = 0;
  for (int32_t d = 0; d < p->n_devices; d++) {
    int64_t sum = 0;
    for (int32_t v = 0; v < p->n_operators; v++) sum = sat_add(sum, problem_time_ns(p, v, d));
    best = min64(best, sum);
  }
  for (int32_t v = 0; v < p->n_operators; v++) {
    int64_t min = SITU_NEVER_NS;
    for (int32_t d = 0; d < p->n_devices; d++) min = min64(min, problem_time_ns(p, v, d));
    min_sum = sat_add(min_sum, min);
  }
  return max64(best < SITU_NEVER_NS ? best : min_sum, 1);
}

/* ---- Trials ---- */

static int64_t simulate(simulator *s, const placement *where) {
  simulation found = simulator_run(s, where, true);
  return found.excess_bytes > 0 || found.over_ns > 0 ? SITU_NEVER_NS : found.value_ns;
}

static bool environment_fill(environment *env, const situ_problem *p, arena *a) {
  int64_t n = p->n_operators;
  *env = (environment){.problem = p, .arena = a, .n_devices = p->n_devices, .best_ns = SITU_NEVER_NS};
  if (!ARENA_ARRAYS(a, ARRAY(env->unit_of, n), ARRAY(env->member_start, n + 2), ARRAY(env->member, n),
                    ARRAY(env->sequence, n), ARRAY(env->device, n), ZEROS(env->best, n),
                    ARRAY(env->held_bytes, p->n_memories), ARRAY(env->max_bytes, p->n_memories)))
    return false;
  env->n_units = p->units.n;
  memcpy(env->unit_of, p->units.of, (size_t)n * sizeof *env->unit_of);
  list_members(env);
  if (!ARENA_ARRAYS(a, ARRAY(env->allowed, (int64_t)env->n_units * p->n_devices),
                    ARRAY(env->weight_bytes, env->n_units), ARRAY(env->footprint_bytes, env->n_units)))
    return false;
  describe_units(env);
  env->scale_ns = scale(p);
  CONTRACT(environment_check(env));
  return true;
}

bool environment_init(environment *env, const situ_problem *problem, arena *a) {
  if (!environment_fill(env, problem, a)) return false;
  env->simulator = simulator_new(problem, a);
  return env->simulator != NULL;
}

void environment_judge_by(environment *env, environment_judge *judge) {
  REQUIRE(judge->time && judge->scale_ns >= 1 && !env->run);
  env->judge = judge;
  env->scale_ns = judge->scale_ns;
}

bool environment_init_run(environment *env, solve_run *run) {
  REQUIRE(run->problem->execution == SITU_EXECUTION_STREAM);
  if (!environment_fill(env, run->problem, run->arena)) return false;
  env->run = run;
  env->simulator = run->simulator;
  return true;
}

int64_t environment_try(environment *env, const int32_t *device) {
  REQUIRE(contracts_within(device, env->n_units, 0, env->n_devices));
  for (int32_t v = 0; v < env->problem->n_operators; v++) env->device[v] = device[env->unit_of[v]];
  if (!sequence_find(env->sequence, env->simulator, env->problem, env->device, env->arena)) return SITU_NEVER_NS;
  placement where = {.device = env->device, .order = env->sequence};
  int64_t time = env->run ? solve_offer(env->run, &where) : simulate(env->simulator, &where);
  if (env->judge && time < SITU_NEVER_NS) time = env->judge->time(env->judge->context, &where);
  env->n_trials++;
  if (time < SITU_NEVER_NS) {
    if (env->n_valid < ENVIRONMENT_CURVE) env->early_ns[env->n_valid] = time;
    env->late_ns[env->n_valid++ % ENVIRONMENT_CURVE] = time;
  }
  if (time < env->best_ns) {
    env->best_ns = time;
    memcpy(env->best, device, (size_t)env->n_units * sizeof *device);
  }
  return time;
}

bool environment_over(const environment *env) {
  return (env->run && solve_done(env->run)) || (env->judge && env->judge->over);
}

double environment_reward(const environment *env, int64_t time_ns) {
  REQUIRE(time_ns >= 0);
  return time_ns == SITU_NEVER_NS ? INVALID_REWARD : -sqrt((double)time_ns / (double)env->scale_ns);
}

static int64_t mean(const int64_t *time_ns, int64_t n) {
  double sum = 0;
  for (int64_t i = 0; i < n; i++) sum += (double)time_ns[i];
  return n > 0 ? sat_round(sum / (double)n) : 0;
}

void environment_report(const environment *env) {
  int64_t n = min64(env->n_valid, ENVIRONMENT_CURVE);
  solve_count(env->run, "learn.trials", env->n_trials);
  solve_count(env->run, "learn.invalid", env->n_trials - env->n_valid);
  solve_count(env->run, "learn.mean_early_ns", mean(env->early_ns, n));
  solve_count(env->run, "learn.mean_late_ns", mean(env->late_ns, n));
}

/* ---- Actions ---- */

/* The memory left at device d with unit u there; negative when it does not fit. */
static int64_t room(const environment *env, int32_t u, int32_t d) {
  int32_t m = env->problem->memory_of[d];
  int64_t held =
      sat_add(sat_add(env->held_bytes[m], env->weight_bytes[u]), max64(env->max_bytes[m], env->footprint_bytes[u]));
  return env->problem->platform->memory_bytes[m] - held;
}

void environment_open(const environment *env, int32_t u, bool *open) {
  REQUIRE(u >= 0 && u < env->n_units);
  const bool *allowed = env->allowed + (int64_t)u * env->n_devices;
  int64_t max = INT64_MIN;
  for (int32_t d = 0; d < env->n_devices; d++)
    if (allowed[d]) max = max64(max, room(env, u, d));
  for (int32_t d = 0; d < env->n_devices; d++) {
    int64_t here = allowed[d] ? room(env, u, d) : 0;
    open[d] = allowed[d] && (here >= 0 || (max < 0 && here == max));
  }
  if (max == INT64_MIN) open[0] = true; /* it can run nowhere */
}

void environment_empty(environment *env) {
  for (int32_t m = 0; m < env->problem->n_memories; m++) env->held_bytes[m] = env->max_bytes[m] = 0;
}

void environment_put(environment *env, int32_t u, int32_t d) {
  REQUIRE(u >= 0 && u < env->n_units && d >= 0 && d < env->n_devices);
  int32_t m = env->problem->memory_of[d];
  env->held_bytes[m] = sat_add(env->held_bytes[m], env->weight_bytes[u]);
  env->max_bytes[m] = max64(env->max_bytes[m], env->footprint_bytes[u]);
}

/* ---- Contracts ---- */

const char *environment_check(const environment *env) {
  const situ_problem *p = env->problem;
  int32_t opened = 0;
  EXPECT(env->n_devices == p->n_devices && env->scale_ns >= 1, "devices are the problem's, the scale is at least 1");
  EXPECT(contracts_within(env->unit_of, p->n_operators, 0, env->n_units), "every operator is in a unit");
  for (int32_t v = 0; v < p->n_operators; v++) {
    EXPECT(env->unit_of[v] <= opened, "units are numbered by their first operator");
    opened += env->unit_of[v] == opened;
  }
  EXPECT(opened == env->n_units, "no unit is empty");
  EXPECT(contracts_lists(env->member_start, env->n_units, p->n_operators), "member_start lists operators by unit");
  for (int32_t u = 0; u < env->n_units; u++) {
    int32_t first = env->member_start[u], n = env->member_start[u + 1] - first;
    EXPECT(contracts_rise(env->member + first, n), "members of a unit ascend");
    for (int32_t i = first; i < first + n; i++) EXPECT(env->unit_of[env->member[i]] == u, "members are of their unit");
  }
  for (int32_t v = 0; v < p->n_operators; v++)
    EXPECT(env->unit_of[v] == env->unit_of[unit_list_members(&p->units, p->units.of[v]).member[0]],
           "no unit of the problem is parted");
  EXPECT(contracts_amounts(env->weight_bytes, env->n_units), "sizes are at least 0");
  return NULL;
}
