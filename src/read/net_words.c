/* The vocabulary of nets: layers of the usual kinds in ONNX's terms. */
#include <math.h>
#include <stdio.h>

#include "read/net.h"

enum { NAME_BYTES = 80 };

/* Lists as attributes. */
static ops_attr ints(const char *name, const int64_t *values, int64_t count) {
  return (ops_attr){.name = name, .type = OPS_INTS, .n = count, .ints = values};
}

static int64_t or_one(int64_t value) { return value ? value : 1; }

/* The attributes of a window over `axes` axes, and the arrays that they point to. */
typedef struct window_attrs {
  int64_t kernel[2], strides[2], pads[4], dilations[2];
  ops_attr attrs[6];
  int32_t n;
} window_attrs;

static void window(window_attrs *a, net_window w, int32_t axes) {
  int64_t dilation = or_one(w.dilation), pad_w = w.pad_w || w.kernel_w ? w.pad_w : w.pad;
  int64_t kernel[2] = {w.kernel, w.kernel_w ? w.kernel_w : w.kernel}, pad[2] = {w.pad, pad_w};
  for (int32_t i = 0; i < axes; i++) {
    a->kernel[i] = kernel[i];
    a->strides[i] = or_one(w.stride);
    a->dilations[i] = dilation;
    a->pads[i] = w.causal ? (kernel[i] - 1) * dilation : pad[i];
    a->pads[axes + i] = w.causal ? 0 : pad[i];
  }
  a->attrs[0] = ints("kernel_shape", a->kernel, axes);
  a->attrs[1] = ints("strides", a->strides, axes);
  a->attrs[2] = ints("pads", a->pads, 2 * axes);
  a->n = 3;
}

net_value net_conv(net *n, const char *name, net_value x, int64_t out_channels, net_window w) {
  int64_t groups = or_one(w.groups), in = net_dim(n, x, 1) / groups;
  int32_t axes = net_rank(n, x) - 2;
  if (axes < 1 || axes > 2) axes = 1;
  window_attrs a;
  window(&a, w, axes);
  a.attrs[a.n++] = ints("dilations", a.dilations, axes);
  a.attrs[a.n++] = NET_INT("group", groups);
  net_shape shape =
      axes == 2 ? NET_SHAPE(out_channels, in, a.kernel[0], a.kernel[1]) : NET_SHAPE(out_channels, in, a.kernel[0]);
  net_value kernel = net_weight(n, shape), bias = w.no_bias ? NET_NONE : net_weight(n, NET_SHAPE(out_channels));
  const net_value inputs[] = {x, kernel, bias};
  return net_op(n, name, "Conv", a.attrs, a.n, inputs, w.no_bias ? 2 : 3);
}

static net_value pool(net *n, const char *name, const char *kind, net_value x, net_window w, bool pad_counts) {
  window_attrs a;
  window(&a, w, net_rank(n, x) == 3 ? 1 : 2);
  if (pad_counts) a.attrs[a.n++] = NET_INT("count_include_pad", 1);
  return net_op(n, name, kind, a.attrs, a.n, NET_VALUES(x));
}

net_value net_max_pool(net *n, const char *name, net_value x, net_window w) {
  return pool(n, name, "MaxPool", x, w, false);
}

net_value net_average_pool(net *n, const char *name, net_value x, net_window w) {
  return pool(n, name, "AveragePool", x, w, w.pad_counts);
}

net_value net_linear(net *n, const char *name, net_value x, int64_t out_features, bool bias) {
  net_value matrix = net_weight(n, NET_SHAPE(net_dim(n, x, -1), out_features));
  if (!bias) return net_op2(n, name, "MatMul", x, matrix);
  net_value b = net_weight(n, NET_SHAPE(out_features));
  if (net_rank(n, x) == 2) return net_op(n, name, "Gemm", NET_NO_ATTRS, NET_VALUES(x, matrix, b));
  char bias_name[NAME_BYTES];
  snprintf(bias_name, sizeof bias_name, "%s.bias", name);
  return net_op2(n, bias_name, "Add", net_op2(n, name, "MatMul", x, matrix), b);
}

void net_classify(net *n, net_value x, int64_t classes) {
  x = net_op1(n, "avgpool", "GlobalAveragePool", x);
  x = net_reshape(n, "flatten", x, NET_SHAPE(net_dim(n, x, 0), net_dim(n, x, 1)));
  net_linear(n, "fc", x, classes, true);
}

net_value net_layer_norm(net *n, const char *name, net_value x) {
  int64_t width = net_dim(n, x, -1);
  net_value scale = net_weight(n, NET_SHAPE(width)), bias = net_weight(n, NET_SHAPE(width));
  return net_op(n, name, "LayerNormalization", NET_ATTRS(NET_INT("axis", -1)), NET_VALUES(x, scale, bias));
}

