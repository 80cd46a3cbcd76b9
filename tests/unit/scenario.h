/* Small posed problems for the tests of sim, plan and write: by hand, with one byte per nanosecond on every link, or at
 * random with tiny numbers, so that ties, zeros and shared channels are common. */
#ifndef SITU_TESTS_SCENARIO_H
#define SITU_TESTS_SCENARIO_H

#include "../lab/test.h"
#include "base/rng.h"
#include "cost/cost_models.h"
#include "graph/builder.h"
#include "graph/graph.h"
#include "platform/platform.h"
#include "problem/problem.h"
#include "sim/simulate.h"
#include "solve/common/best_single.h"

enum { SCENARIO_MOST = 64 };

typedef struct scenario {
  situ_graph_builder *builder;
  situ_device devices[8];
  char device_name[8][8];
  situ_link links[32];
  int32_t n_devices, n_links, n_operators;
  int64_t time_ns[SCENARIO_MOST][8]; /* [operator][device] */
  bool alike;                        /* all devices that are no host are of one class */
  situ_graph *graph;
  situ_platform *platform;
  situ_costs *costs;
  situ_problem *problem;
  arena *arena;
  simulator *simulator;
} scenario;

static inline scenario scenario_new(void) {
  scenario s = {.arena = arena_new()};
  assert_int_equal(situ_graph_builder_new(&s.builder, "scenario", NULL), SITU_STATUS_OK);
  return s;
}

/* A device with a memory of its own (shares < 0) or that of an earlier device. Every device is a class of its own. */
static inline int32_t scenario_device(scenario *s, int64_t memory_bytes, int32_t shares, bool is_host) {
  int32_t d = s->n_devices++;
  snprintf(s->device_name[d], sizeof s->device_name[d], "d%d", (int)d);
  s->devices[d] = (situ_device){.memory_bytes_per_s = 1e9,
                                .peak_flops[SITU_DTYPE_F32] = 1e9,
                                .memory_bytes = memory_bytes,
                                .shares_memory_with = shares,
                                .is_host = is_host};
  return d;
}

/* 1 byte a nanosecond. */
static inline void scenario_link(scenario *s, int32_t from, int32_t to, int64_t latency_ns, int32_t channel) {
  s->links[s->n_links++] = (situ_link){from, to, latency_ns, 1e9, channel};
}

/* Devices with a memory of their own each, the first a host, and links between all. */
static inline scenario scenario_mesh(int32_t n_devices, int64_t memory_bytes) {
  scenario s = scenario_new();
  for (int32_t d = 0; d < n_devices; d++) scenario_device(&s, memory_bytes, -1, d == 0);
  for (int32_t from = 0; from < n_devices; from++)
    for (int32_t to = 0; to < n_devices; to++)
      if (from != to) scenario_link(&s, from, to, 0, -1);
  return s;
}

/* The same time on every device; s->time_ns may be changed until the problem is posed. */
static inline int32_t scenario_add(scenario *s, situ_operator op, int64_t time_ns) {
  int32_t v;
  assert_int_equal(builder_add_operator(s->builder, &op, &v, NULL), SITU_STATUS_OK);
  for (int32_t d = 0; d < 8; d++) s->time_ns[v][d] = time_ns;
  s->n_operators++;
  return v;
}

static inline int32_t scenario_operator(scenario *s, const char *name, int64_t time_ns, int64_t weight_bytes,
                                        int64_t workspace_bytes) {
  return scenario_add(s,
                      (situ_operator){.name = name,
                                      .source_id = s->n_operators,
                                      .colocation = -1,
                                      .weight_bytes = weight_bytes,
                                      .workspace_bytes = workspace_bytes},
                      time_ns);
}

/* An operator of a phase and of a colocation group; -1: of none. */
static inline int32_t scenario_of_phase(scenario *s, const char *name, int64_t time_ns, situ_phase phase,
                                        int64_t group) {
  return scenario_add(s, (situ_operator){.name = name, .source_id = -1, .colocation = group, .phase = phase}, time_ns);
}

/* A tensor of operator v for the users listed, ended by -1. */
static inline int32_t scenario_tensor(scenario *s, int32_t v, int64_t size_bytes, ...) {
  int32_t t;
  situ_tensor about = {.rank = -1, .size_bytes = size_bytes};
  assert_int_equal(builder_add_tensor(s->builder, v, &about, &t, NULL), SITU_STATUS_OK);
  va_list users;
  va_start(users, size_bytes);
  for (int w; (w = va_arg(users, int)) >= 0;) assert_int_equal(builder_add_use(s->builder, w, t, NULL), SITU_STATUS_OK);
  va_end(users);
  return t;
}

static inline void scenario_pose(scenario *s, const situ_problem_options *options) {
  situ_problem_options posed = options ? *options : (situ_problem_options){0};
  situ_error error = {0};
  posed.size = sizeof posed;
  for (int32_t d = 0; d < s->n_devices; d++) {
    s->devices[d].name = s->devices[d].class_name = s->device_name[d];
    if (s->alike && !s->devices[d].is_host) s->devices[d].class_name = "alike";
  }
  if (situ_graph_freeze(&s->graph, s->builder, &error) != SITU_STATUS_OK) fail_msg("%s", error.text);
  if (platform_new(&s->platform, "scenario", s->devices, s->n_devices, s->links, s->n_links, &error) != SITU_STATUS_OK)
    fail_msg("%s", error.text);
  if (costs_new_with_transfers(&s->costs, s->graph, s->platform, NULL, &error) != SITU_STATUS_OK)
    fail_msg("%s", error.text);
  s->costs->source = "scenario";
  for (int32_t v = 0; v < s->graph->n_operators; v++)
    for (int32_t d = 0; d < s->n_devices; d++)
      s->costs->time_ns[v * s->platform->n_classes + s->platform->class_of[d]] =
          s->time_ns[s->graph->built_index[v]][d];
  if (situ_problem_pose(&s->problem, s->graph, s->platform, s->costs, &posed, &error) != SITU_STATUS_OK)
    fail_msg("%s", error.text);
  s->simulator = simulator_new(s->problem, s->arena);
  assert_non_null(s->simulator);
}

