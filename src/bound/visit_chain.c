#include "bound/visit_chain.h"

#include <stdlib.h>

#include "base/checked.h"
#include "problem/footprint.h"

/* Sums of visits that may be kept at once, and that may be made. */
static const double MOST_SUMS = 4e6;
static const int64_t VISIT_MOST_WORK = 400000000;

/* ---- times in memories ---- */

static bool together(const situ_graph *g, int32_t u, int32_t v) {
  return g->colocation[u] >= 0 && g->colocation[u] == g->colocation[v];
}

static int64_t transfer_ns(const situ_problem *p, int32_t t, int32_t from, int32_t to) {
  return p->transfer_ns[(int64_t)t * p->n_kinds + p->costs->pair_kind[(int64_t)from * p->n_memories + to]];
}

/* there[m] = least over k of here[k] + the time of tensor t from k to m; backward, from m to k. */
static void spread(int64_t *there, const int64_t *here, const situ_problem *p, int32_t t, bool backward) {
  int32_t n = p->n_memories;
  for (int32_t m = 0; m < n; m++) there[m] = here[m];
  for (int32_t k = 0; k < n; k++) {
    if (here[k] == SITU_NEVER_NS) continue;
    for (int32_t m = 0; m < n; m++)
      there[m] = min64(there[m], sat_add(here[k], backward ? transfer_ns(p, t, m, k) : transfer_ns(p, t, k, m)));
  }
}

/* The operators of a part of the graph, to which a recursion keeps; NULL: all. */
typedef struct part {
  const int32_t *block_of; /* [operator] */
  int32_t block, last;     /* block_of[v] == block, or v == last */
} part;

static bool is_in(const part *s, int32_t v) { return !s || s->block_of[v] == s->block || v == s->last; }

/* Tells the users of v when its outputs are in each memory; here: its end in each. Members of one group share a memory.
 */
static void send(const visits *s, int64_t *ready, int32_t v, const int64_t *here, int64_t *there, const part *within) {
  const situ_problem *p = s->problem;
  const situ_graph *g = p->graph;
  int32_t n = s->n_memories;
  for (int32_t t = g->out_start[v]; t < g->out_start[v + 1]; t++) {
    bool known = false;
    for (int64_t i = g->use_start[t]; i < g->use_start[t + 1]; i++) {
      int32_t x = g->use[i];
      if (!is_in(within, x)) continue;
      if (!known) spread(there, here, p, t, false);
      known = true;
      const int64_t *from = together(g, v, x) ? here : there;
      for (int32_t m = 0; m < n; m++) ready[(int64_t)x * n + m] = max64(ready[(int64_t)x * n + m], from[m]);
    }
  }
}

/* Tells the producers of x what comes after them; here: its time and what comes after it, in each memory. */
static void send_back(const visits *s, int64_t *after, int32_t x, const int64_t *here, int64_t *there,
                      const part *within) {
  const situ_problem *p = s->problem;
  const situ_graph *g = p->graph;
  int32_t n = s->n_memories;
  for (int64_t i = g->in_start[x]; i < g->in_start[x + 1]; i++) {
    int32_t t = g->in[i], u = g->producer[t];
    if (within && within->block_of[u] != within->block) continue;
    bool same = together(g, u, x);
    if (!same) spread(there, here, p, t, true);
    const int64_t *from = same ? here : there;
    for (int32_t m = 0; m < n; m++) after[(int64_t)u * n + m] = max64(after[(int64_t)u * n + m], from[m]);
  }
}

/* ---- what holds for every chain ---- */

static void find_times(visits *s) {
  const situ_problem *p = s->problem;
  for (int32_t v = 0; v < p->n_operators; v++) {
    int64_t *row = s->time_ns + (int64_t)v * s->n_memories;
    for (int32_t m = 0; m < s->n_memories; m++) row[m] = SITU_NEVER_NS;
    for (int32_t d = 0; d < p->n_devices; d++)
      if (problem_allows(p, v, d)) row[p->memory_of[d]] = min64(row[p->memory_of[d]], problem_time_ns(p, v, d));
  }
}

