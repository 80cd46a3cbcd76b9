/* engine/trials.h - placements measured sequentially on an engine, as the reward of a learning search.
 *
 * Everything on one device is measured first; the fastest of these, the reference, stays loaded. A trial is loaded and
 * alternates with the reference; its result is the median of its times relative to those of the reference, so that a
 * slowdown of the machine affects both. It ends early once it has lost every round to the best so far, whose median it
 * is then unlikely to reach (rounds: engine/race.h). Each distinct placement counts as one measurement; a repeated one
 * keeps its time.
 *
 * Placements that the engine rejects have SITU_NEVER_NS. The log has every time; replaying it reproduces the same
 * search bit by bit, without an engine. */
#ifndef SITU_ENGINE_TRIALS_H
#define SITU_ENGINE_TRIALS_H

#include "engine/measure.h"

enum { TRIALS_MAX_ROUNDS = 64, TRIALS_FINAL = 3 };

typedef struct trial {
  uint64_t hash;
  int32_t *device, *order; /* [operator]; order: NULL where it is that of the operators */
  int32_t n;               /* rounds */
  int64_t *times_ns, *reference_ns;
  double ratio;    /* median of times by those of the reference */
  int64_t time_ns; /* ratio * time of the reference; SITU_NEVER_NS: refused */
  const char *why; /* the message of the engine then, else "" */
} trial;

typedef struct trials {
  arena *arena;
  measuring m;
  const situ_problem *problem;
  const char *model, **names;
  char engine[2 * MEASURE_NAME_BYTES];
  model_file *file;
  model_parts *reference_parts;
  executor *reference;
  trial *all;                                       /* [budget]; the first ones are of one device each */
  int32_t n, budget, n_again, n_idle, single, best; /* n_idle: repeated placements since the last new one */
  int64_t single_ns;                                /* of all[single], the reference */
  race_lane *lanes; /* [1 + TRIALS_FINAL] the last race: the reference, then the best distinct others */
  int32_t lane_trial[1 + TRIALS_FINAL], n_lanes;
  json_value *log; /* to replay; NULL: measure */
  bool over;       /* the budget is spent, no new placements come, or there was a failure */
  situ_error failure;
  situ_status status;
} trials;

/* Starts the engine (or reads options->replay) and measures the single devices. ENGINE, UNSUPPORTED where none runs.
 * `t` must not move; end it with trials_end, after failures too. */
situ_status trials_begin(trials *t, const situ_problem *problem, const char *model, int32_t budget,
                         const measure_options *options, situ_error *error);
/* The time of a placement that fits its memories. After a failure, or when the budget is spent, SITU_NEVER_NS and
 * `over`. */
int64_t trials_time(trials *t, const placement *where);
/* Races the best few against the reference: all[best] is then the fastest. */
situ_status trials_race(trials *t, situ_error *error);
/* Writes options->log, whatever happened before. */
situ_status trials_write(const trials *t, situ_error *error);
void trials_end(trials *t);

/* ---- engine/trials_log.c ---- */

/* Takes the next entry of the log: that of the trial, whose hash must be there. */
situ_status trials_log_take(trial *one, const trials *t, int32_t entry, situ_error *error);
/* Time `round` of lane `lane` of the last race. */
situ_status trials_log_final(int64_t *time_ns, const trials *t, int32_t lane, int32_t round, situ_error *error);
/* NULL without memory. */
json_value *trials_log(const trials *t);

#endif
