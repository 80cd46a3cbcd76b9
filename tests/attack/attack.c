/* attack - random problems of the whole model against the library, checked by counting all plans.
 *
 *     attack [--problems N] [--seed S] [--only N] [--folder DIR] [--tool SITU] [--quiet] [--known] [--equal]
 *
 * Problem i is the same for each seed S + i. Each is solved by `auto` and by one named solver in turn; some also with a
 * choice among near-equal plans, as a front, as files, by laws. A failure is made smaller and written to
 * DIR/<kind>-<number>, with the call of the command line that asks the same. Ends with a line of counts; the exit code
 * is 1 if anything failed. With --tool some are also asked on the command line. --known tries also what is known to
 * fail (attack_known.h); --equal draws only problems about equal devices. Below 100 percent
 * SITU_TEST_SHARE takes half of that share of the problems. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "attack_known.h"
#include "attack_trial.h"

enum { MAX_REPORTS = 20 };

typedef struct attack_run {
  int64_t problems, seed;
  int64_t only; /* one problem, or -1 */
  const char *folder, *tool;
  char tool_path[PATH_MAX]; /* of tool */
  bool quiet, known_too, equal;
  /* counts */
  int64_t n[SITU_EXECUTION_PIPELINE + 1], feasible, uncounted, trials, known, failures, plans;
  double counting_s, start_s;
} attack_run;

