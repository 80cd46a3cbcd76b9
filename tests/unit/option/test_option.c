/* The table of options against what it describes: every field of the options' structs has a row or is known to need
 * none, choices are the names of their enums, and a plan file takes and gives back every value. */
#include "../../lab/test.h"
#include "api/instance_json.h"

/* Fields that are no options of a name: what C alone can say, counts of lists, and lists that rows fill together. */
typedef struct field {
  situ_option_part part;
  size_t offset, bytes;
} field;
#define FIELD(PART, STRUCT, NAME) \
  { SITU_OPTION_##PART, offsetof(STRUCT, NAME), sizeof((STRUCT){0}).NAME }
static const field others[] = {
    FIELD(READ, situ_read_options, size),
    FIELD(READ, situ_read_options, dims),
    FIELD(READ, situ_read_options, max_file_bytes),
    FIELD(READ, situ_read_options, n_dims),
    FIELD(READ, situ_read_options, assumed),
    FIELD(READ, situ_read_options, log),
    FIELD(READ, situ_read_options, log_context),
    FIELD(COST, situ_cost_options, size),
    FIELD(COST, situ_cost_options, log),
    FIELD(COST, situ_cost_options, log_context),
    FIELD(COST, situ_cost_options, time_of),
    FIELD(COST, situ_cost_options, time_context),
    FIELD(PROBLEM, situ_problem_options, size),
    FIELD(PROBLEM, situ_problem_options, pins),
    FIELD(PROBLEM, situ_problem_options, unused),
    FIELD(PROBLEM, situ_problem_options, keep_together),
    FIELD(PROBLEM, situ_problem_options, secondary_costs),
    FIELD(PROBLEM, situ_problem_options, max_secondary_ns),
    FIELD(PROBLEM, situ_problem_options, secondary_name),
    FIELD(PROBLEM, situ_problem_options, keep_name),
    FIELD(INSTANCE, situ_instance_options, size),
    FIELD(INSTANCE, situ_instance_options, model),
    FIELD(INSTANCE, situ_instance_options, read),
    FIELD(INSTANCE, situ_instance_options, cost),
    FIELD(INSTANCE, situ_instance_options, problem),
    FIELD(INSTANCE, situ_instance_options, unused),
    FIELD(INSTANCE, situ_instance_options, n_unused),
    FIELD(INSTANCE, situ_instance_options, log),
    FIELD(INSTANCE, situ_instance_options, log_context),
    FIELD(INSTANCE, situ_instance_options, n_rules),
    FIELD(INSTANCE, situ_instance_options, rules),
    FIELD(INSTANCE, situ_instance_options, writers),
    FIELD(INSTANCE, situ_instance_options, n_writers),
    FIELD(SOLVE, situ_solve_options, size),
    FIELD(SOLVE, situ_solve_options, starts),
    FIELD(SOLVE, situ_solve_options, n_starts),
    FIELD(SOLVE, situ_solve_options, no_bounds),
    FIELD(SOLVE, situ_solve_options, progress),
    FIELD(SOLVE, situ_solve_options, context),
    FIELD(SOLVE, situ_solve_options, log),
    FIELD(SOLVE, situ_solve_options, log_context),
    FIELD(SOLVE, situ_solve_options, form),
    FIELD(SOLVE, situ_solve_options, ranks),
    FIELD(READ, situ_read_options, micro_batches), /* that of the problem */
    {SITU_OPTION_PROBLEM, offsetof(situ_problem_options, max_period_ns) - 4, 4},
    {SITU_OPTION_READ, offsetof(situ_read_options, prompt) - 4,
     4}, /* padding, like the one before and the next three */
    {SITU_OPTION_INSTANCE, offsetof(situ_instance_options, writers) - 4, 4},
    {SITU_OPTION_INSTANCE, offsetof(situ_instance_options, log) - 4, 4},
    {SITU_OPTION_SOLVE, offsetof(situ_solve_options, progress) - 4, 4},
};
static const struct {
  const char *name;
  size_t bytes;
} parts[] = {{"situ_read_options", sizeof(situ_read_options)},
             {"situ_cost_options", sizeof(situ_cost_options)},
             {"situ_problem_options", sizeof(situ_problem_options)},
             {"situ_instance_options", sizeof(situ_instance_options)},
             {"situ_solve_options", sizeof(situ_solve_options)}};

static void mark(char *known, size_t offset, size_t bytes) { memset(known + offset, 1, bytes); }

/* A field that nobody named leaves a hole of more bytes than there are behind a bool. */
TEST(every_field_has_a_row_or_needs_none) {
  for (int part = 0; part < 5; part++) {
    char known[512] = {0};
    assert_true(parts[part].bytes <= sizeof known);
    for (size_t k = 0; k < sizeof others / sizeof *others; k++)
      if ((int)others[k].part == part) mark(known, others[k].offset, others[k].bytes);
    for (int32_t k = 0; k < option_n_rows; k++)
      if ((int)option_rows[k].part == part) mark(known, option_rows[k].offset, option_bytes(&option_rows[k]));
    for (size_t at = 0; at < parts[part].bytes; at++) {
      size_t end = at;
      while (end < parts[part].bytes && !known[end]) end++;
      if (end - at > 3) fail_msg("%s: no row for the field at byte %d", parts[part].name, (int)at);
      at = end;
    }
  }
}

TEST(rows_are_whole) {
  for (int32_t k = 0; k < option_n_rows; k++) {
    const option *row = &option_rows[k];
    bool flag = row->kind == SITU_OPTION_ON || row->kind == SITU_OPTION_OFF;
    bool choice = row->kind == SITU_OPTION_CHOICE;
    bool bounded = row->kind == SITU_OPTION_MS || row->kind == SITU_OPTION_PERCENT || row->kind == SITU_OPTION_REAL;
    bool counted = row->kind == SITU_OPTION_INT64 || row->kind == SITU_OPTION_INT32;
    size_t n = strlen(row->title);
    if (!row->group || n < 10 || row->title[n - 1] != '.') fail_msg("%s: help is a sentence", row->name);
    if (flag == (row->value != NULL) && !choice) fail_msg("%s: a value has a placeholder", row->name);
    if (choice != (row->choices != NULL)) fail_msg("%s: a choice has choices", row->name);
    if ((bounded && !(row->max > 0)) || (counted && row->min < 1)) fail_msg("%s: numbers have limits", row->name);
    for (int32_t j = 0; j < k; j++) {
      const option *other = &option_rows[j];
      bool costs = (row->part == SITU_OPTION_COST) == (other->part == SITU_OPTION_COST);
      if (!strcmp(row->name, other->name)) fail_msg("%s: two rows", row->name);
      if (row->json && other->json && costs && !strcmp(row->json, other->json)) fail_msg("%s: two members", row->json);
    }
  }
  situ_option_info info = SITU_OPTION_INFO_INIT;
  assert_true(situ_option_at(0, &info) && !strcmp(info.name, option_rows[0].name));
  assert_false(situ_option_at(-1, &info) || situ_option_at(situ_option_count(), &info));
}

static const char *precision_name(int i) { return situ_precision_name((situ_precision)i); }
static const char *objective_name(int i) { return situ_objective_name((situ_objective)i); }
static const char *execution_name(int i) { return situ_execution_name((situ_execution)i); }
static const char *contention_name(int i) { return situ_contention_name((situ_contention)i); }
static const char *overlap_name(int i) { return situ_overlap_name((situ_overlap)i); }
static const char *schedule_name(int i) { return situ_schedule_name((situ_schedule)i); }
static const char *granularity_name(int i) { return situ_granularity_name((situ_granularity)i); }
static const char *communication_name(int i) { return situ_communication_name((situ_communication)i); }

TEST(choices_are_the_names_of_their_enums) {
  static const struct {
    const char *option;
    const char *(*name)(int);
    bool has_default_behind; /* an enumerator that only C can say */
  } enums[] = {{"precision", precision_name, false},    {"objective", objective_name, false},
               {"execution", execution_name, false},    {"contention", contention_name, false},
               {"overlap", overlap_name, false},        {"schedule", schedule_name, false},
               {"granularity", granularity_name, true}, {"communication", communication_name, false}};
  int seen = 0;
  for (int32_t k = 0; k < option_n_rows; k++) {
    const option *row = &option_rows[k];
    if (row->kind != SITU_OPTION_CHOICE) continue;
    for (size_t e = 0; e < sizeof enums / sizeof *enums; e++) {
      if (strcmp(enums[e].option, row->name) != 0) continue;
      int n = 0;
      for (; row->choices[n]; n++) assert_string_equal(row->choices[n], enums[e].name((int)row->min + n));
      assert_string_equal(enums[e].name((int)row->min + n), enums[e].has_default_behind ? "default" : "unknown");
      seen++;
    }
  }
  assert_int_equal(seen, sizeof enums / sizeof *enums);
}

/* A value that is none of the defaults, as JSON. */
static void sample(char into[64], const option *row) {
  switch (row->kind) {
    case SITU_OPTION_ON: snprintf(into, 64, "true"); break;
    case SITU_OPTION_OFF: snprintf(into, 64, "false"); break;
    case SITU_OPTION_CHOICE: snprintf(into, 64, "\"%s\"", row->choices[1]); break;
    case SITU_OPTION_INT32:
    case SITU_OPTION_INT64:
    case SITU_OPTION_MS: snprintf(into, 64, "%d", row->max > 0 && row->max < 7 ? (int)row->max : 7); break;
    case SITU_OPTION_REAL: snprintf(into, 64, "0.25"); break;
    default: snprintf(into, 64, "\"text\""); break;
  }
}

static instance_options read_with(const option *row, const char *value, situ_status expected, arena *a) {
  char text[512], costs[128] = "";
  bool of_costs = row->part == SITU_OPTION_COST;
  if (of_costs) snprintf(costs, sizeof costs, "\"%s\": %s", row->json, value);
  int n = snprintf(text, sizeof text,
                   "{\"model\": \"m\", \"model_hash\": \"h\", \"platform_hash\": \"h\", \"costs\": {%s}", costs);
  if (strcmp(row->json, "platform") != 0) n += snprintf(text + n, sizeof text - (size_t)n, ", \"platform\": null");
  if (strcmp(row->json, "objective") != 0)
    n += snprintf(text + n, sizeof text - (size_t)n, ", \"objective\": \"latency\"");
  if (strcmp(row->json, "execution") != 0)
    n += snprintf(text + n, sizeof text - (size_t)n, ", \"execution\": \"stream\"");
  if (!of_costs) n += snprintf(text + n, sizeof text - (size_t)n, ", \"%s\": %s", row->json, value);
  snprintf(text + n, sizeof text - (size_t)n, "}");
  json_value *tree;
  instance_options o;
  situ_error error = {0};
  assert_int_equal(json_parse(&tree, text, strlen(text), "x", &error), SITU_STATUS_OK);
  if (instance_options_from_json(&o, tree, "x", a, &error) != expected)
    fail_msg("%s: %s: %s", row->name, text, error.text);
  if (expected != SITU_STATUS_OK) assert_non_null(strstr(error.text, row->json));
  instance_options kept = {0};
  if (expected == SITU_STATUS_OK) assert_true(instance_options_keep(&kept, &o, a));
  json_free(tree);
  return kept;
}

/* What a plan file says reaches the field, fills options that leave it open, changes the hash, and is refused where it
 * is of a wrong type. */
TEST(every_member_reaches_its_field) {
  int n_members = 0;
  for (int32_t k = 0; k < option_n_rows; k++) {
    const option *row = &option_rows[k];
    char value[64];
    if (!row->json) continue;
    arena *a = arena_new();
    sample(value, row);
    instance_options said = read_with(row, value, SITU_STATUS_OK, a), open = {0}, nothing = {0};
    void *part = instance_options_part(&said, row->part);
    if (!option_is_given(row, part)) fail_msg("%s: the field is still at its default", row->name);
    instance_options_fill(&open, &said);
    if (memcmp(option_value(row, instance_options_part(&open, row->part)), option_value(row, part), option_bytes(row)))
      fail_msg("%s: options that leave it open are not filled", row->name);
    if (options_hash(0, row->part, part) == options_hash(0, row->part, instance_options_part(&nothing, row->part)))
      fail_msg("%s: no part of the hash", row->name);
    bool text = row->kind == SITU_OPTION_TEXT || row->kind == SITU_OPTION_PATH;
    read_with(row, text ? "1" : "\"no such\"", SITU_STATUS_BAD_INPUT, a);
    if (row->kind == SITU_OPTION_INT32) read_with(row, "2147483648", SITU_STATUS_BAD_INPUT, a);
    if (!text && option_bytes(row) > 1) read_with(row, "-1", SITU_STATUS_BAD_INPUT, a);
    arena_free(a);
    n_members++;
  }
  assert_true(n_members > 30);
}

TEST_MAIN
