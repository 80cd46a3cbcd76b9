/* Sub-graphs and functions, whose costs are charged to the node that owns them.
 *
 * If costs as much as its more expensive branch, or as the taken branch if its condition is known. Loop costs its body
 * times its trip count (which the declared length of its results may determine), Scan times its sequence length; if
 * these are unknown, once, with a note. Shapes within a body are those of the first iteration. Other nodes with
 * sub-graphs cost as one run of each. Weights inside count once, for all branches. */
#include <stdio.h>
#include <string.h>

#include "base/checked.h"
#include "base/fail.h"
#include "read/onnx_eval.h"

enum { MAX_NESTED = 1 << 20, MAX_TRIPS = INT32_MAX };

/* Evaluates a body: results[i] is its output i. */
static situ_status eval_body(onnx_reading *r, const onnx_scope *outer, const onnx_call *call, const onnx_graph *g,
                             onnx_held *const *given, int32_t n_given, onnx_held ***results, node_cost *cost) {
  onnx_scope s;
  *cost = (node_cost){.inferred = true};
  *results = ARENA_ZERO(r->a, onnx_held *, g->n_outputs);
  if (!*results) return fail_no_memory(r->error);
  TRY(onnx_scope_open(r, &s, outer, call, g, given, n_given));
  for (int32_t i = 0; i < g->n_nodes; i++) {
    if (++r->n_nested > MAX_NESTED)
      return fail_with(r->error, SITU_STATUS_BAD_INPUT, r->path,
                       "has more than %d operators once functions and sub-graphs are written out", MAX_NESTED);
    onnx_held **outs;
    node_cost own;
    TRY(onnx_eval_node(r, &s, &g->nodes[g->order[i]], &outs, &own));
    node_cost_add(cost, &own, 1);
  }
  for (int32_t i = 0; i < g->n_outputs; i++) (*results)[i] = onnx_scope_find(&s, g->outputs[i].name);
  return SITU_STATUS_OK;
}

static situ_status consume_all(onnx_reading *r, onnx_held *const *held, int32_t n, node_cost *cost) {
  for (int32_t i = 0; i < n; i++) TRY(onnx_consume(r, held[i], cost));
  return SITU_STATUS_OK;
}

static const onnx_graph *find_body(const onnx_node *n, const char *attr) {
  for (int32_t i = 0; i < n->n_bodies; i++)
    if (strcmp(n->bodies[i].attr, attr) == 0) return n->bodies[i].graph;
  return NULL;
}

/* A scalar that is known and in 0 .. most, else -1. */
static int64_t scalar(const onnx_held *h, int64_t max) {
  if (!h || !h->t.ints || ops_elements(&h->t, NULL) != 1) return -1;
  return h->t.ints[0] >= 0 && h->t.ints[0] <= max ? h->t.ints[0] : -1;
}

/* Type and shape of a value, without its content. */
static ops_tensor outline(const onnx_held *h) {
  return h ? (ops_tensor){.dtype = h->t.dtype, .rank = h->t.rank, .dims = h->t.dims, .absent = h->t.absent}
           : (ops_tensor){.rank = -1};
}

/* What two tensors have in common. */
static situ_status common(onnx_reading *r, ops_tensor *t, const ops_tensor *x, const ops_tensor *y) {
  *t = (ops_tensor){
      .rank = -1, .dtype = x->dtype == y->dtype ? x->dtype : SITU_DTYPE_UNKNOWN, .absent = x->absent || y->absent};
  if (x->rank < 0 || x->rank != y->rank) return SITU_STATUS_OK;
  int64_t *dims = ARENA_NEW(r->a, int64_t, x->rank);
  if (!dims) return fail_no_memory(r->error);
  for (int32_t d = 0; d < x->rank; d++) dims[d] = x->dims[d] == y->dims[d] ? x->dims[d] : -1;
  t->rank = x->rank;
  t->dims = dims;
  return SITU_STATUS_OK;
}

