"""What memory visits prove, written from docs/theory/bounds/visits.md: a part of judge_proofs.py."""
from judge_plans import NEVER, footprint


class JudgeOfVisits:
    def together(self, u, v):
        return self.p.group[u] >= 0 and self.p.group[u] == self.p.group[v]

    def there(self, t, x, m, end):
        """When tensor t is in memory m for operator x; end: of its producer, by memory."""
        if self.together(self.p.prod[t], x):
            return end[m]
        return min(end[k] + self.p.c(t, k, m) for k in self.p.memories)

    def left(self, t, x, m, rest):
        """The least time from tensor t in memory m over operator x to the end; rest: what follows x, by memory."""
        if self.together(self.p.prod[t], x):
            return self.in_memory[x][m] + rest[m]
        return min(self.p.c(t, m, k) + self.in_memory[x][k] + rest[k] for k in self.p.memories)

    def follow_visits(self, chain, byte_prices, bypasses):
        """docs/theory/bounds/visits.md; all sums in units of 2^-32 ns."""
        p, M = self.p, self.p.memories
        self.in_memory = [[min([p.p(v, d) for d in self.D if p.mem[d] == m and self.may[v, d]], default=NEVER) for m in M]
                          for v in range(p.n)]
        place = {v: k for k, v in enumerate(chain)}
        last_before, first_behind = [-1] * p.n, [len(chain)] * p.n
        for v in range(p.n):
            last_before[v] = max([last_before[p.prod[t]] for t in p.reads[v]], default=-1)
            if v in place:
                if last_before[v] != place[v] - 1:
                    return 0
                last_before[v] = place[v]
        for v in reversed(range(p.n)):
            first_behind[v] = place.get(v, min([first_behind[w] for t in p.makes[v] for w in p.use[t]], default=len(chain)))

        def block(i, k):
            return [v for v in range(p.n) if v not in place and (last_before[v], first_behind[v]) == (i, k)]

        weight = {}  # of a group, with its first operator in the chain, or else the first in a block or beside a bypass
        listed = [(k, k + 1) for k in range(len(chain) - 1)] + bypasses
        for item in self.items:
            inside = [v for v in item if v in place] or [v for v in item if (last_before[v], first_behind[v]) in listed]
            if inside:
                weight[min(inside)] = sum(p.weight[v] for v in item)

        def limited(m):
            return p.capacity[m] != NEVER

        def part(i, k):
            """(least times from v_i in a to v_k in b, {memory: cost of staying there at each price})"""
            way, cost = {}, {}
            first, last, inner = chain[i], chain[k], block(i, k)
            for a in M:
                end = {first: [0 if m == a else NEVER for m in M]}
                for v in inner + [last]:
                    ready = [max([0] + [self.there(t, v, m, end[p.prod[t]]) for t in p.reads[v] if p.prod[t] in end]) for m in M]
                    end[v] = [NEVER if self.together(v, first) and m != a else ready[m] + self.in_memory[v][m] for m in M]
                rest = {last: [0 if m == a else NEVER for m in M]}
                for v in reversed(inner):
                    bound = self.together(v, first) or self.together(v, last)
                    rest[v] = [NEVER if bound and m != a else
                               max([0] + [self.left(t, x, m, rest[x]) for t in p.makes[v] for x in p.use[t] if x in rest]) for m in M]
                for b in M:
                    way[a, b] = end[last][b]
                off = {v: min([end[v][o] + rest[v][o] for o in M if o != a], default=NEVER) for v in inner if weight.get(v)}
                times = {max(way[a, a], x) for x in off.values()} | {way[a, a]}
                kept = {t: sum(weight[v] for v in off if max(off[v], way[a, a]) > t) for t in times if t != NEVER}
                cost[a] = [min([(t << 32) + y * kept[t] for t in kept], default=NEVER) for y in byte_prices]
            return way, cost

        def needs(v, m):
            return footprint(p, v) if self.in_memory[v][m] > 0 else 0

        def as_time(sums):
            return max([0] + [-(-s // (1 << 32)) for s in sums])

        def end_of(s):
            over = s["kept"] + s["beside"] - p.capacity[s["m"]]
            return s["came"] + as_time([x + y * over for x, y in zip(s["sum"], byte_prices)])

        def visit(k, came, visits, way, cost):
            """(least ends of v_k, {(origin, memory)}; the visits that go on)"""
            v, on = chain[k], []
            now = {at: NEVER if limited(at[1]) else time for at, time in came.items()}
            for s in visits:
                s = {**s, "kept": s["kept"] + weight.get(v, 0), "beside": max(s["beside"], needs(v, s["m"]))}
                if way[s["m"], s["m"]] == NEVER or s["kept"] + s["beside"] > p.capacity[s["m"]]:
                    continue
                s["sum"] = [x + c for x, c in zip(s["sum"], cost[s["m"]])]
                if end_of(s) < came[s["origin"], s["m"]]:
                    on.append(s)
            for (o, m), time in came.items():
                if limited(m) and time != NEVER and weight.get(v, 0) + needs(v, m) <= p.capacity[m]:
                    on.append({"m": m, "origin": o, "since": k, "came": time, "kept": weight.get(v, 0),
                               "beside": needs(v, m), "sum": [0] * len(byte_prices)})
            for s in on:
                now[s["origin"], s["m"]] = min(now[s["origin"], s["m"]], end_of(s))
            return now, on

        head = {}
        for v in range(chain[0] + 1):
            head[v] = [max([0] + [self.there(t, v, m, head[p.prod[t]]) for t in p.reads[v]]) + self.in_memory[v][m] for m in M]
        tail = {}
        for v in reversed(range(p.n)):
            tail[v] = [max([0] + [self.left(t, x, m, tail[x]) for t in p.makes[v] for x in p.use[t]]) for m in M]
        now, visits = visit(0, {(None, m): head[chain[0]][m] for m in M}, [], {}, {})
        begin, since = {}, {}
        for k in range(len(chain)):
            if k > 0:
                way, cost = part(k - 1, k)
                came = {(o, m): min([now[o, a] + way[a, m] for a in M if a != m or not limited(m)], default=NEVER) for o, m in now}
                for m in since:
                    since[m] = [x + c for x, c in zip(since[m], cost[m])]
                now, visits = visit(k, came, visits, way, cost)
            for i, _ in [x for x in bypasses if x[1] == k]:
                way, cost = part(i, k)
                for s in visits:
                    if s["since"] <= i:  # both ends are in one memory: the greater of what the two ways cost
                        s["sum"] = [x + max(0, c - y) for x, c, y in zip(s["sum"], cost[s["m"]], since[s["m"]])]
                    else:
                        s["came"] = max(s["came"], begin[s["origin"]] + way[s["origin"], s["m"]] - as_time(s["sum"]))
                visits = [s for s in visits if way[s["origin"], s["m"]] != NEVER]
                fresh = {m: min([s for s in visits if s["m"] == m and s["since"] == k], key=lambda s: s["came"], default=None)
                         for m in M}
                visits = [s for s in visits if s["since"] < k and (not fresh[s["m"]] or end_of(s) < fresh[s["m"]]["came"])]
                visits = [{**s, "origin": None} for s in visits + [s for s in fresh.values() if s]]
                now = {(None, m): min([max(now[o, m], begin[o] + way[o, m]) for o in M] if not limited(m) else
                                      [end_of(s) for s in visits if s["m"] == m], default=NEVER) for m in M}
                since = {}
            if any(x[0] == k for x in bypasses):
                begin = {m: now[None, m] for m in M}
                now = {(o, m): begin[m] if o == m else NEVER for o in M for m in M}
                visits = [{**s, "origin": s["m"]} for s in visits]
                since = {m: [0] * len(byte_prices) for m in M}
        return min(now[None, m] + tail[chain[-1]][m] for m in M)

    def visits(self, chain, byte_prices, **ends):
        return self.follow_visits(chain, byte_prices, list(zip(ends["from"], ends["to"])))
