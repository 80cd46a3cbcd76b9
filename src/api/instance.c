/* What is solved, from options to the posed problem:
 *
 *     model --read--> graph --estimate(platform)--> costs --pose--> problem
 *
 * open_steps has one line for each arrow. */
#include "api/instance.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/granularity.h"
#include "base/arguments.h"
#include "base/checked.h"
#include "base/contracts.h"
#include "base/disjoint.h"
#include "base/log.h"
#include "cost/cost_models.h"
#include "cost/ends.h"
#include "cost/host_states.h"
#include "cost/relayed.h"
#include "cost/training_split.h"
#include "plan/plan.h"
#include "platform/platform_sources.h"
#include "read/reader.h"
#include "write/writer.h"

static situ_status read_host(situ_platform **out, const char *text, const char *where, situ_error *error) {
  json_value *tree;
  TRY(json_parse(&tree, text, strlen(text), where, error));
  situ_status status = platform_from_json(out, tree, where, error);
  json_free(tree);
  return status;
}

static situ_status read_platform(situ_instance *i, situ_error *error) {
  if (i->model->costs && i->model->platform && !i->model->measured_ns && i->options.call.platform)
    return fail_with(error, SITU_STATUS_BAD_ARGUMENT, i->options.call.model,
                     "has its own platform and measured times; omit the platform %s", i->options.call.platform);
  if (!i->options.call.platform && i->model->platform) {
    i->platform = i->model->platform;
    return SITU_STATUS_OK;
  }
  const char *name = i->options.call.platform ? i->options.call.platform : SITU_DEFAULT_PLATFORM;
  if (!i->options.call.platform)
    log_line((log_to){i->options.read.log, i->options.read.log_context}, SITU_LOG_WARNING,
             "no platform given: assuming %s (this-host is this machine)", name);
  if (i->options.host_text && strcmp(name, THIS_HOST) == 0)
    TRY(read_host(&i->own_platform, i->options.host_text, "the host of the plan", error));
  else
    TRY(situ_platform_read(&i->own_platform, name, error));
  i->platform = i->own_platform;
  return SITU_STATUS_OK;
}

/* Whether hand-overs through hosts have costs of their own. */
static bool hands_through_hosts(const situ_instance *i, const situ_platform *platform) {
  const char *name = i->options.cost.engine ? i->options.cost.engine : i->model->steps.engine;
  const cost_engine *engine = cost_engine_find(name);
  bool estimated = !i->model->costs || platform != i->model->platform;
  return engine && estimated && i->options.problem.objective != SITU_OBJECTIVE_THROUGHPUT &&
         relayed_matter(engine, platform);
}

/* Replaces the platform by one made of it. */
typedef situ_status (*platform_change)(situ_platform **out, const situ_platform *platform, situ_error *error);
static situ_status change_platform(situ_platform **platform, platform_change change, situ_error *error) {
  situ_platform *made;
  TRY(change(&made, *platform, error));
  situ_platform_free(*platform);
  *platform = made;
  return SITU_STATUS_OK;
}

/* The host holds the states of the optimizer. Replicas that do not share them would each need all. */
static situ_status hold_states(situ_platform **platform, const situ_instance *i, situ_error *error) {
  situ_platform *made;
  if (i->options.problem.replicate && i->options.problem.zero == 0)
    return fail_with(error, SITU_STATUS_BAD_ARGUMENT, NULL,
                     "with offload_optimizer replicas share the states of the optimizer: add zero 1, 2 or 3");
  TRY(host_states_platform(&made, *platform, graph_offloaded_bytes(i->model->graph), error));
  situ_platform_free(*platform);
  *platform = made;
  return SITU_STATUS_OK;
}

situ_status instance_scene(situ_platform **platform, const situ_instance *i, situ_error *error) {
  if (i->model->graph->n_offloads > 0) TRY(hold_states(platform, i, error));
  if (i->scene.ends) TRY(change_platform(platform, ends_platform, error));
  return hands_through_hosts(i, *platform) ? change_platform(platform, relayed_platform, error) : SITU_STATUS_OK;
}

