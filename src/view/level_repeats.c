/* Repeats: similar units, by colour refinement (Weisfeiler, Leman, 1968) stopped after a few rounds. Units are then
 * similar if their neighbourhoods are equal up to that many tensors away, wherever they are in the network. */
#include <stdlib.h>

#include "base/compare.h"
#include "base/hash.h"
#include "view/level.h"

/* A repetitive network still has at most half as many classes as units after four rounds. After one or two rounds that
 * happens by chance in any network. */
enum { MAX_ROUNDS = 8, TELLING_ROUNDS = 4 };

typedef struct coloured {
  uint64_t colour;
  int32_t unit;
} coloured;

typedef struct colours {
  const situ_problem *p;
  const unit_list *fine;
  uint64_t *of, *next; /* [operator] */
  coloured *unit;
  int32_t *key; /* [unit] */
  int32_t n;    /* classes */
} colours;

/* A colour from the operator alone: its times, phase and weights. */
static uint64_t own_colour(const situ_problem *p, int32_t v) {
  const situ_graph *g = p->graph;
  uint64_t of = hash_bytes(p->time_ns + (int64_t)v * p->n_classes, (size_t)p->n_classes * sizeof *p->time_ns, 0);
  return hash_number(hash_number(of, g->weight_bytes[v]), g->phase[v]);
}

/* Combines the colour with those of the neighbours, in any order. */
static uint64_t colour_beside(const colours *c, int32_t v) {
  const situ_graph *g = c->p->graph;
  uint64_t from = 0, to = 0;
  for (int64_t i = g->in_start[v]; i < g->in_start[v + 1]; i++)
    from += hash_number(c->of[g->producer[g->in[i]]], g->size_bytes[g->in[i]]);
  for (int32_t t = g->out_start[v]; t < g->out_start[v + 1]; t++)
    for (int64_t i = g->use_start[t]; i < g->use_start[t + 1]; i++)
      to += hash_number(c->of[g->use[i]], g->size_bytes[t]);
  return hash_number(hash_number(c->of[v], (int64_t)from), (int64_t)to);
}

static void refine(colours *c) {
  for (int32_t v = 0; v < c->p->n_operators; v++) c->next[v] = colour_beside(c, v);
  uint64_t *spare = c->of;
  c->of = c->next;
  c->next = spare;
}

COMPARATOR(by_colour, coloured, UP(colour) UP(unit))

/* Numbers the colours of units; each is the sum of its members' colours. */
static void number_units(colours *c) {
  const unit_list *units = c->fine;
  for (int32_t u = 0; u < units->n; u++) {
    unit_members m = unit_list_members(units, u);
    c->unit[u] = (coloured){.unit = u};
    for (int32_t k = 0; k < m.n; k++) c->unit[u].colour += c->of[m.member[k]];
  }
  qsort(c->unit, (size_t)units->n, sizeof *c->unit, by_colour);
  int32_t n = 0;
  for (int32_t k = 0; k < units->n; k++)
    c->key[c->unit[k].unit] = k > 0 && c->unit[k].colour != c->unit[k - 1].colour ? ++n : n;
  c->n = n + 1;
}

static bool joins_few(const colours *c) { return c->n > c->fine->n / 2; }

/* Adds the level of the current colours, unless it is no finer than the last or joins few units. */
static bool add_level(level_list *out, colours *c, arena *a) {
  const situ_problem *p = c->p;
  number_units(c);
  if (joins_few(c) || (out->n > 0 && c->n == out->of[out->n - 1].n)) return true;
  int32_t *key = ARENA_NEW(a, int32_t, p->n_operators);
  if (!key) return false;
  for (int32_t v = 0; v < p->n_operators; v++) key[v] = c->key[c->fine->of[v]];
  return unit_list_find(&out->of[out->n++], key, p->n_operators, c->n, a);
}

/* Levels after 1, 2, 4 and 8 rounds; those that join no more than the previous one, or less than half of the units, are
 * omitted. O(rounds (V + E) + V log V). */
static bool repeats_find(level_list *out, const situ_problem *p, const level_request *request, arena *a) {
  colours c = {.p = p, .fine = request->fine ? request->fine : &p->units};
  out->n = 0;
  if (p->n_operators == 0) return true;
  if (!ARENA_ARRAYS(a, ARRAY(c.of, p->n_operators), ARRAY(c.next, p->n_operators), ARRAY(c.unit, c.fine->n),
                    ARRAY(c.key, c.fine->n)))
    return false;
  for (int32_t v = 0; v < p->n_operators; v++) c.of[v] = own_colour(p, v);
  for (int32_t rounds = 1; rounds <= MAX_ROUNDS; rounds++) {
    refine(&c);
    if ((rounds & (rounds - 1)) == 0 && !add_level(out, &c, a)) return false;
    if (rounds == TELLING_ROUNDS && joins_few(&c)) {
      out->n = 0;
      return true;
    }
  }
  return true;
}

const level_row level_repeats = {
    .name = "repeats",
    .title = "similar units, wherever they are in the network",
    .source = "Weisfeiler, Leman, 1968",
    .find = repeats_find,
};
