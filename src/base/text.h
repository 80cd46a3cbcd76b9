/* base/text.h - a growing text, and a few formats for human readers. Memory failure is remembered, not returned:
 * text_take gives NULL then. */
#ifndef SITU_BASE_TEXT_H
#define SITU_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct text_buffer {
  char *bytes; /* always terminated once something was added */
  size_t length, capacity;
  bool failed;
} text_buffer;

void text_add(text_buffer *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
void text_add_bytes(text_buffer *t, const char *bytes, size_t n);
/* A cell of a CSV table (RFC 4180), in quotes where it needs them; control characters other than ends of lines and tabs
 * become '?', for CSV has no escapes. */
void text_add_csv(text_buffer *t, const char *cell);
/* Hands over the text (free() it), empty text included; NULL if memory ran out. The text is empty again. */
char *text_take(text_buffer *t);
void text_free(text_buffer *t);

/* "1.23 ms", "45.6 us", "7.89 s", "never"; "12.3 MB"; "1.2 G" of anything. Written into `into`, returned. */
enum { TEXT_UNIT_BYTES = 32 };
const char *text_time(char into[TEXT_UNIT_BYTES], int64_t time_ns);
const char *text_size(char into[TEXT_UNIT_BYTES], int64_t size_bytes);
/* Two that are compared: in bytes where their readable forms are equal. */
void text_sizes(char a[TEXT_UNIT_BYTES], char b[TEXT_UNIT_BYTES], int64_t a_bytes, int64_t b_bytes);
const char *text_count(char into[TEXT_UNIT_BYTES], double count);
/* Reads a decimal number of at least 0, independently of the locale; returns the position after it, NULL if there is no
 * number. Digits beyond the 18th are ignored. */
const char *text_scan_number(const char *at, double *out);
/* The same number times 10^power, exactly, rounded down; INT64_MAX where it does not fit. */
const char *text_scan_int(const char *at, int power, int64_t *out);
/* Replaces control characters, including line ends, and bytes that are not UTF-8 by '?', so that a text is a single
 * line and harmless on a terminal. */
void text_make_line(char *text);
/* Bytes of the UTF-8 character that `at` begins with (RFC 3629); 0 where it begins with none, or at the end. */
size_t text_character(const char *at);
bool text_is_utf8(const char *text);
/* The same, but 0 for control characters too: those of ASCII, and U+0080 to U+009F, which terminals may obey. */
size_t text_printable(const char *at);
/* Replaces bytes that are not UTF-8 by '?'; returns whether there were any. */
bool text_make_utf8(char *text);
/* Columns that a UTF-8 text takes on a terminal, taking each code point for one. */
size_t text_columns(const char *utf8);
/* Bytes of its first columns, or of all of it. */
size_t text_bytes(const char *utf8, size_t columns);

#endif
