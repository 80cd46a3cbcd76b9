/* One input on a machine: an event simulation by docs/model.md, "stream". */
#include <string.h>

#include "attack_model.h"

enum { MAX_SENDINGS = MAX_TENSORS * (MAX_DEVICES - 1), WAITING = 0, ON_THE_WAY, ARRIVED };

typedef struct sending {
  int32_t tensor, to, hop, n_hops;
  const int32_t *route;
  int32_t state;
  int64_t ready_ns, left_ns, came_ns, ends_ns; /* ready: for the current hop; came: start of the last hop */
} sending;

typedef struct run {
  const attack_facts *f;
  const attack_placement *at;
  attack_value *out;
  int64_t now;
  sending s[MAX_SENDINGS];
  int32_t n_sendings;
  int32_t queue[MAX_DEVICES][MAX_OPS], n_queue[MAX_DEVICES], next[MAX_DEVICES]; /* [device] its sequence */
  int32_t running[MAX_DEVICES];                                                 /* [device] operator or -1 */
  int32_t blocked[MAX_DEVICES];                                                 /* [device] copies that occupy it */
  int32_t serving[MAX_LINKS];                                                   /* [channel] sending or -1 */
  uint32_t done;
  uint32_t missing[MAX_OPS]; /* bits of the tensors that have not arrived */
} run;

static void arrive(run *r, int32_t t, int32_t memory) {
  for (int32_t v = 0; v < r->f->p->n; v++)
    if ((r->f->p->tensor[t].users >> v & 1) && r->f->memory_of[r->at->device[v]] == memory) r->missing[v] &= ~(1U << t);
}

static void finish_hop(run *r, sending *x) {
  if (x->hop == 0) x->left_ns = r->now;
  x->hop++;
  x->ready_ns = r->now;
  x->state = x->hop == x->n_hops ? ARRIVED : WAITING;
  if (x->state == ARRIVED) arrive(r, x->tensor, x->to);
}

static void add_sending(run *r, int32_t t, int32_t from, int32_t to) {
  sending *x = &r->s[r->n_sendings++];
  *x = (sending){.tensor = t, .to = to, .n_hops = r->f->n_hops[from][to], .route = r->f->route[from][to]};
  x->ready_ns = r->now;
}

static void finish_operator(run *r, int32_t v) {
  const attack_problem *p = r->f->p;
  int32_t d = r->at->device[v], home = r->f->memory_of[d];
  r->out->finish_ns[v] = r->now;
  r->running[d] = -1;
  r->next[d]++;
  r->done |= 1U << v;
  for (int32_t t = 0; t < p->n_tensors; t++) {
    if (p->tensor[t].from != v) continue;
    uint32_t sent = 1U << home;
    arrive(r, t, home);
    for (int32_t w = 0; w < p->n; w++) {
      int32_t to = r->f->memory_of[r->at->device[w]];
      if (!(p->tensor[t].users >> w & 1) || (sent >> to & 1)) continue;
      sent |= 1U << to;
      add_sending(r, t, home, to);
    }
  }
}

/* Starts the next operator of a device if it can start now; true if something ended at once. */
static bool start_device(run *r, int32_t d) {
  if (r->running[d] >= 0 || r->blocked[d] > 0 || r->next[d] >= r->n_queue[d]) return false;
  int32_t v = r->queue[d][r->next[d]];
  if (r->missing[v]) return false;
  r->running[d] = v;
  r->out->start_ns[v] = r->now;
  r->out->finish_ns[v] = r->now + facts_time(r->f, v, d);
  if (r->out->finish_ns[v] > r->now) return false;
  finish_operator(r, v);
  return true;
}

/* All that takes no time, and the start of operators. */
static void settle(run *r) {
  for (bool again = true; again;) {
    again = false;
    for (int32_t d = 0; d < r->f->p->n_devices; d++)
      while (start_device(r, d)) again = true;
    for (int32_t k = 0; k < r->n_sendings; k++) {
      sending *x = &r->s[k];
      while (x->state == WAITING && r->f->hop_ns[x->tensor][x->route[x->hop]] == 0) {
        x->came_ns = r->now;
        finish_hop(r, x);
        again = true;
      }
    }
  }
}

