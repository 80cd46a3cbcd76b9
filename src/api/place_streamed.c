#include "api/place_streamed.h"

#include <stdio.h>
#include <string.h>

#include "api/place_instance.h"
#include "base/c_locale.h"
#include "base/checked.h"
#include "base/fail.h"
#include "cost/streamed.h"
#include "plan/plan.h"
#include "write/writer.h"

enum { MAX_ROUNDS = 4, MIB = 1 << 20 };
/* Hosts that hide an accelerator which would help: their share of the time limit, and how many times shorter they must
 * be. On a host without a GPU llama.cpp took prompts up to 3.4 times as long as predicted, with one as long
 * (docs/results/measured.md). */
static const double SHARE_OF_HOSTS = 0.1, GAIN_OF_HOSTS = 3.4;

/* What a plan has on hosts, and the accelerator that computes with it; -1: nothing streams. */
typedef struct streaming {
  int32_t main_device;
  int64_t weight_bytes, cache_bytes, largest_bytes;
  bool all; /* nothing is on an accelerator */
} streaming;

static bool has_accelerator(const situ_problem *p) {
  for (int32_t d = 0; d < p->n_devices; d++)
    if (!problem_is_host(p, d)) return true;
  return false;
}

static streaming look(const situ_plan *plan) {
  const situ_problem *p = plan->problem;
  streaming s = {.main_device = -1, .all = true};
  for (int32_t v = 0; v < p->n_operators; v++) {
    int32_t d = plan->device[v], to = p->costs->streamed_to ? p->costs->streamed_to[p->class_of[d]] : -1;
    int64_t moved_bytes = graph_own_weight_bytes(p->given, v);
    s.all &= problem_is_host(p, d);
    if (to < 0) continue;
    s.main_device = to;
    s.weight_bytes = sat_add(s.weight_bytes, moved_bytes);
    s.cache_bytes = sat_add(s.cache_bytes, p->given->weight_bytes[v] - moved_bytes);
    s.largest_bytes = max64(s.largest_bytes, moved_bytes);
  }
  return s;
}

/* What the rules of an instance reserve on the accelerator. */
static int64_t reserved_bytes(const situ_instance *i, const streaming *s) {
  return i->rules && s->main_device >= 0 ? i->rules->reserve_bytes[i->platform->memory_of[s->main_device]] : 0;
}

/* How much the accelerator lacks for what streams to it, of which so much is reserved there; 0: nothing. */
static int64_t lacking_bytes(const situ_plan *plan, const streaming *s, int64_t for_it_bytes) {
  int64_t limit = s->main_device < 0 ? SITU_UNLIMITED_BYTES
                                     : plan->problem->platform->memory_bytes[plan->problem->memory_of[s->main_device]];
  if (limit == SITU_UNLIMITED_BYTES || s->all) return 0;
  int64_t used = plan_use(plan, s->main_device).memory_bytes;
  return max64(0, sat_add(used, sat_add(s->cache_bytes, s->largest_bytes)) - limit - for_it_bytes);
}

/* Solves with other options, and keeps the result if its plan is to be preferred: it takes less than below_ns, or what
 * was found does not run as it stands. */
static situ_status try_again(situ_plan **plan, situ_instance **instance, const instance_options *options,
                             const situ_solve_options *solve, int64_t below_ns, int64_t *value_ns, situ_error *error) {
  situ_instance *i = NULL;
  situ_plan *other = NULL;
  instance_options own = *options;
  situ_solve_options quiet = *solve;
  own.call.log = own.read.log = own.cost.log = quiet.log = NULL; /* all was said */
  situ_status status = instance_open(&i, &own, error);
  if (status == SITU_STATUS_OK) status = place_instance(&other, i, &quiet, error);
  bool exists = status == SITU_STATUS_OK && plan_exists(other);
  if (value_ns) *value_ns = exists ? other->value_ns : SITU_NEVER_NS;
  bool streams = (*plan)->problem->costs->streamed_to && look(*plan).all;
  if (exists && (streams || other->value_ns < below_ns)) {
    situ_plan *old = *plan;
    situ_instance *its = *instance;
    *plan = other;
    *instance = i;
    other = old;
    i = its;
  }
  situ_plan_free(other);
  situ_instance_free(i);
  return status;
}

