#!/usr/bin/env python3
"""Decoders of 2024 to 2026 as Hugging Face stores them: work of a token, caches and states.

    architectures.py DUMP_OPERATORS

Each family is written in small, without weights, with the names and the configuration of its own files. FLOPs of
products are two for each parameter that a token meets, counted while the file is put together; a cache has two rows
of key and value, a window holds no more than itself and a micro-batch, a state is what the definition of the recurrence
keeps. Nothing of them is unknown."""
import pathlib
import sys
import tempfile

from quantisers import gguf_file, run, save

H, HEADS, KV, D, FF, E, USED, EFF, V = 256, 4, 2, 64, 512, 8, 2, 128, 1000
CELLS = 512  # what `run` asks for; a window of 64 and a micro-batch of 512 take no less
CACHE = CELLS * 2 * KV * D * 2


class Net:
    """Tensors of a file, and the parameters of products that a token meets."""

    def __init__(self, prefix="model.", tied=False, embedding="embed_tokens", norm="norm"):
        self.prefix, self.active, self.t = prefix, V * H, {}
        self.add(f"{prefix}{embedding}.weight", V, H)
        self.add(f"{prefix}{norm}.weight", H)
        if not tied:
            self.add("lm_head.weight", V, H)

    def add(self, name, *shape):
        self.t[name] = ("BF16", list(shape))

    def product(self, name, out, n, uses=1):
        self.add(name + ".weight", out, n)
        self.active += out * n * uses

    def norms(self, block, *names):
        for name in names or ("input_layernorm", "post_attention_layernorm"):
            self.add(f"{block}{name}.weight", H)

    def attention(self, b, heads=HEADS, kv=KV, key=D, value=D, values=True, out="o_proj", gate=1):
        self.product(b + "q_proj", gate * heads * key, H)
        self.product(b + "k_proj", kv * key, H)
        if values:
            self.product(b + "v_proj", kv * value, H)
        self.product(b + out, H, heads * value)

    def mlp(self, b, ff=FF, names=("gate_proj", "up_proj", "down_proj")):
        for name in names:
            self.product(b + name, *((H, ff) if name == names[-1] else (ff, H)))

    def experts(self, b, names=("gate_proj", "up_proj", "down_proj"), router="gate"):
        for e in range(E):
            for name in names:
                self.product(f"{b}experts.{e}.{name}", *((H, EFF) if name == names[-1] else (EFF, H)), uses=USED / E)
        self.product(b + router, E, H)

    def mamba2(self, b, inner, state, heads, groups=1):
        self.product(b + "in_proj", 2 * inner + 2 * groups * state + heads, H)
        self.product(b + "out_proj", H, inner)
        self.add(b + "conv1d.weight", inner + 2 * groups * state, 1, 4)
        for name in ("A_log", "D", "dt_bias"):
            self.add(b + name, heads)


def said(model_type, layers, **more):
    return {"model_type": model_type, "hidden_size": H, "num_hidden_layers": layers, "num_attention_heads": HEADS, "num_key_value_heads": KV,
            "head_dim": D, "intermediate_size": FF, "vocab_size": V, "torch_dtype": "bfloat16", "max_position_embeddings": 8192, **more}


ROUTED = {"num_experts": E, "num_experts_per_tok": USED, "moe_intermediate_size": EFF}
MAMBA = {"mamba_n_heads": 8, "mamba_d_head": 64, "mamba_d_state": 32, "mamba_n_groups": 1, "mamba_d_conv": 4}
STATE2 = (3 * (512 + 2 * 32) + 32 * 512) * 4


def plain(layers, **form):
    n = Net(**form)
    for i in range(layers):
        b = f"{n.prefix}layers.{i}."
        n.norms(b)
        n.attention(b + "self_attn.")
        n.mlp(b + "mlp.")
    return n


def lfm2():
    """Convolutions between products; a block in three attends."""
    n = Net(norm="embedding_norm", tied=True)
    for i in range(3):
        b = f"model.layers.{i}."
        n.norms(b, "operator_norm", "ffn_norm")
        if i == 2:
            n.attention(b + "self_attn.", out="out_proj")
        else:
            n.product(b + "conv.in_proj", 3 * H, H)
            n.product(b + "conv.out_proj", H, H)
            n.add(b + "conv.conv.weight", H, 1, 3)
        n.mlp(b + "feed_forward.", names=("w1", "w3", "w2"))
    return said("lfm2", 3, layer_types=["conv", "conv", "full_attention"], conv_L_cache=3), n, CACHE + 2 * H * 2 * 4


