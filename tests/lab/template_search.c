/* template_search: a commented local search to copy to src/solve/ROOM/NAME.c; the tests build and run it. The loop of
 * common/search.h does the rest: budget, incumbent, acceptance, temperatures, restarts, threads and ranks.
 *
 * template_search moves one unit at a time to a device drawn at random, by simulated annealing; streams run in index
 * order. */
#include <string.h>

#include "base/fail.h"
#include "solve/common/search.h"

/* What tests and benchmarks may set (`bench/parameters`). Those of the schedule come first. */
enum { N_PARAMETERS = N_SEARCH_CYCLES };
static const solver_parameter TEMPLATE_PARAMETERS[N_PARAMETERS] = {SEARCH_CYCLES(100, 10000, 0.05, 0.0005)};

typedef struct template_search {
  search base;              /* first */
  int32_t *current, *trial; /* [operator] devices */
} template_search;

/* Makes a neighbour; false if there is none this time. All draws are from search.random. */
static bool template_search_propose(search *s, int32_t i) {
  template_search *x = (template_search *)s;
  int32_t v = search_draw(s, s->problem->n_operators), d = search_draw(s, s->problem->n_devices);
  memcpy(x->trial, x->current, (size_t)s->problem->n_operators * sizeof *x->trial);
  return d != x->current[v] && search_put(s, x->trial, v, d); /* support, pins, unused devices */
}

/* One step: the incumbent keeps the placement if it is better and breaks no rule. */
static double template_search_evaluate(search *s, double below) {
  simulation found = solve_try(s->run, &(placement){.device = ((template_search *)s)->trial});
  return found.excess_bytes > 0 || found.value_ns == SITU_NEVER_NS ? SEARCH_NONE : (double)found.value_ns;
}

static void template_search_accept(search *s, double cost) {
  template_search *x = (template_search *)s;
  int32_t *swap = x->current;
  x->current = x->trial;
  x->trial = swap;
}

/* Temperatures are in units of the best value; on a restart the search goes on from the best plan. */
static bool template_search_begin(search *s, bool restart) {
  template_search *x = (template_search *)s;
  const incumbent *best = s->run->incumbent;
  s->scale = (double)best->value_ns;
  if (!restart) return true;
  memcpy(x->current, best->best.device, (size_t)s->problem->n_operators * sizeof *x->current);
  s->cost = (double)best->value_ns;
  return true;
}

static situ_status template_search_init(search *s) {
  template_search *x = (template_search *)s;
  int32_t n = s->problem->n_operators;
  bool made = ARENA_ARRAYS(s->run->arena, ARRAY(x->current, n), ARRAY(x->trial, n));
  return made ? SITU_STATUS_OK : fail_no_memory(s->run->error);
}

static const search_row TEMPLATE_SEARCH = {
    .size = sizeof(template_search),
    .rule = SEARCH_METROPOLIS,
    .growth = 2,   /* of cycles of cooling */
    .fills = true, /* the last one ends cold */
    .parameters = TEMPLATE_PARAMETERS,
    .n_parameters = N_PARAMETERS,
    .init = template_search_init,
    .begin = template_search_begin,
    .propose = template_search_propose,
    .evaluate = template_search_evaluate,
    .accept = template_search_accept,
};

const solver template_search_solver = {
    .name = "template_search",
    .title = "one unit at a time, by simulated annealing",
    .source = "",
    .models = MODEL_STREAM | MODEL_PIPELINE,
    .anytime = true,
    .multistart = true, /* several may run side by side */
    .starts = {{&single_solver, 1}},
    .search = &TEMPLATE_SEARCH,
};
