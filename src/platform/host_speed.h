/* platform/host_speed.h - how fast this machine is, measured in a few milliseconds, in the time that threads compute,
 * and rounded to two digits. All calls of a process give the same. 0 where it cannot be measured. Any thread may call.
 */
#ifndef SITU_PLATFORM_HOST_SPEED_H
#define SITU_PLATFORM_HOST_SPEED_H

#include <stdint.h>

/* FP32 operations per second of one core on the widest vectors; a fused multiply-add is two. */
double host_core_flops(void);
/* Bytes per second that cores of a NUMA node with that many of them read together: as many as up to four read, or in
 * proportion where these do not hinder each other, then at most 160 GB/s. The first call decides for all nodes. */
double host_bytes_per_s(int32_t cores);

#endif
