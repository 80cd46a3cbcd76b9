/* The judge of memory visits: operators of which each comes after the one before, and prices of a byte. It follows the
 * chain from memory to memory. A visit ends where the chain goes elsewhere, and keeps in its memory, for good, the
 * weights of its operators of the chain and of those between them that time does not allow to be elsewhere.
 * docs/theory/bounds/visits.md */
#include <stdlib.h>

#include "base/checked.h"
#include "base/compare.h"
#include "base/fail.h"
#include "check/check_certificate.h"

enum { PRICE_BITS = 32, MAX_PRICES = FIELD_VISIT_PRICES, MAX_OPEN = 1 << 15 };
static const int64_t LONGEST = (int64_t)1 << 60, MAX_STEPS = 2000000000;
static const double MAX_CELLS = 3e7;

/* Prices are at most 2^40 (check_fields.c); times are below 2^63, and all bytes together at most 2^56. In 2^-32 ns a
 * part of the chain costs less than 2^95 + 2^96, and a visit adds up fewer than 2^26 parts, and as many shares of
 * bypasses: less than 2^124. What a memory lacks is less than 2^64, so below 2^104 at its price. */

/* A visit: its arrival, the bytes it keeps, the maximum additional bytes of a running operator; and for each price the
 * time and the price of the bytes that stay between its operators. */
typedef struct stay {
  int64_t came_ns, kept_bytes, beside_bytes;
  int32_t memory, origin, since; /* since chain[since]; where the open bypass began, 0 while none is open */
  __int128 sum[MAX_PRICES];
} stay;

typedef struct absence {
  int64_t time_ns, bytes;
} absence;

typedef struct trail {
  const judge *j;
  int32_t nm, n, n_bypasses, n_prices;
  const int64_t *chain, *from, *to, *price;
  int64_t *time, *head, *tail, *end, *rest; /* [operator * nm + memory] */
  int64_t *carried;                         /* [operator] weights of its group, of one operator of each */
  int32_t *before, *behind;                 /* [operator] places in the chain */
  absence *absent;                          /* [operator] */
  int64_t *transit_ns;                      /* [from * nm + to] of the current part */
  __int128 *cost;                           /* [memory * MAX_PRICES + price] of staying for the current part */
  int32_t n_origins;      /* while a bypass is open its origin is known, one for each memory; else 1 */
  int64_t *now, *came;    /* [origin * nm + memory] */
  int64_t *origin;        /* [memory] when the open bypass began there */
  __int128 *since_origin; /* [memory * MAX_PRICES + price] sums of cost since then */
  stay *open, *begun;     /* [n_open], at most max_open; [memory] */
  int32_t n_open, max_open;
  int64_t steps;
} trail;

static bool together(const trail *w, int32_t u, int32_t v) {
  const int32_t *group = w->j->graph->colocation;
  return group[u] >= 0 && group[u] == group[v];
}

/* When tensor t is in memory m for operator x, after its producer's end in each memory. */
static int64_t when_there(trail *w, int32_t t, int32_t x, int32_t m, const int64_t *end) {
  int64_t soonest = end[m];
  if (together(w, w->j->graph->producer[t], x)) return soonest;
  for (int32_t k = 0; k < w->nm; k++) soonest = min64(soonest, sat_add(end[k], judge_transfer_ns(w->j, t, k, m)));
  w->steps += w->nm;
  return soonest;
}

/* The least time that is left for tensor t to operator x from memory m: the transfer, the operator and what follows. */
static int64_t what_follows(trail *w, int32_t t, int32_t x, int32_t m, const int64_t *rest) {
  const int64_t *time = w->time + (int64_t)x * w->nm;
  int64_t min = sat_add(time[m], rest[m]);
  if (together(w, w->j->graph->producer[t], x)) return min;
  for (int32_t k = 0; k < w->nm; k++)
    min = min64(min, sat_add(judge_transfer_ns(w->j, t, m, k), sat_add(time[k], rest[k])));
  w->steps += w->nm;
  return min;
}

