/* partition/part_sequence.h - placed operators as parts: a sequence of sets, each of one device, each after those that
 * it reads. One device runs all that it can, then another. */
#ifndef SITU_PARTITION_PART_SEQUENCE_H
#define SITU_PARTITION_PART_SEQUENCE_H

#include "graph/graph.h"

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
