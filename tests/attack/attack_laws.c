/* Metamorphic laws: a problem and one like it, whose optima must be in order.
 *
 * A law derives an easier and a harder problem; every bound of the easier one is below every plan of the harder one.
 * That can be seen at any size. On small problems counting confirms the law itself. Where a law leaves cases out, they
 * are such in which it does not hold: in a stream whose links serve in order of readiness, and whose memory depends on
 * times, a faster part may make the best plan slower; rounding up does not scale. */
#include <string.h>

#include "attack_edit.h"
#include "attack_trial.h"

/* Whether no time changes what comes first or what is in memory: shorter times then never hurt. */
static bool is_monotone(const attack_problem *p) {
  bool limited = false;
  for (int32_t d = 0; d < p->n_devices; d++) limited = limited || p->device[d].capacity_bytes != SITU_UNLIMITED_BYTES;
  return p->execution != SITU_EXECUTION_STREAM ||
         ((p->contention == SITU_CONTENTION_NONE || p->overlap == SITU_OVERLAP_NONE) && !limited);
}

static bool same_routes(const attack_problem *a, const attack_problem *b) {
  attack_facts x, y;
  facts_find(&x, a);
  facts_find(&y, b);
  for (int32_t m = 0; m < x.n_memories; m++)
    for (int32_t w = 0; w < x.n_memories; w++) {
      if (x.n_hops[m][w] != y.n_hops[m][w]) return false;
      for (int32_t k = 0; k < x.n_hops[m][w]; k++)
        if (x.route[m][w][k] != y.route[m][w][k]) return false;
    }
  return true;
}

static bool more_memory(const attack_problem *p, attack_problem *easier, attack_problem *harder) {
  (void)harder;
  for (int32_t d = 0; d < p->n_devices; d++)
    if (p->device[d].capacity_bytes != SITU_UNLIMITED_BYTES)
      easier->device[d].capacity_bytes = d % 2 ? SITU_UNLIMITED_BYTES : 2 * p->device[d].capacity_bytes;
  return !p->replicate; /* sizes of memories decide which devices are equal */
}

static bool faster_links(const attack_problem *p, attack_problem *easier, attack_problem *harder) {
  (void)harder;
  for (int32_t i = 0; i < p->n_links; i++) easier->link[i].latency_ns /= 2;
  return is_monotone(p) && !p->replicate && same_routes(p, easier);
}

static bool faster_operators(const attack_problem *p, attack_problem *easier, attack_problem *harder) {
  (void)harder;
  for (int32_t v = 0; v < p->n; v++)
    for (int32_t k = 0; k < MAX_DEVICES; k++)
      if (p->op[v].time_ns[k] != SITU_NEVER_NS && (v + k) % 2) easier->op[v].time_ns[k] /= 2;
  return is_monotone(p) && p->copies == 1;
}

static bool smaller_tensors(const attack_problem *p, attack_problem *easier, attack_problem *harder) {
  (void)harder;
  for (int32_t t = 0; t < p->n_tensors; t++) easier->tensor[t].size_bytes /= 2;
  return is_monotone(p) && p->copies == 1;
}

/* A device that is far away from all others changes no route. */
static bool one_more_device(const attack_problem *p, attack_problem *easier, attack_problem *harder) {
  (void)harder;
  int32_t d = easier->n_devices++;
  if (d == MAX_DEVICES || p->n_links + 2 > MAX_LINKS) return false;
  easier->device[d] = (attack_device){.class_index = p->device[0].class_index, .shares = -1};
  easier->device[d].capacity_bytes = SITU_UNLIMITED_BYTES;
  easier->link[easier->n_links++] = (situ_link){0, d, 2000000, 1e9, -1};
  easier->link[easier->n_links++] = (situ_link){d, 0, 2000000, 1e9, -1};
  return same_routes(p, easier);
}

static bool fewer_rules(const attack_problem *p, attack_problem *easier, attack_problem *harder) {
  (void)harder;
  for (int32_t v = 0; v < p->n; v++) {
    easier->op[v].together = -1;
    easier->op[v].colocation = -1;
  }
  for (int32_t d = 0; d < p->n_devices; d++) easier->device[d].unused = false;
  easier->max_period_ns = 0;
  easier->max_calls = 0;
  easier->in_flight = 1;
  easier->micro_batches = easier->zero = 0;
  easier->async_copies = p->execution == SITU_EXECUTION_PIPELINE;
  easier->schedule = SITU_SCHEDULE_1F1B;
  easier->free = p->execution == SITU_EXECUTION_PIPELINE;
  return p->copies == 1;
}

