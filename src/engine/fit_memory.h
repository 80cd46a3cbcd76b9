/* engine/fit_memory.h - what llama.cpp itself says that a plan takes: llama-fit-params -fitp, which allocates nothing.
 */
#ifndef SITU_ENGINE_FIT_MEMORY_H
#define SITU_ENGINE_FIT_MEMORY_H

#include "base/arena.h"
#include "situ/error.h"

enum { FIT_MEMORY_DEVICES = 64 };
typedef struct fit_memory {
  int32_t n;
  struct {
    const char *name; /* as in -dev; "Host" for all that is not on a device */
    int64_t bytes;    /* weights, caches and compute buffers */
  } device[FIT_MEMORY_DEVICES];
} fit_memory;

/* Asks for the model with these options of llama-server, in a line. `library`: the folder of the program, or NULL.
 * ENGINE where it is not found, or cannot say (a device that this machine lacks). Names in the arena. */
situ_status fit_memory_ask(fit_memory *out, const char *options, const char *model, const char *library, arena *a,
                           situ_error *error);

#endif
