#include "chain/chain.h"

#include <string.h>

#include "base/checked.h"
#include "base/contracts.h"
#include "base/csr.h"
#include "graph/topological.h"
#include "view/footprint.h"
#include "view/items.h"
#include "view/unit.h"

/* The minimum time of each operator, in ns; 0 where no device that plans may use runs it. NULL without memory. */
static double *min_times(const situ_problem *p, arena *a) {
  double *work;
  bool *used;
  if (!ARENA_ARRAYS(a, ARRAY(work, p->n_operators), ZEROS(used, p->n_classes))) return NULL;
  for (int32_t d = 0; d < p->n_devices; d++) used[p->class_of[d]] |= !p->unused[d];
  for (int32_t v = 0; v < p->n_operators; v++) {
    int64_t min = SITU_NEVER_NS;
    for (int32_t k = 0; k < p->n_classes; k++)
      if (used[k]) min = min64(min, p->time_ns[(int64_t)v * p->n_classes + k]);
    work[v] = min == SITU_NEVER_NS ? 0 : (double)min;
  }
  return work;
}

/* Marks the operators between the two ends of the longest path, by minimum times. */
static bool find_main(bool *main_part, const situ_problem *p, const double *work, arena *a) {
  const situ_graph *g = p->graph;
  int32_t n = g->n_operators, end = 0, *before = ARENA_NEW(a, int32_t, n);
  double *length = ARENA_NEW(a, double, n);
  bool *ahead = ARENA_ZERO(a, bool, n);
  if (!before || !length || !ahead) return false;
  for (int32_t v = 0; v < n; v++) {
    double max = 0;
    before[v] = -1;
    for (int64_t i = g->in_start[v]; i < g->in_start[v + 1]; i++) {
      int32_t u = g->producer[g->in[i]];
      if (before[v] >= 0 && length[u] <= max) continue;
      max = length[u];
      before[v] = u;
    }
    length[v] = max + work[v] + 1; /* operators without duration count a little */
    if (length[v] >= length[end]) end = v;
  }
  int32_t start = end;
  while (before[start] >= 0) start = before[start];
  for (int32_t v = 0; v < n; v++) {
    ahead[v] = v == start;
    for (int64_t i = g->in_start[v]; i < g->in_start[v + 1]; i++) ahead[v] |= ahead[g->producer[g->in[i]]];
  }
  for (int32_t v = n - 1; v >= 0; v--) { /* keeps those from which the end is reachable */
    main_part[v] = v == end;
    for (int32_t t = g->out_start[v]; t < g->out_start[v + 1]; t++)
      for (int64_t i = g->use_start[t]; i < g->use_start[t + 1]; i++) main_part[v] |= main_part[g->use[i]];
  }
  for (int32_t v = 0; v < n; v++) main_part[v] &= ahead[v];
  return true;
}

/* The lowest and the highest consumer of v in the main part; n and -1 where there is none. */
static void consumers(const situ_graph *g, const bool *main_part, int32_t v, int32_t *min, int32_t *max) {
  *min = g->n_operators;
  *max = -1;
  for (int32_t t = g->out_start[v]; t < g->out_start[v + 1]; t++)
    for (int64_t i = g->use_start[t]; i < g->use_start[t + 1]; i++) {
      int32_t w = g->use[i];
      if (!main_part[w]) continue;
      if (w < *min) *min = w;
      if (w > *max) *max = w;
    }
}

/* Finds the elements of the main part, with -1 for all else. Numbers are in topological order, so v is comparable to
 * all before it if each of them has a consumer up to v, and to all after it if each of them has a producer from v on.
 * Only v's tensors are used after v if nothing before v has a consumer there. */
static bool cut_main(int32_t *element, const situ_graph *g, const bool *main_part, arena *a) {
  int32_t n = g->n_operators, *min_from = ARENA_NEW(a, int32_t, (int64_t)n + 1), far = -1, k = 0;
  if (!min_from) return false;
  min_from[n] = n; /* min over w >= v of the highest producer of w */
  int32_t first = 0;
  while (first < n && !main_part[first]) first++;
  for (int32_t v = n - 1; v >= 0; v--) {
    int32_t max = -1;
    for (int64_t i = g->in_start[v]; i < g->in_start[v + 1]; i++)
      if (main_part[g->producer[g->in[i]]] && g->producer[g->in[i]] > max) max = g->producer[g->in[i]];
    bool counts = main_part[v] && v != first;
    min_from[v] = counts && max < min_from[v + 1] ? max : min_from[v + 1];
  }
  for (int32_t v = 0; v < n; v++) {
    element[v] = -1;
    if (!main_part[v]) continue;
    element[v] = k;
    /* far <= v: no tensor from before v is used after it, so its producer has consumers up to v only */
    int32_t min, max;
    consumers(g, main_part, v, &min, &max);
    bool cut = far <= v && min_from[v + 1] >= v && max > v;
    if (max > far) far = max;
    k += cut;
  }
  return true;
}

