#!/usr/bin/env python3
"""Makes the seeds of the fuzzer anew: make_corpus.py FOLDER. Each is small and walks one path of a reader."""
import json
import pathlib
import struct
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lab"))
from onnx_writer import BOOL, F32, I64, field, fields, function, graph, model, nested, node, one_node, tensor, value
from onnx_writer import whole_numbers
from tflite_writer import Model


def onnx_seeds():
    x, y = value("x", [4]), value("y", [4])
    yield "chain", model(graph([node("Relu", ["x"], ["t"], "a"), node("Tanh", ["t"], ["y"], "b")], [x], [y]))
    yield "named-dimension", model(graph([node("Relu", ["x"], ["y"])], [value("x", ["batch", 3])], [value("y", ["batch", 3])]))
    yield "convolution", model(graph(
        [node("Conv", ["x", "w"], ["t"], "c", pads=[1, 1, 1, 1], strides=[2, 2]), node("MaxPool", ["t"], ["y"], "p", kernel_shape=[2, 2])],
        [value("x", [1, 2, 8, 8])], [value("y", ["n", 2, "h", "w"])], [tensor("w", [2, 2, 3, 3], F32, bytes(144))]))
    yield "computed-shape", model(graph(
        [node("Shape", ["x"], ["s"]), node("Gather", ["s", "zero"], ["n"], axis=0), node("Concat", ["n", "rest"], ["to"], axis=0),
         node("Reshape", ["x", "to"], ["y"])],
        [value("x", [2, 6])], [value("y", ["a", "b", "c"])], [whole_numbers("zero", [0]), whole_numbers("rest", [3, -1])]))
    yield "constant-of-shape", model(graph(
        [node("ConstantOfShape", ["s"], ["w"]), node("MatMul", ["x", "w"], ["y"])], [value("x", [2, 4])], [value("y", [2, 3])],
        [whole_numbers("s", [4, 3])]))
    yield "if-in-if", nested(3)
    body = graph([node("Relu", ["v"], ["w"]), node("Identity", ["go"], ["go2"])],
                 [value("i", [], I64), value("go", [], BOOL), value("v", [4])], [value("go2", [], BOOL), value("w", [4])])
    yield "loop", model(graph([node("Loop", ["trips", "", "x"], ["y"], "l", body=body)], [x], [y],
                              [tensor("trips", [], I64, struct.pack("<q", 5))]))
    step = graph([node("Add", ["h", "e"], ["h2"]), node("Identity", ["h2"], ["o"])], [value("h", [4]), value("e", [4])],
                 [value("h2", [4]), value("o", [4])])
    yield "scan", model(graph([node("Scan", ["x", "seq"], ["last", "y"], "s", body=step, num_scan_inputs=1)],
                              [x, value("seq", [7, 4])], [value("last", [4]), value("y", [7, 4])]))
    yield "function", model(graph([node("Twice", ["x"], ["y"], "f", "own")], [x], [y]),
                            [function("Twice", ["p"], ["q"], [node("Relu", ["p"], ["r"]), node("Tanh", ["r"], ["q"])])])
    yield "external", one_node("Add", [tensor("w", [4], F32, None, {"location": "w.bin", "offset": 0, "length": 16})], ("x", "w"))
    sparse = field(1, tensor("w", [2], F32, bytes(8))) + field(2, tensor("", [2], I64, struct.pack("<2q", 1, 3))) + fields(3, [4])
    yield "sparse", model(graph([node("Add", ["x", "w"], ["y"])], [x], [y]) + field(15, sparse))
    yield "quantised", model(graph(
        [node("QuantizeLinear", ["x", "s", "z"], ["q"]), node("DequantizeLinear", ["q", "s", "z"], ["y"])], [x], [y],
        [tensor("s", [], F32, bytes(4)), tensor("z", [], 2, b"\0")]))
    yield "recurrent", model(graph([node("LSTM", ["x", "w", "r"], ["y"], "l", hidden_size=3)], [value("x", [5, 1, 2])],
                                   [value("y", [5, 1, 1, 3])],
                                   [tensor("w", [1, 12, 2], F32, bytes(96)), tensor("r", [1, 12, 3], F32, bytes(144))]))
    yield "odd-kinds", model(graph(
        [node("Einsum", ["x", "x"], ["a"], equation="ij,jk->ik"), node("TopK", ["a", "k"], ["b", "i"]), node("NonZero", ["b"], ["c"]),
         node("Pad", ["b", "pads"], ["d"]), node("Slice", ["d", "zero", "k"], ["e"]), node("Resize", ["e", "", "", "size"], ["f"]),
         node("Own", ["f"], ["y"], domain="com.example")],
        [value("x", [3, 3])], [value("y", [])],
        [whole_numbers("k", [2]), whole_numbers("pads", [1, 0, 0, 1]), whole_numbers("zero", [0]), whole_numbers("size", [4, 4])]))
    yield "cycle", model(graph([node("Relu", ["b"], ["a"], "p"), node("Relu", ["a"], ["b"], "q")], [x], [value("b", [4])]))
    yield "huge", model(graph([node("MatMul", ["x", "x"], ["y"])], [value("x", [1 << 31, 1 << 31])], [y]))


