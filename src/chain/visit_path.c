#include "chain/visit_path.h"

#include <string.h>

#include "base/checked.h"
#include "base/contracts.h"
#include "base/sort.h"
#include "chain/visit_trail.h"
#include "view/unit.h"

enum { MAX_LABELS = 1 << 20, FEW_LABELS = 1 << 8, LOOK_EVERY = 1 << 10, MAX_COURSES = 1 << 12 };
enum { MAX_PASSAGES = 1 << 12, MAX_KINDS = 8 };
enum { END_BITS = 45 }; /* of the times by which labels are sorted; the others are enough for their contexts */
static const int64_t MAX_WORK = 1000000000; /* pairs of labels that are compared */

/* One tensor: minimum times by kinds. */
typedef struct crossing {
  int64_t between_ns[MAX_KINDS][MAX_KINDS];        /* from one memory to another */
  int64_t first_ns[MAX_KINDS], last_ns[MAX_KINDS]; /* of its first hop out of one, and of its last hop into one */
} crossing;

/* What the operators of the bypasses between two of the chain do, relative to the end of the first of these. */
typedef struct course {
  int32_t home, goal, place; /* kinds; goal HOME: they end where they began; place: so far */
  bool enters_behind;        /* enter_ns: only for what left home behind it */
  int64_t arrive_ns;         /* all of their last tensors are there */
  int64_t leave_ns;          /* their first tensors occupy the channel out of their home until then; 0: not known to */
  int64_t enter_ns;          /* and one that is ready before all others the channel into their goal */
  int64_t load_ns;           /* of the channel into where they end, by what their own operators send there */
  int64_t first_ns;          /* of it by what they all read, which is sent there once */
  int64_t busy_ns;           /* of the device where they end */
  int64_t home_units, goal_units; /* kept there */
  int32_t trail, v, joined;       /* its last step; what comes after it: an operator, the last step of a bypass; -1 */
} course;

/* A partial plan. Smaller numbers are better. While bypasses are open, times are relative to the end of the operator
 * in which they began, and what their home kept before is not counted. */
typedef struct label {
  int32_t place, course; /* HOME or a kind; -1: no bypass is open */
  bool behind, final;    /* left home after the bypasses did; in the goal, and stays there */
  int64_t end_ns;
  int64_t load_ns, busy_ns;  /* as those of a course, by the chain */
  int64_t units, home_units; /* kept by the present visit, and by its home */
  int32_t trail, beside;     /* the step before, then its own; what a block did, or -1 */
  bool fresh;                /* its visit begins */
} label;

typedef struct label_list {
  label *at;
  int32_t n, capacity;
} label_list;

/* What leads from the operator in which bypasses begin to the one in which they end. */
typedef struct passage {
  int32_t home, goal; /* as of a course */
  int64_t lasts_ns, home_units, goal_units;
  int32_t trail, beside; /* the last steps of the chain and of the bypasses */
} passage;

typedef struct recursion {
  const visits *s;
  const memory_kinds *kinds;
  visit_path c;
  const int64_t *head, *tail; /* [operator * n_devices + device] */
  int64_t *units;             /* [operator] that count with it; those of a colocation group count once */
  bool out_shared[MAX_KINDS], in_shared[MAX_KINDS]; /* all routes of a memory begin, or end, with the same channel */
  bool serial[MAX_KINDS];                           /* each memory serves one device */
  int32_t max_hops[MAX_KINDS][MAX_KINDS];
  crossing now;                        /* from chain[k] to chain[k+1] */
  course *courses, *some, *more, *all; /* of the open bypasses; of one of them, of those so far */
  label_list labels, outer;            /* outer: of the operator in which the open bypasses began */
  label_list next, kept;               /* of the next operator: those of some courses; the best of those before */
  passage *passages;
  sort_pair *pairs, *spare; /* of as many labels as `next` may have */
  int32_t n_pairs;
  visit_trail *trail;                  /* NULL: nobody asks for it */
  int32_t n_courses, n_passages, from; /* from: where the open bypasses began */
  int64_t work;
  budget *budget;
  bool full, no_memory;
} recursion;

/* ---- tensors and channels ---- */

