/* The programs of host-staged pipelines (Tarnawski et al., NeurIPS 2020: "non-contiguous", "contiguous", "diffmaxima"),
 * over the hypergraph of view/hypergraph.h, where tensors of one phase with the same pins are one edge. Units are the
 * colocation groups, or in contiguous pipelines the classes of view/contract.h:
 *
 *     min sum of T[f]                                                     phases f: one, or with GPipe two
 *     sum over d of x[u,d] = 1
 *     in[e,d]  >= x[b,d] - x[a,d],  out[e,d] >= x[a,d] - x[b,d]           a makes the tensor of e, b uses it
 *     T[f] >= sum of time[v,d] x[u,d] + sum of (in price in[e,d] + out price out[e,d])       v in u, and e: of phase f
 *     sum of bytes[u] x[u,d] + f[d] <= limit[d],  f[d] >= footprint[u] x[u,d]
 *
 * with x 0 or 1. in and out are one column where they cost the same, since at most one of them is 1; with overlap they
 * have rows of their own. Contiguous pipelines add, for each edge (a,b) of the constraint graph,
 *
 *     z[u,d] >= x[u,d],  z[b,d] <= z[a,d],  z[b,d] <= x[b,d] - x[a,d] + 1          what d holds is convex
 *     s[b] >= s[a] + x[a,d] - x[b,d],  |s[u] - r[d]| <= n (1 - x[u,d])             and d has stage r[d]
 *
 * The paper has the first line, which lets parts wait for each other in a circle; the second does not. */
#include "base/checked.h"
#include "solve/baselines/milp.h"
#include "solve/baselines/milp_units.h"
#include "solve/common/repair.h"
#include "solve/pipeline/partition.h"
#include "view/contract.h"
#include "view/hypergraph.h"

enum { MAX_PHASES = 2 };

typedef struct milp_pipeline_state {
  solve_run *run;
  hypergraph h;
  contraction classes; /* of contiguous pipelines */
  int32_t period[MAX_PHASES];
  milp_units units;
  int32_t *x;        /* [unit * n_devices + device] column, or -1 where not allowed */
  int32_t *in, *out; /* [edge * n_devices + device] likewise; -1 where nothing is paid */
} milp_pipeline_state;

/* Units become the classes that no contiguous plan parts. */
static bool merge_classes(milp_pipeline_state *s, arena *a) {
  const situ_problem *p = s->run->problem;
  hypergraph fine = s->h;
  int32_t *into = ARENA_NEW(a, int32_t, fine.n_units);
  if (!into || !contract(&s->classes, p, true, a)) return false;
  for (int32_t v = 0; v < p->n_operators; v++) into[fine.unit_of[v]] = s->classes.class_of[v];
  return hypergraph_merge(&s->h, &fine, into, s->classes.n_classes, a);
}

static bool milp_pipeline_init(milp_pipeline_state *s, solve_run *run) {
  arena *a = run->arena;
  s->run = run;
  if (!hypergraph_find(&s->h, run->problem, true, a)) return false;
  if (run->problem->contiguous && !merge_classes(s, a)) return false;
  int64_t nd = s->h.n_devices;
  if (!ARENA_ARRAYS(a, ARRAY(s->x, s->h.n_units * nd), ARRAY(s->in, s->h.n_edges * nd),
                    ARRAY(s->out, s->h.n_edges * nd)))
    return false;
  s->units = (milp_units){.problem = run->problem,
                          .n_units = s->h.n_units,
                          .n_devices = s->h.n_devices,
                          .unit_of = s->h.unit_of,
                          .x = s->x};
  return equal_devices_find(&s->units.equal, run->problem, EQUAL_STAGED, a) && milp_units_init(&s->units, a);
}

static void add_columns(milp_pipeline_state *s, program *p) {
  const hypergraph *h = &s->h;
  int32_t nd = h->n_devices;
  for (int32_t u = 0; u < h->n_units; u++)
    for (int32_t d = 0; d < nd; d++)
      s->x[(int64_t)u * nd + d] = partition_allows(h, u, d) ? program_column(p, 0, 1, true) : -1;
  for (int32_t e = 0; e < h->n_edges; e++)
    for (int32_t d = 0; d < nd; d++) {
      crossing price = h->price[(int64_t)h->row_of[d] * h->n_edges + e];
      int64_t at = (int64_t)e * nd + d;
      s->in[at] = price.in_ns > 0 ? program_column(p, 0, 1, false) : -1;
      bool same = price.in_ns == price.out_ns && !h->problem->async_copies;
      s->out[at] = same ? s->in[at] : price.out_ns > 0 ? program_column(p, 0, 1, false) : -1;
    }
}

static void place_units(milp_pipeline_state *s, program *p) {
  const hypergraph *h = &s->h;
  for (int32_t u = 0; u < h->n_units; u++) {
    program_row(p, 1, 1);
    for (int32_t d = 0; d < h->n_devices; d++) program_add(p, s->x[(int64_t)u * h->n_devices + d], 1);
  }
}

