/* Transformers over patches of pictures: ViT, DeiT, BEiT, DINOv2, ..., and the pairs of a tower for pictures and one
 * for texts: CLIP, SigLIP, SigLIP 2. */
#include "base/checked.h"
#include "read/network.h"

static const char projection[] =
    "embeddings.patch_embeddings.projection|embeddings.patch_embedding|embeddings.patch_embeddings|patch_embed.proj";
static const char blocks[] = "encoder.layer|encoder.layers|layers|layer|blocks|model.layer";
static const char class_token[] = "embeddings.cls_token|embeddings.class_embedding|cls_token";
static const char positions[] =
    "embeddings.position_embeddings|embeddings.position_embedding|embeddings.pos_embed|pos_embed";

/* Where a module's table has other rows than tokens (a picture of another size), it is scaled first. */
static net_value add_positions(module_net *m, net_value x) {
  int64_t tokens = net_dim(m->net, x, 1);
  if (!module_has(m, positions)) return x;
  if (module_dim_of(m, positions, -2) == tokens) return module_with(m, positions, "Add", x);
  return module_sum(m, "add_positions", x, module_embed(m, positions, 0, tokens));
}

/* Sound as a picture: bands of frequencies, and frames. */
static net_value spectrogram(module_net *m, int64_t bands) {
  int64_t frames = module_input_dim(m, "frames", module_config(m, "max_length", 0), 1024);
  return net_input(m->net, NET_SHAPE(m->batch, 1, bands, frames));
}

/* The tubes of a film as tokens: so many frames of a square each, whose elements a product reads. */
static net_value tubes(module_net *m, const char *key) {
  net *n = m->net;
  int64_t channels = module_dim_of(m, projection, 1), depth = module_dim_of(m, projection, 2), side = 1;
  while (side < (1 << 15) && side * side < module_dim_of(m, projection, 3)) side++;
  net_value picture = module_picture(m, channels, key, 0);
  int64_t frames = module_input_dim(m, "frames", module_config(m, "num_frames", 0), 16);
  int64_t height = net_dim(n, picture, 2) / side, width = net_dim(n, picture, 3) / side,
          times = depth > 0 ? frames / depth : 0;
  if (height < 1 || width < 1 || times < 1) net_refuse(n, "has tubes larger than its film");
  net_value x = net_input(n, NET_SHAPE(m->batch, sat_mul(sat_mul(times, height), width),
                                       sat_mul(sat_mul(channels, depth), sat_mul(side, side))));
  return module_linear(m, projection, x);
}

/* Patches that are cut beforehand, of pictures of any shape: so many at most, whose elements a product reads. */
static net_value cut_patches(module_net *m) {
  int64_t n = module_input_dim(m, "patches", module_config(m, "num_patches", 0), 256);
  return module_linear(m, projection, net_input(m->net, NET_SHAPE(m->batch, n, module_dim_of(m, projection, 1))));
}

/* The patches of a picture as tokens, and before them tokens that are parameters. Positions are those of the patches,
 * of all tokens, or of all but the registers. */
static net_value patches(module_net *m, const char *key) {
  static const char registers[] = "embeddings.register_tokens|reg_token";
  int64_t side = module_dim_of(m, projection, -1), bands = module_config(m, "num_mel_bins", 0);
  int64_t step = module_config_at(m, bands > 0 ? "time_stride" : "patch_size", 1, side);
  bool film = json_get(m->config, "tubelet_size") != NULL, cut = !film && module_config(m, "num_patches", 0) > 0;
  net_value x = film        ? tubes(m, key)
                : cut       ? cut_patches(m)
                : bands > 0 ? spectrogram(m, bands)
                            : module_picture(m, module_dim_of(m, projection, 1), key, 0);
  if (!film && !cut) x = module_tokens(m, "patches", module_conv(m, projection, x, (net_window){.stride = step}));
  bool of_patches = module_dim_of(m, positions, -2) == net_dim(m->net, x, 1) || !module_has(m, class_token);
  if (of_patches) x = add_positions(m, x);
  x = module_prepend(m, "embeddings.distillation_token|dist_token", x);
  x = module_prepend(m, class_token, x);
  if (!of_patches) x = add_positions(m, x);
  return module_prepend(m, registers, x);
}

