#include "learn/softmax_draw.h"

#include <math.h>

#include "base/contracts.h"

static int32_t best_score(const nn_real *score, const bool *open, int32_t n) {
  int32_t best = -1;
  for (int32_t d = 0; d < n; d++)
    if (open[d] && (best < 0 || score[d] > score[best])) best = d;
  return best;
}

int32_t softmax_choose(const nn_real *score, const bool *open, int32_t n, rng *random) {
  int32_t last = best_score(score, open, n);
  ENSURE(last >= 0); /* something is open */
  if (!random) return last;
  double max = (double)score[last], sum = 0;
  for (int32_t d = 0; d < n; d++) sum += open[d] ? exp((double)score[d] - max) : 0;
  double left = rng_unit(random) * sum;
  for (int32_t d = 0; d < n; d++) {
    if (!open[d]) continue;
    left -= exp((double)score[d] - max);
    if (left < 0) return d;
  }
  return last;
}

void softmax_draw(environment *env, const nn_real *score, rng *random, int32_t *device, bool *open) {
  int32_t n = env->n_devices;
  bool here[SITU_MAX_DEVICES];
  environment_empty(env);
  for (int32_t u = 0; u < env->n_units; u++) {
    bool *to = open ? open + (int64_t)u * n : here;
    environment_open(env, u, to);
    device[u] = softmax_choose(score + (int64_t)u * n, to, n, random);
    environment_put(env, u, device[u]);
  }
}
