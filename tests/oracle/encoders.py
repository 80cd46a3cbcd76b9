#!/usr/bin/env python3
"""Encoders and encoder-decoders, counted from their configurations.

    encoders.py DUMP_OPERATORS

Small models in the names of T5, BART, Whisper and BERT are written as safetensors without weights. A prompt must cost
what the encoder and the keys and values of the decoder's second attention cost, a step of decoding the rest; caches are
those of both attentions. With "torch" in the environment the same is compared with what PyTorch counts
(tests/python/test_transformers_files.py)."""
import pathlib
import subprocess
import sys
import tempfile

from quantisers import save

H, HEADS, HEAD, FF, V, ENCODER, DECODER = 64, 4, 8, 128, 300, 2, 3
PRODUCTS = ("MatMul", "Conv", "Attention")


def linear(t, name, out, n, bias=False):
    t[name + ".weight"] = ("F32", [out, n])
    if bias:
        t[name + ".bias"] = ("F32", [out])
    return 2 * out * n


def norm(t, name):
    t[name + ".weight"] = ("F32", [H])


def t5(gated, tied):
    """Tensors, and FLOPs of a token in: a block of the encoder, the decoder without keys and values of the encoder's text,
    these, the head. T5 numbers the parts of a block."""
    t = {"shared.weight": ("F32", [V, H])}
    inner = HEADS * HEAD
    work = {"encoder": 0, "decoder": 0, "cross": 0, "head": 2 * V * H, "inner": inner}
    for stack, blocks in (("encoder", ENCODER), ("decoder", DECODER)):
        for i in range(blocks):
            b = f"{stack}.block.{i}.layer."
            for part in ["SelfAttention"] + ["EncDecAttention"] * (stack == "decoder"):
                at = b + ("0." if part == "SelfAttention" else "1.")
                for m in "qkvo":
                    one = linear(t, at + part + "." + m, *((H, inner) if m == "o" else (inner, H)))
                    work["cross" if part == "EncDecAttention" and m in "kv" else stack] += one
                norm(t, at + "layer_norm")
            if i == 0:
                t[b + "0.SelfAttention.relative_attention_bias.weight"] = ("F32", [32, HEADS])
            last = b + ("1." if stack == "encoder" else "2.")
            for m in ("wi_0", "wi_1") if gated else ("wi",):
                work[stack] += linear(t, last + "DenseReluDense." + m, FF, H)
            work[stack] += linear(t, last + "DenseReluDense.wo", H, FF)
            norm(t, last + "layer_norm")
        norm(t, f"{stack}.final_layer_norm")
    if not tied:
        t["lm_head.weight"] = ("F32", [V, H])
    config = {"model_type": "t5", "is_encoder_decoder": True, "d_model": H, "d_kv": HEAD, "d_ff": FF, "num_layers": ENCODER,
              "num_decoder_layers": DECODER, "num_heads": HEADS, "vocab_size": V}
    return t, work, config


def bart(listens):
    t = {"model.decoder.embed_positions.weight": ("F32", [50, H])}
    t["model.decoder.embed_tokens.weight" if listens else "model.shared.weight"] = ("F32", [V, H])
    t["model.encoder.embed_positions.weight"] = ("F32", [32, H])
    work = {"encoder": 0, "decoder": 0, "cross": 0, "head": 2 * V * H, "inner": H}
    for stack, blocks in (("encoder", ENCODER), ("decoder", DECODER)):
        for i in range(blocks):
            b = f"model.{stack}.layers.{i}."
            for part in ["self_attn"] + ["encoder_attn"] * (stack == "decoder"):
                for m in ("q_proj", "k_proj", "v_proj", "out_proj"):
                    one = linear(t, b + part + "." + m, H, H, True)
                    work["cross" if part == "encoder_attn" and m[0] in "kv" else stack] += one
                norm(t, b + part + "_layer_norm")
            work[stack] += linear(t, b + "fc1", FF, H, True) + linear(t, b + "fc2", H, FF, True)
            norm(t, b + "final_layer_norm")
        norm(t, f"model.{stack}." + ("layer_norm" if listens else "layernorm_embedding"))
    if listens:  # of 20 bands, twice as many frames, then half of them
        t["model.encoder.conv1.weight"] = ("F32", [H, 20, 3])
        t["model.encoder.conv2.weight"] = ("F32", [H, H, 3])
        work["sound"] = 2 * (2 * H * 20 * 3) + 2 * H * H * 3
    config = {"model_type": "whisper" if listens else "bart", "is_encoder_decoder": True, "d_model": H, "encoder_layers": ENCODER,
              "decoder_layers": DECODER, "encoder_attention_heads": HEADS, "decoder_attention_heads": HEADS, "vocab_size": V,
              "num_hidden_layers": ENCODER, "max_position_embeddings": 50} | ({"max_source_positions": 32} if listens else {})
    return t, work, config


def run(program, path, prompt=0, context=0, batch=1, generate=0):
    done = subprocess.run([program, str(path), str(prompt), str(context), str(batch), str(generate)], capture_output=True, text=True, timeout=60)
    rows = [line.split("\t") for line in done.stdout.splitlines()]
    assert done.returncode == 0, (path, done.stdout)
    return [(r[0], r[1], int(r[2]), int(r[3]), int(r[4])) for r in rows if len(r) == 5], done.stderr


def flops(rows):
    return sum(r[3] for r in rows if r[1] in PRODUCTS)


