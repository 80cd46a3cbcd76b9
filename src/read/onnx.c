/* The ONNX reader: skim, unpack, check external data, order, evaluate, build. See read/onnx_eval.h for how weights
 * are charged, read/onnx_nested.c for sub-graphs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "graph/builder.h"
#include "read/assume.h"
#include "read/onnx_eval.h"
#include "read/onnx_skim.h"
#include "read/reader.h"

static int recognise(const read_source *source) { return onnx_skim_recognise(source); }

/* ---- names ---- */

/* One name for each node: its own where that is the first of its kind, else made from its first output or kind. */
static situ_status name_nodes(onnx_reading *r, const char **names) {
  const onnx_graph *g = r->model->graph;
  string_map *taken = string_map_new(r->a, g->n_nodes);
  if (!taken) return fail_no_memory(r->error);
  for (int32_t i = 0; i < g->n_nodes; i++) {
    const char *own = g->nodes[i].name;
    if (!*own) continue;
    int64_t first = string_map_put(taken, own, i);
    if (first < 0) return fail_no_memory(r->error);
    if (first == i) names[i] = own;
  }
  for (int32_t i = 0; i < g->n_nodes; i++) {
    const onnx_node *n = &g->nodes[i];
    const char *base = n->n_outputs > 0 && *n->outputs[0] ? n->outputs[0] : NULL;
    for (int64_t attempt = base ? 0 : 1; !names[i]; attempt++) {
      const char *stem = base ? base : n->kind;
      size_t size = strlen(stem) + 48;
      char *made = ARENA_NEW(r->a, char, (int64_t)size);
      if (!made) return fail_no_memory(r->error);
      if (attempt == 0)
        snprintf(made, size, "%s", stem);
      else if (attempt == 1)
        snprintf(made, size, "%s_%d", stem, (int)i);
      else
        snprintf(made, size, "%s_%d_%lld", stem, (int)i, (long long)attempt);
      int64_t before = string_map_count(taken);
      if (string_map_put(taken, made, i) < 0) return fail_no_memory(r->error);
      if (string_map_count(taken) > before) names[i] = made;
    }
  }
  return SITU_STATUS_OK;
}

static bool ends_with(const char *text, const char *end) {
  size_t n = strlen(text), m = strlen(end);
  return n >= m && strcmp(text + n - m, end) == 0;
}

/* Training graphs do not mark their phases; kinds and the names that gradient builders give do. */
static situ_phase phase_of(const onnx_node *n) {
  static const char *const updates[] = {
      "Adam",          "AdamOptimizer", "AdamWOptimizer", "SGDOptimizer",       "SGDOptimizerV2",
      "LambOptimizer", "Momentum",      "Adagrad",        "InPlaceAccumulator", "InPlaceAccumulatorV2"};
  bool training = strcmp(n->domain, "ai.onnx.preview.training") == 0 || strcmp(n->domain, "com.microsoft") == 0;
  for (size_t i = 0; training && i < sizeof updates / sizeof *updates; i++)
    if (strcmp(n->kind, updates[i]) == 0) return SITU_PHASE_UPDATE;
  bool grad_kind = training && (ends_with(n->kind, "Grad") || strstr(n->kind, "Grad_"));
  return grad_kind || strstr(n->name, "_Grad/") ? SITU_PHASE_BACKWARD : SITU_PHASE_FORWARD;
}

/* ---- building ---- */

/* The kind of a node as the graph has it: a kind of another domain that bears the name of one of ONNX's own, which it
 * is not, is named with its domain. */
static const char *kind_of(char into[ONNX_KIND_BYTES], const onnx_node *n) {
  bool other = *n->domain && ops_known("", n->kind) && !ops_known(n->domain, n->kind);
  return other ? onnx_full_kind(into, n) : n->kind;
}

/* An operator of the main graph with its tensors and uses. A folded node produces unused tensors of 0 bytes. */
static situ_status build_node(onnx_reading *r, situ_graph_builder *b, const onnx_node *n, const char *name,
                              int32_t source_id, onnx_held *const *outs, const node_cost *cost) {
  char kind[ONNX_KIND_BYTES];
  situ_operator op = {.name = name,
                      .kind = kind_of(kind, n),
                      .layer = n->layer,
                      .phase = phase_of(n),
                      .dtype = cost->dtype,
                      .weight_bytes = cost->weight_bytes,
                      .flops = cost->flops,
                      .moved_bytes = cost->moved_bytes,
                      .source_id = source_id,
                      .colocation = -1,
                      .inferred = cost->inferred};
  int32_t index;
  TRY(builder_add_operator(b, &op, &index, r->error));
  for (int64_t i = 0; i < r->n_uses; i++) TRY(builder_add_use(b, index, r->uses[i], r->error));
  for (int32_t i = 0; i < n->n_outputs; i++) {
    const ops_tensor *t = &outs[i]->t;
    if (!*n->outputs[i]) continue;
    bool free_of_cost = t->constant || t->absent;
    situ_tensor tensor = {.name = n->outputs[i],
                          .dtype = t->dtype,
                          .rank = t->rank,
                          .dims = t->dims,
                          .size_bytes = free_of_cost ? 0 : ops_bytes(t, NULL)};
    TRY(builder_add_tensor(b, index, &tensor, &outs[i]->tensor, r->error));
  }
  return SITU_STATUS_OK;
}

