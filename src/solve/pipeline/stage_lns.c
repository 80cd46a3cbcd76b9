/* stage_lns: large neighbourhood search (Shaw, CP 1998) for contiguous pipelines.
 *
 * A few regions of the graph are freed while the rest stays at its stage. A connected part of them is a piece. For
 * given prices of the stages the best assignment of every piece is found exactly, by elimination
 * (pipeline/stage_energy.h). Each list of prices gives each piece a column: its change of the loads. Pieces are
 * independent, so columns of different lists can be combined; the combination that balances the loads best is found by
 * exchanges of one or two columns. A step is one neighbourhood. */
#include <math.h>
#include <string.h>

#include "base/checked.h"
#include "base/csr.h"
#include "base/disjoint.h"
#include "base/fail.h"
#include "solve/pipeline/stage_space.h"

enum {
  MAX_ENTRIES = 1 << 17, /* of the tables of a neighbourhood */
  PASSES = 12,           /* lists of prices of a neighbourhood */
  MAX_PIECES = 32,
  MAX_SEEDS = 8,
  GROWN = 32,    /* classes of a region, or */
  LOG_GROWN = 8, /* up to 2^8 */
  MANY = 8,      /* neighbours above which a class is rarely freed */
  RARELY = 16,
  NORM = 5,       /* loads are measured by their 2^5-norm */
  IDLE = 1000,    /* neighbourhoods without a gain before a restart from the best, with a kick */
  KICKS = 3,      /* random columns of a kick */
  PATIENCE = 8000 /* neighbourhoods in a row without a better plan that end the search */
};
static const double SPREADS[] = {0, 0.04, 0.08, 0.16, 0.32, 0.64}; /* of prices, in turn */
static const double GAIN = 1e-9;

/* The change of the loads by a piece, for one list of prices. */
typedef struct column {
  int32_t piece, pass;
  stage_cost change[STAGES_MAX];
} column;

typedef struct lns {
  solve_run *run;
  const stages *s;
  const device_sequence *sequence;
  rng random;
  uint8_t *stage, *kept;        /* [class] current; the last that was offered and accepted */
  stage_cost loads[STAGES_MAX]; /* of it */
  double scale, norm;           /* its period and its norm when last measured */
  double worth[STAGES_MAX];     /* of a nanosecond of each stage: mean prices */
  int32_t *start, *neighbour;   /* neighbours of class v in F: neighbour[start[v] .. start[v+1]) */
  int32_t *region, n_region, *stamp, now;
  uint16_t *may, *held;   /* held: none */
  int32_t *value, *piece; /* [variable] */
  uint8_t *saw, *mixed;   /* [pass * n + class]; [class] */
  column *columns;
  int32_t n_pieces, n_columns, chosen[MAX_PIECES]; /* column of each piece, or -1: unchanged */
} lns;

/* Lists the neighbours in F. */
static bool list_neighbours(lns *l, const stage_order *order, arena *a) {
  int32_t n = l->s->n;
  if (!ARENA_ARRAYS(a, ZEROS(l->start, (int64_t)n + 2), ARRAY(l->neighbour, 2 * (int64_t)order->start[n])))
    return false;
  for (int pass = 0; pass < 2; pass++) { /* counts, then fills */
    for (int32_t v = 0; v < n; v++)
      for (int32_t i = order->start[v]; i < order->start[v + 1]; i++) {
        int32_t u = order->before[i];
        if (pass == 0) {
          csr_count(l->start, u);
          csr_count(l->start, v);
        } else {
          l->neighbour[csr_put(l->start, u)] = v;
          l->neighbour[csr_put(l->start, v)] = u;
        }
      }
    if (pass == 0) csr_sum(l->start, n);
  }
  return true;
}

