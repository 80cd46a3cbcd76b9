#include "cost/cost_models.h"

#include <stdio.h>
#include <string.h>

#include "base/arguments.h"
#include "base/c_locale.h"
#include "base/checked.h"
#include "base/contracts.h"
#include "base/fail.h"
#include "base/log.h"
#include "cost/ends.h"
#include "cost/host_states.h"
#include "cost/offloaded.h"
#include "cost/relayed.h"
#include "cost/streamed.h"
#include "graph/graph.h"
#include "platform/platform.h"

static const cost_model *const cost_models[] = {&cost_roofline, NULL};

int32_t situ_cost_model_count(void) { return (int32_t)(sizeof cost_models / sizeof cost_models[0]) - 1; }

bool situ_cost_model_at(int32_t index, situ_cost_model_info *out) {
  if (index < 0 || index >= situ_cost_model_count()) return false;
  const cost_model *m = cost_models[index];
  situ_cost_model_info info = {.name = m->name, .title = m->title, .source = m->source};
  return GIVE(out, info);
}

static const cost_model *model_find(const char *name) {
  if (!name) return cost_models[0];
  for (int i = 0; cost_models[i]; i++)
    if (strcmp(cost_models[i]->name, name) == 0) return cost_models[i];
  return NULL;
}

/* Logs where the times come from, and how many of them are too low. */
static void tell(const situ_cost_options *o, const situ_costs *costs, const situ_graph *graph) {
  log_to to = {o->log, o->log_context};
  int32_t unknown = 0;
  for (int32_t v = 0; o->log && v < graph->n_operators; v++)
    unknown += !graph->inferred[v] && !costs_is_measured(costs, v);
  log_line(to, SITU_LOG_NOTE, "operator times: %s", costs->source);
  if (unknown > 0)
    log_line(to, SITU_LOG_WARNING,
             "%d of %d operators were not understood: their times are too low; a cost table may give them",
             (int)unknown, (int)graph->n_operators);
}

typedef struct estimation {
  const situ_graph *graph; /* of the first step */
  const cost_step *steps;
  int32_t n_steps;
  const situ_platform *platform;
  const situ_cost_options *options;
  const rule_set *rules;
  cost_scene scene;
  const cost_model *model;
  const fusion_profile *profile;
  const cost_engine *engine;
  json_value *table;
  situ_costs *costs;
} estimation;

/* Adds fusion and engine to the source text unless they are the defaults. */
static situ_status name_fusion(const estimation *e, situ_error *error) {
  char source[256];
  int n = snprintf(source, sizeof source, "%.140s", e->costs->source);
  if (e->profile == fusion_profile_find(NULL))
    n += snprintf(source + n, sizeof source - (size_t)n, ", fused");
  else if (e->profile->rules)
    n += snprintf(source + n, sizeof source - (size_t)n, ", fused as by %s", e->profile->name);
  if (e->engine->own_rates) snprintf(source + n, sizeof source - (size_t)n, ", rates of %s", e->engine->name);
  if (e->engine->launch != 1.0)
    c_locale_print(source + n, sizeof source - (size_t)n, ", launches of %s (x%g)", e->engine->name, e->engine->launch);
  e->costs->source = arena_string(e->costs->arena, source);
  return e->costs->source ? SITU_STATUS_OK : fail_no_memory(error);
}

static situ_status estimate_step(situ_costs **out, const estimation *e, const situ_graph *graph,
                                 const situ_platform *linked, const fusion *work, bool prefill, situ_error *error) {
  TRY(e->model->estimate(out, graph, linked, work, e->options, error));
  if (e->table) cost_table_apply_step(*out, graph, e->platform, work->group, e->table, prefill);
  offloaded_apply(*out, graph, e->platform, work, e->engine, e->scene.unused);
  host_states_add(*out, graph, linked, work->group, e->engine, e->options->efficiency, e->scene.unused,
                  e->scene.in_turn);
  bool done = streamed_apply(*out, graph, linked, work->group, e->engine, e->scene.unused) &&
              (!e->scene.ends || ends_add(*out, graph, linked, work->group, e->engine));
  return done ? SITU_STATUS_OK : fail_no_memory(error);
}

/* Links as the engine hands over by them: with its time for each hop, and where it is in the middle of everything,
 * those between two machines of which neither asks count twice. */