/* What simulating a placement gives, with the best single device beside it: a plan that the judge has no fault to find
 * with, but those of the placement. */
static inline situ_plan *scenario_plan(scenario *s, const placement *where) {
  situ_plan *plan;
  best_single single;
  assert_int_equal(best_single_find(&single, s->simulator, s->problem, s->arena, NULL), SITU_STATUS_OK);
  assert_int_equal(simulator_plan(&plan, s->simulator, where, NULL), SITU_STATUS_OK);
  plan->best_single_ns = single.value_ns;
  plan->best_single_device = single.device;
  return plan;
}

static inline void scenario_free(scenario *s) {
  situ_problem_free(s->problem);
  situ_costs_free(s->costs);
  situ_platform_free(s->platform);
  situ_graph_free(s->graph);
  situ_graph_builder_free(s->builder);
  arena_free(s->arena);
}

static inline void scenario_random_platform(scenario *s, rng *r) {
  int32_t n = 1 + (int32_t)rng_below(r, 5), own[8], n_own = 0;
  int64_t max_latency = rng_below(r, 3);
  for (int32_t d = 0; d < n; d++) {
    bool shares = n_own > 0 && rng_below(r, 4) == 0;
    scenario_device(s, rng_below(r, 2) ? SITU_UNLIMITED_BYTES : 5 + rng_below(r, 40),
                    shares ? own[rng_below(r, n_own)] : -1, d == 0 || rng_below(r, 5) == 0);
    if (!shares) own[n_own++] = d;
  }
  int shape = (int)rng_below(r, 3); /* all to all, a star round the first, a ring in one direction */
  bool channels = rng_below(r, 2);
  for (int32_t a = 0; a < n_own; a++)
    for (int32_t b = 0; b < n_own; b++) {
      bool there = shape == 0 ? a != b : shape == 1 ? a != b && (a == 0 || b == 0) : n_own > 1 && b == (a + 1) % n_own;
      if (!there) continue;
      int32_t channel = channels && rng_below(r, 2) ? (int32_t)rng_below(r, 2) : -1;
      scenario_link(s, own[a], own[b], rng_below(r, max_latency + 1), channel);
      s->links[s->n_links - 1].bytes_per_s = rng_below(r, 2) ? 1e9 : 2e9;
    }
}

/* A random graph of up to `most` operators on a random platform, with times 0 to 4 and tensors of 0 to 5 bytes. */
static inline scenario scenario_random(uint64_t seed, int32_t most, const situ_problem_options *options) {
  rng r = rng_new(seed);
  scenario s = scenario_new();
  scenario_random_platform(&s, &r);
  int32_t n = 1 + (int32_t)rng_below(&r, most);
  int64_t density = 1 + rng_below(&r, 3), longest = rng_below(&r, 5);
  for (int32_t v = 0; v < n; v++) {
    char name[16];
    snprintf(name, sizeof name, "op%d", (int)v);
    scenario_operator(&s, name, 0, rng_below(&r, 4) ? 0 : rng_below(&r, 6), rng_below(&r, 4) ? 0 : rng_below(&r, 6));
    for (int32_t d = 0; d < s.n_devices; d++) s.time_ns[v][d] = rng_below(&r, longest + 1);
  }
  for (int32_t v = 0; v < n; v++) {
    int64_t outputs = rng_below(&r, 3);
    for (int64_t k = 0; k < outputs; k++) {
      int32_t t = scenario_tensor(&s, v, rng_below(&r, 6), -1);
      for (int32_t w = v + 1; w < n; w++)
        if (rng_below(&r, n) < density) builder_add_use(s.builder, w, t, NULL);
    }
  }
  scenario_pose(&s, options);
  return s;
}

/* A random device for each operator, and a random topological order. */
static inline void scenario_random_placement(const scenario *s, rng *r, int32_t *device, int32_t *order) {
  const situ_graph *g = s->graph;
  int32_t waiting[SCENARIO_MOST] = {0}, ready[SCENARIO_MOST], n_ready = 0, n = 0;
  for (int32_t v = 0; v < g->n_operators; v++) {
    device[v] = (int32_t)rng_below(r, s->n_devices);
    waiting[v] = (int32_t)(g->in_start[v + 1] - g->in_start[v]);
    if (waiting[v] == 0) ready[n_ready++] = v;
  }
  while (n_ready > 0) {
    int32_t i = (int32_t)rng_below(r, n_ready), v = ready[i];
    ready[i] = ready[--n_ready];
    order[n++] = v;
    for (int32_t t = g->out_start[v]; t < g->out_start[v + 1]; t++)
      for (int64_t k = g->use_start[t]; k < g->use_start[t + 1]; k++)
        if (--waiting[g->use[k]] == 0) ready[n_ready++] = g->use[k];
  }
  assert_int_equal(n, g->n_operators);
}

#endif
