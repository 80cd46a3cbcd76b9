#include "forger.h"
#include "check/judge.h"

#include "base/checked.h"
#include "base/rng.h"
#include "bound/bound.h"
#include "brute.h"
#include "check/check_fields.h"
#include "plan/plan.h"
#include "proved.h"
#include "test.h"

enum { MAX_REAL = 24, PER_PROBLEM = 256, MAX_CHANGES = 4, LONGEST_LIST = 4096 };

typedef struct forger {
  forger_count *count;
  uint64_t seed;
  rng rng;
  const situ_problem *problem;
  situ_plan *plan;
  int64_t optimum_ns;
  arena *arena;
  int32_t n_real;
  certificate real[MAX_REAL];
} forger;

static int32_t below(forger *f, int64_t n) { return (int32_t)rng_below(&f->rng, (int32_t)min64(n, INT32_MAX)); }
static bool one_in(forger *f, int32_t n) { return below(f, n) == 0; }

const char *forger_kind(int32_t k) {
  int32_t n;
  const certificate_field *fields = check_fields_all(&n);
  for (int32_t i = 0, at = -1; i < n; i++) {
    at += i == 0 || strcmp(fields[i].kind, fields[i - 1].kind) != 0;
    if (at == k) return fields[i].kind;
  }
  return NULL;
}

/* ---- problems ---- */

/* Times, bytes and capacities are multiplied, up to the limits of a problem; memories without a limit sometimes get the
 * largest there is. */
static void scale(forger *f, lab *l) {
  situ_graph *g = l->graph;
  situ_platform *q = l->platform;
  int64_t time = problem_serial_ns(l->problem, 1), bytes = 1;
  for (int32_t v = 0; v < g->n_operators; v++) bytes += g->weight_bytes[v] + g->workspace_bytes[v];
  for (int32_t t = 0; t < g->n_tensors; t++) bytes += g->size_bytes[t];
  bytes *= problem_max_in_flight(l->problem);
  int64_t by = one_in(f, 3) ? PROBLEM_MAX_NS / (time + 1) : one_in(f, 2) ? (int64_t)1 << below(f, 30) : 1;
  int64_t more = one_in(f, 3) ? PROBLEM_MAX_BYTES / bytes : one_in(f, 2) ? (int64_t)1 << below(f, 20) : 1;
  by = min64(by, PROBLEM_MAX_NS / (time + 1));
  more = min64(more, PROBLEM_MAX_BYTES / bytes);
  situ_costs *c = l->costs;
  for (int64_t i = 0; i < (int64_t)c->n_operators * c->n_classes; i++)
    if (c->time_ns[i] != SITU_NEVER_NS) c->time_ns[i] *= by;
  for (int64_t i = 0; i < (int64_t)c->n_rows * c->n_kinds; i++) c->transfer_rows[i] *= by;
  costs_find_extremes(c);
  for (int32_t v = 0; v < g->n_operators; v++) {
    g->weight_bytes[v] *= more;
    g->workspace_bytes[v] *= more;
  }
  for (int32_t t = 0; t < g->n_tensors; t++) g->size_bytes[t] *= more;
  bool huge = one_in(f, 2);
  for (int32_t m = 0; m < q->n_memories; m++)
    if (q->memory_bytes[m] != SITU_UNLIMITED_BYTES)
      q->memory_bytes[m] = sat_mul(q->memory_bytes[m], more) == INT64_MAX ? INT64_MAX - 1 : q->memory_bytes[m] * more;
    else if (huge)
      q->memory_bytes[m] = INT64_MAX - 1 - below(f, 3);
  for (int32_t d = 0; d < q->n_devices; d++) q->devices[d].memory_bytes = q->memory_bytes[q->memory_of[d]];
}

