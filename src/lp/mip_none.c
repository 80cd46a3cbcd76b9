/* No engine for mixed-integer programs. */
#include "lp/mip.h"

const char *mip_missing(void) { return "situ was built without Cbc (package coinor-libcbc-dev)"; }

bool mip_search(mip_outcome *out, const program *p, const mip_limits *limits, mip_found *found, void *context,
                arena *a) {
  return false;
}
