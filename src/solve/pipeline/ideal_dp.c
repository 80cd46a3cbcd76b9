/* ideal_dp: the exact dynamic programming over ideals for contiguous, host-staged pipelines.
 *
 * Tarnawski et al., NeurIPS 2020: a contiguous placement is a chain of ideals {} = I_0 < I_1 < ... < I_m = V, device j
 * holding I_j \ I_{j-1}. With D[s][I] the minimum period of the devices counted in state s (how many of each type are
 * used) that together hold I,
 *
 *     D[s + e_t][I] = min over I' < I of max(D[s][I'], load_t(I \ I'))          answer: min over s of D[s][V]
 *
 * Three ideas of ours make it fast (docs/theory/exact/ideal_dp.md): a pair costs O(straddling edges); an upper bound U
 * leaves for each state only ideals whose work and transfers fit into the used and the remaining devices
 * (boundary_ranges.h); only those are visited. A run with U = incumbent - 1 either finds the optimum or proves that the
 * incumbent is optimal. Where that has too many ideals, runs with a smaller U raise the bound. */
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "base/fail.h"
#include "base/resize.h"
#include "solve/common/solver.h"
#include "solve/pipeline/coarse.h"
#include "solve/pipeline/maximal_load.h"
#include "solve/pipeline/order_split.h"
#include "solve/pipeline/relaxed.h"

enum { MAX_CHAIN = 3000, FEW = 20000 };
/* Bytes of kept ideals and of layers. Work of the first round and of the last, in classes decided and pairs of ideals
 * compared. */
static const int64_t MAX_BYTES = (int64_t)500 << 20, FIRST_EFFORT = (int64_t)1 << 22, LAST_EFFORT = (int64_t)1 << 34;
static const int64_t NO_PLAN_NS = INT64_MAX / 4, FINE = 400; /* bisection ends at this fraction of the period */

/* A transition between states: n_sharing more devices of a type, which run one part. */
typedef struct step {
  int16_t type, n_sharing;
} step;

/* The reachable ideals of one state, by price. */
typedef struct layer {
  int64_t n, room;
  int32_t *ideal;
  int64_t *price, *value_ns;
  int32_t *from; /* index in the layer it came from */
  step *step;
} layer;

/* Limits of the search. With one phase the value of a chain is its maximum load; with two (GPipe) it is its maximum
 * backward load, among chains without a forward load above max_forward_ns. */
typedef struct limits {
  int64_t max_ns, max_forward_ns;
} limits;

typedef struct program {
  solve_run *run;
  stages stages;
  boundary_ranges ranges;
  stages coarse_stages;
  boundary_ranges coarse;
  bool folded; /* the coarse problem is smaller */
  ideal_set set;
  maximal_load maximal;
  uint64_t *reached; /* [state][ideal] as bits: reached with these devices or fewer */
  int64_t n_reached_words;
  layer *layers;
  int64_t n_pairs; /* whose load has been computed */
  limits limits;
  /* Whether dominated plans are skipped: those that an exchange turns into a plan of no greater period (maximal_load.h,
   * or fewer devices). Then the plan found need not be the best. Neither with links, where the value differs from the
   * predicted loads, nor with two phases. */
  bool may_skip_dominated, skips_dominated; /* at all; in this attempt, if it has many ideals */
  /* Where the inputs that a part keeps follow from the devices after it (1F1B): how many devices the plan has, so that
   * each state knows how many follow. 0: each part keeps one input, which is a relaxation. */
  int32_t n_used;
  int64_t work, max_work;
  int64_t lower_ns; /* lower bound on the period */
  int64_t found_ns; /* minimum predicted value of the last attempt */
  int64_t layer_bytes;
} program;

/* How an attempt ended. */
typedef enum attempt { REFUTED, FOUND, GAVE_UP } attempt;

static void free_layers(program *g) {
  for (int32_t i = 0; i < g->ranges.n_states; i++) {
    free(g->layers[i].ideal);
    free(g->layers[i].price);
    free(g->layers[i].value_ns);
    free(g->layers[i].from);
    free(g->layers[i].step);
    g->layers[i] = (layer){0};
  }
}

/* The best way to reach one ideal in one state. */
typedef struct best_way {
  int64_t value_ns;
  int32_t from;
  step step;
} best_way;

