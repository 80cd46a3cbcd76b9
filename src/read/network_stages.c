/* Transformers in stages, each with fewer and wider tokens than the one before: Segformer, Swin. */
#include <stdio.h>

#include "read/network.h"

enum { STAGES = 8, NAMES = 200 };

/* The classes of a network whose last tokens are averaged. */
static void classify(module_net *m, net_value x) {
  if (module_has(m, "classifier|head.fc|head"))
    module_linear(m, "classifier|head.fc|head", module_mean(m, "classifier.mean", x));
}

/* ---- Segformer ---- */

/* Tokens, and the sides of the map that they came from. */
typedef struct map {
  net_value x;
  int64_t height, width;
} map;

/* Keys and values are made of a map that is reduced by a convolution. */
static net_value reduced(module_net *m, net_value x, const map *from) {
  static const char reduction[] = "attention.self.sr|attention.sequence_reduction.sequence_reduction";
  static const char norm[] = "attention.self.layer_norm|attention.sequence_reduction.layer_norm";
  if (!module_has(m, reduction)) return NET_NONE;
  net_value y = module_map(m, "reduction", x, from->height, from->width);
  y = module_conv(m, reduction, y, (net_window){.stride = module_dim_of(m, reduction, -1)});
  return module_norm(m, norm, module_tokens(m, "reduction", y));
}

static net_value mixing_part(module_net *m, net_value x, const map *from) {
  net_value y = module_linear(m, "mlp.dense1|mlp.fc1", x);
  y = module_map(m, "mix", y, from->height, from->width);
  y = module_tokens(m, "mix", module_conv(m, "mlp.dwconv.dwconv", y, (net_window){.pad = 1}));
  return module_linear(m, "mlp.dense2|mlp.fc2", module_act(m, "act", "Gelu", y));
}

static void segformer_block(module_net *m, map *s, int64_t heads) {
  net_value y = module_norm(m, "layer_norm_1|layernorm_before", s->x);
  y = module_attention(m, &attention_itself, y, reduced(m, y, s), heads, NET_NONE);
  s->x = module_sum(m, "add_attention", s->x, y);
  y = mixing_part(m, module_norm(m, "layer_norm_2|layernorm_after", s->x), s);
  s->x = module_sum(m, "add_output", s->x, y);
}

/* A stage reads a map and makes one. */
static net_value segformer_stage(module_net *m, int64_t i, net_value x, map *s) {
  char names[NAMES];
  static const int64_t strides[] = {4, 2, 2, 2};
  snprintf(names, sizeof names, "encoder.patch_embeddings.%d.proj|stages.%d.patch_embeddings.proj", (int)i, (int)i);
  int64_t kernel = module_dim_of(m, names, -1);
  x = module_conv(m, names, x,
                  (net_window){.stride = module_config_at(m, "strides", i, strides[i < 4 ? i : 3]), .pad = kernel / 2});
  *s = (map){.height = net_dim(m->net, x, 2), .width = net_dim(m->net, x, 3)};
  s->x = module_tokens(m, module_text(m, "stages.%d.patches", (int)i), x);
  s->x = module_norm(
      m, module_text(m, "encoder.patch_embeddings.%d.layer_norm|stages.%d.patch_embeddings.layer_norm", (int)i, (int)i),
      s->x);
  const char *blocks = module_folder(m, module_text(m, "encoder.block.%d|stages.%d.blocks", (int)i, (int)i));
  int64_t heads = module_config_at(m, "num_attention_heads", i, 0);
  for (int32_t k = 0; blocks && k < LM_MAX_BLOCKS && net_ok(m->net); k++) {
    module_enter(m, "%s.%d", blocks, (int)k);
    bool there = module_has_folder(m, "");
    if (there) segformer_block(m, s, heads);
    module_leave(m);
    if (!there) break;
  }
  s->x = module_norm(m, module_text(m, "encoder.layer_norm.%d|stages.%d.layer_norm", (int)i, (int)i), s->x);
  return module_map(m, module_text(m, "stages.%d", (int)i), s->x, s->height, s->width);
}