/* The platform as an engine that hands over sees it. */
static situ_status read_scene(situ_instance *i, situ_error *error) {
  const situ_problem_options *o = &i->options.problem;
  i->scene.in_turn = o->objective != SITU_OBJECTIVE_THROUGHPUT && o->execution != SITU_EXECUTION_PIPELINE;
  i->scene.ends =
      i->options.problem.objective != SITU_OBJECTIVE_THROUGHPUT && ends_matter(i->model->graph, i->platform);
  if (i->platform != i->own_platform) return SITU_STATUS_OK; /* that of the model's own file */
  TRY(instance_scene(&i->own_platform, i, error));
  i->platform = i->own_platform;
  return SITU_STATUS_OK;
}

/* Training keeps tensors for long, and those that each member of a group has all of, as often as there are members. */
static situ_status hold_tensors(situ_costs *c, const situ_instance *i, const situ_platform *platform,
                                situ_error *error) {
  const situ_graph *g = i->model->graph;
  if (!i->split || !g->made_training) return SITU_STATUS_OK;
  int32_t k = instance_max_members(platform), smaller = instance_find_smaller(i, platform);
  if (smaller >= 0) return instance_refuse_smaller(platform, smaller, error);
  if (!(c->held_bytes = ARENA_NEW(c->arena, int64_t, g->n_tensors))) return fail_no_memory(error);
  for (int32_t t = 0; t < g->n_tensors; t++) c->held_bytes[t] = training_split_held_bytes(i->split, t, k);
  return SITU_STATUS_OK;
}

situ_status instance_estimate(situ_costs **out, situ_costs **secondary, const situ_instance *i,
                              const situ_platform *platform, situ_error *error) {
  const read_steps *s = &i->model->steps;
  if (i->options.cost.time_of)
    return fail_with(error, SITU_STATUS_BAD_ARGUMENT, NULL,
                     "times from memory (time_of) are for situ_costs_estimate: no plan file could name them");
  const cost_step steps[] = {{i->model->graph, s->other ? s->repeats[0] : 1, s->prefill_first},
                             {s->other, s->repeats[1], !s->prefill_first}};
  TRY(costs_estimate(out, steps, s->other ? 2 : 1, platform, &i->options.cost, i->rules, &i->scene, error));
  TRY(hold_tensors(*out, i, platform, error));
  return instance_estimate_secondary(secondary, i, platform, error);
}

static situ_status estimate(situ_instance *i, situ_error *error) {
  return instance_estimate(&i->own_costs, &i->secondary_costs, i, i->platform, error);
}

/* Times of the file, on devices like the one that it was measured on. */
static situ_status take_measured(const situ_instance *i, situ_error *error) {
  const situ_model *m = i->model;
  situ_costs *c = i->own_costs;
  int32_t n_measured = 0;
  if (!c->measured) c->measured = ARENA_ZERO(c->arena, bool, (int64_t)c->n_operators * c->n_classes);
  if (!c->measured) return fail_no_memory(error);
  for (int32_t k = 0; k < c->n_classes; k++) {
    const char *class_name = i->platform->devices[i->platform->class_device[k]].class_name;
    if (strncmp(class_name, m->measured_on, strlen(m->measured_on)) != 0) continue;
    n_measured++;
    for (int32_t v = 0; v < c->n_operators; v++) {
      c->time_ns[(int64_t)v * c->n_classes + k] = m->measured_ns[v];
      c->measured[(int64_t)v * c->n_classes + k] = true;
    }
  }
  if (n_measured == 0) return SITU_STATUS_OK;
  char source[200];
  snprintf(source, sizeof source, "times measured on %s, of the file%s%.100s", m->measured_on,
           n_measured < c->n_classes ? "; elsewhere " : "", n_measured < c->n_classes ? c->source : "");
  c->source = arena_string(c->arena, source);
  return c->source ? SITU_STATUS_OK : fail_no_memory(error);
}

/* Each operator was measured alone, and the reader's note says what an estimate elsewhere is worth. */
static situ_status estimate_beside_measured(situ_instance *i, situ_error *error) {
  situ_cost_options *o = &i->options.cost;
  situ_log_callback *log = o->log;
  if (!o->fusion) o->fusion = "none";
  o->log = NULL;
  situ_status status = estimate(i, error);
  o->log = log;
  return status == SITU_STATUS_OK ? take_measured(i, error) : status;
}