/* ---- data computed before the chain is followed ---- */

static void find_times(trail *w) {
  for (int32_t v = 0; v < w->j->graph->n_operators; v++) {
    int64_t *row = w->time + (int64_t)v * w->nm;
    for (int32_t m = 0; m < w->nm; m++) row[m] = SITU_NEVER_NS;
    for (int32_t d = 0; d < w->j->platform->n_devices; d++) {
      int64_t *time = &row[w->j->platform->memory_of[d]];
      if (check_may_run(w->j, v, d)) *time = min64(*time, judge_time_ns(w->j, v, d));
    }
  }
}

/* Heads of the chain's first operator and its ancestors, tails of its last operator and its descendants. */
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
      int64_t max = 0;
      for (int32_t t = g->out_start[v]; t < g->out_start[v + 1]; t++)
        for (int64_t i = g->use_start[t]; i < g->use_start[t + 1]; i++)
          max = max64(max, what_follows(w, t, g->use[i], m, w->tail + (int64_t)g->use[i] * w->nm));
      w->tail[(int64_t)v * w->nm + m] = max;
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
static bool is_between(const trail *w, int32_t v, int32_t from, int32_t to) {
  return w->before[v] == from && w->behind[v] == to;
}

/* Whether v is between two operators of the chain that follow each other, or beside it in a bypass. */
static bool is_looked_at(const trail *w, int32_t v) {
  int32_t from = w->before[v], to = w->behind[v];
  if (from < 0 || to == w->n || from == to) return false;
  int32_t low = 0, high = w->n_bypasses; /* the first bypass that begins at `from` or later is between them */
  while (low < high) {
    int32_t middle = low + (high - low) / 2;
    if (w->from[middle] < from)
      low = middle + 1;
    else
      high = middle;
  }
  return to == from + 1 || (low < w->n_bypasses && w->from[low] == from && w->to[low] == to);
}

/* The weights of a group count with its first operator in the chain, else with the first one examined. */
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
      if (is_looked_at(w, items.member[k])) carrier = items.member[k];
    if (carrier >= 0) w->carried[carrier] = bytes;
  }
  return true;
}

/* ---- from one operator of the chain to a later one ---- */

/* end: of what is between chain[i] and chain[k], and of chain[k], when chain[i] ends at 0 in memory `home`. */
static void go_through(trail *w, int32_t i, int32_t k, int32_t home) {
  const situ_graph *g = w->j->graph;
  int32_t first = (int32_t)w->chain[i], last = (int32_t)w->chain[k];
  for (int32_t m = 0; m < w->nm; m++) w->end[(int64_t)first * w->nm + m] = m == home ? 0 : SITU_NEVER_NS;
  for (int32_t v = first + 1; v <= last; v++) {
    if (v != last && !is_between(w, v, i, k)) continue;
    for (int32_t m = 0; m < w->nm; m++) {
      int64_t start = together(w, v, first) && m != home ? SITU_NEVER_NS : 0;
      for (int64_t e = g->in_start[v]; e < g->in_start[v + 1]; e++) {
        int32_t u = g->producer[g->in[e]];
        if (u != first && !is_between(w, u, i, k)) continue;
        start = max64(start, when_there(w, g->in[e], v, m, w->end + (int64_t)u * w->nm));
      }
      w->end[(int64_t)v * w->nm + m] = sat_add(start, w->time[(int64_t)v * w->nm + m]);
    }
  }
  for (int32_t m = 0; m < w->nm; m++) w->transit_ns[(int64_t)home * w->nm + m] = w->end[(int64_t)last * w->nm + m];
}

