#include "exact/recompute_chain.h"

#include <string.h>

#include "base/bit_rows.h"
#include "base/checked.h"
#include "stages/stage_choice.h"
#include "stages/stage_network.h"
#include "view/contract.h"
#include "view/footprint.h"

enum { MAX_ELEMENTS = 1024, MAX_STATES = 1 << 14, MAX_COLUMNS = 8 };

/* A tensor between elements: made in one, used in others. */
typedef struct crossing {
  int32_t tensor, from, first_use, n_uses; /* uses: in `used_in`, ascending, distinct */
} crossing;

/* The chain of elements, and of each what it takes without recomputation and what a choice changes. */
typedef struct layers {
  const situ_problem *none, *all;
  contraction classes;   /* of `all` */
  int32_t n, n_segments; /* n elements */
  int32_t *element_of;   /* [class] */
  bool *loose;           /* [element] several classes, between which stages may be cut, too */
  bool strict;           /* such elements stay whole, and all memory counts that some choice needs */
  int32_t n_columns, column_of[SITU_MAX_DEVICES], device_of[MAX_COLUMNS], devices[MAX_COLUMNS]; /* sorts of devices */
  int64_t *time_ns, *again_ns; /* [element * n_columns + column]; SITU_NEVER_NS; [segment * n_columns + column] */
  int64_t *weight_bytes, *stash_bytes, *foot_bytes; /* [element] stash of what no choice changes */
  int32_t *home;                                    /* [segment] its element; -1: nothing of it is recomputed */
  int64_t *kept_bytes[2];                           /* [segment] stash where it keeps, or computes again */
  int64_t *run_bytes;                               /* [segment] while it runs again */
  int32_t n_crossings, *used_in;
  crossing *cross;
} layers;

typedef struct cell {
  bool found;
  int32_t rest, column; /* the element at which the next stage begins, and the sort of this one's device */
} cell;

typedef struct program {
  const layers *x;
  budget *budget;
  stage_choice choice;
  int32_t *segment_at;                            /* [item] of the question in hand */
  int64_t *tops;                                  /* thresholds of memory for what runs */
  int32_t n_states, stride[MAX_COLUMNS], *n_used; /* [state] devices */
  cell *cells;                                    /* [element * n_states + state] */
  int8_t *known; /* [(i * (n + 1) + j) * n_columns + column] for the number of inputs in hand: 0, 1 yes, -1 no */
  int64_t max_ns;
  bool open; /* some stage counts as feasible that may not be */
} program;

/* ---- the elements ---- */

static bool is_alone(const situ_problem *p, int32_t d) {
  for (int32_t e = 0; e < p->n_devices; e++)
    if (e != d && p->memory_of[e] == p->memory_of[d]) return false;
  return true;
}

static bool are_alike(const situ_problem *p, int32_t a, int32_t b) {
  const situ_platform *f = p->platform;
  return p->class_of[a] == p->class_of[b] && problem_is_host(p, a) == problem_is_host(p, b) &&
         f->memory_bytes[p->memory_of[a]] == f->memory_bytes[p->memory_of[b]] &&
         p->device_kind[(int64_t)a * p->n_devices + p->host] == p->device_kind[(int64_t)b * p->n_devices + p->host] &&
         p->device_kind[(int64_t)p->host * p->n_devices + a] == p->device_kind[(int64_t)p->host * p->n_devices + b];
}

static const char *sort_devices(layers *x) {
  const situ_problem *p = x->all;
  for (int32_t d = 0; d < p->n_devices; d++) {
    x->column_of[d] = -1;
    if (p->unused[d]) continue;
    int64_t memory = p->platform->memory_bytes[p->memory_of[d]];
    if (!is_alone(p, d) || (memory > STAGE_MAX_BYTES && memory != SITU_UNLIMITED_BYTES))
      return "devices share a memory, or have too much";
    for (int32_t k = 0; k < x->n_columns && x->column_of[d] < 0; k++)
      if (are_alike(p, d, x->device_of[k])) x->column_of[d] = k;
    if (x->column_of[d] < 0) {
      if (x->n_columns == MAX_COLUMNS) return "there are too many sorts of devices";
      x->column_of[d] = x->n_columns;
      x->devices[x->n_columns] = 0;
      x->device_of[x->n_columns++] = d;
    }
    x->devices[x->column_of[d]]++;
  }
  return x->n_columns == 0 ? "there are no devices" : NULL;
}