static situ_status read_costs(situ_instance *i, situ_error *error) {
  if (i->model->costs && i->platform == i->model->platform) {
    const situ_cost_options *o = &i->options.cost;
    bool fused = o->fusion && strcmp(o->fusion, "none") != 0;
    if (o->model || o->table_path || o->efficiency > 0 || o->engine || fused)
      return fail_with(error, SITU_STATUS_BAD_ARGUMENT, i->options.call.model,
                       "has its own measured times; options of the cost estimate cannot be used with it");
    i->costs = i->model->costs;
    return SITU_STATUS_OK;
  }
  if (i->options.call.granularity == SITU_GRANULARITY_OPERATOR && !i->options.cost.fusion && !i->options.cost.engine)
    i->options.cost.fusion = "none";
  if (!i->options.cost.engine) i->options.cost.engine = i->model->steps.engine;
  TRY(i->model->measured_ns ? estimate_beside_measured(i, error) : estimate(i, error));
  i->costs = i->own_costs;
  return SITU_STATUS_OK;
}

static situ_status make_copies(situ_instance *i, situ_error *error) {
  int32_t n = i->options.problem.copies;
  i->graph = i->model->graph;
  if (n <= 1) return SITU_STATUS_OK;
  TRY(graph_copies(&i->copies, i->graph, n, error));
  i->copied_costs = costs_copies(i->costs, n);
  if (!i->copied_costs) return fail_no_memory(error);
  i->graph = i->copies;
  i->costs = i->copied_costs;
  return SITU_STATUS_OK;
}

static situ_status read_unused(situ_instance *i, situ_error *error) {
  const instance_options *o = &i->options;
  int32_t n = i->platform->n_devices;
  if (!o->problem.unused && o->call.n_unused == 0) return SITU_STATUS_OK;
  i->unused = o->problem.unused ? ARENA_COPY(i->arena, o->problem.unused, bool, n) : ARENA_ZERO(i->arena, bool, n);
  if (!i->unused) return fail_no_memory(error);
  for (int32_t k = 0; k < o->call.n_unused; k++) {
    int32_t d = situ_platform_find(i->platform, o->call.unused[k]);
    char near[160];
    if (d < 0)
      return fail_with(error, SITU_STATUS_BAD_ARGUMENT, NULL, "platform %s has no device %s; %s", i->platform->name,
                       o->call.unused[k], platform_near_devices(near, sizeof near, i->platform, o->call.unused[k]));
    i->unused[d] = true;
  }
  i->scene.unused = i->unused;
  return SITU_STATUS_OK;
}

static situ_status read_constraints(situ_instance *i, situ_error *error) {
  const situ_graph *graph = i->graph;
  int32_t n = graph->n_operators;
  const int32_t *given = i->options.problem.pins;
  if (i->options.call.fix || given) {
    i->pins = given ? ARENA_COPY(i->arena, given, int32_t, n) : ARENA_NEW(i->arena, int32_t, n);
    if (!i->pins) return fail_no_memory(error);
  }
  return i->options.call.fix ? plan_read_pins(i->pins, graph, i->platform, i->options.call.fix, error) : SITU_STATUS_OK;
}

/* One input at a time through streams at minimum latency, by estimates. */
static bool is_stream_latency(const situ_instance *i) {
  const situ_problem_options *o = &i->options.problem;
  return i->costs->unit_ns == 0 && o->objective != SITU_OBJECTIVE_THROUGHPUT &&
         (o->execution == SITU_EXECUTION_DEFAULT || o->execution == SITU_EXECUTION_STREAM) && o->max_calls == 0;
}

/* The granularity that DEFAULT selects. */
static situ_granularity default_granularity(const situ_instance *i) {
  bool layers = !i->pins && is_stream_latency(i) && granularity_is_decoder(i->model->graph, i->arena);
  return layers ? SITU_GRANULARITY_LAYER : SITU_GRANULARITY_FUSED;
}

