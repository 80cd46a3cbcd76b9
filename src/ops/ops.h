/* ops/ops.h - knowledge about kinds of operators: output shapes from input shapes, values where shapes are computed,
 * FLOPs and bytes moved.
 *
 * The table is keyed by (domain, kind) in ONNX's terms; readers of other formats translate names and attributes into
 * these. A kind that is not in the table is legal: its outputs stay unknown and its work is estimated from its
 * inputs. */
#ifndef SITU_OPS_OPS_H
#define SITU_OPS_OPS_H

#include "base/arena.h"
#include "ops/node.h"
#include "situ/error.h"

/* Whether the table has this kind. Domains "" and "ai.onnx" are one. */
bool ops_known(const char *domain, const char *kind);

/* Infers the outputs of a node: types, shapes, values. OK also when nothing can be said. BAD_INPUT, with text, when
 * the inputs contradict each other or the attributes (MatMul of [2,3] and [4,5]); NO_MEMORY. */
situ_status ops_infer(const ops_node *node, arena *a, situ_error *error);

/* The work of a node whose outputs were inferred. */
ops_work ops_count(const ops_node *node);

/* The number of kinds in the table, and each of them in order (for docs, tests and `situ list`). */
int32_t ops_n_kinds(void);
void ops_kind_at(int32_t index, const char **domain, const char **kind);

#endif
