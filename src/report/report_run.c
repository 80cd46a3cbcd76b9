#include <math.h>

#include "engine/measure.h"
#include "report/rates.h"
#include "report/report.h"

static const double POOR_SHARE = 0.1;
enum { ROWS_SHOWN = 24 };

/* How far a prediction is off, as a share of what was measured. */
static double off(int64_t predicted_ns, int64_t measured_ns) {
  return measured_ns > 0 ? (double)(predicted_ns - measured_ns) / (double)measured_ns : 0;
}

static void add_stages(row_list *out, const void *run) {
  const situ_run *r = run;
  const situ_problem *p = r->problem;
  for (int32_t k = 0; k < r->n_parts && (out->list || k < ROWS_SHOWN); k++) {
    const run_stage *s = &r->parts[k];
    double share = off(s->predicted_ns, s->measured_ns);
    bool any = s->core < 0;
    ROW(out, {NULL, AS_INDEX, "part", .n = k, .style = STYLE_DIM},
        {"device", AS_NAME, "device", .text = report_device(p, s->device), .max = 12},
        {"core", AS_INDEX, "core", .n = s->core, .shown = any ? "any" : NULL, .style = any ? STYLE_DIM : STYLE_PLAIN},
        {"first", .text = s->first >= 0 ? p->graph->name[s->first] : NULL},
        {"last", .text = s->last >= 0 ? p->graph->name[s->last] : NULL}, {"nodes", AS_COUNT, "nodes", .n = s->n_nodes},
        {"predicted_ns", AS_TIME, "predicted", .n = s->predicted_ns},
        {"measured_ns", AS_TIME, "measured", .n = s->measured_ns}, {"spread_ns", AS_COUNT, .n = s->half_ns},
        {NULL, AS_CHANGE, "off", .x = share, .style = fabs(share) > POOR_SHARE ? STYLE_WARN : STYLE_PLAIN});
  }
}

static void add_transfers(row_list *out, const void *run) {
  const situ_run *r = run;
  for (int32_t i = 0; i < r->n_transfers; i++) {
    const run_transfer *t = &r->transfers[i];
    ROW(out, {"tensor", .text = t->name}, {"bytes", AS_COUNT, .n = t->bytes},
        {"from_part", AS_COUNT, .n = t->from_part}, {"to_part", AS_COUNT, .n = t->to_part},
        {"predicted_ns", AS_COUNT, .n = t->predicted_ns}, {"measured_ns", AS_INDEX, .n = t->measured_ns});
  }
}

static void add_links(row_list *out, const void *run) {
  const situ_run *r = run;
  for (int32_t i = 0; i < r->n_links; i++) {
    const run_link *l = &r->links[i];
    ROW(out, {"from_rank", AS_COUNT, .n = l->from}, {"to_rank", AS_COUNT, .n = l->to},
        {"latency_ns", AS_COUNT, .n = l->latency_ns}, {"bytes_per_s", AS_NUMBER, .x = l->bytes_per_s});
  }
}

/* What only runs of several ranks have. */
static bool add_ranks(json_value *root, const situ_run *r) {
  json_value *rank_of = json_new_object();
  bool ok = true;
  for (int32_t d = 0; d < r->problem->n_devices; d++)
    ok &= json_set(rank_of, report_device(r->problem, d), json_new_int(r->rank_of[d]));
  return FIELDS(root, {"ranks", AS_COUNT, .n = r->n_ranks}, {"rank_of", AS_TREE, .tree = rank_of},
                {"links", AS_TREE, .tree = rows_json(add_links, r)}) &&
         ok;
}

/* ---- language models that a server ran ---- */

static void add_buffers(row_list *out, const void *run) {
  const situ_run *r = run;
  for (int32_t i = 0; i < r->served->n_buffers; i++) {
    const run_buffer *b = &r->served->buffers[i];
    double share = off(b->predicted_bytes, b->measured_bytes);
    ROW(out, {"device", AS_NAME, "device", .text = report_device(r->problem, b->device), .max = 12},
        {"name", .text = b->name}, {NULL, AS_NAME, "engine", .text = b->name, .max = 30},
        {"predicted_bytes", AS_BYTES, "predicted", .n = b->predicted_bytes},
        {"measured_bytes", AS_BYTES, "its log", .n = b->measured_bytes},
        {NULL, AS_CHANGE, "off", .x = share, .style = fabs(share) > POOR_SHARE ? STYLE_WARN : STYLE_PLAIN});
  }
}

