#!/usr/bin/env python3
"""Writes headers of language models in GGUF: shapes of known models, without their weights.

    python3 bench/llm_files.py FOLDER [TENSORS.tsv]

The files are sparse: their size is that of the model, their blocks are never written. The optional table has a row
for each tensor: name, type, dims in GGUF order, offset, bytes."""
import struct
import sys

# Types of GGUF: number, elements of a block, its bytes.
TYPES = {"F32": (0, 1, 4), "F16": (1, 1, 2), "BF16": (30, 1, 2), "Q4_0": (2, 32, 18), "Q4_1": (3, 32, 20), "Q5_0": (6, 32, 22),
         "Q5_1": (7, 32, 24), "Q8_0": (8, 32, 34), "Q2_K": (10, 256, 84), "Q3_K": (11, 256, 110), "Q4_K": (12, 256, 144),
         "Q5_K": (13, 256, 176), "Q6_K": (14, 256, 210), "IQ2_XXS": (16, 256, 66), "IQ2_XS": (17, 256, 74), "IQ3_XXS": (18, 256, 98),
         "IQ1_S": (19, 256, 50), "IQ4_NL": (20, 32, 18), "IQ3_S": (21, 256, 110), "IQ2_S": (22, 256, 82), "IQ4_XS": (23, 256, 136),
         "MXFP4": (39, 32, 17)}
BY_ID = {v[0]: v for v in TYPES.values()}


def text(s):
    s = s.encode()
    return struct.pack("<Q", len(s)) + s


def key(name, value):
    if isinstance(value, str):
        return text(name) + struct.pack("<i", 8) + text(value)
    if isinstance(value, float):
        return text(name) + struct.pack("<if", 6, value)
    if isinstance(value, list):
        kind = 8 if isinstance(value[0], str) else 6 if isinstance(value[0], float) else 5
        items = map(text, value) if kind == 8 else (struct.pack("<f" if kind == 6 else "<i", v) for v in value)
        return text(name) + struct.pack("<iiQ", 9, kind, len(value)) + b"".join(items)
    return text(name) + struct.pack("<iI", 4, value)


