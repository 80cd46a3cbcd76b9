/* stage_prices: branch and bound (Land and Doig, Econometrica 28, 1960) on the stages of a contiguous pipeline, with
 * bounds from prices of stages: period >= sum of price_k * load_k for prices with a sum of 1. The minimum of that over
 * all assignments is found exactly, by elimination (stage_energy.h), for prices improved by subgradient ascent
 * (stage_ascent.h).
 *
 * A question is whether some plan has a period of U or less, for U between bound and value. A subproblem that is not
 * refuted is split in two: by a class, at most at a stage or after it; or by a tensor with many users, which costs a
 * stage once, so that each user alone hardly matters. docs/theory/exact/stage_prices.md has the argument.
 */
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "base/fail.h"
#include "base/resize.h"
#include "base/sort.h"
#include "solve/pipeline/boundary_ranges.h"
#include "solve/pipeline/stage_ascent.h"

/* Work of a question in the first round and in the last, in entries of tables. */
static const int64_t FIRST_EFFORT = (int64_t)1 << 26, LAST_EFFORT = (int64_t)1 << 34;
static const int64_t FINE = 4000;     /* bisection ends at this fraction of the value */
static const double SLOW = 0.67;      /* of the gap: if more is left after a round, prices do not help */
static const double WORTHY = 0.07;    /* of the missing bound: minimum contribution of a tensor to split by it */
static const double CHEAP = 0.001;    /* of the bound: tensors of many classes that are forgotten cost less in all */
static const double UNDIVIDED = 0.01; /* score of a class that is at one stage in all assignments */

enum { MANY_PINS = 6, FREE_MAX_DEVICES = 4 };

/* How a question ended. */
typedef enum answer { REFUTED, FOUND, GAVE_UP } answer;

typedef struct tree {
  solve_run *run;
  const stages *s;
  stage_space space;
  stage_ascent ascent;
  const int64_t *rate; /* [type] */
  /* Open subproblems, as a stack; masks: the stages of classes, then those that hold tensors. */
  int64_t n_open, capacity, n_parts;
  uint16_t *masks;
  double *prices;
  int32_t *sequence;
  uint16_t *mask, *whole; /* the current subproblem, and before its split */
  double price[STAGE_PRICES];
  int64_t lower_ns, max_work;
} tree;

/* A way to split a subproblem: class `what` is at stage k or before it, or not; or, for what >= n, stage k holds the
 * tensor of edge what - n, or not. */
typedef struct split {
  int32_t what, stage;
  double score;
} split;

static int64_t n_masks(const tree *g) { return (int64_t)g->s->n + g->s->n_edges; }

/* The value of the incumbent; without one, more than that of any plan. */
static int64_t value_of(const tree *g) { return min64(g->run->incumbent->value_ns, STAGE_MAX_NS + 1); }

/* Puts the current subproblem on the stack. */
static situ_status push(tree *g, int32_t sequence) {
  if (g->n_open == g->capacity) {
    int64_t n = g->capacity ? g->capacity * 2 : 64;
    if (!array_resize(&g->masks, n * n_masks(g), sizeof *g->masks) ||
        !array_resize(&g->prices, n * STAGE_PRICES, sizeof *g->prices) ||
        !array_resize(&g->sequence, n, sizeof *g->sequence))
      return fail_no_memory(g->run->error);
    g->capacity = n;
  }
  memcpy(g->masks + g->n_open * n_masks(g), g->mask, (size_t)n_masks(g) * sizeof *g->mask);
  memcpy(g->prices + g->n_open * STAGE_PRICES, g->price, sizeof g->price);
  g->sequence[g->n_open++] = sequence;
  return SITU_STATUS_OK;
}

static int32_t pop(tree *g) {
  g->n_open--;
  memcpy(g->mask, g->masks + g->n_open * n_masks(g), (size_t)n_masks(g) * sizeof *g->mask);
  memcpy(g->price, g->prices + g->n_open * STAGE_PRICES, sizeof g->price);
  return g->sequence[g->n_open];
}

/* Puts all plans of period at most max_ns on the stack, as a subproblem for each sequence. */
static situ_status push_sequences(tree *g, int64_t max_ns) {
  g->n_open = 0;
  for (int32_t c = 0; c < g->space.n_sequences; c++) {
    const device_sequence *sequence = &g->space.sequences[c];
    stage_price price;
    stage_space_open(&g->space, sequence, max_ns, g->mask, g->mask + g->s->n);
    stage_price_start(g->price, sequence, g->rate);
    stage_price_round(&price, g->s, sequence, g->price);
    if (!stage_space_tighten(&g->space, g->mask, g->mask + g->s->n) ||
        !stage_space_drop(&g->space, sequence, &price, max_ns, g->mask, g->mask + g->s->n))
      continue;
    TRY(push(g, c));
  }
  return SITU_STATUS_OK;
}

/* The stages of one side of a split by a class: up to k, or, where stages have no order, k alone. */
static uint16_t side_of(const stages *s, int32_t k) { return (uint16_t)(s->free ? 1u << k : (2u << k) - 1); }

