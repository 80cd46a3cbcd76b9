#include "plan/part_list.h"

#include <stdlib.h>

#include "base/checked.h"

/* The rule of docs/model.md for one device: piece(v) is the maximum over the predecessors u of piece(u) + [u not on d],
 * at least 1, for v on d, and the maximum of piece(u), at least 0, for others. */
static void count_pieces(int32_t *piece, const situ_graph *g, const int32_t *device, int32_t d) {
  for (int32_t v = 0; v < g->n_operators; v++) {
    bool here = device[v] == d;
    int32_t most = here;
    for (int64_t i = g->in_start[v]; i < g->in_start[v + 1]; i++) {
      int32_t u = g->producer[g->in[i]], next = piece[u] + (here && device[u] != d);
      if (next > most) most = next;
    }
    piece[v] = most;
  }
}

/* Numbers the pieces of each device after those of the devices before it. Returns how many there are, -1 without
 * memory. */
static int32_t number_pieces(int32_t *of, const situ_problem *p, const int32_t *device, arena *scratch) {
  int32_t n = p->n_operators, total = 0, *piece = ARENA_NEW(scratch, int32_t, n);
  bool *used = ARENA_ZERO(scratch, bool, p->n_devices);
  if (!piece || !used) return -1;
  for (int32_t v = 0; v < n; v++) used[device[v]] = true;
  for (int32_t d = 0; d < p->n_devices; d++) {
    if (!used[d]) continue;
    int32_t most = 0;
    count_pieces(piece, p->graph, device, d);
    for (int32_t v = 0; v < n; v++) {
      if (device[v] != d) continue;
      of[v] = total + piece[v] - 1;
      if (piece[v] > most) most = piece[v];
    }
    total += most;
  }
  return total;
}

typedef struct dated_part {
  situ_part part;
  int64_t when;
  int32_t key;
} dated_part;

static int by_time(const void *a, const void *b) {
  const dated_part *x = a, *y = b;
  if (x->when != y->when) return x->when < y->when ? -1 : 1;
  return (x->part.first_operator > y->part.first_operator) - (x->part.first_operator < y->part.first_operator);
}

static void add_member(dated_part *part, const situ_problem *p, const int32_t *device, const int64_t *when, int32_t v) {
  int64_t time_ns = problem_time_ns(p, v, device[v]), start = when ? when[v] : v;
  bool works = time_ns > 0;
  if (part->part.n_operators++ == 0) {
    part->part.device = device[v];
    part->part.first_operator = v;
    part->when = start;
  }
  part->part.last_operator = v;
  part->part.n_working += works;
  part->part.work_ns = sat_add(part->part.work_ns, time_ns);
  part->when = min64(part->when, start);
}

static bool make_parts(part_list *out, const situ_problem *p, const int32_t *device, const int64_t *when, arena *a,
                       arena *scratch) {
  int32_t n = number_pieces(out->of, p, device, scratch), kept = 0;
  dated_part *rows = n >= 0 ? ARENA_ZERO(scratch, dated_part, n) : NULL;
  int32_t *number = n >= 0 ? ARENA_NEW(scratch, int32_t, n) : NULL;
  if (!rows || !number) return false;
  for (int32_t v = 0; v < p->n_operators; v++) add_member(&rows[out->of[v]], p, device, when, v);
  for (int32_t k = 0; k < n; k++) {
    if (rows[k].part.n_operators == 0) continue; /* a path may skip a number */
    rows[kept] = rows[k];
    rows[kept++].key = k;
  }
  qsort(rows, (size_t)kept, sizeof *rows, by_time);
  out->n = kept;
  out->part = ARENA_NEW(a, situ_part, kept);
  if (!out->part) return false;
  for (int32_t k = 0; k < kept; k++) {
    out->part[k] = rows[k].part;
    number[rows[k].key] = k;
  }
  for (int32_t v = 0; v < p->n_operators; v++) out->of[v] = number[out->of[v]];
  return true;
}

/* Adds the bytes of each tensor for each memory that receives it: `held` remembers the tensor that came there last. */
static bool add_bytes(part_list *out, const situ_problem *p, const int32_t *device, arena *scratch) {
  const situ_graph *g = p->graph;
  int32_t *held = ARENA_NEW(scratch, int32_t, p->n_memories);
  if (!held) return false;
  for (int32_t m = 0; m < p->n_memories; m++) held[m] = -1;
  for (int32_t t = 0; t < g->n_tensors; t++) {
    if (problem_is_everywhere(p, t)) continue;
    held[p->memory_of[device[g->producer[t]]]] = t;
    for (int64_t i = g->use_start[t]; i < g->use_start[t + 1]; i++) {
      int32_t memory = p->memory_of[device[g->use[i]]];
      if (held[memory] == t) continue;
      held[memory] = t;
      out->handed_bytes = sat_add(out->handed_bytes, g->size_bytes[t]);
    }
  }
  return true;
}

bool part_list_find(part_list *out, const situ_problem *problem, const int32_t *device, const int64_t *when, arena *a) {
  *out = (part_list){.of = ARENA_NEW(a, int32_t, problem->n_operators)};
  arena *scratch = arena_new();
  bool made = out->of && scratch && make_parts(out, problem, device, when, a, scratch) &&
              add_bytes(out, problem, device, scratch);
  arena_free(scratch);
  return made;
}
