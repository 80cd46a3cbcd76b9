/* Runs a plan: its parts on their devices, measured and compared with the prediction and the whole model. */
#include <stdio.h>

#include "base/arguments.h"
#include "base/checked.h"
#include "base/hash.h"
#include "engine/by_parts.h"
#include "engine/measure.h"
#include "engine/profile.h"
#include "engine/run_ranks.h"
#include "situ/version.h"
#include "split/plan_parts.h"

enum { MIN_ITEMS = 3, SEGMENTS = 5 };

typedef struct running {
  situ_run *run;
  measuring m;
  const situ_plan *plan;
  const situ_problem *problem;
  const model_file *file;
  model_parts *whole_parts, *parts;
  executor *whole, *split;
  run_times *times;               /* [item * n_parts + part] */
  int64_t *values_ns;             /* scratch [items] */
  int64_t *latency_ns, *whole_ns; /* [item] */
  int64_t *finish_ns, *sum_ns;    /* of the pipeline: [finish], [part] */
  int32_t n_items, n_finish;
  ranks *ranks; /* NULL: alone */
  run_clock early[RANKS_MAX], late[RANKS_MAX];
  situ_error *error;
} running;

static bool leads(const running *r) { return ranks_own(r->ranks) == 0; }

/* ---- the prediction of the plan ---- */

static situ_status describe_parts(running *r) {
  situ_run *run = r->run;
  const situ_graph *g = r->problem->graph;
  run->n_parts = r->parts->n_parts;
  run->parts = ARENA_ZERO(run->arena, run_stage, run->n_parts);
  if (!run->parts) return fail_no_memory(r->error);
  for (int32_t k = 0; k < run->n_parts; k++)
    run->parts[k] = (run_stage){.device = r->parts->parts[k].device,
                                .core = r->split->worker_of[k] < 0 ? -1 : r->split->cores[r->split->worker_of[k]],
                                .n_nodes = r->parts->parts[k].n_nodes,
                                .first = -1,
                                .last = -1};
  for (int32_t v = 0; v < g->n_operators; v++) {
    int32_t k = r->parts->part_of[model_file_node(r->file, g->source_id[v])];
    if (k < 0) continue;
    run_stage *s = &run->parts[k];
    if (s->first < 0) s->first = v;
    s->last = v;
  }
  return SITU_STATUS_OK;
}

static situ_status describe_transfers(running *r) {
  situ_run *run = r->run;
  const model_parts *p = r->parts;
  int32_t n = 0;
  for (int32_t k = 0; k < p->n_parts; k++) n += p->parts[k].n_inputs;
  run->transfers = ARENA_ZERO(run->arena, run_transfer, n);
  if (!run->transfers) return fail_no_memory(r->error);
  for (int32_t k = 0; k < p->n_parts; k++)
    for (int32_t i = 0; i < p->parts[k].n_inputs; i++) {
      int32_t value = p->parts[k].inputs[i], from = p->value_part[value];
      if (from < 0 || p->parts[from].device == p->parts[k].device) continue;
      const char *name = arena_string(run->arena, r->file->values[value].name);
      int64_t t = string_map_get(p->tensor_of, r->file->values[value].name);
      if (!name) return fail_no_memory(r->error);
      run->transfers[run->n_transfers++] = (run_transfer){
          .name = name,
          .from_part = from,
          .to_part = k,
          .bytes = r->split->places[value].bytes,
          .predicted_ns =
              t < 0 ? 0 : problem_transfer_ns(r->problem, (int32_t)t, p->parts[from].device, p->parts[k].device)};
    }
  return SITU_STATUS_OK;
}

static situ_status predict_by_parts(running *r) {
  situ_run *run = r->run;
  int64_t *time_ns = ARENA_NEW(run->arena, int64_t, run->n_parts);
  if (!time_ns) return fail_no_memory(r->error);
  TRY(by_parts_predict(&run->by_parts_ns, time_ns, r->parts, r->problem, r->error));
  for (int32_t k = 0; k < run->n_parts; k++) run->parts[k].predicted_ns = time_ns[k];
  return SITU_STATUS_OK;
}

/* ---- measuring ---- */

