/* Cost tables: docs/formats/costs.md and costs.schema.json. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "base/contracts.h"
#include "base/fail.h"
#include "base/hash.h"
#include "base/json.h"
#include "cost/cost_models.h"
#include "graph/graph.h"
#include "platform/platform.h"

enum { FORMAT_VERSION = 1 };

typedef struct unit {
  const char *name;
  double ns;
} unit;
static const unit units[] = {{"ns", 1.0}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};

typedef struct table {
  const char *path;
  situ_costs *costs;
  const situ_graph *graph;
  const situ_platform *platform;
  double unit_ns;
} table;

/* BAD_INPUT in the file, at operator `op` unless it is NULL; `word` is the key that the text is about, or "". */
static situ_status bad(const table *t, situ_error *error, const char *op, const char *word, const char *text) {
  char where[256];
  snprintf(where, sizeof where, "%.160s%s%.70s", t->path, op ? ": operators: " : "", op ? op : "");
  return word[0] ? fail_with(error, SITU_STATUS_BAD_INPUT, where, "\"%.60s\" %s", word, text)
                 : fail_with(error, SITU_STATUS_BAD_INPUT, where, "%s", text);
}

static int32_t class_find(const situ_platform *p, const char *name) {
  for (int32_t k = 0; k < p->n_classes; k++)
    if (strcmp(p->class_name[k], name) == 0) return k;
  return -1;
}

/* Whether the file says, by its list "classes", that it has times of that class. */
static bool listed(const json_value *classes, const char *name) {
  for (size_t i = 0; i < json_size(classes); i++)
    if (strcmp(json_text(json_at(classes, i), ""), name) == 0) return true;
  return false;
}

static situ_status apply_operator(const table *t, const char *op, const json_value *times, const json_value *classes,
                                  situ_error *error) {
  int32_t v = situ_graph_find(t->graph, op);
  if (v < 0) return bad(t, error, op, "", "the model has no operator of this name");
  if (json_kind_of(times) != JSON_OBJECT_KIND) return bad(t, error, op, "", "must be an object of class: time");
  json_member member = {0};
  while (json_next(times, &member)) {
    int32_t k = class_find(t->platform, member.key);
    if (k < 0 && !listed(classes, member.key))
      return bad(t, error, op, member.key, "is not a class of the platform, and \"classes\" does not list it");
    double time = json_number(member.value, -1.0) * t->unit_ns;
    bool never = json_kind_of(member.value) == JSON_NULL_KIND;
    if (!never && !(isfinite(time) && time >= 0.0))
      return bad(t, error, op, member.key, "must be a time of at least 0, or null for \"cannot run\"");
    if (k >= 0) t->costs->time_ns[(int64_t)v * t->costs->n_classes + k] = never ? SITU_NEVER_NS : sat_round(time);
  }
  return SITU_STATUS_OK;
}

static bool known_key(const char *key) {
  static const char *const keys[] = {"situ_costs", "source", "unit", "classes", "operators"};
  for (int i = 0; i < 5; i++)
    if (strcmp(keys[i], key) == 0) return true;
  return false;
}

static situ_status check_top(table *t, const json_value *root, situ_error *error) {
  if (json_kind_of(root) != JSON_OBJECT_KIND) return bad(t, error, NULL, "", "must be an object");
  json_member member = {0};
  while (json_next(root, &member))
    if (!known_key(member.key))
      return bad(t, error, NULL, member.key, "is not a key of a cost table; see docs/formats/costs.md");
  if (json_whole(json_get(root, "situ_costs"), -1) != FORMAT_VERSION)
    return bad(t, error, NULL, "situ_costs", "must be 1, the version of the format");
  if (json_kind_of(json_get(root, "operators")) != JSON_OBJECT_KIND)
    return bad(t, error, NULL, "operators", "must be an object");
  const char *name = json_text(json_get(root, "unit"), "");
  for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
    if (strcmp(units[i].name, name) == 0) t->unit_ns = units[i].ns;
  if (t->unit_ns == 0.0) return bad(t, error, NULL, "unit", "must be \"ns\", \"us\", \"ms\" or \"s\"");
  return SITU_STATUS_OK;
}

static situ_status apply(table *t, const json_value *root, situ_error *error) {
  TRY(check_top(t, root, error));
  const json_value *operators = json_get(root, "operators");
  json_member member = {0};
  while (json_next(operators, &member))
    TRY(apply_operator(t, member.key, member.value, json_get(root, "classes"), error));

  const char *slash = strrchr(t->path, '/');
  char source[320];
  snprintf(source, sizeof source, "%.100s; %zu of %d operators by the table \"%.120s\"", t->costs->source,
           json_size(operators), (int)t->graph->n_operators,
           json_text(json_get(root, "source"), slash ? slash + 1 : t->path));
  t->costs->source = arena_string(t->costs->arena, source);
  return t->costs->source ? SITU_STATUS_OK : fail_no_memory(error);
}

situ_status costs_apply_table(situ_costs *costs, const situ_graph *graph, const situ_platform *platform,
                              const char *path, situ_error *error) {
  REQUIRE(path && costs->n_operators == graph->n_operators);
  json_value *root = NULL;
  TRY(json_read(&root, path, error));
  table t = {.path = path, .costs = costs, .graph = graph, .platform = platform};
  situ_status status = apply(&t, root, error);
  char *text = json_print(root, 0);
  if (text) costs->table_hash = hash_bytes(text, strlen(text), 0);
  if (!text && status == SITU_STATUS_OK) status = fail_no_memory(error);
  free(text);
  json_free(root);
  return status;
}
