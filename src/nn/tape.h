/* nn/tape.h - reverse-mode differentiation: functions (nn/functions.h) compute at once and leave a record,
 * tape_backward goes through the records from the last to the first.
 *
 * Everything is a matrix of rows x cols numbers, row major; a row is an operator, a device, an edge. A variable is the
 * number of a record. All memory belongs to the tape; tape_reset forgets the records and keeps the memory, so that
 * after the first steps of a training run nothing is allocated any more.
 *
 * Where memory runs out a function gives NN_NONE, functions of NN_NONE give NN_NONE, and tape_backward says so: callers
 * check once. */
#ifndef SITU_NN_TAPE_H
#define SITU_NN_TAPE_H

#include <stddef.h>

#include "nn/gemm.h"

typedef struct tape tape;
typedef int32_t nn_var;
enum { NN_NONE = -1, NN_MAX_INPUTS = 5 };

/* A view of a variable. `grad` is NULL where no gradient is wanted (constants, and before tape_backward). */
typedef struct nn_matrix {
  int32_t rows, cols;
  nn_real *value, *grad;
} nn_matrix;

/* A new tape, or NULL. */
tape *tape_new(void);
void tape_free(tape *t);
void tape_reset(tape *t);
/* Memory held from the system, in bytes. */
size_t tape_held_bytes(const tape *t);

nn_matrix tape_at(const tape *t, nn_var v);
/* The only number of a 1 x 1 variable. */
nn_real tape_number(const tape *t, nn_var v);

/* A constant; the numbers are borrowed until the tape is reset. */
nn_var tape_constant(tape *t, int32_t rows, int32_t cols, const nn_real *values);
/* A leaf whose gradient is wanted: backward adds to `grad`. Both are borrowed (nn/params.h holds parameters). */
nn_var tape_leaf(tape *t, int32_t rows, int32_t cols, const nn_real *values, nn_real *grad);

/* Adds d(loss)/d(leaf) to the gradient of every leaf; `loss` is 1 x 1. False when memory ran out since the reset. */
bool tape_backward(tape *t, nn_var loss);

/* ---- For functions ---- */

/* The backward pass of a function: it adds to the gradients of its inputs, using that of its output. An input with a
 * NULL gradient is skipped. */
typedef void tape_backward_fn(tape *t, nn_matrix out, const nn_matrix *in, const void *extra);

/* A record of a function of n_inputs variables; its value is for the caller to fill. `extra` is kept as it is. */
nn_var tape_record(tape *t, int32_t rows, int32_t cols, const nn_var *inputs, int32_t n_inputs,
                   tape_backward_fn *backward, const void *extra);
/* Memory until the reset, aligned for any type; NULL when it runs out, which the tape remembers. */
void *tape_alloc(tape *t, int64_t count, size_t size);

#define TAPE_NEW(tape, type, count) ((type *)tape_alloc((tape), (count), sizeof(type)))

#endif
