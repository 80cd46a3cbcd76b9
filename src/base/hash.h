/* base/hash.h - 64-bit hashes of bytes, and a map from strings to numbers. Nothing may depend on the order of a map;
 * it offers none. */
#ifndef SITU_BASE_HASH_H
#define SITU_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

/* A 64-bit hash of bytes; the same on every machine. Not for defence: maps mix in nothing secret, but probing is
 * bounded by a rebuild on load, and equal hashes only cost time. */
uint64_t hash_bytes(const void *bytes, size_t n, uint64_t seed);

/* One number more in a hash. */
static inline uint64_t hash_number(uint64_t hash, int64_t number) { return hash_bytes(&number, sizeof number, hash); }

/* Keys are borrowed: they must outlive the map. */
typedef struct string_map string_map;

/* A new map in the arena, or NULL. `expected` is a hint for its size. */
string_map *string_map_new(arena *a, int64_t expected);
/* Puts key -> value unless the key is there; returns the value that is there afterwards, or -1 without memory.
 * Values are >= 0. */
int64_t string_map_put(string_map *map, const char *key, int64_t value);
/* Replaces or puts. -1 without memory. */
int64_t string_map_set(string_map *map, const char *key, int64_t value);
/* The value of the key, or -1. */
int64_t string_map_get(const string_map *map, const char *key);
int64_t string_map_count(const string_map *map);

#endif
