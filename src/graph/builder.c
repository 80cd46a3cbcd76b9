/* The builder: growing arrays while a reader talks, one pass of counting sorts when it freezes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arguments.h"
#include "base/checked.h"
#include "base/compare.h"
#include "base/contracts.h"
#include "base/dtype.h"
#include "base/fail.h"
#include "base/text.h"
#include "graph/builder.h"
#include "graph/graph.h"
#include "graph/guesses.h"

typedef struct built_operator {
  situ_operator about; /* name in the arena, NULL when freezing shall make one; other texts are of no use here */
  int32_t kind, layer, weight_type; /* numbers in the dictionaries; of the last two -1 for none */
} built_operator;

typedef struct built_tensor {
  situ_tensor about; /* dims points into the arena */
  int32_t producer;
} built_tensor;

typedef struct use_pair {
  int32_t tensor, consumer;
} use_pair;

/* Names that many operators share, numbered in order of appearance. */
typedef struct dictionary {
  string_map *numbers;
  const char **names;
  int64_t capacity;
} dictionary;

struct situ_graph_builder {
  arena *arena;
  const char *model;
  dictionary kinds, layers, weight_types;
  built_operator *operators;
  built_tensor *tensors;
  use_pair *uses;
  int64_t n_operators, operators_capacity;
  int64_t n_tensors, tensors_capacity;
  int64_t n_uses, uses_capacity;
  guess_list guesses;
  situ_error failed; /* the first failure of a public call; status OK before */
};

situ_status situ_graph_builder_new(situ_graph_builder **out, const char *model, situ_error *error) {
  if (out) *out = NULL;
  TRY(GIVEN(error, out));
  situ_graph_builder *b = NOUN_NEW(situ_graph_builder, NULL);
  if (!b) return fail_no_memory(error);
  char *name = arena_string(b->arena, model ? model : "model");
  if (name) text_make_utf8(name);
  b->model = name;
  b->kinds.numbers = string_map_new(b->arena, 64);
  b->layers.numbers = string_map_new(b->arena, 64);
  b->weight_types.numbers = string_map_new(b->arena, 8);
  if (!b->model || !b->kinds.numbers || !b->layers.numbers || !b->weight_types.numbers) {
    arena_free(b->arena);
    return fail_no_memory(error);
  }
  *out = b;
  return SITU_STATUS_OK;
}

void situ_graph_builder_free(situ_graph_builder *b) {
  if (!b) return;
  free(b->operators);
  free(b->tensors);
  free(b->uses);
  free(b->kinds.names);
  free(b->layers.names);
  free(b->weight_types.names);
  guess_list_free(&b->guesses);
  arena_free(b->arena);
}

/* Makes room for one more item; false without memory. */
static bool grow(void **items, int64_t n, int64_t *capacity, size_t size) {
  if (n < *capacity) return true;
  int64_t wanted = *capacity ? *capacity * 2 : 64;
  void *moved = realloc(*items, (size_t)wanted * size);
  if (!moved) return false;
  *items = moved;
  *capacity = wanted;
  return true;
}

/* The number of a name in a dictionary, a new one if need be; -2 without memory. */
static int32_t intern(situ_graph_builder *b, dictionary *d, const char *name) {
  int64_t known = string_map_get(d->numbers, name), n = string_map_count(d->numbers);
  if (known >= 0) return (int32_t)known;
  char *copy = arena_string(b->arena, name);
  if (copy && text_make_utf8(copy) && (known = string_map_get(d->numbers, copy)) >= 0) return (int32_t)known;
  if (!copy || !grow((void **)&d->names, n, &d->capacity, sizeof *d->names)) return -2;
  d->names[n] = copy;
  return (int32_t)string_map_put(d->numbers, copy, n) < 0 ? -2 : (int32_t)n;
}

