/* Cost tables: docs/formats/costs.md and costs.schema.json. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "base/contracts.h"
#include "base/fail.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/text.h"
#include "cost/cost_models.h"
#include "graph/graph.h"
#include "platform/platform.h"
#include "platform/platform_sources.h"

enum { FORMAT_VERSION = 1, CLASSES_NAMED = 3 };
/* The maxima of a problem (docs/model.md, "Limits"); beyond int64_t a time would read as never. */
static const double MAX_NS = 0x1p54, MIN_RATE = 1, MAX_RATE = 1e18;
static const int64_t MAX_BYTES = (int64_t)1 << 56;

typedef struct table {
  const char *path;
  situ_costs *costs;
  const situ_graph *graph;
  const situ_platform *platform;
  const json_value *classes;
  int32_t *given;
  bool *timed; /* of each class: the table has a time on it */
} table;

/* BAD_INPUT in the file, at operator `op` unless that is NULL. `word` is the key in question, or "". */
static situ_status bad(const table *t, situ_error *error, const char *op, const char *word, const char *text) {
  char where[256];
  snprintf(where, sizeof where, "%.160s%s%.70s", t->path, op ? ": operators: " : "", op ? op : "");
  return word[0] ? fail_with(error, SITU_STATUS_BAD_INPUT, where, "\"%.60s\" %s", word, text)
                 : fail_with(error, SITU_STATUS_BAD_INPUT, where, "%s", text);
}

/* Whether times of the class `name` apply to class k: it has that name, or no other class has it and k is what rules
 * split off (NAME:DEVICE), or the CPU of this machine for the name "cpu", under which it is profiled. */
static bool is_of_class(const situ_platform *p, int32_t k, const char *name) {
  size_t n = strlen(name);
  bool split = strncmp(p->class_name[k], name, n) == 0 && p->class_name[k][n] == ':';
  split = split || (strcmp(name, "cpu") == 0 && this_host_is_cpu(p, k));
  for (int32_t i = 0; split && i < p->n_classes; i++) split = strcmp(p->class_name[i], name) != 0;
  return split || strcmp(p->class_name[k], name) == 0;
}

/* Whether the file's list "classes" names this class. */
static bool listed(const json_value *classes, const char *name) {
  for (size_t i = 0; i < json_size(classes); i++)
    if (strcmp(json_text(json_at(classes, i), ""), name) == 0) return true;
  return false;
}

static const char *const PHASES[] = {"decode", "prefill"};

/* The time in a table's units, to *time_ns. False: it is none. */
static bool read_time(int64_t *time_ns, const json_value *value, double unit_ns) {
  if (json_kind_of(value) == JSON_NULL_KIND) return *time_ns = SITU_NEVER_NS, true;
  double time = json_number(value, -1.0) * unit_ns;
  bool whole = unit_ns == 1.0 && json_kind_of(value) == JSON_INT;
  if (!(time >= 0.0 && time <= MAX_NS)) return false;
  *time_ns = whole ? json_int(value, 0) : sat_round(time);
  return true;
}

/* Times of both kinds of step, or of one. */
static situ_status check_steps(const table *t, const char *op, const char *class_name, const json_value *times,
                               double unit_ns, situ_error *error) {
  int64_t time_ns;
  if (t->graph->step_tokens == 0)
    return bad(t, error, op, class_name, "has times of prefill and decode, but the model takes no such steps");
  bool ok = json_size(times) > 0;
  for (json_member m = {0}; ok && json_next(times, &m);)
    ok = (strcmp(m.key, PHASES[0]) == 0 || strcmp(m.key, PHASES[1]) == 0) && read_time(&time_ns, m.value, unit_ns);
  return ok ? SITU_STATUS_OK
            : bad(t, error, op, class_name,
                  "must have \"prefill\" and \"decode\" with a time from 0 to 2^54 ns, or null");
}

/* Whether a time holds for both kinds of step: 0, or null. */
static bool is_of_both(const json_value *time) {
  json_kind kind = json_kind_of(time);
  return kind == JSON_NULL_KIND || (kind == JSON_INT && json_int(time, 1) == 0);
}

/* Whether each of the times by class is by step, or holds for both. */
static bool are_by_step(const json_value *times) {
  for (json_member time = {0}; json_next(times, &time);)
    if (json_kind_of(time.value) != JSON_OBJECT_KIND && !is_of_both(time.value)) return false;
  return true;
}

