/* ideal_dp: the exact dynamic program over ideals for contiguous, host-staged pipelines.
 *
 * Tarnawski et al., NeurIPS 2020: a contiguous placement is a chain of ideals {} = I_0 < I_1 < ... < I_m = V, device j
 * holding I_j \ I_{j-1}. With D[s][I] the least period of the devices counted in state s (how many of each type are
 * used) that together hold I,
 *
 *     D[s + e_t][I] = min over I' < I of max(D[s][I'], load_t(I \ I'))          answer: min over s of D[s][V]
 *
 * What makes it fast is ours (docs/theory/ideal_dp.md): a pair costs O(straddling edges); an upper bound U leaves for each
 * state only ideals whose work fits into what is used and what is left (two-sided windows); only those are stored. A run
 * with U = incumbent - 1 either finds the optimum or proves that the incumbent is it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "base/fail.h"
#include "solve/exact/ideals.h"
#include "solve/solver.h"

enum { MOST_STATES = 1 << 14, MOST_CHAIN = 3000 };

/* What was added to a state: n_sharing devices of a type, which run one part. */
typedef struct step {
  int16_t type, n_sharing;
} step;

/* The reachable ideals of one state, by price. */
typedef struct layer {
  int64_t n;
  int32_t *ideal;
  int64_t *price, *value_ns;
  int32_t *from; /* index in the layer it came from */
  step *step;
} layer;

/* What is looked for. With one phase the value of a chain is its greatest load; with two (GPipe) it is its greatest
 * backward load, among those without a forward load above most_forward_ns. */
typedef struct limits {
  int64_t most_ns, most_forward_ns;
  int64_t most_total_ns; /* no device may have more to do for one input, all phases together */
} limits;

typedef struct program {
  solve_run *run;
  stages stages;
  int32_t n_states;
  int32_t *weight; /* [type] of its count in the number of a state */
  int64_t *price;  /* [class] */
  double *reach;   /* [type] most price that a device takes in one unit of time */
  ideal_window window;
  int64_t *most_before, *most_after;
  bool *hosts_before, *hosts_after;
  layer *layers;
  int64_t n_pairs; /* whose load was computed */
  limits limits;
} program;

static int32_t count_of(const program *g, int32_t state, int32_t type) {
  return state / g->weight[type] % (g->stages.types[type].n_devices + 1);
}

/* Numbers the states and chooses prices: a class weighs its time on the commonest accelerator (or device), or on any
 * device where that cannot run it. */
static bool set_up(program *g) {
  stages *s = &g->stages;
  arena *a = g->run->arena;
  int32_t reference = 0;
  int64_t n_states = 1;
  g->weight = ARENA_NEW(a, int32_t, s->n_types + 1);
  g->price = ARENA_ZERO(a, int64_t, s->n);
  g->reach = ARENA_ZERO(a, double, s->n_types + 1);
  if (!g->weight || !g->price || !g->reach) return false;
  int32_t n_accelerators = 0;
  for (int32_t t = 0; t < s->n_types; t++) {
    const device_type *now = &s->types[t], *best = &s->types[reference];
    if (best->is_host > now->is_host || (best->is_host == now->is_host && now->n_devices > best->n_devices)) reference = t;
    n_accelerators += !now->is_host;
    g->weight[t] = (int32_t)n_states;
    n_states *= now->n_devices + 1;
    if (n_states > MOST_STATES) n_states = MOST_STATES + 1;
  }
  g->n_states = (int32_t)n_states;
  for (int32_t i = 0; i < s->n; i++) {
    g->price[i] = stages_time_ns(s, reference, i);
    for (int32_t t = 0; t < s->n_types && g->price[i] == SITU_NEVER_NS; t++) g->price[i] = stages_time_ns(s, t, i);
    if (g->price[i] == SITU_NEVER_NS) g->price[i] = 0;
    g->window.total += g->price[i];
  }
  for (int32_t t = 0; t < s->n_types; t++)
    for (int32_t i = 0; i < s->n; i++) {
      int64_t time_ns = stages_time_ns(s, t, i);
      if (time_ns == SITU_NEVER_NS || g->price[i] == 0) continue;
      g->reach[t] = fmax(g->reach[t], time_ns == 0 ? (double)INFINITY : (double)g->price[i] / (double)time_ns * (1 + 1e-12));
    }
  g->window.price = g->price;
  g->window.reference = reference;
  g->window.n_states = g->n_states;
  g->window.count_edges = n_accelerators == 1 && !s->types[reference].is_host && !s->greatest &&
                          g->reach[reference] <= 1 + 1e-11;
  g->window.most_before = g->most_before = ARENA_NEW(a, int64_t, n_states);
  g->window.most_after = g->most_after = ARENA_NEW(a, int64_t, n_states);
  g->window.hosts_before = g->hosts_before = ARENA_ZERO(a, bool, n_states);
  g->window.hosts_after = g->hosts_after = ARENA_ZERO(a, bool, n_states);
  g->layers = ARENA_ZERO(a, layer, n_states);
  return g->most_before && g->most_after && g->hosts_before && g->hosts_after && g->layers;
}

