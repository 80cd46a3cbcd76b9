/* Transformers that remove noise from patches of latents, of diffusers: Flux, Stable Diffusion 3, DiT, PixArt. */
#include "read/network.h"

enum { BLOCKS = 512 };

typedef struct denoising {
  module_net *m;
  net_value x, text; /* tokens of the picture, of the prompt (NET_NONE: none) */
  net_value step;    /* what time, guidance and prompt say: [batch, 1, width] after its activation */
  int64_t heads;
} denoising;

/* A norm without weights, scaled and shifted by the first two parts of `by` (NET_NONE: not), each as wide as x. */
static net_value modulated(denoising *d, const char *name, net_value x, net_value by) {
  net *n = d->m->net;
  int64_t width = net_dim(n, x, 2);
  net_value y = net_op1(n, module_name(d->m, "%s.norm", name), "LayerNormalization", x);
  if (by == NET_NONE) return y;
  net_value scale = net_slice(n, module_name(d->m, "%s.scale", name), by, 2, 0, width);
  net_value shift = net_slice(n, module_name(d->m, "%s.shift", name), by, 2, width, 2 * width);
  y = net_op2(n, module_name(d->m, "%s.mul", name), "Mul", y, scale);
  return net_op2(n, module_name(d->m, "%s.add", name), "Add", y, shift);
}

/* x and the gated result of a part. */
static net_value gated(denoising *d, const char *name, net_value x, net_value y, net_value by) {
  net *n = d->m->net;
  int64_t width = net_dim(n, x, 2);
  if (by != NET_NONE && net_dim(n, by, 2) >= 3 * width) {
    net_value gate = net_slice(n, module_name(d->m, "%s.gate", name), by, 2, 2 * width, 3 * width);
    y = net_op2(n, module_name(d->m, "%s.gated", name), "Mul", y, gate);
  }
  return module_sum(d->m, name, x, y);
}

/* Queries or keys, each head normalised where the block does that. */
static net_value by_head(denoising *d, const char *norm, net_value x) {
  net *n = d->m->net;
  net_shape flat = NET_SHAPE(net_dim(n, x, 0), net_dim(n, x, 1), net_dim(n, x, 2));
  if (!module_has(d->m, norm) || d->heads < 1) return x;
  x = net_reshape(n, module_name(d->m, "%s.apart", norm), x,
                  NET_SHAPE(flat.dims[0], flat.dims[1], d->heads, flat.dims[2] / d->heads));
  x = module_norm(d->m, norm, x);
  return net_reshape(n, module_name(d->m, "%s.joined", norm), x, flat);
}

static net_value joined(denoising *d, const char *name, net_value text, net_value x) {
  if (text == NET_NONE) return x;
  return net_concat(d->m->net, module_name(d->m, "%s", name), 1, (const net_value[]){text, x}, 2);
}

static net_value attention(denoising *d, const char *name, net_value q, net_value k, net_value v) {
  if (d->heads < 1) net_refuse(d->m->net, "has no number of heads in its configuration");
  return net_op(d->m->net, module_name(d->m, "%s", name), "Attention",
                NET_ATTRS(NET_INT("q_num_heads", d->heads), NET_INT("kv_num_heads", d->heads)), NET_VALUES(q, k, v));
}

/* Attention of picture and text to both, each with its own matrices. */
static void joint_attention(denoising *d, net_value x, net_value text, net_value *of_x, net_value *of_text) {
  module_net *m = d->m;
  int64_t words = text == NET_NONE ? 0 : net_dim(m->net, text, 1);
  net_value q = by_head(d, "attn.norm_q", module_linear(m, "attn.to_q", x));
  net_value k = by_head(d, "attn.norm_k", module_linear(m, "attn.to_k", x)), v = module_linear(m, "attn.to_v", x);
  if (text != NET_NONE) {
    net_value tq = by_head(d, "attn.norm_added_q", module_linear(m, "attn.add_q_proj", text));
    net_value tk = by_head(d, "attn.norm_added_k", module_linear(m, "attn.add_k_proj", text));
    q = joined(d, "attn.queries", tq, q);
    k = joined(d, "attn.keys", tk, k);
    v = joined(d, "attn.values", module_linear(m, "attn.add_v_proj", text), v);
  }
  net_value y = attention(d, "attention", q, k, v);
  *of_x = y;
  *of_text = NET_NONE;
  if (text != NET_NONE) {
    *of_text = net_slice(m->net, module_name(m, "attn.of_text"), y, 1, 0, words);
    *of_x = net_slice(m->net, module_name(m, "attn.of_picture"), y, 1, words, net_dim(m->net, q, 1));
  }
}

