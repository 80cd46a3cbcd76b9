/* Runs: in a contiguous pipeline each device has one run of any chain of the graph F, and all that lies between the
 * ends of that run. A period is refuted when no order of the devices covers the chain with runs that fit it. Work
 * beside the chain, or between the runs of two devices, is not counted. docs/theory/bounds/runs.md
 *
 * Not a call of chain_dp: the question is how far devices reach within a period, so a state holds one place, not a
 * value for each.
 *
 * The chains tried consist of the operators of a longest path with little work beside them. */
#include <string.h>

#include "base/checked.h"
#include "base/fail.h"
#include "bound/bound.h"
#include "chain/chain.h"
#include "view/contract.h"
#include "view/items.h"

enum { MAX_GROUPS = 64, MAX_STATES = 1 << 12, N_THINNED = 5 };
static const double MAX_WORK = 4e8;

typedef struct runs {
  const situ_problem *problem;
  contraction classes;
  /* devices that are equal for all operators */
  int32_t n_groups, *first, *count; /* [group] a device, how many there are */
  int64_t *capacity;                /* [group] */
  chain each;                       /* its elements are the classes */
  int32_t *order;                   /* [class] topological */
  int32_t *path, n_path;            /* a longest path of F by minimum times */
  int32_t *chain, n;                /* part of the path */
  int32_t *at, *before, *behind; /* [class] its place in the chain or -1; the last place before it, the first after */
  int32_t *element;              /* [operator] 2 * its place; 2 * place + 1 between that and the next; -1 elsewhere */
  chain sums;                    /* along the places and what lies between them */
  int32_t *reach, *used;         /* [state], [group] */
  int32_t n_states;
} runs;

/* ---- the problem ---- */

/* Groups equal devices. False where there are too many groups or states. */
static bool find_groups(runs *s) {
  const situ_problem *p = s->problem;
  bool apart = items_have_pins(p);
  int64_t states = 1;
  for (int32_t d = 0; d < p->n_devices; d++) {
    int64_t capacity = p->platform->memory_bytes[p->memory_of[d]];
    int32_t x = 0;
    if (p->unused[d] && !apart) continue;
    for (; x < s->n_groups; x++)
      if (!apart && p->class_of[s->first[x]] == p->class_of[d] && s->capacity[x] == capacity) break;
    if (x == MAX_GROUPS) return false;
    if (x == s->n_groups) {
      s->first[s->n_groups++] = d;
      s->count[x] = 0;
      s->capacity[x] = capacity;
    }
    s->count[x]++;
  }
  for (int32_t x = 0; x < s->n_groups; x++)
    if ((states *= s->count[x] + 1) > MAX_STATES) return false;
  s->n_states = (int32_t)states;
  return s->n_groups > 0;
}

static int64_t min_ns(const runs *s, int32_t k) {
  int64_t min = SITU_NEVER_NS;
  for (int32_t x = 0; x < s->n_groups; x++) min = min64(min, chain_time_ns(&s->each, s->first[x], k, k + 1));
  return min == SITU_NEVER_NS ? 0 : min;
}

static bool find_path(runs *s, arena *a) {
  const constraint_graph *f = &s->classes.forward;
  int64_t *length = ARENA_ZERO(a, int64_t, f->n);
  int32_t *next = ARENA_NEW(a, int32_t, f->n), first = s->order[0];
  if (!length || !next) return false;
  for (int32_t i = f->n - 1; i >= 0; i--) {
    int32_t k = s->order[i];
    next[k] = -1;
    for (int32_t e = f->start[k]; e < f->start[k + 1]; e++)
      if (next[k] < 0 || length[f->to[e]] > length[next[k]]) next[k] = f->to[e];
    length[k] = sat_add(next[k] < 0 ? 0 : length[next[k]], min_ns(s, k));
    if (length[k] >= length[first]) first = k;
  }
  for (int32_t k = first; k >= 0; k = next[k]) s->path[s->n_path++] = k;
  return true;
}

/* ---- a chain ---- */

