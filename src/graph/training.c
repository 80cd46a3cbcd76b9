/* The graph of a training step out of that of a forward pass: reverse-mode differentiation, operator by operator. */
#include <stdio.h>
#include <string.h>

#include "base/checked.h"
#include "base/fail.h"
#include "graph/builder.h"
#include "graph/graph.h"
#include "graph/optimizer.h"

enum { NAME_BYTES = 1024 };

/* The tensors of the forward pass that the backward operator of a kind reads, in addition to the gradients of the
 * outputs. */
typedef enum keep { KEEP_INPUTS, KEEP_OUTPUTS, KEEP_NOTHING } keep;
static const char *const keep_outputs[] = {"Sigmoid", "Tanh", "Softmax", "LogSoftmax", "Relu",
                                           "Exp",     "Sqrt", "Dropout", "Reciprocal", NULL};
static const char *const keep_nothing[] = {
    "Add",     "Sub",     "Sum",       "Mean",       "Concat",    "Split",       "Slice",
    "Reshape", "Squeeze", "Unsqueeze", "Flatten",    "Transpose", "Identity",    "Cast",
    "Expand",  "Pad",     "ReduceSum", "ReduceMean", "Neg",       "AveragePool", "GlobalAveragePool",
    NULL};

typedef struct step {
  const situ_graph *g;
  situ_optimizer optimizer;
  situ_graph_builder *b;
  bool *has_weights; /* [colocation] of some member */
  bool *differs;     /* [operator] its outputs change with some weight */
  bool *reached;     /* [operator] and the loss changes with them: it has a backward operator */
  int32_t *backward; /* [operator] its backward operator in the builder, -1: none */
  int32_t *tensor;   /* [tensor] forward, in the builder */
  int32_t *gradient; /* [operator] that of its weights, -1: none */
  int32_t *next;     /* [operator] of its colocation group, -1: none */
  bool *first;       /* [operator] of its colocation group */
} step;

static bool listed(const char *kind, const char *const *list) {
  while (*list && strcmp(*list, kind) != 0) list++;
  return *list != NULL;
}

static keep keep_of(const char *kind) {
  return listed(kind, keep_outputs) ? KEEP_OUTPUTS : listed(kind, keep_nothing) ? KEEP_NOTHING : KEEP_INPUTS;
}

static bool is_real(situ_dtype type) {
  return type == SITU_DTYPE_UNKNOWN || (type >= SITU_DTYPE_F64 && type <= SITU_DTYPE_F8);
}

/* Whether the gradient of tensor t is wanted. */
static bool carries(const step *s, int32_t t) {
  return is_real((situ_dtype)s->g->tensor_dtype[t]) && s->differs[s->g->producer[t]];
}

static bool learns(const step *s, int32_t v) {
  int32_t group = s->g->colocation[v];
  return s->g->weight_bytes[v] > 0 || (group >= 0 && s->has_weights[group]);
}

static void find_reach(step *s) {
  const situ_graph *g = s->g;
  for (int32_t v = 0; v < g->n_operators; v++)
    if (g->colocation[v] >= 0 && g->weight_bytes[v] > 0) s->has_weights[g->colocation[v]] = true;
  for (int32_t v = 0; v < g->n_operators; v++) {
    s->differs[v] = learns(s, v);
    for (int64_t i = g->in_start[v]; i < g->in_start[v + 1]; i++) s->differs[v] = s->differs[v] || carries(s, g->in[i]);
  }
  for (int32_t v = g->n_operators - 1; v >= 0; v--) {
    bool used = false;
    for (int32_t t = g->out_start[v]; t < g->out_start[v + 1]; t++)
      for (int64_t i = g->use_start[t]; i < g->use_start[t + 1]; i++) {
        used = true;
        s->reached[v] = s->reached[v] || (s->reached[g->use[i]] && is_real((situ_dtype)g->tensor_dtype[t]));
      }
    s->reached[v] = s->differs[v] && (s->reached[v] || !used);
  }
}

/* last[colocation] is scratch. */
static void link_groups(step *s, int32_t *last) {
  const situ_graph *g = s->g;
  for (int32_t k = 0; k < g->n_colocations; k++) last[k] = -1;
  for (int32_t v = 0; v < g->n_operators; v++) {
    int32_t group = g->colocation[v];
    s->next[v] = s->gradient[v] = s->backward[v] = -1;
    s->first[v] = group < 0 || last[group] < 0;
    if (group >= 0 && last[group] >= 0) s->next[last[group]] = v;
    if (group >= 0) last[group] = v;
  }
}

