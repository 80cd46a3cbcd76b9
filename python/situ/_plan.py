"""Plans: their contents, reports and files."""

from __future__ import annotations

import copy
import ctypes
import json
import math
import os
import pathlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Mapping

from . import _interface as c
from ._graph import Graph, _of_pointer, names_of
from ._html import html_of
from ._inputs import Folder
from ._library import NEVER_NS, Frozen, NoPlan, call, lib, make, make_text, own, sized, summary, to_bytes, to_str
from ._options import Filled, fill
from ._platform import Device, devices_of
from ._png import png_of
from ._watch import ProgressOption, Watch

if TYPE_CHECKING:
    import pandas

    from ._options import Options, Unpack
    from ._torch_measure import Measured


class Instance(Frozen):
    """A posed problem with its model, platform and costs; shared by plans."""

    def __init__(self, pointer: int, folder: Folder):
        self.pointer, self.folder = pointer, folder
        own(self, pointer, "situ_instance_free")
        self.problem = lib.situ_instance_problem(pointer)
        self.model = lib.situ_instance_model(pointer)
        self.graph = lib.situ_problem_graph(self.problem)
        self.platform = lib.situ_problem_platform(self.problem)

    @classmethod
    def open(cls, filled: Filled, folder: Folder) -> Instance:
        with Watch() as watch, folder.unnamed():
            watch.attach(filled.instance)
            made = cls(make("situ_instance_open", ctypes.byref(filled.instance)), folder)
        return made


class Report(dict[str, Any]):
    """The members of a JSON report of the command line; str() is the readable table."""

    def __init__(self, text: str, members: str):
        super().__init__(json.loads(members))
        self.text = text

    def __str__(self) -> str:
        return self.text


def both(name: str, *arguments: Any) -> tuple[str, str]:
    """A report of the library as a table and as JSON."""
    table = make_text(name, *arguments, c.SITU_REPORT_TABLE, ctypes.byref(look_of()))
    return table, make_text(name, *arguments, c.SITU_REPORT_JSON, None)


def report(name: str, *arguments: Any) -> Report:
    return Report(*both(name, *arguments))


def look_of() -> Any:
    look = sized(c.situ_report_options)
    look.unicode, look.width = True, 100
    return look


@dataclass(frozen=True)
class Transfer:
    """One hop of a tensor over a link, in a stream plan."""

    tensor: str
    producer: str
    from_device: str
    to_device: str
    destination: str
    start_ns: int
    finish_ns: int


@dataclass(frozen=True)
class Unknown:
    """A guess that the costs rest on (docs/model.md, "What is unknown")."""

    kind: str  #: "kind", "size", "packing", ...
    subject: str  #: a kind of operators, a dimension, a tensor, ...
    operators: int  #: that it concerns
    share: float  #: of the time


def unknown_of(problem: int) -> list[Unknown]:
    row, found = sized(c.situ_unknown), []
    for k in range(lib.situ_problem_unknown_count(problem)):
        lib.situ_problem_unknown_at(problem, k, ctypes.byref(row))
        kind = to_str(lib.situ_guess_kind_name(row.kind))
        found.append(Unknown(kind, to_str(row.subject), int(row.n_operators), float(row.share)))
    return found


class Verdict(Report):
    """The result of the independent checker."""

    @property
    def valid(self) -> bool:
        return bool(self["valid"])

    @property
    def violations(self) -> list[dict[str, str]]:
        return list(self["violations"])

    def __bool__(self) -> bool:
        return self.valid


class Explanation(Report):
    """Why a plan takes as long as it does; members as in `situ explain --json` (docs/formats/json.md)."""

    @property
    def parts(self) -> list[dict[str, Any]]:
        return list(self.get("parts", []))

    @property
    def limit(self) -> dict[str, Any] | None:
        return self.get("limit")

    @property
    def critical_path(self) -> list[dict[str, Any]]:
        return list(self.get("critical_path", []))

    @property
    def groups(self) -> list[dict[str, Any]]:
        """What each group of devices that split operators saves, and what its collectives take."""
        return list(self.get("groups", []))

    @property
    def what_ifs(self) -> list[dict[str, Any]]:
        return list(self.get("what_if", []))


def _time(value: int) -> int | None:
    return None if value == NEVER_NS else value


