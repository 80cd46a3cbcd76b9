/* Rules: what they match, what they change of a platform and of costs, and what they refuse. */
#include "../../lab/test.h"
#include "base/disjoint.h"
#include "cost/cost_models.h"
#include "cost/rules.h"
#include "graph/builder.h"
#include "graph/graph.h"
#include "platform/platform.h"

/* layer0.mm (MatMul, f16) -> layer0.sm (Softmax) -> layer1.mm (MatMul, f32) -> layer1.id (Reshape, no work) ->
 * head (Relu) */
enum { MM0, SM0, MM1, ID1, HEAD, N };
static const struct {
  const char *name, *kind;
  situ_dtype dtype;
  int64_t flops, moved_bytes;
} rows[N] = {{"layer0.mm", "MatMul", SITU_DTYPE_F16, 1000000000, 6000000},
             {"layer0.sm", "Softmax", SITU_DTYPE_F32, 5000000, 4000000},
             {"layer1.mm", "MatMul", SITU_DTYPE_F32, 1000000000, 6000000},
             {"layer1.id", "Reshape", SITU_DTYPE_F32, 0, 0},
             {"head", "Relu", SITU_DTYPE_F32, 1000000, 4000000}};

typedef struct world {
  situ_graph *graph;
  situ_platform *platform, *changed;
  rule_set *r;
  char warning[512]; /* the last */
  int warnings;
} world;

static void keep_warning(void *context, situ_log_level level, const char *text) {
  world *w = context;
  if (level != SITU_LOG_WARNING) return;
  snprintf(w->warning, sizeof w->warning, "%s", text);
  w->warnings++;
}

static void open_world(world *w, const char *platform) {
  situ_graph_builder *b;
  situ_error error = {0};
  *w = (world){0};
  assert_int_equal(situ_graph_builder_new(&b, "chain", NULL), SITU_STATUS_OK);
  for (int32_t i = 0, last = -1; i < N; i++) {
    situ_operator op = {.name = rows[i].name,
                        .kind = rows[i].kind,
                        .dtype = rows[i].dtype,
                        .weight_bytes = strcmp(rows[i].kind, "MatMul") == 0 ? 2000000 : 0,
                        .flops = rows[i].flops,
                        .moved_bytes = rows[i].moved_bytes,
                        .inferred = true,
                        .colocation = -1,
                        .source_id = -1};
    situ_tensor tensor = {.dtype = rows[i].dtype, .rank = -1, .size_bytes = 2000000};
    int32_t v, t;
    assert_int_equal(builder_add_operator(b, &op, &v, NULL), SITU_STATUS_OK);
    assert_int_equal(builder_add_tensor(b, v, &tensor, &t, NULL), SITU_STATUS_OK);
    if (last >= 0) assert_int_equal(builder_add_use(b, v, last, NULL), SITU_STATUS_OK);
    last = t;
  }
  assert_int_equal(situ_graph_freeze(&w->graph, b, NULL), SITU_STATUS_OK);
  situ_graph_builder_free(b);
  if (situ_platform_read(&w->platform, platform, &error) != SITU_STATUS_OK) fail_msg("%s", error.text);
}

/* Reads sources, texts in which ' stands for ", up to the first NULL. */
static situ_status read_all(world *w, const char *const *texts, situ_error *error) {
  rule_source sources[4] = {0};
  json_value *roots[4] = {0};
  int32_t n = 0;
  for (; texts[n]; n++) {
    char text[512];
    snprintf(text, sizeof text, "%s", texts[n]);
    for (char *at = text; *at; at++)
      if (*at == '\'') *at = '"';
    assert_int_equal(json_parse(&roots[n], text, strlen(text), "test", error), SITU_STATUS_OK);
    sources[n] = (rule_source){"rules.json", roots[n]};
  }
  situ_status status = rules_read(&w->r, sources, n, w->graph, w->platform, NULL, (log_to){keep_warning, w}, error);
  for (int32_t i = 0; i < n; i++) json_free(roots[i]);
  return status;
}

static void must_read(world *w, const char *const *texts) {
  situ_error error = {0};
  if (read_all(w, texts, &error) != SITU_STATUS_OK) fail_msg("%s: %s", error.where, error.text);
  assert_int_equal(rules_platform(&w->changed, w->r, w->platform, &error), SITU_STATUS_OK);
}

