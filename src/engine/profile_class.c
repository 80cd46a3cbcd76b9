#include "engine/profile_class.h"

#include <stdio.h>
#include <string.h>

#include "base/arguments.h"
#include "base/ascii.h"
#include "base/fail.h"
#include "base/text.h"
#include "platform/catalogue.h"
#include "platform/platform.h"
#include "platform/platform_sources.h"
#include "situ/engine.h"

/* What engines call devices of a maker; the maker as titles of the catalogue begin. */
typedef struct device_word {
  const char *word, *maker;
} device_word;
static const device_word words[] = {{"CUDA", "NVIDIA"}, {"TensorRT", "NVIDIA"}, {"NvTensorRTRTX", "NVIDIA"},
                                    {"ROCm", "AMD"},    {"MIGraphX", "AMD"},    {"OpenVINO:GPU", "Intel"},
                                    {"GPU", "Intel"},   {"SYCL", "Intel"},      {NULL, NULL}};

/* "CUDA", "CUDA:1", "CUDA0" and "GPU.0" are a word and perhaps a number. */
static const char *maker_of(const char *device) {
  for (const device_word *w = words; w->word; w++) {
    size_t n = strlen(w->word);
    const char *rest = device + n;
    if (!ascii_same_n(device, w->word, n)) continue;
    if (*rest == ':' || *rest == '.') rest++;
    while (ascii_is_digit(*rest)) rest++;
    if (!*rest) return w->maker;
  }
  return NULL;
}

static situ_status refuse(const situ_platform *host, const char *device, situ_error *error) {
  text_buffer classes = {0};
  for (int32_t k = 0; k < host->n_classes; k++) text_add(&classes, "%s%.60s", k ? ", " : "", host->class_name[k]);
  situ_status status = classes.failed ? fail_no_memory(error)
                                      : fail_with(error, SITU_STATUS_BAD_ARGUMENT, NULL,
                                                  "the class of the device \"%.60s\" is not known (this-host has "
                                                  "%.200s); name it: --class NAME",
                                                  device, classes.bytes);
  text_free(&classes);
  return status;
}

situ_status profile_class_find(char into[PROFILE_CLASS_BYTES], const char *device, situ_error *error) {
  situ_platform *host;
  const char *maker = device ? maker_of(device) : NULL;
  int32_t n = 0;
  snprintf(into, PROFILE_CLASS_BYTES, "cpu");
  if (!device || ascii_same(device, "CPU")) return SITU_STATUS_OK;
  TRY(situ_platform_read(&host, THIS_HOST, error));
  for (int32_t k = 0; maker && k < host->n_classes; k++) {
    const situ_device_kind_info *row = catalogue_find(host->class_name[k]);
    if (!row || strncmp(row->title, maker, strlen(maker)) != 0) continue;
    snprintf(into, PROFILE_CLASS_BYTES, "%s", host->class_name[k]);
    n++;
  }
  situ_status status = n == 1 ? SITU_STATUS_OK : refuse(host, device, error);
  situ_platform_free(host);
  return status;
}

situ_status situ_profile_class(char **out, const char *device, situ_error *error) {
  char own[PROFILE_CLASS_BYTES];
  if (out) *out = NULL;
  TRY(GIVEN(error, out));
  TRY(profile_class_find(own, device, error));
  text_buffer text = {0};
  text_add(&text, "%s", own);
  *out = text_take(&text);
  return *out ? SITU_STATUS_OK : fail_no_memory(error);
}
