"""Runs the exported graph of a module by a plan.

Each device has a thread, pinned to cores of its own where times are taken, and one straight-line function with its
operators in the order of the plan. A value that another device reads is put into a queue for it, once, and taken there
at its first use. Devices thus work in parallel: PyTorch lets other threads run while an operator works."""

from __future__ import annotations

import operator
import os
import threading
from concurrent.futures import Future, ThreadPoolExecutor
from queue import SimpleQueue
from time import perf_counter_ns
from typing import TYPE_CHECKING, Any, Callable, Mapping, NamedTuple, Sequence

import torch
from torch.utils import _pytree as pytree

from ._exported import TorchGraph, graph_of, state_of, user_outputs
from ._library import BadArgument

if TYPE_CHECKING:
    from ._plan import Plan

Node = torch.fx.Node
_FAILED = object()  # what a queue holds when the device before it has failed


class _OtherFailed(Exception):
    """Another device has failed and reports the reason."""


def device_names(plan: Plan, given: Mapping[str, Any] | None) -> dict[str, Any]:
    """The PyTorch name of each device: as given; else "cpu" for the host and 0, 1, ... for accelerators in their
    order."""
    names: dict[str, Any] = {}
    for device in plan.devices:
        names[device.name] = "cpu" if device.is_host else sum(1 for name in names.values() if name != "cpu")
    unknown = set(given or ()) - set(names)
    if unknown:
        raise BadArgument(f"the platform has no device {sorted(unknown)[0]}")
    return {**names, **(given or {})}


def torch_device(name: Any) -> torch.device:
    found = torch.device(f"cuda:{name}" if isinstance(name, int) else name)
    if found.type == "cuda" and (found.index or 0) >= torch.cuda.device_count():
        raise BadArgument(f"this machine has no {found}; specify with devices= where the plan should run")
    return found


def _to(value: Any, device: torch.device) -> Any:
    return pytree.tree_map(lambda t: t.to(device) if isinstance(t, torch.Tensor) else t, value)


def wait_for(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize(device)


# ---- what each device runs ----


class Channel:
    """A value in transit to another device, for successive inputs."""

    def __init__(self, at: torch.device):
        self.queue: SimpleQueue[Any] = SimpleQueue()
        self.at, self.waited_ns = at, 0

    def put(self, value: Any) -> None:
        self.queue.put(_to(value, self.at))

    def take(self) -> Any:
        begun = perf_counter_ns()
        value = self.queue.get()
        self.waited_ns += perf_counter_ns() - begun
        if value is _FAILED:
            self.queue.put(value)  # for the inputs behind this one
            raise _OtherFailed
        return value


class _Timed(torch.fx.Interpreter):
    """Takes the time of each call; on CUDA that between two events of its stream."""

    def __init__(self, module: torch.fx.GraphModule, at: torch.device):
        super().__init__(module)
        self._at, self._marks = at, []  # type: torch.device, list[tuple[Any, Any]]

    def _mark(self) -> Any:
        if self._at.type != "cuda":
            return perf_counter_ns()
        event = torch.cuda.Event(enable_timing=True)  # type: ignore[no-untyped-call]
        event.record(torch.cuda.current_stream(self._at))
        return event

    def call_function(self, target: Any, args: Any, kwargs: Any) -> Any:
        begin = self._mark()
        value = target(*args, **kwargs)
        self._marks.append((begin, self._mark()))
        return value

    def times_ns(self) -> list[float]:
        """Of each call, in their order."""
        wait_for(self._at)
        return [1e6 * a.elapsed_time(b) if hasattr(a, "elapsed_time") else b - a for a, b in self._marks]


class Ran(NamedTuple):
    """One run of one part."""

    values: Any
    ended_ns: int
    busy_ns: int  #: waiting for others aside


class Part:
    """The part of one device, on a thread of its own."""

    def __init__(self, device: str, at: torch.device):
        self.device, self.at = device, at
        self.graph = torch.fx.Graph()
        self.made: dict[Node, Node] = {}  # from nodes of the program to those here
        self.operators: list[str | None] = []  # of each call; None: a hand-over
        self.gives: list[Node] = []  # nodes of the program whose values are the results
        self.inbox: list[Channel] = []
        self.timed: _Timed | None = None
        self.time_calls = False

    def finish(self, root: torch.nn.Module) -> None:
        self.graph.output(tuple(self.made[node] for node in self.gives))
        for node in [n for n in self.graph.nodes if n.op == "placeholder" and not n.users]:
            self.graph.erase_node(node)
        self.takes = [str(n.target) for n in self.graph.nodes if n.op == "placeholder"]
        self.module = torch.fx.GraphModule(root, self.graph)

    def start(self, states: Mapping[str, Any], threads: int | None, core: int) -> None:
        """Starts its thread and moves the weights that it reads to its device."""

        def settle() -> None:
            if threads is not None:
                torch.set_num_threads(threads)
            if core >= 0 and threads is not None:
                os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[core : core + threads])

        self.pool = ThreadPoolExecutor(1, f"situ-{self.device}", settle)
        self.held = {name: _to(states[name], self.at) for name in self.takes if name in states}

    def run(self, inputs: Mapping[str, Any]) -> Ran:
        before, begun = sum(c.waited_ns for c in self.inbox), perf_counter_ns()
        with torch.no_grad():
            arguments = [self.held[n] if n in self.held else _to(inputs[n], self.at) for n in self.takes]
            if self.time_calls:
                self.timed = _Timed(self.module, self.at)
                values = self.timed.run(*arguments)
            else:
                values = self.module(*arguments)
            wait_for(self.at)
        ended = perf_counter_ns()
        return Ran(values, ended, ended - begun - (sum(c.waited_ns for c in self.inbox) - before))


