/* partition/part_search.h - the search for parts: devices by cuts, parts by sequence, then what makes parts as large as
 * they must be. */
#ifndef SITU_PARTITION_PART_SEARCH_H
#define SITU_PARTITION_PART_SEARCH_H

#include "base/budget.h"
#include "partition/part_request.h"
#include "situ/plan.h"

typedef struct part_answer {
  situ_outcome outcome;
  int64_t cost, lower_bound, n_crossings;
  int32_t n_parts;
  const int32_t *part;   /* [operator] */
  const int32_t *device; /* [part] */
} part_answer;

/* Finds parts; what it allocates is in `a`. Takes from `allowed` what no part can have. UNSUPPORTED for graphs that are
 * too large. */
situ_status part_search_run(part_answer *out, part_request *q, budget *b, arena *a, situ_error *error);

#endif
