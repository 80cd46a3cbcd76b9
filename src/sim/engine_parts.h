/* sim/engine_parts.h - the latency of a stream placement by the parts into which an engine cuts the model.
 *
 * In the stream model a device computes while it sends, and an operator starts as soon as its own inputs have arrived.
 * Engines run whole parts: one after another on a device, each when all that it reads has arrived. A part ends after an
 * operator that another device waits for, and a new part begins with an operator that waits for a result of another
 * device that did not exist when the current part began. In addition to its operators a part takes the costs that the
 * table of measured times has for its class (part_cost): a start if it reads from another device, and its share of the
 * bytes that parts pass to each other. The device needs a dispatch between two parts. docs/model.md, "Parts". */
#ifndef SITU_SIM_ENGINE_PARTS_H
#define SITU_SIM_ENGINE_PARTS_H

#include "sim/by_start.h"
#include "sim/simulate.h"

/* Parts of one problem, numbered so that each depends on lower ones only, and the memory of runs. */
typedef struct parts_model {
  const situ_problem *problem;
  int32_t n_parts;
  int32_t *part_of;    /* [operator]; -1: none, since it is computed from weights alone */
  int32_t *device_of;  /* [part] */
  int32_t *read_start; /* [part + 1] */
  int32_t *read;       /* tensors that each part reads from other parts, each once */
  int64_t *time_ns;    /* [part] after parts_latency_ns: operators and costs of the part; a start counts at most as much
                          as the operators, since a few small operators touch little cached data */
  int64_t *end_ns;     /* [part] likewise */

  /* scratch */
  keyed *rows;                    /* [operator] */
  int32_t *order;                 /* [operator] by start */
  int32_t *begun, *closed;        /* [part] positions in that order: of its first operator, and after its last one if
                                     another device waits for that; else 0 */
  int64_t *begun_ns, *closed_ns;  /* [part] the times of these */
  int32_t *open;                  /* [device] its current part, or -1 */
  int32_t *member_start, *member; /* operators by part */
  int32_t *taken;                 /* [tensor] the last part that reads it, or -1 */
  int64_t *more_ns;               /* [part] its time beyond its operators */
  int64_t *free_ns;               /* [device] the end of its last part; -1: it has run none */
  int64_t *message_ns;            /* [from device * n_devices + to device] the latency of a link between them, or 0 */
} parts_model;

/* Whether the costs of a problem have the costs of parts. */
bool parts_known(const situ_problem *problem);

/* NULL without memory. */
parts_model *parts_model_new(const situ_problem *problem, arena *a);

/* Sets parts that were cut elsewhere, such as those of an engine: part_of and device_of, numbered as above. */
void parts_set(parts_model *m, const int32_t *part_of, const int32_t *device_of, int32_t n_parts);

/* The latency by parts. Fills time_ns and end_ns. O(operators + inputs). */
int64_t parts_latency_ns(parts_model *m);

/* The latency by parts of a placement, from the result and times of its run (simulator_run): the value of the run if
 * the costs have none of parts, there is only one part, or the placement cannot run. */
int64_t parts_value_ns(parts_model *m, const placement *where, const simulation *ran);

#endif
