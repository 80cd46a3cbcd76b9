/* Devices, memories, channels, routes, and composed names. */
#include <math.h>

#include "../../lab/test.h"
#include "base/rng.h"
#include "platform/catalogue.h"
#include "platform/platform.h"
#include "platform/routes.h"

static situ_device plain(const char *name, const char *class_name) {
  return (situ_device){.name = name,
                       .class_name = class_name,
                       .peak_flops[SITU_DTYPE_F32] = 1e12,
                       .memory_bytes_per_s = 1e11,
                       .memory_bytes = 1000,
                       .shares_memory_with = -1};
}

static int hops(const situ_platform *p, int from, int to) {
  int pair = p->memory_of[from] * p->n_memories + p->memory_of[to];
  return p->route_start[pair + 1] - p->route_start[pair];
}

static int hop(const situ_platform *p, int from, int to, int i) {
  int pair = p->memory_of[from] * p->n_memories + p->memory_of[to];
  return p->route_link[p->route_start[pair] + i];
}

static situ_platform *named(const char *name) {
  situ_platform *p = NULL;
  situ_error error = {0};
  if (situ_platform_read(&p, name, &error) != SITU_STATUS_OK) fail_msg("%s: %s", name, error.text);
  return p;
}

static void refused(const char *name, const char *part) {
  situ_platform *p = NULL;
  situ_error error = {0};
  assert_int_equal(situ_platform_read(&p, name, &error), SITU_STATUS_BAD_ARGUMENT);
  assert_null(p);
  if (!strstr(error.text, part)) fail_msg("\"%s\" does not say \"%s\"", error.text, part);
}

TEST(link_time_is_latency_plus_bytes_over_rate_rounded_up) {
  assert_int_equal(link_time_ns(500, 1e9, 1), 501);                      /* 1 ns for each byte */
  assert_int_equal(link_time_ns(10000, 25.2e9, 1 << 20), 10000 + 41611); /* 1048576 / 25.2 = 41610.16 */
  assert_int_equal(link_time_ns(0, 3e9, 10), 4);                         /* 3.33 */
  assert_int_equal(link_time_ns(0, 3e9, 9), 3);                          /* exactly 3 */
  assert_int_equal(link_time_ns(7, 1e9, 0), 7);
  assert_int_equal(link_time_ns(0, 2.5, 1), 400000000); /* a rate with a fraction: 0.4 s */
  assert_int_equal(link_time_ns(0, 1e9, INT64_C(9000000000000000001)), INT64_C(9000000000000000001));
  assert_true(link_time_ns(0, 1.0, INT64_MAX) == INT64_MAX);
  assert_true(link_time_ns(INT64_MAX - 1, 1.0, 1) == INT64_MAX);
}

TEST(gpus_reach_each_other_over_the_host_in_two_hops) {
  OWN(situ_platform) *p = named("cpu+2*a100-80g");
  assert_int_equal(p->n_devices, 3);
  assert_int_equal(p->n_links, 4);
  assert_string_equal(p->devices[0].name, "cpu");
  assert_string_equal(p->devices[2].name, "gpu1");
  assert_string_equal(p->devices[1].class_name, "a100-80g");
  assert_true(p->devices[0].is_host);
  assert_false(p->devices[1].is_host);
  assert_int_equal(situ_platform_find(p, "gpu1"), 2);
  assert_int_equal(situ_platform_find(p, "gpu2"), -1);
  assert_int_equal(p->n_classes, 2);
  assert_int_equal(p->n_memories, 3);
  assert_int_equal(hops(p, 0, 1), 1);
  assert_int_equal(hops(p, 1, 2), 2);
  assert_int_equal(hops(p, 1, 1), 0);
  assert_int_equal(p->link_from[hop(p, 1, 2, 0)], 1);
  assert_int_equal(p->link_to[hop(p, 1, 2, 0)], 0);
  assert_int_equal(p->link_to[hop(p, 1, 2, 1)], 2);
  assert_int_equal(p->n_channels, 4);
}

TEST(nvlink_joins_the_gpus_of_its_term) {
  situ_platform *p = named("cpu+4xv100-16g@nvlink+a100-40g");
  assert_int_equal(hops(p, 1, 4), 1);
  assert_int_equal(hops(p, 1, 5), 2);
  assert_int_equal(p->n_links, 2 * 5 + 4 * 3);
  assert_true(situ_platform_link(p, hop(p, 1, 4, 0)).bytes_per_s == 40e9); /* two links of 25 GB/s, x 0.8 */
  assert_int_equal(p->n_channels, 22);
  situ_platform_free(p);
  p = named("4*a100-40g@nvlink"); /* through a switch: one channel for what each GPU sends */
  assert_int_equal(p->n_links, 12);
  assert_int_equal(p->n_channels, 4);
  for (int l = 0; l < 12; l++) assert_int_equal(p->links[l].channel, p->link_from[l]);
  situ_platform_free(p);
}

