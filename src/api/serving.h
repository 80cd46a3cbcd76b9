/* api/serving.h - the contents of a serving. */
#ifndef SITU_API_SERVING_H
#define SITU_API_SERVING_H

#include "api/instance.h"
#include "situ/serving.h"

enum { SERVING_ROWS = 128 };

typedef struct serving_copy {
  situ_plan *plan;
  int64_t streams;
  double tokens_per_s; /* of all its streams */
} serving_copy;

/* The copies of a number of streams and a size of groups, which own their plans. */
typedef struct serving_attempt {
  serving_copy *copies;
  int32_t n;
} serving_attempt;

struct situ_serving {
  arena *arena;
  const char *model, *platform;
  situ_serving_row rows[SERVING_ROWS];      /* by falling rate of a stream */
  const serving_copy *copies[SERVING_ROWS]; /* [row][copy] the first n_copies of an attempt */
  const char *scopes[SERVING_ROWS];         /* the plans that the searches were among */
  int32_t n, n_attempts;
  serving_attempt attempts[SERVING_ROWS];
  const char *reason; /* why no copy fits; NULL where one does */
  bool unproved;      /* of one copy with one stream and groups of some size: neither a plan nor that there is none */
  double max_stream_tokens_per_s;      /* no plan of a copy gives one stream more; 0: not proved */
  const char *single;                  /* the best single device (or group) for one stream; NULL: none runs it alone */
  double single_tokens_per_s;          /* its rate */
  int32_t sizes[INSTANCE_GROUP_SIZES]; /* of groups, that were tried */
  int32_t n_sizes;
};

#endif
