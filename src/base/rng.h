/* base/rng.h - SplitMix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014): one
 * word of state, an explicit seed, the same sequence on every machine. */
#ifndef SITU_BASE_RNG_H
#define SITU_BASE_RNG_H

#include <stdint.h>

typedef struct rng {
  uint64_t state;
} rng;

static inline rng rng_new(uint64_t seed) { return (rng){seed}; }

static inline uint64_t rng_next(rng *r) {
  uint64_t z = (r->state += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

/* Uniform in 0 .. n-1 (n >= 1), by multiplication; the bias is below n / 2^64. */
static inline int64_t rng_below(rng *r, int64_t n) {
  return (int64_t)(((unsigned __int128)rng_next(r) * (uint64_t)n) >> 64);
}

/* Uniform in [0, 1). */
static inline double rng_unit(rng *r) { return (double)(rng_next(r) >> 11) * 0x1p-53; }

#endif