/* The tensor with an axis put in (value >= -1) or, with `remove`, taken away. An axis out of range gives no shape. */
static situ_status with_axis(onnx_reading *r, ops_tensor *t, int64_t axis, int64_t value, bool remove) {
  if (t->rank < 0) return SITU_STATUS_OK;
  int32_t rank = remove ? t->rank - 1 : t->rank + 1;
  if (axis < 0) axis += remove ? t->rank : rank;
  int64_t *dims = ARENA_NEW(r->a, int64_t, max64(rank, 0));
  if (!dims) return fail_no_memory(r->error);
  bool fits = rank >= 0 && rank <= OPS_MAX_RANK && axis >= 0 && axis < (remove ? t->rank : rank);
  for (int32_t d = 0; fits && d < rank; d++)
    dims[d] = remove ? t->dims[d + (d >= axis)] : d == axis ? value : t->dims[d - (d > axis)];
  t->rank = fits ? rank : -1;
  t->dims = dims;
  return SITU_STATUS_OK;
}

/* The size of an axis, -1 when it is not known or there is none. */
static int64_t dim_of(const ops_tensor *t, int64_t axis) {
  if (axis < 0) axis += t->rank;
  return t->rank > axis && axis >= 0 ? t->dims[axis] : -1;
}

/* ---- functions ---- */

const onnx_function *onnx_find_function(const onnx_reading *r, const onnx_node *n) {
  if (r->model->n_functions == 0) return NULL;
  char key[512];
  int length = snprintf(key, sizeof key, "%s\n%s\n%s", n->domain, n->kind, n->overload);
  if (length < 0 || (size_t)length >= sizeof key) return NULL;
  int64_t i = string_map_get(r->model->function_of, key);
  return i < 0 ? NULL : &r->model->functions[i];
}

situ_status onnx_eval_call(onnx_reading *r, const onnx_scope *s, const onnx_node *n, const onnx_function *f,
                           const ops_node *shown, onnx_held *const *ins, onnx_held **outs, node_cost *cost) {
  onnx_call call = {
      .function = f, .attrs = shown->attrs, .n_attrs = shown->n_attrs, .outer = s->call, .depth = s->depth + 1};
  for (const onnx_call *c = s->call; c; c = c->outer)
    if (c->function == f) return onnx_fail(r, n, "function %s calls itself; functions may not be recursive", f->name);
  onnx_held **results;
  TRY(eval_body(r, NULL, &call, &f->body, ins, n->n_inputs, &results, cost));
  bool folded = n->n_outputs > 0;
  for (int32_t i = 0; i < n->n_outputs; i++) folded &= i < f->body.n_outputs && results[i] && results[i]->t.constant;
  for (int32_t i = 0; i < n->n_outputs && i < f->body.n_outputs; i++) {
    if (!results[i]) continue;
    if (!folded) TRY(onnx_consume(r, results[i], cost));
    outs[i]->t = results[i]->t;
    outs[i]->t.constant = folded;
    outs[i]->dequantised = results[i]->dequantised;
    if (folded) onnx_hold_as(outs[i], &results[i], 1);
  }
  return SITU_STATUS_OK;
}

/* ---- If ---- */

/* Evaluates one branch of an If whose condition is not known. Shapes that do not fit only mean that this branch is
 * not the one that will be taken. */
static situ_status try_branch(onnx_reading *r, const onnx_scope *s, const onnx_node *n, int which, const onnx_graph *g,
                              onnx_held ***results, node_cost *cost) {
  situ_error *kept = r->error, inner = {0};
  int64_t before = r->n_nested;
  r->error = &inner;
  r->strict++;
  situ_status status = eval_body(r, s, s->call, g, NULL, 0, results, cost);
  r->strict--;
  r->error = kept;
  if (status == SITU_STATUS_OK) return SITU_STATUS_OK;
  if (status != SITU_STATUS_BAD_INPUT || r->n_nested > MAX_NESTED)
    return fail_with(r->error, status, inner.where, "%s", inner.text);
  r->n_nested = max64(r->n_nested, sat_add(before, g->n_all_nodes));
  *results = NULL;
  cost->inferred = false;
  TRY(onnx_guess(r, SITU_GUESS_CONTROL, onnx_node_label(n)));
  onnx_note(r, onnx_node_label(n), "If '%s': its %s branch cannot run and is not costed: %s: %s", onnx_node_label(n),
            which ? "then" : "else", inner.where, inner.text);
  return SITU_STATUS_OK;
}

