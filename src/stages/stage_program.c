#include "stages/stage_program.h"

#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "base/fail.h"
#include "base/sort.h"
#include "stages/stage_choice.h"
#include "stages/stage_sets.h"

enum { MAX_SETS = 1 << 17, NOT_YET = INT32_MAX };
static const int64_t MAX_CELLS = (int64_t)1 << 24;
static const int64_t MAX_SUM_NS = STAGE_MAX_LAYERS * ((int64_t)1 << 50); /* of the layers of a stage */

/* The best plan known for a set of layers on at most so many devices: how it begins. */
typedef struct cell {
  int32_t n_inputs; /* under way in it: the sum of the replicas of its stages; NOT_YET: no plan */
  int32_t rest;     /* the set without its first stage */
  stage_part part;  /* its first stage */
} cell;

typedef struct program {
  const stage_network *x;
  const stage_rules *rules;
  budget *budget;
  stage_sets sets;
  int32_t *order;      /* sets by work */
  int64_t *work_ns;    /* [set] of one device, at least */
  int64_t *size_bytes; /* [set] of memory, at least */
  int32_t *part_size;  /* [devices] the least number, from there on, that a stage may have */
  int32_t *replicas, n_replicas;
  cell *cells; /* [set][devices] */
  int64_t max_ns;
  /* of the pair of sets in hand */
  stage_choice choice;
  int32_t *layer, n;                  /* of the stage */
  int64_t *variant_ns, *variant_sync; /* [variant of these] time with transfers, and bytes of gradients */
  int32_t *variant;                   /* likewise: its index in the network */
} program;

static bool may_use(const stage_rules *rules, const stage_variant *variant, int32_t degree) {
  return (degree == 1 || !rules->no_splits) && !(rules->no_recompute && variant->recomputes);
}

/* The time of a replica's share in combining the gradients of so many bytes of weights, for each round of inputs. */
static int64_t sync_ns(const stage_machine *m, int64_t weight_bytes, int64_t n_replicas) {
  __int128 bytes = (__int128)4 * (n_replicas - 1) * weight_bytes;
  return stage_transfer_ns(m, (bytes + m->n_inputs - 1) / m->n_inputs);
}

static cell *cell_at(const program *p, int32_t set, int64_t devices) {
  return &p->cells[set * (p->rules->machine.n_devices + 1) + devices];
}

static int64_t divide_up(int64_t a, int64_t b) { return (a + b - 1) / b; }

/* ---- what a set needs at least ---- */

static void least_of(const program *p, int32_t v, int64_t *work_ns, int64_t *size_bytes) {
  const stage_network *x = p->x;
  *work_ns = *size_bytes = STAGE_NEVER_NS;
  for (int32_t g = 0; g < x->n_degrees; g++) {
    int32_t at = v * x->n_degrees + g;
    for (int32_t i = x->variant_start[at]; i < x->variant_start[at + 1]; i++) {
      const stage_variant *w = &x->variant[i];
      if (!may_use(p->rules, w, x->degree[g])) continue;
      *work_ns = min64(*work_ns, w->time_ns * x->degree[g]);
      *size_bytes = min64(*size_bytes, w->kept_bytes + w->fixed_bytes);
    }
  }
}

static bool measure_sets(program *p, arena *a) {
  int32_t n = p->sets.n, n_layers = p->x->n_layers;
  keyed *key = ARENA_NEW(a, keyed, n); /* sets by their work */
  int64_t *work_ns, *size_bytes;
  if (!key || !ARENA_ARRAYS(a, ARRAY(p->order, n), ARRAY(p->work_ns, n), ARRAY(p->size_bytes, n),
                            ARRAY(work_ns, n_layers), ARRAY(size_bytes, n_layers)))
    return false;
  for (int32_t v = 0; v < n_layers; v++) least_of(p, v, &work_ns[v], &size_bytes[v]);
  for (int32_t i = 0; i < n; i++) {
    p->work_ns[i] = p->size_bytes[i] = 0;
    for (int32_t v = 0; v < n_layers; v++) {
      if (!stage_set_has(stage_set(&p->sets, i), v)) continue;
      p->work_ns[i] = sat_add(p->work_ns[i], work_ns[v]);
      p->size_bytes[i] = sat_add(p->size_bytes[i], size_bytes[v]);
    }
    key[i] = (keyed){p->work_ns[i], i};
  }
  sort_keyed(key, n);
  for (int32_t i = 0; i < n; i++) p->order[i] = key[i].at;
  return true;
}

