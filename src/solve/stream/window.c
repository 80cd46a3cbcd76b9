#include "solve/stream/window.h"

#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "base/compare.h"
#include "base/contracts.h"

enum { MAX_KINDS = 15, TABLE = 1024 };

static int64_t capped(int64_t time_ns) { return min64(time_ns, WINDOW_FAR_NS); }

/* ---- taking strands out ---- */

static void take_strand(window *w, int32_t i, const strand_graph *g) {
  const situ_problem *p = w->problem;
  int32_t u = w->strand[i];
  w->group[i] = p->graph->colocation[g->member[g->member_start[u]]];
  w->weight_bytes[i] = 0;
  for (int32_t d = 0; d < w->n_devices; d++) {
    int64_t time = 0;
    for (int32_t k = g->member_start[u]; k < g->member_start[u + 1]; k++)
      time = capped(time +
                    (problem_allows(p, g->member[k], d) ? capped(problem_time_ns(p, g->member[k], d)) : WINDOW_FAR_NS));
    w->time_ns[i][d] = time;
    w->arrive_ns[i][d] = 0;
    w->leave_ns[i][d] = -1;
  }
  for (int32_t k = g->member_start[u]; k < g->member_start[u + 1]; k++)
    w->weight_bytes[i] = sat_add(w->weight_bytes[i], p->graph->weight_bytes[g->member[k]]);
}

static int32_t find_strand(const window *w, int32_t strand) {
  for (int32_t i = 0; i < w->n; i++)
    if (w->strand[i] == strand) return i;
  return -1;
}

bool window_take(window *w, const situ_problem *p, const strand_graph *g, const int32_t *strand, int32_t n) {
  REQUIRE(n >= 1 && contracts_within(strand, n, 0, g->n) && contracts_rise(strand, n));
  if (n > WINDOW_STRANDS || p->n_devices > WINDOW_DEVICES) return false;
  *w = (window){.problem = p, .n = n, .n_devices = p->n_devices};
  for (int32_t i = 0; i < n; i++) {
    w->strand[i] = strand[i];
    take_strand(w, i, g);
  }
  for (int32_t m = 0; m < p->n_memories; m++) w->room_bytes[m] = INT64_MAX;
  int32_t n_edges = 0;
  for (int32_t i = 0; i < n; i++) {
    w->in_start[i] = n_edges;
    int32_t v = g->member[g->member_start[strand[i]]];
    for (int64_t k = p->graph->in_start[v]; k < p->graph->in_start[v + 1]; k++) {
      int32_t from = find_strand(w, g->strand_of[p->graph->producer[p->graph->in[k]]]);
      if (from < 0) continue;
      if (n_edges == WINDOW_EDGES) return false;
      w->in[n_edges++] = (window_edge){from, p->graph->in[k]};
    }
  }
  w->in_start[n] = n_edges;
  return true;
}

/* ---- the search ---- */

/* A strand on a device, with a bound on the value of the result. */
typedef struct branch {
  int64_t bound_ns, start_ns;
  int8_t strand, device;
} branch;

/* A partial schedule that was extended: when each device is free, when inputs arrive for strands that also wait for
 * others, the bytes taken, and where groups are (twice, once negative, so that they must be equal). */
typedef struct visited {
  struct visited *next;
  uint32_t placed;
  int64_t times_ns[];
} visited;

typedef struct window_run {
  const window *w;
  arena *scratch;
  const situ_problem *problem;
  int64_t upper_ns, n_nodes, max_nodes;
  window_visitor *visit;
  void *context;
  int64_t tail_ns[WINDOW_STRANDS][WINDOW_DEVICES]; /* minimum from the end of a strand to the end of everything */
  int32_t out_start[WINDOW_STRANDS + 1], out_to[WINDOW_EDGES], out_tensor[WINDOW_EDGES];
  int32_t waiting[WINDOW_STRANDS];
  uint32_t placed; /* bits */
  bool failed;
  visited *known[TABLE];
  int64_t free_ns[WINDOW_DEVICES], room_bytes[WINDOW_DEVICES];
  window_schedule now;
  /* one of each for each depth */
  int64_t there_ns[WINDOW_STRANDS + 1][WINDOW_STRANDS]
                  [WINDOW_DEVICES]; /* inputs of a strand on a device, as far as placed */
  branch branches[WINDOW_STRANDS][WINDOW_STRANDS * WINDOW_DEVICES];
} window_run;

