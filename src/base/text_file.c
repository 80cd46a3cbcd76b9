/* Texts that callers own: freeing and writing them. */
#include <stdlib.h>
#include <string.h>

#include "base/arguments.h"
#include "base/file.h"
#include "situ/types.h"

void situ_text_free(char *text) { free(text); }

situ_status situ_text_write(const char *text, const char *path, situ_error *error) {
  TRY(GIVEN(error, text, path));
  return file_write(path, text, strlen(text), error);
}

situ_status situ_path_check_writable(const char *path, situ_error *error) {
  TRY(GIVEN(error, path));
  return file_probe(path, error);
}
