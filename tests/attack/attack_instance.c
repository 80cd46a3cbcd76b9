/* The same questions through files: what `situ place`, `situ explain` and `situ size` do. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "attack_import.h"
#include "attack_trial.h"

typedef struct asked {
  char model[512], platform[512], table[512], rules[512], fix[512], plan[512];
  char flag[2][64]; /* rules as on the command line */
  const char *rule[3], *unused[MAX_DEVICES];
  char device[MAX_DEVICES][16];
  situ_instance_options instance;
  situ_problem_options problem;
  situ_cost_options cost;
} asked;

static void ask(asked *a, const attack_problem *p, const char *folder) {
  const char *const file[] = {"graph.json", "platform.json", "costs.json", "rules.json", "fix.json", "plan.json"};
  char *const to[] = {a->model, a->platform, a->table, a->rules, a->fix, a->plan};
  for (int32_t k = 0; k < 6; k++) snprintf(to[k], sizeof a->model, "%s/%s", folder, file[k]);
  a->instance = (situ_instance_options)SITU_INSTANCE_OPTIONS_INIT;
  a->problem = (situ_problem_options)SITU_PROBLEM_OPTIONS_INIT;
  a->cost = (situ_cost_options)SITU_COST_OPTIONS_INIT;
  a->cost.table_path = a->table;
  a->cost.fusion = problem_fusion(p);
  a->instance.model = a->model;
  a->instance.platform = a->platform;
  a->instance.cost = &a->cost;
  a->instance.problem = &a->problem;
  a->instance.granularity = SITU_GRANULARITY_OPERATOR;
  a->instance.rules = a->rule;
  if (access(a->rules, R_OK) == 0) a->rule[a->instance.n_rules++] = a->rules;
  for (int32_t k = 0; k < 2; k++)
    if (a->flag[k][0]) a->rule[a->instance.n_rules++] = a->flag[k];
  if (access(a->fix, R_OK) == 0) a->instance.fix = a->fix;
  for (int32_t d = 0; d < p->n_devices; d++) {
    if (!p->device[d].unused) continue;
    snprintf(a->device[d], sizeof a->device[d], "d%d", (int)d);
    a->unused[a->instance.n_unused++] = a->device[d];
  }
  a->instance.unused = a->unused;
  a->problem.objective = p->objective;
  a->problem.execution = p->execution;
  a->problem.contention = p->contention;
  a->problem.overlap = p->overlap;
  a->problem.communication = p->communication;
  a->problem.free = p->free;
  a->problem.async_copies = p->async_copies;
  a->problem.schedule = p->schedule;
  a->problem.replicate = p->replicate;
  a->problem.in_flight = p->execution == SITU_EXECUTION_PIPELINE && p->micro_batches == 0 ? p->in_flight : 0;
  a->problem.micro_batches = p->micro_batches;
  a->problem.zero = p->zero;
  a->problem.copies = p->copies > 1 ? p->copies : 0;
  a->problem.max_calls = p->max_calls;
  a->problem.max_period_ns = p->max_period_ns;
  a->problem.max_latency_ns = p->max_latency_ns;
}

/* Rules that forbid and reserve, and what they make of the problem (docs/formats/rules.md): a device of which something
 * is forbidden gets a class of its own, unless it is the only one of its class. */
static void draw_rules(asked *a, attack_problem *p, uint64_t seed) {
  attack_dice dice = {.state = seed};
  int32_t v = dice_below(&dice, p->n), d = dice_below(&dice, p->n_devices), own = MAX_DEVICES - 1, equal = 0;
  bool kernels = false, reserved = p->device[d].shares < 0 && p->device[d].capacity_bytes < 1000;
  for (int32_t w = 0; w < p->n; w++) kernels = kernels || p->op[w].kernel >= 0 || p->op[w].constant;
  for (int32_t e = 0; e < p->n_devices; e++) {
    equal += p->device[e].class_index == p->device[d].class_index;
    reserved = reserved && !(p->device[e].shares >= 0 && p->device[e].is_host);
  }
  if (dice_chance(&dice, 30) && reserved) {
    int64_t bytes = 1 + dice_below(&dice, 3);
    snprintf(a->flag[0], sizeof a->flag[0], "reserve d%d=%lldB", (int)d, (long long)bytes);
    p->device[d].capacity_bytes -= bytes;
  }
  if (kernels || p->copies > 1 || p->from_class >= 0 || p->part_class >= 0 || p->device[d].class_index == own ||
      !dice_chance(&dice, 30))
    return;
  snprintf(a->flag[1], sizeof a->flag[1], "not Kind%d=d%d", (int)v, (int)d);
  for (int32_t w = 0; w < p->n; w++) {
    attack_operator *x = &p->op[w];
    int32_t k = p->device[d].class_index;
    x->time_ns[own] = x->time_ns[k];
    if (w == v) x->time_ns[equal > 1 ? own : k] = SITU_NEVER_NS;
  }
  if (equal > 1) p->device[d].class_index = own;
}

