"""Small language models with random weights, in GGUF files that llama.cpp loads and runs: one for each kind of block, head and
embedding that decides where it puts what. bench/llm_files.py has the shapes.

    python3 tests/cli/gguf_models.py FOLDER [NAME...]
"""
import pathlib
import random
import struct
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))
import llm_files
from llm_files import TYPES

VOCAB = 1024


def tokens(n):
    """A vocabulary without merges: three special tokens, each byte, and words that nothing needs."""
    words = ["<unk>", "<s>", "</s>"] + [f"<0x{b:02X}>" for b in range(256)]
    words += [f"\u2581w{i}" for i in range(n - len(words))]
    kinds = [2, 3, 3] + [6] * 256 + [1] * (n - 259)
    return {"tokenizer.ggml.model": "llama", "tokenizer.ggml.tokens": words, "tokenizer.ggml.scores": [-float(i) for i in range(n)],
            "tokenizer.ggml.token_type": kinds, "tokenizer.ggml.bos_token_id": 1, "tokenizer.ggml.eos_token_id": 2}


def repeated(block, size):
    return (block * (size // len(block) + 1))[:size]


# Where in a block of a type the scales of half precision are; of types that are not listed, at its beginning.
SCALES = {"Q4_1": (0, 2), "Q5_1": (0, 2), "Q2_K": (80, 82), "Q3_K": (108,), "Q4_K": (0, 2), "Q5_K": (0, 2), "Q6_K": (208,)}


class Fill:
    """Random weights near zero, the same at each call: a run of random blocks again and again."""

    def __init__(self):
        self.draw = random.Random(1)
        self.blocks = {}

    def block(self, kind):
        if kind == "F32":
            return struct.pack("<f", self.draw.gauss(0, 0.05))
        if kind == "F16":
            return struct.pack("<e", self.draw.gauss(0, 0.05))
        if kind == "BF16":
            return struct.pack("<f", self.draw.gauss(0, 0.05))[2:]
        made = bytearray(self.draw.randbytes(TYPES[kind][2]))
        if kind == "MXFP4":
            made[0] = 117  # the exponent of 2^-10
            return bytes(made)
        for at in SCALES.get(kind, (0,)):
            made[at:at + 2] = struct.pack("<e", 0.001)
        return bytes(made)

    def __call__(self, name, kind, size):
        if "norm" in name:
            return repeated(struct.pack("<f", 1.0), size)
        if kind not in self.blocks:
            of = next(name for name, row in TYPES.items() if row[0] == kind)
            self.blocks[kind] = b"".join(self.block(of) for _ in range(4099 if TYPES[of][1] == 1 else 1031))
        return repeated(self.blocks[kind], size)


def with_norms(layers, head, tensors, more=("attn_q_norm", "attn_k_norm")):
    return tensors + [(f"blk.{i}.{name}.weight", 0, (head,)) for i in range(layers) for name in more]


def llama(layers=6, hidden=256, heads=8, kv=4, ff=768, vocab=VOCAB, kind="Q8_0", tied=False, arch="llama", head=None, context=4096):
    return llm_files.dense(arch, layers, hidden, heads, kv, ff, vocab, head=head, kind=kind, out_kind=None if tied else kind, context=context)


def qwen3():
    keys, t = llama(arch="qwen3", head=64)
    return keys, with_norms(6, 64, t)


def gemma3(layers=7, window=512):
    """Windows in all blocks but each sixth; the head has the weights of the embedding."""
    keys, t = llama(layers, arch="gemma3", tied=True, head=64, context=8192)
    keys["gemma3.attention.sliding_window"] = window
    t = with_norms(layers, 64, t)
    return keys, with_norms(layers, 256, t, ("post_attention_norm", "post_ffw_norm"))


def mixtral(layers=4):
    keys, t = llm_files.moe("llama", layers, 256, 8, 4, 32, VOCAB, 8, 2, 256, kind="Q8_0", out_kind="Q8_0")
    keys["llama.feed_forward_length"] = 256
    return keys, t


def qwen3moe(layers=6):
    keys, t = llm_files.moe("qwen3moe", layers, 256, 8, 4, 64, VOCAB, 16, 4, 128, kind="Q8_0", out_kind="Q8_0")
    keys["qwen3moe.expert_feed_forward_length"] = 128
    keys["qwen3moe.feed_forward_length"] = 512
    return keys, with_norms(layers, 64, t)


def ahead(i, hidden, k):
    """What a block has in addition that predicts a further token."""
    return [(f"blk.{i}.nextn.eh_proj.weight", k, (2 * hidden, hidden)), (f"blk.{i}.nextn.enorm.weight", 0, (hidden,)),
            (f"blk.{i}.nextn.hnorm.weight", 0, (hidden,))]


def glm4moe(layers=5, predict=1):
    """Experts behind a dense block; the last blocks predict further tokens."""
    a, hidden, heads, kv, head, ff, n = "glm4moe", 256, 8, 4, 64, 128, 8
    mix, total = llm_files.Mix("Q8_0", layers), layers + predict
    keys = llm_files.shape_keys(a, total, hidden, heads, kv, head, VOCAB)
    keys.update({f"{a}.nextn_predict_layers": predict, f"{a}.expert_count": n, f"{a}.expert_used_count": 2, f"{a}.expert_shared_count": 1,
                 f"{a}.leading_dense_block_count": 1, f"{a}.expert_feed_forward_length": ff, f"{a}.feed_forward_length": 512})
    t = [("token_embd.weight", mix.usual, (hidden, VOCAB))]
    for i in range(total):
        b = f"blk.{i}."
        t += llm_files.attention(b, mix, i, hidden, heads, kv, head)[:-1] + [(b + "post_attention_norm.weight", 0, (hidden,))]
        if i == 0:
            t += llm_files.feed_forward(b, mix, i, hidden, 512)
            continue
        t += llm_files.experts(b, mix, i, hidden, n, ff) + [(b + "exp_probs_b.bias", 0, (n,))]
        t += llm_files.feed_forward(b, mix, i, hidden, ff, "_shexp")
        t += ahead(i, hidden, mix.usual) if i >= layers else []
    return keys, t + llm_files.ends(hidden, VOCAB, "Q8_0")


def qwen35(layers=8, predict=1):
    """Linear attention, full attention in each fourth block; the last block predicts a further token."""
    a, hidden, heads, kv, ff, key_heads, value_heads, state, head = "qwen35", 256, 4, 2, 512, 4, 8, 64, 64
    mix, total = llm_files.Mix("Q8_0", layers), layers + predict
    keys = llm_files.shape_keys(a, total, hidden, heads, kv, head, VOCAB)
    keys.update({f"{a}.nextn_predict_layers": predict, f"{a}.feed_forward_length": ff, f"{a}.ssm.conv_kernel": 4,
                 f"{a}.ssm.inner_size": value_heads * state, f"{a}.ssm.state_size": state, f"{a}.ssm.group_count": key_heads,
                 f"{a}.ssm.time_step_rank": value_heads, f"{a}.full_attention_interval": 4, f"{a}.rope.dimension_sections": [11, 11, 10, 0]})
    t = [("token_embd.weight", mix.usual, (hidden, VOCAB))]
    for i in range(total):
        b = f"blk.{i}."
        if i % 4 == 3 or i >= layers:
            t += with_norms(0, head, llm_files.attention(b, mix, i, hidden, heads, kv, head, 2)[:-1])
            t += [(b + f"attn_{x}_norm.weight", 0, (head,)) for x in "qk"]
        else:
            t += llm_files.recurrent(b, mix, hidden, key_heads, value_heads, state)[:-1] + [(b + "ssm_dt.bias", 0, (value_heads,))]
        t += [(b + "post_attention_norm.weight", 0, (hidden,))] + llm_files.feed_forward(b, mix, i, hidden, ff)
        t += ahead(i, hidden, mix.usual) if i >= layers else []
    return keys, t + llm_files.ends(hidden, VOCAB, "Q8_0")


def gemma2(layers=4):
    keys, t = llama(layers, arch="gemma2", tied=True, head=64)
    keys["gemma2.attention.sliding_window"] = 512
    return keys, with_norms(layers, 256, t, ("post_attention_norm", "post_ffw_norm"))


def phi3(layers=4):
    """Queries, keys and values in one matrix, gate and up in one."""
    keys, t = llama(layers, arch="phi3")
    k, out = TYPES["Q8_0"][0], []
    keys["general.name"] = "fused"  # a name with phi-3 asks for tokens of that model
    for name, kind, dims in t:
        if "attn_k" in name or "attn_v" in name or "ffn_gate" in name:
            continue
        out.append((name.replace("attn_q.", "attn_qkv."), k, (256, 512)) if "attn_q" in name else
                   (name, k, (256, 2 * 768)) if "ffn_up" in name else (name, kind, dims))
    return keys, out


def gpt_oss(layers=4):
    """A window in every other block, sinks, biases of experts."""
    a, hidden, heads, kv, head, ff, n = "gpt-oss", 256, 8, 4, 32, 256, 8
    mix = llm_files.Mix("Q8_0", layers)
    keys = llm_files.shape_keys(a, layers, hidden, heads, kv, head, VOCAB)
    keys.update({f"{a}.attention.sliding_window": 128, f"{a}.expert_count": n, f"{a}.expert_used_count": 2,
                 f"{a}.expert_feed_forward_length": ff, f"{a}.feed_forward_length": ff})
    t = [("token_embd.weight", mix.usual, (hidden, VOCAB))]
    for i in range(layers):
        b = f"blk.{i}."
        t += llm_files.attention(b, mix, i, hidden, heads, kv, head)[:-1] + llm_files.experts(b, mix, i, hidden, n, ff)
        t += [(b + "post_attention_norm.weight", 0, (hidden,)), (b + "attn_sinks.weight", 0, (heads,)), (b + "attn_output.bias", 0, (hidden,)),
              (b + "ffn_gate_inp.bias", 0, (n,)), (b + "ffn_gate_exps.bias", 0, (ff, n)), (b + "ffn_up_exps.bias", 0, (ff, n)),
              (b + "ffn_down_exps.bias", 0, (hidden, n))]
    return keys, t + llm_files.ends(hidden, VOCAB, "Q8_0")


def deepseek2(layers=4):
    """Latent attention; routed and shared experts behind a dense block."""
    a, hidden, heads, mix = "deepseek2", 256, 4, llm_files.Mix("Q8_0", layers)
    k, q_rank, rank, rope, nope, value, n, ff = mix.usual, 128, 64, 32, 32, 32, 8, 128
    keys = llm_files.shape_keys(a, layers, hidden, heads, 1, rank + rope, VOCAB)
    keys.update({f"{a}.attention.value_length": rank, f"{a}.attention.kv_lora_rank": rank, f"{a}.attention.q_lora_rank": q_rank,
                 f"{a}.attention.key_length_mla": nope + rope, f"{a}.attention.value_length_mla": value, f"{a}.expert_count": n,
                 f"{a}.expert_used_count": 2, f"{a}.expert_shared_count": 1, f"{a}.leading_dense_block_count": 1,
                 f"{a}.expert_feed_forward_length": ff, f"{a}.feed_forward_length": 512, f"{a}.rope.dimension_count": rope})
    t = [("token_embd.weight", k, (hidden, VOCAB))]
    for i in range(layers):
        b = f"blk.{i}."
        t += [(b + "attn_norm.weight", 0, (hidden,)), (b + "attn_q_a.weight", k, (hidden, q_rank)), (b + "attn_q_a_norm.weight", 0, (q_rank,)),
              (b + "attn_q_b.weight", k, (q_rank, heads * (nope + rope))), (b + "attn_kv_a_mqa.weight", k, (hidden, rank + rope)),
              (b + "attn_kv_a_norm.weight", 0, (rank,)), (b + "attn_k_b.weight", k, (nope, rank, heads)),
              (b + "attn_v_b.weight", k, (rank, value, heads)), (b + "attn_output.weight", k, (heads * value, hidden)),
              (b + "ffn_norm.weight", 0, (hidden,))]
        t += llm_files.feed_forward(b, mix, i, hidden, 512) if i == 0 else llm_files.experts(b, mix, i, hidden, n, ff)
        t += llm_files.feed_forward(b, mix, i, hidden, ff, "_shexp") if i > 0 else []
    return keys, t + llm_files.ends(hidden, VOCAB, "Q8_0")


def as_large_as(name):
    """A model of the size of known ones, for questions that need no weights. Its vocabulary is small, so that logits take none of
    the memory: a server has a row for each stream, other programs one for each token of a batch."""
    if name == "gemma3-12b":
        keys, t = llm_files.dense("gemma3", 48, 3840, 16, 8, 15360, VOCAB, head=256, kind="Q8_0", out_kind=None, context=131072)
        keys["gemma3.attention.sliding_window"] = 1024
        return keys, with_norms(48, 3840, with_norms(48, 256, t), ("post_attention_norm", "post_ffw_norm"))
    if name == "qwen3-30b-a3b":
        keys, t = llm_files.moe("qwen3moe", 48, 2048, 32, 4, 128, VOCAB, 128, 8, 768, kind="Q8_0", out_kind="Q8_0")
        keys.update({"qwen3moe.expert_feed_forward_length": 768, "qwen3moe.feed_forward_length": 6144, "qwen3moe.context_length": 131072})
        return keys, with_norms(48, 128, t)
    if name == "qwen3-4b":
        keys, t = llm_files.dense("qwen3", 36, 2560, 32, 8, 9728, VOCAB, head=128, kind="Q8_0", out_kind="Q8_0", context=131072)
        return keys, with_norms(36, 128, t)
    return llm_files.dense("llama", 32, 4096, 32, 8, 14336, VOCAB, kind="Q8_0", out_kind="Q8_0", context=131072)


LARGE = ["llama-3-8b", "qwen3-4b", "qwen3-30b-a3b", "gemma3-12b"]
MODELS = {"llama": llama, "tied": lambda: llama(tied=True), "qwen3": qwen3, "gemma3": gemma3, "mixtral": mixtral, "qwen3moe": qwen3moe,
          "glm4moe": glm4moe, "qwen35": qwen35, "gemma2": gemma2, "phi3": phi3, "gpt-oss": gpt_oss, "deepseek2": deepseek2}


def write(path, keys, tensors, weights=True):
    arch = keys["general.architecture"]
    vocab = keys[f"{arch}.vocab_size"]
    llm_files.write(path, {**keys, f"{arch}.attention.layer_norm_rms_epsilon": 1e-6, **tokens(vocab)}, tensors,
                    fill=Fill() if weights else None)


if __name__ == "__main__":
    for model in sys.argv[2:] or MODELS:
        write(f"{sys.argv[1]}/{model}.gguf", *MODELS[model]())
