/* Detection of objects by a transformer behind a ResNet: DETR. */
#include <stdio.h>

#include "read/network.h"

/* Matrices one after another, with an activation between them. */
static void box_head(module_net *m, net_value x) {
  char name[48], act[56];
  for (int32_t i = 0; net_ok(m->net); i++) {
    snprintf(name, sizeof name, "bbox_predictor.layers.%d", (int)i);
    snprintf(act, sizeof act, "%s.act", name);
    if (!module_has(m, name)) break;
    x = module_act(m, act, "Relu", module_linear(m, name, x));
  }
}

/* Blocks that read learned queries, and of the picture what these ask for. */
static net_value decode(module_net *m, net_value x, net_value picture, int64_t heads) {
  for (int32_t i = 0; i < LM_MAX_BLOCKS && net_ok(m->net); i++) {
    module_enter(m, "decoder.layers.%d", (int)i);
    bool there = module_has_folder(m, "");
    if (there) {
      net_value y = module_attention(m, &attention_itself, x, NET_NONE, heads, NET_NONE);
      x = module_norm(m, "self_attn_layer_norm", module_sum(m, "add_attention", x, y));
      y = module_attention(m, &attention_across, x, picture, heads, NET_NONE);
      x = module_norm(m, "encoder_attn_layer_norm", module_sum(m, "add_cross_attention", x, y));
      x = module_sum(m, "add_output", x, module_feed_forward(m, x));
      x = module_norm(m, "final_layer_norm", x);
    }
    module_leave(m);
    if (!there) break;
  }
  return module_norm_if(m, "decoder.layernorm", x);
}

static void generate_detection(module_net *m) {
  const char *prefix = module_prefix(m, "query_position_embeddings");
  module_enter(m, "%s", prefix ? prefix : "");
  const char *backbone = module_folder(m, "backbone.conv_encoder.model|backbone.model");
  module_enter(m, "%s", backbone ? backbone : "backbone");
  net_value x = module_picture(m, module_dim_of(m, "conv1", 1), "image_size", 0);
  x = network_resnet_map(m, x);
  module_leave(m);
  x = module_tokens(m, "input_projection.tokens", module_conv(m, "input_projection", x, (net_window){0}));
  x = module_blocks(m, "encoder.layers", x, module_config(m, "encoder_attention_heads", 8));
  net_value queries = module_rows(m, "query_position_embeddings");
  x = decode(m, queries, x, module_config(m, "decoder_attention_heads", 8));
  module_leave(m);
  if (module_has(m, "class_labels_classifier")) module_linear(m, "class_labels_classifier", x);
  box_head(m, x);
}

const network network_detection = {"detection", "a detector of objects: a transformer behind a ResNet", " detr ", NULL,
                                   generate_detection};
