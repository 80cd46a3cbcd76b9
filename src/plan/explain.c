/* Why a plan takes as long as it does: stages, parts, the critical path and what limits. */
#include "situ/explain.h"
#include "base/compare.h"

#include <stdlib.h>

#include "base/arguments.h"
#include "base/checked.h"
#include "graph/graph.h"
#include "plan/part_list.h"
#include "plan/plan.h"
#include "plan/waited_for.h"
#include "platform/platform.h"

struct situ_explanation {
  arena *arena;
  int32_t n_operators, n_stages, n_shares;
  situ_stage *stages; /* [n_devices] */
  path_steps path;
  situ_path_share *shares; /* [n_shares] */
  part_list parts;
  const char **part_name; /* [part] */
  situ_limit limit;
};

/* ---- stages ---- */

typedef struct ranked_stage {
  situ_stage stage;
  int32_t rank; /* above that of every stage whose data it reads */
} ranked_stage;

COMPARATOR(by_rank, ranked_stage, UP(rank) UP(stage.first_operator))

/* Lifts stages above those whose data they read, once for each edge; whether any was lifted. */
static bool lift(ranked_stage *rows, const situ_plan *plan, const situ_graph *g) {
  bool lifted = false;
  for (int32_t t = 0; t < g->n_tensors; t++) {
    int32_t from = plan->device[g->producer[t]];
    for (int64_t i = g->use_start[t]; i < g->use_start[t + 1]; i++) {
      int32_t to = plan->device[g->use[i]];
      if (to == from || rows[to].rank > rows[from].rank) continue;
      rows[to].rank = rows[from].rank + 1;
      lifted = true;
    }
  }
  return lifted;
}

static bool find_stages(situ_explanation *x, const situ_plan *plan) {
  const situ_problem *p = plan->problem;
  ranked_stage *rows;
  if (!ARENA_ARRAYS(x->arena, ZEROS(rows, p->n_devices), ARRAY(x->stages, p->n_devices))) return false;
  for (int32_t v = 0; v < p->n_operators; v++) {
    situ_stage *s = &rows[plan->device[v]].stage;
    if (s->n_operators++ == 0) s->first_operator = v;
    s->last_operator = v;
  }
  int32_t rounds = p->n_devices;
  while (rounds > 0 && lift(rows, plan, p->graph)) rounds--;
  int32_t n = 0;
  for (int32_t d = 0; d < p->n_devices; d++) {
    if (rows[d].stage.n_operators == 0) continue;
    rows[d].stage.device = d;
    rows[d].stage.n_devices = plan_n_sharing(plan, d);
    rows[d].stage.load_ns = plan_use(plan, d).load_ns;
    if (rounds == 0) rows[d].rank = 0; /* data goes in a circle */
    rows[n++] = rows[d];
  }
  qsort(rows, (size_t)n, sizeof *rows, by_rank);
  for (int32_t k = 0; k < n; k++) x->stages[k] = rows[k].stage;
  x->n_stages = n;
  return true;
}

/* ---- where the time goes ---- */

COMPARATOR(by_length, situ_path_share, DOWN(time_ns) DOWN(device) UP(link))

/* Adds up the steps of the path by device and by link; what is left between them is waiting. */
static bool share_path(situ_explanation *x, const situ_plan *plan) {
  const situ_problem *p = plan->problem;
  int32_t n = p->n_devices + p->platform->n_links + 1, kept = 0;
  situ_path_share *all = ARENA_ZERO(x->arena, situ_path_share, n);
  if (!all) return false;
  for (int32_t k = 0; k < n; k++) {
    all[k].device = k < p->n_devices ? k : -1;
    all[k].link = k < p->n_devices || k == n - 1 ? -1 : k - p->n_devices;
  }
  int64_t at = 0;
  for (int32_t k = 0; k < x->path.n; k++) {
    const situ_path_step *s = &x->path.step[k];
    int32_t row = s->op >= 0 ? plan->device[s->op] : p->n_devices + plan->transfers[s->transfer].link;
    all[row].time_ns += s->finish_ns - s->start_ns;
    all[n - 1].time_ns += max64(s->start_ns - at, 0);
    at = s->finish_ns;
  }
  for (int32_t k = 0; k < n; k++)
    if (all[k].time_ns > 0) all[kept++] = all[k];
  qsort(all, (size_t)kept, sizeof *all, by_length);
  x->shares = all;
  x->n_shares = kept;
  return true;
}

/* Busy times of the channels: of the hops of a stream, of the loads of a pipeline by links (replicas left out). */
static void load_channels(int64_t *load, const situ_plan *plan, int32_t *held) {
  const situ_problem *p = plan->problem;
  const situ_platform *f = p->platform;
  const situ_graph *g = p->graph;
  for (int32_t i = 0; i < plan->n_transfers; i++) {
    const situ_transfer *hop = &plan->transfers[i];
    load[f->links[hop->link].channel] += hop->finish_ns - hop->start_ns;
  }
  if (p->execution != SITU_EXECUTION_PIPELINE || p->communication != SITU_COMMUNICATION_LINK) return;
  for (int32_t t = 0; t < g->n_tensors; t++) {
    int32_t from = p->memory_of[plan->device[g->producer[t]]];
    for (int64_t i = g->use_start[t]; i < g->use_start[t + 1]; i++) {
      int32_t to = p->memory_of[plan->device[g->use[i]]];
      if (to == from || held[to] == t + 1) continue;
      held[to] = t + 1;
      int64_t way = (int64_t)from * f->n_memories + to;
      for (int32_t h = f->route_start[way]; h < f->route_start[way + 1]; h++) {
        int32_t link = f->route_link[h];
        load[f->links[link].channel] += p->transfer_ns[t][p->costs->link_kind[link]];
      }
    }
  }
}

