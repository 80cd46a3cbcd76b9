/* Calls and pipelines: values that are sums, by docs/model.md. */
#include <string.h>

#include "attack_model.h"

static int64_t max_of(int64_t a, int64_t b) { return a > b ? a : b; }

/* Whether something of tensor t is used outside of where it is made, by the memories of the placement. */
static uint32_t memories_of_users(const attack_facts *f, const attack_placement *at, int32_t t) {
  uint32_t memories = 0;
  for (int32_t v = 0; v < f->p->n; v++)
    if (f->p->tensor[t].users >> v & 1) memories |= 1U << f->memory_of[at->device[v]];
  return memories;
}

/* Workspace, inputs and outputs. */
static int64_t footprint(const attack_facts *f, int32_t v) {
  int64_t bytes = facts_workspace(f, v);
  for (int32_t t = 0; t < f->p->n_tensors; t++)
    if (f->p->tensor[t].from == v || (f->p->tensor[t].users >> v & 1)) bytes += f->p->tensor[t].size_bytes;
  return bytes;
}

/* Bytes of the outputs of a forward operator that an operator of another phase uses. */
static int64_t stash(const attack_facts *f, int32_t v) {
  int64_t bytes = 0;
  for (int32_t t = 0; t < f->p->n_tensors; t++) {
    bool kept = false;
    for (int32_t w = 0; w < f->p->n; w++)
      kept = kept || ((f->p->tensor[t].users >> w & 1) && f->p->op[w].phase != SITU_PHASE_FORWARD);
    if (f->p->tensor[t].from == v && kept && f->p->op[v].phase == SITU_PHASE_FORWARD)
      bytes += f->p->tensor[t].size_bytes;
  }
  return bytes;
}

/* ---- calls ---- */

/* What a call does on its device, sequentially; also a host's operator, which has no call. */
static int64_t call_ns(const attack_facts *f, uint32_t members, int32_t d) {
  int64_t sum = 0;
  int32_t host = f->memory_of[f->host], m = f->memory_of[d];
  for (int32_t v = 0; v < f->p->n; v++)
    if (members >> v & 1) sum += facts_time(f, v, d);
  if (f->p->device[d].is_host) return sum;
  for (int32_t t = 0; t < f->p->n_tensors; t++) {
    bool inside = members >> f->p->tensor[t].from & 1;
    if (!inside && (f->p->tensor[t].users & members)) sum += f->route_ns[t][host][m];
    if (inside && (f->p->tensor[t].users & ~members)) sum += f->route_ns[t][m][host];
  }
  return sum;
}

void calls_by_rule(attack_placement *at, const attack_facts *f) {
  int32_t n = 0;
  for (int32_t d = 0; d < f->p->n_devices; d++) {
    int32_t piece[MAX_OPS] = {0}, most = 0;
    for (int32_t v = 0; v < f->p->n; v++) {
      bool here = at->device[v] == d;
      piece[v] = here;
      for (int32_t u = 0; u < v; u++)
        if (f->before[v] >> u & 1) piece[v] = (int32_t)max_of(piece[v], piece[u] + (here && at->device[u] != d));
      if (!here) continue;
      at->call[v] = f->p->device[d].is_host ? -1 : n + piece[v] - 1;
      most = f->p->device[d].is_host ? 0 : (int32_t)max_of(most, piece[v]);
    }
    n += most;
  }
}

static void calls_memory(attack_value *out, const attack_facts *f, const attack_placement *at) {
  int64_t largest[MAX_DEVICES] = {0};
  for (int32_t v = 0; v < f->p->n; v++) {
    int32_t m = f->memory_of[at->device[v]];
    out->peak_bytes[m] += f->p->op[v].weight_bytes;
    largest[m] = max_of(largest[m], footprint(f, v));
  }
  for (int32_t m = 0; m < f->n_memories; m++) out->peak_bytes[m] += largest[m];
  value_judge_memory(out, f);
}

