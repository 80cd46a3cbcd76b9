#include "engine/torch_trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/compare.h"
#include "base/fail.h"

/* Operators of ATen, and their names in ONNX files exported from PyTorch. */
static const struct {
  const char *aten, *onnx;
} kinds[] = {
    {" conv1d conv2d conv3d convolution ", " Conv "},
    {" linear addmm matmul mm bmm baddbmm ", " Gemm MatMul "},
    {" conv_transpose1d conv_transpose2d conv_transpose3d ", " ConvTranspose "},
    {" scaled_dot_product_attention ", " Attention "},
    {" embedding index_select ", " Gather "},
    {" batch_norm ", " BatchNormalization "},
    {" layer_norm ", " LayerNormalization "},
    {" group_norm ", " GroupNormalization "},
    {" instance_norm ", " InstanceNormalization "},
    {" max_pool1d max_pool2d max_pool3d ", " MaxPool "},
    {" avg_pool1d avg_pool2d avg_pool3d ", " AveragePool "},
    {" adaptive_avg_pool1d adaptive_avg_pool2d mean ", " GlobalAveragePool ReduceMean "},
    {" softmax ", " Softmax "},
    {" relu ", " Relu "},
    {" gelu ", " Gelu "},
    {" silu ", " Swish "},
    {" sigmoid ", " Sigmoid "},
    {" tanh ", " Tanh "},
    {" hardtanh clamp relu6 ", " Clip "},
    {" hardswish ", " HardSwish "},
    {" hardsigmoid ", " HardSigmoid "},
    {" add ", " Add "},
    {" sub ", " Sub "},
    {" mul ", " Mul "},
    {" div ", " Div "},
    {" pow ", " Pow "},
    {" cat concat ", " Concat "},
    {" lstm ", " LSTM "},
    {" gru ", " GRU "},
};
enum { N_KINDS = sizeof kinds / sizeof *kinds, NO_KIND = -1 };
static const double MAX_US = 1e15; /* 30 years: anything longer is not a time */

/* A call of an operator outside of any other, or an annotation that names a node. */
typedef struct top_call {
  double start_us, end_us, time_us;
  int32_t kind, node; /* node: -1 where no annotation names one */
} top_call;

/* Any event of the thread. */
typedef struct span {
  double start_us, end_us;
  int64_t id; /* what kernels refer to */
  const char *name;
  bool annotates;
  int32_t top; /* the top call that contains it */
} span;

typedef struct tracing {
  const model_parts *parts;
  span *spans;
  top_call *calls;
  int32_t n_spans, n_calls;
  int32_t n_nodes[N_KINDS], n_of[N_KINDS]; /* nodes and calls of each kind */
  int32_t *nodes;                          /* of the model, by kind, in their order */
  int32_t first[N_KINDS];                  /* where the nodes of a kind begin */
  string_map *by_name;
  int32_t n_runs;
} tracing;

bool torch_trace_is(const json_value *root) { return json_get(root, "traceEvents") != NULL; }

static bool listed(const char *list, const char *name, size_t n) {
  char word[64];
  if (n + 3 > sizeof word) return false;
  snprintf(word, sizeof word, " %.*s ", (int)n, name);
  return strstr(list, word) != NULL;
}

static int32_t kind_of_node(const char *kind) {
  int32_t k = 0;
  while (k < N_KINDS && !listed(kinds[k].onnx, kind, strlen(kind))) k++;
  return k < N_KINDS ? k : NO_KIND;
}

/* "aten::relu_" works in place and is relu. */
static int32_t kind_of_call(const char *name) {
  const char *mark = strstr(name, "::");
  const char *base = mark ? mark + 2 : name;
  size_t n = strlen(base);
  while (n > 0 && base[n - 1] == '_') n--;
  int32_t k = 0;
  while (k < N_KINDS && !listed(kinds[k].aten, base, n)) k++;
  return k < N_KINDS ? k : NO_KIND;
}

