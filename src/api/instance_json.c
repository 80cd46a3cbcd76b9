/* The member "instance" of a plan file: where a problem came from. Reading is strict: a constraint that cannot be
 * read must not vanish, since a plan would then be judged by a weaker problem. docs/formats/plan.md */
#include "api/instance_json.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/file.h"
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
    ok = json_set(o, read->dims[i].name, json_new_whole(read->dims[i].value));
  if (ok) return o;
  json_free(o);
  return NULL;
}

static json_value *costs_json(const situ_instance *i) {
  const situ_cost_options *c = &i->options.cost;
  char hash[INSTANCE_HASH_BYTES];
  json_value *o = json_new_object();
  bool ok = o && json_set(o, "source", json_new_text(i->costs->source));
  if (c->model) ok = ok && json_set(o, "model", json_new_text(c->model));
  if (c->efficiency > 0) ok = ok && json_set(o, "efficiency", json_new_number(c->efficiency));
  if (c->engine) ok = ok && json_set(o, "engine", json_new_text(c->engine));
  if (i->own_costs && i->own_costs->fusion) ok = ok && json_set(o, "fusion", json_new_text(i->own_costs->fusion));
  if (c->table_path)
    ok = ok && json_set(o, "table", json_new_text(c->table_path)) &&
         json_set(o, "table_hash", json_new_text(instance_hash_text(hash, i->own_costs->table_hash)));
  if (ok) return o;
  json_free(o);
  return NULL;
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
  const situ_problem *p = i->problem;
  char hash[INSTANCE_HASH_BYTES];
  json_value *o = json_new_object();
  bool ok = o && json_set(o, "model", json_new_text(i->options.model));
  ok = ok && json_set(o, "model_hash", json_new_text(instance_hash_text(hash, i->model->hash)));
  ok = ok && json_set(o, "reader", json_new_text(i->model->reader));
  ok = ok && json_set(o, "dims", dims_json(&i->options.read));
  ok = ok &&
       json_set(o, "default_dim", json_new_whole(i->options.read.default_dim > 0 ? i->options.read.default_dim : 1));
  if (i->options.read.precision)
    ok = ok && json_set(o, "precision", json_new_text(situ_precision_name(i->options.read.precision)));
  if (i->options.read.training) ok = ok && json_set(o, "training", json_new_truth(true));
  const situ_read_options *read = &i->options.read;
  if (read->prompt) ok = ok && json_set(o, "prompt", json_new_whole(read->prompt));
  if (read->context) ok = ok && json_set(o, "context", json_new_whole(read->context));
  if (read->batch) ok = ok && json_set(o, "batch", json_new_whole(read->batch));
  if (read->generate) ok = ok && json_set(o, "generate", json_new_whole(read->generate));
  if (read->draft) ok = ok && json_set(o, "draft", json_new_whole(read->draft));
  if (read->acceptance > 0) ok = ok && json_set(o, "acceptance", json_new_number(read->acceptance));
  if (read->kv_type) ok = ok && json_set(o, "kv_type", json_new_text(read->kv_type));
  const char *named = i->options.platform ? i->options.platform : i->own_platform ? SITU_DEFAULT_PLATFORM : NULL;
  ok = ok && json_set(o, "platform", named ? json_new_text(named) : json_new_null());
  if (named && strcmp(named, THIS_HOST) == 0) ok = ok && json_set(o, "host", platform_to_json(i->platform));
  ok = ok && json_set(o, "platform_hash", json_new_text(instance_hash_text(hash, platform_hash(i->platform, true))));
  ok = ok && json_set(o, "costs", costs_json(i));
  ok = ok && json_set(o, "objective", json_new_text(situ_objective_name(p->objective)));
  ok = ok && json_set(o, "execution", json_new_text(situ_execution_name(p->execution)));
  ok = ok && json_set(o, "contention", json_new_text(situ_contention_name(p->contention)));
  ok = ok && json_set(o, "communication", json_new_text(situ_communication_name(p->communication)));
  ok = ok && json_set(o, "contiguous", json_new_truth(p->contiguous));
  ok = ok && json_set(o, "overlap", json_new_text(situ_overlap_name(p->overlap)));
  ok = ok && json_set(o, "async_copies", json_new_truth(p->async_copies));
  ok = ok && json_set(o, "schedule", json_new_text(situ_schedule_name(p->schedule)));
  ok = ok && json_set(o, "replicate", json_new_truth(p->replicate));
  ok = ok && json_set(o, "in_flight", json_new_whole(p->in_flight));
  if (p->n_copies > 1) ok = ok && json_set(o, "copies", json_new_whole(p->n_copies));
  if (p->max_calls < INT32_MAX) ok = ok && json_set(o, "max_calls", json_new_whole(p->max_calls));
  if (p->max_period_ns < SITU_NEVER_NS) ok = ok && json_set(o, "max_period_ns", json_new_whole(p->max_period_ns));
  if (p->max_latency_ns < SITU_NEVER_NS) ok = ok && json_set(o, "max_latency_ns", json_new_whole(p->max_latency_ns));
  if (i->options.max_ttft_ns > 0) ok = ok && json_set(o, "max_ttft_ns", json_new_whole(i->options.max_ttft_ns));
  if (i->options.min_speed > 0) ok = ok && json_set(o, "min_speed", json_new_number(i->options.min_speed));
  if (i->options.granularity >= SITU_GRANULARITY_LAYER)
    ok = ok && json_set(o, "granularity", json_new_text(situ_granularity_name(i->options.granularity)));
  if (i->options.rules_text) ok = ok && json_set(o, "rules", rules_json(i->options.rules_text));
  ok = ok && constraints_json(o, i);
  if (ok) return o;
  json_free(o);
  return NULL;
}

