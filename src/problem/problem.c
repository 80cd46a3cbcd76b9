#include "problem/problem.h"

#include <stdio.h>
#include <string.h>

#include "base/arguments.h"
#include "base/checked.h"
#include "base/contracts.h"
#include "base/disjoint.h"
#include "base/fail.h"
#include "base/format.h"
#include "base/text.h"

/* What only pipelines have must not be asked for in vain. */
static situ_status refuse_options_of_pipelines(const situ_problem *p, const situ_problem_options *o,
                                               situ_error *error) {
  const char *asked = o->free                             ? "non-contiguous parts (free)"
                      : o->async_copies                   ? "copies during computation (async_copies)"
                      : o->replicate                      ? "replicas"
                      : o->in_flight > 1                  ? "more than one input in flight"
                      : o->micro_batches > 0              ? "a step of micro-batches"
                      : o->chunks > 0                     ? "several parts on each device (chunks)"
                      : o->zero > 0                       ? "shares of replicas (zero)"
                      : o->schedule != SITU_SCHEDULE_1F1B ? "a schedule of passes"
                                                          : NULL;
  if (!asked || p->execution == SITU_EXECUTION_PIPELINE) return SITU_STATUS_OK;
  return fail_with(error, SITU_STATUS_BAD_ARGUMENT, NULL, "%s: needs execution pipeline, not %s", asked,
                   situ_execution_name(p->execution));
}

/* Whether every option has a value that exists. */
static situ_status check_values(const situ_problem_options *o, situ_error *error) {
  const char *wrong = (unsigned)o->objective > SITU_OBJECTIVE_THROUGHPUT                  ? "objective"
                      : (unsigned)o->execution > SITU_EXECUTION_PIPELINE                  ? "execution"
                      : (unsigned)o->contention > SITU_CONTENTION_NONE                    ? "contention"
                      : (unsigned)o->overlap > SITU_OVERLAP_NONE                          ? "overlap"
                      : (unsigned)o->communication > SITU_COMMUNICATION_LINK              ? "communication"
                      : (unsigned)o->schedule > SITU_SCHEDULE_ZB_V                        ? "schedule"
                      : o->in_flight < 0                                                  ? "in_flight"
                      : o->micro_batches < 0                                              ? "micro_batches"
                      : o->chunks < 0 || o->chunks == 1 || o->chunks > PROBLEM_MAX_CHUNKS ? "chunks"
                      : o->zero < 0 || o->zero > 3                                        ? "zero"
                      : o->copies < 0                                                     ? "copies"
                      : o->max_calls < 0                                                  ? "max_calls"
                      : o->max_period_ns < 0                                              ? "max_period_ns"
                      : o->max_latency_ns < 0                                             ? "max_latency_ns"
                      : o->max_secondary_ns < 0                                           ? "max_secondary_ns"
                      : !(o->max_unknown_percent >= 0 && o->max_unknown_percent <= 100)   ? "max_unknown_percent"
                                                                                          : NULL;
  return wrong ? fail_with(error, SITU_STATUS_BAD_ARGUMENT, NULL, "the option %s has an invalid value", wrong)
               : SITU_STATUS_OK;
}

/* Whether the problem may overlap otherwise than fully. */
static bool may_choose_overlap(const situ_problem *p) {
  return p->execution == SITU_EXECUTION_STREAM && p->n_copies == 1 && p->contention == SITU_CONTENTION_LINK;
}

static situ_status choose_overlap(situ_problem *p, situ_overlap asked, situ_error *error) {
  p->overlap = asked ? asked : p->costs->overlap ? p->costs->overlap : SITU_OVERLAP_FULL;
  if (may_choose_overlap(p)) return SITU_STATUS_OK;
  if (asked > SITU_OVERLAP_FULL)
    return fail_with(error, SITU_STATUS_BAD_ARGUMENT, NULL,
                     "overlap %s needs execution stream, one copy and contention link", situ_overlap_name(asked));
  p->overlap = SITU_OVERLAP_FULL;
  return SITU_STATUS_OK;
}

