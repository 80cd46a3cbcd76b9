#include "report/rates.h"

#include "base/c_locale.h"
#include "report/table.h"

const char *rates_text(char into[TEXT_UNIT_BYTES], double rate) {
  if (rate >= 1000 && rate < 1e15) return grouped(into, (int64_t)(rate + 0.5));
  c_locale_print(into, TEXT_UNIT_BYTES, "%.4g", rate);
  return into;
}
