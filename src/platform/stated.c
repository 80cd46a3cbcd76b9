#include "platform/stated.h"

#include <stdio.h>
#include <string.h>

#include "base/ascii.h"
#include "base/fail.h"
#include "base/text.h"

enum { NAME_BYTES = 96 };
static const char EXPECTED[] =
    "expected memory, bandwidth and FLOP/s in 16 bits, as in gpu(16GB,900GB/s,90TF); or TB/s, and TOPS in INT8";

typedef struct figures {
  double memory_bytes, bytes_per_s, flops, int8;
} figures;

static const struct {
  const char *unit;
  size_t offset;
  double factor;
} units[] = {{"GB/s", offsetof(figures, bytes_per_s), 1e9}, {"TB/s", offsetof(figures, bytes_per_s), 1e12},
             {"GB", offsetof(figures, memory_bytes), 1e9},  {"TB", offsetof(figures, memory_bytes), 1e12},
             {"TFLOPS", offsetof(figures, flops), 1e12},    {"TF", offsetof(figures, flops), 1e12},
             {"GFLOPS", offsetof(figures, flops), 1e9},     {"TOPS", offsetof(figures, int8), 1e12}};

/* One figure, "900GB/s"; false if it is none. */
static bool take_figure(figures *f, const char **at) {
  double number;
  const char *unit = text_scan_number(*at, &number);
  if (!unit || !(number > 0)) return false;
  while (ascii_is_blank(*unit)) unit++;
  size_t n = strcspn(unit, ",)");
  while (n > 0 && ascii_is_blank(unit[n - 1])) n--;
  for (size_t k = 0; k < sizeof units / sizeof units[0]; k++) {
    if (strlen(units[k].unit) != n || !ascii_same_n(units[k].unit, unit, n)) continue;
    *(double *)((char *)f + units[k].offset) = number * units[k].factor;
    *at = unit + strcspn(unit, ",)");
    return true;
  }
  return false;
}

static void apply(situ_device_kind_info *row, const figures *f) {
  if (f->memory_bytes > 0) row->memory_bytes = (int64_t)(f->memory_bytes + 0.5);
  if (f->bytes_per_s > 0) row->memory_bytes_per_s = f->bytes_per_s;
  if (f->flops > 0) {
    row->peak_flops[SITU_DTYPE_F16] = row->peak_flops[SITU_DTYPE_BF16] = f->flops;
    row->peak_flops[SITU_DTYPE_F32] = f->flops / 2;
  }
  if (f->int8 > 0) row->peak_flops[SITU_DTYPE_I8] = row->peak_flops[SITU_DTYPE_U8] = f->int8;
}

/* What devices of a kind have by default: launch, family and link of the row that stands for it. */
static const situ_device_kind_info *model_of(const char *kind) {
  if (ascii_same(kind, "gpu")) return catalogue_find("rtx4090-24g");
  if (ascii_same(kind, "npu")) return catalogue_find("npu-200v");
  return ascii_same(kind, "cpu") ? catalogue_find("cpu") : NULL;
}

bool stated_kind(const char *word) { return model_of(word); }

situ_status stated_row(const situ_device_kind_info **out, const char **at, const char *kind,
                       const situ_device_kind_info *base, const char *platform, arena *a, situ_error *error) {
  const char *begin = *at;
  figures f = {0};
  bool generic = model_of(kind) && (!base || ascii_same(base->name, "cpu"));
  const situ_device_kind_info *model = generic ? model_of(kind) : base;
  char name[NAME_BYTES];
  situ_device_kind_info *row = ARENA_NEW(a, situ_device_kind_info, 1);
  *out = NULL;
  if (!row) return fail_no_memory(error);
  bool good = model;
  for (bool more = true; good && more; more = **at == ',' && ++*at) {
    while (ascii_is_blank(**at)) ++*at;
    good = take_figure(&f, at);
  }
  good = good && **at == ')';
  bool whole = f.memory_bytes > 0 && f.bytes_per_s > 0 && (f.flops > 0 || f.int8 > 0);
  if (!good || (generic && !whole) || f.memory_bytes > 1e16 || f.bytes_per_s > 1e16 || f.flops > 1e18 || f.int8 > 1e18)
    return fail_with(error, SITU_STATUS_BAD_ARGUMENT, platform, "figures of %.40s: %s", kind, EXPECTED);
  ++*at;
  *row = *model;
  if (generic) {
    memset(row->peak_flops, 0, sizeof row->peak_flops);
    row->integrated = false;
    row->fabric = NULL;
    if (!ascii_same(kind, "cpu")) row->bus = "pcie4";
  }
  apply(row, &f);
  if (strcmp(row->kind, "cpu") == 0 && f.flops > 0) {
    row->peak_flops[SITU_DTYPE_F32] = f.flops;
    row->peak_flops[SITU_DTYPE_F64] = f.flops / 2;
    row->peak_flops[SITU_DTYPE_F16] = row->peak_flops[SITU_DTYPE_BF16] = 0;
  }
  snprintf(name, sizeof name, "%.40s(%.*s", kind, (int)(*at - begin), begin);
  row->name = arena_string(a, name);
  *out = row;
  return row->name ? SITU_STATUS_OK : fail_no_memory(error);
}