static situ_status choose_models(situ_problem *p, const situ_problem_options *o, situ_error *error) {
  bool from_workload = p->costs->unit_ns > 0;
  p->max_unknown_percent = o->max_unknown_percent;
  p->objective = o->objective;
  p->execution = o->execution;
  p->contention = o->contention;
  p->communication = o->communication;
  p->max_period_ns = o->max_period_ns > 0 ? o->max_period_ns : SITU_NEVER_NS;
  p->max_latency_ns = o->max_latency_ns > 0 ? o->max_latency_ns : SITU_NEVER_NS;
  p->n_copies = o->copies > 1 ? o->copies : 1;
  p->max_calls = o->max_calls > 0 ? o->max_calls : INT32_MAX;
  bool limited = o->max_period_ns > 0 || o->max_latency_ns > 0;
  if ((limited || p->n_copies > 1) && p->execution == SITU_EXECUTION_DEFAULT) p->execution = SITU_EXECUTION_STREAM;
  if (o->max_calls > 0 && p->execution == SITU_EXECUTION_DEFAULT) p->execution = SITU_EXECUTION_CALLS;
  if (o->max_latency_ns > 0 && p->objective == SITU_OBJECTIVE_DEFAULT) p->objective = SITU_OBJECTIVE_THROUGHPUT;
  if (p->n_copies > 1 && p->objective == SITU_OBJECTIVE_DEFAULT) p->objective = SITU_OBJECTIVE_LATENCY;
  if (p->objective == SITU_OBJECTIVE_DEFAULT) {
    bool pipeline = p->execution == SITU_EXECUTION_DEFAULT ? from_workload : p->execution == SITU_EXECUTION_PIPELINE;
    p->objective = pipeline ? SITU_OBJECTIVE_THROUGHPUT : SITU_OBJECTIVE_LATENCY;
  }
  if (p->execution == SITU_EXECUTION_DEFAULT) {
    bool latency = p->objective == SITU_OBJECTIVE_LATENCY;
    p->execution = !latency ? SITU_EXECUTION_PIPELINE : from_workload ? SITU_EXECUTION_CALLS : SITU_EXECUTION_STREAM;
  }
  if (p->communication == SITU_COMMUNICATION_DEFAULT)
    p->communication = from_workload ? SITU_COMMUNICATION_HOST_STAGED : SITU_COMMUNICATION_LINK;
  if (limited && p->execution != SITU_EXECUTION_STREAM)
    return fail_with(error, SITU_STATUS_BAD_ARGUMENT, NULL,
                     "a limit on period or latency needs execution stream, not %s", situ_execution_name(p->execution));
  if (p->n_copies > 1 && p->execution != SITU_EXECUTION_STREAM)
    return fail_with(error, SITU_STATUS_BAD_ARGUMENT, NULL, "copies need execution stream, not %s",
                     situ_execution_name(p->execution));
  if (p->graph->n_operators % p->n_copies != 0)
    return fail_with(error, SITU_STATUS_BAD_ARGUMENT, NULL, "%d copies of equal size cannot be made of %d operators",
                     (int)p->n_copies, (int)p->graph->n_operators);
  if (o->max_calls > 0 && p->execution != SITU_EXECUTION_CALLS)
    return fail_with(error, SITU_STATUS_BAD_ARGUMENT, NULL, "a limit on calls needs execution calls, not %s",
                     situ_execution_name(p->execution));
  bool period = p->objective == SITU_OBJECTIVE_THROUGHPUT;
  bool limited_twice = o->max_period_ns > 0 && o->max_latency_ns > 0;
  if ((period && o->max_period_ns > 0) || (!period && o->max_latency_ns > 0))
    return fail_with(error, SITU_STATUS_BAD_ARGUMENT, NULL,
                     "%s; combine latency with a limit on the period, throughput with a limit on the latency",
                     limited_twice ? "period and latency cannot both be limited, because one of them is the objective"
                                   : "the objective itself cannot be limited");
  bool streamed = period && p->execution == SITU_EXECUTION_STREAM && limited;
  if (!streamed && (p->execution == SITU_EXECUTION_PIPELINE) != period)
    return fail_with(
        error, SITU_STATUS_BAD_ARGUMENT, NULL,
        "objective %s cannot be combined with execution %s; throughput needs pipeline, latency needs stream or calls",
        situ_objective_name(p->objective), situ_execution_name(p->execution));
  TRY(refuse_options_of_pipelines(p, o, error));
  TRY(choose_overlap(p, o->overlap, error));
  bool by_chunks = o->schedule == SITU_SCHEDULE_INTERLEAVED || o->schedule == SITU_SCHEDULE_ZB_V;
  p->contiguous = !o->free && !by_chunks;
  p->async_copies = o->async_copies;
  p->schedule = o->schedule;
  p->replicate = o->replicate;
  p->in_flight = o->in_flight > 0 ? o->in_flight : 1;
  return SITU_STATUS_OK;
}

