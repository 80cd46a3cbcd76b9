#!/usr/bin/env python3
"""Random operators through situ's inference and through that of the onnx package: shapes must agree where both infer.

Usage: ops_against_onnx.py PROGRAM [COUNT [SEED]], PROGRAM being ops_lines. Exits with 77 when onnx is not installed.

Left out, because situ follows the text of the standard where onnx 1.12 does not: frames of STFT, SAME padding of
ConvTranspose, and windows of pools in ceil mode that would start in the trailing pad.
"""
import os
import random
import subprocess
import sys
from collections import Counter

SYSTEM_PYTHON = "/usr/bin/python3"  # carries the distribution's package where another python comes first
try:
    import onnx
    from onnx import helper, shape_inference
except ImportError:
    if os.path.exists(SYSTEM_PYTHON) and os.path.realpath(sys.executable) != os.path.realpath(SYSTEM_PYTHON):
        os.execv(SYSTEM_PYTHON, [SYSTEM_PYTHON] + sys.argv)
    print("onnx is not installed")
    sys.exit(77)

F32, U8, I8, I64, BOOL = 1, 2, 3, 7, 9
NAMES = {1: "f32", 2: "u8", 3: "i8", 6: "i32", 7: "i64", 9: "bool", 10: "f16", 11: "f64"}
R = random.Random()


def whole(a, b):
    return R.randint(a, b)


def several(n, a, b):
    return [whole(a, b) for _ in range(n)]


def dims(rank, low=1, high=6, unknown=0.1):
    return [-1 if R.random() < unknown else whole(low, high) for _ in range(rank)]


def shrunk(shape):
    """A shape that broadcasts to this one."""
    return [1 if R.random() < 0.3 else d for d in shape][whole(0, len(shape)):]


def data(shape, dtype=F32):
    return dtype, shape, None


def const(values, shape=None, dtype=I64):
    return dtype, [len(values)] if shape is None else shape, values


def axis_of(shape):
    return whole(-len(shape), len(shape) - 1)


def window(rank, auto=("SAME_UPPER", "SAME_LOWER", "VALID", "NOTSET")):
    attrs = {}
    if R.random() < 0.5:
        attrs["strides"] = several(rank, 1, 3)
    if R.random() < 0.3:
        attrs["dilations"] = several(rank, 1, 2)
    if R.random() < 0.4:
        attrs["pads"] = several(2 * rank, 0, 2)
    elif R.random() < 0.5:
        attrs["auto_pad"] = R.choice(auto)
    return attrs


# Each case: kind, inputs, number of outputs, operator set, attributes.
def elementwise():
    d = dims(whole(0, 4))
    return R.choice(["Add", "Mul", "Max", "Pow"]), [data(d), data(shrunk(d) if R.random() < 0.9 else dims(2))], 1, 14, {}


def where():
    d = dims(whole(1, 3))
    return "Where", [data(shrunk(d), BOOL), data(d), data(shrunk(d))], 1, 16, {}


def matmul():
    d, k = dims(2), whole(1, 3)
    last = k if R.random() < 0.9 else 3
    return "MatMul", [data(shrunk(d) + [whole(1, 3), k]), data(shrunk(d) + [last, whole(1, 3)])], 1, 13, {}


def gemm():
    m, n, k, a, b = whole(1, 4), whole(1, 4), whole(1, 4), whole(0, 1), whole(0, 1)
    ins = [data([k, m] if a else [m, k]), data([n, k] if b else [k, n]), data([n])]
    return "Gemm", ins, 1, 13, {"transA": a, "transB": b}


def einsum():
    equation = R.choice(["ij,jk->ik", "bij,bjk->bik", "...ij,...jk->...ik", "ij->ji", "ii->i", "i,j->ij", "ij->"])
    size = {c: whole(1, 4) for c in "bijk"}
    terms = equation.split("->")[0].split(",")
    ins = [data(([2, 3] if "." in t else []) + [size[c] for c in t if c != "."]) for t in terms]
    return "Einsum", ins, 1, 12, {"equation": equation}


def conv():
    s, group, c = whole(1, 3), R.choice([1, 1, 2]), whole(1, 3)
    ins = [data([whole(1, 3), c * group] + dims(s, 5, 12)), data([group * whole(1, 3), c] + several(s, 1, 3))]
    return "Conv", ins, 1, 11, dict(window(s), group=group)


