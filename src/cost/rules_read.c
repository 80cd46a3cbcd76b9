/* Rules files: docs/formats/rules.md and rules.schema.json. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/ascii.h"
#include "base/checked.h"
#include "base/dtype.h"
#include "base/fail.h"
#include "base/glob.h"
#include "base/near_name.h"
#include "cost/rules.h"
#include "graph/graph.h"
#include "platform/platform.h"
#include "platform/platform_fields.h"

enum { FORMAT_VERSION = 1, PLACE_BYTES = 96, MAX_NAMES = 64 };
static const double MAX_FACTOR = 1e6;

typedef struct reader {
  rule_set *r;
  const char *where;
  const situ_graph *graph;
  const situ_platform *platform, *members; /* members: of which it has groups; NULL: it has none */
  log_to log;
  bool *stated;            /* [memory] a reserve is */
  int64_t *headroom_bytes; /* [memory] */
} reader;

typedef struct file_root {
  int64_t version;
  const char *source;
  const json_value *operators, *keep, *cuts, *devices, *headroom;
} file_root;

static const field root_fields[] = {
    {"situ_rules", FIELD_WHOLE, offsetof(file_root, version), 0, FORMAT_VERSION},
    {"source", FIELD_TEXT, offsetof(file_root, source), 0, 0},
    {"operators", FIELD_TREE, offsetof(file_root, operators), 0, 0},
    {"keep_together", FIELD_TREE, offsetof(file_root, keep), 0, 0},
    {"cuts_only_after", FIELD_TREE, offsetof(file_root, cuts), 0, 0},
    {"devices", FIELD_TREE, offsetof(file_root, devices), 0, 0},
    {"headroom", FIELD_TREE, offsetof(file_root, headroom), 0, 0},
};

typedef struct file_rule {
  const json_value *kind, *name, *on, *not_on, *factor;
} file_rule;

static const field rule_fields[] = {
    {"kind", FIELD_TREE, offsetof(file_rule, kind), 0, 0},
    {"name", FIELD_TREE, offsetof(file_rule, name), 0, 0},
    {"on", FIELD_TREE, offsetof(file_rule, on), 0, 0},
    {"not_on", FIELD_TREE, offsetof(file_rule, not_on), 0, 0},
    {"time_factor", FIELD_TREE, offsetof(file_rule, factor), 0, 0},
};

typedef struct file_device {
  const json_value *reserve, *precision;
  double efficiency;
} file_device;

static const field device_fields[] = {
    {"reserve", FIELD_TREE, offsetof(file_device, reserve), 0, 0},
    {"efficiency", FIELD_RATE, offsetof(file_device, efficiency), 1, 0},
    {"precision", FIELD_TREE, offsetof(file_device, precision), 0, 0},
};

#define COUNT_OF(array) ((int)(sizeof(array) / sizeof((array)[0])))

/* ---- words: a text, or a list of texts ---- */

static int32_t n_words(const json_value *v) {
  return json_kind_of(v) == JSON_ARRAY_KIND ? (int32_t)json_size(v) : v != NULL;
}

static const char *word_at(const json_value *v, int32_t i) {
  return json_text(json_kind_of(v) == JSON_ARRAY_KIND ? json_at(v, (size_t)i) : v, "");
}

static situ_status check_words(const reader *x, const json_value *v, const char *place, const char *key,
                               situ_error *error) {
  bool good = !v || n_words(v) > 0;
  for (int32_t i = 0; good && i < n_words(v); i++) good = word_at(v, i)[0] != '\0';
  return good ? SITU_STATUS_OK
              : fields_fail(error, x->where, place, "\"%s\" must be a text, or a list of texts, none of them empty",
                            key);
}

static bool any_matches(const json_value *words, const char *name) {
  for (int32_t i = 0; i < n_words(words); i++)
    if (glob_matches(word_at(words, i), name)) return true;
  return !words;
}

/* ---- devices by name, class or type ---- */

static const char *const types[] = {"cpu", "gpu", "npu"};

static const char *type_of(const situ_device *d) {
  switch (d->family) {
    case SITU_FAMILY_CPU:
    case SITU_FAMILY_CPU_AVX512:
    case SITU_FAMILY_CPU_AMX: return "cpu";
    case SITU_FAMILY_NPU: return "npu";
    case SITU_FAMILY_NONE: return d->is_host ? "cpu" : "gpu";
    default: return "gpu";
  }
}