/* Parts of the model on each device, where the schedule has several. */
static situ_status choose_chunks(situ_problem *p, const situ_problem_options *o, situ_error *error) {
  bool v = p->schedule == SITU_SCHEDULE_ZB_V, by_chunks = v || p->schedule == SITU_SCHEDULE_INTERLEAVED;
  const char *wrong = o->chunks > 0 && !by_chunks ? "chunks are those of schedule interleaved"
                      : v && o->chunks > 2        ? "schedule zb-v has two chunks on each device"
                      : by_chunks && o->free      ? "schedules by chunks cut the model in order: leave free out"
                      : by_chunks && o->replicate ? "schedules by chunks are for single devices: leave replicas out"
                                                  : NULL;
  if (wrong) return fail_with(error, SITU_STATUS_BAD_ARGUMENT, NULL, "%s", wrong);
  p->chunks = !by_chunks ? 0 : o->chunks > 0 ? o->chunks : 2;
  return SITU_STATUS_OK;
}

/* Steps of micro-batches. What every device keeps: by 1F1B the last one keeps one input; by GPipe all keep all, by
 * ZB-H1 as many as there are devices, but replicas share them; of each chunk one at least. */
static situ_status choose_micro_batches(situ_problem *p, const situ_problem_options *o, situ_error *error) {
  p->micro_batches = o->micro_batches;
  bool delays = problem_delays(p);
  if ((delays || p->chunks > 0) && (o->micro_batches == 0 || (delays && p->given->n_recomputed > 0)))
    return fail_with(
        error, SITU_STATUS_BAD_ARGUMENT, NULL, "schedule %s %s", situ_schedule_name(p->schedule),
        o->micro_batches == 0 ? "needs micro_batches, at least 1" : "keeps all activations: leave recomputation out");
  if (o->micro_batches == 0) return SITU_STATUS_OK;
  const char *wrong = !p->training       ? "are of training steps: add training, or leave micro_batches out"
                      : o->free          ? "pass from part to part: parts must be contiguous, not free"
                      : o->in_flight > 0 ? "and their schedule say how many inputs are in flight: leave in_flight out"
                                         : NULL;
  if (wrong) return fail_with(error, SITU_STATUS_BAD_ARGUMENT, NULL, "micro-batches %s", wrong);
  int32_t n_sharing = p->replicate ? p->platform->n_devices : 1;
  int32_t usable = 0;
  for (int32_t d = 0; d < p->n_devices; d++) usable += !(o->unused && o->unused[d]);
  p->kept_inputs = p->schedule == SITU_SCHEDULE_GPIPE   ? o->micro_batches
                   : p->schedule == SITU_SCHEDULE_ZB_H1 ? (int32_t)max64(min64(usable, o->micro_batches), 1)
                                                        : 0;
  p->in_flight = p->kept_inputs > 0 ? (int32_t)(((int64_t)p->kept_inputs + n_sharing - 1) / n_sharing) : 1;
  return SITU_STATUS_OK;
}

static situ_status choose_shares(situ_problem *p, const situ_problem_options *o, situ_error *error) {
  p->zero = o->zero;
  if (o->zero == 0 || (p->training && p->replicate)) return SITU_STATUS_OK;
  return fail_with(error, SITU_STATUS_BAD_ARGUMENT, NULL, "zero shards what replicas hold in training: add %s",
                   p->training ? "replicate" : "training");
}

/* Replicas are of one class: as many devices at most hold a share each. False without memory. */
static bool take_shares(situ_problem *p, situ_graph *g) {
  int32_t max_sharing = 1;
  if (p->zero == 0) return true;
  for (int32_t d = 0; d < p->n_devices; d++) {
    int32_t n = 0;
    for (int32_t e = 0; e < p->n_devices; e++) n += p->class_of[e] == p->class_of[d];
    if (n > max_sharing) max_sharing = n;
  }
  g->weight_bytes = ARENA_COPY(p->arena, p->given->weight_bytes, int64_t, p->n_operators);
  for (int32_t v = 0; g->weight_bytes && v < p->n_operators; v++)
    if (problem_shards(p, v)) g->weight_bytes[v] /= max_sharing;
  return g->weight_bytes != NULL;
}

