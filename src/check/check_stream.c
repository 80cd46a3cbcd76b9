/* The judge of stream schedules: every operator and every hop must be at the time that the model determines. Only the
 * sequences of a schedule are free: whatever could start earlier must do so, and channels serve in order of readiness,
 * as the machine does. Times of a plan are what its file says, up to 2^63 - 1: they are compared, and sums saturate. */
#include <stdlib.h>

#include "base/checked.h"
#include "base/compare.h"
#include "base/fail.h"
#include "check/check_overlap.h"
#include "check/model_rules.h"

/* A hop as an interval on its channel. */
typedef struct interval {
  int32_t place; /* the channel */
  int32_t index; /* of the hop: by tensor, then destination */
  int64_t start_ns, finish_ns;
} interval;

/* A hop of the plan with its position on the route. */
typedef struct hop {
  situ_transfer said;
  int32_t position, number; /* on the route; among the transfers of the plan */
  int64_t ready_ns;
} hop;

COMPARATOR(by_place_and_time, interval, UP(place) UP(start_ns) UP(finish_ns) UP(index))

COMPARATOR(by_way, hop, UP(said.tensor) UP(said.to_memory) UP(position))

static const char *tensor_of(const judge *j, int32_t t) { return j->graph->name[j->graph->producer[t]]; }

static int32_t home_of(const judge *j, int32_t t) {
  return j->platform->memory_of[j->plan->device[j->graph->producer[t]]];
}

static const int32_t *route_of(const judge *j, int32_t t, int32_t to_memory) {
  return &j->platform->route_start[(int64_t)home_of(j, t) * j->platform->n_memories + to_memory];
}

static int64_t hop_time(const judge *j, int32_t t, int32_t link) {
  const situ_costs *c = j->problem->costs;
  return c->transfer_ns[t][c->link_kind[link]];
}

/* Copies the hops that are on the route of their transfer, in the order of routes; others are violations. */
static int32_t list_hops(judge *j, hop *hops) {
  const situ_platform *q = j->platform;
  int32_t n = 0;
  for (int32_t i = 0; i < j->plan->n_transfers; i++) {
    situ_transfer x = j->plan->transfers[i];
    if (x.tensor < 0 || x.tensor >= j->graph->n_tensors || x.to_memory < 0 || x.to_memory >= q->n_memories ||
        x.link < 0 || x.link >= q->n_links) {
      judge_note(j, "transfer", "transfer %d is of tensor %d over link %d to memory %d; one of them does not exist",
                 (int)i, (int)x.tensor, (int)x.link, (int)x.to_memory);
      continue;
    }
    const int32_t *route = route_of(j, x.tensor, x.to_memory);
    int32_t at = route[0];
    while (at < route[1] && q->route_link[at] != x.link) at++;
    if (at == route[1]) {
      judge_note(j, "transfer", "a tensor of %s goes over link %d, which is not on its route to memory %d",
                 tensor_of(j, x.tensor), (int)x.link, (int)x.to_memory);
      continue;
    }
    if (x.start_ns < 0 || x.finish_ns != sat_add(max64(x.start_ns, 0), hop_time(j, x.tensor, x.link)))
      judge_note(j, "duration", "a tensor of %s is on link %d from %lld to %lld ns; this hop takes %lld ns",
                 tensor_of(j, x.tensor), (int)x.link, (long long)x.start_ns, (long long)x.finish_ns,
                 (long long)hop_time(j, x.tensor, x.link));
    hops[n++] = (hop){x, at - route[0], i, 0};
  }
  qsort(hops, (size_t)n, sizeof *hops, by_way);
  return n;
}

