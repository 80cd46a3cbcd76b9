#include "brute.h"

#include "test.h"
#include "view/replicas.h"

enum { MAX_OPERATORS = 16, MAX_DEVICES = 16 };

/* By what the graph and the costs say, not by what the problem makes of it. */
static bool kept_together(const situ_problem *p, const int32_t *device) {
  const int32_t *colocation = p->given->colocation, *kernel = p->costs->group, *together = p->together;
  for (int32_t v = 0; v < p->n_operators; v++)
    for (int32_t w = 0; w < v; w++) {
      bool colocated = colocation[v] >= 0 && colocation[v] == colocation[w];
      colocated |= together && together[v] >= 0 && together[v] == together[w];
      if ((colocated || (kernel && kernel[v] == kernel[w])) && device[v] != device[w]) return false;
    }
  return true;
}

typedef struct walk {
  const situ_problem *problem;
  brute_visitor *visit;
  void *context;
  int32_t device[MAX_OPERATORS], order[MAX_OPERATORS];
  bool placed[MAX_OPERATORS];
  int32_t piece[MAX_OPERATORS], call[MAX_OPERATORS]; /* piece: of the device of the operator */
  int32_t replica_of[MAX_DEVICES];
} walk;

static void walk_orders(walk *b, int32_t k) {
  const situ_graph *g = b->problem->graph;
  if (k == g->n_operators) {
    b->visit(b->context, &(placement){.device = b->device, .order = b->order});
    return;
  }
  for (int32_t v = 0; v < g->n_operators; v++) {
    bool ready = !b->placed[v];
    for (int64_t i = g->in_start[v]; i < g->in_start[v + 1] && ready; i++) ready = b->placed[g->producer[g->in[i]]];
    if (!ready) continue;
    b->placed[v] = true;
    b->order[k] = v;
    walk_orders(b, k + 1);
    b->placed[v] = false;
  }
}

/* Numbers the pieces of each device in turn; false when one is left out. */
static bool number_calls(walk *b) {
  const situ_problem *p = b->problem;
  int32_t n = 0;
  for (int32_t d = 0; d < p->n_devices; d++) {
    bool ended = false;
    for (int32_t piece = 0; piece < p->n_operators; piece++) {
      bool used = false;
      for (int32_t v = 0; v < p->n_operators; v++)
        if (b->device[v] == d && b->piece[v] == piece) {
          b->call[v] = n;
          used = true;
        }
      if (used && ended) return false;
      ended |= !used;
      n += used;
    }
  }
  return true;
}

static void walk_calls(walk *b, int32_t v) {
  const situ_problem *p = b->problem;
  if (v == p->n_operators) {
    if (number_calls(b)) b->visit(b->context, &(placement){.device = b->device, .call = b->call});
    return;
  }
  int32_t most = 0;
  for (int32_t w = 0; w < p->n_operators; w++) most += b->device[w] == b->device[v];
  b->call[v] = -1;
  b->piece[v] = -1;
  if (problem_is_host(p, b->device[v]))
    walk_calls(b, v + 1);
  else
    for (b->piece[v] = 0; b->piece[v] < most && b->piece[v] < p->max_calls; b->piece[v]++) walk_calls(b, v + 1);
}

static void walk_replicas(walk *b, int32_t d) {
  const situ_problem *p = b->problem;
  if (d == p->n_devices) {
    if (replicas_keep_rules(p, b->device, b->replica_of))
      b->visit(b->context, &(placement){.device = b->device, .replica_of = b->replica_of});
    return;
  }
  for (b->replica_of[d] = -1; b->replica_of[d] < p->n_devices; b->replica_of[d]++) walk_replicas(b, d + 1);
}

static void walk_devices(walk *b, int32_t v) {
  const situ_problem *p = b->problem;
  if (v == p->n_operators) {
    if (!kept_together(p, b->device)) return;
    if (p->execution == SITU_EXECUTION_STREAM)
      walk_orders(b, 0);
    else if (p->execution == SITU_EXECUTION_CALLS)
      walk_calls(b, 0);
    else if (p->replicate)
      walk_replicas(b, 0);
    else
      b->visit(b->context, &(placement){.device = b->device});
    return;
  }
  for (int32_t d = 0; d < p->n_devices; d++) {
    if (!problem_allows(p, v, d)) continue;
    b->device[v] = d;
    walk_devices(b, v + 1);
  }
}

void brute_each(const situ_problem *problem, brute_visitor *visit, void *context) {
  assert_true(problem->n_operators <= MAX_OPERATORS && problem->n_devices <= MAX_DEVICES);
  walk b = {.problem = problem, .visit = visit, .context = context};
  walk_devices(&b, 0);
}

typedef struct least {
  simulator *simulator;
  int64_t value_ns;
  int32_t *device, n;
} least;

static void keep_least(void *context, const placement *where) {
  least *best = context;
  simulation found = simulator_run(best->simulator, where, true);
  if (found.excess_bytes > 0 || found.over_ns > 0 || found.value_ns >= best->value_ns) return;
  best->value_ns = found.value_ns;
  if (best->device) memcpy(best->device, where->device, (size_t)best->n * sizeof *best->device);
}

int64_t brute_force(const situ_problem *p, int32_t *device) {
  arena *a = arena_new();
  least best = {.simulator = simulator_new(p, a), .value_ns = SITU_NEVER_NS, .device = device, .n = p->n_operators};
  assert_non_null(best.simulator);
  brute_each(p, keep_least, &best);
  arena_free(a);
  return best.value_ns;
}