/* The most price that a device of a type can take when its load is at most most_ns. */
static int64_t most_price(const program *g, int32_t type, int64_t most_ns) {
  if (isinf(g->reach[type])) return INT64_MAX;
  return sat_add(sat_round(ceil((double)most_ns * g->reach[type])), 1);
}

/* The windows of a bound U: no device of type t takes more than U * reach[t] of price. */
static void set_windows(program *g, int64_t most_ns) {
  const stages *s = &g->stages;
  for (int32_t state = 0; state < g->n_states; state++) {
    g->most_before[state] = g->most_after[state] = 0;
    g->hosts_before[state] = g->hosts_after[state] = false;
    for (int32_t t = 0; t < s->n_types; t++) {
      int32_t used = count_of(g, state, t), left = s->types[t].n_devices - used;
      bool exact = g->window.count_edges && t == g->window.reference;
      int64_t each = exact ? most_ns : most_price(g, t, most_ns);
      g->most_before[state] = sat_add(g->most_before[state], sat_mul(each, used));
      g->most_after[state] = sat_add(g->most_after[state], sat_mul(each, left));
      g->hosts_before[state] |= s->types[t].is_host && used > 0;
      g->hosts_after[state] |= s->types[t].is_host && left > 0;
    }
  }
}

static void free_layers(program *g) {
  for (int32_t i = 0; i < g->n_states; i++) {
    free(g->layers[i].ideal);
    free(g->layers[i].price);
    free(g->layers[i].value_ns);
    free(g->layers[i].from);
    free(g->layers[i].step);
    g->layers[i] = (layer){0};
  }
}

static bool make_layer(layer *l, int64_t n) {
  size_t room = (size_t)n + 1;
  l->ideal = malloc(room * sizeof *l->ideal);
  l->price = malloc(room * sizeof *l->price);
  l->value_ns = malloc(room * sizeof *l->value_ns);
  l->from = malloc(room * sizeof *l->from);
  l->step = malloc(room * sizeof *l->step);
  return l->ideal && l->price && l->value_ns && l->from && l->step;
}

/* What is sought for one ideal in one state. */
typedef struct best_way {
  int64_t value_ns;
  int32_t from;
  step step;
} best_way;

/* Weights between two ideals that replicas have to agree on. */
static int64_t trained_between(const ideal_set *set, int64_t from, int64_t to) {
  const stages *s = set->stages;
  int64_t sum = 0;
  for (int32_t k = 0; k < s->n_words; k++)
    for (uint64_t left = set->bits[to * s->n_words + k] & ~set->bits[from * s->n_words + k]; left; left &= left - 1)
      sum = sat_add(sum, s->trained_bytes[k * 64 + __builtin_ctzll(left)]);
  return sum;
}

/* What a pair of ideals is worth to the devices of a step: their load, in the last phase; SITU_NEVER_NS when they cannot
 * hold the part, or the load of an earlier phase is too great. */
static int64_t pair_value(const program *g, const ideal_set *set, int64_t from, int64_t to, step by) {
  const stages *s = &g->stages;
  int64_t load_ns = 0;
  if (!ideals_may_hold(set, from, to, by.type)) return SITU_NEVER_NS;
  int64_t trained_bytes = by.n_sharing > 1 ? trained_between(set, from, to) : 0;
  for (int32_t row = by.type; row < s->n_rows; row += s->n_types) {
    if (row > by.type && load_ns > g->limits.most_forward_ns) return SITU_NEVER_NS;
    stage_cost whole = ideals_cost(set, from, to, row);
    load_ns = by.n_sharing == 1 ? stages_load(s, &whole) : stages_shared_load(s, row, &whole, by.n_sharing, trained_bytes);
  }
  return load_ns;
}

