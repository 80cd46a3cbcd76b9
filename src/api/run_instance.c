/* A plan of an instance, on real devices. */
#include <string.h>

#include "api/instance.h"
#include "base/arguments.h"
#include "engine/measure.h"
#include "engine/served.h"
#include "plan/plan.h"
#include "read/reader.h"
#include "sim/token_rates.h"
#include "split/model_file.h"
#include "write/llamacpp_options.h"

/* The request of a run where the plan is of none. */
enum { PROMPT = 200, GENERATE = 64 };

/* The same placement for one request of one stream: *plan is of *instance, both the caller's, after failures too. */
static situ_status predict(situ_instance **instance, situ_plan **plan, const situ_plan *given, const situ_instance *of,
                           int64_t prompt, int64_t generate, situ_error *error) {
  instance_options o = of->options;
  const situ_graph *g = given->problem->graph;
  o.read.prompt = prompt;
  o.read.generate = generate;
  o.read.context = g->cache_tokens / g->streams;
  o.read.batch = 0;
  o.read.draft = 0;
  o.read.acceptance = 0;
  o.call.fix = NULL;
  o.call.n_writers = 0;
  o.call.max_ttft_ns = 0;
  o.call.min_speed = 0;
  o.problem =
      (situ_problem_options){.size = sizeof o.problem}; /* the time of a request, whatever the plan is best for */
  TRY(instance_open(instance, &o, error));
  const situ_problem *p = (*instance)->problem;
  situ_plan *posed = plan_new(p);
  if (posed) posed->device = ARENA_COPY(posed->arena, given->device, int32_t, p->n_operators);
  situ_status status = posed && posed->device ? situ_replay(plan, posed, error) : fail_no_memory(error);
  situ_plan_free(posed);
  return status;
}

/* What llama-server shall do, and what is expected of it. */
static situ_status serve(situ_run **out, const situ_plan *plan, const situ_plan *request, const situ_model *model,
                         served_request *r, const char *path, const measure_options *options, arena *a,
                         situ_error *error) {
  llamacpp_places places;
  int32_t n = plan->problem->n_devices;
  int64_t *bytes = ARENA_NEW(a, int64_t, n);
  if (!bytes) return fail_no_memory(error);
  TRY(llamacpp_places_find(&places, plan, a, error));
  for (int32_t d = 0; d < n; d++) bytes[d] = plan_use(plan, d).memory_bytes;
  token_rates rates = token_rates_of(request, model);
  r->prefill = rates.prefill;
  r->decode = rates.decode;
  r->predicted_ns = request->value_ns;
  r->n_layers = places.n_layers;
  r->layer = places.layer;
  r->head = places.head;
  r->buffer = places.buffer;
  r->memory_bytes = bytes;
  return served_run(out, plan->problem, path, r, options, error);
}

static situ_status run_served_plan(situ_run **out, const situ_plan *plan, const situ_instance *instance,
                                   const measure_options *options, situ_error *error) {
  const situ_graph *g = plan->problem->graph;
  const char *path = instance->options.call.model;
  if (options->engine && strcmp(options->engine, "llama.cpp") != 0)
    return fail_with(error, SITU_STATUS_UNSUPPORTED, options->engine, "runs no GGUF models; llama.cpp does");
  if (!plan->device || g->cache_tokens <= 0)
    return fail_with(error, SITU_STATUS_UNSUPPORTED, path, "is no plan of a model that generates; only these are run");
  int64_t cells = g->cache_tokens / g->streams;
  served_request r = {.prompt = g->prompt > 0 ? g->prompt : PROMPT,
                      .generate = g->generate > 0 ? g->generate : GENERATE};
  if (r.prompt + r.generate > cells)
    return fail_with(error, SITU_STATUS_UNSUPPORTED, path, "has caches of %lld tokens; a run needs %lld",
                     (long long)cells, (long long)(r.prompt + r.generate));
  char *flags = NULL;
  situ_instance *same = NULL;
  situ_plan *request = NULL;
  arena *a = arena_new();
  situ_status status = a ? situ_write(&flags, "llama.cpp", plan, error) : fail_no_memory(error);
  if (flags) flags[strcspn(flags, "\n")] = '\0'; /* below are comments */
  r.options = flags;
  if (status == SITU_STATUS_OK) status = predict(&same, &request, plan, instance, r.prompt, r.generate, error);
  if (status == SITU_STATUS_OK) status = serve(out, plan, request, same->model, &r, path, options, a, error);
  situ_plan_free(request);
  situ_instance_free(same);
  situ_text_free(flags);
  arena_free(a);
  return status;
}

situ_status situ_run_plan(situ_run **out, const situ_plan *plan, const situ_instance *instance,
                          const situ_run_options *given, situ_error *error) {
  measure_options options;
  if (out) *out = NULL;
  TRY(GIVEN(error, out, plan, instance));
  TRY(measure_take_run(&options, given, error));
  TRY(plan_belongs(plan, instance->problem, error));
  if (strcmp(instance->model->reader, "gguf") == 0) return run_served_plan(out, plan, instance, &options, error);
  TRY(model_format_need(instance->model->reader, instance->options.call.model, error));
  options.read = &instance->options.read;
  return run_plan(out, plan, instance->options.call.model, &options, error);
}
