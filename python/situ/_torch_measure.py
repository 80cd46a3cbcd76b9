"""Measured costs of a module's operators on PyTorch, and plans measured against their predictions."""

from __future__ import annotations

import collections
import json
import math
import os
import statistics
from concurrent.futures import Future, ThreadPoolExecutor
from time import perf_counter_ns
from typing import TYPE_CHECKING, Any, Iterator, Mapping, Sequence

import torch
from torch.utils import _pytree as pytree

from ._exported import TorchGraph, graph, graph_of
from ._library import BadArgument, lib
from ._torch_run import Channel, Engine, Lowering, device_names, torch_device, wait_for
from ._watch import duration

if TYPE_CHECKING:
    import pandas
    from torch.export import ExportedProgram

    from ._plan import Plan

_SMALL_BYTES, _BIG_BYTES = 64, 4 << 20  # of the two tensors that measure a hand-over
_HANDOVERS = 20  # of each size
_SEGMENTS = 5  # of the inputs of a pipeline: each gives a period
_MIN_RUNS = 3


def _cpu_name() -> str | None:
    """The CPU as /proc/cpuinfo names it, and as situ compares it with that of this-host."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as lines:
            return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), None)
    except OSError:
        return None


def _middle(values: Sequence[float]) -> tuple[int, int]:
    """The median and half the interquartile range, in whole ns."""
    ordered = sorted(values)
    n = len(ordered) - 1
    return round(statistics.median(ordered)), round((ordered[3 * n // 4] - ordered[n // 4]) / 2)


def _table(rows: Sequence[Sequence[str]]) -> str:
    widths = [max(map(len, column)) for column in zip(*rows)]
    return "\n".join("  ".join(f"{cell:{w}}" for cell, w in zip(row, widths)).rstrip() for row in rows)


def _arguments(source: TorchGraph, given: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Inputs as positional and keyword arguments; by default those that the module was exported with."""
    if given is None:
        args, kwargs = source.program.example_inputs or ((), {})
        found = tuple(args), dict(kwargs)
    elif isinstance(given, Mapping):
        found = (), dict(given)
    else:
        found = (tuple(given) if isinstance(given, (tuple, list)) else (given,)), {}
    states = [source.program.state_dict[name] for name in source.program.state_dict]
    if any(isinstance(t, torch.Tensor) and t.is_meta for t in (*pytree.tree_leaves(found), *states)):
        raise BadArgument('the module or its inputs are on the device "meta", where nothing can be measured')
    return found


class _Threads:
    """Context in which the thread counts of PyTorch may be changed."""

    def __enter__(self) -> None:
        self._before = torch.get_num_threads()

    def __exit__(self, *ignored: Any) -> None:
        torch.set_num_threads(self._before)


# ---- costs ----


