/* Joins. Suppose that v starts on d by s. Let W be the nearest operators before v. By induction backward from v, an
 * operator u of W on a ends at least
 *
 *     rest(u,a) = max over users x in W or v of min over b of (c(u,a,b) + p(x,b) + rest(x,b))
 *
 * before v starts, where b is a device on which x is in time: head(x,b) + rest(x,b) <= s. An operator without such a
 * device refutes s. Operators whose devices in time all share the memory of d, k devices in all, are forced there.
 * Those among them that start at r or later run between r and s, which refutes s when their work is more than k (s -
 * r).
 *
 * Then each fork of W, an operator that several of W and v wait for, is fixed on one device at a time. What follows the
 * fork may end later for that. s is refuted when all devices of one fork refute it.
 *
 * head(v,d) = p(v,d) + the minimum s that chains allow and joins do not refute. A larger s only admits more devices, so
 * bisection finds it. Tails are the same with all edges reversed. */
#include "bound/joins.h"

#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "base/compare.h"
#include "base/contracts.h"
#include "view/equal_devices.h"

enum { MAX_DEVICES = 64, WIDEST = 32, NARROWEST = 4, FIRST_STEP = 64 };
static const double MAX_WORK = 1.5e7;

typedef struct forced {
  int64_t release, work;
} forced;

typedef struct candidate {
  int64_t release;
  int32_t v;
} candidate;

/* One direction: the operators `before` another are its producers, or its users when edges are reversed. */
typedef struct direction {
  bool backward;
  int32_t *start, *before, *tensor; /* of v: start[v] .. start[v+1] */
} direction;

struct joins {
  const situ_problem *p;
  int32_t n, n_devices, width;
  direction directions[2];
  uint64_t together[MAX_DEVICES];   /* devices that share the memory of d */
  equal_devices equal;              /* at EQUAL_TIMED */
  int32_t like[MAX_DEVICES];        /* the first device equivalent to d: what holds for it holds for d */
  int32_t *slot;                    /* [n] place in W, or -1; -2: a candidate */
  candidate *candidates;            /* [n] heap or list of candidates for W */
  int32_t *member, n_members;       /* W, the nearest to v first */
  int32_t *fork, n_forks;           /* [width] places of forks in W */
  int64_t *local, *rest;            /* [width * n_devices] ends of members, as far as known within W; see above */
  uint64_t *in_time, *in_time_then; /* [width] devices on which a member is in time; the same with a fork fixed */
  bool *moved;                      /* [width] comes after the fixed fork */
  forced *forced;                   /* [width] */
  /* the direction at hand: */
  const direction *on;
  const bool *may;
  int64_t *end; /* [n * n_devices] known so far */
};

static double work_of(const situ_problem *p, int32_t width) {
  return (double)(p->n_operators + p->graph->n_uses) * p->n_devices * width * width;
}

int32_t joins_width(const situ_problem *p) {
  int32_t width = WIDEST;
  if (p->execution != SITU_EXECUTION_STREAM || p->n_devices > MAX_DEVICES) return 0;
  while (width >= NARROWEST && work_of(p, width) > MAX_WORK) width /= 2;
  return width >= NARROWEST ? width : 0;
}

static bool direction_init(direction *dir, const situ_problem *p, bool backward, arena *a) {
  const situ_graph *g = p->graph;
  int32_t n = 0;
  *dir = (direction){.backward = backward,
                     .start = ARENA_NEW(a, int32_t, (int64_t)p->n_operators + 1),
                     .before = ARENA_NEW(a, int32_t, g->n_uses),
                     .tensor = ARENA_NEW(a, int32_t, g->n_uses)};
  if (!dir->start || !dir->before || !dir->tensor) return false;
  for (int32_t v = 0; v < p->n_operators; v++) {
    dir->start[v] = n;
    for (int64_t i = g->in_start[v]; i < g->in_start[v + 1] && !backward; i++) {
      dir->before[n] = g->producer[g->in[i]];
      dir->tensor[n++] = g->in[i];
    }
    for (int32_t t = g->out_start[v]; t < g->out_start[v + 1] && backward; t++)
      for (int64_t i = g->use_start[t]; i < g->use_start[t + 1]; i++) {
        dir->before[n] = g->use[i];
        dir->tensor[n++] = t;
      }
  }
  dir->start[p->n_operators] = n;
  return true;
}

