/* Several cost tables as one: a profile for each of unlike devices. docs/formats/costs.md */
#include <stdio.h>
#include <string.h>

#include "base/checked.h"
#include "base/fail.h"
#include "base/file.h"
#include "cost/cost_models.h"

enum { PATH_BYTES = 4096 };

typedef struct unit {
  const char *name;
  double ns;
} unit;
static const unit units[] = {{"ns", 1.0}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};

double cost_table_unit_ns(const json_value *root) {
  const char *name = json_text(json_get(root, "unit"), "");
  for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
    if (strcmp(units[i].name, name) == 0) return units[i].ns;
  return 0.0;
}

typedef struct joining {
  json_value *root, *operators, *classes, *links, *parts, *measured, *workspace;
  char source[512];
  const char *path;
  double unit_ns;
  situ_error *error;
} joining;

static situ_status bad(const joining *j, const char *name, const char *what) {
  return fail_with(j->error, SITU_STATUS_BAD_INPUT, j->path, "%.100s: %s", name, what);
}

/* A time in whole nanoseconds, or those of the kinds of step; what is no number stays, for the reader of the whole to
 * refuse. */
static json_value *in_ns(const joining *j, const json_value *time) {
  json_kind kind = json_kind_of(time);
  if (kind == JSON_OBJECT_KIND) {
    json_value *steps = json_new_object();
    bool ok = steps;
    for (json_member m = {0}; ok && json_next(time, &m);)
      ok = json_set(steps, m.key, json_kind_of(m.value) == JSON_OBJECT_KIND ? json_new_text("") : in_ns(j, m.value));
    return json_if(ok, steps);
  }
  if (kind == JSON_INT && j->unit_ns == 1) return json_new_int(json_int(time, 0));
  bool number = kind == JSON_INT || kind == JSON_NUMBER;
  double ns = json_number(time, 0) * j->unit_ns;
  if (number && ns >= 0 && ns <= 0x1p54) return json_new_int(sat_round(ns));
  return number ? json_new_int(-1) : kind == JSON_NULL_KIND ? json_new_null() : json_new_text("");
}

/* Adds the times of an operator. `head` is false for the others of a kernel, whose time their head has. */
static situ_status add_times(joining *j, const char *op, const json_value *times, bool head) {
  json_value *into = (json_value *)(uintptr_t)json_get(j->operators, op);
  json_member m = {0};
  bool ok = true;
  if (json_kind_of(times) != JSON_OBJECT_KIND) return bad(j, op, "must be an object of class: time");
  if (!into) {
    ok = json_set(j->operators, op, json_new_object());
    into = (json_value *)(uintptr_t)json_get(j->operators, op);
  }
  while (ok && json_next(times, &m)) {
    if (json_get(into, m.key)) return bad(j, op, "has a time on a class for which an earlier table has one, too");
    bool never = json_kind_of(m.value) == JSON_NULL_KIND;
    ok = json_set(into, m.key, head || never ? in_ns(j, m.value) : json_new_int(0));
  }
  return ok ? SITU_STATUS_OK : fail_no_memory(j->error);
}

static situ_status add_operators(joining *j, const json_value *table) {
  const json_value *operators = json_get(table, "operators"), *groups = json_get(table, "groups");
  if (json_kind_of(operators) != JSON_OBJECT_KIND) return bad(j, "operators", "must be an object");
  for (json_member m = {0}; json_next(operators, &m);) TRY(add_times(j, m.key, m.value, true));
  for (size_t i = 0; i < json_size(groups); i++) {
    const json_value *names = json_get(json_at(groups, i), "operators"), *times = json_get(json_at(groups, i), "times");
    for (size_t k = 0; k < json_size(names); k++) TRY(add_times(j, json_text(json_at(names, k), ""), times, k == 0));
  }
  return SITU_STATUS_OK;
}

/* Copies entries of "links" or "parts", with their times in nanoseconds. */
static bool add_entries(const joining *j, json_value *into, const json_value *entries) {
  bool ok = true;
  for (size_t i = 0; i < json_size(entries) && ok; i++) {
    json_value *copy = json_new_object();
    for (json_member m = {0}; json_next(json_at(entries, i), &m) && ok;) {
      bool time = strcmp(m.key, "latency") == 0 || strcmp(m.key, "start") == 0 || strcmp(m.key, "dispatch") == 0;
      const char *text = json_text(m.value, NULL);
      double ns = json_number(m.value, -1) * (time ? j->unit_ns : 1);
      ok = json_set(copy, m.key, text ? json_new_text(text) : json_new_number(ns));
    }
    ok = json_push(into, copy) && ok;
  }
  return ok;
}

