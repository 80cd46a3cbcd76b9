#include "solve/pipeline/boundary_ranges.h"

#include <math.h>

#include "base/bit_rows.h"
#include "base/checked.h"
#include "base/contracts.h"

enum { BITS = 30, SWEEPS = 4, BISECTIONS = 48 };

/* time * rate, rounded down. Rates are at most 1, so that it fits. */
static int64_t scale(int64_t time_ns, int64_t rate) { return (int64_t)(((__int128)time_ns * rate) >> BITS); }

/* The sum of prices divided by the rate of all devices, if type t has rate x and no class costs more than `others`. */
static double worth(const stages *s, int32_t t, double x, const double *others, double rest) {
  double sum = 0;
  for (int32_t i = 0; i < s->n; i++) {
    int64_t time_ns = stages_time_ns(s, t, i);
    double mine = time_ns == SITU_NEVER_NS ? (double)INFINITY : (double)time_ns * x;
    double min = fmin(mine, others[i]);
    if (min < (double)INFINITY) sum += min;
  }
  return sum / (rest + x * s->types[t].n_devices);
}

/* The best rate of type t for the given rates of the others, by ternary search over its exponent: the numerator is
 * concave and the denominator linear, so the quotient has one peak. */
static double improve(const stages *s, int32_t t, const double *rate, double *others) {
  double rest = 0, low = -30, high = 30;
  for (int32_t k = 0; k < s->n_types; k++)
    if (k != t) rest += rate[k] * s->types[k].n_devices;
  for (int32_t i = 0; i < s->n; i++) {
    others[i] = (double)INFINITY;
    for (int32_t k = 0; k < s->n_types; k++) {
      int64_t time_ns = stages_time_ns(s, k, i);
      if (k != t && time_ns != SITU_NEVER_NS) others[i] = fmin(others[i], (double)time_ns * rate[k]);
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

/* Whether some class can run on a type; where none can, no plan uses it. */
static bool runs_some(const stages *s, int32_t t) {
  for (int32_t i = 0; i < s->n; i++)
    if (stages_time_ns(s, t, i) != SITU_NEVER_NS) return true;
  return false;
}

/* Any rates are valid; these make the ranges narrow. */
static bool choose_rates(boundary_ranges *w, arena *a) {
  const stages *s = w->stages;
  double *rate = ARENA_NEW(a, double, s->n_types + 1), *others = ARENA_NEW(a, double, s->n + 1), max = 0;
  if (!rate || !others) return false;
  for (int32_t t = 0; t < s->n_types; t++) rate[t] = runs_some(s, t) ? 1 : 0;
  for (int32_t sweep = 0; sweep < SWEEPS && s->n_types > 1; sweep++)
    for (int32_t t = 0; t < s->n_types; t++)
      if (rate[t] > 0) rate[t] = improve(s, t, rate, others);
  for (int32_t t = 0; t < s->n_types; t++) max = fmax(max, rate[t]);
  for (int32_t t = 0; t < s->n_types; t++) w->rate[t] = rate[t] > 0 ? (int64_t)fmax(1, rate[t] / max * (1 << BITS)) : 0;
  return true;
}

static void set_prices(boundary_ranges *w) {
  const stages *s = w->stages;
  for (int32_t i = 0; i < s->n; i++) {
    int64_t min = SITU_NEVER_NS;
    for (int32_t t = 0; t < s->n_types; t++) {
      int64_t time_ns = stages_time_ns(s, t, i);
      if (time_ns != SITU_NEVER_NS) min = min64(min, scale(time_ns, w->rate[t]));
    }
    w->price[i] = min == SITU_NEVER_NS ? 0 : min;
    w->total += w->price[i];
  }
  for (int32_t e = 0; e < s->n_edges && !s->overlaps; e++) {
    int64_t in_ns = SITU_NEVER_NS, out_ns = SITU_NEVER_NS;
    for (int32_t t = 0; t < s->n_types; t++) {
      if (s->types[t].is_host) continue;
      int64_t in = 0, out = 0;
      for (int32_t row = t; row < s->n_rows; row += s->n_types) {
        in += s->in_ns[(int64_t)row * s->n_edges + e];
        out += s->out_ns[(int64_t)row * s->n_edges + e];
      }
      in_ns = min64(in_ns, scale(in, w->rate[t]));
      out_ns = min64(out_ns, scale(out, w->rate[t]));
    }
    w->in_price[e] = in_ns;
    w->out_price[e] = out_ns;
  }
}

static bool allocate(boundary_ranges *w, arena *a) {
  const stages *s = w->stages;
  int64_t n = w->n_states;
  bool made = true;
  for (int32_t k = 0; k < N_COUNTED * N_COUNTED; k++) {
    w->fronts[k].max_before = ARENA_NEW(a, int64_t, n);
    w->fronts[k].max_after = ARENA_NEW(a, int64_t, n);
    made &= w->fronts[k].max_before && w->fronts[k].max_after;
  }
  for (int32_t k = 0; k < N_COUNTED; k++) {
    w->max_before[k] = ARENA_NEW(a, int64_t, n);
    w->max_after[k] = ARENA_NEW(a, int64_t, n);
    made &= w->max_before[k] && w->max_after[k];
  }
  w->span = ARENA_NEW(a, int64_t, s->n_edges);
  w->is_short = ARENA_NEW(a, bool, s->n_edges);
  w->min_left = ARENA_NEW(a, int64_t, n);
  w->min_right = ARENA_NEW(a, int64_t, n);
  return made && w->span && w->is_short && w->min_left && w->min_right;
}

/* The spans of edges of which one pin comes before all others in F, or after all; those of others are unknown. A device
 * between pin x and pin y holds neither predecessors of x nor successors of y. */
static bool find_spans(boundary_ranges *w, arena *a) {
  const stages *s = w->stages;
  arena_mark mark = arena_get_mark(a);
  uint64_t *before = ARENA_ZERO(a, uint64_t, (int64_t)s->n * s->n_words);
  int64_t *up = ARENA_ZERO(a, int64_t, s->n),
          *down = ARENA_ZERO(a, int64_t, s->n); /* it and what comes before, after */
  int64_t *into = ARENA_ZERO(a, int64_t, s->n), *from = ARENA_ZERO(a, int64_t, s->n); /* loose in edges there */
  if (!before || !up || !down || !into || !from) return false;
  for (int32_t e = 0; e < s->n_edges; e++) {
    if (w->loose[e] == 0) continue; /* such edges join two classes */
    into[s->pin[s->pin_start[e] + 1]] += w->loose[e];
    from[s->pin[s->pin_start[e]]] += w->loose[e];
  }
  for (int32_t v = 0; v < s->n; v++) {
    uint64_t *mine = before + (int64_t)v * s->n_words;
    const uint64_t *direct = s->predecessors + (int64_t)v * s->n_words;
    up[v] += w->price[v] + into[v];
    down[v] += w->price[v] + from[v];
    for (int32_t k = 0; k < s->n_words; k++)
      for (uint64_t left = direct[k]; left; left &= left - 1) {
        const uint64_t *its = before + (int64_t)(k * 64 + __builtin_ctzll(left)) * s->n_words;
        for (int32_t i = 0; i <= k; i++) mine[i] |= its[i];
        mine[k] |= left & -left;
      }
    for (int32_t k = 0; k <= v / 64; k++)
      for (uint64_t left = mine[k]; left; left &= left - 1) {
        int32_t u = k * 64 + __builtin_ctzll(left);
        up[v] += w->price[u] + into[u];
        down[u] += w->price[v] + from[v];
      }
  }
  for (int32_t e = 0; e < s->n_edges; e++) {
    int32_t x = s->pin[s->pin_start[e]];
    bool first = true, last = true;
    int64_t as_first = 0, as_last = 0;
    for (int32_t i = s->pin_start[e] + 1; i < s->pin_start[e + 1]; i++) {
      int32_t y = s->pin[i];
      first &= bits_have(before + (int64_t)y * s->n_words, x);
      last &= bits_have(before + (int64_t)x * s->n_words, y);
      as_first = max64(as_first, w->total - up[x] - down[y]);
      as_last = max64(as_last, w->total - up[y] - down[x]);
    }
    w->span[e] = first ? as_first : last ? as_last : INT64_MAX;
  }
  arena_release(a, mark);
  return true;
}

/* Numbers the states. */
static bool number_states(boundary_ranges *w, arena *a) {
  const stages *s = w->stages;
  int64_t n_states = 1;
  w->weight = ARENA_NEW(a, int32_t, s->n_types + 1);
  if (!w->weight) return false;
  for (int32_t t = 0; t < s->n_types; t++) {
    w->weight[t] = (int32_t)n_states;
    n_states *= s->types[t].n_devices + 1;
    if (n_states > BOUNDARY_MAX_STATES) n_states = BOUNDARY_MAX_STATES + 1;
  }
  w->n_states = (int32_t)n_states;
  return true;
}

bool boundary_ranges_init(boundary_ranges *w, const stages *s, arena *a) {
  REQUIRE(!s->too_large);
  *w = (boundary_ranges){.stages = s};
  if (!number_states(w, a)) return false;
  if (w->n_states > BOUNDARY_MAX_STATES) return true;
  if (!ARENA_ARRAYS(a, ARRAY(w->price, s->n), ZEROS(w->in_price, s->n_edges), ZEROS(w->out_price, s->n_edges),
                    ZEROS(w->loose, s->n_edges), ARRAY(w->rate, s->n_types + 1)))
    return false;
  if (!allocate(w, a) || !choose_rates(w, a)) return false;
  set_prices(w);
  ENSURE(contracts_amounts(w->price, s->n) && contracts_amounts(w->in_price, s->n_edges));
  return find_spans(w, a);
}

bool boundary_ranges_of(boundary_ranges *w, const stages *s, const boundary_ranges *fine, int64_t *price,
                        int64_t *in_price, int64_t *out_price, int64_t *loose, arena *a) {
  *w = (boundary_ranges){.stages = s,
                         .price = price,
                         .in_price = in_price,
                         .out_price = out_price,
                         .loose = loose,
                         .rate = fine->rate,
                         .total = fine->total};
  return number_states(w, a) && allocate(w, a) && find_spans(w, a);
}

int64_t boundary_ranges_price(const boundary_ranges *w, int32_t type, int64_t time_ns) {
  return scale(time_ns, w->rate[type]);
}

/* Inserts a state into a front that is sorted by falling room before and holds no dominated state. */
static void insert(boundary_front *f, int64_t before, int64_t after) {
  int32_t at = 0;
  while (at < f->n && f->max_before[at] >= before && f->max_after[at] < after) at++;
  if (at < f->n && f->max_before[at] >= before) return;
  int32_t end = at; /* past those that the new one dominates */
  while (end < f->n && f->max_after[end] <= after) end++;
  int32_t shift = at + 1 - end;
  if (shift > 0)
    for (int32_t i = f->n - 1; i >= end; i--) {
      f->max_before[i + 1] = f->max_before[i];
      f->max_after[i + 1] = f->max_after[i];
    }
  for (int32_t i = end; shift < 0 && i < f->n; i++) {
    f->max_before[i + shift] = f->max_before[i];
    f->max_after[i + shift] = f->max_after[i];
  }
  f->n += shift;
  f->max_before[at] = before;
  f->max_after[at] = after;
}

static int32_t min32(int32_t a, int32_t b) { return a < b ? a : b; }

/* The maximum price beside a boundary in a state, less what short edges cost there the devices on the side of `max`. */
static int64_t room_at(int64_t *const max[N_COUNTED], const int64_t *min, int32_t state) {
  return max64(max[COUNT_NONE][state], max64(max[COUNT_ALL][state], max[COUNT_SHORT][state]) - min[state]);
}

/* Room before the boundaries of a state: that of the state with one device less (or several that share a part), plus
 * what the last device can hold, less what short edges cost it at its other end. Room after: the same from the other
 * end, where devices may stay unused. */
static void fill_room(boundary_ranges *w, int32_t state, bool after) {
  const stages *s = w->stages;
  int64_t *const *room_of = after ? w->max_after : w->max_before;
  const int64_t *own = after ? w->min_right : w->min_left, *other_end = after ? w->min_left : w->min_right;
  int64_t max[2] = {after ? 0 : -1, -1}; /* the last device is an accelerator, a host */
  bool hosts = false;
  for (int32_t t = 0; t < s->n_types; t++) {
    bool host = s->types[t].is_host;
    int32_t used = boundary_ranges_used(w, state, t);
    int32_t max_sharing = min32(after ? s->types[t].n_devices - used : used, s->types[t].max_sharing);
    for (int32_t r = 1; r <= max_sharing && w->rate[t] > 0; r++) {
      int32_t next = state + (after ? r : -r) * w->weight[t];
      int64_t room = max64(0, room_at(room_of, own, next));
      room = sat_add(room, boundary_ranges_room(w, t, r)) - (host ? 0 : other_end[next]);
      max[host] = max64(max[host], max64(room, 0));
      hosts |= host;
    }
  }
  room_of[COUNT_ALL][state] = hosts ? -1 : max[0];
  room_of[COUNT_SHORT][state] = hosts ? max[0] : -1;
  room_of[COUNT_NONE][state] = max[1];
}

static void fill_rooms(boundary_ranges *w) {
  int32_t last = w->n_states - 1;
  for (int32_t k = 0; k < N_COUNTED; k++) w->max_before[k][0] = w->max_after[k][last] = k == COUNT_ALL ? 0 : -1;
  for (int32_t state = 1; state <= last; state++) fill_room(w, state, false);
  for (int32_t state = last - 1; state >= 0; state--) fill_room(w, state, true);
}

void boundary_ranges_tighten(boundary_ranges *w) {
  REQUIRE(w->n_states <= BOUNDARY_MAX_STATES);
  fill_rooms(w);
  for (int32_t k = 0; k < N_COUNTED * N_COUNTED; k++) {
    w->fronts[k].n = 0;
    const int64_t *before = w->max_before[k / N_COUNTED], *after = w->max_after[k % N_COUNTED];
    for (int32_t state = 0; state < w->n_states; state++)
      if (before[state] >= 0 && after[state] >= 0) insert(&w->fronts[k], before[state], after[state]);
  }
}

void boundary_ranges_set(boundary_ranges *w, int64_t max_ns) {
  REQUIRE(max_ns >= 0 && w->n_states <= BOUNDARY_MAX_STATES);
  const stages *s = w->stages;
  int64_t rooms = 0, min_room = INT64_MAX;
  w->max_ns = max_ns;
  for (int32_t t = 0; t < s->n_types; t++) {
    int32_t n = s->types[t].n_devices;
    bool shared = s->types[t].max_sharing > 1;
    rooms = sat_add(rooms, shared ? boundary_ranges_room(w, t, n) : sat_mul(boundary_ranges_room(w, t, 1), n));
    if (!s->types[t].is_host) min_room = min64(min_room, boundary_ranges_room(w, t, 1));
  }
  w->slack = rooms - w->total;
  for (int32_t e = 0; e < s->n_edges; e++) /* an accelerator holds at least what exceeds the room of the others */
    w->is_short[e] = rooms < INT64_MAX && w->span[e] < w->total - (rooms - min_room);
  for (int32_t state = 0; state < w->n_states; state++) w->min_left[state] = w->min_right[state] = 0;
  boundary_ranges_tighten(w);
}

static int64_t count_before(const boundary *b, int32_t k) {
  return b->before + (k == COUNT_ALL ? b->left : k == COUNT_SHORT ? b->short_left : 0);
}

static int64_t count_after(const boundary *b, int32_t k) {
  return b->after + (k == COUNT_ALL ? b->right : k == COUNT_SHORT ? b->short_right : 0);
}

bool boundary_ranges_allow(const boundary_ranges *w, int32_t state, const boundary *b) {
  bool before = false, after = false;
  for (int32_t k = 0; k < N_COUNTED; k++) {
    before |= count_before(b, k) <= w->max_before[k][state];
    after |= count_after(b, k) <= w->max_after[k][state];
  }
  return before && after;
}

bool boundary_ranges_allow_some(const boundary_ranges *w, const boundary *b) {
  for (int32_t k = 0; k < N_COUNTED * N_COUNTED; k++) {
    const boundary_front *f = &w->fronts[k];
    int64_t before = count_before(b, k / N_COUNTED), after = count_after(b, k % N_COUNTED);
    int32_t low = 0, high = f->n; /* states with room before come first; the last of them has the most room after */
    while (low < high) {
      int32_t middle = (low + high) / 2;
      if (f->max_before[middle] >= before)
        low = middle + 1;
      else
        high = middle;
    }
    if (low > 0 && f->max_after[low - 1] >= after) return true;
  }
  return false;
}
