"""The options of the command line as keyword arguments, each named once: `--time-limit 2` is time_limit=2."""

from __future__ import annotations

import ctypes
import os
from typing import TYPE_CHECKING, Any, Callable, Mapping, Sequence, TypedDict

from . import _interface as c
from ._library import BadArgument, nearest, sized, to_bytes, words

if TYPE_CHECKING:
    from typing_extensions import Unpack as Unpack

BY_PURPOSE = -1.0  # SITU_BY_PURPOSE: the defaults of `situ place`


class Options(TypedDict, total=False):
    """The keyword arguments of `place` and related functions. `situ place --help` explains each."""

    reader: str
    dim: Mapping[str, int]
    default_dim: int
    precision: str
    training: bool
    prompt: int
    context: int
    batch: int
    generate: int
    kv_type: str
    draft: int
    acceptance: float
    objective: str
    execution: str
    contiguous: bool
    free: bool
    communication: str
    contention: str
    overlap: str
    async_copies: bool
    schedule: str
    replicate: bool
    in_flight: int
    copies: int
    calls: int
    max_period: float  # ms
    max_latency: float  # ms
    max_ttft: float  # ms
    min_speed: float  # tokens a second
    unused: Sequence[str]
    writers: str | Sequence[str]  # formats that shall hold the plan, as --write of the command line
    rules: str | os.PathLike[str] | Sequence[str | os.PathLike[str]]
    not_: str | Sequence[str] | Mapping[str, str]  # "KIND=DEVICE"
    reserve: str | Sequence[str] | Mapping[str, str]  # "DEVICE=SIZE"
    granularity: str
    cost_table: str | os.PathLike[str]
    cost_engine: str
    engine: str  # the earlier name of cost_engine
    fusion: str
    efficiency: float
    solver: str | Sequence[str]
    time_limit: float  # seconds
    steps: int
    seed: int
    policy: str | os.PathLike[str]
    tune: int
    threads: int
    tolerance: float  # percent
    min_gain: float  # percent
    max_parts: int
    min_part: int
    uncertainty: float  # percent
    robust: bool


class Filled:
    """The filled structs of the library; keeps alive everything that they point to."""

    def __init__(self) -> None:
        self.read, self.cost = sized(c.situ_read_options), sized(c.situ_cost_options)
        self.problem, self.instance = sized(c.situ_problem_options), sized(c.situ_instance_options)
        self.solve = sized(c.situ_solve_options)
        self.rules: list[bytes] = []
        for name in ("read", "cost", "problem"):
            setattr(self.instance, name, ctypes.pointer(getattr(self, name)))


def _text(value: Any) -> bytes:
    return to_bytes(value if isinstance(value, (str, os.PathLike)) else str(value))


def _names(value: Any) -> bytes:
    return _text(value if isinstance(value, str) else ",".join(value))


def _truth(value: Any) -> bool:
    if not isinstance(value, bool):
        raise TypeError(f"expected True or False, not {value!r}")
    return value


def _number(kind: Callable[[Any], Any], value: Any) -> Any:
    """The number, or None if it is not one; text is not."""
    try:
        return None if isinstance(value, (str, bytes)) else kind(value)
    except (TypeError, ValueError, OverflowError):
        return None


def _whole(least: int, most: int) -> Callable[[Any], int]:
    def convert(value: Any) -> int:
        number = _number(int, value)
        if number is None or number != value or not least <= number <= most:
            raise BadArgument(f"expected a whole number from {least} to {most}, not {value!r}")
        return number

    return convert


def _real(scale: float, most: float) -> Callable[[Any], float]:
    def convert(value: Any) -> float:
        number = _number(float, value)
        if number is None or not 0 <= number <= most:
            raise BadArgument(f"expected a number from 0 to {most:g}, not {value!r}")
        return number * scale

    return convert


def _ms(value: Any) -> int:
    return int(_real(1e6, 1e9)(value) + 0.5)


def _choice(function: str, first: int = 0) -> Callable[[Any], int]:
    def convert(value: Any) -> int:
        known = words(function, first)
        if value not in known:
            raise BadArgument(f"expected {' or '.join(known)}, not {value!r}")
        return known[value]

    return convert


_SMALL, _LARGE = _whole(1, 2**31 - 1), _whole(1, 2**63 - 1)

