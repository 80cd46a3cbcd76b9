/* Chains of layers for which memories are too small, or that have a limit by other costs: labels along the chain, a
 * shortest path with resource constraints (Desrosiers et al., Handbooks in OR 8, 1995). A label is a choice of devices
 * for the last stops, with its value, its time by the other costs, and the bytes it holds in each memory. It is dropped
 * if another label on the same device is no worse in all of these, if no memory or limit has room for the rest, or if
 * the prices of the bound unit_chain prove that its best completion is no better than the best plan known (Handler and
 * Zang, Networks 10, 1980). If too many labels are left, those with the lowest bounds stay, and the lowest bound of the
 * others is the proved bound. docs/theory/exact/chain_labels.md.
 *
 * Not for more than 32 devices or 8 scarce memories. A step makes up to labels x devices new labels for each device. Of
 * 65,536 made at once, each of 32 devices can start from 64; each of 64 devices could start from 16 only, which are too
 * few for a proof. With more than 8 scarce memories dominance drops few labels. priced_chain takes any number. */
#include "solve/stream/chain_labels.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "base/fail.h"
#include "chain/branch_chain.h"
#include "solve/stream/sequence.h"
#include "view/footprint.h"
#include "view/unit.h"

enum {
  MAX_DEVICES = 32,
  MAX_ROOMS = 8,
  MAX_STOPS = 2000,
  MAX_KEPT = 600,
  MAX_MADE = 1 << 16,
  MAX_CHOICES = 1 << 22,
  MAX_OFFERED = 8
};

static const double WORK_LIMIT = 3e7, FORM_WORK_LIMIT = 3e8; /* comparisons of labels */

typedef struct label {
  __int128 priced; /* value, other costs and bytes at their prices */
  int64_t value_ns, other_ns;
  int64_t held[MAX_ROOMS], need[MAX_ROOMS]; /* weights; the maximum that some operator needs while it runs */
  int32_t choice;                           /* its own once kept; before that, of the decision after it, or -1 */
  int32_t device;                           /* of this decision */
  int32_t stands;                           /* device of the stop on the chain */
  uint32_t used;                            /* set of devices */
  uint32_t runs; /* with a form: the set of devices that have layers, as the form counts them */
} label;

typedef struct choice {
  int32_t behind, device; /* the choice after it, or -1 */
} choice;

/* The role of a stop in a form. */
typedef enum part { PART_ANY, PART_FIRST, PART_LAYER, PART_HEAD, PART_EXPERTS } part;

/* Measures of the minimum cost of a completion. */
typedef enum measure { PRICED, VALUE, OTHER, MEASURES } measure;

typedef struct labels {
  solve_run *run;
  const situ_problem *problem;
  const branch_chain *chain;
  int32_t n_devices, n_rooms;
  int32_t room_of[MAX_DEVICES]; /* [device] index of its limited memory, or -1 */
  int64_t room[MAX_ROOMS], byte[MAX_ROOMS];
  int64_t *need; /* [stop * types + type] the maximum that an operator of its unit needs while it runs */
  int64_t *best_byte, hurry, lower_ns; /* the best prices: [memory] */
  int32_t n_main, *main;               /* stops on the chain, in order */
  int32_t *detours, *detour_start;     /* of main k: detours[detour_start[k] .. detour_start[k + 1]) */
  __int128 *before;        /* [measure][main k * devices + device] minimum cost of all before stop k there */
  __int128 *min_detour;    /* [measure][detour number * devices + device of the stop around it] */
  __int128 base[MEASURES]; /* common to all plans */
  int32_t n_kept, n_made, n_choices, max_kept; /* max_kept: for each device on the chain */
  label *kept, *made;                          /* of the last decision; of the current one */
  choice *choices;                             /* of all labels that were kept */
  int64_t upper_ns, dropped_ns;
  part *part;    /* [stop] */
  int64_t *rest; /* [main k] bytes of the layers before it */
} labels;

/* ---- costs by a measure ---- */

static __int128 cost_of(const labels *s, measure by, int64_t value_ns, int64_t other_ns) {
  if (by == VALUE) return value_ns;
  if (by == OTHER) return other_ns;
  return ((__int128)value_ns << BRANCH_CHAIN_BITS) +
         ((__int128)s->hurry * other_ns << (BRANCH_CHAIN_BITS - BRANCH_CHAIN_OTHER_BITS));
}

