#include "lp/mip_engine.h"

#include <stdlib.h>

bool mip_report(const mip_task *task, const double *x) {
  const program *p = task->program;
  size_t size = sizeof(mip_message) + (size_t)p->n_columns * sizeof(double);
  mip_message *message = calloc(1, size);
  if (!message) return false;
  for (int32_t j = 0; j < p->n_columns; j++) message->x[j] = x[j] * p->unit[j];
  bool sent = child_send(task->line, message, size);
  free(message);
  return sent;
}

bool mip_report_end(const mip_task *task, mip_outcome outcome) {
  mip_message last = {.is_outcome = true, .outcome = outcome};
  return child_send(task->line, &last, sizeof last);
}

int64_t mip_bound_of(const mip_task *task, double bound) {
  double value = bound * task->table->cost_scale;
  return value > 0 && value < 9e18 ? (int64_t)value : 0;
}
