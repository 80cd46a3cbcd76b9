/* learn/hsdag_parsing.h - the graph parsing of HSDAG (after Song et al., "Graph Parsing Networks", ICLR 2024):
 * each node follows the edge of the highest score, what hangs together then is a cluster, and clusters are the nodes of
 * a smaller graph. Nobody says beforehand how many there are.
 *
 * With one score for each edge a level is one round of Boruvka's algorithm for spanning trees, here by union-find.
 * Nodes have a class, and edges between classes are not followed, so a cluster is of one class (hsdag_groups.h). Memory
 * is that of a tape, until it is reset. */
#ifndef SITU_LEARN_HSDAG_PARSING_H
#define SITU_LEARN_HSDAG_PARSING_H

#include "nn/functions.h"

/* An undirected graph without loops. Nodes near v: near[near_start[v] .. near_start[v + 1]), by edges near_edge[...],
 * ascending. */
typedef struct parse_graph {
  int32_t n, n_edges;
  int32_t *from, *to; /* [edge] from < to; ascending by from; no edge twice */
  int32_t *class_of;  /* [node] */
  int32_t *near_start, *near, *near_edge;
} parse_graph;

/* Clusters of one level, none empty. */
typedef struct parsing {
  int32_t n;
  int32_t *cluster_of;   /* [node] */
  int64_t *member_start; /* nodes of cluster c: member[member_start[c] .. member_start[c + 1]), ascending */
  int32_t *member;
  int64_t *inside_start; /* scores of the edges inside cluster c: inside[inside_start[c] ..) */
  int32_t *inside;
  bool *is_inside; /* [edge] */
} parsing;

/* NULL, or which of the invariants of a linked graph does not hold (base/contracts.h). */
const char *parse_graph_check(const parse_graph *g);

/* Fills near lists; all else is there. False without memory. */
bool parse_graph_link(parse_graph *g, tape *t);
/* score[edge]. Of equal scores the first edge is followed. least[node], or NULL: a node declines an edge whose score is
 * not above it (ours), so that it may stay alone. Clusters are numbered by their first node. O(E) nearly. False without
 * memory. */
bool parse_level(parsing *out, const parse_graph *g, const nn_real *score, const nn_real *min, tape *t);
/* The procedure of the released code, where each direction has its own score: score[2 * edge] from -> to, score[2 *
 * edge
 * + 1] back. It depends on the order of scores, can move a node to a later cluster, and then loses the edge that the
 * node was joined by: is_inside is true, but its ends are in two clusters. With equal scores of both directions it
 * gives what parse_level gives. */
bool parse_level_published(parsing *out, const parse_graph *g, const nn_real *score, tape *t);
/* NULL, or which of the invariants above does not hold (base/contracts.h). */
const char *parsing_check(const parsing *p, const parse_graph *g);
/* The graph of the clusters: an edge for each pair that an edge which is not inside joins. */
bool parse_pool(parse_graph *out, const parse_graph *g, const parsing *p, tape *t);

#endif
