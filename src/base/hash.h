/* base/hash.h - 64-bit hashes of bytes, and a map from strings to numbers. Nothing may depend on the order of a map;
 * it offers none. */
#ifndef SITU_BASE_HASH_H
#define SITU_BASE_HASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

#define HASH_OF_LENGTH 0x9e3779b97f4a7c15u

/* A 64-bit hash of bytes; the same on every machine. Not for defence: maps mix in nothing secret, but probing is
 * bounded by a rebuild on load, and equal hashes only cost time. */
uint64_t hash_bytes(const void *bytes, size_t n, uint64_t seed);

/* Eight bytes more, the first the lowest: a step of hash_bytes. */
static inline uint64_t hash_word(uint64_t hash, uint64_t word) {
  hash = (hash ^ word) * 0xff51afd7ed558ccdu;
  return hash ^ (hash >> 32);
}

static inline uint64_t hash_end(uint64_t hash) {
  hash = (hash ^ (hash >> 33)) * 0xc4ceb9fe1a85ec53u;
  return hash ^ (hash >> 29);
}

/* One number more in a hash: as hash_bytes of its bytes, the lowest first. */
static inline uint64_t hash_number(uint64_t hash, int64_t number) {
  return hash_end(hash_word(hash ^ (8 * HASH_OF_LENGTH), (uint64_t)number));
}

/* Whether a hash is among the first *n of seen[max]; if it is not, it is added where there is room. */
static inline bool hash_was_seen(uint64_t *seen, int32_t *n, int32_t max, uint64_t hash) {
  for (int32_t i = 0; i < *n; i++)
    if (seen[i] == hash) return true;
  if (*n < max) seen[(*n)++] = hash;
  return false;
}

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
