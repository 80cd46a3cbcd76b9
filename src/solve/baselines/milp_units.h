/* solve/baselines/milp_units.h - shared by the programs of milp: units that stay together, a 0-1 column for each unit
 * and device, and interchangeable devices. */
#ifndef SITU_SOLVE_BASELINES_MILP_UNITS_H
#define SITU_SOLVE_BASELINES_MILP_UNITS_H

#include "lp/program.h"
#include "view/equal_devices.h"

typedef struct milp_units {
  const situ_problem *problem;
  int32_t n_units, n_devices;
  const int32_t *unit_of;                 /* [operator] */
  const int32_t *x;                       /* [unit * n_devices + device] column, -1 where it may not be */
  equal_devices equal;                    /* devices of a type can change places in every plan */
  int32_t *order;                         /* units, the longest first */
  int32_t *unit_device, *operator_device; /* of the last placement written or read; operator_device as it is named
                                             in the program */
} milp_units;

/* The other fields are set. False without memory. */
bool milp_units_init(milp_units *s, arena *a);
/* Devices of a type are numbered so that the first units come on lower ones: unit k of the order is on the i-th of a
 * type only if an earlier unit is on the one before it. Rows for the first units. */
void milp_break_symmetry(const milp_units *s, program *p);
/* Sets x from a placement, with its devices renamed as the rows above ask for. False where a column is missing. */
bool milp_write_devices(milp_units *s, const int32_t *device, int64_t *x);
/* Fills operator_device from a solution. False where a unit has no device. */
bool milp_read_devices(milp_units *s, const double *x);

#endif