TEST(gpus_without_a_host_copy_directly) {
  OWN(situ_platform) *p = named("2*v100-16g+h100-80g");
  assert_int_equal(hops(p, 0, 2), 1);
  assert_true(situ_platform_link(p, hop(p, 0, 2, 0)).bytes_per_s == 12.6e9); /* the slower end */
  assert_string_equal(p->devices[0].name, "gpu0");
}

/* The bytes, not the tensors: 15 us to it and 25 us back (OpenVINO and HaX-CoNN: see the catalogue). */
TEST(an_integrated_gpu_shares_the_capacity_of_its_host) {
  OWN(situ_platform) *p = named("flex170-16g+uhd770+i9-12900k");
  assert_string_equal(p->devices[0].name, "cpu");
  int igpu = 2;
  assert_string_equal(p->devices[igpu].class_name, "uhd770");
  assert_int_equal(p->n_memories, 3);
  assert_int_equal(hops(p, 0, igpu), 1);
  assert_int_equal(hops(p, igpu, 1), 2);
  assert_int_equal(p->links[hop(p, 0, igpu, 0)].latency_ns, 15000);
  assert_int_equal(p->links[hop(p, igpu, 0, 0)].latency_ns, 25000);
  int32_t m = p->memory_of[igpu];
  assert_true(p->heads_pool[0] && p->next_in_pool[0] == m && !p->heads_pool[m]);
  assert_true(p->heads_pool[p->memory_of[1]] && p->next_in_pool[p->memory_of[1]] < 0);
  assert_true(p->devices[igpu].memory_bytes == p->devices[0].memory_bytes);
}

/* 10 bytes of room for memories 0 and 2, 5 for memory 1: what they hold counts together, 4 + 8 = 2 too many. */
TEST(memories_of_a_pool_exceed_their_capacity_together) {
  situ_device devices[] = {SITU_DEVICE_INIT, SITU_DEVICE_INIT, SITU_DEVICE_INIT};
  situ_link links[] = {{0, 1, 0, 1e9, -1}, {1, 0, 0, 1e9, -1}, {0, 2, 0, 1e9, -1}, {2, 0, 0, 1e9, -1}};
  const char *names[] = {"a", "b", "c"};
  situ_platform *p;
  situ_error error;
  for (int d = 0; d < 3; d++) {
    devices[d].name = names[d];
    devices[d].memory_bytes_per_s = devices[d].peak_flops[SITU_DTYPE_F32] = 1e9;
  }
  devices[0].memory_bytes = 10;
  devices[1].memory_bytes = 5;
  devices[2].shares_memory_with = 0;
  devices[2].separate_address_space = 1;
  assert_int_equal(platform_new(&p, "pool", devices, 3, links, 4, &error), SITU_STATUS_OK);
  assert_int_equal(p->devices[2].memory_bytes, 10);
  assert_int_equal(platform_excess_bytes(p, (int64_t[]){4, 5, 6}), 0);
  assert_int_equal(platform_excess_bytes(p, (int64_t[]){4, 8, 8}), 2 + 3);
  situ_platform_free(p);
  devices[2].shares_memory_with = -1;
  assert_int_equal(platform_new(&p, "pool", devices, 3, links, 4, &error), SITU_STATUS_BAD_INPUT);
}

TEST(hosts_are_numbered_and_joined) {
  OWN(situ_platform) *p = named("2*cpu@ethernet-100g+t4-16g");
  assert_string_equal(p->devices[1].name, "cpu1");
  assert_true(situ_platform_link(p, hop(p, 0, 1, 0)).bytes_per_s == 8.75e9);
  assert_int_equal(hops(p, 1, 2), 2);
}

/* With blanks around every sign, as people write sums. */
TEST(servers_are_joined_by_their_hosts) {
  OWN(situ_platform) *p = named(" 2 * ( cpu + 2 x a100-80g @ nvlink ) + ( cpu+t4-16g\t) @ ethernet-10g ");
  assert_int_equal(p->n_devices, 8);
  assert_int_equal(p->n_servers, 3);
  static const char *const names[8] = {"cpu0", "cpu1", "cpu2", "gpu0", "gpu1", "gpu2", "gpu3", "gpu4"};
  static const int32_t servers[8] = {0, 1, 2, 0, 0, 1, 1, 2};
  for (int32_t d = 0; d < 8; d++) {
    assert_string_equal(p->devices[d].name, names[d]);
    assert_int_equal(p->devices[d].server, servers[d]);
  }
  assert_int_equal(hops(p, 3, 4), 1); /* NVLink */
  assert_int_equal(hops(p, 0, 1), 1);
  assert_int_equal(hops(p, 3, 5), 3); /* accelerator, host, host, accelerator */
  assert_int_equal(hops(p, 4, 7), 3);
  situ_link fast = p->links[hop(p, 0, 1, 0)], slow = p->links[hop(p, 0, 2, 0)];
  assert_true(fast.bytes_per_s == link_kind_find("ethernet-100g")->bytes_per_s);
  assert_true(slow.bytes_per_s == link_kind_find("ethernet-10g")->bytes_per_s); /* the slower of two networks */
  assert_int_equal(slow.latency_ns, link_kind_find("ethernet-10g")->latency_ns);
  assert_int_equal(fast.channel, slow.channel); /* what a server sends leaves by one port */
  assert_int_not_equal(fast.channel, p->links[hop(p, 1, 0, 0)].channel);
}

