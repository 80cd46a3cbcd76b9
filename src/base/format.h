/* base/format.h - for functions with a format and `...`. */
#ifndef SITU_BASE_FORMAT_H
#define SITU_BASE_FORMAT_H

#include <stdarg.h>

#include "base/c_locale.h"

/* Writes what follows the parameter `format` of the calling function into an array of char, cut to its size. */
#define FORMAT_INTO(array, format)                                   \
  do {                                                               \
    va_list arguments_;                                              \
    va_start(arguments_, format);                                    \
    (void)c_locale_vprint(array, sizeof(array), format, arguments_); \
    va_end(arguments_);                                              \
  } while (0)

#endif
