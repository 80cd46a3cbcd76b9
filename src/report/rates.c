#include "report/rates.h"

#include <math.h>

#include "base/c_locale.h"
#include "report/table.h"

const char *rates_text(char into[TEXT_UNIT_BYTES], double rate) {
  if (rate >= 1000 && rate < 1e15) return grouped(into, (int64_t)(rate + 0.5));
  c_locale_print(into, TEXT_UNIT_BYTES, "%.4g", rate);
  return into;
}

const char *rates_text_beside(char into[TEXT_UNIT_BYTES], double rate, double goal) {
  rates_text(into, rate);
  if (rate >= 1000 && rate < 1e15) {
    if ((floor(rate + 0.5) >= goal) == (rate >= goal)) return into;
  } else if ((c_locale_number(into, NULL) >= goal) == (rate >= goal)) {
    return into;
  }
  for (int digits = 5; digits <= 17; digits++) {
    c_locale_print(into, TEXT_UNIT_BYTES, "%.*g", digits, rate);
    if ((c_locale_number(into, NULL) >= goal) == (rate >= goal)) break;
  }
  return into;
}