int32_t visit_path_tensor(const situ_graph *g, int32_t u, int32_t v) {
  int64_t n_read = g->in_start[v + 1] - g->in_start[v];
  int64_t n_uses = g->use_start[g->out_start[u + 1]] - g->use_start[g->out_start[u]];
  for (int64_t i = g->in_start[v]; i < g->in_start[v + 1] && n_read <= n_uses; i++)
    if (g->producer[g->in[i]] == u) return g->in[i];
  for (int32_t t = g->out_start[u]; t < g->out_start[u + 1] && n_uses < n_read; t++)
    for (int64_t i = g->use_start[t]; i < g->use_start[t + 1]; i++)
      if (g->use[i] == v) return t;
  return -1;
}

static bool is_limited(const recursion *w, int32_t kind) {
  return w->s->problem->platform->memory_bytes[w->kinds->some[kind]] != SITU_UNLIMITED_BYTES;
}

static int64_t time_on(const recursion *w, int32_t v, int32_t kind) {
  return w->s->time_ns[(int64_t)v * w->s->n_memories + w->kinds->some[kind]];
}

/* Routes that have a channel in common where they leave or enter a memory. */
static void find_channels(recursion *w) {
  const situ_problem *p = w->s->problem;
  const situ_platform *f = p->platform;
  int32_t nm = p->n_memories;
  bool contended = p->contention == SITU_CONTENTION_LINK;
  for (int32_t k = 0; k < w->kinds->n; k++) {
    w->out_shared[k] = w->in_shared[k] = contended;
    w->serial[k] = true;
  }
  for (int32_t m = 0; m < nm; m++) {
    int32_t out = -1, in = -1, kind = w->kinds->of[m];
    for (int32_t other = 0; other < nm; other++) {
      int64_t there = (int64_t)m * nm + other, back = (int64_t)other * nm + m;
      int32_t hops = f->route_start[there + 1] - f->route_start[there], *max = &w->max_hops[kind][w->kinds->of[other]];
      if (other == m) continue;
      if (hops > *max) *max = hops;
      int32_t first = hops > 0 ? f->links[f->route_link[f->route_start[there]]].channel : -2;
      int32_t last = f->route_start[back + 1] > f->route_start[back]
                         ? f->links[f->route_link[f->route_start[back + 1] - 1]].channel
                         : -2;
      if (first < 0 || (out >= 0 && out != first)) w->out_shared[kind] = false;
      if (last < 0 || (in >= 0 && in != last)) w->in_shared[kind] = false;
      out = first;
      in = last;
    }
  }
}

/* Kinds whose memories serve one device each. */
static void find_serial(recursion *w) {
  const situ_platform *f = w->s->problem->platform;
  for (int32_t d = 0; d < f->n_devices; d++)
    for (int32_t e = 0; e < d; e++)
      if (f->memory_of[d] == f->memory_of[e]) w->serial[w->kinds->of[f->memory_of[d]]] = false;
}

static void find_crossing(crossing *x, const recursion *w, int32_t t) {
  const situ_problem *p = w->s->problem;
  const situ_platform *f = p->platform;
  int32_t nm = p->n_memories;
  for (int32_t k = 0; k < w->kinds->n; k++) {
    x->first_ns[k] = x->last_ns[k] = SITU_NEVER_NS;
    for (int32_t h = 0; h < w->kinds->n; h++) x->between_ns[k][h] = SITU_NEVER_NS;
  }
  for (int32_t m = 0; m < nm; m++)
    for (int32_t to = 0; to < nm; to++) {
      int64_t route = (int64_t)m * nm + to;
      int32_t k = w->kinds->of[m], h = w->kinds->of[to], n = f->route_start[route + 1] - f->route_start[route];
      if (m == to) continue;
      x->between_ns[k][h] = min64(x->between_ns[k][h], p->transfer_ns[t][p->costs->pair_kind[route]]);
      int32_t first = n > 0 ? f->route_link[f->route_start[route]] : -1;
      int32_t last = n > 0 ? f->route_link[f->route_start[route + 1] - 1] : -1;
      x->first_ns[k] = min64(x->first_ns[k], n > 0 ? p->transfer_ns[t][p->costs->link_kind[first]] : 0);
      x->last_ns[h] = min64(x->last_ns[h], n > 0 ? p->transfer_ns[t][p->costs->link_kind[last]] : 0);
    }
}

