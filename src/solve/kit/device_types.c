#include "solve/kit/device_types.h"

#include "problem/replicas.h"

bool device_types_find(device_type **types, int32_t *n_types, const situ_problem *p, arena *a) {
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
                     !replicas_are_equal(p, d, found[t].devices[0])))
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