def nemotron_h():
    """One part a block, all below `mixer`: a recurrence, attention, experts with their router."""
    n = Net("backbone.", embedding="embeddings", norm="norm_f")
    for i, kind in enumerate("M*EM"):
        b = f"backbone.layers.{i}.mixer."
        n.norms(f"backbone.layers.{i}.", "norm")
        if kind == "M":
            n.mamba2(b, 512, 32, 8)
        elif kind == "*":
            n.attention(b)
        else:
            n.experts(b, ("up_proj", "down_proj"))
            n.mlp(b + "shared_experts.", EFF, ("up_proj", "down_proj"))
    return said("nemotron_h", 4, hybrid_override_pattern="M*EM", n_routed_experts=E, num_experts_per_tok=USED, mamba_num_heads=8, mamba_head_dim=64,
                ssm_state_size=32, n_groups=1, conv_kernel=4), n, CACHE + 2 * STATE2


def granite_hybrid():
    n = Net(tied=True)
    for i in range(2):
        b = f"model.layers.{i}."
        n.norms(b)
        n.attention(b + "self_attn.") if i else n.mamba2(b + "mamba.", 512, 32, 8)
        n.add(b + "block_sparse_moe.input_linear.weight", E, 2 * EFF, H)
        n.add(b + "block_sparse_moe.output_linear.weight", E, H, EFF)
        n.active += USED * 3 * EFF * H
        n.product(b + "block_sparse_moe.router.layer", E, H)
    return said("granitemoehybrid", 2, layer_types=["mamba", "attention"], num_local_experts=E, num_experts_per_tok=USED, **MAMBA), n, CACHE + STATE2


def falcon_h1():
    """Attention and a recurrence side by side in each block."""
    n = Net(norm="final_layernorm")
    n.norms("model.layers.0.", "input_layernorm", "pre_ff_layernorm")
    n.attention("model.layers.0.self_attn.")
    n.mamba2("model.layers.0.mamba.", 512, 32, 8)
    n.mlp("model.layers.0.feed_forward.")
    return said("falcon_h1", 1, **MAMBA), n, CACHE + STATE2


def mamba2():
    n = Net("backbone.", embedding="embeddings", norm="norm_f")
    n.norms("backbone.layers.0.", "norm")
    n.mamba2("backbone.layers.0.mixer.", 512, 32, 8)
    return {"model_type": "mamba2", "hidden_size": H, "num_hidden_layers": 1, "vocab_size": V, "num_heads": 8, "head_dim": 64, "state_size": 32,
            "n_groups": 1, "conv_kernel": 4, "expand": 2}, n, STATE2


def jamba():
    """The width of a recurrence is not that of the feed-forward part."""
    n, inner, b = Net(norm="final_layernorm"), 2 * H, "model.layers.0.mamba."
    n.norms("model.layers.0.", "input_layernorm", "pre_ff_layernorm")
    for name, out, width in (("in_proj", 2 * inner, H), ("x_proj", 16 + 32, inner), ("dt_proj", inner, 16), ("out_proj", H, inner)):
        n.product(b + name, out, width)
    n.add(b + "conv1d.weight", inner, 1, 4)
    n.add(b + "A_log", inner, 16)
    n.add(b + "D", inner)
    n.mlp("model.layers.0.feed_forward.", 3 * FF)
    return said("jamba", 1, mamba_d_state=16, mamba_d_conv=4, mamba_expand=2) | {"intermediate_size": 3 * FF}, n, (3 * inner + 16 * inner) * 4


def qwen3_next():
    n, key, value = Net(), 2 * 32, 4 * 32
    for i in range(4):
        b = f"model.layers.{i}."
        n.norms(b)
        if i == 3:
            n.attention(b + "self_attn.", gate=2)
        else:
            s = b + "linear_attn."
            n.product(s + "in_proj_qkvz", 2 * key + 2 * value, H)
            n.product(s + "in_proj_ba", 8, H)
            n.product(s + "out_proj", H, value)
            n.add(s + "conv1d.weight", 2 * key + value, 1, 4)
            n.add(s + "A_log", 4)
        n.experts(b + "mlp.")
        n.mlp(b + "mlp.shared_expert.", EFF)
        n.product(b + "mlp.shared_expert_gate", 1, H)
    n.add("mtp.fc.weight", H, 2 * H)
    return said("qwen3_next", 4, full_attention_interval=4, linear_conv_kernel_dim=4, linear_key_head_dim=32, linear_num_key_heads=2,
                linear_value_head_dim=32, linear_num_value_heads=4, **ROUTED), n, CACHE + 3 * (3 * (value + 2 * key) + 32 * value) * 4