net_value net_rms_norm(net *n, const char *name, net_value x) {
  static const int64_t last[] = {-1};
  net_enter(n, "%s", name);
  net_value square = net_op2(n, "pow", "Pow", x, net_scalar(n, 2));
  net_value mean =
      net_op(n, "mean", "ReduceMean", NET_ATTRS(ints("axes", last, 1), NET_INT("keepdims", 1)), NET_VALUES(square));
  net_value root = net_op1(n, "sqrt", "Sqrt", net_op2(n, "add", "Add", mean, net_scalar(n, 1e-5)));
  net_value unit = net_op2(n, "mul", "Mul", x, net_op2(n, "div", "Div", net_scalar(n, 1), root));
  net_value scaled = net_op2(n, "scale", "Mul", unit, net_weight(n, NET_SHAPE(net_dim(n, x, -1))));
  net_leave(n);
  return scaled;
}

net_value net_gelu(net *n, const char *name, net_value x) {
  net_enter(n, "%s", name);
  net_value erf = net_op1(n, "erf", "Erf", net_op2(n, "div", "Div", x, net_scalar(n, 1.4142135623730951)));
  net_value gate = net_op2(n, "add", "Add", erf, net_scalar(n, 1));
  net_value half = net_op2(n, "half", "Mul", net_op2(n, "mul", "Mul", x, gate), net_scalar(n, 0.5));
  net_leave(n);
  return half;
}

net_value net_softmax(net *n, net_value x, int64_t axis) {
  return net_op(n, "softmax", "Softmax", NET_ATTRS(NET_INT("axis", axis)), NET_VALUES(x));
}

net_value net_reshape(net *n, const char *name, net_value x, net_shape shape) {
  return net_op2(n, name, "Reshape", x, net_ints(n, shape));
}

net_value net_transpose(net *n, const char *name, net_value x, net_shape order) {
  return net_op(n, name, "Transpose", NET_ATTRS(ints("perm", order.dims, order.rank)), NET_VALUES(x));
}

net_value net_concat(net *n, const char *name, int64_t axis, const net_value *values, int32_t n_values) {
  return net_op(n, name, "Concat", NET_ATTRS(NET_INT("axis", axis)), values, n_values);
}

net_value net_slice(net *n, const char *name, net_value x, int64_t axis, int64_t from, int64_t to) {
  return net_op(n, name, "Slice", NET_NO_ATTRS,
                NET_VALUES(x, net_ints(n, NET_SHAPE(from)), net_ints(n, NET_SHAPE(to)), net_ints(n, NET_SHAPE(axis))));
}

void net_split(net *n, const char *name, net_value x, int64_t axis, net_value *parts, int32_t n_parts) {
  net_call(n, name, "Split", NET_ATTRS(NET_INT("axis", axis)), NET_VALUES(x), parts, n_parts);
}

net_value net_squeeze(net *n, const char *name, net_value x, int64_t axis) {
  return net_op2(n, name, "Squeeze", x, net_ints(n, NET_SHAPE(axis)));
}

net_value net_unsqueeze(net *n, const char *name, net_value x, int64_t axis) {
  return net_op2(n, name, "Unsqueeze", x, net_ints(n, NET_SHAPE(axis)));
}

net_value net_gather(net *n, const char *name, net_value table, net_value numbers) {
  return net_op2(n, name, "Gather", table, numbers);
}

net_value net_heads(net *n, net_value x, int64_t heads, bool keys) {
  int64_t width = net_dim(n, x, 2) / heads;
  x = net_reshape(n, "split", x, NET_SHAPE(net_dim(n, x, 0), net_dim(n, x, 1), heads, width));
  return net_transpose(n, "transpose", x, keys ? NET_SHAPE(0, 2, 3, 1) : NET_SHAPE(0, 2, 1, 3));
}

net_value net_attend(net *n, net_value scores, net_value mask, net_value value) {
  if (mask != NET_NONE) scores = net_op2(n, "mask", "Add", scores, mask);
  net_value context = net_op2(n, "context", "MatMul", net_softmax(n, scores, -1), value);
  context = net_transpose(n, "transpose", context, NET_SHAPE(0, 2, 1, 3));
  int64_t width = net_dim(n, context, 2) * net_dim(n, context, 3);
  return net_reshape(n, "merge", context, NET_SHAPE(net_dim(n, context, 0), net_dim(n, context, 1), width));
}

net_value net_attention(net *n, net_value query, net_value key, net_value value, net_value mask) {
  net_value root = net_scalar(n, sqrt((double)net_dim(n, query, -1)));
  return net_attend(n, net_op2(n, "scale", "Div", net_op2(n, "scores", "MatMul", query, key), root), mask, value);
}
