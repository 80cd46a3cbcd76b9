/* situ/stages.h - training cut into stages, each split over devices and replicated, layer by layer with or without
 * recomputed activations, with a proof: what Piper plans (Tarnawski, Narayanan, Phanishayee, NeurIPS 2021), from its
 * files (docs/formats/stages.md).
 *
 * A staging is frozen: any number of threads may read it. Its texts belong to it. */
#ifndef SITU_STAGES_H
#define SITU_STAGES_H

#include <stdbool.h>

#include "situ/types.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct situ_staging situ_staging;

/* Called about every 10 ms on the calling thread. Return true to stop: the best plan and bound so far are then
 * returned. */
typedef bool situ_staging_callback(void *context);

typedef struct situ_staging_options {
  size_t size;
  int64_t n_devices, memory_bytes, bytes_per_s, micro_batches; /* 0: what the file says */
  bool no_splits, no_replicas, no_recompute;                   /* plans without them */
  double time_limit_s;                                         /* 0: 60 */
  situ_staging_callback *progress;                             /* may be NULL */
  void *context;
} situ_staging_options;
#define SITU_STAGING_OPTIONS_INIT SITU_SIZED(situ_staging_options)

typedef struct situ_staging_info {
  size_t size;
  int64_t period_ns;      /* from one input to the next; SITU_NEVER_NS: no plan was found */
  int64_t lower_bound_ns; /* of every plan; SITU_NEVER_NS: it is proved that there is none below 2^50 ns (13 days) */
  bool bound_checked;     /* by the judge too; false: it would take too long */
  int32_t n_stages, n_layers;
  int64_t n_devices, n_devices_used, memory_bytes, bytes_per_s, micro_batches;
  double seconds;
} situ_staging_info;
#define SITU_STAGING_INFO_INIT SITU_SIZED(situ_staging_info)

/* One stage, in the order of the network. Closed: it never grows. */
typedef struct situ_staging_stage {
  int32_t split, replicas;     /* it runs on split * replicas devices; 0 past the end */
  int32_t layers, recomputed;  /* how many, and of how many activations are computed again */
  int64_t time_ns, size_bytes; /* of one input on all replicas; memory of each device */
  int64_t kept;                /* inputs that each replica has under way */
  const char *first, *last;    /* its layers */
} situ_staging_stage;

/* One layer. Closed: it never grows. */
typedef struct situ_staging_layer {
  const char *name;    /* NULL past the end */
  const char *variant; /* how it is run, as the file calls it */
  int32_t stage;       /* -1 without a plan */
} situ_staging_layer;

/* Reads a workload of Piper and finds its best plan. options may be NULL. BAD_INPUT for a malformed file, UNSUPPORTED
 * for one that can be cut in too many ways. */
SITU_API situ_status situ_staging_find(situ_staging **out, const char *path, const situ_staging_options *options,
                                       situ_error *error);
SITU_API void situ_staging_free(situ_staging *staging);
/* False, and nothing is written, if either is NULL or out has no size. */
SITU_API bool situ_staging_get_info(const situ_staging *staging, situ_staging_info *out);
SITU_API situ_staging_stage situ_staging_stage_at(const situ_staging *staging, int32_t index);
SITU_API situ_staging_layer situ_staging_layer_at(const situ_staging *staging, int32_t index);

#ifdef __cplusplus
}
#endif
#endif
