"""Your own solvers compared with those of situ: one checker, equal budgets, many seeds.

def first_fit(search):
    return {name: "gpu0" for name in search.problem.operators}

results = situ.bench.run({"first fit": first_fit, "auto": "auto"}, steps=500, seeds=5)
print(results)

A solver is a function of a Search. It may return a placement, ask what placements are worth, or both; the best of all
that the judge accepts counts. docs/how-to/research.md is the introduction."""

from __future__ import annotations

import math
import random
import statistics
import time
from typing import TYPE_CHECKING, Any, Callable, Iterable, Mapping, Sequence, Union

from ._library import BadArgument
from ._place import list_solvers
from ._plan import Plan
from ._problem import Problem

if TYPE_CHECKING:
    import matplotlib.axes
    import pandas

#: The standard workloads: arguments of situ.Problem by name. Latency of one input, and the period of a pipeline.
STANDARD: dict[str, dict[str, Any]] = {
    f"{name}/{objective}": {"model": f"builtin:{name}", "platform": platform, "objective": objective}
    for name, platform in (
        ("resnet50", "cpu+2*v100-16g"),
        ("inception-v3", "cpu+2*v100-16g"),
        ("bert-base", "cpu+2*v100-16g"),
        ("gnmt", "cpu+2*v100-16g"),
        ("mobilenet-v2", "4*rpi5"),
        ("randwire-ws", "cpu+t4-16g+l4-24g"),
    )
    for objective in ("latency", "throughput")
}


class BudgetSpent(Exception):
    """Raised in a solver that exceeds its budget. It need not be caught: the best placement so far counts."""


class Search:
    """The input of your own solver: a problem, random numbers of its seed, a budget of evaluations."""

    def __init__(self, problem: Problem, seed: int = 0, steps: int | None = None, time_limit: float | None = None):
        self.problem, self.seed, self.random = problem, seed, random.Random(seed)
        self.steps = 0  #: placements that were asked about
        self.best_ns: int | None = None
        self.best: tuple[Mapping[str, str], Sequence[str] | None] | None = None
        self._most = math.inf if steps is None else steps
        self._end = math.inf if time_limit is None else time.monotonic() + time_limit

    def value_ns(self, placement: Mapping[str, str], order: Sequence[str] | None = None) -> int | None:
        """Problem.value_ns, for one step of the budget."""
        if self.steps >= self._most or time.monotonic() >= self._end:
            raise BudgetSpent
        self.steps += 1
        return self._judge(placement, order)

    def _judge(self, placement: Mapping[str, str], order: Sequence[str] | None) -> int | None:
        value = self.problem.value_ns(placement, order)
        if value is not None and (self.best_ns is None or value < self.best_ns):
            self.best_ns = value
            self.best = dict(placement), None if order is None else list(order)
        return value


Solver = Union[str, Callable[[Search], Union[Mapping[str, str], None]]]


def solve(
    problem: Problem, solver: Solver, *, steps: int | None = None, time_limit: float | None = None, seed: int = 0
) -> Plan | None:
    """Runs a solver: a function, or one of situ by name, then without the bounds that situ.place computes first. None
    if a function found no placement that the checker accepts."""
    plan, _ = _solve(problem, solver, steps, time_limit, seed)
    return plan


def _solve(
    problem: Problem, solver: Solver, steps: int | None, time_limit: float | None, seed: int
) -> tuple[Plan | None, int]:
    if isinstance(solver, str):
        plan = problem.solve(solver=solver, seed=seed, bounds=False, **_limits(steps, time_limit))
        return plan, plan.steps
    search = Search(problem, seed, steps, time_limit)
    try:
        answer = solver(search)
        if answer is not None:
            search._judge(answer, None)
    except BudgetSpent:
        pass
    return None if search.best is None else problem.evaluate(*search.best), search.steps


def _limits(steps: int | None, time_limit: float | None) -> Any:
    return {name: limit for name, limit in (("steps", steps), ("time_limit", time_limit)) if limit is not None}


