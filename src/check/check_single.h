/* check/check_single.h - the judge of the yardstick. */
#ifndef SITU_CHECK_CHECK_SINGLE_H
#define SITU_CHECK_CHECK_SINGLE_H

#include "check/judge.h"

/* Recomputes the best single device and compares it with the plan. NO_MEMORY or OK. */
situ_status check_single(judge *j, situ_error *error);

#endif