bool cost_table_is_by_step(const json_value *root) {
  const json_value *groups = json_get(root, "groups");
  for (json_member op = {0}; json_next(json_get(root, "operators"), &op);)
    if (!are_by_step(op.value)) return false;
  for (size_t i = 0; i < json_size(groups); i++)
    if (!are_by_step(json_get(json_at(groups, i), "times"))) return false;
  return true;
}

/* What cannot run in a step of one kind runs in none: a plan is for both. */
static void apply_step(situ_costs *step, int32_t head, const situ_platform *p, const json_value *times, double unit_ns,
                       bool prefill) {
  for (json_member of = {0}; json_next(times, &of);) {
    bool by_step = json_kind_of(of.value) == JSON_OBJECT_KIND;
    const json_value *own = by_step ? json_get(of.value, PHASES[prefill]) : is_of_both(of.value) ? of.value : NULL;
    const json_value *other = by_step ? json_get(of.value, PHASES[!prefill]) : NULL;
    int64_t time_ns = SITU_NEVER_NS;
    bool never = other && json_kind_of(other) == JSON_NULL_KIND;
    if (!never && (!own || !read_time(&time_ns, own, unit_ns))) continue;
    for (int32_t k = 0; k < p->n_classes; k++)
      if (is_of_class(p, k, of.key)) step->time_ns[(int64_t)head * step->n_classes + k] = time_ns;
  }
}

void cost_table_apply_step(situ_costs *step, const situ_graph *graph, const situ_platform *platform,
                           const int32_t *group, const json_value *root, bool prefill) {
  const json_value *groups = json_get(root, "groups");
  double unit_ns = cost_table_unit_ns(root);
  for (json_member op = {0}; json_next(json_get(root, "operators"), &op);) {
    int32_t v = situ_graph_find(graph, op.key);
    if (v >= 0) apply_step(step, group ? group[v] : v, platform, op.value, unit_ns, prefill);
  }
  for (size_t i = 0; i < json_size(groups); i++) {
    const json_value *kernel = json_at(groups, i);
    int32_t v = situ_graph_find(graph, json_text(json_at(json_get(kernel, "operators"), 0), ""));
    if (v >= 0) apply_step(step, group ? group[v] : v, platform, json_get(kernel, "times"), unit_ns, prefill);
  }
}

/* Applies times by class for operator or kernel `op`, whose time is stored with operator v. */
static situ_status apply_times(const table *t, const char *op, int32_t v, const json_value *times, double unit_ns,
                               situ_error *error) {
  if (json_kind_of(times) != JSON_OBJECT_KIND) return bad(t, error, op, "", "must be an object of class: time");
  json_member member = {0};
  while (json_next(times, &member)) {
    bool known = false;
    for (int32_t k = 0; k < t->platform->n_classes && !known; k++) known = is_of_class(t->platform, k, member.key);
    if (!known && !listed(t->classes, member.key))
      return bad(t, error, op, member.key, "is not a class of the platform, and \"classes\" does not list it");
    bool by_step = json_kind_of(member.value) == JSON_OBJECT_KIND;
    int64_t time_ns = 0;
    if (by_step)
      TRY(check_steps(t, op, member.key, member.value, unit_ns, error));
    else if (!read_time(&time_ns, member.value, unit_ns))
      return bad(t, error, op, member.key, "must be a time from 0 to 2^54 ns, or null for \"cannot run\"");
    for (int32_t k = 0; k < t->platform->n_classes; k++) {
      if (!is_of_class(t->platform, k, member.key)) continue;
      if (!by_step) t->costs->time_ns[(int64_t)v * t->costs->n_classes + k] = time_ns;
      t->costs->measured[(int64_t)v * t->costs->n_classes + k] = true;
      t->timed[k] = true;
    }
  }
  return SITU_STATUS_OK;
}

static bool known_key(const char *key) {
  static const char *const keys[] = {"situ_costs", "source", "unit",  "classes",         "operators",
                                     "groups",     "links",  "parts", "workspace_bytes", "measured"};
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
    if (strcmp(keys[i], key) == 0) return true;
  return false;
}

