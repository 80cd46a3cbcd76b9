/* The judge of pipelines: loads, contiguity and memory. Sums of times and bytes saturate; numbers of two devices or
 * memories are below SITU_MAX_DEVICES squared, 2^24. */
#include "check/model_rules.h"

#include "base/checked.h"
#include "base/fail.h"
#include "platform/routes.h"

/* What each device and channel has to do for one input. */
typedef struct loads {
  int32_t n_phases; /* 2: forward and backward apart */
  int64_t *load_ns; /* [device] */
  int64_t value_ns;
  int32_t *leader; /* [device] the one whose part it runs: itself unless it is a replica */
  int32_t *shared; /* [device] how many run that part */
} loads;

/* One phase of it. */
typedef struct phase_loads {
  int32_t phase;
  int64_t *compute_ns, *in_ns, *out_ns; /* [device], for parts as a whole */
  int64_t *channel_ns;
} phase_loads;

static int64_t rounded_up(int64_t time_ns, int32_t parts) {
  if (time_ns == SITU_NEVER_NS) return time_ns;
  return (int64_t)(((__int128)time_ns + parts - 1) / parts);
}

static bool in_phase(const judge *j, const loads *l, int32_t v, int32_t phase) {
  return l->n_phases == 1 || (j->graph->phase[v] == SITU_PHASE_FORWARD) == (phase == 0);
}

static int64_t transfer_time(const judge *j, int32_t t, int32_t from_device, int32_t to_device) {
  return judge_transfer_ns(j, t, j->platform->memory_of[from_device], j->platform->memory_of[to_device]);
}

/* Tensor t is sent to device d for the first time; `out` when it leaves its own memory for the first time. */
static void charge_staged(judge *j, phase_loads *l, int32_t t, int32_t d, bool out) {
  int32_t from = j->plan->device[j->graph->producer[t]], host = j->problem->host;
  if (!j->platform->devices[d].is_host) l->in_ns[d] = sat_add(l->in_ns[d], transfer_time(j, t, host, d));
  if (out && !j->platform->devices[from].is_host)
    l->out_ns[from] = sat_add(l->out_ns[from], transfer_time(j, t, from, host));
}

/* Every pair of devices that run the two parts has an even part of the inputs in common. */
static void charge_routes(judge *j, const loads *all, phase_loads *l, int32_t t, int32_t a, int32_t b) {
  const situ_platform *q = j->platform;
  const situ_costs *c = j->problem->costs;
  for (int32_t x = 0; x < q->n_devices; x++)
    for (int32_t y = 0; y < q->n_devices; y++) {
      if (all->leader[x] != a || all->leader[y] != b) continue;
      const int32_t *route = &q->route_start[(int64_t)q->memory_of[x] * q->n_memories + q->memory_of[y]];
      for (int32_t hop = route[0]; hop < route[1]; hop++) {
        int32_t link = q->route_link[hop], channel = q->links[link].channel;
        int64_t time_ns = c->transfer_ns[t][c->link_kind[link]];
        l->channel_ns[channel] = sat_add(l->channel_ns[channel], rounded_up(time_ns, all->shared[a] * all->shared[b]));
      }
    }
}

/* Times of a ring over r devices that each pass a part of w bytes on: ceil(times * (r - 1) * w / r). */
static int64_t passed_bytes(int64_t weights, int32_t times, int32_t r) {
  return (int64_t)(((__int128)times * (r - 1) * weights + r - 1) / r);
}

/* One ring of all that share the part of device d, for every so many inputs. */
static void charge_ring(judge *j, const loads *all, phase_loads *l, int32_t d, int64_t bytes, int32_t every) {
  const situ_platform *q = j->platform;
  int32_t r = all->shared[d], host = j->problem->host;
  bool staged = j->problem->communication == SITU_COMMUNICATION_HOST_STAGED;
  if (bytes == 0 || !j->problem->training || (staged && q->devices[d].is_host)) return;
  for (int32_t x = d; x >= 0;) { /* around the ring: d, then its replicas by number, then back */
    int32_t next = x == d ? 0 : x + 1;
    while (next < q->n_devices && (next == d || all->leader[next] != d)) next++;
    int64_t route_ns[2] = {0, 0};
    int32_t from[2] = {x, host}, to[2] = {next < q->n_devices ? next : d, x};
    if (staged) to[0] = host;
    for (int k = 0; k < (staged ? 2 : 1); k++) {
      const int32_t *route = &q->route_start[(int64_t)q->memory_of[from[k]] * q->n_memories + q->memory_of[to[k]]];
      for (int32_t hop = route[0]; hop < route[1]; hop++) {
        const situ_link *link = &j->problem->costs->link[q->route_link[hop]];
        int64_t time_ns = link_time_ns(link->latency_ns, link->bytes_per_s, bytes);
        int64_t *sum = &l->channel_ns[link->channel];
        if (!staged) *sum = sat_add(*sum, rounded_up(time_ns, every));
        route_ns[k] = sat_add(route_ns[k], time_ns);
      }
      if (staged) {
        int64_t *sum = &(k ? l->in_ns : l->out_ns)[d];
        *sum = sat_add(*sum, (int64_t)(((__int128)route_ns[k] * r + every - 1) / every));
      }
    }
    if (staged) return; /* all pay the same */
    x = next < q->n_devices ? next : -1;
  }
}