static void add_name(const char *names[MAX_NAMES], int32_t *n, const char *name) {
  for (int32_t i = 0; i < *n; i++)
    if (strcmp(names[i], name) == 0) return;
  if (*n < MAX_NAMES) names[(*n)++] = name;
}

static situ_status no_device(const reader *x, const char *place, const char *word, situ_error *error) {
  const situ_platform *p = x->platform;
  const char *names[MAX_NAMES];
  char near[160];
  int32_t n = 0;
  for (int i = 0; i < COUNT_OF(types); i++) add_name(names, &n, types[i]);
  for (int32_t k = 0; k < p->n_classes; k++) add_name(names, &n, p->class_name[k]);
  for (int32_t d = 0; d < p->n_devices; d++) add_name(names, &n, p->devices[d].name);
  near_names(near, sizeof near, word, names, n);
  return fields_fail(error, x->where, place, "no device, class or type of devices is called \"%.60s\"; %s", word, near);
}

/* The device of this name, or the group with a member of this name; -1: there is neither. */
static int32_t find_named(const reader *x, const char *word) {
  const situ_platform *p = x->platform;
  int32_t exact = situ_platform_find(p, word), member = situ_platform_find(x->members, word);
  if (exact >= 0 || member < 0) return exact;
  int32_t d = 0;
  for (int32_t last = platform_members(p, 0); last <= member; last += platform_members(p, d)) d++;
  return d;
}

/* Marks the devices that a word selects: the one of that name, else all whose name or class matches, or all of that
 * type. A type without devices gives a warning. */
static situ_status mark_devices(const reader *x, bool *marked, const char *word, const char *place, situ_error *error) {
  const situ_platform *p = x->platform;
  int32_t exact = find_named(x, word), n = 0;
  bool is_type = false;
  for (int i = 0; i < COUNT_OF(types); i++) is_type |= strcmp(types[i], word) == 0;
  for (int32_t d = 0; d < p->n_devices; d++) {
    const situ_device *device = &p->devices[d];
    bool is = exact >= 0 ? d == exact
                         : glob_matches(word, device->name) || glob_matches(word, device->class_name) ||
                               strcmp(word, type_of(device)) == 0;
    marked[d] |= is;
    n += is;
  }
  if (n > 0) return SITU_STATUS_OK;
  if (!is_type) return no_device(x, place, word, error);
  log_line(x->log, SITU_LOG_WARNING, "%s: %s: the platform %s has no %s", x->where, place, p->name, word);
  return SITU_STATUS_OK;
}

static situ_status mark_words(const reader *x, bool *marked, const json_value *words, const char *place,
                              const char *key, situ_error *error) {
  TRY(check_words(x, words, place, key, error));
  for (int32_t i = 0; i < n_words(words); i++) TRY(mark_devices(x, marked, word_at(words, i), place, error));
  return SITU_STATUS_OK;
}

/* ---- operators ---- */

/* Warns that nothing matches, and suggests a kind that may be meant. */
static void warn_unmatched(const reader *x, const char *place, const json_value *kind) {
  const situ_graph *g = x->graph;
  const char *near = kind ? situ_nearest_name(word_at(kind, 0), g->kind_name, g->n_kinds) : NULL;
  bool other = near && !any_matches(kind, near);
  log_line(x->log, SITU_LOG_WARNING, "%s: %s: no operator of the model matches%s%s%s", x->where, place,
           other ? "; did you mean " : "", other ? near : "", other ? "?" : "");
}

/* Finds the operators of a kind and a name, either of which may be absent. False without memory. */
static bool find_members(const reader *x, rule_row *row, const json_value *kind, const json_value *name) {
  const situ_graph *g = x->graph;
  bool *of_kind;
  if (!ARENA_ARRAYS(x->r->arena, ARRAY(of_kind, g->n_kinds), ARRAY(row->member, g->n_operators))) return false;
  for (int32_t k = 0; k < g->n_kinds; k++) of_kind[k] = any_matches(kind, g->kind_name[k]);
  for (int32_t v = 0; v < g->n_operators; v++)
    if (of_kind[g->kind[v]] && any_matches(name, g->name[v])) row->member[row->n++] = v;
  return true;
}