/* Tries to reach `ideal` from the ideals of a layer by one step. *low is where its window begins; it only moves up, since
 * ideals come by rising price. */
static void extend(program *g, const ideal_set *set, const layer *from, int64_t *low, int32_t ideal, step by,
                   int64_t reach, best_way *best) {
  int32_t n_words = g->stages.n_words;
  const uint64_t *bits = set->bits + (int64_t)ideal * n_words;
  int64_t price = set->price[ideal];
  while (*low < from->n && price - from->price[*low] > reach) ++*low;
  for (int64_t j = *low; j < from->n && from->price[j] <= price; j++) {
    if (from->value_ns[j] >= best->value_ns || from->ideal[j] == ideal) continue;
    const uint64_t *sub = set->bits + (int64_t)from->ideal[j] * n_words;
    int32_t k = 0;
    while (k < n_words && !(sub[k] & ~bits[k])) k++;
    if (k < n_words) continue;
    g->n_pairs++;
    int64_t value_ns = max64(pair_value(g, set, from->ideal[j], ideal, by), from->value_ns[j]);
    if (value_ns < best->value_ns) *best = (best_way){value_ns, (int32_t)j, by};
  }
}

/* All ways to reach an ideal in a state, by one device of each type and by several that share a part. */
static best_way find_way(program *g, const ideal_set *set, int32_t state, int32_t ideal, int64_t most_ns, int64_t *low) {
  const stages *s = &g->stages;
  best_way best = {.value_ns = sat_add(most_ns, 1)};
  int64_t most_total_ns = s->n_phases == 1 ? most_ns : g->limits.most_total_ns;
  for (int32_t t = 0; t < s->n_types; t++) {
    int32_t used = count_of(g, state, t), most = used < s->types[t].most_sharing ? used : s->types[t].most_sharing;
    for (int32_t r = 1; r <= most; r++, low++)
      extend(g, set, &g->layers[state - r * g->weight[t]], low, ideal, (step){(int16_t)t, (int16_t)r},
             most_price(g, t, sat_mul(most_total_ns, r)), &best);
  }
  return best;
}

/* Fills the layer of one state. `by_price` lists the kept ideals. False when out of budget or memory (then *status). */
static bool fill_layer(program *g, const ideal_set *set, const int32_t *by_price, bool windows, int32_t state,
                       int64_t most_ns, situ_status *status) {
  layer *l = &g->layers[state];
  int64_t n = 0;
  int64_t *low = calloc((size_t)g->stages.problem->n_devices + 1, sizeof *low);
  int32_t *members = malloc(((size_t)set->n + 1) * sizeof *members);
  for (int64_t i = 0; members && i < set->n; i++) {
    bool in = !windows || by_price[i] == set->full || ideals_in_state(set, by_price[i], &g->window, state);
    if (in && by_price[i] != 0) members[n++] = by_price[i];
  }
  bool good = low && members && make_layer(l, n);
  if (!good) *status = fail_no_memory(g->run->error);
  for (int64_t i = 0; good && i < n; i++) {
    best_way best = find_way(g, set, state, members[i], most_ns, low);
    if (i % 64 == 63 && budget_spend(g->run->budget, 1)) good = false;
    if (best.value_ns > most_ns) continue;
    l->ideal[l->n] = members[i];
    l->price[l->n] = set->price[members[i]];
    l->value_ns[l->n] = best.value_ns;
    l->from[l->n] = best.from;
    l->step[l->n++] = best.step;
  }
  free(low);
  free(members);
  return good;
}

