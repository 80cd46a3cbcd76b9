/* read/net.h - the vocabulary of the built-in models.
 *
 * A net is a graph under construction. A generator calls net_conv, net_linear, ... with values and gets values; shapes,
 * FLOPs and bytes come from the table of operator kinds (ops/ops.h), so a generator only describes its network.
 *
 * Errors are remembered: after the first one every call does nothing and returns NET_NONE, and net_finish reports it.
 * Generators therefore check nothing and read like descriptions.
 *
 * Names are paths: net_enter(n, "layer%d", i) puts "layer3." before the names of all that follows until net_leave. The
 * path is the layer of the operator. Operator kinds and their grain are those of an exported ONNX graph of operator set
 * 17, before any fusion, with one exception: batch normalisation is folded into the convolution before it, as exporters
 * of inference graphs do.
 *
 * Weights are neither operators nor tensors: they become weight_bytes of the operator that reads them. Weights made
 * between net_share and net_share_end may be read by several operators (steps of a recurrent layer); they count once,
 * at the first reader, and all their readers are colocated. Reading another weight twice is a defect. */
#ifndef SITU_READ_NET_H
#define SITU_READ_NET_H

#include "ops/ops.h"
#include "situ/graph.h"

typedef struct net net;

/* A tensor, a weight or a constant of a net. */
typedef int32_t net_value;
enum { NET_NONE = -1, NET_MAX_RANK = 8 };

typedef struct net_shape {
  int32_t rank;
  int64_t dims[NET_MAX_RANK];
} net_shape;

#define NET_COUNT(type, ...) ((int32_t)(sizeof((const type[]){__VA_ARGS__}) / sizeof(type)))
#define NET_SHAPE(...) ((net_shape){NET_COUNT(int64_t, __VA_ARGS__), {__VA_ARGS__}})
/* Arguments `values, count` out of a list. */
#define NET_VALUES(...) (const net_value[]){__VA_ARGS__}, NET_COUNT(net_value, __VA_ARGS__)
/* Attributes. */
#define NET_INT(key, value) ((ops_attr){.name = (key), .type = OPS_INT, .i = (value)})
#define NET_ATTRS(...) (const ops_attr[]){__VA_ARGS__}, NET_COUNT(ops_attr, __VA_ARGS__)
#define NET_NO_ATTRS NULL, 0

/* ---- The whole ---- */

