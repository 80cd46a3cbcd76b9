/* What fits, of several files of a model. */
#include <string.h>

#include "api/fit.h"
#include "base/file.h"
#include "report/plan_row.h"
#include "report/report.h"
#include "situ/version.h"

typedef struct files {
  const situ_fitting *const *fittings;
  int32_t n, answer;
  int64_t amount;
} files;

static const char *const findings[] = {"fits", "not found", "impossible"};
static const style styles[] = {STYLE_GOOD, STYLE_PLAIN, STYLE_DIM};

/* The file without its folders. */
static const char *name_of(const situ_fitting *f) {
  const char *name = file_name(f->path);
  return *name ? name : f->path;
}

/* Whether file a comes before file b: the larger first, equals as they were given. */
static bool comes_before(const files *f, int32_t a, int32_t b) {
  int64_t one = f->fittings[a]->weight_bytes, other = f->fittings[b]->weight_bytes;
  return one > other || (one == other && a < b);
}

static void add_file(row_list *out, const files *of, int32_t k) {
  const situ_fitting *f = of->fittings[k];
  int32_t best = situ_fitting_answer(f);
  const situ_fit_row none = {.reason = f->n > 0 ? f->rows[0].reason : ""}, *r = best >= 0 ? &f->rows[best] : &none;
  situ_fit_finding finding = situ_fitting_finding(f, of->amount);
  plan_row row = plan_row_of(r->plan, r->model, f->goal.tokens_per_s);
  ROW(out, {"file", .text = f->path}, {"model", .text = f->model},
      {NULL, AS_TEXT, "file", .text = name_of(f), .style = k == of->answer ? STYLE_BOLD : STYLE_PLAIN, .max = 40},
      {"weight_bytes", AS_BYTES, "weights", .n = f->weight_bytes},
      {"finding", AS_TEXT, "", .text = findings[finding], .style = styles[finding]},
      {"amount", AS_INDEX, .n = best >= 0 ? r->amount : -1},
      {NULL, AS_COUNT, situ_fit_quantity_name(f->quantity), .n = r->amount, .shown = best >= 0 ? NULL : "-"},
      {"limit_reached", AS_BOOL, .n = best >= 0 && r->amount >= f->max},
      {"decode_tokens_per_second", AS_AMOUNT, "tokens/s", .x = row.rates.decode, .shown = row.decode},
      {"prefill_tokens_per_second", AS_AMOUNT, "prefill", .x = row.rates.prefill, .shown = row.prefill},
      {"time_to_first_token_ns", AS_ROUGH_TIME, .n = row.rates.ttft_ns},
      {"fullest_share", AS_PERCENT, "fullest", .x = row.fullest, .shown = row.fullest > 0 ? NULL : "-"},
      {"fullest_device", .text = row.fullest_device}, {"layers", AS_PROSE, "layers", .text = row.layers},
      {"reason", .text = text_or_null(r->reason)}, {"space", .text = f->n > 0 ? f->scopes[0] : NULL});
}

static void add_files(row_list *out, const void *all) {
  const files *f = all;
  for (int32_t rank = 0; rank < f->n; rank++)
    for (int32_t k = 0; k < f->n; k++) {
      int32_t before = 0;
      for (int32_t other = 0; other < f->n; other++) before += comes_before(f, other, k);
      if (before == rank) add_file(out, f, k);
    }
}

static char *files_json(const files *f) {
  const situ_fitting *first = f->fittings[0];
  return report_finish(
      OBJECT({"version", .text = situ_version()}, {"platform", .text = first->platform},
             {"quantity", .text = situ_fit_quantity_name(first->quantity)}, {"goal", .text = first->goal.text},
             {"amount", AS_COUNT, .n = f->amount},
             {"answer", .text = f->answer >= 0 ? f->fittings[f->answer]->path : NULL},
             {"answer_index", AS_INDEX, .n = f->answer}, {"rows", AS_TREE, .tree = rows_json(add_files, f)}),
      true);
}

static char *files_text(const files *f, const situ_report_options *options) {
  const situ_fitting *first = f->fittings[0];
  const char *unit = first->quantity == SITU_FIT_CONTEXT ? "token" : "stream";
  text_buffer t = {0};
  const fact_lines lines = {&t, options, 6};
  char a[TEXT_UNIT_BYTES], b[TEXT_UNIT_BYTES];
  text_add_clean(&t, first->platform);
  text_add(&t, ", the largest file");
  if (f->amount > 0) text_add(&t, " for %s %ss", grouped(a, f->amount), unit);
  if (first->goal.text) text_add(&t, " at %s", first->goal.text);
  text_add(&t, "\n\n");
  rows_text(&t, add_files, f, options);
  text_add(&t, "\n");
  if (f->answer < 0) {
    FACT(&lines, "answer", "none");
  } else {
    const situ_fitting *best = f->fittings[f->answer];
    fact_start(&lines, "answer");
    text_add_clean(&t, name_of(best));
    text_add(&t, ", %s of weights\n", text_size(b, best->weight_bytes));
  }
  const situ_fitting *of = f->fittings[f->answer < 0 ? 0 : f->answer];
  if (of->n > 0) report_unknown(&lines, of->instances[0]->problem);
  return text_take(&t);
}

situ_status situ_report_fit_files(char **out, const situ_fitting *const *fittings, int32_t n, int64_t amount,
                                  situ_report_format format, const situ_report_options *options, situ_error *error) {
  situ_report_options look;
  TRY(report_open(out, &look, format, REPORT_TABLE | REPORT_JSON, options, error));
  TRY(GIVEN(error, fittings));
  for (int32_t k = 0; k < n; k++) TRY(GIVEN(error, fittings[k]));
  if (n < 1) return fail_with(error, SITU_STATUS_BAD_ARGUMENT, NULL, "situ_report_fit_files: no fitting");
  files f = {fittings, n, situ_fitting_largest(fittings, n, amount), amount};
  return report_close(out, format == SITU_REPORT_JSON ? files_json(&f) : files_text(&f, &look), error);
}
