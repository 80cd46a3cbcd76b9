/* sim/stream_serial.h - the run of the stream model with overlap none: one operator or transfer at a time. */
#ifndef SITU_SIM_STREAM_SERIAL_H
#define SITU_SIM_STREAM_SERIAL_H

#include "sim/stream.h"

/* Runs the chains in order, each operator followed by the transfers of its outputs. Returns whether the run completed:
 * false if an input comes later in the order, an operator cannot run on its device, or the run is stopped. Fills
 * start_ns, finish_ns and the sendings, as stream_run_link does. O(V + E + hops). */
bool stream_run_serial(stream *s);

#endif
