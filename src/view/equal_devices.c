#include "view/equal_devices.h"

#include <string.h>

#include "base/csr.h"
#include "base/hash.h"
#include "view/footprint.h"

/* The properties that a level compares. */
enum { BYTES = 1, HOST = 2, PAYS = 4, STAGES = 8, SHARES = 16, PINS = 32, ROUTES = 64, CHANNELS = 128, POOL = 256 };

static const unsigned compared[] = {
    [EQUAL_ALONE] = BYTES | POOL | HOST,
    [EQUAL_LOADS] = PINS | PAYS,
    [EQUAL_STAGED] = PINS | BYTES | HOST | STAGES | SHARES, /* and POOL where pools bind */
    [EQUAL_TIMED] = PINS | ROUTES,
    [EQUAL_LINKED] = PINS | BYTES | POOL | HOST | ROUTES,
    [EQUAL_ALWAYS] = PINS | BYTES | POOL | HOST | STAGES | SHARES | ROUTES | CHANNELS,
};

/* What must agree in two devices, or 0 where it does not matter. All fields have one size, so that memcmp compares
 * them. */
typedef struct look {
  int64_t class_index, bytes, pool, host, pays, shares, from_host, to_host;
  int64_t memory;  /* the one that it shares, or -1 */
  uint64_t routes; /* a hash of all routes, in any order */
} look;

typedef struct finder {
  const situ_problem *problem;
  unsigned looks_at;
  bool *usable, *pinned; /* [device] */
  look *looks;           /* [device] */
  int32_t *first;        /* [type] */
  /* for channels: */
  int64_t *n_uses;           /* [channel] by all routes */
  int64_t *n_here;           /* [channel] by routes that the current swap moves */
  int32_t *image, *preimage; /* [channel] its destination, its source; -1: not yet known */
  int32_t one, other;        /* the two memories to swap */
} finder;

/* The kind of route from one memory to another; 0 only from a memory to itself. */
static int32_t kind(const situ_problem *p, int32_t m, int32_t w) {
  return p->costs->pair_kind[(int64_t)m * p->n_memories + w];
}

static bool shares_memory(const situ_problem *p, const bool *among, int32_t d) {
  for (int32_t e = 0; e < p->n_devices; e++)
    if (e != d && p->memory_of[e] == p->memory_of[d] && (!among || among[e])) return true;
  return false;
}

bool equal_devices_share_memory(const situ_problem *p, int32_t d) { return shares_memory(p, NULL, d); }

/* The pool of a memory, named by its last member, or -1 for a memory outside pools. */
static int32_t pool_of(const situ_platform *q, int32_t m) {
  if (q->heads_pool[m] && q->next_in_pool[m] < 0) return -1;
  while (q->next_in_pool[m] >= 0) m = q->next_in_pool[m];
  return m;
}

static look look_at(const situ_problem *p, unsigned looks_at, const bool *usable, int32_t d) {
  look l = {.class_index = p->class_of[d]};
  bool apart = !shares_memory(p, looks_at & PAYS ? usable : NULL, d);
  if (looks_at & BYTES) l.bytes = p->platform->memory_bytes[p->memory_of[d]];
  if (looks_at & POOL) l.pool = pool_of(p->platform, p->memory_of[d]);
  if (looks_at & HOST) l.host = problem_is_host(p, d);
  if (looks_at & PAYS) l.pays = !problem_is_host(p, d) && apart;
  if (looks_at & SHARES) l.shares = p->replicate && apart;
  if (looks_at & ROUTES) l.memory = apart ? -1 : p->memory_of[d];
  if (looks_at & STAGES || l.pays) {
    l.from_host = kind(p, p->memory_of[p->host], p->memory_of[d]);
    l.to_host = kind(p, p->memory_of[d], p->memory_of[p->host]);
  }
  return l;
}

static bool same_look(const look *a, const look *b) { return memcmp(a, b, sizeof *a) == 0; }