/* Finds the elements of operators outside the main part: the lowest of their consumers, or else the highest of their
 * producers. */
static void place_others(int32_t *element, const situ_graph *g) {
  for (int32_t v = g->n_operators - 1; v >= 0; v--) {
    if (element[v] >= 0) continue;
    for (int32_t t = g->out_start[v]; t < g->out_start[v + 1]; t++)
      for (int64_t i = g->use_start[t]; i < g->use_start[t + 1]; i++) {
        int32_t there = element[g->use[i]];
        if (there >= 0 && (element[v] < 0 || there < element[v])) element[v] = there;
      }
  }
  for (int32_t v = 0; v < g->n_operators; v++) {
    if (element[v] < 0) element[v] = 0;
    for (int64_t i = g->in_start[v]; i < g->in_start[v + 1]; i++)
      if (element[g->producer[g->in[i]]] > element[v]) element[v] = element[g->producer[g->in[i]]];
  }
}

/* Splits elements where the work since the last boundary reaches `grain`, in order of numbers. False without memory. */
static bool refine(int32_t *element, const situ_problem *p, double grain, const double *work, arena *a) {
  int32_t n = p->n_operators, n_elements = 0, *first, *order;
  for (int32_t v = 0; v < n; v++)
    if (element[v] >= n_elements) n_elements = element[v] + 1;
  if (!csr_by_key(&first, &order, element, n, n_elements, a)) return false;
  double since = 0;
  for (int32_t i = 0, e = 0; i < n; i++) {
    int32_t v = order[i];
    bool last = i + 1 == n || element[order[i + 1]] != element[v];
    since += work[v];
    element[v] = e;
    if (!last && since < grain) continue;
    e++;
    since = 0;
  }
  return true;
}

/* Joins elements that share a unit, then neighbours until at most `max_elements` are left. Returns their number. */
static int32_t join_elements(int32_t *element, bool *joined_some, const situ_problem *p, int32_t max_elements,
                             const double *of_operator, arena *a) {
  const situ_graph *g = p->graph;
  int32_t n = 0;
  for (int32_t v = 0; v < g->n_operators; v++)
    if (element[v] >= n) n = element[v] + 1;
  int32_t *inside, *number;
  double *work;
  if (!ARENA_ARRAYS(a, ZEROS(inside, (int64_t)n + 1), ARRAY(number, n), ZEROS(work, n))) return -1;
  for (int32_t k = 0; k < p->units.n; k++) {
    int32_t min = n, max = -1;
    for (int32_t i = p->units.start[k]; i < p->units.start[k + 1]; i++) {
      int32_t e = element[p->units.member[i]];
      if (e < min) min = e;
      if (e > max) max = e;
    }
    inside[min]++; /* no boundary between min and max */
    inside[max]--;
  }
  double total = 0, before = 0;
  for (int32_t v = 0; v < g->n_operators; v++) {
    work[element[v]] += of_operator[v] + 1;
    total += of_operator[v] + 1;
  }
  int32_t open = 0, joined = 0, slice = 0;
  for (int32_t e = 0; e < n; e++) {
    number[e] = joined;
    open += inside[e];
    before += work[e];
    int32_t here = n <= max_elements ? e + 1 : (int32_t)(before / total * max_elements);
    if (open > 0 || here == slice) continue;
    slice = here;
    joined++;
  }
  for (int32_t v = 0; v < g->n_operators; v++) element[v] = number[element[v]];
  *joined_some = n > max_elements;
  return n > 0 ? number[n - 1] + 1 : 0;
}

/* ---- sums along the chain ---- */