TEST(servers_without_a_host_send_from_their_accelerators) {
  OWN(situ_platform) *p = named("2*(2*h100-80g@nvlink)@infiniband-ndr");
  assert_int_equal(p->n_devices, 4);
  assert_int_equal(hops(p, 0, 2), 1);
  assert_int_equal(hops(p, 1, 3), 1);
  assert_int_equal(p->links[hop(p, 0, 2, 0)].channel, p->links[hop(p, 1, 3, 0)].channel);
  assert_int_not_equal(p->links[hop(p, 0, 2, 0)].channel, p->links[hop(p, 2, 0, 0)].channel);
}

TEST(an_integrated_gpu_is_in_the_pool_of_the_host_of_its_server) {
  OWN(situ_platform) *p = named("2*(i9-12900k+uhd770)");
  assert_int_equal(p->n_memories, 4);
  assert_int_equal(p->next_in_pool[p->memory_of[0]], p->memory_of[2]);
  assert_int_equal(p->next_in_pool[p->memory_of[1]], p->memory_of[3]);
}

TEST(one_server_in_brackets_is_the_same_without) {
  OWN(situ_platform) *p = named("(cpu+2*a100-80g)"), *q = named("cpu+2*a100-80g");
  assert_int_equal(p->n_devices, q->n_devices);
  assert_int_equal(p->n_links, q->n_links);
  for (int32_t l = 0; l < p->n_links; l++) {
    assert_int_equal(p->links[l].from_device, q->links[l].from_device);
    assert_int_equal(p->links[l].to_device, q->links[l].to_device);
    assert_int_equal(p->links[l].channel, q->links[l].channel);
  }
}

TEST(a_wrong_name_says_what_is_near) {
  refused("cpu+2*a100", "a100-80g");
  refused("v10017g", "v100-16g");
  refused("2*v100-16g@pcie9", "pcie4");
  refused("t4-16g@nvlink", "no links of the kind");
  refused("cpu@nvlink2", "joins accelerators");
  refused("0*t4-16g", "count");
  refused("99999*t4-16g", "count");
  refused("4096*t4-16g+cpu", "at most 4096");
  refused("2t4-16g", "\"*\"");
  refused("cpu+", "expected the name");
  refused("cpu++t4-16g", "expected the name");
  refused("cpu@", "expected a kind of link");
  refused("cpu+t4-16g@pcie3@pcie4", "kind of link");
  refused("", "platform is needed");
  refused("2*(cpu", "\")\"");
  refused("2*(cpu+)", "expected the name");
  refused("(cpu))", "expected \"+\"");
  refused("(cpu)(cpu)", "expected \"+\"");
  refused("()", "expected the name");
  refused("cpu t4-16g", "called \"cpu t4-16g\"");
  refused("cpu+2*(cpu)", "in parentheses");
  refused("(cpu)+t4-16g", "in parentheses");
  refused("2*((cpu))", "expected the name");
  refused("2*(cpu)@nvlink3", "inside the parentheses");
  refused("2*(cpu)@", "kind of link");
  refused("2*(cpu)@ethernet-9g", "ethernet-");
  refused("4000*(2*t4-16g)", "at most 4096");
}

TEST(the_catalogue_is_sound) {
  situ_device_kind_info row = SITU_DEVICE_KIND_INFO_INIT, other = row;
  for (int32_t i = 0; situ_device_kind_at(i, &row); i++) {
    for (int32_t k = 0; k < i && situ_device_kind_at(k, &other); k++) assert_string_not_equal(other.name, row.name);
    assert_string_equal(catalogue_find(row.name)->name, row.name);
    assert_non_null(link_kind_find(row.bus));
    assert_false(link_kind_find(row.bus)->fabric);
    if (row.fabric) assert_true(link_kind_find(row.fabric)->fabric);
    double rates = row.peak_flops[SITU_DTYPE_F32] + row.peak_flops[SITU_DTYPE_F16] + row.peak_flops[SITU_DTYPE_BF16];
    assert_true(rates + row.peak_flops[SITU_DTYPE_I8] > 0 && row.source[0] && row.memory_bytes > 0);
    assert_true(row.family != SITU_FAMILY_NONE && row.launch_ns > 0);
    assert_null(strpbrk(row.name, "+*@ "));
    situ_platform_free(named(row.name));
    char name[128];
    snprintf(name, sizeof name, "cpu+2*%s", row.name);
    situ_platform_free(named(name));
  }
  situ_link_kind_info link = SITU_LINK_KIND_INFO_INIT, same = link;
  for (int32_t i = 0; situ_link_kind_at(i, &link); i++) {
    for (int32_t k = 0; k < i && situ_link_kind_at(k, &same); k++) assert_string_not_equal(same.name, link.name);
    assert_true(link.bytes_per_s > 0 && link.latency_ns > 0 && link.source[0]);
  }
}

