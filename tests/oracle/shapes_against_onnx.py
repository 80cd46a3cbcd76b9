#!/usr/bin/env python3
"""Compares the shapes and types that situ infers with those of onnx.shape_inference, wherever both infer.

    shapes_against_onnx.py DUMP_SHAPES FOLDER...

DUMP_SHAPES is the program of dump_shapes.c; each FOLDER is searched for .onnx files. Dynamic dimensions of the inputs
are 1 on both sides, and what the files themselves declare about inner values is taken away on the side of onnx, so that
it infers. Exits 77 (skipped) when the onnx package or the files are absent, 1 on any difference.
"""
import os
import pathlib
import subprocess
import sys

try:
    import onnx
    from onnx import TensorProto, shape_inference
except ImportError:
    print("the onnx package is not here; skipped")
    sys.exit(77)

TYPES = {
    "FLOAT": "f32", "DOUBLE": "f64", "FLOAT16": "f16", "BFLOAT16": "bf16", "INT64": "i64", "INT32": "i32",
    "INT16": "i16", "INT8": "i8", "UINT64": "u64", "UINT32": "u32", "UINT16": "u16", "UINT8": "u8", "BOOL": "bool",
    "STRING": "string", "COMPLEX64": "c64", "COMPLEX128": "c128",
}

# Where onnx's own inference is wrong or leaves the standard; each with the reason. (file, tensor) -> why.
KNOWN = {
    ("custom_ops_local_function.onnx", "X_f8"): "QuantizeLinear to an 8-bit float came with opset 19; onnx 1.12 says u8",
}


def ours(program, path):
    """{name: (type, dims)} with None for what is unknown; or the error line."""
    run = subprocess.run([program, str(path)], capture_output=True, text=True, errors="replace", timeout=120)
    if run.returncode not in (0, 3):
        raise RuntimeError(f"{path.name}: exit code {run.returncode}")
    tensors = {}
    for line in run.stdout.splitlines():
        if line.startswith("tensor\t"):
            _, name, dtype, dims = line.split("\t")
            shape = None if dims == "-" else [None if d == "?" else int(d) for d in dims.split(",") if d]
            tensors[name] = (None if dtype == "unknown" else dtype, shape)
    return tensors, run.stdout if run.returncode == 3 else ""


def theirs(path):
    """The same from onnx, for values that nodes of the main graph make."""
    model = onnx.load(str(path), load_external_data=False)
    for value in model.graph.input:
        if value.type.WhichOneof("value") == "tensor_type" and value.type.tensor_type.HasField("shape"):
            for dim in value.type.tensor_type.shape.dim:
                if dim.WhichOneof("value") != "dim_value" or dim.dim_value < 0:
                    dim.dim_value = 1
    del model.graph.value_info[:]
    for value in model.graph.output:
        if value.type.WhichOneof("value") == "tensor_type":
            value.type.tensor_type.ClearField("shape")
    inferred = shape_inference.infer_shapes(model, check_type=False, strict_mode=False, data_prop=True)
    made = {name for node in model.graph.node for name in node.output}
    tensors = {}
    for value in list(inferred.graph.value_info) + list(inferred.graph.output):
        if value.name not in made or value.type.WhichOneof("value") != "tensor_type":
            continue
        tensor = value.type.tensor_type
        dtype = TYPES.get(TensorProto.DataType.Name(tensor.elem_type)) if tensor.elem_type else None
        shape = None
        if tensor.HasField("shape"):
            shape = [d.dim_value if d.WhichOneof("value") == "dim_value" else None for d in tensor.shape.dim]
        tensors[value.name] = (dtype, shape)
    return tensors


def differences(mine, other):
    """(compared, [lines], how many are fully known to onnx only)."""
    compared, lines = 0, []
    for name, (dtype, shape) in other.items():
        if name not in mine:
            lines.append(f"{name}: not among our tensors")
            continue
        my_dtype, my_shape = mine[name]
        wrong = bool(dtype and my_dtype and dtype != my_dtype)
        if shape is not None and my_shape is not None:
            compared += 1
            wrong |= len(shape) != len(my_shape)
            wrong |= any(a is not None and b is not None and a != b for a, b in zip(shape, my_shape))
        if wrong:
            lines.append(f"{name}: we {my_dtype} {my_shape}, onnx {dtype} {shape}")
    missing = sum(1 for n, (_, s) in other.items() if s is not None and None not in s and n in mine
                  and (mine[n][1] is None or None in mine[n][1]))
    return compared, lines, missing


def compare(program, path):
    mine, failed = ours(program, path)
    if failed:
        print(f"{path.name}: not read: {failed.strip()[:160]}")
        return True
    try:
        other = theirs(path)
    except Exception as problem:  # whatever this version of onnx refuses
        print(f"{path.name}: onnx {onnx.__version__} does not infer: {str(problem).strip().splitlines()[0][:120]}")
        return True
    compared, lines, missing = differences(mine, other)
    lines = [line for line in lines if (path.name, line.split(": ")[0]) not in KNOWN]
    print(f"{path.name}: {compared} shapes compared, {len(lines)} differ, {missing} known to onnx only")
    for line in lines:
        print("   ", line)
    return not lines


def main():
    program, folders = sys.argv[1], sys.argv[2:]
    paths = sorted(p for folder in folders for p in pathlib.Path(folder).glob("*.onnx"))
    if not paths:
        print("no models here; skipped")
        return 77
    good = True
    for path in paths:
        # Each in a process of its own: some files crash some versions of onnx.
        child = os.fork()
        if child == 0:
            code = 2
            try:
                code = 0 if compare(program, path) else 1
            except Exception as problem:
                print(f"{path.name}: {problem}")
            sys.stdout.flush()
            os._exit(code)
        _, status = os.waitpid(child, 0)
        if os.WIFSIGNALED(status):
            print(f"{path.name}: onnx {onnx.__version__} crashed on it")
        elif os.WEXITSTATUS(status) != 0:
            good = False
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
