#include "option/option.h"

#include <string.h>

#include "base/arguments.h"
#include "base/contracts.h"
#include "base/hash.h"

size_t option_bytes(const option *row) {
  switch (row->kind) {
    case SITU_OPTION_ON:
    case SITU_OPTION_OFF: return sizeof(bool);
    case SITU_OPTION_TEXT:
    case SITU_OPTION_PATH: return sizeof(const char *);
    case SITU_OPTION_CHOICE: return sizeof(int);
    case SITU_OPTION_INT32: return sizeof(int32_t);
    case SITU_OPTION_INT64:
    case SITU_OPTION_SEED:
    case SITU_OPTION_MS: return sizeof(int64_t);
    case SITU_OPTION_PERCENT:
    case SITU_OPTION_REAL: return sizeof(double);
    case SITU_OPTION_DIMS:
    case SITU_OPTION_NAMES:
    case SITU_OPTION_RULES:
    case SITU_OPTION_RULE: return 0;
  }
  return 0;
}

bool option_is_given(const option *row, const void *part) {
  static const char nothing[sizeof(int64_t)];
  size_t n = option_bytes(row);
  REQUIRE(n <= sizeof nothing);
  return n > 0 && memcmp(option_value(row, part), nothing, n) != 0;
}

static uint64_t hash_value(uint64_t h, const option *row, const void *value) {
  const char *text;
  size_t n = option_bytes(row);
  if (row->kind != SITU_OPTION_TEXT && row->kind != SITU_OPTION_PATH) return n > 0 ? hash_bytes(value, n, h) : h;
  memcpy(&text, value, sizeof text);
  return hash_bytes(text ? text : "", text ? strlen(text) : 0, h);
}

uint64_t options_hash(uint64_t seed, situ_option_part part, const void *of) {
  for (int32_t k = 0; k < option_n_rows; k++)
    if (option_rows[k].part == part) seed = hash_value(seed, &option_rows[k], option_value(&option_rows[k], of));
  return seed;
}

int32_t situ_option_count(void) { return option_n_rows; }

bool situ_option_at(int32_t index, situ_option_info *out) {
  return index >= 0 && index < option_n_rows && GIVE(out, option_rows[index]);
}
