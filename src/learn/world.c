#include "learn/world.h"

#include <math.h>
#include <string.h>

#include "base/checked.h"
#include "base/csr.h"
#include "solve/stream/sequence.h"
#include "view/footprint.h"

static const double INVALID_REWARD = -10;

/* ---- Units ---- */

/* Units from unit_of, whose numbers go by first operators. */
static void list_members(world *w) {
  memset(w->member_start, 0, ((size_t)w->n_units + 2) * sizeof *w->member_start);
  csr_fill(w->member_start, w->member, w->unit_of, w->problem->n_operators, w->n_units);
}

static void describe_unit(world *w, int32_t u) {
  const situ_problem *p = w->problem;
  bool *allowed = w->allowed + (int64_t)u * p->n_devices;
  w->weight_bytes[u] = w->footprint_bytes[u] = 0;
  for (int32_t d = 0; d < p->n_devices; d++) allowed[d] = true;
  for (int32_t i = w->member_start[u]; i < w->member_start[u + 1]; i++) {
    int32_t v = w->member[i];
    w->weight_bytes[u] = sat_add(w->weight_bytes[u], p->graph->weight_bytes[v]);
    w->footprint_bytes[u] = max64(w->footprint_bytes[u], footprint_bytes(p->graph, v));
    for (int32_t d = 0; d < p->n_devices; d++) allowed[d] = allowed[d] && problem_allows(p, v, d);
  }
}

static void describe_units(world *w) {
  for (int32_t u = 0; u < w->n_units; u++) describe_unit(w, u);
}

void world_join(world *w, const int32_t *group) {
  int32_t n = w->problem->n_operators;
  for (int32_t v = 0; v < n; v++) w->unit_of[v] = group[w->unit_of[v]];
  w->n_units = csr_number_keys(w->unit_of, w->unit_of, n, w->device, w->n_units);
  list_members(w);
  describe_units(w);
}

/* Where no device runs everything, what each operator takes at least. */
static int64_t scale(const situ_problem *p) {
  int64_t best = SITU_NEVER_NS, least_sum = 0;
  for (int32_t d = 0; d < p->n_devices; d++) {
    int64_t sum = 0;
    for (int32_t v = 0; v < p->n_operators; v++) sum = sat_add(sum, problem_time_ns(p, v, d));
    best = min64(best, sum);
  }
  for (int32_t v = 0; v < p->n_operators; v++) {
    int64_t least = SITU_NEVER_NS;
    for (int32_t d = 0; d < p->n_devices; d++) least = min64(least, problem_time_ns(p, v, d));
    least_sum = sat_add(least_sum, least);
  }
  return max64(best < SITU_NEVER_NS ? best : least_sum, 1);
}

/* ---- Measuring ---- */

static int64_t measure_simulated(void *context, const placement *where) {
  simulation found = simulator_run(context, where, true);
  return found.excess_bytes > 0 || found.over_ns > 0 ? SITU_NEVER_NS : found.value_ns;
}

static int64_t measure_offered(void *context, const placement *where) { return solve_offer(context, where); }

static bool init(world *w, const situ_problem *p, arena *a) {
  int64_t n = p->n_operators;
  *w = (world){.problem = p, .arena = a, .n_devices = p->n_devices, .best_ns = SITU_NEVER_NS};
  w->unit_of = ARENA_NEW(a, int32_t, n);
  w->member_start = ARENA_NEW(a, int32_t, n + 2);
  w->member = ARENA_NEW(a, int32_t, n);
  w->sequence = ARENA_NEW(a, int32_t, n);
  w->device = ARENA_NEW(a, int32_t, n);
  w->best = ARENA_ZERO(a, int32_t, n);
  w->held_bytes = ARENA_NEW(a, int64_t, p->n_memories);
  w->most_bytes = ARENA_NEW(a, int64_t, p->n_memories);
  if (!w->unit_of || !w->member_start || !w->member || !w->sequence || !w->device || !w->best || !w->held_bytes ||
      !w->most_bytes)
    return false;
  w->n_units = p->units.n;
  memcpy(w->unit_of, p->units.of, (size_t)n * sizeof *w->unit_of);
  list_members(w);
  w->allowed = ARENA_NEW(a, bool, (int64_t)w->n_units * p->n_devices);
  w->weight_bytes = ARENA_NEW(a, int64_t, w->n_units);
  w->footprint_bytes = ARENA_NEW(a, int64_t, w->n_units);
  if (!w->allowed || !w->weight_bytes || !w->footprint_bytes) return false;
  describe_units(w);
  w->scale_ns = scale(p);
  return true;
}

bool world_init(world *w, const situ_problem *problem, arena *a) {
  if (!init(w, problem, a)) return false;
  w->measure = measure_simulated;
  w->context = w->simulator = simulator_new(problem, a);
  return w->simulator != NULL;
}