/* The scratch memory of an operator is the largest that a table has. */
static bool add_workspace(const joining *j, const json_value *bytes) {
  bool ok = true;
  for (json_member m = {0}; json_next(bytes, &m) && ok;) {
    int64_t known = json_int(json_get(j->workspace, m.key), -1), own = json_int(m.value, -1);
    if (own > known || known < 0) ok = json_set(j->workspace, m.key, json_new_int(own));
  }
  return ok;
}

static situ_status add_table(joining *j, const json_value *table) {
  const json_value *classes = json_get(table, "classes");
  const char *source = json_text(json_get(table, "source"), file_name(j->path));
  size_t n = strlen(j->source);
  bool ok = true;
  TRY(add_operators(j, table));
  for (size_t i = 0; i < json_size(classes) && ok; i++)
    ok = json_push(j->classes, json_new_text(json_text(json_at(classes, i), "")));
  ok = ok && add_entries(j, j->links, json_get(table, "links")) && add_entries(j, j->parts, json_get(table, "parts")) &&
       add_entries(j, j->measured, json_get(table, "measured"));
  ok = ok && add_workspace(j, json_get(table, "workspace_bytes"));
  snprintf(j->source + n, sizeof j->source - n, "%s%.200s", n ? "; " : "", source);
  return ok ? SITU_STATUS_OK : fail_no_memory(j->error);
}

static situ_status add_file(joining *j, const char *path) {
  json_value *table = NULL;
  size_t n = strlen(path);
  j->path = path;
  bool is_csv = n > 4 && strcmp(path + n - 4, ".csv") == 0;
  situ_status status = is_csv ? cost_csv_read(&table, path, j->error) : json_read(&table, path, j->error);
  if (status == SITU_STATUS_OK && (j->unit_ns = cost_table_unit_ns(table)) == 0)
    status = bad(j, "\"unit\"", "must be \"ns\", \"us\", \"ms\" or \"s\"");
  if (status == SITU_STATUS_OK) status = add_table(j, table);
  json_free(table);
  return status;
}

static situ_status add_files(joining *j, const char *paths) {
  char path[PATH_BYTES];
  for (const char *at = paths; *at; at += strspn(at, ",")) {
    size_t n = strcspn(at, ",");
    if (n >= sizeof path) return fail_with(j->error, SITU_STATUS_BAD_ARGUMENT, paths, "a path is too long");
    snprintf(path, sizeof path, "%.*s", (int)n, at);
    TRY(add_file(j, path));
    at += n;
  }
  return SITU_STATUS_OK;
}

bool cost_tables_are_several(const char *paths) { return strchr(paths, ',') && !file_exists(paths); }

situ_status cost_tables_join(json_value **root, const char *paths, situ_error *error) {
  joining j = {.root = json_new_object(),
               .operators = json_new_object(),
               .classes = json_new_array(),
               .links = json_new_array(),
               .parts = json_new_array(),
               .measured = json_new_array(),
               .workspace = json_new_object(),
               .error = error};
  bool ok = json_set(j.root, "operators", j.operators) && json_set(j.root, "classes", j.classes) &&
            json_set(j.root, "links", j.links) && json_set(j.root, "measured", j.measured) &&
            json_set(j.root, "workspace_bytes", j.workspace);
  situ_status status = ok ? add_files(&j, paths) : fail_no_memory(error);
  ok = json_set(j.root, "situ_costs", json_new_int(1)) && json_set(j.root, "unit", json_new_text("ns")) &&
       json_set(j.root, "source", json_new_text(j.source));
  if (json_size(j.parts) > 0)
    ok = json_set(j.root, "parts", j.parts) && ok;
  else
    json_free(j.parts);
  if (status == SITU_STATUS_OK && !ok) status = fail_no_memory(error);
  *root = j.root;
  if (status == SITU_STATUS_OK) return status;
  json_free(j.root);
  *root = NULL;
  return status;
}
