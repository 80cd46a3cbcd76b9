/* platform/stated.h - devices whose figures a name states: "gpu(16GB,900GB/s,90TF)", "rtx4090(48GB)". */
#ifndef SITU_PLATFORM_STATED_H
#define SITU_PLATFORM_STATED_H

#include "base/arena.h"
#include "platform/catalogue.h"

/* Whether a word is the kind of a device, which has figures only where they are stated: cpu, gpu, npu. */
bool stated_kind(const char *word);

/* Reads the figures at `*at`, which is behind the opening parenthesis, up to the closing one, and makes a row of them
 * in the arena: memory (16GB), bandwidth (900GB/s, 1.8TB/s), FLOP/s in 16 bits (90TF), INT8 (180TOPS). Of a device of
 * the catalogue (`base`) they replace the figures; a gpu, cpu or npu must state memory, bandwidth and FLOP/s, and
 * computes in F32 at half of the rate of 16 bits; those of a cpu are of F32. The name of the row is the text as it
 * stands. BAD_ARGUMENT for anything else. */
situ_status stated_row(const situ_device_kind_info **out, const char **at, const char *kind,
                       const situ_device_kind_info *base, const char *platform, arena *a, situ_error *error);

#endif