TEST(a_beginning_that_only_one_name_has_is_enough) {
  assert_string_equal(catalogue_find("rtx4090")->name, "rtx4090-24g");
  assert_string_equal(catalogue_find("T4")->name, "t4-16g");
  assert_string_equal(catalogue_find("m1")->name, "m1"); /* and not m1-max */
  assert_null(catalogue_find("a100"));                   /* 40 or 80 GB */
  assert_null(catalogue_find("rtx40"));
  char hint[CATALOGUE_HINT_BYTES];
  assert_string_equal(catalogue_nearest_device(hint, "a100"), "did you mean a100-40g, a100-80g or a100-40g-pcie?");
  catalogue_nearest_device(hint, "b400"); /* one letter from what b200-180g is called, four from n100 */
  assert_memory_equal(hint, "did you mean b200-180g", 22);
}

/* What nvidia-smi, shops and forums call a device is understood, where one device alone can be meant. */
TEST(devices_are_found_by_the_names_that_people_use) {
  static const char *const said[][2] = {{"rtx 3090", "rtx3090-24g"},
                                        {"RTX-3090", "rtx3090-24g"},
                                        {"3090", "rtx3090-24g"},
                                        {"NVIDIA GeForce RTX 4090", "rtx4090-24g"},
                                        {"GeForce RTX 4090 Laptop GPU", "rtx4090m-16g"},
                                        {"NVIDIA A100-SXM4-80GB", "a100-80g"},
                                        {"NVIDIA A100 80GB PCIe", "a100-80g-pcie"},
                                        {"NVIDIA H100 80GB HBM3", "h100-80g"},
                                        {"Tesla V100-SXM2-32GB", "v100-32g"},
                                        {"RTX 4060 Ti 16 GB", "rtx4060ti-16g"},
                                        {"NVIDIA RTX A6000", "a6000-48g"},
                                        {"RTX 6000 Ada", "rtx6000ada-48g"},
                                        {"AMD Radeon RX 7900 XTX", "rx7900xtx-24g"},
                                        {"7900xtx", "rx7900xtx-24g"},
                                        {"Apple M2 Ultra", "m2-ultra"},
                                        {"m4max", "m4-max"},
                                        {"AMD Ryzen 9 7950X", "ryzen-7950x"},
                                        {"AMD EPYC 7763", "epyc7763"},
                                        {"Intel Core i9-13900K", "i9-13900k"},
                                        {"Arc A770", "a770-16g"},
                                        {"Jetson AGX Orin", "orin-64g"},
                                        {"DGX Spark", "gb10-128g"},
                                        {"780M", "radeon780m"}};
  for (size_t i = 0; i < sizeof said / sizeof said[0]; i++) {
    const situ_device_kind_info *row = catalogue_find(said[i][0]);
    if (!row) fail_msg("%s is not known", said[i][0]);
    assert_string_equal(row->name, said[i][1]);
  }
  static const char *const nobody[] = {"A100", "V100", "RTX 4060 Ti", "GeForce", "NVIDIA", "", "-", "40", "9 9"};
  for (size_t i = 0; i < sizeof nobody / sizeof nobody[0]; i++) assert_null(catalogue_find(nobody[i]));
  char hint[CATALOGUE_HINT_BYTES];
  assert_string_equal(catalogue_nearest_device(hint, "RTX 4060 Ti"), "did you mean rtx4060ti-8g or rtx4060ti-16g?");
  situ_platform_free(named("7950x+2*3090")); /* a number without "*" is a name */
}

/* The memory of a host is what its owner put in; that of Apple's chips is bought with them. */
TEST(the_memory_of_a_host_is_stated_behind_its_name) {
  static const struct {
    const char *name;
    int64_t gb;
  } said[] = {{"cpu 64GB", 64},
              {"CPU-64G + rtx4090", 64},
              {"Ryzen 9 7950X 128 GB RAM + 3090", 128},
              {"ryzen ai max+ 395 128GB", 128},
              {"2*(epyc7763 1024GB + 8*h100-80g)", 1024},
              {"raspberry pi 5 8gb", 8}};
  for (size_t i = 0; i < sizeof said / sizeof said[0]; i++) {
    OWN(situ_platform) *p = named(said[i].name);
    assert_int_equal(p->devices[0].memory_bytes, said[i].gb * 1000000000);
  }
  static const char *const wrong[][2] = {{"cpu+3090 64GB RAM", "rtx3090-24g"},
                                         {"cpu+radeon780m 64GB", "radeon780m"},
                                         {"cpu 0GB", "cpu 0GB"},
                                         {"cpu 99999999GB", "cpu 99999999GB"},
                                         {"64GB", "64GB"}};
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
    situ_platform *p;
    situ_error error = {0};
    assert_int_equal(situ_platform_read(&p, wrong[i][0], &error), SITU_STATUS_BAD_ARGUMENT);
    if (!strstr(error.text, wrong[i][1])) fail_msg("%s: %s", wrong[i][0], error.text);
  }
}

