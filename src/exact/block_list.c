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
  int64_t rest_ns[BLOCK_DEVICES]; /* beyond the minimum of the tails after the block */
  int32_t width;
  bool exact, solved;
};

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
static bool choose_blocks(block_list *c, arena *a, arena *scratch) {
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
    for (int32_t i = at; i < n_cuts && (best < 0 || cut[i] < first + BLOCK_OPERATORS); i++)
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

static block_finding *find_same(finder *f, block_finding *made, const block *b, const int64_t *end_ns, bool after_cut) {
  made->n_bytes = write_bytes(NULL, b, end_ns, after_cut);
  made->bytes = ARENA_NEW(f->arena, uint8_t, (int64_t)made->n_bytes);
  if (!made->bytes) return NULL;
  write_bytes(made->bytes, b, end_ns, after_cut);
  made->hash = hash_bytes(made->bytes, made->n_bytes, 0);
  for (block_finding *old = *f->limits->findings; old; old = old->next)
    if (old->hash == made->hash && old->n_bytes == made->n_bytes &&
        memcmp(old->bytes, made->bytes, old->n_bytes) == 0 &&
        (old->exact || (old->solved && old->width >= f->limits->width)))
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

/* Finds a value by a narrow search first, then searches for anything better. */
static bool search_from(finder *f, const block *b, int32_t a, block_finding *made, int64_t *value) {
  int64_t *start = ARENA_NEW(f->scratch, int64_t, f->m->n_devices + (int64_t)b->n_entry * f->m->n_memories);
  if (!start) return false;
  start_at(start, b, a);
  *value = block_tail_before(b, b->first - 1, a < 0 ? 0 : a);
  if (*value >= BLOCK_FAR_NS) return true;
  block_limits limits = {.width = f->limits->width / 8 + 8, .upper_ns = BLOCK_FAR_NS, .budget = f->limits->budget};
  for (limits.merge = false;; limits.merge = true, limits.width = f->limits->width) {
    block_result found;
    limits.max_children = f->limits->max_children - f->chain->n_children;
    if (!block_search(&found, b, start, &limits, f->scratch)) return false;
    f->chain->n_children += found.n_children;
    if (!found.finished) {
      made->exact = made->solved = false;
      return true;
    }
    limits.upper_ns = found.value_ns;
    if (!found.exact && !limits.merge) continue;
    made->exact &= found.exact;
    *value = max64(*value, found.value_ns);
    return true;
  }
}

static bool is_twin_of_lower(const block_machine *m, int32_t a) {
  for (int32_t e = 0; e < a; e++)
    if (m->twin[e] == a) return true;
  return false;
}

static bool search_all(finder *f, const block *b, bool after_cut, block_finding *made) {
  made->exact = made->solved = true;
  made->width = f->limits->width;
  for (int32_t a = 0; a < f->m->n_devices; a++) {
    if (after_cut ? !is_twin_of_lower(f->m, a) : a == 0)
      if (!search_from(f, b, after_cut ? a : -1, made, &made->rest_ns[a])) return false;
    if (!after_cut) made->rest_ns[a] = made->rest_ns[0];
    if (f->m->twin[a] >= 0) made->rest_ns[f->m->twin[a]] = made->rest_ns[a];
  }
  made->next = *f->limits->findings;
  *f->limits->findings = made;
  return true;
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
    for (int32_t d = 0; d < n; d++) rest[d] = min;
    return true;
  }
  block_set_tails(&b, closed ? end_ns : NULL);
  block_finding *made = ARENA_ZERO(f->arena, block_finding, 1);
  block_finding *same = made ? find_same(f, made, &b, closed ? end_ns : NULL, k > 0) : NULL;
  if (!same || (same == made && !search_all(f, &b, k > 0, made))) return false;
  for (int32_t d = 0; d < n; d++) rest[d] = min64(same->rest_ns[d] + min, BLOCK_FAR_NS);
  c->exact &= same->exact;
  c->solved &= same->solved;
  return true;
}

bool block_list_find(block_list *out, const block_machine *m, const thin_graph *g, const block_list_limits *limits,
                     arena *a) {
  REQUIRE(limits->width > 0);
  *out = (block_list){.machine = m, .graph = g, .exact = true, .solved = true};
  arena *scratch = arena_new();
  finder f = {.chain = out, .m = m, .limits = limits, .arena = a, .scratch = scratch};
  bool done = scratch && choose_blocks(out, a, scratch);
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
