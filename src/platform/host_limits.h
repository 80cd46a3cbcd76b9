/* platform/host_limits.h - what control groups (containers, services, batch systems) leave a process of this machine.
 */
#ifndef SITU_PLATFORM_HOST_LIMITS_H
#define SITU_PLATFORM_HOST_LIMITS_H

#include <stdint.h>

typedef struct host_limits {
  double cores;         /* CPU time a second, in cores; INFINITY without a limit */
  int64_t memory_bytes; /* INT64_MAX without a limit */
} host_limits;

/* The limits of this process by both versions of Linux control groups: the lowest of its group and of all above it that
 * it can see. `root` stands before every path that is read: "" but in tests. */
host_limits host_limits_read(const char *root);

#endif