static double now_s(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void report(attack_run *run, int64_t number, const attack_problem *p, const attack_trial *trial,
                   attack_failure *failure) {
  char folder[512];
  if (run->failures++ >= MAX_REPORTS) return;
  attack_problem smallest = *p;
  trial_shrink(&smallest, failure, trial);
  printf("FAILED %lld, %s, solver %s: %s: %s\n", (long long)number,
         trial->kind == TRIAL_LAW        ? law_name(trial->law)
         : trial->kind == TRIAL_FILES    ? "files"
         : trial->kind == TRIAL_TOOL     ? "tool"
         : trial->kind == TRIAL_SIMULATE ? "simulate"
         : trial->call.pareto            ? "front"
                                         : "solve",
         trial->call.solver, failure->kind, failure->text);
  problem_print(stdout, &smallest);
  if (run->folder) {
    snprintf(folder, sizeof folder, "%s/%s-%lld", run->folder, failure->kind, (long long)number);
    if ((mkdir(run->folder, 0777) != 0 && errno != EEXIST) || (mkdir(folder, 0777) != 0 && errno != EEXIST) ||
        !problem_write(&smallest, folder, &trial->call))
      printf("cannot write into %s\n", folder);
    else
      printf("written to %s\n", folder);
  }
  fflush(stdout);
}

/* One trial that poses and counts for itself. */
static void attempt(attack_run *run, int64_t number, const attack_problem *p, const attack_trial *trial) {
  attack_failure failure;
  if (!run->known_too && attack_is_known(p, trial)) {
    run->known++;
    return;
  }
  run->trials++;
  if (!trial_run(&failure, p, trial)) report(run, number, p, trial, &failure);
}

/* The named solver whose turn it is among those that can serve. */
static const char *solver_in_turn(const attack_posed *posed, int64_t number) {
  int32_t n = situ_solver_count();
  for (int32_t k = 0; k < n; k++) {
    situ_solver_info info = SITU_SOLVER_INFO_INIT;
    if (situ_solver_at((int32_t)((number + k) % n), &info) && situ_solver_serves(info.name, posed->problem))
      return info.name;
  }
  return "auto";
}

static void attack_solvers(attack_run *run, int64_t number, const attack_problem *p) {
  attack_posed posed;
  attack_facts f;
  attack_optimum optimum;
  attack_failure failure = {.kind = NULL};
  situ_error error;
  attack_trial first = {.call = {.solver = "auto", .steps = number % 50 ? 40 : 1000, .seed = (uint64_t)number}};
  if (problem_pose(&posed, p, &error)) {
    failure_set(&failure, "pose", "%s: %s", situ_status_name(error.status), error.text);
    if (!pose_may_fail(p, &error)) report(run, number, p, &first, &failure);
    posed_free(&posed);
    return;
  }
  double start = now_s();
  facts_find(&f, p);
  optimum_find(&optimum, &f);
  run->counting_s += now_s() - start;
  run->plans += optimum.n_plans;
  run->feasible += optimum.value_ns != SITU_NEVER_NS;
  run->uncounted += !optimum.complete;
  attack_trial second = first;
  second.call.solver = solver_in_turn(&posed, number);
  second.call.steps = number % 7 ? 60 : 2000;
  second.call.no_bounds = number % 3 == 0;
  second.call.start = number % 5 == 0;
  second.call.threads = number % 11 == 0 ? 3 : 1;
  first.call.threads = number % 23 == 0 ? 2 : 1;
  first.call.start = number % 13 == 0;
  const attack_trial *const trials[] = {&first, &second};
  for (int32_t k = 0; k < 2 && optimum.complete; k++) {
    if (!run->known_too && attack_is_known(p, trials[k])) {
      run->known++;
      continue;
    }
    run->trials++;
    if (!verify_conflict(&failure, &posed, &optimum) || !verify_posed(&failure, &f, &posed, &optimum, &trials[k]->call))
      report(run, number, p, trials[k], &failure);
  }
  posed_free(&posed);
}

static void attack_one(attack_run *run, int64_t number) {
  attack_problem p;
  attack_dice dice = {.state = (uint64_t)number};
  if (run->equal || number % 16 == 15)
    problem_draw_equal(&p, (uint64_t)(run->equal ? number : number / 16));
  else
    problem_draw(&p, (uint64_t)number);
  run->n[p.execution]++;
  attack_solvers(run, number, &p);
  attack_trial trial = {.call = {.solver = "auto", .steps = 40, .seed = (uint64_t)number}};
  bool latency = p.execution == SITU_EXECUTION_STREAM && p.objective == SITU_OBJECTIVE_LATENCY &&
                 p.max_period_ns == 0 && p.max_other_ns == 0;
  if (latency && dice_chance(&dice, 20)) {
    attack_trial choice = trial;
    choice.call.tolerance = dice_below(&dice, 3) * 0.1;
    choice.call.min_gain = dice_below(&dice, 3) * 0.1;
    if (dice_chance(&dice, 30)) choice.call.uncertainty = 0.2;
    choice.call.robust = choice.call.uncertainty > 0 && dice_chance(&dice, 50);
    if (dice_chance(&dice, 20)) choice.call.max_parts = 1 + dice_below(&dice, 3);
    if (dice_chance(&dice, 20)) choice.call.min_part = 1 + dice_below(&dice, 2);
    attempt(run, number, &p, &choice);
  }
  if (p.execution == SITU_EXECUTION_STREAM && p.max_other_ns == 0 && dice_chance(&dice, 10)) {
    attack_trial front = trial;
    front.call.pareto = true;
    attempt(run, number, &p, &front);
  }
  if (dice_chance(&dice, 50)) {
    attack_trial simulate = trial;
    simulate.kind = TRIAL_SIMULATE;
    simulate.call.steps = 6;
    attempt(run, number, &p, &simulate);
  }
  if (dice_chance(&dice, run->equal ? 20 : 2)) {
    trial.kind = TRIAL_FILES;
    attempt(run, number, &p, &trial);
  }
  if (run->tool && dice_below(&dice, 150) == 0) {
    trial.kind = TRIAL_TOOL;
    trial.call.tool = run->tool;
    attempt(run, number, &p, &trial);
  }
  if (!dice_chance(&dice, 30)) return;
  trial.kind = TRIAL_LAW;
  trial.law = dice_below(&dice, laws_count());
  if (dice_chance(&dice, 50)) problem_draw_large(&p, (uint64_t)number);
  attempt(run, number, &p, &trial);
}

static void print_counts(const attack_run *run, int64_t done) {
  double seconds = now_s() - run->start_s;
  printf(
      "%lld problems (stream %lld, calls %lld, pipeline %lld; %lld with a plan, %lld with too many to count), %lld "
      "trials, %lld left out for known "
      "defects, %lld plans counted, %.1f s (%.1f s counting), %.0f problems/s, %lld failures\n",
      (long long)done, (long long)run->n[SITU_EXECUTION_STREAM], (long long)run->n[SITU_EXECUTION_CALLS],
      (long long)run->n[SITU_EXECUTION_PIPELINE], (long long)run->feasible, (long long)run->uncounted,
      (long long)run->trials, (long long)run->known, (long long)run->plans, seconds, run->counting_s,
      (double)done / seconds, (long long)run->failures);
  fflush(stdout);
}

static bool take_argument(attack_run *run, const char *name, const char *value) {
  if (strcmp(name, "--problems") == 0)
    run->problems = strtoll(value, NULL, 10);
  else if (strcmp(name, "--seed") == 0)
    run->seed = strtoll(value, NULL, 10);
  else if (strcmp(name, "--only") == 0)
    run->only = strtoll(value, NULL, 10);
  else if (strcmp(name, "--folder") == 0)
    run->folder = value;
  else if (strcmp(name, "--tool") == 0)
    run->tool = realpath(value, run->tool_path);
  else
    return false;
  return true;
}

int main(int argc, char **argv) {
  attack_run run = {.problems = 1000, .only = -1, .start_s = now_s()};
  for (int i = 1; i < argc; i++) {
    if (strcmp(argv[i], "--quiet") == 0) {
      run.quiet = true;
    } else if (strcmp(argv[i], "--known") == 0) {
      run.known_too = true;
    } else if (strcmp(argv[i], "--equal") == 0) {
      run.equal = true;
    } else if (i + 1 == argc || !take_argument(&run, argv[i], argv[i + 1])) {
      fprintf(stderr,
              "usage: attack [--problems N] [--seed S] [--only N] [--folder DIR] [--tool SITU] [--quiet] [--known] "
              "[--equal]\n");
      return 2;
    } else {
      i++;
    }
  }
  const char *share = getenv("SITU_TEST_SHARE");
  int64_t percent = share ? strtoll(share, NULL, 10) : 100;
  if (percent > 0 && percent < 100) run.problems = (run.problems * percent + 199) / 200;
  if (run.only >= 0) {
    run.seed = run.only;
    run.problems = 1;
  }
  double printed_s = run.start_s;
  for (int64_t i = 0; i < run.problems; i++) {
    attack_one(&run, run.seed + i);
    if (run.quiet || now_s() - printed_s < 30) continue;
    printed_s = now_s();
    print_counts(&run, i + 1);
  }
  print_counts(&run, run.problems);
  return run.failures > 0;
}
