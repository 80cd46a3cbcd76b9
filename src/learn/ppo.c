#include "learn/ppo.h"

#include <tgmath.h> /* log of float is logf */

#include "base/contracts.h"
#include "nn/quick.h"

/* The distribution of one unit in one placement: writes log probabilities of the open devices to `to`. Returns the
 * entropy. */
static nn_real distribute(nn_real *to, const nn_real *score, const bool *open, int32_t n) {
  nn_real max = 0, sum = 0, inner = 0;
  bool any = false;
  for (int32_t d = 0; d < n; d++) {
    if (!open[d] || (any && score[d] <= max)) continue;
    max = score[d];
    any = true;
  }
  for (int32_t d = 0; d < n; d++) {
    to[d] = open[d] ? score[d] - max : 0;
    nn_real e = open[d] ? quick_exp(to[d]) : 0;
    sum += e;
    inner += e * to[d];
  }
  nn_real whole = log(sum);
  for (int32_t d = 0; d < n; d++) to[d] -= whole;
  return whole - inner / sum;
}

static const nn_real *scores_at(const ppo_batch *b, const nn_real *scores, int32_t placement, int32_t unit) {
  int64_t cols = (int64_t)(b->n_draws + b->n_shown) * b->n_devices;
  return scores + (int64_t)unit * cols + (int64_t)placement * b->n_devices;
}

static const bool *open_at(const ppo_batch *b, int32_t placement, int32_t unit) {
  return b->open + ((int64_t)placement * b->n_units + unit) * b->n_devices;
}

/* The term of one unit in one placement, and its derivative with respect to the log probability. */
static nn_real term(const ppo_batch *b, int32_t placement, nn_real chance, nn_real before, nn_real *slope) {
  nn_real a = b->advantage[placement];
  if (placement >= b->n_draws) {
    *slope = -a;
    return -a * chance;
  }
  nn_real ratio = quick_exp(chance - before), low = (nn_real)(1 - b->clip), high = (nn_real)(1 + b->clip);
  nn_real clipped = ratio < low ? low : ratio > high ? high : ratio;
  bool free = a * ratio <= a * clipped;
  *slope = free ? -a * ratio : 0;
  return free ? -a * ratio : -a * clipped;
}

void ppo_remember(ppo_batch *b, const nn_real *scores) {
  REQUIRE(b->n_draws > 0 && b->n_units > 0);
  nn_real log_chance[SITU_MAX_DEVICES];
  for (int32_t k = 0; k < b->n_draws + b->n_shown; k++)
    for (int32_t u = 0; u < b->n_units; u++) {
      int64_t at = (int64_t)k * b->n_units + u;
      distribute(log_chance, scores_at(b, scores, k, u), open_at(b, k, u), b->n_devices);
      b->chance[at] = log_chance[b->device[at]];
    }
}

static nn_real weight_of(const ppo_batch *b, int32_t placement) {
  return 1 / ((nn_real)b->n_units * (placement < b->n_draws ? (nn_real)b->n_draws : 1));
}

/* d(entropy)/d(score) = -p (log p + entropy); d(log p_chosen)/d(score) = [chosen] - p. */
static void backward(tape *t, nn_matrix out, const nn_matrix *in, const void *extra) {
  const ppo_batch *b = extra;
  nn_real log_chance[SITU_MAX_DEVICES], slope;
  for (int32_t k = 0; in[0].grad && k < b->n_draws + b->n_shown; k++) {
    nn_real weight = weight_of(b, k) * out.grad[0], bonus = k < b->n_draws ? (nn_real)b->entropy : 0;
    for (int32_t u = 0; u < b->n_units; u++) {
      int64_t at = (int64_t)k * b->n_units + u;
      const nn_real *score = scores_at(b, in[0].value, k, u);
      const bool *open = open_at(b, k, u);
      nn_real *grad = in[0].grad + (score - in[0].value);
      nn_real entropy = distribute(log_chance, score, open, b->n_devices);
      term(b, k, log_chance[b->device[at]], b->chance[at], &slope);
      for (int32_t d = 0; d < b->n_devices; d++) {
        if (!open[d]) continue;
        nn_real p = quick_exp(log_chance[d]);
        grad[d] += weight * (bonus * p * (log_chance[d] + entropy) + slope * ((d == b->device[at]) - p));
      }
    }
  }
}

nn_var ppo_loss(tape *t, nn_var scores, const ppo_batch *b) {
  nn_var made = tape_record(t, 1, 1, &scores, 1, backward, b);
  if (made == NN_NONE) return made;
  REQUIRE(tape_at(t, scores).rows == b->n_units);
  REQUIRE(tape_at(t, scores).cols == (b->n_draws + b->n_shown) * b->n_devices);
  const nn_real *from = tape_at(t, scores).value;
  nn_real log_chance[SITU_MAX_DEVICES], slope;
  double loss = 0; /* double: a sum of many small terms */
  for (int32_t k = 0; k < b->n_draws + b->n_shown; k++) {
    double sum = 0, bonus = k < b->n_draws ? b->entropy : 0;
    for (int32_t u = 0; u < b->n_units; u++) {
      int64_t at = (int64_t)k * b->n_units + u;
      nn_real entropy = distribute(log_chance, scores_at(b, from, k, u), open_at(b, k, u), b->n_devices);
      sum += (double)term(b, k, log_chance[b->device[at]], b->chance[at], &slope) - bonus * (double)entropy;
    }
    loss += (double)weight_of(b, k) * sum;
  }
  tape_at(t, made).value[0] = (nn_real)loss;
  return made;
}
