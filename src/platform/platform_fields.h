/* platform/platform_fields.h - reading the objects of a platform file into plain structs by a table of fields. */
#ifndef SITU_PLATFORM_PLATFORM_FIELDS_H
#define SITU_PLATFORM_PLATFORM_FIELDS_H

#include <stddef.h>

#include "base/json.h"

/* The type of a field in the file and in the struct. */
typedef enum field_kind {
  FIELD_TEXT,  /* a text that is not empty; const char *, NULL when absent */
  FIELD_BOOL,  /* true or false; int64_t 1 or 0, -1 when absent */
  FIELD_WHOLE, /* a whole number of at least `least`; int64_t, -1 when absent */
  FIELD_TIMES, /* a number of at least 0, times `scale`, rounded; int64_t, -1 when absent */
  FIELD_RATE,  /* a number above 0, times `scale`, at most 1e18; double, 0 when absent */
  FIELD_TREE   /* anything; const json_value *, NULL when absent */
} field_kind;

typedef struct field {
  const char *key;
  field_kind kind;
  size_t offset; /* of the member; two keys with one offset are two units of one value and exclude each other */
  double scale;
  int64_t min;
} field;

/* Reads `object` into the struct at `into`, whose members get their absent values first. BAD_INPUT, with `where` and
 * `place` ("devices[2]"), for a key that is not in the table or a value that does not fit. */
situ_status fields_read(void *into, const json_value *object, const field *fields, int n_fields, const char *where,
                        const char *place, situ_error *error);

/* BAD_INPUT at "where: place" with a formatted text. */
situ_status fields_fail(situ_error *error, const char *where, const char *place, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

#endif
