/* solve/calls/call_labels.h - plans of a call graph, grown unit by unit through the lattice of ideals.
 *
 * A label summarises the units that make up an ideal, as far as the rest depends on them: the end of each node that is
 * still needed, the bytes in calls, the number of calls if it is limited, and a lower bound on the total time. A label
 * that is not better in any of these than another of its ideal is dropped, and so is one that cannot end below the
 * limit. So the minimum label of the full ideal is the optimum of the call graph with its groups entirely in calls or
 * entirely on hosts, if no ideal had more labels than `width`. */
#ifndef SITU_SOLVE_CALLS_CALL_LABELS_H
#define SITU_SOLVE_CALLS_CALL_LABELS_H

#include "exact/call_price.h"

typedef struct call_label {
  int64_t min_ns;       /* lower bound on the total time; in the full ideal, the latency */
  int64_t weight_bytes; /* in calls */
  int64_t arrived;      /* flow that ended, by the time when it did */
  uint64_t called;      /* the groups, of those that the ideal cuts, that are in calls */
  int32_t parent, next; /* labels or -1; next: of the same ideal, or of those that are free */
  int32_t ideal;
  uint16_t calls; /* how many; 0 where their number has no limit */
  bool host;      /* the last unit is a node on a host */
} call_label;

/* The fields that decide most comparisons of labels, stored contiguously. */
typedef struct call_rank {
  int64_t min_ns, weight_bytes;
  uint64_t called;
  int64_t entry; /* the first */
  int32_t label;
  uint16_t calls;
} call_rank;

typedef struct call_labels {
  const call_price *price;
  int32_t stride;     /* entries of a label, at most */
  int32_t tie_fields; /* of them for each group that an ideal cuts */
  call_label *label;
  /* [label * stride] ends of the nodes in the ideal's front; then, for each group that the ideal cuts, fields of the
   * calls that it ties together (call_labels.c) */
  int64_t *entry;
  int32_t n, capacity, free;
  int32_t *first, *count; /* [ideal] labels; count grows until it is pruned */
  int64_t *cross;         /* [front position] flow that leaves the ideal */
  int64_t limit_ns;       /* only plans below this */
  int32_t width;
  int64_t dropped_ns;       /* the minimum min_ns of labels dropped because of the width; or NEVER */
  int32_t *position, *mark; /* [node] scratch */
  call_rank *rank;          /* scratch */
  int32_t ranks;
  call_iterator iterator;
  int64_t n_made, n_spent; /* labels made and calls examined; those counted as steps */
} call_labels;

typedef enum call_labels_result { CALL_LABELS_DONE, CALL_LABELS_STOPPED, CALL_LABELS_NO_MEMORY } call_labels_result;

/* False without memory. Holds heap memory: free it. */
bool call_labels_make(call_labels *out, const call_price *price, arena *a);
void call_labels_free(call_labels *l);
/* Runs for one width and limit. STOPPED if the budget or the space for labels ends. Otherwise first[full] lists the
 * results, best first. A step is 64 labels made or calls examined. */
call_labels_result call_labels_run(call_labels *l, int32_t width, int64_t limit_ns, budget *b);

#endif