static bool dearer(const node_cost *x, const node_cost *y) {
  return x->flops != y->flops ? x->flops > y->flops : x->moved_bytes > y->moved_bytes;
}

static situ_status eval_if(onnx_reading *r, const onnx_scope *s, const onnx_node *n, onnx_held *const *ins,
                           onnx_held **outs, node_cost *cost) {
  const onnx_graph *branch[2] = {find_body(n, "else_branch"), find_body(n, "then_branch")};
  if (!branch[0] || !branch[1] || n->n_inputs < 1) return onnx_fail(r, n, "If needs a condition and two branches");
  int64_t taken = scalar(ins[0], 1);
  onnx_held **results[2] = {NULL, NULL};
  node_cost costs[2] = {{.inferred = true}, {.inferred = true}};
  if (taken >= 0) {
    TRY(eval_body(r, s, s->call, branch[taken], NULL, 0, &results[taken], &costs[taken]));
    r->n_nested = sat_add(r->n_nested, branch[!taken]->n_all_nodes);
  } else {
    for (int b = 0; b < 2; b++) TRY(try_branch(r, s, n, b, branch[b], &results[b], &costs[b]));
    if (dearer(&costs[0], &costs[1]) || dearer(&costs[1], &costs[0]))
      TRY(onnx_guess(r, SITU_GUESS_CONTROL, onnx_node_label(n)));
    if (!results[0] && !results[1] && (r->strict > 0 || !r->assumed))
      return onnx_fail(r, n, "neither branch can run with the shapes of its inputs");
    for (int b = 0; b < 2 && !results[0] && !results[1]; b++)
      TRY(eval_body(r, s, s->call, branch[b], NULL, 0, &results[b], &costs[b]));
  }
  int dear = taken >= 0 ? (int)taken : dearer(&costs[1], &costs[0]);
  node_cost_add(cost, &costs[dear], 1);
  cost->weight_bytes = sat_add(cost->weight_bytes, costs[!dear].weight_bytes);
  cost->inferred &= costs[!dear].inferred;
  bool folded = taken >= 0 && ins[0]->t.constant;
  for (int32_t i = 0; folded && i < n->n_outputs; i++)
    folded = i < branch[taken]->n_outputs && results[taken][i] && results[taken][i]->t.constant;
  if (!folded) TRY(onnx_consume(r, ins[0], cost));
  for (int b = 0; b < 2; b++)
    if (results[b] && !folded) TRY(consume_all(r, results[b], branch[b]->n_outputs, cost));
  for (int32_t i = 0; i < n->n_outputs; i++) {
    const onnx_held *x = results[0] && i < branch[0]->n_outputs ? results[0][i] : NULL;
    const onnx_held *y = results[1] && i < branch[1]->n_outputs ? results[1][i] : NULL;
    if (!x && !y) continue;
    if (x && y) {
      TRY(common(r, &outs[i]->t, &x->t, &y->t));
    } else {
      outs[i]->t = x ? x->t : y->t;
      outs[i]->t.constant = folded;
      if (folded) onnx_hold_as(outs[i], x ? &results[0][i] : &results[1][i], 1);
    }
  }
  return SITU_STATUS_OK;
}

/* ---- Loop and Scan ---- */

static situ_status guess_trips(onnx_reading *r, const onnx_node *n) {
  onnx_note(r, onnx_node_label(n), "%s '%s': how often it runs is not known; counted once", n->kind,
            onnx_node_label(n));
  return onnx_guess(r, SITU_GUESS_CONTROL, onnx_node_label(n));
}

static onnx_held *fresh(onnx_reading *r, ops_tensor t) {
  onnx_held *h = onnx_held_new(r);
  if (h) h->t = t;
  return h;
}

/* What is carried from one iteration to the next keeps the shape that start and end have in common. */
static situ_status carried_out(onnx_reading *r, ops_tensor *t, const onnx_held *start, const onnx_held *end) {
  ops_tensor x = outline(start), y = outline(end);
  if (!start || !end) return SITU_STATUS_OK;
  return common(r, t, &x, &y);
}