/* ---- reading ---- */

typedef enum field_form {
  FIELD_TEXT,
  FIELD_PATH, /* a text; a relative path may be relative to the plan file */
  FIELD_WORD, /* a text of a list; the field is an enum */
  FIELD_SMALL,
  FIELD_WHOLE,
  FIELD_SHARE, /* a number above 0, at most 1 */
  FIELD_REAL,  /* a number above 0, at most `most` */
  FIELD_TRUTH,
  FIELD_UNTRUTH, /* the field is the opposite */
  FIELD_OBJECT,
  FIELD_LIST
} field_form;

typedef enum field_need { FIELD_OPTIONAL, FIELD_NULLABLE, FIELD_REQUIRED } field_need; /* NULLABLE: there, or null */

/* A member, and the field of the options that it fills; offset 0: none, for members that are read apart. */
typedef struct field {
  const char *name;
  field_form form;
  field_need need;
  size_t offset;
  int64_t least, most;
  const char *(*word)(int); /* of FIELD_WORD: the words are word(least) .. word(most) */
  bool was_truth;           /* files of version 0.1 have a truth there of another meaning, which is read apart */
} field;

static const char *precision_word(int i) { return situ_precision_name((situ_precision)i); }
static const char *objective_word(int i) { return situ_objective_name((situ_objective)i); }
static const char *execution_word(int i) { return situ_execution_name((situ_execution)i); }
static const char *contention_word(int i) { return situ_contention_name((situ_contention)i); }
static const char *overlap_word(int i) { return situ_overlap_name((situ_overlap)i); }
static const char *schedule_word(int i) { return situ_schedule_name((situ_schedule)i); }
static const char *granularity_word(int i) { return situ_granularity_name((situ_granularity)i); }
static const char *communication_word(int i) { return situ_communication_name((situ_communication)i); }

#define MEMBER(NAME, FORM, ...) \
  { .name = NAME, .form = FORM, __VA_ARGS__ }
