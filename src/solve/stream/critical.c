#include "solve/stream/critical.h"

#include "base/checked.h"

bool critical_init(critical *c, const situ_problem *p, arena *a) {
  int32_t n = p->n_operators;
  *c = (critical){.problem = p,
                  .position = ARENA_NEW(a, int32_t, n),
                  .before = ARENA_NEW(a, int32_t, n),
                  .after = ARENA_NEW(a, int32_t, n),
                  .last = ARENA_NEW(a, int32_t, p->n_devices),
                  .busy_ns = ARENA_NEW(a, int64_t, p->n_devices),
                  .tail_ns = ARENA_NEW(a, int64_t, n),
                  .path = ARENA_NEW(a, int32_t, n)};
  return c->position && c->before && c->after && c->last && c->busy_ns && c->tail_ns && c->path;
}

int64_t critical_arrival(const situ_problem *p, const int32_t *device, const int64_t *finish_ns, int32_t v, int32_t d) {
  const situ_graph *g = p->graph;
  int64_t arrival = 0;
  for (int64_t i = g->in_start[v]; i < g->in_start[v + 1]; i++) {
    int32_t t = g->in[i], u = g->producer[t];
    arrival = max64(arrival, sat_add(finish_ns[u], problem_transfer_ns(p, t, device[u], d)));
  }
  return arrival;
}

int64_t critical_rest(const critical *c, const int32_t *device, int32_t v, int32_t d) {
  const situ_problem *p = c->problem;
  const situ_graph *g = p->graph;
  int64_t rest = 0;
  for (int32_t t = g->out_start[v]; t < g->out_start[v + 1]; t++)
    for (int64_t i = g->use_start[t]; i < g->use_start[t + 1]; i++) {
      int32_t x = g->use[i];
      rest = max64(rest, sat_add(problem_transfer_ns(p, t, d, device[x]), c->tail_ns[x]));
    }
  return rest;
}

static void find_neighbours(critical *c, const placement *where) {
  const situ_problem *p = c->problem;
  for (int32_t d = 0; d < p->n_devices; d++) {
    c->last[d] = -1;
    c->busy_ns[d] = 0;
  }
  for (int32_t k = 0; k < p->n_operators; k++) {
    int32_t v = where->order[k], d = where->device[v];
    c->position[v] = k;
    c->before[v] = c->last[d];
    c->after[v] = -1;
    if (c->last[d] >= 0) c->after[c->last[d]] = v;
    c->last[d] = v;
    c->busy_ns[d] = sat_add(c->busy_ns[d], problem_time_ns(p, v, d));
  }
}

/* The operator that v waited for, or -1. */
static int32_t blocker(const critical *c, const int32_t *device, const int64_t *start_ns, const int64_t *finish_ns,
                       int32_t v) {
  const situ_problem *p = c->problem;
  const situ_graph *g = p->graph;
  int32_t latest = -1;
  int64_t at = -1;
  for (int64_t i = g->in_start[v]; i < g->in_start[v + 1]; i++) {
    int32_t t = g->in[i], u = g->producer[t];
    int64_t there = sat_add(finish_ns[u], problem_transfer_ns(p, t, device[u], device[v]));
    if (there <= at) continue;
    at = there;
    latest = u;
  }
  if (at == start_ns[v]) return latest;
  int32_t b = c->before[v];
  return b >= 0 && finish_ns[b] == start_ns[v] ? b : latest;
}

void critical_find(critical *c, const placement *where, const int64_t *start_ns, const int64_t *finish_ns) {
  const situ_problem *p = c->problem;
  find_neighbours(c, where);
  int32_t end = -1;
  for (int32_t k = p->n_operators - 1; k >= 0; k--) {
    int32_t v = where->order[k], d = where->device[v];
    int64_t rest = c->after[v] >= 0 ? c->tail_ns[c->after[v]] : 0;
    c->tail_ns[v] = 0;
    c->tail_ns[v] = sat_add(problem_time_ns(p, v, d), max64(rest, critical_rest(c, where->device, v, d)));
    if (end < 0 || finish_ns[v] > finish_ns[end]) end = v;
  }
  c->n_path = 0;
  for (int32_t v = end; v >= 0; v = blocker(c, where->device, start_ns, finish_ns, v)) c->path[c->n_path++] = v;
  for (int32_t i = 0, j = c->n_path - 1; i < j; i++, j--) {
    int32_t swap = c->path[i];
    c->path[i] = c->path[j];
    c->path[j] = swap;
  }
}
