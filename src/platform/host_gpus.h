/* platform/host_gpus.h - the GPUs of this machine, by what its driver says. */
#ifndef SITU_PLATFORM_HOST_GPUS_H
#define SITU_PLATFORM_HOST_GPUS_H

#include "platform/machine_text.h"

/* Asks nvidia-smi, if it is in PATH and answers within seconds, for names, free memory, lanes and NVLink; else reads
 * names and lanes from /proc/driver/nvidia and /sys. Finds nothing where neither is there. `root` stands before the
 * paths that are read: "" but in tests. */
void host_gpus_find(machine_gpus *out, const char *root);

#endif
