/* report/plan_row.h - what rows about plans of language models have in common: speed, the fullest memory, layers. */
#ifndef SITU_REPORT_PLAN_ROW_H
#define SITU_REPORT_PLAN_ROW_H

#include "report/rates.h"

enum { PLAN_ROW_LAYERS_BYTES = 160 };

typedef struct plan_row {
  token_rates rates;
  char decode[TEXT_UNIT_BYTES], prefill[TEXT_UNIT_BYTES]; /* "-" where the rate is unknown */
  double fullest;                                         /* the share of its memory that the fullest device uses */
  const char *fullest_device;                             /* NULL if all are empty */
  char layers[PLAN_ROW_LAYERS_BYTES];                     /* "gpu0 30, gpu1 18": by device, in their order */
} plan_row;

/* Beside a goal in tokens per second, or 0. Without a plan (NULL, or one without a placement) everything is empty. */
plan_row plan_row_of(const situ_plan *plan, const situ_model *model, double goal_tokens_per_s);
void plan_row_layers(char into[PLAN_ROW_LAYERS_BYTES], const situ_plan *plan);

#endif
