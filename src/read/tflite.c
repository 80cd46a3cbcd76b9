/* TFLite files: the operators of the first graph with the shapes that the file states. Attributes are not needed but
 * for windows of pooling: work follows from the shapes of inputs, weights and outputs. docs/formats/tflite.md */
#include <stdio.h>

#include "base/checked.h"
#include "base/fail.h"
#include "base/hash.h"
#include "graph/builder.h"
#include "graph/graph.h"
#include "ops/ops.h"
#include "read/tflite_file.h"

typedef enum rule {
  AS_ONNX,       /* counted as the ONNX kind */
  CONVOLUTION,   /* weights [out, height, width, in] */
  DEPTHWISE,     /* weights [1, height, width, channels] */
  DENSE,         /* weights [out, in] */
  DECONVOLUTION, /* input 1: weights, input 2: what is spread */
  MATRICES,      /* the products of two batches of matrices */
  POOL,          /* its window for each element */
  EACH,          /* `cost` for each element of the output */
  VIEW           /* moves nothing */
} rule;

typedef struct row {
  int32_t code;
  const char *name, *kind; /* TFLite's name; the kind in the graph */
  rule rule;
  int cost;
} row;

#define ROW(code, name, kind, rule, cost) {code, name, kind, rule, cost},
static const row rows[] = {
#include "read/tflite_rows.h"
};

/* A graph under construction. */
typedef struct making {
  const tflite_graph *file;
  situ_graph_builder *builder;
  arena *a;
  situ_dtype precision;
  int32_t *made; /* [tensor] of the builder, or -1 */
  int64_t *held; /* [tensor] bytes of a constant that no operator has yet */
  string_map *names;
  situ_error *error;
} making;

static const row *row_of(int32_t code) {
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (rows[i].code == code) return &rows[i];
  return NULL;
}

static ops_tensor about(const tflite_tensor *t, const making *m) {
  ops_tensor made = {.dtype = t->dtype, .rank = t->rank, .dims = t->dims, .stored_bytes = t->stored_bytes};
  made.constant = t->stored_bytes > 0;
  ops_set_precision(&made, m->precision);
  return made;
}

static const tflite_tensor *tensor_at(const making *m, const int32_t *list, int32_t n, int32_t i) {
  return i < n && list[i] >= 0 ? &m->file->tensors[list[i]] : NULL;
}

static int64_t elements(const tflite_tensor *t) {
  int64_t n = 1;
  for (int32_t d = 0; t && d < t->rank; d++) n = sat_mul(n, t->dims[d]);
  return t ? n : 0;
}

static int64_t dim(const tflite_tensor *t, int32_t d) {
  if (t && d < 0) d += t->rank;
  return t && d >= 0 && d < t->rank ? t->dims[d] : 1;
}

/* FLOPs by the shapes. */
static int64_t flops_of(const making *m, const tflite_operator *op, const row *r) {
  const tflite_tensor *x = tensor_at(m, op->inputs, op->n_inputs, 0), *w = tensor_at(m, op->inputs, op->n_inputs, 1);
  const tflite_tensor *z = tensor_at(m, op->inputs, op->n_inputs, 2), *y = tensor_at(m, op->outputs, op->n_outputs, 0);
  int64_t out = elements(y), bias = z ? out : 0;
  switch (r->rule) {
    case CONVOLUTION: return sat_add(sat_mul(sat_mul(2, out), sat_mul(dim(w, 1), sat_mul(dim(w, 2), dim(w, 3)))), bias);
    case DEPTHWISE: return sat_add(sat_mul(sat_mul(2, out), sat_mul(dim(w, 1), dim(w, 2))), bias);
    case DENSE: return sat_add(sat_mul(sat_mul(2, out), dim(w, 1)), bias);
    case DECONVOLUTION: return sat_mul(sat_mul(2, elements(z)), sat_mul(dim(w, 0), sat_mul(dim(w, 1), dim(w, 2))));
    case MATRICES: { /* either may be turned: rows x columns of x are known from y */
      int64_t rows_of_y = dim(y, -2) > 0 ? dim(y, -2) : 1, matrix = sat_mul(dim(x, -1), dim(x, -2));
      return sat_mul(sat_mul(2, out), matrix / rows_of_y);
    }
    case POOL:
      return sat_mul(out, sat_mul(op->window[0] > 0 ? op->window[0] : 1, op->window[1] > 0 ? op->window[1] : 1));
    case EACH: return sat_mul(out, r->cost);
    default: return 0;
  }
}

