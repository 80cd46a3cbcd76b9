/* The tables of the library as tables for people and as JSON. One row below for each family. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/c_locale.h"
#include "cost/fusion.h"
#include "engine/engine.h"
#include "report/report.h"
#include "situ/engine.h"
#include "situ/learn.h"
#include "situ/solve.h"
#include "situ/write.h"

enum { LIST_MAX_COLUMNS = 12, LIST_CELL_BYTES = 2048 };

typedef enum list_kind { LIST_TEXT = 0, LIST_TRUTH, LIST_AMOUNT, LIST_BYTES, LIST_RATE, LIST_TIME } list_kind;

typedef struct list_column {
  const char *key, *title; /* title NULL: JSON only */
  list_kind kind;
} list_column;

typedef struct list_cell {
  const char *text;
  double number;  /* LIST_AMOUNT, LIST_RATE */
  int64_t amount; /* LIST_BYTES, LIST_TIME */
  bool truth;
} list_cell;

typedef struct list_family {
  const char *name, *about;
  list_column columns[LIST_MAX_COLUMNS]; /* ended by a NULL key */
  /* Fills the cells of row `index`; false past the end. `room` is space for a text that must be put together. */
  bool (*row)(list_cell *cells, int32_t index, char room[LIST_CELL_BYTES]);
} list_family;

static bool solver_row(list_cell *c, int32_t i, char room[LIST_CELL_BYTES]) {
  situ_solver_info s = SITU_SOLVER_INFO_INIT;
  if (!situ_solver_at(i, &s)) return false;
  c[0].text = s.name;
  c[1].truth = s.stream;
  c[2].truth = s.calls;
  c[3].truth = s.pipeline;
  c[4].truth = s.exact;
  c[5].text = s.title;
  c[6].text = s.source;
  return true;
}

static bool learner_row(list_cell *c, int32_t i, char room[LIST_CELL_BYTES]) {
  situ_learner_info l = SITU_LEARNER_INFO_INIT;
  if (!situ_learner_at(i, &l)) return false;
  c[0].text = l.name;
  c[1].text = l.title;
  c[2].text = l.source;
  return true;
}

static bool reader_row(list_cell *c, int32_t i, char room[LIST_CELL_BYTES]) {
  situ_reader_info r = SITU_READER_INFO_INIT;
  if (!situ_reader_at(i, &r)) return false;
  c[0].text = r.name;
  c[1].text = r.suffixes;
  c[2].text = r.title;
  return true;
}

static bool cost_row(list_cell *c, int32_t i, char room[LIST_CELL_BYTES]) {
  situ_cost_model_info m = SITU_COST_MODEL_INFO_INIT;
  if (!situ_cost_model_at(i, &m)) return false;
  c[0].text = m.name;
  c[1].text = m.title;
  c[2].text = m.source;
  return true;
}

static bool bound_row(list_cell *c, int32_t i, char room[LIST_CELL_BYTES]) {
  situ_bound_info b = SITU_BOUND_INFO_INIT;
  if (!situ_bound_at(i, &b)) return false;
  c[0].text = b.name;
  c[1].truth = b.stream;
  c[2].truth = b.calls;
  c[3].truth = b.pipeline;
  c[4].text = b.title;
  c[5].text = b.source;
  return true;
}

static bool engine_row(list_cell *c, int32_t i, char room[LIST_CELL_BYTES]) {
  situ_engine_info e = SITU_ENGINE_INFO_INIT;
  if (!situ_engine_at(i, &e)) return false;
  const char *texts[] = {e.version, e.providers, e.library, e.missing, *e.missing ? e.missing : e.library};
  c[0].text = e.name;
  for (int k = 0; k < 5; k++) {
    c[1 + k].text = strcpy(room, texts[k]);
    room += strlen(texts[k]) + 1;
  }
  return true;
}

static bool device_row(list_cell *c, int32_t i, char room[LIST_CELL_BYTES]) {
  situ_device_kind_info d = SITU_DEVICE_KIND_INFO_INIT;
  if (!situ_device_kind_at(i, &d)) return false;
  c[0].text = d.name;
  c[1].text = d.kind;
  c[2].amount = d.memory_bytes;
  c[3].number = d.memory_bytes_per_s;
  c[4].number = d.peak_flops[SITU_DTYPE_F32];
  c[5].number = d.peak_flops[SITU_DTYPE_F16];
  c[6].text = d.title;
  c[7].text = d.source;
  c[8].number = d.peak_flops[SITU_DTYPE_BF16];
  c[9].number = d.peak_flops[SITU_DTYPE_I8];
  c[10].text = situ_device_family_name(d.family);
  c[11].amount = d.launch_ns;
  return true;
}

static bool link_row(list_cell *c, int32_t i, char room[LIST_CELL_BYTES]) {
  situ_link_kind_info l = SITU_LINK_KIND_INFO_INIT;
  if (!situ_link_kind_at(i, &l)) return false;
  c[0].text = l.name;
  c[1].amount = l.latency_ns;
  c[2].number = l.bytes_per_s;
  c[3].truth = l.fabric;
  c[4].text = l.title;
  c[5].text = l.source;
  c[6].amount = l.to_host_ns;
  return true;
}