void calls_evaluate(attack_value *out, const attack_facts *f, const attack_placement *at) {
  const attack_problem *p = f->p;
  int32_t n_units = 2 * p->n; /* calls, then operators on hosts */
  uint32_t members[2 * MAX_OPS] = {0}, needs[2 * MAX_OPS] = {0}, done = 0;
  int32_t of[2 * MAX_OPS], unit[MAX_OPS], n_calls[MAX_DEVICES] = {0};
  memset(out, 0, sizeof *out);
  out->value_ns = SITU_NEVER_NS;
  for (int32_t v = 0; v < p->n; v++) {
    unit[v] = at->call[v] >= 0 ? at->call[v] : p->n + v;
    of[unit[v]] = at->device[v];
    if (facts_time(f, v, at->device[v]) == SITU_NEVER_NS) return;
    members[unit[v]] |= 1U << v;
  }
  for (int32_t v = 0; v < p->n; v++) needs[unit[v]] |= f->before[v] & ~members[unit[v]];
  for (int32_t c = 0; c < p->n; c++) {
    if (members[c]) n_calls[of[c]]++;
    for (int32_t b = 0; b < c && members[c]; b++)
      if (members[b] && of[b] == of[c])
        needs[c] |= members[b]; /* the calls of a device in the order of their numbers */
  }
  for (bool again = true; again;) {
    again = false;
    for (int32_t c = 0; c < n_units; c++) {
      if (!members[c] || (members[c] & done) || (needs[c] & ~done)) continue;
      int64_t start = 0, time = call_ns(f, members[c], of[c]);
      for (int32_t v = 0; v < p->n; v++)
        if (needs[c] >> v & 1) start = max_of(start, out->finish_ns[v]);
      for (int32_t v = 0; v < p->n; v++) {
        if (!(members[c] >> v & 1)) continue;
        out->start_ns[v] = start;
        out->finish_ns[v] = start + time;
        out->latency_ns = max_of(out->latency_ns, start + time);
      }
      out->load_ns[of[c]] += time;
      done |= members[c];
      again = true;
    }
  }
  out->runs = done == (1U << p->n) - 1;
  if (!out->runs) return;
  out->value_ns = out->latency_ns;
  out->keeps = true;
  for (int32_t d = 0; d < p->n_devices; d++)
    out->keeps = out->keeps && (p->max_calls == 0 || n_calls[d] <= p->max_calls);
  calls_memory(out, f, at);
}

/* ---- pipeline ---- */

enum { FORWARD = 0, BACKWARD };

typedef struct loads {
  int64_t compute[2][MAX_DEVICES], in[2][MAX_DEVICES], out[2][MAX_DEVICES], channel[2][MAX_LINKS]; /* [phase] */
  int32_t sharing[MAX_DEVICES]; /* how many run its part; 1 for a replica itself */
} loads;

static int64_t share(int64_t time, int64_t among) { return (time + among - 1) / among; }

static int32_t phase_of(const attack_facts *f, int32_t v) {
  return f->p->op[v].phase == SITU_PHASE_FORWARD ? FORWARD : BACKWARD;
}

/* What goes round the r devices of a part: bytes that each passes on, and inputs from one such ring to the next. */
typedef struct rings {
  int32_t n;
  int64_t bytes[2], every[2];
} rings;

static rings rings_of(const attack_facts *f, const attack_placement *at, int32_t d, int32_t r) {
  int64_t weights = 0, step = max_of(r, f->p->micro_batches);
  rings all = {0};
  for (int32_t v = 0; v < f->p->n; v++)
    if (at->device[v] == d && f->p->op[v].phase == SITU_PHASE_FORWARD) weights += f->p->op[v].weight_bytes;
  int32_t in_round = f->p->zero == 2 ? 1 : f->p->zero == 3 ? 3 : 0, in_step = f->p->zero == 3 ? 0 : 2 - in_round;
  if (!f->training) return all;
  if (in_round > 0) all = (rings){1, {share(in_round * (r - 1) * weights, r)}, {r}};
  if (in_step == 0) return all;
  all.bytes[all.n] = share(in_step * (r - 1) * weights, r);
  all.every[all.n++] = step;
  return all;
}

/* Whether those who share a part hold shares of what operator v keeps. */
static bool in_shares(const attack_facts *f, int32_t v) {
  situ_phase phase = f->p->op[v].phase;
  return (phase == SITU_PHASE_UPDATE && f->p->zero > 0) || (phase == SITU_PHASE_BACKWARD && f->p->zero > 1) ||
         (phase == SITU_PHASE_FORWARD && f->p->zero > 2);
}

