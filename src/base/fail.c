#include "base/fail.h"

#include <stdio.h>

#include "base/dtype.h"
#include "base/format.h"
#include "base/text.h"

situ_status fail_with(situ_error *error, situ_status status, const char *where, const char *format, ...) {
  if (!error) return status;
  error->status = status;
  snprintf(error->where, sizeof error->where, "%s", where ? where : "");
  FORMAT_INTO(error->text, format);
  text_make_line(error->where);
  text_make_line(error->text);
  return status;
}

situ_status fail_no_memory(situ_error *error) { return fail_with(error, SITU_STATUS_NO_MEMORY, NULL, "out of memory"); }

const char *situ_status_name(situ_status status) {
  static const char *const names[] = {"ok", "no_memory", "bad_argument", "bad_input", "unsupported",
                                      "io", "internal",  "engine",       "cancelled", "guessed"};
  return (unsigned)status < sizeof names / sizeof names[0] ? names[status] : "unknown";
}

typedef struct dtype_row {
  const char *name;
  int bits;
} dtype_row;

static const dtype_row dtypes[DTYPE_COUNT] = {
    [SITU_DTYPE_UNKNOWN] = {"unknown", 0}, [SITU_DTYPE_F64] = {"f64", 64},       [SITU_DTYPE_F32] = {"f32", 32},
    [SITU_DTYPE_F16] = {"f16", 16},        [SITU_DTYPE_BF16] = {"bf16", 16},     [SITU_DTYPE_F8] = {"f8", 8},
    [SITU_DTYPE_I64] = {"i64", 64},        [SITU_DTYPE_I32] = {"i32", 32},       [SITU_DTYPE_I16] = {"i16", 16},
    [SITU_DTYPE_I8] = {"i8", 8},           [SITU_DTYPE_I4] = {"i4", 4},          [SITU_DTYPE_U64] = {"u64", 64},
    [SITU_DTYPE_U32] = {"u32", 32},        [SITU_DTYPE_U16] = {"u16", 16},       [SITU_DTYPE_U8] = {"u8", 8},
    [SITU_DTYPE_BOOL] = {"bool", 8},       [SITU_DTYPE_STRING] = {"string", 64}, [SITU_DTYPE_C64] = {"c64", 64},
    [SITU_DTYPE_C128] = {"c128", 128},
};

const char *situ_dtype_name(situ_dtype dtype) { return (unsigned)dtype < DTYPE_COUNT ? dtypes[dtype].name : "unknown"; }

int32_t situ_dtype_bits(situ_dtype dtype) { return (unsigned)dtype < DTYPE_COUNT ? dtypes[dtype].bits : 0; }

const char *situ_phase_name(situ_phase phase) {
  static const char *const names[] = {"forward", "backward", "update", "recompute"};
  return (unsigned)phase < sizeof names / sizeof *names ? names[phase] : "unknown";
}
