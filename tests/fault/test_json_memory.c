/* Every n-th allocation of reading JSON fails once, ours and those of the library beneath: that is reported as lack of
 * memory, never as bad JSON, and what is read is never another tree. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "failing_malloc.h"

static const char text[] =
    "{\"a key that is longer than sixteen bytes\": [1, -2.5e3, true, null, \"a text that is longer than any first "
    "buffer "
    "of a parser \\u00e4 \\ud83d\\ude00 \\n\"], \"b\": {\"c\": {}, \"d\": [[], [[0.1]]], \"e\": \"\"}, \"f\": "
    "9223372036854775807}";

/* Reads, and prints what was read; *status is that of reading. */
static char *read_and_print(situ_status *status, situ_error *error) {
  json_value *root = NULL;
  *status = json_parse(&root, text, strlen(text), "x", error);
  long long left = countdown;
  countdown = -1; /* printing is another matter */
  char *printed = root ? json_print(root, 0) : NULL;
  json_free(root);
  countdown = left;
  return printed;
}

int main(void) {
  situ_error error;
  situ_status status;
  json_set_alloc_funcs(__wrap_malloc, free);
  char *expected = read_and_print(&status, &error);
  if (!expected) {
    printf("not ok - %s\n", error.text);
    return 1;
  }
  long long total = counted, refused = 0;
  for (long long n = 0; n < total; n++) {
    countdown = n;
    char *printed = read_and_print(&status, &error);
    countdown = -1;
    int good = status == SITU_STATUS_NO_MEMORY ? !printed && !strcmp(error.text, "out of memory")
                                               : status == SITU_STATUS_OK && printed && !strcmp(printed, expected);
    if (!good) printf("not ok - allocation %lld: %s: %s\n", n, situ_status_name(status), error.text);
    if (!good) return 1;
    refused += status == SITU_STATUS_NO_MEMORY;
    free(printed);
  }
  free(expected);
  printf("ok - %lld allocations, %lld refusals\n", total, refused);
  return refused < 20;
}
