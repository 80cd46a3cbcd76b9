/* The judge of memory over time in a stream schedule: every byte that arrives or leaves is an event; events are sorted
 * by memory and time, departures before arrivals, and added up: fewer than 2^33 changes of less than 2^63 bytes, with
 * weights of every operator in every copy's memory, so all sums fit 128 bits whatever a plan states. */
#include "check/model_rules.h"

#include <stdlib.h>

#include "base/checked.h"
#include "base/compare.h"
#include "base/fail.h"

typedef struct change {
  int64_t time_ns, bytes; /* bytes < 0: they go */
  int32_t memory;
} change;

typedef struct ledger {
  change *changes;
  int64_t n;
} ledger;

COMPARATOR(by_memory_and_time, change, UP(memory) UP(time_ns) UP(bytes))

/* Bytes in a memory from `from` to `until`; SITU_NEVER_NS: to the end. */
static void enter(ledger *l, int32_t memory, int64_t bytes, int64_t from, int64_t until) {
  if (bytes == 0 || from >= until) return;
  l->changes[l->n++] = (change){from, bytes, memory};
  if (until != SITU_NEVER_NS) l->changes[l->n++] = (change){until, -bytes, memory};
}

/* The end of the last user of each tensor in each memory that has one is needed, for home and copies. `last_ns` and
 * `of_tensor` are scratch by memory. */
static void enter_tensor(judge *j, ledger *l, int32_t t, const check_copy *copies, int32_t n_copies, int64_t *last_ns,
                         int32_t *of_tensor) {
  const situ_graph *g = j->graph;
  int32_t v = g->producer[t], home = j->platform->memory_of[j->plan->device[v]];
  for (int64_t i = g->use_start[t]; i < g->use_start[t + 1]; i++) {
    int32_t m = j->platform->memory_of[j->plan->device[g->use[i]]];
    if (of_tensor[m] != t) last_ns[m] = 0;
    of_tensor[m] = t;
    last_ns[m] = max64(last_ns[m], j->plan->finish_ns[g->use[i]]);
  }
  int64_t until = max64(of_tensor[home] == t ? last_ns[home] : 0, j->plan->finish_ns[v]);
  for (int32_t k = 0; k < n_copies; k++) {
    until = max64(until, copies[k].left_ns);
    if (of_tensor[copies[k].to_memory] == t)
      enter(l, copies[k].to_memory, g->size_bytes[t], copies[k].came_ns, last_ns[copies[k].to_memory]);
  }
  if (g->use_start[t] == g->use_start[t + 1]) until = SITU_NEVER_NS;
  enter(l, home, g->size_bytes[t], j->plan->start_ns[v], until);
}

/* A memory holds the weights of an operator once for all copies that run it there: for each operator of the network,
 * the memories that its copies are on are listed; those that the first copy is not on hold its weights too. */
static situ_status add_copies(judge *j, __int128 *used_bytes, situ_error *error) {
  const situ_problem *p = j->problem;
  int32_t n = p->n_operators / p->n_copies;
  bool *there = ARENA_NEW(j->scratch, bool, p->n_memories);
  if (!there) return fail_no_memory(error);
  for (int32_t v = 0; v < n; v++) {
    for (int32_t m = 0; m < p->n_memories; m++) there[m] = false;
    for (int32_t copy = 1; copy < p->n_copies; copy++)
      there[j->platform->memory_of[j->plan->device[copy * n + v]]] = true;
    there[j->platform->memory_of[j->plan->device[v]]] = false;
    for (int32_t m = 0; m < p->n_memories; m++)
      if (there[m]) used_bytes[m] += j->graph->weight_bytes[v];
  }
  return SITU_STATUS_OK;
}

situ_status check_stream_memory(judge *j, const check_copy *copies, int32_t n_copies, int64_t *peak_bytes,
                                situ_error *error) {
  const situ_graph *g = j->graph;
  int32_t n_memories = j->platform->n_memories;
  int64_t max = 2 * ((int64_t)g->n_operators + g->n_tensors + n_copies);
  ledger l = {.changes = ARENA_NEW(j->scratch, change, max)};
  int64_t *last_ns = ARENA_NEW(j->scratch, int64_t, n_memories);
  int32_t *of_tensor = ARENA_NEW(j->scratch, int32_t, n_memories);
  __int128 *used_bytes = ARENA_ZERO(j->scratch, __int128, n_memories);
  if (!l.changes || !last_ns || !of_tensor || !used_bytes) return fail_no_memory(error);
  for (int32_t m = 0; m < n_memories; m++) of_tensor[m] = -1;
  for (int32_t v = 0; v < g->n_operators; v++) {
    int32_t m = j->platform->memory_of[j->plan->device[v]];
    used_bytes[m] += g->weight_bytes[v];
    enter(&l, m, g->workspace_bytes[v], j->plan->start_ns[v], j->plan->finish_ns[v]);
  }
  if (j->problem->n_copies > 1) TRY(add_copies(j, used_bytes, error));
  int32_t next = 0;
  for (int32_t t = 0; t < g->n_tensors; t++) {
    int32_t first = next;
    while (next < n_copies && copies[next].tensor == t) next++;
    enter_tensor(j, &l, t, copies + first, next - first, last_ns, of_tensor);
  }
  qsort(l.changes, (size_t)l.n, sizeof *l.changes, by_memory_and_time);
  for (int32_t m = 0; m < n_memories; m++)
    peak_bytes[m] = used_bytes[m] > INT64_MAX ? INT64_MAX : (int64_t)used_bytes[m];
  for (int64_t i = 0; i < l.n; i++) {
    int32_t m = l.changes[i].memory;
    used_bytes[m] += l.changes[i].bytes;
    if (used_bytes[m] > peak_bytes[m]) peak_bytes[m] = used_bytes[m] > INT64_MAX ? INT64_MAX : (int64_t)used_bytes[m];
  }
  return SITU_STATUS_OK;
}
