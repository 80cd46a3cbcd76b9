#include "chain/visit_trail.h"

#include <string.h>

#include "base/checked.h"

enum { FEW_STEPS = 1 << 10 };

int32_t trail_add(visit_trail *t, trail_pool *to, trail_step s) {
  if (to->n == to->capacity && !t->no_memory) {
    bool full = to->capacity > INT32_MAX / 2;
    int32_t capacity = full ? to->capacity : to->capacity > 0 ? 2 * to->capacity : FEW_STEPS;
    trail_step *at = full ? NULL : ARENA_NEW(t->a, trail_step, capacity);
    t->no_memory = !at;
    if (at && to->n > 0) memcpy(at, to->at, (size_t)to->n * sizeof *at);
    if (at) *to = (trail_pool){at, to->n, capacity};
  }
  if (t->no_memory) return -1;
  to->at[to->n] = s;
  return to->n++;
}

int32_t trail_keep(visit_trail *t, int32_t last, int32_t bypasses) {
  int32_t before = -1, n_visits = 0;
  for (int32_t i = last < 0 ? -1 : t->inside.at[last].before; i >= 0; i = t->inside.at[i].before) {
    trail_step s = t->inside.at[i];
    bool ends = s.fresh;
    if (s.final) s.place = GOAL;
    s.inside = true;
    s.beside = -1;
    s.fresh = false;
    s.before = before;
    s.visit = n_visits;
    before = trail_add(t, &t->outside, s);
    n_visits += ends; /* what comes before it is another visit */
  }
  for (int32_t i = bypasses; i >= 0; i = t->inside.at[i].before) {
    bool joins = t->inside.at[i].v < 0;
    int32_t place = HOME;
    for (int32_t k = joins ? t->inside.at[i].beside : i; k >= 0; k = t->inside.at[k].before) {
      trail_step s = t->inside.at[k];
      n_visits += s.place != place; /* unlike the one behind it */
      place = s.place;
      s.inside = true;
      s.beside = -1;
      s.before = before;
      s.visit = n_visits;
      before = trail_add(t, &t->outside, s);
    }
    n_visits++;
    if (!joins) break;
  }
  return before;
}

typedef struct visit {
  int32_t kind;
  int64_t bytes, footprint_bytes;
} visit;

typedef struct tour {
  trail_step *step; /* in order */
  int32_t *of;      /* [step] its visit */
  visit *visits;
  int32_t n, n_visits;
} tour;

static int32_t begin_visit(tour *w, int32_t kind) {
  w->visits[w->n_visits] = (visit){.kind = kind};
  return w->n_visits++;
}

/* The steps from `first` on that are within one block lie between those of its two ends, if these are there. */
static void visit_block(tour *w, int32_t first, int32_t end) {
  int32_t begin = w->n_visits;
  for (int32_t i = first; i < end; i++) {
    const trail_step *s = &w->step[i];
    w->of[i] = -1;
    if (s->place == HOME && first > 0) w->of[i] = w->of[first - 1];
    if (s->place == GOAL && end < w->n) w->of[i] = w->of[end];
    bool goes_on = i > first && w->of[i - 1] >= begin && w->step[i - 1].visit == s->visit;
    if (w->of[i] < 0 && goes_on) w->of[i] = w->of[i - 1];
    if (w->of[i] < 0 && s->place >= 0) w->of[i] = begin_visit(w, s->place);
  }
}

/* Counts the steps up to `last`, or puts them in order. */
static int32_t list_steps(trail_step *to, const trail_pool *from, int32_t last, int32_t n) {
  int32_t k = n;
  for (int32_t i = last; i >= 0; i = from->at[i].before) {
    k--;
    if (to) to[k] = from->at[i];
    for (int32_t b = from->at[i].beside; b >= 0; b = from->at[b].before) {
      k--;
      if (to) to[k] = from->at[b];
    }
  }
  return n - k;
}

static bool find_visits(tour *w, visit_trail *t, int32_t last) {
  w->n = list_steps(NULL, &t->outside, last, 0);
  if (!ARENA_ARRAYS(t->a, ARRAY(w->step, w->n), ARRAY(w->of, w->n), ARRAY(w->visits, w->n))) return false;
  list_steps(w->step, &t->outside, last, w->n);
  for (int32_t i = 0, now = -1; i < w->n; i++) {
    if (w->step[i].inside) continue;
    if (now < 0 || w->step[i].fresh) now = begin_visit(w, w->step[i].place);
    w->of[i] = now;
  }
  for (int32_t i = 0, end; i < w->n; i = end + 1) {
    for (end = i; end < w->n && w->step[end].inside; end++) continue;
    if (end > i) visit_block(w, i, end);
  }
  return true;
}

/* The fullest memory of its kind that the visit fits into; else the emptiest. */
static int32_t choose_memory(const visit *x, const int64_t *left, const visits *v) {
  int32_t best = -1;
  for (int32_t m = 0; m < v->n_memories; m++) {
    if (v->kinds.of[m] != x->kind) continue;
    if (v->problem->platform->memory_bytes[m] == SITU_UNLIMITED_BYTES) return m;
    bool fits = left[m] >= sat_add(x->bytes, x->footprint_bytes);
    bool best_fits = best >= 0 && left[best] >= sat_add(x->bytes, x->footprint_bytes);
    if (best < 0 || fits > best_fits || (fits == best_fits && (fits ? left[m] < left[best] : left[m] > left[best])))
      best = m;
  }
  return best;
}

bool trail_memories(int32_t *memory, visit_trail *t, int32_t last, const visits *v) {
  const situ_problem *p = v->problem;
  tour w = {.n = 0};
  int64_t *left = ARENA_NEW(t->a, int64_t, v->n_memories);
  bool *counted = ARENA_ZERO(t->a, bool, p->units.n);
  if (t->no_memory || !left || !counted || !find_visits(&w, t, last)) return false;
  for (int32_t i = 0; i < p->n_operators; i++) memory[i] = -1;
  for (int32_t m = 0; m < v->n_memories; m++) left[m] = p->platform->memory_bytes[m];
  for (int32_t i = 0; i < w.n; i++) {
    int32_t x = w.step[i].v, unit = p->units.of[x];
    if (w.of[i] < 0) continue;
    visit *to = &w.visits[w.of[i]];
    if (!counted[unit]) to->bytes = sat_add(to->bytes, v->weight_bytes[x]);
    to->footprint_bytes = max64(to->footprint_bytes, v->footprint_bytes[x]);
    counted[unit] = true;
  }
  int32_t *chosen = ARENA_NEW(t->a, int32_t, w.n_visits);
  if (!chosen) return false;
  for (int32_t k = 0; k < w.n_visits; k++) {
    int32_t m = choose_memory(&w.visits[k], left, v);
    left[m] -= min64(left[m], w.visits[k].bytes);
    chosen[k] = m;
  }
  for (int32_t i = 0; i < w.n; i++)
    if (w.of[i] >= 0) memory[w.step[i].v] = chosen[w.of[i]];
  return true;
}
