"""Small OpenVINO models with dynamic dimensions, each written twice: as it is, and with static shapes that OpenVINO
itself makes of it. test_openvino_ir.py compares what situ reads from the two.

    python openvino_models.py FOLDER        with the Python of OpenVINO; prints {name: {"images[0]": 2, ...}}
"""
import json
import sys

import numpy
import openvino
from openvino import Model, PartialShape, Type, opset1, opset8, opset11, opset13, opset14

op = opset13
MODELS = {}


def model(function):
    MODELS[function.__name__] = function
    return function


def ints(*values):
    return op.constant(numpy.array(values, dtype=numpy.int64))


def scalar(value):
    return op.constant(numpy.array(value, dtype=numpy.int64))


def weights(*shape):
    return op.constant(numpy.zeros(shape, dtype=numpy.float32))


class Inputs:
    """Makes parameters: open(2, -5, 3) has the shape [2, ?, 3] and is reshaped to [2, 5, 3]."""

    def __init__(self):
        self.parameters, self.sizes = [], {}

    def __call__(self, *sizes, dtype=Type.f32):
        name = f"x{len(self.parameters)}"
        made = op.parameter(PartialShape([-1 if size < 0 else size for size in sizes]), dtype, name=name)
        made.output(0).set_names({name})
        self.parameters.append(made)
        self.sizes.update({f"{name}[{d}]": -size for d, size in enumerate(sizes) if size < 0})
        return made


def window(strides, begin, end, dilations=(1, 1)):
    return list(strides), list(begin), list(end), list(dilations)


@model
def convolutions(x):
    image = x(-2, 6, -37, -41)
    for mode in ("explicit", "same_upper", "same_lower", "valid"):
        yield op.convolution(image, weights(8, 6, 3, 3), *window((2, 3), (1, 0), (0, 2), (1, 2)), auto_pad=mode)
        yield op.group_convolution(image, weights(3, 4, 2, 3, 5), *window((3, 2), (1, 1), (1, 1)), auto_pad=mode)
    made = op.convolution(image, weights(8, 6, 3, 3), *window((2, 2), (1, 1), (1, 1)))
    yield op.convolution(op.relu(made), weights(5, 8, 1, 1), *window((1, 1), (0, 0), (0, 0)))


@model
def convolutions_back(x):
    image = x(-2, 6, -7, -9)
    for mode in ("explicit", "same_upper", "valid"):
        yield op.convolution_backprop_data(image, weights(6, 4, 3, 3), [2, 3], None, [1, 1], [0, 1], [1, 2], mode, [1, 0])
    yield op.convolution_backprop_data(image, weights(6, 4, 3, 3), [2, 2], ints(14, 18), [1, 1], [0, 1], [1, 1])
    yield op.group_convolution_backprop_data(image, weights(2, 3, 4, 2, 2), [2, 2], None, [0, 0], [0, 0], [1, 1])


@model
def pools(x):
    image = x(-2, 4, -11, -10)
    for rounding in ("floor", "ceil", "ceil_torch"):
        for mode in ("explicit", "same_upper", "valid"):
            yield opset14.max_pool(image, [2, 3], [1, 1], [1, 0], [1, 0], [2, 2], rounding, mode).output(0)
            yield opset14.avg_pool(image, [3, 2], [1, 1], [1, 1], [3, 3], True, rounding, mode)
    yield opset8.max_pool(image, [2, 1], [2, 3], [0, 0], [0, 0], [2, 3]).output(0)
    yield op.adaptive_avg_pool(image, ints(3, 5))


@model
def products(x):
    a, b, c = x(-2, 5, -7), x(-2, -7, 6), x(4, -7)
    yield op.matmul(a, b, False, False)
    yield op.matmul(b, a, True, True)
    yield op.matmul(a, weights(9, 7), False, True)
    yield op.matmul(c, c, True, False)
    yield op.einsum([a, b], "abc,acd->adb")


@model
def elementwise(x):
    a, b = x(-2, 1, -7), x(5, -7)
    yield op.select(op.greater(a, b), a, weights(3, 2, 1, 1))
    for kind in (op.add, op.subtract, op.multiply, op.divide, op.maximum, op.power, op.squared_difference, op.mod):
        yield kind(a, b)
    yield op.swish(op.clamp(op.prelu(a, weights(7)), 0.0, 1.0))
    yield op.softmax(op.mvn(a, ints(1, 2), True, 1e-5, "inside_sqrt"), 1)
    yield op.cum_sum(op.convert(a, "f16"), scalar(1))
    yield op.fake_quantize(a, weights(1), weights(1), weights(1), weights(1), 256)


