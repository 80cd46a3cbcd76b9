#include "bound/alive.h"

#include <string.h>

#include "base/checked.h"
#include "view/footprint.h"

enum { BEFORE = 1, BEHIND = 2, N_PROBES = 6 };

bool alive_takes_time(const situ_problem *p, int32_t v) {
  for (int32_t d = 0; d < p->n_devices; d++)
    if (problem_allows(p, v, d) && problem_time_ns(p, v, d) == 0) return false;
  return true;
}

/* Marks the operators that have ended when `at` begins, and those that have not begun when it ends. `at` is both. */
static void mark_sides(uint8_t *side, const situ_graph *g, int32_t at) {
  memset(side, 0, (size_t)g->n_operators);
  side[at] = BEFORE | BEHIND;
  for (int32_t v = at + 1; v < g->n_operators; v++)
    for (int64_t i = g->in_start[v]; i < g->in_start[v + 1] && !side[v]; i++)
      if (side[g->producer[g->in[i]]] & BEHIND) side[v] = BEHIND;
  for (int32_t v = at; v >= 0; v--)
    for (int64_t i = g->in_start[v]; i < g->in_start[v + 1] && side[v] & BEFORE; i++)
      side[g->producer[g->in[i]]] = BEFORE;
}

typedef struct holders {
  const situ_problem *problem;
  uint8_t *side;    /* [operator] */
  int32_t *had;     /* [unit] 1 + the last tensor that it is known to have made or read before */
  int32_t *counted; /* [unit] 1 + the last tensor that was counted for it */
} holders;

static bool holders_init(holders *h, const situ_problem *p, int32_t at, arena *a) {
  h->problem = p;
  if (!ARENA_ARRAYS(a, ARRAY(h->side, p->n_operators), ZEROS(h->had, p->units.n), ZEROS(h->counted, p->units.n)))
    return false;
  mark_sides(h->side, p->graph, at);
  return true;
}

/* Adds tensor t to the units that certainly hold it: those that have made or read it before `at` and read it after.
 * With `once`, only the unit of the first such reader. */
static void add_tensor(int64_t *bytes, holders *h, int32_t t, bool once) {
  const situ_graph *g = h->problem->graph;
  const int32_t *of = h->problem->units.of;
  int32_t made = g->producer[t];
  if (h->side[made] & BEFORE) h->had[of[made]] = t + 1;
  if (g->use_start[t] == g->use_start[t + 1] && h->side[made] & BEFORE) /* a result stays */
    bytes[of[made]] = sat_add(bytes[of[made]], g->size_bytes[t]);
  for (int64_t i = g->use_start[t]; i < g->use_start[t + 1]; i++)
    if (h->side[g->use[i]] & BEFORE) h->had[of[g->use[i]]] = t + 1;
  for (int64_t i = g->use_start[t]; i < g->use_start[t + 1]; i++) {
    int32_t u = of[g->use[i]];
    if (!(h->side[g->use[i]] & BEHIND) || h->had[u] != t + 1 || h->counted[u] == t + 1) continue;
    h->counted[u] = t + 1;
    bytes[u] = sat_add(bytes[u], g->size_bytes[t]);
    if (once) return;
  }
}

static bool add_tensors(int64_t *bytes, const situ_problem *p, int32_t at, bool once, arena *scratch) {
  arena_mark mark = arena_get_mark(scratch);
  holders h;
  if (!alive_takes_time(p, at)) return true;
  bool made = holders_init(&h, p, at, scratch);
  for (int32_t t = 0; made && t < p->graph->n_tensors; t++) add_tensor(bytes, &h, t, once);
  arena_release(scratch, mark);
  return made;
}

bool alive_bytes(int64_t *bytes, const situ_problem *p, int32_t at, arena *scratch) {
  memset(bytes, 0, (size_t)p->units.n * sizeof *bytes);
  return add_tensors(bytes, p, at, true, scratch);
}

/* Whether each operator of the unit that takes time on device d has room there beside the unit's weights. */
static bool has_room_to_run(const situ_problem *p, unit_members u, int64_t weights, int32_t d) {
  for (int32_t i = 0; i < u.n; i++)
    if (problem_time_ns(p, u.member[i], d) > 0 &&
        sat_add(weights, footprint_bytes(p->graph, u.member[i])) > p->platform->memory_bytes[p->memory_of[d]])
      return false;
  return true;
}

