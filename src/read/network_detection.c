/* Detection of objects by a transformer behind a ResNet: DETR. */
#include <stdio.h>

#include "read/network.h"

/* Matrices one after another, with an activation between them. */
static void head_of(module_net *m, const char *path, net_value x) {
  char name[64];
  for (int32_t i = 0; net_ok(m->net); i++) {
    snprintf(name, sizeof name, "%.30s.layers.%d", path, (int)i);
    if (!module_has(m, name)) break;
    x = module_act(m, module_text(m, "%s.act", name), "Relu", module_linear(m, name, x));
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
  head_of(m, "bbox_predictor", x);
}

const network network_detection = {"detection", "a detector of objects: a transformer behind a ResNet", " detr ", NULL,
                                   generate_detection};

/* ---- YOLOS: a ViT whose last tokens find objects ---- */

/* Behind each block but the last one come positions of its own. */
static net_value add_mid_positions(module_net *m, net_value x, int32_t i) {
  static const char mid[] = "encoder.mid_position_embeddings";
  if (!module_has(m, mid) || i >= module_dim_of(m, mid, 0)) return x;
  net_value part = module_part(m, mid, NET_SHAPE(1, module_dim_of(m, mid, -2), module_dim_of(m, mid, -1)));
  return net_op2(m->net, module_name(m, "encoder.mid_positions.%d", (int)i), "Add", x, part);
}

static void generate_yolos(module_net *m) {
  static const char projection[] = "embeddings.patch_embeddings.projection", tokens[] = "embeddings.detection_tokens";
  static const char positions[] = "embeddings.position_embeddings";
  const char *prefix = module_prefix(m, projection);
  module_enter(m, "%s", prefix ? prefix : "");
  net *n = m->net;
  int64_t step = module_dim_of(m, projection, -1), n_found = module_dim_of(m, tokens, -2);
  net_value x = module_picture(m, module_dim_of(m, projection, 1), "image_size", 0);
  x = module_tokens(m, "patches", module_conv(m, projection, x, (net_window){.stride = step}));
  x = module_prepend(m, "embeddings.cls_token", module_prepend(m, tokens, x)); /* in any order */
  if (module_dim_of(m, positions, -2) != net_dim(n, x, 1))
    net_refuse(n, "has positions for another size: give the height and width that it was trained with");
  x = module_with(m, positions, "Add", x);
  for (int32_t i = 0; i < LM_MAX_BLOCKS && net_ok(n); i++) {
    module_enter(m, "encoder.layer.%d", (int)i);
    bool there = module_has_folder(m, "");
    if (there) x = module_block(m, x, module_config(m, "num_attention_heads", 0), NET_NONE);
    module_leave(m);
    if (!there) break;
    x = add_mid_positions(m, x, i);
  }
  module_parts_end(m, "encoder.mid_position_embeddings");
  x = module_norm(m, "layernorm", x);
  module_leave(m);
  x = net_slice(n, "detection_tokens", x, 1, net_dim(n, x, 1) - n_found, net_dim(n, x, 1));
  head_of(m, "class_labels_classifier", x);
  head_of(m, "bbox_predictor", x);
}

const network network_yolos = {"yolos", "a detector of objects: a transformer over patches of a picture", " yolos ",
                               NULL, generate_yolos};