/* ---- Operators ---- */

/* Attention is two products of two inputs each, whatever it reads: their gradients cost twice what it does. */
static bool is_attention(const situ_graph *g, int32_t v) { return strcmp(g->kind_name[g->kind[v]], "Attention") == 0; }

/* Each weight and each input whose gradient is wanted costs what the forward operator does; adding up the gradients
 * of several users costs their bytes. */
static void count_work(const step *s, int32_t v, situ_operator *op) {
  const situ_graph *g = s->g;
  int64_t n = learns(s, v);
  for (int64_t i = g->in_start[v]; i < g->in_start[v + 1]; i++) n += carries(s, g->in[i]);
  if (is_attention(g, v) && !learns(s, v)) n = min64(n, 2);
  if (keep_of(op->kind) == KEEP_NOTHING || n < 1) n = 1;
  op->flops = sat_mul(op->flops, n);
  op->moved_bytes = sat_mul(op->moved_bytes, n);
  for (int32_t t = g->out_start[v]; t < g->out_start[v + 1]; t++) {
    int64_t users = 0;
    for (int64_t i = g->use_start[t]; i < g->use_start[t + 1]; i++) users += s->reached[g->use[i]];
    if (users > 1) op->moved_bytes = sat_add(op->moved_bytes, sat_mul(users, g->size_bytes[t]));
  }
}

static situ_status add_operator(step *s, int32_t v, situ_operator *op, const char *word, int32_t *index,
                                situ_error *error) {
  char name[NAME_BYTES], kind[NAME_BYTES];
  const situ_graph *g = s->g;
  if (snprintf(name, sizeof name, "%s(%s)", word, g->name[v]) >= NAME_BYTES ||
      snprintf(kind, sizeof kind, "%s%s", g->kind_name[g->kind[v]],
               op->phase == SITU_PHASE_UPDATE ? "Update" : "Grad") >= NAME_BYTES)
    return fail_with(error, SITU_STATUS_UNSUPPORTED, g->name[v], "has a name that is too long for a training step");
  op->name = name;
  op->kind = kind;
  op->source_id = -1;
  op->colocation = g->colocation[v] >= 0 ? g->colocation[v] : g->n_colocations + v;
  return builder_add_operator(s->b, op, index, error);
}

static situ_status add_forward(step *s, situ_error *error) {
  const situ_graph *g = s->g;
  for (int32_t v = 0; v < g->n_operators; v++) {
    situ_operator op = graph_operator(g, v);
    if (op.phase != SITU_PHASE_FORWARD)
      return fail_with(error, SITU_STATUS_BAD_ARGUMENT, op.name,
                       "is not a forward operator: the model is already a training step");
    if (op.colocation < 0) op.colocation = g->n_colocations + v;
    TRY(builder_add_operator(s->b, &op, NULL, error));
  }
  for (int32_t t = 0; t < g->n_tensors; t++) {
    situ_tensor tensor = graph_tensor(g, t);
    TRY(builder_add_tensor(s->b, g->producer[t], &tensor, &s->tensor[t], error));
    for (int64_t i = g->use_start[t]; i < g->use_start[t + 1]; i++)
      TRY(builder_add_use(s->b, g->use[i], s->tensor[t], error));
  }
  return SITU_STATUS_OK;
}

static situ_status add_backward(step *s, int32_t v, situ_error *error) {
  situ_operator op = graph_operator(s->g, v);
  op.phase = SITU_PHASE_BACKWARD;
  count_work(s, v, &op); /* its weight_bytes are those of the gradient */
  return add_operator(s, v, &op, "gradient", &s->backward[v], error);
}

/* One operator for all weights of a colocation group, whose readers may share them. v is the first member. */
static situ_status add_update(step *s, int32_t v, situ_error *error) {
  const situ_graph *g = s->g;
  situ_operator op = graph_operator(g, v);
  int64_t weights = 0, bytes = (situ_dtype_bits(op.dtype) + 7) / 8;
  int32_t index;
  for (int32_t x = v; x >= 0; x = s->next[x])
    if (s->gradient[x] >= 0) weights = sat_add(weights, g->weight_bytes[x]);
  if (weights == 0) return SITU_STATUS_OK;
  optimizer_cost cost = optimizer_cost_of(s->optimizer, weights, bytes);
  op.phase = SITU_PHASE_UPDATE;
  op.flops = cost.flops;
  op.moved_bytes = bytes > 0 ? cost.moved_bytes : sat_mul(3, weights);
  op.weight_bytes = cost.state_bytes;
  op.workspace_bytes = 0;
  TRY(add_operator(s, v, &op, "update", &index, error));
  for (int32_t x = v; x >= 0; x = s->next[x])
    if (s->gradient[x] >= 0) TRY(builder_add_use(s->b, index, s->gradient[x], error));
  return SITU_STATUS_OK;
}

