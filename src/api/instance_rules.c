/* Rules of an instance: from files and short forms to the inputs of costs and problem. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/instance.h"
#include "base/disjoint.h"
#include "base/fail.h"
#include "base/log.h"
#include "read/reader.h"

/* Takes "LEFT=RIGHT" apart that follows `word`, each as a JSON text between the pieces of `form`; false where the text
 * is none. */
static bool add_short(text_buffer *t, const char *text, const char *word, const char *const form[3]) {
  size_t start = strlen(word);
  const char *equals = strncmp(text, word, start) == 0 ? strchr(text + start, '=') : NULL;
  char left[256];
  if (!equals || equals == text + start || !equals[1]) return false;
  snprintf(left, sizeof left, "%.*s", (int)(equals - text) - (int)start, text + start);
  text_add(t, "%s", form[0]);
  json_quote(t, left);
  text_add(t, "%s", form[1]);
  json_quote(t, equals + 1);
  text_add(t, "%s", form[2]);
  return true;
}

/* Adds one object of rules: a short form, or the content of a file. */
static situ_status add_rules(text_buffer *t, const char *text, situ_error *error) {
  static const char *const forbid[] = {"{\"situ_rules\":1,\"operators\":[{\"kind\":", ",\"not_on\":", "}]}"};
  static const char *const reserve[] = {"{\"situ_rules\":1,\"devices\":{", ":{\"reserve\":", "}}}"};
  json_value *root = NULL;
  if (strncmp(text, "headroom ", strlen("headroom ")) == 0) {
    text_add(t, "{\"situ_rules\":1,\"headroom\":");
    json_quote(t, text + strlen("headroom "));
    text_add(t, "}");
    return SITU_STATUS_OK;
  }
  if (add_short(t, text, "not ", forbid) || add_short(t, text, "reserve ", reserve)) return SITU_STATUS_OK;
  TRY(json_read(&root, text, error));
  char *said = json_print(root, 0);
  if (said) text_add(t, "%s", said);
  json_free(root);
  free(said);
  return said ? SITU_STATUS_OK : fail_no_memory(error);
}

/* Fills rules_text with all that is named, unless it is there: from a plan file, or from an instance that was open. */
static situ_status gather(instance_options *o, arena *a, situ_error *error) {
  text_buffer t = {0};
  situ_status status = SITU_STATUS_OK;
  if (o->call.n_rules == 0 || o->rules_text) return SITU_STATUS_OK;
  for (int32_t k = 0; k < o->call.n_rules && status == SITU_STATUS_OK; k++) {
    text_add(&t, "%s", k == 0 ? "[" : ",");
    status = add_rules(&t, o->call.rules[k], error);
  }
  text_add(&t, "]");
  char *text = status == SITU_STATUS_OK ? text_take(&t) : NULL;
  if (text) o->rules_text = arena_string(a, text);
  if (status == SITU_STATUS_OK && (!text || !o->rules_text)) status = fail_no_memory(error);
  free(text);
  text_free(&t);
  return status;
}

static situ_status resolve(situ_instance *i, const json_value *list, situ_error *error) {
  const instance_options *o = &i->options;
  int32_t n = (int32_t)json_size(list);
  rule_source *sources = ARENA_NEW(i->arena, rule_source, n);
  if (!sources) return fail_no_memory(error);
  for (int32_t k = 0; k < n; k++)
    sources[k] =
        (rule_source){k < o->call.n_rules ? o->call.rules[k] : "the rules of the plan", json_at(list, (size_t)k)};
  log_to log = {o->cost.log, o->cost.log_context};
  return rules_read(&i->rules, sources, n, i->model->graph, i->platform, i->ungrouped, log, error);
}

situ_status instance_read_rules(situ_instance *i, situ_error *error) {
  json_value *list = NULL;
  situ_platform *changed = NULL;
  TRY(gather(&i->options, i->arena, error));
  const char *text = i->options.rules_text;
  if (!text) return SITU_STATUS_OK;
  if (i->model->costs && i->platform == i->model->platform)
    return fail_with(error, SITU_STATUS_BAD_ARGUMENT, i->options.call.model,
                     "has its own measured times; rules apply to estimated costs only");
  TRY(json_parse(&list, text, strlen(text), "rules", error));
  situ_status status = resolve(i, list, error);
  json_free(list);
  if (status == SITU_STATUS_OK) status = rules_platform(&changed, i->rules, i->platform, error);
  if (status != SITU_STATUS_OK) return status;
  situ_platform_free(i->own_platform);
  i->platform = i->own_platform = changed;
  return SITU_STATUS_OK;
}

situ_status instance_join_rules(situ_instance *i, situ_error *error) {
  const situ_graph *g = i->model->graph;
  int32_t n = g->n_operators, all = i->graph->n_operators;
  bool ruled = i->rules && (i->rules->cuts || i->rules->n_kept > 0);
  if (!ruled && !i->split) return SITU_STATUS_OK;
  int32_t *into, *first, *keys;
  if (!ARENA_ARRAYS(i->arena, ARRAY(into, n), ARRAY(first, n), ARRAY(keys, all))) return fail_no_memory(error);
  disjoint_init(into, n);
  for (int32_t v = 0; v < n; v++) first[v] = -1;
  for (int32_t v = 0; i->together && v < n; v++) {
    int32_t key = i->together[v];
    if (key < 0) continue;
    if (first[key] < 0) first[key] = v;
    disjoint_join(into, first[key], v);
  }
  if (ruled) rules_join(i->rules, into, g, i->own_costs);
  if (i->split) tensor_split_join(i->split, into);
  for (int32_t v = 0; v < all; v++) keys[v] = disjoint_root(into, v % n) + v / n * n;
  i->together = keys;
  return SITU_STATUS_OK;
}
