"""Sub-graphs for a runtime: which device runs what, by the operators that each supports."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Callable, Collection, Mapping, Union

from . import _interface as c
from ._graph import Operator, operators_of
from ._inputs import Folder, Model, set_inputs
from ._library import BadArgument, lib, make, sized, summary, to_str
from ._options import _whole, fill

if TYPE_CHECKING:
    from ._options import Options, Unpack

MAX_COST, MAX_OPERATORS = 2**54, 2**31 - 1  # of situ/partition.h; of an int32_t

#: What a device supports: kinds of operators, a function, or None for everything.
Support = Union[Collection[str], Callable[[Operator], bool], None]


@dataclass(frozen=True)
class Part:
    """A sub-graph for one device. `operators` are in an order that runs. `inputs` and `outputs` are numbers of tensors
    as in `situ.Graph.read(model).tensors`: what other parts make, and what other parts or nobody reads."""

    device: str
    operators: list[str]
    inputs: list[int]
    outputs: list[int]


@dataclass(frozen=True)
class Partition:
    """Parts in an order in which they can run. `outcome` is "optimal" if no partition costs less, "infeasible" if it is
    proved that there is none, "limit" if none was found; these two have no parts."""

    outcome: str
    parts: list[Part]
    crossings: int
    cost: int | None
    lower_bound: int

    @property
    def placement(self) -> dict[str, str]:
        """The device of each operator: also `fix` of situ.place."""
        return {name: part.device for part in self.parts for name in part.operators}


def _runs(support: Support, op: Operator) -> bool:
    if support is None:
        return True
    if isinstance(support, str):
        return op.kind == support
    return bool(support(op)) if callable(support) else op.kind in support


def _count(value: Any, what: str, most: int) -> int:
    """A number for C, which would cut off what does not fit."""
    try:
        return _whole(0, most)(value)
    except BadArgument as e:
        raise BadArgument(f"{what}: {e}") from None


def _fill_own(own: Any, operators: list[Operator], devices: list[str], minimum: Any, costs: Any) -> None:
    """The arrays of the options, which `own` keeps alive."""
    for name in minimum or ():
        if name not in devices:
            raise BadArgument(f"min_operators names {name!r}; the devices are {', '.join(devices)}")
    if minimum:
        own.min_operators = (ctypes.c_int32 * len(devices))(
            *(_count(minimum.get(name, 1), f"min_operators of {name}", MAX_OPERATORS) for name in devices)
        )
    if costs is not None:
        rows = [_count(costs(op, d), f"the cost of {op.name} on {d}", MAX_COST) for op in operators for d in devices]
        own.costs = (ctypes.c_int64 * len(rows))(*rows)


def partition(
    model: Model,
    supports: Mapping[str, Support],
    *,
    min_operators: Mapping[str, int] | None = None,
    costs: Callable[[Operator, str], int] | None = None,
    crossing_cost: int = 1,
    part_cost: int = 0,
    example_inputs: Any = None,
    **options: Unpack[Options],
) -> Partition:
    """Cuts a model into sub-graphs by what devices support, as a runtime does for its back ends: no cycle leads through
    parts, and each has at least `min_operators` of its device. Minimised is the cost of operators + crossing_cost for
    each tensor and device that receives it + part_cost for each part. Without `costs` an operator costs the number of
    its device in `supports`: the first is preferred. options are those that concern reading, and steps and time_limit.

    situ.partition("model.onnx", {"npu": {"Conv", "Relu", "MatMul"}, "cpu": None}, min_operators={"npu": 3})"""
    filled, folder, devices = fill(options), Folder(), list(supports)
    set_inputs(filled, folder, model, None, example_inputs=example_inputs)
    with folder.unnamed():
        read = make("situ_model_read", filled.instance.model, ctypes.byref(filled.read))
    try:
        graph = lib.situ_model_graph(read)
        operators = list(operators_of(graph))
        can = [_runs(supports[device], op) for op in operators for device in devices]
        own = sized(c.situ_partition_options)
        _fill_own(own, operators, devices, min_operators, costs)
        if crossing_cost == 0:
            raise BadArgument("crossing_cost is at least 1; larger costs of operators make it count less")
        own.crossing_cost = _count(crossing_cost, "crossing_cost", MAX_COST)
        own.part_cost = _count(part_cost, "part_cost", MAX_COST)
        own.max_steps, own.time_limit_s = filled.solve.max_steps, filled.solve.time_limit_s
        given = (ctypes.c_bool * len(can))(*can)
        found = make("situ_partition_find", graph, len(devices), given, ctypes.byref(own))
        try:
            return _of_pointer(found, [op.name for op in operators], devices)
        finally:
            lib.situ_partition_free(found)
    finally:
        lib.situ_model_free(read)


def _of_pointer(pointer: int, names: list[str], devices: list[str]) -> Partition:
    says, row, parts = summary("partition", pointer), sized(c.situ_subgraph), []
    for k in range(says.n_parts):
        lib.situ_partition_part(pointer, k, ctypes.byref(row))
        operators = [names[v] for v in row.operators[: row.n_operators]]
        parts.append(Part(devices[row.device], operators, row.inputs[: row.n_inputs], row.outputs[: row.n_outputs]))
    outcome = to_str(lib.situ_outcome_name(says.outcome))
    return Partition(outcome, parts, says.n_crossings, says.cost if parts else None, says.lower_bound)
