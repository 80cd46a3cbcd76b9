/* The pipeline model: many inputs in flight, the value is the greatest load of a resource (docs/model.md, "pipeline").
 *
 * A run takes O(V + E + devices) with host-staged communication; with links, each tensor also walks the route to each
 * of its destination memories. Nothing is allocated. */
#include <string.h>

#include "base/checked.h"
#include "problem/contract.h"
#include "problem/footprint.h"
#include "sim/models.h"

typedef struct pipeline {
  const situ_problem *problem;
  constraint_graph constraints; /* of the contiguity rule; empty when placements may be free */
  int64_t *footprint_bytes;     /* [operator] workspace + inputs + outputs */
  int64_t *stash_bytes;         /* [operator] of its outputs, those that another phase uses */

  /* of a run */
  int64_t *compute_ns, *in_ns, *out_ns, *load_ns;                      /* [device] */
  int64_t *channel_ns;                                                 /* [channel] */
  int64_t *weight_bytes, *greatest_bytes, *stashed_bytes, *peak_bytes; /* [memory] */
  int32_t *seen_by_device, *seen_by_memory;                            /* the last tensor that came there */
  int32_t *first_on, *next_on;                                         /* operators of each device, as lists; -1 ends */
  int64_t *waiting; /* [device] edges of F that come in from devices not yet drawn */
  int32_t *ready;   /* [device] */
} pipeline;

static void measure_operators(pipeline *m) {
  const situ_graph *g = m->problem->graph;
  for (int32_t v = 0; v < g->n_operators; v++) {
    m->footprint_bytes[v] = footprint_bytes(g, v);
    m->stash_bytes[v] = footprint_stash_bytes(g, v);
  }
}

static void *make_pipeline(const situ_problem *p, arena *a) {
  int32_t n = p->n_operators, d = p->n_devices, w = p->n_memories;
  pipeline *m = ARENA_ZERO(a, pipeline, 1);
  if (!m) return NULL;
  m->problem = p;
  if (!(m->footprint_bytes = ARENA_NEW(a, int64_t, n)) || !(m->stash_bytes = ARENA_NEW(a, int64_t, n)) ||
      !(m->compute_ns = ARENA_NEW(a, int64_t, d)) || !(m->in_ns = ARENA_NEW(a, int64_t, d)) ||
      !(m->out_ns = ARENA_NEW(a, int64_t, d)) || !(m->load_ns = ARENA_NEW(a, int64_t, d)) ||
      !(m->channel_ns = ARENA_NEW(a, int64_t, p->platform->n_channels)) ||
      !(m->weight_bytes = ARENA_NEW(a, int64_t, w)) || !(m->greatest_bytes = ARENA_NEW(a, int64_t, w)) ||
      !(m->stashed_bytes = ARENA_NEW(a, int64_t, w)) || !(m->peak_bytes = ARENA_NEW(a, int64_t, w)) ||
      !(m->seen_by_device = ARENA_NEW(a, int32_t, d)) || !(m->seen_by_memory = ARENA_NEW(a, int32_t, w)) ||
      !(m->first_on = ARENA_NEW(a, int32_t, d)) || !(m->next_on = ARENA_NEW(a, int32_t, n)) ||
      !(m->waiting = ARENA_NEW(a, int64_t, d)) || !(m->ready = ARENA_NEW(a, int32_t, d)))
    return NULL;
  measure_operators(m);
  if (p->contiguous && !constraint_graph_find(&m->constraints, p, a)) return NULL;
  return m;
}

/* Whether F has no cycle once the operators of each device are merged: Kahn's algorithm over devices. */
static bool is_contiguous(pipeline *m, const int32_t *device) {
  const situ_problem *p = m->problem;
  const constraint_graph *f = &m->constraints;
  for (int32_t d = 0; d < p->n_devices; d++) {
    m->first_on[d] = -1;
    m->waiting[d] = 0;
  }
  for (int32_t v = p->n_operators - 1; v >= 0; v--) {
    m->next_on[v] = m->first_on[device[v]];
    m->first_on[device[v]] = v;
    for (int64_t i = f->start[v]; i < f->start[v + 1]; i++)
      m->waiting[device[f->to[i]]] += device[f->to[i]] != device[v];
  }
  int32_t n_ready = 0, n_drawn = 0;
  for (int32_t d = 0; d < p->n_devices; d++)
    if (m->waiting[d] == 0) m->ready[n_ready++] = d;
  while (n_drawn < n_ready) {
    int32_t d = m->ready[n_drawn++];
    for (int32_t v = m->first_on[d]; v >= 0; v = m->next_on[v])
      for (int64_t i = f->start[v]; i < f->start[v + 1]; i++) {
        int32_t to = device[f->to[i]];
        if (to != d && --m->waiting[to] == 0) m->ready[n_ready++] = to;
      }
  }
  return n_drawn == p->n_devices;
}

/* An accelerator pays for each tensor that enters or leaves its memory, once each. */
static void charge_accelerators(pipeline *m, const int32_t *device) {
  const situ_problem *p = m->problem;
  const situ_graph *g = p->graph;
  for (int32_t d = 0; d < p->n_devices; d++) m->seen_by_device[d] = -1;
  for (int32_t t = 0; t < g->n_tensors; t++) {
    int32_t a = device[g->producer[t]];
    bool leaves = false;
    for (int64_t i = g->use_start[t]; i < g->use_start[t + 1]; i++) {
      int32_t b = device[g->use[i]];
      if (p->memory_of[b] == p->memory_of[a] || m->seen_by_device[b] == t) continue;
      m->seen_by_device[b] = t;
      leaves = true;
      if (!problem_is_host(p, b)) m->in_ns[b] = sat_add(m->in_ns[b], problem_transfer_ns(p, t, p->host, b));
    }
    if (leaves && !problem_is_host(p, a)) m->out_ns[a] = sat_add(m->out_ns[a], problem_transfer_ns(p, t, a, p->host));
  }
}

