/* The memory of a plan of a GGUF file by llama.cpp itself, beside that of the costs. */
#include <string.h>

#include "api/instance.h"
#include "base/arguments.h"
#include "check/judge.h"
#include "engine/fit_memory.h"
#include "plan/plan.h"
#include "read/reader.h"
#include "situ/engine.h"
#include "write/llamacpp_options.h"

static situ_status ask(situ_verdict *verdict, const situ_instance *instance, const char *library, situ_error *error) {
  const situ_plan *plan = verdict->plan;
  arena *a = verdict->arena;
  int32_t n = plan->problem->n_devices;
  int64_t *bytes = ARENA_NEW(a, int64_t, n);
  fit_memory found;
  llamacpp_places places;
  char *flags = NULL;
  if (!bytes) return fail_no_memory(error);
  situ_status status = situ_write(&flags, "llama.cpp", plan, error);
  if (flags) flags[strcspn(flags, "\n")] = '\0'; /* below are comments */
  if (status == SITU_STATUS_OK) status = llamacpp_places_find(&places, plan, a, error);
  if (status == SITU_STATUS_OK) status = fit_memory_ask(&found, flags, instance->options.call.model, library, a, error);
  situ_text_free(flags);
  TRY(status);
  for (int32_t d = 0; d < n; d++) {
    bytes[d] = -1;
    for (int32_t i = 0; i < found.n && places.buffer[d]; i++) {
      bool host = plan->problem->platform->devices[d].is_host && strcmp(found.device[i].name, "Host") == 0;
      size_t length = strlen(found.device[i].name);
      bool named = strncmp(places.buffer[d], found.device[i].name, length) == 0 &&
                   (!places.buffer[d][length] || places.buffer[d][length] == '[');
      if (host || named) bytes[d] = found.device[i].bytes;
    }
  }
  verdict->engine_bytes = bytes;
  return SITU_STATUS_OK;
}

situ_status situ_verdict_ask_engine(situ_verdict *verdict, const situ_instance *instance, const char *library,
                                    situ_error *error) {
  TRY(GIVEN(error, verdict, instance));
  TRY(plan_belongs(verdict->plan, instance->problem, error));
  if (strcmp(instance->model->reader, "gguf") != 0 || !plan_exists(verdict->plan) ||
      verdict->plan->problem->graph->cache_tokens <= 0)
    return SITU_STATUS_OK;
  return ask(verdict, instance, library, error);
}

int64_t situ_verdict_engine_bytes(const situ_verdict *verdict, int32_t device) {
  bool asked = verdict && verdict->engine_bytes && device >= 0 && device < verdict->plan->problem->n_devices;
  return asked ? verdict->engine_bytes[device] : -1;
}
