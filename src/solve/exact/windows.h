/* solve/exact/windows.h - which ideals can be a boundary of a plan whose period is at most U, state by state.
 *
 * A state says how many devices of each type have been used. Each class has a price, in nanoseconds, so that no device of
 * type t takes more than reach(t) * U of it; transfers that a device must pay shrink its room. An ideal can be the
 * boundary in a state when what it holds fits into the devices used and the rest into the others. */
#ifndef SITU_SOLVE_EXACT_WINDOWS_H
#define SITU_SOLVE_EXACT_WINDOWS_H

#include "solve/exact/stages.h"

enum { WINDOWS_MOST_STATES = 1 << 14 };

/* What is before a boundary and after it: prices of classes, and of the edges that straddle it, each counted once. */
typedef struct boundary {
  int64_t before, after; /* classes */
  int64_t left, right;   /* edges, as the devices before and after pay for them */
} boundary;

/* States with hosts on the same sides, by falling room before; most_after is that of the best state so far. */
typedef struct window_front {
  int32_t n;
  int64_t *most_before, *most_after;
} window_front;

typedef struct windows {
  const stages *stages;
  int32_t n_states; /* beyond WINDOWS_MOST_STATES nothing else is filled */
  int32_t *weight;  /* [type] of its count in the number of a state */
  int64_t *price;   /* [class] */
  int64_t *in_price, *out_price; /* [edge] the least that an accelerator pays */
  int64_t *reach;                /* [type] in units of 2^-30 */
  int64_t *most_before, *most_after; /* [state] */
  bool *hosts_before, *hosts_after;  /* [state] hosts pay for no edge */
  window_front fronts[4];            /* [hosts_before + 2 * hosts_after] */
} windows;

/* Numbers the states and chooses the prices: those of the balance of work, that is the greatest sum of prices for the
 * reach of all devices together. False without memory. */
bool windows_init(windows *w, const stages *s, arena *a);
/* Opens the windows for plans of period at most most_ns. */
void windows_set(windows *w, int64_t most_ns);
/* The most price that one device of a type takes with a load of at most most_ns. */
int64_t windows_room(const windows *w, int32_t type, int64_t most_ns);
/* Whether the boundary is possible in that state; in any state. */
bool windows_allow(const windows *w, int32_t state, const boundary *b);
bool windows_allow_some(const windows *w, const boundary *b);
/* How many devices of a type a state uses. */
static inline int32_t windows_used(const windows *w, int32_t state, int32_t type) {
  return state / w->weight[type] % (w->stages->types[type].n_devices + 1);
}

#endif