/* Counts stand behind names too, and a sign in the name of a product is none of ours. */
TEST(counts_and_signs_are_taken_as_people_write_them) {
  static const struct {
    const char *name;
    int32_t n;
    const char *last;
  } said[] = {{"RTX 3090 x 2", 2, "rtx3090-24g"},
              {"cpu+3090x4", 5, "rtx3090-24g"},
              {"cpu + 4 T4", 5, "t4-16g"},
              {"2 7900xtx", 2, "rx7900xtx-24g"},
              {"cpu, t4-16g", 2, "t4-16g"},
              {"Ryzen AI Max+ 395", 2, "radeon8060s"}, /* which has a GPU */
              {"ryzen-ai-max-395", 1, "ryzen-ai-max-395"},
              {"3090 + Ryzen AI Max+ 395", 3, "radeon8060s"}};
  for (size_t i = 0; i < sizeof said / sizeof said[0]; i++) {
    OWN(situ_platform) *p = named(said[i].name);
    assert_int_equal(p->n_devices, said[i].n);
    assert_string_equal(p->class_name[p->class_of[p->n_devices - 1]], said[i].last);
  }
}

/* Words around a name, and names that lack a letter, lead to it. */
TEST(what_a_longer_text_names_is_offered) {
  static const char *const said[][2] = {{"DGX H100", "h100-80g"},
                                        {"MacBook Pro M3 Max", "m3-max"},
                                        {"3090 nvlink", "rtx3090-24g"},
                                        {"RTX PRO 6000 Blackwell Max-Q", "rtxpro6000-96g"},
                                        {"Core Ultra 7 155U", "ultra7-155h"},
                                        {"Ryzen 5 5600XTX", "ryzen-5600x"}};
  char hint[CATALOGUE_HINT_BYTES];
  for (size_t i = 0; i < sizeof said / sizeof said[0]; i++)
    if (!strstr(catalogue_nearest_device(hint, said[i][0]), said[i][1])) fail_msg("%s: %s", said[i][0], hint);
  assert_string_equal(catalogue_find("RTX PRO 6000 Blackwell")->name, "rtxpro6000-96g");
  static const char *const called[][2] = {{"NVIDIA RTX PRO 6000 Blackwell Max-Q Workstation Edition", "rtxpro6000-96g"},
                                          {"NVIDIA RTX PRO 4000 Blackwell SFF Edition", "rtxpro4000sff-24g"},
                                          {"Radeon PRO W7900", "w7900-48g"},
                                          {"Tesla V100-PCIE-32GB", "v100-32g-pcie"},
                                          {"RTX 4090D", "rtx4090d-24g"},
                                          {"NVIDIA GeForce RTX 3070 Laptop GPU", "rtx3070m-8g"},
                                          {"i7-14700F", "i7-14700"},
                                          {"Core Ultra 7 155H", "ultra7-155h"},
                                          {"Quadro RTX 5000", "rtx5000-16g"},
                                          {"Quadro RTX 6000", "rtx6000-24g"},
                                          {"H100 SXM5", "h100-80g"},
                                          {"Intel Arc 140V", "arc140v"},
                                          {"Jetson Orin Nano Super", "orin-nano-super-8g"},
                                          {"M4 Pro", "m4-pro"}};
  for (size_t i = 0; i < sizeof called / sizeof called[0]; i++)
    assert_string_equal(catalogue_find(called[i][0])->name, called[i][1]);
  assert_non_null(strstr(catalogue_nearest_device(hint, "gpu"), "give the full name")); /* a kind is no typing error */
  assert_non_null(strstr(catalogue_nearest_device(hint, "NVIDIA"), "give the full name"));
}

/* Through the host a small tensor takes 20 us there and 10 us back down; directly 12. */
TEST(gpus_may_copy_to_each_other_over_pcie) {
  static const char *const names[] = {"cpu+2*l4-24g", "cpu+2*l4-24g@pcie4-p2p"};
  const int64_t expected_ns[] = {30000, 12000};
  for (int i = 0; i < 2; i++) {
    OWN(situ_platform) *p = NULL;
    situ_error error = {0};
    if (situ_platform_read(&p, names[i], &error) != SITU_STATUS_OK) fail_msg("%s", error.text);
    int64_t sum = 0;
    int32_t way = p->memory_of[1] * p->n_memories + p->memory_of[2];
    for (int32_t h = p->route_start[way]; h < p->route_start[way + 1]; h++)
      sum += p->links[p->route_link[h]].latency_ns;
    assert_int_equal(sum, expected_ns[i]);
  }
}

