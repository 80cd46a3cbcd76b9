#include "solve/exact/windows.h"

#include <math.h>

#include "base/checked.h"

enum { BITS = 30, SWEEPS = 4, BISECTIONS = 48 };

/* time * reach, rounded down. Reaches are at most 1, so that it fits. */
static int64_t scale(int64_t time_ns, int64_t reach) { return (int64_t)(((__int128)time_ns * reach) >> BITS); }

/* The sum of prices for the reach of all devices, when type t has reach x and the classes cost `others` at most. */
static double worth(const stages *s, int32_t t, double x, const double *others, double rest) {
  double sum = 0;
  for (int32_t i = 0; i < s->n; i++) {
    int64_t time_ns = s->time_ns[(int64_t)t * s->n + i];
    double mine = time_ns == SITU_NEVER_NS ? (double)INFINITY : (double)time_ns * x;
    double least = fmin(mine, others[i]);
    if (least < (double)INFINITY) sum += least;
  }
  return sum / (rest + x * s->types[t].n_devices);
}

/* The best reach of type t beside those of the others, by ternary search over its exponent: the sum is concave and what
 * it is divided by is linear, so that the quotient has one peak. */
static double improve(const stages *s, int32_t t, const double *reach, double *others) {
  double rest = 0, low = -30, high = 30;
  for (int32_t k = 0; k < s->n_types; k++)
    if (k != t) rest += reach[k] * s->types[k].n_devices;
  for (int32_t i = 0; i < s->n; i++) {
    others[i] = (double)INFINITY;
    for (int32_t k = 0; k < s->n_types; k++) {
      int64_t time_ns = s->time_ns[(int64_t)k * s->n + i];
      if (k != t && time_ns != SITU_NEVER_NS) others[i] = fmin(others[i], (double)time_ns * reach[k]);
    }
  }
  for (int32_t k = 0; k < BISECTIONS; k++) {
    double a = low + (high - low) / 3, b = high - (high - low) / 3;
    if (worth(s, t, exp2(a), others, rest) < worth(s, t, exp2(b), others, rest))
      low = a;
    else
      high = b;
  }
  return exp2((low + high) / 2);
}

/* Any reaches are valid; these make the windows narrow. */
static bool choose_reaches(windows *w, arena *a) {
  const stages *s = w->stages;
  double *reach = ARENA_NEW(a, double, s->n_types + 1), *others = ARENA_NEW(a, double, s->n + 1), most = 0;
  if (!reach || !others) return false;
  for (int32_t t = 0; t < s->n_types; t++) reach[t] = 1;
  for (int32_t sweep = 0; sweep < SWEEPS && s->n_types > 1; sweep++)
    for (int32_t t = 0; t < s->n_types; t++) reach[t] = improve(s, t, reach, others);
  for (int32_t t = 0; t < s->n_types; t++) most = fmax(most, reach[t]);
  for (int32_t t = 0; t < s->n_types; t++) w->reach[t] = (int64_t)(reach[t] / most * (1 << BITS));
  return true;
}

static void set_prices(windows *w) {
  const stages *s = w->stages;
  for (int32_t i = 0; i < s->n; i++) {
    int64_t least = SITU_NEVER_NS;
    for (int32_t t = 0; t < s->n_types; t++) {
      int64_t time_ns = s->time_ns[(int64_t)t * s->n + i];
      if (time_ns != SITU_NEVER_NS) least = min64(least, scale(time_ns, w->reach[t]));
    }
    w->price[i] = least == SITU_NEVER_NS ? 0 : least;
  }
  for (int32_t e = 0; e < s->n_edges && !s->problem->overlap; e++) {
    int64_t in_ns = SITU_NEVER_NS, out_ns = SITU_NEVER_NS;
    for (int32_t t = 0; t < s->n_types; t++) {
      if (s->types[t].is_host) continue;
      in_ns = min64(in_ns, scale(s->in_ns[(int64_t)t * s->n_edges + e], w->reach[t]));
      out_ns = min64(out_ns, scale(s->out_ns[(int64_t)t * s->n_edges + e], w->reach[t]));
    }
    w->in_price[e] = in_ns;
    w->out_price[e] = out_ns;
  }
}