/* The limit by secondary costs, and whether these are of the same graph and platform. */
static situ_status take_other(situ_problem *p, const situ_problem_options *o, situ_error *error) {
  const situ_costs *other = o->secondary_costs, *own = p->costs;
  p->max_secondary_ns = SITU_NEVER_NS;
  p->secondary_name = arena_string(p->arena, o->secondary_name ? o->secondary_name : "latency by the secondary costs");
  if (!p->secondary_name) return fail_no_memory(error);
  if ((o->max_secondary_ns > 0) != (other != NULL))
    return fail_with(error, SITU_STATUS_BAD_ARGUMENT, NULL,
                     "secondary_costs and max_secondary_ns must be given together");
  if (!other) return SITU_STATUS_OK;
  if (p->execution != SITU_EXECUTION_STREAM || p->objective != SITU_OBJECTIVE_LATENCY || p->n_copies > 1 ||
      p->overlap != SITU_OVERLAP_NONE || o->max_period_ns > 0)
    return fail_with(error, SITU_STATUS_BAD_ARGUMENT, NULL,
                     "a limit on the %s needs objective latency, execution stream, one copy and overlap none",
                     p->secondary_name);
  TRY(costs_check(other, p->graph, p->platform, error));
  bool fits = other->n_kinds == own->n_kinds &&
              memcmp(other->pair_kind, own->pair_kind,
                     (size_t)own->n_memories * (size_t)own->n_memories * sizeof *own->pair_kind) == 0;
  for (int64_t i = 0; i < (int64_t)own->n_operators * own->n_classes && fits; i++)
    fits = (own->time_ns[i] == SITU_NEVER_NS) == (other->time_ns[i] == SITU_NEVER_NS);
  if (!fits)
    return fail_with(error, SITU_STATUS_BAD_ARGUMENT, NULL,
                     "secondary_costs have other routes, or allow operators on other devices, than the costs");
  if (!arena_hold(p->arena, other->arena)) return fail_no_memory(error);
  p->secondary = other;
  p->max_secondary_ns = o->max_secondary_ns;
  return SITU_STATUS_OK;
}

static situ_status copy_together(situ_problem *p, const situ_problem_options *o, situ_error *error) {
  int32_t n = p->n_operators;
  for (int32_t v = 0; o->keep_together && v < n; v++)
    if (o->keep_together[v] < -1 || o->keep_together[v] >= n)
      return fail_with(error, SITU_STATUS_BAD_ARGUMENT, p->graph->name[v],
                       "its key %d in keep_together is out of range", (int)o->keep_together[v]);
  if (o->keep_together && !(p->together = ARENA_COPY(p->arena, o->keep_together, int32_t, n)))
    return fail_no_memory(error);
  p->keep_name = arena_string(p->arena, o->keep_name ? o->keep_name : "given groups");
  p->names = o->names ? arena_string(p->arena, o->names) : NULL;
  return p->keep_name && (p->names || !o->names) ? SITU_STATUS_OK : fail_no_memory(error);
}

/* Finds what must stay together: operators of one key in any of the arrays below ([operator] 0 .. n_operators-1, -1 for
 * none) share a unit, and so do those that are joined by several keys. Units of several operators become the colocation
 * groups of the problem's graph, so that other code need not distinguish why they stay together. */
static bool find_units(situ_problem *p) {
  const int32_t *const keys[] = {p->given->colocation, p->costs->group, p->together};
  int32_t n = p->n_operators, *into = ARENA_NEW(p->arena, int32_t, n), *first = ARENA_NEW(p->arena, int32_t, n);
  if (!into || !first) return false;
  bool joined[3] = {false};
  disjoint_init(into, n);
  for (size_t k = 0; k < sizeof keys / sizeof keys[0]; k++) {
    for (int32_t v = 0; v < n; v++) first[v] = -1;
    for (int32_t v = 0; keys[k] && v < n; v++) {
      int32_t key = keys[k][v];
      if (key < 0) continue;
      joined[k] |= first[key] >= 0;
      if (first[key] < 0) first[key] = v;
      disjoint_join(into, first[key], v);
    }
  }
  p->keeps_kernels = joined[1];
  p->keeps_given = joined[2];
  for (int32_t v = 0; v < n; v++) first[v] = disjoint_root(into, v);
  if (!unit_list_find(&p->units, first, n, n, p->arena)) return false;
  situ_graph *g = ARENA_COPY(p->arena, p->graph, situ_graph, 1);
  if (!g) return false;
  g->colocation = into; /* no longer needed as sets */
  g->n_colocations = 0;
  for (int32_t u = 0; u < p->units.n; u++) {
    unit_members of = unit_list_members(&p->units, u);
    int32_t group = of.n > 1 ? g->n_colocations++ : -1;
    for (int32_t i = 0; i < of.n; i++) into[of.member[i]] = group;
  }
  p->graph = g;
  return take_shares(p, g);
}

