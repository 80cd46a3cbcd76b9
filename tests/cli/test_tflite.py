#!/usr/bin/env python3
"""TFLite files, written by hand: shapes, FLOPs and bytes by arithmetic, what is unknown, and what is refused. With the package
ai_edge_litert its interpreter reads the same files and must find the same shapes.

    test_tflite.py SITU [NAME...]
"""
import json
import math
import pathlib
import random
import subprocess
import sys

from test_cli import SITU, Skip, environment, main, rounds_of, situ, situ_json
from tflite_writer import F16, F32, I8, I32, Model

SAME, VALID = 0, 1


def small():
    """A picture of 32 x 32: convolution of stride 2, depthwise, 1 x 1, sum, mean pooling, a matrix, softmax."""
    m = Model()
    x = m.tensor([1, 32, 32, 3], name="image")
    weights = lambda *shape: m.tensor(shape, data=bytes(4 * math.prod(shape)))
    a = m.tensor([1, 16, 16, 8], name="net/stem")
    m.operator(3, [x, weights(8, 3, 3, 3), weights(8)], [a], {0: ("b", SAME), 1: ("i", 2), 2: ("i", 2), 3: ("b", 1)}, 1)
    b = m.tensor([1, 16, 16, 8], name="net/depthwise")
    m.operator(4, [a, weights(1, 3, 3, 8), weights(8)], [b], {0: ("b", SAME), 1: ("i", 1), 2: ("i", 1), 3: ("i", 1), 4: ("b", 3)}, 2)
    c = m.tensor([1, 16, 16, 8], name="net/point")
    m.operator(3, [b, weights(8, 1, 1, 8), weights(8)], [c], {0: ("b", SAME), 1: ("i", 1), 2: ("i", 1)}, 1)
    d = m.tensor([1, 16, 16, 8], name="net/add")
    m.operator(0, [a, c], [d], {0: ("b", 0)}, 11)
    e = m.tensor([1, 8, 8, 8], name="net/pool")
    m.operator(1, [d], [e], {0: ("b", VALID), 1: ("i", 2), 2: ("i", 2), 3: ("i", 2), 4: ("i", 2)}, 5)
    f = m.tensor([1, 512], name="net/flat")
    m.operator(22, [e, m.tensor([2], I32, (1).to_bytes(4, "little") + (512).to_bytes(4, "little"))], [f])
    g = m.tensor([1, 10], name="net/logits")
    m.operator(9, [f, weights(10, 512), weights(10)], [g], {0: ("b", 0)}, 8)
    h = m.tensor([1, 10], name="net/softmax")
    m.operator(25, [g], [h], {}, 9)
    return m, [x], [h]


def save(made, name="m.tflite"):
    m, inputs, outputs = made
    pathlib.Path(name).write_bytes(m.bytes(inputs, outputs))
    return name


def kinds(path, *options):
    said = situ_json("inspect", path, *options)
    return said, {row["kind"]: (row["count"], row["flops"]) for row in said["kinds"]}


def test_work_follows_from_shapes():
    said, found = kinds(save(small()))
    place = 16 * 16 * 8
    conv = place * (2 * 27 + 1) + place * (2 * 9 + 1) + place * (2 * 8 + 1)
    assert found["Conv"] == (3, conv), (found, conv)
    assert found["Gemm"] == (1, 10 * (2 * 512 + 1)) and found["Add"] == (1, place) and found["AveragePool"] == (1, 8 * 8 * 8 * 4), found
    assert found["Softmax"] == (1, 50) and found["Reshape"] == (1, 0), found
    weights = 4 * (8 * 27 + 8 + 9 * 8 + 8 + 64 + 8 + 5120 + 10) + 8
    assert (said["total"]["weight_bytes"], said["unknown"], said["model"], said["reader"]) == (weights, [], "main", "tflite"), said
    assert said["tensors"] == 8 and said["operators"] == 8, said