/* Work as a row says it; of kinds of ONNX as src/ops does. */
static ops_work work_of(const making *m, const tflite_operator *op, const row *r) {
  ops_tensor given[16], made[16];
  const ops_tensor *inputs[16];
  int32_t n_in = op->n_inputs < 16 ? op->n_inputs : 16, n_out = op->n_outputs < 16 ? op->n_outputs : 16;
  for (int32_t i = 0; i < n_in; i++) {
    const tflite_tensor *t = tensor_at(m, op->inputs, n_in, i);
    if (t) given[i] = about(t, m);
    inputs[i] = t ? &given[i] : NULL;
  }
  for (int32_t i = 0; i < n_out; i++) {
    const tflite_tensor *t = tensor_at(m, op->outputs, n_out, i);
    made[i] = t ? about(t, m) : (ops_tensor){.rank = -1};
  }
  ops_node node = {.domain = r ? "" : "tflite",
                   .kind = r ? r->kind : "",
                   .opset = 17,
                   .inputs = inputs,
                   .n_inputs = n_in,
                   .outputs = made,
                   .n_outputs = n_out};
  ops_work w = ops_count(&node);
  if (!r) {
    w.exact = false;
  } else if (r->rule != AS_ONNX) {
    w.flops = flops_of(m, op, r);
    w.exact = true;
  }
  return w;
}

/* The name of an operator: that of its first output, which no other may have. */
static const char *name_of(making *m, const tflite_operator *op, int32_t index) {
  const tflite_tensor *y = tensor_at(m, op->outputs, op->n_outputs, 0);
  char made[256];
  const char *wanted = y && *y->name ? y->name : "operator";
  if (string_map_get(m->names, wanted) >= 0) {
    snprintf(made, sizeof made, "%.200s#%d", wanted, (int)index);
    wanted = arena_string(m->a, made);
  }
  return wanted && string_map_put(m->names, wanted, index) >= 0 ? wanted : NULL;
}

static situ_status add_outputs(making *m, const tflite_operator *op, int32_t index) {
  for (int32_t i = 0; i < op->n_outputs; i++) {
    const tflite_tensor *t = tensor_at(m, op->outputs, op->n_outputs, i);
    if (!t || m->made[op->outputs[i]] >= 0) continue;
    ops_tensor about_it = about(t, m);
    situ_tensor made = {.name = t->name,
                        .dtype = about_it.dtype,
                        .rank = t->rank,
                        .dims = t->rank >= 0 ? t->dims : NULL,
                        .size_bytes = ops_bytes(&about_it, NULL)};
    TRY(builder_add_tensor(m->builder, index, &made, &m->made[op->outputs[i]], m->error));
  }
  return SITU_STATUS_OK;
}

static situ_status add_operator(making *m, const tflite_operator *op, int32_t index) {
  const row *r = row_of(op->code);
  char unknown[80];
  snprintf(unknown, sizeof unknown, "tflite:%.60s", op->custom && *op->custom ? op->custom : "");
  if (!op->custom) snprintf(unknown, sizeof unknown, "tflite:%d", (int)op->code);
  ops_work w = work_of(m, op, r);
  int32_t at;
  situ_operator about_it = {.name = name_of(m, op, index),
                            .kind = r ? r->kind : unknown,
                            .dtype = w.dtype,
                            .flops = w.flops,
                            .moved_bytes = r && r->rule == VIEW ? 0 : sat_add(w.read_bytes, w.written_bytes),
                            .source_id = index,
                            .colocation = -1,
                            .inferred = w.exact};
  if (!about_it.name) return fail_no_memory(m->error);
  for (int32_t i = 0; i < op->n_inputs; i++) {
    if (op->inputs[i] < 0) continue;
    about_it.weight_bytes = sat_add(about_it.weight_bytes, m->held[op->inputs[i]]);
    m->held[op->inputs[i]] = 0; /* a constant that several read is held once */
  }
  TRY(builder_add_operator(m->builder, &about_it, &at, m->error));
  for (int32_t i = 0; i < op->n_inputs; i++)
    if (op->inputs[i] >= 0 && m->made[op->inputs[i]] >= 0)
      TRY(builder_add_use(m->builder, at, m->made[op->inputs[i]], m->error));
  return add_outputs(m, op, at);
}

