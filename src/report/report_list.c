/* The tables of the library as tables for people and as JSON. One row below for each family. */
#include <string.h>

#include "base/c_locale.h"
#include "cost/fusion.h"
#include "engine/engine.h"
#include "report/report.h"
#include "situ/engine.h"
#include "situ/learn.h"
#include "situ/solve.h"
#include "situ/write.h"

static void solver_row(row_list *r, int32_t i) {
  situ_solver_info s = SITU_SOLVER_INFO_INIT;
  r->blank = !situ_solver_at(i, &s);
  ROW(r, {"name", AS_NAME, "name", .text = s.name}, {"stream", AS_BOOL, "stream", .n = s.stream},
      {"calls", AS_BOOL, "calls", .n = s.calls}, {"pipeline", AS_BOOL, "pipeline", .n = s.pipeline},
      {"exact", AS_BOOL, "exact", .n = s.exact}, {"title", AS_PROSE, "what it does", .text = s.title},
      {"source", .text = s.source});
}

static void learner_row(row_list *r, int32_t i) {
  situ_learner_info l = SITU_LEARNER_INFO_INIT;
  r->blank = !situ_learner_at(i, &l);
  ROW(r, {"name", AS_NAME, "name", .text = l.name}, {"title", AS_PROSE, "what it is", .text = l.title},
      {"source", .text = l.source});
}

static void reader_row(row_list *r, int32_t i) {
  situ_reader_info x = SITU_READER_INFO_INIT;
  r->blank = !situ_reader_at(i, &x);
  ROW(r, {"name", AS_NAME, "name", .text = x.name}, {"suffixes", AS_PROSE, "suffixes", .text = x.suffixes},
      {"title", AS_PROSE, "what it reads", .text = x.title});
}

static void writer_row(row_list *r, int32_t i) {
  situ_writer_info w = SITU_WRITER_INFO_INIT;
  r->blank = !situ_writer_at(i, &w);
  ROW(r, {"name", AS_NAME, "name", .text = w.name}, {"suffix", AS_PROSE, "suffix", .text = w.suffix},
      {"title", AS_PROSE, "what it writes", .text = w.title});
}

static void cost_row(row_list *r, int32_t i) {
  situ_cost_model_info m = SITU_COST_MODEL_INFO_INIT;
  r->blank = !situ_cost_model_at(i, &m);
  ROW(r, {"name", AS_NAME, "name", .text = m.name}, {"title", AS_PROSE, "what it does", .text = m.title},
      {"source", .text = m.source});
}

static void fusion_row(row_list *r, int32_t i) {
  const char *name = situ_fusion_profile_at(i);
  r->blank = !name;
  ROW(r, {"name", AS_NAME, "name", .text = name},
      {"title", AS_PROSE, "what it is", .text = name ? fusion_profile_find(name)->title : NULL});
}

static void cost_engine_row(row_list *r, int32_t i) {
  const char *name = situ_cost_engine_at(i);
  const cost_engine *e = name ? cost_engine_find(name) : &(cost_engine){0};
  char launch[TEXT_UNIT_BYTES];
  c_locale_print(launch, sizeof launch, "%g", e->launch);
  r->blank = !name;
  ROW(r, {"name", AS_NAME, "name", .text = name}, {"fusion", AS_PROSE, "fusion", .text = e->fusion},
      {"launch_factor", AS_PROSE, "launches x", .text = launch}, {"title", AS_PROSE, "what it is", .text = e->title});
}

static void device_row(row_list *r, int32_t i) {
  situ_device_kind_info d = SITU_DEVICE_KIND_INFO_INIT;
  r->blank = !situ_device_kind_at(i, &d);
  ROW(r, {"name", AS_NAME, "name", .text = d.name}, {"kind", AS_PROSE, "kind", .text = d.kind},
      {"memory_bytes", AS_BYTES, .n = d.memory_bytes}, {"granted_bytes", AS_BYTES, "memory", .n = d.granted_bytes},
      {"memory_bytes_per_s", AS_RATE, "bandwidth", .x = d.memory_bytes_per_s},
      {"flops_f32", AS_AMOUNT, "FLOP/s f32", .x = d.peak_flops[SITU_DTYPE_F32]},
      {"flops_f16", AS_AMOUNT, "f16", .x = d.peak_flops[SITU_DTYPE_F16]},
      {"title", AS_PROSE, "device", .text = d.title}, {"source", .text = d.source},
      {"flops_bf16", AS_AMOUNT, .x = d.peak_flops[SITU_DTYPE_BF16]},
      {"flops_i8", AS_AMOUNT, .x = d.peak_flops[SITU_DTYPE_I8]}, {"family", .text = situ_device_family_name(d.family)},
      {"launch_ns", AS_TIME, .n = d.launch_ns});
}

