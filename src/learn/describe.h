/* learn/describe.h - the features of units that the learned baselines receive: kinds, output shapes and neighbours, as
 * in their papers. docs/theory/learned/learned_baselines.md lists the features of each paper. */
#ifndef SITU_LEARN_DESCRIBE_H
#define SITU_LEARN_DESCRIBE_H

#include "nn/functions.h"
#include "solve/stream/environment.h"

enum { DESCRIBE_DIMS = 4, DESCRIBE_NUMBERS = DESCRIBE_DIMS + 4 };

typedef struct description {
  int32_t n, n_kinds;
  nn_segments kinds; /* [unit] the kinds of its operators */
  nn_segments before,
      after; /* [unit] the units that it reads from, and those that read from it: distinct, not itself */
  /* [unit * DESCRIBE_NUMBERS], each about 0 .. 1: the first dimensions of its largest output and the bytes of all,
   * units before and after it (logarithms), and its place among the units. */
  nn_real *numbers;
} description;

/* Everything lives in the arena. O(V + E). False without memory. */
bool describe(description *out, const environment *env, arena *a);

/* The fastest device of each unit, ignoring memory; ties go to the lower number. */
void describe_fastest(int32_t *device, const environment *env);

#endif
