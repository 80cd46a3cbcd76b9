"""Asked again: times from arrays, and plans of an earlier version of a model to start from."""
import array
import math

import pytest

import situ

MACHINE = "cpu+2*v100-16g"


def chain(n=8, extra=None):
    graph = situ.Graph("chain")
    for k in range(n):
        if k == extra:
            graph.add_operator("new", kind="Cast", dtype="f32", flops=10)
        graph.add_operator(f"layer{k}", kind="MatMul", dtype="f32", flops=10**9 * (k + 1), moved_bytes=10**6)
    names = list(graph.operators)
    for a, b in zip(names, names[1:]):
        graph.connect(a, b, 1000)
    return graph


def numbers(rows):
    """The forms in which a program may have a table."""
    made = {"lists": rows, "buffer": memoryview(array.array("d", [x for row in rows for x in row])).cast("B").cast("d", [len(rows), len(rows[0])])}
    for name, module in (("numpy", "array"), ("torch", "tensor")):
        try:
            made[name] = getattr(__import__(name), module)(rows)
        except ImportError:
            pass
    return made


def test_an_array_of_costs_is_a_table():
    rows = [[1000.0 * (k + 1), 500.0 * (8 - k)] for k in range(8)]
    table = {f"layer{k}": {"cpu": row[0], "v100-16g": row[1]} for k, row in enumerate(rows)}
    expected = situ.costs(chain(), MACHINE, costs=table)["operators"]
    for form, given in numbers(rows).items():
        assert situ.costs(chain(), MACHINE, costs=given)["operators"] == expected, form
    by_device = [[cpu, gpu, gpu] for cpu, gpu in rows]
    assert situ.costs(chain(), MACHINE, costs=by_device)["operators"] == expected


def test_an_array_leaves_estimates_and_forbids():
    rows = [[math.nan, 5.0]] + [[7.0, math.inf]] * 7
    estimated = situ.costs(chain(), MACHINE)["operators"]
    found = situ.costs(chain(), MACHINE, costs=rows)["operators"]
    assert found["layer0"] == {"cpu": estimated["layer0"]["cpu"], "v100-16g": 5}
    assert found["layer1"]["cpu"] == 7 and found["layer1"].get("v100-16g") is None
    assert situ.place(chain(), MACHINE, costs=rows, steps=20).device_of("layer1") == "cpu"


def test_rows_of_a_file_are_in_the_order_of_the_problem(tmp_path):
    graph = chain()
    graph.save(tmp_path / "m.json")
    names = situ.Problem(tmp_path / "m.json", MACHINE).operators
    rows = [[float(10 * int(name[5:]) + 1), 9.0] for name in names]
    found = situ.costs(tmp_path / "m.json", MACHINE, costs=rows)["operators"]
    assert all(found[name]["cpu"] == 10 * int(name[5:]) + 1 for name in names)


@pytest.mark.parametrize("rows, what", [([[1.0, 2.0]] * 7, "8 operators .* this is 7 x 2"), ([[1.0] * 4] * 8, "2 classes .* 3 devices"),
                                        ([[1.0, 2.0, 3.0]] * 8, "class v100-16g differ in the costs of layer0"),
                                        ([[1.0, 2.0], [1.0]] * 4, "this is 8 x 1 to 2"), ([1.0] * 8, "2 dimensions"),
                                        (5, "expected to be a table, .* this is int"), ([[1.0, 1e30]] * 8, "at most 2..54"),
                                        ([["1", "2"]] * 8, "cost of layer0 on cpu is '1'")])
def test_an_array_of_another_shape_is_refused(rows, what):
    with pytest.raises(situ.BadArgument, match=what):
        situ.place(chain(), MACHINE, costs=rows)


@pytest.mark.parametrize("dtype", ["f2", ">f8", "g", "O", "i1"])
def test_numbers_of_any_width_are_times(dtype):
    numpy = pytest.importorskip("numpy")
    found = situ.costs(chain(), MACHINE, costs=numpy.full((8, 2), 3).astype(dtype))["operators"]
    assert found["layer0"] == {"cpu": 3, "v100-16g": 3}


def test_an_array_of_one_dimension_is_refused():
    with pytest.raises(situ.BadArgument, match="2 dimensions"):
        situ.place(chain(), MACHINE, costs=memoryview(array.array("d", [1.0] * 16)))


def test_a_plan_of_the_model_before_is_a_start():
    """Half of the layers on each GPU, by pins: the changed model begins there, and a search of no step keeps it."""
    halves = {f"layer{k}": "gpu0" if k < 4 else "gpu1" for k in range(8)}
    before = situ.place(chain(), MACHINE, fix=halves)
    problem = situ.Problem(chain(extra=4), MACHINE)
    carried = problem.carry(before)
    assert carried.placement == {**halves, "new": "gpu0"}  # where its input is made
    assert problem.solve(start=before, steps=1).value_ns <= carried.value_ns
    assert situ.place(chain(extra=4), MACHINE, start=before, steps=1).value_ns <= carried.value_ns
    other = situ.place(chain(extra=4), "cpu+3*v100-16g", start=before, steps=1)
    assert other.value_ns <= situ.Problem(chain(extra=4), "cpu+3*v100-16g").carry(before).value_ns


def test_a_plan_without_a_placement_is_no_start():
    none = situ.place(chain(), MACHINE, fix={"layer0": "gpu1"}, unused="gpu1")
    with pytest.raises(situ.BadArgument, match="no placement to carry over"):
        situ.place(chain(), MACHINE, start=none)