static situ_status check_operator(const situ_operator *op, situ_error *error) {
  const char *name = op->name ? op->name : "an operator";
  if (op->weight_bytes < 0 || op->workspace_bytes < 0 || op->flops < 0 || op->moved_bytes < 0 || op->split_ways < 0)
    return fail_with(error, SITU_STATUS_BAD_INPUT, name, "has a negative size or work; all must be at least 0");
  if ((unsigned)op->phase > SITU_PHASE_RECOMPUTE || (unsigned)op->dtype >= DTYPE_COUNT)
    return fail_with(error, SITU_STATUS_BAD_ARGUMENT, name, "has a phase or an element type that does not exist");
  if (op->colocation < -1) return fail_with(error, SITU_STATUS_BAD_ARGUMENT, name, "has a colocation group below -1");
  return SITU_STATUS_OK;
}

situ_status builder_add_operator(situ_graph_builder *b, const situ_operator *op, int32_t *index, situ_error *error) {
  TRY(check_operator(op, error));
  if (b->n_operators >= SITU_MAX_OPERATORS)
    return fail_with(error, SITU_STATUS_BAD_INPUT, b->model, "has more than %d operators", SITU_MAX_OPERATORS);
  if (!grow((void **)&b->operators, b->n_operators, &b->operators_capacity, sizeof *b->operators))
    return fail_no_memory(error);
  built_operator *o = &b->operators[b->n_operators];
  o->about = *op;
  o->kind = intern(b, &b->kinds, op->kind && *op->kind ? op->kind : "Operator");
  o->layer = op->layer && *op->layer ? intern(b, &b->layers, op->layer) : -1;
  o->weight_type = op->weight_type && *op->weight_type ? intern(b, &b->weight_types, op->weight_type) : -1;
  bool named = op->name && *op->name && text_is_utf8(op->name);
  o->about.name = named ? arena_string(b->arena, op->name) : NULL;
  if ((named && !o->about.name) || o->kind == -2 || o->layer == -2 || o->weight_type == -2)
    return fail_no_memory(error);
  if (index) *index = (int32_t)b->n_operators;
  b->n_operators++;
  return SITU_STATUS_OK;
}

situ_status builder_add_tensor(situ_graph_builder *b, int32_t producer, const situ_tensor *tensor, int32_t *index,
                               situ_error *error) {
  if (producer < 0 || producer >= b->n_operators)
    return fail_with(error, SITU_STATUS_BAD_ARGUMENT, tensor->name, "has a producer that was never added");
  if (tensor->size_bytes < 0 || tensor->rank < -1 || tensor->rank > 4096)
    return fail_with(error, SITU_STATUS_BAD_INPUT, tensor->name, "has a negative size or a rank out of range");
  for (int32_t d = 0; tensor->dims && d < tensor->rank; d++)
    if (tensor->dims[d] < -1) return fail_with(error, SITU_STATUS_BAD_INPUT, tensor->name, "has a negative dimension");
  if (b->n_tensors >= SITU_MAX_TENSORS)
    return fail_with(error, SITU_STATUS_BAD_INPUT, b->model, "has more than %d tensors", SITU_MAX_TENSORS);
  if (!grow((void **)&b->tensors, b->n_tensors, &b->tensors_capacity, sizeof *b->tensors)) return fail_no_memory(error);
  built_tensor *t = &b->tensors[b->n_tensors];
  *t = (built_tensor){.about = *tensor, .producer = producer};
  bool named = tensor->name && text_is_utf8(tensor->name);
  t->about.name = named ? arena_string(b->arena, tensor->name) : NULL;
  if (tensor->rank <= 0 || !tensor->dims) {
    t->about.dims = NULL;
    if (tensor->rank > 0) t->about.rank = -1;
  } else {
    t->about.dims = ARENA_COPY(b->arena, tensor->dims, int64_t, tensor->rank);
    if (!t->about.dims) return fail_no_memory(error);
  }
  if (named && !t->about.name) return fail_no_memory(error);
  if (index) *index = (int32_t)b->n_tensors;
  b->n_tensors++;
  return SITU_STATUS_OK;
}

