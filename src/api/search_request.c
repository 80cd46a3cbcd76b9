#include "api/search_request.h"

#include "base/arguments.h"

static bool forward_progress(void *context, const situ_progress *news) {
  search_request *r = context;
  if (r->progress && r->progress(r->context, news)) r->stopped = true;
  return r->stopped;
}

situ_status search_request_take(search_request *r, const situ_instance_options *instance,
                                const situ_solve_options *solve, double limit_s, situ_error *error) {
  TRY(TAKE(r->instance, instance, SITU_INSTANCE_OPTIONS_INIT, error));
  TRY(TAKE(r->read, r->instance.read, SITU_READ_OPTIONS_INIT, error));
  TRY(TAKE(r->cost, r->instance.cost, SITU_COST_OPTIONS_INIT, error));
  TRY(TAKE(r->problem, r->instance.problem, SITU_PROBLEM_OPTIONS_INIT, error));
  TRY(TAKE(r->solve, solve, SITU_SOLVE_OPTIONS_INIT, error));
  r->instance.read = &r->read;
  r->instance.cost = &r->cost;
  r->instance.problem = &r->problem;
  r->progress = r->solve.progress;
  r->context = r->solve.context;
  r->stopped = false;
  r->solve.progress = forward_progress;
  r->solve.context = r;
  if (r->solve.max_steps == 0 && r->solve.time_limit_s <= 0) r->solve.time_limit_s = limit_s;
  return SITU_STATUS_OK;
}
