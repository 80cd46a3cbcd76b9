/* Transformers made of the modules of a file, under the names that their authors give them: transformers, timm,
 * diffusers. */
#include "base/checked.h"
#include "read/module_net.h"

const attention_names attention_itself = {
    "attention",
    "attention.attention.query|attention.self.query|attention.query|self_attn.q_proj|attention.q_proj|attn.q_proj|"
    "attn1.to_q|attn.to_q|to_q",
    "attention.attention.key|attention.self.key|attention.key|self_attn.k_proj|attention.k_proj|attn.k_proj|"
    "attn1.to_k|attn.to_k|to_k",
    "attention.attention.value|attention.self.value|attention.value|self_attn.v_proj|attention.v_proj|attn.v_proj|"
    "attn1.to_v|attn.to_v|to_v",
    "attn.qkv|attention.qkv",
    "attention.output.dense|self_attn.out_proj|self_attn.o_proj|attention.out_proj|attn.out_proj|attn.proj|"
    "attn1.to_out.0|attn.to_out.0|to_out.0|attention.o_proj|attention.projection"};

const attention_names attention_across = {"cross_attention",
                                          "encoder_attn.q_proj|attn2.to_q",
                                          "encoder_attn.k_proj|attn2.to_k",
                                          "encoder_attn.v_proj|attn2.to_v",
                                          "",
                                          "encoder_attn.out_proj|encoder_attn.o_proj|attn2.to_out.0"};

net_value module_attention(module_net *m, const attention_names *names, net_value x, net_value other, int64_t heads,
                           net_value bias) {
  net_value parts[3] = {NET_NONE, NET_NONE, NET_NONE};
  if (other == NET_NONE) other = x;
  if (names->fused[0] && module_has(m, names->fused)) {
    net_value all = module_linear(m, names->fused, x);
    net_split(m->net, module_name(m, "%s.split", names->op), all, -1, parts, 3);
  } else {
    parts[0] = module_linear(m, names->query, x);
    parts[1] = module_linear(m, names->key, other);
    parts[2] = module_linear(m, names->value, other);
    parts[0] = module_with_if(m, "attention.attention.q_bias", "Add", parts[0]);
    parts[2] = module_with_if(m, "attention.attention.v_bias", "Add", parts[2]);
  }
  int64_t width = net_dim(m->net, parts[0], -1);
  if (heads < 1) net_refuse(m->net, "has no number of heads in its configuration");
  if (heads > 0 && width % heads != 0)
    net_refuse(m->net, "has %lld heads of attention for a width of %lld", (long long)heads, (long long)width);
  const net_value inputs[] = {parts[0], parts[1], parts[2], bias};
  net_value y = net_op(m->net, module_name(m, "%s", names->op), "Attention",
                       NET_ATTRS(NET_INT("q_num_heads", heads), NET_INT("kv_num_heads", heads)), inputs,
                       bias == NET_NONE ? 3 : 4);
  return module_linear(m, names->out, y);
}

net_value module_pair_bias(module_net *m, int64_t places) {
  static const char table[] =
      "attention.self.relative_position_bias_table|attention.relative_position_bias.relative_position_bias_table|"
      "attention.attention.relative_position_bias.relative_position_bias_table|"
      "relative_position_bias.relative_position_bias_table|attn.relative_position_bias_table";
  net *n = m->net;
  if (!module_has(m, table)) return NET_NONE;
  net_value x = module_embed(m, table, 0, sat_mul(places, places));
  x = net_reshape(n, module_name(m, "bias.reshape"), x, NET_SHAPE(1, places, places, net_dim(n, x, 1)));
  return net_transpose(n, module_name(m, "bias"), x, NET_SHAPE(0, 3, 1, 2));
}

static const char up[] =
    "intermediate.dense|mlp.fc1|feed_forward.intermediate_dense|fc1|linear1|ff.net.0.proj|mlp.weights_in|"
    "mlp.dense1|mlp.up_proj";
static const char down[] =
    "output.dense|mlp.fc2|feed_forward.output_dense|fc2|linear2|ff.net.2|mlp.weights_out|mlp.dense2|mlp.down_proj";
static const char gate[] = "mlp.gate_proj";

net_value module_feed_forward(module_net *m, net_value x) {
  bool gated = module_dim_of(m, up, 0) == sat_mul(2, module_dim_of(m, down, 1));
  net_value y = module_linear(m, up, x), halves[2];
  if (gated) {
    net_split(m->net, module_name(m, "gate.split"), y, -1, halves, 2);
    y = module_act(m, "act", "Gelu", halves[1]);
    y = net_op2(m->net, module_name(m, "gate"), "Mul", halves[0], y);
  } else if (module_has(m, gate)) {
    net_value act = module_act(m, "act", "Gelu", module_linear(m, gate, x));
    y = net_op2(m->net, module_name(m, "gate"), "Mul", act, y);
  } else {
    y = module_act(m, "act", "Gelu", y);
  }
  return module_linear(m, down, y);
}

net_value module_block(module_net *m, net_value x, int64_t heads, net_value bias) {
  static const char first[] = "layernorm_before|layer_norm1|norm1|self_attn_layer_norm|layer_norm|input_layernorm";
  static const char second[] =
      "layernorm_after|layer_norm2|norm2|final_layer_norm|post_attention_layernorm|ffn_layer_norm";
  if (bias == NET_NONE) bias = module_pair_bias(m, net_dim(m->net, x, 1));
  net_value y = module_attention(m, &attention_itself, module_norm_if(m, first, x), NET_NONE, heads, bias);
  x = module_sum(m, "add_attention", x, module_with_if(m, "layer_scale1.lambda1|lambda_1|ls1.gamma", "Mul", y));
  y = module_feed_forward(m, module_norm_if(m, second, x));
  return module_sum(m, "add_output", x, module_with_if(m, "layer_scale2.lambda1|lambda_2|ls2.gamma", "Mul", y));
}

net_value module_blocks(module_net *m, const char *paths, net_value x, int64_t heads) {
  const char *path = module_folder(m, paths);
  for (int32_t i = 0; path && i < LM_MAX_BLOCKS && net_ok(m->net); i++) {
    module_enter(m, "%s.%d", path, (int)i);
    bool there = module_has_folder(m, "");
    if (there) x = module_block(m, x, heads, NET_NONE);
    module_leave(m);
    if (!there) break;
  }
  return x;
}
