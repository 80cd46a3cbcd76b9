#include "base/log.h"

#include "base/format.h"
#include "base/text.h"

void log_line(log_to to, situ_log_level level, const char *format, ...) {
  char line[1024];
  if (!to.callback) return;
  FORMAT_INTO(line, format);
  text_make_line(line);
  to.callback(to.context, level, line);
}
