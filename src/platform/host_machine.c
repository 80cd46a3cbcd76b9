#include "platform/host_machine.h"

#include <stdio.h>
#include <string.h>

enum { LINE_BYTES = 512 };

/* The value of a line "key : value" of the first processor; false for another line. */
static bool take(char *into, size_t n, const char *line, const char *key) {
  size_t length = strlen(key);
  const char *value = strncmp(line, key, length) == 0 ? line + length : NULL;
  if (*into || !value || value[strspn(value, " \t")] != ':') return false;
  value = strchr(value, ':') + 1;
  value += strspn(value, " \t");
  snprintf(into, n, "%.*s", (int)strcspn(value, "\n"), value);
  return true;
}

bool host_machine_find(char into[HOST_MACHINE_BYTES], const char *root) {
  char path[400], line[LINE_BYTES], maker[16] = "", part[16] = "";
  *into = '\0';
  snprintf(path, sizeof path, "%s/proc/cpuinfo", root);
  FILE *f = fopen(path, "r");
  while (f && fgets(line, sizeof line, f))
    if (!take(into, HOST_MACHINE_BYTES, line, "model name") && !take(maker, sizeof maker, line, "CPU implementer"))
      take(part, sizeof part, line, "CPU part");
  if (f) fclose(f);
  if (!*into && *maker && *part) snprintf(into, HOST_MACHINE_BYTES, "CPU implementer %s, part %s", maker, part);
  return *into;
}