enum { NO_MORE = -1 };

/* Rank 0 sends all others the number of the next input, or NO_MORE. */
static situ_status lead(running *r, int32_t item) {
  for (int32_t q = 1; q < ranks_count(r->ranks); q++) TRY(ranks_send_wait(r->ranks, q, &item, sizeof item, r->error));
  return SITU_STATUS_OK;
}

/* One input through the parts, on all ranks. */
static situ_status run_split(running *r) {
  int32_t item = r->n_items, done;
  TRY(lead(r, item));
  TRY(executor_latency(r->split, &r->latency_ns[item], r->times + (int64_t)item * r->parts->n_parts, r->error));
  for (int32_t q = 1; q < ranks_count(r->ranks); q++)
    TRY(ranks_receive_wait(r->ranks, q, &done, sizeof done, r->error));
  return SITU_STATUS_OK;
}

/* The other ranks: run the inputs that rank 0 names. */
static situ_status follow(running *r) {
  for (int32_t item = 0;; r->n_items = item + 1) {
    int64_t unused_ns;
    TRY(ranks_receive_wait(r->ranks, 0, &item, sizeof item, r->error));
    if (item < 0 || item >= r->m.options.items) return SITU_STATUS_OK;
    TRY(executor_latency(r->split, &unused_ns, r->times + (int64_t)item * r->parts->n_parts, r->error));
    TRY(ranks_send_wait(r->ranks, 0, &item, sizeof item, r->error));
  }
}

/* Single inputs through the whole model, the parts, or both alternately. */
static situ_status run_all(running *r, bool whole, bool split) {
  measuring *m = &r->m;
  int64_t unused_ns;
  run_times of_whole = {0};
  int turns = whole && split ? 2 : 1; /* when alternating, the first run of each finds caches with data of the other */
  m->total = m->options.warm_up + m->options.items;
  m->phase = "one by one";
  r->n_items = 0;
  for (m->done = 0; m->done < m->total; m->done++) {
    for (int i = 0; whole && i < turns; i++) TRY(executor_latency(r->whole, &unused_ns, &of_whole, r->error));
    for (int i = 0; split && i < turns; i++) TRY(run_split(r));
    if (m->done < m->options.warm_up) continue;
    if (whole) r->whole_ns[r->n_items] = of_whole.finish_ns - of_whole.start_ns;
    if (++r->n_items >= MIN_ITEMS && measure_is_late(m)) break;
  }
  return SITU_STATUS_OK;
}

/* Alternately, so that both see the same state of the machine; sequentially if idle threads of the one spin on cores of
 * the other. */
static situ_status measure_latency(running *r) {
  situ_run *run = r->run;
  int32_t max = r->m.options.items;
  if (!ARENA_ARRAYS(run->arena, ZEROS(r->latency_ns, max), ZEROS(r->whole_ns, max), ARRAY(r->values_ns, max),
                    ZEROS(r->times, (int64_t)max * r->parts->n_parts)))
    return fail_no_memory(r->error);
  if (!leads(r)) return follow(r);
  bool apart = r->m.options.threads > 1 || r->m.options.map;
  if (apart) TRY(run_all(r, true, false));
  if (apart) run->whole_ns = median_of(r->whole_ns, r->n_items, &run->whole_half_ns);
  TRY(run_all(r, !apart, true));
  if (!apart) run->whole_ns = median_of(r->whole_ns, r->n_items, &run->whole_half_ns);
  return lead(r, NO_MORE);
}

/* Among ranks the latency is from the start of the first part to the end of the last. */
static void sum_up_latency(running *r) {
  int32_t n = r->parts->n_parts;
  for (int32_t i = 0; i < r->n_items && r->ranks; i++) {
    int64_t first_ns = INT64_MAX, last_ns = INT64_MIN;
    for (int32_t k = 0; k < n; k++) {
      first_ns = min64(first_ns, r->times[(int64_t)i * n + k].start_ns);
      last_ns = max64(last_ns, r->times[(int64_t)i * n + k].finish_ns);
    }
    r->latency_ns[i] = last_ns - first_ns;
  }
  r->run->n_items = r->n_items;
  r->run->latency_ns = r->run->measured_ns = median_of(r->latency_ns, r->n_items, &r->run->half_ns);
}

