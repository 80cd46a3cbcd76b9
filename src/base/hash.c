#include "base/hash.h"

#include <string.h>

#include "base/contracts.h"

typedef struct entry {
  const char *key;
  uint64_t hash;
  int64_t value;
} entry;

/* Eight bytes a slot: where a map outgrows the caches, nearly every probe reads a line of the table from memory, but
 * walks in the order of insertion find their entries one behind the other. */
typedef struct slot {
  uint32_t mark;   /* the high half of the hash */
  uint32_t number; /* of the entry, from 1; 0 for an empty slot */
} slot;

struct string_map {
  arena *arena;
  slot *slots;
  entry *entries;               /* in the order of insertion */
  int64_t n_slots, room, count; /* n_slots is a power of two; room for entries is half of it */
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

/* A table of `n_slots`, with the entries that the map has. */
static bool make_table(string_map *map, int64_t n_slots) {
  slot *slots = ARENA_ZERO(map->arena, slot, n_slots);
  entry *entries = ARENA_NEW(map->arena, entry, n_slots / 2);
  if (!slots || !entries) return false;
  if (map->count > 0) memcpy(entries, map->entries, (size_t)map->count * sizeof *entries);
  for (int64_t k = 0; k < map->count; k++) {
    uint64_t i = entries[k].hash;
    while (slots[i & (uint64_t)(n_slots - 1)].number) i++;
    slots[i & (uint64_t)(n_slots - 1)] = (slot){(uint32_t)(entries[k].hash >> 32), (uint32_t)(k + 1)};
  }
  map->slots = slots;
  map->entries = entries;
  map->n_slots = n_slots;
  map->room = n_slots / 2;
  return true;
}

string_map *string_map_new(arena *a, int64_t expected) {
  string_map *map = ARENA_ZERO(a, string_map, 1);
  int64_t n_slots = 16;
  if (!map) return NULL;
  map->arena = a;
  while (n_slots < expected * 2) n_slots *= 2;
  return make_table(map, n_slots) ? map : NULL;
}

/* The slot of the key, or the empty one where it would go. */
static slot *find_slot(const string_map *map, const char *key, uint64_t hash) {
  for (uint64_t i = hash;; i++) {
    slot *s = &map->slots[i & (uint64_t)(map->n_slots - 1)];
    if (!s->number) return s;
    if (s->mark != (uint32_t)(hash >> 32)) continue;
    const entry *e = &map->entries[s->number - 1];
    if (e->hash == hash && strcmp(e->key, key) == 0) return s;
  }
}

static int64_t put(string_map *map, const char *key, int64_t value, bool replace) {
  uint64_t hash = hash_bytes(key, strlen(key), 0);
  slot *s = find_slot(map, key, hash);
  if (s->number) {
    entry *e = &map->entries[s->number - 1];
    if (replace) e->value = value;
    return e->value;
  }
  if (map->count == map->room) {
    if (map->count > INT32_MAX || !make_table(map, map->n_slots * 2)) return -1;
    s = find_slot(map, key, hash);
  }
  map->entries[map->count++] = (entry){key, hash, value};
  *s = (slot){(uint32_t)(hash >> 32), (uint32_t)map->count};
  return value;
}

int64_t string_map_put(string_map *map, const char *key, int64_t value) {
  REQUIRE(map && key && value >= 0);
  return put(map, key, value, false);
}
int64_t string_map_set(string_map *map, const char *key, int64_t value) {
  REQUIRE(map && key && value >= 0);
  return put(map, key, value, true);
}

int64_t string_map_get(const string_map *map, const char *key) {
  REQUIRE(map && key);
  const slot *s = find_slot(map, key, hash_bytes(key, strlen(key), 0));
  return s->number ? map->entries[s->number - 1].value : -1;
}

int64_t string_map_count(const string_map *map) { return map->count; }
