#include "read/onnx_eval.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "base/fail.h"
#include "base/format.h"
#include "graph/builder.h"
#include "read/assume.h"
#include "read/onnx_skim.h"

situ_status onnx_fail(const onnx_reading *r, const onnx_node *n, const char *format, ...) {
  char text[384];
  FORMAT_INTO(text, format);
  return fail_with(r->error, SITU_STATUS_BAD_INPUT, onnx_node_label(n), "%s (operator %.64s of %s)", text, n->kind,
                   r->path);
}

void onnx_note(onnx_reading *r, const char *key, const char *format, ...) {
  char text[512];
  int64_t before = string_map_count(r->noted);
  const char *kept = arena_string(r->a, key);
  if (!kept || string_map_put(r->noted, kept, 0) < 0) r->notes->failed = true;
  if (r->notes->failed || string_map_count(r->noted) == before) return;
  FORMAT_INTO(text, format);
  for (char *c = text; *c; c++)
    if ((unsigned char)*c < ' ') *c = ' ';
  text_add(r->notes, "%s\n", text);
}

situ_status onnx_guess(const onnx_reading *r, situ_guess_kind kind, const char *subject) {
  return builder_add_guess(r->builder, kind, subject, r->current, r->error);
}

const char *onnx_full_kind(char into[ONNX_KIND_BYTES], const onnx_node *n) {
  snprintf(into, ONNX_KIND_BYTES, "%.80s%s%.80s", n->domain, *n->domain ? ":" : "", n->kind);
  return into;
}

/* ---- values and scopes ---- */

onnx_held *onnx_held_new(onnx_reading *r) {
  onnx_held *h = ARENA_ZERO(r->a, onnx_held, 1);
  if (!h) return NULL;
  h->t.rank = -1;
  h->tensor = h->owner = -1;
  return h;
}

/* Prepends a weight to `todo`, the list of weights charged to the current operator, unless it was charged before.
 */
static onnx_held *claim(onnx_reading *r, onnx_held *h, onnx_held *todo) {
  if (h->owner >= 0) {
    if (h->owner != r->current && !h->shared) {
      h->shared = true;
      r->shared_bytes = sat_add(r->shared_bytes, ops_bytes(&h->t, NULL));
    }
    return todo;
  }
  h->owner = r->current;
  h->next = todo;
  return h;
}

/* Charges the operator under way with a weight and all that it is held as. */
static void charge(onnx_reading *r, onnx_held *h, node_cost *cost) {
  for (onnx_held *todo = claim(r, h, NULL); todo;) {
    onnx_held *at = todo;
    todo = at->next;
    cost->weight_bytes = sat_add(cost->weight_bytes, at->weight_bytes);
    r->weight_bytes = sat_add(r->weight_bytes, at->weight_bytes);
    for (int32_t i = 0; i < at->n_sources; i++)
      if (at->sources[i]) todo = claim(r, at->sources[i], todo);
  }
}

situ_status onnx_consume(onnx_reading *r, onnx_held *h, node_cost *cost) {
  if (!h) return SITU_STATUS_OK;
  if (h->t.constant) charge(r, h, cost);
  if (h->t.constant || h->tensor < 0) return SITU_STATUS_OK;
  if (r->n_uses == r->uses_capacity) {
    int64_t wanted = r->uses_capacity ? 2 * r->uses_capacity : 64;
    int32_t *grown = realloc(r->uses, (size_t)wanted * sizeof *grown);
    if (!grown) return fail_no_memory(r->error);
    r->uses = grown;
    r->uses_capacity = wanted;
  }
  r->uses[r->n_uses++] = h->tensor;
  return SITU_STATUS_OK;
}

void onnx_hold_as(onnx_held *h, onnx_held *const *sources, int32_t n_sources) {
  h->weight_bytes = 0;
  h->sources = sources;
  h->n_sources = n_sources;
}

onnx_held *onnx_scope_find(const onnx_scope *s, const char *name) {
  for (; s; s = s->outer) {
    int64_t i = string_map_get(s->names, name);
    if (i >= 0) return s->held[i];
  }
  return NULL;
}

