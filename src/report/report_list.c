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

/* A row for each entry of a table of the library whose public form is situ_NOUN_info. */
#define INFO_ROW(NOUN, INIT, ...)                                   \
  static void NOUN##_row(row_list *r, int32_t i) {                  \
    situ_##NOUN##_info x = INIT;                                    \
    r->blank = !situ_##NOUN##_at(i, &x);                            \
    ROW(r, {"name", AS_NAME, "name", .text = x.name}, __VA_ARGS__); \
  }

INFO_ROW(solver, SITU_SOLVER_INFO_INIT, {"stream", AS_BOOL, "stream", .n = x.stream},
         {"calls", AS_BOOL, "calls", .n = x.calls}, {"pipeline", AS_BOOL, "pipeline", .n = x.pipeline},
         {"exact", AS_BOOL, "exact", .n = x.exact}, {"title", AS_PROSE, "what it does", .text = x.title},
         {"source", .text = x.source})
INFO_ROW(learner, SITU_LEARNER_INFO_INIT, {"title", AS_PROSE, "what it is", .text = x.title},
         {"source", .text = x.source})
INFO_ROW(reader, SITU_READER_INFO_INIT, {"suffixes", AS_PROSE, "suffixes", .text = x.suffixes},
         {"title", AS_PROSE, "what it reads", .text = x.title})
INFO_ROW(writer, SITU_WRITER_INFO_INIT, {"suffix", AS_PROSE, "suffix", .text = x.suffix},
         {"title", AS_PROSE, "what it writes", .text = x.title})
INFO_ROW(cost_model, SITU_COST_MODEL_INFO_INIT, {"title", AS_PROSE, "what it does", .text = x.title},
         {"source", .text = x.source})
INFO_ROW(device_kind, SITU_DEVICE_KIND_INFO_INIT, {"kind", AS_PROSE, "kind", .text = x.kind},
         {"memory_bytes", AS_BYTES, .n = x.memory_bytes}, {"granted_bytes", AS_BYTES, "memory", .n = x.granted_bytes},
         {"memory_bytes_per_s", AS_RATE, "bandwidth", .x = x.memory_bytes_per_s},
         {"flops_f32", AS_AMOUNT, "FLOP/s f32", .x = x.peak_flops[SITU_DTYPE_F32]},
         {"flops_f16", AS_AMOUNT, "f16", .x = x.peak_flops[SITU_DTYPE_F16]},
         {"title", AS_PROSE, "device", .text = x.title}, {"source", .text = x.source},
         {"flops_bf16", AS_AMOUNT, .x = x.peak_flops[SITU_DTYPE_BF16]},
         {"flops_i8", AS_AMOUNT, .x = x.peak_flops[SITU_DTYPE_I8]},
         {"family", .text = situ_device_family_name(x.family)}, {"launch_ns", AS_TIME, .n = x.launch_ns})
INFO_ROW(link_kind, SITU_LINK_KIND_INFO_INIT, {"latency_ns", AS_ROUGH_TIME, "latency", .n = x.latency_ns},
         {"bytes_per_s", AS_RATE, "rate", .x = x.bytes_per_s}, {"fabric", AS_BOOL, "fabric", .n = x.fabric},
         {"title", AS_PROSE, "link", .text = x.title}, {"source", .text = x.source},
         {"to_host_ns", AS_TIME, .n = x.to_host_ns})
INFO_ROW(builtin, SITU_BUILTIN_INFO_INIT, {"title", AS_PROSE, "network", .text = x.title},
         {"parameters", AS_PROSE, "parameters", .text = x.parameters}, {"source", .text = x.source})
INFO_ROW(bound, SITU_BOUND_INFO_INIT, {"stream", AS_BOOL, "stream", .n = x.stream},
         {"calls", AS_BOOL, "calls", .n = x.calls}, {"pipeline", AS_BOOL, "pipeline", .n = x.pipeline},
         {"title", AS_PROSE, "what it is", .text = x.title}, {"source", .text = x.source})
INFO_ROW(engine, SITU_ENGINE_INFO_INIT, {"version", AS_PROSE, "version", .text = x.version},
         {"providers", AS_PROSE, "providers", .text = x.providers}, {"library", .text = x.library},
         {"missing", .text = x.missing},
         {"found", AS_PROSE, "library, or why it was not found", .text = *x.missing ? x.missing : x.library})

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

static const struct list_family {
  const char *name, *about;
  void (*row)(row_list *r, int32_t index); /* adds a row, a blank one past the end */
} families[] = {
    {"solvers", "search algorithms (--solver)", solver_row},
    {"learners", "policies that situ learn can train", learner_row},
    {"readers", "model file formats that situ reads (--reader)", reader_row},
    {"writers", "formats of other tools that situ writes plans in (--write)", writer_row},
    {"costs", "cost models, which estimate times (--costs)", cost_model_row},
    {"fusion", "fusion profiles: which operators an engine runs as one kernel (--fusion)", fusion_row},
    {"cost-engines", "engines whose fusion, launches and overlap can be estimated (--cost-engine)", cost_engine_row},
    {"devices", "known devices, for platforms such as cpu+2*a100-80g (--platform)", device_kind_row},
    {"links", "known links between devices", link_kind_row},
    {"models", "built-in models (builtin:NAME?key=value&...)", builtin_row},
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