/* What stays together in each copy of the graph. */
static situ_status read_granularity(situ_instance *i, situ_error *error) {
  situ_granularity *which = &i->options.call.granularity;
  const situ_graph *g = i->model->graph;
  int32_t n = g->n_operators, n_copies = n > 0 ? i->graph->n_operators / n : 1;
  if (*which == SITU_GRANULARITY_DEFAULT) *which = default_granularity(i);
  if (*which < SITU_GRANULARITY_LAYER) return instance_join_rules(i, error);
  int32_t *joined;
  if (!ARENA_ARRAYS(i->arena, ARRAY(i->together, i->graph->n_operators), ARRAY(joined, n)))
    return fail_no_memory(error);
  disjoint_init(joined, n);
  for (int32_t v = 0; i->costs->group && v < n; v++)
    if (i->costs->group[v] >= 0) disjoint_join(joined, i->costs->group[v], v);
  if (i->split) tensor_split_join(i->split, joined);
  int32_t n_keys = granularity_keys(i->together, g, *which, joined, i->arena);
  if (n_keys < 0) return fail_no_memory(error);
  for (int32_t v = n; v < n * n_copies; v++) i->together[v] = i->together[v - n] < 0 ? -1 : i->together[v - n] + n_keys;
  return instance_join_rules(i, error);
}

/* What the keys in `together` keep whole. */
static const char *keep_name(const situ_instance *i) {
  static const char *const names[][4] = {
      {"groups of rules", "groups of rules", "runs of split operators", "runs of split operators and groups of rules"},
      {"layers", "layers and groups of rules", "layers", "layers and groups of rules"},
      {"blocks", "blocks and groups of rules", "blocks", "blocks and groups of rules"}};
  bool rules = i->rules && (i->rules->cuts || i->rules->n_kept > 0);
  situ_granularity g = i->options.call.granularity;
  return names[g == SITU_GRANULARITY_LAYER ? 1 : g == SITU_GRANULARITY_BLOCK ? 2 : 0][rules + 2 * (i->split != NULL)];
}

situ_status instance_pose(situ_instance *i, situ_error *error) {
  situ_problem_options posed = i->options.problem;
  posed.pins = i->pins;
  posed.unused = i->unused;
  posed.keep_together = i->together;
  posed.keep_name = keep_name(i);
  instance_limit(&posed, i, i->secondary_costs);
  situ_problem_free(i->problem);
  i->problem = NULL;
  return situ_problem_pose(&i->problem, i->graph, i->platform, i->costs, &posed, error);
}

/* A default that limits the plan, its value and its proof is reported; the note replaces an earlier one. */
static situ_status note_default(situ_instance *i, const char *note, situ_error *error) {
  text_buffer notes = {0};
  situ_model *model = i->model;
  text_add_bytes(&notes, model->notes, i->own_notes);
  text_add(&notes, "%s\n", note);
  const char *both = text_take(&notes);
  if (!both) return fail_no_memory(error);
  free((void *)(uintptr_t)model->notes);
  model->notes = both;
  return SITU_STATUS_OK;
}

situ_status instance_add_note(situ_instance *i, const char *note, situ_error *error) {
  i->own_notes = strlen(i->model->notes);
  return note_default(i, note, error);
}

situ_status instance_split_layers(situ_instance *i, bool proved, situ_error *error) {
  REQUIRE(i->may_split);
  i->may_split = false;
  i->options.call.granularity = SITU_GRANULARITY_FUSED;
  i->together = NULL;
  TRY(instance_join_rules(i, error));
  TRY(instance_pose(i, error));
  if (i->problem->conflict) return SITU_STATUS_OK; /* which says more */
  return note_default(i,
                      proved ? "no plan keeps layers whole, so they may be split (--granularity fused)"
                             : "no plan was found that keeps layers whole, so they may be split (--granularity fused)",
                      error);
}

/* Like instance_pose, but layers that were not requested explicitly are dropped if no device can hold one. */
static situ_status pose(situ_instance *i, bool by_default, situ_error *error) {
  TRY(instance_pose(i, error));
  i->may_split = by_default && i->options.call.granularity == SITU_GRANULARITY_LAYER;
  if (!i->may_split) return SITU_STATUS_OK;
  i->own_notes = strlen(i->model->notes);
  if (i->problem->conflict) return instance_split_layers(i, true, error);
  if (i->platform->n_devices == 1) return SITU_STATUS_OK;
  return note_default(i, "plan and bound keep layers whole; use --granularity operator to split them", error);
}