/* Other costs of the same graph and platform, and a limit by them that binds, or is as large as one may be. */
static void limit_by_others(forger *f, lab *l, situ_costs **other, situ_problem_options *o) {
  *other = costs_copies(l->costs, 1);
  assert_non_null(*other);
  int64_t sum = 1;
  for (int64_t i = 0; i < (int64_t)l->costs->n_operators * l->costs->n_classes; i++)
    if ((*other)->time_ns[i] != SITU_NEVER_NS) {
      (*other)->time_ns[i] = one_in(f, 4) ? 0 : (*other)->time_ns[i] / (1 + below(f, 4));
      sum += (*other)->time_ns[i] / l->costs->n_classes;
    }
  const int64_t limits[] = {sum, 2 * sum, sum / 2 + 1, PROBLEM_MAX_NS, (int64_t)1 << 62, SITU_NEVER_NS - 1};
  o->secondary_costs = *other;
  o->max_secondary_ns = limits[below(f, 6)];
}

static void draw_options(forger *f, lab_options *o) {
  situ_problem_options *p = &o->options;
  switch (below(f, 6)) {
    case 0:
      p->execution = SITU_EXECUTION_CALLS;
      p->max_calls = below(f, 3);
      break;
    case 1:
      p->execution = SITU_EXECUTION_PIPELINE;
      p->objective = SITU_OBJECTIVE_THROUGHPUT;
      p->free = one_in(f, 3);
      p->async_copies = one_in(f, 2);
      p->in_flight = below(f, 4);
      p->replicate = one_in(f, 3);
      p->schedule = one_in(f, 3) ? SITU_SCHEDULE_GPIPE : SITU_SCHEDULE_1F1B;
      p->communication = one_in(f, 2) ? SITU_COMMUNICATION_HOST_STAGED : SITU_COMMUNICATION_LINK;
      o->training = one_in(f, 3);
      if (o->training && p->replicate) p->zero = below(f, 4);
      if (!o->training || p->free || one_in(f, 3)) break;
      p->micro_batches = 1 + below(f, 4);
      p->in_flight = 0;
      break;
    case 2:
      p->execution = SITU_EXECUTION_STREAM;
      if (one_in(f, 2)) {
        p->objective = SITU_OBJECTIVE_THROUGHPUT;
        p->max_latency_ns = INT64_MAX - 1;
      } else {
        p->max_period_ns = one_in(f, 2) ? INT64_MAX - 1 : 40;
      }
      break;
    case 3:
      p->execution = SITU_EXECUTION_STREAM;
      p->contention = one_in(f, 2) ? SITU_CONTENTION_NONE : SITU_CONTENTION_LINK;
      break;
    default: p->execution = SITU_EXECUTION_STREAM; p->overlap = SITU_OVERLAP_NONE;
  }
}

static void draw_problem(forger *f, lab *l, situ_costs **other, uint64_t seed) {
  lab_options o = {.seed = seed,
                   .n_operators = 2 + below(f, 4),
                   .n_devices = 2 + below(f, 2),
                   .density = 0.2 + 0.6 * rng_unit(&f->rng),
                   .n_colocations = one_in(f, 3),
                   .pinned = one_in(f, 3),
                   .unsupported = one_in(f, 4),
                   .equal = one_in(f, 3),
                   .pools = one_in(f, 4),
                   .memory = one_in(f, 2) ? 0.3 + 0.8 * rng_unit(&f->rng) : 0,
                   .host_memory = one_in(f, 3) ? 0.4 + 0.8 * rng_unit(&f->rng) : 0};
  draw_options(f, &o);
  *l = lab_random(&o);
  scale(f, l);
  situ_problem_free(l->problem);
  situ_problem_options posed = o.options;
  posed.size = sizeof posed;
  posed.pins = l->pins;
  posed.unused = l->unused;
  *other = NULL;
  if (posed.overlap == SITU_OVERLAP_NONE && one_in(f, 2)) limit_by_others(f, l, other, &posed);
  situ_error error;
  if (situ_problem_pose(&l->problem, l->graph, l->platform, l->costs, &posed, &error) != SITU_STATUS_OK)
    fail_msg("problem %llu: %s", (unsigned long long)seed, error.text);
}