static situ_status define(onnx_reading *r, onnx_scope *s, const char *name, onnx_held *h) {
  if (!*name) return SITU_STATUS_OK;
  s->held[s->n_held] = h;
  return string_map_set(s->names, name, s->n_held++) < 0 ? fail_no_memory(r->error) : SITU_STATUS_OK;
}

/* The size of dimension d of a declared value, -1 when it has none. With `assume` it gets one, and a note. */
static int64_t declared_dim(onnx_reading *r, const onnx_value *v, int32_t d, bool assume) {
  if (v->dims[d] >= 0) return v->dims[d];
  char made[160];
  const char *name = v->dim_names[d];
  if (!name && !assume) return -1;
  if (!name) {
    snprintf(made, sizeof made, "%.128s[%d]", v->name, (int)d);
    name = made;
  }
  int64_t known = string_map_get(r->dims, name);
  if (known < 0 && !assume) return known;
  const char *kept = name == made ? arena_string(r->a, made) : name;
  int64_t n = string_map_count(r->asked);
  if (!kept || string_map_put(r->asked, kept, 0) < 0) r->notes->failed = true;
  if (string_map_count(r->asked) > n && n < ASSUME_NAMES) r->asked_names[n] = kept;
  if (known >= 0 || r->notes->failed) return known;
  r->assumed = true;
  assume_input in = {.dtype = v->dtype, .rank = v->rank, .dims = v->dims, .first = v == r->model->graph->inputs};
  known = r->options->default_dim;
  if (known < 1) known = assume_size(&in, d, v->dim_names[d], r->assumption, &r->assumed_kinds);
  assumed *size = ARENA_NEW(r->a, assumed, 1);
  if (!size || string_map_put(r->dims, kept, known) < 0) {
    r->notes->failed = true;
    return known;
  }
  *size = (assumed){{kept, known}, r->sizes, assume_is_batch(&in, d, v->dim_names[d])};
  r->sizes = size;
  onnx_note(r, kept, "dimension %s = %lld (set it with --dim '%s=N')", name, (long long)known, name);
  return known;
}

static situ_status declare_as(onnx_reading *r, const onnx_value *v, ops_tensor *t, bool assume) {
  if (t->dtype == SITU_DTYPE_UNKNOWN) t->dtype = v->dtype;
  if (v->no_tensor && t->rank < 0) t->absent = true;
  if (v->rank < 0 || (t->rank >= 0 && t->rank != v->rank)) return SITU_STATUS_OK;
  int64_t *dims = ARENA_NEW(r->a, int64_t, v->rank);
  if (!dims) return fail_no_memory(r->error);
  for (int32_t d = 0; d < v->rank; d++)
    dims[d] = t->rank >= 0 && t->dims[d] >= 0 ? t->dims[d] : declared_dim(r, v, d, assume);
  t->rank = v->rank;
  t->dims = dims;
  return SITU_STATUS_OK;
}

static situ_status onnx_declare(onnx_reading *r, const onnx_scope *s, const char *name, ops_tensor *t) {
  int64_t i = *name ? string_map_get(s->graph->declared, name) : -1;
  return i < 0 ? SITU_STATUS_OK : declare_as(r, onnx_declared(s->graph, i), t, false);
}

static situ_status define_weights(onnx_reading *r, onnx_scope *s) {
  for (int32_t i = 0; i < s->graph->n_weights; i++) {
    const onnx_weight *w = &s->graph->weights[i];
    onnx_held *h = onnx_held_new(r);
    if (!h) return fail_no_memory(r->error);
    h->t = w->tensor;
    h->t.stored_bytes = w->size_bytes;
    ops_set_precision(&h->t, r->precision);
    h->weight_bytes = h->t.stored_bytes;
    TRY(define(r, s, w->name, h));
  }
  return SITU_STATUS_OK;
}

