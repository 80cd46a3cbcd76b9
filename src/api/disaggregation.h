/* api/disaggregation.h - the contents of a disaggregation. */
#ifndef SITU_API_DISAGGREGATION_H
#define SITU_API_DISAGGREGATION_H

#include "api/instance.h"
#include "situ/disaggregation.h"

enum { DISAGGREGATION_WAYS = 128, DISAGGREGATION_ROWS = 1024 };

struct situ_disaggregation {
  arena *arena;
  const char *model, *platform;
  int64_t prompt, generate; /* tokens of a request */
  situ_disaggregation_row rows[DISAGGREGATION_ROWS];
  const situ_plan *plan[DISAGGREGATION_ROWS][2]; /* [row]: for prompts, decodes; owned by `made` */
  int32_t n, n_made;
  situ_plan *made[2 * DISAGGREGATION_ROWS];
  situ_disaggregation_summary summary;
  double max_requests_per_s; /* over the ways so far */
  bool unproved;             /* of some way */
};

#endif
