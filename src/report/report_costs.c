/* Costs as tables to edit and to read back: docs/formats/costs.md. */

#include "report/report.h"

typedef struct members {
  int32_t *first, *next; /* [operator]: of the kernel with this head; the next of the same kernel; -1 ends */
} members;

/* Which kernel operator v is the head of, or part of; -1 where it is one by itself. */
static int32_t kernel_of(const situ_problem *p, const members *m, int32_t v) {
  int32_t head = p->costs->group ? p->costs->group[v] : v;
  return m->next[m->first[head]] < 0 ? -1 : head;
}

static bool members_find(members *m, const situ_problem *p, arena *a) {
  int32_t n = p->n_operators;
  if (!ARENA_ARRAYS(a, ARRAY(m->first, n), ARRAY(m->next, n))) return false;
  for (int32_t v = 0; v < n; v++) m->first[v] = m->next[v] = -1;
  for (int32_t v = n - 1; v >= 0; v--) {
    int32_t head = p->costs->group ? p->costs->group[v] : v;
    m->next[v] = m->first[head];
    m->first[head] = v;
  }
  return true;
}

static json_value *times_json(const situ_problem *p, int32_t v) {
  json_value *times = json_new_object();
  bool ok = true;
  for (int32_t k = 0; k < p->n_classes; k++)
    ok &= json_set(times, p->platform->class_name[k], report_amount(p->time_ns[(int64_t)v * p->n_classes + k]));
  return json_if(ok, times);
}

static json_value *group_json(const situ_problem *p, const members *m, int32_t head) {
  json_value *names = json_new_array();
  bool ok = json_push(names, json_new_text(p->graph->name[head]));
  for (int32_t v = m->first[head]; v >= 0; v = m->next[v])
    if (v != head) ok &= json_push(names, json_new_text(p->graph->name[v]));
  return OBJECT({"operators", AS_TREE, .tree = names}, {"times", AS_TREE, .tree = ok ? times_json(p, head) : NULL});
}

static char *costs_json(const situ_problem *p) {
  arena *a = arena_new();
  members m;
  json_value *classes = json_new_array(), *operators = json_new_object(), *groups = json_new_array();
  bool ok = a && members_find(&m, p, a);
  for (int32_t k = 0; ok && k < p->n_classes; k++) ok = json_push(classes, json_new_text(p->platform->class_name[k]));
  for (int32_t v = 0; ok && v < p->n_operators; v++) {
    int32_t head = kernel_of(p, &m, v);
    if (head < 0) ok = json_set(operators, p->graph->name[v], times_json(p, v));
    if (head == v) ok = json_push(groups, group_json(p, &m, v));
  }
  arena_free(a);
  return report_finish(OBJECT({"situ_costs", AS_COUNT, .n = 1}, {"unit", .text = "ns"},
                              {"source", .text = p->costs->source}, {"classes", AS_TREE, .tree = classes},
                              {"operators", AS_TREE, .tree = operators}, {"groups", AS_TREE, .tree = groups}),
                       ok);
}

static char *costs_csv(const situ_problem *p) {
  arena *a = arena_new();
  members m;
  text_buffer t = {.failed = !a || !members_find(&m, p, a)};
  text_add(&t, "operator,kernel,kind,flops,bytes");
  for (int32_t k = 0; k < p->n_classes; k++) {
    text_add(&t, ",");
    text_add_csv(&t, p->platform->class_name[k]);
  }
  text_add(&t, "\r\n");
  for (int32_t v = 0; v < p->n_operators && !t.failed; v++) {
    int32_t head = kernel_of(p, &m, v);
    text_add_csv(&t, p->graph->name[v]);
    text_add(&t, ",");
    text_add_csv(&t, head < 0 ? "" : p->graph->name[head]);
    text_add(&t, ",");
    text_add_csv(&t, p->graph->kind_name[p->graph->kind[v]]);
    text_add(&t, ",%lld,%lld", (long long)p->graph->flops[v], (long long)p->graph->moved_bytes[v]);
    for (int32_t k = 0; k < p->n_classes; k++) {
      int64_t time = p->time_ns[(int64_t)v * p->n_classes + k];
      if (head >= 0 && head != v)
        text_add(&t, ",");
      else if (time == SITU_NEVER_NS)
        text_add(&t, ",never");
      else
        text_add(&t, ",%lld", (long long)time);
    }
    text_add(&t, "\r\n");
  }
  arena_free(a);
  return text_take(&t);
}

situ_status situ_report_costs(char **out, const situ_problem *problem, situ_report_format format,
                              const situ_report_options *options, situ_error *error) {
  situ_report_options look;
  TRY(report_open(out, &look, format, REPORT_JSON | REPORT_CSV, options, error));
  TRY(GIVEN(error, problem));
  return report_close(out, format == SITU_REPORT_JSON ? costs_json(problem) : costs_csv(problem), error);
}
