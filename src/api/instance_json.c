/* The member "instance" of a plan file: where a problem came from. Reading is strict: a constraint that cannot be
 * read must not vanish, since a plan would then be judged by a weaker problem. docs/formats/plan.md */
#include "api/instance_json.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/c_locale.h"
#include "base/fail.h"
#include "base/file.h"
#include "base/os.h"
#include "base/text.h"
#include "cost/cost_models.h"
#include "platform/platform_sources.h"
#include "read/reader.h"

const char *instance_hash_text(char into[INSTANCE_HASH_BYTES], uint64_t hash) {
  snprintf(into, INSTANCE_HASH_BYTES, "%016" PRIx64, hash);
  return into;
}

/* ---- writing ---- */

static json_value *dims_json(const situ_read_options *read) {
  json_value *o = json_new_object();
  bool ok = o != NULL;
  for (int32_t i = 0; ok && i < read->n_dims; i++)
    ok = json_set(o, read->dims[i].name, json_new_int(read->dims[i].value));
  return json_if(ok, o);
}

/* The dimensions whose sizes are guesses: reading the model with what "dims" and "default_dim" say would not show it.
 * NULL without memory. */
static json_value *assumed_json(const situ_graph *g) {
  int32_t n = 0;
  for (int32_t k = 0; k < g->n_guesses; k++) n += g->guesses[k].kind == SITU_GUESS_SIZE;
  if (n == 0) return JSON_ABSENT;
  json_value *names = json_new_array();
  bool ok = names != NULL;
  for (int32_t k = 0; ok && k < g->n_guesses; k++)
    if (g->guesses[k].kind == SITU_GUESS_SIZE) ok = json_push(names, json_new_text(g->guesses[k].subject));
  return json_if(ok, names);
}

/* The value of an option as a member; NULL where it is at its default and need not be said, or without memory. */
static json_value *option_json(const option *row, const void *part) {
  const void *at = option_value(row, part);
  bool given = option_is_given(row, part);
  switch (row->kind) {
    case SITU_OPTION_ON: return given || row->part == SITU_OPTION_PROBLEM ? json_new_bool(given) : NULL;
    case SITU_OPTION_OFF: return json_new_bool(!given);
    case SITU_OPTION_TEXT:
    case SITU_OPTION_PATH: return given ? json_new_text(*(const char *const *)at) : NULL;
    case SITU_OPTION_CHOICE:
      return *(const int *)at >= row->min ? json_new_text(row->choices[*(const int *)at - row->min]) : NULL;
    case SITU_OPTION_INT32: return given ? json_new_int(*(const int32_t *)at) : NULL;
    case SITU_OPTION_INT64:
    case SITU_OPTION_MS: return given ? json_new_int(*(const int64_t *)at) : NULL;
    case SITU_OPTION_REAL: return given ? json_new_number(*(const double *)at) : NULL;
    default: return NULL; /* lists; options of the search */
  }
}

/* Sets the members of all options of a part. */
static bool options_json(json_value *o, situ_option_part which, const void *part) {
  bool ok = true;
  for (int32_t k = 0; ok && k < option_n_rows; k++) {
    const option *row = &option_rows[k];
    if (row->part != which || !row->json || strcmp(row->json, "platform") == 0) continue;
    json_value *value = option_json(row, part);
    if (value) ok = json_set(o, row->json, value);
  }
  return ok;
}

/* The options of an instance with what their defaults turned out to be. */
static instance_options resolved(const situ_instance *i) {
  instance_options o = i->options;
  o.problem = problem_options_of(i->problem);
  o.read.reader = i->model->reader;
  if (o.read.default_dim == 0) o.read.default_dim = 1;
  if (o.read.training && !o.read.optimizer) o.read.optimizer = SITU_OPTIMIZER_ADAM_MIXED;
  o.cost.fusion = i->own_costs ? i->own_costs->fusion : NULL;
  return o;
}