static int by_start(const void *a, const void *b) {
  const span *x = a, *y = b;
  if (x->start_us != y->start_us) return x->start_us < y->start_us ? -1 : 1;
  return (x->end_us < y->end_us) - (x->end_us > y->end_us); /* the outer one comes first */
}

COMPARATOR(by_id, span, UP(id))

/* ---- reading ---- */

static bool is_category(const json_value *event, const char *category) {
  return strcmp(json_text(json_get(event, "cat"), ""), category) == 0;
}

/* Nodes by kind and by name. */
static situ_status list_nodes(tracing *t, arena *a, situ_error *error) {
  const model_file *f = t->parts->file;
  int32_t at = 0;
  t->nodes = ARENA_NEW(a, int32_t, f->n_nodes);
  t->by_name = string_map_new(a, f->n_nodes);
  if (!t->nodes || !t->by_name) return fail_no_memory(error);
  for (int32_t k = 0; k < N_KINDS; k++) {
    t->first[k] = at;
    for (int32_t i = 0; i < f->n_nodes; i++)
      if (kind_of_node(f->kind[t->parts->order[i]]) == k) t->nodes[at++] = t->parts->order[i];
    t->n_nodes[k] = at - t->first[k];
  }
  for (int32_t v = 0; v < f->n_nodes; v++)
    if (*f->nodes[v].name && string_map_put(t->by_name, f->nodes[v].name, v) < 0) return fail_no_memory(error);
  return SITU_STATUS_OK;
}

/* Spans of the thread of the first operator. */
static void take_spans(tracing *t, const json_value *events) {
  int64_t thread = -1;
  for (size_t i = 0; i < json_size(events); i++) {
    const json_value *event = json_at(events, i);
    bool calls = is_category(event, "cpu_op"), annotates = is_category(event, "user_annotation");
    const char *name = json_text(json_get(event, "name"), "");
    double start_us = json_number(json_get(event, "ts"), -1), time_us = json_number(json_get(event, "dur"), -1);
    if (!(calls || (annotates && string_map_get(t->by_name, name) >= 0)) || start_us < 0 || time_us < 0 ||
        time_us > MAX_US)
      continue;
    if (thread < 0) thread = json_int(json_get(event, "tid"), 0);
    if (json_int(json_get(event, "tid"), 0) != thread) continue;
    t->spans[t->n_spans++] = (span){.start_us = start_us,
                                    .end_us = start_us + time_us,
                                    .id = json_int(json_get(json_get(event, "args"), "External id"), -1),
                                    .name = name,
                                    .annotates = annotates};
  }
}

static void find_calls(tracing *t) {
  qsort(t->spans, (size_t)t->n_spans, sizeof *t->spans, by_start);
  for (int32_t i = 0; i < t->n_spans; i++) {
    span *s = &t->spans[i];
    if (t->n_calls == 0 || s->start_us >= t->calls[t->n_calls - 1].end_us) {
      int32_t kind = s->annotates ? NO_KIND : kind_of_call(s->name);
      int32_t node = s->annotates ? (int32_t)string_map_get(t->by_name, s->name) : -1;
      t->calls[t->n_calls++] = (top_call){s->start_us, s->end_us, s->end_us - s->start_us, kind, node};
      if (kind >= 0) t->n_of[kind]++;
    }
    s->top = t->n_calls - 1;
  }
}

/* If anything ran on a GPU, only kernels there count. */
static void take_kernels(tracing *t, const json_value *events) {
  bool any = false;
  qsort(t->spans, (size_t)t->n_spans, sizeof *t->spans, by_id);
  for (size_t i = 0; i < json_size(events); i++) {
    const json_value *event = json_at(events, i);
    bool on_gpu = is_category(event, "kernel") || is_category(event, "gpu_memcpy") || is_category(event, "gpu_memset");
    if (!on_gpu || t->n_spans == 0) continue;
    for (int32_t c = 0; !any && c < t->n_calls; c++) t->calls[c].time_us = 0;
    any = true;
    span key = {.id = json_int(json_get(json_get(event, "args"), "External id"), -1)};
    const span *s = key.id < 0 ? NULL : bsearch(&key, t->spans, (size_t)t->n_spans, sizeof key, by_id);
    double time_us = json_number(json_get(event, "dur"), 0);
    if (s && time_us > 0 && time_us <= MAX_US) t->calls[s->top].time_us += time_us;
  }
}

