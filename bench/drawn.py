"""Small random problems of the kinds that the networks of ablation.py lack: several servers, tight memories where nothing
overlaps, two devices, a handful of operators, small pipelines, sizes that hardly pack. Files of graph, platform and costs.
"""
import json
import pathlib
import random

HOST, SMALL = 10 ** 12, 10 ** 9


class Drawing:
    """A problem in the making: operators with a time (ns) for each class, tensors (bytes), devices, links."""

    def __init__(self, seed):
        self.chance = random.Random(seed)
        self.operators, self.tensors, self.times = [], [], {}
        self.devices, self.links = [], []

    def device(self, kind, memory, server=0, host=False):
        name = f"d{len(self.devices)}"
        self.devices.append({"name": name, "class": kind, "host": host, "server": f"s{server}", "memory_bytes": int(memory),
                             "peak_tflops": {"f32": 1}, "memory_gb_per_s": 1})
        return name

    def link(self, one, other, rate, latency=100, channel=None):
        for a, b in ((one, other), (other, one)):
            self.links.append({"from": a, "to": b, "latency_ns": latency, "bytes_per_s": rate, "bidirectional": False,
                               **({"channel": channel} if channel else {})})

    def add(self, times, weight, size, *before, layer=None):
        """An operator with its tensor of `size` bytes, which reads the tensors of those before it."""
        at = len(self.operators)
        self.operators.append({"name": f"o{at}", "kind": f"Kind{at}", "dtype": "f32", "flops": 1000, "moved_bytes": 100,
                               "weight_bytes": int(weight), **({"layer": layer} if layer else {})})
        self.tensors.append({"name": f"t{at}", "from": f"o{at}", "to": [], "bytes": int(size), "dtype": "f32"})
        self.times[f"o{at}"] = {kind: None if t is None else int(t) for kind, t in times.items()}
        for b in before:
            self.tensors[b]["to"].append(f"o{at}")
        return at

    def weight(self):
        return sum(o["weight_bytes"] for o in self.operators)

    def write(self, folder):
        folder = pathlib.Path(folder)
        folder.mkdir()
        graph = {"situ_graph": 1, "name": folder.name, "operators": self.operators, "tensors": self.tensors}
        platform = {"situ_platform": 1, "name": "drawn", "devices": self.devices, "links": self.links}
        kinds = sorted({d["class"] for d in self.devices})
        times = {o: {k: t.get(k) for k in kinds} for o, t in self.times.items()}
        costs = {"situ_costs": 1, "unit": "ns", "classes": kinds, "operators": times}
        for name, what in (("graph", graph), ("platform", platform), ("costs", costs)):
            (folder / f"{name}.json").write_text(json.dumps(what))
        return [str(folder / "graph.json"), "--platform", str(folder / "platform.json"), "--cost-table",
                str(folder / "costs.json"), "--tolerance", "0", "--min-gain", "0", "--uncertainty", "0"]


def times(d, kinds, spread=0.6):
    """A time on each class: its slowness times the work, and chance."""
    work = 10 ** d.chance.uniform(3, 4.5)
    return {kind: work * slow * d.chance.uniform(1 - spread, 1 + spread) for kind, slow in kinds.items()}


def random_graph(d, n, kinds, size=(2, 4.5), degree=2, window=8, weight=0):
    for v in range(n):
        before = {d.chance.randrange(max(0, v - window), v) for _ in range(d.chance.randint(1, degree)) if v}
        d.add(times(d, kinds), weight * d.chance.uniform(0.2, 1), 10 ** d.chance.uniform(*size), *sorted(before))


def star(d, accelerators, rate=2e9, channel=None):
    """A host and accelerators, of (class, memory)."""
    host = d.device("cpu", HOST, host=True)
    for kind, memory in accelerators:
        d.link(host, d.device(kind, memory), rate * d.chance.uniform(0.5, 2), channel=channel)


def servers(seed):
    """Layers with branches on servers with fast links inside; all memories together have little more room than needed."""
    d = Drawing(seed)
    kinds = {"fast": 1, "slow": d.chance.choice([1.5, 2, 3])}
    branches = d.chance.randint(2, 4)
    at = d.add(times(d, kinds), SMALL / 10, 1000)
    for k in range(d.chance.randint(10, 24)):
        heads = [d.add(times(d, kinds, 0.2), SMALL / 5, 2000, at, layer=f"l{k}") for _ in range(branches)]
        at = d.add(times(d, kinds, 0.2), SMALL / 10, 2000, at, *heads, layer=f"l{k}")
    n_servers, each = d.chance.randint(2, 4), d.chance.randint(2, 4)
    room = d.weight() * d.chance.uniform(1.1, 1.6) / (n_servers * each)
    first = []
    for s in range(n_servers):
        kind = "fast" if s < (n_servers + 1) // 2 else "slow"
        names = [d.device(kind, room, s) for _ in range(each)]
        for i, a in enumerate(names):
            for b in names[i + 1:]:
                d.link(a, b, 20e9)
        first.append(names[0])
    for i, a in enumerate(first):
        for b in first[i + 1:]:
            d.link(a, b, d.chance.choice([0.3e9, 1e9, 3e9]), 2000)
    return d, []


