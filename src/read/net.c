/* The net: values, names, sharing, and the one door through which every operator goes. */
#include "read/net.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/c_locale.h"
#include "base/checked.h"
#include "base/fail.h"
#include "base/format.h"
#include "graph/builder.h"
#include "graph/graph.h"

enum { MAX_DEPTH = 16, PATH_BYTES = 192, NAME_BYTES = 300, MAX_INPUTS = 4096, OPSET = 17 };

typedef enum value_role { ROLE_TENSOR, ROLE_INPUT, ROLE_WEIGHT, ROLE_STATE, ROLE_CONSTANT } value_role;

typedef struct value {
  ops_tensor about;
  int32_t tensor;       /* number in the builder, or -1 */
  int32_t group;        /* of a shared weight, or -1 */
  int64_t stored_bytes; /* of a weight that is packed; 0: by its type */
  uint8_t role;
  bool counted; /* a weight or state that an operator has read */
} value;

struct net {
  situ_graph_builder *builder;
  arena *arena, *scratch; /* what values hold; what one call needs */
  value *values;
  int32_t n_values, values_capacity;
  const ops_tensor **inputs; /* of the call under way */
  ops_tensor *outputs;
  situ_dtype dtype, precision;
  double work, reading; /* net_expect */
  int32_t group, n_groups;
  int64_t n_parameters;
  char path[PATH_BYTES];
  size_t path_ends[MAX_DEPTH + 1]; /* [i] is the length of the path at depth i */
  int32_t depth;
  situ_status status;
  situ_error error;
};

situ_status net_new(net **out, const char *model, situ_dtype precision, situ_error *error) {
  *out = NULL;
  net *n = calloc(1, sizeof *n);
  if (!n) return fail_no_memory(error);
  *n = (net){.arena = arena_new(),
             .scratch = arena_new(),
             .precision = precision,
             .dtype = precision ? precision : SITU_DTYPE_F32,
             .work = 1,
             .reading = 1,
             .group = -1};
  n->inputs = ARENA_NEW(n->arena, const ops_tensor *, MAX_INPUTS);
  n->outputs = ARENA_NEW(n->arena, ops_tensor, MAX_INPUTS);
  if (!n->scratch || !n->inputs || !n->outputs || situ_graph_builder_new(&n->builder, model, NULL) != SITU_STATUS_OK) {
    net_free(n);
    return fail_no_memory(error);
  }
  *out = n;
  return SITU_STATUS_OK;
}

void net_free(net *n) {
  if (!n) return;
  situ_graph_builder_free(n->builder);
  arena_free(n->arena);
  arena_free(n->scratch);
  free(n->values);
  free(n);
}

situ_status net_finish(net *n, situ_graph **out, situ_error *error) {
  *out = NULL;
  if (n->status != SITU_STATUS_OK) {
    if (error) *error = n->error;
    return n->status;
  }
  free(n->values); /* room for the graph */
  n->values = NULL;
  n->n_values = n->values_capacity = 0;
  return situ_graph_freeze(out, n->builder, error);
}

bool net_ok(const net *n) { return n->status == SITU_STATUS_OK; }

void net_refuse(net *n, const char *format, ...) {
  if (!net_ok(n)) return;
  char text[400];
  FORMAT_INTO(text, format);
  n->status = fail_with(&n->error, SITU_STATUS_BAD_INPUT, NULL, "%s", text);
}

/* A generator broke the rules of net.h. */
static void defect(net *n, const char *name, const char *what) {
  if (net_ok(n)) n->status = fail_with(&n->error, SITU_STATUS_INTERNAL, name, "the built-in model %s", what);
}

void net_no_memory(net *n) {
  if (net_ok(n)) n->status = fail_no_memory(&n->error);
}

void net_set_bits(net *n, int64_t bits) {
  if (bits != 16 && bits != 32) net_refuse(n, "bits must be 16 or 32, not %lld", (long long)bits);
  if (!n->precision) n->dtype = bits == 16 ? SITU_DTYPE_F16 : SITU_DTYPE_F32;
}

