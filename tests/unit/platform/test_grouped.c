/* Platforms whose devices are groups of equal devices of another one. */
#include "platform/grouped.h"

#include "../../lab/test.h"
#include "platform/platform_sources.h"

static situ_platform *named(const char *name) {
  situ_platform *p = NULL;
  situ_error error = {0};
  if (situ_platform_read(&p, name, &error) != SITU_STATUS_OK) fail_msg("%s: %s", name, error.text);
  return p;
}

static situ_platform *grouped(const char *name, int32_t k, int64_t extra_bytes) {
  situ_platform *whole = named(name), *p = NULL;
  situ_error error = {0};
  if (platform_grouped(&p, whole, k, extra_bytes, NULL, &error) != SITU_STATUS_OK) fail_msg("%s: %s", name, error.text);
  situ_platform_free(whole);
  assert_null(platform_check(p));
  return p;
}

static void expect_refused(const char *name, int32_t k, situ_status status, const char *says) {
  situ_platform *whole = named(name), *p = NULL;
  situ_error error = {0};
  assert_int_equal(platform_grouped(&p, whole, k, 0, NULL, &error), status);
  assert_null(p);
  if (!strstr(error.text, says)) fail_msg("%s", error.text);
  situ_platform_free(whole);
}

/* Without a direct link two GPUs reach each other over the host: 10 us down (pcie3 states 10 us each way) and 10 us up,
 * and each byte takes its time twice. */
TEST(groups_have_the_memory_and_the_slowest_route_of_their_members) {
  OWN(situ_platform) *whole = named("cpu+5*v100-16g"), *p = grouped("cpu+5*v100-16g", 2, 1000);
  assert_int_equal(p->n_devices, 4);
  const situ_device *one = &whole->devices[1], *two = &p->devices[1];
  assert_string_equal(p->devices[0].name, "cpu");
  assert_string_equal(two->name, "gpu0-1");
  assert_string_equal(p->devices[2].name, "gpu2-3");
  assert_string_equal(p->devices[3].name, "gpu4");
  assert_string_equal(two->class_name, "2*v100-16g");
  assert_int_equal(two->members, 2);
  assert_int_equal(two->memory_bytes, 2 * one->memory_bytes - 1000);
  assert_true(two->memory_bytes_per_s == one->memory_bytes_per_s && two->launch_ns == one->launch_ns);
  int64_t up = -1, down = -1;
  double rate = 0;
  for (int32_t l = 0; l < whole->n_links; l++) {
    if (whole->links[l].from_device == 1) up = whole->links[l].latency_ns;
    if (whole->links[l].to_device == 1) down = whole->links[l].latency_ns;
    if (whole->links[l].to_device == 1) rate = whole->links[l].bytes_per_s;
  }
  assert_int_equal(two->sync_latency_ns, (up + down) / 3);
  assert_true(two->sync_bytes_per_s > rate / 2 * 0.999 && two->sync_bytes_per_s < rate / 2 * 1.001);
  int32_t seen = 0;
  for (int32_t l = 0; l < p->n_links; l++) {
    if (p->links[l].to_device == 1)
      seen += p->links[l].latency_ns == down + (up + down) / 3; /* one step passes it on */
    if (p->links[l].from_device == 1) seen += p->links[l].latency_ns == up;
    if (p->links[l].to_device == 3) seen += p->links[l].latency_ns == down;
  }
  assert_int_equal(seen, 3);
}

TEST(direct_links_and_servers_are_kept_apart) {
  situ_platform *p = grouped("2*(cpu+3*a100-80g@nvlink)", 2, 0);
  assert_int_equal(p->n_devices, 6); /* in each server a host, a group, a device */
  assert_int_equal(p->n_servers, 2);
  int32_t groups = 0;
  for (int32_t d = 0; d < p->n_devices; d++) {
    if (p->devices[d].members < 2) continue;
    groups++;
    assert_true(p->devices[d].sync_latency_ns == 8000 / 3 && p->devices[d].sync_bytes_per_s == 240e9);
  }
  assert_int_equal(groups, 2);
  situ_platform_free(p);
  expect_refused("2*(cpu+a100-80g)", 2, SITU_STATUS_BAD_ARGUMENT, "no 2 equal devices in one server");
  expect_refused("cpu+v100-16g+p100-16g+v100-16g", 2, SITU_STATUS_BAD_ARGUMENT, "at most 1 can");
  expect_refused("cpu+2*v100-16g", 4, SITU_STATUS_BAD_ARGUMENT, "at most 2 can");
}

TEST(the_largest_group_is_of_equal_neighbours) {
  static const struct {
    const char *name;
    int32_t max;
  } rows[] = {
      {"cpu", 1}, {"cpu+3*v100-16g+2*p100-16g", 3}, {"2*(cpu+4*a100-80g)", 4}, {"cpu+uhd770", 1}, {"8*h100-80g", 8}};
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
    OWN(situ_platform) *p = named(rows[k].name);
    assert_int_equal(platform_max_group(p, NULL), rows[k].max);
  }
}

/* Of four equal devices the second is alone: the first then has no neighbour, and the last two are a group. */
TEST(devices_can_stay_alone) {
  OWN(situ_platform) *whole = named("cpu+4*v100-16g"), *p = NULL;
  const bool alone[] = {false, false, true, false, false};
  assert_int_equal(platform_grouped(&p, whole, 2, 0, alone, NULL), SITU_STATUS_OK);
  assert_int_equal(p->n_devices, 4);
  assert_string_equal(p->devices[2].name, "gpu1");
  assert_string_equal(p->devices[3].name, "gpu2-3");
  assert_int_equal(platform_max_group(whole, alone), 2);
}

/* A group is written and read like any device. */
TEST(a_group_survives_its_file) {
  OWN(situ_platform) *p = grouped("cpu+4*v100-16g", 4, 5), *again = NULL;
  situ_error error = {0};
  json_value *tree = platform_to_json(p, true);
  assert_int_equal(platform_from_json(&again, tree, "a file", &error), SITU_STATUS_OK);
  assert_int_equal(platform_hash(again, true), platform_hash(p, true));
  again->devices[1].sync_latency_ns++;
  assert_int_not_equal(platform_hash(again, true), platform_hash(p, true));
  json_free(tree);
}

TEST(what_is_no_group_is_refused) {
  static const char *const wrong[] = {"\"members\": 2", "\"members\": 5000, \"sync_bytes_per_s\": 1e9",
                                      "\"members\": 2, \"concurrent_operators\": 2, \"sync_bytes_per_s\": 1e9",
                                      "\"members\": 2, \"host\": true, \"sync_bytes_per_s\": 1e9"};
  for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
    char text[400];
    json_value *tree;
    situ_platform *p = NULL;
    situ_error error = {0};
    snprintf(text, sizeof text, "{\"situ_platform\": 1, \"devices\": [{\"name\": \"g\", \"base\": \"v100-16g\", %s}]}",
             wrong[k]);
    assert_int_equal(json_parse(&tree, text, strlen(text), "a file", &error), SITU_STATUS_OK);
    assert_int_equal(platform_from_json(&p, tree, "a file", &error), SITU_STATUS_BAD_INPUT);
    if (!strstr(error.text, "group")) fail_msg("%s", error.text);
    json_free(tree);
  }
}

TEST_MAIN
