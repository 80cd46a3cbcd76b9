/* The vocabulary of networks that are made of the modules of a file. */
#include <stdio.h>
#include <string.h>

#include "base/checked.h"
#include "read/module_net.h"

enum { NAME = MODULE_PATH + 16 };

/* A module that an operator reads, and the name of that operator. */
static module *take(module_net *m, const char *names, char into[NAME]) {
  into[0] = '\0';
  if (!net_ok(m->net)) return NULL;
  for (const char *at = names; *at;) {
    size_t n = strcspn(at, "|");
    int length = snprintf(into, NAME, "%s%s%.*s", m->path, *m->path && n > 0 ? "." : "", (int)n, at);
    int64_t found = length > 0 && length < MODULE_PATH ? string_map_get(m->by_name, into) : -1;
    if (found >= 0 && m->all[found].used) break;
    if (found >= 0) {
      m->all[found].used = true;
      return &m->all[found];
    }
    at += n + (at[n] == '|');
  }
  snprintf(m->lacks, sizeof m->lacks, "%s%s%.230s", m->path, *m->path ? "." : "", names);
  net_refuse(m->net, "has no weights of that name, or needs them twice");
  return NULL;
}

static const lm_tensor *need_rank(module_net *m, const module *found, int32_t min, int32_t max) {
  const lm_tensor *t = found ? found->weight : NULL;
  if (found && (!t || t->rank < min || t->rank > max)) {
    snprintf(m->lacks, sizeof m->lacks, "%.*s", MODULE_PATH - 1, found->name);
    net_refuse(m->net, "has weights of another rank");
    return NULL;
  }
  return t;
}

/* Whether all dimensions but the last one are 1. */
static bool is_row(const lm_tensor *t) {
  bool row = t;
  for (int32_t i = 0; row && i + 1 < t->rank; i++) row = t->dims[i] == 1;
  return row;
}

static net_shape shape_of(const lm_tensor *t) {
  net_shape s = {.rank = t->rank};
  memcpy(s.dims, t->dims, (size_t)t->rank * sizeof *s.dims);
  return s;
}

static net_value stored(module_net *m, const lm_tensor *t, net_shape shape, int64_t more_bytes) {
  return net_stored_weight(m->net, shape, t->dtype, t->packed || more_bytes > 0 ? sat_add(t->bytes, more_bytes) : 0);
}

static net_value bias_of(module_net *m, const module *found) {
  return found && found->bias ? stored(m, found->bias, shape_of(found->bias), 0) : NET_NONE;
}

/* Lists as attributes. */
static ops_attr ints(const char *name, const int64_t *values, int64_t count) {
  return (ops_attr){.name = name, .type = OPS_INTS, .n = count, .ints = values};
}

static int64_t or_one(int64_t n) { return n > 0 ? n : 1; }

net_value module_conv(module_net *m, const char *names, net_value x, net_window w) {
  char name[NAME];
  module *found = take(m, names, name);
  const lm_tensor *t = need_rank(m, found, 3, 4);
  if (!t) return NET_NONE;
  int32_t axes = t->rank - 2;
  int64_t kernel[2], strides[2], pads[4], dilations[2], channels = net_dim(m->net, x, 1);
  for (int32_t i = 0; i < axes; i++) {
    kernel[i] = t->dims[2 + i];
    strides[i] = or_one(w.stride);
    dilations[i] = or_one(w.dilation);
    pads[i] = pads[axes + i] = i == 1 && (w.pad_w || w.kernel_w) ? w.pad_w : w.pad;
  }
  int64_t groups = w.groups > 0 ? w.groups : t->dims[1] > 0 && channels % t->dims[1] == 0 ? channels / t->dims[1] : 1;
  const ops_attr attrs[] = {ints("kernel_shape", kernel, axes), ints("strides", strides, axes),
                            ints("pads", pads, 2 * axes), ints("dilations", dilations, axes), NET_INT("group", groups)};
  net_value kernel_value = stored(m, t, shape_of(t), found->more_bytes), bias = bias_of(m, found);
  const net_value inputs[] = {x, kernel_value, bias};
  return net_op(m->net, name, "Conv", attrs, 5, inputs, bias == NET_NONE ? 2 : 3);
}

/* x and a matrix [out, in], turned as products need it. */
static net_value product(module_net *m, const char *name, const lm_tensor *t, int64_t more, net_value bias,
                         net_value x) {
  int64_t in = 1;
  for (int32_t i = 1; i < t->rank; i++) in = sat_mul(in, t->dims[i]); /* a convolution of one place, too */
  net_value matrix = stored(m, t, NET_SHAPE(in, t->dims[0]), more);
  if (bias != NET_NONE && net_rank(m->net, x) == 2)
    return net_op(m->net, name, "Gemm", NET_NO_ATTRS, NET_VALUES(x, matrix, bias));
  net_value y = net_op2(m->net, name, "MatMul", x, matrix);
  return bias == NET_NONE ? y : net_op2(m->net, module_text(m, "%s.bias", name), "Add", y, bias);
}