/* A group may have both phases, which changes F: only the rules that surely bind go, one by one. */
static bool contiguous_or_free(const attack_problem *p, attack_problem *easier, attack_problem *harder) {
  harder->free = false;
  easier->free = true;
  return p->execution == SITU_EXECUTION_PIPELINE && p->micro_batches == 0;
}

static bool gpipe_or_1f1b(const attack_problem *p, attack_problem *easier, attack_problem *harder) {
  harder->schedule = SITU_SCHEDULE_GPIPE;
  easier->schedule = SITU_SCHEDULE_1F1B;
  return p->execution == SITU_EXECUTION_PIPELINE;
}

static bool links_without_contention(const attack_problem *p, attack_problem *easier, attack_problem *harder) {
  easier->contention = SITU_CONTENTION_NONE;
  harder->overlap = easier->overlap = SITU_OVERLAP_FULL;
  harder->max_other_ns = easier->max_other_ns = 0;
  for (int32_t d = 0; d < p->n_devices; d++)
    easier->device[d].capacity_bytes = harder->device[d].capacity_bytes = SITU_UNLIMITED_BYTES;
  return p->execution == SITU_EXECUTION_STREAM;
}

static bool overlap_none_or_free_links(const attack_problem *p, attack_problem *easier, attack_problem *harder) {
  harder->overlap = SITU_OVERLAP_NONE;
  harder->contention = SITU_CONTENTION_LINK;
  easier->overlap = SITU_OVERLAP_FULL;
  easier->contention = SITU_CONTENTION_NONE;
  easier->max_other_ns = 0;
  for (int32_t d = 0; d < p->n_devices; d++)
    easier->device[d].capacity_bytes = harder->device[d].capacity_bytes = SITU_UNLIMITED_BYTES;
  return p->execution == SITU_EXECUTION_STREAM && p->copies == 1;
}

/* ---- equal optima ---- */

static bool a_new_operator_without_work(const attack_problem *p, attack_problem *easier, attack_problem *harder) {
  (void)harder;
  if (p->n == MAX_OPS || p->copies > 1) return false;
  attack_operator *x = &easier->op[easier->n++];
  *x = (attack_operator){.colocation = -1, .kernel = -1, .together = -1, .pin = -1, .measured_bytes = -1};
  for (int32_t d = 0; d < p->n_devices; d++)
    if (!p->device[d].unused) return p->execution != SITU_EXECUTION_CALLS || p->max_calls == 0;
  return false;
}

/* All times and sizes k times as large. */
static bool larger_units(const attack_problem *p, attack_problem *easier, attack_problem *harder) {
  int64_t k = 3;
  for (int32_t i = 0; i < p->n_links; i++) easier->link[i].bytes_per_s = harder->link[i].bytes_per_s = 1e9;
  *easier = *harder;
  for (int32_t v = 0; v < p->n; v++) {
    easier->op[v].weight_bytes *= k;
    easier->op[v].workspace_bytes *= k;
    if (p->op[v].measured_bytes > 0) easier->op[v].measured_bytes *= k;
    for (int32_t c = 0; c < MAX_DEVICES; c++) {
      if (p->op[v].time_ns[c] != SITU_NEVER_NS) easier->op[v].time_ns[c] *= k;
      if (p->op[v].other_ns[c] != SITU_NEVER_NS) easier->op[v].other_ns[c] *= k;
    }
  }
  for (int32_t t = 0; t < p->n_tensors; t++) easier->tensor[t].size_bytes *= k;
  for (int32_t i = 0; i < p->n_links; i++) easier->link[i].latency_ns *= k;
  harder->measured_bytes_per_s = easier->measured_bytes_per_s = 1e9;
  easier->measured_ns *= k;
  easier->part_start_ns *= k;
  for (int32_t d = 0; d < p->n_devices; d++)
    if (p->device[d].capacity_bytes != SITU_UNLIMITED_BYTES) easier->device[d].capacity_bytes *= k;
  easier->max_period_ns *= k;
  easier->max_latency_ns *= k;
  easier->max_other_ns *= k;
  return !p->replicate && same_routes(harder, easier);
}

