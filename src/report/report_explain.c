#include "report/report_explain.h"

#include <stdio.h>
#include <string.h>

#include "base/c_locale.h"
#include "base/checked.h"
#include "plan/group_times.h"

enum { LABEL_COLUMNS = 11, MAX_PARTS = 40, MAX_SHARES = 8 };

/* "cpu - gpu0": the ends of a link. */
static const char *link_text(char into[160], const situ_problem *p, int32_t link) {
  if (link < 0) {
    snprintf(into, 160, "a link");
    return into;
  }
  const situ_link *l = &p->platform->links[link];
  snprintf(into, 160, "%.64s - %.64s", report_device(p, l->from_device), report_device(p, l->to_device));
  return into;
}

static void explain_limit_text(text_buffer *t, const situ_explanation *x, const situ_problem *p) {
  char name[160], share[TEXT_UNIT_BYTES];
  situ_limit limit = report_explanation(x).limit;
  const char *whole = p->execution == SITU_EXECUTION_PIPELINE ? "period" : "time";
  percent_text(share, limit.share);
  if (limit.kind == SITU_LIMIT_DEVICE)
    text_add(t, "%s, whose load is %s of the %s", report_device(p, limit.index), share, whole);
  else if (limit.kind == SITU_LIMIT_LINK)
    text_add(t, "the link %s, whose load is %s of the %s", link_text(name, p, limit.index), share, whole);
  else
    text_add(t, "a chain of dependent parts; the maximum load is %s", share);
}

static void handover_text(text_buffer *t, const situ_explanation *x, const situ_plan *plan) {
  char count[TEXT_UNIT_BYTES], size[TEXT_UNIT_BYTES];
  text_add(t, plan->n_handovers > 0 ? "%s, %s" : "none", grouped(count, plan->n_handovers),
           text_size(size, report_explanation(x).transfer_bytes));
}

/* How members of a group reach each other. */
static const char *route_text(char into[40], int32_t n_links) {
  if (n_links > 2) snprintf(into, 40, "over %d links", (int)n_links);
  return n_links > 2 ? into : n_links == 2 ? "through the host" : n_links == 1 ? "directly" : "";
}

/* "gpu0-7: 60 ms on one device, 8.1 ms split over 8; collectives after 161 operators take 6.2 ms (38 us each), 43 % of
 * the time, directly"; "" where there is no group. */
static void group_text(text_buffer *t, const situ_plan *plan) {
  const situ_problem *p = plan->problem;
  char time[TEXT_UNIT_BYTES], percent[TEXT_UNIT_BYTES], route[40];
  for (int32_t d = 0; d < p->n_devices; d++) {
    group_times g = group_times_of(plan, d);
    const situ_device *device = &p->platform->devices[d];
    if (g.n_operators == 0) continue;
    text_add(t, "%s%s: ", t->length > 0 ? "; " : "", report_device(p, d));
    if (g.one_member_ns < SITU_NEVER_NS) text_add(t, "%s on one device, ", text_time(time, g.one_member_ns));
    text_add(t, "%s split over %d; collectives after %d operators take", text_time(time, g.split_ns),
             (int)device->members, (int)g.n_collectives);
    text_add(t, " %s", text_time(time, g.collective_ns));
    if (g.one_step && g.n_collectives > 0)
      text_add(t, " (%s each)", text_time(time, g.collective_ns / g.n_collectives));
    text_add(t, ", %s of the time%s%s",
             percent_text(percent, (double)g.collective_ns / (double)max64(plan->value_ns, 1)),
             device->sync_links > 0 ? ", " : "", route_text(route, device->sync_links));
  }
}

/* The time of tokens and results between devices of other machines and the requesting one: "gpu1: 5.3 ms by
 * the network, 40 % of the time"; "" where all are at home. */
