/* Lookahead: HEFT that considers, for each device, the effect on the children. An operator goes where the last of its
 * children would end first, with each child placed, in order of falling rank, where it ends first (Bittencourt,
 * Sakellariou, Madeira, "DAG scheduling using a lookahead variant of the heterogeneous earliest finish time algorithm",
 * PDP 2010, without change of the priority list). Producers of a child that are neither placed nor on trial are
 * ignored. docs/theory/heuristics/list_schedulers.md. */
#include "base/checked.h"
#include "base/fail.h"
#include "solve/stream/list.h"
#include "solve/stream/rank.h"

/* If there are more children, those of highest rank count. */
enum { MAX_CHILDREN = 32 };
static const int64_t MAX_WORK = (int64_t)1 << 27; /* transfers to children that are examined */

/* A child and its trial placement. */
typedef struct child {
  int32_t v, n;                 /* n candidates */
  int32_t first_edge, end_edge; /* its inputs from children before it */
  int32_t device;
  int64_t start_ns, finish_ns;
} child;

/* A tensor that a child reads from another. */
typedef struct child_edge {
  int32_t tensor, producer; /* producer: a child */
} child_edge;

/* The current operator: its candidates, and for each child and each candidate of it, when inputs arrive. */
typedef struct lookahead {
  const double *rank;
  child children[MAX_CHILDREN];
  int32_t n_children, n_own, n_devices;
  int32_t *own;        /* [device] candidates */
  int64_t *start_ns;   /* [device] starts there */
  int32_t *candidates; /* [child * devices] */
  child_edge *edges;
  int64_t *arrival_ns; /* [child * devices] from placed producers */
  int64_t *way_ns;     /* [(own * MAX_CHILDREN + child) * devices] from the current operator */
} lookahead;

/* Adds a child once, and keeps the list sorted by falling rank. */
static void add_child(lookahead *s, int32_t x) {
  for (int32_t i = 0; i < s->n_children; i++)
    if (s->children[i].v == x) return;
  int32_t at = s->n_children;
  if (at < MAX_CHILDREN) s->n_children++;
  for (; at > 0 && s->rank[s->children[at - 1].v] < s->rank[x]; at--)
    if (at < MAX_CHILDREN) s->children[at] = s->children[at - 1];
  if (at < MAX_CHILDREN) s->children[at] = (child){.v = x};
}

static void find_own(lookahead *s, partial_schedule *d, int32_t v) {
  s->n_own = partial_candidates(d, v);
  partial_arrive(d, v);
  for (int32_t i = 0; i < s->n_own; i++) {
    s->own[i] = d->candidates[i];
    s->start_ns[i] = partial_start(d, v, s->own[i], true);
  }
}

/* Finds the candidates of a child, and when its inputs arrive there. */
static void find_arrivals(lookahead *s, partial_schedule *d, int32_t v, int32_t c) {
  const situ_problem *p = d->problem;
  const situ_graph *g = p->graph;
  child *x = &s->children[c];
  int64_t first = (int64_t)c * s->n_devices;
  x->first_edge = x->end_edge = c > 0 ? x[-1].end_edge : 0;
  x->n = partial_candidates(d, x->v);
  for (int32_t k = 0; k < x->n; k++) {
    s->candidates[first + k] = d->candidates[k];
    s->arrival_ns[first + k] = 0;
    for (int32_t i = 0; i < s->n_own; i++) s->way_ns[((int64_t)i * MAX_CHILDREN + c) * s->n_devices + k] = 0;
  }
  for (int64_t e = g->in_start[x->v]; e < g->in_start[x->v + 1]; e++) {
    int32_t t = g->in[e], u = g->producer[t];
    for (int32_t j = 0; j < c && d->device[u] < 0; j++)
      if (s->children[j].v == u) s->edges[x->end_edge++] = (child_edge){t, j};
    for (int32_t k = 0; k < x->n && d->device[u] >= 0; k++)
      s->arrival_ns[first + k] =
          max64(s->arrival_ns[first + k],
                sat_add(d->finish_ns[u], problem_transfer_ns(p, t, d->device[u], d->candidates[k])));
    for (int32_t i = 0; i < s->n_own && u == v; i++) {
      int64_t *way = s->way_ns + ((int64_t)i * MAX_CHILDREN + c) * s->n_devices;
      for (int32_t k = 0; k < x->n; k++) way[k] = max64(way[k], problem_transfer_ns(p, t, s->own[i], d->candidates[k]));
    }
  }
}

static void find_children(lookahead *s, partial_schedule *d, int32_t v) {
  const situ_graph *g = d->problem->graph;
  s->n_children = 0;
  for (int32_t t = g->out_start[v]; t < g->out_start[v + 1]; t++)
    for (int64_t i = g->use_start[t]; i < g->use_start[t + 1]; i++) add_child(s, g->use[i]);
  for (int32_t c = 0; c < s->n_children; c++) find_arrivals(s, d, v, c);
}

/* The earliest start of child c on a device, in a gap that no child before it has taken. */
static int64_t start_of_child(const lookahead *s, const partial_schedule *d, int32_t c, int32_t device,
                              int64_t ready_ns) {
  int64_t time = problem_time_ns(d->problem, s->children[c].v, device);
  for (;;) {
    int64_t start = timeline_find(&d->pool, &d->lines[device], ready_ns, time);
    ready_ns = start;
    for (const child *x = s->children; x < s->children + c; x++)
      if (x->device == device && ready_ns < x->finish_ns && sat_add(ready_ns, time) > x->start_ns)
        ready_ns = x->finish_ns;
    if (ready_ns == start) return start;
  }
}