static bool add_entry(program *g, layer *l, int32_t ideal, const best_way *way) {
  if (l->n == l->room) {
    int64_t room = l->room ? l->room * 2 : 64;
    if (!array_resize(&l->ideal, room, sizeof *l->ideal) || !array_resize(&l->price, room, sizeof *l->price) ||
        !array_resize(&l->value_ns, room, sizeof *l->value_ns) || !array_resize(&l->from, room, sizeof *l->from) ||
        !array_resize(&l->step, room, sizeof *l->step))
      return false;
    size_t each = sizeof *l->ideal + sizeof *l->price + sizeof *l->value_ns + sizeof *l->from + sizeof *l->step;
    g->layer_bytes += (room - l->room) * (int64_t)each;
    l->room = room;
  }
  l->ideal[l->n] = ideal;
  l->price[l->n] = g->set.boundaries[ideal].before;
  l->value_ns[l->n] = way->value_ns;
  l->from[l->n] = way->from;
  l->step[l->n++] = way->step;
  return true;
}

/* A sum over the classes between two ideals. */
static int64_t sum_between(const ideal_set *set, const int64_t *of_class, int64_t from, int64_t to) {
  const stages *s = set->stages;
  int64_t sum = 0;
  for (int32_t k = 0; k < s->n_words; k++)
    for (uint64_t left = set->bits[to * s->n_words + k] & ~set->bits[from * s->n_words + k]; left; left &= left - 1)
      sum = sat_add(sum, of_class[k * 64 + __builtin_ctzll(left)]);
  return sum;
}

/* Whether the devices of a step can hold what lies between two ideals, `ahead` devices being used before. */
static bool may_hold(const program *g, int64_t from, int64_t to, step by, int32_t ahead) {
  const stages *s = &g->stages;
  if (!ideals_may_hold(&g->set, from, to, by.type)) return false;
  if (s->n_depths == 0) return true;
  bool by_depth = problem_keeps_by_depth(s->problem) && s->problem->schedule == SITU_SCHEDULE_1F1B;
  if (!by_depth) return ideals_may_keep(&g->set, from, to, by.type, by.n_sharing - 1, by.n_sharing);
  if (g->n_used == 0) return ideals_may_keep(&g->set, from, to, by.type, 0, by.n_sharing);
  int64_t all = stages_kept(s, g->n_used - ahead - 1), each = (all + by.n_sharing - 1) / by.n_sharing;
  return ideals_may_keep(&g->set, from, to, by.type, (int32_t)each - 1, by.n_sharing);
}

/* What a pair of ideals is worth to the devices of a step: their load, in the last phase; SITU_NEVER_NS when they
 * cannot hold the part, or the load of an earlier phase is too great. */
static int64_t pair_value(const program *g, int64_t from, int64_t to, step by, int32_t ahead) {
  const stages *s = &g->stages;
  const ideal_set *set = &g->set;
  int64_t load_ns = 0;
  if (!may_hold(g, from, to, by, ahead)) return SITU_NEVER_NS;
  bool shared = by.n_sharing > 1;
  int64_t trained_bytes = shared ? sum_between(set, s->trained_bytes, from, to) : 0;
  int64_t update_ns = shared ? sum_between(set, s->update_ns + (int64_t)by.type * s->n, from, to) : 0;
  for (int32_t row = by.type; row < s->n_rows; row += s->n_types) {
    if (row > by.type && load_ns > g->limits.max_forward_ns) return SITU_NEVER_NS;
    stage_cost whole = ideals_cost(set, from, to, row);
    load_ns =
        shared ? stages_shared_load(s, row, &whole, by.n_sharing, trained_bytes, update_ns) : stages_load(s, &whole);
  }
  return load_ns;
}

/* Whether the devices between two ideals could take another class, so that the pair is dominated. Never where the
 * inputs that a part keeps follow from its place: nothing is listed as maximal then. */
static bool takes_more(const program *g, int32_t from, int32_t ideal, step by, int64_t max_ns) {
  for (int64_t i = g->maximal.start[ideal]; i < g->maximal.start[ideal + 1]; i++)
    if (pair_value(g, from, g->maximal.to[i], by, 0) <= max_ns) return true;
  return false;
}

/* Tries to reach `ideal` from the ideals of a layer by one step. *low is where its range begins; it only rises, since
 * ideals are visited by rising price. */
