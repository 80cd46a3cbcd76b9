#include "solve/exact/ideals.h"

#include <stdlib.h>
#include <string.h>

#include "base/checked.h"

/* Kept ideals may take this much memory before the enumeration gives up. */
static const int64_t MOST_BYTES = (int64_t)1 << 30;

void ideals_free(ideal_set *set) {
  free(set->bits);
  free(set->sums);
  free(set->price);
  free(set->weight_bytes);
  free(set->straddle_start);
  free(set->straddles);
  *set = (ideal_set){0};
}

static bool resize(void *array, int64_t n, size_t size) {
  void **at = array;
  void *moved = realloc(*at, (size_t)n * size);
  if (!moved) return false;
  *at = moved;
  return true;
}

static bool reserve(ideal_set *set, int64_t n_straddles) {
  const stages *s = set->stages;
  if (set->n + 1 >= set->capacity) {
    int64_t n = set->capacity = set->capacity ? set->capacity * 2 : 256;
    if (!resize(&set->bits, n * s->n_words, 8) || !resize(&set->sums, n * s->n_rows, sizeof *set->sums) ||
        !resize(&set->price, n, 8) || !resize(&set->weight_bytes, n, 8) || !resize(&set->straddle_start, n + 1, 8))
      return false;
  }
  if (set->n_straddles + n_straddles > set->straddles_capacity) {
    set->straddles_capacity = set->straddles_capacity ? set->straddles_capacity * 2 : 1024;
    if (set->straddles_capacity < set->n_straddles + n_straddles)
      set->straddles_capacity = set->n_straddles + n_straddles;
    if (!resize(&set->straddles, set->straddles_capacity, sizeof *set->straddles)) return false;
  }
  return true;
}

static int64_t bytes_of(const ideal_set *set) {
  const stages *s = set->stages;
  return set->capacity * (8 * s->n_words + (int64_t)sizeof(ideal_sums) * s->n_rows + 24) +
         set->straddles_capacity * (int64_t)sizeof(straddle);
}

/* The walk: one frame for each class added on the way down. */
typedef struct frame {
  int32_t next; /* class to try next */
  int32_t added;
  int64_t price, weight_bytes;
  int64_t first; /* its straddles start here in the stack of straddles */
  int64_t n_straddles;
} frame;

typedef struct walk {
  const stages *s;
  const ideal_window *window;
  bool chain;
  ideal_set *out;
  frame *frames;
  int32_t depth;
  int64_t *time_ns; /* [row] of the ideal at the top */
  int32_t *n_refused;
  uint64_t *bits;
  straddle *stack;
  int64_t stack_capacity;
} walk;

/* Straddles of the ideal with class v added, merged from those without it and the edges that touch v. */
static bool push_straddles(walk *w, const frame *below, frame *top, int32_t v) {
  const stages *s = w->s;
  top->first = below->first + below->n_straddles;
  int64_t most = top->first + below->n_straddles + s->touch_start[v + 1] - s->touch_start[v];
  if (most > w->stack_capacity) {
    w->stack_capacity = most * 2;
    if (!resize(&w->stack, w->stack_capacity, sizeof *w->stack)) return false;
  }
  const straddle *old = w->stack + below->first, *end = old + below->n_straddles;
  straddle *to = w->stack + top->first;
  for (int32_t i = s->touch_start[v]; i < s->touch_start[v + 1]; i++) {
    int32_t e = s->touch[i];
    while (old < end && old->edge < e) *to++ = *old++;
    straddle now = {.edge = e};
    if (old < end && old->edge == e) now = *old++;
    now.inside++;
    now.producer_inside |= s->pin[s->pin_start[e]] == v;
    if (now.inside < s->pin_start[e + 1] - s->pin_start[e]) *to++ = now;
  }
  while (old < end) *to++ = *old++;
  top->n_straddles = to - (w->stack + top->first);
  return true;
}

static bool inside(const ideal_window *w, int32_t state, int64_t price, int64_t left, int64_t right) {
  return price + (w->hosts_before[state] ? 0 : left) <= w->most_before[state] &&
         w->total - price + (w->hosts_after[state] ? 0 : right) <= w->most_after[state];
}