static json_value *costs_json(const situ_instance *i, const instance_options *said) {
  char hash[INSTANCE_HASH_BYTES];
  json_value *o = JSON_OBJECT({"source", json_new_text(i->costs->source)});
  bool ok = options_json(o, SITU_OPTION_COST, &said->cost);
  if (said->cost.table_path)
    ok = ok && json_set(o, "table_hash", json_new_text(instance_hash_text(hash, i->own_costs->table_hash)));
  return json_if(ok, o);
}

/* The rules themselves, so that a plan is judged by what held when it was made. */
static json_value *rules_json(const char *text) {
  json_value *list = NULL;
  return json_parse(&list, text, strlen(text), "rules", NULL) == SITU_STATUS_OK ? list : NULL;
}

static bool constraints_json(json_value *o, const situ_instance *i) {
  const situ_problem *p = i->problem;
  bool ok = true;
  if (i->pins) {
    json_value *pins = json_new_object();
    for (int32_t v = 0; ok && v < p->n_operators; v++)
      if (i->pins[v] >= 0) ok = json_set(pins, p->graph->name[v], json_new_text(p->platform->devices[i->pins[v]].name));
    ok = json_set(o, "pins", pins) && ok;
  }
  if (i->unused) {
    json_value *unused = json_new_array();
    for (int32_t d = 0; ok && d < p->n_devices; d++)
      if (i->unused[d]) ok = json_push(unused, json_new_text(p->platform->devices[d].name));
    ok = json_set(o, "unused", unused) && ok;
  }
  return ok;
}

json_value *instance_to_json(const situ_instance *i) {
  char hash[INSTANCE_HASH_BYTES];
  instance_options said = resolved(i);
  json_value *o = JSON_OBJECT({"model", json_new_text(said.call.model)},
                              {"model_hash", json_new_text(instance_hash_text(hash, i->model->hash))});
  bool ok = options_json(o, SITU_OPTION_READ, &said.read);
  const char *named = said.call.platform ? said.call.platform : i->own_platform ? SITU_DEFAULT_PLATFORM : NULL;
  bool here = named && strcmp(named, THIS_HOST) == 0;
  ok = JSON_SET(o, {"dims", dims_json(&said.read)}, {"assumed_dims", assumed_json(i->model->graph)},
                {"platform", json_new_text(named)},
                {"host", here ? platform_to_json(i->ungrouped ? i->ungrouped : i->platform, false) : JSON_ABSENT},
                {"platform_hash", json_new_text(instance_hash_text(hash, platform_hash(i->platform, true)))},
                {"costs", costs_json(i, &said)}) &&
       ok;
  ok = ok && options_json(o, SITU_OPTION_PROBLEM, &said.problem);
  ok = ok && options_json(o, SITU_OPTION_INSTANCE, &said.call);
  if (said.rules_text) ok = ok && json_set(o, "rules", rules_json(said.rules_text));
  ok = ok && constraints_json(o, i);
  return json_if(ok, o);
}

/* ---- reading ---- */

/* Members that are no options, or are read apart from them. */
typedef struct member {
  const char *name;
  json_kind kind;
  bool required;
} member;
static const member members[] = {{"model", JSON_TEXT, true},         {"model_hash", JSON_TEXT, true},
                                 {"dims", JSON_OBJECT_KIND, false},  {"assumed_dims", JSON_ARRAY_KIND, false},
                                 {"host", JSON_OBJECT_KIND, false},  {"platform_hash", JSON_TEXT, true},
                                 {"costs", JSON_OBJECT_KIND, true},  {"pins", JSON_OBJECT_KIND, false},
                                 {"unused", JSON_ARRAY_KIND, false}, {"rules", JSON_ARRAY_KIND, false},
                                 {NULL, JSON_NULL_KIND, false}};
