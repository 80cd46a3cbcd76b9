/* Every public function with NULL, empty and extreme arguments: BAD_ARGUMENT or the neutral value of its comment, never
 * a crash. tests/export/functions.py sees that none is missing here. Here those of graphs, platforms, costs
 * and models. */
#include <math.h>

#include "arguments_open.h"

TEST(nothing_can_be_freed) {
  situ_text_free(NULL);
  situ_graph_builder_free(NULL);
  situ_graph_free(NULL);
  situ_platform_builder_free(NULL);
  situ_platform_free(NULL);
  situ_link_fit_free(NULL);
  situ_staging_free(NULL);
  situ_partition_free(NULL);
  situ_costs_free(NULL);
  situ_model_free(NULL);
  situ_problem_free(NULL);
  situ_plan_free(NULL);
  situ_verdict_free(NULL);
  situ_front_free(NULL);
  situ_instance_free(NULL);
}

TEST(names_of_values_that_are_none_are_unknown) {
  const int none[] = EXTREMES(1000);
  for (int k = 0; k < N_EXTREMES; k++) {
    assert_string_equal(situ_status_name((situ_status)none[k]), "unknown");
    assert_string_equal(situ_dtype_name((situ_dtype)none[k]), "unknown");
    assert_int_equal(situ_dtype_bits((situ_dtype)none[k]), 0);
    assert_string_equal(situ_phase_name((situ_phase)none[k]), "unknown");
    assert_string_equal(situ_guess_kind_name((situ_guess_kind)none[k]), "unknown");
    assert_string_equal(situ_precision_name((situ_precision)none[k]), "unknown");
    assert_string_equal(situ_optimizer_name((situ_optimizer)none[k]), "unknown");
    assert_string_equal(situ_device_family_name((situ_device_family)none[k]), "");
    assert_string_equal(situ_outcome_name((situ_outcome)none[k]), "unknown");
    assert_string_equal(situ_granularity_name((situ_granularity)none[k]), "unknown");
    assert_string_equal(situ_objective_name((situ_objective)none[k]), "unknown");
    assert_string_equal(situ_execution_name((situ_execution)none[k]), "unknown");
    assert_string_equal(situ_communication_name((situ_communication)none[k]), "unknown");
    assert_string_equal(situ_contention_name((situ_contention)none[k]), "unknown");
    assert_string_equal(situ_overlap_name((situ_overlap)none[k]), "unknown");
    assert_string_equal(situ_schedule_name((situ_schedule)none[k]), "unknown");
  }
}

TEST(the_version_is_that_of_the_headers) {
  char text[64];
  snprintf(text, sizeof text, "%d.%d.%d", SITU_VERSION_MAJOR, SITU_VERSION_MINOR, SITU_VERSION_PATCH);
  assert_string_equal(situ_version(), text);
  assert_int_equal(situ_version_number(), SITU_VERSION_NUMBER);
  assert_true(SITU_VERSION_AT_LEAST(0, 1, 9) && !SITU_VERSION_AT_LEAST(SITU_VERSION_MAJOR, SITU_VERSION_MINOR + 1, 0));
}

