#include "exact/call_graph.h"

#include "base/checked.h"
#include "base/contracts.h"
#include "base/csr.h"
#include "view/footprint.h"
#include "view/unit.h"

/* The graph under construction. root[v] is the operator that v was fused into, v itself, or -1 where v is left out. */
typedef struct maker {
  const situ_problem *p;
  call_graph *g;
  int32_t *root, *node;                  /* node: [operator] of roots */
  int32_t *seen;                         /* [node] the last tensor that counted it as a user */
  int64_t *tensor_in_ns, *tensor_out_ns; /* [tensor of the problem] */
  bool *idle;
  int64_t light_bytes;
} maker;

static bool is_accelerator(const situ_problem *p, int32_t d) { return !problem_is_host(p, d); }

/* Whether v takes no time on any device and may run on every device in use. */
static bool is_idle(const situ_problem *p, int32_t v) {
  for (int32_t d = 0; d < p->n_devices; d++)
    if (!p->unused[d] && (!problem_allows(p, v, d) || problem_time_ns(p, v, d) != 0)) return false;
  return true;
}

static void price_tensors(maker *m) {
  const situ_problem *p = m->p;
  for (int32_t t = 0; t < p->graph->n_tensors; t++) {
    int64_t in = SITU_NEVER_NS, out = SITU_NEVER_NS;
    for (int32_t d = 0; d < p->n_devices; d++) {
      if (!is_accelerator(p, d)) continue;
      in = min64(in, problem_transfer_ns(p, t, p->host, d));
      out = min64(out, problem_transfer_ns(p, t, d, p->host));
    }
    m->tensor_in_ns[t] = in == SITU_NEVER_NS ? 0 : in;
    m->tensor_out_ns[t] = out == SITU_NEVER_NS ? 0 : out;
  }
}

/* Whether v can follow u without loss: it has no (or almost no) weights and is free to move, or it is in u's group
 * anyway. Never true for the operator that needs the most memory while it runs. */
static bool may_follow(const maker *m, int32_t v, int32_t u) {
  const situ_graph *g = m->p->graph;
  bool light = g->colocation[v] < 0 && g->weight_bytes[v] <= m->light_bytes;
  return (unit_joins(m->p, v, u) || light) && footprint_bytes(g, v) <= footprint_bytes(g, u);
}

static bool used_by_nobody(const situ_graph *g, int32_t v) {
  for (int32_t t = g->out_start[v]; t < g->out_start[v + 1]; t++)
    if (g->use_start[t] < g->use_start[t + 1]) return false;
  return true;
}

/* Whether the outputs of v cost no more than tensor t, both into and out of every device. */
static bool costs_no_more(const situ_problem *p, int32_t v, int32_t t) {
  const situ_graph *g = p->graph;
  for (int32_t d = 0; d < p->n_devices; d++) {
    int64_t in = 0, out = 0;
    for (int32_t o = g->out_start[v]; o < g->out_start[v + 1]; o++) {
      in = sat_add(in, problem_transfer_ns(p, o, p->host, d));
      out = sat_add(out, problem_transfer_ns(p, o, d, p->host));
    }
    if (in > problem_transfer_ns(p, t, p->host, d) || out > problem_transfer_ns(p, t, d, p->host)) return false;
  }
  return true;
}

static int32_t root_of(const maker *m, int32_t v) {
  while (m->root[v] >= 0 && m->root[v] != v) v = m->root[v];
  return m->root[v];
}

/* The node from which all inputs of v come, if v may follow it; else -1. */
static int32_t only_source(const maker *m, int32_t v) {
  const situ_graph *g = m->p->graph;
  if (!m->idle[v] || m->root[v] != v || g->in_start[v] == g->in_start[v + 1]) return -1;
  int32_t root = root_of(m, g->producer[g->in[g->in_start[v]]]);
  for (int64_t i = g->in_start[v] + 1; i < g->in_start[v + 1]; i++)
    if (root_of(m, g->producer[g->in[i]]) != root) return -1;
  return may_follow(m, v, root) ? root : -1;
}

static void fuse_sink(maker *m, int32_t v) {
  int32_t root = used_by_nobody(m->p->graph, v) ? only_source(m, v) : -1;
  if (root >= 0) m->root[v] = root;
}