/* Heads of classes: of the first token, or of it and the mean of all. */
static void classify(module_net *m, net_value x) {
  static const char *const heads[] = {"classifier", "classifier.dense", "cls_classifier", "distillation_classifier",
                                      "head",       "head_dist"};
  int64_t width = net_dim(m->net, x, -1);
  for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
    if (!module_has(m, heads[i])) continue;
    net_value y = module_first(m, module_text(m, "%s.first", heads[i]), x);
    if (module_dim_of(m, heads[i], 1) == 2 * width)
      y = net_concat(m->net, module_text(m, "%s.both", heads[i]), 2,
                     (const net_value[]){y, module_mean(m, module_text(m, "%s.mean", heads[i]), x)}, 2);
    module_linear(m, heads[i], y);
  }
}

static void generate_patches(module_net *m) {
  const char *prefix = module_prefix(m, projection);
  if (!prefix) prefix = "";
  int64_t width = module_config_at(m, "hidden_size", 0, 0), heads = module_config(m, "num_attention_heads", 0);
  module_enter(m, "%s", prefix);
  net_value x = patches(m, "image_size");
  if (heads <= 0) heads = net_dim(m->net, x, 2) / 64; /* of timm: heads of 64 */
  if (width > 0 && width != net_dim(m->net, x, 2)) net_refuse(m->net, "is wider than its configuration says");
  x = module_blocks(m, blocks, module_norm_if(m, "norm_pre", x), heads);
  x = module_norm_if(m, "layernorm|norm|encoder.layer_norm", x);
  if (module_has(m, "pooler.layernorm")) x = module_norm(m, "pooler.layernorm", module_mean(m, "pooler.mean", x));
  if (module_has(m, "pooler.dense"))
    module_act(m, "pooler.tanh", "Tanh", module_linear(m, "pooler.dense", module_first(m, "pooler.first", x)));
  if (module_has(m, "fc_norm")) x = module_norm(m, "fc_norm", module_mean(m, "fc_norm.mean", x));
  module_leave(m);
  /* timm's head is beside its blocks, that of transformers outside of the tower. */
  if (*prefix && module_has(m, "fc_norm")) x = module_norm(m, "fc_norm", module_mean(m, "fc_norm.mean", x));
  if (module_has(m, "classifier.layernorm")) x = module_norm(m, "classifier.layernorm", x);
  if (*prefix || !module_has(m, "head")) {
    classify(m, x);
  } else {
    module_enter(m, "%s", "");
    classify(m, x);
    module_leave(m);
  }
}

/* ---- pairs ---- */

static const json_value *part_of(const json_value *config, const char *name) {
  const json_value *part = json_get(config, name);
  return json_kind_of(part) == JSON_OBJECT_KIND ? part : config;
}

/* Attention of one learned query to all tokens: the pooling of SigLIP. */
static net_value pool(module_net *m, net_value x, int64_t heads) {
  static const char matrix[] = "attention.in_proj_weight", bias[] = "attention.in_proj_bias";
  int64_t width = net_dim(m->net, x, -1);
  net_value part[3], query = module_rows(m, "probe");
  for (int32_t i = 0; i < 3; i++)
    part[i] = module_linear_rows(m, matrix, bias, i ? x : query, i * width, (i + 1) * width);
  net_value y = net_op(m->net, module_name(m, "attention"), "Attention",
                       NET_ATTRS(NET_INT("q_num_heads", heads), NET_INT("kv_num_heads", heads)), part, 3);
  y = module_linear(m, "attention.out_proj", y);
  return module_sum(m, "add", y, module_feed_forward(m, module_norm(m, "layernorm", y)));
}

