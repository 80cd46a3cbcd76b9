/* No engine for mixed-integer programs. */
#include "lp/mip.h"

bool mip_search(mip_outcome *out, const program *p, const mip_limits *limits, mip_found *found, void *context,
                arena *a) {
  return false;
}
