/* The judge of runs: docs/theory/bounds/runs.md. In a contiguous pipeline the items of a chain of F that are on one
 * device are next to each other in the chain, and all that lies between two of them is there too. The least period at
 * which devices in some order can cover the chain so is a lower bound. */
#include <string.h>

#include "base/checked.h"
#include "base/fail.h"
#include "check/check_certificate.h"

enum { STATES = 1 << 12, SORTS = 64 };

/* Loads of a run are sums of times of distinct operators on one device, at most PROBLEM_MAX_NS; what it holds is at
 * most PROBLEM_MAX_BYTES. One place more is at most as much again. Places are at most SITU_MAX_OPERATORS, twice that
 * fits. */

typedef struct cover {
  const judge *j;
  check_items items;
  check_edges f;
  const int64_t *chain;
  int32_t n, n_sorts, n_states;
  int32_t device[SORTS], many[SORTS], stride[SORTS]; /* of a sort: one that stands for it, how many, states between */
  int32_t *place, *last, *next; /* [item] place in the chain, -1; last before it; first behind it */
  int64_t *load, *used_bytes;   /* [2 n * sort], [2 n]: places, and what lies behind each and
                             before the next */
  bool *barred;                 /* [2 n * sort] */
  int32_t *far;                 /* [sort * (n + 1)] the place behind the longest run from a place */
  int32_t *best;                /* [state] */
} cover;

static bool is_pinned_somewhere(const judge *j) {
  bool pinned = false;
  for (int32_t v = 0; v < j->graph->n_operators; v++) pinned |= j->problem->pin[v] >= 0;
  return pinned;
}

/* Devices that are equal for everything are of one sort. False where there are too many. */
static bool find_sorts(cover *w) {
  const judge *j = w->j;
  bool pinned = is_pinned_somewhere(j);
  for (int32_t d = 0; d < j->problem->n_devices; d++) {
    if (j->problem->unused[d] && !pinned) continue;
    int32_t s = 0, m = j->platform->memory_of[d];
    while (s < w->n_sorts &&
           (pinned || j->platform->class_of[w->device[s]] != j->platform->class_of[d] ||
            j->platform->memory_bytes[j->platform->memory_of[w->device[s]]] != j->platform->memory_bytes[m]))
      s++;
    if (s == SORTS) return false;
    if (s == w->n_sorts) {
      w->device[s] = d;
      w->many[s] = 0;
      w->n_sorts++;
    }
    w->many[s]++;
  }
  int64_t states = 1;
  for (int32_t s = 0; s < w->n_sorts; s++) {
    w->stride[s] = (int32_t)states;
    states *= w->many[s] + 1;
    if (states > STATES) return false;
  }
  w->n_states = (int32_t)states;
  return true;
}

/* False where the list is no chain of F: each item comes before the next. */
static bool find_places(cover *w, const int32_t *order) {
  for (int32_t i = 0; i < w->items.n; i++) {
    w->place[i] = w->last[i] = -1;
    w->next[i] = w->n;
  }
  for (int32_t k = 0; k < w->n; k++) {
    if (w->place[w->items.of[w->chain[k]]] >= 0) return false;
    w->place[w->items.of[w->chain[k]]] = k;
  }
  for (int32_t i = 0; i < w->items.n; i++) {
    int32_t x = order[i];
    if (w->place[x] >= 0 && w->last[x] != w->place[x] - 1) return false;
    for (int64_t e = w->f.start[x]; e < w->f.start[x + 1]; e++) {
      int32_t *last = &w->last[w->f.to[e]], here = w->place[x] >= 0 ? w->place[x] : w->last[x];
      if (*last < here) *last = here;
    }
  }
  for (int32_t i = w->items.n - 1; i >= 0; i--) {
    int32_t x = order[i];
    for (int64_t e = w->f.start[x]; e < w->f.start[x + 1]; e++) {
      int32_t y = w->f.to[e], there = w->place[y] >= 0 ? w->place[y] : w->next[y];
      if (there < w->next[x]) w->next[x] = there;
    }
  }
  return true;
}

static void add_up(cover *w) {
  for (int32_t v = 0; v < w->j->graph->n_operators; v++) {
    int32_t x = w->items.of[v], at = w->place[x] >= 0 ? 2 * w->place[x] : 2 * w->last[x] + 1;
    if (w->place[x] < 0 && (w->last[x] < 0 || w->next[x] == w->n || w->next[x] != w->last[x] + 1)) continue;
    w->used_bytes[at] = sat_add(w->used_bytes[at], check_held_bytes(w->j, v));
    for (int32_t s = 0; s < w->n_sorts; s++) {
      int64_t i = (int64_t)at * w->n_sorts + s;
      if (check_may_run(w->j, v, w->device[s]))
        w->load[i] = sat_add(w->load[i], judge_time_ns(w->j, v, w->device[s]));
      else
        w->barred[i] = true;
    }
  }
}

