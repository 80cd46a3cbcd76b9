/* The judge of visits by labels: a path of operators, others that pass it by, and a unit of bytes. It lists what plans
 * may do along the path, as points: a key of what differs in kind, and numbers of which smaller ones allow more. Points
 * that are worse in all numbers than another of their key are left out. docs/theory/bounds/visit_labels.md */
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "base/fail.h"
#include "check/check_certificate.h"

enum { MAX_KINDS = 8, FEW_POINTS = 1 << 8, MAX_POINTS = 1 << 20, NUMBERS = 8 };
/* Steps that sorting counts for each point and each doubling of their number. */
enum { SORTING = 4 };
enum { AT_HOME, AT_GOAL, ELSEWHERE }; /* places beside open bypasses; ELSEWHERE + kind: in another memory */
static const int64_t MAX_STEPS = 4000000000;
static const double MAX_CELLS = 3e7;

/* Numbers of a bypass, of a label, of a passage and of an operator outside bypasses. */
enum { B_ARRIVES, B_LEAVES, B_ENTERS, B_LOAD, B_BUSY, B_HOME, B_GOAL, B_FIRST };
enum { L_END, L_LOAD, L_BUSY, L_HOME, L_HERE };
enum { P_LASTS, P_HOME, P_GOAL };
enum { O_END, O_KEPT };

typedef struct point {
  int32_t home, goal, place, course; /* goal: a kind, -1: the home */
  bool behind, last; /* bypass: enters before what left home behind it; label: that did; is in the goal */
  int64_t x[NUMBERS];
} point;

typedef struct points {
  point *at;
  int32_t n, capacity;
} points;

/* The minimum times of a tensor by kinds of memories: from one memory to another, of its first hop out of one, of its
 * last into one. */
typedef struct times {
  int64_t between[MAX_KINDS][MAX_KINDS], out[MAX_KINDS], in[MAX_KINDS];
} times;

typedef struct tour {
  const judge *j;
  const int64_t *chain, *from, *to, *counts, *beside;
  int32_t n, n_bypasses, nk, nm;
  int64_t unit_bytes, steps;
  int32_t *kind, size[MAX_KINDS], any[MAX_KINDS]; /* [memory]; memories of a kind, and one of them */
  int64_t *time;                                  /* [operator * nk + kind] */
  int64_t *kept;                                  /* [operator] units of bytes */
  bool one_out[MAX_KINDS], one_in[MAX_KINDS], one_device[MAX_KINDS];
  int32_t hops[MAX_KINDS][MAX_KINDS];
  points courses, labels, next, outer, spare, more;
  bool too_many, no_memory;
} tour;

/* ---- points ---- */

static void add(tour *w, points *to, const point *p) {
  if (p->x[0] >= SITU_NEVER_NS || w->too_many) return; /* all lists begin with a time */
  if (to->n == to->capacity) {
    points larger = {.n = to->n, .capacity = to->capacity > 0 ? 2 * to->capacity : FEW_POINTS};
    if (larger.capacity <= MAX_POINTS) larger.at = ARENA_NEW(w->j->scratch, point, larger.capacity);
    w->too_many = !larger.at;
    w->no_memory = !larger.at && larger.capacity <= MAX_POINTS;
    if (!larger.at) return;
    if (to->n > 0) memcpy(larger.at, to->at, (size_t)to->n * sizeof *to->at);
    *to = larger;
  }
  to->at[to->n++] = *p;
}

static int64_t key(const point *p) {
  int64_t kinds = ((int64_t)p->home * (MAX_KINDS + 1) + p->goal + 1) * (MAX_KINDS + ELSEWHERE) + p->place;
  return ((kinds << 32 | p->course) * 2 + p->behind) * 2 + p->last;
}

static int point_order(const void *a, const void *b) {
  const point *p = a, *q = b;
  int64_t differ = key(p) - key(q);
  for (int32_t i = 0; i < NUMBERS && differ == 0; i++) differ = p->x[i] - q->x[i];
  return (differ > 0) - (differ < 0);
}

