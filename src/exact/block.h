/* exact/block.h - exact search within a block: the operators between two cuts of a thin graph.
 *
 * A partial schedule is a set of finished operators that is closed under predecessors, the time at which each device is
 * free, and the time at which each tensor that is still needed is in each memory; links have no contention. Operators
 * are appended to devices in some topological order, which produces every schedule without avoidable idle time.
 * Schedules of the same set are compared: one that is nowhere later dominates the other. A schedule is pruned if its
 * remaining work shows that it cannot beat the best known value: tails by device, and the remaining work at given
 * prices of device time. Identical devices are sorted, so that plans that differ only in their names coincide.
 *
 * Sets are processed by size, as in a decision diagram (Bergman, Cire, van Hoeve, Hooker, "Discrete Optimization with
 * Decision Diagrams", 2016). If a layer is too wide, its worst schedules are dropped (which still gives a value above
 * the minimum) or merged component by component into one that is nowhere later than any of them (which still gives a
 * bound). */
#ifndef SITU_EXACT_BLOCK_H
#define SITU_EXACT_BLOCK_H

#include "base/budget.h"
#include "exact/thin_graph.h"

enum { BLOCK_MAX_WIDTH = 1 << 24, BLOCK_OPERATORS = 64, BLOCK_DEVICES = 8, BLOCK_TENSORS = 192, BLOCK_PRICES = 4 };

/* Later than anything: sums of these do not overflow. */
#define BLOCK_FAR_NS THIN_FAR_NS

/* Data shared by all blocks of a problem. */
typedef struct block_machine {
  const situ_problem *problem;
  int32_t n_devices, n_memories;
  int32_t twin[BLOCK_DEVICES]; /* the next of its type at EQUAL_TIMED (view/equal_devices.h), or -1 */
  int32_t n_prices;
  int32_t price[BLOCK_PRICES][BLOCK_DEVICES]; /* 0 .. 255 */
} block_machine;

typedef struct block {
  const block_machine *machine;
  int32_t n, n_tensors, n_entry; /* operators; tensors, of which the first n_entry come from before the block */
  int32_t first;                 /* the number of its first operator in the thin graph */
  bool closed;                   /* the last operator comes after all others */
  int32_t *operator_of;          /* [n] of the problem */
  int32_t *source;               /* [n_tensors] producer in the thin graph */
  int64_t *time_ns, *tail_ns;    /* [n * devices], BLOCK_FAR_NS where not allowed; tails by block_set_tails */
  int64_t *transfer_ns;          /* [tensor][from memory][to memory] */
  uint64_t *users;               /* [n_tensors] in the block */
  uint64_t *before;              /* [n] producers in the block */
  int32_t *in_start, *in, *out_start, *out; /* tensors of operators */
  int64_t *rest;                            /* [n * BLOCK_PRICES] work of an operator at its cheapest device */
} block;

/* Whether the problem is of a size that blocks can handle. */
bool block_serves(const situ_problem *problem);
/* False without memory. */
bool block_machine_init(block_machine *m, const situ_problem *problem, arena *a);

/* The operators first .. last of a thin graph, where first - 1 and last are cuts or the ends. False without memory, or
 * where the block is too large (*fits is false then). */
bool block_take(block *out, bool *fits, const block_machine *m, const thin_graph *g, int32_t first, int32_t last,
                arena *a);

/* NULL, or the invariant above that does not hold (base/contracts.h), except for tails. */
const char *block_check(const block *b);

/* Tails by device: from the end of an operator to the end of everything, when the last operator of a closed block has
 * the tails end_ns[device]; NULL: everything ends with the block. */
void block_set_tails(block *b, const int64_t *end_ns);
/* The minimum time from `now` on, if the source's output is ready at 0 on device a, by tails alone. */
int64_t block_tail_before(const block *b, int32_t source, int32_t a);

typedef struct block_limits {
  int32_t width;        /* schedules in a layer */
  bool merge;           /* merge the worst, or forget them */
  int64_t upper_ns;     /* only schedules below this are looked for */
  int64_t max_children; /* gives up beyond, and where a layer would need more than 256 MiB */
  budget *budget;
} block_limits;

typedef struct block_result {
  int64_t value_ns; /* the minimum value of a full schedule, or upper_ns */
  bool exact;       /* nothing was forgotten or merged */
  bool finished;    /* else given up: value_ns says nothing */
  int64_t n_children;
} block_result;

/* Searches from `start`: when each device is free, then when each entry tensor is in each memory. False without memory.
 */
bool block_search(block_result *out, const block *b, const int64_t *start, const block_limits *limits, arena *scratch);

#endif
