/* write/llamacpp_options.h - options of the programs of llama.cpp that make it run a plan.
 *
 * Layers go to devices in the order of -dev by the counts of -ts, in which the head counts as one more of the last; the
 * first ones, which -ngl leaves out, are on the CPU. Blocks that predict further tokens count as layers between the
 * last one and the head. docs/formats/language-models.md */
#ifndef SITU_WRITE_LLAMACPP_OPTIONS_H
#define SITU_WRITE_LLAMACPP_OPTIONS_H

#include "plan/layer_plan.h"
#include "write/writer.h"

enum {
  LLAMACPP_FORM = SITU_FORM_LAYERS | SITU_FORM_SPILL | SITU_FORM_BLOCKS | SITU_FORM_RUNS | SITU_FORM_HEAD |
                  SITU_FORM_HOST_FIRST | SITU_FORM_ONE_GROUP
};

/* The separator of lists in the options of a program. */
typedef struct llamacpp_program {
  const char *name, *servers; /* the option that names RPC servers */
  const char *list, *rules;   /* between devices and shares; between the rules of -ot */
  bool serves;                /* it takes a cache size and a number of streams; else a prompt and tokens to generate */
} llamacpp_program;

/* What the programs call a device. */
typedef struct llamacpp_device {
  const char *name;   /* for -dev: "CUDA0", "RPC1", of a group "CUDA0,CUDA1" */
  const char *buffer; /* for -ot: "CUDA0", "RPC0[host:port]" */
  const char *server; /* "host:port" of the RPC server that has it; NULL: this machine */
  const char *there;  /* its name on that server; NULL where the server's address was given */
} llamacpp_device;

/* [device] those of the plan, in its order; `remote` is filled with the servers in the order of their devices' numbers.
 * BAD_ARGUMENT where --names is not understood. Texts in the arena. */
situ_status llamacpp_devices_find(llamacpp_device **out, const situ_problem *p, const bool *used, arena *a,
                                  situ_error *error);

/* Whether llama.cpp can run plans of the problem: a cache that its back ends compute with, names that it can have. */
situ_status llamacpp_serves(const situ_problem *p, situ_error *error);

/* What llama.cpp calls the device of each layer of a plan and of its head, and the buffers of each device. */
typedef struct llamacpp_places {
  int32_t n_layers;
  const char **layer;  /* [layer] "CPU", "CUDA0", ... */
  const char *head;    /* likewise */
  const char **buffer; /* [device]; NULL: not of the plan */
} llamacpp_places;
situ_status llamacpp_places_find(llamacpp_places *out, const situ_plan *plan, arena *a, situ_error *error);

/* Options in one line, and below it, as comments, what they presume. */
situ_status llamacpp_write(text_buffer *out, const layer_plan *l, const situ_problem *p,
                           const llamacpp_program *program, situ_error *error);

#endif
