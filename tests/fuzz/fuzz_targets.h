/* What fuzz_files.c changes and reads: files of each format, how they are changed, and what is done with them. */
#ifndef SITU_TESTS_FUZZ_TARGETS_H
#define SITU_TESTS_FUZZ_TARGETS_H

#include "base/rng.h"
#include "situ.h"

enum { MAX_BASES = 8 };

/* Bytes of a file before they are changed. */
typedef struct base {
  char *bytes;
  size_t n;
} base;

typedef struct target {
  const char *name, *file; /* its ending tells the format where that matters */
  void (*make)(struct target *t);
  base (*mutate)(const base *from, rng *random);
  situ_status (*use)(const struct target *t, situ_error *error);
  base bases[MAX_BASES];
  int32_t n_bases, share; /* share: of the rounds, in percent: slow ones have fewer */
  situ_instance *instance;
  situ_plan *plans[2];
  char path[64];
} target;

extern target targets[];
extern const int n_targets;
extern const char workload[], onnx_chain[]; /* the first is JSON, the other a path of the corpus */

_Noreturn void die(const char *what, const situ_error *error);
char *read_whole(const char *path, size_t *n);
/* Without the care of file_write, whose fsync takes longer than all the rest. */
void put_file(const char *path, const char *bytes, size_t n);
/* The header of a file without weights: eight bytes of its length, then JSON. */
base with_length(const char *json, size_t n_json, rng *random);
base by_header(const base *from, rng *random);

#endif