static void find_sizes(visits *s) {
  const situ_problem *p = s->problem;
  const situ_graph *g = p->graph;
  for (int32_t v = 0; v < p->n_operators; v++) {
    int32_t group = g->colocation[v];
    s->footprint_bytes[v] = footprint_bytes(g, v);
    s->weight_bytes[v] = g->weight_bytes[v];
    if (group < 0) continue;
    s->weight_bytes[v] = 0;
    for (int32_t i = p->group_start[group]; i < p->group_start[group + 1]; i++)
      s->weight_bytes[v] = sat_add(s->weight_bytes[v], g->weight_bytes[p->group_member[i]]);
  }
}

static void find_heads_tails(visits *s, int64_t *here, int64_t *there) {
  int32_t n = s->n_memories;
  for (int32_t v = 0; v < s->problem->n_operators; v++) {
    int64_t *own = s->head + (int64_t)v * n;
    for (int32_t m = 0; m < n; m++) own[m] = sat_add(own[m], s->time_ns[(int64_t)v * n + m]);
    send(s, s->head, v, own, there, NULL);
  }
  for (int32_t v = s->problem->n_operators - 1; v >= 0; v--) {
    for (int32_t m = 0; m < n; m++) here[m] = sat_add(s->tail[(int64_t)v * n + m], s->time_ns[(int64_t)v * n + m]);
    send_back(s, s->tail, v, here, there, NULL);
  }
}

bool visits_init(visits *v, const situ_problem *problem, arena *a) {
  int64_t n = problem->n_operators, cells = n * problem->n_memories;
  *v = (visits){.problem = problem,
                .n_memories = problem->n_memories,
                .time_ns = ARENA_NEW(a, int64_t, cells),
                .head = ARENA_ZERO(a, int64_t, cells),
                .tail = ARENA_ZERO(a, int64_t, cells),
                .weight_bytes = ARENA_NEW(a, int64_t, n),
                .footprint_bytes = ARENA_NEW(a, int64_t, n),
                .scratch = a};
  arena_mark mark;
  if (!v->time_ns || !v->head || !v->tail || !v->weight_bytes || !v->footprint_bytes) return false;
  mark = arena_get_mark(a);
  int64_t *here = ARENA_NEW(a, int64_t, v->n_memories), *there = ARENA_NEW(a, int64_t, v->n_memories);
  if (here && there) {
    find_times(v);
    find_sizes(v);
    find_heads_tails(v, here, there);
  }
  arena_release(a, mark);
  return here && there;
}

/* ---- one chain ---- */

/* A visit that may go on: the chain came to its memory at came_ns. */
typedef struct visit {
  int64_t came_ns, weight_bytes, footprint_bytes;
} visit;

/* An operator of a block that may be elsewhere while both ends of the block are in one memory, if the block then takes
 * time_ns. */
typedef struct parting {
  int64_t time_ns, weight_bytes;
} parting;

typedef struct walk {
  const visits *s;
  const int32_t *chain;
  int32_t n, n_prices;
  const int64_t *price;
  int64_t *carried;              /* [operator] the weights that are counted with it: each group's once */
  int32_t *block_of;             /* [operator] k: chain[k], or between it and chain[k+1]; -1: neither */
  int32_t *block_start, *member; /* between chain[k] and chain[k+1]: member[block_start[k] .. [k+1]), ascending */
  int64_t *ready, *after;        /* [operator * n_memories + memory] in the present block */
  int64_t *here, *there;         /* [memory] */
  int64_t *way;                  /* [from * n_memories + to] of the present block */
  parting *partings;             /* [operators of a block] */
  __int128 *stay;                /* [memory * n_prices + price] of the present block */
  int64_t *arrived, *ended;      /* [memory] by the present operator of the chain */
  visit *open;                   /* [memory * n + i] */
  int32_t *n_open;               /* [memory] */
  __int128 *sum;                 /* [(memory * n + i) * n_prices + price] of an open visit */
  int64_t work;                  /* sums of visits that were taken on */
} walk;

