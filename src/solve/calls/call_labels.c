#include "solve/calls/call_labels.h"

#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "base/compare.h"
#include "base/contracts.h"

enum { LABELS_PER_STEP = 64, SLACK = 64, POLLED = 1 << 14 };
/* Labels may take this much memory before a run gives up. */
static const int64_t MAX_BYTES = (int64_t)1 << 30;

static int32_t n_front(const call_labels *l, int32_t ideal) {
  const call_lattice *lattice = l->price->lattice;
  return (int32_t)(lattice->front_start[ideal + 1] - lattice->front_start[ideal]);
}

/* The state of a tie: groups whose calls one device runs in sequence. Smaller is better for all fields but the root. */
enum tie_field {
  TIE_BYTES, /* weights */
  TIE_LOAD,  /* time */
  TIE_FIRST, /* start of the first */
  TIE_FREE,  /* end of the last */
  TIE_ROOT,  /* the lowest of its groups among those that the ideal cuts */
  TIE_CALLS, /* number of calls; left out where that has no limit */
  TIE_FIELDS
};

static int32_t n_entries(const call_labels *l, int32_t ideal) {
  return n_front(l, ideal) + l->tie_fields * __builtin_popcountll(l->price->lattice->cut[ideal]);
}

/* The position of the tie of group k, which the ideal cuts, in the entries of its labels. */
static int32_t entry_of_group(const call_labels *l, int32_t ideal, int32_t k) {
  return n_front(l, ideal) + l->tie_fields * __builtin_popcountll(l->price->lattice->cut[ideal] & ((1ull << k) - 1));
}

bool call_labels_make(call_labels *l, const call_price *price, arena *a) {
  const call_lattice *lattice = price->lattice;
  const call_graph *g = lattice->graph;
  *l = (call_labels){.price = price, .free = -1};
  if (!ARENA_ARRAYS(a, ARRAY(l->first, lattice->n), ARRAY(l->count, lattice->n),
                    ZEROS(l->cross, lattice->front_start[lattice->n]), ARRAY(l->position, g->n),
                    ARRAY(l->mark, g->n)) ||
      !call_iterator_make(&l->iterator, lattice, price->flow_in, price->through, a))
    return false;
  for (int32_t i = 0; i < lattice->n; i++)
    for (int64_t f = lattice->front_start[i]; f < lattice->front_start[i + 1]; f++) {
      int32_t v = lattice->front[f];
      for (int32_t k = g->use_start[g->out_start[v]]; k < g->use_start[g->out_start[v + 1]]; k++)
        if (!call_lattice_has(lattice, i, g->use[k])) l->cross[f] += price->flow_in[k];
    }
  return true;
}

void call_labels_free(call_labels *l) {
  free(l->label);
  free(l->entry);
  free(l->rank);
  l->label = NULL;
  l->entry = NULL;
  l->rank = NULL;
}

/* The outcome of an attempt. */
typedef enum outcome { WENT_ON, OVER, NO_ROOM, NO_MEMORY } outcome;

/* Takes a free label. */
static outcome take(call_labels *l, int32_t *out) {
  if (l->free >= 0) {
    *out = l->free;
    l->free = l->label[l->free].next;
    return WENT_ON;
  }
  if (l->n == l->capacity) {
    int64_t capacity = l->capacity ? (int64_t)l->capacity * 2 : 1024, size = l->stride * (int64_t)sizeof *l->entry;
    if (capacity * (size + (int64_t)sizeof *l->label) > MAX_BYTES) return NO_ROOM;
    call_label *label = realloc(l->label, (size_t)capacity * sizeof *label);
    if (label) l->label = label;
    int64_t *entry = realloc(l->entry, (size_t)(capacity * size));
    if (entry) l->entry = entry;
    if (!label || !entry) return NO_MEMORY;
    l->capacity = (int32_t)capacity;
  }
  *out = l->n++;
  return WENT_ON;
}

static void give_back(call_labels *l, int32_t i) {
  l->label[i].next = l->free;
  l->free = i;
}

/* Whether `before`, which precedes `after` in the order of compare_min_ns, is at least as good in everything. */
static bool dominates(const call_labels *l, const call_rank *before, const call_rank *after, int32_t ideal) {
  if (before->called != after->called || before->entry > after->entry || before->weight_bytes > after->weight_bytes ||
      before->calls > after->calls)
    return false;
  const int64_t *s = l->entry + before->label * (int64_t)l->stride, *t = l->entry + after->label * (int64_t)l->stride;
  int32_t n = n_entries(l, ideal), front = n_front(l, ideal);
  for (int32_t k = 0; k < n; k++)
    if (s[k] > t[k]) return false;
  for (int32_t k = front + TIE_ROOT; k < n; k += l->tie_fields)
    if (s[k] != t[k]) return false;
  return true;
}

