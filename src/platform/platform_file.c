#include "base/fail.h"
#include "platform/platform_sources.h"

situ_status platform_from_json(situ_platform **out, const json_value *root, const char *where, situ_error *error) {
  *out = NULL;
  return fail_with(error, SITU_STATUS_UNSUPPORTED, where, "not yet");
}
