/* Encoders of sound: wav2vec 2.0, HuBERT. */
#include "read/network.h"

/* Seven convolutions make frames of samples. */
static net_value frames(module_net *m, net_value x) {
  static const int64_t usual[] = {5, 2, 2, 2, 2, 2, 2};
  net *n = m->net;
  for (int32_t i = 0; i < LM_MAX_BLOCKS && net_ok(n); i++) {
    module_enter(m, "feature_extractor.conv_layers.%d", (int)i);
    bool there = module_has_folder(m, "");
    if (there)
      x = module_conv(m, "conv", x,
                      (net_window){.stride = module_config_at(m, "conv_stride", i, usual[i < 7 ? i : 6])});
    if (there && module_has(m, "layer_norm")) {
      bool by_group = json_text(json_get(m->config, "feat_extract_norm"), "group")[0] == 'g';
      if (by_group) {
        x = module_group_norm(m, "layer_norm", x, net_dim(n, x, 1));
      } else {
        x = module_norm(m, "layer_norm", net_transpose(n, module_name(m, "last"), x, NET_SHAPE(0, 2, 1)));
        x = net_transpose(n, module_name(m, "first"), x, NET_SHAPE(0, 2, 1));
      }
    }
    if (there) x = module_act(m, "act", "Gelu", x);
    module_leave(m);
    if (!there) break;
  }
  return net_transpose(n, module_name(m, "feature_extractor.transpose"), x, NET_SHAPE(0, 2, 1));
}

/* Positions are a convolution over the frames, added to them; with a kernel of even length the last place is cut. */
static net_value add_positions(module_net *m, net_value x) {
  static const char conv[] = "encoder.pos_conv_embed.conv";
  net *n = m->net;
  int64_t frames_in = net_dim(n, x, 1), kernel = module_dim_of(m, conv, -1);
  net_value y = net_transpose(n, module_name(m, "%s.first", conv), x, NET_SHAPE(0, 2, 1));
  y = module_conv(m, conv, y, (net_window){.pad = kernel / 2});
  if (kernel % 2 == 0) y = net_slice(n, module_name(m, "%s.cut", conv), y, 2, 0, frames_in);
  y = module_act(m, "encoder.pos_conv_embed.act", "Gelu", y);
  return module_sum(m, "encoder.pos_conv_embed.add", x,
                    net_transpose(n, module_name(m, "%s.last", conv), y, NET_SHAPE(0, 2, 1)));
}

static void generate_sound(module_net *m) {
  enum { SECOND = 16000 };
  const char *prefix = module_prefix(m, "feature_extractor.conv_layers.0.conv");
  module_enter(m, "%s", prefix ? prefix : "");
  int64_t samples = module_input_dim(m, "samples", 0, 10 * SECOND);
  net_value x = frames(m, net_input(m->net, NET_SHAPE(m->batch, 1, samples)));
  x = module_norm_if(m, "feature_projection.layer_norm", x);
  x = add_positions(m, module_linear(m, "feature_projection.projection|feature_projection", x));
  x = module_norm(m, "encoder.layer_norm", x);
  x = module_blocks(m, "encoder.layers", x, module_config(m, "num_attention_heads", 0));
  module_leave(m);
  if (module_has(m, "lm_head")) module_linear(m, "lm_head", x);
  if (!module_has(m, "projector")) return;
  x = module_mean(m, "projector.mean", module_linear(m, "projector", x));
  if (module_has(m, "classifier")) module_linear(m, "classifier", x);
}

const network network_sound = {"sound", "an encoder of sound (wav2vec 2.0)", " wav2vec2 hubert ", NULL, generate_sound};
