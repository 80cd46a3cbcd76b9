#include "engine/profile.h"

#include <stdlib.h>
#include <string.h>

#include "base/ascii.h"
#include "base/checked.h"
#include "base/compare.h"
#include "base/fail.h"
#include "base/resize.h"
#include "base/sort.h"

enum { NAME_BYTES = 512 };
static const char *const KERNEL = "_kernel_time";

/* One kernel of one run. */
typedef struct kernel {
  int64_t ts_us, duration_ns;
  int32_t node; /* -1: not known */
} kernel;

typedef struct reading {
  const model_parts *parts;
  arena *a;
  situ_error *error;
  string_map *by_name; /* node + 1, by its name in the file */
  string_map *known;   /* name of an event -> node + 1; 0: none */
  kernel *run;         /* of the current run */
  int64_t n_run, run_room;
  int64_t *times_ns; /* [run * n_nodes + node] */
  int32_t n_runs, n_skipped, n_read, max_runs;
  bool *seen, named;
} reading;

int64_t median_of(int64_t *values, int32_t n, int64_t *half) {
  sort64(values, n);
  if (half) *half = n > 0 ? (values[3 * (n - 1) / 4] - values[(n - 1) / 4]) / 2 : 0;
  return n == 0 ? 0 : n % 2 ? values[n / 2] : values[n / 2 - 1] + (values[n / 2] - values[n / 2 - 1]) / 2;
}

/* The node called "n<i>". */
static int32_t numbered(const reading *r, const char *name) {
  char *end;
  if (name[0] != 'n' || !ascii_is_digit(name[1])) return -1;
  long i = strtol(name + 1, &end, 10);
  return *end == '\0' && i >= 0 && i < r->parts->file->n_nodes ? (int32_t)i : -1;
}

/* A node by its name or by that of one of its outputs, removing suffixes one by one. */
static int32_t find_node(const reading *r, char *name) {
  const model_file *f = r->parts->file;
  for (;;) {
    int32_t node = numbered(r, name);
    int64_t value = string_map_get(f->by_name, name), own = string_map_get(r->by_name, name);
    if (!r->named && own > 0) return (int32_t)own - 1;
    if (r->named && node >= 0) return node;
    if (value >= 0 && f->values[value].maker >= 0) return f->values[value].maker;
    char *cut = name + strlen(name);
    while (cut > name && *cut != '_' && *cut != '/') cut--;
    if (cut == name) return -1;
    *cut = '\0';
  }
}

/* Whether an engine's name of a kernel, without the marks of fusion, means this kind. */
static bool is_kind(const char *kernel_kind, const char *kind) {
  static const char *const marks[] = {"Fused", "Nhwc", "QLinear", ""};
  for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
    size_t n = strlen(marks[i]);
    if (strncmp(kernel_kind, marks[i], n) == 0 && strcmp(kernel_kind + n, kind) == 0) return true;
  }
  return strncmp(kernel_kind, "NhwcFused", 9) == 0 && strcmp(kernel_kind + 9, kind) == 0;
}

/* A fusion named by its last output belongs to the node of the kernel's kind: the first such upstream along nodes with
 * one reader. */
static int32_t find_kind(const reading *r, int32_t node, const char *kind) {
  enum { MAX_FUSED = 8 };
  const model_file *f = r->parts->file;
  int32_t at = node;
  for (int i = 0; i < MAX_FUSED; i++) {
    int32_t next = -1;
    if (is_kind(kind, f->kind[at])) return at;
    for (int32_t k = f->reads.start[at]; k < f->reads.start[at + 1]; k++) {
      int32_t maker = f->values[f->reads.item[k]].maker;
      if (maker < 0 || r->parts->part_of[maker] < 0) continue;
      if (next < 0 || is_kind(kind, f->kind[maker])) next = maker;
    }
    if (next < 0) return node;
    at = next;
  }
  return node;
}

