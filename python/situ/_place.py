"""From a model and a machine to a plan, and the other commands that need no plan."""

from __future__ import annotations

import ctypes
import json
import os
from typing import TYPE_CHECKING, Any

from . import _interface as c
from ._inputs import Costs, Folder, Machine, Model, Placement, set_inputs
from ._library import Frozen, call, lib, make, make_text, own, to_bytes, to_str
from ._options import Filled, fill
from ._plan import Instance, Plan, Report, both, report
from ._watch import ProgressOption, Watch

if TYPE_CHECKING:
    import pandas

    from ._options import Options, Unpack



def place(
    model: Model,
    platform: Machine = None,
    *,
    costs: Costs = None,
    fix: Placement = None,
    start: Placement | Plan = None,
    example_inputs: Any = None,
    progress: ProgressOption = None,
    **options: Unpack[Options],
) -> Plan:
    """Finds the best plan for a model on a machine, proves a lower bound, and checks the plan.

    model: a file, "builtin:NAME", a situ.Graph, a NetworkX DiGraph, or a torch module with its
    `example_inputs`, a tuple of arguments or a dict of keyword arguments.
    platform: "cpu+2*a100-80g", "this-host", a platform file or a situ.Platform.
    costs: a cost model by name; or times in ns that replace estimates: a function of (Operator, Device), a mapping
    {operator: {class: ns}}, a data frame, or an array [operator, class] of NumPy and the like. None or NaN keeps the estimate, infinity says that it cannot run there. Or a whole
    cost table, as situ.costs and situ.torch.profile make it, or a list of tables, one for each of unlike devices.
    fix: a file of pins, or {operator: device}. start: a placement to start from, likewise; or a plan, also of another
    version of the model or of another machine: what is the same by name or structure keeps its device.
    progress: a function of Progress, called every 10 ms or so, which may return True to stop; True or False for a bar.
    options: those of `situ place`, `--time-limit 2` as time_limit=2.

    Ctrl-C ends the search with the best plan so far (`plan.interrupted`); KeyboardInterrupt if there is none yet."""
    filled, folder = fill(options, purpose=True), Folder()
    carried = start if isinstance(start, Plan) else None
    set_inputs(filled, folder, model, platform, costs, fix, None if isinstance(start, Plan) else start, example_inputs)
    if carried is not None:
        begin = Instance.open(filled, folder)
        placement = Plan(make("situ_plan_carry", carried._pointer, begin.problem), begin).placement
        filled.instance.start = folder.write("start", json.dumps(placement))
    out, instance = ctypes.c_void_p(), ctypes.c_void_p()
    with Watch(progress) as watch, folder.unnamed():
        watch.attach(filled.instance, filled.solve)
        call(
            "situ_place",
            ctypes.byref(out),
            ctypes.byref(instance),
            ctypes.byref(filled.instance),
            ctypes.byref(filled.solve),
        )
        assert out.value is not None and instance.value is not None
        plan = Plan(out.value, Instance(instance.value, folder), watch.interrupted)
    if plan.interrupted and not plan:
        raise KeyboardInterrupt
    return plan


def load_plan(
    path: str | os.PathLike[str],
    model: Model | None = None,
    platform: Machine = None,
    *,
    costs: Costs = None,
    **options: Unpack[Options],
) -> Plan:
    """Reads a plan file and opens the model and platform that it names. With `model`, any file that places its
    operators (a published split, an object that maps operators to devices, a plan): the placement is simulated on
    it. Without one, only `strict` and `max_unknown` may be given."""
    out, instance, folder = ctypes.c_void_p(), ctypes.c_void_p(), Folder()
    with Watch() as watch, folder.unnamed():
        filled = fill(options)
        if model is not None:
            set_inputs(filled, folder, model, platform, costs)
        elif platform is not None or costs is not None or set(options) - {"strict", "max_unknown"}:
            raise TypeError("platform, costs and options of the problem can only be given with a model")
        watch.attach(filled.instance)
        call(
            "situ_plan_read_with" if model is None else "situ_plan_import",
            ctypes.byref(out),
            ctypes.byref(instance),
            ctypes.byref(filled.instance),
            to_bytes(path),
        )
        assert out.value is not None and instance.value is not None
        return Plan(out.value, Instance(instance.value, folder))


