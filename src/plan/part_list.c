#include "plan/part_list.h"

#include <stdlib.h>

#include "base/checked.h"
#include "base/compare.h"
#include "view/pieces.h"

typedef struct dated_part {
  situ_part part;
  int64_t when; /* of its first operator with work; of any where none has */
  int32_t key;
} dated_part;

COMPARATOR(by_time, dated_part, UP(when) UP(part.first_operator))

static void add_member(dated_part *part, const situ_problem *p, const int32_t *device, const int64_t *when, int32_t v) {
  int64_t time_ns = problem_time_ns(p, v, device[v]), start = when ? when[v] : v;
  bool works = time_ns > 0, first_work = works && part->part.n_working == 0;
  if (part->part.n_operators++ == 0) {
    part->part.device = device[v];
    part->part.first_operator = v;
    part->when = start;
  }
  part->part.last_operator = v;
  part->part.n_working += works;
  part->part.work_ns = sat_add(part->part.work_ns, time_ns);
  if (first_work || (works == (part->part.n_working > 0) && start < part->when)) part->when = start;
}

static bool make_parts(part_list *out, const situ_problem *p, const int32_t *device, const int64_t *when, arena *a,
                       arena *scratch) {
  int32_t n = pieces_find(out->of, p, device, scratch);
  dated_part *rows = n >= 0 ? ARENA_ZERO(scratch, dated_part, n) : NULL;
  int32_t *number = n >= 0 ? ARENA_NEW(scratch, int32_t, n) : NULL;
  if (!rows || !number) return false;
  for (int32_t v = 0; v < p->n_operators; v++) add_member(&rows[out->of[v]], p, device, when, v);
  for (int32_t k = 0; k < n; k++) rows[k].key = k;
  qsort(rows, (size_t)n, sizeof *rows, by_time);
  out->n = n;
  out->part = ARENA_NEW(a, situ_part, n);
  if (!out->part) return false;
  for (int32_t k = 0; k < n; k++) {
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
      out->handed_bytes = sat_add(out->handed_bytes, p->given->size_bytes[t]);
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