class Lowering:
    """The graph as one function for each device."""

    def __init__(
        self,
        source: TorchGraph,
        placement: Mapping[str, str],
        at: Mapping[str, torch.device],
        start_ns: Callable[[str], int] = lambda name: 0,
    ):
        program = source.program
        self.operator_of: dict[Node, str] = {}  # views are part of what they look at
        self.home: dict[Node, str] = {}
        self.views: set[Node] = set()
        self.channels: dict[tuple[Node, str], Channel] = {}
        calls = [node for node in program.graph.nodes if node.op == "call_function"]
        for node in calls:
            if node.name not in source.operator_of:
                bases = (self.operator_of[used] for used in node.all_input_nodes if used in self.operator_of)
                self.operator_of[node] = next(bases, next(iter(source.operators)))  # of sizes of inputs: any
                if node.target is not operator.getitem:
                    self.views.add(node)
            else:
                self.operator_of[node] = source.operator_of[node.name]
            self.home[node] = placement[self.operator_of[node]]
        self.parts = {device: Part(device, at[device]) for device in dict.fromkeys(self.home.values())}
        for part in self.parts.values():
            for node in program.graph.nodes:
                if node.op == "placeholder":
                    part.made[node] = part.graph.placeholder(node.name)
        self.results = user_outputs(program)
        for node in calls:
            for used in node.all_input_nodes:
                self._find_channels(used, self.home[node])
        for node in sorted(calls, key=lambda call: start_ns(self.operator_of[call])):  # stable
            self._add(node, self.parts[self.home[node]])
        for value in dict.fromkeys(v for v in self.results if v in self.home):
            self.parts[self.home[value]].gives.append(value)
        for part in self.parts.values():
            part.finish(program.graph_module)

    def _find_channels(self, node: Node, device: str) -> None:
        """What has to be sent so that the device has this value: views are looked at there."""
        if node not in self.home or self.home[node] == device or (node, device) in self.channels:
            return
        if node in self.views:
            for used in node.all_input_nodes:
                self._find_channels(used, device)
        else:
            channel = self.channels[node, device] = Channel(self.parts[device].at)
            self.parts[device].inbox.append(channel)

    def _local(self, node: Node, part: Part) -> Node:
        """The value of a node in a part, which takes it from where it is made at its first use."""
        if node not in part.made:
            if (node, part.device) in self.channels:
                part.made[node] = part.graph.call_function(self.channels[node, part.device].take)
                part.operators.append(None)
            elif node.op == "get_attr":
                part.made[node] = part.graph.node_copy(node)
            else:
                assert node in self.views, f"{node} is read before it is made"
                self._copy(node, part)
        return part.made[node]

    def _copy(self, node: Node, part: Part) -> None:
        copied = part.graph.node_copy(node, lambda used: self._local(used, part))
        if copied.kwargs.get("device") is not None:
            copied.kwargs = {**copied.kwargs, "device": part.at}
        part.made[node] = copied
        part.operators.append(self.operator_of[node])

    def _add(self, node: Node, part: Part) -> None:
        self._copy(node, part)
        for device in self.parts:
            if (node, device) in self.channels:
                part.graph.call_function(self.channels[node, device].put, (part.made[node],))
                part.operators.append(None)

    def handovers(self) -> list[tuple[str, str, str]]:
        return [(node.name, self.home[node], device) for node, device in self.channels]


