/* The graph of a training step out of that of a forward pass: reverse-mode differentiation, operator by operator. */
#include <stdio.h>
#include <string.h>

#include "base/checked.h"
#include "base/contracts.h"
#include "base/csr.h"
#include "base/fail.h"
#include "graph/builder.h"
#include "graph/graph.h"
#include "graph/optimizer.h"
#include "graph/segments.h"

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

/* Kinds whose backward operator holds as much again as it reads while it runs: PyTorch's keeps the logarithms of the
 * probabilities, from which it makes their gradient and then that of its input. */
static const char *const doubled[] = {"cross_entropy_loss", NULL};

typedef struct step {
  const situ_graph *g;
  situ_optimizer optimizer;
  int32_t micro_batches; /* at least 1 */
  bool offload;          /* a host makes the updates */
  bool exchanges;        /* pipelines: tied tables are copied, and their gradients sent once for so many inputs */
  situ_graph_builder *b;
  bool *has_weights;       /* [colocation] of some member */
  int32_t *tied;           /* [operator] that has a copy of the same table, -1: none; they share no device */
  bool *differs;           /* [operator] its outputs change with some weight */
  bool *reached;           /* [operator] and the loss changes with them: it has a backward operator */
  int32_t *backward;       /* [operator] its backward operator in the builder, -1: none */
  int32_t *tensor;         /* [tensor] forward, in the builder */
  int32_t *gradient;       /* [operator] that of its weights, -1: none */
  graph_offload *offloads; /* [n_offloads] by the numbers of the builder; room for one of each operator */
  int32_t n_offloads;
  int32_t *next; /* [operator] of its colocation group, -1: none */
  bool *first;   /* [operator] of its colocation group */

  /* Segments whose activations are recomputed; only `segment` is used where none are. */
  segment_list segments;
  int32_t *segment;               /* [operator] as in `segments` where that one is recomputed, else -1 */
  int32_t *member_start, *member; /* its operators */
  bool *again;                    /* [operator] it runs once more */
  bool *again_tensor;             /* [tensor] the backward operators of its segment need it, and it is not kept */
  int32_t *copy, *copy_tensor;    /* of such operators and tensors, in the builder, -1: none */
  int32_t n_recomputed;           /* segments that have any */
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

static int32_t group_of(const step *s, int32_t v) { return s->tied[v] >= 0 ? -1 : s->g->colocation[v]; }

/* A table that it shares with another one is in both. */
static int64_t weights_of(const step *s, int32_t v) {
  const situ_graph *g = s->g;
  int32_t other = s->tied[v];
  bool looks_up = other >= 0 && strcmp(g->kind_name[g->kind[v]], "Gather") == 0;
  if (other < 0 || (looks_up && g->weight_bytes[v] > 0)) return g->weight_bytes[v];
  return sat_add(looks_up ? 0 : g->weight_bytes[v], g->weight_bytes[other]);
}

static bool learns(const step *s, int32_t v) {
  int32_t group = s->g->colocation[v];
  return s->g->weight_bytes[v] > 0 || (group >= 0 && s->has_weights[group]);
}

/* Whether one of both holds a table, and the other at most a bias: with a table of each the group has other reasons. */
static bool share_table(const situ_graph *g, int32_t u, int32_t v) {
  static const int64_t BIASES_OF_TABLE = 8;
  int64_t a = g->weight_bytes[u], b = g->weight_bytes[v];
  return max64(a, b) > 0 && min64(a, b) <= max64(a, b) / BIASES_OF_TABLE;
}

/* Tied embeddings: groups of two that share a table, a lookup and a matrix product. first[colocation] is scratch. */
static void find_tied(step *s, int32_t *first) {
  const situ_graph *g = s->g;
  for (int32_t k = 0; k < g->n_colocations; k++) first[k] = -1;
  for (int32_t v = 0; v < g->n_operators; v++) {
    int32_t group = g->colocation[v];
    s->tied[v] = -1;
    if (group < 0 || first[group] == -2) continue;
    int32_t other = first[group];
    first[group] = v;
    if (other < 0) continue;
    const char *a = g->kind_name[g->kind[other]], *b = g->kind_name[g->kind[v]];
    bool pair = strcmp(a, "Gather") == 0 && (strcmp(b, "MatMul") == 0 || strcmp(b, "Gemm") == 0);
    if (s->tied[other] >= 0) { /* this is a third one */
      s->tied[s->tied[other]] = -1;
      s->tied[other] = -1;
    } else if (pair && s->exchanges && share_table(g, other, v)) {
      s->tied[other] = v;
      s->tied[v] = other;
    }
    if (s->tied[v] < 0) first[group] = -2;
  }
}

static void find_reach(step *s) {
  const situ_graph *g = s->g;
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

/* Whether the backward operator of v reads the outputs of v, and its inputs. */
static bool reads_outputs(const situ_graph *g, int32_t v) {
  if (keep_of(g->kind_name[g->kind[v]]) == KEEP_OUTPUTS) return true;
  for (int32_t t = g->out_start[v]; t < g->out_start[v + 1]; t++)
    if (g->use_start[t + 1] > g->use_start[t]) return false;
  return true;
}

/* Whether it reads input t of v. The derivative of a product by one factor is the others, so a factor is read only for
 * another that has a gradient. */
static bool reads_input(const step *s, int32_t v, int32_t t) {
  const situ_graph *g = s->g;
  const char *kind = g->kind_name[g->kind[v]];
  if (keep_of(kind) != KEEP_INPUTS) return false;
  int64_t others = 0;
  if (strcmp(kind, "Mul") != 0 || learns(s, v)) return true;
  for (int64_t j = g->in_start[v]; j < g->in_start[v + 1]; j++) others += carries(s, g->in[j]);
  return others > carries(s, t);
}

/* last[colocation] is scratch. */
static void link_groups(step *s, int32_t *last) {
  const situ_graph *g = s->g;
  for (int32_t k = 0; k < g->n_colocations; k++) last[k] = -1;
  for (int32_t v = 0; v < g->n_operators; v++) {
    int32_t group = group_of(s, v);
    s->next[v] = s->gradient[v] = s->backward[v] = -1;
    s->first[v] = group < 0 || last[group] < 0;
    if (group >= 0 && last[group] >= 0) s->next[last[group]] = v;
    if (group >= 0) last[group] = v;
  }
}

/* ---- Recomputation ---- */

static bool wants(const training_options *o, int32_t k) { return k < o->recompute || (k < o->n_also && o->also[k]); }

/* Chooses the wanted segments that have to wait for a gradient. One that waits for none, since the loss is in it, would
 * run twice in a row. */
static bool choose_segments(step *s, const training_options *o, arena *a) {
  const situ_graph *g = s->g;
  bool *enters;
  if ((o->recompute > 0 || o->n_also > 0) && !segments_find(&s->segments, g, a)) return false;
  if (!ARENA_ARRAYS(a, ZEROS(enters, s->segments.n), ARRAY(s->segment, g->n_operators))) return false;
  for (int32_t t = 0; t < g->n_tensors && s->segments.n > 0; t++) {
    int32_t u = g->producer[t], k = s->segments.of[u];
    for (int64_t i = g->use_start[t]; k >= 0 && i < g->use_start[t + 1] && s->reached[u]; i++)
      enters[k] |= s->segments.of[g->use[i]] != k && s->reached[g->use[i]] && carries(s, t);
  }
  for (int32_t v = 0; v < g->n_operators; v++) {
    int32_t k = s->segments.n > 0 ? s->segments.of[v] : -1;
    s->segment[v] = k >= 0 && wants(o, k) && enters[k] ? k : -1;
  }
  return csr_by_key(&s->member_start, &s->member, s->segment, g->n_operators, s->segments.n, a);
}

/* Finds what runs again: all that a backward operator of its segment needs, directly or through others that run again;
 * not results, which stay, and constants. As in PyTorch, the last tensor of a segment is made again for its backward
 * operators even though the next segment keeps it. Users come first. */
static void find_again(step *s) {
  const situ_graph *g = s->g;
  for (int32_t v = g->n_operators - 1; v >= 0; v--) {
    bool chosen = s->segment[v] >= 0 && !segments_is_constant(g, v);
    for (int32_t t = g->out_start[v]; chosen && t < g->out_start[v + 1]; t++) {
      bool used = g->use_start[t] < g->use_start[t + 1], needed = s->reached[v] && reads_outputs(g, v);
      for (int64_t i = g->use_start[t]; i < g->use_start[t + 1]; i++) {
        int32_t w = g->use[i];
        bool reads = s->again[w] || (s->reached[w] && reads_input(s, w, t));
        needed = needed || (reads && s->segment[w] == s->segment[v]);
      }
      s->again_tensor[t] = used && needed;
      s->again[v] = s->again[v] || s->again_tensor[t];
    }
  }
  for (int32_t k = 0; k < s->segments.n; k++) {
    bool any = false;
    for (int32_t m = s->member_start[k]; m < s->member_start[k + 1]; m++) any = any || s->again[s->member[m]];
    s->n_recomputed += any;
  }
}

/* ---- Operators ---- */

/* Attention is two products of two inputs each, whatever it reads: their gradients cost twice what it does. */
static bool is_of_kind(const situ_graph *g, int32_t v, const char *kind) {
  return strcmp(g->kind_name[g->kind[v]], kind) == 0;
}

static bool is_cell(const situ_graph *g, int32_t v) {
  return is_of_kind(g, v, "LSTM") || is_of_kind(g, v, "GRU") || is_of_kind(g, v, "RNN");
}

/* Each weight and each input whose gradient is wanted costs what the forward operator does. Attention and cells
 * multiply several inputs, each a part of their work, and two gradients of each product take twice that. Adding up the
 * gradients of several users costs their bytes. */
static void count_work(const step *s, int32_t v, situ_operator *op) {
  const situ_graph *g = s->g;
  int64_t n = learns(s, v);
  for (int64_t i = g->in_start[v]; i < g->in_start[v + 1]; i++) n += carries(s, g->in[i]);
  if (is_cell(g, v) || (is_of_kind(g, v, "Attention") && !learns(s, v))) n = min64(n, 2);
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
  const char *suffix = op->phase == SITU_PHASE_UPDATE ? "Update" : op->phase == SITU_PHASE_BACKWARD ? "Grad" : "";
  if (snprintf(name, sizeof name, "%s(%s)", word, g->name[v]) >= NAME_BYTES ||
      snprintf(kind, sizeof kind, "%s%s", g->kind_name[g->kind[v]], suffix) >= NAME_BYTES)
    return fail_with(error, SITU_STATUS_UNSUPPORTED, g->name[v], "has a name that is too long for a training step");
  op->name = name;
  op->kind = kind;
  op->source_id = -1;
  op->colocation = group_of(s, v) >= 0 ? group_of(s, v) : g->n_colocations + v;
  return builder_add_operator(s->b, op, index, error);
}

static situ_status add_forward(step *s, situ_error *error) {
  const situ_graph *g = s->g;
  for (int32_t v = 0; v < g->n_operators; v++) {
    situ_operator op = graph_operator(g, v);
    if (op.phase != SITU_PHASE_FORWARD)
      return fail_with(error, SITU_STATUS_BAD_ARGUMENT, op.name,
                       "is not a forward operator: the model is already a training step");
    op.colocation = group_of(s, v) >= 0 ? group_of(s, v) : g->n_colocations + v;
    op.weight_bytes = weights_of(s, v);
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
  op.weight_bytes = weights_of(s, v); /* those of the gradient */
  count_work(s, v, &op);
  for (int64_t i = s->g->in_start[v]; listed(op.kind, doubled) && i < s->g->in_start[v + 1]; i++)
    op.workspace_bytes = sat_add(op.workspace_bytes, carries(s, s->g->in[i]) ? s->g->size_bytes[s->g->in[i]] : 0);
  return add_operator(s, v, &op, "gradient", &s->backward[v], error);
}

/* One operator for all weights of a colocation group, whose readers may share them. v is the first member. */
static situ_status add_update(step *s, int32_t v, situ_error *error) {
  const situ_graph *g = s->g;
  situ_operator op = graph_operator(g, v);
  int64_t weights = 0, bytes = (situ_dtype_bits(op.dtype) + 7) / 8;
  int32_t index;
  for (int32_t x = v; x >= 0; x = s->next[x])
    if (s->gradient[x] >= 0) weights = sat_add(weights, weights_of(s, x));
  if (weights == 0) return SITU_STATUS_OK;
  optimizer_cost cost = optimizer_cost_of(s->optimizer, weights, bytes);
  op.phase = SITU_PHASE_UPDATE;
  op.flops = cost.flops / s->micro_batches;
  op.moved_bytes = (bytes > 0 ? cost.moved_bytes : sat_mul(3, weights)) / s->micro_batches;
  op.weight_bytes = s->offload ? 0 : cost.state_bytes;
  if (s->offload) op.flops = 0, op.moved_bytes = sat_mul(2, weights) / s->micro_batches; /* gradients and weights */
  op.workspace_bytes = 0;
  TRY(add_operator(s, v, &op, "update", &index, error));
  if (s->offload) s->offloads[s->n_offloads++] = (graph_offload){index, weights, cost.moved_bytes, cost.state_bytes};
  for (int32_t x = v; x >= 0; x = s->next[x])
    if (s->gradient[x] >= 0) TRY(builder_add_use(s->b, index, s->gradient[x], error));
  if (s->tied[v] >= 0 && s->gradient[s->tied[v]] >= 0)
    TRY(builder_add_use(s->b, index, s->gradient[s->tied[v]], error));
  return SITU_STATUS_OK;
}

/* Adds what runs again of a segment, unless that was done. It has the weights of its original, on the same device. */
static situ_status add_segment(step *s, int32_t segment, situ_error *error) {
  const situ_graph *g = s->g;
  for (int32_t m = s->member_start[segment]; m < s->member_start[segment + 1]; m++) {
    int32_t v = s->member[m];
    if (!s->again[v]) continue;
    if (s->copy[v] >= 0) return SITU_STATUS_OK;
    situ_operator op = graph_operator(g, v);
    op.phase = SITU_PHASE_RECOMPUTE;
    op.weight_bytes = 0;
    TRY(add_operator(s, v, &op, "recompute", &s->copy[v], error));
    for (int32_t t = g->out_start[v]; t < g->out_start[v + 1]; t++) {
      situ_tensor tensor = graph_tensor(g, t);
      if (s->again_tensor[t]) TRY(builder_add_tensor(s->b, s->copy[v], &tensor, &s->copy_tensor[t], error));
    }
  }
  return SITU_STATUS_OK;
}

/* ---- Gradients ---- */

/* Tensor t of the forward pass, as an operator of the backward pass sees it that stands for operator v. */
static int32_t tensor_for(const step *s, int32_t t, int32_t v) {
  bool same = s->segment[v] >= 0 && s->segment[v] == s->segment[s->g->producer[t]];
  return same && s->copy_tensor[t] >= 0 ? s->copy_tensor[t] : s->tensor[t];
}

static situ_status read_forward(step *s, int32_t v, situ_error *error) {
  const situ_graph *g = s->g;
  for (int32_t t = g->out_start[v]; reads_outputs(g, v) && t < g->out_start[v + 1]; t++)
    TRY(builder_add_use(s->b, s->backward[v], tensor_for(s, t, v), error));
  for (int64_t i = g->in_start[v]; i < g->in_start[v + 1]; i++)
    if (reads_input(s, v, g->in[i])) TRY(builder_add_use(s->b, s->backward[v], tensor_for(s, g->in[i], v), error));
  return SITU_STATUS_OK;
}

/* The copy of v, if it has one, reads what v does. */
static situ_status read_again(step *s, int32_t v, situ_error *error) {
  const situ_graph *g = s->g;
  for (int64_t i = g->in_start[v]; s->copy[v] >= 0 && i < g->in_start[v + 1]; i++)
    TRY(builder_add_use(s->b, s->copy[v], tensor_for(s, g->in[i], v), error));
  return SITU_STATUS_OK;
}

/* What is recomputed of a segment waits for the gradients that enter it: the operators that would be ready before read
 * `gradient`, which the segment needs anyway. */
static situ_status start_segment(step *s, int32_t segment, int32_t gradient, situ_error *error) {
  const situ_graph *g = s->g;
  for (int32_t m = s->member_start[segment]; m < s->member_start[segment + 1]; m++) {
    int32_t v = s->member[m];
    bool waits = false;
    for (int64_t i = g->in_start[v]; i < g->in_start[v + 1]; i++)
      waits = waits || tensor_for(s, g->in[i], v) != s->tensor[g->in[i]];
    if (s->copy[v] >= 0 && !waits) TRY(builder_add_use(s->b, s->copy[v], gradient, error));
  }
  return SITU_STATUS_OK;
}

/* The gradients that the backward operator of v produces: those of its inputs, for their producers; those of its
 * weights, which are accumulated in place, so that they add no bytes here; that of a tied table goes to its other copy,
 * once for all inputs of a step. */
static situ_status make_gradients(step *s, int32_t v, situ_error *error) {
  const situ_graph *g = s->g;
  for (int64_t i = g->in_start[v]; i < g->in_start[v + 1]; i++) {
    int32_t t = g->in[i], u = g->producer[t], made;
    if (!carries(s, t) || !s->reached[u]) continue;
    situ_tensor tensor = graph_tensor(g, t);
    tensor.name = NULL;
    TRY(builder_add_tensor(s->b, s->backward[v], &tensor, &made, error));
    TRY(builder_add_use(s->b, s->backward[u], made, error));
    if (s->segment[u] >= 0 && s->segment[u] != s->segment[v]) TRY(start_segment(s, s->segment[u], made, error));
  }
  if (!learns(s, v)) return SITU_STATUS_OK;
  situ_tensor done = {.dtype = SITU_DTYPE_F32, .rank = -1};
  if (s->tied[v] >= 0) {
    int64_t table = min64(weights_of(s, v), weights_of(s, s->tied[v])); /* the product may have a bias */
    done.size_bytes = table / s->micro_batches + (table % s->micro_batches > 0);
  }
  return builder_add_tensor(s->b, s->backward[v], &done, &s->gradient[v], error);
}

/* Backward operators from the end on, and before the first of a segment what is recomputed of it. */
static situ_status add_backward_pass(step *s, situ_error *error) {
  const situ_graph *g = s->g;
  for (int32_t v = g->n_operators - 1; v >= 0; v--) {
    if (!s->reached[v]) continue;
    if (s->segment[v] >= 0) TRY(add_segment(s, s->segment[v], error));
    TRY(add_backward(s, v, error));
  }
  TRY(builder_add_guesses_of(s->b, g, s->copy, 0, error));
  return builder_add_guesses_of(s->b, g, s->backward, 0, error);
}

static situ_status add_training(step *s, situ_error *error) {
  const situ_graph *g = s->g;
  bool any = false;
  for (int32_t v = 0; v < g->n_operators; v++) any = any || s->reached[v];
  TRY(add_forward(s, error));
  if (!any)
    return fail_with(error, SITU_STATUS_BAD_INPUT, NULL,
                     "no output depends on floating-point weights, so there is nothing to train");
  TRY(builder_add_guesses_of(s->b, g, NULL, 0, error));
  TRY(add_backward_pass(s, error));
  for (int32_t v = 0; v < g->n_operators; v++) TRY(read_again(s, v, error));
  for (int32_t v = 0; v < g->n_operators; v++) {
    if (!s->reached[v]) continue;
    TRY(read_forward(s, v, error));
    TRY(make_gradients(s, v, error));
  }
  for (int32_t v = 0; v < g->n_operators; v++)
    if (s->first[v] && s->optimizer != SITU_OPTIMIZER_NONE) TRY(add_update(s, v, error));
  return SITU_STATUS_OK;
}

/* What is there before operators are made. False without memory. */
static bool prepare(step *s, const training_options *o, arena *a) {
  const situ_graph *g = s->g;
  int32_t *last;
  if (!ARENA_ARRAYS(a, ZEROS(s->has_weights, g->n_colocations), ZEROS(s->differs, g->n_operators),
                    ZEROS(s->reached, g->n_operators), ARRAY(s->backward, g->n_operators),
                    ARRAY(s->gradient, g->n_operators), ARRAY(s->tensor, g->n_tensors), ARRAY(s->next, g->n_operators),
                    ARRAY(s->first, g->n_operators), ARRAY(last, g->n_colocations), ARRAY(s->tied, g->n_operators),
                    ZEROS(s->again, g->n_operators), ZEROS(s->again_tensor, g->n_tensors),
                    ARRAY(s->copy, g->n_operators), ARRAY(s->copy_tensor, g->n_tensors),
                    ARRAY(s->offloads, g->n_operators)))
    return false;
  for (int32_t v = 0; v < g->n_operators; v++)
    if (g->colocation[v] >= 0 && g->weight_bytes[v] > 0) s->has_weights[g->colocation[v]] = true;
  find_tied(s, last);
  link_groups(s, last);
  find_reach(s);
  for (int32_t v = 0; v < g->n_operators; v++) s->copy[v] = -1;
  for (int32_t t = 0; t < g->n_tensors; t++) s->copy_tensor[t] = -1;
  if (!choose_segments(s, o, a)) return false;
  find_again(s);
  return true;
}

/* Says in the new graph which operators stand for what is recomputed. */
static bool mark_segments(situ_graph *made, const step *s) {
  int32_t n = s->g->n_operators;
  if (s->n_recomputed == 0) return true;
  int32_t *of = ARENA_NEW(made->arena, int32_t, made->n_operators),
          *new_of = ARENA_NEW(made->arena, int32_t, made->n_operators);
  if (!of || !new_of) return false;
  for (int32_t v = 0; v < made->n_operators; v++) {
    new_of[made->built_index[v]] = v;
    of[v] = -1;
  }
  for (int32_t v = 0; v < n; v++)
    if (s->copy[v] >= 0) of[new_of[v]] = of[new_of[s->copy[v]]] = s->segment[v];
  made->segment = of;
  return true;
}

/* Takes over what hosts do, by the numbers of the new graph. */
static bool mark_offloads(situ_graph *made, const step *s) {
  if (s->n_offloads == 0) return true;
  int32_t *new_of = ARENA_NEW(made->arena, int32_t, made->n_operators);
  made->offload = ARENA_COPY(made->arena, s->offloads, graph_offload, s->n_offloads);
  if (!made->offload || !new_of) return false;
  for (int32_t v = 0; v < made->n_operators; v++) new_of[made->built_index[v]] = v;
  for (int32_t i = 0; i < s->n_offloads; i++) made->offload[i].op = new_of[made->offload[i].op];
  made->n_offloads = s->n_offloads;
  made->offload_inputs = s->micro_batches;
  return true;
}

int64_t graph_offloaded_bytes(const situ_graph *g) {
  int64_t sum = 0;
  for (int32_t i = 0; i < g->n_offloads; i++) sum = sat_add(sum, g->offload[i].state_bytes);
  return sum;
}

situ_status graph_training(situ_graph **out, const situ_graph *g, training_options options, situ_error *error) {
  REQUIRE(options.recompute >= 0 && options.micro_batches >= 0 && options.n_also >= 0);
  *out = NULL;
  arena *a = arena_new();
  step s = {.g = g, .optimizer = options.optimizer, .micro_batches = options.micro_batches};
  s.offload = options.offload_optimizer;
  s.exchanges = s.micro_batches > 0;
  if (s.micro_batches == 0) s.micro_batches = 1;
  situ_status status =
      a && prepare(&s, &options, a) ? situ_graph_builder_new(&s.b, g->model, error) : fail_no_memory(error);
  if (status == SITU_STATUS_OK) status = add_training(&s, error);
  if (status == SITU_STATUS_OK) status = situ_graph_freeze(out, s.b, error);
  if (status == SITU_STATUS_OK) {
    (*out)->made_training = true;
    (*out)->n_segments = s.segments.n;
    (*out)->n_recomputed = s.n_recomputed;
    for (int32_t v = 0; v < g->n_operators; v++) (*out)->n_tied += s.tied[v] > v;
    if (!mark_segments(*out, &s) || !mark_offloads(*out, &s)) {
      situ_graph_free(*out);
      *out = NULL;
      status = fail_no_memory(error);
    }
  }
  situ_graph_builder_free(s.b);
  arena_free(a);
  return status;
}