/* Which classes are before or after each other one. False without memory. */
static bool find_comparable(const layers *x, const int32_t *order, bool *comparable, arena *a) {
  const constraint_graph *f = &x->classes.forward;
  int32_t n = x->classes.n_classes, *n_before = ARENA_ZERO(a, int32_t, n);
  bit_rows after; /* all that each leads to */
  if (!n_before || !bit_rows_make(&after, n, a)) return false;
  for (int32_t i = n - 1; i >= 0; i--) {
    int32_t own = order[i], n_after = 0;
    for (int32_t e = f->start[own]; e < f->start[own + 1]; e++) {
      bit_rows_add(&after, own, f->to[e]);
      bit_rows_join(&after, own, f->to[e]);
    }
    for (int32_t k = 0; k < n; k++) {
      n_after += bit_rows_has(&after, own, k);
      n_before[k] += bit_rows_has(&after, own, k);
    }
    comparable[own] = n_after == n - 1 - i;
  }
  for (int32_t i = 0; i < n; i++) comparable[order[i]] &= n_before[order[i]] == i;
  return true;
}

/* Numbers the elements along the chain: a class that every other one leads to or comes from, or all classes between two
 * of these. NULL, or why not; "" without memory. */
static const char *order_classes(layers *x, arena *a) {
  int32_t n = x->classes.n_classes, *order = ARENA_NEW(a, int32_t, n);
  bool *comparable = ARENA_ZERO(a, bool, n);
  if (!order || !comparable) return "";
  int32_t n_ordered = constraint_graph_order(order, &x->classes.forward, a);
  if (n_ordered < n) return n_ordered < 0 ? "" : "its parts are not in one order";
  if (!find_comparable(x, order, comparable, a)) return "";
  for (int32_t i = 0; i < n; i++) {
    if (i == 0 || comparable[order[i]] || comparable[order[i - 1]]) x->loose[x->n++] = !comparable[order[i]];
    x->element_of[order[i]] = x->n - 1;
  }
  return NULL;
}

static int32_t element(const layers *x, int32_t v) { return x->element_of[x->classes.class_of[v]]; }

static bool is_copy(const situ_graph *g, int32_t v) { return g->phase[v] == SITU_PHASE_RECOMPUTE; }

/* Both problems must differ in the copies alone: operators of one name have the same times and sizes, and the same of
 * them stay together. */
static const char *compare(const layers *x, const contraction *c, arena *a) {
  const situ_problem *p = x->none, *q = x->all;
  int32_t *same = ARENA_NEW(a, int32_t, c->n_classes), n = 0;
  if (!same) return "";
  for (int32_t k = 0; k < c->n_classes; k++) same[k] = -1;
  for (int32_t v = 0; v < q->n_operators; v++) n += !is_copy(q->graph, v);
  if (n != p->n_operators || c->n_classes != x->classes.n_classes || p->n_classes != q->n_classes)
    return "recomputation changes which operators stay together";
  for (int32_t v = 0; v < n; v++) {
    int32_t w = situ_graph_find(q->graph, p->graph->name[v]), *k = &same[c->class_of[v]];
    if (w < 0 || is_copy(q->graph, w) || p->graph->phase[v] != q->graph->phase[w] ||
        p->given->weight_bytes[v] != q->given->weight_bytes[w] ||
        footprint_transient_bytes(p->graph, v) != footprint_transient_bytes(q->graph, w))
      return "recomputation changes other operators";
    for (int32_t d = 0; d < p->n_devices; d++)
      if (!p->unused[d] && problem_time_ns(p, v, d) != problem_time_ns(q, w, d))
        return "recomputation changes the kernels of other operators";
    if (*k < 0) *k = x->classes.class_of[w];
    if (*k != x->classes.class_of[w]) return "recomputation changes which operators stay together";
  }
  return NULL;
}

static void add(int64_t *sum, int64_t n) { *sum = sat_add(*sum, n); }

