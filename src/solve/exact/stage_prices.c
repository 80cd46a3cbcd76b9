/* stage_prices */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "base/fail.h"
#include "solve/exact/stage_energy.h"
#include "solve/exact/windows.h"
#include "solve/solver.h"

enum { MOST_CHAINS = 64, MOST_CLASSES = 4000, MOST_ENTRIES = 1 << 21 };

typedef struct search {
  solve_run *run;
  const stages *s;
  windows windows;
  stage_chain *chains;
  int32_t n_chains;
  uint64_t *before;
  /* stack of nodes */
  int64_t n_open, room;
  uint16_t *may;   /* [node * n] */
  double *price;   /* [node * STAGE_MOST] */
  int32_t *chain;
  /* scratch */
  int64_t *up, *down, *cost;
  int32_t *value;
  uint8_t *stage;
  double *often; /* [class * STAGE_MOST] */
  int64_t *marginal;
  int64_t passes, nodes, work, most_work;
  int64_t lower_ns;
} search;

static int64_t value_of(const search *g) { return g->run->incumbent->value_ns; }

/* Bounds from F. False when a class has no stage left. */
static bool tighten(const stages *s, uint16_t *may) {
  for (int32_t v = 0; v < s->n; v++) {
    for (int32_t k = 0; k < s->n_words; k++)
      for (uint64_t left = s->predecessors[(int64_t)v * s->n_words + k]; left; left &= left - 1) {
        uint16_t u = may[k * 64 + __builtin_ctzll(left)];
        may[v] &= (uint16_t)~((u & -u) - 1);
      }
    if (!may[v]) return false;
  }
  for (int32_t v = s->n - 1; v >= 0; v--) {
    if (!may[v]) return false;
    uint16_t upto = (uint16_t)((2u << (31 - __builtin_clz(may[v]))) - 1);
    for (int32_t k = 0; k < s->n_words; k++)
      for (uint64_t left = s->predecessors[(int64_t)v * s->n_words + k]; left; left &= left - 1)
        may[k * 64 + __builtin_ctzll(left)] &= upto;
  }
  return true;
}

/* drops by work before and after */
static bool drop_by_work(search *g, const stage_chain *chain, uint16_t *may, const stage_price *price, int64_t most_ns) {
  const stages *s = g->s;
  for (int32_t v = 0; v < s->n; v++) {
    g->up[v] = g->down[v] = 0;
    g->cost[v] = INT64_MAX;
    for (uint32_t left = may[v]; left; left &= left - 1) {
      int32_t k = __builtin_ctz(left);
      g->cost[v] = min64(g->cost[v], price->compute[k] * s->time_ns[(int64_t)chain->type[k] * s->n + v]);
    }
  }
  for (int32_t v = 0; v < s->n; v++)
    for (int32_t k = 0; k <= v / 64; k++)
      for (uint64_t left = g->before[(int64_t)v * s->n_words + k]; left; left &= left - 1) {
        int32_t u = k * 64 + __builtin_ctzll(left);
        g->up[v] += g->cost[u];
        g->down[u] += g->cost[v];
      }
  int64_t upto[STAGE_MOST + 1] = {0};
  for (int32_t k = 0; k < chain->n; k++) upto[k + 1] = upto[k] + price->compute[k] * most_ns;
  for (int32_t v = 0; v < s->n; v++)
    for (uint32_t left = may[v]; left; left &= left - 1) {
      int32_t k = __builtin_ctz(left);
      int64_t own = price->compute[k] * s->time_ns[(int64_t)chain->type[k] * s->n + v];
      if (g->up[v] + own > upto[k + 1] || g->down[v] + own > upto[chain->n] - upto[k]) may[v] &= (uint16_t)~(1u << k);
    }
  return tighten(s, may);
}

static void to_price(stage_price *price, const double *p, int32_t n) {
  double sum = 0;
  for (int32_t k = 0; k < n; k++) sum += p[k];
  for (int32_t k = 0; k < n; k++)
    price->compute[k] = price->in[k] = price->out[k] = (int64_t)floor(p[k] / sum * (double)STAGE_PRICE_ONE * (1 - 1e-12));
}