bool equal_devices_staged(const situ_problem *p, int32_t a, int32_t b) {
  look one = look_at(p, compared[EQUAL_STAGED], NULL, a), other = look_at(p, compared[EQUAL_STAGED], NULL, b);
  return same_look(&one, &other);
}

/* ---- routes ---- */

static uint64_t hash_routes(const situ_problem *p, int32_t d) {
  uint64_t sum = 0;
  for (int32_t m = p->memory_of[d], x = 0; x < p->n_memories; x++) {
    int32_t kinds[] = {kind(p, m, x), kind(p, x, m)};
    if (x != m) sum += hash_bytes(kinds, sizeof kinds, 0);
  }
  return sum;
}

static bool same_routes(const situ_problem *p, int32_t a, int32_t b) {
  int32_t m = p->memory_of[a], w = p->memory_of[b];
  if (kind(p, m, w) != kind(p, w, m)) return false;
  for (int32_t x = 0; x < p->n_memories; x++)
    if (x != m && x != w && (kind(p, m, x) != kind(p, w, x) || kind(p, x, m) != kind(p, x, w))) return false;
  return true;
}

/* ---- channels ---- */

static int32_t swapped(const finder *f, int32_t m) { return m == f->one ? f->other : m == f->other ? f->one : m; }

/* Counts the channels of a route that the swap moves. */
static bool count_route(finder *f, int32_t from, int32_t to) {
  const situ_platform *m = f->problem->platform;
  int64_t route = (int64_t)from * m->n_memories + to;
  for (int32_t k = m->route_start[route]; k < m->route_start[route + 1]; k++) {
    int32_t x = m->links[m->route_link[k]].channel;
    f->n_here[x]++;
    f->image[x] = f->preimage[x] = -1;
  }
  return true;
}

/* Keeps a channel in place if other routes use it too. */
static bool hold_route(finder *f, int32_t from, int32_t to) {
  const situ_platform *m = f->problem->platform;
  int64_t route = (int64_t)from * m->n_memories + to;
  for (int32_t k = m->route_start[route]; k < m->route_start[route + 1]; k++) {
    int32_t x = m->links[m->route_link[k]].channel;
    if (f->n_here[x] > 0 && f->n_here[x] < f->n_uses[x]) f->image[x] = f->preimage[x] = x;
    f->n_here[x] = 0;
  }
  return true;
}

/* Whether the swap maps a route to the route between the images of its ends. */
static bool map_route(finder *f, int32_t from, int32_t to) {
  const situ_platform *m = f->problem->platform;
  const int32_t *link_kind = f->problem->costs->link_kind;
  const int32_t *route = &m->route_start[(int64_t)from * m->n_memories + to];
  const int32_t *other = &m->route_start[(int64_t)swapped(f, from) * m->n_memories + swapped(f, to)];
  if (route[1] - route[0] != other[1] - other[0]) return false;
  for (int32_t k = 0; k < route[1] - route[0]; k++) {
    int32_t a = m->route_link[route[0] + k], b = m->route_link[other[0] + k];
    int32_t x = m->links[a].channel, y = m->links[b].channel;
    if (link_kind[a] != link_kind[b]) return false;
    if (f->image[x] < 0 && f->preimage[y] < 0) {
      f->image[x] = y;
      f->preimage[y] = x;
    }
    if (f->image[x] != y || f->preimage[y] != x) return false;
  }
  return true;
}

/* Calls visit for each route that begins or ends at one of the two memories. False when a call returns false. */
static bool each_route(finder *f, bool (*visit)(finder *, int32_t from, int32_t to)) {
  for (int32_t m = 0; m < f->problem->n_memories; m++) {
    if (!visit(f, f->one, m) || !visit(f, f->other, m)) return false;
    if (m != f->one && m != f->other && (!visit(f, m, f->one) || !visit(f, m, f->other))) return false;
  }
  return true;
}

static bool same_channels(finder *f, int32_t a, int32_t b) {
  f->one = f->problem->memory_of[a];
  f->other = f->problem->memory_of[b];
  return f->one == f->other || (each_route(f, count_route) && each_route(f, hold_route) && each_route(f, map_route));
}

