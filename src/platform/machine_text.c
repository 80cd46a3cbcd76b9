#include "platform/machine_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ascii.h"
#include "base/fail.h"
#include "base/file.h"
#include "base/text.h"
#include "platform/catalogue.h"
#include "platform/machine_fields.h"
#include "platform/platform_sources.h"

enum { LINE_BYTES = 512, NAME_BYTES = 128, MAX_COLUMNS = 32, SOURCE_BYTES = 400 };
/* Of a MiB that is free: as in the catalogue, sizes in units of 2^30 count as units of 10^9, and the difference
 * accounts for contexts and allocators. */
static const int64_t MIB = 976562, MAX_NUMBER = INT64_C(1) << 40; /* of MiB, kB, lanes: no machine has more */
/* The lists that tools print. */
static const char NVIDIA_SMI[] = "nvidia-smi", NVIDIA_SMI_L[] = "nvidia-smi -L",
                  NVIDIA_SMI_CSV[] = "nvidia-smi --query-gpu", LLAMA[] = "llama-server --list-devices",
                  LLAMA_LOG[] = "the log of llama.cpp", VULKAN_LOG[] = "ggml_vulkan",
                  LLAMA_USED[] = "the log of llama.cpp (using device)", SYCL[] = "the list of SYCL",
                  WORDS[] = "the text", LSPCI[] = "lspci";

typedef struct machine {
  const char *path;
  int line;
  machine_gpus *gpus;
  bool lenient;     /* what is not known or contradicts is left out */
  int listed;       /* of a later list of the same GPUs: how many it has named so far */
  const char *list; /* the kind of list that is being read: the tool that prints it */
  bool below_gpu;   /* of lspci: the lines are those of a GPU */
  const situ_device_kind_info *host;
  int64_t host_bytes;
  const char *host_bytes_by;
  field_reader fields;
  int64_t total_mib[MACHINE_GPUS],
      used_mib[MACHINE_GPUS];          /* of lists that number GPUs, before or after they name them */
  int named[MACHINE_GPUS];             /* [number] of such a list: 1 + the GPU that has it; 0: none that counts */
  bool names_numbers;                  /* else they are in the order of all */
  int columns[MAX_COLUMNS], n_columns; /* of a CSV: the kind of each */
  situ_error *error;
} machine;

/* ---- pieces of lines ---- */

static const char *skip_blanks(const char *at) {
  while (ascii_is_blank(*at)) at++;
  return at;
}

/* The number that stands before a word: "1234MiB" of "| 1234MiB / ..."; -1: there is none. */
static int64_t number_before(const char *line, const char *word) {
  int64_t number;
  const char *end = strstr(line, word), *begin = end;
  while (begin && begin > line && ascii_is_blank(begin[-1])) begin--;
  while (begin && begin > line && ascii_is_digit(begin[-1])) begin--;
  return begin && begin < end && text_scan_int(begin, 0, &number) && number <= MAX_NUMBER ? number : -1;
}

static void copy(char into[NAME_BYTES], const char *from, size_t n) {
  while (n > 0 && ascii_is_space(from[n - 1])) n--;
  snprintf(into, NAME_BYTES, "%.*s", (int)(n < NAME_BYTES ? n : NAME_BYTES - 1), from);
}

static situ_status bad(const machine *m, const char *text, const char *what) {
  char where[LINE_BYTES];
  snprintf(where, sizeof where, "%.200s: line %d", m->path, m->line);
  return fail_with(m->error, SITU_STATUS_BAD_INPUT, where, "%.100s: %s", text, what);
}

/* ---- devices ---- */

/* Whether two rows are sizes of one product. */
static bool same_kind(const situ_device_kind_info *a, const situ_device_kind_info *b) {
  size_t n = strcspn(a->name, "-"), k = strcspn(b->name, "-");
  bool mod = n > 3 && strncmp(a->name + n - 3, "mod", 3) == 0;
  return strncmp(a->name, b->name, k) == 0 && (n == k || (mod && n == k + 3));
}

/* The next GPU of a list. Several lists tell of the same GPUs: the first makes them, later ones add to them. */
static situ_status next_gpu(machine *m, machine_gpu **out, const char *list, const char *name) {
  bool cut = strstr(name, "...") != NULL;
  const situ_device_kind_info *row = cut ? NULL : catalogue_match(name);
  char hint[CATALOGUE_HINT_BYTES], what[2 * CATALOGUE_HINT_BYTES];
  if (!m->list || strcmp(m->list, list) != 0) m->listed = 0;
  m->list = list;
  if (cut && !m->lenient) return bad(m, name, "the name is cut off; add the output of nvidia-smi -L before this one");
  if (!row && !m->lenient) {
    snprintf(what, sizeof what, "is no device of the catalogue; %s", catalogue_nearest_device(hint, name));
    return bad(m, name, what);
  }
  if (m->listed == MACHINE_GPUS) return bad(m, name, "is one GPU too many");
  machine_gpu *gpu = *out = &m->gpus->gpu[m->listed++];
  if (m->listed > m->gpus->n) {
    m->gpus->n = m->listed;
    *gpu = (machine_gpu){.row = row, .named_by = list};
    if (!row && !*m->gpus->unknown) snprintf(m->gpus->unknown, sizeof m->gpus->unknown, "%s", name);
  } else if (!m->lenient && !same_kind(gpu->row, row)) {
    return bad(m, name, "is another GPU than an earlier list has at this place");
  }
  return SITU_STATUS_OK;
}