def conv_transpose():
    s, group, c = whole(1, 3), R.choice([1, 1, 2]), whole(1, 3)
    attrs = dict(window(s, ["VALID", "NOTSET"]), group=group)
    if R.random() < 0.3:
        attrs["output_padding"] = several(s, 0, 1)
    ins = [data([whole(1, 3), c * group] + dims(s, 5, 12)), data([group * c, whole(1, 3)] + several(s, 1, 3))]
    return "ConvTranspose", ins, 1, 11, attrs


def pool():
    s, kind = whole(1, 3), R.choice(["MaxPool", "AveragePool", "LpPool"])
    attrs = dict(window(s), kernel_shape=several(s, 3, 4))
    if kind != "MaxPool":
        attrs.pop("dilations", None)
    if kind != "LpPool" and not attrs.keys() & {"pads", "auto_pad"}:
        attrs["ceil_mode"] = whole(0, 1)
    return kind, [data([whole(1, 3), 2] + dims(s, 9, 14))], 2 if kind == "MaxPool" else 1, 11, attrs


def global_pool():
    return R.choice(["GlobalAveragePool", "GlobalMaxPool"]), [data(dims(whole(3, 5)))], 1, 1, {}


def quantised_conv():
    scale = data([])
    ins = [data([1, 3, 8, 8], U8), scale, data([], U8), data([4, 3, whole(1, 3), whole(1, 3)], I8), scale,
           data([], I8), scale, data([], U8)]
    return "QLinearConv", ins, 1, 10, window(2)


def reshape():
    shape = [R.choice([0, -1, 1, 2, 3, 4, 6]) for _ in range(whole(0, 4))]
    return "Reshape", [data(dims(whole(0, 4))), const(shape)], 1, 13, {}


def slice_():
    d = dims(whole(1, 4))
    axes = R.sample(range(len(d)), whole(1, len(d)))
    n = len(axes)
    ends = [R.choice([-9, 2, 3, 5, 2**63 - 1, -(2**63)]) for _ in axes]
    steps = [R.choice([1, 1, 2, -1, -2]) for _ in axes]
    return "Slice", [data(d), const(several(n, -8, 8)), const(ends), const(axes), const(steps)], 1, 13, {}


def gather():
    d = dims(whole(1, 4))
    return "Gather", [data(d), data(dims(whole(0, 2)), I64)], 1, 13, {"axis": axis_of(d)}


def gather_nd():
    d = dims(whole(1, 4))
    return "GatherND", [data(d), data(dims(whole(0, 2), unknown=0) + [whole(1, len(d))], I64)], 1, 13, {}


def transpose():
    d = dims(whole(1, 4))
    perm = list(range(len(d)))
    R.shuffle(perm)
    return "Transpose", [data(d)], 1, 13, {"perm": perm} if R.random() < 0.8 else {}


def concat():
    d = dims(whole(1, 4))
    axis, other = axis_of(d), list(d)
    other[axis] = whole(1, 5)
    return "Concat", [data(d), data(other)], 1, 13, {"axis": axis}


def split():
    d = dims(whole(1, 4))
    axis = axis_of(d)
    d[axis] = 6
    return "Split", [data(d)] + ([const([1, 2, 3])] if R.random() < 0.5 else []), 3, 13, {"axis": axis}


def pad():
    d = dims(whole(1, 4))
    return "Pad", [data(d), const(several(2 * len(d), 0, 3))], 1, 13, {}


def tile():
    d = dims(whole(1, 4))
    return "Tile", [data(d), const(several(len(d), 0, 3))], 1, 13, {}


def expand():
    d = dims(whole(1, 4))
    return "Expand", [data(d), const([x if x > 0 and R.random() < 0.5 else 1 for x in d])], 1, 13, {}


def unsqueeze():
    d, n = dims(whole(0, 4)), whole(1, 2)
    return "Unsqueeze", [data(d), const(R.sample(range(len(d) + n), n))], 1, 13, {}


def squeeze():
    d = dims(whole(1, 4))
    d[whole(0, len(d) - 1)] = 1
    axes = [i for i, x in enumerate(d) if x == 1]
    return "Squeeze", [data(d)] + ([const(axes)] if R.random() < 0.7 else []), 1, 13, {}


