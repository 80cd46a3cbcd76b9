/* Costs of several steps, summed. */
#include <string.h>

#include "base/checked.h"
#include "base/contracts.h"
#include "cost/costs.h"

static int64_t weighed(int64_t a, int64_t x, int64_t b, int64_t y) { return sat_add(sat_mul(a, x), sat_mul(b, y)); }

/* Numbers the pairs of rows that some tensor has, in *pair_of. Returns how many there are. */
static int32_t pair_rows(int32_t *pair_of, const situ_costs *a, const situ_costs *b) {
  int32_t n = 0, width = b->n_rows;
  memset(pair_of, -1, (size_t)a->n_rows * (size_t)width * sizeof *pair_of);
  for (int32_t t = 0; t < a->n_tensors; t++) {
    int32_t *at = &pair_of[(int64_t)costs_row(a, t) * width + costs_row(b, t)];
    if (*at < 0) *at = n++;
  }
  return n;
}

/* Like costs_add_up, but makes a new row for each pair of rows. */
static bool add_transfers(situ_costs *c, int64_t x, const situ_costs *more, int64_t y, arena *scratch) {
  int32_t width = more->n_rows;
  int32_t *pair_of = ARENA_NEW(scratch, int32_t, (int64_t)c->n_rows * width);
  if (!pair_of) return false;
  int32_t n_rows = pair_rows(pair_of, c, more);
  int64_t *rows = NULL, **row_of = NULL, *min = NULL, *max = NULL;
  if (!ARENA_ARRAYS(c->arena, ARRAY(rows, (int64_t)n_rows * c->n_kinds), ARRAY(row_of, c->n_tensors),
                    ZEROS(min, n_rows), ZEROS(max, n_rows)))
    return false;
  for (int32_t t = 0; t < c->n_tensors; t++) {
    int64_t at = (int64_t)costs_row(c, t) * width + costs_row(more, t);
    row_of[t] = rows + (int64_t)pair_of[at] * c->n_kinds;
    for (int32_t k = 0; k < c->n_kinds; k++)
      row_of[t][k] = weighed(c->transfer_ns[t][k], x, more->transfer_ns[t][k], y);
  }
  c->n_rows = n_rows;
  c->transfer_rows = rows;
  c->transfer_ns = row_of;
  c->row_min_ns = min;
  c->row_max_ns = max;
  costs_find_extremes(c);
  return true;
}

bool costs_add_up(situ_costs *c, int64_t x, const situ_costs *more, int64_t y) {
  REQUIRE(x >= 0 && y >= 0);
  REQUIRE(more->n_operators == c->n_operators && more->n_tensors == c->n_tensors);
  REQUIRE(more->n_kinds == c->n_kinds && more->n_classes == c->n_classes);
  REQUIRE(!c->collective_ns == !more->collective_ns && !c->end_ns == !more->end_ns);
  arena *scratch = arena_new();
  c->offloads |= more->offloads;
  bool ok = scratch && add_transfers(c, x, more, y, scratch);
  arena_free(scratch);
  for (int64_t i = 0; ok && i < (int64_t)c->n_operators * c->n_classes; i++)
    c->time_ns[i] = weighed(c->time_ns[i], x, more->time_ns[i], y);
  for (int64_t i = 0; ok && c->collective_ns && i < (int64_t)c->n_operators * c->n_classes; i++)
    c->collective_ns[i] = weighed(c->collective_ns[i], x, more->collective_ns[i], y);
  for (int64_t i = 0; ok && c->one_member_ns && i < (int64_t)c->n_operators * c->n_classes; i++)
    c->one_member_ns[i] = weighed(c->one_member_ns[i], x, more->one_member_ns[i], y);
  for (int64_t i = 0; ok && c->end_ns && i < (int64_t)c->n_operators * c->n_classes; i++)
    c->end_ns[i] = weighed(c->end_ns[i], x, more->end_ns[i], y);
  return ok;
}
