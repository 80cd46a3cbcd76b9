/* engine/engine.h - an engine: a library or program that runs models, found at run time, never linked. Each is one file
 * with one const struct, listed below. */
#ifndef SITU_ENGINE_ENGINE_H
#define SITU_ENGINE_ENGINE_H

#include "base/arena.h"
#include "base/library.h"
#include "engine/driver.h"
#include "engine/worker.h"
#include "situ/engine.h"
#include "split/model_file.h"

/* The library that was found, and the memory shared by worker and caller. */
typedef struct engine_context {
  const char *library;
  unsigned char *shared;
  size_t shared_bytes;
  const driver *driver; /* set by engine_start */
} engine_context;

/* The calls that a worker answers (engine/serve.c):
 *
 *   hello   {}                                          -> {version, providers: [text]}
 *   open    {path, device, level, threads, slower, profile: prefix} -> {session}
 *   bind    {session, free, inputs: [{name, type, dims, at, bytes}], outputs: [{name}]}
 *                                                       -> {binding, outputs: [{type, dims, at, bytes}]}
 *   end_profile {session}                               -> {path, n_first}
 *
 * type: the number of the element type in ONNX; at and bytes: a place in the shared memory; outputs are placed from
 * `free` on. A bind runs the session once, so that later runs write outputs of known shapes in place. */
typedef struct engine {
  const char *name, *title;
  library_place place;
  const char *install; /* how to get it */
  const char *reads;   /* the names of the readers of its model formats, separated by spaces; NULL: its driver rejects
                          all */
  driver driver;
} engine;

#define ENGINE_ROWS(ROW) \
  ROW(onnxruntime)       \
  ROW(openvino)          \
  ROW(pytorch)           \
  ROW(llamacpp)
#define ENGINE_DECLARE(NAME) extern const engine NAME##_engine;
ENGINE_ROWS(ENGINE_DECLARE)

/* Ended by NULL. */
extern const engine *const engines[];
/* BAD_ARGUMENT if there is none of that name, UNSUPPORTED if it does not read that format. name NULL: the first that
 * reads it; format NULL: any. */
situ_status engine_find(const engine **out, const char *name, const model_format *format, situ_error *error);

/* Starts a worker of the engine whose library is at context->library; the context must stay until the worker ends. */
situ_status engine_start(worker **out, const engine *e, const engine_context *context, const worker_options *options,
                         situ_error *error);

/* The first call to a worker: loads the library, or reports where it was searched for. */
situ_status engine_hello(json_value **answer, worker *w, const engine *e, const char *library, const wait_limit *wait,
                         situ_error *error);

/* Bytes of an element of an ONNX type; 0 for texts, for types below a byte and for invalid types. */
static inline int32_t engine_type_bytes(int64_t type) {
  /* TensorProto.DataType: float, uint8, int8, uint16, int16, int32, int64, string, bool, float16, double, uint32,
   * uint64, complex64, complex128, bfloat16, four kinds of float8 */
  static const int8_t bytes[] = {0, 4, 1, 1, 2, 2, 4, 8, 0, 1, 2, 8, 4, 8, 8, 16, 2, 1, 1, 1, 1};
  return type < 0 || type >= (int64_t)sizeof bytes ? 0 : bytes[type];
}

#endif
