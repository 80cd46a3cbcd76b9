#include "engine/part_costs.h"

#include <math.h>

#include "base/arena.h"
#include "base/checked.h"
#include "base/fail.h"

/* A tensor between parts is in memory: its rate is at least this, whatever a fit gives. */
static const double MIN_BYTES_PER_S = 1e9;

static double misfit(const cut_cost *cuts, int32_t n, double start, double per_byte) {
  double sum = 0;
  for (int32_t c = 0; c < n; c++) sum += pow(cuts[c].more_ns - start * cuts[c].n_more - per_byte * cuts[c].bytes, 2);
  return sum;
}

void part_costs_fit(part_costs *out, const cut_cost *parts, int32_t n, const cut_cost *cuts, int32_t n_cuts) {
  double nn = 0, nb = 0, bb = 0, ny = 0, by = 0;
  for (int32_t c = 0; c < n; c++) {
    nn += parts[c].n_more * parts[c].n_more;
    nb += parts[c].n_more * parts[c].bytes;
    bb += parts[c].bytes * parts[c].bytes;
    ny += parts[c].n_more * parts[c].more_ns;
    by += parts[c].bytes * parts[c].more_ns;
  }
  double max_per_byte = 1e9 / MIN_BYTES_PER_S, det = nn * bb - nb * nb, best = misfit(parts, n, 0, 0), start = 0,
         per_byte = 0;
  double tries[4][2] = {{nn > 0 ? ny / nn : 0, 0},
                        {0, bb > 0 ? by / bb : 0},
                        {det > 0 ? (ny * bb - by * nb) / det : 0, det > 0 ? (by * nn - ny * nb) / det : 0},
                        {nn > 0 ? (ny - max_per_byte * nb) / nn : 0, max_per_byte}};
  for (int k = 0; k < 4; k++) {
    double of = misfit(parts, n, tries[k][0], tries[k][1]);
    if (tries[k][0] < 0 || tries[k][1] < 0 || tries[k][1] > max_per_byte || of >= best) continue;
    best = of;
    start = tries[k][0];
    per_byte = tries[k][1];
  }
  for (int32_t w = 0; w < n_cuts; w++)
    if (cuts[w].n_more > 0) start = fmax(start, (cuts[w].min_ns - per_byte * cuts[w].bytes) / cuts[w].n_more);
  out->start_ns = sat_round(start);
  out->bytes_per_s = per_byte > 0 ? 1e9 / per_byte : 0;
}

/* One step towards the bounds of one cut. */
static void approach(double *time_ns, int32_t n, const cut_times *cut, double *sum_ns) {
  static const double DAMPING = 0.5;
  for (int32_t k = 0; k < cut->n_parts; k++) sum_ns[k] = 0;
  for (int32_t v = 0; v < n; v++)
    if (cut->part_of[v] >= 0) sum_ns[cut->part_of[v]] += time_ns[v];
  for (int32_t v = 0; v < n; v++) {
    int32_t k = cut->part_of[v];
    if (k < 0 || sum_ns[k] <= 0 || cut->max_ns[k] <= 0) continue;
    double wanted_ns = fmin(fmax(sum_ns[k], cut->min_ns[k]), cut->max_ns[k]);
    time_ns[v] *= pow(wanted_ns / sum_ns[k], DAMPING);
  }
}

situ_status part_costs_spread(int64_t *time_ns, int32_t n, const cut_times *cuts, int32_t n_cuts, situ_error *error) {
  enum { SWEEPS = 50 };
  int32_t max = 1;
  for (int32_t w = 0; w < n_cuts; w++) max = cuts[w].n_parts > max ? cuts[w].n_parts : max;
  arena *a = arena_new();
  double *found = a ? ARENA_NEW(a, double, n) : NULL, *sum_ns = found ? ARENA_NEW(a, double, max) : NULL;
  if (sum_ns) {
    double before = 0, after = 0;
    for (int32_t v = 0; v < n; v++) before += found[v] = (double)time_ns[v];
    for (int32_t i = 0; i < SWEEPS; i++)
      for (int32_t w = 0; w < n_cuts; w++) approach(found, n, &cuts[w], sum_ns);
    for (int32_t v = 0; v < n; v++) after += found[v];
    for (int32_t v = 0; v < n && after > 0; v++) time_ns[v] = sat_round(found[v] * before / after);
  }
  arena_free(a);
  return sum_ns ? SITU_STATUS_OK : fail_no_memory(error);
}
