/* base/glob.h - patterns of names. */
#ifndef SITU_BASE_GLOB_H
#define SITU_BASE_GLOB_H

#include <stdbool.h>

/* Whether the pattern covers the whole name: '*' stands for any characters, '?' for one, all others for themselves. */
bool glob_matches(const char *pattern, const char *name);

#endif