/* How often a stage may be replicated, and which numbers of devices stages may have. */
static bool list_sizes(program *p, arena *a) {
  const stage_machine *m = &p->rules->machine;
  int64_t most = p->rules->no_replicas ? 1 : min64(m->n_devices, m->n_inputs);
  if (!ARENA_ARRAYS(a, ARRAY(p->part_size, m->n_devices + 2), ARRAY(p->replicas, most))) return false;
  for (int32_t k = 0; k <= m->n_devices + 1; k++) p->part_size[k] = NOT_YET;
  for (int32_t r = 1; r <= most; r++) {
    if (m->n_inputs % r != 0) continue;
    p->replicas[p->n_replicas++] = r;
    for (int32_t g = 0; g < p->x->n_degrees; g++) {
      int64_t size = (int64_t)r * p->x->degree[g];
      if (size <= m->n_devices && (p->x->degree[g] == 1 || !p->rules->no_splits)) p->part_size[size] = (int32_t)size;
    }
  }
  for (int64_t k = m->n_devices; k >= 0; k--)
    if (p->part_size[k] == NOT_YET) p->part_size[k] = p->part_size[k + 1];
  return true;
}

/* ---- one stage ---- */

/* The layers of one set that are not in another one within it. */
static void list_layers(program *p, const uint64_t *all, const uint64_t *rest) {
  p->n = 0;
  for (int32_t i = 0; i < p->sets.words; i++)
    for (uint64_t left = all[i] & ~rest[i]; left; left &= left - 1) p->layer[p->n++] = 64 * i + __builtin_ctzll(left);
}

/* The bytes that a variant sends over edges that leave the stage, there and back. */
static __int128 sent_bytes(const program *p, int32_t v, const stage_variant *w, const uint64_t *all,
                           const uint64_t *rest) {
  const stage_network *x = p->x;
  __int128 bytes = 0;
  for (int32_t i = x->edge_start[v]; i < x->edge_start[v + 1]; i++) {
    int32_t e = x->edge[i], other = x->from[e] == v ? x->to[e] : x->from[e];
    if (stage_set_has(all, other) && !stage_set_has(rest, other)) continue;
    bytes += (__int128)2 * (x->edge_bytes[e] + w->sync_bytes[i - x->edge_start[v]]);
  }
  return bytes;
}

/* All variants of the layers of a stage at a degree; false where one has none. */
static bool list_variants(program *p, int32_t g, const uint64_t *all, const uint64_t *rest) {
  const stage_network *x = p->x;
  stage_choice *c = &p->choice;
  int32_t n = 0;
  c->n = p->n;
  for (int32_t k = 0; k < p->n; k++) {
    int32_t v = p->layer[k], at = v * x->n_degrees + g;
    c->start[k] = n;
    for (int32_t i = x->variant_start[at]; i < x->variant_start[at + 1]; i++) {
      const stage_variant *w = &x->variant[i];
      int64_t ns = sat_add(w->time_ns, stage_transfer_ns(&p->rules->machine, sent_bytes(p, v, w, all, rest)));
      if (ns >= STAGE_NEVER_NS || !may_use(p->rules, w, x->degree[g])) continue;
      c->variant[n].kept_bytes = w->kept_bytes;
      p->variant_ns[n] = ns;
      p->variant_sync[n] = w->weight_bytes;
      p->variant[n++] = i;
    }
    c->start[k + 1] = n;
    if (n == c->start[k]) return false;
  }
  return true;
}

/* Whether the stage in hand runs on so many replicas within max_ns, each with so many inputs. */
static choice_answer find_choice(program *p, int64_t n_replicas, int64_t n_kept, int64_t max_ns) {
  stage_choice *c = &p->choice;
  for (int32_t w = 0; w < c->start[c->n]; w++) {
    int64_t ns = p->variant_ns[w] + sync_ns(&p->rules->machine, p->variant_sync[w], n_replicas);
    bool ends = ns < STAGE_NEVER_NS; /* else it fits into no memory */
    c->variant[w].time_ns = ends ? ns : STAGE_NEVER_NS;
    c->variant[w].fixed_bytes = ends ? p->x->variant[p->variant[w]].fixed_bytes : INT64_MAX;
  }
  return stage_choice_find(c, n_kept, min64(sat_mul(n_replicas, max_ns), MAX_SUM_NS), p->rules->machine.memory_bytes);
}

/* The inputs that each replica of a stage keeps, with so many under way after it. */
static int64_t kept_inputs(int64_t n_after, int64_t n_replicas) { return divide_up(n_after, n_replicas) + 1; }

/* ---- which sets can be run within max_ns ----
 *
 * Later stages keep fewer inputs, and a stage that keeps fewer needs less memory. So of all plans of a set on k devices
 * the one with the fewest inputs under way is the best, whatever comes before it: one number for each set and k.
 */

/* Puts a stage with so many replicas and this degree before the plans of `rest`. Where fewer inputs are under way the
 * stage fits as well, so the first of the numbers of devices at which it fits is sought by bisection. */
