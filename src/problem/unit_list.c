#include "problem/unit_list.h"

#include "base/contracts.h"
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

const char *unit_list_check(const unit_list *x, int32_t n_operators) {
  int32_t opened = 0;
  EXPECT(contracts_within(x->of, n_operators, 0, x->n), "every operator is in a unit");
  for (int32_t v = 0; v < n_operators; v++) {
    EXPECT(x->of[v] <= opened, "units are numbered by their first operator");
    opened += x->of[v] == opened;
  }
  EXPECT(opened == x->n, "no unit is empty");
  EXPECT(contracts_lists(x->start, x->n, n_operators), "start lists members by unit");
  EXPECT(contracts_within(x->member, n_operators, 0, n_operators), "members are operators");
  for (int32_t u = 0; u < x->n; u++) {
    unit_members of = unit_list_members(x, u);
    EXPECT(contracts_rise(of.member, of.n), "members of a unit ascend");
    for (int32_t i = 0; i < of.n; i++) EXPECT(x->of[of.member[i]] == u, "members are of their unit");
  }
  return NULL;
}
