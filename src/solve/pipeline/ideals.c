#include "solve/pipeline/ideals.h"

#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "base/contracts.h"
#include "base/csr.h"
#include "base/resize.h"

enum { MAX_NARROWED = 64 }; /* states */

void ideals_free(ideal_set *set) {
  free(set->bits);
  free(set->sums);
  free(set->boundaries);
  free(set->weight_bytes);
  free(set->straddle_start);
  free(set->straddles);
  *set = (ideal_set){0};
}

static bool reserve(ideal_set *set, int64_t n_straddles) {
  const stages *s = set->stages;
  if (set->n + 1 >= set->capacity) {
    int64_t n = set->capacity = set->capacity ? set->capacity * 2 : 256;
    if (!array_resize(&set->bits, n * s->n_words, 8) || !array_resize(&set->sums, n * s->n_rows, sizeof *set->sums) ||
        !array_resize(&set->boundaries, n, sizeof *set->boundaries) || !array_resize(&set->weight_bytes, n, 8) ||
        !array_resize(&set->straddle_start, n + 1, 8))
      return false;
  }
  if (set->n_straddles + n_straddles > set->straddles_capacity) {
    set->straddles_capacity = set->straddles_capacity ? set->straddles_capacity * 2 : 1024;
    if (set->straddles_capacity < set->n_straddles + n_straddles)
      set->straddles_capacity = set->n_straddles + n_straddles;
    if (!array_resize(&set->straddles, set->straddles_capacity, sizeof *set->straddles)) return false;
  }
  return true;
}

static int64_t bytes_of(const ideal_set *set) {
  const stages *s = set->stages;
  return set->capacity * (8 * s->n_words + (int64_t)sizeof(ideal_sums) * s->n_rows + (int64_t)sizeof(boundary) + 16) +
         set->straddles_capacity * (int64_t)sizeof(straddle);
}

/* A frame of the enumeration: one for each class that is in, and one for the empty ideal. */
typedef struct frame {
  int32_t next;  /* class to try next */
  int32_t added; /* -1 for the empty ideal */
  int32_t tried; /* class of the branch that ended last, or -1: that class is out from now on */
  int32_t n_out; /* classes that were out when the frame began */
  int64_t weight_bytes;
  int64_t first; /* its straddles start here in the stack of straddles */
  int64_t n_straddles;
} frame;

/* How many pins of an edge are decided. */
typedef struct pins_decided {
  int32_t in, out;
} pins_decided;

typedef struct enumeration {
  const stages *s;
  const boundary_ranges *ranges;
  ideal_set *out;
  frame *frames;
  int32_t depth;
  int64_t *time_ns; /* [row] of the ideal at the top */
  int32_t *n_refused;
  uint64_t *bits;
  straddle *stack;
  int64_t stack_capacity;
  int32_t *after_start, *after; /* successors of each class */
  bool *is_out;                 /* [class] */
  int32_t *outs, n_outs;        /* classes that are out, in order of decision */
  pins_decided *pins;           /* [edge] */
  int64_t work;                 /* classes decided */
  boundary certain;             /* lower bounds for all ideals of this branch */
} enumeration;

