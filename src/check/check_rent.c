#include "base/checked.h"
#include "check/check_certificate.h"

/* A memory never holds more than all bytes of a problem, so no more than these count of its capacity. The prices are in
 * the range of their field, so a product is at most 2^54 * 2^56, and the sum over SITU_MAX_DEVICES memories 2^122. */
__int128 check_rent(const judge *j, const int64_t *byte_prices) {
  __int128 sum = 0;
  for (int32_t m = 0; m < j->platform->n_memories; m++)
    sum += (__int128)byte_prices[m] * min64(j->platform->memory_bytes[m], PROBLEM_MAX_BYTES);
  return sum;
}
