/* Memories, pools, routes, units: what docs/model.md and docs/formats/platform.md derive from a problem. */
#include <string.h>

#include "attack_model.h"

int64_t link_ns(const situ_link *link, int64_t bytes) {
  __int128 rate = (__int128)link->bytes_per_s; /* the rates of these problems are whole numbers */
  return link->latency_ns + (int64_t)(((__int128)bytes * 1000000000 + rate - 1) / rate);
}

static void find_memories(attack_facts *f) {
  const attack_problem *p = f->p;
  int32_t pool_owner[MAX_DEVICES];
  for (int32_t d = 0; d < p->n_devices; d++) {
    const attack_device *x = &p->device[d];
    if (x->shares >= 0 && !x->apart) {
      f->memory_of[d] = f->memory_of[x->shares];
    } else {
      int32_t m = f->memory_of[d] = f->n_memories++;
      if (x->shares >= 0) {
        f->pool_of[m] = f->pool_of[f->memory_of[x->shares]];
      } else {
        f->pool_of[m] = f->n_pools++;
        pool_owner[f->pool_of[m]] = d;
      }
    }
    if (x->is_host) f->hosts_of[f->memory_of[d]] |= 1U << d;
  }
  for (int32_t k = 0; k < f->n_pools; k++) {
    f->capacity_bytes[k] = p->device[pool_owner[k]].capacity_bytes;
    f->limited |= f->capacity_bytes[k] != SITU_UNLIMITED_BYTES;
  }
  for (int32_t d = p->n_devices - 1; d >= 0; d--)
    if (p->device[d].is_host) f->host = d; /* the first host; device 0 if there is none */
}

static void find_channels(attack_facts *f) {
  const attack_problem *p = f->p;
  for (int32_t i = 0; i < p->n_links; i++) {
    int32_t same = -1;
    for (int32_t k = 0; k < i && same < 0; k++)
      if (p->link[i].channel >= 0 && p->link[k].channel == p->link[i].channel) same = k;
    f->channel_of[i] = same >= 0 ? f->channel_of[same] : f->n_channels++;
  }
}

/* A path of links that is being looked for. */
typedef struct path {
  int32_t link[MAX_DEVICES], n;
  __int128 weight;
} path;

static bool shorter(const path *a, const path *b) {
  if (a->weight != b->weight) return a->weight < b->weight;
  if (a->n != b->n) return a->n < b->n;
  for (int32_t k = 0; k < a->n; k++)
    if (a->link[k] != b->link[k]) return a->link[k] < b->link[k];
  return false;
}

static void walk(attack_facts *f, path *now, path *best, int32_t at, int32_t to, uint32_t seen) {
  const attack_problem *p = f->p;
  if (at == to) {
    if (best->n < 0 || shorter(now, best)) *best = *now;
    return;
  }
  for (int32_t i = 0; i < p->n_links; i++) {
    int32_t next = f->memory_of[p->link[i].to_device];
    if (f->memory_of[p->link[i].from_device] != at || (seen >> next & 1)) continue;
    int64_t weight = link_ns(&p->link[i], 1048576);
    now->link[now->n++] = i;
    now->weight += weight;
    walk(f, now, best, next, to, seen | 1U << next);
    now->weight -= weight;
    now->n--;
  }
}

/* A measured link changes what links of its classes take, not the routes. */
static void find_hops(attack_facts *f) {
  const attack_problem *p = f->p;
  for (int32_t i = 0; i < p->n_links; i++) {
    situ_link *x = &f->link[i];
    *x = p->link[i];
    const attack_device *from = &p->device[x->from_device], *to = &p->device[x->to_device];
    if (from->class_index == p->from_class && to->class_index == p->to_class && from->server == to->server) {
      x->latency_ns = p->measured_ns;
      x->bytes_per_s = p->measured_bytes_per_s;
    }
    if (to->class_index == p->part_class) x->latency_ns += p->part_start_ns;
    for (int32_t t = 0; t < p->n_tensors; t++)
      f->hop_ns[t][i] = p->n_hosts > 0                      ? p->tensor[t].hop_ns
                        : p->op[p->tensor[t].from].constant ? 0
                                                            : link_ns(x, p->tensor[t].size_bytes);
  }
}

static void find_routes(attack_facts *f) {
  const attack_problem *p = f->p;
  find_hops(f);
  for (int32_t a = 0; a < f->n_memories; a++)
    for (int32_t b = 0; b < f->n_memories; b++) {
      path now = {.n = 0}, best = {.n = -1};
      if (a == b) continue;
      walk(f, &now, &best, a, b, 1U << a);
      f->n_hops[a][b] = best.n;
      for (int32_t k = 0; k < best.n; k++) {
        f->route[a][b][k] = best.link[k];
        for (int32_t t = 0; t < p->n_tensors; t++) f->route_ns[t][a][b] += f->hop_ns[t][best.link[k]];
      }
    }
}

static void join(attack_facts *f, int32_t a, int32_t b) {
  int32_t low = f->unit_of[a] < f->unit_of[b] ? f->unit_of[a] : f->unit_of[b];
  int32_t high = f->unit_of[a] + f->unit_of[b] - low;
  for (int32_t v = 0; v < f->p->n; v++)
    if (f->unit_of[v] == high) f->unit_of[v] = low;
}