situ_status onnx_scope_open(onnx_reading *r, onnx_scope *s, const onnx_scope *outer, const onnx_call *call,
                            const onnx_graph *graph, onnx_held *const *given, int32_t n_given) {
  int depth = outer ? outer->depth + 1 : call ? call->depth : 0;
  if (depth > 2 * ONNX_MAX_NESTING)
    return fail_with(r->error, SITU_STATUS_BAD_INPUT, r->path, "nests functions and sub-graphs more than %d deep",
                     2 * ONNX_MAX_NESTING);
  int64_t n = (int64_t)graph->n_inputs + graph->n_weights;
  for (int32_t i = 0; i < graph->n_nodes; i++) n += graph->nodes[i].n_outputs;
  *s = (onnx_scope){.outer = outer, .graph = graph, .call = call, .depth = depth};
  s->names = string_map_new(r->a, n);
  s->held = ARENA_NEW(r->a, onnx_held *, n);
  if (!s->names || !s->held) return fail_no_memory(r->error);
  TRY(define_weights(r, s));
  for (int32_t i = 0; i < graph->n_inputs; i++) {
    const onnx_value *v = &graph->inputs[i];
    onnx_held *h = i < n_given ? given[i] : NULL;
    bool left_out = call && !outer && !h;
    if (!h && string_map_get(s->names, v->name) >= 0) continue;
    if (!h && !left_out) {
      h = onnx_held_new(r);
      if (!h) return fail_no_memory(r->error);
      TRY(declare_as(r, v, &h->t, !outer));
      ops_set_precision(&h->t, r->precision);
    }
    TRY(define(r, s, v->name, h));
  }
  return SITU_STATUS_OK;
}

static int64_t onnx_opset_version(const onnx_reading *r, const onnx_scope *s, const char *domain) {
  const onnx_function *f = s->call ? s->call->function : NULL;
  for (int32_t i = 0; f && i < f->n_opsets; i++)
    if (strcmp(f->opsets[i].domain, domain) == 0) return f->opsets[i].version;
  for (int32_t i = 0; i < r->model->n_opsets; i++)
    if (strcmp(r->model->opsets[i].domain, domain) == 0) return r->model->opsets[i].version;
  return 1;
}

/* ---- nodes ---- */

static const ops_attr *find_attr(const ops_attr *attrs, int32_t n, const char *name) {
  for (int32_t i = 0; i < n; i++)
    if (strcmp(attrs[i].name, name) == 0) return &attrs[i];
  return NULL;
}

/* The attributes of a node in a function, with references replaced by those of the call or the function's defaults. */
static situ_status bind_attrs(onnx_reading *r, const onnx_scope *s, const onnx_node *n, ops_node *shown) {
  shown->attrs = n->attrs;
  shown->n_attrs = n->n_attrs;
  if (n->n_references == 0 || !s->call) return SITU_STATUS_OK;
  ops_attr *attrs = ARENA_ZERO(r->a, ops_attr, (int64_t)n->n_attrs + n->n_references);
  if (!attrs) return fail_no_memory(r->error);
  if (n->n_attrs) memcpy(attrs, n->attrs, (size_t)n->n_attrs * sizeof *attrs);
  int32_t count = n->n_attrs;
  const onnx_function *f = s->call->function;
  for (int32_t i = 0; i < n->n_references; i++) {
    const ops_attr *at = find_attr(s->call->attrs, s->call->n_attrs, n->references[i].from);
    if (!at) at = find_attr(f->defaults, f->n_defaults, n->references[i].from);
    if (!at) continue;
    attrs[count] = *at;
    attrs[count++].name = n->references[i].attr;
  }
  shown->attrs = attrs;
  shown->n_attrs = count;
  return SITU_STATUS_OK;
}

/* Whether every output is a weight, so that the node is folded away. */
static bool all_constant(const ops_tensor *outputs, int32_t n) {
  for (int32_t i = 0; i < n; i++)
    if (!outputs[i].constant || outputs[i].absent) return false;
  return n > 0;
}