static situ_costs *costs_of(const world *w, const char *profile) {
  situ_costs *c;
  situ_cost_options o = SITU_COST_OPTIONS_INIT;
  o.fusion = profile;
  assert_int_equal(costs_estimate(&c, &(cost_step){w->graph, 1, false}, 1, w->changed, &o, w->r, NULL, NULL),
                   SITU_STATUS_OK);
  return c;
}

static void close_world(world *w) {
  rules_free(w->r);
  situ_platform_free(w->changed);
  situ_platform_free(w->platform);
  situ_graph_free(w->graph);
}

#define SOURCES(...) \
  (const char *const[]) { __VA_ARGS__, NULL }

TEST(a_kind_may_be_kept_off_a_type_of_device_and_a_name_on_one) {
  world w;
  open_world(&w, "cpu+2*v100-16g");
  must_read(&w, SOURCES("{'situ_rules': 1, 'operators': [{'kind': 'Softmax', 'not_on': 'gpu'},"
                        " {'name': ['layer1.*', 'nothing'], 'on': ['gpu1']}]}"));
  situ_costs *c = costs_of(&w, "none");
  const bool may[N][3] = {
      {true, true, true}, {true, false, false}, {false, false, true}, {false, false, true}, {true, true, true}};
  for (int32_t v = 0; v < N; v++)
    for (int32_t d = 0; d < 3; d++) {
      assert_int_equal(situ_costs_time_ns(c, w.changed, v, d) != SITU_NEVER_NS, may[v][d]);
      assert_int_equal(costs_is_ruled(c, v, w.changed->class_of[d]), !may[v][d]);
    }
  assert_int_equal(w.warnings, 0);
  situ_costs_free(c);
  close_world(&w);
}

TEST(a_class_is_split_where_rules_name_one_device_of_it) {
  world w;
  open_world(&w, "cpu+3*v100-16g");
  must_read(&w, SOURCES("{'situ_rules': 1, 'operators': [{'kind': 'Relu', 'not_on': 'gpu1'}]}"));
  assert_int_equal(w.changed->n_classes, 3);
  assert_string_equal(w.changed->devices[0].class_name, "cpu");
  assert_string_equal(w.changed->devices[1].class_name, "v100-16g:gpu0");
  assert_string_equal(w.changed->devices[2].class_name, "v100-16g:gpu1");
  assert_string_equal(w.changed->devices[3].class_name, "v100-16g:gpu0");
  close_world(&w);
  open_world(&w, "cpu+3*v100-16g");
  must_read(&w, SOURCES("{'situ_rules': 1, 'operators': [{'kind': 'Relu', 'not_on': 'v100*'}]}"));
  assert_int_equal(w.changed->n_classes, 2);
  assert_string_equal(w.changed->devices[1].class_name, "v100-16g");
  close_world(&w);
}

TEST(reserves_shrink_memories_and_later_ones_replace_earlier_ones) {
  world w;
  open_world(&w, "cpu+2*v100-16g");
  int64_t cpu = w.platform->memory_bytes[0], gpu = w.platform->memory_bytes[1];
  must_read(&w, SOURCES("{'situ_rules': 1, 'devices': {'gpu': {'reserve': '1.5 GiB'}, 'cpu': {'reserve': 7}}}",
                        "{'situ_rules': 1, 'devices': {'gpu1': {'reserve': '3GB'}}}"));
  assert_int_equal(w.changed->memory_bytes[0], cpu - 7);
  assert_int_equal(w.changed->memory_bytes[1], gpu - 3 * (1 << 29));
  assert_int_equal(w.changed->memory_bytes[2], gpu - 3000000000);
  close_world(&w);
}

TEST(factors_multiply_and_efficiency_is_that_of_the_platform) {
  world plain, w;
  open_world(&plain, "cpu+v100-16g");
  must_read(&plain, SOURCES("{'situ_rules': 1}"));
  open_world(&w, "cpu+v100-16g");
  must_read(&w, SOURCES("{'situ_rules': 1, 'operators': [{'kind': 'Soft*', 'time_factor': {'gpu0': 2, 'cpu': 0.5}},"
                        " {'name': '*.sm', 'time_factor': {'gpu0': 1.5}}], 'devices': {'gpu0': {'efficiency': 0.1}}}"));
  situ_costs *before = costs_of(&plain, "none"), *c = costs_of(&w, "none");
  /* 4 MB at 10 % of 900 GB/s is 44.444 us, and the launch of the catalogue; three times that. */
  int64_t launch = w.platform->devices[1].launch_ns;
  assert_int_equal(situ_costs_time_ns(c, w.changed, SM0, 1), 3 * (44445 + launch));
  assert_int_equal(situ_costs_time_ns(c, w.changed, SM0, 0),
                   (situ_costs_time_ns(before, plain.changed, SM0, 0) + 1) / 2);
  assert_int_equal(situ_costs_time_ns(c, w.changed, HEAD, 0), situ_costs_time_ns(before, plain.changed, HEAD, 0));
  situ_costs_free(c);
  situ_costs_free(before);
  close_world(&w);
  close_world(&plain);
}