static void link_row(row_list *r, int32_t i) {
  situ_link_kind_info l = SITU_LINK_KIND_INFO_INIT;
  r->blank = !situ_link_kind_at(i, &l);
  ROW(r, {"name", AS_NAME, "name", .text = l.name}, {"latency_ns", AS_ROUGH_TIME, "latency", .n = l.latency_ns},
      {"bytes_per_s", AS_RATE, "rate", .x = l.bytes_per_s}, {"fabric", AS_BOOL, "fabric", .n = l.fabric},
      {"title", AS_PROSE, "link", .text = l.title}, {"source", .text = l.source},
      {"to_host_ns", AS_TIME, .n = l.to_host_ns});
}

static void model_row(row_list *r, int32_t i) {
  situ_builtin_info b = SITU_BUILTIN_INFO_INIT;
  r->blank = !situ_builtin_at(i, &b);
  ROW(r, {"name", AS_NAME, "name", .text = b.name}, {"title", AS_PROSE, "network", .text = b.title},
      {"parameters", AS_PROSE, "parameters", .text = b.parameters}, {"source", .text = b.source});
}

static void bound_row(row_list *r, int32_t i) {
  situ_bound_info b = SITU_BOUND_INFO_INIT;
  r->blank = !situ_bound_at(i, &b);
  ROW(r, {"name", AS_NAME, "name", .text = b.name}, {"stream", AS_BOOL, "stream", .n = b.stream},
      {"calls", AS_BOOL, "calls", .n = b.calls}, {"pipeline", AS_BOOL, "pipeline", .n = b.pipeline},
      {"title", AS_PROSE, "what it is", .text = b.title}, {"source", .text = b.source});
}

static void engine_row(row_list *r, int32_t i) {
  situ_engine_info e = SITU_ENGINE_INFO_INIT;
  r->blank = !situ_engine_at(i, &e);
  ROW(r, {"name", AS_NAME, "name", .text = e.name}, {"version", AS_PROSE, "version", .text = e.version},
      {"providers", AS_PROSE, "providers", .text = e.providers}, {"library", .text = e.library},
      {"missing", .text = e.missing},
      {"found", AS_PROSE, "library, or why it was not found", .text = *e.missing ? e.missing : e.library});
}

static const struct list_family {
  const char *name, *about;
  void (*row)(row_list *r, int32_t index); /* adds a row, a blank one past the end */
} families[] = {
    {"solvers", "search algorithms (--solver)", solver_row},
    {"learners", "policies that situ learn can train", learner_row},
    {"readers", "model file formats that situ reads (--reader)", reader_row},
    {"writers", "formats of other tools that situ writes plans in (--write)", writer_row},
    {"costs", "cost models, which estimate times (--costs)", cost_row},
    {"fusion", "fusion profiles: which operators an engine runs as one kernel (--fusion)", fusion_row},
    {"cost-engines", "engines whose fusion, launches and overlap can be estimated (--cost-engine)", cost_engine_row},
    {"devices", "known devices, for platforms such as cpu+2*a100-80g (--platform)", device_row},
    {"links", "known links between devices", link_row},
    {"models", "built-in models (builtin:NAME?key=value&...)", model_row},
    {"bounds", "lower bounds that situ can prove", bound_row},
    {"engines", "inference engines installed here (situ run, situ profile)", engine_row},
};
enum { N_FAMILIES = sizeof families / sizeof families[0] };

static const struct list_family *find_family(const char *name) {
  for (int i = 0; i < N_FAMILIES; i++)
    if (strcmp(families[i].name, name) == 0) return &families[i];
  return NULL;
}

const char *situ_report_family(int32_t index) { return index >= 0 && index < N_FAMILIES ? families[index].name : NULL; }

const char *situ_report_family_about(int32_t index) {
  return index >= 0 && index < N_FAMILIES ? families[index].about : NULL;
}

static void add_family(row_list *r, const void *family) {
  const struct list_family *f = family;
  for (int32_t i = 0; !r->blank; i++) f->row(r, i);
}

static char *list_json(const struct list_family *f) {
  return report_finish(OBJECT({f->name, AS_TREE, .tree = rows_json(add_family, f)}), true);
}

static char *list_text(const struct list_family *f, const situ_report_options *options) {
  text_buffer t = {0};
  rows_text(&t, add_family, f, options);
  return text_take(&t);
}

static char *list_names(const struct list_family *f) {
  bool by_table = f->row == engine_row; /* whose rows start the engines */
  json_value *list = by_table ? json_new_array() : rows_json(add_family, f);
  text_buffer t = {.failed = !list};
  for (size_t i = 0; by_table && engines[i]; i++) text_add(&t, "%s\n", engines[i]->name);
  for (size_t i = 0; i < json_size(list); i++) text_add(&t, "%s\n", json_text(json_get(json_at(list, i), "name"), ""));
  json_free(list);
  return text_take(&t);
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
  const struct list_family *f = find_family(family);
  if (!f) return unknown_family(family, error);
  char *text = format == SITU_REPORT_JSON    ? list_json(f)
               : format == SITU_REPORT_NAMES ? list_names(f)
                                             : list_text(f, &look);
  return report_close(out, text, error);
}
