/* engine/served.h - a plan of a language model, run by llama-server. */
#ifndef SITU_ENGINE_SERVED_H
#define SITU_ENGINE_SERVED_H

#include "engine/measure.h"

/* What a run is asked for, and what the plan expects of it. */
typedef struct served_request {
  const char *options;      /* of llama-server, as the writer has them: a line, quotes included */
  int64_t prompt, generate; /* tokens of a request */
  double prefill, decode;   /* the prediction: tokens per second of one stream; 0: not known */
  int64_t predicted_ns;     /* of the request */
  int32_t n_layers;
  const char *const *layer; /* [layer] the device that it shall be on, by llama.cpp's name */
  const char *head;
  const char *const *buffer;   /* [device] the name of its buffers; NULL: not used */
  const int64_t *memory_bytes; /* [device] what the plan says */
} served_request;

/* Starts llama-server with the options, sends requests, and compares its log with the plan. */
situ_status served_run(situ_run **out, const situ_problem *problem, const char *model, const served_request *request,
                       const measure_options *options, situ_error *error);

#endif
