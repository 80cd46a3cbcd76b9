/* situ/size.h - the smallest platform that meets a goal: candidates are tried one after the other, the cheapest first.
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
  const char *platforms; /* the candidates, names as for situ_platform_read joined by commas; NULL: a list built in */
  const char *prices;    /* a file of prices per hour (docs/size.md), or NULL */
  const situ_solve_options *solve; /* for each candidate; NULL, and without limits: about 2 s */
  bool all;                        /* go on after the first that meets the goal */
  bool reserved[7];                /* false */
} situ_size_options;
#define SITU_SIZE_OPTIONS_INIT SITU_SIZED(situ_size_options)

typedef enum situ_size_finding {
  SITU_SIZE_MET = 0,   /* a plan meets the goal */
  SITU_SIZE_MISSED,    /* no plan that was found does */
  SITU_SIZE_IMPOSSIBLE /* proved, by a checked certificate or a conflict of the problem: no plan can */
} situ_size_finding;

/* One candidate that was tried. Closed: it never grows. */
typedef struct situ_size_row {
  const char *platform; /* "" past the end */
  const char *reason;   /* why there is no plan; "" otherwise */
  situ_size_finding finding;
  int64_t value_ns;          /* of the plan found; SITU_NEVER_NS without one, and where none was searched */
  int64_t lower_bound_ns;    /* of every plan */
  double tokens_per_second;  /* of language models; 0: not known */
  double price;              /* per hour; negative: not known */
  double price_of_a_million; /* tokens; negative: not known */
} situ_size_row;

/* Tries the candidates by rising price, or without prices by rising number of devices, then total memory, up to the
 * first that meets the goal. Where the bounds prove that a candidate cannot, it is not searched. `instance` names the
 * model and all else; its platform is not used. The objective follows the goal: latency, throughput for a period, and
 * for tokens that of the caller. Tokens per second are those generated, of all streams together, over the whole time of
 * the request, the prompt included; those of the prompt where none are generated.
 *
 * With prices, candidates built in that have none are left out. BAD_ARGUMENT for a goal that is none, for one that
 * contradicts the objective, for tokens of what is no language model and for a candidate that is no platform.
 * BAD_INPUT for a file of prices that is malformed, or lacks the price of a candidate that was named. When the progress
 * callback says so it stops with the candidates so far. */
SITU_API situ_status situ_size(situ_sizing **out, const situ_instance_options *instance,
                               const situ_size_options *options, situ_error *error);
SITU_API void situ_sizing_free(situ_sizing *sizing);
SITU_API int32_t situ_sizing_count(const situ_sizing *sizing); /* candidates that were tried */
SITU_API situ_size_row situ_sizing_at(const situ_sizing *sizing, int32_t index);
/* The first that meets the goal, or -1. */
SITU_API int32_t situ_sizing_answer(const situ_sizing *sizing);

#ifdef __cplusplus
}
#endif
#endif