situ_status builder_add_use(situ_graph_builder *b, int32_t consumer, int32_t tensor, situ_error *error) {
  if (consumer < 0 || consumer >= b->n_operators || tensor < 0 || tensor >= b->n_tensors)
    return fail_with(error, SITU_STATUS_BAD_ARGUMENT, b->model, "a use names an operator or tensor never added");
  if (b->n_uses >= SITU_MAX_USES)
    return fail_with(error, SITU_STATUS_BAD_INPUT, b->model, "has more than %d uses of tensors", SITU_MAX_USES);
  if (!grow((void **)&b->uses, b->n_uses, &b->uses_capacity, sizeof *b->uses)) return fail_no_memory(error);
  b->uses[b->n_uses++] = (use_pair){tensor, consumer};
  return SITU_STATUS_OK;
}

situ_status builder_add_guess(situ_graph_builder *b, situ_guess_kind kind, const char *subject, int32_t op,
                              situ_error *error) {
  return guess_list_add(&b->guesses, b->arena, kind, subject, op) ? SITU_STATUS_OK : fail_no_memory(error);
}

situ_status builder_add_tensors_of(situ_graph_builder *b, const situ_graph *g, int32_t first, situ_error *error) {
  for (int32_t t = 0; t < g->n_tensors; t++) {
    situ_tensor tensor = graph_tensor(g, t);
    int32_t made;
    TRY(builder_add_tensor(b, first + g->producer[t], &tensor, &made, error));
    for (int64_t i = g->use_start[t]; i < g->use_start[t + 1]; i++)
      TRY(builder_add_use(b, first + g->use[i], made, error));
  }
  return SITU_STATUS_OK;
}

situ_status builder_add_guesses_of(situ_graph_builder *b, const situ_graph *g, const int32_t *to, int32_t shift,
                                   situ_error *error) {
  for (int32_t i = 0; i < g->n_guesses; i++) {
    const graph_guess *guess = &g->guesses[i];
    if (guess->n_operators == GUESS_OF_ALL) TRY(builder_add_guess(b, guess->kind, guess->subject, GUESS_OF_ALL, error));
    for (int32_t k = 0; k < guess->n_operators; k++) {
      int32_t v = to ? to[guess->operators[k]] : guess->operators[k];
      if (v >= 0) TRY(builder_add_guess(b, guess->kind, guess->subject, v + shift, error));
    }
  }
  return SITU_STATUS_OK;
}

/* ---- the public calls: the first failure stays ---- */

int32_t situ_graph_builder_add_operator(situ_graph_builder *b, const situ_operator *op) {
  situ_operator own;
  int32_t index = -1;
  if (!b || b->failed.status != SITU_STATUS_OK) return -1;
  if (GIVEN(&b->failed, op) == SITU_STATUS_OK && TAKE(own, op, SITU_OPERATOR_INIT, &b->failed) == SITU_STATUS_OK)
    builder_add_operator(b, &own, &index, &b->failed);
  return index;
}

int32_t situ_graph_builder_add_tensor(situ_graph_builder *b, int32_t producer, const situ_tensor *tensor) {
  situ_tensor own;
  int32_t index = -1;
  if (!b || b->failed.status != SITU_STATUS_OK) return -1;
  if (GIVEN(&b->failed, tensor) == SITU_STATUS_OK && TAKE(own, tensor, SITU_TENSOR_INIT, &b->failed) == SITU_STATUS_OK)
    builder_add_tensor(b, producer, &own, &index, &b->failed);
  return index;
}

void situ_graph_builder_add_use(situ_graph_builder *b, int32_t consumer, int32_t tensor) {
  if (b && b->failed.status == SITU_STATUS_OK) builder_add_use(b, consumer, tensor, &b->failed);
}

