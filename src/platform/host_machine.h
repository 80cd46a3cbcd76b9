/* platform/host_machine.h - which machine runs situ, by its CPU. */
#ifndef SITU_PLATFORM_HOST_MACHINE_H
#define SITU_PLATFORM_HOST_MACHINE_H

#include <stdbool.h>

enum { HOST_MACHINE_BYTES = 120 };
/* The CPU as /proc/cpuinfo names it: "AMD EPYC 9B14 96-Core Processor", of ARM "CPU implementer 0x41, part 0xd0c".
 * False, and "", where it names none. `root` stands before the path: "" but in tests. */
bool host_machine_find(char into[HOST_MACHINE_BYTES], const char *root);

#endif