/* Joins the hops into whole transfers: each hop of the route once, in sequence. */
static int32_t join_hops(judge *j, hop *hops, int32_t n_hops, check_copy *copies) {
  int32_t n = 0;
  for (int32_t i = 0, end; i < n_hops; i = end) {
    int32_t t = hops[i].said.tensor, to = hops[i].said.to_memory, position = 0;
    const int32_t *route = route_of(j, t, to);
    int64_t ready = j->plan->finish_ns[j->graph->producer[t]];
    bool whole = true;
    for (end = i; end < n_hops && hops[end].said.tensor == t && hops[end].said.to_memory == to; end++, position++) {
      const situ_transfer *x = &hops[end].said;
      whole = whole && hops[end].position == position;
      if (x->start_ns < ready)
        judge_note(j, "precedence", "a tensor of %s is on link %d from %lld ns on; it arrives there at %lld ns",
                   tensor_of(j, t), (int)x->link, (long long)x->start_ns, (long long)ready);
      hops[end].ready_ns = ready;
      ready = x->finish_ns;
    }
    if (!whole || position != route[1] - route[0])
      judge_note(j, "transfer", "a tensor of %s does not take each hop of its route to memory %d once", tensor_of(j, t),
                 (int)to);
    copies[n++] = (check_copy){t, to, hops[i].said.finish_ns, hops[end - 1].said.start_ns, ready};
  }
  return n;
}

/* Whether hop a has its turn before hop b on one channel. */
static bool has_turn_before(const hop *a, const hop *b) {
  if (a->ready_ns != b->ready_ns) return a->ready_ns < b->ready_ns;
  if (a->said.tensor != b->said.tensor) return a->said.tensor < b->said.tensor;
  return a->said.to_memory < b->said.to_memory;
}

/* Each hop starts at the moment it is ready and, with contention, has its turn; where it keeps hosts busy, when they
 * let it. hosts: NULL where copies keep none busy. */
static situ_status check_channels(judge *j, const hop *hops, int32_t n_hops, const check_hosts *hosts,
                                  situ_error *error) {
  interval *rows = ARENA_NEW(j->scratch, interval, n_hops);
  int64_t *earliest_ns = ARENA_ZERO(j->scratch, int64_t, j->plan->n_transfers);
  if (!rows || !earliest_ns) return fail_no_memory(error);
  bool contention = j->problem->contention == SITU_CONTENTION_LINK;
  int32_t n = 0;
  for (int32_t i = 0; i < n_hops; i++) {
    const situ_transfer *x = &hops[i].said;
    if (contention && hop_time(j, x->tensor, x->link) > 0)
      rows[n++] = (interval){j->platform->links[x->link].channel, i, x->start_ns, x->finish_ns};
    else if (x->start_ns > hops[i].ready_ns)
      judge_note(j, "idle", "a tensor of %s waits for link %d until %lld ns; it could start at %lld ns",
                 tensor_of(j, x->tensor), (int)x->link, (long long)x->start_ns, (long long)hops[i].ready_ns);
  }
  qsort(rows, (size_t)n, sizeof *rows, by_place_and_time);
  for (int32_t i = 0; i < n; i++) {
    const hop *x = &hops[rows[i].index];
    const interval *last = i > 0 && rows[i - 1].place == rows[i].place ? &rows[i - 1] : NULL;
    int64_t earliest = last ? max64(x->ready_ns, last->finish_ns) : x->ready_ns;
    if (last && rows[i].start_ns < last->finish_ns)
      judge_note(j, "overlap", "link %d serves tensors of %s and %s at once at %lld ns", (int)x->said.link,
                 tensor_of(j, hops[last->index].said.tensor), tensor_of(j, x->said.tensor),
                 (long long)rows[i].start_ns);
    int32_t back = hosts ? check_hosts_of(j, &x->said) : -1;
    earliest_ns[x->number] = earliest;
    if (rows[i].start_ns > earliest && !(back >= 0 && check_hosts_are_busy(hosts, back, earliest, rows[i].start_ns)))
      judge_note(j, "idle", "a tensor of %s waits for link %d until %lld ns; it could start at %lld ns",
                 tensor_of(j, x->said.tensor), (int)x->said.link, (long long)rows[i].start_ns, (long long)earliest);
    if (last && has_turn_before(x, &hops[last->index]))
      judge_note(j, "queue", "on link %d a tensor of %s goes before one of %s, which must go first", (int)x->said.link,
                 tensor_of(j, hops[last->index].said.tensor), tensor_of(j, x->said.tensor));
  }
  return hosts ? check_hosts_turns(hosts, j, earliest_ns, error) : SITU_STATUS_OK;
}

