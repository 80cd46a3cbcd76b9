#include "chain/visit_chain.h"

#include <stdlib.h>

#include "base/checked.h"
#include "base/compare.h"
#include "base/contracts.h"
#include "base/csr.h"
#include "view/footprint.h"
#include "view/unit.h"

enum { MAX_OPEN = 1 << 15, MAX_WORK = 400000000 }; /* maximum visits at once, and sums in all */

/* ---- times in memories ---- */

static int64_t transfer_ns(const situ_problem *p, int32_t t, int32_t from, int32_t to) {
  return p->transfer_ns[t][p->costs->pair_kind[(int64_t)from * p->n_memories + to]];
}

/* there[m] = min over k of here[k] + the time of tensor t from k to m; backward: from m to k. */
static void spread(int64_t *there, const int64_t *here, const situ_problem *p, int32_t t, bool backward) {
  int32_t n = p->n_memories;
  for (int32_t m = 0; m < n; m++) there[m] = here[m];
  for (int32_t k = 0; k < n; k++) {
    if (here[k] == SITU_NEVER_NS) continue;
    for (int32_t m = 0; m < n; m++)
      there[m] = min64(there[m], sat_add(here[k], backward ? transfer_ns(p, t, m, k) : transfer_ns(p, t, k, m)));
  }
}

/* What lies between two operators of a chain. Searches stay within it; NULL: the whole graph. */
typedef struct segment {
  const int32_t *of;       /* [operator] */
  int32_t id, first, last; /* of[v] == id, after `first` and before `last` */
} segment;

static bool is_in(const segment *s, int32_t v) { return !s || s->of[v] == s->id || v == s->last; }

/* Propagates the outputs of v, whose end in each memory is in here, to its users. Members of one group share a
 * memory. */
static void send(const visits *s, int64_t *ready, int32_t v, const int64_t *here, int64_t *there,
                 const segment *within) {
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
      const int64_t *from = unit_joins(p, v, x) ? here : there;
      for (int32_t m = 0; m < n; m++) ready[(int64_t)x * n + m] = max64(ready[(int64_t)x * n + m], from[m]);
    }
  }
}