static int64_t time_on(const labels *s, int32_t x, int32_t d) { return branch_chain_time_ns(s->chain, x, d); }

static int64_t other_on(const labels *s, int32_t x, int32_t d) {
  const branch_chain *c = s->chain;
  return c->other_ns ? c->other_ns[(int64_t)x * c->n_types + c->equal.type_of[d]] : 0;
}

static int64_t on_way(const labels *s, const int64_t *row, int32_t from, int32_t to) {
  return row ? row[s->problem->device_kind[(int64_t)from * s->problem->n_devices + to]] : 0;
}

static int64_t weight(const labels *s, int32_t x) { return s->chain->all.weight_bytes[s->chain->stops[x].unit]; }

/* The cost of stop x on device d; -1 where it cannot be. */
static __int128 stop_cost(const labels *s, measure by, int32_t x, int32_t d) {
  int64_t time = time_on(s, x, d);
  if (time == SITU_NEVER_NS) return -1;
  __int128 rent = by == PRICED ? (__int128)s->best_byte[s->problem->memory_of[d]] * weight(s, x) : 0;
  return cost_of(s, by, time, other_on(s, x, d)) + rent;
}

static __int128 detour_ways(const labels *s, measure by, int32_t x, int32_t around, int32_t d) {
  const chain_stop *stop = &s->chain->stops[x];
  return cost_of(s, by, on_way(s, stop->way_in, around, d) + on_way(s, stop->way_out, d, around),
                 on_way(s, stop->other_in, around, d) + on_way(s, stop->other_out, d, around));
}

static __int128 *before_at(const labels *s, measure by, int32_t k) {
  return s->before + ((int64_t)by * s->n_main + k) * s->n_devices;
}

static __int128 *detour_at(const labels *s, measure by, int32_t i) {
  return s->min_detour + ((int64_t)by * s->chain->n + i) * s->n_devices;
}

/* The cheapest device for each detour, by the device of the stop around it. */
static void measure_detours(labels *s, measure by) {
  for (int32_t i = 0; i < s->detour_start[s->n_main]; i++)
    for (int32_t d = 0; d < s->n_devices; d++) {
      __int128 least = -1;
      for (int32_t e = 0; e < s->n_devices; e++) {
        __int128 cost = stop_cost(s, by, s->detours[i], e);
        if (cost < 0) continue;
        cost += detour_ways(s, by, s->detours[i], d, e);
        if (least < 0 || cost < least) least = cost;
      }
      detour_at(s, by, i)[d] = least;
    }
}

/* The cost of stop k of the chain with its cheapest detours. */
static __int128 whole_cost(const labels *s, measure by, int32_t k, int32_t d) {
  __int128 sum = stop_cost(s, by, s->main[k], d);
  for (int32_t i = s->detour_start[k]; i < s->detour_start[k + 1] && sum >= 0; i++) {
    __int128 detour = detour_at(s, by, i)[d];
    sum = detour < 0 ? -1 : sum + detour;
  }
  return sum;
}

static void measure_chain(labels *s, measure by) {
  measure_detours(s, by);
  for (int32_t d = 0; d < s->n_devices; d++) before_at(s, by, 0)[d] = 0;
  for (int32_t k = 1; k < s->n_main; k++) {
    const chain_stop *x = &s->chain->stops[s->main[k]];
    __int128 *here = before_at(s, by, k), *last = before_at(s, by, k - 1);
    for (int32_t d = 0; d < s->n_devices; d++) {
      here[d] = -1;
      for (int32_t e = 0; e < s->n_devices; e++) {
        __int128 whole = whole_cost(s, by, k - 1, e);
        if (whole < 0 || last[e] < 0) continue;
        whole += last[e] + cost_of(s, by, on_way(s, x->way_in, e, d), on_way(s, x->other_in, e, d));
        if (here[d] < 0 || whole < here[d]) here[d] = whole;
      }
    }
  }
}