static bool walk_init(walk *w, arena *a) {
  int64_t n_operators = w->s->problem->n_operators, nm = w->s->n_memories, n = w->n;
  w->carried = ARENA_ZERO(a, int64_t, n_operators);
  w->block_of = ARENA_NEW(a, int32_t, n_operators);
  w->block_start = ARENA_ZERO(a, int32_t, n + 2);
  w->member = ARENA_NEW(a, int32_t, n_operators);
  w->ready = ARENA_NEW(a, int64_t, n_operators * nm);
  w->after = ARENA_NEW(a, int64_t, n_operators * nm);
  w->here = ARENA_NEW(a, int64_t, nm);
  w->there = ARENA_NEW(a, int64_t, nm);
  w->way = ARENA_NEW(a, int64_t, nm * nm);
  w->partings = ARENA_NEW(a, parting, n_operators);
  w->stay = ARENA_NEW(a, __int128, nm * w->n_prices);
  w->arrived = ARENA_NEW(a, int64_t, nm);
  w->ended = ARENA_NEW(a, int64_t, nm);
  w->open = ARENA_NEW(a, visit, nm * n);
  w->n_open = ARENA_ZERO(a, int32_t, nm);
  w->sum = ARENA_NEW(a, __int128, nm *n * w->n_prices);
  return w->carried && w->block_of && w->block_start && w->member && w->ready && w->after && w->here && w->there &&
         w->way && w->partings && w->stay && w->arrived && w->ended && w->open && w->n_open && w->sum;
}

bool visits_span(int32_t *before, int32_t *behind, const situ_graph *g, const int32_t *chain, int32_t n, arena *a) {
  int32_t first = chain[0], last = chain[n - 1];
  int32_t *at = ARENA_NEW(a, int32_t, g->n_operators);
  if (!at) return false;
  for (int32_t v = 0; v < g->n_operators; v++) {
    at[v] = before[v] = -1;
    behind[v] = n;
  }
  for (int32_t k = 0; k < n; k++) at[chain[k]] = k;
  for (int32_t v = first; v <= last; v++) {
    before[v] = at[v];
    for (int64_t i = g->in_start[v]; i < g->in_start[v + 1] && at[v] < 0; i++)
      before[v] = before[v] > before[g->producer[g->in[i]]] ? before[v] : before[g->producer[g->in[i]]];
  }
  for (int32_t v = last; v >= first; v--) {
    if (at[v] >= 0) behind[v] = at[v];
    for (int32_t t = g->out_start[v]; t < g->out_start[v + 1] && at[v] < 0; t++)
      for (int64_t i = g->use_start[t]; i < g->use_start[t + 1]; i++)
        behind[v] = behind[v] < behind[g->use[i]] ? behind[v] : behind[g->use[i]];
  }
  return true;
}

/* Finds the blocks. */
static bool divide(walk *w, arena *a) {
  int32_t n = w->s->problem->n_operators;
  int32_t *behind = ARENA_NEW(a, int32_t, n);
  if (!behind || !visits_span(w->block_of, behind, w->s->problem->graph, w->chain, w->n, a)) return false;
  for (int32_t v = 0; v < n; v++) {
    if (behind[v] == w->block_of[v]) continue; /* of the chain */
    if (w->block_of[v] >= 0 && behind[v] == w->block_of[v] + 1)
      w->block_start[behind[v] + 1]++;
    else
      w->block_of[v] = -1;
  }
  for (int32_t k = 2; k < w->n + 2; k++) w->block_start[k] += w->block_start[k - 1];
  for (int32_t v = 0; v < n; v++)
    if (w->block_of[v] >= 0 && behind[v] != w->block_of[v]) w->member[w->block_start[behind[v]]++] = v;
  return true;
}

