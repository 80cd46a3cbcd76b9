/* learn/gdp_view.h - what the policy gdp knows of an environment: numbers of units and devices, neighbours, kinds.
 *
 * Times are relative to the mean time of an operator, sizes relative to the weights of the model, counts by their
 * logarithm, places in the graph by sines; so a policy reads graphs and platforms of any size. Equal devices differ
 * by their place among their equals alone. */
#ifndef SITU_LEARN_GDP_VIEW_H
#define SITU_LEARN_GDP_VIEW_H

#include "nn/functions.h"
#include "solve/stream/environment.h"

enum { GDP_UNIT_FEATURES = 40, GDP_DEVICE_FEATURES = 24, GDP_KINDS = 64 };

typedef struct gdp_view {
  int32_t n_units, n_devices;
  nn_real *unit;             /* [n_units * GDP_UNIT_FEATURES] means over the operators of a unit */
  nn_real *device;           /* [n_devices * GDP_DEVICE_FEATURES] */
  const int32_t *equal_to;   /* [device] its type at EQUAL_ALONE (view/equal_devices.h) */
  nn_real *slowness;         /* [n_units * n_devices] log of the time there over the minimum; 0 where it cannot run */
  nn_segments kinds;         /* of each unit: kinds of its operators, hashed by name to 0 .. GDP_KINDS - 1 */
  nn_segments before, after; /* of each unit: those that it reads from, that read from it; distinct, with weights that
                                rise with what a transfer between them takes and add up to 1 */
  const bool *allowed;       /* of the environment */
} gdp_view;

/* Everything in the arena; NULL without memory. */
gdp_view *gdp_look(const environment *env, arena *a);

#endif
