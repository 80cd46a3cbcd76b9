/* exact/sweep.h - the most that one device can hold: for prices y >= 0 of the classes, the maximum sum of y over a set
 * of classes whose load is at most U, and such a set.
 *
 * The sweep passes the classes one by one. A state records, for each edge with pins on both sides of the sweep, whether
 * the passed pins are all in the set, all outside, or divided; it determines the load of all passed classes. The states
 * are enumerated once; each list of prices is then a dynamic program over them: minimum load by state and sum of
 * prices. This is exact for integer prices, and loads are integers, in units rounded down. Source: knapsacks by profit
 * over a path decomposition; docs/theory/bounds/configuration.md. */
#ifndef SITU_EXACT_SWEEP_H
#define SITU_EXACT_SWEEP_H

#include "exact/shares.h"

/* The successor of a state of a layer, and the added load, if the next class is excluded [0] or included [1]. */
typedef struct sweep_arc {
  int32_t to[2];    /* state of the next layer; -1: not possible */
  int32_t units[2]; /* nothing where it is not possible */
} sweep_arc;

typedef struct sweep {
  int32_t n; /* classes; layers 0..n */
  int64_t unit_ns;
  int32_t limit;  /* max_ns in units: loads beyond are not known */
  int64_t *first; /* [n + 1] the arcs of layer i begin here; layer n has one state */
  sweep_arc *arc;
  int32_t n_widest;    /* states of the widest layer */
  int32_t n_forgotten; /* edges whose price was dropped to keep layers narrow */
} sweep;

enum { SWEEP_NEVER = (1 << 30) - 1 };

/* The states for devices of one type and limits of at most max_ns. Where a layer has more than max_states states,
 * cheap edges are forgotten, which only lowers loads. False without memory. */
bool sweep_find(sweep *out, const shares *s, int32_t type, int64_t max_ns, int32_t max_states, arena *a);

/* Numbers of scratch that the next two need for prices of at most `top` in sum. */
int64_t sweep_curve_cells(const sweep *s, int64_t top);
int64_t sweep_best_cells(const sweep *s, int64_t top);
/* least[x], x = 0..top: the minimum load, in units, of a set whose prices sum to at least x; SWEEP_NEVER if that
 * exceeds the limit (in units). Prices are integers, 0 or more. */
void sweep_curve(int32_t *min, const sweep *s, const int32_t *price, int32_t top, int32_t limit, int32_t *scratch);
/* The same, and the set (by class) of maximum sum with a load of at most `within` <= limit. */
void sweep_best(bool *taken, int32_t *min, const sweep *s, const int32_t *price, int32_t top, int32_t limit,
                int32_t within, int32_t *scratch);

#endif
