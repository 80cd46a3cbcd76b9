/* What-ifs against problems that are posed by hand with the same change. */
#include "plan/plan.h"
#include "situ/what_if.h"

#include <unistd.h>

#include "../../lab/test.h"
#include "situ/report.h"

static const situ_solve_options effort = {.size = sizeof(situ_solve_options), .max_steps = 50};

typedef struct asked {
  situ_instance *instance;
  situ_plan *plan;
  situ_what_if_list *list;
} asked;

static asked ask(const char *model, const char *platform) {
  asked a = {0};
  situ_error error = {0};
  situ_instance_options options = {.size = sizeof options, .model = model, .platform = platform};
  if (situ_place(&a.plan, &a.instance, &options, &effort, &error) != SITU_STATUS_OK ||
      situ_what_if_find(&a.list, a.instance, a.plan, &effort, &error) != SITU_STATUS_OK)
    fail_msg("%s", error.text);
  return a;
}

static void asked_free(asked *a) {
  situ_what_if_free(a->list);
  situ_plan_free(a->plan);
  situ_instance_free(a->instance);
}

static situ_what_if row_of(const asked *a, const char *change) {
  for (int32_t k = 0; k < situ_what_if_count(a->list); k++)
    if (strcmp(situ_what_if_at(a->list, k).change, change) == 0) return situ_what_if_at(a->list, k);
  fail_msg("no row says \"%s\"", change);
  return (situ_what_if){0};
}

/* The value of another model, platform or empty device. */
static int64_t value_of(const char *model, const char *platform, const char *unused) {
  OWN(situ_plan) *plan = NULL;
  OWN(situ_instance) *instance = NULL;
  situ_instance_options options = {.size = sizeof options, .model = model, .platform = platform};
  options.unused = &unused;
  options.n_unused = unused != NULL;
  assert_int_equal(situ_place(&plan, &instance, &options, &effort, NULL), SITU_STATUS_OK);
  int64_t value = plan->value_ns;
  return value;
}

/* VGG-16 is a chain of large operators, all on the GPU: without it only the CPU is left, alone. */
TEST(a_device_less_and_twice_the_batch_are_what_is_posed_by_hand) {
  asked a = ask("builtin:vgg16", "cpu+v100-16g");
  situ_what_if without = row_of(&a, "without gpu0"), batch = row_of(&a, "batch 2");
  assert_int_equal(without.value_ns, value_of("builtin:vgg16", "cpu+v100-16g", "gpu0"));
  assert_int_equal(without.value_ns, value_of("builtin:vgg16", "cpu", NULL));
  assert_true(without.value_ns > a.plan->value_ns);
  assert_int_equal(without.inputs, 1);
  assert_int_equal(batch.value_ns, value_of("builtin:vgg16?batch=2", "cpu+v100-16g", NULL));
  assert_int_equal(batch.inputs, 2);
  asked_free(&a);
}

/* Two halves of a network that no device holds alone: with twice its memory one GPU holds all, and nothing is sent. */
TEST(more_memory_and_faster_links_are_never_worse) {
  asked a = ask("builtin:llama?layers=2&tokens=1&context=1", "2*t4-16g");
  for (int32_t k = 0; k < situ_what_if_count(a.list); k++) {
    situ_what_if w = situ_what_if_at(a.list, k);
    if (strncmp(w.change, "without", 7) == 0 || strncmp(w.change, "batch", 5) == 0) continue;
    assert_true(w.value_ns <= a.plan->value_ns);
    assert_true(w.lower_bound_ns <= w.value_ns);
  }
  asked_free(&a);
}

TEST(what_does_not_fit_one_memory_is_asked_with_twice_of_it) {
  asked a = ask("builtin:llama?layers=2&tokens=1&context=1&ffn=316000", "2*t4-16g"); /* 16.3 GB of weights */
  assert_true(a.plan->best_single_ns == SITU_NEVER_NS);
  situ_what_if more = row_of(&a, "gpu0 with twice the memory"), without = row_of(&a, "without gpu0");
  assert_true(more.value_ns <= a.plan->value_ns);
  assert_int_equal(without.outcome, SITU_OUTCOME_INFEASIBLE);
  assert_true(without.value_ns == SITU_NEVER_NS);
  asked_free(&a);
}

/* A Raspberry Pi is of no use beside a V100 unless it is many times as fast: the last row about it says so. */
TEST(an_idle_device_is_asked_until_it_is_of_use) {
  asked a = ask("builtin:vgg16", "rpi5+v100-16g");
  row_of(&a, "cpu 16 times as fast, still unused");
  asked_free(&a);
}

static bool stop_at_once(void *context, const situ_progress *news) {
  (void)news;
  ++*(int *)context;
  return true;
}

TEST(a_callback_that_says_stop_ends_the_list) {
  int calls = 0;
  asked a = ask("builtin:vgg16", "cpu+v100-16g");
  situ_what_if_list *none = NULL;
  situ_solve_options options = {.size = sizeof options, .solvers = "tabu", .max_steps = 1000000};
  options.progress = stop_at_once;
  options.context = &calls;
  assert_int_equal(situ_what_if_find(&none, a.instance, a.plan, &options, NULL), SITU_STATUS_OK);
  assert_int_equal(calls, 1);
  assert_int_equal(situ_what_if_count(none), 0);
  situ_what_if_free(none);
  asked_free(&a);
}

/* A table has times by class, and a faster device is of a class that no table knows. Nor does it know twice the batch,
 * of which nothing is said. */
TEST(measured_times_are_changed_too) {
  char path[64];
  snprintf(path, sizeof path, "/tmp/situ-what-if-%d.csv", (int)getpid());
  asked a = {0};
  situ_error error = {0};
  situ_cost_options cost = {.size = sizeof cost, .table_path = path};
  situ_instance_options options = {.size = sizeof options, .model = "builtin:vgg16", .platform = "cpu+v100-16g"};
  char *table;
  OWN(situ_instance) *plain = NULL;
  assert_int_equal(situ_instance_open(&plain, &options, &error), SITU_STATUS_OK);
  assert_int_equal(situ_report_costs(&table, situ_instance_problem(plain), SITU_REPORT_CSV, NULL, NULL),
                   SITU_STATUS_OK);
  assert_int_equal(situ_text_write(table, path, NULL), SITU_STATUS_OK);
  options.cost = &cost;
  if (situ_place(&a.plan, &a.instance, &options, &effort, &error) != SITU_STATUS_OK ||
      situ_what_if_find(&a.list, a.instance, a.plan, &effort, &error) != SITU_STATUS_OK)
    fail_msg("%s: %s", error.where, error.text);
  situ_what_if fast = {0};
  for (int32_t k = 0; k < situ_what_if_count(a.list); k++) {
    situ_what_if w = situ_what_if_at(a.list, k);
    if (strncmp(w.change, "cpu ", 4) == 0) fast = w;
    if (strncmp(w.change, "batch", 5) == 0) fail_msg("%s", w.change);
  }
  assert_non_null(fast.change);
  assert_true(fast.value_ns <= a.plan->value_ns);
  remove(path);
  situ_text_free(table);
  asked_free(&a);
}

TEST_MAIN