COMPARATOR(compare_min_ns, call_rank, UP(min_ns) UP(weight_bytes) UP(label))

/* Drops dominated labels, then those beyond the width. The list is then sorted, best first. False without memory. */
static bool prune(call_labels *l, int32_t ideal) {
  int32_t n = 0, kept = 0, last = l->price->lattice->n - 1;
  if (l->count[ideal] > l->ranks) {
    call_rank *rank = realloc(l->rank, (size_t)l->count[ideal] * 2 * sizeof *rank);
    if (!rank) return false;
    l->rank = rank;
    l->ranks = l->count[ideal] * 2;
  }
  call_rank *all = l->rank;
  for (int32_t i = l->first[ideal]; i >= 0; i = l->label[i].next) {
    const call_label *x = &l->label[i];
    int64_t entry = n_entries(l, ideal) > 0 ? l->entry[(int64_t)i * l->stride] : 0;
    all[n++] = (call_rank){x->min_ns, x->weight_bytes, x->called, entry, i, x->calls};
  }
  if (n > 1) qsort(all, (size_t)n, sizeof *all, compare_min_ns);
  for (int32_t k = 0; k < n; k++) {
    int32_t i = all[k].label;
    bool good = all[k].min_ns < l->limit_ns;
    /* At the end only the value can be worse, and another label may be packed where the best is not. */
    for (int32_t j = 0; j < kept && good && ideal != last; j++) good = !dominates(l, &all[j], &all[k], ideal);
    if (good && kept == l->width) {
      l->dropped_ns = min64(l->dropped_ns, all[k].min_ns);
      good = false;
    }
    if (good)
      all[kept++] = all[k];
    else
      give_back(l, i);
  }
  l->first[ideal] = -1;
  for (int32_t k = kept - 1; k >= 0; k--) {
    l->label[all[k].label].next = l->first[ideal];
    l->first[ideal] = all[k].label;
  }
  l->count[ideal] = kept;
  return true;
}

/* A unit that extends the labels of an ideal. */
typedef struct unit {
  call_move move;
  int64_t lasts_ns;
} unit;

/* A node is not needed until, for some user of it, all producers inside the ideal have ended. Raises times to that. */
static void delay(call_labels *l, int32_t ideal, int64_t *time_ns) {
  const call_lattice *lattice = l->price->lattice;
  const call_graph *g = lattice->graph;
  int64_t begin = lattice->front_start[ideal], end = lattice->front_start[ideal + 1];
  for (int64_t f = begin; f < end; f++) l->position[lattice->front[f]] = (int32_t)(f - begin);
  for (int64_t f = begin; f < end; f++) {
    int32_t v = lattice->front[f];
    int64_t needed = SITU_NEVER_NS;
    for (int32_t k = g->use_start[g->out_start[v]]; k < g->use_start[g->out_start[v + 1]]; k++) {
      int32_t x = g->use[k];
      if (call_lattice_has(lattice, ideal, x)) continue;
      int64_t ready = time_ns[f - begin];
      for (int32_t i = g->in_start[x]; i < g->in_start[x + 1]; i++) {
        int32_t u = g->producer[g->in[i]];
        if (call_lattice_has(lattice, ideal, u)) ready = max64(ready, time_ns[l->position[u]]);
      }
      needed = min64(needed, ready);
    }
    time_ns[f - begin] = needed;
  }
}

/* The tie that a unit joins: everything to which its groups are tied already. */
typedef struct tie {
  int64_t field[TIE_FIELDS];
  uint64_t groups;
} tie;

static tie find_tie(const call_labels *l, const int64_t *before, const unit *u) {
  tie found = {.field = {[TIE_FIRST] = SITU_NEVER_NS}, .groups = u->move.groups};
  uint64_t cut = l->price->lattice->cut[u->move.from], roots = 0;
  if (u->move.host) return found;
  for (uint64_t k = u->move.groups & cut; k; k &= k - 1) {
    const int64_t *old = before + entry_of_group(l, u->move.from, __builtin_ctzll(k));
    if (roots >> old[TIE_ROOT] & 1) continue;
    roots |= 1ull << old[TIE_ROOT];
    found.field[TIE_BYTES] = sat_add(found.field[TIE_BYTES], old[TIE_BYTES]);
    found.field[TIE_LOAD] += old[TIE_LOAD];
    if (l->tie_fields == TIE_FIELDS) found.field[TIE_CALLS] += old[TIE_CALLS];
    found.field[TIE_FIRST] = min64(found.field[TIE_FIRST], old[TIE_FIRST]);
    found.field[TIE_FREE] = max64(found.field[TIE_FREE], old[TIE_FREE]);
  }
  for (uint64_t k = roots ? cut : 0; k; k &= k - 1)
    if (roots >> before[entry_of_group(l, u->move.from, __builtin_ctzll(k)) + TIE_ROOT] & 1) found.groups |= k & -k;
  /* Ties that were separate until now run in sequence too. */
  if (roots) found.field[TIE_FREE] = max64(found.field[TIE_FREE], found.field[TIE_FIRST] + found.field[TIE_LOAD]);
  return found;
}

