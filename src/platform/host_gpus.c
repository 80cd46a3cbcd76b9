#include "platform/host_gpus.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/os.h"
#include "base/system_program.h"

enum { MAX_ANSWER = 1 << 20, MAX_SECONDS = 4, PATH_MAX_BYTES = 400 };

/* ---- nvidia-smi, rocm-smi ---- */

static bool is_late(void *deadline_ns) { return clock_now_ns() > *(const int64_t *)deadline_ns; }

/* Adds what a program prints when it is called with these words. False where it does not answer in time. */
static bool ask_with(machine_gpus *out, const char *const *argv) {
  int64_t deadline_ns = clock_now_ns() + MAX_SECONDS * INT64_C(1000000000);
  text_buffer answer = {0};
  bool ran = system_program_output(&answer, argv, MAX_ANSWER, is_late, &deadline_ns) && !is_late(&deadline_ns);
  text_add(&answer, "\n");
  if (ran && !answer.failed) ran = machine_gpus_add(out, answer.bytes);
  text_free(&answer);
  return ran;
}

static bool ask(machine_gpus *out, const char *program, const char *word, const char *other) {
  return ask_with(out, (const char *const[]){program, word, other, NULL});
}

static const char QUERY[] = "--query-gpu=name,memory.total,memory.free,pcie.link.gen.max,pcie.link.width.max";

/* Old versions know less columns: these print the table. */
static void ask_nvidia_smi(machine_gpus *out, arena *a) {
  const char *program = system_program_find("nvidia-smi", a);
  bool answers = program && ask(out, program, QUERY, "--format=csv");
  if (answers && out->n == 0) answers = ask(out, program, "-L", NULL) && ask(out, program, NULL, NULL);
  if (answers && out->n > 1) ask(out, program, "topo", "-m");
}

static void ask_rocm_smi(machine_gpus *out, arena *a) {
  const char *program = system_program_find("rocm-smi", a);
  if (program) ask_with(out, (const char *const[]){program, "--showproductname", "--showmeminfo", "vram", NULL});
}

/* ---- the files of the driver ---- */

/* The text of a small file, or "" . */
static const char *read_small(char into[PATH_MAX_BYTES], const char *root, const char *folder, const char *name) {
  char path[2 * PATH_MAX_BYTES];
  snprintf(path, sizeof path, "%s%s/%s", root, folder, name);
  FILE *f = fopen(path, "r");
  size_t n = f ? fread(into, 1, PATH_MAX_BYTES - 1, f) : 0;
  if (f) fclose(f);
  into[n] = '\0';
  return into;
}

static int compare_names(const void *a, const void *b) { return strcmp(a, b); }

/* "Model: NVIDIA GeForce RTX 3090" of each GPU, and the lanes of its slot. */
static void read_driver(machine_gpus *out, const char *root) {
  static const char GPUS[] = "/proc/driver/nvidia/gpus";
  char path[PATH_MAX_BYTES], text[PATH_MAX_BYTES], bus[MACHINE_GPUS][32], speed[PATH_MAX_BYTES], width[PATH_MAX_BYTES];
  int n = 0;
  snprintf(path, sizeof path, "%.200s%s", root, GPUS);
  os_folder *folder = os_folder_open(path);
  for (const char *name; n < MACHINE_GPUS && (name = os_folder_next(folder));)
    if (strchr(name, ':') && strlen(name) < sizeof bus[0]) strcpy(bus[n++], name);
  os_folder_close(folder);
  qsort(bus, (size_t)n, sizeof bus[0], compare_names); /* names come in no order */
  text_buffer lines = {0};
  for (int k = 0; k < n; k++) {
    snprintf(path, sizeof path, "%s/%.31s", GPUS, bus[k]);
    const char *model = strstr(read_small(text, root, path, "information"), "Model:");
    model = model ? model + strlen("Model:") : "unknown";
    model += strspn(model, " \t");
    text_add(&lines, "%s VGA compatible controller: [%.*s]\n", bus[k], (int)strcspn(model, "\n"), model);
    snprintf(path, sizeof path, "/sys/bus/pci/devices/%.31s", bus[k]);
    read_small(speed, root, path, "max_link_speed"); /* an idle GPU slows its link down */
    read_small(width, root, path, "max_link_width");
    if (*speed && *width)
      text_add(&lines, "\tLnkSta: Speed %.*sGT/s, Width x%.*s\n", (int)strcspn(speed, " \n"), speed,
               (int)strcspn(width, "\n"), width);
  }
  if (lines.bytes && !lines.failed) machine_gpus_add(out, lines.bytes);
  text_free(&lines);
  for (int k = 0; k < out->n; k++) {
    out->gpu[k].named_by = "/proc/driver/nvidia";
    out->gpu[k].lanes_by = "/sys/bus/pci";
  }
}

void host_gpus_find(machine_gpus *out, const char *root) {
  arena *a = arena_new();
  *out = (machine_gpus){0};
  if (a && !*root) ask_nvidia_smi(out, a);
  if (out->n == 0) read_driver(out, root);
  if (out->n == 0 && a && !*root) ask_rocm_smi(out, a);
  arena_free(a);
}