#define AT(FIELD) .offset = offsetof(instance_options, FIELD)
#define RANGE(MIN, MAX) .least = MIN, .most = MAX
#define REQUIRED .need = FIELD_REQUIRED
static const field fields[] = {
    MEMBER("model", FIELD_TEXT, REQUIRED),
    MEMBER("model_hash", FIELD_TEXT, REQUIRED),
    MEMBER("reader", FIELD_TEXT, AT(read.reader)),
    MEMBER("dims", FIELD_OBJECT),
    MEMBER("default_dim", FIELD_WHOLE, AT(read.default_dim), RANGE(1, INT64_MAX)),
    MEMBER("precision", FIELD_WORD, AT(read.precision), RANGE(SITU_PRECISION_F32, SITU_PRECISION_I8),
           .word = precision_word),
    MEMBER("training", FIELD_TRUTH, AT(read.training)),
    MEMBER("prompt", FIELD_WHOLE, AT(read.prompt), RANGE(1, INT64_MAX)),
    MEMBER("context", FIELD_WHOLE, AT(read.context), RANGE(1, INT64_MAX)),
    MEMBER("batch", FIELD_WHOLE, AT(read.batch), RANGE(1, INT64_MAX)),
    MEMBER("generate", FIELD_WHOLE, AT(read.generate), RANGE(1, INT64_MAX)),
    MEMBER("draft", FIELD_WHOLE, AT(read.draft), RANGE(1, INT64_MAX)),
    MEMBER("acceptance", FIELD_SHARE, AT(read.acceptance)),
    MEMBER("kv_type", FIELD_TEXT, AT(read.kv_type)),
    MEMBER("platform", FIELD_PATH, AT(platform), .need = FIELD_NULLABLE),
    MEMBER("host", FIELD_OBJECT),
    MEMBER("platform_hash", FIELD_TEXT, REQUIRED),
    MEMBER("costs", FIELD_OBJECT, REQUIRED),
    MEMBER("objective", FIELD_WORD, AT(problem.objective), RANGE(SITU_OBJECTIVE_LATENCY, SITU_OBJECTIVE_THROUGHPUT),
           REQUIRED, .word = objective_word),
    MEMBER("execution", FIELD_WORD, AT(problem.execution), RANGE(SITU_EXECUTION_STREAM, SITU_EXECUTION_PIPELINE),
           REQUIRED, .word = execution_word),
    MEMBER("contention", FIELD_WORD, AT(problem.contention), RANGE(SITU_CONTENTION_LINK, SITU_CONTENTION_NONE),
           .word = contention_word),
    MEMBER("communication", FIELD_WORD, AT(problem.communication),
           RANGE(SITU_COMMUNICATION_HOST_STAGED, SITU_COMMUNICATION_LINK), .word = communication_word),
    MEMBER("contiguous", FIELD_UNTRUTH, AT(problem.free)),
    MEMBER("overlap", FIELD_WORD, AT(problem.overlap), RANGE(SITU_OVERLAP_FULL, SITU_OVERLAP_NONE),
           .word = overlap_word, .was_truth = true),
    MEMBER("async_copies", FIELD_TRUTH, AT(problem.async_copies)),
    MEMBER("schedule", FIELD_WORD, AT(problem.schedule), RANGE(SITU_SCHEDULE_1F1B, SITU_SCHEDULE_GPIPE),
           .word = schedule_word),
    MEMBER("replicate", FIELD_TRUTH, AT(problem.replicate)),
    MEMBER("in_flight", FIELD_SMALL, AT(problem.in_flight), RANGE(1, INT32_MAX)),
    MEMBER("copies", FIELD_SMALL, AT(problem.copies), RANGE(1, INT32_MAX)),
    MEMBER("max_calls", FIELD_SMALL, AT(problem.max_calls), RANGE(1, INT32_MAX - 1)),
    MEMBER("max_period_ns", FIELD_WHOLE, AT(problem.max_period_ns), RANGE(1, SITU_NEVER_NS - 1)),
    MEMBER("max_latency_ns", FIELD_WHOLE, AT(problem.max_latency_ns), RANGE(1, SITU_NEVER_NS - 1)),
    MEMBER("max_ttft_ns", FIELD_WHOLE, AT(max_ttft_ns), RANGE(1, SITU_NEVER_NS - 1)),
    MEMBER("min_speed", FIELD_REAL, AT(min_speed), RANGE(0, INT64_C(1000000000000000000))),
    MEMBER("granularity", FIELD_WORD, AT(granularity), RANGE(SITU_GRANULARITY_FUSED, SITU_GRANULARITY_BLOCK),
           .word = granularity_word),
    MEMBER("pins", FIELD_OBJECT),
    MEMBER("unused", FIELD_LIST),
    MEMBER("rules", FIELD_LIST),
    {0}};
