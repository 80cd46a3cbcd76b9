#include "bound/items.h"

#include "base/checked.h"
#include "base/contracts.h"
#include "base/fail.h"

static bool has_pins(const situ_problem *p) {
  for (int32_t v = 0; v < p->n_operators; v++)
    if (p->pin[v] >= 0) return true;
  return false;
}

static int32_t room_root(const int32_t *room_of, int32_t k) {
  while (room_of[k] != k) k = room_of[k];
  return k;
}

/* Joins sorts that share a memory, and adds up what each room holds. */
static bool find_rooms(items *out, const situ_problem *p, bool apart, arena *a) {
  int32_t *owner = ARENA_NEW(a, int32_t, p->n_memories), *root = ARENA_NEW(a, int32_t, out->n_columns);
  out->room_of = ARENA_NEW(a, int32_t, out->n_columns);
  out->room_bytes = ARENA_ZERO(a, int64_t, out->n_columns);
  if (!owner || !root || !out->room_of || !out->room_bytes) return false;
  for (int32_t m = 0; m < p->n_memories; m++) owner[m] = -1;
  for (int32_t k = 0; k < out->n_columns; k++) root[k] = k;
  for (int32_t d = 0; d < p->n_devices; d++) {
    int32_t k = apart ? d : p->class_of[d], m = p->memory_of[d];
    if (owner[m] < 0) owner[m] = k;
    int32_t one = room_root(root, owner[m]), other = room_root(root, k);
    if (one != other) root[one > other ? one : other] = one < other ? one : other;
  }
  out->n_rooms = 0;
  for (int32_t k = 0; k < out->n_columns; k++)
    out->room_of[k] = root[k] == k ? out->n_rooms++ : out->room_of[room_root(root, k)];
  for (int32_t m = 0; m < p->n_memories; m++) {
    int64_t *room = &out->room_bytes[out->room_of[owner[m]]];
    *room = sat_add(*room, p->platform->memory_bytes[m]);
  }
  return true;
}

situ_status items_list(items *out, const situ_problem *p, arena *a, situ_error *error) {
  bool apart = has_pins(p);
  out->n = 0;
  out->n_columns = apart ? p->n_devices : p->n_classes;
  out->devices = ARENA_ZERO(a, int32_t, out->n_columns);
  out->column_of = ARENA_NEW(a, int32_t, p->n_devices);
  int32_t *column_device = ARENA_NEW(a, int32_t, out->n_columns); /* one that stands for all, -1: none may be used */
  out->time_ns = ARENA_NEW(a, int64_t, (int64_t)p->n_operators * out->n_columns);
  out->first = ARENA_NEW(a, int32_t, p->n_operators);
  out->weight_bytes = ARENA_ZERO(a, int64_t, p->n_operators);
  if (!out->devices || !out->column_of || !column_device || !out->time_ns || !out->first || !out->weight_bytes ||
      !find_rooms(out, p, apart, a))
    return fail_no_memory(error);
  for (int32_t k = 0; k < out->n_columns; k++) column_device[k] = apart ? k : -1;
  for (int32_t d = 0; d < p->n_devices; d++) {
    int32_t k = apart ? d : p->class_of[d];
    out->column_of[d] = -1;
    if (p->unused[d] && !apart) continue;
    out->column_of[d] = k;
    out->devices[k]++;
    column_device[k] = d;
  }
  for (int32_t v = 0; v < p->n_operators; v++) {
    int32_t group = p->graph->colocation[v];
    const int32_t *members = group >= 0 ? p->group_member + p->group_start[group] : &v;
    int32_t size = group >= 0 ? p->group_start[group + 1] - p->group_start[group] : 1;
    if (members[0] != v) continue;
    out->first[out->n] = v;
    for (int32_t i = 0; i < size; i++)
      out->weight_bytes[out->n] = sat_add(out->weight_bytes[out->n], p->graph->weight_bytes[members[i]]);
    int64_t *row = out->time_ns + (int64_t)out->n++ * out->n_columns;
    for (int32_t k = 0; k < out->n_columns; k++) {
      row[k] = 0;
      for (int32_t i = 0; i < size; i++) {
        bool allowed = column_device[k] >= 0 && problem_allows(p, members[i], column_device[k]);
        row[k] = allowed ? sat_add(row[k], problem_time_ns(p, members[i], column_device[k])) : SITU_NEVER_NS;
      }
    }
  }
  CONTRACT(items_check(out, p));
  return SITU_STATUS_OK;
}

const char *items_check(const items *x, const situ_problem *p) {
  EXPECT(contracts_within(x->column_of, p->n_devices, -1, x->n_columns), "devices are of a sort, or not used");
  EXPECT(contracts_within(x->room_of, x->n_columns, 0, x->n_rooms), "every sort has a room");
  EXPECT(contracts_amounts(x->room_bytes, x->n_rooms), "rooms have sizes of at least 0");
  EXPECT(contracts_within(x->first, x->n, 0, p->n_operators), "items are of operators");
  EXPECT(contracts_rise(x->first, x->n), "items go by their first operator");
  EXPECT(contracts_amounts(x->weight_bytes, x->n), "sizes are at least 0");
  EXPECT(contracts_amounts(x->time_ns, (int64_t)x->n * x->n_columns), "times are at least 0");
  for (int32_t k = 0; k < x->n_columns; k++) {
    int32_t n = 0;
    for (int32_t d = 0; d < p->n_devices; d++) n += x->column_of[d] == k;
    EXPECT(n == x->devices[k], "devices counts those of a sort");
  }
  return NULL;
}
