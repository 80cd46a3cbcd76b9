#include "brute.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

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

int64_t brute_force(const situ_problem *p, int32_t *best) {
  arena *a = arena_new();
  simulator *s = simulator_new(p, a);
  int32_t *device = ARENA_ZERO(a, int32_t, p->n_operators);
  int64_t value = SITU_NEVER_NS;
  assert_non_null(s);
  for (int32_t v = 0; v < p->n_operators; v++) {
    while (device[v] < p->n_devices && !problem_allows(p, v, device[v])) device[v]++;
    if (device[v] == p->n_devices) goto done;
  }
  do {
    if (!kept_together(p, device)) continue;
    simulation found = simulator_run(s, &(placement){.device = device}, true);
    if (found.excess_bytes > 0 || found.value_ns >= value) continue;
    value = found.value_ns;
    if (best) memcpy(best, device, (size_t)p->n_operators * sizeof *best);
  } while (next_placement(p, device));
done:
  arena_free(a);
  return value;
}

/* The best over all ranks of operators from v on: those of one device and rank are a call, calls go by rank. */
static int64_t try_ranks(const situ_problem *p, simulator *s, int32_t *device, int32_t *rank, int32_t v) {
  int32_t n = p->n_operators, call[16], n_calls = 0;
  int64_t best = SITU_NEVER_NS;
  if (v < n) {
    int32_t beside = 0;
    for (int32_t w = 0; w < n; w++) beside += device[w] == device[v];
    if (problem_is_host(p, device[v])) beside = 1;
    for (rank[v] = 0; rank[v] < beside; rank[v]++) {
      int64_t value = try_ranks(p, s, device, rank, v + 1);
      best = value < best ? value : best;
    }
    return best;
  }
  for (int32_t w = 0; w < n; w++) call[w] = -1;
  for (int32_t d = 0; d < p->n_devices; d++) {
    bool done = problem_is_host(p, d);
    for (int32_t r = 0; r < n && !done; r++) {
      bool found = false, beyond = false;
      for (int32_t w = 0; w < n; w++) {
        if (device[w] != d) continue;
        found |= rank[w] == r;
        beyond |= rank[w] > r;
        if (rank[w] == r) call[w] = n_calls;
      }
      if (!found && beyond) return SITU_NEVER_NS; /* the same as with ranks without gaps */
      n_calls += found;
      done = !beyond;
    }
  }
  simulation found = simulator_run(s, &(placement){.device = device, .call = call}, true);
  return found.excess_bytes > 0 ? SITU_NEVER_NS : found.value_ns;
}

int64_t brute_force_calls(const situ_problem *p) {
  arena *a = arena_new();
  simulator *s = simulator_new(p, a);
  int32_t device[16] = {0}, rank[16];
  int64_t best = SITU_NEVER_NS;
  assert_non_null(s);
  assert_true(p->n_operators <= 16);
  bool some = true;
  for (int32_t v = 0; v < p->n_operators; v++) {
    while (device[v] < p->n_devices && !problem_allows(p, v, device[v])) device[v]++;
    some &= device[v] < p->n_devices;
  }
  while (some) {
    int64_t value = kept_together(p, device) ? try_ranks(p, s, device, rank, 0) : SITU_NEVER_NS;
    best = value < best ? value : best;
    some = next_placement(p, device);
  }
  arena_free(a);
  return best;
}
