/* read/module_net.h - networks that are no language models, made of the modules of a weight file.
 *
 * A module is a weight with its bias and the companions of its packing: "encoder.layer.3.output.dense" of
 * "encoder.layer.3.output.dense.weight". A generator (read/network.h) says in which order modules follow each other and
 * what is between them; shapes, channels, kernels and bytes are those of the file. Names are paths below the place that
 * module_enter reached. Several, separated by '|', mean the first that the file has.
 *
 * As with net.h, errors are remembered and generators check nothing. A module that is missing is an error; so is one
 * that no operator reads in the end, because the network is then another. */
#ifndef SITU_READ_MODULE_NET_H
#define SITU_READ_MODULE_NET_H

#include "base/hash.h"
#include "base/json.h"
#include "read/lm.h"
#include "read/net.h"
#include "read/reader.h"

enum { MODULE_PATH = 240, MODULE_DEPTH = 12, MODULE_DIMS = 4 };

typedef struct module {
  const char *name;
  const lm_tensor *weight, *bias; /* NULL: absent */
  int64_t more_bytes;             /* of companions */
  bool used;
} module;

/* A dimension of the input that may be given. */
typedef struct module_dim {
  const char *name;
  int64_t size;
} module_dim;

typedef struct module_net {
  net *net;
  arena *a;
  const read_source *source;
  const json_value *config;    /* the part that the calls below read; may be NULL */
  const json_value *processor; /* preprocessor_config.json; NULL: absent */
  module *all;
  int32_t n;
  string_map *by_name, *folders; /* modules; paths that begin names of modules */
  char path[MODULE_PATH];
  size_t path_ends[MODULE_DEPTH + 1];
  int32_t depth;
  int64_t batch;
  char lacks[2 * MODULE_PATH]; /* the first module that is missing; "": none */
  module_dim dims[MODULE_DIMS];
  int32_t n_dims;
} module_net;

/* Finds the modules among the tensors of `file`. UNSUPPORTED for dimensions beyond 2^31. */
situ_status module_net_init(module_net *out, net *n, const lm *file, arena *a, situ_error *error);

/* ---- where ---- */

void module_enter(module_net *m, const char *format, ...) __attribute__((format(printf, 2, 3)));
void module_leave(module_net *m);
/* Whether a module of these names is there; whether anything is below one of these paths. */
bool module_has(const module_net *m, const char *names);
bool module_has_folder(const module_net *m, const char *path);
/* The path before a module whose name ends so; NULL: there is none. For the start of a generator. */
const char *module_prefix(const module_net *m, const char *names);
/* The first of the paths that is there, which is entered or used as a part of names; NULL: none. */
const char *module_folder(const module_net *m, const char *paths);
/* A dimension of a module's weight, from the end when negative; 0: it has none. */
int64_t module_dim_of(const module_net *m, const char *names, int32_t axis);

/* A name that is put together, and the same below the place where we are. They stay as long as the network is made. */
const char *module_text(module_net *m, const char *format, ...) __attribute__((format(printf, 2, 3)));
const char *module_name(module_net *m, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* ---- what the configuration says ---- */

int64_t module_config(const module_net *m, const char *key, int64_t default_value);
/* Of a list, or the number that stands in its place. */
int64_t module_config_at(const module_net *m, const char *key, int64_t index, int64_t default_value);
/* A size of the input: that given by the caller (--dim NAME=N), else `usual`; below 1 it is assumed, which is a
 * guess. */
int64_t module_input_dim(module_net *m, const char *name, int64_t usual, int64_t assumed);
/* A picture of so many channels: [batch, channels, height, width], in the size that the processor makes or the
 * configuration names under `key`. Sides are rounded up to multiples of `step`. */
net_value module_picture(module_net *m, int64_t channels, const char *key, int64_t step);

/* ---- operators ---- */

/* A convolution over one or two axes, as the shape of its weight says. */
net_value module_conv(module_net *m, const char *names, net_value x, net_window w);
net_value module_linear(module_net *m, const char *names, net_value x);
/* By rows [from, to) of its matrix, which other operators may share. */
net_value module_linear_rows(module_net *m, const char *names, const char *bias, net_value x, int64_t from, int64_t to);
/* Over the last axis. */
net_value module_norm(module_net *m, const char *names, net_value x);
net_value module_batch_norm(module_net *m, const char *names, net_value x);
net_value module_group_norm(module_net *m, const char *names, net_value x, int64_t groups);
/* Where it is there. */
net_value module_norm_if(module_net *m, const char *names, net_value x);
/* x and a parameter: "Mul" of a scale, "Add" of positions. */
net_value module_with(module_net *m, const char *names, const char *kind, net_value x);
net_value module_with_if(module_net *m, const char *names, const char *kind, net_value x);
/* A part of a parameter, in this shape; when all parts are read, module_parts_end says so. */
net_value module_part(module_net *m, const char *names, net_shape shape);
void module_parts_end(module_net *m, const char *names);
/* Rows of a table for [batch, n] numbers, or for n positions. */
net_value module_embed(module_net *m, const char *names, int64_t batch, int64_t n);
/* Puts tokens that are parameters before those of x. */
net_value module_prepend(module_net *m, const char *names, net_value x);
/* A parameter as rows of each input of the batch. */
net_value module_rows(module_net *m, const char *names);

/* [batch, channels, height, width] as [batch, tokens, channels], and back. */
net_value module_tokens(module_net *m, const char *name, net_value x);
net_value module_map(module_net *m, const char *name, net_value x, int64_t height, int64_t width);
net_value module_resize(module_net *m, const char *name, net_value x, int64_t height, int64_t width);
/* One operator between modules; names are made unique. */
net_value module_act(module_net *m, const char *name, const char *kind, net_value x);
net_value module_silu(module_net *m, const char *name, net_value x);
net_value module_sum(module_net *m, const char *name, net_value x, net_value y);
/* The first row of each input: [batch, 1, channels]; the mean of all. */
net_value module_first(module_net *m, const char *name, net_value x);
net_value module_mean(module_net *m, const char *name, net_value x);

/* ---- transformers (module_attention.c) ---- */

/* Names of the modules of an attention. */
typedef struct attention_names {
  const char *op, *query, *key, *value, *fused, *out;
} attention_names;
extern const attention_names attention_itself, attention_across;

/* Of x to `other` (NET_NONE: to itself), with `heads` heads; `bias`, or NET_NONE, is added to the scores. */
net_value module_attention(module_net *m, const attention_names *names, net_value x, net_value other, int64_t heads,
                           net_value bias);
/* A bias of the scores of each pair of places, from the block's table of pairs: [1, heads, places, places]; NET_NONE:
 * it has none. */
net_value module_pair_bias(module_net *m, int64_t places);
/* The feed-forward part of a block. */
net_value module_feed_forward(module_net *m, net_value x);
/* The block that module_enter reached: norm, attention, norm, feed-forward part, each with a sum. `bias` of the scores,
 * or NET_NONE for that of its own table, if it has one. */
net_value module_block(module_net *m, net_value x, int64_t heads, net_value bias);
/* Blocks below one of `paths`, numbered from 0. */
net_value module_blocks(module_net *m, const char *paths, net_value x, int64_t heads);

#endif
