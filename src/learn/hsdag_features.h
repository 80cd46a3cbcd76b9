/* learn/hsdag_features.h - what HSDAG's network knows of each group (hsdag_groups.h): one row of numbers, most
 * of them within about [0, 1]. Each kind of feature can be left out. */
#ifndef SITU_LEARN_HSDAG_FEATURES_H
#define SITU_LEARN_HSDAG_FEATURES_H

#include "learn/hsdag_groups.h"
#include "nn/gemm.h"

/* In the order of their columns. A set of them is the sum of 1 << feature. */
typedef enum hsdag_feature {
  HSDAG_KINDS,     /* the part of the group's operators that are of each kind */
  HSDAG_DEGREES,   /* how many groups it reads from, and how many read from it: one-hot, 7 stands for more */
  HSDAG_FRACTAL,   /* fractal dimension of its neighbourhood along the edges */
  HSDAG_CLOSENESS, /* closeness centrality against the edges */
  HSDAG_POSITION,  /* its topological position in sines and cosines (Vaswani et al., NeurIPS 2017) */
  HSDAG_SHAPE,     /* logarithms of the first four sides of its operators' last outputs, on average */
  HSDAG_INDEX,     /* its number over the number of groups */
  HSDAG_TIMES,     /* logarithms of its time on the best single device, on the host and on its best device, -1 where it
                      cannot run: not of the paper */
  HSDAG_N_FEATURES
} hsdag_feature;
enum { HSDAG_ALL = (1 << HSDAG_N_FEATURES) - 1, HSDAG_RELEASED = 1 << HSDAG_KINDS | 1 << HSDAG_INDEX };

/* The word of each feature. */
extern const char *const hsdag_feature_names[HSDAG_N_FEATURES];

/* Which features, and the columns of kinds of operators. */
typedef struct hsdag_choice {
  uint32_t set;
  bool as_published; /* the index is not divided, and the fractal dimension is that of the authors */
  int32_t n_kind_columns;
  const int32_t *kind_column; /* [kind of the graph] its column, or -1 */
  int32_t constant_column;    /* of groups that are constants, or -1 */
} hsdag_choice;

/* The number of columns of a row; all features have their columns, those that are left out hold 0. */
int32_t hsdag_features_count(int32_t n_kind_columns);
/* Fills value[group * count] and used[count], 1 for columns that may differ from 0. False without memory.
 * O(n * (V + E)) of the groups, which ends at 4096 groups around each. */
bool hsdag_features_find(nn_real *value, nn_real *used, const hsdag_choice *choice, const environment *env,
                         const hsdag_groups *groups, arena *a);

/* The slope of ln N(r) against ln r by least squares, N(r) the number of groups that are r or fewer edges away, for all
 * radii where that number grows; 0 with fewer than two. as_published: groups that cannot be reached count as if at the
 * largest double, which then makes most of the slope. out[n]. */
bool hsdag_fractal_dimensions(double *out, const group_lists *next, int32_t n, bool as_published, arena *a);
/* (m - 1) / (sum of distances from the m - 1 others that reach it) * (m - 1) / (n - 1): closeness as Wasserman and
 * Faust scale it, 0 where nobody reaches it. out[n]. */
bool hsdag_closeness(double *out, const group_lists *before, int32_t n, arena *a);

#endif