static const member cost_members[] = {{"source", JSON_TEXT, false},
                                      {"table_hash", JSON_TEXT, false} /* files of version 0.1 have none */,
                                      {NULL, JSON_NULL_KIND, false}};

/* The position of a member, for messages: "instance" or "instance.costs" in a file. */
typedef struct place {
  const char *group, *path;
  arena *arena;
} place;

static situ_status bad(const place *at, const char *name, const char *expected, situ_error *error) {
  return fail_with(error, SITU_STATUS_BAD_INPUT, at->path, "%s.%.60s: expected %s", at->group, name, expected);
}

static bool is_named(const option *row, const char *name) { return row->json && strcmp(row->json, name) == 0; }
/* What a plan is for has to be said; a model may have a platform of its own. */
static bool is_required(const option *row) { return is_named(row, "objective") || is_named(row, "execution"); }
static bool is_nullable(const option *row) { return is_named(row, "platform"); }

static int64_t max_of(const option *row) {
  if (row->kind == SITU_OPTION_INT32) return row->max > 0 ? (int64_t)row->max : INT32_MAX;
  return row->kind == SITU_OPTION_MS ? SITU_NEVER_NS - 1 : INT64_MAX;
}

static situ_status bad_option(const place *at, const option *row, situ_error *error) {
  char expected[160] = "a text";
  int64_t min = row->kind == SITU_OPTION_MS ? 1 : row->min;
  if (row->kind == SITU_OPTION_INT32 || row->kind == SITU_OPTION_INT64 || row->kind == SITU_OPTION_MS)
    snprintf(expected, sizeof expected, "a whole number from %lld to %lld", (long long)min, (long long)max_of(row));
  if (row->kind == SITU_OPTION_REAL)
    c_locale_print(expected, sizeof expected, row->max <= 1 ? "a number above 0, at most %g" : "a number above 0",
                   row->max);
  if (row->kind == SITU_OPTION_ON || row->kind == SITU_OPTION_OFF) snprintf(expected, sizeof expected, "true or false");
  size_t n = 0;
  for (int k = 0; row->kind == SITU_OPTION_CHOICE && row->choices[k]; k++)
    n += (size_t)snprintf(expected + n, sizeof expected - n, "%s%s", k == 0 ? "" : " or ", row->choices[k]);
  if (is_nullable(row)) strcat(expected, " or null");
  return bad(at, row->json, expected, error);
}

/* The path as it is when that exists from here, else from the folder of the plan file. */
static const char *nearby(arena *a, const char *path, const char *plan_path) {
  if (os_is_absolute(path) || strchr(path, ':') || file_exists(path)) return path;
  const char *folder = file_folder(a, plan_path);
  size_t n = folder ? strlen(folder) + strlen(path) + 1 : 0;
  char *joined = n ? arena_alloc(a, (int64_t)n, 1) : NULL;
  if (!joined) return path;
  snprintf(joined, n, "%s%s", folder, path);
  return file_exists(joined) ? joined : path;
}

/* The same for each of several tables with commas between them. */
static const char *nearby_all(arena *a, const char *paths, const char *plan_path) {
  text_buffer all = {0};
  if (!cost_tables_are_several(paths)) return nearby(a, paths, plan_path);
  for (const char *at = paths; *at; at += strspn(at, ",")) {
    size_t n = strcspn(at, ",");
    const char *one = arena_string_n(a, at, n);
    text_add(&all, "%s%s", all.length > 0 ? "," : "", one ? nearby(a, one, plan_path) : "");
    at += n;
  }
  const char *kept = all.failed ? NULL : arena_string(a, all.bytes);
  text_free(&all);
  return kept ? kept : paths;
}

static bool take_choice(int *field, const option *row, const json_value *v) {
  for (int k = 0; json_kind_of(v) == JSON_TEXT && row->choices[k]; k++) {
    if (strcmp(json_text(v, ""), row->choices[k]) != 0) continue;
    *field = (int)row->min + k;
    return true;
  }
  return false;
}