static void extend(program *g, const layer *from, int64_t *low, int32_t ideal, step by, int32_t ahead, int64_t max_ns,
                   best_way *best) {
  const ideal_set *set = &g->set;
  int64_t price = set->boundaries[ideal].before, room = boundary_ranges_room(&g->ranges, by.type, by.n_sharing);
  while (*low < from->n && price - from->price[*low] > room) ++*low;
  int64_t j = *low;
  for (; j < from->n && from->price[j] <= price; j++) {
    if (from->value_ns[j] >= best->value_ns || from->ideal[j] == ideal) continue;
    if (!ideals_within(set, from->ideal[j], ideal)) continue;
    g->n_pairs++;
    int64_t value_ns = max64(pair_value(g, from->ideal[j], ideal, by, ahead), from->value_ns[j]);
    if (value_ns < best->value_ns && !takes_more(g, from->ideal[j], ideal, by, max_ns))
      *best = (best_way){value_ns, (int32_t)j, by};
  }
  g->work += j - *low;
}

/* How many devices a state uses. */
static int32_t count_used(const program *g, int32_t state) {
  int32_t n = 0;
  for (int32_t t = 0; t < g->stages.n_types; t++) n += boundary_ranges_used(&g->ranges, state, t);
  return n;
}

/* All ways to reach an ideal in a state, by one device of each type and by several that share a part. */
static best_way find_way(program *g, int32_t state, int32_t ideal, int64_t max_ns, int64_t *low) {
  const stages *s = &g->stages;
  best_way best = {.value_ns = sat_add(max_ns, 1)};
  int32_t all = count_used(g, state);
  for (int32_t t = 0; t < s->n_types; t++) {
    int32_t used = boundary_ranges_used(&g->ranges, state, t),
            max = used < s->types[t].max_sharing ? used : s->types[t].max_sharing;
    for (int32_t r = 1; r <= max; r++, low++)
      extend(g, &g->layers[state - r * g->ranges.weight[t]], low, ideal, (step){(int16_t)t, (int16_t)r}, all - r,
             max_ns, &best);
  }
  return best;
}

static bool is_reached(const program *g, int32_t state, int32_t ideal) {
  return g->reached[state * g->n_reached_words + ideal / 64] >> (ideal % 64) & 1;
}

/* Ideals reached with one device less are reached with it too. */
static void inherit(program *g, int32_t state) {
  uint64_t *to = g->reached + state * g->n_reached_words;
  for (int32_t t = 0; t < g->stages.n_types; t++) {
    if (boundary_ranges_used(&g->ranges, state, t) == 0) continue;
    const uint64_t *from = g->reached + (state - g->ranges.weight[t]) * g->n_reached_words;
    for (int64_t k = 0; k < g->n_reached_words; k++) to[k] |= from[k];
  }
}

/* Fills the layer of one state. `by_price` lists the kept ideals. False if it gives up, or without memory (then
 * with *status). */
static bool fill_layer(program *g, const int32_t *by_price, int32_t state, int64_t max_ns, situ_status *status) {
  const ideal_set *set = &g->set;
  int64_t *low = calloc((size_t)g->stages.problem->n_devices + 1, sizeof *low);
  bool good = low != NULL, stopped = false;
  if (g->skips_dominated) inherit(g, state);
  for (int64_t i = 0, n = 0; good && !stopped && i < set->n; i++) {
    int32_t ideal = by_price[i];
    if (ideal == 0 || (ideal != set->full && !ideals_in_state(set, ideal, state))) continue;
    if (n++ % 64 == 63)
      stopped = budget_spend(g->run->budget, 1) || g->work > g->max_work || g->layer_bytes > MAX_BYTES;
    if (is_reached(g, state, ideal)) continue;
    best_way best = find_way(g, state, ideal, max_ns, low);
    if (best.value_ns > max_ns) continue;
    good = add_entry(g, &g->layers[state], ideal, &best);
    g->reached[state * g->n_reached_words + ideal / 64] |= 1ull << (ideal % 64);
  }
  if (!good) *status = fail_no_memory(g->run->error);
  free(low);
  return good && !stopped;
}

