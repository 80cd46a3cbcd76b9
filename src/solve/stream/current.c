#include "solve/stream/current.h"

#include <string.h>

#include "base/checked.h"
#include "base/contracts.h"
#include "base/fail.h"

double current_price(const situ_problem *p, int64_t value_ns) {
  int64_t room = SITU_UNLIMITED_BYTES;
  for (int32_t m = 0; m < p->n_memories; m++) room = min64(room, max64(p->platform->memory_bytes[m], 1));
  return 10.0 * (double)(value_ns < SITU_NEVER_NS ? value_ns : 1000000000) / (double)room + 1e-3;
}

bool current_new_placement(placement *out, const solve_run *run) {
  int32_t n = run->problem->n_operators;
  *out = (placement){.device = ARENA_NEW(run->arena, int32_t, n), .order = ARENA_NEW(run->arena, int32_t, n)};
  return out->device && out->order;
}

bool current_init(current *s, solve_run *run, bool with_base) {
  const situ_problem *p = run->problem;
  *s = (current){.run = run,
                 .start_ns = ARENA_NEW(run->arena, int64_t, p->n_operators),
                 .finish_ns = ARENA_NEW(run->arena, int64_t, p->n_operators),
                 .peak_bytes = ARENA_ZERO(run->arena, int64_t, p->n_memories),
                 .cost = SEARCH_NONE,
                 .price = current_price(p, run->incumbent->value_ns),
                 .base = with_base ? simulator_base_new(run->simulator, run->arena) : NULL};
  return s->start_ns && s->finish_ns && s->peak_bytes && (s->base || !with_base) &&
         current_new_placement(&s->where, run) && critical_init(&s->critical, p, run->arena);
}

double current_cost(const current *s, const simulation *found) {
  if (found->stopped) return SEARCH_NONE;
  if (found->value_ns == SITU_NEVER_NS) return 1e300;
  return (double)found->value_ns + OVER_PRICE * (double)found->over_ns + (double)found->excess_bytes * s->price;
}

double current_try(current *s, const placement *where, double below) {
  simulation found = solve_try_below(s->run, s->base, where, below);
  return current_cost(s, &found);
}

void current_settle(current *s, const placement *where, const simulation *found) {
  REQUIRE(found->start_ns && !found->stopped);
  const situ_problem *p = s->run->problem;
  size_t n = (size_t)p->n_operators;
  current_copy(&s->where, where, p->n_operators);
  memcpy(s->start_ns, found->start_ns, n * sizeof *s->start_ns);
  memcpy(s->finish_ns, found->finish_ns, n * sizeof *s->finish_ns);
  if (found->peak_bytes) memcpy(s->peak_bytes, found->peak_bytes, (size_t)p->n_memories * sizeof *s->peak_bytes);
  s->over_ns = found->over_ns;
  s->excess_bytes = found->excess_bytes;
  s->cost = current_cost(s, found);
  s->explained = false;
}

void current_go_to(current *s, const placement *where) {
  simulation found = simulator_run_base(s->run->simulator, s->base, where, !s->run->memory_is_free);
  current_settle(s, where, &found);
}

void current_explain(current *s) {
  if (!s->explained) critical_find(&s->critical, &s->where, s->start_ns, s->finish_ns);
  s->explained = true;
}

void current_copy(placement *to, const placement *from, int32_t n) {
  memcpy(to->device, from->device, (size_t)n * sizeof *to->device);
  for (int32_t k = 0; !from->order && k < n; k++) to->order[k] = k;
  if (from->order) memcpy(to->order, from->order, (size_t)n * sizeof *to->order);
}

void current_range(const current *s, int32_t v, int32_t *low, int32_t *high) {
  const situ_graph *g = s->run->problem->graph;
  const int32_t *position = s->critical.position;
  *low = 0;
  *high = g->n_operators - 1;
  for (int64_t i = g->in_start[v]; i < g->in_start[v + 1]; i++) {
    int32_t u = position[g->producer[g->in[i]]];
    if (u + 1 > *low) *low = u + 1;
  }
  for (int32_t t = g->out_start[v]; t < g->out_start[v + 1]; t++)
    for (int64_t i = g->use_start[t]; i < g->use_start[t + 1]; i++)
      if (position[g->use[i]] - 1 < *high) *high = position[g->use[i]] - 1;
}

void current_shift(int32_t *order, int32_t from, int32_t to) {
  int32_t v = order[from];
  if (from < to)
    memmove(order + from, order + from + 1, (size_t)(to - from) * sizeof *order);
  else
    memmove(order + to + 1, order + to, (size_t)(from - to) * sizeof *order);
  order[to] = v;
}

situ_status stream_search_init(search *s, bool with_base) {
  stream_search *x = (stream_search *)s;
  bool good = current_init(&x->now, s->run, with_base) && current_new_placement(&x->trial, s->run);
  return good ? SITU_STATUS_OK : fail_no_memory(s->run->error);
}

bool stream_search_begin(search *s, bool restart) {
  stream_search *x = (stream_search *)s;
  if (restart) {
    current_go_to(&x->now, &s->run->incumbent->best);
    s->cost = x->now.cost;
  }
  s->scale = fmin(s->best_cost, s->cost);
  return true;
}

double stream_search_simulate(search *s, double below) {
  stream_search *x = (stream_search *)s;
  x->found = solve_try(s->run, &x->trial);
  return current_cost(&x->now, &x->found);
}

void stream_search_settle(search *s, double cost) {
  stream_search *x = (stream_search *)s;
  current_settle(&x->now, &x->trial, &x->found);
}

double stream_search_try(search *s, double below) {
  stream_search *x = (stream_search *)s;
  return current_try(&x->now, &x->trial, below);
}

void stream_search_go_to(search *s, double cost) {
  stream_search *x = (stream_search *)s;
  current_go_to(&x->now, &x->trial);
}
