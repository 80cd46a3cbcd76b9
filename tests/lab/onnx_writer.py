"""Writes small ONNX files, valid or not, without any package: field numbers of the public schema."""
import struct

F32, I64, BOOL = 1, 7, 9


def varint(number):
    number &= (1 << 64) - 1
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    out.append(number)
    return bytes(out)


def field(number, value):
    """An int as varint; text and bytes with their length in front."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    if isinstance(value, str):
        value = value.encode()
    return varint(number << 3 | 2) + varint(len(value)) + value


def fields(number, values):
    return b"".join(field(number, value) for value in values)


def value(name, shape, dtype=F32):
    """A ValueInfoProto; a dimension is a number or a name."""
    dims = b"".join(field(1, field(2 if isinstance(d, str) else 1, d)) for d in shape)
    return field(1, name) + field(2, field(1, field(1, dtype) + field(2, dims)))


def tensor(name, shape, dtype=F32, raw=None, external=None):
    out = fields(1, shape) + field(2, dtype) + field(8, name)
    if raw is not None:
        out += field(9, raw)
    for key, text in (external or {}).items():
        out += field(13, field(1, key) + field(2, str(text)))
    return out + (field(14, 1) if external else b"")


def whole_numbers(name, numbers):
    """An i64 vector."""
    return tensor(name, [len(numbers)], I64, struct.pack(f"<{len(numbers)}q", *numbers))


def attribute(name, what):
    """bytes are a graph, an int a number, a list whole numbers, a str a text."""
    if isinstance(what, bytes):
        return field(1, name) + field(6, what) + field(20, 5)
    if isinstance(what, int):
        return field(1, name) + field(3, what) + field(20, 2)
    if isinstance(what, list):
        return field(1, name) + fields(8, what) + field(20, 7)
    return field(1, name) + field(4, what) + field(20, 3)


def node(kind, inputs, outputs, name="", domain="", **attributes):
    return (fields(1, inputs) + fields(2, outputs) + field(3, name) + field(4, kind)
            + b"".join(field(5, attribute(k, v)) for k, v in attributes.items()) + (field(7, domain) if domain else b""))


def graph(nodes, inputs=(), outputs=(), weights=(), name="g"):
    return fields(1, nodes) + field(2, name) + fields(5, weights) + fields(11, inputs) + fields(12, outputs)


def function(name, inputs, outputs, nodes, domain="own"):
    return field(1, name) + fields(4, inputs) + fields(5, outputs) + fields(7, nodes) + field(10, domain)


def model(main, functions=(), ir=8, operator_set=17):
    return field(1, ir) + field(7, main) + field(8, field(1, "") + field(2, operator_set)) + fields(25, functions)


def one_node(kind, weights=(), inputs=("x",), **attributes):
    """A model of one node that reads `x`, of shape 4, and makes `y`."""
    return model(graph([node(kind, inputs, ["y"], "n", **attributes)], [value("x", [4])], [value("y", ["m"])], weights))


def nested(levels):
    """`If` within `If`: the branches of the innermost are a Relu."""
    inner = graph([node("Relu", ["x"], ["y"], "r")], [], [value("y", [4])])
    for _ in range(levels):
        inner = graph([node("If", ["c"], ["y"], "f", then_branch=inner, else_branch=inner if len(inner) < 99 else
                            graph([node("Relu", ["x"], ["y"], "r")], [], [value("y", [4])]))], [], [value("y", [4])])
    return model(inner + field(11, value("x", [4])) + field(11, value("c", [], BOOL)))