/* Reserves on the accelerator what streams to it, until the plan fits. */
static situ_status reserve_copies(situ_plan **plan, situ_instance **instance, const instance_options *options,
                                  const situ_solve_options *solve, int64_t own_bytes, situ_error *error) {
  char rule[160];
  const char *rules[64];
  instance_options own = *options;
  int32_t n = own.call.n_rules;
  if (own.rules_text || n >= (int32_t)(sizeof rules / sizeof *rules)) return SITU_STATUS_OK;
  for (int32_t k = 0; k < n; k++) rules[k] = own.call.rules[k];
  for (int round = 0; round < MAX_ROUNDS; round++) {
    streaming s = look(*plan);
    if (lacking_bytes(*plan, &s, reserved_bytes(*instance, &s) - own_bytes) == 0) break;
    int64_t bytes = sat_add(own_bytes, sat_add(s.cache_bytes, s.largest_bytes));
    snprintf(rule, sizeof rule, "reserve %.64s=%lld MiB", (*plan)->problem->platform->devices[s.main_device].name,
             (long long)(bytes / MIB + 1));
    rules[n] = rule;
    own.call.rules = rules;
    own.call.n_rules = n + 1;
    int64_t found_ns = SITU_NEVER_NS;
    situ_status status = try_again(plan, instance, &own, solve, SITU_NEVER_NS, &found_ns, error);
    if (status == SITU_STATUS_BAD_INPUT) break; /* more than its memory */
    TRY(status);
    if (found_ns == SITU_NEVER_NS) break;
  }
  return SITU_STATUS_OK;
}

/* The host alone: in *value_ns what it takes. */
static situ_status try_host(situ_plan **plan, situ_instance **instance, const instance_options *options,
                            const situ_solve_options *solve, int64_t below_ns, int64_t *value_ns, situ_error *error) {
  instance_options own = *options;
  bool auto_groups = options->call.tensor_parallel && strcmp(options->call.tensor_parallel, "auto") == 0;
  const situ_platform *m = auto_groups && (*instance)->ungrouped ? (*instance)->ungrouped : (*instance)->platform;
  if (auto_groups) own.call.tensor_parallel = NULL;
  arena *a = arena_new();
  const char **unused = a ? ARENA_NEW(a, const char *, (int64_t)m->n_devices + own.call.n_unused) : NULL;
  if (!unused) {
    arena_free(a);
    return fail_no_memory(error);
  }
  for (int32_t k = 0; k < own.call.n_unused; k++) unused[k] = own.call.unused[k];
  for (int32_t d = 0; d < m->n_devices; d++)
    if (!m->devices[d].is_host) unused[own.call.n_unused++] = m->devices[d].name;
  own.call.unused = unused;
  situ_status status =
      own.problem.unused ? SITU_STATUS_OK : try_again(plan, instance, &own, solve, below_ns, value_ns, error);
  arena_free(a);
  return status;
}

static situ_status describe(situ_instance *i, const situ_plan *plan, int64_t with_ns, int64_t host_ns,
                            int64_t own_bytes, situ_error *error) {
  streaming s = look(plan);
  char line[512], a[TEXT_UNIT_BYTES], b[TEXT_UNIT_BYTES], host[96] = "";
  const char *engine = i->options.cost.engine;
  if (host_ns < SITU_NEVER_NS) snprintf(host, sizeof host, ": %s", text_time(a, host_ns));
  if (s.main_device < 0) {
    if (!s.all || !has_accelerator(plan->problem)) return SITU_STATUS_OK;
    int n = snprintf(line, sizeof line, "%.40s computes on the CPU only where nothing is on a GPU, as in this plan",
                     engine);
    if (with_ns < SITU_NEVER_NS)
      snprintf(line + n, sizeof line - (size_t)n, "; the best one found with a GPU takes %s", text_time(a, with_ns));
    return instance_add_note(i, line, error);
  }
  const char *name = plan->problem->platform->devices[s.main_device].name;
  snprintf(
      line, sizeof line,
      "%.40s copies the weights that are on the CPU, %s, to %.64s for each forward pass and keeps their caches, %s, "
      "there; it computes on the CPU only where nothing is on a GPU%s",
      engine, text_size(a, s.weight_bytes), name, text_size(b, s.cache_bytes), host);
  TRY(instance_add_note(i, line, error));
  if (!s.all && plan_use(plan, s.main_device).n_operators == 0) {
    snprintf(line, sizeof line,
             "nothing is on %.64s, so %.40s copies to the first GPU that has something; the times are those of %.64s",
             name, engine, name);
    TRY(instance_add_note(i, line, error));
  }
  int64_t lacking = lacking_bytes(plan, &s, reserved_bytes(i, &s) - own_bytes);
  if (lacking == 0) return SITU_STATUS_OK;
  snprintf(line, sizeof line, "%.64s lacks %s for what is copied to it: this plan will not run", name,
           text_size(a, lacking));
  return instance_add_note(i, line, error);
}

