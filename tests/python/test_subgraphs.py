"""Sub-graphs for a runtime by what devices support: the rules held anew, on networks that situ makes."""
import pytest

import situ

NETWORKS = ["builtin:bert-base?layers=2", "builtin:inception-v3", "builtin:amoebanet-d"]
NPU = {"Conv", "Relu", "MatMul", "Add", "Concat"}


def check(found, graph, supports, minimum):
    """Every rule, from the names alone; returns the crossings."""
    part_of, device = {}, found.placement
    for k, part in enumerate(found.parts):
        assert len(part.operators) >= minimum.get(part.device, 1)
        for name in part.operators:
            support = supports[part.device]
            assert support is None or (support(graph[name]) if callable(support) else graph[name].kind in support)
            assert name not in part_of
            part_of[name] = k
    assert set(part_of) == set(graph.operators)
    n = 0
    for number, tensor in enumerate(graph.tensors):
        mine = part_of[tensor.producer]
        assert all(mine <= part_of[v] for v in tensor.consumers)  # in this order no part waits for a later one
        n += len({device[v] for v in tensor.consumers} - {device[tensor.producer]})
        readers = {part_of[v] for v in tensor.consumers} - {mine}
        assert {k for k, part in enumerate(found.parts) if number in part.inputs} == readers
        made = bool(readers) or not tensor.consumers
        assert {k for k, part in enumerate(found.parts) if number in part.outputs} == ({mine} if made else set())
    return n


@pytest.mark.parametrize("name", NETWORKS)
@pytest.mark.parametrize("least", [1, 3, 10])
def test_parts_keep_every_rule(name, least):
    supports, graph = {"npu": NPU, "cpu": None}, situ.Graph.read(name)
    found = situ.partition(name, supports, min_operators={"npu": least})
    assert check(found, graph, supports, {"npu": least}) == found.crossings
    assert found.cost == found.crossings + sum(len(p.operators) for p in found.parts if p.device == "cpu")
    assert found.outcome == "optimal" if least == 1 else found.lower_bound <= found.cost


def test_a_runtime_that_takes_whatever_is_supported_has_no_fewer_crossings():
    """ONNX Runtime gives each operator to the first provider that supports it; crossings then are not a choice."""
    graph = situ.Graph.read("builtin:inception-v3")
    first = {op.name: "npu" if op.kind in NPU else "cpu" for op in graph}
    n = sum(len({first[v] for v in t.consumers} - {first[t.producer]}) for t in graph.tensors)
    assert situ.partition("builtin:inception-v3", {"npu": NPU, "cpu": None}).crossings <= n


def test_costs_and_functions_say_what_is_better():
    graph = situ.Graph("three")
    for name, kind in (("a", "Conv"), ("b", "Odd"), ("c", "Conv")):
        graph.add_operator(name, kind=kind)
    graph.connect("a", "b")
    graph.connect("b", "c")
    supports = {"npu": lambda op: op.kind == "Conv", "cpu": None}
    assert [p.device for p in situ.partition(graph, supports).parts] == ["cpu"]  # 3 against 1 and 2 crossings: a tie, fewer parts
    dear = situ.partition(graph, supports, costs=lambda op, device: 5 if device == "cpu" else 0)
    assert [(p.device, p.operators) for p in dear.parts] == [("npu", ["a"]), ("cpu", ["b"]), ("npu", ["c"])]
    assert (dear.cost, dear.crossings, dear.outcome) == (7, 2, "optimal")
    assert dear.parts[1].inputs == [0] and dear.parts[1].outputs == [1] and dear.parts[2].outputs == []
    named = situ.partition(graph, {"gpu0": supports["npu"], "cpu": None}, costs=lambda op, device: 0)
    assert situ.place(graph, "cpu+v100-16g", fix=named.placement, steps=10).placement == named.placement


def test_what_cannot_be_is_said():
    graph = situ.Graph("one")
    graph.add_operator("a", kind="Odd")
    with pytest.raises(situ.BadInput, match="no device supports") as refused:
        situ.partition(graph, {"npu": NPU})
    assert refused.value.where == "a"
    none = situ.partition(graph, {"npu": None}, min_operators={"npu": 2})
    assert none.outcome == "infeasible" and none.parts == [] and none.cost is None
    with pytest.raises(situ.BadArgument, match="names 'gpu'"):
        situ.partition(graph, {"npu": None}, min_operators={"gpu": 2})
    with pytest.raises(situ.BadArgument, match="crossing_cost: .* not -1"):
        situ.partition(graph, {"npu": None}, crossing_cost=-1)
    with pytest.raises(situ.BadArgument):
        situ.partition(graph, {})


@pytest.mark.parametrize("asked, what", [({"costs": lambda op, device: 2**64 + 1}, "the cost of .* on npu: expected a whole"),
                                         ({"costs": lambda op, device: 0.5}, "the cost of"), ({"part_cost": 2**64}, "part_cost"),
                                         ({"crossing_cost": 2**64 + 1}, "crossing_cost"),
                                         ({"min_operators": {"npu": 2**32 + 1}}, "min_operators of npu")])
def test_numbers_that_do_not_fit_are_refused(asked, what):
    """They were cut to 64 or 32 bits, and the answer called optimal."""
    with pytest.raises(situ.BadArgument, match=what):
        situ.partition(NETWORKS[0], {"npu": NPU, "cpu": None}, **asked)


def test_a_text_is_one_kind_and_no_other_in_it():
    """ "MatMul Add" would have every kind that is a piece of it."""
    found = situ.partition(NETWORKS[0], {"npu": "MatMul", "cpu": None}, crossing_cost=1, costs=lambda op, d: 9 * (d == "cpu"))
    graph = situ.Graph.read(NETWORKS[0])
    assert {graph[name].kind for name, device in found.placement.items() if device == "npu"} == {"MatMul"}
    with pytest.raises(situ.BadInput, match="no device supports"):
        situ.partition(NETWORKS[0], {"npu": " ".join(graph[name].kind for name in graph.operators)})