/* Offers the placement that ends at entry `at` of a state's layer. */
static situ_status offer(program *g, const ideal_set *set, int32_t state, int64_t at) {
  const stages *s = &g->stages;
  arena *a = g->run->arena;
  int32_t *device_of_class = ARENA_NEW(a, int32_t, s->n), *device = ARENA_NEW(a, int32_t, s->problem->n_operators);
  int32_t *taken = ARENA_ZERO(a, int32_t, s->n_types + 1), *replica_of = ARENA_NEW(a, int32_t, s->problem->n_devices);
  if (!device_of_class || !device || !taken || !replica_of) return fail_no_memory(g->run->error);
  for (int32_t d = 0; d < s->problem->n_devices; d++) replica_of[d] = -1;
  int64_t promised_ns = g->layers[state].value_ns[at];
  while (state > 0) {
    const layer *l = &g->layers[state];
    int32_t type = l->step[at].type, n_sharing = l->step[at].n_sharing, before = state - n_sharing * g->weight[type];
    const uint64_t *to = set->bits + (int64_t)l->ideal[at] * s->n_words;
    const uint64_t *from = set->bits + (int64_t)g->layers[before].ideal[l->from[at]] * s->n_words;
    int32_t d = s->types[type].devices[taken[type]];
    for (int32_t r = 1; r < n_sharing; r++) replica_of[s->types[type].devices[taken[type] + r]] = d;
    taken[type] += n_sharing;
    for (int32_t i = 0; i < s->n; i++)
      if (((to[i / 64] & ~from[i / 64]) >> (i % 64)) & 1) device_of_class[s->class_at[i]] = d;
    at = l->from[at];
    state = before;
  }
  contraction_expand(&s->classes, device_of_class, device);
  int64_t value_ns = solve_offer(g->run, &(placement){.device = device, .replica_of = replica_of});
  bool kept = s->by_links         ? value_ns >= promised_ns
              : s->n_phases == 1 ? value_ns == promised_ns
                                 : value_ns <= sat_add(promised_ns, g->limits.most_forward_ns);
  if (!kept)
    return fail_with(g->run->error, SITU_STATUS_INTERNAL, "ideal_dp", "promised a period of %lld ns, simulated %lld ns",
                     (long long)promised_ns, (long long)value_ns);
  return SITU_STATUS_OK;
}

static int compare_prices(const void *a, const void *b) {
  const int64_t *x = a, *y = b; /* pairs of price and ideal */
  if (x[0] != y[0]) return x[0] < y[0] ? -1 : 1;
  return (x[1] > y[1]) - (x[1] < y[1]);
}

static int32_t *sort_by_price(const ideal_set *set) {
  int64_t *pairs = malloc(((size_t)set->n + 1) * 2 * sizeof *pairs);
  int32_t *order = malloc(((size_t)set->n + 1) * sizeof *order);
  for (int64_t i = 0; pairs && order && i < set->n; i++) {
    pairs[2 * i] = set->price[i];
    pairs[2 * i + 1] = i;
  }
  if (pairs && order) {
    qsort(pairs, (size_t)set->n, 2 * sizeof *pairs, compare_prices);
    for (int64_t i = 0; i < set->n; i++) order[i] = (int32_t)pairs[2 * i + 1];
  } else {
    free(order);
    order = NULL;
  }
  free(pairs);
  return order;
}

/* Runs the program over a set of ideals within its limits. *found: the least value, after a plan of it was offered, or
 * SITU_NEVER_NS; *complete: whether all was looked at. */
static situ_status run_program(program *g, const ideal_set *set, bool windows, int64_t *found, bool *complete) {
  situ_status status = SITU_STATUS_OK;
  int32_t *by_price = sort_by_price(set);
  layer *first = &g->layers[0];
  if (!by_price || !make_layer(first, 1)) status = fail_no_memory(g->run->error);
  *complete = status == SITU_STATUS_OK;
  if (status == SITU_STATUS_OK) {
    first->n = 1;
    first->ideal[0] = 0;
    first->price[0] = first->value_ns[0] = 0;
  }
  int64_t best_ns = g->limits.most_ns, best_at = -1;
  int32_t best_state = -1;
  for (int32_t state = 1; *complete && state < g->n_states; state++) {
    /* A better answer shrinks what is worth reaching from here on; the windows stay valid. */
    int64_t most = best_state < 0 ? best_ns : best_ns - 1;
    *complete = fill_layer(g, set, by_price, windows, state, most, &status);
    const layer *l = &g->layers[state];
    for (int64_t i = l->n - 1; i >= 0; i--) {
      if (l->ideal[i] != set->full || l->value_ns[i] > most) continue;
      best_ns = l->value_ns[i];
      best_state = state;
      best_at = i;
    }
  }
  *found = best_state >= 0 ? best_ns : SITU_NEVER_NS;
  if (status == SITU_STATUS_OK && best_state >= 0) status = offer(g, set, best_state, best_at);
  free(by_price);
  free_layers(g);
  return status;
}

static int64_t better_than_incumbent(const solve_run *run) {
  return run->incumbent->value_ns == SITU_NEVER_NS ? INT64_MAX / 4 : run->incumbent->value_ns - 1;
}

