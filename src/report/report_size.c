#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/size.h"
#include "report/rates.h"
#include "report/report.h"
#include "situ/version.h"

static const char *const findings[] = {"met", "missed", "impossible"};
static const style styles[] = {STYLE_GOOD, STYLE_PLAIN, STYLE_DIM};

/* A value in the words of the goal: a time, or tokens per second. */
static const char *in_goal(char into[TEXT_UNIT_BYTES], const situ_sizing *s, int64_t value_ns) {
  if (value_ns == SITU_NEVER_NS || value_ns == 0) return "-";
  return s->kind == GOAL_TOKENS ? rates_text(into, s->tokens * 1e9 / (double)value_ns) : exact_time(into, value_ns);
}

/* With four digits, or "-" where it is not known. */
static const char *price_text(char into[TEXT_UNIT_BYTES], double price) {
  return price < 0 ? "-" : price == 0 ? "0" : rates_text(into, price);
}

static bool row_json(json_value *list, const situ_sizing *s, const situ_size_row *r) {
  json_value *o = json_new_object();
  bool ok = o && json_set(o, "platform", json_new_text(r->platform));
  ok = ok && json_set(o, "goal", json_new_text(findings[r->finding]));
  ok = ok && json_set(o, "value_ns", report_amount(r->value_ns));
  ok = ok && json_set(o, "lower_bound_ns", report_amount(r->lower_bound_ns));
  if (s->tokens > 0)
    ok = ok && json_set(o, "tokens_per_second",
                        r->tokens_per_second > 0 ? json_new_number(r->tokens_per_second) : json_new_null());
  ok = ok && json_set(o, "price_per_hour", r->price < 0 ? json_new_null() : json_new_number(r->price));
  ok = ok && json_set(o, "price_per_million_tokens",
                      r->price_of_a_million < 0 ? json_new_null() : json_new_number(r->price_of_a_million));
  ok = ok && json_set(o, "reason", *r->reason ? json_new_text(r->reason) : json_new_null());
  ok = ok && json_set(o, "space", json_new_text(s->scopes[r - s->rows].plans));
  if (s->scopes[r - s->rows].split) ok = ok && json_set(o, "layers_split", json_new_bool(true));
  return json_push(list, o) && ok;
}

static char *size_json(const situ_sizing *s) {
  json_value *root = json_new_object(), *list = json_new_array();
  bool ok = root && json_set(root, "version", json_new_text(situ_version()));
  ok = ok && json_set(root, "model", json_new_text(s->model));
  ok = ok && json_set(root, "goal", json_new_text(s->goal));
  ok = ok && json_set(root, "answer", json_new_text(s->answer < 0 ? NULL : s->rows[s->answer].platform));
  ok = ok && json_set(root, "candidates", json_new_int(s->n_candidates));
  ok = ok && json_set(root, "without_price", json_new_int(s->n_unpriced));
  for (int32_t i = 0; ok && i < s->n; i++) ok = row_json(list, s, &s->rows[i]);
  ok = json_set(root, "rows", list) && ok;
  return report_finish(root, ok);
}

static void size_table(text_buffer *t, const situ_sizing *s, const situ_report_options *options) {
  bool tokens = s->kind == GOAL_TOKENS;
  char a[TEXT_UNIT_BYTES];
  table rows;
  if (!table_begin(&rows, t)) return;
  table_column(&rows, "platform", ALIGN_LEFT, 22);
  table_column(&rows, tokens ? "tokens/s" : "value", ALIGN_RIGHT, 0);
  table_column(&rows, tokens ? "at most" : "bound", ALIGN_RIGHT, 0);
  table_column(&rows, "goal", ALIGN_LEFT, 0);
  if (s->priced) table_column(&rows, "per hour", ALIGN_RIGHT, 0);
  if (s->priced && s->tokens > 0) table_column(&rows, "million", ALIGN_RIGHT, 0);
  for (int32_t i = 0; i < s->n; i++) {
    const situ_size_row *r = &s->rows[i];
    table_cell(&rows, i == s->answer ? STYLE_BOLD : STYLE_PLAIN, r->platform);
    table_cell(&rows, STYLE_PLAIN, in_goal(a, s, r->value_ns));
    table_cell(&rows, STYLE_PLAIN, in_goal(a, s, r->lower_bound_ns));
    table_cell(&rows, styles[r->finding], findings[r->finding]);
    if (s->priced) table_cell(&rows, STYLE_PLAIN, price_text(a, r->price));
    if (s->priced && s->tokens > 0) table_cell(&rows, STYLE_PLAIN, price_text(a, r->price_of_a_million));
  }
  table_render(t, &rows, options);
  table_stop(&rows);
}

