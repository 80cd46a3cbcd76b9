#!/usr/bin/env python3
"""Language model files against a second reading of them.

    language_models.py DUMP_OPERATORS [FOLDER]

Writes 200 random GGUF files and 60 of safetensors, parses the bytes again with parsers of its own, works out weights,
FLOPs, caches and experts from the definitions, and compares them with what dump_operators.c prints. Every 4th file is
damaged afterwards: it must be refused with one line, or give a graph, and never end the program otherwise. With FOLDER
(the shared data) the real files there are read too. A file of 100 parts and one of 400 GB must take a second."""
import json
import os
import pathlib
import random
import struct
import subprocess
import sys
import tempfile
import time

BLOCKS = {0: (1, 4), 1: (1, 2), 2: (32, 18), 8: (32, 34), 12: (256, 144), 14: (256, 210), 30: (1, 2), 39: (32, 17)}


# ---- writing ----

def text(s):
    return struct.pack("<Q", len(s.encode())) + s.encode()


def write_key(name, value):
    if isinstance(value, str):
        return text(name) + struct.pack("<I", 8) + text(value)
    if isinstance(value, float):
        return text(name) + struct.pack("<If", 6, value)
    if isinstance(value, list) and value and isinstance(value[0], str):
        return text(name) + struct.pack("<IIQ", 9, 8, len(value)) + b"".join(map(text, value))
    if isinstance(value, list):
        return text(name) + struct.pack("<IIQ", 9, 4, len(value)) + struct.pack(f"<{len(value)}I", *value)
    return text(name) + struct.pack("<II", 4, value)


def size_of(kind, dims):
    n = 1
    for d in dims:
        n *= d
    return n // BLOCKS[kind][0] * BLOCKS[kind][1]


def gguf_bytes(keys, tensors, version, alignment):
    out = struct.pack("<4sIQQ", b"GGUF", version, len(tensors), len(keys)) + b"".join(write_key(*k) for k in keys.items())
    offset = 0
    for name, kind, dims in tensors:
        out += text(name) + struct.pack("<I", len(dims)) + struct.pack(f"<{len(dims)}Q", *dims) + struct.pack("<IQ", kind, offset)
        offset += -(-size_of(kind, dims) // alignment) * alignment
    return out + b"\0" * (-len(out) % alignment), offset


def random_model(r):
    hidden, head = 256 * r.randint(1, 3), r.choice([32, 64])
    heads = r.randint(1, 8)
    kv = r.choice([k for k in range(1, heads + 1) if heads % k == 0])
    layers, ff, vocab = r.randint(1, 5), 256 * r.randint(1, 4), r.randint(100, 3000)
    experts = r.choice([0, 0, 4, 8])
    kind = lambda: r.choice(list(BLOCKS))
    arch = r.choice(["llama", "qwen3", "strange-net"])
    keys = {"general.architecture": arch, f"{arch}.block_count": layers, f"{arch}.embedding_length": hidden,
            f"{arch}.attention.head_count": heads, f"{arch}.attention.head_count_kv": kv,
            f"{arch}.attention.key_length": head, f"{arch}.attention.value_length": head,
            f"{arch}.rope.freq_base": 1e6, "tokenizer.ggml.tokens": [f"t{i}" for i in range(r.randint(0, 40))],
            "some.list": [1, 2, 3]}
    if experts:
        keys[f"{arch}.expert_count"], keys[f"{arch}.expert_used_count"] = experts, 2
    if r.random() < 0.3:
        keys[f"{arch}.attention.sliding_window"] = 300
        keys[f"{arch}.attention.sliding_window_pattern"] = [r.randint(0, 1) for _ in range(layers)]
    t = [("token_embd.weight", kind(), (hidden, vocab))]
    for i in range(layers):
        b = f"blk.{i}."
        t += [(b + "attn_norm.weight", 0, (hidden,)), (b + "attn_q.weight", kind(), (hidden, heads * head)),
              (b + "attn_k.weight", kind(), (hidden, kv * head)), (b + "attn_v.weight", kind(), (hidden, kv * head))]
        if r.random() < 0.5:
            t += [(b + "attn_q.bias", 0, (heads * head,)), (b + "attn_k_norm.weight", 0, (head,))]
        rows = heads * head
        t += [(b + "attn_output.weight", 0 if rows % 256 else kind(), (rows, hidden)), (b + "ffn_norm.weight", 0, (hidden,))]
        if experts:
            t += [(b + "ffn_gate_inp.weight", 0, (hidden, experts)), (b + "ffn_gate_exps.weight", kind(), (hidden, ff, experts)),
                  (b + "ffn_up_exps.weight", kind(), (hidden, ff, experts)), (b + "ffn_down_exps.weight", kind(), (ff, hidden, experts))]
        else:
            t += [(b + "ffn_gate.weight", kind(), (hidden, ff)), (b + "ffn_up.weight", kind(), (hidden, ff)),
                  (b + "ffn_down.weight", kind(), (ff, hidden))]
    t += [("output_norm.weight", 0, (hidden,))]
    if r.random() < 0.6:
        t += [("output.weight", kind(), (hidden, vocab))]
    return keys, t


# ---- reading again ----

class Parser:
    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, form):
        value = struct.unpack_from("<" + form, self.data, self.at)[0]
        self.at += struct.calcsize(form)
        return value

    def string(self):
        n = self.take("Q")
        self.at += n
        return self.data[self.at - n:self.at].decode()

    def value(self, kind):
        if kind == 8:
            return self.string()
        if kind == 9:
            inner = self.take("I")
            return [self.value(inner) for _ in range(self.take("Q"))]
        return self.take({0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "B", 10: "Q", 11: "q", 12: "d"}[kind])


