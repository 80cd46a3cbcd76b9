/* base/ascii.h - letters and digits of ASCII, in every locale: <ctype.h> and strcasecmp follow that of the program,
 * where "I" may not be the capital of "i" (tr_TR) and bytes of UTF-8 may be letters. */
#ifndef SITU_BASE_ASCII_H
#define SITU_BASE_ASCII_H

#include <stdbool.h>
#include <stddef.h>

static inline bool ascii_is_digit(char c) { return c >= '0' && c <= '9'; }
static inline bool ascii_is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
static inline bool ascii_is_alnum(char c) { return ascii_is_digit(c) || ascii_is_letter(c); }
static inline bool ascii_is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
static inline bool ascii_is_blank(char c) { return c == ' ' || c == '\t'; }
static inline char ascii_lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c; }

/* Whether the first n characters of two texts are the same but for upper and lower case; both may end before. */
static inline bool ascii_same_n(const char *a, const char *b, size_t n) {
  for (size_t i = 0; i < n; i++) {
    if (ascii_lower(a[i]) != ascii_lower(b[i])) return false;
    if (!a[i]) return true;
  }
  return true;
}
static inline bool ascii_same(const char *a, const char *b) { return ascii_same_n(a, b, (size_t)-1); }

#endif
