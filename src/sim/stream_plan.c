/* A whole stream plan: one run with all details. */
#include "sim/stream.h"

#include <stdlib.h>

#include "base/checked.h"
#include "base/compare.h"
#include "base/contracts.h"
#include "base/fail.h"
#include "sim/by_start.h"

/* A hop, for sorting. */
typedef struct hop_row {
  situ_transfer hop;
  int64_t rank; /* among the hops in order of creation */
} hop_row;

COMPARATOR(by_start, hop_row, UP(hop.start_ns) UP(hop.tensor) UP(hop.to_memory) UP(rank))

static situ_status fill_order(const stream *s, const placement *where, bool timed, situ_plan *plan, situ_error *error) {
  plan->order = ARENA_NEW(plan->arena, int32_t, s->n_operators);
  arena_mark mark = arena_get_mark(plan->arena);
  keyed *rows = ARENA_NEW(plan->arena, keyed, s->n_operators);
  if (!plan->order || !rows) return fail_no_memory(error);
  order_by_start(plan->order, rows, timed ? s->start_ns : NULL, where->order, s->n_operators);
  arena_release(plan->arena, mark);
  return SITU_STATUS_OK;
}

/* Writes the hops of a run without contention to `log` unless it is NULL, and counts them. sent: scratch, [memory] the
 * last tensor sent there. */
static int64_t free_hops(const stream *s, const placement *where, int32_t *sent, situ_transfer *log) {
  const situ_problem *p = s->problem;
  const situ_graph *g = s->graph;
  const situ_platform *q = s->platform;
  int64_t n = 0;
  for (int32_t m = 0; m < s->n_memories; m++) sent[m] = -1;
  for (int32_t t = 0; t < g->n_tensors; t++) {
    int32_t v = g->producer[t], m = p->memory_of[where->device[v]];
    for (int64_t i = g->use_start[t]; i < g->use_start[t + 1]; i++) {
      int32_t to = p->memory_of[where->device[g->use[i]]];
      if (to == m || sent[to] == t) continue;
      sent[to] = t;
      int64_t now = s->finish_ns[v];
      int64_t pair = (int64_t)m * s->n_memories + to;
      for (int32_t hop = q->route_start[pair]; hop < q->route_start[pair + 1]; hop++, n++) {
        int32_t link = q->route_link[hop];
        int64_t end = sat_add(now, p->transfer_ns[t][p->costs->link_kind[link]]);
        if (log) log[n] = (situ_transfer){t, link, to, now, end};
        now = end;
      }
    }
  }
  return n;
}

static situ_status fill_transfers(stream *s, const placement *where, situ_plan *plan, situ_error *error) {
  bool link = s->problem->contention == SITU_CONTENTION_LINK;
  arena_mark mark = arena_get_mark(plan->arena);
  int32_t *sent = ARENA_NEW(plan->arena, int32_t, s->n_memories);
  if (!sent) return fail_no_memory(error);
  int64_t n = link ? s->link.n_hops : free_hops(s, where, sent, NULL);
  arena_release(plan->arena, mark);
  if (n > INT32_MAX) return fail_with(error, SITU_STATUS_UNSUPPORTED, NULL, "a plan with more than 2^31 transfers");
  plan->transfers = ARENA_NEW(plan->arena, situ_transfer, n);
  mark = arena_get_mark(plan->arena);
  hop_row *rows = ARENA_NEW(plan->arena, hop_row, n);
  sent = ARENA_NEW(plan->arena, int32_t, s->n_memories);
  if (!plan->transfers || !rows || !sent) return fail_no_memory(error);
  plan->n_transfers = (int32_t)n;
  if (link) {
    s->link.hop_log = plan->transfers;
    (void)stream_run_link(s);
    ENSURE(s->link.n_hops == n); /* runs repeat */
    s->link.hop_log = NULL;
  } else {
    free_hops(s, where, sent, plan->transfers);
  }
  for (int64_t i = 0; i < n; i++) rows[i] = (hop_row){plan->transfers[i], i};
  qsort(rows, (size_t)n, sizeof *rows, by_start);
  for (int64_t i = 0; i < n; i++) plan->transfers[i] = rows[i].hop;
  arena_release(plan->arena, mark);
  return SITU_STATUS_OK;
}

situ_status stream_fill_plan(void *model, const placement *where, situ_plan *plan, situ_error *error) {
  stream *s = model;
  simulation found = {.value_ns = SITU_NEVER_NS, .worst_device = -1};
  stream_run(s, where, true, &found);
  bool timed = found.value_ns != SITU_NEVER_NS;
  TRY(fill_order(s, where, timed, plan, error));
  if (!timed) return SITU_STATUS_OK;
  plan->value_ns = found.value_ns;
  plan->start_ns = ARENA_COPY(plan->arena, found.start_ns, int64_t, s->n_operators);
  plan->finish_ns = ARENA_COPY(plan->arena, found.finish_ns, int64_t, s->n_operators);
  if (!plan->start_ns || !plan->finish_ns) return fail_no_memory(error);
  for (int32_t d = 0; d < s->n_devices; d++) {
    plan->uses[d].load_ns = found.load_ns[d];
    plan->uses[d].memory_bytes = found.peak_bytes[s->problem->memory_of[d]];
  }
  return fill_transfers(s, where, plan, error);
}

situ_status stream_report_memory(void *model, const placement *where, memory_change **out, int64_t *n, arena *a,
                                 situ_error *error) {
  simulation found = {.value_ns = SITU_NEVER_NS};
  stream_run(model, where, true, &found);
  return found.value_ns == SITU_NEVER_NS ? SITU_STATUS_OK : stream_log_memory(model, where, out, n, a, error);
}