def test_a_plan_names_operators_by_their_outputs():
    save(small())
    situ("place", "m.tflite", "--platform", "cpu+rtx3090", "--steps", "50", "-o", "plan.json")
    situ("check", "plan.json")
    names = json.dumps(json.loads(pathlib.Path("plan.json").read_text()))
    for name in ("net/stem", "net/logits"):
        assert name in names, names


def test_the_interpreter_finds_the_same_shapes():
    try:
        from ai_edge_litert.interpreter import Interpreter
    except ImportError as absent:
        raise Skip("ai_edge_litert is absent") from absent
    save(small())
    reader = Interpreter(model_path="m.tflite")
    reader.allocate_tensors()
    theirs = {t["name"]: [int(n) for n in t["shape"]] for t in reader.get_tensor_details()}
    situ("place", "m.tflite", "--platform", "cpu", "--steps", "5", "-o", "plan.json")
    for name in ("net/stem", "net/depthwise", "net/point", "net/add", "net/pool", "net/flat", "net/logits", "net/softmax"):
        assert name in theirs, theirs
    assert theirs["net/pool"] == [1, 8, 8, 8] and theirs["net/logits"] == [1, 10], theirs


def one(code, shapes, out, options=None, option_type=0, kind=F32):
    """A single operator: inputs of these shapes, all computed."""
    m = Model()
    inputs = [m.tensor(shape, kind) for shape in shapes]
    y = m.tensor(out, kind, name="y")
    m.operator(code, inputs, [y], options, option_type)
    return m, inputs, [y]


def test_single_operators():
    for code, shapes, out, kind, flops in ((126, [[2, 5, 7], [2, 7, 3]], [2, 5, 3], "MatMul", 2 * 2 * 5 * 7 * 3), (14, [[4, 6]], [4, 6], "Sigmoid", 96),
                                           (39, [[2, 3]], [3, 2], "Transpose", 0), (2, [[2, 3], [2, 3]], [4, 3], "Concat", 0),
                                           (114, [[8, 8]], [8, 8], "QuantizeLinear", 192), (117, [[10]], [10], "HardSwish", 40),
                                           (23, [[1, 4, 4, 2]], [1, 8, 8, 2], "Resize", 8 * 128), (62, [[5], [5]], [5], "GreaterOrEqual", 5),
                                           (128, [[4, 4]], [4, 4], "CumSum", 16), (105, [[3, 2]], [3, 2], "Slice", 0), (111, [[6]], [6], "Elu", 24)):
        said, found = kinds(save(one(code, shapes, out)))
        assert found == {kind: (1, flops)} and said["unknown"] == [], (code, found, said["unknown"])
    m = Model()
    x, y = m.tensor([1, 4, 4, 8]), m.tensor([1, 8, 8, 6], name="y")
    m.operator(67, [m.tensor([4], I32, bytes(16)), m.tensor([6, 3, 3, 8], data=bytes(4 * 432)), x], [y])
    assert kinds(save((m, [x], [y])))[1] == {"ConvTranspose": (1, 2 * 4 * 4 * 8 * 6 * 9)}


def test_types_and_dequantised_constants():
    m = Model()
    x, w, wide, y = m.tensor([1, 64]), m.tensor([32, 64], F16, bytes(4096)), m.tensor([32, 64]), m.tensor([1, 32], name="y")
    m.operator(6, [w], [wide])
    m.operator(9, [x, wide, -1], [y], {0: ("b", 0)}, 8)
    said, found = kinds(save((m, [x], [y])))
    assert found == {"Gemm": (1, 2 * 32 * 64)} and said["total"]["weight_bytes"] == 4096, said
    m = Model()  # sparse weights of half precision, in full and then wide: held in full, in half precision
    x, w, full, wide, y = m.tensor([1, 64]), m.tensor([32, 64], F16, bytes(600)), m.tensor([32, 64], F16), m.tensor([32, 64]), m.tensor([1, 32], name="y")
    m.operator(124, [w], [full])
    m.operator(6, [full], [wide])
    m.operator(9, [x, wide, -1], [y], {0: ("b", 0)}, 8)
    said, found = kinds(save((m, [x], [y])))
    assert found == {"Gemm": (1, 2 * 32 * 64)} and (said["total"]["weight_bytes"], said["unknown"]) == (4096, []), said
    m = Model()
    x, y = m.tensor([1, 64], I8), m.tensor([1, 32], I8, name="y")
    m.operator(9, [x, m.tensor([32, 64], I8, bytes(2048)), m.tensor([32], I32, bytes(128))], [y], {0: ("b", 0)}, 8)
    said = situ_json("inspect", save((m, [x], [y])))
    assert said["total"]["weight_bytes"] == 2048 + 128, said
    wide = situ_json("inspect", "m.tflite", "--platform", "rtx3090")
    assert wide["unknown"] == []


