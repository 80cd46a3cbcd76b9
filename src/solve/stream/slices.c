/* Slices: large streams, by a measure that a move changes in the time of its own tensors. The schedule of the best plan
 * is cut into slices of equal time; the measure is the sum over slices of a soft maximum of what devices and channels
 * do in them. Units go where that decreases, and memory allows; then everything is dispatched again, simulated, and cut
 * anew. A simulation of a million operators takes as long as a million trials of this measure. docs/theory/search.md.
 */
#include <math.h>
#include <string.h>

#include "base/checked.h"
#include "base/contracts.h"
#include "base/fail.h"
#include "solve/stream/current.h"
#include "solve/stream/sequence.h"
#include "view/footprint.h"

enum { MAX_RESOURCES = 32, LOOK_EVERY = 1024 };
enum { SWEEPS = 2, MAX_SWEEPS = 12, SPARE_PERCENT = 2, MAX_UNFIT = 4 };

typedef struct slices {
  solve_run *run;
  const situ_problem *problem;
  const unit_list *units;
  placement where;
  int32_t n_resources;             /* devices and channels */
  int32_t *slice;                  /* [operator] by its start in the best plan; its outputs are sent in the same one */
  double *load_ns;                 /* [slice * n_resources + resource] */
  int32_t *users;                  /* [tensor * n_memories + memory] */
  int64_t *unit_bytes;             /* [unit] that stay */
  int64_t *held_bytes, *max_bytes; /* [memory] */
  double byte_ns;                  /* the price of a byte too many */
  int32_t *touched, n_touched;     /* slices of the current move */
  int64_t *stamp, stamped;         /* [slice] the last move that touched it; their number */
  double before_ns;                /* the measure of the touched slices before it */
} slices;

/* The 8-norm of the loads of a slice. */
static double slice_ns(const slices *x, int32_t k) {
  const double *load = x->load_ns + (int64_t)k * x->n_resources;
  double sum = 0;
  for (int32_t r = 0; r < x->n_resources; r++) {
    double square = load[r] * load[r], fourth = square * square;
    sum += fourth * fourth;
  }
  return sqrt(sqrt(sqrt(sum)));
}

static void add_load(slices *x, int32_t k, int32_t resource, double ns) {
  if (x->stamp[k] != x->stamped) {
    x->stamp[k] = x->stamped;
    x->touched[x->n_touched++] = k;
    x->before_ns += slice_ns(x, k);
  }
  x->load_ns[(int64_t)k * x->n_resources + resource] += ns;
}

/* Adds `sign` times the transfer of tensor t from memory a to memory b, in the slice of its producer. */
static void add_transfer(slices *x, int32_t t, int32_t a, int32_t b, int sign) {
  const situ_problem *p = x->problem;
  const situ_platform *f = p->platform;
  int64_t route = (int64_t)a * p->n_memories + b;
  if (a == b) return;
  for (int32_t k = f->route_start[route]; k < f->route_start[route + 1]; k++) {
    int32_t link = f->route_link[k];
    double ns = (double)p->transfer_ns[t][p->costs->link_kind[link]];
    add_load(x, x->slice[p->graph->producer[t]], p->n_devices + f->links[link].channel, sign * ns);
  }
}

/* Moves one operator, without regard to memory. */
static void move_operator(slices *x, int32_t v, int32_t to) {
  const situ_problem *p = x->problem;
  const situ_graph *g = p->graph;
  int32_t from = x->where.device[v], a = p->memory_of[from], b = p->memory_of[to];
  add_load(x, x->slice[v], from, -(double)problem_time_ns(p, v, from));
  add_load(x, x->slice[v], to, (double)problem_time_ns(p, v, to));
  x->where.device[v] = to;
  if (a == b) return;
  for (int64_t i = g->in_start[v]; i < g->in_start[v + 1]; i++) {
    int32_t t = g->in[i], of = p->memory_of[x->where.device[g->producer[t]]],
            *users = x->users + (int64_t)t * p->n_memories;
    if (--users[a] == 0) add_transfer(x, t, of, a, -1);
    if (users[b]++ == 0) add_transfer(x, t, of, b, 1);
  }
  for (int32_t t = g->out_start[v]; t < g->out_start[v + 1]; t++)
    for (int32_t m = 0; m < p->n_memories; m++) {
      if (x->users[(int64_t)t * p->n_memories + m] == 0) continue;
      add_transfer(x, t, a, m, -1);
      add_transfer(x, t, b, m, 1);
    }
}

