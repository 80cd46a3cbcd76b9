#define _POSIX_C_SOURCE 200809L
#include "base/c_locale.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

c_locale c_locale_begin(void) {
  locale_t own = newlocale(LC_ALL_MASK, "C", (locale_t)0);
  return (c_locale){(void *)own, own ? (void *)uselocale(own) : NULL};
}

void c_locale_end(c_locale *used) {
  if (!used->own) return;
  uselocale((locale_t)used->before);
  freelocale((locale_t)used->own);
}

int c_locale_vprint(char *into, size_t n, const char *format, va_list arguments) {
  c_locale c = c_locale_begin();
  int length = vsnprintf(into, n, format, arguments);
  c_locale_end(&c);
  return length;
}

int c_locale_print(char *into, size_t n, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  int length = c_locale_vprint(into, n, format, arguments);
  va_end(arguments);
  return length;
}

double c_locale_number(const char *text, char **end) {
  c_locale c = c_locale_begin();
  double number = strtod(text, end);
  c_locale_end(&c);
  return number;
}

const char *c_locale_signal(int number) {
  c_locale c = c_locale_begin();
  const char *text = strsignal(number);
  c_locale_end(&c);
  return text;
}

const char *c_locale_error(int number) {
  c_locale c = c_locale_begin();
  const char *text = c.own ? strerror_l(number, (locale_t)c.own) : "unknown error";
  c_locale_end(&c);
  return text;
}