class Plan(Frozen):
    """Which device runs each operator, when, and how good that is. Frozen: any number of threads may read it.

    A plan without a placement (`bool(plan)` is False) says why in `reason`; accessors that need a placement raise
    NoPlan."""

    def __init__(self, pointer: int, instance: Instance, interrupted: bool = False, owner: Frozen | None = None):
        self._pointer, self._instance, self._owner = pointer, instance, owner
        if owner is None:
            own(self, pointer, "situ_plan_free")
        self._says = summary("plan", pointer)
        self._asked = summary("problem", lib.situ_plan_problem(pointer))
        self.interrupted = interrupted  #: whether Ctrl-C or the end of the program cut the search short

    # ---- what it says ----

    @property
    def outcome(self) -> str:
        """optimal, feasible, infeasible, limit or cancelled."""
        return to_str(lib.situ_outcome_name(self._says.outcome))

    def __bool__(self) -> bool:
        return bool(self._says.exists)

    def _need(self) -> None:
        if not self:
            reason = self.reason or "no plan was found within the limits"
            has_space = self.outcome != "infeasible" or " plan that keeps " in reason  # of a bound; a conflict tells no scope
            raise NoPlan(reason if has_space else f"{reason} (among {self.scope})", self.model)

    @property
    def model(self) -> str:
        """The name of the model."""
        return to_str(summary("graph", self._instance.graph).model)

    @property
    def platform(self) -> str:
        """The name of the platform."""
        return to_str(summary("platform", self._instance.platform).name)

    @property
    def objective(self) -> str:
        return to_str(lib.situ_objective_name(self._asked.objective))

    @property
    def execution(self) -> str:
        return to_str(lib.situ_execution_name(self._asked.execution))

    @property
    def value_ns(self) -> int | None:
        """The latency of one input, or the period of a pipeline; None without a placement."""
        return _time(self._says.value_ns)

    @property
    def by_parts_ns(self) -> int | None:
        """The latency by the parts that an engine runs, if the costs know what these take; else the value."""
        return _time(lib.situ_plan_by_parts_ns(self._pointer))

    @property
    def bound_ns(self) -> int:
        """A proved lower bound on the value of the plans in `scope`."""
        return int(self._says.lower_bound_ns)

    @property
    def gap(self) -> float:
        """(value - bound) / value; 0.0 is proved optimal among the plans in `scope`."""
        return float(self._says.gap)

    @property
    def scope(self) -> str:
        """Which plans `bound_ns`, `gap` and `outcome` speak of: "plans that keep every operator whole on one device",
        and every other restriction. By codes: `to_dict()["scope"]`."""
        return to_str(self._asked.scope)

    @property
    def unknown(self) -> list[Unknown]:
        """What the costs rest on that the model does not say, by falling share of the time; empty if nothing."""
        return unknown_of(lib.situ_plan_problem(self._pointer))

    @property
    def unknown_share(self) -> float:
        """The share of the time of everything in `unknown`."""
        return float(self._asked.unknown_share)

    @property
    def guessed(self) -> bool:
        """Whether that is more than `max_unknown`: `outcome` is then one for guessed costs."""
        return bool(self._asked.guessed)

    @property
    def best_single_ns(self) -> int | None:
        """The best value of a single device; None if no device can run everything."""
        return _time(self._says.best_single_ns)

    @property
    def best_single_device(self) -> str | None:
        device = self._says.best_single_device
        return None if device < 0 else self._device_name(device)

    @property
    def speedup(self) -> float | None:
        """Speed-up over the best single device; infinity if no device can run the model."""
        if not self.value_ns:
            return None
        return math.inf if self.best_single_ns is None else self.best_single_ns / self.value_ns

    @property
    def solver(self) -> str:
        """The solver that found it."""
        return to_str(self._says.solver)

    @property
    def bound(self) -> str:
        """The name of the bound behind the lower bound."""
        return to_str(self._says.bound)

    @property
    def reason(self) -> str:
        """Why there is no placement; "" if there is one."""
        return to_str(self._says.reason)

    @property
    def steps(self) -> int:
        return int(self._says.steps)

    @property
    def seconds(self) -> float:
        return float(self._says.seconds)

    @property
    def n_handovers(self) -> int:
        """Tensors handed to another device, counted once for each tensor and receiving device."""
        self._need()
        return int(self._says.n_handovers)

    @property
    def statistics(self) -> dict[str, int]:
        """Counters of the solvers."""
        rows = [lib.situ_plan_statistic(self._pointer, i) for i in range(self._says.n_statistics)]
        return {to_str(row.name): row.value for row in rows}

    @property
    def operators(self) -> list[str]:
        """Names of the operators, in topological order."""
        return names_of(self._instance.graph)

    @property
    def devices(self) -> list[Device]:
        """The devices of the platform."""
        return devices_of(self._instance.platform)

    @property
    def source(self) -> Graph | None:
        """The graph that was placed, if the model was given as an object; a situ.torch.TorchGraph for a torch
        module."""
        return self._instance.folder.graph

    @property
    def graph(self) -> Graph:
        """The operator graph of the model."""
        return _of_pointer(lib.situ_problem_graph(self._instance.problem))

    def _device_name(self, device: int) -> str:
        return to_str(lib.situ_platform_device_name(self._instance.platform, device))

    def _find(self, operator: str) -> int:
        found = lib.situ_graph_find(self._instance.graph, to_bytes(operator))
        if found < 0:
            raise KeyError(operator)
        return int(found)

    def device_of(self, operator: str) -> str:
        """The device that runs an operator. KeyError if the model has no such operator."""
        self._need()
        return self._device_name(lib.situ_plan_device(self._pointer, self._find(operator)))

    def times_of(self, operator: str) -> tuple[int, int]:
        """Start and finish in ns, in a stream or calls plan; zeros in a pipeline."""
        self._need()
        v = self._find(operator)
        return lib.situ_plan_start_ns(self._pointer, v), lib.situ_plan_finish_ns(self._pointer, v)

    @property
    def placement(self) -> dict[str, str]:
        """A mapping from each operator to its device, in topological order."""
        self._need()
        devices = [d.name for d in self.devices]
        return {name: devices[lib.situ_plan_device(self._pointer, v)] for v, name in enumerate(self.operators)}

    @property
    def transfers(self) -> list[Transfer]:
        """Every hop of every transfer, in a stream plan."""
        i, found = self._instance, []
        tensor = sized(c.situ_tensor)
        for k in range(self._says.n_transfers):
            t = lib.situ_plan_transfer(self._pointer, k)
            link = lib.situ_platform_link(i.platform, t.link)
            lib.situ_graph_tensor(i.graph, t.tensor, ctypes.byref(tensor))
            producer = lib.situ_graph_operator_name(i.graph, lib.situ_graph_tensor_producer(i.graph, t.tensor))
            found.append(
                Transfer(
                    to_str(tensor.name),
                    to_str(producer),
                    self._device_name(link.from_device),
                    self._device_name(link.to_device),
                    to_str(lib.situ_platform_memory_name(i.platform, t.to_memory)),
                    t.start_ns,
                    t.finish_ns,
                )
            )
        return found

    # ---- reports ----

    def report(self) -> Report:
        """The report of `situ place`; its members are those of `situ place --json`."""
        return report("situ_report_plan", self._pointer, self._instance.model)

    def to_dict(self) -> dict[str, Any]:
        """The members of `situ place --json` (docs/formats/json.md)."""
        return dict(self.report())

    def __str__(self) -> str:
        return self.report().text

    def __repr__(self) -> str:
        value = self.value_ns
        times = f"{value} ns, gap {self.gap:.2%}" if value is not None else self.reason
        return f"<situ.Plan {self.model!r} on {self.platform!r}: {self.outcome}, {times}, among {self.scope}>"

    def _repr_html_(self) -> str:
        return html_of(self.report(), self.svg() if self else "")

    def svg(self) -> str:
        """A picture: operators and transfers over time, or the loads of a pipeline. Self-contained SVG."""
        self._need()
        return make_text("situ_report_plan", self._pointer, None, c.SITU_REPORT_SVG, None)

    def png(self, path: str | os.PathLike[str] | None = None, *, zoom: float = 2.0) -> bytes:
        """The picture of svg() as PNG, also written to `path`; `zoom` pixels for each unit. Needs resvg-py."""
        made = png_of(self.svg(), zoom)
        if path is not None:
            pathlib.Path(path).write_bytes(made)
        return made

    def explain(
        self, what_if: bool = False, *, progress: ProgressOption = None, **options: Unpack[Options]
    ) -> Explanation:
        """Parts, bottleneck, critical path. With `what_if` the problem is solved again with one change at a time,
        each within about a second or the given `options` (time_limit, steps, ...)."""
        self._need()
        if not what_if:
            return self._explain(None)
        filled = fill(options)
        with Watch(progress) as watch:
            watch.attach(filled.solve)
            found = make("situ_what_if_find", self._instance.pointer, self._pointer, ctypes.byref(filled.solve))
            try:
                return self._explain(found)
            finally:
                lib.situ_what_if_free(found)

    def _explain(self, what_ifs: int | None) -> Explanation:
        return Explanation(*both("situ_report_explain", self._pointer, what_ifs))

    def check(self) -> Verdict:
        """Checks the plan with code that shares nothing with solvers and simulator."""
        made = make("situ_check", self._pointer)
        try:
            call("situ_verdict_recompute", made)
            return Verdict(*both("situ_report_verdict", made))
        finally:
            lib.situ_verdict_free(made)

    def to_frame(self) -> pandas.DataFrame:
        """One row for each operator, in topological order: kind, layer, device, start_ns, finish_ns, flops, bytes."""
        import pandas

        self._need()
        placement = self.placement
        rows = [
            {
                "operator": op.name,
                "kind": op.kind,
                "layer": op.layer,
                "device": placement[op.name],
                "start_ns": lib.situ_plan_start_ns(self._pointer, v),
                "finish_ns": lib.situ_plan_finish_ns(self._pointer, v),
                "flops": op.flops,
                "moved_bytes": op.moved_bytes,
                "weight_bytes": op.weight_bytes,
            }
            for v, op in enumerate(self.graph)
        ]
        return pandas.DataFrame(rows).set_index("operator")

    def devices_frame(self) -> pandas.DataFrame:
        """One row for each device: class, operators, load_ns, memory_bytes, memory_limit_bytes."""
        import pandas

        return pandas.DataFrame(self.report()["devices"]).set_index("name")

    def to_device_map(self, devices: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """A device_map for accelerate and transformers, for a plan of a torch module: situ.torch.device_map."""
        from . import torch as situ_torch

        return situ_torch.device_map(self, devices)

    def to_parallelize_plan(self, stage: int | None = None) -> dict[str, Any]:
        """How parallelize_module splits a module over the devices of a group: situ.torch.parallelize_plan."""
        from . import torch as situ_torch

        return situ_torch.parallelize_plan(self, stage)

    def measure(self, example_inputs: Any = None, devices: Mapping[str, Any] | None = None, **how: int) -> Measured:
        """Runs the torch module of a plan as planned, and compares its times with the prediction:
        situ.torch.measure."""
        from . import torch as situ_torch

        return situ_torch.measure(self, example_inputs, devices, **how)

    # ---- files ----

    def to_text(self) -> str:
        """The content of a plan file."""
        return make_text("situ_plan_text", self._pointer, self._instance.pointer)

    def save(self, path: str | os.PathLike[str]) -> list[str]:
        """Writes a plan file. Graph, platform and costs that came from Python are written next to it (PLAN.graph.json,
        ...), so that situ.load_plan and `situ check` can open it again. Returns the files written."""
        target = pathlib.Path(path)
        text, made = self._files(target.stem + ".")
        for name, content in made.items():
            _write(target.with_name(name), content)
        _write(target, text)
        return [str(target), *(str(target.with_name(name)) for name in made)]

    def _files(self, prefix: str) -> tuple[str, dict[str, str]]:
        """The content of a plan file, and of the files of Python objects that it names beside it."""
        text, beside = self.to_text(), {}
        for what, made in self._instance.folder.made.items():
            if what not in ("graph", "platform", "costs"):
                continue
            name = f"{prefix}{what}.json"
            beside[name] = pathlib.Path(made).read_text(encoding="utf-8")
            text = text.replace(json.dumps(made, ensure_ascii=False), json.dumps(name, ensure_ascii=False))
        return text, beside

    def __reduce_ex__(self, protocol: object) -> Any:
        """A plan is pickled as its plan file with the Python objects that it names; a model or platform of a file is
        read again from there. Its program of PyTorch stays behind."""
        source = copy.copy(self.source)
        if source is not None:
            vars(source).pop("program", None)
        return _unpickle, (*self._files(""), os.getcwd(), source, self.interrupted)

    def write(self, format: str, path: str | os.PathLike[str]) -> None:
        """Writes the plan in the format of another tool (situ.list_writers)."""
        call("situ_instance_export", self._instance.pointer, self._pointer, to_bytes(format), to_bytes(path))

    def replay(self) -> Plan:
        """The same placement, simulated again."""
        return Plan(make("situ_replay", self._pointer), self._instance)


def _unpickle(text: str, beside: dict[str, str], cwd: str, source: Graph | None, interrupted: bool) -> Plan:
    """The plan of another process."""
    folder, out, opened = Folder(), ctypes.c_void_p(), ctypes.c_void_p()
    for name, content in beside.items():
        folder.write(name.removesuffix(".json"), content)
    known = json.loads(text)
    instance = known["instance"]
    for named, key in ((instance, "model"), (instance, "platform"), (instance["costs"], "table")):
        if isinstance(named.get(key), str) and named[key] not in beside:
            paths = named[key].split(",") if key == "table" else [named[key]]
            there = [os.path.join(cwd, path) for path in paths]
            named[key] = ",".join(new if os.path.exists(new) else path for new, path in zip(there, paths))
    plan = folder.write("plan", json.dumps(known))
    with Watch() as watch, folder.unnamed():
        filled = fill({})
        watch.attach(filled.instance)
        call("situ_plan_read_with", ctypes.byref(out), ctypes.byref(opened), ctypes.byref(filled.instance), plan)
    assert out.value is not None and opened.value is not None
    folder.graph = source
    return Plan(out.value, Instance(opened.value, folder), interrupted)


def _write(path: pathlib.Path, text: str) -> None:
    call("situ_text_write", to_bytes(text), to_bytes(path))