/* ---- Gradients ---- */

static situ_status read_forward(step *s, int32_t v, situ_error *error) {
  const situ_graph *g = s->g;
  keep kept = keep_of(g->kind_name[g->kind[v]]);
  bool used = false;
  for (int32_t t = g->out_start[v]; t < g->out_start[v + 1]; t++) used = used || g->use_start[t + 1] > g->use_start[t];
  if (kept == KEEP_OUTPUTS || !used)
    for (int32_t t = g->out_start[v]; t < g->out_start[v + 1]; t++)
      TRY(builder_add_use(s->b, s->backward[v], s->tensor[t], error));
  if (kept == KEEP_INPUTS)
    for (int64_t i = g->in_start[v]; i < g->in_start[v + 1]; i++)
      TRY(builder_add_use(s->b, s->backward[v], s->tensor[g->in[i]], error));
  return SITU_STATUS_OK;
}

/* The gradients that the backward operator of v produces: those of its inputs, for their producers; those of its
 * weights, which are accumulated in place, so that they add no bytes here. */
static situ_status make_gradients(step *s, int32_t v, situ_error *error) {
  const situ_graph *g = s->g;
  for (int64_t i = g->in_start[v]; i < g->in_start[v + 1]; i++) {
    int32_t t = g->in[i], u = g->producer[t], made;
    if (!carries(s, t) || !s->reached[u]) continue;
    situ_tensor tensor = graph_tensor(g, t);
    tensor.name = NULL;
    TRY(builder_add_tensor(s->b, s->backward[v], &tensor, &made, error));
    TRY(builder_add_use(s->b, s->backward[u], made, error));
  }
  if (!learns(s, v)) return SITU_STATUS_OK;
  situ_tensor done = {.dtype = SITU_DTYPE_F32, .rank = -1};
  return builder_add_tensor(s->b, s->backward[v], &done, &s->gradient[v], error);
}

static situ_status add_training(step *s, situ_error *error) {
  const situ_graph *g = s->g;
  bool any = false;
  find_reach(s);
  for (int32_t v = 0; v < g->n_operators; v++) any = any || s->reached[v];
  TRY(add_forward(s, error));
  if (!any)
    return fail_with(error, SITU_STATUS_BAD_INPUT, NULL,
                     "no output depends on floating-point weights, so there is nothing to train");
  for (int32_t v = g->n_operators - 1; v >= 0; v--)
    if (s->reached[v]) TRY(add_backward(s, v, error));
  TRY(builder_add_guesses_of(s->b, g, NULL, 0, error));
  TRY(builder_add_guesses_of(s->b, g, s->backward, 0, error));
  for (int32_t v = 0; v < g->n_operators; v++) {
    if (!s->reached[v]) continue;
    TRY(read_forward(s, v, error));
    TRY(make_gradients(s, v, error));
  }
  for (int32_t v = 0; v < g->n_operators; v++)
    if (s->first[v] && s->optimizer != SITU_OPTIMIZER_NONE) TRY(add_update(s, v, error));
  return SITU_STATUS_OK;
}

situ_status graph_training(situ_graph **out, const situ_graph *g, situ_optimizer optimizer, situ_error *error) {
  *out = NULL;
  arena *a = arena_new();
  step s = {.g = g, .optimizer = optimizer};
  int32_t *last = NULL;
  bool ok =
      a && ARENA_ARRAYS(a, ZEROS(s.has_weights, g->n_colocations), ZEROS(s.differs, g->n_operators),
                        ZEROS(s.reached, g->n_operators), ARRAY(s.backward, g->n_operators),
                        ARRAY(s.gradient, g->n_operators), ARRAY(s.tensor, g->n_tensors), ARRAY(s.next, g->n_operators),
                        ARRAY(s.first, g->n_operators), ARRAY(last, g->n_colocations));
  if (ok) link_groups(&s, last);
  situ_status status = ok ? situ_graph_builder_new(&s.b, g->model, error) : fail_no_memory(error);
  if (status == SITU_STATUS_OK) status = add_training(&s, error);
  if (status == SITU_STATUS_OK) status = situ_graph_freeze(out, s.b, error);
  situ_graph_builder_free(s.b);
  arena_free(a);
  return status;
}