net_value module_linear(module_net *m, const char *names, net_value x) {
  char name[NAME];
  module *found = take(m, names, name);
  const lm_tensor *t = need_rank(m, found, 2, 4);
  return t ? product(m, name, t, found->more_bytes, bias_of(m, found), x) : NET_NONE;
}

net_value module_linear_rows(module_net *m, const char *names, const char *bias, net_value x, int64_t from,
                             int64_t to) {
  char name[NAME], of_part[NAME + 24];
  const char *at = m->path;
  int64_t last = module_dim_of(m, names, 0);
  if (from > 0) { /* the matrix was taken by the first rows */
    int length = snprintf(name, sizeof name, "%s%s%.190s", at, *at ? "." : "", names);
    int64_t found = length > 0 && length < MODULE_PATH ? string_map_get(m->by_name, name) : -1;
    if (found >= 0) m->all[found].used = false;
    length = snprintf(name, sizeof name, "%s%s%.190s", at, *at ? "." : "", bias);
    found = length > 0 && length < MODULE_PATH ? string_map_get(m->by_name, name) : -1;
    if (found >= 0) m->all[found].used = false;
  }
  module *found = take(m, names, name), *added = module_has(m, bias) ? take(m, bias, of_part) : NULL;
  const lm_tensor *t = need_rank(m, found, 2, 2);
  if (!t || from < 0 || to > last || from >= to) return NET_NONE;
  lm_tensor part = *t;
  part.dims[0] = to - from;
  part.bytes = (int64_t)((double)t->bytes * (double)(to - from) / (double)last);
  net_value b = NET_NONE;
  if (added && added->weight) b = net_stored_weight(m->net, NET_SHAPE(to - from), added->weight->dtype, 0);
  return product(m, module_text(m, "%s.%lld", name, (long long)from), &part, 0, b, x);
}

net_value module_norm(module_net *m, const char *names, net_value x) {
  char name[NAME];
  module *found = take(m, names, name);
  const lm_tensor *t = need_rank(m, found, 1, found && is_row(found->weight) ? 4 : 1);
  if (!t) return NET_NONE;
  net_shape width = NET_SHAPE(t->dims[t->rank - 1]);
  net_value scale = stored(m, t, width, 0);
  net_value bias = found->bias ? stored(m, found->bias, width, 0) : NET_NONE;
  const net_value inputs[] = {x, scale, bias};
  return net_op(m->net, name, bias == NET_NONE ? "RMSNormalization" : "LayerNormalization",
                NET_ATTRS(NET_INT("axis", -1)), inputs, bias == NET_NONE ? 2 : 3);
}

net_value module_norm_if(module_net *m, const char *names, net_value x) {
  return module_has(m, names) ? module_norm(m, names, x) : x;
}

net_value module_batch_norm(module_net *m, const char *names, net_value x) {
  char name[NAME], mean_name[NAME], of_statistics[MODULE_PATH];
  module *found = take(m, names, name);
  const lm_tensor *t = need_rank(m, found, 1, 1);
  if (!t) return NET_NONE;
  net_value inputs[5] = {x, stored(m, t, shape_of(t), 0), bias_of(m, found), NET_NONE, NET_NONE};
  if (inputs[2] == NET_NONE) inputs[2] = net_stored_weight(m->net, shape_of(t), t->dtype, 0);
  for (int32_t k = 0; k < 2; k++) {
    size_t n = strlen(m->path);
    snprintf(of_statistics, sizeof of_statistics, "%.220s.%s", name + n + (n > 0), k ? "running_var" : "running_mean");
    const module *own = module_has(m, of_statistics) ? take(m, of_statistics, mean_name) : NULL;
    const lm_tensor *s = own ? own->weight : NULL;
    inputs[3 + k] = net_stored_weight(m->net, s ? shape_of(s) : shape_of(t), s ? s->dtype : t->dtype, 0);
  }
  return net_op(m->net, name, "BatchNormalization", NET_NO_ATTRS, inputs, 5);
}

net_value module_group_norm(module_net *m, const char *names, net_value x, int64_t groups) {
  char name[NAME];
  module *found = take(m, names, name);
  const lm_tensor *t = need_rank(m, found, 1, 1);
  if (!t) return NET_NONE;
  const net_value inputs[] = {x, stored(m, t, shape_of(t), 0), bias_of(m, found)};
  return net_op(m->net, name, "GroupNormalization", NET_ATTRS(NET_INT("num_groups", groups)), inputs, 3);
}

net_value module_with(module_net *m, const char *names, const char *kind, net_value x) {
  char name[NAME];
  const lm_tensor *t = need_rank(m, take(m, names, name), 0, 4);
  return t ? net_op2(m->net, name, kind, x, stored(m, t, shape_of(t), 0)) : NET_NONE;
}

