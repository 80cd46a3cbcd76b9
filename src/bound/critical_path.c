/* Device-indexed critical path: the longest chain of operators. Each link of the chain pays for its cheapest pair of
 * devices, but an operator is on the same device for its incoming and outgoing link.
 *
 *     head(v,d) = p(v,d) + max over producers u of min over a of (head(u,a) + c(u,a,d))
 *     tail(v,d) = max over users x of min over b of (c(v,d,b) + p(x,b) + tail(x,b))
 *     bound     = max over v of min over d of (head(v,d) + tail(v,d))
 *
 * For stream problems c is the transfer of the tensor without contention. For calls, a tensor that leaves an
 * accelerator pays c_out and one that enters pays c_in; within one device it pays nothing. A chain pays the compute of
 * all its members wherever calls begin and end. Both bounds are exact integers.
 *
 * Over more than EXACT_MEMORIES memories a transfer to another memory takes the minimum over all routes: O(devices) for
 * each use of a tensor instead of O(memories squared). Where even operators x devices are too many, every operator
 * takes its minimum time and transfers take none. */
#include "base/checked.h"
#include "base/fail.h"
#include "bound/alive.h"
#include "bound/bound.h"

enum { EXACT_MEMORIES = 16 };
static const int64_t CELLS_LIMIT = (int64_t)1 << 24;

typedef struct chains {
  const situ_problem *problem;
  const bool *may;                /* NULL: wherever the problem allows */
  int64_t *here, *there;          /* [device] scratch */
  int64_t *memory, *memory_there; /* [memory] scratch */
} chains;

static bool chains_init(chains *s, const situ_problem *p, const bool *may, arena *a) {
  *s = (chains){.problem = p,
                .may = may,
                .here = ARENA_NEW(a, int64_t, p->n_devices),
                .there = ARENA_NEW(a, int64_t, p->n_devices),
                .memory = ARENA_NEW(a, int64_t, p->n_memories),
                .memory_there = ARENA_NEW(a, int64_t, p->n_memories)};
  return s->here && s->there && s->memory && s->memory_there;
}

/* calls: there[d] = min over e of here[e] + the transfers through the host; 0 within a device. Backward: from d to e.
 */
static void spread_staged(chains *s, int32_t t, bool backward) {
  const situ_problem *p = s->problem;
  int64_t best = SITU_NEVER_NS;
  for (int32_t d = 0; d < p->n_devices; d++) {
    int64_t transfer = problem_is_host(p, d) ? 0
                       : backward            ? problem_transfer_ns(p, t, p->host, d)
                                             : problem_transfer_ns(p, t, d, p->host);
    best = min64(best, sat_add(s->here[d], transfer));
  }
  for (int32_t d = 0; d < p->n_devices; d++) {
    int64_t transfer = problem_is_host(p, d) ? 0
                       : backward            ? problem_transfer_ns(p, t, d, p->host)
                                             : problem_transfer_ns(p, t, p->host, d);
    s->there[d] = min64(s->here[d], sat_add(best, transfer));
  }
}

/* stream: there[d] = min over e of here[e] + c(t, e, d). Backward: c(t, d, e). */
static void spread(chains *s, int32_t t, bool backward) {
  const situ_problem *p = s->problem;
  if (p->execution == SITU_EXECUTION_CALLS) {
    spread_staged(s, t, backward);
    return;
  }
  for (int32_t m = 0; m < p->n_memories; m++) s->memory[m] = SITU_NEVER_NS;
  int64_t best = SITU_NEVER_NS;
  for (int32_t d = 0; d < p->n_devices; d++) {
    int64_t *there = &s->memory[p->memory_of[d]];
    *there = min64(*there, s->here[d]);
    best = min64(best, s->here[d]);
  }
  const int64_t *transfer = p->transfer_ns[t];
  int64_t cheapest = p->n_memories > EXACT_MEMORIES ? sat_add(best, p->costs->row_min_ns[costs_row(p->costs, t)]) : 0;
  for (int32_t m = 0; m < p->n_memories; m++) {
    s->memory_there[m] = p->n_memories > EXACT_MEMORIES ? min64(s->memory[m], cheapest) : SITU_NEVER_NS;
    for (int32_t w = 0; w < p->n_memories && p->n_memories <= EXACT_MEMORIES; w++) {
      int32_t kind = p->costs->pair_kind[backward ? m * p->n_memories + w : w * p->n_memories + m];
      s->memory_there[m] = min64(s->memory_there[m], sat_add(s->memory[w], transfer[kind]));
    }
  }
  for (int32_t d = 0; d < p->n_devices; d++) s->there[d] = s->memory_there[p->memory_of[d]];
}

static int64_t time_if_allowed(const chains *s, int32_t v, int32_t d) {
  const situ_problem *p = s->problem;
  bool allowed = s->may ? s->may[(int64_t)v * p->n_devices + d] : problem_allows(p, v, d);
  return allowed ? problem_time_ns(p, v, d) : SITU_NEVER_NS;
}