static bool worth_keeping(const walk *w, const frame *f) {
  const ideal_window *window = w->window;
  const stages *s = w->s;
  if (w->chain || w->depth == s->n) return true;
  int64_t left = 0, right = 0;
  for (int64_t i = f->first; window->count_edges && i < f->first + f->n_straddles; i++) {
    straddle at = w->stack[i];
    int64_t in_ns = s->in_ns[(int64_t)window->reference * s->n_edges + at.edge];
    int64_t out_ns = s->out_ns[(int64_t)window->reference * s->n_edges + at.edge];
    left += at.producer_inside ? out_ns : in_ns;
    right += at.producer_inside ? in_ns : out_ns;
  }
  for (int32_t state = 0; state < window->n_states; state++)
    if (inside(window, state, f->price, left, right)) return true;
  return false;
}

static bool keep(walk *w, const frame *f) {
  ideal_set *set = w->out;
  const stages *s = w->s;
  if (!reserve(set, f->n_straddles)) return false;
  int64_t i = set->n++;
  if (w->depth == s->n) set->full = i;
  if (i == 0) set->straddle_start[0] = 0;
  memcpy(set->bits + i * s->n_words, w->bits, (size_t)s->n_words * 8);
  set->price[i] = f->price;
  set->weight_bytes[i] = f->weight_bytes;
  if (f->n_straddles > 0)
    memcpy(set->straddles + set->n_straddles, w->stack + f->first, (size_t)f->n_straddles * sizeof *set->straddles);
  set->n_straddles += f->n_straddles;
  set->straddle_start[i + 1] = set->n_straddles;
  for (int32_t t = 0; t < s->n_rows; t++) {
    ideal_sums *sums = &set->sums[i * s->n_rows + t];
    *sums = (ideal_sums){.time_ns = w->time_ns[t], .n_refused = w->n_refused[t]};
    for (int64_t k = set->straddle_start[i]; k < set->straddle_start[i + 1]; k++) {
      straddle at = set->straddles[k];
      int64_t in_ns = s->in_ns[(int64_t)t * s->n_edges + at.edge];
      int64_t out_ns = s->out_ns[(int64_t)t * s->n_edges + at.edge];
      *(at.producer_inside ? &sums->upper_out_ns : &sums->upper_in_ns) += at.producer_inside ? out_ns : in_ns;
      *(at.producer_inside ? &sums->lower_in_ns : &sums->lower_out_ns) += at.producer_inside ? in_ns : out_ns;
    }
  }
  return true;
}

static void add_class(walk *w, int32_t v, int sign) {
  const stages *s = w->s;
  w->bits[v / 64] ^= 1ull << (v % 64);
  for (int32_t t = 0; t < s->n_rows; t++) {
    int64_t time_ns = s->time_ns[(int64_t)t * s->n + v];
    if (time_ns == SITU_NEVER_NS)
      w->n_refused[t] += sign;
    else
      w->time_ns[t] += sign * time_ns;
  }
}

static bool may_add(const walk *w, int32_t v) {
  const uint64_t *needs = w->s->predecessors + (int64_t)v * w->s->n_words;
  for (int32_t k = 0; k <= v / 64; k++)
    if (needs[k] & ~w->bits[k]) return false;
  return true;
}

static ideals_result run_walk(walk *w, budget *b) {
  const stages *s = w->s;
  w->frames[0] = (frame){.added = -1};
  if (!keep(w, &w->frames[0])) return IDEALS_NO_MEMORY;
  w->out->n_seen = 1;
  while (true) {
    frame *f = &w->frames[w->depth];
    int32_t v = f->next;
    while (v < s->n && !may_add(w, v)) v++;
    if (v == s->n || (w->chain && v > w->depth)) {
      if (w->depth == 0) return IDEALS_ALL;
      add_class(w, f->added, -1);
      w->depth--;
      continue;
    }
    f->next = v + 1;
    frame *top = &w->frames[w->depth + 1];
    *top = (frame){.next = v + 1,
                   .added = v,
                   .price = f->price + w->window->price[v],
                   .weight_bytes = f->weight_bytes + s->weight_bytes[v]};
    if (!push_straddles(w, f, top, v)) return IDEALS_NO_MEMORY;
    add_class(w, v, 1);
    w->depth++;
    w->out->n_seen++;
    if (worth_keeping(w, top) && !keep(w, top)) return IDEALS_NO_MEMORY;
    if (w->out->n_seen % 1024 == 0 && (budget_spend(b, 1) || bytes_of(w->out) > MOST_BYTES)) return IDEALS_STOPPED;
  }
}

