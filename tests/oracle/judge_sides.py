"""The part of judge_proofs.py that judges cuts between two sides, written from docs/theory/bounds/side_cut.md alone."""
import collections

from judge_plans import NEVER, up


class JudgeOfSides:
    def crossing(self, t, inside, time_prices, from_inside):
        """The least price of the way of a tensor through the host from one side to the other."""
        p, out, into = self.p, [], []
        for d in self.D:
            if p.devices[d]["unused"]:
                continue
            leaves, host = bool(inside[p.mem[d]]) == from_inside, p.mem[p.host]
            way = 0 if p.is_host[d] else p.c(t, p.mem[d], host) if leaves else p.c(t, host, p.mem[d])
            (out if leaves else into).append(way * time_prices[d])
        return min(out) + min(into) if out and into else 0

    def side_cut(self, inside, time_prices, byte_prices, out, **shares):
        p, into = self.p, shares["in"]
        if p.communication != "host-staged" or p.async_copies or p.replicate:
            return 0
        gives, use = collections.Counter(), 0
        of = {v: item for item in self.items for v in item}
        for t, maker in enumerate(p.prod):
            mine = range(use, use + len(p.use[t]))
            use += len(p.use[t])
            if sum(out[i] for i in mine) > self.crossing(t, inside, time_prices, True) or \
                    sum(into[i] for i in mine) > self.crossing(t, inside, time_prices, False):
                return 0
            for i, user in zip(mine, p.use[t]):
                gives[of[maker]] += out[i] - into[i]
                gives[of[user]] += into[i] - out[i]
        total = -sum(y * min(p.capacity[m], 1 << 56) for m, y in enumerate(byte_prices) if y)
        for item in self.items:
            costs = [(self.item_time(item, d) * time_prices[d] + gives[item] * bool(inside[p.mem[d]])) * 2**20 +
                     self.sure_bytes(item, []) * byte_prices[p.mem[d]]
                     for d in self.D if self.item_time(item, d) != NEVER]
            if not costs:
                return NEVER
            total += min(costs)
        if total <= 0:
            return 0
        return up(total, sum(time_prices) * 2**20) if sum(time_prices) else NEVER
