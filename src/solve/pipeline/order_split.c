#include "solve/pipeline/order_split.h"

#include <string.h>

#include "base/checked.h"
#include "base/contracts.h"
#include "chain/chain.h"
#include "view/equal_devices.h"
#include "view/footprint.h"

enum {
  MAX_SLICES = 4096, /* possible cuts of an order; longer ones have several classes in a slice */
  MIN_SLICES = 64,
  MAX_GROWTH = 100000000, /* pins visited while segments grow */
  MAX_CELLS = 8000000     /* entries of a table */
};

/* The memory of a class of operators, for each number of inputs that a device may keep. */
typedef struct weight {
  int64_t held_bytes, running_bytes; /* always; maximum while an operator runs */
} weight;

typedef struct choice {
  int32_t from;
  int32_t type; /* -1: as the state with one device less */
} choice;

/* The current segment, grown backwards. Sums of transfers have 128 bits, so that subtraction is exact. */
typedef struct segment {
  weight *sum;                 /* [depth] */
  int64_t *compute_ns;         /* [type] */
  __int128 *in_ns, *out_ns;    /* [type] */
  bool *produced;              /* [tensor] its producer lies inside */
  int32_t *used;               /* [tensor] users inside */
  int32_t *touched, n_touched; /* tensors with an end inside */
} segment;

struct order_split {
  solve_run *run;
  const situ_problem *problem;
  const contraction *classes;
  /* Where the inputs that a part keeps follow from the parts after it, an order is split from its end on, and depth k
   * is that of a part with k after it; the last depth is that of all others, too. Else there is one depth. */
  bool from_end;
  int32_t n_depths;
  int32_t *reversed; /* the order from its end on */
  weight *weights;   /* [class * n_depths + depth] */
  int64_t *time_ns;  /* [class * n_types + type] */
  int32_t n_types;
  device_type *types;
  int32_t *in_kind, *out_kind; /* [type] of routes from and to the host */
  int32_t n_states;
  int32_t *n_used;            /* [state] devices */
  int32_t *stride;            /* [type] state number = sum of used * stride */
  int32_t *with, *with_start; /* states that use a type: with[with_start[type] .. with_start[type + 1]) */

  const int32_t *order; /* the current order */
  int32_t max_slices;
  int32_t n_slices;     /* cuts lie between slices */
  int32_t *slice_start; /* [slice] into order */
  int64_t *best_ns;     /* [slice * n_states + state], before slice */
  choice *choices;      /* likewise */
  segment grown;
  int32_t *left, *class_device, *device;
  int64_t work;
};

/* ---- weights ---- */

/* The inputs that a device keeps at a depth. It shares its part with none. */
static int64_t kept_at(const order_split *l, int32_t depth) {
  const situ_problem *p = l->problem;
  return l->from_end ? depth + 1 : problem_keeps_by_depth(p) ? p->kept_inputs : p->in_flight;
}

static bool weigh_classes(order_split *l) {
  const situ_problem *p = l->problem;
  const contraction *c = l->classes;
  chain each;
  if (!ARENA_ARRAYS(l->run->arena, ZEROS(l->weights, (int64_t)c->n_classes * l->n_depths),
                    ARRAY(l->time_ns, (int64_t)c->n_classes * l->n_types)) ||
      !chain_sum(&each, p, c->class_of, c->n_classes, l->run->arena))
    return false;
  for (int32_t k = 0; k < c->n_classes; k++) {
    for (int32_t depth = 0; depth < l->n_depths; depth++) {
      weight *w = &l->weights[(int64_t)k * l->n_depths + depth];
      int64_t n_inputs = kept_at(l, depth), stash = sat_mul(n_inputs, each.kept_bytes[k + 1] - each.kept_bytes[k]);
      unit_members u = contraction_members(c, k);
      w->held_bytes = stash;
      for (int32_t m = 0; m < u.n; m++) w->held_bytes = sat_add(w->held_bytes, p->given->weight_bytes[u.member[m]]);
      for (int32_t m = 0; m < u.n; m++)
        w->running_bytes = max64(w->running_bytes, footprint_running_bytes(p, u.member[m]));
    }
    for (int32_t x = 0; x < l->n_types; x++)
      l->time_ns[(int64_t)k * l->n_types + x] = chain_time_ns(&each, l->types[x].devices[0], k, k + 1);
  }
  return true;
}

/* The weight of a class in a slice: its minimum time, and a little more, so that none is 0. */
static double work(const order_split *l, int32_t class_index) {
  int64_t min = SITU_NEVER_NS;
  for (int32_t k = 0; k < l->n_types; k++) min = min64(min, l->time_ns[(int64_t)class_index * l->n_types + k]);
  return min == SITU_NEVER_NS ? 1 : 1 + (double)min;
}

