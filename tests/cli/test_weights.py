#!/usr/bin/env python3
"""Bytes of weights, held against what the constants of a file hold: a reader of its own sums them, XML by Python's
parser, protobuf by the wire format. Data of ../shared (environment SITU_SHARED) is needed; skips without it.

    test_weights.py SITU [NAME...]
"""
import sys
import xml.etree.ElementTree as xml

from test_cli import QUICK, SMALL, json, main, need, pathlib, rounds_of, situ, situ_json

# Bits of an element by the number that ONNX gives its type (TensorProto.DataType).
BITS = {1: 32, 2: 8, 3: 8, 4: 16, 5: 16, 6: 32, 7: 64, 9: 8, 10: 16, 11: 64, 12: 32, 13: 64, 14: 64, 15: 128, 16: 16,
        17: 8, 18: 8, 19: 8, 20: 8, 21: 4, 22: 4, 23: 4, 24: 8}


def of_ir(path):
    """Sizes of Const layers, and of the blobs that layers of old versions hold."""
    total = 0
    for layer in xml.parse(path).getroot().iter("layer"):
        data = layer.find("data")
        if layer.get("type") == "Const" and data is not None:
            total += int(data.get("size", 0))
        total += sum(int(blob.get("size", 0)) for blobs in layer.findall("blobs") for blob in blobs)
        for tag in ("weights", "biases"):
            total += sum(int(blob.get("size", 0)) for blob in layer.findall(tag))
    return total


def varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 127) << shift
        shift += 7
        at += 1
        if data[at - 1] < 128:
            return value, at


def fields(data):
    """(number, value) of a message; a value is an integer or bytes."""
    at = 0
    while at < len(data):
        tag, at = varint(data, at)
        kind = tag & 7
        if kind == 0:
            value, at = varint(data, at)
        elif kind == 2:
            length, at = varint(data, at)
            value, at = data[at:at + length], at + length
        else:
            width = 8 if kind == 1 else 4
            value, at = data[at:at + width], at + width
        yield tag >> 3, value


def of_tensor(data):
    """TensorProto: dims 1 (packed or not), data_type 2, string_data 6."""
    elements, bits, texts = 1, 0, 0
    for number, value in fields(data):
        if number == 1 and isinstance(value, int):
            elements *= value
        elif number == 1:
            at = 0
            while at < len(value):
                dim, at = varint(value, at)
                elements *= dim
        elif number == 2:
            bits = BITS.get(value, 0)
        elif number == 6:
            texts += len(value)
    return (elements * bits + 7) // 8


def of_graph(data):
    """GraphProto: node 1, initializer 5, sparse_initializer 15. NodeProto: op_type 4, attribute 5. AttributeProto: t 5,
    g 6, graphs 11, tensors 10."""
    total = 0
    for number, value in fields(data):
        if number == 5:
            total += of_tensor(value)
        elif number == 15:
            total += sum(of_tensor(part) for n, part in fields(value) if n in (1, 2))
        elif number == 1:
            node = list(fields(value))
            constant = any(n == 4 and v == b"Constant" for n, v in node)
            for attribute in (v for n, v in node if n == 5):
                parts = list(fields(attribute))
                total += sum(of_graph(v) for k, v in parts if k in (6, 11))
                if constant and not any(k == 5 for k, _ in parts):
                    total += sum({2: 4, 3: 8, 7: len(v) if k == 7 else 0}.get(k, 0) for k, v in parts)
                total += sum(of_tensor(v) for k, v in parts if constant and k == 5)
    return total


def of_onnx(path):
    """ModelProto: graph 7."""
    return sum(of_graph(value) for number, value in fields(path.read_bytes()) if number == 7)


# Files whose sum differs, and why.
MADE = """face_detection_adas_0001 TFBertForQuestionAnswering byte_sb_bidi_lstm light_bvlc_alexnet light_densenet121
    light_inception_v2 light_resnet50 light_squeezenet light_vgg19 nested_ifs""".split()  # by PriorBox, ConstantOfShape, Expand
UNREAD = """npu_loop npu_shape-of-gather-strided-slice-test gpt2_past mlm_bert_e2e qlstm_scan silero_vad_16k_op15
    stream_fsrcnn model_op_with_function_body subgraph_implicit_input""".split()  # constants that no operator reads, or only one that folds away
TWICE = ["custom_ops_local_function"]  # a function with constants, called twice
BAD = ["polygraphy_bad_graph"]  # is refused


def compare(paths, sum_of):
    wrong = []
    for path in paths:
        if path.stem in BAD:
            continue
        file, output = sum_of(path), situ_json("inspect", path)["weight_bytes"]
        more, less = path.stem in MADE + TWICE, path.stem in UNREAD
        if not (output > file if more else output < file if less else output == file):
            wrong.append(f"{path.name}: {output} bytes, its constants {file}")
    assert paths and not wrong, wrong


def test_weights_of_every_ir_are_the_bytes_of_its_constants():
    compare(sorted(need("data/openvino").glob("*.xml")), of_ir)


