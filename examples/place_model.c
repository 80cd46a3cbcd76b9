/* The shortest use: a model and a machine by name, and which device runs each operator.
 *
 *     place_model MODEL PLATFORM        place_model builtin:resnet50 'cpu+2*v100-16g' */
#include <situ.h>
#include <stdio.h>

int main(int argc, char **argv) {
  situ_instance_options options = SITU_INSTANCE_OPTIONS_INIT;
  situ_solve_options effort = SITU_SOLVE_OPTIONS_INIT;
  situ_instance *instance = NULL;
  situ_plan *plan = NULL;
  situ_error error;
  options.model = argc > 1 ? argv[1] : "builtin:resnet50";
  options.platform = argc > 2 ? argv[2] : SITU_DEFAULT_PLATFORM;
  effort.max_steps = 200; /* repeatable: no clock is looked at */

  situ_status status = situ_place(&plan, &instance, &options, &effort, &error);
  if (status != SITU_STATUS_OK) {
    fprintf(stderr, "%s %s\n", error.where, error.text);
    return 1;
  }
  const situ_problem *problem = situ_plan_problem(plan);
  const situ_graph *graph = situ_problem_graph(problem);
  const situ_platform *platform = situ_problem_platform(problem);
  situ_plan_summary found = SITU_PLAN_SUMMARY_INIT;
  situ_plan_get_summary(plan, &found);
  for (int32_t v = 0; found.exists && v < found.n_operators; v++)
    printf("%s\t%s\n", situ_platform_device_name(platform, situ_plan_device(plan, v)),
           situ_graph_operator_name(graph, v));
  fprintf(stderr, "%lld ns, never below %lld ns, one device alone %lld ns\n", (long long)found.value_ns,
          (long long)found.lower_bound_ns, (long long)found.best_single_ns);
  situ_plan_free(plan);
  situ_instance_free(instance);
  return 0;
}