/* Of the sizes in which a GPU is sold, that of the memory which a tool prints: "rtx5060ti-8g" and "-16g", and with
 * twice its memory "rtx4090mod-48g". */
static void fit_size(machine_gpu *gpu, int64_t total_mib) {
  const situ_device_kind_info *row;
  if (!gpu->row) return;
  const char *dash = strrchr(gpu->row->name, '-');
  size_t n = dash ? (size_t)(dash - gpu->row->name) : 0;
  int64_t total = total_mib * MIB, nearest = INT64_MAX;
  const char *name = gpu->row->name;
  if (total_mib <= 0 || n == 0 || !ascii_is_digit(dash[1])) return; /* "m2-max" is no size */
  for (int32_t i = 0; (row = catalogue_row(i)); i++) {
    const char *rest = strncmp(row->name, name, n) == 0 ? row->name + n : "";
    bool sold = (rest[0] == '-' && ascii_is_digit(rest[1])) || strncmp(rest, "mod-", 4) == 0;
    int64_t off = llabs(row->memory_bytes - total);
    if (!sold || off >= nearest) continue;
    nearest = off;
    gpu->row = row;
  }
}

/* The name of a GPU that a shortened one may mean: that of an earlier list. */
static const char *known_name(const machine *m, const char *list, const char *name) {
  int next = m->list && strcmp(m->list, list) == 0 ? m->listed : 0;
  return strstr(name, "...") && next < m->gpus->n && m->gpus->gpu[next].row ? m->gpus->gpu[next].row->title : name;
}

static void take_free_bytes(machine_gpu *gpu, int64_t bytes, const char *by) {
  if (bytes <= 0) return;
  gpu->free_bytes = bytes;
  gpu->memory_by = by;
}

/* "|   0  NVIDIA GeForce RTX 4090        Off |   00000000:01:00.0  On |" */
static situ_status take_table_name(machine *m, const char *line) {
  char name[NAME_BYTES];
  int64_t index;
  const char *at = skip_blanks(line + 1), *end;
  machine_gpu *gpu;
  if (!(at = text_scan_int(at, 0, &index)) || !ascii_is_blank(*at)) return SITU_STATUS_OK;
  at = skip_blanks(at);
  for (end = at; *end && *end != '|' && !(end[0] == ' ' && end[1] == ' '); end++)
    ;
  copy(name, at, (size_t)(end - at));
  if (!ascii_is_letter(*at) || !strstr(line, ":")) return SITU_STATUS_OK; /* a process, or a heading */
  return next_gpu(m, &gpu, NVIDIA_SMI, known_name(m, NVIDIA_SMI, name));
}

/* "| 0| [level_zero:gpu:0]|     Intel Arc A770 Graphics|   12.55|    512| ...", of SYCL's list. */
static situ_status take_sycl(machine *m, const char *line) {
  char name[NAME_BYTES];
  machine_gpu *gpu;
  const char *at = strchr(strstr(line, ":gpu:"), '|');
  if (!at) return SITU_STATUS_OK;
  at = skip_blanks(at + 1);
  copy(name, at, strcspn(at, "|"));
  return catalogue_match(name) ? next_gpu(m, &gpu, SYCL, name) : SITU_STATUS_OK;
}

/* "| 0%   45C    P8    20W / 450W |   1234MiB / 24564MiB |", below the name. */
static void take_table_memory(machine *m, const char *line) {
  int64_t used = number_before(line, "MiB"), total = -1;
  const char *slash = strstr(line, "MiB /");
  if (slash) total = number_before(slash + 5, "MiB");
  if (used < 0 || total <= used || m->listed == 0) return;
  machine_gpu *gpu = &m->gpus->gpu[m->listed - 1];
  take_free_bytes(gpu, (total - used) * MIB, NVIDIA_SMI);
  fit_size(gpu, total);
}

/* "GPU 0: NVIDIA GeForce RTX 3090 (UUID: GPU-...)", which vLLM's collect_env prints without the number in brackets. */
static situ_status take_list(machine *m, const char *line) {
  char name[NAME_BYTES];
  machine_gpu *gpu;
  const char *at = strstr(line, ": "), *end = strstr(line, " (UUID");
  if (!at || !ascii_is_digit(line[4])) return SITU_STATUS_OK;
  if (!end || end < at) end = at + strlen(at);
  copy(name, at + 2, (size_t)(end - at - 2));
  return next_gpu(m, &gpu, NVIDIA_SMI_L, name);
}

