#include "view/pipeline_step.h"

#include "base/checked.h"
#include "base/contracts.h"
#include "platform/routes.h"
#include "view/chunks.h"
#include "view/contract.h"
#include "view/replicas.h"

/* A placement as a graph of parts; of several chunks on each device every chunk is one. */
typedef struct parts {
  const situ_problem *problem;
  const int32_t *device, *replica_of;
  int32_t n;
  const chunk_layout *layout; /* of chunks; NULL: none */
  int32_t *part_of;           /* [operator] */
  int32_t *leader;            /* [part] */
  int64_t *n_sharing;         /* [part] devices */
  int64_t *time_ns[2];        /* [phase][part] of one input on one of its devices */
  int64_t *late_ns; /* [part] of BACKWARD, by ZB-H1: gradients of weights, and updates, which wait for nothing else */
  int64_t *cross_ns[2]; /* [phase][part * n + part] of what passes along an edge of F, or back; -1: no edge */
  int32_t *order;       /* [part] from the end on */
  constraint_graph f;
} parts;

enum { FORWARD, BACKWARD };

static int64_t *cross(const parts *x, int phase, int32_t a, int32_t b) {
  return &x->cross_ns[phase][(int64_t)a * x->n + b];
}

static bool is_edge(const parts *x, int32_t a, int32_t b) { return *cross(x, FORWARD, a, b) >= 0; }

static int phase_of(const parts *x, int32_t v) {
  return x->problem->graph->phase[v] == SITU_PHASE_FORWARD ? FORWARD : BACKWARD;
}

static void add(int64_t *sum, int64_t time_ns) { *sum = sat_add(*sum, time_ns); }

/* What of a backward operator can wait by ZB-H1 and ZB-V: each gradient, of its weights and of each input, takes as
 * long. */
static int64_t late_part_ns(const situ_problem *p, int32_t v, int64_t time_ns) {
  const situ_graph *g = p->graph;
  if (!problem_delays(p) || g->phase[v] == SITU_PHASE_FORWARD || time_ns == SITU_NEVER_NS) return 0;
  if (g->phase[v] == SITU_PHASE_UPDATE) return time_ns;
  bool learns = p->given->weight_bytes[v] > 0;
  return learns ? time_ns / (1 + g->out_start[v + 1] - g->out_start[v]) : 0;
}

/* The part of each operator: that of its device, or its chunk. */
static bool number_parts(parts *x, arena *a) {
  const situ_problem *p = x->problem;
  const chunk_layout *l = x->layout;
  int32_t max = l ? l->n_used * p->chunks : p->n_devices, *part_of_device = ARENA_NEW(a, int32_t, p->n_devices);
  if (!part_of_device || !ARENA_ARRAYS(a, ARRAY(x->part_of, p->n_operators), ZEROS(x->leader, max),
                                       ARRAY(x->order, max), ARRAY(x->n_sharing, max), ZEROS(x->time_ns[0], max),
                                       ZEROS(x->time_ns[1], max), ZEROS(x->late_ns, max)))
    return false;
  for (int32_t k = 0; k < max; k++) x->n_sharing[k] = 1;
  for (int32_t k = 0; l && k < max; k++) x->leader[k] = l->used[chunk_rank(p, l->n_used, k)];
  for (int32_t d = 0; d < p->n_devices; d++) part_of_device[d] = -1;
  for (int32_t v = 0; v < p->n_operators; v++) {
    int32_t *part = &part_of_device[x->device[v]];
    if (!l && *part < 0) x->leader[ *part = x->n++] = x->device[v];
    x->part_of[v] = l ? l->chunk[l->classes.class_of[v]] : *part;
  }
  if (l) x->n = max;
  for (int32_t d = 0; x->replica_of && d < p->n_devices; d++)
    if (x->replica_of[d] >= 0 && part_of_device[x->replica_of[d]] >= 0)
      x->n_sharing[part_of_device[x->replica_of[d]]]++;
  return true;
}

static bool list_parts(parts *x, arena *a) {
  const situ_problem *p = x->problem;
  if (!number_parts(x, a)) return false;
  for (int32_t v = 0; v < p->n_operators; v++) {
    int64_t time_ns = problem_time_ns(p, v, x->device[v]);
    add(&x->time_ns[phase_of(x, v)][x->part_of[v]], time_ns);
    add(&x->late_ns[x->part_of[v]], late_part_ns(p, v, time_ns));
  }
  int64_t n_pairs = (int64_t)x->n * x->n;
  if (!ARENA_ARRAYS(a, ARRAY(x->cross_ns[0], n_pairs), ARRAY(x->cross_ns[1], n_pairs))) return false;
  for (int64_t i = 0; i < n_pairs; i++) x->cross_ns[0][i] = x->cross_ns[1][i] = -1;
  return true;
}