/* What bounds a period is what bounds a pipeline. */
static void find_real(forger *f) {
  situ_problem view, *p = &view;
  view = *f->problem;
  if (view.execution == SITU_EXECUTION_STREAM && view.objective == SITU_OBJECTIVE_THROUGHPUT)
    problem_view_pipeline(&view, f->problem);
  f->n_real = 0;
  for (int32_t i = 0; bounds[i] && f->n_real < MAX_REAL; i++) {
    certificate *c = &f->real[f->n_real];
    if (!problem_is_of(p, bounds[i]->models)) continue;
    proved_bound(c, bounds[i], p, f->arena);
    c->bound = bounds[i]->name;
    f->n_real += c->kind != NULL;
  }
}

/* ---- forgeries ---- */

static int64_t edge(forger *f, int64_t was, int64_t min, int64_t max) {
  int64_t power = (int64_t)1 << below(f, 63);
  const int64_t others[] = {0,
                            1,
                            -1,
                            min,
                            max,
                            was,
                            (int64_t)((uint64_t)was - 1),
                            (int64_t)((uint64_t)was + 1),
                            was / 2,
                            INT64_MIN,
                            INT64_MAX,
                            INT64_MAX - 1,
                            power,
                            power - 1,
                            -power,
                            power + 1,
                            PROBLEM_MAX_NS,
                            PROBLEM_MAX_BYTES,
                            f->optimum_ns,
                            f->optimum_ns / 2,
                            max / 2,
                            max > 1000 ? below(f, 1000) : min};
  if (one_in(f, 2)) return min + (max < 1 ? 0 : (int64_t)(rng_unit(&f->rng) * rng_unit(&f->rng) * (double)(max - min)));
  switch (below(f, 28)) {
    case 0: return max == INT64_MAX ? INT64_MAX : max + 1;
    case 1: return min - 1;
    case 2: return max == 0 ? 0 : max - 1;
    case 3: return max > 0 ? (int64_t)(rng_unit(&f->rng) * (double)max) : max;
    case 4: return sat_mul(max64(was, 0), 2);
    case 5: return min + below(f, max - min < 9 ? max - min + 1 : 9);
    default: return others[below(f, (int64_t)(sizeof others / sizeof others[0]))];
  }
}

static int64_t within(forger *f, int64_t min, int64_t max) {
  for (int32_t i = 0; i < 9; i++) {
    int64_t x = edge(f, 1, min, max);
    if (x >= min && x <= max) return x;
  }
  return min;
}

/* A list in the form of its field. */
static void make_list(forger *f, certificate *c, const certificate_field *field) {
  int64_t min, max, step, from, to;
  check_fields_length(&min, &max, &step, field, f->problem);
  step = max64(step, 1);
  int64_t times = min64(min / step + below(f, 3), min64(max / step, LONGEST_LIST));
  int64_t n = max64(times * step, min), *values = certificate_add(c, field->name, n, f->arena);
  bool ascending = field->holds == HOLDS_OPERATORS && one_in(f, 2), equal = one_in(f, 3);
  assert_non_null(values);
  for (int64_t i = 0; i < n; i++) {
    check_fields_range(&from, &to, field, i, f->problem);
    values[i] = ascending ? min64(i, to) : within(f, from, to);
    if (equal && i > 0 && values[0] <= to) values[i] = values[0];
  }
}

static certificate make_up(forger *f) {
  int32_t n;
  const certificate_field *fields = check_fields_all(&n);
  const char *kind = forger_kind(below(f, FORGER_KINDS));
  certificate c;
  certificate_start(&c, kind, 0);
  c.bound = "forger";
  for (int32_t i = 0; i < n; i++)
    if (strcmp(fields[i].kind, kind) == 0 && (fields[i].need == FIELD_NEEDED || one_in(f, 2)))
      make_list(f, &c, &fields[i]);
  return c;
}

