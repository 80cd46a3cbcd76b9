#include "report/report_explain.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/c_locale.h"
#include "base/checked.h"

enum { LABEL_COLUMNS = 11, MAX_PARTS = 40, MAX_SHARES = 8 };

/* "cpu - gpu0": the ends of a link. */
static const char *link_text(char into[160], const situ_problem *p, int32_t link) {
  if (link < 0) {
    snprintf(into, 160, "a link");
    return into;
  }
  const situ_link *l = &p->platform->links[link];
  snprintf(into, 160, "%.64s - %.64s", p->platform->devices[l->from_device].name,
           p->platform->devices[l->to_device].name);
  return into;
}

static void explain_limit_text(text_buffer *t, const situ_explanation *x, const situ_problem *p) {
  const situ_explanation_summary of = report_explanation(x);
  char name[160], share[TEXT_UNIT_BYTES];
  situ_limit limit = of.limit;
  const char *whole = p->execution == SITU_EXECUTION_PIPELINE ? "period" : "time";
  percent_text(share, limit.share);
  if (limit.kind == SITU_LIMIT_DEVICE)
    text_add(t, "%s, whose load is %s of the %s", p->platform->devices[limit.index].name, share, whole);
  else if (limit.kind == SITU_LIMIT_LINK)
    text_add(t, "the link %s, whose load is %s of the %s", link_text(name, p, limit.index), share, whole);
  else
    text_add(t, "a chain of dependent parts; the maximum load is %s", share);
}

static void handover_text(text_buffer *t, const situ_explanation *x, const situ_plan *plan) {
  const situ_explanation_summary of = report_explanation(x);
  char count[TEXT_UNIT_BYTES], size[TEXT_UNIT_BYTES];
  int32_t n = plan->n_handovers;
  text_add(t, "%s%s%s", n > 0 ? grouped(count, n) : "none", n > 0 ? ", " : "",
           n > 0 ? text_size(size, of.transfer_bytes) : "");
}

/* A fact whose text may be long: broken at blanks. */
static void long_fact(text_buffer *t, const situ_report_options *o, const char *label, text_buffer *words) {
  char first[LABEL_COLUMNS + 8], rest[LABEL_COLUMNS + 8];
  snprintf(first, sizeof first, "  %-*s  ", LABEL_COLUMNS, label);
  snprintf(rest, sizeof rest, "  %-*s  ", LABEL_COLUMNS, "");
  char *text = text_take(words);
  if (text)
    text_add_wrapped(t, text, first, rest, report_width(o));
  else
    t->failed = true;
  free(text);
}

void explain_short(text_buffer *t, const situ_explanation *x, const situ_plan *plan, int32_t max,
                   const situ_report_options *o) {
  const situ_explanation_summary of = report_explanation(x);
  const situ_problem *p = plan->problem;
  int32_t n = of.n_parts;
  for (int32_t k = 0; k < n && k < max; k++) {
    situ_part part = situ_explanation_part(x, k);
    text_buffer words = {0};
    text_add(&words, "%s: %s", p->platform->devices[part.device].name, situ_explanation_part_name(x, k));
    long_fact(t, o, k == 0 ? "parts" : "", &words);
  }
  text_buffer words = {0};
  if (n > max) {
    text_add(&words, "and %d more; `situ explain` lists them", (int)(n - max));
    long_fact(t, o, "", &words);
  }
  handover_text(&words, x, plan);
  long_fact(t, o, "hand-overs", &words);
  explain_limit_text(&words, x, p);
  long_fact(t, o, "limited by", &words);
}

/* ---- JSON ---- */

static bool part_json(json_value *list, const situ_explanation *x, const situ_problem *p, int32_t k) {
  situ_part part = situ_explanation_part(x, k);
  json_value *o = json_new_object();
  bool ok = o && json_set(o, "device", json_new_text(p->platform->devices[part.device].name));
  ok = ok && json_set(o, "name", json_new_text(situ_explanation_part_name(x, k)));
  ok = ok && json_set(o, "first_operator", json_new_text(p->graph->name[part.first_operator]));
  ok = ok && json_set(o, "last_operator", json_new_text(p->graph->name[part.last_operator]));
  ok = ok && json_set(o, "operators", json_new_int(part.n_operators));
  ok = ok && json_set(o, "working_operators", json_new_int(part.n_working));
  ok = ok && json_set(o, "load_ns", json_new_int(part.work_ns));
  return json_push(list, o) && ok;
}