/* ---- bytes ---- */

/* Assigns the weights of each unit to its first operator of the chain, or else of the bypasses. */
static bool carry(recursion *w, arena *a) {
  const situ_problem *p = w->s->problem;
  bool *counted = ARENA_ZERO(a, bool, p->units.n);
  int32_t n_beside = w->c.n_bypasses > 0 ? w->c.start[w->c.n_bypasses] : 0;
  if (!counted) return false;
  for (int32_t i = 0; i < w->c.n + n_beside; i++) {
    int32_t v = i < w->c.n ? w->c.chain[i] : w->c.beside[i - w->c.n], u = p->units.of[v];
    if (counted[u]) continue;
    counted[u] = true;
    w->units[v] = w->s->weight_bytes[v] / w->c.unit_bytes;
  }
  return true;
}

/* Adds v to what a memory of that kind keeps. False where that does not fit. */
static bool take(const recursion *w, int64_t *units, int32_t v, int32_t kind) {
  if (time_on(w, v, kind) == SITU_NEVER_NS) return false;
  if (!is_limited(w, kind)) return true;
  int64_t bytes = w->s->problem->platform->memory_bytes[w->kinds->some[kind]];
  if (time_on(w, v, kind) > 0) bytes -= w->s->footprint_bytes[v];
  *units = sat_add(*units, w->units[v]);
  return bytes >= 0 && *units <= bytes / w->c.unit_bytes;
}

/* ---- what a bypass may do ---- */

static int32_t kind_of(const course *c, int32_t place) {
  return place == HOME ? c->home : place == GOAL ? c->goal : place;
}

/* The minimum time of a tensor between two places of a bypass. */
static int64_t pass_ns(const course *c, const crossing *x, int32_t from, int32_t to) {
  return from == to ? 0 : x->between_ns[kind_of(c, from)][kind_of(c, to)];
}

/* How many memories of a kind are neither the home nor the goal. */
static int32_t others(const recursion *w, const course *c, int32_t kind) {
  return w->kinds->members[kind] - (c->home == kind) - (c->goal == kind);
}

static bool is_no_worse(const course *a, const course *b) {
  return a->place == b->place && a->home == b->home && a->goal == b->goal && a->arrive_ns <= b->arrive_ns &&
         a->leave_ns <= b->leave_ns && a->load_ns <= b->load_ns && a->first_ns <= b->first_ns &&
         a->busy_ns <= b->busy_ns && a->home_units <= b->home_units && a->goal_units <= b->goal_units &&
         a->enter_ns <= b->enter_ns && (a->enter_ns == 0 || a->enters_behind >= b->enters_behind);
}

static int32_t add_step(recursion *w, trail_pool *to, trail_step s) {
  int32_t step = w->trail ? trail_add(w->trail, to, s) : -1;
  if (w->trail && step < 0) w->full = w->no_memory = true;
  return step;
}

static void add_course(recursion *w, course *list, int32_t *n, course c) {
  int32_t kept = 0;
  if (c.arrive_ns == SITU_NEVER_NS || w->full) return;
  w->work += *n;
  for (int32_t i = 0; i < *n; i++)
    if (is_no_worse(&list[i], &c)) return;
  for (int32_t i = 0; i < *n; i++)
    if (!is_no_worse(&c, &list[i])) list[kept++] = list[i];
  *n = kept;
  if (*n == MAX_COURSES || w->work > MAX_WORK) w->full = true;
  if (w->full) return;
  if (w->trail && (c.v >= 0 || c.joined >= 0))
    c.trail =
        add_step(w, &w->trail->inside, (trail_step){.before = c.trail, .beside = c.joined, .v = c.v, .place = c.place});
  c.v = c.joined = -1;
  list[(*n)++] = c;
}

/* The same course with the last tensor of a bypass of n operators in its goal. */
static course arrived(const recursion *w, course c, int32_t n, int32_t to) {
  int32_t kind = kind_of(&c, to), hops = n == 0 && to == GOAL && w->in_shared[kind] ? w->max_hops[c.home][kind] : 0;
  if (hops == 1 || hops == 2) c.enter_ns = c.arrive_ns;
  c.enters_behind = hops == 2;
  c.place = to;
  return c;
}