/* The slowest route of a tensor between the devices of two parts. */
static int64_t transfer_ns(const parts *x, int32_t t, int32_t a, int32_t b) {
  const situ_problem *p = x->problem;
  int64_t max = 0;
  for (int32_t d = 0; d < p->n_devices; d++) {
    bool from = d == x->leader[a] || (x->replica_of && x->replica_of[d] == x->leader[a]);
    for (int32_t e = 0; from && e < p->n_devices; e++)
      if (e == x->leader[b] || (x->replica_of && x->replica_of[e] == x->leader[b]))
        max = max64(max, problem_transfer_ns(p, t, d, e));
  }
  return max;
}

/* Tensor t passes from part a to part b: staged through the host it takes time of the parts at both ends, unless they
 * compute meanwhile; else of the edge between them. */
static void add_transfer(parts *x, int32_t t, int32_t a, int32_t b, bool leaves) {
  const situ_problem *p = x->problem;
  int phase = phase_of(x, p->graph->producer[t]);
  int32_t from = x->leader[a], to = x->leader[b], first = phase == FORWARD ? a : b, second = phase == FORWARD ? b : a;
  bool staged = p->communication == SITU_COMMUNICATION_HOST_STAGED;
  int64_t out_ns = staged && !problem_is_host(p, from) ? problem_transfer_ns(p, t, from, p->host) : 0;
  int64_t in_ns = staged && !problem_is_host(p, to) ? problem_transfer_ns(p, t, p->host, to) : 0;
  if (staged && !p->async_copies) {
    add(&x->time_ns[phase][b], in_ns);
    if (leaves) add(&x->time_ns[phase][a], out_ns);
  } else if (is_edge(x, first, second)) {
    add(cross(x, phase, first, second), staged ? sat_add(in_ns, out_ns) : transfer_ns(x, t, a, b));
  }
}

/* seen: [part] zeros. */
static void add_transfers(parts *x, int32_t *seen) {
  const situ_problem *p = x->problem;
  const situ_graph *g = p->graph;
  for (int32_t t = 0; t < g->n_tensors; t++) {
    int32_t from = x->device[g->producer[t]], a = x->part_of[g->producer[t]];
    bool leaves = true;
    for (int64_t i = g->use_start[t]; i < g->use_start[t + 1]; i++) {
      int32_t to = x->device[g->use[i]], b = x->part_of[g->use[i]];
      if (p->memory_of[to] == p->memory_of[from] || seen[b] == t + 1) continue;
      seen[b] = t + 1;
      add_transfer(x, t, a, b, leaves);
      leaves = false;
    }
  }
}

/* The time of the rings of a part whose transfers are not staged, for each round of inputs and for each step: the bytes
 * that each device passes on are under way at the same time, so the slowest route counts. */
static void find_rings(const parts *x, int32_t k, replicas_sync sync, int64_t *round_ns, int64_t *step_ns) {
  const situ_problem *p = x->problem;
  const situ_platform *f = p->platform;
  int32_t d = x->leader[k], last = d;
  for (int32_t e = 0; e <= p->n_devices; e++) {
    if (e < p->n_devices && x->replica_of[e] != d) continue;
    int32_t to = e < p->n_devices ? e : d;
    int64_t route = (int64_t)p->memory_of[last] * p->n_memories + p->memory_of[to], of_round = 0, of_step = 0;
    for (int32_t hop = f->route_start[route]; hop < f->route_start[route + 1]; hop++) {
      const situ_link *link = &p->costs->link[f->route_link[hop]];
      if (sync.round_bytes > 0) add(&of_round, link_time_ns(link->latency_ns, link->bytes_per_s, sync.round_bytes));
      if (sync.step_bytes > 0) add(&of_step, link_time_ns(link->latency_ns, link->bytes_per_s, sync.step_bytes));
    }
    *round_ns = max64(*round_ns, of_round);
    *step_ns = max64(*step_ns, of_step);
    last = to;
  }
}

/* The rings of each part that several devices run, and its updates: what loads contain of them where transfers are
 * staged; else rings of a round with each input, those of a step after the last one. */
