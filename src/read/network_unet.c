/* Networks that make pictures by steps of convolutions, of diffusers: the UNet that removes noise from latents, and the
 * autoencoder between pictures and latents. */
#include <stdio.h>

#include "read/network.h"

enum { STAGES = 12, DEPTH = 64, SKIPS = STAGES * DEPTH };

typedef struct unet {
  module_net *m;
  net_value time, text; /* of the step, of the prompt; NET_NONE: there is none */
  int64_t groups;
  net_value skips[SKIPS];
  int32_t n_skips;
} unet;

static net_value gather_shape(net *n, const char *name, net_value x) {
  return net_reshape(n, name, x, NET_SHAPE(net_dim(n, x, 0), net_dim(n, x, 1), 1, 1));
}

/* Two convolutions with what the time says between them, and a way around. */
static net_value residual(unet *u, net_value x) {
  module_net *m = u->m;
  net_value y = module_silu(m, "act1", module_group_norm(m, "norm1", x, u->groups));
  y = module_conv(m, "conv1", y, (net_window){.pad = 1});
  if (module_has(m, "time_emb_proj")) {
    net_value t = module_linear(m, "time_emb_proj", module_silu(m, "time_act", u->time));
    y = module_sum(m, "add_time", y, gather_shape(m->net, module_name(m, "time"), t));
  }
  y = module_silu(m, "act2", module_group_norm(m, "norm2", y, u->groups));
  y = module_conv(m, "conv2", y, (net_window){.pad = 1});
  if (module_has(m, "conv_shortcut")) x = module_conv(m, "conv_shortcut", x, (net_window){0});
  return module_sum(m, "add", x, y);
}

static net_value transformer_block(unet *u, net_value x, int64_t heads) {
  module_net *m = u->m;
  net_value y = module_attention(m, &attention_itself, module_norm(m, "norm1", x), NET_NONE, heads, NET_NONE);
  x = module_sum(m, "add_attention", x, y);
  if (module_has_folder(m, "attn2")) {
    net_value other = module_dim_of(m, "attn2.to_k", 1) == net_dim(m->net, x, 2) && u->text == NET_NONE ? x : u->text;
    y = module_attention(m, &attention_across, module_norm(m, "norm2", x), other, heads, NET_NONE);
    x = module_sum(m, "add_cross_attention", x, y);
  }
  return module_sum(m, "add_output", x, module_feed_forward(m, module_norm(m, "norm3", x)));
}

/* A transformer over the places of a map. */
static net_value transformer(unet *u, net_value x, int64_t heads) {
  module_net *m = u->m;
  net *n = m->net;
  int64_t height = net_dim(n, x, 2), width = net_dim(n, x, 3);
  bool by_map = module_dim_of(m, "proj_in", 3) > 0; /* projections are convolutions of one place */
  net_value y = module_group_norm(m, "norm", x, u->groups);
  if (by_map) y = module_conv(m, "proj_in", y, (net_window){0});
  y = module_tokens(m, "tokens", y);
  if (!by_map) y = module_linear(m, "proj_in", y);
  for (int32_t i = 0; i < DEPTH && net_ok(n); i++) {
    module_enter(m, "transformer_blocks.%d", (int)i);
    bool there = module_has_folder(m, "");
    if (there) y = transformer_block(u, y, heads);
    module_leave(m);
    if (!there) break;
  }
  if (!by_map) y = module_linear(m, "proj_out", y);
  y = module_map(m, "tokens", y, height, width);
  if (by_map) y = module_conv(m, "proj_out", y, (net_window){0});
  return module_sum(m, "add", x, y);
}

/* Attention of an autoencoder: one head, of as many elements as the map has channels. */
static net_value attention_of_map(unet *u, net_value x) {
  module_net *m = u->m;
  int64_t height = net_dim(m->net, x, 2), width = net_dim(m->net, x, 3);
  net_value y = module_tokens(m, "tokens", module_group_norm(m, "group_norm", x, u->groups));
  static const attention_names names = {"attention", "to_q|query", "to_k|key", "to_v|value", "", "to_out.0|proj_attn"};
  y = module_attention(m, &names, y, NET_NONE, 1, NET_NONE);
  return module_sum(m, "add", x, module_map(m, "tokens", y, height, width));
}

static net_value attend(unet *u, int32_t i, net_value x, int64_t heads) {
  module_net *m = u->m;
  module_enter(m, "attentions.%d", (int)i);
  if (module_has(m, "group_norm"))
    x = attention_of_map(u, x);
  else if (module_has_folder(m, ""))
    x = transformer(u, x, heads);
  module_leave(m);
  return x;
}

/* Whether residual part i is there; it is done then. */
static bool step(unet *u, int32_t i, net_value *x) {
  module_enter(u->m, "resnets.%d", (int)i);
  bool there = net_ok(u->m->net) && module_has_folder(u->m, "");
  if (there) *x = residual(u, *x);
  module_leave(u->m);
  return there;
}

static void keep(unet *u, net_value x) {
  if (u->n_skips < SKIPS) u->skips[u->n_skips++] = x;
}

static int64_t heads_of(const module_net *m, int64_t stage) {
  int64_t heads = module_config_at(m, "num_attention_heads", stage, 0);
  return heads > 0 ? heads
                   : module_config_at(m, "attention_head_dim", stage, 8); /* which are heads, whatever the name */
}

static int32_t stages_of(module_net *m, const char *path) {
  int32_t n = 0;
  char name[64];
  do snprintf(name, sizeof name, "%s.%d", path, (int)n);
  while (module_has_folder(m, name) && n++ < STAGES);
  return n;
}

