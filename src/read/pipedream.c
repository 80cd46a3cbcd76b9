/* Profiles of PipeDream (Narayanan et al., SOSP 2019): graph.txt, a measured forward time, backward time, bytes of
 * activations and of parameters for each layer, and the edges between layers. docs/formats/pipedream.md describes how
 * each is used. The graph is the forward pass, or a training step with the measured backward times; the machine is the
 * one that is asked for, or a host and four of the measured devices. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/c_locale.h"
#include "base/checked.h"
#include "base/fail.h"
#include "base/hash.h"
#include "base/text.h"
#include "cost/cost_models.h"
#include "graph/builder.h"
#include "graph/graph.h"
#include "platform/platform.h"
#include "read/reader.h"

enum { N_DEVICES = 4 };
static const int64_t device_bytes = 16000000000; /* of the V100 that the published profiles were measured on */
static const double link_bytes_per_s = 12.6e9;   /* PCIe 3.0 x16, four fifths of its 15.75 GB/s */
static const int64_t link_ns = 10000;
static const double profiled_flops = 15.7e12;  /* peak of that V100 in f32 */
static const double part_of_peak = 0.5;        /* turns times into FLOPs, for other platforms */
static const double memory_bytes_per_s = 9e11; /* of that V100 */
static const char measured_on[] = "v100";
static const double max_ms = 1e12, max_bytes = 4e18;
static const char separator[] = " -- ";

typedef struct profile {
  const read_source *source;
  arena *scratch;
  situ_error *error;
  situ_graph_builder *builder;
  string_map *nodes; /* name -> number */
  int64_t n_lines, n_nodes;
  int64_t *forward_ns, *backward_ns; /* [node] */
  int32_t *tensor;                   /* [node] or -1 */
  int64_t *activation_bytes;
  bool has_backward;
} profile;

/* One line as it is parsed: text is terminated, `at` moves. */
typedef struct line {
  char *text;
  int64_t number;
} line;

static situ_status bad_line(const profile *p, const line *l, const char *expected) {
  return fail_with(p->error, SITU_STATUS_BAD_INPUT, p->source->path, "line %lld: expected %s", (long long)l->number,
                   expected);
}

/* The number, or the sum of the list "[a; b; c]", that follows `key` in the text. */
static situ_status scan_value(const profile *p, const line *l, const char *text, const char *key, double limit,
                              double *out) {
  const char *at = strstr(text, key);
  if (!at) return bad_line(p, l, key);
  at += strlen(key);
  bool list = *at == '[';
  at += list;
  *out = 0;
  for (;;) {
    double one;
    while (*at == ' ') at++;
    if (list && *at == ']') break;
    at = text_scan_number(at, &one);
    if (!at || !(*out + one <= limit)) {
      char expected[96];
      c_locale_print(expected, sizeof expected, "a number from 0 to %g after %s", limit, key);
      return bad_line(p, l, expected);
    }
    *out += one;
    while (*at == ' ') at++;
    if (!list || *at == ']') break;
    if (*at++ != ';') return bad_line(p, l, "numbers separated by ';' in a list");
  }
  return SITU_STATUS_OK;
}

/* The kind of an operator is its description up to the first bracket. */
static void kind_of(char into[64], const char *description) {
  size_t n = strcspn(description, "(");
  while (n > 0 && description[n - 1] == ' ') n--;
  snprintf(into, 64, "%.*s", (int)(n < 63 ? n : 63), description);
}

/* The FLOPs of the measured device in a time. */
static int64_t work_of(int64_t time_ns) { return sat_round((double)time_ns * 1e-9 * profiled_flops * part_of_peak); }

static situ_status read_node(profile *p, const line *l) {
  char *first = strstr(l->text, separator), *values = NULL;
  if (!first) return bad_line(p, l, "\"name -- description -- values\"");
  for (char *next = strstr(first + 1, separator); next; next = strstr(next + 1, separator)) values = next;
  if (!values) return bad_line(p, l, "\"name -- description -- values\"");
  *first = *values = '\0';
  const char *description = first + strlen(separator), *text = values + strlen(separator);
  double forward_ms, backward_ms, activation, parameters;
  TRY(scan_value(p, l, text, "forward_compute_time=", max_ms, &forward_ms));
  TRY(scan_value(p, l, text, "backward_compute_time=", max_ms, &backward_ms));
  TRY(scan_value(p, l, text, "activation_size=", max_bytes, &activation));
  TRY(scan_value(p, l, text, "parameter_size=", max_bytes, &parameters));
  char *name = arena_string(p->scratch, l->text);
  int64_t number = p->n_nodes;
  int64_t there = name ? string_map_put(p->nodes, name, number) : -1;
  if (there < 0) return fail_no_memory(p->error);
  if (there != number) return bad_line(p, l, "a name that no earlier node has");
  char kind[64];
  kind_of(kind, description);
  situ_operator op = {.name = name,
                      .kind = kind,
                      .dtype = SITU_DTYPE_F32,
                      .weight_bytes = sat_round(parameters),
                      .flops = work_of(sat_round(forward_ms * 1e6)),
                      .moved_bytes = sat_round(parameters + activation),
                      .source_id = number,
                      .colocation = -1};
  p->forward_ns[number] = sat_round(forward_ms * 1e6);
  p->backward_ns[number] = sat_round(backward_ms * 1e6);
  p->activation_bytes[number] = sat_round(activation);
  p->tensor[number] = -1;
  p->has_backward |= backward_ms > 0;
  p->n_nodes++;
  TRY(builder_add_guess(p->builder, SITU_GUESS_WORK, kind, (int32_t)number, p->error)); /* it is from the time */
  return builder_add_operator(p->builder, &op, NULL, p->error);
}

