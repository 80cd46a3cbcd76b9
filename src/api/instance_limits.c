/* Limits of a language model on one kind of step while the other is what counts: time to first token, and speed of
 * decoding. */

#include <string.h>

#include "api/instance.h"
#include "base/checked.h"
#include "base/fail.h"
#include "base/json.h"
#include "cost/cost_models.h"
#include "read/reader.h"

/* Which steps the limit is on: 0, those of the model's graph, or 1; -1: there is none. */
static int limited_kind(const situ_instance *i) {
  int prefill = i->model->steps.prefill_first ? 0 : 1;
  return i->options.call.max_ttft_ns > 0 ? prefill : i->options.call.min_speed > 0 ? 1 - prefill : -1;
}

/* Hand-overs that were measured are those of both kinds of steps, times of operators those of one unless both are
 * named. */
static situ_status refuse_times(const char *path, const char *name, situ_error *error) {
  json_value *table;
  size_t n = strlen(path);
  bool is_csv = !cost_tables_are_several(path) && n > 4 && strcmp(path + n - 4, ".csv") == 0;
  if (!is_csv)
    TRY(cost_tables_are_several(path) ? cost_tables_join(&table, path, error) : json_read(&table, path, error));
  bool times = is_csv || !cost_table_is_by_step(table);
  if (!is_csv) json_free(table);
  if (!times) return SITU_STATUS_OK;
  return fail_with(
      error, SITU_STATUS_BAD_ARGUMENT, path,
      "%s needs the times of both decoding and the prompt, but operator times in a cost table apply to "
      "one of them; give a JSON table with times of both (situ profile of a GGUF file), or whose \"operators\" is {}",
      name);
}

static situ_status refuse(const situ_instance *i, situ_error *error) {
  const instance_options *o = &i->options;
  const char *name = o->call.max_ttft_ns > 0 ? "a limit on time to first token" : "a minimum speed";
  if (o->call.max_ttft_ns > 0 && o->call.min_speed > 0)
    return fail_with(
        error, SITU_STATUS_BAD_ARGUMENT, NULL,
        "time to first token and speed of decoding cannot both be limited, because one of them is the objective");
  if (!i->model->steps.other)
    return fail_with(error, SITU_STATUS_BAD_ARGUMENT, o->call.model, "%s needs a language model", name);
  return o->cost.table_path ? refuse_times(o->cost.table_path, name, error) : SITU_STATUS_OK;
}

situ_status instance_take_limits(situ_instance *i, situ_error *error) {
  int limited = limited_kind(i);
  read_steps *s = &i->model->steps;
  if (limited < 0) return SITU_STATUS_OK;
  TRY(refuse(i, error));
  s->repeats[limited] = 0;
  s->repeats[1 - limited] = s->whole[1 - limited];
  if (!i->options.problem.overlap) i->options.problem.overlap = SITU_OVERLAP_NONE;
  return SITU_STATUS_OK;
}

situ_status instance_estimate_secondary(situ_costs **out, const situ_instance *i, const situ_platform *platform,
                                        situ_error *error) {
  const read_steps *s = &i->model->steps;
  int limited = limited_kind(i);
  *out = NULL;
  if (limited < 0) return SITU_STATUS_OK;
  int64_t repeats = i->options.call.max_ttft_ns > 0 ? s->whole[limited] : 1;
  const cost_step steps[] = {{i->model->graph, limited == 0 ? repeats : 0, s->prefill_first},
                             {s->other, limited == 1 ? repeats : 0, !s->prefill_first}};
  return costs_estimate(out, steps, 2, platform, &i->options.cost, i->rules, &i->scene, error);
}

void instance_limit(situ_problem_options *posed, const situ_instance *i, const situ_costs *other) {
  int limited = limited_kind(i);
  if (limited < 0) return;
  const instance_options *o = &i->options;
  double step_ns = o->call.min_speed > 0 ? 1e9 * i->model->steps.tokens[limited] / o->call.min_speed : 0;
  posed->secondary_costs = other;
  posed->max_secondary_ns = o->call.max_ttft_ns > 0 ? o->call.max_ttft_ns : max64(1, sat_round(step_ns - 0.5));
  posed->secondary_name = o->call.max_ttft_ns > 0 ? "time to first token" : "time of a decoding step";
}
