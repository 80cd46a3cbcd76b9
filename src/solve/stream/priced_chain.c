/* Chains of layers on memories too small for all of them, with parts that may be separated from their layer (experts):
 * which layers go where, and what spills. The bound unit_chain finds prices of bytes. Plans at these prices are optimal
 * for the bytes they hold, but hold too many or too few in some memory. Each plan is made to fit by the moves that free
 * the most bytes for the least time, and improved by moves of one or two elements. All this is evaluated on the chain
 * alone; the simulator decides. docs/theory/chain.md. */
#include <string.h>

#include "base/checked.h"
#include "base/fail.h"
#include "base/hash.h"
#include "chain/branch_chain.h"
#include "solve/common/repair.h"
#include "solve/stream/sequence.h"
#include "view/footprint.h"
#include "view/unit.h"

enum { MAX_PLANS = 48, MAX_SEEN = 1024, MAX_ELEMENTS = 2000, MAX_PASSES = 64, MAX_TRIALS = 1000000, MAX_BRANCHES = 16 };

typedef struct priced {
  solve_run *run;
  const situ_problem *problem;
  const branch_chain *chain;
  int32_t *before, *after;        /* [element] its neighbours along the chain, or -1 */
  int32_t *first, *next;          /* [element] its first branch; the next branch from the same element; -1: none */
  int32_t *at;                    /* [element] of the plan under construction */
  int32_t *device, *order;        /* [operator] */
  int64_t *capacity, *used_bytes; /* [memory] */
  int64_t workspace_bytes;
  uint64_t seen[MAX_SEEN];
  int32_t n_seen, n_plans;
} priced;

static int64_t weight(const priced *s, int32_t k) { return branch_chain_weight_bytes(s->chain, k); }

/* A time plus a time by the secondary costs at their price. */
static int64_t with_other(const priced *s, int64_t time_ns, int64_t secondary_ns) {
  __int128 more = (__int128)s->chain->by.secondary * secondary_ns >> CHAIN_SECONDARY_BITS;
  return sat_add(time_ns, more > PROBLEM_MAX_NS ? PROBLEM_MAX_NS : (int64_t)more);
}

static int64_t time_on(const priced *s, int32_t k, int32_t d) {
  int64_t time = branch_chain_time_ns(s->chain, k, d);
  return time == SITU_NEVER_NS ? time : with_other(s, time, branch_chain_secondary_ns(s->chain, k, d));
}

static int64_t transfer_between(const priced *s, const int64_t *row, const int64_t *other, int32_t from, int32_t to) {
  return with_other(s, branch_chain_transfer_ns(s->chain, row, from, to),
                    branch_chain_transfer_ns(s->chain, other, from, to));
}

/* The cost of element k on device d, given all other elements. With a limit by secondary costs these count at their
 * price.
 */
static int64_t cost_at(const priced *s, int32_t k, int32_t d) {
  const chain_element *x = &s->chain->elements[k];
  int64_t sum = time_on(s, k, d);
  if (sum == SITU_NEVER_NS) return sum;
  if (x->parent >= 0) {
    sum = sat_add(sum, transfer_between(s, x->in_ns, x->secondary_in_ns, s->at[x->parent], d));
    sum = sat_add(sum, transfer_between(s, x->out_ns, x->secondary_out_ns, d, s->at[x->parent]));
  }
  if (s->before[k] >= 0) sum = sat_add(sum, transfer_between(s, x->in_ns, x->secondary_in_ns, s->at[s->before[k]], d));
  if (s->after[k] >= 0) {
    const chain_element *after = &s->chain->elements[s->after[k]];
    sum = sat_add(sum, transfer_between(s, after->in_ns, after->secondary_in_ns, d, s->at[s->after[k]]));
  }
  for (int32_t i = s->first[k]; i >= 0; i = s->next[i]) {
    const chain_element *branch = &s->chain->elements[i];
    sum = sat_add(sum, transfer_between(s, branch->in_ns, branch->secondary_in_ns, d, s->at[i]));
    sum = sat_add(sum, transfer_between(s, branch->out_ns, branch->secondary_out_ns, s->at[i], d));
  }
  return sum;
}

static bool fits(const priced *s, int32_t memory, int64_t more) {
  return s->used_bytes[memory] + more <= s->capacity[memory];
}

static void move(priced *s, int32_t k, int32_t d) {
  s->used_bytes[s->problem->memory_of[s->at[k]]] -= weight(s, k);
  s->used_bytes[s->problem->memory_of[d]] += weight(s, k);
  s->at[k] = d;
}