static void add_rings(parts *x, int64_t *ring_ns) {
  const situ_problem *p = x->problem;
  *ring_ns = 0;
  for (int32_t k = 0; k < x->n; k++) {
    int32_t r = (int32_t)x->n_sharing[k], d = x->leader[k];
    int64_t weights = 0, in_ns = 0, out_ns = 0, step_ns = 0;
    for (int32_t v = 0; v < p->n_operators && r > 1; v++) {
      if (x->device[v] != d) continue;
      if (p->graph->phase[v] == SITU_PHASE_FORWARD) weights = sat_add(weights, p->given->weight_bytes[v]);
      if (p->graph->phase[v] == SITU_PHASE_UPDATE)
        add(&x->time_ns[BACKWARD][k], sat_mul(problem_time_ns(p, v, d), replicas_updates(p, r) - 1));
    }
    if (r == 1) continue;
    if (p->communication == SITU_COMMUNICATION_HOST_STAGED)
      replicas_staged_sync(p, d, r, weights, &in_ns, &out_ns);
    else
      find_rings(x, k, replicas_sync_of(p, weights, r), &in_ns, &step_ns);
    add(&x->time_ns[BACKWARD][k], sat_add(in_ns, out_ns));
    *ring_ns = max64(*ring_ns, step_ns);
  }
}

/* Orders the parts from the end on, all where the placement is contiguous; edges of F get 0. False without memory. */
static bool order_parts(parts *x, bool *contiguous, arena *a) {
  const constraint_graph *f = &x->f;
  int32_t n_done = 0, *n_after = ARENA_ZERO(a, int32_t, x->n);
  if (!n_after || !constraint_graph_find(&x->f, x->problem, a)) return false;
  for (int32_t v = 0; v < x->problem->n_operators; v++)
    for (int32_t i = f->start[v]; i < f->start[v + 1]; i++) {
      int32_t from = x->part_of[v], to = x->part_of[f->to[i]];
      if (from == to || is_edge(x, from, to)) continue;
      n_after[from]++;
      *cross(x, FORWARD, from, to) = *cross(x, BACKWARD, from, to) = 0;
    }
  for (int32_t k = 0; k < x->n; k++)
    if (n_after[k] == 0) x->order[n_done++] = k;
  for (int32_t i = 0; i < n_done; i++)
    for (int32_t k = 0; k < x->n; k++)
      if (is_edge(x, k, x->order[i]) && --n_after[k] == 0) x->order[n_done++] = k;
  *contiguous = n_done == x->n;
  return true;
}

/* The longest path of one input forward and back: to a part and from it; by GPipe to any part, then from any. */
static bool find_fill(const parts *x, int64_t *fill_ns, arena *a) {
  int64_t *there_ns, *back_ns, max_there_ns = 0, max_back_ns = 0;
  *fill_ns = 0;
  if (!ARENA_ARRAYS(a, ZEROS(there_ns, x->n), ZEROS(back_ns, x->n))) return false;
  for (int32_t i = x->n - 1; i >= 0; i--) { /* from the first part on */
    int32_t k = x->order[i];
    for (int32_t j = x->n - 1; j > i; j--) {
      int32_t before = x->order[j];
      if (!is_edge(x, before, k)) continue;
      there_ns[k] = max64(there_ns[k], sat_add(there_ns[before], *cross(x, FORWARD, before, k)));
      back_ns[k] = max64(back_ns[k], sat_add(back_ns[before], *cross(x, BACKWARD, before, k)));
    }
    add(&there_ns[k], x->time_ns[FORWARD][k]);
    add(&back_ns[k], x->time_ns[BACKWARD][k]);
    *fill_ns = max64(*fill_ns, sat_add(there_ns[k], back_ns[k]));
    max_there_ns = max64(max_there_ns, there_ns[k]);
    max_back_ns = max64(max_back_ns, back_ns[k]);
  }
  if (x->problem->schedule == SITU_SCHEDULE_GPIPE) *fill_ns = sat_add(max_there_ns, max_back_ns);
  return true;
}

/* ---- the interval: the greatest ratio of a cycle ----
 *
 * The forward pass of input i on a part (node 2k) comes after those of i on the parts before it, and after the backward
 * pass (node 2k + 1) of the input that its device gives up for it, as many before i as its devices keep; the backward
 * pass of input i comes after those of i on the parts after it, and after the last forward pass that its device makes
 * before it. Inputs pass at the interval `interval_ns` if no cycle of these takes longer than that for each input of
 * its span.
 */

