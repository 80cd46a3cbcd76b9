"""A PyTorch module as an operator graph, through torch.export: shapes, types and work, without weights."""

from __future__ import annotations

import math
import operator
import os
import pathlib
import re
import sys
from typing import TYPE_CHECKING, Any, Iterable, Iterator, Mapping, Sequence

import torch
from torch.export import ExportedProgram
from torch.utils import _pytree as pytree

from ._graph import Graph, Operator
from ._library import BadArgument, BadInput, FileError, Unsupported

if TYPE_CHECKING:
    from ._plan import Plan

_DTYPES = {
    "float64": "f64",
    "float32": "f32",
    "float16": "f16",
    "bfloat16": "bf16",
    "int64": "i64",
    "int32": "i32",
    "int16": "i16",
    "int8": "i8",
    "uint64": "u64",
    "uint32": "u32",
    "uint16": "u16",
    "uint8": "u8",
    "bool": "bool",
    "complex64": "c64",
    "complex128": "c128",
}
# ATen's operators by the kinds of ONNX, whose fusion and efficiency situ knows; others bear ATen's names.
_KINDS = {
    "conv1d": "Conv",
    "conv2d": "Conv",
    "conv3d": "Conv",
    "convolution": "Conv",
    "linear": "MatMul",
    "matmul": "MatMul",
    "mm": "MatMul",
    "bmm": "MatMul",
    "baddbmm": "MatMul",
    "mv": "MatMul",
    "dot": "MatMul",
    "_int_mm": "MatMul",
    "_scaled_mm": "MatMul",
    "_grouped_mm": "MatMul",
    "_scaled_grouped_mm": "MatMul",
    "grouped_mm_fallback": "MatMul",
    "_weight_int8pack_mm": "MatMul",
    "_weight_int4pack_mm": "MatMul",
    "_weight_int4pack_mm_for_cpu": "MatMul",
    "addmm": "Gemm",
    "conv_transpose2d": "ConvTranspose",
    "scaled_dot_product_attention": "Attention",
    "embedding": "Gather",
    "index": "Gather",
    "index_select": "Gather",
    "relu": "Relu",
    "gelu": "Gelu",
    "silu": "Swish",
    "sigmoid": "Sigmoid",
    "tanh": "Tanh",
    "hardswish": "HardSwish",
    "hardsigmoid": "HardSigmoid",
    "hardtanh": "Clip",
    "clamp": "Clip",
    "softmax": "Softmax",
    "_softmax": "Softmax",
    "log_softmax": "LogSoftmax",
    "layer_norm": "LayerNormalization",
    "native_layer_norm": "LayerNormalization",
    "group_norm": "GroupNormalization",
    "_native_batch_norm_legit_no_training": "BatchNormalization",
    "batch_norm": "BatchNormalization",
    "rms_norm": "RMSNormalization",
    "max_pool2d": "MaxPool",
    "max_pool2d_with_indices": "MaxPool",
    "avg_pool2d": "AveragePool",
    "adaptive_avg_pool2d": "AveragePool",
    "add": "Add",
    "sub": "Sub",
    "mul": "Mul",
    "div": "Div",
    "pow": "Pow",
    "neg": "Neg",
    "exp": "Exp",
    "sqrt": "Sqrt",
    "rsqrt": "Sqrt",
    "mean": "ReduceMean",
    "sum": "ReduceSum",
    "where": "Where",
    "cat": "Concat",
    "stack": "Concat",
    "slice": "Slice",
    "select": "Gather",
    "split": "Split",
    "split_with_sizes": "Split",
    "chunk": "Split",
    "clone": "Identity",
    "_to_copy": "Cast",
    "to": "Cast",
    "cos": "Cos",
    "sin": "Sin",
    "arange": "Range",
    "full": "ConstantOfShape",
    "view": "Reshape",
    "reshape": "Reshape",
    "_unsafe_view": "Reshape",
    "flatten": "Flatten",
    "unflatten": "Reshape",
    "unsqueeze": "Unsqueeze",
    "squeeze": "Squeeze",
    "permute": "Transpose",
    "transpose": "Transpose",
    "t": "Transpose",
    "expand": "Expand",
    "detach": "Identity",
    "alias": "Identity",
}
_RECURRENT = {"lstm": "LSTM", "gru": "GRU", "rnn_tanh": "RNN", "rnn_relu": "RNN"}
_KINDS.update({f"{name}{cell}": kind for name, kind in _RECURRENT.items() for cell in ("", "_cell")})
# They only look at bytes in another way: at all of them, so that they are no operators here; at some, or at some twice.
_SAME = set("view reshape _unsafe_view flatten unflatten unsqueeze squeeze permute transpose t detach alias".split())
# Products of the first operand with one whose rows are as long, and their namespaces where these are not ATen's.
_PRODUCTS = {name for name, kind in _KINDS.items() if kind == "MatMul" and name != "baddbmm"}
_KNOWN = {"aten", "prims", "quantized_decomposed", "transformers::grouped_mm_fallback"}
_VIEWS = _SAME | {"expand", "slice", "select", "split", "split_with_sizes", "chunk", "unbind"}