/* nearest point of the simplex */
static void project(double *p, int32_t n) {
  double sorted[STAGE_MOST], sum = 0, shift = 0;
  memcpy(sorted, p, (size_t)n * sizeof *p);
  for (int32_t i = 1; i < n; i++)
    for (int32_t j = i; j > 0 && sorted[j] > sorted[j - 1]; j--) {
      double swap = sorted[j];
      sorted[j] = sorted[j - 1];
      sorted[j - 1] = swap;
    }
  for (int32_t i = 0; i < n; i++) {
    sum += sorted[i];
    if (sorted[i] - (sum - 1) / (i + 1) > 0) shift = (sum - 1) / (i + 1);
  }
  for (int32_t i = 0; i < n; i++) p[i] = p[i] > shift ? p[i] - shift : 0;
}

static bool offer(search *g, const stage_chain *chain, const uint8_t *stage) {
  const stages *s = g->s;
  arena *a = g->run->arena;
  arena_mark mark = arena_get_mark(a);
  int32_t device_at[STAGE_MOST], taken[STAGE_MOST] = {0};
  for (int32_t k = 0; k < chain->n; k++) device_at[k] = s->types[chain->type[k]].devices[taken[chain->type[k]]++];
  int32_t *device_of_class = ARENA_NEW(a, int32_t, s->n), *device = ARENA_NEW(a, int32_t, s->problem->n_operators);
  if (!device_of_class || !device) return false;
  for (int32_t v = 0; v < s->n; v++) device_of_class[s->class_at[v]] = device_at[stage[v]];
  contraction_expand(&s->classes, device_of_class, device);
  solve_offer(g->run, &(placement){.device = device});
  arena_release(a, mark);
  return true;
}

static int64_t period_of(const stages *s, const stage_cost *loads, int32_t n) {
  int64_t most = 0;
  for (int32_t k = 0; k < n; k++) most = max64(most, stages_load(s, &loads[k]));
  return most;
}

static bool push(search *g, const uint16_t *may, const double *price, int32_t chain) {
  int32_t n = g->s->n + g->s->n_edges;
  if (g->n_open == g->room) {
    g->room = g->room ? g->room * 2 : 64;
    g->may = realloc(g->may, (size_t)g->room * n * sizeof *g->may);
    g->price = realloc(g->price, (size_t)g->room * STAGE_MOST * sizeof *g->price);
    g->chain = realloc(g->chain, (size_t)g->room * sizeof *g->chain);
    if (!g->may || !g->price || !g->chain) return false;
  }
  memcpy(g->may + g->n_open * n, may, (size_t)n * sizeof *may);
  memcpy(g->price + g->n_open * STAGE_MOST, price, STAGE_MOST * sizeof *price);
  g->chain[g->n_open++] = chain;
  return true;
}

typedef enum attempt { REFUTED, FOUND, GAVE_UP } attempt;
enum seen { CLOSED, OPEN, BETTER, STOP };

static int debug = -1;