static situ_status node_of(reading *r, const json_value *event, const char *name, int32_t *node) {
  char text[NAME_BYTES];
  size_t n = strlen(name), end = strlen(KERNEL);
  *node = -1;
  if (n < end || strcmp(name + n - end, KERNEL) != 0 || n - end >= sizeof text) return SITU_STATUS_OK;
  int64_t known = string_map_get(r->known, name);
  if (known < 0) {
    const char *kind = json_text(json_get(json_get(event, "args"), "op_name"), "");
    memcpy(text, name, n - end);
    text[n - end] = '\0';
    *node = strncmp(kind, "Reorder", 7) == 0 || strncmp(kind, "Memcpy", 6) == 0 ? -1 : find_node(r, text);
    if (*node >= 0) *node = find_kind(r, *node, kind);
    known = *node + 1;
    char *key = arena_string(r->a, name);
    if (!key || string_map_put(r->known, key, known) < 0) return fail_no_memory(r->error);
  }
  *node = (int32_t)known - 1;
  return SITU_STATUS_OK;
}

static situ_status add_kernel(reading *r, const json_value *event, const char *name) {
  kernel k = {json_int(json_get(event, "ts"), 0), sat_round(1000 * json_number(json_get(event, "dur"), 0)), -1};
  size_t n = strlen(name), end = strlen(KERNEL);
  if (n < end || strcmp(name + n - end, KERNEL) != 0 || k.duration_ns < 0) return SITU_STATUS_OK;
  TRY(node_of(r, event, name, &k.node));
  if (k.node >= 0 && r->parts->file->has_body[k.node]) /* its time includes what ran within it */
    while (r->n_run > 0 && r->run[r->n_run - 1].ts_us >= k.ts_us) r->n_run--;
  if (r->n_run == r->run_room) {
    r->run_room = r->run_room ? 2 * r->run_room : 1024;
    if (!array_resize(&r->run, r->run_room, sizeof *r->run)) return fail_no_memory(r->error);
  }
  r->run[r->n_run++] = k;
  return SITU_STATUS_OK;
}

/* A kernel that the engine named by its own numbers: WORD_NUMBER. */
typedef struct numbered_kernel {
  const char *name, *kind; /* name: of the event */
  long number;
} numbered_kernel;

COMPARATOR(by_number, numbered_kernel, UP(number))

/* The number before the word that all kernels end with; -1: none. */
static long number_of(const char *name) {
  size_t end = strlen(name) - strlen(KERNEL), at = end;
  while (at > 0 && ascii_is_digit(name[at - 1])) at--;
  return at < end && at > 0 && name[at - 1] == '_' ? strtol(name + at, NULL, 10) : -1;
}

/* Matches the kernels of a kind with the nodes of that kind that no kernel is named after, in order, if there are as
 * many of both. */
static situ_status match_kind(reading *r, const numbered_kernel *all, int32_t n, const char *kind, const bool *used) {
  const model_parts *p = r->parts;
  int32_t n_nodes = 0, n_kernels = 0, k = 0;
  for (int32_t i = 0; i < n; i++) n_kernels += strcmp(all[i].kind, kind) == 0;
  for (int pass = 0; pass < 2; pass++)
    for (int32_t i = 0; i < p->file->n_nodes; i++) {
      int32_t v = p->order[i];
      if (used[v] || p->part_of[v] < 0 || strcmp(p->file->kind[v], kind) != 0) continue;
      n_nodes += pass == 0;
      if (pass == 0 || n_nodes != n_kernels) continue;
      while (strcmp(all[k].kind, kind) != 0) k++;
      if (string_map_set(r->known, all[k++].name, v + 1) < 0) return fail_no_memory(r->error);
    }
  return SITU_STATUS_OK;
}

/* Nodes that an engine creates while it optimises (OpenVINO: a convolution with a normalisation in it) have numbers in
 * the order of the model. */
static situ_status match_numbered(reading *r, const json_value *events) {
  int32_t n = 0, n_events = (int32_t)json_size(events);
  numbered_kernel *all = ARENA_NEW(r->a, numbered_kernel, n_events);
  bool *used = ARENA_ZERO(r->a, bool, r->parts->file->n_nodes);
  if (!all || !used) return fail_no_memory(r->error);
  for (int32_t i = 0; i < n_events; i++) {
    const json_value *event = json_at(events, (size_t)i);
    const char *name = json_text(json_get(event, "name"), "");
    const char *kind = json_text(json_get(json_get(event, "args"), "op_name"), "");
    int32_t node;
    if (strcmp(json_text(json_get(event, "cat"), ""), "Node") != 0 || string_map_get(r->known, name) >= 0) continue;
    TRY(node_of(r, event, name, &node));
    if (node >= 0) used[node] = true;
    if (node < 0 && *kind && string_map_get(r->known, name) == 0 && number_of(name) >= 0)
      all[n++] = (numbered_kernel){name, kind, number_of(name)};
  }
  if (n > 1) qsort(all, (size_t)n, sizeof *all, by_number);
  for (int32_t i = 0; i < n; i++) {
    bool first = true;
    for (int32_t k = 0; k < i && first; k++) first = strcmp(all[k].kind, all[i].kind) != 0;
    if (first) TRY(match_kind(r, all, n, all[i].kind, used));
  }
  return SITU_STATUS_OK;
}