/* A device_map that was priced as if another engine ran it. */
static situ_status note_other(situ_instance *i, const situ_plan *plan, situ_error *error) {
  const instance_options *o = &i->options;
  const char *runs = writer_engine(o->call.writers, o->call.n_writers);
  bool on_host = false;
  char line[256];
  for (int32_t v = 0; v < plan->n_operators; v++) on_host |= problem_is_host(plan->problem, plan->device[v]);
  if (!runs || !on_host || !o->cost.engine || strcmp(runs, o->cost.engine) == 0) return SITU_STATUS_OK;
  snprintf(line, sizeof line,
           "priced by %.40s, where the CPU computes; %.40s copies what is there to a GPU (leave --cost-engine out)",
           o->cost.engine, runs);
  return instance_add_note(i, line, error);
}

/* An accelerator that computes for hosts copies their weights first: hosts that do not see it may be faster. */
static situ_status try_hidden(situ_plan **plan, situ_instance **instance, const instance_options *options,
                              const situ_solve_options *solve, situ_error *error) {
  int64_t with_ns = (*plan)->value_ns, host_ns = SITU_NEVER_NS;
  char line[320], a[TEXT_UNIT_BYTES], b[TEXT_UNIT_BYTES];
  situ_solve_options part = *solve;
  part.n_starts = 0;
  if (part.time_limit_s > 0 || part.max_steps == 0)
    part.time_limit_s = SHARE_OF_HOSTS * (part.time_limit_s > 0 ? part.time_limit_s : PLACE_USUAL_S);
  TRY(try_host(plan, instance, options, &part, sat_round((double)with_ns / GAIN_OF_HOSTS), &host_ns, error));
  if (host_ns >= with_ns) return SITU_STATUS_OK;
  const char *engine = (*instance)->options.cost.engine ? (*instance)->options.cost.engine : "the engine";
  if ((*plan)->value_ns == host_ns)
    snprintf(
        line, sizeof line,
        "the CPU computes the prompt itself in this plan, as %.40s does where it sees no GPU: %s; with copies of its "
        "weights to a GPU the best plan found takes %s",
        engine, text_time(a, host_ns), text_time(b, with_ns));
  else
    c_locale_print(
        line, sizeof line,
        "without a GPU in sight of %.40s the CPU alone is estimated to take %s; it may take %g times as long, so "
        "measure before you hide the GPU; with a larger --ubatch weights are copied less often",
        engine, text_time(a, host_ns), GAIN_OF_HOSTS);
  return instance_add_note(*instance, line, error);
}

situ_status place_streamed(situ_plan **plan, situ_instance **instance, const instance_options *options,
                           const situ_solve_options *solve, situ_error *error) {
  int64_t host_ns = SITU_NEVER_NS, with_ns = SITU_NEVER_NS, own_bytes;
  bool pinned = options->call.fix || options->problem.pins;
  if (!plan_exists(*plan)) return SITU_STATUS_OK;
  if ((*plan)->problem->costs->offloads && !pinned) return try_hidden(plan, instance, options, solve, error);
  if (!(*plan)->problem->costs->streamed_to) return note_other(*instance, *plan, error);
  streaming s = look(*plan);
  own_bytes = reserved_bytes(*instance, &s);
  if (s.main_device >= 0 && !pinned) {
    TRY(reserve_copies(plan, instance, options, solve, own_bytes, error));
    s = look(*plan);
    bool runs = lacking_bytes(*plan, &s, reserved_bytes(*instance, &s) - own_bytes) == 0;
    if (runs && !s.all) with_ns = (*plan)->value_ns;
    TRY(try_host(plan, instance, options, solve, runs ? (*plan)->value_ns : SITU_NEVER_NS, &host_ns, error));
    if (look(*plan).main_device >= 0) with_ns = SITU_NEVER_NS;
  }
  return describe(*instance, *plan, with_ns, host_ns, own_bytes, error);
}
