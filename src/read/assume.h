/* read/assume.h - sizes for the dimensions of inputs that a model leaves open and the caller does not give. */
#ifndef SITU_READ_ASSUME_H
#define SITU_READ_ASSUME_H

#include "base/hash.h"
#include "read/reader.h"

/* An input of a model. */
typedef struct assume_input {
  situ_dtype dtype;
  int32_t rank;
  const int64_t *dims; /* -1: open */
  bool first;          /* of the inputs: those behind it are states and masks */
} assume_input;

/* The size of dimension d, which is open, by assumption `at` (the first one is 0). `name` is that of the dimension, or
 * NULL. Adds to *kinds what of the model depends on the assumption. */
int64_t assume_size(const assume_input *in, int32_t d, const char *name, int32_t at, int *kinds);

/* The assumption to try after `at`, of those that would change one of the kinds; -1 when there is none. */
int32_t assume_next(int32_t at, int kinds);

/* The sizes that the caller gives, by the name of the dimension. */
situ_status assume_given(string_map **out, const situ_read_options *options, arena *a, situ_error *error);

enum { ASSUME_NAMES = 32 };
/* BAD_ARGUMENT if the caller gives the size of a dimension that is not among `asked`: it was meant for another one.
 * `names` are the first ASSUME_NAMES of these, to suggest. */
situ_status assume_refuse_unknown(const situ_read_options *options, const string_map *asked, const char *const *names,
                                  const char *path, situ_error *error);

/* A dynamic dimension and the size that it got, since nobody gave one. */
typedef struct assumed {
  situ_dim dim;
  struct assumed *next;
  bool of_batch; /* assume_is_batch */
} assumed;

/* Whether dimension d is that of a batch, by its name or as the first. Its assumed size is no guess: one input is what
 * latency and throughput are of. */
bool assume_is_batch(const assume_input *in, int32_t d, const char *name);

/* States the guesses among assumed sizes, all but those of batches, and those of `asked` that an earlier reading
 * guessed. */
situ_status assume_state(situ_graph_builder *builder, const assumed *sizes, const situ_read_options *options,
                         const string_map *asked, situ_error *error);

/* Keeps assumed sizes other than 1 in the result, the last of the list first. Sizes by the caller's default are not
 * assumed, so none of them is kept. */
situ_status assume_keep(read_result *result, const assumed *sizes, const situ_read_options *options, situ_error *error);

#endif