static bool allocate(lns *l, const stage_space *space, arena *a) {
  const stages *s = l->s;
  int32_t n_variables = s->n + s->n_edges;
  return ARENA_ARRAYS(a, ARRAY(l->stage, s->n), ARRAY(l->kept, s->n), ARRAY(l->region, s->n), ZEROS(l->stamp, s->n),
                      ARRAY(l->may, s->n), ZEROS(l->held, s->n_edges), ARRAY(l->value, n_variables),
                      ARRAY(l->piece, n_variables), ARRAY(l->saw, (int64_t)s->n * PASSES), ARRAY(l->mixed, s->n),
                      ARRAY(l->columns, (int64_t)MAX_PIECES * PASSES)) &&
         list_neighbours(l, &space->order, a);
}

/* Finds the stages of the incumbent: an order of its devices in which F goes forward, and the sequence of that order.
 * *found: whether there is one. False without memory. */
static bool start_from_incumbent(lns *l, const stage_space *space, bool *found) {
  const stages *s = l->s;
  int32_t n_devices = s->problem->n_devices, n_stages = 0, *rank = ARENA_NEW(l->run->arena, int32_t, n_devices);
  int32_t *device = ARENA_NEW(l->run->arena, int32_t, s->n), *type = ARENA_NEW(l->run->arena, int32_t, n_devices);
  device_sequence sequence = {0};
  if (!rank || !device || !type) return false;
  for (int32_t d = 0; d < n_devices; d++) rank[d] = type[d] = -1;
  for (int32_t t = 0; t < s->n_types; t++)
    for (int32_t i = 0; i < s->types[t].n_devices; i++) type[s->types[t].devices[i]] = t;
  for (int32_t v = 0; v < s->n; v++)
    device[v] = l->run->incumbent->best.device[s->classes.member[s->classes.member_start[s->class_at[v]]]];
  for (bool more = true; more;) { /* the first device with all its predecessors in the order */
    int32_t next = -1;
    for (int32_t d = n_devices - 1; d >= 0; d--) {
      bool ready = rank[d] < 0 && type[d] >= 0;
      for (int32_t v = 0; v < s->n && ready; v++)
        for (int32_t i = space->order.start[v]; device[v] == d && i < space->order.start[v + 1]; i++) {
          int32_t u = device[space->order.before[i]];
          ready &= u == d || rank[u] >= 0;
        }
      if (ready) next = d;
    }
    more = next >= 0;
    if (!more) break;
    sequence.type[n_stages] = type[next];
    rank[next] = n_stages++;
  }
  sequence.n = n_stages;
  *found = false;
  for (int32_t c = 0; c < space->n_sequences && !*found; c++) {
    l->sequence = &space->sequences[c];
    *found = sequence.n == l->sequence->n &&
             memcmp(sequence.type, l->sequence->type, (size_t)n_stages * sizeof *sequence.type) == 0;
  }
  for (int32_t v = 0; v < s->n && *found; v++) l->stage[v] = (uint8_t)rank[device[v]];
  return true;
}

/* The worth of a nanosecond of a stage: the mean ratio of the minimum time of classes to their time there. */
static void find_worth(lns *l) {
  const stages *s = l->s;
  for (int32_t k = 0; k < l->sequence->n; k++) {
    double sum = 0, min = 0;
    for (int32_t v = 0; v < s->n; v++) {
      int64_t here_ns = s->time_ns[(int64_t)l->sequence->type[k] * s->n + v], min_ns = here_ns;
      for (int32_t t = 0; t < s->n_types; t++) min_ns = min64(min_ns, s->time_ns[(int64_t)t * s->n + v]);
      if (here_ns == SITU_NEVER_NS) continue;
      sum += (double)here_ns;
      min += (double)min_ns;
    }
    l->worth[k] = min > 0 ? min / sum : 1;
  }
}

/* --- neighbourhoods --- */

