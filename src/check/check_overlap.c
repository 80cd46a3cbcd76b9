/* The overlap rules of a stream: copies back occupy a host, or everything is sequential. Times of a plan are compared,
 * and sums of them saturate; there may be as many transfers as a file has rows, so numbers of what is busy are int64_t.
 */
#include "check/check_overlap.h"

#include <stdlib.h>

#include "base/checked.h"
#include "base/compare.h"
#include "base/fail.h"

/* ---- host-blocking ---- */

static bool has_host(const judge *j, int32_t memory) {
  for (int32_t d = 0; d < j->problem->n_devices; d++)
    if (j->platform->memory_of[d] == memory && j->platform->devices[d].is_host) return true;
  return false;
}

int32_t check_hosts_of(const judge *j, const situ_transfer *x) {
  if (x->link < 0 || x->link >= j->platform->n_links || x->finish_ns <= x->start_ns) return -1;
  int32_t from = j->platform->link_from[x->link], to = j->platform->link_to[x->link];
  return has_host(j, to) && !has_host(j, from) ? to : -1;
}

COMPARATOR(by_memory_and_start, check_back, UP(memory) UP(start_ns) UP(transfer))

/* Joins what is busy, which is sorted; operators have transfer -1 - v. */
static void join_segments(check_hosts *out, judge *j, const check_back *busy, int64_t n) {
  int64_t copy_ends = 0;
  for (int64_t i = 0; i < n; i++) {
    const check_back *x = &busy[i];
    check_segment *last = &out->segments[out->n_segments - 1];
    bool first = i == 0 || busy[i - 1].memory != x->memory;
    if (first) copy_ends = 0;
    if (!first && x->start_ns < (x->transfer >= 0 ? last->finish_ns : copy_ends))
      judge_note(j, "overlap", "at %lld ns a host works while a tensor is copied to its memory",
                 (long long)x->start_ns);
    if (x->transfer >= 0) copy_ends = max64(copy_ends, x->finish_ns);
    if (first || x->start_ns > last->finish_ns)
      out->segments[out->n_segments++] = (check_segment){x->memory, x->start_ns, x->finish_ns};
    else
      last->finish_ns = max64(last->finish_ns, x->finish_ns);
  }
}

situ_status check_hosts_find(check_hosts *out, judge *j, situ_error *error) {
  const situ_plan *plan = j->plan;
  int32_t n_operators = j->graph->n_operators;
  int64_t n = 0, max = (int64_t)n_operators + plan->n_transfers;
  check_back *busy = ARENA_NEW(j->scratch, check_back, max);
  *out = (check_hosts){.backs = ARENA_NEW(j->scratch, check_back, plan->n_transfers),
                       .segments = ARENA_NEW(j->scratch, check_segment, max + 1)};
  if (!busy || !out->backs || !out->segments++) return fail_no_memory(error); /* one in front that is never used */
  for (int32_t i = 0; i < plan->n_transfers; i++) {
    const situ_transfer *x = &plan->transfers[i];
    int32_t memory = check_hosts_of(j, x);
    if (memory >= 0) out->backs[out->n_backs++] = busy[n++] = (check_back){memory, i, x->start_ns, x->finish_ns};
  }
  for (int32_t v = 0; v < n_operators; v++) {
    int32_t d = plan->device[v];
    if (j->platform->devices[d].is_host && plan->finish_ns[v] > plan->start_ns[v])
      busy[n++] = (check_back){j->platform->memory_of[d], -1 - v, plan->start_ns[v], plan->finish_ns[v]};
  }
  if (n > 0) qsort(busy, (size_t)n, sizeof *busy, by_memory_and_start);
  if (out->n_backs > 0) qsort(out->backs, (size_t)out->n_backs, sizeof *out->backs, by_memory_and_start);
  join_segments(out, j, busy, n);
  return SITU_STATUS_OK;
}

