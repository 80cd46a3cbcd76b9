#include "engine/cores.h"

#include "base/os.h"

core_set cores_allowed(void) {
  core_set set = {{0}};
  if (!os_affinity(set.words, sizeof set.words)) set.words[0] = 1;
  return set;
}

static bool has(const core_set *set, int32_t core) { return set->words[core / 64] >> core % 64 & 1; }

/* Removes n consecutive cores from the set and returns the first; -1 if there are none. */
static int32_t take_run(core_set *set, int32_t n) {
  int32_t length = 0;
  for (int32_t c = 0; c < CORES_MAX; c++) {
    length = has(set, c) ? length + 1 : 0;
    if (length < n) continue;
    for (int32_t i = c - n + 1; i <= c; i++) set->words[i / 64] &= ~((uint64_t)1 << i % 64);
    return c - n + 1;
  }
  return -1;
}

void cores_add(core_set *set, const core_set *more) {
  for (int32_t i = 0; i < CORES_MAX / 64; i++) set->words[i] |= more->words[i];
}

void cores_remove(core_set *set, const core_set *less) {
  for (int32_t i = 0; i < CORES_MAX / 64; i++) set->words[i] &= ~less->words[i];
}

void cores_take(core_set *set, int32_t *first, int32_t n, int32_t each) {
  core_set left = *set;
  bool enough = true;
  for (int32_t i = 0; i < n && enough; i++) {
    int32_t core = take_run(&left, each);
    enough = core >= 0;
    if (first) first[i] = core;
  }
  for (int32_t i = 0; i < n && !enough && first; i++) first[i] = -1;
  if (enough) *set = left;
}
