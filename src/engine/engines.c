/* The table of engines, and the search for their libraries. */
#include <stdio.h>
#include <string.h>

#include "base/arguments.h"
#include "engine/engine.h"

#define ADDRESS(NAME) &NAME##_engine,
const engine *const engines[] = {ENGINE_ROWS(ADDRESS) NULL};

static bool reads(const engine *e, const model_format *format) {
  size_t n = format ? strlen(format->reader) : 0;
  if (!format) return true;
  for (const char *at = e->reads; at && *at; at += strcspn(at, " "), at += *at == ' ')
    if (strncmp(at, format->reader, n) == 0 && (at[n] == ' ' || !at[n])) return true;
  return false;
}

situ_status engine_find(const engine **out, const char *name, const model_format *format, situ_error *error) {
  int i = 0;
  while (engines[i] && (name ? strcmp(engines[i]->name, name) != 0 : !reads(engines[i], format))) i++;
  *out = engines[i];
  if (!engines[i]) return fail_with(error, SITU_STATUS_BAD_ARGUMENT, name, "there is no engine of this name");
  if (!engines[i]->reads || reads(engines[i], format)) return SITU_STATUS_OK;
  return fail_with(error, SITU_STATUS_UNSUPPORTED, engines[i]->name, "runs no %s models", format->title);
}

situ_status engine_hello(json_value **answer, worker *w, const engine *e, const char *library, const wait_limit *wait,
                         situ_error *error) {
  situ_error own = {0};
  situ_status status = worker_call(answer, w, "hello", json_new_object(), wait, &own);
  if (status == SITU_STATUS_OK) return status;
  if (status != SITU_STATUS_ENGINE || library != e->place.system)
    return fail_with(error, status, own.where, "%s", own.text);
  return fail_with(error, status, e->name,
                   "not found in VIRTUAL_ENV, in the packages of python3, or by the system's loader (%s); set the "
                   "environment variable %s to its path, or install it: %s",
                   own.text, e->place.variable, e->install);
}

/* ---- the public table ---- */

int32_t situ_engine_count(void) { return (int32_t)(sizeof engines / sizeof engines[0]) - 1; }

/* Fills version and providers of an info with the answer of a worker. */
static situ_status fill_info(situ_engine_info *info, const engine *e, const char *library, situ_error *error) {
  worker *w;
  json_value *answer = NULL;
  engine_context context = {.library = library};
  worker_options options = {.name = e->name, .core = -1};
  wait_limit wait = {.limit_s = 60};
  TRY(engine_start(&w, e, &context, &options, error));
  situ_status status = engine_hello(&answer, w, e, library, &wait, error);
  if (status == SITU_STATUS_OK) {
    const json_value *list = json_get(answer, "providers");
    snprintf(info->version, sizeof info->version, "%s", json_text(json_get(answer, "version"), "?"));
    for (size_t i = 0; i < json_size(list); i++) {
      size_t n = strlen(info->providers);
      snprintf(info->providers + n, sizeof info->providers - n, "%s%s", i ? " " : "", json_text(json_at(list, i), "?"));
    }
  }
  json_free(answer);
  worker_stop(w);
  return status;
}

bool situ_engine_at(int32_t index, situ_engine_info *out) {
  if (index < 0 || index >= situ_engine_count()) return false;
  const engine *e = engines[index];
  situ_engine_info info = {.name = e->name, .title = e->title};
  const char *library = NULL;
  situ_error error = {0};
  arena *a = arena_new();
  situ_status status = a ? library_locate(&library, &e->place, NULL, a, &error) : fail_no_memory(&error);
  if (status == SITU_STATUS_OK) status = fill_info(&info, e, library, &error);
  if (status == SITU_STATUS_OK)
    snprintf(info.library, sizeof info.library, "%s", library);
  else
    snprintf(info.missing, sizeof info.missing, "%s%s%s", error.where, *error.where ? ": " : "", error.text);
  arena_free(a);
  return GIVE(out, info);
}