/* The best split by a class: one that assignments put at both sides, with much undecided work before and after it. */
static split best_class(tree *g, const device_sequence *sequence) {
  const stages *s = g->s;
  split best = {.what = -1, .score = -1};
  stage_space_weigh(&g->space, sequence, g->mask);
  for (int32_t v = 0; v < s->n; v++) {
    double upto = 0;
    int64_t matter = g->space.min[v] + min64(g->space.up[v], g->space.down[v]) + 1;
    for (int32_t k = 0; k < sequence->n && g->mask[v] >> (k + 1); k++) {
      double here = g->ascent.share[(int64_t)v * STAGES_MAX + k];
      upto = s->free ? here : upto + here;
      if (!(g->mask[v] & side_of(s, k))) continue;
      double score = ((upto < 0.5 ? upto : 1 - upto) + UNDIVIDED) * (double)matter;
      if (score > best.score) best = (split){v, k, score};
    }
  }
  return best;
}

/* The best split by a tensor: one with a high cost at a stage, which only some assignments have there. */
static split best_tensor(const tree *g, const device_sequence *sequence) {
  const stages *s = g->s;
  split best = {.what = -1, .score = 0};
  for (int32_t e = 0; e < s->n_edges; e++) {
    if (s->pin_start[e + 1] - s->pin_start[e] < 3) continue;
    uint32_t may = 0, must = g->mask[s->n + e];
    for (int32_t i = s->pin_start[e]; i < s->pin_start[e + 1]; i++) {
      uint16_t at = g->mask[s->pin[i]];
      may |= at;
      if (!(at & (at - 1))) must |= at;
    }
    for (uint32_t left = may & ~must; left; left &= left - 1) {
      int32_t k = __builtin_ctz(left);
      double share = g->ascent.share[((int64_t)s->n + e) * STAGES_MAX + k];
      double price = g->price[s->overlaps ? sequence->n + k : k];
      double score =
          (share < 0.5 ? share : 1 - share) * price * (double)s->in_ns[(int64_t)sequence->type[k] * s->n_edges + e];
      if (score > best.score) best = (split){s->n + e, k, score};
    }
  }
  return best;
}

/* Narrows the current subproblem to one side of a split. */
static void take_side(tree *g, split by, bool low) {
  const stages *s = g->s;
  if (by.what < s->n) {
    uint16_t side = side_of(s, by.stage);
    g->mask[by.what] &= low ? side : (uint16_t)~side;
    return;
  }
  int32_t e = by.what - s->n;
  uint16_t at = (uint16_t)(1u << by.stage);
  if (low) g->mask[s->n + e] |= at;
  for (int32_t i = s->pin_start[e]; !low && i < s->pin_start[e + 1]; i++) g->mask[s->pin[i]] &= (uint16_t)~at;
}

/* Splits the current subproblem. The side of more assignments is searched first. */
static situ_status branch(tree *g, int32_t c, int64_t max_ns) {
  const device_sequence *sequence = &g->space.sequences[c];
  split by = best_class(g, sequence), other = best_tensor(g, sequence);
  if (by.what < 0) return SITU_STATUS_OK; /* nothing is undecided: impossible */
  if (other.score > WORTHY * ((double)max_ns - g->ascent.lower_ns)) by = other;
  double low = 0;
  for (int32_t k = by.what < g->s->n && !g->s->free ? 0 : by.stage; k <= by.stage; k++)
    low += g->ascent.share[(int64_t)by.what * STAGES_MAX + k];
  if (by.what < g->s->n) {
    uint16_t before = g->mask[by.what];
    stage_space_break_symmetry(&g->space, sequence, by.what, g->mask, g->mask + g->s->n);
    if (g->mask[by.what] != before) return push(g, c);
  }
  memcpy(g->whole, g->mask, (size_t)n_masks(g) * sizeof *g->mask);
  take_side(g, by, low < 0.5);
  TRY(push(g, c));
  memcpy(g->mask, g->whole, (size_t)n_masks(g) * sizeof *g->mask);
  take_side(g, by, low >= 0.5);
  return push(g, c);
}

/* Whether some plan has a period of at most max_ns. */
static situ_status ask(tree *g, int64_t max_ns, answer *result) {
  int64_t begun = g->ascent.work;
  *result = REFUTED;
  TRY(push_sequences(g, max_ns));
  while (g->n_open > 0 && *result == REFUTED) {
    int32_t c = pop(g);
    stage_verdict verdict;
    stage_subproblem sub = {&g->space.sequences[c], g->mask, g->mask + g->s->n, g->price};
    TRY(stage_ascent_run(&verdict, &g->ascent, &sub, max_ns));
    g->n_parts++;
    if (verdict == STAGE_BETTER) *result = FOUND;
    if (verdict == STAGE_STOPPED || g->ascent.work - begun > g->max_work) *result = GAVE_UP;
    if (verdict == STAGE_OPEN && *result == REFUTED) TRY(branch(g, c, max_ns));
  }
  return SITU_STATUS_OK;
}

static bool is_closed(const tree *g) { return g->lower_ns >= value_of(g) || solve_done(g->run); }