/* The hosts that a hop occupies: those of its end, if its beginning has none. */
static uint32_t hosts_of_hop(const run *r, const sending *x) {
  const situ_link *link = &r->f->p->link[x->route[x->hop]];
  if (r->f->p->overlap != SITU_OVERLAP_HOST_BLOCKING) return 0;
  if (r->f->hosts_of[r->f->memory_of[link->from_device]]) return 0;
  return r->f->hosts_of[r->f->memory_of[link->to_device]];
}

static void start_hop(run *r, sending *x) {
  x->state = ON_THE_WAY;
  x->came_ns = r->now;
  x->ends_ns = r->now + r->f->hop_ns[x->tensor][x->route[x->hop]];
  uint32_t hosts = hosts_of_hop(r, x);
  for (int32_t d = 0; d < r->f->p->n_devices; d++) r->blocked[d] += hosts >> d & 1;
}

static bool before(const sending *a, const sending *b) {
  if (a->ready_ns != b->ready_ns) return a->ready_ns < b->ready_ns;
  return a->tensor != b->tensor ? a->tensor < b->tensor : a->to < b->to;
}

/* Each idle channel takes the first of its queue, if that need not wait for a host. */
static void serve(run *r) {
  for (int32_t c = 0; c < r->f->n_channels; c++) {
    int32_t first = -1;
    for (int32_t k = 0; k < r->n_sendings; k++) {
      sending *x = &r->s[k];
      if (x->state != WAITING || r->f->channel_of[x->route[x->hop]] != c) continue;
      if (r->f->p->contention == SITU_CONTENTION_NONE)
        start_hop(r, x);
      else if (first < 0 || before(x, &r->s[first]))
        first = k;
    }
    if (first < 0 || r->serving[c] >= 0) continue;
    uint32_t hosts = hosts_of_hop(r, &r->s[first]);
    bool idle = true;
    for (int32_t d = 0; d < r->f->p->n_devices; d++)
      if ((hosts >> d & 1) && (r->running[d] >= 0 || r->blocked[d] > 0)) idle = false;
    if (!idle) continue;
    r->serving[c] = first;
    start_hop(r, &r->s[first]);
  }
}

/* Goes to the next instant at which something ends, and ends it; false if nothing is under way. */
static bool advance(run *r) {
  int64_t next = SITU_NEVER_NS;
  for (int32_t d = 0; d < r->f->p->n_devices; d++)
    if (r->running[d] >= 0 && r->out->finish_ns[r->running[d]] < next) next = r->out->finish_ns[r->running[d]];
  for (int32_t k = 0; k < r->n_sendings; k++)
    if (r->s[k].state == ON_THE_WAY && r->s[k].ends_ns < next) next = r->s[k].ends_ns;
  if (next == SITU_NEVER_NS) return false;
  r->now = next;
  for (int32_t k = 0, n = r->n_sendings; k < n; k++) {
    sending *x = &r->s[k];
    if (x->state != ON_THE_WAY || x->ends_ns != next) continue;
    uint32_t hosts = hosts_of_hop(r, x);
    for (int32_t d = 0; d < r->f->p->n_devices; d++) r->blocked[d] -= hosts >> d & 1;
    int32_t c = r->f->channel_of[x->route[x->hop]];
    if (r->serving[c] == k) r->serving[c] = -1;
    finish_hop(r, x);
  }
  for (int32_t d = 0; d < r->f->p->n_devices; d++)
    if (r->running[d] >= 0 && r->out->finish_ns[r->running[d]] == next) finish_operator(r, r->running[d]);
  return true;
}

/* Overlap none: one thing after the other, in the order of the plan. */
static void run_in_turn(run *r) {
  const attack_problem *p = r->f->p;
  for (int32_t i = 0; i < p->n; i++) {
    int32_t v = r->at->order[i], first = r->n_sendings;
    if (r->missing[v]) return;
    r->out->start_ns[v] = r->now;
    r->now += facts_time(r->f, v, r->at->device[v]);
    finish_operator(r, v); /* adds its sendings by tensor and lowest user */
    for (int32_t k = first; k < r->n_sendings; k++)
      while (r->s[k].state == WAITING) {
        r->s[k].came_ns = r->now;
        r->now += r->f->hop_ns[r->s[k].tensor][r->s[k].route[r->s[k].hop]];
        finish_hop(r, &r->s[k]);
      }
  }
}

