/* base/c_locale.h - numbers and messages as text, the same whatever locale the program that uses the library has set.
 *
 * Printing by printf and reading by strtod follow the locale of the process: after setlocale(LC_ALL, "de_DE.UTF-8")
 * 0.5 is printed as "0,5", other locales have a radix of two bytes (ps_AF), and strerror translates. A library can
 * neither set the locale, which belongs to all threads of the program, nor replace the radix afterwards: the format
 * "%g, %g" has commas of its own. So each function here switches the calling thread alone to the C locale (uselocale,
 * POSIX 2008), for the duration of one call of the C library that returns at once, and back. It is not done once for
 * each public function, since these call the program back (progress, stop, log), which must see its own locale. Other
 * threads see nothing of it, and there is no state: newlocale("C") returns a constant in glibc and musl, and a switch
 * takes some 10 ns.
 *
 * tests/house/check_house.py forbids raw calls in src/ that depend on the locale. */
#ifndef SITU_BASE_C_LOCALE_H
#define SITU_BASE_C_LOCALE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

/* snprintf and vsnprintf. */
int c_locale_print(char *into, size_t n, const char *format, ...) __attribute__((format(printf, 3, 4)));
int c_locale_vprint(char *into, size_t n, const char *format, va_list arguments) __attribute__((format(printf, 3, 0)));
/* strtod: the number that a text begins with, correctly rounded; *end (may be NULL) is the position after it. */
double c_locale_number(const char *text, char **end);
/* strerror: a static text, or one of the thread. */
const char *c_locale_error(int number);

/* strsignal: the same. */
const char *c_locale_signal(int number);

/* Around calls of other libraries that print or read numbers: what is between begin and end must be short, and must not
 * call the program back. */
typedef struct c_locale {
  void *own, *before;
  bool entered;
} c_locale;
c_locale c_locale_begin(void);
void c_locale_end(c_locale *used);

#endif