static situ_status read_forbids(const reader *x, rule_row *row, const file_rule *said, const char *place,
                                situ_error *error) {
  int32_t n = x->r->n_devices;
  bool *on = ARENA_ZERO(x->r->arena, bool, n), any = !said->on;
  row->forbids = ARENA_ZERO(x->r->arena, bool, n);
  if (!on || !row->forbids) return fail_no_memory(error);
  TRY(mark_words(x, row->forbids, said->not_on, place, "not_on", error));
  TRY(mark_words(x, on, said->on, place, "on", error));
  for (int32_t d = 0; said->on && d < n; d++) {
    row->forbids[d] |= !on[d];
    any |= on[d];
  }
  return any ? SITU_STATUS_OK
             : fields_fail(error, x->where, place, "\"on\": the platform %.60s has no such device", x->platform->name);
}

static situ_status read_factors(const reader *x, rule_row *row, const json_value *factors, const char *place,
                                situ_error *error) {
  int32_t n = x->r->n_devices;
  bool *marked;
  if (!ARENA_ARRAYS(x->r->arena, ARRAY(marked, n), ARRAY(row->factor, n))) return fail_no_memory(error);
  if (json_kind_of(factors) != JSON_OBJECT_KIND)
    return fields_fail(error, x->where, place, "\"time_factor\" must be an object of device: factor");
  for (int32_t d = 0; d < n; d++) row->factor[d] = 1;
  for (json_member m = {0}; json_next(factors, &m);) {
    double factor = json_number(m.value, -1);
    if (!(factor > 0 && factor <= MAX_FACTOR))
      return fields_fail(error, x->where, place, "the factor of \"%.60s\" must be a number above 0, at most 1e6",
                         m.key);
    memset(marked, 0, (size_t)n * sizeof *marked);
    TRY(mark_devices(x, marked, m.key, place, error));
    for (int32_t d = 0; d < n; d++) {
      if (marked[d]) row->factor[d] *= factor;
      if (row->factor[d] > MAX_FACTOR)
        return fields_fail(error, x->where, place, "the factors of %.60s together must be at most 1e6",
                           x->platform->devices[d].name);
    }
  }
  return SITU_STATUS_OK;
}

static situ_status read_rule(const reader *x, const json_value *tree, const char *place, situ_error *error) {
  file_rule said;
  rule_row *row = &x->r->rows[x->r->n_rows];
  TRY(fields_read(&said, tree, rule_fields, COUNT_OF(rule_fields), x->where, place, error));
  if (!said.kind && !said.name) return fields_fail(error, x->where, place, "needs \"kind\" or \"name\"");
  if (!said.on && !said.not_on && !said.factor)
    return fields_fail(error, x->where, place, "needs \"on\", \"not_on\" or \"time_factor\"");
  TRY(check_words(x, said.kind, place, "kind", error));
  TRY(check_words(x, said.name, place, "name", error));
  *row = (rule_row){0};
  if (!find_members(x, row, said.kind, said.name)) return fail_no_memory(error);
  if (said.on || said.not_on) TRY(read_forbids(x, row, &said, place, error));
  if (said.factor) TRY(read_factors(x, row, said.factor, place, error));
  if (row->n == 0) warn_unmatched(x, place, said.kind);
  x->r->n_rows += row->n > 0;
  return SITU_STATUS_OK;
}

static situ_status check_list(const reader *x, const json_value *list, const char *key, situ_error *error) {
  return !list || json_kind_of(list) == JSON_ARRAY_KIND ? SITU_STATUS_OK
                                                        : fields_fail(error, x->where, key, "must be a list");
}

static situ_status read_operators(const reader *x, const file_root *root, situ_error *error) {
  char place[PLACE_BYTES];
  TRY(check_list(x, root->operators, "operators", error));
  TRY(check_list(x, root->keep, "keep_together", error));
  for (size_t i = 0; i < json_size(root->operators); i++) {
    snprintf(place, sizeof place, "operators[%zu]", i);
    TRY(read_rule(x, json_at(root->operators, i), place, error));
  }
  for (size_t i = 0; i < json_size(root->keep); i++) {
    rule_row *row = &x->r->kept[x->r->n_kept];
    snprintf(place, sizeof place, "keep_together[%zu]", i);
    TRY(check_words(x, json_at(root->keep, i), place, "keep_together", error));
    *row = (rule_row){0};
    if (!find_members(x, row, NULL, json_at(root->keep, i))) return fail_no_memory(error);
    if (row->n == 0) warn_unmatched(x, place, NULL);
    x->r->n_kept += row->n > 1;
  }
  return SITU_STATUS_OK;
}

