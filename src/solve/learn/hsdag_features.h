/* solve/learn/hsdag_features.h - what HSDAG's network is told of each group (hsdag_groups.h): one row of numbers, most of
 * them within about [0, 1]. Each kind of feature can be left out. */
#ifndef SITU_SOLVE_LEARN_HSDAG_FEATURES_H
#define SITU_SOLVE_LEARN_HSDAG_FEATURES_H

#include "solve/learn/hsdag_groups.h"

/* In the order of their columns. A set of them is the sum of 1 << feature. */
typedef enum hsdag_feature {
  HSDAG_KINDS,     /* the part of the group's operators that are of each kind */
  HSDAG_DEGREES,   /* how many groups it reads from, and how many read from it: one-hot, 7 stands for more */
  HSDAG_FRACTAL,   /* fractal dimension of its neighbourhood along the edges */
  HSDAG_CLOSENESS, /* closeness centrality against the edges */
  HSDAG_POSITION,  /* its topological position in sines and cosines (Vaswani et al., NeurIPS 2017) */
  HSDAG_SHAPE,     /* logarithms of the first four sides of its operators' last outputs, on average */
  HSDAG_INDEX,     /* its number over the number of groups */
  HSDAG_TIMES,     /* logarithm of its time on each device, -1 where it cannot run: not of the paper */
  HSDAG_N_FEATURES
} hsdag_feature;
enum { HSDAG_ALL = (1 << HSDAG_N_FEATURES) - 1, HSDAG_RELEASED = 1 << HSDAG_KINDS | 1 << HSDAG_INDEX };

/* The word of each feature. */
extern const char *const hsdag_feature_names[HSDAG_N_FEATURES];

/* Names of kinds of operators, distinct and ascending: the columns of HSDAG_KINDS. A kind that is not among them has
 * none. */
typedef struct hsdag_kinds {
  int32_t n;
  const char **name;
} hsdag_kinds;
/* The kinds of a graph; the names are borrowed. False without memory. */
bool hsdag_kinds_find(hsdag_kinds *out, const situ_graph *graph, arena *a);

/* The number of columns. */
int32_t hsdag_features_count(uint32_t set, int32_t n_kinds, int32_t n_devices);
/* Fills value[group * count]. as_published: the index is not divided, and the fractal dimension is that of the authors.
 * False without memory. O(n * (V + E)) of the groups, which ends at 4096 groups around each. */
bool hsdag_features_find(nn_real *value, uint32_t set, bool as_published, const hsdag_kinds *kinds, const world *w,
                         const hsdag_groups *groups, arena *a);

/* The slope of ln N(r) against ln r by least squares, N(r) the number of groups that are r or fewer edges away, for all
 * radii where that number grows; 0 with fewer than two. as_published: groups that cannot be reached count as if at the
 * greatest double, which then makes most of the slope. out[n]. */
bool hsdag_fractal_dimensions(double *out, const group_lists *next, int32_t n, bool as_published, arena *a);
/* (m - 1) / (sum of distances from the m - 1 others that reach it) * (m - 1) / (n - 1): closeness as Wasserman and Faust
 * scale it, 0 where nobody reaches it. out[n]. */
bool hsdag_closeness(double *out, const group_lists *before, int32_t n, arena *a);

#endif
