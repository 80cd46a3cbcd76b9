#include "view/interchangeable.h"

#include "view/replicas.h"

typedef struct swap {
  const situ_problem *problem;
  int32_t one, other; /* memories that change places */
  int32_t *to, *from; /* [channel] where it goes, and what comes there; -1: not yet known */
} swap;

static int32_t image(const swap *s, int32_t m) { return m == s->one ? s->other : m == s->other ? s->one : m; }

/* Whether the route between two memories becomes that between their images. */
static bool maps_route(swap *s, int32_t from, int32_t to) {
  const situ_problem *p = s->problem;
  const situ_platform *f = p->platform;
  const int32_t *route = &f->route_start[(int64_t)from * p->n_memories + to];
  const int32_t *other = &f->route_start[(int64_t)image(s, from) * p->n_memories + image(s, to)];
  if (route[1] - route[0] != other[1] - other[0]) return false;
  for (int32_t k = 0; k < route[1] - route[0]; k++) {
    int32_t a = f->route_link[route[0] + k], b = f->route_link[other[0] + k];
    int32_t x = f->links[a].channel, y = f->links[b].channel;
    if (p->costs->link_kind[a] != p->costs->link_kind[b]) return false;
    if (s->to[x] < 0 && s->from[y] < 0) {
      s->to[x] = y;
      s->from[y] = x;
    }
    if (s->to[x] != y || s->from[y] != x) return false;
  }
  return true;
}

static bool maps_all(swap *s) {
  const situ_problem *p = s->problem;
  for (int32_t c = 0; c < p->platform->n_channels; c++) s->to[c] = s->from[c] = -1;
  for (int32_t from = 0; from < p->n_memories; from++)
    for (int32_t to = 0; to < p->n_memories; to++)
      if (!maps_route(s, from, to)) return false;
  return true;
}

static bool is_alone(const situ_problem *p, int32_t d) {
  for (int32_t e = 0; e < p->n_devices; e++)
    if (e != d && p->memory_of[e] == p->memory_of[d]) return false;
  return true;
}

bool interchangeable_find(bool **twin, const situ_problem *p, arena *a) {
  int64_t nd = p->n_devices;
  bool *pinned = ARENA_ZERO(a, bool, nd);
  swap s = {.problem = p,
            .to = ARENA_NEW(a, int32_t, p->platform->n_channels),
            .from = ARENA_NEW(a, int32_t, p->platform->n_channels)};
  *twin = ARENA_ZERO(a, bool, nd *nd);
  if (!pinned || !s.to || !s.from || !*twin) return false;
  for (int32_t v = 0; v < p->n_operators; v++)
    if (p->pin[v] >= 0) pinned[p->pin[v]] = true;
  for (int32_t d = 0; d < nd; d++)
    for (int32_t e = 0; e < d; e++) {
      s.one = p->memory_of[d];
      s.other = p->memory_of[e];
      if (pinned[d] || pinned[e] || p->unused[d] != p->unused[e] || !replicas_are_equal(p, d, e)) continue;
      if (s.one != s.other && (!is_alone(p, d) || !is_alone(p, e))) continue;
      (*twin)[d * nd + e] = (*twin)[e * nd + d] = s.one == s.other || maps_all(&s);
    }
  return true;
}