/* Fills the ties of the groups that the upper ideal cuts: those of `now` become one, the others stay unchanged. */
static void fill_ties(const call_labels *l, const int64_t *before, int64_t *after, const unit *u, const tie *now) {
  const call_lattice *lattice = l->price->lattice;
  uint64_t cut = lattice->cut[u->move.to];
  for (uint64_t k = cut; k; k &= k - 1) {
    int32_t group = __builtin_ctzll(k);
    int64_t *to = after + entry_of_group(l, u->move.to, group);
    bool here = now->groups >> group & 1;
    const int64_t *from = here ? now->field : before + entry_of_group(l, u->move.from, group);
    memcpy(to, from, (size_t)l->tie_fields * sizeof *to);
    uint64_t tied = here && !u->move.host ? now->groups & cut : k & -k;
    for (uint64_t j = here ? 0 : cut & lattice->cut[u->move.from] & ~now->groups; j; j &= j - 1)
      if (before[entry_of_group(l, u->move.from, __builtin_ctzll(j)) + TIE_ROOT] == from[TIE_ROOT]) tied |= j & -j;
    to[TIE_ROOT] = __builtin_ctzll(tied);
  }
}

/* The level of rest that applies to a label. */
static int32_t level_of(const call_labels *l, int32_t ideal, const int64_t *entry) {
  const call_price *price = l->price;
  uint64_t ties = price->n_levels > 1 ? price->lattice->cut[ideal] & price->ties : 0;
  int64_t min = ties ? CALL_LEVELS - 1 : 0;
  for (; ties; ties &= ties - 1)
    min = min64(min, entry[entry_of_group(l, ideal, __builtin_ctzll(ties)) + TIE_BYTES] / price->level_bytes);
  return (int32_t)min;
}

/* Extends a label. position[v]: the place of v in the front of the ideal, else -1; mark[v]: the unit uses a tensor of
 * v. */
static outcome extend(call_labels *l, int32_t parent, const unit *u) {
  const call_price *price = l->price;
  const call_lattice *lattice = price->lattice;
  tie tied = find_tie(l, l->entry + (int64_t)parent * l->stride, u);
  const call_graph *g = lattice->graph;
  if (!u->move.host) tied.field[TIE_BYTES] = sat_add(tied.field[TIE_BYTES], u->move.weight_bytes);
  if (!u->move.host && g->device_calls < INT32_MAX) tied.field[TIE_CALLS]++;
  if (tied.field[TIE_BYTES] > g->call_bytes || tied.field[TIE_CALLS] > g->device_calls) return WENT_ON;
  int32_t i;
  outcome got = take(l, &i);
  if (got != WENT_ON) return got;
  const int64_t *before = l->entry + (int64_t)parent * l->stride;
  int64_t *after = l->entry + (int64_t)i * l->stride, start = tied.field[TIE_FREE];
  int64_t from = lattice->front_start[u->move.from], to = lattice->front_start[u->move.to];
  for (int64_t f = from; f < lattice->front_start[u->move.from + 1]; f++)
    if (l->mark[lattice->front[f]] > 0) start = max64(start, before[f - from]);
  int64_t finish = start + u->lasts_ns;
  if (!u->move.host) {
    tied.field[TIE_LOAD] += u->lasts_ns;
    tied.field[TIE_FIRST] = min64(tied.field[TIE_FIRST], start);
    tied.field[TIE_FREE] = finish;
  }
  const call_label *p = &l->label[parent];
  call_label now = {
      .weight_bytes = p->weight_bytes + u->move.weight_bytes,
      .arrived = p->arrived,
      .parent = parent,
      .ideal = u->move.to,
      .host = u->move.host,
      .called = (u->move.host ? p->called : p->called | u->move.groups) & l->price->lattice->cut[u->move.to],
      .calls = (uint16_t)(p->calls + (!u->move.host && g->all_calls < INT32_MAX)),
      .min_ns = max64(p->min_ns, finish)};
  int64_t crossing = 0;
  for (int64_t f = to; f < lattice->front_start[u->move.to + 1]; f++) {
    int32_t v = lattice->front[f];
    bool made = !call_lattice_has(lattice, u->move.from, v);
    after[f - to] = made ? finish : before[l->position[v]];
    crossing += l->cross[f] * after[f - to];
  }
  for (int32_t k = 0; k < lattice->n_words; k++) {
    uint64_t members = lattice->bits[(int64_t)u->move.to * lattice->n_words + k] &
                       ~lattice->bits[(int64_t)u->move.from * lattice->n_words + k];
    for (; members; members &= members - 1) now.arrived += price->ending[k * 64 + __builtin_ctzll(members)] * finish;
  }
  fill_ties(l, before, after, u, &tied);
  int64_t rest = price->rest[(int64_t)u->move.to * price->n_levels + level_of(l, u->move.to, after)];
  int64_t min = rest == SITU_NEVER_NS ? rest : now.arrived + crossing + rest;
  if (min != SITU_NEVER_NS) min += call_price_paid(price, now.weight_bytes, now.calls) - call_price_allowance(price);
  if (min == SITU_NEVER_NS) now.min_ns = min;
  if (min > 0) now.min_ns = max64(now.min_ns, min / CALL_PARTS + (min % CALL_PARTS > 0));
  l->n_made++;
  l->label[i] = now;
  if (now.min_ns >= l->limit_ns || now.weight_bytes > g->all_bytes || now.calls > g->all_calls) {
    give_back(l, i);
    return WENT_ON;
  }
  l->label[i].next = l->first[u->move.to];
  l->first[u->move.to] = i;
  l->count[u->move.to]++;
  return WENT_ON;
}

