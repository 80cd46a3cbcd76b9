#include "view/chunks.h"

#include "base/checked.h"

bool chunk_layout_find(chunk_layout *l, const situ_problem *p, arena *a) {
  *l = (chunk_layout){.problem = p};
  if (!contract(&l->classes, p, true, a)) return false;
  bool made = ARENA_ARRAYS(a, ARRAY(l->order, l->classes.n_classes), ARRAY(l->chunk, l->classes.n_classes),
                           ARRAY(l->used, p->n_devices), ARRAY(l->rank, p->n_devices),
                           ARRAY(l->is_used, (int64_t)p->n_devices * p->chunks), ARRAY(l->is_seen, p->n_operators),
                           ARRAY(l->first_of, p->graph->n_colocations)) &&
              constraint_graph_order(l->order, &l->classes.forward, a) == l->classes.n_classes;
  for (int32_t v = p->n_operators - 1; made && v >= 0; v--)
    if (p->graph->colocation[v] >= 0) l->first_of[p->graph->colocation[v]] = v;
  return made;
}

/* The first chunk from `from` on that is of a rank. */
static int32_t first_chunk(const chunk_layout *l, int32_t rank, int32_t from) {
  for (int32_t j = 0; j < l->problem->chunks; j++) {
    int32_t chunk = chunk_of_rank(l->problem, l->n_used, rank, j);
    if (chunk >= from) return chunk;
  }
  return -1;
}

/* The two chunks of the device where a V turns follow each other: units are in the second from the operator on that has
 * half of the forward time there before it, by number. */
static void part_turn(chunk_layout *l, const int32_t *device) {
  const situ_problem *p = l->problem;
  const situ_graph *g = p->graph;
  int32_t last = l->used[l->n_used - 1];
  int64_t all_ns = 0, before_ns = 0;
  for (int32_t v = 0; v < p->n_operators; v++) {
    l->is_seen[v] = false;
    if (device[v] == last && g->phase[v] == SITU_PHASE_FORWARD) all_ns = sat_add(all_ns, problem_time_ns(p, v, last));
  }
  for (int32_t v = 0; v < p->n_operators; v++) {
    if (device[v] != last || g->phase[v] != SITU_PHASE_FORWARD) continue;
    bool *seen = &l->is_seen[g->colocation[v] >= 0 ? l->first_of[g->colocation[v]] : v];
    if (!*seen && before_ns >= all_ns - before_ns) l->chunk[l->classes.class_of[v]] = l->n_used;
    *seen = true;
    before_ns = sat_add(before_ns, problem_time_ns(p, v, last));
  }
}

bool chunk_layout_take(chunk_layout *l, const int32_t *device) {
  const situ_problem *p = l->problem;
  const contraction *c = &l->classes;
  l->n_used = 0;
  for (int32_t d = 0; d < p->n_devices; d++) l->rank[d] = -1;
  for (int32_t v = 0; v < p->n_operators; v++) l->rank[device[v]] = 0;
  for (int32_t d = 0; d < p->n_devices; d++) {
    if (l->rank[d] < 0) continue;
    l->rank[d] = l->n_used;
    l->used[l->n_used++] = d;
  }
  if (l->n_used == 0) return true;
  if (p->schedule == SITU_SCHEDULE_INTERLEAVED && p->micro_batches % l->n_used != 0) return false;
  for (int32_t k = 0; k < c->n_classes; k++) l->chunk[k] = 0;
  for (int32_t k = 0; k < l->n_used * p->chunks; k++) l->is_used[k] = false;
  if (p->schedule == SITU_SCHEDULE_ZB_V && l->n_used > 1) part_turn(l, device);
  for (int32_t i = 0; i < c->n_classes; i++) {
    int32_t k = l->order[i];
    unit_members of = contraction_members(c, k);
    for (int32_t m = 1; m < of.n; m++)
      if (device[of.member[m]] != device[of.member[0]]) return false;
    int32_t chunk = l->chunk[k] = first_chunk(l, l->rank[device[of.member[0]]], l->chunk[k]);
    if (chunk < 0) return false;
    for (int32_t m = 0; m < of.n; m++) l->is_used[chunk] |= p->graph->phase[of.member[m]] == SITU_PHASE_FORWARD;
    for (int32_t e = c->forward.start[k]; e < c->forward.start[k + 1]; e++)
      if (l->chunk[c->forward.to[e]] < chunk) l->chunk[c->forward.to[e]] = chunk;
  }
  for (int32_t k = 0; k < l->n_used * p->chunks && l->n_used > 1; k++)
    if (!l->is_used[k]) return false;
  return true;
}