/* Gradients are added up, and weights that are shared collected: what goes round for each round of inputs, and what for
 * each step. */
static void charge_gradients(judge *j, const loads *all, phase_loads *l, int32_t d) {
  const situ_problem *p = j->problem;
  int64_t weights = 0;
  int32_t r = all->shared[d], step = r > p->micro_batches ? r : p->micro_batches;
  for (int32_t v = 0; v < j->graph->n_operators; v++)
    if (j->plan->device[v] == d && j->graph->phase[v] == SITU_PHASE_FORWARD)
      weights = sat_add(weights, p->given->weight_bytes[v]);
  switch (p->zero) {
    case 3: charge_ring(j, all, l, d, passed_bytes(weights, 3, r), r); break;
    case 2:
      charge_ring(j, all, l, d, passed_bytes(weights, 1, r), r);
      charge_ring(j, all, l, d, passed_bytes(weights, 1, r), step);
      break;
    default: charge_ring(j, all, l, d, passed_bytes(weights, 2, r), step);
  }
}

static void charge_tensors(judge *j, const loads *all, phase_loads *l, int32_t *sent) {
  const situ_problem *p = j->problem;
  const situ_graph *g = j->graph;
  bool staged = p->communication == SITU_COMMUNICATION_HOST_STAGED;
  for (int32_t t = 0; t < g->n_tensors; t++) {
    int32_t a = j->plan->device[g->producer[t]], from = j->platform->memory_of[a];
    bool left = false;
    if (!in_phase(j, all, g->producer[t], l->phase)) continue;
    for (int64_t i = g->use_start[t]; i < g->use_start[t + 1]; i++) {
      int32_t d = j->plan->device[g->use[i]], to = j->platform->memory_of[d];
      int32_t place = staged ? d : to;
      if (to == from || sent[place] == t) continue;
      sent[place] = t;
      if (staged)
        charge_staged(j, l, t, d, !left);
      else
        charge_routes(j, all, l, t, a, d);
      left = true;
    }
  }
}

/* Adds the loads of one phase to those of all. */
static situ_status find_phase(judge *j, loads *all, int32_t phase, situ_error *error) {
  const situ_problem *p = j->problem;
  phase_loads l = {.phase = phase,
                   .compute_ns = ARENA_ZERO(j->scratch, int64_t, p->n_devices),
                   .in_ns = ARENA_ZERO(j->scratch, int64_t, p->n_devices),
                   .out_ns = ARENA_ZERO(j->scratch, int64_t, p->n_devices),
                   .channel_ns = ARENA_ZERO(j->scratch, int64_t, j->platform->n_channels)};
  int32_t n_places = p->n_devices > p->n_memories ? p->n_devices : p->n_memories;
  int32_t *sent = ARENA_NEW(j->scratch, int32_t, n_places); /* the last tensor sent there */
  if (!l.compute_ns || !l.in_ns || !l.out_ns || !l.channel_ns || !sent) return fail_no_memory(error);
  for (int32_t i = 0; i < n_places; i++) sent[i] = -1;
  for (int32_t v = 0; v < p->n_operators; v++) {
    int32_t d = j->plan->device[v];
    if (!in_phase(j, all, v, phase)) continue;
    int64_t time_ns = judge_time_ns(j, v, d), times = 1;
    if (j->graph->phase[v] == SITU_PHASE_UPDATE && p->zero == 0) /* each makes the whole update of a step */
      times = min64(all->shared[d], max64(p->micro_batches, 1));
    l.compute_ns[d] = sat_add(l.compute_ns[d], sat_mul(time_ns, times));
  }
  charge_tensors(j, all, &l, sent);
  for (int32_t d = 0; d < p->n_devices && phase == all->n_phases - 1; d++)
    if (all->shared[d] > 1 && all->leader[d] == d) charge_gradients(j, all, &l, d);
  int64_t greatest = 0;
  for (int32_t d = 0; d < p->n_devices; d++) {
    int32_t of = all->leader[d];
    int64_t max = max64(l.compute_ns[of], max64(l.in_ns[of], l.out_ns[of]));
    int64_t sum = sat_add(l.compute_ns[of], sat_add(l.in_ns[of], l.out_ns[of]));
    int64_t load_ns = rounded_up(p->async_copies ? max : sum, all->shared[d]);
    all->load_ns[d] = sat_add(all->load_ns[d], load_ns);
    greatest = max64(greatest, load_ns);
  }
  for (int32_t c = 0; c < j->platform->n_channels; c++) greatest = max64(greatest, l.channel_ns[c]);
  all->value_ns = sat_add(all->value_ns, greatest);
  return SITU_STATUS_OK;
}