static situ_status check_top(const table *t, const json_value *root, situ_error *error) {
  if (json_kind_of(root) != JSON_OBJECT_KIND) return bad(t, error, NULL, "", "must be an object");
  json_member member = {0};
  while (json_next(root, &member))
    if (!known_key(member.key))
      return bad(t, error, NULL, member.key, "is not a key of a cost table; see docs/formats/costs.md");
  if (json_int(json_get(root, "situ_costs"), -1) != FORMAT_VERSION)
    return bad(t, error, NULL, "situ_costs", "must be 1, the version of the format");
  if (json_kind_of(json_get(root, "operators")) != JSON_OBJECT_KIND)
    return bad(t, error, NULL, "operators", "must be an object");
  const json_value *groups = json_get(root, "groups"), *workspace = json_get(root, "workspace_bytes");
  if (workspace && json_kind_of(workspace) != JSON_OBJECT_KIND)
    return bad(t, error, NULL, "workspace_bytes", "must be an object");
  if (groups && json_kind_of(groups) != JSON_ARRAY_KIND) return bad(t, error, NULL, "groups", "must be a list");
  if (cost_table_unit_ns(root) == 0.0) return bad(t, error, NULL, "unit", "must be \"ns\", \"us\", \"ms\" or \"s\"");
  return SITU_STATUS_OK;
}

/* Notes that the operator belongs to kernel `to`, or to one of its own (-1). */
static situ_status give(const table *t, const char *op, int32_t to, int32_t *out, situ_error *error) {
  int32_t v = op ? situ_graph_find(t->graph, op) : -1;
  if (v < 0) return bad(t, error, op ? op : "groups", "", "the model has no operator of this name");
  if (t->given[v] >= 0) return bad(t, error, op, "", "is in the table twice");
  t->given[v] = to < 0 ? v : to;
  *out = v;
  return SITU_STATUS_OK;
}

static situ_status read_given(const table *t, const json_value *root, situ_error *error) {
  int32_t v, first;
  TRY(check_top(t, root, error));
  json_member member = {0};
  while (json_next(json_get(root, "operators"), &member)) TRY(give(t, member.key, -1, &v, error));
  const json_value *groups = json_get(root, "groups");
  for (size_t i = 0; i < json_size(groups); i++) {
    const json_value *group = json_at(groups, i), *names = json_get(group, "operators");
    if (json_kind_of(names) != JSON_ARRAY_KIND || json_size(names) == 0 || !json_get(group, "times"))
      return bad(t, error, NULL, "groups", "must hold objects with \"operators\", a list of names, and \"times\"");
    for (size_t k = 0; k < json_size(names); k++) {
      TRY(give(t, json_text(json_at(names, k), NULL), k == 0 ? -1 : first, &v, error));
      if (k == 0) first = v;
    }
  }
  return SITU_STATUS_OK;
}

situ_status cost_table_read(json_value **root, int32_t *given, const situ_graph *graph, const char *path,
                            situ_error *error) {
  *root = NULL;
  size_t n = strlen(path);
  bool is_csv = n > 4 && strcmp(path + n - 4, ".csv") == 0;
  if (cost_tables_are_several(path))
    TRY(cost_tables_join(root, path, error));
  else
    TRY(is_csv ? cost_csv_read(root, path, error) : json_read(root, path, error));
  table t = {.path = path, .graph = graph, .given = given};
  return read_given(&t, *root, error);
}

/* One entry of "links": the time of a hand-over from a device of one class to one of another. */
static situ_status apply_link(const table *t, const json_value *entry, double unit_ns, situ_link *links,
                              situ_error *error) {
  const char *ends[] = {json_text(json_get(entry, "from"), ""), json_text(json_get(entry, "to"), "")};
  double latency_ns = json_number(json_get(entry, "latency"), -1.0) * unit_ns;
  double rate = json_number(json_get(entry, "bytes_per_s"), -1.0);
  for (int i = 0; i < 2; i++) {
    bool known = false;
    for (int32_t k = 0; k < t->platform->n_classes && !known; k++) known = is_of_class(t->platform, k, ends[i]);
    if (!known && !listed(t->classes, ends[i]))
      return bad(t, error, "links", ends[i], "is not a class of the platform, and \"classes\" does not list it");
  }
  if (!(latency_ns >= 0.0 && latency_ns <= MAX_NS && rate >= MIN_RATE && rate <= MAX_RATE))
    return bad(t, error, "links", "", "must have a \"latency\" from 0 to 2^54 ns and \"bytes_per_s\" from 1 to 1e18");
  for (int32_t l = 0; l < t->platform->n_links; l++) {
    if (!is_of_class(t->platform, t->platform->class_of[links[l].from_device], ends[0])) continue;
    if (!is_of_class(t->platform, t->platform->class_of[links[l].to_device], ends[1])) continue;
    const situ_device *devices = t->platform->devices; /* hand-overs are measured on one machine */
    if (devices[links[l].from_device].server != devices[links[l].to_device].server) continue;
    links[l].latency_ns = sat_round(latency_ns);
    links[l].bytes_per_s = rate;
  }
  return SITU_STATUS_OK;
}

