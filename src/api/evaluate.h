/* api/evaluate.h - placements that are given, not searched. */
#ifndef SITU_API_EVALUATE_H
#define SITU_API_EVALUATE_H

#include "situ/instance.h"
#include "situ/plan.h"

/* Judges the one placement that the pins of a problem leave: see situ_place. */
situ_status evaluate_pins(situ_plan **out, const situ_instance *instance, situ_error *error);

#endif