static void ends_text(text_buffer *t, const situ_plan *plan) {
  const situ_problem *p = plan->problem;
  char time[TEXT_UNIT_BYTES], percent[TEXT_UNIT_BYTES];
  for (int32_t d = 0; d < p->n_devices && p->costs->end_ns; d++) {
    int64_t sum_ns = 0;
    for (int32_t v = 0; v < p->n_operators; v++)
      if (plan->device[v] == d) sum_ns = sat_add(sum_ns, p->costs->end_ns[(int64_t)v * p->n_classes + p->class_of[d]]);
    if (sum_ns == 0) continue;
    text_add(t, "%stokens and results between %s and %s take %s, %s of the time", t->length > 0 ? "; " : "",
             report_device(p, p->host), report_device(p, d), text_time(time, sum_ns),
             percent_text(percent, (double)sum_ns / (double)max64(plan->value_ns, 1)));
  }
}

void explain_short(const fact_lines *f, const situ_explanation *x, const situ_plan *plan, int32_t max) {
  const situ_problem *p = plan->problem;
  int32_t n = report_explanation(x).n_parts;
  text_buffer words = {0};
  for (int32_t k = 0; k < n && k < max; k++) {
    situ_part part = situ_explanation_part(x, k);
    text_add(&words, "%s: %s", report_device(p, part.device), situ_explanation_part_name(x, k));
    fact_wrapped(f, k == 0 ? "parts" : "", text_take(&words));
  }
  if (n > max) {
    text_add(&words, "and %d more; `situ explain` lists them", (int)(n - max));
    fact_wrapped(f, "", text_take(&words));
  }
  handover_text(&words, x, plan);
  fact_wrapped(f, "hand-overs", text_take(&words));
  group_text(&words, plan);
  if (words.length > 0) fact_wrapped(f, "groups", text_take(&words));
  ends_text(&words, plan);
  if (words.length > 0) fact_wrapped(f, "ends", text_take(&words));
  explain_limit_text(&words, x, p);
  fact_wrapped(f, "limited by", text_take(&words));
}

/* ---- JSON ---- */

typedef struct story {
  const situ_explanation *why;
  const situ_plan *plan;
  const situ_what_if_list *what_ifs;
} story;

static void add_parts(row_list *out, const void *told) {
  const story *s = told;
  const situ_problem *p = s->plan->problem;
  int32_t n = report_explanation(s->why).n_parts;
  for (int32_t k = 0; k < n && (out->list || k < MAX_PARTS); k++) {
    situ_part part = situ_explanation_part(s->why, k);
    const char *name = situ_explanation_part_name(s->why, k);
    ROW(out, {NULL, AS_INDEX, "part", .n = k + 1, .style = STYLE_DIM},
        {"device", AS_NAME, "device", .text = report_device(p, part.device), .max = 24}, {"name", .text = name},
        {"first_operator", .text = p->graph->name[part.first_operator]},
        {"last_operator", .text = p->graph->name[part.last_operator]}, {"operators", AS_COUNT, .n = part.n_operators},
        {"working_operators", AS_COUNT, "kernels", .n = part.n_working},
        {"load_ns", AS_ROUGH_TIME, "work", .n = part.work_ns}, {NULL, AS_PROSE, "holds", .text = name});
  }
}

static void add_shares(row_list *out, const void *told) {
  const story *s = told;
  const situ_problem *p = s->plan->problem;
  for (int32_t k = 0; k < report_explanation(s->why).n_shares; k++) {
    situ_path_share share = situ_explanation_share(s->why, k);
    char link[160];
    bool works = share.device >= 0, sends = !works && share.link >= 0;
    ROW(out,
        {"kind", .text = works   ? "work"
                         : sends ? "transfer"
                                 : "waiting"},
        {"name", .text = sends ? link_text(link, p, share.link) : report_device(p, share.device)},
        {"time_ns", AS_COUNT, .n = share.time_ns});
  }
}

static void add_groups(row_list *out, const void *told) {
  const story *s = told;
  const situ_problem *p = s->plan->problem;
  for (int32_t d = 0; d < p->n_devices; d++) {
    group_times g = group_times_of(s->plan, d);
    const situ_device *device = &p->platform->devices[d];
    if (g.n_operators == 0) continue;
    ROW(out, {"device", .text = report_device(p, d)}, {"members", AS_COUNT, .n = device->members},
        {"operators", AS_COUNT, .n = g.n_operators}, {"one_member_ns", AS_TIME, .n = g.one_member_ns},
        {"split_ns", AS_TIME, .n = g.split_ns}, {"collectives", AS_COUNT, .n = g.n_collectives},
        {"collective_ns", AS_TIME, .n = g.collective_ns}, {"step_latency_ns", AS_COUNT, .n = device->sync_latency_ns},
        {"bytes_per_s", AS_NUMBER, .x = device->sync_bytes_per_s},
        {"links", AS_COUNT, .n = device->sync_links, .skip = device->sync_links == 0});
  }
}

