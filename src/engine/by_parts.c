#include "engine/by_parts.h"

#include <string.h>

#include "base/checked.h"
#include "base/fail.h"
#include "sim/engine_parts.h"

static bool predict(int64_t *latency_ns, int64_t *time_ns, const model_parts *parts, const situ_problem *p, arena *a) {
  int32_t *part_of, *device_of;
  if (!ARENA_ARRAYS(a, ARRAY(part_of, p->n_operators), ARRAY(device_of, parts->n_parts))) return false;
  for (int32_t k = 0; k < parts->n_parts; k++) device_of[k] = parts->parts[k].device;
  for (int32_t v = 0; v < p->n_operators; v++) {
    int32_t k = part_of[v] = parts->part_of[model_file_node(parts->file, p->graph->source_id[v])];
    if (k >= 0) time_ns[k] = sat_add(time_ns[k], problem_time_ns(p, v, device_of[k]));
  }
  if (!parts_known(p) || parts->n_parts < 2) return true;
  parts_model *m = parts_model_new(p, a);
  if (!m) return false;
  parts_set(m, part_of, device_of, parts->n_parts);
  *latency_ns = parts_latency_ns(m);
  memcpy(time_ns, m->time_ns, (size_t)parts->n_parts * sizeof *time_ns);
  return true;
}

situ_status by_parts_predict(int64_t *latency_ns, int64_t *time_ns, const model_parts *parts,
                             const situ_problem *problem, situ_error *error) {
  *latency_ns = 0;
  for (int32_t k = 0; k < parts->n_parts; k++) time_ns[k] = 0;
  arena *a = arena_new();
  bool room = a && predict(latency_ns, time_ns, parts, problem, a);
  arena_free(a);
  return room ? SITU_STATUS_OK : fail_no_memory(error);
}