/* Straddles of the ideal with class v added, merged from those without it and the edges that touch v. */
static bool push_straddles(enumeration *w, const frame *below, frame *top, int32_t v) {
  const stages *s = w->s;
  top->first = below->first + below->n_straddles;
  int64_t max = top->first + below->n_straddles + s->touch_start[v + 1] - s->touch_start[v];
  if (max > w->stack_capacity) {
    w->stack_capacity = max * 2;
    if (!array_resize(&w->stack, w->stack_capacity, sizeof *w->stack)) return false;
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

/* Adds (sign 1) or subtracts (sign -1) the cost of a straddling edge. */
static void add_edge(boundary *b, const boundary_ranges *w, int32_t e, int64_t left, int64_t right, int sign) {
  b->left += sign * left;
  b->right += sign * right;
  if (!w->is_short[e]) return;
  b->short_left += sign * left;
  b->short_right += sign * right;
}

/* The same for edge e if the decided classes make it straddle. */
static void count_edge(enumeration *w, int32_t e, int sign) {
  if (w->pins[e].in == 0 || w->pins[e].out == 0) return;
  int64_t in = w->ranges->in_price[e], out = w->ranges->out_price[e];
  int32_t producer = w->s->pin[w->s->pin_start[e]];
  bool made_before = w->bits[producer / 64] >> (producer % 64) & 1, made_after = w->is_out[producer];
  add_edge(&w->certain, w->ranges, e,
           made_before  ? out
           : made_after ? in
                        : min64(in, out),
           made_before  ? in
           : made_after ? out
                        : min64(in, out),
           sign);
}

static void decide(enumeration *w, int32_t v, bool in, int sign) {
  const stages *s = w->s;
  for (int32_t i = s->touch_start[v]; i < s->touch_start[v + 1]; i++) count_edge(w, s->touch[i], -1);
  w->work++;
  if (in)
    w->bits[v / 64] ^= 1ull << (v % 64);
  else
    w->is_out[v] = sign > 0;
  *(in ? &w->certain.before : &w->certain.after) += sign * w->ranges->price[v];
  for (int32_t i = s->touch_start[v]; i < s->touch_start[v + 1]; i++) {
    pins_decided *pins = &w->pins[s->touch[i]];
    int32_t e = s->touch[i], n_pins = s->pin_start[e + 1] - s->pin_start[e];
    int32_t before = in ? pins->in : pins->out, after = before + sign;
    *(in ? &pins->in : &pins->out) = after;
    *(in ? &w->certain.before : &w->certain.after) += ((after == n_pins) - (before == n_pins)) * w->ranges->loose[e];
    count_edge(w, e, 1);
  }
}

/* Decides that class v is out, and with it all its successors. */
static void leave_out(enumeration *w, int32_t v) {
  int32_t next = w->n_outs;
  w->outs[w->n_outs++] = v;
  decide(w, v, false, 1);
  for (; next < w->n_outs; next++) {
    int32_t u = w->outs[next];
    for (int32_t i = w->after_start[u]; i < w->after_start[u + 1]; i++) {
      if (w->is_out[w->after[i]]) continue;
      w->outs[w->n_outs++] = w->after[i];
      decide(w, w->after[i], false, 1);
    }
  }
}

static boundary boundary_of(const enumeration *w, const frame *f) {
  boundary b = {.before = w->certain.before, .after = w->ranges->total - w->certain.before};
  for (int64_t i = f->first; i < f->first + f->n_straddles; i++) {
    straddle at = w->stack[i];
    b.after -= w->ranges->loose[at.edge];
    int64_t in = w->ranges->in_price[at.edge], out = w->ranges->out_price[at.edge];
    add_edge(&b, w->ranges, at.edge, at.producer_inside ? out : in, at.producer_inside ? in : out, 1);
  }
  return b;
}

static bool keep(enumeration *w, const frame *f, const boundary *b) {
  ideal_set *set = w->out;
  const stages *s = w->s;
  if (!reserve(set, f->n_straddles)) return false;
  int64_t i = set->n++;
  if (w->depth == s->n) set->full = i;
  if (i == 0) set->straddle_start[0] = 0;
  memcpy(set->bits + i * s->n_words, w->bits, (size_t)s->n_words * 8);
  set->boundaries[i] = *b;
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

static void add_class(enumeration *w, int32_t v, int sign) {
  const stages *s = w->s;
  decide(w, v, true, sign);
  for (int32_t t = 0; t < s->n_rows; t++) {
    int64_t time_ns = s->time_ns[(int64_t)t * s->n + v];
    if (time_ns == SITU_NEVER_NS)
      w->n_refused[t] += sign;
    else
      w->time_ns[t] += sign * time_ns;
  }
}

/* Ends the branch of the top frame. False if it was the last. */
static bool leave(enumeration *w) {
  const frame *f = &w->frames[w->depth];
  while (w->n_outs > f->n_out) decide(w, w->outs[--w->n_outs], false, -1);
  if (w->depth == 0) return false;
  add_class(w, f->added, -1);
  w->frames[--w->depth].tried = f->added;
  return true;
}

/* The next class that may be in; -1 if there is none or the branch fits into no range any more. */
static int32_t next_class(enumeration *w, frame *f) {
  if (f->tried >= 0) {
    leave_out(w, f->tried);
    f->tried = -1;
    if (!boundary_ranges_allow_some(w->ranges, &w->certain)) return -1;
  }
  if (w->depth + w->n_outs == w->s->n) return -1;
  while (w->is_out[f->next]) f->next++;
  return f->next++;
}

/* Adds class v: the top frame becomes that of the ideal with it. False without memory. */
static bool enter(enumeration *w, int32_t v) {
  frame *f = &w->frames[w->depth], *top = f + 1;
  *top = (frame){.next = v + 1,
                 .added = v,
                 .tried = -1,
                 .n_out = w->n_outs,
                 .weight_bytes = f->weight_bytes + w->s->weight_bytes[v]};
  if (!push_straddles(w, f, top, v)) return false;
  add_class(w, v, 1);
  w->depth++;
  return true;
}

static ideals_result enumeration_run(enumeration *w, int64_t max_work, int64_t max_bytes, budget *b) {
  w->frames[0] = (frame){.added = -1, .tried = -1};
  if (!keep(w, &w->frames[0], &(boundary){.after = w->ranges->total})) return IDEALS_NO_MEMORY;
  w->out->n_seen = 1;
  while (true) {
    int32_t v = next_class(w, &w->frames[w->depth]);
    if (v < 0) {
      if (!leave(w)) return IDEALS_ALL;
      continue;
    }
    if (!enter(w, v)) return IDEALS_NO_MEMORY;
    const frame *top = &w->frames[w->depth];
    w->out->n_seen++;
    boundary now = boundary_of(w, top);
    bool wanted = boundary_ranges_allow_some(w->ranges, &now);
    if (wanted && !keep(w, top, &now)) return IDEALS_NO_MEMORY;
    bool look = w->out->n_seen % 1024 == 0;
    if (look && (budget_spend(b, 1) || w->work > max_work || bytes_of(w->out) > max_bytes)) return IDEALS_STOPPED;
    if (!wanted && !boundary_ranges_allow_some(w->ranges, &w->certain)) leave(w);
  }
}

/* The minimum costs of short edges so far, by state. */
typedef struct edge_minima {
  int64_t *left, *right;
} edge_minima;

static void lower(const edge_minima *min, const boundary_ranges *w, const boundary *b) {
  for (int32_t state = 0; state < w->n_states; state++) {
    if (b->short_left >= min->left[state] && b->short_right >= min->right[state]) continue;
    if (!boundary_ranges_allow(w, state, b)) continue;
    min->left[state] = min64(min->left[state], b->short_left);
    min->right[state] = min64(min->right[state], b->short_right);
  }
}

static bool may_lower(const edge_minima *min, const boundary_ranges *w, const boundary *b) {
  for (int32_t state = 0; state < w->n_states; state++)
    if ((b->short_left < min->left[state] || b->short_right < min->right[state]) && boundary_ranges_allow(w, state, b))
      return true;
  return false;
}

static ideals_result enumerate_minima(enumeration *w, const edge_minima *min, int64_t max_work, budget *b) {
  w->frames[0] = (frame){.added = -1, .tried = -1};
  lower(min, w->ranges, &(boundary){.after = w->ranges->total});
  for (int64_t n_seen = 1;; n_seen++) {
    int32_t v = next_class(w, &w->frames[w->depth]);
    if (v < 0) {
      if (!leave(w)) return IDEALS_ALL;
      continue;
    }
    if (!enter(w, v)) return IDEALS_NO_MEMORY;
    boundary now = boundary_of(w, &w->frames[w->depth]);
    lower(min, w->ranges, &now);
    if (n_seen % 1024 == 0 && (budget_spend(b, 1) || w->work > max_work)) return IDEALS_STOPPED;
    if (!may_lower(min, w->ranges, &w->certain)) leave(w);
  }
}

/* Lists the successors of each class by number. */
static bool list_after(enumeration *w) {
  const stages *s = w->s;
  int64_t n = 0, n_bits = (int64_t)s->n * s->n_words;
  for (int64_t k = 0; k < n_bits; k++) n += __builtin_popcountll(s->predecessors[k]);
  w->after_start = calloc((size_t)s->n + 3, sizeof *w->after_start);
  w->after = malloc(((size_t)n + 1) * sizeof *w->after);
  if (!w->after_start || !w->after) return false;
  for (int pass = 0; pass < 2; pass++) { /* counts, then fills */
    for (int32_t v = 0; v < s->n; v++)
      for (int32_t k = 0; k < s->n_words; k++)
        for (uint64_t left = s->predecessors[(int64_t)v * s->n_words + k]; left; left &= left - 1) {
          int32_t u = k * 64 + __builtin_ctzll(left);
          if (pass == 0)
            csr_count(w->after_start, u);
          else
            w->after[csr_put(w->after_start, u)] = v;
        }
    if (pass == 0) csr_sum(w->after_start, s->n);
  }
  return true;
}

static bool enumeration_init(enumeration *w) {
  const stages *s = w->s;
  size_t n = (size_t)s->n + 2;
  w->stack_capacity = 1024;
  w->frames = malloc(n * sizeof *w->frames);
  w->time_ns = calloc((size_t)s->n_rows + 1, sizeof *w->time_ns);
  w->n_refused = calloc((size_t)s->n_rows + 1, sizeof *w->n_refused);
  w->bits = calloc((size_t)s->n_words + 1, sizeof *w->bits);
  w->stack = malloc((size_t)w->stack_capacity * sizeof *w->stack);
  w->is_out = calloc(n, sizeof *w->is_out);
  w->outs = malloc(n * sizeof *w->outs);
  w->pins = calloc((size_t)s->n_edges + 1, sizeof *w->pins);
  return w->frames && w->time_ns && w->n_refused && w->bits && w->stack && w->is_out && w->outs && w->pins &&
         list_after(w);
}

static void enumeration_free(enumeration *w) {
  free(w->frames);
  free(w->time_ns);
  free(w->n_refused);
  free(w->bits);
  free(w->stack);
  free(w->after_start);
  free(w->after);
  free(w->is_out);
  free(w->outs);
  free(w->pins);
}

ideals_result ideals_find(ideal_set *out, const boundary_ranges *open, int64_t max_work, int64_t max_bytes, budget *b) {
  *out = (ideal_set){.stages = open->stages, .ranges = open, .full = -1};
  enumeration w = {.s = open->stages, .ranges = open, .out = out};
  ideals_result result = enumeration_init(&w) ? enumeration_run(&w, max_work, max_bytes, b) : IDEALS_NO_MEMORY;
  enumeration_free(&w);
  ENSURE(result != IDEALS_ALL || (out->n >= 1 && out->full < out->n && out->n <= out->capacity));
  return result;
}

/* Raises the minimum costs of boundaries to the true ones, or to at_most where these are higher. */
static ideals_result find_minima(boundary_ranges *open, int64_t at_most, int64_t max_work, budget *b) {
  size_t n = (size_t)open->n_states;
  enumeration w = {.s = open->stages, .ranges = open};
  edge_minima min = {.left = malloc(n * sizeof *min.left), .right = malloc(n * sizeof *min.right)};
  ideals_result result = IDEALS_NO_MEMORY;
  if (min.left && min.right && enumeration_init(&w)) {
    for (size_t i = 0; i < n; i++) min.left[i] = min.right[i] = at_most;
    result = enumerate_minima(&w, &min, max_work, b);
  }
  for (size_t i = 0; i < n && result == IDEALS_ALL; i++) {
    open->min_left[i] = max64(open->min_left[i], min.left[i]);
    open->min_right[i] = max64(open->min_right[i], min.right[i]);
  }
  if (result == IDEALS_ALL) boundary_ranges_tighten(open);
  free(min.left);
  free(min.right);
  enumeration_free(&w);
  return result;
}

bool ideals_narrow(boundary_ranges *open, int64_t max_work, budget *b) {
  if (open->n_states > MAX_NARROWED) return true;
  for (int64_t part = 64; part > 0; part /= 2) {
    int64_t at_most = open->slack / part;
    if (at_most <= 0) continue;
    ideals_result result = find_minima(open, at_most, max_work, b);
    if (result == IDEALS_NO_MEMORY) return false;
    if (result == IDEALS_STOPPED) break;
  }
  return true;
}

bool ideals_within(const ideal_set *set, int64_t i, int64_t j) {
  REQUIRE(i >= 0 && i < set->n && j >= 0 && j < set->n);
  int32_t n_words = set->stages->n_words;
  const uint64_t *a = set->bits + i * n_words, *b = set->bits + j * n_words;
  for (int32_t k = 0; k < n_words; k++)
    if (a[k] & ~b[k]) return false;
  return true;
}

static int compare_prices(const void *a, const void *b) {
  const int64_t *x = a, *y = b; /* pairs of price and ideal */
  if (x[0] != y[0]) return x[0] < y[0] ? -1 : 1;
  return (x[1] > y[1]) - (x[1] < y[1]);
}

int32_t *ideals_by_price(const ideal_set *set) {
  int64_t *pairs = malloc(((size_t)set->n + 1) * 2 * sizeof *pairs);
  int32_t *order = malloc(((size_t)set->n + 1) * sizeof *order);
  for (int64_t i = 0; pairs && order && i < set->n; i++) {
    pairs[2 * i] = set->boundaries[i].before;
    pairs[2 * i + 1] = i;
  }
  if (pairs && order) {
    qsort(pairs, (size_t)set->n, 2 * sizeof *pairs, compare_prices);
    for (int64_t i = 0; i < set->n; i++) order[i] = (int32_t)pairs[2 * i + 1];
    ENSURE(contracts_permutation(order, set->n));
  } else {
    free(order);
    order = NULL;
  }
  free(pairs);
  return order;
}

bool ideals_in_state(const ideal_set *set, int64_t i, int32_t state) {
  return boundary_ranges_allow(set->ranges, state, &set->boundaries[i]);
}

/* Whether the classes between two ideals fit into a memory. The sum of weights decides nearly always. */
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

bool ideals_may_keep(const ideal_set *set, int64_t from, int64_t to, int32_t row, int32_t k, int32_t r) {
  const stages *s = set->stages;
  const int64_t *weights = s->deep_weight_bytes + (int64_t)k * s->n;
  const int64_t *running = r > 1 ? s->gathered_bytes : s->footprint_bytes;
  int64_t sum = 0, sharded = 0, max = 0;
  for (int32_t w = 0; w < s->n_words; w++)
    for (uint64_t left = set->bits[to * s->n_words + w] & ~set->bits[from * s->n_words + w]; left; left &= left - 1) {
      int32_t i = w * 64 + __builtin_ctzll(left);
      sum = sat_add(sum, weights[i]);
      sharded = sat_add(sharded, s->sharded_bytes[i]);
      max = max64(max, running[i]);
    }
  return sat_add(sat_add(sum, sharded / r + (sharded % r > 0)), max) <= s->types[row].memory_bytes;
}

stage_cost ideals_cost(const ideal_set *set, int64_t from, int64_t to, int32_t row) {
  const stages *s = set->stages;
  const ideal_sums *lower = &set->sums[from * s->n_rows + row], *upper = &set->sums[to * s->n_rows + row];
  int64_t compute_ns = upper->time_ns - lower->time_ns;
  if (s->types[row].is_host) return (stage_cost){compute_ns, 0, 0};
  int64_t in_ns = upper->upper_in_ns + lower->lower_in_ns, out_ns = upper->upper_out_ns + lower->lower_out_ns;
  const int64_t *edge_in = s->in_ns + (int64_t)row * s->n_edges, *edge_out = s->out_ns + (int64_t)row * s->n_edges;
  const straddle *a = set->straddles + set->straddle_start[from],
                 *a_end = set->straddles + set->straddle_start[from + 1];
  const straddle *b = set->straddles + set->straddle_start[to], *b_end = set->straddles + set->straddle_start[to + 1];
  while (a < a_end && b < b_end) {
    if (a->edge != b->edge) {
      if (a->edge < b->edge)
        a++;
      else
        b++;
      continue;
    }
    /* Both sums count this edge as if all its inner pins were on this device; replace them by its true cost. */
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
