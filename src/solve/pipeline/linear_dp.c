/* linear_dp: the best contiguous split of many linear orders (the "linearised" dynamic program of Tarnawski et al.,
 * NeurIPS 2020, section 5, which splits one). The published order comes first: with a limit of one step it is the only
 * one, and values equal those of the published code to the last digit. docs/theory/heuristics/linear_dp.md says which
 * orders follow, and why.
 *
 * A step is one end of a segment, with all its beginnings (order_split.h). */
#include "base/checked.h"
#include "base/fail.h"
#include "solve/pipeline/order_split.h"
#include "solve/pipeline/orders.h"

enum {
  MAX_FAILURES = 100,   /* orders in a row without a better split */
  MAX_WORK = 100000000, /* of order_split_work, for all further orders: some tenths of a second */
  RULES = 3,            /* further orders that are not random */
  SHARE_OF_STEPS = 4    /* further orders take at most one in this many of the remaining steps */
};

typedef struct linear_dp_search {
  solve_run *run;
  contraction classes;
  order_split *split;
  order_maker maker;
  rng random;
  int32_t *order;
  int32_t *best, *place, *found; /* [class] its device in the best split; in the loosened one; in the last one */
  int32_t n_places;              /* devices of the best split; 0 while there is none */
} linear_dp_search;

static bool linear_dp_init(linear_dp_search *s, solve_run *run) {
  arena *a = run->arena;
  *s = (linear_dp_search){.run = run, .random = rng_new(run->seed ^ 0x11ea)};
  if (!contract(&s->classes, run->problem, true, a)) return false;
  int32_t n = s->classes.n_classes;
  return ARENA_ARRAYS(a, ARRAY(s->order, n), ARRAY(s->best, n), ARRAY(s->place, n), ARRAY(s->found, n)) &&
         (s->split = order_split_new(run, &s->classes)) && order_maker_init(&s->maker, &s->classes.forward, a);
}

/* Splits the current order. Returns whether that is better than all before. */
static bool offer(linear_dp_search *s) {
  if (!order_split_offer(s->split, s->order, s->found)) return false;
  s->n_places = 0;
  for (int32_t c = 0; c < s->classes.n_classes; c++) {
    s->best[c] = s->found[c];
    if (s->found[c] >= s->n_places) s->n_places = s->found[c] + 1;
  }
  return true;
}

/* The same without the limit of steps; limits of time and stops still apply. */
static void offer_whole(linear_dp_search *s) {
  budget *b = s->run->budget;
  int64_t max_steps = b->max_steps;
  b->max_steps = INT64_MAX;
  if (b->stop == BUDGET_STEPS) b->stop = BUDGET_GOING;
  offer(s);
  b->max_steps = max_steps;
}

/* Fills `place` with the cuts of the best split, each with a probability of `chance` in four. */
static void loosen(linear_dp_search *s, int32_t chance, order_style *style) {
  int32_t number[64], n = 0;
  for (int32_t k = 0; k < s->n_places && k < 64; k++) {
    n += k > 0 && rng_below(&s->random, 4) < chance;
    number[k] = n;
  }
  for (int32_t c = 0; c < s->classes.n_classes; c++) s->place[c] = number[s->best[c] < 64 ? s->best[c] : 63];
  style->place = s->place;
  style->n_places = n + 1;
}

/* The k-th further order: first the fixed ones, then orders drawn alternately from all, and from those that keep all or
 * some cuts of the best split. An order that keeps all cuts never splits worse than that split. */
static void make_order(linear_dp_search *s, int32_t k) {
  order_style style = {.backward = k % 2 == 0};
  if (k < RULES) {
    style.descending = k > 0;
  } else {
    style.random = &s->random;
    style.loose = k / 2 % 4 == 3;
    if (s->n_places > 1 && k / 2 % 4 != 0) loosen(s, k / 2 % 2 ? 4 : 2, &style);
  }
  order_make(&s->maker, s->order, &style);
}

static situ_status linear_dp_solve(solve_run *run) {
  linear_dp_search *s = ARENA_ZERO(run->arena, linear_dp_search, 1);
  if (!s || !linear_dp_init(s, run) || !order_published(s->order, &s->classes, run->problem->graph, run->arena))
    return fail_no_memory(run->error);
  offer_whole(s);
  int64_t left = run->budget->max_steps == INT64_MAX ? INT64_MAX : run->budget->max_steps - run->budget->steps;
  int64_t steps_end = left == INT64_MAX ? left : run->budget->steps + left / SHARE_OF_STEPS;
  int64_t max_work = sat_add(order_split_work(s->split), MAX_WORK);
  for (int32_t k = 0, failures = 0; failures < MAX_FAILURES && !solve_done(run); k++, failures++) {
    if (run->budget->steps >= steps_end || order_split_work(s->split) >= max_work) break;
    make_order(s, k);
    if (offer(s)) failures = 0;
  }
  return SITU_STATUS_OK;
}

const solver linear_dp_solver = {
    .name = "linear_dp",
    .title = "optimal split of many linear orders of the operators",
    .source = "Tarnawski et al., Efficient Algorithms for Device Placement of DNN Graph Operators, NeurIPS 2020",
    .models = MODEL_PIPELINE,
    .solve = linear_dp_solve,
};
