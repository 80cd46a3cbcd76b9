#include "write/layer_plan.h"

#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/json.h"

static bool is_expert(const situ_graph *g, int32_t v) { return strncmp(g->kind_name[g->kind[v]], "Experts", 7) == 0; }

static situ_status refuse_split(const situ_problem *p, int32_t v, int32_t d, const char *format, situ_error *error) {
  return fail_with(error, SITU_STATUS_UNSUPPORTED, p->graph->name[v],
                   "is on %s, what belongs to it on %s; %s places whole layers (--granularity block)",
                   p->platform->devices[d].name, "another device", format);
}

static situ_status find_devices(layer_plan *out, const situ_plan *plan, const situ_problem *p, bool experts,
                                const char *format, situ_error *error) {
  arena *a = out->arena;
  if (!layers_find(&out->layers, p->given, a)) return fail_no_memory(error);
  out->n = out->layers.n;
  if (out->n == 0)
    return fail_with(error, SITU_STATUS_UNSUPPORTED, p->graph->model, "has no layers, and %s places layers", format);
  out->device = ARENA_NEW(a, int32_t, out->n);
  out->spilled = ARENA_ZERO(a, bool, out->n);
  if (!out->device || !out->spilled) return fail_no_memory(error);
  for (int32_t k = 0; k < out->n; k++) out->device[k] = -1;
  for (int32_t v = 0; v < p->n_operators; v++) {
    int32_t k = out->layers.of[v], d = plan->device[v];
    int32_t *of = k >= 0 ? &out->device[k] : out->layers.before[v] ? &out->first : &out->head;
    if (experts && k >= 0 && is_expert(p->graph, v)) continue;
    if (*of >= 0 && *of != d) return refuse_split(p, v, d, format, error);
    *of = d;
  }
  int32_t inside = -1; /* the layer whose experts were seen last, and whether all of them are away */
  for (int32_t v = 0; experts && v < p->n_operators; v++) {
    int32_t k = out->layers.of[v], d = plan->device[v];
    if (k < 0 || !is_expert(p->graph, v)) continue;
    bool away = d != out->device[k];
    if ((away && !problem_is_host(p, d)) || (inside == k && away != out->spilled[k]))
      return refuse_split(p, v, d, format, error);
    inside = k;
    out->spilled[k] = away;
  }
  return SITU_STATUS_OK;
}

const char *layer_plan_way(char into[LAYER_WAY_BYTES], const layer_plan *l, const situ_problem *p, int32_t device) {
  int32_t n = 0;
  bool experts = false;
  for (int32_t v = 0; v < p->n_operators; v++) experts |= is_expert(p->graph, v);
  for (int32_t i = 0; i < l->n; i++) {
    bool seen = false;
    for (int32_t j = 0; j < i && !seen; j++) seen = l->device[j] == l->device[i];
    n += !seen;
  }
  into[0] = '\0';
  if (p->execution == SITU_EXECUTION_STREAM && experts && problem_is_host(p, device))
    snprintf(into, LAYER_WAY_BYTES, " (--not Attention=cpu leaves it experts alone)");
  else if (p->execution == SITU_EXECUTION_STREAM)
    snprintf(into, LAYER_WAY_BYTES, " (--max-parts %d)", (int)n);
  return into;
}

static situ_status find_runs(layer_plan *out, const situ_problem *p, const char *format, situ_error *error) {
  out->run = ARENA_NEW(out->arena, int32_t, p->n_devices);
  out->count = ARENA_NEW(out->arena, int32_t, p->n_devices);
  char way[LAYER_WAY_BYTES];
  if (!out->run || !out->count) return fail_no_memory(error);
  for (int32_t k = 0; k < out->n; k++) {
    if (k > 0 && out->device[k] == out->device[k - 1]) {
      out->count[out->n_runs - 1]++;
      continue;
    }
    for (int32_t i = 0; i < out->n_runs; i++)
      if (out->run[i] == out->device[k])
        return fail_with(error, SITU_STATUS_UNSUPPORTED, p->platform->devices[out->device[k]].name,
                         "has layers that do not follow each other, %d among them; %s holds one run for each device%s",
                         (int)k, format, layer_plan_way(way, out, p, out->device[k]));
    out->run[out->n_runs] = out->device[k];
    out->count[out->n_runs++] = 1;
  }
  return SITU_STATUS_OK;
}

situ_status layer_plan_find(layer_plan *out, const situ_plan *plan, const situ_problem *p, bool experts,
                            const char *format, situ_error *error) {
  *out = (layer_plan){.first = -1, .head = -1, .arena = arena_new()};
  if (!out->arena) return fail_no_memory(error);
  TRY(find_devices(out, plan, p, experts, format, error));
  return find_runs(out, p, format, error);
}

void layer_plan_free(layer_plan *l) { arena_free(l->arena); }

situ_status layer_plan_keeps_ends(const layer_plan *l, const situ_problem *p, const char *format, situ_error *error) {
  bool kept = (l->first < 0 || l->first == l->run[0]) && (l->head < 0 || l->head == l->run[l->n_runs - 1]);
  return kept ? SITU_STATUS_OK
              : fail_with(error, SITU_STATUS_UNSUPPORTED, p->graph->model,
                          "has its embedding or its head on another device than the first and the last layer; %s does "
                          "not",
                          format);
}

situ_status layer_plan_find_stages(layer_plan *out, const situ_plan *plan, const situ_problem *p, const char *format,
                                   situ_error *error) {
  TRY(layer_plan_find(out, plan, p, false, format, error));
  if (!out->layers.name)
    return fail_with(error, SITU_STATUS_UNSUPPORTED, p->graph->model, "has no named layers, and %s names them", format);
  return layer_plan_keeps_ends(out, p, format, error);
}

void layer_plan_quote_module(text_buffer *out, const char *path) {
  text_buffer module = {0};
  if (*path != '/') {
    json_quote(out, path);
    return;
  }
  for (size_t n; *path; path += n) {
    path += *path == '/';
    n = strcspn(path, "/");
    bool repeated = path[n] == '/' && strncmp(path + n + 1, path, n) == 0 && path[2 * n + 1] == '.';
    if (!repeated && n > 0) text_add(&module, "%s%.*s", module.length > 0 ? "." : "", (int)n, path);
  }
  out->failed |= module.failed;
  json_quote(out, module.bytes ? module.bytes : "");
  text_free(&module);
}

int32_t layer_plan_gpu(const situ_problem *p, int32_t device) {
  int32_t n = 0;
  if (problem_is_host(p, device)) return -1;
  for (int32_t d = 0; d < device; d++) n += !problem_is_host(p, d);
  return n;
}
