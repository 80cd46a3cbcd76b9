/* Values through bytes: what comes out is what went in, and bytes that end too early are noticed. */
#include "../../lab/test.h"
#include "problem/certificate.h"

TEST(values_come_back) {
  static const int32_t numbers[3] = {7, -1, 1 << 30};
  int32_t back[3] = {0};
  int64_t n;
  text_buffer bytes = {0};
  OWN(arena) *a = arena_new();
  pack_int(&bytes, INT64_MIN);
  pack_text(&bytes, "");
  pack_text(&bytes, NULL);
  pack_array(&bytes, numbers, 3, sizeof *numbers);
  pack_array(&bytes, NULL, 3, sizeof *numbers);
  pack_array(&bytes, numbers, 3, sizeof *numbers);
  unpack from = {.at = (unsigned char *)bytes.bytes, .n_left = (int64_t)bytes.length};
  assert_true(unpack_int(&from) == INT64_MIN);
  assert_string_equal(unpack_text(&from, a), "");
  assert_null(unpack_text(&from, a));
  assert_true(unpack_into(&from, back, 3, sizeof *back));
  assert_memory_equal(back, numbers, sizeof back);
  assert_false(unpack_into(&from, back, 3, sizeof *back));
  assert_memory_equal(unpack_array(&from, &n, sizeof *back, a), numbers, sizeof back);
  assert_int_equal(n, 3);
  assert_false(from.failed);
  assert_int_equal(from.n_left, 0);
  assert_int_equal(unpack_int(&from), 0);
  assert_true(from.failed);
  text_free(&bytes);
}

TEST(a_certificate_comes_back_and_no_shorter_one_does) {
  OWN(arena) *a = arena_new();
  certificate c, back;
  certificate_start(&c, "path", 42);
  c.bound = "critical_path";
  int64_t *first = certificate_add_operators(&c, "operators", 2, a), *second = certificate_add(&c, "shares", 1, a);
  first[0] = 3;
  first[1] = 5;
  second[0] = 9;
  c.memory = (int32_t[]){1, -1, 0};
  c.n_placed = 3;
  text_buffer bytes = {0};
  certificate_pack(&bytes, &c);
  for (size_t n = 0; n <= bytes.length; n++) {
    unpack from = {.at = (unsigned char *)bytes.bytes, .n_left = (int64_t)n};
    certificate_unpack(&back, &from, a);
    assert_int_equal(from.failed, n < bytes.length);
  }
  assert_string_equal(back.kind, "path");
  assert_string_equal(back.bound, "critical_path");
  assert_int_equal(back.lower_ns, 42);
  assert_int_equal(back.n_lists, 2);
  assert_true(back.list[0].of_operators);
  assert_false(back.list[1].of_operators);
  assert_memory_equal(certificate_get(&back, "operators", 2), first, 2 * sizeof *first);
  assert_memory_equal(certificate_get(&back, "shares", 1), second, sizeof *second);
  assert_int_equal(back.n_placed, 3);
  assert_memory_equal(back.memory, c.memory, 3 * sizeof *c.memory);
  text_free(&bytes);
}

/* A message may come from anyone who can start a process of the run: an index in it is checked before it is one. */
TEST(numbers_out_of_range_are_failures) {
  static const int32_t rows[][3] = {{0, 1, 2}, {0, -1, 2}, {0, 3, 2}, {INT32_MIN, 0, 0}, {INT32_MAX, 0, 0}};
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
    text_buffer bytes = {0};
    int32_t into[3];
    pack_array(&bytes, rows[k], 3, sizeof *rows[k]);
    unpack from = {.at = (unsigned char *)bytes.bytes, .n_left = (int64_t)bytes.length};
    assert_int_equal(unpack_within(&from, into, 3, 0, 3), k == 0);
    assert_int_equal(from.failed, k > 0);
    text_free(&bytes);
  }
  for (int64_t value = -2; value <= 4; value++) {
    text_buffer bytes = {0};
    pack_int(&bytes, value);
    unpack from = {.at = (unsigned char *)bytes.bytes, .n_left = (int64_t)bytes.length};
    bool good = value >= -1 && value <= 3;
    assert_int_equal(unpack_from_to(&from, -1, 3), good ? value : -1);
    assert_int_equal(from.failed, !good);
    text_free(&bytes);
  }
}

TEST_MAIN