/* A feed-forward part under another path. */
static net_value feed_forward(denoising *d, const char *path, net_value x) {
  return module_linear(d->m, module_text(d->m, "%s.net.2", path),
                       module_act(d->m, module_text(d->m, "%s.act", path), "Gelu",
                                  module_linear(d->m, module_text(d->m, "%s.net.0.proj", path), x)));
}

/* A block with matrices for the picture and others for the text; the last one may leave the text where it is. */
static void double_block(denoising *d) {
  module_net *m = d->m;
  bool more = module_has_folder(m, "ff_context");
  net_value of_x = module_linear(m, "norm1.linear", d->step),
            of_text = module_linear(m, "norm1_context.linear", d->step);
  net_value x = modulated(d, "norm1", d->x, of_x), text = modulated(d, "norm1_context", d->text, of_text), y, z;
  joint_attention(d, x, text, &y, &z);
  d->x = gated(d, "add_attention", d->x, module_linear(m, "attn.to_out.0", y), of_x);
  if (module_has_folder(m, "attn2")) {
    net_value q = by_head(d, "attn2.norm_q", module_linear(m, "attn2.to_q", x));
    net_value k = by_head(d, "attn2.norm_k", module_linear(m, "attn2.to_k", x));
    y = attention(d, "attention2", q, k, module_linear(m, "attn2.to_v", x));
    d->x = gated(d, "add_attention2", d->x, module_linear(m, "attn2.to_out.0", y), of_x);
  }
  d->x = gated(d, "add_output", d->x, feed_forward(d, "ff", modulated(d, "norm2", d->x, of_x)), of_x);
  if (!more) return;
  d->text = gated(d, "add_context", d->text, module_linear(m, "attn.to_add_out", z), of_text);
  y = feed_forward(d, "ff_context", modulated(d, "norm2_context", d->text, of_text));
  d->text = gated(d, "add_context_output", d->text, y, of_text);
}

/* A block over picture and text as one, with attention beside the feed-forward part. */
static void single_block(denoising *d) {
  module_net *m = d->m;
  net_value by = module_linear(m, "norm.linear", d->step), x = modulated(d, "norm", d->x, by);
  net_value wide = module_act(m, "act", "Gelu", module_linear(m, "proj_mlp", x));
  net_value q = by_head(d, "attn.norm_q", module_linear(m, "attn.to_q", x));
  net_value k = by_head(d, "attn.norm_k", module_linear(m, "attn.to_k", x));
  net_value y = attention(d, "attention", q, k, module_linear(m, "attn.to_v", x));
  y = net_concat(m->net, module_name(m, "concat"), 2, (const net_value[]){y, wide}, 2);
  d->x = gated(d, "add", d->x, module_linear(m, "proj_out", y), by);
}

/* A block over the picture, with attention to the text where there is one. */
static void plain_block(denoising *d) {
  module_net *m = d->m;
  net_value by = d->step;
  if (module_has_folder(m, "norm1.emb")) { /* DiT: each block has its own embeddings of time and class */
    net_value time = network_embed_step(m, "norm1.emb.timestep_embedder");
    net_value kind = module_embed(m, "norm1.emb.class_embedder.embedding_table", m->batch, 1);
    time = net_unsqueeze(m->net, module_name(m, "norm1.emb.unsqueeze"), time, 1);
    by = module_silu(m, "norm1.silu", module_sum(m, "norm1.emb.add", time, kind));
  }
  if (module_has(m, "norm1.linear")) by = module_linear(m, "norm1.linear", by);
  if (module_has(m, "scale_shift_table")) {
    net_value table = module_rows(m, "scale_shift_table");
    table = net_reshape(m->net, module_name(m, "scale_shift_table.flat"), table,
                        NET_SHAPE(m->batch, 1, net_dim(m->net, by, 2)));
    by = module_sum(m, "scale_shift_table.add", by, table);
  }
  net_value x = modulated(d, "norm1", d->x, by);
  d->x = gated(d, "add_attention", d->x, module_attention(m, &attention_itself, x, NET_NONE, d->heads, NET_NONE), by);
  if (module_has_folder(m, "attn2"))
    d->x = module_sum(m, "add_cross_attention", d->x,
                      module_attention(m, &attention_across, d->x, d->text, d->heads, NET_NONE));
  d->x = gated(d, "add_output", d->x, feed_forward(d, "ff", modulated(d, "norm2", d->x, by)), by);
}

static void blocks(denoising *d, const char *path, void (*block)(denoising *d)) {
  for (int32_t i = 0; i < BLOCKS && net_ok(d->m->net); i++) {
    module_enter(d->m, "%s.%d", path, (int)i);
    bool there = module_has_folder(d->m, "");
    if (there) block(d);
    module_leave(d->m);
    if (!there) break;
  }
}

