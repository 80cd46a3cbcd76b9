/* api/place_instance.h - from an instance to a plan; api/place.c has the public call. */
#ifndef SITU_API_PLACE_INSTANCE_H
#define SITU_API_PLACE_INSTANCE_H

#include "api/instance.h"

/* What `auto` takes without limits, in seconds. */
static const double PLACE_USUAL_S = 10;

/* Solves the problem of an instance, or judges it where its pins leave one placement only; layers that are whole by
 * default are split where no plan is found. `solve` is of this version. */
situ_status place_instance(situ_plan **out, situ_instance *instance, const situ_solve_options *solve,
                           situ_error *error);

#endif
