#include "view/device_types.h"

#include "view/replicas.h"

/* Whether no route tells the two apart. */
static bool are_twins(const situ_problem *p, int32_t a, int32_t b) {
  int64_t nd = p->n_devices;
  if (!replicas_are_equal(p, a, b) || p->device_kind[a * nd + b] != p->device_kind[b * nd + a]) return false;
  for (int32_t c = 0; c < nd; c++)
    if (c != a && c != b &&
        (p->device_kind[a * nd + c] != p->device_kind[b * nd + c] ||
         p->device_kind[c * nd + a] != p->device_kind[c * nd + b]))
      return false;
  return true;
}

static bool find_types(device_type **types, int32_t *n_types, const situ_problem *p,
                       bool (*are_one)(const situ_problem *, int32_t, int32_t), arena *a) {
  bool *alone = ARENA_ZERO(a, bool, p->n_devices);
  device_type *found = ARENA_ZERO(a, device_type, p->n_devices);
  int32_t n = 0;
  if (!alone || !found) return false;
  for (int32_t v = 0; v < p->n_operators; v++)
    if (p->pin[v] >= 0) alone[p->pin[v]] = true;
  for (int32_t d = 0; d < p->n_devices; d++) {
    if (p->unused[d] && !alone[d]) continue;
    int32_t t = 0;
    bool shares = replicas_may_have(p, d);
    while (t < n && (alone[d] || alone[found[t].devices[0]] || shares != (found[t].most_sharing > 0) ||
                     !are_one(p, d, found[t].devices[0])))
      t++;
    device_type *type = &found[t];
    if (t == n) {
      n++;
      type->devices = ARENA_NEW(a, int32_t, p->n_devices - d);
      if (!type->devices) return false;
      type->is_host = problem_is_host(p, d);
      type->memory_bytes = p->platform->memory_bytes[p->memory_of[d]];
    }
    type->devices[type->n_devices++] = d;
    type->most_sharing += shares;
  }
  for (int32_t t = 0; t < n; t++)
    if (found[t].most_sharing == 0) found[t].most_sharing = 1;
  *types = found;
  *n_types = n;
  return true;
}

bool device_types_find(device_type **types, int32_t *n_types, const situ_problem *p, arena *a) {
  return find_types(types, n_types, p, replicas_are_equal, a);
}

bool device_twins_find(device_type **types, int32_t *n_types, const situ_problem *p, arena *a) {
  return find_types(types, n_types, p, are_twins, a);
}