/* The cost common to all plans: the minimum for units off the chain, minus the capacities at their prices. */
static void measure_base(labels *s) {
  const situ_problem *p = s->problem;
  const branch_chain *c = s->chain;
  memset(s->base, 0, sizeof s->base);
  for (int32_t u = 0; u < p->units.n; u++) {
    __int128 least[MEASURES] = {-1, -1, -1};
    for (int32_t d = 0; d < s->n_devices && !c->on_chain[u]; d++) {
      int32_t k = c->all.column_of[d];
      int64_t at = (int64_t)u * c->all.n_columns + k, time = k < 0 ? SITU_NEVER_NS : c->all.time_ns[at];
      if (time == SITU_NEVER_NS) continue;
      for (measure by = PRICED; by < MEASURES; by++) {
        __int128 cost = cost_of(s, by, time, p->other ? c->other.time_ns[at] : 0);
        if (by == PRICED) cost += (__int128)s->best_byte[p->memory_of[d]] * c->all.weight_bytes[u];
        if (least[by] < 0 || cost < least[by]) least[by] = cost;
      }
    }
    for (measure by = PRICED; by < MEASURES; by++) s->base[by] += least[by] > 0 ? least[by] : 0;
  }
  for (int32_t m = 0; m < p->n_memories; m++)
    if (s->best_byte[m] > 0) s->base[PRICED] -= (__int128)s->best_byte[m] * p->platform->memory_bytes[m];
  if (s->hurry > 0) s->base[PRICED] -= cost_of(s, PRICED, 0, p->max_other_ns);
}

/* ---- labels ---- */

/* The minimum cost still to come for a label on main stop k with detours from `next` on undecided. False where no
 * completion exists. */
static bool completion(const labels *s, const label *l, int32_t k, int32_t next, __int128 left[MEASURES]) {
  for (measure by = PRICED; by < MEASURES; by++) {
    left[by] = before_at(s, by, k)[l->stands];
    if (left[by] < 0) return false;
    for (int32_t i = next; i < s->detour_start[k + 1]; i++) {
      if (detour_at(s, by, i)[l->stands] < 0) return false;
      left[by] += detour_at(s, by, i)[l->stands];
    }
  }
  return true;
}

/* A bound on the value of a plan that completes the label; SITU_NEVER_NS where none keeps the limit. */
static int64_t promise(const labels *s, const label *l, int32_t k, int32_t next) {
  __int128 left[MEASURES];
  if (!completion(s, l, k, next, left)) return SITU_NEVER_NS;
  if (s->problem->other && s->base[OTHER] + l->other_ns + left[OTHER] > s->problem->max_other_ns) return SITU_NEVER_NS;
  __int128 one = (__int128)1 << BRANCH_CHAIN_BITS, priced = s->base[PRICED] + l->priced + left[PRICED];
  __int128 least = s->base[VALUE] + l->value_ns + left[VALUE];
  if (priced > 0 && (priced + one - 1) >> BRANCH_CHAIN_BITS > least) least = (priced + one - 1) >> BRANCH_CHAIN_BITS;
  return least > PROBLEM_MOST_NS ? SITU_NEVER_NS : (int64_t)least;
}

/* Of equal devices only the first unused one may be used next. */
static bool is_next(const labels *s, const label *l, int32_t d) {
  const device_type *type = &s->chain->equal.types[s->chain->equal.type_of[d]];
  if (l->used >> d & 1) return true;
  for (int32_t i = 0; i < type->n_devices; i++)
    if (!(l->used >> type->devices[i] & 1)) return type->devices[i] == d;
  return false;
}

/* ---- forms ---- */

static bool asks(const labels *s, int32_t bits) { return s->run->form && s->run->form->form & bits; }

/* Whether the form allows stop x on device d, given the label for the stops after it. */
static bool has_form(const labels *s, const label *l, int32_t x, int32_t d) {
  bool host = problem_is_host(s->problem, d);
  switch (s->part[x]) {
    case PART_ANY: return true;
    case PART_EXPERTS: return d == l->stands || host || !asks(s, SITU_FORM_SPILL);
    case PART_FIRST: return host || l->runs >> d & 1 || !asks(s, SITU_FORM_HEAD);
    case PART_HEAD:
    case PART_LAYER: break;
  }
  if (l->runs == 0 || d == l->stands) return true;
  return !(asks(s, SITU_FORM_RUNS) && l->runs >> d & 1) &&
         !(asks(s, SITU_FORM_HOST_FIRST) && problem_is_host(s->problem, l->stands));
}

