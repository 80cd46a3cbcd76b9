/* A plan of an instance, on real devices. */
#include <string.h>

#include "api/instance.h"
#include "base/arguments.h"
#include "engine/measure.h"
#include "read/reader.h"
#include "split/model_file.h"

situ_status situ_run_plan(situ_run **out, const situ_plan *plan, const situ_instance *instance,
                          const situ_run_options *given, situ_error *error) {
  measure_options options;
  if (out) *out = NULL;
  TRY(GIVEN(error, out, plan, instance));
  TRY(measure_take_run(&options, given, error));
  TRY(model_format_need(instance->model->reader, instance->options.call.model, error));
  options.read = &instance->options.read;
  TRY(plan_belongs(plan, instance->problem, error));
  return run_plan(out, plan, instance->options.call.model, &options, error);
}
