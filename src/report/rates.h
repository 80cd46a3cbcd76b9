/* report/rates.h - tokens per second, as people read them. */
#ifndef SITU_REPORT_RATES_H
#define SITU_REPORT_RATES_H

#include "base/text.h"
#include "sim/token_rates.h"

/* "4.923", "11,340": four digits, whole from a thousand on. Returns `into`. */
const char *rates_text(char into[TEXT_UNIT_BYTES], double rate);

#endif