static void leave_out_worse(tour *w, points *all) {
  int32_t kept = 0, first = 0;
  for (int32_t n = all->n; n > 0; n /= 2) w->steps += SORTING * (int64_t)all->n;
  if (all->n > 0 && w->steps <= MAX_STEPS) qsort(all->at, (size_t)all->n, sizeof *all->at, point_order);
  for (int32_t i = 0; i < all->n && w->steps <= MAX_STEPS; i++) {
    point p = all->at[i];
    bool worse = false;
    if (kept > first && key(&all->at[first]) != key(&p)) first = kept;
    for (int32_t k = first; k < kept && !worse; k++) {
      worse = true;
      for (int32_t x = 0; x < NUMBERS; x++) worse &= all->at[k].x[x] <= p.x[x];
    }
    w->steps += kept - first + 1;
    if (!worse) all->at[kept++] = p;
  }
  all->n = kept;
}

static void swap(points *a, points *b) {
  points c = *a;
  *a = *b;
  *b = c;
}

/* ---- the machine, by kinds of memories ---- */

static int64_t time_in(const tour *w, int32_t v, int32_t m) {
  int64_t min = SITU_NEVER_NS;
  for (int32_t d = 0; d < w->j->platform->n_devices; d++)
    if (w->j->platform->memory_of[d] == m && check_may_run(w->j, v, d)) min = min64(min, judge_time_ns(w->j, v, d));
  return min;
}

static bool are_alike(const tour *w, int32_t a, int32_t b) {
  bool alike = w->j->platform->memory_bytes[a] == w->j->platform->memory_bytes[b];
  for (int32_t v = 0; v < w->j->graph->n_operators && alike; v++) alike = time_in(w, v, a) == time_in(w, v, b);
  return alike;
}

/* False where there are too many. */
static bool find_kinds(tour *w) {
  for (int32_t m = 0; m < w->nm; m++) {
    int32_t k = 0;
    while (k < w->nk && !are_alike(w, w->any[k], m)) k++;
    if (k == MAX_KINDS) return false;
    if (k == w->nk) {
      w->any[w->nk] = m;
      w->size[w->nk++] = 0;
    }
    w->kind[m] = k;
    w->size[k]++;
  }
  return true;
}

static int32_t hops_of(const situ_platform *f, int32_t a, int32_t b) {
  int64_t route = (int64_t)a * f->n_memories + b;
  return f->route_start[route + 1] - f->route_start[route];
}

static int32_t hop(const situ_platform *f, int32_t a, int32_t b, int32_t i) {
  return f->route_link[f->route_start[(int64_t)a * f->n_memories + b] + i];
}

/* Whether all routes out of m, or into it, have one channel there. */
static bool has_one_channel(const situ_platform *f, int32_t m, bool out) {
  int32_t channel = -1;
  for (int32_t o = 0; o < f->n_memories; o++) {
    if (o == m) continue;
    int32_t n = out ? hops_of(f, m, o) : hops_of(f, o, m);
    if (n == 0) return false;
    int32_t here = f->links[out ? hop(f, m, o, 0) : hop(f, o, m, n - 1)].channel;
    if (channel >= 0 && here != channel) return false;
    channel = here;
  }
  return true;
}

static void find_links(tour *w) {
  const situ_platform *f = w->j->platform;
  bool contended = w->j->problem->contention == SITU_CONTENTION_LINK;
  for (int32_t k = 0; k < w->nk; k++) {
    w->one_out[k] = w->one_in[k] = contended;
    w->one_device[k] = true;
  }
  for (int32_t m = 0; m < w->nm; m++) {
    int32_t k = w->kind[m], n_devices = 0;
    w->one_out[k] &= has_one_channel(f, m, true);
    w->one_in[k] &= has_one_channel(f, m, false);
    for (int32_t d = 0; d < f->n_devices; d++) n_devices += f->memory_of[d] == m;
    w->one_device[k] &= n_devices <= 1;
    for (int32_t o = 0; o < w->nm; o++)
      if (o != m && hops_of(f, m, o) > w->hops[k][w->kind[o]]) w->hops[k][w->kind[o]] = hops_of(f, m, o);
  }
}