static situ_status eval_loop(onnx_reading *r, const onnx_scope *s, const onnx_node *n, const ops_node *shown,
                             onnx_held *const *ins, onnx_held **outs, node_cost *cost) {
  const onnx_graph *body = find_body(n, "body");
  int32_t n_carried = n->n_inputs - 2;
  if (!body || n_carried < 0) return onnx_fail(r, n, "Loop needs a body and at least two inputs");
  if (body->n_inputs != n_carried + 2 || body->n_outputs < n_carried + 1)
    return onnx_fail(r, n, "the body has %d inputs and %d outputs; a Loop of %d inputs needs %d and at least %d",
                     (int)body->n_inputs, (int)body->n_outputs, (int)n->n_inputs, (int)n_carried + 2,
                     (int)n_carried + 1);
  int64_t trips = scalar(ins[0], MAX_TRIPS);
  if (ins[1] && scalar(ins[1], 1) == 0) trips = 0;
  for (int32_t i = n_carried; i < n->n_outputs && trips < 0; i++) trips = dim_of(&shown->outputs[i], 0);
  if (trips < 0) TRY(guess_trips(r, n));
  TRY(consume_all(r, ins, n->n_inputs, cost));
  onnx_held **given = ARENA_NEW(r->a, onnx_held *, body->n_inputs);
  if (!given) return fail_no_memory(r->error);
  for (int32_t i = 0; i < body->n_inputs; i++) {
    static const int64_t one[1] = {1};
    ops_tensor t = i == 0   ? (ops_tensor){.dtype = SITU_DTYPE_I64}
                   : i == 1 ? (ops_tensor){.dtype = SITU_DTYPE_BOOL}
                            : outline(ins[i]);
    if (i < 2 && body->inputs[i].rank == 1) t.rank = 1; /* old exporters make these [1] */
    if (i < 2) t.dims = one;
    if (!(given[i] = fresh(r, t))) return fail_no_memory(r->error);
  }
  onnx_held **results;
  node_cost once;
  TRY(eval_body(r, s, s->call, body, given, body->n_inputs, &results, &once));
  TRY(consume_all(r, results, body->n_outputs, &once));
  once.inferred &= trips >= 0;
  node_cost_add(cost, &once, trips < 0 ? 1 : trips);
  for (int32_t i = 0; i < n->n_outputs && i + 1 < body->n_outputs; i++) {
    if (i < n_carried) {
      TRY(carried_out(r, &outs[i]->t, ins[i + 2], results[i + 1]));
    } else {
      outs[i]->t = outline(results[i + 1]);
      TRY(with_axis(r, &outs[i]->t, 0, trips, false));
    }
  }
  return SITU_STATUS_OK;
}

/* The axis of scanned input or output i; 0 unless the attribute says otherwise. */
static int64_t scan_axis(const ops_node *shown, const char *attr, int32_t i) {
  int64_t count;
  const int64_t *axes = ops_attr_ints(shown, attr, &count);
  return i < count ? axes[i] : 0;
}

typedef struct scan_plan {
  const ops_node *shown;
  const onnx_graph *body;
  onnx_held *const *ins; /* without the sequence lengths of the old form */
  int32_t n_states, n_scanned;
  bool old; /* operator set 8: a batch axis in front, sequence lengths first */
} scan_plan;

/* The inputs of the body: states as they are, scanned ones without their axis. *trips is the sequence length (times
 * the batch in the old form), -1 when not known. */
static situ_status scan_given(onnx_reading *r, const scan_plan *p, onnx_held **given, int64_t *length, int64_t *batch) {
  *length = -1;
  *batch = p->old ? -1 : 1;
  for (int32_t i = 0; i < p->n_states + p->n_scanned; i++) {
    ops_tensor t = outline(p->ins[i]);
    bool scanned = i >= p->n_states;
    if (p->old) {
      *batch = max64(*batch, dim_of(&t, 0));
      TRY(with_axis(r, &t, 0, 0, true));
    }
    if (scanned) {
      int64_t axis = p->old ? 0 : scan_axis(p->shown, "scan_input_axes", i - p->n_states);
      *length = max64(*length, dim_of(&t, axis));
      TRY(with_axis(r, &t, axis, 0, true));
    }
    if (!(given[i] = fresh(r, t))) return fail_no_memory(r->error);
  }
  return SITU_STATUS_OK;
}

