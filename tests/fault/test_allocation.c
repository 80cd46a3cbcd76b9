/* Fails the n-th allocation of a whole run, for every n: the run must report NO_MEMORY (never crash, never claim
 * success with a wrong plan) and free what it took. Linked with malloc, calloc, realloc and strdup wrapped. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "situ.h"

#include "../lab/tier.h"
#include "failing_malloc.h"

static const char *const models[] = {"builtin:resnet50", "builtin:randwire-ws?nodes=8&stages=1"};

/* Two operators and two devices by builders: the failure comes from freezing. */
static situ_status build(situ_error *error) {
  situ_graph_builder *g = NULL;
  situ_platform_builder *f = NULL;
  situ_graph *graph = NULL;
  situ_platform *platform = NULL;
  situ_operator op = SITU_OPERATOR_INIT;
  situ_tensor tensor = SITU_TENSOR_INIT;
  situ_device device = SITU_DEVICE_INIT;
  device.peak_flops[SITU_DTYPE_F32] = device.memory_bytes_per_s = 1e9;
  situ_status status = situ_graph_builder_new(&g, "own", error);
  if (status == SITU_STATUS_OK) status = situ_platform_builder_new(&f, "own", error);
  if (status == SITU_STATUS_OK) {
    int32_t a = situ_graph_builder_add_operator(g, &op), b = situ_graph_builder_add_operator(g, &op);
    situ_graph_builder_add_use(g, b, situ_graph_builder_add_tensor(g, a, &tensor));
    for (int32_t d = 0; d < 2; d++) {
      device.name = d ? "d1" : "d0";
      situ_platform_builder_add_device(f, &device);
      situ_platform_builder_add_link(f, &(situ_link){d, 1 - d, 1, 1e9, -1});
    }
    status = situ_graph_freeze(&graph, g, error);
    if (status == SITU_STATUS_OK) status = situ_platform_freeze(&platform, f, error);
  }
  situ_graph_free(graph);
  situ_platform_free(platform);
  situ_graph_builder_free(g);
  situ_platform_builder_free(f);
  return status;
}

/* What is reported of a plan. */
static situ_status tell(const situ_plan *plan, situ_error *error) {
  situ_explanation *x = NULL;
  char *text = NULL, *json = NULL, *page = NULL, *lines = NULL, *parts = NULL;
  situ_status status = situ_explain(&x, plan, error);
  if (status == SITU_STATUS_OK) status = situ_report_plan(&text, plan, NULL, SITU_REPORT_TABLE, NULL, error);
  if (status == SITU_STATUS_OK) status = situ_report_plan(&json, plan, NULL, SITU_REPORT_JSON, NULL, error);
  if (status == SITU_STATUS_OK) status = situ_report_page(&page, plan, NULL, NULL, error);
  if (status == SITU_STATUS_OK) status = situ_report_plan(&lines, plan, NULL, SITU_REPORT_GANTT, NULL, error);
  if (status == SITU_STATUS_OK) status = situ_report_plan(&parts, plan, NULL, SITU_REPORT_PARTS, NULL, error);
  situ_text_free(text);
  situ_text_free(json);
  situ_text_free(page);
  situ_text_free(lines);
  situ_text_free(parts);
  situ_explanation_free(x);
  return status;
}

static situ_status run(const char *model, const char *plan_path, int64_t *value_ns) {
  situ_instance *instance = NULL, *again = NULL;
  situ_plan *plan = NULL, *read_back = NULL;
  situ_error error = {0};
  situ_instance_options options = {.size = sizeof(situ_instance_options), .model = model, .platform = "cpu+v100-16g"};
  static const char *const rules[] = {"not MaxPool=gpu0", "reserve gpu0=1GB"};
  if (strncmp(model, "builtin:", 8) == 0) options.rules = rules, options.n_rules = 2;
  situ_status status = situ_instance_open(&instance, &options, &error);
  situ_solve_options effort = {.size = sizeof(situ_solve_options), .solvers = "single,heft", .max_steps = 20};
  if (status == SITU_STATUS_OK) status = situ_solve(&plan, situ_instance_problem(instance), &effort, &error);
  if (status == SITU_STATUS_OK) status = situ_plan_write(plan, instance, plan_path, &error);
  if (status == SITU_STATUS_OK) status = situ_plan_read(&read_back, &again, plan_path, &error);
  if (status == SITU_STATUS_OK) status = tell(read_back, &error);
  if (status == SITU_STATUS_OK) status = build(&error);
  situ_plan_summary summary = SITU_PLAN_SUMMARY_INIT;
  if (situ_plan_get_summary(read_back, &summary)) *value_ns = summary.value_ns;
  situ_plan_free(plan);
  situ_plan_free(read_back);
  situ_instance_free(instance);
  situ_instance_free(again);
  return status;
}

static int fail_each(const char *model, const char *path) {
  int64_t expected_ns = 0;
  counted = 0;
  if (run(model, path, &expected_ns) != SITU_STATUS_OK) {
    printf("not ok - %s does not run at all\n", model);
    return 1;
  }
  long long total = counted, refused = 0, step = total / rounds_of(600) + 1;
  for (long long n = 0; n < total; n += step) {
    int64_t value_ns = 0;
    countdown = n;
    situ_status status = run(model, path, &value_ns);
    countdown = -1;
    refused += status == SITU_STATUS_NO_MEMORY;
    bool good = status == SITU_STATUS_NO_MEMORY || (status == SITU_STATUS_OK && value_ns == expected_ns);
    if (good) continue;
    printf("not ok - %s: failing allocation %lld of %lld gave status %s, value %lld\n", model, n, total,
           situ_status_name(status), (long long)value_ns);
    return 1;
  }
  printf("ok - %s: %lld allocations, one failed at a time, %lld refusals\n", model, total, refused);
  return refused == 0;
}

int main(void) {
  char path[] = "/tmp/situ-fault-XXXXXX";
  int handle = mkstemp(path);
  if (handle < 0) return 1;
  int bad = 0;
  for (size_t i = 0; i < sizeof models / sizeof models[0]; i++) bad |= fail_each(models[i], path);
  remove(path);
  return bad;
}