/* A tensor of u that v reads, looked for where there are fewer; -1: none. */
static int32_t tensor(const tour *w, int64_t u, int64_t v) {
  const situ_graph *g = w->j->graph;
  int64_t n_read = g->in_start[v + 1] - g->in_start[v];
  int64_t n_uses = g->use_start[g->out_start[u + 1]] - g->use_start[g->out_start[u]];
  for (int64_t i = g->in_start[v]; i < g->in_start[v + 1] && n_read <= n_uses; i++)
    if (g->producer[g->in[i]] == u) return g->in[i];
  for (int32_t t = g->out_start[u]; t < g->out_start[u + 1] && n_uses < n_read; t++)
    for (int64_t i = g->use_start[t]; i < g->use_start[t + 1]; i++)
      if (g->use[i] == v) return t;
  return -1;
}

static bool together(const tour *w, int64_t u, int64_t v) {
  const int32_t *group = w->j->graph->colocation;
  return group[u] >= 0 && group[u] == group[v];
}

static times times_of(tour *w, int32_t t) {
  const situ_costs *c = w->j->problem->costs;
  const situ_platform *f = w->j->platform;
  times x;
  for (int32_t k = 0; k < w->nk; k++) {
    x.out[k] = x.in[k] = SITU_NEVER_NS;
    for (int32_t h = 0; h < w->nk; h++) x.between[k][h] = SITU_NEVER_NS;
  }
  for (int32_t a = 0; a < w->nm; a++)
    for (int32_t b = 0; b < w->nm; b++) {
      if (a == b) continue;
      int32_t k = w->kind[a], h = w->kind[b], n = hops_of(f, a, b);
      int64_t *between = &x.between[k][h];
      *between = min64(*between, judge_transfer_ns(w->j, t, a, b));
      x.out[k] = min64(x.out[k], n > 0 ? c->transfer_ns[t][c->link_kind[hop(f, a, b, 0)]] : 0);
      x.in[h] = min64(x.in[h], n > 0 ? c->transfer_ns[t][c->link_kind[hop(f, a, b, n - 1)]] : 0);
    }
  w->steps += (int64_t)w->nm * w->nm;
  return x;
}

/* ---- bytes ---- */

static bool is_limited(const tour *w, int32_t kind) {
  return w->j->platform->memory_bytes[w->any[kind]] != SITU_UNLIMITED_BYTES;
}

static int64_t units_of(const tour *w, int32_t kind, int64_t without_bytes) {
  int64_t bytes = w->j->platform->memory_bytes[w->any[kind]] - without_bytes;
  return bytes < 0 ? -1 : bytes / w->unit_bytes;
}

/* Adds v to what is kept. False where it does not run in such a memory, or where that keeps too much. */
static bool keep(const tour *w, int64_t *kept, int64_t v, int32_t kind) {
  int64_t time = w->time[v * w->nk + kind];
  if (time == SITU_NEVER_NS) return false;
  if (!is_limited(w, kind)) return true;
  *kept = sat_add(*kept, w->kept[v]);
  return *kept <= units_of(w, kind, time > 0 ? judge_footprint(w->j->graph, (int32_t)v) : 0);
}

/* The weights of a group count with its first operator in the chain, else with the first beside it. */
static bool find_kept(tour *w) {
  check_items items;
  if (!check_items_find(&items, w->j)) return false;
  int64_t *bytes = check_items_held(&items, w->j), n_beside = 0;
  if (!bytes) return false;
  for (int32_t r = 0; r < w->n_bypasses; r++) n_beside += w->counts[r];
  for (int64_t i = 0; i < w->n + n_beside; i++) {
    int64_t v = i < w->n ? w->chain[i] : w->beside[i - w->n];
    w->kept[v] = bytes[items.of[v]] / w->unit_bytes;
    bytes[items.of[v]] = 0;
  }
  return true;
}

/* ---- bypasses ---- */

static int32_t kind_at(const point *p, int32_t place) {
  return place == AT_HOME ? p->home : place == AT_GOAL ? p->goal : place - ELSEWHERE;
}

static int32_t end_place(const point *p) { return p->goal < 0 ? AT_HOME : AT_GOAL; }

