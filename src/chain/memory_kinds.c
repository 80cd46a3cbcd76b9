#include "chain/memory_kinds.h"

static bool are_equal(const visits *v, int32_t a, int32_t b) {
  const situ_problem *p = v->problem;
  bool equal = p->platform->memory_bytes[a] == p->platform->memory_bytes[b];
  for (int64_t i = 0; i < p->n_operators && equal; i++)
    equal = v->time_ns[i * v->n_memories + a] == v->time_ns[i * v->n_memories + b];
  return equal;
}

bool memory_kinds_find(memory_kinds *out, const visits *v, arena *a) {
  int32_t nm = v->n_memories;
  *out = (memory_kinds){.n = 0};
  if (!ARENA_ARRAYS(a, ARRAY(out->of, nm), ZEROS(out->members, nm), ARRAY(out->some, nm))) return false;
  for (int32_t m = 0; m < nm; m++) {
    int32_t k = 0;
    while (k < out->n && !are_equal(v, out->some[k], m)) k++;
    if (k == out->n) out->some[out->n++] = m;
    out->of[m] = k;
    out->members[k]++;
  }
  return true;
}