static bool allocate(windows *w, arena *a) {
  const stages *s = w->stages;
  int64_t n = w->n_states;
  for (int32_t k = 0; k < 4; k++) {
    w->fronts[k].most_before = ARENA_NEW(a, int64_t, n);
    w->fronts[k].most_after = ARENA_NEW(a, int64_t, n);
    if (!w->fronts[k].most_before || !w->fronts[k].most_after) return false;
  }
  w->price = ARENA_NEW(a, int64_t, s->n);
  w->in_price = ARENA_ZERO(a, int64_t, s->n_edges);
  w->out_price = ARENA_ZERO(a, int64_t, s->n_edges);
  w->reach = ARENA_NEW(a, int64_t, s->n_types + 1);
  w->most_before = ARENA_NEW(a, int64_t, n);
  w->most_after = ARENA_NEW(a, int64_t, n);
  w->hosts_before = ARENA_NEW(a, bool, n);
  w->hosts_after = ARENA_NEW(a, bool, n);
  return w->price && w->in_price && w->out_price && w->reach && w->most_before && w->most_after && w->hosts_before &&
         w->hosts_after;
}

bool windows_init(windows *w, const stages *s, arena *a) {
  *w = (windows){.stages = s};
  int64_t n_states = 1;
  w->weight = ARENA_NEW(a, int32_t, s->n_types + 1);
  if (!w->weight) return false;
  for (int32_t t = 0; t < s->n_types; t++) {
    w->weight[t] = (int32_t)n_states;
    n_states *= s->types[t].n_devices + 1;
    if (n_states > WINDOWS_MOST_STATES) n_states = WINDOWS_MOST_STATES + 1;
  }
  w->n_states = (int32_t)n_states;
  if (n_states > WINDOWS_MOST_STATES) return true;
  if (!allocate(w, a) || !choose_reaches(w, a)) return false;
  set_prices(w);
  return true;
}

int64_t windows_room(const windows *w, int32_t type, int64_t most_ns) { return scale(most_ns, w->reach[type]); }

/* Puts a state into a front that is sorted by falling room before, without what another state makes needless. */
static void insert(window_front *f, int64_t before, int64_t after) {
  int32_t at = 0;
  while (at < f->n && f->most_before[at] >= before && f->most_after[at] < after) at++;
  if (at < f->n && f->most_before[at] >= before) return;
  int32_t end = at; /* those that the new one makes needless */
  while (end < f->n && f->most_after[end] <= after) end++;
  int32_t shift = at + 1 - end;
  if (shift > 0)
    for (int32_t i = f->n - 1; i >= end; i--) {
      f->most_before[i + 1] = f->most_before[i];
      f->most_after[i + 1] = f->most_after[i];
    }
  for (int32_t i = end; shift < 0 && i < f->n; i++) {
    f->most_before[i + shift] = f->most_before[i];
    f->most_after[i + shift] = f->most_after[i];
  }
  f->n += shift;
  f->most_before[at] = before;
  f->most_after[at] = after;
}

void windows_set(windows *w, int64_t most_ns) {
  const stages *s = w->stages;
  for (int32_t k = 0; k < 4; k++) w->fronts[k].n = 0;
  for (int32_t state = 0; state < w->n_states; state++) {
    w->most_before[state] = w->most_after[state] = 0;
    w->hosts_before[state] = w->hosts_after[state] = false;
    for (int32_t t = 0; t < s->n_types; t++) {
      int32_t used = windows_used(w, state, t), left = s->types[t].n_devices - used;
      int64_t room = windows_room(w, t, most_ns);
      w->most_before[state] = sat_add(w->most_before[state], sat_mul(room, used));
      w->most_after[state] = sat_add(w->most_after[state], sat_mul(room, left));
      w->hosts_before[state] |= s->types[t].is_host && used > 0;
      w->hosts_after[state] |= s->types[t].is_host && left > 0;
    }
    insert(&w->fronts[w->hosts_before[state] + 2 * w->hosts_after[state]], w->most_before[state], w->most_after[state]);
  }
}

bool windows_allow(const windows *w, int32_t state, const boundary *b) {
  return b->before + (w->hosts_before[state] ? 0 : b->left) <= w->most_before[state] &&
         b->after + (w->hosts_after[state] ? 0 : b->right) <= w->most_after[state];
}

bool windows_allow_some(const windows *w, const boundary *b) {
  for (int32_t k = 0; k < 4; k++) {
    const window_front *f = &w->fronts[k];
    int64_t before = b->before + (k & 1 ? 0 : b->left), after = b->after + (k & 2 ? 0 : b->right);
    int32_t low = 0, high = f->n; /* the states with room before are the first ones; the last has most room after */
    while (low < high) {
      int32_t middle = (low + high) / 2;
      if (f->most_before[middle] >= before)
        low = middle + 1;
      else
        high = middle;
    }
    if (low > 0 && f->most_after[low - 1] >= after) return true;
  }
  return false;
}
