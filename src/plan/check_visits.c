/* The judge of memory visits: operators of which each comes after the one before, and prices of a byte. It follows the
 * chain from memory to memory. A visit ends where the chain goes elsewhere, and keeps in its memory, for good, the
 * weights of its operators of the chain and of those between them that time does not allow to be elsewhere.
 * docs/theory/visits.md */
#include <stdlib.h>

#include "base/checked.h"
#include "base/fail.h"
#include "plan/check_certificate.h"

enum { PRICE_BITS = 32, MOST_PRICES = 64 };
static const int64_t DEAREST = (int64_t)1 << 40, LONGEST = (int64_t)1 << 60, MOST_STEPS = 2000000000;
static const double MOST_CELLS = 3e7;

/* A visit: when it came, what it keeps, the most that an operator needs beside that while it runs; and for each price
 * the time and the price of what stays between its operators. */
typedef struct stay {
  int64_t came_ns, kept_bytes, beside_bytes;
  __int128 sum[MOST_PRICES];
} stay;

typedef struct absence {
  int64_t time_ns, bytes;
} absence;

typedef struct trail {
  const judge *j;
  int32_t nm, n, n_prices;
  const int64_t *chain, *price;
  int64_t *time, *head, *tail, *end, *rest; /* [operator * nm + memory] */
  int64_t *carried;                         /* [operator] weights of its group, of one operator of each */
  int32_t *before, *behind;                 /* [operator] places in the chain */
  int64_t *way;                             /* [from * nm + to] */
  int64_t *now, *came;                      /* [memory] */
  absence *absent;                          /* [operator] */
  stay *open;                               /* [memory * n + i] */
  int32_t *n_open;
  int64_t steps;
} trail;

static bool together(const trail *w, int32_t u, int32_t v) {
  const int32_t *group = w->j->graph->colocation;
  return group[u] >= 0 && group[u] == group[v];
}

static int64_t transfer(const trail *w, int32_t t, int32_t from, int32_t to) {
  const situ_costs *c = w->j->problem->costs;
  return c->transfer_ns[(int64_t)t * c->n_kinds + c->pair_kind[(int64_t)from * c->n_memories + to]];
}

/* When tensor t is in memory m for operator x, after its producer's end in each memory. */
static int64_t when_there(trail *w, int32_t t, int32_t x, int32_t m, const int64_t *end) {
  int64_t soonest = end[m];
  if (together(w, w->j->graph->producer[t], x)) return soonest;
  for (int32_t k = 0; k < w->nm; k++) soonest = min64(soonest, sat_add(end[k], transfer(w, t, k, m)));
  w->steps += w->nm;
  return soonest;
}

/* The least time that is left for tensor t to operator x from memory m: the way, the operator and what follows. */
static int64_t what_follows(trail *w, int32_t t, int32_t x, int32_t m, const int64_t *rest) {
  const int64_t *time = w->time + (int64_t)x * w->nm;
  int64_t least = sat_add(time[m], rest[m]);
  if (together(w, w->j->graph->producer[t], x)) return least;
  for (int32_t k = 0; k < w->nm; k++) least = min64(least, sat_add(transfer(w, t, m, k), sat_add(time[k], rest[k])));
  w->steps += w->nm;
  return least;
}

/* ---- what is known before the chain is followed ---- */

static void find_times(trail *w) {
  const situ_costs *c = w->j->problem->costs;
  for (int32_t v = 0; v < w->j->graph->n_operators; v++) {
    int64_t *row = w->time + (int64_t)v * w->nm;
    for (int32_t m = 0; m < w->nm; m++) row[m] = SITU_NEVER_NS;
    for (int32_t d = 0; d < w->j->platform->n_devices; d++) {
      int64_t *time = &row[w->j->platform->memory_of[d]];
      if (check_may_run(w->j, v, d))
        *time = min64(*time, c->time_ns[(int64_t)v * c->n_classes + w->j->platform->class_of[d]]);
    }
  }
}

