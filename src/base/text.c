#include "base/text.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ascii.h"
#include "base/c_locale.h"
#include "base/checked.h"
#include "base/contracts.h"

static bool reserve(text_buffer *t, size_t more) {
  if (t->failed) return false;
  if (t->length + more + 1 <= t->capacity) return true;
  size_t capacity = t->capacity ? t->capacity : 256;
  while (capacity < t->length + more + 1) capacity *= 2;
  char *bytes = realloc(t->bytes, capacity);
  if (!bytes) {
    t->failed = true;
    return false;
  }
  t->bytes = bytes;
  t->capacity = capacity;
  return true;
}

void text_add_bytes(text_buffer *t, const char *bytes, size_t n) {
  REQUIRE(bytes || n == 0);
  if (!reserve(t, n)) return;
  memcpy(t->bytes + t->length, bytes, n);
  t->length += n;
  t->bytes[t->length] = '\0';
}

void text_add(text_buffer *t, const char *format, ...) {
  va_list arguments, again;
  va_start(arguments, format);
  va_copy(again, arguments);
  int n = c_locale_vprint(NULL, 0, format, arguments);
  va_end(arguments);
  t->failed |= n < 0;
  if (n >= 0 && reserve(t, (size_t)n)) {
    c_locale_vprint(t->bytes + t->length, (size_t)n + 1, format, again);
    t->length += (size_t)n;
  }
  va_end(again);
}

void text_add_csv(text_buffer *t, const char *cell) {
  bool plain = !cell[strcspn(cell, "\",\r\n")];
  if (!plain) text_add_bytes(t, "\"", 1);
  for (size_t n; *cell; cell += n ? n : 1) {
    n = strchr("\r\n\t", *cell) ? 1 : text_printable(cell);
    if (*cell == '"') text_add_bytes(t, cell, 1);
    text_add_bytes(t, n ? cell : "?", n ? n : 1);
  }
  if (!plain) text_add_bytes(t, "\"", 1);
}

char *text_take(text_buffer *t) {
  if (!t->failed) reserve(t, 0);
  char *bytes = t->failed ? NULL : t->bytes;
  if (bytes)
    bytes[t->length] = '\0';
  else
    free(t->bytes);
  *t = (text_buffer){0};
  return bytes;
}

void text_free(text_buffer *t) {
  free(t->bytes);
  *t = (text_buffer){0};
}

/* Three significant digits with the largest unit that leaves at least 1. */
static const char *scaled(char *into, double value, const char *const *units, const double *sizes, int n) {
  int u = n - 1;
  while (u > 0 && fabs(value) < sizes[u] * 0.9995) u--;
  double v = value / sizes[u];
  int decimals = u == 0 && v == floor(v) ? 0 : fabs(v) < 9.995 ? 2 : fabs(v) < 99.95 ? 1 : 0;
  c_locale_print(into, TEXT_UNIT_BYTES, "%.*f%s", decimals, v, units[u]);
  return into;
}

const char *text_time(char into[TEXT_UNIT_BYTES], int64_t time_ns) {
  static const char *const units[] = {" ns", " us", " ms", " s"};
  static const double sizes[] = {1, 1e3, 1e6, 1e9};
  if (time_ns == INT64_MAX) return strcpy(into, "never");
  return scaled(into, (double)time_ns, units, sizes, 4);
}

const char *text_size(char into[TEXT_UNIT_BYTES], int64_t size_bytes) {
  static const char *const units[] = {" B", " KB", " MB", " GB", " TB"};
  static const double sizes[] = {1, 1e3, 1e6, 1e9, 1e12};
  if (size_bytes == INT64_MAX) return strcpy(into, "no limit");
  return scaled(into, (double)size_bytes, units, sizes, 5);
}

void text_sizes(char a[TEXT_UNIT_BYTES], char b[TEXT_UNIT_BYTES], int64_t a_bytes, int64_t b_bytes) {
  if (strcmp(text_size(a, a_bytes), text_size(b, b_bytes)) != 0) return;
  snprintf(a, TEXT_UNIT_BYTES, "%lld bytes", (long long)a_bytes);
  snprintf(b, TEXT_UNIT_BYTES, "%lld bytes", (long long)b_bytes);
}

