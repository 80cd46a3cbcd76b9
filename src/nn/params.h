/* nn/params.h - the numbers that are learned: parameters, their gradients, and the state of Adam, with checkpoints. */
#ifndef SITU_NN_PARAMS_H
#define SITU_NN_PARAMS_H

#include "base/arena.h"
#include "base/rng.h"
#include "nn/tape.h"
#include "situ/error.h"

typedef struct params params;

/* An empty set; everything lives in the arena. NULL without memory. */
params *params_new(arena *a);
/* How a new parameter is drawn: 0, 1, or uniform as Glorot and Bengio, AISTATS 2010. */
typedef enum params_start { PARAMS_ZERO, PARAMS_ONE, PARAMS_GLOROT } params_start;
/* Adds a parameter; gives its number, -1 without memory. `name` is kept, and unique. */
int32_t params_add(params *p, const char *name, int32_t rows, int32_t cols, params_start start, rng *random);
int32_t params_count(const params *p);
/* The number of numbers. */
int64_t params_size(const params *p);
nn_matrix params_at(const params *p, int32_t number);

/* A parameter as a variable of a tape. */
nn_var params_var(const params *p, int32_t number, tape *t);
void params_clear_gradients(params *p);
/* Scales all gradients so that their norm together is at most `most`; returns the norm that they had. */
double params_clip(params *p, double max);
/* A step of Adam (Kingma and Ba, ICLR 2015; 0.9, 0.999, 1e-8). */
void params_step(params *p, double rate);
int64_t params_n_steps(const params *p);
/* Forgets the state of Adam, so that the next step is the first. */
void params_restart(params *p);

/* ---- Checkpoints ---- */

/* Writes all parameters, the state of Adam (once it made a step) and `n_notes` bytes of the caller (the state that a
 * training run needs to continue bit-identically) to a file, completely or not at all. `kind` names the model of the
 * parameters. */
situ_status params_write(const params *p, const char *kind, const void *notes, int64_t n_notes, const char *path,
                         situ_error *error);
/* Reads them back into a set of the same kind, names and shapes; *notes (in the arena) are the caller's bytes.
 * BAD_INPUT if the file is not a checkpoint, is truncated or changed, or has another version, kind or shape; the set is
 * then unchanged. */
situ_status params_read(params *p, const char *kind, const void **notes, int64_t *n_notes, arena *a, const char *path,
                        situ_error *error);
/* The same from memory; errors name `where`. */
situ_status params_read_bytes(params *p, const char *kind, const void **notes, int64_t *n_notes, arena *a,
                              const unsigned char *bytes, int64_t size, const char *where, situ_error *error);

#endif
