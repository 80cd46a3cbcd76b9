/* ops/node.h - one operator to analyse: its tensors and attributes as far as they are known, and access to them. */
#ifndef SITU_OPS_NODE_H
#define SITU_OPS_NODE_H

#include <stdbool.h>

#include "situ/types.h"

/* A tensor as far as it is known. `ints` (integer and boolean types) or `reals` (floating types) hold the elements, row
 * major, if they are known and few; else NULL. Everything lives in the arena of the caller. */
typedef struct ops_tensor {
  situ_dtype dtype;
  int32_t rank;        /* -1 when unknown */
  const int64_t *dims; /* rank entries, -1 where unknown */
  const int64_t *ints;
  const double *reals;
  int64_t stored_bytes; /* of a constant held in fewer bytes than its type has (compressed weights); else 0 */
  bool constant;        /* a weight, or computed from weights alone: the same at each run */
  bool absent; /* an optional that is left out, or no tensor (a sequence, a map): no shape will ever be known */
} ops_tensor;

/* An element of `ints` that is not known while others of its tensor are: the shape of [?, 128] is {unknown, 128}. No
 * exporter writes this number (INT64_MIN and the one above do occur, as ends of slices). Results that overflow or
 * divide by zero are unknown too. `reals` are all known or NULL. */
#define OPS_UNKNOWN_INT (INT64_MIN + 0x5157)

/* Values of more elements than this are never tracked. */
enum { OPS_MAX_VALUES = 4096, OPS_MAX_RANK = 64 };

typedef enum ops_attr_type {
  OPS_INT,
  OPS_FLOAT,
  OPS_STRING,
  OPS_INTS,
  OPS_FLOATS,
  OPS_STRINGS,
  OPS_TENSOR,
  OPS_OTHER
} ops_attr_type;

typedef struct ops_attr {
  const char *name;
  ops_attr_type type;
  int64_t i;
  double f;
  const char *s;
  int64_t n; /* of the arrays */
  const int64_t *ints;
  const double *floats;
  const char *const *strings;
  const ops_tensor *tensor;
} ops_attr;

/* One operator to analyse. `inputs` has NULL for omitted inputs. `outputs` is an array of n_outputs tensors, all
 * unknown at first, or holding what the file itself declares (value_info): inference sharpens them, and wins where they
 * differ. */
typedef struct ops_node {
  const char *domain; /* "" for ai.onnx */
  const char *kind;
  int64_t opset; /* version of that domain's operator set */
  const ops_attr *attrs;
  int32_t n_attrs;
  const ops_tensor *const *inputs;
  int32_t n_inputs;
  ops_tensor *outputs;
  int32_t n_outputs;
} ops_node;

/* Amounts of one run of the operator, as far as its shapes are known. An unknown dimension counts as 1 and makes
 * `exact` false. A multiply-add is two FLOPs. Operators that only reinterpret data (reshape and similar, which engines
 * run as views) move no bytes. */
typedef struct ops_work {
  int64_t flops;
  int64_t read_bytes, written_bytes;
  situ_dtype dtype; /* the type that it computes in */
  bool exact;       /* kind known and every shape it needs known */
} ops_work;

/* Elements of a tensor, unknown dimensions counted as 1 (then *exact, if given, becomes false); saturating. Bytes
 * are those stored, and round up to whole bytes. */
int64_t ops_elements(const ops_tensor *t, bool *exact);
int64_t ops_bytes(const ops_tensor *t, bool *exact);
/* Counts a tensor of a floating type in type `precision` (UNKNOWN: as it is). Few known values stay as they are. */
void ops_set_precision(ops_tensor *t, situ_dtype precision);
/* Decides how a constant computed from constants is stored: engines keep compressed weights as the file stores them, so
 * it occupies the bytes of its `sources`, or of its own type if these are fewer. If it has more elements than all
 * sources together, they are new (Expand, Range) and stored separately. Returns whether it is stored as its sources. */
bool ops_hold(ops_tensor *made, const ops_tensor *const *sources, int32_t n_sources);

/* The element type of ONNX's number for it (the `to` of Cast, the data_type of a tensor); UNKNOWN for others. */
situ_dtype ops_onnx_dtype(int64_t number);

/* Attributes by name, with defaults. */
const ops_attr *ops_find_attr(const ops_node *node, const char *name);
int64_t ops_attr_int(const ops_node *node, const char *name, int64_t default_value);
double ops_attr_float(const ops_node *node, const char *name, double default_value);
const char *ops_attr_string(const ops_node *node, const char *name, const char *default_value);
/* The array and its length, or NULL and 0. */
const int64_t *ops_attr_ints(const ops_node *node, const char *name, int64_t *n);

#endif