/* Offers the placement that ends at entry `at` of a state's layer. */
static situ_status offer(program *g, int32_t state, int64_t at) {
  const ideal_set *set = &g->set;
  const stages *s = &g->stages;
  arena *a = g->run->arena;
  int32_t *device_of_class, *device, *taken, *replica_of;
  if (!ARENA_ARRAYS(a, ARRAY(device_of_class, s->n), ARRAY(device, s->problem->n_operators),
                    ZEROS(taken, s->n_types + 1), ARRAY(replica_of, s->problem->n_devices)))
    return fail_no_memory(g->run->error);
  for (int32_t d = 0; d < s->problem->n_devices; d++) replica_of[d] = -1;
  int64_t predicted_ns = g->layers[state].value_ns[at];
  while (state > 0) {
    const layer *l = &g->layers[state];
    int32_t type = l->step[at].type, n_sharing = l->step[at].n_sharing,
            before = state - n_sharing * g->ranges.weight[type];
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
  if (value_ns == SITU_NEVER_NS && g->n_used == 0 && problem_keeps_by_depth(s->problem))
    return SITU_STATUS_OK; /* of a relaxation */
  bool kept = s->by_links        ? value_ns >= predicted_ns
              : s->n_phases == 1 ? value_ns == predicted_ns
                                 : value_ns <= sat_add(predicted_ns, g->limits.max_forward_ns);
  if (!kept)
    return fail_with(g->run->error, SITU_STATUS_INTERNAL, "ideal_dp",
                     "predicted a period of %lld ns, simulated %lld ns", (long long)predicted_ns, (long long)value_ns);
  return SITU_STATUS_OK;
}

/* The value of the incumbent; NO_PLAN_NS if there is none. */
static int64_t value_of(const program *g) { return min64(g->run->incumbent->value_ns, NO_PLAN_NS); }

/* Visits all states and offers the best plan. *found: the minimum value that was reached, or SITU_NEVER_NS; *complete:
 * whether all states were visited. */
static situ_status fill_layers(program *g, const int32_t *by_price, int64_t *found, bool *complete) {
  situ_status status = SITU_STATUS_OK;
  int64_t best_ns = g->limits.max_ns, best_at = -1;
  int32_t best_state = -1;
  *complete = true;
  memset(g->reached, 0, (size_t)(g->n_reached_words * g->ranges.n_states) * sizeof *g->reached);
  g->layer_bytes = 0;
  if (!add_entry(g, &g->layers[0], 0, &(best_way){.from = -1})) return fail_no_memory(g->run->error);
  for (int32_t state = 1; *complete && state < g->ranges.n_states; state++) {
    /* A better plan lowers the limit from here on; the ranges stay valid. */
    int64_t max = best_state < 0 ? best_ns : best_ns - 1;
    int32_t n_used = g->n_used > 0 ? count_used(g, state) : 0;
    if (n_used > g->n_used) continue;
    *complete = fill_layer(g, by_price, state, max, &status);
    const layer *l = &g->layers[state];
    for (int64_t i = l->n - 1; i >= 0; i--) {
      if (l->ideal[i] != g->set.full || n_used < g->n_used || l->value_ns[i] > max) continue;
      best_ns = l->value_ns[i];
      best_state = state;
      best_at = i;
    }
  }
  *found = best_state >= 0 ? best_ns : SITU_NEVER_NS;
  return status == SITU_STATUS_OK && best_state >= 0 ? offer(g, best_state, best_at) : status;
}

/* A lower bound on the maximum load of one phase: the minimum time of each class, spread evenly over all devices. */
static int64_t min_phase_ns(const stages *s, int32_t phase) {
  int64_t work_ns = 0, n_devices = 0;
  for (int32_t t = 0; t < s->n_types; t++) n_devices += s->types[t].n_devices;
  for (int32_t i = 0; i < s->n; i++) {
    int64_t min = SITU_NEVER_NS;
    for (int32_t t = 0; t < s->n_types; t++) min = min64(min, s->time_ns[((int64_t)phase * s->n_types + t) * s->n + i]);
    if (min != SITU_NEVER_NS) work_ns += min;
  }
  return n_devices > 0 ? work_ns / n_devices : 0;
}

/* Runs the program over the kept ideals, for periods of at most max_ns. With two phases: let B be
 * the minimum backward load among plans with a forward load of at most F. Then a plan of period max_ns or less with
 * such a forward load has one of at most max_ns - B, which is the next F; until there is no such plan. */
static situ_status run_program(program *g, const int32_t *by_price, int64_t max_ns, attempt *result) {
  bool apart = g->stages.n_phases == 2, complete = false;
  int64_t found = 0, first_ns = SITU_NEVER_NS, min_ns = 0, min_forward_ns = 0;
  if (apart) {
    min_forward_ns = min_phase_ns(&g->stages, 0);
    min_ns = min_phase_ns(&g->stages, 1);
  }
  do {
    g->limits = (limits){max_ns - min_forward_ns, max_ns - min_ns};
    situ_status status = fill_layers(g, by_price, &found, &complete);
    free_layers(g);
    if (status != SITU_STATUS_OK) return status;
    first_ns = min64(first_ns, found);
    min_ns = found;
    max_ns = min64(max_ns, value_of(g) - 1);
  } while (apart && complete && found != SITU_NEVER_NS);
  *result = !complete ? GAVE_UP : apart || found == SITU_NEVER_NS ? REFUTED : FOUND;
  g->found_ns = first_ns;
  return SITU_STATUS_OK;
}

/* The same where the inputs that a part keeps follow from the devices after it: for each number of devices of the plan.
 * Where parts follow each other one by one, those after a part are those on the longest path from it, and this is
 * exact. Elsewhere they may be fewer, and it only finds plans; the proof is that of the relaxation. */
static situ_status run_by_depth(program *g, const int32_t *by_price, int64_t max_ns, attempt *result) {
  int64_t found_ns = SITU_NEVER_NS;
  bool gave_up = false;
  for (g->n_used = g->stages.n_depths; g->n_used > 0; g->n_used--) {
    TRY(run_program(g, by_price, min64(max_ns, value_of(g) - 1), result));
    gave_up |= *result == GAVE_UP;
    if (*result == FOUND) found_ns = min64(found_ns, g->found_ns);
  }
  *result = gave_up ? GAVE_UP : found_ns == SITU_NEVER_NS ? REFUTED : FOUND;
  g->found_ns = found_ns;
  if (gave_up || stages_are_chain(&g->stages)) return SITU_STATUS_OK;
  max_ns = min64(max_ns, value_of(g) - 1);
  return run_program(g, by_price, max_ns, result);
}

/* Allocates what the program needs and runs it. */
static situ_status set_up_program(program *g, int64_t max_ns, attempt *result) {
  situ_status status = SITU_STATUS_OK;
  int32_t *by_price = ideals_by_price(&g->set);
  g->skips_dominated = g->may_skip_dominated && g->set.n > FEW;
  g->n_reached_words = g->set.n / 64 + 1;
  g->reached = malloc((size_t)(g->n_reached_words * g->ranges.n_states) * sizeof *g->reached);
  if (!by_price || !g->reached || !maximal_load_find(&g->maximal, &g->set, g->skips_dominated))
    status = fail_no_memory(g->run->error);
  else if (g->stages.n_depths > 0 && g->stages.problem->schedule == SITU_SCHEDULE_1F1B &&
           problem_keeps_by_depth(g->stages.problem))
    status = run_by_depth(g, by_price, max_ns, result);
  else
    status = run_program(g, by_price, max_ns, result);
  free(by_price);
  free(g->reached);
  g->reached = NULL;
  maximal_load_free(&g->maximal);
  return status;
}

/* Searches for a plan of period at most max_ns. With FOUND the incumbent is better, but not always optimal. */
static situ_status try_period(program *g, int64_t max_ns, attempt *result) {
  solve_run *run = g->run;
  boundary_ranges_set(&g->ranges, max_ns);
  g->work = 0;
  if (!ideals_narrow(&g->ranges, g->max_work / 4, run->budget)) return fail_no_memory(run->error);
  ideals_result ideals = ideals_find(&g->set, &g->ranges, g->max_work, MAX_BYTES, run->budget);
  situ_status status = ideals == IDEALS_NO_MEMORY ? fail_no_memory(run->error) : SITU_STATUS_OK;
  *result = ideals == IDEALS_STOPPED ? GAVE_UP : REFUTED;
  if (ideals == IDEALS_ALL && g->set.full >= 0) status = set_up_program(g, max_ns, result);
  solve_count(run, "ideal_dp.ideals", g->set.n_seen);
  solve_count(run, "ideal_dp.ideals_kept", g->set.n);
  ideals_free(&g->set);
  return status;
}

static void raise_bound(program *g, int64_t lower_ns) {
  g->lower_ns = max64(g->lower_ns, lower_ns);
  bool all = g->lower_ns >= value_of(g);
  /* For a free problem contiguous plans are only starts, and prove nothing. */
  if (g->run->problem->contiguous) solve_bound(g->run, all ? g->run->incumbent->value_ns : g->lower_ns, "ideal_dp");
}

static bool is_closed(program *g) { return g->lower_ns >= value_of(g) || solve_done(g->run); }

/* The exact program, for plans of period at most max_ns. */
static situ_status attempt_exact(program *g, int64_t max_ns, attempt *result) {
  TRY(try_period(g, max_ns, result));
  if (*result == REFUTED) raise_bound(g, max_ns + 1);
  if (*result == FOUND && !g->skips_dominated) raise_bound(g, g->found_ns);
  return SITU_STATUS_OK;
}

/* Raises the bound by the coarse problem: bisection between the last period refuted and the first that was not. */
static situ_status attempt_coarse(program *g) {
  int64_t high_ns = value_of(g);
  while (!is_closed(g) && high_ns - g->lower_ns > high_ns / FINE) {
    int64_t max_ns = g->lower_ns + (high_ns - g->lower_ns) / 2;
    bool refuted;
    if (!relaxed_refutes(&refuted, &g->coarse, max_ns, g->max_work / 8, MAX_BYTES, g->run->budget))
      return fail_no_memory(g->run->error);
    if (refuted)
      raise_bound(g, max_ns + 1);
    else
      high_ns = max_ns;
  }
  return SITU_STATUS_OK;
}

/* Rounds of growing work. Each tries all plans better than the incumbent, then the bound of the coarse problem, then
 * half the gap. */
static situ_status close_gap(program *g) {
  attempt result;
  g->lower_ns = g->run->problem->contiguous ? g->run->incumbent->lower_bound_ns : 0;
  for (g->max_work = FIRST_EFFORT; !is_closed(g) && g->max_work <= LAST_EFFORT; g->max_work *= 16) {
    do TRY(attempt_exact(g, value_of(g) - 1, &result));
    while (result == FOUND && g->skips_dominated && !is_closed(g));
    if (result == FOUND && !g->skips_dominated) break; /* with links, predicted loads prove no more */
    if (!is_closed(g)) TRY(attempt_coarse(g));
    if (!is_closed(g) && g->max_work > FIRST_EFFORT)
      TRY(attempt_exact(g, g->lower_ns + (value_of(g) - g->lower_ns) / 2, &result));
  }
  return SITU_STATUS_OK;
}

static situ_status ideal_dp_solve(solve_run *run) {
  program g = {.run = run};
  if (!stages_find(&g.stages, run->problem, run->arena)) return fail_no_memory(run->error);
  if (g.stages.too_large || !stages_fit(&g.stages)) return SITU_STATUS_OK;
  if (!boundary_ranges_init(&g.ranges, &g.stages, run->arena)) return fail_no_memory(run->error);
  if (g.ranges.n_states > BOUNDARY_MAX_STATES) return SITU_STATUS_OK;
  g.may_skip_dominated = !g.stages.by_links && g.stages.n_phases == 1 && g.stages.n_depths == 0;
  if (!coarse_find(&g.coarse_stages, &g.coarse, &g.folded, &g.ranges, run->arena)) return fail_no_memory(run->error);
  g.layers = ARENA_ZERO(run->arena, layer, g.ranges.n_states);
  if (!g.layers) return fail_no_memory(run->error);
  if (g.stages.n <= MAX_CHAIN) {
    order_split *split = order_split_new(run, &g.stages.classes);
    if (!split) return fail_no_memory(run->error);
    order_split_offer(split, g.stages.class_at, NULL);
  }
  situ_status status = close_gap(&g);
  solve_count(run, "ideal_dp.classes", g.stages.n);
  solve_count(run, "ideal_dp.pairs", g.n_pairs);
  return status;
}

static bool ideal_dp_serves(const situ_problem *problem) { return stages_serve(problem); }

const solver ideal_dp_solver = {.name = "ideal_dp",
                                .title = "exact dynamic program over ideals",
                                .source = "Tarnawski et al., NeurIPS 2020",
                                .models = MODEL_PIPELINE,
                                .exact = true,
                                .serves = ideal_dp_serves,
                                .solve = ideal_dp_solve};
