#include "solve/baselines/milp_units.h"

#include "base/checked.h"
#include "base/contracts.h"
#include "base/sort.h"

enum { ORDERED_UNITS = 4 }; /* for each device */

/* Orders units by the minimum time of their operators, the longest first. */
static bool order_units(milp_units *s, arena *a) {
  const situ_problem *p = s->problem;
  arena_mark mark = arena_get_mark(a);
  keyed *sorted = ARENA_NEW(a, keyed, s->n_units);
  if (!sorted) return false;
  for (int32_t u = 0; u < s->n_units; u++) sorted[u] = (keyed){0, u};
  for (int32_t v = 0; v < p->n_operators; v++) {
    int64_t min = SITU_NEVER_NS;
    for (int32_t k = 0; k < p->n_classes; k++) min = min64(min, p->time_ns[(int64_t)v * p->n_classes + k]);
    sorted[s->unit_of[v]].key = -sat_add(-sorted[s->unit_of[v]].key, min);
  }
  sort_keyed(sorted, s->n_units);
  for (int32_t u = 0; u < s->n_units; u++) s->order[u] = sorted[u].at;
  arena_release(a, mark);
  return true;
}

bool milp_units_init(milp_units *s, arena *a) {
  return ARENA_ARRAYS(a, ARRAY(s->order, s->n_units), ARRAY(s->unit_device, s->n_units),
                      ARRAY(s->operator_device, s->problem->n_operators)) &&
         order_units(s, a);
}

void milp_break_symmetry(const milp_units *s, program *p) {
  int32_t n = ORDERED_UNITS * s->n_devices;
  if (n > s->n_units) n = s->n_units;
  for (int32_t t = 0; t < s->equal.n_types; t++)
    for (int32_t i = 1; i < s->equal.types[t].n_devices; i++) {
      int32_t d = s->equal.types[t].devices[i], before = s->equal.types[t].devices[i - 1];
      for (int32_t k = 0; k < n; k++) {
        int32_t x = s->x[(int64_t)s->order[k] * s->n_devices + d];
        if (x < 0) continue;
        program_row(p, PROGRAM_ANY_LOW, 0);
        program_add(p, x, 1);
        for (int32_t j = 0; j < k; j++) program_add(p, s->x[(int64_t)s->order[j] * s->n_devices + before], -1);
      }
    }
}

static void swap_devices(milp_units *s, int32_t a, int32_t b) {
  for (int32_t u = 0; u < s->n_units; u++)
    if (s->unit_device[u] == a || s->unit_device[u] == b) s->unit_device[u] = a + b - s->unit_device[u];
}

static void rename_devices(milp_units *s) {
  for (int32_t t = 0; t < s->equal.n_types; t++) {
    const device_type *type = &s->equal.types[t];
    for (int32_t k = 0, n = 0; k < s->n_units && n < type->n_devices; k++) {
      int32_t d = s->unit_device[s->order[k]];
      bool waits = false; /* the unit waits for its name */
      for (int32_t i = n; i < type->n_devices; i++) waits |= type->devices[i] == d;
      if (waits) swap_devices(s, d, type->devices[n++]);
    }
  }
}

static void spread_to_operators(milp_units *s) {
  for (int32_t v = 0; v < s->problem->n_operators; v++) s->operator_device[v] = s->unit_device[s->unit_of[v]];
}

bool milp_write_devices(milp_units *s, const int32_t *device, int64_t *x) {
  REQUIRE(contracts_within(device, s->problem->n_operators, 0, s->n_devices));
  for (int32_t v = 0; v < s->problem->n_operators; v++) s->unit_device[s->unit_of[v]] = device[v];
  rename_devices(s);
  spread_to_operators(s);
  for (int32_t u = 0; u < s->n_units; u++) {
    int32_t column = s->x[(int64_t)u * s->n_devices + s->unit_device[u]];
    if (column < 0) return false;
    x[column] = 1;
  }
  return true;
}

bool milp_read_devices(milp_units *s, const double *x) {
  for (int32_t u = 0; u < s->n_units; u++) {
    double max = -1;
    for (int32_t d = 0; d < s->n_devices; d++) {
      int32_t column = s->x[(int64_t)u * s->n_devices + d];
      if (column < 0 || x[column] <= max) continue;
      max = x[column];
      s->unit_device[u] = d;
    }
    if (max < 0) return false;
  }
  spread_to_operators(s);
  return true;
}