/* When the inputs of each operator are in its memory. Copies come by tensor. */
static situ_status find_arrivals(judge *j, const check_copy *copies, int32_t n_copies, int64_t *ready_ns,
                                 situ_error *error) {
  const situ_graph *g = j->graph;
  const situ_platform *q = j->platform;
  int64_t *there_ns = ARENA_NEW(j->scratch, int64_t, q->n_memories);
  int32_t *of_tensor = ARENA_NEW(j->scratch, int32_t, q->n_memories);
  bool *needed = ARENA_ZERO(j->scratch, bool, q->n_memories);
  if (!there_ns || !of_tensor || !needed) return fail_no_memory(error);
  for (int32_t m = 0; m < q->n_memories; m++) of_tensor[m] = -1;
  for (int32_t v = 0; v < g->n_operators; v++) ready_ns[v] = 0;
  int32_t next = 0;
  for (int32_t t = 0; t < g->n_tensors; t++) {
    int32_t first = next, home = home_of(j, t);
    for (; next < n_copies && copies[next].tensor == t; next++) {
      of_tensor[copies[next].to_memory] = t;
      there_ns[copies[next].to_memory] = copies[next].arrived_ns;
    }
    for (int64_t i = g->use_start[t]; i < g->use_start[t + 1]; i++) {
      int32_t w = g->use[i], m = q->memory_of[j->plan->device[w]];
      needed[m] = true;
      int64_t there = j->plan->finish_ns[g->producer[t]];
      if (m != home && of_tensor[m] != t)
        judge_note(j, "transfer", "a tensor of %s is not sent to %s, where %s uses it", tensor_of(j, t),
                   q->devices[j->plan->device[w]].name, g->name[w]);
      else if (m != home)
        there = there_ns[m];
      if (j->plan->start_ns[w] < there)
        judge_note(j, "precedence", "%s starts at %lld ns; its input from %s arrives at %lld ns", g->name[w],
                   (long long)j->plan->start_ns[w], tensor_of(j, t), (long long)there);
      ready_ns[w] = max64(ready_ns[w], there);
    }
    for (int32_t k = first; k < next; k++)
      if (!needed[copies[k].to_memory])
        judge_note(j, "transfer", "a tensor of %s is sent to memory %d, where no operator uses it", tensor_of(j, t),
                   (int)copies[k].to_memory);
    for (int64_t i = g->use_start[t]; i < g->use_start[t + 1]; i++)
      needed[q->memory_of[j->plan->device[g->use[i]]]] = false;
  }
  return SITU_STATUS_OK;
}

/* One operator at a time, each as early as its place in the sequence of its device allows. */
static situ_status check_devices(judge *j, const int64_t *ready_ns, const int32_t *sequence, const check_hosts *hosts,
                                 situ_error *error) {
  const situ_plan *plan = j->plan;
  int32_t n = j->graph->n_operators, n_devices = j->problem->n_devices,
          *last = ARENA_NEW(j->scratch, int32_t, n_devices);
  if (!last) return fail_no_memory(error);
  for (int32_t d = 0; d < n_devices; d++) last[d] = -1;
  for (int32_t i = 0; i < n; i++) {
    int32_t v = sequence[i], d = plan->device[v], u = last[d];
    int64_t free_ns = u < 0 ? 0 : plan->finish_ns[u], earliest = max64(ready_ns[v], free_ns);
    if (hosts) earliest = check_hosts_let_go(hosts, j, d, earliest);
    if (plan->start_ns[v] < free_ns)
      judge_note(j, "overlap", "%s runs %s until %lld ns and then %s, which starts at %lld ns",
                 j->platform->devices[d].name, j->graph->name[u], (long long)free_ns, j->graph->name[v],
                 (long long)plan->start_ns[v]);
    if (plan->start_ns[v] > earliest)
      judge_note(j, "idle", "%s starts at %lld ns; its device and its inputs are ready at %lld ns", j->graph->name[v],
                 (long long)plan->start_ns[v], (long long)earliest);
    last[d] = v;
  }
  return SITU_STATUS_OK;
}