/* ---- matching ---- */

/* How often the model ran: the count of calls per node for the kind with the most nodes. */
static void count_runs(tracing *t) {
  int32_t max = 0;
  t->n_runs = 1;
  for (int32_t k = 0; k < N_KINDS; k++) {
    if (t->n_nodes[k] <= max || t->n_of[k] == 0 || t->n_of[k] % t->n_nodes[k] != 0) continue;
    max = t->n_nodes[k];
    t->n_runs = t->n_of[k] / t->n_nodes[k];
  }
}

static bool add_event(json_value *events, int32_t node, double time_us) {
  char name[48];
  if (node < 0)
    snprintf(name, sizeof name, "?_kernel_time");
  else
    snprintf(name, sizeof name, "n%d_kernel_time", (int)node);
  return json_push(
      events, JSON_OBJECT({"cat", json_new_text("Node")}, {"name", json_new_text(name)},
                          {"ts", json_new_int((int64_t)json_size(events) + 1)}, {"dur", json_new_number(time_us)}));
}

static bool end_run(json_value *events) { return json_push(events, JSON_OBJECT({"name", json_new_text("model_run")})); }

static situ_status add_calls(tracing *t, json_value *events, arena *a, situ_error *error) {
  int32_t next[N_KINDS] = {0}, *annotated = ARENA_ZERO(a, int32_t, t->parts->file->n_nodes);
  int32_t run = 0;
  double all_us = 0, known_us = 0;
  bool ok = annotated != NULL;
  for (int32_t c = 0; ok && c < t->n_calls; c++) {
    const top_call *call = &t->calls[c];
    int32_t node = call->node, k = call->kind, of = run;
    if (node >= 0) of = annotated[node]++;
    if (k >= 0 && t->n_nodes[k] > 0 && t->n_of[k] == (int64_t)t->n_runs * t->n_nodes[k]) {
      of = next[k] / t->n_nodes[k];
      node = t->nodes[t->first[k] + next[k]++ % t->n_nodes[k]];
    }
    for (; ok && run < of; run++) ok = end_run(events);
    ok = ok && add_event(events, node, call->time_us);
    all_us += call->time_us;
    known_us += node >= 0 ? call->time_us : 0;
  }
  if (!ok || !end_run(events)) return fail_no_memory(error);
  t->n_runs = run + 1;
  if (known_us > 0.5 * all_us) return SITU_STATUS_OK;
  return fail_with(error, SITU_STATUS_BAD_INPUT, "trace of PyTorch",
                   "%.0f %% of its time belongs to operators that the model does not have, or not as often; annotate "
                   "them with record_function, using the names of the nodes",
                   all_us > 0 ? 100 * (1 - known_us / all_us) : 100);
}

situ_status torch_trace_read(json_value *events, int32_t *n_runs, const json_value *root, const model_parts *parts,
                             situ_error *error) {
  const json_value *list = json_get(root, "traceEvents");
  tracing t = {.parts = parts};
  arena *a = arena_new();
  int64_t n = (int64_t)json_size(list);
  situ_status status = a && n < INT32_MAX && ARENA_ARRAYS(a, ARRAY(t.spans, n + 1), ARRAY(t.calls, n + 1))
                           ? list_nodes(&t, a, error)
                           : fail_no_memory(error);
  if (status == SITU_STATUS_OK) {
    take_spans(&t, list);
    find_calls(&t);
    take_kernels(&t, list);
    count_runs(&t);
    status = add_calls(&t, events, a, error);
  }
  *n_runs = t.n_runs;
  arena_free(a);
  return status;
}