/* Two devices may run one part when they are equal, each alone in its memory, and nothing is pinned to them. */
static const char *why_not_shared(const judge *j, int32_t a, int32_t b) {
  const situ_problem *p = j->problem;
  const situ_platform *q = j->platform;
  const int32_t *kind = p->costs->pair_kind;
  int32_t n = p->n_memories, x = q->memory_of[a], y = q->memory_of[b], h = q->memory_of[p->host];
  if (!p->replicate) return "this problem has no replicas";
  if (p->unused[a] || p->unused[b]) return "one of them must stay unused";
  if (q->class_of[a] != q->class_of[b] || q->devices[a].is_host != q->devices[b].is_host)
    return "they are of two classes";
  if (q->memory_bytes[x] != q->memory_bytes[y]) return "their memories are of two sizes";
  if (kind[x * n + h] != kind[y * n + h] || kind[h * n + x] != kind[h * n + y])
    return "their routes to the host differ";
  for (int32_t d = 0; d < q->n_devices; d++)
    if ((d != a && q->memory_of[d] == x) || (d != b && q->memory_of[d] == y)) return "one of them shares its memory";
  for (int32_t v = 0; v < p->n_operators; v++)
    if (p->pin[v] == a || p->pin[v] == b) return "an operator is pinned to one of them";
  return NULL;
}

/* Who runs whose part. A replica that breaks a rule is noted and taken as a device of its own. */
static situ_status find_sharing(judge *j, loads *l, situ_error *error) {
  int32_t n = j->problem->n_devices;
  int32_t *count;
  if (!ARENA_ARRAYS(j->scratch, ARRAY(l->leader, n), ZEROS(l->shared, n), ZEROS(count, n)))
    return fail_no_memory(error);
  for (int32_t v = 0; v < j->problem->n_operators; v++) count[j->plan->device[v]]++;
  for (int32_t d = 0; d < n; d++) {
    int32_t of = j->plan->replica_of ? j->plan->replica_of[d] : -1;
    const char *name = j->platform->devices[d].name, *why = NULL;
    l->leader[d] = d;
    if (j->plan->uses && j->plan->uses[d].replica_of != of)
      judge_note(j, "replication", "%s: the plan contradicts itself about which part it replicates", name);
    if (of < 0) continue;
    if (of >= n || of == d || j->plan->replica_of[of] >= 0)
      why = "that is not another device with a part of its own";
    else if (count[d] > 0)
      why = "operators are placed on it";
    else
      why = why_not_shared(j, of, d);
    if (why)
      judge_note(j, "replication", "%s cannot be a replica of device %d: %s", name, (int)of, why);
    else
      l->leader[d] = of;
  }
  for (int32_t d = 0; d < n; d++) l->shared[l->leader[d]]++;
  for (int32_t d = 0; d < n; d++) l->shared[d] = l->shared[l->leader[d]];
  return SITU_STATUS_OK;
}

static situ_status find_loads(judge *j, loads *l, situ_error *error) {
  bool apart = j->problem->schedule == SITU_SCHEDULE_GPIPE;
  *l = (loads){.n_phases = apart ? 2 : 1, .load_ns = ARENA_ZERO(j->scratch, int64_t, j->problem->n_devices)};
  if (!l->load_ns) return fail_no_memory(error);
  TRY(find_sharing(j, l, error));
  for (int32_t phase = 0; phase < l->n_phases; phase++) TRY(find_phase(j, l, phase, error));
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
             "the parts of %d devices depend on each other in a cycle, on which %s comes right before %s",
             (int)(n - n_gone), j->platform->devices[at].name, j->platform->devices[before].name);
}