/* A GPU and an NPU of one memory hardly hand over for nothing, as cores of one CPU do. */
static situ_status note_shared(situ_instance *i, situ_error *error) {
  const situ_platform *m = i->platform;
  char line[400];
  for (int32_t d = 0; d < m->n_devices; d++) {
    const situ_device *own = &m->devices[d];
    int32_t of = own->shares_memory_with;
    if (of < 0 || own->separate_address_space || m->class_of[of] == m->class_of[d]) continue;
    snprintf(line, sizeof line,
             "%.80s and %.80s, which are unlike, share a memory, so hand-overs between them take no time; a platform "
             "file states those that do by shares_capacity_with and a link",
             own->name, m->devices[of].name);
    return instance_add_note(i, line, error);
  }
  return SITU_STATUS_OK;
}

static situ_status note_left_out(situ_instance *i, situ_error *error) {
  char line[512];
  int k = instance_max_members(i->platform);
  if (!i->left_out) return SITU_STATUS_OK;
  snprintf(line, sizeof line,
           "left out: %s, no group of %d and too small for the whole training step, whose sizes count as split over %d",
           i->left_out, k, k);
  return instance_add_note(i, line, error);
}

/* What is sure to be refused at the end is refused now. */
static situ_status read_writers(situ_instance *i, situ_error *error) {
  const instance_options *o = &i->options;
  for (int32_t k = 0; k < o->call.n_writers; k++) {
    const writer *w;
    TRY(writer_serves(&w, o->call.writers[k], i->problem, i->model->reader, o->call.model, error));
    i->form |= w->form;
  }
  return SITU_STATUS_OK;
}

static situ_status open_steps(situ_instance *i, const instance_options *options, situ_error *error) {
  if (!options || !options->call.model)
    return fail_with(error, SITU_STATUS_BAD_ARGUMENT, NULL, "no model was given; expected a file or builtin:NAME");
  if (!instance_options_keep(&i->options, options, i->arena)) return fail_no_memory(error);
  i->options.read.micro_batches = i->options.problem.micro_batches;
  TRY(situ_model_read(&i->model, i->options.call.model, &i->options.read, error));
  TRY(read_take_assumed(&i->options.read, i->model, i->arena, error));
  if (!i->options.cost.engine && !i->options.reopened)
    i->options.cost.engine = writer_engine(i->options.call.writers, i->options.call.n_writers);
  TRY(instance_take_limits(i, error));
  TRY(read_platform(i, error));
  TRY(instance_make_groups(i, error));
  TRY(instance_read_rules(i, error));
  TRY(read_scene(i, error));
  TRY(read_unused(i, error));
  TRY(instance_leave_smaller(i, error));
  TRY(note_left_out(i, error));
  TRY(read_costs(i, error));
  TRY(make_copies(i, error));
  TRY(read_constraints(i, error));
  TRY(read_granularity(i, error));
  TRY(note_shared(i, error));
  TRY(pose(i, options->call.granularity == SITU_GRANULARITY_DEFAULT, error));
  if (i->options.call.strict) TRY(situ_problem_require_known(i->problem, 0, error));
  return read_writers(i, error);
}

situ_status situ_instance_open(situ_instance **out, const situ_instance_options *given, situ_error *error) {
  instance_options options;
  if (out) *out = NULL;
  TRY(GIVEN(error, out));
  TRY(instance_options_take(&options, given, error));
  return instance_open(out, &options, error);
}

situ_status instance_open(situ_instance **out, const instance_options *options, situ_error *error) {
  *out = NULL;
  situ_instance *i = NOUN_NEW(situ_instance, NULL);
  if (!i) return fail_no_memory(error);
  i->all_verified_ns = -1;
  HAND_OUT(out, i, open_steps(i, options, error), situ_instance_free);
}

void situ_instance_free(situ_instance *i) {
  if (!i) return;
  situ_problem_free(i->problem);
  situ_costs_free(i->copied_costs);
  situ_graph_free(i->copies);
  situ_costs_free(i->own_costs);
  situ_costs_free(i->secondary_costs);
  situ_platform_free(i->own_platform);
  situ_platform_free(i->ungrouped);
  rules_free(i->rules);
  situ_model_free(i->model);
  arena_free(i->arena);
}

const situ_problem *situ_instance_problem(const situ_instance *i) { return i ? i->problem : NULL; }
const situ_model *situ_instance_model(const situ_instance *i) { return i ? i->model : NULL; }
situ_granularity situ_instance_granularity(const situ_instance *i) {
  return i ? i->options.call.granularity : SITU_GRANULARITY_FUSED;
}
