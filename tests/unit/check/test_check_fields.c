/* The table of fields of certificates: what the judge says of lists of a wrong length and of numbers out of range; the
 * rent of memories. That each number is refused beyond its limits is in test_certificate.c. */
#include "check/check_fields.h"

#include "../../lab/lab.h"
#include "../../lab/proved.h"
#include "../../lab/test.h"
#include "check/check_certificate.h"

/* Three operators in a row on two devices; the memory of the second has no limit. */
static lab row_of_three(const situ_problem_options *options) {
  lab s = lab_new();
  for (int32_t d = 0; d < 2; d++) lab_device(&s, d == 0 ? 100 : SITU_UNLIMITED_BYTES, -1, d == 0);
  lab_star(&s);
  for (int32_t v = 0; v < 3; v++) {
    lab_operator(&s, (const char *[]){"a", "b", "c"}[v], 5, 10, 0);
    if (v > 0) lab_tensor(&s, v - 1, 1, v, -1);
  }
  lab_pose(&s, options);
  return s;
}

static void is_said(const lab *s, const char *kind, const char *lists, const char *expected) {
  field_words wrong = {""};
  certificate c = proved_lists(kind, lists, s->arena);
  bool good = check_fields(&c, s->problem, &wrong);
  if (good != (*expected == '\0') || strcmp(wrong.text, expected) != 0)
    fail_msg("%s, %s: '%s'", kind, lists, wrong.text);
}

TEST(what_is_wrong_is_said_with_what_was_expected) {
  static const struct {
    const char *kind, *lists, *said;
  } rows[] = {
      {"area_price", "time_prices 1 4503599627370496; byte_prices 5 0", ""},
      {"area_price", "byte_prices 5 0; instant 2; nonsense -5; time_prices 0 0", ""},
      {"area_price", "time_prices 1 1",
       "byte_prices, 2 numbers from 0 to 2^52, 0 for a memory without a limit; there is no such list"},
      {"area_price", "time_prices 1 1; byte_prices 0 1",
       "byte_prices, 2 numbers from 0 to 2^52, 0 for a memory without a limit; number 2 is 1"},
      {"area_price", "time_prices 1; byte_prices 0 0", "time_prices, 2 numbers from 0 to 2^52; there are 1"},
      {"area_price", "time_prices 1 1 1 1; byte_prices 0 0", "time_prices, 2 numbers from 0 to 2^52; there are 4"},
      {"area_price", "time_prices 1 1; byte_prices 0 0; instant 3",
       "instant, 1 operator, of a stream alone; number 1 is 3"},
      {"area_price", "time_prices 1 1; byte_prices 0 0; instant 0 1",
       "instant, 1 operator, of a stream alone; there are 2"},
      {"join", "operator 0; window 0", "window, 1 number from 1 to 256; number 1 is 0"},
      {"join", "operator 0; window 524288", "window, 1 number from 1 to 256; number 1 is 524288"},
      {"join", "operator 0; window 1048576", "window, 1 number from 1 to 256; number 1 is 2^20"},
      {"join", "operator 0; window 1048577", "window, 1 number from 1 to 256; number 1 is 1048577"},
      {"join", "operator 0; window 4611686018427387904", "window, 1 number from 1 to 256; number 1 is 2^62"},
      {"join", "operator 0; window 4611686018427387905",
       "window, 1 number from 1 to 256; number 1 is 4611686018427387905"},
      {"join", "operator 0; window 9223372036854775807", "window, 1 number from 1 to 256; number 1 is never"},
      {"join", "operator 0; window -9223372036854775808",
       "window, 1 number from 1 to 256; number 1 is -9223372036854775808"},
      {"join", "operator; window 1", "operator, 1 operator; there are 0"},
      {"cut_vertex", "deleted; cuts; rests 1", "rests, a multiple of 2 numbers from 0 to never; there are 1"},
      {"cut_vertex", "deleted; cuts; rests", "rests, a multiple of 2 numbers from 0 to never; there are 0"},
      {"cut_vertex", "deleted 0 1 2 0; cuts; rests 1 1", "deleted, 0 to 3 operators; there are 4"},
      {"cut_vertex", "deleted 0 1 2; cuts; rests 1 1 1 1 1 1 1 1", ""},
      {"destructive", "rounds 0; prices 1 1 1; interval; window 0; free_rounds 0",
       "prices, nothing or a multiple of 2 numbers from 0 to 2^20; there are 3"},
      {"destructive", "rounds 0; prices 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1; interval; window 0; free_rounds 0", ""},
      {"destructive", "rounds 0; prices 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1; interval; window 0; free_rounds 0",
       "prices, nothing or a multiple of 2 numbers from 0 to 2^20; there are 18"},
      {"destructive", "rounds 0; prices 1; interval; window 0; free_rounds 0",
       "prices, nothing or a multiple of 2 numbers from 0 to 2^20; there are 1"},
      {"destructive", "rounds 0; prices; interval 1 2; window 0; free_rounds 0",
       "interval, nothing or a multiple of 3 numbers from 0 to never; there are 2"},
      {"destructive", "rounds 0; prices; interval 1 2 0 1 2 0; window 0; free_rounds 0",
       "interval, nothing or a multiple of 3 numbers from 0 to never; there are 6"},
      {"packing", "operators", "operators, 1 or more operators; there are 0"},
      {"packing", "operators 0 1 2 2 1 0", ""},
      {"packing", "operators 0 3", "operators, 1 or more operators; number 2 is 3"},
      {"runs", "chain 0 1 2 1", "chain, 1 to 3 operators; there are 4"},
      {"memory_cut", "memory 2; byte_prices 0 0; out 0 0; in 0 0", "memory, 1 number from 0 to 1; number 1 is 2"},
      {"memory_cut", "memory 1; byte_prices 0 0; out 0 18014398509481985; in 0 0",
       "out, 2 numbers from 0 to 2^54; number 2 is 18014398509481985"},
      {"side_cut", "inside 0 2; time_prices 1 1; byte_prices 0 0; out 0 0; in 0 0",
       "inside, 2 numbers from 0 to 1; number 2 is 2"},
      {"side_cut", "inside 0 1; time_prices 1 16777217; byte_prices 0 0; out 0 0; in 0 0",
       "time_prices, 2 numbers from 0 to 2^24; number 2 is 16777217"},
      {"unit_chain", "chain 0; byte_prices 0 0; other_price 0", ""},
      {"unit_chain", "chain 0; byte_prices 0 0; other_price", ""},
      {"unit_chain", "chain 0; byte_prices 0 0; other_price 1",
       "other_price, 1 number from 0 to 2^58, 0 without a limit by secondary costs; number 1 is 1"},
      {"linear_relaxation",
       "within_ns 0; edge_prices 0 0; tail_prices 0 0 0; time_prices 0 0; byte_prices 0 0; from_prices 0 0 -1 0; "
       "to_prices 0 0 0 0",
       "from_prices, 4 numbers from 0 to 2^54; number 3 is -1"},
      {"visit_labels", "chain 0; from 50000001; to; counts; beside; unit_bytes 1",
       "from, 0 to 3 numbers from 0 to 50000000; number 1 is 50000001"},
      {"unheard of", "", ""}, /* whoever asks knows the kind */
  };
  OWN(lab) s = row_of_three(NULL);
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) is_said(&s, rows[i].kind, rows[i].lists, rows[i].said);
}