void situ_graph_builder_add_guess(situ_graph_builder *b, situ_guess_kind kind, const char *subject, int32_t op) {
  if (!b || b->failed.status != SITU_STATUS_OK) return;
  if ((unsigned)kind > SITU_GUESS_WORK || !subject || op < GUESS_OF_ALL || op >= b->n_operators)
    fail_with(&b->failed, SITU_STATUS_BAD_ARGUMENT, subject,
              "a guess has a kind that does not exist, no subject, or an operator that was never added");
  else
    builder_add_guess(b, kind, subject, op, &b->failed);
}

situ_status situ_graph_builder_status(const situ_graph_builder *b, situ_error *error) {
  TRY(GIVEN(error, b));
  if (error && b->failed.status != SITU_STATUS_OK) *error = b->failed;
  return b->failed.status;
}

/* ---- freezing ---- */

/* A binary heap of builder indices: the smallest ready one comes first, which keeps the builder's order wherever it
 * is topological already. */
static void heap_push(int32_t *heap, int32_t *n, int32_t value) {
  int32_t i = (*n)++;
  for (; i > 0 && heap[(i - 1) / 2] > value; i = (i - 1) / 2) heap[i] = heap[(i - 1) / 2];
  heap[i] = value;
}

static int32_t heap_pop(int32_t *heap, int32_t *n) {
  int32_t top = heap[0], last = heap[--*n], i = 0;
  for (int32_t child; (child = 2 * i + 1) < *n; i = child) {
    if (child + 1 < *n && heap[child + 1] < heap[child]) child++;
    if (heap[child] >= last) break;
    heap[i] = heap[child];
  }
  if (*n > 0) heap[i] = last;
  return top;
}

/* What freezing works with: uses by tensor and tensors by producer, in the builder's numbers. */
typedef struct freezing {
  const situ_graph_builder *b;
  arena *scratch;
  int64_t *use_start;  /* of tensors */
  int32_t *use;        /* consumers, grouped by tensor */
  int64_t *made_start; /* of operators */
  int32_t *made;       /* tensors, grouped by producer in order of addition */
  int32_t *new_of;     /* operator -> its number in the graph */
  int32_t *old_of;
} freezing;

static bool group_by_owner(freezing *f) {
  const situ_graph_builder *b = f->b;
  if (!ARENA_ARRAYS(f->scratch, ZEROS(f->use_start, b->n_tensors + 2), ARRAY(f->use, b->n_uses),
                    ZEROS(f->made_start, b->n_operators + 2), ARRAY(f->made, b->n_tensors),
                    ARRAY(f->new_of, b->n_operators), ARRAY(f->old_of, b->n_operators)))
    return false;
  for (int64_t i = 0; i < b->n_uses; i++) f->use_start[b->uses[i].tensor + 2]++;
  for (int64_t t = 0; t < b->n_tensors; t++) f->made_start[b->tensors[t].producer + 2]++;
  for (int64_t t = 0; t < b->n_tensors; t++) f->use_start[t + 2] += f->use_start[t + 1];
  for (int64_t v = 0; v < b->n_operators; v++) f->made_start[v + 2] += f->made_start[v + 1];
  for (int64_t i = 0; i < b->n_uses; i++) f->use[f->use_start[b->uses[i].tensor + 1]++] = b->uses[i].consumer;
  for (int64_t t = 0; t < b->n_tensors; t++) f->made[f->made_start[b->tensors[t].producer + 1]++] = (int32_t)t;
  return true;
}

/* For messages. */
static const char *shown_name(const situ_graph_builder *b, int32_t v) {
  return b->operators[v].about.name ? b->operators[v].about.name : b->kinds.names[b->operators[v].kind];
}

/* Each operator that still waits reads from another that still waits: following one such producer from any of them
 * ends on a cycle. `before` is room for a number of each operator. */