/* How many copies back come before those to `memory` that start at `start_ns` or later. */
static int32_t backs_before(const check_hosts *h, int32_t memory, int64_t start_ns) {
  int32_t low = 0, high = h->n_backs;
  while (low < high) {
    int32_t middle = low + (high - low) / 2;
    const check_back *x = &h->backs[middle];
    if (x->memory != memory ? x->memory < memory : x->start_ns < start_ns)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

int64_t check_hosts_let_go(const check_hosts *h, const judge *j, int32_t d, int64_t ready_ns) {
  if (!j->platform->devices[d].is_host) return ready_ns;
  int32_t memory = j->platform->memory_of[d], k = backs_before(h, memory, ready_ns) - 1;
  return k >= 0 && h->backs[k].memory == memory ? max64(ready_ns, h->backs[k].finish_ns) : ready_ns;
}

bool check_hosts_are_busy(const check_hosts *h, int32_t memory, int64_t from_ns, int64_t to_ns) {
  if (from_ns >= to_ns) return true;
  int64_t low = 0, high = h->n_segments; /* the last segment that starts at from_ns or before */
  while (low < high) {
    int64_t middle = low + (high - low) / 2;
    const check_segment *x = &h->segments[middle];
    if (x->memory != memory ? x->memory < memory : x->start_ns <= from_ns)
      low = middle + 1;
    else
      high = middle;
  }
  return low > 0 && h->segments[low - 1].memory == memory && h->segments[low - 1].finish_ns >= to_ns;
}

static int32_t channel_of(const judge *j, const check_back *x) {
  return j->platform->links[j->plan->transfers[x->transfer].link].channel;
}

/* The highest channel of the copies from one number to another, in a tree of n leaves. */
static int32_t highest_channel(const int32_t *tree, int64_t n, int64_t from, int64_t to) {
  int32_t max = -1;
  for (from += n, to += n; from < to; from /= 2, to /= 2) {
    if (from & 1) {
      if (tree[from] > max) max = tree[from];
      from++;
    }
    if (to & 1) {
      to--;
      if (tree[to] > max) max = tree[to];
    }
  }
  return max;
}

situ_status check_hosts_turns(const check_hosts *h, judge *j, const int64_t *earliest_ns, situ_error *error) {
  int64_t n = 1; /* at most twice as many as backs, which are fewer than 2^31 */
  while (n < h->n_backs) n *= 2;
  int32_t *tree = ARENA_NEW(j->scratch, int32_t, 2 * n);
  if (!tree) return fail_no_memory(error);
  for (int64_t i = 0; i < n; i++) tree[n + i] = i < h->n_backs ? channel_of(j, &h->backs[i]) : -1;
  for (int64_t i = n - 1; i > 0; i--) tree[i] = tree[2 * i] > tree[2 * i + 1] ? tree[2 * i] : tree[2 * i + 1];
  for (int32_t i = 0; i < h->n_backs; i++) { /* against those that started while it waited */
    const check_back *x = &h->backs[i];
    int32_t max = highest_channel(tree, n, backs_before(h, x->memory, earliest_ns[x->transfer]),
                                  backs_before(h, x->memory, x->start_ns));
    if (max > channel_of(j, x))
      judge_note(j, "queue", "a copy on link %d waits for its host until %lld ns while one on a later channel runs",
                 (int)j->plan->transfers[x->transfer].link, (long long)x->start_ns);
  }
  return SITU_STATUS_OK;
}

/* ---- none ---- */

COMPARATOR(by_way, situ_transfer, UP(tensor) UP(to_memory) UP(start_ns) UP(link))

/* The hops of the sequential walk. */
typedef struct turns {
  int64_t n, max;
  situ_transfer *hop; /* [most], those of the plan at most: one more means that the plan lacks some */
  int32_t *sent;      /* [memory] the last tensor sent there */
  int64_t now_ns;
} turns;

static void send_in_turn(turns *s, const judge *j, int32_t t) {
  const situ_graph *g = j->graph;
  const situ_platform *q = j->platform;
  const situ_costs *c = j->problem->costs;
  int32_t home = q->memory_of[j->plan->device[g->producer[t]]];
  for (int64_t i = g->use_start[t]; i < g->use_start[t + 1]; i++) {
    int32_t to = q->memory_of[j->plan->device[g->use[i]]], pair = home * q->n_memories + to;
    if (to == home || s->sent[to] == t) continue;
    s->sent[to] = t;
    for (int32_t k = q->route_start[pair]; k < q->route_start[pair + 1]; k++) {
      int32_t link = q->route_link[k];
      int64_t end = sat_add(s->now_ns, c->transfer_ns[t][c->link_kind[link]]);
      if (s->n < s->max) s->hop[s->n] = (situ_transfer){t, link, to, s->now_ns, end};
      s->n += s->n <= s->max;
      s->now_ns = end;
    }
  }
}

situ_status check_one_at_a_time(judge *j, const int32_t *sequence, situ_error *error) {
  const situ_graph *g = j->graph;
  const situ_plan *plan = j->plan;
  turns s = {.max = plan->n_transfers,
             .hop = ARENA_NEW(j->scratch, situ_transfer, plan->n_transfers),
             .sent = ARENA_NEW(j->scratch, int32_t, j->platform->n_memories)};
  situ_transfer *said = ARENA_COPY(j->scratch, plan->transfers, situ_transfer, plan->n_transfers);
  if (!s.hop || !s.sent || !said) return fail_no_memory(error);
  for (int32_t m = 0; m < j->platform->n_memories; m++) s.sent[m] = -1;
  for (int32_t i = 0; i < g->n_operators; i++) {
    int32_t v = sequence[i];
    if (plan->start_ns[v] != s.now_ns)
      judge_note(j, plan->start_ns[v] < s.now_ns ? "overlap" : "idle",
                 "%s starts at %lld ns; without overlap it must start at %lld ns", g->name[v],
                 (long long)plan->start_ns[v], (long long)s.now_ns);
    s.now_ns = sat_add(s.now_ns, problem_time_ns(j->problem, v, plan->device[v]));
    for (int32_t t = g->out_start[v]; t < g->out_start[v + 1]; t++) send_in_turn(&s, j, t);
  }
  if (s.n != s.max) return SITU_STATUS_OK; /* some are missing, or too many: that is noted where arrivals are found */
  qsort(s.hop, (size_t)s.n, sizeof *s.hop, by_way);
  qsort(said, (size_t)s.n, sizeof *said, by_way);
  for (int64_t i = 0; i < s.n; i++)
    if (said[i].tensor == s.hop[i].tensor && said[i].start_ns != s.hop[i].start_ns)
      judge_note(j, said[i].start_ns < s.hop[i].start_ns ? "overlap" : "idle",
                 "a tensor of %s is on link %d from %lld ns on; without overlap it must start at %lld ns",
                 g->name[g->producer[said[i].tensor]], (int)said[i].link, (long long)said[i].start_ns,
                 (long long)s.hop[i].start_ns);
  return SITU_STATUS_OK;
}