def kimi_linear():
    """Recurrent blocks whose products are called as those of attention; latent attention in one of two."""
    n, b = Net(), "model.layers.0.self_attn."
    n.norms("model.layers.0.")
    for name in "qkv":
        n.product(f"{b}{name}_proj", 4 * 64, H)
        n.add(f"{b}{name}_conv1d.weight", 4 * 64, 1, 4)
    n.add(b + "A_log", 1, 1, 4, 1)
    for name, out, width in (("b_proj", 4, H), ("f_a_proj", 64, H), ("f_b_proj", 256, 64), ("g_a_proj", 64, H), ("g_b_proj", 256, 64), ("o_proj", H, 256)):
        n.product(b + name, out, width)
    n.mlp("model.layers.0.mlp.")
    b = "model.layers.1."
    n.norms(b)
    for name, out, width in (("q_proj", HEADS * 48, H), ("kv_a_proj_with_mqa", 32 + 16, H), ("kv_b_proj", HEADS * 64, 32), ("o_proj", H, HEADS * 32)):
        n.product(f"{b}self_attn.{name}", out, width)
    n.experts(b + "block_sparse_moe.", ("w1", "w3", "w2"))
    n.mlp(b + "block_sparse_moe.shared_experts.", EFF)
    kda = {"full_attn_layers": [2], "kda_layers": [1], "num_heads": 4, "head_dim": 64, "short_conv_kernel_size": 4}
    return said("kimi_linear", 2, kv_lora_rank=32, q_lora_rank=None, qk_nope_head_dim=32, qk_rope_head_dim=16, v_head_dim=32, linear_attn_config=kda,
                num_experts=E, num_experts_per_token=USED, moe_intermediate_size=EFF), n, CELLS * 48 * 2 + (3 * 3 * 256 + 64 * 256) * 4


def sparse():
    """DeepSeek V3.2 and GLM 5: an indexer has a key of each token in the cache, too."""
    n, b = Net(), "model.layers.0.self_attn."
    n.norms("model.layers.0.")
    for name, out, width in (("q_a_proj", 64, H), ("q_b_proj", HEADS * 48, 64), ("kv_a_proj_with_mqa", 32 + 16, H), ("kv_b_proj", HEADS * 64, 32),
                             ("o_proj", H, HEADS * 32), ("indexer.wq_b", 2 * 24, 64), ("indexer.wk", 24, H), ("indexer.weights_proj", 2, H)):
        n.product(b + name, out, width)
    n.mlp("model.layers.0.mlp.")
    return said("deepseek_v32", 1, kv_lora_rank=32, q_lora_rank=64, qk_nope_head_dim=32, qk_rope_head_dim=16, v_head_dim=32, index_n_heads=2,
                index_head_dim=24, index_topk=100), n, CELLS * (48 + 24) * 2


def mimo():
    """Other heads where there is a window, values narrower than keys, blocks that predict further tokens in a stack of their own."""
    n = Net()
    for i, kv in ((0, 1), (1, 2)):
        b = f"model.layers.{i}."
        n.norms(b)
        n.attention(b + "self_attn.", kv=kv, value=32)
        n.mlp(b + "mlp.")
    n.add("model.mtp.layers.0.eh_proj.weight", H, 2 * H)
    n.add("model.mtp.layers.0.self_attn.q_proj.weight", H, H)
    return said("mimo_v2_flash", 2, hybrid_layer_pattern=[0, 1], sliding_window=64, v_head_dim=32, swa_num_key_value_heads=2, swa_v_head_dim=32) | {
        "num_key_value_heads": 1}, n, CELLS * 3 * (D + 32) * 2


def step():
    """Banks of experts whose name does not say so, a shared one of its own spelling, and more heads where there is a window."""
    n = Net()
    for i, heads in ((0, HEADS), (1, 6)):
        b = f"model.layers.{i}."
        n.norms(b)
        n.attention(b + "self_attn.", heads=heads)
        n.product(b + "self_attn.g_proj", heads, H)
        for name, shape in (("gate", (EFF, H)), ("up", (EFF, H)), ("down", (H, EFF))):
            n.add(f"{b}moe.{name}_proj.weight", E, *shape)
        n.active += USED * 3 * EFF * H
        n.product(b + "moe.gate", E, H)
        n.mlp(b + "share_expert.", EFF)
    other = {"attention_type": "sliding_attention", "num_attention_heads": 6, "num_attention_groups": KV, "head_dim": D}
    c = said("step3p5", 2, layer_types=["full_attention", "sliding_attention"], sliding_window=64, attention_other_setting=other, num_attention_groups=KV,
             moe_num_experts=E, moe_top_k=USED, moe_intermediate_size=EFF, share_expert_dim=EFF)
    del c["num_key_value_heads"]
    return c, n, 2 * CACHE