/* prices at a node; *closed */
static enum seen look(search *g, uint16_t *may, double *p, const stage_chain *chain, int64_t most_ns, int iterations, bool *changed, double *bestbound) {
  const stages *s = g->s;
  arena *a = g->run->arena;
  arena_mark mark = arena_get_mark(a);
  stage_energy e;
  stage_price price;
  enum seen result = OPEN;
  *changed = false;
  elimination_made made = stage_energy_init(&e, s, chain, may, may + s->n, MOST_ENTRIES, a);
  memset(g->often, 0, (size_t)(s->n + s->n_edges) * STAGE_MOST * sizeof *g->often);
  if (made != ELIMINATION_READY) {
    if (debug > 1) fprintf(stderr, "too wide %d\n", made);
    for (int32_t v = 0; v < s->n; v++) 
      for (int32_t k = 0; k < chain->n; k++) if (may[v] >> k & 1) g->often[v * STAGE_MOST + k] = 1.0 / __builtin_popcount(may[v]);
    arena_release(a, mark);
    return OPEN;
  }
  int32_t *value = ARENA_NEW(a, int32_t, e.n_variables);
  int64_t *marginal = ARENA_NEW(a, int64_t, e.n_values);
  double best[STAGE_MOST], gamma = 1, weight = 0;
  int64_t best_sum = -1;
  int stall = 0;
  memcpy(best, p, sizeof best);
  for (int it = 0; it < iterations && result == OPEN; it++) {
    to_price(&price, p, chain->n);
    int64_t sum = stage_energy_least(&e, &price, value, g->stage);
    g->passes++;
    g->work += e.tables.work;
    if (budget_spend(g->run->budget, 1)) result = STOP;
    if (sum > most_ns * STAGE_PRICE_ONE) { result = CLOSED; best_sum = sum; break; }
    stage_cost loads[STAGE_MOST];
    stage_loads(loads, s, chain, g->stage, NULL);
    int64_t period = period_of(s, loads, chain->n);
    if (period < value_of(g)) {
      int64_t old = value_of(g);
      offer(g, chain, g->stage);
      if (debug > 0 && value_of(g) < old) fprintf(stderr, "  plan %lld\n", (long long)value_of(g));
      if (value_of(g) <= most_ns) { result = BETTER; break; }
    }
    stage_loads(loads, s, chain, g->stage, may + s->n);
    if (e.n_variables == 0) { result = CLOSED; break; }
    double w = 1;
    for (int32_t v = 0; v < s->n; v++) { g->often[v * STAGE_MOST + g->stage[v]] += w; } weight += w;
    for (int32_t ed = 0; ed < s->n_edges; ed++) { uint32_t h = 0; for (int32_t i = s->pin_start[ed]; i < s->pin_start[ed + 1]; i++) h |= 1u << g->stage[s->pin[i]];
      for (; h; h &= h - 1) g->often[(s->n + ed) * STAGE_MOST + __builtin_ctz(h)] += w; }
    if (sum > best_sum) {
      stall = 0;
      best_sum = sum;
      memcpy(best, p, sizeof best);
    } else if (++stall >= 4) { gamma *= 0.6; stall = 0; memcpy(p, best, sizeof best); 
      to_price(&price, p, chain->n);
      sum = stage_energy_least(&e, &price, value, g->stage); g->passes++; stage_loads(loads, s, chain, g->stage, may + s->n); }
    double mean = 0, norm = 0, gr[STAGE_MOST];
    for (int32_t k = 0; k < chain->n; k++) mean += gr[k] = (double)stages_load(s, &loads[k]);
    mean /= chain->n;
    for (int32_t k = 0; k < chain->n; k++) norm += (gr[k] - mean) * (gr[k] - mean);
    double aim = (double)most_ns * 1.002 - (double)sum / STAGE_PRICE_ONE;
    double step = gamma * aim / (norm + 1);
    for (int32_t k = 0; k < chain->n; k++) p[k] += step * (gr[k] - mean);
    project(p, chain->n);
    if (gamma < 0.05) break;
  }
  *bestbound = (double)best_sum / STAGE_PRICE_ONE;
  memcpy(p, best, sizeof best);
  for (int64_t i = 0; i < (int64_t)(s->n + s->n_edges) * STAGE_MOST; i++) g->often[i] /= weight > 0 ? weight : 1;
  if (result == OPEN) {
    to_price(&price, p, chain->n);
    stage_energy_least(&e, &price, value, g->stage);
    int64_t n = stage_energy_drop(&e, &price, most_ns * STAGE_PRICE_ONE, may, may + s->n, marginal);
    if (n > 0) { *changed = n * 20 > e.n_values; if (!tighten(s, may)) result = CLOSED; }
  }
  arena_release(a, mark);
  return result;
}