/* Moves elements off memories that hold too much, those first that lose the least time per byte. */
static bool make_fit(priced *s) {
  const situ_problem *p = s->problem;
  for (int32_t m = 0; m < p->n_memories; m++)
    while (!fits(s, m, 0)) {
      int32_t best = -1, to = -1;
      double min = 0;
      for (int32_t k = 0; k < s->chain->n; k++) {
        if (p->memory_of[s->at[k]] != m || weight(s, k) == 0) continue;
        int64_t now = cost_at(s, k, s->at[k]);
        for (int32_t d = 0; d < p->n_devices; d++) {
          if (p->memory_of[d] == m || time_on(s, k, d) == SITU_NEVER_NS || !fits(s, p->memory_of[d], weight(s, k)))
            continue;
          double loss = (double)(cost_at(s, k, d) - now) / (double)weight(s, k);
          if (best >= 0 && loss >= min) continue;
          min = loss;
          best = k;
          to = d;
        }
      }
      if (best < 0) return false;
      move(s, best, to);
    }
  return true;
}

/* Whether element k has a better device with capacity for it; moves it to the best. */
static bool improve_alone(priced *s, int32_t k) {
  const situ_problem *p = s->problem;
  int32_t to = -1, own = p->memory_of[s->at[k]];
  int64_t min = cost_at(s, k, s->at[k]);
  for (int32_t d = 0; d < p->n_devices; d++) {
    if (d == s->at[k] || (p->memory_of[d] != own && !fits(s, p->memory_of[d], weight(s, k)))) continue;
    int64_t cost = cost_at(s, k, d);
    if (cost >= min) continue;
    min = cost;
    to = d;
  }
  if (to >= 0) move(s, k, to);
  return to >= 0;
}

/* Whether moving element a to the device of b, and b to device e, is better. For two elements that are not adjacent. */
static bool evict(priced *s, int32_t a, int32_t b, int32_t e) {
  const situ_problem *p = s->problem;
  const chain_element *elements = s->chain->elements;
  int32_t da = s->at[a], db = s->at[b], ma = p->memory_of[da], mb = p->memory_of[db], me = p->memory_of[e];
  if (da == db || e == db || s->after[a] == b || s->before[a] == b || elements[a].parent == b ||
      elements[b].parent == a)
    return false;
  if (time_on(s, a, db) == SITU_NEVER_NS || time_on(s, b, e) == SITU_NEVER_NS) return false;
  if (cost_at(s, a, db) + cost_at(s, b, e) >= cost_at(s, a, da) + cost_at(s, b, db)) return false;
  move(s, a, db);
  move(s, b, e);
  if (fits(s, ma, 0) && fits(s, mb, 0) && fits(s, me, 0)) return true;
  move(s, a, da);
  move(s, b, db);
  return false;
}

/* Whether exchanging a and b helps, or with few elements, any other transfer to make capacity for a at the device of b.
 */
static bool exchange(priced *s, int32_t a, int32_t b) {
  int32_t n_devices = s->problem->n_devices;
  if ((int64_t)s->chain->n * s->chain->n * n_devices > MAX_TRIALS) return evict(s, a, b, s->at[a]);
  for (int32_t e = 0; e < n_devices; e++)
    if (evict(s, a, b, e)) return true;
  return false;
}

/* The cost of element k and its branches, given all other elements. */
static int64_t cost_with_branches(const priced *s, int32_t k) {
  int64_t sum = cost_at(s, k, s->at[k]);
  for (int32_t i = s->first[k]; i >= 0; i = s->next[i]) sum = sat_add(sum, time_on(s, i, s->at[i]));
  return sum;
}

/* Whether element k is better on device d together with its branches. */
static bool improve_together(priced *s, int32_t k, int32_t d) {
  int32_t was[MAX_BRANCHES], n = 0, own = s->at[k];
  bool possible = time_on(s, k, d) != SITU_NEVER_NS;
  int64_t before = cost_with_branches(s, k);
  for (int32_t i = s->first[k]; i >= 0; i = s->next[i]) {
    possible = possible && n < MAX_BRANCHES && time_on(s, i, d) != SITU_NEVER_NS;
    if (possible) was[n++] = s->at[i];
  }
  if (!possible || n == 0) return false;
  move(s, k, d);
  for (int32_t i = s->first[k]; i >= 0; i = s->next[i]) move(s, i, d);
  if (fits(s, s->problem->memory_of[d], 0) && cost_with_branches(s, k) < before) return true;
  move(s, k, own);
  n = 0;
  for (int32_t i = s->first[k]; i >= 0; i = s->next[i]) move(s, i, was[n++]);
  return false;
}

static void improve(priced *s) {
  bool better = true;
  for (int pass = 0; better && pass < MAX_PASSES; pass++) {
    better = false;
    for (int32_t k = 0; k < s->chain->n; k++) better |= improve_alone(s, k);
    for (int32_t k = 0; k < s->chain->n; k++)
      for (int32_t d = 0; d < s->problem->n_devices; d++) better |= improve_together(s, k, d);
    for (int32_t a = 0; a < s->chain->n; a++)
      for (int32_t b = 0; b < s->chain->n; b++) better |= a != b && exchange(s, a, b);
  }
}

