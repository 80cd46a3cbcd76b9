#include "solve/pipeline/maximal_load.h"

#include <stdlib.h>
#include <string.h>

#include "base/bit_rows.h"
#include "base/checked.h"
#include "base/resize.h"

static const int64_t MAX_WORK = (int64_t)1 << 30; /* words of bits visited */

/* A table from the bits of an ideal to its number. */
typedef struct table {
  int32_t *slot;
  uint64_t mask;
} table;

static uint64_t hash(const uint64_t *bits, int32_t n_words) {
  uint64_t h = 0x9e3779b97f4a7c15;
  for (int32_t k = 0; k < n_words; k++) {
    h = (h ^ bits[k]) * 0xff51afd7ed558ccd;
    h ^= h >> 32;
  }
  return h;
}

static int32_t find(const table *t, const ideal_set *set, const uint64_t *bits) {
  int32_t n_words = set->stages->n_words;
  for (uint64_t at = hash(bits, n_words) & t->mask;; at = (at + 1) & t->mask) {
    int32_t i = t->slot[at];
    if (i < 0 || memcmp(set->bits + (int64_t)i * n_words, bits, (size_t)n_words * 8) == 0) return i;
  }
}

static bool make_table(table *t, const ideal_set *set) {
  uint64_t size = 16;
  while (size < 2 * (uint64_t)set->n) size *= 2;
  t->mask = size - 1;
  t->slot = malloc(size * sizeof *t->slot);
  if (!t->slot) return false;
  memset(t->slot, -1, size * sizeof *t->slot);
  for (int64_t i = 0; i < set->n; i++) {
    uint64_t at = hash(set->bits + i * set->stages->n_words, set->stages->n_words) & t->mask;
    while (t->slot[at] >= 0) at = (at + 1) & t->mask;
    t->slot[at] = (int32_t)i;
  }
  return true;
}

/* The maximum rise of the cost of edge e, a pin of which is v, for the device that v leaves, v being in none of the
 * devices before. */
static void leave_edge(const stages *s, const uint64_t *ideal, int32_t v, int32_t e, int64_t in, int64_t out,
                       int64_t *in_more, int64_t *out_more) {
  int32_t producer = s->pin[s->pin_start[e]], n_inside = 0, n_others = s->pin_start[e + 1] - s->pin_start[e] - 1;
  for (int32_t i = s->pin_start[e]; i < s->pin_start[e + 1]; i++) n_inside += bits_have(ideal, s->pin[i]);
  n_others -= n_inside;
  if (n_inside == 0) { /* its pins may all have been on one device */
    *(producer == v ? in_more : out_more) += producer == v ? in : out;
  } else if (producer == v) {
    *out_more -= out;
    *in_more += n_others > 0 ? in : 0;
  } else if (n_others == 0) {
    *in_more -= in;
  }
}

static bool may_move_forward(const stages *s, const uint64_t *ideal, int32_t v) {
  for (int32_t row = 0; row < s->n_rows; row++) {
    int64_t time_ns = s->time_ns[(int64_t)row * s->n + v], in_more = 0, out_more = 0;
    if (s->types[row].is_host || time_ns == SITU_NEVER_NS) continue;
    for (int32_t i = s->touch_start[v]; i < s->touch_start[v + 1]; i++) {
      int64_t at = (int64_t)row * s->n_edges + s->touch[i];
      leave_edge(s, ideal, v, s->touch[i], s->in_ns[at], s->out_ns[at], &in_more, &out_more);
    }
    if (s->overlaps ? in_more > 0 || out_more > 0 : in_more + out_more > time_ns) return false;
  }
  return true;
}

static bool may_follow(const stages *s, const uint64_t *ideal, int32_t v) {
  const uint64_t *needs = s->predecessors + (int64_t)v * s->n_words;
  for (int32_t k = 0; k <= v / 64; k++)
    if (needs[k] & ~ideal[k]) return false;
  return true;
}

static bool list(maximal_load *p, const ideal_set *set, const table *t) {
  const stages *s = set->stages;
  int64_t n = 0, room = 0;
  uint64_t *with = malloc(((size_t)s->n_words + 1) * sizeof *with);
  for (int64_t i = 0; with && i < set->n; i++) {
    const uint64_t *ideal = set->bits + i * s->n_words;
    p->start[i] = n;
    memcpy(with, ideal, (size_t)s->n_words * 8);
    for (int32_t v = 0; v < s->n; v++) {
      if (bits_have(ideal, v) || !may_follow(s, ideal, v) || !may_move_forward(s, ideal, v)) continue;
      with[v / 64] ^= 1ull << (v % 64);
      int32_t to = find(t, set, with);
      with[v / 64] ^= 1ull << (v % 64);
      if (to < 0) continue;
      if (n == room) {
        room = room ? room * 2 : 1024;
        if (!array_resize(&p->to, room, sizeof *p->to)) {
          free(with);
          return false;
        }
      }
      p->to[n++] = to;
    }
  }
  p->start[set->n] = n;
  free(with);
  return with != NULL;
}

bool maximal_load_find(maximal_load *p, const ideal_set *set, bool wanted) {
  const stages *s = set->stages;
  *p = (maximal_load){.start = calloc((size_t)set->n + 2, sizeof *p->start)};
  if (!p->start) return false;
  if (!wanted || sat_mul(set->n, (int64_t)s->n * (s->n_words + 1)) > MAX_WORK) return true;
  table t;
  bool made = make_table(&t, set) && list(p, set, &t);
  free(t.slot);
  return made;
}

void maximal_load_free(maximal_load *p) {
  free(p->start);
  free(p->to);
  *p = (maximal_load){0};
}
