#include "solve/pipeline/orders.h"

#include "base/checked.h"
#include "base/contracts.h"
#include "base/sort.h"

/* ---- the published order ---- */

bool order_published(int32_t *order, const contraction *c, const situ_graph *g, arena *a) {
  const constraint_graph *f = &c->forward;
  keyed *rows; /* classes by their first identity */
  int32_t *rank, *to, *waiting, *stack;
  if (!ARENA_ARRAYS(a, ARRAY(rows, f->n), ARRAY(rank, f->n), ARRAY(to, f->start[f->n]), ZEROS(waiting, f->n),
                    ARRAY(stack, f->n)))
    return false;
  for (int32_t k = 0; k < f->n; k++) {
    rows[k] = (keyed){INT64_MAX, k};
    for (int32_t i = c->member_start[k]; i < c->member_start[k + 1]; i++)
      rows[k].key = min64(rows[k].key, g->source_id[c->member[i]]);
  }
  sort_keyed(rows, f->n);
  for (int32_t r = 0; r < f->n; r++) rank[rows[r].at] = r;
  for (int32_t k = 0; k < f->n; k++) {
    for (int32_t i = f->start[k]; i < f->start[k + 1]; i++) {
      to[i] = rank[f->to[i]];
      waiting[f->to[i]]++;
    }
    sort32(to + f->start[k], f->start[k + 1] - f->start[k]);
  }
  int32_t n_stack = 0, n_done = 0;
  for (int32_t r = f->n - 1; r >= 0; r--)
    if (waiting[rows[r].at] == 0) stack[n_stack++] = rows[r].at;
  while (n_stack > 0) {
    int32_t k = stack[--n_stack];
    order[n_done++] = k;
    for (int32_t i = f->start[k]; i < f->start[k + 1]; i++) {
      int32_t next = rows[to[i]].at;
      if (--waiting[next] == 0) stack[n_stack++] = next;
    }
  }
  return true;
}

/* ---- further orders ---- */

bool order_maker_init(order_maker *m, const constraint_graph *f, arena *a) {
  *m = (order_maker){.forward = f};
  return ARENA_ARRAYS(a, ARRAY(m->waiting, f->n), ARRAY(m->ready, f->n), ARRAY(m->later, (int64_t)f->n + 1),
                      ARRAY(m->next, f->n)) &&
         constraint_graph_reverse(&m->backward, f, a);
}

static void swap(int32_t *a, int32_t *b) {
  int32_t x = *a;
  *a = *b;
  *b = x;
}

/* Sorts the classes that became ready together, ready[first .. n), as the style says. */
static void arrange(int32_t *ready, int32_t first, int32_t n, const order_style *style) {
  if (style->random) {
    for (int32_t i = n - 1; i > first; i--) swap(&ready[i], &ready[first + rng_below(style->random, i - first + 1)]);
  } else if (style->descending) {
    for (int32_t i = first, j = n - 1; i < j; i++, j--) swap(&ready[i], &ready[j]);
  }
}

static int32_t place_of(const order_style *style, int32_t c) {
  if (!style->place) return 0;
  return style->backward ? style->n_places - 1 - style->place[c] : style->place[c];
}

void order_make(order_maker *m, int32_t *order, const order_style *style) {
  REQUIRE(!style->loose || style->random);
  REQUIRE(!style->place || contracts_within(style->place, m->forward->n, 0, style->n_places));
  const constraint_graph *f = style->backward ? &m->backward : m->forward;
  const constraint_graph *g = style->backward ? m->forward : &m->backward;
  int32_t n_places = style->place ? style->n_places : 1, done = 0;
  for (int32_t k = 0; k < n_places; k++) m->later[k] = -1;
  for (int32_t c = f->n - 1; c >= 0; c--) {
    m->waiting[c] = (int32_t)(g->start[c + 1] - g->start[c]);
    if (m->waiting[c] > 0) continue;
    m->next[c] = m->later[place_of(style, c)];
    m->later[place_of(style, c)] = c;
  }
  for (int32_t place = 0; place < n_places; place++) {
    int32_t n = 0;
    for (int32_t c = m->later[place]; c >= 0; c = m->next[c]) m->ready[n++] = c;
    arrange(m->ready, 0, n, style);
    while (n > 0) {
      if (style->loose && rng_below(style->random, 4) == 0)
        swap(&m->ready[n - 1], &m->ready[rng_below(style->random, n)]);
      int32_t c = m->ready[--n], first = n;
      order[style->backward ? f->n - 1 - done : done] = c;
      done++;
      for (int32_t i = f->start[c]; i < f->start[c + 1]; i++) {
        int32_t to = f->to[i], its = place_of(style, to);
        if (--m->waiting[to] > 0) continue;
        if (its == place) {
          m->ready[n++] = to;
        } else {
          m->next[to] = m->later[its];
          m->later[its] = to;
        }
      }
      arrange(m->ready, first, n, style);
    }
  }
  ENSURE(contracts_permutation(order, f->n)); /* the graph has no cycle, and places never fall along an edge */
}
