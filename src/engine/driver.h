/* engine/driver.h - the functions of a row of the table of engines, which only call the library of the engine.
 *
 * Everything runs in a worker, by default a process whose exit frees everything, so a driver frees only memory that
 * would grow with each run, and large memory in unbind and close. It fails with UNSUPPORTED and the message of the
 * engine. engine/serve.c handles requests, answers, the limits of the shared memory, and the open sessions. Numbers
 * of element types are those of ONNX (TensorProto.DataType). */
#ifndef SITU_ENGINE_DRIVER_H
#define SITU_ENGINE_DRIVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/json.h"

enum { DRIVER_MAX_RANK = 64 };

typedef struct driver_tensor {
  const char *name;
  int32_t type;
  int32_t rank; /* -1: not known */
  int64_t dims[DRIVER_MAX_RANK];
  void *data;
  int64_t bytes;
} driver_tensor;

typedef struct driver_options {
  const char *path;    /* of the model */
  const char *device;  /* of the engine, by its own name; NULL: its CPU */
  const char *profile; /* prefix of the path of a profile; NULL: no profile */
  int32_t level;       /* of graph optimisation: 99 all, 0 none, 1 basic, 2 extended */
  int32_t threads;
} driver_options;

typedef struct driver {
  /* Loads the library, once; adds its version and devices to `answer`. */
  situ_status (*load)(const char *library, situ_error *error);
  situ_status (*hello)(json_value *answer, situ_error *error);
  situ_status (*open)(void **session, const driver_options *options, situ_error *error);
  /* Inputs are complete, outputs have only a name. Runs once, and sets type, shape, bytes and place of each output. */
  situ_status (*bind)(void **binding, void *session, const driver_tensor *inputs, size_t n_inputs,
                      driver_tensor *outputs, size_t n_outputs, situ_error *error);
  /* From now on output i is written to output->data, which holds its bytes already. */
  situ_status (*place)(void *binding, size_t i, const driver_tensor *output, situ_error *error);
  situ_status (*run)(void *binding, situ_error *error);
  /* Ends the profile of a session: its file (engine/profile.h) and how many of its runs are warm-up; -1: that of
   * binding and those that the caller knows. The path stays valid until the worker ends. */
  situ_status (*end_profile)(void *session, const char **path, int32_t *n_first, situ_error *error);
  /* Free their large memory, for workers in the caller's own process. Either may be NULL. */
  void (*unbind)(void *binding);
  void (*close)(void *session);
} driver;

#endif