static const certificate_field *field_of(const certificate *c, const char *name) {
  int32_t n;
  const certificate_field *fields = check_fields_all(&n);
  for (int32_t i = 0; i < n; i++)
    if (strcmp(fields[i].kind, c->kind) == 0 && strcmp(fields[i].name, name) == 0) return &fields[i];
  return NULL;
}

static void change_number(forger *f, const certificate *c, certificate_list *list) {
  const certificate_field *field = field_of(c, list->name);
  int64_t i = below(f, list->n), min = 0, max = INT64_MAX;
  int64_t limit, step, min_n;
  if (field) check_fields_length(&min_n, &limit, &step, field, f->problem);
  if (field && (field->holds != HOLDS_BYTE_PRICES || i < f->problem->n_memories))
    check_fields_range(&min, &max, field, i, f->problem);
  list->values[i] = edge(f, list->values[i], min, max);
  if (one_in(f, 6))
    for (int64_t k = 0; k < list->n; k++) list->values[k] = list->values[i];
}

/* A list with `n` numbers, more of them at its end or fewer. */
static void resize(forger *f, certificate_list *list, int64_t n) {
  int64_t *values = ARENA_ZERO(f->arena, int64_t, n + 1);
  assert_non_null(values);
  for (int64_t i = 0; i < n; i++)
    values[i] = i < list->n ? list->values[i] : list->n > 0 ? list->values[list->n - 1] : 0;
  list->values = values;
  list->n = n;
}

static void change(forger *f, certificate *c) {
  certificate_list *list = c->n_lists > 0 ? &c->list[below(f, c->n_lists)] : NULL;
  if (!list) return;
  certificate_list *other = &c->list[below(f, c->n_lists)], was = *list;
  int64_t i = list->n > 0 ? below(f, list->n) : 0, k = list->n > 0 ? below(f, list->n) : 0, at;
  switch (below(f, 20)) {
    case 0: resize(f, list, list->n + 1 + below(f, 3)); break;
    case 1: resize(f, list, max64(list->n - 1, 0)); break;
    case 2: resize(f, list, one_in(f, 2) ? 0 : min64(2 * list->n, LONGEST_LIST)); break;
    case 3:
      for (i = 0, k = list->n - 1; i < k; i++, k--) {
        at = list->values[i];
        list->values[i] = list->values[k];
        list->values[k] = at;
      }
      break;
    case 4:
    case 5:
      if (list->n == 0) break;
      at = list->values[i];
      list->values[i] = list->values[k];
      if (one_in(f, 2)) list->values[k] = at; /* else one number stands twice */
      break;
    case 6:
      list->values = other->values;
      list->n = other->n;
      other->values = was.values;
      other->n = was.n;
      break;
    case 7: c->kind = forger_kind(below(f, FORGER_KINDS)); break;
    case 8: list->name = "nonsense"; break;
    default:
      if (list->n > 0) change_number(f, c, list);
  }
}

/* Whether every number is in the range that the table of fields states, and the claim is no less than nothing. */
static bool in_range(const forger *f, const certificate *c) {
  situ_problem view = *f->problem;
  field_words wrong;
  if (view.execution == SITU_EXECUTION_STREAM && view.objective == SITU_OBJECTIVE_THROUGHPUT)
    problem_view_pipeline(&view, f->problem);
  return c->lower_ns >= 0 && check_fields(c, &view, &wrong);
}

static void print_certificate(const certificate *c) {
  printf("  %s claims %lld\n", c->kind, (long long)c->lower_ns);
  for (int32_t k = 0; k < c->n_lists; k++) {
    printf("  %s:", c->list[k].name);
    for (int64_t i = 0; i < c->list[k].n && i < 99; i++) printf(" %lld", (long long)c->list[k].values[i]);
    printf("\n");
  }
}

