/* Area price: for any prices u >= 0 of device time and y >= 0 of memory,
 *
 *     T * sum over d of u_d  >=  sum over operators v of min over d of (u_d p(v,d) + y_m(d) w(v))  -  sum over m of y_m
 * cap_m
 *
 * since no device works longer than T and no memory holds more bytes of weights than its capacity. It holds for streams
 * (no device runs two operators at once) and for pipelines (a load includes all compute), but not for calls (calls on
 * one device are not queued). In pipelines the stash counts with the weights. In streams the tensors alive at one
 * instant (bound/alive.h) count too, where that gives a higher bound. */
#include "base/checked.h"
#include "base/fail.h"
#include "bound/alive.h"
#include "bound/area_search.h"
#include "bound/bound.h"

/* The best prices of devices and memories, in one common unit. */
static bool area_certify(certificate *proof, const area_prices *s, const items *all, const situ_problem *p, arena *a) {
  if (s->lower_ns == 0) return true;
  certificate_start(proof, "area_price", s->lower_ns);
  int64_t *time = certificate_add(proof, "time_prices", p->n_devices, a);
  int64_t *byte = certificate_add(proof, "byte_prices", p->n_memories, a);
  if (!time || !byte) return false;
  for (int32_t d = 0; d < p->n_devices; d++) {
    int32_t k = all->column_of[d];
    if (k < 0) continue;
    time[d] = s->time[k];
    byte[p->memory_of[d]] = s->byte[all->room_of[k]];
  }
  return true;
}

static situ_status area_compute(int64_t *lower_ns, certificate *proof, const situ_problem *p, arena *scratch, budget *b,
                                situ_error *error) {
  items all;
  area_prices plain, full;
  int32_t at;
  TRY(items_list(&all, p, scratch, error));
  if (!area_search(&plain, &all, scratch, b) || !area_certify(proof, &plain, &all, p, scratch))
    return fail_no_memory(error);
  *lower_ns = plain.lower_ns;
  if (!alive_find(&at, p, scratch)) return fail_no_memory(error);
  if (at < 0 || budget_over(b)) return SITU_STATUS_OK;
  TRY(items_list(&all, p, scratch, error));
  if (!alive_add(&all, p, at, scratch) || !area_search(&full, &all, scratch, b)) return fail_no_memory(error);
  if (full.lower_ns <= *lower_ns) return SITU_STATUS_OK;
  *lower_ns = full.lower_ns;
  if (!area_certify(proof, &full, &all, p, scratch)) return fail_no_memory(error);
  int64_t *instant = certificate_add_operators(proof, "instant", 1, scratch);
  if (!instant) return fail_no_memory(error);
  *instant = at;
  return SITU_STATUS_OK;
}

const bound area_bound = {
    .name = "area_price",
    .title = "total work at optimal prices of device time and memory",
    .source = "",
    .models = MODEL_STREAM | MODEL_PIPELINE,
    .compute = area_compute,
};
