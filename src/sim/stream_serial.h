/* sim/stream_serial.h - the run of the stream model with overlap none: one operator or transfer at a time. */
#ifndef SITU_SIM_STREAM_SERIAL_H
#define SITU_SIM_STREAM_SERIAL_H

#include "sim/stream.h"

/* Runs what is chained in its order, each operator followed by the transfers of what it made. Whether it came to its
 * end: false where an input comes later in the order, an operator cannot run where it is, or the run is stopped. Fills
 * start_ns, finish_ns and the sendings, as stream_run_link does. O(V + E + hops). */
bool stream_run_serial(stream *s);

#endif