typedef struct cand { int32_t what, split; double score; } cand; /* what < n class, else n+edge with stage split */
static void keep_cand(cand *list, int n, cand c) {
  for (int i = 0; i < n; i++) if (c.score > list[i].score) { cand s = list[i]; list[i] = c; c = s; }
}
static void apply(const search *g, uint16_t *may, cand c, bool low) {
  const stages *s = g->s;
  if (c.what < s->n) { uint16_t m = (uint16_t)((2u << c.split) - 1); may[c.what] &= low ? m : (uint16_t)~m; return; }
  int32_t e = c.what - s->n;
  if (low) { may[s->n + e] |= (uint16_t)(1u << c.split); return; }
  for (int32_t i = s->pin_start[e]; i < s->pin_start[e + 1]; i++) may[s->pin[i]] &= (uint16_t)~(1u << c.split);
}
static int choose(search *g, const stage_chain *chain, const uint16_t *may, cand *list, int nc, int ne) {
  const stages *s = g->s;
  for (int32_t v = 0; v < s->n; v++) {
    g->up[v] = g->down[v] = 0;
    g->cost[v] = may[v] & (may[v] - 1) ? s->time_ns[(int64_t)(s->n_types - 1) * s->n + v] : 0;
    if (g->cost[v] == SITU_NEVER_NS) g->cost[v] = 0;
  }
  for (int32_t v = 0; v < s->n; v++)
    for (int32_t k = 0; k <= v / 64; k++)
      for (uint64_t left = g->before[(int64_t)v * s->n_words + k]; left; left &= left - 1) {
        int32_t u = k * 64 + __builtin_ctzll(left);
        g->up[v] += g->cost[u];
        g->down[u] += g->cost[v];
      }
  for (int i = 0; i < nc + ne; i++) list[i] = (cand){-1, 0, -1};
  for (int32_t v = 0; v < s->n; v++) {
    if (!(may[v] & (may[v] - 1))) continue;
    double f = 0; cand mine = {-1, 0, -1};
    for (int32_t k = 0; k < STAGE_MOST; k++) {
      f += g->often[v * STAGE_MOST + k];
      if (!(may[v] >> (k + 1))) break;
      if (!(may[v] & ((2u << k) - 1))) continue;
      double part = f < 1 - f ? f : 1 - f;
      double score = (part + 0.01) * (double)(g->cost[v] + min64(g->up[v], g->down[v]) + 1);
      if (score > mine.score) mine = (cand){v, k, score};
    }
    keep_cand(list, nc, mine);
  }
  for (int32_t e = 0; e < s->n_edges; e++) {
    if (s->pin_start[e + 1] - s->pin_start[e] < 3) continue;
    uint32_t can = 0, must = may[s->n + e];
    for (int32_t i = s->pin_start[e]; i < s->pin_start[e + 1]; i++) { uint16_t m = may[s->pin[i]]; can |= m; if (!(m & (m - 1))) must |= m; }
    for (uint32_t left = can & ~must; left; left &= left - 1) {
      int32_t k = __builtin_ctz(left);
      double f = g->often[(s->n + e) * STAGE_MOST + k];
      double score = (f < 1 - f ? f : 1 - f) * (double)s->in_ns[(int64_t)chain->type[k] * s->n_edges + e];
      keep_cand(list + nc, ne, (cand){s->n + e, k, score});
    }
  }
  int n = 0;
  for (int i = 0; i < nc + ne; i++) if (list[i].score >= 0) list[n++] = list[i];
  return n;
}