/* The last element that uses tensor t, and the last operator there; -1 without users. */
static int32_t last_use(const chain *c, int32_t t, int32_t *user) {
  const situ_graph *g = c->problem->graph;
  int32_t last = -1;
  *user = -1;
  for (int64_t i = g->use_start[t]; i < g->use_start[t + 1]; i++) {
    int32_t e = c->element[g->use[i]];
    if (e < last) continue;
    last = e; /* users are in ascending order */
    *user = g->use[i];
  }
  return last;
}

/* The peak of bytes alive while one device runs element k. Its inputs are there from the start. */
static int64_t live_peak(const chain *c, int32_t k, int32_t *seen) {
  const situ_graph *g = c->problem->graph;
  int64_t live = 0, peak = 0;
  int32_t user;
  for (int32_t x = c->first[k]; x < c->first[k + 1]; x++)
    for (int64_t i = g->in_start[c->order[x]]; i < g->in_start[c->order[x] + 1]; i++) {
      int32_t t = g->in[i];
      if (c->element[g->producer[t]] == k || seen[t] == k) continue;
      seen[t] = k;
      live = sat_add(live, g->size_bytes[t]);
    }
  for (int32_t x = c->first[k]; x < c->first[k + 1]; x++) {
    int32_t v = c->order[x];
    for (int32_t t = g->out_start[v]; t < g->out_start[v + 1]; t++) live = sat_add(live, g->size_bytes[t]);
    peak = max64(peak, sat_add(live, g->workspace_bytes[v]));
    for (int64_t i = g->in_start[v]; i < g->in_start[v + 1] && live != INT64_MAX; i++)
      if (last_use(c, g->in[i], &user) == k && user == v) live -= g->size_bytes[g->in[i]];
  }
  return peak;
}

static void add_times(chain *c, int32_t k, const int32_t *column_device) {
  const situ_problem *p = c->problem;
  for (int32_t column = 0; column < c->n_columns; column++) {
    int64_t at = (int64_t)column * (c->n + 1) + k, sum = 0;
    int32_t d = column_device[column];
    bool runs = d >= 0;
    for (int32_t x = c->first[k]; x < c->first[k + 1] && runs; x++) {
      runs = problem_allows(p, c->order[x], d);
      sum = runs ? sat_add(sum, problem_time_ns(p, c->order[x], d)) : 0;
    }
    c->time_ns[at + 1] = sat_add(c->time_ns[at], sum);
    c->never[at + 1] = c->never[at] + !runs;
  }
}

/* Adds the bytes of element k. With `seen` ([tensor] -1), streams keep their results, and peaks are of live bytes. */
static void add_bytes(chain *c, int32_t k, int32_t *seen) {
  const situ_problem *p = c->problem;
  const situ_graph *g = p->graph;
  bool stream = p->execution == SITU_EXECUTION_STREAM;
  int64_t weights = 0, kept = 0, running = 0;
  int32_t user;
  for (int32_t x = c->first[k]; x < c->first[k + 1]; x++) {
    int32_t v = c->order[x];
    weights = sat_add(weights, g->weight_bytes[v]);
    for (int32_t t = g->out_start[v]; stream && seen && t < g->out_start[v + 1]; t++)
      if (last_use(c, t, &user) < 0) kept = sat_add(kept, g->size_bytes[t]);
    if (!stream) kept = sat_add(kept, footprint_stash_bytes(g, v));
    running = max64(running, footprint_running_bytes(p, v));
  }
  c->weight_bytes[k + 1] = sat_add(c->weight_bytes[k], weights);
  c->kept_bytes[k + 1] = sat_add(c->kept_bytes[k], kept);
  c->peak_bytes[k] = stream && seen ? live_peak(c, k, seen) : running;
}

static bool add_up(chain *c, bool live, arena *a) {
  const situ_problem *p = c->problem;
  int64_t n = c->n, n_operators = p->n_operators;
  int32_t *column_device, *seen = NULL;
  c->n_columns = items_columns(p);
  if (!ARENA_ARRAYS(a, ZEROS(c->weight_bytes, n + 1), ZEROS(c->kept_bytes, n + 1), ARRAY(c->peak_bytes, n),
                    ZEROS(c->time_ns, (n + 1) * c->n_columns), ZEROS(c->never, (n + 1) * c->n_columns),
                    ARRAY(c->column_of, p->n_devices), ARRAY(column_device, c->n_columns), ZEROS(c->first, n + 2),
                    ARRAY(c->order, n_operators)) ||
      (live && !(seen = ARENA_NEW(a, int32_t, p->graph->n_tensors))))
    return false;
  items_sort_devices(c->column_of, column_device, p);
  csr_fill(c->first, c->order, c->element, p->n_operators, c->n);
  for (int32_t t = 0; t < p->graph->n_tensors && live; t++) seen[t] = -1;
  for (int32_t k = 0; k < c->n; k++) {
    add_times(c, k, column_device);
    add_bytes(c, k, seen);
  }
  return true;
}