static void find_tails(window_run *s) {
  const window *w = s->w;
  for (int32_t i = w->n - 1; i >= 0; i--)
    for (int32_t d = 0; d < w->n_devices; d++) {
      int64_t tail = max64(w->leave_ns[i][d], 0);
      for (int32_t k = s->out_start[i]; k < s->out_start[i + 1]; k++) {
        int32_t to = s->out_to[k];
        int64_t shortest = WINDOW_FAR_NS;
        for (int32_t e = 0; e < w->n_devices; e++) {
          int64_t way =
              capped(problem_transfer_ns(s->problem, s->out_tensor[k], d, e)) + w->time_ns[to][e] + s->tail_ns[to][e];
          shortest = min64(shortest, way);
        }
        tail = max64(tail, shortest);
      }
      s->tail_ns[i][d] = capped(tail);
    }
}

static void start_run(window_run *s) {
  const window *w = s->w;
  int32_t n = 0;
  for (int32_t i = 0; i < w->n; i++) {
    s->out_start[i] = n;
    for (int32_t j = i + 1; j < w->n; j++)
      for (int32_t k = w->in_start[j]; k < w->in_start[j + 1]; k++)
        if (w->in[k].from == i) {
          s->out_to[n] = j;
          s->out_tensor[n++] = w->in[k].tensor;
        }
    s->waiting[i] = w->in_start[i + 1] - w->in_start[i];
  }
  s->placed = 0;
  s->failed = false;
  memset(s->known, 0, sizeof s->known);
  s->out_start[w->n] = n;
  memcpy(s->free_ns, w->free_ns, sizeof s->free_ns);
  memcpy(s->room_bytes, w->room_bytes, sizeof s->room_bytes);
  memcpy(s->there_ns[0], w->arrive_ns, sizeof w->arrive_ns);
  find_tails(s);
}

static bool is_placed(const window_run *s, int32_t i) { return s->placed >> i & 1; }

/* A bound on the end of every completion: each remaining strand on its best device, as if it were alone; each device
 * with its work and what comes after. */
static int64_t bound_rest(const window_run *s, int32_t depth) {
  const window *w = s->w;
  int64_t bound = 0, soonest[WINDOW_STRANDS];
  for (int32_t d = 0; d < w->n_devices; d++) bound = max64(bound, s->free_ns[d] + w->after_ns[d]);
  for (int32_t i = 0; i < w->n; i++) {
    if (is_placed(s, i)) continue;
    int64_t inputs = 0, through = WINDOW_FAR_NS;
    for (int32_t k = w->in_start[i]; k < w->in_start[i + 1]; k++)
      if (!is_placed(s, w->in[k].from)) inputs = max64(inputs, soonest[w->in[k].from]);
    soonest[i] = WINDOW_FAR_NS;
    for (int32_t d = 0; d < w->n_devices; d++) {
      int64_t end = max64(inputs, max64(s->free_ns[d], s->there_ns[depth][i][d])) + w->time_ns[i][d];
      soonest[i] = min64(soonest[i], end);
      through = min64(through, end + s->tail_ns[i][d]);
    }
    bound = max64(bound, through);
  }
  return bound;
}

COMPARATOR(by_bound, branch, UP(bound_ns) UP(start_ns) UP(strand) UP(device))

/* Whether strand i may go to device d, given its group and the memory. */
static bool may_go(const window_run *s, int32_t i, int32_t d) {
  const window *w = s->w;
  if (w->weight_bytes[i] > s->room_bytes[s->problem->memory_of[d]]) return false;
  for (int32_t j = 0; j < w->n && w->group[i] >= 0; j++)
    if (is_placed(s, j) && w->group[j] == w->group[i]) return s->now.device[j] == d;
  return true;
}

