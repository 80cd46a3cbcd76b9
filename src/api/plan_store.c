/* Plan files: what plan/ says about a plan, joined by where its problem came from. */
#include <stdlib.h>
#include <string.h>

#include "api/instance_json.h"
#include "base/arguments.h"
#include "base/file.h"
#include "base/text.h"
#include "plan/plan.h"
#include "read/reader.h"
#include "write/writer.h"

situ_status situ_plan_text(char **out, const situ_plan *plan, const situ_instance *instance, situ_error *error) {
  if (out) *out = NULL;
  TRY(GIVEN(error, out, plan, instance));
  TRY(plan_belongs(plan, instance->problem, error));
  json_value *root = plan_to_json(plan);
  char *text = root && json_set(root, "instance", instance_to_json(instance)) ? json_print(root, 1) : NULL;
  json_free(root);
  text_buffer t = {0};
  if (text) {
    text_add_bytes(&t, text, strlen(text));
    text_add_bytes(&t, "\n", 1);
  }
  free(text);
  *out = text ? text_take(&t) : NULL;
  return *out ? SITU_STATUS_OK : fail_no_memory(error);
}

situ_status situ_plan_write(const situ_plan *plan, const situ_instance *instance, const char *path, situ_error *error) {
  char *text = NULL;
  TRY(GIVEN(error, plan, instance, path));
  TRY(situ_plan_text(&text, plan, instance, error));
  situ_status status = file_write(path, text, strlen(text), error);
  situ_text_free(text);
  return status;
}

situ_status situ_instance_export(const situ_instance *instance, const situ_plan *plan, const char *name,
                                 const char *path, situ_error *error) {
  const writer *w;
  TRY(GIVEN(error, instance, plan, name, path));
  TRY(plan_belongs(plan, instance->problem, error));
  TRY(writer_find(&w, name, plan, error));
  if (!w->write_folder) return writer_write_file(w, plan, path, error);
  TRY(writer_serves(&w, name, instance->problem, instance->model->reader, instance->options.call.model, error));
  return w->write_folder(path, plan, instance->options.call.model, error);
}

/* Poses the problem of an open instance again, with the pins of the plan file. */
static situ_status pose_with_pins(situ_instance *i, const json_value *pins, const char *path, situ_error *error) {
  const situ_graph *graph = i->graph;
  int32_t n = graph->n_operators;
  i->pins = ARENA_NEW(i->arena, int32_t, n);
  if (!i->pins) return fail_no_memory(error);
  for (int32_t v = 0; v < n; v++) i->pins[v] = -1;
  json_member at = {0};
  while (json_next(pins, &at)) {
    int32_t v = situ_graph_find(graph, at.key), d = situ_platform_find(i->platform, json_text(at.value, ""));
    if (v < 0 || d < 0)
      return fail_with(error, SITU_STATUS_BAD_INPUT, path, "instance.pins: %s on %s: no such operator or device",
                       at.key, json_text(at.value, "?"));
    i->pins[v] = d;
  }
  return instance_pose(i, error);
}

/* Whether a hash of the file is that of what is there now, or `other`, as earlier versions formed it. */
static situ_status same_hash(const json_value *then, uint64_t now, uint64_t other, const char *what, const char *name,
                             const char *path, situ_error *error) {
  char text[INSTANCE_HASH_BYTES];
  const char *said = json_text(then, "");
  if (strcmp(said, instance_hash_text(text, now)) == 0 || strcmp(said, instance_hash_text(text, other)) == 0)
    return SITU_STATUS_OK;
  return fail_with(error, SITU_STATUS_BAD_INPUT, path, "the %s %s has changed since this plan was made", what, name);
}

/* Options that hold whatever else a plan file says: they change no problem. */
static void take_claims(instance_options *o, const instance_options *claims) {
  if (!claims) return;
  o->call.strict = claims->call.strict;
  o->call.writers = claims->call.writers;
  o->call.n_writers = claims->call.n_writers;
  if (claims->problem.max_unknown_percent > 0) o->problem.max_unknown_percent = claims->problem.max_unknown_percent;
}