/* Lets one operator carry the weights of its group: the first of the chain, else the first of the blocks. */
static bool carry(walk *w, arena *a) {
  const situ_graph *g = w->s->problem->graph;
  bool *counted = ARENA_ZERO(a, bool, g->n_colocations);
  if (!counted) return false;
  for (int32_t k = 0; k < w->n + w->block_start[w->n]; k++) {
    int32_t v = k < w->n ? w->chain[k] : w->member[k - w->n], group = g->colocation[v];
    if (group >= 0 && counted[group]) continue;
    if (group >= 0) counted[group] = true;
    w->carried[v] = w->s->weight_bytes[v];
  }
  return true;
}

/* Ends of the operators of block k, when chain[k] ends at 0 in memory `from`; and the ways through the block. */
static void go(walk *w, int32_t k, int32_t from) {
  const visits *s = w->s;
  const situ_graph *g = s->problem->graph;
  int32_t n = s->n_memories, first = w->chain[k], last = w->chain[k + 1];
  part block = {w->block_of, k, last};
  for (int32_t i = w->block_start[k]; i < w->block_start[k + 1]; i++)
    for (int32_t m = 0; m < n; m++) w->ready[(int64_t)w->member[i] * n + m] = 0;
  for (int32_t m = 0; m < n; m++) {
    w->ready[(int64_t)last * n + m] = 0;
    w->here[m] = m == from ? 0 : SITU_NEVER_NS;
  }
  send(s, w->ready, first, w->here, w->there, &block);
  for (int32_t i = w->block_start[k]; i <= w->block_start[k + 1]; i++) {
    int32_t v = i < w->block_start[k + 1] ? w->member[i] : last;
    int64_t *row = w->ready + (int64_t)v * n;
    bool held = together(g, v, first);
    for (int32_t m = 0; m < n; m++)
      row[m] = held && m != from ? SITU_NEVER_NS : sat_add(row[m], s->time_ns[(int64_t)v * n + m]);
    if (v != last) send(s, w->ready, v, row, w->there, &block);
  }
  for (int32_t m = 0; m < n; m++) w->way[(int64_t)from * n + m] = w->ready[(int64_t)last * n + m];
}

/* Least times from the end of each operator of block k to that of chain[k+1] in memory `at`, where chain[k] is too. */
static void come_back(walk *w, int32_t k, int32_t at) {
  const visits *s = w->s;
  const situ_graph *g = s->problem->graph;
  int32_t n = s->n_memories, first = w->chain[k], last = w->chain[k + 1];
  part block = {w->block_of, k, last};
  for (int32_t i = w->block_start[k]; i < w->block_start[k + 1]; i++)
    for (int32_t m = 0; m < n; m++) w->after[(int64_t)w->member[i] * n + m] = 0;
  for (int32_t i = w->block_start[k + 1]; i >= w->block_start[k]; i--) {
    int32_t v = i < w->block_start[k + 1] ? w->member[i] : last;
    bool held = v == last || together(g, v, first) || together(g, v, last);
    for (int32_t m = 0; m < n; m++) {
      int64_t later = v == last ? 0 : w->after[(int64_t)v * n + m];
      w->here[m] = held && m != at ? SITU_NEVER_NS : sat_add(later, s->time_ns[(int64_t)v * n + m]);
    }
    send_back(s, w->after, v, w->here, w->there, &block);
  }
}

static int longest_first(const void *a, const void *b) {
  const parting *x = a, *y = b;
  return x->time_ns < y->time_ns ? 1 : -(x->time_ns > y->time_ns);
}