def parse_gguf(data):
    p = Parser(data)
    assert data[:4] == b"GGUF"
    p.at = 8
    n_tensors, n_keys = p.take("Q"), p.take("Q")
    keys = {}
    for _ in range(n_keys):
        name = p.string()
        keys[name] = p.value(p.take("I"))
    tensors = {}
    for _ in range(n_tensors):
        name = p.string()
        dims = [p.take("Q") for _ in range(p.take("I"))]
        kind = p.take("I")
        p.take("Q")
        tensors[name] = (kind, dims)
    return keys, tensors


def expected(keys, tensors, context):
    """{operator: (weight bytes, FLOPs or None)} of one step of decoding behind `context` tokens of cache."""
    arch = keys["general.architecture"]
    want = {}
    for name, (kind, dims) in tensors.items():
        if name.endswith(".bias") or "_k_norm" in name:
            continue
        op, n = name[:-len(".weight")], size_of(kind, dims)
        flops = None
        if len(dims) == 2 and op != "token_embd":
            flops = 2 * dims[0] * dims[1]
        if len(dims) == 3:
            flops = 2 * dims[0] * dims[1] * keys[f"{arch}.expert_used_count"]
        bias = tensors.get(op + ".bias")
        want[op] = (n + (size_of(*bias) if bias else 0), flops)
    if "output" not in want:
        kind, dims = tensors["token_embd.weight"]
        want["output"] = (size_of(kind, dims), 2 * dims[0] * dims[1])
    for i in range(keys[f"{arch}.block_count"]):
        heads, kv = keys[f"{arch}.attention.head_count"], keys[f"{arch}.attention.head_count_kv"]
        head = keys[f"{arch}.attention.key_length"]
        window = keys.get(f"{arch}.attention.sliding_window", 0)
        if not window or not keys[f"{arch}.attention.sliding_window_pattern"][i]:
            window = 1 << 40
        cells = -(-min(context, window + 512) // 256) * 256
        norm = tensors.get(f"blk.{i}.attn_k_norm.weight")
        weight = cells * kv * 2 * head * 2 + (size_of(*norm) if norm else 0)
        # a query meets the cache and itself; key and value take 2 FLOP for each of their elements
        want[f"blk.{i}.attention"] = (weight, 2 * heads * 2 * head * min(window, context - 1 + 1))
    return want


def run(program, path, *more):
    done = subprocess.run([program, str(path), *map(str, more)], capture_output=True, text=True, errors="replace", timeout=60)
    if done.returncode not in (0, 3):
        raise AssertionError(f"{path}: exit code {done.returncode}: {done.stderr[:500]}")
    rows = [line.split("\t") for line in done.stdout.splitlines()]
    return {r[0]: (r[1], int(r[2]), int(r[3]), int(r[4])) for r in rows if len(r) == 5}, done


def compare(path, found, want):
    for op, (weight, flops) in want.items():
        if op not in found:
            raise AssertionError(f"{path}: no operator {op} among {list(found)[:9]}")
        if found[op][1] != weight:
            raise AssertionError(f"{path}: {op} has {found[op][1]} bytes, expected {weight}")
        if flops is not None and found[op][2] != flops:
            raise AssertionError(f"{path}: {op} has {found[op][2]} FLOP, expected {flops}")
    extra = sum(f[1] for op, f in found.items() if op not in want)
    if extra:
        raise AssertionError(f"{path}: {extra} bytes of weights in other operators")


def gguf_round(program, folder, seed):
    r = random.Random(seed)
    keys, tensors = random_model(r)
    version, alignment = r.choice([2, 3]), r.choice([32, 64])
    if alignment != 32:
        keys["general.alignment"] = alignment
    context = r.choice([256, 1000, 4096])
    parts = r.choice([1, 1, 3])
    path = folder / f"m{seed}.gguf"
    if parts > 1:
        path = folder / f"m{seed}-00001-of-00003.gguf"
    for k in range(parts):
        mine = tensors[k::parts]
        own = dict(keys if k == 0 else {})
        own.setdefault("general.alignment", alignment)
        if parts > 1:
            own |= {"split.no": k, "split.count": parts, "split.tensors.count": len(tensors)}
        header, data = gguf_bytes(own, mine, version, alignment)
        name = path if k == 0 else folder / f"m{seed}-{k + 1:05d}-of-00003.gguf"
        with open(name, "wb") as f:
            f.write(header)
            if r.random() < 0.8:  # else the header alone
                f.truncate(len(header) + data)
    seen, again = {}, {}
    for name in sorted(folder.glob(f"m{seed}[-.]*")):
        k, t = parse_gguf(name.read_bytes()[:1 << 20])
        again = again or k
        seen |= t
    compare(path, run(program, path, 0, context)[0], expected(again, seen, context))
    if seed % 4 == 0:
        damage(program, path, r)
    for name in folder.glob(f"m{seed}[-.]*"):
        name.unlink()


def damage(program, path, r):
    data = bytearray(path.read_bytes()[:4096])
    for _ in range(r.randint(1, 4)):
        data[r.randrange(len(data))] = r.choice([0, 1, 0x7F, 0x80, 0xFF, r.randrange(256)])
    path.write_bytes(data[:r.choice([len(data), r.randrange(len(data))])])
    _, done = run(program, path)
    if done.returncode == 3 and len(done.stdout.splitlines()) != 1:
        raise AssertionError(f"{path}: more than one line of error")


def safetensors_round(program, folder, seed):
    r = random.Random(seed)
    hidden, heads, head, ff, vocab, layers = 64 * r.randint(1, 4), 4, 16, 128, 500, r.randint(2, 4)
    kv = r.choice([1, 2, 4])
    config = {"model_type": "llama", "hidden_size": hidden, "num_attention_heads": heads, "num_key_value_heads": kv,
              "head_dim": head, "intermediate_size": ff, "vocab_size": vocab, "num_hidden_layers": layers,
              "torch_dtype": "bfloat16"}
    shapes = {"model.embed_tokens.weight": [vocab, hidden], "model.norm.weight": [hidden], "lm_head.weight": [vocab, hidden]}
    for i in range(layers):
        b = f"model.layers.{i}."
        shapes |= {b + "input_layernorm.weight": [hidden], b + "self_attn.q_proj.weight": [heads * head, hidden],
                   b + "self_attn.k_proj.weight": [kv * head, hidden], b + "self_attn.v_proj.weight": [kv * head, hidden],
                   b + "self_attn.o_proj.weight": [hidden, heads * head], b + "post_attention_layernorm.weight": [hidden],
                   b + "mlp.gate_proj.weight": [ff, hidden], b + "mlp.up_proj.weight": [ff, hidden],
                   b + "mlp.down_proj.weight": [hidden, ff]}
    own = folder / f"s{seed}"
    own.mkdir()
    (own / "config.json").write_text(json.dumps(config))
    names, absent = sorted(shapes), r.random() < 0.3
    where, total = {}, 0
    for k in range(2):
        entries, at = {}, 0
        for name in names[k::2]:
            n = 2
            for d in shapes[name]:
                n *= d
            entries[name] = {"dtype": "BF16", "shape": shapes[name], "data_offsets": [at, at + n]}
            at += n
            where[name] = f"model-{k + 1:05d}-of-00002.safetensors"
        total += at
        header = json.dumps(entries).encode()
        if not (absent and k == 1):
            with open(own / f"model-{k + 1:05d}-of-00002.safetensors", "wb") as f:
                f.write(struct.pack("<Q", len(header)) + header)
                f.truncate(8 + len(header) + at)
    (own / "model.safetensors.index.json").write_text(json.dumps({"metadata": {"total_size": total}, "weight_map": where}))
    found, done = run(program, own / "model.safetensors.index.json", 0, 512)
    if done.returncode:
        raise AssertionError(f"{own}: {done.stdout}")
    for name, shape in shapes.items():
        n = 1
        for d in shape:
            n *= d
        got = found[name[:-len(".weight")]]
        if got[1] != 2 * n or (len(shape) == 2 and "embed" not in name and got[2] != 2 * n):
            raise AssertionError(f"{own}: {name}: {got}, expected {2 * n} bytes and {2 * n} FLOP")
    for i in range(layers):
        assert found[f"model.layers.{i}.attention"][1] == 512 * kv * head * 2 * 2, (own, i)
    assert run(program, own, 0, 512)[0] == found, "the folder and its index are one model"
    if absent:
        assert "1 of 2 files are absent" in done.stderr, done.stderr


def timed(program, folder):
    keys, tensors = random_model(random.Random(1))
    header, data = gguf_bytes(keys, tensors + [("blk.0.huge.weight", 8, (1 << 20, 1 << 18, 1))], 3, 32)
    with open(folder / "huge.gguf", "wb") as f:
        f.write(header)
        f.truncate(len(header) + gguf_bytes(keys, tensors + [("blk.0.huge.weight", 8, (1 << 20, 1 << 18, 1))], 3, 32)[1])
    size = os.path.getsize(folder / "huge.gguf")
    start = time.process_time() + sum(os.times()[2:4])
    run(program, folder / "huge.gguf")
    took = time.process_time() + sum(os.times()[2:4]) - start
    assert size > 250e9 and took < 2, (size, took)


def shared(program, folder):
    table = {"ggml-vocab-llama-spm.gguf": "holds no weights", "gguf-unknown-type.gguf": "type 43"}
    for path in sorted(folder.glob("*.gguf")):
        found, done = run(program, path)
        says = table.get(path.name)
        assert (says in done.stdout) if says else done.returncode == 0, (path, done.stdout)
    # 5 blocks, 512 x 64 twice, F32
    found, _ = run(program, folder / "stories260K.gguf", 0, 256)
    assert found["token_embd"][1] == found["output"][1] == 512 * 64 * 4
    assert found["blk.4.attention"][1] == 256 * 2 * 32 * 2
    with tempfile.TemporaryDirectory() as there:
        there = pathlib.Path(there)
        (there / "config.json").write_bytes((folder / "mixtral-8x22b-config.json").read_bytes())
        (there / "model.safetensors.index.json").write_bytes((folder / "mixtral-8x22b.index.json").read_bytes())
        found, done = run(program, there, 0, 256)
        assert "59 of 59 files are absent" in done.stderr, done.stderr
        caches = 56 * 256 * 8 * 128 * 2 * 2
        assert sum(f[1] for f in found.values()) == 281241268224 + caches  # the total_size of the index
        (there / "config.json").write_bytes((folder / "minicpm3-config.json").read_bytes())
        (there / "model.safetensors").write_bytes((folder / "minicpm3-shapes.safetensors").read_bytes())
        _, done = run(program, there / "model.safetensors")
        assert "by config.json" in done.stderr, done.stderr


def main():
    program = sys.argv[1]
    rounds = 20 if int(os.environ.get("SITU_TEST_SHARE", "100")) < 100 else 200
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for seed in range(rounds):
            gguf_round(program, folder, seed)
        for seed in range(rounds * 3 // 10):
            safetensors_round(program, folder, seed)
        timed(program, folder)
    if len(sys.argv) > 2 and os.path.isdir(sys.argv[2]):
        shared(program, pathlib.Path(sys.argv[2]))
    print(f"{rounds} GGUF and {rounds * 3 // 10} safetensors models agree")


if __name__ == "__main__":
    main()