static bool all_pinned(const attack_problem *p) {
  for (int32_t v = 0; v < p->n; v++)
    if (p->op[v].pin < 0) return false;
  return true;
}

/* A changed machine is not judged by counting, since the changes are those of the library; but a machine that is only
 * better has no bound above the value, and one without a device no value below the bound. More memory may make equal
 * devices unequal, which counts where there are replicas. */
static bool verify_what_if(attack_failure *failure, const situ_instance *instance, const situ_plan *plan,
                           const situ_solve_options *solve) {
  situ_what_if_list *list;
  situ_error error;
  if (situ_what_if_find(&list, instance, plan, solve, &error))
    return failure_set(failure, "what-if-status", "%s: %s", situ_status_name(error.status), error.text);
  bool good = true;
  for (int32_t i = 0; i < situ_what_if_count(list) && good; i++) {
    situ_what_if x = situ_what_if_at(list, i);
    bool without = strncmp(x.change, "without", 7) == 0, memory = strstr(x.change, "memory");
    bool unequal = memory && problem_says(situ_instance_problem(instance)).replicate;
    if (x.value_ns != SITU_NEVER_NS && x.lower_bound_ns > x.value_ns)
      good = failure_set(failure, "what-if-bound", "%s: bound %lld above value %lld", x.change,
                         (long long)x.lower_bound_ns, (long long)x.value_ns);
    else if (without && x.value_ns < plan_says(plan).lower_bound_ns)
      good = failure_set(failure, "what-if-without", "%s: value %lld below the bound %lld with it", x.change,
                         (long long)x.value_ns, (long long)plan_says(plan).lower_bound_ns);
    else if (!without && !unequal && x.inputs == 1 && x.lower_bound_ns > plan_says(plan).value_ns)
      good = failure_set(failure, "what-if-better", "%s: bound %lld above the value %lld without it", x.change,
                         (long long)x.lower_bound_ns, (long long)plan_says(plan).value_ns);
  }
  situ_what_if_free(list);
  return good;
}

/* The goal is the optimum: some plan meets it. One less is a goal that none meets. */
static bool verify_size(attack_failure *failure, const attack_problem *p, asked *a, const situ_solve_options *solve,
                        int64_t optimum, int64_t goal_ns) {
  situ_sizing *sizing;
  situ_error error;
  char goal[64];
  situ_size_options o = SITU_SIZE_OPTIONS_INIT;
  snprintf(goal, sizeof goal, "%s<=%lldns", p->objective == SITU_OBJECTIVE_LATENCY ? "latency" : "period",
           (long long)goal_ns);
  o.goal = goal;
  o.platforms = a->platform;
  o.solve = solve;
  if (situ_size(&sizing, &a->instance, &o, &error))
    return failure_set(failure, "size-status", "%s: %s", situ_status_name(error.status), error.text);
  situ_size_row row = situ_sizing_at(sizing, 0);
  bool good = true;
  if (row.lower_bound_ns > optimum)
    good = failure_set(failure, "size-bound", "%s: bound %lld above the optimum %lld", goal,
                       (long long)row.lower_bound_ns, (long long)optimum);
  else if (row.value_ns < optimum)
    good = failure_set(failure, "size-value", "%s: value %lld below the optimum %lld", goal, (long long)row.value_ns,
                       (long long)optimum);
  else if (row.finding == SITU_SIZE_IMPOSSIBLE && optimum <= goal_ns)
    good = failure_set(failure, "size-impossible", "%s: there is a plan of %lld ns", goal, (long long)optimum);
  else if (row.finding == SITU_SIZE_MET && optimum > goal_ns)
    good = failure_set(failure, "size-met", "%s: the optimum is %lld", goal, (long long)optimum);
  situ_sizing_free(sizing);
  return good;
}

/* A plan file, read again: the judge finds what it found before. */
static bool verify_file(attack_failure *failure, const situ_plan *plan, const situ_instance *instance, const char *path,
                        int64_t optimum) {
  situ_plan *again;
  situ_instance *other;
  situ_verdict *verdict;
  situ_error error;
  if (situ_plan_write(plan, instance, path, &error))
    return failure_set(failure, "write-status", "%s: %s", situ_status_name(error.status), error.text);
  if (situ_plan_read(&again, &other, path, &error))
    return failure_set(failure, "read-status", "%s: %s", situ_status_name(error.status), error.text);
  bool good = true;
  if (situ_check(&verdict, again, &error))
    good = failure_set(failure, "file-status", "%s: %s", situ_status_name(error.status), error.text);
  else if (verdict_says(verdict).n_found > 0)
    good = failure_set(failure, "file-check", "%s: %s", situ_verdict_violation(verdict, 0).rule,
                       situ_verdict_violation(verdict, 0).text);
  else if (verdict_says(verdict).verified_ns > optimum ||
           verdict_says(verdict).verified_ns < plan_says(plan).verified_ns)
    good = failure_set(failure, "file-verified", "verified %lld, before %lld, optimum %lld",
                       (long long)verdict_says(verdict).verified_ns, (long long)plan_says(plan).verified_ns,
                       (long long)optimum);
  else if (plan_says(again).value_ns != plan_says(plan).value_ns ||
           plan_says(again).lower_bound_ns != plan_says(plan).lower_bound_ns ||
           plan_says(again).outcome != plan_says(plan).outcome)
    good = failure_set(failure, "file-claims", "value %lld, bound %lld are read as %lld, %lld",
                       (long long)plan_says(plan).value_ns, (long long)plan_says(plan).lower_bound_ns,
                       (long long)plan_says(again).value_ns, (long long)plan_says(again).lower_bound_ns);
  if (verdict) situ_verdict_free(verdict);
  situ_plan_free(again);
  situ_instance_free(other);
  return good;
}