/* What a driver calls a GPU without a product name, "AMD Radeon Graphics", and what computes on the CPU. */
static bool has_no_name(const char *name) {
  return strstr(name, "llvmpipe") || (strstr(name, "Graphics") && !catalogue_match(name));
}

/* "  CUDA0: NVIDIA GeForce RTX 3090 (24124 MiB, 23843 MiB free)" */
static situ_status take_llama(machine *m, const char *line) {
  char name[NAME_BYTES];
  machine_gpu *gpu;
  const char *at = strstr(line, ": "), *end = strrchr(line, '(');
  int64_t free_mib = end ? number_before(end, " MiB free") : -1;
  if (!at || !end || end < at || strncmp(skip_blanks(line), "RPC", 3) == 0) return SITU_STATUS_OK;
  if (number_before(end, " MiB,") == 0) return SITU_STATUS_OK; /* BLAS: the CPU again */
  copy(name, at + 2, (size_t)(end - at - 2));
  if (has_no_name(name)) return SITU_STATUS_OK;
  TRY(next_gpu(m, &gpu, LLAMA, name));
  fit_size(gpu, number_before(end, " MiB,"));
  take_free_bytes(gpu, free_mib * MIB, LLAMA);
  return SITU_STATUS_OK;
}

/* The name up to the first of some texts. */
static void copy_until(char into[NAME_BYTES], const char *from, const char *const *ends) {
  size_t n = strlen(from);
  for (; *ends; ends++) {
    const char *end = strstr(from, *ends);
    if (end && (size_t)(end - from) < n) n = (size_t)(end - from);
  }
  copy(into, from, n);
}

/* Lines of the log of llama.cpp, behind whatever prefix:
 *     "  Device 0: NVIDIA GeForce RTX 3090, compute capability 8.6, VMM: yes, VRAM: 24126 MiB"
 *     "  Device 0: AMD Radeon RX 7900 XTX, gfx1100 (0x1100), VMM: no"
 *     "ggml_vulkan: 0 = AMD Radeon RX 7600 XT (RADV NAVI33) (radv) | uma: 0 | fp16: 1"
 *     "using device CUDA0 (NVIDIA GeForce RTX 3090) (0000:01:00.0) - 23905 MiB free"
 *     "ggml_metal_init: GPU name:   Apple M3 Ultra"
 *     "ggml_metal_init: recommendedMaxWorkingSetSize  = 498216.21 MB"
 * and of other tools: "0: NVIDIA GeForce RTX 5070 Ti 16303MiB". *taken: it is one of these. */
static situ_status take_log(machine *m, const char *line, bool *taken) {
  static const char *const ends[] = {", compute capability", ", gfx", " (", " |", ")", NULL};
  char name[NAME_BYTES];
  machine_gpu *gpu;
  int64_t index, free_mib = -1, total_mib = -1;
  const char *device = strstr(line, "Device "), *uma = strstr(line, " | uma:"), *used = strstr(line, "using device "),
             *mib = strstr(line, "MiB"), *metal = strstr(line, "GPU name:"), *at = NULL, *list = LLAMA_LOG,
             *granted = strstr(line, "recommendedMaxWorkingSetSize");
  if (granted && m->listed > 0 && strchr(granted, '=')) {
    if (text_scan_int(skip_blanks(strchr(granted, '=') + 1), 0, &free_mib) && free_mib <= MAX_NUMBER)
      take_free_bytes(&m->gpus->gpu[m->listed - 1], free_mib * 1000000, LLAMA_LOG);
  } else if (metal && strstr(line, "metal")) {
    at = skip_blanks(metal + strlen("GPU name:")) - 2;
  } else if (device && (strstr(device, ", compute capability") || strstr(device, ", gfx"))) {
    at = strstr(device, ": ");
    if (text_scan_int(device + strlen("Device "), 0, &index) && index == 0) m->list = NULL; /* once more */
    total_mib = number_before(line, " MiB");
  } else if (uma) {
    at = strstr(line, " = ") ? strstr(line, " = ") + 1 : strstr(line, ": ");
    list = VULKAN_LOG;
  } else if (used && strstr(used, " MiB free") && strncmp(used + strlen("using device "), "RPC", 3) != 0) {
    at = strstr(used, " (");
    free_mib = number_before(line, " MiB free");
    list = LLAMA_USED;
  } else if (mib && mib[3] == '\0' && (at = text_scan_int(skip_blanks(line), 0, &index)) && at[0] == ':') {
    list = WORDS;
    total_mib = number_before(line, "MiB");
  } else {
    at = NULL;
  }
  *taken = at != NULL;
  if (!at) return SITU_STATUS_OK;
  copy_until(name, at + 2, ends);
  if (has_no_name(name)) return SITU_STATUS_OK;
  TRY(next_gpu(m, &gpu, list, name));
  fit_size(gpu, total_mib);
  take_free_bytes(gpu, free_mib * MIB, list);
  return SITU_STATUS_OK;
}

