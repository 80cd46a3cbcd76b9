/* PEFT: HEFT with lookahead by the optimistic cost table (Arabnejad, Barbosa, TPDS 2014). The table uses the actual
 * transfer between two devices instead of the mean. It is then the tail of the device-indexed critical path
 * (bound/bound.h), and equals the paper's table where all links are equal. */
#include "base/fail.h"
#include "bound/bound.h"
#include "solve/stream/list.h"

static bool peft_serves(const situ_problem *p) { return (int64_t)p->n_operators * p->n_devices <= (int64_t)1 << 26; }

static void rank_by_table(double *rank, const situ_problem *p, const int64_t *tail) {
  for (int32_t v = 0; v < p->n_operators; v++) {
    double sum = 0;
    int32_t n = 0;
    for (int32_t d = 0; d < p->n_devices; d++) {
      int64_t ahead = tail[(int64_t)v * p->n_devices + d];
      if (ahead == SITU_NEVER_NS) continue;
      sum += (double)ahead;
      n++;
    }
    rank[v] = n > 0 ? sum / n : 0;
  }
}

static situ_status peft_solve(solve_run *run) {
  const situ_problem *p = run->problem;
  int64_t cells = (int64_t)p->n_operators * p->n_devices;
  int64_t *head = ARENA_NEW(run->arena, int64_t, cells), *tail = ARENA_NEW(run->arena, int64_t, cells);
  double *rank = ARENA_NEW(run->arena, double, p->n_operators);
  partial_schedule s;
  if (!head || !tail || !rank || !partial_init(&s, p, run->arena) || !bound_heads_tails(head, tail, p))
    return fail_no_memory(run->error);
  rank_by_table(rank, p, tail);
  if (list_schedule(&s, &(list_policy){.priority = rank, .tail_ns = tail}, run->budget, run->arena))
    list_offer(run, &s);
  return SITU_STATUS_OK;
}

const solver peft_solver = {
    .name = "peft",
    .title = "predicted earliest finish time",
    .source = "Arabnejad, Barbosa, TPDS 2014",
    .models = MODEL_STREAM,
    .serves = peft_serves,
    .solve = peft_solve,
};
