/* linear_dp: the best contiguous split of one linear order of the classes of problem/contract.h (the "linearised"
 * dynamic programme of Tarnawski et al., NeurIPS 2020).
 *
 * A placement is a chain of devices, each with a segment of the order. With best(s, j) the least greatest load over the
 * first j classes when s says how many devices of each type were used up,
 *
 *     best(s, j) = min over types k with s_k > 0 and i <= j of max(best(s - e_k, i), load_k(i .. j)).
 *
 * Loads of all segments that end at j come from growing the segment backwards one class at a time: for each tensor it
 * is counted how many of its ends lie inside, so that all pairs together take O(classes * (V + E)).
 *
 * Exact for its order, among plans with one segment for each device, with host-staged communication where no two
 * accelerators share a memory and no two devices a limited one, and with up to some thousand classes; longer orders
 * are cut at fewer places. With links, a device's load is taken as the greatest of compute, incoming and outgoing
 * transfers, which is the load of its links in a star. The value offered is always the simulator's.
 *
 * A step is one end of a segment, with all its beginnings. */
#include <stdlib.h>

#include "base/checked.h"
#include "base/fail.h"
#include "problem/contract.h"
#include "problem/footprint.h"
#include "solve/solver.h"

enum {
  MOST_BLOCKS = 4096, /* cut places of an order; above, neighbours are taken together */
  LEAST_BLOCKS = 64,
  MOST_GROWTH = 100000000, /* pins looked at while segments grow */
  MOST_CELLS = 8000000     /* entries of a table */
};

/* Devices that are alike in all that a segment pays for. */
typedef struct device_type {
  int32_t first, count;      /* its devices: type_device[first .. first + count) */
  int32_t class_index;       /* of times */
  int32_t in_kind, out_kind; /* of routes from and to the host */
  int64_t memory_bytes;
  bool host;
  int32_t pinned_device; /* the only device when operators are pinned there, else -1 */
} device_type;

/* A class of operators as one thing. */
typedef struct weight {
  int64_t weight_bytes, stash_bytes, footprint_bytes;
} weight;

typedef struct choice {
  int32_t from;
  int32_t type; /* -1: as the state with one device less */
} choice;

/* The segment at hand, grown backwards. Transfers are wide so that they can be taken off again exactly. */
typedef struct segment {
  weight sum;
  int64_t *compute_ns;         /* [type] */
  __int128 *in_ns, *out_ns;    /* [type] */
  bool *produced;              /* [tensor] its producer lies inside */
  int32_t *used;               /* [tensor] users inside */
  int32_t *touched, n_touched; /* tensors with an end inside */
} segment;

typedef struct linear {
  solve_run *run;
  const situ_problem *problem;
  arena *arena;
  contraction classes;
  weight *weights;  /* [class] */
  int64_t *time_ns; /* [class * n_types + type] */
  int32_t n_types;
  device_type *types;
  int32_t *type_device;
  int32_t n_states;
  int32_t *stride; /* [type] state number = sum of used * stride */

  int32_t *order;       /* the classes in the order at hand */
  int32_t n_blocks;     /* places between which a cut may lie */
  int32_t *block_start; /* [block] into order */
  int64_t *best_ns;     /* [block * n_states + state], before block */
  choice *choices;      /* likewise */
  segment part;
  int32_t *left, *class_device, *device;
} linear;

/* ---- devices ---- */

static bool alike(const device_type *x, const device_type *y) {
  return x->class_index == y->class_index && x->in_kind == y->in_kind && x->out_kind == y->out_kind &&
         x->memory_bytes == y->memory_bytes && x->host == y->host && x->pinned_device == y->pinned_device;
}

static device_type describe(const situ_problem *p, int32_t d, bool pinned) {
  return (device_type){.count = 1,
                       .class_index = p->class_of[d],
                       .in_kind = p->device_kind[(int64_t)p->host * p->n_devices + d],
                       .out_kind = p->device_kind[(int64_t)d * p->n_devices + p->host],
                       .memory_bytes = p->platform->memory_bytes[p->memory_of[d]],
                       .host = problem_is_host(p, d),
                       .pinned_device = pinned ? d : -1};
}

