#include "engine/cutting.h"

#include <math.h>

#include "base/checked.h"
#include "base/fail.h"
#include "engine/profile.h"
#include "split/plan_parts.h"

enum { CUTS = 4, DEVICES = 2, MAX_ROUNDS = 15, MIN_ROUNDS = 3 };
/* For successive inputs: inputs in flight, rounds, and inputs of a round, which takes about BUSY_NS. */
enum { COPIES = 4, BUSY_ROUNDS = 5, MIN_ITEMS = 4, MAX_ITEMS = 64, MAX_GAPS = 4096, BUSY_NS = 20000000 };
static const int32_t n_pieces[CUTS] = {2, 4, 7, 11};

/* ---- cuts ---- */

typedef struct cutting {
  measuring *m;
  executor *whole;
  const situ_graph *graph;
  const int32_t *kernel;
  int64_t *time_ns;
  arena *arena;
  model_parts *parts[CUTS];
  executor *executors[CUTS];
  int32_t n_cuts, n_gaps, max_gaps;
  int64_t *gap_ns; /* [max_gaps] of all cuts and rounds */
  int64_t whole_ns[MAX_ROUNDS];
  int64_t *alone_ns[CUTS]; /* [part * MAX_ROUNDS + round] */
} cutting;

/* Pieces of about equal time, alternating between two devices. */
static situ_status find_pieces(cutting *c, int32_t pieces, model_parts **out, situ_error *error) {
  const model_parts *w = c->whole->parts;
  const situ_graph *g = c->graph;
  int32_t *device, *op;
  int64_t sum_ns = 0, before_ns = 0;
  if (!ARENA_ARRAYS(c->arena, ARRAY(device, w->file->n_nodes), ARRAY(op, w->file->n_nodes)))
    return fail_no_memory(error);
  for (int32_t i = 0; i < w->file->n_nodes; i++) device[i] = op[i] = -1;
  for (int32_t v = 0; v < g->n_operators; v++) {
    if (plan_parts_folded(g, v)) continue;
    op[model_file_node(w->file, g->source_id[v])] = v;
    sum_ns = sat_add(sum_ns, c->time_ns[v]);
  }
  for (int32_t i = 0; i < w->file->n_nodes; i++) {
    int32_t node = w->order[i], v = op[node];
    if (v < 0) continue;
    double at = sum_ns > 0 ? ((double)before_ns + 0.5 * (double)c->time_ns[v]) / (double)sum_ns : 0;
    int32_t head = model_file_node(w->file, g->source_id[c->kernel[v]]);
    device[node] = c->kernel[v] == v || device[head] < 0 ? (int32_t)(at * pieces) % DEVICES : device[head];
    before_ns = sat_add(before_ns, c->time_ns[v]);
  }
  return model_parts_find(out, w->file, g, device, NULL, error);
}

static situ_status start_ways(cutting *c, situ_error *error) {
  executor_options o = c->m->executor;
  static const char *const names[DEVICES] = {"one half", "the other half"};
  o.names = names;
  o.profile = o.named = false;
  o.n_copies = COPIES;
  for (int k = 0; k < CUTS; k++) {
    situ_error own = {0};
    model_parts **parts = &c->parts[c->n_cuts];
    situ_status status = find_pieces(c, n_pieces[k], parts, &own);
    bool cut = status == SITU_STATUS_OK && (*parts)->n_parts > 1;
    if (cut) status = executor_start(&c->executors[c->n_cuts], *parts, &o, &own);
    if (status == SITU_STATUS_OK && cut) {
      c->max_gaps += MAX_ROUNDS * (*parts)->n_parts;
      c->n_cuts++;
      continue;
    }
    model_parts_free(*parts);
    *parts = NULL;
    if (status != SITU_STATUS_OK && status != SITU_STATUS_UNSUPPORTED)
      return fail_with(error, status, own.where, "%s", own.text);
  }
  return SITU_STATUS_OK;
}

/* ---- measuring ---- */

/* Runs one input by one cut. With `round` >= 0 it records the times of its parts, and the gaps before those that waited
 * for another device. */