/* "01:00.0 VGA compatible controller: NVIDIA Corporation GA102 [GeForce RTX 3090] (rev a1)" */
static situ_status take_lspci(machine *m, const char *line) {
  char name[NAME_BYTES];
  machine_gpu *gpu;
  const char *at = strrchr(line, '['), *end = at ? strchr(at, ']') : NULL;
  if (!at || !end) return SITU_STATUS_OK;
  if (ascii_is_digit(at[1]) && end - at == 10)
    return bad(m, line, "has numbers alone; expected the names of lspci without -n");
  copy(name, at + 1, (size_t)(end - at - 1));
  if (!catalogue_match(name)) return SITU_STATUS_OK; /* the display of a server, or an integrated one */
  TRY(next_gpu(m, &gpu, LSPCI, name));
  m->below_gpu = true;
  return SITU_STATUS_OK;
}

/* A number of lanes, or of a generation. */
static int lanes_of(int64_t number) { return number < 0 || number > 64 ? 0 : (int)number; }

/* "LnkSta: Speed 16GT/s, Width x8", of the device above it. */
static void take_lanes(machine *m, const char *line) {
  static const double rates[] = {2.5, 5, 8, 16, 32, 64};
  const char *speed = strstr(line, "Speed "), *width = strstr(line, "Width x");
  double rate = 0;
  int64_t lanes = 0;
  if (!m->below_gpu || !speed || !width) return;
  if (!text_scan_number(speed + 6, &rate) || !text_scan_int(width + 7, 0, &lanes)) return;
  machine_gpu *gpu = &m->gpus->gpu[m->listed - 1];
  for (int g = 0; g < 6; g++)
    if (rates[g] == rate) gpu->generation = g + 1;
  gpu->lanes = lanes_of(lanes);
  gpu->lanes_by = LSPCI;
}

/* ---- CSV of --query-gpu ---- */

typedef enum column {
  COLUMN_OTHER,
  COLUMN_NAME,
  COLUMN_TOTAL,
  COLUMN_FREE,
  COLUMN_USED,
  COLUMN_GENERATION,
  COLUMN_WIDTH
} column;

static void take_header(machine *m, const char *line) {
  static const struct {
    const char *word;
    column kind;
  } known[] = {{"name", COLUMN_NAME},        {"memory.total", COLUMN_TOTAL},       {"memory.free", COLUMN_FREE},
               {"memory.used", COLUMN_USED}, {"pcie.link.gen", COLUMN_GENERATION}, {"pcie.link.width", COLUMN_WIDTH}};
  m->n_columns = 0;
  m->list = NULL;
  for (const char *at = line; at && m->n_columns < MAX_COLUMNS; at = strchr(at, ','), at = at ? at + 1 : NULL) {
    at = skip_blanks(at);
    column kind = COLUMN_OTHER;
    for (size_t k = 0; k < sizeof known / sizeof known[0]; k++)
      if (strncmp(at, known[k].word, strlen(known[k].word)) == 0) kind = known[k].kind;
    m->columns[m->n_columns++] = kind;
  }
}

static situ_status take_row(machine *m, const char *line) {
  int64_t value[COLUMN_WIDTH + 1] = {0}, number;
  char name[NAME_BYTES] = "";
  machine_gpu *gpu;
  const char *at = line;
  for (int k = 0; k < m->n_columns && at; k++) {
    at = skip_blanks(at);
    size_t n = strcspn(at, ",");
    if (m->columns[k] == COLUMN_NAME) copy(name, at, n);
    if (text_scan_int(at, 0, &number) && llabs(number) <= MAX_NUMBER) value[m->columns[k]] = number;
    at = at[n] ? at + n + 1 : NULL;
  }
  if (!*name) return SITU_STATUS_OK;
  TRY(next_gpu(m, &gpu, NVIDIA_SMI_CSV, name));
  fit_size(gpu, value[COLUMN_TOTAL]);
  int64_t free_mib = value[COLUMN_FREE] > 0 ? value[COLUMN_FREE] : value[COLUMN_TOTAL] - value[COLUMN_USED];
  take_free_bytes(gpu, free_mib * MIB, NVIDIA_SMI_CSV);
  if (value[COLUMN_WIDTH] <= 0) return SITU_STATUS_OK;
  gpu->generation = lanes_of(value[COLUMN_GENERATION]);
  gpu->lanes = lanes_of(value[COLUMN_WIDTH]);
  gpu->lanes_by = NVIDIA_SMI_CSV;
  return SITU_STATUS_OK;
}

/* ---- links among GPUs, and the host ---- */

/* "GPU0     X      NV12    SYS   ..." of topo -m. */
static void take_topology(machine *m, const char *line) {
  int64_t from;
  if (!text_scan_int(line + 3, 0, &from) || from >= MACHINE_GPUS) return;
  const char *at = line + strcspn(line, " \t");
  for (int to = 0; to < MACHINE_GPUS; to++) {
    while (ascii_is_blank(*at)) at++;
    if (!*at) return;
    if (at[0] == 'N' && at[1] == 'V' && ascii_is_digit(at[2])) m->gpus->nvlink[from][to] = true;
    at += strcspn(at, " \t");
  }
}