ideals_result ideals_find(ideal_set *out, const stages *s, const ideal_window *window, bool chain, budget *b) {
  *out = (ideal_set){.stages = s};
  walk w = {.s = s, .window = window, .chain = chain, .out = out};
  w.frames = malloc(((size_t)s->n + 2) * sizeof *w.frames);
  w.time_ns = calloc((size_t)s->n_rows + 1, sizeof *w.time_ns);
  w.n_refused = calloc((size_t)s->n_rows + 1, sizeof *w.n_refused);
  w.bits = calloc((size_t)s->n_words + 1, sizeof *w.bits);
  w.stack_capacity = 1024;
  w.stack = malloc((size_t)w.stack_capacity * sizeof *w.stack);
  ideals_result result = IDEALS_NO_MEMORY;
  if (w.frames && w.time_ns && w.n_refused && w.bits && w.stack) result = run_walk(&w, b);
  free(w.frames);
  free(w.time_ns);
  free(w.n_refused);
  free(w.bits);
  free(w.stack);
  return result;
}

bool ideals_in_state(const ideal_set *set, int64_t i, const ideal_window *window, int32_t state) {
  const ideal_sums *sums = &set->sums[i * set->stages->n_rows + window->reference];
  int64_t left = window->count_edges ? sums->upper_in_ns + sums->upper_out_ns : 0;
  int64_t right = window->count_edges ? sums->lower_in_ns + sums->lower_out_ns : 0;
  return inside(window, state, set->price[i], left, right);
}

/* Whether the classes between two ideals fit into a memory. The sum of weights nearly always decides. */
static bool fits(const ideal_set *set, int64_t from, int64_t to, int64_t memory_bytes) {
  const stages *s = set->stages;
  int64_t weights = set->weight_bytes[to] - set->weight_bytes[from], footprint = 0;
  if (weights > memory_bytes) return false;
  for (int32_t k = 0; k < s->n_words; k++)
    for (uint64_t left = set->bits[to * s->n_words + k] & ~set->bits[from * s->n_words + k]; left; left &= left - 1)
      footprint = max64(footprint, s->footprint_bytes[k * 64 + __builtin_ctzll(left)]);
  return footprint <= memory_bytes - weights;
}

bool ideals_may_hold(const ideal_set *set, int64_t from, int64_t to, int32_t row) {
  const stages *s = set->stages;
  if (set->sums[to * s->n_rows + row].n_refused > set->sums[from * s->n_rows + row].n_refused) return false;
  int64_t memory_bytes = s->types[row].memory_bytes;
  return memory_bytes == SITU_UNLIMITED_BYTES || fits(set, from, to, memory_bytes);
}

stage_cost ideals_cost(const ideal_set *set, int64_t from, int64_t to, int32_t row) {
  const stages *s = set->stages;
  const ideal_sums *lower = &set->sums[from * s->n_rows + row], *upper = &set->sums[to * s->n_rows + row];
  int64_t compute_ns = upper->time_ns - lower->time_ns;
  if (s->types[row].is_host) return (stage_cost){compute_ns, 0, 0};
  int64_t in_ns = upper->upper_in_ns + lower->lower_in_ns, out_ns = upper->upper_out_ns + lower->lower_out_ns;
  const int64_t *edge_in = s->in_ns + (int64_t)row * s->n_edges, *edge_out = s->out_ns + (int64_t)row * s->n_edges;
  const straddle *a = set->straddles + set->straddle_start[from], *a_end = set->straddles + set->straddle_start[from + 1];
  const straddle *b = set->straddles + set->straddle_start[to], *b_end = set->straddles + set->straddle_start[to + 1];
  while (a < a_end && b < b_end) {
    if (a->edge != b->edge) {
      if (a->edge < b->edge)
        a++;
      else
        b++;
      continue;
    }
    /* Both ends counted this edge as if all its inner pins were on this device; say what it really costs. */
    int64_t in_once = edge_in[a->edge], out_once = edge_out[a->edge];
    *(b->producer_inside ? &out_ns : &in_ns) -= b->producer_inside ? out_once : in_once;
    *(a->producer_inside ? &in_ns : &out_ns) -= a->producer_inside ? in_once : out_once;
    if (a->inside != b->inside) {
      bool made_here = b->producer_inside && !a->producer_inside;
      *(made_here ? &out_ns : &in_ns) += made_here ? out_once : in_once;
    }
    a++;
    b++;
  }
  return (stage_cost){compute_ns, in_ns, out_ns};
}