static situ_status run_cut(cutting *c, int32_t cut, run_times *times, int32_t round, situ_error *error) {
  int64_t unused_ns;
  const executor *x = c->executors[cut];
  TRY(executor_latency(c->executors[cut], &unused_ns, times, error));
  for (int32_t k = 0; k < x->parts->n_parts && round >= 0; k++) {
    c->alone_ns[cut][k * MAX_ROUNDS + round] = times[k].finish_ns - times[k].start_ns;
    int32_t from = executor_awaited(x, times, k);
    if (from >= 0 && x->worker_of[from] != x->worker_of[k])
      c->gap_ns[c->n_gaps++] = times[k].start_ns - times[from].finish_ns;
  }
  return SITU_STATUS_OK;
}

/* Rounds in which the whole and all cuts run in turn, so that all see the same state of the machine; each twice, since
 * the first time the caches hold data of the others. */
static situ_status run_rounds(cutting *c, int32_t *n_rounds, situ_error *error) {
  measuring *m = c->m;
  int32_t max = 1;
  for (int32_t k = 0; k < c->n_cuts; k++) {
    max = c->parts[k]->n_parts > max ? c->parts[k]->n_parts : max;
    if (!(c->alone_ns[k] = ARENA_NEW(c->arena, int64_t, (int64_t)c->parts[k]->n_parts * MAX_ROUNDS)))
      return fail_no_memory(error);
  }
  run_times *times;
  if (!ARENA_ARRAYS(c->arena, ARRAY(times, max), ARRAY(c->gap_ns, c->max_gaps))) return fail_no_memory(error);
  m->phase = "cut into parts";
  m->total = m->options.warm_up + (m->options.items < MAX_ROUNDS ? m->options.items : MAX_ROUNDS);
  *n_rounds = 0;
  for (m->done = 0; m->done < m->total; m->done++) {
    run_times whole = {0};
    int64_t unused_ns;
    bool counts = m->done >= m->options.warm_up;
    for (int again = 0; again < 2; again++) TRY(executor_latency(c->whole, &unused_ns, &whole, error));
    for (int32_t k = 0; k < c->n_cuts; k++) {
      TRY(run_cut(c, k, times, -1, error));
      TRY(run_cut(c, k, times, counts ? *n_rounds : -1, error));
    }
    if (counts) c->whole_ns[*n_rounds] = whole.finish_ns - whole.start_ns;
    *n_rounds += counts;
    if (*n_rounds >= MIN_ROUNDS && measure_is_late(m)) break;
  }
  return SITU_STATUS_OK;
}

/* ---- times of operators ---- */

/* The times of the parts of an executor for successive inputs: medians of some rounds. */
static situ_status run_busy(const cutting *c, executor *x, int32_t n_items, int32_t round, int64_t *part_ns,
                            run_gaps *gaps, situ_error *error) {
  int64_t *finish_ns, *sum_ns;
  int32_t n = x->parts->n_parts;
  if (!ARENA_ARRAYS(c->arena, ARRAY(finish_ns, n_items), ZEROS(sum_ns, n))) return fail_no_memory(error);
  TRY(executor_pipeline(x, n_items, finish_ns, sum_ns, gaps, error));
  for (int32_t k = 0; k < n; k++) part_ns[k * BUSY_ROUNDS + round] = sum_ns[k] / n_items;
  return SITU_STATUS_OK;
}

/* Bounds on the time of the operators of each part. A cut only adds time: to one part at least nothing, and at most all
 * that it adds to the parts together. */
static situ_status find_bounds(cut_times *out, const cutting *c, const model_parts *p, int64_t *part_ns,
                               int64_t whole_ns, int64_t given_ns, situ_error *error) {
  int32_t n = c->graph->n_operators, *part_of;
  double sum_ns = 0;
  *out = (cut_times){.n_parts = p->n_parts};
  if (!ARENA_ARRAYS(c->arena, ARRAY(part_of, n), ARRAY(out->min_ns, p->n_parts), ARRAY(out->max_ns, p->n_parts)))
    return fail_no_memory(error);
  for (int32_t v = 0; v < n; v++) {
    int32_t node = model_file_node(p->file, c->graph->source_id[v]);
    part_of[v] = node >= 0 ? p->part_of[node] : -1;
  }
  for (int32_t k = 0; k < p->n_parts; k++)
    sum_ns += out->max_ns[k] = (double)median_of(part_ns + k * BUSY_ROUNDS, BUSY_ROUNDS, NULL);
  double scale = (double)given_ns / fmin((double)whole_ns, sum_ns), more_ns = fmax(0, sum_ns - (double)whole_ns);
  for (int32_t k = 0; k < p->n_parts; k++) {
    out->min_ns[k] = fmax(0, out->max_ns[k] - more_ns) * scale;
    out->max_ns[k] *= scale;
  }
  out->part_of = part_of;
  return SITU_STATUS_OK;
}