joins *joins_new(const situ_problem *p, int32_t width, arena *a) {
  REQUIRE(width > 0);
  joins *j = ARENA_ZERO(a, joins, 1);
  if (!j) return NULL;
  j->p = p;
  j->n = p->n_operators;
  j->n_devices = p->n_devices;
  j->width = width;
  int64_t cells = (int64_t)width * j->n_devices;
  if (!ARENA_ARRAYS(a, ARRAY(j->slot, j->n), ARRAY(j->candidates, j->n), ARRAY(j->member, width), ARRAY(j->fork, width),
                    ARRAY(j->local, cells), ARRAY(j->rest, cells), ARRAY(j->in_time, width),
                    ARRAY(j->in_time_then, width), ARRAY(j->moved, width), ARRAY(j->forced, width)) ||
      !equal_devices_find(&j->equal, p, EQUAL_TIMED, a))
    return NULL;
  for (int32_t v = 0; v < j->n; v++) j->slot[v] = -1;
  for (int32_t d = 0; d < j->n_devices; d++)
    for (int32_t e = 0; e < j->n_devices; e++)
      if (p->memory_of[d] == p->memory_of[e]) j->together[d] |= (uint64_t)1 << e;
  return direction_init(&j->directions[0], p, false, a) && direction_init(&j->directions[1], p, true, a) ? j : NULL;
}

/* Time of tensor t from a to b, in the current direction. */
static int64_t transfer(const joins *j, int32_t t, int32_t a, int32_t b) {
  return j->on->backward ? problem_transfer_ns(j->p, t, b, a) : problem_transfer_ns(j->p, t, a, b);
}

/* When tensor t can be on d, given the ends of its producer by device. */
static int64_t arrival(const joins *j, const int64_t *end, int32_t t, int32_t d) {
  int64_t min = SITU_NEVER_NS;
  for (int32_t a = 0; a < j->n_devices; a++)
    if (end[a] != SITU_NEVER_NS) min = min64(min, sat_add(end[a], transfer(j, t, a, d)));
  return min;
}

/* ---- W ---- */

static int64_t release_of(const joins *j, int32_t u) {
  int64_t min = SITU_NEVER_NS;
  for (int32_t d = 0; d < j->n_devices; d++)
    if (j->may[(int64_t)u * j->n_devices + d])
      min = min64(min, j->end[(int64_t)u * j->n_devices + d] - problem_time_ns(j->p, u, d));
  return min;
}

/* Whether x is nearer than y to what comes after both. */
static bool is_nearer(const joins *j, int32_t x, int32_t y) { return j->on->backward ? x < y : x > y; }

static bool is_better(const joins *j, const candidate *x, const candidate *y) {
  return x->release != y->release ? x->release > y->release : is_nearer(j, x->v, y->v);
}

/* Finds W of v by repeatedly taking the latest-starting operator before v or before one already taken. Sorts it by
 * nearness. */
static void look_before(joins *j, int32_t v) {
  int32_t n = 0;
  j->n_members = 0;
  for (int32_t last = v;; last = j->member[j->n_members - 1]) {
    for (int32_t i = j->on->start[last]; i < j->on->start[last + 1]; i++) {
      int32_t u = j->on->before[i];
      if (j->slot[u] != -1) continue;
      j->slot[u] = -2;
      j->candidates[n++] = (candidate){release_of(j, u), u};
    }
    if (n == 0 || j->n_members == j->width) break;
    int32_t best = 0;
    for (int32_t i = 1; i < n; i++)
      if (is_better(j, &j->candidates[i], &j->candidates[best])) best = i;
    j->member[j->n_members++] = j->candidates[best].v;
    j->candidates[best] = j->candidates[--n];
  }
  for (int32_t i = 0; i < n; i++) j->slot[j->candidates[i].v] = -1;
  for (int32_t i = 1; i < j->n_members; i++) {
    int32_t u = j->member[i], k = i;
    for (; k > 0 && is_nearer(j, u, j->member[k - 1]); k--) j->member[k] = j->member[k - 1];
    j->member[k] = u;
  }
  for (int32_t i = 0; i < j->n_members; i++) j->slot[j->member[i]] = i;
}

/* Finds the members with several edges to members and v. */
static void find_forks(joins *j, int32_t v) {
  const direction *after = &j->directions[!j->on->backward];
  j->n_forks = 0;
  for (int32_t k = 0; k < j->n_members; k++) {
    int32_t u = j->member[k], n = 0;
    for (int32_t i = after->start[u]; i < after->start[u + 1]; i++)
      n += after->before[i] == v || j->slot[after->before[i]] >= 0;
    if (n > 1) j->fork[j->n_forks++] = k;
  }
}