/* Adds a tensor to the boundaries from .. to: differences, which are summed later. */
static void add_crossing(int64_t *rows, const situ_problem *p, int32_t t, int32_t from, int32_t to) {
  int64_t n = p->n_kinds;
  for (int32_t k = 0; k < n; k++) {
    rows[from * n + k] += p->transfer_ns[t][k];
    rows[(to + 1) * n + k] -= p->transfer_ns[t][k];
  }
}

/* The times of what crosses each boundary. All transfers together are at most PROBLEM_MAX_NS, so no sum overflows.
 * main_part: NULL for all. */
static bool add_crossings(chain *c, const bool *main_part, arena *a) {
  const situ_problem *p = c->problem;
  const situ_graph *g = p->graph;
  int64_t kinds = p->n_kinds, cells = (int64_t)(c->n + 1) * kinds;
  bool together = main_part && p->execution == SITU_EXECUTION_STREAM && p->contention == SITU_CONTENTION_NONE;
  int32_t user;
  if (!(c->crossing_ns = ARENA_ZERO(a, int64_t, cells + kinds))) return false;
  if (!(c->main_ns = main_part ? ARENA_ZERO(a, int64_t, cells + kinds) : c->crossing_ns)) return false;
  for (int32_t t = 0; t < g->n_tensors; t++) {
    int32_t from = c->element[g->producer[t]] + 1, to = last_use(c, t, &user);
    bool is_main = main_part && main_part[g->producer[t]];
    if (to < from) continue;
    add_crossing(c->crossing_ns, p, t, from, to);
    if (is_main && !together) add_crossing(c->main_ns, p, t, from, to);
    for (int32_t k = from; k <= to && is_main && together; k++)
      for (int32_t kind = 0; kind < kinds; kind++)
        c->main_ns[k * kinds + kind] = max64(c->main_ns[k * kinds + kind], p->transfer_ns[t][kind]);
  }
  for (int64_t i = kinds; i < cells; i++) {
    c->crossing_ns[i] += c->crossing_ns[i - kinds];
    if (main_part && !together) c->main_ns[i] += c->main_ns[i - kinds];
  }
  return true;
}

bool chain_sum(chain *c, const situ_problem *p, int32_t *element, int32_t n, arena *a) {
  *c = (chain){.problem = p, .element = element, .n = n};
  return add_up(c, false, a);
}

bool chain_of_units(chain *c, const situ_problem *p, const unit_list *units, arena *a) {
  int32_t n = p->n_operators, *order, *left, *element;
  *c = (chain){.problem = p};
  if (!ARENA_ARRAYS(a, ARRAY(order, n), ARRAY(left, units->n), ARRAY(element, n)) ||
      !topological_late(order, p->graph, a))
    return false;
  for (int32_t k = 0; k < units->n; k++) left[k] = unit_list_members(units, k).n;
  for (int32_t i = 0; i < n; i++) {
    unit_members u = unit_list_members(units, units->of[order[i]]);
    if (--left[units->of[order[i]]] > 0) continue;
    unit_members_put(u, element, c->n++);
  }
  c->element = element;
  return add_up(c, false, a) && add_crossings(c, NULL, a);
}