/* How many inputs of many the devices of each part keep, all together. */
static bool find_kept(const parts *x, int64_t *kept, arena *a) {
  const situ_problem *p = x->problem;
  bool gpipe = p->schedule == SITU_SCHEDULE_GPIPE;
  int64_t *depth;
  int32_t *order, *first_on, *next_on, *n_sharing;
  if (!ARENA_ARRAYS(a, ARRAY(depth, p->n_devices), ARRAY(order, x->n), ARRAY(first_on, p->n_devices),
                    ARRAY(next_on, p->n_operators), ARRAY(n_sharing, p->n_devices)))
    return false;
  constraint_graph_list(first_on, next_on, x->device, p->n_operators, p->n_devices);
  for (int32_t i = 0; i < x->n; i++) {
    order[x->n - 1 - i] = x->leader[x->order[i]];
    n_sharing[x->leader[i]] = (int32_t)x->n_sharing[i];
  }
  constraint_graph_depths(depth, &x->f, x->device, order, x->n, first_on, next_on, n_sharing);
  for (int32_t k = 0; k < x->n; k++) {
    int64_t r = x->n_sharing[k];
    kept[k] = ((gpipe ? p->micro_batches : depth[x->leader[k]]) + r - 1) / r * r;
  }
  return true;
}

/* Raises the start of a node to what an edge demands; whether it was later. */
static bool raise_start(__int128 *start, int32_t from, int32_t to, int64_t time_ns, __int128 less) {
  __int128 earliest = start[from] + time_ns - less;
  if (earliest <= start[to]) return false;
  start[to] = earliest;
  return true;
}

/* Whether all can keep the interval: no cycle gains time. start: [2 * part]. */
static bool keeps_interval(const parts *x, const int64_t *kept, int64_t interval_ns, __int128 *start) {
  bool later = true;
  for (int32_t k = 0; k < 2 * x->n; k++) start[k] = 0;
  for (int32_t round = 0; round <= 2 * x->n && later; round++) {
    later = false;
    for (int32_t k = 0; k < x->n; k++) {
      int64_t r = x->n_sharing[k], there_ns = x->time_ns[FORWARD][k], back_ns = x->time_ns[BACKWARD][k];
      later |= raise_start(start, 2 * k, 2 * k + 1, there_ns, -(__int128)(kept[k] - r) * interval_ns);
      later |= raise_start(start, 2 * k + 1, 2 * k, back_ns, (__int128)kept[k] * interval_ns);
      for (int32_t to = 0; to < x->n; to++) {
        if (!is_edge(x, k, to)) continue;
        later |= raise_start(start, 2 * k, 2 * to, sat_add(there_ns, *cross(x, FORWARD, k, to)), 0);
        int64_t all_ns = sat_add(x->time_ns[BACKWARD][to], *cross(x, BACKWARD, k, to));
        later |= raise_start(start, 2 * to + 1, 2 * k + 1, all_ns, 0);
      }
    }
  }
  return !later;
}

/* The minimum interval from `period_ns` on that all can keep. */
static bool find_interval(const parts *x, const int64_t *kept, int64_t period_ns, int64_t fill_ns, int64_t *interval_ns,
                          arena *a) {
  __int128 *start = ARENA_NEW(a, __int128, 2 * (int64_t)x->n);
  if (!start) return false;
  int64_t low = max64(period_ns, 1) - 1,
          high = max64(period_ns, fill_ns); /* one input after the other: that can be kept */
  while (high - low > 1) {
    int64_t middle = low + (high - low) / 2;
    if (keeps_interval(x, kept, middle, start))
      high = middle;
    else
      low = middle;
  }
  *interval_ns = high;
  return true;
}

/* ---- a step, pass by pass ---- */

static const int64_t MAX_CELLS = (int64_t)1 << 22; /* longer steps are bounded by the interval */

typedef struct schedule {
  const parts *x;
  const int64_t *kept; /* [part] */
  int64_t n_inputs;
  int64_t *end_ns[2];               /* [phase][part * n_inputs + input] of the pass; -1: not yet */
  int64_t *came_ns[2];              /* [phase][edge * n_inputs + input] when the tensors of that edge have arrived */
  int32_t *edge;                    /* [part * n + part] its number, in the order of F */
  int32_t *first;                   /* [part] number of its first device below */
  int64_t *free_ns, *n_done;        /* [device of a part] since when it waits, and its passes so far */
  int64_t *n_back, *n_late;         /* of these, backward passes, and late parts of them that were made */
  int64_t n_waited_for, barrier_ns; /* GPipe: forward passes that are left, and the end of the last one */
} schedule;

