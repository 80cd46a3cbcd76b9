#include "check/model_rules.h"

#include "base/checked.h"
#include "base/fail.h"

/* Devices with operators, by number; the count of chunks; and for each chunk the place of its device among them. */
typedef struct rounds {
  int32_t *place; /* [device] or -1 */
  int64_t n_used, n_chunks;
  bool there_and_back;
} rounds;

static int64_t place_of(const rounds *r, int64_t chunk) {
  if (r->there_and_back) return chunk < r->n_used ? chunk : 2 * r->n_used - chunk - 1;
  return chunk - chunk / r->n_used * r->n_used;
}

/* Of the operators that must share a chunk with v: those of its colocation group. */
static int32_t key_of(const situ_graph *g, int32_t v) {
  return g->colocation[v] >= 0 ? g->colocation[v] : g->n_colocations + v;
}

static int64_t next_chunk(const rounds *r, int64_t from, int32_t device) {
  while (from < r->n_chunks && place_of(r, from) != r->place[device]) from++;
  return from;
}

/* Where a V turns, one device has two chunks in a row: keys whose first forward operator has half of the device's
 * forward time before it begin in the second. */
static void begin_second(const judge *j, const rounds *r, int64_t *chunk, bool *seen) {
  const situ_graph *g = j->graph;
  int64_t half[2] = {0, 0}; /* before, from here on */
  for (int pass = 0; pass < 2; pass++)
    for (int32_t v = 0; v < g->n_operators; v++) {
      int32_t d = j->plan->device[v], key = key_of(g, v);
      if (r->place[d] != r->n_used - 1 || g->phase[v] != SITU_PHASE_FORWARD) continue;
      int64_t time_ns = judge_time_ns(j, v, d);
      if (pass == 0) {
        half[1] = sat_add(half[1], time_ns);
        continue;
      }
      if (!seen[key] && half[0] >= half[1]) chunk[key] = r->n_used;
      seen[key] = true;
      half[0] = sat_add(half[0], time_ns);
      half[1] -= time_ns;
    }
}

/* Raises the chunk of each key until no tensor goes back to an earlier one. O(rounds * E), each raising something. */
static void raise_chunks(const judge *j, const rounds *r, const bool *forward, int64_t *chunk) {
  const situ_graph *g = j->graph;
  const int32_t *device = j->plan->device;
  for (int32_t v = 0; v < g->n_operators; v++) {
    int64_t *of = &chunk[key_of(g, v)];
    *of = next_chunk(r, *of, device[v]);
  }
  for (bool raised = true; raised;) {
    raised = false;
    for (int32_t t = 0; t < g->n_tensors; t++) {
      int32_t u = g->producer[t], ku = key_of(g, u);
      for (int64_t i = g->use_start[t]; i < g->use_start[t + 1]; i++) {
        int32_t w = g->use[i], kw = key_of(g, w);
        bool there = g->phase[u] == SITU_PHASE_FORWARD && g->phase[w] == SITU_PHASE_FORWARD;
        bool back =
            g->phase[u] == SITU_PHASE_BACKWARD && g->phase[w] == SITU_PHASE_BACKWARD && (!forward[ku] || !forward[kw]);
        int32_t early = there ? ku : kw, late = there ? kw : ku, of = there ? w : u;
        if ((!there && !back) || early == late || chunk[late] >= chunk[early]) continue;
        chunk[late] = next_chunk(r, chunk[early], device[of]);
        raised = true;
      }
    }
  }
}

/* ---- what a device keeps ---- */

/* A count of each chunk: forward passes, and those whose activations are no longer needed. */
typedef struct kept {
  const int64_t *bytes; /* [j] of one input */
  int64_t now, max;
} kept;

static void keep(kept *k, int64_t j) {
  k->now = sat_add(k->now, k->bytes[j]);
  k->max = max64(k->max, k->now);
}

static void release(kept *k, int64_t j) { k->now -= k->bytes[j]; }

/* Inputs by groups of n; the w-th forward pass is of chunk w / n mod v. */
static void follow_rounds(kept *k, int64_t n, int64_t place, int64_t v, int64_t m) {
  int64_t start = 2 * (n - 1 - place) + (v - 1) * n, all = m * v;
  if (start > all) start = all;
  for (int64_t w = 0; w < start; w++) keep(k, w / n % v);
  for (int64_t w = start; w < all; w++) {
    keep(k, w / n % v);
    release(k, v - 1 - (w - start) / n % v);
  }
}

