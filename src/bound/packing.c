/* Packing: no assignment of items, operators that every plan keeps together, to memories stays within what each can
 * hold at once (docs/theory/bounds/packing.md).
 *
 * An item always holds its weights and, in a pipeline, the stash of each input in flight. While one of its operators
 * runs it also holds the footprint of that one. In a stream it holds its results at the end. An item that a memory
 * without a limit may take needs no search. Depth-first search places the others, the largest first. Of equal memories
 * in equal state only the first is tried, and equal items go to memories in ascending order. The lexicographically
 * first assignment satisfies both rules, so they lose nothing. */
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "base/compare.h"
#include "base/contracts.h"
#include "base/fail.h"
#include "bound/bound.h"
#include "view/contract.h"
#include "view/footprint.h"

enum { MAX_ITEMS = 4096, LOOK_EVERY = 1024 };
static const int64_t MAX_PAIRS = (int64_t)1 << 22, MAX_WORK = (int64_t)1 << 27, MAX_NODES = (int64_t)1 << 20,
                     NOWHERE = -1;

typedef struct item {
  int64_t held, final;  /* bytes always held, and those held at the end */
  int64_t size;         /* sort key */
  const int64_t *where; /* [memory] bytes while one of its operators runs, or NOWHERE */
  int32_t operator_;    /* its first operator */
} item;

typedef struct room {
  int64_t held, final, running, limit;
  int32_t like; /* an equal memory before it, or -1 */
} room;

typedef struct packing {
  const situ_problem *problem;
  bool stream;  /* a stream whose memory limits apply */
  bool stashes; /* a pipeline: what other phases use stays */
  item *items;
  room *rooms; /* [memory] */
  int32_t n;
  int64_t *chosen; /* [item] memory */
  int64_t left, spare, nodes;
  budget *budget;
} packing;

/* ---- what an item takes ---- */

/* The bytes that operator v takes while it runs on device d, beyond what it always holds. In a stream an operator
 * without duration holds nothing. */
static int64_t running_bytes(const packing *s, int32_t v, int32_t d) {
  const situ_problem *p = s->problem;
  if (s->stream && problem_time_ns(p, v, d) == 0) return 0;
  return footprint_running_bytes(p, v);
}

static int64_t result_bytes(const situ_graph *g, int32_t v) {
  int64_t bytes = 0;
  for (int32_t t = g->out_start[v]; t < g->out_start[v + 1]; t++)
    if (g->use_start[t] == g->use_start[t + 1]) bytes = sat_add(bytes, g->size_bytes[t]);
  return bytes;
}

/* Fills where[memory]: the minimum over the devices of the memory that may run all members. Returns false where one of
 * them is a memory without a limit. */
static bool find_places(const packing *s, int64_t *where, unit_members u) {
  const situ_problem *p = s->problem;
  for (int32_t m = 0; m < p->n_memories; m++) where[m] = NOWHERE;
  for (int32_t d = 0; d < p->n_devices; d++) {
    if (!problem_allows_all(p, u, d)) continue;
    int32_t m = p->memory_of[d];
    if (s->rooms[m].limit == SITU_UNLIMITED_BYTES) return false;
    int64_t max = 0;
    for (int32_t i = 0; i < u.n; i++) max = max64(max, running_bytes(s, u.member[i], d));
    where[m] = where[m] == NOWHERE ? max : min64(where[m], max);
  }
  return true;
}

static item item_of(const packing *s, const int64_t *where, unit_members u) {
  const situ_problem *p = s->problem;
  item x = {.where = where, .operator_ = u.member[0]};
  for (int32_t i = 0; i < u.n; i++) {
    int32_t v = u.member[i];
    x.held = sat_add(x.held, s->stashes ? footprint_held_bytes(p, v) : p->graph->weight_bytes[v]);
    if (s->stream) x.final = sat_add(x.final, result_bytes(p->graph, v));
    x.size = max64(x.size, footprint_running_bytes(p, v));
  }
  x.final = sat_add(x.final, x.held);
  x.size = sat_add(x.size, x.held);
  return x;
}

COMPARATOR(by_size, item, DOWN(size) UP(operator_))

/* Whether each limited memory could hold everything at once. Then there is nothing to search. */
static bool is_loose(const situ_problem *p) {
  int64_t held = 0, running = 0;
  for (int32_t v = 0; v < p->n_operators; v++) {
    held = sat_add(held, sat_add(footprint_held_bytes(p, v), result_bytes(p->graph, v)));
    running = max64(running, footprint_running_bytes(p, v));
  }
  for (int32_t m = 0; m < p->n_memories; m++)
    if (p->platform->memory_bytes[m] < sat_add(held, running)) return false;
  return true;
}