class Engine:
    """The parts of a lowering, with their threads."""

    def __init__(self, source: TorchGraph, lowering: Lowering, threads: int | None):
        self.program, self.lowering, self.parts = source.program, lowering, list(lowering.parts.values())
        self._under_way, self._failed = 0, False
        specs = source.program.graph_signature.input_specs
        names = {spec.arg.name: str(spec.target) for spec in specs if spec.target is not None}
        self._inputs = [n.name for n in self.program.graph.nodes if n.op == "placeholder" and n.name not in names]
        self._states = {name: state_of(self.program, state) for name, state in names.items()}
        wide, cores = threads or 1, len(os.sched_getaffinity(0))
        on_cpu = [part for part in self.parts if part.at.type == "cpu"]
        for part in self.parts:
            pinned = part in on_cpu and len(on_cpu) * wide <= cores
            part.start(self._states, threads, on_cpu.index(part) * wide if pinned else -1)

    def submit(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[Future[Ran]]:
        inputs = dict(zip(self._inputs, pytree.tree_leaves((tuple(args), dict(kwargs)))))
        self._under_way += 1
        return [part.pool.submit(self._guarded, part, inputs) for part in self.parts]

    def _guarded(self, part: Part, inputs: Mapping[str, Any]) -> Ran:
        try:
            return part.run(inputs)
        except BaseException:
            for channel in self.lowering.channels.values():
                channel.queue.put(_FAILED)
            raise

    def finish(self, futures: Sequence[Future[Ran]]) -> list[Ran]:
        """Waits for all parts; the first failure is the caller's. Queues are empty again once no input is in flight."""
        failures = [failure for future in futures if (failure := future.exception()) is not None]
        self._under_way -= 1
        self._failed |= bool(failures)
        if self._failed and self._under_way == 0:
            for channel in self.lowering.channels.values():
                channel.queue = SimpleQueue()
            self._failed = False
        if failures:
            raise next((failure for failure in failures if not isinstance(failure, _OtherFailed)), failures[0])
        return [future.result() for future in futures]

    def result(self, ran: Sequence[Ran], args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """The outputs of the module."""
        values = {node: v for part, done in zip(self.parts, ran) for node, v in zip(part.gives, done.values)}
        named = {**self._states, **dict(zip(self._inputs, pytree.tree_leaves((tuple(args), dict(kwargs)))))}
        out = []
        for node in self.lowering.results:
            if isinstance(node, Node) and node not in values:
                is_input = node.op == "placeholder"
                values[node] = (
                    named[node.name] if is_input else operator.attrgetter(str(node.target))(self.program.graph_module)
                )
            out.append(values[node] if isinstance(node, Node) else node)
        return pytree.tree_unflatten(out, self.program.call_spec.out_spec)

    def time_calls(self, timed: bool) -> None:
        for part in self.parts:
            part.time_calls = timed

    def call_times(self) -> dict[str, float]:
        """Of the last run, the times of the operators' calls in ns, with those of views of what they make."""
        times: dict[str, float] = {}
        for part in self.parts:
            assert part.timed is not None
            for op, ns in zip(part.operators, part.timed.times_ns()):
                if op is not None:
                    times[op] = times.get(op, 0) + ns
        return times

    def stop(self) -> None:
        for part in self.parts:
            part.pool.shutdown(cancel_futures=True)


class Runner:
    """Runs an exported module by its plan: each operator on its device, each tensor sent once to each device that needs
    it. `devices` names the torch device of each device of the platform. `handovers` is what a run sends: (tensor, from,
    to), weights and inputs of the module aside. With `threads`, each device has that many, on cores of its own where
    there are enough. It serves one call at a time."""

    def __init__(self, plan: Plan, devices: Mapping[str, Any] | None = None, *, threads: int | None = None):
        self.graph, placement = graph_of(plan), plan.placement
        names, used = device_names(plan, devices), set(placement.values())
        at = {name: torch_device(device) for name, device in names.items() if name in used}
        lowering = Lowering(self.graph, placement, at, lambda name: plan.times_of(name)[0])
        self._engine, self._lock = Engine(self.graph, lowering, threads), threading.Lock()
        self.handovers = lowering.handovers()

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        with self._lock:
            ran = self._engine.finish(self._engine.submit(args, kwargs))
        return self._engine.result(ran, args, kwargs)


def run(plan: Plan, *args: Any, devices: Mapping[str, Any] | None = None, **kwargs: Any) -> Any:
    """Runs the module of a plan once, as Runner does, with these arguments. Its result is that of the module."""
    return Runner(plan, devices)(*args, **kwargs)