/* Groups the devices that may be used; a device that operators are pinned to is alone in its type. */
static bool group_devices(linear *l) {
  const situ_problem *p = l->problem;
  bool *pinned = ARENA_ZERO(l->arena, bool, p->n_devices);
  int32_t *type_of = ARENA_NEW(l->arena, int32_t, p->n_devices);
  l->types = ARENA_NEW(l->arena, device_type, p->n_devices);
  l->type_device = ARENA_NEW(l->arena, int32_t, p->n_devices);
  if (!pinned || !type_of || !l->types || !l->type_device) return false;
  for (int32_t v = 0; v < p->n_operators; v++)
    if (p->pin[v] >= 0) pinned[p->pin[v]] = true;
  for (int32_t d = 0; d < p->n_devices; d++) {
    type_of[d] = -1;
    if (p->unused[d] && !pinned[d]) continue;
    device_type type = describe(p, d, pinned[d]);
    int32_t k = 0;
    while (k < l->n_types && !alike(&l->types[k], &type)) k++;
    type_of[d] = k;
    if (k == l->n_types)
      l->types[l->n_types++] = type;
    else
      l->types[k].count++;
  }
  int32_t n = 0;
  for (int32_t k = 0; k < l->n_types; k++) {
    l->types[k].first = n;
    for (int32_t d = 0; d < p->n_devices; d++)
      if (type_of[d] == k) l->type_device[n++] = d;
  }
  return true;
}

/* ---- weights ---- */

static bool weigh_classes(linear *l) {
  const situ_problem *p = l->problem;
  const situ_graph *g = p->graph;
  const contraction *c = &l->classes;
  l->weights = ARENA_ZERO(l->arena, weight, c->n_classes);
  l->time_ns = ARENA_ZERO(l->arena, int64_t, (int64_t)c->n_classes * l->n_types);
  if (!l->weights || !l->time_ns) return false;
  for (int32_t v = 0; v < g->n_operators; v++) {
    weight *w = &l->weights[c->class_of[v]];
    w->footprint_bytes = max64(w->footprint_bytes, footprint_bytes(g, v));
    w->stash_bytes = sat_add(w->stash_bytes, footprint_stash_bytes(g, v));
    w->weight_bytes = sat_add(w->weight_bytes, g->weight_bytes[v]);
    for (int32_t k = 0; k < l->n_types; k++) {
      int32_t d = l->type_device[l->types[k].first];
      int64_t *sum = &l->time_ns[(int64_t)c->class_of[v] * l->n_types + k];
      *sum = sat_add(*sum, problem_allows(p, v, d) ? problem_time_ns(p, v, d) : SITU_NEVER_NS);
    }
  }
  return true;
}

/* Work of a class for the sake of equal blocks: its time on the best type, a little where there is none. */
static double work(const linear *l, int32_t class_index) {
  int64_t least = SITU_NEVER_NS;
  for (int32_t k = 0; k < l->n_types; k++) least = min64(least, l->time_ns[(int64_t)class_index * l->n_types + k]);
  return least == SITU_NEVER_NS ? 1 : 1 + (double)least;
}

/* ---- the order ---- */
static int ascending(const void *a, const void *b) {
  int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
  return (x > y) - (x < y);
}

typedef struct ranked {
  int64_t id;
  int32_t class_index;
} ranked;

static int by_id(const void *a, const void *b) {
  const ranked *x = a, *y = b;
  if (x->id != y->id) return x->id < y->id ? -1 : 1;
  return (x->class_index > y->class_index) - (x->class_index < y->class_index);
}

/* Kahn's algorithm with a stack, which finishes one branch before it begins the next. Classes are compared by the least
 * identity that an operator of theirs has in its file (then by number): sources come in ascending order, and of the
 * classes that become ready together the greatest comes first. These ties give the values that the published code
 * reaches on all published workloads. */