static void add_time(int64_t *sum, int64_t ns) {
  *sum = *sum == SITU_NEVER_NS || ns == SITU_NEVER_NS ? SITU_NEVER_NS : sat_add(*sum, ns);
}

/* Whether a use by operator u keeps tensors of the forward pass. */
static bool keeps(const situ_graph *g, int32_t u) { return g->phase[u] != SITU_PHASE_FORWARD && !is_copy(g, u); }

static bool is_kept(const situ_graph *g, int32_t t) {
  bool kept = false;
  for (int64_t i = g->use_start[t]; i < g->use_start[t + 1]; i++) kept |= keeps(g, g->use[i]);
  return kept;
}

/* The tensors of operator v of `all`, which is w in `none`: kept whatever is chosen, only where its segment keeps, or
 * only where some copy reads them. */
static void add_stash(layers *x, int32_t v, int32_t w) {
  const situ_graph *g = x->all->graph, *h = x->none->graph;
  int32_t e = element(x, v), s = g->segment[v];
  for (int32_t t = g->out_start[v]; t < g->out_start[v + 1]; t++) {
    int32_t reader = -1;
    bool others = false, without = s >= 0 && is_kept(h, h->out_start[w] + t - g->out_start[v]);
    int64_t bytes = g->size_bytes[t];
    if (is_kept(g, t)) {
      add(&x->stash_bytes[e], bytes);
      continue;
    }
    if (without) add(&x->kept_bytes[0][s], bytes);
    for (int64_t i = g->use_start[t]; i < g->use_start[t + 1]; i++) {
      int32_t u = g->use[i];
      if (!is_copy(g, u)) continue;
      if (s < 0 && element(x, u) == e && (reader < 0 || reader == g->segment[u]))
        reader = g->segment[u];
      else
        others = true;
    }
    if (others && x->strict)
      add(without ? &x->kept_bytes[1][s] : &x->stash_bytes[e], bytes);
    else if (reader >= 0)
      add(&x->kept_bytes[1][reader], bytes);
  }
}

/* What operators take while they run: at home where nothing is recomputed, and where their segment is. */
static void add_running(layers *x, int32_t v) {
  const situ_graph *g = x->all->graph;
  int64_t foot = footprint_transient_bytes(g, v), again = graph_recomputed_bytes(g, v);
  int32_t e = element(x, v), s = is_copy(g, v) ? g->segment[v] : -1;
  if (!is_copy(g, v)) x->foot_bytes[e] = max64(x->foot_bytes[e], foot);
  for (int64_t i = g->in_start[v]; i < g->in_start[v + 1] && s < 0; i++)
    if (is_copy(g, g->producer[g->in[i]])) s = g->segment[g->producer[g->in[i]]];
  if (s >= 0) x->run_bytes[s] = max64(x->run_bytes[s], sat_add(foot, again));
}

/* Each segment in one element, and what is in one read by another only as a tensor of the forward pass. */
static const char *find_homes(layers *x) {
  const situ_graph *g = x->all->graph;
  for (int32_t s = 0; s < x->n_segments; s++) x->home[s] = -1;
  for (int32_t v = 0; v < g->n_operators; v++) {
    if (!is_copy(g, v)) continue;
    int32_t s = g->segment[v];
    if ((x->home[s] >= 0 && x->home[s] != element(x, v)) || x->loose[element(x, v)])
      return "a layer that is recomputed may be cut";
    x->home[s] = element(x, v);
    for (int32_t t = g->out_start[v]; t < g->out_start[v + 1]; t++)
      for (int64_t i = g->use_start[t]; i < g->use_start[t + 1]; i++)
        if (element(x, g->use[i]) != element(x, v)) return "what is recomputed goes to other layers";
  }
  return NULL;
}

static void measure(layers *x) {
  const situ_problem *p = x->all;
  const situ_graph *g = p->graph;
  for (int32_t v = 0; v < g->n_operators; v++) {
    int32_t e = element(x, v);
    add(&x->weight_bytes[e], p->given->weight_bytes[v]);
    for (int32_t c = 0; c < x->n_columns; c++) {
      int64_t ns = problem_time_ns(p, v, x->device_of[c]);
      add_time(is_copy(g, v) ? &x->again_ns[(int64_t)g->segment[v] * x->n_columns + c]
                             : &x->time_ns[(int64_t)e * x->n_columns + c],
               ns);
    }
    add_running(x, v);
    if (g->phase[v] == SITU_PHASE_FORWARD) add_stash(x, v, situ_graph_find(x->none->graph, g->name[v]));
  }
}

