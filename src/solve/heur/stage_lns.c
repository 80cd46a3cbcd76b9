/* stage_lns: draft */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "base/fail.h"
#include "solve/exact/stage_energy.h"
#include "solve/solver.h"

enum { MOST_ENTRIES = 1 << 16, PASSES = 12 };

typedef struct lns {
  solve_run *run;
  const stages *s;
  stage_chain chain;
  rng random;
  uint8_t *stage, *tried;
  uint16_t *may, *held;
  int32_t *region, n_region;
  int32_t *stamp, now;
  stage_cost loads[STAGE_MOST];
  int64_t *start; int32_t *beside; /* neighbours */
  double norm;
} lns;

static double power32(double x) { for (int i = 0; i < 5; i++) x *= x; return x; }

static double norm_of(const stages *s, const stage_cost *loads, int32_t n, double scale) {
  double sum = 0;
  for (int32_t k = 0; k < n; k++) sum += power32((double)stages_load(s, &loads[k]) / scale);
  return sum;
}

static bool list_neighbours(lns *l, arena *a) {
  const stages *s = l->s;
  l->start = ARENA_ZERO(a, int64_t, s->n + 2);
  int64_t total = 0;
  for (int pass = 0; pass < 2; pass++) {
    for (int32_t v = 0; v < s->n; v++)
      for (int32_t k = 0; k < s->n_words; k++)
        for (uint64_t left = s->predecessors[(int64_t)v * s->n_words + k]; left; left &= left - 1) {
          int32_t u = k * 64 + __builtin_ctzll(left);
          if (pass == 0) { l->start[u + 2]++; l->start[v + 2]++; total += 2; }
          else { l->beside[l->start[u + 1]++] = v; l->beside[l->start[v + 1]++] = u; }
        }
    if (pass == 0) { for (int32_t v = 0; v < s->n; v++) l->start[v + 2] += l->start[v + 1]; l->beside = ARENA_NEW(a, int32_t, total); }
  }
  return true;
}

static void grow(lns *l, int32_t seed, int32_t most) {
  int32_t first = l->n_region;
  if (l->stamp[seed] == l->now) return;
  l->stamp[seed] = l->now;
  l->region[l->n_region++] = seed;
  for (int32_t i = first; i < l->n_region && l->n_region - first < most; i++) {
    int32_t v = l->region[i];
    int64_t n = l->start[v + 1] - l->start[v], at = rng_below(&l->random, n > 0 ? n : 1);
    for (int64_t k = 0; k < n && l->n_region - first < most; k++) {
      int32_t u = l->beside[l->start[v] + (at + k) % n];
      if (l->stamp[u] == l->now || (l->start[u + 1] - l->start[u] > 8 && rng_below(&l->random, 16))) continue;
      l->stamp[u] = l->now;
      l->region[l->n_region++] = u;
    }
  }
}

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

static void offer(lns *g) {
  const stages *s = g->s;
  const stage_chain *chain = &g->chain;
  arena *a = g->run->arena;
  arena_mark mark = arena_get_mark(a);
  int32_t device_at[STAGE_MOST], taken[STAGE_MOST] = {0};
  for (int32_t k = 0; k < chain->n; k++) device_at[k] = s->types[chain->type[k]].devices[taken[chain->type[k]]++];
  int32_t *device_of_class = ARENA_NEW(a, int32_t, s->n), *device = ARENA_NEW(a, int32_t, s->problem->n_operators);
  for (int32_t v = 0; v < s->n; v++) device_of_class[s->class_at[v]] = device_at[g->stage[v]];
  contraction_expand(&s->classes, device_of_class, device);
  solve_offer(g->run, &(placement){.device = device});
  arena_release(a, mark);
}

static int64_t period_of(const stages *s, const stage_cost *loads, int32_t n) {
  int64_t most = 0;
  for (int32_t k = 0; k < n; k++) most = max64(most, stages_load(s, &loads[k]));
  return most;
}


enum { MOST_PARTS = 64 };
typedef struct column { int32_t part, pass; stage_cost delta[STAGE_MOST]; } column;

