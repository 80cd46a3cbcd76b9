/* Small networks of convolutions over channels one by one: MobileNet 1 and 2, EfficientNet. Strides are those of the
 * modelling files of transformers; maps are padded as TensorFlow does, to a half rounded up. */
#include <math.h>
#include "read/network.h"

enum { STAGES = 16 };

/* A convolution, the norm behind it, and an activation unless that is NULL. */
static net_value layer(module_net *m, const char *conv, const char *norm, net_value x, net_window w, const char *act) {
  int64_t dilation = w.dilation > 0 ? w.dilation : 1;
  w.pad = dilation * (module_dim_of(m, conv, -1) - 1) / 2;
  x = module_batch_norm(m, norm, module_conv(m, conv, x, w));
  if (!act) return x;
  return module_act(m, module_text(m, "%.150s.act", conv), act, x);
}

/* Classes of the mean of each channel. */
static void classify(module_net *m, net_value x) {
  net *n = m->net;
  if (!module_has(m, "classifier")) return;
  x = module_act(m, "pool", "GlobalAveragePool", x);
  module_linear(m, "classifier", net_reshape(n, "flatten", x, NET_SHAPE(net_dim(n, x, 0), net_dim(n, x, 1))));
}

static net_value picture_of(module_net *m, const char *first) {
  const char *prefix = module_prefix(m, first);
  module_enter(m, "%s", prefix ? prefix : "");
  return module_picture(m, module_dim_of(m, first, 1), "image_size", 0);
}

/* A layer with the names of MobileNets. */
static net_value named(module_net *m, const char *path, net_value x, net_window w, const char *act) {
  return layer(m, module_text(m, "%.60s.convolution", path), module_text(m, "%.60s.normalization", path), x, w, act);
}

static void generate_mobilenet_v1(module_net *m) {
  static const int64_t strides[] = {1, 2, 1, 2, 1, 2, 1, 1, 1, 1, 1, 2, 1};
  net_value x = picture_of(m, "conv_stem.convolution");
  x = named(m, "conv_stem", x, (net_window){.stride = 2}, "Clip");
  for (int32_t i = 0; i < 26 && net_ok(m->net); i++) {
    x = named(m, module_text(m, "layer.%d", (int)i), x, (net_window){.stride = i % 2 == 0 ? strides[i / 2] : 1},
              "Clip");
  }
  module_leave(m);
  classify(m, x);
}

const network network_mobilenet_v1 = {"mobilenet_v1", "a network of convolutions by channels (MobileNet 1)",
                                      " mobilenet_v1 ", NULL, generate_mobilenet_v1};

static void generate_mobilenet_v2(module_net *m) {
  static const int64_t strides[] = {2, 1, 2, 1, 1, 2, 1, 1, 1, 1, 1, 1, 2, 1, 1, 1};
  int64_t so_far = 2, max = module_config(m, "output_stride", 32), dilation = 1;
  net_value x = picture_of(m, "conv_stem.first_conv.convolution");
  x = named(m, "conv_stem.first_conv", x, (net_window){.stride = 2}, "Clip");
  if (module_has(m, "conv_stem.expand_1x1.convolution"))
    x = named(m, "conv_stem.expand_1x1", x, (net_window){0}, "Clip");
  x = named(m, "conv_stem.conv_3x3", x, (net_window){0}, "Clip");
  x = named(m, "conv_stem.reduce_1x1", x, (net_window){0}, NULL);
  for (int32_t i = 0; i < 16 && net_ok(m->net); i++) {
    net_window w = {.stride = strides[i], .dilation = 1};
    if (so_far == max) {
      w = (net_window){.stride = 1, .dilation = dilation};
      dilation *= strides[i];
    } else {
      so_far *= w.stride;
    }
    module_enter(m, "layer.%d", (int)i);
    net_value y = named(m, "expand_1x1", x, (net_window){0}, "Clip");
    y = named(m, "reduce_1x1", named(m, "conv_3x3", y, w, "Clip"), (net_window){0}, NULL);
    bool adds = w.stride == 1 && net_dim(m->net, x, 1) == net_dim(m->net, y, 1);
    x = adds ? module_sum(m, "add", x, y) : y;
    module_leave(m);
  }
  x = named(m, "conv_1x1", x, (net_window){0}, "Clip");
  module_leave(m);
  classify(m, x);
}

const network network_mobilenet_v2 = {"mobilenet_v2", "a network of convolutions by channels (MobileNet 2)",
                                      " mobilenet_v2 ", NULL, generate_mobilenet_v2};

/* ---- EfficientNet ---- */

/* The first block of a stage has no sum. */
static net_value efficient_block(module_net *m, net_value x, int64_t stride, bool first) {
  net_value y = x, se;
  if (module_has(m, "expansion.expand_conv"))
    y = layer(m, "expansion.expand_conv", "expansion.expand_bn", y, (net_window){0}, "Swish");
  y = layer(m, "depthwise_conv.depthwise_conv", "depthwise_conv.depthwise_norm", y, (net_window){.stride = stride},
            "Swish");
  se = module_conv(m, "squeeze_excite.reduce", module_act(m, "squeeze", "GlobalAveragePool", y), (net_window){0});
  se = module_conv(m, "squeeze_excite.expand", module_silu(m, "squeeze.act", se), (net_window){0});
  y = net_op2(m->net, module_name(m, "excite"), "Mul", y, module_act(m, "squeeze.sigmoid", "Sigmoid", se));
  y = layer(m, "projection.project_conv", "projection.project_bn", y, (net_window){0}, NULL);
  return first ? y : module_sum(m, "add", x, y);
}

static void generate_efficientnet(module_net *m) {
  net_value x = picture_of(m, "embeddings.convolution");
  double depth = json_number(json_get(m->config, "depth_coefficient"), 2);
  x = layer(m, "embeddings.convolution", "embeddings.batchnorm", x, (net_window){.stride = 2}, "Swish");
  int32_t at = 0;
  for (int32_t i = 0; i < STAGES && net_ok(m->net); i++) {
    int64_t repeats = module_config_at(m, "num_block_repeats", i, 0), stride = module_config_at(m, "strides", i, 0);
    repeats = (int64_t)ceil(depth * (double)(repeats < LM_MAX_BLOCKS ? repeats : LM_MAX_BLOCKS));
    for (int64_t k = 0; k < repeats && net_ok(m->net); k++) {
      module_enter(m, "encoder.blocks.%d", (int)at++);
      x = efficient_block(m, x, k == 0 ? stride : 1, k == 0);
      module_leave(m);
    }
  }
  x = layer(m, "encoder.top_conv", "encoder.top_bn", x, (net_window){0}, "Swish");
  module_leave(m);
  classify(m, x);
}

const network network_efficientnet = {"efficientnet", "a network of convolutions by channels (EfficientNet)",
                                      " efficientnet ", NULL, generate_efficientnet};