static situ_status take_host(machine *m, const char *line) {
  char name[NAME_BYTES], hint[CATALOGUE_HINT_BYTES], what[2 * CATALOGUE_HINT_BYTES];
  const char *at = skip_blanks(strchr(line, ':') + 1);
  copy(name, at, strlen(at));
  const situ_device_kind_info *row = catalogue_find(name);
  if (!row || strcmp(row->kind, "cpu") != 0) row = catalogue_find_within(name, "cpu");
  if (row || m->lenient) {
    m->host = row;
    return SITU_STATUS_OK;
  }
  snprintf(what, sizeof what, "is no CPU of the catalogue; leave it out to take the generic one; %s",
           catalogue_nearest_device(hint, name));
  return bad(m, name, what);
}

/* "Mem:  67108864000  2000000000 ..." of free -b: total, used, free, shared, cache, available. */
static void take_free(machine *m, const char *line) {
  int64_t value = 0, last = 0;
  for (const char *at = strchr(line, ':') + 1; at && *at;) {
    at = text_scan_int(skip_blanks(at), 0, &value);
    if (at) last = value;
  }
  if (last <= (INT64_C(1) << 30)) return;
  m->host_bytes = last;
  m->host_bytes_by = "free";
}

static bool begins(const char *line, const char *word) { return strncmp(line, word, strlen(word)) == 0; }

/* The number in front of a product, "8x RTX 4090" or "2 * ...", behind which *at then is; 1 where there is none, 0
 * where it is no number of devices. */
static int64_t take_count(const char **at) {
  static const char *const signs[] = {"x ", "X ", "* ", "\xC3\x97 ", "*"};
  const char *start = skip_blanks(*at), *end = start;
  int64_t number = 0;
  for (; ascii_is_digit(*end); end++)
    if (number <= MACHINE_GPUS) number = 10 * number + (*end - '0');
  if (end == start) return 1;
  end = skip_blanks(end);
  for (size_t k = 0; k < sizeof signs / sizeof *signs; k++) {
    size_t n = strlen(signs[k]);
    if (strncmp(end, signs[k], n) != 0) continue;
    *at = end + n;
    return number;
  }
  return 1;
}

/* What people write, and tools such as fastfetch print:
 *     "GPU: NVIDIA GeForce RTX 5090 [Discrete]", "CPU: AMD Ryzen 9 9950X (32) @ 5.76 GHz",
 *     "Memory: 39.70 GiB / 251.30 GiB (16%)", "RAM: 64 GB DDR5" */
static situ_status take_words(machine *m, const char *line, bool *taken) {
  static const char *const ends[] = {" [", " (", " @", ",", NULL};
  char text[NAME_BYTES + 1] = ":";
  machine_gpu *gpu;
  double used = 0, total = 0;
  const char *colon = strchr(line, ':');
  bool memory = begins(line, "RAM:") || begins(line, "Memory:");
  bool gpus = begins(line, "GPU:") || (begins(line, "GPU") && ascii_is_digit(line[3]) && line[4] == ':');
  *taken = memory || gpus || begins(line, "CPU:");
  if (!*taken) return SITU_STATUS_OK;
  if (memory) {
    const char *slash = strchr(colon, '/'), *at = skip_blanks(slash ? slash + 1 : colon + 1);
    const char *end = text_scan_number(at, &total);
    if (!end || skip_blanks(end)[0] != 'G') return SITU_STATUS_OK;
    if (slash) (void)text_scan_number(skip_blanks(colon + 1), &used);
    if (total - used < 1 || total - used > 1e6) return SITU_STATUS_OK;
    m->host_bytes = (int64_t)((total - used) * 1e9);
    m->host_bytes_by = WORDS;
    return SITU_STATUS_OK;
  }
  copy_until(text + 1, skip_blanks(colon + 1), ends);
  if (!strpbrk(text, "0123456789")) return SITU_STATUS_OK; /* no product */
  const char *item = text + 1;
  if (!gpus && take_count(&item) != 1)
    return bad(m, text + 1,
               "is not one processor; describe such a machine in one line, as in \"2x EPYC 7713, 512GB, 8x RTX 4090\"");
  if (!gpus) return take_host(m, text);
  for (const char *at = colon + 1; at; at = strchr(at, ','), at = at ? at + 1 : NULL) { /* "RTX 4090, RTX 3090" */
    const char *whole = skip_blanks(at);
    int64_t count = take_count(&at);
    copy_until(text, skip_blanks(at), ends);
    if (!strpbrk(text, "0123456789") || has_no_name(text)) continue;
    if (count < 1 || count > MACHINE_GPUS)
      return bad(m, whole, "is a number of GPUs that no machine has; expected 1 to 64");
    for (int64_t k = 0; k < count; k++) TRY(next_gpu(m, &gpu, WORDS, text));
  }
  return SITU_STATUS_OK;
}

