/* platform/spelling.h - machines as people describe them, in the grammar of composed names. */
#ifndef SITU_PLATFORM_SPELLING_H
#define SITU_PLATFORM_SPELLING_H

#include <stdbool.h>

/* "dual EPYC 7742, 512GB 8-channel DDR4-3200 and 2 RTX 3090 with NVLink" as "2*EPYC 7742(256GB,204.8GB/s)+2*RTX
 * 3090@nvlink": counts, links and the memory of hosts in words, and names of whole machines ("Framework Desktop").
 * False, and nothing is written, where the text holds more than that, or nothing of it. *machine: a term is the name of
 * a machine or of its processor, which has a GPU too that people mean by it. docs/formats/platform.md */
enum { SPELLING_BYTES = 1024 };
bool spelling_resolve(char out[SPELLING_BYTES], bool *machine, const char *name);

#endif