static situ_status name_cycle(const freezing *f, const int64_t *waiting, int32_t *before, situ_error *error) {
  const situ_graph_builder *b = f->b;
  int32_t v = 0;
  while (waiting[v] == 0) v++;
  for (int64_t i = b->n_uses - 1; i >= 0; i--) {
    int32_t producer = b->tensors[b->uses[i].tensor].producer;
    if (waiting[producer] > 0) before[b->uses[i].consumer] = producer;
  }
  for (int64_t steps = 0; steps < b->n_operators; steps++) v = before[v];
  int64_t length = 1;
  for (int32_t u = before[v]; u != v; u = before[u]) length++;
  return fail_with(error, SITU_STATUS_BAD_INPUT, shown_name(b, v),
                   "is on a cycle of %lld operators, since it reads from '%s'; a graph must have none (in %s)",
                   (long long)length, shown_name(b, before[v]), b->model);
}

/* Kahn's algorithm, smallest index first. */
static situ_status sort_operators(freezing *f, situ_error *error) {
  const situ_graph_builder *b = f->b;
  int64_t *waiting = ARENA_ZERO(f->scratch, int64_t, b->n_operators);
  int32_t *heap = ARENA_NEW(f->scratch, int32_t, b->n_operators);
  if (!waiting || !heap) return fail_no_memory(error);
  for (int64_t i = 0; i < b->n_uses; i++) waiting[b->uses[i].consumer]++;
  int32_t n_ready = 0, n_done = 0;
  for (int32_t v = 0; v < b->n_operators; v++)
    if (waiting[v] == 0) heap_push(heap, &n_ready, v);
  while (n_ready > 0) {
    int32_t v = heap_pop(heap, &n_ready);
    f->new_of[v] = n_done;
    f->old_of[n_done++] = v;
    for (int64_t m = f->made_start[v]; m < f->made_start[v + 1]; m++)
      for (int64_t i = f->use_start[f->made[m]]; i < f->use_start[f->made[m] + 1]; i++)
        if (--waiting[f->use[i]] == 0) heap_push(heap, &n_ready, f->use[i]);
  }
  if (n_done == b->n_operators) return SITU_STATUS_OK;
  return name_cycle(f, waiting, heap, error);
}

static bool allocate(situ_graph *g, const situ_graph_builder *b) {
  arena *a = g->arena;
  int64_t n = b->n_operators, m = b->n_tensors, n_dims = 0;
  for (int64_t t = 0; t < m; t++) n_dims += b->tensors[t].about.dims ? b->tensors[t].about.rank : 0;
  g->n_operators = (int32_t)n;
  g->n_tensors = (int32_t)m;
  g->n_kinds = (int32_t)string_map_count(b->kinds.numbers);
  g->n_layers = (int32_t)string_map_count(b->layers.numbers);
  g->n_weight_types = (int32_t)string_map_count(b->weight_types.numbers);
  return (g->model = arena_string(a, b->model)) && (g->name = ARENA_ZERO(a, const char *, n)) &&
         (g->kind = ARENA_NEW(a, int32_t, n)) && (g->layer = ARENA_NEW(a, int32_t, n)) &&
         (g->weight_type = ARENA_NEW(a, int32_t, n)) &&
         (g->weight_type_name = ARENA_ZERO(a, const char *, g->n_weight_types)) &&
         (g->colocation = ARENA_NEW(a, int32_t, n)) && (g->phase = ARENA_NEW(a, uint8_t, n)) &&
         (g->dtype = ARENA_NEW(a, uint8_t, n)) && (g->inferred = ARENA_NEW(a, bool, n)) &&
         (g->weight_bytes = ARENA_NEW(a, int64_t, n)) && (g->workspace_bytes = ARENA_NEW(a, int64_t, n)) &&
         (g->split_ways = ARENA_NEW(a, int64_t, n)) && (g->flops = ARENA_NEW(a, int64_t, n)) &&
         (g->moved_bytes = ARENA_NEW(a, int64_t, n)) && (g->source_id = ARENA_NEW(a, int64_t, n)) &&
         (g->built_index = ARENA_NEW(a, int32_t, n)) && (g->tensor_name = ARENA_ZERO(a, const char *, m)) &&
         (g->size_bytes = ARENA_NEW(a, int64_t, m)) && (g->producer = ARENA_NEW(a, int32_t, m)) &&
         (g->tensor_dtype = ARENA_NEW(a, uint8_t, m)) && (g->rank = ARENA_NEW(a, int32_t, m)) &&
         (g->dims_start = ARENA_NEW(a, int64_t, m + 1)) && (g->dims = ARENA_NEW(a, int64_t, n_dims)) &&
         (g->out_start = ARENA_NEW(a, int32_t, n + 1)) && (g->use_start = ARENA_ZERO(a, int64_t, m + 1)) &&
         (g->use = ARENA_NEW(a, int32_t, b->n_uses)) && (g->in_start = ARENA_ZERO(a, int64_t, n + 2)) &&
         (g->in = ARENA_NEW(a, int32_t, b->n_uses)) && (g->kind_name = ARENA_ZERO(a, const char *, g->n_kinds)) &&
         (g->layer_name = ARENA_ZERO(a, const char *, g->n_layers)) && (g->by_name = string_map_new(a, n));
}