static bool model_row(list_cell *c, int32_t i, char room[LIST_CELL_BYTES]) {
  situ_builtin_info b = SITU_BUILTIN_INFO_INIT;
  if (!situ_builtin_at(i, &b)) return false;
  snprintf(room, LIST_CELL_BYTES, "%s", b.parameters);
  c[0].text = b.name;
  c[1].text = b.title;
  c[2].text = room;
  c[3].text = b.source;
  return true;
}

static bool writer_row(list_cell *c, int32_t i, char room[LIST_CELL_BYTES]) {
  situ_writer_info w = SITU_WRITER_INFO_INIT;
  if (!situ_writer_at(i, &w)) return false;
  c[0].text = w.name;
  c[1].text = w.suffix;
  c[2].text = w.title;
  return true;
}

static bool fusion_row(list_cell *c, int32_t i, char room[LIST_CELL_BYTES]) {
  const char *name = situ_fusion_profile_at(i);
  c[0].text = name;
  c[1].text = name ? fusion_profile_find(name)->title : "";
  return name != NULL;
}

static bool cost_engine_row(list_cell *c, int32_t i, char room[LIST_CELL_BYTES]) {
  const char *name = situ_cost_engine_at(i);
  if (!name) return false;
  const cost_engine *e = cost_engine_find(name);
  c_locale_print(room, LIST_CELL_BYTES, "%g", e->launch);
  c[0].text = name;
  c[1].text = e->fusion;
  c[2].text = room;
  c[3].text = e->title;
  return true;
}

static const list_family families[] = {
    {"solvers",
     "search algorithms (--solver)",
     {{"name", "name", 0},
      {"stream", "stream", LIST_TRUTH},
      {"calls", "calls", LIST_TRUTH},
      {"pipeline", "pipeline", LIST_TRUTH},
      {"exact", "exact", LIST_TRUTH},
      {"title", "what it does", 0},
      {"source", NULL, 0}},
     solver_row},
    {"learners",
     "policies that situ learn can train",
     {{"name", "name", 0}, {"title", "what it is", 0}, {"source", NULL, 0}},
     learner_row},
    {"readers",
     "model file formats that situ reads (--reader)",
     {{"name", "name", 0}, {"suffixes", "suffixes", 0}, {"title", "what it reads", 0}},
     reader_row},
    {"writers",
     "formats of other tools that situ writes plans in (--write)",
     {{"name", "name", 0}, {"suffix", "suffix", 0}, {"title", "what it writes", 0}},
     writer_row},
    {"costs",
     "cost models, which estimate times (--costs)",
     {{"name", "name", 0}, {"title", "what it does", 0}, {"source", NULL, 0}},
     cost_row},
    {"fusion",
     "fusion profiles: which operators an engine runs as one kernel (--fusion)",
     {{"name", "name", 0}, {"title", "what it is", 0}},
     fusion_row},
    {"cost-engines",
     "engines whose fusion, launches and overlap can be estimated (--cost-engine)",
     {{"name", "name", 0}, {"fusion", "fusion", 0}, {"launch_factor", "launches x", 0}, {"title", "what it is", 0}},
     cost_engine_row},
    {"devices",
     "known devices, for platforms such as cpu+2*a100-80g (--platform)",
     {{"name", "name", 0},
      {"kind", "kind", 0},
      {"memory_bytes", "memory", LIST_BYTES},
      {"memory_bytes_per_s", "bandwidth", LIST_RATE},
      {"flops_f32", "FLOP/s f32", LIST_AMOUNT},
      {"flops_f16", "f16", LIST_AMOUNT},
      {"title", "device", 0},
      {"source", NULL, 0},
      {"flops_bf16", NULL, LIST_AMOUNT},
      {"flops_i8", NULL, LIST_AMOUNT},
      {"family", NULL, 0},
      {"launch_ns", NULL, LIST_TIME}},
     device_row},
    {"links",
     "known links between devices",
     {{"name", "name", 0},
      {"latency_ns", "latency", LIST_TIME},
      {"bytes_per_s", "rate", LIST_RATE},
      {"fabric", "fabric", LIST_TRUTH},
      {"title", "link", 0},
      {"source", NULL, 0},
      {"to_host_ns", NULL, LIST_TIME}},
     link_row},
    {"models",
     "built-in models (builtin:NAME?key=value&...)",
     {{"name", "name", 0}, {"title", "network", 0}, {"parameters", "parameters", 0}, {"source", NULL, 0}},
     model_row},
    {"bounds",
     "lower bounds that situ can prove",
     {{"name", "name", 0},
      {"stream", "stream", LIST_TRUTH},
      {"calls", "calls", LIST_TRUTH},
      {"pipeline", "pipeline", LIST_TRUTH},
      {"title", "what it is", 0},
      {"source", NULL, 0}},
     bound_row},
    {"engines",
     "inference engines installed here (situ run, situ profile)",
     {{"name", "name", 0},
      {"version", "version", 0},
      {"providers", "providers", 0},
      {"library", NULL, 0},
      {"missing", NULL, 0},
      {"found", "library, or why it was not found", 0}},
     engine_row},
};
enum { N_FAMILIES = sizeof families / sizeof families[0] };