/* Unknown kernels count to the known one before them, leading ones to the first known one. */
static void end_run(reading *r) {
  int32_t last = -1, run = r->n_read++ - r->n_skipped;
  for (int64_t i = 0; i < r->n_run && last < 0; i++) last = r->run[i].node;
  if (run >= 0 && run < r->max_runs) {
    int64_t *times_ns = r->times_ns + (int64_t)run * r->parts->file->n_nodes;
    for (int64_t i = 0; i < r->n_run && last >= 0; i++) {
      if (r->run[i].node >= 0) last = r->run[i].node;
      times_ns[last] = sat_add(times_ns[last], r->run[i].duration_ns);
      r->seen[last] = true;
    }
    r->n_runs = run + 1;
  }
  r->n_run = 0;
}

static bool is_run(const char *name) { return strcmp(name, "model_run") == 0; }

static situ_status read_events(reading *r, const json_value *events) {
  for (size_t i = 0; i < json_size(events); i++) {
    const json_value *event = json_at(events, i);
    const char *name = json_text(json_get(event, "name"), ""), *category = json_text(json_get(event, "cat"), "");
    if (strcmp(category, "Node") == 0) TRY(add_kernel(r, event, name));
    if (is_run(name)) end_run(r);
  }
  return SITU_STATUS_OK;
}

static situ_status sum_up(node_times *out, reading *r) {
  int32_t n = r->parts->file->n_nodes, runs = r->n_runs;
  int64_t *values = ARENA_NEW(r->a, int64_t, runs), half;
  if (!values) return fail_no_memory(r->error);
  out->n_runs = runs;
  out->seen = r->seen;
  for (int32_t v = 0; v < n; v++) {
    for (int32_t i = 0; i < runs; i++) values[i] = r->times_ns[(int64_t)i * n + v];
    out->median_ns[v] = median_of(values, runs, &half);
    out->spread[v] = out->median_ns[v] > 0 ? (double)half / (double)out->median_ns[v] : 0;
  }
  for (int32_t i = 0; i < runs; i++) {
    values[i] = 0;
    for (int32_t v = 0; v < n; v++) values[i] = sat_add(values[i], r->times_ns[(int64_t)i * n + v]);
  }
  out->total_ns = median_of(values, runs, NULL);
  return SITU_STATUS_OK;
}

situ_status profile_read(node_times *out, const json_value *events, const model_parts *parts, int32_t n_skipped,
                         bool named, arena *a, situ_error *error) {
  int32_t n = parts->file->n_nodes;
  reading r = {.parts = parts, .a = a, .error = error, .n_skipped = n_skipped, .named = named};
  for (size_t i = 0; i < json_size(events) && r.max_runs < (1 << 16); i++)
    r.max_runs += is_run(json_text(json_get(json_at(events, i), "name"), ""));
  r.max_runs -= n_skipped;
  if (r.max_runs <= 0)
    return fail_with(error, SITU_STATUS_BAD_INPUT, "profile", "has no run after the first %d", (int)n_skipped);
  r.known = string_map_new(a, n);
  r.by_name = string_map_new(a, n);
  for (int32_t v = 0; r.by_name && v < n; v++)
    if (*parts->file->nodes[v].name && string_map_put(r.by_name, parts->file->nodes[v].name, v + 1) < 0)
      return fail_no_memory(error);
  if (!r.known || !r.by_name ||
      !ARENA_ARRAYS(a, ZEROS(r.times_ns, (int64_t)r.max_runs * n), ZEROS(r.seen, n), ZEROS(out->median_ns, n),
                    ZEROS(out->spread, n)))
    return fail_no_memory(error);
  situ_status status = match_numbered(&r, events);
  if (status == SITU_STATUS_OK) status = read_events(&r, events);
  if (status == SITU_STATUS_OK) status = sum_up(out, &r);
  free(r.run);
  return status;
}