/* Whether the devices that may get more layers have memory for the layers before main stop k. */
static bool has_rest(const labels *s, const label *l, int32_t k) {
  bool ended = asks(s, SITU_FORM_HOST_FIRST) && l->runs > 0 && problem_is_host(s->problem, l->stands);
  uint32_t rooms = 0;
  int64_t room = 0;
  if (!asks(s, SITU_FORM_RUNS) || s->part[s->main[k]] == PART_FIRST) return true;
  for (int32_t d = 0; d < s->n_devices; d++) {
    int32_t r = s->room_of[d];
    if (d != l->stands && (ended || l->runs >> d & 1 || s->problem->unused[d])) continue;
    if (r < 0) return true;
    if (!(rooms >> r & 1)) room = sat_add(room, s->room[r] - l->held[r]);
    rooms |= (uint32_t)1 << r;
  }
  return s->rest[k] <= room;
}

/* Finds the role of each stop in the form, and the bytes of layers before each main stop. False without memory. */
static bool find_form(labels *s) {
  const layer_plan *form = s->run->form;
  if (!form) return true;
  if (!ARENA_ARRAYS(s->run->arena, ZEROS(s->part, s->chain->n), ZEROS(s->rest, s->n_main + 1))) return false;
  for (int32_t x = 0; x < s->chain->n; x++) {
    unit_members of = unit_list_members(&s->problem->units, s->chain->stops[x].unit);
    bool layer = false, experts = true, before = false;
    for (int32_t i = 0; i < of.n; i++) {
      layer |= form->layers.of[of.member[i]] >= 0;
      experts &= form->expert[of.member[i]];
      before |= form->layers.of[of.member[i]] < 0 && form->layers.before[of.member[i]];
    }
    if (layer)
      s->part[x] = experts && s->chain->stops[x].inside >= 0 ? PART_EXPERTS : PART_LAYER;
    else
      s->part[x] = before ? PART_FIRST : asks(s, SITU_FORM_HEAD) ? PART_HEAD : PART_ANY;
  }
  for (int32_t k = 0; k < s->n_main; k++)
    s->rest[k + 1] = s->rest[k] + (s->part[s->main[k]] == PART_LAYER ? weight(s, s->main[k]) : 0);
  return true;
}

/* ---- extending labels ---- */

/* Extends label `behind` by stop x on device d, with the given times of its ways, unless there is no room or the result
 * cannot beat the best plan. NULL: x is the first stop on the chain to be decided. */
static void extend(labels *s, const label *behind, int32_t k, int32_t next, int32_t x, int32_t d, int64_t way_ns,
                   int64_t other_ns) {
  label *made = &s->made[s->n_made];
  *made = behind ? *behind : (label){.choice = -1};
  int32_t room = s->room_of[d];
  int64_t time = time_on(s, x, d);
  if (time == SITU_NEVER_NS || !is_next(s, made, d)) return;
  if (s->run->form && !has_form(s, made, x, d)) return;
  if (room >= 0) {
    int64_t need = s->need[(int64_t)x * s->chain->n_types + s->chain->equal.type_of[d]];
    made->held[room] += weight(s, x);
    made->need[room] = max64(made->need[room], need);
    if (made->held[room] + made->need[room] > s->room[room]) return;
  }
  time = sat_add(time, way_ns);
  other_ns = sat_add(other_on(s, x, d), other_ns);
  made->value_ns = sat_add(made->value_ns, time);
  made->other_ns = sat_add(made->other_ns, other_ns);
  made->priced += cost_of(s, PRICED, time, other_ns) + (__int128)s->best_byte[s->problem->memory_of[d]] * weight(s, x);
  made->used |= (uint32_t)1 << d;
  made->device = d;
  if (x == s->main[k]) made->stands = d;
  if (s->run->form && (s->part[x] == PART_LAYER || s->part[x] == PART_HEAD)) made->runs |= (uint32_t)1 << d;
  if (s->run->form && !has_rest(s, made, k)) return;
  if (promise(s, made, k, next) < s->upper_ns) s->n_made++;
}

static bool dominates(const labels *s, const label *a, const label *b) {
  bool no_worse = a->value_ns <= b->value_ns && a->other_ns <= b->other_ns && a->runs == b->runs;
  for (int32_t r = 0; r < s->n_rooms && no_worse; r++) no_worse = a->held[r] <= b->held[r] && a->need[r] <= b->need[r];
  return no_worse;
}

typedef struct ranked {
  int64_t promise_ns, value_ns;
  int32_t at;
} ranked;