/* cut >= x[inside] - x[outside]; nothing to say where `inside` cannot be there. */
static void cut_row(program *p, int32_t cut, int32_t inside, int32_t outside) {
  if (cut < 0 || inside < 0) return;
  program_row(p, 0, PROGRAM_ANY_HIGH);
  program_add(p, cut, 1);
  program_add(p, inside, -1);
  program_add(p, outside, 1);
}

static void cut_edges(milp_pipeline_state *s, program *p) {
  const hypergraph *h = &s->h;
  int32_t nd = h->n_devices;
  for (int32_t e = 0; e < h->n_edges; e++) {
    const int32_t *x = s->x + (int64_t)h->pin[h->pin_start[e]] * nd;
    for (int32_t k = h->pin_start[e] + 1; k < h->pin_start[e + 1]; k++) {
      const int32_t *y = s->x + (int64_t)h->pin[k] * nd;
      for (int32_t d = 0; d < nd; d++) {
        cut_row(p, s->in[(int64_t)e * nd + d], y[d], x[d]);
        cut_row(p, s->out[(int64_t)e * nd + d], x[d], y[d]);
      }
    }
  }
}

/* T >= the load of d in a phase, of which `compute`, `in` and `out` say what belongs to it. */
static void load_row(milp_pipeline_state *s, program *p, int32_t phase, int32_t d, bool compute, bool in, bool out) {
  const hypergraph *h = &s->h;
  const situ_problem *q = h->problem;
  int64_t row = h->row_of[d];
  int32_t nd = h->n_devices;
  program_row(p, 0, PROGRAM_ANY_HIGH);
  program_add(p, s->period[phase], 1);
  for (int32_t v = 0; v < q->n_operators && compute; v++) {
    int32_t x = s->x[(int64_t)h->unit_of[v] * nd + d];
    if (x >= 0 && problem_phase(q, v) == phase) program_add(p, x, -problem_time_ns(q, v, d));
  }
  for (int32_t e = 0; e < h->n_edges; e++) {
    if (h->phase[e] != phase) continue;
    crossing price = h->price[row * h->n_edges + e];
    int32_t enters = s->in[(int64_t)e * nd + d], leaves = s->out[(int64_t)e * nd + d];
    if (in) program_add(p, enters, -price.in_ns);
    if (out && !(in && leaves == enters)) program_add(p, leaves, -price.out_ns);
  }
}

/* z: rows of what is convex on device d. `z` is scratch [unit]. */
static void convex_rows(const milp_pipeline_state *s, program *p, int32_t d, int32_t *z) {
  const constraint_graph *f = &s->classes.forward;
  int32_t nd = s->h.n_devices;
  for (int32_t u = 0; u < f->n; u++) {
    z[u] = program_column(p, 0, 1, false);
    program_row(p, 0, PROGRAM_ANY_HIGH);
    program_add(p, z[u], 1);
    program_add(p, s->x[(int64_t)u * nd + d], -1);
  }
  for (int32_t a = 0; a < f->n; a++)
    for (int32_t i = f->start[a]; i < f->start[a + 1]; i++) {
      int32_t b = f->to[i];
      program_row(p, 0, PROGRAM_ANY_HIGH);
      program_add(p, z[a], 1);
      program_add(p, z[b], -1);
      program_row(p, -1, PROGRAM_ANY_HIGH);
      program_add(p, s->x[(int64_t)b * nd + d], 1);
      program_add(p, s->x[(int64_t)a * nd + d], -1);
      program_add(p, z[b], -1);
    }
}

/* A stage for each device, those of its units, and later ones across edges. `stage` is scratch [unit]. */
static void stage_rows(const milp_pipeline_state *s, program *p, int32_t *stage) {
  const constraint_graph *f = &s->classes.forward;
  int32_t nd = s->h.n_devices;
  for (int32_t u = 0; u < f->n; u++) stage[u] = program_column(p, 0, nd - 1, false);
  for (int32_t d = 0; d < nd; d++) {
    int32_t own = program_column(p, 0, nd - 1, false);
    for (int32_t u = 0; u < f->n; u++)
      for (int32_t sign = -1; sign <= 1; sign += 2) {
        if (s->x[(int64_t)u * nd + d] < 0) continue;
        program_row(p, PROGRAM_ANY_LOW, nd - 1);
        program_add(p, stage[u], sign);
        program_add(p, own, -sign);
        program_add(p, s->x[(int64_t)u * nd + d], nd - 1);
      }
    for (int32_t a = 0; a < f->n; a++)
      for (int32_t i = f->start[a]; i < f->start[a + 1]; i++) {
        program_row(p, 0, PROGRAM_ANY_HIGH);
        program_add(p, stage[f->to[i]], 1);
        program_add(p, stage[a], -1);
        program_add(p, s->x[(int64_t)a * nd + d], -1);
        program_add(p, s->x[(int64_t)f->to[i] * nd + d], 1);
      }
  }
}

