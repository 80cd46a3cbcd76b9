/* "-" for a model, a plan or a machine: standard input, copied into a file without a name, since readers go to and fro
 * in files.
 */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

static char path_of_input[32]; /* "/dev/fd/N" */

static int fail_input(const char *what) {
  situ_error error = {.status = SITU_STATUS_IO, .where = "standard input"};
  snprintf(error.text, sizeof error.text, "%s: %s", what, strerror(errno));
  return fail_reading(&error);
}

static int spool(void) {
  FILE *file = tmpfile();
  char block[1 << 16];
  size_t n;
  if (!file) return fail_input("cannot create a temporary file");
  while ((n = fread(block, 1, sizeof block, stdin)) > 0)
    if (fwrite(block, 1, n, file) != n) return fail_input("cannot be written to a temporary file");
  if (ferror(stdin) || fflush(file) != 0) return fail_input("cannot be read");
  snprintf(path_of_input, sizeof path_of_input, "/dev/fd/%d", fileno(file));
  return EXIT_OK; /* the file stays open: its path needs it */
}

int take_standard_input(arguments *a) {
  const char **places[MAX_OPERANDS + 2];
  int n = 0;
  for (int i = 0; i < a->n_operands; i++)
    if (strcmp(a->operands[i], "-") == 0) places[n++] = &a->operands[i];
  if (a->instance.model && strcmp(a->instance.model, "-") == 0) places[n++] = &a->instance.model;
  if (a->machine && strcmp(a->machine, "-") == 0) places[n++] = &a->machine;
  if (n == 0) return EXIT_OK;
  if (n > 1) return fail_usage("standard input (\"-\") can be read only once; name a file for the other arguments");
  int code = spool();
  *places[0] = path_of_input;
  return code;
}
