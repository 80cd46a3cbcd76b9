#include "exact/thin_graph.h"

#include <string.h>

#include "base/bit_rows.h"
#include "base/checked.h"
#include "base/contracts.h"
#include "view/unit.h"

static bool make(thin_graph *g, const situ_problem *p, int32_t n, int64_t n_tensors, int64_t n_uses, arena *a) {
  *g = (thin_graph){.problem = p, .n = n};
  if (!ARENA_ARRAYS(a, ARRAY(g->operator_of, n), ARRAY(g->tensor_of, n_tensors), ARRAY(g->producer, n_tensors),
                    ZEROS(g->transfer_ns, n_tensors), ARRAY(g->use_start, n_tensors + 1), ARRAY(g->use, n_uses)))
    return false;
  g->use_start[0] = 0;
  return true;
}

/* Closes a tensor after its users were added. It stays only if it has some. */
static void close_tensor(thin_graph *g, int32_t tensor, int32_t producer, int64_t end) {
  if (end == g->use_start[g->n_tensors]) return;
  g->tensor_of[g->n_tensors] = tensor;
  g->producer[g->n_tensors] = producer;
  g->use_start[++g->n_tensors] = end;
}

bool thin_whole(thin_graph *out, const situ_problem *p, arena *a) {
  const situ_graph *g = p->graph;
  if (!make(out, p, p->n_operators, g->n_tensors, g->n_uses, a)) return false;
  for (int32_t v = 0; v < p->n_operators; v++) out->operator_of[v] = v;
  for (int32_t t = 0; t < g->n_tensors; t++) {
    int64_t end = out->use_start[out->n_tensors];
    for (int64_t i = g->use_start[t]; i < g->use_start[t + 1]; i++) out->use[end++] = g->use[i];
    close_tensor(out, t, g->producer[t], end);
  }
  CONTRACT(thin_check(out));
  return true;
}

/* ---- deletion ---- */

/* Finds the kept operators directly after each v, or after deleted ones after v. */
static bool find_bypasses(bit_rows *after, const thin_graph *g, const bool *deleted, arena *a) {
  if (!bit_rows_make(after, g->n, a)) return false;
  for (int32_t t = g->n_tensors - 1; t >= 0; t--) /* producers descend, and users are higher than producers */
    for (int64_t i = g->use_start[t]; i < g->use_start[t + 1]; i++) {
      if (deleted[g->use[i]])
        bit_rows_join(after, g->producer[t], g->use[i]);
      else if (deleted[g->producer[t]])
        bit_rows_add(after, g->producer[t], g->use[i]);
    }
  return true;
}

/* Ways from a kept operator v through deleted ones. */
typedef struct paths {
  const thin_graph *g;
  const bool *deleted;
  int32_t n_memories;
  int32_t *first_tensor; /* [n + 1] */
  int64_t *ready_ns;     /* [n * memories] of deleted operators */
  bool *reached;         /* [n] */
  int64_t **found;       /* [n] the matrix to kept operator x, NULL: no path */
} paths;

static bool paths_make(paths *w, const thin_graph *g, const bool *deleted, arena *a) {
  *w = (paths){.g = g, .deleted = deleted, .n_memories = g->problem->n_memories};
  if (!ARENA_ARRAYS(a, ZEROS(w->first_tensor, g->n + 1), ZEROS(w->ready_ns, (int64_t)g->n * w->n_memories),
                    ZEROS(w->reached, g->n), ZEROS(w->found, g->n)))
    return false;
  for (int32_t t = 0; t < g->n_tensors; t++) w->first_tensor[g->producer[t] + 1] = t + 1;
  for (int32_t v = 0; v < g->n; v++)
    if (w->first_tensor[v + 1] < w->first_tensor[v]) w->first_tensor[v + 1] = w->first_tensor[v];
  return true;
}

/* The minimum time of an operator on a device of memory m. */
static int64_t min_time(const situ_problem *p, int32_t v, int32_t m) {
  int64_t min = THIN_FAR_NS;
  for (int32_t d = 0; d < p->n_devices; d++)
    if (p->memory_of[d] == m && problem_allows(p, v, d)) min = min64(min, problem_time_ns(p, v, d));
  return min;
}

