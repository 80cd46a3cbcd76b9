#include "view/items.h"

#include "base/checked.h"
#include "base/contracts.h"
#include "base/disjoint.h"
#include "base/fail.h"
#include "view/footprint.h"

bool items_have_pins(const situ_problem *p) {
  for (int32_t v = 0; v < p->n_operators; v++)
    if (p->pin[v] >= 0) return true;
  return false;
}

int32_t items_columns(const situ_problem *p) { return items_have_pins(p) ? p->n_devices : p->n_classes; }

void items_sort_devices(int32_t *column_of, int32_t *column_device, const situ_problem *p) {
  bool apart = items_have_pins(p);
  int32_t n = apart ? p->n_devices : p->n_classes;
  for (int32_t k = 0; k < n; k++) column_device[k] = apart ? k : -1;
  for (int32_t d = 0; d < p->n_devices; d++) {
    column_of[d] = -1;
    if (p->unused[d] && !apart) continue;
    column_of[d] = apart ? d : p->class_of[d];
    column_device[column_of[d]] = d;
  }
}

/* Joins sorts that share a memory into rooms, and adds up what each room holds. */
static bool find_rooms(items *out, const situ_problem *p, bool apart, arena *a) {
  int32_t *owner, *into;
  if (!ARENA_ARRAYS(a, ARRAY(owner, p->n_memories), ARRAY(into, out->n_columns), ARRAY(out->room_of, out->n_columns),
                    ZEROS(out->room_bytes, out->n_columns)))
    return false;
  for (int32_t m = 0; m < p->n_memories; m++) owner[m] = -1;
  disjoint_init(into, out->n_columns);
  for (int32_t d = 0; d < p->n_devices; d++) {
    int32_t k = apart ? d : p->class_of[d], m = p->memory_of[d];
    if (owner[m] < 0) owner[m] = k;
    disjoint_join(into, owner[m], k);
  }
  out->n_rooms = disjoint_number(out->room_of, into, out->n_columns);
  for (int32_t m = 0; m < p->n_memories; m++) {
    int64_t *room = &out->room_bytes[out->room_of[owner[m]]];
    *room = sat_add(*room, p->platform->memory_bytes[m]);
  }
  return true;
}

situ_status items_list(items *out, const situ_problem *p, arena *a, situ_error *error) {
  bool apart = items_have_pins(p), stash = p->execution == SITU_EXECUTION_PIPELINE && !p->of_stream;
  int32_t *column_device; /* one device that represents the sort; -1: none is usable */
  out->n = p->units.n;
  out->n_columns = items_columns(p);
  if (!ARENA_ARRAYS(a, ZEROS(out->devices, out->n_columns), ARRAY(out->column_of, p->n_devices),
                    ARRAY(column_device, out->n_columns), ZEROS(out->time_ns, (int64_t)out->n * out->n_columns),
                    ZEROS(out->weight_bytes, out->n)) ||
      !find_rooms(out, p, apart, a))
    return fail_no_memory(error);
  items_sort_devices(out->column_of, column_device, p);
  for (int32_t d = 0; d < p->n_devices; d++)
    if (out->column_of[d] >= 0) out->devices[out->column_of[d]]++;
  for (int32_t v = 0; v < p->n_operators; v++) {
    int32_t u = p->units.of[v];
    int64_t *row = out->time_ns + (int64_t)u * out->n_columns;
    out->weight_bytes[u] =
        sat_add(out->weight_bytes[u], stash ? footprint_held_bytes(p, v) : p->graph->weight_bytes[v]);
    for (int32_t k = 0; k < out->n_columns; k++) {
      bool allowed = column_device[k] >= 0 && problem_allows(p, v, column_device[k]);
      row[k] = allowed ? sat_add(row[k], problem_time_ns(p, v, column_device[k])) : SITU_NEVER_NS;
    }
  }
  CONTRACT(items_check(out, p));
  return SITU_STATUS_OK;
}

const char *items_check(const items *x, const situ_problem *p) {
  EXPECT(contracts_within(x->column_of, p->n_devices, -1, x->n_columns), "devices are of a sort, or not used");
  EXPECT(contracts_within(x->room_of, x->n_columns, 0, x->n_rooms), "every sort has a room");
  EXPECT(contracts_amounts(x->room_bytes, x->n_rooms), "rooms have sizes of at least 0");
  EXPECT(x->n == p->units.n, "items are the units of the problem");
  EXPECT(contracts_amounts(x->weight_bytes, x->n), "sizes are at least 0");
  EXPECT(contracts_amounts(x->time_ns, (int64_t)x->n * x->n_columns), "times are at least 0");
  for (int32_t k = 0; k < x->n_columns; k++) {
    int32_t n = 0;
    for (int32_t d = 0; d < p->n_devices; d++) n += x->column_of[d] == k;
    EXPECT(n == x->devices[k], "devices counts those of a sort");
  }
  return NULL;
}
