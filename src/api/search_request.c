#include "api/search_request.h"

#include "api/instance.h"
#include "base/arguments.h"
#include "base/fail.h"
#include "read/reader.h"

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

situ_status search_request_open(situ_instance **out, const search_request *r, const char *why, situ_error *error) {
  TRY(situ_instance_open(out, &r->instance, error));
  const situ_instance *i = *out;
  if (i->model->steps.other && i->problem->n_copies == 1) return SITU_STATUS_OK;
  situ_status status = fail_with(error, SITU_STATUS_BAD_ARGUMENT, i->graph->model,
                                 "is no language model with caches, one copy of it; %s", why);
  situ_instance_free(*out);
  *out = NULL;
  return status;
}
