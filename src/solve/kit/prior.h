/* solve/kit/prior.h - where a learned policy would put each operator, as a source of proposals for searches (the idea
 * of Paliwal et al., "Reinforced genetic algorithm learning for optimizing computation graphs", ICLR 2020: there for a
 * genetic algorithm). A prior proposes only: what is kept is judged as ever. docs/theory/prior.md. */
#ifndef SITU_SOLVE_KIT_PRIOR_H
#define SITU_SOLVE_KIT_PRIOR_H

#include "base/rng.h"

typedef struct prior {
  int32_t n_devices;
  float *chance; /* [operator * n_devices]; each row sums to about 1 */
} prior;

static inline float prior_chance(const prior *p, int32_t v, int32_t d) {
  return p->chance[(int64_t)v * p->n_devices + d];
}

/* A device for operator v, drawn by its chances. */
static inline int32_t prior_draw(const prior *p, int32_t v, rng *random) {
  double left = rng_unit(random);
  for (int32_t d = 0; d < p->n_devices - 1; d++)
    if ((left -= (double)prior_chance(p, v, d)) < 0) return d;
  return p->n_devices - 1;
}

#endif
