/* Machines as outputs of system tools describe them, in the formats of their documentation. */
#include <math.h>

#include "../../lab/test.h"
#include "../../lab/tier.h"
#include "platform/machine_text.h"

typedef struct expected {
  const char *text, *classes; /* of all devices, separated by blanks */
  double megabytes[4];        /* of GPUs; 0: that of the catalogue */
  double gb_per_s[4];         /* of the link from the host to each */
} expected;

#define SMI_HEAD                                                                                  \
  "+-----------------------------------------------------------------------------------------+\n" \
  "| NVIDIA-SMI 550.54.15              Driver Version: 550.54.15      CUDA Version: 12.4     |\n" \
  "| GPU  Name                 Persistence-M | Bus-Id          Disp.A | Volatile Uncorr. ECC |\n" \
  "| Fan  Temp   Perf          Pwr:Usage/Cap |           Memory-Usage | GPU-Util  Compute M. |\n"

static const expected machines[] = {
    {SMI_HEAD "|   0  NVIDIA GeForce RTX 4090        Off |   00000000:01:00.0  On |                  Off |\n"
              "|  0%   45C    P8             20W /  450W |    1234MiB /  24564MiB |      2%      Default |\n"
              "|   1  NVIDIA GeForce RTX 3060        Off |   00000000:05:00.0 Off |                  N/A |\n"
              "|  0%   40C    P8             10W /  170W |       5MiB /  12288MiB |      0%      Default |\n"
              "| Processes:                                                                              |\n"
              "|    0   N/A  N/A      1687      G   /usr/lib/xorg/Xorg                            835MiB |\n",
     "desktop rtx4090-24g rtx3060-12g",
     {(24564 - 1234) * 0.976562, (12288 - 5) * 0.976562},
     {25.2, 25.2}},
    {"GPU 0: NVIDIA A100-SXM4-80GB (UUID: GPU-5c8f1e0d)\nGPU 1: NVIDIA A100-SXM4-80GB (UUID: GPU-9a7b)\n",
     "cpu a100-80g a100-80g",
     {80000, 80000},
     {25.2, 25.2}},
    {"name, memory.total [MiB], memory.free [MiB], pcie.link.gen.current, pcie.link.width.current\n"
     "NVIDIA GeForce RTX 3090, 24576 MiB, 23000 MiB, 4, 8\nTesla T4, 15360 MiB, 15000 MiB, 3, 16\n",
     "desktop rtx3090-24g t4-16g",
     {23000 * 0.976562, 15000 * 0.976562},
     {12.6, 12.6}},
    {"index, name, memory.used [MiB], memory.total [MiB]\r\n0, NVIDIA RTX A6000, 100 MiB, 49140 MiB\r\n",
     "cpu a6000-48g",
     {49040 * 0.976562},
     {25.2}},
    {"Available devices:\n  CUDA0: NVIDIA GeForce RTX 5060 Ti (15849 MiB, 15600 MiB free)\n"
     "  RPC0: 10.0.0.2:50052 (12000 MiB, 11000 MiB free)\n",
     "desktop rtx5060ti-16g",
     {15600 * 0.976562},
     {50.4}},
    {"01:00.0 VGA compatible controller: NVIDIA Corporation GA102 [GeForce RTX 3090] (rev a1)\n"
     "\tLnkCap:\tPort #0, Speed 16GT/s, Width x16, ASPM L1\n\tLnkSta:\tSpeed 8GT/s, Width x1 (downgraded)\n"
     "04:00.0 VGA compatible controller: ASPEED Technology, Inc. ASPEED Graphics Family (rev 41)\n"
     "08:00.0 3D controller: NVIDIA Corporation TU104GL [Tesla T4] (rev a1)\n"
     "09:00.0 Non-Volatile memory controller: Samsung Electronics NVMe SSD Controller\n" /* not of the GPU above it */
     "\tLnkSta:\tSpeed 8GT/s, Width x4\n",
     "desktop rtx3090-24g t4-16g",
     {0, 0},
     {0.7875, 12.6}},
    {"Model name:                         Intel(R) Core(TM) i7-8700 CPU @ 3.20GHz\n"
     "               total        used        free      shared  buff/cache   available\n"
     "Mem:     33554432000  4000000000  2000000000   100000000 27000000000 29000000000\n",
     "i7-8700",
     {0},
     {0}},
    {"Model name:  AMD EPYC 7713 64-Core Processor\nGPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-1)\n"
     "GPU 1: NVIDIA H100 80GB HBM3 (UUID: GPU-2)\n\n\tGPU0\tGPU1\tCPU Affinity\nGPU0\t X \tNV18\t0-63\nGPU1\tNV18\t X "
     "\t0-63\n",
     "epyc7713 h100-80g h100-80g",
     {80000, 80000},
     {50.4, 50.4}},
    /* Logs and lists of issues. */
    {"ggml_cuda_init: found 2 CUDA devices (Total VRAM: 48252 MiB):\n"
     "  Device 0: NVIDIA GeForce RTX 3090, compute capability 8.6, VMM: yes, VRAM: 24126 MiB\n"
     "0.1 I   Device 1: NVIDIA RTX PRO 4000 Blackwell SFF Edition, compute capability 12.0, VMM: yes, VRAM: 24026 MiB\n"
     "llama_model_load: using device CUDA0 (NVIDIA GeForce RTX 3090) (0000:01:00.0) - 20000 MiB free\n"
     "llama_model_load: using device CUDA1 (NVIDIA RTX PRO 4000 Blackwell SFF Edition) - 23000 MiB free\n"
     "llama_model_load: using device RPC0 (10.0.0.2:50052) - 9000 MiB free\n"
     "  Device 0: NVIDIA GeForce RTX 3090, compute capability 8.6, VMM: yes, VRAM: 24126 MiB\n",
     "desktop rtx3090-24g rtxpro4000sff-24g",
     {20000 * 0.976562, 23000 * 0.976562},
     {25.2, 50.4}},
    {"  Device 0: AMD Instinct MI50/MI60, gfx906:sramecc-:xnack- (0x906), VMM: no, Wave Size: 64, VRAM: 32752 MiB\n"
     "  Device 1: AMD Radeon PRO W7900, gfx1100 (0x1100), VMM: no, Wave Size: 32\n",
     "cpu mi50-32g w7900-48g",
     {32000, 48000},
     {25.2, 25.2}},
    {"ggml_vulkan: Found 2 Vulkan devices:\n"
     "ggml_vulkan: 0 = Radeon RX 7900 XTX (RADV NAVI31) (radv) | uma: 0 | fp16: 1 | matrix cores: KHR_coopmat\n"
     "ggml_vulkan: 1 = Radeon 8060S Graphics (AMD open-source driver) | uma: 1 | fp16: 1\n",
     "desktop rx7900xtx-24g radeon8060s",
     {24000},
     {25.2, 10}},
    {"Vulkan0: AMD Radeon RX 5700 XT (RADV NAVI10) | uma: 0 | fp16: 1\n", "desktop rx5700xt-8g", {8000}, {25.2}},
    {"0: NVIDIA GeForce RTX 5070 Ti 16303MiB\n1: NVIDIA GeForce RTX 5090 D 32607MiB\n",
     "desktop rtx5070ti-16g rtx5090d-32g",
     {16000, 32000},
     {50.4, 50.4}},
    {"CPU: AMD Ryzen 9 9950X (32) @ 5.76 GHz\nGPU: NVIDIA GeForce RTX 5090 [Discrete]\n"
     "Memory: 39.70 GiB / 251.30 GiB (16%)\n",
     "ryzen-9950x rtx5090-32g",
     {32000},
     {50.4}},
    {"GPU models and configuration:\nGPU 0: NVIDIA A10\nGPU 1: NVIDIA A10\n", "cpu a10-24g a10-24g", {0}, {25.2, 25.2}},
    /* "key: value" of other tools. */
    {"==============NVSMI LOG==============\n\nDriver Version                            : 535.129.03\n"
     "Attached GPUs                             : 1\nGPU 00000000:01:00.0\n"
     "    Product Name                          : NVIDIA GeForce RTX 3090\n    PCI\n        GPU Link Info\n"
     "            PCIe Generation\n                Max                       : 4\n"
     "                Current                   : 1\n            Link Width\n"
     "                Max                       : 16x\n                Current                   : 8x\n"
     "    FB Memory Usage\n        Total                             : 24576 MiB\n"
     "        Reserved                          : 316 MiB\n        Used                              : 6 MiB\n"
     "        Free                              : 24254 MiB\n    BAR1 Memory Usage\n"
     "        Total                             : 256 MiB\n        Free                              : 250 MiB\n",
     "desktop rtx3090-24g",
     {24254 * 0.976562},
     {12.6}},
    {"============================ ROCm System Management Interface ============================\n"
     "================================== Memory Usage (Bytes) ==================================\n"
     "GPU[0]\t\t: VRAM Total Memory (B): 34342961152\nGPU[0]\t\t: VRAM Total Used Memory (B): 1048576000\n"
     "GPU[1]\t\t: VRAM Total Memory (B): 17163091968\nGPU[1]\t\t: VRAM Total Used Memory (B): 0\n"
     "====================================== Product Info ======================================\n"
     "GPU[0]\t\t: Card Series: \t\tAMD Instinct MI50\nGPU[0]\t\t: Card Model: \t\t0x66a1\n"
     "GPU[0]\t\t: GFX Version: \t\tgfx906\nGPU[1]\t\t: Card series: \t\tRadeon RX 6800 XT\n",
     "desktop mi50-32g rx6800xt-16g",
     {(34342961152 - 1048576000) / 1048576 * 0.976562, 16000},
     {25.2, 25.2}},
    {"GPU[0]\t\t: Card Series: \t\tAMD Radeon Graphics\n" /* in the CPU */
     "GPU[1]\t\t: Card Series: \t\tAMD Radeon RX 7900 XTX\n"
     "GPU[0]\t\t: VRAM Total Memory (B): 536870912\nGPU[0]\t\t: VRAM Total Used Memory (B): 100000000\n"
     "GPU[1]\t\t: VRAM Total Memory (B): 25753026560\nGPU[1]\t\t: VRAM Total Used Memory (B): 1073741824\n",
     "desktop rx7900xtx-24g",
     {(24560 - 1024) * 0.976562},
     {25.2}},
    {"GPU[0]\t\t: Card Series: \t\tAMD Radeon RX 7900 XTX\n" /* numbers that no machine has */
     "GPU[0]\t\t: VRAM Total Memory (B): 9223372036854775807\n"
     "GPU[0]\t\t: VRAM Total Used Memory (B): 9223372036854775806\n"
     "card9223372036854775807:\nname, memory.total [MiB], memory.used [MiB], pcie.link.gen.max, pcie.link.width.max\n"
     "AMD Radeon RX 7900 XTX, 9223372036854775807 MiB, 99999999999999999 MiB, 2147483648, 4294967295\n",
     "desktop rx7900xtx-24g",
     {0},
     {25.2}},
    {"{\"card0\": {\"Card Series\": \"AMD Radeon PRO W7900\", \"Card Model\": \"0x7448\", \"Card Vendor\": "
     "\"Advanced Micro Devices, Inc. [AMD/ATI]\", \"VRAM Total Memory (B)\": \"48301604864\", \"VRAM Total Used "
     "Memory (B)\": \"301989888\"}, \"card1\": {\"VRAM Total Memory (B)\": \"48301604864\", \"VRAM Total Used Memory "
     "(B)\": \"1073741824\", \"Card Series\": \"AMD Radeon PRO W7900\"}}\n",
     "cpu w7900-48g w7900-48g",
     {45776 * 0.976562, 45040 * 0.976562}, /* 46,064 MiB less 288 and 1,024 */
     {25.2, 25.2}},
    {"*******\nAgent 1\n*******\n  Name:                    AMD Ryzen 9 7950X 16-Core Processor\n"
     "  Marketing Name:          AMD Ryzen 9 7950X 16-Core Processor\n  Device Type:             CPU\n"
     "  Pool Info:\n    Pool 1\n      Segment:                 GLOBAL; FLAGS: FINE GRAINED\n"
     "      Size:                    65000000(0x3dfd240) KB\n*******\nAgent 2\n*******\n"
     "  Name:                    gfx1100\n  Marketing Name:          Radeon RX 7900 XTX\n  Pool Info:\n    Pool 1\n"
     "      Segment:                 GLOBAL; FLAGS: COARSE GRAINED\n"
     "      Size:                    25149440(0x17fc000) KB\n*******\nAgent 3\n*******\n"
     "  Name:                    gfx1036\n  Marketing Name:          AMD Radeon Graphics\n",
     "ryzen-7950x rx7900xtx-24g",
     {24000},
     {25.2}},
    {"==========\nVULKANINFO\n==========\n\nVulkan Instance Version: 1.3.255\n\nDevices:\n========\nGPU0:\n"
     "\tapiVersion         = 1.3.246\n\tvendorID           = 0x1002\n\tdeviceID           = 0x73bf\n"
     "\tdeviceType         = PHYSICAL_DEVICE_TYPE_DISCRETE_GPU\n"
     "\tdeviceName         = AMD Radeon RX 6800 XT (RADV NAVI21)\n\tdriverID           = DRIVER_ID_MESA_RADV\n"
     "GPU1:\n\tdeviceType         = PHYSICAL_DEVICE_TYPE_DISCRETE_GPU\n"
     "\tdeviceName         = Intel(R) Arc(tm) A770 Graphics (DG2)\nGPU2:\n"
     "\tdeviceType         = PHYSICAL_DEVICE_TYPE_CPU\n\tdeviceName         = llvmpipe (LLVM 15.0.7, 256 bits)\n",
     "desktop rx6800xt-16g a770-16g",
     {16000, 16000},
     {25.2, 25.2}},
    {"Available devices:\n  ROCm0: AMD Radeon RX 7900 XTX (24560 MiB, 24512 MiB free)\n"
     "  SYCL0: Intel(R) Arc(TM) A770 Graphics (15473 MiB, 15000 MiB free)\n",
     "desktop rx7900xtx-24g a770-16g",
     {24512 * 0.976562, 15000 * 0.976562},
     {25.2, 25.2}},
};