static situ_status eval_scan(onnx_reading *r, const onnx_scope *s, const onnx_node *n, const ops_node *shown,
                             onnx_held *const *ins, onnx_held **outs, node_cost *cost) {
  scan_plan p = {.shown = shown, .body = find_body(n, "body"), .ins = ins, .old = shown->opset < 9};
  int32_t n_inputs = n->n_inputs - p.old;
  int64_t n_scanned = ops_attr_int(shown, "num_scan_inputs", -1);
  if (!p.body || n_scanned < 1 || n_scanned > n_inputs || p.body->n_inputs != n_inputs)
    return onnx_fail(r, n, "Scan needs a body with as many inputs as it has itself, and num_scan_inputs among them");
  p.ins = ins + p.old;
  p.n_scanned = (int32_t)n_scanned;
  p.n_states = n_inputs - p.n_scanned;
  if (p.body->n_outputs < p.n_states) return onnx_fail(r, n, "the body of Scan has fewer outputs than states");
  TRY(consume_all(r, ins, n->n_inputs, cost));
  onnx_held **given = ARENA_NEW(r->a, onnx_held *, n_inputs), **results;
  if (!given) return fail_no_memory(r->error);
  int64_t length, batch;
  node_cost once;
  TRY(scan_given(r, &p, given, &length, &batch));
  if (length < 0 || batch < 0) TRY(guess_trips(r, n));
  TRY(eval_body(r, s, s->call, p.body, given, n_inputs, &results, &once));
  TRY(consume_all(r, results, p.body->n_outputs, &once));
  once.inferred &= length >= 0 && batch >= 0;
  node_cost_add(cost, &once, sat_mul(length < 0 ? 1 : length, batch < 0 ? 1 : batch));
  for (int32_t i = 0; i < n->n_outputs && i < p.body->n_outputs; i++) {
    ops_tensor *t = &outs[i]->t;
    if (i < p.n_states) {
      TRY(carried_out(r, t, given[i], results[i]));
    } else {
      *t = outline(results[i]);
      TRY(with_axis(r, t, p.old ? 0 : scan_axis(shown, "scan_output_axes", i - p.n_states), length, false));
    }
    if (p.old) TRY(with_axis(r, t, 0, batch, false));
  }
  return SITU_STATUS_OK;
}

/* ---- the rest ---- */

/* A node whose sub-graphs mean something that is not known here: one run of each. */
static situ_status eval_other(onnx_reading *r, const onnx_scope *s, const onnx_node *n, const ops_node *shown,
                              onnx_held *const *ins, onnx_held **outs, node_cost *cost) {
  char key[200], kind[ONNX_KIND_BYTES];
  snprintf(key, sizeof key, "bodies %.80s %.80s", n->domain, n->kind);
  onnx_note(r, key, "operator kind %s: each of its sub-graphs is counted once", onnx_full_kind(kind, n));
  TRY(onnx_guess(r, SITU_GUESS_KIND, kind));
  TRY(consume_all(r, ins, n->n_inputs, cost));
  for (int32_t b = 0; b < n->n_bodies; b++) {
    onnx_held **results;
    node_cost once;
    TRY(eval_body(r, s, s->call, n->bodies[b].graph, NULL, 0, &results, &once));
    TRY(consume_all(r, results, n->bodies[b].graph->n_outputs, &once));
    node_cost_add(cost, &once, 1);
  }
  cost->inferred = false;
  bool fits;
  TRY(onnx_infer(r, s, n, shown, &fits));
  for (int32_t i = 0; i < n->n_outputs; i++) {
    outs[i]->t = shown->outputs[i];
    outs[i]->t.constant = false;
  }
  return SITU_STATUS_OK;
}

situ_status onnx_eval_control(onnx_reading *r, const onnx_scope *s, const onnx_node *n, const ops_node *shown,
                              onnx_held *const *ins, onnx_held **outs, node_cost *cost) {
  if (!*n->domain && strcmp(n->kind, "If") == 0) return eval_if(r, s, n, ins, outs, cost);
  if (!*n->domain && strcmp(n->kind, "Loop") == 0) return eval_loop(r, s, n, shown, ins, outs, cost);
  if (!*n->domain && strcmp(n->kind, "Scan") == 0) return eval_scan(r, s, n, shown, ins, outs, cost);
  return eval_other(r, s, n, shown, ins, outs, cost);
}
