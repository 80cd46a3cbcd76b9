"""Graphs as Python objects: built by hand, from NetworkX, or read from any model file; written as graph files."""

from __future__ import annotations

import ctypes
import json
import math
import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Iterator, Sequence, Union

from . import _interface as c
from ._library import BadInput, lib, make, summary, to_bytes, to_str, words

if TYPE_CHECKING:
    import networkx

DTYPES = words("situ_dtype_name")
_PHASES = words("situ_phase_name")
_PHASE_NAMES = {value: name for name, value in _PHASES.items()}
_DTYPE_NAMES = {value: name for name, value in DTYPES.items()}


@dataclass
class Operator:
    """An operator: its kind and its device-independent costs. docs/formats/graph.md defines every field."""

    name: str
    kind: str = "Operator"
    layer: str | None = None
    phase: str = "forward"
    dtype: str | None = None
    flops: int = 0
    moved_bytes: int = 0
    weight_bytes: int = 0
    workspace_bytes: int = 0
    colocation: int | None = None
    inferred: bool = True
    split_ways: int = 0
    weight_type: str | None = None


@dataclass
class Tensor:
    """A tensor: produced by one operator and read by any number of others."""

    producer: str
    size_bytes: int
    consumers: list[str] = field(default_factory=list)
    name: str | None = None
    dtype: str | None = None
    shape: tuple[int | None, ...] | None = None


@dataclass
class Guess:
    """Something that the costs rest on and no file says (docs/model.md, "What is unknown")."""

    kind: str
    subject: str
    operators: list[str] | None = None  #: names of those that it is about; None: all


Named = Union[str, Operator]


def _name(operator: Named) -> str:
    return operator if isinstance(operator, str) else operator.name


def dtype_bits(dtype: str) -> int:
    """Bits of one element of a type such as "f32"; 0 for an unknown name."""
    return int(lib.situ_dtype_bits(DTYPES.get(dtype, 0)))