static const field cost_fields[] = {MEMBER("source", FIELD_TEXT),
                                    MEMBER("model", FIELD_TEXT, AT(cost.model)),
                                    MEMBER("efficiency", FIELD_SHARE, AT(cost.efficiency)),
                                    MEMBER("engine", FIELD_TEXT, AT(cost.engine)),
                                    MEMBER("fusion", FIELD_TEXT, AT(cost.fusion)),
                                    MEMBER("table", FIELD_PATH, AT(cost.table_path)),
                                    MEMBER("table_hash", FIELD_TEXT), /* files of version 0.1 have none */
                                    {0}};

typedef struct form {
  json_kind kind;
  const char *words;
  size_t bytes; /* of the field */
} form;
static const form forms[] = {[FIELD_TEXT] = {JSON_TEXT, "a text", sizeof(char *)},
                             [FIELD_PATH] = {JSON_TEXT, "a text", sizeof(char *)},
                             [FIELD_WORD] = {JSON_TEXT, "", sizeof(int)},
                             [FIELD_SMALL] = {JSON_WHOLE, "", sizeof(int32_t)},
                             [FIELD_WHOLE] = {JSON_WHOLE, "", sizeof(int64_t)},
                             [FIELD_SHARE] = {JSON_NUMBER, "a number above 0, at most 1", sizeof(double)},
                             [FIELD_REAL] = {JSON_NUMBER, "a number above 0", sizeof(double)},
                             [FIELD_TRUTH] = {JSON_TRUTH, "true or false", sizeof(bool)},
                             [FIELD_UNTRUTH] = {JSON_TRUTH, "true or false", sizeof(bool)},
                             [FIELD_OBJECT] = {JSON_OBJECT_KIND, "an object", 0},
                             [FIELD_LIST] = {JSON_ARRAY_KIND, "a list", 0}};

/* The position of a member, for messages: "instance" or "instance.costs" in a file. */
typedef struct place {
  const char *group, *path;
  arena *arena;
} place;

static situ_status bad(const place *at, const char *name, const char *expected, situ_error *error) {
  return fail_with(error, SITU_STATUS_BAD_INPUT, at->path, "%s.%.60s: expected %s", at->group, name, expected);
}

static situ_status bad_field(const place *at, const field *f, situ_error *error) {
  char expected[128];
  snprintf(expected, sizeof expected, "%s", forms[f->form].words);
  if (f->form == FIELD_SMALL || f->form == FIELD_WHOLE)
    snprintf(expected, sizeof expected, "a whole number from %lld to %lld", (long long)f->least, (long long)f->most);
  if (f->form == FIELD_WORD) {
    size_t n = 0;
    for (int64_t i = f->least; i <= f->most; i++)
      n += (size_t)snprintf(expected + n, sizeof expected - n, "%s%s", i == f->least ? "" : " or ", f->word((int)i));
  }
  if (f->need == FIELD_NULLABLE) strcat(expected, " or null");
  return bad(at, f->name, expected, error);
}