static void add_what_ifs(row_list *out, const void *told) {
  const story *s = told;
  for (int32_t k = 0; k < situ_what_if_count(s->what_ifs); k++) {
    situ_what_if w = situ_what_if_at(s->what_ifs, k);
    char words[64];
    ROW(out, {"change", AS_TEXT, "what if", .text = w.change}, {"outcome", .text = situ_outcome_name(w.outcome)},
        {"value_ns", AS_ROUGH_TIME, "value", .n = w.value_ns, .shown = w.value_ns == SITU_NEVER_NS ? "-" : NULL},
        {"lower_bound_ns", AS_TIME, .n = w.lower_bound_ns}, {"inputs", AS_COUNT, .n = w.inputs},
        {NULL, AS_TEXT, "for each input", .text = explain_against_plan(words, &w, s->plan->value_ns)});
  }
}

static json_value *limit_json(const situ_explanation *x, const situ_problem *p) {
  situ_limit limit = report_explanation(x).limit;
  char name[160];
  const char *which = limit.kind == SITU_LIMIT_DEVICE ? report_device(p, limit.index)
                      : limit.kind == SITU_LIMIT_LINK ? link_text(name, p, limit.index)
                                                      : NULL;
  return OBJECT({"kind", .text = situ_limit_name(limit.kind)}, {"name", .text = which},
                {"share", AS_NUMBER, .x = limit.share});
}

static json_text_member placed_operator(const void *context, int64_t v) {
  const placement_listing *l = context;
  int32_t d = situ_plan_device(l->plan, (int32_t)v);
  return (json_text_member){l->problem->graph->name[v], report_device(l->problem, d)};
}

bool explain_fields(json_value *o, placement_listing *places, const situ_explanation *x, const situ_plan *plan) {
  const situ_problem *p = plan->problem;
  json_value *members = json_new_object();
  *places = (placement_listing){.plan = plan, .problem = p};
  places->listing = (json_listing){members, p->n_operators, placed_operator, places};
  return FIELDS(o, {"placement", AS_TREE, .tree = members},
                {"parts", AS_TREE, .tree = rows_json(add_parts, &(story){x, plan, NULL})}) &&
         explain_limit_fields(o, x, plan);
}

bool explain_limit_fields(json_value *o, const situ_explanation *x, const situ_plan *plan) {
  const situ_explanation_summary of = report_explanation(x);
  const story told = {x, plan, NULL};
  bool grouped_plan = plan->problem->costs->collective_ns;
  return FIELDS(o, {"n_parts", AS_COUNT, .n = of.n_parts}, {"n_handovers", AS_COUNT, .n = plan->n_handovers},
                {"transfer_bytes", AS_COUNT, .n = of.transfer_bytes},
                {"groups", AS_TREE, .tree = grouped_plan ? rows_json(add_groups, &told) : NULL, .skip = !grouped_plan},
                {"limit", AS_TREE, .tree = limit_json(x, plan->problem)});
}

bool explain_path_fields(json_value *o, const situ_explanation *x, const situ_plan *plan,
                         const situ_what_if_list *what_ifs) {
  const story told = {x, plan, what_ifs};
  return FIELDS(o, {"critical_path", AS_TREE, .tree = rows_json(add_shares, &told)},
                {"what_if", AS_TREE, .tree = what_ifs ? rows_json(add_what_ifs, &told) : NULL, .skip = !what_ifs});
}

