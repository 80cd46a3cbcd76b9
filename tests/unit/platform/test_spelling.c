/* Machines as people describe them in threads, held against what their products are. */
#include <math.h>
#include <stdlib.h>

#include "../../lab/test.h"
#include "platform/catalogue.h"
#include "platform/platform.h"

static situ_platform *described(const char *text) {
  situ_platform *p = NULL;
  situ_error error = {0};
  if (situ_platform_read(&p, text, &error) != SITU_STATUS_OK) fail_msg("%s: %s", text, error.text);
  return p;
}

/* A host of so many GB and GB/s, and `n_gpus` accelerators, the first of that class. */
static void is_host_and(const char *text, double gb, double gb_per_s, int n_gpus, const char *first) {
  OWN(situ_platform) *p = described(text);
  int gpus = 0, hosts = 0;
  for (int32_t d = 0; d < p->n_devices; d++) {
    const situ_device *device = &p->devices[d];
    hosts += device->is_host;
    if (device->is_host && d == 0) {
      if (fabs((double)device->memory_bytes / 1e9 - gb) > 1e-6)
        fail_msg("%s: %g GB", text, (double)device->memory_bytes / 1e9);
      if (fabs(device->memory_bytes_per_s / 1e9 - gb_per_s) > 0.06)
        fail_msg("%s: %g GB/s", text, device->memory_bytes_per_s / 1e9);
    }
    if (!device->is_host && gpus++ == 0 && strcmp(device->class_name, first) != 0)
      fail_msg("%s: %s", text, device->class_name);
  }
  if (gpus != n_gpus || hosts == 0) fail_msg("%s: %d accelerators, %d hosts", text, gpus, hosts);
}

TEST(memory_in_words_is_that_of_the_host) { /* channels x transfers x 8 bytes */
  is_host_and("i9-13900K with 64GB DDR5-6000 and 2x RTX 3090", 64, 2 * 6.0 * 8, 2, "rtx3090-24g");
  is_host_and("2x RTX 3090, 128GB DDR4-3200", 128, 2 * 3.2 * 8, 2, "rtx3090-24g");
  is_host_and("RTX 4090 + 64GB RAM", 64, 76.8, 1, "rtx4090-24g"); /* of a desktop, as the catalogue assumes it */
  is_host_and("2x3090 + EPYC 7402P 256GB 8-channel DDR4 3200", 256, 8 * 3.2 * 8, 2, "rtx3090-24g");
  is_host_and("EPYC 7402P 128GB quad channel + 3090", 128, 4 * 3.2 * 8, 1, "rtx3090-24g");
  is_host_and("i5-13600K 32GB DDR4 + RTX 3060", 32, 2 * 3.2 * 8, 1,
              "rtx3060-12g"); /* a DDR5 processor in an older board */
  is_host_and("RTX 3090 Ti 24GB, Ryzen 5900X, 32 GB DDR4 3600 MHz", 32, 2 * 3.6 * 8, 1, "rtx3090ti-24g");
  is_host_and("9800X3D 64GB 6000MT/s + RTX 5080", 64, 2 * 6.0 * 8, 1, "rtx5080-16g");
  is_host_and("64GB DDR5-5600, RTX 5090, Ryzen 9 9950X", 64, 2 * 5.6 * 8, 1, "rtx5090-32g");
  is_host_and("Xeon Platinum 8480+ ES, 512GB 8 channel DDR5-4800, RTX 5090", 512, 8 * 4.8 * 8, 1, "rtx5090-32g");
  is_host_and("EPYC 7763, 8 x 64GB DDR4-3200, 4x RTX 3090", 512, 8 * 3.2 * 8, 4, "rtx3090-24g"); /* modules */
  is_host_and("Ryzen 7950X, 2x32GB DDR5-5600", 64, 2 * 5.6 * 8, 0, "");
  is_host_and("2 x 32GB DDR5-5600 and RTX 3090", 64, 2 * 5.6 * 8, 1, "rtx3090-24g");
  is_host_and("dual EPYC 7742 512GB 8ch DDR4 3200", 256, 8 * 3.2 * 8, 0, ""); /* of each socket */
}

TEST(counts_and_links_in_words_are_those_of_devices) {
  OWN(situ_platform) *p = described("RTX 3090 (x2) NVLink + 5950X"),
                     *egpu = described("Ryzen 9 9950X + RTX 5090 + eGPU 3090 over TB4");
  OWN(situ_platform) *slots = described("5950X, RTX 4090 on PCIe 4.0 x8 and RTX 3090 on PCIe 3.0 x4"),
                     *p40 = described("dual Xeon E5-2680v4 with three Tesla P40");
  bool direct = false;
  for (int32_t l = 0; l < p->n_links; l++) direct |= p->links[l].from_device == 1 && p->links[l].to_device == 2;
  assert_true(direct);
  assert_int_equal(p40->n_devices, 5);
  for (int32_t l = 0; l < slots->n_links; l++)
    if (slots->links[l].from_device == 0)
      assert_float_equal(slots->links[l].bytes_per_s, slots->links[l].to_device == 1 ? 12.6e9 : 3.15e9, 1);
  for (int32_t l = 0; l < egpu->n_links; l++)
    if (egpu->links[l].to_device == 2) assert_float_equal(egpu->links[l].bytes_per_s, 3.2e9, 1);
}