TEST(precision_forbids_work_in_other_types_but_not_shapes) {
  world w;
  open_world(&w, "cpu+v100-16g");
  must_read(&w, SOURCES("{'situ_rules': 1, 'devices': {'gpu0': {'precision': ['f16', 'i8']}}}"));
  situ_costs *c = costs_of(&w, "none");
  const bool may[N] = {[MM0] = true, [ID1] = true};
  for (int32_t v = 0; v < N; v++) assert_int_equal(situ_costs_time_ns(c, w.changed, v, 1) != SITU_NEVER_NS, may[v]);
  situ_costs_free(c);
  close_world(&w);
}

/* Without rules the product takes the activation behind it; apart by rules each is a kernel of its own, and the shape
 * still joins. */
TEST(operators_of_unlike_devices_share_no_kernel) {
  world w;
  open_world(&w, "cpu+v100-16g");
  must_read(&w, SOURCES("{'situ_rules': 1}"));
  situ_costs *c = costs_of(&w, "generic");
  for (int32_t v = ID1; v <= HEAD; v++) assert_int_equal(situ_costs_kernel(c, v), MM1);
  situ_costs_free(c);
  close_world(&w);
  open_world(&w, "cpu+v100-16g");
  must_read(&w, SOURCES("{'situ_rules': 1, 'operators': [{'kind': 'Relu', 'not_on': 'gpu0'}]}"));
  c = costs_of(&w, "generic");
  assert_int_equal(situ_costs_kernel(c, ID1), MM1);
  assert_int_equal(situ_costs_kernel(c, HEAD), HEAD);
  assert_true(situ_costs_time_ns(c, w.changed, MM1, 1) < SITU_NEVER_NS);
  situ_costs_free(c);
  close_world(&w);
  open_world(&w, "cpu+v100-16g"); /* two rules that forbid the same leave the kernel whole */
  must_read(&w, SOURCES("{'situ_rules': 1, 'operators': [{'kind': 'Relu', 'not_on': 'gpu0'},"
                        " {'name': 'layer1.*', 'on': 'cpu'}]}"));
  c = costs_of(&w, "generic");
  assert_int_equal(situ_costs_kernel(c, HEAD), MM1);
  assert_int_equal(situ_costs_time_ns(c, w.changed, MM1, 1), SITU_NEVER_NS);
  situ_costs_free(c);
  close_world(&w);
}

TEST(copies_keep_what_rules_forbid) {
  world w;
  open_world(&w, "cpu+v100-16g");
  must_read(&w, SOURCES("{'situ_rules': 1, 'operators': [{'kind': 'Relu', 'not_on': 'gpu0'}]}"));
  situ_costs *c = costs_of(&w, "none"), *twice = costs_copies(c, 2);
  assert_non_null(twice);
  for (int32_t v = 0; v < 2 * N; v++) assert_int_equal(costs_is_ruled(twice, v, 1), v % N == HEAD);
  situ_costs_free(twice);
  situ_costs_free(c);
  close_world(&w);
}

TEST(lists_and_cut_points_keep_operators_together) {
  world w;
  int32_t into[N];
  open_world(&w, "cpu+v100-16g");
  must_read(&w, SOURCES("{'situ_rules': 1, 'keep_together': [['layer0.mm', 'head'], ['x*', 'layer1.mm']]}"));
  situ_costs *c = costs_of(&w, "none");
  disjoint_init(into, N);
  rules_join(w.r, into, w.graph, c);
  const int32_t listed[N] = {0, 1, 2, 3, 0};
  for (int32_t v = 0; v < N; v++) assert_int_equal(disjoint_root(into, v), listed[v]);
  situ_costs_free(c);
  close_world(&w);
  open_world(&w, "cpu+v100-16g");
  must_read(&w, SOURCES("{'situ_rules': 1, 'cuts_only_after': ['layer*.sm', 'layer1.mm']}"));
  c = costs_of(&w, "none");
  disjoint_init(into, N);
  rules_join(w.r, into, w.graph, c);
  const int32_t cut[N] = {0, 0, 2, 3, 3};
  for (int32_t v = 0; v < N; v++) assert_int_equal(disjoint_root(into, v), cut[v]);
  situ_costs_free(c);
  c = costs_of(&w, "generic"); /* layer1.mm and what is fused behind it are one kernel: cuts may follow it */
  disjoint_init(into, N);
  rules_join(w.r, into, w.graph, c);
  assert_int_equal(disjoint_root(into, MM1), MM1);
  situ_costs_free(c);
  close_world(&w);
}

