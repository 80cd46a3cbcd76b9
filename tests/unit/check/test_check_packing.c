/* The judge of packings on problems worked out by hand; docs/theory/bounds/packing.md says what each memory holds. */
#include "../../lab/lab.h"
#include "../../lab/proved.h"
#include "../../lab/test.h"

static int64_t proved_by_list(const lab *s, int64_t n, const int64_t *operators) {
  certificate c;
  certificate_start(&c, "packing", 0);
  int64_t *list = certificate_add_operators(&c, "operators", n, s->arena);
  assert_non_null(list);
  for (int64_t i = 0; i < n; i++) list[i] = operators[i];
  return proved_by(s->problem, &c);
}

static int64_t proved_by_all(const lab *s) {
  int64_t all[LAB_MAX_OPERATORS];
  for (int64_t v = 0; v < s->graph->n_operators; v++) all[v] = v;
  return proved_by_list(s, s->graph->n_operators, all);
}

static void pose(lab *s, situ_execution execution, int32_t in_flight) {
  bool pipeline = execution == SITU_EXECUTION_PIPELINE;
  lab_pose(s, &(situ_problem_options){.execution = execution,
                                      .objective = pipeline ? SITU_OBJECTIVE_THROUGHPUT : SITU_OBJECTIVE_LATENCY,
                                      .in_flight = in_flight});
}

static const situ_execution models[] = {SITU_EXECUTION_STREAM, SITU_EXECUTION_CALLS, SITU_EXECUTION_PIPELINE};

/* Two memories of 10 bytes. 8 goes with 2 alone: of 8, 6, 3 and 3 one memory has to take 6 + 3 + 3 = 12, although the
 * sum is 20; 8 + 2 and 6 + 4 fit. A list without the last 3 proves nothing: 8 and 6 + 3. */
TEST(sums_may_fit_where_sizes_do_not) {
  static const int64_t weights[2][4] = {{8, 6, 3, 3}, {8, 6, 4, 2}};
  for (size_t k = 0; k < 3; k++)
    for (int row = 0; row < 2; row++) {
      static const char *const names[] = {"a", "b", "c", "d"};
      OWN(lab) s = lab_mesh(2, 10);
      for (int i = 0; i < 4; i++) lab_operator(&s, names[i], 1, weights[row][i], 0);
      pose(&s, models[k], 0);
      assert_int_equal(proved_by_all(&s), row == 0 ? SITU_NEVER_NS : 0);
      assert_int_equal(proved_by_list(&s, 3, (int64_t[]){0, 1, 2}), 0);
    }
}

/* Weights 4 and 3 in one memory, workspaces 5 and 2: the maximum of the workspaces counts, 4 + 3 + 5 = 12. What takes
 * no time in a stream holds no workspace: of a and b without time 4 + 3 = 7, with time for b alone 4 + 3 + 2 = 9. */
TEST(the_largest_workspace_counts_where_time_passes) {
  static const struct {
    situ_execution execution;
    int64_t a_ns, b_ns, bytes;
  } rows[] = {{SITU_EXECUTION_STREAM, 1, 1, 12},
              {SITU_EXECUTION_STREAM, 0, 0, 7},
              {SITU_EXECUTION_STREAM, 0, 1, 9},
              {SITU_EXECUTION_CALLS, 0, 0, 12},
              {SITU_EXECUTION_PIPELINE, 1, 1, 12}};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
    for (int short_of = 0; short_of < 2; short_of++) {
      OWN(lab) s = lab_mesh(1, rows[i].bytes - short_of);
      lab_operator(&s, "a", rows[i].a_ns, 4, 5);
      lab_operator(&s, "b", rows[i].b_ns, 3, 2);
      pose(&s, rows[i].execution, 0);
      assert_int_equal(proved_by_all(&s), short_of ? SITU_NEVER_NS : 0);
    }
}

/* a writes 5 and 6 bytes, which b reads, and b has a workspace of 2: 11 while a runs, 13 while b does. */
TEST(inputs_and_outputs_count_while_an_operator_runs) {
  for (size_t k = 0; k < 3; k++)
    for (int short_of = 0; short_of < 2; short_of++) {
      OWN(lab) s = lab_mesh(1, 13 - short_of);
      int32_t a = lab_operator(&s, "a", 1, 0, 0), b = lab_operator(&s, "b", 1, 0, 2);
      lab_tensor(&s, a, 5, b, -1);
      lab_tensor(&s, a, 6, b, -1);
      pose(&s, models[k], 0);
      assert_int_equal(proved_by_all(&s), short_of ? SITU_NEVER_NS : 0);
    }
}

/* a and b, 1 byte of weights each, write 5 and 4 bytes that nobody uses. At the end of a stream 2 + 5 + 4 = 11 are
 * there; calls and pipelines hold 2 + 5 = 7 at most. */
TEST(results_stay_until_the_end_of_a_stream) {
  for (size_t k = 0; k < 3; k++)
    for (int short_of = 0; short_of < 2; short_of++) {
      OWN(lab) s = lab_mesh(1, (k == 0 ? 11 : 7) - short_of);
      lab_tensor(&s, lab_operator(&s, "a", 1, 1, 0), 5, -1);
      lab_tensor(&s, lab_operator(&s, "b", 1, 1, 0), 4, -1);
      pose(&s, models[k], 0);
      assert_int_equal(proved_by_all(&s), short_of ? SITU_NEVER_NS : 0);
    }
}