/* The course p with its next operator v at `place`, or with its last tensor there where v is none of it. */
static void go(tour *w, const point *p, const times *x, int64_t v, int32_t place, bool first, bool beside) {
  point q = *p;
  int32_t kind = kind_at(p, place);
  if (place != p->place) q.x[B_ARRIVES] = sat_add(q.x[B_ARRIVES], x->between[kind_at(p, p->place)][kind]);
  if (first && place != AT_HOME && w->one_out[p->home]) q.x[B_LEAVES] = x->out[p->home];
  if (place == end_place(p) && place != p->place && w->one_in[kind])
    q.x[first ? B_FIRST : B_LOAD] = sat_add(q.x[first ? B_FIRST : B_LOAD], x->in[kind]);
  q.place = place;
  if (beside) {
    int64_t elsewhere = 0, time = w->time[v * w->nk + kind];
    if (!keep(w, place == AT_HOME ? &q.x[B_HOME] : place == AT_GOAL ? &q.x[B_GOAL] : &elsewhere, v, kind)) return;
    q.x[B_ARRIVES] = sat_add(q.x[B_ARRIVES], time);
    if (place == end_place(p) && w->one_device[kind]) q.x[B_BUSY] = sat_add(q.x[B_BUSY], time);
  } else {
    int32_t hops = w->hops[p->home][kind];
    if (first && place == AT_GOAL && w->one_in[kind] && (hops == 1 || hops == 2)) {
      q.x[B_ENTERS] = q.x[B_ARRIVES];
      q.behind = hops == 2;
    }
  }
  add(w, &w->next, &q);
}

/* The courses of one bypass, to w->labels. `at`: its first operator in w->beside. */
static void follow_bypass(tour *w, int32_t r, int64_t at, int32_t home, int32_t goal) {
  point start = {.home = home, .goal = goal, .place = AT_HOME};
  w->labels.n = 0;
  add(w, &w->labels, &start);
  for (int64_t i = 0; i <= w->counts[r]; i++) {
    bool last = i == w->counts[r];
    int64_t u = i == 0 ? w->chain[w->from[r]] : w->beside[at + i - 1],
            v = last ? w->chain[w->to[r]] : w->beside[at + i];
    times x = times_of(w, tensor(w, u, v));
    w->next.n = 0;
    for (int32_t k = 0; k < w->labels.n; k++) {
      const point *p = &w->labels.at[k];
      for (int32_t place = 0; place < ELSEWHERE + w->nk; place++) {
        int32_t kind = place - ELSEWHERE;
        if ((place == AT_GOAL && goal < 0) || (last && place != end_place(p))) continue;
        if (place >= ELSEWHERE && w->size[kind] - (home == kind) - (goal == kind) < 1) continue;
        if (!together(w, u, v) || place == p->place) go(w, p, &x, v, place, i == 0, !last);
      }
    }
    leave_out_worse(w, &w->next);
    swap(&w->labels, &w->next);
  }
}

static point both(const point *a, const point *b) {
  point p = *a;
  for (int32_t i = 0; i < NUMBERS; i++)
    p.x[i] = i == B_ARRIVES || i == B_LEAVES || i == B_ENTERS || i == B_FIRST ? max64(a->x[i], b->x[i])
                                                                              : sat_add(a->x[i], b->x[i]);
  if (b->x[B_ENTERS] > a->x[B_ENTERS]) p.behind = b->behind;
  return p;
}

/* What bypasses r .. r + n - 1 may do together, to w->courses. */
static void find_courses(tour *w, int32_t r, int32_t n, int64_t at) {
  w->courses.n = 0;
  for (int32_t home = 0; home < w->nk; home++)
    for (int32_t goal = -1; goal < w->nk; goal++) {
      if (home == goal && w->size[home] < 2) continue;
      int64_t first = at;
      for (int32_t i = 0; i < n; first += w->counts[r + i], i++) {
        follow_bypass(w, r + i, first, home, goal);
        if (i == 0) {
          swap(&w->spare, &w->labels);
          continue;
        }
        w->more.n = 0;
        for (int32_t a = 0; a < w->spare.n && !w->too_many; a++)
          for (int32_t b = 0; b < w->labels.n; b++) {
            point p = both(&w->spare.at[a], &w->labels.at[b]);
            add(w, &w->more, &p);
          }
        leave_out_worse(w, &w->more);
        swap(&w->spare, &w->more);
      }
      for (int32_t k = 0; k < w->spare.n; k++) add(w, &w->courses, &w->spare.at[k]);
    }
}

/* ---- along the chain ---- */