def gemma4():
    """Keys are values in blocks without a window, whose heads are others."""
    n = Net("model.language_model.", tied=True)
    for i, (kv, key) in enumerate(((2, 64), (1, 128))):
        b = f"model.language_model.layers.{i}."
        n.norms(b, "input_layernorm", "post_attention_layernorm", "pre_feedforward_layernorm", "post_feedforward_layernorm")
        n.attention(b + "self_attn.", kv=kv, key=key, value=key, values=i == 0)
        n.mlp(b + "mlp.")
    text = said("gemma4_text", 2, layer_types=["sliding_attention", "full_attention"], sliding_window=64, global_head_dim=128, num_global_key_value_heads=1,
                attention_k_eq_v=True, tie_word_embeddings=True)
    return {"model_type": "gemma4", "text_config": text}, n, 2 * CACHE


def gemma3n():
    """The last blocks read caches of earlier ones; towers for images and sound beside it."""
    n = plain(4, prefix="model.language_model.", tied=True)
    n.add("model.embed_vision.embedding_projection.weight", H, 64)
    n.add("model.embed_audio.embedding.weight", 128, 64)
    n.add("model.audio_tower.conformer.0.attention.attn.q_proj.weight", 64, 64)
    text = said("gemma3n_text", 4, layer_types=["sliding_attention"] * 3 + ["full_attention"], sliding_window=64, num_kv_shared_layers=2)
    return {"model_type": "gemma3n", "text_config": text | {"intermediate_size": [FF] * 4}}, n, 2 * CACHE


def hunyuan():
    """Numbers that are lists, one for each block."""
    n = Net(tied=True)
    n.norms("model.layers.0.")
    n.attention("model.layers.0.self_attn.")
    n.experts("model.layers.0.mlp.", router="gate.wg")
    n.mlp("model.layers.0.mlp.shared_mlp.", EFF)
    return said("hunyuan_v1_moe", 1, num_experts=E, moe_topk=[USED], moe_intermediate_size=[EFF], num_shared_expert=[1]), n, CACHE


def ernie():
    n = Net(tied=True)
    n.norms("model.layers.0.")
    n.attention("model.layers.0.self_attn.")
    n.experts("model.layers.0.mlp.")
    n.mlp("model.layers.0.mlp.shared_experts.", 2 * EFF)
    n.add("model.layers.0.mlp.moe_statics.e_score_correction_bias", 1, E)
    n.add("model.mtp_block.0.self_attn.q_proj.weight", H, H)
    n.add("model.mtp_linear_proj.0.weight", H, 2 * H)
    return said("ernie4_5_moe", 1, moe_num_experts=E, moe_k=USED, moe_intermediate_size=EFF, moe_num_shared_experts=2), n, CACHE


FAMILIES = [lfm2, nemotron_h, granite_hybrid, falcon_h1, mamba2, jamba, qwen3_next, kimi_linear, sparse, mimo, step, gemma4, gemma3n, hunyuan, ernie]


def check(program, folder, config, net, caches):
    save(folder, config, net.t)
    found, done = run(program, folder)
    assert done.returncode == 0, (folder.name, done.stdout)
    flops, want = sum(r[3] for r in found if r[1] in ("MatMul", "ExpertsMatMul")), 2 * round(net.active)
    assert flops == want, f"{folder.name}: {flops} FLOP for a token, expected {want}: {flops / want:.3f}"
    named = {r[0] for r in found}
    small = sum(2 * size(shape) for name, (_, shape) in net.t.items() if is_small(name, shape, named))
    held = sum(r[2] for r in found if r[1] in ("Attention", "StateSpace"))
    assert caches <= held <= caches + small, f"{folder.name}: {held} bytes of caches and states, expected {caches}, or {small} more"
    assert "guessed" not in done.stderr, (folder.name, done.stderr)


def size(shape):
    n = 1
    for d in shape:
        n *= d
    return n


def is_small(name, shape, named):
    """What attention or a recurrence reads beside its state, and is no operator of its own."""
    return name.removesuffix(".weight") not in named and "experts" not in name


# Windows of 1024 over a context of 8192, of 6 blocks: the configuration, and how many look back to the beginning.
WINDOWS = {"a period": ({"model_type": "cohere2", "sliding_window_pattern": 3}, 2), "letters": ({"model_type": "exaone4", "sliding_window_pattern": "LG"}, 3),
           "types": ({"model_type": "olmo3", "layer_types": (["sliding_attention"] * 2 + ["full_attention"]) * 2}, 2),
           "built in": ({"model_type": "gemma2"}, 3), "built in, of text": ({"model_type": "gemma3_text"}, 1), "all": ({"model_type": "mistral"}, 0),
           "not used": ({"model_type": "qwen2", "use_sliding_window": False}, 6)}
