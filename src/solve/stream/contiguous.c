#include "solve/stream/contiguous.h"

#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "base/fail.h"
#include "base/sort.h"
#include "graph/topological.h"
#include "solve/common/solver.h"
#include "solve/stream/sequence.h"
#include "view/footprint.h"
#include "view/unit.h"

/* ---- The chain ---- */

/* Orders units by the position of their last operators in a topological order. */
static bool order_units(contiguous *c, int32_t *element_of, arena *a) {
  const situ_problem *p = c->problem;
  int32_t n = p->n_operators, *order, *left;
  if (!ARENA_ARRAYS(a, ARRAY(order, n), ARRAY(left, p->units.n)) || !topological_late(order, p->graph, a)) return false;
  for (int32_t k = 0; k < p->units.n; k++) left[k] = unit_list_members(&p->units, k).n;
  for (int32_t i = 0; i < n; i++) {
    int32_t k = p->units.of[order[i]];
    if (--left[k] > 0) continue;
    element_of[k] = c->n;
    c->unit[c->n++] = k;
  }
  return true;
}

static void add_element(contiguous *c, int32_t i) {
  const situ_problem *p = c->problem;
  unit_members u = unit_list_members(&p->units, c->unit[i]);
  c->running[i] = 0;
  c->weights[i + 1] = c->weights[i];
  for (int32_t k = 0; k < u.n; k++) {
    c->weights[i + 1] = sat_add(c->weights[i + 1], p->graph->weight_bytes[u.member[k]]);
    c->running[i] = max64(c->running[i], footprint_bytes(p->graph, u.member[k]));
  }
  for (int32_t d = 0; d < p->n_devices; d++) {
    int64_t *work = c->work + (int64_t)d * (c->n + 1) + i, sum = 0;
    int32_t *refused = c->refused + (int64_t)d * (c->n + 1) + i;
    bool runs = problem_allows_all(p, u, d);
    for (int32_t k = 0; runs && k < u.n; k++) sum = sat_add(sum, problem_time_ns(p, u.member[k], d));
    work[1] = sat_add(work[0], sum);
    refused[1] = refused[0] + !runs;
  }
}

/* Adds each tensor to all boundaries between its producer and its last user. */
static void add_crossings(contiguous *c, const int32_t *element_of) {
  const situ_problem *p = c->problem;
  const situ_graph *g = p->graph;
  int32_t kinds = p->n_kinds;
  for (int32_t t = 0; t < g->n_tensors; t++) {
    int32_t from = element_of[p->units.of[g->producer[t]]], last = from;
    for (int64_t i = g->use_start[t]; i < g->use_start[t + 1]; i++) {
      int32_t to = element_of[p->units.of[g->use[i]]];
      if (to > last) last = to;
    }
    for (int32_t k = 0; last > from && k < kinds; k++) {
      c->crossing[(int64_t)(from + 1) * kinds + k] += p->transfer_ns[t][k];
      c->crossing[(int64_t)(last + 1) * kinds + k] -= p->transfer_ns[t][k];
    }
  }
  for (int64_t i = kinds; i < (int64_t)(c->n + 1) * kinds; i++) c->crossing[i] += c->crossing[i - kinds];
}

bool contiguous_find(contiguous *c, const situ_problem *p, arena *a) {
  int64_t n = p->units.n, cells = (n + 1) * p->n_devices;
  int32_t *element_of;
  *c = (contiguous){.problem = p};
  if (!ARENA_ARRAYS(a, ARRAY(c->unit, n), ARRAY(c->running, n), ZEROS(c->weights, n + 1), ZEROS(c->work, cells),
                    ZEROS(c->refused, cells), ZEROS(c->crossing, (n + 2) * p->n_kinds), ARRAY(element_of, n)) ||
      !order_units(c, element_of, a))
    return false;
  for (int32_t i = 0; i < c->n; i++) add_element(c, i);
  add_crossings(c, element_of);
  return true;
}

static inline int64_t crossing_ns(const contiguous *c, int32_t i, int32_t from, int32_t to) {
  return c->crossing[(int64_t)i * c->problem->n_kinds +
                     c->problem->device_kind[(int64_t)from * c->problem->n_devices + to]];
}

/* The time of elements i .. j-1 on device d; SITU_NEVER_NS where one cannot run there. */
static inline int64_t work_ns(const contiguous *c, int32_t d, int32_t i, int32_t j) {
  int64_t at = (int64_t)d * (c->n + 1);
  return c->refused[at + j] > c->refused[at + i] ? SITU_NEVER_NS : c->work[at + j] - c->work[at + i];
}

