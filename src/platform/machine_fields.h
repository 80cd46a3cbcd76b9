/* platform/machine_fields.h - lines "key: value" of system tools: nvidia-smi -q, rocm-smi (text, or JSON with a member
 * a line), rocminfo, vulkaninfo --summary, system_profiler. What a key means depends on the heading above it. */
#ifndef SITU_PLATFORM_MACHINE_FIELDS_H
#define SITU_PLATFORM_MACHINE_FIELDS_H

#include <stdbool.h>
#include <stdint.h>

enum { FIELD_BYTES = 128 };

typedef enum field_kind {
  FIELD_NONE = 0,
  FIELD_GPU,        /* its name */
  FIELD_HOST,       /* the name of a CPU */
  FIELD_CHIP,       /* of a Mac: CPU and GPU */
  FIELD_TOTAL,      /* memory of the GPU named last, in MiB */
  FIELD_USED,       /* the same, of it in use */
  FIELD_FREE,       /* the same, of it free */
  FIELD_GENERATION, /* of PCI Express */
  FIELD_LANES
} field_kind;

/* Zeroed before the first line. */
typedef struct field_reader {
  char heading[FIELD_BYTES]; /* the last line without a value */
  bool no_gpu;               /* the device that is described is a CPU */
  int64_t card;              /* of JSON of rocm-smi: the number of the GPU that is described, plus 1; 0: none */
} field_reader;

typedef struct field {
  field_kind kind;
  const char *tool; /* static */
  int64_t index;    /* of the GPU, where the line says it; else -1: that named last */
  int64_t number;
  char text[FIELD_BYTES];
} field;

/* What a line says; FIELD_NONE for others. */
field field_of_line(field_reader *r, const char *line);

#endif