/* Whether two operators are one fused kernel. */
static bool is_fused(const situ_problem *p, int32_t u, int32_t v) {
  return p->costs->group && p->costs->group[u] == p->costs->group[v];
}

/* Remembers the first constraint that cannot be met. */
__attribute__((format(printf, 2, 3))) static void conflict(situ_problem *p, const char *format, ...) {
  if (p->conflict) return;
  char line[512];
  FORMAT_INTO(line, format);
  p->conflict = arena_string(p->arena, line);
}

/* Gives every member of a unit the pin of those that have one. Pins that contradict each other stay as they are, so
 * that a variant of the problem has the same conflict. */
static void spread_pins(situ_problem *p) {
  for (int32_t k = 0; k < p->units.n; k++) {
    unit_members u = unit_list_members(&p->units, k);
    int32_t pinned = -1;
    for (int32_t i = 0; i < u.n; i++) {
      int32_t v = u.member[i];
      if (p->pin[v] < 0) continue;
      if (pinned >= 0 && p->pin[pinned] != p->pin[v] && is_fused(p, pinned, v))
        conflict(p,
                 "fusion: %s and %s are one kernel, that of %s, but are pinned to different devices; with fusion none "
                 "they can be placed separately",
                 p->graph->name[pinned], p->graph->name[v], p->graph->name[p->costs->group[v]]);
      else if (pinned >= 0 && p->pin[pinned] != p->pin[v])
        conflict(p, "colocation: %s and %s must share a device but are pinned to different ones",
                 p->graph->name[pinned], p->graph->name[v]);
      if (pinned < 0) pinned = v;
    }
    for (int32_t i = 0; pinned >= 0 && !p->conflict && i < u.n; i++) p->pin[u.member[i]] = p->pin[pinned];
  }
}

static void refuse_weights(situ_problem *p, int64_t weights, int64_t room) {
  char a[TEXT_UNIT_BYTES], b[TEXT_UNIT_BYTES];
  text_sizes(a, b, weights, room);
  conflict(p, "memory: the %s need %s, all usable memories together hold %s",
           p->graph->cache_tokens > 0 ? "weights and caches" : "weights", a, b);
}

bool problem_uses_memory(const situ_problem *p, int32_t m) {
  bool used = false;
  for (int32_t d = 0; d < p->n_devices; d++) used |= p->memory_of[d] == m && !p->unused[d];
  return used;
}

int64_t problem_room_bytes(const situ_problem *p) {
  int64_t room = 0;
  for (int32_t m = 0; m < p->n_memories; m++) {
    bool used = false;
    for (int32_t w = p->platform->heads_pool[m] ? m : -1; w >= 0; w = p->platform->next_in_pool[w])
      used = used || problem_uses_memory(p, w);
    if (used) room = sat_add(room, p->platform->memory_bytes[m]);
  }
  return room;
}

/* Looks for constraints that cannot be met by any placement, one operator or unit at a time. */
static void find_conflicts(situ_problem *p) {
  const situ_graph *g = p->graph;
  for (int32_t v = 0; v < g->n_operators && !p->conflict; v++) {
    bool somewhere = false;
    for (int32_t d = 0; d < p->n_devices && !somewhere; d++) somewhere = problem_allows(p, v, d);
    if (somewhere) continue;
    int32_t d = p->pin[v], ruled = 0;
    for (int32_t k = 0; k < p->n_classes; k++) ruled += costs_is_ruled(p->costs, v, k);
    if (d >= 0)
      conflict(p, "support: %s is pinned to %s but cannot run there%s", g->name[v], p->platform->devices[d].name,
               costs_is_ruled(p->costs, v, p->class_of[d]) ? ", by a rule" : "");
    else
      conflict(p, "support: %s can run on no usable device%s", g->name[v],
               ruled == p->n_classes ? ": rules forbid all"
               : ruled > 0           ? ": rules forbid some"
                                     : "");
  }
  for (int32_t k = 0; k < p->units.n && !p->conflict; k++) {
    unit_members u = unit_list_members(&p->units, k);
    bool somewhere = u.n == 1;
    for (int32_t d = 0; d < p->n_devices && !somewhere; d++) somewhere = problem_allows_all(p, u, d);
    if (!somewhere) conflict(p, "colocation: no device can run the whole group of %s", g->name[u.member[0]]);
  }
  int64_t weights = 0, room = problem_room_bytes(p);
  for (int32_t v = 0; v < g->n_operators; v++) weights = sat_add(weights, g->weight_bytes[v]);
  if (weights > room) refuse_weights(p, weights, room);
}