void net_set_dtype(net *n, situ_dtype dtype) {
  if (!n->precision) n->dtype = dtype;
}

void net_guess(net *n, situ_guess_kind kind, const char *subject) {
  if (net_ok(n)) n->status = builder_add_guess(n->builder, kind, subject, GUESS_OF_ALL, &n->error);
}

void net_enter(net *n, const char *format, ...) {
  size_t length = n->path_ends[n->depth];
  if (n->depth == MAX_DEPTH) {
    defect(n, n->path, "nests its layers too deeply");
    return;
  }
  if (length > 0) n->path[length++] = '.';
  va_list arguments;
  va_start(arguments, format);
  int added = c_locale_vprint(n->path + length, PATH_BYTES - 1 - length, format, arguments);
  va_end(arguments);
  if (added < 0 || (size_t)added >= PATH_BYTES - 1 - length) {
    defect(n, n->path, "has a layer of a name too long");
    added = 0;
  }
  n->path_ends[++n->depth] = length + (size_t)added;
}

void net_leave(net *n) {
  if (n->depth > 0)
    n->path[n->path_ends[--n->depth]] = '\0';
  else
    defect(n, NULL, "leaves a layer that it never entered");
}

void net_expect(net *n, double work, double reading) {
  n->work = work;
  n->reading = reading;
}

void net_share(net *n) { n->group = n->n_groups++; }
void net_share_end(net *n) { n->group = -1; }

/* ---- values ---- */

static net_value add_value(net *n, value v) {
  if (!net_ok(n)) return NET_NONE;
  if (n->n_values == n->values_capacity) {
    int32_t capacity = n->values_capacity ? n->values_capacity + n->values_capacity / 2 : 256;
    value *moved = realloc(n->values, (size_t)capacity * sizeof *moved);
    if (!moved) {
      net_no_memory(n);
      return NET_NONE;
    }
    n->values = moved;
    n->values_capacity = capacity;
  }
  n->values[n->n_values] = v;
  return n->n_values++;
}

static net_value add_shape(net *n, value_role role, situ_dtype dtype, net_shape shape) {
  if (!net_ok(n)) return NET_NONE;
  const int64_t *dims = ARENA_COPY(n->arena, shape.dims, int64_t, shape.rank);
  if (!dims) {
    net_no_memory(n);
    return NET_NONE;
  }
  for (int32_t i = 0; i < shape.rank; i++)
    if (dims[i] < 0) {
      defect(n, n->path, "has a tensor with a negative dimension");
      return NET_NONE;
    }
  bool weight = role == ROLE_WEIGHT;
  return add_value(n, (value){.about = {.dtype = dtype, .rank = shape.rank, .dims = dims, .constant = weight},
                              .tensor = -1,
                              .group = weight ? n->group : -1,
                              .role = (uint8_t)role});
}

net_value net_input(net *n, net_shape shape) { return add_shape(n, ROLE_INPUT, n->dtype, shape); }
net_value net_int_input(net *n, net_shape shape) { return add_shape(n, ROLE_INPUT, SITU_DTYPE_I64, shape); }
net_value net_weight(net *n, net_shape shape) { return add_shape(n, ROLE_WEIGHT, n->dtype, shape); }
net_value net_stored_weight(net *n, net_shape shape, situ_dtype dtype, int64_t bytes) {
  net_value v = add_shape(n, ROLE_WEIGHT, n->precision ? n->precision : dtype, shape);
  if (v != NET_NONE && !n->precision) n->values[v].stored_bytes = bytes;
  return v;
}

net_value net_state(net *n, net_shape shape) { return add_shape(n, ROLE_STATE, n->dtype, shape); }

net_value net_ints(net *n, net_shape elements) {
  net_value v = add_shape(n, ROLE_CONSTANT, SITU_DTYPE_I64, NET_SHAPE(elements.rank));
  if (v == NET_NONE) return v;
  n->values[v].about.ints = ARENA_COPY(n->arena, elements.dims, int64_t, elements.rank);
  n->values[v].about.constant = true;
  if (!n->values[v].about.ints) net_no_memory(n);
  return v;
}

