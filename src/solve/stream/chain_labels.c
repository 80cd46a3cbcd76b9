/* Chains of layers for which memories are too small, or that have a limit by secondary costs: labels along the chain, a
 * shortest path with resource constraints (Desrosiers et al., Handbooks in OR 8, 1995). A label is a choice of devices
 * for the last elements, with its value, its time by the secondary costs, and the bytes it holds in each memory. It is
 * dropped if another label on the same device is no worse in all of these, if no memory or limit has room for the rest,
 * or if the prices of the bound unit_chain prove that its best completion is no better than the best plan known
 * (Handler and Zang, Networks 10, 1980). If too many labels are left, those with the lowest bounds stay, and the lowest
 * bound of the others is the proved bound. docs/theory/chain.md.
 *
 * Not for more than 32 devices or 8 scarce memories. A step makes up to labels x devices new labels for each device. Of
 * 65,536 made at once, each of 32 devices can start from 64; each of 64 devices could start from 16 only, which are too
 * few for a proof. With more than 8 scarce memories dominance drops few labels. priced_chain takes any number. */
#include "solve/stream/chain_labels.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "base/compare.h"
#include "base/fail.h"
#include "chain/branch_chain.h"
#include "solve/stream/sequence.h"
#include "view/footprint.h"
#include "view/unit.h"

enum {
  MAX_DEVICES = 32,
  MAX_SCARCE = 8,
  MAX_ELEMENTS = 2000,
  MAX_KEPT = 600,
  MAX_MADE = 1 << 16,
  MAX_CHOICES = 1 << 22,
  MAX_OFFERED = 8
};

static const double WORK_LIMIT = 3e7, FORM_WORK_LIMIT = 3e8; /* comparisons of labels */

typedef struct label {
  __int128 priced; /* value, secondary costs and bytes at their prices */
  int64_t value_ns, secondary_ns;
  int64_t used_bytes[MAX_SCARCE]; /* by weights */
  int64_t peak_bytes[MAX_SCARCE]; /* the maximum that some operator takes while it runs */
  int32_t choice;                 /* its own once kept; before that, of the decision after it, or -1 */
  int32_t device;                 /* of this decision */
  int32_t main_device;            /* device of the element on the chain */
  uint32_t used;                  /* set of devices */
  uint32_t layer_devices;         /* with a form: the set of devices that have layers, as the form counts them */
} label;

typedef struct choice {
  int32_t after, device; /* the choice after it, or -1 */
} choice;

/* The role of an element in a form. */
typedef enum role { ROLE_ANY, ROLE_FIRST, ROLE_LAYER, ROLE_HEAD, ROLE_EXPERTS } role;

/* Lower bounds of the cost of a completion: at the best multipliers, in 2^-32 ns; by value and secondary costs, in ns.
 */
typedef enum measure { PRICED, VALUE, OTHER, MEASURES } measure;

typedef struct labels {
  solve_run *run;
  const situ_problem *problem;
  const branch_chain *chain;
  int32_t n_devices, n_scarce;
  int32_t scarce_of[MAX_DEVICES]; /* [device] index of its limited memory, or -1 */
  int64_t capacity[MAX_SCARCE];
  int64_t *peak_bytes;   /* [element * types + type] the maximum that an operator of its unit takes while it runs */
  int64_t *byte;         /* [memory] the best prices */
  chain_multipliers by;  /* the best multipliers, of these prices */
  int64_t lower_ns;      /* what they prove */
  int32_t n_main, *main; /* elements on the chain, in order */
  int32_t *branches, *branch_start;            /* of main k: branches[branch_start[k] .. branch_start[k + 1]) */
  __int128 *before[MEASURES];                  /* as in the chain */
  __int128 base[MEASURES];                     /* common to all plans */
  int32_t n_kept, n_made, n_choices, max_kept; /* max_kept: for each device on the chain */
  label *kept, *made;                          /* of the last decision; of the current one */
  choice *choices;                             /* of all labels that were kept */
  int64_t upper_ns, dropped_ns;
  role *role;    /* [element] */
  int64_t *rest; /* [main k] bytes of the layers before it */
} labels;

/* ---- lower bounds of completions ---- */

