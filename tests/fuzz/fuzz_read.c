/* Fuzz target of all readers, and of platform files: any bytes give a model or one clear error. Built with libFuzzer by
 * `make fuzz`; the same file with SITU_FUZZ_REPLAY replays files and their mutations in the ordinary tests. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/json.h"
#include "base/rng.h"
#include "platform/platform_sources.h"
#include "read/reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

/* What was read, or an error that says something, in one line. */
static void judge(situ_status status, const void *out, const situ_error *error) {
  if (status == SITU_STATUS_OK && !out) abort();
  if (status != SITU_STATUS_OK && error->text[0] == '\0') abort();
  if (strchr(error->text, '\n') || strchr(error->where, '\n')) abort();
}

static void read_as_platform(const uint8_t *bytes, size_t n) {
  json_value *root = NULL;
  situ_platform *platform = NULL;
  situ_error error = {0};
  situ_status status = json_parse(&root, (const char *)bytes, n, "fuzz", &error);
  if (status == SITU_STATUS_OK) status = platform_from_json(&platform, root, "fuzz", &error);
  judge(status, platform, &error);
  situ_platform_free(platform);
  json_free(root);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n) {
  situ_read_options options = {.size = sizeof(situ_read_options), .default_dim = 1};
  read_source source = {.path = "fuzz/input", .bytes = bytes, .size_bytes = n, .options = &options};
  for (const reader *const *r = readers; *r; r++) {
    if (!(*r)->recognise) continue;
    read_result result = {0};
    situ_error error = {0};
    (void)(*r)->recognise(&source);
    situ_status status = (*r)->read(&result, &source, &error);
    judge(status, result.graph, &error);
    situ_graph_free(result.graph);
    situ_graph_free(result.steps.other);
    situ_platform_free(result.platform);
    situ_costs_free(result.costs);
    text_free(&result.notes);
    free(result.dims);
    free(result.measured_ns);
  }
  read_as_platform(bytes, n);
  return 0;
}

#ifdef SITU_FUZZ_REPLAY
/* Each file as it is, cut short, and with bits turned over: deterministic for a given file. */
static void mutate_and_run(const uint8_t *bytes, size_t n, int rounds) {
  uint8_t *copy = malloc(n + 1);
  if (!copy) abort();
  rng random = rng_new(n);
  LLVMFuzzerTestOneInput(bytes, n);
  for (int i = 0; i < rounds && n > 0; i++) {
    size_t kept = i % 3 == 0 ? (size_t)rng_below(&random, (int64_t)n) : n;
    memcpy(copy, bytes, n);
    for (int64_t flips = rng_below(&random, 6); flips > 0; flips--)
      copy[rng_below(&random, (int64_t)n)] ^= (uint8_t)(1u << rng_below(&random, 8));
    if (i % 7 == 0) memset(copy + rng_below(&random, (int64_t)n), 0xff, 1);
    LLVMFuzzerTestOneInput(copy, kept);
  }
  free(copy);
}

int main(int argc, char **argv) {
  int n_files = 0;
  for (int i = 2; i < argc; i++) {
    FILE *file = fopen(argv[i], "rb");
    if (!file) continue;
    static uint8_t bytes[1 << 16];
    size_t n = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    mutate_and_run(bytes, n, atoi(argv[1]));
    n_files++;
  }
  printf("%d files, %s mutations each: no crash, every error in one line\n", n_files, argv[1]);
  return n_files > 0 ? 0 : 77;
}
#endif