static int64_t *cell(const schedule *s, int64_t *const *of, int phase, int64_t row, int64_t input) {
  return &of[phase][row * s->n_inputs + input];
}

/* False without memory; *fits: whether it is not too much. */
static bool schedule_init(schedule *s, const parts *x, const int64_t *kept, bool *fits, arena *a) {
  int64_t n_edges = 0, n_devices = 0, m = x->problem->micro_batches;
  *s = (schedule){.x = x, .kept = kept, .n_inputs = m};
  if (!ARENA_ARRAYS(a, ZEROS(s->edge, (int64_t)x->n * x->n), ZEROS(s->first, x->n))) return false;
  for (int32_t k = 0; k < x->n; k++) {
    s->first[k] = (int32_t)n_devices;
    n_devices += x->n_sharing[k];
    for (int32_t to = 0; to < x->n; to++)
      if (is_edge(x, k, to)) s->edge[(int64_t)k * x->n + to] = (int32_t)n_edges++;
  }
  *fits = (n_edges + x->n) * m <= MAX_CELLS;
  if (!*fits) return true;
  if (!ARENA_ARRAYS(a, ARRAY(s->end_ns[0], x->n * m), ARRAY(s->end_ns[1], x->n * m), ZEROS(s->came_ns[0], n_edges * m),
                    ZEROS(s->came_ns[1], n_edges * m), ZEROS(s->free_ns, n_devices), ZEROS(s->n_done, n_devices),
                    ZEROS(s->n_back, n_devices), ZEROS(s->n_late, n_devices)))
    return false;
  for (int64_t i = 0; i < x->n * m; i++) s->end_ns[0][i] = s->end_ns[1][i] = -1;
  s->n_waited_for = x->problem->schedule == SITU_SCHEDULE_GPIPE ? x->n * m : 0;
  return true;
}

/* The i-th pass of the j-th device of a part: it takes every r-th input, makes as many forward passes as it keeps
 * inputs, then one backward and one forward pass in turn, then what is left. False: there are no more. */
static bool pass_at(const schedule *s, int32_t part, int64_t j, int64_t i, int *phase, int64_t *input) {
  int64_t r = s->x->n_sharing[part], n = (s->n_inputs - j + r - 1) / r, kept = min64(s->kept[part] / r, n), own;
  if (i >= 2 * n) return false;
  bool steady = i >= kept && i < 2 * n - kept, even = (i - kept) % 2 == 0;
  *phase = i < kept || (steady && !even) ? FORWARD : BACKWARD;
  own = i < kept ? i : !steady ? i - n : even ? (i - kept) / 2 : kept + (i - kept) / 2;
  *input = own * r + j;
  return true;
}

static int64_t common_multiple(int64_t a, int64_t b) {
  int64_t x = a, y = b;
  while (y > 0) {
    int64_t rest = x % y;
    x = y;
    y = rest;
  }
  return a / x * b;
}

/* When all that a pass needs of other parts has come; -1: not yet. Between two devices tensors pass one by one. */
static int64_t arrival(const schedule *s, int phase, int32_t part, int64_t input) {
  const parts *x = s->x;
  int64_t latest = phase == FORWARD ? 0 : *cell(s, s->end_ns, FORWARD, part, input);
  for (int32_t o = 0; o < x->n && latest >= 0; o++) {
    int32_t from = phase == FORWARD ? o : part, to = phase == FORWARD ? part : o;
    if (!is_edge(x, from, to)) continue;
    int64_t made = *cell(s, s->end_ns, phase, o, input), every = common_multiple(x->n_sharing[from], x->n_sharing[to]);
    int64_t *came = cell(s, s->came_ns, phase, s->edge[(int64_t)from * x->n + to], input);
    if (made < 0) return -1;
    *came = sat_add(input >= every ? max64(made, came[-every]) : made, *cross(x, phase, from, to));
    latest = max64(latest, *came);
  }
  return latest;
}

/* By ZB-H1 a device makes the late part of a backward pass where it would wait anyway, or where its memory is full: an
 * input stays in it until then. */
