#include "situ/version.h"

#define TEXT_OF(number) #number
#define TEXT(major, minor, patch) TEXT_OF(major) "." TEXT_OF(minor) "." TEXT_OF(patch)

const char *situ_version(void) { return TEXT(SITU_VERSION_MAJOR, SITU_VERSION_MINOR, SITU_VERSION_PATCH); }
int32_t situ_version_number(void) { return SITU_VERSION_NUMBER; }
