"""Converts a caller's inputs - files, names, or Python objects - to the paths that the library expects. Objects
become files of the documented formats in a folder that lives as long as the plan."""

from __future__ import annotations

import contextlib
import json
import math
import os
import pathlib
import tempfile
from typing import TYPE_CHECKING, Any, Callable, Iterator, Mapping, Sequence, Union, cast

from ._graph import Graph, Operator
from ._library import BadArgument, SituError, to_bytes
from ._options import AUTO, Filled
from ._platform import Device, Platform, read_devices

if TYPE_CHECKING:
    import networkx
    import pandas
    import torch

Path = Union[str, "os.PathLike[str]"]
Model = Union[
    str, "os.PathLike[str]", Graph, "networkx.DiGraph[Any]", "torch.nn.Module", "torch.export.ExportedProgram"
]
Machine = Union[str, "os.PathLike[str]", Platform, None]
Cost = Callable[[Operator, Device], Union[float, None]]
Costs = Union[
    str, Cost, Mapping[str, Mapping[str, Union[float, None]]], "pandas.DataFrame", "Sequence[Sequence[float]]", Any, None
]
Placement = Union[str, "os.PathLike[str]", Mapping[str, str], None]
DEFAULT_PLATFORM = "cpu+2*v100-16g"  # SITU_DEFAULT_PLATFORM
MAX_NS = 2**54  # docs/model.md, "Limits"


class Folder:
    """Files made from Python objects, removed with it."""

    def __init__(self) -> None:
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self.made: dict[str, str] = {}  # what each is: its path
        self.graph: Graph | None = None  # the model, where it came as an object

    def write(self, what: str, text: str) -> bytes:
        if self._folder is None:
            self._folder = tempfile.TemporaryDirectory(prefix="situ-")
        path = os.path.join(self._folder.name, f"{what}.json")
        pathlib.Path(path).write_text(text, encoding="utf-8")
        self.made[what] = path
        return to_bytes(path)

    @contextlib.contextmanager
    def unnamed(self) -> Iterator[None]:
        """Errors name "graph.json", not its temporary path."""
        try:
            yield
        except SituError as failure:
            if self._folder is None:
                raise
            text, where = (t.replace(self._folder.name + os.sep, "") for t in (failure.text, failure.where))
            raise type(failure)(text, where, failure.status) from None


def as_graph(model: Model, example_inputs: Any = None) -> Graph | None:
    """The model as a Graph; None if it is a path or a name."""
    if isinstance(model, Graph):
        return model
    if isinstance(model, (str, os.PathLike)):
        if not os.fspath(model):
            raise BadArgument("the name of the model is empty; expected a path or builtin:NAME")
        if not os.fspath(model).endswith(".pt2"):
            return None
        from . import torch as situ_torch

        return situ_torch.load(model)
    if hasattr(model, "named_parameters") or hasattr(model, "graph_signature"):
        from . import torch as situ_torch

        return situ_torch.graph(cast("torch.nn.Module", model), example_inputs)
    if hasattr(model, "successors"):
        return Graph.from_networkx(model)
    raise TypeError(
        f"a model is a path, builtin:NAME, a Graph, a NetworkX graph or a torch module, not {type(model).__name__}"
    )


def set_inputs(
    filled: Filled,
    folder: Folder,
    model: Model,
    platform: Machine,
    costs: Costs = None,
    fix: Placement = None,
    start: Placement = None,
    example_inputs: Any = None,
) -> None:
    """Sets the files that `filled` names."""
    graph = as_graph(model, example_inputs)
    folder.graph = graph
    instance = filled.instance
    instance.model = to_bytes(cast(str, model)) if graph is None else folder.write("graph", graph.to_json())
    if isinstance(platform, Platform):
        instance.platform = folder.write("platform", platform.to_json())
    elif isinstance(platform, (str, os.PathLike)):
        instance.platform = to_bytes(platform)
    elif platform is not None:
        raise TypeError(
            f"a platform is a name such as 'cpu+2*a100-80g', a path or a Platform, not {type(platform).__name__}"
        )
    for name, given in (("fix", fix), ("start", start)):
        if isinstance(given, (str, os.PathLike)):
            setattr(instance, name, to_bytes(given))
        elif given is not None:
            setattr(instance, name, folder.write(name, json.dumps(_by_module(given, graph))))
    if isinstance(costs, str):
        filled.cost.model = to_bytes(costs)
    elif isinstance(costs, (list, tuple)) and costs and all(isinstance(one, Mapping) for one in costs):
        made = [folder.write(f"costs{k}", _cost_table(filled, one, graph)) for k, one in enumerate(costs)]
        filled.cost.table_path = b",".join(made)
    elif costs is not None:
        filled.cost.table_path = folder.write("costs", _cost_table(filled, costs, graph))
        _set_uncertainty(filled, costs)


def _by_module(given: Mapping[str, str], graph: Graph | None) -> dict[str, str]:
    """Devices by operator. The name of a module ("layers.3") stands for its operators, except for those that a longer
    name, or their own, gives a device."""
    made: dict[str, str] = {}
    names = [op.name for op in graph] if graph is not None else []
    for name in sorted(given, key=len):
        within = [] if name in names else [other for other in names if other.startswith(name + ".")]
        made.update(dict.fromkeys(within or [name], given[name]))
    return made