static void put_elements(int32_t *device, const contiguous *c, int32_t i, int32_t j, int32_t d) {
  for (; i < j; i++) unit_members_put(unit_list_members(&c->problem->units, c->unit[i]), device, d);
}

/* ---- Cuts at a price ---- */

bool contiguous_by_price(int32_t *device, const contiguous *c, int64_t price, arena *scratch) {
  int32_t m = c->problem->n_devices, *from; /* [(i + 1) * m + d] the device before, of the elements before i + 1 */
  int64_t *value, *next;
  arena_mark mark = arena_get_mark(scratch);
  if (!ARENA_ARRAYS(scratch, ZEROS(value, m), ARRAY(next, m), ARRAY(from, (int64_t)(c->n + 1) * m))) return false;
  for (int32_t i = 0; i < c->n; i++) {
    for (int32_t d = 0; d < m; d++) {
      int64_t work = work_ns(c, d, i, i + 1), best = value[d];
      from[(int64_t)i * m + d] = d;
      for (int32_t b = 0; i > 0 && b < m; b++) {
        int64_t cut = b == d ? SITU_NEVER_NS : sat_add(value[b], sat_add(price, crossing_ns(c, i, b, d)));
        if (cut >= best) continue;
        best = cut;
        from[(int64_t)i * m + d] = b;
      }
      next[d] = sat_add(best, work);
    }
    memcpy(value, next, (size_t)m * sizeof *value);
  }
  int32_t d = 0;
  for (int32_t b = 1; b < m; b++)
    if (value[b] < value[d]) d = b;
  bool found = c->n > 0 && value[d] < SITU_NEVER_NS;
  for (int32_t i = c->n - 1; found && i >= 0; i--) {
    put_elements(device, c, i, i + 1, d);
    d = from[(int64_t)i * m + d];
  }
  arena_release(scratch, mark);
  return found;
}

/* ---- One part for each device ---- */

typedef struct part_search {
  const contiguous *c;
  int32_t n_cuts, *cut; /* boundaries: 0, some, n */
  int32_t n_devices, device[CONTIGUOUS_DEVICES];
  int64_t *value;  /* [(mask * n_devices + last) * n_cuts + boundary] */
  int32_t *before; /* likewise: boundary * n_devices + device of the part before; -1 for none */
} part_search;

static inline int64_t state_of(const part_search *s, int32_t mask, int32_t last, int32_t boundary) {
  return ((int64_t)mask * s->n_devices + last) * s->n_cuts + boundary;
}

typedef struct ranked {
  int64_t key;
  int32_t index;
} ranked;

static int by_key(const void *left, const void *right) {
  const ranked *a = left, *b = right;
  if (a->key != b->key) return a->key < b->key ? -1 : 1;
  return (a->index > b->index) - (a->index < b->index);
}

static int64_t max_crossing(const contiguous *c, int32_t i) {
  int64_t most = 0;
  for (int32_t k = 0; k < c->problem->n_kinds; k++)
    most = max64(most, c->crossing[(int64_t)i * c->problem->n_kinds + k]);
  return most;
}

static bool choose_cuts(part_search *s, arena *a) {
  const contiguous *c = s->c;
  ranked *rows;
  if (!ARENA_ARRAYS(a, ARRAY(rows, c->n), ARRAY(s->cut, CONTIGUOUS_CUTS + 2))) return false;
  for (int32_t i = 1; i < c->n; i++) rows[i - 1] = (ranked){max_crossing(c, i), i};
  if (c->n > 1) qsort(rows, (size_t)c->n - 1, sizeof *rows, by_key);
  s->cut[s->n_cuts++] = 0;
  for (int32_t i = 0; i < c->n - 1 && i < CONTIGUOUS_CUTS; i++) s->cut[s->n_cuts++] = rows[i].index;
  s->cut[s->n_cuts++] = c->n;
  sort32(s->cut, s->n_cuts);
  return true;
}

/* Chooses the devices that run most, then the fastest of them. */
static bool choose_devices(part_search *s, arena *a) {
  const contiguous *c = s->c;
  int32_t n = c->problem->n_devices, n_free = 0;
  ranked *rows = ARENA_NEW(a, ranked, n);
  if (!rows) return false;
  for (int32_t d = 0; d < n; d++) {
    int64_t at = (int64_t)d * (c->n + 1) + c->n;
    if (c->refused[at] == c->n) continue;
    rows[n_free++] = (ranked){sat_add(c->work[at], sat_mul(c->refused[at], (int64_t)1 << 40)), d};
  }
  qsort(rows, (size_t)n_free, sizeof *rows, by_key);
  for (int32_t k = 0; k < n_free && k < CONTIGUOUS_DEVICES; k++) s->device[s->n_devices++] = rows[k].index;
  return true;
}