static double norm_with(const lns *l, const stage_cost *loads, const stage_cost *d1, const stage_cost *d0, double scale) {
  double sum = 0;
  for (int32_t k = 0; k < l->chain.n; k++) {
    stage_cost c = loads[k];
    if (d1) { c.compute_ns += d1[k].compute_ns; c.in_ns += d1[k].in_ns; c.out_ns += d1[k].out_ns; }
    if (d0) { c.compute_ns -= d0[k].compute_ns; c.in_ns -= d0[k].in_ns; c.out_ns -= d0[k].out_ns; }
    sum += power32((double)stages_load(l->s, &c) / scale);
  }
  return sum;
}
static void add_to(const lns *l, stage_cost *loads, const stage_cost *d, int sign) {
  for (int32_t k = 0; d && k < l->chain.n; k++) { loads[k].compute_ns += sign * d[k].compute_ns; loads[k].in_ns += sign * d[k].in_ns; loads[k].out_ns += sign * d[k].out_ns; }
}

static bool trial(lns *l, double scale) {
  const stages *s = l->s;
  arena *a = l->run->arena;
  arena_mark mark = arena_get_mark(a);
  bool better = false;
  for (int32_t v = 0; v < s->n; v++) l->may[v] = (uint16_t)(1u << l->stage[v]);
  for (int32_t i = 0; i < l->n_region; i++) {
    int32_t v = l->region[i];
    for (int32_t k = 0; k < l->chain.n; k++)
      if (s->time_ns[(int64_t)l->chain.type[k] * s->n + v] < (int64_t)scale) l->may[v] |= (uint16_t)(1u << k);
  }
  stage_energy e;
  if (tighten(s, l->may) && stage_energy_init(&e, s, &l->chain, l->may, l->held, MOST_ENTRIES, a) == ELIMINATION_READY && e.n_variables > 0) {
    int32_t *value = ARENA_NEW(a, int32_t, e.n_variables), *root = ARENA_NEW(a, int32_t, e.n_variables);
    for (int32_t x = 0; x < e.n_variables; x++) root[x] = x;
    for (int32_t i = 0; i < e.n_factors; i++) {
      int32_t x = e.factors[i].variable[0], y = e.factors[i].variable[1];
      if (y < 0) continue;
      while (root[x] != x) x = root[x];
      while (root[y] != y) y = root[y];
      root[x > y ? x : y] = x > y ? y : x;
    }
    int32_t n_parts = 0, *part = ARENA_NEW(a, int32_t, e.n_variables);
    for (int32_t x = 0; x < e.n_variables; x++) { int32_t r = x; while (root[r] != r) r = root[r]; part[x] = r == x ? n_parts++ : part[r]; }
    if (n_parts > MOST_PARTS) n_parts = MOST_PARTS;
    uint8_t *saw = ARENA_NEW(a, uint8_t, (int64_t)s->n * PASSES), *mixed = ARENA_NEW(a, uint8_t, s->n);
    column *columns = ARENA_NEW(a, column, (int64_t)n_parts * PASSES);
    int32_t n_columns = 0;
    double p[STAGE_MOST];
    stage_price price;
    for (int32_t pass = 0; pass < PASSES; pass++) {
      double sum = 0;
      for (int32_t k = 0; k < l->chain.n; k++) {
        double spread = pass == 0 ? 0 : 0.02 * (1 << (pass % 6));
        p[k] = exp((rng_unit(&l->random) - 0.5) * 2 * spread) ;
        if (stages_load(s, &l->loads[k]) > 0.0) p[k] *= 1;
        if (s->types[l->chain.type[k]].is_host) p[k] *= 0.1 * exp((rng_unit(&l->random) - 0.5) * 0.3);
        sum += p[k];
      }
      for (int32_t k = 0; k < l->chain.n; k++) price.compute[k] = price.in[k] = price.out[k] = (int64_t)(p[k] / sum * STAGE_PRICE_ONE);
      uint8_t *mine = saw + (int64_t)pass * s->n;
      if (stage_energy_least(&e, &price, value, mine) >= ELIMINATION_NEVER) break;
      for (int32_t i = 0; i < n_parts; i++) {
        memcpy(mixed, l->stage, (size_t)s->n);
        bool differs = false;
        for (int32_t x = 0; x < e.n_variables; x++) { int32_t c = e.class_of[x]; if (c < 0 || part[x] != i) continue; differs |= mixed[c] != mine[c]; mixed[c] = mine[c]; }
        if (!differs) continue;
        column *c = &columns[n_columns];
        stage_loads(c->delta, s, &l->chain, mixed, NULL);
        add_to(l, c->delta, l->loads, -1);
        c->part = i; c->pass = pass;
        bool known = false;
        for (int32_t j = 0; j < n_columns && !known; j++) known = columns[j].part == i && memcmp(columns[j].delta, c->delta, (size_t)l->chain.n * sizeof *c->delta) == 0;
        n_columns += !known;
      }
    }
    if (getenv("SPL")) { fprintf(stderr, "region %d vars %d parts %d columns %d\n", l->n_region, e.n_variables, n_parts, n_columns);
      for (int32_t i = 0; i < n_columns; i++) { fprintf(stderr, "  part %d pass %d:", columns[i].part, columns[i].pass); for (int k = 0; k < l->chain.n; k++) fprintf(stderr, " %.3f", (double)stages_load(s, &columns[i].delta[k]) / 1e6); fprintf(stderr, "\n"); } }
    /* combine */
    int32_t chosen[MOST_PARTS]; 
    for (int32_t i = 0; i < n_parts; i++) chosen[i] = -1;
    stage_cost loads[STAGE_MOST];
    memcpy(loads, l->loads, sizeof loads);
    double norm = l->norm;
    for (bool again = true; again;) {
      again = false;
      int32_t b1 = -1, b2 = -1;
      double best = norm * (1 - 1e-9);
      for (int32_t i = 0; i < n_columns; i++) {
        const stage_cost *old = chosen[columns[i].part] >= 0 ? columns[chosen[columns[i].part]].delta : NULL;
        if (chosen[columns[i].part] == i) continue;
        stage_cost mid[STAGE_MOST];
        memcpy(mid, loads, sizeof mid);
        add_to(l, mid, columns[i].delta, 1);
        add_to(l, mid, old, -1);
        double one = norm_with(l, mid, NULL, NULL, scale);
        if (one < best) { best = one; b1 = i; b2 = -1; }
        for (int32_t j = i + 1; j < n_columns; j++) {
          if (columns[j].part == columns[i].part || chosen[columns[j].part] == j) continue;
          const stage_cost *old2 = chosen[columns[j].part] >= 0 ? columns[chosen[columns[j].part]].delta : NULL;
          double two = norm_with(l, mid, columns[j].delta, old2, scale);
          if (two < best) { best = two; b1 = i; b2 = j; }
        }
      }
      for (int q = 0; q < 2; q++) {
        int32_t b = q ? b2 : b1;
        if (b < 0) continue;
        int32_t i = columns[b].part;
        if (chosen[i] >= 0) add_to(l, loads, columns[chosen[i]].delta, -1);
        chosen[i] = b;
        add_to(l, loads, columns[b].delta, 1);
        again = true;
      }
      norm = norm_with(l, loads, NULL, NULL, scale);
    }
    if (norm < l->norm * (1 - 1e-9)) {
      better = true;
      for (int32_t x = 0; x < e.n_variables; x++) { int32_t c = e.class_of[x]; if (c < 0 || part[x] >= n_parts || chosen[part[x]] < 0) continue; l->stage[c] = saw[(int64_t)columns[chosen[part[x]]].pass * s->n + c]; }
      stage_loads(l->loads, s, &l->chain, l->stage, NULL);
      l->norm = norm_of(s, l->loads, l->chain.n, scale);
    }
  }
  arena_release(a, mark);
  return better;
}