def test_weights_of_every_onnx_file_are_the_bytes_of_its_constants():
    files = sorted(need("data/onnx").glob("*.onnx")) + sorted(need("data/onnx-small").glob("*.onnx"))
    compare(files[::len(files) // rounds_of(len(files))], of_onnx)


# ---- compressed weights, by hand ----


def dims(*sizes):
    return "".join(f"<dim>{n}</dim>" for n in sizes)


def layer(number, name, kind, inputs, shape, precision="FP32", data=""):
    """A layer with one output at port 9; inputs are (layer, shape)."""
    ports = "".join(f'<port id="{i}">{dims(*of)}</port>' for i, (_, of) in enumerate(inputs))
    ends = "" if kind == "Result" else f'<output><port id="9" precision="{precision}">{dims(*shape)}</port></output>'
    edges = "".join(f'<edge from-layer="{made}" from-port="9" to-layer="{number}" to-port="{i}"/>'
                    for i, (made, _) in enumerate(inputs))
    return f'<layer id="{number}" name="{name}" type="{kind}">{data}<input>{ports}</input>{ends}</layer>', edges


def constant(number, precision, size, *shape):
    return layer(number, f"k{number}", "Const", [], shape, precision, f'<data offset="0" size="{size}"/>')


def read_ir(*layers):
    pathlib.Path("made.xml").write_text('<net name="made" version="11"><layers>' + "".join(text for text, _ in layers) +
                                        "</layers><edges>" + "".join(edges for _, edges in layers) + "</edges></net>")
    found = situ_json("inspect", "made.xml")
    return found["weight_bytes"], {k["kind"]: k for k in found["kinds"]}


def compressed(precision, size, groups):
    """x [4, 64] times 64 x 32 weights of 8 or 4 bits with scales and zero points for each of `groups` x 32."""
    packed, full, scales = (groups, 64 // groups, 32), (64, 32), (groups, 1, 32)
    return read_ir(
        layer(0, "x", "Parameter", [], (4, 64)),
        constant(1, precision, size, *packed),
        layer(2, "up", "Convert", [(1, packed)], packed, "FP16"),
        constant(3, precision, groups * 32 * size // 2048, *scales),
        layer(4, "zero", "Convert", [(3, scales)], scales, "FP16"),
        layer(5, "less", "Subtract", [(2, packed), (4, scales)], packed, "FP16"),
        constant(6, "FP16", groups * 32 * 2, *scales),
        layer(7, "scaled", "Multiply", [(5, packed), (6, scales)], packed, "FP16"),
        constant(8, "I64", 16, 2),
        layer(10, "flat", "Reshape", [(7, packed), (8, (2,))], full, "FP16"),
        layer(11, "float", "Convert", [(10, full)], full),
        layer(12, "mul", "MatMul", [(0, (4, 64)), (11, full)], (4, 32)),
        layer(13, "end", "Result", [(12, (4, 32))], ()))


def test_weights_of_8_bits_behind_convert_subtract_multiply_take_a_byte_each():
    total, kinds = compressed("U8", 64 * 32, 1)
    expected = 64 * 32 + 32 + 32 * 2 + 16  # weights, zero points, scales, the new shape
    assert total == kinds["MatMul"]["weight_bytes"] == expected, (total, kinds)
    assert kinds["MatMul"]["moved_bytes"] == expected + 4 * (4 * 64 + 4 * 32)  # once, and both activations in F32


def test_weights_of_4_bits_in_groups_take_half_a_byte_each():
    total, _ = compressed("U4", 64 * 32 // 2, 4)
    assert total == 64 * 32 // 2 + 4 * 32 // 2 + 4 * 32 * 2 + 16, total


def test_a_constant_with_more_elements_than_its_sources_takes_its_own_bytes():
    total, _ = read_ir(layer(0, "x", "Parameter", [], (64, 32)),
                       constant(1, "FP32", 4, 1), constant(2, "I64", 16, 2),
                       layer(3, "wide", "Broadcast", [(1, (1,)), (2, (2,))], (64, 32)),
                       layer(4, "sum", "Add", [(0, (64, 32)), (3, (64, 32))], (64, 32)),
                       layer(5, "end", "Result", [(4, (64, 32))], ()))
    assert total == 64 * 32 * 4, total


# ---- another precision ----


def test_a_precision_counts_floating_types_and_leaves_what_is_compressed():
    for model in ("builtin:bert-base", need("data/openvino/all_mpnet_base_v2.xml"), need("data/onnx/fns_candy.onnx")):
        full, half, whole = (situ_json("inspect", model, "--precision", p)["weight_bytes"] for p in ("f32", "f16", "i8"))
        assert full == situ_json("inspect", model)["weight_bytes"]
        few = 0.001 * full + 64  # tables of integers, and constants whose values shapes depend on
        assert abs(full - 2 * half) <= few and abs(full - 4 * whole) <= 3 * few, (model, full, half, whole)
    compressed("U8", 64 * 32, 1)
    packed, half = (situ_json("inspect", "made.xml", "--precision", p)["weight_bytes"] for p in ("f32", "f16"))
    assert packed - half == 32 * 2, (packed, half)  # 32 scales, stored in F16, in F32 twice as large


def test_a_plan_keeps_its_precision_and_integers_go_where_they_can():
    situ("place", SMALL, *QUICK, "--precision", "bf16", "-o", "plan.json")
    assert json.loads(pathlib.Path("plan.json").read_text())["instance"]["precision"] == "bf16"
    situ("check", "plan.json")
    devices = [{"name": "cpu", "base": "cpu"},
               {"name": "npu", "memory_gb": 8, "memory_gb_per_s": 60, "peak_tflops": {"i8": 32}}]
    pathlib.Path("npu.json").write_text(json.dumps({"situ_platform": 1, "devices": devices,
                                                    "links": [{"from": "cpu", "to": "npu", "gb_per_s": 60}]}))
    lone = ["--platform", "npu.json", "--solver", "single"]
    situ("place", SMALL, *lone, "--unused", "cpu", "--precision", "f16", code=4)
    situ("place", SMALL, *lone, "--unused", "cpu", "--precision", "i8")


if __name__ == "__main__":
    sys.exit(main(globals()))