/* Passes on the tensors of operator y, which ends at finish[memory]. `from` is the memory of v; y is not v when
 * `over`. */
static void paths_push(paths *w, int32_t y, const int64_t *finish, int32_t from, bool over) {
  const thin_graph *g = w->g;
  const situ_problem *p = g->problem;
  int32_t n = w->n_memories;
  for (int32_t t = w->first_tensor[y]; t < w->first_tensor[y + 1]; t++)
    for (int32_t m = 0; m < n; m++) {
      int64_t there = THIN_FAR_NS;
      for (int32_t k = 0; k < n; k++) {
        int64_t time = g->transfer_ns[t] ? g->transfer_ns[t][k * n + m]
                                         : p->transfer_ns[g->tensor_of[t]][p->costs->pair_kind[k * n + m]];
        there = min64(there, finish[k] + min64(time, THIN_FAR_NS));
      }
      for (int64_t i = g->use_start[t]; i < g->use_start[t + 1]; i++) {
        int32_t x = g->use[i];
        bool stays = unit_joins(p, g->operator_of[y], g->operator_of[x]); /* the two must share a memory */
        int64_t arrival = stays ? finish[m] : there;
        int64_t *at = w->deleted[x] ? &w->ready_ns[(int64_t)x * n + m] : over ? &w->found[x][from * n + m] : NULL;
        if (at) *at = max64(*at, arrival);
        if (w->deleted[x]) w->reached[x] = true;
      }
    }
}

/* Fills found[x] for all x that v reaches through deleted operators, of which `last` is the highest. */
static void paths_from(paths *w, int32_t v, int64_t *finish) {
  const thin_graph *g = w->g;
  int32_t n = w->n_memories;
  for (int32_t from = 0; from < n; from++) {
    for (int32_t m = 0; m < n; m++) finish[m] = m == from ? 0 : THIN_FAR_NS;
    paths_push(w, v, finish, from, false);
    for (int32_t y = v + 1; y < g->n; y++) {
      if (!w->reached[y]) continue;
      for (int32_t m = 0; m < n; m++) {
        int64_t *ready = &w->ready_ns[(int64_t)y * n + m];
        finish[m] = min64(*ready + min_time(g->problem, g->operator_of[y], m), THIN_FAR_NS);
        *ready = 0;
      }
      w->reached[y] = false;
      paths_push(w, y, finish, from, true);
    }
  }
}

bool thin_delete(thin_graph *out, const thin_graph *from, const bool *deleted, arena *a) {
  bit_rows after;
  paths w;
  int32_t n_memories = from->problem->n_memories, *number = ARENA_NEW(a, int32_t, from->n);
  int64_t *finish = ARENA_NEW(a, int64_t, n_memories), pairs = 0;
  if (!number || !finish || !find_bypasses(&after, from, deleted, a) || !paths_make(&w, from, deleted, a)) return false;
  for (int64_t i = 0; i < (int64_t)from->n * after.words; i++) pairs += __builtin_popcountll(after.bits[i]);
  if (!make(out, from->problem, from->n, from->n_tensors + pairs, from->use_start[from->n_tensors] + pairs, a))
    return false;
  out->n = 0;
  for (int32_t v = 0; v < from->n; v++) {
    number[v] = out->n;
    if (!deleted[v]) out->operator_of[out->n++] = from->operator_of[v];
  }
  for (int32_t v = 0; v < from->n; v++) {
    if (deleted[v]) continue;
    for (int32_t t = w.first_tensor[v]; t < w.first_tensor[v + 1]; t++) {
      int64_t end = out->use_start[out->n_tensors];
      for (int64_t i = from->use_start[t]; i < from->use_start[t + 1]; i++)
        if (!deleted[from->use[i]]) out->use[end++] = number[from->use[i]];
      out->transfer_ns[out->n_tensors] = from->transfer_ns[t];
      close_tensor(out, from->tensor_of[t], number[v], end);
    }
    for (int32_t x = v + 1; x < from->n; x++)
      if (bit_rows_has(&after, v, x) && !(w.found[x] = ARENA_ZERO(a, int64_t, (int64_t)n_memories * n_memories)))
        return false;
    paths_from(&w, v, finish);
    for (int32_t x = v + 1; x < from->n; x++) {
      if (!bit_rows_has(&after, v, x)) continue;
      int64_t end = out->use_start[out->n_tensors];
      out->use[end] = number[x];
      out->transfer_ns[out->n_tensors] = w.found[x];
      close_tensor(out, -1, number[v], end + 1);
    }
  }
  CONTRACT(thin_check(out));
  return true;
}