static situ_platform *read_text(const char *text) {
  situ_platform *p = NULL;
  situ_error error = {0};
  if (platform_from_text(&p, text, "folder/machine.txt", &error) != SITU_STATUS_OK)
    fail_msg("%s: %s", error.where, error.text);
  return p;
}

TEST(outputs_of_tools_are_machines) {
  for (size_t i = 0; i < sizeof machines / sizeof machines[0]; i++) {
    OWN(situ_platform) *p = read_text(machines[i].text);
    char classes[256] = "";
    assert_string_equal(p->name, "machine.txt");
    for (int32_t d = 0; d < p->n_devices; d++)
      snprintf(classes + strlen(classes), sizeof classes - strlen(classes), "%s%s", d ? " " : "",
               p->devices[d].class_name);
    assert_string_equal(classes, machines[i].classes);
    for (int32_t d = 1; d < p->n_devices; d++) {
      double megabytes = machines[i].megabytes[d - 1], rate = 0;
      if (megabytes > 0) assert_true(fabs((double)p->devices[d].memory_bytes / 1e6 - megabytes) < 0.01);
      for (int32_t l = 0; l < p->n_links; l++)
        if (p->links[l].from_device == 0 && p->links[l].to_device == d) rate = p->links[l].bytes_per_s;
      assert_true(fabs(rate / 1e9 - machines[i].gb_per_s[d - 1]) < 1e-6);
    }
  }
}