/* The path as it is when that exists from here, else from the folder of the plan file. */
static const char *nearby(arena *a, const char *path, const char *plan_path) {
  if (path[0] == '/' || strchr(path, ':') || file_exists(path)) return path;
  const char *folder = file_folder(a, plan_path);
  size_t n = folder ? strlen(folder) + strlen(path) + 1 : 0;
  char *joined = n ? arena_alloc(a, (int64_t)n, 1) : NULL;
  if (!joined) return path;
  snprintf(joined, n, "%s%s", folder, path);
  return file_exists(joined) ? joined : path;
}

/* The value of a member in the form of its field. */
typedef union value {
  const char *text;
  int word;
  int32_t small;
  int64_t whole;
  double share;
  bool truth;
} value;

/* False where the member is not as it should be. */
static bool take_value(value *out, const field *f, const json_value *v, const place *at) {
  json_kind kind = json_kind_of(v);
  if (kind != forms[f->form].kind && !((f->form == FIELD_SHARE || f->form == FIELD_REAL) && kind == JSON_WHOLE))
    return false;
  switch (f->form) {
    case FIELD_TEXT: out->text = json_text(v, ""); return true;
    case FIELD_PATH: out->text = nearby(at->arena, json_text(v, ""), at->path); return true;
    case FIELD_WORD:
      for (out->word = (int)f->least; out->word <= f->most; out->word++)
        if (strcmp(json_text(v, ""), f->word(out->word)) == 0) return true;
      return false;
    case FIELD_SMALL: out->small = (int32_t)json_whole(v, 0); break;
    case FIELD_WHOLE: out->whole = json_whole(v, 0); break;
    case FIELD_SHARE: out->share = json_number(v, 0); return out->share > 0 && out->share <= 1;
    case FIELD_REAL: out->share = json_number(v, 0); return out->share > 0 && out->share <= (double)f->most;
    case FIELD_TRUTH: out->truth = json_truth(v, false); return true;
    case FIELD_UNTRUTH: out->truth = !json_truth(v, false); return true;
    case FIELD_OBJECT:
    case FIELD_LIST: return true;
  }
  return json_whole(v, f->least - 1) >= f->least && json_whole(v, 0) <= f->most;
}

/* Reads the members of one object; unknown members are rejected, since they may be constraints. */
static situ_status read_fields(instance_options *o, const field *rows, const json_value *object, const place *at,
                               situ_error *error) {
  json_member m = {0};
  while (json_next(object, &m)) {
    const field *f = rows;
    while (f->name && strcmp(f->name, m.key) != 0) f++;
    if (!f->name) return bad(at, m.key, "no such member; is the file from a later version?", error);
  }
  for (const field *f = rows; f->name; f++) {
    const json_value *v = json_get(object, f->name);
    value read = {0};
    if (json_kind_of(v) == JSON_NULL_KIND && f->need == FIELD_NULLABLE) continue;
    if (!v && f->need == FIELD_OPTIONAL) continue;
    if (f->was_truth && json_kind_of(v) == JSON_TRUTH) continue;
    if (!v || !take_value(&read, f, v, at)) return bad_field(at, f, error);
    if (f->offset > 0) memcpy((char *)o + f->offset, &read, forms[f->form].bytes);
  }
  return SITU_STATUS_OK;
}

static situ_status read_dims(situ_read_options *read, const json_value *given, const place *at, situ_error *error) {
  situ_dim *dims = ARENA_NEW(at->arena, situ_dim, (int64_t)json_size(given) + 1);
  if (!dims) return fail_no_memory(error);
  json_member m = {0};
  while (json_next(given, &m)) {
    if (json_kind_of(m.value) != JSON_WHOLE || json_whole(m.value, -1) < 0)
      return bad(at, m.key, "a whole number of at least 0", error);
    dims[read->n_dims++] = (situ_dim){m.key, json_whole(m.value, 0)};
  }
  read->dims = dims;
  return SITU_STATUS_OK;
}