/* The graph over devices, as a matrix: an edge where a part comes before another. */
static situ_status find_edges(bool **out, const judge *j, situ_error *error) {
  const situ_graph *g = j->graph;
  int32_t n = j->problem->n_devices;
  bool *forward = ARENA_ZERO(j->scratch, bool, (int64_t)g->n_colocations + g->n_operators); /* [class] */
  bool *edge = *out = ARENA_ZERO(j->scratch, bool, (int64_t)n *n);
  if (!forward || !edge) return fail_no_memory(error);
  for (int32_t v = 0; v < g->n_operators; v++)
    if (g->phase[v] == SITU_PHASE_FORWARD) forward[class_of(g, v)] = true;
  for (int32_t t = 0; t < g->n_tensors; t++) {
    int32_t u = g->producer[t];
    for (int64_t i = g->use_start[t]; i < g->use_start[t + 1]; i++) {
      int32_t w = g->use[i], from = j->plan->device[u], to = j->plan->device[w];
      if (from == to) continue;
      if (g->phase[u] == SITU_PHASE_FORWARD && g->phase[w] == SITU_PHASE_FORWARD) edge[(int64_t)from * n + to] = true;
      if (g->phase[u] == SITU_PHASE_BACKWARD && g->phase[w] == SITU_PHASE_BACKWARD &&
          !(forward[class_of(g, u)] && forward[class_of(g, w)]))
        edge[(int64_t)to * n + from] = true;
    }
  }
  return SITU_STATUS_OK;
}

/* The inputs that each device keeps: a given number; with micro-batches by GPipe all of a step, by ZB-H1 as many as
 * there are devices that may be used, by 1F1B as many as devices follow on the longest path from part to part, its own
 * included, and one where there is no such path. Those that share a part share them. shared: NULL for one device each.
 */
static situ_status find_kept(int64_t *kept, const judge *j, const bool *edge, const int32_t *shared,
                             situ_error *error) {
  const situ_problem *p = j->problem;
  int32_t n = p->n_devices;
  int64_t *depth = ARENA_ZERO(j->scratch, int64_t, n);
  bool changed = true;
  int64_t usable = 0, all = p->schedule == SITU_SCHEDULE_GPIPE ? p->micro_batches : 0;
  for (int32_t d = 0; d < n; d++) usable += !p->unused[d];
  if (p->schedule == SITU_SCHEDULE_ZB_H1) all = max64(1, min64(usable, p->micro_batches));
  if (!depth) return fail_no_memory(error);
  for (int32_t d = 0; d < n; d++) depth[d] = shared ? shared[d] : 1;
  for (int32_t round = 0; round < n && changed; round++) { /* a path has fewer than n edges; a cycle never settles */
    changed = false;
    for (int32_t a = 0; a < n && edge; a++)
      for (int32_t b = 0; b < n; b++) {
        int64_t longer = edge[(int64_t)a * n + b] ? (shared ? shared[a] : 1) + depth[b] : 0;
        changed |= longer > depth[a];
        depth[a] = max64(depth[a], longer);
      }
  }
  for (int32_t d = 0; d < n; d++) {
    int64_t r = shared ? shared[d] : 1, inputs = all > 0 ? all : changed ? 1 : min64(p->micro_batches, depth[d]);
    kept[d] = p->micro_batches == 0 ? p->in_flight : (inputs + r - 1) / r;
  }
  return SITU_STATUS_OK;
}

/* Whether devices that share a part hold the weights of operator v in shares, and how much of them is whole meanwhile.
 */
static bool in_shares(const situ_problem *p, int32_t v, int64_t *whole_bytes) {
  int64_t own = p->given->weight_bytes[v];
  *whole_bytes = 0;
  switch (p->given->phase[v]) {
    case SITU_PHASE_UPDATE: return p->zero > 0;
    case SITU_PHASE_BACKWARD: /* the gradient, and the weights that it is of */
      *whole_bytes = p->zero == 2 ? own : p->zero == 3 ? sat_mul(2, own) : 0;
      return p->zero > 1;
    case SITU_PHASE_FORWARD: *whole_bytes = p->zero == 3 ? own : 0; return p->zero > 2;
    default: return false;
  }
}

