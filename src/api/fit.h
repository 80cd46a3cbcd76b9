/* api/fit.h - the contents of a fitting. */
#ifndef SITU_API_FIT_H
#define SITU_API_FIT_H

#include "api/goal.h"
#include "situ/fit.h"

enum { FIT_ROWS = 64 };

struct situ_fitting {
  arena *arena;
  const char *model, *platform, *path; /* path: of the model, as it was given */
  int64_t weight_bytes;
  goal goal;
  situ_fit_quantity quantity;
  bool inputs;                 /* the amounts are inputs of a step, not streams of a language model with caches */
  const char *dimension;       /* of a file, whose size the amounts are; NULL: not of a file */
  situ_fit_row rows[FIT_ROWS]; /* by rising amount */
  situ_instance *instances[FIT_ROWS];
  const char *scopes[FIT_ROWS]; /* the plans that the finding is about */
  int32_t n;
  int64_t max; /* the largest amount that was to be tried */
};

#endif
