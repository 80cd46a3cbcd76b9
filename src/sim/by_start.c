#include "sim/by_start.h"

void order_by_start(int32_t *out, keyed *rows, const int64_t *start_ns, const int32_t *order, int32_t n) {
  for (int32_t i = 0; i < n; i++) rows[i] = (keyed){start_ns ? start_ns[order ? order[i] : i] : 0, i};
  sort_keyed(rows, n);
  for (int32_t i = 0; i < n; i++) out[i] = order ? order[rows[i].at] : rows[i].at;
}