TEST(several_outputs_tell_of_the_same_devices) {
  /* Old tables cut names off; -L before them says them. */
  situ_platform *p = read_text("GPU 0: NVIDIA GeForce RTX 3090 (UUID: GPU-1)\n" SMI_HEAD
                               "|   0  NVIDIA GeForce ...  Off  | 00000000:01:00.0  On |                  N/A |\n"
                               "| 30%   45C    P8    20W / 350W |   1000MiB / 24576MiB |      2%      Default |\n");
  assert_int_equal(p->n_devices, 2);
  assert_true(fabs((double)p->devices[1].memory_bytes / 1e6 - 23576 * 0.976562) < 0.01);
  situ_platform_free(p);
  p = read_text(machines[7].text); /* NVLink between both, in each direction */
  int n = 0;
  for (int32_t l = 0; l < p->n_links; l++) n += p->links[l].from_device > 0 && p->links[l].to_device > 0;
  assert_int_equal(n, 2);
  situ_platform_free(p);
  p = read_text(machines[6].text);
  assert_int_equal(p->devices[0].memory_bytes, 29000000000); /* what is available */
  situ_platform_free(p);
  p = read_text("RAM: 64 GB DDR5\nGPU: RTX 4070\n");
  assert_int_equal(p->devices[0].memory_bytes, 64000000000);
  situ_platform_free(p);
  p = read_text(machines[13].text); /* of what is there, what is not used */
  assert_int_equal(p->devices[0].memory_bytes, 211600000000);
  situ_platform_free(p);
}

