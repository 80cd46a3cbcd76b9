/* situ/version.h - the version of situ that a program was compiled with, and the one it runs with.
 *
 * Before 1.0 a new minor version may change the interface; each has its own shared library name (docs/abi.md). Every
 * function here may be called from any thread; texts are static. */
#ifndef SITU_VERSION_H
#define SITU_VERSION_H

#include <stdint.h>

#include "situ/error.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SITU_VERSION_MAJOR 0
#define SITU_VERSION_MINOR 3
#define SITU_VERSION_PATCH 0

/* The version as one number: 300 for 0.3.0. */
#define SITU_VERSION_NUMBER_OF(major, minor, patch) ((major)*10000 + (minor)*100 + (patch))
#define SITU_VERSION_NUMBER SITU_VERSION_NUMBER_OF(SITU_VERSION_MAJOR, SITU_VERSION_MINOR, SITU_VERSION_PATCH)
/* Whether the headers have this version or a later one; for use in #if. */
#define SITU_VERSION_AT_LEAST(major, minor, patch) (SITU_VERSION_NUMBER >= SITU_VERSION_NUMBER_OF(major, minor, patch))

/* The version of the running library: as text ("0.3.0"), and as a number. */
SITU_API const char *situ_version(void);
SITU_API int32_t situ_version_number(void);

#ifdef __cplusplus
}
#endif
#endif