static const list_family *find_family(const char *name) {
  for (int i = 0; i < N_FAMILIES; i++)
    if (strcmp(families[i].name, name) == 0) return &families[i];
  return NULL;
}

const char *situ_report_family(int32_t index) { return index >= 0 && index < N_FAMILIES ? families[index].name : NULL; }

const char *situ_report_family_about(int32_t index) {
  return index >= 0 && index < N_FAMILIES ? families[index].about : NULL;
}

static json_value *cell_json(const list_cell *c, list_kind kind) {
  switch (kind) {
    case LIST_TRUTH: return json_new_bool(c->truth);
    case LIST_AMOUNT:
    case LIST_RATE: return c->number > 0 ? json_new_number(c->number) : json_new_null();
    case LIST_BYTES:
    case LIST_TIME: return report_amount(c->amount);
    default: return json_new_text(c->text);
  }
}

static char *list_json(const char *family) {
  const list_family *f = find_family(family);
  json_value *root = json_new_object(), *list = json_new_array();
  char room[LIST_CELL_BYTES];
  bool ok = root && list;
  list_cell cells[LIST_MAX_COLUMNS] = {{0}};
  for (int32_t i = 0; ok && f->row(cells, i, room); i++) {
    json_value *o = json_new_object();
    for (int c = 0; ok && c < LIST_MAX_COLUMNS && f->columns[c].key; c++)
      ok = json_set(o, f->columns[c].key, cell_json(&cells[c], f->columns[c].kind));
    ok = json_push(list, o) && ok;
  }
  return report_finish(root, json_set(root, f->name, list) && ok);
}

static void add_list_cell(table *t, const list_cell *c, list_kind kind, const situ_report_options *o, bool first) {
  char a[TEXT_UNIT_BYTES];
  switch (kind) {
    case LIST_TRUTH: table_cell(t, STYLE_GOOD, c->truth ? "yes" : ""); break;
    case LIST_AMOUNT: table_cell(t, STYLE_PLAIN, c->number > 0 ? text_count(a, c->number) : "-"); break;
    case LIST_RATE: table_cellf(t, STYLE_PLAIN, "%s/s", text_size(a, (int64_t)c->number)); break;
    case LIST_BYTES: table_cell(t, STYLE_PLAIN, text_size(a, c->amount)); break;
    case LIST_TIME: table_cell(t, STYLE_PLAIN, text_time(a, c->amount)); break;
    default: table_cell(t, first ? STYLE_BOLD : STYLE_PLAIN, c->text);
  }
}

static char *list_text(const char *family, const situ_report_options *options) {
  const list_family *f = find_family(family);
  table t;
  if (!table_start(&t)) return NULL;
  for (int c = 0; c < LIST_MAX_COLUMNS && f->columns[c].key; c++) {
    list_kind kind = f->columns[c].kind;
    align a = kind >= LIST_AMOUNT ? ALIGN_RIGHT : kind == LIST_TEXT && c > 0 ? ALIGN_PROSE : ALIGN_LEFT;
    if (f->columns[c].title) table_column(&t, f->columns[c].title, a, 0);
  }
  char room[LIST_CELL_BYTES];
  list_cell cells[LIST_MAX_COLUMNS] = {{0}};
  for (int32_t i = 0; f->row(cells, i, room); i++)
    for (int c = 0; c < LIST_MAX_COLUMNS && f->columns[c].key; c++)
      if (f->columns[c].title) add_list_cell(&t, &cells[c], f->columns[c].kind, options, c == 0);
  text_buffer out = {0};
  table_render(&out, &t, options);
  table_stop(&t);
  return text_take(&out);
}

static char *list_names(const char *family) {
  const list_family *f = find_family(family);
  char room[LIST_CELL_BYTES];
  list_cell cells[LIST_MAX_COLUMNS] = {{0}};
  text_buffer out = {0};
  if (f->row == engine_row) /* which starts the engine */
    for (int i = 0; engines[i]; i++) text_add(&out, "%s\n", engines[i]->name);
  else
    for (int32_t i = 0; f->row(cells, i, room); i++) text_add(&out, "%s\n", cells[0].text);
  return text_take(&out);
}

static situ_status unknown_family(const char *family, situ_error *error) {
  return fail_with(error, SITU_STATUS_BAD_ARGUMENT, family,
                   "there is no table of this name; situ_report_family returns the names");
}

situ_status situ_report_list(char **out, const char *family, situ_report_format format,
                             const situ_report_options *options, situ_error *error) {
  situ_report_options look;
  TRY(report_open(out, &look, format, REPORT_TABLE | REPORT_JSON | REPORT_NAMES, options, error));
  TRY(GIVEN(error, family));
  if (!find_family(family)) return unknown_family(family, error);
  char *text = format == SITU_REPORT_JSON    ? list_json(family)
               : format == SITU_REPORT_NAMES ? list_names(family)
                                             : list_text(family, &look);
  return report_close(out, text, error);
}