static situ_status read_cuts(const reader *x, const json_value *cuts, situ_error *error) {
  static const char place[] = "cuts_only_after";
  rule_row row = {0};
  if (!cuts) return SITU_STATUS_OK;
  TRY(check_list(x, cuts, place, error));
  if (json_size(cuts) > 0) TRY(check_words(x, cuts, place, place, error));
  if (!x->r->cuts) x->r->cuts = ARENA_ZERO(x->r->arena, bool, x->r->n_operators);
  if (!x->r->cuts || !find_members(x, &row, NULL, cuts)) return fail_no_memory(error);
  if (row.n == 0) warn_unmatched(x, place, NULL);
  for (int32_t i = 0; i < row.n; i++) x->r->cuts[row.member[i]] = true;
  return SITU_STATUS_OK;
}

/* ---- devices ---- */

/* "1 GiB", "512MB", or a number of bytes; -1 for anything else. */
static int64_t size_of(const json_value *v) {
  static const struct {
    const char *name;
    double bytes;
  } units[] = {{"", 1},      {"B", 1},        {"kB", 1e3},     {"MB", 1e6},     {"GB", 1e9},
               {"TB", 1e12}, {"KiB", 0x1p10}, {"MiB", 0x1p20}, {"GiB", 0x1p30}, {"TiB", 0x1p40}};
  const char *text = json_text(v, NULL);
  double number;
  if (!text) return json_int(v, -1);
  const char *unit = text_scan_number(text, &number);
  if (!unit) return -1;
  while (*unit == ' ') unit++;
  for (int i = 0; i < COUNT_OF(units); i++)
    if (ascii_same(units[i].name, unit))
      return number * units[i].bytes < 0x1p62 ? sat_round(number * units[i].bytes) : -1;
  return -1;
}

static situ_status read_reserve(const reader *x, const bool *marked, const json_value *said, const char *place,
                                situ_error *error) {
  const situ_platform *p = x->platform;
  int64_t each = size_of(said);
  if (each < 0)
    return fields_fail(error, x->where, place, "\"reserve\" must be a size such as \"1 GiB\", or a number of bytes");
  for (int32_t d = 0; d < p->n_devices; d++) {
    char room[TEXT_UNIT_BYTES], own[TEXT_UNIT_BYTES];
    int32_t m = p->memory_of[d];
    int64_t bytes = platform_reserve_bytes(p, d, each);
    if (!marked[d]) continue;
    if (p->memory_bytes[m] == SITU_UNLIMITED_BYTES)
      log_line(x->log, SITU_LOG_WARNING, "%s: %s: the size of the memory of %s is not known; nothing is reserved",
               x->where, place, p->devices[d].name);
    else if (bytes > p->memory_bytes[m])
      return fields_fail(error, x->where, place, "\"reserve\" is %s; the memory of %.60s holds only %s",
                         text_size(own, bytes), p->devices[d].name, text_size(room, p->memory_bytes[m]));
    else
      x->r->reserve_bytes[m] = bytes;
    x->stated[m] = true;
  }
  return SITU_STATUS_OK;
}

/* "5 %" as a share; below 0 for anything else. */
static double share_of(const json_value *v) {
  const char *text = json_text(v, NULL);
  double percent;
  const char *unit = text ? text_scan_number(text, &percent) : NULL;
  while (unit && *unit == ' ') unit++;
  return unit && strcmp(unit, "%") == 0 && percent <= 100 ? percent / 100 : -1;
}

/* Whether a text is a small number alone: bytes, whoever meant a share or gigabytes. */
static bool lacks_unit(const json_value *v) {
  static const int64_t SMALL_BYTES = 1 << 20;
  const char *text = json_text(v, NULL);
  size_t n = text ? strlen(text) : 0;
  int64_t bytes = size_of(v);
  return n > 0 && ascii_is_digit(text[n - 1]) && bytes > 0 && bytes < SMALL_BYTES;
}

