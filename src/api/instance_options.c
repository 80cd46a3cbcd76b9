#include "api/instance_options.h"

#include <string.h>

#include "base/arguments.h"
#include "read/reader.h"

void *instance_options_part(instance_options *o, situ_option_part part) {
  switch (part) {
    case SITU_OPTION_READ: return &o->read;
    case SITU_OPTION_COST: return &o->cost;
    case SITU_OPTION_PROBLEM: return &o->problem;
    case SITU_OPTION_INSTANCE: return &o->call;
    case SITU_OPTION_SOLVE: return NULL;
  }
  return NULL;
}

static bool all_named(const char *const *list, int32_t n) {
  bool named = n == 0 || (n > 0 && list);
  for (int32_t k = 0; named && k < n; k++) named = list[k];
  return named;
}

situ_status instance_options_take(instance_options *own, const situ_instance_options *given, situ_error *error) {
  *own = (instance_options){.rules_text = NULL};
  situ_instance_options *o = &own->call;
  TRY(GIVEN(error, given));
  TRY(TAKE(own->call, given, SITU_INSTANCE_OPTIONS_INIT, error));
  if (o->max_ttft_ns < 0 || !(o->min_speed >= 0 && o->min_speed <= 1e18))
    return fail_with(error, SITU_STATUS_BAD_ARGUMENT, NULL, "the option %s has an invalid value",
                     o->max_ttft_ns < 0 ? "max_ttft_ns" : "min_speed");
  if ((unsigned)o->granularity > SITU_GRANULARITY_DEFAULT)
    return fail_with(error, SITU_STATUS_BAD_ARGUMENT, NULL, "the option granularity has an invalid value");
  TRY(TAKE(own->read, o->read, SITU_READ_OPTIONS_INIT, error));
  TRY(TAKE(own->cost, o->cost, SITU_COST_OPTIONS_INIT, error));
  TRY(TAKE(own->problem, o->problem, SITU_PROBLEM_OPTIONS_INIT, error));
  o->read = NULL;
  o->cost = NULL;
  o->problem = NULL;
  if (!all_named(o->unused, o->n_unused))
    return fail_with(error, SITU_STATUS_BAD_ARGUMENT, NULL, "n_unused is not the number of names in unused");
  if (!all_named(o->rules, o->n_rules))
    return fail_with(error, SITU_STATUS_BAD_ARGUMENT, NULL, "n_rules is not the number of texts in rules");
  if (!all_named(o->writers, o->n_writers))
    return fail_with(error, SITU_STATUS_BAD_ARGUMENT, NULL, "n_writers is not the number of names in writers");
  TRY(read_check_dims(&own->read, error));
  if (!own->read.log) own->read.log = o->log, own->read.log_context = o->log_context;
  if (!own->cost.log) own->cost.log = o->log, own->cost.log_context = o->log_context;
  return SITU_STATUS_OK;
}

static bool keep(arena *a, const char **text) {
  if (!*text) return true;
  *text = arena_string(a, *text);
  return *text != NULL;
}

static bool keep_dims(arena *a, situ_read_options *read) {
  if (read->n_dims <= 0) return true;
  situ_dim *dims = ARENA_COPY(a, read->dims, situ_dim, read->n_dims);
  read->dims = dims;
  for (int32_t i = 0; dims && i < read->n_dims; i++)
    if (!keep(a, &dims[i].name)) return false;
  return dims != NULL;
}

static bool keep_names(arena *a, const char *const **list, int32_t n) {
  if (n <= 0) return true;
  const char **names = ARENA_COPY(a, *list, const char *, n);
  *list = names;
  for (int32_t i = 0; names && i < n; i++)
    if (!keep(a, &names[i])) return false;
  return names != NULL;
}

static bool keep_assumed(arena *a, situ_read_options *read) {
  int32_t n = 0;
  while (read->assumed && read->assumed[n]) n++;
  const char **names = ARENA_ZERO(a, const char *, (int64_t)n + 1);
  for (int32_t i = 0; names && i < n; i++)
    if (!(names[i] = arena_string(a, read->assumed[i]))) return false;
  read->assumed = n > 0 ? names : NULL;
  return names != NULL;
}

bool instance_options_keep(instance_options *out, const instance_options *from, arena *a) {
  *out = *from;
  out->call.size = sizeof out->call;
  out->read.size = sizeof out->read;
  out->cost.size = sizeof out->cost;
  out->problem.size = sizeof out->problem;
  bool ok = keep(a, &out->call.model) && keep(a, &out->rules_text) && keep(a, &out->host_text);
  for (int32_t k = 0; ok && k < option_n_rows; k++) {
    const option *row = &option_rows[k];
    void *part = instance_options_part(out, row->part);
    if (!part || (row->kind != SITU_OPTION_TEXT && row->kind != SITU_OPTION_PATH)) continue;
    const char *text;
    memcpy(&text, option_value(row, part), sizeof text);
    ok = keep(a, &text);
    memcpy(option_field(row, part), &text, sizeof text);
  }
  return ok && keep_dims(a, &out->read) && keep_assumed(a, &out->read) &&
         keep_names(a, &out->call.unused, out->call.n_unused) && keep_names(a, &out->call.rules, out->call.n_rules) &&
         keep_names(a, &out->call.writers, out->call.n_writers);
}

/* Whether the option is a constraint, or a limit, which belongs to an objective. */
static bool is_of_problem(const option *row) {
  bool limit = row->kind == SITU_OPTION_MS || row->kind == SITU_OPTION_REAL; /* max_ttft, min_speed */
  return row->part == SITU_OPTION_PROBLEM || (row->part == SITU_OPTION_INSTANCE && limit);
}

void instance_options_fill(instance_options *o, const instance_options *from) {
  bool own_problem = o->problem.objective || o->problem.execution;
  instance_options said = *from;
  if (!o->call.platform) o->host_text = from->host_text;
  for (int32_t k = 0; k < option_n_rows; k++) {
    const option *row = &option_rows[k];
    void *to = instance_options_part(o, row->part);
    if (!to || !row->json || (own_problem && is_of_problem(row)) || option_is_given(row, to)) continue;
    memcpy(option_field(row, to), option_value(row, instance_options_part(&said, row->part)), option_bytes(row));
  }
  if (!o->call.model) o->call.model = from->call.model;
  if (o->read.n_dims == 0) {
    o->read.dims = from->read.dims;
    o->read.n_dims = from->read.n_dims;
    o->read.assumed = from->read.assumed;
  }
  if (o->call.n_unused == 0 && !o->problem.unused) {
    o->call.unused = from->call.unused;
    o->call.n_unused = from->call.n_unused;
  }
  if (o->call.n_rules == 0 && !o->rules_text) o->rules_text = from->rules_text;
}