/* "Conv_7" for an operator that was given no name; "Conv_7_2", ... when another bears that already. */
static situ_status make_name(situ_graph *g, int32_t v, int32_t built_index, situ_error *error) {
  char made[96];
  int n = snprintf(made, sizeof made, "%.64s_%d", g->kind_name[g->kind[v]], built_index);
  for (int suffix = 2; string_map_get(g->by_name, made) >= 0; suffix++)
    snprintf(made + n, sizeof made - (size_t)n, "_%d", suffix);
  g->name[v] = arena_string(g->arena, made);
  return g->name[v] && string_map_put(g->by_name, g->name[v], v) == v ? SITU_STATUS_OK : fail_no_memory(error);
}

/* Given names first: a made one gives way to them. */
static situ_status fill_names(situ_graph *g, const freezing *f, situ_error *error) {
  for (int32_t v = 0; v < g->n_operators; v++) {
    const char *given = f->b->operators[f->old_of[v]].about.name;
    if (!given) continue;
    g->name[v] = arena_string(g->arena, given);
    int64_t there = g->name[v] ? string_map_put(g->by_name, g->name[v], v) : -1;
    if (there < 0) return fail_no_memory(error);
    if (there != v)
      return fail_with(error, SITU_STATUS_BAD_INPUT, g->name[v], "two operators have this name; names must be unique");
  }
  for (int32_t v = 0; v < g->n_operators; v++)
    if (!g->name[v]) TRY(make_name(g, v, f->old_of[v], error));
  return SITU_STATUS_OK;
}

static situ_status fill_operators(situ_graph *g, const freezing *f, situ_error *error) {
  for (int32_t v = 0; v < g->n_operators; v++) {
    const built_operator *o = &f->b->operators[f->old_of[v]];
    g->kind[v] = o->kind;
    g->layer[v] = o->layer;
    g->weight_type[v] = o->weight_type;
    g->colocation[v] = o->about.colocation;
    g->phase[v] = (uint8_t)o->about.phase;
    g->dtype[v] = (uint8_t)o->about.dtype;
    g->inferred[v] = o->about.inferred;
    g->weight_bytes[v] = o->about.weight_bytes;
    g->workspace_bytes[v] = o->about.workspace_bytes;
    g->split_ways[v] = o->about.split_ways;
    g->flops[v] = o->about.flops;
    g->moved_bytes[v] = o->about.moved_bytes;
    g->source_id[v] = o->about.source_id;
    g->built_index[v] = f->old_of[v];
  }
  return fill_names(g, f, error);
}

