/* ops/kind.h - internals of the operator table: its rows, and their shared functions.
 *
 * A family is one file kinds_*.c with one table of rows; ops.c lists the families. To add a kind, add a row; most of
 * the functions that it needs are already here. */
#ifndef SITU_OPS_KIND_H
#define SITU_OPS_KIND_H

#include "base/arena.h"
#include "base/checked.h"
#include "base/fail.h"
#include "ops/node.h"

typedef struct ops_kind ops_kind;

/* One call of ops_infer: handed through all functions. */
typedef struct kind_call {
  const ops_node *node;
  const ops_kind *row;
  arena *a;
  situ_error *error;
} kind_call;

typedef situ_status (*kind_infer_fn)(const kind_call *c);
/* Sets or adds to `work`, which holds 0 FLOPs and the bytes of all inputs and outputs. */
typedef void (*kind_count_fn)(const ops_node *node, const ops_kind *row, ops_work *work);

enum {
  KIND_RANDOM = 1,      /* outputs differ from run to run, even of constant inputs */
  KIND_OF_OUTPUT = 2,   /* computes in the type of its first output (else: of its first input) */
  KIND_QUANTISED = 4,   /* computes in I8 */
  KIND_NOT_TENSORS = 8, /* reads or makes sequences, maps or strings: bytes are a floor */
};

struct ops_kind {
  const char *domain, *kind;
  kind_infer_fn infer; /* NULL: nothing can be said */
  kind_count_fn count; /* NULL: kind_count_each */
  int cost;            /* FLOPs per element, if `count` counts elements */
  int tag;             /* which of the kinds that share `infer`, in terms of that family */
  unsigned flags;
};

typedef struct ops_family {
  const ops_kind *rows;
  int32_t n;
} ops_family;

/* The table of families: one file that exports ops_family_NAME, and one line here. */
#define OPS_FAMILY_ROWS(ROW) \
  ROW(view)                  \
  ROW(elementwise)           \
  ROW(matmul)                \
  ROW(window)                \
  ROW(move)                  \
  ROW(reduce)                \
  ROW(normalise)             \
  ROW(generate)              \
  ROW(image)                 \
  ROW(signal)                \
  ROW(recurrent)             \
  ROW(attention)             \
  ROW(quantise)              \
  ROW(training)              \
  ROW(ml)                    \
  ROW(sequence)              \
  ROW(gather)
#define OPS_FAMILY_DECLARE(NAME) extern const ops_family ops_family_##NAME;
OPS_FAMILY_ROWS(OPS_FAMILY_DECLARE)

#define KIND_ONNX ""
#define KIND_MS "com.microsoft"
#define KIND_ML "ai.onnx.ml"

/* ---- Inputs ---- */

/* Input i, or NULL when it is left out. */
const ops_tensor *kind_in(const ops_node *node, int32_t i);
/* Its type, UNKNOWN when left out. */
situ_dtype kind_in_dtype(const ops_node *node, int32_t i);
/* Rank; -1 also for NULL. Dimension (axis < 0 counts from the end), -1 if unknown or if there is no such axis. */
int32_t kind_rank(const ops_tensor *t);
int64_t kind_dim(const ops_tensor *t, int32_t axis);
/* The elements when all dimensions are known and there are at most OPS_MAX_VALUES, else -1. */
int64_t kind_small(const ops_tensor *t);
/* The same from dimensions; rank -1 gives -1. */
int64_t kind_volume(int32_t rank, const int64_t *dims);
/* All elements known: the array and its length; else NULL and 0. */
const int64_t *kind_ints(const ops_tensor *t, int64_t *n);
/* The only element of a tensor, when known. */
bool kind_scalar_int(const ops_tensor *t, int64_t *value);
bool kind_scalar_real(const ops_tensor *t, double *value);
/* A list that is an attribute in old operator sets and an input in new ones. *present: given in either way. NULL with
 * *present: not known. */
const int64_t *kind_list(const ops_node *node, const char *attr, int32_t input, int64_t *n, bool *present);
/* The type that attribute `name` states, or `otherwise`. */
situ_dtype kind_dtype_attr(const ops_node *node, const char *name, situ_dtype default_value);
bool kind_is_real(situ_dtype dtype);

/* ---- What can be wrong: BAD_INPUT with the kind in front ---- */