bool world_init_run(world *w, solve_run *run) {
  if (!init(w, run->problem, run->arena)) return false;
  w->measure = measure_offered;
  w->context = w->run = run;
  w->simulator = run->simulator;
  return true;
}

int64_t world_try(world *w, const int32_t *device) {
  for (int32_t v = 0; v < w->problem->n_operators; v++) w->device[v] = device[w->unit_of[v]];
  if (!sequence_find(w->sequence, w->simulator, w->problem, w->device, w->arena)) return SITU_NEVER_NS;
  int64_t time = w->measure(w->context, &(placement){.device = w->device, .order = w->sequence});
  w->n_trials++;
  if (time < SITU_NEVER_NS) {
    if (w->n_valid < WORLD_CURVE) w->early_ns[w->n_valid] = time;
    w->late_ns[w->n_valid++ % WORLD_CURVE] = time;
  }
  if (time < w->best_ns) {
    w->best_ns = time;
    memcpy(w->best, device, (size_t)w->n_units * sizeof *device);
  }
  return time;
}

bool world_over(const world *w) { return w->run && solve_done(w->run); }

double world_reward(const world *w, int64_t time_ns) {
  return time_ns == SITU_NEVER_NS ? INVALID_REWARD : -sqrt((double)time_ns / (double)w->scale_ns);
}

static int64_t mean(const int64_t *time_ns, int64_t n) {
  double sum = 0;
  for (int64_t i = 0; i < n; i++) sum += (double)time_ns[i];
  return n > 0 ? sat_round(sum / (double)n) : 0;
}

void world_report(const world *w) {
  int64_t n = min64(w->n_valid, WORLD_CURVE);
  solve_count(w->run, "learn.trials", w->n_trials);
  solve_count(w->run, "learn.invalid", w->n_trials - w->n_valid);
  solve_count(w->run, "learn.mean_early_ns", mean(w->early_ns, n));
  solve_count(w->run, "learn.mean_late_ns", mean(w->late_ns, n));
}

/* ---- Drawing ---- */

/* The room that is left on the memory of device d with unit u there; negative when it does not fit. */
static int64_t room(const world *w, int32_t u, int32_t d) {
  int32_t m = w->problem->memory_of[d];
  int64_t held = sat_add(sat_add(w->held_bytes[m], w->weight_bytes[u]), max64(w->most_bytes[m], w->footprint_bytes[u]));
  return w->problem->platform->memory_bytes[m] - held;
}

void world_open(const world *w, int32_t u, bool *open) {
  const bool *allowed = w->allowed + (int64_t)u * w->n_devices;
  int64_t most = INT64_MIN;
  for (int32_t d = 0; d < w->n_devices; d++)
    if (allowed[d]) most = max64(most, room(w, u, d));
  for (int32_t d = 0; d < w->n_devices; d++) {
    int64_t here = allowed[d] ? room(w, u, d) : 0;
    open[d] = allowed[d] && (here >= 0 || (most < 0 && here == most));
  }
  if (most == INT64_MIN) open[0] = true; /* it can run nowhere */
}

static int32_t best_score(const nn_real *score, const bool *open, int32_t n) {
  int32_t best = -1;
  for (int32_t d = 0; d < n; d++)
    if (open[d] && (best < 0 || score[d] > score[best])) best = d;
  return best;
}

int32_t world_choose(const nn_real *score, const bool *open, int32_t n, rng *random) {
  int32_t last = best_score(score, open, n);
  if (!random) return last;
  double most = (double)score[last], sum = 0;
  for (int32_t d = 0; d < n; d++) sum += open[d] ? exp((double)score[d] - most) : 0;
  double left = rng_unit(random) * sum;
  for (int32_t d = 0; d < n; d++) {
    if (!open[d]) continue;
    left -= exp((double)score[d] - most);
    if (left < 0) return d;
  }
  return last;
}

void world_empty(world *w) {
  for (int32_t m = 0; m < w->problem->n_memories; m++) w->held_bytes[m] = w->most_bytes[m] = 0;
}

void world_put(world *w, int32_t u, int32_t d) {
  int32_t m = w->problem->memory_of[d];
  w->held_bytes[m] = sat_add(w->held_bytes[m], w->weight_bytes[u]);
  w->most_bytes[m] = max64(w->most_bytes[m], w->footprint_bytes[u]);
}

void world_draw(world *w, const nn_real *score, rng *random, int32_t *device, bool *open) {
  int32_t n = w->n_devices;
  bool here[SITU_MAX_DEVICES];
  world_empty(w);
  for (int32_t u = 0; u < w->n_units; u++) {
    bool *to = open ? open + (int64_t)u * n : here;
    world_open(w, u, to);
    device[u] = world_choose(score + (int64_t)u * n, to, n, random);
    world_put(w, u, device[u]);
  }
}