/* A Mac is its GPU with what Metal grants; a chip is no memory size of another chip. */
TEST(a_mac_is_its_gpu) {
  static const struct {
    const char *text, *class_name;
    double megabytes;
  } macs[] = {{"Hardware:\n\n    Hardware Overview:\n\n      Model Name: Mac Studio\n      Chip: Apple M2 Max\n"
               "      Total Number of Cores: 12 (8 performance and 4 efficiency)\n      Memory: 32 GB\n",
               "m2-max", 22906},
              {"Available devices:\n  Metal: Apple M2 Max (21845 MiB, 21845 MiB free)\n", "m2-max", 21845 * 0.976562},
              {"  MTL0: Apple M3 Ultra (147456 MiB, 140000 MiB free)\n  BLAS: Accelerate (0 MiB, 0 MiB free)\n",
               "m3-ultra", 140000 * 0.976562}};
  for (size_t i = 0; i < sizeof macs / sizeof macs[0]; i++) {
    OWN(situ_platform) *p = read_text(macs[i].text);
    assert_int_equal(p->n_devices, 1);
    assert_string_equal(p->devices[0].class_name, macs[i].class_name);
    assert_true(fabs((double)p->devices[0].memory_bytes / 1e6 / macs[i].megabytes - 1) < 0.01);
  }
}