static int32_t list_branches(window_run *s, int32_t depth) {
  const window *w = s->w;
  branch *all = s->branches[depth];
  int32_t n = 0;
  for (int32_t i = 0; i < w->n; i++) {
    if (is_placed(s, i) || s->waiting[i] > 0) continue;
    for (int32_t d = 0; d < w->n_devices; d++) {
      if (w->time_ns[i][d] >= WINDOW_FAR_NS || !may_go(s, i, d)) continue;
      int64_t start = max64(s->free_ns[d], s->there_ns[depth][i][d]), end = start + w->time_ns[i][d];
      int64_t bound = max64(end + s->tail_ns[i][d], end + w->after_ns[d]);
      if (bound < s->upper_ns) all[n++] = (branch){bound, start, (int8_t)i, (int8_t)d};
    }
  }
  qsort(all, (size_t)n, sizeof *all, by_bound);
  return n;
}

/* Fills what determines the possible completions of a partial schedule; smaller is better. Returns the number of
 * entries. */
static int32_t describe(int64_t *times, const window_run *s, int32_t depth) {
  const window *w = s->w;
  int32_t n = w->n_devices;
  memcpy(times, s->free_ns, (size_t)n * sizeof *times);
  for (int32_t i = 0; i < w->n; i++) {
    if (is_placed(s, i)) {
      if (w->group[i] < 0) continue;
      times[n++] = s->now.device[i];
      times[n++] = -s->now.device[i];
    } else if (s->waiting[i] < w->in_start[i + 1] - w->in_start[i]) {
      memcpy(times + n, s->there_ns[depth][i], (size_t)w->n_devices * sizeof *times);
      n += w->n_devices;
    }
  }
  for (int32_t m = 0; m < s->problem->n_memories; m++)
    if (s->room_bytes[m] != INT64_MAX) times[n++] = -s->room_bytes[m];
  return n;
}

/* Whether a known schedule of the same strands is nowhere later, which makes this one needless. Otherwise records this
 * one. */
static bool is_needless(window_run *s, int32_t depth) {
  int64_t times[WINDOW_DEVICES * (WINDOW_STRANDS + 2) + 2 * WINDOW_STRANDS];
  int32_t n = describe(times, s, depth);
  visited **slot = &s->known[(s->placed * 0x9e3779b1u) >> 22];
  for (const visited *old = *slot; old; old = old->next) {
    if (old->placed != s->placed) continue;
    int32_t k = 0;
    while (k < n && old->times_ns[k] <= times[k]) k++;
    if (k == n) return true;
  }
  visited *made = arena_alloc(s->scratch, 1, sizeof *made + (size_t)n * sizeof *times);
  s->failed |= !made;
  if (!made) return true;
  made->next = *slot;
  made->placed = s->placed;
  memcpy(made->times_ns, times, (size_t)n * sizeof *times);
  *slot = made;
  return false;
}

static bool window_recurse(window_run *s, int32_t depth, int64_t bound_ns);

static bool try_branch(window_run *s, int32_t depth, int64_t bound_ns, branch b) {
  const window *w = s->w;
  int32_t i = b.strand, d = b.device, m = s->problem->memory_of[d];
  int64_t was_free = s->free_ns[d], was_room = s->room_bytes[m], end = b.start_ns + w->time_ns[i][d];
  s->free_ns[d] = end;
  if (was_room != INT64_MAX) s->room_bytes[m] -= w->weight_bytes[i];
  s->placed |= (uint32_t)1 << i;
  s->now.device[i] = d;
  s->now.sequence[depth] = i;
  memcpy(s->there_ns[depth + 1], s->there_ns[depth], sizeof s->there_ns[0]);
  for (int32_t k = s->out_start[i]; k < s->out_start[i + 1]; k++) {
    int64_t *there = s->there_ns[depth + 1][s->out_to[k]];
    s->waiting[s->out_to[k]]--;
    for (int32_t e = 0; e < w->n_devices; e++)
      there[e] = max64(there[e], end + capped(problem_transfer_ns(s->problem, s->out_tensor[k], d, e)));
  }
  bound_ns = max64(bound_ns, max64(b.bound_ns, bound_rest(s, depth + 1)));
  bool whole = bound_ns >= s->upper_ns || is_needless(s, depth + 1) || window_recurse(s, depth + 1, bound_ns);
  for (int32_t k = s->out_start[i]; k < s->out_start[i + 1]; k++) s->waiting[s->out_to[k]]++;
  s->placed &= ~((uint32_t)1 << i);
  s->free_ns[d] = was_free;
  s->room_bytes[m] = was_room;
  return whole;
}