/* The same with operator v at `to`; arrive_ns SITU_NEVER_NS where it cannot be. */
static course placed(const recursion *w, course c, int32_t v, int32_t to) {
  int64_t elsewhere = 0, *units = to == HOME ? &c.home_units : to == GOAL ? &c.goal_units : &elsewhere;
  int32_t kind = kind_of(&c, to);
  c.arrive_ns = take(w, units, v, kind) ? sat_add(c.arrive_ns, time_on(w, v, kind)) : SITU_NEVER_NS;
  if (to == (c.goal == HOME ? HOME : GOAL) && w->serial[kind]) c.busy_ns = sat_add(c.busy_ns, time_on(w, v, kind));
  c.place = to;
  c.v = v;
  return c;
}

/* Courses of bypass r between these kinds: to w->some. Returns how many. */
static int32_t place_beside(recursion *w, int32_t r, int32_t home, int32_t goal) {
  const visit_path *p = &w->c;
  int32_t n = p->start[r + 1] - p->start[r], n_now = 1, n_next;
  course *now = w->some, *next = w->more;
  now[0] = (course){.home = home, .goal = goal, .place = HOME, .trail = -1, .v = -1, .joined = -1};
  for (int32_t i = 0; i <= n; i++) {
    int32_t u = i == 0 ? p->chain[p->from[r]] : p->beside[p->start[r] + i - 1];
    int32_t v = i == n ? p->chain[p->to[r]] : p->beside[p->start[r] + i], last = goal == HOME ? HOME : GOAL;
    bool joined = unit_joins(w->s->problem, u, v);
    crossing x;
    find_crossing(&x, w, visit_path_tensor(w->s->problem->graph, u, v));
    n_next = 0;
    for (int32_t k = 0; k < n_now; k++)
      for (int32_t to = GOAL; to < w->kinds->n; to++) {
        course c = now[k];
        if ((to == GOAL && goal == HOME) || (i == n && to != last) || (joined && to != c.place)) continue;
        if (to >= 0 && others(w, &c, to) < 1) continue;
        c.arrive_ns = sat_add(c.arrive_ns, pass_ns(&c, &x, c.place, to));
        if (to == last && c.place != to && w->in_shared[kind_of(&c, to)]) {
          int64_t *load_ns = i == 0 ? &c.first_ns : &c.load_ns;
          *load_ns = sat_add(*load_ns, x.last_ns[kind_of(&c, to)]);
        }
        if (i == 0 && to != HOME && w->out_shared[home]) c.leave_ns = x.first_ns[home];
        add_course(w, next, &n_next, i == n ? arrived(w, c, n, to) : placed(w, c, v, to));
      }
    course *swap = now;
    now = next;
    next = swap;
    n_now = n_next;
  }
  if (now != w->some)
    for (int32_t k = 0; k < n_now; k++) w->some[k] = now[k];
  return n_now;
}

/* Two bypasses at once. */
static course joint(const course *a, const course *b) {
  course c = *a;
  c.joined = b->trail;
  c.arrive_ns = max64(a->arrive_ns, b->arrive_ns);
  c.leave_ns = max64(a->leave_ns, b->leave_ns);
  c.load_ns = sat_add(a->load_ns, b->load_ns);
  c.first_ns = max64(a->first_ns, b->first_ns);
  c.busy_ns = sat_add(a->busy_ns, b->busy_ns);
  c.home_units = sat_add(a->home_units, b->home_units);
  c.goal_units = sat_add(a->goal_units, b->goal_units);
  if (b->enter_ns > a->enter_ns) {
    c.enter_ns = b->enter_ns;
    c.enters_behind = b->enters_behind;
  }
  return c;
}

