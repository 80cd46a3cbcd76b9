/* The verb of situ/stages.h: a workload, its best plan of stages, and what the judge says of both. */
#include "base/arguments.h"
#include "base/checked.h"
#include "base/clock.h"
#include "check/check_stages.h"
#include "situ/stages.h"
#include "stages/stage_program.h"

static const double USUAL_S = 60;
static const int64_t JUDGE_STEPS = (int64_t)1 << 28;

struct situ_staging {
  arena *arena;
  stage_network *network;
  situ_staging_info info;
  stage_plan plan;
  situ_staging_stage *stage;
};

static int64_t or_else(int64_t given, int64_t usual) { return given ? given : usual; }

static situ_status rules_of(stage_rules *r, const situ_staging_options *o, const stage_machine *file,
                            situ_error *error) {
  *r = (stage_rules){.no_splits = o->no_splits, .no_replicas = o->no_replicas, .no_recompute = o->no_recompute};
  r->machine = (stage_machine){.n_devices = or_else(o->n_devices, file->n_devices),
                               .memory_bytes = or_else(o->memory_bytes, file->memory_bytes),
                               .bytes_per_s = or_else(o->bytes_per_s, file->bytes_per_s),
                               .n_inputs = or_else(o->micro_batches, file->n_inputs)};
  const struct {
    const char *what;
    int64_t n, max;
  } rows[] = {{"n_devices", r->machine.n_devices, STAGE_MAX_DEVICES},
              {"memory_bytes", r->machine.memory_bytes, STAGE_MAX_BYTES},
              {"bytes_per_s", r->machine.bytes_per_s, STAGE_MAX_BYTES},
              {"micro_batches", r->machine.n_inputs, STAGE_MAX_INPUTS}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (rows[i].n < 1 || rows[i].n > rows[i].max)
      return fail_with(error, SITU_STATUS_BAD_ARGUMENT, NULL, "%s is %lld; expected 1 to %lld", rows[i].what,
                       (long long)rows[i].n, (long long)rows[i].max);
  if (!(o->time_limit_s >= 0))
    return fail_with(error, SITU_STATUS_BAD_ARGUMENT, NULL, "time_limit_s must be a number of seconds");
  return SITU_STATUS_OK;
}

static int64_t memory_of(const stage_network *x, const stage_plan *plan, int32_t k, int64_t n_kept) {
  int64_t bytes = 0;
  for (int32_t v = 0; v < x->n_layers; v++) {
    const stage_variant *w = &x->variant[plan->variant[v]];
    if (plan->stage[v] == k) bytes = sat_add(bytes, sat_add(sat_mul(n_kept, w->kept_bytes), w->fixed_bytes));
  }
  return bytes;
}

static void describe_stages(situ_staging *s) {
  const stage_network *x = s->network;
  int64_t n_inputs = 0;
  for (int32_t k = s->plan.n_stages - 1; k >= 0; k--) {
    const stage_part part = s->plan.part[k];
    n_inputs += part.n_replicas;
    situ_staging_stage *row = &s->stage[k];
    int64_t n_kept = (n_inputs + part.n_replicas - 1) / part.n_replicas;
    *row = (situ_staging_stage){.split = part.degree,
                                .replicas = part.n_replicas,
                                .kept = n_kept,
                                .time_ns = s->plan.time_ns[k],
                                .size_bytes = memory_of(x, &s->plan, k, n_kept)};
    for (int32_t i = 0; i < x->n_layers; i++) {
      int32_t v = x->order[i];
      if (s->plan.stage[v] != k) continue;
      if (row->layers++ == 0) row->first = x->name[v];
      row->last = x->name[v];
      row->recomputed += x->variant[s->plan.variant[v]].recomputes;
    }
    s->info.n_devices_used += (int64_t)part.degree * part.n_replicas;
  }
}

static situ_status solve(situ_staging *s, const stage_rules *rules, const situ_staging_options *o, situ_error *error) {
  const stage_network *x = s->network;
  int64_t begin_ns = clock_now_ns();
  double limit_s = o->time_limit_s > 0 ? o->time_limit_s : USUAL_S;
  budget b = budget_new(0, sat_round(limit_s * 1e9), o->progress, o->context);
  arena *scratch = arena_new();
  if (!scratch) return fail_no_memory(error);
  situ_status status = stage_program_solve(&s->plan, x, rules, &b, s->arena, scratch, error);
  arena_free(scratch);
  TRY(status);
  const char *wrong = s->plan.n_stages > 0 ? check_stages_plan(x, rules, &s->plan) : NULL;
  if (wrong)
    return *wrong ? fail_with(error, SITU_STATUS_INTERNAL, NULL, "the plan is wrong: %s", wrong)
                  : fail_no_memory(error);
  check_stages_finding found = check_stages_bound(x, rules, s->plan.lower_ns, JUDGE_STEPS);
  if (found == STAGES_REFUTED) return fail_with(error, SITU_STATUS_INTERNAL, NULL, "the lower bound is wrong");
  s->stage = ARENA_ZERO(s->arena, situ_staging_stage, s->plan.n_stages);
  if (!s->stage) return fail_no_memory(error);
  const stage_machine *m = &rules->machine;
  s->info = (situ_staging_info){.size = sizeof s->info,
                                .period_ns = s->plan.n_stages > 0 ? s->plan.period_ns : SITU_NEVER_NS,
                                .lower_bound_ns = s->plan.lower_ns == STAGE_NEVER_NS ? SITU_NEVER_NS : s->plan.lower_ns,
                                .bound_checked = found == STAGES_PROVED,
                                .n_stages = s->plan.n_stages,
                                .n_layers = x->n_layers,
                                .n_devices = m->n_devices,
                                .memory_bytes = m->memory_bytes,
                                .bytes_per_s = m->bytes_per_s,
                                .micro_batches = m->n_inputs};
  describe_stages(s);
  s->info.seconds = (double)(clock_now_ns() - begin_ns) * 1e-9;
  return SITU_STATUS_OK;
}

situ_status situ_staging_find(situ_staging **out, const char *path, const situ_staging_options *options,
                              situ_error *error) {
  situ_staging_options o;
  stage_rules rules;
  TRY(GIVEN(error, out));
  *out = NULL;
  TRY(GIVEN(error, path));
  TRY(TAKE(o, options, SITU_STAGING_OPTIONS_INIT, error));
  situ_staging *s = NOUN_NEW(situ_staging, NULL);
  if (!s) return fail_no_memory(error);
  situ_status status = stage_network_read(&s->network, path, error);
  if (status == SITU_STATUS_OK) status = rules_of(&rules, &o, &s->network->machine, error);
  if (status == SITU_STATUS_OK) status = solve(s, &rules, &o, error);
  if (status == SITU_STATUS_OK) {
    *out = s;
    return status;
  }
  stage_network_free(s->network);
  arena_free(s->arena);
  return status;
}

void situ_staging_free(situ_staging *s) {
  if (!s) return;
  stage_network_free(s->network);
  arena_free(s->arena);
}

bool situ_staging_get_info(const situ_staging *s, situ_staging_info *out) { return s && GIVE(out, s->info); }

situ_staging_stage situ_staging_stage_at(const situ_staging *s, int32_t k) {
  return s && k >= 0 && k < s->info.n_stages ? s->stage[k] : (situ_staging_stage){0};
}

situ_staging_layer situ_staging_layer_at(const situ_staging *s, int32_t v) {
  if (!s || v < 0 || v >= s->info.n_layers) return (situ_staging_layer){.stage = -1};
  bool placed = s->info.n_stages > 0;
  return (situ_staging_layer){.name = s->network->name[v],
                              .variant = placed ? s->network->variant[s->plan.variant[v]].name : NULL,
                              .stage = placed ? s->plan.stage[v] : -1};
}