/* The channels of a route pay for each tensor once for each destination memory. */
static void charge_links(pipeline *m, const int32_t *device) {
  const situ_problem *p = m->problem;
  const situ_graph *g = p->graph;
  const situ_platform *f = p->platform;
  for (int32_t w = 0; w < p->n_memories; w++) m->seen_by_memory[w] = -1;
  for (int32_t t = 0; t < g->n_tensors; t++) {
    int32_t from = p->memory_of[device[g->producer[t]]];
    for (int64_t i = g->use_start[t]; i < g->use_start[t + 1]; i++) {
      int32_t to = p->memory_of[device[g->use[i]]];
      if (to == from || m->seen_by_memory[to] == t) continue;
      m->seen_by_memory[to] = t;
      int64_t route = (int64_t)from * p->n_memories + to;
      for (int32_t k = f->route_start[route]; k < f->route_start[route + 1]; k++) {
        int32_t link = f->route_link[k];
        int64_t *channel_ns = &m->channel_ns[f->links[link].channel];
        *channel_ns = sat_add(*channel_ns, p->transfer_ns[(int64_t)t * p->n_kinds + p->costs->link_kind[link]]);
      }
    }
  }
}

static int64_t count_memory(pipeline *m, const int32_t *device) {
  const situ_problem *p = m->problem;
  size_t size = (size_t)p->n_memories * sizeof(int64_t);
  memset(m->weight_bytes, 0, size);
  memset(m->greatest_bytes, 0, size);
  memset(m->stashed_bytes, 0, size);
  for (int32_t v = 0; v < p->n_operators; v++) {
    int32_t w = p->memory_of[device[v]];
    m->weight_bytes[w] = sat_add(m->weight_bytes[w], p->graph->weight_bytes[v]);
    m->greatest_bytes[w] = max64(m->greatest_bytes[w], m->footprint_bytes[v]);
    m->stashed_bytes[w] = sat_add(m->stashed_bytes[w], m->stash_bytes[v]);
  }
  int64_t excess = 0;
  for (int32_t w = 0; w < p->n_memories; w++) {
    int64_t each = sat_add(m->stashed_bytes[w], m->greatest_bytes[w]), limit = p->platform->memory_bytes[w];
    m->peak_bytes[w] = sat_add(m->weight_bytes[w], sat_mul(p->in_flight, each));
    if (m->peak_bytes[w] > limit) excess = sat_add(excess, m->peak_bytes[w] - limit);
  }
  return excess;
}

/* Loads and channel loads; false when an operator sits where it cannot run. */
static bool charge(pipeline *m, const int32_t *device) {
  const situ_problem *p = m->problem;
  size_t size = (size_t)p->n_devices * sizeof(int64_t);
  memset(m->compute_ns, 0, size);
  memset(m->in_ns, 0, size);
  memset(m->out_ns, 0, size);
  memset(m->channel_ns, 0, (size_t)p->platform->n_channels * sizeof(int64_t));
  bool runs = true;
  for (int32_t v = 0; v < p->n_operators; v++) {
    int64_t time_ns = problem_time_ns(p, v, device[v]);
    runs &= time_ns != SITU_NEVER_NS;
    m->compute_ns[device[v]] = sat_add(m->compute_ns[device[v]], time_ns);
  }
  if (p->communication == SITU_COMMUNICATION_LINK)
    charge_links(m, device);
  else
    charge_accelerators(m, device);
  for (int32_t d = 0; d < p->n_devices; d++)
    m->load_ns[d] = p->overlap ? max64(m->compute_ns[d], max64(m->in_ns[d], m->out_ns[d]))
                               : sat_add(m->compute_ns[d], sat_add(m->in_ns[d], m->out_ns[d]));
  return runs;
}

static void run_pipeline(void *model, const placement *where, bool memory, simulation *out) {
  pipeline *m = model;
  const situ_problem *p = m->problem;
  bool valid = charge(m, where->device);
  out->load_ns = m->load_ns;
  out->worst_device = 0;
  for (int32_t d = 1; d < p->n_devices; d++)
    if (m->load_ns[d] > m->load_ns[out->worst_device]) out->worst_device = d;
  if (memory) {
    out->excess_bytes = count_memory(m, where->device);
    out->peak_bytes = m->peak_bytes;
  }
  if (!valid || (p->contiguous && !is_contiguous(m, where->device))) return;
  out->value_ns = m->load_ns[out->worst_device];
  for (int32_t c = 0; c < p->platform->n_channels; c++) out->value_ns = max64(out->value_ns, m->channel_ns[c]);
}

static situ_status plan_pipeline(void *model, const placement *where, situ_plan *plan, situ_error *error) {
  (void)error;
  pipeline *m = model;
  simulation found = {.value_ns = SITU_NEVER_NS, .worst_device = -1};
  run_pipeline(model, where, true, &found);
  plan->value_ns = found.value_ns;
  for (int32_t d = 0; d < m->problem->n_devices; d++) {
    plan->uses[d].load_ns = m->load_ns[d];
    plan->uses[d].memory_bytes = m->peak_bytes[m->problem->memory_of[d]];
  }
  return SITU_STATUS_OK;
}

const execution_model pipeline_model = {
    .execution = SITU_EXECUTION_PIPELINE, .make = make_pipeline, .run = run_pipeline, .plan = plan_pipeline};
