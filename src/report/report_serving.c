#include <stdio.h>

#include "api/serving.h"
#include "report/plan_row.h"
#include "report/report.h"
#include "situ/version.h"

static json_value *copies_json(const situ_serving *s, int32_t row) {
  json_value *list = json_new_array();
  bool ok = list != NULL;
  for (int32_t c = 0; ok && c < s->rows[row].n_copies; c++) {
    const serving_copy *copy = &s->copies[row][c];
    char layers[PLAN_ROW_LAYERS_BYTES];
    plan_row_layers(layers, copy->plan);
    json_value *one = OBJECT({"layers", .text = layers}, {"streams", AS_COUNT, .n = copy->streams},
                             {"tokens_per_second", AS_AMOUNT, .x = copy->tokens_per_s},
                             {"value_ns", AS_COUNT, .n = copy->plan->value_ns},
                             {"lower_bound_ns", AS_COUNT, .n = copy->plan->lower_bound_ns});
    ok = one && json_push(list, one);
  }
  return json_if(ok, list);
}

/* The table has the front alone, JSON everything. */
static void add_rows(row_list *out, const void *serving) {
  const situ_serving *s = serving;
  for (int32_t i = 0; i <= s->n; i++) {
    const situ_serving_row none = {0}, *r = i < s->n ? &s->rows[i] : &none;
    char each[TEXT_UNIT_BYTES], all[TEXT_UNIT_BYTES];
    out->blank = i == s->n;
    if (!out->blank && !out->list && !r->on_front) continue;
    plan_row row = plan_row_of(out->blank ? NULL : s->copies[i][0].plan, NULL, 0);
    ROW(out,
        {"stream_tokens_per_second", AS_AMOUNT, "tokens/s each", .x = r->stream_tokens_per_s,
         .shown = rates_text(each, r->stream_tokens_per_s), .style = STYLE_BOLD},
        {"tokens_per_second", AS_AMOUNT, "of all", .x = r->tokens_per_s, .shown = rates_text(all, r->tokens_per_s),
         .style = STYLE_BOLD},
        {"streams", AS_COUNT, "streams", .n = r->streams}, {"copies", AS_COUNT, "copies", .n = r->n_copies},
        {"group", AS_COUNT, "split over", .n = r->group}, {"fullest_share", AS_PERCENT, "fullest", .x = row.fullest},
        {"layers", AS_PROSE, "layers of a copy", .text = row.layers}, {"on_front", AS_BOOL, .n = r->on_front},
        {"space", .text = out->blank ? NULL : s->scopes[i]},
        {"plans", AS_TREE, .tree = out->list && !out->blank ? copies_json(s, i) : NULL});
  }
}

static const situ_problem *problem_of(const situ_serving *s) { return s->n > 0 ? s->copies[0][0].plan->problem : NULL; }

static char *serving_json(const situ_serving *s) {
  const situ_problem *p = problem_of(s);
  json_value *root =
      OBJECT({"version", .text = situ_version()}, {"model", .text = s->model}, {"platform", .text = s->platform},
             {"max_stream_tokens_per_second", AS_AMOUNT, .x = s->max_stream_tokens_per_s},
             {"best_single_device", .text = s->single},
             {"best_single_tokens_per_second", AS_AMOUNT, .x = s->single_tokens_per_s},
             {"reason", .text = s->n == 0 ? s->reason : NULL}, {"rows", AS_TREE, .tree = rows_json(add_rows, s)});
  return report_finish(root, !p || report_unknown_fields(root, &p->unknown, p->guessed));
}

/* "groups of 1, 2 or 4 devices". */
static void add_sizes(text_buffer *t, const situ_serving *s) {
  if (s->n_sizes == 1 && s->sizes[0] == 1) {
    text_add(t, "no groups");
    return;
  }
  text_add(t, "groups of ");
  for (int32_t k = 0; k < s->n_sizes; k++)
    text_add(t, "%s%d", k == 0 ? "" : k + 1 == s->n_sizes ? " or " : ", ", (int)s->sizes[k]);
  text_add(t, " devices");
}

static char *serving_text(const situ_serving *s, const situ_report_options *options) {
  text_buffer t = {0};
  char a[TEXT_UNIT_BYTES], line[600];
  int32_t others = 0;
  for (int32_t i = 0; i < s->n; i++) others += !s->rows[i].on_front;
  style_add(&t, options, STYLE_BOLD, s->model);
  text_add(&t, " on ");
  text_add_clean(&t, s->platform);
  text_add(&t, ", decoding\n\n");
  if (s->n == 0) {
    snprintf(line, sizeof line, "%s%s%.500s", situ_serving_impossible(s) ? "there is no plan" : "no plan was found",
             s->reason ? ": " : "", s->reason ? s->reason : "");
    text_add_wrapped(&t, line, "  ", "  ", report_width(options));
    return text_take(&t);
  }
  rows_text(&t, add_rows, s, options);
  text_add(&t, "\n");
  const fact_lines f = {&t, options, 11};
  if (s->max_stream_tokens_per_s > 0)
    FACT(&f, "one stream", "at most %s tokens/s, proved for one copy%s", rates_text(a, s->max_stream_tokens_per_s),
         problem_of(s)->guessed ? " and guessed costs" : "");
  if (s->single)
    FACT(&f, "best single", "%s tokens/s for one stream, %.64s alone", rates_text(a, s->single_tokens_per_s),
         s->single);
  else
    FACT(&f, "best single", "none  no single device can run the model");
  fact_start(&f, "tried");
  add_sizes(&t, s);
  if (others > 0) text_add(&t, "; %d dominated configuration%s not shown", (int)others, others == 1 ? " is" : "s are");
  text_add(&t, "\n");
  snprintf(line, sizeof line, "%.500s", s->scopes[0]);
  text_add_wrapped(&t, line, "  among        ", "               ", report_width(options));
  report_unknown(&f, problem_of(s));
  return text_take(&t);
}

situ_status situ_report_serving(char **out, const situ_serving *serving, situ_report_format format,
                                const situ_report_options *options, situ_error *error) {
  situ_report_options look;
  TRY(report_open(out, &look, format, REPORT_TABLE | REPORT_JSON, options, error));
  TRY(GIVEN(error, serving));
  return report_close(out, format == SITU_REPORT_JSON ? serving_json(serving) : serving_text(serving, &look), error);
}
