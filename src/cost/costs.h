/* cost/costs.h - the frozen cost tables.
 *
 * Transfers are tabled by kind of route: kind 0 is "no transfer" (0 ns); every distinct (latency, rate) of a link is a
 * kind, and so is every distinct sequence of such links over several hops. A table has one column for each kind, so a
 * thousand equal links cost one column, and tensors of one size share a row. */
#ifndef SITU_COST_COSTS_H
#define SITU_COST_COSTS_H

#include "base/arena.h"
#include "situ/costs.h"

/* The overhead of a part of the model on a device of a class, in addition to its operators. */
typedef struct part_cost {
  int64_t start_ns;    /* of each part that waits for another device */
  double bytes_per_s;  /* rate of handed-over bytes: half of the time is spent at each end; 0: free */
  int64_t dispatch_ns; /* from the end of a part to the start of the next on that device */
} part_cost;

struct situ_costs {
  arena *arena;
  const char *source;
  const char *unit_name; /* "ms"; NULL when the file has no unit of its own */
  int64_t unit_ns;       /* 0 likewise */
  const char *fusion;    /* the profile of fusion, static storage; NULL for none */
  situ_overlap overlap;  /* of the engine that they are of; DEFAULT: unknown */
  int32_t n_kernels;     /* kernels with work */
  int64_t moved_bytes;   /* by all of them together */
  situ_costs *step[2];   /* of one step of each kind, where these are of several together (cost_step); else NULL */
  uint64_t table_hash;   /* of the table of measured times; 0 without one */
  int32_t n_operators, n_tensors, n_classes, n_memories, n_links, n_kinds;
  int64_t *time_ns;       /* [operator * n_classes + class]; SITU_NEVER_NS: cannot run there */
  int64_t *collective_ns; /* [operator * n_classes + class] the part of it that members of a group spend putting results
                             together; NULL: no device is a group */
  int64_t *one_member_ns; /* [operator * n_classes + class] the time of all of it on one member of a group, the fastest
                             of unlike ones, whose other members do nothing; NULL likewise */
  int64_t *each_member_ns; /* [operator * n_classes + class] where each of them does all of it, while costs are
                              estimated; NULL likewise */
  int64_t *end_ns; /* [operator * n_classes + class] the part of it that tokens and results spend between this and the
                      requesting machine (cost/ends.h); NULL: none is on another machine */
  int32_t *streamed_to; /* [class] the accelerator that computes what is on these hosts, -1: they do; NULL: all do */
  bool offloads;        /* an accelerator computes products of many tokens for hosts (cost/offloaded.h) */
  int32_t *group;      /* [operator] the head of its fused kernel: the head has the time of all, the other members 0 ns;
                          NULL: nothing is fused */
  int64_t *held_bytes; /* [tensor] in memory, where groups hold some more than once; NULL: as the graph says */
  int64_t *workspace_bytes; /* [operator] scratch memory while it runs, as the table has it; NULL: as the graph says */
  bool *measured; /* [operator * n_classes + class] the time is that of a table, or of the model's own file; of a kernel
                     that of its head; NULL: all are estimates */
  bool *ruled;    /* [operator * n_classes + class] whether it is a rule that forbids it (cost/rules.h); NULL: none */
  uint64_t machine;       /* platform_shape_hash of the platform that they are of; 0: unknown */
  int64_t reserved_bytes; /* of all memories, that rules keep free */
  part_cost *part;        /* [class] as the table of measured times has it; it is in the transfers too. NULL: unknown */
  int32_t n_rows;
  int64_t *transfer_rows;           /* [row * n_kinds + kind]; multi-hop kinds are sums over their hops */
  int64_t **transfer_ns;            /* [tensor] its row: transfer_ns[t][kind] */
  int64_t *row_min_ns, *row_max_ns; /* [row] over all kinds but 0; 0 where there are none */
  int32_t *pair_kind;               /* [from memory * n_memories + to memory] */
  int32_t *link_kind;               /* [link] */
  situ_link *link; /* [link] with latency and rate as these costs count them: measured ones, where a table has them */
};

/* The maximum size of the transfer table: 1 GiB. */
#define COSTS_MAX_CELLS ((int64_t)1 << 27)

/* New tables for these sizes, all zero; which row a tensor has is for the caller to say. NULL without memory. */
situ_costs *costs_new(int32_t n_operators, int32_t n_tensors, int32_t n_classes, int32_t n_memories, int32_t n_links,
                      int32_t n_kinds, int32_t n_rows);

/* The row of a tensor: 0 .. n_rows-1. */
static inline int32_t costs_row(const situ_costs *c, int32_t t) {
  return (int32_t)((c->transfer_ns[t] - c->transfer_rows) / c->n_kinds);
}

/* Whether it is a rule that forbids operator v on a class. */
static inline bool costs_is_ruled(const situ_costs *c, int32_t v, int32_t class) {
  return c->ruled && c->ruled[(int64_t)v * c->n_classes + class];
}

/* Whether the time of operator v is measured, or given, on every class that can run it. */
static inline bool costs_is_measured(const situ_costs *c, int32_t v) {
  int64_t at = (int64_t)(c->group ? c->group[v] : v) * c->n_classes;
  bool all = c->measured;
  for (int32_t k = 0; all && k < c->n_classes; k++) all = c->measured[at + k] || c->time_ns[at + k] == SITU_NEVER_NS;
  return all;
}

/* All times are those of a file, none is an estimate. False without memory. */
bool costs_set_measured(situ_costs *costs);

/* Fills row_min_ns and row_max_ns when all rows are filled. O(rows * kinds + tensors). */
void costs_find_extremes(situ_costs *costs);

/* The tables of n copies of a graph (graph_copies). NULL without memory. */
situ_costs *costs_copies(const situ_costs *costs, int32_t n);

/* What is faster by a factor: a device, which is alone in its class on `platform`, or the links of a kind; -1: none.
 * `platform` has the same devices, memories and links in the same order; its classes may be more. */
typedef struct cost_change {
  const situ_platform *platform;
  int32_t device, link_kind;
  double factor;
} cost_change;
/* The costs on the changed platform, estimates and measured times alike: times of the device and of the hops over the
 * links are divided by the factor. `platform` is that of c. NULL without memory. */
situ_costs *costs_changed(const situ_costs *c, const situ_platform *platform, const cost_change *change);

/* Multiplies times and transfers by x and adds y times those of `more`, which has the same operators and tensors on the
 * same platform. False without memory: they are then unchanged. */
bool costs_add_up(situ_costs *costs, int64_t x, const situ_costs *more, int64_t y);

/* Fills pair_kind and link_kind for a platform and describes each kind: first_link[k], which represents all links of
 * its (latency, rate), and rest[k], the kind of the remaining hops, a lower number; the rest of a single hop is kind 0,
 * which has no first link (-1). Arrays in the arena. */
typedef struct route_kinds {
  int32_t n_kinds;
  int32_t *pair_kind, *link_kind, *first_link, *rest;
} route_kinds;
bool route_kinds_find(route_kinds *out, arena *a, const situ_platform *platform);

/* Checks that the tables are of this graph and platform, BAD_ARGUMENT otherwise, and that every time is at least 0:
 * INTERNAL otherwise. */
situ_status costs_check(const situ_costs *costs, const situ_graph *graph, const situ_platform *platform,
                        situ_error *error);

#endif