/* Corrects the times of operators by those of parts. Profiles count whole microseconds, cost time themselves, and omit
 * the time between kernels: the total time of a part is more exact, if both workers have cores of their own. The whole
 * and all cuts run in turn. */
static situ_status correct_times(cutting *c, int64_t *dispatch_ns, situ_error *error) {
  cut_times cuts[CUTS];
  run_gaps gaps = {.max = MAX_GAPS};
  int64_t *part_ns[CUTS], *whole_ns = ARENA_NEW(c->arena, int64_t, BUSY_ROUNDS), given_ns = 0;
  for (int32_t v = 0; v < c->graph->n_operators; v++) given_ns = sat_add(given_ns, c->time_ns[v]);
  bool apart = c->executors[0]->cores[0] >= 0;
  if (!whole_ns || given_ns == 0 || !apart) return whole_ns ? SITU_STATUS_OK : fail_no_memory(error);
  int32_t n_items = (int32_t)max64(MIN_ITEMS, min64(MAX_ITEMS, BUSY_NS / given_ns));
  for (int32_t k = 0; k < c->n_cuts; k++)
    if (!(part_ns[k] = ARENA_NEW(c->arena, int64_t, (int64_t)c->parts[k]->n_parts * BUSY_ROUNDS)))
      return fail_no_memory(error);
  if (!(gaps.ns = ARENA_NEW(c->arena, int64_t, gaps.max))) return fail_no_memory(error);
  for (int32_t round = 0; round < BUSY_ROUNDS; round++) {
    if (measure_is_late(c->m)) return SITU_STATUS_OK;
    TRY(run_busy(c, c->whole, n_items, round, whole_ns, NULL, error));
    for (int32_t k = 0; k < c->n_cuts; k++) TRY(run_busy(c, c->executors[k], n_items, round, part_ns[k], &gaps, error));
  }
  *dispatch_ns = median_of(gaps.ns, gaps.n, NULL);
  int64_t median_ns = median_of(whole_ns, BUSY_ROUNDS, NULL);
  for (int32_t k = 0; k < c->n_cuts; k++)
    TRY(find_bounds(&cuts[k], c, c->parts[k], part_ns[k], median_ns, given_ns, error));
  return part_costs_spread(c->time_ns, c->graph->n_operators, cuts, c->n_cuts, error);
}

/* ---- the costs of cuts ---- */

/* The excess time of one part, the median of all rounds: beyond the share of its operators in the whole of the same
 * round. */
static int64_t part_excess(const cutting *c, int32_t cut, int32_t part, double share, int32_t n_rounds) {
  int64_t more_ns[MAX_ROUNDS];
  for (int32_t i = 0; i < n_rounds; i++)
    more_ns[i] = c->alone_ns[cut][part * MAX_ROUNDS + i] - sat_round(share * (double)c->whole_ns[i]);
  return median_of(more_ns, n_rounds, NULL);
}

/* The minimum excess time of all parts of a cut over the whole, except for rounds that other work disturbed: the lower
 * quartile of the rounds less the interquartile range. */
static int64_t cut_excess(const cutting *c, int32_t cut, int32_t n_rounds) {
  int64_t more_ns[MAX_ROUNDS], half_ns;
  for (int32_t i = 0; i < n_rounds; i++) {
    more_ns[i] = -c->whole_ns[i];
    for (int32_t k = 0; k < c->parts[cut]->n_parts; k++) more_ns[i] += c->alone_ns[cut][k * MAX_ROUNDS + i];
  }
  median_of(more_ns, n_rounds, &half_ns);
  return more_ns[(n_rounds - 1) / 4] - 2 * half_ns; /* median_of has sorted them */
}