static situ_status read_edge(profile *p, const line *l) {
  char *from = l->text + 1, *middle = strstr(from, separator);
  if (!middle) return bad_line(p, l, "an edge \"name -- name\"");
  *middle = '\0';
  int64_t u = string_map_get(p->nodes, from), v = string_map_get(p->nodes, middle + strlen(separator));
  if (u < 0 || v < 0) return bad_line(p, l, "an edge between two nodes of the file");
  if (u == v) return bad_line(p, l, "an edge between two different nodes");
  if (p->tensor[u] < 0)
    TRY(builder_add_tensor(p->builder, (int32_t)u,
                           &(situ_tensor){.name = from, .rank = -1, .size_bytes = p->activation_bytes[u]},
                           &p->tensor[u], p->error));
  return builder_add_use(p->builder, (int32_t)v, p->tensor[u], p->error);
}

/* Goes over the lines: nodes first, then edges, which begin with a tab. */
static situ_status read_lines(profile *p, bool edges) {
  const char *bytes = (const char *)p->source->bytes;
  size_t n = p->source->size_bytes;
  line l = {0};
  for (size_t at = 0; at < n;) {
    const char *end = memchr(bytes + at, '\n', n - at);
    size_t length = end ? (size_t)(end - (bytes + at)) : n - at;
    l.number++;
    arena_mark mark = arena_get_mark(p->scratch);
    l.text = arena_string_n(p->scratch, bytes + at, length);
    if (!l.text) return fail_no_memory(p->error);
    at += length + 1;
    for (size_t k = strlen(l.text); k > 0 && strchr("\r ", l.text[k - 1]); k--) l.text[k - 1] = '\0';
    if (*l.text == '\0') continue;
    bool is_edge = *l.text == '\t';
    if (is_edge == edges) TRY(edges ? read_edge(p, &l) : read_node(p, &l));
    if (edges) arena_release(p->scratch, mark); /* names of nodes are kept */
  }
  return SITU_STATUS_OK;
}

static situ_status make_platform(const profile *p, situ_platform **out) {
  char names[N_DEVICES][16];
  situ_device devices[N_DEVICES + 1] = {{.name = "cpu",
                                         .class_name = "cpu",
                                         .peak_flops[SITU_DTYPE_F32] = 1e12,
                                         .memory_bytes_per_s = 1e11,
                                         .memory_bytes = SITU_UNLIMITED_BYTES,
                                         .shares_memory_with = -1,
                                         .is_host = true}};
  situ_link links[2 * N_DEVICES];
  for (int32_t k = 0; k < N_DEVICES; k++) {
    snprintf(names[k], sizeof names[k], "dev%d", (int)k);
    devices[k + 1] = (situ_device){.name = names[k],
                                   .class_name = "profiled",
                                   .peak_flops[SITU_DTYPE_F32] = profiled_flops,
                                   .memory_bytes_per_s = memory_bytes_per_s,
                                   .memory_bytes = device_bytes,
                                   .shares_memory_with = -1};
    situ_link link = {.to_device = k + 1, .latency_ns = link_ns, .bytes_per_s = link_bytes_per_s, .channel = -1};
    links[2 * k] = link;
    link.from_device = k + 1;
    link.to_device = 0;
    links[2 * k + 1] = link;
  }
  return platform_new(out, "profiled", devices, N_DEVICES + 1, links, 2 * N_DEVICES, p->error);
}

static int64_t time_of_hop(int64_t size_bytes, const situ_link *link) {
  return sat_add(link_ns, sat_round(ceil((double)size_bytes / link_bytes_per_s * 1e9)));
}

/* What was measured of an operator; an update of weights, which was not, moves its bytes. Operators of the backward
 * pass are named after those of the forward pass (graph/training.c): gradient(NAME), recompute(NAME). */
static int64_t measured_time(const profile *p, const situ_graph *g, int32_t v) {
  const char *name = g->name[v];
  if (g->phase[v] == SITU_PHASE_UPDATE) return sat_round((double)g->moved_bytes[v] / memory_bytes_per_s * 1e9);
  if (g->phase[v] == SITU_PHASE_FORWARD) return p->forward_ns[string_map_get(p->nodes, name)];
  const char *of = strchr(name, '(') + 1;
  of = arena_string_n(p->scratch, of, strlen(of) - 1);
  int64_t node = of ? string_map_get(p->nodes, of) : -1;
  if (node < 0) return -1;
  return g->phase[v] == SITU_PHASE_RECOMPUTE ? p->forward_ns[node] : p->backward_ns[node];
}

