#!/usr/bin/env python3
"""situ and the strongest that a user could pick instead, on the same problems, with the same judge and the same time.

    peers.py [--seconds S] [--threads N] [--only TEXT]     rows as CSV on stdout

    pip install ortools highspy mtkahypar; LD_LIBRARY_PATH=build PYTHONPATH=python bench/peers.py > bench/peers.csv

Peers: CP-SAT and SCIP of OR-Tools and HiGHS on programs written from docs/model.md, and Mt-KaHyPar on a hypergraph whose
hyperedges cost what their tensors cost. What a peer finds is a placement (and for streams an order), judged by
`situ.Problem.value_ns` like situ's own. Each has S seconds and N threads; Mt-KaHyPar ends by itself and gets one run for each
of four imbalances and two presets, of which the best counts.
"""
import argparse
import contextlib
import os
import sys
import tempfile
import time

import situ

PIPELINE = {"objective": "throughput", "free": True, "communication": "host-staged", "granularity": "operator", "fusion": "none"}
STREAM = {"contention": "none", "granularity": "operator", "fusion": "none"}
GPUS, EQUAL = "cpu+2*v100-16g", "4*v100-16g"
INSTANCES = [
    ("free", "builtin:inception-v3", GPUS), ("free", "builtin:randwire-ws", GPUS), ("free", "builtin:bert-base", GPUS),
    ("free", "builtin:inception-v3", EQUAL), ("free", "builtin:bert-base", EQUAL), ("free", "builtin:gnmt", EQUAL),
    ("free", "builtin:layered?operators=10000", EQUAL), ("free", "builtin:gnmt?steps=400", EQUAL),
    ("stream", "builtin:resnet50", GPUS), ("stream", "builtin:inception-v3", GPUS), ("stream", "builtin:randwire-ws", GPUS),
    ("stream", "builtin:bert-base", EQUAL),
]
PROGRAM_UNITS, SCHEDULE_UNITS = 3000, 1500  # larger programs do not even load in the time


class Units:
    """What is placed: units of operators with a time on each device, and tensors between units. Hosts pay no transfers."""

    def __init__(self, problem):
        self.devices = [d.name for d in problem.devices]
        self.hosts = [d.is_host for d in problem.devices]
        self.names = problem.units
        self.unit = {name: u for u, names in enumerate(self.names) for name in names}
        self.time = []
        for names in self.names:
            row = []
            for device in self.devices:
                times = [problem.time_ns(name, device) for name in names]
                row.append(None if None in times else sum(times))
            self.time.append(row)
        self.tensors = []  # (producer, users, time out of each device, time into each device, times between devices)
        host = self.hosts.index(True) if True in self.hosts else 0
        n, known = range(len(self.devices)), {}
        for t, tensor in enumerate(problem.graph.tensors):
            source = self.unit[tensor.producer]
            users = sorted({self.unit[name] for name in tensor.consumers} - {source})
            if not users:
                continue
            if tensor.size_bytes not in known:
                between = [[problem.transfer_ns(t, self.devices[a], self.devices[b]) for b in n] for a in n]
                known[tensor.size_bytes] = ([between[d][host] * (not self.hosts[d]) for d in n],
                                            [between[host][d] * (not self.hosts[d]) for d in n], between)
            self.tensors.append((source, users, *known[tensor.size_bytes]))

    def single(self):
        """The best single device."""
        total = {d: sum(row[d] for row in self.time) for d in range(len(self.devices)) if all(row[d] is not None for row in self.time)}
        return min(total, key=total.get)

    def placement(self, device_of):
        return {name: self.devices[device_of[u]] for u, names in enumerate(self.names) for name in names}


# ---- free pipelines ----

def period_ns(u, where):
    """The value of a placement by the model of the programs, which must be that of the judge."""
    loads = [0] * len(u.devices)
    for v, d in enumerate(where):
        loads[d] += u.time[v][d]
    for source, users, out, into, _ in u.tensors:
        there = {where[user] for user in users} - {where[source]}
        if there:
            loads[where[source]] += out[where[source]]
        for d in there:
            loads[d] += into[d]
    return max(loads)


def assignment(u, model, variable, add, minimise, largest):
    """The program of docs/model.md, "pipeline", host-staged: the maximum load of a device, with each tensor once for each
    device that it enters and once where it leaves."""
    n = range(len(u.devices))
    x = [[variable(f"x{v}_{d}") if row[d] is not None else None for d in n] for v, row in enumerate(u.time)]
    for row in x:
        add(sum(cell for cell in row if cell is not None) == 1)
    loads = [sum(row[d] * x[v][d] for v, row in enumerate(u.time) if row[d]) for d in n]
    for k, (source, users, out, into, _) in enumerate(u.tensors):
        for d in n:
            if out[d] == 0 and into[d] == 0:
                continue
            leaves, enters = variable(f"o{k}_{d}"), variable(f"i{k}_{d}")
            here = x[source][d] if x[source][d] is not None else 0
            for user in users:
                there = x[user][d] if x[user][d] is not None else 0
                add(leaves >= here - there)
                add(enters >= there - here)
            loads[d] = loads[d] + out[d] * leaves + into[d] * enters
    for load in loads:
        add(load <= largest)
    minimise(largest)
    return x


