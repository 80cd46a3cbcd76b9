#include "platform/host_limits.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/c_locale.h"
#include "base/checked.h"

enum { PATH_BYTES = 1024, LINE_BYTES = 512 };

/* The first line of a file of a group; false where there is none. */
static bool read_line(char line[LINE_BYTES], const char *folder, const char *name) {
  char path[PATH_BYTES + 64];
  if (snprintf(path, sizeof path, "%s/%s", folder, name) >= (int)sizeof path) return false;
  FILE *f = fopen(path, "r");
  bool read = f && fgets(line, LINE_BYTES, f);
  if (f) fclose(f);
  return read;
}

/* The number that a file begins with; 0 where there is none, as in "max". */
static double read_number(const char *folder, const char *name) {
  char line[LINE_BYTES];
  return read_line(line, folder, name) ? c_locale_number(line, NULL) : 0;
}

static void take_cores(host_limits *limits, double quota_us, double period_us) {
  if (quota_us > 0 && period_us > 0) limits->cores = fmin(limits->cores, quota_us / period_us);
}

static void take_memory(host_limits *limits, double bytes) {
  if (bytes >= 1) limits->memory_bytes = min64(limits->memory_bytes, sat_round(bytes));
}

/* One group: version 2 has cpu.max ("200000 100000") and memory.max, version 1 a file for each number. */
static void take_group(host_limits *limits, const char *folder) {
  char line[LINE_BYTES], *end;
  if (read_line(line, folder, "cpu.max")) {
    double quota_us = c_locale_number(line, &end);
    take_cores(limits, quota_us, c_locale_number(end, NULL));
  }
  take_cores(limits, read_number(folder, "cpu.cfs_quota_us"), read_number(folder, "cpu.cfs_period_us"));
  take_memory(limits, read_number(folder, "memory.max"));
  take_memory(limits, read_number(folder, "memory.limit_in_bytes"));
}

/* The group `path` below a mount and all above it. */
static void take_path(host_limits *limits, const char *root, const char *mount, const char *path) {
  char folder[PATH_BYTES];
  int n = snprintf(folder, sizeof folder, "%s/sys/fs/cgroup%s", root, mount);
  if (n >= (int)sizeof folder || (size_t)n + strlen(path) >= sizeof folder) return;
  memcpy(folder + n, path, strlen(path) + 1);
  for (char *end = folder + strlen(folder); end >= folder + n; end--) {
    if (*end != '/' && *end != '\0') continue;
    *end = '\0';
    take_group(limits, folder);
  }
}

/* /proc/self/cgroup has a line "0::/path" for version 2 and lines such as "4:cpu,cpuacct:/path" for version 1. */
host_limits host_limits_read(const char *root) {
  host_limits limits = {.cores = (double)INFINITY, .memory_bytes = INT64_MAX};
  char name[PATH_BYTES], line[LINE_BYTES];
  if (snprintf(name, sizeof name, "%s/proc/self/cgroup", root) >= (int)sizeof name) return limits;
  FILE *f = fopen(name, "r");
  while (f && fgets(line, sizeof line, f)) {
    char *controllers = strchr(line, ':'), *path = controllers ? strchr(controllers + 1, ':') : NULL;
    if (!path || path[1] != '/') continue;
    controllers++;
    *path++ = '\0';
    path[strcspn(path, "\n")] = '\0';
    if (path[1] == '\0') *path = '\0';
    static const char *const mounts[] = {"", "/unified", "/cpu", "/cpu,cpuacct", "/memory"};
    for (size_t k = *controllers ? 2 : 0; k < (*controllers ? 5 : 2); k++) take_path(&limits, root, mounts[k], path);
  }
  if (f) fclose(f);
  return limits;
}