/* Runs the chain at the multipliers of each measure: the minimum cost of all that is still to be decided, and that
 * common to all plans, of units off the chain, less the capacities at their prices. */
static void measure_chain(labels *s, branch_chain *c) {
  const situ_problem *p = s->problem;
  const chain_multipliers all[MEASURES] = {s->by, {.time = true}, {.secondary = (int64_t)1 << CHAIN_SECONDARY_BITS}};
  for (measure m = PRICED; m < MEASURES; m++) {
    int64_t cells = (int64_t)c->n * c->n_types;
    int32_t d, shift = m == PRICED ? 0 : CHAIN_PRICE_BITS;
    branch_chain_run(c, &all[m]);
    for (int64_t i = 0; i < cells; i++) s->before[m][i] = c->before[i] < 0 ? -1 : c->before[i] >> shift;
    s->base[m] = 0;
    for (int32_t u = 0; u < p->units.n; u++) {
      __int128 min = c->on_chain[u] ? 0 : branch_chain_off(c, &all[m], u, &d);
      s->base[m] += min > 0 ? min >> shift : 0;
    }
  }
  for (int32_t m = 0; m < p->n_memories; m++)
    if (s->byte[m] > 0) s->base[PRICED] -= chain_rent(&s->by, m, p->platform->memory_bytes[m]);
  if (s->by.secondary > 0) s->base[PRICED] -= chain_cost(&s->by, 0, p->max_secondary_ns);
}

/* ---- labels ---- */

/* The minimum cost still to come for a label on main element k with branches from `next` on undecided. False where no
 * completion exists. */
static bool completion(const labels *s, const label *l, int32_t k, int32_t next, __int128 left[MEASURES]) {
  int64_t n = s->chain->n_types, type = s->chain->equal.type_of[l->main_device];
  for (measure m = PRICED; m < MEASURES; m++) {
    left[m] = s->before[m][s->main[k] * n + type];
    if (left[m] < 0) return false;
    for (int32_t i = next; i < s->branch_start[k + 1]; i++) {
      __int128 min = s->before[m][s->branches[i] * n + type];
      if (min < 0) return false;
      left[m] += min;
    }
  }
  return true;
}