class Profile(dict[str, Any]):
    """Measured times, as a cost table (docs/formats/costs.md) that `costs=` of situ.place takes."""

    graph: TorchGraph  #: what was measured, to be placed
    whole_ns: dict[str, int]  #: of each class, the median time of the whole module without a profile
    whole_half_ns: dict[str, int]  #: half the distance of the quartiles of these times
    spread: dict[str, dict[str, float]]  #: of operators and classes: half the distance of the quartiles by the median

    def mean_spread(self) -> float:
        """That of an average nanosecond: of the class where it is largest."""
        means = [
            sum(self.spread[op][name] * times[name] for op, times in self["operators"].items())
            / max(sum(times[name] for times in self["operators"].values()), 1)
            for name in self.whole_ns
        ]
        return max(means, default=0.0)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes it for `--cost-table`."""
        with open(path, "w", encoding="utf-8") as file:
            json.dump(self, file, indent=1)

    def to_frame(self) -> pandas.DataFrame:
        """One row for each operator: kind, layer; of each class the time in ns and its spread."""
        import pandas

        rows = [
            {"operator": op.name, "kind": op.kind, "layer": op.layer}
            | {f"{name}_ns": self["operators"][op.name][name] for name in self.whole_ns}
            | {f"{name}_spread": self.spread[op.name][name] for name in self.whole_ns}
            for op in self.graph
        ]
        return pandas.DataFrame(rows).set_index("operator")

    def __str__(self) -> str:
        wholes = [f"{name} {duration(ns)} +-{duration(self.whole_half_ns[name])}" for name, ns in self.whole_ns.items()]
        rows = [["longest operators", "kind", *self.whole_ns]]
        longest = sorted(self.graph, key=lambda op: -max(self["operators"][op.name].values()))
        for op in longest[:10]:
            rows.append([op.name, op.kind, *(duration(self["operators"][op.name][name]) for name in self.whole_ns)])
        return f"{self.graph.name}: {self['source']}\nwhole module: {', '.join(wholes)}\n{_table(rows)}"


def profile(
    module: torch.nn.Module | ExportedProgram | TorchGraph,
    example_inputs: Any = None,
    devices: Mapping[str, Any] | None = None,
    *,
    threads: int = 1,
    repeats: int = 20,
    warm_up: int = 3,
) -> Profile:
    """Times of a module's operators on PyTorch, for `costs=`.

    devices: from classes of devices to those of PyTorch, {"cpu": "cpu", "a100-80g": "cuda:0"}; the default is
    {"cpu": "cpu"}. The exported graph runs in turn as it is and operator by operator; each operator gets the median of
    `repeats` times, and all are scaled so that they sum to the median of the whole. A device of the CPU has `threads`
    threads on cores of its own. Hand-overs between the devices, and between two threads of the CPU, are measured
    too."""
    source = module if isinstance(module, TorchGraph) else graph(module, example_inputs)
    args, kwargs = _arguments(source, example_inputs)
    at = {name: torch_device(device) for name, device in (devices or {"cpu": "cpu"}).items()}
    times: dict[str, dict[str, int]] = {op.name: {} for op in source}
    text = f"PyTorch {torch.__version__}, median of {repeats} runs, {threads} thread{'s' if threads > 1 else ''}"
    made = Profile(situ_costs=1, unit="ns", source=text, classes=list(at), operators=times)
    cpu = _cpu_name()
    made["measured"] = [
        {"class": name, "device": str(device)}
        | ({"machine": cpu} if cpu else {})
        | ({"threads": threads} if device.type == "cpu" else {})
        for name, device in at.items()
    ]
    made.graph, made.whole_ns, made.whole_half_ns = source, {}, {}
    made.spread = {op.name: {} for op in source}
    with _Threads():
        for name, device in at.items():
            engine = Engine(source, Lowering(source, dict.fromkeys(times, name), {name: device}), threads)
            try:
                _profile_class(made, name, engine, args, kwargs, max(repeats, _MIN_RUNS), warm_up)
            finally:
                engine.stop()
        made["links"] = list(_links(at))
    return made


def _profile_class(
    made: Profile, name: str, engine: Engine, args: Any, kwargs: Any, repeats: int, warm_up: int
) -> None:
    wholes: list[float] = []
    calls: dict[str, list[float]] = {op: [] for op in made["operators"]}
    for i in range(warm_up + repeats):
        (whole,) = engine.finish(engine.submit(args, kwargs))
        engine.time_calls(True)
        engine.finish(engine.submit(args, kwargs))
        engine.time_calls(False)
        if i < warm_up:
            continue
        wholes.append(whole.busy_ns)
        for op, ns in engine.call_times().items():
            calls[op].append(ns)
    made.whole_ns[name], made.whole_half_ns[name] = _middle(wholes)
    medians = {op: _middle(values) for op, values in calls.items()}
    scale = made.whole_ns[name] / max(sum(median for median, _ in medians.values()), 1)
    for op, (median, half) in medians.items():
        made["operators"][op][name] = round(median * scale)
        made.spread[op][name] = half / median if median else 0.0


def _links(at: Mapping[str, torch.device]) -> Iterator[dict[str, Any]]:
    """The cost of a hand-over between two threads: its latency, and the rate derived from the extra time of a large
    tensor."""
    for a, source in at.items():
        for b, target in at.items():
            if source == target and source.type != "cpu":
                continue  # two devices of that class are needed to tell
            small, big = (_handover_ns(source, target, size) for size in (_SMALL_BYTES, _BIG_BYTES))
            rate = 1e9 * (_BIG_BYTES - _SMALL_BYTES) / max(big - small, 1)
            yield {"from": a, "to": b, "latency": small, "bytes_per_s": rate}


def _handover_ns(source: torch.device, target: torch.device, size: int) -> int:
    """From the end of the making of a tensor to the start of its use elsewhere; where both are the CPU, no copy is
    made, and the first reading counts with what it takes longer than the second."""
    channel, both_cpu, taken = Channel(target), source.type == target.type == "cpu", []
    with ThreadPoolExecutor(1) as there:
        for i in range(_HANDOVERS):
            waiting = there.submit(_take, channel, both_cpu)
            value = torch.full((size // 4,), float(i), device=source)
            wait_for(source)
            begun = perf_counter_ns()
            channel.put(value)
            ready, more = waiting.result()
            taken.append(ready - begun + more)
    return max(round(statistics.median(taken)), 1)


def _take(channel: Channel, reads: bool) -> tuple[int, int]:
    value = channel.take()
    wait_for(channel.at)
    marks = [perf_counter_ns()]
    for _ in range(2 if reads else 0):
        value.sum()
        marks.append(perf_counter_ns())
    return marks[0], max(2 * marks[1] - marks[0] - marks[2], 0) if reads else 0


# ---- plans ----


class Measured(dict[str, Any]):
    """A plan that ran: members as in the table that print shows; times in ns.

    `objective`, `predicted_ns`, `measured_ns`, `half_ns` (half the distance of the quartiles), `error` (measured by
    predicted, less 1), `latency_ns` of one input alone, `whole_ns` of the whole module on one device, `difference` of
    the outputs, `handovers`; lists `devices` and `operators` with `predicted_ns` and `measured_ns` each."""

    def to_frame(self) -> pandas.DataFrame:
        """One row for each operator: device, predicted_ns, measured_ns."""
        import pandas

        return pandas.DataFrame(self["operators"]).set_index("operator")

    def __str__(self) -> str:
        what = "period" if self["execution"] == "pipeline" else "latency"
        error = "" if self["error"] is None else f" ({self['error']:+.1%} of what was predicted)"
        lines = [
            f"{self['model']}: {self['engine']}, {self['items']} inputs, threads for each device: {self['threads']}",
            f"{what}: predicted {duration(self['predicted_ns'])}, measured {duration(self['measured_ns'])} "
            f"+-{duration(self['half_ns'])}{error}",
            f"whole module on {self['whole_device']}: {duration(self['whole_ns'])} +-{duration(self['whole_half_ns'])}",
        ]
        rows = [["device", "of PyTorch", "operators", "predicted", "measured"]]
        for d in self["devices"]:
            times = duration(d["predicted_ns"]), duration(d["measured_ns"])
            rows.append([d["device"], d["torch"], str(d["operators"]), *times])
        off = [["furthest off", "device", "predicted", "measured"]]
        for o in sorted(self["operators"], key=lambda o: -abs(o["measured_ns"] - o["predicted_ns"]))[:5]:
            off.append([o["operator"], o["device"], duration(o["predicted_ns"]), duration(o["measured_ns"])])
        ends = f"{len(self['handovers'])} hand-overs; outputs differ by at most {self['difference']:.2g}"
        return "\n".join([*lines, _table(rows), _table(off), ends])


def _difference(values: Any, expected: Any) -> float:
    """The maximum difference of a tensor relative to its maximum magnitude; infinity if shapes or positions of NaN
    differ."""
    worst, others = 0.0, pytree.tree_leaves(values)
    for a, b in zip(others, pytree.tree_leaves(expected)):
        if not isinstance(b, torch.Tensor) or b.numel() == 0:
            continue
        a, b = a.to("cpu", torch.float64), b.to("cpu", torch.float64)
        if a.shape != b.shape or not torch.equal(a.isnan(), b.isnan()):
            return math.inf
        far = float((a - b).nan_to_num().abs().max())
        worst = max(worst, far / max(float(b.nan_to_num().abs().max()), 1e-30) if far else 0.0)
    return worst


def measure(
    plan: Plan,
    example_inputs: Any = None,
    devices: Mapping[str, Any] | None = None,
    *,
    threads: int = 1,
    repeats: int = 20,
    warm_up: int = 3,
    queue: int = 2,
) -> Measured:
    """Runs the module of a plan as planned, and compares the measurements with the prediction.

    Inputs run one by one, in turn with the whole module on one device: `repeats` give the latency. A plan of a pipeline
    then gets 5 times `repeats` inputs, at most `queue` under way for each device: the period. `example_inputs` are
    those of the export by default; devices and threads as for Runner. Times of operators come from further runs in
    which each call is timed."""
    source, placement, names = graph_of(plan), plan.placement, device_names(plan, devices)
    args, kwargs = _arguments(source, example_inputs)
    at = {name: torch_device(names[name]) for name in dict.fromkeys(placement.values())}
    best = plan.best_single_device if plan.best_single_device in at else next(iter(at))
    assert best is not None
    lowering = Lowering(source, placement, at, lambda name: plan.times_of(name)[0])
    with _Threads():
        whole = Engine(source, Lowering(source, dict.fromkeys(placement, best), at), threads)
        split = Engine(source, lowering, threads)
        try:
            made = _measure(plan, whole, split, args, kwargs, max(repeats, _MIN_RUNS), max(warm_up, 1), queue)
        finally:
            whole.stop()
            split.stop()
    made.update(threads=threads, whole_device=best, handovers=lowering.handovers())
    return made


def _measure(
    plan: Plan, whole: Engine, split: Engine, args: Any, kwargs: Any, repeats: int, warm_up: int, queue: int
) -> Measured:
    wholes: list[float] = []
    latencies: list[float] = []
    loads: dict[str, list[float]] = {part.device: [] for part in split.parts}
    for i in range(warm_up + repeats):
        (alone,) = whole.finish(whole.submit(args, kwargs))
        begun = perf_counter_ns()
        ran = split.finish(split.submit(args, kwargs))
        if i < warm_up:
            expected = whole.result([alone], args, kwargs)
            difference = _difference(split.result(ran, args, kwargs), expected)
            continue
        wholes.append(alone.busy_ns)
        latencies.append(max(part.ended_ns for part in ran) - begun)
        for part, done in zip(split.parts, ran):
            loads[part.device].append(done.busy_ns)
    pipeline = plan.execution == "pipeline"
    periods = _periods(split, args, kwargs, repeats, warm_up, queue) if pipeline else latencies
    measured, half = _middle(periods)
    made = Measured(
        model=plan.model,
        engine=f"PyTorch {torch.__version__}",
        objective=plan.objective,
        execution=plan.execution,
        items=repeats,
        predicted_ns=plan.value_ns,
        measured_ns=measured,
        half_ns=half,
        error=measured / plan.value_ns - 1 if plan.value_ns else None,
        latency_ns=_middle(latencies)[0],
        difference=difference,
    )
    made["whole_ns"], made["whole_half_ns"] = _middle(wholes)
    made["operators"] = _operators(plan, split, args, kwargs, repeats)
    predicted: collections.Counter[str] = collections.Counter()
    for row in made["operators"]:
        predicted[row["device"]] += row["predicted_ns"]
    counts = collections.Counter(plan.placement.values())
    made["devices"] = [
        {
            "device": part.device,
            "torch": str(part.at),
            "operators": counts[part.device],
            "predicted_ns": predicted[part.device],
            "measured_ns": _middle(loads[part.device])[0],
        }
        for part in split.parts
    ]
    return made


def _periods(engine: Engine, args: Any, kwargs: Any, per: int, warm_up: int, queue: int) -> list[float]:
    """Periods of the segments of a stream of inputs, each from its first end to its last."""
    under_way: collections.deque[list[Future[Any]]] = collections.deque()
    ends: list[int] = []
    for i in range(warm_up + _SEGMENTS * per):
        if len(under_way) == max(queue, 1) * len(engine.parts):
            ends.append(max(part.ended_ns for part in engine.finish(under_way.popleft())))
        under_way.append(engine.submit(args, kwargs))
    while under_way:
        ends.append(max(part.ended_ns for part in engine.finish(under_way.popleft())))
    first = [warm_up + segment * per for segment in range(_SEGMENTS)]
    return [(ends[i + per - 1] - ends[i - 1]) / per for i in first]


def _operators(plan: Plan, engine: Engine, args: Any, kwargs: Any, repeats: int) -> list[dict[str, Any]]:
    instance = plan._instance
    costs, platform = lib.situ_problem_costs(instance.problem), instance.platform
    number = {device.name: i for i, device in enumerate(plan.devices)}
    calls: dict[str, list[float]] = {op: [] for op in plan.operators}
    engine.time_calls(True)
    for _ in range(repeats):
        engine.finish(engine.submit(args, kwargs))
        for op, ns in engine.call_times().items():
            calls[op].append(ns)
    return [
        {
            "operator": op,
            "device": device,
            "predicted_ns": int(lib.situ_costs_time_ns(costs, platform, v, number[device])),
            "measured_ns": _middle(calls[op])[0],
        }
        for v, (op, device) in enumerate(plan.placement.items())
    ]
