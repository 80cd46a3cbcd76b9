#include "bound/call_price.h"

#include <string.h>



#include "base/checked.h"

static const int64_t CALLS_PER_STEP = 512, MOST_NS = (int64_t)1 << 49;
enum { ROOM_BITS = 20 };

static void count_flow(call_price *c) {
  const call_graph *g = c->lattice->graph;
  for (int32_t v = 0; v < g->n; v++) c->through[v] = 0;
  for (int32_t i = 0; i < g->use_start[g->n_tensors]; i++) c->flow_in[i] = 0;
  for (int32_t k = 0; k < c->n_paths; k++) {
    const call_path *p = &c->path[k];
    c->through[p->first] += p->parts;
    for (int32_t i = 0; i + 1 < p->n; i++) {
      c->flow_in[p->use[i]] += p->parts;
      c->through[g->use[p->use[i]]] += p->parts;
    }
  }
  c->solved = false;
}

/* Makes path k the longest path of the nodes when a node takes node_ns, unless it shares the unit of the one before. */
static int64_t longest_path(call_price *c, int32_t k, const int64_t *node_ns, const int32_t *unit) {
  const call_graph *g = c->lattice->graph;
  int32_t last = 0;
  for (int32_t v = 0; v < g->n; v++) {
    c->reach_ns[v] = node_ns[v];
    c->reach_use[v] = -1;
    for (int32_t i = g->in_start[v]; i < g->in_start[v + 1]; i++) {
      int32_t u = g->producer[g->in[i]];
      int64_t reach = c->reach_ns[u] + (unit && unit[u] == unit[v] ? 0 : node_ns[v]);
      if (c->reach_use[v] < 0 || reach > c->reach_ns[v]) {
        c->reach_ns[v] = reach;
        c->reach_use[v] = i;
      }
    }
    if (c->reach_ns[v] > c->reach_ns[last]) last = v;
  }
  int32_t n = 1;
  for (int32_t v = last; c->reach_use[v] >= 0; v = g->producer[g->in[c->reach_use[v]]]) n++;
  call_path *p = &c->path[k];
  p->n = n;
  p->first = last;
  while (c->reach_use[p->first] >= 0) {
    p->use[--n - 1] = g->in_use[c->reach_use[p->first]];
    p->first = g->producer[g->in[c->reach_use[p->first]]];
  }
  return c->reach_ns[last];
}

bool call_price_make(call_price *c, const call_lattice *l, bool *unfit, arena *a) {
  const call_graph *g = l->graph;
  *c = (call_price){.lattice = l};
  *unfit = g->total_ns > MOST_NS || g->n == 0;
  if (*unfit) return false;
  int64_t weights = 0;
  for (int32_t v = 0; v < g->n; v++) weights = sat_add(weights, g->weight_bytes[v]);
  while (weights >> c->shift >> ROOM_BITS) c->shift++;
  c->room = g->all_bytes >> c->shift;
  for (int32_t k = 0; k < CALL_PATHS; k++)
    if (!(c->path[k].use = ARENA_NEW(a, int32_t, g->n)) || !(c->best_path[k].use = ARENA_NEW(a, int32_t, g->n)))
      return false;
  c->node_ns = ARENA_NEW(a, int64_t, g->n);
  c->through = ARENA_NEW(a, int64_t, g->n);
  c->flow_in = ARENA_NEW(a, int64_t, g->use_start[g->n_tensors]);
  c->rest = ARENA_NEW(a, int64_t, l->n);
  c->choice = ARENA_NEW(a, int32_t, l->n);
  c->choice_host = ARENA_NEW(a, bool, l->n);
  c->reach_ns = ARENA_NEW(a, int64_t, g->n);
  c->reach_use = ARENA_NEW(a, int32_t, g->n);
  c->unit = ARENA_NEW(a, int32_t, g->n);
  int64_t *least_ns = ARENA_NEW(a, int64_t, g->n);
  if (!c->node_ns || !c->through || !c->flow_in || !c->rest || !c->choice || !c->choice_host || !c->reach_ns || !c->reach_use ||
      !c->unit || !least_ns || !call_walk_make(&c->walk, l, c->flow_in, c->through, a))
    return false;
  for (int32_t v = 0; v < g->n; v++) {
    least_ns[v] = min64(g->call_ns[v], g->host_ns[v]);
    if (least_ns[v] == SITU_NEVER_NS) least_ns[v] = 0;
  }
  longest_path(c, 0, least_ns, NULL);
  c->path[0].parts = CALL_PARTS;
  c->n_paths = 1;
  count_flow(c);
  return true;
}

