/* "-" for a model, a plan or a machine: standard input, copied into a file without a name, since readers go to and fro
 * in files.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "console.h"

static int fail_input(const char *what) {
  situ_error error = {.status = SITU_STATUS_IO, .where = "standard input"};
  snprintf(error.text, sizeof error.text, "%s: %s", what, strerror(errno));
  return fail_reading(&error);
}

static int spool(const char **path) {
  FILE *file = console_spool(path);
  char block[1 << 16];
  size_t n;
  if (!file) return fail_input("cannot create a temporary file");
  while ((n = fread(block, 1, sizeof block, stdin)) > 0)
    if (fwrite(block, 1, n, file) != n) return fail_input("cannot be written to a temporary file");
  if (ferror(stdin) || !console_spooled(file)) return fail_input("cannot be read");
  return EXIT_OK;
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
  return spool(places[0]);
}