/* rest: from the ends of these to that of chain[k], when both chain[i] and chain[k] are in `home`. */
static void go_back(trail *w, int32_t i, int32_t k, int32_t home) {
  const situ_graph *g = w->j->graph;
  int32_t first = (int32_t)w->chain[i], last = (int32_t)w->chain[k];
  for (int32_t m = 0; m < w->nm; m++) w->rest[(int64_t)last * w->nm + m] = m == home ? 0 : SITU_NEVER_NS;
  for (int32_t v = last - 1; v > first; v--) {
    if (!is_between(w, v, i, k)) continue;
    for (int32_t m = 0; m < w->nm; m++) {
      bool bound = together(w, v, first) || together(w, v, last);
      int64_t max = bound && m != home ? SITU_NEVER_NS : 0;
      for (int32_t t = g->out_start[v]; t < g->out_start[v + 1]; t++)
        for (int64_t e = g->use_start[t]; e < g->use_start[t + 1]; e++) {
          int32_t x = g->use[e];
          if (x != last && !is_between(w, x, i, k)) continue;
          max = max64(max, what_follows(w, t, x, m, w->rest + (int64_t)x * w->nm));
        }
      w->rest[(int64_t)v * w->nm + m] = max;
    }
  }
}

COMPARATOR(longest_first, absence, DOWN(time_ns))

/* cost[price]: at least the time from chain[i] to chain[k], both in `home`, + the price of what is kept there. */
static void cost_of_part(trail *w, int32_t i, int32_t k, int32_t home, __int128 *cost) {
  int64_t whole = w->transit_ns[(int64_t)home * w->nm + home], kept = 0;
  int32_t n = 0;
  go_back(w, i, k, home);
  for (int32_t v = (int32_t)w->chain[i] + 1; v < w->chain[k]; v++) {
    if (!is_between(w, v, i, k) || w->carried[v] == 0) continue;
    int64_t min = SITU_NEVER_NS;
    for (int32_t m = 0; m < w->nm; m++)
      if (m != home) min = min64(min, sat_add(w->end[(int64_t)v * w->nm + m], w->rest[(int64_t)v * w->nm + m]));
    w->absent[n++] = (absence){max64(min, whole), w->carried[v]};
  }
  qsort(w->absent, (size_t)n, sizeof *w->absent, longest_first);
  for (int32_t q = 0; q < w->n_prices; q++) cost[q] = -1;
  for (int32_t x = 0; x <= n; x++) { /* the first x are kept */
    int64_t time = x < n ? w->absent[x].time_ns : whole;
    for (int32_t q = 0; q < w->n_prices && time != SITU_NEVER_NS; q++) {
      __int128 here = ((__int128)time << PRICE_BITS) + (__int128)w->price[q] * kept;
      if (cost[q] < 0 || here < cost[q]) cost[q] = here;
    }
    if (x < n) kept = sat_add(kept, w->absent[x].bytes);
  }
}

/* ---- visits ---- */

static bool is_limited(const trail *w, int32_t m) { return w->j->platform->memory_bytes[m] != SITU_UNLIMITED_BYTES; }

/* A sum of times and prices as time, rounded up. */
static int64_t as_time(__int128 sum) {
  __int128 time = (sum + ((__int128)1 << PRICE_BITS) - 1) >> PRICE_BITS;
  return time > LONGEST ? LONGEST : (int64_t)time;
}

/* Adds an operator of the chain to a visit. False if there is no room for it. */
static bool keep(const trail *w, stay *s, int32_t v) {
  const situ_graph *g = w->j->graph;
  int64_t beside = g->workspace_bytes[v];
  for (int64_t i = g->in_start[v]; i < g->in_start[v + 1]; i++) beside = sat_add(beside, g->size_bytes[g->in[i]]);
  for (int32_t t = g->out_start[v]; t < g->out_start[v + 1]; t++) beside = sat_add(beside, g->size_bytes[t]);
  if (w->time[(int64_t)v * w->nm + s->memory] > 0) s->beside_bytes = max64(s->beside_bytes, beside);
  s->kept_bytes = sat_add(s->kept_bytes, w->carried[v]);
  return sat_add(s->kept_bytes, s->beside_bytes) <= w->j->platform->memory_bytes[s->memory];
}

