#include "brute.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "problem/replicas.h"

static bool kept_together(const situ_problem *p, const int32_t *device) {
  for (int32_t v = 0; v < p->n_operators; v++)
    for (int32_t w = 0; w < v; w++)
      if (p->graph->colocation[v] >= 0 && p->graph->colocation[v] == p->graph->colocation[w] && device[v] != device[w])
        return false;
  return true;
}

/* Counts up in base n_devices, skipping devices that an operator may not use. False after the last. */
static bool next_placement(const situ_problem *p, int32_t *device) {
  for (int32_t v = 0; v < p->n_operators; v++) {
    do device[v]++;
    while (device[v] < p->n_devices && !problem_allows(p, v, device[v]));
    if (device[v] < p->n_devices) return true;
    device[v] = 0;
    while (device[v] < p->n_devices && !problem_allows(p, v, device[v])) device[v]++;
  }
  return false;
}

/* Counts up over the devices: -1 or a leader, in every way that keeps the rules. False after the last. */
static bool next_replicas(const situ_problem *p, const int32_t *device, int32_t *replica_of) {
  if (!p->replicate) return false;
  do {
    int32_t d = 0;
    while (d < p->n_devices && ++replica_of[d] == p->n_devices) replica_of[d++] = -1;
    if (d == p->n_devices) return false;
  } while (!replicas_keep_rules(p, device, replica_of));
  return true;
}

int64_t brute_force(const situ_problem *p, int32_t *best) {
  arena *a = arena_new();
  simulator *s = simulator_new(p, a);
  int32_t *device = ARENA_ZERO(a, int32_t, p->n_operators);
  int64_t value = SITU_NEVER_NS;
  int32_t *replica_of = ARENA_NEW(a, int32_t, p->n_devices);
  assert_non_null(s);
  assert_non_null(replica_of);
  for (int32_t d = 0; d < p->n_devices; d++) replica_of[d] = -1;
  for (int32_t v = 0; v < p->n_operators; v++) {
    while (device[v] < p->n_devices && !problem_allows(p, v, device[v])) device[v]++;
    if (device[v] == p->n_devices) goto done;
  }
  do {
    if (!kept_together(p, device)) continue;
    do {
      simulation found = simulator_run(s, &(placement){.device = device, .replica_of = replica_of}, true);
      if (found.excess_bytes > 0 || found.value_ns >= value) continue;
      value = found.value_ns;
      if (best) memcpy(best, device, (size_t)p->n_operators * sizeof *best);
    } while (next_replicas(p, device, replica_of));
  } while (next_placement(p, device));
done:
  arena_free(a);
  return value;
}