/* A bound on the value of a plan that completes the label; SITU_NEVER_NS where none keeps the limit. */
static int64_t lower_bound(const labels *s, const label *l, int32_t k, int32_t next) {
  __int128 left[MEASURES];
  if (!completion(s, l, k, next, left)) return SITU_NEVER_NS;
  if (s->problem->secondary && s->base[OTHER] + l->secondary_ns + left[OTHER] > s->problem->max_secondary_ns)
    return SITU_NEVER_NS;
  __int128 one = (__int128)1 << CHAIN_PRICE_BITS, priced = s->base[PRICED] + l->priced + left[PRICED];
  __int128 min = s->base[VALUE] + l->value_ns + left[VALUE];
  if (priced > 0 && (priced + one - 1) >> CHAIN_PRICE_BITS > min) min = (priced + one - 1) >> CHAIN_PRICE_BITS;
  return min > PROBLEM_MAX_NS ? SITU_NEVER_NS : (int64_t)min;
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

static bool has_rule(const labels *s, int32_t bits) { return s->run->form && s->run->form->form & bits; }

/* Whether the form allows element x on device d, given the label for the elements after it. */
static bool has_form(const labels *s, const label *l, int32_t x, int32_t d) {
  bool host = problem_is_home(s->problem, d), tied = s->problem->graph->tied_head;
  switch (s->role[x]) {
    case ROLE_ANY: return true;
    case ROLE_EXPERTS: return d == l->main_device || host || !has_rule(s, SITU_FORM_SPILL);
    case ROLE_FIRST:
      if (host || !has_rule(s, SITU_FORM_HEAD)) return true;
      return l->layer_devices >> d & 1 && (!tied || l->layer_devices >> d == 1);
    case ROLE_HEAD:
    case ROLE_LAYER: break;
  }
  if (l->layer_devices == 0 || d == l->main_device) return true;
  return !(has_rule(s, SITU_FORM_RUNS) && l->layer_devices >> d & 1) &&
         !(has_rule(s, SITU_FORM_HOST_FIRST) && problem_is_home(s->problem, l->main_device));
}

/* Whether the devices that may get more layers have memory for the layers before main element k. */
static bool has_rest(const labels *s, const label *l, int32_t k) {
  bool ended = has_rule(s, SITU_FORM_HOST_FIRST) && l->layer_devices > 0 && problem_is_home(s->problem, l->main_device);
  uint32_t rooms = 0;
  int64_t room = 0;
  if (!has_rule(s, SITU_FORM_RUNS) || s->role[s->main[k]] == ROLE_FIRST) return true;
  for (int32_t d = 0; d < s->n_devices; d++) {
    int32_t r = s->scarce_of[d];
    if (d != l->main_device && (ended || l->layer_devices >> d & 1 || s->problem->unused[d])) continue;
    if (r < 0) return true;
    if (!(rooms >> r & 1)) room = sat_add(room, s->capacity[r] - l->used_bytes[r]);
    rooms |= (uint32_t)1 << r;
  }
  return s->rest[k] <= room;
}

/* Finds the role of each element in the form, and the bytes of layers before each main element. False without memory.
 */
static bool find_form(labels *s) {
  const layer_plan *form = s->run->form;
  if (!form) return true;
  if (!ARENA_ARRAYS(s->run->arena, ZEROS(s->role, s->chain->n), ZEROS(s->rest, s->n_main + 1))) return false;
  for (int32_t x = 0; x < s->chain->n; x++) {
    unit_members of = unit_list_members(&s->problem->units, s->chain->elements[x].unit);
    bool layer = false, experts = true, before = false;
    for (int32_t i = 0; i < of.n; i++) {
      layer |= form->layers.of[of.member[i]] >= 0;
      experts &= form->expert[of.member[i]];
      before |= form->layers.of[of.member[i]] < 0 && form->layers.before[of.member[i]];
    }
    if (layer)
      s->role[x] = experts && s->chain->elements[x].parent >= 0 ? ROLE_EXPERTS : ROLE_LAYER;
    else
      s->role[x] = before ? ROLE_FIRST : has_rule(s, SITU_FORM_HEAD) ? ROLE_HEAD : ROLE_ANY;
  }
  for (int32_t k = 0; k < s->n_main; k++)
    s->rest[k + 1] =
        s->rest[k] + (s->role[s->main[k]] == ROLE_LAYER ? branch_chain_weight_bytes(s->chain, s->main[k]) : 0);
  return true;
}

/* ---- extending labels ---- */

/* Extends label `after` by element x on device d, with the given times of its transfers, unless there is no room or the
 * result cannot beat the best plan. NULL: x is the first element on the chain to be decided. */
static void extend(labels *s, const label *after, int32_t k, int32_t next, int32_t x, int32_t d, int64_t transfer_ns,
                   int64_t secondary_ns) {
  label *made = &s->made[s->n_made];
  *made = after ? *after : (label){.choice = -1};
  int32_t scarce = s->scarce_of[d];
  int64_t time = branch_chain_time_ns(s->chain, x, d), weight = branch_chain_weight_bytes(s->chain, x);
  if (time == SITU_NEVER_NS || !is_next(s, made, d)) return;
  if (s->run->form && !has_form(s, made, x, d)) return;
  if (scarce >= 0) {
    int64_t peak_bytes = s->peak_bytes[(int64_t)x * s->chain->n_types + s->chain->equal.type_of[d]];
    made->used_bytes[scarce] += weight;
    made->peak_bytes[scarce] = max64(made->peak_bytes[scarce], peak_bytes);
    if (made->used_bytes[scarce] + made->peak_bytes[scarce] > s->capacity[scarce]) return;
  }
  time = sat_add(time, transfer_ns);
  secondary_ns = sat_add(branch_chain_secondary_ns(s->chain, x, d), secondary_ns);
  made->value_ns = sat_add(made->value_ns, time);
  made->secondary_ns = sat_add(made->secondary_ns, secondary_ns);
  made->priced += chain_cost(&s->by, time, secondary_ns) + chain_rent(&s->by, s->problem->memory_of[d], weight);
  made->used |= (uint32_t)1 << d;
  made->device = d;
  if (x == s->main[k]) made->main_device = d;
  if (s->run->form && (s->role[x] == ROLE_LAYER || s->role[x] == ROLE_HEAD)) made->layer_devices |= (uint32_t)1 << d;
  if (s->run->form && !has_rest(s, made, k)) return;
  if (lower_bound(s, made, k, next) < s->upper_ns) s->n_made++;
}

static bool dominates(const labels *s, const label *a, const label *b) {
  bool no_worse =
      a->value_ns <= b->value_ns && a->secondary_ns <= b->secondary_ns && a->layer_devices == b->layer_devices;
  for (int32_t r = 0; r < s->n_scarce && no_worse; r++)
    no_worse = a->used_bytes[r] <= b->used_bytes[r] && a->peak_bytes[r] <= b->peak_bytes[r];
  return no_worse;
}

typedef struct ranked {
  int64_t lower_ns, value_ns;
  int32_t at;
} ranked;

COMPARATOR(by_lower_bound, ranked, UP(lower_ns) UP(value_ns) UP(at))

/* Moves the nondominated labels among those made to `kept`, at most max_kept for each device on the chain. False
 * without memory. */
static bool thin_out(labels *s, int32_t k, int32_t next) {
  arena *a = s->run->arena;
  arena_mark mark = arena_get_mark(a);
  int32_t n = s->n_made, *of, n_of[MAX_DEVICES] = {0};
  ranked *list;
  if (!ARENA_ARRAYS(a, ARRAY(list, n), ARRAY(of, (int64_t)s->n_devices * s->max_kept))) return false;
  for (int32_t i = 0; i < n; i++) list[i] = (ranked){lower_bound(s, &s->made[i], k, next), s->made[i].value_ns, i};
  if (n > 1) qsort(list, (size_t)n, sizeof *list, by_lower_bound);
  s->n_kept = 0;
  for (int32_t i = 0; i < n; i++) {
    const label *l = &s->made[list[i].at];
    int32_t *beside = of + (int64_t)l->main_device * s->max_kept, n_beside = n_of[l->main_device];
    bool lost = false;
    for (int32_t o = 0; o < n_beside && !lost; o++) lost = dominates(s, &s->kept[beside[o]], l);
    if (lost) continue;
    if (n_beside == s->max_kept) {
      s->dropped_ns = min64(s->dropped_ns, list[i].lower_ns);
      continue;
    }
    beside[n_of[l->main_device]++] = s->n_kept;
    s->kept[s->n_kept] = *l;
    s->kept[s->n_kept++].choice = s->n_choices;
    s->choices[s->n_choices++] = (choice){l->choice, l->device};
  }
  s->n_made = 0;
  arena_release(a, mark);
  return true;
}

/* Decides element x, which is main element k or a branch from it, for each label kept. `next` is then the first
 * undecided branch. False without memory. */
static bool decide(labels *s, int32_t k, int32_t next, int32_t x) {
  bool last = k + 1 == s->n_main, branch = x != s->main[k];
  const chain_element *transfer = &s->chain->elements[branch ? x : last ? x : s->main[k + 1]];
  s->n_made = 0;
  for (int32_t d = 0; d < s->n_devices && last && !branch; d++) extend(s, NULL, k, next, x, d, 0, 0);
  for (int32_t b = 0; b < s->n_kept && !(last && !branch); b++)
    for (int32_t d = 0; d < s->n_devices; d++) {
      const label *after = &s->kept[b];
      int32_t there = after->main_device;
      if (branch)
        extend(s, after, k, next, x, d,
               branch_chain_transfer_ns(s->chain, transfer->in_ns, there, d) +
                   branch_chain_transfer_ns(s->chain, transfer->out_ns, d, there),
               branch_chain_transfer_ns(s->chain, transfer->secondary_in_ns, there, d) +
                   branch_chain_transfer_ns(s->chain, transfer->secondary_out_ns, d, there));
      else
        extend(s, after, k, next, x, d, branch_chain_transfer_ns(s->chain, transfer->in_ns, d, there),
               branch_chain_transfer_ns(s->chain, transfer->secondary_in_ns, d, there));
    }
  return thin_out(s, k, next);
}

/* ---- from prices to plans ---- */

static void take_prices(void *context, const branch_chain *chain, int64_t lower_ns) {
  labels *s = context;
  if (lower_ns <= s->lower_ns) return;
  s->lower_ns = lower_ns;
  s->by = (chain_multipliers){.time = true, .secondary = chain->by.secondary, .byte = s->byte};
  memcpy(s->byte, chain->byte, (size_t)s->problem->n_memories * sizeof *s->byte);
}

/* Offers the plan of a label: its elements, and units off the chain where they are cheapest. */
static bool offer(labels *s, int32_t at) {
  const situ_problem *p = s->problem;
  int32_t *device, *order;
  if (!ARENA_ARRAYS(s->run->arena, ARRAY(device, p->n_operators), ARRAY(order, p->n_operators))) return false;
  for (int32_t u = 0; u < p->units.n; u++) {
    int32_t d = -1;
    if (s->chain->on_chain[u] || branch_chain_off_now(s->chain, u, &d) < 0) continue;
    unit_members_put(unit_list_members(&p->units, u), device, d);
  }
  for (int32_t k = 0; k < s->n_main; k++) { /* decisions were made backward */
    for (int32_t i = s->branch_start[k + 1] - 1; i >= s->branch_start[k]; i--, at = s->choices[at].after)
      unit_members_put(unit_list_members(&p->units, s->chain->elements[s->branches[i]].unit), device,
                       s->choices[at].device);
    unit_members_put(unit_list_members(&p->units, s->chain->elements[s->main[k]].unit), device, s->choices[at].device);
    at = s->choices[at].after;
  }
  if (!sequence_find(order, s->run->simulator, p, device, s->run->arena)) return false;
  solve_offer(s->run, &(placement){.device = device, .order = order});
  return true;
}

COMPARATOR(by_value, label, UP(value_ns) UP(choice))

/* Labels along the whole chain with each memory reduced by a margin; *min_ns: no plan within that is better. */
static situ_status search(labels *s, int64_t margin_bytes, int64_t *min_ns) {
  const situ_problem *p = s->problem;
  s->n_kept = s->n_choices = 0;
  s->dropped_ns = SITU_NEVER_NS;
  s->upper_ns = s->run->incumbent->value_ns;
  *min_ns = 0;
  for (int32_t d = 0; d < s->n_devices; d++)
    if (s->scarce_of[d] >= 0) s->capacity[s->scarce_of[d]] = p->platform->memory_bytes[p->memory_of[d]] - margin_bytes;
  for (int32_t k = s->n_main - 1; k >= 0; k--) {
    int32_t first = s->branch_start[k], end = s->branch_start[k + 1];
    budget_spend(s->run->budget, 1);
    if (budget_over(s->run->budget)) return SITU_STATUS_OK;
    if (!decide(s, k, first, s->main[k])) return fail_no_memory(s->run->error);
    for (int32_t i = first; i < end; i++)
      if (!decide(s, k, i + 1, s->branches[i])) return fail_no_memory(s->run->error);
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
static bool find_peaks(labels *s) {
  const situ_problem *p = s->problem;
  const situ_graph *g = p->graph;
  const branch_chain *c = s->chain;
  if (!(s->peak_bytes = ARENA_ZERO(s->run->arena, int64_t, (int64_t)c->n * c->n_types))) return false;
  for (int32_t x = 0; x < c->n; x++) {
    unit_members of = unit_list_members(&p->units, c->elements[x].unit);
    for (int32_t k = 0; k < c->n_types; k++)
      for (int32_t i = 0; i < of.n; i++) {
        int32_t v = of.member[i];
        int64_t bytes = g->workspace_bytes[v], *max = &s->peak_bytes[(int64_t)x * c->n_types + k];
        for (int32_t t = g->out_start[v]; t < g->out_start[v + 1]; t++) bytes = sat_add(bytes, g->size_bytes[t]);
        if (problem_time_ns(p, v, c->first[k]) > 0) *max = max64(*max, bytes);
      }
  }
  return true;
}

/* Finds the memories that may be too small for all weights. False where there are more than labels can hold. */
static bool find_scarce(labels *s) {
  const situ_problem *p = s->problem;
  int64_t weights = 0, max = 0;
  for (int32_t u = 0; u < p->units.n; u++) weights = sat_add(weights, s->chain->all.weight_bytes[u]);
  for (int32_t v = 0; v < p->n_operators; v++) max = max64(max, footprint_bytes(p->graph, v));
  weights = sat_add(weights, max);
  for (int32_t d = 0; d < s->n_devices; d++) {
    s->scarce_of[d] = -1;
    for (int32_t e = 0; e < d; e++)
      if (p->memory_of[e] == p->memory_of[d]) s->scarce_of[d] = s->scarce_of[e];
    if (s->scarce_of[d] >= 0 || p->platform->memory_bytes[p->memory_of[d]] >= weights) continue;
    if (s->n_scarce == MAX_SCARCE) return false;
    s->scarce_of[d] = s->n_scarce++;
  }
  return true;
}

/* Lists the elements on the chain and their branches. False where branches have branches. */
static bool find_decisions(labels *s) {
  const branch_chain *c = s->chain;
  int32_t n = 0;
  for (int32_t x = 0; x < c->n; x++) {
    if (!c->elements[x].holds_weights || (c->elements[x].parent >= 0 && c->elements[c->elements[x].parent].parent >= 0))
      return false;
    if (c->elements[x].parent < 0) s->main[s->n_main++] = x;
  }
  for (int32_t k = 0; k < s->n_main; k++) {
    s->branch_start[k] = n;
    for (int32_t x = 0; x < c->n; x++)
      if (c->elements[x].parent == s->main[k]) s->branches[n++] = x;
  }
  s->branch_start[s->n_main] = n;
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
  if (chain.n < 2 || chain.n > MAX_ELEMENTS) return SITU_STATUS_OK;
  s->run = run;
  s->problem = p;
  s->chain = &chain;
  s->n_devices = p->n_devices;
  s->lower_ns = -1;
  int64_t cells = (int64_t)chain.n * chain.n_types;
  if (!ARENA_ARRAYS(a, ARRAY(s->main, chain.n), ARRAY(s->branches, chain.n), ARRAY(s->branch_start, chain.n + 1),
                    ZEROS(s->byte, p->n_memories), ARRAY(s->before[PRICED], cells), ARRAY(s->before[VALUE], cells),
                    ARRAY(s->before[OTHER], cells)))
    return fail_no_memory(run->error);
  if (!find_decisions(s) || !find_scarce(s)) return SITU_STATUS_OK;
  if (!find_peaks(s) || !find_form(s)) return fail_no_memory(run->error);
  branch_chain_ascend(&chain, run->budget, take_prices, s);
  if (s->lower_ns < 0 || solve_done(run)) return SITU_STATUS_OK;
  branch_chain_at(&chain, s->byte, s->by.secondary, take_prices, s);
  measure_chain(s, &chain);
  int64_t each = (int64_t)chain.n * p->n_devices;
  double work = run->form ? FORM_WORK_LIMIT : WORK_LIMIT;
  s->max_kept = (int32_t)min64(MAX_KEPT, MAX_CHOICES / each);
  s->max_kept = (int32_t)min64(s->max_kept, MAX_MADE / ((int64_t)p->n_devices * p->n_devices));
  s->max_kept = (int32_t)min64(s->max_kept, 1 + (int64_t)sqrt(work / (double)(each * p->n_devices)));
  int64_t max_kept = (int64_t)s->max_kept * p->n_devices, max_made = max_kept * p->n_devices;
  if (!ARENA_ARRAYS(a, ARRAY(s->made, max_made + 1), ARRAY(s->kept, max_kept), ARRAY(s->choices, s->max_kept * each)))
    return fail_no_memory(run->error);
  int64_t margin = 0, min_ns, ignored;
  for (int32_t v = 0; v < p->n_operators; v++) margin = max64(margin, footprint_bytes(p->graph, v));
  TRY(search(s, 0, &min_ns));
  if (min_ns > 0) solve_bound(run, min_ns, "chain_labels");
  return s->n_scarce == 0 || solve_done(run) ? SITU_STATUS_OK : search(s, margin, &ignored);
}

const solver chain_labels_solver = {
    .name = "chain_labels",
    .title = "label setting along a chain of layers, with prices of memory and of a limit",
    .source = "Handler and Zang, Networks 10, 1980; Desrosiers et al., 1995",
    .models = MODEL_STREAM,
    .serves = chain_labels_serves,
    .solve = chain_labels_run,
};
