/* The pipeline model: many inputs in flight, the value is the maximum load of a resource (docs/model.md, "pipeline").
 *
 * Where a step has several micro-batches, how many of them a device keeps follows from the parts after its own.
 *
 * A run takes O(V + E + devices) with host-staged communication; with links, each tensor also walks the route to each
 * of its destination memories. Nothing is allocated. */
#include <string.h>

#include "base/checked.h"
#include "sim/models.h"
#include "view/chunks.h"
#include "view/contract.h"
#include "view/footprint.h"
#include "view/replicas.h"

typedef struct pipeline {
  const situ_problem *problem;
  constraint_graph constraints; /* of the contiguity rule; empty when placements may be free */
  chunk_layout layout;          /* where devices have several chunks */
  chunk_pass *passes;           /* of one device */
  int64_t *chunk_bytes;         /* [device * chunks + j] of one input */
  int64_t *running_bytes;       /* [operator] while it runs */
  int64_t *stash_bytes;         /* [operator] of its outputs, those that another phase uses */

  /* of a run */
  int64_t *compute_ns, *in_ns, *out_ns;                   /* [phase * n_devices + device] of its part */
  int64_t *phase_ns;                                      /* likewise: load for one input */
  int64_t *load_ns;                                       /* [device] all phases */
  int64_t *channel_ns;                                    /* [phase * n_channels + channel] */
  int64_t *trained_bytes;                                 /* [device] weights of forward operators */
  int32_t *n_sharing;                                     /* [device] how many run its part, itself included */
  int32_t *next_sharing;                                  /* [device] the next of them; -1 ends */
  int64_t *weight_bytes, *max_running_bytes, *peak_bytes; /* [memory] */
  int64_t *sharded_bytes; /* [device] of weights that those who share its part hold in shares */
  int64_t *stashed_bytes; /* [device] of one input */
  int64_t *n_inputs;      /* [device] kept at once */
  int64_t *depth;         /* [device] devices on the longest path from its part to the end, its own included */
  int32_t *seen_by_device, *seen_by_memory; /* the last tensor that arrived there */
  int32_t *first_on, *next_on;              /* operators of each device, as lists; -1 ends */
  int64_t *waiting;                         /* [device] edges of F from devices that are not yet done */
  int32_t *ready;                           /* [device] */
} pipeline;

static void measure_operators(pipeline *m) {
  const situ_graph *g = m->problem->graph;
  for (int32_t v = 0; v < g->n_operators; v++) {
    m->running_bytes[v] = footprint_running_bytes(m->problem, v);
    m->stash_bytes[v] = footprint_stash_bytes(g, v);
  }
}

static void *make_pipeline(const situ_problem *p, arena *a) {
  int32_t n = p->n_operators, d = p->n_devices, w = p->n_memories;
  int64_t each = (int64_t)d * p->n_phases, channels = (int64_t)p->platform->n_channels * p->n_phases;
  pipeline *m = ARENA_ZERO(a, pipeline, 1);
  if (!m) return NULL;
  m->problem = p;
  if (!(m->running_bytes = ARENA_NEW(a, int64_t, n)) || !(m->n_inputs = ARENA_NEW(a, int64_t, d)) ||
      !(m->depth = ARENA_NEW(a, int64_t, d)) || !(m->sharded_bytes = ARENA_NEW(a, int64_t, d)) ||
      !(m->stash_bytes = ARENA_NEW(a, int64_t, n)) || !(m->compute_ns = ARENA_NEW(a, int64_t, each)) ||
      !(m->in_ns = ARENA_NEW(a, int64_t, each)) || !(m->out_ns = ARENA_NEW(a, int64_t, each)) ||
      !(m->phase_ns = ARENA_NEW(a, int64_t, each)) || !(m->load_ns = ARENA_NEW(a, int64_t, d)) ||
      !(m->channel_ns = ARENA_NEW(a, int64_t, channels)) || !(m->trained_bytes = ARENA_NEW(a, int64_t, d)) ||
      !(m->n_sharing = ARENA_NEW(a, int32_t, d)) || !(m->next_sharing = ARENA_NEW(a, int32_t, d)) ||
      !(m->weight_bytes = ARENA_NEW(a, int64_t, w)) || !(m->max_running_bytes = ARENA_NEW(a, int64_t, w)) ||
      !(m->stashed_bytes = ARENA_NEW(a, int64_t, d)) || !(m->peak_bytes = ARENA_NEW(a, int64_t, w)) ||
      !(m->seen_by_device = ARENA_NEW(a, int32_t, d)) || !(m->seen_by_memory = ARENA_NEW(a, int32_t, w)) ||
      !(m->first_on = ARENA_NEW(a, int32_t, d)) || !(m->next_on = ARENA_NEW(a, int32_t, n)) ||
      !(m->waiting = ARENA_NEW(a, int64_t, d)) || !(m->ready = ARENA_NEW(a, int32_t, d)))
    return NULL;
  measure_operators(m);
  if (p->contiguous && !constraint_graph_find(&m->constraints, p, a)) return NULL;
  int64_t n_passes = p->chunks > 0 ? chunk_passes_max(p, d, 4 * (int64_t)d) : 0;
  if (p->chunks > 0 && (!chunk_layout_find(&m->layout, p, a) || !(m->passes = ARENA_NEW(a, chunk_pass, n_passes)) ||
                        !(m->chunk_bytes = ARENA_NEW(a, int64_t, (int64_t)d * p->chunks))))
    return NULL;
  return m;
}