bool alive_rooms(bool *may, bool *fewer, const situ_problem *p, int32_t at, arena *scratch) {
  arena_mark mark = arena_get_mark(scratch);
  int64_t *alive = ARENA_ZERO(scratch, int64_t, p->units.n);
  *fewer = false;
  bool made = alive && add_tensors(alive, p, at, false, scratch);
  for (int32_t k = 0; made && k < p->units.n; k++) {
    unit_members u = unit_list_members(&p->units, k);
    int64_t weights = 0;
    for (int32_t i = 0; i < u.n; i++) weights = sat_add(weights, p->graph->weight_bytes[u.member[i]]);
    for (int32_t d = 0; d < p->n_devices; d++) {
      bool fits =
          sat_add(weights, alive[k]) <= p->platform->memory_bytes[p->memory_of[d]] && has_room_to_run(p, u, weights, d);
      for (int32_t i = 0; i < u.n; i++) {
        bool allowed = problem_allows(p, u.member[i], d);
        may[(int64_t)u.member[i] * p->n_devices + d] = allowed && fits;
        *fewer |= allowed && !fits;
      }
    }
  }
  arena_release(scratch, mark);
  return made;
}

bool alive_add(items *all, const situ_problem *p, int32_t at, arena *scratch) {
  int64_t devices = p->n_devices;
  int32_t columns = all->n_columns;
  bool *may, *any, fewer;
  int64_t *alive;
  arena_mark mark = arena_get_mark(scratch);
  bool made = ARENA_ARRAYS(scratch, ARRAY(may, p->n_operators * devices), ARRAY(alive, all->n), ARRAY(any, columns)) &&
              alive_bytes(alive, p, at, scratch) && alive_rooms(may, &fewer, p, at, scratch);
  for (int32_t u = 0; made && u < all->n; u++) {
    const bool *first = may + p->units.member[p->units.start[u]] * devices;
    all->weight_bytes[u] = sat_add(all->weight_bytes[u], alive[u]);
    for (int32_t k = 0; k < columns; k++) any[k] = false;
    for (int32_t d = 0; d < p->n_devices; d++)
      if (all->column_of[d] >= 0 && first[d]) any[all->column_of[d]] = true;
    for (int32_t k = 0; k < columns && fewer; k++)
      if (!any[k]) all->time_ns[(int64_t)u * columns + k] = SITU_NEVER_NS;
  }
  arena_release(scratch, mark);
  return made;
}

/* Fills a longest chain of operators, first to last. Returns its length. */
static int32_t find_chain(int32_t *chain, int32_t *next, int32_t *length, const situ_graph *g) {
  int32_t first = -1, n = 0;
  for (int32_t v = g->n_operators - 1; v >= 0; v--) {
    length[v] = 1;
    next[v] = -1;
    for (int32_t t = g->out_start[v]; t < g->out_start[v + 1]; t++)
      for (int64_t i = g->use_start[t]; i < g->use_start[t + 1]; i++) {
        if (length[g->use[i]] < length[v]) continue;
        length[v] = length[g->use[i]] + 1;
        next[v] = g->use[i];
      }
    if (first < 0 || length[v] > length[first]) first = v;
  }
  for (int32_t v = first; v >= 0; v = next[v]) chain[n++] = v;
  return n;
}

static int64_t sum_of(const int64_t *bytes, int32_t n) {
  int64_t sum = 0;
  for (int32_t u = 0; u < n; u++) sum = sat_add(sum, bytes[u]);
  return sum;
}

/* Probes at even distances, then in ever smaller steps around the best. */
bool alive_find(int32_t *at, const situ_problem *p, arena *scratch) {
  int32_t n = p->n_operators, kept = 0, *chain, *next, *length;
  int64_t *bytes, max = 0;
  arena_mark mark = arena_get_mark(scratch);
  *at = -1;
  if (n == 0 || p->execution != SITU_EXECUTION_STREAM || footprint_fits_always(p)) return true;
  *at = 0;
  bool made = ARENA_ARRAYS(scratch, ARRAY(chain, n), ARRAY(next, n), ARRAY(length, n), ARRAY(bytes, p->units.n));
  if (made) {
    int32_t all = find_chain(chain, next, length, p->graph);
    for (int32_t k = 0; k < all; k++)
      if (alive_takes_time(p, chain[k])) chain[kept++] = chain[k];
  }
  for (int32_t low = 0, high = kept; made && low < high;) {
    int32_t step = (high - low + N_PROBES - 1) / N_PROBES, best = -1;
    int64_t found = -1;
    for (int32_t k = low + (step - 1) / 2; k < high && (made = alive_bytes(bytes, p, chain[k], scratch)); k += step) {
      int64_t sum = sum_of(bytes, p->units.n);
      if (sum > found) best = k;
      found = max64(found, sum);
      if (sum > max) *at = chain[k];
      max = max64(max, sum);
    }
    if (step == 1 || best < 0) break;
    low = best - step + 1 > low ? best - step + 1 : low;
    high = best + step < high ? best + step : high;
  }
  arena_release(scratch, mark);
  return made;
}
