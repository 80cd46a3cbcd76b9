#include "base/hash.h"

#include <string.h>

#include "base/contracts.h"

typedef struct slot {
  const char *key;
  uint64_t hash;
  int64_t value;
} slot;

struct string_map {
  arena *arena;
  slot *slots;
  int64_t capacity, count; /* capacity is a power of two */
};

uint64_t hash_bytes(const void *bytes, size_t n, uint64_t seed) {
  const unsigned char *at = bytes;
  uint64_t h = seed ^ (n * HASH_OF_LENGTH);
  for (; n >= 8; n -= 8, at += 8) {
    uint64_t word = 0;
    for (int i = 0; i < 8; i++) word |= (uint64_t)at[i] << (8 * i);
    h = hash_word(h, word);
  }
  for (; n > 0; n--, at++) h = (h ^ *at) * 0x100000001b3u;
  return hash_end(h);
}

string_map *string_map_new(arena *a, int64_t expected) {
  string_map *map = ARENA_ZERO(a, string_map, 1);
  if (!map) return NULL;
  map->arena = a;
  map->capacity = 16;
  while (map->capacity < expected * 2) map->capacity *= 2;
  map->slots = ARENA_ZERO(a, slot, map->capacity);
  return map->slots ? map : NULL;
}

static slot *find_slot(slot *slots, int64_t capacity, const char *key, uint64_t hash) {
  for (uint64_t i = hash;; i++) {
    slot *s = &slots[i & (uint64_t)(capacity - 1)];
    if (!s->key || (s->hash == hash && strcmp(s->key, key) == 0)) return s;
  }
}

static int grow(string_map *map) {
  slot *slots = ARENA_ZERO(map->arena, slot, map->capacity * 2);
  if (!slots) return 0;
  for (int64_t i = 0; i < map->capacity; i++)
    if (map->slots[i].key) *find_slot(slots, map->capacity * 2, map->slots[i].key, map->slots[i].hash) = map->slots[i];
  map->slots = slots;
  map->capacity *= 2;
  return 1;
}

static int64_t put(string_map *map, const char *key, int64_t value, int replace) {
  uint64_t hash = hash_bytes(key, strlen(key), 0);
  slot *s = find_slot(map->slots, map->capacity, key, hash);
  if (s->key) {
    if (replace) s->value = value;
    return s->value;
  }
  if ((map->count + 1) * 2 > map->capacity) {
    if (!grow(map)) return -1;
    s = find_slot(map->slots, map->capacity, key, hash);
  }
  *s = (slot){key, hash, value};
  map->count++;
  return value;
}

int64_t string_map_put(string_map *map, const char *key, int64_t value) {
  REQUIRE(map && key && value >= 0);
  return put(map, key, value, 0);
}
int64_t string_map_set(string_map *map, const char *key, int64_t value) {
  REQUIRE(map && key && value >= 0);
  return put(map, key, value, 1);
}

int64_t string_map_get(const string_map *map, const char *key) {
  REQUIRE(map && key);
  const slot *s = find_slot(map->slots, map->capacity, key, hash_bytes(key, strlen(key), 0));
  return s->key ? s->value : -1;
}

int64_t string_map_count(const string_map *map) { return map->count; }