/* c(bytes, a, b) of the gradients; nothing is sent where there are none. */
static int64_t way_ns(const attack_facts *f, int32_t a, int32_t b, int64_t bytes) {
  int64_t sum = 0;
  for (int32_t k = 0; k < f->n_hops[a][b] && bytes > 0; k++) sum += link_ns(&f->link[f->route[a][b][k]], bytes);
  return sum;
}

static void charge_staged(loads *l, const attack_facts *f, const attack_placement *at) {
  int32_t host = f->memory_of[f->host];
  for (int32_t t = 0; t < f->p->n_tensors; t++) {
    int32_t a = at->device[f->p->tensor[t].from], home = f->memory_of[a], phase = phase_of(f, f->p->tensor[t].from);
    if ((memories_of_users(f, at, t) & ~(1U << home)) && !f->p->device[a].is_host)
      l->out[phase][a] += f->route_ns[t][home][host];
    for (int32_t b = 0; b < f->p->n_devices; b++) {
      bool used = false;
      for (int32_t v = 0; v < f->p->n; v++) used = used || ((f->p->tensor[t].users >> v & 1) && at->device[v] == b);
      if (used && f->memory_of[b] != home && !f->p->device[b].is_host)
        l->in[phase][b] += f->route_ns[t][host][f->memory_of[b]];
    }
  }
  for (int32_t d = 0; d < f->p->n_devices; d++) {
    if (l->sharing[d] == 1 || f->p->device[d].is_host) continue;
    rings all = rings_of(f, at, d, l->sharing[d]);
    for (int32_t k = 0; k < all.n; k++) {
      l->in[BACKWARD][d] += share(way_ns(f, host, f->memory_of[d], all.bytes[k]) * l->sharing[d], all.every[k]);
      l->out[BACKWARD][d] += share(way_ns(f, f->memory_of[d], host, all.bytes[k]) * l->sharing[d], all.every[k]);
    }
  }
}

/* The devices of a part: the leader, then its replicas by number. */
static int32_t list_part(int32_t *list, const attack_facts *f, const attack_placement *at, int32_t leader) {
  int32_t n = 0;
  list[n++] = leader;
  for (int32_t d = 0; d < f->p->n_devices; d++)
    if (at->replica_of[d] == leader) list[n++] = d;
  return n;
}

static void charge_links(loads *l, const attack_facts *f, const attack_placement *at) {
  int32_t from[MAX_DEVICES], to[MAX_DEVICES];
  for (int32_t t = 0; t < f->p->n_tensors; t++) {
    int32_t a = at->device[f->p->tensor[t].from], phase = phase_of(f, f->p->tensor[t].from);
    uint32_t sent = 1U << f->memory_of[a];
    for (int32_t v = 0; v < f->p->n; v++) {
      int32_t b = at->device[v];
      if (!(f->p->tensor[t].users >> v & 1) || (sent >> f->memory_of[b] & 1)) continue;
      sent |= 1U << f->memory_of[b];
      int32_t n = list_part(from, f, at, a), n_to = list_part(to, f, at, b);
      for (int32_t i = 0; i < n * n_to; i++) {
        int32_t x = f->memory_of[from[i / n_to]], y = f->memory_of[to[i % n_to]];
        for (int32_t k = 0; k < f->n_hops[x][y]; k++)
          l->channel[phase][f->channel_of[f->route[x][y][k]]] += share(f->hop_ns[t][f->route[x][y][k]], n * n_to);
      }
    }
  }
  for (int32_t d = 0; d < f->p->n_devices; d++) { /* the ring */
    if (at->replica_of[d] >= 0 || l->sharing[d] == 1) continue;
    int32_t n = list_part(from, f, at, d);
    rings all = rings_of(f, at, d, n);
    for (int32_t i = 0; i < n * all.n; i++) {
      int32_t x = f->memory_of[from[i % n]], y = f->memory_of[from[(i + 1) % n]];
      for (int32_t k = 0; k < f->n_hops[x][y] && all.bytes[i / n] > 0; k++) {
        int32_t link = f->route[x][y][k];
        l->channel[BACKWARD][f->channel_of[link]] += share(link_ns(&f->link[link], all.bytes[i / n]), all.every[i / n]);
      }
    }
  }
}