static situ_status take_named(machine *m, const field *f) {
  static const char *const ends[] = {" (", NULL};
  char name[NAME_BYTES];
  machine_gpu *gpu;
  bool numbered = f->index >= 0 && f->index < MACHINE_GPUS;
  copy_until(name, f->text, ends);
  m->names_numbers |= numbered;
  if (has_no_name(name)) return SITU_STATUS_OK;
  TRY(next_gpu(m, &gpu, f->tool, name));
  if (numbered) m->named[f->index] = m->listed;
  return SITU_STATUS_OK;
}

/* A line "key: value" of a tool. */
static situ_status take_field(machine *m, const field *f) {
  bool numbered = f->index >= 0 && f->index < MACHINE_GPUS;
  machine_gpu *gpu = m->listed > 0 ? &m->gpus->gpu[m->listed - 1] : NULL;
  if (f->kind == FIELD_GPU || f->kind == FIELD_CHIP) return take_named(m, f);
  if (f->kind == FIELD_HOST) {
    const situ_device_kind_info *row = catalogue_find_within(f->text, "cpu");
    m->host = row ? row : m->host;
  } else if (numbered && f->kind == FIELD_TOTAL) {
    m->total_mib[f->index] = f->number;
  } else if (numbered && f->kind == FIELD_USED) {
    m->used_mib[f->index] = f->number;
  } else if (gpu && f->kind == FIELD_TOTAL) {
    fit_size(gpu, f->number);
  } else if (gpu && f->kind == FIELD_FREE) {
    take_free_bytes(gpu, f->number * MIB, f->tool);
  } else if (gpu && (f->kind == FIELD_GENERATION || f->kind == FIELD_LANES)) {
    *(f->kind == FIELD_LANES ? &gpu->lanes : &gpu->generation) = lanes_of(f->number);
    gpu->lanes_by = f->tool;
  }
  return SITU_STATUS_OK;
}

/* Memory of GPUs by their numbers. */
static void take_numbered(machine *m) {
  for (int k = 0; k < MACHINE_GPUS; k++) {
    int g = m->names_numbers ? m->named[k] - 1 : k;
    if (g < 0 || g >= m->gpus->n || m->total_mib[k] <= m->used_mib[k]) continue;
    fit_size(&m->gpus->gpu[g], m->total_mib[k]);
    if (m->used_mib[k] > 0) take_free_bytes(&m->gpus->gpu[g], (m->total_mib[k] - m->used_mib[k]) * MIB, "rocm-smi");
  }
}

static situ_status take_line(machine *m, const char *line) {
  static const char *const displays[] = {"VGA compatible controller", "3D controller", "Display controller",
                                         "Processing accelerators"};
  const char *bare = skip_blanks(line);
  if (bare == line) m->below_gpu = false;
  if (*line == '|' && strstr(line, ":gpu:")) return take_sycl(m, line);
  if (*line == '|') {
    TRY(take_table_name(m, line));
    take_table_memory(m, line);
    return SITU_STATUS_OK;
  }
  field f = field_of_line(&m->fields, line);
  if (f.kind != FIELD_NONE) return take_field(m, &f);
  if (begins(line, "GPU ")) return take_list(m, line);
  if (begins(line, "GPU") && ascii_is_digit(line[3])) take_topology(m, line);
  if (begins(bare, "Model name:")) return take_host(m, line);
  if (begins(bare, "Mem:")) take_free(m, line);
  if (begins(bare, "MemAvailable:")) {
    m->host_bytes = number_before(line, " kB") * 1024;
    m->host_bytes_by = "/proc/meminfo";
  }
  if (begins(bare, "LnkSta:")) take_lanes(m, line);
  if (strstr(line, " MiB free)")) return take_llama(m, line);
  bool taken = false;
  TRY(take_log(m, line, &taken));
  if (!taken) TRY(take_words(m, bare, &taken));
  if (taken) return SITU_STATUS_OK;
  for (size_t k = 0; k < sizeof displays / sizeof displays[0]; k++)
    if (strstr(line, displays[k])) return take_lspci(m, line);
  if (strstr(line, "name") && strchr(line, ',') && (strstr(line, "memory.") || strstr(line, "pcie.")))
    take_header(m, line);
  else if (m->n_columns > 0 && strchr(line, ','))
    return take_row(m, line);
  return SITU_STATUS_OK;
}

static situ_status take_lines(machine *m, const char *text) {
  char line[LINE_BYTES];
  bool json = text[strspn(text, " \t\r\n")] == '{';
  for (const char *at = text; *at;) {
    while (!json && *at == '>') at += at[1] == ' ' ? 2 : 1; /* a quotation */
    size_t n = strcspn(at, json ? "\r\n,{" : "\r\n");
    snprintf(line, sizeof line, "%.*s", (int)(n < sizeof line ? n : sizeof line - 1), at);
    m->line++;
    TRY(take_line(m, line));
    at += n;
    if (*at == '\r') at++;
    if (*at == '\n' || *at == ',' || *at == '{') at++;
  }
  take_numbered(m);
  if (m->gpus->n > 0 || m->host || m->lenient) return SITU_STATUS_OK;
  return fail_with(m->error, SITU_STATUS_BAD_INPUT, m->path,
                   "names no device; expected a platform file, outputs of nvidia-smi, rocm-smi, rocminfo, vulkaninfo, "
                   "system_profiler, llama-server --list-devices, lspci or lscpu, a log of llama.cpp, or lines such as "
                   "GPU: RTX 3090");
}

