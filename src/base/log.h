/* base/log.h - messages to a caller's callback during a call. Nothing is kept or printed; without a callback nothing is
 * done. */
#ifndef SITU_BASE_LOG_H
#define SITU_BASE_LOG_H

#include "situ/types.h"

typedef struct log_to {
  situ_log_callback *callback; /* may be NULL */
  void *context;
} log_to;

/* One line; control characters are replaced. Long ones are cut. */
void log_line(log_to to, situ_log_level level, const char *format, ...) __attribute__((format(printf, 3, 4)));

#endif
