/* Every n-th allocation fails once while a file is read, for a file of each format: that is reported as lack of memory,
 * never as a fault of the file, and what was taken is freed.
 *
 *     test-file-memory FILE...      the seeds of tests/fuzz/corpus */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "situ.h"

#include "../lab/tier.h"
#include "failing_malloc.h"

typedef situ_status use_function(const char *path, situ_error *error);

static situ_status use_model(const char *path, situ_error *error) {
  situ_model *m = NULL;
  situ_status status = situ_model_read(&m, path, NULL, error);
  situ_model_free(m);
  return status;
}

static situ_status use_platform(const char *path, situ_error *error) {
  situ_platform *p = NULL;
  situ_status status = situ_platform_read(&p, path, error);
  situ_platform_free(p);
  return status;
}

static situ_status open_with(const char *costs, const char *fix, const char *rules, situ_error *error) {
  situ_cost_options c = {.size = sizeof c, .table_path = costs};
  situ_instance_options o = {.size = sizeof o, .model = "builtin:layered?operators=6", .cost = &c, .fix = fix};
  situ_instance *i = NULL;
  o.rules = &rules;
  o.n_rules = rules != NULL;
  situ_status status = situ_instance_open(&i, &o, error);
  situ_instance_free(i);
  return status;
}
static situ_status use_costs(const char *path, situ_error *error) { return open_with(path, NULL, NULL, error); }
static situ_status use_fix(const char *path, situ_error *error) { return open_with(NULL, path, NULL, error); }
static situ_status use_rules(const char *path, situ_error *error) { return open_with(NULL, NULL, path, error); }

static int fail_each(const char *path, use_function *use) {
  situ_error error = {0};
  counted = 0;
  situ_status expected = use(path, &error);
  long long total = counted, refused = 0, step = total / rounds_of(2000) + 1;
  for (long long n = 0; n < total; n += step) {
    error = (situ_error){0};
    countdown = n;
    situ_status status = use(path, &error);
    countdown = -1;
    refused += status == SITU_STATUS_NO_MEMORY;
    if (status == SITU_STATUS_NO_MEMORY || status == expected) continue;
    printf("not ok - %s: failing allocation %lld of %lld gave %s: %s: %s\n", path, n, total, situ_status_name(status),
           error.where, error.text);
    return 1;
  }
  printf("ok - %s: %s, %lld allocations, %lld refusals\n", path, situ_status_name(expected), total, refused);
  return 0;
}

static int fail_text(const char *name, const char *text, use_function *use) {
  FILE *f = fopen(name, "w");
  if (!f || fputs(text, f) < 0 || fclose(f) != 0) return 1;
  int bad = fail_each(name, use);
  unlink(name);
  return bad;
}

int main(int argc, char **argv) {
  char folder[] = "/tmp/situ-fault-XXXXXX";
  int bad = 0;
  json_set_alloc_funcs(__wrap_malloc, free);
  for (int i = 1; i < argc; i++) {
    const char *name = strrchr(argv[i], '/') ? strrchr(argv[i], '/') + 1 : argv[i];
    bad |= fail_each(argv[i], strncmp(name, "platform", 8) == 0 ? use_platform : use_model);
  }
  if (!mkdtemp(folder) || chdir(folder) != 0) return 1;
  bad |= fail_text(
      "costs.json",
      "{\"situ_costs\": 1, \"unit\": \"ms\", \"operators\": {\"layer0.0.matmul\": {\"cpu\": 1.5}}, \"groups\": "
      "[{\"operators\": [\"layer0.1.add\"], \"times\": {\"cpu\": 2}}]}",
      use_costs);
  bad |= fail_text("costs.csv", "operator,kernel,cpu\nlayer0.0.matmul,,1500\nlayer0.1.add,layer0.1.add,9\n", use_costs);
  bad |= fail_text("fix.json", "{\"layer0.0.matmul\": \"cpu\"}", use_fix);
  bad |= fail_text("rules.json", "{\"situ_rules\": 1, \"operators\": [{\"kind\": \"MatMul\", \"not_on\": \"gpu0\"}]}",
                   use_rules);
  if (chdir("/") == 0) rmdir(folder);
  return bad;
}