static void move_unit(slices *x, int32_t u, int32_t to) {
  const situ_problem *p = x->problem;
  unit_members m = unit_list_members(x->units, u);
  int32_t a = p->memory_of[x->where.device[m.member[0]]], b = p->memory_of[to];
  x->held_bytes[a] -= x->unit_bytes[u];
  x->held_bytes[b] += x->unit_bytes[u];
  for (int32_t i = 0; i < m.n; i++) move_operator(x, m.member[i], to);
}

/* By how much a move changes the measure; it is done. */
static double moved_ns(slices *x, int32_t u, int32_t to) {
  x->n_touched = 0;
  x->stamped++;
  x->before_ns = 0;
  move_unit(x, u, to);
  double after_ns = 0;
  for (int32_t i = 0; i < x->n_touched; i++) after_ns += slice_ns(x, x->touched[i]);
  return after_ns - x->before_ns;
}

/* Moves a unit to the device where the measure is minimal; what it frees of a memory that is too full has a price. */
static bool improve(slices *x, int32_t u) {
  const situ_problem *p = x->problem;
  unit_members m = unit_list_members(x->units, u);
  int32_t from = x->where.device[m.member[0]], best = from;
  double best_ns = -1;
  int32_t a = p->memory_of[from];
  int64_t over = x->held_bytes[a] - x->max_bytes[a];
  double price_ns = over > 0 ? x->byte_ns * (double)min64(over, x->unit_bytes[u]) : 0;
  for (int32_t d = 0; d < p->n_devices; d++) {
    int32_t b = p->memory_of[d];
    double relief_ns = a == b ? 0 : price_ns;
    bool fits = a == b || x->held_bytes[b] + x->unit_bytes[u] <= x->max_bytes[b];
    if (d == from || !fits || !problem_allows_all(p, m, d)) continue;
    double ns = moved_ns(x, u, d) - relief_ns;
    moved_ns(x, u, from);
    if (ns >= best_ns) continue;
    best_ns = ns;
    best = d;
  }
  if (best != from) moved_ns(x, u, best);
  return best != from;
}

static bool all_fit(const slices *x) {
  bool fit = true;
  for (int32_t m = 0; m < x->problem->n_memories; m++) fit &= x->held_bytes[m] <= x->max_bytes[m];
  return fit;
}

/* A hundredth of what a byte costs where the largest memory that can be full lasts for the whole schedule. */
static double first_price_ns(const slices *x, const simulation *found) {
  int64_t max = 1;
  for (int32_t m = 0; m < x->problem->n_memories; m++)
    if (x->max_bytes[m] != SITU_UNLIMITED_BYTES && x->held_bytes[m] > x->max_bytes[m])
      max = max64(max, x->max_bytes[m]);
  return (double)found->value_ns / 100 / (double)max;
}

/* Whether all units were visited before the budget ended. Counts a step. */
static bool sweep(slices *x) {
  bool going = !budget_spend(x->run->budget, 1);
  for (int32_t u = 0; going && u < x->units->n; u++) {
    improve(x, u);
    if (u % LOOK_EVERY == 0) going = !budget_over(x->run->budget);
  }
  return going;
}

/* ---- Slices ---- */