/* A device whose load is NEARLY_ALL of a latency limits it, or a link whose load is HALF of it. */
static const double NEARLY_ALL = 0.95, HALF = 0.5;

static bool find_limit(situ_explanation *x, const situ_plan *plan, arena *scratch) {
  const situ_problem *p = plan->problem;
  int32_t device = 0, channel = -1, n_channels = p->platform->n_channels;
  int64_t *load = ARENA_ZERO(scratch, int64_t, n_channels);
  int32_t *held = ARENA_ZERO(scratch, int32_t, p->n_memories);
  if (!load || !held) return false;
  load_channels(load, plan, held);
  for (int32_t d = 1; d < p->n_devices; d++)
    if (plan_use(plan, d).load_ns > plan_use(plan, device).load_ns) device = d;
  for (int32_t c = 0; c < n_channels; c++)
    if (load[c] > 0 && (channel < 0 || load[c] > load[channel])) channel = c;
  double value = (double)max64(plan->value_ns, 1), works = (double)plan_use(plan, device).load_ns / value;
  double carries = channel >= 0 ? (double)load[channel] / value : 0;
  bool period = p->objective == SITU_OBJECTIVE_THROUGHPUT;
  int32_t link = -1;
  for (int32_t l = 0; l < p->platform->n_links && link < 0; l++)
    if (p->platform->links[l].channel == channel) link = l;
  x->limit = (situ_limit){SITU_LIMIT_CHAIN, -1, works};
  if (works >= carries && (period || works >= NEARLY_ALL))
    x->limit = (situ_limit){SITU_LIMIT_DEVICE, device, works};
  else if (carries > works && (period || carries >= HALF))
    x->limit = (situ_limit){SITU_LIMIT_LINK, link, carries};
  return true;
}

/* ---- the face ---- */

static bool fill(situ_explanation *x, const situ_plan *plan, arena *scratch) {
  const situ_problem *p = plan->problem;
  return find_stages(x, plan) && path_find(&x->path, plan, x->arena, scratch) && share_path(x, plan) &&
         find_limit(x, plan, scratch) && part_list_find(&x->parts, p, plan->device, plan->start_ns, x->arena) &&
         part_list_name(&x->part_name, &x->parts, p, x->arena);
}

situ_status situ_explain(situ_explanation **out, const situ_plan *plan, situ_error *error) {
  if (out) *out = NULL;
  TRY(GIVEN(error, out, plan));
  if (!plan->device || plan_check_shape(plan))
    return fail_with(error, SITU_STATUS_BAD_ARGUMENT, NULL, "the plan has no placement to explain");
  situ_explanation *x = NOUN_NEW(situ_explanation, NULL);
  arena *scratch = arena_new();
  if (x) x->n_operators = plan->n_operators;
  bool made = x && scratch && fill(x, plan, scratch);
  arena_free(scratch);
  if (made) {
    *out = x;
    return SITU_STATUS_OK;
  }
  situ_explanation_free(x);
  return fail_no_memory(error);
}

void situ_explanation_free(situ_explanation *x) {
  if (x) arena_free(x->arena);
}

situ_part situ_explanation_part(const situ_explanation *x, int32_t k) {
  return x && k >= 0 && k < x->parts.n ? x->parts.part[k] : (situ_part){.device = -1};
}

int32_t situ_explanation_part_of(const situ_explanation *x, int32_t op) {
  return x && op >= 0 && op < x->n_operators ? x->parts.of[op] : -1;
}

const char *situ_explanation_part_name(const situ_explanation *x, int32_t k) {
  return x && k >= 0 && k < x->parts.n ? x->part_name[k] : "";
}

const char *situ_limit_name(situ_limit_kind kind) {
  static const char *const names[] = {"chain", "device", "link"};
  return (unsigned)kind < sizeof names / sizeof names[0] ? names[kind] : "unknown";
}

situ_path_share situ_explanation_share(const situ_explanation *x, int32_t k) {
  return x && k >= 0 && k < x->n_shares ? x->shares[k] : (situ_path_share){.device = -1, .link = -1};
}

situ_stage situ_explanation_stage(const situ_explanation *x, int32_t k) {
  return x && k >= 0 && k < x->n_stages ? x->stages[k] : (situ_stage){.device = -1};
}

situ_path_step situ_explanation_step(const situ_explanation *x, int32_t k) {
  return x && k >= 0 && k < x->path.n ? x->path.step[k] : (situ_path_step){.op = -1, .transfer = -1};
}

bool situ_explanation_get_summary(const situ_explanation *x, situ_explanation_summary *out) {
  if (!x) return false;
  situ_explanation_summary summary = {.n_parts = x->parts.n,
                                      .n_shares = x->n_shares,
                                      .n_stages = x->n_stages,
                                      .n_steps = x->path.n,
                                      .transfer_bytes = x->parts.handed_bytes,
                                      .limit = x->limit};
  return GIVE(out, summary);
}
