#include <stdio.h>

#include "api/fit.h"
#include "base/checked.h"
#include "graph/graph.h"
#include "plan/plan.h"
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

/* What the memory of a device holds of a plan. */
typedef struct memory_use {
  const char *device;
  int64_t weights, caches, buffers, limit;
} memory_use;

static memory_use use_of(const situ_plan *plan, int32_t d) {
  const situ_problem *p = plan->problem;
  const situ_graph *g = p->graph;
  situ_device_use use = plan_use(plan, d);
  bool limited = use.memory_limit_bytes > 0 && use.memory_limit_bytes != SITU_UNLIMITED_BYTES;
  memory_use m = {.device = p->platform->devices[d].name, .limit = limited ? use.memory_limit_bytes : 0};
  for (int32_t v = 0; v < p->n_operators && use.n_operators > 0; v++) {
    if (plan->device[v] != d) continue;
    int64_t own = graph_own_weight_bytes(g, v);
    m.weights = sat_add(m.weights, own);
    m.caches = sat_add(m.caches, g->weight_bytes[v] - own);
  }
  m.buffers = max64(0, use.memory_bytes - sat_add(m.weights, m.caches));
  return m;
}

static const situ_plan *answer_plan(const situ_fitting *f) {
  int32_t answer = situ_fitting_answer(f);
  return answer < 0 ? NULL : f->rows[answer].plan;
}

static json_value *memory_json(const situ_fitting *f) {
  const situ_plan *plan = answer_plan(f);
  json_value *list = json_new_array();
  for (int32_t d = 0; plan && d < plan->n_devices; d++) {
    memory_use m = use_of(plan, d);
    if (m.weights + m.caches == 0) continue;
    json_push(list, OBJECT({"device", .text = m.device}, {"weight_bytes", AS_COUNT, .n = m.weights},
                           {"cache_bytes", AS_COUNT, .n = m.caches}, {"buffer_bytes", AS_COUNT, .n = m.buffers},
                           {"limit_bytes", AS_COUNT, .n = m.limit}));
  }
  return list;
}

/* What fills the memories of the answer, and, where they end it, what would leave more room. */
static void add_memory(text_buffer *t, const situ_fitting *f, const situ_report_options *options) {
  enum { F16_BITS = 160, Q8_0_BITS = 85 }; /* of ten elements */
  int32_t answer = situ_fitting_answer(f);
  const situ_plan *plan = answer_plan(f);
  char w[TEXT_UNIT_BYTES], c[TEXT_UNIT_BYTES], b[TEXT_UNIT_BYTES], l[TEXT_UNIT_BYTES], line[300];
  bool tokens = !f->inputs;
  int64_t weights = 0, caches = 0;
  for (int32_t d = 0; plan && d < plan->n_devices; d++) {
    memory_use m = use_of(plan, d);
    if (m.weights + m.caches == 0) continue;
    snprintf(line, sizeof line, "%.60s: %s of weights, %s%s%s of buffers%s%s", m.device, text_size(w, m.weights),
             tokens ? text_size(c, m.caches) : "", tokens ? " of caches, " : "", text_size(b, m.buffers),
             m.limit > 0 ? ", of " : "", m.limit > 0 ? text_size(l, m.limit) : "");
    text_add_wrapped(t, line, caches + weights == 0 ? "  memory  " : "          ", "          ", report_width(options));
    weights = sat_add(weights, m.weights);
    caches = sat_add(caches, m.caches);
  }
  bool full = plan && answer + 1 < f->n && *f->rows[answer + 1].reason,
       narrow = full && plan->problem->graph->cache_type;
  if (!full || caches == 0) return;
  snprintf(line, sizeof line, "%s%s; weights of half the size would free %s; %s of caches for %s more",
           narrow ? "caches are narrow already" : "caches of q8_0 (--kv-type q8_0) would free ",
           narrow ? "" : text_size(c, caches / F16_BITS * (F16_BITS - Q8_0_BITS)), text_size(w, weights / 2),
           text_size(b, caches / f->rows[answer].amount * (f->quantity == SITU_FIT_CONTEXT ? 1000 : 1)),
           f->quantity == SITU_FIT_CONTEXT ? "1,000 tokens" : "a stream");
  text_add_wrapped(t, line, "  advice  ", "          ", report_width(options));
}

static char *fit_json(const situ_fitting *f) {
  int32_t answer = situ_fitting_answer(f);
  const situ_fit_row *next = answer + 1 < f->n ? &f->rows[answer + 1] : NULL;
  const situ_problem *p = problem_of(f);
  json_value *root =
      OBJECT({"version", .text = situ_version()}, {"model", .text = f->model}, {"platform", .text = f->platform},
             {"quantity", .text = situ_fit_quantity_name(f->quantity)}, {"dimension", .text = f->dimension},
             {"goal", .text = f->goal.text}, {"answer", AS_INDEX, .n = answer < 0 ? -1 : f->rows[answer].amount},
             {"limit_reached", AS_BOOL, .n = answer >= 0 && f->rows[answer].amount >= f->max},
             {"proved", AS_BOOL, .n = next && next->finding == SITU_FIT_IMPOSSIBLE},
             {"memory", AS_TREE, .tree = memory_json(f)}, {"rows", AS_TREE, .tree = rows_json(add_amounts, f)});
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
  if (f->dimension) text_add(&t, " (dimension %s)", f->dimension);
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
  add_memory(&t, f, options);
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