/* What memories hold for good, and may: passing tensors take what they take now, or a little. */
static void count_memory(slices *x, const simulation *found) {
  const situ_problem *p = x->problem;
  for (int32_t m = 0; m < p->n_memories; m++) x->held_bytes[m] = 0;
  for (int32_t u = 0; u < x->units->n; u++)
    x->held_bytes[p->memory_of[x->where.device[unit_list_members(x->units, u).member[0]]]] += x->unit_bytes[u];
  for (int32_t m = 0; m < p->n_memories; m++) {
    int64_t limit = p->platform->memory_bytes[m], spare = limit / 100 * SPARE_PERCENT;
    if (found->peak_bytes) spare = max64(spare, found->peak_bytes[m] - x->held_bytes[m]);
    x->max_bytes[m] = limit == SITU_UNLIMITED_BYTES ? limit : limit - spare;
  }
}

/* Counts users of tensors and loads of n slices. */
static void count_loads(slices *x, int32_t n) {
  const situ_problem *p = x->problem;
  const situ_graph *g = p->graph;
  const int32_t *device = x->where.device;
  x->n_touched = 0;
  x->stamped++;
  for (int64_t i = 0; i < (int64_t)n * x->n_resources; i++) x->load_ns[i] = 0;
  for (int64_t i = 0; i < (int64_t)g->n_tensors * p->n_memories; i++) x->users[i] = 0;
  for (int32_t v = 0; v < p->n_operators; v++) {
    add_load(x, x->slice[v], device[v], (double)problem_time_ns(p, v, device[v]));
    for (int64_t i = g->in_start[v]; i < g->in_start[v + 1]; i++)
      x->users[(int64_t)g->in[i] * p->n_memories + p->memory_of[device[v]]]++;
  }
  for (int32_t t = 0; t < g->n_tensors; t++)
    for (int32_t m = 0; m < p->n_memories; m++)
      if (x->users[(int64_t)t * p->n_memories + m] > 0) add_transfer(x, t, p->memory_of[device[g->producer[t]]], m, 1);
}

/* NULL, or what moves have miscounted in n slices. */
static const char *slices_check(slices *x, int32_t n) {
  int64_t cells = (int64_t)n * x->n_resources;
  arena_mark mark = arena_get_mark(x->run->arena);
  double *moved_ns = ARENA_NEW(x->run->arena, double, cells);
  bool same = true;
  if (!moved_ns) return NULL;
  memcpy(moved_ns, x->load_ns, (size_t)cells * sizeof *moved_ns);
  count_loads(x, n);
  for (int64_t i = 0; i < cells; i++) same &= fabs(moved_ns[i] - x->load_ns[i]) < 1;
  arena_release(x->run->arena, mark);
  EXPECT(same, "loads are those of the placement");
  return NULL;
}

/* Cuts a schedule into n slices, and counts everything in them. */
static void cut(slices *x, const simulation *found, int32_t n) {
  double length_ns = 1;
  for (int32_t v = 0; v < x->problem->n_operators; v++) length_ns = fmax(length_ns, (double)found->start_ns[v] + 1);
  for (int32_t v = 0; v < x->problem->n_operators; v++)
    x->slice[v] = (int32_t)((double)found->start_ns[v] / length_ns * n);
  count_loads(x, n);
  count_memory(x, found);
}

/* ---- The search ---- */

static situ_status slices_init(slices *x, solve_run *run, int32_t max_slices) {
  const situ_problem *p = run->problem;
  const situ_graph *g = p->graph;
  *x = (slices){.run = run, .problem = p, .units = solve_units(run)};
  x->n_resources = p->n_devices + p->platform->n_channels;
  if (!current_new_placement(&x->where, run) ||
      !ARENA_ARRAYS(run->arena, ARRAY(x->slice, p->n_operators),
                    ARRAY(x->load_ns, (int64_t)max_slices * x->n_resources),
                    ARRAY(x->users, (int64_t)g->n_tensors * p->n_memories), ZEROS(x->unit_bytes, x->units->n),
                    ARRAY(x->held_bytes, p->n_memories), ARRAY(x->max_bytes, p->n_memories),
                    ARRAY(x->touched, max_slices), ZEROS(x->stamp, max_slices)))
    return fail_no_memory(run->error);
  for (int32_t v = 0; v < p->n_operators; v++) {
    int64_t *bytes = &x->unit_bytes[x->units->of[v]];
    *bytes = sat_add(*bytes, sat_add(g->weight_bytes[v], footprint_staying_bytes(g, v)));
  }
  current_copy(&x->where, &run->incumbent->best, p->n_operators);
  return SITU_STATUS_OK;
}