/* Adds what is kept of each input, as many as kept[device] says. */
static void add_stash(judge *j, const int64_t *kept, int64_t *stash) {
  const situ_graph *g = j->graph;
  for (int32_t t = 0; t < g->n_tensors; t++) {
    int32_t u = g->producer[t], d = j->plan->device[u], m = j->platform->memory_of[d];
    bool used_later = false;
    for (int64_t i = g->use_start[t]; i < g->use_start[t + 1]; i++)
      used_later = used_later || g->phase[g->use[i]] != SITU_PHASE_FORWARD;
    if (used_later && g->phase[u] == SITU_PHASE_FORWARD)
      stash[m] = sat_add(stash[m], sat_mul(kept ? kept[d] : 1, g->size_bytes[t]));
  }
}

/* weights, or a share + kept inputs * stash + the maximum that an operator takes; calls have no stash. */
situ_status check_static_memory(judge *j, const int64_t *kept, const int32_t *shared, int64_t **memory_bytes,
                                situ_error *error) {
  const situ_graph *g = j->graph;
  bool pipeline = j->problem->execution == SITU_EXECUTION_PIPELINE;
  int32_t n = j->problem->n_memories;
  int64_t *weights, *stash, *greatest, *shares, whole;
  if (!ARENA_ARRAYS(j->scratch, ZEROS(weights, n), ZEROS(stash, n), ZEROS(greatest, n),
                    ZEROS(shares, j->problem->n_devices)))
    return fail_no_memory(error);
  for (int32_t v = 0; v < g->n_operators; v++) {
    int32_t d = j->plan->device[v], m = j->platform->memory_of[d];
    bool in_parts = shared && shared[d] > 1 && in_shares(j->problem, v, &whole);
    int64_t running = judge_running_bytes(j, v), *sum = in_parts ? &shares[d] : &weights[m];
    *sum = sat_add(*sum, j->problem->given->weight_bytes[v]);
    greatest[m] = max64(greatest[m], in_parts ? sat_add(running, whole) : running);
  }
  for (int32_t d = 0; shared && d < j->problem->n_devices; d++) {
    int64_t *sum = &weights[j->platform->memory_of[d]];
    *sum = sat_add(*sum, rounded_up(shares[d], shared[d]));
  }
  if (pipeline && (j->problem->chunks == 0 || !shared))
    add_stash(j, kept, stash);
  else if (pipeline)
    TRY(check_chunks(j, stash, error));
  for (int32_t m = 0; m < n; m++) weights[m] = sat_add(weights[m], sat_add(stash[m], greatest[m]));
  *memory_bytes = weights;
  return SITU_STATUS_OK;
}

situ_status check_memory_alone(judge *j, int64_t **memory_bytes, situ_error *error) {
  int64_t *kept = ARENA_NEW(j->scratch, int64_t, j->problem->n_devices);
  if (!kept) return fail_no_memory(error);
  TRY(find_kept(kept, j, NULL, NULL, error));
  bool pipeline = j->problem->execution == SITU_EXECUTION_PIPELINE;
  return check_static_memory(j, pipeline ? kept : NULL, NULL, memory_bytes, error);
}

static situ_status check(judge *j, situ_error *error) {
  loads l;
  int64_t *memory_bytes, *kept = ARENA_NEW(j->scratch, int64_t, j->problem->n_devices);
  bool *edge;
  if (!kept) return fail_no_memory(error);
  TRY(find_loads(j, &l, error));
  TRY(find_edges(&edge, j, error));
  TRY(find_kept(kept, j, edge, l.shared, error));
  TRY(check_static_memory(j, kept, l.shared, &memory_bytes, error));
  for (int32_t d = 0; d < j->problem->n_devices; d++) /* whoever shares a part holds all of it */
    if (l.leader[d] != d) memory_bytes[j->platform->memory_of[d]] = memory_bytes[j->platform->memory_of[l.leader[d]]];
  judge_value(j, l.value_ns);
  judge_uses(j, l.load_ns, memory_bytes);
  if (j->problem->contiguous) find_cycle(j, edge);
  return SITU_STATUS_OK;
}

situ_status check_period(judge *j, int64_t *period_ns, situ_error *error) {
  situ_problem view;
  judge other = *j;
  loads l;
  problem_view_pipeline(&view, j->problem);
  other.problem = &view;
  TRY(find_loads(&other, &l, error));
  *period_ns = l.value_ns;
  return SITU_STATUS_OK;
}

const model_rule pipeline_model_rule = {.execution = SITU_EXECUTION_PIPELINE, .check = check};