static int64_t end_of_visit(const trail *w, const stay *s) {
  __int128 max = 0, over = (__int128)s->kept_bytes - w->j->platform->memory_bytes[s->memory] + s->beside_bytes;
  for (int32_t q = 0; q < w->n_prices; q++) {
    __int128 cost = s->sum[q] + w->price[q] * over;
    if (cost > max) max = cost;
  }
  return sat_add(s->came_ns, as_time(max));
}

/* Fills now[origin, m], the least end of chain[k] in m, from came[origin, m]: visits go on, and new ones begin. A visit
 * that ends no sooner than a new one comes is left to the new one, which keeps less. */
static void visit(trail *w, int32_t k) {
  int32_t v = (int32_t)w->chain[k], n = w->n_open;
  for (int32_t at = 0; at < w->n_origins * w->nm; at++)
    w->now[at] = is_limited(w, at % w->nm) ? SITU_NEVER_NS : w->came[at];
  w->n_open = 0;
  for (int32_t i = 0; i < n; i++) {
    stay *s = &w->open[i];
    int32_t at = s->origin * w->nm + s->memory;
    w->steps += w->n_prices;
    if (w->transit_ns[(int64_t)s->memory * w->nm + s->memory] == SITU_NEVER_NS || !keep(w, s, v)) continue;
    for (int32_t q = 0; q < w->n_prices; q++) s->sum[q] += w->cost[s->memory * MAX_PRICES + q];
    int64_t end = end_of_visit(w, s);
    if (end >= w->came[at]) continue;
    w->now[at] = min64(w->now[at], end);
    if (w->n_open != i) w->open[w->n_open] = *s;
    w->n_open++;
  }
  for (int32_t at = 0; at < w->n_origins * w->nm; at++) {
    stay fresh = {.came_ns = w->came[at], .memory = at % w->nm, .origin = at / w->nm, .since = k};
    if (!is_limited(w, fresh.memory) || fresh.came_ns == SITU_NEVER_NS || !keep(w, &fresh, v)) continue;
    w->now[at] = min64(w->now[at], fresh.came_ns);
    if (w->n_open == w->max_open)
      w->steps = MAX_STEPS + 1;
    else
      w->open[w->n_open++] = fresh;
  }
}

/* All ways from chain[i] to chain[k], from memories where it may have ended, and what it costs to stay in one. */
static void look_through(trail *w, int32_t i, int32_t k, const int64_t *now, int32_t n_origins) {
  for (int32_t m = 0; m < w->nm; m++) {
    bool may_be = false;
    for (int32_t o = 0; o < n_origins; o++) may_be |= now[(int64_t)o * w->nm + m] != SITU_NEVER_NS;
    for (int32_t to = 0; to < w->nm; to++) w->transit_ns[(int64_t)m * w->nm + to] = SITU_NEVER_NS;
    if (!may_be) continue;
    go_through(w, i, k, m);
    if (is_limited(w, m)) cost_of_part(w, i, k, m, w->cost + (int64_t)m * MAX_PRICES);
  }
}

/* From chain[k] to chain[k+1]. */
static void follow(trail *w, int32_t k) {
  look_through(w, k, k + 1, w->now, w->n_origins);
  for (int32_t o = 0; o < w->n_origins; o++)
    for (int32_t m = 0; m < w->nm; m++) {
      int64_t *came = &w->came[o * w->nm + m];
      *came = SITU_NEVER_NS;
      for (int32_t from = 0; from < w->nm; from++)
        if (from != m || !is_limited(w, m))
          *came = min64(*came, sat_add(w->now[o * w->nm + from], w->transit_ns[(int64_t)from * w->nm + m]));
    }
  for (int32_t m = 0; m < w->nm && w->n_origins > 1; m++)
    for (int32_t q = 0; q < w->n_prices; q++)
      if (is_limited(w, m) && w->transit_ns[(int64_t)m * w->nm + m] != SITU_NEVER_NS)
        w->since_origin[m * MAX_PRICES + q] += w->cost[m * MAX_PRICES + q];
  visit(w, k + 1);
}