/* ---- orders of passes ---- */

typedef struct pass_list {
  chunk_pass *out;
  int64_t n;
  int32_t n_inputs;
  int32_t count[3][PROBLEM_MAX_CHUNKS]; /* [kind][j] passes so far */
} pass_list;

/* The next input of that kind and chunk; inputs beyond the last one are passed over. */
static void add_pass(pass_list *l, chunk_pass_kind kind, int32_t j) {
  int32_t input = l->count[kind][j]++;
  if (input < l->n_inputs) l->out[l->n++] = (chunk_pass){kind, j, input};
}

static void add_both(pass_list *l, int32_t j) {
  add_pass(l, CHUNK_BACKWARD, j);
  add_pass(l, CHUNK_WEIGHTS, j);
}

/* Narayanan et al. 2021, section 2.2, as Megatron-LM runs it: inputs in groups of as many as devices, each group chunk
 * by chunk, backward from the last chunk on; after the forward passes that come first one of each in turn. */
static void interleave(pass_list *l, int32_t n_used, int32_t rank, int32_t chunks) {
  int64_t n = (int64_t)l->n_inputs * chunks, group = (int64_t)n_used * chunks;
  int64_t first = min64(n, 2 * (n_used - rank - 1) + (int64_t)(chunks - 1) * n_used);
  for (int64_t i = 0; i < n + first; i++) {
    if (i < n) add_pass(l, CHUNK_FORWARD, (int32_t)(i % group / n_used));
    if (i >= first) add_pass(l, CHUNK_BACKWARD, chunks - 1 - (int32_t)((i - first) % group / n_used));
  }
}

/* Qi et al. 2024 (zero bubble), section 6: two chunks, there and back. */
static void make_v(pass_list *l, int32_t n_used, int32_t rank) {
  int32_t n = l->n_inputs > 2 * n_used - 1 ? l->n_inputs : 2 * n_used - 1;
  for (int32_t i = 0; i < 2 * (n_used - rank) - 1; i++) add_pass(l, CHUNK_FORWARD, 0);
  for (int32_t i = 0; i < rank; i++) {
    add_pass(l, CHUNK_FORWARD, 1);
    add_pass(l, CHUNK_FORWARD, 0);
  }
  for (int32_t i = 0; i < n_used - rank; i++) {
    add_pass(l, CHUNK_FORWARD, 1);
    add_both(l, 1);
  }
  while (l->count[CHUNK_FORWARD][1] < n) {
    if (l->count[CHUNK_FORWARD][0] < n) add_pass(l, CHUNK_FORWARD, 0);
    add_both(l, 0);
    add_pass(l, CHUNK_FORWARD, 1);
    add_both(l, 1);
  }
  for (int32_t i = 0; i < rank; i++) {
    add_pass(l, CHUNK_BACKWARD, 0);
    add_pass(l, CHUNK_BACKWARD, 1);
  }
  for (int32_t i = 0; i < n_used - rank; i++) add_both(l, 0);
  for (int32_t j = 1; j >= 0; j--)
    while (l->count[CHUNK_WEIGHTS][j] < n) add_pass(l, CHUNK_WEIGHTS, j);
}

int64_t chunk_passes(chunk_pass *out, const situ_problem *p, int32_t n_used, int32_t rank, int32_t n_inputs) {
  pass_list l = {.out = out, .n_inputs = n_inputs};
  if (p->schedule == SITU_SCHEDULE_ZB_V)
    make_v(&l, n_used, rank);
  else
    interleave(&l, n_used, rank, p->chunks);
  return l.n;
}

int32_t chunk_inputs_seen(const situ_problem *p, int32_t n_used) {
  return p->micro_batches < 4 * n_used ? p->micro_batches : 4 * n_used;
}

int64_t chunk_kept_bytes(const chunk_pass *list, int64_t n, const int64_t *stash_bytes, bool delays) {
  int64_t held = 0, max = 0;
  chunk_pass_kind last = delays ? CHUNK_WEIGHTS : CHUNK_BACKWARD;
  for (int64_t i = 0; i < n; i++) {
    if (list[i].kind == CHUNK_FORWARD) held = sat_add(held, stash_bytes[list[i].j]);
    if (list[i].kind == last) held -= stash_bytes[list[i].j];
    max = max64(max, held);
  }
  return max;
}
