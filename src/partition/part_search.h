/* partition/part_search.h - the search for parts: devices by cuts, parts by sequence, then what makes parts as large as
 * they must be. */
#ifndef SITU_PARTITION_PART_SEARCH_H
#define SITU_PARTITION_PART_SEARCH_H

#include "base/max_flow.h"
#include "graph/graph.h"
#include "situ/plan.h"

/* What is asked: units (an operator or a colocation group), where each may run, and what that costs. The cost of a
 * choice of devices is that of all units plus crossing_cost for each tensor and each device that receives it. */
typedef struct part_request {
  const situ_graph *graph;
  int32_t n_devices, n_units;
  int32_t *unit;                /* [operator] */
  int32_t *unit_start, *member; /* operators of each unit */
  bool *allowed;                /* [unit * n_devices + device] */
  int64_t *cost;                /* the same; finite where it is allowed */
  int64_t crossing_cost, part_cost;
  int32_t *min_operators; /* [device] of each part, at least 1 */
} part_request;

static inline bool part_allows(const part_request *q, int32_t u, int32_t d) {
  return q->allowed[(int64_t)u * q->n_devices + d];
}
static inline int64_t part_unit_cost(const part_request *q, int32_t u, int32_t d) {
  return q->cost[(int64_t)u * q->n_devices + d];
}

typedef struct part_answer {
  situ_outcome outcome;
  int64_t cost, lower_bound, n_crossings;
  int32_t n_parts;
  const int32_t *part;   /* [operator] */
  const int32_t *device; /* [part] */
} part_answer;

/* Finds parts; what it allocates is in `a`. Takes from `allowed` what no part can have. UNSUPPORTED for graphs that are
 * too large. */
situ_status part_search_run(part_answer *out, part_request *q, budget *b, arena *a, situ_error *error);

/* ---- device_cut.c: devices of units by minimum cuts, crossings and costs counted, parts not ----
 *
 * An expansion lets every unit move to one device or stay, all at once and at the minimum cost (Boykov, Veksler, Zabih,
 * "Fast approximate energy minimization via graph cuts", IEEE PAMI 23, 2001). A tensor is one net for each device that
 * receives it: an auxiliary node is cut once, however many of its readers are there. With two devices one expansion
 * from "everything on the other" is the optimum. */

typedef struct device_cut {
  const part_request *request;
  max_flow flow;
  int32_t *other;    /* [unit] scratch */
  int32_t *cheapest; /* [unit] devices at the minimum cost, where the bound is exact */
  int32_t *received; /* [device] scratch */
} device_cut;

/* UNSUPPORTED if the network would be too large. */
situ_status device_cut_new(device_cut *x, const part_request *q, arena *a, situ_error *error);
/* The cost of devices of units; the crossings in *n_crossings unless it is NULL. */
int64_t device_cut_cost(device_cut *x, const int32_t *device, int64_t *n_crossings);
/* Moves units to device `to` where that costs less; whether it did. What is not allowed is never chosen. */
bool device_cut_expand(device_cut *x, int32_t *device, int32_t to, budget *b);
/* A lower bound on the cost of every choice: exact for up to two devices in use, else by what no choice avoids. */
int64_t device_cut_bound(device_cut *x, budget *b);

/* ---- part_sequence.c: placed operators as parts, a sequence of sets, each of one device, each after those that it
 * reads. One device runs all that it can, then another. ---- */

typedef struct part_sequence {
  const situ_graph *graph;
  int32_t n_devices;
  /* the parts of the last call */
  int32_t n_parts;
  int32_t *part;   /* [operator] */
  int32_t *device; /* [part] */
  int32_t *size;   /* [part] operators */
  /* scratch */
  int32_t *waits, *next, *queue, *log, *first, *n_left;
  int64_t work; /* operators and edges looked at so far */
} part_sequence;

bool part_sequence_new(part_sequence *s, const situ_graph *g, int32_t n_devices, arena *a);
/* Parts of operators on device[operator], the first of them on device `first` if it has anything that can run then.
 * From the end if `backward`, where the last part is on `first`. With two devices the better of the two values of
 * `first` gives the fewest parts: the device that runs all that it can is never behind one that stops before. */
void part_sequence_find(part_sequence *s, const int32_t *device, int32_t first, bool backward);
/* Copies the parts; both are of one graph. */
void part_sequence_copy(part_sequence *to, const part_sequence *from);

#endif