/* Whether F has no cycle once the operators of each device are merged: Kahn's algorithm over devices, which leaves its
 * order in `ready`. */
static bool is_contiguous(pipeline *m, const int32_t *device) {
  const situ_problem *p = m->problem;
  const constraint_graph *f = &m->constraints;
  constraint_graph_list(m->first_on, m->next_on, device, p->n_operators, p->n_devices);
  for (int32_t d = 0; d < p->n_devices; d++) m->waiting[d] = 0;
  for (int32_t v = 0; v < p->n_operators; v++)
    for (int64_t i = f->start[v]; i < f->start[v + 1]; i++)
      m->waiting[device[f->to[i]]] += device[f->to[i]] != device[v];
  int32_t n_ready = 0, n_done = 0;
  for (int32_t d = 0; d < p->n_devices; d++)
    if (m->waiting[d] == 0) m->ready[n_ready++] = d;
  while (n_done < n_ready) {
    int32_t d = m->ready[n_done++];
    for (int32_t v = m->first_on[d]; v >= 0; v = m->next_on[v])
      for (int64_t i = f->start[v]; i < f->start[v + 1]; i++) {
        int32_t to = device[f->to[i]];
        if (to != d && --m->waiting[to] == 0) m->ready[n_ready++] = to;
      }
  }
  return n_done == p->n_devices;
}

/* How many inputs each device keeps at once, if it has one part. By 1F1B a part has a start on the parts after it: one
 * input for each device on the longest path from it to the end. Those that share a part share its inputs. `ready` is an
 * order of F, or `in_order` is false: then there is no plan. */
static void count_inputs(pipeline *m, const int32_t *device, bool in_order) {
  const situ_problem *p = m->problem;
  bool by_depth = in_order && problem_keeps_by_depth(p) && p->schedule == SITU_SCHEDULE_1F1B;
  if (by_depth)
    constraint_graph_depths(m->depth, &m->constraints, device, m->ready, p->n_devices, m->first_on, m->next_on,
                            m->n_sharing);
  for (int32_t d = 0; d < p->n_devices; d++) {
    int64_t share = m->n_sharing[d], kept = by_depth ? min64(p->micro_batches, m->depth[d]) : 1;
    if (p->kept_inputs > 0) kept = p->kept_inputs;
    m->n_inputs[d] = problem_keeps_by_depth(p) ? (kept + share - 1) / share : p->in_flight;
  }
}

static void list_sharing(pipeline *m, const int32_t *replica_of) {
  for (int32_t d = 0; d < m->problem->n_devices; d++) {
    m->n_sharing[d] = 1;
    m->next_sharing[d] = -1;
  }
  for (int32_t d = m->problem->n_devices - 1; replica_of && d >= 0; d--) {
    int32_t leader = replica_of[d];
    if (leader < 0) continue;
    m->n_sharing[leader]++;
    m->next_sharing[d] = m->next_sharing[leader];
    m->next_sharing[leader] = d;
  }
}