/* A bypass begins: from now on it is known in which memory, the origin, it did. */
static void part_ways(trail *w) {
  for (int32_t m = 0; m < w->nm; m++) w->origin[m] = w->now[m];
  for (int32_t o = 0; o < w->nm; o++)
    for (int32_t m = 0; m < w->nm; m++) w->now[o * w->nm + m] = m == o ? w->origin[m] : SITU_NEVER_NS;
  for (int32_t i = 0; i < w->n_open; i++) w->open[i].origin = w->open[i].memory;
  for (int32_t i = 0; i < w->nm * MAX_PRICES; i++) w->since_origin[i] = 0;
  w->n_origins = w->nm;
}

/* The effect of the end of a bypass on a visit: a visit that includes its beginning keeps its share of it, one that
 * arrived later waits for it. False if that is impossible. */
static bool wait_for(const trail *w, stay *s, int32_t from) {
  int64_t transit_ns = w->transit_ns[(int64_t)s->origin * w->nm + s->memory];
  __int128 max = 0;
  if (transit_ns == SITU_NEVER_NS) return false;
  for (int32_t q = 0; q < w->n_prices; q++) {
    __int128 more = w->cost[s->memory * MAX_PRICES + q] - w->since_origin[s->memory * MAX_PRICES + q];
    if (s->since <= from && more > 0) s->sum[q] += more;
    if (s->sum[q] > max) max = s->sum[q];
  }
  if (s->since > from) s->came_ns = max64(s->came_ns, sat_add(w->origin[s->origin], transit_ns) - as_time(max));
  return true;
}

/* A bypass ends with chain[k]. Of the visits that begin here in one memory the first is kept, of others what ends
 * sooner than it comes. came is scratch. */
static void come_together(trail *w, int32_t from, int32_t k) {
  int64_t *first = w->came;
  stay *best = w->begun;
  int32_t kept = 0;
  look_through(w, from, k, w->origin, 1);
  for (int32_t m = 0; m < w->nm; m++) {
    int64_t min = first[m] = SITU_NEVER_NS;
    for (int32_t o = 0; o < w->nm && !is_limited(w, m); o++)
      min = min64(min, max64(w->now[o * w->nm + m], sat_add(w->origin[o], w->transit_ns[(int64_t)o * w->nm + m])));
    w->now[m] = min; /* the first row has been used up to m */
  }
  for (int32_t i = 0; i < w->n_open; i++) {
    stay *s = &w->open[i];
    if (!wait_for(w, s, from)) continue;
    s->origin = 0;
    if (s->since == k && s->came_ns < first[s->memory]) {
      first[s->memory] = s->came_ns;
      best[s->memory] = *s;
    }
    if (s->since < k) w->open[kept++] = *s;
  }
  w->n_open = kept;
  kept = 0;
  for (int32_t i = 0; i < w->n_open; i++) {
    int64_t end = end_of_visit(w, &w->open[i]);
    if (end >= first[w->open[i].memory]) continue;
    w->now[w->open[i].memory] = min64(w->now[w->open[i].memory], end);
    w->open[kept++] = w->open[i];
  }
  for (int32_t m = 0; m < w->nm; m++) {
    if (first[m] == SITU_NEVER_NS) continue;
    w->now[m] = min64(w->now[m], first[m]);
    w->open[kept++] = best[m];
  }
  w->n_open = kept;
  w->n_origins = 1;
}

