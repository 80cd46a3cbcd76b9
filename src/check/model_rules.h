/* check/model_rules.h - the rules of the execution models: one row for each model, in a file of its own. check/check.c
 * picks the row of a problem. */
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

#endif
