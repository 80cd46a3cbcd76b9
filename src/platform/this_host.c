#include "base/fail.h"
#include "platform/platform_sources.h"

situ_status platform_from_this_host(situ_platform **out, situ_error *error) {
  *out = NULL;
  return fail_with(error, SITU_STATUS_UNSUPPORTED, "this-host", "not yet");
}
