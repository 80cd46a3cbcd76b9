/* api/judgement.h - the contents of a judgement. */
#ifndef SITU_API_JUDGEMENT_H
#define SITU_API_JUDGEMENT_H

#include "base/arena.h"
#include "situ/judge.h"

struct situ_judgement {
  arena *arena;
  situ_instance *given_instance, *best_instance;
  situ_plan *given, *best;
  const char *format, *better, *notes;
  double given_when_empty, best_when_empty; /* tokens per second in decoding with an empty cache; 0: not asked */
};

#endif