def workload(**more):
    nodes = [{"id": i, "cpuLatency": 5, "fpgaLatency": 1.5, "supportedOnFpga": 1, "isBackwardNode": 0, "size": 10} for i in range(3)]
    edges = [{"sourceId": 0, "destId": 1, "cost": 1}, {"sourceId": 1, "destId": 2, "cost": 0.25}]
    return {"maxSizePerFPGA": 100.5, "maxCPUs": 1, "maxFPGAs": 2, "nodes": nodes, "edges": edges, **more}


def workload_seeds():
    yield "plain", workload()
    yield "no-host", workload(maxCPUs=0)
    training = workload()
    for one, back in zip(training["nodes"], (0, 1, 1)):
        one.update(isBackwardNode=back, colorClass=one["id"] // 2, name=f"op{one['id']}", layerId=3)
    yield "training", training
    yield "cycle", workload(edges=workload()["edges"] + [{"sourceId": 2, "destId": 0, "cost": 1}])
    yield "negative", workload(maxSizePerFPGA=-1)


def profile_seeds():
    times = "forward_compute_time={}, backward_compute_time=0.5, activation_size={}, parameter_size=96.0"
    first = "node1 -- Input0 -- " + times.format("0.000", "16.0")
    yield "plain", f"{first}\nnode2 -- Conv(3, 4) -- {times.format(1.25, '[8.0; 4.0]')}\n\tnode1 -- node2\n"
    yield "cycle", f"{first}\nnode2 -- Relu -- {times.format('1e2', 4)}\n\tnode1 -- node2\n\tnode2 -- node1\n"


def openvino_seeds():
    def port(number, *dims):
        return f'<port id="{number}" precision="FP32">' + "".join(f"<dim>{d}</dim>" for d in dims) + "</port>"

    def layer(number, kind, inputs, outputs, data="", more=""):
        return (f'<layer id="{number}" name="l{number}" type="{kind}"><data {data}/><input>{"".join(inputs)}</input>'
                f'<output>{"".join(outputs)}</output>{more}</layer>')

    def edges(*ends):
        return "".join(f'<edge from-layer="{a}" from-port="{b}" to-layer="{c}" to-port="{d}"/>' for a, b, c, d in ends)

    def net(version, layers, ends):
        return f'<?xml version="1.0"?><net name="n" version="{version}"><layers>{"".join(layers)}</layers><edges>{edges(*ends)}</edges></net>'

    x = layer(0, "Parameter", [], [port(0, 1, 4, 6, 6)])
    yield "convolution", net(11, [x, layer(1, "Const", [], [port(0, 2, 2, 2, 3, 3)], 'size="144"'),
                                  layer(2, "GroupConvolution", [port(0, 1, 4, 6, 6), port(1, 2, 2, 2, 3, 3)], [port(2, 1, 4, 4, 4)]),
                                  layer(3, "Result", [port(0, 1, 4, 4, 4)], [])], [(0, 0, 2, 0), (1, 0, 2, 1), (2, 2, 3, 0)])
    cell = layer(1, "LSTMCell", [port(0, 1, 8)], [port(1, 1, 4)], 'hidden_size="4"')
    body = f'<body><layers>{layer(0, "Parameter", [], [port(0, 1, 8)])}{cell}</layers><edges>{edges((0, 0, 1, 0))}</edges></body>'
    yield "loop", net(10, [layer(0, "Parameter", [], [port(0, -1, 8)]),
                           layer(1, "TensorIterator", [port(0, -1, 8)], [port(1, -1, 4)],
                                 more='<port_map><input external_port_id="0" axis="0" stride="-1" start="-1" end="0"/></port_map>' + body)],
                      [(0, 0, 1, 0)])
    open_image = port(0, -1, 4, -1, 6)
    window = 'strides="2,1" pads_begin="1,0" pads_end="0,1" dilations="1,2" auto_pad="explicit"'
    masks = 'begin_mask="1,0" end_mask="0,1" new_axis_mask="0" shrink_axis_mask="0,1" ellipsis_mask="0"'
    branch = ('<{0}_body><layers>' + layer(0, "Parameter", [], [port(0, -1)]) + layer(1, "ReLU", [port(0, -1)], [port(1, -1)])
              + layer(2, "Result", [port(0, -1)], []) + f'</layers><edges>{edges((0, 0, 1, 0), (1, 1, 2, 0))}</edges></{{0}}_body>')
    ports = ('<{0}_port_map><input external_port_id="1" internal_layer_id="0"/>'
             '<output external_port_id="2" internal_layer_id="2"/></{0}_port_map>')
    yield "dynamic", net(11, [layer(0, "Parameter", [], [open_image]),
                              layer(1, "Const", [], [port(0, 2, 2, 2, 3, 3)], 'size="144"'),
                              layer(2, "GroupConvolution", [port(0), port(1)], [port(2, -1, 4, -1, -1)], window),
                              layer(3, "MaxPool", [port(0)], [port(1, -1, 4, -1, -1)], window + ' kernel="2,3" rounding_type="ceil"'),
                              layer(4, "ShapeOf", [port(0)], [port(1, 4)]),
                              layer(5, "StridedSlice", [port(0), port(1), port(2)], [port(3, -1, -1, -1)], masks),
                              layer(6, "Reshape", [port(0), port(1)], [port(2, -1, -1, -1, -1)], 'special_zero="true"'),
                              layer(7, "Interpolate", [port(0), port(1)], [port(2, -1, -1, -1, -1)], 'axes="0,1,2,3"'),
                              layer(8, "Split", [port(0), port(1)], [port(2, -1), port(3, -1)], 'num_splits="2"'),
                              layer(9, "If", [port(0), port(1)], [port(2, -1)], more="".join(
                                  text.format(name) for text in (ports, branch) for name in ("else", "then")))],
                         [(0, 0, 2, 0), (1, 0, 2, 1), (2, 2, 3, 0), (0, 0, 4, 0), (3, 1, 5, 0), (4, 1, 5, 1), (4, 1, 5, 2), (3, 1, 6, 0),
                          (4, 1, 6, 1), (6, 2, 7, 0), (4, 1, 7, 1), (4, 1, 8, 0), (4, 1, 8, 1), (8, 2, 9, 0), (8, 3, 9, 1)])
    yield "old", net(6, ['<layer id="0" name="x" precision="FP16" type="Input"><output><port id="0"><dim>1</dim><dim>8</dim></port></output></layer>'
                         '<layer id="1" name="d" precision="FP16" type="FullyConnected"><data out-size="4"/><input><port id="0"><dim>1</dim><dim>8</dim></port>'
                         '</input><output><port id="1"><dim>1</dim><dim>4</dim></port></output><blobs><weights offset="0" size="64"/></blobs></layer>'],
                     [(0, 0, 1, 0)])
    yield "cycle", net(10, [layer(0, "ReLU", [port(0, 1)], [port(1, 1)])], [(0, 1, 0, 0)])
    yield "entity", '<!DOCTYPE net [<!ENTITY a "aa">]><net name="&a;" version="10"/>'


def language_model_seeds():
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))
    import llm_files
    small = llm_files.dense("llama", 2, 64, 2, 1, 96, 100, kind="Q8_0", out_kind="F16")
    yield "gguf-llama", small
    experts = ({**small[0], "llama.expert_used_count": 2, "llama.attention.sliding_window": 5},
               small[1] + [("blk.0.ffn_up_exps.weight", 39, (64, 32, 4)), ("blk.0.ffn_gate_inp.weight", 0, (64, 4))])
    yield "gguf-experts", experts
    a = "deepseek2"
    yield "gguf-latent", ({"general.architecture": a, f"{a}.block_count": 1, f"{a}.embedding_length": 32,
                           f"{a}.attention.kv_lora_rank": 16, f"{a}.attention.head_count": 2, "split.no": 0, "split.count": 1},
                          [("blk.0.attn_kv_a_mqa.weight", 0, (32, 20)), ("blk.0.ssm_conv1d.weight", 0, (4, 32)),
                           ("blk.0.attn_k_b.weight", 0, (8, 16, 2))])