static void find_heads(chains *s, int64_t *head) {
  const situ_problem *p = s->problem;
  const situ_graph *g = p->graph;
  int64_t devices = p->n_devices;
  for (int32_t v = 0; v < p->n_operators; v++) {
    int64_t *own = head + v * devices;
    for (int32_t d = 0; d < devices; d++) own[d] = s->here[d] = sat_add(own[d], time_if_allowed(s, v, d));
    for (int32_t t = g->out_start[v]; t < g->out_start[v + 1]; t++) {
      if (g->use_start[t] == g->use_start[t + 1]) continue;
      spread(s, t, false);
      for (int64_t i = g->use_start[t]; i < g->use_start[t + 1]; i++)
        for (int32_t d = 0; d < devices; d++) {
          int64_t *ready = &head[g->use[i] * devices + d];
          *ready = max64(*ready, s->there[d]);
        }
    }
  }
}

static void find_tails(chains *s, int64_t *tail) {
  const situ_problem *p = s->problem;
  const situ_graph *g = p->graph;
  int64_t devices = p->n_devices;
  for (int32_t x = p->n_operators - 1; x >= 0; x--) {
    for (int32_t d = 0; d < devices; d++) {
      int64_t time = time_if_allowed(s, x, d);
      s->here[d] = sat_add(tail[x * devices + d], time);
      if (time == SITU_NEVER_NS) tail[x * devices + d] = SITU_NEVER_NS;
    }
    for (int64_t i = g->in_start[x]; i < g->in_start[x + 1]; i++) {
      int32_t t = g->in[i];
      int64_t *before = tail + g->producer[t] * devices;
      spread(s, t, true);
      for (int32_t d = 0; d < devices; d++) before[d] = max64(before[d], s->there[d]);
    }
  }
}

bool bound_chains(int64_t *head, int64_t *tail, const bool *may, const situ_problem *problem, arena *scratch) {
  arena_mark mark = arena_get_mark(scratch);
  chains s;
  bool made = chains_init(&s, problem, may, scratch);
  if (made) {
    find_heads(&s, head);
    find_tails(&s, tail);
  }
  arena_release(scratch, mark);
  return made;
}

bool bound_heads_tails(int64_t *head, int64_t *tail, const situ_problem *problem) {
  arena *a = arena_new();
  for (int64_t i = 0; i < (int64_t)problem->n_operators * problem->n_devices; i++) head[i] = tail[i] = 0;
  bool made = a && bound_chains(head, tail, NULL, problem, a);
  arena_free(a);
  return made;
}

/* The longest path when each operator takes its minimum time and transfers take none. */
static situ_status longest_path(int64_t *lower_ns, const situ_problem *p, arena *scratch, situ_error *error) {
  const situ_graph *g = p->graph;
  int64_t *finish = ARENA_NEW(scratch, int64_t, p->n_operators);
  if (!finish) return fail_no_memory(error);
  *lower_ns = 0;
  for (int32_t v = 0; v < p->n_operators; v++) {
    int64_t min = SITU_NEVER_NS, start = 0;
    for (int32_t k = 0; k < p->n_classes; k++) min = min64(min, p->time_ns[(int64_t)v * p->n_classes + k]);
    for (int64_t i = g->in_start[v]; i < g->in_start[v + 1]; i++) start = max64(start, finish[g->producer[g->in[i]]]);
    finish[v] = sat_add(start, min);
    *lower_ns = max64(*lower_ns, finish[v]);
  }
  return SITU_STATUS_OK;
}

static situ_status critical_path_compute(int64_t *lower_ns, certificate *proof, const situ_problem *p, arena *scratch,
                                         budget *b, situ_error *error) {
  int64_t cells = (int64_t)p->n_operators * p->n_devices;
  if (cells > CELLS_LIMIT) return longest_path(lower_ns, p, scratch, error);
  int64_t *head = ARENA_ZERO(scratch, int64_t, cells), *tail = ARENA_ZERO(scratch, int64_t, cells);
  bool *may, fewer = false;
  int32_t at;
  if (!head || !tail || !(may = ARENA_NEW(scratch, bool, cells)) || !alive_find(&at, p, scratch) ||
      (at >= 0 && !alive_rooms(may, &fewer, p, at, scratch)) ||
      !bound_chains(head, tail, fewer ? may : NULL, p, scratch))
    return fail_no_memory(error);
  *lower_ns = 0;
  int32_t worst = 0;
  for (int32_t v = 0; v < p->n_operators; v++) {
    int64_t min = SITU_NEVER_NS;
    for (int32_t d = 0; d < p->n_devices; d++) {
      int64_t i = (int64_t)v * p->n_devices + d;
      min = min64(min, sat_add(head[i], tail[i]));
    }
    if (min <= *lower_ns) continue;
    *lower_ns = min;
    worst = v;
  }
  if (*lower_ns == 0) return SITU_STATUS_OK;
  certificate_start(proof, "critical_path", *lower_ns);
  int64_t *operator_ = certificate_add_operators(proof, "operator", 1, scratch);
  if (!operator_) return fail_no_memory(error);
  *operator_ = worst;
  int64_t *instant = fewer ? certificate_add_operators(proof, "instant", 1, scratch) : NULL;
  if (fewer && !instant) return fail_no_memory(error);
  if (fewer) *instant = at;
  return SITU_STATUS_OK;
}

const bound critical_path_bound = {
    .name = "critical_path",
    .title = "longest chain, placed on its best devices",
    .source = "",
    .models = MODEL_STREAM | MODEL_CALLS,
    .compute = critical_path_compute,
};