/* The devices behind the host change places; where memories of equal tensors wait for one link their numbers decide. */
static bool devices_in_another_order(const attack_problem *p, attack_problem *easier, attack_problem *harder) {
  (void)harder;
  int32_t a = p->n_devices - 2, b = p->n_devices - 1;
  bool ordered =
      p->execution == SITU_EXECUTION_STREAM && p->contention == SITU_CONTENTION_LINK && p->overlap != SITU_OVERLAP_NONE;
  if (a < 1 || ordered || p->replicate || p->device[a].is_host || p->device[b].is_host || p->device[b].shares == a)
    return false;
  easier->device[a] = p->device[b];
  easier->device[b] = p->device[a];
  for (int32_t i = 0; i < p->n_links; i++) {
    situ_link *x = &easier->link[i];
    x->from_device = x->from_device == a ? b : x->from_device == b ? a : x->from_device;
    x->to_device = x->to_device == a ? b : x->to_device == b ? a : x->to_device;
  }
  for (int32_t v = 0; v < p->n; v++) {
    int32_t pin = p->op[v].pin;
    easier->op[v].pin = pin == a ? b : pin == b ? a : pin;
  }
  return true;
}

/* Neighbours without an edge between them change numbers. */
static bool operators_in_another_order(const attack_problem *p, attack_problem *easier, attack_problem *harder) {
  (void)harder;
  bool ordered =
      p->execution == SITU_EXECUTION_STREAM && p->contention == SITU_CONTENTION_LINK && p->overlap != SITU_OVERLAP_NONE;
  if (ordered || p->copies > 1) return false;
  for (int32_t v = 0; v + 1 < p->n; v++) {
    bool edge = p->op[v].kernel >= 0 || p->op[v + 1].kernel >= 0;
    for (int32_t t = 0; t < p->n_tensors; t++)
      edge = edge || (p->tensor[t].from == v && (p->tensor[t].users >> (v + 1) & 1));
    if (edge) continue;
    attack_operator first = easier->op[v];
    easier->op[v] = easier->op[v + 1];
    easier->op[v + 1] = first;
    for (int32_t t = 0; t < p->n_tensors; t++) {
      attack_tensor *x = &easier->tensor[t];
      x->from = x->from == v ? v + 1 : x->from == v + 1 ? v : x->from;
      uint32_t both = x->users >> v & 3;
      x->users = (x->users & ~(3U << v)) | (both >> 1 | (both & 1) << 1) << v;
    }
    v++;
  }
  return true;
}

/* Everything, or one operator, pinned to where the best of all plans has it. */
static bool pins_of_the_optimum(const attack_problem *p, attack_problem *easier, attack_problem *harder) {
  attack_facts f;
  attack_optimum optimum;
  (void)easier;
  if (p->n > 6 || p->replicate || p->copies > 1) return false; /* pinned devices have no replicas */
  facts_find(&f, p);
  optimum_find(&optimum, &f);
  if (!optimum.complete || optimum.value_ns == SITU_NEVER_NS) return false;
  for (int32_t v = 0; v < p->n; v++)
    if (p->n_tensors % 2 || v == p->n / 2) harder->op[v].pin = optimum.best.device[v];
  return true;
}

typedef struct law_row {
  const char *name;
  bool both;
  bool (*derive)(const attack_problem *p, attack_problem *easier, attack_problem *harder);
} law_row;

static const law_row laws[] = {
    {"more memory never hurts", false, more_memory},
    {"faster links never hurt", false, faster_links},
    {"faster operators never hurt", false, faster_operators},
    {"smaller tensors never hurt", false, smaller_tensors},
    {"one more device never hurts", false, one_more_device},
    {"fewer rules never hurt", false, fewer_rules},
    {"free is never worse than contiguous", false, contiguous_or_free},
    {"1f1b is never worse than gpipe", false, gpipe_or_1f1b},
    {"a stream without contention is never worse", false, links_without_contention},
    {"full overlap is never worse than none", false, overlap_none_or_free_links},
    {"an operator without work changes nothing", true, a_new_operator_without_work},
    {"larger units change nothing else", true, larger_units},
    {"the order of devices does not matter", true, devices_in_another_order},
    {"pins of the optimum change nothing", true, pins_of_the_optimum},
    {"the order of operators does not matter", true, operators_in_another_order},
};