/* One entry of "parts": the overhead of a part on a device of that class. */
static situ_status apply_part(const table *t, const json_value *entry, double unit_ns, part_cost *part,
                              situ_error *error) {
  const char *name = json_text(json_get(entry, "class"), "");
  const json_value *bytes_per_s = json_get(entry, "bytes_per_s");
  double start_ns = json_number(json_get(entry, "start"), -1.0) * unit_ns, rate = json_number(bytes_per_s, 0);
  const json_value *dispatch = json_get(entry, "dispatch");
  double dispatch_ns = dispatch ? json_number(dispatch, -1.0) * unit_ns : 0.0;
  bool known = listed(t->classes, name);
  if (!(start_ns >= 0.0 && start_ns <= MAX_NS && rate <= MAX_RATE && (rate >= MIN_RATE || !bytes_per_s)))
    return bad(t, error, "parts", "",
               "must have a \"start\" from 0 to 2^54 ns and, if any, \"bytes_per_s\" from 1 to 1e18");
  if (!(dispatch_ns >= 0.0 && dispatch_ns <= MAX_NS))
    return bad(t, error, "parts", "", "must have, if any, a \"dispatch\" from 0 to 2^54 ns");
  for (int32_t k = 0; k < t->platform->n_classes; k++) {
    if (!is_of_class(t->platform, k, name)) continue;
    part[k] = (part_cost){sat_round(start_ns), rate, sat_round(dispatch_ns)};
    known = true;
  }
  return known ? SITU_STATUS_OK
               : bad(t, error, "parts", name, "is not a class of the platform, and \"classes\" does not list it");
}

/* A tensor that is handed over ends a part at one end and begins one at the other. */
static void add_parts(situ_link *link, const part_cost *from, const part_cost *to) {
  double per_byte = 1 / link->bytes_per_s;
  if (from->bytes_per_s > 0) per_byte += 0.5 / from->bytes_per_s;
  if (to->bytes_per_s > 0) per_byte += 0.5 / to->bytes_per_s;
  link->latency_ns = sat_add(link->latency_ns, to->start_ns);
  bool adds = from->bytes_per_s > 0 || to->bytes_per_s > 0; /* else the rate stays, to the last bit */
  if (adds) link->bytes_per_s = 1 / per_byte;
}

situ_status cost_table_links(situ_link *links, part_cost *part, const situ_platform *platform, const char *path,
                             const json_value *root, situ_error *error) {
  const json_value *list = json_get(root, "links"), *parts = json_get(root, "parts");
  table t = {.path = path, .platform = platform, .classes = json_get(root, "classes")};
  if (list && json_kind_of(list) != JSON_ARRAY_KIND) return bad(&t, error, NULL, "links", "must be a list");
  for (size_t i = 0; i < json_size(list); i++)
    TRY(apply_link(&t, json_at(list, i), cost_table_unit_ns(root), links, error));
  if (!parts) return SITU_STATUS_OK;
  if (json_kind_of(parts) != JSON_ARRAY_KIND) return bad(&t, error, NULL, "parts", "must be a list");
  for (size_t i = 0; i < json_size(parts); i++)
    TRY(apply_part(&t, json_at(parts, i), cost_table_unit_ns(root), part, error));
  for (int32_t l = 0; l < platform->n_links; l++)
    add_parts(&links[l], &part[platform->class_of[links[l].from_device]],
              &part[platform->class_of[links[l].to_device]]);
  return SITU_STATUS_OK;
}

/* Scratch memory of operators. A kernel needs the maximum over its members, stored with its head. */
static situ_status apply_workspace(const table *t, const json_value *sizes, situ_error *error) {
  situ_costs *c = t->costs;
  if (json_size(sizes) == 0) return SITU_STATUS_OK;
  int64_t *bytes = ARENA_COPY(c->arena, t->graph->workspace_bytes, int64_t, c->n_operators);
  bool *named = ARENA_ZERO(c->arena, bool, c->n_operators);
  if (!bytes || !named) return fail_no_memory(error);
  json_member member = {0};
  while (json_next(sizes, &member)) {
    int32_t v = situ_graph_find(t->graph, member.key);
    int64_t size = json_kind_of(member.value) == JSON_INT ? json_int(member.value, -1) : -1;
    if (v < 0) return bad(t, error, member.key, "", "the model has no operator of this name");
    if (size < 0 || size > MAX_BYTES)
      return bad(t, error, member.key, "workspace_bytes", "must be whole bytes, from 0 to 2^56 (64 PiB)");
    int32_t head = c->group[v];
    bytes[head] = named[head] ? max64(bytes[head], size) : size;
    named[head] = true;
  }
  c->workspace_bytes = bytes;
  return SITU_STATUS_OK;
}

