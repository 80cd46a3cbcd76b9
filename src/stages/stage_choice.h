/* stages/stage_choice.h - one variant of each layer of a stage: as fast as it must be, in the memory there is. A
 * knapsack with a choice from each class (Kellerer, Pferschy, Pisinger, Knapsack Problems, 2004, chapter 11), decided
 * exactly by branch and bound. */
#ifndef SITU_STAGES_STAGE_CHOICE_H
#define SITU_STAGES_STAGE_CHOICE_H

#include "base/arena.h"

/* What one variant of a layer takes there. */
typedef struct choice_variant {
  int64_t time_ns, kept_bytes, fixed_bytes; /* at most STAGE_NEVER_NS; memory for each input kept; memory besides */
  int64_t size_bytes;                       /* of the question asked; set by it */
} choice_variant;

/* A layer, by how much its second best variant exceeds its best one. */
typedef struct choice_rank {
  __int128 gap;
  int64_t time_ns, size_bytes;
  int32_t layer;
} choice_rank;

typedef struct stage_choice {
  int32_t n;               /* layers */
  int32_t *start;          /* [layer], and the end */
  choice_variant *variant; /* of all layers */
  int32_t *pick;           /* [layer] out: a variant, counted from the layer's first */
  choice_rank *rank;
  __int128 *rest; /* [layer + 1], like the next two, of the layers from here on: minimum weight, time and memory */
  int64_t *rest_ns, *rest_bytes;
} stage_choice;

typedef enum choice_answer { CHOICE_NONE, CHOICE_FOUND, CHOICE_GAVE_UP } choice_answer;

bool stage_choice_make(stage_choice *c, int32_t max_layers, int32_t max_variants, arena *a);
/* Whether some choice takes at most max_ns and holds at most memory_bytes with n_kept inputs; if so, in `pick`. */
choice_answer stage_choice_find(stage_choice *c, int64_t n_kept, int64_t max_ns, int64_t memory_bytes);

#endif