def spilling(seed):
    """Layers with experts that decode where nothing overlaps: two GPUs of little room, and a host."""
    d = Drawing(seed)
    kinds = {"cpu": 8, "big": 1, "small": d.chance.choice([1, 1.5, 2])}
    at = d.add(times(d, kinds), SMALL / 10, 1000)
    for k in range(d.chance.randint(6, 24)):
        attention = d.add(times(d, kinds, 0.3), SMALL / 10, 1000, at, layer=f"l{k}")
        ends = [d.add(times(d, kinds, 0.3), SMALL * d.chance.uniform(0.2, 0.6), 1000, attention, layer=f"l{k}")
                for _ in range(d.chance.randint(1, 2))]
        at = d.add(times(d, kinds), 0, 1000, attention, *ends, layer=f"l{k}")
    part = d.weight() * d.chance.uniform(0.3, 0.9)
    star(d, [("big", part * 0.6), ("small", part * 0.4)])
    return d, ["--overlap", "none"]


def pair(seed):
    """A host and one accelerator where nothing overlaps."""
    d = Drawing(seed)
    random_graph(d, d.chance.randint(20, 120), {"cpu": 1.5, "acc": 1}, weight=SMALL / 20)
    star(d, [("acc", d.weight() * d.chance.choice([0.3, 0.6, 2]))])
    return d, ["--overlap", "none"]


def cuts(seed):
    """Three memories where nothing overlaps, some too small."""
    d = Drawing(seed)
    random_graph(d, d.chance.randint(20, 80), {"cpu": 3, "a": 1, "b": 1.2}, weight=SMALL / 20)
    star(d, [("a", d.weight() * d.chance.choice([0.3, 0.5, 2])), ("b", d.weight() * d.chance.choice([0.2, 0.4, 2]))])
    return d, ["--overlap", "none"]


def handful(seed):
    """Few operators, with contention, and memory that is tight in half."""
    d = Drawing(seed)
    random_graph(d, d.chance.randint(6, 20), {"cpu": 2, "a": 1, "b": 1.3}, window=6, weight=SMALL / 20)
    room = d.weight() * d.chance.choice([0.35, 0.5, 5, 5])
    star(d, [("a", room), ("b", room)], channel=d.chance.choice([None, "bus"]))
    return d, []


def stream(seed):
    """Some dozen operators on unlike devices."""
    d = Drawing(seed)
    random_graph(d, d.chance.randint(30, 90), {"cpu": 3, "a": 1, "b": 1.5}, weight=SMALL / 20, window=d.chance.choice([4, 20]))
    room = d.weight() * d.chance.choice([0.4, 0.6, 5])
    star(d, [("a", room), ("a", room), ("b", room)])
    return d, []


def packed(seed):
    """Three memories for sizes that hardly fit, or do not."""
    d = Drawing(seed)
    for v in range(d.chance.randint(8, 14)):
        d.add(times(d, {"a": 1, "b": 1.5}), SMALL * d.chance.randint(3, 9), 1000, *([v - 1] if v else []))
    room = d.weight() * d.chance.uniform(0.98, 1.1) / 3
    names = [d.device(kind, room, host=k == 0) for k, kind in enumerate("aab")]
    for k in range(3):
        d.link(names[k], names[(k + 1) % 3], 2e9)
    return d, d.chance.choice([[], ["--overlap", "none"], ["--objective", "throughput"], ["--execution", "calls"],
                               ["--objective", "throughput", "--free"]])


def pipeline(seed, more, most=28):
    """Few operators on unlike devices, links or none, one channel for all or not, memory tight in half."""
    d = Drawing(seed)
    random_graph(d, d.chance.randint(8, most), {"cpu": 3, "a": 1, "b": 1.5}, size=(2, d.chance.choice([3, 4, 4.7])),
                 weight=SMALL / 20, window=d.chance.choice([3, 8, 30]))
    room = d.weight() * d.chance.choice([0.3, 0.5, 5, 5])
    star(d, [(d.chance.choice("ab"), room) for _ in range(d.chance.randint(2, 4))], channel=d.chance.choice([None, "bus"]))
    return d, ["--objective", "throughput", *more]


def contiguous(seed):
    return pipeline(seed, ["--communication", random.Random(seed).choice(["host-staged", "link"])])


def free(seed):
    return pipeline(seed, ["--free", "--communication", "host-staged"])


def linked(seed):
    return pipeline(seed, ["--free", "--communication", "link"])


def calls(seed):
    d, _ = pipeline(seed, [], 16)
    return d, ["--execution", "calls"]


# class of problem, how it is drawn, how many, steps
KINDS = [("stream", servers, 10, 400), ("stream", spilling, 10, 400), ("stream", pair, 10, 400), ("stream", cuts, 8, 400),
         ("stream", handful, 24, 2000), ("stream", stream, 8, 1000), ("stream", packed, 20, 400),
         ("contiguous", contiguous, 36, 3000), ("free", free, 12, 2000), ("linked", linked, 12, 3000), ("calls", calls, 12, 3000)]


def drawn(folder):
    """class, name, arguments, steps of each"""
    for kind, draw, count, steps in KINDS:
        for seed in range(count):
            d, more = draw(seed)
            actual = kind
            if draw is packed and "calls" in more:
                actual = "calls"
            if draw is packed and "throughput" in more:
                actual = "linked" if "--free" in more else "contiguous"
            arguments = [*d.write(pathlib.Path(folder) / f"{draw.__name__}-{seed}"), "--granularity", "operator", *more]
            yield actual, f"{draw.__name__}-{seed}", arguments, steps
