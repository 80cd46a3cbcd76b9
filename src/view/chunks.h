/* view/chunks.h - schedules with several parts (chunks) of the model on each device: which placements have their form,
 * and the order of the passes of a device (docs/model.md, "Chunks").
 *
 * Of p devices that have operators, by number, chunk c is on device c mod p (interleaved), or on the c-th and then on
 * the last but c - p (zb-v). */
#ifndef SITU_VIEW_CHUNKS_H
#define SITU_VIEW_CHUNKS_H

#include "view/contract.h"

typedef struct chunk_layout {
  const situ_problem *problem;
  contraction classes;
  int32_t *order;    /* of the classes */
  int32_t *first_of; /* [colocation group] its first operator */
  bool *is_seen;     /* [operator] scratch */
  /* Of the placement that was taken: */
  int32_t n_used, *used; /* devices with operators */
  int32_t *rank;         /* [device] among them; -1 */
  int32_t *chunk;        /* [class] the first one that can have it */
  bool *is_used;         /* [chunk] it has forward operators; all have, but on one device */
} chunk_layout;

/* False without memory. */
bool chunk_layout_find(chunk_layout *out, const situ_problem *problem, arena *a);
/* Whether a placement has the form. O(V + E). */
bool chunk_layout_take(chunk_layout *l, const int32_t *device);

/* The rank of the device of a chunk. */
static inline int32_t chunk_rank(const situ_problem *p, int32_t n_used, int32_t chunk) {
  bool back = p->schedule == SITU_SCHEDULE_ZB_V && chunk >= n_used;
  return back ? 2 * n_used - 1 - chunk : chunk % n_used;
}
/* And the j-th chunk of a rank. */
static inline int32_t chunk_of_rank(const situ_problem *p, int32_t n_used, int32_t rank, int32_t j) {
  return p->schedule == SITU_SCHEDULE_ZB_V && j == 1 ? 2 * n_used - 1 - rank : j * n_used + rank;
}

typedef enum chunk_pass_kind { CHUNK_FORWARD, CHUNK_BACKWARD, CHUNK_WEIGHTS } chunk_pass_kind;
/* The pass of one input through the j-th chunk of a device. Backward passes contain gradients of weights unless these
 * are passes of their own (problem_delays). */
typedef struct chunk_pass {
  chunk_pass_kind kind;
  int32_t j, input;
} chunk_pass;

/* Passes of so many inputs on one device at most: the size of lists. */
static inline int64_t chunk_passes_max(const situ_problem *p, int32_t n_used, int64_t n_inputs) {
  return 3 * p->chunks * (n_inputs > 2 * n_used ? n_inputs : 2 * n_used);
}
/* Lists them in their order; how many. n_inputs: for interleaved a multiple of n_used. */
int64_t chunk_passes(chunk_pass *out, const situ_problem *p, int32_t n_used, int32_t rank, int32_t n_inputs);

/* So many inputs are enough to see all that a step of more has: the order repeats itself. */
int32_t chunk_inputs_seen(const situ_problem *p, int32_t n_used);

/* The maximum of what a device keeps at once, if its j-th chunk keeps stash_bytes[j] for each input. list: of
 * chunk_passes. */
int64_t chunk_kept_bytes(const chunk_pass *list, int64_t n, const int64_t *stash_bytes, bool delays);

#endif