/* With a precision other than UNKNOWN all inputs and weights of floating types have it, whatever net_set_bits says. */
situ_status net_new(net **out, const char *model, situ_dtype precision, situ_error *error);
void net_free(net *n);
/* Freezes the net, or reports the first error. The net can only be freed afterwards. */
situ_status net_finish(net *n, situ_graph **out, situ_error *error);
/* Refuses the parameters: BAD_INPUT with the text. */
void net_refuse(net *n, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The network fails for want of memory. */
void net_no_memory(net *n);
/* Whether all is well so far; loops over millions of operators may end early when it is not. */
bool net_ok(const net *n);
/* Bits of the elements that inputs and weights have from now on: 32 (the default) or 16. */
void net_set_bits(net *n, int64_t bits);
/* Their type. */
void net_set_dtype(net *n, situ_dtype dtype);
/* States a guess about the whole network. */
void net_guess(net *n, situ_guess_kind kind, const char *subject);

void net_enter(net *n, const char *format, ...) __attribute__((format(printf, 2, 3)));
void net_leave(net *n);
void net_share(net *n);
void net_share_end(net *n);

/* From now on operators run only at times, as those of an expert do: FLOPs and bytes of activations count `work` times,
 * the reading of weights `reading` times, both 0 .. 1 and 1 at first. */
void net_expect(net *n, double work, double reading);

/* Room for `count` values, all NET_NONE at first, as long as the net lives; NULL after an error. */
net_value *net_array(net *n, int64_t count);

/* Room for bytes, all 0. */
unsigned char *net_bytes(net *n, int64_t count);

/* ---- External values ---- */

net_value net_input(net *n, net_shape shape);     /* of the model; present everywhere */
net_value net_int_input(net *n, net_shape shape); /* of I64: token numbers, positions */
net_value net_weight(net *n, net_shape shape);
/* A weight as a file has it: its type, and its bytes if these do not follow from type and shape (0: they do). */
net_value net_stored_weight(net *n, net_shape shape, situ_dtype dtype, int64_t bytes);
/* State that stays with the operator which reads it (a cache): counts as its weight_bytes, but not as a parameter. */
net_value net_state(net *n, net_shape shape);
net_value net_ints(net *n, net_shape elements); /* a constant list of I64, rank elements */
net_value net_scalar(net *n, double element);

/* Dimension `axis` of a value, from the end when negative; 1 after an error. */
int64_t net_dim(const net *n, net_value v, int32_t axis);
int32_t net_rank(const net *n, net_value v); /* 0 after an error */
/* Elements of all weights that were read so far: the number of parameters of the network. */
int64_t net_parameters(const net *n);

/* ---- Operators: the general form ---- */

/* Any operator. inputs may hold NET_NONE for omitted inputs; `outputs` receives n_outputs values (NULL: not wanted). */
void net_call(net *n, const char *name, const char *kind, const ops_attr *attrs, int32_t n_attrs,
              const net_value *inputs, int32_t n_inputs, net_value *outputs, int32_t n_outputs);
/* One output. */
net_value net_op(net *n, const char *name, const char *kind, const ops_attr *attrs, int32_t n_attrs,
                 const net_value *inputs, int32_t n_inputs);
/* One input, or two, and no attributes. */
net_value net_op1(net *n, const char *name, const char *kind, net_value x);
net_value net_op2(net *n, const char *name, const char *kind, net_value x, net_value y);

/* ---- Operators: the vocabulary ---- */

/* A window over the last axis (of three) or the last two (of four). Zero fields mean: kernel_w = kernel, pad_w = pad,
 * stride, dilation and groups = 1. */
typedef struct net_window {
  int64_t kernel, kernel_w, stride, pad, pad_w, dilation, groups;
  bool causal; /* all padding before: (kernel - 1) * dilation */
  bool no_bias;
  bool pad_counts; /* of average pooling */
} net_window;

net_value net_conv(net *n, const char *name, net_value x, int64_t out_channels, net_window w);
net_value net_max_pool(net *n, const char *name, net_value x, net_window w);
net_value net_average_pool(net *n, const char *name, net_value x, net_window w);
/* x * W + b over the last axis. Rank 2 is one Gemm; otherwise, or without bias, "NAME" is a MatMul and "NAME.bias" an
 * Add. */
net_value net_linear(net *n, const char *name, net_value x, int64_t out_features, bool bias);
/* How an image network ends: the mean of each channel, and a score of each class: "avgpool", "flatten", "fc". */
void net_classify(net *n, net_value x, int64_t classes);
net_value net_layer_norm(net *n, const char *name, net_value x);
/* The root mean square norm as exporters write it: Pow, ReduceMean, Add, Sqrt, Div, Mul, and Mul by its weights. */
net_value net_rms_norm(net *n, const char *name, net_value x);
/* Through the error function: Div, Erf, Add, Mul, Mul. */
net_value net_gelu(net *n, const char *name, net_value x);
net_value net_softmax(net *n, net_value x, int64_t axis);
net_value net_reshape(net *n, const char *name, net_value x, net_shape shape);
net_value net_transpose(net *n, const char *name, net_value x, net_shape order);
net_value net_concat(net *n, const char *name, int64_t axis, const net_value *values, int32_t n_values);
/* Elements from .. to-1 of an axis. */
net_value net_slice(net *n, const char *name, net_value x, int64_t axis, int64_t from, int64_t to);
/* Equal parts of an axis. */
void net_split(net *n, const char *name, net_value x, int64_t axis, net_value *parts, int32_t n_parts);
net_value net_squeeze(net *n, const char *name, net_value x, int64_t axis);
net_value net_unsqueeze(net *n, const char *name, net_value x, int64_t axis);
/* Attention. [batch, tokens, heads * width] as [batch, heads, tokens, width], or with the last two axes swapped, as
 * keys are: "split", "transpose". */
net_value net_heads(net *n, net_value x, int64_t heads, bool keys);
/* Values by scores: "mask" (NET_NONE: without), "softmax", "context"; then the heads one beside the other: "transpose",
 * "merge". */
net_value net_attend(net *n, net_value scores, net_value mask, net_value value);
/* By scores of queries and keys: "scores", and "scale", their division by the root of the width. */
net_value net_attention(net *n, net_value query, net_value key, net_value value, net_value mask);
/* Rows of a table by number. */
net_value net_gather(net *n, const char *name, net_value table, net_value numbers);

#endif