/* Numbers the tensors by producer. */
static bool fill_tensors(situ_graph *g, const freezing *f, int32_t *old_tensor) {
  int32_t n = 0;
  int64_t n_dims = 0;
  for (int32_t v = 0; v < g->n_operators; v++) {
    g->out_start[v] = n;
    int32_t old = f->old_of[v];
    for (int64_t m = f->made_start[old]; m < f->made_start[old + 1]; m++, n++) {
      const built_tensor *t = &f->b->tensors[f->made[m]];
      old_tensor[n] = f->made[m];
      g->producer[n] = v;
      g->tensor_name[n] = arena_string(g->arena, t->about.name);
      if (t->about.name && !g->tensor_name[n]) return false;
      g->size_bytes[n] = t->about.size_bytes;
      g->tensor_dtype[n] = (uint8_t)t->about.dtype;
      g->rank[n] = t->about.rank;
      g->dims_start[n] = n_dims;
      for (int32_t d = 0; t->about.dims && d < t->about.rank; d++) g->dims[n_dims++] = t->about.dims[d];
    }
  }
  g->out_start[g->n_operators] = n;
  g->dims_start[n] = n_dims;
  return true;
}

/* in-lists by counting over tensors in ascending order (so they ascend), dropping repeats. The first pass counts, also
 * the users of each tensor; the second places. last_tensor marks by tensor and pass what an operator had last. */
static void fill_uses(situ_graph *g, const freezing *f, const int32_t *old_tensor, int32_t *last_tensor) {
  int64_t *at = g->in_start; /* shifted by one while counting */
  for (int32_t v = 0; v < g->n_operators; v++) last_tensor[v] = -1;
  for (int32_t pass = 0; pass < 2; pass++) {
    for (int32_t t = 0; t < g->n_tensors; t++) {
      int64_t from = f->use_start[old_tensor[t]], to = f->use_start[old_tensor[t] + 1];
      for (int64_t i = from; i < to; i++) {
        int32_t v = f->new_of[f->use[i]];
        int32_t mark = pass ? -2 - t : t;
        if (last_tensor[v] == mark) continue;
        last_tensor[v] = mark;
        if (pass == 0) {
          at[v + 2]++;
          g->use_start[t + 1]++;
        } else {
          g->in[at[v + 1]++] = t;
        }
      }
    }
    if (pass == 0) {
      for (int32_t v = 0; v < g->n_operators; v++) at[v + 2] += at[v + 1];
      for (int32_t t = 0; t < g->n_tensors; t++) g->use_start[t + 1] += g->use_start[t];
    }
  }
  g->n_uses = g->in_start[g->n_operators];
}

/* use-lists from in-lists: operators are visited ascending, so these ascend too. */
static void fill_users(situ_graph *g, int64_t *next) {
  for (int32_t t = 0; t < g->n_tensors; t++) next[t] = g->use_start[t];
  for (int32_t v = 0; v < g->n_operators; v++)
    for (int64_t i = g->in_start[v]; i < g->in_start[v + 1]; i++) g->use[next[g->in[i]]++] = v;
  for (int32_t v = 0; v < g->n_operators; v++) { /* inputs ascend, so those of one producer are neighbours */
    int32_t last = -1;
    for (int64_t i = g->in_start[v]; i < g->in_start[v + 1]; i++) {
      int32_t u = g->producer[g->in[i]];
      g->n_edges += u != last;
      last = u;
    }
  }
}

typedef struct member {
  int32_t group, op;
} member;

COMPARATOR(by_group, member, UP(group) UP(op))

/* Numbers the colocation groups densely in order of their first operator; groups of one become none. By sorting, since
 * a file may give any numbers. */