const char *text_count(char into[TEXT_UNIT_BYTES], double count) {
  static const char *const units[] = {"", " k", " M", " G", " T", " P"};
  static const double sizes[] = {1, 1e3, 1e6, 1e9, 1e12, 1e15};
  return scaled(into, count, units, sizes, 6);
}

size_t text_character(const char *text) {
  const unsigned char *at = (const unsigned char *)text;
  size_t n = at[0] == 0                      ? 0
             : at[0] < 0x80                  ? 1
             : at[0] >= 0xc2 && at[0] < 0xe0 ? 2
             : at[0] >= 0xe0 && at[0] < 0xf0 ? 3
             : at[0] >= 0xf0 && at[0] < 0xf5 ? 4
                                             : 0;
  for (size_t i = 1; i < n; i++)
    if ((at[i] & 0xc0) != 0x80) return 0;
  bool overlong = (at[0] == 0xe0 && at[1] < 0xa0) || (at[0] == 0xf0 && at[1] < 0x90);
  bool surrogate = at[0] == 0xed && at[1] >= 0xa0, beyond = at[0] == 0xf4 && at[1] >= 0x90;
  return overlong || surrogate || beyond ? 0 : n;
}

size_t text_printable(const char *text) {
  const unsigned char *at = (const unsigned char *)text;
  bool control = at[0] < 0x20 || at[0] == 0x7f || (at[0] == 0xc2 && at[1] < 0xa0);
  return control ? 0 : text_character(text);
}

bool text_is_utf8(const char *text) {
  for (size_t n; *text; text += n)
    if ((n = text_character(text)) == 0) return false;
  return true;
}

bool text_make_utf8(char *text) {
  bool changed = false;
  while (*text) {
    size_t n = text_character(text);
    if (n == 0) *text = '?', changed = true;
    text += n ? n : 1;
  }
  return changed;
}

size_t text_columns(const char *utf8) {
  size_t n = 0;
  for (; *utf8; utf8++) n += ((unsigned char)*utf8 & 0xc0) != 0x80;
  return n;
}

size_t text_bytes(const char *utf8, size_t columns) {
  size_t n = 0;
  for (; utf8[n] && columns > 0; columns--) do
      n++;
    while (((unsigned char)utf8[n] & 0xc0) == 0x80);
  return n;
}

/* digits * 10^scale */
typedef struct decimal {
  int64_t digits;
  int scale;
} decimal;

static const char *scan_decimal(const char *at, decimal *out) {
  int digits = 0, significant = 0;
  bool fraction = false;
  *out = (decimal){0};
  for (;; at++) {
    if (*at == '.' && !fraction) {
      fraction = true;
    } else if (*at >= '0' && *at <= '9') {
      digits++;
      if (significant < 18) {
        out->digits = out->digits * 10 + (*at - '0');
        significant += out->digits > 0;
        out->scale -= fraction;
      } else {
        out->scale += !fraction;
      }
    } else {
      break;
    }
  }
  if (digits == 0 || digits > 300) return NULL;
  if (*at == 'e' || *at == 'E') {
    const char *digit = at + 1 + (at[1] == '+' || at[1] == '-');
    int exponent = 0;
    if (!ascii_is_digit(*digit)) return NULL;
    for (; ascii_is_digit(*digit); digit++)
      if ((exponent = 10 * exponent + (*digit - '0')) > 400) return NULL;
    out->scale += at[1] == '-' ? -exponent : exponent;
    at = digit;
  }
  return at;
}

const char *text_scan_number(const char *at, double *out) {
  decimal d;
  const char *end = scan_decimal(at, &d);
  if (end) *out = d.scale < 0 ? (double)d.digits / pow(10, -d.scale) : (double)d.digits * pow(10, d.scale);
  return end;
}

const char *text_scan_int(const char *at, int power, int64_t *out) {
  decimal d;
  const char *end = scan_decimal(at, &d);
  if (!end) return NULL;
  for (d.scale += power; d.scale < 0 && d.digits > 0; d.scale++) d.digits /= 10;
  for (; d.scale > 0 && d.digits > 0 && d.digits < INT64_MAX; d.scale--) d.digits = sat_mul(d.digits, 10);
  *out = d.digits;
  return end;
}

void text_make_line(char *text) {
  for (size_t n; *text; text += n ? n : 1)
    if ((n = text_printable(text)) == 0) *text = '?';
}