/* What operators of block k leave memory m for, while chain[k] and chain[k+1] are there. Returns how many. */
static int32_t find_partings(walk *w, int32_t k, int32_t m) {
  const situ_graph *g = w->s->problem->graph;
  int32_t n = w->s->n_memories, found = 0;
  bool weighs = false;
  for (int32_t i = w->block_start[k]; i < w->block_start[k + 1]; i++) weighs |= w->carried[w->member[i]] > 0;
  if (!weighs) return 0;
  come_back(w, k, m);
  for (int32_t i = w->block_start[k]; i < w->block_start[k + 1]; i++) {
    int32_t v = w->member[i];
    if (w->carried[v] == 0) continue;
    bool held = together(g, v, w->chain[k]) || together(g, v, w->chain[k + 1]);
    int64_t least = SITU_NEVER_NS;
    for (int32_t other = 0; other < n && !held; other++)
      if (other != m) least = min64(least, sat_add(w->ready[(int64_t)v * n + other], w->after[(int64_t)v * n + other]));
    w->partings[found++] = (parting){max64(least, w->way[(int64_t)m * n + m]), w->carried[v]};
  }
  qsort(w->partings, (size_t)found, sizeof *w->partings, longest_first);
  return found;
}

static __int128 priced(int64_t price, int64_t bytes) { return (__int128)price * bytes; }

/* stay[m, price]: the least of time + price of what is kept, when block k begins and ends in memory m. */
static void price_stay(walk *w, int32_t k, int32_t m) {
  int32_t n = find_partings(w, k, m);
  __int128 *stay = w->stay + (int64_t)m * w->n_prices;
  int64_t kept = 0; /* by the operators that time does not allow to be elsewhere */
  for (int32_t q = 0; q < w->n_prices; q++) stay[q] = -1;
  for (int32_t i = 0; i <= n; i++) {
    int64_t time = i < n ? w->partings[i].time_ns : w->way[(int64_t)m * w->s->n_memories + m];
    for (int32_t q = 0; q < w->n_prices && time != SITU_NEVER_NS; q++) {
      __int128 cost = ((__int128)time << VISIT_PRICE_BITS) + priced(w->price[q], kept);
      if (stay[q] < 0 || cost < stay[q]) stay[q] = cost;
    }
    if (i < n) kept = sat_add(kept, w->partings[i].weight_bytes);
  }
}

/* The least time of a visit, by the best of the prices. */
static int64_t time_of_visit(const walk *w, const visit *v, const __int128 *sum, int64_t room_bytes) {
  static const int64_t longest = (int64_t)1 << 60;
  __int128 best = 0;
  for (int32_t q = 0; q < w->n_prices; q++) {
    __int128 cost = sum[q] + priced(w->price[q], v->weight_bytes) - priced(w->price[q], room_bytes);
    if (cost > best) best = cost;
  }
  best = (best + ((__int128)1 << VISIT_PRICE_BITS) - 1) >> VISIT_PRICE_BITS;
  return best > longest ? longest : (int64_t)best;
}

/* Adds an operator to a visit. False where it keeps too much. */
static bool take(const walk *w, visit *v, int32_t operator_, int32_t m) {
  int64_t room = w->s->problem->platform->memory_bytes[m];
  v->weight_bytes = sat_add(v->weight_bytes, w->carried[operator_]);
  if (w->s->time_ns[(int64_t)operator_ * w->s->n_memories + m] > 0)
    v->footprint_bytes = max64(v->footprint_bytes, w->s->footprint_bytes[operator_]);
  return sat_add(v->weight_bytes, v->footprint_bytes) <= room;
}

/* Takes the visits of memory m on by an operator of the chain, and begins one with it. One that ends no sooner than a
 * new one comes is dropped: the new one keeps less. Sets ended[m]. */