/* Courses of bypasses first .. last-1, which begin and end with the same operators. */
static void find_courses(recursion *w, int32_t first, int32_t last) {
  w->n_courses = 0;
  for (int32_t home = 0; home < w->kinds->n; home++)
    for (int32_t goal = HOME; goal < w->kinds->n; goal++) {
      if (goal == home && w->kinds->members[home] < 2) continue;
      int32_t begin = w->n_courses, n_all = 0;
      for (int32_t r = first; r < last && !w->full; r++) {
        int32_t n = place_beside(w, r, home, goal), n_joint = 0;
        for (int32_t k = 0; k < n && !w->full; k++) {
          if (budget_over(w->budget)) w->full = true;
          if (r == first) add_course(w, w->more, &n_joint, w->some[k]);
          for (int32_t i = 0; i < n_all; i++) add_course(w, w->more, &n_joint, joint(&w->all[i], &w->some[k]));
        }
        n_all = n_joint;
        for (int32_t k = 0; k < n_all; k++) w->all[k] = w->more[k];
      }
      if (begin + n_all > MAX_COURSES) w->full = true;
      for (int32_t k = 0; k < n_all && !w->full; k++) w->courses[w->n_courses++] = w->all[k];
    }
}

/* ---- labels ---- */

/* Makes a list long enough for n labels. */
static bool reserve(recursion *w, label_list *list, int32_t n) {
  if (n <= list->capacity) return true;
  int32_t capacity = list->capacity > FEW_LABELS / 2 ? list->capacity : FEW_LABELS / 2;
  while (capacity < n) capacity *= 2;
  label *at = ARENA_NEW(w->s->scratch, label, capacity);
  if (!at) w->full = w->no_memory = true;
  if (!at) return false;
  if (list->n > 0) memcpy(at, list->at, (size_t)list->n * sizeof *at);
  list->at = at;
  list->capacity = capacity;
  return true;
}

static void add_label(recursion *w, label l) {
  if (l.end_ns == SITU_NEVER_NS || w->full) return;
  if (w->next.n == MAX_LABELS)
    w->full = true;
  else if (reserve(w, &w->next, w->next.n + 1))
    w->next.at[w->next.n++] = l;
}

/* Labels of one context may do the same. */
static int64_t context(const label *l) {
  return (((int64_t)(l->course + 1) * (MAX_KINDS + 1) + l->place + 1) * 2 + l->behind) * 2 + l->final;
}

/* Fills pairs with `next` by context, then by end, then by what is kept at home and here. */
static bool sort_next(recursion *w) {
  int32_t n = w->next.n;
  if (n > w->n_pairs) {
    w->n_pairs = w->next.capacity;
    w->pairs = ARENA_NEW(w->s->scratch, sort_pair, w->n_pairs);
    w->spare = ARENA_NEW(w->s->scratch, sort_pair, w->n_pairs);
    if (!w->pairs || !w->spare) w->full = w->no_memory = true;
    if (w->full) return false;
  }
  for (int32_t i = 0; i < n; i++) {
    const label *l = &w->next.at[i];
    w->pairs[i] =
        (sort_pair){(uint64_t)min64(l->home_units, UINT32_MAX) << 32 | (uint64_t)min64(l->units, UINT32_MAX), i};
  }
  sort_pairs(w->pairs, w->spare, n);
  for (int32_t i = 0; i < n; i++) {
    const label *l = &w->next.at[w->pairs[i].at];
    w->pairs[i].key = (uint64_t)context(l) << END_BITS | (uint64_t)min64(l->end_ns, ((int64_t)1 << END_BITS) - 1);
  }
  sort_pairs(w->pairs, w->spare, n);
  return true;
}

/* Moves `next`, labels of v, to `kept`, but for those that are no better in anything than another of their context. */
static void keep_best(recursion *w, int32_t v) {
  label_list *kept = &w->kept;
  if (kept->n + w->next.n > MAX_LABELS) w->full = true;
  if (w->full || !reserve(w, kept, kept->n + w->next.n) || !sort_next(w)) return;
  for (int32_t i = 0, first = kept->n; i < w->next.n && !w->full; i++) {
    label l = w->next.at[w->pairs[i].at];
    bool dominated = false;
    if (kept->n > first && context(&kept->at[first]) != context(&l)) first = kept->n;
    for (int32_t k = first; k < kept->n && !dominated; k++) {
      const label *o = &kept->at[k]; /* it ends no later, if that is less than 2^END_BITS */
      dominated = o->home_units <= l.home_units && o->units <= l.units && o->load_ns <= l.load_ns &&
                  o->busy_ns <= l.busy_ns && o->end_ns <= l.end_ns;
    }
    w->work += kept->n - first;
    if (w->work > MAX_WORK || (i % LOOK_EVERY == 0 && budget_over(w->budget))) w->full = true;
    if (dominated || w->full) continue;
    if (w->trail)
      l.trail = add_step(
          w, l.course < 0 ? &w->trail->outside : &w->trail->inside,
          (trail_step){
              .before = l.trail, .beside = l.beside, .v = v, .place = l.place, .fresh = l.fresh, .final = l.final});
    l.fresh = false;
    l.beside = -1;
    kept->at[kept->n++] = l;
  }
  w->next.n = 0;
}