/* Label p with v at its place, where the input of v is at ready_ns. */
static void stop_at(tour *w, point p, int64_t ready_ns, int64_t v) {
  int32_t kind = kind_at(&p, p.place);
  int64_t time = w->time[v * w->nk + kind];
  if (!keep(w, &p.x[p.place == AT_HOME ? L_HOME : L_HERE], v, kind)) return;
  p.x[L_END] = sat_add(ready_ns, time);
  if (w->one_device[kind] && (p.last || (p.place == AT_HOME && p.goal < 0))) p.x[L_BUSY] = sat_add(p.x[L_BUSY], time);
  add(w, &w->next, &p);
}

/* Label p goes on from chain[k], k - since operators behind the one in which the bypasses began. */
static void go_on(tour *w, const point *p, const times *x, int32_t k, int32_t since) {
  const point *c = &w->courses.at[p->course];
  int64_t v = w->chain[k + 1], start_ns = p->x[L_END];
  int32_t here = kind_at(p, p->place);
  bool later = k > since;
  stop_at(w, *p, start_ns, v);
  if (p->last || together(w, w->chain[k], v)) return;
  point q = *p;
  q.x[L_HERE] = 0;
  if (p->place == AT_HOME) {
    q.behind = later && w->one_out[here] && x->out[here] > 0;
    if (q.behind) start_ns = max64(start_ns, c->x[B_LEAVES]);
  } else {
    point back = q;
    back.place = AT_HOME;
    if (p->goal < 0 && w->one_in[p->home]) back.x[L_LOAD] = sat_add(back.x[L_LOAD], x->in[p->home]);
    stop_at(w, back, sat_add(start_ns, x->between[here][p->home]), v);
  }
  for (int32_t kind = 0; kind < w->nk; kind++) {
    if (w->size[kind] - (p->home == kind) - (p->place == ELSEWHERE + kind) < 1) continue;
    int64_t ready_ns = sat_add(start_ns, x->between[here][kind]);
    q.place = ELSEWHERE + kind;
    stop_at(w, q, ready_ns, v);
    if (p->goal != kind) continue;
    point in = q;
    in.place = AT_GOAL;
    in.last = true;
    in.x[L_HERE] = c->x[B_GOAL];
    in.x[L_LOAD] = later && w->one_in[kind] ? x->in[kind] : 0;
    if (later && c->x[B_ENTERS] > 0 && x->in[kind] > 0 && (q.behind || !c->behind))
      ready_ns = max64(ready_ns, sat_add(c->x[B_ENTERS], x->in[kind]));
    stop_at(w, in, ready_ns, v);
  }
}

static void step_outside(tour *w, const point *p, const times *x, int64_t u, int64_t v) {
  for (int32_t kind = -1; kind < w->nk && (kind < 0 || !together(w, u, v)); kind++) {
    point q = *p;
    int32_t to = kind < 0 ? p->home : kind;
    if (kind >= 0) q.x[O_KEPT] = 0;
    q.home = to;
    q.x[O_END] = sat_add(p->x[O_END], sat_add(kind < 0 ? 0 : x->between[p->home][to], w->time[v * w->nk + to]));
    if (keep(w, &q.x[O_KEPT], v, to)) add(w, &w->next, &q);
  }
}

/* From chain[since] to the end of the bypasses in chain[to], to w->labels: passages. */
static void find_passages(tour *w, int32_t since, int32_t to) {
  w->labels.n = 0;
  for (int32_t k = 0; k < w->courses.n; k++) {
    const point *c = &w->courses.at[k];
    point p = {.home = c->home, .goal = c->goal, .place = AT_HOME, .course = k};
    p.x[L_HOME] = c->x[B_HOME];
    add(w, &w->labels, &p);
  }
  for (int32_t k = since; k < to && w->steps <= MAX_STEPS; k++) {
    times x = times_of(w, tensor(w, w->chain[k], w->chain[k + 1]));
    w->next.n = 0;
    for (int32_t i = 0; i < w->labels.n; i++) go_on(w, &w->labels.at[i], &x, k, since);
    leave_out_worse(w, &w->next);
    swap(&w->labels, &w->next);
  }
  w->next.n = 0;
  for (int32_t i = 0; i < w->labels.n; i++) {
    const point *l = &w->labels.at[i], *c = &w->courses.at[l->course];
    if (l->goal < 0 ? l->place != AT_HOME : !l->last) continue;
    point p = {.home = l->home, .goal = l->goal};
    int64_t ready_ns = max64(c->x[B_ARRIVES], sat_add(sat_add(c->x[B_LOAD], c->x[B_FIRST]), l->x[L_LOAD]));
    ready_ns = sat_add(ready_ns, w->time[w->chain[to] * w->nk + kind_at(l, l->place)]);
    p.x[P_LASTS] = max64(max64(ready_ns, l->x[L_END]), sat_add(c->x[B_BUSY], l->x[L_BUSY]));
    p.x[P_HOME] = l->x[L_HOME];
    p.x[P_GOAL] = l->goal < 0 ? 0 : l->x[L_HERE];
    add(w, &w->next, &p);
  }
  leave_out_worse(w, &w->next);
  swap(&w->labels, &w->next);
}

