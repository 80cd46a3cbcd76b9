/* lp/mip.h - a narrow interface to mixed-integer programming engines. Their results are floating point: they provide
 * solutions, which others must check, and never a proof.
 *
 * Cbc is built in if SITU_CBC is defined; otherwise a stub finds nothing, and the library works without. */
#ifndef SITU_LP_MIP_H
#define SITU_LP_MIP_H

#include "lp/program.h"

typedef struct mip_limits {
  double seconds;       /* of wall time, roughly kept; INFINITY: none */
  int64_t max_nodes;    /* of the search tree */
  int32_t seed;         /* of the engine's random numbers */
  const int64_t *start; /* [n_columns] a solution to start from, or NULL; only integer columns are used */
  bool (*stop)(void *); /* asked about every 10 ms, or NULL */
  void *context;
} mip_limits;

typedef struct mip_outcome {
  bool is_ended; /* the engine claims that its solution is optimal, or that there is none */
  int64_t n_nodes;
  int32_t
      n_crashes; /* of the engine: 1 when only the search without its preprocessing came to an end, 2 when neither */
} mip_outcome;

/* Is given each solution that the engine kept, the best first: x[n_columns], as the engine rounds. */
typedef void mip_found(void *context, const double *x);

/* NULL, or why there is no engine. */
const char *mip_missing(void);
/* Searches, in a process of its own (base/child.h): an engine that crashes takes nothing with it. The arena is scratch.
 * False without memory, engine or process. */
bool mip_search(mip_outcome *out, const program *p, const mip_limits *limits, mip_found *found, void *context,
                arena *a);

#endif