TEST(names_like_no_other_are_sent_to_the_list) {
  static const char *const strange[] = {"workstation", "notebook", "server",      "zz",
                                        "CMP 170HX",   "Mali-G78", "Adreno X1-85"};
  char hint[CATALOGUE_HINT_BYTES];
  for (size_t i = 0; i < sizeof strange / sizeof strange[0]; i++)
    if (strstr(catalogue_nearest_device(hint, strange[i]), "`situ list devices`") != hint)
      fail_msg("%s: %s", strange[i], hint);
  assert_non_null(strstr(hint, "gpu(16GB,900GB/s,90TF)")); /* figures serve what no row is of */
  assert_non_null(strstr(catalogue_nearest_device(hint, "Intel Core Ultra NPU"), "npu(16GB,135GB/s,45TOPS)"));
  assert_non_null(strstr(catalogue_nearest_device(hint, "rtx4090x"), "did you mean rtx4090-24g"));
  assert_string_equal(catalogue_nearest_device(hint, "cpuu"), "did you mean cpu?");
  assert_non_null(strstr(catalogue_nearest_link(hint, "pci4"), "did you mean pcie4"));
  assert_string_equal(catalogue_nearest_link(hint, "carrier pigeon"), "`situ list links` shows them");
}

static void new_platform_refused(const situ_device *devices, int n, const situ_link *links, int n_links,
                                 const char *part) {
  situ_platform *p;
  situ_error error = {0};
  assert_int_equal(platform_new(&p, "test", devices, n, links, n_links, &error), SITU_STATUS_BAD_INPUT);
  assert_null(p);
  if (!strstr(error.text, part)) fail_msg("\"%s\" does not say \"%s\"", error.text, part);
}

TEST(values_out_of_range_are_refused) {
  situ_link both[2] = {{0, 1, 0, 1e9, -1}, {1, 0, 0, 1e9, -1}};
  situ_device good[2] = {plain("a", "k"), plain("b", "k")}, d[2];
#define BAD_DEVICE(change, part)               \
  do {                                         \
    memcpy(d, good, sizeof d);                 \
    change;                                    \
    new_platform_refused(d, 2, both, 2, part); \
  } while (0)
  BAD_DEVICE(d[1].name = "a", "used twice");
  BAD_DEVICE(d[1].name = NULL, "no name");
  BAD_DEVICE(d[1].memory_bytes_per_s = 0, "memory_bytes_per_s");
  BAD_DEVICE(d[1].memory_bytes_per_s = (double)NAN, "memory_bytes_per_s");
  BAD_DEVICE(d[1].peak_flops[SITU_DTYPE_F32] = 0, "f32");
  BAD_DEVICE(d[1].peak_flops[SITU_DTYPE_F16] = -1, "peak");
  BAD_DEVICE(d[1].memory_bytes = -1, "memory_bytes");
  BAD_DEVICE(d[1].launch_ns = -1, "launch_ns");
  BAD_DEVICE(d[1].shares_memory_with = 1, "earlier");
  BAD_DEVICE(d[1].launch_ns = 5, "one class but differ");
  BAD_DEVICE(d[1].shares_memory_with = 0, "same memory");
  situ_link l[2];
#define BAD_LINK(change, part)                 \
  do {                                         \
    memcpy(l, both, sizeof l);                 \
    change;                                    \
    new_platform_refused(good, 2, l, 2, part); \
  } while (0)
  BAD_LINK(l[0].to_device = 2, "does not exist");
  BAD_LINK(l[0].to_device = 0, "same memory");
  BAD_LINK(l[0].latency_ns = -1, "latency_ns");
  BAD_LINK(l[0].bytes_per_s = 0, "bytes_per_s");
  BAD_LINK(l[0].bytes_per_s = (double)INFINITY, "bytes_per_s");
  BAD_LINK(l[0].channel = -2, "channel");
  BAD_LINK((l[1].from_device = 0, l[1].to_device = 1), "no route leads from the memory of \"b\"");
  new_platform_refused(good, 0, both, 0, "1 to 4096");
}