/* ---- slices ---- */

/* Each class is a slice if there are at most `max`; else slices have about equal work. */
static void cut_slices(order_split *l, int32_t max) {
  int32_t n = l->classes->n_classes;
  double total = 0, before = 0;
  for (int32_t i = 0; i < n; i++) total += work(l, i);
  l->n_slices = 0;
  int32_t last = -1;
  for (int32_t i = 0; i < n; i++) {
    int32_t slice = n <= max ? i : (int32_t)(before / total * max);
    if (slice != last) l->slice_start[l->n_slices++] = i;
    last = slice;
    before += work(l, l->order[i]);
  }
  l->slice_start[l->n_slices] = n;
}

/* ---- memory ---- */

/* Leaves out devices, of the most numerous types first, until the tables have at most `max` states. */
static void limit_states(order_split *l, int64_t max) {
  for (;;) {
    int64_t n = 1;
    int32_t largest = 0;
    for (int32_t k = 0; k < l->n_types; k++) {
      l->stride[k] = (int32_t)n;
      n = sat_mul(n, l->types[k].n_devices + 1);
      if (n > max) n = max + 1;
      if (l->types[k].n_devices > l->types[largest].n_devices) largest = k;
    }
    l->n_states = (int32_t)n;
    if (n <= max) return;
    if (l->types[largest].n_devices > 1)
      l->types[largest].n_devices -= (l->types[largest].n_devices + 7) / 8;
    else
      l->n_types--;
  }
}

/* How many devices a state uses. */
static int32_t count_used(const order_split *l, int32_t state) {
  int32_t n = 0;
  for (int32_t k = 0; k < l->n_types; k++) n += state / l->stride[k] % (l->types[k].n_devices + 1);
  return n;
}

/* Lists the states in which each type is used. */
static bool list_states(order_split *l) {
  arena *a = l->run->arena;
  if (!ARENA_ARRAYS(a, ZEROS(l->with_start, l->n_types + 1), ARRAY(l->with, (int64_t)l->n_types * l->n_states),
                    ARRAY(l->n_used, l->n_states)))
    return false;
  for (int32_t k = 0; k < l->n_types; k++) {
    int32_t n = l->with_start[k];
    for (int32_t s = 0; s < l->n_states; s++)
      if (s / l->stride[k] % (l->types[k].n_devices + 1) > 0) l->with[n++] = s;
    l->with_start[k + 1] = n;
  }
  for (int32_t s = 0; s < l->n_states; s++) l->n_used[s] = count_used(l, s);
  return true;
}

static bool find_types(order_split *l) {
  const situ_problem *p = l->problem;
  arena *a = l->run->arena;
  equal_devices equal;
  if (!equal_devices_find(&equal, p, EQUAL_STAGED, a)) return false;
  l->types = equal.types;
  l->n_types = equal.n_types;
  if (!ARENA_ARRAYS(a, ARRAY(l->in_kind, l->n_types), ARRAY(l->out_kind, l->n_types), ARRAY(l->stride, l->n_types)))
    return false;
  for (int32_t k = 0; k < l->n_types; k++) {
    int32_t d = l->types[k].devices[0];
    l->in_kind[k] = p->device_kind[(int64_t)p->host * p->n_devices + d];
    l->out_kind[k] = p->device_kind[(int64_t)d * p->n_devices + p->host];
  }
  return true;
}

static bool allocate(order_split *l) {
  const situ_graph *g = l->problem->graph;
  arena *a = l->run->arena;
  int32_t n = l->classes->n_classes;
  int64_t affordable = MAX_GROWTH / (g->n_uses + g->n_operators + 1);
  l->max_slices = (int32_t)min64(n, max64(MIN_SLICES, min64(affordable, MAX_SLICES)));
  limit_states(l, MAX_CELLS / (l->max_slices + 1));
  int64_t n_cells = (int64_t)l->n_states * (l->max_slices + 1);
  segment *s = &l->grown;
  return list_states(l) && (l->slice_start = ARENA_NEW(a, int32_t, (int64_t)l->max_slices + 2)) &&
         (l->best_ns = ARENA_NEW(a, int64_t, n_cells)) && (l->choices = ARENA_NEW(a, choice, n_cells)) &&
         (s->compute_ns = ARENA_NEW(a, int64_t, l->n_types)) && (s->in_ns = ARENA_NEW(a, __int128, l->n_types)) &&
         (s->out_ns = ARENA_NEW(a, __int128, l->n_types)) && (s->produced = ARENA_ZERO(a, bool, g->n_tensors)) &&
         (s->used = ARENA_ZERO(a, int32_t, g->n_tensors)) && (s->touched = ARENA_NEW(a, int32_t, g->n_tensors)) &&
         (l->left = ARENA_NEW(a, int32_t, l->n_types)) && (l->reversed = ARENA_NEW(a, int32_t, n)) &&
         (s->sum = ARENA_NEW(a, weight, l->n_depths)) && (l->class_device = ARENA_NEW(a, int32_t, n)) &&
         (l->device = ARENA_NEW(a, int32_t, g->n_operators));
}