CHUNKS = {"chunks": ({"model_type": "llama4_text", "attention_chunk_size": 1024, "no_rope_layers": [1, 1, 0] * 2}, 2),
          "chunks, built in": ({"model_type": "llama4_text", "attention_chunk_size": 1024, "no_rope_layers": []}, 1)}


def windows(program, folder):
    for name, (more, whole) in (WINDOWS | CHUNKS).items():
        n = plain(6)
        more = more if name in CHUNKS else {"sliding_window": 1024, **more}
        save(folder / name, said("", 6) | more, n.t)
        found, done = run(program, folder / name, "8192")
        assert done.returncode == 0, (name, done.stdout)
        cells = sum(r[2] for r in found if r[1] == "Attention") // (2 * KV * D * 2)
        assert cells == whole * 8192 + (6 - whole) * (1024 + 512), (name, cells)


def chosen(program, folder):
    """Of 8192 tokens an indexer looks at all, and attention at 100: heads times both halves of the latent key, or times the
    key of the indexer, 2 FLOP each."""
    config, net, _ = sparse()
    save(folder / "chosen", config, net.t)
    found = run(program, folder / "chosen", "8192")[0]
    flops = next(r[3] for r in found if r[1] == "Attention")
    assert flops == 2 * HEADS * (48 + 32) * 100 + 2 * 2 * 24 * 8192, flops


def of_mistral(program, folder):
    """params.json in place of config.json."""
    n = Net("", embedding="tok_embeddings")
    n.t["output.weight"] = n.t.pop("lm_head.weight")
    b = "layers.0."
    n.norms(b, "attention_norm", "ffn_norm")
    for name, out, width in (("wq", HEADS * D, H), ("wk", KV * D, H), ("wv", KV * D, H), ("wo", H, HEADS * D)):
        n.product(f"{b}attention.{name}", out, width)
    n.mlp(b + "feed_forward.", names=("w1", "w3", "w2"))
    config = {"dim": H, "n_layers": 1, "head_dim": D, "hidden_dim": FF, "n_heads": HEADS, "n_kv_heads": KV, "vocab_size": V}
    save(folder / "mistral", config, n.t)
    (folder / "mistral/config.json").rename(folder / "mistral/params.json")
    found, done = run(program, folder / "mistral")
    assert sum(r[3] for r in found if r[1] == "MatMul") == 2 * n.active and "guessed" not in done.stderr, (found, done.stderr)
    assert sum(r[2] for r in found if r[1] == "Attention") == CACHE, found


def kimi_gguf(program, folder):
    """Kimi Linear by llama.cpp: 0 heads of keys and values mark a recurrent block, with products named as those of attention."""
    keys = {"architecture": "kimi-linear", "block_count": 1, "embedding_length": H, "attention.head_count": 4, "attention.head_count_kv": 0,
            "kda.head_dim": 64, "ssm.conv_kernel": 4, "vocab_size": V, "feed_forward_length": FF}
    t = [("token_embd.weight", "F16", [H, V]), ("output.weight", "F16", [H, V]), ("blk.0.attn_norm.weight", "F32", [H]), ("blk.0.ssm_a", "F32", [1, 4]),
         *((f"blk.0.attn_{part}.weight", "F16", [H, 256]) for part in "qkv"), *((f"blk.0.ssm_conv1d_{part}.weight", "F32", [4, 1, 256]) for part in "qkv"),
         ("blk.0.attn_output.weight", "F16", [256, H]), *((f"blk.0.ffn_{part}.weight", "F16", [H, FF]) for part in ("gate", "up")),
         ("blk.0.ffn_down.weight", "F16", [FF, H])]
    gguf_file(folder / "kimi.gguf", keys, t)
    found, done = run(program, folder / "kimi.gguf")
    held, state = [r[2] for r in found if r[1] in ("Attention", "StateSpace")], (3 * 3 * 256 + 64 * 256) * 4
    small = 3 * 4 * 256 * 4 + 4 * 4
    assert done.returncode == 0 and len(held) == 1 and state <= held[0] <= state + small, (held, state, done.stdout)


def main():
    program = sys.argv[1]
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for family in FAMILIES:
            check(program, folder / family.__name__, *family())
        windows(program, folder)
        chosen(program, folder)
        of_mistral(program, folder)
        kimi_gguf(program, folder)
    print(f"{len(FAMILIES)} families agree")


if __name__ == "__main__":
    main()
