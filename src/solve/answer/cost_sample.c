#include "solve/answer/cost_sample.h"

#include <math.h>

#include "base/checked.h"
#include "base/rng.h"

static const double TWO_PI = 6.283185307179586;

bool cost_sample_new(cost_sample *w, const situ_problem *p, arena *a) {
  const situ_costs *c = p->costs;
  int64_t cells = (int64_t)c->n_rows * c->n_kinds, n_times = (int64_t)p->n_operators * p->n_classes;
  *w = (cost_sample){.problem = *p, .from = p};
  if (!ARENA_ARRAYS(a, ARRAY(w->time_ns, n_times), ARRAY(w->rows, cells), ARRAY(w->transfer_ns, p->graph->n_tensors),
                    ARRAY(w->fixed_ns, c->n_kinds), ARRAY(w->of_class, p->n_classes),
                    ARRAY(w->of_kind, (int64_t)p->n_classes * p->graph->n_kinds), ARRAY(w->fixed_factor, c->n_kinds),
                    ARRAY(w->rate_factor, c->n_kinds)))
    return false;
  for (int32_t t = 0; t < p->graph->n_tensors; t++) w->transfer_ns[t] = w->rows + (int64_t)costs_row(c, t) * c->n_kinds;
  for (int32_t k = 0; k < c->n_kinds; k++) {
    w->fixed_ns[k] = c->n_rows > 0 ? SITU_NEVER_NS : 0;
    for (int32_t row = 0; row < c->n_rows; row++)
      w->fixed_ns[k] = min64(w->fixed_ns[k], c->transfer_rows[(int64_t)row * c->n_kinds + k]);
  }
  w->problem.time_ns = w->time_ns;
  w->problem.transfer_ns = w->transfer_ns;
  cost_sample_scale(w, -1, -1, 1);
  w->simulator = simulator_new(&w->problem, a);
  if (parts_known(p)) w->parts = parts_model_new(&w->problem, a);
  return w->simulator && (w->parts || !parts_known(p));
}

/* A normally distributed number (Box and Muller, 1958). */
static double normal(rng *r) {
  double u = 1 - rng_unit(r), v = rng_unit(r);
  return sqrt(-2 * log(u)) * cos(TWO_PI * v);
}

static int64_t scaled(int64_t ns, double factor) { return ns == SITU_NEVER_NS ? ns : sat_round((double)ns * factor); }

void cost_sample_draw(cost_sample *w, double s, uint64_t seed, int32_t index) {
  const situ_problem *p = w->from;
  const situ_graph *g = p->graph;
  const situ_costs *c = p->costs;
  rng start = rng_new(seed), r = rng_new(rng_next(&start) + (uint64_t)index);
  r = rng_new(rng_next(&r)); /* decorrelates neighbouring indices */
  for (int32_t k = 0; k < p->n_classes; k++) w->of_class[k] = s * normal(&r);
  for (int64_t k = 0; k < (int64_t)p->n_classes * g->n_kinds; k++) w->of_kind[k] = s * normal(&r);
  for (int32_t k = 0; k < c->n_kinds; k++) {
    w->fixed_factor[k] = exp(2 * s * normal(&r));
    w->rate_factor[k] = exp(0.75 * s * normal(&r));
  }
  for (int32_t v = 0; v < p->n_operators; v++)
    for (int32_t k = 0; k < p->n_classes; k++) {
      int64_t at = (int64_t)v * p->n_classes + k;
      double of_kind = w->of_kind[(int64_t)k * g->n_kinds + g->kind[v]];
      w->time_ns[at] = scaled(p->time_ns[at], exp(w->of_class[k] + of_kind + 0.75 * s * normal(&r)));
    }
  for (int64_t i = 0; i < (int64_t)c->n_rows * c->n_kinds; i++) {
    int64_t k = i % c->n_kinds, fixed = w->fixed_ns[k];
    w->rows[i] = sat_add(scaled(fixed, w->fixed_factor[k]), scaled(c->transfer_rows[i] - fixed, w->rate_factor[k]));
  }
}

void cost_sample_scale(cost_sample *w, int32_t class, int32_t kind, double factor) {
  const situ_problem *p = w->from;
  const situ_costs *c = p->costs;
  for (int64_t i = 0; i < (int64_t)p->n_operators * p->n_classes; i++)
    w->time_ns[i] = scaled(p->time_ns[i], i % p->n_classes == class ? factor : 1);
  for (int64_t i = 0; i < (int64_t)c->n_rows * c->n_kinds; i++)
    w->rows[i] = scaled(c->transfer_rows[i], i % c->n_kinds == kind ? factor : 1);
}

int64_t cost_sample_value_ns(cost_sample *w, const placement *where) {
  simulation ran = simulator_run(w->simulator, where, false);
  return w->parts ? parts_value_ns(w->parts, where, &ran) : ran.value_ns;
}