static situ_status link_up(situ_platform *linked, const estimation *e, arena *scratch, situ_error *error) {
  const situ_platform *p = e->platform;
  int32_t home = p->devices[platform_home(p)].server;
  linked->links = ARENA_COPY(scratch, p->links, situ_link, p->n_links);
  if (!linked->links && p->n_links > 0) return fail_no_memory(error);
  for (int32_t l = 0; l < p->n_links; l++) {
    situ_link *link = &linked->links[l];
    int32_t from = p->devices[link->from_device].server, to = p->devices[link->to_device].server;
    link->latency_ns = sat_add(link->latency_ns, relayed_sync_ns(e->engine, p, l));
    if (!e->engine->central || from == to || from == home || to == home) continue;
    link->latency_ns = sat_mul(link->latency_ns, 2);
    link->bytes_per_s /= 2;
  }
  return SITU_STATUS_OK;
}

/* Adds a second step to the costs of the first. Work of both is counted by the kernels of the first. */
static situ_status add_step(estimation *e, const situ_platform *linked, const fusion *first, arena *scratch,
                            situ_error *error) {
  fusion work;
  if (e->n_steps == 1) return SITU_STATUS_OK;
  situ_costs *sum = costs_copies(e->costs, 1);
  if (!sum) return fail_no_memory(error);
  sum->step[0] = e->costs;
  bool held = arena_hold(sum->arena, e->costs->arena);
  situ_costs_free(e->costs);
  e->costs = sum;
  if (!held) return fail_no_memory(error);
  if (!fusion_find(&work, e->steps[1].graph, e->profile->rules, first->group, e->rules ? e->rules->apart : NULL,
                   scratch))
    return fail_no_memory(error);
  TRY(estimate_step(&sum->step[1], e, e->steps[1].graph, linked, &work, e->steps[1].prefill, error));
  held = arena_hold(sum->arena, sum->step[1]->arena);
  situ_costs_free(sum->step[1]);
  if (!held) return fail_no_memory(error);
  return costs_add_up(sum, e->steps[0].repeats, sum->step[1], e->steps[1].repeats) ? SITU_STATUS_OK
                                                                                   : fail_no_memory(error);
}

/* An engine that overlaps the micro-batches of a prompt over several accelerators has copies of what they read; one
 * that fetches weights from a host has the copy of a weight. */
static situ_status add_copies(estimation *e, situ_error *error) {
  const situ_graph *g = e->graph;
  int32_t n = 0;
  for (int32_t d = 0; d < e->platform->n_devices; d++) n += !e->platform->devices[d].is_host;
  int64_t copies = e->engine->own_rates && n > 1 ? g->pipelining_bytes : 0;
  copies = sat_add(copies, offloaded_bytes(g, e->platform, e->engine, e->scene.unused));
  if (copies == 0) return SITU_STATUS_OK;
  int64_t *bytes = ARENA_COPY(e->costs->arena, g->workspace_bytes, int64_t, g->n_operators);
  if (!bytes) return fail_no_memory(error);
  for (int32_t v = 0; v < g->n_operators; v++)
    if (bytes[v] > 0) bytes[v] = sat_add(bytes[v], copies);
  e->costs->workspace_bytes = bytes;
  return SITU_STATUS_OK;
}

