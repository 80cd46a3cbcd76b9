/* write/layer_reading.h - from devices of layers to devices of operators, for formats that place layers. */
#ifndef SITU_WRITE_LAYER_READING_H
#define SITU_WRITE_LAYER_READING_H

#include "plan/layer_plan.h"

typedef struct layer_reading {
  const situ_problem *problem;
  layer_plan l;        /* l.device[k] is filled by the format: -1 until then */
  int32_t first, head; /* devices of what is before and after the layers */
} layer_reading;

/* UNSUPPORTED where the model has no layers. Call layer_reading_close in any case. */
situ_status layer_reading_open(layer_reading *out, const situ_problem *problem, const char *format, situ_error *error);
void layer_reading_close(layer_reading *r);

/* Gives every operator the device of its layer. BAD_INPUT if a layer has none. */
situ_status layer_reading_devices(int32_t *device, const layer_reading *r, situ_error *error);

/* Stages of consecutive layers: stage k has count[k] layers and is on device stage[k]; the first has what is before the
 * layers, the last what is after them. BAD_INPUT if the counts do not add up. */
situ_status layer_reading_stages(layer_reading *r, const int32_t *stage, const int64_t *count, int32_t n,
                                 situ_error *error);

/* Opens, fills by `read`, which sets devices of layers and ends from what it is given, and gives every operator its
 * device. */
typedef situ_status layer_reader(layer_reading *r, const void *from, situ_error *error);
situ_status layer_reading_read(int32_t *device, const situ_problem *problem, const char *format, layer_reader *read,
                               const void *from, situ_error *error);

/* The layer of a module, by the name that writers give it, or -1. */
int32_t layer_reading_find(const layer_plan *l, const char *module);

/* The device (a group by its first member) of which that is the number among the GPUs of the machine; -1: none. */
int32_t layer_reading_gpu(const situ_problem *problem, int64_t number);
/* The first host in the machine of the first host, or -1. */
int32_t layer_reading_host(const situ_problem *problem);

#endif