def _open(model: Model, platform: Machine, costs: Costs, fix: Placement, options: Any) -> tuple[Instance, Filled]:
    filled, folder = fill(options), Folder()
    set_inputs(filled, folder, model, platform, costs, fix)
    return Instance.open(filled, folder), filled


def inspect(model: Model, platform: Machine = None, *, costs: Costs = None, **options: Unpack[Options]) -> Report:
    """The contents of a model: operators by kind, FLOPs, bytes, critical path; as in `situ inspect`."""
    instance, _ = _open(model, platform, costs, None, options)
    return report("situ_report_inspect", instance.problem, instance.model)


def costs(model: Model, platform: Machine = None, *, costs: Costs = None, **options: Unpack[Options]) -> dict[str, Any]:
    """All times of operators on classes of devices, as a cost table (docs/formats/costs.md)."""
    instance, _ = _open(model, platform, costs, None, options)
    found: dict[str, Any] = json.loads(make_text("situ_report_costs", instance.problem, c.SITU_REPORT_JSON, None))
    return found


class _Ran(Frozen):
    """Owns the rows and plans of a comparison."""

    def __init__(self, pointer: int):
        self.pointer = pointer
        own(self, pointer, "situ_comparison_free")

    def rows(self) -> list[c.situ_compare_row]:
        return [lib.situ_comparison_at(self.pointer, k) for k in range(lib.situ_comparison_count(self.pointer))]


class Comparison(Report):
    """Several solvers on one problem: `rows` as in `situ compare --json`, and the plans by solver."""

    plans: dict[str, Plan]

    def to_frame(self) -> pandas.DataFrame:
        """One row for each solver, the best first."""
        import pandas

        return pandas.DataFrame(self["rows"]).set_index("solver")


def compare(
    model: Model,
    platform: Machine = None,
    *,
    costs: Costs = None,
    fix: Placement = None,
    progress: ProgressOption = None,
    **options: Unpack[Options],
) -> Comparison:
    """Runs each solver that supports the problem, or those named by `solver`, with the same seed and limits (3 s each
    unless time_limit or steps is given). Ctrl-C ends it with the rows so far."""
    instance, filled = _open(model, platform, costs, fix, options)
    with Watch(progress) as watch:
        watch.attach(filled.solve)
        ran = _Ran(make("situ_compare", instance.problem, ctypes.byref(filled.solve)))
    made = Comparison(*both("situ_report_compare", ran.pointer, instance.model))
    made.plans = {
        to_str(row.solver): Plan(row.plan, instance, watch.interrupted, ran) for row in ran.rows() if row.plan
    }
    return made


def list_family(family: str) -> list[dict[str, Any]]:
    """A table of the library, as in `situ list FAMILY --json`."""
    found = json.loads(make_text("situ_report_list", to_bytes(family), c.SITU_REPORT_JSON, None))
    rows: list[dict[str, Any]] = found[family] if isinstance(found, dict) else found
    return rows


def list_solvers() -> list[dict[str, Any]]:
    """Solvers: name, title, supported execution models, whether they are exact."""
    return list_family("solvers")


def list_bounds() -> list[dict[str, Any]]:
    """Lower bounds."""
    return list_family("bounds")


def list_learners() -> list[dict[str, Any]]:
    """Policies that can be trained."""
    return list_family("learners")


def list_readers() -> list[dict[str, Any]]:
    """Model file formats."""
    return list_family("readers")


def list_writers() -> list[dict[str, Any]]:
    """Formats of other tools, for Plan.write."""
    return list_family("writers")


def list_costs() -> list[dict[str, Any]]:
    """Cost models."""
    return list_family("costs")


def list_devices() -> list[dict[str, Any]]:
    """The catalogue of devices: the words of platform names."""
    return list_family("devices")


def list_links() -> list[dict[str, Any]]:
    """Kinds of links."""
    return list_family("links")


def list_models() -> list[dict[str, Any]]:
    """Built-in networks: "builtin:NAME"."""
    return list_family("models")


def list_engines() -> list[dict[str, Any]]:
    """Engines that run models: where each was found, or why not."""
    return list_family("engines")
