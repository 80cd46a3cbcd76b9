/* The judge of pipelines: loads, contiguity and memory. */
#include "base/checked.h"
#include "base/fail.h"
#include "plan/check.h"

/* What each device and channel has to do for one input. */
typedef struct loads {
  int64_t *compute_ns, *in_ns, *out_ns, *load_ns; /* [device] */
  int64_t *channel_ns;
} loads;

static int64_t transfer_time(const judge *j, int32_t t, int32_t from_device, int32_t to_device) {
  const situ_costs *c = j->problem->costs;
  int32_t from = j->platform->memory_of[from_device], to = j->platform->memory_of[to_device];
  return c->transfer_ns[(int64_t)t * c->n_kinds + c->pair_kind[from * c->n_memories + to]];
}

/* Tensor t is sent to device d for the first time; `out` when it leaves its own memory for the first time. */
static void charge_staged(judge *j, loads *l, int32_t t, int32_t d, bool out) {
  int32_t from = j->plan->device[j->graph->producer[t]], host = j->problem->host;
  if (!j->platform->devices[d].is_host) l->in_ns[d] = sat_add(l->in_ns[d], transfer_time(j, t, host, d));
  if (out && !j->platform->devices[from].is_host)
    l->out_ns[from] = sat_add(l->out_ns[from], transfer_time(j, t, from, host));
}

static void charge_route(judge *j, loads *l, int32_t t, int32_t to) {
  const situ_platform *q = j->platform;
  const situ_costs *c = j->problem->costs;
  int32_t from = q->memory_of[j->plan->device[j->graph->producer[t]]];
  const int32_t *route = &q->route_start[(int64_t)from * q->n_memories + to];
  for (int32_t hop = route[0]; hop < route[1]; hop++) {
    int32_t link = q->route_link[hop], channel = q->links[link].channel;
    l->channel_ns[channel] =
        sat_add(l->channel_ns[channel], c->transfer_ns[(int64_t)t * c->n_kinds + c->link_kind[link]]);
  }
}

static situ_status find_loads(judge *j, loads *l, situ_error *error) {
  const situ_problem *p = j->problem;
  const situ_graph *g = j->graph;
  l->compute_ns = ARENA_ZERO(j->scratch, int64_t, p->n_devices);
  l->in_ns = ARENA_ZERO(j->scratch, int64_t, p->n_devices);
  l->out_ns = ARENA_ZERO(j->scratch, int64_t, p->n_devices);
  l->load_ns = ARENA_ZERO(j->scratch, int64_t, p->n_devices);
  l->channel_ns = ARENA_ZERO(j->scratch, int64_t, j->platform->n_channels);
  int32_t n_places = p->n_devices > p->n_memories ? p->n_devices : p->n_memories;
  int32_t *sent = ARENA_NEW(j->scratch, int32_t, n_places); /* the last tensor sent there */
  if (!l->compute_ns || !l->in_ns || !l->out_ns || !l->load_ns || !l->channel_ns || !sent) return fail_no_memory(error);
  for (int32_t i = 0; i < n_places; i++) sent[i] = -1;
  for (int32_t v = 0; v < p->n_operators; v++) {
    int32_t d = j->plan->device[v];
    l->compute_ns[d] =
        sat_add(l->compute_ns[d], p->costs->time_ns[(int64_t)v * p->n_classes + j->platform->class_of[d]]);
  }
  for (int32_t t = 0; t < g->n_tensors; t++) {
    int32_t from = j->platform->memory_of[j->plan->device[g->producer[t]]];
    bool left = false;
    for (int64_t i = g->use_start[t]; i < g->use_start[t + 1]; i++) {
      int32_t d = j->plan->device[g->use[i]], to = j->platform->memory_of[d];
      bool staged = p->communication == SITU_COMMUNICATION_HOST_STAGED;
      int32_t place = staged ? d : to;
      if (to == from || sent[place] == t) continue;
      sent[place] = t;
      if (staged)
        charge_staged(j, l, t, d, !left);
      else
        charge_route(j, l, t, to);
      left = true;
    }
  }
  for (int32_t d = 0; d < p->n_devices; d++) {
    int64_t greatest = max64(l->compute_ns[d], max64(l->in_ns[d], l->out_ns[d]));
    int64_t sum = sat_add(l->compute_ns[d], sat_add(l->in_ns[d], l->out_ns[d]));
    l->load_ns[d] = p->overlap ? greatest : sum;
  }
  return SITU_STATUS_OK;
}

/* The class of an operator: its colocation group, or a number of its own. */
static int32_t class_of(const situ_graph *g, int32_t v) {
  return g->colocation[v] >= 0 ? g->colocation[v] : g->n_colocations + v;
}

/* Removes from the graph over devices, given as a matrix, those without edges into them until none is left or only
 * cycles are. */
static void find_cycle(judge *j, bool *edge) {
  int32_t n = j->problem->n_devices;
  bool *gone = ARENA_ZERO(j->scratch, bool, n);
  int32_t *into = ARENA_ZERO(j->scratch, int32_t, n), *free_devices = ARENA_NEW(j->scratch, int32_t, n);
  if (!gone || !into || !free_devices) {
    j->verdict->failed = true;
    return;
  }
  int32_t n_free = 0, n_gone = 0;
  for (int32_t a = 0; a < n; a++)
    for (int32_t b = 0; b < n; b++) into[b] += edge[(int64_t)a * n + b];
  for (int32_t d = 0; d < n; d++)
    if (into[d] == 0) free_devices[n_free++] = d;
  while (n_gone < n_free) {
    int32_t a = free_devices[n_gone++];
    gone[a] = true;
    for (int32_t b = 0; b < n; b++)
      if (edge[(int64_t)a * n + b] && --into[b] == 0) free_devices[n_free++] = b;
  }
  if (n_gone == n) return;
  /* go back along edges among those that are left: after n steps the way is on a cycle */
  int32_t at = 0, before = 0;
  while (gone[at]) at++;
  for (int32_t step = 0; step <= n; step++) {
    before = at;
    for (at = 0; gone[at] || !edge[(int64_t)at * n + before];) at++;
  }
  judge_note(j, "contiguity",
             "the parts of %d devices depend on each other in a circle, on which %s comes right before %s",
             (int)(n - n_gone), j->platform->devices[at].name, j->platform->devices[before].name);
}

