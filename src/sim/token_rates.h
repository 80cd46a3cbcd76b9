/* sim/token_rates.h - tokens per second of plans for language models. */
#ifndef SITU_SIM_TOKEN_RATES_H
#define SITU_SIM_TOKEN_RATES_H

#include "plan/plan.h"
#include "problem/problem.h"
#include "read/reader.h"

/* Tokens a second, of all streams together; 0 where it is not known. */
typedef struct token_rates {
  double decode, prefill;
  double sequential; /* prefill if its micro-batches did not overlap on the devices; 0 where they do not */
  int64_t ttft_ns;   /* the time of the prompt, at the rate of prefill; 0 likewise */
} token_rates;

/* The main rate: of decoding if tokens are generated, else of prefill; 0 if unknown. */
double token_rates_main(token_rates rates, const situ_model *model);

/* All 0 if the model is not a language model, and without a plan. */
token_rates token_rates_of(const situ_plan *plan, const situ_model *model);

#endif
