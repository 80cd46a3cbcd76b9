/* engine/ort.h - the entries of ONNX Runtime's C interface that situ uses, by their numbers, and its providers.
 *
 * The interface is a table of functions that only grows; the numbers below are those of release 1.0 to 1.5 (docs of
 * onnxruntime_c_api.h, whose static_asserts fix the last number of each version). The last one used is 146, of version
 * 5, so that version is asked for and every later library serves. Providers other than the CPU take version 12, of
 * release 1.12; their numbers were held against what libraries of 1.27 and 1.32 answer. */
#ifndef SITU_ENGINE_ORT_H
#define SITU_ENGINE_ORT_H

#include <stddef.h>
#include <stdint.h>

enum { ORT_VERSION = 5, ORT_PROVIDER_VERSION = 12 };

typedef struct OrtStatus ort_status;
typedef struct OrtEnv ort_env;
typedef struct OrtSession ort_session;
typedef struct OrtSessionOptions ort_options;
typedef struct OrtRunOptions ort_run_options;
typedef struct OrtValue ort_value;
typedef struct OrtTensorTypeAndShapeInfo ort_shape;
typedef struct OrtMemoryInfo ort_memory;
typedef struct OrtAllocator ort_allocator;
typedef struct OrtCUDAProviderOptionsV2 ort_cuda;

/* number, name, result, arguments */
#define ORT_SLOTS(SLOT)                                                                                               \
  SLOT(2, GetErrorMessage, const char *, (const ort_status *))                                                        \
  SLOT(3, CreateEnv, ort_status *, (int level, const char *log, ort_env **))                                          \
  SLOT(7, CreateSession, ort_status *, (const ort_env *, const char *path, const ort_options *, ort_session **))      \
  SLOT(9, Run, ort_status *,                                                                                          \
       (ort_session *, const ort_run_options *, const char *const *inputs, const ort_value *const *, size_t n_inputs, \
        const char *const *outputs, size_t n_outputs, ort_value **))                                                  \
  SLOT(10, CreateSessionOptions, ort_status *, (ort_options **))                                                      \
  SLOT(14, EnableProfiling, ort_status *, (ort_options *, const char *prefix))                                        \
  SLOT(22, SetSessionLogSeverityLevel, ort_status *, (ort_options *, int level))                                      \
  SLOT(23, SetSessionGraphOptimizationLevel, ort_status *, (ort_options *, int level))                                \
  SLOT(24, SetIntraOpNumThreads, ort_status *, (ort_options *, int n))                                                \
  SLOT(25, SetInterOpNumThreads, ort_status *, (ort_options *, int n))                                                \
  SLOT(49, CreateTensorWithDataAsOrtValue, ort_status *,                                                              \
       (const ort_memory *, void *data, size_t bytes, const int64_t *dims, size_t rank, int type, ort_value **))      \
  SLOT(51, GetTensorMutableData, ort_status *, (ort_value *, void **))                                                \
  SLOT(60, GetTensorElementType, ort_status *, (const ort_shape *, int *))                                            \
  SLOT(61, GetDimensionsCount, ort_status *, (const ort_shape *, size_t *))                                           \
  SLOT(62, GetDimensions, ort_status *, (const ort_shape *, int64_t *, size_t))                                       \
  SLOT(65, GetTensorTypeAndShape, ort_status *, (const ort_value *, ort_shape **))                                    \
  SLOT(69, CreateCpuMemoryInfo, ort_status *, (int allocator, int kind, ort_memory **))                               \
  SLOT(76, AllocatorFree, ort_status *, (ort_allocator *, void *))                                                    \
  SLOT(78, GetAllocatorWithDefaultOptions, ort_status *, (ort_allocator **))                                          \
  SLOT(93, ReleaseStatus, void, (ort_status *))                                                                       \
  SLOT(95, ReleaseSession, void, (ort_session *))                                                                     \
  SLOT(96, ReleaseValue, void, (ort_value *))                                                                         \
  SLOT(99, ReleaseTensorTypeAndShapeInfo, void, (ort_shape *))                                                        \
  SLOT(100, ReleaseSessionOptions, void, (ort_options *))                                                             \
  SLOT(110, SessionEndProfiling, ort_status *, (ort_session *, ort_allocator *, char **path))                         \
  SLOT(125, GetAvailableProviders, ort_status *, (char ***, int *n))                                                  \
  SLOT(126, ReleaseAvailableProviders, ort_status *, (char **, int n))

#define ORT_PROVIDER_SLOTS(SLOT)                                                   \
  SLOT(204, AppendCuda, ort_status *, (ort_options *, const ort_cuda *))           \
  SLOT(205, CreateCudaOptions, ort_status *, (ort_cuda **))                        \
  SLOT(206, UpdateCudaOptions, ort_status *,                                       \
       (ort_cuda *, const char *const *keys, const char *const *values, size_t n)) \
  SLOT(208, ReleaseCudaOptions, void, (ort_cuda *))                                \
  SLOT(216, AppendProvider, ort_status *,                                          \
       (ort_options *, const char *name, const char *const *keys, const char *const *values, size_t n))

#define ORT_FIELD(NUMBER, NAME, RESULT, ARGUMENTS) RESULT(*NAME) ARGUMENTS;
typedef struct ort_functions {
  ORT_SLOTS(ORT_FIELD)
} ort_functions;

typedef struct ort_provider_functions {
  ORT_PROVIDER_SLOTS(ORT_FIELD)
} ort_provider_functions;

typedef struct ort_base {
  const void *(*GetApi)(uint32_t version);
  const char *(*GetVersionString)(void);
} ort_base;

#endif
