#!/usr/bin/env python3
"""Packed weights: FLOPs of a token are two for each active parameter, whatever packs the parameters.

    quantisers.py DUMP_OPERATORS [CASES]

For each quantiser a dense model and one of experts are written as safetensors without weights, in the layout that the
quantiser's own library writes; for each type of GGUF likewise. Parameters are counted from the configuration alone, bytes from the files. Packings that
nobody knows must be refused. CASES: the folder of cases in the shared data; absent, those are left out."""
import json
import math
import pathlib
import struct
import subprocess
import sys
import tempfile

BITS = {"F32": 32, "F16": 16, "BF16": 16, "I32": 32, "U32": 32, "I64": 64, "U8": 8, "I8": 8, "I16": 16, "F8_E4M3": 8, "F8_E8M0": 8}
HIDDEN, HEADS, KV, HEAD, FF, VOCAB, LAYERS = 256, 4, 2, 64, 512, 1000, 2
EXPERTS, USED, EXPERT_FF = 8, 2, 128


# ---- layouts: {end of the name: (type, shape)} of a weight of `out` rows and `n` columns ----

def mlx(bits, group, scale="BF16"):
    def pack(out, n):
        parts = {".weight": ("U32", [out, n * bits // 32]), ".scales": (scale, [out, n // group])}
        return parts | ({".biases": ("BF16", [out, n // group])} if scale == "BF16" else {})
    return pack


def gptq(bits, group=128):
    return lambda out, n: {".qweight": ("I32", [n * bits // 32, out]), ".qzeros": ("I32", [n // group, out * bits // 32]),
                           ".scales": ("F16", [n // group, out]), ".g_idx": ("I32", [n])}


def awq(out, n):
    return {".qweight": ("I32", [n, out // 8]), ".qzeros": ("I32", [n // 128, out // 8]), ".scales": ("F16", [n // 128, out])}


def awq_gemv(out, n):
    return {".qweight": ("I32", [out, n // 8]), ".qzeros": ("I32", [out, 1]), ".scales": ("F16", [out, 8])}


def bitsandbytes(kind):
    return lambda out, n: {".weight": ("U8", [out * n // 2, 1]), ".weight.absmax": ("U8", [out * n // 64]), ".weight.quant_map": ("F32", [16]),
                           ".weight.nested_absmax": ("F32", [max(out * n // 64 // 256, 1)]), ".weight.nested_quant_map": ("F32", [256]),
                           f".weight.quant_state.bitsandbytes__{kind}": ("U8", [93])}


def hqq(bits):
    def pack(out, n):
        rows = out * n // 64  # groups of 64 in a row; the rows are packed
        packed = ("I32", [-(-rows // 10), 64]) if bits == 3 else ("U8", [rows * bits // 8, 64])
        return {".W_q": packed, ".scale": ("F16", [rows, 1]), ".zero": ("F16", [rows, 1]), ".nbits": ("I64", []), ".shape": ("I64", [2]),
                ".group_size": ("I64", []), ".axis": ("I64", []), ".packing": ("U8", [7])}
    return pack


def ct_int(bits, group=128):
    return lambda out, n: {".weight_packed": ("I32", [out, n * bits // 32]), ".weight_scale": ("BF16", [out, n // group if group else 1]),
                           ".weight_shape": ("I64", [2]), ".weight_zero_point": ("I32", [out * bits // 32, n // group if group else 1])}


def fp8_blocks(out, n):
    return {".weight": ("F8_E4M3", [out, n]), ".weight_scale_inv": ("F32", [-(-out // 128), -(-n // 128)])}


def nvfp4(out, n):
    return {".weight": ("U8", [out, n // 2]), ".weight_scale": ("F8_E4M3", [out, n // 16]), ".weight_scale_2": ("F32", []), ".input_scale": ("F32", [])}


def nvfp4_pack(out, n):
    return {".weight_packed": ("U8", [out, n // 2]), ".weight_scale": ("F8_E4M3", [out, n // 16]), ".weight_global_scale": ("F32", [1]),
            ".input_global_scale": ("F32", [1])}


def groups(bits, kind="int", group=128):
    return {"quant_method": "compressed-tensors", "config_groups": {"group_0": {"weights": {"num_bits": bits, "type": kind, "group_size": group}}}}


HQQ = lambda bits: {"quant_method": "hqq", "quant_config": {"weight_quant_params": {"nbits": bits, "group_size": 64, "axis": 1}}}
ROWS = {  # layout, members of config.json
    "plain": (lambda out, n: {".weight": ("BF16", [out, n])}, {}),
    "mlx-4": (mlx(4, 64), {"quantization": {"group_size": 64, "bits": 4}}),
    "mlx-2": (mlx(2, 64), {"quantization": {"group_size": 64, "bits": 2}}),
    "mlx-5": (mlx(5, 64), {"quantization": {"group_size": 64, "bits": 5}}),
    "mlx-8": (mlx(8, 64), {"quantization": {"group_size": 64, "bits": 8, "mode": "affine"}}),
    "mlx-3": (mlx(3, 64), {"quantization": {"group_size": 64, "bits": 3}}),
    "mlx-6": (mlx(6, 32), {"quantization": {"group_size": 32, "bits": 6}, "quantization_config": {"group_size": 32, "bits": 6}}),
    "mlx-mxfp4": (mlx(4, 32, "U8"), {"quantization": {"group_size": 32, "bits": 4, "mode": "mxfp4"}}),
    "mlx-unsaid": (mlx(8, 64), {}),
    "gptq-4": (gptq(4), {"quantization_config": {"quant_method": "gptq", "bits": 4, "group_size": 128}}),
    "gptq-2": (gptq(2), {"quantization_config": {"quant_method": "gptq", "bits": 2, "group_size": 128, "desc_act": True}}),
    "gptq-3": (gptq(3), {"quantization_config": {"quant_method": "gptq", "bits": 3, "group_size": 128}}),
    "gptq-8": (gptq(8), {"quantization_config": {"quant_method": "gptq", "bits": 8, "group_size": 128, "checkpoint_format": "gptq_v2"}}),
    "gptq-misstated": (gptq(8), {"quantization_config": {"quant_method": "auto-round", "bits": 4}}),
    "awq": (awq, {"quantization_config": {"quant_method": "awq", "bits": 4, "version": "gemm"}}),
    "awq-gemv": (awq_gemv, {"quantization_config": {"quant_method": "awq", "bits": 4, "version": "gemv"}}),
    "bnb-nf4": (bitsandbytes("nf4"), {"quantization_config": {"quant_method": "bitsandbytes", "load_in_4bit": True}}),
    "bnb-fp4": (bitsandbytes("fp4"), {"quantization_config": {"quant_method": "bitsandbytes", "load_in_4bit": True}}),
    "bnb-int8": (lambda out, n: {".weight": ("I8", [out, n]), ".SCB": ("F32", [out]), ".weight_format": ("U8", [])},
                 {"quantization_config": {"quant_method": "bitsandbytes", "load_in_8bit": True}}),
    "hqq-4": (hqq(4), {"quantization_config": HQQ(4)}),
    "hqq-8": (hqq(8), {"quantization_config": HQQ(8)}),
    "hqq-3": (hqq(3), {"quantization_config": HQQ(3)}),
    "hqq-2": (hqq(2), {"quantization_config": HQQ(2)}),
    "ct-int4": (ct_int(4), {"quantization_config": groups(4)}),
    "ct-int4-channel": (ct_int(4, None), {"quantization_config": groups(4, group=None)}),
    "ct-int2": (ct_int(2), {"quantization_config": groups(2)}),
    "ct-fp8-blocks": (lambda out, n: {".weight": ("F8_E4M3", [out, n]), ".weight_scale": ("BF16", [-(-out // 128), -(-n // 128)])},
                      {"quantization_config": groups(8, "float")}),
    "modelopt-int8": (lambda out, n: {".weight": ("I8", [out, n]), ".weight_scale": ("F32", [out]), ".input_scale": ("F32", []), ".pre_quant_scale": ("BF16", [n])},
                      {"quantization_config": {"quant_method": "modelopt", "quant_algo": "INT8_SQ"}}),
    "ct-int8-packed": (ct_int(8), {"quantization_config": groups(8)}),
    "ct-int8": (lambda out, n: {".weight": ("I8", [out, n]), ".weight_scale": ("BF16", [out, 1])}, {"quantization_config": groups(8)}),
    "ct-fp8": (lambda out, n: {".weight": ("F8_E4M3", [out, n]), ".weight_scale": ("BF16", [out, 1]), ".input_scale": ("BF16", [1])},
               {"quantization_config": groups(8, "float")}),
    "ct-nvfp4": (nvfp4_pack, {"quantization_config": groups(4, "float", 16)}),
    "ct-mxfp4": (lambda out, n: {".weight_packed": ("U8", [out, n // 2]), ".weight_scale": ("U8", [out, n // 32])},
                 {"quantization_config": groups(4, "float", 32)}),
    "modelopt-fp8": (lambda out, n: {".weight": ("F8_E4M3", [out, n]), ".weight_scale": ("F32", []), ".input_scale": ("F32", [])},
                     {"quantization_config": {"quant_method": "modelopt", "quant_algo": "FP8"}}),
    "modelopt-nvfp4": (nvfp4, {"quantization_config": {"quant_method": "modelopt", "quant_algo": "NVFP4"}}),
    "modelopt-int4": (lambda out, n: {".weight": ("U8", [out // 2, n]), ".weight_scale": ("F32", [out, n // 128]), ".pre_quant_scale": ("BF16", [n])},
                      {"quantization_config": {"quant_method": "modelopt", "quant_algo": "W4A16_AWQ"}}),
    "quark-mxfp4": (lambda out, n: {".weight": ("U8", [out, n // 2]), ".weight_scale": ("U8", [out, n // 32])}, {"quantization_config": {"quant_method": "quark"}}),
    "torchao-int4": (lambda out, n: {"._weight_qdata": ("U8", [out, n // 2]), "._weight_scale": ("BF16", [n // 128, out]),
                                     "._weight_zero_point": ("BF16", [n // 128, out])}, {"quantization_config": {"quant_method": "torchao"}}),
    "torchao-tiles": (lambda out, n: {"._weight_qdata": ("I32", [out // 8, n // 128, 32, 4]), "._weight_scale_and_zero": ("BF16", [n // 128, out, 2])},
                      {"quantization_config": {"quant_method": "torchao"}}),
    "torchao-int8": (lambda out, n: {"._weight_qdata": ("I8", [out, n]), "._weight_scale": ("BF16", [out, 1])}, {"quantization_config": {"quant_method": "torchao"}}),
    "torchao-fp8": (lambda out, n: {"._weight_qdata": ("F8_E4M3", [out, n]), "._weight_scale": ("F32", [out, 1])}, {"quantization_config": {"quant_method": "torchao"}}),
    "fp8-blocks": (fp8_blocks, {"quantization_config": {"quant_method": "fp8", "weight_block_size": [128, 128]}}),
    "eetq": (lambda out, n: {".weight": ("I8", [n, out]), ".weight_scales": ("F16", [out])}, {"quantization_config": {"quant_method": "eetq"}}),
    "quanto-8": (lambda out, n: {".weight._data": ("I8", [out, n]), ".weight._scale": ("F32", [out, 1]), ".input_scale": ("F32", []), ".output_scale": ("F32", [])},
                 {"quantization_config": {"quant_method": "quanto", "weights": "int8"}}),
    "quanto-4": (lambda out, n: {".weight._data._data": ("U8", [out, n // 2]), ".weight._scale": ("F32", [out * n // 128, 1]),
                                 ".weight._shift": ("F32", [out * n // 128, 1])}, {"quantization_config": {"quant_method": "quanto", "weights": "int4"}}),
    "quanto-2": (lambda out, n: {".weight._data._data": ("U8", [out, n // 4]), ".weight._scale": ("F32", [out * n // 128, 1]),
                                 ".weight._shift": ("F32", [out * n // 128, 1])}, {"quantization_config": {"quant_method": "quanto", "weights": "int2"}}),
    "bitnet": (lambda out, n: {".weight": ("U8", [out // 4, n]), ".weight_scale": ("BF16", [1])}, {"quantization_config": {"quant_method": "bitnet"}}),
}
# GGUF: number of the type, values of a block, bytes of it: those of its scales, and bits of a value times values / 8.
SUPER = 256
GGUF = {"F32": (0, 1, 4), "F16": (1, 1, 2), "BF16": (30, 1, 2), "Q4_0": (2, 32, 2 + 16), "Q4_1": (3, 32, 4 + 16), "Q5_0": (6, 32, 2 + 4 + 16),
        "Q5_1": (7, 32, 4 + 4 + 16), "Q8_0": (8, 32, 2 + 32), "Q2_K": (10, SUPER, 4 + 16 + SUPER // 4), "Q3_K": (11, SUPER, 2 + 12 + SUPER // 8 + SUPER // 4),
        "Q4_K": (12, SUPER, 4 + 12 + SUPER // 2), "Q5_K": (13, SUPER, 4 + 12 + SUPER // 8 + SUPER // 2), "Q6_K": (14, SUPER, 2 + 16 + SUPER // 2 + SUPER // 4),
        "IQ2_XXS": (16, SUPER, 2 + SUPER // 4), "IQ2_XS": (17, SUPER, 2 + SUPER // 4 + 8), "IQ3_XXS": (18, SUPER, 2 + 3 * SUPER // 8),
        "IQ1_S": (19, SUPER, 2 + SUPER // 8 + SUPER // 16), "IQ4_NL": (20, 32, 2 + 16), "IQ3_S": (21, SUPER, 2 + 13 * SUPER // 32 + 4),
        "IQ2_S": (22, SUPER, 2 + SUPER // 4 + 16), "IQ4_XS": (23, SUPER, 2 + 2 + 4 + SUPER // 2), "IQ1_M": (29, SUPER, SUPER // 8 + SUPER // 16 + 8),
        "TQ1_0": (34, SUPER, 2 + (SUPER - 16) // 5 + 4), "TQ2_0": (35, SUPER, 2 + SUPER // 4), "MXFP4": (39, 32, 1 + 16), "NVFP4": (40, 64, 4 + 32)}
UNKNOWN = {
    "exl3": lambda out, n: {".trellis": ("I16", [n // 16, out // 16, 64]), ".suh": ("F16", [n]), ".svh": ("F16", [out])},
    "aqlm": lambda out, n: {".codes": ("I8", [out, n // 8, 1]), ".codebooks": ("F16", [1, 256, 1, 8]), ".scales": ("F16", [out, 1, 1, 1])},
    "bytes": lambda out, n: {".weight": ("U8", [out, n // 2])},
    "words": lambda out, n: {".weight": ("I32", [out, n // 8]), ".step": ("F16", [out])},
    "marlin": lambda out, n: {".qweight": ("I32", [n // 16, out * 2]), ".scales": ("F16", [n // 128, out])},
}


# ---- models ----

def attention(i):
    b = f"model.layers.{i}.self_attn."
    return {b + "q_proj": (HEADS * HEAD, HIDDEN), b + "k_proj": (KV * HEAD, HIDDEN), b + "v_proj": (KV * HEAD, HIDDEN), b + "o_proj": (HIDDEN, HEADS * HEAD)}


def feed_forward(b, ff):
    return {b + "gate_proj": (ff, HIDDEN), b + "up_proj": (ff, HIDDEN), b + "down_proj": (HIDDEN, ff)}


def save(folder, config, tensors):
    entries, at = {}, 0
    for name, (kind, shape) in tensors.items():
        n = math.prod(shape) * BITS[kind] // 8
        entries[name] = {"dtype": kind, "shape": shape, "data_offsets": [at, at + n]}
        at += n
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(config))
    header = json.dumps(entries).encode()
    with open(folder / "model.safetensors", "wb") as f:
        f.write(struct.pack("<Q", len(header)) + header)
        f.truncate(8 + len(header) + at)
    return at


def common():
    t = {"model.embed_tokens.weight": ("BF16", [VOCAB, HIDDEN]), "lm_head.weight": ("BF16", [VOCAB, HIDDEN]), "model.norm.weight": ("BF16", [HIDDEN])}
    for i in range(LAYERS):
        for norm in ("input_layernorm", "post_attention_layernorm"):
            t[f"model.layers.{i}.{norm}.weight"] = ("BF16", [HIDDEN])
    return t


def configuration(more):
    return {"model_type": "llama", "hidden_size": HIDDEN, "num_attention_heads": HEADS, "num_key_value_heads": KV, "head_dim": HEAD,
            "intermediate_size": FF, "vocab_size": VOCAB, "num_hidden_layers": LAYERS, "torch_dtype": "bfloat16"} | more


def packed(pack, matrices):
    return {name + end: part for name, shape in matrices.items() for end, part in pack(*shape).items()}


def dense(pack):
    matrices = {}
    for i in range(LAYERS):
        matrices |= attention(i) | feed_forward(f"model.layers.{i}.mlp.", FF)
    return common() | packed(pack, matrices), sum(a * b for a, b in matrices.values())


def experts(pack, fused):
    """Tensors, and the parameters that a token meets. fused: the experts of a block are one tensor of each kind."""
    matrices, active, t = {}, 0, common()
    for i in range(LAYERS):
        b = f"model.layers.{i}.mlp."
        own = attention(i) | feed_forward(b + "shared_experts.", EXPERT_FF)
        matrices |= own
        active += sum(x * y for x, y in own.values()) + EXPERTS * HIDDEN + USED * 3 * EXPERT_FF * HIDDEN
        t[b + "gate.weight"] = ("BF16", [EXPERTS, HIDDEN])
        for e in range(0 if fused else EXPERTS):
            matrices |= feed_forward(f"{b}experts.{e}.", EXPERT_FF)
        for name, shape in (feed_forward(b + fused, EXPERT_FF) if fused else {}).items():
            t |= {name + end: (kind, [EXPERTS] + dims) for end, (kind, dims) in pack(*shape).items()}
    return t | packed(pack, matrices), active


def run(program, folder, context="512"):
    done = subprocess.run([program, str(folder), "0", context], capture_output=True, text=True, timeout=60)
    rows = [line.split("\t") for line in done.stdout.splitlines()]
    return [(r[0], r[1], int(r[2]), int(r[3])) for r in rows if len(r) == 5], done


def check(program, folder, config, tensors, active):
    """active: parameters of matrices that a token meets, without embedding and head."""
    file_bytes = save(folder, config, tensors)
    found, done = run(program, folder)
    assert done.returncode == 0, (folder.name, done.stdout)
    flops = sum(r[3] for r in found if r[1] in ("MatMul", "ExpertsMatMul"))
    want = 2 * (active + VOCAB * HIDDEN)
    assert flops == want, f"{folder.name}: {flops} FLOP for a token, expected {want}: {flops / want:.3f}"
    caches = LAYERS * 512 * 2 * KV * HEAD * 2
    weights = sum(r[2] for r in found)
    assert weights == file_bytes + caches, f"{folder.name}: {weights - caches} bytes of weights, the file has {file_bytes}"
    assert "by config.json" not in done.stderr, (folder.name, done.stderr)
    assert "are assumed" not in done.stderr, (folder.name, done.stderr)
    return found


def of_experts(more):
    return configuration(more) | {"model_type": "qwen3_moe", "num_experts": EXPERTS, "num_experts_per_tok": USED, "moe_intermediate_size": EXPERT_FF,
                                  "n_shared_experts": 1}


def all_quantisers(program, folder):
    for name, (pack, more) in ROWS.items():
        check(program, folder / f"{name}-dense", configuration(more), *dense(pack))
        check(program, folder / f"{name}-experts", of_experts(more), *experts(pack, ""))
        if name.startswith(("mlx", "plain")):
            found = check(program, folder / f"{name}-switch", of_experts(more), *experts(pack, "switch_mlp."))
            assert sum(r[1] == "ExpertsMatMul" for r in found) == 3 * LAYERS, found


def overrides(program, folder):
    """MLX: layers of their own bits."""
    said = {"group_size": 64, "bits": 4}
    tensors, active = dense(mlx(4, 64))
    for i in range(LAYERS):
        for name, shape in attention(i).items():
            said[name] = {"group_size": 32, "bits": 8}
            tensors |= {name + end: part for end, part in mlx(8, 32)(*shape).items()}
    check(program, folder / "mlx-overrides", configuration({"quantization": said}), tensors, active)


def fused(program, folder):
    """Experts in one tensor: of transformers 5, in both orders, and of gpt-oss, whose values are in blocks of 32."""
    for name, turned in (("fused", False), ("fused-turned", True)):
        tensors, active = experts(lambda out, n: {".weight": ("BF16", [out, n])}, "")
        tensors = {k: v for k, v in tensors.items() if ".experts." not in k or "shared" in k}
        for i in range(LAYERS):
            b = f"model.layers.{i}.mlp.experts."
            up, down = [4 * EXPERT_FF, HIDDEN], [HIDDEN, 2 * EXPERT_FF]  # wider than the model, so that the order shows
            tensors[b + "gate_up_proj"] = ("BF16", [EXPERTS] + (up[::-1] if turned else up))
            tensors[b + "down_proj"] = ("BF16", [EXPERTS] + (down[::-1] if turned else down))
        more = LAYERS * USED * 3 * EXPERT_FF * HIDDEN
        check(program, folder / name, of_experts({}) | {"moe_intermediate_size": 2 * EXPERT_FF, "shared_expert_intermediate_size": EXPERT_FF}, tensors, active + more)
    tensors, active = experts(lambda out, n: {".weight": ("BF16", [out, n])}, "")
    tensors = {k: v for k, v in tensors.items() if ".experts." not in k or "shared" in k}
    for i in range(LAYERS):
        b = f"model.layers.{i}.mlp.experts."
        for part, out, n in (("gate_up_proj", 2 * EXPERT_FF, HIDDEN), ("down_proj", HIDDEN, EXPERT_FF)):
            tensors |= {f"{b}{part}_blocks": ("U8", [EXPERTS, out, n // 32, 16]), f"{b}{part}_scales": ("U8", [EXPERTS, out, n // 32]),
                        f"{b}{part}_bias": ("BF16", [EXPERTS, out])}
    check(program, folder / "gpt-oss", of_experts({"quantization_config": {"quant_method": "mxfp4"}}), tensors, active)
    tensors, active = experts(lambda out, n: {".weight": ("BF16", [out, n])}, "")
    tensors = {k: v for k, v in tensors.items() if ".experts." not in k or "shared" in k}
    for i in range(LAYERS):
        b = f"model.layers.{i}.mlp.experts."
        tensors |= {b + "w13_weight": ("BF16", [EXPERTS, 2 * EXPERT_FF, HIDDEN]), b + "w2_weight": ("BF16", [EXPERTS, HIDDEN, EXPERT_FF])}
    check(program, folder / "w13", of_experts({}), tensors, active)


    tensors, active = experts(fp8_blocks, "")
    tensors = {k: v for k, v in tensors.items() if ".experts." not in k or "shared" in k}
    for i in range(LAYERS):
        b = f"model.layers.{i}.mlp.experts."
        for part, out, n in (("gate_up_proj", 2 * EXPERT_FF, HIDDEN), ("down_proj", HIDDEN, EXPERT_FF)):
            tensors |= {b + part: ("F8_E4M3", [EXPERTS, out, n]), f"{b}{part}_scale_inv": ("F32", [EXPERTS, out // 128, n // 128])}
    check(program, folder / "fp8-fused", of_experts({"quantization_config": {"quant_method": "fp8"}}), tensors, active)
    pack = mlx(4, 32, "U8")  # experts of gpt-oss by MLX: a stack for each product, with biases beside scales
    biased = lambda out, n: pack(out, n) | {".bias": ("BF16", [out])}
    tensors, active = experts(lambda out, n: {".weight": ("BF16", [out, n])}, "")
    tensors = {k: v for k, v in tensors.items() if ".experts." not in k or "shared" in k}
    for i in range(LAYERS):
        for name, shape in feed_forward(f"model.layers.{i}.mlp.experts.", EXPERT_FF).items():
            tensors |= {name + end: (kind, [EXPERTS] + dims) for end, (kind, dims) in biased(*shape).items()}
    check(program, folder / "mlx-gpt-oss", of_experts({"quantization": {"group_size": 32, "bits": 4, "mode": "mxfp4"}}), tensors, active)


# ---- GGUF: the block of experts and the dense one, in each type ----

def gguf_text(word):
    return struct.pack("<Q", len(word)) + word.encode()


def gguf_file(path, keys, tensors):
    out = struct.pack("<4sIqq", b"GGUF", 3, len(tensors), len(keys))
    for name, value in keys.items():
        out += gguf_text("general.architecture" if name == "architecture" else f"{keys['architecture']}.{name}")
        out += struct.pack("<i", 8) + gguf_text(value) if isinstance(value, str) else struct.pack("<iI", 4, value)
    at = total = 0
    for name, kind, dims in tensors:
        number, block, size = GGUF[kind]
        bytes_of = math.prod(dims) // block * size
        out += gguf_text(name) + struct.pack("<I", len(dims)) + struct.pack(f"<{len(dims)}q", *dims) + struct.pack("<iQ", number, at)
        at += -(-bytes_of // 32) * 32
        total += bytes_of
    path.write_bytes(out + bytes(-len(out) % 32) + bytes(at))
    return total


def gguf_types(program, folder):
    """A type fits where its block divides rows: all of them here have 256 values or 512."""
    wide, expert = 512, 256
    for kind in GGUF:
        for routed in (False, True):
            tensors = [("token_embd.weight", kind, [HIDDEN, VOCAB]), ("output.weight", kind, [HIDDEN, VOCAB]), ("output_norm.weight", "F32", [HIDDEN])]
            active = 0
            for i in range(LAYERS):
                b = f"blk.{i}."
                tensors += [(b + "attn_norm.weight", "F32", [HIDDEN]), (b + "ffn_norm.weight", "F32", [HIDDEN])]
                for name, out in (("attn_q", HEADS * HEAD), ("attn_k", KV * HEAD), ("attn_v", KV * HEAD)):
                    tensors.append((f"{b}{name}.weight", kind, [HIDDEN, out]))
                    active += HIDDEN * out
                tensors.append((b + "attn_output.weight", kind, [HEADS * HEAD, HIDDEN]))
                active += HEADS * HEAD * HIDDEN + (EXPERTS * HIDDEN if routed else 0)
                if routed:
                    tensors.append((b + "ffn_gate_inp.weight", "F32", [HIDDEN, EXPERTS]))
                ff, stack, end = (expert, [EXPERTS], "_exps") if routed else (wide, [], "")
                for name, shape in (("gate", [HIDDEN, ff]), ("up", [HIDDEN, ff]), ("down", [ff, HIDDEN])):
                    tensors.append((f"{b}ffn_{name}{end}.weight", kind, shape + stack))
                    active += HIDDEN * ff * (USED if routed else 1)
            keys = {"architecture": "llama", "block_count": LAYERS, "embedding_length": HIDDEN, "attention.head_count": HEADS, "attention.head_count_kv": KV,
                    "attention.key_length": HEAD, "attention.value_length": HEAD, "feed_forward_length": wide, "vocab_size": VOCAB, "context_length": 512}
            if routed:
                keys |= {"expert_count": EXPERTS, "expert_used_count": USED, "expert_feed_forward_length": expert}
            path = folder / f"{kind}-{routed}.gguf"
            file_bytes = gguf_file(path, keys, tensors)
            found, done = run(program, path)
            assert done.returncode == 0, (kind, done.stdout)
            flops, want = sum(r[3] for r in found if r[1] in ("MatMul", "ExpertsMatMul")), 2 * (active + VOCAB * HIDDEN)
            assert flops == want, f"{kind}: {flops} FLOP for a token, expected {want}"
            caches = LAYERS * 512 * 2 * KV * HEAD * 2
            assert sum(r[2] for r in found) == file_bytes + caches, f"{kind}: {sum(r[2] for r in found) - caches} bytes, the file has {file_bytes}"


def unknown(program, folder):
    for name, pack in UNKNOWN.items():
        tensors, _ = dense(pack)
        save(folder / f"unknown-{name}", configuration({"quantization_config": {"quant_method": name}}), tensors)
        _, done = run(program, folder / f"unknown-{name}")
        assert done.returncode == 3 and "packing that is not known" in done.stdout and len(done.stdout.splitlines()) == 1, (name, done.stdout[:300])
        assert "model.layers." in done.stdout, (name, done.stdout)


def cases(program, folder, shared):
    """Files of public threads: 70.55e9 parameters of Llama 3 70B, and a GLM-4 of 8 of 128 experts."""
    unpack = shared / "unpack.py"
    for name in ("llama70b-mlx4", "exo2295"):
        subprocess.run([sys.executable, str(unpack), str(shared / f"{name}.case"), str(folder)], check=True)
    count = lambda name: sum(r[3] for r in run(program, folder / name)[0] if r[1] in ("MatMul", "ExpertsMatMul"))
    layer = 2 * 8192 * 8192 + 2 * 1024 * 8192 + 3 * 28672 * 8192
    assert count("llama70b-mlx4") == 2 * (80 * layer + 128256 * 8192), count("llama70b-mlx4")
    attends, one = 2 * 4096 * 96 * 128 + 2 * 4096 * 8 * 128, 3 * 1408 * 4096
    mixed = 45 * (9 * one + 128 * 4096) + 3 * 10944 * 4096  # the first block is dense; 8 of the experts and a shared one
    assert count("exo2295") == 2 * (46 * attends + mixed + 151552 * 4096), count("exo2295")


def main():
    program = sys.argv[1]
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        all_quantisers(program, folder)
        overrides(program, folder)
        fused(program, folder)
        gguf_types(program, folder)
        unknown(program, folder)
        if len(sys.argv) > 2 and pathlib.Path(sys.argv[2], "unpack.py").exists():
            cases(program, folder, pathlib.Path(sys.argv[2]))
    print(f"{len(ROWS)} packings and {len(GGUF)} types of GGUF agree, {len(UNKNOWN)} unknown ones are refused")


if __name__ == "__main__":
    main()
