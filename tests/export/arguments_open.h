/* What the tests of arguments are asked about: a small problem with its plan and all nouns. */
#ifndef SITU_TESTS_ARGUMENTS_OPEN_H
#define SITU_TESTS_ARGUMENTS_OPEN_H

#include "../lab/test.h"
#include "careless.h"
#include "situ.h"

static situ_instance *instance;
static const situ_problem *problem;
static const situ_graph *graph;
static const situ_platform *platform;
static const situ_costs *costs;
static const situ_model *model;
static situ_plan *plan;
static situ_verdict *verdict;

static inline int open_all(void **state) {
  (void)state;
  situ_instance_options options = SITU_INSTANCE_OPTIONS_INIT;
  situ_solve_options effort = SITU_SOLVE_OPTIONS_INIT;
  options.model = "builtin:rnnlm?layers=2&steps=3";
  options.platform = "cpu+2*v100-16g";
  effort.max_steps = 50;
  effort.seed = 7;
  DONE(situ_place(&plan, &instance, &options, &effort, error));
  problem = situ_instance_problem(instance);
  model = situ_instance_model(instance);
  graph = situ_problem_graph(problem);
  platform = situ_problem_platform(problem);
  costs = situ_problem_costs(problem);
  DONE(situ_check(&verdict, plan, error));
  return 0;
}

static inline int close_all(void **state) {
  (void)state;
  situ_verdict_free(verdict);
  situ_plan_free(plan);
  situ_instance_free(instance);
  return 0;
}

/* The tests of test_arguments_solve.c; the number of those that fail. */
int arguments_solve_tests(void);

#endif
