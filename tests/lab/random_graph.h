/* lab/random_graph.h - small random graphs for laws and oracles.
 *
 * Everything that real graphs have and that is easily forgotten occurs: operators with several outputs, tensors of no
 * bytes, tensors that nobody reads or that many read, operators without work, repeated uses, components of
 * their own, and colocation groups. flops and moved_bytes are drawn log-uniformly and independently of the shapes,
 * so that a roofline model gives times that differ by orders of magnitude: some bound by compute, some by memory,
 * some by launch alone. */
#ifndef SITU_LAB_RANDOM_GRAPH_H
#define SITU_LAB_RANDOM_GRAPH_H

#include "situ/graph.h"

typedef struct graph_random_options {
  int32_t n_operators;   /* 1 .. 20,000 */
  double edge_density;   /* the chance that an operator reads from a given earlier one, 0 .. 1 */
  uint64_t seed;         /* the same options give the same graph, on every machine */
  int32_t n_colocations; /* groups of two to four operators, as far as there are operators for them; >= 0 */
  int32_t max_outputs;   /* an operator makes 1 .. max_outputs tensors (1 in 16 makes none); 0 means 1 */
  bool training;         /* two fifths forward, mirrored by backward, the rest updates colocated with their weights */
} graph_random_options;

/* Draws a graph of exactly n_operators operators. Every edge goes from an earlier to a later operator, so the numbers
 * stay those in which they were drawn. Takes O(n_operators^2) steps. BAD_ARGUMENT when an option is out of range. */
situ_status graph_random(situ_graph **out, const graph_random_options *options, situ_error *error);

#endif
