#include "write/layer_reading.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/text.h"
#include "cost/training_split.h"
#include "write/module_names.h"

situ_status layer_reading_open(layer_reading *out, const situ_problem *problem, const char *format, situ_error *error) {
  *out = (layer_reading){.problem = problem, .first = -1, .head = -1};
  TRY(layer_plan_open(&out->l, problem, SITU_FORM_LAYERS, format, error));
  for (int32_t k = 0; k < out->l.n; k++) out->l.device[k] = -1;
  return SITU_STATUS_OK;
}

void layer_reading_close(layer_reading *r) { layer_plan_free(&r->l); }

situ_status layer_reading_devices(int32_t *device, const layer_reading *r, situ_error *error) {
  const situ_problem *p = r->problem;
  for (int32_t k = 0; k < r->l.n; k++)
    if (r->l.device[k] < 0)
      return fail_with(error, SITU_STATUS_BAD_INPUT, p->graph->model, "layer %d of %d is on no device", (int)k,
                       (int)r->l.n);
  for (int32_t v = 0; v < p->n_operators; v++) {
    int32_t k = r->l.layers.of[v];
    device[v] = k >= 0 ? r->l.device[k] : r->l.layers.before[v] ? r->first : r->head;
    if (device[v] < 0)
      return fail_with(error, SITU_STATUS_BAD_INPUT, p->graph->name[v], "is in no layer and on no device");
  }
  for (int32_t v = 0; v < p->n_operators;
       v++) { /* of a training step: backward operators are where their forward ones are */
    int32_t forward = training_split_forward(p->graph, v);
    if (forward >= 0) device[v] = device[forward];
  }
  return SITU_STATUS_OK;
}

situ_status layer_reading_stages(layer_reading *r, const int32_t *stage, const int64_t *count, int32_t n,
                                 situ_error *error) {
  int64_t sum = 0;
  int32_t k = 0;
  for (int32_t s = 0; s < n; s++) sum += count[s];
  if (n == 0 || sum != r->l.n)
    return fail_with(error, SITU_STATUS_BAD_INPUT, r->problem->graph->model,
                     "has %d layers, but the stages have %lld in all", (int)r->l.n, (long long)sum);
  for (int32_t s = 0; s < n; s++)
    for (int64_t i = 0; i < count[s]; i++) r->l.device[k++] = stage[s];
  r->first = r->l.device[0];
  r->head = r->l.device[r->l.n - 1];
  return SITU_STATUS_OK;
}

int32_t layer_reading_gpu(const situ_problem *problem, int64_t number) {
  for (int32_t d = 0; d < problem->n_devices; d++)
    if (module_names_gpu(problem, d) == number) return d;
  return -1;
}

int32_t layer_reading_host(const situ_problem *problem) {
  for (int32_t d = 0; d < problem->n_devices; d++)
    if (problem_is_home(problem, d)) return d;
  return -1;
}

int32_t layer_reading_find(const layer_plan *l, const char *module) {
  int32_t found = -1;
  for (int32_t k = 0; k < l->n && found < 0 && l->layers.name; k++) {
    text_buffer quoted = {0};
    char *text;
    module_names_quote(&quoted, l->layers.name[k]);
    text = text_take(&quoted);
    size_t n = text ? strlen(text) : 0;
    if (n > 2 && strncmp(text + 1, module, n - 2) == 0 && module[n - 2] == '\0') found = k;
    free(text);
  }
  return found;
}

situ_status layer_reading_read(int32_t *device, const situ_problem *problem, const char *format, layer_reader *read,
                               const void *from, situ_error *error) {
  layer_reading r;
  situ_status status = layer_reading_open(&r, problem, format, error);
  if (status == SITU_STATUS_OK) status = read(&r, from, error);
  if (status == SITU_STATUS_OK) status = layer_reading_devices(device, &r, error);
  layer_reading_close(&r);
  return status;
}
