/* Places a model on a machine and prints which device runs each operator.
 *
 *     place_model MODEL PLATFORM        place_model builtin:resnet50 'cpu+2*v100-16g' */
#include <stdio.h>

#include "situ.h"

int main(int argc, char **argv) {
  situ_instance_options options = {.model = argc > 1 ? argv[1] : "builtin:resnet50",
                                   .platform = argc > 2 ? argv[2] : SITU_DEFAULT_PLATFORM};
  situ_instance *instance = NULL;
  situ_plan *plan = NULL;
  situ_error error = {0};
  situ_status status = situ_instance_open(&instance, &options, &error);
  if (status == SITU_STATUS_OK) {
    situ_solve_options effort = {.max_steps = 200};
    status = situ_solve(&plan, situ_instance_problem(instance), &effort, &error);
  }
  if (status == SITU_STATUS_OK && situ_plan_exists(plan)) {
    const situ_graph *graph = situ_problem_graph(situ_instance_problem(instance));
    const situ_platform *platform = situ_problem_platform(situ_instance_problem(instance));
    for (int32_t v = 0; v < situ_graph_n_operators(graph); v++)
      printf("%s\t%s\n", situ_platform_device(platform, situ_plan_device(plan, v)).name,
             situ_graph_operator(graph, v).name);
    fprintf(stderr, "%lld ns, never below %lld ns, one device alone %lld ns\n", (long long)situ_plan_value_ns(plan),
            (long long)situ_plan_lower_bound_ns(plan), (long long)situ_plan_best_single_ns(plan));
  }
  if (status != SITU_STATUS_OK) fprintf(stderr, "%s %s\n", error.where, error.text);
  situ_plan_free(plan);
  situ_instance_free(instance);
  return status == SITU_STATUS_OK ? 0 : 1;
}