static void forget(joins *j) {
  for (int32_t i = 0; i < j->n_members; i++) j->slot[j->member[i]] = -1;
}

/* ---- one s ---- */

/* Raises the rests of the operators before x, given from[b], the time from the start of x on b to that of v. */
static void raise_rests(joins *j, int32_t x, const int64_t *from) {
  for (int32_t i = j->on->start[x]; i < j->on->start[x + 1]; i++) {
    int32_t at = j->slot[j->on->before[i]];
    if (at < 0) continue;
    for (int32_t a = 0; a < j->n_devices; a++) {
      int64_t min = SITU_NEVER_NS, *rest = &j->rest[at * j->n_devices + a];
      for (int32_t b = 0; b < j->n_devices; b++)
        if (from[b] != SITU_NEVER_NS) min = min64(min, sat_add(from[b], transfer(j, j->on->tensor[i], a, b)));
      *rest = max64(*rest, min);
    }
  }
}

/* The devices on which member i is in time for s; from[] as above. *where receives its times there if it is forced. */
static uint64_t devices_in_time(const joins *j, int32_t i, int64_t s, int64_t *from, forced *where) {
  uint64_t devices = 0;
  *where = (forced){SITU_NEVER_NS, SITU_NEVER_NS};
  for (int32_t a = 0; a < j->n_devices; a++) {
    int64_t end = j->local[i * j->n_devices + a], rest = j->rest[i * j->n_devices + a];
    from[a] = SITU_NEVER_NS;
    if (end == SITU_NEVER_NS || sat_add(end, rest) > s) continue;
    int64_t time = problem_time_ns(j->p, j->member[i], a);
    from[a] = sat_add(rest, time);
    where->release = min64(where->release, end - time);
    where->work = min64(where->work, time);
    devices |= (uint64_t)1 << a;
  }
  return devices;
}

COMPARATOR(latest_first, forced, DOWN(release) UP(work))

/* Whether the local ends show that v cannot start on d by s < SITU_NEVER_NS. Fills devices[] of the members
 * examined. */
static bool is_late(joins *j, int32_t v, int32_t d, int64_t s, uint64_t *devices) {
  int64_t from[MAX_DEVICES], n_together = __builtin_popcountll(j->together[d]), work = 0;
  int32_t n = 0;
  for (int32_t i = 0; i < j->n_members * j->n_devices; i++) j->rest[i] = 0;
  for (int32_t b = 0; b < j->n_devices; b++) from[b] = b == d ? 0 : SITU_NEVER_NS;
  raise_rests(j, v, from);
  for (int32_t i = 0; i < j->n_members; i++) {
    devices[i] = devices_in_time(j, i, s, from, &j->forced[n]);
    if (!devices[i]) return true;
    if (!(devices[i] & ~j->together[d])) n++;
    raise_rests(j, j->member[i], from);
  }
  qsort(j->forced, (size_t)n, sizeof *j->forced, latest_first);
  for (int32_t i = 0; i < n; i++) {
    work = sat_add(work, j->forced[i].work);
    if (work > sat_mul(n_together, s - j->forced[i].release)) return true;
  }
  return false;
}

static void know_ends(joins *j) {
  for (int32_t i = 0; i < j->n_members; i++)
    memcpy(j->local + (int64_t)i * j->n_devices, j->end + (int64_t)j->member[i] * j->n_devices,
           (size_t)j->n_devices * sizeof *j->local);
}

/* Raises the local ends of member i through predecessors that have moved. */
static void follow_moved(joins *j, int32_t i) {
  int32_t u = j->member[i];
  for (int32_t k = j->on->start[u]; k < j->on->start[u + 1]; k++) {
    int32_t at = j->slot[j->on->before[k]];
    if (at < 0 || !j->moved[at]) continue;
    j->moved[i] = true;
    for (int32_t a = 0; a < j->n_devices; a++) {
      int64_t *end = &j->local[i * j->n_devices + a];
      if (*end == SITU_NEVER_NS) continue;
      int64_t soonest = arrival(j, j->local + (int64_t)at * j->n_devices, j->on->tensor[k], a);
      *end = max64(*end, sat_add(soonest, problem_time_ns(j->p, u, a)));
    }
  }
}

