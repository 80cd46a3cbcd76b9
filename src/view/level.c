#include "view/level.h"

#include "view/unit.h"

#define ADDRESS(NAME) &level_##NAME,
const level_row *const level_rows[N_LEVEL_ROWS] = {LEVEL_ROWS(ADDRESS)};

void level_gather(int32_t *device, const situ_problem *p, const unit_list *units, const double *work_ns,
                  double *scratch) {
  for (int32_t u = 0; u < units->n; u++) {
    unit_members m = unit_list_members(units, u);
    int32_t best = device[m.member[0]];
    for (int32_t d = 0; d < p->n_devices; d++) scratch[d] = 0;
    for (int32_t k = 0; k < m.n; k++) scratch[device[m.member[k]]] += work_ns[m.member[k]];
    for (int32_t d = 0; d < p->n_devices; d++)
      if (scratch[d] > scratch[best] && problem_allows_all(p, m, d)) best = d;
    unit_members_put(m, device, best);
  }
}