/* Content that the member names must not have changed. */
static situ_status reopen(situ_instance **out, const instance_options *given, const instance_options *claims, arena *a,
                          const json_value *m, const char *path, situ_error *error) {
  instance_options said, o = {0};
  TRY(instance_options_from_json(&said, m, path, a, error));
  if (given) o = *given;
  instance_options_fill(&o, &said);
  take_claims(&o, claims);
  o.reopened = true;
  if (!given && strncmp(o.call.model, READ_UNNAMED, sizeof READ_UNNAMED - 1) == 0)
    return fail_with(error, SITU_STATUS_BAD_INPUT, path,
                     "its model came from standard input; give the model as well (--model MODEL)");
  TRY(instance_open(out, &o, error));
  situ_instance *i = *out;
  const json_value *table_hash = json_get(json_get(m, "costs"), "table_hash");
  uint64_t model = i->model->hash, platform = platform_hash(i->platform, true);
  if (!given) TRY(same_hash(json_get(m, "model_hash"), model, model, "model", o.call.model, path, error));
  if (!given || (!given->call.platform && said.call.platform))
    TRY(same_hash(json_get(m, "platform_hash"), platform, platform_hash(i->platform, false), "platform",
                  i->platform->name, path, error));
  if (table_hash && o.cost.table_path == said.cost.table_path && i->own_costs)
    TRY(same_hash(table_hash, i->own_costs->table_hash, i->own_costs->table_hash, "cost table", o.cost.table_path, path,
                  error));
  const json_value *pins = json_get(m, "pins");
  return pins && !o.call.fix ? pose_with_pins(i, pins, path, error) : SITU_STATUS_OK;
}

static situ_status open_member(situ_instance **out, const instance_options *given, const instance_options *claims,
                               const json_value *member, const char *path, situ_error *error) {
  *out = NULL;
  arena *a = arena_new();
  if (!a) return fail_no_memory(error);
  situ_status status = reopen(out, given, claims, a, member, path, error);
  if (status == SITU_STATUS_BAD_ARGUMENT && !given) /* the content of a file is input, not an argument of the caller */
    status = error ? (error->status = SITU_STATUS_BAD_INPUT) : SITU_STATUS_BAD_INPUT;
  if (status != SITU_STATUS_OK) {
    situ_instance_free(*out);
    *out = NULL;
  }
  arena_free(a);
  return status;
}

situ_status instance_from_json(situ_instance **out, const instance_options *given, const json_value *member,
                               const char *path, situ_error *error) {
  return open_member(out, given, NULL, member, path, error);
}

/* Who names a model instead of a plan learns how to get one. */
static situ_status read_plan_json(json_value **root, const char *path, situ_error *error) {
  situ_error why = {.text = ""};
  situ_status status = json_read(root, path, &why);
  if (status == SITU_STATUS_IO && strncmp(path, "builtin:", 8) == 0)
    return fail_with(error, status, path, "is a model; expected a plan, which `situ place %.100s -o FILE` writes",
                     path);
  if (status == SITU_STATUS_BAD_INPUT)
    return fail_with(error, status, why.where, "%s; expected a plan, which `situ place MODEL -o FILE` writes",
                     why.text);
  return status == SITU_STATUS_OK ? status : fail_with(error, status, why.where, "%s", why.text);
}

situ_status situ_plan_read(situ_plan **out, situ_instance **instance, const char *path, situ_error *error) {
  return situ_plan_read_with(out, instance, NULL, path, error);
}

situ_status situ_plan_read_with(situ_plan **out, situ_instance **instance, const situ_instance_options *options,
                                const char *path, situ_error *error) {
  instance_options claims;
  if (out) *out = NULL;
  if (instance) *instance = NULL;
  TRY(GIVEN(error, out, instance, path));
  const situ_instance_options none = SITU_INSTANCE_OPTIONS_INIT;
  TRY(instance_options_take(&claims, options ? options : &none, error));
  json_value *root = NULL;
  TRY(read_plan_json(&root, path, error));
  situ_status status = open_member(instance, NULL, &claims, json_get(root, "instance"), path, error);
  if (status == SITU_STATUS_OK) status = plan_from_json(out, (*instance)->problem, root, path, error);
  json_free(root);
  if (status != SITU_STATUS_OK) {
    situ_instance_free(*instance);
    *instance = NULL;
  }
  return status;
}