/* What stays free in each memory for which no reserve is stated. Capacities that nobody knows stay unknown. */
static situ_status read_headroom(const reader *x, const json_value *said, situ_error *error) {
  const situ_platform *p = x->platform;
  double share = share_of(said);
  int64_t each = size_of(said);
  if (!said) return SITU_STATUS_OK;
  if (each < 0 && share < 0)
    return fields_fail(error, x->where, "headroom", "must be a size such as \"1 GiB\", a number of bytes, or \"5 %%\"");
  if (lacks_unit(said))
    return fields_fail(error, x->where, "headroom", "is %lld bytes; give it a unit: \"%lld %%\", \"%lld GB\"",
                       (long long)each, (long long)each, (long long)each);
  for (int32_t d = 0; d < p->n_devices; d++) {
    int32_t m = p->memory_of[d];
    if (p->memory_bytes[m] == SITU_UNLIMITED_BYTES || !p->heads_pool[m]) continue;
    int64_t bytes = share >= 0 ? sat_round(share * (double)p->memory_bytes[m]) : platform_reserve_bytes(p, d, each);
    if (bytes > p->memory_bytes[m])
      return fields_fail(error, x->where, "headroom", "is more than the memory of %.60s", p->devices[d].name);
    x->headroom_bytes[m] = bytes;
  }
  return SITU_STATUS_OK;
}

static situ_status read_precision(const reader *x, uint32_t *types_of, const json_value *words, const char *place,
                                  situ_error *error) {
  TRY(check_words(x, words, place, "precision", error));
  *types_of = 0;
  for (int32_t i = 0; i < n_words(words); i++) {
    int type = SITU_DTYPE_UNKNOWN + 1;
    while (type < DTYPE_COUNT && strcmp(situ_dtype_name((situ_dtype)type), word_at(words, i)) != 0) type++;
    if (type == DTYPE_COUNT)
      return fields_fail(error, x->where, place, "no element type is called \"%.60s\" (f64, f32, f16, bf16, i8, ...)",
                         word_at(words, i));
    *types_of |= UINT32_C(1) << type;
  }
  return SITU_STATUS_OK;
}

static situ_status read_device(const reader *x, bool *marked, const json_member *m, situ_error *error) {
  char place[PLACE_BYTES];
  file_device said;
  uint32_t precision = 0;
  snprintf(place, sizeof place, "devices: %.80s", m->key);
  TRY(fields_read(&said, m->value, device_fields, COUNT_OF(device_fields), x->where, place, error));
  if (said.efficiency > 1) return fields_fail(error, x->where, place, "\"efficiency\" must be above 0, at most 1");
  memset(marked, 0, (size_t)x->r->n_devices * sizeof *marked);
  TRY(mark_devices(x, marked, m->key, place, error));
  if (said.reserve) TRY(read_reserve(x, marked, said.reserve, place, error));
  if (said.precision) TRY(read_precision(x, &precision, said.precision, place, error));
  for (int32_t d = 0; d < x->r->n_devices; d++) {
    if (!marked[d]) continue;
    if (said.efficiency > 0) x->r->efficiency[d] = said.efficiency;
    if (precision) x->r->precision[d] = precision;
  }
  return SITU_STATUS_OK;
}

static situ_status read_devices(const reader *x, const json_value *devices, situ_error *error) {
  bool *marked = ARENA_NEW(x->r->arena, bool, x->r->n_devices);
  if (!marked) return fail_no_memory(error);
  if (devices && json_kind_of(devices) != JSON_OBJECT_KIND)
    return fields_fail(error, x->where, "devices", "must be an object of device: rules");
  for (json_member m = {0}; json_next(devices, &m);) TRY(read_device(x, marked, &m, error));
  return SITU_STATUS_OK;
}

/* ---- which operators may share a kernel ---- */

static bool forbids_as(const rule_set *r, const rule_row *a, const rule_row *b) {
  return b->forbids && memcmp(a->forbids, b->forbids, (size_t)r->n_devices * sizeof(bool)) == 0;
}

/* Renumbers densely and keeps 0: every number below the returned n has an operator. */
static int32_t renumber(int32_t *key, int32_t *next, int32_t n, int32_t n_operators) {
  int32_t kept = 1;
  for (int32_t k = 1; k < n; k++) next[k] = -1;
  next[0] = 0;
  for (int32_t v = 0; v < n_operators; v++) {
    if (next[key[v]] < 0) next[key[v]] = kept++;
    key[v] = next[key[v]];
  }
  return kept;
}

