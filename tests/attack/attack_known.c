#include "attack_known.h"

static bool has_conflict(const attack_problem *p) {
  attack_posed posed;
  bool found = problem_pose(&posed, p, NULL) == SITU_STATUS_OK && situ_problem_conflict(posed.problem);
  posed_free(&posed);
  return found;
}

/* Whether some operator takes no time by one of the costs, but some by the other. */
static bool has_instants(const attack_problem *p) {
  for (int32_t v = 0; v < p->n; v++)
    for (int32_t k = 0; k < MAX_DEVICES; k++)
      if ((p->op[v].time_ns[k] == 0) != (p->op[v].other_ns[k] == 0)) return true;
  return false;
}

bool attack_is_known(const attack_problem *p, const attack_trial *trial) {
  /* pareto poses its problems by hand, and drops overlap and conflicts: pareto_overlap and pareto_conflict. */
  if (trial->call.pareto && (p->overlap != SITU_OVERLAP_FULL || has_conflict(p))) return true;
  /* The judge refuses certificates of area prices whose numbers are near the limits of problems. */
  if (p->huge) return true;
  /* A limit by other costs is bounded with a memory that depends on their times. */
  for (int32_t d = 0; d < p->n_devices && p->max_other_ns > 0; d++)
    if (p->device[d].capacity_bytes != SITU_UNLIMITED_BYTES && has_instants(p)) return true;
  /* explain made a class of its own of a faster device, which links of the cost table did not know. */
  if (trial->kind == TRIAL_FILES && p->from_class >= 0) return true;
  /* explain asks for plans without a device that pins name: pin_on_unused. */
  for (int32_t v = 0; v < p->n && trial->kind == TRIAL_FILES; v++)
    if (p->op[v].pin >= 0) return true;
  /* Solvers and bounds take devices of a shared capacity for unequal: replicate_shared_capacity_false_proof. */
  for (int32_t d = 0; d < p->n_devices && p->replicate; d++)
    if (p->device[d].apart) return true;
  return false;
}