static int64_t share(int64_t time_ns, int64_t parts) {
  return time_ns == SITU_NEVER_NS ? time_ns : time_ns / parts + (time_ns % parts > 0);
}

/* An accelerator pays for each tensor that enters or leaves its memory, once each. */
static void charge_accelerators(pipeline *m, const int32_t *device) {
  const situ_problem *p = m->problem;
  const situ_graph *g = p->graph;
  for (int32_t d = 0; d < p->n_devices; d++) m->seen_by_device[d] = -1;
  for (int32_t t = 0; t < g->n_tensors; t++) {
    int32_t a = device[g->producer[t]], row = problem_phase(p, g->producer[t]) * p->n_devices;
    bool leaves = false;
    for (int64_t i = g->use_start[t]; i < g->use_start[t + 1]; i++) {
      int32_t b = device[g->use[i]];
      if (p->memory_of[b] == p->memory_of[a] || m->seen_by_device[b] == t) continue;
      m->seen_by_device[b] = t;
      leaves = true;
      int64_t *in_ns = &m->in_ns[row + b];
      if (!problem_is_host(p, b)) *in_ns = sat_add(*in_ns, problem_transfer_ns(p, t, p->host, b));
    }
    int64_t *out_ns = &m->out_ns[row + a];
    if (leaves && !problem_is_host(p, a)) *out_ns = sat_add(*out_ns, problem_transfer_ns(p, t, a, p->host));
  }
  for (int32_t d = 0; d < p->n_devices; d++) {
    if (m->n_sharing[d] == 1) continue;
    int64_t in_ns, out_ns;
    int32_t row = (p->n_phases - 1) * p->n_devices + d;
    replicas_staged_sync(p, d, m->n_sharing[d], m->trained_bytes[d], &in_ns, &out_ns);
    m->in_ns[row] = sat_add(m->in_ns[row], in_ns);
    m->out_ns[row] = sat_add(m->out_ns[row], out_ns);
  }
}

/* Tensor t goes from one memory to another with one input out of `every`. */
static void charge_route(pipeline *m, int32_t t, int32_t from, int32_t to, int64_t every) {
  const situ_problem *p = m->problem;
  const situ_platform *f = p->platform;
  int64_t *row = m->channel_ns + (int64_t)problem_phase(p, p->graph->producer[t]) * f->n_channels;
  int64_t route = (int64_t)from * p->n_memories + to;
  for (int32_t k = f->route_start[route]; k < f->route_start[route + 1]; k++) {
    int32_t link = f->route_link[k], channel = f->links[link].channel;
    int64_t time_ns = p->transfer_ns[t][p->costs->link_kind[link]];
    row[channel] = sat_add(row[channel], share(time_ns, every));
  }
}

/* The ring by which the replicas of the part of d average their gradients, once for each round of inputs. */
static void charge_ring(pipeline *m, int32_t d) {
  const situ_problem *p = m->problem;
  const situ_platform *f = p->platform;
  int64_t *row = m->channel_ns + (int64_t)(p->n_phases - 1) * f->n_channels;
  for (int32_t a = d; a >= 0; a = m->next_sharing[a]) {
    int32_t b = m->next_sharing[a] < 0 ? d : m->next_sharing[a];
    int64_t route = (int64_t)p->memory_of[a] * p->n_memories + p->memory_of[b];
    for (int32_t k = f->route_start[route]; k < f->route_start[route + 1]; k++) {
      const situ_link *link = &p->costs->link[f->route_link[k]];
      int64_t time_ns = replicas_link_sync_ns(p, link, m->n_sharing[d], m->trained_bytes[d]);
      row[link->channel] = sat_add(row[link->channel], time_ns);
    }
  }
}

/* The channels of a route pay for each tensor once for each destination memory; between two replicas with the share of
 * inputs that both run. */