/* Lists the items of the first copy that need a search; s->n > MAX_ITEMS means too many. False without memory. */
static bool list_items(packing *s, arena *a) {
  const situ_problem *p = s->problem;
  contraction c;
  if (!contract(&c, p, p->execution == SITU_EXECUTION_PIPELINE && p->contiguous, a)) return false;
  int32_t n = p->n_operators / p->n_copies;
  int64_t *where = NULL;
  if (!ARENA_ARRAYS(a, ARRAY(s->items, MAX_ITEMS), ARRAY(s->chosen, MAX_ITEMS))) return false;
  for (int32_t k = 0; k < c.n_classes && s->n <= MAX_ITEMS; k++) {
    unit_members u = contraction_members(&c, k);
    if (u.member[0] >= n) continue;
    if (!where && !(where = ARENA_NEW(a, int64_t, p->n_memories))) return false;
    if (!find_places(s, where, u)) continue;
    if (s->n < MAX_ITEMS) s->items[s->n] = item_of(s, where, u);
    s->n++;
    where = NULL;
    if ((int64_t)s->n * p->n_memories > MAX_PAIRS) s->n = MAX_ITEMS + 1;
  }
  return true;
}

/* Whether memories m and w are interchangeable for all items. */
static bool are_equal(const packing *s, int32_t m, int32_t w) {
  bool equal = s->rooms[m].limit == s->rooms[w].limit;
  for (int32_t i = 0; equal && i < s->n; i++) equal = s->items[i].where[m] == s->items[i].where[w];
  return equal;
}

static void pair_memories(packing *s) {
  for (int32_t m = 0; m < s->problem->n_memories; m++) {
    s->rooms[m].like = -1;
    for (int32_t w = m - 1; w >= 0 && s->rooms[m].like < 0; w--)
      if (are_equal(s, m, w)) s->rooms[m].like = w;
  }
}

/* ---- the search ---- */

static bool same_state(const room *a, const room *b) {
  return a->held == b->held && a->final == b->final && a->running == b->running;
}

static bool same_item(const packing *s, const item *a, const item *b) {
  return a->held == b->held && a->final == b->final &&
         memcmp(a->where, b->where, (size_t)s->problem->n_memories * sizeof *a->where) == 0;
}

static bool fits(const room *r, const item *x, int64_t running) {
  return sat_add(sat_add(r->held, x->held), max64(r->running, running)) <= r->limit &&
         sat_add(r->final, x->final) <= r->limit;
}

typedef enum outcome { NO_PACKING = 0, PACKED, GIVEN_UP } outcome;

/* Places items i and later. */
static outcome place_from(packing *s, int32_t i) {
  if (i == s->n) return PACKED;
  if (++s->nodes > MAX_NODES || (s->nodes % LOOK_EVERY == 0 && budget_over(s->budget))) return GIVEN_UP;
  if (s->left > s->spare) return NO_PACKING;
  const item *x = &s->items[i];
  int32_t first = i > 0 && same_item(s, x, x - 1) ? (int32_t)s->chosen[i - 1] : 0;
  for (int32_t m = first; m < s->problem->n_memories; m++) {
    room *r = &s->rooms[m], before = *r;
    if (x->where[m] == NOWHERE || !fits(r, x, x->where[m])) continue;
    if (r->like >= 0 && same_state(r, &s->rooms[r->like])) continue;
    int64_t spare = s->spare;
    r->held += x->held;
    r->final += x->final;
    r->running = max64(r->running, x->where[m]);
    s->spare -= (r->held + r->running) - (before.held + before.running);
    s->left -= x->held;
    s->chosen[i] = m;
    outcome found = place_from(s, i + 1);
    *r = before;
    s->spare = spare;
    s->left += x->held;
    if (found != NO_PACKING) return found;
  }
  return NO_PACKING;
}

static outcome search(packing *s) {
  qsort(s->items, (size_t)s->n, sizeof *s->items, by_size);
  pair_memories(s);
  for (int32_t m = 0; m < s->problem->n_memories; m++) s->spare = sat_add(s->spare, s->rooms[m].limit);
  for (int32_t i = 0; i < s->n; i++) s->left = sat_add(s->left, s->items[i].held);
  return place_from(s, 0);
}

static situ_status compute(int64_t *lower_ns, certificate *proof, const situ_problem *p, arena *scratch, budget *b,
                           situ_error *error) {
  packing s = {.problem = p, .stream = p->execution == SITU_EXECUTION_STREAM || p->of_stream, .budget = b};
  s.stashes = p->execution == SITU_EXECUTION_PIPELINE && !p->of_stream;
  *lower_ns = 0;
  if ((int64_t)p->n_operators * p->n_devices > MAX_WORK || is_loose(p)) return SITU_STATUS_OK;
  if (!(s.rooms = ARENA_ZERO(scratch, room, p->n_memories))) return fail_no_memory(error);
  for (int32_t m = 0; m < p->n_memories; m++) s.rooms[m].limit = p->platform->memory_bytes[m];
  if (!list_items(&s, scratch)) return fail_no_memory(error);
  if (s.n == 0 || s.n > MAX_ITEMS || search(&s) != NO_PACKING) return SITU_STATUS_OK;
  *lower_ns = SITU_NEVER_NS;
  certificate_start(proof, "packing", SITU_NEVER_NS);
  int64_t *operators = certificate_add_operators(proof, "operators", s.n, scratch);
  for (int32_t i = 0; operators && i < s.n; i++) operators[i] = s.items[i].operator_;
  return operators ? SITU_STATUS_OK : fail_no_memory(error);
}

const bound packing_bound = {
    .name = "packing",
    .title = "proof by search that no assignment to memories fits",
    .source = "",
    .models = MODEL_ALL,
    .compute = compute,
};