/* Heads of the chain's first operator and what is before it, tails of its last and what is behind. */
static void find_ends(trail *w) {
  const situ_graph *g = w->j->graph;
  for (int32_t v = 0; v <= w->chain[0]; v++)
    for (int32_t m = 0; m < w->nm; m++) {
      int64_t start = 0;
      for (int64_t i = g->in_start[v]; i < g->in_start[v + 1]; i++)
        start = max64(start, when_there(w, g->in[i], v, m, w->head + (int64_t)g->producer[g->in[i]] * w->nm));
      w->head[(int64_t)v * w->nm + m] = sat_add(start, w->time[(int64_t)v * w->nm + m]);
    }
  for (int32_t v = g->n_operators - 1; v >= w->chain[w->n - 1]; v--)
    for (int32_t m = 0; m < w->nm; m++) {
      int64_t most = 0;
      for (int32_t t = g->out_start[v]; t < g->out_start[v + 1]; t++)
        for (int64_t i = g->use_start[t]; i < g->use_start[t + 1]; i++)
          most = max64(most, what_follows(w, t, g->use[i], m, w->tail + (int64_t)g->use[i] * w->nm));
      w->tail[(int64_t)v * w->nm + m] = most;
    }
}

/* Where operators are beside the chain. False when some operator of it does not come after the one before. */
static bool find_places(trail *w) {
  const situ_graph *g = w->j->graph;
  int32_t next = 0;
  for (int32_t v = 0; v < g->n_operators; v++) {
    w->before[v] = -1;
    for (int64_t i = g->in_start[v]; i < g->in_start[v + 1]; i++)
      if (w->before[g->producer[g->in[i]]] > w->before[v]) w->before[v] = w->before[g->producer[g->in[i]]];
    if (next == w->n || w->chain[next] != v) continue;
    if (w->before[v] != next - 1) return false;
    w->before[v] = next++;
  }
  for (int32_t v = g->n_operators - 1; v >= 0; v--) {
    w->behind[v] = w->n;
    for (int32_t t = g->out_start[v]; t < g->out_start[v + 1]; t++)
      for (int64_t i = g->use_start[t]; i < g->use_start[t + 1]; i++)
        if (w->behind[g->use[i]] < w->behind[v]) w->behind[v] = w->behind[g->use[i]];
    if (next > 0 && w->chain[next - 1] == v) w->behind[v] = --next;
  }
  return true;
}

static bool is_of_chain(const trail *w, int32_t v) { return w->before[v] == w->behind[v]; }
static bool is_between(const trail *w, int32_t v, int32_t k) { return w->before[v] == k && w->behind[v] == k + 1; }

/* The weights of a group count with its first operator in the chain, else with its first between two of them. */
static bool find_carried(trail *w) {
  const situ_graph *g = w->j->graph;
  check_items items;
  if (!check_items_find(&items, w->j)) return false;
  for (int32_t i = 0; i < items.n; i++) {
    int32_t carrier = -1;
    int64_t bytes = 0;
    for (int32_t k = items.start[i]; k < items.start[i + 1]; k++) {
      int32_t v = items.member[k];
      bytes = sat_add(bytes, g->weight_bytes[v]);
      if (is_of_chain(w, v) && (carrier < 0 || !is_of_chain(w, carrier))) carrier = v;
    }
    for (int32_t k = items.start[i]; k < items.start[i + 1] && carrier < 0; k++)
      if (w->before[items.member[k]] >= 0 && is_between(w, items.member[k], w->before[items.member[k]]))
        carrier = items.member[k];
    if (carrier >= 0) w->carried[carrier] = bytes;
  }
  return true;
}

/* ---- between two operators of the chain ---- */