/* The rows of one cut: one for each part, with what it reads from and makes for others. */
static situ_status add_rows(cut_cost *rows, cut_cost *cut_row, const cutting *c, int32_t cut, int32_t n_rounds,
                            situ_error *error) {
  const model_parts *p = c->parts[cut];
  double *ops_ns = ARENA_ZERO(c->arena, double, p->n_parts), sum_ns = 0;
  if (!ops_ns) return fail_no_memory(error);
  for (int32_t v = 0; v < c->graph->n_operators; v++) {
    int32_t node = model_file_node(p->file, c->graph->source_id[v]), k = node >= 0 ? p->part_of[node] : -1;
    if (k >= 0) ops_ns[k] += (double)c->time_ns[v];
  }
  for (int32_t k = 0; k < p->n_parts; k++) sum_ns += ops_ns[k];
  for (int32_t k = 0; k < p->n_parts; k++) {
    double share = sum_ns > 0 ? ops_ns[k] / sum_ns : 0;
    rows[k].more_ns = (double)part_excess(c, cut, k, share, n_rounds);
    for (int32_t i = 0; i < p->parts[k].n_inputs; i++) {
      int32_t value = p->parts[k].inputs[i], from = p->value_part[value];
      if (from < 0) continue;
      double bytes = (double)c->executors[cut]->places[value].bytes;
      if (p->parts[from].device != p->parts[k].device) rows[k].n_more = 1;
      rows[k].bytes += 0.5 * bytes;
      rows[from].bytes += 0.5 * bytes;
      cut_row->bytes += bytes;
    }
  }
  for (int32_t k = 0; k < p->n_parts; k++) cut_row->n_more += rows[k].n_more;
  cut_row->min_ns = (double)cut_excess(c, cut, n_rounds);
  return SITU_STATUS_OK;
}

static situ_status sum_up(part_costs *out, cutting *c, int32_t n_rounds, situ_error *error) {
  cut_cost cuts[CUTS] = {0}, *rows;
  int32_t n_rows = 0, n = 0;
  for (int32_t k = 0; k < c->n_cuts; k++) n_rows += c->parts[k]->n_parts;
  if (!(rows = ARENA_ZERO(c->arena, cut_cost, n_rows))) return fail_no_memory(error);
  for (int32_t k = 0; k < c->n_cuts; k++) {
    TRY(add_rows(rows + n, &cuts[k], c, k, n_rounds, error));
    n += c->parts[k]->n_parts;
    out->n_cuts += c->parts[k]->n_parts - 1;
  }
  part_costs_fit(out, rows, n_rows, cuts, c->n_cuts);
  out->handover_ns = median_of(c->gap_ns, c->n_gaps, NULL);
  return SITU_STATUS_OK;
}

situ_status cutting_measure(part_costs *out, measuring *m, executor *whole, const situ_graph *graph,
                            const int32_t *kernel, int64_t *time_ns, situ_error *error) {
  cutting c = {.m = m, .whole = whole, .graph = graph, .kernel = kernel, .time_ns = time_ns, .arena = arena_new()};
  int32_t n_rounds = 0;
  *out = (part_costs){0};
  situ_status status = c.arena ? start_ways(&c, error) : fail_no_memory(error);
  /* With two workers of several threads on the same cores, idle threads of one spin on cores of the other. */
  bool spins = m->options.threads > 1 && c.n_cuts > 0 && c.executors[0]->cores[0] < 0;
  if (status == SITU_STATUS_OK && c.n_cuts > 0 && !spins) {
    status = run_rounds(&c, &n_rounds, error);
    if (status == SITU_STATUS_OK) status = correct_times(&c, &out->dispatch_ns, error);
    if (status == SITU_STATUS_OK) status = sum_up(out, &c, n_rounds, error);
  }
  for (int k = 0; k < CUTS; k++) {
    executor_stop(c.executors[k]);
    model_parts_free(c.parts[k]);
  }
  arena_free(c.arena);
  return status;
}