static void put_before(program *p, int32_t all, int32_t rest, stage_part part, const int32_t *drop, int32_t n_drops,
                       int64_t most_devices) {
  int64_t own = (int64_t)part.degree * part.n_replicas;
  int32_t low = 0, high = n_drops;
  while (high > 0 && drop[high - 1] + own > most_devices) high--;
  int32_t end = high;
  if (high == 0) return;
  for (int32_t middle = 0; low < high; middle = low + (high - low) / 2) { /* looks at the first one first */
    int64_t n_kept = kept_inputs(cell_at(p, rest, drop[middle])->n_inputs, part.n_replicas);
    if (find_choice(p, part.n_replicas, n_kept, p->max_ns) == CHOICE_NONE)
      low = middle + 1;
    else
      high = middle;
  }
  for (int32_t i = low; i < end; i++) {
    int64_t n_inputs = (int64_t)cell_at(p, rest, drop[i])->n_inputs + part.n_replicas;
    cell *c = cell_at(p, all, drop[i] + own);
    if (n_inputs > p->rules->machine.n_inputs || n_inputs >= c->n_inputs) continue;
    *c = (cell){.n_inputs = (int32_t)n_inputs, .rest = rest, .part = part};
  }
}

static void extend(program *p, int32_t all, int32_t rest, const int32_t *drop, int32_t n_drops, int64_t most_devices) {
  const stage_network *x = p->x;
  const uint64_t *outer = stage_set(&p->sets, all), *inner = stage_set(&p->sets, rest);
  list_layers(p, outer, inner);
  for (int32_t g = 0; g < x->n_degrees; g++) {
    if (drop[0] + x->degree[g] > most_devices || !list_variants(p, g, outer, inner)) continue;
    for (int32_t i = 0; i < p->n_replicas; i++) {
      stage_part part = {x->degree[g], p->replicas[i]};
      if (drop[0] + (int64_t)part.degree * part.n_replicas > most_devices) break;
      if (find_choice(p, part.n_replicas, 1, p->max_ns) != CHOICE_NONE)
        put_before(p, all, rest, part, drop, n_drops, most_devices);
    }
  }
}

/* Numbers of devices from which on fewer inputs are under way. Fills the cells in between. */
static int32_t find_drops(const program *p, int32_t set, int32_t *drop) {
  int32_t n = 0;
  for (int32_t k = 0; k <= p->rules->machine.n_devices; k++) {
    cell *c = cell_at(p, set, k), *before = k > 0 ? c - 1 : NULL;
    if (before && before->n_inputs <= c->n_inputs)
      *c = *before;
    else if (c->n_inputs != NOT_YET)
      drop[n++] = k;
  }
  return n;
}

/* Fills the cells for periods up to max_ns; whether all layers can be run. *stopped: by the budget. */
static bool can_run(program *p, int64_t max_ns, int32_t *drop, bool *stopped) {
  int32_t n = p->sets.n, whole = n - 1;
  int64_t n_devices = p->rules->machine.n_devices, n_cells = n * (n_devices + 1);
  p->max_ns = max_ns;
  for (int64_t i = 0; i < n_cells; i++) p->cells[i].n_inputs = NOT_YET;
  cell_at(p, 0, 0)->n_inputs = 0;
  for (int32_t i = 0; i < n; i++) {
    int32_t rest = p->order[i], n_drops = find_drops(p, rest, drop);
    if (n_drops == 0) continue;
    for (int32_t j = i + 1; j < n; j++) {
      int32_t all = p->order[j];
      int64_t least = divide_up(p->work_ns[all] - p->work_ns[rest], max_ns);
      if (drop[0] + least > n_devices) break;
      int64_t most = n_devices - divide_up(p->work_ns[whole] - p->work_ns[all], max_ns);
      int64_t own = p->part_size[max64(least, 1)];
      if (drop[0] + own > most || p->size_bytes[all] - p->size_bytes[rest] > p->rules->machine.memory_bytes) continue;
      if (!stage_set_within(stage_set(&p->sets, rest), stage_set(&p->sets, all), p->sets.words)) continue;
      extend(p, all, rest, drop, n_drops, most);
      if (budget_spend(p->budget, 1)) {
        *stopped = true;
        return false;
      }
    }
  }
  return find_drops(p, whole, drop) > 0;
}

/* ---- the plan ---- */