static void pass(tour *w) {
  w->next.n = 0;
  for (int32_t i = 0; i < w->outer.n && w->steps <= MAX_STEPS && !w->too_many; i++, w->steps += w->labels.n)
    for (int32_t k = 0; k < w->labels.n; k++) {
      const point *o = &w->outer.at[i], *p = &w->labels.at[k];
      if (o->home != p->home) continue;
      point q = {.home = p->goal < 0 ? p->home : p->goal};
      int64_t at_home = sat_add(o->x[O_KEPT], p->x[P_HOME]);
      if (is_limited(w, p->home) && at_home > units_of(w, p->home, 0)) continue;
      q.x[O_END] = sat_add(o->x[O_END], p->x[P_LASTS]);
      q.x[O_KEPT] = p->goal < 0 ? at_home : p->x[P_GOAL];
      add(w, &w->next, &q);
    }
  leave_out_worse(w, &w->next);
  swap(&w->outer, &w->next);
}

static int64_t follow_chain(tour *w, const int64_t *head, const int64_t *tail) {
  const situ_platform *f = w->j->platform;
  int64_t min = SITU_NEVER_NS, at = 0;
  for (int32_t d = 0; d < f->n_devices; d++) {
    point p = {.home = w->kind[f->memory_of[d]]};
    p.x[O_END] = head[w->chain[0] * f->n_devices + d];
    if (keep(w, &p.x[O_KEPT], w->chain[0], p.home)) add(w, &w->outer, &p);
  }
  leave_out_worse(w, &w->outer);
  for (int32_t k = 0, r = 0; k < w->n - 1;) {
    if (w->too_many || w->steps > MAX_STEPS) return CERTIFICATE_TOO_LONG;
    if (r < w->n_bypasses && w->from[r] == k) {
      int32_t n = 1;
      int64_t begin = at;
      while (r + n < w->n_bypasses && w->from[r + n] == k) n++;
      for (int32_t i = 0; i < n; i++) at += w->counts[r + i];
      find_courses(w, r, n, begin);
      find_passages(w, k, (int32_t)w->to[r]);
      pass(w);
      k = (int32_t)w->to[r];
      r += n;
      continue;
    }
    times x = times_of(w, tensor(w, w->chain[k], w->chain[k + 1]));
    w->next.n = 0;
    for (int32_t i = 0; i < w->outer.n; i++) step_outside(w, &w->outer.at[i], &x, w->chain[k], w->chain[k + 1]);
    leave_out_worse(w, &w->next);
    swap(&w->outer, &w->next);
    k++;
  }
  if (w->too_many || w->steps > MAX_STEPS) return CERTIFICATE_TOO_LONG;
  for (int32_t i = 0; i < w->outer.n; i++)
    for (int32_t d = 0; d < f->n_devices; d++)
      if (w->kind[f->memory_of[d]] == w->outer.at[i].home)
        min = min64(min, sat_add(w->outer.at[i].x[O_END], tail[w->chain[w->n - 1] * f->n_devices + d]));
  return min;
}

/* ---- the lists ---- */