/* Extends by all parts that begin at boundary i on device number d. */
static void extend(part_search *s, int32_t i, int32_t d) {
  const contiguous *c = s->c;
  int32_t at = s->device[d], begin = s->cut[i], bits = 1 << s->n_devices;
  int64_t room = c->problem->platform->memory_bytes[c->problem->memory_of[at]], running = 0;
  for (int32_t j = i + 1; j < s->n_cuts; j++) {
    int64_t work = work_ns(c, at, begin, s->cut[j]);
    for (int32_t e = s->cut[j - 1]; e < s->cut[j]; e++) running = max64(running, c->running[e]);
    if (work == SITU_NEVER_NS || sat_add(c->weights[s->cut[j]] - c->weights[begin], running) > room) return;
    if (i == 0) {
      s->value[state_of(s, 1 << d, d, j)] = work;
      continue;
    }
    for (int32_t mask = 1; mask < bits; mask++) {
      if (mask >> d & 1) continue;
      for (int32_t b = 0; b < s->n_devices; b++) {
        int64_t value = mask >> b & 1 ? s->value[state_of(s, mask, b, i)] : SITU_NEVER_NS;
        if (value == SITU_NEVER_NS) continue;
        value = sat_add(value, sat_add(work, crossing_ns(c, begin, s->device[b], at)));
        int64_t into = state_of(s, mask | 1 << d, d, j);
        if (value >= s->value[into]) continue;
        s->value[into] = value;
        s->before[into] = i * s->n_devices + b;
      }
    }
  }
}

static void read_back(int32_t *device, const part_search *s, int32_t mask, int32_t last) {
  for (int32_t j = s->n_cuts - 1; j > 0;) {
    int32_t before = s->before[state_of(s, mask, last, j)], i = before < 0 ? 0 : before / s->n_devices;
    put_elements(device, s->c, s->cut[i], s->cut[j], s->device[last]);
    mask &= ~(1 << last);
    last = before < 0 ? last : before % s->n_devices;
    j = i;
  }
}

bool contiguous_by_parts(int32_t **device, int64_t *value_ns, const contiguous *c, arena *a) {
  part_search s = {.c = c};
  for (int32_t k = 0; k < CONTIGUOUS_DEVICES; k++) {
    value_ns[k] = SITU_NEVER_NS;
    if (!(device[k] = ARENA_NEW(a, int32_t, c->problem->n_operators))) return false;
  }
  if (c->n == 0) return true;
  if (!choose_cuts(&s, a) || !choose_devices(&s, a)) return false;
  int64_t n_states = ((int64_t)s.n_devices << s.n_devices) * s.n_cuts;
  if (!ARENA_ARRAYS(a, ARRAY(s.value, n_states), ARRAY(s.before, n_states))) return false;
  for (int64_t i = 0; i < n_states; i++) {
    s.value[i] = SITU_NEVER_NS;
    s.before[i] = -1;
  }
  for (int32_t i = 0; i + 1 < s.n_cuts; i++)
    for (int32_t d = 0; d < s.n_devices; d++) extend(&s, i, d);
  for (int32_t mask = 1; mask < 1 << s.n_devices; mask++)
    for (int32_t d = 0; d < s.n_devices; d++) {
      int32_t k = __builtin_popcount((unsigned)mask) - 1;
      int64_t value = mask >> d & 1 ? s.value[state_of(&s, mask, d, s.n_cuts - 1)] : SITU_NEVER_NS;
      if (value >= value_ns[k]) continue;
      value_ns[k] = value;
      read_back(device[k], &s, mask, d);
    }
  return true;
}

/* ---- The row ---- */

static situ_status contiguous_solve(solve_run *run) {
  contiguous c;
  int32_t *device[CONTIGUOUS_DEVICES], *order = ARENA_NEW(run->arena, int32_t, run->problem->n_operators);
  int64_t value_ns[CONTIGUOUS_DEVICES];
  if (!order || !contiguous_find(&c, run->problem, run->arena) ||
      !contiguous_by_parts(device, value_ns, &c, run->arena))
    return fail_no_memory(run->error);
  for (int32_t k = 0; k < CONTIGUOUS_DEVICES; k++) {
    if (value_ns[k] == SITU_NEVER_NS || (k > 0 && solve_done(run))) continue;
    if (!sequence_find(order, run->simulator, run->problem, device[k], run->arena)) return fail_no_memory(run->error);
    solve_offer(run, &(placement){.device = device[k], .order = order});
  }
  return SITU_STATUS_OK;
}

const solver contiguous_solver = {
    .name = "contiguous",
    .title = "one contiguous part of the network, as a chain, for each device",
    .source = "",
    .models = MODEL_STREAM,
    .solve = contiguous_solve,
};
