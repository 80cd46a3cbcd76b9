#include "exact/block_list.h"

#include <string.h>

#include "base/checked.h"
#include "base/contracts.h"
#include "base/hash.h"

/* What was found for a block. Equal bytes (write_bytes) give equal values. */
struct block_finding {
  block_finding *next;
  uint64_t hash;
  size_t n_bytes;
  uint8_t *bytes;
  int64_t rest_ns[BLOCK_DEVICES];  /* beyond the minimum of the tails after the block */
  int64_t upper_ns[BLOCK_DEVICES]; /* only values below were searched; where there is none, rest_ns is this */
  int64_t n_children;
  int32_t width;
  bool exact, merged, solved;
};

enum { WIDER = 4, MAX_SHARES = 2 };

typedef struct finder {
  block_list *chain;
  const block_machine *m;
  const block_list_limits *limits;
  arena *arena, *scratch;
} finder;

/* ---- where to cut ---- */

/* crossing[v]: tensors of operators before v that are used after v. */
static bool count_crossing(int32_t *crossing, const thin_graph *g) {
  for (int32_t v = 0; v < g->n; v++) crossing[v] = 0;
  for (int32_t t = 0; t < g->n_tensors; t++) {
    int32_t last = g->use[g->use_start[t + 1] - 1];
    if (last - g->producer[t] < 2) continue;
    crossing[g->producer[t] + 1]++;
    crossing[last]--;
  }
  for (int32_t v = 1; v < g->n; v++) crossing[v] += crossing[v - 1];
  return true;
}

/* Ends each block at the reachable cut that the fewest tensors cross; among equals, at the nearest. */
static bool choose_blocks(block_list *c, bool uncut, arena *a, arena *scratch) {
  const thin_graph *g = c->graph;
  int32_t *cut = ARENA_NEW(scratch, int32_t, g->n), *crossing = ARENA_NEW(scratch, int32_t, g->n + 1);
  c->first = ARENA_NEW(a, int32_t, g->n + 1);
  c->last = ARENA_NEW(a, int32_t, g->n + 1);
  if (!cut || !crossing || !c->first || !c->last || !count_crossing(crossing, g)) return false;
  int32_t n_cuts = thin_cuts(cut, g, scratch), at = 0;
  if (n_cuts < 0) return false;
  c->closed = n_cuts > 0 && cut[n_cuts - 1] == g->n - 1;
  for (int32_t first = 0; first < g->n; first = c->last[c->n_blocks++] + 1) {
    int32_t best = -1;
    while (at < n_cuts && cut[at] < first) at++;
    for (int32_t i = at; i < n_cuts && !uncut && (best < 0 || cut[i] < first + BLOCK_OPERATORS); i++)
      if (best < 0 || crossing[cut[i]] < crossing[best]) best = cut[i];
    c->first[c->n_blocks] = first;
    c->last[c->n_blocks] = best < 0 ? g->n - 1 : best;
  }
  return true;
}

/* ---- one block ---- */

static void put(uint8_t **at, const void *from, size_t n) {
  if (*at && n > 0) {
    memcpy(*at, from, n);
    *at += n;
  }
}

/* Writes everything that the values of a block depend on, as bytes. */
static size_t write_bytes(uint8_t *at, const block *b, const int64_t *end_ns, bool after_cut) {
  int64_t d = b->machine->n_devices, m = b->machine->n_memories, none = -1;
  size_t n = 0;
  int32_t head[5] = {b->n, b->n_tensors, b->n_entry, b->closed, after_cut};
#define PUT(from, count) (put(&at, (from), sizeof *(from) * (size_t)(count)), n += sizeof *(from) * (size_t)(count))
  PUT(head, 5);
  PUT(b->time_ns, b->n * d);
  PUT(b->transfer_ns, b->n_tensors * m * m);
  PUT(b->users, b->n_tensors);
  PUT(b->before, b->n);
  PUT(b->out_start, b->n + 1);
  for (int32_t j = 0; j < b->n_entry; j++) {
    int64_t own = b->source[j] == b->first - 1;
    PUT(&own, 1);
  }
  for (int64_t e = 0; e < d; e++) PUT(end_ns ? end_ns + e : &none, 1);
#undef PUT
  return n;
}

/* Whether the old finding says as much as a search would now. */
static bool serves_as(const finder *f, const block_finding *old, const block_finding *made) {
  if (!old->exact && (old->width < f->limits->width || !old->solved)) return false;
  for (int32_t a = 0; a < f->m->n_devices; a++)
    if (old->rest_ns[a] == old->upper_ns[a] && old->upper_ns[a] < made->upper_ns[a]) return false;
  return true;
}

static block_finding *find_same(finder *f, block_finding *made, const block *b, const int64_t *end_ns, bool after_cut) {
  made->n_bytes = write_bytes(NULL, b, end_ns, after_cut);
  made->bytes = ARENA_NEW(f->arena, uint8_t, (int64_t)made->n_bytes);
  if (!made->bytes) return NULL;
  write_bytes(made->bytes, b, end_ns, after_cut);
  made->hash = hash_bytes(made->bytes, made->n_bytes, 0);
  for (block_finding *old = *f->limits->findings; old; old = old->next)
    if (old->hash == made->hash && old->n_bytes == made->n_bytes &&
        memcmp(old->bytes, made->bytes, old->n_bytes) == 0 && serves_as(f, old, made))
      return old;
  return made;
}