static attempt try_period(search *g, int64_t most_ns) {
  const stages *s = g->s;
  g->n_open = 0;
  g->work = 0;
  uint16_t *may = calloc((size_t)(s->n + s->n_edges), sizeof *may);
  double p[STAGE_MOST];
  for (int32_t c = 0; c < g->n_chains; c++) {
    const stage_chain *chain = &g->chains[c];
    memset(may + s->n, 0, (size_t)s->n_edges * sizeof *may);
    for (int32_t v = 0; v < s->n; v++) {
      may[v] = 0;
      for (int32_t k = 0; k < chain->n; k++) if (s->time_ns[(int64_t)chain->type[k] * s->n + v] <= most_ns) may[v] |= (uint16_t)(1u << k);
    }
    double sum = 0;
    for (int32_t k = 0; k < STAGE_MOST; k++) p[k] = 0;
    for (int32_t k = 0; k < chain->n; k++) sum += p[k] = (double)g->windows.reach[chain->type[k]];
    for (int32_t k = 0; k < chain->n; k++) p[k] /= sum;
    if (!tighten(s, may)) continue;
    if (!push(g, may, p, c)) return GAVE_UP;
  }
  attempt result = REFUTED;
  int64_t nodes = 0;
  while (g->n_open > 0 && result == REFUTED) {
    int64_t at = --g->n_open;
    memcpy(may, g->may + at * (s->n + s->n_edges), (size_t)(s->n + s->n_edges) * sizeof *may);
    memcpy(p, g->price + at * STAGE_MOST, sizeof p);
    int32_t c = g->chain[at];
    const stage_chain *chain = &g->chains[c];
    nodes++;
    stage_price price;
    double reach[STAGE_MOST] = {0};
    for (int32_t k = 0; k < chain->n; k++) reach[k] = (double)g->windows.reach[chain->type[k]];
    to_price(&price, reach, chain->n);
    bool open = tighten(s, may) && drop_by_work(g, chain, may, &price, most_ns);
    to_price(&price, p, chain->n);
    open = open && drop_by_work(g, chain, may, &price, most_ns);
    enum seen seen = open ? OPEN : CLOSED;
    bool changed = true;
    double bound = 0;
    for (int round = 0; round < 4 && seen == OPEN && changed; round++) {
      seen = look(g, may, p, chain, most_ns, round == 0 ? 40 : 15, &changed, &bound);
      if (debug > 1) { int un = 0; for (int32_t v = 0; v < s->n; v++) un += (may[v] & (may[v]-1)) != 0;
        fprintf(stderr, "node %lld chain %d open %lld round %d: seen %d bound %.6f undecided %d  p", (long long)nodes, c, (long long)g->n_open, round, seen, bound / 1e6, un);
        for (int k = 0; k < chain->n; k++) fprintf(stderr, " %.3f", p[k]);
        fprintf(stderr, "\n"); }
    }
    if (seen == BETTER) result = FOUND;
    if (seen == STOP || g->work > g->most_work) result = GAVE_UP;
    if (seen != OPEN || result != REFUTED) continue;
    cand list[16], best = {-1, 0, -1};
    int nc = getenv("NC") ? atoi(getenv("NC")) : 1, ne = getenv("NE") ? atoi(getenv("NE")) : 0, it = getenv("IT") ? atoi(getenv("IT")) : 6;
    int n = choose(g, chain, may, list, nc, ne);
    if (n == 0) continue;
    int32_t w = s->n + s->n_edges;
    bool gone = false, lowfirst = true;
    if (n == 1) best = list[0];
    else {
      double bs = -1;
      uint16_t *try = malloc((size_t)w * sizeof *try);
      for (int i = 0; i < n && !gone; i++) {
        double gain[2];
        for (int side = 0; side < 2; side++) {
          memcpy(try, may, (size_t)w * sizeof *try);
          apply(g, try, list[i], side == 0);
          bool ok = tighten(s, try);
          double q[STAGE_MOST], b = 0; bool ch;
          memcpy(q, p, sizeof q);
          gain[side] = 1e12;
          if (ok) { enum seen r = look(g, try, q, chain, most_ns, it, &ch, &b); if (r == OPEN) gain[side] = b - bound > 1 ? b - bound : 1; if (r == BETTER) { result = FOUND; gone = true; } }
        }
        double score = gain[0] * gain[1];
        if (gain[0] > 1e11 && gain[1] > 1e11) { gone = true; break; }
        if (score > bs) { bs = score; best = list[i]; lowfirst = gain[0] < gain[1]; }
      }
      free(try);
      if (debug > 1) fprintf(stderr, "   branch on %d at %d score %g of %d\n", best.what, best.split, bs, n);
    }
    if (gone) continue;
    uint16_t *child = malloc((size_t)w * sizeof *child);
    for (int i = 0; i < 2; i++) {
      memcpy(child, may, (size_t)w * sizeof *child);
      apply(g, child, best, (i == 0) != lowfirst);
      if (!push(g, child, p, c)) return GAVE_UP;
    }
    free(child);
  }
  free(may);
  g->nodes += nodes;
  if (debug > 0) fprintf(stderr, "U %.6f: %s, %lld nodes, %lld passes in all, work %.3g, open %lld\n", (double)most_ns / 1e6, result == REFUTED ? "refuted" : result == FOUND ? "found" : "gave up", (long long)nodes, (long long)g->passes, (double)g->work, (long long)g->n_open);
  return result;
}