@model
def views(x):
    a = x(-2, 6, -4, 1)
    yield op.reshape(a, ints(0, -1, 3), True)
    yield op.reshape(a, ints(-1, 12), False)
    yield op.squeeze(a, ints(3))
    yield op.unsqueeze(a, ints(0, -1))
    yield op.transpose(a, ints(2, 0, 3, 1))
    yield op.transpose(a, op.constant(numpy.array([], dtype=numpy.int64)))
    yield op.depth_to_space(x(1, 8, -3, -5), "blocks_first", 2)
    yield op.space_to_depth(x(1, 2, -6, -4), "blocks_first", 2)


@model
def parts(x):
    a = x(-2, 9, -8)
    yield from op.split(a, scalar(1), 3).outputs()
    yield from op.variadic_split(a, scalar(2), ints(2, -1, 3)).outputs()
    yield op.slice(a, ints(1, -2), ints(8, -9223372036854775807), ints(2, -3), ints(1, 2))
    yield op.slice(a, ints(-5), ints(100), ints(1), ints(-1))
    yield op.concat([a, op.relu(a), weights(2, 9, 3)], -1)
    yield op.tile(a, ints(4, 1, 2, 3))
    yield op.pad(a, ints(1, 0, -2), ints(0, 3, 4), "constant", op.constant(numpy.float32(0)))
    yield op.roll(op.reverse_sequence(a, op.constant(numpy.array([1, 1])), 0, 1), ints(1), ints(1))


@model
def strided_slices(x):
    a = x(-5, 6, -7, 8)
    zero = [0, 0, 0]
    for at in range(3):
        mask = [int(d == at) for d in range(3)]
        yield op.strided_slice(a, ints(1, 2, 1), ints(3, 4, 5), ints(1, 1, 2), mask, zero, zero, zero, zero)
        yield op.strided_slice(a, ints(1, 2, 1), ints(3, 4, 5), ints(1, 1, 2), zero, mask, zero, zero, zero)
        yield op.strided_slice(a, ints(1, 2, 1), ints(3, 4, 5), ints(1, 1, 2), zero, zero, mask, zero, zero)
        yield op.strided_slice(a, ints(1, 2, 1), ints(3, 4, 5), ints(1, 1, 2), zero, zero, zero, mask, zero)
        yield op.strided_slice(a, ints(1, 2, 1), ints(3, 4, 5), ints(1, 1, 2), zero, zero, zero, zero, mask)
    yield op.strided_slice(a, ints(-1, 5), ints(-6, 1), ints(-1, -2), [1, 0], [1, 0])


@model
def picks(x):
    a = x(-3, 6, -4)
    index = x(-3, 2, dtype=Type.i64)
    yield op.gather(a, ints(1, 0, 1), scalar(1), 0)
    yield op.gather(a, index, scalar(1), 1)
    yield op.gather(a, scalar(1), scalar(-1), 0)
    yield op.gather_elements(a, x(-3, 5, -4, dtype=Type.i64), 1)
    yield op.gather_nd(a, index, 0)
    yield op.gather_nd(a, x(-3, 7, 1, dtype=Type.i64), 1)
    yield op.topk(a, scalar(2), 1, "max", "value").output(0)
    yield op.one_hot(index, scalar(5), op.constant(numpy.float32(1)), op.constant(numpy.float32(0)), -1)
    row = op.unsqueeze(op.gather(a, scalar(0), scalar(0)), ints(0))
    yield op.scatter_nd_update(a, op.constant(numpy.zeros((1, 1), numpy.int64)), row)


@model
def reductions(x):
    a = x(-3, 6, -4)
    for kind in (op.reduce_mean, op.reduce_max, op.reduce_sum, op.reduce_prod, op.reduce_l2):
        yield kind(a, ints(1, -1), True)
        yield kind(a, ints(0), False)
    yield op.reduce_logical_or(op.greater(a, a), ints(2), False)


@model
def images(x):
    a = x(-2, 3, -20, -31)
    for scale in (2.0, 0.5, 1 / 3, 0.7, 1.7):
        yield opset11.interpolate(a, op.constant(numpy.array([scale, scale], numpy.float32)), "nearest", "scales",
                                  axes=ints(2, 3))
    yield opset11.interpolate(a, ints(40, 62), "linear_onnx", "sizes", axes=ints(2, 3))
    yield opset1.interpolate(a, ints(40, 62), {"axes": [2, 3], "mode": "nearest"})
    yield op.roi_align(a, x(-7, 4), x(-7, dtype=Type.i32), 5, 6, 2, 1.0, "avg", "asymmetric")
    yield op.grid_sample(a, x(-2, 5, -9, 2), {})


@model
def camera(x):
    """Of the sizes that situ assumes."""
    seen = op.convolution(x(-1, 3, -224, -224), weights(8, 3, 3, 3), *window((2, 2), (1, 1), (1, 1)))
    pooled = op.max_pool(op.relu(seen), [2, 2], [1, 1], [1, 1], [1, 1], [3, 3]).output(0)
    shape = op.gather(op.shape_of(pooled), ints(0, 1), scalar(0))
    yield op.reshape(pooled, op.concat([shape, ints(-1)], 0), False)
    yield op.reduce_mean(pooled, ints(2, 3), False)