static situ_status estimate(estimation *e, arena *scratch, situ_error *error) {
  const situ_graph *g = e->graph;
  const char *path = e->options->table_path;
  situ_platform linked = *e->platform; /* routed as the platform, with the link times of the table */
  int32_t *given = NULL;
  int64_t *times = NULL;
  part_cost *part = NULL;
  fusion work;
  if (path || e->engine->sync.host_ns > 0) TRY(link_up(&linked, e, scratch, error));
  if (path || e->options->time_of) {
    given = ARENA_NEW(scratch, int32_t, g->n_operators);
    if (!given) return fail_no_memory(error);
    for (int32_t v = 0; v < g->n_operators; v++) given[v] = -1;
  }
  if (path) {
    TRY(cost_table_read(&e->table, given, g, path, error));
    bool knows_parts = json_get(e->table, "parts");
    part = knows_parts ? ARENA_ZERO(scratch, part_cost, e->platform->n_classes) : NULL;
    if (knows_parts && !part) return fail_no_memory(error);
    TRY(cost_table_links(linked.links, part, e->platform, path, e->table, error));
  }
  if (e->options->time_of) TRY(costs_ask(&times, given, g, e->platform, e->options, scratch, error));
  if (!fusion_find(&work, g, e->profile->rules, given, e->rules ? e->rules->apart : NULL, scratch))
    return fail_no_memory(error);
  TRY(estimate_step(&e->costs, e, g, &linked, &work, e->steps[0].prefill, error));
  TRY(add_step(e, &linked, &work, scratch, error));
  if (work.group) {
    e->costs->group = ARENA_COPY(e->costs->arena, work.group, int32_t, g->n_operators);
    if (!e->costs->group) return fail_no_memory(error);
  }
  if (part && !(e->costs->part = ARENA_COPY(e->costs->arena, part, part_cost, e->costs->n_classes)))
    return fail_no_memory(error);
  e->costs->n_kernels = work.n_working;
  for (int32_t v = 0; v < g->n_operators; v++)
    e->costs->moved_bytes = sat_add(e->costs->moved_bytes, work.moved_bytes[v]);
  if (e->profile->rules) e->costs->fusion = e->profile->name;
  e->costs->overlap = e->engine->overlap;
  TRY(name_fusion(e, error));
  TRY(add_copies(e, error));
  if (path) TRY(cost_table_apply(e->costs, g, e->platform, path, e->table, error));
  if (e->rules) rules_scale(e->rules, e->costs, e->platform);
  if (times) TRY(costs_take(e->costs, times, error));
  if (!e->rules) return SITU_STATUS_OK;
  char source[640];
  snprintf(source, sizeof source, "%.600s; under rules", e->costs->source);
  e->costs->source = arena_string(e->costs->arena, source);
  bool made = e->costs->source && rules_forbid(e->rules, e->costs, e->platform, &work);
  return made ? SITU_STATUS_OK : fail_no_memory(error);
}

situ_status situ_costs_estimate(situ_costs **out, const situ_graph *graph, const situ_platform *platform,
                                const situ_cost_options *given, situ_error *error) {
  if (out) *out = NULL;
  TRY(GIVEN(error, out, graph, platform));
  return costs_estimate(out, &(cost_step){graph, 1, false}, 1, platform, given, NULL, &(cost_scene){.ends = true},
                        error);
}

situ_status costs_estimate(situ_costs **out, const cost_step *steps, int32_t n_steps, const situ_platform *platform,
                           const situ_cost_options *given, const rule_set *r, const cost_scene *scene,
                           situ_error *error) {
  REQUIRE((n_steps == 1 && steps[0].repeats == 1) || n_steps == 2);
  const situ_graph *graph = steps[0].graph;
  situ_cost_options own, *options = &own;
  *out = NULL;
  TRY(TAKE(own, given, SITU_COST_OPTIONS_INIT, error));
  const cost_model *model = model_find(options->model);
  if (!model)
    return fail_with(error, SITU_STATUS_BAD_ARGUMENT, NULL, "no cost model is called \"%.60s\"", options->model);
  if (!(options->efficiency >= 0.0 && options->efficiency <= 1.0))
    return fail_with(error, SITU_STATUS_BAD_ARGUMENT, NULL,
                     "the efficiency must be above 0 and at most 1 (0 for the default), not %g", options->efficiency);
  const cost_engine *engine = cost_engine_find(options->engine);
  if (!engine)
    return fail_with(error, SITU_STATUS_BAD_ARGUMENT, NULL, "no engine is called \"%.60s\"", options->engine);
  const fusion_profile *profile = fusion_profile_find(options->fusion ? options->fusion : engine->fusion);
  if (!profile)
    return fail_with(error, SITU_STATUS_BAD_ARGUMENT, NULL, "no fusion profile is called \"%.60s\"", options->fusion);
  arena *scratch = arena_new();
  estimation e = {graph, steps,   n_steps, platform, options, r, scene ? *scene : (cost_scene){0},
                  model, profile, engine,  NULL,     NULL};
  situ_status status = scratch ? estimate(&e, scratch, error) : fail_no_memory(error);
  arena_free(scratch);
  json_free(e.table);
  if (status != SITU_STATUS_OK) {
    situ_costs_free(e.costs);
    return status;
  }
  tell(options, e.costs, graph);
  ENSURE(costs_check(e.costs, graph, platform, NULL) == SITU_STATUS_OK);
  *out = e.costs;
  return SITU_STATUS_OK;
}