/* Frees a class and connected ones, but rarely classes with many neighbours. */
static void grow(lns *l, int32_t seed, int32_t max) {
  int32_t first = l->n_region;
  if (l->stamp[seed] == l->now) return;
  l->stamp[seed] = l->now;
  l->region[l->n_region++] = seed;
  for (int32_t i = first; i < l->n_region; i++) {
    int32_t v = l->region[i], n = l->start[v + 1] - l->start[v];
    int32_t turn = n > 0 ? (int32_t)rng_below(&l->random, n) : 0;
    for (int32_t k = 0; k < n && l->n_region - first < max; k++) {
      int32_t u = l->neighbour[l->start[v] + (turn + k) % n];
      if (l->stamp[u] == l->now) continue;
      if (l->start[u + 1] - l->start[u] > MANY && rng_below(&l->random, RARELY) > 0) continue;
      l->stamp[u] = l->now;
      l->region[l->n_region++] = u;
    }
  }
}

static void draw_region(lns *l) {
  int32_t n_seeds = (int32_t)(1 + rng_below(&l->random, MAX_SEEDS)),
          log = (int32_t)rng_below(&l->random, 2 * LOG_GROWN);
  int32_t max = (int32_t)(2 + rng_below(&l->random, log < LOG_GROWN ? (int64_t)2 << log : GROWN));
  l->now++;
  l->n_region = 0;
  for (int32_t i = 0; i < n_seeds; i++) grow(l, (int32_t)rng_below(&l->random, l->s->n), max);
  for (int32_t v = 0; v < l->s->n; v++) l->may[v] = (uint16_t)(1u << l->stage[v]);
  bool some =
      rng_below(&l->random, 2) == 0; /* random stages of each class only: prices alone do not distinguish branches */
  for (int32_t i = 0; i < l->n_region; i++) {
    uint64_t open = some ? rng_next(&l->random) : ~0ull;
    for (int32_t k = 0; k < l->sequence->n; k++)
      if (open >> k & 1 && l->s->time_ns[(int64_t)l->sequence->type[k] * l->s->n + l->region[i]] != SITU_NEVER_NS)
        l->may[l->region[i]] |= (uint16_t)(1u << k);
  }
}

/* Numbers the pieces: connected components of variables. Those beyond MAX_PIECES keep their stages. */
static void find_pieces(lns *l, const stage_energy *e) {
  int32_t *root = l->value; /* not used yet */
  disjoint_init(root, e->n_variables);
  for (int32_t i = 0; i < e->n_factors; i++)
    if (e->factors[i].variable[1] >= 0) disjoint_join(root, e->factors[i].variable[0], e->factors[i].variable[1]);
  l->n_pieces = disjoint_number(l->piece, root, e->n_variables);
  if (l->n_pieces > MAX_PIECES) l->n_pieces = MAX_PIECES;
}

/* --- columns --- */

static void add_change(const lns *l, stage_cost *loads, const stage_cost *change, int sign) {
  for (int32_t k = 0; change && k < l->sequence->n; k++) {
    loads[k].compute_ns += sign * change[k].compute_ns;
    loads[k].in_ns += sign * change[k].in_ns;
    loads[k].out_ns += sign * change[k].out_ns;
  }
}

static double norm_of(const lns *l, const stage_cost *loads) {
  double sum = 0;
  for (int32_t k = 0; k < l->sequence->n; k++) {
    double x = (double)stages_load(l->s, &loads[k]) / l->scale;
    for (int32_t i = 0; i < NORM; i++) x *= x;
    sum += x;
  }
  return sum;
}

static void draw_prices(lns *l, int32_t pass, stage_price *price) {
  double p[STAGES_MAX], sum = 0, spread = SPREADS[pass % (int32_t)(sizeof SPREADS / sizeof *SPREADS)];
  for (int32_t k = 0; k < l->sequence->n; k++) sum += p[k] = l->worth[k] * exp((2 * rng_unit(&l->random) - 1) * spread);
  for (int32_t k = 0; k < l->sequence->n; k++)
    price->compute[k] = price->in[k] = price->out[k] = (int64_t)(p[k] / sum * (double)STAGE_PRICE_ONE);
}