static void raise_bound(tree *g, int64_t lower_ns) {
  g->lower_ns = lower_ns;
  bool all = lower_ns >= value_of(g);
  solve_bound(g->run, all ? g->run->incumbent->value_ns : lower_ns, "stage_prices");
}

/* Bisects the gap between bound and value, as long as questions are answered within max_work. */
static situ_status bisect(tree *g) {
  int64_t high_ns = value_of(g);
  while (!is_closed(g) && high_ns > g->lower_ns) {
    int64_t gap_ns = high_ns - g->lower_ns, max_ns = g->lower_ns + gap_ns / 2;
    bool last = gap_ns <= high_ns / FINE;
    if (last) max_ns = high_ns - 1;
    answer result;
    TRY(ask(g, max_ns, &result));
    if (result == REFUTED)
      raise_bound(g, max_ns + 1);
    else
      high_ns = result == FOUND ? value_of(g) : max_ns;
    if (last && result == GAVE_UP) break;
  }
  return SITU_STATUS_OK;
}

/* Rounds of growing work, as long as each closes enough of the gap. */
static situ_status close_gap(tree *g) {
  g->lower_ns = g->run->incumbent->lower_bound_ns;
  for (g->max_work = FIRST_EFFORT; !is_closed(g) && g->max_work <= LAST_EFFORT; g->max_work *= 4) {
    double gap = (double)(value_of(g) - g->lower_ns);
    TRY(bisect(g));
    if ((double)(value_of(g) - g->lower_ns) > SLOW * gap) break;
  }
  return SITU_STATUS_OK;
}

/* Forgets the cheapest tensors of many classes, such as masks, which would join all layers in each table. An edge adds
 * at most its maximum price to a priced sum of loads. */
static bool drop_cheap_edges(stages *s, int64_t lower_ns, arena *a) {
  bool *drop = ARENA_ZERO(a, bool, s->n_edges);
  keyed *cheap = ARENA_NEW(a, keyed, s->n_edges); /* by cost in ns */
  int32_t n = 0;
  double left_ns = CHEAP * (double)lower_ns;
  if (!drop || !cheap) return false;
  for (int32_t e = 0; e < s->n_edges; e++) {
    if (s->pin_start[e + 1] - s->pin_start[e] < MANY_PINS) continue;
    cheap[n] = (keyed){0, e};
    for (int32_t row = 0; row < s->n_rows; row++) {
      int64_t at = (int64_t)row * s->n_edges + e;
      cheap[n].key = max64(cheap[n].key, sat_add(s->in_ns[at], s->overlaps ? s->out_ns[at] : 0));
      cheap[n].key = max64(cheap[n].key, s->out_ns[at]);
    }
    n++;
  }
  sort_keyed(cheap, n);
  for (int32_t i = 0; i < n && (left_ns -= (double)cheap[i].key) >= 0; i++) drop[cheap[i].at] = true;
  return stages_drop_edges(s, drop, a);
}

static bool find_stages(stages *s, const solve_run *run) {
  if (run->problem->contiguous) return stages_find(s, run->problem, run->arena);
  if (!stages_find_free(s, run->problem, run->arena)) return false;
  return s->too_large || drop_cheap_edges(s, run->incumbent->lower_bound_ns, run->arena);
}

static situ_status stage_prices_solve(solve_run *run) {
  tree g = {.run = run};
  stages s;
  boundary_ranges balance;
  arena *a = run->arena;
  if (!find_stages(&s, run)) return fail_no_memory(run->error);
  if (s.too_large || !stages_fit(&s)) return SITU_STATUS_OK;
  if (!stage_space_init(&g.space, &s, a)) return fail_no_memory(run->error);
  if (g.space.n_sequences == 0) return SITU_STATUS_OK;
  g.s = &s;
  if (!ARENA_ARRAYS(a, ARRAY(g.mask, n_masks(&g)), ARRAY(g.whole, n_masks(&g))) ||
      !stage_ascent_init(&g.ascent, run, &g.space) || !boundary_ranges_init(&balance, &s, a))
    return fail_no_memory(run->error);
  if (balance.n_states > BOUNDARY_MAX_STATES) return SITU_STATUS_OK;
  g.rate = balance.rate;
  situ_status status = close_gap(&g);
  solve_count(run, "stage_prices.parts", g.n_parts);
  solve_count(run, "stage_prices.passes", g.ascent.passes);
  free(g.masks);
  free(g.prices);
  free(g.sequence);
  return status;
}

/* Without an order of stages there are too many plans on more devices. */
static bool stage_prices_serves(const situ_problem *p) {
  return stage_space_serves(p) && (p->contiguous || p->n_devices <= FREE_MAX_DEVICES);
}

const solver stage_prices_solver = {.name = "stage_prices",
                                    .title = "branch and bound on pipeline stages, with bounds from prices of stages",
                                    .source = "Held and Karp, Mathematical Programming 1971",
                                    .models = MODEL_PIPELINE,
                                    .exact = true,
                                    .serves = stage_prices_serves,
                                    .solve = stage_prices_solve};