static situ_status copy_pins(situ_problem *p, const situ_problem_options *o, situ_error *error) {
  if (!ARENA_ARRAYS(p->arena, ARRAY(p->pin, p->n_operators), ZEROS(p->unused, p->n_devices)))
    return fail_no_memory(error);
  for (int32_t v = 0; v < p->n_operators; v++) {
    p->pin[v] = o->pins ? o->pins[v] : -1;
    if (p->pin[v] < -1 || p->pin[v] >= p->n_devices)
      return fail_with(error, SITU_STATUS_BAD_ARGUMENT, p->graph->name[v], "is pinned to a device that does not exist");
  }
  for (int32_t d = 0; o->unused && d < p->n_devices; d++) p->unused[d] = o->unused[d];
  for (int32_t v = 0; v < p->n_operators; v++)
    if (p->pin[v] >= 0 && p->unused[p->pin[v]])
      conflict(p, "unused: %s is pinned to %s, which must stay unused", p->graph->name[v],
               p->platform->devices[p->pin[v]].name);
  return SITU_STATUS_OK;
}

bool problem_works(const situ_problem *p, int32_t v) {
  bool works = p->graph->flops[v] > 0 || p->graph->moved_bytes[v] > 0 || !p->graph->inferred[v];
  for (int32_t k = 0; k < p->n_classes && !works; k++) works = p->time_ns[(int64_t)v * p->n_classes + k] != 0;
  return works;
}

int64_t problem_serial_ns(const situ_problem *p, int32_t more) {
  const situ_graph *g = p->graph;
  int64_t sum = 0;
  for (int32_t v = 0; v < g->n_operators; v++) {
    int64_t slowest = 0;
    for (int32_t k = 0; k < p->n_classes; k++) {
      int64_t time = p->time_ns[(int64_t)v * p->n_classes + k];
      if (time != SITU_NEVER_NS) slowest = max64(slowest, time);
    }
    sum = sat_add(sum, slowest);
  }
  for (int32_t t = 0; t < g->n_tensors; t++) {
    int64_t users = g->use_start[t + 1] - g->use_start[t], slowest = p->costs->row_max_ns[costs_row(p->costs, t)];
    if (users > 0) sum = sat_add(sum, sat_mul(slowest, min64(users, p->n_memories) + more));
  }
  return sum;
}

static int64_t all_bytes(const situ_problem *p) {
  const situ_graph *g = p->graph;
  int64_t weights = 0, each = 0;
  for (int32_t v = 0; v < g->n_operators; v++) {
    weights = sat_add(weights, g->weight_bytes[v]);
    each = sat_add(each, g->workspace_bytes[v]);
  }
  for (int32_t t = 0; t < g->n_tensors; t++) each = sat_add(each, g->size_bytes[t]);
  return sat_add(weights, sat_mul(problem_max_in_flight(p), each));
}

/* A tensor that is staged through the host goes out once more. */
static situ_status refuse_excess(const situ_problem *p, situ_error *error) {
  char said[TEXT_UNIT_BYTES];
  int64_t time_ns = problem_serial_ns(p, 1), bytes = all_bytes(p);
  if (time_ns > PROBLEM_MAX_NS)
    return fail_with(
        error, SITU_STATUS_BAD_INPUT, p->graph->model,
        "the slowest times of all operators and transfers add up to %s; expected at most 2^54 ns (208 days)",
        time_ns == SITU_NEVER_NS ? "292 years or more" : text_time(said, time_ns));
  if (bytes > PROBLEM_MAX_BYTES)
    return fail_with(
        error, SITU_STATUS_BAD_INPUT, p->graph->model,
        "weights, workspaces and tensors (of all inputs in flight) add up to %s; expected at most 2^56 bytes (64 PiB)",
        text_size(said, bytes));
  return SITU_STATUS_OK;
}