static void add_strays(row_list *out, const void *run) {
  const situ_run *r = run;
  for (int32_t i = 0; i < r->served->n_strays; i++) {
    const run_stray *s = &r->served->strays[i];
    ROW(out, {"layer", AS_COUNT, .n = s->layer}, {"planned", .text = s->planned}, {"found", .text = s->found});
  }
}

static double tokens_per_s(int64_t tokens, int64_t time_ns) {
  return time_ns > 0 ? 1e9 * (double)tokens / (double)time_ns : 0;
}

static char *served_json(const situ_run *r) {
  const run_served *s = r->served;
  json_value *root = OBJECT(
      {"model", .text = r->problem->graph->model}, {"engine", .text = r->engine},
      {"threads", AS_COUNT, .n = r->threads}, {"kind", .text = "request"},
      {"predicted_ns", AS_TIME, .n = r->predicted_ns}, {"measured_ns", AS_COUNT, .n = r->measured_ns},
      {"spread_ns", AS_COUNT, .n = r->half_ns}, {"items", AS_COUNT, .n = r->n_items},
      {"prompt_tokens", AS_COUNT, .n = s->prompt}, {"generated_tokens", AS_COUNT, .n = s->generate},
      {"predicted_prefill_tokens_per_second", AS_NUMBER, .x = s->prefill},
      {"prefill_tokens_per_second", AS_NUMBER, .x = tokens_per_s(s->prompt, s->prompt_ns)},
      {"predicted_decode_tokens_per_second", AS_NUMBER, .x = s->decode},
      {"decode_tokens_per_second", AS_NUMBER, .x = tokens_per_s(s->generate, s->generate_ns)},
      {"layers_as_planned", AS_BOOL, .n = s->n_strays == 0}, {"strays", AS_TREE, .tree = rows_json(add_strays, r)},
      {"buffers", AS_TREE, .tree = rows_json(add_buffers, r)});
  return report_finish(root, true);
}

static void rate_fact(const fact_lines *f, const char *name, double predicted, double measured) {
  char a[TEXT_UNIT_BYTES], b[TEXT_UNIT_BYTES];
  if (predicted <= 0) FACT(f, name, "measured %s tokens/s", rates_text(b, measured));
  if (predicted > 0)
    FACT(f, name, "predicted %s tokens/s, measured %s (%+.1f %%)", rates_text(a, predicted), rates_text(b, measured),
         measured > 0 ? 100 * (predicted / measured - 1) : 0);
}

static char *served_text(const situ_run *r, const situ_report_options *options) {
  const run_served *s = r->served;
  text_buffer t = {0};
  const fact_lines f = {&t, options, 9};
  char a[TEXT_UNIT_BYTES], b[TEXT_UNIT_BYTES], c[TEXT_UNIT_BYTES];
  rows_text(&t, add_buffers, r, options);
  text_add(&t, "\n");
  FACT(&f, "request", "%lld + %lld tokens: predicted %s, measured %s +- %s (%+.1f %%)", (long long)s->prompt,
       (long long)s->generate, exact_time(a, r->predicted_ns), exact_time(b, r->measured_ns), text_time(c, r->half_ns),
       100 * off(r->predicted_ns, r->measured_ns));
  rate_fact(&f, "prefill", s->prefill, tokens_per_s(s->prompt, s->prompt_ns));
  rate_fact(&f, "decoding", s->decode, tokens_per_s(s->generate, s->generate_ns));
  if (s->n_strays == 0) FACT(&f, "layers", "all %d, and the head, are where the plan has them", (int)s->n_layers);
  for (int32_t i = 0; i < s->n_strays && i < ROWS_SHOWN; i++)
    FACT(&f, "layers", "%d is on %s, planned on %s", (int)s->strays[i].layer, s->strays[i].found, s->strays[i].planned);
  FACT(&f, "engine", "%s, %d thread%s, %d requests", r->engine, (int)r->threads, r->threads == 1 ? "" : "s",
       (int)r->n_items);
  return text_take(&t);
}

static char *run_json(const situ_run *r) {
  json_value *root = OBJECT(
      {"model", .text = r->problem->graph->model}, {"engine", .text = r->engine},
      {"threads", AS_COUNT, .n = r->threads}, {"level", AS_COUNT, .n = r->level},
      {"kind", .text = r->pipeline ? "period" : "latency"}, {"predicted_ns", AS_TIME, .n = r->predicted_ns},
      {"measured_ns", AS_COUNT, .n = r->measured_ns}, {"spread_ns", AS_COUNT, .n = r->half_ns},
      {"items", AS_COUNT, .n = r->n_items}, {"latency_ns", AS_COUNT, .n = r->latency_ns},
      {"whole_ns", AS_COUNT, .n = r->whole_ns}, {"whole_spread_ns", AS_COUNT, .n = r->whole_half_ns},
      {"outputs_equal", AS_BOOL, .n = r->difference <= r->tolerance},
      {"max_relative_error", AS_NUMBER, .x = r->difference}, {"stages", AS_TREE, .tree = rows_json(add_stages, r)},
      {"transfers", AS_TREE, .tree = rows_json(add_transfers, r)},
      {"by_parts_ns", AS_COUNT, .n = r->by_parts_ns, .skip = r->by_parts_ns <= 0},
      {"made_up_weights", .text = r->made_up, .skip = !r->made_up});
  return report_finish(root, !r->rank_of || add_ranks(root, r));
}