TEST(ties_go_to_fewest_hops_then_lowest_links) {
  /* 1 GB/s: 1 MiB takes 1048576 ns. The way 0 -> 1 -> 3 costs as much as the direct link of twice that time plus
   * latency: 2 * 1048576 = 2097152 = 1048576 + 1048576. 0 -> 2 -> 3 costs the same and has lower link numbers. */
  situ_device d[4] = {plain("a", "k"), plain("b", "k"), plain("c", "k"), plain("d", "k")};
  situ_link l[] = {{0, 2, 0, 1e9, 5},  {2, 3, 0, 1e9, 5},  {0, 1, 0, 1e9, 9},  {1, 3, 0, 1e9, -1},
                   {3, 0, 0, 1e9, -1}, {1, 0, 0, 1e9, -1}, {2, 0, 0, 1e9, -1}, {0, 3, 1048576, 1e9, 9}};
  situ_platform *p;
  assert_int_equal(platform_new(&p, "ties", d, 4, l, 7, NULL), SITU_STATUS_OK);
  assert_int_equal(hops(p, 0, 3), 2);
  assert_int_equal(hop(p, 0, 3, 0), 0);
  assert_int_equal(hop(p, 0, 3, 1), 1);
  assert_int_equal(p->n_channels, 6); /* 5, 9, and one for each of four lone links */
  assert_int_equal(p->links[0].channel, p->links[1].channel);
  assert_int_not_equal(p->links[0].channel, p->links[2].channel);
  situ_platform_free(p);
  assert_int_equal(platform_new(&p, "ties", d, 4, l, 8, NULL), SITU_STATUS_OK);
  assert_int_equal(hops(p, 0, 3), 1);
  assert_int_equal(hop(p, 0, 3, 0), 7);
  assert_int_equal(p->links[2].channel, p->links[7].channel);
  situ_platform_free(p);
}

static int64_t weight(const situ_link *l) { return link_time_ns(l->latency_ns, l->bytes_per_s, 1 << 20); }

/* Second method: Floyd and Warshall on weights must give the length of each route. */
TEST(routes_are_shortest_ways) {
  rng r = rng_new(7);
  for (int round = 0; round < 60; round++) {
    enum { N = 9 };
    char names[N][4];
    situ_device d[N];
    situ_link l[N + 30];
    int n_links = 0;
    for (int i = 0; i < N; i++) {
      snprintf(names[i], sizeof names[i], "d%d", i);
      d[i] = plain(names[i], "k");
      l[n_links++] = (situ_link){i, (i + 1) % N, rng_below(&r, 5) * 100000, 1e9 * (double)(1 + rng_below(&r, 4)), -1};
    }
    while (n_links < N + 30) {
      int a = (int)rng_below(&r, N), b = (int)rng_below(&r, N);
      if (a != b) l[n_links++] = (situ_link){a, b, rng_below(&r, 9) * 100000, 1e9 * (double)(1 + rng_below(&r, 4)), -1};
    }
    int64_t best[N][N];
    for (int i = 0; i < N; i++)
      for (int j = 0; j < N; j++) best[i][j] = i == j ? 0 : INT64_MAX / 4;
    for (int i = 0; i < n_links; i++)
      if (weight(&l[i]) < best[l[i].from_device][l[i].to_device])
        best[l[i].from_device][l[i].to_device] = weight(&l[i]);
    for (int k = 0; k < N; k++)
      for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
          if (best[i][k] + best[k][j] < best[i][j]) best[i][j] = best[i][k] + best[k][j];
    OWN(situ_platform) *p = NULL;
    assert_int_equal(platform_new(&p, "random", d, N, l, n_links, NULL), SITU_STATUS_OK);
    for (int i = 0; i < N; i++)
      for (int j = 0; j < N; j++) {
        int64_t length = 0;
        int at = i;
        for (int h = 0; h < hops(p, i, j); h++) {
          assert_int_equal(p->link_from[hop(p, i, j, h)], at);
          at = p->link_to[hop(p, i, j, h)];
          length += weight(&p->links[hop(p, i, j, h)]);
        }
        assert_int_equal(at, j);
        assert_int_equal(length, best[i][j]);
      }
  }
}