/* Workspaces, and tensors as they are held, that the costs know are those of the problem's graph. */
static situ_status take_workspaces(situ_problem *p, situ_error *error) {
  if (!p->costs->workspace_bytes && !p->costs->held_bytes) return SITU_STATUS_OK;
  situ_graph *g = ARENA_COPY(p->arena, p->given, situ_graph, 1);
  if (!g) return fail_no_memory(error);
  if (p->costs->workspace_bytes) g->workspace_bytes = p->costs->workspace_bytes;
  if (p->costs->held_bytes) {
    g->size_bytes = p->costs->held_bytes;
    g->arena = p->arena;
    if (!graph_find_recomputed(g, p->arena)) return fail_no_memory(error);
  }
  p->graph = g;
  return SITU_STATUS_OK;
}

situ_status problem_fill(situ_problem *p, const situ_problem_options *o, situ_error *error) {
  TRY(costs_check(p->costs, p->graph, p->platform, error));
  TRY(take_workspaces(p, error));
  TRY(check_values(o, error));
  TRY(choose_models(p, o, error));
  p->n_operators = p->graph->n_operators;
  p->n_devices = p->platform->n_devices;
  p->n_classes = p->costs->n_classes;
  p->n_memories = p->platform->n_memories;
  p->time_ns = p->costs->time_ns;
  p->transfer_ns = p->costs->transfer_ns;
  p->n_kinds = p->costs->n_kinds;
  p->class_of = p->platform->class_of;
  p->memory_of = p->platform->memory_of;
  for (int32_t v = 0; v < p->n_operators; v++) p->training |= p->graph->phase[v] != SITU_PHASE_FORWARD;
  TRY(choose_chunks(p, o, error));
  TRY(choose_micro_batches(p, o, error));
  TRY(choose_shares(p, o, error));
  TRY(refuse_excess(p, error));
  TRY(take_other(p, o, error));
  if (p->secondary) {
    situ_problem view;
    problem_view_costs(&view, p, p->secondary);
    TRY(refuse_excess(&view, error));
  }
  TRY(copy_together(p, o, error));
  bool apart = p->execution == SITU_EXECUTION_PIPELINE && p->schedule == SITU_SCHEDULE_GPIPE && p->training;
  p->n_phases = apart ? 2 : 1;
  p->host = platform_home(p->platform);
  p->device_kind = ARENA_NEW(p->arena, int32_t, (int64_t)p->n_devices * p->n_devices);
  if (!p->device_kind || !find_units(p)) return fail_no_memory(error);
  for (int32_t a = 0; a < p->n_devices; a++)
    for (int32_t b = 0; b < p->n_devices; b++)
      p->device_kind[(int64_t)a * p->n_devices + b] =
          p->costs->pair_kind[(int64_t)p->memory_of[a] * p->n_memories + p->memory_of[b]];
  TRY(copy_pins(p, o, error));
  spread_pins(p);
  if (!p->conflict) find_conflicts(p);
  return SITU_STATUS_OK;
}

static void drop_limits(situ_problem *p) {
  p->max_period_ns = p->max_latency_ns = p->max_secondary_ns = SITU_NEVER_NS;
  p->secondary = NULL;
}

void problem_view_costs(situ_problem *out, const situ_problem *p, const situ_costs *costs) {
  *out = *p;
  out->costs = costs;
  out->time_ns = costs->time_ns;
  out->transfer_ns = costs->transfer_ns;
  drop_limits(out);
}

static int64_t limit_of(int64_t ns) { return ns < SITU_NEVER_NS ? ns : 0; }

situ_problem_options problem_options_of(const situ_problem *p) {
  situ_problem_options o = SITU_PROBLEM_OPTIONS_INIT;
  o.objective = p->objective;
  o.execution = p->execution;
  o.contention = p->contention;
  o.overlap = p->overlap;
  o.communication = p->communication;
  o.free = !p->contiguous && p->chunks == 0;
  o.chunks = p->chunks;
  o.async_copies = p->async_copies;
  o.schedule = p->schedule;
  o.replicate = p->replicate;
  o.in_flight = p->micro_batches > 0 ? 0 : p->in_flight;
  o.micro_batches = p->micro_batches;
  o.zero = p->zero;
  o.copies = p->n_copies;
  o.max_calls = p->max_calls < INT32_MAX ? p->max_calls : 0;
  o.max_period_ns = limit_of(p->max_period_ns);
  o.max_latency_ns = limit_of(p->max_latency_ns);
  o.pins = p->pin;
  o.unused = p->unused;
  o.keep_together = p->together;
  o.secondary_costs = p->secondary;
  o.max_secondary_ns = p->secondary ? p->max_secondary_ns : 0;
  o.secondary_name = p->secondary_name;
  o.keep_name = p->keep_name;
  o.names = p->names;
  o.max_unknown_percent = p->max_unknown_percent;
  return o;
}

