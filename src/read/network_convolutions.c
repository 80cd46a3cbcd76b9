/* Networks of convolutions: ConvNeXt, ResNet. */
#include "read/network.h"

enum { STAGES = 8, NAMES = 200 };

/* Channels last, and back. */
static net_value turned(module_net *m, const char *name, net_value x, bool back) {
  return net_transpose(m->net, module_name(m, "%s", name), x, back ? NET_SHAPE(0, 3, 1, 2) : NET_SHAPE(0, 2, 3, 1));
}

static net_value norm_of_channels(module_net *m, const char *names, net_value x) {
  x = module_norm(m, names, turned(m, "norm.last", x, false));
  return turned(m, "norm.first", x, true);
}

/* The mean of each channel: [batch, channels]. */
static net_value mean_of_map(module_net *m, net_value x) {
  net *n = m->net;
  x = module_act(m, "pool", "GlobalAveragePool", x);
  return net_reshape(n, "flatten", x, NET_SHAPE(net_dim(n, x, 0), net_dim(n, x, 1)));
}

/* ---- ConvNeXt ---- */

static net_value convnext_block(module_net *m, net_value x) {
  static const char scale[] = "layer_scale_parameter|gamma";
  net_value y = module_conv(m, "dwconv|conv_dw", x, (net_window){.pad = module_dim_of(m, "dwconv|conv_dw", -1) / 2});
  y = module_norm(m, "layernorm|norm", turned(m, "last", y, false));
  y = module_linear(m, "pwconv1|mlp.fc1", y);
  y = module_norm_if(m, "grn|mlp.grn", module_act(m, "act", "Gelu", y)); /* of ConvNeXt 2: over the places */
  y = module_linear(m, "pwconv2|mlp.fc2", y);
  y = turned(m, "first", module_with_if(m, scale, "Mul", y), true);
  return module_sum(m, "add", x, y);
}

static void generate_convnext(module_net *m) {
  static const char stem[] = "embeddings.patch_embeddings|stem.0", down[] = "downsampling_layer.1|downsample.1";
  const char *prefix = module_prefix(m, stem);
  module_enter(m, "%s", prefix ? prefix : "");
  net_value x = module_picture(m, module_dim_of(m, stem, 1), "image_size", 0);
  x = module_conv(m, stem, x, (net_window){.stride = module_dim_of(m, stem, -1)});
  x = norm_of_channels(m, "embeddings.layernorm|stem.1", x);
  const char *stages = module_folder(m, "encoder.stages|stages");
  for (int32_t i = 0; stages && i < STAGES && net_ok(m->net); i++) {
    module_enter(m, "%s.%d", stages, (int)i);
    if (module_has(m, down)) {
      x = norm_of_channels(m, "downsampling_layer.0|downsample.0", x);
      x = module_conv(m, down, x, (net_window){.stride = module_dim_of(m, down, -1)});
    }
    const char *blocks = module_folder(m, "layers|blocks");
    for (int32_t k = 0; blocks && k < LM_MAX_BLOCKS && net_ok(m->net); k++) {
      module_enter(m, "%s.%d", blocks, (int)k);
      bool there = module_has_folder(m, "");
      if (there) x = convnext_block(m, x);
      module_leave(m);
      if (!there) break;
    }
    module_leave(m);
  }
  x = module_norm_if(m, "layernorm|head.norm", mean_of_map(m, x));
  module_leave(m);
  if (module_has(m, "classifier|head.fc")) module_linear(m, "classifier|head.fc", x);
}

const network network_convnext = {"convnext", "a network of convolutions (ConvNeXt)", " convnext convnextv2 ", NULL,
                                  generate_convnext};

/* ---- ResNet ---- */

/* Names of a convolution and the norm behind it. */
typedef struct pair_names {
  const char *conv, *norm;
} pair_names;

static net_value conv_and_norm(module_net *m, pair_names names, net_value x, int64_t stride) {
  int64_t kernel = module_dim_of(m, names.conv, -1);
  x = module_conv(m, names.conv, x, (net_window){.stride = stride, .pad = kernel / 2});
  return module_batch_norm(m, names.norm, x);
}

/* A block of two or three convolutions, of which one makes the map smaller; `early`: the first one. */
static net_value resnet_block(module_net *m, net_value x, int64_t stride, bool early) {
  static const pair_names steps[] = {{"layer.0.convolution|conv1", "layer.0.normalization|bn1"},
                                     {"layer.1.convolution|conv2", "layer.1.normalization|bn2"},
                                     {"layer.2.convolution|conv3", "layer.2.normalization|bn3"}};
  static const pair_names shortcut = {"shortcut.convolution|downsample.0", "shortcut.normalization|downsample.1"};
  int32_t n = module_has(m, steps[2].conv) ? 3 : 2, strided = n == 3 && !early;
  net_value y = x;
  for (int32_t i = 0; i < n; i++) {
    y = conv_and_norm(m, steps[i], y, i == strided ? stride : 1);
    if (i + 1 < n) y = module_act(m, module_text(m, "act%d", (int)i + 1), "Relu", y);
  }
  if (module_has(m, shortcut.conv)) x = conv_and_norm(m, shortcut, x, stride);
  return module_act(m, "act", "Relu", module_sum(m, "add", x, y));
}

net_value network_resnet_map(module_net *m, net_value x) {
  static const char *const stages[] = {"encoder.stages", "layer"};
  static const pair_names stem = {"embedder.embedder.convolution|conv1", "embedder.embedder.normalization|bn1"};
  x = module_act(m, "stem.act", "Relu", conv_and_norm(m, stem, x, 2));
  x = net_max_pool(m->net, module_name(m, "stem.pool"), x, (net_window){.kernel = 3, .stride = 2, .pad = 1});
  bool of_timm = !module_has_folder(m, stages[0]);
  bool early = module_config(m, "downsample_in_bottleneck", 0) > 0 ||
               json_bool(json_get(m->config, "downsample_in_bottleneck"), false);
  bool first = json_bool(json_get(m->config, "downsample_in_first_stage"), false);
  for (int32_t i = 0; i < STAGES && net_ok(m->net); i++) {
    if (of_timm)
      module_enter(m, "layer%d", (int)i + 1);
    else
      module_enter(m, "%s.%d.layers", stages[0], (int)i);
    bool there = module_has_folder(m, "");
    for (int32_t k = 0; there && k < LM_MAX_BLOCKS && net_ok(m->net); k++) {
      module_enter(m, "%d", (int)k);
      bool more = module_has_folder(m, "");
      if (more) x = resnet_block(m, x, k == 0 && (i > 0 || first) ? 2 : 1, early);
      module_leave(m);
      if (!more) break;
    }
    module_leave(m);
    if (!there) break;
  }
  return x;
}

static void generate_resnet(module_net *m) {
  static const char stem[] = "embedder.embedder.convolution|conv1";
  const char *prefix = module_prefix(m, "embedder.embedder.convolution");
  module_enter(m, "%s", prefix ? prefix : "");
  net_value x = network_resnet_map(m, module_picture(m, module_dim_of(m, stem, 1), "image_size", 0));
  module_leave(m);
  if (module_has(m, "classifier.1|fc")) module_linear(m, "classifier.1|fc", mean_of_map(m, x));
}

const network network_resnet = {"resnet", "a network of convolutions (ResNet)",
                                " resnet resnet18 resnet34 resnet50 resnet101 resnet152 resnext50 resnext101 ", NULL,
                                generate_resnet};
