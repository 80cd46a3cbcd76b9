/* The program of host-staged pipelines without contiguity (Tarnawski et al., NeurIPS 2020, "non-contiguous"), over the
 * hypergraph of kit/hypergraph.h, where colocation groups are one unit and tensors with the same pins are one edge:
 *
 *     min T
 *     sum over d of x[u,d] = 1
 *     in[e,d]  >= x[b,d] - x[a,d],  out[e,d] >= x[a,d] - x[b,d]      a makes the tensor of e, b uses it
 *     T >= sum of time[u,d] x[u,d] + sum of (in price in[e,d] + out price out[e,d])
 *     sum of bytes[u] x[u,d] + f[d] <= limit[d],  f[d] >= footprint[u] x[u,d]
 *
 * with x 0 or 1. in and out are one column where they cost the same, since at most one of them is 1; with overlap they
 * have rows of their own. Devices of one type are numbered so that the first units, by time, come on lower ones:
 * unit k of that order is on the i-th device of a type only if an earlier unit is on the one before it. */
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "solve/exact/milp.h"
#include "solve/kit/device_types.h"
#include "solve/kit/hypergraph.h"
#include "solve/kit/partition.h"
#include "solve/kit/repair.h"

enum { ORDERED_UNITS = 4 }; /* for each device */

typedef struct state {
  solve_run *run;
  hypergraph h;
  int32_t *x; /* [unit * n_devices + device] column, or -1 where not allowed */
  int32_t *in, *out; /* [edge * n_devices + device] likewise; -1 where nothing is paid */
  int32_t *order;    /* units by time, the longest first */
  device_type *types;
  int32_t n_types;
  int32_t *operator_device, *unit_device;
} state;

static bool init(state *s, solve_run *run) {
  arena *a = run->arena;
  s->run = run;
  if (!hypergraph_find(&s->h, run->problem, a) || !device_types_find(&s->types, &s->n_types, run->problem, a))
    return false;
  int64_t nu = s->h.n_units, nd = s->h.n_devices, ne = s->h.n_edges;
  s->x = ARENA_NEW(a, int32_t, nu * nd);
  s->in = ARENA_NEW(a, int32_t, ne * nd);
  s->out = ARENA_NEW(a, int32_t, ne * nd);
  s->order = ARENA_NEW(a, int32_t, nu);
  s->operator_device = ARENA_NEW(a, int32_t, run->problem->n_operators);
  s->unit_device = ARENA_NEW(a, int32_t, nu);
  return s->x && s->in && s->out && s->order && s->operator_device && s->unit_device;
}

static void add_columns(state *s, program *p) {
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
      bool same = price.in_ns == price.out_ns && !h->problem->overlap;
      s->out[at] = same ? s->in[at] : price.out_ns > 0 ? program_column(p, 0, 1, false) : -1;
    }
}