static json_value *limit_json(const situ_explanation *x, const situ_problem *p) {
  const situ_explanation_summary of = report_explanation(x);
  situ_limit limit = of.limit;
  char name[160];
  const char *which = limit.kind == SITU_LIMIT_DEVICE ? p->platform->devices[limit.index].name
                      : limit.kind == SITU_LIMIT_LINK ? link_text(name, p, limit.index)
                                                      : NULL;
  json_value *o = json_new_object();
  bool ok = o && json_set(o, "kind", json_new_text(situ_limit_name(limit.kind)));
  ok = ok && json_set(o, "name", json_new_text(which));
  ok = ok && json_set(o, "share", json_new_number(limit.share));
  if (ok) return o;
  json_free(o);
  return NULL;
}

static json_text_member placed_operator(const void *context, int64_t v) {
  const placement_listing *l = context;
  int32_t d = situ_plan_device(l->plan, (int32_t)v);
  return (json_text_member){l->problem->graph->name[v], l->problem->platform->devices[d].name};
}

bool explain_fields(json_value *o, placement_listing *places, const situ_explanation *x, const situ_plan *plan) {
  const situ_explanation_summary of = report_explanation(x);
  const situ_problem *p = plan->problem;
  json_value *members = json_new_object(), *parts = json_new_array();
  bool ok = members && parts;
  *places = (placement_listing){.plan = plan, .problem = p};
  places->listing = (json_listing){members, p->n_operators, placed_operator, places};
  for (int32_t k = 0; ok && k < of.n_parts; k++) ok = part_json(parts, x, p, k);
  ok = json_set(o, "placement", members) && ok;
  ok = json_set(o, "parts", parts) && ok;
  return ok && explain_limit_fields(o, x, plan);
}

bool explain_limit_fields(json_value *o, const situ_explanation *x, const situ_plan *plan) {
  const situ_explanation_summary of = report_explanation(x);
  const situ_problem *p = plan->problem;
  bool ok = json_set(o, "n_parts", json_new_int(of.n_parts));
  ok = ok && json_set(o, "n_handovers", json_new_int(plan->n_handovers));
  ok = ok && json_set(o, "transfer_bytes", json_new_int(of.transfer_bytes));
  return ok && json_set(o, "limit", limit_json(x, p));
}

static bool path_json(json_value *root, const situ_explanation *x, const situ_problem *p) {
  const situ_explanation_summary of = report_explanation(x);
  json_value *list = json_new_array();
  bool ok = list != NULL;
  for (int32_t k = 0; ok && k < of.n_shares; k++) {
    situ_path_share s = situ_explanation_share(x, k);
    char name[160];
    json_value *o = json_new_object();
    const char *kind = s.device >= 0 ? "work" : s.link >= 0 ? "transfer" : "waiting";
    const char *who = s.device >= 0 ? p->platform->devices[s.device].name
                      : s.link >= 0 ? link_text(name, p, s.link)
                                    : NULL;
    ok = o && json_set(o, "kind", json_new_text(kind)) && json_set(o, "name", json_new_text(who)) &&
         json_set(o, "time_ns", json_new_int(s.time_ns));
    ok = json_push(list, o) && ok;
  }
  return json_set(root, "critical_path", list) && ok;
}

static bool what_if_json(json_value *root, const situ_what_if_list *what_ifs) {
  json_value *list = json_new_array();
  bool ok = list != NULL;
  for (int32_t k = 0; ok && k < situ_what_if_count(what_ifs); k++) {
    situ_what_if w = situ_what_if_at(what_ifs, k);
    json_value *o = json_new_object();
    ok = o && json_set(o, "change", json_new_text(w.change)) &&
         json_set(o, "outcome", json_new_text(situ_outcome_name(w.outcome))) &&
         json_set(o, "value_ns", report_amount(w.value_ns)) &&
         json_set(o, "lower_bound_ns", report_amount(w.lower_bound_ns)) &&
         json_set(o, "inputs", json_new_int(w.inputs));
    ok = json_push(list, o) && ok;
  }
  return json_set(root, "what_if", list) && ok;
}

bool explain_path_fields(json_value *o, const situ_explanation *x, const situ_problem *p,
                         const situ_what_if_list *what_ifs) {
  return path_json(o, x, p) && (!what_ifs || what_if_json(o, what_ifs));
}

static char *explain_json(const situ_explanation *x, const situ_plan *plan, const situ_what_if_list *what_ifs) {
  const situ_problem *p = plan->problem;
  json_value *root = json_new_object();
  placement_listing places;
  bool ok = root && report_problem_json(root, p, NULL) && report_plan_fields(root, plan);
  ok = ok && explain_fields(root, &places, x, plan) && explain_path_fields(root, x, p, what_ifs);
  return report_finish_with(root, ok, &places.listing);
}