class TorchGraph(Graph):
    """The graph of an exported module. It keeps the program, whose weights are those of the module, not copies."""

    def __init__(self, name: str, program: ExportedProgram):
        super().__init__(name)
        self.program = program
        self.operator_of: dict[str, str] = {}  #: from the name of a node of the program to its operator
        self.reader_of: dict[str, str] = {}  #: from each parameter and buffer to the first operator that reads it
        self.states: dict[str, int] = {}  #: bytes of each parameter and buffer of the module

    def __getattr__(self, name: str) -> Any:
        if name == "program":
            raise AttributeError("the program of a pickled plan is in the process that exported it: run and measure it there")
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")


def _dtype(value: torch.Tensor) -> str | None:
    name = str(value.dtype).removeprefix("torch.")
    return _DTYPES.get(name, "f8" if name.startswith("float8") else None)


def _size(value: Any) -> int:
    """Bytes of the elements of a tensor."""
    return int(value.numel()) * value.element_size() if isinstance(value, torch.Tensor) else 0


def _outputs(value: Any) -> list[Any]:
    return list(value) if isinstance(value, (tuple, list)) else [value]


def _aten(node: torch.fx.Node) -> str:
    """The name of the operator of a node: "linear" for aten.linear.default; the full name of an operator of others that
    has the name of a known one and is not that."""
    schema = getattr(node.target, "_schema", None)
    name = schema.name.split("::")[-1] if schema is not None else getattr(node.target, "__name__", str(node.target))
    short = str(name).rstrip("_") or str(name)
    return str(schema.name) if schema is not None and short in _KINDS and not _is_known(node) else short


def _is_known(node: torch.fx.Node) -> bool:
    """Whether situ knows what a node does; of operators that others have defined, and of those that run graphs, it does
    not."""
    schema = getattr(node.target, "_schema", None)
    return schema is not None and (schema.name in _KNOWN or schema.name.split("::")[0] in _KNOWN)


def _is_about_shapes(node: torch.fx.Node) -> bool:
    """Sizes, numbers and checks: they make no tensor, so that they cost nothing and are wherever they are needed."""
    tensors = any(isinstance(value, torch.Tensor) for value in pytree.tree_leaves(node.meta.get("val")))
    return not tensors and (_is_known(node) or getattr(node.target, "_schema", None) is None)


def _flops(aten: str, inputs: Sequence[Any], outputs: Sequence[Any]) -> int:
    """Operations of a node: 2 for each multiply-add, 1 for each element that other operators write."""
    shapes = [tuple(t.shape) if isinstance(t, torch.Tensor) else () for t in inputs]
    elements = sum(int(t.numel()) for t in outputs if isinstance(t, torch.Tensor))
    if aten in _VIEWS:
        return 0
    if aten.startswith("conv") and len(shapes) > 1 and len(shapes[1]) > 2:
        made = elements if "transpose" not in aten else math.prod(shapes[0])
        return int(2 * made * math.prod(shapes[1][1:]))
    if aten in _PRODUCTS and shapes[0]:
        return int(2 * elements * shapes[0][-1])
    if aten in ("addmm", "baddbmm") and len(shapes) > 1:
        return int(2 * elements * shapes[1][-1])
    if aten.removesuffix("_cell") in _RECURRENT:
        weights = shapes[3 if aten.startswith("lstm") else 2 :]  # after the input and the states
        return int(2 * math.prod(shapes[0][:-1]) * sum(math.prod(s) for s in weights if len(s) == 2))
    if aten.lstrip("_").startswith("scaled_dot_product"):
        queries, keys, values = shapes[:3]
        return int(2 * math.prod(queries[:-1]) * keys[-2] * (queries[-1] + values[-1]))
    return elements


