#include "platform/machine_fields.h"

#include <stdio.h>
#include <string.h>

#include "base/ascii.h"
#include "base/text.h"

/* Formats as the tools print them: nvidia-smi 535, rocm-smi 6, rocminfo 1.14, vulkaninfo 1.3, macOS 14. */

/* A key of a tool. Numbers are in units of `unit` bytes. */
typedef struct field_row {
  const char *tool, *heading; /* NULL: any heading */
  const char *key;            /* in small letters */
  field_kind kind;
  int64_t unit;
} field_row;

static const int64_t KIB = 1 << 10, MIB = 1 << 20;
static const char NVIDIA[] = "nvidia-smi -q", ROCM[] = "rocm-smi", ROCMINFO[] = "rocminfo", VULKAN[] = "vulkaninfo",
                  MAC[] = "system_profiler";

static const field_row rows[] = {
    {NVIDIA, NULL, "product name", FIELD_GPU, 0},
    {NVIDIA, "pcie generation", "max", FIELD_GENERATION, 0},
    {NVIDIA, "link width", "current", FIELD_LANES, 0},
    {NVIDIA, "fb memory usage", "total", FIELD_TOTAL, MIB},
    {NVIDIA, "fb memory usage", "free", FIELD_FREE, MIB},
    {ROCM, NULL, "card series", FIELD_GPU, 0},
    {ROCM, NULL, "vram total memory (b)", FIELD_TOTAL, 1},
    {ROCM, NULL, "vram total used memory (b)", FIELD_USED, 1},
    {ROCMINFO, NULL, "marketing name", FIELD_GPU, 0},
    {ROCMINFO, "pool 1", "size", FIELD_TOTAL, KIB},
    {VULKAN, NULL, "devicename", FIELD_GPU, 0},
    {MAC, NULL, "chip", FIELD_CHIP, 0},
};

/* A piece of a line without blanks, quotes and braces around it. */
static void copy_piece(char into[FIELD_BYTES], const char *from, size_t n, bool small) {
  static const char around[] = " \t\",{}";
  while (n > 0 && strchr(around, *from)) from++, n--;
  while (n > 0 && (strchr(around, from[n - 1]) || ascii_is_space(from[n - 1]))) n--;
  if (n >= FIELD_BYTES) n = FIELD_BYTES - 1;
  for (size_t i = 0; i < n; i++) into[i] = small ? ascii_lower(from[i]) : from[i];
  into[n] = 0;
}

/* Splits "key : value" or "key = value"; false if there is no value. "GPU[0] : key: value" has the number of a GPU. */
static bool split(const char *line, int64_t *index, char key[FIELD_BYTES], char value[FIELD_BYTES]) {
  const char *at = line, *end;
  *index = -1;
  if (strncmp(at, "GPU[", 4) == 0 && (end = text_scan_int(at + 4, 0, index)) && *end == ']') {
    at = strchr(end, ':');
    at = at ? at + 1 : end + 1;
  }
  end = strchr(at, ':');
  const char *equals = strstr(at, " = ");
  if (equals && (!end || equals < end)) end = equals + 1;
  copy_piece(key, at, end ? (size_t)(end - at) : strlen(at), true);
  copy_piece(value, end ? end + 1 : "", end ? strlen(end + 1) : 0, false);
  return *value;
}

static bool begins(const char *text, const char *word) { return strncmp(text, word, strlen(word)) == 0; }

/* What a name says of the device: a processor is a host, a number is no name. */
static field_kind kind_of_name(const field_reader *r, const char *name, const char *tool) {
  bool processor =
      strstr(name, "Processor") || strstr(name, "CPU") || strstr(name, "Core(TM)") || begins(name, "AMD Ryzen");
  if (tool == VULKAN && (r->no_gpu || begins(name, "llvmpipe"))) return FIELD_NONE;
  return begins(name, "0x") || begins(name, "N/A") ? FIELD_NONE : processor ? FIELD_HOST : FIELD_GPU;
}

static void fill(field *f, const field_reader *r, const field_row *row, const char *value) {
  f->kind = row->kind;
  f->tool = row->tool;
  snprintf(f->text, sizeof f->text, "%s", value);
  if (row->kind == FIELD_GPU) f->kind = kind_of_name(r, value, row->tool);
  if (row->kind <= FIELD_CHIP) return;
  if (!text_scan_int(value, 0, &f->number) || f->number <= 0 || f->number > INT64_MAX / MIB) f->kind = FIELD_NONE;
  if (row->unit && f->kind != FIELD_NONE) f->number = f->number * row->unit / MIB;
}

field field_of_line(field_reader *r, const char *line) {
  field f = {.kind = FIELD_NONE};
  char key[FIELD_BYTES], value[FIELD_BYTES];
  if (!split(line, &f.index, key, value)) {
    if (*key) snprintf(r->heading, sizeof r->heading, "%s", key);
    if (begins(key, "card") && text_scan_int(key + strlen("card"), 0, &r->card) && r->card < INT64_MAX) r->card++;
    return f;
  }
  if (f.index < 0) f.index = r->card - 1;
  if (strcmp(key, "devicetype") == 0) r->no_gpu = strstr(value, "TYPE_CPU") != NULL;
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
    if (strcmp(rows[i].key, key) == 0 && (!rows[i].heading || strcmp(rows[i].heading, r->heading) == 0)) {
      fill(&f, r, &rows[i], value);
      break;
    }
  return f;
}