static void visit_limited(walk *w, int32_t operator_, int32_t m) {
  int64_t room = w->s->problem->platform->memory_bytes[m], arrived = w->arrived[m];
  visit *open = w->open + (int64_t)m * w->n, fresh = {.came_ns = arrived};
  __int128 *sum = w->sum + (int64_t)m * w->n * w->n_prices, *stay = w->stay + (int64_t)m * w->n_prices;
  int32_t n = w->n_open[m], kept = 0;
  w->n_open[m] = 0;
  w->ended[m] = SITU_NEVER_NS;
  if (!take(w, &fresh, operator_, m)) return;
  w->ended[m] = arrived;
  w->work += (int64_t)n * w->n_prices;
  for (int32_t i = 0; i < n; i++) {
    visit v = open[i];
    __int128 *to = sum + (int64_t)kept * w->n_prices;
    if (w->way[(int64_t)m * w->s->n_memories + m] == SITU_NEVER_NS || !take(w, &v, operator_, m)) continue;
    for (int32_t q = 0; q < w->n_prices; q++) to[q] = sum[(int64_t)i * w->n_prices + q] + stay[q];
    int64_t end = sat_add(v.came_ns, time_of_visit(w, &v, to, room - v.footprint_bytes));
    if (end >= arrived) continue;
    w->ended[m] = min64(w->ended[m], end);
    open[kept++] = v;
  }
  if (arrived != SITU_NEVER_NS) {
    for (int32_t q = 0; q < w->n_prices; q++) sum[(int64_t)kept * w->n_prices + q] = 0;
    open[kept++] = fresh;
  }
  w->n_open[m] = kept;
}

static bool is_limited(const walk *w, int32_t m) {
  return w->s->problem->platform->memory_bytes[m] != SITU_UNLIMITED_BYTES;
}

/* Ends of chain[k+1] from those of chain[k]. */
static void pass_block(walk *w, int32_t k) {
  int32_t n = w->s->n_memories;
  for (int32_t m = 0; m < n; m++) {
    if (w->ended[m] == SITU_NEVER_NS) {
      for (int32_t to = 0; to < n; to++) w->way[(int64_t)m * n + to] = SITU_NEVER_NS;
      continue;
    }
    go(w, k, m);
    if (is_limited(w, m)) price_stay(w, k, m);
  }
  for (int32_t m = 0; m < n; m++) {
    w->arrived[m] = SITU_NEVER_NS;
    for (int32_t from = 0; from < n; from++)
      if (from != m || !is_limited(w, m))
        w->arrived[m] = min64(w->arrived[m], sat_add(w->ended[from], w->way[(int64_t)from * n + m]));
  }
}

static bool walk_chain(int64_t *lower_ns, walk *w, budget *b) {
  int32_t n = w->s->n_memories, first = w->chain[0], last = w->chain[w->n - 1];
  for (int32_t k = 0; k < w->n; k++) {
    if (k > 0)
      pass_block(w, k - 1);
    else
      for (int32_t m = 0; m < n; m++) w->arrived[m] = w->s->head[(int64_t)first * n + m];
    for (int32_t m = 0; m < n; m++) {
      if (is_limited(w, m))
        visit_limited(w, w->chain[k], m);
      else
        w->ended[m] = w->arrived[m];
    }
    if (w->work > VISIT_MOST_WORK || budget_over(b)) return false;
  }
  *lower_ns = SITU_NEVER_NS;
  for (int32_t m = 0; m < n; m++) *lower_ns = min64(*lower_ns, sat_add(w->ended[m], w->s->tail[(int64_t)last * n + m]));
  return true;
}

bool visits_bound(int64_t *lower_ns, const visits *v, const int32_t *chain, int32_t n, const int64_t *price,
                  int32_t n_prices, budget *b) {
  walk w = {.s = v, .chain = chain, .n = n, .price = price, .n_prices = n_prices};
  *lower_ns = 0;
  if ((double)v->n_memories * n * n_prices > MOST_SUMS) return true;
  arena_mark mark = arena_get_mark(v->scratch);
  bool made = walk_init(&w, v->scratch) && divide(&w, v->scratch) && carry(&w, v->scratch);
  if (made && !walk_chain(lower_ns, &w, b)) *lower_ns = 0;
  arena_release(v->scratch, mark);
  return made;
}