static bool verify_placed(attack_failure *failure, const attack_facts *f, asked *a, const attack_optimum *optimum,
                          const attack_call *call) {
  situ_solve_options solve = SITU_SOLVE_OPTIONS_INIT;
  situ_plan *plan;
  situ_instance *instance;
  situ_error error;
  attack_placement at;
  solve.solvers = call->solver;
  solve.max_steps = call->steps;
  solve.seed = call->seed;
  if (situ_place(&plan, &instance, &a->instance, &solve, &error))
    return failure_set(failure, "files-status", "%s: %s", situ_status_name(error.status), error.text);
  bool good = true;
  if (plan_says(plan).outcome == SITU_OUTCOME_INFEASIBLE && optimum->value_ns != SITU_NEVER_NS)
    good = failure_set(failure, "files-infeasible", "there is a plan of %lld ns; the answer: %s",
                       (long long)optimum->value_ns, plan_says(plan).reason);
  else if (plan_says(plan).lower_bound_ns > optimum->value_ns || plan_says(plan).value_ns < optimum->value_ns)
    good = failure_set(failure, "files-value", "bound %lld, value %lld, optimum %lld",
                       (long long)plan_says(plan).lower_bound_ns, (long long)plan_says(plan).value_ns,
                       (long long)optimum->value_ns);
  else if (plan_says(plan).exists && !all_pinned(f->p))
    good = verify_plan(failure, f, plan, &at);
  if (good && plan_says(plan).exists) good = verify_file(failure, plan, instance, a->plan, optimum->value_ns);
  if (good && plan_says(plan).exists) good = verify_rows(failure, f, &a->instance, a->plan, call->seed);
  if (good && plan_says(plan).exists) good = verify_what_if(failure, instance, plan, &solve);
  situ_plan_free(plan);
  situ_instance_free(instance);
  return good;
}

bool verify_files(attack_failure *failure, const attack_problem *p, const attack_call *call) {
  attack_facts f;
  attack_posed posed;
  attack_optimum optimum;
  situ_error error;
  asked a = {.flag = {""}};
  attack_problem ruled = *p;
  const char *parent = getenv("TMPDIR");
  char folder[400];
  failure->kind = NULL;
  if (p->max_other_ns > 0 || p->n_hosts > 0) return true;
  bool posing = problem_pose(&posed, p, &error) == SITU_STATUS_OK;
  posed_free(&posed);
  if (!posing)
    return pose_may_fail(p, &error) ||
           failure_set(failure, "pose", "%s: %s", situ_status_name(error.status), error.text);
  draw_rules(&a, &ruled, call->seed);
  facts_find(&f, &ruled);
  optimum_find(&optimum, &f);
  if (!optimum.complete) return true;
  snprintf(folder, sizeof folder, "%s/situ-attack-XXXXXX", parent ? parent : "/tmp");
  if (!mkdtemp(folder) || !problem_write(p, folder, call))
    return failure_set(failure, "files-io", "cannot write into %s", folder);
  ask(&a, p, folder);
  situ_solve_options solve = SITU_SOLVE_OPTIONS_INIT;
  solve.max_steps = call->steps;
  int64_t goal = optimum.value_ns == SITU_NEVER_NS ? 10 : optimum.value_ns;
  bool good = verify_placed(failure, &f, &a, &optimum, call);
  bool sized = p->max_period_ns == 0 && p->max_latency_ns == 0;
  if (good && sized && goal > 0) good = verify_size(failure, p, &a, &solve, optimum.value_ns, goal);
  if (good && sized && goal > 1) good = verify_size(failure, p, &a, &solve, optimum.value_ns, goal - 1);
  problem_remove(folder);
  size_t length = strlen(failure->kind ? failure->text : "");
  for (int32_t k = 0; k < 2 && !good; k++)
    if (a.flag[k][0] && length + 80 < sizeof failure->text)
      length += (size_t)sprintf(failure->text + length, ", by the rule --%s", a.flag[k]);
  return good;
}
