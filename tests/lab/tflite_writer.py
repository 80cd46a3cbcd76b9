"""TFLite files (flatbuffers) written from Python values: tables as {field number: value}, ("i", 5) and ("b", 5) for numbers of
four bytes and one, strings, bytes, lists of numbers and lists of tables. What is referred to stands behind what refers to it."""
import struct

F32, F16, I32, U8, I64, I16, I8 = 0, 1, 2, 3, 4, 7, 9


def pad(out, size):
    out.extend(bytes(-len(out) % size))


def put_table(out, fields):
    """Its list of offsets, the table, then all that it refers to. Returns where it is."""
    order, size, places = sorted(fields, key=lambda k: isinstance(fields[k], tuple) and fields[k][0] == "b"), 4, {}
    for k in order:
        places[k] = size
        size += 1 if isinstance(fields[k], tuple) and fields[k][0] == "b" else 4
    n = max(fields, default=-1) + 1
    pad(out, 4)
    listed = len(out)
    out += struct.pack("<HH", 4 + 2 * n, size) + b"".join(struct.pack("<H", places.get(k, 0)) for k in range(n))
    pad(out, 4)
    at = len(out)
    out += struct.pack("<i", at - listed) + bytes(size - 4)
    for k, value in fields.items():
        here = at + places[k]
        if isinstance(value, tuple):
            struct.pack_into("<b" if value[0] == "b" else "<i", out, here, value[1])
        else:
            struct.pack_into("<I", out, here, put(out, value) - here)
    return at


def put(out, value):
    if isinstance(value, dict):
        return put_table(out, value)
    pad(out, 16 if isinstance(value, bytes) else 4)
    if isinstance(value, bytes):  # data begins at a multiple of 16
        out += bytes(12)
    at = len(out)
    if isinstance(value, str):
        out += struct.pack("<I", len(value)) + value.encode() + b"\0"
    elif isinstance(value, bytes):
        out += struct.pack("<I", len(value)) + value
    elif value and isinstance(value[0], dict):
        out += struct.pack("<I", len(value)) + bytes(4 * len(value))
        for i, table in enumerate(value):
            here = at + 4 + 4 * i
            struct.pack_into("<I", out, here, put_table(out, table) - here)
    else:
        out += struct.pack("<I", len(value)) + struct.pack(f"<{len(value)}i", *value)
    return at


class Model:
    """One graph. A tensor is a number; data makes it a constant."""

    def __init__(self):
        self.tensors, self.operators, self.codes, self.buffers = [], [], [], [{}]

    def tensor(self, shape, kind=F32, data=None, name=None, signature=None):
        fields = {0: list(shape), 1: ("b", kind), 2: ("i", 0), 3: name or f"t{len(self.tensors)}"}
        if data is not None:
            fields[2] = ("i", len(self.buffers))
            self.buffers.append({0: data})
        if signature:
            fields[7] = list(signature)
        self.tensors.append(fields)
        return len(self.tensors) - 1

    def operator(self, code, inputs, outputs, options=None, option_type=0, custom=None):
        key = {0: ("b", min(code, 127)), 3: ("i", code), **({1: custom} if custom else {})}
        if key not in self.codes:
            self.codes.append(key)
        fields = {0: ("i", self.codes.index(key)), 1: list(inputs), 2: list(outputs)}
        if options is not None:
            fields |= {3: ("b", option_type), 4: options}
        self.operators.append(fields)

    def bytes(self, inputs, outputs):
        graph = {0: self.tensors, 1: list(inputs), 2: list(outputs), 3: self.operators, 4: "main"}
        out = bytearray(8)
        at = put_table(out, {0: ("i", 3), 1: self.codes, 2: [graph], 3: "by hand", 4: self.buffers})
        struct.pack_into("<I", out, 0, at)
        out[4:8] = b"TFL3"
        return bytes(out)
