/* What the library reads and writes is the same under every locale of the program: each output under locales with other
 * decimal signs, letters and messages is that of the C locale, byte for byte. LOCPATH names the folder of the locales
 * (tools/locales.sh makes it); those that are absent are skipped. */
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "../lab/test.h"

#include "situ.h"

static const char *const names[] = {"de_DE.UTF-8", "tr_TR.UTF-8", "ps_AF.UTF-8"};

typedef struct output {
  char *text;
  size_t n;
} output;

static void add(output *o, const char *what, const char *text) {
  size_t more = strlen(what) + strlen(text) + 8;
  o->text = realloc(o->text, o->n + more);
  assert_non_null(o->text);
  o->n += (size_t)sprintf(o->text + o->n, "== %s\n%s\n", what, text);
}

/* Adds a text that a call made, or what it says instead. */
static void take(output *o, const char *what, situ_status status, char *text, situ_error *error) {
  char line[900];
  snprintf(line, sizeof line, "%s: %s: %s", situ_status_name(status), error->where, error->text);
  add(o, what, status == SITU_STATUS_OK ? text : line);
  situ_text_free(text);
  *error = (situ_error){0};
}

/* The program's own locale, whatever situ does in between: the host must find it as it left it. */
static void expect_own(const char *radix) {
  char own[16];
  snprintf(own, sizeof own, "%.1f", 0.5);
  assert_int_equal(own[0], '0');
  assert_string_equal(own[1] ? own + 1 : "", radix);
}

static char radix[16];
static bool still_own(void *context, const situ_progress *news) {
  (void)news;
  ++*(int *)context;
  expect_own(radix); /* callbacks run under the program's locale */
  return false;
}

/* Evaluates the call before the text that it makes is taken. */
#define TAKE(what, call)                 \
  do {                                   \
    situ_status status_ = (call);        \
    take(o, what, status_, text, error); \
    text = NULL;                         \
  } while (0)

static void tell_plan(output *o, const situ_plan *plan, situ_error *error) {
  char *text = NULL;
  situ_verdict *verdict = NULL;
  TAKE("table", situ_report_plan(&text, plan, NULL, SITU_REPORT_TABLE, NULL, error));
  TAKE("json", situ_report_plan(&text, plan, NULL, SITU_REPORT_JSON, NULL, error));
  TAKE("svg", situ_report_plan(&text, plan, NULL, SITU_REPORT_SVG, NULL, error));
  TAKE("parts", situ_report_plan(&text, plan, NULL, SITU_REPORT_PARTS, NULL, error));
  TAKE("page", situ_report_page(&text, plan, NULL, NULL, error));
  TAKE("gantt", situ_report_plan(&text, plan, NULL, SITU_REPORT_GANTT, NULL, error));
  TAKE("explain", situ_report_explain(&text, plan, NULL, SITU_REPORT_TABLE, NULL, error));
  TAKE("explain json", situ_report_explain(&text, plan, NULL, SITU_REPORT_JSON, NULL, error));
  assert_int_equal(situ_check(&verdict, plan, error), SITU_STATUS_OK);
  TAKE("verdict", situ_report_verdict(&text, verdict, SITU_REPORT_TABLE, NULL, error));
  TAKE("verdict json", situ_report_verdict(&text, verdict, SITU_REPORT_JSON, NULL, error));
  situ_verdict_free(verdict);
  for (int32_t w = 0; w < situ_writer_count(); w++) {
    situ_writer_info info = SITU_WRITER_INFO_INIT;
    situ_writer_at(w, &info);
    if (!info.folder) TAKE(info.name, situ_write(&text, info.name, plan, error));
  }
}

static void tell_instance(output *o, const situ_instance *i, situ_error *error) {
  const situ_problem *p = situ_instance_problem(i);
  char *text = NULL;
  TAKE("costs json", situ_report_costs(&text, p, SITU_REPORT_JSON, NULL, error));
  TAKE("costs csv", situ_report_costs(&text, p, SITU_REPORT_CSV, NULL, error));
  TAKE("inspect", situ_report_inspect(&text, p, situ_instance_model(i), SITU_REPORT_TABLE, NULL, error));
  TAKE("inspect json", situ_report_inspect(&text, p, situ_instance_model(i), SITU_REPORT_JSON, NULL, error));
}

/* What there is to choose from, whatever the problem; engines are asked in processes of their own. */
static void tell_lists(output *o, situ_error *error) {
  char *text = NULL;
  for (int32_t k = 0; situ_report_family(k); k++)
    TAKE(situ_report_family(k), situ_report_list(&text, situ_report_family(k), SITU_REPORT_JSON, NULL, error));
}

/* ---- the inputs, with numbers and capitals that locales read otherwise ---- */

static const char machine[] =
    "{\"situ_platform\": 1, \"name\": \"m\", \"devices\": [{\"name\": \"cpu\", \"base\": \"CPU\"}, {\"name\": \"gpu\", "
    "\"base\": \"MI300X\", \"efficiency\": 0.4375}, {\"name\": \"npu\", \"memory_gb\": 7.5, \"memory_gb_per_s\": "
    "60.25, "
    "\"launch_us\": 2.5, \"peak_tflops\": {\"f32\": 1.5}}], \"links\": [{\"from\": \"cpu\", \"to\": \"gpu\", \"kind\": "
    "\"PCIE4\"}, {\"from\": \"cpu\", \"to\": \"npu\", \"latency_us\": 1.5, \"gb_per_s\": 12.8}]}";