/* When operators and hops start, by what may happen at the same time. */
static situ_status check_turns(judge *j, const hop *hops, int32_t n_hops, const check_copy *copies, int32_t n_copies,
                               const int32_t *sequence, situ_error *error) {
  int64_t *ready_ns = ARENA_NEW(j->scratch, int64_t, j->graph->n_operators);
  if (!ready_ns) return fail_no_memory(error);
  if (j->problem->overlap == SITU_OVERLAP_NONE) {
    TRY(find_arrivals(j, copies, n_copies, ready_ns, error));
    return check_one_at_a_time(j, sequence, error);
  }
  bool blocking = j->problem->overlap == SITU_OVERLAP_HOST_BLOCKING;
  check_hosts hosts;
  if (blocking) TRY(check_hosts_find(&hosts, j, error));
  TRY(check_channels(j, hops, n_hops, blocking ? &hosts : NULL, error));
  TRY(find_arrivals(j, copies, n_copies, ready_ns, error));
  return check_devices(j, ready_ns, sequence, blocking ? &hosts : NULL, error);
}

static int64_t check_durations(judge *j) {
  const situ_graph *g = j->graph;
  int64_t value = 0;
  for (int32_t v = 0; v < g->n_operators; v++) {
    int64_t time = judge_time_ns(j, v, j->plan->device[v]);
    int64_t start = j->plan->start_ns[v], finish = j->plan->finish_ns[v];
    if (start < 0 || finish != sat_add(max64(start, 0), time))
      judge_note(j, "duration", "%s runs from %lld to %lld ns; it takes %lld ns", g->name[v], (long long)start,
                 (long long)finish, (long long)time);
    value = max64(value, finish);
  }
  return value;
}

/* Positions in the order; index order if it is not a permutation. */
static void find_positions(judge *j, int32_t *position) {
  const int32_t *order = j->plan->order;
  int32_t n = j->graph->n_operators, at = 0;
  for (int32_t v = 0; v < n; v++) position[v] = -1;
  for (; order && at < n && order[at] >= 0 && order[at] < n && position[order[at]] < 0; at++) position[order[at]] = at;
  if (at == n) return;
  judge_note(j, "order", "entry %d of the order is missing, out of range or repeated", (int)at);
  for (int32_t v = 0; v < n; v++) position[v] = v;
}

/* The order lists every operator once, by start, and inputs first. */
static void check_order(judge *j, int32_t *position) {
  const situ_graph *g = j->graph;
  int64_t before = j->verdict->n_found;
  find_positions(j, position);
  if (j->verdict->n_found > before) return;
  for (int32_t i = 1; i < g->n_operators; i++) {
    int32_t v = j->plan->order[i], u = j->plan->order[i - 1];
    if (j->plan->start_ns[v] < j->plan->start_ns[u])
      judge_note(j, "order", "%s comes after %s but starts before it", g->name[v], g->name[u]);
  }
  for (int32_t v = 0; v < g->n_operators; v++)
    for (int64_t i = g->in_start[v]; i < g->in_start[v + 1]; i++)
      if (position[g->producer[g->in[i]]] > position[v])
        judge_note(j, "order", "%s comes before its input from %s", g->name[v], tensor_of(j, g->in[i]));
}

/* The limits on period and latency; *value_ns, the latency, becomes the value. */
static situ_status check_limits(judge *j, int64_t *value_ns, situ_error *error) {
  const situ_problem *p = j->problem;
  int64_t period_ns;
  TRY(check_period(j, &period_ns, error));
  if (j->plan->period_ns != period_ns || j->plan->latency_ns != *value_ns)
    judge_note(j, "value", "the plan states a latency of %lld ns and a period of %lld ns; they are %lld ns and %lld ns",
               (long long)j->plan->latency_ns, (long long)j->plan->period_ns, (long long)*value_ns,
               (long long)period_ns);
  if (period_ns > p->max_period_ns)
    judge_note(j, "period", "the plan has a period of %lld ns; at most %lld ns are allowed", (long long)period_ns,
               (long long)p->max_period_ns);
  if (*value_ns > p->max_latency_ns)
    judge_note(j, "latency", "the plan has a latency of %lld ns; at most %lld ns are allowed", (long long)*value_ns,
               (long long)p->max_latency_ns);
  if (p->objective == SITU_OBJECTIVE_THROUGHPUT) *value_ns = period_ns;
  return SITU_STATUS_OK;
}