/* Fuses a relay: an operator whose one input is used by nobody else, apart from what is fused with the producer. */
static void fuse_relay(maker *m, int32_t v) {
  const situ_graph *g = m->p->graph;
  int32_t root = only_source(m, v);
  if (root < 0 || g->in_start[v + 1] != g->in_start[v] + 1) return;
  int32_t t = g->in[g->in_start[v]];
  for (int64_t i = g->use_start[t]; i < g->use_start[t + 1]; i++)
    if (g->use[i] != v && root_of(m, g->use[i]) != root) return;
  if (costs_no_more(m->p, v, t)) m->root[v] = root;
}

/* What the outputs of a source, with everything fused into it, lead to. */
typedef struct outlook {
  int32_t user;               /* a node that uses it, or -1 */
  bool single, free, follows; /* no other node uses it; its outputs are free; all may follow that user */
} outlook;

static void look_out(const maker *m, int32_t root, int32_t v, outlook *o) {
  const situ_graph *g = m->p->graph;
  for (int32_t t = g->out_start[v]; t < g->out_start[v + 1]; t++)
    for (int64_t i = g->use_start[t]; i < g->use_start[t + 1]; i++) {
      int32_t r = root_of(m, g->use[i]);
      if (r == root) continue;
      o->free &= m->tensor_in_ns[t] == 0;
      o->single &= o->user < 0 || r == o->user;
      o->user = r;
    }
}

static void fuse_source(maker *m, int32_t v) {
  const situ_problem *p = m->p;
  const situ_graph *g = p->graph;
  if (!m->idle[v] || m->root[v] != v) return;
  for (int64_t i = g->in_start[v]; i < g->in_start[v + 1]; i++)
    if (root_of(m, g->producer[g->in[i]]) >= 0) return; /* not a source, even without the operators left out */
  outlook o = {.user = -1, .single = true, .free = true, .follows = true};
  bool lonely = true, grouped = false; /* nothing was fused into v; something of it is in a group */
  for (int32_t t = g->out_start[v]; t < g->out_start[v + 1]; t++)
    for (int64_t i = g->use_start[t]; i < g->use_start[t + 1]; i++) lonely &= m->root[g->use[i]] != v;
  int32_t end = lonely ? v + 1 : p->n_operators; /* what is fused into a source comes after it */
  for (int32_t w = v; w < end; w++)
    if (root_of(m, w) == v) look_out(m, v, w, &o);
  for (int32_t w = v; w < end; w++) {
    if (root_of(m, w) != v) continue;
    grouped |= g->colocation[w] >= 0;
    o.follows &= o.user >= 0 && may_follow(m, w, o.user);
  }
  if (o.single && o.follows)
    m->root[v] = o.user;
  else if (o.free && !grouped && p->platform->devices[p->host].is_host)
    m->root[v] = -1;
}

static void weigh_nodes(maker *m) {
  const situ_problem *p = m->p;
  call_graph *g = m->g;
  for (int32_t v = 0; v < g->n; v++) g->call_ns[v] = g->host_ns[v] = 0;
  for (int32_t v = 0; v < p->n_operators; v++) {
    int32_t k = g->node_of[v];
    if (k < 0) continue;
    int64_t call = SITU_NEVER_NS, host = SITU_NEVER_NS;
    for (int32_t d = 0; d < p->n_devices; d++)
      if (problem_allows(p, v, d)) {
        int64_t *min = is_accelerator(p, d) ? &call : &host;
        *min = min64(*min, problem_time_ns(p, v, d));
      }
    g->call_ns[k] = sat_add(g->call_ns[k], call); /* at most one operator of a node takes time */
    g->host_ns[k] = sat_add(g->host_ns[k], host);
    bool counts = m->root[v] == v || p->graph->colocation[v] >= 0; /* else a better plan may have it elsewhere */
    if (counts) g->weight_bytes[k] = sat_add(g->weight_bytes[k], p->graph->weight_bytes[v]);
  }
}

