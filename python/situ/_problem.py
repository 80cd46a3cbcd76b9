"""A posed problem for solvers of your own: where operators may run, at what cost, and the value of a placement."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Mapping, Sequence

from . import _interface as c
from ._graph import Graph, _of_pointer, names_of
from ._inputs import Costs, Folder, Machine, Model, Placement, set_inputs
from ._library import NEVER_NS, BadArgument, Frozen, lib, make, sized, summary, to_bytes
from ._options import fill
from ._plan import Instance, Plan, Unknown, unknown_of
from ._platform import Device, devices_of
from ._watch import ProgressOption, Watch

if TYPE_CHECKING:
    from ._options import Options, Unpack


class Problem(Frozen):
    """A model on a machine with its costs, before anything is placed. Frozen: any number of threads may use it.

    model, platform, costs, fix and options are those of situ.place. Constraints that `units` does not show
    (granularity, pins, contiguity, memory) are judged in `value_ns`."""

    def __init__(
        self,
        model: Model,
        platform: Machine = None,
        *,
        costs: Costs = None,
        fix: Placement = None,
        **options: Unpack[Options],
    ):
        filled, folder = fill(options), Folder()
        set_inputs(filled, folder, model, platform, costs, fix)
        self._instance = Instance.open(filled, folder)
        self._costs = lib.situ_problem_costs(self._instance.problem)
        self.operators: list[str] = names_of(self._instance.graph)  #: names, in topological order
        self.devices: list[Device] = devices_of(self._instance.platform)
        self._operator = {name: v for v, name in enumerate(self.operators)}
        self._device = {device.name: d for d, device in enumerate(self.devices)}

    @property
    def graph(self) -> Graph:
        """The operator graph."""
        return _of_pointer(self._instance.graph)

    @property
    def units(self) -> list[list[str]]:
        """Operators that share a device, because the costs fuse them or the model requires it; most are
        single. In topological order of their first members."""
        lead = list(range(len(self.operators)))

        def find(v: int) -> int:
            while lead[v] != v:
                lead[v] = lead[lead[v]]
                v = lead[v]
            return v

        first: dict[int, int] = {}
        op = sized(c.situ_operator)
        for v in range(len(lead)):
            lib.situ_graph_operator(self._instance.graph, v, ctypes.byref(op))
            others = [lib.situ_costs_kernel(self._costs, v)]
            if op.colocation >= 0:
                others.append(first.setdefault(op.colocation, v))
            for other in others:
                a, b = sorted((find(v), find(other)))
                lead[b] = a
        found: dict[int, list[str]] = {}
        for v, name in enumerate(self.operators):
            found.setdefault(find(v), []).append(name)
        return list(found.values())

    @property
    def unknown(self) -> list[Unknown]:
        """What the costs rest on that the model does not say, by falling share of the time; empty if nothing."""
        return unknown_of(self._instance.problem)

    def time_ns(self, operator: str, device: str) -> int | None:
        """The time of an operator on a device; None if it cannot run there. A kernel's time is that of its head, and
        0 for the others in it."""
        v, d = self._operator[operator], self._device[device]
        time = int(lib.situ_costs_time_ns(self._costs, self._instance.platform, v, d))
        return None if time == NEVER_NS else time

    def transfer_ns(self, tensor: int, from_device: str, to_device: str) -> int:
        """The time of a tensor, by its number in `graph.tensors`, from one device to another, without contention."""
        there = self._device[from_device], self._device[to_device]
        return int(lib.situ_costs_transfer_ns(self._costs, self._instance.platform, tensor, *there))

    def evaluate(self, placement: Mapping[str, str], order: Sequence[str] | None = None) -> Plan:
        """A plan of this placement, simulated: no constraint is enforced, `plan.check()` names those that are broken,
        and there is no bound. `order`, of all operators and topological, decides the sequence on each device."""
        numbers = ctypes.c_int32 * len(self.operators)
        try:
            where = numbers(*(self._device[placement[name]] for name in self.operators))
            sequence = None if order is None else numbers(*(self._operator[name] for name in order))
        except (KeyError, TypeError):
            raise BadArgument(self._fault(placement, order)) from None
        return Plan(make("situ_simulate", self._instance.problem, where, sequence), self._instance)

    def _fault(self, placement: Mapping[str, str], order: Sequence[str] | None) -> str:
        """What is wrong with a placement or an order that names what is not there."""
        if not isinstance(placement, Mapping):
            return f"a placement maps names of operators to names of devices; it is of type {type(placement).__name__}"
        for name in self.operators:
            if name not in placement:
                return f"the placement has no device for the operator {name!r}"
            if placement[name] not in list(self._device):
                return f"{name!r} is placed on {placement[name]!r}; the devices are {', '.join(self._device)}"
        return f"the order names {next(name for name in order or () if name not in self._operator)!r}, not an operator"

    def __repr__(self) -> str:
        return f"<situ.Problem: {len(self.operators)} operators on {', '.join(self._device)}>"

    def value_ns(self, placement: Mapping[str, str], order: Sequence[str] | None = None) -> int | None:
        """The value of a placement: the simulated latency or period; None if the checker rejects it."""
        plan = self.evaluate(placement, order)
        verdict = make("situ_check", plan._pointer)
        try:
            return None if summary("verdict", verdict).n_found else plan.value_ns
        finally:
            lib.situ_verdict_free(verdict)

    def serves(self, solver: str) -> bool:
        """Whether a solver of situ supports this problem: its execution model and its options. False for unknown
        names."""
        return bool(lib.situ_solver_serves(to_bytes(solver), self._instance.problem))

    def carry(self, plan: Plan) -> Plan:
        """The placement of a plan of another version of the model, or of another machine, on this problem, simulated.
        Operators are matched by name and by structure, devices by name and class; what is new goes where its inputs
        are made."""
        return Plan(make("situ_plan_carry", plan._pointer, self._instance.problem), self._instance)

    def solve(self, *, bounds: bool = True, start: Plan | None = None, progress: ProgressOption = None, **options: Unpack[Options]) -> Plan:
        """Solves by situ, with the options of situ.place that concern solving. Without others this is the best plan
        found, not one of few hand-overs. Without `bounds` the search begins at once, and only what the solver itself
        proves is known. `start` is a plan to start from, of this problem or carried over to it."""
        filled = fill(options)
        filled.solve.no_bounds = not bounds
        if start is not None:
            begin = start if start._instance is self._instance else self.carry(start)
            filled.solve.starts, filled.solve.n_starts = (ctypes.c_void_p * 1)(begin._pointer), 1
        with Watch(progress) as watch:
            watch.attach(filled.solve)
            return Plan(make("situ_solve", self._instance.problem, ctypes.byref(filled.solve)), self._instance)
