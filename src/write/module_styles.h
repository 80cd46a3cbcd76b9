/* write/module_styles.h - a split over the members of a group, as styles of modules: what PyTorch's parallelize_module
 * (torch.distributed.tensor.parallel) does to each of them.
 *
 * That knows linear layers and embeddings. A module by columns takes all of its input and leaves each member a part;
 * one by rows takes parts and leaves all. What lies between works on parts as the module's own code does, so that it
 * must not need more than its part. */
#ifndef SITU_WRITE_MODULE_STYLES_H
#define SITU_WRITE_MODULE_STYLES_H

#include "base/arena.h"
#include "base/text.h"
#include "graph/graph.h"
#include "situ/error.h"

typedef enum module_style {
  MODULE_WHOLE,          /* each member has all of it: not named */
  MODULE_BY_COLUMNS,     /* each member makes a part */
  MODULE_GATHERED,       /* the same, and the parts are put together */
  MODULE_BY_ROWS,        /* of a part of its input, */
  MODULE_BY_ROWS_OF_ALL, /* or of all of it, */
  MODULE_TABLE           /* or of its rows of a table: what members make is added up */
} module_style;

typedef struct module_styles {
  const situ_graph *graph; /* borrowed */
  uint8_t *style;          /* [operator] module_style, of the module whose weights it reads */
} module_styles;

/* The styles of operators that `members` devices split, at least 2. Arrays in the arena. UNSUPPORTED, with the name of
 * the operator, where the split has no such styles: uneven parts, convolutions, experts, fused projections, weights
 * between modules. O(V + E). */
situ_status module_styles_find(module_styles *out, const situ_graph *graph, int32_t members, arena *a,
                               situ_error *error);

/* The module that operator v is part of: of a language model's file v itself, else the path in its name before its own
 * ("layers.0.mlp.up.linear_3", "/layers.0/mlp/up/MatMul"); "" where there is none. In the arena; NULL without memory.
 */
const char *module_styles_path(const module_styles *m, int32_t v, arena *a);

#endif
