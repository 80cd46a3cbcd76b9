/* report/rates.h - tokens per second, as people read them. */
#ifndef SITU_REPORT_RATES_H
#define SITU_REPORT_RATES_H

#include "base/text.h"
#include "sim/token_rates.h"

/* "4.923", "11,340": four digits, whole from a thousand on. Returns `into`. */
const char *rates_text(char into[TEXT_UNIT_BYTES], double rate);
/* The same, with as many more digits as it takes to be at least `goal` where, and only where, the rate is. */
const char *rates_text_beside(char into[TEXT_UNIT_BYTES], double rate, double goal);

#endif
