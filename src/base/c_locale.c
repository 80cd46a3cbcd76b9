#include "base/c_locale.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/os.h"

c_locale c_locale_begin(void) {
  c_locale used = {0};
  used.entered = os_locale_enter(&used.own, &used.before);
  return used;
}

void c_locale_end(c_locale *used) {
  if (used->entered) os_locale_leave(used->own, used->before);
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
  const char *text = os_signal_name(number);
  c_locale_end(&c);
  return text;
}

const char *c_locale_error(int number) {
  c_locale c = c_locale_begin();
  const char *text = strerror(number);
  c_locale_end(&c);
  return text;
}