/* Where the costs come from. Devices that the table says nothing of are named: a plan may rest on their estimates. */
static situ_status name_source(const table *t, size_t n_operators, const json_value *root, situ_error *error) {
  text_buffer source = {0};
  text_add(&source, "%.160s; %zu of %d operators by the table \"%.120s\"", t->costs->source, n_operators,
           (int)t->graph->n_operators, json_text(json_get(root, "source"), file_name(t->path)));
  int32_t n = 0, left = 0;
  for (int32_t k = 0; k < t->platform->n_classes; k++) left += !t->timed[k];
  for (int32_t k = 0; k < t->platform->n_classes && n_operators > 0 && n < CLASSES_NAMED; k++)
    if (!t->timed[k]) text_add(&source, "%s%.60s", n++ ? ", " : ", estimates for ", t->platform->class_name[k]);
  if (n > 0 && left > n) text_add(&source, " and %d more", (int)(left - n));
  char *text = text_take(&source);
  t->costs->source = text ? arena_string(t->costs->arena, text) : NULL;
  free(text);
  return t->costs->source ? SITU_STATUS_OK : fail_no_memory(error);
}

/* A table that says nothing of this platform is not left out in silence: one of its classes is called otherwise. */
static situ_status check_timed(const table *t, const json_value *root, situ_error *error) {
  text_buffer ours = {0}, theirs = {0};
  bool any = false;
  json_member op = {0}, time = {0};
  for (int32_t k = 0; k < t->platform->n_classes; k++) {
    any |= t->timed[k];
    if (k < CLASSES_NAMED) text_add(&ours, "%s\"%.60s\"", k ? ", " : "", t->platform->class_name[k]);
  }
  const json_value *groups = json_get(root, "groups");
  const json_value *times =
      json_next(json_get(root, "operators"), &op) ? op.value : json_get(json_at(groups, 0), "times");
  for (int k = 0; k < CLASSES_NAMED && json_next(times, &time); k++)
    text_add(&theirs, "%s\"%.60s\"", k ? ", " : "", time.key);
  situ_status status = ours.failed || theirs.failed ? fail_no_memory(error) : SITU_STATUS_OK;
  if (status == SITU_STATUS_OK && !any && theirs.length > 0)
    status = fail_with(error, SITU_STATUS_BAD_INPUT, t->path,
                       "has times of %s, but the platform %s has only %s, so no time would be used; give the table the "
                       "platform's names (situ profile --class NAME), or choose the platform that was measured",
                       theirs.bytes, t->platform->name, ours.bytes);
  text_free(&ours);
  text_free(&theirs);
  return status;
}

situ_status cost_table_apply(situ_costs *costs, const situ_graph *graph, const situ_platform *platform,
                             const char *path, const json_value *root, situ_error *error) {
  REQUIRE(path && costs->n_operators == graph->n_operators && costs->group);
  table t = {path, costs, graph, platform, json_get(root, "classes"), NULL, NULL};
  const json_value *operators = json_get(root, "operators"), *groups = json_get(root, "groups");
  double ns = cost_table_unit_ns(root);
  size_t n = json_size(operators);
  json_member member = {0};
  t.timed = ARENA_ZERO(costs->arena, bool, platform->n_classes);
  costs->measured = ARENA_ZERO(costs->arena, bool, (int64_t)costs->n_operators * costs->n_classes);
  if (!t.timed || !costs->measured) return fail_no_memory(error);
  while (json_next(operators, &member))
    TRY(apply_times(&t, member.key, costs->group[situ_graph_find(graph, member.key)], member.value, ns, error));
  for (size_t i = 0; i < json_size(groups); i++) {
    const json_value *group = json_at(groups, i), *names = json_get(group, "operators");
    const char *first = json_text(json_at(names, 0), "");
    n += json_size(names);
    TRY(apply_times(&t, first, costs->group[situ_graph_find(graph, first)], json_get(group, "times"), ns, error));
  }
  if (!cost_table_is_by_step(root)) costs->step[0] = costs->step[1] = NULL;
  TRY(check_timed(&t, root, error));
  TRY(cost_table_check_machine(platform, path, root, error));
  TRY(apply_workspace(&t, json_get(root, "workspace_bytes"), error));
  TRY(name_source(&t, n, root, error));
  char *text = json_print(root, 0);
  if (text) costs->table_hash = hash_bytes(text, strlen(text), 0);
  situ_status status = text ? SITU_STATUS_OK : fail_no_memory(error);
  free(text);
  return status;
}