/* Moves units in n slices of the current plan, and dispatches it anew. */
static situ_status improve_all(slices *x, const simulation *found, int32_t n) {
  solve_run *run = x->run;
  cut(x, found, n);
  x->byte_ns = 0;
  for (int32_t k = 0; k < SWEEPS || (k < MAX_SWEEPS && !all_fit(x)); k++) {
    if (!sweep(x)) break;
    x->byte_ns = x->byte_ns > 0 ? 4 * x->byte_ns : first_price_ns(x, found);
  }
  const char *(*check)(slices *, int32_t) = slices_check; /* used in every build */
  CONTRACT(check(x, n));
  if (!sequence_find(x->where.order, run->simulator, x->problem, x->where.device, run->arena))
    return fail_no_memory(run->error);
  return SITU_STATUS_OK;
}

/* Whether the placement just simulated is one to go on from: the best so far, or one that hardly exceeds memory: the
 * next sweeps, which know its peak, take enough away. */
static bool goes_on(const slices *x, const simulation *found, int64_t best_ns, int32_t *unfit) {
  bool better = x->run->incumbent->value_ns < best_ns;
  *unfit = better || found->excess_bytes == 0 ? 0 : *unfit + 1;
  return better || (*unfit > 0 && *unfit <= MAX_UNFIT && found->value_ns < best_ns);
}

/* From a better plan it goes on; after one that is not, it returns to the best and takes other slices. */
static situ_status slices_solve(solve_run *run) {
  static const double PARTS[] = {1, 0.25, 4}, HOPELESS = 1.1;
  enum { N_PARTS = sizeof PARTS / sizeof *PARTS };
  double n = sqrt(run->problem->n_operators);
  slices x;
  if (!run->incumbent->best.device) return SITU_STATUS_OK;
  TRY(slices_init(&x, run, (int32_t)(4 * n)));
  simulation found = solve_try(run, &x.where);
  for (int32_t part = 0, failed = 0, unfit = 0; failed < N_PARTS && found.start_ns && !solve_done(run);) {
    int64_t best_ns = run->incumbent->value_ns;
    TRY(improve_all(&x, &found, (int32_t)(PARTS[part] * n)));
    found = solve_try(run, &x.where);
    if (run->incumbent->value_ns < best_ns) failed = 0;
    /* Loads say nothing where tensors wait in line. */
    if (failed == 0 && found.excess_bytes == 0 && (double)found.value_ns > HOPELESS * (double)best_ns) break;
    if (goes_on(&x, &found, best_ns, &unfit)) continue;
    failed++;
    unfit = 0;
    part = (part + 1) % N_PARTS;
    current_copy(&x.where, &run->incumbent->best, run->problem->n_operators);
    if (failed < N_PARTS) found = solve_try(run, &x.where);
  }
  return SITU_STATUS_OK;
}

static bool slices_serves(const situ_problem *p) {
  return solve_is_large(p) && p->n_devices > 1 && p->n_devices + p->platform->n_channels <= MAX_RESOURCES;
}

const solver slices_solver = {
    .name = "slices",
    .title = "units move where devices and channels have less to do at that time",
    .source = "",
    .models = MODEL_STREAM,
    .serves = slices_serves,
    .starts = {{&heft_solver, 0.3}, {&single_solver, 1}},
    .solve = slices_solve,
};