/* What time, guidance and the prompt as a whole say, as one row. */
static void embed_steps(denoising *d) {
  static const char *const paths[] = {"time_text_embed.timestep_embedder", "time_text_embed.guidance_embedder",
                                      "time_text_embed.text_embedder", "adaln_single.emb.timestep_embedder"};
  module_net *m = d->m;
  net_value sum = NET_NONE;
  for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
    if (!module_has_folder(m, paths[i])) continue;
    net_value x = network_embed_step(m, paths[i]);
    sum = sum == NET_NONE ? x : module_sum(m, module_text(m, "%s.add", paths[i]), sum, x);
  }
  if (sum == NET_NONE) return;
  d->step = net_unsqueeze(m->net, "step.unsqueeze", module_silu(m, "step.act", sum), 1);
  if (module_has(m, "adaln_single.linear")) d->step = module_linear(m, "adaln_single.linear", d->step);
}

/* The picture as tokens: patches of latents, or patches that the pipeline has made already. */
static void embed_picture(denoising *d) {
  module_net *m = d->m;
  if (module_has(m, "pos_embed.proj")) {
    int64_t side = module_config_at(m, "sample_size", 0, 0), step = module_dim_of(m, "pos_embed.proj", -1);
    int64_t height = module_input_dim(m, "height", side, 64), width = module_input_dim(m, "width", side, 64);
    net_value x = net_input(m->net, NET_SHAPE(m->batch, module_dim_of(m, "pos_embed.proj", 1), height, width));
    d->x = module_tokens(m, "pos_embed", module_conv(m, "pos_embed.proj", x, (net_window){.stride = step}));
    if (module_has(m, "pos_embed.pos_embed"))
      d->x = module_sum(m, "pos_embed.add", d->x, module_embed(m, "pos_embed.pos_embed", 0, net_dim(m->net, d->x, 1)));
  } else {
    int64_t patches = module_input_dim(m, "patches", 0, 4096); /* of a picture of 1024 x 1024 */
    d->x = module_linear(m, "x_embedder",
                         net_input(m->net, NET_SHAPE(m->batch, patches, module_dim_of(m, "x_embedder", 1))));
  }
}

static void embed_text(denoising *d) {
  module_net *m = d->m;
  static const char one[] = "context_embedder", two[] = "caption_projection";
  bool first = module_has(m, one);
  if (!first && !module_has_folder(m, two)) return;
  int64_t width = first ? module_dim_of(m, one, 1) : module_dim_of(m, "caption_projection.linear_1", 1);
  net_value x = net_input(m->net, NET_SHAPE(m->batch, module_input_dim(m, "tokens", 0, first ? 512 : 120), width));
  if (first) {
    d->text = module_linear(m, one, x);
  } else {
    x = module_act(m, "caption_projection.act", "Gelu", module_linear(m, "caption_projection.linear_1", x));
    d->text = module_linear(m, "caption_projection.linear_2", x);
  }
}

static void generate_diffusion(module_net *m) {
  denoising d = {.m = m, .x = NET_NONE, .text = NET_NONE, .step = NET_NONE};
  d.heads = module_config(m, "num_attention_heads", 0);
  embed_steps(&d);
  if (module_has(m, "proj_out_1")) /* DiT: what the first block makes of the step is used again behind the last */
    d.step = net_input(m->net, NET_SHAPE(m->batch, 1, module_dim_of(m, "proj_out_1", 1)));
  embed_picture(&d);
  embed_text(&d);
  blocks(&d, "transformer_blocks",
         module_has_folder(m, "transformer_blocks.0.norm1_context") ? double_block : plain_block);
  if (module_has_folder(m, "single_transformer_blocks")) {
    int64_t words = net_dim(m->net, d.text, 1), all = words + net_dim(m->net, d.x, 1);
    d.x = joined(&d, "join", d.text, d.x);
    blocks(&d, "single_transformer_blocks", single_block);
    d.x = net_slice(m->net, "part", d.x, 1, words, all);
  }
  net_value by = NET_NONE;
  if (module_has(m, "norm_out.linear")) by = module_linear(m, "norm_out.linear", d.step);
  if (module_has(m, "scale_shift_table")) {
    net_value rows = module_rows(m, "scale_shift_table");
    by = net_reshape(m->net, "scale_shift_table.flat", rows, NET_SHAPE(m->batch, 1, 2 * net_dim(m->net, d.x, 2)));
  }
  if (module_has(m, "proj_out_1")) by = module_linear(m, "proj_out_1", d.step);
  d.x = modulated(&d, "norm_out", d.x, by);
  module_linear(m, "proj_out|proj_out_2", d.x);
}

const network network_diffusion = {
    "diffusion", "one step of a transformer over patches of latents",
    " FluxTransformer2DModel SD3Transformer2DModel PixArtTransformer2DModel DiTTransformer2DModel ", NULL,
    generate_diffusion};