static situ_status read_unused(instance_options *o, const json_value *list, const place *at, situ_error *error) {
  size_t n = json_size(list);
  if (n > SITU_MAX_DEVICES) return bad(at, "unused", "no more devices than a platform can have", error);
  const char **names = ARENA_NEW(at->arena, const char *, (int64_t)n + 1);
  if (!names) return fail_no_memory(error);
  for (size_t i = 0; i < n; i++) {
    names[i] = json_text(json_at(list, i), NULL);
    if (!names[i]) return bad(at, "unused", "names of devices", error);
  }
  o->unused = names;
  o->n_unused = (int32_t)n;
  return SITU_STATUS_OK;
}

/* A member as text, or NULL where it is not there. */
static situ_status read_text_of(const char **out, const json_value *member, arena *a, situ_error *error) {
  if (!member) return SITU_STATUS_OK;
  char *text = json_print(member, 0);
  *out = arena_string(a, text);
  free(text);
  return *out ? SITU_STATUS_OK : fail_no_memory(error);
}

situ_status instance_options_from_json(instance_options *o, const json_value *member, const char *path, arena *a,
                                       situ_error *error) {
  place at = {"instance", path, a};
  *o = (instance_options){0};
  if (json_kind_of(member) != JSON_OBJECT_KIND)
    return fail_with(error, SITU_STATUS_BAD_INPUT, path,
                     "is not a situ plan: expected an object \"instance\"; `situ place MODEL -o FILE` writes a plan");
  TRY(read_fields(o, fields, member, &at, error));
  o->model = nearby(a, json_text(json_get(member, "model"), ""), path);
  const json_value *before = json_get(member, "overlap"); /* version 0.1: what async_copies is now */
  if (json_kind_of(before) == JSON_TRUTH) o->problem.async_copies = json_truth(before, false);
  TRY(read_unused(o, json_get(member, "unused"), &at, error));
  TRY(read_text_of(&o->rules_text, json_get(member, "rules"), a, error));
  TRY(read_text_of(&o->host_text, json_get(member, "host"), a, error));
  at.group = "instance.dims";
  TRY(read_dims(&o->read, json_get(member, "dims"), &at, error));
  at.group = "instance.costs";
  TRY(read_fields(o, cost_fields, json_get(member, "costs"), &at, error));
  if (!o->cost.fusion) o->cost.fusion = "none"; /* so it is where nothing says otherwise, as in files of version 0.1 */
  return SITU_STATUS_OK;
}

void instance_options_fill(instance_options *o, const instance_options *from) {
  static const field *const tables[] = {fields, cost_fields};
  static const char nothing[sizeof(value)];
  bool own_problem = o->problem.objective || o->problem.execution;
  if (!o->platform) o->host_text = from->host_text;
  for (int k = 0; k < 2; k++)
    for (const field *f = tables[k]; f->name; f++) {
      size_t bytes = forms[f->form].bytes;
      bool of_problem = f->offset - offsetof(instance_options, problem) < sizeof o->problem ||
                        f->offset == offsetof(instance_options, max_ttft_ns) ||
                        f->offset == offsetof(instance_options, min_speed);
      if (f->offset == 0 || (of_problem && own_problem)) continue;
      if (memcmp((char *)o + f->offset, nothing, bytes) == 0)
        memcpy((char *)o + f->offset, (const char *)from + f->offset, bytes);
    }
  if (!o->model) o->model = from->model;
  if (o->read.n_dims == 0) {
    o->read.dims = from->read.dims;
    o->read.n_dims = from->read.n_dims;
  }
  if (o->n_unused == 0 && !o->problem.unused) {
    o->unused = from->unused;
    o->n_unused = from->n_unused;
  }
  if (o->n_rules == 0 && !o->rules_text) o->rules_text = from->rules_text;
}