def flatten():
    d = dims(whole(0, 4))
    return "Flatten", [data(d)], 1, 13, {"axis": whole(-len(d), len(d))}


def shape():
    return "Shape", [data(dims(whole(1, 3)))], 1, 15, {"start": whole(-5, 5), "end": whole(-5, 5)}


def reduce():
    d = dims(whole(1, 4))
    attrs = {"keepdims": whole(0, 1)}
    if R.random() < 0.8:
        attrs["axes"] = R.sample(range(len(d)), whole(1, len(d)))
    return R.choice(["ReduceMean", "ReduceMax", "ReduceL2", "ReduceProd"]), [data(d)], 1, 13, attrs


def reduce_sum():
    d = dims(whole(1, 4))
    ins = [data(d)] + ([const([axis_of(d)])] if R.random() < 0.7 else [])
    return "ReduceSum", ins, 1, 13, {"keepdims": whole(0, 1), "noop_with_empty_axes": whole(0, 1)}


def arg():
    d = dims(whole(1, 4))
    return R.choice(["ArgMax", "ArgMin"]), [data(d)], 1, 13, {"axis": axis_of(d), "keepdims": whole(0, 1)}


def topk():
    d = dims(whole(1, 4), 4, 8)
    return "TopK", [data(d), const([whole(1, 4)])], 2, 11, {"axis": axis_of(d)}


def one_hot():
    d = dims(whole(1, 3))
    return "OneHot", [data(d, I64), const([whole(1, 5)], []), data([2])], 1, 11, {"axis": whole(-len(d) - 1, len(d))}


def blocks():
    if R.random() < 0.5:
        return "DepthToSpace", [data([whole(1, 3), 4 * whole(1, 3)] + dims(2))], 1, 13, {"blocksize": 2}
    return "SpaceToDepth", [data([1, whole(1, 3), 2 * whole(1, 3), 2 * whole(1, 3)])], 1, 13, {"blocksize": 2}


def resize():
    if R.random() < 0.5:
        scales = [1.0, 1.0, R.choice([0.5, 2.0, 1.3]), R.choice([0.5, 2.0, 0.7])]
        return "Resize", [data(dims(4)), None, const(scales, dtype=F32)], 1, 13, {}
    return "Resize", [data(dims(4)), None, None, const(several(4, 1, 9))], 1, 13, {}


def range_():
    ins = [const([whole(-5, 5)], []), const([whole(-5, 15)], []), const([R.choice([1, 2, 3, -1, -3])], [])]
    return "Range", ins, 1, 11, {}


def recurrent():
    t, b, i, h = several(4, 1, 4)
    direction = R.choice(["forward", "reverse", "bidirectional"])
    n = 2 if direction == "bidirectional" else 1
    kind, gates = R.choice([("LSTM", 4), ("GRU", 3), ("RNN", 1)])
    layout = whole(0, 1)
    ins = [data([b, t, i] if layout else [t, b, i]), data([n, gates * h, i]), data([n, gates * h, h])]
    return kind, ins, 3 if kind == "LSTM" else 2, 14, {"hidden_size": h, "direction": direction, "layout": layout}


def fill():
    n = whole(0, 4)
    return "ConstantOfShape", [const(several(n, 0, 4))], 1, 9, {}


def loss():
    d = dims(whole(2, 4))
    reduction = R.choice(["none", "mean", "sum"])
    return "SoftmaxCrossEntropyLoss", [data(d), data([d[0]] + d[2:], I64)], 2, 13, {"reduction": reduction}


def boxes():
    n = whole(1, 5)
    attrs = {"output_height": whole(1, 5), "output_width": whole(1, 5)}
    return "RoiAlign", [data(dims(4)), data([n, 4]), data([n], I64)], 1, 16, attrs


CASES = [elementwise, where, matmul, gemm, einsum, conv, conv_transpose, pool, global_pool, quantised_conv, reshape,
         slice_, gather, gather_nd, transpose, concat, split, pad, tile, expand, unsqueeze, squeeze, flatten, shape,
         reduce, reduce_sum, arg, topk, one_hot, blocks, resize, range_, recurrent, fill, loss, boxes]