/* ---- memory ---- */

typedef struct interval {
  int32_t memory;
  int64_t from_ns, to_ns, bytes;
} interval;

static int64_t last_use(const run *r, int32_t t, int32_t memory, int64_t least) {
  for (int32_t v = 0; v < r->f->p->n; v++)
    if ((r->f->p->tensor[t].users >> v & 1) && r->f->memory_of[r->at->device[v]] == memory &&
        r->out->finish_ns[v] > least)
      least = r->out->finish_ns[v];
  return least;
}

static int32_t list_intervals(const run *r, interval *list) {
  const attack_problem *p = r->f->p;
  int32_t n = 0;
  for (int32_t v = 0; v < p->n; v++)
    list[n++] = (interval){r->f->memory_of[r->at->device[v]], r->out->start_ns[v], r->out->finish_ns[v],
                           facts_workspace(r->f, v)};
  for (int32_t t = 0; t < p->n_tensors; t++) {
    int32_t v = p->tensor[t].from, m = r->f->memory_of[r->at->device[v]];
    int64_t until = last_use(r, t, m, r->out->finish_ns[v]);
    for (int32_t k = 0; k < r->n_sendings; k++)
      if (r->s[k].tensor == t && r->s[k].left_ns > until) until = r->s[k].left_ns;
    if (!p->tensor[t].users) until = SITU_NEVER_NS;
    list[n++] = (interval){m, r->out->start_ns[v], until, p->tensor[t].size_bytes};
  }
  for (int32_t k = 0; k < r->n_sendings; k++)
    list[n++] = (interval){r->s[k].to, r->s[k].came_ns, last_use(r, r->s[k].tensor, r->s[k].to, 0),
                           p->tensor[r->s[k].tensor].size_bytes};
  return n;
}

static void find_peaks(run *r) {
  const attack_problem *p = r->f->p;
  interval list[MAX_OPS + MAX_TENSORS + MAX_SENDINGS];
  int32_t n = list_intervals(r, list), each = p->n / p->copies;
  int64_t weights[MAX_DEVICES] = {0};
  for (int32_t v = 0; v < each; v++) {
    uint32_t held = 0; /* memories of the copies */
    for (int32_t k = 0; k < p->copies; k++) held |= 1U << r->f->memory_of[r->at->device[k * each + v]];
    for (int32_t m = 0; m < r->f->n_memories; m++)
      if (held >> m & 1) weights[m] += p->op[v].weight_bytes;
  }
  for (int32_t m = 0; m < r->f->n_memories; m++) r->out->peak_bytes[m] = weights[m];
  for (int32_t i = 0; i <= n; i++) { /* the sum changes where intervals begin; the end of the run counts too */
    int64_t at = i < n ? list[i].from_ns : r->out->latency_ns, sum[MAX_DEVICES];
    memcpy(sum, weights, sizeof sum);
    for (int32_t k = 0; k < n; k++)
      if (list[k].from_ns <= at && at < list[k].to_ns) sum[list[k].memory] += list[k].bytes;
    for (int32_t m = 0; m < r->f->n_memories; m++)
      if (sum[m] > r->out->peak_bytes[m]) r->out->peak_bytes[m] = sum[m];
  }
}

/* ---- values ---- */

/* Whether tensor t goes to memory `to`: another than that of its producer, with a user. */
static bool is_sent(const attack_facts *f, const attack_placement *at, int32_t t, int32_t to) {
  if (to == f->memory_of[at->device[f->p->tensor[t].from]]) return false;
  for (int32_t v = 0; v < f->p->n; v++)
    if ((f->p->tensor[t].users >> v & 1) && f->memory_of[at->device[v]] == to) return true;
  return false;
}

