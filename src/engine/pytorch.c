/* PyTorch: found and listed. It cannot read ONNX files, so it runs modules in the caller's Python
 * (python/situ/torch.py) and no parts of a file; requests for these get an explanation. */
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/library.h"
#include "base/os.h"
#include "engine/engine.h"

static struct {
  uint64_t version; /* major, minor, patch in the upper bytes; 0: unknown */
  int n_gpus;
} found;

/* GPUs that PyTorch would see: those of the driver, if its CUDA library is in the same folder. */
static int count_gpus(const char *path) {
  int (*start)(unsigned) = NULL, (*count)(int *) = NULL, n = 0;
  const char *end = os_last_slash(path);
  void *cuda, *symbol;
  text_buffer beside = {0};
  text_add(&beside, "%.*s/" OS_LIBRARY("torch_cuda", ""), end ? (int)(end - path) : 1, end ? path : ".");
  bool there = beside.bytes && os_look(beside.bytes).kind == OS_FILE;
  text_free(&beside);
  if (!there) return 0;
  if (library_load(&cuda, OS_LIBRARY("cuda", ".1"), false, NULL) != SITU_STATUS_OK) return 0;
  symbol = library_entry(cuda, "cuInit");
  memcpy(&start, &symbol, sizeof symbol);
  symbol = library_entry(cuda, "cuDeviceGetCount");
  memcpy(&count, &symbol, sizeof symbol);
  return start && count && start(0) == 0 && count(&n) == 0 ? n : 0;
}

static situ_status load(const char *path, situ_error *error) {
  void *library;
  uint64_t (*version)(void) = NULL;
  TRY(library_load(&library, path, false, error));
  void *symbol = library_entry(library, "aoti_torch_abi_version"); /* of its C interface, which early releases lack */
  memcpy(&version, &symbol, sizeof symbol);
  found.version = version ? version() : 0;
  found.n_gpus = count_gpus(path);
  return SITU_STATUS_OK;
}

static situ_status hello(json_value *answer, situ_error *error) {
  char text[32] = "?";
  json_value *list = json_new_array();
  unsigned major = found.version >> 56, minor = found.version >> 48 & 0xff, patch = found.version >> 40 & 0xff;
  if (found.version != 0) snprintf(text, sizeof text, "%u.%u.%u", major, minor, patch);
  bool ok = list && json_set(answer, "version", json_new_text(text)) && json_push(list, json_new_text("cpu"));
  for (int i = 0; ok && i < found.n_gpus; i++) {
    snprintf(text, sizeof text, "cuda:%d", i);
    ok = json_push(list, json_new_text(text));
  }
  ok = json_set(answer, "providers", list) && ok;
  return ok ? SITU_STATUS_OK : fail_no_memory(error);
}

static situ_status open_session(void **session, const driver_options *o, situ_error *error) {
  *session = NULL;
  return fail_with(
      error, SITU_STATUS_UNSUPPORTED, o->path,
      "PyTorch cannot read ONNX files; use situ.torch in Python to profile and run modules (docs/python.md)");
}

const engine pytorch_engine = {.name = "pytorch",
                               .title = "PyTorch, for Python modules (situ.torch)",
                               .place = {.variable = "SITU_PYTORCH",
                                         .package = "torch/lib",
                                         .file = OS_LIBRARY("torch_cpu", ""),
                                         .system = OS_LIBRARY("torch_cpu", "")},
                               .install = "pip install torch",
                               .driver = {.load = load, .hello = hello, .open = open_session}};
