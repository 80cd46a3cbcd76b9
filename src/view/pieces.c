#include "view/pieces.h"

/* The rule of docs/model.md for device d, from its first to its last operator. On d, piece(v) is the maximum over the
 * predecessors u of piece(u) + [u not on d], at least 1. Elsewhere it is the maximum of piece(u), at least 0. Returns
 * the highest number. Every lower number occurs, since a path that returns to d has left the piece before. */
static int32_t count_pieces(int32_t *piece, const situ_graph *g, const int32_t *device, int32_t d, int32_t first,
                            int32_t last) {
  int32_t highest = 0;
  for (int32_t v = first; v <= last; v++) {
    bool here = device[v] == d;
    int32_t max = here;
    for (int64_t i = g->in_start[v]; i < g->in_start[v + 1]; i++) {
      int32_t u = g->producer[g->in[i]], before = u < first ? 0 : piece[u], next = before + (here && device[u] != d);
      if (next > max) max = next;
    }
    piece[v] = max;
    if (here && max > highest) highest = max;
  }
  return highest;
}

int32_t pieces_find(int32_t *of, const situ_problem *p, const int32_t *device, arena *scratch) {
  int32_t n = p->n_operators, total = 0, *piece, *first, *last;
  if (!ARENA_ARRAYS(scratch, ARRAY(piece, n), ARRAY(first, p->n_devices), ARRAY(last, p->n_devices))) return -1;
  for (int32_t d = 0; d < p->n_devices; d++) first[d] = n;
  for (int32_t v = n - 1; v >= 0; v--) {
    if (first[device[v]] == n) last[device[v]] = v;
    first[device[v]] = v;
  }
  for (int32_t d = 0; d < p->n_devices; d++) {
    if (first[d] == n) continue;
    int32_t pieces = count_pieces(piece, p->graph, device, d, first[d], last[d]);
    for (int32_t v = first[d]; v <= last[d]; v++)
      if (device[v] == d) of[v] = total + piece[v] - 1;
    total += pieces;
  }
  return total;
}