/* The least load of one phase that any plan has: all work, each class where it takes least, over all devices. */
static int64_t least_phase_ns(const stages *s, int32_t phase) {
  int64_t work_ns = 0, n_devices = 0;
  for (int32_t t = 0; t < s->n_types; t++) n_devices += s->types[t].n_devices;
  for (int32_t i = 0; i < s->n; i++) {
    int64_t least = SITU_NEVER_NS;
    for (int32_t t = 0; t < s->n_types; t++)
      least = min64(least, s->time_ns[((int64_t)phase * s->n_types + t) * s->n + i]);
    if (least != SITU_NEVER_NS) work_ns += least;
  }
  return n_devices > 0 ? work_ns / n_devices : 0;
}

/* Looks for the best chain below the incumbent. With two phases of a period: the least backward load B that goes with a
 * forward load of at most F bounds that of all plans with such an F from below, so that a better plan than the
 * incumbent V has a forward load below V - B; from there again, until there is none. *lower_ns: no chain is better; 0
 * where not all was looked at. With links that is the least value promised, else the incumbent's. */
static situ_status search(program *g, const ideal_set *set, bool windows, int64_t *lower_ns) {
  int64_t found = 0, least_ns = 0, least_forward_ns = 0;
  bool apart = g->stages.n_phases == 2, complete = false;
  if (apart) {
    least_forward_ns = least_phase_ns(&g->stages, 0);
    least_ns = least_phase_ns(&g->stages, 1);
  }
  do {
    int64_t better_ns = better_than_incumbent(g->run);
    g->limits = (limits){better_ns - least_forward_ns, better_ns - least_ns, better_ns};
    TRY(run_program(g, set, windows, &found, &complete));
    least_ns = found;
  } while (apart && complete && found != SITU_NEVER_NS);
  int64_t value_ns = g->run->incumbent->value_ns;
  *lower_ns = !complete ? 0 : g->stages.by_links ? min64(found, value_ns) : value_ns;
  return SITU_STATUS_OK;
}

/* A first bound: the same program over the prefixes of one depth-first order. */
static situ_status run_chain(program *g) {
  ideal_set set;
  int64_t lower_ns;
  ideals_result result = ideals_find(&set, &g->stages, &g->window, true, g->run->budget);
  situ_status status = result == IDEALS_NO_MEMORY ? fail_no_memory(g->run->error) : SITU_STATUS_OK;
  if (result == IDEALS_ALL) status = search(g, &set, false, &lower_ns);
  ideals_free(&set);
  return status;
}

static situ_status solve(solve_run *run) {
  program g = {.run = run};
  if (!stages_find(&g.stages, run->problem, run->arena)) return fail_no_memory(run->error);
  if (g.stages.too_large || !stages_fit(&g.stages)) return SITU_STATUS_OK;
  if (!set_up(&g)) return fail_no_memory(run->error);
  if (g.n_states > MOST_STATES) return SITU_STATUS_OK;
  if (g.stages.n <= MOST_CHAIN) TRY(run_chain(&g));
  if (solve_done(run)) return SITU_STATUS_OK;
  set_windows(&g, better_than_incumbent(run));
  ideal_set set;
  ideals_result result = ideals_find(&set, &g.stages, &g.window, false, run->budget);
  int64_t lower_ns = 0;
  situ_status status = result == IDEALS_NO_MEMORY ? fail_no_memory(run->error) : SITU_STATUS_OK;
  if (result == IDEALS_ALL) status = search(&g, &set, true, &lower_ns);
  solve_count(run, "ideal_dp.classes", g.stages.n);
  solve_count(run, "ideal_dp.ideals", set.n_seen);
  solve_count(run, "ideal_dp.ideals_kept", set.n);
  solve_count(run, "ideal_dp.pairs", g.n_pairs);
  /* Nothing better exists; without a plan, nothing at all (the value is SITU_NEVER_NS then). For a free problem this is a
   * plan to start from, and proves nothing. */
  if (status == SITU_STATUS_OK && run->problem->contiguous) solve_bound(run, lower_ns, "ideal_dp");
  ideals_free(&set);
  return status;
}

static bool serves(const situ_problem *problem) { return stages_serve(problem); }

const solver ideal_dp_solver = {.name = "ideal_dp",
                                .title = "exact dynamic program over ideals",
                                .source = "Tarnawski et al., NeurIPS 2020",
                                .pipeline = true,
                                .exact = true,
                                .portfolio = 11,
                                .serves = serves,
                                .solve = solve};
