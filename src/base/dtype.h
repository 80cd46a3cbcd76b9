/* base/dtype.h - how many element types this version names; the public enum leaves room for more. */
#ifndef SITU_BASE_DTYPE_H
#define SITU_BASE_DTYPE_H

#include "situ/types.h"

enum { DTYPE_COUNT = SITU_DTYPE_C128 + 1 };

#endif