/* end: of the operators of block k and of chain[k+1], when chain[k] ends at 0 in memory `from`. */
static void go_through(trail *w, int32_t k, int32_t from) {
  const situ_graph *g = w->j->graph;
  int32_t first = (int32_t)w->chain[k], last = (int32_t)w->chain[k + 1];
  for (int32_t m = 0; m < w->nm; m++) w->end[(int64_t)first * w->nm + m] = m == from ? 0 : SITU_NEVER_NS;
  for (int32_t v = first + 1; v <= last; v++) {
    if (v != last && !is_between(w, v, k)) continue;
    for (int32_t m = 0; m < w->nm; m++) {
      int64_t start = together(w, v, first) && m != from ? SITU_NEVER_NS : 0;
      for (int64_t i = g->in_start[v]; i < g->in_start[v + 1]; i++) {
        int32_t u = g->producer[g->in[i]];
        if (u != first && !is_between(w, u, k)) continue;
        start = max64(start, when_there(w, g->in[i], v, m, w->end + (int64_t)u * w->nm));
      }
      w->end[(int64_t)v * w->nm + m] = sat_add(start, w->time[(int64_t)v * w->nm + m]);
    }
  }
  for (int32_t m = 0; m < w->nm; m++) w->way[(int64_t)from * w->nm + m] = w->end[(int64_t)last * w->nm + m];
}

/* rest: from the ends of the operators of block k to that of chain[k+1], when both ends of the block are in `home`. */
static void go_back(trail *w, int32_t k, int32_t home) {
  const situ_graph *g = w->j->graph;
  int32_t first = (int32_t)w->chain[k], last = (int32_t)w->chain[k + 1];
  for (int32_t m = 0; m < w->nm; m++) w->rest[(int64_t)last * w->nm + m] = m == home ? 0 : SITU_NEVER_NS;
  for (int32_t v = last - 1; v > first; v--) {
    if (!is_between(w, v, k)) continue;
    for (int32_t m = 0; m < w->nm; m++) {
      bool bound = together(w, v, first) || together(w, v, last);
      int64_t most = bound && m != home ? SITU_NEVER_NS : 0;
      for (int32_t t = g->out_start[v]; t < g->out_start[v + 1]; t++)
        for (int64_t i = g->use_start[t]; i < g->use_start[t + 1]; i++) {
          int32_t x = g->use[i];
          if (x != last && !is_between(w, x, k)) continue;
          most = max64(most, what_follows(w, t, x, m, w->rest + (int64_t)x * w->nm));
        }
      w->rest[(int64_t)v * w->nm + m] = most;
    }
  }
}

static int longest_first(const void *a, const void *b) {
  const absence *x = a, *y = b;
  return (x->time_ns < y->time_ns) - (x->time_ns > y->time_ns);
}

/* cost[price]: at least the time of block k + the price of what it keeps in `home`, where both its ends are. */
static void cost_of_block(trail *w, int32_t k, int32_t home, __int128 *cost) {
  int64_t whole = w->way[(int64_t)home * w->nm + home], kept = 0;
  int32_t n = 0;
  go_back(w, k, home);
  for (int32_t v = (int32_t)w->chain[k] + 1; v < w->chain[k + 1]; v++) {
    if (!is_between(w, v, k) || w->carried[v] == 0) continue;
    int64_t least = SITU_NEVER_NS;
    for (int32_t m = 0; m < w->nm; m++)
      if (m != home) least = min64(least, sat_add(w->end[(int64_t)v * w->nm + m], w->rest[(int64_t)v * w->nm + m]));
    w->absent[n++] = (absence){max64(least, whole), w->carried[v]};
  }
  qsort(w->absent, (size_t)n, sizeof *w->absent, longest_first);
  for (int32_t q = 0; q < w->n_prices; q++) cost[q] = -1;
  for (int32_t i = 0; i <= n; i++) { /* the first i are kept */
    int64_t time = i < n ? w->absent[i].time_ns : whole;
    for (int32_t q = 0; q < w->n_prices && time != SITU_NEVER_NS; q++) {
      __int128 here = ((__int128)time << PRICE_BITS) + (__int128)w->price[q] * kept;
      if (cost[q] < 0 || here < cost[q]) cost[q] = here;
    }
    if (i < n) kept = sat_add(kept, w->absent[i].bytes);
  }
}

/* ---- visits ---- */

