#include "report/report.h"
#include "situ/stages.h"
#include "situ/version.h"

static void add_stages(row_list *out, const void *staging) {
  situ_staging_stage s;
  for (int32_t k = 0; (s = situ_staging_stage_at(staging, k)).split > 0; k++)
    ROW(out, {"stage", AS_INDEX, "stage", .n = k}, {"first", AS_TEXT, "from", .text = s.first, .max = 28},
        {"last", AS_TEXT, "to", .text = s.last, .max = 28}, {"layers", AS_COUNT, "layers", .n = s.layers},
        {"recomputed", AS_COUNT, "recomputed", .n = s.recomputed}, {"split", AS_COUNT, "split", .n = s.split},
        {"replicas", AS_COUNT, "replicas", .n = s.replicas}, {"time_ns", AS_TIME, "time", .n = s.time_ns},
        {"kept", AS_COUNT, "kept", .n = s.kept}, {"size_bytes", AS_BYTES, "memory", .n = s.size_bytes});
}

static void add_layers(row_list *out, const void *staging) {
  situ_staging_layer v;
  for (int32_t k = 0; (v = situ_staging_layer_at(staging, k)).name; k++)
    ROW(out, {"name", .text = v.name}, {"stage", AS_INDEX, .n = v.stage}, {"variant", .text = v.variant});
}

static const char *outcome_of(const situ_staging_info *i) {
  if (i->n_stages == 0) return i->lower_bound_ns == SITU_NEVER_NS ? "infeasible" : "limit";
  return i->lower_bound_ns == i->period_ns ? "optimal" : "feasible";
}

static char *stages_json(const situ_staging *s, const situ_staging_info *i) {
  return report_finish(
      OBJECT({"version", .text = situ_version()}, {"outcome", .text = outcome_of(i)},
             {"value_ns", AS_TIME, .n = i->period_ns}, {"lower_bound_ns", AS_TIME, .n = i->lower_bound_ns},
             {"bound_checked", AS_BOOL, .n = i->bound_checked}, {"devices", AS_COUNT, .n = i->n_devices},
             {"devices_used", AS_COUNT, .n = i->n_devices_used}, {"memory_bytes", AS_BYTES, .n = i->memory_bytes},
             {"bytes_per_s", AS_COUNT, .n = i->bytes_per_s}, {"micro_batches", AS_COUNT, .n = i->micro_batches},
             {"seconds", AS_NUMBER, .x = i->seconds}, {"stages", AS_TREE, .tree = rows_json(add_stages, s)},
             {"layers", AS_TREE, .tree = rows_json(add_layers, s)}),
      true);
}

static const char *claim_of(const situ_staging_info *i) {
  if (i->lower_bound_ns == i->period_ns || i->n_stages == 0)
    return i->bound_checked ? "proved, and checked again" : "proved by the search; too long to check again";
  return "";
}

static char *stages_text(const situ_staging *s, const situ_staging_info *i, const situ_report_options *options) {
  text_buffer t = {0};
  const fact_lines f = {&t, options, 9};
  char a[TEXT_UNIT_BYTES], b[TEXT_UNIT_BYTES];
  if (i->n_stages > 0) {
    rows_text(&t, add_stages, s, options);
    text_add(&t, "\n");
    FACT(&f, "period", "%s an input, %s", exact_time(a, i->period_ns), outcome_of(i));
  } else {
    FACT(&f, "period", "%s",
         i->lower_bound_ns == SITU_NEVER_NS ? "no plan of less than 13 days an input fits into memory"
                                            : "no plan was found in the time given");
  }
  if (i->lower_bound_ns < SITU_NEVER_NS)
    FACT(&f, "bound", "%s%s%s", exact_time(a, i->lower_bound_ns), *claim_of(i) ? ", " : "", claim_of(i));
  else
    FACT(&f, "bound", "%s", claim_of(i));
  FACT(&f, "devices", "%lld of %lld, %s each", (long long)i->n_devices_used, (long long)i->n_devices,
       text_size(b, i->memory_bytes));
  text_add_wrapped(&t,
                   "among plans that cut the network into stages one after the other, each on devices of its own, with "
                   "the variants of layers that the file has",
                   "  among     ", "            ", report_width(options));
  return text_take(&t);
}

situ_status situ_report_stages(char **out, const situ_staging *staging, situ_report_format format,
                               const situ_report_options *options, situ_error *error) {
  situ_report_options look;
  situ_staging_info info = SITU_STAGING_INFO_INIT;
  TRY(report_open(out, &look, format, REPORT_TABLE | REPORT_JSON, options, error));
  TRY(GIVEN(error, staging));
  situ_staging_get_info(staging, &info);
  return report_close(
      out, format == SITU_REPORT_JSON ? stages_json(staging, &info) : stages_text(staging, &info, &look), error);
}