/* Names as they stand in public threads, and what they mean. */
TEST(devices_are_found_as_threads_name_them) {
  static const char *const pairs[][2] = {{"RTX 5090 D", "rtx5090d-32g"},
                                         {"RTX 3080 20 GB", "rtx3080mod-20g"},
                                         {"4090 48GB", "rtx4090mod-48g"},
                                         {"RTX 2080 Ti 22GB", "rtx2080timod-22g"},
                                         {"RTX 3060 8GB", "rtx3060mod-8g"},
                                         {"rtx3060-8g", "rtx3060mod-8g"},
                                         {"RTX 3060", "rtx3060-12g"},
                                         {"GTX 1060 3GB", "gtx1060mod-3g"},
                                         {"Arc A770 8 GB", "a770mod-8g"},
                                         {"Quadro RTX 4000", "quadrortx4000-8g"},
                                         {"Tesla P100", "p100-16g"},
                                         {"Quadro P6000", "p6000-24g"},
                                         {"A100 PCIe 40GB", "a100-40g-pcie"},
                                         {"Intel Core i7-8700", "i7-8700"},
                                         {"AMD EPYC 7713", "epyc7713"},
                                         {"Threadripper PRO 7965WX", "threadripper-7965"},
                                         {"Celeron J4105", "celeron-j4105"},
                                         {"Mac Studio M2 Max", "m2-max"},
                                         {"MacBook Pro M3 Max", "m3-max"},
                                         {"RTX 4090", "rtx4090-24g"},
                                         {"2080 Ti", "rtx2080ti-11g"},
                                         {"laptop", "laptop"},
                                         {"i7-13700h", "i7-13700h"},
                                         {"i5-12400F", "i5-12400"},
                                         {"Core i7-1165G7", "i7-1165g7"},
                                         {"Core Ultra 7 258V", "ultra7-258v"},
                                         {"Ryzen 9 7945HX", "ryzen-7945hx"},
                                         {"7945HX", "ryzen-7945hx"},
                                         {"Xeon Gold 6230", "xeon6230"},
                                         {"Xeon W-2295", "xeon-w2295"},
                                         {"Raspberry Pi 4", "rpi4"},
                                         {"Threadripper PRO 5975WX", "threadripper-5975"},
                                         {"M5 Max", "m5-max"},
                                         {"MacBook Pro M5 Pro", "m5-pro"},
                                         {"Arc A380", "a380-6g"},
                                         {"NVIDIA H100 PCIe", "h100-80g-pcie"},
                                         {"H100 NVL", "h100-94g-nvl"}};
  for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
    const situ_device_kind_info *row = catalogue_find(pairs[i][0]);
    if (!row || strcmp(row->name, pairs[i][1]) != 0) fail_msg("%s is %s", pairs[i][0], row ? row->name : "unknown");
  }
  static const struct {
    const char *link;
    double bytes_per_s;
  } links[] = {{"pcie4x8", 12.6e9}, {"pcie3x1", 0.7875e9}, {"oculink", 6.3e9}, {"ethernet-200g", 17.5e9}};
  for (size_t i = 0; i < sizeof links / sizeof links[0]; i++) /* of 16 lanes, of 25 GB/s */
    assert_true(fabs(link_kind_find(links[i].link)->bytes_per_s - links[i].bytes_per_s) < 1e6);
}

TEST(names_may_state_figures) {
  situ_platform *p = named("cpu(64GB,80GB/s,2TF)+2*gpu( 16 GB, 1.8TB/s ,90TF,180TOPS)@pcie4x8+rtx4090(48GB)");
  const situ_device *cpu = &p->devices[0], *gpu = &p->devices[1], *card = &p->devices[3];
  assert_int_equal(p->n_devices, 4);
  assert_true(cpu->is_host && cpu->memory_bytes == 64000000000 && cpu->memory_bytes_per_s == 80e9);
  assert_true(cpu->peak_flops[SITU_DTYPE_F32] == 2e12 && cpu->peak_flops[SITU_DTYPE_F16] == 0);
  assert_true(gpu->memory_bytes == 16000000000 && gpu->memory_bytes_per_s == 1.8e12);
  assert_true(gpu->peak_flops[SITU_DTYPE_F16] == 90e12 && gpu->peak_flops[SITU_DTYPE_F32] == 45e12);
  assert_true(gpu->peak_flops[SITU_DTYPE_I8] == 180e12 && p->class_of[1] == p->class_of[2]);
  assert_true(card->memory_bytes == 48000000000 && card->memory_bytes_per_s == 1008e9);
  situ_platform_free(p);
  p = named("2*(cpu+gpu(24GB,1TB/s,200TFLOPS))@ethernet-10g");
  assert_int_equal(p->devices[3].server, 1);
  situ_platform_free(p);
  static const char *const wrong[] = {"gpu(16GB)",
                                      "cpu+gpu(16GB,900,90TF)",
                                      "cpu+gpu(16GB,900GB/s,90TF",
                                      "cpu+gpu()",
                                      "cpu+gpu(-1GB,900GB/s,90TF)",
                                      "cpu+foo(16GB,900GB/s,90TF)",
                                      "rtx4090(x)",
                                      "cpu+gpu(16GB,900GB/s,90TF)@nvlink",
                                      "gpu(1e300GB,900GB/s,90TF)"};
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
    situ_error error = {0};
    assert_int_equal(situ_platform_read(&p, wrong[i], &error), SITU_STATUS_BAD_ARGUMENT);
    assert_true(error.text[0]);
  }
}

/* What Metal recommends as a working set, as llama.cpp prints it on such machines, in 10^6 bytes. */
TEST(a_mac_has_the_memory_that_metal_grants) {
  static const struct {
    const char *name;
    double megabytes;
  } known[] = {{"M1 16GB", 11453.25},     {"m2-max-32g", 22906.50},      {"M3 Pro 36GB", 28991.03},
               {"M1 Max 64GB", 51539.61}, {"M2 Ultra 192GB", 154618.82}, {"rtx4090-24g", 24000}};
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
    OWN(situ_platform) *p = NULL;
    situ_error error;
    assert_int_equal(situ_platform_read(&p, known[i].name, &error), SITU_STATUS_OK);
    assert_true(fabs((double)situ_platform_memory_bytes(p, 0) / 1e6 - known[i].megabytes) < 0.01);
  }
}

TEST_MAIN