/* Extends all labels of `from` by the unit. */
static outcome extend_all(call_labels *l, const unit *u) {
  uint64_t bound_groups = u->move.groups & l->price->lattice->begun[u->move.from];
  for (int32_t i = l->first[u->move.from]; i >= 0; i = l->label[i].next) {
    if ((l->label[i].called ^ (u->move.host ? 0 : ~0ull)) & bound_groups) continue;
    outcome made = extend(l, i, u);
    if (made != WENT_ON) return made;
  }
  if (l->count[u->move.to] <= 4 * l->width + SLACK) return WENT_ON;
  return prune(l, u->move.to) ? WENT_ON : NO_MEMORY;
}

static outcome spend(call_labels *l, budget *b) {
  int64_t steps = (l->n_made - l->n_spent) / LABELS_PER_STEP;
  l->n_spent += steps * LABELS_PER_STEP;
  return budget_spend(b, steps) ? OVER : WENT_ON;
}

/* The minimum cost of any label of the ideal so far, without the cost still to come. */
static int64_t min_so_far(const call_labels *l, int32_t ideal) {
  const call_price *price = l->price;
  int64_t begin = price->lattice->front_start[ideal], end = price->lattice->front_start[ideal + 1], min = INT64_MAX;
  for (int32_t i = l->first[ideal]; i >= 0; i = l->label[i].next) {
    int64_t key = l->label[i].arrived + call_price_paid(price, l->label[i].weight_bytes, l->label[i].calls);
    for (int64_t f = begin; f < end; f++) key += l->cross[f] * l->entry[(int64_t)i * l->stride + f - begin];
    min = min64(min, key);
  }
  return min;
}

/* Extends labels by nodes on hosts. `most`: the limit on the cost of a unit and the rest. */
static outcome leave_by_hosts(call_labels *l, int32_t from, int64_t max) {
  const call_price *price = l->price;
  const call_lattice *lattice = price->lattice;
  const call_graph *g = lattice->graph;
  outcome went = WENT_ON;
  for (int64_t s = lattice->step_start[from]; s < lattice->step_start[from + 1] && went == WENT_ON; s++) {
    int32_t v = lattice->step[s].node, to = lattice->step[s].ideal;
    int64_t rest = price->rest[(int64_t)to * price->n_levels];
    if (g->host_ns[v] == SITU_NEVER_NS || rest == SITU_NEVER_NS || price->through[v] * g->host_ns[v] + rest > max)
      continue;
    unit on_host = {{.from = from, .to = to, .host = true, .groups = lattice->groups[v]}, g->host_ns[v]};
    for (int32_t i = g->in_start[v]; i < g->in_start[v + 1]; i++) l->mark[g->producer[g->in[i]]] = 1;
    went = extend_all(l, &on_host);
    for (int32_t i = g->in_start[v]; i < g->in_start[v + 1]; i++) l->mark[g->producer[g->in[i]]] = 0;
  }
  return went;
}