def safetensors_seeds():
    entries, at = {}, 0
    for name, shape in (("model.embed_tokens.weight", [10, 8]), ("model.layers.0.self_attn.qkv_proj.weight", [12, 8]),
                        ("model.layers.0.mlp.experts.0.w1.weight", [4, 8]), ("model.layers.0.mlp.up_proj.qweight", [2, 8])):
        n = shape[0] * shape[1] * 4
        entries[name] = {"dtype": "I32" if "qweight" in name else "F32", "shape": shape, "data_offsets": [at, at + n]}
        at += n
    header = json.dumps(entries).encode()
    yield "file", struct.pack("<Q", len(header)) + header
    yield "patches", patches()
    yield "index", json.dumps({"metadata": {"total_size": 4}, "weight_map": {"a.weight": "x.safetensors"}}).encode()


def patches():
    """A network that looks like a ViT: a block over four patches and a token that is a parameter."""
    shapes = {"embeddings.cls_token": [1, 1, 64], "embeddings.position_embeddings": [1, 197, 64], "embeddings.patch_embeddings.projection.weight": [64, 3, 16, 16],
              "layernorm.weight": [64], "layernorm.bias": [64]}
    for name, shape in (("attention.attention.query", [64, 64]), ("attention.attention.key", [64, 64]), ("attention.attention.value", [64, 64]),
                        ("attention.output.dense", [64, 64]), ("intermediate.dense", [96, 64]), ("output.dense", [64, 96]), ("layernorm_before", [64])):
        shapes[f"encoder.layer.0.{name}.weight"] = shape
        shapes[f"encoder.layer.0.{name}.bias"] = shape[:1]
    entries, at = {}, 0
    for name, shape in shapes.items():
        n = 4
        for size in shape:
            n *= size
        entries[name] = {"dtype": "F32", "shape": shape, "data_offsets": [at, at + n]}
        at += n
    header = json.dumps(entries).encode()
    return struct.pack("<Q", len(header)) + header