def _set_uncertainty(filled: Filled, costs: Any) -> None:
    """Where all times are measured, plans are compared under the spread of the measurements."""
    if not hasattr(costs, "mean_spread") or filled.solve.uncertainty != AUTO:
        return
    devices = read_devices(os.fsdecode(filled.instance.platform or DEFAULT_PLATFORM.encode()))
    if {device.class_name for device in devices} <= set(costs["classes"]):
        filled.solve.uncertainty = min(max(costs.mean_spread(), 0.01), 2.0)


def _time_ns(time: Any, operator: str, device: Any) -> int | None:
    """Whole nanoseconds; None where the operator cannot run."""
    try:
        ns = math.nan if isinstance(time, str) else float(time)
    except (TypeError, ValueError, OverflowError):
        ns = math.nan
    if not (0 <= ns <= MAX_NS or ns == math.inf):
        raise BadArgument(
            f"the cost of {operator} on {device} is {time!r}; expected nanoseconds, at least 0 and at most 2**54, "
            "infinity where it cannot run, or None to keep the estimate"
        )
    return None if ns == math.inf else int(ns + 0.5)


def _values_of(costs: Any) -> list[list[float]] | None:
    """A two-dimensional array as lists: of NumPy, of PyTorch, any buffer, or lists; None if it is none."""
    if hasattr(costs, "items") or hasattr(costs, "columns"):
        return None
    if isinstance(costs, (list, tuple)):
        values, n_dimensions = list(costs), 1 if any(isinstance(row, str) or not hasattr(row, "__len__") for row in costs) else 2
    else:
        try:
            listed = hasattr(costs, "tolist") and hasattr(costs, "ndim")
            view = costs if listed else costs.__array__() if hasattr(costs, "__array__") else memoryview(costs)
            values, n_dimensions = view.tolist(), view.ndim
        except (TypeError, ValueError, RuntimeError) as e:
            expected = "a table, a function of operator and device, or an array of two dimensions"
            raise BadArgument(f"costs were expected to be {expected}; this is {type(costs).__name__}: {e}") from e
    if n_dimensions != 2:
        raise BadArgument(f"an array of costs has 2 dimensions, operators and classes of devices; this has {n_dimensions}")
    return [list(row) for row in values]


def _rows_of(values: list[list[float]], names: list[str], devices: list[Device]) -> dict[str, dict[str, float]]:
    """Times by operator and class from an array with a column for each class, in the order of their first devices, or
    for each device."""
    classes = list(dict.fromkeys(device.class_name for device in devices))
    columns = classes if all(len(row) == len(classes) for row in values) else [d.class_name for d in devices]
    if len(values) != len(names) or any(len(row) != len(columns) for row in values):
        widths = sorted({len(row) for row in values}) or [0]
        shape = f"{len(values)} x {widths[0]}" + (f" to {widths[-1]}" if len(widths) > 1 else "")
        raise BadArgument(
            f"an array of costs has a row for each of the {len(names)} operators and a column for each of the "
            f"{len(classes)} classes ({', '.join(classes)}) or {len(devices)} devices; this is {shape}"
        )
    rows = {}
    for name, row in zip(names, values):
        rows[name] = dict(zip(columns, row))
        for column, value in zip(columns, row):
            if rows[name][column] != value and (value == value or rows[name][column] == rows[name][column]):
                raise BadArgument(f"devices of class {column} differ in the costs of {name}: {rows[name][column]} and {value}")
    return rows


def _cost_table(filled: Filled, costs: Any, given: Graph | None) -> str:
    """A cost table (docs/formats/costs.md); one that is given stays as it is. Times in ns: None and NaN keep the
    estimate; infinity: cannot run there."""
    if isinstance(costs, Mapping) and "situ_costs" in costs:
        return json.dumps(costs)
    values = None if callable(costs) else _values_of(costs)
    if values is not None:
        graph = given if given is not None else Graph.read(os.fsdecode(filled.instance.model), filled.read)
        devices = read_devices(os.fsdecode(filled.instance.platform or DEFAULT_PLATFORM.encode()))
        rows, source = _rows_of(values, list(graph.operators), devices), "an array from Python"
    elif callable(costs):
        graph = Graph.read(os.fsdecode(filled.instance.model), filled.read)
        devices = read_devices(os.fsdecode(filled.instance.platform or DEFAULT_PLATFORM.encode()))
        classes = {d.class_name: d for d in reversed(devices)}
        rows = {op.name: {name: costs(op, classes[name]) for name in sorted(classes)} for op in graph}
        source = getattr(costs, "__name__", "a Python function")
    else:
        if hasattr(costs, "to_dict") and hasattr(costs, "columns"):
            costs = costs.to_dict(orient="index")
        rows = {str(op): dict(times) for op, times in costs.items()}
        source = "a table from Python"
    table: dict[str, dict[str, int | None]] = {}
    for op, times in rows.items():
        kept = {str(k): _time_ns(v, op, k) for k, v in times.items() if v is not None and v == v}  # NaN is not itself
        if kept:
            table[op] = kept
    return json.dumps({"situ_costs": 1, "unit": "ns", "source": source, "operators": table})
