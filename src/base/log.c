#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

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

void log_lines(log_to to, situ_log_level level, const char *text) {
  for (size_t n; *text; text += n + (text[n] == '\n')) {
    n = strcspn(text, "\n");
    if (n > 0) log_line(to, level, "%.*s", (int)(n < 1023 ? n : 1023), text);
  }
}