/* Adds the new columns of a pass. */
static void add_columns(lns *l, const stage_energy *e, int32_t pass) {
  const stages *s = l->s;
  const uint8_t *saw = l->saw + (int64_t)pass * s->n;
  for (int32_t i = 0; i < l->n_pieces; i++) {
    column *c = &l->columns[l->n_columns];
    bool known = true;
    memcpy(l->mixed, l->stage, (size_t)s->n);
    for (int32_t x = 0; x < e->n_variables; x++) {
      int32_t v = e->class_of[x];
      if (v < 0 || l->piece[x] != i) continue;
      known &= saw[v] == l->stage[v];
      l->mixed[v] = saw[v];
    }
    if (known) continue;
    *c = (column){.piece = i, .pass = pass};
    stage_loads(c->change, s, l->sequence, l->mixed, NULL);
    add_change(l, c->change, l->loads, -1);
    for (int32_t j = 0; j < l->n_columns && !known; j++)
      known = l->columns[j].piece == i && memcmp(l->columns[j].change, c->change, sizeof c->change) == 0;
    l->n_columns += !known;
  }
}

static const stage_cost *change_of(const lns *l, int32_t piece) {
  return l->chosen[piece] >= 0 ? l->columns[l->chosen[piece]].change : NULL;
}

static void choose_column(lns *l, stage_cost *loads, int32_t i) {
  int32_t piece = l->columns[i].piece;
  add_change(l, loads, change_of(l, piece), -1);
  add_change(l, loads, l->columns[i].change, 1);
  l->chosen[piece] = i;
}

/* Makes the best exchange of one column or two; false if none improves the norm. */
static bool exchange(lns *l, stage_cost *loads, double *norm) {
  int32_t first = -1, second = -1;
  double best = *norm * (1 - GAIN);
  for (int32_t i = 0; i < l->n_columns; i++) {
    int32_t piece = l->columns[i].piece;
    stage_cost one[STAGES_MAX], two[STAGES_MAX];
    if (l->chosen[piece] == i) continue;
    memcpy(one, loads, sizeof one);
    add_change(l, one, change_of(l, piece), -1);
    add_change(l, one, l->columns[i].change, 1);
    for (int32_t j = i; j < l->n_columns; j++) { /* j = i: alone */
      int32_t other = l->columns[j].piece;
      if (j > i && (other == piece || l->chosen[other] == j)) continue;
      memcpy(two, one, sizeof two);
      if (j > i) {
        add_change(l, two, change_of(l, other), -1);
        add_change(l, two, l->columns[j].change, 1);
      }
      double now = norm_of(l, two);
      if (now >= best) continue;
      best = now;
      first = i;
      second = j > i ? j : -1;
    }
  }
  if (first < 0) return false;
  choose_column(l, loads, first);
  if (second >= 0) choose_column(l, loads, second);
  *norm = best;
  return true;
}

/* Moves the classes of the chosen columns. */
static void adopt(lns *l, const stage_energy *e) {
  for (int32_t x = 0; x < e->n_variables; x++) {
    int32_t v = e->class_of[x], i = l->piece[x];
    if (v < 0 || i >= l->n_pieces || l->chosen[i] < 0) continue;
    l->stage[v] = l->saw[(int64_t)l->columns[l->chosen[i]].pass * l->s->n + v];
  }
}

