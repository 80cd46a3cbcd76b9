#include "solve/learn/world.h"

#include <math.h>
#include <string.h>

#include "base/checked.h"
#include "problem/footprint.h"
#include "solve/kit/sequence.h"
#include "solve/kit/unit.h"

static const double INVALID_REWARD = -10;

/* ---- Units ---- */

static void number_units(world *w) {
  const situ_problem *p = w->problem;
  for (int32_t v = 0; v < p->n_operators; v++) w->unit_of[v] = -1;
  int32_t filled = 0;
  for (int32_t v = 0; v < p->n_operators; v++) {
    if (w->unit_of[v] >= 0) continue;
    const int32_t *members;
    int32_t first = v, n = unit_of(p, &first, &members);
    w->member_start[w->n_units] = filled;
    for (int32_t i = 0; i < n; i++) {
      w->unit_of[members[i]] = w->n_units;
      w->member[filled++] = members[i];
    }
    w->n_units++;
  }
  w->member_start[w->n_units] = filled;
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
  w->member_start = ARENA_NEW(a, int32_t, n + 1);
  w->member = ARENA_NEW(a, int32_t, n);
  w->sequence = ARENA_NEW(a, int32_t, n);
  w->device = ARENA_NEW(a, int32_t, n);
  w->best = ARENA_ZERO(a, int32_t, n);
  w->held_bytes = ARENA_NEW(a, int64_t, p->n_memories);
  w->most_bytes = ARENA_NEW(a, int64_t, p->n_memories);
  if (!w->unit_of || !w->member_start || !w->member || !w->sequence || !w->device || !w->best || !w->held_bytes ||
      !w->most_bytes)
    return false;
  number_units(w);
  w->allowed = ARENA_NEW(a, bool, (int64_t)w->n_units * p->n_devices);
  w->weight_bytes = ARENA_NEW(a, int64_t, w->n_units);
  w->footprint_bytes = ARENA_NEW(a, int64_t, w->n_units);
  if (!w->allowed || !w->weight_bytes || !w->footprint_bytes) return false;
  for (int32_t u = 0; u < w->n_units; u++) describe_unit(w, u);
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

/* ---- Drawing ---- */

/* The room that is left on the memory of device d with unit u there; negative when it does not fit. */
static int64_t room(const world *w, int32_t u, int32_t d) {
  int32_t m = w->problem->memory_of[d];
  int64_t held = sat_add(sat_add(w->held_bytes[m], w->weight_bytes[u]), max64(w->most_bytes[m], w->footprint_bytes[u]));
  return w->problem->platform->memory_bytes[m] - held;
}

static void find_open(const world *w, int32_t u, bool *open) {
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

static int32_t draw(const nn_real *score, const bool *open, int32_t n, rng *random) {
  int32_t last = best_score(score, open, n);
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

void world_draw(world *w, const nn_real *score, rng *random, int32_t *device, bool *open) {
  int32_t n = w->n_devices;
  bool here[SITU_MAX_DEVICES];
  for (int32_t m = 0; m < w->problem->n_memories; m++) w->held_bytes[m] = w->most_bytes[m] = 0;
  for (int32_t u = 0; u < w->n_units; u++) {
    bool *to = open ? open + (int64_t)u * n : here;
    const nn_real *row = score + (int64_t)u * n;
    find_open(w, u, to);
    int32_t d = device[u] = random ? draw(row, to, n, random) : best_score(row, to, n);
    int32_t m = w->problem->memory_of[d];
    w->held_bytes[m] = sat_add(w->held_bytes[m], w->weight_bytes[u]);
    w->most_bytes[m] = max64(w->most_bytes[m], w->footprint_bytes[u]);
  }
}