bool machine_gpus_add(machine_gpus *into, const char *text) {
  machine m = {.path = "", .gpus = into, .lenient = true};
  situ_error why; /* of what contradicts */
  m.error = &why;
  return take_lines(&m, text) != SITU_STATUS_NO_MEMORY;
}

/* ---- the platform ---- */

const char *machine_gpu_bus(char into[32], const machine_gpu *gpu) {
  const char *usual = gpu->row->bus;
  int generation = gpu->generation > 5 ? 5 : gpu->generation;
  if (gpu->lanes == 0) return usual;
  if (generation == 0 && sscanf(usual, "pcie%d", &generation) != 1) return usual;
  if (generation < 3) { /* rates halve with each generation, so lanes of an older one are half of a newer one's */
    snprintf(into, 32, "pcie3x%d",
             gpu->lanes >> (3 - generation) >= 8   ? 8
             : gpu->lanes >> (3 - generation) >= 4 ? 4
                                                   : 1);
    return into;
  }
  snprintf(into, 32, gpu->lanes >= 16 ? "pcie%d" : "pcie%dx%d", generation,
           gpu->lanes >= 8   ? 8
           : gpu->lanes >= 4 ? 4
                             : 1);
  return into;
}

const char *machine_gpu_fabric(const machine_gpu *gpu) {
  return gpu->row && gpu->row->fabric ? gpu->row->fabric : "nvlink-bridge";
}

const char *machine_gpu_source(char *into, size_t n, const machine_gpu *gpu) {
  int used = snprintf(into, n, "named by %s; rates and launch: %s of the catalogue (%.160s)", gpu->named_by,
                      gpu->row->name, gpu->row->source);
  if (gpu->memory_by && used > 0 && (size_t)used < n)
    snprintf(into + used, n - (size_t)used, "; memory: what is free by %s", gpu->memory_by);
  return into;
}

const char *machine_lanes_source(char *into, size_t n, const machine_gpu *gpu) {
  char bus[32];
  const situ_link_kind_info *kind = link_kind_find(machine_gpu_bus(bus, gpu));
  if (gpu->lanes > 0 && gpu->generation > 0)
    snprintf(into, n, "generation %d and %d lanes by %s: %s", gpu->generation, gpu->lanes, gpu->lanes_by, kind->name);
  else if (gpu->lanes > 0)
    snprintf(into, n, "%d lanes by %s, generation of the catalogue: %s", gpu->lanes, gpu->lanes_by, kind->name);
  else
    snprintf(into, n, "%s, as %s has in the catalogue", kind->name, gpu->row->name);
  return into;
}

static bool add_link(json_value *links, const char *from, const char *to, const char *kind, const char *source) {
  return json_push(links, JSON_OBJECT({"from", json_new_text(from)}, {"to", json_new_text(to)},
                                      {"kind", json_new_text(kind)}, {"source", json_new_text(source)}));
}

/* A machine with few cards, some of which are sold for desktops, or with an integrated GPU, is no server. */
static bool is_desktop(const machine_gpus *gpus) {
  static const char *const sold[] = {"GeForce", "Radeon RX", "Intel Arc"};
  bool some = false;
  for (int g = 0; g < gpus->n; g++) {
    const char *title = gpus->gpu[g].row->title;
    some |= gpus->gpu[g].row->integrated || strstr(title, sold[0]) || strstr(title, sold[1]) || strstr(title, sold[2]);
  }
  return some && gpus->n <= 3;
}

/* The memory of a host that nothing names: what its integrated GPU has of it in the catalogue; 0: none tells. */
static int64_t integrated_bytes(const machine_gpus *gpus) {
  int64_t bytes = 0;
  for (int g = 0; g < gpus->n; g++)
    if (gpus->gpu[g].row->integrated && gpus->gpu[g].row->memory_bytes > bytes) bytes = gpus->gpu[g].row->memory_bytes;
  return bytes;
}

static json_value *host_tree(const machine *m) {
  const situ_device_kind_info *row = m->host ? m->host : catalogue_find(is_desktop(m->gpus) ? "desktop" : "cpu");
  char source[SOURCE_BYTES];
  int used = snprintf(source, sizeof source, "%s; rates and launch: %s of the catalogue (%.160s)",
                      m->host ? "named by the text" : "not named: a generic CPU", row->name, row->source);
  if (m->host_bytes > 0)
    snprintf(source + used, sizeof source - (size_t)used, "; memory: what is available by %s", m->host_bytes_by);
  int64_t bytes = m->host_bytes > 0 ? m->host_bytes : m->host ? 0 : integrated_bytes(m->gpus);
  return JSON_OBJECT({"name", json_new_text("cpu")}, {"base", json_new_text(row->name)},
                     {"source", json_new_text(source)},
                     {"memory_bytes", bytes > 0 ? json_new_int(bytes) : JSON_ABSENT});
}