TEST(what_is_not_understood_is_refused_with_its_line) {
  static const char *const wrong[][2] = {
      {"", "names no device"},
      {"hello\nworld\n", "names no device"},
      {"GPU 0: NVIDIA GeForce RTX 9999 (UUID: GPU-1)\n", "is no device of the catalogue"},
      {"GPU 0: NVIDIA GeForce ... (UUID: GPU-1)\n", "is cut off"},
      {"Model name: Zilog Z80\n", "is no CPU of the catalogue"},
      {"GPU 0: NVIDIA GeForce RTX 3090 (UUID: GPU-1)\nname, memory.total [MiB]\nTesla T4, 15360 MiB\n", "another GPU"},
      {"01:00.0 VGA compatible controller [0300]: [10de:2204] (rev a1)\n", "numbers alone"}};
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
    situ_platform *p = NULL;
    situ_error error = {0};
    assert_int_equal(platform_from_text(&p, wrong[i][0], "m.txt", &error), SITU_STATUS_BAD_INPUT);
    assert_null(p);
    if (!strstr(error.text, wrong[i][1])) fail_msg("%s: %s", error.where, error.text);
  }
}

TEST(lists_of_each_back_end_name_its_gpus) {
  static const struct {
    const char *text, *first, *last;
    int32_t n; /* with the host, but on a Mac */
  } said[] = {{"  Vulkan0: AMD Radeon RX 7900 XTX (RADV NAVI31) (24560 MiB, 24000 MiB free)\n"
               "  Vulkan1: AMD Radeon Graphics (RADV RAPHAEL_MENDOCINO) (64000 MiB, 63000 MiB free)\n", /* of the CPU */
               "rx7900xtx-24g", "rx7900xtx-24g", 2},
              {"|ID|        Device Type|                                   Name|Version|units  |\n"
               "| 0| [level_zero:gpu:0]|                Intel Arc A770 Graphics|   12.55|    512|\n"
               "| 1|     [opencl:cpu:0]|  Intel Core i7-13700K|    3.0|     24|\n",
               "a770-16g", "a770-16g", 2},
              {"ggml_metal_init: found device: Apple M3 Ultra\nggml_metal_init: GPU name:   Apple M3 Ultra\n"
               "ggml_metal_init: recommendedMaxWorkingSetSize  = 498216.21 MB\n",
               "m3-ultra", "m3-ultra", 1},
              {"CPU: AMD Ryzen 9 7950X\nGPU: RTX 4090 24GB, RTX 3090 24GB\n", "rtx4090-24g", "rtx3090-24g", 3},
              {"GPU: 3x NVIDIA GeForce RTX 4090, 2 \xC3\x97 RTX 3090\n", "rtx4090-24g", "rtx3090-24g", 6},
              {"8x RTX 4090 24GB, 512 GB RAM\n", "rtx4090-24g", "rtx4090-24g", 9}};
  for (size_t i = 0; i < sizeof said / sizeof said[0]; i++) {
    OWN(situ_platform) *p = NULL;
    situ_error error = {0};
    if (platform_from_text(&p, said[i].text, "m.txt", &error) != SITU_STATUS_OK) fail_msg("%zu: %s", i, error.text);
    assert_int_equal(p->n_devices, said[i].n);
    assert_string_equal(p->devices[said[i].n > 1].class_name, said[i].first);
    assert_string_equal(p->devices[p->n_devices - 1].class_name, said[i].last);
    if (said[i].n == 1) assert_int_equal(p->devices[0].memory_bytes, INT64_C(498216000000));
  }
}