/* Operators that take no time anywhere and share a device with one that does. */
static bool find_idlers(bool *deleted, const situ_problem *p) {
  bool any = false;
  for (int32_t v = 0; v < p->n_operators; v++) {
    unit_members u = unit_of(p, v);
    bool works = false, helps = false;
    for (int32_t k = 0; k < p->n_classes; k++) works |= p->time_ns[(int64_t)v * p->n_classes + k] > 0;
    for (int32_t i = 0; i < u.n; i++)
      for (int32_t k = 0; k < p->n_classes; k++) helps |= p->time_ns[(int64_t)u.member[i] * p->n_classes + k] > 0;
    any |= deleted[v] = !works && helps;
  }
  return any;
}

bool thin_first(thin_graph *out, const situ_problem *p, arena *a) {
  thin_graph whole;
  bool *deleted = ARENA_NEW(a, bool, p->n_operators);
  if (!deleted || !thin_whole(&whole, p, a)) return false;
  *out = whole;
  return !find_idlers(deleted, p) || thin_delete(out, &whole, deleted, a);
}

/* ---- cuts ---- */

/* v is a cut when each lower operator has a user <= v and each higher one a producer >= v. Then a path leads from every
 * lower operator to v, and from v to every higher one. */
int32_t thin_cuts(int32_t *cut, const thin_graph *g, arena *a) {
  arena_mark mark = arena_get_mark(a);
  int32_t *first_user = ARENA_NEW(a, int32_t, g->n), *last_producer = ARENA_NEW(a, int32_t, g->n), n = 0;
  if (!first_user || !last_producer) return -1;
  for (int32_t v = 0; v < g->n; v++) {
    first_user[v] = INT32_MAX;
    last_producer[v] = -1;
  }
  for (int32_t t = 0; t < g->n_tensors; t++)
    for (int64_t i = g->use_start[t]; i < g->use_start[t + 1]; i++) {
      int32_t u = g->producer[t], x = g->use[i];
      if (x < first_user[u]) first_user[u] = x;
      if (u > last_producer[x]) last_producer[x] = u;
    }
  for (int32_t v = g->n - 2; v >= 0; v--) /* now the minimum over all w >= v */
    if (last_producer[v + 1] < last_producer[v]) last_producer[v] = last_producer[v + 1];
  for (int32_t v = 0, latest = -1; v < g->n; v++) {
    if (latest <= v && (v + 1 == g->n || last_producer[v + 1] >= v)) cut[n++] = v;
    if (first_user[v] > latest) latest = first_user[v];
  }
  arena_release(a, mark);
  ENSURE(contracts_rise(cut, n));
  return n;
}

/* The operator to delete from a block (first, last) of those left. `rivals` counts the operators unordered to each. */
static int32_t worst_of(const int32_t *left, int32_t first, int32_t last, const int32_t *rivals, const double *work) {
  int32_t worst = -1;
  double score = -1;
  for (int32_t i = first; i < last; i++) {
    double here = (double)rivals[left[i]] * rivals[left[i]] / (work[left[i]] + 1e-7);
    if (rivals[left[i]] > 0 && here > score) {
      score = here;
      worst = left[i];
    }
  }
  return worst;
}

