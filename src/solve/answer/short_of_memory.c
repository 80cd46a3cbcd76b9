/* What the memories of a problem without a plan lack, in words. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/checked.h"
#include "base/compare.h"
#include "base/text.h"
#include "bound/alive.h"
#include "solve/answer/answer.h"
#include "view/footprint.h"

enum { SHOWN = 3 };

/* A unit with bytes that its memory certainly holds at some instant, wherever it is. */
typedef struct need {
  int64_t bytes;
  int32_t unit;
} need;

COMPARATOR(by_bytes, need, DOWN(bytes) UP(unit))

/* Weights; in a pipeline, the stash of the inputs that its stages keep, too. */
static int64_t held_bytes(const situ_problem *p, int32_t v) {
  return p->execution == SITU_EXECUTION_PIPELINE ? footprint_held_bytes(p, v) : p->graph->weight_bytes[v];
}

/* While an operator that takes time runs. */
static int64_t own_bytes(const situ_problem *p, unit_members u) {
  bool stream = p->execution == SITU_EXECUTION_STREAM;
  int64_t held = 0, running = 0;
  for (int32_t i = 0; i < u.n; i++) {
    int32_t v = u.member[i];
    held = sat_add(held, held_bytes(p, v));
    if (!stream || alive_takes_time(p, v)) running = max64(running, footprint_running_bytes(p, v));
  }
  return sat_add(held, running);
}

/* Fills need and *together: what all memories certainly hold at one instant. False without memory. */
static bool find_needs(need *needs, int64_t *together, const situ_problem *p, arena *a) {
  int64_t *alive = ARENA_ZERO(a, int64_t, p->units.n);
  int32_t at;
  if (!alive || !alive_find(&at, p, a) || (at >= 0 && !alive_bytes(alive, p, at, a))) return false;
  *together = 0;
  for (int32_t k = 0; k < p->units.n; k++) {
    unit_members u = unit_list_members(&p->units, k);
    int64_t then = alive[k];
    for (int32_t i = 0; i < u.n; i++) then = sat_add(then, held_bytes(p, u.member[i]));
    *together = sat_add(*together, then);
    needs[k] = (need){max64(then, own_bytes(p, u)), k};
  }
  qsort(needs, (size_t)p->units.n, sizeof *needs, by_bytes);
  return true;
}

/* "conv1 9.1 GB (with 3 more), ..." */
static void add_needs(text_buffer *t, const need *needs, const situ_problem *p) {
  char size[TEXT_UNIT_BYTES];
  for (int32_t k = 0; k < SHOWN && k < p->units.n; k++) {
    unit_members u = unit_list_members(&p->units, needs[k].unit);
    text_add(t, "%s%s %s", k ? ", " : "", p->graph->name[u.member[0]], text_size(size, needs[k].bytes));
    if (u.n > 1) text_add(t, " (with %" PRId32 " more)", u.n - 1);
  }
}

/* The largest memory that may be used; SITU_UNLIMITED_BYTES where one has no limit. */
static int64_t max_room(const situ_problem *p) {
  int64_t max = 0;
  for (int32_t m = 0; m < p->n_memories; m++)
    if (problem_uses_memory(p, m)) max = max64(max, p->platform->memory_bytes[m]);
  return max;
}

/* Adds what is a good part of what memories hold. Whether anything is. */
static bool add_shortage(text_buffer *t, const situ_problem *p, arena *a) {
  char size[TEXT_UNIT_BYTES], other[TEXT_UNIT_BYTES];
  int64_t max = max_room(p), all = problem_room_bytes(p), together;
  need *needs = ARENA_NEW(a, need, p->units.n);
  if (!needs || p->units.n == 0 || max == SITU_UNLIMITED_BYTES || !find_needs(needs, &together, p, a)) return false;
  bool full = together > all / 2,
       large = p->zero == 0 && needs[0].bytes > max / 2; /* replicas share what stays together */
  if (full) {
    text_sizes(size, other, together, all);
    text_add(t, "memory: at one moment weights and tensors in use take at least %s, all memories hold %s", size, other);
  }
  if (large) {
    text_add(t, "%s the largest memory holds %s, and what stays together takes at least: ", full ? ";" : "memory:",
             text_size(size, max));
    add_needs(t, needs, p);
  }
  return full || large;
}

const char *short_of_memory(arena *a, const situ_problem *p, const char *claim) {
  arena_mark mark = arena_get_mark(a);
  text_buffer t = {0};
  if (add_shortage(&t, p, a)) text_add(&t, "; ");
  arena_release(a, mark);
  text_add(&t, "%s", claim);
  char *text = text_take(&t);
  const char *kept = text ? arena_string(a, text) : NULL;
  free(text);
  return kept;
}