/* The starting state: the output of the cut is ready at 0 on device a, and other tensors that cross are everywhere. */
static void start_at(int64_t *vector, const block *b, int32_t a) {
  const block_machine *m = b->machine;
  int32_t n = m->n_memories, from = a >= 0 ? m->problem->memory_of[a] : 0;
  for (int32_t d = 0; d < m->n_devices; d++) vector[d] = 0;
  int64_t *there = vector + m->n_devices;
  for (int32_t j = 0; j < b->n_entry; j++)
    for (int32_t w = 0; w < n; w++)
      there[j * n + w] = a >= 0 && b->source[j] == b->first - 1 ? b->transfer_ns[((int64_t)j * n + from) * n + w] : 0;
}

static bool search_with(finder *f, const block *b, const int64_t *start, block_limits *limits, block_result *found) {
  if (!block_search(found, b, start, limits, f->scratch)) return false;
  f->chain->n_children += found->n_children;
  limits->max_children -= found->n_children;
  return true;
}

/* Finds a value by a narrow search first, then searches for anything better, with layers four times as wide each time
 * while the children suffice. */
static bool search_from(finder *f, const block *b, int32_t a, int64_t max_children, block_finding *made) {
  int32_t from = a < 0 ? 0 : a, width = f->limits->width;
  int64_t *start = ARENA_NEW(f->scratch, int64_t, f->m->n_devices + (int64_t)b->n_entry * f->m->n_memories);
  int64_t *value = &made->rest_ns[from], upper = made->upper_ns[from];
  if (!start) return false;
  start_at(start, b, a);
  *value = min64(block_tail_before(b, b->first - 1, from), upper);
  if (*value >= upper) return true;
  block_limits limits = {
      .width = width / 8 + 8, .upper_ns = upper, .max_children = max_children, .budget = f->limits->budget};
  block_result found = {.value_ns = upper, .finished = true};
  if (!f->limits->uncut && !search_with(f, b, start, &limits, &found)) return false;
  bool solved = found.finished && found.exact, exact = solved;
  if (solved) *value = max64(*value, found.value_ns);
  limits.upper_ns = found.value_ns;
  limits.merge = true;
  for (int32_t w = f->limits->first_width; w <= width && found.finished && !exact; w *= WIDER) {
    limits.width = w;
    if (!search_with(f, b, start, &limits, &found)) return false;
    if (!found.finished) break;
    solved = true;
    exact =
        found.exact || found.value_ns == limits.upper_ns; /* nothing is below what is known to exist, or to suffice */
    *value = max64(*value, found.value_ns);
  }
  made->exact &= exact;
  made->merged |= !found.exact;
  made->solved &= solved;
  return true;
}

static bool is_twin_of_lower(const block_machine *m, int32_t a) {
  for (int32_t e = 0; e < a; e++)
    if (m->twin[e] == a) return true;
  return false;
}

/* The children that the next of `n` searches may use: few need many, so more than an even part. */
static int64_t part_of_children(const finder *f, int64_t n) {
  return max64(0, f->limits->max_children - f->chain->n_children) / min64(n, MAX_SHARES);
}

static bool search_all(finder *f, const block *b, int32_t n_blocks, bool after_cut, block_finding *made) {
  made->exact = made->solved = true;
  made->width = f->limits->width;
  int64_t before = f->chain->n_children;
  int32_t n_left = 0;
  for (int32_t a = 0; a < f->m->n_devices; a++) n_left += after_cut ? !is_twin_of_lower(f->m, a) : a == 0;
  for (int32_t a = 0; a < f->m->n_devices; a++) {
    if (after_cut ? !is_twin_of_lower(f->m, a) : a == 0) {
      int64_t max_children = part_of_children(f, n_left-- + (int64_t)(n_blocks - 1) * f->m->n_devices);
      if (!search_from(f, b, after_cut ? a : -1, max_children, made)) return false;
    }
    if (!after_cut) made->rest_ns[a] = made->rest_ns[0];
    if (f->m->twin[a] >= 0) made->rest_ns[f->m->twin[a]] = made->rest_ns[a];
  }
  made->n_children = f->chain->n_children - before;
  made->next = *f->limits->findings;
  *f->limits->findings = made;
  return true;
}

/* Sets how much the rest after the cut before block k may take in schedules below the upper value, less `min`. */
static void set_uppers(const finder *f, block_finding *made, int32_t k, int64_t min) {
  const block_list *c = f->chain;
  for (int32_t a = 0; a < f->m->n_devices; a++) {
    int64_t head = 0;
    if (f->limits->head_ns && k > 0) {
      int32_t cut = c->graph->operator_of[c->first[k] - 1];
      head = min64(f->limits->head_ns[(int64_t)cut * f->m->n_devices + a], BLOCK_FAR_NS);
    }
    made->upper_ns[a] = f->limits->head_ns ? max64(0, f->limits->upper_ns - head - min) : BLOCK_FAR_NS;
  }
}