/* The maps of all stages, as wide as each other and as large as the first, become one, and that classes of places. */
static void segformer_head(module_net *m, const map *stages, int32_t n) {
  net_value maps[STAGES], x;
  module_enter(m, "decode_head");
  for (int32_t i = 0; i < n; i++) {
    x = module_linear(m, module_text(m, "linear_c.%d.proj|linear_projections.%d.proj", (int)i, (int)i), stages[i].x);
    x = module_map(m, module_text(m, "stage.%d", (int)i), x, stages[i].height, stages[i].width);
    maps[n - 1 - i] = module_resize(m, module_text(m, "stage.%d.resize", (int)i), x, stages[0].height, stages[0].width);
  }
  x = module_conv(m, "linear_fuse", net_concat(m->net, "decode_head.concat", 1, maps, n), (net_window){0});
  x = module_act(m, "act", "Relu", module_batch_norm(m, "batch_norm", x));
  module_conv(m, "classifier", x, (net_window){0});
  module_leave(m);
}

static void generate_segformer(module_net *m) {
  static const char first[] = "encoder.patch_embeddings.0.proj|stages.0.patch_embeddings.proj";
  map stages[STAGES];
  const char *prefix = module_prefix(m, first);
  int32_t n = 0;
  module_enter(m, "%s", prefix ? prefix : "");
  net_value x = module_picture(m, module_dim_of(m, first, 1), "image_size", 0);
  for (; n < STAGES && net_ok(m->net); n++) {
    if (n > 0 && !module_has(m, module_text(m, "encoder.patch_embeddings.%d.proj|stages.%d.patch_embeddings.proj",
                                            (int)n, (int)n)))
      break;
    x = segformer_stage(m, n, x, &stages[n]);
  }
  module_leave(m);
  if (module_has_folder(m, "decode_head"))
    segformer_head(m, stages, n);
  else
    classify(m, n > 0 ? stages[n - 1].x : x);
}

const network network_segformer = {"segformer", "a transformer in stages over patches that overlap", " segformer ",
                                   NULL, generate_segformer};

/* ---- Swin ---- */

/* Puts the tokens of each window of a map together: [batch x windows, side x side, channels], and back. */
static net_value windows(module_net *m, const char *name, net_value x, const map *s, int64_t side, bool back) {
  net *n = m->net;
  int64_t channels = net_dim(n, x, 2), rows = s->height / side, columns = s->width / side;
  net_shape apart = NET_SHAPE(m->batch, rows, side, columns, side, channels);
  net_shape joined = NET_SHAPE(m->batch, rows, columns, side, side, channels);
  x = net_reshape(n, module_name(m, "%s.apart", name), x, back ? joined : apart);
  x = net_transpose(n, module_name(m, "%s.transpose", name), x, NET_SHAPE(0, 1, 3, 2, 4, 5));
  return net_reshape(n, module_name(m, "%s", name), x,
                     back ? NET_SHAPE(m->batch, s->height * s->width, channels)
                          : NET_SHAPE(m->batch * rows * columns, side * side, channels));
}

/* The bias of the scores of Swin 2: two products for each distance, of which each pair of places has one. */
static net_value bias_by_distance(module_net *m, int64_t side) {
  net *n = m->net;
  int64_t places = side * side, distances = (2 * side - 1) * (2 * side - 1);
  net_value x = net_input(n, NET_SHAPE(distances, 2));
  x = module_act(m, "bias.act", "Relu", module_linear(m, "attention.self.continuous_position_bias_mlp.0", x));
  x = module_linear(m, "attention.self.continuous_position_bias_mlp.2", x);
  x = net_gather(n, module_name(m, "bias.pairs"), x, net_int_input(n, NET_SHAPE(places * places)));
  x = net_reshape(n, module_name(m, "bias.reshape"), x, NET_SHAPE(1, places, places, net_dim(n, x, 1)));
  x = net_transpose(n, module_name(m, "bias"), x, NET_SHAPE(0, 3, 1, 2));
  return module_with(m, "attention.self.logit_scale", "Mul", module_act(m, "bias.sigmoid", "Sigmoid", x));
}

