#!/usr/bin/env python3
"""A second judge of certificates, written from docs/theory alone, in another language, with no code of situ.

    judge_proofs.py DUMP_JUDGED [FIRST LAST]

DUMP_JUDGED prints problems, certificates and what situ's checker sees proved by their numbers. This program works out
what the rule of each kind says, and both have to agree to the nanosecond. Blocks of cuts are searched by trying every
schedule.
"""
import collections
import functools
import itertools
import json
import subprocess
import sys

from judge_plans import BACKWARD, FORWARD, NEVER, Problem, footprint, in_shares, running_bytes, up
from judge_sides import JudgeOfSides

DEAR = {"area_price": 1 << 52, "side_cut": 1 << 52, "linear_relaxation": 1 << 54, "destructive": 1 << 20}
MALFORMED = -1


class Judge(JudgeOfSides):
    def __init__(self, p):
        self.p, self.n, self.D = p, p.n, p.D
        self.may = {(v, d): self.may_run(v, d) for v in range(p.n) for d in p.D}
        self.items = self.find_items()

    def may_run(self, v, d):
        p = self.p
        return p.p(v, d) != NEVER and (p.pin[v] == d if p.pin[v] >= 0 else not p.devices[d]["unused"])

    def find_items(self):
        """Sets of operators that no plan parts: groups, and in contiguous pipelines groups on one circle of F."""
        p = self.p
        key = [("group", p.group[v]) if p.group[v] >= 0 else ("operator", v) for v in range(p.n)]
        reach = {(k, k) for k in key}
        if p.execution == "pipeline" and p.contiguous:
            forward = {key[v] for v in range(p.n) if p.phase[v] == FORWARD}
            for t, u in enumerate(p.prod):
                for w in p.use[t]:
                    if p.phase[u] == p.phase[w] == FORWARD:
                        reach.add((key[u], key[w]))
                    if p.phase[u] == p.phase[w] == BACKWARD and not {key[u], key[w]} <= forward:
                        reach.add((key[w], key[u]))
            for k in set(key):
                reach |= {(a, b) for a in set(key) for b in set(key) if (a, k) in reach and (k, b) in reach}
        self.key, self.reach = key, reach
        items = {frozenset(v for v in range(p.n) if (key[u], key[v]) in reach and (key[v], key[u]) in reach)
                 for u in range(p.n)}
        return sorted(items, key=min)

    def item_time(self, item, d):
        return sum(self.p.p(v, d) for v in item) if all(self.may[v, d] for v in item) else NEVER

    # ---- what is certain to be in memory at one instant of a stream: docs/theory/bounds/alive.md ----

    def reached(self, at, turned):
        """`at` and all that comes behind it, or before it."""
        p, found = self.p, {at}
        for v in reversed(range(p.n)) if turned else range(p.n):
            near = [w for t in p.makes[v] for w in p.use[t]] if turned else [p.prod[t] for t in p.reads[v]]
            if found & set(near):
                found.add(v)
        return found

    def holders(self, at):
        """[tensor] items that made or read it by the time `at` runs and have yet to read it, those that read it first
        behind first; nobody holds anything where `at` may take no time."""
        p = self.p
        if any(self.may[at, d] and p.p(at, d) == 0 for d in self.D):
            return [[] for _ in p.size]
        before, behind = self.reached(at, True), self.reached(at, False)
        found = []
        for t, maker in enumerate(p.prod):
            had = [i for i in self.items if set(i) & before & {maker, *p.use[t]}]
            if p.use[t]:
                found.append(sorted((i for i in had if set(i) & behind & set(p.use[t])),
                                    key=lambda i: min(set(i) & behind & set(p.use[t]))))
            else:
                found.append([i for i in had if maker in i])
        return found

    def rooms(self, instant):
        """may-run, without the devices whose memory an item is too large for."""
        p = self.p
        if not instant:
            return self.may
        may, holders = dict(self.may), self.holders(instant[0])
        for item in self.items:
            weight = sum(p.weight[v] for v in item)
            alive = sum(p.size[t] for t, of in enumerate(holders) if item in of)
            for d in self.D:
                runs = [footprint(p, v) for v in item if p.p(v, d) > 0]
                if weight + max([alive] + runs) > p.capacity[p.mem[d]]:
                    may.update({(v, d): False for v in item})
        return may

    def sure_bytes(self, item, holders):
        """Bytes that a plan holds for an item at one and the same time as for all others."""
        p = self.p
        sum_of = sum(p.weight[v] for v in item) + sum(p.size[t] for t, of in enumerate(holders) if of[:1] == [item])
        if p.execution == "pipeline":
            sum_of += p.in_flight * sum(p.size[t] for v in item for t in p.makes[v]
                                        if p.phase[v] == FORWARD and any(p.phase[w] != FORWARD for w in p.use[t]))
        return sum_of

    # ---- prices of time and bytes ----

    def area_price(self, time_prices, byte_prices, instant):
        p, may, holders = self.p, self.rooms(instant), self.holders(instant[0]) if instant else []
        total, rent = sum(time_prices), 0
        for m, y in enumerate(byte_prices):
            rent += y * p.capacity[m] if y else 0
        if total and p.execution == "calls":
            return 0
        work = 0
        for item in self.items:
            held = self.sure_bytes(item, holders)
            prices = [self.item_time(item, d) * time_prices[d] + held * byte_prices[p.mem[d]]
                      for d in self.D if self.item_time(item, d) != NEVER and may[min(item), d]]
            if not prices:
                return NEVER
            work += min(prices)
        if work <= rent:
            return 0
        return up(work - rent, total) if total else NEVER

    def largest_operator(self, operator):
        p, item = self.p, next(i for i in self.items if operator[0] in i)
        best = NEVER
        for d in self.D:
            n = sum(p.devices[e]["class"] == p.devices[d]["class"] and (not p.devices[e]["unused"] or e in p.pin)
                    for e in self.D)
            best = min(best, up(self.item_time(item, d), n if p.replicate and n else 1))
        return best

    # ---- runs ----

    def comes_before(self, u, v):
        return (self.key[u], self.key[v]) in self.reach

    def runs(self, chain):
        """The least period at which devices in some order cover the chain with runs of it."""
        p, n = self.p, len(chain)
        if not p.contiguous or p.replicate:
            return 0
        of = {v: item for item in self.items for v in item}
        if len({of[v] for v in chain}) < n or not all(self.comes_before(a, b) for a, b in zip(chain, chain[1:])):
            return 0
        places, between = [of[v] for v in chain], [[] for _ in chain]
        for item in self.items:
            some, ahead = min(item), [k for k in range(n) if self.comes_before(chain[k], min(item))]
            behind = [k for k in range(n) if self.comes_before(some, chain[k])]
            if item not in places and ahead and behind and min(behind) == max(ahead) + 1:
                between[max(ahead)].append(item)

        def load(d, i, j):
            """NEVER where places i to j, and what lies between them, cannot be on d."""
            inside = places[i:j + 1] + [item for k in range(i, j) for item in between[k]]
            times = [self.item_time(item, d) for item in inside]
            held = sum(self.sure_bytes(item, []) for item in inside)
            return NEVER if NEVER in times or held > p.capacity[p.mem[d]] else sum(times)

        @functools.lru_cache(None)
        def least(i, used):
            if i == n:
                return 0
            return min((max(load(d, i, j), least(j + 1, used | {d})) for d in self.D if d not in used
                        for j in range(i, n)), default=NEVER)

        return min(least(0, frozenset()), NEVER)

    # ---- packing ----

    def item_fills(self, item):
        """(bytes always, bytes in the end, {memory it may be in: bytes beside while one of it runs})"""
        p = self.p
        always = last = sum(p.weight[v] for v in item)
        for v in item:
            for t in p.makes[v]:
                stashed = p.phase[v] == FORWARD and any(p.phase[w] != FORWARD for w in p.use[t])
                always += p.in_flight * p.size[t] if p.execution == "pipeline" and stashed else 0
                last += p.size[t] if p.execution == "stream" and not p.use[t] else 0
        running = {}
        for d in self.D:
            if all(self.may[v, d] for v in item):
                beside = [running_bytes(p, v) for v in item if p.execution != "stream" or p.p(v, d) > 0]
                running[p.mem[d]] = min(running.get(p.mem[d], NEVER), max(beside, default=0))
        return always, last, running

    def packing(self, operators):
        """NEVER where the items of these operators go into the memories in no way: all ways, one after the other."""
        p = self.p
        fills = [self.item_fills(i) for i in self.items if set(i) & set(operators)]
        for where in itertools.product(*(running for _, _, running in fills)):
            def fits(m):
                here = [fill for fill, at in zip(fills, where) if at == m]
                while_running = sum(always for always, _, _ in here) + max([0] + [running[m] for _, _, running in here])
                return max(while_running, sum(last for _, last, _ in here)) <= p.capacity[m]
            if all(fits(m) for m in set(where)):
                return 0
        return NEVER

    # ---- chains and joins ----

    def way(self, t, a, b):
        """The least time of tensor t from device a to device b."""
        p = self.p
        if p.execution != "calls":
            return p.c(t, p.mem[a], p.mem[b])
        if a == b:
            return 0
        out = 0 if p.is_host[a] else p.c(t, p.mem[a], p.mem[p.host])
        return out + (0 if p.is_host[b] else p.c(t, p.mem[p.host], p.mem[b]))

    def chains(self, first=None, last=None, may=None):
        """(earliest ends, least times from there to the end of everything), [operator, device]"""
        p, may = self.p, may or self.may
        head, tail = {}, {}
        for v in range(p.n):
            for d in self.D:
                start = first[v, d] if first else 0
                for t in p.reads[v]:
                    start = max(start, min(head[p.prod[t], a] + self.way(t, a, d) for a in self.D))
                head[v, d] = start + p.p(v, d) if may[v, d] else NEVER
        for v in reversed(range(p.n)):
            for d in self.D:
                rest = last[v, d] if last else 0
                for t in p.makes[v]:
                    for w in p.use[t]:
                        rest = max(rest, min(self.way(t, d, b) + p.p(w, b) + tail[w, b] for b in self.D))
                tail[v, d] = rest if may[v, d] else NEVER
        return head, tail

    def critical_path(self, operator, instant):
        head, tail = self.chains(may=self.rooms(instant))
        return min(head[operator[0], d] + tail[operator[0], d] for d in self.D)

    def arrows(self, x, turned):
        p = self.p
        return [(w, t) for t in p.makes[x] for w in p.use[t]] if turned else [(p.prod[t], t) for t in p.reads[x]]

    def sent(self, t, a, b, turned):
        p = self.p
        return p.c(t, p.mem[b], p.mem[a]) if turned else p.c(t, p.mem[a], p.mem[b])

    def join_ends(self, window, turned):
        p, end = self.p, {}
        for v in reversed(range(p.n)) if turned else range(p.n):
            near, opened, x = [], [], v
            while True:  # of those before v or one in the window, time and again the one that starts last
                for u, _ in self.arrows(x, turned):
                    if u not in near and u not in opened:
                        opened.append(u)
                if not opened or len(near) == window:
                    break
                starts = {u: min([end[u, d] - p.p(u, d) for d in self.D if self.may[u, d]], default=NEVER) for u in opened}
                x = max(opened, key=lambda u: (starts[u], -u if turned else u))
                opened.remove(x)
                near.append(x)
            near.sort(reverse=not turned)
            for d in self.D:
                if not self.may[v, d]:
                    end[v, d] = NEVER
                    continue
                chain = max([0] + [min(end[u, a] + self.sent(t, a, d, turned) for a in self.D) for u, t in self.arrows(v, turned)])
                end[v, d] = self.least_start(v, d, chain, near, end, turned) + p.p(v, d)
        return end

    def least_start(self, v, d, chain, near, end, turned):
        low, high = chain - 1, chain
        while high != NEVER and not self.may_start(v, d, high, near, end, turned):
            low, high = high, 2 * high - chain + 1
            if high > 1 << 40:
                return NEVER
        while high != NEVER and high - low > 1:
            half = (low + high) // 2
            if self.may_start(v, d, half, near, end, turned):
                high = half
            else:
                low = half
        return high

    def may_start(self, v, d, s, near, end, turned):
        plain = {(u, a): end[u, a] for u in near for a in self.D}
        time = self.places(v, d, s, near, plain, turned)
        if time is None:
            return False
        into = collections.Counter(u for x in near + [v] for u, _ in self.arrows(x, turned))
        for i, fork in enumerate(near):
            if into[fork] < 2:
                continue
            if not any(self.places(v, d, s, near, self.held(near, i, b, plain, turned), turned) is not None
                       for b in time[fork]):
                return False
        return True

    def held(self, near, i, b, plain, turned):
        """The ends with near[i] on b, and of those nearer to v what that means for them."""
        ends = dict(plain)
        for a in self.D:
            if a != b:
                ends[near[i], a] = NEVER
        for k in reversed(range(i)):
            for a in self.D:
                for u, t in self.arrows(near[k], turned):
                    if u in near:
                        comes = min(ends[u, e] + self.sent(t, e, a, turned) for e in self.D)
                        ends[near[k], a] = max(ends[near[k], a], comes + self.p.p(near[k], a))
        return ends

    def places(self, v, d, s, near, ends, turned):
        """For each of the window the devices from which it is in time, or None where s is refuted."""
        p, rest, time = self.p, collections.defaultdict(int), {v: [d]}
        forced = []
        for t_u in self.arrows(v, turned):
            for a in self.D:
                rest[t_u[0], a] = max(rest[t_u[0], a], self.sent(t_u[1], a, d, turned))
        for x in near:
            time[x] = [b for b in self.D if ends[x, b] + rest[x, b] <= s]
            if not time[x]:
                return None
            if all(p.mem[b] == p.mem[d] for b in time[x]):
                forced.append((min(ends[x, b] - p.p(x, b) for b in time[x]), min(p.p(x, b) for b in time[x])))
            for u, t in self.arrows(x, turned):
                for a in self.D:
                    if u in near:
                        rest[u, a] = max(rest[u, a], min(self.sent(t, a, b, turned) + p.p(x, b) + rest[x, b] for b in time[x]))
        turns = p.mem.count(p.mem[d])
        if any(sum(work for r, work in forced if r >= release) > turns * (s - release) for release, _ in forced):
            return None
        return time

    def joins(self, window):
        head, tail = self.join_ends(window, False), self.join_ends(window, True)
        return head, {key: NEVER if end == NEVER else end - self.p.p(*key) for key, end in tail.items()}

    def join(self, operator, window, instant):
        everywhere, self.may = self.may, self.rooms(instant)
        head, tail = self.joins(window[0])
        self.may = everywhere
        return min(head[operator[0], d] + tail[operator[0], d] for d in self.D)

    # ---- the linear program ----

    def linear_relaxation(self, within_ns, edge_prices, tail_prices, time_prices, byte_prices, from_prices, to_prices):
        p, M = self.p, len(self.p.memories)
        head, tail = self.chains()
        item_of = {v: item for item in self.items for v in item}
        uses = [(p.prod[t], v, t) for v in range(p.n) for t in p.reads[v]]
        out_price, into_price = collections.Counter(), collections.Counter()
        moved, total = collections.Counter(), 0
        for k, (u, w, _) in enumerate(uses):
            out_price[u] += edge_prices[k]
            into_price[w] += edge_prices[k]
            costs = []
            for a in p.memories:
                for b in p.memories:
                    longest = 0 if a == b or item_of[u] is item_of[w] else max(
                        p.c(t, a, b) for x, y, t in uses if (x, y) == (u, w))
                    costs.append(edge_prices[k] * longest - from_prices[k * M + a] - to_prices[k * M + b])
            total += min(costs)
            for m in p.memories:
                moved[u, m] += from_prices[k * M + m]
                moved[w, m] += to_prices[k * M + m]
        head_price = {v: tail_prices[v] + out_price[v] - into_price[v] for v in range(p.n)}
        rent = 0
        for m, y in enumerate(byte_prices):
            rent += y * p.capacity[m] if y else 0
        if min(head_price.values()) < 0:
            return 0
        for item in self.items:
            costs = []
            for d in self.D:
                if any(not self.may[v, d] or head[v, d] + tail[v, d] > within_ns[0] for v in item):
                    continue
                costs.append(sum(
                    (out_price[v] + time_prices[d] + tail_prices[v]) * p.p(v, d) + tail_prices[v] * tail[v, d] +
                    head_price[v] * (head[v, d] - p.p(v, d)) + byte_prices[p.mem[d]] * p.weight[v] + moved[v, p.mem[d]]
                    for v in item))
            if not costs:
                return within_ns[0] + 1
            total += min(costs)
        unit = sum(tail_prices) + sum(time_prices)
        return min(up(total - rent, unit), within_ns[0] + 1) if unit and total > rent else 0

    # ---- contradictions ----

    def destructive(self, claim, rounds, free_rounds, prices, interval, window):
        """Whether the rounds meet a contradiction to T = claim - 1."""
        p, lists = self.p, [prices[i:i + len(self.D)] for i in range(0, len(prices), len(self.D))]
        may = dict(self.may)
        first = {key: 0 for key in may}
        last = dict(first)
        if window[0]:
            head, last = self.joins(window[0])
            first = {key: end if end == NEVER else end - p.p(*key) for key, end in head.items()}
        start, rest = {v: 0 for v in range(p.n)}, {v: 0 for v in range(p.n)}
        above = {v: set() for v in range(p.n)}
        for v in range(p.n):
            for t in p.reads[v]:
                above[v] |= {p.prod[t]} | above[p.prod[t]]

        def agree():
            for item in self.items:
                left = [d for d in self.D if all(may[v, d] for v in item)]
                may.update({(v, d): d in left for v in item for d in self.D})
                if not left:
                    return False
            return True

        def around(v, known, others, key):
            """The others, from the nearest to v on, share what is between."""
            used, work, total = set(), [0] * len(lists), [0] * len(lists)
            for x in sorted(others, key=lambda x: (-key[x], x)):
                new = {d for d in self.D if may[x, d]} - used
                used |= new
                for k, u in enumerate(lists):
                    total[k] += sum(u[d] for d in new)
                    work[k] += min([p.p(x, d) * u[d] for d in self.D if may[x, d]], default=0)
                    if total[k]:
                        known = max(known, key[x] + up(work[k], total[k]))
            return known

        if not agree():
            return True
        head, tail = {}, {}
        for number in range(free_rounds[0] + rounds[0]):
            end = claim - 1 if number >= free_rounds[0] else 1 << 60
            head, tail = self.chains({k: max(first[k], start[k[0]]) for k in may}, {k: max(last[k], rest[k[0]]) for k in may}, may)
            for key in may:
                may[key] = may[key] and head[key] + tail[key] <= end
            if not agree():
                return True
            key = {v: min(head[v, d] - p.p(v, d) for d in self.D if may[v, d]) for v in range(p.n)}
            start = {v: around(v, start[v], above[v], key) for v in range(p.n)}
            key = {v: min(tail[v, d] for d in self.D if may[v, d]) for v in range(p.n)}
            rest = {v: around(v, rest[v], [x for x in range(p.n) if v in above[x]], key) for v in range(p.n)}
        if not interval or not rounds[0]:
            return False
        a, b, u = interval[0], interval[1], lists[interval[2]]
        total = sum(u[d] for d in self.D if any(may[v, d] for v in range(p.n)))
        work = 0
        for item in self.items:
            work += min(sum(max(0, min(p.p(v, d), b - a, head[v, d] - a, b - (end - tail[v, d] - p.p(v, d))))
                            for v in item) * u[d] for d in self.D if all(may[v, d] for v in item))
        return work > (b - a) * total

    # ---- chains of units ----

    def between(self, item, s, t, entering):
        """The operators of an item that t depends on, and that depend on s or on another of it that reads all of the
        tensors entering; s and t included."""
        p = self.p
        behind, before = {s} | {v for v in item if entering and set(entering) <= set(p.reads[v])}, {t}
        for v in range(p.n):
            if any(p.prod[r] in behind for r in p.reads[v]):
                behind.add(v)
        for v in reversed(range(p.n)):
            if any(w in before for r in p.makes[v] for w in p.use[r]):
                before.add(v)
        return [v for v in item if v in behind and v in before]

    def goes(self, chain, sums):
        """What goes to the segment that begins at each place of the chain."""
        p = self.p
        item_of = {v: k for k, item in enumerate(self.items) for v in item}
        starts = [i for i in range(1, len(chain)) if item_of[chain[i]] != item_of[chain[i - 1]]]
        goes = {i: [t for t in p.makes[chain[i - 1]] if chain[i] in p.use[t]] for i in starts}
        for t in range(len(p.prod)) if sums else []:
            if any(t in found for found in goes.values()):
                continue
            for i in starts:
                users = {item_of[w] for w in p.use[t]}
                if item_of[p.prod[t]] == item_of[chain[i - 1]] and item_of[chain[i]] in users:
                    goes[i].append(t)
                    break
        return goes

    def unit_chain(self, chain, byte_prices, other_price):
        p, sums = self.p, self.p.overlap == "none"
        z = other_price[0] if other_price else 0
        item_of = {v: k for k, item in enumerate(self.items) for v in item}
        if p.objective != "latency" or p.copies > 1:
            return 0

        def cost(time, other):
            return (time << 32) + ((z * other) << 12)

        def other_time(item, d):
            return sum(p.operators[v]["other_time_ns"][d] for v in item) if z else 0

        goes = self.goes(chain, sums)

        def way(i, a, b):
            times = [p.c(t, p.mem[a], p.mem[b]) for t in goes[i]]
            other = [p.other_c(t, p.mem[a], p.mem[b]) for t in goes[i]] if z else [0]
            return cost(sum(times), sum(other)) if sums else cost(max(times), 0)

        def rent(k, d):
            return byte_prices[p.mem[d]] * sum(p.weight[v] for v in self.items[k])

        stops, paid, i = [], set(), 0  # stops: [item, where it begins, {device: cost}]
        while i < len(chain):
            k, end = item_of[chain[i]], i
            while end + 1 < len(chain) and item_of[chain[end + 1]] == k:
                end += 1
            if len(stops) > 1 and stops[-2][0] == k:
                _, begin, there = stops.pop()
                here = stops[-1][2]
                stops[-1][2] = {d: here[d] + min(there[e] + way(begin, d, e) + way(i, e, d) for e in there)
                                for d in here if there}
            else:
                may = [d for d in self.D if self.item_time(self.items[k], d) != NEVER]
                stops.append([k, i, {d: 0 for d in may}])
            for d in stops[-1][2]:
                if not sums:
                    members = self.between(self.items[k], chain[i], chain[end], goes.get(i))
                    stops[-1][2][d] += cost(sum(p.p(v, d) for v in members), 0)
                elif k not in paid:
                    stops[-1][2][d] += cost(self.item_time(self.items[k], d), other_time(self.items[k], d))
                if k not in paid:
                    stops[-1][2][d] += rent(k, d)
            paid.add(k)
            i = end + 1
        best = stops[0][2]
        for _, begin, here in stops[1:]:
            best = {d: here[d] + min(best[e] + way(begin, e, d) for e in best) for d in here if best}
        if not best:
            return NEVER
        total = min(best.values()) - cost(0, p.max_other_ns if z else 0)
        for k, item in enumerate(self.items):
            times = {d: self.item_time(item, d) for d in self.D}
            off = [rent(k, d) + (cost(time, other_time(item, d)) if sums else 0) for d, time in times.items() if time != NEVER]
            total += min(off, default=0) if k not in paid else 0
        total -= sum(y * p.capacity[m] for m, y in enumerate(byte_prices) if y)
        proved = max(total, 0) >> 32
        return NEVER if proved > 1 << 54 else proved

    def is_chain(self, chain, byte_prices, other_price):
        p = self.p
        follows = all(any(v in p.use[t] for t in p.makes[u]) for u, v in zip(chain, chain[1:]))
        prices = all(0 <= y <= 1 << 52 and (y == 0 or p.capacity[m] != NEVER) for m, y in enumerate(byte_prices))
        other = all(0 <= z <= 1 << 58 and (z == 0 or p.max_other_ns is not None) for z in other_price)
        return bool(chain) and follows and prices and other and len(other_price) <= 1

    # ---- cuts ----

    def cut_vertex(self, deleted, cuts, rests):
        p, blocks = self.p, []
        n_blocks = len(rests) // len(self.D)
        edges = [-1] + cuts + ([p.n] if n_blocks > len(cuts) else [])
        for k in range(n_blocks):
            first, last = edges[k] + 1, edges[k + 1] if k < len(cuts) else p.n - 1
            behind = {d: rests[(k + 1) * len(self.D) + d] if k + 1 < n_blocks else 0 for d in self.D}
            blocks.append((edges[k], first, last, k < len(cuts), behind))
        for k, (cut, first, last, closed, behind) in enumerate(blocks):
            inner = range(first, last + 1)
            after, into = set(), {last} if closed else set()
            for v in inner:
                if cut < 0 or any(p.prod[t] == cut or p.prod[t] in after for t in p.reads[v]):
                    after.add(v)
            for v in reversed(inner):
                if any(w in into for t in p.makes[v] for w in p.use[t]):
                    into.add(v)
            kept = [v for v in inner if v not in deleted]
            if any(v not in after or (closed and v not in into) for v in kept):
                return 0
            for a in self.D if k else [0]:
                limit = rests[k * len(self.D) + a]
                if limit and not (k and not self.may[cut, a]) and self.least_block(cut, a, inner, kept, closed, behind) < limit:
                    return 0
        return min(rests[0], 1 << 55)

    def least_block(self, cut, a, inner, kept, closed, behind):
        """The least time from the end of the cut on device a to the end of everything, over all schedules of a block."""
        p = self.p
        best = NEVER
        least = {(v, m): min([p.p(v, d) for d in self.D if p.mem[d] == m and self.may[v, d]], default=NEVER)
                 for v in inner for m in p.memories}

        def there(u, t, x, m, ends):
            """When tensor t of u is in memory m for x; ends[u]: by memory."""
            if p.group[u] >= 0 and p.group[u] == p.group[x]:
                return ends[u][m]
            return min(ends[u][k] + p.c(t, k, m) for k in p.memories)

        def ready(v, m, ends):
            return max([0] + [there(p.prod[t], t, v, m, ends) for t in p.reads[v] if p.prod[t] in ends])

        def waits_for(v):
            """Kept operators of the block that v waits for, over deleted ones too."""
            found = set()
            for t in p.reads[v]:
                u = p.prod[t]
                if u in inner:
                    found |= {u} if u in kept else waits_for(u)
            return found

        leads = {v for v in inner if v in kept}  # to a kept operator of the block
        for v in reversed(inner):
            if any(w in leads for t in p.makes[v] for w in p.use[t]):
                leads.add(v)

        def through(u, t, m, x):
            """The least time from tensor t of u in memory m over its user x to the end, x in one memory."""
            def c(k):
                return NEVER if p.group[u] >= 0 and p.group[u] == p.group[x] and k != m else p.c(t, m, k)
            if x in kept:
                return min(c(p.mem[d]) + p.p(x, d) + tail[x, p.mem[d], d] for d in self.D if self.may[x, d])
            return min(c(k) + least[x, k] + tail[x, k, None] for k in p.memories)

        tail = {}  # [operator, memory, device or None of a deleted one]
        for v in reversed(inner):
            for m, d in [(p.mem[d], d) for d in self.D] if v in kept else [(m, None) for m in p.memories]:
                last = behind[d] if v in kept and closed and v == inner[-1] else 0
                tail[v, m, d] = max([last] + [through(v, t, m, x) for t in p.makes[v] for x in p.use[t] if x in leads])

        def grow(done, free, ends, value):
            nonlocal best
            if value >= best:
                return
            ends = dict(ends)
            for v in inner:  # deleted ones pass on what they have, as soon as all that they wait for is known
                if v not in kept and v not in ends and waits_for(v) <= done:
                    ends[v] = [ready(v, m, ends) + least[v, m] for m in p.memories]
            if len(done) == len(kept):
                best = value
                return
            for v in kept:
                if v in done or not waits_for(v) <= done:
                    continue
                for d in self.D:
                    if not self.may[v, d]:
                        continue
                    end = max(free[d], ready(v, p.mem[d], ends)) + p.p(v, d)
                    row = [end if m == p.mem[d] else NEVER for m in p.memories]
                    grow(done | {v}, {**free, d: end}, {**ends, v: row}, max(value, end + tail[v, p.mem[d], d]))

        source = {cut: [0 if m == p.mem[a] else NEVER for m in p.memories]} if cut >= 0 else {}
        grow(frozenset(), {d: 0 for d in self.D}, source, 0)
        return best