def test_what_is_unknown():
    assert [(row["kind"], row["subject"]) for row in situ_json("inspect", save(one(16, [[4, 4]], [4, 4])))["unknown"]] == [("kind", "tflite:16")]
    m = Model()
    x, y = m.tensor([4, 4]), m.tensor([4, 4], name="y")
    m.operator(32, [x], [y], custom="Frobnicate")
    assert [row["subject"] for row in situ_json("inspect", save((m, [x], [y])))["unknown"]] == ["tflite:Frobnicate"]
    m = Model()
    x, y = m.tensor([1, 1, 4], signature=[-1, -1, 4]), m.tensor([1, 1, 4], name="y")
    m.operator(19, [x], [y])
    assert [(row["kind"], row["subject"]) for row in situ_json("inspect", save((m, [x], [y])))["unknown"]] == [("size", "t0[1]")]
    m.tensors[x][7] = [-1, 1, 4]
    assert situ_json("inspect", save((m, [x], [y])))["unknown"] == []  # a batch of one


def test_a_file_that_names_one_list_many_times_takes_no_more_memory_than_its_size():
    """A million operators, all the same table, whose inputs and outputs are one list of a hundred thousand."""
    save(small())
    made = bytearray(pathlib.Path("m.tflite").read_bytes())
    number = lambda at, size=4: int.from_bytes(made[at:at + size], "little")
    field = lambda table, index: table + number(table - number(table) + 4 + 2 * index, 2)
    follow = lambda at: at + number(at)
    words = lambda *values: b"".join(value.to_bytes(4, "little") for value in values)
    made += bytes(-len(made) % 4)
    operators, start, n, table = field(follow(follow(field(follow(0), 2)) + 4), 3), len(made), 1000000, len(made) + 4 * 1000001 + 12
    made[operators:operators + 4] = words(start - operators)
    made += words(n, *(table - start - 4 - 4 * k for k in range(n)))
    made += b"".join(value.to_bytes(2, "little") for value in (10, 16, 4, 8, 12, 0)) + words(12, 0, 8, 4, 100000) + bytes(400000)
    pathlib.Path("m.tflite").write_bytes(made)
    situ("inspect", "m.tflite", code=3, err="is not a valid TFLite file")


def test_harmful_files_are_refused_or_read():
    """Cut off, and with changed bytes: one line, or a graph."""
    data = pathlib.Path(save(small())).read_bytes()
    draw = random.Random(5)
    for k in range(rounds_of(200)):
        changed = bytearray(data)
        for _ in range(draw.randint(1, 6)):
            at = draw.randrange(8, len(changed) if k % 2 else 900)
            changed[at] = draw.choice([0, 1, 127, 128, 255, draw.randrange(256)])
        pathlib.Path("bad.tflite").write_bytes(changed[:draw.randrange(16, len(changed))] if k % 5 == 0 else changed)
        done = subprocess.run([SITU, "inspect", "bad.tflite"], capture_output=True, text=True, timeout=60, env=environment(), errors="replace")
        assert done.returncode in (0, 3), (k, done.returncode, done.stderr)
        assert done.returncode == 0 or len(done.stderr.splitlines()) == 1, (k, done.stderr)
    pathlib.Path("bad.tflite").write_bytes(data[:200])
    situ("inspect", "bad.tflite", code=3, err="is not a valid TFLite file, or cut off")
    situ("inspect", save(small()), "--prompt", "5", code=2)


if __name__ == "__main__":
    sys.exit(main(globals()))