static void sum_up_parts(running *r) {
  for (int32_t k = 0; k < r->run->n_parts; k++) {
    for (int32_t i = 0; i < r->n_items; i++) {
      const run_times *t = &r->times[(int64_t)i * r->run->n_parts + k];
      r->values_ns[i] = t->finish_ns - t->start_ns;
    }
    r->run->parts[k].measured_ns = median_of(r->values_ns, r->n_items, &r->run->parts[k].half_ns);
  }
}

/* Times of transfers, from the inputs in which the reader waited for it last; -1 if there are none. */
static void sum_up_transfers(running *r) {
  for (int32_t x = 0; x < r->run->n_transfers; x++) {
    run_transfer *t = &r->run->transfers[x];
    int32_t n = 0;
    for (int32_t i = 0; i < r->n_items; i++) {
      const run_times *times = &r->times[(int64_t)i * r->run->n_parts];
      if (t->from_part == executor_awaited(r->split, times, t->to_part))
        r->values_ns[n++] = times[t->to_part].start_ns - times[t->from_part].finish_ns;
    }
    t->measured_ns = n > 0 ? median_of(r->values_ns, n, NULL) : -1;
  }
}

/* Inputs of a segment: as many as requested, rounded up to whole rounds of replicas. */
static int32_t segment_items(const running *r) {
  int32_t round = r->plan->replica_of ? r->split->options.n_copies : 1;
  return (r->n_items + round - 1) / round * round;
}

static situ_status measure_period(running *r) {
  int32_t n = r->m.options.warm_up + SEGMENTS * segment_items(r);
  r->n_finish = n;
  r->m.phase = "as a pipeline";
  if (!ARENA_ARRAYS(r->run->arena, ZEROS(r->finish_ns, n), ZEROS(r->sum_ns, r->parts->n_parts)))
    return fail_no_memory(r->error);
  return executor_pipeline(r->split, n, r->finish_ns, r->sum_ns, NULL, r->error);
}

/* The period: the median over segments of inputs, each from its first end to its last. */
static void sum_up_period(running *r) {
  situ_run *run = r->run;
  int64_t periods_ns[SEGMENTS];
  int32_t segment = segment_items(r);
  for (int32_t s = 0; s < SEGMENTS; s++) {
    int32_t first = r->m.options.warm_up + s * segment;
    periods_ns[s] = (r->finish_ns[first + segment - 1] - r->finish_ns[first - 1]) / segment;
  }
  run->measured_ns = median_of(periods_ns, SEGMENTS, &run->half_ns);
  for (int32_t k = 0; k < run->n_parts; k++) run->parts[k].measured_ns = r->sum_ns[k] / r->n_finish;
}

static situ_status gather(running *r) {
  situ_run *run = r->run;
  int32_t n = r->parts->n_parts;
  run_results all = {.times = r->times,
                     .finish_ns = r->finish_ns,
                     .sum_ns = r->sum_ns,
                     .cores = ARENA_ZERO(run->arena, int32_t, n),
                     .tolerance = executor_tolerance(r->split),
                     .n_items = r->n_items,
                     .n_finish = r->n_finish};
  if (!all.sum_ns) all.sum_ns = ARENA_ZERO(run->arena, int64_t, n);
  if (!all.cores || !all.sum_ns) return fail_no_memory(r->error);
  TRY(run_ranks_clocks(r->late, r->ranks, r->error));
  TRY(run_ranks_gather(&all, r->split, r->early, r->late, r->error));
  for (int32_t k = 0; k < n; k++) run->parts[k].core = all.cores[k];
  run->tolerance = all.tolerance;
  return SITU_STATUS_OK;
}

