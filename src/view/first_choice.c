#include "view/first_choice.h"

#include "base/disjoint.h"

bool first_choice_init(first_choice *c, int32_t n, arena *a) {
  *c = (first_choice){0};
  if (!ARENA_ARRAYS(a, ARRAY(c->into, n), ZEROS(c->work_ns, n), ZEROS(c->rating, n), ARRAY(c->near, n))) return false;
  disjoint_init(c->into, n);
  return true;
}

void first_choice_begin(first_choice *c, int32_t n) {
  for (int32_t u = 0; u < n; u++) c->mean_ns += c->work_ns[u] / n;
}

int32_t first_choice_best(first_choice *c, int32_t u, double max_ns, rng *random,
                          bool (*may_join)(const void *context, int32_t u, int32_t w), const void *context) {
  int32_t best = -1;
  double best_rating = 0;
  for (int32_t k = 0; k < c->n_near; k++) {
    int32_t w = c->near[k];
    double both_ns = c->work_ns[u] + c->work_ns[w], rating = c->rating[w] / (both_ns + 0.1 * c->mean_ns + 1);
    if (random) rating *= 1 + rng_unit(random);
    c->rating[w] = 0;
    if (both_ns > max_ns || rating <= best_rating || !may_join(context, u, w)) continue;
    best_rating = rating;
    best = w;
  }
  c->n_near = 0;
  return best;
}
