#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/text.h"

void log_line(log_to to, situ_log_level level, const char *format, ...) {
  char line[1024];
  if (!to.callback) return;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  text_make_line(line);
  to.callback(to.context, level, line);
}