static int64_t follow_all(trail *w) {
  int32_t first = (int32_t)w->chain[0], last = (int32_t)w->chain[w->n - 1], r = 0;
  int64_t min = SITU_NEVER_NS;
  for (int32_t m = 0; m < w->nm; m++) w->came[m] = w->head[(int64_t)first * w->nm + m];
  visit(w, 0);
  for (int32_t k = 0; k < w->n; k++) {
    if (k > 0) follow(w, k - 1);
    if (r < w->n_bypasses && w->to[r] == k) come_together(w, (int32_t)w->from[r++], k);
    if (r < w->n_bypasses && w->from[r] == k) part_ways(w);
    if (w->steps > MAX_STEPS) return CERTIFICATE_TOO_LONG;
  }
  for (int32_t m = 0; m < w->nm; m++) min = min64(min, sat_add(w->now[m], w->tail[(int64_t)last * w->nm + m]));
  return min;
}

/* The required form of the lists: operators in ascending order; bypasses in sequence, each with positions of the chain
 * between its ends; prices from 0 to DEAREST. */
static bool take_lists(trail *w, const certificate *c) {
  int64_t n = certificate_size(c, "chain"), n_prices = certificate_size(c, "byte_prices");
  int64_t n_bypasses = certificate_size(c, "from");
  w->chain = certificate_get(c, "chain", -1);
  w->price = certificate_get(c, "byte_prices", -1);
  w->from = certificate_get(c, "from", -1);
  w->to = certificate_get(c, "to", n_bypasses);
  if (!w->to) return false;
  for (int64_t k = 1; k < n; k++)
    if (w->chain[k] <= w->chain[k - 1]) return false;
  for (int64_t r = 0; r < n_bypasses; r++)
    if (w->from[r] < (r > 0 ? w->to[r - 1] : 0) || w->to[r] >= n || w->from[r] >= w->to[r] - 1) return false;
  w->n = (int32_t)n;
  w->n_bypasses = (int32_t)n_bypasses;
  w->n_prices = (int32_t)n_prices;
  return true;
}

static bool init(trail *w) {
  arena *a = w->j->scratch;
  int64_t n = w->j->graph->n_operators, nm = w->nm;
  int64_t **rows[] = {&w->time, &w->head, &w->tail, &w->end, &w->rest};
  bool made = true;
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) made &= (*rows[i] = ARENA_NEW(a, int64_t, n * nm)) != NULL;
  w->n_origins = 1;
  w->max_open = (int32_t)min64(MAX_OPEN, w->n * nm * (nm + 1));
  return made && ARENA_ARRAYS(a, ZEROS(w->carried, n), ARRAY(w->before, n), ARRAY(w->behind, n), ARRAY(w->absent, n),
                              ARRAY(w->transit_ns, nm * nm), ARRAY(w->cost, nm * MAX_PRICES), ARRAY(w->now, nm * nm),
                              ARRAY(w->came, nm * nm), ARRAY(w->origin, nm), ARRAY(w->since_origin, nm * MAX_PRICES),
                              ARRAY(w->open, w->max_open), ARRAY(w->begun, nm));
}

static situ_status prove(int64_t *proved_ns, judge *j, const certificate *c, situ_error *error) {
  trail w = {.j = j, .nm = j->platform->n_memories};
  *proved_ns = CERTIFICATE_MALFORMED;
  if (!take_lists(&w, c)) return SITU_STATUS_OK;
  *proved_ns = CERTIFICATE_TOO_LONG;
  if ((double)w.nm * j->graph->n_operators > MAX_CELLS) return SITU_STATUS_OK;
  if (!init(&w)) return fail_no_memory(error);
  find_times(&w);
  *proved_ns = 0;
  if (!find_places(&w)) return SITU_STATUS_OK;
  if (!find_carried(&w)) return fail_no_memory(error);
  find_ends(&w);
  *proved_ns = follow_all(&w);
  return SITU_STATUS_OK;
}

const certificate_rule visits_rule = {
    .kind = "visits",
    .form =
        "a chain of operators in ascending order, and from and to: places in it, at least two apart, where bypasses "
        "begin and end one behind the other",
    .models = MODEL_STREAM,
    .prove = prove};