static int by_promise(const void *a, const void *b) {
  const ranked *x = a, *y = b;
  if (x->promise_ns != y->promise_ns) return x->promise_ns < y->promise_ns ? -1 : 1;
  if (x->value_ns != y->value_ns) return x->value_ns < y->value_ns ? -1 : 1;
  return (x->at > y->at) - (x->at < y->at);
}

/* Moves the nondominated labels among those made to `kept`, at most max_kept for each device on the chain. False
 * without memory. */
static bool thin_out(labels *s, int32_t k, int32_t next) {
  arena *a = s->run->arena;
  arena_mark mark = arena_get_mark(a);
  int32_t n = s->n_made, *of, n_of[MAX_DEVICES] = {0};
  ranked *list;
  if (!ARENA_ARRAYS(a, ARRAY(list, n), ARRAY(of, (int64_t)s->n_devices * s->max_kept))) return false;
  for (int32_t i = 0; i < n; i++) list[i] = (ranked){promise(s, &s->made[i], k, next), s->made[i].value_ns, i};
  if (n > 1) qsort(list, (size_t)n, sizeof *list, by_promise);
  s->n_kept = 0;
  for (int32_t i = 0; i < n; i++) {
    const label *l = &s->made[list[i].at];
    int32_t *beside = of + (int64_t)l->stands * s->max_kept, n_beside = n_of[l->stands];
    bool lost = false;
    for (int32_t o = 0; o < n_beside && !lost; o++) lost = dominates(s, &s->kept[beside[o]], l);
    if (lost) continue;
    if (n_beside == s->max_kept) {
      s->dropped_ns = min64(s->dropped_ns, list[i].promise_ns);
      continue;
    }
    beside[n_of[l->stands]++] = s->n_kept;
    s->kept[s->n_kept] = *l;
    s->kept[s->n_kept++].choice = s->n_choices;
    s->choices[s->n_choices++] = (choice){l->choice, l->device};
  }
  s->n_made = 0;
  arena_release(a, mark);
  return true;
}

/* Decides stop x, which is main stop k or a detour from it, for each label kept. `next` is then the first undecided
 * detour. False without memory. */
static bool decide(labels *s, int32_t k, int32_t next, int32_t x) {
  bool last = k + 1 == s->n_main, detour = x != s->main[k];
  const chain_stop *way = &s->chain->stops[detour ? x : last ? x : s->main[k + 1]];
  s->n_made = 0;
  for (int32_t d = 0; d < s->n_devices && last && !detour; d++) extend(s, NULL, k, next, x, d, 0, 0);
  for (int32_t b = 0; b < s->n_kept && !(last && !detour); b++)
    for (int32_t d = 0; d < s->n_devices; d++) {
      const label *behind = &s->kept[b];
      int32_t there = behind->stands;
      if (detour)
        extend(s, behind, k, next, x, d, on_way(s, way->way_in, there, d) + on_way(s, way->way_out, d, there),
               on_way(s, way->other_in, there, d) + on_way(s, way->other_out, d, there));
      else
        extend(s, behind, k, next, x, d, on_way(s, way->way_in, d, there), on_way(s, way->other_in, d, there));
    }
  return thin_out(s, k, next);
}

/* ---- from prices to plans ---- */

static void take_prices(void *context, const branch_chain *chain, int64_t lower_ns) {
  labels *s = context;
  if (lower_ns <= s->lower_ns) return;
  s->lower_ns = lower_ns;
  s->hurry = chain->hurry;
  memcpy(s->best_byte, chain->byte, (size_t)s->problem->n_memories * sizeof *s->best_byte);
}

/* Offers the plan of a label: its stops, and units off the chain where they are cheapest. */
static bool offer(labels *s, int32_t at) {
  const situ_problem *p = s->problem;
  int32_t *device, *order;
  if (!ARENA_ARRAYS(s->run->arena, ARRAY(device, p->n_operators), ARRAY(order, p->n_operators))) return false;
  for (int32_t u = 0; u < p->units.n; u++) {
    int32_t d = -1;
    if (s->chain->on_chain[u] || branch_chain_off(s->chain, u, &d) < 0) continue;
    unit_members_put(unit_list_members(&p->units, u), device, d);
  }
  for (int32_t k = 0; k < s->n_main; k++) { /* decisions were made backward */
    for (int32_t i = s->detour_start[k + 1] - 1; i >= s->detour_start[k]; i--, at = s->choices[at].behind)
      unit_members_put(unit_list_members(&p->units, s->chain->stops[s->detours[i]].unit), device,
                       s->choices[at].device);
    unit_members_put(unit_list_members(&p->units, s->chain->stops[s->main[k]].unit), device, s->choices[at].device);
    at = s->choices[at].behind;
  }
  if (!sequence_find(order, s->run->simulator, p, device, s->run->arena)) return false;
  solve_offer(s->run, &(placement){.device = device, .order = order});
  return true;
}