static bool count_channels(finder *f, arena *a) {
  const situ_platform *m = f->problem->platform;
  int32_t n = m->n_channels;
  if (!ARENA_ARRAYS(a, ZEROS(f->n_uses, n), ZEROS(f->n_here, n), ARRAY(f->image, n), ARRAY(f->preimage, n)))
    return false;
  for (int32_t k = 0; k < m->route_start[(int64_t)m->n_memories * m->n_memories]; k++)
    f->n_uses[m->links[m->route_link[k]].channel]++;
  return true;
}

/* ---- types ---- */

static bool are_equal(finder *f, int32_t a, int32_t b) {
  return !f->pinned[a] && !f->pinned[b] && f->usable[a] == f->usable[b] && same_look(&f->looks[a], &f->looks[b]) &&
         (!(f->looks_at & ROUTES) || same_routes(f->problem, a, b)) &&
         (!(f->looks_at & CHANNELS) || same_channels(f, a, b));
}

static bool look_at_all(finder *f, arena *a) {
  const situ_problem *p = f->problem;
  int32_t n = p->n_devices;
  if (!ARENA_ARRAYS(a, ARRAY(f->usable, n), ZEROS(f->pinned, n), ARRAY(f->looks, n))) return false;
  for (int32_t v = 0; v < p->n_operators && f->looks_at & PINS; v++)
    if (p->pin[v] >= 0) f->pinned[p->pin[v]] = true;
  for (int32_t d = 0; d < n; d++) f->usable[d] = !p->unused[d] || f->pinned[d];
  for (int32_t d = 0; d < n; d++) {
    f->looks[d] = look_at(p, f->looks_at, f->usable, d);
    if (f->looks_at & ROUTES) f->looks[d].routes = hash_routes(p, d);
  }
  return !(f->looks_at & CHANNELS) || count_channels(f, a);
}

/* Finds the type of device d: the first type whose first device equals d, or a new one. */
static void find_type(equal_devices *out, finder *f, int32_t d) {
  int32_t t = 0;
  while (t < out->n_all && !are_equal(f, d, f->first[t])) t++;
  if (t == out->n_all) f->first[out->n_all++] = d;
  out->type_of[d] = t;
}

static void describe_types(equal_devices *out, const finder *f, const int32_t *start, int32_t *device) {
  const situ_problem *p = f->problem;
  for (int32_t t = 0; t < out->n_all; t++) {
    int32_t d = f->first[t], n = start[t + 1] - start[t];
    out->types[t] = (device_type){.n_devices = n,
                                  .devices = device + start[t],
                                  .is_host = problem_is_host(p, d),
                                  .pays = f->looks[d].pays,
                                  .max_sharing = f->looks[d].shares ? n : 1,
                                  .memory_bytes = p->platform->memory_bytes[p->memory_of[d]]};
  }
}

bool equal_devices_find(equal_devices *out, const situ_problem *p, device_equality level, arena *a) {
  finder f = {.problem = p, .looks_at = compared[level]};
  if (level == EQUAL_STAGED && !p->replicate && footprint_pools_bind(p)) f.looks_at |= POOL;
  int32_t n = p->n_devices, *start, *device;
  *out = (equal_devices){0};
  if (!ARENA_ARRAYS(a, ARRAY(out->types, n), ARRAY(out->type_of, n), ARRAY(device, n))) return false;
  arena_mark mark = arena_get_mark(a);
  if (!look_at_all(&f, a) || !ARENA_ARRAYS(a, ARRAY(f.first, n), ZEROS(start, (int64_t)n + 2))) return false;
  for (int unused = 0; unused < 2; unused++) {
    for (int32_t d = 0; d < n; d++)
      if (f.usable[d] == !unused) find_type(out, &f, d);
    if (!unused) out->n_types = out->n_all;
  }
  csr_fill(start, device, out->type_of, n, out->n_all);
  describe_types(out, &f, start, device);
  arena_release(a, mark);
  return true;
}
