#include "solve/pipeline/partition.h"

#include <string.h>

#include "base/contracts.h"

bool partition_init(partition *s, const hypergraph *h, arena *a) {
  *s = (partition){.h = h};
  if (!h->memory_is_free && !ARENA_ARRAYS(a, ARRAY(s->footprints, (int64_t)h->n_devices * h->n_footprints)))
    return false;
  return ARENA_ARRAYS(a, ZEROS(s->device, h->n_units), ARRAY(s->count, (int64_t)h->n_edges * h->n_devices),
                      ARRAY(s->sums, h->n_devices), ARRAY(s->unit, (int64_t)h->n_devices * h->n_units),
                      ARRAY(s->place, h->n_units), ARRAY(s->n_units, h->n_devices));
}

static void enter(partition *s, int32_t unit, int32_t d) {
  s->place[unit] = s->n_units[d]++;
  s->unit[(int64_t)d * s->h->n_units + s->place[unit]] = unit;
}

static void leave(partition *s, int32_t unit, int32_t d) {
  int32_t *units = s->unit + (int64_t)d * s->h->n_units, last = units[--s->n_units[d]];
  units[s->place[unit]] = last;
  s->place[last] = s->place[unit];
}

void partition_set(partition *s, const int32_t *device) {
  for (int32_t u = 0; u < s->h->n_units; u++) REQUIRE(partition_allows(s->h, u, device[u]));
  const hypergraph *h = s->h;
  int32_t nd = h->n_devices;
  memset(s->count, 0, (size_t)h->n_edges * (size_t)nd * sizeof *s->count);
  for (int32_t d = 0; d < nd; d++) {
    s->sums[d] = (device_sums){.max_footprint = -1};
    s->n_units[d] = 0;
  }
  if (s->footprints) memset(s->footprints, 0, (size_t)nd * (size_t)h->n_footprints * sizeof *s->footprints);
  for (int32_t u = 0; u < h->n_units; u++) {
    int32_t d = s->device[u] = device[u];
    device_sums *sums = &s->sums[d];
    enter(s, u, d);
    sums->compute_ns += h->time_ns[(int64_t)h->row_of[d] * h->n_units + u];
    sums->bytes += h->bytes[u];
    if (h->footprint[u] > sums->max_footprint) sums->max_footprint = h->footprint[u];
    if (s->footprints) s->footprints[(int64_t)d * h->n_footprints + h->footprint[u]]++;
  }
  for (int32_t e = 0; e < h->n_edges; e++) {
    int32_t *count = s->count + (int64_t)e * nd, from = s->device[h->pin[h->pin_start[e]]];
    int32_t n_pins = h->pin_start[e + 1] - h->pin_start[e];
    for (int32_t i = h->pin_start[e]; i < h->pin_start[e + 1]; i++) count[s->device[h->pin[i]]]++;
    for (int32_t d = 0; d < nd; d++) {
      if (count[d] == 0 || count[d] == n_pins) continue;
      const crossing *price = &h->price[(int64_t)h->row_of[d] * h->n_edges + e];
      *(d == from ? &s->sums[d].out_ns : &s->sums[d].in_ns) += d == from ? price->out_ns : price->in_ns;
    }
  }
}

/* The maximum footprint of a device after a unit has left. */
static int32_t max_footprint_without(const partition *s, int32_t d, int32_t footprint) {
  int32_t max = s->sums[d].max_footprint;
  const int32_t *units = s->footprints + (int64_t)d * s->h->n_footprints;
  if (footprint < max || units[footprint] > 1) return max;
  for (max--; max >= 0 && units[max] == 0;) max--;
  return max;
}

/* Only the two devices of the move are affected: what a device pays for an edge depends only on whether it holds the
 * producer, and whether it holds some but not all pins. */
static void weigh_edges(const partition *s, int32_t unit, int32_t from, int32_t to, partition_change *out) {
  const hypergraph *h = s->h;
  const crossing *price_from = h->price + (int64_t)h->row_of[from] * h->n_edges;
  const crossing *price_to = h->price + (int64_t)h->row_of[to] * h->n_edges;
  for (int32_t i = h->touch_start[unit]; i < h->touch_start[unit + 1]; i++) {
    int32_t e = h->touch[i].edge, first = h->pin_start[e], n_pins = h->pin_start[e + 1] - first;
    const int32_t *count = s->count + (int64_t)e * h->n_devices;
    int32_t at_from = count[from], at_to = count[to];
    if (h->touch[i].produces) {
      if (at_from < n_pins) out->from.out_ns -= price_from[e].out_ns;
      if (at_from > 1) out->from.in_ns += price_from[e].in_ns;
      if (at_to > 0) out->to.in_ns -= price_to[e].in_ns;
      if (at_to + 1 < n_pins) out->to.out_ns += price_to[e].out_ns;
      continue;
    }
    int32_t producer = s->device[h->pin[first]];
    if (producer == from) {
      if (at_from == n_pins) out->from.out_ns += price_from[e].out_ns;
    } else if (at_from == 1) {
      out->from.in_ns -= price_from[e].in_ns;
    }
    if (producer == to) {
      if (at_to + 1 == n_pins) out->to.out_ns -= price_to[e].out_ns;
    } else if (at_to == 0) {
      out->to.in_ns += price_to[e].in_ns;
    }
  }
}

void partition_weigh(const partition *s, int32_t unit, int32_t to, partition_change *out) {
  const hypergraph *h = s->h;
  int32_t from = s->device[unit];
  *out = (partition_change){s->sums[from], s->sums[to]};
  out->from.compute_ns -= h->time_ns[(int64_t)h->row_of[from] * h->n_units + unit];
  out->to.compute_ns += h->time_ns[(int64_t)h->row_of[to] * h->n_units + unit];
  if (!h->memory_is_free) {
    out->from.bytes -= h->bytes[unit];
    out->to.bytes += h->bytes[unit];
    out->from.max_footprint = max_footprint_without(s, from, h->footprint[unit]);
    if (h->footprint[unit] > out->to.max_footprint) out->to.max_footprint = h->footprint[unit];
  }
  weigh_edges(s, unit, from, to, out);
}

void partition_move(partition *s, int32_t unit, int32_t to, const partition_change *change) {
  const hypergraph *h = s->h;
  int32_t from = s->device[unit];
  leave(s, unit, from);
  enter(s, unit, to);
  s->device[unit] = to;
  s->sums[from] = change->from;
  s->sums[to] = change->to;
  for (int32_t i = h->touch_start[unit]; i < h->touch_start[unit + 1]; i++) {
    int32_t *count = s->count + (int64_t)h->touch[i].edge * h->n_devices;
    count[from]--;
    count[to]++;
  }
  if (!s->footprints) return;
  s->footprints[(int64_t)from * h->n_footprints + h->footprint[unit]]--;
  s->footprints[(int64_t)to * h->n_footprints + h->footprint[unit]]++;
}

int64_t partition_period(const partition *s) {
  int64_t max = 0;
  for (int32_t d = 0; d < s->h->n_devices; d++) {
    int64_t load_ns = partition_load(s, &s->sums[d]);
    if (load_ns > max) max = load_ns;
  }
  return max;
}