def tflite_seeds():
    for kind, name in ((0, "float"), (9, "quantised")):
        m = Model()
        x, a, b, c = m.tensor([1, 8, 8, 2], kind, signature=[-1, 8, -1, 2]), m.tensor([1, 4, 4, 3], kind), m.tensor([1, 2, 2, 3], kind), m.tensor([1, 5], kind)
        m.operator(3, [x, m.tensor([3, 3, 3, 2], kind, bytes(54 * (1 if kind else 4))), -1], [a], {1: ("i", 2), 2: ("i", 2)}, 1)
        m.operator(17, [a], [b], {1: ("i", 2), 2: ("i", 2), 3: ("i", 2), 4: ("i", 2)}, 5)
        m.operator(9, [b, m.tensor([5, 12], kind, bytes(60 * (1 if kind else 4)))], [c], {0: ("b", 0)}, 8)
        m.operator(32, [c], [m.tensor([1, 5], kind)], custom="Own")
        yield name, m.bytes([x], [c])


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(exist_ok=True)
    for name, data in onnx_seeds():
        (folder / f"onnx-{name}").write_bytes(data)
    for name, (keys, tensors) in language_model_seeds():
        import llm_files
        llm_files.write(folder / name, keys, tensors, with_data=False)
    for name, data in safetensors_seeds():
        (folder / f"safetensors-{name}").write_bytes(data)
    for name, data in tflite_seeds():
        (folder / f"tflite-{name}").write_bytes(data)
    for name, data in workload_seeds():
        (folder / f"workload-{name}").write_text(json.dumps(data))
    for name, text in openvino_seeds():
        (folder / f"openvino-{name}").write_text(text)
    for name, text in profile_seeds():
        (folder / f"pipedream-{name}").write_text(text)
    platform = {"situ_platform": 1, "name": "n", "devices": [
        {"name": "cpu", "base": "cpu"}, {"name": "npu", "count": 2, "memory_gb": 8, "memory_gb_per_s": 60, "launch_us": 20,
                                         "peak_tflops": {"f32": 1, "i8": 32}}],
        "links": [{"from": "cpu", "to": "npu", "kind": "pcie4"}, {"from": "npu", "to": "npu", "latency_us": 15, "gb_per_s": 6.4,
                                                                  "channel": "bus"}]}
    graph = {"situ_graph": 1, "name": "n", "operators": [
        {"name": "a", "kind": "Conv", "layer": "l", "phase": "forward", "dtype": "f32", "flops": 2000, "moved_bytes": 96, "colocation": 3},
        {"name": "b", "weight_bytes": 40, "workspace_bytes": 8, "inferred": False}],
        "tensors": [{"name": "t", "from": "a", "to": ["b"], "dtype": "f16", "dims": [10, -1], "bytes": 4000}]}
    (folder / "graph-plain").write_text(json.dumps(graph))
    (folder / "platform-plain").write_text(json.dumps(platform))


if __name__ == "__main__":
    main()
