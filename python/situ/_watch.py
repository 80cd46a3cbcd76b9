"""What happens while the library works: progress, the bar of terminals, Ctrl-C, warnings, the exit of the interpreter.

The library gets two callbacks that live as long as the module, and a number that names the call: so none is called
after it is gone."""

from __future__ import annotations

import atexit
import itertools
import logging
import signal
import sys
import threading
import time
import warnings
from dataclasses import dataclass
from types import FrameType, TracebackType
from typing import Any, Callable, Union

from . import _interface as c
from ._library import NEVER_NS, to_str

logger = logging.getLogger("situ")
_numbers = itertools.count(1)
_watches: dict[int, Watch] = {}
_closing = threading.Event()
_BAR_AFTER_S, _BAR_EVERY_S = 1.0, 0.1


class SituWarning(UserWarning):
    """The result may be worse than you expect: the library says why."""


@dataclass(frozen=True)
class Progress:
    """The progress of a solve. `value_ns` is None while there is no plan."""

    solver: str
    seconds: float
    steps: int
    value_ns: int | None
    lower_bound_ns: int


Callback = Callable[[Progress], Any]
ProgressOption = Union[bool, Callback, None]


def duration(time_ns: float | None) -> str:
    """A readable time: "3.21 ms"; "-" for none."""
    if time_ns is None or time_ns >= NEVER_NS:
        return "-"
    unit, size = next(((u, s) for u, s in (("s", 1e9), ("ms", 1e6), ("us", 1e3)) if time_ns >= s), ("ns", 1.0))
    return f"{time_ns / size:.4g} {unit}"


class Watch:
    """One call under watch. `progress`: a function that is called every 10 ms or so and may return True to stop; True
    or False shows a bar or none; None shows one on terminals."""

    def __init__(self, progress: ProgressOption = None):
        self.user: Callback | None = progress if callable(progress) else None
        self.bar = sys.stderr is not None and sys.stderr.isatty() if progress is None else progress is True
        self.interrupted = False
        self.failure: BaseException | None = None
        self.messages: list[tuple[int, str]] = []
        self._drawn, self._next_draw, self._handler = 0, 0.0, None
        self.number = next(_numbers)

    def attach(self, *structs: Any) -> None:
        """Sets the callbacks of option structs; within `with`."""
        for s in structs:
            fields = {name for name, *_ in s._fields_}
            if "log" in fields and (not isinstance(s, c.situ_solve_options) or logger.isEnabledFor(logging.INFO)):
                s.log, s.log_context = _LOG, self.number
            if "progress" in fields:
                s.progress, s.context = _PROGRESS, self.number
                self._catch()

    def __enter__(self) -> Watch:
        _watches[self.number] = self
        self._next_draw = time.monotonic() + _BAR_AFTER_S
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._handler is not None:
            signal.signal(signal.SIGINT, self._handler)
        _watches.pop(self.number, None)
        if self._drawn:
            self._draw("")
        for level, text in self.messages:
            if level == c.SITU_LOG_WARNING:
                warnings.warn(text, SituWarning, stacklevel=_stack_level())
            else:
                logger.info(text)
        if self.failure is not None:
            raise self.failure

    def _catch(self) -> None:
        """From here on Ctrl-C stops the search, which then has an answer; other handlers stay as they are."""
        main = threading.current_thread() is threading.main_thread()
        if main and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            self._handler = signal.signal(signal.SIGINT, self._interrupt)  # type: ignore[assignment]

    def _interrupt(self, number: int, frame: FrameType | None) -> None:
        self.interrupted = True

    def _draw(self, text: str) -> None:
        sys.stderr.write("\r" + text.ljust(self._drawn))
        if not text:
            sys.stderr.write("\r")
        sys.stderr.flush()
        self._drawn = len(text)

    def tell(self, p: c.situ_progress) -> bool:
        """Whether to stop."""
        if self.user is None and not self.bar:
            return self.interrupted
        value = None if p.value_ns == NEVER_NS else p.value_ns
        now = Progress(to_str(p.solver), p.seconds, p.steps, value, p.lower_bound_ns)
        stop = bool(self.user(now)) if self.user else False
        if self.bar and time.monotonic() >= self._next_draw:
            self._next_draw = time.monotonic() + _BAR_EVERY_S
            self._draw(
                f"situ: {now.seconds:.1f} s  {now.solver:<16.16}  best {duration(value)}  "
                f"bound {duration(now.lower_bound_ns)}"
            )
        return stop or self.interrupted


def _stack_level() -> int:
    """The stack level of the caller of this package."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_globals.get("__name__", "").split(".")[0] == "situ":
        frame, level = frame.f_back, level + 1
    return level


def _on_progress(context: int | None, progress: Any) -> bool:
    watch = _watches.get(context or 0)
    if watch is None or _closing.is_set():
        return True
    try:
        return watch.tell(progress.contents)
    except BaseException as failure:  # what a function of the user raises comes out of the call
        watch.failure = failure
        return True


def _on_log(context: int | None, level: int, text: bytes) -> None:
    watch = _watches.get(context or 0)
    if watch is not None:
        watch.messages.append((level, to_str(text)))


_PROGRESS = c.situ_progress_callback(_on_progress)
_LOG = c.situ_log_callback(_on_log)


@atexit.register
def _close() -> None:
    """Solves of daemon threads end with the interpreter: they are asked to stop, and have a moment to do so."""
    _closing.set()
    deadline = time.monotonic() + 2.0
    while _watches and time.monotonic() < deadline:
        time.sleep(0.01)


__all__ = ["Callback", "Progress", "ProgressOption", "SituWarning", "Watch", "duration", "logger"]