/* Offers the plan of the program at its prices, after making it fit and improving it. */
static void take_plan(void *context, const branch_chain *chain, int64_t lower_ns) {
  priced *s = context;
  const situ_problem *p = s->problem;
  size_t size = (size_t)chain->n * sizeof *s->at;
  (void)lower_ns;
  if (s->n_seen == MAX_SEEN || s->n_plans == MAX_PLANS || solve_done(s->run)) return;
  if (hash_was_seen(s->seen, &s->n_seen, MAX_SEEN, hash_bytes(chain->at, size, 0))) return;
  memcpy(s->at, chain->at, size);
  memset(s->used_bytes, 0, (size_t)p->n_memories * sizeof *s->used_bytes);
  for (int32_t k = 0; k < chain->n; k++) {
    unit_members_put(unit_list_members(&p->units, chain->elements[k].unit), s->device, s->at[k]);
    s->used_bytes[p->memory_of[s->at[k]]] += weight(s, k);
  }
  for (int32_t u = 0; u < p->units.n; u++) {
    int32_t d = -1;
    if (chain->on_chain[u] || branch_chain_off_now(chain, u, &d) < 0) continue;
    unit_members_put(unit_list_members(&p->units, u), s->device, d);
    s->used_bytes[p->memory_of[d]] += chain->all.weight_bytes[u];
  }
  if (!make_fit(s)) return;
  improve(s);
  if (hash_was_seen(s->seen, &s->n_seen, MAX_SEEN, hash_bytes(s->at, size, 1))) return;
  for (int32_t k = 0; k < chain->n; k++)
    unit_members_put(unit_list_members(&p->units, chain->elements[k].unit), s->device, s->at[k]);
  if (!sequence_find(s->order, s->run->simulator, p, s->device, s->run->arena)) return;
  repair_offer(s->run, &(placement){.device = s->device, .order = s->order});
  s->n_plans++;
}

static bool priced_init(priced *s, const branch_chain *chain, arena *a) {
  const situ_problem *p = s->problem;
  int32_t n = chain->n, last = -1;
  if (!ARENA_ARRAYS(a, ARRAY(s->before, n), ARRAY(s->after, n), ARRAY(s->first, n), ARRAY(s->next, n), ARRAY(s->at, n),
                    ARRAY(s->device, p->n_operators), ARRAY(s->order, p->n_operators),
                    ARRAY(s->capacity, p->n_memories), ARRAY(s->used_bytes, p->n_memories)))
    return false;
  s->chain = chain;
  for (int32_t k = 0; k < n; k++) s->before[k] = s->after[k] = s->first[k] = s->next[k] = -1;
  for (int32_t k = 0; k < n; k++) {
    int32_t parent = chain->elements[k].parent;
    if (parent >= 0) {
      s->next[k] = s->first[parent];
      s->first[parent] = k;
      continue;
    }
    s->before[k] = last;
    if (last >= 0) s->after[last] = k;
    last = k;
  }
  for (int32_t v = 0; v < p->n_operators; v++)
    s->workspace_bytes = max64(s->workspace_bytes, footprint_bytes(p->graph, v));
  for (int32_t m = 0; m < p->n_memories; m++)
    s->capacity[m] = p->platform->memory_bytes[m] == SITU_UNLIMITED_BYTES
                         ? SITU_UNLIMITED_BYTES / 4
                         : max64(0, p->platform->memory_bytes[m] - s->workspace_bytes);
  return true;
}

static bool priced_chain_serves(const situ_problem *p) {
  return p->overlap == SITU_OVERLAP_NONE && !p->training && branch_chain_serves(p);
}

static situ_status priced_chain_solve(solve_run *run) {
  const situ_problem *p = run->problem;
  branch_chain chain;
  priced *s = ARENA_ZERO(run->arena, priced, 1);
  if (!s) return fail_no_memory(run->error);
  s->run = run;
  s->problem = p;
  TRY(branch_chain_find(&chain, p, run->arena, run->error));
  for (int32_t k = 0; k < chain.n; k++)
    if (!chain.elements[k].holds_weights)
      return SITU_STATUS_OK; /* a unit with two elements could end up in two places */
  if (chain.n < 2 || chain.n > MAX_ELEMENTS) return SITU_STATUS_OK;
  if (!priced_init(s, &chain, run->arena)) return fail_no_memory(run->error);
  branch_chain_ascend(&chain, run->budget, take_plan, s);
  return SITU_STATUS_OK;
}

const solver priced_chain_solver = {
    .name = "priced_chain",
    .title = "a chain of layers with prices of memory, spilling what does not fit",
    .source = "Geoffrion, Lagrangean relaxation, 1974",
    .models = MODEL_STREAM,
    .serves = priced_chain_serves,
    .solve = priced_chain_solve,
};