static void note_unknown(onnx_reading *r, const onnx_node *n) {
  char key[200], kind[ONNX_KIND_BYTES];
  snprintf(key, sizeof key, "kind %.80s %.80s", n->domain, n->kind);
  onnx_note(r, key, "operator kind %s is not known: shapes as declared, work counted from what it reads and writes",
            onnx_full_kind(kind, n));
}

static bool is_untyped(const ops_tensor *t) { return t && !t->absent && situ_dtype_bits(t->dtype) == 0; }

/* States why the work of a node is a lower bound. */
static situ_status guess_work(const onnx_reading *r, const onnx_node *n, const ops_node *shown) {
  char kind[ONNX_KIND_BYTES];
  bool untyped = false;
  for (int32_t i = 0; i < shown->n_inputs; i++) untyped |= is_untyped(shown->inputs[i]);
  for (int32_t i = 0; i < shown->n_outputs; i++) untyped |= is_untyped(&shown->outputs[i]);
  return onnx_guess(r,
                    !ops_known(n->domain, n->kind) ? SITU_GUESS_KIND
                    : untyped                      ? SITU_GUESS_TYPE
                                                   : SITU_GUESS_SHAPE,
                    onnx_full_kind(kind, n));
}

situ_status onnx_infer(onnx_reading *r, const onnx_scope *s, const onnx_node *n, const ops_node *shown, bool *fits) {
  enum { CONTRADICTIONS_SHOWN = 3 };
  situ_error inner = {0};
  situ_status status = ops_infer(shown, r->a, &inner);
  *fits = status == SITU_STATUS_OK;
  if (*fits) return SITU_STATUS_OK;
  if (status == SITU_STATUS_NO_MEMORY) return fail_no_memory(r->error);
  if (!r->assumed || r->strict > 0) return onnx_fail(r, n, "%s", inner.text);
  if (r->n_contradictions++ < CONTRADICTIONS_SHOWN)
    onnx_note(r, onnx_node_label(n), "operator '%s' does not match the assumed dimensions: %s", onnx_node_label(n),
              inner.text);
  for (int32_t i = 0; i < n->n_outputs; i++) {
    shown->outputs[i] = (ops_tensor){.rank = -1};
    TRY(onnx_declare(r, s, n->outputs[i], &shown->outputs[i]));
  }
  return SITU_STATUS_OK;
}

/* How a weight computed from weights alone is held. */
static void fold(const onnx_node *n, const ops_node *shown, onnx_held *const *ins, onnx_held *made) {
  if (strcmp(n->kind, "Shape") == 0 || strcmp(n->kind, "Size") == 0) return; /* known without what it is of */
  if (ops_hold(&made->t, shown->inputs, shown->n_inputs))
    onnx_hold_as(made, ins, n->n_inputs);
  else
    made->weight_bytes = max64(ops_bytes(&made->t, NULL), n->bulk_bytes);
}

static bool is_byte(const ops_tensor *t) {
  return t && situ_dtype_bits(t->dtype) > 0 && situ_dtype_bits(t->dtype) <= 8;
}

/* Whether the node multiplies dequantised values with each other: engines run it in I8. */
static bool is_quantised(const onnx_node *n, onnx_held *const *ins) {
  static const char *const kinds[] = {"Conv", "ConvTranspose", "Gemm", "MatMul"};
  bool multiplies = false;
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) multiplies |= strcmp(n->kind, kinds[i]) == 0;
  return multiplies && n->n_inputs >= 2 && ins[0] && ins[1] && ins[0]->dequantised && ins[1]->dequantised;
}