static int by_value(const void *a, const void *b) {
  const label *x = a, *y = b;
  if (x->value_ns != y->value_ns) return x->value_ns < y->value_ns ? -1 : 1;
  return (x->choice > y->choice) - (x->choice < y->choice);
}

/* Labels along the whole chain with each memory reduced by a margin; *min_ns: no plan within that is better. */
static situ_status search(labels *s, int64_t margin_bytes, int64_t *min_ns) {
  const situ_problem *p = s->problem;
  s->n_kept = s->n_choices = 0;
  s->dropped_ns = SITU_NEVER_NS;
  s->upper_ns = s->run->incumbent->value_ns;
  *min_ns = 0;
  for (int32_t d = 0; d < s->n_devices; d++)
    if (s->room_of[d] >= 0) s->room[s->room_of[d]] = p->platform->memory_bytes[p->memory_of[d]] - margin_bytes;
  for (int32_t k = s->n_main - 1; k >= 0; k--) {
    int32_t first = s->detour_start[k], end = s->detour_start[k + 1];
    budget_spend(s->run->budget, 1);
    if (budget_over(s->run->budget)) return SITU_STATUS_OK;
    if (!decide(s, k, first, s->main[k])) return fail_no_memory(s->run->error);
    for (int32_t i = first; i < end; i++)
      if (!decide(s, k, i + 1, s->detours[i])) return fail_no_memory(s->run->error);
  }
  *min_ns = min64(s->dropped_ns, s->upper_ns);
  if (s->n_kept == 0) return SITU_STATUS_OK;
  qsort(s->kept, (size_t)s->n_kept, sizeof *s->kept, by_value);
  *min_ns = min64(*min_ns, (int64_t)s->base[VALUE] + s->kept[0].value_ns);
  for (int32_t i = 0; i < (s->run->form ? MAX_OFFERED : 1) && i < s->n_kept; i++)
    if (!offer(s, s->kept[i].choice)) return fail_no_memory(s->run->error);
  return SITU_STATUS_OK;
}

/* While an operator runs, its memory holds its workspace and outputs in addition to all weights. */
static bool find_needs(labels *s) {
  const situ_problem *p = s->problem;
  const situ_graph *g = p->graph;
  const branch_chain *c = s->chain;
  if (!(s->need = ARENA_ZERO(s->run->arena, int64_t, (int64_t)c->n * c->n_types))) return false;
  for (int32_t x = 0; x < c->n; x++) {
    unit_members of = unit_list_members(&p->units, c->stops[x].unit);
    for (int32_t k = 0; k < c->n_types; k++)
      for (int32_t i = 0; i < of.n; i++) {
        int32_t v = of.member[i];
        int64_t bytes = g->workspace_bytes[v], *most = &s->need[(int64_t)x * c->n_types + k];
        for (int32_t t = g->out_start[v]; t < g->out_start[v + 1]; t++) bytes = sat_add(bytes, g->size_bytes[t]);
        if (problem_time_ns(p, v, c->first[k]) > 0) *most = max64(*most, bytes);
      }
  }
  return true;
}

/* Finds the memories that may be too small for all weights. False where there are more than labels can hold. */
static bool find_rooms(labels *s) {
  const situ_problem *p = s->problem;
  int64_t weights = 0, most = 0;
  for (int32_t u = 0; u < p->units.n; u++) weights = sat_add(weights, s->chain->all.weight_bytes[u]);
  for (int32_t v = 0; v < p->n_operators; v++) most = max64(most, footprint_bytes(p->graph, v));
  weights = sat_add(weights, most);
  for (int32_t d = 0; d < s->n_devices; d++) {
    s->room_of[d] = -1;
    for (int32_t e = 0; e < d; e++)
      if (p->memory_of[e] == p->memory_of[d]) s->room_of[d] = s->room_of[e];
    if (s->room_of[d] >= 0 || p->platform->memory_bytes[p->memory_of[d]] >= weights) continue;
    if (s->n_rooms == MAX_ROOMS) return false;
    s->room_of[d] = s->n_rooms++;
  }
  return true;
}