# option: (struct, field, conversion)
TABLE: dict[str, tuple[str, str, Callable[[Any], Any]]] = {
    "reader": ("read", "reader", _text),
    "default_dim": ("read", "default_dim", _LARGE),
    "precision": ("read", "precision", _choice("situ_precision_name", 1)),
    "training": ("read", "training", _truth),
    "prompt": ("read", "prompt", _LARGE),
    "context": ("read", "context", _LARGE),
    "batch": ("read", "batch", _LARGE),
    "generate": ("read", "generate", _LARGE),
    "kv_type": ("read", "kv_type", _text),
    "draft": ("read", "draft", _LARGE),
    "acceptance": ("read", "acceptance", _real(1.0, 1.0)),
    "objective": ("problem", "objective", _choice("situ_objective_name", 1)),
    "execution": ("problem", "execution", _choice("situ_execution_name", 1)),
    "contiguous": ("problem", "free", lambda value: not _truth(value)),
    "free": ("problem", "free", _truth),
    "communication": ("problem", "communication", _choice("situ_communication_name", 1)),
    "contention": ("problem", "contention", _choice("situ_contention_name")),
    "overlap": ("problem", "overlap", _choice("situ_overlap_name", 1)),
    "async_copies": ("problem", "async_copies", _truth),
    "schedule": ("problem", "schedule", _choice("situ_schedule_name")),
    "replicate": ("problem", "replicate", _truth),
    "in_flight": ("problem", "in_flight", _SMALL),
    "copies": ("problem", "copies", _SMALL),
    "calls": ("problem", "max_calls", _SMALL),
    "max_period": ("problem", "max_period_ns", _ms),
    "max_latency": ("problem", "max_latency_ns", _ms),
    "max_ttft": ("instance", "max_ttft_ns", _ms),
    "min_speed": ("instance", "min_speed", _real(1.0, 1e12)),
    "granularity": ("instance", "granularity", _choice("situ_granularity_name")),
    "cost_table": ("cost", "table_path", _text),
    "cost_engine": ("cost", "engine", _text),
    "fusion": ("cost", "fusion", _text),
    "efficiency": ("cost", "efficiency", _real(1.0, 1.0)),
    "solver": ("solve", "solvers", _names),
    "time_limit": ("solve", "time_limit_s", _real(1.0, 1e9)),
    "steps": ("solve", "max_steps", _LARGE),
    "seed": ("solve", "seed", _whole(0, 2**64 - 1)),
    "policy": ("solve", "policy", _text),
    "tune": ("solve", "tune_steps", _LARGE),
    "threads": ("solve", "threads", _SMALL),
    "tolerance": ("solve", "tolerance", _real(0.01, 1000)),
    "min_gain": ("solve", "min_gain", _real(0.01, 1000)),
    "max_parts": ("solve", "max_parts", _SMALL),
    "min_part": ("solve", "min_part", _SMALL),
    "uncertainty": ("solve", "uncertainty", _real(0.01, 200)),
    "robust": ("solve", "robust", _truth),
}

_RENAMED = {"engine": "cost_engine"}  # earlier names, which still work


def _set_dims(filled: Filled, dims: Mapping[str, int]) -> None:
    if not isinstance(dims, Mapping):
        raise BadArgument(f"expected sizes by name, such as {{'batch': 8}}, not {dims!r}")
    filled.read.dims = (c.situ_dim * len(dims))(
        *(c.situ_dim(to_bytes(k), _whole(0, 2**63 - 1)(v)) for k, v in dims.items())
    )
    filled.read.n_dims = len(dims)


def _set_unused(filled: Filled, names: Sequence[str]) -> None:
    given = [names] if isinstance(names, str) else list(names)
    filled.instance.unused = (ctypes.c_char_p * len(given))(*map(to_bytes, given))
    filled.instance.n_unused = len(given)


def _set_writers(filled: Filled, names: str | Sequence[str]) -> None:
    given = [names] if isinstance(names, str) else list(names)
    filled.instance.writers = (ctypes.c_char_p * len(given))(*map(to_bytes, given))
    filled.instance.n_writers = len(given)


def _add_rules(prefix: str, form: str = "") -> Callable[[Filled, Any], None]:
    def add(filled: Filled, given: Any) -> None:
        if form and isinstance(given, Mapping):
            given = [f"{key}={value}" for key, value in given.items()]
        for rule in [given] if isinstance(given, (str, os.PathLike)) else given:
            if form and not (isinstance(rule, str) and "=" in rule):
                raise BadArgument(f"expected {form}, not {rule!r}")
            filled.rules.append(to_bytes(prefix) + _text(rule))
        filled.instance.rules = (ctypes.c_char_p * len(filled.rules))(*filled.rules)
        filled.instance.n_rules = len(filled.rules)

    return add


_LISTS: dict[str, Callable[[Filled, Any], None]] = {
    "dim": _set_dims,
    "unused": _set_unused,
    "writers": _set_writers,
    "rules": _add_rules(""),
    "not_": _add_rules("not ", "KIND=DEVICE, as in 'MaxPool=gpu0'"),
    "reserve": _add_rules("reserve ", "DEVICE=SIZE, as in 'gpu0=2GiB'"),
}


def fill(options: Mapping[str, Any], purpose: bool = False) -> Filled:
    """The structs for these options. With `purpose`, options that are not given are as in `situ place`: a plan with few
    hand-overs, and whole layers of language decoders, unless solvers are named. TypeError for unknown options."""
    filled = Filled()
    named = options.get("solver") not in (None, "auto")
    if purpose:
        filled.solve.tolerance = filled.solve.min_gain = filled.solve.uncertainty = BY_PURPOSE
        layers = options.get("solver") in ("layers", ["layers"], ("layers",))
        how = "layer" if layers else "fused" if named else "default"
        filled.instance.granularity = words("situ_granularity_name")[how]
    for given, value in options.items():
        name = _RENAMED.get(given, given)
        if name not in TABLE and name not in _LISTS:
            raise TypeError(f"there is no option {name!r}{nearest(name, [*TABLE, *_LISTS])}")
        if value is None:
            continue
        try:
            if name in _LISTS:
                _LISTS[name](filled, value)
                continue
            struct, field, convert = TABLE[name]
            setattr(getattr(filled, struct), field, convert(value))
        except (BadArgument, TypeError) as failure:
            raise type(failure)(f"{name}: {failure}") from None
    return filled