int32_t laws_count(void) { return (int32_t)(sizeof laws / sizeof laws[0]); }
const char *law_name(int32_t which) { return laws[which].name; }

bool law_derive(int32_t which, const attack_problem *p, attack_problem *easier, attack_problem *harder, bool *both) {
  if (p->n_hosts > 0) return false;
  *easier = *harder = *p;
  *both = laws[which].both;
  return laws[which].derive(p, easier, harder);
}

/* Times of the larger unit in that of the other. */
static int64_t factor_of(int32_t which) { return laws[which].derive == larger_units ? 3 : 1; }

static bool solve(attack_failure *failure, situ_plan **plan, const attack_problem *p, const attack_call *call) {
  attack_posed posed;
  situ_error error;
  situ_solve_options o = SITU_SOLVE_OPTIONS_INIT;
  o.solvers = call->solver;
  o.max_steps = call->steps;
  o.seed = call->seed;
  *plan = NULL;
  bool posing = problem_pose(&posed, p, &error) == SITU_STATUS_OK;
  if (!posing && pose_may_fail(p, &error)) {
    posed_free(&posed);
    return true;
  }
  bool good = posing && situ_solve(plan, posed.problem, &o, &error) == SITU_STATUS_OK;
  if (!good)
    failure_set(failure, posing ? "law-status" : "law-pose", "%s: %s", situ_status_name(error.status), error.text);
  posed_free(&posed);
  return good;
}

/* Bounds of `easier` against the plan of `harder`, whose times count in units of 1 and `factor`. */
static bool in_order(attack_failure *failure, int32_t which, const situ_plan *easier, int64_t easier_unit,
                     const situ_plan *harder, int64_t harder_unit) {
  int64_t bound = plan_says(easier).lower_bound_ns, value = plan_says(harder).value_ns;
  if (!plan_says(harder).exists) return true;
  if (plan_says(easier).outcome == SITU_OUTCOME_INFEASIBLE)
    return failure_set(failure, "law-infeasible", "%s: a plan of %lld ns, but also: %s", laws[which].name,
                       (long long)value, plan_says(easier).reason);
  if ((__int128)bound * harder_unit > (__int128)value * easier_unit)
    return failure_set(failure, "law", "%s: bound %lld (%s) of the easier, value %lld of the harder", laws[which].name,
                       (long long)bound, plan_says(easier).bound, (long long)value);
  return true;
}

/* Counting confirms the law, where counting is possible; a law that is wrong is a defect of these tests. */
static bool verify_truth(attack_failure *failure, int32_t which, const attack_problem *easier,
                         const attack_problem *harder, bool both) {
  attack_facts a, b;
  attack_optimum x, y;
  if (easier->n > 6 || harder->n > 6) return true;
  facts_find(&a, easier);
  facts_find(&b, harder);
  optimum_find(&x, &a);
  optimum_find(&y, &b);
  int64_t unit = factor_of(which);
  if (!x.complete || !y.complete || y.value_ns == SITU_NEVER_NS) return true;
  if (x.value_ns > y.value_ns * unit || (both && x.value_ns != y.value_ns * unit))
    return failure_set(failure, "law-is-wrong", "%s: %lld, %lld", laws[which].name, (long long)x.value_ns,
                       (long long)y.value_ns);
  return true;
}

bool verify_law(attack_failure *failure, const attack_problem *p, int32_t which, const attack_call *call) {
  attack_problem easier, harder;
  situ_plan *a = NULL, *b = NULL;
  bool both;
  failure->kind = NULL;
  if (!law_derive(which, p, &easier, &harder, &both)) return true;
  bool good = solve(failure, &a, &easier, call) && solve(failure, &b, &harder, call);
  if (good && (!a || !b)) { /* one of them is beyond the limits of problems */
    situ_plan_free(a);
    situ_plan_free(b);
    return true;
  }
  int64_t unit = factor_of(which);
  good = good && verify_truth(failure, which, &easier, &harder, both) && in_order(failure, which, a, unit, b, 1) &&
         (!both || in_order(failure, which, b, 1, a, unit));
  situ_plan_free(a);
  situ_plan_free(b);
  return good;
}