/* ---- segments ---- */

static void clear_segment(order_split *l) {
  segment *s = &l->grown;
  for (int32_t i = 0; i < s->n_touched; i++) {
    s->produced[s->touched[i]] = false;
    s->used[s->touched[i]] = 0;
  }
  s->n_touched = 0;
  memset(s->sum, 0, (size_t)l->n_depths * sizeof *s->sum);
  for (int32_t k = 0; k < l->n_types; k++) {
    s->compute_ns[k] = 0;
    s->in_ns[k] = s->out_ns[k] = 0;
  }
}

static void add_in(order_split *l, int32_t t, int32_t sign) {
  const int64_t *transfer_ns = l->problem->transfer_ns[t];
  for (int32_t k = 0; k < l->n_types; k++)
    if (!l->types[k].is_host) l->grown.in_ns[k] += sign * (__int128)transfer_ns[l->in_kind[k]];
}

static void add_out(order_split *l, int32_t t, int32_t sign) {
  const int64_t *transfer_ns = l->problem->transfer_ns[t];
  for (int32_t k = 0; k < l->n_types; k++)
    if (!l->types[k].is_host) l->grown.out_ns[k] += sign * (__int128)transfer_ns[l->out_kind[k]];
}

static void touch(segment *s, int32_t t) {
  if (!s->produced[t] && s->used[t] == 0) s->touched[s->n_touched++] = t;
}

