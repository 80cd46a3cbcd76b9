/* situ/fit.h - what fits on a platform: the longest context or the most streams of a language model, the largest batch
 * of any model.
 *
 * A fitting is frozen: any number of threads may read it. Its texts, plans and models belong to it. */
#ifndef SITU_FIT_H
#define SITU_FIT_H

#include "situ/instance.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum situ_fit_quantity {
  SITU_FIT_CONTEXT = 0, /* tokens that a cache holds, in steps of 256 */
  SITU_FIT_BATCH        /* parallel streams, each with a cache of its own; of other models, inputs of a step */
} situ_fit_quantity;
/* "context", "batch"; "unknown" for any other value. Static storage. */
SITU_API const char *situ_fit_quantity_name(situ_fit_quantity quantity);

typedef struct situ_fit_options {
  size_t size;
  situ_fit_quantity quantity;
  int64_t max; /* the largest amount to try; 0: the context that the model was trained for, else 131072 tokens; 1024
                  streams */
  const char *goal; /* what a plan must also meet: "tokens/s>=20" (of a context), "latency<=50ms", "period<=2ms"; NULL:
                       that it fits */
  const situ_solve_options *solve; /* for each amount; about 1 s each if NULL or without limits */
} situ_fit_options;
#define SITU_FIT_OPTIONS_INIT SITU_SIZED(situ_fit_options)

typedef enum situ_fit_finding {
  SITU_FIT_FITS = 0,  /* a checked plan keeps all memories and the goal */
  SITU_FIT_MISSED,    /* no such plan was found */
  SITU_FIT_IMPOSSIBLE /* it is proved that there is none */
} situ_fit_finding;

/* One amount that was tried. Closed: it never grows. */
typedef struct situ_fit_row {
  int64_t amount; /* 0 past the end */
  situ_fit_finding finding;
  const situ_plan *plan;   /* NULL if none was found */
  const situ_model *model; /* of that amount */
  const char *reason;      /* why there is no plan; "" otherwise */
} situ_fit_row;

typedef struct situ_fitting situ_fitting;

/* Doubles the amount from 4096 tokens (or 1 stream) until nothing fits or `max` is reached, then halves the distance
 * between what fits and what does not. More never needs less memory and is never faster, so the answer is the largest
 * amount unless a search missed a plan; whether the next amount is proved impossible says which. The rest of the
 * options, such as the prompt, stays as it is. BAD_ARGUMENT if the model has no context or no batch (of a file that is
 * no language model, a dynamic dimension called batch, batch_size, N, n, bs or B), for a malformed goal, and for a goal
 * in tokens of a batch. options may be NULL. If the progress callback returns true, the amounts tried so far are the
 * result.
 */
SITU_API situ_status situ_fit(situ_fitting **out, const situ_instance_options *instance,
                              const situ_fit_options *options, situ_error *error);
SITU_API void situ_fitting_free(situ_fitting *fitting);
SITU_API int32_t situ_fitting_count(const situ_fitting *fitting);
/* Rows by rising amount. */
SITU_API situ_fit_row situ_fitting_at(const situ_fitting *fitting, int32_t index);
/* The row of the largest amount that fits, or -1. */
SITU_API int32_t situ_fitting_answer(const situ_fitting *fitting);

/* The bytes of the weights of the model. */
SITU_API int64_t situ_fitting_weight_bytes(const situ_fitting *fitting);

/* What is found of an amount that need not have been tried, since what fits a larger one fits it, too; 0: of any
 * amount. MISSED for NULL. */
SITU_API situ_fit_finding situ_fitting_finding(const situ_fitting *fitting, int64_t amount);
/* Of fittings of several files, as of quantisations of one model, the one of the most bytes that fits the amount, or
 * -1. */
SITU_API int32_t situ_fitting_largest(const situ_fitting *const *fittings, int32_t n, int64_t amount);

#ifdef __cplusplus
}
#endif
#endif