static situ_status measure_all(running *r) {
  situ_run *run = r->run;
  if (r->ranks) {
    int32_t n = r->split->n_channels;
    run->links = ARENA_NEW(run->arena, run_link, n);
    if (!run->links) return fail_no_memory(r->error);
    TRY(run_ranks_links(run->links, &run->n_links, r->split, r->error));
    TRY(run_ranks_clocks(r->early, r->ranks, r->error));
  }
  TRY(measure_latency(r));
  if (r->ranks) TRY(run_ranks_outputs(r->split, r->error));
  run->tolerance = executor_tolerance(r->split);
  if (leads(r)) run->difference = executor_difference(r->split, r->whole);
  if (run->pipeline) TRY(measure_period(r));
  if (r->ranks) TRY(gather(r));
  if (!leads(r)) return SITU_STATUS_OK;
  sum_up_latency(r);
  sum_up_parts(r);
  sum_up_transfers(r);
  if (run->pipeline) sum_up_period(r);
  return SITU_STATUS_OK;
}

/* ---- the call ---- */

/* A hash of the settings that must be the same on all ranks. */
static uint64_t settings_hash(const running *r) {
  const measure_options *o = &r->m.options;
  const situ_graph *g = r->problem->graph;
  int64_t numbers[] = {SITU_VERSION_NUMBER, o->items, o->warm_up,       o->queue,
                       o->threads,          o->level, (int64_t)o->seed, r->parts->n_parts};
  wire_span bytes = r->file->model;
  uint64_t hash = hash_bytes(numbers, sizeof numbers, 0);
  hash = hash_bytes(bytes.at, (size_t)(bytes.end - bytes.at), hash);
  hash = hash_bytes(r->plan->device, sizeof *r->plan->device * (size_t)g->n_operators, hash);
  if (r->plan->order) hash = hash_bytes(r->plan->order, sizeof *r->plan->order * (size_t)g->n_operators, hash);
  return hash;
}

/* Decides which rank runs which devices, and on which cores. */
static situ_status set_up_ranks(running *r) {
  const situ_platform *p = r->problem->platform;
  int32_t n_workers[RANKS_MAX] = {0}, *rank_of = ARENA_NEW(r->run->arena, int32_t, p->n_devices);
  bool *used = ARENA_ZERO(r->run->arena, bool, p->n_devices);
  if (!rank_of || !used) return fail_no_memory(r->error);
  if (r->plan->replica_of)
    return fail_with(r->error, SITU_STATUS_UNSUPPORTED, r->problem->graph->model,
                     "has replicas, which can only run on one machine, without ranks");
  if (r->m.options.map)
    return fail_with(r->error, SITU_STATUS_UNSUPPORTED, r->m.options.map,
                     "maps devices of one machine; with ranks, all devices have the same number of threads");
  TRY(run_ranks_map(rank_of, p, ranks_count(r->ranks), r->error));
  for (int32_t k = 0; k < r->parts->n_parts; k++) used[r->parts->parts[k].device] = true;
  for (int32_t d = 0; d < p->n_devices; d++) n_workers[rank_of[d]] += used[d];
  r->run->rank_of = rank_of;
  r->m.executor.rank_of = rank_of;
  r->m.executor.ranks = r->ranks;
  return run_ranks_meet(&r->m.executor.cores, r->ranks, settings_hash(r), n_workers, r->m.options.threads, r->error);
}

static situ_status start_executors(running *r, const char **names) {
  measuring *m = &r->m;
  executor_options whole = m->executor;
  for (int32_t d = 0; d < r->problem->n_devices; d++) names[d] = r->problem->platform->devices[d].name;
  TRY(plan_parts_find(&r->whole_parts, r->file, r->problem->graph, NULL, r->error));
  TRY(plan_parts_find(&r->parts, r->file, r->problem->graph, r->plan, r->error));
  if (m->options.in_process && (r->run->pipeline || r->ranks))
    return fail_with(r->error, SITU_STATUS_UNSUPPORTED, "in process",
                     "parts run sequentially in one process, so neither pipelines nor ranks can be measured");
  if (r->ranks) TRY(set_up_ranks(r));
  if (leads(r)) TRY(executor_start(&r->whole, r->whole_parts, &whole, r->error));
  m->executor.names = names;
  TRY(measure_lanes(&m->executor, m, r->problem->platform, r->run->arena, r->error));
  if (r->run->pipeline)
    executor_queue(&m->executor, r->parts, r->plan->replica_of, r->problem->n_devices, m->options.queue);
  return executor_start(&r->split, r->parts, &m->executor, r->error);
}