/* The longest runs of a sort from all places, with two pointers: what is in a run is added at its end and taken away at
 * its beginning. */
static void find_runs(cover *w, int32_t s, int64_t period_ns) {
  int64_t room = w->j->platform->memory_bytes[w->j->platform->memory_of[w->device[s]]], load = 0, used_bytes = 0;
  int32_t *far = w->far + (int64_t)s * (w->n + 1), end = 0, barred = 0;
  for (int32_t from = 0; from < w->n; from++) {
    if (end < from) end = from;
    while (end < w->n) {
      /* one place more, with what lies between it and the one before, where that is in the run */
      int64_t more = 0, bytes = 0;
      int32_t bars = 0;
      for (int32_t at = end > from ? 2 * end - 1 : 2 * end; at <= 2 * end; at++) {
        more += w->load[(int64_t)at * w->n_sorts + s];
        bytes += w->used_bytes[at];
        bars += w->barred[(int64_t)at * w->n_sorts + s];
      }
      if (load + more > period_ns || used_bytes + bytes > room || barred + bars > 0) break;
      load += more;
      used_bytes += bytes;
      barred += bars;
      end++;
    }
    far[from] = end;
    for (int32_t at = 2 * from; end > from && at <= 2 * from + 1 && at < 2 * end - 1; at++) {
      load -= w->load[(int64_t)at * w->n_sorts + s];
      used_bytes -= w->used_bytes[at];
    }
  }
}

static bool is_covered(cover *w, int64_t period_ns) {
  for (int32_t s = 0; s < w->n_sorts; s++) find_runs(w, s, period_ns);
  memset(w->best, 0, (size_t)w->n_states * sizeof *w->best);
  for (int32_t state = 1; state < w->n_states; state++)
    for (int32_t s = 0; s < w->n_sorts; s++) {
      if (state / w->stride[s] % (w->many[s] + 1) == 0) continue;
      int32_t from = w->best[state - w->stride[s]], to = w->far[(int64_t)s * (w->n + 1) + from];
      if (to == w->n) return true;
      if (to > w->best[state]) w->best[state] = to;
    }
  return false;
}

static bool init(cover *w) {
  arena *a = w->j->scratch;
  int64_t cells = 2 * (int64_t)w->n * w->n_sorts;
  return ARENA_ARRAYS(a, ARRAY(w->place, w->items.n), ARRAY(w->last, w->items.n), ARRAY(w->next, w->items.n),
                      ZEROS(w->load, cells), ZEROS(w->used_bytes, 2 * (int64_t)w->n), ZEROS(w->barred, cells),
                      ZEROS(w->far, (int64_t)w->n_sorts * (w->n + 1)), ARRAY(w->best, w->n_states));
}

static situ_status prove(int64_t *proved_ns, judge *j, const certificate *c, situ_error *error) {
  cover w = {.j = j, .n = (int32_t)certificate_size(c, "chain")};
  w.chain = certificate_get(c, "chain", -1);
  *proved_ns = 0;
  if (!j->problem->contiguous || j->problem->replicate) return SITU_STATUS_OK;
  *proved_ns = CERTIFICATE_TOO_LONG;
  if (!find_sorts(&w)) return SITU_STATUS_OK;
  if (!check_items_find(&w.items, j)) return fail_no_memory(error);
  int32_t *order = ARENA_NEW(j->scratch, int32_t, w.items.n);
  if (!order || !check_edges_find(&w.f, order, &w.items, j) || !init(&w)) return fail_no_memory(error);
  *proved_ns = 0;
  if (w.n_sorts == 0 || !find_places(&w, order)) return SITU_STATUS_OK;
  add_up(&w);
  int64_t low = -1, high = PROBLEM_MAX_NS; /* low is refuted */
  *proved_ns = SITU_NEVER_NS;
  if (!is_covered(&w, high)) return SITU_STATUS_OK;
  while (high - low > 1) {
    int64_t middle = low + (high - low) / 2;
    if (is_covered(&w, middle))
      high = middle;
    else
      low = middle;
  }
  *proved_ns = high;
  return SITU_STATUS_OK;
}

const certificate_rule runs_rule = {.kind = "runs", .models = MODEL_PIPELINE, .prove = prove};
