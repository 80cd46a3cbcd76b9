#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>

void log_line(log_to to, situ_log_level level, const char *format, ...) {
  char line[1024];
  if (!to.callback) return;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  for (unsigned char *c = (unsigned char *)line; *c; c++)
    if (*c < 0x20 || *c == 0x7f) *c = '?';
  to.callback(to.context, level, line);
}
