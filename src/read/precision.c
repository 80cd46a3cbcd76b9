#include "read/reader.h"

const char *situ_precision_name(situ_precision precision) { return situ_dtype_name(read_precision(precision)); }

situ_dtype read_precision(situ_precision precision) {
  static const situ_dtype types[] = {SITU_DTYPE_UNKNOWN, SITU_DTYPE_F32, SITU_DTYPE_F16, SITU_DTYPE_BF16,
                                     SITU_DTYPE_I8};
  return (unsigned)precision < sizeof types / sizeof *types ? types[precision] : SITU_DTYPE_UNKNOWN;
}
