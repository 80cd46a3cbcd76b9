/* bound/long_paths.h - the paths along which bounds look for changes of memory: long by several measures. */
#ifndef SITU_BOUND_LONG_PATHS_H
#define SITU_BOUND_LONG_PATHS_H

#include "chain/visit_chain.h"

enum { PATH_MEASURES = 4 };

typedef struct long_paths {
  visits v;
  int64_t unit_ns, min_bytes; /* the critical path, the minimum memory */
  int32_t *path, *next;       /* [operator]; path: the latest, in order */
  int32_t *tried, n, n_tried; /* of the path; the one before it, which may recur */
  double *length;             /* [operator] */
} long_paths;

/* Whether paths are worth a try: not where every memory holds all weights and the largest operator, nor beyond a number
 * of uses of tensors times memories cubed. *out then serves with everything in the arena. NO_MEMORY or OK. */
situ_status long_paths_init(long_paths *out, bool *worth, const situ_problem *p, arena *a, situ_error *error);
/* Finds the longest path by a measure. False where it is the one before. */
bool long_paths_find(long_paths *c, int32_t measure);
/* The minimum time of a tensor from one memory to another. */
int64_t long_paths_transfer_ns(const situ_problem *p, int32_t t);

#endif