static net_value down(unet *u, net_value x, bool skips) {
  module_net *m = u->m;
  int32_t n = stages_of(m, "down_blocks");
  for (int32_t i = 0; i < n; i++) {
    module_enter(m, "down_blocks.%d", (int)i);
    for (int32_t k = 0; k < DEPTH && step(u, k, &x); k++) {
      x = attend(u, k, x, heads_of(m, i));
      if (skips) keep(u, x);
    }
    if (module_has(m, "downsamplers.0.conv")) {
      x = module_conv(m, "downsamplers.0.conv", x, (net_window){.stride = 2, .pad = 1});
      if (skips) keep(u, x);
    }
    module_leave(m);
  }
  return x;
}

static net_value middle(unet *u, net_value x, int64_t heads) {
  module_enter(u->m, "mid_block");
  for (int32_t k = 0; k < DEPTH && step(u, k, &x); k++) x = attend(u, k, x, heads);
  module_leave(u->m);
  return x;
}

static net_value up(unet *u, net_value x, bool skips) {
  module_net *m = u->m;
  net *n = m->net;
  int32_t stages = stages_of(m, "up_blocks");
  for (int32_t i = 0; i < stages; i++) {
    char next[20];
    module_enter(m, "up_blocks.%d", (int)i);
    for (int32_t k = 0; k < DEPTH && net_ok(n); k++) {
      snprintf(next, sizeof next, "resnets.%d", (int)k);
      if (!module_has_folder(m, next)) break;
      if (skips && u->n_skips > 0) {
        x = net_concat(n, module_name(m, "%s.concat", next), 1, (const net_value[]){x, u->skips[--u->n_skips]}, 2);
      }
      step(u, k, &x);
      x = attend(u, k, x, heads_of(m, stages - 1 - i));
    }
    if (module_has(m, "upsamplers.0.conv")) {
      bool known = skips && u->n_skips > 0; /* an odd side was rounded up when it was halved */
      net_value as = known ? u->skips[u->n_skips - 1] : NET_NONE;
      int64_t height = known ? net_dim(n, as, 2) : 2 * net_dim(n, x, 2);
      int64_t width = known ? net_dim(n, as, 3) : 2 * net_dim(n, x, 3);
      x = module_resize(m, "upsamplers.0.resize", x, height, width);
      x = module_conv(m, "upsamplers.0.conv", x, (net_window){.pad = 1});
    }
    module_leave(m);
  }
  return x;
}

static net_value last(unet *u, net_value x) {
  x = module_silu(u->m, "conv_act", module_group_norm(u->m, "conv_norm_out", x, u->groups));
  return module_conv(u->m, "conv_out", x, (net_window){.pad = 1});
}

net_value network_embed_step(module_net *m, const char *path) {
  module_enter(m, "%s", path);
  net_value x = net_input(m->net, NET_SHAPE(m->batch, module_dim_of(m, "linear_1", 1)));
  x = module_linear(m, "linear_2", module_silu(m, "act", module_linear(m, "linear_1", x)));
  module_leave(m);
  return x;
}

static void generate_unet(module_net *m) {
  unet u = {.m = m, .time = NET_NONE, .text = NET_NONE, .groups = module_config(m, "norm_num_groups", 32)};
  int64_t side = module_config_at(m, "sample_size", 0, 0), wide = module_config_at(m, "sample_size", 1, side);
  int64_t height = module_input_dim(m, "height", side, 64), width = module_input_dim(m, "width", wide, 64);
  u.time = network_embed_step(m, "time_embedding");
  if (module_has_folder(m, "add_embedding"))
    u.time = module_sum(m, "add_embedding.add", u.time, network_embed_step(m, "add_embedding"));
  int64_t text = module_config_at(m, "cross_attention_dim", 0, 0);
  if (text > 0 && module_prefix(m, "attn2.to_k"))
    u.text = net_input(m->net, NET_SHAPE(m->batch, module_input_dim(m, "tokens", 77, 77), text)); /* CLIP's */
  net_value x = net_input(m->net, NET_SHAPE(m->batch, module_dim_of(m, "conv_in", 1), height, width));
  x = module_conv(m, "conv_in", x, (net_window){.pad = 1});
  keep(&u, x);
  x = down(&u, x, true);
  x = middle(&u, x, heads_of(m, stages_of(m, "down_blocks") - 1));
  last(&u, up(&u, x, true));
}

/* A picture to latents, and back. Pipelines that make pictures only go back. */
static void generate_autoencoder(module_net *m) {
  unet u = {.m = m, .time = NET_NONE, .text = NET_NONE, .groups = module_config(m, "norm_num_groups", 32)};
  net *n = m->net;
  module_enter(m, "encoder");
  net_value x = module_picture(m, module_dim_of(m, "conv_in", 1), "sample_size", 0);
  x = middle(&u, down(&u, module_conv(m, "conv_in", x, (net_window){.pad = 1}), false), 1);
  x = last(&u, x);
  module_leave(m);
  if (module_has(m, "quant_conv")) x = module_conv(m, "quant_conv", x, (net_window){0});
  module_enter(m, "decoder");
  int64_t channels = module_dim_of(m, "conv_in", 1);
  module_leave(m);
  x = net_slice(n, "latents", x, 1, 0, channels);
  if (module_has(m, "post_quant_conv")) x = module_conv(m, "post_quant_conv", x, (net_window){0});
  module_enter(m, "decoder");
  x = module_conv(m, "conv_in", x, (net_window){.pad = 1});
  last(&u, up(&u, middle(&u, x, 1), false));
  module_leave(m);
}

const network network_unet = {"unet", "one step of a UNet over latents of pictures", " UNet2DConditionModel ", NULL,
                              generate_unet};
const network network_autoencoder = {"autoencoder", "an autoencoder of pictures, there and back", " AutoencoderKL ",
                                     NULL, generate_autoencoder};