static void weigh(double *work, const thin_graph *g) {
  const situ_problem *p = g->problem;
  double total = 0;
  for (int32_t v = 0; v < g->n; v++) {
    int64_t min = SITU_NEVER_NS;
    for (int32_t d = 0; d < p->n_devices; d++)
      if (problem_allows(p, g->operator_of[v], d)) min = min64(min, problem_time_ns(p, g->operator_of[v], d));
    work[v] = min == SITU_NEVER_NS ? 0 : (double)min;
    total += work[v];
  }
  for (int32_t v = 0; v < g->n && total > 0; v++) work[v] /= total;
}

/* rivals[v]: the number of operators neither before nor after v, by the transitive closure. */
static bool count_rivals(int32_t *rivals, bit_rows *reach, const thin_graph *g, arena *a) {
  if (!bit_rows_make(reach, g->n, a)) return false;
  for (int32_t t = g->n_tensors - 1; t >= 0; t--)
    for (int64_t i = g->use_start[t]; i < g->use_start[t + 1]; i++) {
      bit_rows_add(reach, g->producer[t], g->use[i]);
      bit_rows_join(reach, g->producer[t], g->use[i]);
    }
  for (int32_t v = 0; v < g->n; v++) rivals[v] = g->n - 1;
  for (int32_t v = 0; v < g->n; v++)
    for (int32_t x = v + 1; x < g->n; x++)
      if (bit_rows_has(reach, v, x)) {
        rivals[v]--;
        rivals[x]--;
      }
  return true;
}

bool thin_until(bool *deleted, const thin_graph *g, int32_t largest, arena *a) {
  REQUIRE(largest >= 1);
  bit_rows reach;
  int32_t *rivals, *left;
  double *work;
  if (!ARENA_ARRAYS(a, ARRAY(rivals, g->n), ARRAY(left, g->n), ARRAY(work, g->n)) ||
      !count_rivals(rivals, &reach, g, a))
    return false;
  weigh(work, g);
  memset(deleted, 0, (size_t)g->n * sizeof *deleted);
  for (;;) {
    int32_t n = 0, worst = -1, first = 0;
    for (int32_t v = 0; v < g->n; v++)
      if (!deleted[v]) left[n++] = v;
    for (int32_t i = 0; i <= n && worst < 0; i++) { /* an operator without rivals is a cut */
      if (i < n && rivals[left[i]] > 0) continue;
      if (i - first > largest) worst = worst_of(left, first, i, rivals, work);
      first = i + 1;
    }
    if (worst < 0) return true;
    deleted[worst] = true;
    for (int32_t x = 0; x < g->n; x++)
      if (x != worst && !bit_rows_has(&reach, worst, x) && !bit_rows_has(&reach, x, worst)) rivals[x]--;
  }
}

const char *thin_check(const thin_graph *g) {
  EXPECT(contracts_within(g->operator_of, g->n, 0, g->problem->n_operators), "nodes are operators");
  EXPECT(contracts_long_lists(g->use_start, g->n_tensors, g->use_start[g->n_tensors]), "use_start lists users");
  EXPECT(contracts_within(g->use, g->use_start[g->n_tensors], 0, g->n), "users are nodes");
  EXPECT(contracts_within(g->producer, g->n_tensors, 0, g->n), "producers are nodes");
  EXPECT(contracts_within(g->tensor_of, g->n_tensors, -1, g->problem->graph->n_tensors), "tensors are the problem's");
  for (int32_t t = 0; t < g->n_tensors; t++) {
    int64_t first = g->use_start[t], n = g->use_start[t + 1] - first;
    EXPECT(n > 0 && contracts_rise(g->use + first, n), "a tensor has users, which ascend");
    EXPECT(g->use[first] > g->producer[t], "nodes are numbered in a topological order");
    EXPECT(t == 0 || g->producer[t - 1] <= g->producer[t], "tensors go by producer");
    EXPECT((g->tensor_of[t] < 0) == (g->transfer_ns[t] != NULL), "a path over deleted operators is no tensor");
  }
  return NULL;
}
