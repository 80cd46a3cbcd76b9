/* Policy files whose checksum is right and whose content is not: each number of the training state out of its range. */
#include <math.h>
#include <unistd.h>

#include "../../lab/lab.h"
#include "../../lab/test.h"
#include "base/file.h"
#include "base/hash.h"
#include "learn/learner.h"

static const char *const path = "policy-file.policy";
enum { STEPS = 3, HEAD_BYTES = 24, ROW_BYTES = 40 + 8 * CASE_NOTES };

typedef struct policy {
  unsigned char bytes[1 << 23];
  size_t n, notes; /* where the training state begins: docs/formats/policy.md */
} policy;

static int64_t whole_at(const policy *p, size_t at) {
  int64_t x;
  memcpy(&x, p->bytes + at, sizeof x);
  return x;
}

static void policy_read(policy *p) {
  FILE *f = fopen(path, "rb");
  assert_non_null(f);
  p->n = fread(p->bytes, 1, sizeof p->bytes, f);
  assert_true(p->n < sizeof p->bytes);
  fclose(f);
  size_t kind = (size_t)whole_at(p, 16); /* after the mark and the version */
  p->notes = 24 + kind + 16;             /* the kind, steps of Adam, and the length of the state */
}

/* Writes the file with `n` bytes at a place changed, and with its checksum. */
static void policy_write(const policy *p, size_t at, const void *bytes, size_t n) {
  unsigned char *copy = malloc(p->n);
  assert_non_null(copy);
  memcpy(copy, p->bytes, p->n);
  memcpy(copy + at, bytes, n);
  uint64_t hash = hash_bytes(copy, p->n - 8, 0);
  memcpy(copy + p->n - 8, &hash, sizeof hash);
  assert_int_equal(file_write(path, copy, p->n, NULL), SITU_STATUS_OK);
  free(copy);
}

static situ_status resume(const char *name, const situ_problem *problem, situ_error *error) {
  situ_learn_options o = {.size = sizeof o, .out = path, .steps = STEPS + 1, .resume = true};
  situ_learn_report report = SITU_LEARN_REPORT_INIT;
  *error = (situ_error){0};
  return situ_learn(&report, NULL, name, &problem, 1, &o, error);
}

static void refuses(const policy *p, const char *name, const situ_problem *problem, size_t at, const void *bytes,
                    size_t n, const char *why) {
  situ_error error;
  policy_write(p, at, bytes, n);
  situ_status status = resume(name, problem, &error);
  if (status != SITU_STATUS_BAD_INPUT || !strstr(error.text, why))
    fail_msg("%s, byte %zu: status %d: %s; expected \"%s\"", name, at, (int)status, error.text, why);
}

static void refuses_whole(const policy *p, const char *name, const situ_problem *problem, size_t at, int64_t value,
                          const char *why) {
  refuses(p, name, problem, at, &value, sizeof value, why);
}

static void refuses_real(const policy *p, const char *name, const situ_problem *problem, size_t at, double value,
                         const char *why) {
  refuses(p, name, problem, at, &value, sizeof value, why);
}

TEST(every_number_of_the_training_state_is_checked) {
  policy *p = malloc(sizeof *p);
  assert_non_null(p);
  for (int32_t k = 0; learners[k]; k++) {
    const char *name = learners[k]->name;
    lab_options lo = {.seed = 5, .n_operators = 14, .n_devices = 3, .density = 0.3, .unfused = true};
    lo.options.objective = SITU_OBJECTIVE_LATENCY;
    OWN(lab) l = lab_random(&lo);
    const situ_problem *q = l.problem;
    situ_learn_options o = {.size = sizeof o, .out = path, .steps = STEPS};
    situ_learn_report report = SITU_LEARN_REPORT_INIT;
    situ_error error = {0};
    if (situ_learn(&report, NULL, name, &q, 1, &o, &error) != SITU_STATUS_OK) fail_msg("%s", error.text);
    policy_read(p);
    size_t head = p->notes, row = head + HEAD_BYTES, best = row + ROW_BYTES;
    assert_int_equal(whole_at(p, head + 8), STEPS);
    int32_t device = q->n_devices, below = -1;
    refuses_whole(p, name, q, head - 16, -1, "steps of training");
    refuses_whole(p, name, q, head + 8, -1, "steps"); /* n mod cases would be an index below 0 */
    refuses_whole(p, name, q, head + 8, INT64_MAX, "steps");
    refuses_whole(p, name, q, head + 16, 2, "other problems");
    refuses_whole(p, name, q, row + 8, -1, "a number of trials");
    refuses_whole(p, name, q, row + 16, -1, "a best time");
    refuses_whole(p, name, q, row + 16, whole_at(p, row + 16) - 1, "its placement takes");
    refuses_whole(p, name, q, row + 24, INT64_MAX, "a number of rewards");
    refuses_real(p, name, q, row + 32, 1.0, "a mean reward");
    refuses_real(p, name, q, row + 32, (double)NAN, "a mean reward");
    refuses_real(p, name, q, row + 40 + 8 * CASE_GROUPS, 1e9, "a number of groups");
    refuses_real(p, name, q, row + 40, (double)INFINITY, "a number of the learner");
    refuses_real(p, name, q, row + 40 + 8 * 2, -1.0, "a number of the learner");
    refuses(p, name, q, best, &device, sizeof device, "has device 3 for unit 0");
    refuses(p, name, q, best + 4, &below, sizeof below, "has device -1 for unit 1");
    size_t first = p->n - 12; /* the last number of the last parameter: a square of Adam's state */
    float negative = -1.0f, huge = 3e38f, none = NAN;
    refuses(p, name, q, first, &negative, sizeof negative, "out of range");
    refuses(p, name, q, first, &huge, sizeof huge, "out of range");
    refuses(p, name, q, first, &none, sizeof none, "out of range");
    policy_write(p, head, p->bytes + head, 8); /* as it was */
    if (resume(name, q, &error) != SITU_STATUS_OK) fail_msg("%s", error.text);
  }
  unlink(path);
  free(p);
}

TEST_MAIN