/* The training step of the graph, whose backward operators have the work that was measured. */
static situ_status train(const profile *p, read_result *result) {
  situ_graph *forward = result->graph;
  training_options options = {.optimizer = p->source->options->optimizer,
                              .micro_batches = p->source->options->micro_batches};
  recompute_choice choice;
  TRY(read_recompute(&choice, p->source->options, p->error));
  options.recompute = choice.first;
  options.n_also = choice.n_also;
  options.also = choice.also;
  TRY(graph_training(&result->graph, forward, options, p->error));
  situ_graph_free(forward);
  result->trained = true;
  return SITU_STATUS_OK;
}

static situ_status measure(const profile *p, read_result *result) {
  situ_graph *g = result->graph;
  result->measured_ns = calloc((size_t)g->n_operators + 1, sizeof *result->measured_ns);
  result->measured_on = measured_on;
  if (!result->measured_ns) return fail_no_memory(p->error);
  for (int32_t v = 0; v < g->n_operators; v++) {
    result->measured_ns[v] = measured_time(p, g, v);
    if (result->measured_ns[v] < 0) return fail_no_memory(p->error);
    if (g->phase[v] == SITU_PHASE_BACKWARD) g->flops[v] = work_of(result->measured_ns[v]);
  }
  return SITU_STATUS_OK;
}

static situ_status make_costs(const profile *p, read_result *result) {
  const situ_graph *g = result->graph;
  const situ_platform *platform = result->platform;
  TRY(costs_new_with_hops(&result->costs, g, platform, g->size_bytes, time_of_hop, p->error));
  situ_costs *c = result->costs;
  if (!(c->source = arena_string(c->arena, "PipeDream profile")) || !costs_set_measured(c))
    return fail_no_memory(p->error);
  for (int32_t v = 0; v < g->n_operators; v++)
    for (int32_t k = 0; k < c->n_classes; k++)
      c->time_ns[(int64_t)v * c->n_classes + k] =
          platform->devices[platform->class_device[k]].is_host ? SITU_NEVER_NS : result->measured_ns[v];
  return SITU_STATUS_OK;
}

static situ_status read_parts(profile *p, read_result *result) {
  const read_source *s = p->source;
  if (memchr(s->bytes, '\0', s->size_bytes))
    return fail_with(p->error, SITU_STATUS_BAD_INPUT, s->path,
                     "holds a zero byte; expected the text of a PipeDream profile");
  p->n_lines = 1;
  for (size_t i = 0; i < s->size_bytes; i++) p->n_lines += s->bytes[i] == '\n';
  p->nodes = string_map_new(p->scratch, p->n_lines);
  p->forward_ns = ARENA_NEW(p->scratch, int64_t, p->n_lines);
  p->backward_ns = ARENA_NEW(p->scratch, int64_t, p->n_lines);
  p->activation_bytes = ARENA_NEW(p->scratch, int64_t, p->n_lines);
  p->tensor = ARENA_NEW(p->scratch, int32_t, p->n_lines);
  if (!p->nodes || !p->forward_ns || !p->backward_ns || !p->activation_bytes || !p->tensor)
    return fail_no_memory(p->error);
  TRY(situ_graph_builder_new(&p->builder, read_base_name(s->path), p->error));
  TRY(read_lines(p, false));
  TRY(read_lines(p, true));
  TRY(situ_graph_freeze(&result->graph, p->builder, p->error));
  if (s->options->training) TRY(train(p, result));
  TRY(make_platform(p, &result->platform));
  TRY(measure(p, result));
  TRY(make_costs(p, result));
  text_add(&result->notes,
           "the profile names no machine: without --platform, a host and %d devices of the profiled kind are assumed; "
           "of a platform, devices of class %s have the measured times, others an estimate by their rates\n",
           N_DEVICES, measured_on);
  if (p->has_backward && !s->options->training)
    text_add(&result->notes, "the graph is the forward pass; --training uses the measured backward times too\n");
  if (p->has_backward && s->options->training)
    text_add(&result->notes, "updates of weights were not measured: they move their bytes\n");
  return SITU_STATUS_OK;
}

static situ_status read_pipedream(read_result *result, const read_source *source, situ_error *error) {
  profile p = {.source = source, .scratch = arena_new(), .error = error};
  situ_status status = p.scratch ? read_parts(&p, result) : fail_no_memory(error);
  situ_graph_builder_free(p.builder);
  arena_free(p.scratch);
  return status;
}

static int recognise_pipedream(const read_source *source) {
  static const char key[] = "forward_compute_time=";
  size_t n = source->size_bytes < 4096 ? source->size_bytes : 4096, length = sizeof key - 1;
  for (size_t i = 0; i + length <= n; i++)
    if (memcmp(source->bytes + i, key, length) == 0) return 2;
  return 0;
}

const reader pipedream_reader = {.name = "pipedream",
                                 .title = "PipeDream profile (graph.txt)",
                                 .suffixes = ".txt",
                                 .recognise = recognise_pipedream,
                                 .read = read_pipedream};