static void make_late(schedule *s, int32_t part, int64_t at, int phase, int64_t begin_ns) {
  const parts *x = s->x;
  int64_t r = x->n_sharing[part], room = (x->problem->kept_inputs + r - 1) / r;
  while (s->n_late[at] < s->n_back[at]) {
    int64_t end_ns = sat_add(s->free_ns[at], x->late_ns[part]), n_there = s->n_done[at] - s->n_back[at];
    bool full = phase == FORWARD && n_there - s->n_late[at] >= room;
    if (!full && end_ns > begin_ns) return;
    s->free_ns[at] = end_ns;
    s->n_late[at]++;
  }
}

/* Makes all passes of a device that can be made now; how many. */
static int64_t advance(schedule *s, int32_t part, int64_t j) {
  const parts *x = s->x;
  int64_t at = s->first[part] + j, input, n = 0;
  for (int phase; pass_at(s, part, j, s->n_done[at], &phase, &input); n++) {
    if (phase == BACKWARD && s->n_waited_for > 0) return n;
    int64_t begin = arrival(s, phase, part, input);
    if (begin < 0) return n;
    if (x->problem->schedule == SITU_SCHEDULE_ZB_H1) make_late(s, part, at, phase, begin);
    begin = max64(max64(begin, s->free_ns[at]), phase == BACKWARD ? s->barrier_ns : 0);
    s->free_ns[at] = *cell(s, s->end_ns, phase, part, input) = sat_add(begin, x->time_ns[phase][part]);
    s->n_done[at]++;
    s->n_back[at] += phase == BACKWARD;
    if (s->n_waited_for == 0 || phase == BACKWARD) continue;
    s->barrier_ns = max64(s->barrier_ns, s->free_ns[at]);
    s->n_waited_for--;
  }
  return n;
}

/* The end of the last pass. */
static int64_t run_schedule(schedule *s) {
  const parts *x = s->x;
  int64_t end_ns = 0, n_left = 2 * x->n * s->n_inputs;
  for (int64_t moved = 1; moved > 0; n_left -= moved) {
    moved = 0;
    for (int32_t i = 0; i < x->n; i++)
      for (int64_t j = 0; j < x->n_sharing[x->order[i]]; j++) moved += advance(s, x->order[i], j);
  }
  ENSURE(n_left == 0); /* nothing waits for ever */
  for (int32_t k = 0; k < x->n; k++)
    for (int64_t j = 0; j < x->n_sharing[k]; j++) {
      int64_t at = s->first[k] + j,
              left = x->problem->schedule == SITU_SCHEDULE_ZB_H1 ? s->n_back[at] - s->n_late[at] : 0;
      end_ns = max64(end_ns, sat_add(s->free_ns[at], sat_mul(left, x->late_ns[k])));
    }
  return end_ns;
}

/* The time of all passes; of very many at most, by the interval: then every pass starts so long after the first as the
 * longest path to it takes at that interval. */
static bool find_passes(const parts *x, const int64_t *kept, int64_t interval_ns, int64_t fill_ns, int64_t *passes_ns,
                        arena *a) {
  schedule s;
  bool fits;
  if (!schedule_init(&s, x, kept, &fits, a)) return false;
  if (fits) {
    *passes_ns = run_schedule(&s);
    return true;
  }
  int64_t n_rounds = x->problem->micro_batches, deepest = 0;
  for (int32_t k = 0; k < x->n; k++) {
    int64_t r = x->n_sharing[k];
    n_rounds = max64(n_rounds, (x->problem->micro_batches + r - 1) / r * r);
    deepest = max64(deepest, kept[k]);
  }
  *passes_ns = sat_add(sat_mul(sat_add(n_rounds, deepest), interval_ns), fill_ns);
  return true;
}

