/* The greedy split of the published evaluation of latency: classes of operators, in the published order, fill one
 * accelerator after another up to its memory. What fits on none, or comes after the last is full, stays on the host
 * (Tarnawski et al., NeurIPS 2020). Time and transfers are ignored. Classes are colocation groups, fused where they
 * reach each other: filling by operators would cut a group in two and its calls into many. A class that the current
 * accelerator cannot run goes to the host without closing it, unless the number of calls is limited. Then each
 * accelerator has an interval of the order, which is one call. */
#include "base/checked.h"
#include "base/fail.h"
#include "solve/common/solver.h"
#include "solve/pipeline/orders.h"
#include "view/contract.h"
#include "view/unit.h"

/* The device for a class off the accelerators: the first host that may run it, else the first device. */
static int32_t fallback(const situ_problem *p, unit_members u) {
  int32_t any = -1;
  for (int32_t d = p->n_devices - 1; d >= 0; d--)
    if (problem_allows_all(p, u, d) && (any < 0 || problem_is_host(p, d) || !problem_is_host(p, any))) any = d;
  return any;
}

static int32_t next_accelerator(const situ_problem *p, int32_t d) {
  do d++;
  while (d < p->n_devices && (problem_is_host(p, d) || p->unused[d]));
  return d;
}

/* Device of each operator; false where a class may go nowhere. */
static bool fill(const situ_problem *p, const contraction *c, const int32_t *order, int32_t *device) {
  int32_t current = next_accelerator(p, -1);
  int64_t used = 0;
  bool begun = false; /* the current accelerator has an operator */
  for (int32_t k = 0; k < c->n_classes; k++) {
    unit_members u = contraction_members(c, order[k]);
    int64_t bytes = 0;
    for (int32_t i = 0; i < u.n; i++) bytes = sat_add(bytes, p->graph->weight_bytes[u.member[i]]);
    bool allowed = current < p->n_devices && problem_allows_all(p, u, current);
    bool full = allowed && sat_add(used, bytes) > p->platform->memory_bytes[p->memory_of[current]];
    if (begun && (full || (!allowed && p->max_calls < INT32_MAX))) {
      current = next_accelerator(p, current);
      used = 0;
      begun = false;
      allowed = current < p->n_devices && problem_allows_all(p, u, current);
      full = allowed && bytes > p->platform->memory_bytes[p->memory_of[current]];
    }
    int32_t d = allowed && !full ? current : fallback(p, u);
    if (d < 0) return false;
    if (d == current) {
      used = sat_add(used, bytes);
      begun = true;
    }
    unit_members_put(u, device, d);
  }
  return true;
}

static situ_status greedy_solve(solve_run *run) {
  const situ_problem *p = run->problem;
  contraction classes;
  int32_t *order, *device;
  if (!contract(&classes, p, true, run->arena) ||
      !ARENA_ARRAYS(run->arena, ARRAY(order, classes.n_classes), ARRAY(device, p->n_operators)) ||
      !order_published(order, &classes, p->graph, run->arena))
    return fail_no_memory(run->error);
  if (fill(p, &classes, order, device)) solve_offer(run, &(placement){.device = device});
  return SITU_STATUS_OK;
}

const solver greedy_solver = {
    .name = "greedy",
    .title = "fills one accelerator after another",
    .source = "Tarnawski et al., NeurIPS 2020",
    .models = MODEL_CALLS,
    .solve = greedy_solve,
};
