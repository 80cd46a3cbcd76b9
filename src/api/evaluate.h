/* api/evaluate.h - placements that are given, not searched. */
#ifndef SITU_API_EVALUATE_H
#define SITU_API_EVALUATE_H

#include "situ/instance.h"
#include "situ/plan.h"

/* Judges the one placement that the pins of a problem leave: see situ_place. */
situ_status evaluate_pins(situ_plan **out, const situ_instance *instance, situ_error *error);

/* The placement of a file (anything that a fix may be, a plan with its sequence) on the problem of an instance,
 * simulated: see situ_plan_import. BAD_INPUT where it leaves an operator out. */
situ_status evaluate_file(situ_plan **out, const situ_instance *instance, const char *path, situ_error *error);

#endif