static void answer_line(text_buffer *t, const situ_sizing *s, const situ_report_options *options) {
  char a[TEXT_UNIT_BYTES];
  fact_start(t, options, "answer", 6);
  if (s->answer >= 0) {
    const situ_size_row *r = &s->rows[s->answer];
    text_add_clean(t, r->platform);
    text_add(t, ", %s%s", in_goal(a, s, r->value_ns), s->kind == GOAL_TOKENS ? " tokens/s" : "");
    if (r->price_of_a_million >= 0) text_add(t, ", %s per million tokens", price_text(a, r->price_of_a_million));
    text_add(t, "\n");
  } else {
    text_add(t, s->n < s->n_candidates ? "none yet\n" : "none of these\n");
  }
}

/* The plans that bounds and findings speak of: once where all candidates have the same. */
static void scope_lines(text_buffer *t, const situ_sizing *s, const situ_report_options *options) {
  bool same = true, split = false;
  char line[1024];
  for (int32_t i = 0; i < s->n; i++) {
    same &= strcmp(s->scopes[i].plans, s->scopes[0].plans) == 0;
    split |= s->scopes[i].split;
  }
  for (int32_t i = 0; i < s->n && (i == 0 || !same); i++) {
    snprintf(line, sizeof line, "%s%s%s", same ? "" : s->rows[i].platform, same ? "" : ": ", s->scopes[i].plans);
    text_add_wrapped(t, line, "  among   ", "          ", report_width(options));
  }
  for (int32_t i = 0; i < s->n && split; i++) {
    if (!s->scopes[i].split) continue;
    snprintf(line, sizeof line, "%s: no plan was found that keeps layers whole, so they may be split",
             s->rows[i].platform);
    text_add_wrapped(t, line, "  ", "    ", report_width(options));
  }
}

static char *size_text(const situ_sizing *s, const situ_report_options *options) {
  text_buffer t = {0};
  bool proved = false;
  style_add(&t, options, STYLE_BOLD, s->model);
  text_add(&t, ", the smallest platform for %s\n\n", s->goal);
  size_table(&t, s, options);
  text_add(&t, "\n");
  answer_line(&t, s, options);
  for (int32_t i = 0; i < s->n; i++) proved |= s->rows[i].finding == SITU_SIZE_IMPOSSIBLE;
  if (proved) text_add(&t, "  impossible: proved that no plan meets the goal\n");
  scope_lines(&t, s, options);
  if (s->n < s->n_candidates)
    text_add(&t, "  not tried: %d of %d candidates\n", (int)(s->n_candidates - s->n), (int)s->n_candidates);
  if (s->n_unpriced > 0) text_add(&t, "  skipped, no price: %d\n", (int)s->n_unpriced);
  for (int32_t i = 0; i < s->n; i++) {
    if (!*s->rows[i].reason) continue;
    char line[640];
    snprintf(line, sizeof line, "%s: %s", s->rows[i].platform, s->rows[i].reason);
    text_add_wrapped(&t, line, "  ", "    ", report_width(options));
  }
  return text_take(&t);
}

situ_status situ_report_size(char **out, const situ_sizing *sizing, situ_report_format format,
                             const situ_report_options *options, situ_error *error) {
  situ_report_options look;
  TRY(report_open(out, &look, format, REPORT_TABLE | REPORT_JSON, options, error));
  TRY(GIVEN(error, sizing));
  return report_close(out, format == SITU_REPORT_JSON ? size_json(sizing) : size_text(sizing, &look), error);
}