class Results(list[dict[str, Any]]):
    """One row for each instance, solver and seed: value_ns (None: no plan), bound_ns (the best proved for the
    instance), gap, to_best (value / best value of the instance), best_single_ns, steps, seconds."""

    def to_frame(self) -> pandas.DataFrame:
        import pandas

        return pandas.DataFrame(list(self))

    def summary(self) -> list[dict[str, Any]]:
        """One row for each solver over all instances and seeds: runs, runs without a plan, geometric mean of to_best,
        mean gap, median seconds. Means are over runs with a plan."""
        rows = []
        for solver in dict.fromkeys(row["solver"] for row in self):
            mine = [row for row in self if row["solver"] == solver]
            found = [row for row in mine if row["value_ns"] is not None]
            rows.append(
                {
                    "solver": solver,
                    "runs": len(mine),
                    "failed": len(mine) - len(found),
                    "to_best": statistics.geometric_mean(row["to_best"] for row in found) if found else None,
                    "gap": statistics.fmean(row["gap"] for row in found) if found else None,
                    "seconds": statistics.median(row["seconds"] for row in mine),
                }
            )
        return rows

    def __str__(self) -> str:
        lines = [f"{'solver':20} {'runs':>5} {'failed':>6} {'to best':>8} {'gap':>7} {'seconds':>8}"]
        for row in self.summary():
            to_best, gap = (
                "-" if row[k] is None else f"{row[k]:{form}}" for k, form in (("to_best", ".3f"), ("gap", ".1%"))
            )
            lines.append(
                f"{row['solver']:20} {row['runs']:>5} {row['failed']:>6} {to_best:>8} {gap:>7} {row['seconds']:>8.2f}"
            )
        return "\n".join(lines)

    def plot(self, what: str = "gap", axes: matplotlib.axes.Axes | None = None) -> matplotlib.axes.Axes:
        """What, "gap" or "seconds", each solver has on each instance: the median over seeds, with a bar from the lowest
        to the highest. Needs matplotlib."""
        if what not in ("gap", "seconds"):
            raise BadArgument(f"expected gap or seconds, not {what!r}")
        if axes is None:
            import matplotlib.pyplot

            axes = matplotlib.pyplot.subplots(figsize=(8, 4), layout="constrained")[1]
        instances = list(dict.fromkeys(row["instance"] for row in self))
        solvers = list(dict.fromkeys(row["solver"] for row in self))
        for k, solver in enumerate(solvers):
            points = []
            for i, instance in enumerate(instances):
                found = [
                    row[what]
                    for row in self
                    if (row["solver"], row["instance"]) == (solver, instance) and row[what] is not None
                ]
                if found:
                    points.append(
                        (i + 0.6 * (k + 0.5) / len(solvers) - 0.3, statistics.median(found), min(found), max(found))
                    )
            x, y, low, high = zip(*points) if points else ((), (), (), ())
            errors = [[m - a for m, a in zip(y, low)], [b - m for m, b in zip(y, high)]]
            axes.errorbar(x, y, errors, fmt="o", capsize=3, label=solver)
        axes.set_xticks(range(len(instances)), instances, rotation=30, ha="right")
        axes.set_ylabel("gap to the bound" if what == "gap" else "seconds")
        if what == "seconds":
            axes.set_yscale("log")
        axes.legend()
        return axes


def run(
    solvers: Mapping[str, Solver] | Sequence[str] | str,
    instances: Mapping[str, Mapping[str, Any] | Problem] | Sequence[str] | str | None = None,
    *,
    steps: int | None = None,
    time_limit: float | None = None,
    seeds: int | Iterable[int] = 5,
) -> Results:
    """Runs each solver on each instance with each seed and the same budget, `steps` placements tried or `time_limit`
    seconds (with neither, 1000 steps).

    solvers: functions of a Search, or names of solvers of situ (situ.list_solvers).
    instances: arguments of situ.Problem by name, or names of STANDARD; None: all of these.
    seeds: how many, from 0, or which.

    A solver of situ that does not support an instance (a list scheduler on a pipeline, for example) has no rows for
    it."""
    if steps is None and time_limit is None:
        steps = 1000
    if isinstance(solvers, str):
        solvers = [solvers]
    rivals = dict(solvers) if isinstance(solvers, Mapping) else {name: name for name in solvers}
    given = STANDARD if instances is None else instances
    if not isinstance(given, Mapping):
        given = [given] if isinstance(given, str) else list(given)
        unknown = [name for name in given if name not in STANDARD]
        if unknown:
            raise BadArgument(f"no standard workload is called {unknown[0]!r}; expected one of {', '.join(STANDARD)}")
        given = {name: STANDARD[name] for name in given}
    results, known = Results(), {row["name"] for row in list_solvers()}
    numbers = range(seeds) if isinstance(seeds, int) else list(seeds)
    for instance, about in given.items():
        problem = about if isinstance(about, Problem) else Problem(**about)
        yardstick = problem.solve(solver="single")
        rows: list[dict[str, Any]] = []
        bound_ns = yardstick.bound_ns
        for name, solver in rivals.items():
            if solver in known and not problem.serves(str(solver)):
                continue
            for seed in numbers:
                begin = time.perf_counter()
                plan, taken = _solve(problem, solver, steps, time_limit, seed)
                rows.append(
                    {
                        "instance": instance,
                        "solver": name,
                        "seed": seed,
                        "value_ns": None if plan is None else plan.value_ns,
                        "steps": taken,
                        "seconds": time.perf_counter() - begin,
                    }
                )
                bound_ns = max(bound_ns, 0 if plan is None else plan.bound_ns)
        best_ns = min((row["value_ns"] for row in rows if row["value_ns"] is not None), default=None)
        for row in rows:
            value = row["value_ns"]
            row["bound_ns"], row["best_single_ns"] = bound_ns, yardstick.best_single_ns
            row["gap"] = None if value is None else (value - bound_ns) / value if value else 0.0
            row["to_best"] = None if value is None or best_ns is None else value / best_ns if best_ns else 1.0
        results += rows
    return results