/* What goes from element to element; unless strict, not what may be on either side of a cut. */
static bool list_crossings(layers *x, arena *a) {
  const situ_graph *g = x->all->graph;
  int64_t n_uses = 0;
  x->used_in = ARENA_NEW(a, int32_t, g->n_uses);
  x->cross = ARENA_NEW(a, crossing, g->n_tensors);
  if (!x->used_in || !x->cross) return false;
  for (int32_t t = 0; t < g->n_tensors; t++) {
    if (!x->strict && x->loose[element(x, g->producer[t])]) continue;
    crossing c = {.tensor = t, .from = element(x, g->producer[t]), .first_use = (int32_t)n_uses};
    for (int64_t i = g->use_start[t]; i < g->use_start[t + 1]; i++) {
      int32_t e = element(x, g->use[i]);
      bool seen = e == c.from || (!x->strict && x->loose[e]);
      for (int32_t k = 0; k < c.n_uses; k++) seen |= x->used_in[c.first_use + k] == e;
      if (!seen) x->used_in[n_uses++] = e, c.n_uses++;
    }
    if (c.n_uses > 0) x->cross[x->n_crossings++] = c;
  }
  return true;
}

/* NULL, or why not; "" without memory. */
static const char *layers_make(layers *x, const situ_problem *none, const situ_problem *all, bool strict, arena *a) {
  contraction before;
  *x = (layers){.none = none, .all = all, .n_segments = all->given->n_segments, .strict = strict};
  if (all->conflict || none->conflict) return "no plan can exist";
  if (all->execution != SITU_EXECUTION_PIPELINE || !all->contiguous) return "it is no contiguous pipeline";
  if (all->replicate || all->n_phases != 1 || all->n_copies > 1 || all->schedule != SITU_SCHEDULE_1F1B)
    return "it may have replicas, or is not by 1F1B";
  for (int32_t v = 0; v < all->n_operators; v++)
    if (all->pin[v] >= 0) return "operators are pinned";
  if (!all->graph->segment) return "nothing is recomputed";
  if (problem_serial_ns(all, 1) >= STAGE_NEVER_NS) return "it may take longer than 13 days";
  const char *why = sort_devices(x);
  if (why) return why;
  if (!contract(&x->classes, all, true, a) || !contract(&before, none, true, a)) return "";
  int32_t n = x->classes.n_classes;
  if (n > MAX_ELEMENTS) return "there are too many places to cut it";
  int64_t each = (int64_t)n * x->n_columns, again = (int64_t)x->n_segments * x->n_columns;
  if (!ARENA_ARRAYS(a, ARRAY(x->element_of, n), ZEROS(x->loose, n), ZEROS(x->time_ns, each), ZEROS(x->again_ns, again),
                    ZEROS(x->weight_bytes, n), ZEROS(x->stash_bytes, n), ZEROS(x->foot_bytes, n),
                    ARRAY(x->home, x->n_segments), ZEROS(x->kept_bytes[0], x->n_segments),
                    ZEROS(x->kept_bytes[1], x->n_segments), ZEROS(x->run_bytes, x->n_segments)))
    return "";
  if ((why = order_classes(x, a)) || (why = compare(x, &before, a)) || (why = find_homes(x))) return why;
  measure(x);
  return list_crossings(x, a) ? NULL : "";
}

/* ---- one stage ---- */

static bool is_within(int32_t e, int32_t i, int32_t j) { return e >= i && e < j; }

/* What an accelerator of a column pays to take in and hand out the tensors of elements i .. j-1. */
static void find_transfers(const layers *x, int32_t c, int32_t i, int32_t j, int64_t *in_ns, int64_t *out_ns) {
  const situ_problem *p = x->all;
  int32_t d = x->device_of[c];
  *in_ns = *out_ns = 0;
  if (p->communication != SITU_COMMUNICATION_HOST_STAGED || problem_is_host(p, d)) return;
  for (int32_t k = 0; k < x->n_crossings; k++) {
    const crossing *t = &x->cross[k];
    bool inside = false, outside = false;
    for (int32_t u = 0; u < t->n_uses; u++)
      *(is_within(x->used_in[t->first_use + u], i, j) ? &inside : &outside) = true;
    if (is_within(t->from, i, j)) {
      if (outside) add(out_ns, problem_transfer_ns(p, t->tensor, d, p->host));
    } else if (inside) {
      add(in_ns, problem_transfer_ns(p, t->tensor, p->host, d));
    }
  }
}