TEST(an_instant_is_one_of_streams) {
  OWN(lab)
  s = row_of_three(
      &(situ_problem_options){.execution = SITU_EXECUTION_PIPELINE, .objective = SITU_OBJECTIVE_THROUGHPUT});
  is_said(&s, "area_price", "time_prices 1 1; byte_prices 0 0; instant", "");
  is_said(&s, "area_price", "time_prices 1 1; byte_prices 0 0; instant 0",
          "instant, 1 operator, of a stream alone; this is none");
}

/* Of two copies of a graph with two operators: 0 and 1 are those of the first. */
TEST(what_is_packed_is_of_the_first_copy) {
  OWN(lab) s = lab_mesh(2, 100);
  for (int32_t v = 0; v < 4; v++) lab_operator(&s, (const char *[]){"a", "b", "a@2", "b@2"}[v], 5, v < 2 ? 10 : 0, 0);
  lab_pose(&s, &(situ_problem_options){.execution = SITU_EXECUTION_STREAM, .copies = 2});
  is_said(&s, "packing", "operators 0 1", "");
  is_said(&s, "packing", "operators 0 2", "operators, 1 or more operators; number 2 is 2");
  is_said(&s, "critical_path", "operator 3", "");
}

/* A claim is a time, or never. */
TEST(a_claim_below_nothing_is_refused) {
  OWN(lab) s = row_of_three(NULL);
  OWN(situ_plan) *plan = plan_new(s.problem);
  situ_verdict *verdict;
  plan->proof = proved_lists("critical_path", "operator 0", s.arena);
  for (int64_t claim = -1; claim < 2; claim++) { /* the three take 15 ns */
    plan->proof.lower_ns = plan->lower_bound_ns = claim;
    plan->bound = plan->proof.bound = "critical_path";
    assert_int_equal(situ_check(&verdict, plan, NULL), SITU_STATUS_OK);
    situ_violation first = situ_verdict_violation(verdict, 0);
    assert_true((strcmp(first.rule, "certificate") == 0) == (claim < 0));
    assert_int_equal(verdict->verified_ns, claim < 0 ? 0 : claim);
    if (claim < 0)
      assert_string_equal(first.text,
                          "a certificate of kind critical_path was expected to hold a lower bound of at least 0 ns");
    situ_verdict_free(verdict);
  }
  plan->proof = (certificate){0};
}