/* Takes the better of what is known of the rests of the cut before block k. */
static void exchange_known(finder *f, int32_t k, int64_t *rest) {
  if (!f->limits->known_ns || k == 0) return;
  int64_t *known =
      f->limits->known_ns + (int64_t)f->chain->graph->operator_of[f->chain->first[k] - 1] * f->m->n_devices;
  for (int32_t d = 0; d < f->m->n_devices; d++) {
    f->chain->raised |= known[d] > rest[d];
    known[d] = rest[d] = max64(known[d], rest[d]);
  }
}

static bool solve_block(finder *f, int32_t k) {
  block_list *c = f->chain;
  int32_t n = f->m->n_devices;
  int64_t *rest = c->rest_ns + (int64_t)k * n, *behind = rest + n, min = BLOCK_FAR_NS, end_ns[BLOCK_DEVICES];
  for (int32_t d = 0; d < n; d++) min = min64(min, behind[d]);
  for (int32_t d = 0; d < n; d++) end_ns[d] = behind[d] == BLOCK_FAR_NS ? BLOCK_FAR_NS : behind[d] - min;
  bool fits, closed = k + 1 < c->n_blocks || c->closed;
  block b;
  if (!block_take(&b, &fits, f->m, c->graph, c->first[k], c->last[k], f->scratch)) {
    if (fits) return false;
    c->exact = c->solved = false;
    c->merged = true;
    for (int32_t d = 0; d < n; d++) rest[d] = min;
    exchange_known(f, k, rest);
    return true;
  }
  block_set_tails(&b, closed ? end_ns : NULL);
  block_finding *made = ARENA_ZERO(f->arena, block_finding, 1);
  if (made) set_uppers(f, made, k, min);
  block_finding *same = made ? find_same(f, made, &b, closed ? end_ns : NULL, k > 0) : NULL;
  if (!same || (same == made && !search_all(f, &b, k + 1, k > 0, made))) return false;
  for (int32_t d = 0; d < n; d++) rest[d] = min64(min64(same->rest_ns[d], made->upper_ns[d]) + min, BLOCK_FAR_NS);
  exchange_known(f, k, rest);
  c->n_judged = sat_add(c->n_judged, same->n_children);
  c->exact &= same->exact;
  c->merged |= same->merged;
  c->solved &= same->solved;
  return true;
}

bool block_list_find(block_list *out, const block_machine *m, const thin_graph *g, const block_list_limits *limits,
                     arena *a) {
  REQUIRE(limits->first_width > 0 && limits->first_width <= limits->width && limits->width <= BLOCK_MAX_WIDTH &&
          (limits->head_ns || limits->upper_ns == BLOCK_FAR_NS));
  *out = (block_list){.machine = m, .graph = g, .exact = true, .solved = true};
  arena *scratch = arena_new();
  finder f = {.chain = out, .m = m, .limits = limits, .arena = a, .scratch = scratch};
  bool done = scratch && choose_blocks(out, limits->uncut, a, scratch);
  if (done) {
    out->rest_ns = ARENA_ZERO(a, int64_t, (int64_t)(out->n_blocks + 1) * m->n_devices);
    done = out->rest_ns;
  }
  for (int32_t k = 0; k < out->n_blocks && done; k++)
    ENSURE(out->first[k] == (k > 0 ? out->last[k - 1] + 1 : 0) && out->last[k] >= out->first[k] && out->last[k] < g->n);
  for (int32_t k = out->n_blocks - 1; k >= 0 && done; k--) {
    arena_mark mark = arena_get_mark(scratch);
    done = solve_block(&f, k);
    arena_release(scratch, mark);
  }
  arena_free(scratch);
  return done;
}

/* ---- the certificate ---- */

/* Writes the operators that were deleted from the whole graph. */
static bool certify_deleted(certificate *proof, const thin_graph *g, arena *a) {
  int32_t n = g->problem->n_operators, at = 0;
  int64_t *deleted = certificate_add_operators(proof, "deleted", n - g->n, a);
  for (int32_t v = 0, kept = 0; v < n && deleted; v++)
    if (kept < g->n && g->operator_of[kept] == v)
      kept++;
    else
      deleted[at++] = v;
  return deleted;
}

bool block_list_certify(certificate *proof, const block_list *c, arena *a) {
  int32_t n_devices = c->machine->n_devices, n_cuts = c->n_blocks - !c->closed;
  certificate_start(proof, "cut_vertex", c->rest_ns[0]);
  if (!certify_deleted(proof, c->graph, a)) return false;
  int64_t *cuts = certificate_add_operators(proof, "cuts", n_cuts, a);
  int64_t *rests = certificate_add(proof, "rests", (int64_t)c->n_blocks * n_devices, a);
  if (!cuts || !rests) return false;
  for (int32_t k = 0; k < n_cuts; k++) cuts[k] = c->graph->operator_of[c->last[k]];
  memcpy(rests, c->rest_ns, sizeof *rests * (size_t)c->n_blocks * (size_t)n_devices);
  return true;
}