static situ_status eval_plain(onnx_reading *r, const onnx_scope *s, const onnx_node *n, ops_node *shown,
                              onnx_held *const *ins, onnx_held **outs, node_cost *cost) {
  bool fits;
  TRY(onnx_infer(r, s, n, shown, &fits));
  if (!ops_known(n->domain, n->kind)) note_unknown(r, n);
  bool folded = all_constant(shown->outputs, n->n_outputs);
  for (int32_t i = 0; i < n->n_outputs; i++) ops_set_precision(&shown->outputs[i], r->precision);
  for (int32_t i = 0; i < n->n_inputs && !folded; i++) TRY(onnx_consume(r, ins[i], cost));
  for (int32_t i = 0; i < n->n_outputs; i++) {
    outs[i]->t = shown->outputs[i];
    outs[i]->t.constant = folded;
    outs[i]->dequantised = strcmp(n->kind, "DequantizeLinear") == 0 && is_byte(shown->inputs[0]);
    if (folded) fold(n, shown, ins, outs[i]);
  }
  if (folded) return SITU_STATUS_OK;
  ops_work work = ops_count(shown);
  if (is_quantised(n, ins)) work.dtype = SITU_DTYPE_I8;
  node_cost own = {.flops = max64(work.flops, 0),
                   .moved_bytes = sat_add(work.read_bytes, work.written_bytes),
                   .weight_bytes = n->bulk_bytes,
                   .dtype = work.dtype,
                   .dtype_flops = max64(work.flops, 0),
                   .inferred = work.exact && fits};
  node_cost_add(cost, &own, 1);
  if (!own.inferred) TRY(guess_work(r, n, shown));
  r->weight_bytes = sat_add(r->weight_bytes, n->bulk_bytes);
  return SITU_STATUS_OK;
}

/* Resolves the inputs of a node and creates its outputs, as far as they are declared. */
static situ_status show(onnx_reading *r, const onnx_scope *s, const onnx_node *n, ops_node *shown, onnx_held **ins) {
  const ops_tensor **inputs = ARENA_ZERO(r->a, const ops_tensor *, n->n_inputs);
  ops_tensor *outputs = ARENA_ZERO(r->a, ops_tensor, n->n_outputs);
  if (!inputs || !outputs) return fail_no_memory(r->error);
  for (int32_t i = 0; i < n->n_inputs; i++) {
    ins[i] = *n->inputs[i] ? onnx_scope_find(s, n->inputs[i]) : NULL;
    if (ins[i]) inputs[i] = &ins[i]->t;
  }
  for (int32_t i = 0; i < n->n_outputs; i++) {
    outputs[i].rank = -1;
    TRY(onnx_declare(r, s, n->outputs[i], &outputs[i]));
  }
  *shown = (ops_node){.domain = n->domain,
                      .kind = n->kind,
                      .opset = onnx_opset_version(r, s, n->domain),
                      .inputs = inputs,
                      .n_inputs = n->n_inputs,
                      .outputs = outputs,
                      .n_outputs = n->n_outputs};
  return bind_attrs(r, s, n, shown);
}

situ_status onnx_eval_node(onnx_reading *r, onnx_scope *s, const onnx_node *n, onnx_held ***made, node_cost *cost) {
  *cost = (node_cost){.inferred = true};
  onnx_held **ins = ARENA_ZERO(r->a, onnx_held *, n->n_inputs), **outs = ARENA_ZERO(r->a, onnx_held *, n->n_outputs);
  if (!ins || !outs) return fail_no_memory(r->error);
  *made = outs;
  ops_node shown;
  TRY(show(r, s, n, &shown, ins));
  for (int32_t i = 0; i < n->n_outputs; i++)
    if (!(outs[i] = onnx_held_new(r))) return fail_no_memory(r->error);
  const onnx_function *f = onnx_find_function(r, n);
  if (f)
    TRY(onnx_eval_call(r, s, n, f, &shown, ins, outs, cost));
  else if (n->n_bodies > 0)
    TRY(onnx_eval_control(r, s, n, &shown, ins, outs, cost));
  else
    TRY(eval_plain(r, s, n, &shown, ins, outs, cost));
  for (int32_t i = 0; i < n->n_outputs; i++) {
    TRY(onnx_declare(r, s, n->outputs[i], &outs[i]->t));
    TRY(define(r, s, n->outputs[i], outs[i]));
  }
  return SITU_STATUS_OK;
}