/* Numbers the operators by the set of devices that rows forbid. Rows that forbid the same devices count as one. */
static bool find_apart(rule_set *r) {
  bool *in = ARENA_NEW(r->arena, bool, r->n_operators), *done = ARENA_ZERO(r->arena, bool, r->n_rows);
  int32_t *key = ARENA_ZERO(r->arena, int32_t, r->n_operators);
  int32_t *next = ARENA_NEW(r->arena, int32_t, 2 * (int64_t)r->n_operators + 2);
  int32_t n = 1;
  if (!in || !done || !key || !next) return false;
  for (int32_t i = 0; i < r->n_rows; i++) {
    if (done[i] || !r->rows[i].forbids) continue;
    memset(in, 0, (size_t)r->n_operators * sizeof *in);
    for (int32_t j = i; j < r->n_rows; j++) {
      if (!forbids_as(r, &r->rows[i], &r->rows[j])) continue;
      done[j] = true;
      for (int32_t k = 0; k < r->rows[j].n; k++) in[r->rows[j].member[k]] = true;
    }
    for (int32_t k = 0; k < n; k++) next[k] = -1;
    for (int32_t v = 0; v < r->n_operators; v++) {
      if (!in[v]) continue;
      if (next[key[v]] < 0) next[key[v]] = n++;
      key[v] = next[key[v]];
    }
    n = renumber(key, next, n, r->n_operators);
    r->apart = key;
  }
  return true;
}

/* ---- entry points ---- */

/* Reserves space for all rows and lists of the sources. */
static bool make_room(rule_set *r, const rule_source *sources, int32_t n) {
  int64_t rows = 0, kept = 0;
  for (int32_t i = 0; i < n; i++) {
    rows += (int64_t)json_size(json_get(sources[i].root, "operators"));
    kept += (int64_t)json_size(json_get(sources[i].root, "keep_together"));
  }
  return ARENA_ARRAYS(r->arena, ARRAY(r->rows, rows), ARRAY(r->kept, kept), ZEROS(r->reserve_bytes, r->n_devices),
                      ZEROS(r->efficiency, r->n_devices), ZEROS(r->precision, r->n_devices));
}

static situ_status read_source(const reader *x, const json_value *tree, situ_error *error) {
  file_root root;
  if (json_kind_of(tree) != JSON_OBJECT_KIND)
    return fail_with(error, SITU_STATUS_BAD_INPUT, x->where, "must be an object");
  TRY(fields_read(&root, tree, root_fields, COUNT_OF(root_fields), x->where, "rules", error));
  if (root.version != FORMAT_VERSION)
    return fail_with(error, SITU_STATUS_BAD_INPUT, x->where, "\"situ_rules\" must be 1, the version of the format");
  TRY(read_operators(x, &root, error));
  TRY(read_cuts(x, root.cuts, error));
  TRY(read_headroom(x, root.headroom, error));
  return read_devices(x, root.devices, error);
}

situ_status rules_read(rule_set **out, const rule_source *sources, int32_t n, const situ_graph *graph,
                       const situ_platform *platform, const situ_platform *members, log_to log, situ_error *error) {
  arena *a = arena_new();
  rule_set *r = a ? ARENA_ZERO(a, rule_set, 1) : NULL;
  reader x = {.r = r, .graph = graph, .platform = platform, .members = members, .log = log};
  situ_status status = SITU_STATUS_OK;
  *out = NULL;
  if (r) *r = (rule_set){.arena = a, .n_operators = graph->n_operators, .n_devices = platform->n_devices};
  if (!r || !make_room(r, sources, n) ||
      !ARENA_ARRAYS(a, ZEROS(x.stated, platform->n_devices), ZEROS(x.headroom_bytes, platform->n_devices)))
    status = fail_no_memory(error);
  for (int32_t i = 0; i < n && status == SITU_STATUS_OK; i++) {
    x.where = sources[i].where;
    status = read_source(&x, sources[i].root, error);
  }
  for (int32_t m = 0; m < platform->n_memories && status == SITU_STATUS_OK; m++)
    if (!x.stated[m]) r->reserve_bytes[m] = x.headroom_bytes[m];
  if (status == SITU_STATUS_OK && !find_apart(r)) status = fail_no_memory(error);
  if (status == SITU_STATUS_OK)
    *out = r;
  else
    arena_free(a);
  return status;
}
