/* The row of the stream model. */
#include "sim/models.h"
#include "sim/stream.h"

const execution_model stream_model = {.execution = SITU_EXECUTION_STREAM,
                                      .make = stream_make,
                                      .run = stream_run,
                                      .base_new = stream_base_new,
                                      .run_base = stream_run_base,
                                      .run_below = stream_run_below,
                                      .plan = stream_fill_plan,
                                      .memory = stream_report_memory,
                                      .dispatch = stream_run_dispatch};