static bool order_classes(linear *l) {
  const contraction *c = &l->classes;
  const constraint_graph *f = &c->forward;
  ranked *rows = ARENA_NEW(l->arena, ranked, f->n);
  int32_t *rank = ARENA_NEW(l->arena, int32_t, f->n), *to = ARENA_NEW(l->arena, int32_t, f->start[f->n]);
  int32_t *waiting = ARENA_ZERO(l->arena, int32_t, f->n), *stack = ARENA_NEW(l->arena, int32_t, f->n);
  if (!rows || !rank || !to || !waiting || !stack) return false;
  for (int32_t k = 0; k < f->n; k++) {
    rows[k] = (ranked){INT64_MAX, k};
    for (int32_t i = c->member_start[k]; i < c->member_start[k + 1]; i++)
      rows[k].id = min64(rows[k].id, l->problem->graph->source_id[c->member[i]]);
  }
  qsort(rows, (size_t)f->n, sizeof *rows, by_id);
  for (int32_t r = 0; r < f->n; r++) rank[rows[r].class_index] = r;
  for (int32_t k = 0; k < f->n; k++) {
    for (int64_t i = f->start[k]; i < f->start[k + 1]; i++) {
      to[i] = rank[f->to[i]];
      waiting[f->to[i]]++;
    }
    qsort(to + f->start[k], (size_t)(f->start[k + 1] - f->start[k]), sizeof *to, ascending);
  }
  int32_t n_stack = 0, n_done = 0;
  for (int32_t r = f->n - 1; r >= 0; r--)
    if (waiting[rows[r].class_index] == 0) stack[n_stack++] = rows[r].class_index;
  while (n_stack > 0) {
    int32_t k = stack[--n_stack];
    l->order[n_done++] = k;
    for (int64_t i = f->start[k]; i < f->start[k + 1]; i++) {
      int32_t next = rows[to[i]].class_index;
      if (--waiting[next] == 0) stack[n_stack++] = next;
    }
  }
  return true;
}

/* Cuts lie between all classes where there are at most `most`; else the order is cut into blocks of about equal work.
 */
static void cut_blocks(linear *l, int32_t most) {
  int32_t n = l->classes.n_classes;
  double total = 0, before = 0;
  for (int32_t i = 0; i < n; i++) total += work(l, i);
  l->n_blocks = 0;
  int32_t last = -1;
  for (int32_t i = 0; i < n; i++) {
    int32_t block = n <= most ? i : (int32_t)(before / total * most);
    if (block != last) l->block_start[l->n_blocks++] = i;
    last = block;
    before += work(l, l->order[i]);
  }
  l->block_start[l->n_blocks] = n;
}

/* ---- memory ---- */

/* Leaves out devices, the most numerous types first, until the tables have at most `most` states. */
static void limit_states(linear *l, int64_t most) {
  for (;;) {
    int64_t n = 1;
    int32_t largest = 0;
    for (int32_t k = 0; k < l->n_types; k++) {
      l->stride[k] = (int32_t)n;
      n = sat_mul(n, l->types[k].count + 1);
      if (n > most) n = most + 1;
      if (l->types[k].count > l->types[largest].count) largest = k;
    }
    l->n_states = (int32_t)n;
    if (n <= most) return;
    if (l->types[largest].count > 1)
      l->types[largest].count -= (l->types[largest].count + 7) / 8;
    else
      l->n_types--;
  }
}

static bool allocate(linear *l) {
  const situ_graph *g = l->problem->graph;
  arena *a = l->arena;
  int32_t n = l->classes.n_classes;
  int64_t affordable = MOST_GROWTH / (g->n_uses + g->n_operators);
  l->n_blocks = (int32_t)min64(n, max64(LEAST_BLOCKS, min64(affordable, MOST_BLOCKS)));
  l->stride = ARENA_NEW(a, int32_t, l->n_types);
  if (!l->stride) return false;
  limit_states(l, MOST_CELLS / (l->n_blocks + 1));
  int64_t n_cells = (int64_t)l->n_states * (l->n_blocks + 1);
  segment *s = &l->part;
  return (l->order = ARENA_NEW(a, int32_t, n)) && (l->block_start = ARENA_NEW(a, int32_t, (int64_t)l->n_blocks + 2)) &&
         (l->best_ns = ARENA_NEW(a, int64_t, n_cells)) && (l->choices = ARENA_NEW(a, choice, n_cells)) &&
         (s->compute_ns = ARENA_NEW(a, int64_t, l->n_types)) && (s->in_ns = ARENA_NEW(a, __int128, l->n_types)) &&
         (s->out_ns = ARENA_NEW(a, __int128, l->n_types)) && (s->produced = ARENA_ZERO(a, bool, g->n_tensors)) &&
         (s->used = ARENA_ZERO(a, int32_t, g->n_tensors)) && (s->touched = ARENA_NEW(a, int32_t, g->n_tensors)) &&
         (l->left = ARENA_NEW(a, int32_t, l->n_types)) && (l->class_device = ARENA_NEW(a, int32_t, n)) &&
         (l->device = ARENA_NEW(a, int32_t, g->n_operators));
}

/* ---- segments ---- */

