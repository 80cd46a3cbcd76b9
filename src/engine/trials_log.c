/* The log of trials: writes and reads JSON. */
#include <stdio.h>
#include <stdlib.h>

#include "base/fail.h"
#include "engine/trials.h"

static json_value *trial_log(const trial *one) {
  char hash[24];
  snprintf(hash, sizeof hash, "%016llx", (unsigned long long)one->hash);
  return JSON_OBJECT({"hash", json_new_text(hash)}, {"times_ns", json_new_ints(one->times_ns, one->n)},
                     {"reference_ns", json_new_ints(one->reference_ns, one->n)}, {"why", json_new_text(one->why)});
}

json_value *trials_log(const trials *t) {
  json_value *list = json_new_array(), *final = json_new_array();
  bool ok = list && final;
  for (int32_t i = 0; ok && i < t->n; i++) ok = json_push(list, trial_log(&t->all[i]));
  for (int32_t k = 0; ok && k < t->n_lanes; k++)
    ok = json_push(final, json_new_ints(t->lanes[k].times_ns, t->lanes[k].n));
  json_value *root = JSON_OBJECT({"situ_trials", json_new_int(1)}, {"engine", json_new_text(t->engine)},
                                 {"budget", json_new_int(t->budget)}, {"trials", list}, {"final_ns", final});
  return json_if(ok, root);
}

static situ_status bad(const trials *t, const char *text, situ_error *error) {
  return fail_with(error, SITU_STATUS_BAD_INPUT, t->m.options.replay, "%s", text);
}

situ_status trials_log_take(trial *one, const trials *t, int32_t entry, situ_error *error) {
  const json_value *o = json_at(json_get(t->log, "trials"), (size_t)entry);
  const json_value *times = json_get(o, "times_ns"), *reference = json_get(o, "reference_ns");
  if (json_int(json_get(t->log, "situ_trials"), 0) != 1) return bad(t, "is not a log of measured trials", error);
  if (!o) return bad(t, "ends before the training", error);
  if (strtoull(json_text(json_get(o, "hash"), "0"), NULL, 16) != one->hash)
    return bad(t, "has another placement at this point; repeat the training with the same options and seed", error);
  if (json_size(times) > TRIALS_MAX_ROUNDS || json_size(times) != json_size(reference))
    return bad(t, "has a trial of too many rounds", error);
  one->n = (int32_t)json_size(times);
  for (int32_t i = 0; i < one->n; i++) {
    one->times_ns[i] = measure_logged_ns(times, i);
    one->reference_ns[i] = measure_logged_ns(reference, i);
    if (one->times_ns[i] < 1 || one->reference_ns[i] < 1)
      return bad(t, "has a trial with a time that is no whole number from 1 to 2^54", error);
  }
  one->why = arena_string(t->arena, json_text(json_get(o, "why"), ""));
  if (!one->why) return fail_no_memory(error);
  return one->n > 0 || *one->why ? SITU_STATUS_OK : bad(t, "has a trial without a time", error);
}

situ_status trials_log_final(int64_t *time_ns, const trials *t, int32_t lane, int32_t round, situ_error *error) {
  const json_value *times = json_at(json_get(t->log, "final_ns"), (size_t)lane);
  if (json_size(times) <= (size_t)round) return bad(t, "ends before the final race", error);
  *time_ns = measure_logged_ns(times, round);
  return *time_ns > 0 ? SITU_STATUS_OK
                      : bad(t, "has a time of the final race that is no whole number from 1 to 2^54", error);
}