/* Tries one neighbourhood. A kick takes a few random columns of it. */
static situ_status try_one(lns *l, const stage_space *space, bool kick, bool *gained) {
  stage_energy e;
  stage_price price;
  *gained = false;
  draw_region(l);
  if (!stage_space_tighten(space, l->may, l->held)) return SITU_STATUS_OK;
  elimination_made made =
      stage_energy_init(&e, l->s, &space->order, l->sequence, l->may, l->held, MAX_ENTRIES, l->run->arena);
  if (made == ELIMINATION_NO_MEMORY) return fail_no_memory(l->run->error);
  if (made == ELIMINATION_TOO_WIDE || e.n_variables == 0) return SITU_STATUS_OK;
  find_pieces(l, &e);
  l->n_columns = 0;
  for (int32_t pass = 0; pass < PASSES; pass++) {
    draw_prices(l, pass, &price);
    if (stage_energy_minimise(&e, &price, l->value, l->saw + (int64_t)pass * l->s->n) >= ELIMINATION_NEVER) break;
    add_columns(l, &e, pass);
  }
  stage_cost loads[STAGES_MAX];
  double norm = l->norm;
  memcpy(loads, l->loads, sizeof loads);
  for (int32_t i = 0; i < l->n_pieces; i++) l->chosen[i] = -1;
  for (int32_t i = 0; kick && i < KICKS && l->n_columns > 0; i++)
    choose_column(l, loads, (int32_t)rng_below(&l->random, l->n_columns));
  while (!kick && exchange(l, loads, &norm)) *gained = true;
  if (kick || *gained) adopt(l, &e);
  return SITU_STATUS_OK;
}

static void measure(lns *l) {
  stage_loads(l->loads, l->s, l->sequence, l->stage, NULL);
  l->scale = (double)max64(stage_period(l->s, l->sequence, l->loads), 1);
  l->norm = norm_of(l, l->loads);
}

static situ_status stage_lns_search(lns *l, const stage_space *space) {
  solve_run *run = l->run;
  for (int32_t idle = 0; idle < PATIENCE && !solve_done(run); idle++) {
    bool gained;
    arena_mark mark = arena_get_mark(run->arena);
    bool kick = idle % IDLE == IDLE - 1;
    if (kick) memcpy(l->stage, l->kept, (size_t)l->s->n);
    if (kick) measure(l);
    situ_status status = try_one(l, space, kick, &gained);
    arena_release(run->arena, mark);
    TRY(status);
    budget_spend(run->budget, 1);
    if (!gained && !kick) continue;
    measure(l);
    int64_t period_ns = stage_period(l->s, l->sequence, l->loads);
    bool better = period_ns < run->incumbent->value_ns, taken = true;
    if (better) {
      TRY(stage_offer(run, l->s, l->sequence, l->stage));
      taken = run->incumbent->value_ns <= period_ns; /* else a memory is too full: undo */
      memcpy(taken ? l->kept : l->stage, taken ? l->stage : l->kept, (size_t)l->s->n);
      measure(l);
    }
    if (taken && better) idle = -1;
  }
  return SITU_STATUS_OK;
}

static situ_status stage_lns_solve(solve_run *run) {
  lns l = {.run = run, .random = rng_new(run->seed)};
  stages s;
  stage_space space;
  bool found;
  if (!run->incumbent->best.device || solve_done(run)) return SITU_STATUS_OK;
  if (!stages_find(&s, run->problem, run->arena)) return fail_no_memory(run->error);
  if (s.too_large || !stages_fit(&s)) return SITU_STATUS_OK;
  if (!stage_space_init(&space, &s, run->arena)) return fail_no_memory(run->error);
  if (space.n_sequences == 0) return SITU_STATUS_OK;
  l.s = &s;
  if (!allocate(&l, &space, run->arena) || !start_from_incumbent(&l, &space, &found)) return fail_no_memory(run->error);
  if (!found) return SITU_STATUS_OK;
  find_worth(&l);
  memcpy(l.kept, l.stage, (size_t)s.n);
  measure(&l);
  return stage_lns_search(&l, &space);
}

static bool stage_lns_serves(const situ_problem *p) { return p->contiguous && stage_space_serves(p); }

const solver stage_lns_solver = {.name = "stage_lns",
                                 .title = "large neighbourhood search for contiguous pipelines",
                                 .source = "Shaw, CP 1998",
                                 .models = MODEL_PIPELINE,
                                 .serves = stage_lns_serves,
                                 .starts = {{&linear_dp_solver, 0.5}},
                                 .solve = stage_lns_solve};