/* Chunks: each device makes its passes in the order of the schedule. */
static int64_t run_chunks(schedule *s, chunk_pass *const *list, const int64_t *n_passes) {
  const parts *x = s->x;
  const chunk_layout *l = x->layout;
  int64_t end_ns = 0, n_left = 0;
  for (int32_t i = 0; i < l->n_used; i++) n_left += n_passes[i];
  for (int64_t moved = 1; moved > 0; n_left -= moved) {
    moved = 0;
    for (int32_t i = 0; i < l->n_used; i++)
      for (; s->n_done[i] < n_passes[i]; s->n_done[i]++, moved++) {
        chunk_pass pass = list[i][s->n_done[i]];
        int32_t part = chunk_of_rank(x->problem, l->n_used, i, pass.j), phase = pass.kind != CHUNK_FORWARD;
        bool late = pass.kind == CHUNK_WEIGHTS;
        int64_t begin = late ? 0 : arrival(s, phase, part, pass.input);
        if (begin < 0) break;
        begin = max64(begin, s->free_ns[i]);
        s->free_ns[i] = sat_add(begin, late ? x->late_ns[part] : x->time_ns[phase][part]);
        if (!late) *cell(s, s->end_ns, phase, part, pass.input) = s->free_ns[i];
      }
  }
  ENSURE(n_left == 0); /* nothing waits for ever */
  for (int32_t i = 0; i < l->n_used; i++) end_ns = max64(end_ns, s->free_ns[i]);
  return end_ns;
}

/* The time of all passes of chunks; of more than MAX_CELLS unknown. */
static bool find_chunk_passes(const parts *x, int64_t *passes_ns, arena *a) {
  const situ_problem *p = x->problem;
  const chunk_layout *l = x->layout;
  chunk_pass **list = ARENA_NEW(a, chunk_pass *, l->n_used);
  int64_t *n_passes = ARENA_NEW(a, int64_t, l->n_used);
  schedule s;
  bool fits;
  if (!list || !n_passes || !schedule_init(&s, x, NULL, &fits, a)) return false;
  *passes_ns = SITU_NEVER_NS;
  if (!fits) return true;
  for (int32_t i = 0; i < l->n_used; i++) {
    if (!(list[i] = ARENA_NEW(a, chunk_pass, chunk_passes_max(p, l->n_used, p->micro_batches)))) return false;
    n_passes[i] = chunk_passes(list[i], p, l->n_used, i, p->micro_batches);
  }
  *passes_ns = run_chunks(&s, list, n_passes);
  return true;
}

bool pipeline_step_find(pipeline_step *out, const situ_problem *p, const int32_t *device, const int32_t *replica_of,
                        int64_t period_ns, int64_t busiest_ns, arena *a) {
  REQUIRE(p->micro_batches > 0);
  parts x = {.problem = p, .device = device, .replica_of = replica_of};
  int64_t ring_ns, passes_ns, *kept;
  bool contiguous = true;
  chunk_layout layout;
  *out = (pipeline_step){.interval_ns = period_ns, .step_ns = SITU_NEVER_NS};
  if (p->chunks > 0) {
    if (!chunk_layout_find(&layout, p, a)) return false;
    if (!chunk_layout_take(&layout, device)) return true;
    x.layout = &layout;
  }
  int32_t *seen = ARENA_ZERO(a, int32_t, (int64_t)p->n_devices * max64(p->chunks, 1));
  if (!seen || !list_parts(&x, a) || !order_parts(&x, &contiguous, a) || !(kept = ARENA_NEW(a, int64_t, x.n)))
    return false;
  if (!contiguous) return true;
  add_transfers(&x, seen);
  add_rings(&x, &ring_ns);
  if (!find_fill(&x, &out->fill_ns, a) || (p->chunks == 0 && !find_kept(&x, kept, a))) return false;
  if (out->fill_ns >= SITU_NEVER_NS || period_ns >= SITU_NEVER_NS) return true;
  if (p->schedule != SITU_SCHEDULE_GPIPE && p->micro_batches > 1 && p->chunks == 0 &&
      !find_interval(&x, kept, period_ns, out->fill_ns, &out->interval_ns, a))
    return false;
  int64_t whole_ns = out->fill_ns; /* with what is late, which is then no longer part of backward passes */
  for (int32_t k = 0; k < x.n; k++) x.time_ns[BACKWARD][k] -= x.late_ns[k];
  if (!find_fill(&x, &out->fill_ns, a)) return false;
  if (p->chunks > 0 ? !find_chunk_passes(&x, &passes_ns, a)
                    : !find_passes(&x, kept, out->interval_ns, whole_ns, &passes_ns, a))
    return false;
  /* channels that several pairs of parts share are in the period only */
  out->step_ns = sat_add(max64(passes_ns, sat_mul(p->micro_batches, period_ns)), ring_ns);
  double busy_ns = (double)p->micro_batches * (double)busiest_ns;
  if (out->step_ns > 0 && busy_ns < (double)out->step_ns) out->bubble = 1 - busy_ns / (double)out->step_ns;
  return true;
}