/* The forward operator f writes 3 bytes for the backward operator b and 2 for the forward operator g, and b writes 1
 * for another backward operator c. With two inputs in flight the stash is 2 x 3 bytes, and the most that runs beside is
 * f with 3 + 2, of one input: 11 bytes. */
TEST(what_other_phases_need_is_kept_for_each_input_in_flight) {
  for (int short_of = 0; short_of < 2; short_of++) {
    OWN(lab) s = lab_mesh(1, 11 - short_of);
    int32_t f = lab_of_phase(&s, "f", 1, SITU_PHASE_FORWARD, -1);
    int32_t g = lab_of_phase(&s, "g", 1, SITU_PHASE_FORWARD, -1);
    int32_t b = lab_of_phase(&s, "b", 1, SITU_PHASE_BACKWARD, -1);
    int32_t c = lab_of_phase(&s, "c", 1, SITU_PHASE_BACKWARD, -1);
    lab_tensor(&s, f, 3, b, -1);
    lab_tensor(&s, f, 2, g, -1);
    lab_tensor(&s, b, 1, c, -1);
    pose(&s, SITU_EXECUTION_PIPELINE, 2);
    assert_int_equal(proved_by_all(&s), short_of ? SITU_NEVER_NS : 0);
  }
}

/* Two memories of 10 bytes, weights 6 and 6: a group of both has no room, and one of the two stands for all of it. */
TEST(a_group_goes_into_one_memory) {
  for (size_t k = 0; k < 3; k++)
    for (int grouped = 0; grouped < 2; grouped++) {
      OWN(lab) s = lab_mesh(2, 10);
      for (int i = 0; i < 2; i++)
        lab_add(
            &s,
            (situ_operator){.name = i ? "a" : "b", .source_id = -1, .colocation = grouped ? 1 : -1, .weight_bytes = 6},
            1);
      pose(&s, models[k], 0);
      int64_t expected = grouped ? SITU_NEVER_NS : 0;
      assert_int_equal(proved_by_all(&s), expected);
      assert_int_equal(proved_by_list(&s, 1, (int64_t[]){1}), expected);
    }
}

/* d1 shares the memory of d0, 10 bytes. a has 4 bytes of weights and 7 of workspace: too much on d0, where it takes
 * time; on d1 it takes none, so that the memory may hold it, unless d1 has to stay unused. */
TEST(a_memory_takes_what_one_of_its_devices_may_run) {
  for (int variant = 0; variant < 2; variant++) {
    bool unused[] = {false, variant == 1};
    OWN(lab) s = lab_mesh(1, 10);
    lab_device(&s, SITU_UNLIMITED_BYTES, 0, false);
    int32_t a = lab_operator(&s, "a", 5, 4, 7);
    s.time_ns[a][1] = 0;
    lab_pose(&s, &(situ_problem_options){.execution = SITU_EXECUTION_STREAM, .unused = unused});
    assert_int_equal(proved_by_all(&s), variant == 1 ? SITU_NEVER_NS : 0);
  }
}

/* Memories of 4 and 20 bytes, weights 3, 3 and 15: 3 in the first, 3 + 15 in the second. A pin of both small ones to
 * the first memory leaves 6 there. */
TEST(pins_say_which_memory_takes_an_operator) {
  for (int pinned = 0; pinned < 2; pinned++) {
    OWN(lab) s = lab_mesh(2, 20);
    s.devices[0].memory_bytes = 4;
    static const char *const names[] = {"a", "b", "c"};
    for (int i = 0; i < 3; i++) lab_operator(&s, names[i], 1, i < 2 ? 3 : 15, 0);
    int32_t pins[] = {pinned ? 0 : -1, pinned ? 0 : -1, -1};
    lab_pose(&s, &(situ_problem_options){.execution = SITU_EXECUTION_CALLS, .pins = pins});
    assert_int_equal(proved_by_all(&s), pinned ? SITU_NEVER_NS : 0);
  }
}

TEST(lists_of_no_operator_of_the_problem_are_no_certificate) {
  OWN(lab) s = lab_mesh(1, 10);
  lab_operator(&s, "a", 1, 11, 0);
  lab_operator(&s, "b", 1, 1, 0);
  pose(&s, SITU_EXECUTION_STREAM, 0);
  int64_t a = situ_graph_find(s.graph, "a");
  assert_int_equal(proved_by_list(&s, 0, NULL), PROVED_MALFORMED);
  assert_int_equal(proved_by_list(&s, 2, (int64_t[]){a, 2}), PROVED_MALFORMED);
  assert_int_equal(proved_by_list(&s, 2, (int64_t[]){-1, a}), PROVED_MALFORMED);
  assert_int_equal(proved_by_list(&s, 3, (int64_t[]){a, a, a}), SITU_NEVER_NS); /* counts once */
  assert_int_equal(proved_by_list(&s, 2, (int64_t[]){1 - a, 1 - a}), 0);
}

/* Four memories of odd size, 562 bytes together, for 16 operators of even weights, 20 to 50, which are 560: in each
 * memory a byte at least is left over, so they do not fit. The sum does not say so, and there are too many ways to see
 * it. */
TEST(too_many_ways_are_given_up) {
  OWN(lab) s = lab_mesh(4, 0);
  for (int32_t d = 0; d < 4; d++) s.devices[d].memory_bytes = (const int64_t[]){137, 139, 141, 145}[d];
  for (int32_t v = 0; v < 16; v++) lab_operator(&s, NULL, 1, 20 + 2 * v, 0);
  pose(&s, SITU_EXECUTION_CALLS, 0);
  assert_int_equal(proved_by_all(&s), PROVED_TOO_LONG);
}

TEST_MAIN
