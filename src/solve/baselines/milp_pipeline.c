/* The program of host-staged pipelines without contiguity (Tarnawski et al., NeurIPS 2020, "non-contiguous"), over the
 * hypergraph of view/hypergraph.h, where colocation groups are one unit and tensors with the same pins are one edge:
 *
 *     min T
 *     sum over d of x[u,d] = 1
 *     in[e,d]  >= x[b,d] - x[a,d],  out[e,d] >= x[a,d] - x[b,d]      a makes the tensor of e, b uses it
 *     T >= sum of time[u,d] x[u,d] + sum of (in price in[e,d] + out price out[e,d])
 *     sum of bytes[u] x[u,d] + f[d] <= limit[d],  f[d] >= footprint[u] x[u,d]
 *
 * with x 0 or 1. in and out are one column where they cost the same, since at most one of them is 1; with overlap they
 * have rows of their own. */
#include "base/checked.h"
#include "solve/baselines/milp.h"
#include "solve/baselines/milp_units.h"
#include "solve/common/repair.h"
#include "solve/pipeline/partition.h"
#include "view/hypergraph.h"

typedef struct milp_pipeline_state {
  solve_run *run;
  hypergraph h;
  milp_units units;
  int32_t *x;        /* [unit * n_devices + device] column, or -1 where not allowed */
  int32_t *in, *out; /* [edge * n_devices + device] likewise; -1 where nothing is paid */
} milp_pipeline_state;

static bool milp_pipeline_init(milp_pipeline_state *s, solve_run *run) {
  arena *a = run->arena;
  s->run = run;
  if (!hypergraph_find(&s->h, run->problem, true, a)) return false;
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

/* T >= the load of d, of which `compute`, `in` and `out` say what belongs to it. */
static void load_row(milp_pipeline_state *s, program *p, int32_t period, int32_t d, bool compute, bool in, bool out) {
  const hypergraph *h = &s->h;
  int64_t row = h->row_of[d];
  int32_t nd = h->n_devices;
  program_row(p, 0, PROGRAM_ANY_HIGH);
  program_add(p, period, 1);
  for (int32_t u = 0; u < h->n_units && compute; u++)
    if (s->x[(int64_t)u * nd + d] >= 0) program_add(p, s->x[(int64_t)u * nd + d], -h->time_ns[row * h->n_units + u]);
  for (int32_t e = 0; e < h->n_edges; e++) {
    crossing price = h->price[row * h->n_edges + e];
    int32_t enters = s->in[(int64_t)e * nd + d], leaves = s->out[(int64_t)e * nd + d];
    if (in) program_add(p, enters, -price.in_ns);
    if (out && !(in && leaves == enters)) program_add(p, leaves, -price.out_ns);
  }
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

/* Everything one after the other where it is slowest. */
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

static void *write_program(program *p, solve_run *run) {
  milp_pipeline_state *s = ARENA_ZERO(run->arena, milp_pipeline_state, 1);
  if (!s || !milp_pipeline_init(s, run)) return NULL;
  if (!hypergraph_fits(&s->h)) return s;
  const hypergraph *h = &s->h;
  int64_t upper_ns = min64(run->incumbent->value_ns, max_period(h));
  int32_t period = program_column(p, min64(run->incumbent->lower_bound_ns, upper_ns), upper_ns, false);
  add_columns(s, p);
  if (p->out_of_memory) return NULL;
  p->cost[period] = 1;
  p->unit[period] = program_unit_of(upper_ns);
  place_units(s, p);
  cut_edges(s, p);
  for (int32_t d = 0; d < h->n_devices; d++) {
    bool overlap = h->problem->async_copies;
    load_row(s, p, period, d, true, !overlap, !overlap);
    if (overlap) load_row(s, p, period, d, false, true, false);
    if (overlap) load_row(s, p, period, d, false, false, true);
  }
  limit_memory(s, p);
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

static bool milp_pipeline_serves(const situ_problem *p) { return hypergraph_serves(p) && !p->replicate; }

const milp_program milp_pipeline = {
    .serves = milp_pipeline_serves, .write = write_program, .start = start_from, .offer = offer};