static bool take_int(void *field, const option *row, const json_value *v) {
  int64_t min = row->kind == SITU_OPTION_MS ? 1 : row->min, number = json_int(v, min - 1);
  if (json_kind_of(v) != JSON_INT || number < min || number > max_of(row)) return false;
  if (row->kind == SITU_OPTION_INT32)
    *(int32_t *)field = (int32_t)number;
  else
    *(int64_t *)field = number;
  return true;
}

/* False where the member is not as it should be. */
static bool take_value(void *field, const option *row, const json_value *v, const place *at) {
  switch (row->kind) {
    case SITU_OPTION_ON: *(bool *)field = json_bool(v, false); return json_kind_of(v) == JSON_BOOL;
    case SITU_OPTION_OFF: *(bool *)field = !json_bool(v, false); return json_kind_of(v) == JSON_BOOL;
    case SITU_OPTION_TEXT: *(const char **)field = json_text(v, NULL); return json_kind_of(v) == JSON_TEXT;
    case SITU_OPTION_PATH:
      *(const char **)field = nearby_all(at->arena, json_text(v, ""), at->path);
      return json_kind_of(v) == JSON_TEXT;
    case SITU_OPTION_CHOICE: return take_choice(field, row, v);
    case SITU_OPTION_INT32:
    case SITU_OPTION_INT64:
    case SITU_OPTION_MS: return take_int(field, row, v);
    case SITU_OPTION_REAL:
      *(double *)field = json_number(v, 0);
      return *(double *)field > 0 && *(double *)field <= (row->max <= 1 ? row->max : 1e18);
    default: return false;
  }
}

/* The option, or the other member, of that name; *rest says which. */
static const option *find_option(const char *name, bool of_costs) {
  for (int32_t k = 0; k < option_n_rows; k++) {
    const option *row = &option_rows[k];
    if (is_named(row, name) && (row->part == SITU_OPTION_COST) == of_costs) return row;
  }
  return NULL;
}

/* Unknown members are rejected, since they may be constraints. */
static situ_status check_members(const json_value *object, const member *rest, bool of_costs, const place *at,
                                 situ_error *error) {
  json_member m = {0};
  while (json_next(object, &m)) {
    const member *other = rest;
    while (other->name && strcmp(other->name, m.key) != 0) other++;
    if (!other->name && !find_option(m.key, of_costs))
      return bad(at, m.key, "no such member; is the file from a later version?", error);
  }
  for (const member *other = rest; other->name; other++) {
    const json_value *v = json_get(object, other->name);
    const char *expected = other->kind == JSON_TEXT         ? "a text"
                           : other->kind == JSON_ARRAY_KIND ? "a list"
                                                            : "an object";
    if (v ? json_kind_of(v) != other->kind : other->required) return bad(at, other->name, expected, error);
  }
  return SITU_STATUS_OK;
}

/* Reads the options that are members of one object. */
static situ_status read_members(instance_options *o, const json_value *object, bool of_costs, const place *at,
                                situ_error *error) {
  TRY(check_members(object, of_costs ? cost_members : members, of_costs, at, error));
  for (int32_t k = 0; k < option_n_rows; k++) {
    const option *row = &option_rows[k];
    void *part = instance_options_part(o, row->part);
    if (!part || !row->json || (row->part == SITU_OPTION_COST) != of_costs) continue;
    const json_value *v = json_get(object, row->json);
    if (!v && !is_required(row) && !is_nullable(row)) continue;
    if (v && is_nullable(row) && json_kind_of(v) == JSON_NULL_KIND) continue;
    if (is_named(row, "overlap") && json_kind_of(v) == JSON_BOOL) continue; /* version 0.1, see below */
    if (!v || !take_value(option_field(row, part), row, v, at)) return bad_option(at, row, error);
  }
  return SITU_STATUS_OK;
}