/* Whether v is late when member x is fixed on device b. */
static bool is_late_with(joins *j, int32_t v, int32_t d, int64_t s, int32_t x, int32_t b) {
  know_ends(j);
  for (int32_t a = 0; a < j->n_devices; a++)
    if (a != b) j->local[x * j->n_devices + a] = SITU_NEVER_NS;
  for (int32_t i = 0; i < j->n_members; i++) j->moved[i] = i == x;
  for (int32_t i = x - 1; i >= 0; i--) follow_moved(j, i);
  return is_late(j, v, d, s, j->in_time_then);
}

/* Whether v cannot start on d by s < SITU_NEVER_NS. */
static bool refutes(joins *j, int32_t v, int32_t d, int64_t s) {
  know_ends(j);
  if (is_late(j, v, d, s, j->in_time)) return true;
  for (int32_t k = 0; k < j->n_forks; k++) {
    bool late = true;
    for (int32_t b = 0; b < j->n_devices && late; b++)
      if (j->in_time[j->fork[k]] >> b & 1) late = is_late_with(j, v, d, s, j->fork[k], b);
    if (late) return true;
  }
  return false;
}

/* The minimum s >= `start` that is not refuted. */
static int64_t min_start(joins *j, int32_t v, int32_t d, int64_t start) {
  if (start == SITU_NEVER_NS || !refutes(j, v, d, start)) return start;
  int64_t closed = start, step = start / FIRST_STEP + 1, open;
  for (;; step = sat_mul(step, 2)) {
    open = sat_add(closed, step);
    if (open == SITU_NEVER_NS || !refutes(j, v, d, open)) break;
    closed = open;
  }
  while (open - closed > 1) {
    int64_t middle = closed + (open - closed) / 2;
    if (refutes(j, v, d, middle))
      closed = middle;
    else
      open = middle;
  }
  return open;
}

/* ---- all operators ---- */

/* Finds interchangeable devices: equal in type and in which operators may run there. */
static void find_like(joins *j, const bool *may) {
  for (int32_t d = 0; d < j->n_devices; d++) {
    j->like[d] = d;
    for (int32_t e = 0; e < d && j->like[d] == d; e++) {
      bool same = j->like[e] == e && j->equal.type_of[d] == j->equal.type_of[e];
      for (int64_t i = 0; i < (int64_t)j->n * j->n_devices && same; i += j->n_devices) same = may[i + d] == may[i + e];
      if (same) j->like[d] = e;
    }
  }
}

static int64_t chain_start(const joins *j, int32_t v, int32_t d) {
  int64_t start = 0;
  for (int32_t i = j->on->start[v]; i < j->on->start[v + 1]; i++)
    start = max64(start, arrival(j, j->end + (int64_t)j->on->before[i] * j->n_devices, j->on->tensor[i], d));
  return start;
}

static bool find_ends(joins *j, const direction *dir, int64_t *end, const bool *may, budget *b) {
  j->on = dir;
  j->may = may;
  j->end = end;
  for (int32_t k = 0; k < j->n; k++) {
    int32_t v = dir->backward ? j->n - 1 - k : k;
    if (k % 16 == 0 && budget_over(b)) return false;
    look_before(j, v);
    find_forks(j, v);
    for (int32_t d = 0; d < j->n_devices; d++) {
      int64_t at = (int64_t)v * j->n_devices + d;
      if (j->like[d] < d) {
        end[at] = end[at - d + j->like[d]];
        continue;
      }
      int64_t start = may[at] ? chain_start(j, v, d) : SITU_NEVER_NS;
      if (j->n_members > 1) start = min_start(j, v, d, start);
      end[at] = may[at] ? sat_add(start, problem_time_ns(j->p, v, d)) : SITU_NEVER_NS;
    }
    forget(j);
  }
  return true;
}

bool joins_find(joins *j, int64_t *head, int64_t *tail, const bool *may, budget *b) {
  find_like(j, may);
  if (!find_ends(j, &j->directions[0], head, may, b) || !find_ends(j, &j->directions[1], tail, may, b)) return false;
  /* Ends in the reversed direction include the operator itself; tails do not. */
  for (int64_t i = 0; i < (int64_t)j->n * j->n_devices; i++)
    if (tail[i] != SITU_NEVER_NS)
      tail[i] -= problem_time_ns(j->p, (int32_t)(i / j->n_devices), (int32_t)(i % j->n_devices));
  return true;
}