static net_value picture_tower(module_net *m, const char *path, int64_t usual_heads) {
  int64_t heads = module_config(m, "num_attention_heads", usual_heads);
  module_enter(m, "%s", path);
  net_value x = module_norm_if(m, "pre_layrnorm", patches(m, "image_size"));
  x = module_blocks(m, blocks, x, heads);
  bool learned = module_has_folder(m, "head"); /* SigLIP normalises all tokens, CLIP the first one */
  if (!learned && module_has(m, class_token)) x = module_first(m, "first", x);
  x = module_norm_if(m, "post_layernorm", x);
  if (learned) {
    module_enter(m, "head");
    x = pool(m, x, heads);
    module_leave(m);
  }
  module_leave(m);
  return module_has(m, "visual_projection") ? module_linear(m, "visual_projection", x) : x;
}

static net_value text_tokens(module_net *m, int64_t usual_heads) {
  int64_t heads = module_config(m, "num_attention_heads", usual_heads);
  int64_t tokens = module_input_dim(m, "tokens", module_dim_of(m, "embeddings.position_embedding", 0), 77);
  net_value x = module_embed(m, "embeddings.token_embedding", m->batch, tokens);
  x = module_sum(m, "embeddings.add", x, module_embed(m, "embeddings.position_embedding", 0, tokens));
  return module_norm(m, "final_layer_norm", module_blocks(m, blocks, x, heads));
}

static net_value text_tower(module_net *m, int64_t usual_heads) {
  module_enter(m, "text_model");
  net_value x = module_first(m, "first", text_tokens(m, usual_heads)); /* one of the tokens: the last of the text */
  if (module_has(m, "head")) x = module_linear(m, "head", x);
  module_leave(m);
  return module_has(m, "text_projection") ? module_linear(m, "text_projection", x) : x;
}

static void generate_pairs(module_net *m) {
  const json_value *config = m->config;
  bool siglip = module_has(m, "logit_bias") || module_has_folder(m, "vision_model.head");
  net_value picture = NET_NONE, text = NET_NONE;
  if (module_has_folder(m, "vision_model") || module_has(m, projection)) {
    m->config = part_of(config, "vision_config");
    picture = picture_tower(m, module_has_folder(m, "vision_model") ? "vision_model" : "", 12);
    if (module_has(m, "classifier")) module_linear(m, "classifier", module_mean(m, "classifier.mean", picture));
  }
  if (module_has_folder(m, "text_model")) {
    m->config = part_of(config, "text_config");
    text = text_tower(m, siglip ? 12 : 8);
  }
  if (module_has(m, "embeddings.token_embedding")) {
    m->config = part_of(config, "text_config");
    text_tokens(m, 8);
  }
  m->config = config;
  if (picture == NET_NONE || text == NET_NONE) return;
  net_value turned = net_transpose(m->net, "text.transpose", text, NET_SHAPE(0, 2, 1));
  net_value scores = module_with_if(m, "logit_scale", "Mul", net_op2(m->net, "logits", "MatMul", picture, turned));
  module_with_if(m, "logit_bias", "Add", scores);
}

const network network_patches = {"patches", "a transformer over the patches of a picture",
                                 " vit deit beit data2vec-vision dinov2 dinov2_with_registers vit_msn vit_mae ijepa "
                                 "dinov3_vit audio-spectrogram-transformer videomae vivit ",
                                 "embeddings.patch_embeddings.projection|patch_embed.proj", generate_patches};
const network network_pairs = {"pairs",
                               "a transformer over the patches of a picture, and one over the tokens of a text",
                               " clip clip_vision_model clip_text_model siglip siglip_vision_model siglip_text_model "
                               "siglip2 siglip2_vision_model siglip2_text_model ",
                               NULL, generate_pairs};