static void clear_segment(linear *l) {
  segment *s = &l->part;
  for (int32_t i = 0; i < s->n_touched; i++) {
    s->produced[s->touched[i]] = false;
    s->used[s->touched[i]] = 0;
  }
  s->n_touched = 0;
  s->sum = (weight){0};
  for (int32_t k = 0; k < l->n_types; k++) {
    s->compute_ns[k] = 0;
    s->in_ns[k] = s->out_ns[k] = 0;
  }
}

static void add_in(linear *l, int32_t t, int32_t sign) {
  const int64_t *transfer_ns = l->problem->transfer_ns + (int64_t)t * l->problem->n_kinds;
  for (int32_t k = 0; k < l->n_types; k++)
    if (!l->types[k].host) l->part.in_ns[k] += sign * (__int128)transfer_ns[l->types[k].in_kind];
}

static void add_out(linear *l, int32_t t, int32_t sign) {
  const int64_t *transfer_ns = l->problem->transfer_ns + (int64_t)t * l->problem->n_kinds;
  for (int32_t k = 0; k < l->n_types; k++)
    if (!l->types[k].host) l->part.out_ns[k] += sign * (__int128)transfer_ns[l->types[k].out_kind];
}

static void touch(segment *s, int32_t t) {
  if (!s->produced[t] && s->used[t] == 0) s->touched[s->n_touched++] = t;
}

static void grow_segment(linear *l, int32_t class_index) {
  const situ_graph *g = l->problem->graph;
  const contraction *c = &l->classes;
  segment *s = &l->part;
  const weight *w = &l->weights[class_index];
  s->sum.weight_bytes = sat_add(s->sum.weight_bytes, w->weight_bytes);
  s->sum.stash_bytes = sat_add(s->sum.stash_bytes, w->stash_bytes);
  s->sum.footprint_bytes = max64(s->sum.footprint_bytes, w->footprint_bytes);
  for (int32_t k = 0; k < l->n_types; k++)
    s->compute_ns[k] = sat_add(s->compute_ns[k], l->time_ns[(int64_t)class_index * l->n_types + k]);
  for (int32_t m = c->member_start[class_index]; m < c->member_start[class_index + 1]; m++) {
    int32_t v = c->member[m];
    for (int32_t t = g->out_start[v]; t < g->out_start[v + 1]; t++) {
      touch(s, t);
      if (s->used[t] > 0) add_in(l, t, -1);
      if (s->used[t] < g->use_start[t + 1] - g->use_start[t]) add_out(l, t, 1);
      s->produced[t] = true;
    }
    for (int64_t i = g->in_start[v]; i < g->in_start[v + 1]; i++) {
      int32_t t = g->in[i];
      touch(s, t);
      if (s->produced[t]) {
        if (s->used[t] + 1 == g->use_start[t + 1] - g->use_start[t]) add_out(l, t, -1);
      } else if (s->used[t] == 0) {
        add_in(l, t, 1);
      }
      s->used[t]++;
    }
  }
}

static int64_t clamp_ns(__int128 x) { return x > SITU_NEVER_NS ? SITU_NEVER_NS : (int64_t)x; }

static bool segment_fits(const linear *l, int32_t k) {
  const weight *w = &l->part.sum;
  int64_t each = sat_add(w->stash_bytes, w->footprint_bytes);
  return sat_add(w->weight_bytes, sat_mul(l->problem->in_flight, each)) <= l->types[k].memory_bytes;
}

static int64_t segment_load_ns(const linear *l, int32_t k) {
  int64_t compute = l->part.compute_ns[k], in = clamp_ns(l->part.in_ns[k]), out = clamp_ns(l->part.out_ns[k]);
  bool apart = l->problem->overlap || l->problem->communication == SITU_COMMUNICATION_LINK;
  return apart ? max64(compute, max64(in, out)) : sat_add(compute, sat_add(in, out));
}

/* ---- the programme ---- */

/* Tries the segment [from, to) on a device of type k after every state. */
static void extend(linear *l, int32_t from, int32_t to, int32_t k, int64_t load_ns) {
  const int64_t *before = l->best_ns + (int64_t)from * l->n_states;
  int64_t *after = l->best_ns + (int64_t)to * l->n_states;
  choice *choices = l->choices + (int64_t)to * l->n_states;
  int32_t stride = l->stride[k], base = l->types[k].count + 1;
  for (int32_t s = stride; s < l->n_states; s++) {
    if (s / stride % base == 0) continue;
    int64_t value = max64(before[s - stride], load_ns);
    if (value >= after[s]) continue;
    after[s] = value;
    choices[s] = (choice){from, k};
  }
}

