#include "problem/unit_list.h"

#include "base/csr.h"

bool unit_list_find(unit_list *out, int32_t *key, int32_t n_operators, int32_t n_keys, arena *a) {
  arena_mark mark = arena_get_mark(a);
  int32_t *of_key = ARENA_NEW(a, int32_t, n_keys);
  if (!of_key) return false;
  out->of = key;
  out->n = csr_number_keys(key, key, n_operators, of_key, n_keys);
  arena_release(a, mark);
  return csr_by_key(&out->start, &out->member, key, n_operators, out->n, a);
}
