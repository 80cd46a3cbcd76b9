/* Files that situ wrote, or of the formats that it reads, changed by their structure and with a right checksum: each is
 * read, or refused in one line, and what was read is used (solved, checked, reported). Under sanitizers this is the
 * test that every count, index and number of a file is checked before use.
 *
 *     fuzz-files TARGET[,TARGET...] CORPUS [ROUNDS [SEED [FIRST]]]; TARGET may be "all"
 *
 * A round is repeatable by target, seed and number; with a seed the file of a round that fails stays in the current
 * folder. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../lab/tier.h"
#include "base/file.h"
#include "fuzz_targets.h"

static void place_files(target *t, const char *corpus) {
  snprintf(t->path, sizeof t->path, "fuzz-%s.%s", t->name, t->file);
  if (strcmp(t->name, "config") == 0) {
    static const char index[] =
        "{\"weight_map\": {\"model.embed_tokens.weight\": \"x.safetensors\", "
        "\"model.layers.0.self_attn.q_proj.weight\": "
        "\"x.safetensors\", \"model.layers.0.self_attn.k_proj.weight\": \"x.safetensors\", "
        "\"model.layers.0.self_attn.v_proj.weight\": \"x.safetensors\", \"model.layers.0.self_attn.o_proj.weight\": "
        "\"x.safetensors\", \"model.layers.0.mlp.up_proj.weight\": \"x.safetensors\", "
        "\"model.layers.0.mlp.down_proj.weight\": "
        "\"x.safetensors\"}}";
    snprintf(t->path, sizeof t->path, "fuzz-config/config.json");
    if (system("mkdir -p fuzz-config") != 0 ||
        file_write("fuzz-config/model.safetensors.index.json", index, strlen(index), NULL) != SITU_STATUS_OK)
      die("the folder of a configuration", NULL);
  }
  if (strcmp(t->name, "split") == 0) put_file("fuzz-split.model.json", workload, strlen(workload));
  if (strcmp(t->name, "profile") == 0) {
    size_t n;
    char from[512];
    snprintf(from, sizeof from, "%s/%s", corpus, strrchr(onnx_chain, '/') + 1);
    char *bytes = read_whole(from, &n);
    if (!bytes || file_write("fuzz-chain.onnx", bytes, n, NULL) != SITU_STATUS_OK) die(from, NULL);
    free(bytes);
  }
}

/* One round; false where the outcome is not one that is documented. */
static bool one_round(target *t, uint64_t seed, int64_t round, int64_t *counts) {
  rng random = rng_new(seed * 1000003u + (uint64_t)round * 97u);
  base made = t->mutate(&t->bases[rng_below(&random, t->n_bases)], &random);
  situ_error error = {0};
  put_file(t->path, made.bytes, made.n);
  free(made.bytes);
  situ_status status = t->use(t, &error);
  bool good = status == SITU_STATUS_OK || status == SITU_STATUS_BAD_INPUT || status == SITU_STATUS_UNSUPPORTED ||
              status == SITU_STATUS_BAD_ARGUMENT || status == SITU_STATUS_IO;
  if (status != SITU_STATUS_OK) good = good && error.text[0] && !strchr(error.text, '\n') && !strchr(error.where, '\n');
  counts[status != SITU_STATUS_OK]++;
  if (!good)
    printf("not ok - %s, seed %llu, round %lld: %s: %s: %s\n", t->name, (unsigned long long)seed, (long long)round,
           situ_status_name(status), error.where, error.text);
  return good;
}

/* Whether a file is what it should be before it is changed: else the rounds would show little. */
static bool base_is_read(target *t, const base *from) {
  situ_error error = {0};
  rng none = rng_new(0);
  base whole = t->mutate == by_header ? with_length(from->bytes, from->n, &none) : *from;
  put_file(t->path, whole.bytes, whole.n);
  if (whole.bytes != from->bytes) free(whole.bytes);
  situ_status status = t->use(t, &error);
  if (status != SITU_STATUS_OK) printf("not ok - %s: a base: %s: %s\n", t->name, error.where, error.text);
  return status == SITU_STATUS_OK;
}

static bool run_target(target *t, int64_t rounds, uint64_t seed, int64_t first, const char *corpus) {
  int64_t counts[2] = {0};
  bool good = true;
  place_files(t, corpus);
  t->make(t);
  for (int32_t k = 0; k < t->n_bases; k++) good = base_is_read(t, &t->bases[k]) && good;
  rounds = (rounds * t->share + 99) / 100;
  for (int64_t k = first; k < first + rounds && good; k++) good = one_round(t, seed, k, counts);
  if (good) {
    printf("ok - %s: %lld read, %lld refused\n", t->name, (long long)counts[0], (long long)counts[1]);
    unlink(t->path);
  }
  for (int32_t k = 0; k < t->n_bases; k++) free(t->bases[k].bytes);
  for (int k = 0; k < 2; k++) situ_plan_free(t->plans[k]);
  situ_instance_free(t->instance);
  return good;
}

int main(int argc, char **argv) {
  const char *names = argc > 1 ? argv[1] : "all", *corpus = argc > 2 ? argv[2] : ".";
  int64_t rounds = argc > 3 ? atoll(argv[3]) : 100, first = argc > 5 ? atoll(argv[5]) : 0;
  uint64_t seed = argc > 4 ? strtoull(argv[4], NULL, 10) : 1;
  char folder[] = "/tmp/situ-fuzz-XXXXXX", clean[64];
  bool good = true, own = argc < 5; /* with a seed, here: the file of a round that fails stays */
  setvbuf(stdout, NULL, _IOLBF, 0);
  if (own && (!mkdtemp(folder) || chdir(folder) != 0)) return 1;
  if (argc < 4) rounds = few_rounds_of(4000);
  if (argc == 4) rounds = rounds_of((int32_t)rounds);
  for (int k = 0; k < n_targets; k++)
    if (strcmp(names, "all") == 0 || strstr(names, targets[k].name))
      good = run_target(&targets[k], rounds, seed, first, corpus) && good;
  snprintf(clean, sizeof clean, "rm -r %s", folder);
  return good && (!own || system(clean) == 0) ? 0 : 1;
}