def pair(program, path, made):
    tensors, work, config = made
    file_bytes = save(path, config, tensors)
    inner = work["inner"]
    source, batch = 24, 3
    attends = lambda queries, keys: 4 * inner * queries * keys  # products with keys and with values, of all heads
    rows, notes = run(program, path, prompt=source, batch=batch)
    read = batch * (source * (work["encoder"] + work["cross"] + work.get("sound", 0)) + ENCODER * attends(source, source))
    assert flops(rows) == read, (path.name, flops(rows), read)
    assert sum(r[4] for r in rows if ".decoder." in r[0] and "encoder_attn" not in r[0]) == 0  # the decoder rests
    assert f"an encoder reads {source} tokens" in notes
    # One token behind a cache of 7 and itself; the text that was read has its default length.
    length = {"t5": 512, "bart": 50, "whisper": 32}[config["model_type"]]
    rows, _ = run(program, path, context=8)
    step = work["decoder"] + work["head"] + DECODER * (attends(1, 8) + attends(1, length))
    assert flops(rows) == step, (path.name, flops(rows), step)
    assert all(r[3] == r[4] == 0 for r in rows if r[0].startswith(("encoder.", "model.encoder."))), rows
    # Memory: the file, a tied head again, and caches of keys and values in F16: cells by 256, the text as it is.
    rows, _ = run(program, path, prompt=source, context=300, batch=batch, generate=9)
    tied = 0 if "lm_head.weight" in tensors else 4 * V * H
    caches = DECODER * batch * 2 * inner * 2 * (512 + source)
    found = sum(r[2] for r in rows)
    assert found == file_bytes + tied + caches, (path.name, found - file_bytes - tied, caches)
    names = [r[0] for r in rows]
    last = max(i for i, n in enumerate(names) if n.startswith(("encoder.", "model.encoder.")))
    first = min(i for i, n in enumerate(names) if n.startswith(("decoder.block", "model.decoder.layers")))
    assert last < first, names
    assert sum(n.endswith("cross_attention") for n in names) == DECODER, names


def bert(program, path, predicts):
    t = {"embeddings.word_embeddings.weight": ("F32", [V, H]), "embeddings.position_embeddings.weight": ("F32", [512, H]),
         "embeddings.token_type_embeddings.weight": ("F32", [2, H]), "pooler.dense.weight": ("F32", [H, H])}
    norm(t, "embeddings.LayerNorm")
    token = 0
    for i in range(ENCODER):
        b = f"encoder.layer.{i}."
        for m in ("attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense"):
            token += linear(t, b + m, H, H, True)
        token += linear(t, b + "intermediate.dense", FF, H, True) + linear(t, b + "output.dense", H, FF, True)
        norm(t, b + "attention.output.LayerNorm")
        norm(t, b + "output.LayerNorm")
    if predicts:
        token += linear(t, "cls.predictions.transform.dense", H, H, True) + 2 * V * H  # the table of tokens again
        t["cls.predictions.bias"] = ("F32", [V])
    # The architecture is in no list: the modules of its blocks say that it reads whole texts.
    save(path, {"model_type": "some-bert", "hidden_size": H, "num_attention_heads": HEADS, "num_hidden_layers": ENCODER, "vocab_size": V}, t)
    rows, notes = run(program, path, prompt=20, batch=2)
    want = 2 * (20 * token + 2 * H * H + ENCODER * 4 * H * 20 * 20)  # the pooler sees one token of a text
    assert flops(rows) == want, (path.name, flops(rows), want)
    assert "an encoder, which reads 20 tokens" in notes, notes


def alone(program, path):
    """The encoder of a T5 without its decoder, as pipelines of pictures have it."""
    tensors, work, config = t5(True, True)
    kept = {name: shape for name, shape in tensors.items() if not name.startswith("decoder")}
    save(path, config | {"is_encoder_decoder": False}, kept)
    rows, notes = run(program, path, prompt=24)
    assert flops(rows) == 24 * work["encoder"] + ENCODER * 4 * work["inner"] * 24 * 24, flops(rows)
    assert "an encoder, which reads 24 tokens" in notes, notes


def refused(program, folder):
    """Two stacks that are none of these, with what is missing."""
    def lacks(name, change, message):
        tensors, _, config = bart(False)
        save(folder / name, config, change(tensors))
        done = subprocess.run([program, str(folder / name)], capture_output=True, text=True, timeout=60)
        assert done.returncode == 3 and message in done.stdout and len(done.stdout.splitlines()) == 1, (name, done.stdout)

    without = lambda part, stack="": lambda t: {n: shape for n, shape in t.items() if part not in n or stack not in n}
    lacks("keyless", without("k_proj", "model.encoder"), "an encoder without attention")
    lacks("feedless", without("fc", "model.decoder"), "a decoder without a feed-forward part")
    lacks("tableless", without("shared"), "no embedding of tokens")
    lacks("crossless", without("encoder_attn"), "two stacks of blocks")
    lacks("stranger", lambda t: t | {"model.encoder.layers.0.mixture.weight": ("F32", [H, H])}, "model.encoder.layers.0.mixture.weight")
    lacks("looking", lambda t: t | {"model.encoder.patches.conv.weight": ("F32", [H, 3, 8, 8])}, "convolutions")


def main():
    program = sys.argv[1]
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        pair(program, folder / "t5", t5(False, True))
        pair(program, folder / "t5-gated", t5(True, False))
        pair(program, folder / "bart", bart(False))
        pair(program, folder / "whisper", bart(True))
        bert(program, folder / "bert", False)
        bert(program, folder / "bert-predicts", True)
        alone(program, folder / "t5-encoder")
        refused(program, folder)
    print("encoders and encoder-decoders agree")


if __name__ == "__main__":
    main()