static void add_tensor(maker *m, int32_t t, int32_t producer) {
  const situ_graph *full = m->p->graph;
  call_graph *g = m->g;
  int32_t k = g->n_tensors, end = g->use_start[k];
  for (int64_t i = full->use_start[t]; i < full->use_start[t + 1]; i++) {
    int32_t x = g->node_of[full->use[i]];
    if (x < 0 || x == producer || m->seen[x] == t) continue;
    m->seen[x] = t;
    g->use[end++] = x;
  }
  if (end == g->use_start[k]) return;
  g->producer[k] = producer;
  g->in_ns[k] = m->tensor_in_ns[t];
  g->out_ns[k] = m->tensor_out_ns[t];
  g->use_start[++g->n_tensors] = end;
}

/* Lists the tensors of each node, node by node. `member` lists operators by node. */
static void list_tensors(maker *m, const int32_t *member, const int32_t *member_start) {
  call_graph *g = m->g;
  const situ_graph *full = m->p->graph;
  g->use_start[0] = 0;
  for (int32_t k = 0; k < g->n; k++) {
    g->out_start[k] = g->n_tensors;
    for (int32_t i = member_start[k]; i < member_start[k + 1]; i++)
      for (int32_t t = full->out_start[member[i]]; t < full->out_start[member[i] + 1]; t++) add_tensor(m, t, k);
  }
  g->out_start[g->n] = g->n_tensors;
  for (int32_t i = 0; i < g->use_start[g->n_tensors]; i++) csr_count(g->in_start, g->use[i]);
  csr_sum(g->in_start, g->n);
  for (int32_t t = 0; t < g->n_tensors; t++)
    for (int32_t i = g->use_start[t]; i < g->use_start[t + 1]; i++) {
      int32_t at = csr_put(g->in_start, g->use[i]);
      g->in[at] = t;
      g->in_use[at] = i;
    }
}

static void find_room(call_graph *g) {
  const situ_problem *p = g->problem;
  g->call_bytes = g->all_bytes = 0;
  for (int32_t w = 0; w < p->n_memories; w++) {
    bool used = false;
    for (int32_t d = 0; d < p->n_devices; d++) used |= p->memory_of[d] == w && is_accelerator(p, d);
    if (!used) continue;
    g->call_bytes = max64(g->call_bytes, p->platform->memory_bytes[w]);
    g->all_bytes = sat_add(g->all_bytes, p->platform->memory_bytes[w]);
  }
  g->total_ns = 0;
  for (int32_t v = 0; v < g->n; v++) {
    if (g->call_ns[v] != SITU_NEVER_NS) g->total_ns = sat_add(g->total_ns, g->call_ns[v]);
    if (g->host_ns[v] != SITU_NEVER_NS) g->total_ns = sat_add(g->total_ns, g->host_ns[v]);
  }
  for (int32_t t = 0; t < g->n_tensors; t++) {
    g->total_ns = sat_add(g->total_ns, g->out_ns[t]);
    g->total_ns = sat_add(g->total_ns, sat_mul(g->in_ns[t], g->use_start[t + 1] - g->use_start[t]));
  }
}

/* A maximum number of calls is no limit where there are no more nodes than that. */
static void count_calls(call_graph *g) {
  const situ_problem *p = g->problem;
  int64_t all = 0;
  for (int32_t d = 0; d < p->n_devices; d++) {
    bool used = false;
    for (int32_t v = 0; v < p->n_operators && !used; v++) used = is_accelerator(p, d) && problem_allows(p, v, d);
    if (used) all = sat_add(all, p->max_calls);
  }
  g->device_calls = p->max_calls < g->n ? p->max_calls : INT32_MAX;
  g->all_calls = all < g->n ? (int32_t)all : INT32_MAX;
}

static void number_nodes(maker *m) {
  call_graph *g = m->g;
  int32_t n = m->p->n_operators;
  for (int32_t v = 0; v < n; v++)
    if (m->root[v] == v) m->node[v] = g->n++;
  for (int32_t v = 0; v < n; v++) {
    int32_t root = root_of(m, v); /* -1 also for what was fused into an operator that was left out later */
    g->node_of[v] = root < 0 ? -1 : m->node[root];
    m->seen[v] = -1;
  }
}