/* When the inputs of child c from children before it arrive on a device. */
static int64_t arrival_on_trial(const lookahead *s, const partial_schedule *d, int32_t c, int32_t device) {
  int64_t latest = 0;
  for (const child_edge *e = s->edges + s->children[c].first_edge; e < s->edges + s->children[c].end_edge; e++) {
    const child *u = &s->children[e->producer];
    if (u->device < 0) continue;
    latest = max64(latest, sat_add(u->finish_ns, problem_transfer_ns(d->problem, e->tensor, u->device, device)));
  }
  return latest;
}

/* When the last child would end with v on its i-th candidate; the end of v itself without children. */
static int64_t end_of_children(lookahead *s, const partial_schedule *d, int32_t v, int32_t i) {
  const situ_problem *p = d->problem;
  int32_t unit = d->units->of[v];
  int64_t finish = sat_add(s->start_ns[i], problem_time_ns(p, v, s->own[i])), last = finish;
  for (int32_t c = 0; c < s->n_children; c++) {
    child *x = &s->children[c];
    const int64_t *arrival = s->arrival_ns + (int64_t)c * s->n_devices;
    const int64_t *way = s->way_ns + ((int64_t)i * MAX_CHILDREN + c) * s->n_devices;
    x->device = -1;
    for (int32_t k = 0; k < x->n; k++) {
      int32_t e = s->candidates[(int64_t)c * s->n_devices + k];
      if (d->units->of[x->v] == unit && e != s->own[i]) continue;
      int64_t ready = max64(arrival_on_trial(s, d, c, e), max64(arrival[k], sat_add(finish, way[k])));
      int64_t start = start_of_child(s, d, c, e, ready);
      int64_t end = sat_add(start, problem_time_ns(p, x->v, e));
      if (x->device >= 0 && end >= x->finish_ns) continue;
      x->device = e;
      x->start_ns = start;
      x->finish_ns = end;
    }
    if (x->device >= 0) last = max64(last, x->finish_ns);
  }
  return last;
}

/* Chooses the device; ties go to the earlier end of v itself, then to the device listed first. */
static int32_t choose(void *context, partial_schedule *d, int32_t v) {
  lookahead *s = context;
  int32_t best = -1;
  int64_t best_key = 0, best_end = 0;
  find_own(s, d, v);
  find_children(s, d, v);
  for (int32_t i = 0; i < s->n_own; i++) {
    int64_t key = end_of_children(s, d, v, i), end = sat_add(s->start_ns[i], problem_time_ns(d->problem, v, s->own[i]));
    if (best >= 0 && (key > best_key || (key == best_key && end >= best_end))) continue;
    best = s->own[i];
    best_key = key;
    best_end = end;
  }
  return best;
}

static bool lookahead_init(lookahead *s, const situ_problem *p, const double *rank, arena *a) {
  int64_t cells = (int64_t)MAX_CHILDREN * p->n_devices;
  int64_t inputs = 0;
  for (int32_t v = 0; v < p->n_operators; v++)
    inputs = max64(inputs, p->graph->in_start[v + 1] - p->graph->in_start[v]);
  *s = (lookahead){.rank = rank, .n_devices = p->n_devices};
  return ARENA_ARRAYS(a, ARRAY(s->edges, MAX_CHILDREN * inputs), ARRAY(s->own, p->n_devices),
                      ARRAY(s->start_ns, p->n_devices), ARRAY(s->candidates, cells), ARRAY(s->arrival_ns, cells),
                      ARRAY(s->way_ns, cells * p->n_devices));
}

static situ_status lookahead_solve(solve_run *run) {
  const situ_problem *p = run->problem;
  double *rank = ARENA_NEW(run->arena, double, p->n_operators);
  rank_costs costs;
  partial_schedule d;
  lookahead *s = ARENA_NEW(run->arena, lookahead, 1);
  if (!rank || !s || !rank_costs_find(&costs, run->arena, p, RANK_MEAN) || !partial_init(&d, p, run->arena) ||
      !lookahead_init(s, p, rank, run->arena))
    return fail_no_memory(run->error);
  rank_upward(rank, p, &costs);
  list_policy policy = {.priority = rank, .choose = choose, .context = s};
  if (!list_schedule(&d, &policy, run->budget, run->arena)) return SITU_STATUS_OK;
  list_offer(run, &d);
  if (p->contention == SITU_CONTENTION_NONE || solve_done(run) || !partial_follow_links(&d, run->arena))
    return SITU_STATUS_OK;
  if (list_schedule(&d, &policy, run->budget, run->arena)) list_offer(run, &d);
  return SITU_STATUS_OK;
}

/* Whether the work is acceptable: each operator examines the inputs of its children, on each pair of its and their
 * devices. */
static bool lookahead_serves(const situ_problem *p) {
  const situ_graph *g = p->graph;
  int64_t n = p->n_devices, work = 0;
  for (int32_t v = 0; v < p->n_operators; v++) {
    int64_t inputs = g->in_start[v + 1] - g->in_start[v];
    work = sat_add(work, sat_mul(sat_mul(inputs, inputs), n * n));
  }
  return work <= MAX_WORK;
}

const solver lookahead_solver = {
    .name = "lookahead",
    .title = "HEFT with lookahead to the children",
    .source = "Bittencourt, Sakellariou, Madeira, PDP 2010",
    .models = MODEL_STREAM,
    .serves = lookahead_serves,
    .solve = lookahead_solve,
};