/* A device may stay empty. */
static void skip_devices(linear *l, int32_t to) {
  int64_t *after = l->best_ns + (int64_t)to * l->n_states;
  choice *choices = l->choices + (int64_t)to * l->n_states;
  for (int32_t s = 0; s < l->n_states; s++)
    for (int32_t k = 0; k < l->n_types; k++) {
      if (s / l->stride[k] % (l->types[k].count + 1) == 0 || after[s - l->stride[k]] >= after[s]) continue;
      after[s] = after[s - l->stride[k]];
      choices[s] = (choice){k, -1};
    }
}

/* Only values below `limit_ns` are looked for. False when the budget is spent. */
static bool fill_tables(linear *l, int64_t limit_ns) {
  for (int32_t s = 0; s < l->n_states; s++) l->best_ns[s] = 0;
  for (int32_t to = 1; to <= l->n_blocks; to++) {
    if (budget_spend(l->run->budget, 1)) return false;
    for (int32_t s = 0; s < l->n_states; s++) l->best_ns[(int64_t)to * l->n_states + s] = SITU_NEVER_NS;
    clear_segment(l);
    for (int32_t from = to - 1; from >= 0; from--) {
      for (int32_t i = l->block_start[from]; i < l->block_start[from + 1]; i++) grow_segment(l, l->order[i]);
      bool open = false; /* some type could take an even longer segment */
      for (int32_t k = 0; k < l->n_types; k++) {
        if (l->part.compute_ns[k] >= limit_ns || !segment_fits(l, k)) continue;
        open = true;
        int64_t load_ns = segment_load_ns(l, k);
        if (load_ns < limit_ns) extend(l, from, to, k, load_ns);
      }
      if (!open) break;
    }
    skip_devices(l, to);
  }
  return true;
}

/* Walks back from all devices and all classes; the first segments of the chain get the lowest devices of their type. */
static void read_chain(const linear *l, int32_t *class_device) {
  int32_t s = l->n_states - 1, to = l->n_blocks;
  int32_t *left = l->left;
  for (int32_t k = 0; k < l->n_types; k++) left[k] = 0;
  for (int32_t pass = 0; pass < 2; pass++, s = l->n_states - 1, to = l->n_blocks) {
    while (to > 0) {
      choice c = l->choices[(int64_t)to * l->n_states + s];
      if (c.type < 0) {
        s -= l->stride[c.from];
        continue;
      }
      if (pass == 0) {
        left[c.type]++;
      } else {
        int32_t d = l->type_device[l->types[c.type].first + --left[c.type]];
        for (int32_t i = l->block_start[c.from]; i < l->block_start[to]; i++) class_device[l->order[i]] = d;
      }
      s -= l->stride[c.type];
      to = c.from;
    }
  }
}

/* Solves with at most n_blocks blocks and offers what is better than the incumbent. */
static void solve_blocks(linear *l, int32_t n_blocks) {
  solve_run *run = l->run;
  cut_blocks(l, n_blocks);
  if (!fill_tables(l, run->incumbent->value_ns)) return;
  if (l->best_ns[(int64_t)l->n_blocks * l->n_states + l->n_states - 1] == SITU_NEVER_NS) return;
  read_chain(l, l->class_device);
  contraction_expand(&l->classes, l->class_device, l->device);
  solve_offer(run, &(placement){.device = l->device});
}

static situ_status solve_linear_dp(solve_run *run) {
  linear l = {.run = run, .problem = run->problem, .arena = run->arena};
  if (!contract(&l.classes, l.problem, true, l.arena) || !group_devices(&l) || !weigh_classes(&l) || !allocate(&l) ||
      !order_classes(&l))
    return fail_no_memory(run->error);
  int32_t n_blocks = l.n_blocks;
  if (n_blocks > 8 * LEAST_BLOCKS) solve_blocks(&l, LEAST_BLOCKS); /* a first value bounds the segments of the next */
  solve_blocks(&l, n_blocks);
  return SITU_STATUS_OK;
}

const solver linear_dp_solver = {.name = "linear_dp",
                                 .title = "best split of a linear order of the operators",
                                 .source =
                                     "Tarnawski et al., Efficient Algorithms for Device Placement of DNN Graph "
                                     "Operators, NeurIPS 2020",
                                 .pipeline = true,
                                 .portfolio = 10,
                                 .solve = solve_linear_dp};
