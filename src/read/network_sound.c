/* Encoders of sound: wav2vec 2.0, HuBERT, UniSpeech, WavLM, data2vec. */
#include <string.h>

#include "base/checked.h"
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
      bool of_data2vec = strncmp(json_text(json_get(m->config, "model_type"), ""), "data2vec", 8) == 0;
      const char *usual_norm = of_data2vec ? "layer" : "group";
      bool by_group = json_text(json_get(m->config, "feat_extract_norm"), usual_norm)[0] == 'g';
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

/* A convolution over the frames and its activation; with a kernel of even length the last place is cut. */
static net_value convolve(module_net *m, net_value y, int64_t n_frames) {
  int64_t kernel = module_dim_of(m, "conv", -1);
  y = module_conv(m, "conv", y, (net_window){.pad = kernel / 2});
  if (kernel % 2 == 0) y = net_slice(m->net, module_name(m, "conv.cut"), y, 2, 0, n_frames);
  return module_act(m, "act", "Gelu", y);
}

/* Positions are a convolution over the frames, or several in turn, added to them. */
static net_value add_positions(module_net *m, net_value x) {
  net *n = m->net;
  int64_t n_frames = net_dim(n, x, 1);
  module_enter(m, "encoder.pos_conv_embed");
  net_value y = net_transpose(n, module_name(m, "conv.first"), x, NET_SHAPE(0, 2, 1));
  if (module_has(m, "conv")) y = convolve(m, y, n_frames);
  for (int32_t i = 0; i < LM_MAX_BLOCKS && net_ok(n); i++) {
    module_enter(m, "layers.%d", (int)i);
    bool there = module_has_folder(m, "");
    if (there) y = convolve(m, y, n_frames);
    module_leave(m);
    if (!there) break;
  }
  y = module_sum(m, "add", x, net_transpose(n, module_name(m, "conv.last"), y, NET_SHAPE(0, 2, 1)));
  module_leave(m);
  return y;
}

/* WavLM: scores of attention have a bias for each pair of frames, of the first block's table, that each block weights
 * for each frame and head. */
static net_value gate_bias(module_net *m, net_value x, net_value table, int64_t heads) {
  net *n = m->net;
  int64_t frames_in = net_dim(n, x, 1), width = net_dim(n, x, 2);
  if (heads < 1 || width % heads != 0) return table;
  net_value y = net_reshape(n, module_name(m, "gate.reshape"), x, NET_SHAPE(m->batch, frames_in, heads, width / heads));
  y = net_transpose(n, module_name(m, "gate.heads"), y, NET_SHAPE(0, 2, 1, 3));
  y = module_act(m, "gate.act", "Sigmoid", module_linear(m, "attention.gru_rel_pos_linear", y));
  y = net_slice(n, module_name(m, "gate.part"), y, 3, 0, 1);
  y = module_with(m, "attention.gru_rel_pos_const", "Mul", y);
  return net_op2(n, module_name(m, "gate"), "Mul", y, table);
}

static net_value gated_blocks(module_net *m, net_value x, int64_t heads) {
  net *n = m->net;
  net_value table = NET_NONE;
  int64_t places = net_dim(n, x, 1);
  for (int32_t i = 0; i < LM_MAX_BLOCKS && net_ok(n); i++) {
    module_enter(m, "encoder.layers.%d", (int)i);
    bool there = module_has_folder(m, "");
    if (there && module_has(m, "attention.rel_attn_embed")) {
      table = module_embed(m, "attention.rel_attn_embed", 0, sat_mul(places, places));
      table = net_reshape(n, module_name(m, "bias.reshape"), table, NET_SHAPE(1, places, places, net_dim(n, table, 1)));
      table = net_transpose(n, module_name(m, "bias"), table, NET_SHAPE(0, 3, 1, 2));
    }
    if (there) x = module_block(m, x, heads, gate_bias(m, x, table, heads));
    module_leave(m);
    if (!there) break;
  }
  return x;
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
  int64_t heads = module_config(m, "num_attention_heads", 0);
  bool gated = module_has(m, "encoder.layers.0.attention.gru_rel_pos_linear");
  x = gated ? gated_blocks(m, x, heads) : module_blocks(m, "encoder.layers", x, heads);
  module_leave(m);
  if (module_has(m, "lm_head")) module_linear(m, "lm_head", x);
  if (!module_has(m, "projector")) return;
  x = module_mean(m, "projector.mean", module_linear(m, "projector", x));
  if (module_has(m, "classifier")) module_linear(m, "classifier", x);
}

const network network_sound = {"sound", "an encoder of sound (wav2vec 2.0)",
                               " wav2vec2 hubert unispeech unispeech-sat wavlm data2vec-audio ", NULL, generate_sound};