/* A count that no machine has is no typing error to be passed over. */
TEST(absurd_counts_are_refused_in_words) {
  static const struct {
    const char *text, *says;
  } rows[] = {{"GPU: 99999x NVIDIA RTX 4090\n", "99999x NVIDIA RTX 4090: is a number of GPUs that no machine has"},
              {"CPU: Ryzen 9 7950X\nGPU: RTX 3090, 0x RTX 4090\n", "0x RTX 4090: is a number of GPUs"},
              {"GPU: 18446744073709551617 x RTX 4090\n", "is a number of GPUs"},
              {"CPU: 2x EPYC 7713\n", "is not one processor; describe such a machine in one line"},
              {"70000x H100 80GB\n", "a count must be between 1 and 4096"},
              {"0x rtx3090", "a count must be between 1 and 4096"}};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    situ_platform *p = NULL;
    situ_error error = {0};
    assert_int_not_equal(platform_from_text(&p, rows[i].text, "m.txt", &error), SITU_STATUS_OK);
    if (!strstr(error.text, rows[i].says)) fail_msg("%zu: %s", i, error.text);
  }
}

/* Cut at every third byte, and with that changed: no more than a refusal. */
TEST(damaged_texts_do_no_harm) {
  for (size_t i = 0; i < sizeof machines / sizeof machines[0]; i++) {
    char *text = strdup(machines[i].text);
    size_t n = strlen(text);
    for (size_t k = i % 3; k < n; k += in_check() ? 3 : 18) {
      static const char changes[] = {'\0', '9', ',', ':', '|', '[', ' ', '\n'};
      char kept = text[k];
      for (size_t c = 0; c < sizeof changes; c++) {
        situ_platform *p = NULL;
        text[k] = changes[c];
        if (platform_from_text(&p, text, "m.txt", NULL) == SITU_STATUS_OK) situ_platform_free(p);
      }
      text[k] = kept;
    }
    free(text);
  }
}

TEST_MAIN