/* The same with the last of them, which are then the labels. */
static void keep_last(recursion *w, int32_t v) {
  keep_best(w, v);
  label_list swap = w->labels;
  w->labels = w->kept;
  w->kept = swap;
  w->kept.n = 0;
}

/* ---- along the path ---- */

/* Ends v in a memory of that kind, where its input is at ready_ns. */
static void arrive(recursion *w, label l, int64_t ready_ns, int32_t v, int32_t kind) {
  if (!take(w, l.place == HOME ? &l.home_units : &l.units, v, kind)) return;
  l.end_ns = sat_add(ready_ns, time_on(w, v, kind));
  bool counts = l.course >= 0 && w->serial[kind] && (l.final || (l.place == HOME && w->courses[l.course].goal == HOME));
  if (counts) l.busy_ns = sat_add(l.busy_ns, time_on(w, v, kind));
  add_label(w, l);
}

static void advance_outside(recursion *w, const label *l, int32_t v, bool joined) {
  arrive(w, *l, l->end_ns, v, l->place);
  for (int32_t kind = 0; kind < w->kinds->n && !joined; kind++) {
    label moved = *l;
    moved.place = kind;
    moved.units = 0;
    moved.fresh = true;
    arrive(w, moved, sat_add(l->end_ns, w->now.between_ns[l->place][kind]), v, kind);
  }
}

/* A visit to the goal that lasts until the bypass ends. What left home behind the bypass, or what a channel into the
 * goal has to wait for, comes after it. */
static void enter_goal(recursion *w, label l, int64_t ready_ns, int32_t k) {
  const course *c = &w->courses[l.course];
  bool waits = k > w->from && c->enter_ns > 0 && w->now.last_ns[c->goal] > 0 && (l.behind || !c->enters_behind);
  if (waits) ready_ns = max64(ready_ns, sat_add(c->enter_ns, w->now.last_ns[c->goal]));
  l.load_ns = k > w->from && w->in_shared[c->goal] ? w->now.last_ns[c->goal] : 0;
  l.final = true;
  l.place = c->goal;
  l.units = c->goal_units;
  arrive(w, l, ready_ns, w->c.chain[k + 1], c->goal);
}

static void advance_beside(recursion *w, const label *l, int32_t k, bool joined) {
  const course *c = &w->courses[l->course];
  int32_t v = w->c.chain[k + 1], here = l->place == HOME ? c->home : l->place;
  arrive(w, *l, l->end_ns, v, here);
  if (joined || l->final) return;
  label moved = *l;
  int64_t start_ns = l->end_ns;
  if (l->place == HOME) {
    moved.behind = k > w->from && w->out_shared[here] && w->now.first_ns[here] > 0;
    if (moved.behind) start_ns = max64(start_ns, c->leave_ns);
  } else {
    label back = *l;
    back.place = HOME;
    back.units = 0;
    if (c->goal == HOME && w->in_shared[c->home]) back.load_ns = sat_add(l->load_ns, w->now.last_ns[c->home]);
    arrive(w, back, sat_add(start_ns, w->now.between_ns[here][c->home]), v, c->home);
  }
  moved.units = 0;
  moved.fresh = true;
  for (int32_t kind = 0; kind < w->kinds->n; kind++) {
    int64_t ready_ns = sat_add(start_ns, w->now.between_ns[here][kind]);
    if (w->kinds->members[kind] - (c->home == kind) - (l->place == kind) < 1) continue;
    moved.place = kind;
    arrive(w, moved, ready_ns, v, kind);
    if (c->goal == kind) enter_goal(w, moved, ready_ns, k);
  }
}

