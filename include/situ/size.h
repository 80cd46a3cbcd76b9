/* situ/size.h - the smallest platform that meets a goal: candidates are tried sequentially, the cheapest first.
 *
 * A sizing is frozen: any number of threads may read it. Its texts belong to it. */
#ifndef SITU_SIZE_H
#define SITU_SIZE_H

#include "situ/instance.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct situ_sizing situ_sizing;

typedef struct situ_size_options {
  size_t size;
  const char *goal;      /* "latency<=50ms", "period<=2ms" or "tokens/s>=20"; units of time: ns, us, ms, s */
  const char *platforms; /* the candidates: names as for situ_platform_read, separated by commas; NULL: a built-in
                            list */
  const char *prices;    /* a file of prices per hour (docs/size.md), or NULL */
  bool all;              /* continue after the first that meets the goal */
  const situ_solve_options *solve; /* for each candidate; about 2 s each if NULL or without limits */
} situ_size_options;
#define SITU_SIZE_OPTIONS_INIT SITU_SIZED(situ_size_options)

typedef enum situ_size_finding {
  SITU_SIZE_MET = 0,   /* a plan meets the goal */
  SITU_SIZE_MISSED,    /* no plan that was found meets the goal */
  SITU_SIZE_IMPOSSIBLE /* a checked certificate or a conflict of the problem proves that no plan can meet it */
} situ_size_finding;

/* One candidate that was tried. Closed: it never grows. */
typedef struct situ_size_row {
  const char *platform; /* "" past the end */
  const char *reason;   /* why there is no plan; "" otherwise */
  situ_size_finding finding;
  int64_t value_ns;          /* of the plan found; SITU_NEVER_NS if none was found or none was searched for */
  int64_t lower_bound_ns;    /* valid for every plan */
  double tokens_per_second;  /* for language models; 0: unknown */
  double price;              /* per hour; negative: unknown */
  double price_of_a_million; /* price of a million tokens; negative: unknown */
} situ_size_row;

/* Tries the candidates by rising price or, without prices, by rising number of devices, then total memory, up to the
 * first that meets the goal. A candidate that cannot meet it by the bounds alone is not searched. `instance` names the
 * model and all options; its platform is ignored. The objective follows the goal: latency, throughput for a period, and
 * the caller's for tokens. Tokens per second are the tokens generated, summed over all streams, divided by the time of
 * the whole request, including the prompt. If no tokens are generated, those of the prompt count instead.
 *
 * With prices, built-in candidates that have none are skipped. BAD_ARGUMENT for a malformed goal, for one that
 * contradicts the objective, for a goal in tokens if the model is not a language model, and for a candidate that is not
 * a platform. BAD_INPUT for a price file that is malformed or lacks the price of a named candidate. If the progress
 * callback returns true, the search stops and returns the candidates tried so far. */
SITU_API situ_status situ_size(situ_sizing **out, const situ_instance_options *instance,
                               const situ_size_options *options, situ_error *error);
SITU_API void situ_sizing_free(situ_sizing *sizing);
SITU_API int32_t situ_sizing_count(const situ_sizing *sizing); /* candidates tried */
SITU_API situ_size_row situ_sizing_at(const situ_sizing *sizing, int32_t index);
/* The index of the first candidate that meets the goal, or -1. */
SITU_API int32_t situ_sizing_answer(const situ_sizing *sizing);

#ifdef __cplusplus
}
#endif
#endif
