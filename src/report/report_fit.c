#include <stdio.h>

#include "api/fit.h"
#include "report/plan_row.h"
#include "report/report.h"
#include "situ/version.h"

static const char *const findings[] = {"fits", "not found", "impossible"};
static const style styles[] = {STYLE_GOOD, STYLE_PLAIN, STYLE_DIM};

static void add_amounts(row_list *out, const void *fitting) {
  const situ_fitting *f = fitting;
  int32_t answer = situ_fitting_answer(f);
  const char *unit = situ_fit_quantity_name(f->quantity);
  bool tokens = !f->inputs;
  for (int32_t i = 0; i <= f->n; i++) {
    const situ_fit_row none = {.reason = ""}, *r = i < f->n ? &f->rows[i] : &none;
    plan_row row = plan_row_of(r->plan, r->model, f->goal.tokens_per_s);
    out->blank = i == f->n;
    ROW(out, {"amount", AS_COUNT, unit, .n = r->amount, .style = i == answer ? STYLE_BOLD : STYLE_PLAIN},
        {"finding", AS_TEXT, "", .text = findings[r->finding], .style = styles[r->finding]},
        {"value_ns", AS_COUNT, .n = r->plan ? r->plan->value_ns : 0, .skip = !r->plan && !out->blank},
        {NULL, AS_ROUGH_TIME, "time", .n = r->plan ? r->plan->value_ns : 0, .shown = r->plan ? NULL : "-",
         .skip = tokens},
        {"inputs_per_second", AS_AMOUNT, "inputs/s",
         .x = r->plan ? 1e9 * (double)r->amount / (double)r->plan->value_ns : 0, .shown = r->plan ? NULL : "-",
         .skip = tokens},
        {"decode_tokens_per_second", AS_AMOUNT, "tokens/s", .x = row.rates.decode, .shown = row.decode,
         .skip = !tokens},
        {"prefill_tokens_per_second", AS_AMOUNT, "prefill", .x = row.rates.prefill, .shown = row.prefill,
         .skip = !tokens},
        {"time_to_first_token_ns", AS_ROUGH_TIME, "first token", .n = row.rates.ttft_ns,
         .shown = row.rates.ttft_ns > 0 ? NULL : "-", .skip = !tokens},
        {"fullest_share", AS_PERCENT, "fullest", .x = row.fullest, .shown = row.fullest > 0 ? NULL : "-"},
        {"fullest_device", .text = row.fullest_device}, {"layers", AS_PROSE, "layers", .text = row.layers},
        {"reason", .text = text_or_null(r->reason)}, {"space", .text = i < f->n ? f->scopes[i] : NULL});
  }
}

/* What is unknown depends on the model, its share a little on the amount: the problem of the answer, or of the first
 * amount; NULL where nothing was tried. */
static const situ_problem *problem_of(const situ_fitting *f) {
  int32_t answer = situ_fitting_answer(f);
  return f->n > 0 ? f->instances[answer < 0 ? 0 : answer]->problem : NULL;
}

static char *fit_json(const situ_fitting *f) {
  int32_t answer = situ_fitting_answer(f);
  const situ_fit_row *next = answer + 1 < f->n ? &f->rows[answer + 1] : NULL;
  const situ_problem *p = problem_of(f);
  json_value *root =
      OBJECT({"version", .text = situ_version()}, {"model", .text = f->model}, {"platform", .text = f->platform},
             {"quantity", .text = situ_fit_quantity_name(f->quantity)}, {"goal", .text = f->goal.text},
             {"answer", AS_INDEX, .n = answer < 0 ? -1 : f->rows[answer].amount},
             {"limit_reached", AS_BOOL, .n = answer >= 0 && f->rows[answer].amount >= f->max},
             {"proved", AS_BOOL, .n = next && next->finding == SITU_FIT_IMPOSSIBLE},
             {"rows", AS_TREE, .tree = rows_json(add_amounts, f)});
  return report_finish(root, !p || report_unknown_fields(root, &p->unknown, p->guessed));
}

static char *fit_text(const situ_fitting *f, const situ_report_options *options) {
  text_buffer t = {0};
  char a[TEXT_UNIT_BYTES], b[TEXT_UNIT_BYTES], line[800];
  int32_t answer = situ_fitting_answer(f);
  const char *unit = f->quantity == SITU_FIT_CONTEXT ? "tokens" : f->inputs ? "inputs" : "streams";
  style_add(&t, options, STYLE_BOLD, f->model);
  text_add(&t, " on ");
  text_add_clean(&t, f->platform);
  text_add(&t, f->quantity == SITU_FIT_CONTEXT ? ", the longest context"
               : f->inputs                     ? ", the largest batch"
                                               : ", the most streams");
  if (f->goal.text) text_add(&t, " for %s", f->goal.text);
  text_add(&t, "\n\n");
  rows_text(&t, add_amounts, f, options);
  text_add(&t, "\n");
  fact_start(&(fact_lines){&t, options, 6}, "answer");
  if (answer < 0)
    text_add(&t, "none\n");
  else if (f->rows[answer].amount >= f->max)
    text_add(&t, "%s %s, the maximum tried (--max)\n", grouped(a, f->rows[answer].amount), unit);
  else
    text_add(&t, "%s %s\n", grouped(a, f->rows[answer].amount), unit);
  if (answer + 1 < f->n) {
    const situ_fit_row *r = &f->rows[answer + 1];
    bool proved = r->finding == SITU_FIT_IMPOSSIBLE;
    snprintf(line, sizeof line, "%s %s: %s%s%.500s", grouped(b, r->amount), unit,
             !proved                  ? "no such plan was found"
             : problem_of(f)->guessed ? "impossible for guessed costs"
                                      : "proved impossible",
             *r->reason ? "; " : "", r->reason);
    text_add_wrapped(&t, line, "          ", "          ", report_width(options));
    snprintf(line, sizeof line, "%.700s", f->scopes[answer + 1]);
    text_add_wrapped(&t, line, "  among   ", "          ", report_width(options));
  }
  if (problem_of(f)) report_unknown(&(fact_lines){&t, options, 6}, problem_of(f));
  return text_take(&t);
}

situ_status situ_report_fit(char **out, const situ_fitting *fitting, situ_report_format format,
                            const situ_report_options *options, situ_error *error) {
  situ_report_options look;
  TRY(report_open(out, &look, format, REPORT_TABLE | REPORT_JSON, options, error));
  TRY(GIVEN(error, fitting));
  return report_close(out, format == SITU_REPORT_JSON ? fit_json(fitting) : fit_text(fitting, &look), error);
}
