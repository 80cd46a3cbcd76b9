/* check/model_rules.h - the rules of the execution models: one row for each model, in a file of its own, of which
 * check/check.c picks that of a problem; and what several rules use. */
#ifndef SITU_CHECK_MODEL_RULES_H
#define SITU_CHECK_MODEL_RULES_H

#include "check/judge.h"

typedef struct model_rule {
  situ_execution execution;
  /* Notes every rule of the model that the plan breaks. The plan's devices are in range. NO_MEMORY or OK. */
  situ_status (*check)(judge *j, situ_error *error);
} model_rule;

/* The table of execution models: one file that exports NAME_model_rule, and one line here. */
#define MODEL_RULE_ROWS(ROW) \
  ROW(stream)                \
  ROW(calls)                 \
  ROW(pipeline)
#define MODEL_RULE_DECLARE(NAME) extern const model_rule NAME##_model_rule;
MODEL_RULE_ROWS(MODEL_RULE_DECLARE)

/* stream: the period of the placement, which is the maximum load of a device or channel when inputs follow each
 * other. */
situ_status check_period(judge *j, int64_t *period_ns, situ_error *error);

/* calls, pipeline: what each memory has to hold of the operators on its devices, in the scratch arena. kept[device]:
 * the inputs that it keeps; NULL for one each. shared[device]: how many run its part; NULL: it alone. */
situ_status check_static_memory(judge *j, const int64_t *kept, const int32_t *shared, int64_t **memory_bytes,
                                situ_error *error);
/* The same of a placement on a single device. */
situ_status check_memory_alone(judge *j, int64_t **memory_bytes, situ_error *error);

/* Schedules with several chunks on each device (docs/model.md, "Chunks"): notes a placement whose operators have no
 * chunks in order. Else adds to stash_bytes ([memory]) what each device keeps at its worst time. NO_MEMORY or OK. */
situ_status check_chunks(judge *j, int64_t *stash_bytes, situ_error *error);

/* A transfer of a tensor to a memory: when its first hop ends, its last starts, its last ends. */
typedef struct check_copy {
  int32_t tensor, to_memory;
  int64_t left_ns, came_ns, arrived_ns;
} check_copy;

/* Memory over time in a stream plan: fills peak_bytes[memory]. NO_MEMORY or OK. */
situ_status check_stream_memory(judge *j, const check_copy *copies, int32_t n_copies, int64_t *peak_bytes,
                                situ_error *error);

/* Recomputes the best single device and compares it with the plan. NO_MEMORY or OK. */
situ_status check_single(judge *j, situ_error *error);

#endif