/* A family: rows 0 .. count-1 are there, others, NULL and an info without its size are not. */
#define FAMILY(NAME, INIT)                                                                \
  do {                                                                                    \
    situ_##NAME##_info info = INIT, none;                                                 \
    memset(&none, 0, sizeof none);                                                        \
    int32_t n = situ_##NAME##_count();                                                    \
    const int32_t wrong[] = EXTREMES(n);                                                  \
    for (int32_t i = 0; i < n; i++) {                                                     \
      assert_true(situ_##NAME##_at(i, &info));                                            \
      assert_true(info.name[0] && info.title[0] && info.size == sizeof info);             \
      assert_false(situ_##NAME##_at(i, NULL) || situ_##NAME##_at(i, &none));              \
    }                                                                                     \
    for (int k = 0; k < N_EXTREMES; k++) assert_false(situ_##NAME##_at(wrong[k], &info)); \
  } while (0)

TEST(families_are_walked_to_their_ends) {
  FAMILY(solver, SITU_SOLVER_INFO_INIT);           /* situ_solver_count situ_solver_at */
  FAMILY(option, SITU_OPTION_INFO_INIT);           /* situ_option_count situ_option_at */
  FAMILY(bound, SITU_BOUND_INFO_INIT);             /* situ_bound_count situ_bound_at */
  FAMILY(learner, SITU_LEARNER_INFO_INIT);         /* situ_learner_count situ_learner_at */
  FAMILY(reader, SITU_READER_INFO_INIT);           /* situ_reader_count situ_reader_at */
  FAMILY(writer, SITU_WRITER_INFO_INIT);           /* situ_writer_count situ_writer_at */
  FAMILY(cost_model, SITU_COST_MODEL_INFO_INIT);   /* situ_cost_model_count situ_cost_model_at */
  FAMILY(engine, SITU_ENGINE_INFO_INIT);           /* situ_engine_count situ_engine_at */
  FAMILY(builtin, SITU_BUILTIN_INFO_INIT);         /* situ_builtin_count situ_builtin_at */
  FAMILY(device_kind, SITU_DEVICE_KIND_INFO_INIT); /* situ_device_kind_count situ_device_kind_at */
  FAMILY(link_kind, SITU_LINK_KIND_INFO_INIT);     /* situ_link_kind_count situ_link_kind_at */
  situ_builtin_parameter parameter = SITU_BUILTIN_PARAMETER_INIT;
  const int32_t wrong[] = EXTREMES(1000);
  for (int k = 0; k < N_EXTREMES; k++) {
    assert_false(situ_builtin_parameter_at(wrong[k], 0, &parameter));
    assert_false(situ_builtin_parameter_at(0, wrong[k], &parameter));
    assert_null(situ_report_family(wrong[k]));
    assert_null(situ_report_family_about(wrong[k]));
  }
  assert_false(situ_builtin_parameter_at(0, 0, NULL));
  assert_false(situ_solver_serves(NULL, problem) || situ_solver_serves("heft", NULL) ||
               situ_solver_serves("", problem));
}

TEST(texts_need_a_text_and_a_path) {
  REFUSED(situ_text_write(NULL, "x", error));
  REFUSED(situ_text_write("x", NULL, error));
  REFUSED(situ_path_check_writable(NULL, error));
  assert_int_equal(situ_path_check_writable("", NULL), SITU_STATUS_IO);
  assert_int_equal(situ_text_write("x", "", NULL), SITU_STATUS_IO);
}

TEST(slips_of_a_name_need_a_word_and_names) {
  static const char *const names[] = {"place", NULL, "pareto"};
  assert_null(situ_nearest_name(NULL, names, 3));
  assert_null(situ_nearest_name("plcae", NULL, 3));
  assert_null(situ_nearest_name("plcae", names, 0));
  assert_null(situ_nearest_name("plcae", names, -1));
  assert_null(situ_nearest_name("", names, 3));
  assert_string_equal(situ_nearest_name("plcae", names, 3), "place"); /* two letters exchanged: a distance of 2 */
  assert_string_equal(situ_nearest_name("PAR", names, 3), "pareto");
  assert_null(situ_nearest_name("check", names, 3));
}

TEST(a_graph_builder_keeps_its_first_failure) {
  situ_graph_builder *b = NULL;
  situ_graph *g = NULL;
  situ_operator op = SITU_OPERATOR_INIT, unsized;
  situ_tensor tensor = SITU_TENSOR_INIT;
  situ_error first;
  memset(&unsized, 0, sizeof unsized);
  REFUSED(situ_graph_builder_new(NULL, "x", error));
  REFUSED_OUT(g, situ_graph_freeze(&g, NULL, error));
  REFUSED(situ_graph_builder_status(NULL, error));
  assert_int_equal(situ_graph_builder_add_operator(NULL, &op), -1);
  assert_int_equal(situ_graph_builder_add_tensor(NULL, 0, &tensor), -1);
  situ_graph_builder_add_use(NULL, 0, 0);
  situ_graph_builder_add_guess(NULL, SITU_GUESS_KIND, "x", 0);
  DONE(situ_graph_builder_new(&b, NULL, error));
  REFUSED(situ_graph_freeze(NULL, b, error));
  assert_int_equal(situ_graph_freeze(&g, b, NULL), SITU_STATUS_BAD_INPUT); /* it is empty */
  assert_int_equal(situ_graph_builder_add_operator(b, &op), 0);
  assert_int_equal(situ_graph_builder_status(b, &first), SITU_STATUS_OK);
  op.flops = -1;
  op.name = "the first";
  assert_int_equal(situ_graph_builder_add_operator(b, &op), -1);
  assert_int_equal(situ_graph_builder_add_operator(b, NULL), -1);     /* not reported: it comes later, */
  assert_int_equal(situ_graph_builder_add_operator(b, &unsized), -1); /* as do all of these */
  assert_int_equal(situ_graph_builder_add_tensor(b, INT32_MIN, &tensor), -1);
  situ_graph_builder_add_use(b, INT32_MAX, INT32_MIN);
  assert_int_equal(situ_graph_builder_status(b, &first), SITU_STATUS_BAD_INPUT);
  assert_string_equal(first.where, "the first");
  assert_int_equal(situ_graph_freeze(&g, b, &first), SITU_STATUS_BAD_INPUT);
  assert_string_equal(first.where, "the first");
  assert_null(g);
  situ_graph_builder_free(b);
}

/* Each of these alone makes the builder fail. */
TEST(what_no_graph_can_hold_is_refused) {
  for (int k = 0; k < 11; k++) {
    situ_graph_builder *b = NULL;
    situ_tensor tensor = SITU_TENSOR_INIT;
    situ_operator op = SITU_OPERATOR_INIT;
    DONE(situ_graph_builder_new(&b, "", error));
    if (k == 0) op.size = 0;
    if (k == 1) op.phase = (situ_phase)99;
    if (k == 2) op.colocation = INT32_MIN;
    int32_t v = situ_graph_builder_add_operator(b, &op), t = 0;
    if (k == 3) tensor.size = 3;
    if (k == 4) tensor.rank = INT32_MAX;
    if (k != 6) t = situ_graph_builder_add_tensor(b, v, k == 5 ? NULL : &tensor);
    situ_graph_builder_add_use(b, v, t);
    situ_guess_kind kind = k == 7 ? (situ_guess_kind)99 : SITU_GUESS_SIZE;
    if (k > 6) situ_graph_builder_add_guess(b, kind, k == 8 ? NULL : "x", k == 9 ? INT32_MIN : k == 10 ? 1 : -1);
    assert_int_not_equal(situ_graph_builder_status(b, NULL), SITU_STATUS_OK);
    situ_graph_builder_free(b);
  }
}

TEST(a_graph_is_read_within_its_bounds_only) {
  const situ_graph *graphs[] = {NULL, graph};
  const int32_t *list = NULL;
  int32_t first = 0;
  for (int i = 0; i < 2; i++) {
    const situ_graph *g = graphs[i];
    situ_graph_summary has = SITU_GRAPH_SUMMARY_INIT;
    assert_true(situ_graph_get_summary(g, &has) == (g != NULL));
    const int32_t ops[] = EXTREMES(has.n_operators), tensors[] = EXTREMES(has.n_tensors);
    situ_operator op = SITU_OPERATOR_INIT;
    situ_tensor tensor = SITU_TENSOR_INIT;
    situ_guess guess = SITU_GUESS_INIT;
    const int32_t guesses[] = EXTREMES(situ_graph_guess_count(g));
    for (int k = 0; k < N_EXTREMES; k++) {
      assert_false(situ_graph_guess_at(g, guesses[k], &guess) || situ_graph_guess_at(g, guesses[k], NULL));
      assert_false(situ_graph_operator(g, ops[k], &op) || situ_graph_tensor(g, tensors[k], &tensor));
      assert_string_equal(situ_graph_operator_name(g, ops[k]), "");
      assert_int_equal(situ_graph_tensor_producer(g, tensors[k]), -1);
      assert_int_equal(situ_graph_outputs(g, ops[k], &first) + situ_graph_outputs(g, ops[k], NULL), 0);
      assert_int_equal(situ_graph_inputs(g, ops[k], &list) + situ_graph_inputs(g, ops[k], NULL), 0);
      assert_int_equal(situ_graph_users(g, tensors[k], &list) + situ_graph_users(g, tensors[k], NULL), 0);
      assert_null(list);
    }
    assert_int_equal(situ_graph_find(g, NULL), -1);
    assert_int_equal(situ_graph_find(g, ""), -1);
  }
  assert_false(situ_graph_operator(graph, 0, NULL) || situ_graph_tensor(graph, 0, NULL));
  situ_graph_inputs(graph, 0, NULL);
  situ_graph_outputs(graph, 0, NULL);
  situ_graph_users(graph, 0, NULL);
}

TEST(a_platform_builder_keeps_its_first_failure) {
  situ_platform_builder *b = NULL;
  situ_platform *f = NULL;
  situ_device device = SITU_DEVICE_INIT;
  situ_link link = {INT32_MIN, INT32_MAX, INT64_MIN, -1.0, INT32_MIN};
  REFUSED(situ_platform_builder_new(NULL, NULL, error));
  REFUSED_OUT(f, situ_platform_freeze(&f, NULL, error));
  REFUSED(situ_platform_builder_status(NULL, error));
  assert_int_equal(situ_platform_builder_add_device(NULL, &device), -1);
  assert_int_equal(situ_platform_builder_add_link(NULL, &link), -1);
  DONE(situ_platform_builder_new(&b, NULL, error));
  assert_int_equal(situ_platform_freeze(&f, b, NULL), SITU_STATUS_BAD_INPUT); /* it is empty */
  assert_int_equal(situ_platform_builder_add_device(b, &device), 0);
  assert_int_equal(situ_platform_builder_add_link(b, &link), 0);
  assert_int_equal(situ_platform_freeze(&f, b, NULL), SITU_STATUS_BAD_INPUT); /* the device has no name */
  REFUSED(situ_platform_freeze(NULL, b, error));
  device.size = SIZE_MAX;
  assert_int_equal(situ_platform_builder_add_device(b, &device), -1);
  assert_int_equal(situ_platform_builder_add_link(b, NULL), -1);
  REFUSED(situ_platform_builder_status(b, error));
  REFUSED_OUT(f, situ_platform_freeze(&f, b, error));
  situ_platform_builder_free(b);
}

/* A device that is right, and each of these links. */
TEST(what_no_platform_can_hold_is_refused) {
  const situ_link links[] = {{0, INT32_MAX, 0, 1e9, -1}, {INT32_MIN, 0, 0, 1e9, -1},     {0, 0, 0, 1e9, -1},
                             {0, 1, INT64_MIN, 1e9, -1}, {0, 1, INT64_MAX, 1e9, -1},     {0, 1, 0, (double)NAN, -1},
                             {0, 1, 0, -1, -1},          {0, 1, 0, (double)INFINITY, -1}};
  for (size_t k = 0; k < sizeof links / sizeof *links; k++) {
    situ_platform_builder *b = NULL;
    situ_platform *f = NULL;
    situ_device device = SITU_DEVICE_INIT;
    device.peak_flops[SITU_DTYPE_F32] = device.memory_bytes_per_s = 1e9;
    DONE(situ_platform_builder_new(&b, "", error));
    device.name = "a";
    situ_platform_builder_add_device(b, &device);
    device.name = "b";
    situ_platform_builder_add_device(b, &device);
    const situ_link there = {0, 1, 0, 1e9, INT32_MAX}, back = {1, 0, 0, 1e9, INT32_MAX};
    situ_platform_builder_add_link(b, &there);
    situ_platform_builder_add_link(b, &back);
    DONE(situ_platform_freeze(&f, b, error));
    situ_platform_free(f);
    situ_platform_builder_add_link(b, &links[k]);
    assert_int_equal(situ_platform_freeze(&f, b, NULL), SITU_STATUS_BAD_INPUT);
    assert_null(f);
    situ_platform_builder_free(b);
  }
}

TEST(a_platform_is_read_within_its_bounds_only) {
  const situ_platform *platforms[] = {NULL, platform};
  situ_platform *read = NULL;
  for (int i = 0; i < 2; i++) {
    const situ_platform *f = platforms[i];
    situ_platform_summary has = SITU_PLATFORM_SUMMARY_INIT;
    assert_true(situ_platform_get_summary(f, &has) == (f != NULL));
    const int32_t devices[] = EXTREMES(has.n_devices), links[] = EXTREMES(has.n_links);
    const int32_t memories[] = EXTREMES(has.n_memories);
    situ_device device = SITU_DEVICE_INIT;
    for (int k = 0; k < N_EXTREMES; k++) {
      assert_false(situ_platform_device(f, devices[k], &device));
      assert_string_equal(situ_platform_device_name(f, devices[k]), "");
      assert_int_equal(situ_platform_link(f, links[k]).from_device, -1);
      assert_int_equal(situ_platform_memory_of(f, devices[k]), -1);
      assert_string_equal(situ_platform_memory_name(f, memories[k]), "");
      assert_int_equal(situ_platform_memory_bytes(f, memories[k]), 0);
    }
    assert_int_equal(situ_platform_find(f, NULL), -1);
  }
  assert_false(situ_platform_device(platform, 0, NULL));
  SUMMARY(situ_platform_summary, situ_platform_get_summary, platform, says);
  assert_true(*says.name && says.n_classes <= says.n_devices && says.n_memories <= says.n_devices);
  REFUSED(situ_platform_read(NULL, "cpu", error));
  REFUSED_OUT(read, situ_platform_read(&read, NULL, error));
  REFUSED_OUT(read, situ_platform_read(&read, "", error));
  char *text = NULL;
  REFUSED_OUT(text, situ_report_platform(&text, NULL, SITU_REPORT_TABLE, NULL, error));
  REFUSED_OUT(text, situ_report_platform(&text, platform, SITU_REPORT_SVG, NULL, error));
  REFUSED(situ_report_platform(NULL, platform, SITU_REPORT_JSON, NULL, error));
  REFUSED(situ_platform_write(NULL, "x", error));
  REFUSED(situ_platform_write(platform, NULL, error));
}

TEST(a_staging_needs_a_file) {
  situ_staging *staging = NULL;
  situ_staging_options options = SITU_STAGING_OPTIONS_INIT, unsized = {0};
  situ_staging_info info = SITU_STAGING_INFO_INIT, unsized_info = {0};
  REFUSED(situ_staging_find(NULL, "x", NULL, error));
  REFUSED_OUT(staging, situ_staging_find(&staging, NULL, NULL, error));
  assert_int_equal(situ_staging_find(&staging, "", NULL, NULL), SITU_STATUS_IO);
  DONE(
      situ_text_write("{\"maxDevices\": 2, \"maxMemoryPerDevice\": 9, \"bandwidth\": 1, \"mbsInBatch\": 2, "
                      "\"edges\": [], \"nodes\": [{\"id\": 1, \"TMPCs\": {\"1\": [{\"id\": \"w\", \"timePerSample\": "
                      "1, \"parameterSize\": 0, \"memoryUsageA\": 1, \"memoryUsageB\": 1, \"syncTimeFw\": {}, "
                      "\"syncTimeBw\": {}}]}}]}",
                      "stages.json", error));
  REFUSED_OUT(staging, situ_staging_find(&staging, "stages.json", &unsized, error));
  const int64_t beyond[] = {-1, INT64_MIN, INT64_MAX};
  for (int k = 0; k < 3; k++) {
    options.n_devices = beyond[k];
    REFUSED_OUT(staging, situ_staging_find(&staging, "stages.json", &options, error));
  }
  options.n_devices = 0;
  options.time_limit_s = -1;
  REFUSED_OUT(staging, situ_staging_find(&staging, "stages.json", &options, error));
  options.time_limit_s = 0;
  DONE(situ_staging_find(&staging, "stages.json", &options, error));
  const int32_t wrong[] = EXTREMES(1);
  for (int k = 0; k < N_EXTREMES; k++) {
    assert_int_equal(situ_staging_stage_at(staging, wrong[k]).split, 0);
    assert_null(situ_staging_layer_at(staging, wrong[k]).name);
  }
  assert_int_equal(situ_staging_stage_at(NULL, 0).split, 0);
  assert_null(situ_staging_layer_at(NULL, 0).name);
  assert_true(situ_staging_get_info(staging, &info));
  assert_int_equal(info.period_ns, 500000000); /* a second, on two replicas */
  assert_false(situ_staging_get_info(NULL, &info) || situ_staging_get_info(staging, NULL) ||
               situ_staging_get_info(staging, &unsized_info));
  char *text = NULL;
  REFUSED_OUT(text, situ_report_stages(&text, NULL, SITU_REPORT_TABLE, NULL, error));
  REFUSED_OUT(text, situ_report_stages(&text, staging, SITU_REPORT_SVG, NULL, error));
  REFUSED(situ_report_stages(NULL, staging, SITU_REPORT_JSON, NULL, error));
  situ_staging_free(staging);
  remove("stages.json");
}

TEST(a_partition_needs_a_graph_and_what_is_supported) {
  situ_graph_summary has = SITU_GRAPH_SUMMARY_INIT;
  situ_partition *partition = NULL;
  situ_partition_options options = SITU_PARTITION_OPTIONS_INIT, unsized = {0};
  situ_partition_summary says = SITU_PARTITION_SUMMARY_INIT, unsized_summary = {0};
  situ_subgraph part = SITU_SUBGRAPH_INIT, unsized_part = {0};
  assert_true(situ_graph_get_summary(graph, &has) && has.n_operators < 4096);
  static bool all[4096], none[4096];
  static int64_t cost[4096];
  for (int32_t v = 0; v < has.n_operators; v++) all[v] = true;
  REFUSED(situ_partition_find(NULL, graph, 1, all, NULL, error));
  REFUSED_OUT(partition, situ_partition_find(&partition, NULL, 1, all, NULL, error));
  REFUSED_OUT(partition, situ_partition_find(&partition, graph, 1, NULL, NULL, error));
  REFUSED_OUT(partition, situ_partition_find(&partition, graph, 1, all, &unsized, error));
  assert_int_equal(situ_partition_find(&partition, graph, 1, none, NULL, NULL), SITU_STATUS_BAD_INPUT);
  const int32_t beyond[] = {INT32_MIN, -1, 0, SITU_PARTITION_MAX_DEVICES + 1, INT32_MAX};
  for (int k = 0; k < 5; k++)
    REFUSED_OUT(partition, situ_partition_find(&partition, graph, beyond[k], all, NULL, error));
  int64_t *const amounts[] = {&options.crossing_cost, &options.part_cost, &options.max_steps, &cost[0]};
  int32_t min = -1;
  options.costs = cost;
  for (int k = 0; k < 4; k++) {
    *amounts[k] = -1;
    REFUSED_OUT(partition, situ_partition_find(&partition, graph, 1, all, &options, error));
    *amounts[k] = INT64_MAX;
    if (k != 2) REFUSED_OUT(partition, situ_partition_find(&partition, graph, 1, all, &options, error));
    *amounts[k] = 0;
  }
  options.time_limit_s = (double)NAN;
  REFUSED_OUT(partition, situ_partition_find(&partition, graph, 1, all, &options, error));
  options.time_limit_s = 0;
  options.min_operators = &min;
  REFUSED_OUT(partition, situ_partition_find(&partition, graph, 1, all, &options, error));
  min = INT32_MAX;
  DONE(situ_partition_find(&partition, graph, 1, all, &options, error));
  assert_true(situ_partition_get_summary(partition, &says) && says.outcome == SITU_OUTCOME_INFEASIBLE);
  assert_int_equal(situ_partition_part_of(partition, 0), -1);
  situ_partition_free(partition);
  DONE(situ_partition_find(&partition, graph, 1, all, NULL, error));
  assert_true(situ_partition_get_summary(partition, &says) && says.n_parts == 1 &&
              says.outcome == SITU_OUTCOME_OPTIMAL);
  assert_false(situ_partition_get_summary(NULL, &says) || situ_partition_get_summary(partition, NULL) ||
               situ_partition_get_summary(partition, &unsized_summary));
  assert_true(situ_partition_part(partition, 0, &part) && part.n_operators == has.n_operators);
  assert_false(situ_partition_part(NULL, 0, &part) || situ_partition_part(partition, 0, NULL) ||
               situ_partition_part(partition, 0, &unsized_part));
  const int32_t wrong[] = EXTREMES(1), no_operator[] = EXTREMES(has.n_operators);
  for (int k = 0; k < N_EXTREMES; k++) {
    assert_false(situ_partition_part(partition, wrong[k], &part));
    assert_int_equal(situ_partition_part_of(partition, no_operator[k]), -1);
  }
  assert_int_equal(situ_partition_part_of(NULL, 0), -1);
  situ_partition_free(partition);
}

TEST(a_link_fit_needs_a_file) {
  situ_link_fit *fit = NULL;
  situ_link_line line = SITU_LINK_LINE_INIT, unsized = {0};
  REFUSED(situ_link_fit_read(NULL, "x", false, error));
  REFUSED_OUT(fit, situ_link_fit_read(&fit, NULL, true, error));
  assert_int_equal(situ_link_fit_read(&fit, "", false, NULL), SITU_STATUS_IO);
  DONE(situ_text_write("bytes,time_ns\n1000,1100\n2000,2100\n", "fit.csv", error));
  DONE(situ_link_fit_read(&fit, "fit.csv", false, error));
  const int32_t wrong[] = EXTREMES(2);
  for (int k = 0; k < N_EXTREMES; k++) assert_int_equal(situ_link_fit_sample(fit, wrong[k]).n_measured, 0);
  assert_int_equal(situ_link_fit_sample(NULL, 0).n_measured, 0);
  assert_true(situ_link_fit_line(fit, &line));
  assert_false(situ_link_fit_line(NULL, &line) || situ_link_fit_line(fit, NULL) || situ_link_fit_line(fit, &unsized));
  char *text = NULL;
  REFUSED_OUT(text, situ_report_link_fit(&text, NULL, "a", "b", SITU_REPORT_TABLE, NULL, error));
  REFUSED_OUT(text, situ_report_link_fit(&text, fit, NULL, "b", SITU_REPORT_TABLE, NULL, error));
  REFUSED_OUT(text, situ_report_link_fit(&text, fit, "a", NULL, SITU_REPORT_JSON, NULL, error));
  REFUSED(situ_report_link_fit(NULL, fit, "a", "b", SITU_REPORT_JSON, NULL, error));
  situ_link_fit_free(fit);
  remove("fit.csv");
}

TEST(costs_are_asked_for_what_they_have) {
  situ_costs *made = NULL;
  situ_platform *other = NULL;
  situ_cost_options options = SITU_COST_OPTIONS_INIT;
  REFUSED(situ_costs_estimate(NULL, graph, platform, NULL, error));
  REFUSED_OUT(made, situ_costs_estimate(&made, NULL, platform, NULL, error));
  REFUSED_OUT(made, situ_costs_estimate(&made, graph, NULL, NULL, error));
  options.efficiency = -1;
  REFUSED_OUT(made, situ_costs_estimate(&made, graph, platform, &options, error));
  options.efficiency = 0;
  options.model = "";
  REFUSED_OUT(made, situ_costs_estimate(&made, graph, platform, &options, error));
  const situ_operator_time wrong[] = {{-1, 0, 1}, {INT32_MAX, 0, 1}, {0, -1, 1}, {0, INT32_MAX, 1}, {0, 0, -1}};
  for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++)
    REFUSED_OUT(made, situ_costs_change(&made, costs, platform, &wrong[k], 1, error));
  REFUSED(situ_costs_change(NULL, costs, platform, NULL, 0, error));
  REFUSED_OUT(made, situ_costs_change(&made, NULL, platform, NULL, 0, error));
  REFUSED_OUT(made, situ_costs_change(&made, costs, NULL, NULL, 0, error));
  REFUSED_OUT(made, situ_costs_change(&made, costs, platform, NULL, 1, error));
  REFUSED_OUT(made, situ_costs_change(&made, costs, platform, wrong, -1, error));
  SUMMARY(situ_costs_summary, situ_costs_get_summary, costs, estimated);
  assert_true(*estimated.source && estimated.unit_ns == 0);
  SUMMARY(situ_graph_summary, situ_graph_get_summary, graph, has);
  const int32_t ops[] = EXTREMES(has.n_operators), devices[] = EXTREMES(3);
  const int32_t tensors[] = EXTREMES(has.n_tensors);
  for (int k = 0; k < N_EXTREMES; k++) {
    assert_true(situ_costs_time_ns(costs, platform, ops[k], 0) == SITU_NEVER_NS);
    assert_true(situ_costs_time_ns(costs, platform, 0, devices[k]) == SITU_NEVER_NS);
    assert_true(situ_costs_transfer_ns(costs, platform, tensors[k], 0, 1) == SITU_NEVER_NS);
    assert_true(situ_costs_transfer_ns(costs, platform, 0, devices[k], 1) == SITU_NEVER_NS);
    assert_true(situ_costs_transfer_ns(costs, platform, 0, 0, devices[k]) == SITU_NEVER_NS);
  }
  assert_true(situ_costs_time_ns(NULL, platform, 0, 0) == SITU_NEVER_NS);
  assert_int_equal(situ_costs_kernel(NULL, 0), -1);
  assert_int_equal(situ_costs_kernel(costs, -1), -1);
  assert_int_equal(situ_costs_kernel(costs, INT32_MAX), -1);
  assert_null(situ_fusion_profile_at(-1));
  assert_null(situ_fusion_profile_at(INT32_MAX));
  assert_null(situ_cost_engine_at(-1));
  assert_null(situ_cost_engine_at(INT32_MAX));
  assert_true(situ_costs_time_ns(costs, NULL, 0, 0) == SITU_NEVER_NS);
  assert_true(situ_costs_transfer_ns(NULL, NULL, 0, 0, 0) == SITU_NEVER_NS);
  DONE(situ_platform_read(&other, "cpu+4*l4-24g", error));
  assert_true(situ_costs_time_ns(costs, other, 0, 0) == SITU_NEVER_NS); /* they are of another platform */
  situ_problem *posed = NULL;
  REFUSED_OUT(posed, situ_problem_pose(&posed, graph, other, costs, NULL, error));
  situ_platform_free(other);
}

TEST(a_model_needs_a_path_and_whole_options) {
  situ_model *read = NULL;
  situ_read_options options = SITU_READ_OPTIONS_INIT;
  const situ_dim nameless = {NULL, 3}, negative = {"n", -1};
  REFUSED(situ_model_read(NULL, "builtin:resnet50", NULL, error));
  REFUSED_OUT(read, situ_model_read(&read, NULL, NULL, error));
  assert_int_equal(situ_model_read(&read, "", NULL, NULL), SITU_STATUS_IO);
  options.n_dims = 1;
  REFUSED_OUT(read, situ_model_read(&read, "builtin:resnet50", &options, error));
  options.dims = &nameless;
  REFUSED_OUT(read, situ_model_read(&read, "builtin:resnet50", &options, error));
  options.dims = &negative;
  REFUSED_OUT(read, situ_model_read(&read, "builtin:resnet50", &options, error));
  options.n_dims = INT32_MIN;
  REFUSED_OUT(read, situ_model_read(&read, "builtin:resnet50", &options, error));
  options.n_dims = 0;
  options.reader = "";
  REFUSED_OUT(read, situ_model_read(&read, "builtin:resnet50", &options, error));
  assert_null(situ_model_graph(NULL));
  assert_true(!situ_model_platform(NULL) && !situ_model_costs(NULL));
  assert_true(!situ_model_assumed_dim(NULL, 0, NULL));
  SUMMARY(situ_model_summary, situ_model_get_summary, model, says);
  assert_string_equal(says.reader, "builtin");
}

int main(void) { return TEST_RUN(open_all, close_all) + arguments_solve_tests(); }