static void find_units(attack_facts *f) {
  const attack_problem *p = f->p;
  for (int32_t v = 0; v < p->n; v++) f->unit_of[v] = v;
  for (int32_t v = 0; v < p->n; v++)
    for (int32_t w = 0; w < v; w++) {
      const attack_operator *a = &p->op[v], *b = &p->op[w];
      if ((a->colocation >= 0 && a->colocation == b->colocation) || (a->kernel >= 0 && a->kernel == b->kernel) ||
          (a->together >= 0 && a->together == b->together))
        join(f, v, w);
    }
  for (int32_t u = 0; u < p->n; u++)
    for (int32_t d = 0; d < p->n_devices; d++) {
      bool allowed = true, pinned = false;
      for (int32_t v = 0; v < p->n; v++) {
        if (f->unit_of[v] != u) continue;
        if (p->op[v].pin >= 0) pinned = true;
        if (facts_time(f, v, d) == SITU_NEVER_NS || (p->op[v].pin >= 0 && p->op[v].pin != d)) allowed = false;
      }
      f->allowed[u][d] = allowed && (pinned || !p->device[d].unused);
    }
}

/* The recomputed operators that are one segment with v: those that read from one of them or make for one. */
static uint32_t segment_of(const attack_facts *f, int32_t v) {
  uint32_t segment = 1U << v, before = 0, copies = 0;
  for (int32_t w = 0; w < f->p->n; w++)
    if (f->p->op[w].phase == SITU_PHASE_RECOMPUTE) copies |= 1U << w;
  while (segment != before) {
    before = segment;
    for (int32_t t = 0; t < f->p->n_tensors; t++) {
      uint32_t from = 1U << f->p->tensor[t].from & copies, joined = from ? from | (f->p->tensor[t].users & copies) : 0;
      if (joined & segment) segment |= joined;
    }
  }
  return segment;
}

/* Bytes that wait for other phases beside operator v: of its own segment, or the largest that it reads from. */
static int64_t recomputed(const attack_facts *f, int32_t v) {
  int64_t most = 0;
  for (int32_t u = 0; u < f->p->n; u++) {
    if (f->p->op[u].phase != SITU_PHASE_RECOMPUTE) continue;
    uint32_t segment = segment_of(f, u);
    bool concerned = segment >> v & 1;
    int64_t bytes = 0;
    for (int32_t t = 0; t < f->p->n_tensors; t++) {
      bool others = false;
      if (!(segment >> f->p->tensor[t].from & 1)) continue;
      for (int32_t w = 0; w < f->p->n; w++)
        others |= (f->p->tensor[t].users >> w & 1) && f->p->op[w].phase != SITU_PHASE_RECOMPUTE;
      if (others) bytes += f->p->tensor[t].size_bytes;
      concerned |= f->p->op[v].phase != SITU_PHASE_RECOMPUTE && (f->p->tensor[t].users >> v & 1);
    }
    if (concerned) most = bytes > most ? bytes : most;
  }
  return most;
}

void facts_find(attack_facts *f, const attack_problem *p) {
  memset(f, 0, sizeof *f);
  f->p = p;
  find_memories(f);
  find_channels(f);
  find_routes(f);
  find_units(f);
  for (int32_t v = 0; v < p->n; v++) {
    f->training |= p->op[v].phase != SITU_PHASE_FORWARD;
    for (int32_t t = 0; t < p->n_tensors; t++)
      if (p->tensor[t].users >> v & 1) f->before[v] |= 1U << p->tensor[t].from;
    f->ancestors[v] = f->before[v];
    for (int32_t u = 0; u < v; u++)
      if (f->before[v] >> u & 1) f->ancestors[v] |= f->ancestors[u];
    f->recomputed_bytes[v] = recomputed(f, v);
  }
}

static bool same_route(const attack_facts *f, int32_t a, int32_t b, int32_t c, int32_t d) {
  if (f->n_hops[a][b] != f->n_hops[c][d]) return false;
  for (int32_t k = 0; k < f->n_hops[a][b]; k++) {
    const situ_link *x = &f->link[f->route[a][b][k]], *y = &f->link[f->route[c][d][k]];
    if (x->latency_ns != y->latency_ns || x->bytes_per_s != y->bytes_per_s) return false;
  }
  return true;
}

bool facts_may_share(const attack_facts *f, int32_t a, int32_t b) {
  const attack_problem *p = f->p;
  const attack_device *x = &p->device[a], *y = &p->device[b];
  int32_t m = f->memory_of[a], w = f->memory_of[b], h = f->memory_of[f->host];
  if (x->class_index != y->class_index || x->is_host != y->is_host || x->unused || y->unused) return false;
  if (f->capacity_bytes[f->pool_of[m]] != f->capacity_bytes[f->pool_of[w]]) return false;
  for (int32_t d = 0; d < p->n_devices; d++)
    if ((d != a && f->memory_of[d] == m) || (d != b && f->memory_of[d] == w)) return false;
  for (int32_t v = 0; v < p->n; v++) { /* a pin is that of the whole unit */
    for (int32_t u = 0; u < p->n; u++)
      if (f->unit_of[u] == f->unit_of[v] && (p->op[u].pin == a || p->op[u].pin == b)) return false;
  }
  return same_route(f, m, h, w, h) && same_route(f, h, m, h, w);
}

void value_judge_memory(attack_value *out, const attack_facts *f) {
  int64_t held[MAX_DEVICES] = {0};
  for (int32_t m = 0; m < f->n_memories; m++) held[f->pool_of[m]] += out->peak_bytes[m];
  out->fits = true;
  for (int32_t k = 0; k < f->n_pools; k++) out->fits = out->fits && held[k] <= f->capacity_bytes[k];
}

void value_find(attack_value *out, const attack_facts *f, const attack_placement *at, bool memory) {
  if (f->p->execution == SITU_EXECUTION_STREAM)
    stream_evaluate(out, f, at, memory);
  else if (f->p->execution == SITU_EXECUTION_CALLS)
    calls_evaluate(out, f, at);
  else
    pipeline_evaluate(out, f, at);
}