/* Bypasses one behind the other, or with the ends of the one before; of these only the first may have no operators. */
static bool bypasses_are_in_order(const tour *w, int64_t n_beside) {
  for (int32_t r = 0; r < w->n_bypasses; r++) {
    bool same = r > 0 && w->from[r] == w->from[r - 1] && w->to[r] == w->to[r - 1], direct = w->counts[r] == 0;
    if (w->to[r] >= w->n || w->to[r] - w->from[r] < (direct ? 2 : 1)) return false;
    if (same ? direct : r > 0 && w->from[r] < w->to[r - 1]) return false;
    if (w->counts[r] > n_beside) return false;
    n_beside -= w->counts[r];
  }
  return n_beside == 0;
}

static bool take_lists(tour *w, const certificate *c) {
  int64_t n_bypasses = certificate_size(c, "from"), n_beside = certificate_size(c, "beside");
  w->n = (int32_t)certificate_size(c, "chain");
  w->n_bypasses = (int32_t)n_bypasses;
  w->chain = certificate_get(c, "chain", -1);
  w->from = certificate_get(c, "from", -1);
  w->to = certificate_get(c, "to", n_bypasses);
  w->counts = certificate_get(c, "counts", n_bypasses);
  w->beside = certificate_get(c, "beside", -1);
  const int64_t *unit_bytes = certificate_get(c, "unit_bytes", 1);
  if (!w->to || !w->counts || !bypasses_are_in_order(w, n_beside)) return false;
  w->unit_bytes = unit_bytes[0];
  return true;
}

/* Whether the chain and its bypasses are paths, and no operator stands twice. */
static bool are_paths(const tour *w, bool *seen) {
  const int64_t *beside = w->beside;
  for (int32_t k = 0; k < w->n; k++) {
    if (seen[w->chain[k]] || (k > 0 && tensor(w, w->chain[k - 1], w->chain[k]) < 0)) return false;
    seen[w->chain[k]] = true;
  }
  for (int32_t r = 0; r < w->n_bypasses; r++) {
    int64_t u = w->chain[w->from[r]];
    for (int64_t i = 0; i < w->counts[r]; i++, beside++) {
      if (seen[*beside] || tensor(w, u, *beside) < 0) return false;
      seen[*beside] = true;
      u = *beside;
    }
    if (tensor(w, u, w->chain[w->to[r]]) < 0) return false;
  }
  return true;
}

static situ_status prove(int64_t *proved_ns, judge *j, const certificate *c, situ_error *error) {
  arena *a = j->scratch;
  int64_t n = j->graph->n_operators, cells = n * j->platform->n_devices;
  tour w = {.j = j, .nm = j->platform->n_memories};
  *proved_ns = CERTIFICATE_MALFORMED;
  if (!take_lists(&w, c)) return SITU_STATUS_OK;
  *proved_ns = CERTIFICATE_TOO_LONG;
  if ((double)cells * w.nm > MAX_CELLS) return SITU_STATUS_OK;
  bool *seen = ARENA_ZERO(a, bool, n), *may = ARENA_NEW(a, bool, cells);
  int64_t *head = ARENA_ZERO(a, int64_t, cells), *tail = ARENA_ZERO(a, int64_t, cells);
  w.kind = ARENA_NEW(a, int32_t, w.nm);
  w.kept = ARENA_ZERO(a, int64_t, n);
  if (!seen || !may || !head || !tail || !w.kind || !w.kept) return fail_no_memory(error);
  *proved_ns = 0;
  if (!are_paths(&w, seen)) return SITU_STATUS_OK;
  *proved_ns = CERTIFICATE_TOO_LONG;
  if (!find_kinds(&w)) return SITU_STATUS_OK;
  w.time = ARENA_NEW(a, int64_t, n * w.nk);
  if (!w.time || !find_kept(&w)) return fail_no_memory(error);
  for (int64_t i = 0; i < n * w.nk; i++) w.time[i] = time_in(&w, (int32_t)(i / w.nk), w.any[i % w.nk]);
  if (!check_alive_rooms(may, j, -1) || !check_chains(head, tail, may, j)) return fail_no_memory(error);
  find_links(&w);
  *proved_ns = follow_chain(&w, head, tail);
  return w.no_memory ? fail_no_memory(error) : SITU_STATUS_OK;
}

const certificate_rule visit_labels_rule = {
    .kind = "visit_labels",
    .form =
        "a chain of operators, and from and to: places in it where bypasses begin and end, one behind the other or "
        "with the ends of the one before; counts: how many operators each has, which beside lists",
    .models = MODEL_STREAM,
    .prove = prove};
