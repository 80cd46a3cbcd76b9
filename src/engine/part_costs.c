#include "engine/part_costs.h"

#include <math.h>

#include "base/checked.h"

static double misfit(const cut_cost *cuts, int32_t n, double start, double per_byte) {
  double sum = 0;
  for (int32_t c = 0; c < n; c++) sum += pow(cuts[c].more_ns - start * cuts[c].n_more - per_byte * cuts[c].bytes, 2);
  return sum;
}

void part_costs_fit(part_costs *out, const cut_cost *cuts, int32_t n) {
  double nn = 0, nb = 0, bb = 0, ny = 0, by = 0;
  for (int32_t c = 0; c < n; c++) {
    nn += cuts[c].n_more * cuts[c].n_more;
    nb += cuts[c].n_more * cuts[c].bytes;
    bb += cuts[c].bytes * cuts[c].bytes;
    ny += cuts[c].n_more * cuts[c].more_ns;
    by += cuts[c].bytes * cuts[c].more_ns;
  }
  double det = nn * bb - nb * nb, best = misfit(cuts, n, 0, 0), start = 0, per_byte = 0;
  double tries[3][2] = {{nn > 0 ? ny / nn : 0, 0},
                        {0, bb > 0 ? by / bb : 0},
                        {det > 0 ? (ny * bb - by * nb) / det : 0, det > 0 ? (by * nn - ny * nb) / det : 0}};
  for (int k = 0; k < 3; k++) {
    double of = misfit(cuts, n, tries[k][0], tries[k][1]);
    if (tries[k][0] < 0 || tries[k][1] < 0 || of >= best) continue;
    best = of;
    start = tries[k][0];
    per_byte = tries[k][1];
  }
  out->start_ns = sat_round(start);
  out->bytes_per_s = per_byte > 0 ? 1e9 / per_byte : 0;
}