static bool stay_contiguous(const milp_pipeline_state *s, program *p) {
  int32_t *column = ARENA_NEW(s->run->arena, int32_t, s->h.n_units);
  if (!column) return false;
  for (int32_t d = 0; d < s->h.n_devices; d++) convex_rows(s, p, d, column);
  stage_rows(s, p, column);
  return true;
}

static void limit_memory(milp_pipeline_state *s, program *p) {
  const hypergraph *h = &s->h;
  if (h->memory_is_free) return;
  int64_t max = h->footprint_bytes[h->n_footprints - 1];
  for (int32_t d = 0; d < h->n_devices; d++) {
    if (h->limit_bytes[d] == SITU_UNLIMITED_BYTES) continue;
    const int32_t *x = s->x + d;
    int32_t greatest = max > 0 ? program_column(p, 0, max, false) : -1;
    if (greatest >= 0) p->unit[greatest] = (double)max;
    for (int32_t u = 0; u < h->n_units; u++) {
      int64_t bytes = h->footprint_bytes[h->footprint[u]];
      if (bytes == 0 || x[(int64_t)u * h->n_devices] < 0) continue;
      program_row(p, 0, PROGRAM_ANY_HIGH);
      program_add(p, greatest, 1);
      program_add(p, x[(int64_t)u * h->n_devices], -bytes);
    }
    program_row(p, PROGRAM_ANY_LOW, h->limit_bytes[d]);
    program_add(p, greatest, 1);
    for (int32_t u = 0; u < h->n_units; u++) program_add(p, x[(int64_t)u * h->n_devices], h->bytes[u]);
  }
}

/* ---- the row ---- */

/* Everything one after the other where it is slowest, in all phases. */
static int64_t max_period(const hypergraph *h) {
  int64_t sum_ns = 0;
  for (int32_t u = 0; u < h->n_units; u++) {
    int64_t max = 0;
    for (int32_t row = 0; row < h->n_rows; row++) {
      int64_t time_ns = h->time_ns[(int64_t)row * h->n_units + u];
      if (time_ns != SITU_NEVER_NS) max = max64(max, time_ns);
    }
    sum_ns += max;
  }
  for (int64_t i = 0; i < (int64_t)h->n_rows * h->n_edges; i++) sum_ns += h->price[i].in_ns + h->price[i].out_ns;
  return sum_ns;
}

/* What the program minimizes: of a plan of interest no more than the best value so far. */
static void add_periods(milp_pipeline_state *s, program *p) {
  const incumbent *best = s->run->incumbent;
  int64_t upper_ns = min64(best->value_ns, max_period(&s->h)), lower_ns = min64(best->lower_bound_ns, upper_ns);
  int32_t n_phases = s->run->problem->n_phases;
  for (int32_t phase = 0; phase < n_phases; phase++) {
    int32_t j = s->period[phase] = program_column(p, n_phases > 1 ? 0 : lower_ns, upper_ns, false);
    if (j < 0) return;
    p->cost[j] = 1;
    p->unit[j] = program_unit_of(upper_ns);
  }
  if (n_phases == 1) return;
  program_row(p, lower_ns, upper_ns);
  for (int32_t phase = 0; phase < n_phases; phase++) program_add(p, s->period[phase], 1);
}

static void *write_program(program *p, solve_run *run) {
  milp_pipeline_state *s = ARENA_ZERO(run->arena, milp_pipeline_state, 1);
  if (!s || !milp_pipeline_init(s, run)) return NULL;
  if (!hypergraph_fits(&s->h)) return s;
  const hypergraph *h = &s->h;
  add_periods(s, p);
  add_columns(s, p);
  if (p->out_of_memory) return NULL;
  place_units(s, p);
  cut_edges(s, p);
  bool overlap = run->problem->async_copies;
  for (int32_t phase = 0; phase < run->problem->n_phases; phase++)
    for (int32_t d = 0; d < h->n_devices; d++) {
      load_row(s, p, phase, d, true, !overlap, !overlap);
      if (overlap) load_row(s, p, phase, d, false, true, false);
      if (overlap) load_row(s, p, phase, d, false, false, true);
    }
  limit_memory(s, p);
  if (run->problem->contiguous && !stay_contiguous(s, p)) return NULL;
  milp_break_symmetry(&s->units, p);
  return s;
}

static bool start_from(void *context, int64_t *x) {
  milp_pipeline_state *s = context;
  return milp_write_devices(&s->units, s->run->incumbent->best.device, x);
}

static void offer(void *context, const double *x) {
  milp_pipeline_state *s = context;
  if (milp_read_devices(&s->units, x)) repair_offer(s->run, &(placement){.device = s->units.operator_device});
}

static bool milp_pipeline_serves(const situ_problem *p) {
  return hypergraph_serves_staged(p) && !p->replicate && !problem_keeps_by_depth(p);
}

const milp_program milp_pipeline = {
    .serves = milp_pipeline_serves, .write = write_program, .start = start_from, .offer = offer};
