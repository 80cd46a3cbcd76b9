/* mutate_json.h - changes JSON text by its structure: values are replaced, removed, repeated, nested; the rest stays as
 * it is, so that a reader gets past its first checks. */
#ifndef SITU_TESTS_MUTATE_JSON_H
#define SITU_TESTS_MUTATE_JSON_H

#include "base/rng.h"
#include "base/text.h"

/* A changed copy of a JSON text (free() it), by one to four mutations; it need not be JSON any more. */
char *mutate_json(const char *text, rng *random);

#endif