/* Reads it from the cells; choices that take longer than max_ns, where the knapsack gave up. */
static void take_plan(program *p, stage_plan *out, const int32_t *drop) {
  int32_t set = p->sets.n - 1;
  int64_t devices = drop[0];
  out->n_stages = 0;
  out->period_ns = 1;
  for (; set != 0; out->n_stages++) {
    cell c = *cell_at(p, set, devices);
    const uint64_t *outer = stage_set(&p->sets, set), *inner = stage_set(&p->sets, c.rest);
    int32_t g = 0;
    while (p->x->degree[g] != c.part.degree) g++;
    devices -= (int64_t)c.part.degree * c.part.n_replicas;
    int64_t n_kept = kept_inputs(cell_at(p, c.rest, devices)->n_inputs, c.part.n_replicas), ns = 0;
    list_layers(p, outer, inner);
    list_variants(p, g, outer, inner);
    if (find_choice(p, c.part.n_replicas, n_kept, p->max_ns) != CHOICE_FOUND)
      stage_choice_find(&p->choice, n_kept, MAX_SUM_NS, p->rules->machine.memory_bytes);
    for (int32_t k = 0; k < p->n; k++) {
      int32_t w = p->choice.start[k] + p->choice.pick[k];
      out->stage[p->layer[k]] = out->n_stages;
      out->variant[p->layer[k]] = p->variant[w];
      ns += p->choice.variant[w].time_ns;
    }
    out->part[out->n_stages] = c.part;
    out->time_ns[out->n_stages] = divide_up(ns, c.part.n_replicas);
    out->period_ns = max64(out->period_ns, out->time_ns[out->n_stages]);
    set = c.rest;
  }
}

/* Bisects the period between what is too short and what a plan has. A plan is better than the period that was asked for
 * if choices happen to be faster, and worse if the knapsack gave up: then the bound stays where it was. */
static void bisect(program *p, stage_plan *best, stage_plan *trial, int32_t *drop) {
  int64_t work_ns = min64(p->work_ns[p->sets.n - 1], STAGE_NEVER_NS - 1);
  int64_t low = max64(1, divide_up(work_ns, p->rules->machine.n_devices)), step = low / 32 + 1;
  bool stopped = false, open = false;
  best->lower_ns = low;
  best->period_ns = STAGE_NEVER_NS;
  while (low < best->period_ns) {
    int64_t max_ns = best->n_stages > 0 ? low + (best->period_ns - 1 - low) / 2 : min64(low + step, STAGE_NEVER_NS - 1);
    step = sat_mul(step, 2);
    if (can_run(p, max_ns, drop, &stopped)) {
      take_plan(p, trial, drop);
      if (trial->period_ns < best->period_ns) {
        int64_t lower_ns = best->lower_ns;
        stage_plan old = *best;
        *best = *trial;
        best->lower_ns = lower_ns;
        *trial = old;
      }
      open |= best->period_ns > max_ns;
      if (best->period_ns > max_ns) low = max_ns + 1;
    } else if (stopped) {
      return;
    } else {
      low = max_ns + 1;
      if (!open) best->lower_ns = low;
    }
  }
}

static bool make_plan(stage_plan *out, const stage_network *x, arena *a) {
  *out = (stage_plan){0};
  return ARENA_ARRAYS(a, ARRAY(out->part, x->n_layers), ARRAY(out->stage, x->n_layers),
                      ARRAY(out->variant, x->n_layers), ARRAY(out->time_ns, x->n_layers));
}

situ_status stage_program_solve(stage_plan *out, const stage_network *x, const stage_rules *rules, budget *b, arena *a,
                                arena *scratch, situ_error *error) {
  program p = {.x = x, .rules = rules, .budget = b};
  int64_t n_devices = rules->machine.n_devices;
  int32_t n_variants = x->variant_start[(int64_t)x->n_layers * x->n_degrees], *drop;
  stage_plan trial;
  bool whole;
  if (!make_plan(out, x, a) || !make_plan(&trial, x, a) || !stage_sets_find(&p.sets, &whole, x, MAX_SETS, scratch))
    return fail_no_memory(error);
  int64_t n_cells = p.sets.n * (n_devices + 1);
  if (!whole || n_cells > MAX_CELLS)
    return fail_with(error, SITU_STATUS_UNSUPPORTED, NULL,
                     "the network can be cut in too many ways: %s%d sets of layers, and %lld devices",
                     whole ? "" : "more than ", (int)p.sets.n, (long long)n_devices);
  if (!measure_sets(&p, scratch) || !list_sizes(&p, scratch) ||
      !stage_choice_make(&p.choice, x->n_layers, n_variants, scratch) ||
      !ARENA_ARRAYS(scratch, ARRAY(p.cells, n_cells), ARRAY(p.layer, x->n_layers), ARRAY(p.variant_ns, n_variants),
                    ARRAY(p.variant_sync, n_variants), ARRAY(p.variant, n_variants), ARRAY(drop, n_devices + 1)))
    return fail_no_memory(error);
  bisect(&p, out, &trial, drop);
  return SITU_STATUS_OK;
}