def hint(model, x, device):
    """Everything on one device, from where CP-SAT starts: from nothing it finds few plans of more than 600 operators."""
    for row in x:
        for d, cell in enumerate(row):
            if cell is not None:
                model.add_hint(cell, d == device)


def cp_sat_pipeline(u, seconds, threads):
    from ortools.sat.python import cp_model
    model = cp_model.CpModel()
    single = u.single()
    top = sum(row[single] for row in u.time)
    largest = model.new_int_var(0, top, "period")
    x = assignment(u, model, model.new_bool_var, model.add, model.minimize, largest)
    hint(model, x, single)
    solver = cp_model.CpSolver()
    solver.parameters.max_time_in_seconds, solver.parameters.num_workers = seconds, threads
    status = solver.solve(model)
    if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return None, solver.best_objective_bound
    return [[d for d, cell in enumerate(row) if cell is not None and solver.value(cell)][0] for row in x], solver.best_objective_bound


def linear_program(u):
    """The program in milliseconds, which conditions it well: a solver of OR-Tools that holds it, and its variables by place."""
    from ortools.linear_solver import pywraplp
    solver = pywraplp.Solver.CreateSolver("SCIP")
    scaled = Units.__new__(Units)
    scaled.devices = u.devices
    scaled.time = [[t if t is None else t / 1e6 for t in row] for row in u.time]
    scaled.tensors = [(s, us, [t / 1e6 for t in out], [t / 1e6 for t in into], b) for s, us, out, into, b in u.tensors]
    largest = solver.NumVar(0, solver.infinity(), "period")
    return solver, assignment(scaled, solver, solver.BoolVar, solver.Add, solver.Minimize, largest)


def chosen(x, value):
    return [max((d for d, cell in enumerate(row) if cell is not None), key=lambda d: value(row[d])) for row in x]


def scip(u, seconds, threads):
    solver, x = linear_program(u)
    solver.SetTimeLimit(int(seconds * 1000))
    solver.SetNumThreads(threads)
    found = solver.Solve() in (solver.OPTIMAL, solver.FEASIBLE)
    return chosen(x, lambda cell: cell.solution_value()) if found else None, solver.Objective().BestBound() * 1e6


@contextlib.contextmanager
def no_stdout():
    sys.stdout.flush()
    kept = os.dup(1)
    os.dup2(2, 1)
    yield
    os.dup2(kept, 1)
    os.close(kept)


def highs(u, seconds, threads):
    import highspy
    solver, x = linear_program(u)
    with tempfile.NamedTemporaryFile("w", suffix=".mps") as file, no_stdout():  # it greets
        file.write(solver.ExportModelAsMpsFormat(True, False))
        file.flush()
        h = highspy.Highs()
        for option, value in (("output_flag", False), ("time_limit", float(seconds)), ("threads", threads)):
            h.setOptionValue(option, value)
        h.readModel(file.name)
        h.run()
    values, info = dict(zip(h.getLp().col_names_, h.getSolution().col_value)), h.getInfo()
    found = info.primal_solution_status == 2  # feasible
    return chosen(x, lambda cell: values[cell.name()]) if found else None, max(0, info.mip_dual_bound * 1e6)