static void judge_forgery(forger *f, const certificate *c) {
  situ_verdict *verdict;
  f->plan->proof = *c;
  f->plan->lower_bound_ns = c->lower_ns;
  f->plan->bound = "another";
  assert_int_equal(situ_check(&verdict, f->plan, NULL), SITU_STATUS_OK);
  int64_t verified = verdict->verified_ns;
  bool objected = false, refused = false, too_long = strstr(verdict->unverified, "too long");
  for (int32_t i = 0; i < verdict->n_kept; i++) {
    situ_violation v = situ_verdict_violation(verdict, i);
    objected |= strcmp(v.rule, "certificate") == 0;
    refused |= strstr(v.text, "was expected to hold") || strstr(v.text, "prove nothing for");
  }
  bool good = in_range(f, c), counts = verified == c->lower_ns && !objected && !too_long;
  const char *wrong = verified > f->optimum_ns               ? "more is verified than is true"
                      : !counts && !objected && !too_long    ? "what it does not prove is not objected to"
                      : !good && (verified != 0 || !refused) ? "a number out of range is not refused"
                                                             : NULL;
  forger_count *n = f->count;
  n->all++;
  n->out_of_range += !good;
  n->too_long += good && too_long;
  n->verified += good && counts;
  n->less += good && !counts && !too_long;
  for (int32_t k = 0; k < FORGER_KINDS; k++)
    n->verified_of[k] += good && counts && c->lower_ns > 0 && strcmp(forger_kind(k), c->kind) == 0;
  situ_verdict_free(verdict);
  if (!wrong) return;
  n->wrong++;
  printf("problem %llu, optimum %lld, verified %lld: %s\n", (unsigned long long)f->seed, (long long)f->optimum_ns,
         (long long)verified, wrong);
  print_certificate(c);
}

static int64_t claim(forger *f, int64_t own) {
  int64_t more = f->optimum_ns == SITU_NEVER_NS ? SITU_NEVER_NS : f->optimum_ns + 1;
  switch (below(f, 12)) {
    case 0: return own;
    case 1: return SITU_NEVER_NS;
    case 2: return SITU_NEVER_NS - 1;
    case 3: return f->optimum_ns;
    case 4: return edge(f, own, 0, SITU_NEVER_NS);
    case 5: return sat_add(f->optimum_ns, (int64_t)1 << below(f, 62));
    default: return more;
  }
}

/* One forgery; every ninth certificate is left as it is, so that what is real is seen to be verified. */
static void forge(forger *f) {
  bool real = f->n_real > 0 && !one_in(f, 3);
  certificate c, from = real ? f->real[below(f, f->n_real)] : make_up(f);
  arena_mark mark = arena_get_mark(f->arena);
  assert_true(certificate_copy(&c, &from, f->arena));
  int64_t own = c.lower_ns;
  for (int32_t i = real && one_in(f, 9) ? 0 : 1 + below(f, one_in(f, 3) ? MAX_CHANGES : 1); i > 0; i--) change(f, &c);
  c.lower_ns = claim(f, own);
  judge_forgery(f, &c);
  arena_release(f->arena, mark);
}

void forger_run(forger_count *count, int64_t n, uint64_t seed) {
  *count = (forger_count){0};
  for (uint64_t k = 0; count->all < n; k++) {
    forger f = {.count = count, .seed = seed * 1000000 + k, .arena = arena_new()};
    f.rng = rng_new(f.seed);
    lab l;
    situ_costs *other;
    draw_problem(&f, &l, &other, f.seed);
    f.problem = l.problem;
    f.plan = l.problem->conflict ? NULL : plan_new(l.problem);
    if (f.plan) {
      count->problems++;
      f.optimum_ns = brute_force(l.problem, NULL);
      count->feasible += f.optimum_ns != SITU_NEVER_NS;
      find_real(&f);
      arena_mark mark = arena_get_mark(f.arena);
      for (int32_t i = 0; i < PER_PROBLEM && count->all < n; i++) {
        forge(&f);
        arena_release(f.arena, mark);
      }
      f.plan->proof = (certificate){0};
    }
    situ_plan_free(f.plan);
    arena_free(f.arena);
    situ_problem_free(l.problem);
    l.problem = NULL;
    situ_costs_free(other);
    lab_free(&l);
  }
}