static char *explain_json(const story *told) {
  const situ_plan *plan = told->plan;
  json_value *root = json_new_object();
  placement_listing places;
  bool ok = report_problem_json(root, plan->problem, NULL) && report_plan_fields(root, plan) &&
            explain_fields(root, &places, told->why, plan) &&
            explain_path_fields(root, told->why, plan, told->what_ifs);
  return report_finish_with(root, ok, ok ? &places.listing : NULL);
}

/* ---- tables ---- */

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
      text_add(t, "%s %s", report_device(p, s.device), share);
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

/* What rules keep off devices: "gpu1 may not run 53 operators". False where nothing is. */
static bool rules_text(text_buffer *t, const situ_problem *p) {
  bool any = false;
  for (int32_t d = 0; d < p->n_devices; d++) {
    int32_t n = 0;
    for (int32_t v = 0; v < p->n_operators; v++) n += costs_is_ruled(p->costs, v, p->class_of[d]);
    if (n == 0) continue;
    text_add(t, "%s%s must not run %d %s", any ? ", " : "", report_device(p, d), (int)n,
             n == 1 ? "operator" : "operators");
    any = true;
  }
  return any;
}

void explain_facts(explain_receiver *receive, void *to, const situ_explanation *x, const situ_plan *plan) {
  const situ_problem *p = plan->problem;
  text_buffer words = {0};
  char value[TEXT_UNIT_BYTES], rest[256];
  int64_t by_parts_ns = situ_plan_by_parts_ns(plan), single = plan->best_single_ns;
  text_add(&words, "%s", exact_time(value, plan->value_ns));
  receive(to, p->objective == SITU_OBJECTIVE_THROUGHPUT ? "period" : "latency", text_take(&words));
  if (by_parts_ns != plan->value_ns) {
    text_add(&words, "%s", exact_time(value, by_parts_ns));
    receive(to, "by parts", text_take(&words));
  }
  report_against_single(rest, sizeof rest, plan);
  text_add(&words, "%s  %s", single == SITU_NEVER_NS ? "none" : exact_time(value, single), rest);
  receive(to, "best single", text_take(&words));
  receive(to, "among", report_scope_text(p, plan->form)); /* of "no split can be better" and the lower bound */
  handover_text(&words, x, plan);
  if (p->unknown.n > 0) receive(to, "unknown", report_unknown_text(&p->unknown));
  receive(to, "hand-overs", text_take(&words));
  group_text(&words, plan);
  if (words.length > 0) receive(to, "groups", text_take(&words));
  explain_limit_text(&words, x, p);
  receive(to, "limited by", text_take(&words));
  if (report_explanation(x).n_shares > 0) {
    share_text(&words, x, plan);
    receive(to, "time spent", text_take(&words));
  }
  if (rules_text(&words, p)) receive(to, "by rule", text_take(&words));
}

static void add_fact(void *lines, const char *label, char *words) { fact_wrapped(lines, label, words); }

static char *explain_text(const story *told, const situ_report_options *options) {
  text_buffer t = {0};
  fact_lines f = {&t, options, LABEL_COLUMNS};
  int32_t n = report_explanation(told->why).n_parts;
  report_title(&t, told->plan->problem, options);
  rows_text(&t, add_parts, told, options);
  if (n > MAX_PARTS) text_add(&t, "  and %d more parts; --json lists them all\n", (int)(n - MAX_PARTS));
  text_add(&t, "\n");
  explain_facts(add_fact, &f, told->why, told->plan);
  if (situ_what_if_count(told->what_ifs) > 0) {
    text_add(&t, "\n");
    rows_text(&t, add_what_ifs, told, options);
  }
  return text_take(&t);
}

/* ---- the face ---- */

situ_status situ_report_explain(char **out, const situ_plan *plan, const situ_what_if_list *what_ifs,
                                situ_report_format format, const situ_report_options *options, situ_error *error) {
  situ_report_options look;
  situ_explanation *x = NULL;
  TRY(report_open(out, &look, format, REPORT_TABLE | REPORT_JSON, options, error));
  TRY(situ_explain(&x, plan, error));
  const story told = {x, plan, what_ifs};
  char *text = format == SITU_REPORT_JSON ? explain_json(&told) : explain_text(&told, &look);
  situ_explanation_free(x);
  return report_close(out, text, error);
}