def write(path, keys, tensors, version=3, with_data=True, fill=None):
    """tensors: (name, type id, dims). fill(name, type id, bytes) gives the bytes of a tensor; without it they are a hole."""
    out = struct.pack("<4sIqq", b"GGUF", version, len(tensors), len(keys))
    out += b"".join(key(k, v) for k, v in keys.items())
    offset, places = 0, []
    for name, kind, dims in tensors:
        n = 1
        for d in dims:
            n *= d
        _, block, size = BY_ID[kind]
        out += text(name) + struct.pack("<I", len(dims)) + b"".join(struct.pack("<q", d) for d in dims)
        out += struct.pack("<iQ", kind, offset)
        places.append((name, kind, offset, n // block * size))
        offset = (offset + n // block * size + 31) // 32 * 32
    out += b"\0" * (-len(out) % 32)
    with open(path, "wb") as f:
        f.write(out)
        if with_data:
            f.truncate(len(out) + offset)
        for name, kind, at, size in places if fill else []:
            f.seek(len(out) + at)
            f.write(fill(name, kind, size))


def more_bits(i, layers):
    """The blocks in which Q4_K_M takes more bits for values and for the product down."""
    return i < layers // 8 or i >= 7 * layers // 8 or (i - layers // 8) % 3 == 2


class Mix:
    """Types of the weights of a file: those of Q4_K_M and Q5_K_M by block, else one for all. Rows that are no multiple of 256 take
    the nearest type that allows them."""

    def __init__(self, kind, layers):
        self.mixed, self.layers = kind in ("Q4_K_M", "Q5_K_M"), layers
        self.usual = TYPES[kind[:4] if self.mixed else kind][0]

    def more(self, i, row=256):
        more = self.mixed and more_bits(i, self.layers)
        if self.mixed and row % 256:
            return TYPES["Q8_0" if more else "Q5_0"][0]
        return TYPES["Q6_K"][0] if more else self.usual


def dense(arch, layers, hidden, heads, kv, ff, vocab, head=None, kind="Q4_0", out_kind="Q6_K", context=4096):
    head = head or hidden // heads
    mix = Mix(kind, layers)
    k = mix.usual
    keys = {"general.architecture": arch, "general.name": f"{arch}-{layers}x{hidden}", f"{arch}.block_count": layers,
            f"{arch}.embedding_length": hidden, f"{arch}.context_length": context, f"{arch}.feed_forward_length": ff,
            f"{arch}.attention.head_count": heads, f"{arch}.attention.head_count_kv": kv, f"{arch}.vocab_size": vocab,
            f"{arch}.attention.key_length": head, f"{arch}.attention.value_length": head}
    t = [("token_embd.weight", k, (hidden, vocab))]
    for i in range(layers):
        b, more = f"blk.{i}.", mix.more(i)
        t += [(b + "attn_norm.weight", 0, (hidden,)), (b + "attn_q.weight", k, (hidden, heads * head)),
              (b + "attn_k.weight", k, (hidden, kv * head)), (b + "attn_v.weight", more, (hidden, kv * head)),
              (b + "attn_output.weight", k, (heads * head, hidden)), (b + "ffn_norm.weight", 0, (hidden,)),
              (b + "ffn_gate.weight", k, (hidden, ff)), (b + "ffn_up.weight", k, (hidden, ff)),
              (b + "ffn_down.weight", more, (ff, hidden))]
    return keys, t + ends(hidden, vocab, out_kind)


def ends(hidden, vocab, out_kind):
    """The head; without a type of its own it has the weights of the embedding."""
    head = [("output.weight", TYPES[out_kind][0], (hidden, vocab))] if out_kind else []
    return [("output_norm.weight", 0, (hidden,)), *head]


def attention(b, mix, i, hidden, heads, kv, head, queries=1):
    k = mix.usual
    return [(b + "attn_norm.weight", 0, (hidden,)), (b + "attn_q.weight", k, (hidden, queries * heads * head)),
            (b + "attn_k.weight", k, (hidden, kv * head)), (b + "attn_v.weight", mix.more(i), (hidden, kv * head)),
            (b + "attn_output.weight", k, (heads * head, hidden)), (b + "ffn_norm.weight", 0, (hidden,))]


def recurrent(b, mix, hidden, key_heads, value_heads, state):
    """Linear attention of the Qwen family: gated delta rule, a short convolution before it."""
    inner, k = value_heads * state, mix.usual
    channels = inner + 2 * key_heads * state
    return [(b + "attn_norm.weight", 0, (hidden,)), (b + "attn_qkv.weight", mix.usual, (hidden, channels)),
            (b + "attn_gate.weight", k, (hidden, inner)), (b + "ssm_conv1d.weight", 0, (4, channels)),
            (b + "ssm_a", 0, (value_heads,)), (b + "ssm_alpha.weight", k, (hidden, value_heads)),
            (b + "ssm_beta.weight", k, (hidden, value_heads)), (b + "ssm_norm.weight", 0, (state,)),
            (b + "ssm_out.weight", k, (inner, hidden)), (b + "ffn_norm.weight", 0, (hidden,))]


def feed_forward(b, mix, i, hidden, ff, tail=""):
    k = mix.usual
    return [(f"{b}ffn_gate{tail}.weight", k, (hidden, ff)), (f"{b}ffn_up{tail}.weight", k, (hidden, ff)),
            (f"{b}ffn_down{tail}.weight", mix.more(i, ff), (ff, hidden))]


def experts(b, mix, i, hidden, n, ff):
    k = mix.usual
    return [(b + "ffn_gate_inp.weight", 0, (hidden, n)), (b + "ffn_gate_exps.weight", k, (hidden, ff, n)),
            (b + "ffn_up_exps.weight", k, (hidden, ff, n)), (b + "ffn_down_exps.weight", mix.more(i, ff), (ff, hidden, n))]


def moe(arch, layers, hidden, heads, kv, head, vocab, n_experts, used, ff, kind="Q4_K_M", out_kind="Q6_K", shared=0):
    """Routed experts in every block, after full attention."""
    mix = Mix(kind, layers)
    keys = shape_keys(arch, layers, hidden, heads, kv, head, vocab)
    keys.update({f"{arch}.expert_count": n_experts, f"{arch}.expert_used_count": used})
    t = [("token_embd.weight", mix.usual, (hidden, vocab))]
    for i in range(layers):
        b = f"blk.{i}."
        t += attention(b, mix, i, hidden, heads, kv, head) + experts(b, mix, i, hidden, n_experts, ff)
        t += feed_forward(b, mix, i, hidden, shared, "_shexp") if shared else []
    return keys, t + ends(hidden, vocab, out_kind)


def shape_keys(arch, layers, hidden, heads, kv, head, vocab, context=32768):
    return {"general.architecture": arch, "general.name": f"{arch}-{layers}x{hidden}", f"{arch}.block_count": layers,
            f"{arch}.embedding_length": hidden, f"{arch}.context_length": context, f"{arch}.attention.head_count": heads,
            f"{arch}.attention.head_count_kv": kv, f"{arch}.attention.key_length": head,
            f"{arch}.attention.value_length": head, f"{arch}.vocab_size": vocab}


def hybrid(arch, layers, hidden, heads, kv, vocab, value_heads, ff, n_experts=0, used=0, expert_ff=0, kind="Q4_K_M",
           out_kind="Q6_K"):
    """Linear attention, and full attention with gated queries in each fourth block; dense, or experts and a shared one."""
    mix, head, state, key_heads = Mix(kind, layers), 256, 128, 16
    keys = shape_keys(arch, layers, hidden, heads, kv, head, vocab)
    keys.update({f"{arch}.ssm.conv_kernel": 4, f"{arch}.ssm.inner_size": value_heads * state, f"{arch}.ssm.state_size": state,
                 f"{arch}.ssm.group_count": key_heads, f"{arch}.ssm.time_step_rank": value_heads,
                 f"{arch}.full_attention_interval": 4})
    if n_experts:
        keys.update({f"{arch}.expert_count": n_experts, f"{arch}.expert_used_count": used})
    t = [("token_embd.weight", mix.usual, (hidden, vocab))]
    for i in range(layers):
        b = f"blk.{i}."
        full = i % 4 == 3
        t += attention(b, mix, i, hidden, heads, kv, head, 2) if full else recurrent(b, mix, hidden, key_heads, value_heads, state)
        t += experts(b, mix, i, hidden, n_experts, expert_ff) if n_experts else []
        t += feed_forward(b, mix, i, hidden, ff, "_shexp" if n_experts else "")
    return keys, t + ends(hidden, vocab, out_kind)


def deepseek_lite():
    """Latent attention; routed and shared experts behind a dense block. DeepSeek-V2-Lite."""
    a, layers, hidden, heads, vocab, mix = "deepseek2", 27, 2048, 16, 102400, Mix("Q4_K_M", 27)
    k, kv, rope, nope, value = mix.usual, 512, 64, 128, 128
    keys = shape_keys(a, layers, hidden, heads, 1, kv + rope, vocab)
    keys.update({f"{a}.attention.value_length": kv, f"{a}.attention.kv_lora_rank": kv, f"{a}.attention.key_length_mla": nope + rope,
                 f"{a}.attention.value_length_mla": value, f"{a}.expert_count": 64, f"{a}.expert_used_count": 6,
                 f"{a}.leading_dense_block_count": 1})
    t = [("token_embd.weight", k, (hidden, vocab))]
    for i in range(layers):
        b = f"blk.{i}."
        t += [(b + "attn_norm.weight", 0, (hidden,)), (b + "attn_q.weight", k, (hidden, heads * (nope + rope))),
              (b + "attn_kv_a_mqa.weight", k, (hidden, kv + rope)), (b + "attn_kv_a_norm.weight", 0, (kv,)),
              (b + "attn_k_b.weight", TYPES["Q8_0"][0], (nope, kv, heads)),
              (b + "attn_v_b.weight", TYPES["Q8_0"][0], (kv, value, heads)),
              (b + "attn_output.weight", k, (heads * value, hidden)), (b + "ffn_norm.weight", 0, (hidden,))]
        t += feed_forward(b, mix, i, hidden, 10944) if i == 0 else experts(b, mix, i, hidden, 64, 1408)
        t += feed_forward(b, mix, i, hidden, 2 * 1408, "_shexp") if i > 0 else []
    return keys, t + ends(hidden, vocab, "Q6_K")


def gpt_oss(layers, experts):
    a, hidden, heads, kv, head, ff, vocab = "gpt-oss", 2880, 64, 8, 64, 2880, 201088
    q8, mx = TYPES["Q8_0"][0], TYPES["MXFP4"][0]
    keys = {"general.architecture": a, "general.name": f"gpt-oss-{layers}x{experts}", f"{a}.block_count": layers,
            f"{a}.embedding_length": hidden, f"{a}.context_length": 131072, f"{a}.attention.head_count": heads,
            f"{a}.attention.head_count_kv": kv, f"{a}.attention.key_length": head, f"{a}.attention.value_length": head,
            f"{a}.attention.sliding_window": 128, f"{a}.expert_count": experts, f"{a}.expert_used_count": 4,
            f"{a}.vocab_size": vocab}
    t = [("token_embd.weight", q8, (hidden, vocab))]
    for i in range(layers):
        b = f"blk.{i}."
        t += [(b + "attn_norm.weight", 0, (hidden,)), (b + "attn_q.weight", q8, (hidden, heads * head)),
              (b + "attn_k.weight", q8, (hidden, kv * head)), (b + "attn_v.weight", q8, (hidden, kv * head)),
              (b + "attn_sinks.weight", 0, (heads,)), (b + "attn_output.weight", q8, (heads * head, hidden)),
              (b + "post_attention_norm.weight", 0, (hidden,)), (b + "ffn_gate_inp.weight", 0, (hidden, experts)),
              (b + "ffn_gate_exps.weight", mx, (hidden, ff, experts)), (b + "ffn_up_exps.weight", mx, (hidden, ff, experts)),
              (b + "ffn_down_exps.weight", mx, (ff, hidden, experts))]
    return keys, t + ends(hidden, vocab, "Q8_0")


def llama2_7b(kind, out):
    return dense("llama", 32, 4096, 32, 32, 11008, 32000, kind=kind, out_kind=out)


def llama3(layers, hidden, heads, ff, kind, out):
    return dense("llama", layers, hidden, heads, 8, ff, 128256, kind=kind, out_kind=out, context=8192)


MODELS = {
    "llama-2-7b-q4_0": llama2_7b("Q4_0", "Q6_K"),
    "llama-2-7b-q8_0": llama2_7b("Q8_0", "Q8_0"),
    "llama-2-7b-f16": llama2_7b("F16", "F16"),
    "llama-3-8b-q4_k_m": llama3(32, 4096, 32, 14336, "Q4_K_M", "Q6_K"),
    "llama-3-8b-f16": llama3(32, 4096, 32, 14336, "F16", "F16"),
    "llama-3-70b-q4_k_m": llama3(80, 8192, 64, 28672, "Q4_K_M", "Q6_K"),
    "llama-3-70b-f16": llama3(80, 8192, 64, 28672, "F16", "F16"),
    "qwen2.5-32b-q4_k_m": dense("qwen2", 64, 5120, 40, 8, 27648, 152064, head=128, kind="Q4_K_M", context=32768),
    "gpt-oss-20b-mxfp4": gpt_oss(24, 32),
    "gpt-oss-120b-mxfp4": gpt_oss(36, 128),
    "qwen3.8-27b-q4_k_m": hybrid("qwen35", 64, 5120, 24, 4, 248320, 48, 17408),
    "qwen3.6-27b-q8_0": hybrid("qwen35", 64, 5120, 24, 4, 248320, 48, 17408, kind="Q8_0", out_kind="Q8_0"),
    "qwen3-next-80b-a3b-q4_k_m": hybrid("qwen3next", 48, 2048, 16, 2, 151936, 32, 512, 512, 10, 512),
    "qwen3-32b-q8_0": dense("qwen3", 64, 5120, 64, 8, 25600, 151936, head=128, kind="Q8_0", out_kind="Q8_0"),
    "qwen3-32b-q4_k_m": dense("qwen3", 64, 5120, 64, 8, 25600, 151936, head=128, kind="Q4_K_M"),
    "qwen2.5-14b-q4_k_m": dense("qwen2", 48, 5120, 40, 8, 13824, 152064, head=128, kind="Q4_K_M"),
    "mistral-small-24b-q4_k_m": dense("llama", 40, 5120, 32, 8, 32768, 131072, head=128, kind="Q4_K_M"),
    "gemma-2-9b-q4_k_m": dense("gemma2", 42, 3584, 16, 8, 14336, 256000, head=256, kind="Q4_K_M", out_kind=None),
    "gemma-2-27b-q4_k_m": dense("gemma2", 46, 4608, 32, 16, 36864, 256000, head=128, kind="Q4_K_M", out_kind=None),
    "qwen3-30b-a3b-q4_k_m": moe("qwen3moe", 48, 2048, 32, 4, 128, 151936, 128, 8, 768),
    "qwen3-235b-a22b-q8_0": moe("qwen3moe", 94, 4096, 64, 4, 128, 151936, 128, 8, 1536, kind="Q8_0", out_kind="Q8_0"),
    # Published with IQ3_K of ik_llama.cpp, which has the bytes of Q3_K and, unlike IQ3_S, no grid to look up.
    "qwen3-235b-a22b-iq3": moe("qwen3moe", 94, 4096, 64, 4, 128, 151936, 128, 8, 1536, kind="Q3_K"),
    "llama-2-13b-q8_0": dense("llama", 40, 5120, 40, 40, 13824, 32000, kind="Q8_0", out_kind="Q8_0"),
    "mixtral-8x7b-q4_k_m": moe("llama", 32, 4096, 32, 8, 128, 32000, 8, 2, 14336),
    "deepseek-v2-lite-q4_k_m": deepseek_lite(),
    "hybrid-35b-a3b-q4_k_m": hybrid("qwen35moe", 40, 2048, 16, 2, 248320, 32, 512, 256, 8, 512),
}


def table(path):
    rows = [line.split("\t") for line in open(path) if not line.startswith("#")]
    tensors = [(r[0], int(r[1]), tuple(int(d) for d in r[2].split(","))) for r in rows]
    a = "qwen35moe"
    keys = {"general.architecture": a, "general.name": "35b-a3b", f"{a}.block_count": 41,
            f"{a}.nextn_predict_layers": 1, f"{a}.embedding_length": 2048, f"{a}.context_length": 262144,
            f"{a}.attention.head_count": 16, f"{a}.attention.head_count_kv": 2, f"{a}.attention.key_length": 256,
            f"{a}.attention.value_length": 256, f"{a}.expert_count": 256, f"{a}.expert_used_count": 8,
            f"{a}.ssm.conv_kernel": 4, f"{a}.ssm.inner_size": 4096, f"{a}.ssm.state_size": 128,
            f"{a}.ssm.group_count": 16, f"{a}.ssm.time_step_rank": 32}
    return keys, tensors


def main():
    folder = sys.argv[1]
    for name, (keys, tensors) in MODELS.items():
        write(f"{folder}/{name}.gguf", keys, tensors)
    if len(sys.argv) > 2:
        write(f"{folder}/35b-a3b-q4_k_m.gguf", *table(sys.argv[2]))


if __name__ == "__main__":
    main()
