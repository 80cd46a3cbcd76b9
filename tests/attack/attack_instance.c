/* The same questions through files: what `situ place`, `situ explain` and `situ size` do. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "attack_trial.h"

static const char *const names[] = {"graph.json", "platform.json", "costs.json", "other_costs.json",
                                    "rules.json", "fix.json",      "cmd.txt",    "problem.txt"};

static void remove_folder(const char *folder) {
  for (size_t k = 0; k < sizeof names / sizeof names[0]; k++) {
    char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, names[k]);
    unlink(path);
  }
  rmdir(folder);
}

typedef struct asked {
  char model[512], platform[512], table[512], rules[512], fix[512];
  const char *rule, *unused[MAX_DEVICES];
  char device[MAX_DEVICES][16];
  situ_instance_options instance;
  situ_problem_options problem;
  situ_cost_options cost;
} asked;

static void ask(asked *a, const attack_problem *p, const char *folder) {
  const char *const file[] = {"graph.json", "platform.json", "costs.json", "rules.json", "fix.json"};
  char *const to[] = {a->model, a->platform, a->table, a->rules, a->fix};
  for (int32_t k = 0; k < 5; k++) snprintf(to[k], sizeof a->model, "%s/%s", folder, file[k]);
  a->instance = (situ_instance_options)SITU_INSTANCE_OPTIONS_INIT;
  a->problem = (situ_problem_options)SITU_PROBLEM_OPTIONS_INIT;
  a->cost = (situ_cost_options)SITU_COST_OPTIONS_INIT;
  a->rule = a->rules;
  a->cost.table_path = a->table;
  a->cost.fusion = problem_fusion(p);
  a->instance.model = a->model;
  a->instance.platform = a->platform;
  a->instance.cost = &a->cost;
  a->instance.problem = &a->problem;
  a->instance.granularity = SITU_GRANULARITY_OPERATOR;
  if (access(a->rules, R_OK) == 0) {
    a->instance.rules = &a->rule;
    a->instance.n_rules = 1;
  }
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
  a->problem.in_flight = p->execution == SITU_EXECUTION_PIPELINE ? p->in_flight : 0;
  a->problem.copies = p->copies > 1 ? p->copies : 0;
  a->problem.max_calls = p->max_calls;
  a->problem.max_period_ns = p->max_period_ns;
  a->problem.max_latency_ns = p->max_latency_ns;
}

static bool all_pinned(const attack_problem *p) {
  for (int32_t v = 0; v < p->n; v++)
    if (p->op[v].pin < 0) return false;
  return true;
}

/* A changed machine is not judged by counting, since the changes are those of the library; but a machine that is only
 * better has no bound above the value, and an outcome is what its numbers say. */
static bool verify_what_if(attack_failure *failure, const situ_instance *instance, const situ_plan *plan,
                           const situ_solve_options *solve) {
  situ_what_if_list *list;
  situ_error error;
  if (situ_what_if_find(&list, instance, plan, solve, &error))
    return failure_set(failure, "what-if-status", "%s: %s", situ_status_name(error.status), error.text);
  bool good = true;
  for (int32_t i = 0; i < situ_what_if_count(list) && good; i++) {
    situ_what_if x = situ_what_if_at(list, i);
    bool without = strncmp(x.change, "without", 7) == 0;
    if (x.value_ns != SITU_NEVER_NS && x.lower_bound_ns > x.value_ns)
      good = failure_set(failure, "what-if-bound", "%s: bound %lld above value %lld", x.change,
                         (long long)x.lower_bound_ns, (long long)x.value_ns);
    else if (without && x.value_ns < situ_plan_lower_bound_ns(plan))
      good = failure_set(failure, "what-if-without", "%s: value %lld below the bound %lld with it", x.change,
                         (long long)x.value_ns, (long long)situ_plan_lower_bound_ns(plan));
    else if (!without && x.inputs == 1 && x.lower_bound_ns > situ_plan_value_ns(plan))
      good = failure_set(failure, "what-if-better", "%s: bound %lld above the value %lld without it", x.change,
                         (long long)x.lower_bound_ns, (long long)situ_plan_value_ns(plan));
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
  if (situ_plan_outcome(plan) == SITU_OUTCOME_INFEASIBLE && optimum->value_ns != SITU_NEVER_NS)
    good = failure_set(failure, "files-infeasible", "there is a plan of %lld ns; told: %s",
                       (long long)optimum->value_ns, situ_plan_reason(plan));
  else if (situ_plan_lower_bound_ns(plan) > optimum->value_ns || situ_plan_value_ns(plan) < optimum->value_ns)
    good = failure_set(failure, "files-value", "bound %lld, value %lld, optimum %lld",
                       (long long)situ_plan_lower_bound_ns(plan), (long long)situ_plan_value_ns(plan),
                       (long long)optimum->value_ns);
  else if (situ_plan_exists(plan) && !all_pinned(f->p))
    good = verify_plan(failure, f, plan, &at);
  if (good && situ_plan_exists(plan)) good = verify_what_if(failure, instance, plan, &solve);
  situ_plan_free(plan);
  situ_instance_free(instance);
  return good;
}

bool verify_files(attack_failure *failure, const attack_problem *p, const attack_call *call) {
  attack_facts f;
  attack_posed posed;
  attack_optimum optimum;
  situ_error error;
  asked a = {.rule = NULL};
  const char *parent = getenv("TMPDIR");
  char folder[400];
  failure->kind = NULL;
  if (p->max_other_ns > 0 || p->n_hosts > 0) return true;
  bool posing = problem_pose(&posed, p, &error) == SITU_STATUS_OK;
  posed_free(&posed);
  if (!posing) return failure_set(failure, "pose", "%s: %s", situ_status_name(error.status), error.text);
  facts_find(&f, p);
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
  remove_folder(folder);
  return good;
}