/* The limit by secondary costs: one thing at a time, so all operators, and each tensor once to each other memory where
 * it is used. */
static situ_status check_other(judge *j, situ_error *error) {
  const situ_problem *p = j->problem;
  const situ_costs *c = p->secondary;
  const situ_graph *g = j->graph;
  int32_t n_memories = j->platform->n_memories, *sent = ARENA_NEW(j->scratch, int32_t, n_memories);
  int64_t sum = 0;
  if (!sent) return fail_no_memory(error);
  for (int32_t m = 0; m < n_memories; m++) sent[m] = -1;
  for (int32_t v = 0; v < g->n_operators; v++)
    sum = sat_add(sum, c->time_ns[(int64_t)v * c->n_classes + j->platform->class_of[j->plan->device[v]]]);
  for (int32_t t = 0; t < g->n_tensors; t++) {
    int32_t home = j->platform->memory_of[j->plan->device[g->producer[t]]];
    sent[home] = t;
    for (int64_t i = g->use_start[t]; i < g->use_start[t + 1]; i++) {
      int32_t to = j->platform->memory_of[j->plan->device[g->use[i]]];
      if (sent[to] == t) continue;
      sent[to] = t;
      sum = sat_add(sum, c->transfer_ns[t][c->pair_kind[(int64_t)home * n_memories + to]]);
    }
  }
  if (j->plan->secondary_ns != sum)
    judge_note(j, "value", "the plan states that the %s is %lld ns; it is %lld ns", p->secondary_name,
               (long long)j->plan->secondary_ns, (long long)sum);
  if (sum > p->max_secondary_ns)
    judge_note(j, "other", "the plan has a %s of %lld ns; at most %lld ns are allowed", p->secondary_name,
               (long long)sum, (long long)p->max_secondary_ns);
  return SITU_STATUS_OK;
}

static situ_status check(judge *j, situ_error *error) {
  const situ_problem *p = j->problem;
  if (!j->plan->start_ns || !j->plan->finish_ns) {
    judge_note(j, "schedule", "the plan does not state when its operators run");
    return SITU_STATUS_OK;
  }
  hop *hops;
  check_copy *copies;
  int64_t *load_ns, *peak_bytes;
  int32_t *position, *sequence;
  if (!ARENA_ARRAYS(j->scratch, ARRAY(hops, j->plan->n_transfers), ARRAY(copies, j->plan->n_transfers),
                    ZEROS(load_ns, p->n_devices), ZEROS(peak_bytes, p->n_memories), ARRAY(position, p->n_operators),
                    ARRAY(sequence, p->n_operators)))
    return fail_no_memory(error);
  int64_t value = check_durations(j);
  check_order(j, position);
  int32_t n_hops = list_hops(j, hops), n_copies = join_hops(j, hops, n_hops, copies);
  for (int32_t v = 0; v < p->n_operators; v++) sequence[position[v]] = v;
  TRY(check_turns(j, hops, n_hops, copies, n_copies, sequence, error));
  TRY(check_stream_memory(j, copies, n_copies, peak_bytes, error));
  if (problem_has_period(p)) TRY(check_limits(j, &value, error));
  if (p->secondary) TRY(check_other(j, error));
  judge_value(j, value);
  for (int32_t v = 0; v < p->n_operators; v++) {
    int32_t d = j->plan->device[v];
    load_ns[d] = sat_add(load_ns[d], judge_time_ns(j, v, d));
  }
  judge_uses(j, load_ns, peak_bytes);
  return SITU_STATUS_OK;
}

const model_rule stream_model_rule = {.execution = SITU_EXECUTION_STREAM, .check = check};