net_value module_with_if(module_net *m, const char *names, const char *kind, net_value x) {
  return module_has(m, names) ? module_with(m, names, kind, x) : x;
}

net_value module_part(module_net *m, const char *names, net_shape shape) {
  char name[NAME];
  const lm_tensor *t = need_rank(m, take(m, names, name), 1, 4);
  if (!t) return NET_NONE;
  m->all[string_map_get(m->by_name, name)].used = false; /* other parts may be read, too */
  int64_t left = 1;
  for (int32_t i = 0; i < t->rank; i++) left = sat_mul(left, t->dims[i]);
  for (int32_t i = 0; i < shape.rank; i++) left = shape.dims[i] > 0 ? left / shape.dims[i] : 0;
  if (left < 1) net_refuse(m->net, "has a parameter that is too small");
  return net_stored_weight(m->net, shape, t->dtype, 0);
}

void module_parts_end(module_net *m, const char *names) {
  char name[NAME];
  if (module_has(m, names)) take(m, names, name);
}

net_value module_embed(module_net *m, const char *names, int64_t batch, int64_t n) {
  char name[NAME];
  module *found = take(m, names, name);
  const lm_tensor *t = need_rank(m, found, 2, 3);
  if (!t) return NET_NONE;
  net_shape table = NET_SHAPE(t->dims[t->rank - 2], t->dims[t->rank - 1]);
  net_value numbers = net_int_input(m->net, batch > 0 ? NET_SHAPE(batch, n) : NET_SHAPE(n));
  return net_gather(m->net, name, stored(m, t, table, found->more_bytes), numbers);
}

net_value module_rows(module_net *m, const char *names) {
  char name[NAME];
  const lm_tensor *t = need_rank(m, take(m, names, name), 1, 4);
  if (!t) return NET_NONE;
  int64_t rows = 1, width = t->dims[t->rank - 1];
  for (int32_t i = 0; i + 1 < t->rank; i++) rows = sat_mul(rows, t->dims[i]);
  return net_op2(m->net, name, "Expand", stored(m, t, NET_SHAPE(1, rows, width), 0),
                 net_ints(m->net, NET_SHAPE(m->batch, rows, width)));
}

net_value module_prepend(module_net *m, const char *names, net_value x) {
  if (!module_has(m, names)) return x;
  net_value rows = module_rows(m, names);
  const net_value both[] = {rows, x};
  return net_concat(m->net, module_name(m, "%.*s.concat", (int)strcspn(names, "|"), names), 1, both, 2);
}

/* ---- between modules ---- */

net_value module_tokens(module_net *m, const char *name, net_value x) {
  net *n = m->net;
  net_shape flat = NET_SHAPE(net_dim(n, x, 0), net_dim(n, x, 1), sat_mul(net_dim(n, x, 2), net_dim(n, x, 3)));
  x = net_reshape(n, module_name(m, "%s.flatten", name), x, flat);
  return net_transpose(n, module_name(m, "%s.transpose", name), x, NET_SHAPE(0, 2, 1));
}

net_value module_map(module_net *m, const char *name, net_value x, int64_t height, int64_t width) {
  net *n = m->net;
  net_shape map = NET_SHAPE(net_dim(n, x, 0), net_dim(n, x, 2), height, width);
  x = net_transpose(n, module_name(m, "%s.to_map", name), x, NET_SHAPE(0, 2, 1));
  return net_reshape(n, module_name(m, "%s.map", name), x, map);
}

net_value module_resize(module_net *m, const char *name, net_value x, int64_t height, int64_t width) {
  net *n = m->net;
  if (net_dim(n, x, 2) == height && net_dim(n, x, 3) == width) return x;
  const net_value inputs[] = {x, NET_NONE, NET_NONE,
                              net_ints(n, NET_SHAPE(net_dim(n, x, 0), net_dim(n, x, 1), height, width))};
  return net_op(n, module_name(m, "%s", name), "Resize", NET_NO_ATTRS, inputs, 4);
}

net_value module_act(module_net *m, const char *name, const char *kind, net_value x) {
  return net_op1(m->net, module_name(m, "%s", name), kind, x);
}

net_value module_silu(module_net *m, const char *name, net_value x) { return module_act(m, name, "Swish", x); }

net_value module_sum(module_net *m, const char *name, net_value x, net_value y) {
  return net_op2(m->net, module_name(m, "%s", name), "Add", x, y);
}

net_value module_first(module_net *m, const char *name, net_value x) {
  return net_slice(m->net, module_name(m, "%s", name), x, 1, 0, 1);
}

net_value module_mean(module_net *m, const char *name, net_value x) {
  static const int64_t axes[] = {1};
  return net_op(m->net, module_name(m, "%s", name), "ReduceMean",
                NET_ATTRS(ints("axes", axes, 1), NET_INT("keepdims", 1)), NET_VALUES(x));
}
