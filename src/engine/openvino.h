/* engine/openvino.h - the functions of OpenVINO's C library that situ uses, found by name. All are there since release
 * 2023.1; later ones only add. Structs and arguments as in the reference of its C interface (docs.openvino.ai). */
#ifndef SITU_ENGINE_OPENVINO_H
#define SITU_ENGINE_OPENVINO_H

#include <stddef.h>
#include <stdint.h>

typedef struct ov_core ov_core;
typedef struct ov_model ov_model;
typedef struct ov_compiled_model ov_compiled;
typedef struct ov_infer_request ov_request;
typedef struct ov_output_const_port ov_port;
typedef struct ov_tensor ov_tensor;

typedef struct ov_version {
  const char *build, *description;
} ov_version;
typedef struct ov_devices {
  char **names;
  size_t n;
} ov_devices;
typedef struct ov_shape {
  int64_t rank, *dims;
} ov_shape;

/* The time of a node in microseconds; on the CPU the mean of all runs so far. */
typedef struct ov_counter {
  enum { OV_NOT_RUN, OV_OPTIMIZED_OUT, OV_EXECUTED } status;
  int64_t real_us, cpu_us;
  const char *name, *executed_as, *kind;
} ov_counter;
typedef struct ov_counters {
  ov_counter *items;
  size_t n;
} ov_counters;

/* name after "ov_", arguments; each returns 0 or a status */
#define OV_CALLS(CALL)                                                                               \
  CALL(get_openvino_version, (ov_version *))                                                         \
  CALL(core_create, (ov_core **))                                                                    \
  CALL(core_get_available_devices, (const ov_core *, ov_devices *))                                  \
  CALL(core_read_model, (const ov_core *, const char *path, const char *weights, ov_model **))       \
  CALL(core_read_model_from_memory_buffer,                                                           \
       (const ov_core *, const char *bytes, size_t n, const ov_tensor *weights, ov_model **))        \
  CALL(core_compile_model,                                                                           \
       (const ov_core *, const ov_model *, const char *device, size_t n_texts, ov_compiled **, ...)) \
  CALL(model_const_input_by_name, (const ov_model *, const char *, ov_port **))                      \
  CALL(compiled_model_input_by_name, (const ov_compiled *, const char *, ov_port **))                \
  CALL(compiled_model_output_by_name, (const ov_compiled *, const char *, ov_port **))               \
  CALL(compiled_model_create_infer_request, (const ov_compiled *, ov_request **))                    \
  CALL(port_get_element_type, (const ov_port *, int *))                                              \
  CALL(tensor_create_from_host_ptr, (int type, ov_shape, void *, ov_tensor **))                      \
  CALL(tensor_get_element_type, (const ov_tensor *, int *))                                          \
  CALL(tensor_get_shape, (const ov_tensor *, ov_shape *))                                            \
  CALL(tensor_get_byte_size, (const ov_tensor *, size_t *))                                          \
  CALL(tensor_data, (const ov_tensor *, void **))                                                    \
  CALL(infer_request_set_tensor_by_const_port, (ov_request *, const ov_port *, const ov_tensor *))   \
  CALL(infer_request_get_tensor_by_const_port, (const ov_request *, const ov_port *, ov_tensor **))  \
  CALL(infer_request_infer, (ov_request *))                                                          \
  CALL(infer_request_get_profiling_info, (const ov_request *, ov_counters *))                        \
  CALL(profiling_info_list_free, (ov_counters *))                                                    \
  CALL(infer_request_free, (ov_request *))                                                           \
  CALL(compiled_model_free, (ov_compiled *))

#define OV_FIELD(NAME, ARGUMENTS) int(*NAME) ARGUMENTS;
typedef struct ov_functions {
  OV_CALLS(OV_FIELD)
  const char *(*get_last_err_msg)(void); /* the caller's; may be NULL */
  const char *(*get_error_info)(int);    /* of a status, in general words */
} ov_functions;

#endif