static situ_status check_plan(const situ_plan *plan, situ_error *error) {
  const situ_problem *p = plan->problem;
  if (!plan->device) return fail_with(error, SITU_STATUS_BAD_ARGUMENT, NULL, "the plan has no placement to run");
  if (p->training || p->n_copies > 1)
    return fail_with(error, SITU_STATUS_UNSUPPORTED, p->graph->model,
                     "is not a forward pass of a single input; only these can be run");
  return SITU_STATUS_OK;
}

static situ_status run_into(running *r, const char *model) {
  situ_run *run = r->run;
  char version[MEASURE_NAME_BYTES];
  model_file *file;
  const char **names = ARENA_NEW(run->arena, const char *, r->problem->n_devices);
  if (!names) return fail_no_memory(r->error);
  TRY(measure_version(version, &r->m, r->error));
  snprintf(run->engine, sizeof run->engine, "%s %s%s", r->m.executor.engine->name, version,
           r->m.options.in_process ? " in process" : "");
  run->threads = r->m.options.threads;
  run->level = r->m.executor.level;
  run->pipeline = r->problem->execution == SITU_EXECUTION_PIPELINE;
  run->predicted_ns = r->plan->value_ns;
  TRY(model_file_open(&file, model, r->error));
  r->file = file;
  run->made_up = file->made_up ? arena_string(run->arena, file->made_up) : NULL;
  situ_status status = file->made_up && !run->made_up ? fail_no_memory(r->error) : start_executors(r, names);
  if (status == SITU_STATUS_OK) status = describe_parts(r);
  if (status == SITU_STATUS_OK) status = describe_transfers(r);
  if (status == SITU_STATUS_OK) status = predict_by_parts(r);
  if (status == SITU_STATUS_OK) status = measure_all(r);
  if (status != SITU_STATUS_OK) ranks_fail(r->ranks, r->error);
  executor_stop(r->split);
  executor_stop(r->whole);
  model_parts_free(r->parts);
  model_parts_free(r->whole_parts);
  model_file_free(file);
  return status;
}

/* Ranks first, so that any later failure is reported to all. */
static situ_status begin(running *r, const char *model, const measure_options *options) {
  TRY(ranks_open(&r->ranks, &r->m.executor.wait, r->error));
  r->run->rank = ranks_own(r->ranks);
  r->run->n_ranks = ranks_count(r->ranks);
  situ_status status = measure_begin(&r->m, options, r->problem, model, r->run->arena, r->error);
  if (status == SITU_STATUS_OK) status = run_into(r, model);
  if (status != SITU_STATUS_OK) ranks_fail(r->ranks, r->error);
  if (r->ranks && status == SITU_STATUS_CANCELLED)
    fail_with(r->error, status, NULL,
              "rank %d was stopped; if another rank was lost, mpirun stops all ranks and names that one",
              (int)r->run->rank);
  ranks_close(r->ranks);
  return status;
}

situ_status run_plan(situ_run **out, const situ_plan *plan, const char *model, const measure_options *options,
                     situ_error *error) {
  situ_error own = {0};
  TRY(check_plan(plan, error));
  situ_run *run = NOUN_NEW(situ_run, plan->problem->arena);
  running *r = run ? ARENA_ZERO(run->arena, running, 1) : NULL;
  if (!r) {
    situ_run_free(run);
    return fail_no_memory(error);
  }
  run->problem = plan->problem;
  *r = (running){.run = run, .plan = plan, .problem = plan->problem, .error = error ? error : &own};
  HAND_OUT(out, run, begin(r, model, options), situ_run_free);
}

void situ_run_free(situ_run *run) {
  if (run) arena_free(run->arena);
}

bool situ_run_get_summary(const situ_run *run, situ_run_summary *out) {
  if (!run) return false;
  situ_run_summary summary = {.rank = run->rank,
                              .predicted_ns = run->predicted_ns,
                              .measured_ns = run->measured_ns,
                              .difference = run->difference,
                              .served = run->served != NULL};
  return GIVE(out, summary);
}