/* The sum of all times by the second costs. */
static int64_t other_latency_ns(const attack_facts *f, const attack_placement *at) {
  int64_t sum = 0;
  for (int32_t v = 0; v < f->p->n; v++) sum += f->p->op[v].other_ns[f->p->device[at->device[v]].class_index];
  for (int32_t t = 0; t < f->p->n_tensors; t++) {
    int32_t home = f->memory_of[at->device[f->p->tensor[t].from]];
    for (int32_t to = 0; to < f->n_memories; to++)
      if (is_sent(f, at, t, to)) sum += f->route_ns[t][home][to];
  }
  return sum;
}

int64_t stream_period_ns(const attack_facts *f, const attack_placement *at) {
  int64_t device[MAX_DEVICES] = {0}, channel[MAX_LINKS] = {0}, period = 0;
  for (int32_t v = 0; v < f->p->n; v++) device[at->device[v]] += facts_time(f, v, at->device[v]);
  for (int32_t t = 0; t < f->p->n_tensors; t++) {
    int32_t home = f->memory_of[at->device[f->p->tensor[t].from]];
    for (int32_t to = 0; to < f->n_memories; to++)
      for (int32_t k = 0; is_sent(f, at, t, to) && k < f->n_hops[home][to]; k++)
        channel[f->channel_of[f->route[home][to][k]]] += f->hop_ns[t][f->route[home][to][k]];
  }
  for (int32_t d = 0; d < f->p->n_devices; d++)
    if (device[d] > period) period = device[d];
  for (int32_t c = 0; c < f->n_channels; c++)
    if (channel[c] > period) period = channel[c];
  return period;
}

static void prepare(run *r, attack_value *out, const attack_facts *f, const attack_placement *at) {
  const attack_problem *p = f->p;
  r->f = f;
  r->at = at;
  r->out = out;
  r->now = 0;
  r->n_sendings = 0;
  r->done = 0;
  for (int32_t d = 0; d < p->n_devices; d++) {
    r->n_queue[d] = r->next[d] = r->blocked[d] = 0;
    r->running[d] = -1;
  }
  for (int32_t c = 0; c < f->n_channels; c++) r->serving[c] = -1;
  for (int32_t i = 0; i < p->n; i++) {
    int32_t v = at->order[i], d = at->device[v];
    r->queue[d][r->n_queue[d]++] = v;
    r->missing[i] = 0;
  }
  for (int32_t t = 0; t < p->n_tensors; t++)
    for (int32_t v = 0; v < p->n; v++)
      if (p->tensor[t].users >> v & 1) r->missing[v] |= 1U << t;
}

void stream_evaluate(attack_value *out, const attack_facts *f, const attack_placement *at, bool memory) {
  const attack_problem *p = f->p;
  run r;
  memset(out, 0, sizeof *out);
  out->value_ns = SITU_NEVER_NS;
  for (int32_t v = 0; v < p->n; v++) {
    int64_t time = facts_time(f, v, at->device[v]);
    if (time == SITU_NEVER_NS) return;
    out->load_ns[at->device[v]] += time;
  }
  prepare(&r, out, f, at);
  if (p->overlap == SITU_OVERLAP_NONE) {
    run_in_turn(&r);
  } else {
    do {
      settle(&r);
      serve(&r);
    } while (advance(&r));
  }
  out->runs = r.done == (1U << p->n) - 1;
  if (!out->runs) return;
  for (int32_t v = 0; v < p->n; v++)
    if (out->finish_ns[v] > out->latency_ns) out->latency_ns = out->finish_ns[v];
  out->fits = true;
  if (memory || f->limited) {
    find_peaks(&r);
    value_judge_memory(out, f);
  }
  out->period_ns = stream_period_ns(f, at);
  out->other_ns = p->max_other_ns > 0 ? other_latency_ns(f, at) : 0;
  out->keeps = (p->max_period_ns == 0 || out->period_ns <= p->max_period_ns) &&
               (p->max_latency_ns == 0 || out->latency_ns <= p->max_latency_ns) &&
               (p->max_other_ns == 0 || out->other_ns <= p->max_other_ns);
  out->value_ns = p->max_latency_ns > 0 ? out->period_ns : out->latency_ns;
}