/* ---- tables ---- */

static void part_rows(text_buffer *t, const situ_explanation *x, const situ_problem *p,
                      const situ_report_options *options) {
  const situ_explanation_summary of = report_explanation(x);
  table rows;
  char count[TEXT_UNIT_BYTES], work[TEXT_UNIT_BYTES];
  int32_t n = of.n_parts;
  if (!table_begin(&rows, t)) return;
  table_column(&rows, "part", ALIGN_RIGHT, 0);
  table_column(&rows, "device", ALIGN_LEFT, 24);
  table_column(&rows, "kernels", ALIGN_RIGHT, 0);
  table_column(&rows, "work", ALIGN_RIGHT, 0);
  table_column(&rows, "holds", ALIGN_PROSE, 0);
  for (int32_t k = 0; k < n && k < MAX_PARTS; k++) {
    situ_part part = situ_explanation_part(x, k);
    table_cellf(&rows, STYLE_DIM, "%d", (int)(k + 1));
    table_cell(&rows, STYLE_BOLD, p->platform->devices[part.device].name);
    table_cell(&rows, STYLE_PLAIN, grouped(count, part.n_working));
    table_cell(&rows, STYLE_PLAIN, text_time(work, part.work_ns));
    table_cell(&rows, STYLE_PLAIN, situ_explanation_part_name(x, k));
  }
  table_render(t, &rows, options);
  table_stop(&rows);
  if (n > MAX_PARTS) text_add(t, "  and %d more parts; --json lists them all\n", (int)(n - MAX_PARTS));
}

static void share_text(text_buffer *t, const situ_explanation *x, const situ_plan *plan) {
  const situ_explanation_summary of = report_explanation(x);
  const situ_problem *p = plan->problem;
  char name[160], share[TEXT_UNIT_BYTES];
  double value = (double)max64(plan->latency_ns != SITU_NEVER_NS ? plan->latency_ns : plan->value_ns, 1);
  for (int32_t k = 0; k < of.n_shares && k < MAX_SHARES; k++) {
    situ_path_share s = situ_explanation_share(x, k);
    percent_text(share, (double)s.time_ns / value);
    if (k > 0) text_add(t, ", ");
    if (s.device >= 0)
      text_add(t, "%s %s", p->platform->devices[s.device].name, share);
    else if (s.link >= 0)
      text_add(t, "transfers %s %s", link_text(name, p, s.link), share);
    else
      text_add(t, "waiting %s", share);
  }
}

const char *explain_against_plan(char into[64], const situ_what_if *w, int64_t value_ns) {
  char percent[TEXT_UNIT_BYTES];
  double ratio = (double)w->value_ns / (double)w->inputs / (double)max64(value_ns, 1);
  if (w->value_ns == SITU_NEVER_NS)
    snprintf(into, 64, "%s", w->outcome == SITU_OUTCOME_INFEASIBLE ? "impossible" : "no plan found");
  else if (ratio > 1.995)
    c_locale_print(into, 64, "%.2fx as long", ratio);
  else if (ratio >= 1.0005)
    snprintf(into, 64, "%s longer", percent_text(percent, ratio - 1));
  else if (ratio > 0.9995)
    snprintf(into, 64, "no difference");
  else if (strncmp(w->change, "without ", 8) == 0) /* another plan is better, as it was before, but was set aside */
    snprintf(into, 64, "no loss");
  else
    snprintf(into, 64, "%s shorter", percent_text(percent, 1 - ratio));
  return into;
}

static void what_if_rows(text_buffer *t, const situ_what_if_list *what_ifs, const situ_plan *plan,
                         const situ_report_options *options) {
  table rows;
  char value[TEXT_UNIT_BYTES], words[64];
  if (situ_what_if_count(what_ifs) == 0) return;
  if (!table_begin(&rows, t)) return;
  table_column(&rows, "what if", ALIGN_LEFT, 0);
  table_column(&rows, "value", ALIGN_RIGHT, 0);
  table_column(&rows, "for each input", ALIGN_LEFT, 0);
  for (int32_t k = 0; k < situ_what_if_count(what_ifs); k++) {
    situ_what_if w = situ_what_if_at(what_ifs, k);
    table_cell(&rows, STYLE_PLAIN, w.change);
    table_cell(&rows, STYLE_PLAIN, w.value_ns == SITU_NEVER_NS ? "-" : text_time(value, w.value_ns));
    table_cell(&rows, STYLE_PLAIN, explain_against_plan(words, &w, plan->value_ns));
  }
  text_add(t, "\n");
  table_render(t, &rows, options);
  table_stop(&rows);
}

