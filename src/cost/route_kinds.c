#include <string.h>

#include "base/c_locale.h"
#include "base/hash.h"
#include "cost/costs.h"
#include "platform/platform.h"

/* The kind of a route with several hops is the pair (kind of its first link, kind of the rest). The rest is a route
 * itself: routes to one memory form a tree. */
typedef struct finder {
  arena *arena;
  const situ_platform *platform;
  string_map *known;          /* text of (first, rest) -> kind */
  int32_t *first_link, *rest; /* of each kind */
  int32_t n_kinds, capacity;
} finder;

static bool grow(finder *f) {
  if (f->n_kinds < f->capacity) return true;
  int32_t capacity = f->capacity ? f->capacity * 2 : 64;
  int32_t *first_link, *rest;
  if (!ARENA_ARRAYS(f->arena, ARRAY(first_link, capacity), ARRAY(rest, capacity))) return false;
  size_t old = (size_t)f->n_kinds * sizeof(int32_t);
  if (old > 0) {
    memcpy(first_link, f->first_link, old);
    memcpy(rest, f->rest, old);
  }
  f->first_link = first_link;
  f->rest = rest;
  f->capacity = capacity;
  return true;
}

/* The kind stored under `key`, created if new. -1 without memory. */
static int32_t intern(finder *f, const char *key, int32_t link, int32_t rest) {
  int64_t found = string_map_get(f->known, key);
  if (found >= 0) return (int32_t)found;
  const char *kept = arena_string(f->arena, key);
  if (!kept || !grow(f) || string_map_put(f->known, kept, f->n_kinds) < 0) return -1;
  f->first_link[f->n_kinds] = link;
  f->rest[f->n_kinds] = rest;
  return f->n_kinds++;
}

static int32_t kind_of_link(finder *f, int32_t link) {
  char key[64];
  const situ_link *l = &f->platform->links[link];
  c_locale_print(key, sizeof key, "%lld ns, %a", (long long)l->latency_ns, l->bytes_per_s);
  return intern(f, key, link, 0);
}

/* Encodes the pair as a text: seven bits in each character, none of them 0. */
static int32_t kind_of_hops(finder *f, int32_t link, int32_t link_kind, int32_t rest) {
  if (rest == 0) return link_kind;
  char key[11];
  for (int i = 0; i < 5; i++) {
    key[i] = (char)(0x80 | ((uint32_t)link_kind >> (7 * i) & 0x7f));
    key[5 + i] = (char)(0x80 | ((uint32_t)rest >> (7 * i) & 0x7f));
  }
  key[10] = '\0';
  return intern(f, key, link, rest);
}

/* Walks the route backward from its first memory whose kind is known already. */
static bool find_pair(finder *f, route_kinds *out, int32_t from, int32_t to) {
  const situ_platform *p = f->platform;
  int64_t n = p->n_memories, pair = from * n + to;
  int32_t first = p->route_start[pair], known = first;
  while (known < p->route_start[pair + 1] && out->pair_kind[p->link_from[p->route_link[known]] * n + to] < 0) known++;
  while (known-- > first) {
    int32_t link = p->route_link[known];
    int32_t rest = out->pair_kind[p->link_to[link] * n + to];
    int32_t kind = kind_of_hops(f, link, out->link_kind[link], rest);
    if (kind < 0) return false;
    out->pair_kind[p->link_from[link] * n + to] = kind;
  }
  return true;
}

bool route_kinds_find(route_kinds *out, arena *a, const situ_platform *p) {
  finder f = {.arena = a, .platform = p, .known = string_map_new(a, 0)};
  int64_t n = p->n_memories;
  *out = (route_kinds){.pair_kind = ARENA_NEW(a, int32_t, n * n), .link_kind = ARENA_NEW(a, int32_t, p->n_links)};
  if (!f.known || !out->pair_kind || !out->link_kind || intern(&f, "none", -1, 0) < 0) return false;
  for (int32_t l = 0; l < p->n_links; l++)
    if ((out->link_kind[l] = kind_of_link(&f, l)) < 0) return false;
  for (int64_t i = 0; i < n * n; i++) out->pair_kind[i] = i % (n + 1) == 0 ? 0 : -1;
  for (int32_t from = 0; from < n; from++)
    for (int32_t to = 0; to < n; to++)
      if (!find_pair(&f, out, from, to)) return false;
  out->n_kinds = f.n_kinds;
  out->first_link = f.first_link;
  out->rest = f.rest;
  return true;
}