/* The load of a device for one input: of one phase, or of both together. */
static int64_t load_of(const loads *l, const attack_facts *f, int32_t d, bool forward, bool backward) {
  int64_t compute = forward * l->compute[FORWARD][d] + backward * l->compute[BACKWARD][d];
  int64_t in = forward * l->in[FORWARD][d] + backward * l->in[BACKWARD][d];
  int64_t out = forward * l->out[FORWARD][d] + backward * l->out[BACKWARD][d];
  return share(f->p->async_copies ? max_of(compute, max_of(in, out)) : compute + in + out, l->sharing[d]);
}

static int64_t max_load(const loads *l, const attack_facts *f, bool forward, bool backward) {
  int64_t max = 0;
  for (int32_t d = 0; d < f->p->n_devices; d++) max = max_of(max, load_of(l, f, d, forward, backward));
  for (int32_t c = 0; c < f->n_channels; c++)
    max = max_of(max, forward * l->channel[FORWARD][c] + backward * l->channel[BACKWARD][c]);
  return max;
}

/* F with the operators of each device merged: those that come right after each device. */
static void find_after(uint32_t *reach, const attack_facts *f, const attack_placement *at) {
  const attack_problem *p = f->p;
  bool forward[MAX_OPS] = {false}; /* [unit] */
  for (int32_t v = 0; v < p->n; v++) forward[f->unit_of[v]] |= p->op[v].phase == SITU_PHASE_FORWARD;
  for (int32_t v = 0; v < p->n; v++)
    for (int32_t u = 0; u < v; u++) {
      int32_t a = at->device[u], b = at->device[v];
      if (!(f->before[v] >> u & 1) || a == b) continue;
      if (p->op[u].phase == SITU_PHASE_FORWARD && p->op[v].phase == SITU_PHASE_FORWARD) reach[a] |= 1U << b;
      if (p->op[u].phase == SITU_PHASE_BACKWARD && p->op[v].phase == SITU_PHASE_BACKWARD &&
          !(forward[f->unit_of[u]] && forward[f->unit_of[v]]))
        reach[b] |= 1U << a;
    }
}

static bool is_contiguous(const attack_facts *f, const attack_placement *at) {
  uint32_t reach[MAX_DEVICES] = {0};
  find_after(reach, f, at);
  for (int32_t k = 0; k < f->p->n_devices; k++)
    for (int32_t a = 0; a < f->p->n_devices; a++)
      if (reach[a] >> k & 1) reach[a] |= reach[k];
  for (int32_t a = 0; a < f->p->n_devices; a++)
    if (reach[a] >> a & 1) return false;
  return true;
}

/* Devices on the longest way from device d to the end; after `left` steps it is no way but a circle. */
static int32_t depth_of(const attack_facts *f, const uint32_t *after, const int32_t *sharing, int32_t d, int32_t left) {
  int32_t most = 0;
  for (int32_t e = 0; e < f->p->n_devices && left > 0; e++)
    if (after[d] >> e & 1) most = (int32_t)max_of(most, depth_of(f, after, sharing, e, left - 1));
  return most + sharing[d];
}

/* The inputs that device d keeps. */
static int64_t kept_by(const attack_facts *f, const attack_placement *at, const loads *l, int32_t d) {
  uint32_t after[MAX_DEVICES] = {0};
  int64_t m = f->p->micro_batches, all = m;
  if (m == 0) return f->p->in_flight;
  find_after(after, f, at);
  if (f->p->schedule == SITU_SCHEDULE_1F1B) {
    int64_t depth = is_contiguous(f, at) ? depth_of(f, after, l->sharing, d, f->p->n_devices) : 1;
    all = depth < m ? depth : m;
  }
  return share(all, l->sharing[d]);
}

/* Whether the stash or what is recomputed has tensor t, since an operator of another phase uses it. */
static bool is_counted(const attack_facts *f, int32_t t) {
  situ_phase made = f->p->op[f->p->tensor[t].from].phase;
  bool others = false;
  for (int32_t w = 0; w < f->p->n; w++) others |= (f->p->tensor[t].users >> w & 1) && f->p->op[w].phase != made;
  return others && (made == SITU_PHASE_FORWARD || made == SITU_PHASE_RECOMPUTE);
}

