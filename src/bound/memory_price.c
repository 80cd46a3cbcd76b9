/* Memory price: if the only memories that certain items may use have less room than these items have weights, there is
 * no plan. For fractional items this condition is also sufficient (Hall's theorem), so prices of 0 and 1 for a byte are
 * enough: 1 in those memories. The sets tried are all rooms together and the rooms of each item. Tried again with what
 * is certain to be in memory at one instant of a stream (docs/theory/bounds/alive.md). */
#include <string.h>

#include "base/checked.h"
#include "base/fail.h"
#include "bound/alive.h"
#include "bound/bound.h"
#include "view/items.h"

enum { MAX_TRIED = 64 };

/* Marks the rooms that an item may use. */
static void find_rooms(bool *rooms, const items *all, int32_t item) {
  memset(rooms, 0, (size_t)all->n_rooms * sizeof *rooms);
  for (int32_t k = 0; k < all->n_columns; k++)
    if (all->time_ns[(int64_t)item * all->n_columns + k] != SITU_NEVER_NS) rooms[all->room_of[k]] = true;
}

/* Whether the items confined to these rooms have more bytes of weights than the rooms hold. */
static bool is_too_small(const bool *rooms, bool *own, const items *all) {
  int64_t room = 0, weights = 0;
  for (int32_t r = 0; r < all->n_rooms; r++) {
    if (rooms[r] && all->room_bytes[r] == SITU_UNLIMITED_BYTES) return false;
    if (rooms[r]) room = sat_add(room, all->room_bytes[r]);
  }
  for (int32_t i = 0; i < all->n; i++) {
    bool inside = true;
    find_rooms(own, all, i);
    for (int32_t r = 0; r < all->n_rooms; r++) inside &= rooms[r] || !own[r];
    if (inside) weights = sat_add(weights, all->weight_bytes[i]);
  }
  return weights > room;
}

/* A certificate of kind area_price with no prices of time. */
static bool memory_price_certify(certificate *proof, const bool *rooms, const items *all, const situ_problem *p,
                                 arena *a) {
  certificate_start(proof, "area_price", SITU_NEVER_NS);
  int64_t *byte = NULL;
  if (certificate_add(proof, "time_prices", p->n_devices, a))
    byte = certificate_add(proof, "byte_prices", p->n_memories, a);
  for (int32_t d = 0; d < p->n_devices && byte; d++)
    if (all->column_of[d] >= 0) byte[p->memory_of[d]] = rooms[all->room_of[all->column_of[d]]];
  return byte;
}

/* *refuted says whether some set of rooms tried is too small, which is then in `rooms`. False without memory. */
static bool try_rooms(bool *refuted, bool *rooms, const items *all, arena *scratch, budget *b) {
  bool *own, *last;
  *refuted = false;
  if (!ARENA_ARRAYS(scratch, ARRAY(own, all->n_rooms), ZEROS(last, all->n_rooms))) return false;
  size_t bytes = (size_t)all->n_rooms * sizeof *rooms;
  for (int32_t i = -1, tried = 0; i < all->n && tried < MAX_TRIED && !budget_over(b) && !*refuted; i++) {
    if (i < 0)
      memset(rooms, true, bytes);
    else
      find_rooms(rooms, all, i);
    if (memcmp(rooms, last, bytes) == 0) continue;
    memcpy(last, rooms, bytes);
    tried++;
    *refuted = is_too_small(rooms, own, all);
  }
  return true;
}

static situ_status memory_price_compute(int64_t *lower_ns, certificate *proof, const situ_problem *p, arena *scratch,
                                        budget *b, situ_error *error) {
  items all;
  bool *rooms, refuted;
  int32_t at = -1;
  *lower_ns = 0;
  TRY(items_list(&all, p, scratch, error));
  if (!(rooms = ARENA_NEW(scratch, bool, all.n_rooms)) || !try_rooms(&refuted, rooms, &all, scratch, b) ||
      (!refuted && !alive_find(&at, p, scratch)))
    return fail_no_memory(error);
  if (at >= 0 && (!alive_add(&all, p, at, scratch) || !try_rooms(&refuted, rooms, &all, scratch, b)))
    return fail_no_memory(error);
  if (!refuted) return SITU_STATUS_OK;
  *lower_ns = SITU_NEVER_NS;
  if (!memory_price_certify(proof, rooms, &all, p, scratch)) return fail_no_memory(error);
  int64_t *instant = at >= 0 ? certificate_add_operators(proof, "instant", 1, scratch) : NULL;
  if (at >= 0 && !instant) return fail_no_memory(error);
  if (instant) *instant = at;
  return SITU_STATUS_OK;
}

const bound memory_price_bound = {
    .name = "memory_price",
    .title = "proof that weights, and what is in use at one moment, do not fit",
    .source = "Hall, On representatives of subsets, 1935",
    .models = MODEL_STREAM | MODEL_CALLS | MODEL_PIPELINE,
    .compute = memory_price_compute,
};