static outcome leave_by_calls(call_labels *l, int32_t from, int64_t max, budget *b) {
  const call_price *price = l->price;
  const call_lattice *lattice = price->lattice;
  call_iterator *w = &l->iterator;
  int32_t *mark = l->mark;
  bool deeper = true;
  outcome went = WENT_ON;
  call_iterator_start(w, from);
  l->mark = w->feeds;
  for (int32_t to; went == WENT_ON && (to = call_iterator_next(w, deeper)) >= 0;) {
    l->n_made++; /* examining a call is work too */
    if (l->n_made - l->n_spent > POLLED && spend(l, b) != WENT_ON) went = OVER;
    int64_t charge = call_price_paid(price, w->weight_bytes, 1);
    deeper = w->flow * (w->compute_ns + w->in_ns) + charge <= max;
    int64_t lasts = w->compute_ns + w->in_ns + w->out_ns, rest = price->rest[(int64_t)to * price->n_levels];
    if (went != WENT_ON || !deeper || rest == SITU_NEVER_NS || w->flow * lasts + charge + rest > max) continue;
    unit called = {
        {.from = from, .to = to, .weight_bytes = w->weight_bytes, .groups = call_lattice_groups(lattice, from, to)},
        lasts};
    went = extend_all(l, &called);
  }
  l->mark = mark;
  call_iterator_start(w, from); /* undoes the last call */
  return went;
}

/* Extends the labels of an ideal by all units. */
static outcome leave(call_labels *l, int32_t from, budget *b) {
  const call_price *price = l->price;
  const call_lattice *lattice = price->lattice;
  int64_t begin = lattice->front_start[from], max = sat_mul(l->limit_ns - 1, CALL_PARTS);
  if (max < INT64_MAX) max = sat_add(max, call_price_allowance(price)) - min_so_far(l, from);
  for (int64_t f = begin; f < lattice->front_start[from + 1]; f++)
    l->position[lattice->front[f]] = (int32_t)(f - begin);
  outcome went = leave_by_hosts(l, from, max);
  if (went == WENT_ON) went = leave_by_calls(l, from, max, b);
  return went == WENT_ON ? spend(l, b) : went;
}

/* Sets the size of a label; it counts calls only if their number has a limit. */
static void choose_stride(call_labels *l) {
  const call_lattice *lattice = l->price->lattice;
  int32_t before = l->stride;
  l->tie_fields = lattice->graph->device_calls < INT32_MAX ? TIE_FIELDS : TIE_FIELDS - 1;
  l->stride = 1;
  for (int32_t i = 0; i < lattice->n; i++)
    if (n_entries(l, i) > l->stride) l->stride = n_entries(l, i);
  if (l->stride == before) return;
  call_labels_free(l);
  l->capacity = l->ranks = 0;
}

call_labels_result call_labels_run(call_labels *l, int32_t width, int64_t limit_ns, budget *b) {
  REQUIRE(width > 0 && limit_ns >= 0);
  const call_lattice *lattice = l->price->lattice;
  choose_stride(l);
  l->n = 0;
  l->free = -1;
  l->n_made = l->n_spent = 0;
  l->width = width;
  l->limit_ns = limit_ns;
  l->dropped_ns = SITU_NEVER_NS;
  for (int32_t i = 0; i < lattice->n; i++) {
    l->first[i] = -1;
    l->count[i] = 0;
  }
  memset(l->mark, 0, (size_t)lattice->graph->n * sizeof *l->mark);
  int32_t root;
  outcome went = take(l, &root);
  if (went != WENT_ON) return CALL_LABELS_NO_MEMORY;
  l->label[root] = (call_label){.parent = -1, .next = -1};
  l->first[0] = root;
  l->count[0] = 1;
  for (int32_t i = 0; i < lattice->n && went == WENT_ON; i++) {
    if (l->first[i] < 0) continue;
    for (int32_t k = l->first[i]; k >= 0; k = l->label[k].next) delay(l, i, l->entry + (int64_t)k * l->stride);
    if (!prune(l, i)) return CALL_LABELS_NO_MEMORY;
    if (i < lattice->n - 1) went = leave(l, i, b);
  }
  return went == WENT_ON ? CALL_LABELS_DONE : went == NO_MEMORY ? CALL_LABELS_NO_MEMORY : CALL_LABELS_STOPPED;
}
