"""The options of the library's table as keyword arguments: `--time-limit 2` of the command line is time_limit=2."""

from __future__ import annotations

import ctypes
import os
from typing import TYPE_CHECKING, Any, Callable, Mapping, Sequence, TypedDict

from . import _interface as c
from ._library import BadArgument, lib, nearest, sized, to_bytes, to_str, words

if TYPE_CHECKING:
    from typing_extensions import Unpack as Unpack

AUTO = -1.0  # SITU_AUTO: the defaults of `situ place`


class Options(TypedDict, total=False):
    """The keyword arguments of `place` and related functions. `situ place --help` explains each."""

    reader: str
    dim: Mapping[str, int]
    default_dim: int
    precision: str
    training: bool
    optimizer: str  # of training steps
    offload_optimizer: bool
    recompute: str
    prompt: int
    context: int
    batch: int
    generate: int
    kv_type: str
    ubatch: int
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
    zero: int
    in_flight: int
    micro_batches: int
    chunks: int
    copies: int
    calls: int
    max_period: float  # ms
    max_latency: float  # ms
    max_ttft: float  # ms
    min_speed: float  # tokens a second
    names: str  # "gpu0=Vulkan0": what llama.cpp calls the devices
    tensor_parallel: str  # "4": groups of 4 devices split operators; "auto"
    unused: Sequence[str]
    writers: str | Sequence[str]  # formats that shall hold the plan, as --write of the command line
    rules: str | os.PathLike[str] | Sequence[str | os.PathLike[str]]
    not_: str | Sequence[str] | Mapping[str, str]  # "KIND=DEVICE"
    reserve: str | Sequence[str] | Mapping[str, str]  # "DEVICE=SIZE"
    headroom: str  # "SIZE" or "PERCENT%" of every memory
    granularity: str
    cost_table: str | os.PathLike[str] | Sequence[str | os.PathLike[str]]
    cost_engine: str
    engine: str  # the earlier name of cost_engine
    fusion: str
    efficiency: float
    max_unknown: float  # percent
    strict: bool
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
        return int(number)

    return convert


def _real(scale: float, most: float) -> Callable[[Any], float]:
    def convert(value: Any) -> float:
        number = _number(float, value)
        if number is None or not 0 <= number <= most:
            raise BadArgument(f"expected a number from 0 to {most:g}, not {value!r}")
        return float(number) * scale

    return convert


def _ms(value: Any) -> int:
    return int(_real(1e6, 1e9)(value) + 0.5)


def _choice(names: Sequence[str], first: int) -> Callable[[Any], int]:
    def convert(value: Any) -> int:
        if value not in names:
            raise BadArgument(f"expected {' or '.join(names)}, not {value!r}")
        return first + names.index(value)

    return convert


class _Row:
    """An option of the library's table."""

    def __init__(self, info: c.situ_option_info) -> None:
        self.name, self.group = to_str(info.name).replace("-", "_"), to_str(info.group)
        self.part, self.kind, self.offset = info.part, info.kind, info.offset
        self.old = to_str(info.old).replace("-", "_")
        self.min, self.max = info.min, info.max
        self.choices: list[str] = []
        while info.choices and info.choices[len(self.choices)]:
            self.choices.append(to_str(info.choices[len(self.choices)]))

    def converter(self) -> Callable[[Any], Any] | None:
        """What its field holds for what Python gives; None for lists."""
        most = int(self.max) or 2**31 - 1
        return {
            c.SITU_OPTION_ON: _truth,
            c.SITU_OPTION_OFF: lambda value: not _truth(value),
            c.SITU_OPTION_TEXT: _names if self.name == "solver" else _text,
            c.SITU_OPTION_PATH: _text,
            c.SITU_OPTION_CHOICE: _choice(self.choices, self.min),
            c.SITU_OPTION_INT64: _whole(self.min, 2**63 - 1),
            c.SITU_OPTION_INT32: _whole(self.min, most),
            c.SITU_OPTION_SEED: _whole(0, 2**64 - 1),
            c.SITU_OPTION_MS: _ms,
            c.SITU_OPTION_PERCENT: _real(0.01, self.max),
            c.SITU_OPTION_REAL: _real(1.0, self.max),
        }.get(self.kind)


def _rows() -> list[_Row]:
    info = sized(c.situ_option_info)
    return [_Row(info) for k in range(lib.situ_option_count()) if lib.situ_option_at(k, ctypes.byref(info))]


_PARTS = {
    c.SITU_OPTION_READ: "read",
    c.SITU_OPTION_COST: "cost",
    c.SITU_OPTION_PROBLEM: "problem",
    c.SITU_OPTION_INSTANCE: "instance",
    c.SITU_OPTION_SOLVE: "solve",
}
# What functions have as parameters of their own: machine, costs, and placements to keep or to start from.
APART = {"platform", "costs", "fix", "start"}
ROWS = [row for row in _rows() if row.name not in APART]


def _field(row: _Row) -> str:
    """The field of the struct at the offset of the row."""
    struct = getattr(c, f"situ_{_PARTS[row.part]}_options")
    return str(next(name for name, *_ in struct._fields_ if getattr(struct, name).offset == row.offset))


# option: (struct, field, conversion)
TABLE: dict[str, tuple[str, str, Callable[[Any], Any]]] = {
    row.name: (_PARTS[row.part], _field(row), convert) for row in ROWS if (convert := row.converter())
}

_RENAMED = {row.old: row.name for row in ROWS if row.old}  # earlier names, which still work


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


def _set_tables(filled: Filled, given: Any) -> None:
    paths = [given] if isinstance(given, (str, os.PathLike)) else list(given)
    filled.cost.table_path = b",".join(to_bytes(path) for path in paths)


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
    "cost_table": _set_tables,
    "rules": _add_rules(""),
    "not_": _add_rules("not ", "KIND=DEVICE, as in 'MaxPool=gpu0'"),
    "reserve": _add_rules("reserve ", "DEVICE=SIZE, as in 'gpu0=2GiB'"),
    "headroom": _add_rules("headroom "),
}


def fill(options: Mapping[str, Any], purpose: bool = False) -> Filled:
    """The structs for these options. With `purpose`, options that are not given are as in `situ place`: a plan with few
    hand-overs, and whole layers of language decoders, unless solvers are named. TypeError for unknown options."""
    filled = Filled()
    solvers = options.get("solver") or "auto"
    solvers = solvers.split(",") if isinstance(solvers, str) else list(solvers)
    named = any(name.strip() != "auto" and not name.strip().startswith("-") for name in solvers)
    if purpose:
        filled.solve.tolerance = filled.solve.min_gain = filled.solve.uncertainty = AUTO
        layers = solvers == ["layers"]
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
