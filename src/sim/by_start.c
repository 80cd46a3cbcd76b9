#include "sim/by_start.h"

#include "base/compare.h"

#include <stdlib.h>

COMPARATOR(by_start_and_position, started, UP(start_ns) UP(position))

void order_by_start(int32_t *out, started *rows, const int64_t *start_ns, const int32_t *order, int32_t n) {
  for (int32_t i = 0; i < n; i++) {
    int32_t v = order ? order[i] : i;
    rows[i] = (started){start_ns ? start_ns[v] : 0, i, v};
  }
  qsort(rows, (size_t)n, sizeof *rows, by_start_and_position);
  for (int32_t i = 0; i < n; i++) out[i] = rows[i].op;
}
