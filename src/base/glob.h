/* base/glob.h - patterns of names. */
#ifndef SITU_BASE_GLOB_H
#define SITU_BASE_GLOB_H

#include <stdbool.h>

/* Whether the pattern matches the whole name: '*' matches any characters, '?' exactly one, and all others
 * themselves. */
bool glob_matches(const char *pattern, const char *name);

#endif