static void list_chains(search *g, stage_chain *now, int32_t *left) {
  const stages *s = g->s;
  bool end = true;
  for (int32_t t = 0; t < s->n_types; t++) {
    if (left[t] == 0) continue;
    end = false;
    left[t]--;
    now->type[now->n++] = t;
    list_chains(g, now, left);
    now->n--;
    left[t]++;
  }
  if (end && g->n_chains < MOST_CHAINS) g->chains[g->n_chains++] = *now;
}

static situ_status solve(solve_run *run) {
  search g = {.run = run};
  stages s;
  debug = getenv("SP") ? atoi(getenv("SP")) : 0;
  arena *a = run->arena;
  if (!stages_find(&s, run->problem, a)) return fail_no_memory(run->error);
  if (s.too_large || s.n > MOST_CLASSES || !stages_fit(&s)) return SITU_STATUS_OK;
  if (!windows_init(&g.windows, &s, a)) return fail_no_memory(run->error);
  g.s = &s;
  g.chains = ARENA_NEW(a, stage_chain, MOST_CHAINS);
  g.up = ARENA_NEW(a, int64_t, s.n); g.down = ARENA_NEW(a, int64_t, s.n); g.cost = ARENA_NEW(a, int64_t, s.n);
  g.stage = ARENA_NEW(a, uint8_t, s.n);
  g.often = ARENA_NEW(a, double, (s.n + s.n_edges) * STAGE_MOST);
  g.before = ARENA_ZERO(a, uint64_t, (int64_t)s.n * s.n_words);
  for (int32_t v = 0; v < s.n; v++) {
    uint64_t *mine = g.before + (int64_t)v * s.n_words;
    for (int32_t k = 0; k < s.n_words; k++)
      for (uint64_t left = s.predecessors[(int64_t)v * s.n_words + k]; left; left &= left - 1) {
        const uint64_t *its = g.before + (int64_t)(k * 64 + __builtin_ctzll(left)) * s.n_words;
        for (int32_t i = 0; i <= k; i++) mine[i] |= its[i];
        mine[k] |= left & -left;
      }
  }
  int32_t left[64];
  for (int32_t t = 0; t < s.n_types; t++) left[t] = s.types[t].n_devices;
  list_chains(&g, &(stage_chain){0}, left);
  g.lower_ns = run->incumbent->lower_bound_ns;
  if (getenv("UFIX")) { g.most_work = INT64_MAX; try_period(&g, atoll(getenv("UFIX"))); return SITU_STATUS_OK; }
  for (g.most_work = (int64_t)1 << 27; !solve_done(run) && g.most_work < (int64_t)1 << 50; g.most_work *= 4) {
    int64_t high = value_of(&g);
    while (!solve_done(run) && high - g.lower_ns > high / 2000) {
      int64_t most = g.lower_ns + (high - g.lower_ns) / 2;
      attempt r = try_period(&g, most);
      if (r == REFUTED) { g.lower_ns = most + 1; solve_bound(run, g.lower_ns, "stage_prices"); }
      else if (r == FOUND) high = min64(high, value_of(&g));
      else high = most;
    }
  }
  solve_count(run, "stage_prices.passes", g.passes);
  solve_count(run, "stage_prices.nodes", g.nodes);
  free(g.may); free(g.price); free(g.chain);
  return SITU_STATUS_OK;
}

static bool serves(const situ_problem *p) {
  return p->execution == SITU_EXECUTION_PIPELINE && p->contiguous && !p->replicate && !p->overlap && p->n_phases == 1 &&
         p->communication == SITU_COMMUNICATION_HOST_STAGED && stages_serve(p);
}

const solver stage_prices_solver = {.name = "stage_prices",
                                    .title = "branch and bound by prices of stages",
                                    .source = "",
                                    .pipeline = true,
                                    .exact = true,
                                    .portfolio = 0,
                                    .serves = serves,
                                    .solve = solve};