static void charge_links(pipeline *m, const int32_t *device) {
  const situ_problem *p = m->problem;
  const situ_graph *g = p->graph;
  for (int32_t w = 0; w < p->n_memories; w++) m->seen_by_memory[w] = -1;
  for (int32_t t = 0; t < g->n_tensors; t++) {
    int32_t a = device[g->producer[t]];
    for (int64_t i = g->use_start[t]; i < g->use_start[t + 1]; i++) {
      int32_t b = device[g->use[i]], to = p->memory_of[b];
      if (to == p->memory_of[a] || m->seen_by_memory[to] == t) continue;
      m->seen_by_memory[to] = t;
      int64_t every = (int64_t)m->n_sharing[a] * m->n_sharing[b];
      for (int32_t x = a; x >= 0; x = m->next_sharing[x])
        for (int32_t y = b; y >= 0; y = m->next_sharing[y]) charge_route(m, t, p->memory_of[x], p->memory_of[y], every);
    }
  }
  for (int32_t d = 0; d < p->n_devices; d++)
    if (m->n_sharing[d] > 1) charge_ring(m, d);
}

/* What each device keeps of its chunks, at the worst time, stands for the stash of one input. */
static void stash_chunks(pipeline *m, const int32_t *device) {
  const situ_problem *p = m->problem;
  const chunk_layout *l = &m->layout;
  memset(m->chunk_bytes, 0, (size_t)p->n_devices * (size_t)p->chunks * sizeof(int64_t));
  for (int32_t v = 0; v < p->n_operators; v++) {
    int32_t chunk = l->chunk[l->classes.class_of[v]], d = device[v], j = 0;
    while (chunk_of_rank(p, l->n_used, l->rank[d], j) != chunk) j++;
    int64_t *sum = &m->chunk_bytes[(int64_t)d * p->chunks + j];
    *sum = sat_add(*sum, m->stash_bytes[v]);
  }
  for (int32_t i = 0; i < l->n_used; i++) {
    int64_t n = chunk_passes(m->passes, p, l->n_used, i, chunk_inputs_seen(p, l->n_used));
    int32_t d = l->used[i];
    m->stashed_bytes[d] = chunk_kept_bytes(m->passes, n, m->chunk_bytes + (int64_t)d * p->chunks, problem_delays(p));
  }
}

static int64_t count_memory(pipeline *m, const int32_t *device, bool in_order) {
  const situ_problem *p = m->problem;
  size_t size = (size_t)p->n_memories * sizeof(int64_t);
  memset(m->weight_bytes, 0, size);
  memset(m->max_running_bytes, 0, size);
  memset(m->stashed_bytes, 0, (size_t)p->n_devices * sizeof(int64_t));
  memset(m->sharded_bytes, 0, (size_t)p->n_devices * sizeof(int64_t));
  for (int32_t v = 0; v < p->n_operators; v++) {
    int32_t d = device[v], w = p->memory_of[d];
    int64_t running = m->running_bytes[v];
    bool in_shares = m->n_sharing[d] > 1 && problem_shards(p, v);
    if (in_shares) running = sat_add(running, problem_gathered_bytes(p, v));
    int64_t *weights = in_shares ? &m->sharded_bytes[d] : &m->weight_bytes[w];
    *weights = sat_add(*weights, p->given->weight_bytes[v]);
    m->max_running_bytes[w] = max64(m->max_running_bytes[w], running);
    m->stashed_bytes[d] = sat_add(m->stashed_bytes[d], m->stash_bytes[v]);
  }
  if (p->chunks > 0 && in_order && m->layout.n_used > 1) stash_chunks(m, device);
  for (int32_t w = 0; w < p->n_memories; w++) m->peak_bytes[w] = sat_add(m->weight_bytes[w], m->max_running_bytes[w]);
  for (int32_t d = 0; d < p->n_devices; d++) {
    int64_t *peak = &m->peak_bytes[p->memory_of[d]];
    *peak = sat_add(*peak, sat_mul(m->n_inputs[d], m->stashed_bytes[d]));
    *peak = sat_add(*peak, share(m->sharded_bytes[d], m->n_sharing[d]));
  }
  for (int32_t d = 0; d < p->n_devices; d++) /* every replica holds the whole part */
    for (int32_t x = m->n_sharing[d] > 1 ? m->next_sharing[d] : -1; x >= 0; x = m->next_sharing[x])
      m->peak_bytes[p->memory_of[x]] = m->peak_bytes[p->memory_of[d]];
  return platform_excess_bytes(p->platform, m->peak_bytes);
}