static situ_status solve(solve_run *run) {
  lns g = {.run = run, .random = rng_new(run->seed)}, *l = &g;
  stages s;
  arena *a = run->arena;
  if (!stages_find(&s, run->problem, a)) return fail_no_memory(run->error);
  if (!run->incumbent->best.device) return SITU_STATUS_OK;
  g.s = &s;
  g.stage = ARENA_NEW(a, uint8_t, s.n); g.tried = ARENA_NEW(a, uint8_t, s.n);
  g.may = ARENA_NEW(a, uint16_t, s.n); g.held = ARENA_ZERO(a, uint16_t, s.n_edges);
  g.region = ARENA_NEW(a, int32_t, s.n * 4); g.stamp = ARENA_ZERO(a, int32_t, s.n);
  list_neighbours(l, a);
  /* order of devices: by lowest class */
  int32_t n_devices = run->problem->n_devices;
  int32_t rank[64]; for (int i = 0; i < 64; i++) rank[i] = -1;
  /* topological sort of devices */
  const int32_t *device = run->incumbent->best.device;
  int32_t *dev = ARENA_NEW(a, int32_t, s.n);
  for (int32_t v = 0; v < s.n; v++) { int32_t c = s.class_at[v]; dev[v] = device[s.classes.member[s.classes.member_start[c]]]; }
  for (int32_t k = 0; k < n_devices; k++)
    for (int32_t d = 0; d < n_devices; d++) {
      if (rank[d] >= 0) continue;
      bool ready = true;
      for (int32_t v = 0; v < s.n && ready; v++) if (dev[v] == d)
        for (int32_t w = 0; w < s.n_words && ready; w++)
          for (uint64_t left = s.predecessors[(int64_t)v * s.n_words + w]; left; left &= left - 1) {
            int32_t du = dev[w * 64 + __builtin_ctzll(left)];
            if (du != d && rank[du] < 0) ready = false;
          }
      if (!ready) continue;
      rank[d] = g.chain.n;
      for (int32_t t = 0; t < s.n_types; t++) for (int32_t i = 0; i < s.types[t].n_devices; i++) if (s.types[t].devices[i] == d) g.chain.type[g.chain.n++] = t;
      break;
    }
  for (int32_t v = 0; v < s.n; v++) g.stage[v] = (uint8_t)rank[dev[v]];
  stage_loads(g.loads, &s, &g.chain, g.stage, NULL);
  int64_t period = period_of(&s, g.loads, g.chain.n);
  double scale = (double)period;
  g.norm = norm_of(&s, g.loads, g.chain.n, scale);
  int64_t trials = 0, wins = 0;
  while (!solve_done(run)) {
    budget_spend(run->budget, 1);
    g.now++;
    g.n_region = 0;
    int32_t parts = (int32_t)(1 + rng_below(&g.random, 8)), most = (int32_t)(2 + rng_below(&g.random, 30));
    for (int32_t i = 0; i < parts; i++) grow(l, (int32_t)rng_below(&g.random, s.n), most);
    trials++;
    if (trial(l, scale)) {
      wins++;
      int64_t now = period_of(&s, g.loads, g.chain.n);
      if (now < period) {
        period = now;
        if (period < run->incumbent->value_ns) offer(l);
        if (getenv("SP")) fprintf(stderr, "trial %lld wins %lld: %lld\n", (long long)trials, (long long)wins, (long long)period);
      }
      scale = (double)period;
      g.norm = norm_of(&s, g.loads, g.chain.n, scale);
    }
  }
  if (getenv("SP")) { fprintf(stderr, "trials %lld wins %lld: %lld\n", (long long)trials, (long long)wins, (long long)period);
    for (int k = 0; k < g.chain.n; k++) fprintf(stderr, "%d: %lld + %lld\n", g.chain.type[k], (long long)g.loads[k].compute_ns, (long long)(g.loads[k].in_ns + g.loads[k].out_ns)); }
  return SITU_STATUS_OK;
}

static bool serves(const situ_problem *p) {
  return p->execution == SITU_EXECUTION_PIPELINE && p->contiguous && !p->replicate && !p->overlap && p->n_phases == 1 &&
         p->communication == SITU_COMMUNICATION_HOST_STAGED && stages_serve(p);
}

const solver stage_lns_solver = {.name = "stage_lns", .title = "large neighbourhoods of a contiguous pipeline", .source = "",
                                    .pipeline = true, .anytime = true, .portfolio = 0, .serves = serves, .solve = solve};
