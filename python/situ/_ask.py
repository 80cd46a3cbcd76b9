"""Questions that take several plans to answer: what fits, what a machine serves, which machine is enough, and whether a
command is good. Each answer is a report, as of the command of that name."""

from __future__ import annotations

import ctypes
import os
from typing import TYPE_CHECKING, Any

from . import _interface as c
from ._inputs import Costs, Folder, Machine, Model, set_inputs
from ._library import BadArgument, lib, make, sized, to_bytes
from ._options import fill
from ._plan import Report, report
from ._watch import ProgressOption, Watch

if TYPE_CHECKING:
    from ._options import Options, Unpack


def _answer(
    verb: str, noun: str, shown: str, own: Any, inputs: tuple[Any, ...], progress: ProgressOption, options: Any
) -> Report:
    """Calls situ_VERB, whose result is a NOUN, with options of its own, and reports the result by situ_report_SHOWN."""
    filled, folder = fill(options, purpose=True), Folder()
    model, platform, costs = inputs
    set_inputs(filled, folder, "of the command" if model is None else model, platform, costs)
    if model is None:
        filled.instance.model = None
    own.solve = ctypes.pointer(filled.solve)
    with Watch(progress) as watch, folder.unnamed():
        watch.attach(filled.instance, filled.solve)
        pointer = make("situ_" + verb, ctypes.byref(filled.instance), ctypes.byref(own))
    try:
        return report("situ_report_" + shown, pointer)
    finally:
        getattr(lib, f"situ_{noun}_free")(pointer)


def fit(
    model: Model,
    platform: Machine = None,
    *,
    what: str = "context",
    max: int = 0,
    goal: str | None = None,
    costs: Costs = None,
    progress: ProgressOption = None,
    **options: Unpack[Options],
) -> Report:
    """The longest context of a language model that fits, or with what="batch" the most streams, of other models the
    largest batch: `answer`, `proved` (that more is impossible) and `rows`, as in `situ fit --json`. max: the largest
    amount to try; goal: "tokens/s>=20". Each plan has about 1 s unless time_limit or steps is given."""
    own = sized(c.situ_fit_options)
    if what not in ("context", "batch"):
        raise BadArgument(f"what is 'context' or 'batch', not {what!r}")
    own.quantity = c.SITU_FIT_CONTEXT if what == "context" else c.SITU_FIT_BATCH
    own.max, own.goal = max, None if goal is None else to_bytes(goal)
    return _answer("fit", "fitting", "fit", own, (model, platform, costs), progress, options)


def serve(
    model: Model,
    platform: Machine = None,
    *,
    streams: int = 0,
    costs: Costs = None,
    progress: ProgressOption = None,
    **options: Unpack[Options],
) -> Report:
    """Tokens per second of one user of a language model against those of all, over numbers of streams, groups of devices
    and copies of the model: `rows`, as in `situ pareto --streams N --json`. streams: the most of one copy, 1024 by
    default."""
    own = sized(c.situ_serving_options)
    own.max_streams = streams
    return _answer("serve", "serving", "serving", own, (model, platform, costs), progress, options)


def disaggregate(
    model: Model,
    platform: Machine = None,
    *,
    streams: int = 0,
    costs: Costs = None,
    progress: ProgressOption = None,
    **options: Unpack[Options],
) -> Report:
    """Prompts on some devices and decoding on others: `rows`, as in `situ pareto --disaggregate --json`, beside the best where
    each copy does both. prompt and generate state a request; streams: the most that decode at once, 1024 by default."""
    own = sized(c.situ_serving_options)
    own.max_streams = streams
    return _answer("disaggregate", "disaggregation", "disaggregation", own, (model, platform, costs), progress, options)


def size(
    model: Model,
    goal: str,
    *,
    among: str | None = None,
    prices: str | os.PathLike[str] | None = None,
    all: bool = False,
    costs: Costs = None,
    progress: ProgressOption = None,
    **options: Unpack[Options],
) -> Report:
    """The smallest or cheapest platform that meets a goal ("latency<=50ms", "tokens/s>=20"): `answer` and `rows`, as in
    `situ size --json`. among: platforms, separated by commas; prices: a file of prices per hour (docs/size.md); all: do
    not stop at the first."""
    own = sized(c.situ_size_options)
    own.goal, own.all = to_bytes(goal), all
    own.platforms = None if among is None else to_bytes(among)
    own.prices = None if prices is None else to_bytes(prices)
    return _answer("size", "sizing", "size", own, (model, None, costs), progress, options)


def judge(
    command: str,
    model: Model | None = None,
    platform: Machine = None,
    *,
    format: str | None = None,
    costs: Costs = None,
    progress: ProgressOption = None,
    **options: Unpack[Options],
) -> Report:
    """Whether a command of an engine is good: what it places, whether that fits, and the best plan of that program, as
    in `situ judge --json`. command: its text, or that of a file that `situ judge` reads: a device map, stages of
    torchtitan, settings of ONNX Runtime. The model may be that of the command; format is the name of its writer where it
    cannot be recognised."""
    own = sized(c.situ_judge_options)
    own.command = to_bytes(command)
    own.format = None if format is None else to_bytes(format)
    return _answer("judge", "judgement", "judgement", own, (model, platform, costs), progress, options)