static bool number_colocations(situ_graph *g, arena *scratch) {
  int64_t n = 0;
  for (int32_t v = 0; v < g->n_operators; v++) n += g->colocation[v] >= 0;
  if (n == 0) return true;
  member *members = ARENA_NEW(scratch, member, n);
  int32_t *first = ARENA_NEW(scratch, int32_t, g->n_operators); /* of the group of an operator; -1 when alone */
  if (!members || !first) return false;
  n = 0;
  for (int32_t v = 0; v < g->n_operators; v++)
    if (g->colocation[v] >= 0) members[n++] = (member){g->colocation[v], v};
  qsort(members, (size_t)n, sizeof *members, by_group);
  for (int64_t from = 0, to; from < n; from = to) {
    for (to = from + 1; to < n && members[to].group == members[from].group; to++) continue;
    for (int64_t i = from; i < to; i++) first[members[i].op] = to - from > 1 ? members[from].op : -1;
  }
  for (int32_t v = 0; v < g->n_operators; v++) {
    if (g->colocation[v] < 0) continue;
    if (first[v] < 0)
      g->colocation[v] = -1;
    else
      g->colocation[v] = first[v] == v ? g->n_colocations++ : g->colocation[first[v]];
  }
  return true;
}

static bool copy_names(const char **to, arena *a, const dictionary *from, int32_t n) {
  for (int32_t i = 0; i < n; i++)
    if (!(to[i] = arena_string(a, from->names[i]))) return false;
  return true;
}
static bool copy_dictionaries(situ_graph *g, const situ_graph_builder *b) {
  return copy_names(g->layer_name, g->arena, &b->layers, g->n_layers) &&
         copy_names(g->kind_name, g->arena, &b->kinds, g->n_kinds) &&
         copy_names(g->weight_type_name, g->arena, &b->weight_types, g->n_weight_types);
}

static situ_status freeze_into(situ_graph *g, freezing *f, situ_error *error) {
  if (!group_by_owner(f)) return fail_no_memory(error);
  TRY(sort_operators(f, error));
  int32_t *old_tensor, *last_tensor;
  int64_t *next;
  if (!ARENA_ARRAYS(f->scratch, ARRAY(old_tensor, f->b->n_tensors), ARRAY(last_tensor, f->b->n_operators),
                    ARRAY(next, f->b->n_tensors)) ||
      !allocate(g, f->b) || !copy_dictionaries(g, f->b))
    return fail_no_memory(error);
  TRY(fill_operators(g, f, error));
  if (!guess_list_freeze(g, &f->b->guesses, f->new_of, f->scratch)) return fail_no_memory(error);
  if (!fill_tensors(g, f, old_tensor)) return fail_no_memory(error);
  fill_uses(g, f, old_tensor, last_tensor);
  fill_users(g, next);
  return number_colocations(g, f->scratch) && graph_find_recomputed(g, f->scratch) ? SITU_STATUS_OK
                                                                                   : fail_no_memory(error);
}

situ_status situ_graph_freeze(situ_graph **out, const situ_graph_builder *b, situ_error *error) {
  if (out) *out = NULL;
  TRY(GIVEN(error, out, b));
  TRY(situ_graph_builder_status(b, error));
  if (b->n_operators == 0)
    return fail_with(error, SITU_STATUS_BAD_INPUT, b->model, "has no operators; there is nothing to place");
  arena *a = arena_new();
  freezing f = {.b = b, .scratch = arena_new()};
  situ_graph *g = a ? ARENA_ZERO(a, situ_graph, 1) : NULL;
  situ_status status = SITU_STATUS_NO_MEMORY;
  if (g && f.scratch) {
    g->arena = a;
    status = freeze_into(g, &f, error);
  } else {
    fail_no_memory(error);
  }
  arena_free(f.scratch);
  if (status != SITU_STATUS_OK) {
    arena_free(a);
    return status;
  }
  CONTRACT(graph_check(g));
  *out = g;
  return SITU_STATUS_OK;
}
