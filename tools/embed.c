/* Writes files as a C source: embed OUT.c FILE...; each becomes a row of `shipped_policies` (learn/shipped.h),
 * called by its name without folder and suffix. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int fail(const char *what, const char *path) {
  fprintf(stderr, "embed: %s %s\n", what, path);
  return 1;
}

/* Returns the number of bytes, -1 on failure. */
static long write_bytes(FILE *out, const char *path, int number) {
  FILE *in = fopen(path, "rb");
  if (!in) return -1;
  fprintf(out, "static const unsigned char bytes%d[] = {", number);
  long n = 0;
  for (int c = getc(in); c != EOF; c = getc(in)) fprintf(out, "%s%d,", n++ % 32 ? "" : "\n", c);
  fprintf(out, "\n};\n");
  bool ok = !ferror(in);
  fclose(in);
  return ok ? n : -1;
}

int main(int argc, char **argv) {
  if (argc < 2) return fail("usage:", "embed OUT.c FILE...");
  FILE *out = fopen(argv[1], "w");
  if (!out) return fail("cannot write", argv[1]);
  long *sizes = calloc((size_t)argc, sizeof *sizes);
  fprintf(out, "#include \"learn/shipped.h\"\n\n");
  for (int k = 2; sizes && k < argc; k++)
    if ((sizes[k] = write_bytes(out, argv[k], k)) < 0) return fail("cannot read", argv[k]);
  fprintf(out, "\nconst shipped_policy shipped_policies[] = {\n");
  for (int k = 2; sizes && k < argc; k++) {
    const char *name = strrchr(argv[k], '/') ? strrchr(argv[k], '/') + 1 : argv[k];
    fprintf(out, "    {\"%.*s\", bytes%d, %ld},\n", (int)strcspn(name, "."), name, k, sizes[k]);
  }
  fprintf(out, "    {0},\n};\n");
  bool ok = sizes && !ferror(out);
  free(sizes);
  return fclose(out) == 0 && ok ? 0 : fail("cannot write", argv[1]);
}