static bool window_recurse(window_run *s, int32_t depth, int64_t bound_ns) {
  if (depth == s->w->n) {
    s->now.value_ns = bound_ns;
    s->upper_ns = s->visit(s->context, &s->now, s->upper_ns);
    return true;
  }
  int32_t n = list_branches(s, depth);
  for (int32_t k = 0; k < n; k++) {
    if (s->branches[depth][k].bound_ns >= s->upper_ns) break;
    if (++s->n_nodes > s->max_nodes) return false;
    if (!try_branch(s, depth, bound_ns, s->branches[depth][k])) return false;
  }
  return true;
}

bool window_search(const window *w, int64_t upper_ns, int64_t max_nodes, window_visitor *visit, void *context,
                   int64_t *n_nodes, arena *scratch) {
  REQUIRE(w->n >= 1 && w->n <= WINDOW_STRANDS && max_nodes > 0);
  arena_mark mark = arena_get_mark(scratch);
  window_run *s = ARENA_NEW(scratch, window_run, 1);
  *n_nodes = 0;
  if (!s) return false;
  s->w = w;
  s->scratch = scratch;
  s->problem = w->problem;
  s->upper_ns = upper_ns;
  s->n_nodes = 0;
  s->max_nodes = max_nodes;
  s->visit = visit;
  s->context = context;
  start_run(s);
  bool whole = window_recurse(s, 0, 0) && !s->failed;
  *n_nodes = s->n_nodes;
  arena_release(scratch, mark);
  return whole;
}

/* ---- signatures ---- */

static void put(uint8_t **at, int64_t x) {
  memcpy(*at, &x, sizeof x);
  *at += sizeof x;
}

/* No strand starts before this. */
static int64_t first_start(const window *w) {
  int64_t first = WINDOW_FAR_NS, inputs = WINDOW_FAR_NS;
  for (int32_t d = 0; d < w->n_devices; d++) first = min64(first, w->free_ns[d]);
  for (int32_t i = 0; i < w->n; i++)
    for (int32_t d = 0; d < w->n_devices && w->in_start[i] == w->in_start[i + 1]; d++)
      inputs = min64(inputs, w->arrive_ns[i][d]);
  return inputs < WINDOW_FAR_NS ? max64(first, inputs) : first;
}

size_t window_signature(const window *w, uint8_t *bytes) {
  const situ_problem *p = w->problem;
  uint8_t *at = bytes;
  int64_t first = first_start(w), shortest = WINDOW_FAR_NS;
  for (int32_t i = 0; i < w->n; i++)
    for (int32_t d = 0; d < w->n_devices; d++)
      if (w->leave_ns[i][d] >= 0) shortest = min64(shortest, w->leave_ns[i][d]);
  if (p->n_kinds > MAX_KINDS) return 0;
  put(&at, w->n);
  for (int32_t d = 0; d < w->n_devices; d++) put(&at, max64(w->free_ns[d], first) - first);
  for (int32_t m = 0; m < p->n_memories; m++) put(&at, w->room_bytes[m]);
  for (int32_t i = 0; i < w->n; i++) {
    put(&at, w->weight_bytes[i]);
    put(&at, w->group[i]);
    put(&at, w->in_start[i + 1]);
    for (int32_t d = 0; d < w->n_devices; d++) {
      put(&at, w->time_ns[i][d]);
      put(&at, max64(w->arrive_ns[i][d], first) - first);
      put(&at, w->leave_ns[i][d] < 0 ? -1 : w->leave_ns[i][d] - shortest);
    }
  }
  for (int32_t k = 0; k < w->in_start[w->n]; k++) {
    put(&at, w->in[k].from);
    for (int32_t kind = 0; kind < p->n_kinds; kind++) put(&at, p->transfer_ns[w->in[k].tensor][kind]);
  }
  return (size_t)(at - bytes);
}