/* Adds an operator of the chain to a visit of memory m. False where there is no room for it. */
static bool keep(const trail *w, stay *s, int32_t v, int32_t m) {
  const situ_graph *g = w->j->graph;
  int64_t beside = g->workspace_bytes[v];
  for (int64_t i = g->in_start[v]; i < g->in_start[v + 1]; i++) beside = sat_add(beside, g->size_bytes[g->in[i]]);
  for (int32_t t = g->out_start[v]; t < g->out_start[v + 1]; t++) beside = sat_add(beside, g->size_bytes[t]);
  if (w->time[(int64_t)v * w->nm + m] > 0) s->beside_bytes = max64(s->beside_bytes, beside);
  s->kept_bytes = sat_add(s->kept_bytes, w->carried[v]);
  return sat_add(s->kept_bytes, s->beside_bytes) <= w->j->platform->memory_bytes[m];
}

static int64_t end_of_visit(const trail *w, const stay *s, int32_t m) {
  __int128 most = 0;
  for (int32_t q = 0; q < w->n_prices; q++) {
    __int128 over = (__int128)s->kept_bytes - (w->j->platform->memory_bytes[m] - s->beside_bytes);
    __int128 cost = s->sum[q] + w->price[q] * over;
    if (cost > most) most = cost;
  }
  __int128 time = (most + ((__int128)1 << PRICE_BITS) - 1) >> PRICE_BITS;
  return sat_add(s->came_ns, time > LONGEST ? LONGEST : (int64_t)time);
}

/* now[m] = the least end of operator v of the chain in m, a memory with a limit. A visit that ends no sooner than a new
 * one comes is left to the new one, which keeps less. cost: of the block before v; NULL for the first. */
static void visit(trail *w, int32_t v, int32_t m, const __int128 *cost) {
  stay *open = w->open + (int64_t)m * w->n, fresh = {.came_ns = w->came[m]};
  int32_t n = w->n_open[m], kept = 0;
  bool fits = keep(w, &fresh, v, m);
  w->now[m] = fits ? w->came[m] : SITU_NEVER_NS;
  for (int32_t i = 0; i < n && cost && fits; i++) {
    stay *s = &open[i];
    if (!keep(w, s, v, m)) continue;
    for (int32_t q = 0; q < w->n_prices; q++) s->sum[q] += cost[q];
    w->steps += w->n_prices;
    int64_t end = end_of_visit(w, s, m);
    if (end >= w->came[m]) continue;
    w->now[m] = min64(w->now[m], end);
    if (kept != i) open[kept] = *s;
    kept++;
  }
  if (fits && w->came[m] != SITU_NEVER_NS) open[kept++] = fresh;
  w->n_open[m] = kept;
}

static bool is_limited(const trail *w, int32_t m) { return w->j->platform->memory_bytes[m] != SITU_UNLIMITED_BYTES; }

/* From chain[k] to chain[k+1]. cost[memory * MOST_PRICES + price] is scratch. */
static void follow(trail *w, int32_t k, __int128 *cost) {
  for (int32_t m = 0; m < w->nm; m++) {
    for (int32_t to = 0; to < w->nm; to++) w->way[(int64_t)m * w->nm + to] = SITU_NEVER_NS;
    if (w->now[m] == SITU_NEVER_NS) continue;
    go_through(w, k, m);
    if (is_limited(w, m)) cost_of_block(w, k, m, cost + (int64_t)m * MOST_PRICES);
  }
  for (int32_t m = 0; m < w->nm; m++) {
    w->came[m] = SITU_NEVER_NS;
    for (int32_t from = 0; from < w->nm; from++)
      if (from != m || !is_limited(w, m))
        w->came[m] = min64(w->came[m], sat_add(w->now[from], w->way[(int64_t)from * w->nm + m]));
  }
  for (int32_t m = 0; m < w->nm; m++) {
    bool goes_on = w->way[(int64_t)m * w->nm + m] != SITU_NEVER_NS;
    if (is_limited(w, m))
      visit(w, (int32_t)w->chain[k + 1], m, goes_on ? cost + (int64_t)m * MOST_PRICES : NULL);
    else
      w->now[m] = w->came[m];
  }
}