net_value net_scalar(net *n, double element) {
  net_value v = add_shape(n, ROLE_CONSTANT, n->dtype, (net_shape){0});
  if (v == NET_NONE) return v;
  n->values[v].about.reals = ARENA_COPY(n->arena, &element, double, 1);
  n->values[v].about.constant = true;
  if (!n->values[v].about.reals) net_no_memory(n);
  return v;
}

int64_t net_dim(const net *n, net_value v, int32_t axis) {
  if (!net_ok(n) || v == NET_NONE) return 1;
  const ops_tensor *t = &n->values[v].about;
  if (axis < 0) axis += t->rank;
  return axis >= 0 && axis < t->rank ? t->dims[axis] : 1;
}

int32_t net_rank(const net *n, net_value v) { return !net_ok(n) || v == NET_NONE ? 0 : n->values[v].about.rank; }

net_value *net_array(net *n, int64_t count) {
  net_value *values = net_ok(n) ? ARENA_NEW(n->arena, net_value, count) : NULL;
  if (!values) net_no_memory(n);
  for (int64_t i = 0; values && i < count; i++) values[i] = NET_NONE;
  return values;
}

unsigned char *net_bytes(net *n, int64_t count) {
  unsigned char *bytes = net_ok(n) ? ARENA_ZERO(n->arena, unsigned char, count) : NULL;
  if (!bytes) net_no_memory(n);
  return bytes;
}

int64_t net_parameters(const net *n) { return n->n_parameters; }

/* ---- operators ---- */

/* Bytes that stay with the operator which reads these inputs, and how many of them are more than their types say; the
 * group that the weights put it into. */
static int64_t resident_bytes(net *n, const char *name, const net_value *inputs, int32_t n_inputs, int64_t *more,
                              int32_t *group) {
  int64_t bytes = 0;
  *more = 0;
  *group = -1;
  for (int32_t i = 0; i < n_inputs; i++) {
    if (inputs[i] == NET_NONE) continue;
    value *v = &n->values[inputs[i]];
    if (v->role != ROLE_WEIGHT && v->role != ROLE_STATE) continue;
    if (v->group >= 0) {
      if (*group >= 0 && *group != v->group) defect(n, name, "reads weights of two shares in one operator");
      *group = v->group;
    } else if (v->counted) {
      defect(n, name, "reads a weight twice that is not shared");
    }
    if (v->counted) continue;
    v->counted = true;
    int64_t by_type = ops_bytes(&v->about, NULL), held = v->stored_bytes > 0 ? v->stored_bytes : by_type;
    bytes = sat_add(bytes, held);
    *more = sat_add(*more, held - by_type);
    if (v->role == ROLE_WEIGHT) n->n_parameters = sat_add(n->n_parameters, ops_elements(&v->about, NULL));
  }
  return bytes;
}

static int64_t part_of(int64_t whole, double part) { return part < 1 ? (int64_t)(part * (double)whole + 0.5) : whole; }

