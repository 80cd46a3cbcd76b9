#include "bound/items.h"

#include "base/checked.h"
#include "base/fail.h"

static bool has_pins(const situ_problem *p) {
  for (int32_t v = 0; v < p->n_operators; v++)
    if (p->pin[v] >= 0) return true;
  return false;
}

situ_status items_list(items *out, const situ_problem *p, arena *a, situ_error *error) {
  bool apart = has_pins(p);
  out->n = 0;
  out->n_columns = apart ? p->n_devices : p->n_classes;
  out->devices = ARENA_ZERO(a, int32_t, out->n_columns);
  int32_t *column_device = ARENA_NEW(a, int32_t, out->n_columns); /* one that stands for all, -1: none may be used */
  out->time_ns = ARENA_NEW(a, int64_t, (int64_t)p->n_operators * out->n_columns);
  if (!out->devices || !column_device || !out->time_ns) return fail_no_memory(error);
  for (int32_t k = 0; k < out->n_columns; k++) column_device[k] = apart ? k : -1;
  for (int32_t d = 0; d < p->n_devices; d++) {
    int32_t k = apart ? d : p->class_of[d];
    if (p->unused[d] && !apart) continue;
    out->devices[k]++;
    column_device[k] = d;
  }
  for (int32_t v = 0; v < p->n_operators; v++) {
    int32_t group = p->graph->colocation[v];
    const int32_t *members = group >= 0 ? p->group_member + p->group_start[group] : &v;
    int32_t size = group >= 0 ? p->group_start[group + 1] - p->group_start[group] : 1;
    if (members[0] != v) continue;
    int64_t *row = out->time_ns + (int64_t)out->n++ * out->n_columns;
    for (int32_t k = 0; k < out->n_columns; k++) {
      row[k] = 0;
      for (int32_t i = 0; i < size; i++) {
        bool allowed = column_device[k] >= 0 && problem_allows(p, members[i], column_device[k]);
        row[k] = allowed ? sat_add(row[k], problem_time_ns(p, members[i], column_device[k])) : SITU_NEVER_NS;
      }
    }
  }
  return SITU_STATUS_OK;
}