static int64_t follow_all(trail *w, __int128 *cost) {
  int32_t first = (int32_t)w->chain[0], last = (int32_t)w->chain[w->n - 1];
  for (int32_t m = 0; m < w->nm; m++) {
    w->now[m] = w->came[m] = w->head[(int64_t)first * w->nm + m];
    if (is_limited(w, m)) visit(w, first, m, NULL);
  }
  for (int32_t k = 0; k + 1 < w->n; k++) {
    if (w->steps > MOST_STEPS) return CERTIFICATE_TOO_LONG;
    follow(w, k, cost);
  }
  int64_t least = SITU_NEVER_NS;
  for (int32_t m = 0; m < w->nm; m++) least = min64(least, sat_add(w->now[m], w->tail[(int64_t)last * w->nm + m]));
  return least;
}

/* The lists as they should be: operators in ascending order, prices from 0 to DEAREST. */
static bool take_lists(trail *w, const certificate *c) {
  int64_t n = certificate_size(c, "chain"), n_prices = certificate_size(c, "byte_prices");
  w->chain = certificate_get(c, "chain", n);
  w->price = certificate_get(c, "byte_prices", n_prices);
  if (!w->chain || !w->price || n < 1 || n > w->j->graph->n_operators || n_prices > MOST_PRICES) return false;
  for (int64_t k = 0; k < n; k++)
    if (w->chain[k] < 0 || w->chain[k] >= w->j->graph->n_operators || (k > 0 && w->chain[k] <= w->chain[k - 1]))
      return false;
  for (int64_t q = 0; q < n_prices; q++)
    if (w->price[q] < 0 || w->price[q] > DEAREST) return false;
  w->n = (int32_t)n;
  w->n_prices = (int32_t)n_prices;
  return true;
}

static bool init(trail *w) {
  arena *a = w->j->scratch;
  int64_t n = w->j->graph->n_operators, cells = n * w->nm;
  int64_t **rows[] = {&w->time, &w->head, &w->tail, &w->end, &w->rest};
  bool made = true;
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) made &= (*rows[i] = ARENA_NEW(a, int64_t, cells)) != NULL;
  w->carried = ARENA_ZERO(a, int64_t, n);
  w->before = ARENA_NEW(a, int32_t, n);
  w->behind = ARENA_NEW(a, int32_t, n);
  w->way = ARENA_NEW(a, int64_t, (int64_t)w->nm * w->nm);
  w->now = ARENA_NEW(a, int64_t, w->nm);
  w->came = ARENA_NEW(a, int64_t, w->nm);
  w->absent = ARENA_NEW(a, absence, n);
  w->open = ARENA_NEW(a, stay, (int64_t)w->n * w->nm);
  w->n_open = ARENA_ZERO(a, int32_t, w->nm);
  return made && w->carried && w->before && w->behind && w->way && w->now && w->came && w->absent && w->open &&
         w->n_open;
}

static situ_status prove(int64_t *proved_ns, judge *j, const certificate *c, situ_error *error) {
  trail w = {.j = j, .nm = j->platform->n_memories};
  *proved_ns = CERTIFICATE_MALFORMED;
  if (!take_lists(&w, c)) return SITU_STATUS_OK;
  *proved_ns = CERTIFICATE_TOO_LONG;
  if ((double)w.nm * (j->graph->n_operators + (double)w.n * 4) > MOST_CELLS) return SITU_STATUS_OK;
  __int128 *cost = ARENA_NEW(j->scratch, __int128, (int64_t)w.nm *MOST_PRICES);
  if (!cost || !init(&w)) return fail_no_memory(error);
  find_times(&w);
  *proved_ns = 0;
  if (!find_places(&w)) return SITU_STATUS_OK;
  if (!find_carried(&w)) return fail_no_memory(error);
  find_ends(&w);
  *proved_ns = follow_all(&w, cost);
  return SITU_STATUS_OK;
}

const certificate_rule visits_rule = {
    .kind = "visits",
    .lists = "a chain of operators in ascending order, and byte_prices, at most 64, from 0 to 2^40",
    .stream = true,
    .prove = prove};