def _heads(aten: str, node: torch.fx.Node) -> int:
    """The heads of keys and values of an attention, those that are repeated for several queries once; 0: not known."""
    key = node.args[1] if aten.lstrip("_").startswith("scaled_dot_product") and len(node.args) > 1 else None
    if not isinstance(key, torch.fx.Node) or key.meta["val"].dim() != 4 or key.meta["val"].numel() == 0:
        return 0
    source = key
    while _aten(source) in _SAME | {"expand", "clone"} and isinstance(source.args[0], torch.fx.Node):
        source = source.args[0]
    return int(key.meta["val"].shape[1] * source.meta["val"].numel() // key.meta["val"].numel())


def _values(arguments: Any) -> Iterator[Any]:
    """The values of nodes in these arguments."""
    for leaf in pytree.tree_leaves(arguments):
        if isinstance(leaf, torch.fx.Node):
            yield leaf.meta.get("val")


def module_of(node: torch.fx.Node) -> str:
    """The path of the innermost module that a node is part of."""
    stack = node.meta.get("nn_module_stack") or {}
    path = str(list(stack.values())[-1][0]) if stack else ""
    return re.sub(r"^L\['self'\]\.?|@\d+$", "", path)


def _export(module: Any, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> ExportedProgram:
    try:
        return torch.export.export(module, arguments, keywords, strict=False)
    except Exception as failure:
        if "DataDependent" not in type(failure).__name__:
            raise
        said = next((line.strip() for line in str(failure).splitlines() if line.strip()), "")
        raise Unsupported(
            f"which operators run depends on values, so torch.export cannot trace it ({said[:120]}): write the branch "
            "with torch.where or torch.cond, add torch._check for sizes, or place the parts before and after it",
            type(module).__name__,
        ) from failure


def load(path: str | os.PathLike[str]) -> TorchGraph:
    """The graph of a program that torch.export.save wrote (.pt2)."""
    try:
        program = torch.export.load(path)
    except Exception as failure:
        said = (str(failure).splitlines() or [type(failure).__name__])[0]
        kind = FileError if isinstance(failure, OSError) else BadInput
        raise kind(f"torch.export.load cannot read it: {said[:200]}", os.fspath(path)) from failure
    return graph(program, name=pathlib.PurePath(path).stem)


def graph(module: torch.nn.Module | ExportedProgram, example_inputs: Any = None, name: str | None = None) -> TorchGraph:
    """The graph of a module, or of an already exported program: shapes, types, work and bytes. No weight is
    read, so the module may be on the device "meta". `example_inputs`: a tuple of arguments, or a dict by keyword."""
    if isinstance(module, ExportedProgram):
        program = module
    else:
        if example_inputs is None:
            raise BadArgument(
                "a torch module needs example_inputs: a tuple of arguments or a dict of keyword arguments"
            )
        keywords = dict(example_inputs) if isinstance(example_inputs, Mapping) else {}
        several = example_inputs if isinstance(example_inputs, (tuple, list)) else (example_inputs,)
        arguments = () if keywords else tuple(several)
        with torch.no_grad():
            program = _without_dropout(_export(module, arguments, keywords))
    program = _without_checks(program.run_decompositions({}))  # functional: nothing is changed in place
    made = TorchGraph(name or type(module).__name__, program)
    states = {
        spec.arg.name: str(spec.target) for spec in program.graph_signature.input_specs if spec.target is not None
    }
    made.states = {state: _size(state_of(program, state)) for state in states.values()}
    readers: dict[str, list[str]] = {}  # of each state
    maker: dict[torch.fx.Node, tuple[str, int]] = {}  # the operator, and which of its outputs
    consumers: dict[tuple[str, int], list[str]] = {}
    outputs: dict[str, list[Any]] = {}
    for node in program.graph.nodes:
        if node.op != "call_function":
            continue
        if node.target is operator.getitem:
            source, index = node.args[0], node.args[1]
            if source in maker:
                maker[node] = (maker[source][0], index)
            continue
        if _aten(node) in _SAME and node.args[0] in maker:
            maker[node] = maker[node.args[0]]
            continue
        if _is_about_shapes(node):
            continue
        op = _operator(node, made)
        maker[node] = (op.name, 0)
        outputs[op.name] = _outputs(node.meta.get("val"))
        for source in node.all_input_nodes:
            if source in maker:
                used = consumers.setdefault(maker[source], [])
                used += [] if op.name in used else [op.name]
            elif source.name in states:
                readers.setdefault(states[source.name], []).append(op.name)
    made.reader_of = {state: names[0] for state, names in readers.items()}
    for state, name in made.reader_of.items():
        made[name].weight_bytes += made.states[state]
    read = {id(state_of(program, state)): name for state, name in made.reader_of.items()}
    for state in made.states:  # tied parameters: one tensor of several names, of which the program reads one
        if id(state_of(program, state)) in read:
            made.reader_of.setdefault(state, read[id(state_of(program, state))])
    _colocate(made, readers)
    results = {maker[node] for node in user_outputs(program) if node in maker}
    for producer, values in outputs.items():
        for index, value in enumerate(values):
            kept = (producer, index) in consumers or (producer, index) in results
            if isinstance(value, torch.Tensor) and kept:
                shape, used = tuple(int(n) for n in value.shape), consumers.get((producer, index), [])
                made.add_tensor(producer, _size(value), used, shape=shape, dtype=_dtype(value))
    if not made.operators:
        raise Unsupported("the exported module has no operators", made.name)
    return made


def _without_dropout(program: ExportedProgram) -> ExportedProgram:
    """Removes dropout that drops nothing, which would become copies."""
    for node in list(program.graph.nodes):
        idle = node.target is torch.ops.aten.dropout.default and node.args[2] is False
        if idle and not any(user.op == "output" for user in node.users):
            node.replace_all_uses_with(node.args[0])
            program.graph.erase_node(node)
    return program


def _without_checks(program: ExportedProgram) -> ExportedProgram:
    """Removes checks of values and metadata, which export adds and whose results nobody reads."""
    for node in reversed(list(program.graph.nodes)):
        if node.op == "call_function" and not node.users and _is_about_shapes(node):
            program.graph.erase_node(node)
    return program


def user_outputs(program: ExportedProgram) -> list[Any]:
    """The nodes of what the module returns, and whatever else it returns."""
    (result,) = (node for node in program.graph.nodes if node.op == "output")
    kinds = [spec.kind.name == "USER_OUTPUT" for spec in program.graph_signature.output_specs]
    return [value for value, wanted in zip(result.args[0], kinds) if wanted]


def state_of(program: ExportedProgram, name: str) -> Any:
    return program.state_dict[name] if name in program.state_dict else program.constants.get(name)


def _operator(node: torch.fx.Node, made: TorchGraph) -> Operator:
    """Adds the operator of a node."""
    aten, path = _aten(node), module_of(node)
    inputs, outputs = list(_values((node.args, node.kwargs))), _outputs(node.meta.get("val"))
    types = [t for t in (*outputs, *inputs) if isinstance(t, torch.Tensor)]
    moved = 0 if aten in _VIEWS else sum(map(_size, (*inputs, *outputs)))
    floating = next((t for t in types if t.is_floating_point()), types[0] if types else None)
    if aten in _PRODUCTS and inputs and isinstance(inputs[0], torch.Tensor):
        floating = inputs[0]  # products of whole numbers and of narrow types compute in these
    known = _is_known(node)
    op = made.add_operator(
        f"{path}.{node.name}" if path else node.name,
        kind=_KINDS.get(aten, aten),
        layer=layer_of(path) or path or None,
        dtype=None if floating is None else _dtype(floating),
        flops=_flops(aten, inputs, outputs) if known else 0,
        moved_bytes=moved,
        split_ways=_heads(aten, node) if known else 0,
        inferred=known,
    )
    made.operator_of[node.name] = op.name
    return op


def _colocate(made: TorchGraph, readers: Mapping[str, list[str]]) -> None:
    """Operators that read one parameter share a device; buffers, which are small, are copied instead."""
    groups: list[set[str]] = []
    for state in made.program.graph_signature.parameters:
        names = set(readers.get(state, ()))
        if len(names) > 1:
            touching = [group for group in groups if group & names]
            groups = [group for group in groups if group not in touching] + [names.union(*touching)]
    for number, group in enumerate(groups):
        for name in group:
            made[name].colocation = number


def layer_of(path: str) -> str | None:
    """The path down to its first number: "model.layers.3" of "model.layers.3.mlp"."""
    found = re.match(r"(?:[^.]+\.)*?\d+(?=\.|$)", path)
    return found.group() if found else None


def check_styles(made: TorchGraph, paths: Iterable[str]) -> None:
    """Unsupported unless each of these is a module that parallelize_module can split."""
    kinds: dict[str, str] = {}
    for node in made.program.graph.nodes:
        kinds.update({str(path): str(kind) for path, kind in (node.meta.get("nn_module_stack") or {}).values()})
    for path in paths:
        module, _, name = kinds.get(path, "").rpartition(".")
        kind = getattr(sys.modules.get(module), name, torch.nn.Linear)  # of a class within a function nothing is known
        if f"{path}.weight" not in made.states or not issubclass(kind, (torch.nn.Linear, torch.nn.Embedding)):
            raise Unsupported(f"is a {name}; parallelize_module splits Linear and Embedding", path)


def graph_of(plan: Plan) -> TorchGraph:
    if not isinstance(plan.source, TorchGraph):
        raise BadArgument("the plan is not for a torch module; pass the module or its graph to situ.load_plan as model")
    return plan.source