/* From chain[k] to chain[k + 1]. */
static void advance(recursion *w, int32_t k) {
  const situ_problem *p = w->s->problem;
  int32_t u = w->c.chain[k], v = w->c.chain[k + 1];
  bool joined = unit_joins(p, u, v);
  find_crossing(&w->now, w, visit_path_tensor(p->graph, u, v));
  for (int32_t i = 0; i < w->labels.n && !w->full; i++) {
    const label *l = &w->labels.at[i];
    if (i > 0 && l->course != w->labels.at[i - 1].course) keep_best(w, v); /* those of one course are together */
    if (l->course < 0)
      advance_outside(w, l, v, joined);
    else
      advance_beside(w, l, k, joined);
  }
  keep_last(w, v);
}

/* How many bypasses begin and end with the same operators as bypass r, itself included. */
static int32_t beside_each_other(const recursion *w, int32_t r) {
  int32_t n = 1;
  while (r + n < w->c.n_bypasses && w->c.from[r + n] == w->c.from[r]) n++;
  return n;
}

static void enter_bypasses(recursion *w, int32_t r) {
  label_list swap = w->outer;
  w->from = w->c.from[r];
  w->outer = w->labels;
  w->labels = swap;
  if (w->trail) w->trail->inside.n = 0;
  find_courses(w, r, r + beside_each_other(w, r));
  for (int32_t k = 0; k < w->n_courses; k++) {
    bool begins = false;
    for (int32_t i = 0; i < w->outer.n; i++) begins |= w->outer.at[i].place == w->courses[k].home;
    if (begins)
      add_label(w,
                (label){.trail = -1, .beside = -1, .place = HOME, .course = k, .home_units = w->courses[k].home_units});
  }
  keep_last(w, w->c.chain[w->from]);
}

static void add_passage(recursion *w, passage p) {
  int32_t kept = 0;
  w->work += w->n_passages;
  for (int32_t i = 0; i < w->n_passages; i++) {
    const passage *o = &w->passages[i];
    if (o->home != p.home || o->goal != p.goal || o->lasts_ns > p.lasts_ns) continue;
    if (o->home_units <= p.home_units && o->goal_units <= p.goal_units) return;
  }
  for (int32_t i = 0; i < w->n_passages; i++) {
    const passage *o = &w->passages[i];
    bool worse = o->home == p.home && o->goal == p.goal && o->lasts_ns >= p.lasts_ns && o->home_units >= p.home_units &&
                 o->goal_units >= p.goal_units;
    if (!worse) w->passages[kept++] = *o;
  }
  w->n_passages = kept;
  if (kept == MAX_PASSAGES || w->work > MAX_WORK)
    w->full = true;
  else
    w->passages[w->n_passages++] = p;
}

static void find_passages(recursion *w, int32_t v) {
  w->n_passages = 0;
  for (int32_t i = 0; i < w->labels.n && !w->full; i++) {
    const label *l = &w->labels.at[i];
    const course *c = &w->courses[l->course];
    if (c->goal == HOME ? l->place != HOME : !l->final) continue;
    int64_t ready_ns = max64(c->arrive_ns, sat_add(sat_add(c->load_ns, c->first_ns), l->load_ns));
    ready_ns = sat_add(ready_ns, time_on(w, v, c->goal == HOME ? c->home : c->goal));
    int64_t lasts_ns = max64(max64(ready_ns, l->end_ns), sat_add(c->busy_ns, l->busy_ns));
    add_passage(
        w, (passage){c->home, c->goal, lasts_ns, l->home_units, c->goal == HOME ? 0 : l->units, l->trail, c->trail});
  }
}

