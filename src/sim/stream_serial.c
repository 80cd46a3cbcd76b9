#include "sim/stream.h"

#include "base/checked.h"
#include "base/contracts.h"

/* Logs the hops of a sending one after another, the first at *now. */
static void send_hops(stream *s, stream_sending *x, int64_t *now) {
  for (int32_t hop = x->hop; hop < x->end_hop; hop++) {
    stream_hop h = s->link.hop[hop];
    x->came_ns = *now;
    *now = sat_add(*now, s->problem->transfer_ns[x->tensor][h.kind]);
    if (x->left_ns < 0) x->left_ns = *now;
    if (s->link.hop_log)
      s->link.hop_log[s->link.n_hops] = (situ_transfer){x->tensor, h.link, x->to_memory, x->came_ns, *now};
    s->link.n_hops++;
  }
}

/* Sends tensor t of operator v, which ends at *now, to each other memory that has a user of it, in order of the first
 * users there. False where a user comes before v. */
static bool send_tensor(stream *s, int32_t t, int32_t v, int64_t *now) {
  const situ_graph *g = s->graph;
  int32_t home = s->problem->memory_of[s->device[v]], first = s->link.n_sendings;
  s->link.first_sending[t] = first;
  for (int64_t i = g->use_start[t]; i < g->use_start[t + 1]; i++) {
    int32_t w = g->use[i], to = s->problem->memory_of[s->device[w]];
    if (s->position[w] < s->position[v]) return false;
    if (to == home || s->link.slot[to] >= first) continue;
    const int32_t *route = s->platform->route_start + (int64_t)home * s->n_memories + to;
    stream_sending *x = &s->link.sending[s->link.slot[to] = s->link.n_sendings++];
    *x = (stream_sending){t, to, route[0], route[1], -1, -1, -1, -1};
    send_hops(s, x, now);
  }
  return true;
}

bool stream_run_serial(stream *s) {
  REQUIRE(s->problem->overlap == SITU_OVERLAP_NONE);
  const situ_graph *g = s->graph;
  int64_t now = 0;
  s->link.n_sendings = 0;
  s->link.n_hops = 0;
  for (int32_t m = 0; m < s->n_memories; m++) s->link.slot[m] = -1;
  for (int32_t i = 0; i < s->n_operators; i++) {
    int32_t v = s->order ? s->order[i] : i;
    s->stopped = s->tail_ns && s->tail_ns[v] >= s->limit_ns - now;
    if (s->stopped) return false;
    s->start_ns[v] = now;
    s->finish_ns[v] = now = sat_add(now, problem_time_ns(s->problem, v, s->device[v]));
    if (now == SITU_NEVER_NS) return false;
    for (int32_t t = g->out_start[v]; t < g->out_start[v + 1]; t++)
      if (!send_tensor(s, t, v, &now)) return false;
  }
  return true;
}