/* The choices of the layers in elements i .. j-1, and in `tops` what may run in memory at most: what is not recomputed,
 * or some layer that is. How many of these. */
static int32_t list_choices(program *p, int32_t c, int32_t i, int32_t j, int64_t foot) {
  const layers *x = p->x;
  bool limited = x->all->platform->memory_bytes[x->all->memory_of[x->device_of[c]]] != SITU_UNLIMITED_BYTES;
  int32_t n = 0, n_tops = 1;
  p->tops[0] = foot;
  for (int32_t s = 0; s < x->n_segments; s++) {
    if (x->home[s] < 0 || !is_within(x->home[s], i, j)) continue;
    choice_variant *variant = &p->choice.variant[2 * n];
    variant[0] = (choice_variant){.kept_bytes = limited ? x->kept_bytes[0][s] : 0};
    variant[1] = (choice_variant){.time_ns = min64(x->again_ns[(int64_t)s * x->n_columns + c], STAGE_NEVER_NS),
                                  .kept_bytes = limited ? x->kept_bytes[1][s] : 0};
    p->choice.start[n] = 2 * n;
    p->segment_at[n++] = s;
    int64_t run = x->run_bytes[s];
    bool listed = run <= foot || !limited;
    for (int32_t k = 0; k < n_tops && !listed; k++) listed = p->tops[k] == run;
    if (!listed) p->tops[n_tops++] = run;
  }
  p->choice.n = n;
  p->choice.start[n] = 2 * n;
  return n_tops;
}

/* Whether some choice takes at most max_ns and the memory that is left, where at most `top` runs. */
static choice_answer ask(program *p, int64_t n_kept, int64_t max_ns, int64_t left_bytes, int64_t top) {
  if (left_bytes < 0) return CHOICE_NONE;
  for (int32_t k = 0; k < p->choice.n; k++) {
    bool fits = p->x->run_bytes[p->segment_at[k]] <= top;
    p->choice.variant[2 * k + 1].fixed_bytes = fits ? 0 : INT64_MAX;
  }
  return stage_choice_find(&p->choice, n_kept, max_ns, left_bytes);
}

/* Whether elements i .. j-1 fit on a device of a column with so many inputs within max_ns; the answer is in `choice`.
 */
static choice_answer stage_find(program *p, int32_t c, int32_t i, int32_t j, int64_t n_kept) {
  const layers *x = p->x;
  int64_t in_ns, out_ns, own_ns = 0, bytes = 0, foot = 0;
  int64_t memory = x->all->platform->memory_bytes[x->all->memory_of[x->device_of[c]]];
  for (int32_t e = i; e < j; e++) {
    add_time(&own_ns, x->time_ns[(int64_t)e * x->n_columns + c]);
    add(&bytes, sat_add(x->weight_bytes[e], sat_mul(n_kept, x->stash_bytes[e])));
    foot = max64(foot, x->foot_bytes[e]);
  }
  if (own_ns > p->max_ns) return CHOICE_NONE;
  find_transfers(x, c, i, j, &in_ns, &out_ns);
  if (x->all->async_copies && max64(in_ns, out_ns) > p->max_ns) return CHOICE_NONE;
  if (!x->all->async_copies) own_ns = sat_add(own_ns, sat_add(in_ns, out_ns));
  if (own_ns > p->max_ns) return CHOICE_NONE;
  choice_answer best = CHOICE_NONE;
  int32_t n_tops = list_choices(p, c, i, j, foot);
  for (int32_t k = 0; k < n_tops && best != CHOICE_FOUND; k++) {
    bool limited = memory != SITU_UNLIMITED_BYTES;
    int64_t left = limited ? memory - min64(sat_add(bytes, p->tops[k]), STAGE_MAX_BYTES + 1) : STAGE_MAX_BYTES;
    choice_answer answer = ask(p, n_kept, p->max_ns - own_ns, left, limited ? p->tops[k] : INT64_MAX);
    if (answer != CHOICE_NONE) best = answer;
  }
  return best;
}