/* All hand-overs together. */
static void transfers_fact(const fact_lines *f, const situ_run *r) {
  int64_t predicted_ns = 0, measured_ns = 0, bytes = 0;
  char a[TEXT_UNIT_BYTES], b[TEXT_UNIT_BYTES], c[TEXT_UNIT_BYTES];
  for (int32_t x = 0; x < r->n_transfers; x++) {
    predicted_ns += r->transfers[x].predicted_ns;
    bytes += r->transfers[x].bytes;
    bool again = false; /* tensors from one part to another come together */
    for (int32_t y = 0; y < x && !again; y++)
      again =
          r->transfers[y].from_part == r->transfers[x].from_part && r->transfers[y].to_part == r->transfers[x].to_part;
    if (r->transfers[x].measured_ns > 0 && !again) measured_ns += r->transfers[x].measured_ns;
  }
  FACT(f, "handed on", "%d tensors, %s: predicted %s, measured %s", (int)r->n_transfers, text_size(c, bytes),
       text_time(a, predicted_ns), text_time(b, measured_ns));
}

static char *run_text(const situ_run *r, const situ_report_options *options) {
  text_buffer t = {0};
  const fact_lines f = {&t, options, 9};
  char a[TEXT_UNIT_BYTES], b[TEXT_UNIT_BYTES], c[TEXT_UNIT_BYTES];
  rows_text(&t, add_stages, r, options);
  if (r->n_parts > ROWS_SHOWN) text_add(&t, "  and %d more parts\n", (int)r->n_parts - ROWS_SHOWN);
  text_add(&t, "\n");
  FACT(&f, r->pipeline ? "period" : "latency", "predicted %s, measured %s +- %s (%+.1f %%)",
       exact_time(a, r->predicted_ns), exact_time(b, r->measured_ns), text_time(c, r->half_ns),
       100 * off(r->predicted_ns, r->measured_ns));
  if (r->by_parts_ns > 0)
    FACT(&f, "by parts", "predicted %s with the overhead of each part (%+.1f %%)", exact_time(a, r->by_parts_ns),
         r->measured_ns > 0 ? 100 * ((double)r->by_parts_ns / (double)r->measured_ns - 1) : 0);
  if (r->pipeline) FACT(&f, "latency", "%s for a single input", exact_time(a, r->latency_ns));
  FACT(&f, "whole", "%s +- %s on a single device of the engine", exact_time(a, r->whole_ns),
       text_time(b, r->whole_half_ns));
  if (r->n_transfers > 0) transfers_fact(&f, r);
  for (int32_t i = 0; i < r->n_links && i < ROWS_SHOWN; i++) {
    const run_link *l = &r->links[i];
    FACT(&f, "link", "rank %d to %d: %s, %s/s", (int)l->from, (int)l->to, text_time(a, l->latency_ns),
         text_size(b, (int64_t)l->bytes_per_s));
  }
  FACT(&f, "outputs", "%s those of the whole model, maximum relative difference %.2g",
       r->difference <= r->tolerance ? "equal to" : "DIFFER from", r->difference);
  if (r->made_up) FACT(&f, "weights", "random: %s is missing", r->made_up);
  FACT(&f, "engine", "%s, %d thread%s for each device, level %d, %d inputs", r->engine, (int)r->threads,
       r->threads == 1 ? "" : "s", (int)r->level, (int)r->n_items);
  return text_take(&t);
}

situ_status situ_report_run(char **out, const situ_run *run, situ_report_format format,
                            const situ_report_options *options, situ_error *error) {
  situ_report_options look;
  TRY(report_open(out, &look, format, REPORT_TABLE | REPORT_JSON, options, error));
  TRY(GIVEN(error, run));
  bool json = format == SITU_REPORT_JSON;
  if (run->served) return report_close(out, json ? served_json(run) : served_text(run, &look), error);
  return report_close(out, json ? run_json(run) : run_text(run, &look), error);
}