/* Of the n inputs or more that the order is made for, only m exist. */
static void follow_there_and_back(kept *k, int64_t n, int64_t place, int64_t m) {
  int64_t all = max64(m, 2 * n - 1), there = 0, back = 0, gone_there = 0, gone_back = 0;
  for (; there < 2 * (n - place) - 1; there++)
    if (there < m) keep(k, 0);
  for (; back < place; back++, there++) {
    if (back < m) keep(k, 1);
    if (there < m) keep(k, 0);
  }
  for (; back < n; back++, gone_back++) {
    if (back < m) keep(k, 1);
    if (gone_back < m) release(k, 1);
  }
  for (; back < all; back++, there++, gone_there++, gone_back++) {
    if (there < m) keep(k, 0);
    if (gone_there < m) release(k, 0);
    if (back < m) keep(k, 1);
    if (gone_back < m) release(k, 1);
  }
}

static void find_stash(const judge *j, const rounds *r, const int64_t *chunk, int64_t *bytes) {
  const situ_graph *g = j->graph;
  int64_t v = j->problem->chunks;
  for (int32_t t = 0; t < g->n_tensors; t++) {
    int32_t u = g->producer[t], d = j->plan->device[u];
    bool later = false;
    for (int64_t i = g->use_start[t]; i < g->use_start[t + 1]; i++)
      later = later || g->phase[g->use[i]] != SITU_PHASE_FORWARD;
    if (!later || g->phase[u] != SITU_PHASE_FORWARD) continue;
    int64_t *sum = &bytes[d * v + chunk[key_of(g, u)] / r->n_used];
    *sum = sat_add(*sum, g->size_bytes[t]);
  }
}

static void check_filled(judge *j, const rounds *r, const int64_t *chunk) {
  const situ_graph *g = j->graph;
  for (int64_t c = 0; c < r->n_chunks; c++) {
    bool filled = false;
    for (int32_t v = 0; v < g->n_operators && !filled; v++)
      filled = chunk[key_of(g, v)] == c && g->phase[v] == SITU_PHASE_FORWARD;
    if (filled) continue;
    judge_note(j, "chunks", "chunk %lld of %lld has no forward operator", (long long)c + 1, (long long)r->n_chunks);
    return;
  }
}

situ_status check_chunks(judge *j, int64_t *stash_bytes, situ_error *error) {
  const situ_problem *p = j->problem;
  const situ_graph *g = j->graph;
  int64_t n_keys = (int64_t)g->n_colocations + g->n_operators, *chunk, *bytes;
  rounds r = {.there_and_back = p->schedule == SITU_SCHEDULE_ZB_V};
  bool *forward, *seen;
  if (!ARENA_ARRAYS(j->scratch, ARRAY(r.place, p->n_devices), ZEROS(chunk, n_keys), ZEROS(forward, n_keys),
                    ZEROS(seen, n_keys), ZEROS(bytes, (int64_t)p->n_devices * p->chunks)))
    return fail_no_memory(error);
  for (int32_t d = 0; d < p->n_devices; d++) r.place[d] = -1;
  for (int32_t v = 0; v < g->n_operators; v++) r.place[j->plan->device[v]] = 0;
  for (int32_t d = 0; d < p->n_devices; d++)
    if (r.place[d] == 0) r.place[d] = (int32_t)r.n_used++;
  for (int32_t v = 0; v < g->n_operators; v++)
    if (g->phase[v] == SITU_PHASE_FORWARD) forward[key_of(g, v)] = true;
  if (r.n_used == 0) return SITU_STATUS_OK;
  if (!r.there_and_back && p->micro_batches % r.n_used != 0)
    judge_note(j, "chunks", "%lld devices have operators, but interleaved passes need a number that divides %d",
               (long long)r.n_used, (int)p->micro_batches);
  r.n_chunks = r.n_used * p->chunks;
  if (r.there_and_back && r.n_used > 1) begin_second(j, &r, chunk, seen);
  raise_chunks(j, &r, forward, chunk);
  for (int32_t v = 0; v < g->n_operators; v++)
    if (chunk[key_of(g, v)] >= r.n_chunks) {
      judge_note(j, "chunks", "%s on %s is in no chunk of the schedule %s", g->name[v],
                 j->platform->devices[j->plan->device[v]].name, situ_schedule_name(p->schedule));
      return SITU_STATUS_OK;
    }
  if (r.n_used > 1) check_filled(j, &r, chunk);
  find_stash(j, &r, chunk, bytes);
  for (int32_t d = 0; d < p->n_devices; d++) {
    kept k = {.bytes = bytes + (int64_t)d * p->chunks};
    if (r.place[d] < 0) continue;
    if (r.n_used == 1) /* no pipeline: one input after the other */
      for (int32_t i = 0; i < p->chunks; i++) keep(&k, i);
    else if (r.there_and_back)
      follow_there_and_back(&k, r.n_used, r.place[d], p->micro_batches);
    else
      follow_rounds(&k, r.n_used, r.place[d], p->chunks, p->micro_batches);
    int64_t *sum = &stash_bytes[j->platform->memory_of[d]];
    *sum = sat_add(*sum, k.max);
  }
  return SITU_STATUS_OK;
}