static void place_units(state *s, program *p) {
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

static void cut_edges(state *s, program *p) {
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
static void load_row(state *s, program *p, int32_t period, int32_t d, bool compute, bool in, bool out) {
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

static void limit_memory(state *s, program *p) {
  const hypergraph *h = &s->h;
  if (h->memory_is_free) return;
  int64_t most = h->footprint_bytes[h->n_footprints - 1];
  for (int32_t d = 0; d < h->n_devices; d++) {
    if (h->limit_bytes[d] == SITU_UNLIMITED_BYTES) continue;
    const int32_t *x = s->x + d;
    int32_t greatest = most > 0 ? program_column(p, 0, most, false) : -1;
    if (greatest >= 0) p->unit[greatest] = (double)most;
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

/* ---- devices of one type ---- */

typedef struct by_time {
  int64_t time_ns;
  int32_t unit;
} by_time;

static int compare_times(const void *a, const void *b) {
  const by_time *x = a, *y = b;
  if (x->time_ns != y->time_ns) return x->time_ns > y->time_ns ? -1 : 1;
  return (x->unit > y->unit) - (x->unit < y->unit);
}

/* By the least time, the longest first: what the engine branches on should be what matters. */
static bool order_units(state *s) {
  const hypergraph *h = &s->h;
  arena_mark mark = arena_get_mark(s->run->arena);
  by_time *sorted = ARENA_NEW(s->run->arena, by_time, h->n_units);
  if (!sorted) return false;
  for (int32_t u = 0; u < h->n_units; u++) {
    sorted[u] = (by_time){SITU_NEVER_NS, u};
    for (int32_t row = 0; row < h->n_rows; row++)
      sorted[u].time_ns = min64(sorted[u].time_ns, h->time_ns[(int64_t)row * h->n_units + u]);
  }
  qsort(sorted, (size_t)h->n_units, sizeof *sorted, compare_times);
  for (int32_t u = 0; u < h->n_units; u++) s->order[u] = sorted[u].unit;
  arena_release(s->run->arena, mark);
  return true;
}

static void break_symmetry(state *s, program *p) {
  const hypergraph *h = &s->h;
  int32_t n = ORDERED_UNITS * h->n_devices;
  if (n > h->n_units) n = h->n_units;
  for (int32_t t = 0; t < s->n_types; t++)
    for (int32_t i = 1; i < s->types[t].n_devices; i++) {
      int32_t d = s->types[t].devices[i], before = s->types[t].devices[i - 1];
      for (int32_t k = 0; k < n; k++) {
        int32_t x = s->x[(int64_t)s->order[k] * h->n_devices + d];
        if (x < 0) continue;
        program_row(p, PROGRAM_ANY_LOW, 0);
        program_add(p, x, 1);
        for (int32_t j = 0; j < k; j++) program_add(p, s->x[(int64_t)s->order[j] * h->n_devices + before], -1);
      }
    }
}

/* Renames the devices of each type in the order in which the units come to them. */
static void rename_devices(state *s, int32_t *device) {
  const hypergraph *h = &s->h;
  for (int32_t t = 0; t < s->n_types; t++) {
    const device_type *type = &s->types[t];
    for (int32_t k = 0, n = 0; k < h->n_units && n < type->n_devices; k++) {
      int32_t d = device[s->order[k]], to = type->devices[n];
      bool waits = false; /* whether d is one that has no new name yet */
      for (int32_t i = n; i < type->n_devices; i++) waits |= type->devices[i] == d;
      if (!waits) continue;
      for (int32_t u = 0; u < h->n_units; u++)
        if (device[u] == d)
          device[u] = to;
        else if (device[u] == to)
          device[u] = d;
      n++;
    }
  }
}

/* ---- the row ---- */

static void *write_program(program *p, solve_run *run) {
  state *s = ARENA_ZERO(run->arena, state, 1);
  if (!s || !init(s, run) || !order_units(s)) return NULL;
  if (!hypergraph_fits(&s->h)) return s;
  const hypergraph *h = &s->h;
  int64_t upper_ns = run->incumbent->value_ns, sum_ns = 0;
  for (int32_t u = 0; u < h->n_units && upper_ns == SITU_NEVER_NS; u++) {
    int64_t most = 0;
    for (int32_t row = 0; row < h->n_rows; row++) {
      int64_t time_ns = h->time_ns[(int64_t)row * h->n_units + u];
      if (time_ns != SITU_NEVER_NS) most = max64(most, time_ns);
    }
    sum_ns += most;
  }
  for (int64_t i = 0; i < (int64_t)h->n_rows * h->n_edges; i++) sum_ns += h->price[i].in_ns + h->price[i].out_ns;
  if (upper_ns == SITU_NEVER_NS) upper_ns = sum_ns;
  int32_t period = program_column(p, min64(run->incumbent->lower_bound_ns, upper_ns), upper_ns, false);
  add_columns(s, p);
  if (p->out_of_memory) return NULL;
  p->cost[period] = 1;
  p->unit[period] = milp_time_unit(upper_ns);
  place_units(s, p);
  cut_edges(s, p);
  for (int32_t d = 0; d < h->n_devices; d++) {
    bool overlap = h->problem->overlap;
    load_row(s, p, period, d, true, !overlap, !overlap);
    if (overlap) load_row(s, p, period, d, false, true, false);
    if (overlap) load_row(s, p, period, d, false, false, true);
  }
  limit_memory(s, p);
  break_symmetry(s, p);
  return s;
}

static bool start_from(void *context, int64_t *x) {
  state *s = context;
  const hypergraph *h = &s->h;
  const int32_t *device = s->run->incumbent->best.device;
  for (int32_t v = 0; v < h->problem->n_operators; v++) s->unit_device[h->unit_of[v]] = device[v];
  rename_devices(s, s->unit_device);
  for (int32_t u = 0; u < h->n_units; u++) x[s->x[(int64_t)u * h->n_devices + s->unit_device[u]]] = 1;
  return true;
}

static void offer(void *context, const double *x) {
  state *s = context;
  const hypergraph *h = &s->h;
  for (int32_t u = 0; u < h->n_units; u++) {
    double most = -1;
    for (int32_t d = 0; d < h->n_devices; d++) {
      int32_t column = s->x[(int64_t)u * h->n_devices + d];
      if (column < 0 || x[column] <= most) continue;
      most = x[column];
      s->unit_device[u] = d;
    }
    if (most < 0) return; /* no device at all */
  }
  for (int32_t v = 0; v < h->problem->n_operators; v++) s->operator_device[v] = s->unit_device[h->unit_of[v]];
  repair_offer(s->run, &(placement){.device = s->operator_device});
}

const milp_program milp_pipeline = {
    .serves = hypergraph_serves, .write = write_program, .start = start_from, .offer = offer};
