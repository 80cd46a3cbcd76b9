#include "solve/answer/robust.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/checked.h"
#include "solve/answer/cost_sample.h"

enum { HALVINGS = 24 };
static const double MAX_LOG = 2.772588722239781; /* log of 16 */

static int ascending(const void *left, const void *right) {
  double a = *(const double *)left, b = *(const double *)right;
  return (a > b) - (a < b);
}

/* The quantile of a sorted sample, by nearest rank. */
static double quantile_of(const double *sorted, int32_t n, double share) {
  int32_t k = (int32_t)ceil(share * n) - 1;
  return sorted[k < 0 ? 0 : k];
}

static double speedup_of(cost_sample *w, const placement *plan, const placement *other) {
  int64_t mine = cost_sample_value_ns(w, plan), yours = cost_sample_value_ns(w, other);
  return (double)(yours > 0 ? yours : 1) / (double)(mine > 0 ? mine : 1);
}

/* The log of the factor nearest to 1, on one side of it, at which the plan is no longer better; 0 where there is
 * none. */
static double flip_at(cost_sample *w, const placement *plan, const placement *other, int32_t class, int32_t kind,
                      double side) {
  double keeps = 0, flips = side * MAX_LOG;
  cost_sample_scale(w, class, kind, exp(flips));
  if (speedup_of(w, plan, other) > 1) return 0;
  for (int32_t i = 0; i < HALVINGS; i++) {
    double middle = (keeps + flips) / 2;
    cost_sample_scale(w, class, kind, exp(middle));
    if (speedup_of(w, plan, other) > 1)
      keeps = middle;
    else
      flips = middle;
  }
  return flips;
}

/* Whether there is no time for another draw after n of them. */
static bool is_enough(int32_t n, budget *b) { return n >= ROBUST_DRAWS && budget_over(b); }

static void look_at(situ_robustness *out, cost_sample *w, const placement *plan, const placement *other, int32_t class,
                    int32_t kind, const char *name) {
  for (int side = -1; side <= 1; side += 2) {
    double at = flip_at(w, plan, other, class, kind, side);
    if (at == 0 || (out->flip_factor > 0 && fabs(at) >= fabs(log(out->flip_factor)))) continue;
    out->flip_factor = exp(at);
    snprintf(out->flip_what, sizeof out->flip_what, "%s", name);
  }
}

/* Looks at all classes and kinds of link; false where the budget ends before, so that another may be nearer. */
static bool look_at_all(situ_robustness *out, cost_sample *w, const placement *plan, const placement *other,
                        budget *b) {
  const situ_problem *p = w->from;
  for (int32_t k = 0; k < p->n_classes; k++) {
    if (budget_over(b)) return false;
    look_at(out, w, plan, other, k, -1, p->platform->class_name[k]);
  }
  for (int32_t l = 0; l < p->platform->n_links; l++) {
    const situ_link *link = &p->platform->links[l];
    int32_t kind = p->costs->link_kind[l], first = 0;
    while (p->costs->link_kind[first] != kind) first++;
    if (first < l || kind == 0) continue;
    if (budget_over(b)) return false;
    char name[sizeof out->flip_what];
    snprintf(name, sizeof name, "link %s to %s", p->platform->devices[link->from_device].name,
             p->platform->devices[link->to_device].name);
    look_at(out, w, plan, other, -1, kind, name);
  }
  return true;
}

static void find_flip(situ_robustness *out, cost_sample *w, const placement *plan, const placement *other, budget *b) {
  cost_sample_scale(w, -1, -1, 1);
  if (speedup_of(w, plan, other) <= 1 || look_at_all(out, w, plan, other, b)) return;
  out->flip_factor = 0;
  out->flip_what[0] = '\0';
}

bool robust_compare(situ_robustness *out, const situ_problem *p, const placement *plan, const placement *other,
                    double uncertainty, int32_t max_draws, uint64_t seed, budget *b, arena *a) {
  cost_sample w;
  double *speedup = ARENA_NEW(a, double, max_draws), regret = 0;
  int32_t n_better = 0, draws = 0;
  if (!speedup || !cost_sample_new(&w, p, a)) return false;
  for (int32_t i = 0; i < max_draws && !is_enough(i, b); i++, draws++) {
    cost_sample_draw(&w, uncertainty, seed, i);
    int64_t mine = cost_sample_value_ns(&w, plan), yours = cost_sample_value_ns(&w, other);
    n_better += mine < yours;
    regret += (double)(mine - min64(mine, yours));
    speedup[i] = (double)(yours > 0 ? yours : 1) / (double)(mine > 0 ? mine : 1);
  }
  *out = (situ_robustness){.size = out->size, .uncertainty = uncertainty, .draws = draws};
  qsort(speedup, (size_t)draws, sizeof *speedup, ascending);
  out->beats_single = (double)n_better / draws;
  out->regret_ns = sat_round(regret / draws);
  out->speedup_5 = quantile_of(speedup, draws, 0.05);
  out->speedup_median = quantile_of(speedup, draws, 0.5);
  out->speedup_95 = quantile_of(speedup, draws, 0.95);
  find_flip(out, &w, plan, other, b);
  return true;
}

bool robust_quantiles(double *quantile, const situ_problem *p, const placement *plans, int32_t n,
                      const placement *other, double uncertainty, int32_t max_draws, uint64_t seed, budget *b,
                      arena *a) {
  cost_sample w;
  int32_t draws = 0;
  double *speedup = ARENA_NEW(a, double, (int64_t)max_draws *n);
  if (!speedup || !cost_sample_new(&w, p, a)) return false;
  for (int32_t i = 0; i < max_draws && !is_enough(i, b); i++, draws++) {
    cost_sample_draw(&w, uncertainty, seed, i);
    double yours = (double)cost_sample_value_ns(&w, other);
    for (int32_t k = 0; k < n; k++)
      speedup[(int64_t)k * max_draws + i] = yours / (double)max64(1, cost_sample_value_ns(&w, &plans[k]));
  }
  for (int32_t k = 0; k < n; k++) {
    qsort(speedup + (int64_t)k * max_draws, (size_t)draws, sizeof *speedup, ascending);
    quantile[k] = quantile_of(speedup + (int64_t)k * max_draws, draws, 0.1);
  }
  return true;
}

bool robust_best(int32_t *chosen, const situ_problem *p, const placement *plans, const bool *may, int32_t n,
                 const placement *other, double uncertainty, int32_t draws, uint64_t seed, budget *b, arena *a) {
  double *quantile = ARENA_NEW(a, double, n);
  if (!quantile || !robust_quantiles(quantile, p, plans, n, other, uncertainty, draws, seed, b, a)) return false;
  for (int32_t k = 0; k < n; k++)
    if (may[k] && quantile[k] > quantile[*chosen]) *chosen = k;
  return true;
}
