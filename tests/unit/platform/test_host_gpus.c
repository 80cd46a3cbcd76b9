/* GPUs by the files of NVIDIA's driver, in a tree of our own. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "../../lab/test.h"
#include "platform/host_gpus.h"
#include "platform/host_machine.h"

static char root[] = "/tmp/situ-gpus-XXXXXX";

static void put(const char *path, const char *text) {
  char whole[400];
  snprintf(whole, sizeof whole, "%s%s", root, path);
  for (char *at = strchr(whole + strlen(root) + 1, '/'); at; at = strchr(at + 1, '/')) {
    *at = '\0';
    mkdir(whole, 0700);
    *at = '/';
  }
  FILE *f = fopen(whole, "w");
  assert_non_null(f);
  fputs(text, f);
  fclose(f);
}

#define DRIVER "/proc/driver/nvidia/gpus/"
#define PCI "/sys/bus/pci/devices/"

TEST(the_driver_tells_names_and_lanes) {
  char line[64], bus[32];
  machine_gpus found;
  assert_non_null(mkdtemp(root));
  host_gpus_find(&found, root);
  assert_int_equal(found.n, 0);
  put(DRIVER "0000:41:00.0/information", "Model: \t\t NVIDIA GeForce RTX 3090\nIRQ:   \t\t 92\n");
  put(PCI "0000:41:00.0/max_link_speed", "16.0 GT/s PCIe\n");
  put(PCI "0000:41:00.0/max_link_width", "8\n");
  put(DRIVER "0000:01:00.0/information", "Model: \t\t Tesla T4\nIRQ:   \t\t 90\n");
  put(DRIVER "0000:81:00.0/information", "Model: \t\t NVIDIA Unheard Of\n");
  put(PCI "0000:81:00.0/max_link_speed", "2.5 GT/s PCIe\n");
  put(PCI "0000:81:00.0/max_link_width", "1\n");
  host_gpus_find(&found, root);
  assert_int_equal(found.n, 2); /* by the number of the bus; what is not known is left out */
  assert_string_equal(found.gpu[0].row->name, "t4-16g");
  assert_int_equal(found.gpu[0].lanes, 0);
  assert_string_equal(found.gpu[1].row->name, "rtx3090-24g");
  assert_string_equal(machine_gpu_bus(bus, &found.gpu[1]), "pcie4x8");
  char machine[HOST_MACHINE_BYTES];
  assert_false(host_machine_find(machine, root));
  put("/proc/cpuinfo", "processor\t: 0\nmodel\t\t: 17\nmodel name\t: AMD EPYC 9B14\nmodel name\t: another\n");
  assert_true(host_machine_find(machine, root));
  assert_string_equal(machine, "AMD EPYC 9B14");
  put("/proc/cpuinfo", "CPU implementer\t: 0x41\nCPU part\t: 0xd0c\n");
  assert_true(host_machine_find(machine, root));
  assert_string_equal(machine, "CPU implementer 0x41, part 0xd0c");
  snprintf(line, sizeof line, "rm -r %s", root);
  assert_int_equal(system(line), 0);
}

TEST_MAIN
