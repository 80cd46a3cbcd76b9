/* platform/catalogue.h - looking up known devices and kinds of link. */
#ifndef SITU_PLATFORM_CATALOGUE_H
#define SITU_PLATFORM_CATALOGUE_H

#include "situ/platform.h"

/* The row of that key (case does not matter), or NULL. */
const situ_device_kind_info *catalogue_find(const char *key);
const situ_link_kind_info *link_kind_find(const char *key);

/* Writes the known keys that are nearest to `key` by edit distance into `into`: "a100-40g, a100-80g or a30-24g". */
enum { CATALOGUE_HINT_BYTES = 200 };
const char *catalogue_nearest_device(char into[CATALOGUE_HINT_BYTES], const char *key);
const char *catalogue_nearest_link(char into[CATALOGUE_HINT_BYTES], const char *key);

/* The device of a row: no name yet, no shared memory, a host when the row is a cpu. */
situ_device catalogue_device(const situ_device_kind_info *row);

#endif