static void grow_segment(order_split *l, int32_t class_index) {
  const situ_graph *g = l->problem->graph;
  const contraction *c = l->classes;
  segment *s = &l->grown;
  for (int32_t depth = 0; depth < l->n_depths; depth++) {
    const weight *w = &l->weights[(int64_t)class_index * l->n_depths + depth];
    s->sum[depth].held_bytes = sat_add(s->sum[depth].held_bytes, w->held_bytes);
    s->sum[depth].running_bytes = max64(s->sum[depth].running_bytes, w->running_bytes);
  }
  for (int32_t k = 0; k < l->n_types; k++)
    s->compute_ns[k] = sat_add(s->compute_ns[k], l->time_ns[(int64_t)class_index * l->n_types + k]);
  for (int32_t m = c->member_start[class_index]; m < c->member_start[class_index + 1]; m++) {
    int32_t v = c->member[m];
    l->work += 4 + g->out_start[v + 1] - g->out_start[v] + g->in_start[v + 1] - g->in_start[v];
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

/* At how many depths, from the first on, the segment fits: no depth holds less than one before it. */
static int32_t count_fitting(const order_split *l, int32_t k) {
  int32_t n = 0;
  while (n < l->n_depths &&
         sat_add(l->grown.sum[n].held_bytes, l->grown.sum[n].running_bytes) <= l->types[k].memory_bytes)
    n++;
  return n;
}

static int64_t segment_load_ns(const order_split *l, int32_t k) {
  int64_t compute = l->grown.compute_ns[k], in = clamp_ns(l->grown.in_ns[k]), out = clamp_ns(l->grown.out_ns[k]);
  bool apart = l->problem->async_copies || l->problem->communication == SITU_COMMUNICATION_LINK;
  return apart ? max64(compute, max64(in, out)) : sat_add(compute, sat_add(in, out));
}

/* ---- the programme ---- */

/* Tries the segment [from, to) on a device of type k after every state; n_fitting: the depths at which it fits. */
static void extend(order_split *l, int32_t from, int32_t to, int32_t k, int32_t n_fitting, int64_t load_ns) {
  int32_t stride = l->stride[k];
  const int64_t *before = l->best_ns + (int64_t)from * l->n_states;
  int64_t *after = l->best_ns + (int64_t)to * l->n_states;
  choice *choices = l->choices + (int64_t)to * l->n_states;
  for (int32_t i = l->with_start[k]; i < l->with_start[k + 1]; i++) {
    int32_t s = l->with[i];
    int64_t value = max64(before[s - stride], load_ns);
    if (value >= after[s] || (n_fitting < l->n_depths && l->n_used[s] > n_fitting)) continue;
    after[s] = value;
    choices[s] = (choice){from, k};
  }
  l->work += l->with_start[k + 1] - l->with_start[k];
}

/* A device may stay empty. Where depths count, none is skipped before the end. */
static void skip_devices(order_split *l, int32_t to) {
  if (l->from_end && to < l->n_slices) return;
  int64_t *after = l->best_ns + (int64_t)to * l->n_states;
  choice *choices = l->choices + (int64_t)to * l->n_states;
  for (int32_t s = 0; s < l->n_states; s++)
    for (int32_t k = 0; k < l->n_types; k++) {
      if (s / l->stride[k] % (l->types[k].n_devices + 1) == 0 || after[s - l->stride[k]] >= after[s]) continue;
      after[s] = after[s - l->stride[k]];
      choices[s] = (choice){k, -1};
    }
}

/* Finds only values below `limit_ns`. False if the budget is spent. */
static bool fill_tables(order_split *l, int64_t limit_ns) {
  for (int32_t s = 0; s < l->n_states; s++) l->best_ns[s] = s == 0 || !l->from_end ? 0 : SITU_NEVER_NS;
  for (int32_t to = 1; to <= l->n_slices; to++) {
    if (budget_spend(l->run->budget, 1)) return false;
    for (int32_t s = 0; s < l->n_states; s++) l->best_ns[(int64_t)to * l->n_states + s] = SITU_NEVER_NS;
    clear_segment(l);
    for (int32_t from = to - 1; from >= 0; from--) {
      for (int32_t i = l->slice_start[from]; i < l->slice_start[from + 1]; i++) grow_segment(l, l->order[i]);
      bool open = false; /* some type may hold a longer segment */
      for (int32_t k = 0; k < l->n_types; k++) {
        int32_t n_fitting = l->grown.compute_ns[k] >= limit_ns ? 0 : count_fitting(l, k);
        if (n_fitting == 0) continue;
        open = true;
        int64_t load_ns = segment_load_ns(l, k);
        if (load_ns < limit_ns) extend(l, from, to, k, n_fitting, load_ns);
      }
      if (!open) break;
    }
    skip_devices(l, to);
  }
  return true;
}

/* Traces the best split back from all devices and all classes; devices of a type are used in order of number. */
static void read_split(const order_split *l, int32_t *class_device, int32_t *place) {
  int32_t *left = l->left, n_segments = 0;
  for (int32_t k = 0; k < l->n_types; k++) left[k] = 0;
  for (int32_t pass = 0; pass < 2; pass++) {
    int32_t s = l->n_states - 1, to = l->n_slices, n = n_segments;
    while (to > 0) {
      choice c = l->choices[(int64_t)to * l->n_states + s];
      if (c.type < 0) {
        s -= l->stride[c.from];
        continue;
      }
      if (pass == 0) {
        left[c.type]++;
        n_segments++;
      } else {
        int32_t d = l->types[c.type].devices[--left[c.type]];
        n--;
        for (int32_t i = l->slice_start[c.from]; i < l->slice_start[to]; i++) {
          class_device[l->order[i]] = d;
          if (place) place[l->order[i]] = l->from_end ? n_segments - 1 - n : n;
        }
      }
      s -= l->stride[c.type];
      to = c.from;
    }
  }
}

/* Solves with at most n_slices slices, and offers the split if it is better than the incumbent. */
static bool split(order_split *l, int32_t n_slices, int32_t *place) {
  solve_run *run = l->run;
  int64_t before_ns = run->incumbent->value_ns;
  cut_slices(l, n_slices);
  if (!fill_tables(l, before_ns)) return false;
  if (l->best_ns[(int64_t)l->n_slices * l->n_states + l->n_states - 1] == SITU_NEVER_NS) return false;
  read_split(l, l->class_device, place);
  contraction_expand(l->classes, l->class_device, l->device);
  solve_offer(run, &(placement){.device = l->device});
  return run->incumbent->value_ns < before_ns;
}

order_split *order_split_new(solve_run *run, const contraction *classes) {
  order_split *l = ARENA_ZERO(run->arena, order_split, 1);
  if (!l) return NULL;
  *l = (order_split){.run = run, .problem = run->problem, .classes = classes};
  l->from_end = problem_keeps_by_depth(l->problem) && l->problem->schedule == SITU_SCHEDULE_1F1B;
  l->n_depths = l->from_end ? (int32_t)min64(l->problem->micro_batches, l->problem->n_devices) : 1;
  return find_types(l) && weigh_classes(l) && allocate(l) ? l : NULL;
}

bool order_split_offer(order_split *l, const int32_t *order, int32_t *place) {
  REQUIRE(contracts_permutation(order, l->classes->n_classes));
  for (int32_t i = 0; l->from_end && i < l->classes->n_classes; i++)
    l->reversed[i] = order[l->classes->n_classes - 1 - i];
  l->order = l->from_end ? l->reversed : order;
  /* A long order is split coarsely first: the value limits the segments of the fine split. */
  bool coarse = l->max_slices > 4 * MIN_SLICES && split(l, MIN_SLICES, place);
  return split(l, l->max_slices, place) || coarse;
}

int64_t order_split_work(const order_split *l) { return l->work; }