/* What rules keep off devices: "gpu1 may not run 53 operators". False where nothing is. */
static bool rules_text(text_buffer *t, const situ_problem *p) {
  bool any = false;
  for (int32_t d = 0; d < p->n_devices; d++) {
    int32_t n = 0;
    for (int32_t v = 0; v < p->n_operators; v++) n += costs_is_ruled(p->costs, v, p->class_of[d]);
    if (n == 0) continue;
    text_add(t, "%s%s must not run %d %s", any ? ", " : "", p->platform->devices[d].name, (int)n,
             n == 1 ? "operator" : "operators");
    any = true;
  }
  return any;
}

static void keep_fact(explain_facts *f, const char *label, text_buffer *words) {
  f->label[f->n] = label;
  f->words[f->n] = text_take(words);
  f->n += f->words[f->n] != NULL;
}

bool explain_facts_find(explain_facts *out, const situ_explanation *x, const situ_plan *plan) {
  const situ_explanation_summary of = report_explanation(x);
  const situ_problem *p = plan->problem;
  text_buffer words = {0};
  char value[TEXT_UNIT_BYTES], rest[256];
  bool shares = of.n_shares > 0;
  int32_t expected = 5;
  *out = (explain_facts){0};
  text_add(&words, "%s", exact_time(value, plan->value_ns));
  keep_fact(out, p->objective == SITU_OBJECTIVE_THROUGHPUT ? "period" : "latency", &words);
  int64_t by_parts_ns = situ_plan_by_parts_ns(plan);
  if (by_parts_ns != plan->value_ns) {
    text_add(&words, "%s", exact_time(value, by_parts_ns));
    keep_fact(out, "by parts", &words);
    expected++;
  }
  report_against_single(rest, sizeof rest, plan);
  int64_t single = plan->best_single_ns;
  text_add(&words, "%s  %s", single == SITU_NEVER_NS ? "none" : exact_time(value, single), rest);
  keep_fact(out, "best single", &words);
  char *plans = report_scope_text(p, plan->form); /* of "no split can be better" and the lower bound */
  text_add(&words, "%s", plans ? plans : "");
  words.failed |= !plans;
  free(plans);
  keep_fact(out, "among", &words);
  handover_text(&words, x, plan);
  keep_fact(out, "hand-overs", &words);
  explain_limit_text(&words, x, p);
  keep_fact(out, "limited by", &words);
  if (shares) {
    share_text(&words, x, plan);
    keep_fact(out, "time spent", &words);
    expected++;
  }
  if (rules_text(&words, p)) {
    keep_fact(out, "by rule", &words);
    expected++;
  }
  return out->n == expected;
}

void explain_facts_free(explain_facts *facts) {
  for (int32_t k = 0; k < facts->n; k++) free(facts->words[k]);
}

static char *explain_text(const situ_explanation *x, const situ_plan *plan, const situ_what_if_list *what_ifs,
                          const situ_report_options *options) {
  const situ_problem *p = plan->problem;
  text_buffer t = {0};
  explain_facts facts;
  report_title(&t, p, options);
  part_rows(&t, x, p, options);
  text_add(&t, "\n");
  t.failed |= !explain_facts_find(&facts, x, plan);
  for (int32_t k = 0; k < facts.n; k++) {
    text_buffer words = {0};
    text_add_bytes(&words, facts.words[k], strlen(facts.words[k]));
    long_fact(&t, options, facts.label[k], &words);
  }
  explain_facts_free(&facts);
  what_if_rows(&t, what_ifs, plan, options);
  return text_take(&t);
}

/* ---- the face ---- */

situ_status situ_report_explain(char **out, const situ_plan *plan, const situ_what_if_list *what_ifs,
                                situ_report_format format, const situ_report_options *options, situ_error *error) {
  situ_report_options look;
  situ_explanation *x = NULL;
  TRY(report_open(out, &look, format, REPORT_TABLE | REPORT_JSON, options, error));
  TRY(situ_explain(&x, plan, error));
  char *text = format == SITU_REPORT_JSON ? explain_json(x, plan, what_ifs) : explain_text(x, plan, what_ifs, &look);
  situ_explanation_free(x);
  return report_close(out, text, error);
}