/* Ends the open bypasses with v, where all that v reads is in one memory. */
static void leave_bypasses(recursion *w, int32_t v) {
  find_passages(w, v);
  for (int32_t k = 0; k < w->n_passages && w->trail; k++)
    w->passages[k].trail = trail_keep(w->trail, w->passages[k].trail, w->passages[k].beside);
  for (int32_t i = 0; i < w->outer.n && !w->full; i++)
    for (int32_t k = 0; k < w->n_passages; k++) {
      const passage *p = &w->passages[k];
      if (p->home != w->outer.at[i].place) continue;
      int64_t home_units = sat_add(w->outer.at[i].units, p->home_units);
      int64_t bytes = w->s->problem->platform->memory_bytes[w->kinds->some[p->home]];
      if (is_limited(w, p->home) && home_units > bytes / w->c.unit_bytes) continue;
      add_label(w, (label){.end_ns = sat_add(w->outer.at[i].end_ns, p->lasts_ns),
                           .units = p->goal == HOME ? home_units : p->goal_units,
                           .place = p->goal == HOME ? p->home : p->goal,
                           .fresh = p->goal != HOME,
                           .trail = w->outer.at[i].trail,
                           .beside = p->trail,
                           .course = -1});
    }
  keep_last(w, v);
}

static void begin(recursion *w) {
  const situ_problem *p = w->s->problem;
  int32_t v = w->c.chain[0];
  for (int32_t d = 0; d < p->n_devices; d++) {
    label l = {.end_ns = w->head[(int64_t)v * p->n_devices + d], .place = w->kinds->of[p->memory_of[d]], .course = -1};
    l.trail = l.beside = -1;
    l.fresh = true;
    if (take(w, &l.units, v, l.place)) add_label(w, l);
  }
  keep_last(w, v);
}

/* The best label of the last operator. */
static int64_t end_of_all(const recursion *w, int32_t *best) {
  const situ_problem *p = w->s->problem;
  const int64_t *tail = w->tail + (int64_t)w->c.chain[w->c.n - 1] * p->n_devices;
  int64_t min = SITU_NEVER_NS;
  *best = -1;
  for (int32_t i = 0; i < w->labels.n; i++)
    for (int32_t d = 0; d < p->n_devices; d++) {
      int64_t end_ns = sat_add(w->labels.at[i].end_ns, tail[d]);
      if (w->kinds->of[p->memory_of[d]] != w->labels.at[i].place || end_ns >= min) continue;
      min = end_ns;
      *best = i;
    }
  return min;
}

static bool recursion_run(int64_t *lower_ns, int32_t *memory, recursion *w) {
  int32_t r = 0, best;
  begin(w);
  for (int32_t k = 0; k < w->c.n && !w->full; k++) {
    if (k > 0) advance(w, k - 1);
    if (r < w->c.n_bypasses && w->c.to[r] == k) {
      leave_bypasses(w, w->c.chain[k]);
      r += beside_each_other(w, r);
    }
    if (r < w->c.n_bypasses && w->c.from[r] == k) enter_bypasses(w, r);
    if (budget_over(w->budget)) return false;
  }
  if (w->full) return false;
  *lower_ns = end_of_all(w, &best);
  if (!w->trail) return true;
  w->no_memory |= !trail_memories(memory, w->trail, best < 0 ? -1 : w->labels.at[best].trail, w->s);
  return true;
}

bool visit_labels_bound(int64_t *lower_ns, int32_t *memory, const visits *v, const visit_path *path,
                        const int64_t *head, const int64_t *tail, budget *b) {
  REQUIRE(path->n > 0 && path->unit_bytes > 0);
  arena_mark mark = arena_get_mark(v->scratch);
  recursion *w = ARENA_ZERO(v->scratch, recursion, 1);
  visit_trail trail = {.a = v->scratch};
  *lower_ns = 0;
  bool made = w && ARENA_ARRAYS(v->scratch, ZEROS(w->units, v->problem->n_operators), ARRAY(w->courses, MAX_COURSES),
                                ARRAY(w->some, MAX_COURSES), ARRAY(w->more, MAX_COURSES), ARRAY(w->all, MAX_COURSES),
                                ARRAY(w->passages, MAX_PASSAGES));
  if (made && v->kinds.n <= MAX_KINDS) {
    w->s = v;
    w->kinds = &v->kinds;
    w->c = *path;
    w->head = head;
    w->tail = tail;
    find_channels(w);
    find_serial(w);
    made = carry(w, v->scratch);
    w->budget = b;
    w->trail = memory ? &trail : NULL;
    if (made && !recursion_run(lower_ns, memory, w)) *lower_ns = 0;
    made = made && !w->no_memory;
  }
  arena_release(v->scratch, mark);
  return made;
}