static situ_status build(onnx_reading *r, situ_graph_builder *b) {
  const onnx_graph *g = r->model->graph;
  const char **names = ARENA_ZERO(r->a, const char *, g->n_nodes);
  if (!names) return fail_no_memory(r->error);
  TRY(name_nodes(r, names));
  onnx_scope scope;
  r->builder = b;
  TRY(onnx_scope_open(r, &scope, NULL, NULL, g, NULL, 0));
  int64_t n_floors = 0;
  for (int32_t i = 0; i < g->n_nodes; i++) {
    int32_t at = g->order[i];
    onnx_held **outs;
    node_cost cost;
    r->current = i;
    r->n_uses = 0;
    TRY(onnx_eval_node(r, &scope, &g->nodes[at], &outs, &cost));
    TRY(build_node(r, b, &g->nodes[at], names[at], at, outs, &cost));
    n_floors += !cost.inferred;
  }
  if (r->n_contradictions > 0)
    onnx_note(r, "contradictions",
              "operators that do not match the assumed dimensions: %lld; set the dimensions with --dim",
              (long long)r->n_contradictions);
  if (n_floors > 0)
    onnx_note(r, "floors",
              "%lld of %d operators have shapes or kinds that are not fully known: unknown dimensions "
              "count as 1",
              (long long)n_floors, (int)g->n_nodes);
  if (r->shared_bytes > r->weight_bytes / 100)
    onnx_note(r, "shared",
              "%lld of %lld bytes of weights are read by several operators; the first of them in order "
              "is charged for them",
              (long long)r->shared_bytes, (long long)r->weight_bytes);
  TRY(assume_state(b, r->sizes, r->options, r->asked, r->error));
  return assume_refuse_unknown(r->options, r->asked, r->asked_names, r->path, r->error);
}

/* ---- reading ---- */

/* The name of a file without folder and suffix. */
static char *model_name(arena *a, const char *path) {
  const char *base = read_base_name(path);
  const char *dot = strrchr(base, '.');
  return arena_string_n(a, base, dot && dot > base ? (size_t)(dot - base) : strlen(base));
}

/* The sizes given, and nothing known of the model yet. */
static situ_status begin(onnx_reading *r) {
  r->sizes = NULL;
  r->assumed = false;
  r->n_nested = r->n_contradictions = r->weight_bytes = r->shared_bytes = 0;
  r->assumed_kinds = 0;
  r->noted = string_map_new(r->a, 16);
  r->asked = string_map_new(r->a, 16);
  if (!r->noted || !r->asked) return fail_no_memory(r->error);
  return assume_given(&r->dims, r->options, r->a, r->error);
}

static situ_status read_model(onnx_reading *r, onnx_model **model, const read_source *source) {
  enum { FIRST_IR = 3 };
  text_buffer skimmed = {0};
  onnx_newer newer;
  situ_status status = onnx_skim(&skimmed, &newer, source, r->error);
  if (status == SITU_STATUS_OK) status = onnx_unpack(model, r->a, skimmed.bytes, skimmed.length, r->path, r->error);
  text_free(&skimmed);
  if (status != SITU_STATUS_OK) return status;
  r->model = *model;
  int64_t ir = (*model)->ir_version;
  if (ir < FIRST_IR) onnx_note(r, "ir", "the file has IR version %lld; known from %d", (long long)ir, FIRST_IR);
  if (newer.message)
    onnx_note(r, "ir", "the file, of IR version %lld, uses what is not known: field %u of a %s, which is left out",
              (long long)ir, (unsigned)newer.field, newer.message);
  TRY(onnx_external(*model, r->a, r->path, r->error));
  return onnx_order(*model, r->a, r->path, r->error);
}

/* Builds the graph by one assumption, in place of what another one built and noted. */
static situ_status build_with(onnx_reading *r, read_result *result, const char *name, int32_t assumption,
                              size_t notes_before) {
  situ_graph_free(result->graph);
  result->graph = NULL;
  r->notes->length = notes_before;
  if (r->notes->bytes) r->notes->bytes[notes_before] = '\0';
  r->assumption = assumption;
  TRY(begin(r));
  situ_graph_builder *b;
  TRY(situ_graph_builder_new(&b, name, r->error));
  situ_status status = build(r, b);
  if (status == SITU_STATUS_OK) status = situ_graph_freeze(&result->graph, b, r->error);
  situ_graph_builder_free(b);
  return status;
}

static situ_status read_into(onnx_reading *r, read_result *result, const read_source *source) {
  onnx_model *model;
  r->noted = string_map_new(r->a, 16);
  if (!r->noted) return fail_no_memory(r->error);
  TRY(read_model(r, &model, source));
  char *name = model_name(r->a, source->path);
  if (!name) return fail_no_memory(r->error);
  size_t notes_before = r->notes->length;
  int32_t assumption = 0;
  do TRY(build_with(r, result, name, assumption, notes_before));
  while (r->n_contradictions > 0 && (assumption = assume_next(assumption, r->assumed_kinds)) >= 0);
  result->n_nested_operators = r->n_nested;
  return assume_keep(result, r->sizes, r->options, r->error);
}

static situ_status read_onnx(read_result *result, const read_source *source, situ_error *error) {
  arena *a = arena_new();
  if (!a) return fail_no_memory(error);
  onnx_reading r = {.a = a,
                    .path = source->path,
                    .options = source->options,
                    .precision = read_precision(source->options->precision),
                    .notes = &result->notes,
                    .error = error};
  situ_status status = read_into(&r, result, source);
  if (status == SITU_STATUS_OK && result->notes.failed) status = fail_no_memory(error);
  free(r.uses);
  arena_free(a);
  return status;
}

const reader onnx_reader = {.name = "onnx",
                            .title = "ONNX model (IR version 3 and later)",
                            .suffixes = ".onnx",
                            .recognise = recognise,
                            .in_parts = true,
                            .names_dims = true,
                            .read = read_onnx};