/* Loads for one input, of parts and then of their replicas. */
static void share_loads(pipeline *m) {
  const situ_problem *p = m->problem;
  memset(m->load_ns, 0, (size_t)p->n_devices * sizeof(int64_t));
  for (int32_t i = 0; i < p->n_devices * p->n_phases; i++) {
    int32_t d = i % p->n_devices;
    int64_t whole = p->async_copies ? max64(m->compute_ns[i], max64(m->in_ns[i], m->out_ns[i]))
                                    : sat_add(m->compute_ns[i], sat_add(m->in_ns[i], m->out_ns[i]));
    m->phase_ns[i] = share(whole, m->n_sharing[d]);
    m->load_ns[d] = sat_add(m->load_ns[d], m->phase_ns[i]);
  }
  for (int32_t d = 0; d < p->n_devices; d++)
    for (int32_t x = m->n_sharing[d] > 1 ? m->next_sharing[d] : -1; x >= 0; x = m->next_sharing[x])
      m->load_ns[x] = m->load_ns[d];
}

/* Loads of devices and channels; false if an operator cannot run on its device. */
static bool charge(pipeline *m, const int32_t *device) {
  const situ_problem *p = m->problem;
  size_t size = (size_t)p->n_devices * sizeof(int64_t), n_phases = (size_t)p->n_phases;
  memset(m->compute_ns, 0, size * n_phases);
  memset(m->in_ns, 0, size * n_phases);
  memset(m->out_ns, 0, size * n_phases);
  memset(m->channel_ns, 0, (size_t)p->platform->n_channels * n_phases * sizeof(int64_t));
  memset(m->trained_bytes, 0, size);
  bool runs = true;
  for (int32_t v = 0; v < p->n_operators; v++) {
    int64_t time_ns = problem_time_ns(p, v, device[v]);
    int64_t *sum = &m->compute_ns[problem_phase(p, v) * p->n_devices + device[v]],
            *trained = &m->trained_bytes[device[v]];
    runs &= time_ns != SITU_NEVER_NS;
    if (p->graph->phase[v] == SITU_PHASE_UPDATE)
      time_ns = sat_mul(time_ns, replicas_updates(p, m->n_sharing[device[v]]));
    *sum = sat_add(*sum, time_ns);
    if (p->graph->phase[v] == SITU_PHASE_FORWARD) *trained = sat_add(*trained, p->given->weight_bytes[v]);
  }
  if (p->communication == SITU_COMMUNICATION_LINK)
    charge_links(m, device);
  else
    charge_accelerators(m, device);
  share_loads(m);
  return runs;
}

static void run_pipeline(void *model, const placement *where, bool memory, simulation *out) {
  pipeline *m = model;
  const situ_problem *p = m->problem;
  list_sharing(m, where->replica_of);
  bool valid = charge(m, where->device);
  bool in_order = p->chunks > 0 ? chunk_layout_take(&m->layout, where->device)
                                : !p->contiguous || ((memory || valid) && is_contiguous(m, where->device));
  out->load_ns = m->load_ns;
  out->worst_device = 0;
  for (int32_t d = 1; d < p->n_devices; d++)
    if (m->load_ns[d] > m->load_ns[out->worst_device]) out->worst_device = d;
  if (memory) {
    count_inputs(m, where->device, in_order);
    out->excess_bytes = count_memory(m, where->device, in_order);
    out->peak_bytes = m->peak_bytes;
  }
  if (!valid || !in_order) return;
  out->value_ns = 0;
  for (int32_t phase = 0; phase < p->n_phases; phase++) {
    int64_t max = 0;
    for (int32_t d = 0; d < p->n_devices; d++) max = max64(max, m->phase_ns[phase * p->n_devices + d]);
    const int64_t *channel_ns = m->channel_ns + (int64_t)phase * p->platform->n_channels;
    for (int32_t c = 0; c < p->platform->n_channels; c++) max = max64(max, channel_ns[c]);
    out->value_ns = sat_add(out->value_ns, max);
  }
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
    if (!where->replica_of || where->replica_of[d] < 0) continue;
    plan->uses[d].replica_of = where->replica_of[d];
    plan->uses[d].n_operators = plan->uses[where->replica_of[d]].n_operators;
  }
  return SITU_STATUS_OK;
}

const execution_model pipeline_model = {
    .execution = SITU_EXECUTION_PIPELINE, .make = make_pipeline, .run = run_pipeline, .plan = plan_pipeline};