def mt_kahypar(u, seconds, threads):
    """Blocks are devices of the most common kind; a hyperedge weighs what its tensor costs out and into such a device."""
    import mtkahypar
    common = [d for d in range(len(u.devices)) if not u.hosts[d]]
    first, kahypar = common[0], mtkahypar.initialize(threads)
    mtkahypar.set_seed(1)
    weights = [max(1, (row[first] if row[first] is not None else 0) // 10) for row in u.time]
    edges = [[s, *us] for s, us, *_ in u.tensors]
    prices = [max(1, (out[first] + into[first]) // 10) for _, _, out, into, _ in u.tensors]
    found = []
    for preset in (mtkahypar.PresetType.DETERMINISTIC, mtkahypar.PresetType.DEFAULT):
        for imbalance in (0.002, 0.01, 0.03, 0.1):
            context = kahypar.context_from_preset(preset)
            context.set_partitioning_parameters(len(common), imbalance, mtkahypar.Objective.KM1)
            context.logging = False
            h = kahypar.create_hypergraph(context, len(weights), len(edges), edges, weights, prices)
            parts = h.partition(context)
            found.append([common[parts.block_id(v)] for v in range(len(weights))])
    return found, None


# ---- streams ----

def cp_sat_stream(u, seconds, threads):
    """Optional intervals on devices and waiting for transfers: docs/model.md, "stream", with contention none."""
    from ortools.sat.python import cp_model
    model, n = cp_model.CpModel(), range(len(u.devices))
    top = sum(max(t for t in row if t is not None) for row in u.time) + sum(max(map(max, b)) for *_, b in u.tensors)
    start = [model.new_int_var(0, top, "") for _ in u.time]
    end = [model.new_int_var(0, top, "") for _ in u.time]
    latency, x, lines = model.new_int_var(0, top, "latency"), [], [[] for _ in n]
    for v, row in enumerate(u.time):
        x.append([model.new_bool_var("") if row[d] is not None else None for d in n])
        model.add_exactly_one(cell for cell in x[v] if cell is not None)
        for d in n:
            if row[d] is not None:
                lines[d].append(model.new_optional_interval_var(start[v], row[d], end[v], x[v][d], ""))
        model.add(latency >= end[v])
    for line in lines:
        model.add_no_overlap(line)
    for source, users, _, _, between in u.tensors:
        for user in users:
            model.add(start[user] >= end[source])
            for a in n:
                for b in n:
                    if a != b and between[a][b] and x[source][a] is not None and x[user][b] is not None:
                        model.add(start[user] >= end[source] + between[a][b]).only_enforce_if(x[source][a], x[user][b])
    model.minimize(latency)
    single, now = u.single(), 0
    hint(model, x, single)
    for v, row in enumerate(u.time):  # units are in topological order of their first members
        model.add_hint(start[v], now)
        model.add_hint(end[v], now := now + row[single])
    solver = cp_model.CpSolver()
    solver.parameters.max_time_in_seconds, solver.parameters.num_workers = seconds, threads
    status = solver.solve(model)
    if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return None, solver.best_objective_bound
    where = [[d for d, cell in enumerate(row) if cell is not None and solver.value(cell)][0] for row in x]
    return (where, [solver.value(s) for s in start]), solver.best_objective_bound


PEERS = {"free": [("cp-sat", cp_sat_pipeline), ("scip", scip), ("highs", highs),
                  ("mt-kahypar", mt_kahypar)],
         "stream": [("cp-sat", cp_sat_stream)]}


def judged(problem, u, kind, found):
    """The value of the best placement of a peer; None where it found none that keeps all constraints."""
    if found is None:
        return None
    if kind == "stream":
        where, start = found
        rank = {name: k for k, name in enumerate(problem.operators)}
        order = sorted(problem.operators, key=lambda name: (start[u.unit[name]], rank[name]))
        values = [problem.value_ns(u.placement(where), order), problem.value_ns(u.placement(where))]
    else:
        placements = found if isinstance(found[0], list) else [found]
        values = [problem.value_ns(u.placement(where)) for where in placements]
        assert all(v is None or v == period_ns(u, where) for v, where in zip(values, placements)), "the programs solve another problem"
    values = [v for v in values if v]
    return min(values) if values else None


def rows_of(kind, model, platform, args):
    problem = situ.Problem(model, platform, **(PIPELINE if kind == "free" else STREAM))
    u, name = Units(problem), model.removeprefix("builtin:")
    begun = time.perf_counter()
    plan = problem.solve(time_limit=args.seconds, threads=args.threads)
    yield kind, name, platform, len(u.time), "situ", plan.value_ns, plan.bound_ns, time.perf_counter() - begun
    largest = SCHEDULE_UNITS if kind == "stream" else PROGRAM_UNITS
    for peer, run in PEERS[kind]:
        if peer != "mt-kahypar" and len(u.time) > largest:
            continue
        if peer == "mt-kahypar" and True in u.hosts:
            continue  # unlike devices: it has one weight for each vertex
        begun = time.perf_counter()
        found, bound = run(u, args.seconds, args.threads)
        spent = time.perf_counter() - begun
        yield kind, name, platform, len(u.time), peer, judged(problem, u, kind, found), bound and int(bound), spent


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--only", default="", help="instances whose model contains this text")
    args = parser.parse_args()
    print("kind,model,platform,units,solver,value_ns,bound_ns,seconds")
    for kind, model, platform in INSTANCES:
        for row in rows_of(kind, model, platform, args) if args.only in model else ():
            print(*("" if cell is None else f"{cell:.1f}" if isinstance(cell, float) else cell for cell in row), sep=",")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
