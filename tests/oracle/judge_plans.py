#!/usr/bin/env python3
"""A second judge of plans, written from docs/model.md alone, in another language, with no code of situ.

    judge_plans.py DUMP_JUDGED [FIRST LAST]

DUMP_JUDGED prints problems, plan files and the rules that situ's checker sees broken. For each plan this program works
out value, times, transfers, loads, memory and constraints from the placement, and holds both against what it finds: a
plan whose every claim is so and that keeps every rule has to pass, any other one has to be found out. It is slow and
plain on purpose.
"""
import collections
import fractions
import json
import os
import subprocess
import sys

FORWARD, BACKWARD, UPDATE, RECOMPUTE = range(4)
NEVER = float("inf")


class Problem:
    """What the dump says, under the symbols of docs/model.md."""

    def __init__(self, dump):
        self.__dict__.update(dump)
        self.n, self.devices = len(self.operators), self.platform["devices"]
        self.known = {}
        self.D = range(len(self.devices))
        self.mem = [d["memory"] for d in self.devices]
        self.memories = range(max(self.mem) + 1)
        self.capacity = {d["memory"]: NEVER if d["capacity_bytes"] is None else d["capacity_bytes"] for d in self.devices}
        self.is_host = [d["host"] for d in self.devices]
        self.host = self.is_host.index(True) if True in self.is_host else 0
        self.prod = [t["producer"] for t in self.tensors]
        self.size = [t["bytes"] for t in self.tensors]
        self.reads = [o["in"] for o in self.operators]
        self.makes = [[t for t, v in enumerate(self.prod) if v == w] for w in range(self.n)]
        self.use = [[v for v in range(self.n) for t2 in self.reads[v] if t2 == t] for t in range(len(self.tensors))]
        self.phase = [o["phase"] for o in self.operators]
        self.group = [o["colocation"] for o in self.operators]
        self.weight = [o["weight_bytes"] for o in self.operators]
        self.workspace = [o["workspace_bytes"] for o in self.operators]
        self.trained = any(phase != FORWARD for phase in self.phase)
        self.pin = [o["pin"] for o in self.operators]
        for v in range(self.n):  # the pin of one member of a group holds for all
            if self.pin[v] >= 0 and self.group[v] >= 0:
                self.pin = [self.pin[v] if self.group[w] == self.group[v] and self.pin[w] < 0 else self.pin[w]
                            for w in range(self.n)]

    def p(self, v, d):
        time = self.operators[v]["time_ns"][d]
        return NEVER if time is None else time

    def route(self, a, b):
        return self.platform["routes"][a][b]

    def hop(self, link, size):
        """latency + bytes / rate, rounded up"""
        about = self.platform["links"][link]
        rate = fractions.Fraction(about["bytes_per_s"])
        if rate.denominator != 1:  # rates with a fraction count in steps of 2^-20 bytes per second
            rate = fractions.Fraction(int(rate * 2**20), 2**20)
        return about["latency_ns"] + -(-size * 10**9 * rate.denominator // rate.numerator)

    def c(self, t, a, b):
        if (t, a, b) not in self.known:
            self.known[t, a, b] = sum(self.hop(link, self.size[t]) for link in self.route(a, b))
        return self.known[t, a, b]

    def other_c(self, t, a, b):
        """The way of a tensor between two memories by the other costs."""
        return self.tensors[t]["other_ns"][a * len(self.memories) + b]

    def channel(self, link):
        return self.platform["links"][link]["channel"]


class Found:
    """What a placement comes to; value None: it does not run."""

    def __init__(self, problem):
        self.value, self.rules = None, set()
        self.load, self.memory = [0] * len(problem.devices), {m: 0 for m in problem.memories}
        self.start, self.finish, self.transfers = [0] * problem.n, [0] * problem.n, []


# ---- stream ----


def run_serial(p, device, order):
    """One operator or hop at a time; None where the sequence does not run."""
    found, made, now = Found(p), set(), 0
    for v in order:
        if p.p(v, device[v]) == NEVER or any(t not in made for t in p.reads[v]):
            return None
        found.start[v], found.finish[v] = now, now + p.p(v, device[v])
        found.load[device[v]] += p.p(v, device[v])
        now = found.finish[v]
        for t in p.makes[v]:
            made.add(t)
            reached = [p.mem[device[v]]]
            for w in p.use[t]:  # by number
                m = p.mem[device[w]]
                if m in reached:
                    continue
                reached.append(m)
                for link in p.route(reached[0], m):
                    found.transfers.append((t, link, m, now, now + p.hop(link, p.size[t])))
                    now = found.transfers[-1][-1]
    found.value = max(found.finish)
    follow_memory(p, device, found)
    return found


def run_stream(p, device, order):
    """Times and hops, instant by instant; None where the sequence does not run."""
    if p.overlap == "none":
        return run_serial(p, device, order)
    found = Found(p)
    hosts = {p.mem[d] for d in p.D if p.is_host[d]}
    copied_until = {m: 0 for m in hosts}  # overlap host-blocking
    queue = {d: [v for v in order if device[v] == d] for d in p.D}
    start, finish, ended = {}, {}, set()
    ways = {}  # (tensor, memory) -> [hops done, ready at, running until or None]
    there = {}  # (tensor, memory): in that memory
    channel_free = collections.defaultdict(int)
    now = 0

    def begin(key):
        t, m = key
        way = ways[key]
        link = p.route(p.mem[device[p.prod[t]]], m)[way[0]]
        way[2] = now + p.hop(link, p.size[t])
        found.transfers.append((t, link, m, now, way[2]))

    while len(ended) < p.n:
        changed = True
        while changed:  # all that follows without taking time
            changed = False
            for d in p.D:
                while queue[d] and queue[d][0] in start and finish[queue[d][0]] == now:
                    v = queue[d].pop(0)
                    ended.add(v)
                    changed = True
                    for t in p.makes[v]:
                        there[t, p.mem[d]] = True
                        for m in {p.mem[device[w]] for w in p.use[t]} - {p.mem[d]}:
                            ways[t, m] = [0, now, None]
                if p.is_host[d] and copied_until[p.mem[d]] > now:
                    continue
                if queue[d] and queue[d][0] not in start:
                    v = queue[d][0]
                    if all((t, p.mem[d]) in there for t in p.reads[v]):
                        if p.p(v, d) == NEVER:
                            return None
                        start[v], finish[v] = now, now + p.p(v, d)
                        changed = True
            for key in sorted(ways):
                way, route = ways[key], p.route(p.mem[device[p.prod[key[0]]]], key[1])
                if way[2] is not None and way[2] == now:
                    way[:] = [way[0] + 1, now, None]
                    changed = True
                if way[2] is None and way[0] == len(route) and key not in there:
                    there[key] = True
                    changed = True
                if way[2] is None and way[0] < len(route):
                    if p.contention == "none" or p.hop(route[way[0]], p.size[key[0]]) == 0:
                        begin(key)
                        changed = True
        waiting = []
        for key, way in ways.items():
            route = p.route(p.mem[device[p.prod[key[0]]]], key[1])
            if way[2] is None and way[0] < len(route):
                waiting.append((way[1], key))
        first = {}
        for _, key in sorted(waiting):  # in order of readiness, tensor, memory
            link = p.route(p.mem[device[p.prod[key[0]]]], key[1])[ways[key][0]]
            if channel_free[p.channel(link)] <= now:
                first.setdefault(p.channel(link), (key, link))
        for channel, (key, link) in sorted(first.items()):
            ends = p.platform["links"][link]
            m = ends["to_memory"]
            back = p.overlap == "host-blocking" and m in hosts and ends["from_memory"] not in hosts
            working = [v for v in start if v not in ended and p.is_host[device[v]] and p.mem[device[v]] == m]
            if back and (working or copied_until[m] > now):
                continue
            begin(key)
            channel_free[channel] = ways[key][2]
            if back:
                copied_until[m] = ways[key][2]
        later = [f for v, f in finish.items() if v not in ended and f > now]
        later += [way[2] for way in ways.values() if way[2] is not None and way[2] > now]
        if len(ended) < p.n:
            if not later:
                return None
            now = min(later)
    found.start, found.finish = [start[v] for v in range(p.n)], [finish[v] for v in range(p.n)]
    found.value = max(found.finish)
    for v in range(p.n):
        found.load[device[v]] += p.p(v, device[v])
    follow_memory(p, device, found)
    return found


def follow_memory(p, device, found):
    """The greatest sum over time; intervals are half open, a result has no end."""
    held, n = [], p.n // p.copies
    weights = {m: 0 for m in p.memories}
    for v in range(n):
        for m in {p.mem[device[v + k * n]] for k in range(p.copies)}:
            weights[m] += p.weight[v]
    for v in range(p.n):
        held.append((p.mem[device[v]], p.workspace[v], found.start[v], found.finish[v]))
    hops = collections.defaultdict(list)
    for t, _, m, start, finish in found.transfers:
        hops[t, m].append((start, finish))
    for t, v in enumerate(p.prod):
        home = p.mem[device[v]]
        ends = [found.finish[v]] + [found.finish[w] for w in p.use[t] if p.mem[device[w]] == home]
        ends += [hops[t, m][0][1] for m in p.memories if hops.get((t, m))]
        held.append((home, p.size[t], found.start[v], max(ends) if p.use[t] else NEVER))
        for m in p.memories:
            users = [found.finish[w] for w in p.use[t] if p.mem[device[w]] == m]
            if m != home and users:
                held.append((m, p.size[t], hops[t, m][-1][0], max(users)))
    instants = {start for _, _, start, _ in held}
    for m in p.memories:
        found.memory[m] = weights[m] + max([0] + [sum(size for k, size, a, b in held if k == m and a <= now < b)
                                                  for now in instants])


def other_time(p, device):
    """All operators on their devices, and each tensor once to each other memory that has a user of it."""
    takes = sum(p.operators[v]["other_time_ns"][device[v]] for v in range(p.n))
    for t, u in enumerate(p.prod):
        home = p.mem[device[u]]
        takes += sum(p.other_c(t, home, m) for m in {p.mem[device[w]] for w in p.use[t]} - {home})
    return takes


def judge_stream(p, device, plan):
    order = [p.number[row[0]] for row in plan["operators"]]
    found = run_stream(p, device, order)
    if not found:
        return None
    place = {v: i for i, v in enumerate(order)}
    if any(place[p.prod[t]] > place[v] for v in range(p.n) for t in p.reads[v]):
        return None
    if [found.start[v] for v in order] != sorted(found.start[v] for v in order):
        found.rules.add("rows do not stand in order of start")
    latency = found.value
    if p.max_other_ns is not None:
        takes = other_time(p, device)
        if plan.get("other_ns") != takes:
            found.rules.add("time by the other costs")
        if takes > p.max_other_ns:
            found.rules.add("limit by secondary costs")
    if p.objective == "throughput" or p.max_period_ns is not None:
        view = Problem.__new__(Problem)
        view.__dict__.update(p.__dict__)
        view.communication, view.async_copies, view.replicate, view.schedule = "link", False, False, "1f1b"
        period = pipeline_loads(view, device, [None] * len(p.devices))[0]
        if p.max_period_ns is not None and period > p.max_period_ns:
            found.rules.add("period")
        if p.max_latency_ns is not None and latency > p.max_latency_ns:
            found.rules.add("latency")
        if (plan.get("latency_ns"), plan.get("period_ns")) != (latency, period):
            found.rules.add("latency and period")
        if p.objective == "throughput":
            found.value = period
    said = sorted((p.makes[p.number[name]][output], link, p.mem[p.device_number[to]], start, finish)
                  for name, output, link, to, start, finish in plan["transfers"])
    if said != sorted(found.transfers):
        found.rules.add("transfers")
    return found


# ---- calls ----


def judge_calls(p, device, plan):
    found = Found(p)
    call = {p.number[row[0]]: row[4] for row in plan["operators"] if len(row) == 5}
    if not call:
        return None
    units = {}
    for v in range(p.n):
        if p.is_host[device[v]] != (call[v] is None):
            return None
        units[v] = ("host", v) if call[v] is None else ("call", call[v])
    members = collections.defaultdict(list)
    for v, unit in units.items():
        members[unit].append(v)
    if any(len({device[v] for v in vs}) > 1 for vs in members.values()):
        return None
    for d in p.D:
        if p.max_calls is not None and len({call[v] for v in range(p.n) if device[v] == d and call[v] is not None}) > p.max_calls:
            found.rules.add("call")
    cost, after = {}, collections.defaultdict(set)
    for unit, vs in members.items():
        d = device[vs[0]]
        cost[unit] = sum(p.p(v, d) for v in vs)
        for t, u in enumerate(p.prod):
            outside, inside = [w for w in p.use[t] if units[w] != unit], [w for w in p.use[t] if units[w] == unit]
            if u not in vs and inside:
                after[unit].add(units[u])
                if unit[0] == "call":
                    cost[unit] += p.c(t, p.mem[p.host], p.mem[d])
            if u in vs and outside and unit[0] == "call":
                cost[unit] += p.c(t, p.mem[d], p.mem[p.host])
        if unit[0] == "call":  # the calls of a device run in order of their numbers
            after[unit] |= {other for other, ws in members.items()
                            if other[0] == "call" and device[ws[0]] == d and other[1] < unit[1]}
    end = {}

    def finish(unit, on_the_way):
        if unit in on_the_way:
            raise RecursionError
        if unit not in end:
            begin = max([0] + [finish(u, on_the_way | {unit}) for u in after[unit]])
            end[unit] = begin + cost[unit]
        return end[unit]

    try:
        for unit in members:
            finish(unit, frozenset())
    except RecursionError:
        return None
    for v in range(p.n):
        found.finish[v], found.start[v] = end[units[v]], end[units[v]] - cost[units[v]]
    found.value = max(found.finish)
    if found.value == NEVER:
        return None
    for unit, vs in members.items():
        found.load[device[vs[0]]] += cost[unit]
    static_memory(p, device, found, [1] * len(p.devices), False)
    return found


def footprint(p, v):
    return p.workspace[v] + sum(p.size[t] for t in p.reads[v]) + sum(p.size[t] for t in p.makes[v])


def running_bytes(p, v):
    """What an operator needs while it runs: of a pipeline that trains, what no stash and no recomputation has counted."""
    if p.execution != "pipeline" or all(phase == FORWARD for phase in p.phase):
        return p.in_flight * footprint(p, v)
    if p.phase[v] == FORWARD:
        return footprint(p, v) + recomputed(p)[v]
    waits = lambda t: any(p.phase[w] != RECOMPUTE for w in p.use[t])
    counted = lambda t: p.phase[p.prod[t]] == FORWARD or (p.phase[p.prod[t]] == RECOMPUTE and waits(t))
    return p.workspace[v] + sum(p.size[t] for t in [*p.reads[v], *p.makes[v]] if not counted(t)) + recomputed(p)[v]


def static_memory(p, device, found, kept, stashes, sharing=None):
    """kept: the inputs of each device; sharing: how many run its part"""
    def is_whole(v):
        return not sharing or sharing[device[v]] < 2 or not in_shares(p, v)
    for m in p.memories:
        on = [v for v in range(p.n) if p.mem[device[v]] == m]
        stash = sum(kept[device[v]] * p.size[t] for v in on for t in p.makes[v] if p.phase[v] == FORWARD and
                    any(p.phase[w] != FORWARD for w in p.use[t])) if stashes else 0
        most = max([0] + [running_bytes(p, v) + (0 if is_whole(v) else gathered(p, v)) for v in on])
        found.memory[m] = sum(p.weight[v] for v in on if is_whole(v)) + stash + most
        for d in {device[v] for v in on if not is_whole(v)}:
            found.memory[m] += up(sum(p.weight[v] for v in on if device[v] == d and not is_whole(v)), sharing[d])


def kept_inputs(p, device, replica_of):
    """Those of each device that leads a part."""
    if p.micro_batches == 0:
        return [p.in_flight] * len(p.devices)
    sharing = [1 + replica_of.count(d) for d in p.D]
    edges = {(device_a, device_b) for device_a, device_b in part_edges(p, device) if device_a != device_b}

    def depth(d):
        return sharing[d] + max([0] + [depth(b) for a, b in edges if a == d])
    usable = len([d for d in p.D if not p.devices[d]["unused"]])
    kept = {"gpipe": p.micro_batches, "zb-h1": max(1, min(p.micro_batches, usable))}
    return [up(kept.get(p.schedule) or min(p.micro_batches, depth(d)), sharing[d]) for d in p.D]


def recomputed(p):
    """What waits for other phases beside an operator that is recomputed, or that reads what is."""
    segment, more = {v: {v} for v in range(p.n) if p.phase[v] == RECOMPUTE}, collections.defaultdict(int)
    for t, u in enumerate(p.prod):
        for w in p.use[t]:
            if u in segment and w in segment and segment[u] is not segment[w]:
                segment[u] |= segment[w]
                for v in segment[u]:
                    segment[v] = segment[u]
    for members in segment.values():
        waiting = [t for v in members for t in p.makes[v] if any(w not in segment for w in p.use[t])]
        concerned = members | {w for t in waiting for w in p.use[t] if w not in segment}
        for v in concerned:
            more[v] = max(more[v], sum(p.size[t] for t in waiting))
    return more


# ---- pipeline ----


def up(time, parts):
    return NEVER if time == NEVER else -(-time // parts)


def rings(p, device, d, r):
    """(bytes that each of r devices passes on, inputs from one such ring to the next)"""
    w = sum(p.weight[v] for v in range(p.n) if device[v] == d and p.phase[v] == FORWARD)
    step = max(r, p.micro_batches)
    times = {0: [(2, step)], 1: [(2, step)], 2: [(1, r), (1, step)], 3: [(3, r)]}[p.zero]
    return [(up(n * (r - 1) * w, r), every) for n, every in times if p.trained and w]


def in_shares(p, v):
    return {UPDATE: 1, BACKWARD: 2, FORWARD: 3, RECOMPUTE: 4}[p.phase[v]] <= p.zero


def gathered(p, v):
    """What of the weights of an operator is whole while it runs on a device that holds shares."""
    if not in_shares(p, v) or p.phase[v] == UPDATE:
        return 0
    return p.weight[v] * (2 if p.phase[v] == BACKWARD and p.zero == 3 else 1)


def way(p, a, b, size):
    return sum(p.hop(link, size) for link in p.route(p.mem[a], p.mem[b])) if size else 0


def pipeline_loads(p, device, replica_of):
    """(period, load of each device)"""
    leader = [d if replica_of[d] is None else replica_of[d] for d in p.D]
    sharing = {d: [e for e in p.D if leader[e] == d] for d in p.D}
    phases = [lambda v: p.phase[v] == FORWARD, lambda v: p.phase[v] != FORWARD]
    if p.schedule != "gpipe" or not p.trained:
        phases = [lambda v: True]
    period, loads = 0, [0] * len(p.devices)
    for number, counts in enumerate(phases):
        compute, enter, leave = ([0] * len(p.devices) for _ in range(3))
        channels = collections.defaultdict(int)
        for v in range(p.n):
            if counts(v):
                r = len(sharing[device[v]])
                whole = p.phase[v] == UPDATE and p.zero == 0 and r > 1  # each makes the whole update of a step
                compute[device[v]] += p.p(v, device[v]) * (min(r, max(1, p.micro_batches)) if whole else 1)
        for t, u in enumerate(p.prod):
            a = device[u]
            if not counts(u):
                continue
            takers = {device[w] for w in p.use[t] if p.mem[device[w]] != p.mem[a]}
            if p.communication == "host-staged":
                for b in takers:
                    enter[b] += 0 if p.is_host[b] else p.c(t, p.mem[p.host], p.mem[b])
                if takers and not p.is_host[a]:
                    leave[a] += p.c(t, p.mem[a], p.mem[p.host])
            else:
                first = {}  # one for each destination memory
                for w in p.use[t]:
                    if p.mem[device[w]] != p.mem[a]:
                        first.setdefault(p.mem[device[w]], device[w])
                for b in first.values():
                    for x in sharing[a]:
                        for y in sharing[b]:
                            for link in p.route(p.mem[x], p.mem[y]):
                                channels[p.channel(link)] += up(p.hop(link, p.size[t]), len(sharing[a]) * len(sharing[b]))
        for d in p.D:
            r = len(sharing[d])
            if r < 2 or number < len(phases) - 1:
                continue
            for size, every in rings(p, device, d, r):
                if p.communication == "host-staged":
                    if not p.is_host[d]:
                        enter[d] += up(way(p, p.host, d, size) * r, every)
                        leave[d] += up(way(p, d, p.host, size) * r, every)
                    continue
                ring = [d] + [e for e in sharing[d] if e != d]
                for x, y in zip(ring, ring[1:] + ring[:1]):
                    for link in p.route(p.mem[x], p.mem[y]):
                        channels[p.channel(link)] += up(p.hop(link, size), every)
        greatest = max([0] + list(channels.values()))
        for d in p.D:
            parts = compute[leader[d]], enter[leader[d]], leave[leader[d]]
            mine = up(max(parts) if p.async_copies else sum(parts), len(sharing[leader[d]]))
            loads[d] += mine
            greatest = max(greatest, mine)
        period += greatest
    return period, loads


def part_edges(p, device):
    """The edges of F, from device to device."""
    def class_of(v):
        return ("group", p.group[v]) if p.group[v] >= 0 else ("operator", v)
    forward = {class_of(v) for v in range(p.n) if p.phase[v] == FORWARD}
    edges = set()
    for t, u in enumerate(p.prod):
        for w in p.use[t]:
            if p.phase[u] == p.phase[w] == FORWARD:
                edges.add((device[u], device[w]))
            if p.phase[u] == p.phase[w] == BACKWARD and not (class_of(u) in forward and class_of(w) in forward):
                edges.add((device[w], device[u]))
    return edges


def is_contiguous(p, device):
    reached = {(a, b) for a, b in part_edges(p, device) if a != b}
    for k in p.D:
        reached |= {(a, b) for a in p.D for b in p.D if (a, k) in reached and (k, b) in reached}
    return not any((d, d) in reached for d in p.D)


def may_share(p, d, leader, device, replica_of):
    a, b, h = p.mem[d], p.mem[leader], p.mem[p.host]
    kinds = [[(p.platform["links"][i]["latency_ns"], p.platform["links"][i]["bytes_per_s"]) for i in p.route(x, y)]
             for x, y in ((a, h), (b, h), (h, a), (h, b))]
    return (p.replicate and d not in device and replica_of[leader] is None and d != leader and
            p.devices[d]["class"] == p.devices[leader]["class"] and p.is_host[d] == p.is_host[leader] and
            p.capacity[a] == p.capacity[b] and p.mem.count(a) == p.mem.count(b) == 1 and
            kinds[0] == kinds[1] and kinds[2] == kinds[3] and
            not any(p.devices[x]["unused"] or x in p.pin for x in (d, leader)))


def judge_pipeline(p, device, plan):
    found = Found(p)
    replica_of = [None] * len(p.devices)
    for row in plan["devices"]:
        if "replica_of" in row:
            replica_of[p.device_number[row["name"]]] = p.device_number[row["replica_of"]]
    for d in p.D:
        if replica_of[d] is not None and not may_share(p, d, replica_of[d], device, replica_of):
            return None
    if p.contiguous and not is_contiguous(p, device):
        return None
    found.value, found.load = pipeline_loads(p, device, replica_of)
    if found.value == NEVER:
        return None
    static_memory(p, device, found, kept_inputs(p, device, replica_of), True,
                  [1 + replica_of.count(d) for d in p.D])
    for d in p.D:  # every device of a part holds what one alone would hold
        if replica_of[d] is not None:
            found.memory[p.mem[d]] = found.memory[p.mem[replica_of[d]]]
    found.replica_of = replica_of
    return found


# ---- all models ----


def best_single(p):
    """(device, value) of the best device alone."""
    best = (None, None)
    for d in p.D:
        if p.devices[d]["unused"] or any(p.p(v, d) == NEVER for v in range(p.n)):
            continue
        alone = [d] * p.n
        if p.execution == "stream":
            found = run_stream(p, alone, range(p.n))
        else:
            rows = [[o["name"], "", 0, 0, None if p.is_host[d] else 0] for o in p.operators]
            found = (judge_calls if p.execution == "calls" else judge_pipeline)(p, alone, {"operators": rows, "devices": []})
        fits = all(found.memory[m] <= p.capacity[m] for m in p.memories)
        if fits and (best[1] is None or found.value < best[1]):
            best = (d, found.value)
    return best


def broken(p, plan):
    """What is wrong with a plan, in words; empty: nothing."""
    device = [None] * p.n
    for row in plan["operators"]:
        device[p.number[row[0]]] = p.device_number[row[1]]
    wrong = set()
    for v in range(p.n):
        d = device[v]
        if p.p(v, d) == NEVER:
            wrong.add("support")
        if p.pin[v] >= 0 and p.pin[v] != d:
            wrong.add("pin")
        if p.devices[d]["unused"]:
            wrong.add("unused")
        if p.group[v] >= 0 and any(p.group[w] == p.group[v] and device[w] != d for w in range(p.n)):
            wrong.add("colocation")
    found = {"stream": judge_stream, "calls": judge_calls, "pipeline": judge_pipeline}[p.execution](p, device, plan)
    if not found:
        return wrong | {"does not run"}
    wrong |= found.rules
    if plan["value_ns"] != found.value:
        wrong.add("value")
    for row in plan["operators"]:
        v = p.number[row[0]]
        if p.execution != "pipeline" and row[2:4] != [found.start[v], found.finish[v]]:
            wrong.add("times")
    for row in plan["devices"]:
        d = p.device_number[row["name"]]
        counted = d
        if p.execution == "pipeline" and found.replica_of[d] is not None:
            counted = found.replica_of[d]
        if row["operators"] != device.count(counted):
            wrong.add("operators of a device")
        if row["load_ns"] != found.load[d]:
            wrong.add("load")
        if row["memory_bytes"] != found.memory[p.mem[d]]:
            wrong.add("memory of a device")
    pools = {}  # memories that share a capacity
    for d in p.devices:
        pools.setdefault(d["capacity_of"], set()).add(d["memory"])
    if any(sum(found.memory[m] for m in pool) > p.capacity[min(pool)] for pool in pools.values()):
        wrong.add("memory")
    d, value = best_single(p)
    said = plan["best_single"]
    if (said and (p.device_number[said["device"]], said["value_ns"])) != (None if d is None else (d, value)):
        wrong.add("best single device")
    return wrong


def main():
    usual = 3000 if int(os.environ.get("SITU_TEST_SHARE", "100")) >= 100 else 1000
    program, first, last = sys.argv[1], *(sys.argv[2:4] or ("1", str(usual)))
    limits = str(int(first) + (int(last) - int(first)) // 3)  # as many as of each execution model
    lines = []
    for what, end in (("plans", last), ("limits", limits)):
        done = subprocess.run([program, what, first, end], capture_output=True, text=True, check=True)
        lines += [(f"{what} {seed}", line) for seed, line in enumerate(done.stdout.splitlines(), int(first))]
    counts, failures = collections.Counter(), []
    for seed, line in lines:
        dump = json.loads(line)
        p = Problem(dump["problem"])
        p.number = {o["name"]: v for v, o in enumerate(p.operators)}
        p.device_number = {d["name"]: i for i, d in enumerate(p.devices)}
        wrong = broken(p, dump["plan"])
        limited = p.max_other_ns is not None
        counts["limit" if limited else p.execution, "good" if not wrong else "bad"] += 1
        counts["limit", "alone broken"] += wrong == {"limit by secondary costs"}
        if bool(wrong) != bool(dump["rules"]):
            failures.append(f"{seed}, {p.execution}: situ says {sorted(set(dump['rules']))}, this judge {sorted(wrong)}")
    print("\n".join(failures[:20]))
    print(f"{len(lines)} plans, {len(failures)} judged in two ways:", dict(counts))
    models = ("stream", "calls", "pipeline", "limit")
    enough = all(counts[model, kind] > len(lines) // 50 for model in models for kind in ("good", "bad"))
    enough = enough and counts["limit", "alone broken"] > len(lines) // 50
    return 1 if failures or not enough else 0


if __name__ == "__main__":
    sys.exit(main())