@model
def recurrent(x):
    a, length = x(-2, -9, 5), x(-2, dtype=Type.i64)
    state = x(-2, 1, 4)
    lstm = op.lstm_sequence(a, state, x(-2, 1, 4), length, weights(1, 16, 5), weights(1, 16, 4), weights(1, 16), 4, "forward")
    yield from lstm.outputs()
    yield from op.gru_sequence(a, state, length, weights(1, 12, 5), weights(1, 12, 4), weights(1, 12), 4, "reverse").outputs()
    both = x(-2, 2, 4)
    yield from op.rnn_sequence(a, both, length, weights(2, 4, 5), weights(2, 4, 4), weights(2, 4), 4, "bidirectional").outputs()
    flat = x(-3, 5)
    yield op.gru_cell(flat, x(-3, 4), weights(12, 5), weights(12, 4), weights(12), 4)


@model
def attention(x):
    query, key = x(-2, 3, -5, 8), x(-2, 3, -6, 8)
    yield op.scaled_dot_product_attention(query, key, key)


@model
def computed(x):
    """Shapes that are computed, as exporters of dynamic models write them."""
    a = x(-2, 6, -8, -10)
    shape = op.shape_of(a)
    batch, height = op.gather(shape, ints(0), scalar(0)), op.gather(shape, ints(2), scalar(0))
    yield op.reshape(a, op.concat([batch, ints(-1, 3)], 0), False)
    yield op.broadcast(weights(1, 6, 1, 1), shape, broadcast_spec="NUMPY")
    yield op.broadcast(weights(6, 1, 1), op.concat([batch, ints(6, 1, 1)], 0), broadcast_spec="BIDIRECTIONAL")
    yield op.slice(a, ints(0), op.divide(height, ints(2)), ints(1), ints(2))
    half = op.floor(op.multiply(op.convert(op.gather(shape, ints(2, 3), scalar(0)), "f32"),
                                op.constant(numpy.array([0.5, 1.5], numpy.float32))))
    yield opset11.interpolate(a, op.convert(half, "i64"), "nearest", "sizes", axes=ints(2, 3))
    yield op.range(scalar(0), op.squeeze(height, ints(0)), scalar(3), "i64")
    bounds = op.strided_slice(shape, ints(2), ints(4), ints(1), [0], [0])
    yield op.tile(weights(2, 3), bounds)
    yield op.random_uniform(op.maximum(bounds, ints(9)), op.constant(numpy.float32(0)), op.constant(numpy.float32(1)), "f32")


@model
def branches(x):
    a, test = x(-6, 4), x(dtype=Type.boolean)
    made = op.if_op(test)
    for half, kind in ((made.set_then_body, op.relu), (made.set_else_body, op.tanh)):
        inner = op.parameter(PartialShape([-1, 4]), Type.f32, name="inner")
        half(Model([op.result(kind(op.reshape(inner, ints(-1, 2), False)))], [inner], "half"))
    bodies = [made.get_function(0), made.get_function(1)]
    made.set_input(a.output(0), bodies[0].get_parameters()[0], bodies[1].get_parameters()[0])
    yield made.set_output(bodies[0].results[0], bodies[1].results[0])


@model
def loops(x):
    a = x(-6, -4, 3)
    made = op.tensor_iterator()
    inner = op.parameter(PartialShape([1, -1, 3]), Type.f32, name="inner")
    body = Model([op.result(op.relu(op.reshape(inner, ints(1, -1), False)))], [inner], "body")
    made.set_function(body)
    made.set_sliced_input(inner, a.output(0), 0, 1, 1, -1, 0)
    yield made.get_concatenated_slices(body.results[0].output(0), 0, 1, 1, -1, 0)


def write(name, folder):
    inputs = Inputs()
    outputs = list(MODELS[name](inputs))
    made = Model([op.result(output) for output in outputs], inputs.parameters, name)
    openvino.save_model(made, f"{folder}/{name}.xml", compress_to_fp16=False)
    made.reshape({port: [d.get_length() if d.is_static else inputs.sizes[f"{port.any_name}[{axis}]"]
                         for axis, d in enumerate(port.partial_shape)] for port in made.inputs})
    for node in made.get_ops():
        for port in node.outputs():
            assert port.partial_shape.is_static, f"OpenVINO leaves {name}, {node} open"
    openvino.save_model(made, f"{folder}/{name}_static.xml", compress_to_fp16=False)
    return inputs.sizes


if __name__ == "__main__":
    print(json.dumps({name: write(name, sys.argv[1]) for name in MODELS}))