static const char rules[] =
    "{\"situ_rules\": 1, \"operators\": [{\"kind\": \"MatMul\", \"time_factor\": {\"gpu\": 1.25}}], \"devices\": "
    "{\"gpu\": "
    "{\"reserve\": \"1.5 GIB\", \"efficiency\": 0.35}}}";
static const char costs[] =
    "{\"situ_costs\": 1, \"unit\": \"us\", \"operators\": {\"layer0.0.matmul\": {\"cpu\": 12.625, \"gpu\": "
    "1.5e-1}}}";

static void put(const char *path, const char *text) {
  assert_int_equal(situ_text_write(text, path, NULL), SITU_STATUS_OK);
}

static void write_inputs(void) {
  put("locale-machine.json", machine);
  put("locale-rules.json", rules);
  put("locale-costs.json", costs);
}

static void remove_inputs(void) {
  unlink("locale-machine.json");
  unlink("locale-rules.json");
  unlink("locale-costs.json");
  unlink("locale-plan.json");
}

static situ_instance_options options_of(int k, situ_cost_options *c) {
  static const char *const by_file[] = {"locale-rules.json"};
  *c = (situ_cost_options){.size = sizeof *c, .table_path = k == 2 ? "locale-costs.json" : NULL};
  situ_instance_options o = {.size = sizeof o, .model = "builtin:layered?operators=24&width=4", .cost = c};
  o.platform = k == 0 ? "CPU+2*MI300X" : "locale-machine.json";
  if (k == 1) o.rules = by_file, o.n_rules = 1;
  return o;
}

/* Places under the locale of the program and tells everything; `plans` (made at first) are reported, since they have
 * times of the clock. */
static output tell_all(situ_plan *plans[3], int *calls) {
  output o = {0};
  situ_error error = {0};
  write_inputs();
  for (int k = 0; k < 3; k++) {
    situ_cost_options c;
    situ_instance_options io = options_of(k, &c);
    situ_instance *instance = NULL, *again = NULL;
    situ_plan *plan = NULL, *read_back = NULL;
    char *text = NULL;
    situ_solve_options s = {.size = sizeof s, .solvers = k == 0 ? "auto" : "heft,tabu", .max_steps = 400, .seed = 2};
    s.progress = still_own;
    s.context = calls;
    if (situ_place(&plan, &instance, &io, &s, &error) != SITU_STATUS_OK) fail_msg("%s: %s", error.where, error.text);
    situ_status status = situ_plan_text(&text, plan, instance, &error);
    take(&o, "plan", status, text, &error);
    assert_int_equal(situ_plan_write(plan, instance, "locale-plan.json", &error), SITU_STATUS_OK);
    if (situ_plan_read(&read_back, &again, "locale-plan.json", &error) != SITU_STATUS_OK)
      fail_msg("%s: %s", error.where, error.text);
    text = NULL;
    status = situ_plan_text(&text, read_back, again, &error);
    take(&o, "again", status, text, &error);
    if (!plans[k])
      plans[k] = plan;
    else
      situ_plan_free(plan);
    tell_plan(&o, plans[k], &error);
    tell_instance(&o, instance, &error);
    situ_plan_free(read_back);
    situ_instance_free(instance);
    situ_instance_free(again);
  }
  tell_lists(&o, &error);
  remove_inputs();
  return o;
}

/* A message of the system, which locales translate; and one with a number. */
static void tell_failures(output *o) {
  situ_error error = {0};
  situ_model *m = NULL;
  situ_instance *i = NULL;
  take(o, "no file", situ_model_read(&m, "there-is-no-such.onnx", NULL, &error), NULL, &error);
  situ_cost_options c = {.size = sizeof c, .efficiency = 1.5};
  situ_instance_options io = {.size = sizeof io, .model = "builtin:vgg16", .cost = &c};
  take(o, "bad efficiency", situ_instance_open(&i, &io, &error), NULL, &error);
}

TEST(outputs_are_those_of_the_c_locale) {
  situ_plan *plans[3] = {NULL};
  int n_tried = 0, calls = 0;
  assert_non_null(setlocale(LC_ALL, "C"));
  strcpy(radix, ".5");
  output expected = tell_all(plans, &calls);
  tell_failures(&expected);
  int n_reals = 0; /* the numbers that matter are there */
  for (const char *at = expected.text; (at = strchr(at, '.')); at++) n_reals += at[1] >= '0' && at[1] <= '9';
  assert_true(n_reals > 1000);
  for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
    if (!setlocale(LC_ALL, names[k])) {
      printf("# %s is not there: tools/locales.sh build/locales makes it\n", names[k]);
      continue;
    }
    snprintf(radix, sizeof radix, "%s5", localeconv()->decimal_point);
    output found = tell_all(plans, &calls);
    tell_failures(&found);
    expect_own(radix);
    for (size_t at = 0; at < expected.n || at < found.n; at++)
      if (at >= expected.n || at >= found.n || expected.text[at] != found.text[at])
        fail_msg("%s: byte %zu: \"%.60s\", not \"%.60s\"", names[k], at, found.text + (at > 20 ? at - 20 : 0),
                 expected.text + (at > 20 ? at - 20 : 0));
    free(found.text);
    n_tried++;
  }
  setlocale(LC_ALL, "C");
  for (int k = 0; k < 3; k++) situ_plan_free(plans[k]);
  free(expected.text);
  assert_true(calls > 0);
  if (n_tried == 0) skip();
}

TEST_MAIN