/* What is refused does not count as proved, and the verdict says so. */
TEST(what_is_refused_is_called_unproved) {
  static const char refused[] = "its certificate does not prove it";
  static const struct {
    certificate proof;
    const char *lists, *unverified;
    int64_t lower_ns;
  } rows[] = {{{.kind = "critical_path"}, "operator 0", "", 15},
              {{.kind = "critical_path"}, "operator 0", refused, 16},
              {{.kind = "critical_path"}, "operator 7", refused, 1},
              {{.kind = "largest_operator"}, "operator 0", refused, 1},
              {{.fault = "it cannot be read"}, "", refused, 1}};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    OWN(lab) s = row_of_three(NULL);
    OWN(situ_plan) *plan = plan_new(s.problem);
    situ_verdict *verdict;
    if (rows[i].proof.kind) plan->proof = proved_lists(rows[i].proof.kind, rows[i].lists, s.arena);
    plan->proof.fault = rows[i].proof.fault;
    plan->proof.lower_ns = plan->lower_bound_ns = rows[i].lower_ns;
    plan->bound = plan->proof.bound = "nobody";
    assert_int_equal(situ_check(&verdict, plan, NULL), SITU_STATUS_OK);
    assert_string_equal(verdict->unverified, rows[i].unverified);
    assert_int_equal(verdict->verified_ns, *rows[i].unverified ? 0 : rows[i].lower_ns);
    situ_verdict_free(verdict);
    plan->proof = (certificate){0};
  }
}

/* The rents of 100 bytes and of as many as there can be, 2^56; and of 4096 of the largest, at the highest price. */
TEST(a_memory_costs_no_more_than_all_bytes) {
  static int64_t bytes[SITU_MAX_DEVICES], price[SITU_MAX_DEVICES];
  situ_platform q = {.n_memories = 3, .memory_bytes = bytes};
  judge j = {.platform = &q};
  bytes[0] = 100;
  bytes[1] = (int64_t)1 << 56;
  bytes[2] = ((int64_t)1 << 56) + 1;
  price[0] = 3;
  assert_true(check_rent(&j, price) == 300);
  price[1] = 1;
  assert_true(check_rent(&j, price) == 300 + ((int64_t)1 << 56));
  price[2] = 2;
  assert_true(check_rent(&j, price) == 300 + 3 * ((int64_t)1 << 56));
  q.n_memories = SITU_MAX_DEVICES;
  for (int32_t m = 0; m < SITU_MAX_DEVICES; m++) {
    bytes[m] = SITU_UNLIMITED_BYTES - 1;
    price[m] = (int64_t)1 << 54;
  }
  assert_true(check_rent(&j, price) == (__int128)1 << 122);
}

/* Kinds stand together, each has a rule by its name, and no field stands twice. */
TEST(the_table_names_every_kind_once) {
  static const char *const kinds[] = {
#define NAME_OF(NAME) #NAME,
      CERTIFICATE_ROWS(NAME_OF)};
  int32_t n, of_kind = -1;
  const certificate_field *fields = check_fields_all(&n);
  for (int32_t i = 0; i < n; i++) {
    of_kind += i == 0 || strcmp(fields[i].kind, fields[i - 1].kind) != 0;
    assert_true(of_kind < (int32_t)(sizeof kinds / sizeof kinds[0]));
    assert_string_equal(fields[i].kind, kinds[of_kind]);
    for (int32_t k = 0; k < i; k++)
      assert_false(strcmp(fields[i].kind, fields[k].kind) == 0 && strcmp(fields[i].name, fields[k].name) == 0);
  }
  assert_int_equal(of_kind, sizeof kinds / sizeof kinds[0] - 1);
}

TEST_MAIN
