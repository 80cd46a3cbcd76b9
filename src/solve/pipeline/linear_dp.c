/* linear_dp: the best contiguous split of many linear orders (the "linearised" dynamic program of Tarnawski et al.,
 * NeurIPS 2020, section 5, which splits one). The published order comes first: with a limit of one step it is the only
 * one, and the values are those of the published code to the last digit. docs/theory/heuristics/linear_dp.md says which
 * orders follow and why.
 *
 * A step is one end of a segment, with all its beginnings (order_split.h). */
#include "base/checked.h"
#include "base/fail.h"
#include "solve/pipeline/order_split.h"
#include "solve/pipeline/orders.h"

enum {
  MOST_BARREN = 100,     /* orders in a row that bring nothing */
  MOST_WORK = 100000000, /* of order_split_work, for all further orders: some tenths of a second */
  RULES = 3,             /* further orders that need no chance */
  SHARE_OF_STEPS = 4     /* further orders take at most this part of the steps that are left */
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

/* Splits the order at hand. Returns whether that is better than all before. */
static bool offer(linear_dp_search *s) {
  if (!order_split_offer(s->split, s->order, s->found)) return false;
  s->n_places = 0;
  for (int32_t c = 0; c < s->classes.n_classes; c++) {
    s->best[c] = s->found[c];
    if (s->found[c] >= s->n_places) s->n_places = s->found[c] + 1;
  }
  return true;
}

/* The same, to its end whatever the limit of steps; time and stops still count. */
static void offer_whole(linear_dp_search *s) {
  budget *b = s->run->budget;
  int64_t max_steps = b->max_steps;
  b->max_steps = INT64_MAX;
  if (b->stop == BUDGET_STEPS) b->stop = BUDGET_GOING;
  offer(s);
  b->max_steps = max_steps;
}

/* Takes the cuts of the best split into `place`, each with that chance in four. */
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

/* The k-th further order: first the rules, then orders drawn in turn from all, and from those that keep the cuts of the
 * best split or some of them. An order that keeps all cuts never splits worse than that split. */
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
  int64_t most_steps = left == INT64_MAX ? left : run->budget->steps + left / SHARE_OF_STEPS;
  int64_t most_work = sat_add(order_split_work(s->split), MOST_WORK);
  for (int32_t k = 0, barren = 0; barren < MOST_BARREN && !solve_done(run); k++, barren++) {
    if (run->budget->steps >= most_steps || order_split_work(s->split) >= most_work) break;
    make_order(s, k);
    if (offer(s)) barren = 0;
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