/* ---- all stages: from the end on ---- */

static int64_t kept_inputs(const layers *x, int64_t depth) {
  const situ_problem *p = x->all;
  return problem_keeps_by_depth(p) ? min64(p->micro_batches, depth) : p->in_flight;
}

static int32_t used_of(const program *p, int32_t state, int32_t c) {
  return state / p->stride[c] % (p->x->devices[c] + 1);
}

static void put_before(program *p, int32_t rest, int32_t state) {
  const layers *x = p->x;
  int64_t n_kept = kept_inputs(x, p->n_used[state] + 1);
  for (int32_t c = 0; c < x->n_columns; c++) {
    if (used_of(p, state, c) == x->devices[c]) continue;
    int64_t work_ns = 0;
    for (int32_t i = rest - 1; i >= 0; i--) {
      cell *to = &p->cells[(int64_t)i * p->n_states + state + p->stride[c]];
      add_time(&work_ns, x->time_ns[(int64_t)i * x->n_columns + c]);
      if (work_ns > p->max_ns) break;
      if (to->found) continue;
      int8_t *known = &p->known[((int64_t)i * (x->n + 1) + rest) * x->n_columns + c];
      if (*known == 0) {
        choice_answer answer = stage_find(p, c, i, rest, n_kept);
        p->open |= answer == CHOICE_GAVE_UP;
        *known = answer == CHOICE_NONE ? -1 : 1;
        budget_spend(p->budget, 1);
      }
      if (*known > 0) *to = (cell){true, rest, c};
    }
  }
}

/* Whether all elements fit within max_ns; *state: on which devices, then. */
static bool can_run(program *p, int64_t max_ns, int32_t *state) {
  const layers *x = p->x;
  int64_t n_known = (int64_t)x->n * (x->n + 1) * x->n_columns;
  int32_t max_used = 0;
  memset(p->cells, 0, (size_t)(x->n + 1) * (size_t)p->n_states * sizeof *p->cells);
  p->max_ns = max_ns;
  p->open = false;
  p->cells[(int64_t)x->n * p->n_states].found = true;
  for (int32_t s = 0; s < p->n_states; s++) max_used = p->n_used[s] > max_used ? p->n_used[s] : max_used;
  for (int32_t used = 0; used < max_used; used++) { /* the inputs that the next device keeps follow from that */
    memset(p->known, 0, (size_t)n_known);
    for (int32_t s = 0; s < p->n_states; s++) {
      if (p->n_used[s] != used) continue;
      for (int32_t j = x->n; j > 0 && !p->budget->stop; j--) {
        if (!p->cells[(int64_t)j * p->n_states + s].found) continue;
        put_before(p, j, s);
        cell *cut = &p->cells[(int64_t)(j - 1) * p->n_states + s];
        if (!x->strict && x->loose[j - 1] && !cut->found) *cut = (cell){true, j, -1};
      }
    }
    for (int32_t s = 0; s < p->n_states; s++)
      if (p->cells[s].found) {
        *state = s;
        return true;
      }
  }
  return false;
}

/* The time of a stage with the choice at hand. */
static int64_t chosen_ns(const program *p, int32_t c, int32_t i, int32_t j) {
  const layers *x = p->x;
  int64_t in_ns, out_ns, ns = 0;
  find_transfers(x, c, i, j, &in_ns, &out_ns);
  for (int32_t e = i; e < j; e++) add_time(&ns, x->time_ns[(int64_t)e * x->n_columns + c]);
  for (int32_t k = 0; k < p->choice.n; k++) add(&ns, p->choice.variant[2 * k + p->choice.pick[k]].time_ns);
  return x->all->async_copies ? max64(ns, max64(in_ns, out_ns)) : sat_add(ns, sat_add(in_ns, out_ns));
}

