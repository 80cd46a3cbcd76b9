#include "report/page.h"

#include <stdlib.h>
#include <string.h>

#include "report/draw.h"

/* Whether bytes from i on are U+2028 or U+2029, ends of lines to JavaScript. */
static bool ends_line(const char *text, size_t n, size_t i) {
  return i + 2 < n && memcmp(text + i, "\xe2\x80", 2) == 0 && ((unsigned char)text[i + 2] & 0xfe) == 0xa8;
}

/* Adds JSON in which HTML sees no tag, comment or entity: such characters occur only in strings, as escapes. */
static void add_embedded(text_buffer *out, const text_buffer *json) {
  size_t done = 0;
  for (size_t i = 0; i < json->length; i++) {
    unsigned char c = (unsigned char)json->bytes[i];
    bool line = c == 0xe2 && ends_line(json->bytes, json->length, i);
    if (c != '<' && c != '>' && c != '&' && c != 0x7f && !line) continue;
    text_add_bytes(out, json->bytes + done, i - done);
    text_add(out, "\\u%04x", line ? 0x2000u + (unsigned char)json->bytes[i + 2] - 0x80 : c);
    if (line) i += 2;
    done = i + 1;
  }
  text_add_bytes(out, json->bytes + done, json->length - done);
}

static void add_row(text_buffer *t, const situ_compare_row *row, const situ_problem *p) {
  text_add(t, "[");
  for (int32_t d = 0; row->plan && plan_exists(row->plan) && d < p->n_devices; d++) {
    situ_device_use use = plan_use(row->plan, d);
    text_add(t, "%s[%d,%lld,%lld]", d ? "," : "", (int)use.n_operators, (long long)use.load_ns,
             (long long)use.memory_bytes);
  }
  text_add(t, "]");
}

/* The table of `compare --json`, and for each of its rows, in the order in which they ran, the use of each device. */
static situ_status add_rows(text_buffer *t, const situ_comparison *of, const situ_plan *plan, situ_error *error) {
  const situ_problem *p = situ_comparison_problem(of);
  char *text;
  TRY(plan_belongs(plan, p, error));
  TRY(situ_report_compare(&text, of, NULL, SITU_REPORT_JSON, NULL, error));
  text_add(t, ",\"compare\":%s,\"compare_uses\":{", text);
  free(text);
  for (int32_t k = 0; k < situ_comparison_count(of); k++) {
    situ_compare_row row = situ_comparison_at(of, k);
    if (k) text_add(t, ",");
    json_quote(t, row.solver);
    text_add(t, ":");
    add_row(t, &row, p);
  }
  text_add(t, "}");
  return SITU_STATUS_OK;
}

/* A run as JSON: read, so that nothing else comes into the page, and written again. */
static situ_status add_run(text_buffer *t, const char *text, situ_error *error) {
  json_value *run;
  TRY(json_parse(&run, text, strlen(text), "run", error));
  if (json_kind_of(json_get(run, "predicted_ns")) == JSON_INT &&
      json_kind_of(json_get(run, "measured_ns")) == JSON_INT &&
      json_kind_of(json_get(run, "stages")) == JSON_ARRAY_KIND) {
    page_add_tree(t, "run", run, true);
    return SITU_STATUS_OK;
  }
  json_free(run);
  return fail_with(error, SITU_STATUS_BAD_INPUT, "run",
                   "predicted_ns, measured_ns or stages are missing; expected what "
                   "`situ run --json` prints");
}

static situ_status add_data(text_buffer *t, const situ_plan *plan, const situ_model *model, const situ_page_options *o,
                            situ_error *error) {
  text_add(t, "{\"situ_report\":1,\"colours\":[");
  for (int c = 0; c < DRAW_COLOURS; c++) text_add(t, "%s\"%s\"", c ? "," : "", draw_colours[c]);
  text_add(t, "],\"plans\":[");
  page_add_plan(t, plan, model, o->what_ifs);
  if (o->other) {
    text_add(t, ",");
    page_add_plan(t, o->other, NULL, NULL);
  }
  text_add(t, "]");
  if (o->comparison) TRY(add_rows(t, o->comparison, plan, error));
  if (o->run_json) TRY(add_run(t, o->run_json, error));
  text_add(t, "}");
  return SITU_STATUS_OK;
}

static situ_status drawable(const situ_plan *plan, situ_error *error) {
  TRY(GIVEN(error, plan));
  if (plan->device) return SITU_STATUS_OK;
  return fail_with(error, SITU_STATUS_BAD_ARGUMENT, NULL, "the plan has no placement to report");
}

situ_status situ_report_page(char **out, const situ_plan *plan, const situ_model *model,
                             const situ_page_options *options, situ_error *error) {
  situ_page_options o;
  text_buffer data = {0}, page = {0};
  if (out) *out = NULL;
  TRY(GIVEN(error, out));
  TRY(TAKE(o, options, SITU_PAGE_OPTIONS_INIT, error));
  TRY(drawable(plan, error));
  if (o.other) TRY(drawable(o.other, error));
  situ_status status = add_data(&data, plan, model, &o, error);
  if (status == SITU_STATUS_OK) {
    text_add_bytes(&page, page_before, strlen(page_before));
    if (!data.failed) add_embedded(&page, &data);
    text_add_bytes(&page, page_after, strlen(page_after));
    page.failed |= data.failed;
    status = report_close(out, text_take(&page), error);
  }
  text_free(&data);
  text_free(&page);
  return status;
}
