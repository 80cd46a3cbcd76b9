#!/usr/bin/env python3
"""The public cases of Helix (ASPLOS 2025): its solver's value and bound, the flow bound, and a plan of ours.

    python3 bench/helix.py HELIX > bench/helix.csv

HELIX is a clone of github.com/Thesys-lab/Helix-ASPLOS25. A case is one of its published integer
programs (ilp_model.lp): nodes that hold consecutive layers of a model, with a throughput for each number of layers, and links
with a capacity. Tokens flow from the source to nodes that begin with layer 0, from each node to those that begin where it
ends, and to the sink. What its solver found and proved stands in trace.txt beside it.

Flow bound: every token passes every layer, and a node that holds h layers serves at most throughput(h) tokens a second of
each, so the flow is at most the sum over nodes of max_h h * throughput(h), over the number of layers.

Ours: nodes in stages, all of a stage with the same layers, or in chains that hold all layers each, by local search from
several starts (random numbers of a fixed seed); then single nodes with other layers, as long as the flow does not fall.
The value is the maximum flow through nodes and links, computed by augmenting paths; for its published plans it is the value
that Helix states. Not tried for programs with a part of the links: Helix prunes them to help its solver, and their clusters
are among the others."""
import collections
import csv
import math
import pathlib
import random
import re
import sys

TRACE = re.compile(r"Best objective ([-+.e\d]+), best bound ([-+.e\d]+)")


class Case:
    def __init__(self, path):
        text = pathlib.Path(path).read_text()
        rows = {m[1]: m[2].replace("\n", " ") for m in re.finditer(r"\n (\w+): ((?:[^:]|\n)*?)(?=\n \w+:|\nBounds)", text)}
        self.rate, self.link = collections.defaultdict(dict), {}
        for name, row in rows.items():
            if name.startswith("node_throughput"):
                for value, node, held in re.findall(r"- ([\d.e+]+) hold_(\d+)_(\d+)", row):
                    self.rate[int(node)][int(held)] = float(value)
            elif name.startswith("edge_flow"):
                a, b, value = re.match(r"flow_(\w+?)_(\w+) - ([\d.e+]+) switch", row).groups()
                self.link[a if a == "source" else int(a), b if b == "sink" else int(b)] = float(value)
            elif name.startswith("end_constraint"):
                self.layers = int(row.rsplit("<=", 1)[1])
        self.nodes = sorted(self.rate)

    def bound(self):
        return sum(max(h * r for h, r in rates.items()) for rates in self.rate.values()) / self.layers

    def flow(self, held):
        """The maximum flow where node i holds layers held[i] = (first, end)."""
        rest = {}
        for i, (first, end) in held.items():
            rest["in", i] = {("out", i): self.rate[i][end - first]}
            rest.setdefault(("out", i), {})
        for (a, b), most in self.link.items():
            if a == "source" and b in held and held[b][0] == 0:
                rest.setdefault(a, {})["in", b] = most
            elif b == "sink" and a in held and held[a][1] == self.layers:
                rest["out", a][b] = most
            elif a in held and b in held and held[b][0] == held[a][1]:
                rest["out", a]["in", b] = most
        total = 0.0
        while True:
            back, queue = {"source": None}, collections.deque(["source"])
            while queue and "sink" not in back:
                a = queue.popleft()
                for b, left in rest.get(a, {}).items():
                    if left > 1e-9 and b not in back:
                        back[b] = a
                        queue.append(b)
            if "sink" not in back:
                return total
            path, b = [], "sink"
            while back[b] is not None:
                path.append((back[b], b))
                b = back[b]
            least = min(rest[a][b] for a, b in path)
            for a, b in path:
                rest[a][b] -= least
                rest.setdefault(b, {})[a] = rest.get(b, {}).get(a, 0) + least
            total += least


def staged(case, rng, steps):
    """Cuts and a stage for each node, by annealing: the minimum over stages of the rates of their nodes grows."""
    most = sorted(max(r) for r in case.rate.values())
    n = min(case.layers, max(1, round(case.layers / rng.choice(most) * rng.uniform(0.9, 2))))
    cuts = sorted(rng.sample(range(1, case.layers), n - 1))
    stage = {i: rng.randrange(n) for i in case.nodes}
    goal = case.bound()

    def value(cuts, stage):
        ends = [0, *cuts, case.layers]
        sums = [0.0] * n
        for i, k in stage.items():
            if (k > 0 or ("source", i) in case.link) and (k < n - 1 or (i, "sink") in case.link):
                sums[k] += case.rate[i].get(ends[k + 1] - ends[k], 0)
        return min(sums) + sum(min(x, goal) ** 0.5 for x in sums) / n * goal ** 0.5, min(sums)

    now, kept, heat = value(cuts, stage), None, goal / 8
    for step in range(steps):
        other, moved, kind = list(cuts), dict(stage), rng.random()
        if kind < 0.3 and cuts:
            k = rng.randrange(n - 1)
            other[k] += rng.choice((-2, -1, 1, 2))
            if len(set(other)) < n - 1 or other != sorted(other) or other[0] < 1 or other[-1] >= case.layers:
                continue
        elif kind < 0.7:
            moved[rng.choice(case.nodes)] = rng.randrange(n)
        else:
            i, j = rng.choice(case.nodes), rng.choice(case.nodes)
            moved[i], moved[j] = stage[j], stage[i]
        new = value(other, moved)
        if new[0] >= now[0] or rng.random() < math.exp((new[0] - now[0]) / (heat * (1 - step / steps) + 1e-9)):
            cuts, stage, now = other, moved, new
            if not kept or now[1] > kept[0]:
                kept = now[1], list(cuts), dict(stage)
    ends = [0, *(kept[1] if kept else cuts), case.layers]
    chosen = kept[2] if kept else stage
    return {i: (ends[k], ends[k + 1]) for i, k in chosen.items() if ends[k + 1] - ends[k] in case.rate[i]}


