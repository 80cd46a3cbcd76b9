/* base/near_name.h - for a name that does not exist: which are near. */
#ifndef SITU_BASE_NEAR_NAME_H
#define SITU_BASE_NEAR_NAME_H

#include <stddef.h>
#include <stdint.h>

/* Levenshtein's distance of two names, case aside, cut to 64 letters, or that to what `name` has before its first dash,
 * if `word` has none; 0 where `name` begins with `word`: "h100" is nearer to "h100-80g" than to anything that merely
 * looks alike, and so is "b300" to "b200-180g". */
int name_distance(const char *word, const char *name);

/* "did you mean heft or peft?", or "known: cpop, heft, ..." if no name is near, cut to the buffer. Written into `into`
 * and returned. */
const char *near_names(char *into, size_t capacity, const char *word, const char *const *names, int32_t n);

#endif