/* Propagates to the producers of x what follows them; here: the time of x and what follows it, in each memory. */
static void send_back(const visits *s, int64_t *after, int32_t x, const int64_t *here, int64_t *there,
                      const segment *within) {
  const situ_problem *p = s->problem;
  const situ_graph *g = p->graph;
  int32_t n = s->n_memories;
  for (int64_t i = g->in_start[x]; i < g->in_start[x + 1]; i++) {
    int32_t t = g->in[i], u = g->producer[t];
    if (within && within->of[u] != within->id) continue;
    bool same = unit_joins(p, u, x);
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
    unit_members u = unit_of(p, v);
    s->footprint_bytes[v] = footprint_bytes(g, v);
    if (u.member[0] != v) continue; /* all members are handled below: a unit may be all steps of a layer */
    int64_t bytes = 0;
    for (int32_t i = 0; i < u.n; i++) bytes = sat_add(bytes, g->weight_bytes[u.member[i]]);
    for (int32_t i = 0; i < u.n; i++) s->weight_bytes[u.member[i]] = bytes;
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

/* A visit still open: the chain came to its memory at came_ns with chain[since]. */
typedef struct visit {
  int64_t came_ns, end_ns, weight_bytes, footprint_bytes;
  int32_t memory, tag, since;
} visit;

/* An operator of a segment that may be elsewhere while both ends of the segment are in one memory, if it then takes
 * time_ns. */
typedef struct parting {
  int64_t time_ns, weight_bytes;
} parting;

/* Segment k is block k; segment n - 1 + r is bypass r. While a bypass is open, its tag is the memory of its first
 * operator; else the tag is 0. */
typedef struct recursion {
  const visits *s;
  visit_chain c;
  int64_t *carried;                /* [operator] weights that count with it; those of a group count once */
  int32_t *segment_of;             /* [operator] -1: in none */
  int32_t *segment_start, *member; /* of segment i: member[segment_start[i] .. segment_start[i+1]), ascending */
  int64_t *ready, *after;          /* [operator * n_memories + memory] in the current segment */
  int64_t *here, *there;           /* [memory] */
  int64_t *transit_ns;             /* [from * n_memories + to] through the current segment */
  parting *partings;               /* [operators of a segment] */
  __int128 *stay;                  /* [memory * n_prices + price] of the current segment */
  int64_t *arrived, *ended;        /* [tag * n_memories + memory] by the current operator of the chain */
  int32_t n_tags;
  int64_t *source;  /* [memory] the end of the first operator of the open bypass */
  __int128 *passed; /* [memory * n_prices + price] sums of `stay` beside the open bypass */
  visit *open;      /* [n_open], at most max_open */
  __int128 *sum;    /* [open visit * n_prices + price] */
  int32_t n_open, max_open;
  int64_t work; /* sums of visits that were extended */
} recursion;

static int32_t n_segments(const recursion *w) { return w->c.n - 1 + w->c.n_bypasses; }

static segment get_segment(const recursion *w, int32_t id) {
  int32_t r = id - (w->c.n - 1);
  return (segment){.of = w->segment_of,
                   .id = id,
                   .first = w->c.chain[r < 0 ? id : w->c.from[r]],
                   .last = w->c.chain[r < 0 ? id + 1 : w->c.to[r]]};
}

static bool recursion_init(recursion *w, arena *a) {
  int64_t n_operators = w->s->problem->n_operators, nm = w->s->n_memories, prices = w->c.n_prices;
  w->max_open = (int32_t)min64(MAX_OPEN, nm * (nm + 1) * w->c.n);
  w->n_tags = 1;
  return ARENA_ARRAYS(a, ZEROS(w->carried, n_operators), ARRAY(w->segment_of, n_operators),
                      ZEROS(w->segment_start, (int64_t)n_segments(w) + 2), ARRAY(w->member, n_operators),
                      ARRAY(w->ready, n_operators * nm), ARRAY(w->after, n_operators * nm), ARRAY(w->here, nm),
                      ARRAY(w->there, nm), ARRAY(w->transit_ns, nm * nm), ARRAY(w->partings, n_operators),
                      ARRAY(w->stay, nm * prices), ARRAY(w->arrived, nm * nm), ARRAY(w->ended, nm * nm),
                      ARRAY(w->source, nm), ARRAY(w->passed, nm * prices), ARRAY(w->open, w->max_open),
                      ARRAY(w->sum, w->max_open * prices));
}

bool visits_span(int32_t *before, int32_t *behind, const situ_graph *g, const int32_t *chain, int32_t n, arena *a) {
  REQUIRE(contracts_within(chain, n, 0, g->n_operators) && contracts_rise(chain, n));
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

/* Finds the segments. An operator is in the one that begins with its last ancestor in the chain and ends with its first
 * descendant there. */
static bool divide(recursion *w, arena *a) {
  int32_t n = w->s->problem->n_operators, chain_n = w->c.n;
  int32_t *before = ARENA_NEW(a, int32_t, n), *behind = ARENA_NEW(a, int32_t, n);
  int32_t *bypass = ARENA_NEW(a, int32_t, chain_n); /* [place in the chain] what begins there, -1: none */
  if (!before || !behind || !bypass) return false;
  if (!visits_span(before, behind, w->s->problem->graph, w->c.chain, chain_n, a)) return false;
  for (int32_t k = 0; k < chain_n; k++) bypass[k] = -1;
  for (int32_t r = 0; r < w->c.n_bypasses; r++) bypass[w->c.from[r]] = r;
  for (int32_t v = 0; v < n; v++) {
    int32_t k = before[v], r = k < 0 ? -1 : bypass[k];
    w->segment_of[v] = -1;
    if (k < 0 || behind[v] == k) continue;
    if (behind[v] == k + 1 && k + 1 < chain_n) w->segment_of[v] = k;
    if (r >= 0 && behind[v] == w->c.to[r]) w->segment_of[v] = chain_n - 1 + r;
  }
  csr_fill(w->segment_start, w->member, w->segment_of, n, n_segments(w));
  return true;
}

/* Assigns the weights of each unit to one operator: its first in the chain, else its first in a segment. */
static bool carry(recursion *w, arena *a) {
  const situ_problem *p = w->s->problem;
  bool *counted = ARENA_ZERO(a, bool, p->units.n);
  if (!counted) return false;
  for (int32_t i = -w->c.n; i < p->n_operators; i++) {
    int32_t v = i < 0 ? w->c.chain[i + w->c.n] : i, u = p->units.of[v];
    if ((i >= 0 && w->segment_of[v] < 0) || counted[u]) continue;
    counted[u] = true;
    w->carried[v] = w->s->weight_bytes[v];
  }
  return true;
}

/* Ends of the operators of a segment whose first operator ends at 0 in memory `from`, and the times through the
 * segment. */
static void go_through(recursion *w, int32_t id, int32_t from) {
  const visits *s = w->s;
  int32_t n = s->n_memories;
  segment p = get_segment(w, id);
  for (int32_t i = w->segment_start[id]; i < w->segment_start[id + 1]; i++)
    for (int32_t m = 0; m < n; m++) w->ready[(int64_t)w->member[i] * n + m] = 0;
  for (int32_t m = 0; m < n; m++) {
    w->ready[(int64_t)p.last * n + m] = 0;
    w->here[m] = m == from ? 0 : SITU_NEVER_NS;
  }
  send(s, w->ready, p.first, w->here, w->there, &p);
  for (int32_t i = w->segment_start[id]; i <= w->segment_start[id + 1]; i++) {
    int32_t v = i < w->segment_start[id + 1] ? w->member[i] : p.last;
    int64_t *row = w->ready + (int64_t)v * n;
    bool tied = unit_joins(s->problem, v, p.first);
    for (int32_t m = 0; m < n; m++)
      row[m] = tied && m != from ? SITU_NEVER_NS : sat_add(row[m], s->time_ns[(int64_t)v * n + m]);
    if (v != p.last) send(s, w->ready, v, row, w->there, &p);
  }
  for (int32_t m = 0; m < n; m++) w->transit_ns[(int64_t)from * n + m] = w->ready[(int64_t)p.last * n + m];
}

/* Minimum times from the end of each operator of a segment to that of its last in memory `at`, where its first is too.
 */
static void come_back(recursion *w, int32_t id, int32_t at) {
  const visits *s = w->s;
  int32_t n = s->n_memories;
  segment p = get_segment(w, id);
  for (int32_t i = w->segment_start[id]; i < w->segment_start[id + 1]; i++)
    for (int32_t m = 0; m < n; m++) w->after[(int64_t)w->member[i] * n + m] = 0;
  for (int32_t i = w->segment_start[id + 1]; i >= w->segment_start[id]; i--) {
    int32_t v = i < w->segment_start[id + 1] ? w->member[i] : p.last;
    bool tied = v == p.last || unit_joins(s->problem, v, p.first) || unit_joins(s->problem, v, p.last);
    for (int32_t m = 0; m < n; m++) {
      int64_t later = v == p.last ? 0 : w->after[(int64_t)v * n + m];
      w->here[m] = tied && m != at ? SITU_NEVER_NS : sat_add(later, s->time_ns[(int64_t)v * n + m]);
    }
    send_back(s, w->after, v, w->here, w->there, &p);
  }
}

COMPARATOR(longest_first, parting, DOWN(time_ns))

/* Finds the operators of a segment that may leave memory m while both ends of the segment are there. Returns how many.
 */
static int32_t find_partings(recursion *w, int32_t id, int32_t m) {
  const situ_problem *problem = w->s->problem;
  int32_t n = w->s->n_memories, found = 0;
  segment p = get_segment(w, id);
  bool weighs = false;
  for (int32_t i = w->segment_start[id]; i < w->segment_start[id + 1]; i++) weighs |= w->carried[w->member[i]] > 0;
  if (!weighs) return 0;
  come_back(w, id, m);
  for (int32_t i = w->segment_start[id]; i < w->segment_start[id + 1]; i++) {
    int32_t v = w->member[i];
    if (w->carried[v] == 0) continue;
    bool tied = unit_joins(problem, v, p.first) || unit_joins(problem, v, p.last);
    int64_t min = SITU_NEVER_NS;
    for (int32_t other = 0; other < n && !tied; other++)
      if (other != m) min = min64(min, sat_add(w->ready[(int64_t)v * n + other], w->after[(int64_t)v * n + other]));
    w->partings[found++] = (parting){max64(min, w->transit_ns[(int64_t)m * n + m]), w->carried[v]};
  }
  qsort(w->partings, (size_t)found, sizeof *w->partings, longest_first);
  return found;
}

static __int128 priced(int64_t price, int64_t bytes) { return (__int128)price * bytes; }

/* stay[m, price]: the minimum of time + price of what is kept, when a segment begins and ends in memory m. */
static void price_stay(recursion *w, int32_t id, int32_t m) {
  int32_t n = find_partings(w, id, m);
  __int128 *stay = w->stay + (int64_t)m * w->c.n_prices;
  int64_t kept = 0; /* by operators that have no time to be elsewhere */
  for (int32_t q = 0; q < w->c.n_prices; q++) stay[q] = -1;
  for (int32_t i = 0; i <= n; i++) {
    int64_t time = i < n ? w->partings[i].time_ns : w->transit_ns[(int64_t)m * w->s->n_memories + m];
    for (int32_t q = 0; q < w->c.n_prices && time != SITU_NEVER_NS; q++) {
      __int128 cost = ((__int128)time << VISIT_PRICE_BITS) + priced(w->c.price[q], kept);
      if (stay[q] < 0 || cost < stay[q]) stay[q] = cost;
    }
    if (i < n) kept = sat_add(kept, w->partings[i].weight_bytes);
  }
}

/* ---- visits ---- */

static bool is_limited(const recursion *w, int32_t m) {
  return w->s->problem->platform->memory_bytes[m] != SITU_UNLIMITED_BYTES;
}

/* A sum converted to time, rounded up. */
static int64_t as_time(__int128 sum) {
  static const int64_t longest = (int64_t)1 << 60;
  sum = (sum + ((__int128)1 << VISIT_PRICE_BITS) - 1) >> VISIT_PRICE_BITS;
  return sum > longest ? longest : (int64_t)sum;
}

/* The minimum end of a visit, by the best of the prices. */
static int64_t end_of(const recursion *w, const visit *v, const __int128 *sum) {
  int64_t room = w->s->problem->platform->memory_bytes[v->memory] - v->footprint_bytes;
  __int128 best = 0;
  for (int32_t q = 0; q < w->c.n_prices; q++) {
    __int128 cost = sum[q] + priced(w->c.price[q], v->weight_bytes) - priced(w->c.price[q], room);
    if (cost > best) best = cost;
  }
  return sat_add(v->came_ns, as_time(best));
}

/* Adds an operator to a visit. False where the visit would keep too much. */
static bool take(const recursion *w, visit *v, int32_t operator_) {
  v->weight_bytes = sat_add(v->weight_bytes, w->carried[operator_]);
  if (w->s->time_ns[(int64_t)operator_ * w->s->n_memories + v->memory] > 0)
    v->footprint_bytes = max64(v->footprint_bytes, w->s->footprint_bytes[operator_]);
  return sat_add(v->weight_bytes, v->footprint_bytes) <= w->s->problem->platform->memory_bytes[v->memory];
}

/* Begins the visits of chain[k], after those that were extended. A memory without room for it has none of these. */
static void begin_visits(recursion *w, int32_t k) {
  int32_t n = w->s->n_memories;
  for (int32_t at = 0; at < w->n_tags * n; at++) {
    visit fresh = {.came_ns = w->arrived[at], .memory = at % n, .tag = at / n, .since = k};
    if (!is_limited(w, fresh.memory) || fresh.came_ns == SITU_NEVER_NS) continue;
    if (!take(w, &fresh, w->c.chain[k])) continue;
    w->ended[at] = min64(w->ended[at], fresh.came_ns);
    if (w->n_open == w->max_open) {
      w->work = MAX_WORK + 1;
      return;
    }
    for (int32_t q = 0; q < w->c.n_prices; q++) w->sum[(int64_t)w->n_open * w->c.n_prices + q] = 0;
    w->open[w->n_open++] = fresh;
  }
}

/* Extends the visits by chain[k], and begins new ones with it. A visit that ends no sooner than a new one arrives is
 * dropped, since the new one keeps less. */
static void visit_all(recursion *w, int32_t k) {
  int32_t n = w->n_open, nm = w->s->n_memories, prices = w->c.n_prices;
  for (int32_t at = 0; at < w->n_tags * nm; at++)
    w->ended[at] = is_limited(w, at % nm) ? SITU_NEVER_NS : w->arrived[at];
  w->n_open = 0;
  w->work += (int64_t)n * prices;
  for (int32_t i = 0; i < n; i++) {
    visit v = w->open[i];
    __int128 *to = w->sum + (int64_t)w->n_open * prices;
    const __int128 *sum = w->sum + (int64_t)i * prices, *stay = w->stay + (int64_t)v.memory * prices;
    int32_t at = v.tag * nm + v.memory;
    if (w->transit_ns[(int64_t)v.memory * nm + v.memory] == SITU_NEVER_NS || !take(w, &v, w->c.chain[k])) continue;
    for (int32_t q = 0; q < prices; q++) to[q] = sum[q] + stay[q];
    int64_t end = end_of(w, &v, to);
    if (end >= w->arrived[at]) continue;
    w->ended[at] = min64(w->ended[at], end);
    w->open[w->n_open++] = v;
  }
  begin_visits(w, k);
}

/* The times through a segment from all memories where its first operator may have ended, and the cost of staying. */
static void open_segment(recursion *w, int32_t id, const int64_t *ended, int32_t n_tags) {
  int32_t n = w->s->n_memories;
  for (int32_t m = 0; m < n; m++) {
    int64_t soonest = SITU_NEVER_NS;
    for (int32_t tag = 0; tag < n_tags; tag++) soonest = min64(soonest, ended[(int64_t)tag * n + m]);
    for (int32_t to = 0; to < n; to++) w->transit_ns[(int64_t)m * n + to] = SITU_NEVER_NS;
    if (soonest == SITU_NEVER_NS) continue;
    go_through(w, id, m);
    if (is_limited(w, m)) price_stay(w, id, m);
  }
}

/* Arrivals of chain[k+1] from the ends of chain[k]. */
static void pass_block(recursion *w, int32_t k) {
  int32_t n = w->s->n_memories, prices = w->c.n_prices;
  open_segment(w, k, w->ended, w->n_tags);
  for (int32_t at = 0; at < w->n_tags * n; at++) {
    int32_t tag = at / n, m = at % n;
    w->arrived[at] = SITU_NEVER_NS;
    for (int32_t from = 0; from < n; from++)
      if (from != m || !is_limited(w, m))
        w->arrived[at] = min64(w->arrived[at], sat_add(w->ended[tag * n + from], w->transit_ns[(int64_t)from * n + m]));
  }
  for (int32_t m = 0; m < n && w->n_tags > 1; m++)
    for (int32_t q = 0; q < prices && is_limited(w, m) && w->transit_ns[(int64_t)m * n + m] != SITU_NEVER_NS; q++)
      w->passed[(int64_t)m * prices + q] += w->stay[(int64_t)m * prices + q];
}

/* ---- bypasses ---- */

/* From here on, distinguishes the memories of chain[k]. */
static void enter_bypass(recursion *w) {
  int32_t n = w->s->n_memories;
  for (int32_t m = 0; m < n; m++) w->source[m] = w->ended[m];
  for (int32_t at = 0; at < n * n; at++) w->ended[at] = at / n == at % n ? w->source[at % n] : SITU_NEVER_NS;
  for (int32_t i = 0; i < w->n_open; i++) w->open[i].tag = w->open[i].memory;
  for (int32_t i = 0; i < n * w->c.n_prices; i++) w->passed[i] = 0;
  w->n_tags = n;
}

/* Extends a visit over the end of bypass r: either it holds both ends and then its share of the bypass, or it came
 * later and waits for what the bypass brings. False where neither is possible. */
static bool raise_visit(const recursion *w, visit *v, __int128 *sum, int32_t r) {
  int32_t n = w->s->n_memories, prices = w->c.n_prices;
  const __int128 *stay = w->stay + (int64_t)v->memory * prices, *passed = w->passed + (int64_t)v->memory * prices;
  int64_t transit_ns = w->transit_ns[(int64_t)v->tag * n + v->memory];
  if (transit_ns == SITU_NEVER_NS) return false;
  if (v->since <= w->c.from[r]) {
    for (int32_t q = 0; q < prices; q++) sum[q] += stay[q] > passed[q] ? stay[q] - passed[q] : 0;
  } else {
    __int128 max = 0;
    for (int32_t q = 0; q < prices; q++) max = sum[q] > max ? sum[q] : max;
    v->came_ns = max64(v->came_ns, sat_add(w->source[v->tag], transit_ns) - as_time(max));
  }
  v->end_ns = end_of(w, v, sum);
  return true;
}

/* Ends bypass r at chain[k], and forgets where it began. Of the visits that begin with chain[k] in one memory only the
 * first is kept, along with those that end before it arrives. */
static void leave_bypass(recursion *w, int32_t r, int32_t k) {
  int32_t n = w->s->n_memories, prices = w->c.n_prices, kept = 0;
  int64_t *first = w->arrived, *begun = w->there; /* [memory] when the first of them arrives; whether it was kept */
  open_segment(w, w->c.n - 1 + r, w->source, 1);
  for (int32_t m = 0; m < n; m++) {
    int64_t min = first[m] = SITU_NEVER_NS;
    begun[m] = 0;
    for (int32_t tag = 0; tag < n && !is_limited(w, m); tag++)
      min = min64(min, max64(w->ended[tag * n + m], sat_add(w->source[tag], w->transit_ns[(int64_t)tag * n + m])));
    w->here[m] = min;
  }
  for (int32_t i = 0; i < w->n_open; i++) {
    visit *v = &w->open[i];
    if (!raise_visit(w, v, w->sum + (int64_t)i * prices, r)) v->end_ns = SITU_NEVER_NS;
    if (v->since == k) first[v->memory] = min64(first[v->memory], v->end_ns);
  }
  for (int32_t i = 0; i < w->n_open; i++) {
    visit v = w->open[i];
    bool is_first = v.since == k && v.end_ns == first[v.memory] && begun[v.memory]++ == 0;
    if (v.end_ns == SITU_NEVER_NS || (v.end_ns >= first[v.memory] && !is_first)) continue;
    w->here[v.memory] = min64(w->here[v.memory], v.end_ns);
    v.tag = 0;
    w->open[kept] = v;
    for (int32_t q = 0; q < prices; q++) w->sum[(int64_t)kept * prices + q] = w->sum[(int64_t)i * prices + q];
    kept++;
  }
  w->n_open = kept;
  w->n_tags = 1;
  for (int32_t m = 0; m < n; m++) w->ended[m] = w->here[m];
}

static bool recursion_run(int64_t *lower_ns, recursion *w, budget *b) {
  int32_t n = w->s->n_memories, first = w->c.chain[0], last = w->c.chain[w->c.n - 1];
  for (int32_t k = 0, r = 0; k < w->c.n; k++) {
    if (k > 0)
      pass_block(w, k - 1);
    else
      for (int32_t m = 0; m < n; m++) w->arrived[m] = w->s->head[(int64_t)first * n + m];
    visit_all(w, k);
    if (r < w->c.n_bypasses && w->c.to[r] == k) leave_bypass(w, r++, k);
    if (r < w->c.n_bypasses && w->c.from[r] == k) enter_bypass(w);
    if (w->work > MAX_WORK || budget_over(b)) return false;
  }
  *lower_ns = SITU_NEVER_NS;
  for (int32_t m = 0; m < n; m++) *lower_ns = min64(*lower_ns, sat_add(w->ended[m], w->s->tail[(int64_t)last * n + m]));
  return true;
}

bool visits_bound(int64_t *lower_ns, const visits *v, const visit_chain *chain, budget *b) {
  CONTRACT(visit_chain_check(chain, v->problem));
  recursion w = {.s = v, .c = *chain};
  arena_mark mark = arena_get_mark(v->scratch);
  bool made = recursion_init(&w, v->scratch) && divide(&w, v->scratch) && carry(&w, v->scratch);
  *lower_ns = 0;
  if (made && !recursion_run(lower_ns, &w, b)) *lower_ns = 0;
  arena_release(v->scratch, mark);
  return made;
}

const char *visit_chain_check(const visit_chain *c, const situ_problem *p) {
  EXPECT(c->n > 0 && contracts_within(c->chain, c->n, 0, p->n_operators), "a chain has operators");
  EXPECT(contracts_rise(c->chain, c->n), "each operator of a chain comes before the next");
  EXPECT(contracts_amounts(c->price, c->n_prices), "prices are at least 0");
  EXPECT(contracts_within(c->from, c->n_bypasses, 0, c->n), "a bypass leaves the chain");
  for (int32_t i = 0; i < c->n_bypasses; i++) {
    EXPECT(c->to[i] < c->n && c->to[i] > c->from[i] + 1, "a bypass leads more than one further");
    EXPECT(i == 0 || c->from[i] >= c->to[i - 1], "a bypass begins no sooner than the one before ends");
  }
  return NULL;
}