static situ_status check_contiguity(judge *j, situ_error *error) {
  const situ_graph *g = j->graph;
  int32_t n = j->problem->n_devices;
  bool *forward = ARENA_ZERO(j->scratch, bool, (int64_t)g->n_colocations + g->n_operators); /* [class] */
  bool *edge = ARENA_ZERO(j->scratch, bool, (int64_t)n * n);
  if (!forward || !edge) return fail_no_memory(error);
  for (int32_t v = 0; v < g->n_operators; v++)
    if (g->phase[v] == SITU_PHASE_FORWARD) forward[class_of(g, v)] = true;
  for (int32_t t = 0; t < g->n_tensors; t++) {
    int32_t u = g->producer[t];
    for (int64_t i = g->use_start[t]; i < g->use_start[t + 1]; i++) {
      int32_t w = g->use[i], from = j->plan->device[u], to = j->plan->device[w];
      if (from == to) continue;
      if (g->phase[u] == SITU_PHASE_FORWARD && g->phase[w] == SITU_PHASE_FORWARD)
        edge[(int64_t)from * n + to] = true;
      if (g->phase[u] == SITU_PHASE_BACKWARD && g->phase[w] == SITU_PHASE_BACKWARD &&
          !(forward[class_of(g, u)] && forward[class_of(g, w)]))
        edge[(int64_t)to * n + from] = true;
    }
  }
  find_cycle(j, edge);
  return SITU_STATUS_OK;
}

/* Bytes of the tensors that operator v reads and writes, with its workspace. */
static int64_t footprint(const situ_graph *g, int32_t v) {
  int64_t bytes = g->workspace_bytes[v];
  for (int64_t i = g->in_start[v]; i < g->in_start[v + 1]; i++) bytes = sat_add(bytes, g->size_bytes[g->in[i]]);
  for (int32_t t = g->out_start[v]; t < g->out_start[v + 1]; t++) bytes = sat_add(bytes, g->size_bytes[t]);
  return bytes;
}

/* weights + in_flight * (stash + greatest footprint); calls are the case of one input and no stash. */
static situ_status find_memory(judge *j, bool pipeline, int64_t **memory_bytes, situ_error *error) {
  const situ_graph *g = j->graph;
  int32_t n = j->problem->n_memories;
  int64_t *weights = ARENA_ZERO(j->scratch, int64_t, n), *stash = ARENA_ZERO(j->scratch, int64_t, n);
  int64_t *greatest = ARENA_ZERO(j->scratch, int64_t, n);
  if (!weights || !stash || !greatest) return fail_no_memory(error);
  for (int32_t v = 0; v < g->n_operators; v++) {
    int32_t m = j->platform->memory_of[j->plan->device[v]];
    weights[m] = sat_add(weights[m], g->weight_bytes[v]);
    greatest[m] = max64(greatest[m], footprint(g, v));
  }
  for (int32_t t = 0; pipeline && t < g->n_tensors; t++) {
    int32_t u = g->producer[t], m = j->platform->memory_of[j->plan->device[u]];
    bool kept = false;
    for (int64_t i = g->use_start[t]; i < g->use_start[t + 1]; i++)
      kept = kept || g->phase[g->use[i]] != SITU_PHASE_FORWARD;
    if (kept && g->phase[u] == SITU_PHASE_FORWARD) stash[m] = sat_add(stash[m], g->size_bytes[t]);
  }
  for (int32_t m = 0; m < n; m++) {
    int64_t inputs = pipeline ? j->problem->in_flight : 1;
    weights[m] = sat_add(weights[m], sat_mul(inputs, sat_add(stash[m], greatest[m])));
  }
  *memory_bytes = weights;
  return SITU_STATUS_OK;
}

situ_status check_pipeline(judge *j, situ_error *error) {
  loads l;
  int64_t *memory_bytes, value = 0;
  TRY(find_loads(j, &l, error));
  TRY(find_memory(j, true, &memory_bytes, error));
  for (int32_t d = 0; d < j->problem->n_devices; d++) value = max64(value, l.load_ns[d]);
  for (int32_t c = 0; c < j->platform->n_channels; c++) value = max64(value, l.channel_ns[c]);
  judge_value(j, value);
  judge_uses(j, l.load_ns, memory_bytes);
  return j->problem->contiguous ? check_contiguity(j, error) : SITU_STATUS_OK;
}

situ_status check_period(judge *j, int64_t *period_ns, situ_error *error) {
  situ_problem view;
  judge other = *j;
  loads l;
  problem_view_pipeline(&view, j->problem);
  other.problem = &view;
  TRY(find_loads(&other, &l, error));
  *period_ns = 0;
  for (int32_t d = 0; d < view.n_devices; d++) *period_ns = max64(*period_ns, l.load_ns[d]);
  for (int32_t c = 0; c < j->platform->n_channels; c++) *period_ns = max64(*period_ns, l.channel_ns[c]);
  return SITU_STATUS_OK;
}

situ_status check_static_memory(judge *j, int64_t **memory_bytes, situ_error *error) {
  return find_memory(j, false, memory_bytes, error);
}