/* The plan that can_run found. False where a stage counted as feasible without a choice. */
static bool take_plan(program *p, int32_t state, recompute_plan *out) {
  const layers *x = p->x;
  int32_t given[MAX_COLUMNS] = {0};
  int64_t value_ns = 0;
  for (int32_t s = 0; s < x->n_segments; s++) out->again[s] = false;
  for (int32_t i = 0, cut = -1; i < x->n;) {
    cell at = p->cells[(int64_t)i * p->n_states + state];
    if (at.column < 0) { /* goes to the stage after it */
      cut = i;
      i = at.rest;
      continue;
    }
    if (stage_find(p, at.column, i, at.rest, kept_inputs(x, p->n_used[state])) != CHOICE_FOUND) return false;
    for (int32_t k = 0; k < p->choice.n; k++) out->again[p->segment_at[k]] = p->choice.pick[k] == 1;
    value_ns = max64(value_ns, chosen_ns(p, at.column, i, at.rest));
    int32_t d = 0;
    for (int32_t n = 0; x->column_of[d] != at.column || n++ < given[at.column];) d++;
    given[at.column]++;
    for (int32_t v = 0; v < x->all->n_operators; v++)
      if (is_within(element(x, v), cut < 0 ? i : cut, at.rest)) out->device[v] = d;
    cut = -1;
    state -= p->stride[at.column];
    i = at.rest;
  }
  out->value_ns = value_ns;
  return true;
}

static bool program_make(program *p, const layers *x, budget *b, arena *a) {
  int64_t n_states = 1, n_variants = 2 * (int64_t)x->n_segments;
  *p = (program){.x = x, .budget = b};
  for (int32_t c = 0; c < x->n_columns; c++) {
    p->stride[c] = (int32_t)n_states;
    n_states *= x->devices[c] + 1;
    if (n_states > MAX_STATES) return true; /* none */
  }
  p->n_states = (int32_t)n_states;
  if (!stage_choice_make(&p->choice, x->n_segments, (int32_t)n_variants, a) ||
      !ARENA_ARRAYS(a, ARRAY(p->segment_at, x->n_segments), ARRAY(p->tops, x->n_segments + 1),
                    ZEROS(p->n_used, n_states), ARRAY(p->cells, (x->n + 1) * n_states),
                    ARRAY(p->known, (int64_t)x->n * (x->n + 1) * x->n_columns)))
    return false;
  for (int32_t s = 0; s < n_states; s++)
    for (int32_t c = 0; c < x->n_columns; c++) p->n_used[s] += used_of(p, s, c);
  return true;
}

/* Bisection: no plan is shorter than out->lower_ns. */
static void bisect(program *p, recompute_plan *out, recompute_plan *trial) {
  int64_t high = STAGE_NEVER_NS - 1;
  int32_t state;
  if (!can_run(p, high, &state)) {
    out->infeasible = !p->budget->stop;
    return;
  }
  for (int64_t max_ns;;) {
    if (!take_plan(p, state, trial)) return;
    recompute_plan old = *out;
    *out = *trial;
    out->lower_ns = old.lower_ns;
    *trial = old;
    bool found = false;
    while (!found) {
      if (out->lower_ns >= out->value_ns) return;
      max_ns = out->lower_ns + (out->value_ns - 1 - out->lower_ns) / 2;
      found = can_run(p, max_ns, &state);
      if (p->budget->stop) return;
      if (!found) out->lower_ns = max_ns + 1;
    }
  }
}

static bool plan_make(recompute_plan *plan, const layers *x, arena *a) {
  return ARENA_ARRAYS(a, ARRAY(plan->device, x->all->n_operators), ARRAY(plan->again, x->n_segments));
}

bool recompute_chain_solve(recompute_plan *out, const situ_problem *none, const situ_problem *all, bool strict,
                           budget *b, arena *a) {
  layers x;
  program p;
  recompute_plan trial = {0};
  *out = (recompute_plan){.value_ns = SITU_NEVER_NS};
  out->unfit = layers_make(&x, none, all, strict, a);
  if (out->unfit) return *out->unfit != '\0';
  if (!program_make(&p, &x, b, a) || !plan_make(out, &x, a) || !plan_make(&trial, &x, a)) return false;
  if (p.n_states == 0)
    out->unfit = "there are too many devices of several sorts";
  else
    bisect(&p, out, &trial);
  return true;
}