class Graph:
    """An operator graph under construction. `situ.place` uses its state at the time of the call.

    graph = situ.Graph("two matrices")
    a = graph.add_operator("a", kind="MatMul", dtype="f32", flops=2_000_000_000)
    b = graph.add_operator("b", kind="MatMul", dtype="f32", flops=2_000_000_000)
    graph.add_tensor(a, shape=(10, 100), dtype="f32", consumers=[b])
    """

    def __init__(self, name: str = "graph"):
        self.name = name
        self.operators: dict[str, Operator] = {}
        self.tensors: list[Tensor] = []
        self.guesses: list[Guess] = []

    def __len__(self) -> int:
        return len(self.operators)

    def __iter__(self) -> Iterator[Operator]:
        return iter(self.operators.values())

    def __getitem__(self, name: str) -> Operator:
        return self.operators[name]

    def __repr__(self) -> str:
        return f"<situ.Graph {self.name!r}: {len(self.operators)} operators, {len(self.tensors)} tensors>"

    def add_operator(self, name: str, **about: Any) -> Operator:
        """Adds an operator; `about` are the other fields of Operator. BadInput if the name is already used."""
        if name in self.operators:
            raise BadInput("an operator of this name already exists", name)
        operator = self.operators[name] = Operator(name, **about)
        return operator

    def add_tensor(
        self,
        producer: Named,
        size_bytes: int | None = None,
        consumers: Sequence[Named] = (),
        *,
        shape: Sequence[int | None] | None = None,
        dtype: str | None = None,
        name: str | None = None,
    ) -> Tensor:
        """Adds a tensor that `producer` produces and `consumers` read. Its size can be derived from shape and dtype."""
        if size_bytes is None:
            if shape is None or dtype is None or any(n is None or n < 0 for n in shape):
                raise BadInput("a tensor needs size_bytes, or a known shape and dtype", _name(producer))
            size_bytes = (math.prod(n for n in shape if n is not None) * dtype_bits(dtype) + 7) // 8
        tensor = Tensor(
            _name(producer),
            size_bytes,
            [_name(v) for v in consumers],
            name,
            dtype,
            None if shape is None else tuple(shape),
        )
        self.tensors.append(tensor)
        return tensor

    def connect(self, producer: Named, consumer: Named, size_bytes: int = 0) -> Tensor:
        """Adds a tensor of the given size between two operators."""
        return self.add_tensor(producer, size_bytes, [consumer])

    def to_json(self) -> str:
        """The graph as a graph file (docs/formats/graph.md)."""
        operators = [
            {key: value for key, value in vars(op).items() if value is not None and value != ""} for op in self
        ]
        tensors = [
            {
                "name": t.name,
                "from": t.producer,
                "to": t.consumers,
                "dtype": t.dtype,
                "bytes": t.size_bytes,
                "dims": None if t.shape is None else [-1 if n is None else n for n in t.shape],
            }
            for t in self.tensors
        ]
        return json.dumps(
            {
                "situ_graph": 1,
                "name": self.name or "graph",
                "operators": operators,
                "tensors": [{k: v for k, v in t.items() if v is not None and v != ""} for t in tensors],
                "guesses": [{k: v for k, v in vars(guess).items() if v is not None} for guess in self.guesses],
            },
            default=_plain,
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes a graph file, which `situ place` of the command line reads too."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.to_json())

    @classmethod
    def from_networkx(cls, graph: networkx.DiGraph[Any], name: str | None = None) -> Graph:
        """A directed graph of NetworkX. Attributes of nodes are fields of Operator (others are ignored), `bytes` or
        `size_bytes` of an edge is its size. Out-edges of a node with one attribute `tensor` are one tensor."""
        made = cls(str(name if name is not None else graph.name or "networkx"))
        fields = Operator.__dataclass_fields__.keys() - {"name"}
        for node, about in graph.nodes(data=True):
            made.add_operator(str(node), **{key: value for key, value in about.items() if key in fields})
        shared: dict[tuple[str, Any], Tensor] = {}
        for u, v, about in graph.edges(data=True):
            size = int(about.get("size_bytes", about.get("bytes", 0)))
            key = (str(u), about.get("tensor"))
            if key[1] is not None and key in shared:
                shared[key].consumers.append(str(v))
            else:
                shared[key] = made.add_tensor(str(u), size, [str(v)], name=None if key[1] is None else str(key[1]))
        return made

    def to_networkx(self) -> networkx.DiGraph[Any]:
        """A NetworkX graph: nodes have the fields of Operator, edges the bytes transferred."""
        import networkx

        made: networkx.DiGraph[Any] = networkx.DiGraph(name=self.name)
        for op in self:
            made.add_node(op.name, **{key: value for key, value in vars(op).items() if key != "name"})
        for t in self.tensors:
            for v in t.consumers:
                before = made.edges[t.producer, v]["size_bytes"] if made.has_edge(t.producer, v) else 0
                made.add_edge(t.producer, v, size_bytes=before + t.size_bytes)
        return made

    @classmethod
    def read(cls, model: str | os.PathLike[str], options: Any = None) -> Graph:
        """The graph of a model file or of "builtin:NAME"."""
        made = make("situ_model_read", to_bytes(model), None if options is None else ctypes.byref(options))
        try:
            return _of_pointer(lib.situ_model_graph(made))
        finally:
            lib.situ_model_free(made)


def _plain(value: Any) -> Any:
    """Converts numbers of NumPy and similar libraries."""
    return value.item() if hasattr(value, "item") else str(value)


def _of_pointer(pointer: int) -> Graph:
    """A graph of the library as Python objects."""
    has = summary("graph", pointer)
    made = Graph(to_str(has.model))
    for op in operators_of(pointer):
        made.operators[op.name] = op
    names = list(made.operators)
    t, users = c.situ_tensor(size=ctypes.sizeof(c.situ_tensor)), ctypes.POINTER(ctypes.c_int32)()
    for i in range(has.n_tensors):
        lib.situ_graph_tensor(pointer, i, ctypes.byref(t))
        n = lib.situ_graph_users(pointer, i, ctypes.byref(users))
        shape = tuple(None if d < 0 else d for d in t.dims[: t.rank]) if t.dims and t.rank >= 0 else None
        made.tensors.append(
            Tensor(
                names[lib.situ_graph_tensor_producer(pointer, i)],
                t.size_bytes,
                [names[users[k]] for k in range(n)],
                to_str(t.name) or None,
                _DTYPE_NAMES.get(t.dtype),
                shape,
            )
        )
    made.guesses = _guesses_of(pointer, names)
    return made


def _guesses_of(pointer: int, names: Sequence[str]) -> list[Guess]:
    row, found = c.situ_guess(size=ctypes.sizeof(c.situ_guess)), []
    for k in range(lib.situ_graph_guess_count(pointer)):
        lib.situ_graph_guess_at(pointer, k, ctypes.byref(row))
        about = None if row.n_operators < 0 else [names[row.operators[i]] for i in range(row.n_operators)]
        found.append(Guess(to_str(lib.situ_guess_kind_name(row.kind)), to_str(row.subject), about))
    return found


def operators_of(pointer: int) -> Iterator[Operator]:
    """The operators of a graph of the library, in its order."""
    op = c.situ_operator(size=ctypes.sizeof(c.situ_operator))
    for i in range(summary("graph", pointer).n_operators):
        lib.situ_graph_operator(pointer, i, ctypes.byref(op))
        yield Operator(
            to_str(op.name),
            to_str(op.kind),
            to_str(op.layer) or None,
            _PHASE_NAMES[op.phase],
            _DTYPE_NAMES.get(op.dtype),
            op.flops,
            op.moved_bytes,
            op.weight_bytes,
            op.workspace_bytes,
            None if op.colocation < 0 else op.colocation,
            op.inferred,
            op.split_ways,
            to_str(op.weight_type) or None,
        )


def names_of(pointer: int) -> list[str]:
    """The names of the operators of a graph of the library."""
    return [to_str(lib.situ_graph_operator_name(pointer, i)) for i in range(summary("graph", pointer).n_operators)]
