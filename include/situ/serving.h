/* situ/serving.h - what a machine serves: tokens per second of one user against those of all users at once.
 *
 * A serving is frozen: any number of threads may read it. Its texts and plans belong to it. */
#ifndef SITU_SERVING_H
#define SITU_SERVING_H

#include "situ/instance.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct situ_serving_options {
  size_t size;
  int64_t max_streams;             /* of one copy of the model, at least 1; 0: 1024 */
  const situ_solve_options *solve; /* for each plan; about 1 s each if NULL or without limits */
} situ_serving_options;
#define SITU_SERVING_OPTIONS_INIT SITU_SIZED(situ_serving_options)

/* A configuration: copies of the whole model on different devices. Closed: it never grows. */
typedef struct situ_serving_row {
  int64_t streams;            /* of all copies, each with a cache of its own; 0 past the end */
  int32_t group;              /* devices that split operators; 1: none do */
  int32_t n_copies;           /* of the model */
  double stream_tokens_per_s; /* in decoding, of one stream of the slowest copy */
  double tokens_per_s;        /* of all streams of all copies */
  bool on_front;              /* no other row is as good in both rates and better in one */
} situ_serving_row;

typedef struct situ_serving situ_serving;

/* Places the language model for 1, 2, 4, ... streams, until memory is full or more streams add nothing, with operators
 * split over groups of 1, 2, 4, ... devices (or of the one size that the options name), and again on the devices that
 * the copies before left idle, until these hold none. A copy on slower devices gets a half, a quarter, ... of the
 * streams, so that its streams are as fast as those of the first, if it can; otherwise there is a row with it and one
 * without. A plan is that of the shortest step, so two rates are known of it: of a stream, and of all. BAD_ARGUMENT if
 * the model is no language model that decodes, and for the objective throughput. options may be NULL. If the progress
 * callback returns true, the rows found so far are the result.
 */
SITU_API situ_status situ_serve(situ_serving **out, const situ_instance_options *instance,
                                const situ_serving_options *options, situ_error *error);
SITU_API void situ_serving_free(situ_serving *serving);
SITU_API int32_t situ_serving_count(const situ_serving *serving);
/* Whether it is proved that not even one copy for one stream fits. */
SITU_API bool situ_serving_impossible(const situ_serving *serving);
/* Rows by falling rate of one stream. */
SITU_API situ_serving_row situ_serving_at(const situ_serving *serving, int32_t index);
/* The plan of a copy of a row, and its number of streams; NULL and 0 outside of both. */
SITU_API const situ_plan *situ_serving_plan(const situ_serving *serving, int32_t index, int32_t copy);
SITU_API int64_t situ_serving_streams(const situ_serving *serving, int32_t index, int32_t copy);

#ifdef __cplusplus
}
#endif
#endif
