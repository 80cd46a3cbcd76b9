/* stages/stage_sets.h - all sets of layers that contain what their layers lead to (ideals, from the end of the
 * network): what the last stages may hold. */
#ifndef SITU_STAGES_STAGE_SETS_H
#define SITU_STAGES_STAGE_SETS_H

#include "stages/stage_network.h"

typedef struct stage_sets {
  int32_t n, words; /* sets, each after those within it; of one set */
  uint64_t *bits;   /* [set][word] */
} stage_sets;

/* At most max_sets; *whole: whether these are all. False without memory. */
bool stage_sets_find(stage_sets *out, bool *whole, const stage_network *x, int32_t max_sets, arena *a);

static inline const uint64_t *stage_set(const stage_sets *s, int32_t i) { return &s->bits[(int64_t)i * s->words]; }
static inline bool stage_set_has(const uint64_t *set, int32_t layer) { return set[layer / 64] >> (layer % 64) & 1; }
static inline bool stage_set_within(const uint64_t *small, const uint64_t *large, int32_t words) {
  for (int32_t i = 0; i < words; i++)
    if (small[i] & ~large[i]) return false;
  return true;
}

#endif
