/* m-TOPO: operators in topological order fill one device after another up to an even share of all memory (Jeon et al.,
 * "Baechi: fast device placement of machine learning graphs", SoCC 2020). A device's own limit bounds its share; an
 * operator that the current device cannot run goes to the first that can. Units are placed whole, and count the same
 * when tested and when charged (in the published program they do not). Hosts come after all accelerators, and only
 * these share. It runs once with the units of the problem and once with co-placed ones. */
#include "base/checked.h"
#include "base/fail.h"
#include "solve/common/repair.h"
#include "view/level.h"
#include "view/unit.h"

typedef struct filling {
  const situ_problem *problem;
  unit_list units;
  int32_t *sequence, n_sequence; /* devices in the order in which they are filled */
  int32_t n_sharing;             /* memories that share evenly */
  int32_t *device;
  int64_t *used; /* [memory] */
  int64_t share;
} filling;

static int64_t unit_bytes(const situ_graph *g, unit_members u) {
  int64_t bytes = 0;
  for (int32_t i = 0; i < u.n; i++) {
    int32_t v = u.member[i];
    bytes = sat_add(bytes, sat_add(g->weight_bytes[v], g->workspace_bytes[v]));
    for (int32_t t = g->out_start[v]; t < g->out_start[v + 1]; t++) bytes = sat_add(bytes, g->size_bytes[t]);
  }
  return bytes;
}

static bool fits(const filling *f, int32_t d, int64_t bytes, bool own_share) {
  int32_t m = f->problem->memory_of[d];
  int64_t limit = f->problem->platform->memory_bytes[m];
  if (own_share) limit = min64(limit, f->share);
  return sat_add(f->used[m], bytes) <= limit;
}

/* The device for a unit that cannot go on the current one: the first with room, else the first allowed. Pins may name a
 * device that is otherwise left empty. */
static int32_t elsewhere(const filling *f, unit_members u, int64_t bytes) {
  int32_t default_value = -1;
  for (int32_t i = 0; i < u.n; i++) {
    int32_t pin = f->problem->pin[u.member[i]];
    if (pin >= 0 && problem_allows_all(f->problem, u, pin)) return pin;
  }
  for (int32_t i = 0; i < f->n_sequence; i++) {
    int32_t d = f->sequence[i];
    if (!problem_allows_all(f->problem, u, d)) continue;
    if (fits(f, d, bytes, false)) return d;
    if (default_value < 0) default_value = d;
  }
  return default_value;
}

/* Orders accelerators, then hosts. Without accelerators the hosts share. */
static bool order_devices(filling *f, arena *a) {
  const situ_problem *p = f->problem;
  bool *counted;
  if (!ARENA_ARRAYS(a, ZEROS(counted, p->n_memories), ARRAY(f->sequence, p->n_devices))) return false;
  for (int32_t hosts = 0; hosts < 2; hosts++) {
    bool sharing = f->n_sequence == 0;
    for (int32_t d = 0; d < p->n_devices; d++) {
      if (p->unused[d] || problem_is_host(p, d) != (hosts == 1)) continue;
      f->sequence[f->n_sequence++] = d;
      f->n_sharing += sharing && !counted[p->memory_of[d]];
      counted[p->memory_of[d]] = true;
    }
  }
  return true;
}

/* The even share plus the largest unit: then no unit remains once all devices are full. */
static void find_share(filling *f) {
  int64_t sum = 0, max = 0;
  for (int32_t k = 0; k < f->units.n; k++) {
    int64_t bytes = unit_bytes(f->problem->graph, unit_list_members(&f->units, k));
    sum = sat_add(sum, bytes);
    max = max64(max, bytes);
  }
  f->share = sat_add(sum / (f->n_sharing > 0 ? f->n_sharing : 1), max);
}

static bool fill(filling *f) {
  const situ_problem *p = f->problem;
  int32_t at = 0, last = f->n_sequence - 1;
  for (int32_t m = 0; m < p->n_memories; m++) f->used[m] = 0;
  for (int32_t k = 0; k < f->units.n; k++) {
    unit_members u = unit_list_members(&f->units, k);
    int64_t bytes = unit_bytes(p->graph, u);
    bool here = last >= 0 && problem_allows_all(p, u, f->sequence[at]);
    while (here && at < last && !fits(f, f->sequence[at], bytes, true)) at++;
    here = here && problem_allows_all(p, u, f->sequence[at]);
    int32_t d = here ? f->sequence[at] : elsewhere(f, u, bytes);
    if (d < 0) return false;
    unit_members_put(u, f->device, d);
    f->used[p->memory_of[d]] = sat_add(f->used[p->memory_of[d]], bytes);
  }
  return true;
}

static situ_status m_topo_solve(solve_run *run) {
  const situ_problem *p = run->problem;
  filling f = {.problem = p,
               .units = p->units,
               .device = ARENA_NEW(run->arena, int32_t, p->n_operators),
               .used = ARENA_NEW(run->arena, int64_t, p->n_memories)};
  if (!f.device || !f.used || !order_devices(&f, run->arena)) return fail_no_memory(run->error);
  find_share(&f);
  if (fill(&f)) repair_offer(run, &(placement){.device = f.device});
  level_list coplaced;
  if (solve_done(run)) return SITU_STATUS_OK;
  if (!level_coplaced.find(&coplaced, p, &(level_request){0}, run->arena)) return fail_no_memory(run->error);
  if (coplaced.n == 0) return SITU_STATUS_OK;
  f.units = coplaced.of[0];
  find_share(&f);
  if (fill(&f)) repair_offer(run, &(placement){.device = f.device});
  return SITU_STATUS_OK;
}

const solver m_topo_solver = {
    .name = "m_topo",
    .title = "topological order, filling one device after another",
    .source = "Jeon et al. (Baechi), SoCC 2020",
    .models = MODEL_STREAM | MODEL_CALLS | MODEL_PIPELINE,
    .solve = m_topo_solve,
};