def well_formed(p, kind, lists):
    """Whether the lists are what docs/theory/bounds/certificates.md asks for."""
    n, devices, memories, uses = p.n, len(p.D), len(p.memories), sum(len(r) for r in p.reads)
    sizes = {"area_price": {"time_prices": devices, "byte_prices": memories},
             "largest_operator": {"operator": 1}, "critical_path": {"operator": 1}, "join": {"operator": 1, "window": 1},
             "unit_chain": {"byte_prices": memories},
             "side_cut": {"inside": memories, "time_prices": devices, "byte_prices": memories, "out": uses, "in": uses},
             "linear_relaxation": {"within_ns": 1, "edge_prices": uses, "tail_prices": n, "time_prices": devices,
                                   "byte_prices": memories, "from_prices": uses * memories, "to_prices": uses * memories},
             "destructive": {"rounds": 1, "free_rounds": 1, "window": 1}}.get(kind, {})
    if any(len(lists[name]) != size for name, size in sizes.items()):
        return False
    if "operator" in sizes and not 0 <= lists["operator"][0] < n:
        return False
    if kind in DEAR and any(not 0 <= x <= DEAR[kind] for name in lists if "price" in name and (name in sizes or kind == "destructive")
                            for x in lists[name]):
        return False
    if kind == "side_cut" and not (all(x in (0, 1) for x in lists["inside"]) and all(0 <= x <= 1 << 24 for x in lists["time_prices"])
                                   and all(0 <= x <= 1 << 58 for x in lists["out"] + lists["in"])):
        return False
    if kind in ("area_price", "linear_relaxation", "side_cut") and any(
            y and p.capacity[m] == NEVER for m, y in enumerate(lists["byte_prices"])):
        return False
    if kind == "packing":
        return bool(lists["operators"]) and all(0 <= v < n // p.copies for v in lists["operators"])
    if kind == "runs":
        return 1 <= len(lists["chain"]) <= n and all(0 <= v < n for v in lists["chain"])
    if kind == "linear_relaxation":
        return lists["within_ns"][0] >= 0
    if kind == "join":
        return 1 <= lists["window"][0] <= 256
    if kind == "destructive":
        i = lists["interval"]
        good = not i or (len(i) == 3 and 0 <= i[0] < i[1] and 0 <= i[2] < len(lists["prices"]) // devices)
        return good and 0 <= lists["rounds"][0] <= 16 and 0 <= lists["free_rounds"][0] <= 16 and 0 <= lists["window"][0] <= 256
    if kind == "cut_vertex":
        cuts, deleted, rests = lists["cuts"], lists["deleted"], lists["rests"]
        blocks, odd = divmod(len(rests), devices)
        behind = cuts[-1] + 1 if cuts and blocks == len(cuts) else n
        return (not odd and blocks in (len(cuts), len(cuts) + 1) and blocks > 0 and all(r >= 0 for r in rests) and
                all(0 <= v < n for v in cuts + deleted) and cuts == sorted(set(cuts) - set(deleted)) and
                all(v in deleted for v in range(behind, n)))
    return True


KINDS_OF_DUMP = ("proofs", "cuts", "packings", "chains")

NEEDED = {"area_price": ["time_prices", "byte_prices"], "largest_operator": ["operator"], "critical_path": ["operator"],
          "join": ["operator", "window"], "cut_vertex": ["deleted", "cuts", "rests"],
          "packing": ["operators"], "runs": ["chain"], "side_cut": ["inside", "time_prices", "byte_prices", "out", "in"], "unit_chain": ["chain", "byte_prices"],
          "linear_relaxation": ["within_ns", "edge_prices", "tail_prices", "time_prices", "byte_prices", "from_prices",
                                "to_prices"],
          "destructive": ["rounds", "free_rounds", "prices", "interval", "window"]}


def too_many_ways(p, kind, lists):
    """Whether to try all of them would take seconds."""
    ways = {"cut_vertex": (len(p.D), p.n, 1000), "packing": (len(p.memories), len(lists.get("operators", [])), 20000)}
    base, power, most = ways.get(kind, (1, 1, 1))
    return base ** power > most


def judge(j, proof):
    """(what situ says, what this judge says)"""
    kind = proof["kind"]
    lists = {name: [NEVER if x is None else x for x in proof["lists"][name]] for name in NEEDED[kind]}
    good = well_formed(j.p, kind, lists)
    if kind in ("area_price", "critical_path", "join"):
        lists["instant"] = proof["lists"].get("instant", [])
        good = good and (not lists["instant"] or (j.p.execution == "stream" and len(lists["instant"]) == 1 and
                                                  0 <= lists["instant"][0] < j.p.n))
    if kind == "unit_chain":
        lists["other_price"] = proof["lists"].get("other_price", [])
        good = good and all(0 <= v < j.p.n for v in lists["chain"]) and j.is_chain(**lists)
    if kind == "destructive":
        claim = NEVER if proof["claim_ns"] is None else proof["claim_ns"]
        proves = good and 0 < claim < NEVER and j.destructive(claim, **lists)
        return proof["verified"], bool(proves) or (good and claim <= 0)
    said = NEVER if proof["proved_ns"] is None else proof["proved_ns"]
    return said, getattr(j, kind)(**lists) if good else MALFORMED


def share_weights(p):
    """Where replicas hold shares, one of all devices of a class holds the least of an operator's weights."""
    classes = collections.Counter(device["class"] for device in p.devices)
    p.weight = [p.weight[v] // max(classes.values()) if p.execution == "pipeline" and in_shares(p, v) else p.weight[v]
                for v in range(p.n)]


def main():
    program, first, last = sys.argv[1], *(sys.argv[2:4] or ("1", "200"))  # 196: deleted operators in one group
    lines = []
    for what in KINDS_OF_DUMP:
        lines += subprocess.run([program, what, first, last], capture_output=True, text=True, check=True).stdout.splitlines()
    counts, failures = collections.Counter(), []
    for line in lines:
        dump = json.loads(line)
        p = Problem(dump["problem"])
        share_weights(p)
        j = Judge(p)
        for proof in dump["proofs"]:
            kind = proof["kind"]
            if kind not in NEEDED or too_many_ways(p, kind, proof["lists"]):
                continue
            said, found = judge(j, proof)
            counts[kind, "something" if found > 0 else "nothing"] += 1
            if said != found:
                number = lines.index(line) % (len(lines) // len(KINDS_OF_DUMP)) + int(first)
                failures.append(f"seed {number}, {p.execution}, {kind}: situ says {said}, this judge {found}; "
                                f"claim {proof['claim_ns']}, {proof['lists']}")
    print("\n".join(f[:300] for f in failures[:12]))
    print(f"{sum(counts.values())} proofs, {len(failures)} judged in two ways:", dict(counts))
    enough = all(counts[kind, "something"] > len(lines) // 30 for kind in NEEDED)
    return 1 if failures or not enough else 0


if __name__ == "__main__":
    sys.exit(main())
