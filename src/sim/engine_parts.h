/* sim/engine_parts.h - what an engine takes for a stream placement, by the parts that it cuts the model into.
 *
 * In the stream model a device works on while it hands over, and an operator begins as soon as its own inputs are
 * there. Engines run whole parts: one after the other on a device, each when all that it reads has come. A part ends
 * after an operator that another device waits for, and begins before one that waits for what another device has not
 * made when the part begins. It takes, in addition to its operators, what the table of measured times has for its class
 * (part_cost): a start where it reads from another device, and its share of the bytes that parts hand to each other.
 * The device needs a dispatch between two parts. docs/model.md, "Parts". */
#ifndef SITU_SIM_ENGINE_PARTS_H
#define SITU_SIM_ENGINE_PARTS_H

#include "sim/by_start.h"
#include "sim/simulate.h"

/* Parts of one problem; all memory that runs need. Numbered so that each depends on lower ones only. */
typedef struct parts_model {
  const situ_problem *problem;
  int32_t n_parts;
  int32_t *part_of;    /* [operator]; -1: in none, as it is computed from weights alone */
  int32_t *device_of;  /* [part] */
  int32_t *read_start; /* [part + 1] */
  int32_t *read;       /* tensors that each part reads from other parts, each once */
  int64_t *time_ns;    /* [part] after parts_latency_ns: with what the part takes beyond its operators, but for a start
                          of more than these: what a few small operators touch fills no caches */
  int64_t *end_ns;     /* [part] likewise */

  /* scratch */
  started *rows;                  /* [operator] */
  int32_t *order;                 /* [operator] by start */
  int32_t *begun, *closed;        /* [part] positions in that order: of its first operator, and behind its last one if
                                     another device waits for that; else 0 */
  int64_t *begun_ns, *closed_ns;  /* [part] the times of these */
  int32_t *open;                  /* [device] the part that it is in, or -1 */
  int32_t *member_start, *member; /* operators by part */
  int32_t *taken;                 /* [tensor] the last part that reads it, or -1 */
  int64_t *more_ns;               /* [part] what it takes beyond its operators */
  int64_t *free_ns;               /* [device] when it has ended its last part; -1: it has run none */
  int64_t *message_ns;            /* [from device * n_devices + to device] the latency of a link between them, or 0 */
} parts_model;

/* Whether the costs of a problem know what parts take. */
bool parts_known(const situ_problem *problem);

/* NULL without memory. */
parts_model *parts_model_new(const situ_problem *problem, arena *a);

/* Cuts a placement that runs: device, order as in a placement, times as simulated. Fills all but times. */
void parts_cut(parts_model *m, const placement *where, const int64_t *start_ns, const int64_t *finish_ns);

/* Takes parts that were cut elsewhere, as an engine's: part_of and device_of, numbered as above. */
void parts_take(parts_model *m, const int32_t *part_of, const int32_t *device_of, int32_t n_parts);

/* The latency that the parts give. Fills time_ns and end_ns. O(operators + inputs). */
int64_t parts_latency_ns(parts_model *m);

/* The latency by parts of a placement, whose value of a run is given (simulator_run, whose times it reads): that value
 * itself where the costs do not know of parts, where there is one part only, or where it cannot run. */
int64_t parts_value_ns(parts_model *m, const placement *where, const simulation *ran);

#endif