situ_status kind_fail(const kind_call *c, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* An attribute that is there must be of this type. */
situ_status kind_need_type(const kind_call *c, const char *name, ops_attr_type type);
/* The integers of an attribute, which must be `n` in number when they are there (n < 0: any); NULL when absent. */
situ_status kind_need_ints(const kind_call *c, const char *name, int64_t n, const int64_t **values);
/* Makes an axis of -rank .. rank-1 one of 0 .. rank-1: that given, or the attribute of this name. */
situ_status kind_axis(const kind_call *c, int64_t axis, int32_t rank, int32_t *out);
situ_status kind_axis_attr(const kind_call *c, int64_t default_value, int32_t rank, int32_t *out);
/* The axes of a list as flags[rank]; fails on axes out of range or named twice. */
situ_status kind_axes(const kind_call *c, const int64_t *axes, int64_t n, int32_t rank, bool *flags);
/* The rank of an input must be this when known. */
situ_status kind_need_rank(const kind_call *c, int32_t input, int32_t rank);
/* Two dimensions that must agree: *both is their common value as far as known. */
situ_status kind_same(const kind_call *c, int64_t x, int64_t y, const char *what, int64_t *both);

/* ---- Outputs ---- */

/* Output i: type (UNKNOWN: unchanged) and shape (rank -1: unchanged). Declarations of the file fill in unknown values;
 * where they differ, inference wins. No-op if there is no such output. */
situ_status kind_put(const kind_call *c, int32_t i, situ_dtype dtype, int32_t rank, const int64_t *dims);
situ_status kind_put_like(const kind_call *c, int32_t i, situ_dtype dtype, const ops_tensor *shape);
situ_status kind_put_scalar(const kind_call *c, int32_t i, situ_dtype dtype);
situ_status kind_put_1d(const kind_call *c, int32_t i, situ_dtype dtype, int64_t n);
/* Space for the values of output i, whose shape is already set: exactly one of the pointers is set, by the output's
 * type; both NULL if values cannot be tracked. *n is their number. */
situ_status kind_values(const kind_call *c, int32_t i, int64_t **ints, double **reals, int64_t *n);
/* The values of output i are those of `t` in the same order / those at source[k]. No-op where not known. */
situ_status kind_keep_values(const kind_call *c, int32_t i, const ops_tensor *t);
situ_status kind_pick_values(const kind_call *c, int32_t i, const ops_tensor *t, const int64_t *source);
/* The same for element offset + sum of index[d] * strides[d] over the shape of output i. */
situ_status kind_stride_values(const kind_call *c, int32_t i, const ops_tensor *t, int64_t offset,
                               const int64_t *strides);
/* Row-major strides of known dimensions. */
void kind_strides(int32_t rank, const int64_t *dims, int64_t *strides);

/* numpy's broadcasting of n tensors; *rank -1 when a rank is unknown. NULL tensors are skipped. */
situ_status kind_broadcast(const kind_call *c, const ops_tensor *const *tensors, int32_t n, int64_t *dims,
                           int32_t *rank);

/* ---- Rules that many kinds share ---- */

situ_status kind_infer_same(const kind_call *c);      /* output 0 as input 0 */
situ_status kind_infer_each_same(const kind_call *c); /* output i as input i */
situ_status kind_infer_bool(const kind_call *c);      /* shape of input 0, boolean */
situ_status kind_infer_float(const kind_call *c);     /* shape of input 0, F32 */
situ_status kind_infer_scale(const kind_call *c);     /* shape of input 0, type of input 1 */
situ_status kind_infer_broadcast(const kind_call *c); /* all inputs, type of input 0 */
situ_status kind_infer_absent(const kind_call *c);    /* outputs are not tensors */

void kind_count_each(const ops_node *node, const ops_kind *row, ops_work *work);   /* cost x elements of output 0 */
void kind_count_inputs(const ops_node *node, const ops_kind *row, ops_work *work); /* cost x elements of input 0 */
void kind_count_nary(const ops_node *node, const ops_kind *row, ops_work *work);   /* one for each further input */
void kind_count_view(const ops_node *node, const ops_kind *row, ops_work *work);   /* nothing at all */
void kind_count_move(const ops_node *node, const ops_kind *row, ops_work *work);   /* bytes only */
/* Bytes only, and of input 0 only as many as are written. */
void kind_count_part(const ops_node *node, const ops_kind *row, ops_work *work);
/* Elements of input i / of the first output; *exact becomes false if uncertain. 0 for an omitted one. */
int64_t kind_in_elements(const ops_node *node, int32_t i, ops_work *work);
int64_t kind_out_elements(const ops_node *node, ops_work *work);
/* Counts a dimension: unknown is 1 and not exact. */
int64_t kind_count_dim(const ops_tensor *t, int32_t axis, ops_work *work);
/* Saturating product of three. */
static inline int64_t kind_mul3(int64_t x, int64_t y, int64_t z) { return sat_mul(sat_mul(x, y), z); }

#endif