bool chain_join(chain *c, const chain *of, const int32_t *begin, int32_t n, arena *a) {
  const situ_problem *p = of->problem;
  int64_t kinds = p->n_kinds, cells = (int64_t)(n + 1) * of->n_columns;
  REQUIRE(n > 0 && begin[0] == 0 && of->crossing_ns);
  *c = *of;
  c->n = n;
  if (!ARENA_ARRAYS(a, ARRAY(c->element, p->n_operators), ARRAY(c->first, n + 1), ARRAY(c->weight_bytes, n + 1),
                    ARRAY(c->kept_bytes, n + 1), ZEROS(c->peak_bytes, n), ARRAY(c->time_ns, cells),
                    ARRAY(c->never, cells), ARRAY(c->crossing_ns, (n + 1) * kinds), ARRAY(c->main_ns, (n + 1) * kinds)))
    return false;
  for (int32_t k = 0; k <= n; k++) {
    int32_t from = k < n ? begin[k] : of->n, end = k + 1 < n ? begin[k + 1] : of->n;
    c->first[k] = of->first[from];
    c->weight_bytes[k] = of->weight_bytes[from];
    c->kept_bytes[k] = of->kept_bytes[from];
    memcpy(c->crossing_ns + k * kinds, of->crossing_ns + from * kinds, (size_t)kinds * sizeof *c->crossing_ns);
    memcpy(c->main_ns + k * kinds, of->main_ns + from * kinds, (size_t)kinds * sizeof *c->main_ns);
    for (int32_t x = 0; x < c->n_columns; x++) {
      c->time_ns[(int64_t)x * (n + 1) + k] = of->time_ns[(int64_t)x * (of->n + 1) + from];
      c->never[(int64_t)x * (n + 1) + k] = of->never[(int64_t)x * (of->n + 1) + from];
    }
    for (int32_t e = from; e < end && k < n; e++) {
      int64_t before = p->execution == SITU_EXECUTION_STREAM ? of->kept_bytes[e] - of->kept_bytes[from] : 0;
      c->peak_bytes[k] = max64(c->peak_bytes[k], sat_add(before, of->peak_bytes[e]));
      for (int32_t x = of->first[e]; x < of->first[e + 1]; x++) c->element[of->order[x]] = k;
    }
  }
  return true;
}

bool chain_find(chain *c, const situ_problem *p, int32_t max, int32_t parts, arena *a) {
  REQUIRE(max > 0 && parts >= 0);
  *c = (chain){.problem = p, .element = ARENA_NEW(a, int32_t, p->n_operators)};
  bool *main_part = ARENA_NEW(a, bool, p->n_operators);
  double *work = min_times(p, a);
  if (!c->element || !main_part || !work || !find_main(main_part, p, work, a) ||
      !cut_main(c->element, p->graph, main_part, a))
    return false;
  place_others(c->element, p->graph);
  double total = 0;
  for (int32_t v = 0; v < p->n_operators; v++) total += work[v];
  if (parts > 0 && !refine(c->element, p, total / parts, work, a)) return false;
  c->n = join_elements(c->element, &c->joined, p, max, work, a);
  if (c->n < 0 || !add_up(c, true, a) || !add_crossings(c, main_part, a)) return false;
  CONTRACT(chain_check(c));
  return true;
}

const char *chain_check(const chain *c) {
  const situ_problem *p = c->problem;
  const situ_graph *g = p->graph;
  int32_t n = c->n;
  if (n == 0) return NULL;
  EXPECT(contracts_within(c->element, p->n_operators, 0, n), "every operator is in an element");
  EXPECT(contracts_lists(c->first, n, p->n_operators), "first lists operators by element");
  EXPECT(contracts_permutation(c->order, p->n_operators), "the order has every operator");
  for (int32_t k = 0; k < n; k++) {
    EXPECT(contracts_rise(c->order + c->first[k], c->first[k + 1] - c->first[k]), "operators of an element ascend");
    for (int32_t x = c->first[k]; x < c->first[k + 1]; x++) EXPECT(c->element[c->order[x]] == k, "order agrees");
    EXPECT(c->weight_bytes[k] <= c->weight_bytes[k + 1] && c->kept_bytes[k] <= c->kept_bytes[k + 1], "sums rise");
    for (int32_t x = 0; x < p->n_kinds; x++)
      EXPECT(c->main_ns[(int64_t)k * p->n_kinds + x] <= c->crossing_ns[(int64_t)k * p->n_kinds + x],
             "the main part is a part of what crosses");
  }
  EXPECT(contracts_within(c->column_of, p->n_devices, -1, c->n_columns), "devices are of a column, or not used");
  for (int32_t t = 0; t < g->n_tensors; t++)
    for (int64_t i = g->use_start[t]; i < g->use_start[t + 1]; i++)
      EXPECT(c->element[g->producer[t]] <= c->element[g->use[i]], "all edges go forward");
  return NULL;
}