/* Adds the operator, its tensors and its uses to the graph, and the values of its outputs to the net. */
static void record(net *n, const char *name, const ops_node *node, const net_value *inputs, net_value *outputs) {
  ops_work work = ops_count(node);
  int32_t group, op, tensor;
  int64_t more, weight_bytes = resident_bytes(n, name, inputs, node->n_inputs, &more, &group);
  if (work.read_bytes >= weight_bytes - more)
    work.read_bytes = sat_add(work.read_bytes, more); /* a Gather reads less than its weights */
  int64_t moved = sat_add(work.read_bytes, work.written_bytes);
  int64_t read = min64(weight_bytes, work.read_bytes);
  int64_t expected = sat_add(part_of(moved - read, n->work), part_of(read, n->reading));
  if (!work.exact) defect(n, name, "has an operator whose work is not exactly known");
  situ_operator about = {.name = name,
                         .kind = node->kind,
                         .layer = n->path,
                         .dtype = work.dtype,
                         .weight_bytes = weight_bytes,
                         .flops = part_of(work.flops, n->work),
                         .moved_bytes = expected,
                         .source_id = -1,
                         .colocation = group,
                         .inferred = work.exact};
  if (net_ok(n)) n->status = builder_add_operator(n->builder, &about, &op, &n->error);
  for (int32_t i = 0; i < node->n_inputs && net_ok(n); i++)
    if (inputs[i] != NET_NONE && n->values[inputs[i]].tensor >= 0)
      n->status = builder_add_use(n->builder, op, n->values[inputs[i]].tensor, &n->error);
  for (int32_t i = 0; i < node->n_outputs && net_ok(n); i++) {
    ops_tensor *t = &node->outputs[i];
    situ_tensor made = {.dtype = t->dtype, .rank = t->rank, .dims = t->dims, .size_bytes = ops_bytes(t, NULL)};
    n->status = builder_add_tensor(n->builder, op, &made, &tensor, &n->error);
    int64_t elements = ops_elements(t, NULL); /* the scratch memory is released, the results are kept */
    ops_tensor kept = {.dtype = t->dtype, .rank = t->rank, .dims = ARENA_COPY(n->arena, t->dims, int64_t, t->rank)};
    if (t->ints) kept.ints = ARENA_COPY(n->arena, t->ints, int64_t, elements);
    if (!kept.dims || (t->ints && !kept.ints)) net_no_memory(n);
    net_value v = add_value(n, (value){.about = kept, .tensor = tensor, .group = -1, .role = ROLE_TENSOR});
    if (outputs) outputs[i] = v;
  }
}

void net_call(net *n, const char *name, const char *kind, const ops_attr *attrs, int32_t n_attrs,
              const net_value *inputs, int32_t n_inputs, net_value *outputs, int32_t n_outputs) {
  for (int32_t i = 0; outputs && i < n_outputs; i++) outputs[i] = NET_NONE;
  char full[PATH_BYTES + NAME_BYTES + 2];
  snprintf(full, sizeof full, "%s%s%.*s", n->path, *n->path ? "." : "", NAME_BYTES, name);
  if (n_inputs > MAX_INPUTS || n_outputs > MAX_INPUTS)
    net_refuse(n, "'%s' would have more than %d inputs or outputs", full, MAX_INPUTS);
  if (!net_ok(n)) return;
  arena_mark mark = arena_get_mark(n->scratch);
  for (int32_t i = 0; i < n_inputs; i++) n->inputs[i] = inputs[i] == NET_NONE ? NULL : &n->values[inputs[i]].about;
  for (int32_t i = 0; i < n_outputs; i++) n->outputs[i] = (ops_tensor){.rank = -1};
  ops_node node = {.domain = "",
                   .kind = kind,
                   .opset = OPSET,
                   .attrs = attrs,
                   .n_attrs = n_attrs,
                   .inputs = n->inputs,
                   .n_inputs = n_inputs,
                   .outputs = n->outputs,
                   .n_outputs = n_outputs};
  n->status = ops_infer(&node, n->scratch, &n->error);
  if (net_ok(n)) record(n, full, &node, inputs, outputs);
  if (!net_ok(n) && n->error.where[0] == '\0')
    snprintf(n->error.where, sizeof n->error.where, "%.*s", (int)sizeof n->error.where - 1, full);
  arena_release(n->scratch, mark);
}

net_value net_op(net *n, const char *name, const char *kind, const ops_attr *attrs, int32_t n_attrs,
                 const net_value *inputs, int32_t n_inputs) {
  net_value out = NET_NONE;
  net_call(n, name, kind, attrs, n_attrs, inputs, n_inputs, &out, 1);
  return out;
}

net_value net_op1(net *n, const char *name, const char *kind, net_value x) {
  return net_op(n, name, kind, NET_NO_ATTRS, NET_VALUES(x));
}

net_value net_op2(net *n, const char *name, const char *kind, net_value x, net_value y) {
  return net_op(n, name, kind, NET_NO_ATTRS, NET_VALUES(x, y));
}
