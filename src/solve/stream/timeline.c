#include "solve/stream/timeline.h"

#include "base/checked.h"
#include "base/contracts.h"

bool timeline_pool_init(timeline_pool *pool, arena *a, int64_t tasks) {
  REQUIRE(tasks >= 0 && tasks < INT32_MAX - 2);
  *pool = (timeline_pool){.capacity = (int32_t)tasks + 2};
  if (!ARENA_ARRAYS(a, ARRAY(pool->gaps, (int64_t)pool->capacity), ARRAY(pool->released, (int64_t)pool->capacity)))
    return false;
  timeline_pool_clear(pool);
  return true;
}

void timeline_pool_clear(timeline_pool *pool) {
  pool->gaps[0] = (timeline_gap){0};
  pool->used = 0;
  pool->n_released = 0;
}

static uint32_t mixed(uint32_t x) {
  x = (x ^ (x >> 16)) * 0x7feb352du;
  x = (x ^ (x >> 15)) * 0x846ca68bu;
  return x ^ (x >> 16);
}

static void pull(timeline_gap *gaps, int32_t node) {
  timeline_gap *g = &gaps[node];
  g->longest = max64(g->length, max64(gaps[g->left].longest, gaps[g->right].longest));
}

/* Splits a tree into the gaps that start before `at` and the rest. The tree is a treap with hashed priorities: O(log
 * n). */
static void split(timeline_gap *gaps, int32_t node, int64_t at, int32_t *low, int32_t *high) {
  if (!node) {
    *low = *high = 0;
    return;
  }
  if (gaps[node].start < at) {
    split(gaps, gaps[node].right, at, &gaps[node].right, high);
    *low = node;
  } else {
    split(gaps, gaps[node].left, at, low, &gaps[node].left);
    *high = node;
  }
  pull(gaps, node);
}

static int32_t merge(timeline_gap *gaps, int32_t low, int32_t high) {
  if (!low || !high) return low ? low : high;
  int32_t top;
  if (gaps[low].priority > gaps[high].priority) {
    gaps[low].right = merge(gaps, gaps[low].right, high);
    top = low;
  } else {
    gaps[high].left = merge(gaps, low, gaps[high].left);
    top = high;
  }
  pull(gaps, top);
  return top;
}

static void release(timeline_pool *pool, int32_t tree) {
  if (tree) pool->released[pool->n_released++] = tree;
}

/* Takes a released node, or a fresh one; 0 when there is none. */
static int32_t take_node(timeline_pool *pool) {
  if (pool->n_released == 0) return pool->used + 1 < pool->capacity ? ++pool->used : 0;
  int32_t node = pool->released[--pool->n_released];
  release(pool, pool->gaps[node].left);
  release(pool, pool->gaps[node].right);
  return node;
}

static void add_gap(timeline_pool *pool, timeline *t, int64_t start, int64_t length) {
  if (length <= 0 || length < t->min) return;
  int32_t node = take_node(pool);
  if (!node) return; /* a forgotten gap loses quality, not correctness */
  pool->gaps[node] =
      (timeline_gap){.start = start, .length = length, .longest = length, .priority = mixed((uint32_t)node)};
  int32_t low, high;
  split(pool->gaps, t->root, start, &low, &high);
  t->root = merge(pool->gaps, merge(pool->gaps, low, node), high);
}

/* The last gap that starts at or before `at`, or 0. */
static int32_t gap_at(const timeline_gap *gaps, int32_t node, int64_t at) {
  int32_t found = 0;
  while (node) {
    bool before = gaps[node].start <= at;
    if (before) found = node;
    node = before ? gaps[node].right : gaps[node].left;
  }
  return found;
}

/* The first gap of at least that length in a tree that has one. */
static int32_t first_long(const timeline_gap *gaps, int32_t node, int64_t length) {
  for (;;) {
    if (gaps[gaps[node].left].longest >= length)
      node = gaps[node].left;
    else if (gaps[node].length >= length)
      return node;
    else
      node = gaps[node].right;
  }
}

/* The first gap that starts after `after` and has at least that length, or 0. */
static int32_t gap_after(const timeline_gap *gaps, int32_t node, int64_t after, int64_t length) {
  int32_t best = 0; /* the lowest node on the way that holds one, itself or in its right tree */
  bool itself = false;
  while (node) {
    if (gaps[node].start <= after) {
      node = gaps[node].right;
      continue;
    }
    if (gaps[node].length >= length) {
      best = node;
      itself = true;
    } else if (gaps[gaps[node].right].longest >= length) {
      best = gaps[node].right;
      itself = false;
    }
    node = gaps[node].left;
  }
  return best && !itself ? first_long(gaps, best, length) : best;
}

int64_t timeline_find(const timeline_pool *pool, const timeline *t, int64_t ready, int64_t duration) {
  if (ready >= t->end || pool->gaps[t->root].longest < duration || !t->root) return max64(ready, t->end);
  int64_t need = max64(duration, 1);
  int32_t around = gap_at(pool->gaps, t->root, ready);
  if (around && pool->gaps[around].start + pool->gaps[around].length - ready >= need) return ready;
  int32_t next = gap_after(pool->gaps, t->root, ready, need);
  return next ? pool->gaps[next].start : t->end;
}

void timeline_put(timeline_pool *pool, timeline *t, int64_t start, int64_t duration) {
  REQUIRE(start >= 0 && duration >= 0);
  if (start >= t->end) {
    int64_t end = t->end;
    t->end = sat_add(start, duration);
    if (start > end) add_gap(pool, t, end, start - end);
    return;
  }
  int32_t low, middle, high;
  int32_t node = gap_at(pool->gaps, t->root, start);
  timeline_gap gap = pool->gaps[node];
  if (!node || duration == 0) return;
  split(pool->gaps, t->root, gap.start, &low, &high);
  split(pool->gaps, high, gap.start + 1, &middle, &high);
  t->root = merge(pool->gaps, low, high);
  release(pool, middle);
  add_gap(pool, t, gap.start, start - gap.start);
  add_gap(pool, t, start + duration, gap.start + gap.length - start - duration);
}

void timeline_forget(timeline_pool *pool, timeline *t, int64_t time) {
  int32_t around = gap_at(pool->gaps, t->root, time), low, high;
  if (!around) return;
  const timeline_gap *g = &pool->gaps[around];
  split(pool->gaps, t->root, g->start + g->length > time ? g->start : g->start + 1, &low, &high);
  t->root = high;
  release(pool, low);
}