/* Lists the stops on the chain and their detours. False where detours have detours. */
static bool find_decisions(labels *s) {
  const branch_chain *c = s->chain;
  int32_t n = 0;
  for (int32_t x = 0; x < c->n; x++) {
    if (!c->stops[x].counts || (c->stops[x].inside >= 0 && c->stops[c->stops[x].inside].inside >= 0)) return false;
    if (c->stops[x].inside < 0) s->main[s->n_main++] = x;
  }
  for (int32_t k = 0; k < s->n_main; k++) {
    s->detour_start[k] = n;
    for (int32_t x = 0; x < c->n; x++)
      if (c->stops[x].inside == s->main[k]) s->detours[n++] = x;
  }
  s->detour_start[s->n_main] = n;
  return true;
}

bool chain_labels_takes(const situ_problem *p) {
  return p->execution == SITU_EXECUTION_STREAM && !p->training && p->n_devices <= MAX_DEVICES && branch_chain_serves(p);
}

static bool chain_labels_serves(const situ_problem *p) {
  return p->overlap == SITU_OVERLAP_NONE && chain_labels_takes(p);
}

situ_status chain_labels_run(solve_run *run) {
  const situ_problem *p = run->problem;
  arena *a = run->arena;
  branch_chain chain;
  labels *s = ARENA_ZERO(a, labels, 1);
  if (!s) return fail_no_memory(run->error);
  TRY(branch_chain_find(&chain, p, a, run->error));
  if (chain.n < 2 || chain.n > MAX_STOPS) return SITU_STATUS_OK;
  s->run = run;
  s->problem = p;
  s->chain = &chain;
  s->n_devices = p->n_devices;
  s->lower_ns = -1;
  int64_t cells = (int64_t)MEASURES * chain.n * p->n_devices;
  if (!ARENA_ARRAYS(a, ARRAY(s->main, chain.n), ARRAY(s->detours, chain.n), ARRAY(s->detour_start, chain.n + 1),
                    ZEROS(s->best_byte, p->n_memories), ARRAY(s->before, cells), ARRAY(s->min_detour, cells)))
    return fail_no_memory(run->error);
  if (!find_decisions(s) || !find_rooms(s)) return SITU_STATUS_OK;
  if (!find_needs(s) || !find_form(s)) return fail_no_memory(run->error);
  branch_chain_ascend(&chain, run->budget, take_prices, s);
  if (s->lower_ns < 0 || solve_done(run)) return SITU_STATUS_OK;
  branch_chain_at(&chain, s->best_byte, s->hurry, take_prices, s);
  for (measure by = PRICED; by < MEASURES; by++) measure_chain(s, by);
  measure_base(s);
  int64_t each = (int64_t)chain.n * p->n_devices;
  double work = run->form ? FORM_WORK_LIMIT : WORK_LIMIT;
  s->max_kept = (int32_t)min64(MAX_KEPT, MAX_CHOICES / each);
  s->max_kept = (int32_t)min64(s->max_kept, MAX_MADE / ((int64_t)p->n_devices * p->n_devices));
  s->max_kept = (int32_t)min64(s->max_kept, 1 + (int64_t)sqrt(work / (double)(each * p->n_devices)));
  if (!ARENA_ARRAYS(a, ARRAY(s->made, MAX_MADE + 1), ARRAY(s->kept, (int64_t)s->max_kept * p->n_devices),
                    ARRAY(s->choices, s->max_kept * each)))
    return fail_no_memory(run->error);
  int64_t margin = 0, min_ns, ignored;
  for (int32_t v = 0; v < p->n_operators; v++) margin = max64(margin, footprint_bytes(p->graph, v));
  TRY(search(s, 0, &min_ns));
  if (min_ns > 0) solve_bound(run, min_ns, "chain_labels");
  return s->n_rooms == 0 || solve_done(run) ? SITU_STATUS_OK : search(s, margin, &ignored);
}

const solver chain_labels_solver = {
    .name = "chain_labels",
    .title = "label setting along a chain of layers, with prices of memory and of a limit",
    .source = "Handler and Zang, Networks 10, 1980; Desrosiers et al., 1995",
    .models = MODEL_STREAM,
    .serves = chain_labels_serves,
    .solve = chain_labels_run,
};
