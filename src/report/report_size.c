#include <math.h>
#include <stdio.h>
#include <string.h>

#include "api/size.h"
#include "report/rates.h"
#include "report/report.h"
#include "situ/version.h"

static const char *const findings[] = {"met", "missed", "impossible"};
static const style styles[] = {STYLE_GOOD, STYLE_PLAIN, STYLE_DIM};

/* A value in the words of the goal: a time, or tokens per second; one that misses it does not look as if it met it. */
static const char *in_goal(char into[TEXT_UNIT_BYTES], const situ_sizing *s, int64_t value_ns) {
  char limit[TEXT_UNIT_BYTES];
  if (value_ns == SITU_NEVER_NS || value_ns == 0) return "-";
  if (s->goal.kind == GOAL_TOKENS)
    return rates_text_beside(into, s->tokens * 1e9 / (double)value_ns, s->goal.tokens_per_s);
  bool alike = strcmp(exact_time(into, value_ns), exact_time(limit, s->goal.limit_ns)) == 0;
  if (alike && value_ns > s->goal.limit_ns) snprintf(into, TEXT_UNIT_BYTES, "%lld ns", (long long)value_ns);
  return into;
}

/* NaN, which is null in JSON, for a price that is not known. */
static double known(double price) { return price < 0 ? (double)NAN : price; }

/* With four digits, or "-" where it is not known. */
static const char *price_text(char into[TEXT_UNIT_BYTES], double price) {
  return price < 0 ? "-" : price == 0 ? "0" : rates_text(into, price);
}

static void add_candidates(row_list *out, const void *sizing) {
  const situ_sizing *s = sizing;
  bool tokens = s->goal.kind == GOAL_TOKENS, language = s->tokens > 0;
  char value[TEXT_UNIT_BYTES], bound[TEXT_UNIT_BYTES], hour[TEXT_UNIT_BYTES], million[TEXT_UNIT_BYTES];
  for (int32_t i = 0; i <= s->n; i++) {
    const situ_size_row none = {.reason = ""}, *r = i < s->n ? &s->rows[i] : &none;
    const struct size_scope scope = i < s->n ? s->scopes[i] : (struct size_scope){0};
    const char *finding = findings[r->finding];
    out->blank = i == s->n;
    ROW(out,
        {"platform", AS_TEXT, "platform", .text = r->platform, .style = i == s->answer ? STYLE_BOLD : STYLE_PLAIN,
         .max = 22},
        {"goal", .text = finding},
        {"value_ns", AS_TIME, tokens ? "tokens/s" : "value", .n = r->value_ns, .shown = in_goal(value, s, r->value_ns)},
        {"lower_bound_ns", AS_TIME, tokens ? "at most" : "bound", .n = r->lower_bound_ns,
         .shown = in_goal(bound, s, r->lower_bound_ns)},
        {NULL, AS_TEXT, "goal", .text = finding, .style = styles[r->finding]},
        {"tokens_per_second", AS_AMOUNT, .x = r->tokens_per_second, .skip = !language},
        {"price_per_hour", AS_NUMBER, .x = known(r->price)},
        {NULL, AS_NUMBER, "per hour", .shown = price_text(hour, r->price), .skip = !s->priced},
        {"price_per_million_tokens", AS_NUMBER, .x = known(r->price_of_a_million)},
        {NULL, AS_NUMBER, "million", .shown = price_text(million, r->price_of_a_million),
         .skip = !s->priced || !language},
        {"reason", .text = text_or_null(r->reason)}, {"space", .text = scope.plans},
        {"layers_split", AS_BOOL, .n = true, .skip = !scope.split},
        {"unknown", AS_TREE, .tree = out->list ? report_unknown_rows(&scope.unknown) : NULL, .skip = !out->list},
        {"unknown_share", AS_NUMBER, .x = scope.unknown.share}, {"guessed", AS_BOOL, .n = scope.guessed});
  }
}

static char *size_json(const situ_sizing *s) {
  return report_finish(
      OBJECT({"version", .text = situ_version()}, {"model", .text = s->model}, {"goal", .text = s->goal.text},
             {"answer", .text = s->answer < 0 ? NULL : s->rows[s->answer].platform},
             {"candidates", AS_COUNT, .n = s->n_candidates}, {"without_price", AS_COUNT, .n = s->n_unpriced},
             {"rows", AS_TREE, .tree = rows_json(add_candidates, s)}),
      true);
}

static void answer_line(text_buffer *t, const situ_sizing *s, const situ_report_options *options) {
  char a[TEXT_UNIT_BYTES];
  fact_start(&(fact_lines){t, options, 6}, "answer");
  if (s->answer >= 0) {
    const situ_size_row *r = &s->rows[s->answer];
    text_add_clean(t, r->platform);
    text_add(t, ", %s%s", in_goal(a, s, r->value_ns), s->goal.kind == GOAL_TOKENS ? " tokens/s" : "");
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

/* What is unknown: shares differ from machine to machine; those of the first of them. */
static void unknown_lines(text_buffer *t, const situ_sizing *s, const situ_report_options *options) {
  const fact_lines f = {t, options, 6};
  if (s->n > 0 && s->scopes[0].unknown.n > 0) fact_wrapped(&f, "unknown", report_unknown_text(&s->scopes[0].unknown));
}

static char *size_text(const situ_sizing *s, const situ_report_options *options) {
  text_buffer t = {0};
  bool proved = false, guessed = false;
  int32_t missed = 0;
  style_add(&t, options, STYLE_BOLD, s->model);
  text_add(&t, ", the smallest platform for %s\n\n", s->goal.text);
  rows_text(&t, add_candidates, s, options);
  text_add(&t, "\n");
  answer_line(&t, s, options);
  for (int32_t i = 0; i < s->n; i++) proved |= s->rows[i].finding == SITU_SIZE_IMPOSSIBLE;
  for (int32_t i = 0; i < s->n; i++) guessed |= s->scopes[i].guessed;
  if (proved)
    text_add(&t, "  impossible: %s that no plan meets the goal%s\n", guessed ? "shown" : "proved",
             guessed ? ", for guessed costs" : "");
  for (int32_t i = 0; i < s->answer; i++) missed += s->rows[i].finding == SITU_SIZE_MISSED;
  if (missed > 0)
    text_add(&t, "  not proved: %d candidate%s before the answer may have a plan that was not found\n", (int)missed,
             missed == 1 ? "" : "s");
  scope_lines(&t, s, options);
  unknown_lines(&t, s, options);
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