static void solve_from(call_price *c, int32_t from) {
  const call_lattice *l = c->lattice;
  const call_graph *g = l->graph;
  int64_t best = SITU_NEVER_NS;
  int32_t choice = -1;
  bool host = true;
  for (int64_t i = l->step_start[from]; i < l->step_start[from + 1]; i++) {
    int32_t v = l->step[i].node, to = l->step[i].ideal;
    if (g->host_ns[v] == SITU_NEVER_NS || c->rest[to] == SITU_NEVER_NS) continue;
    int64_t cost = c->through[v] * g->host_ns[v] + c->rest[to];
    if (cost >= best) continue;
    best = cost;
    choice = to;
  }
  call_walk *w = &c->walk;
  call_walk_start(w, from);
  bool deeper = true;
  for (int32_t to; (to = call_walk_next(w, deeper)) >= 0;) {
    c->n_calls++;
    int64_t memory = c->price * (w->weight_bytes >> c->shift);
    deeper = w->flow * (w->compute_ns + w->in_ns) + memory < best;
    if (c->rest[to] == SITU_NEVER_NS) continue;
    int64_t cost = w->flow * (w->compute_ns + w->in_ns + w->out_ns) + memory + c->rest[to];
    if (cost >= best) continue;
    best = cost;
    choice = to;
    host = false;
  }
  c->rest[from] = best;
  c->choice[from] = choice;
  c->choice_host[from] = host;
}

bool call_price_solve(call_price *c, budget *b) {
  const call_lattice *l = c->lattice;
  int64_t spent = c->n_calls / CALLS_PER_STEP;
  c->solved = false;
  c->rest[l->n - 1] = 0;
  for (int32_t i = l->n - 2; i >= 0; i--) {
    solve_from(c, i);
    int64_t steps = c->n_calls / CALLS_PER_STEP;
    if (budget_spend(b, steps - spent)) return false;
    spent = steps;
  }
  c->solved = true;
  if (c->rest[0] == SITU_NEVER_NS) {
    c->lower_ns = SITU_NEVER_NS;
    return true;
  }
  int64_t scaled = c->rest[0] - (c->price > 0 ? c->price * c->room : 0);
  c->lower_ns = scaled <= 0 ? 0 : (scaled + CALL_PARTS - 1) / CALL_PARTS;
  return true;
}

/* The unit of each node in the plan behind the bound (node_ns: what it lasts), and what is in calls. */
static int64_t trace(const call_price *c, int64_t *node_ns, int32_t *unit) {
  const call_lattice *l = c->lattice;
  const call_graph *g = l->graph;
  int64_t used = 0;
  for (int32_t from = 0, k = 0; from != l->n - 1; from = c->choice[from], k++) {
    int32_t to = c->choice[from];
    int64_t lasts = 0, bytes = 0;
    for (int32_t v = 0; v < g->n; v++) {
      if (call_lattice_has(l, from, v) || !call_lattice_has(l, to, v)) continue;
      unit[v] = k;
      bytes += c->choice_host[from] ? 0 : g->weight_bytes[v];
      lasts += c->choice_host[from] ? g->host_ns[v] : g->call_ns[v];
    }
    for (int32_t t = 0; t < g->n_tensors && !c->choice_host[from]; t++) {
      int32_t u = g->producer[t];
      bool before = call_lattice_has(l, from, u), made = !before && call_lattice_has(l, to, u), in = false, out = false;
      for (int32_t i = g->use_start[t]; i < g->use_start[t + 1]; i++) {
        bool here = call_lattice_has(l, to, g->use[i]);
        in |= before && here && !call_lattice_has(l, from, g->use[i]);
        out |= made && !here;
      }
      lasts += (in ? g->in_ns[t] : 0) + (out ? g->out_ns[t] : 0);
    }
    for (int32_t v = 0; v < g->n; v++)
      if (!call_lattice_has(l, from, v) && call_lattice_has(l, to, v)) node_ns[v] = lasts;
    used += bytes >> c->shift;
  }
  return used;
}