bool call_graph_find(call_graph *out, const situ_problem *p, int64_t light_bytes, arena *a) {
  int32_t n = p->n_operators, n_tensors = p->graph->n_tensors, *member, *member_start;
  int64_t n_uses = p->graph->n_uses;
  *out = (call_graph){.problem = p};
  maker m = {.p = p, .g = out, .light_bytes = light_bytes};
  if (!ARENA_ARRAYS(a, ARRAY(out->node_of, n), ARRAY(out->call_ns, n), ARRAY(out->host_ns, n),
                    ZEROS(out->weight_bytes, n), ARRAY(out->out_start, n + 1), ARRAY(out->producer, n_tensors),
                    ARRAY(out->in_ns, n_tensors), ARRAY(out->out_ns, n_tensors), ARRAY(out->use_start, n_tensors + 1),
                    ARRAY(out->use, n_uses), ZEROS(out->in_start, n + 2), ARRAY(out->in, n_uses),
                    ARRAY(out->in_use, n_uses), ARRAY(m.root, n), ARRAY(m.node, n), ARRAY(m.seen, n),
                    ARRAY(m.tensor_in_ns, n_tensors), ARRAY(m.tensor_out_ns, n_tensors), ARRAY(m.idle, n)))
    return false;
  price_tensors(&m);
  for (int32_t v = 0; v < n; v++) {
    m.root[v] = v;
    m.idle[v] = is_idle(p, v);
  }
  for (int32_t v = n - 1; v >= 0; v--) fuse_sink(&m, v);
  for (int32_t v = 0; v < n; v++) fuse_relay(&m, v);
  for (int32_t v = n - 1; v >= 0; v--) fuse_source(&m, v);
  for (int32_t v = 0; v < n; v++) fuse_source(&m, v); /* new sources have appeared */
  number_nodes(&m);
  if (!csr_by_key(&member_start, &member, out->node_of, n, out->n, a)) return false;
  weigh_nodes(&m);
  list_tensors(&m, member, member_start);
  find_room(out);
  count_calls(out);
  CONTRACT(call_graph_check(out));
  return true;
}

const char *call_graph_check(const call_graph *g) {
  int32_t n_uses = g->use_start[g->n_tensors];
  EXPECT(contracts_within(g->node_of, g->problem->n_operators, -1, g->n), "operators are in nodes, or left out");
  EXPECT(contracts_amounts(g->call_ns, g->n) && contracts_amounts(g->host_ns, g->n), "times are at least 0");
  EXPECT(contracts_amounts(g->in_ns, g->n_tensors) && contracts_amounts(g->out_ns, g->n_tensors), "so are transfers");
  EXPECT(contracts_amounts(g->weight_bytes, g->n), "sizes are at least 0");
  EXPECT(contracts_lists(g->out_start, g->n, g->n_tensors), "out_start lists tensors by node");
  EXPECT(contracts_lists(g->use_start, g->n_tensors, n_uses), "use_start lists users by tensor");
  EXPECT(contracts_lists(g->in_start, g->n, n_uses), "in_start lists uses by node");
  EXPECT(contracts_within(g->use, n_uses, 0, g->n), "users are nodes");
  for (int32_t v = 0; v < g->n; v++)
    for (int32_t t = g->out_start[v]; t < g->out_start[v + 1]; t++)
      EXPECT(g->producer[t] == v, "producer agrees with out_start");
  for (int32_t t = 0; t < g->n_tensors; t++) {
    int32_t first = g->use_start[t], n = g->use_start[t + 1] - first;
    EXPECT(n > 0 && contracts_rise(g->use + first, n), "a tensor leaves its node; its users ascend");
    EXPECT(g->use[first] > g->producer[t], "nodes are in a topological order");
  }
  for (int32_t v = 0; v < g->n; v++)
    for (int32_t i = g->in_start[v]; i < g->in_start[v + 1]; i++) {
      int32_t k = g->in_use[i], t = g->in[i];
      EXPECT(t >= 0 && t < g->n_tensors && k >= g->use_start[t] && k < g->use_start[t + 1], "in_use is a use of in");
      EXPECT(g->use[k] == v, "in_use is the node's own");
    }
  return NULL;
}
