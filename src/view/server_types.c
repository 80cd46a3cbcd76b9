#include "view/server_types.h"

#include <string.h>

#include "view/equal_devices.h"

typedef struct finder {
  const situ_problem *problem;
  int32_t n; /* devices that are considered */
  int32_t *device;
  bool *pinned;                /* [device of the problem] */
  equal_devices alone, linked; /* at EQUAL_ALONE and EQUAL_LINKED */
} finder;

static int32_t kind(const situ_problem *p, int32_t a, int32_t b) {
  return p->device_kind[(int64_t)a * p->n_devices + b];
}

/* Whether one list of devices can be swapped with another, one by one: links among them and to all others are equal. */
static bool may_swap(const finder *f, const int32_t *one, const int32_t *other, int32_t n) {
  const situ_problem *p = f->problem;
  for (int32_t i = 0; i < n; i++) {
    int32_t a = one[i], b = other[i];
    if (f->pinned[a] || f->pinned[b] || f->alone.type_of[a] != f->alone.type_of[b]) return false;
    for (int32_t j = 0; j < n; j++) {
      if (i != j && kind(p, a, one[j]) != kind(p, b, other[j])) return false;
      if (kind(p, a, other[j]) != kind(p, b, one[j])) return false;
    }
    for (int32_t k = 0; k < f->n; k++) {
      int32_t x = f->device[k];
      bool outside = true;
      for (int32_t j = 0; j < n && outside; j++) outside = x != one[j] && x != other[j];
      if (outside && (kind(p, a, x) != kind(p, b, x) || kind(p, x, a) != kind(p, x, b))) return false;
    }
  }
  return true;
}

static bool find_devices(finder *f, arena *a) {
  const situ_problem *p = f->problem;
  int32_t *of_memory;
  if (!ARENA_ARRAYS(a, ARRAY(of_memory, p->n_memories), ARRAY(f->device, p->n_devices), ZEROS(f->pinned, p->n_devices)))
    return false;
  for (int32_t v = 0; v < p->n_operators; v++)
    if (p->pin[v] >= 0) f->pinned[p->pin[v]] = true;
  for (int32_t m = 0; m < p->n_memories; m++) of_memory[m] = -1;
  for (int32_t d = p->n_devices - 1; d >= 0; d--) {
    int32_t *now = &of_memory[p->memory_of[d]];
    if (!f->pinned[d] && (p->unused[d] || (*now >= 0 && f->pinned[*now]))) continue;
    *now = d;
  }
  for (int32_t d = 0; d < p->n_devices; d++)
    if (of_memory[p->memory_of[d]] == d) f->device[f->n++] = d;
  return true;
}

static bool sort_places(server_type *t, const finder *f, arena *a) {
  int32_t n = t->n_places;
  if (!ARENA_ARRAYS(a, ARRAY(t->type_of, n), ZEROS(t->count, n), ARRAY(t->place, (int64_t)n * n))) return false;
  for (int32_t i = 0; i < n; i++) {
    int32_t k = 0;
    while (k < t->n_types && f->linked.type_of[t->device[i]] != f->linked.type_of[t->device[t->place[(int64_t)k * n]]])
      k++;
    t->n_types += k == t->n_types;
    t->type_of[i] = k;
    t->place[(int64_t)k * n + t->count[k]++] = i;
  }
  return true;
}

/* Lists the devices of a server that are considered. Returns how many. */
static int32_t list_server(int32_t *into, const finder *f, int32_t server) {
  int32_t n = 0;
  for (int32_t k = 0; k < f->n; k++)
    if (f->problem->platform->devices[f->device[k]].server == server) into[n++] = f->device[k];
  return n;
}

bool server_types_find(server_type **out, int32_t *n_out, const situ_problem *p, arena *a) {
  int32_t n_servers = p->platform->n_servers, n_types = 0;
  finder f = {.problem = p};
  server_type *types = ARENA_ZERO(a, server_type, n_servers);
  int32_t *members = ARENA_NEW(a, int32_t, p->n_devices);
  if (!types || !members || !find_devices(&f, a) || !equal_devices_find(&f.alone, p, EQUAL_ALONE, a) ||
      !equal_devices_find(&f.linked, p, EQUAL_LINKED, a))
    return false;
  for (int32_t s = 0; s < n_servers; s++) {
    int32_t n = list_server(members, &f, s), k = 0;
    if (n == 0) continue;
    while (k < n_types && (types[k].n_places != n || !may_swap(&f, members, types[k].device, n))) k++;
    server_type *t = &types[k];
    if (k == n_types) {
      n_types++;
      t->n_places = n;
      if (!(t->device = ARENA_NEW(a, int32_t, (int64_t)n * (n_servers - s)))) return false;
    }
    memcpy(t->device + (int64_t)t->n_servers++ * n, members, (size_t)n * sizeof *members);
  }
  for (int32_t k = 0; k < n_types; k++)
    if (!sort_places(&types[k], &f, a)) return false;
  *out = types;
  *n_out = n_types;
  return true;
}