int64_t call_price_used(const call_price *c) {
  const call_lattice *l = c->lattice;
  const call_graph *g = l->graph;
  int64_t used = 0;
  for (int32_t from = 0; from != l->n - 1; from = c->choice[from]) {
    int64_t bytes = 0;
    for (int32_t v = 0; v < g->n && !c->choice_host[from]; v++)
      if (!call_lattice_has(l, from, v) && call_lattice_has(l, c->choice[from], v)) bytes += g->weight_bytes[v];
    used += bytes >> c->shift;
  }
  return used;
}

/* Moves a part of the flow to path `to` from all others, evenly. */
static void shift_flow(call_price *c, int32_t to, int64_t parts) {
  int64_t moved = 0;
  for (int32_t k = 0; k < c->n_paths; k++) {
    if (k == to) continue;
    int64_t less = (c->path[k].parts * parts + CALL_PARTS - 1) / CALL_PARTS;
    c->path[k].parts -= (int32_t)less;
    moved += less;
  }
  c->path[to].parts += (int32_t)moved;
}

static bool same_path(const call_path *a, const call_path *b) {
  return a->n == b->n && a->first == b->first && memcmp(a->use, b->use, (size_t)(a->n - 1) * sizeof *a->use) == 0;
}

/* A place for another path: a new one, or that of the path with least flow. */
static int32_t free_path(call_price *c) {
  int32_t least = 0;
  if (c->n_paths < CALL_PATHS) {
    c->path[c->n_paths].parts = 0;
    return c->n_paths++;
  }
  for (int32_t k = 1; k < c->n_paths; k++)
    if (c->path[k].parts < c->path[least].parts) least = k;
  int32_t heir = least == 0;
  c->path[heir].parts += c->path[least].parts;
  c->path[least].parts = 0;
  return least;
}

/* Gives the path that the plan behind the bound makes longest a part of the flow; path 0 of the scratch is not kept. */
static void follow_plan(call_price *c, const int64_t *node_ns, double share) {
  int32_t k = free_path(c), same = k;
  longest_path(c, k, node_ns, c->unit);
  for (int32_t j = 0; j < c->n_paths && same == k; j++)
    if (j != k && same_path(&c->path[j], &c->path[k])) same = j;
  shift_flow(c, same, (int64_t)(share * CALL_PARTS));
}

/* Takes flow and price of another; both are of one lattice. */
static void copy_paths(call_path *to, const call_path *from, int32_t n) {
  for (int32_t k = 0; k < n; k++) {
    to[k].parts = from[k].parts;
    to[k].n = from[k].n;
    to[k].first = from[k].first;
    memcpy(to[k].use, from[k].use, (size_t)(from[k].n - 1) * sizeof *from[k].use);
  }
}

static void keep(call_price *c) {
  copy_paths(c->best_path, c->path, c->n_paths);
  c->n_best_paths = c->n_paths;
  c->best_price = c->price;
  c->best_lower_ns = c->lower_ns;
}

bool call_price_improve(call_price *c, int32_t rounds, int64_t upper_ns, budget *b) {
  double share = 0.5, step = 1;
  if (!c->solved && !call_price_solve(c, b)) return false;
  keep(c);
  for (int32_t round = 0; round < rounds && c->best_lower_ns < upper_ns; round++) {
    int64_t used = trace(c, c->node_ns, c->unit), over = used - c->room;
    if (over > 0 || c->price > 0) {
      double gap = (double)(upper_ns - c->lower_ns) * CALL_PARTS;
      c->price = max64(0, c->price + (int64_t)(step * gap / (double)over));
    }
    follow_plan(c, c->node_ns, share);
    count_flow(c);
    if (!call_price_solve(c, b)) break;

    if (c->lower_ns > c->best_lower_ns)
      keep(c);
    else
      share *= 0.9, step *= 0.8;
  }
  copy_paths(c->path, c->best_path, c->n_best_paths);
  c->n_paths = c->n_best_paths;
  c->price = c->best_price;
  count_flow(c);
  return call_price_solve(c, b);
}