TEST(what_matches_nothing_is_a_warning) {
  static const struct {
    const char *rules, *message;
  } cases[] = {
      {"'operators': [{'kind': 'Sofmax', 'not_on': 'cpu'}]", "did you mean Softmax?"},
      {"'operators': [{'name': 'x', 'not_on': 'cpu'}]", "operators[0]: no operator of the model matches"},
      {"'operators': [{'kind': 'Relu', 'not_on': 'npu'}]", "the platform cpu+v100-16g has no npu"},
      {"'keep_together': [['x', 'y']]", "keep_together[0]: no operator"},
      {"'cuts_only_after': ['x']", "cuts_only_after: no operator"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    world w;
    char text[256];
    open_world(&w, "cpu+v100-16g");
    snprintf(text, sizeof text, "{'situ_rules': 1, %s}", cases[i].rules);
    must_read(&w, SOURCES(text));
    assert_int_equal(w.warnings, 1);
    if (!strstr(w.warning, cases[i].message)) fail_msg("%s", w.warning);
    close_world(&w);
  }
}

TEST(wrong_rules_are_refused_with_their_place) {
  static const struct {
    const char *rules, *message;
  } cases[] = {
      {"{'situ_rules': 2}", "must be 1"},
      {"[]", "must be an object"},
      {"{'situ_rules': 1, 'operator': []}", "\"operator\" is not a key"},
      {"{'situ_rules': 1, 'operators': {}}", "must be a list"},
      {"{'situ_rules': 1, 'operators': [{'on': 'cpu'}]}", "needs \"kind\" or \"name\""},
      {"{'situ_rules': 1, 'operators': [{'kind': 'Relu'}]}", "needs \"on\", \"not_on\" or \"time_factor\""},
      {"{'situ_rules': 1, 'operators': [{'kind': '', 'on': 'cpu'}]}", "\"kind\" must be a text"},
      {"{'situ_rules': 1, 'operators': [{'kind': 'Relu', 'on': []}]}", "\"on\" must be a text"},
      {"{'situ_rules': 1, 'operators': [{'kind': 'Relu', 'on': 'gpu7'}]}", "did you mean"},
      {"{'situ_rules': 1, 'operators': [{'kind': 'Relu', 'on': 'npu'}]}", "has no such device"},
      {"{'situ_rules': 1, 'operators': [{'kind': 'Relu', 'time_factor': {'cpu': 0}}]}", "above 0"},
      {"{'situ_rules': 1, 'operators': [{'kind': 'Relu', 'time_factor': 2}]}", "an object of device: factor"},
      {"{'situ_rules': 1, 'operators': [{'kind': 'Relu', 'time_factor': {'cpu': 1e6, 'cpu*': 10}}]}", "at most 1e6"},
      {"{'situ_rules': 1, 'keep_together': ['a', 3]}", "\"keep_together\" must be a text"},
      {"{'situ_rules': 1, 'cuts_only_after': 'a'}", "must be a list"},
      {"{'situ_rules': 1, 'devices': {'v100': {'reserve': 1}}}", "v100-16g"},
      {"{'situ_rules': 1, 'devices': {'gpu0': {'reserve': '1 parsec'}}}", "must be a size"},
      {"{'situ_rules': 1, 'devices': {'gpu0': {'reserve': '17 GB'}}}", "holds only 16.0 GB"},
      {"{'situ_rules': 1, 'devices': {'gpu0': {'efficiency': 1.5}}}", "at most 1"},
      {"{'situ_rules': 1, 'devices': {'gpu0': {'precision': 'half'}}}", "no element type is called \"half\""},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    world w;
    situ_error error = {0};
    open_world(&w, "cpu+v100-16g");
    assert_int_equal(read_all(&w, SOURCES(cases[i].rules), &error), SITU_STATUS_BAD_INPUT);
    assert_null(w.r);
    if (!strstr(error.text, cases[i].message)) fail_msg("%s: %s", cases[i].rules, error.text);
    close_world(&w);
  }
}

TEST_MAIN
