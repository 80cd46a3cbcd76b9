/* base/os_wide.h - between the files of Windows: names as UTF-16. */
#ifndef SITU_BASE_OS_WIDE_H
#define SITU_BASE_OS_WIDE_H

#include <errno.h>
#include <stdlib.h>
#include <windows.h>

/* Allocated by malloc; NULL, and errno, where it is not UTF-8 or there is no memory. */
static inline wchar_t *os_wide(const char *text) {
  int n = MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, text, -1, NULL, 0);
  wchar_t *wide = n > 0 ? malloc((size_t)n * sizeof *wide) : NULL;
  errno = n > 0 ? ENOMEM : EILSEQ;
  if (wide) MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, text, -1, wide, n);
  return wide;
}

/* The same back, with / for \. */
static inline char *os_narrow(const wchar_t *wide) {
  int n = WideCharToMultiByte(CP_UTF8, 0, wide, -1, NULL, 0, NULL, NULL);
  char *text = n > 0 ? malloc((size_t)n) : NULL;
  errno = ENOMEM;
  if (text) WideCharToMultiByte(CP_UTF8, 0, wide, -1, text, n, NULL, NULL);
  for (char *at = text; at && *at; at++)
    if (*at == '\\') *at = '/';
  return text;
}

#endif