/* Swin 2 has its norms behind attention and products. */
static void swin2_block(module_net *m, map *s, int64_t side, int64_t heads) {
  net_value y = windows(m, "windows", s->x, s, side, false);
  y = module_attention(m, &attention_itself, y, NET_NONE, heads, bias_by_distance(m, side));
  y = module_norm(m, "layernorm_before", windows(m, "joined", y, s, side, true));
  s->x = module_sum(m, "add_attention", s->x, y);
  y = module_norm(m, "layernorm_after", module_feed_forward(m, s->x));
  s->x = module_sum(m, "add_output", s->x, y);
}

static void swin_block(module_net *m, map *s, int64_t side, int64_t heads) {
  int64_t shorter = s->height < s->width ? s->height : s->width;
  if (side > shorter) side = shorter;
  if (side < 1 || s->height % side != 0 || s->width % side != 0) {
    net_refuse(m->net, "has maps of %lld x %lld, which windows of %lld do not divide: give another height and width",
               (long long)s->height, (long long)s->width, (long long)side);
    return;
  }
  if (module_has(m, "attention.self.logit_scale")) {
    swin2_block(m, s, side, heads);
    return;
  }
  net_value y = module_norm(m, "layernorm_before|norm1", s->x);
  y = windows(m, "windows", y, s, side, false);
  y = module_attention(m, &attention_itself, y, NET_NONE, heads, module_pair_bias(m, side * side));
  s->x = module_sum(m, "add_attention", s->x, windows(m, "joined", y, s, side, true));
  y = module_feed_forward(m, module_norm(m, "layernorm_after|norm2", s->x));
  s->x = module_sum(m, "add_output", s->x, y);
}

/* Four neighbours become one token. */
static void merge(module_net *m, map *s) {
  net *n = m->net;
  int64_t channels = net_dim(n, s->x, 2);
  if (s->height % 2 != 0 || s->width % 2 != 0)
    net_refuse(m->net, "has a map of %lld x %lld, of which four tokens cannot be one: give another height and width",
               (long long)s->height, (long long)s->width);
  s->height /= 2;
  s->width /= 2;
  net_value x = net_reshape(n, module_name(m, "downsample.apart"), s->x,
                            NET_SHAPE(m->batch, s->height, 2, s->width, 2, channels));
  x = net_transpose(n, module_name(m, "downsample.transpose"), x, NET_SHAPE(0, 1, 3, 4, 2, 5));
  x = net_reshape(n, module_name(m, "downsample.merge"), x, NET_SHAPE(m->batch, s->height * s->width, 4 * channels));
  bool before = module_dim_of(m, "downsample.norm", 0) == 4 * channels; /* of Swin 2 behind */
  if (before) x = module_norm(m, "downsample.norm", x);
  x = module_linear(m, "downsample.reduction", x);
  s->x = before ? x : module_norm(m, "downsample.norm", x);
}

static void generate_swin(module_net *m) {
  static const char projection[] = "embeddings.patch_embeddings.projection";
  const char *prefix = module_prefix(m, projection);
  module_enter(m, "%s", prefix ? prefix : "");
  int64_t step = module_dim_of(m, projection, -1), side = module_config(m, "window_size", 7);
  net_value x = module_picture(m, module_dim_of(m, projection, 1), "image_size", step);
  x = module_conv(m, projection, x, (net_window){.stride = step});
  map s = {.height = net_dim(m->net, x, 2), .width = net_dim(m->net, x, 3)};
  s.x = module_norm(m, "embeddings.norm", module_tokens(m, "patches", x));
  for (int32_t i = 0; i < STAGES && net_ok(m->net); i++) {
    module_enter(m, "encoder.layers.%d", (int)i);
    bool there = module_has_folder(m, "");
    for (int32_t k = 0; there && k < LM_MAX_BLOCKS && net_ok(m->net); k++) {
      module_enter(m, "blocks.%d", (int)k);
      bool more = module_has_folder(m, "");
      if (more) swin_block(m, &s, side, module_config_at(m, "num_heads", i, 0));
      module_leave(m);
      if (!more) break;
    }
    if (there && module_has_folder(m, "downsample")) merge(m, &s);
    module_leave(m);
    if (!there) break;
  }
  x = module_norm_if(m, "layernorm", s.x);
  module_leave(m);
  classify(m, x);
}

const network network_swin = {"swin", "a transformer in stages over windows of patches", " swin swinv2 ", NULL,
                              generate_swin};