static void find_spans(runs *s) {
  const constraint_graph *f = &s->classes.forward;
  for (int32_t k = 0; k < f->n; k++) {
    s->at[k] = s->before[k] = -1;
    s->behind[k] = s->n;
  }
  for (int32_t i = 0; i < s->n; i++) s->at[s->chain[i]] = i;
  for (int32_t i = 0; i < f->n; i++) {
    int32_t k = s->order[i], last = s->at[k] >= 0 ? s->at[k] : s->before[k];
    for (int32_t e = f->start[k]; e < f->start[k + 1]; e++)
      if (last > s->before[f->to[e]]) s->before[f->to[e]] = last;
  }
  for (int32_t i = f->n - 1; i >= 0; i--) {
    int32_t k = s->order[i];
    for (int32_t e = f->start[k]; e < f->start[k + 1]; e++) {
      int32_t soonest = s->at[f->to[e]] >= 0 ? s->at[f->to[e]] : s->behind[f->to[e]];
      if (soonest < s->behind[k]) s->behind[k] = soonest;
    }
  }
}

static bool add_up_chain(runs *s, arena *a) {
  find_spans(s);
  for (int32_t v = 0; v < s->problem->n_operators; v++) {
    int32_t k = s->classes.class_of[v];
    bool between = s->at[k] < 0 && s->before[k] >= 0 && s->behind[k] == s->before[k] + 1 && s->behind[k] < s->n;
    s->element[v] = s->at[k] >= 0 ? 2 * s->at[k] : between ? 2 * s->before[k] + 1 : -1;
  }
  return chain_sum(&s->sums, s->problem, s->element, 2 * s->n - 1, a);
}

/* Whether a device of group x can take places i to j of the chain, and what lies between them, within a period. */
static bool fits(const runs *s, int32_t x, int32_t i, int32_t j, int64_t period_ns) {
  const chain *c = &s->sums;
  int64_t kept = s->problem->of_stream ? 0 : c->kept_bytes[2 * j + 1] - c->kept_bytes[2 * i];
  return chain_time_ns(c, s->first[x], 2 * i, 2 * j + 1) <= period_ns &&
         c->weight_bytes[2 * j + 1] - c->weight_bytes[2 * i] + kept * s->problem->in_flight <= s->capacity[x];
}

/* The place after the longest run that starts at place i on a device of group x. */
static int32_t run_from(const runs *s, int32_t x, int32_t i, int64_t period_ns) {
  int32_t low = i, high = s->n; /* low is known to be reachable */
  while (low < high) {
    int32_t middle = low + (high - low + 1) / 2;
    if (fits(s, x, i, middle - 1, period_ns))
      low = middle;
    else
      high = middle - 1;
  }
  return low;
}

/* Whether the devices can cover the chain. A state counts the devices of each group that have a run. For equal states,
 * getting further along the chain is never worse. */
static bool covers(runs *s, int64_t period_ns) {
  memset(s->reach, 0, (size_t)s->n_states * sizeof *s->reach);
  memset(s->used, 0, (size_t)s->n_groups * sizeof *s->used);
  for (int32_t state = 0; state < s->n_states; state++) {
    int32_t from = s->reach[state];
    for (int32_t x = 0, step = 1; x < s->n_groups; step *= s->count[x++] + 1) {
      if (s->used[x] == s->count[x]) continue;
      int32_t to = run_from(s, x, from, period_ns);
      if (to == s->n) return true;
      if (to > s->reach[state + step]) s->reach[state + step] = to;
    }
    for (int32_t x = 0; x < s->n_groups && ++s->used[x] > s->count[x]; x++) s->used[x] = 0;
  }
  return false;
}

/* The minimum period above `low` that the chain does not refute; low where it does not refute low itself. */
static int64_t min_period(runs *s, int64_t low, budget *b) {
  int64_t high = PROBLEM_MAX_NS;
  if (covers(s, low)) return low;
  if (!covers(s, high)) return SITU_NEVER_NS;
  while (high - low > 1 && !budget_over(b)) {
    int64_t middle = low + (high - low) / 2;
    if (covers(s, middle))
      high = middle;
    else
      low = middle;
  }
  return low + 1; /* refuted up to low */
}

/* ---- which chains ---- */

/* beside[k]: minimum times of operators that neither precede nor follow path[k], but lie between the ends of the
 * path. */