/* Beside the stash and what is recomputed, of a step that trains; else for all inputs. */
static int64_t running(const attack_facts *f, int32_t v) {
  if (!f->training) return f->p->in_flight * footprint(f, v);
  int64_t bytes = footprint(f, v) + f->recomputed_bytes[v];
  for (int32_t t = 0; t < f->p->n_tensors && f->p->op[v].phase != SITU_PHASE_FORWARD; t++)
    if ((f->p->tensor[t].from == v || (f->p->tensor[t].users >> v & 1)) && is_counted(f, t))
      bytes -= f->p->tensor[t].size_bytes;
  return bytes;
}

static void pipeline_memory(attack_value *out, const attack_facts *f, const attack_placement *at, const loads *l) {
  int64_t largest[MAX_DEVICES] = {0}, shares[MAX_DEVICES] = {0};
  for (int32_t v = 0; v < f->p->n; v++) {
    int32_t m = f->memory_of[at->device[v]];
    int64_t kept = kept_by(f, at, l, at->device[v]);
    int64_t own = f->p->op[v].weight_bytes, whole = 0;
    if (in_shares(f, v) && l->sharing[at->device[v]] > 1) {
      shares[at->device[v]] += own;
      if (f->p->op[v].phase != SITU_PHASE_UPDATE)
        whole = f->p->op[v].phase == SITU_PHASE_BACKWARD && f->p->zero == 3 ? 2 * own : own;
      own = 0;
    }
    out->peak_bytes[m] += own + kept * stash(f, v);
    largest[m] = max_of(largest[m], running(f, v) + whole);
  }
  for (int32_t m = 0; m < f->n_memories; m++) out->peak_bytes[m] += largest[m];
  for (int32_t d = 0; d < f->p->n_devices; d++) out->peak_bytes[f->memory_of[d]] += share(shares[d], l->sharing[d]);
  for (int32_t d = 0; d < f->p->n_devices; d++)
    if (at->replica_of[d] >= 0) out->peak_bytes[f->memory_of[d]] = out->peak_bytes[f->memory_of[at->replica_of[d]]];
  value_judge_memory(out, f);
}

void pipeline_evaluate(attack_value *out, const attack_facts *f, const attack_placement *at) {
  const attack_problem *p = f->p;
  loads l;
  memset(out, 0, sizeof *out);
  memset(&l, 0, sizeof l);
  out->value_ns = SITU_NEVER_NS;
  for (int32_t d = 0; d < p->n_devices; d++) l.sharing[d] = 1;
  for (int32_t d = 0; d < p->n_devices; d++)
    if (at->replica_of[d] >= 0) l.sharing[at->replica_of[d]]++;
  for (int32_t v = 0; v < p->n; v++) {
    int64_t time = facts_time(f, v, at->device[v]);
    if (time == SITU_NEVER_NS) return;
    int64_t times = 1; /* without shares each makes the whole update of a step */
    if (p->op[v].phase == SITU_PHASE_UPDATE && p->zero == 0 && p->micro_batches > 0)
      times = l.sharing[at->device[v]] < p->micro_batches ? l.sharing[at->device[v]] : p->micro_batches;
    l.compute[phase_of(f, v)][at->device[v]] += time * times;
  }
  if (p->communication == SITU_COMMUNICATION_LINK)
    charge_links(&l, f, at);
  else
    charge_staged(&l, f, at);
  bool apart = p->schedule == SITU_SCHEDULE_GPIPE;
  for (int32_t d = 0; d < p->n_devices; d++) {
    int32_t of = at->replica_of[d] >= 0 ? at->replica_of[d] : d;
    out->load_ns[d] =
        apart ? load_of(&l, f, of, true, false) + load_of(&l, f, of, false, true) : load_of(&l, f, of, true, true);
  }
  out->runs = true;
  out->keeps = p->free || is_contiguous(f, at);
  out->value_ns = apart ? max_load(&l, f, true, false) + max_load(&l, f, false, true) : max_load(&l, f, true, true);
  pipeline_memory(out, f, at, &l);
}
