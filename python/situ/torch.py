"""PyTorch in and out: modules as graphs through torch.export; plans as device maps, split points, styles of modules
and runs; measured costs.

import situ.torch
profile = situ.torch.profile(module, (x,))
plan = situ.place(profile.graph, "2*cpu", costs=profile)
print(situ.torch.measure(plan))"""

from __future__ import annotations

import ctypes
import json
import warnings
from typing import TYPE_CHECKING, Any, Mapping

from ._exported import TorchGraph, check_styles, graph, graph_of, layer_of, load
from ._library import make, make_text
from ._torch_measure import Measured, Profile, measure, profile
from ._torch_run import Runner, device_names, run
from ._watch import SituWarning, duration

if TYPE_CHECKING:
    from ._plan import Plan

__all__ = [
    "Measured",
    "Profile",
    "Runner",
    "TorchGraph",
    "by_modules",
    "device_map",
    "graph",
    "load",
    "measure",
    "parallelize_plan",
    "profile",
    "run",
    "split_points",
]


def device_map(plan: Plan, devices: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """A mapping from module to device, for accelerate.dispatch_model and from_pretrained; it covers every parameter and
    buffer.

    A layer ("model.layers.3") is one entry, since residual connections bind its modules: its device is that of the
    operators that hold most of its bytes. Any other module that holds parameters is one entry too. `devices` says what
    devices are called; the default is like {"gpu0": 0, "cpu": "cpu"}. Where whole modules are slower than the plan by
    more than 2 %, a warning says by how much: granularity="layer" gives the best plan of whole layers."""
    names, entries = device_names(plan, devices), _entries(plan)
    mapped_ns, planned_ns = by_modules(plan).value_ns, plan.value_ns
    if mapped_ns and planned_ns and mapped_ns > 1.02 * planned_ns:
        warnings.warn(
            f"the device map takes {duration(mapped_ns)}, the plan {duration(planned_ns)}: modules are whole in it; "
            'place with granularity="layer" for the best plan of whole layers',
            SituWarning,
            stacklevel=2,
        )
    return {entry: names[device] for entry, device in entries.items()}


def by_modules(plan: Plan) -> Plan:
    """The plan that the device map of a plan makes, simulated: every module is whole, and an operator outside of all is
    where its first input is made."""
    from ._plan import Plan

    source, entries, placement = graph_of(plan), _entries(plan), plan.placement
    longest = sorted(entries, key=len, reverse=True)
    before: dict[str, str] = {}
    for tensor in source.tensors:
        for user in tensor.consumers:
            before.setdefault(user, tensor.producer)
    for name in placement:  # in topological order
        entry = next((e for e in longest if name.startswith(e + ".")), None)
        placement[name] = entries[entry] if entry else placement[before.get(name, name)]
    number = {device.name: d for d, device in enumerate(plan.devices)}
    where = (ctypes.c_int32 * len(placement))(*(number[device] for device in placement.values()))
    return Plan(make("situ_simulate", plan._instance.problem, where, None), plan._instance)


def _entries(plan: Plan) -> dict[str, str]:
    """The devices of the modules that hold parameters, by the names of a device map."""
    source, placement = graph_of(plan), plan.placement
    held: dict[str, dict[str, int]] = {}  # entry -> device -> bytes
    modules = {state.rpartition(".")[0] for state in source.states}
    whole = [m for m in modules if m and not any(layer_of(other) and other.startswith(m + ".") for other in modules)]
    for state, size in source.states.items():
        path = state.rpartition(".")[0]
        around = [m for m in whole if path == m or path.startswith(m + ".")]
        entry = layer_of(path) or min(around, key=len, default=state)
        reader = source.reader_of.get(state)
        device = placement[reader] if reader else ""
        by_device = held.setdefault(entry, {})
        by_device[device] = by_device.get(device, 0) + size
    first = placement[next(iter(placement))]
    made = {}
    for entry, by_device in held.items():
        known = {device: size for device, size in by_device.items() if device}
        made[entry] = max(known, key=lambda device: known[device]) if known else first
    return made


def split_points(plan: Plan) -> dict[str, Any]:
    """Where torch.distributed.pipelining should cut the module: {"layers.8": SplitPoint.BEGINNING}, at the first
    layer of each stage but the first, as writers="torch-pipelining" writes them. Unsupported if the plan has not one
    run of layers on each device; place with that writer for the best plan that has."""
    from torch.distributed.pipelining import SplitPoint

    plan._need()
    written = json.loads(make_text("situ_write", b"torch-pipelining", plan._pointer))
    return {layer: SplitPoint[kind] for layer, kind in written["split_points"].items()}


def parallelize_plan(plan: Plan, stage: int | None = None) -> dict[str, Any]:
    """How torch.distributed.tensor.parallel.parallelize_module splits the module over the devices of a group:
    {"layers.0.mlp.up": ColwiseParallel(), "layers.0.mlp.down": RowwiseParallel()}, for a plan with `tensor_parallel`.
    `stage`: only the modules of that stage, where the plan has several groups. Empty where no group splits anything.

    Unsupported if the module cannot be split so; place with writers="torch-tensor-parallel" for the best plan that
    can."""
    import torch.distributed.tensor.parallel as styles
    from torch.distributed.tensor import Replicate

    plan._need()
    written = json.loads(make_text("situ_write", b"torch-tensor-parallel", plan._pointer))
    stages = written["stages"] if stage is None else [written["stages"][stage]]
    entries = {path: how for one in stages for path, how in one["modules"].items()}
    if isinstance(plan.source, TorchGraph):
        check_styles(plan.source, entries)
    replicated = {"Replicate": Replicate()}
    return {
        path: getattr(styles, how["style"])(**{key: replicated[value] for key, value in how.items() if key != "style"})
        for path, how in entries.items()
    }
