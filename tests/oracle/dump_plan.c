/* dump_plan MODEL_OR_FILE: prints the plan file that situ writes for a small plan of an execution model ("stream",
 * "calls", "pipeline"; "infeasible" has no placement, "shown" has plans that it tells of), or that it writes again
 * after reading a file; exit code 1 when the file is refused. The problem is a pair of operators: a on d0 sends 3 bytes
 * to b on d1. */
#include "../lab/lab.h"
#include "../lab/test.h"

#include "base/fail.h"
#include "base/file.h"
#include "base/json.h"

static situ_status make(situ_plan **plan, const lab *s, const char *what, situ_error *error) {
  int32_t device[] = {0, 1};
  if (file_exists(what)) {
    json_value *root;
    situ_status status = json_read(&root, what, error);
    if (status != SITU_STATUS_OK) return status;
    status = plan_from_json(plan, s->problem, root, what, error);
    json_free(root);
    return status;
  }
  if (strcmp(what, "shown") == 0) { /* with all that a plan tells of others */
    TRY(simulator_plan(plan, s->simulator, &(placement){.device = (int32_t[]){1, 1}}, error));
    situ_plan *made = *plan, **shown[] = {&made->best_found, &made->unrestricted, &made->compared};
    for (int k = 0; k < 3; k++) {
      situ_plan *other = NULL;
      TRY(simulator_plan(&other, s->simulator, &(placement){.device = device}, error));
      TRY(plan_show(made, shown[k], other, error));
    }
    made->best_found_ns = made->unrestricted_ns = made->best_found->value_ns;
    made->best_found_handovers = 1;
    made->robustness = (situ_robustness){sizeof made->robustness, .draws = 4, .uncertainty = 0.2, .beats_single = 0.5};
    return SITU_STATUS_OK;
  }
  if (strcmp(what, "infeasible") != 0) return simulator_plan(plan, s->simulator, &(placement){.device = device}, error);
  *plan = plan_new(s->problem);
  (*plan)->outcome = SITU_OUTCOME_INFEASIBLE;
  (*plan)->reason = "memory: the weights take more than all memories hold";
  return SITU_STATUS_OK;
}

int main(int argc, char **argv) {
  if (argc != 2) return 2;
  situ_problem_options options = {.size = sizeof(situ_problem_options), .execution = SITU_EXECUTION_STREAM};
  if (strcmp(argv[1], "calls") == 0) options.execution = SITU_EXECUTION_CALLS;
  if (strcmp(argv[1], "pipeline") == 0)
    options = (situ_problem_options){.size = sizeof(situ_problem_options), .objective = SITU_OBJECTIVE_THROUGHPUT};
  lab s = lab_new();
  for (int d = 0; d < 2; d++) lab_device(&s, d ? 100 : SITU_UNLIMITED_BYTES, -1, d == 0);
  lab_star(&s);
  int32_t a = lab_operator(&s, "a", 2, 0, 0), b = lab_operator(&s, "b", 1, 0, 0);
  lab_tensor(&s, a, 3, b, -1);
  lab_pose(&s, &options);
  situ_plan *plan = NULL;
  situ_error error = {0};
  situ_status status = make(&plan, &s, argv[1], &error);
  if (status == SITU_STATUS_OK) {
    json_value *root = plan_to_json(plan);
    char *text = json_print(root, 1);
    if (text) puts(text);
    free(text);
    json_free(root);
  } else {
    fprintf(stderr, "%s: %s\n", error.where, error.text);
  }
  situ_plan_free(plan);
  lab_free(&s);
  return status == SITU_STATUS_OK ? 0 : 1;
}