static json_value *gpu_tree(const machine_gpu *gpu, const char *name) {
  bool alone = gpu->row->family == SITU_FAMILY_GPU_APPLE; /* see mac_tree */
  bool shares = gpu->row->integrated && !alone, known = !shares && gpu->free_bytes > 0 && !alone;
  char source[SOURCE_BYTES];
  return JSON_OBJECT({"name", json_new_text(name)}, {"base", json_new_text(gpu->row->name)},
                     {"source", json_new_text(machine_gpu_source(source, sizeof source, gpu))},
                     {"shares_capacity_with", shares ? json_new_text("cpu") : JSON_ABSENT},
                     {"memory_bytes", known ? json_new_int(gpu->free_bytes) : JSON_ABSENT});
}

/* A Mac is its GPU, with what Metal grants it of the memory that it shares with the CPU. */
static bool is_mac(const machine *m) { return m->gpus->n == 1 && m->gpus->gpu[0].row->family == SITU_FAMILY_GPU_APPLE; }

static json_value *mac_tree(const machine *m) {
  const machine_gpu *gpu = &m->gpus->gpu[0];
  json_value *device = gpu_tree(gpu, "gpu0");
  int64_t installed = m->host_bytes > 0 ? m->host_bytes : gpu->row->memory_bytes;
  int64_t bytes = gpu->free_bytes > 0 ? gpu->free_bytes : catalogue_granted_bytes(gpu->row, installed);
  return json_if(json_set(device, "memory_bytes", json_new_int(bytes)), device);
}

static bool add_devices(const machine *m, json_value *devices, json_value *links) {
  const machine_gpus *gpus = m->gpus;
  if (is_mac(m)) return json_push(devices, mac_tree(m));
  bool ok = json_push(devices, host_tree(m));
  for (int g = 0; ok && g < gpus->n; g++) {
    char name[16], bus[32], peer[16], source[SOURCE_BYTES];
    snprintf(name, sizeof name, "gpu%d", g);
    ok = json_push(devices, gpu_tree(&gpus->gpu[g], name));
    machine_lanes_source(source, sizeof source, &gpus->gpu[g]);
    ok = ok && add_link(links, "cpu", name, machine_gpu_bus(bus, &gpus->gpu[g]), source);
    for (int other = 0; other < g && ok; other++) {
      if (!gpus->nvlink[g][other] && !gpus->nvlink[other][g]) continue;
      snprintf(peer, sizeof peer, "gpu%d", other);
      ok = add_link(links, name, peer, machine_gpu_fabric(&gpus->gpu[g]), "nvidia-smi topo -m");
    }
  }
  return ok;
}

/* A line with numbers may be a machine in words, as `situ platform` takes it. */
static bool is_one_line(const char *text) {
  size_t n = strcspn(text, "\r\n");
  return n < LINE_BYTES && strcspn(text, "0123456789") < n && !memchr(text, ':', n) &&
         text[n + strspn(text + n, " \t\r\n")] == '\0';
}

static situ_status read_line(situ_platform **out, const char *text, situ_error *error) {
  char line[LINE_BYTES];
  snprintf(line, sizeof line, "%.*s", (int)strcspn(text, "\r\n"), text);
  return platform_from_name(out, line, error);
}

situ_status platform_from_text(situ_platform **out, const char *text, const char *path, situ_error *error) {
  machine *m = calloc(1, sizeof *m);
  *out = NULL;
  if (m) m->gpus = calloc(1, sizeof *m->gpus);
  if (!m || !m->gpus) {
    free(m);
    return fail_no_memory(error);
  }
  m->path = path;
  m->error = error;
  situ_status status = take_lines(m, text);
  if (status == SITU_STATUS_BAD_INPUT && is_one_line(text) && m->gpus->n == 0) {
    free(m->gpus);
    free(m);
    return read_line(out, text, error);
  }
  json_value *devices = json_new_array(), *links = json_new_array();
  bool ok = status == SITU_STATUS_OK && add_devices(m, devices, links);
  bool unnamed = strncmp(path, "/dev/fd/", strlen("/dev/fd/")) == 0; /* standard input of the tool */
  json_value *root =
      JSON_OBJECT({"situ_platform", json_new_int(1)}, {"name", json_new_text(unnamed ? "machine" : file_name(path))},
                  {"devices", devices}, {"links", links});
  if (status == SITU_STATUS_OK)
    status = ok && root ? platform_from_json(out, root, path, error) : fail_no_memory(error);
  json_free(root);
  free(m->gpus);
  free(m);
  return status;
}