/* A constant that is only brought into another type or, if it is sparse, into full form: the engine does that once, and
 * keeps it. */
static bool folds(making *m, const tflite_operator *op) {
  enum { DEQUANTIZE = 6, DENSIFY = 124 };
  const tflite_tensor *x = tensor_at(m, op->inputs, op->n_inputs, 0), *y = tensor_at(m, op->outputs, op->n_outputs, 0);
  if ((op->code != DEQUANTIZE && op->code != DENSIFY) || !x || !y || x->stored_bytes <= 0) return false;
  ops_tensor full = {.dtype = y->dtype, .rank = y->rank, .dims = y->dims};
  int64_t bytes = op->code == DENSIFY ? ops_bytes(&full, NULL) : x->stored_bytes;
  m->held[op->outputs[0]] = m->held[op->inputs[0]] > 0 ? bytes : 0;
  m->file->tensors[op->outputs[0]].stored_bytes = bytes;
  m->held[op->inputs[0]] = 0;
  return true;
}

/* Sizes that the file leaves open count as it states them, 1 in general. */
static situ_status state_open(making *m, text_buffer *notes) {
  for (int32_t i = 0; i < m->file->n_operators; i++)
    for (int32_t k = 0; k < m->file->operators[i].n_inputs; k++) {
      const tflite_tensor *t = tensor_at(m, m->file->operators[i].inputs, m->file->operators[i].n_inputs, k);
      for (int32_t d = 1; t && d < t->rank; d++) { /* the first is the batch: one input */
        if (!t->open[d]) continue;
        char subject[96];
        snprintf(subject, sizeof subject, "%.80s[%d]", t->name, (int)d);
        text_add(notes, "dimension %s = %lld, as the file states it\n", subject, (long long)t->dims[d]);
        return builder_add_guess(m->builder, SITU_GUESS_SIZE, subject, GUESS_OF_ALL, m->error);
      }
    }
  return SITU_STATUS_OK;
}

static situ_status build(making *m, read_result *result, const char *name) {
  const tflite_graph *g = m->file;
  TRY(situ_graph_builder_new(&m->builder, name, m->error));
  for (int32_t i = 0; i < g->n_tensors; i++) {
    m->made[i] = -1;
    ops_tensor t = about(&g->tensors[i], m);
    m->held[i] = g->tensors[i].stored_bytes > 0 ? ops_bytes(&t, NULL) : 0;
  }
  for (int32_t i = 0; i < g->n_operators; i++)
    if (!folds(m, &g->operators[i])) TRY(add_operator(m, &g->operators[i], i));
  TRY(state_open(m, &result->notes));
  if (g->n_graphs > 1)
    text_add(&result->notes, "%d more graphs, of loops and branches, are not read\n", (int)g->n_graphs - 1);
  return situ_graph_freeze(&result->graph, m->builder, m->error);
}

static situ_status read_tflite(read_result *result, const read_source *source, situ_error *error) {
  tflite_graph g;
  making m = {.file = &g, .a = arena_new(), .precision = read_precision(source->options->precision), .error = error};
  situ_status status = m.a ? SITU_STATUS_OK : fail_no_memory(error);
  read_need(source, source->bytes, source->size_bytes);
  if (status == SITU_STATUS_OK) status = tflite_parse(&g, source, m.a, error);
  if (status == SITU_STATUS_OK) {
    m.names = string_map_new(m.a, g.n_operators);
    m.made = ARENA_NEW(m.a, int32_t, g.n_tensors + 1);
    m.held = ARENA_ZERO(m.a, int64_t, g.n_tensors + 1);
    if (!m.names || !m.made || !m.held) status = fail_no_memory(error);
  }
  if (status == SITU_STATUS_OK) status = build(&m, result, *g.name ? g.name : read_base_name(source->path));
  situ_graph_builder_free(m.builder);
  arena_free(m.a);
  return status;
}

static int recognise(const read_source *source) { return tflite_recognise(source) ? 2 : 0; }

const reader tflite_reader = {.name = "tflite",
                              .title = "TFLite model (LiteRT)",
                              .suffixes = ".tflite",
                              .recognise = recognise,
                              .in_parts = true,
                              .read = read_tflite};