TEST(a_machine_is_what_is_in_it) {
  static const char *const halo[] = {"Framework Desktop", "Ryzen AI Max+ 395", "strix halo 128GB",
                                     "AMD Ryzen AI Max+ 395 w/ Radeon 8060S", "GMKtec EVO-X2 128GB"};
  for (size_t k = 0; k < sizeof halo / sizeof *halo; k++) {
    OWN(situ_platform) *p = described(halo[k]);
    assert_int_equal(p->n_devices, 2);
    assert_string_equal(p->devices[1].class_name, "radeon8060s");
    assert_int_equal(p->devices[1].shares_memory_with, 0);
  }
  is_host_and("laptop with RTX 4060 and 32GB DDR5-5600", 32, 2 * 5.6 * 8, 1, "rtx4060m-8g");
  is_host_and("i9-14900HX + RTX 5090 laptop", 64, 89.6, 1, "rtx5090m-24g");
}

TEST(letters_that_say_nothing_are_left_out) {
  static const char *const same[][2] = {
      {"EPYC Rome 7302P", "epyc7302"},     {"i7-12700F", "i7-12700"},
      {"i5-13600KF", "i5-13600k"},         {"Threadripper PRO 3975WX", "threadripper-3975"},
      {"E5-2697 v3", "xeon-e5-2697v3"},    {"Ryzen AI 9 HX 370", "ryzen-ai-hx370"},
      {"laptop RTX 4090", "rtx4090m-16g"}, {"MI50", "mi50-32g"},
      {"MI50 16GB", "mi50-16g"},           {"RTX 2060", "rtx2060-6g"},
      {"H100 NVL 94GB", "h100-94g-nvl"}};
  for (size_t k = 0; k < sizeof same / sizeof *same; k++) {
    OWN(situ_platform) *p = described(same[k][0]);
    assert_string_equal(p->devices[0].class_name, same[k][1]);
  }
}

TEST(what_is_written_in_the_grammar_means_the_same_as_before) {
  static const char *const names[] = {"cpu+2*a100-80g@nvlink", "2*(cpu+8*h100-80g@nvlink)@infiniband-ndr",
                                      "gpu(16GB,900GB/s,90TF)", "ryzen-ai-max-395", "laptop+rtx4060"};
  static const int32_t devices[] = {3, 18, 1, 1, 2};
  for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
    OWN(situ_platform) *p = described(names[k]);
    assert_int_equal(p->n_devices, devices[k]);
  }
}

TEST(what_no_row_has_is_refused_as_it_was_written) {
  static const char *const texts[][2] = {{"foo & bar", "\"foo & bar\""},
                                         {"3090 with bells", "bells"},
                                         {"Coral USB", "nobody publishes"},
                                         {"Hailo-8L", "nobody publishes"},
                                         {"64GB", "64GB"},
                                         {"quad", "quad"}};
  for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
    situ_platform *p = NULL;
    situ_error error = {0};
    if (situ_platform_read(&p, texts[k][0], &error) == SITU_STATUS_OK)
      fail_msg("%s is taken for something", texts[k][0]);
    if (!strstr(error.text, texts[k][1])) fail_msg("%s: %s", texts[k][0], error.text);
  }
}

TEST(channels_that_a_row_names_have_its_bandwidth) {
  const situ_device_kind_info *row;
  int n = 0;
  for (int32_t i = 0; (row = catalogue_row(i)); i++) {
    const char *at = strstr(row->source, " channel"), *type = strstr(row->source, "DDR");
    if (strcmp(row->kind, "cpu") != 0 || !at || !type) continue;
    const char *digits = at, *rate = strchr(type, '-');
    while (digits > row->source && digits[-1] >= '0' && digits[-1] <= '9') digits--;
    const char *before = digits - 3; /* "2 x 6 channels" */
    double channels = atof(digits) * (before > row->source && strncmp(before, " x ", 3) == 0 ? before[-1] - '0' : 1);
    double expected = channels * 8e6 * (rate ? atof(rate + 1) : 0);
    if (fabs(expected / row->memory_bytes_per_s - 1) > 2e-3)
      fail_msg("%s: %g, not %g", row->name, row->memory_bytes_per_s, expected);
    n++;
  }
  assert_true(n > 200);
}

TEST_MAIN