static situ_status read_dims(situ_read_options *read, const json_value *given, const place *at, situ_error *error) {
  situ_dim *dims = ARENA_NEW(at->arena, situ_dim, (int64_t)json_size(given) + 1);
  if (!dims) return fail_no_memory(error);
  json_member m = {0};
  while (json_next(given, &m)) {
    if (json_kind_of(m.value) != JSON_INT || json_int(m.value, -1) < 0)
      return bad(at, m.key, "a whole number of at least 0", error);
    dims[read->n_dims++] = (situ_dim){m.key, json_int(m.value, 0)};
  }
  read->dims = dims;
  return SITU_STATUS_OK;
}

/* The texts of a list, with a NULL behind them; `expected` says what they are. */
static situ_status read_names(const char *const **out, int32_t *n_out, const json_value *list, const char *name,
                              const char *expected, const place *at, situ_error *error) {
  size_t n = json_size(list);
  if (n > SITU_MAX_OPERATORS) return bad(at, name, expected, error);
  const char **names = ARENA_ZERO(at->arena, const char *, (int64_t)n + 1);
  if (!names) return fail_no_memory(error);
  for (size_t i = 0; i < n; i++) {
    names[i] = json_text(json_at(list, i), NULL);
    if (!names[i]) return bad(at, name, expected, error);
  }
  *out = names;
  *n_out = (int32_t)n;
  return SITU_STATUS_OK;
}

static situ_status read_unused(instance_options *o, const json_value *list, const place *at, situ_error *error) {
  if (json_size(list) > SITU_MAX_DEVICES) return bad(at, "unused", "no more devices than a platform can have", error);
  return read_names(&o->call.unused, &o->call.n_unused, list, "unused", "names of devices", at, error);
}

/* A member as text, or NULL where it is not there. */
static situ_status read_text_of(const char **out, const json_value *value, arena *a, situ_error *error) {
  if (!value) return SITU_STATUS_OK;
  char *text = json_print(value, 0);
  *out = arena_string(a, text);
  free(text);
  return *out ? SITU_STATUS_OK : fail_no_memory(error);
}

situ_status instance_options_from_json(instance_options *o, const json_value *object, const char *path, arena *a,
                                       situ_error *error) {
  place at = {"instance", path, a};
  *o = (instance_options){0};
  if (json_kind_of(object) != JSON_OBJECT_KIND)
    return fail_with(error, SITU_STATUS_BAD_INPUT, path,
                     "is not a situ plan: expected an object \"instance\"; `situ place MODEL -o FILE` writes a plan");
  TRY(read_members(o, object, false, &at, error));
  o->call.model = nearby(a, json_text(json_get(object, "model"), ""), path);
  if (o->read.training && !o->read.optimizer) o->read.optimizer = SITU_OPTIMIZER_SGD; /* of versions without others */
  const json_value *before = json_get(object, "overlap"); /* version 0.1: what async_copies is now */
  if (json_kind_of(before) == JSON_BOOL) o->problem.async_copies = json_bool(before, false);
  TRY(read_unused(o, json_get(object, "unused"), &at, error));
  int32_t n_assumed;
  TRY(read_names(&o->read.assumed, &n_assumed, json_get(object, "assumed_dims"), "assumed_dims", "names of dimensions",
                 &at, error));
  TRY(read_text_of(&o->rules_text, json_get(object, "rules"), a, error));
  TRY(read_text_of(&o->host_text, json_get(object, "host"), a, error));
  at.group = "instance.dims";
  TRY(read_dims(&o->read, json_get(object, "dims"), &at, error));
  at.group = "instance.costs";
  TRY(read_members(o, json_get(object, "costs"), true, &at, error));
  if (!o->cost.fusion) o->cost.fusion = "none"; /* so it is where nothing says otherwise, as in files of version 0.1 */
  return SITU_STATUS_OK;
}
