#include "base/arguments.h"

#include <string.h>

/* No struct of any version is as large; a greater size is memory that was never set. */
enum { MAX_BYTES = 1 << 16 };

situ_status arguments_given(situ_error *error, const char *function, const char *names, const void *const *pointers,
                            size_t n) {
  for (size_t k = 0; k < n; k++, names += strcspn(names, ",") + 2)
    if (!pointers[k])
      return fail_with(error, SITU_STATUS_BAD_ARGUMENT, function, "the argument %.*s is NULL", (int)strcspn(names, ","),
                       names);
  return SITU_STATUS_OK;
}

situ_status arguments_take(void *own, size_t own_size, const void *given, const char *initialiser, situ_error *error) {
  size_t size = own_size;
  memset(own, 0, own_size);
  if (given) {
    memcpy(&size, given, sizeof size);
    if (size < sizeof size || size > MAX_BYTES)
      return fail_with(error, SITU_STATUS_BAD_ARGUMENT, initialiser,
                       "the struct has size %zu; use this initialiser, or set size to its sizeof", size);
    for (size_t k = own_size; k < size; k++)
      if (((const unsigned char *)given)[k])
        return fail_with(error, SITU_STATUS_BAD_ARGUMENT, initialiser,
                         "a field is set that this version of situ does not know");
    memcpy(own, given, size < own_size ? size : own_size);
  }
  memcpy(own, &own_size, sizeof own_size);
  return SITU_STATUS_OK;
}

bool arguments_give(void *to, const void *own, size_t own_size) {
  size_t size = 0;
  if (to) memcpy(&size, to, sizeof size);
  if (size < sizeof size || size > MAX_BYTES) return false;
  size_t known = size < own_size ? size : own_size;
  memcpy((char *)to + sizeof size, (const char *)own + sizeof size, known - sizeof size);
  memset((char *)to + known, 0, size - known);
  return true;
}
