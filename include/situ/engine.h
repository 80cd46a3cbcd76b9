/* situ/engine.h - engines that run models: measured costs, and plans that run.
 *
 * An engine is a library of others that is found at run time and works in processes of its own, so that whatever
 * becomes of it, the caller goes on: a crash, a hang or nonsense is the status ENGINE. Measurements need the machine
 * for themselves; two at once disturb each other. docs/engines.md says where libraries are looked for; the environment
 * variable SITU_ONNXRUNTIME names that of ONNX Runtime. */
#ifndef SITU_ENGINE_H
#define SITU_ENGINE_H

#include "situ/instance.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The table of engines. Filling a row starts the engine once, which takes some 100 ms. */
typedef struct situ_engine_info {
  size_t size;
  const char *name, *title;
  char version[64];    /* "" where it was not found */
  char library[512];   /* where it was found */
  char providers[512]; /* what it can run on, in its own words, apart by blanks */
  char missing[1024];  /* why it cannot be used; "" where it can */
} situ_engine_info;
#define SITU_ENGINE_INFO_INIT SITU_SIZED(situ_engine_info)
SITU_API int32_t situ_engine_count(void);
/* Row `index`; false when there is none. */
SITU_API bool situ_engine_at(int32_t index, situ_engine_info *out);

#ifdef __cplusplus
}
#endif
#endif