def lengths(case, nodes, least):
    """How many layers each node of a chain holds at most at that rate."""
    return [max((h for h, r in case.rate[i].items() if r >= least), default=0) for i in nodes]


def chain_rate(case, nodes):
    """The highest rate at which these nodes, one after the other, hold all layers; 0 where none can be the first and another
    the last."""
    if not any(("source", i) in case.link and (j, "sink") in case.link for i in nodes for j in nodes if i != j or len(nodes) == 1):
        return 0.0
    rates = sorted({r for i in nodes for r in case.rate[i].values()})
    low, high = -1, len(rates)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if sum(lengths(case, nodes, rates[middle])) >= case.layers else (low, middle)
    return rates[low] if low >= 0 else 0.0


def laid(case, nodes, rng):
    """Layers for the nodes of a chain, in an order that has links; {} where none is found."""
    for _ in range(300):
        order, left = [], list(nodes)
        while left:
            last = order[-1] if order else "source"
            after = [i for i in left if (last, i) in case.link]
            if not after:
                break
            order.append(rng.choice(after))
            left.remove(order[-1])
        if order and not left and (order[-1], "sink") in case.link:
            held, first = {}, 0
            for i, h in zip(order, lengths(case, order, chain_rate(case, nodes))):
                if first < case.layers and h > 0:
                    held[i] = (first, min(first + h, case.layers))
                    first += h
            if held and (next(reversed(held)), "sink") in case.link:
                return held
    return {}


def chained(case, rng, steps):
    """Nodes in chains of all layers each, by local search: the sum of their rates grows."""
    n = rng.randint(1, max(1, sum(max(r) for r in case.rate.values()) // case.layers))
    of = {i: rng.randrange(n) for i in case.nodes}
    rate = [chain_rate(case, [i for i in case.nodes if of[i] == c]) for c in range(n)]
    for _ in range(steps):
        moved = dict(of)
        i, j = rng.choice(case.nodes), rng.choice(case.nodes)
        moved[i], moved[j] = (rng.randrange(n), moved[j]) if rng.random() < 0.5 else (of[j], of[i])
        touched = {of[i], of[j], moved[i], moved[j]}
        new = [chain_rate(case, [k for k in case.nodes if moved[k] == c]) if c in touched else rate[c] for c in range(n)]
        if sum(new) >= sum(rate):
            of, rate = moved, new
    held = {}
    for c in range(n):
        held.update(laid(case, [i for i in case.nodes if of[i] == c], rng))
    return held


def improve(case, held, rng, steps):
    """Other layers for single nodes, while the flow does not fall."""
    best = case.flow(held)
    ends = sorted({e for pair in held.values() for e in pair})
    for _ in range(steps):
        i, h = rng.choice(case.nodes), None
        h = rng.choice(sorted(case.rate[i]))
        first = rng.choice([e for e in (*ends, *(e - h for e in ends)) if 0 <= e <= case.layers - h] or [0])
        trial = {**held, i: (first, first + h)}
        flow = case.flow(trial)
        if flow >= best:
            best, held = flow, trial
    return best, held


def published(path):
    """The layers of each node in the plan of its solver."""
    text = path.with_name("ilp_sol.ini").read_text()
    offset = int(re.search(r"offset=(\d+)", text)[1])
    plan = re.findall(r"compute_node_(\d+)=\[(\d+)(?:.*?(\d+))?\]", text)
    return {int(i) - offset: (int(first), int(last or first) + 1) for i, first, last in plan}


def check(case, held):
    for i, (first, end) in held.items():
        assert 0 <= first < end <= case.layers and end - first in case.rate[i]


def main():
    root = pathlib.Path(sys.argv[1]) / "artifact_evaluation"
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(["case", "nodes", "layers", "links", "helix", "helix bound", "flow bound", "ours", "ours %", "helix %"])
    seen = set()
    for path in sorted(root.glob("**/ilp_model.lp")):
        trace = path.with_name("trace.txt")
        found = TRACE.findall(trace.read_text()) if trace.exists() else []
        if not found or path.read_bytes() in seen:
            continue
        seen.add(path.read_bytes())
        case, rng = Case(path), random.Random(1)
        helix, proved = map(float, found[-1])
        bound, best = case.bound(), None
        assert abs(case.flow(published(path)) - helix) < 1e-3 * helix
        if len(case.link) == len(case.nodes) * (len(case.nodes) + 1):
            starts = [staged(case, rng, 10000) for _ in range(20)] + [chained(case, rng, 1500) for _ in range(20)]
            best, held = improve(case, max(starts, key=case.flow), rng, 3000)
            check(case, held)
        assert (best or 0) <= bound * (1 + 1e-9) and helix <= bound * (1 + 1e-6)
        out.writerow([str(path.parent.relative_to(root)).replace("/ilp", ""), len(case.nodes), case.layers, len(case.link),
                      f"{helix:.1f}", f"{proved:.1f}", f"{bound:.1f}", f"{best:.1f}" if best else "",
                      f"{100 * best / bound:.1f}" if best else "", f"{100 * helix / bound:.1f}"])
        sys.stdout.flush()


if __name__ == "__main__":
    main()
