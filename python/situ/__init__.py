"""situ decides which device runs each operator of a neural network, and proves how good that is.

    import situ
    plan = situ.place("model.onnx", platform="cpu+2*a100-80g")
    print(plan.explain())

docs/python.md is the introduction."""

from __future__ import annotations

from ._ask import disaggregate, fit, judge, serve, size
from ._graph import Graph, Guess, Operator, Tensor
from ._library import (
    BadArgument,
    BadInput,
    Cancelled,
    EngineError,
    FileError,
    Guessed,
    InternalError,
    NoPlan,
    OutOfMemory,
    SituError,
    Unsupported,
)
from ._library import lib as _lib
from ._library import to_str as _to_str
from ._options import Options
from ._partition import Part, Partition, partition
from ._place import (
    Comparison,
    compare,
    costs,
    inspect,
    list_bounds,
    list_costs,
    list_devices,
    list_engines,
    list_family,
    list_learners,
    list_links,
    list_models,
    list_readers,
    list_solvers,
    list_writers,
    load_plan,
    place,
)
from ._plan import Explanation, Plan, Report, Transfer, Unknown, Verdict
from ._platform import Device, Platform, read_devices
from ._problem import Problem
from ._watch import Progress, SituWarning

__version__ = _to_str(_lib.situ_version())

__all__ = [
    "BadArgument",
    "BadInput",
    "Cancelled",
    "Comparison",
    "Device",
    "EngineError",
    "Explanation",
    "FileError",
    "Graph",
    "Guess",
    "Guessed",
    "InternalError",
    "NoPlan",
    "Operator",
    "Options",
    "OutOfMemory",
    "Part",
    "Partition",
    "Plan",
    "Platform",
    "Problem",
    "Progress",
    "Report",
    "SituError",
    "SituWarning",
    "Tensor",
    "Transfer",
    "Unknown",
    "Unsupported",
    "Verdict",
    "compare",
    "costs",
    "disaggregate",
    "fit",
    "inspect",
    "judge",
    "list_bounds",
    "list_costs",
    "list_devices",
    "list_engines",
    "list_family",
    "list_learners",
    "list_links",
    "list_models",
    "list_readers",
    "list_solvers",
    "list_writers",
    "load_plan",
    "partition",
    "place",
    "read_devices",
    "serve",
    "size",
]
