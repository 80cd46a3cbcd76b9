#include "api/disaggregation.h"
#include "report/plan_row.h"
#include "report/report.h"
#include "situ/version.h"

static json_value *side_json(const situ_plan *plan) {
  char layers[PLAN_ROW_LAYERS_BYTES];
  plan_row_layers(layers, plan);
  return OBJECT({"layers", .text = layers}, {"value_ns", AS_COUNT, .n = plan->value_ns},
                {"lower_bound_ns", AS_COUNT, .n = plan->lower_bound_ns});
}

/* The table has the front alone, JSON everything. */
static void add_rows(row_list *out, const void *disaggregation) {
  const situ_disaggregation *s = disaggregation;
  for (int32_t i = 0; i <= s->n; i++) {
    const situ_disaggregation_row none = {0}, *r = i < s->n ? &s->rows[i] : &none;
    char each[TEXT_UNIT_BYTES], all[TEXT_UNIT_BYTES];
    out->blank = i == s->n;
    if (!out->blank && !out->list && !r->on_front) continue;
    bool trees = out->list && !out->blank;
    ROW(out, {"request_ns", AS_ROUGH_TIME, "a request", .n = r->request_ns, .style = STYLE_BOLD},
        {"requests_per_second", AS_AMOUNT, "requests/s", .x = r->requests_per_s,
         .shown = rates_text(all, r->requests_per_s), .style = STYLE_BOLD},
        {"max_requests_per_second", AS_AMOUNT, .x = r->max_requests_per_s},
        {"prefill_devices", AS_PROSE, "prompts on", .text = r->prefill_devices},
        {"prefill_ns", AS_ROUGH_TIME, "take", .n = r->prefill_ns},
        {"transfer_bytes", AS_BYTES, "caches", .n = r->transfer_bytes},
        {"transfer_ns", AS_ROUGH_TIME, "take", .n = r->transfer_ns},
        {"decode_devices", AS_PROSE, "decoding on", .text = r->decode_devices},
        {"streams", AS_COUNT, "streams", .n = r->streams},
        {"stream_tokens_per_second", AS_AMOUNT, "tokens/s each", .x = r->stream_tokens_per_s,
         .shown = rates_text(each, r->stream_tokens_per_s)},
        {"on_front", AS_BOOL, .n = r->on_front},
        {"prefill_plan", AS_TREE, .tree = trees ? side_json(s->plan[i][0]) : NULL},
        {"decode_plan", AS_TREE, .tree = trees ? side_json(s->plan[i][1]) : NULL});
  }
}

static char *disaggregation_json(const situ_disaggregation *s) {
  const situ_disaggregation_summary *of = &s->summary;
  const situ_problem *p = s->n > 0 ? s->plan[0][0]->problem : NULL;
  json_value *root =
      OBJECT({"version", .text = situ_version()}, {"model", .text = s->model}, {"platform", .text = s->platform},
             {"prompt", AS_COUNT, .n = s->prompt}, {"generate", AS_COUNT, .n = s->generate},
             {"together_requests_per_second", AS_AMOUNT, .x = of->together_requests_per_s},
             {"together_request_ns", AS_COUNT, .n = of->together_request_ns},
             {"max_requests_per_second", AS_AMOUNT, .x = of->max_requests_per_s},
             {"rows", AS_TREE, .tree = rows_json(add_rows, s)});
  return report_finish(root, !p || report_unknown_fields(root, &p->unknown, p->guessed));
}

/* What apart gains over together: "1.32 times as many requests". */
static void add_verdict(const fact_lines *f, const situ_disaggregation *s) {
  const situ_disaggregation_summary *of = &s->summary;
  char time[TEXT_UNIT_BYTES], rate[TEXT_UNIT_BYTES];
  const char *keep = s->n > 0 ? s->plan[0][0]->problem->keep_name : NULL;
  double max = 0;
  for (int32_t i = 0; i < s->n; i++) max = s->rows[i].requests_per_s > max ? s->rows[i].requests_per_s : max;
  if (of->together_requests_per_s > 0)
    FACT(f, "together", "%s requests/s with each copy doing both, %s for one request alone",
         rates_text(rate, of->together_requests_per_s),
         of->together_request_ns > 0 ? text_time(time, of->together_request_ns) : "no plan");
  else
    FACT(f, "together", "no plan was found where each copy does both");
  bool both = of->together_requests_per_s > 0 && max > 0;
  if (both && of->together_request_ns > 0)
    FACT(f, "apart", "%.2f times as many requests at best; a request in %.2f of the time",
         max / of->together_requests_per_s, (double)s->rows[0].request_ns / (double)of->together_request_ns);
  else if (both)
    FACT(f, "apart", "%.2f times as many requests at best", max / of->together_requests_per_s);
  if (of->max_requests_per_s > 0)
    FACT(f, "at most", "%s requests/s, proved for these devices and streams, one prompt at a time%s%s%s",
         rates_text(rate, of->max_requests_per_s), keep ? ", " : "", keep ? keep : "", keep ? " whole" : "");
}

static char *disaggregation_text(const situ_disaggregation *s, const situ_report_options *options) {
  text_buffer t = {0};
  int32_t others = 0;
  for (int32_t i = 0; i < s->n; i++) others += !s->rows[i].on_front;
  style_add(&t, options, STYLE_BOLD, s->model);
  text_add(&t, " on ");
  text_add_clean(&t, s->platform);
  text_add(&t, ", prompts of %lld tokens apart from %lld steps of decoding\n\n", (long long)s->prompt,
           (long long)s->generate);
  if (s->n > 0)
    rows_text(&t, add_rows, s, options);
  else
    text_add(&t, "  no two plans on different devices were found\n");
  text_add(&t, "\n");
  const fact_lines f = {&t, options, 11};
  add_verdict(&f, s);
  if (others > 0)
    FACT(&f, "tried", "%d dominated configuration%s not shown", (int)others, others == 1 ? " is" : "s are");
  if (s->n > 0) report_unknown(&f, s->plan[0][0]->problem);
  return text_take(&t);
}

situ_status situ_report_disaggregation(char **out, const situ_disaggregation *disaggregation, situ_report_format format,
                                       const situ_report_options *options, situ_error *error) {
  situ_report_options look;
  TRY(report_open(out, &look, format, REPORT_TABLE | REPORT_JSON, options, error));
  TRY(GIVEN(error, disaggregation));
  return report_close(
      out,
      format == SITU_REPORT_JSON ? disaggregation_json(disaggregation) : disaggregation_text(disaggregation, &look),
      error);
}
