"""libsitu for Python: finds, loads and declares it; errors become exceptions, texts become str, objects have owners."""

from __future__ import annotations

import ctypes
import os
import pathlib
import weakref
from typing import Any, NoReturn, TypeVar

from . import _interface as c

_NAME = f"libsitu.so.{c.SITU_VERSION_MAJOR}.{c.SITU_VERSION_MINOR}"
NEVER_NS = 2**63 - 1


class SituError(Exception):
    """A call that failed. `status` is the name of the library's status, `where` the file or operator ("" for none),
    `text` what is wrong and what was expected."""

    status = "unknown"

    def __init__(self, text: str, where: str = "", status: str | None = None):
        super().__init__(f"{where}: {text}" if where else text)
        self.text, self.where = text, where
        if status is not None:
            self.status = status


class OutOfMemory(SituError, MemoryError):
    """An allocation failed."""

    status = "no_memory"


class BadArgument(SituError, ValueError):
    """An option has an invalid value, or options cannot be combined."""

    status = "bad_argument"


class BadInput(SituError, ValueError):
    """A file, or a graph, platform or table from Python, is malformed or contradicts itself."""

    status = "bad_input"


class Unsupported(SituError, NotImplementedError):
    """Understood, but this build or version cannot do it."""

    status = "unsupported"


class FileError(SituError, OSError):
    """A file could not be opened, read or written."""

    status = "io"


class InternalError(SituError):
    """A defect of situ: please report it."""

    status = "internal"


class EngineError(SituError):
    """An engine is missing, rejected a model, crashed or gave a malformed answer."""

    status = "engine"


class Cancelled(SituError):
    """A callback asked to stop."""

    status = "cancelled"


class Guessed(SituError):
    """More of the costs is guessed than a strict call allows: `unknown` of an open problem says what."""

    status = "guessed"


class NoPlan(SituError):
    """The call needs a placement, but the plan has none: `plan.reason` says why."""

    status = "no_plan"


_BY_STATUS = {
    e.status: e
    for e in (OutOfMemory, BadArgument, BadInput, Unsupported, FileError, InternalError, EngineError, Cancelled, Guessed)
}


def _load() -> ctypes.CDLL:
    """The library that SITU_LIBRARY names, else that of the wheel, else the installed one."""
    own = pathlib.Path(__file__).resolve().parent.parent
    named = os.environ.get("SITU_LIBRARY")
    places = [named] if named else [*map(str, sorted(own.glob(".*.mesonpy.libs/libsitu.*"))), _NAME]
    failures = []
    for place in places:
        try:
            loaded = ctypes.CDLL(place)
        except OSError as failure:
            failures.append(str(failure))
            continue
        for name, (result, arguments) in c.FUNCTIONS.items():
            try:
                function = loaded[name]
            except AttributeError:
                raise ImportError(
                    f"{place} has no {name}: it is another version than these declarations, "
                    f"{c.SITU_VERSION_MAJOR}.{c.SITU_VERSION_MINOR}.{c.SITU_VERSION_PATCH}"
                ) from None
            function.restype = result  # type: ignore[assignment]
            function.argtypes = arguments  # type: ignore[assignment]
            setattr(loaded, name, function)
        return loaded
    raise ImportError(f"libsitu was not found: {'; '.join(failures)}. Set SITU_LIBRARY to its path")


lib = _load()


def to_bytes(text: str | os.PathLike[str]) -> bytes:
    """A text or path for the library."""
    given = os.fsencode(text) if isinstance(text, os.PathLike) else text.encode("utf-8", "surrogateescape")
    if b"\0" in given:
        raise BadArgument("a text contains a zero byte")
    return given


def to_str(text: bytes | None) -> str:
    """A text of the library; bytes that are not UTF-8 are replaced."""
    return (text or b"").decode("utf-8", "replace")


def fail(error: c.situ_error) -> NoReturn:
    status = to_str(lib.situ_status_name(error.status))
    raise _BY_STATUS.get(status, SituError)(to_str(error.text), to_str(error.where), status)


def call(name: str, *arguments: Any) -> None:
    """Calls a function that returns a status; raises an exception if it fails."""
    error = c.situ_error()
    if getattr(lib, name)(*arguments, ctypes.byref(error)) != c.SITU_STATUS_OK:
        fail(error)


def make(name: str, *arguments: Any) -> int:
    """Like call, for a function whose first argument receives the new object."""
    out = ctypes.c_void_p()
    call(name, ctypes.byref(out), *arguments)
    assert out.value is not None
    return out.value


def make_text(name: str, *arguments: Any) -> str:
    """Like call, for a function whose first argument receives the new text."""
    made = make(name, *arguments)
    try:
        return to_str(ctypes.string_at(made))
    finally:
        lib.situ_text_free(made)


Self = TypeVar("Self", bound="Frozen")


class Frozen:
    """What owns an object of the library. That never changes, so a copy is the object itself."""

    def __copy__(self: Self) -> Self:
        return self

    def __deepcopy__(self: Self, memo: dict[int, Any]) -> Self:
        return self

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError(f"a {type(self).__name__} belongs to this process and cannot be pickled{self._instead}")

    _instead = ""  # what to do, as the end of that message


def own(owner: Frozen, pointer: int, free: str) -> None:
    """Frees `pointer` when `owner` goes. Not at the exit of the interpreter: a thread may still be at work on it, and
    the system takes all back."""
    weakref.finalize(owner, getattr(lib, free), pointer).atexit = False


def sized(kind: Any) -> Any:
    """A struct of the interface with its size."""
    return kind(size=ctypes.sizeof(kind))


def summary(noun: str, pointer: int) -> Any:
    """What an object of the library says as a whole; its texts live as long as that."""
    made = sized(getattr(c, f"situ_{noun}_summary"))
    getattr(lib, f"situ_{noun}_get_summary")(pointer, ctypes.byref(made))
    return made


def words(function: str, first: int = 0) -> dict[str, int]:
    """{name: enumerator} of an enum, by the function that names its values."""
    found: dict[str, int] = {}
    for value in range(first, 64):
        name = to_str(getattr(lib, function)(value))
        if name in ("", "unknown"):
            if value > 0:
                break
            continue
        found.setdefault(name, value)
    return found


def nearest(word: str, names: list[str]) -> str:
    """'; did you mean NAME?', or ''."""
    array = (ctypes.c_char_p * len(names))(*map(to_bytes, names))
    found = lib.situ_nearest_name(to_bytes(word), array, len(names))
    return f"; did you mean {to_str(found)}?" if found else ""