static void weigh_beside(runs *s, int64_t *beside) {
  memcpy(s->chain, s->path, (size_t)s->n_path * sizeof *s->chain);
  s->n = s->n_path;
  find_spans(s);
  memset(beside, 0, (size_t)(s->n_path + 1) * sizeof *beside);
  for (int32_t k = 0; k < s->classes.n_classes; k++) {
    if (s->at[k] >= 0 || s->before[k] < 0 || s->behind[k] == s->n || s->behind[k] <= s->before[k] + 1) continue;
    beside[s->before[k] + 1] += min_ns(s, k);
    beside[s->behind[k]] -= min_ns(s, k);
  }
  for (int32_t k = 1; k <= s->n_path; k++) beside[k] += beside[k - 1];
}

static void thin(runs *s, const int64_t *beside, int64_t max) {
  s->n = 0;
  for (int32_t k = 0; k < s->n_path; k++)
    if (beside[k] <= max) s->chain[s->n++] = s->path[k];
}

static bool runs_init(runs *s, arena *a) {
  int64_t n = s->classes.n_classes;
  return ARENA_ARRAYS(a, ARRAY(s->order, n), ARRAY(s->path, n), ARRAY(s->chain, n), ARRAY(s->at, n),
                      ARRAY(s->before, n), ARRAY(s->behind, n), ARRAY(s->element, s->problem->n_operators),
                      ARRAY(s->reach, s->n_states), ARRAY(s->used, s->n_groups));
}

static bool runs_certify(certificate *proof, const runs *s, const int32_t *best, int32_t n, int64_t lower_ns,
                         arena *a) {
  if (lower_ns == 0) return true;
  certificate_start(proof, "runs", lower_ns);
  int64_t *operators = certificate_add_operators(proof, "chain", n, a);
  for (int32_t k = 0; operators && k < n; k++) operators[k] = s->classes.member[s->classes.member_start[best[k]]];
  return operators;
}

static situ_status runs_compute(int64_t *lower_ns, certificate *proof, const situ_problem *p, arena *scratch, budget *b,
                                situ_error *error) {
  runs s = {.problem = p};
  int64_t *beside, all = 0;
  int32_t *best, n_best = 0;
  *lower_ns = 0;
  if (!p->contiguous || p->replicate || p->n_operators == 0) return SITU_STATUS_OK;
  if (!ARENA_ARRAYS(scratch, ARRAY(s.first, MAX_GROUPS), ARRAY(s.count, MAX_GROUPS), ARRAY(s.capacity, MAX_GROUPS)))
    return fail_no_memory(error);
  if (!find_groups(&s)) return SITU_STATUS_OK;
  if (!contract(&s.classes, p, true, scratch) || !runs_init(&s, scratch) ||
      !chain_sum(&s.each, p, s.classes.class_of, s.classes.n_classes, scratch))
    return fail_no_memory(error);
  if (constraint_graph_order(s.order, &s.classes.forward, scratch) < 0 || !find_path(&s, scratch) ||
      !ARENA_ARRAYS(scratch, ARRAY(beside, s.n_path + 1), ARRAY(best, s.n_path)))
    return fail_no_memory(error);
  if ((double)s.n_states * s.n_groups * 64 > MAX_WORK) return SITU_STATUS_OK;
  weigh_beside(&s, beside);
  for (int32_t k = 0; k < s.n_path; k++) all = sat_add(all, min_ns(&s, s.path[k]));
  int64_t max[N_THINNED] = {all, all / 100, all / 1000, all / 10000, 0};
  for (int32_t i = 0, tried = 0; i < N_THINNED && !budget_over(b); i++) {
    thin(&s, beside, max[i]);
    if (s.n == tried || s.n == 0) continue; /* each chain is contained in the one before */
    tried = s.n;
    arena_mark mark = arena_get_mark(scratch);
    if (!add_up_chain(&s, scratch)) return fail_no_memory(error);
    int64_t found = min_period(&s, *lower_ns, b);
    arena_release(scratch, mark);
    if (found <= *lower_ns) continue;
    *lower_ns = found;
    n_best = s.n;
    memcpy(best, s.chain, (size_t)s.n * sizeof *best);
  }
  return runs_certify(proof, &s, best, n_best, *lower_ns, scratch) ? SITU_STATUS_OK : fail_no_memory(error);
}

const bound runs_bound = {
    .name = "runs",
    .title = "a contiguous pipeline gives each device a run of a chain",
    .source = "",
    .models = MODEL_PIPELINE,
    .compute = runs_compute,
};