def by_onnx(kind, ins, n_outputs, opset, attrs):
    """Types and shapes of the outputs, or None when onnx refuses. Unknown shapes are None, unknown dimensions -1."""
    inputs, initializers, names = [], [], []
    for k, given in enumerate(ins):
        names.append("" if given is None else f"x{k}")
        if given is None:
            continue
        dtype, shape, values = given
        if values is None:
            symbols = [f"u{k}_{i}" if d < 0 else d for i, d in enumerate(shape)]
            inputs.append(helper.make_tensor_value_info(names[k], dtype, symbols))
        else:
            initializers.append(helper.make_tensor(names[k], dtype, shape, values))
    outputs = [onnx.ValueInfoProto(name=f"y{k}") for k in range(n_outputs)]
    node = helper.make_node(kind, names, [o.name for o in outputs], **attrs)
    graph = helper.make_graph([node], "g", inputs, outputs, initializers)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])
    try:
        inferred = shape_inference.infer_shapes(model, strict_mode=True, data_prop=True)
    except Exception:  # the package raises whatever its C++ threw
        return None
    found = []
    for out in inferred.graph.output:
        t = out.type.tensor_type
        known = t.HasField("shape")
        shape = [d.dim_value if d.HasField("dim_value") else -1 for d in t.shape.dim] if known else None
        found.append((NAMES.get(t.elem_type), shape))
    return found


def text_of(value):
    if isinstance(value, str):
        return f"'{value}'"
    return f"[{','.join(map(str, value))}]" if isinstance(value, list) else str(value)


def line_of(kind, ins, n_outputs, opset, attrs):
    tensors = []
    for given in ins:
        if given is None:
            tensors.append("-")
            continue
        dtype, shape, values = given
        text = f"{NAMES[dtype]}[{','.join('?' if d < 0 else str(d) for d in shape)}]"
        tensors.append(text if values is None else text + "{" + ",".join(map(str, values)) + "}")
    words = " ".join(f"{name}={text_of(value)}" for name, value in attrs.items())
    return f"{kind}|{opset}|{words}|{' '.join(tensors)}|{n_outputs}"


def read_answer(text):
    found = []
    for word in text.split():
        dtype, star, rest = (word[:-1], True, "") if word.endswith("*") else (word.split("[")[0], False, word)
        inside = rest[len(dtype) + 1:-1]
        found.append((dtype, None if star else [int(d) for d in inside.split(",")] if inside else []))
    return found


def agree(ours, theirs):
    for (our_type, our_shape), (their_type, their_shape) in zip(ours, theirs):
        if their_type and our_type != their_type:
            return False
        if their_shape is None:
            continue
        if our_shape is None or len(our_shape) != len(their_shape):
            return False
        if any(their >= 0 and our != their for our, their in zip(our_shape, their_shape)):
            return False
    return True


def main():
    program, count, seed = sys.argv[1], int((sys.argv + [None, 3000])[2] or 3000), int((sys.argv[3:] or [1])[0])
    R.seed(seed)
    cases = [R.choice(CASES)() for _ in range(count)]
    lines = [line_of(*case) for case in cases]
    run = subprocess.run([program], input="\n".join(lines) + "\n", capture_output=True, text=True, check=True)
    answers = run.stdout.splitlines()
    assert len(answers) == count, "ops_lines answered less than it was asked"
    both, failures, refused = 0, 0, Counter()
    for case, line, answer in zip(cases, lines, answers):
        theirs = by_onnx(*case)
        if answer.startswith("BAD"):
            refused[case[0]] += theirs is not None
            # onnx 1.12 does not look whether numbers of elements fit; nothing else may be refused here alone.
            if theirs is not None and case[0] != "Reshape":
                print(f"{line}\n  refused: {answer}; onnx: {theirs}")
                failures += 1
        elif theirs is not None:
            both += 1
            if not agree(read_answer(answer), theirs):
                print(f"{line}\n  situ: {answer}\n  onnx: {theirs}")
                failures += 1
    print(f"{count} operators, {both} inferred by both, {failures} differ; refused by situ alone: {dict(refused)}")
    return 1 if failures or both < count // 2 else 0


if __name__ == "__main__":
    sys.exit(main())