void problem_view_pipeline(situ_problem *out, const situ_problem *p) {
  *out = *p;
  out->objective = SITU_OBJECTIVE_THROUGHPUT;
  out->execution = SITU_EXECUTION_PIPELINE;
  out->of_stream = p->execution == SITU_EXECUTION_STREAM || p->of_stream;
  out->communication = SITU_COMMUNICATION_LINK;
  out->contiguous = out->async_copies = out->replicate = false;
  out->in_flight = 1;
  out->micro_batches = out->zero = out->chunks = 0;
  out->overlap = SITU_OVERLAP_FULL;
  drop_limits(out);
}

void problem_view_contiguous(situ_problem *out, const situ_problem *p) {
  problem_view_pipeline(out, p);
  out->communication = SITU_COMMUNICATION_HOST_STAGED;
  out->contiguous = true;
  out->max_calls = INT32_MAX;
}

void problem_view_latency(situ_problem *out, const situ_problem *p) {
  *out = *p;
  out->objective = SITU_OBJECTIVE_LATENCY;
  drop_limits(out);
}

void problem_view_copy(situ_problem *view, situ_graph *graph) {
  REQUIRE(graph != view->graph && view->graph->n_operators % view->n_copies == 0);
  *graph = *view->graph;
  graph->n_operators /= view->n_copies;
  graph->n_tensors /= view->n_copies;
  graph->n_colocations /= view->n_copies;
  graph->n_uses /= view->n_copies;
  graph->n_edges /= view->n_copies;
  view->graph = graph;
  view->n_operators = graph->n_operators;
  view->units.n /= view->n_copies;
  view->n_copies = 1;
}

void situ_problem_free(situ_problem *p) {
  if (p) arena_free(p->arena);
}

const situ_graph *situ_problem_graph(const situ_problem *p) { return p ? p->given : NULL; }
const situ_platform *situ_problem_platform(const situ_problem *p) { return p ? p->platform : NULL; }
const situ_costs *situ_problem_costs(const situ_problem *p) { return p ? p->costs : NULL; }
const char *situ_objective_name(situ_objective o) {
  static const char *const names[] = {"default", "latency", "throughput"};
  return (unsigned)o < 3 ? names[o] : "unknown";
}

const char *situ_execution_name(situ_execution e) {
  static const char *const names[] = {"default", "stream", "calls", "pipeline"};
  return (unsigned)e < 4 ? names[e] : "unknown";
}

const char *situ_communication_name(situ_communication c) {
  static const char *const names[] = {"default", "host-staged", "link"};
  return (unsigned)c < 3 ? names[c] : "unknown";
}

const char *situ_schedule_name(situ_schedule s) {
  static const char *const names[] = {"1f1b", "gpipe", "zb-h1", "interleaved", "zb-v"};
  return (unsigned)s < 5 ? names[s] : "unknown";
}

const char *situ_contention_name(situ_contention c) {
  static const char *const names[] = {"link", "none"};
  return (unsigned)c < 2 ? names[c] : "unknown";
}

bool situ_problem_get_summary(const situ_problem *p, situ_problem_summary *out) {
  if (!p) return false;
  situ_problem_summary summary = {.conflict = p->conflict,
                                  .scope = p->scope,
                                  .objective = p->objective,
                                  .execution = p->execution,
                                  .communication = p->communication,
                                  .overlap = p->overlap,
                                  .contention = p->contention,
                                  .schedule = p->schedule,
                                  .copies = p->n_copies,
                                  .max_calls = p->max_calls == INT32_MAX ? 0 : p->max_calls,
                                  .free = !p->contiguous && p->chunks == 0,
                                  .replicate = p->replicate,
                                  .n_unknown = p->unknown.n,
                                  .n_unknown_operators = p->unknown.n_operators,
                                  .unknown_share = p->unknown.share,
                                  .guessed = p->guessed};
  return GIVE(out, summary);
}
