#include <stdio.h>
#include <stdlib.h>

#include "base/c_locale.h"
#include "base/checked.h"
#include "report/report.h"

/* Sums over the operators of one kind, or over all. */
typedef struct kind_sum {
  const char *kind;
  int64_t count, flops, moved_bytes, weight_bytes, output_bytes, unknown;
  int64_t time_ns; /* each operator on its fastest device */
} kind_sum;

typedef struct shape_of_graph {
  kind_sum all, *kinds;
  int32_t n_kinds;
  int32_t depth;       /* operators on the longest chain */
  int32_t width;       /* most operators of one depth: at least that many may run at once */
  int64_t path_ns;     /* the longest chain, each operator on its fastest device, transfers free */
  int32_t path_length; /* operators on the chain of path_ns */
  int64_t widest_tensor_bytes;
  int64_t source_count, result_count; /* operators that read no tensor; operators whose tensors are not read */
  int64_t phase_count[SITU_PHASE_RECOMPUTE + 1];
} shape_of_graph;

static int64_t fastest(const situ_problem *p, int32_t v) {
  int64_t best = SITU_NEVER_NS;
  for (int32_t c = 0; c < p->n_classes; c++) best = min64(best, p->time_ns[(int64_t)v * p->n_classes + c]);
  return best == SITU_NEVER_NS ? 0 : best;
}

static void sum_add(kind_sum *to, const kind_sum *more) {
  to->count += more->count;
  to->flops = sat_add(to->flops, more->flops);
  to->moved_bytes = sat_add(to->moved_bytes, more->moved_bytes);
  to->weight_bytes = sat_add(to->weight_bytes, more->weight_bytes);
  to->output_bytes = sat_add(to->output_bytes, more->output_bytes);
  to->unknown += more->unknown;
  to->time_ns = sat_add(to->time_ns, more->time_ns);
}

static int by_work(const void *a, const void *b) {
  const kind_sum *x = a, *y = b;
  if (x->time_ns != y->time_ns) return x->time_ns > y->time_ns ? -1 : 1;
  if (x->flops != y->flops) return x->flops > y->flops ? -1 : 1;
  if (x->count != y->count) return x->count > y->count ? -1 : 1;
  return (x > y) - (x < y);
}

/* Depth, width and critical path in one pass over the topological order. */
static void measure_chains(shape_of_graph *s, const situ_problem *p, int32_t *level, int32_t *length, int64_t *finish,
                           int32_t *at_level) {
  const situ_graph *g = p->graph;
  for (int32_t v = 0; v < g->n_operators; v++) {
    int64_t start = 0;
    level[v] = length[v] = 0;
    for (int64_t i = g->in_start[v]; i < g->in_start[v + 1]; i++) {
      int32_t u = g->producer[g->in[i]];
      if (level[u] + 1 > level[v]) level[v] = level[u] + 1;
      if (finish[u] > start || (finish[u] == start && length[u] > length[v])) {
        start = finish[u];
        length[v] = length[u];
      }
    }
    length[v]++;
    int64_t time = fastest(p, v);
    finish[v] = sat_add(start, time);
    if (finish[v] > s->path_ns || (finish[v] == s->path_ns && length[v] > s->path_length)) {
      s->path_ns = finish[v];
      s->path_length = length[v];
    }
    if (level[v] + 1 > s->depth) s->depth = level[v] + 1;
    if (++at_level[level[v]] > s->width) s->width = at_level[level[v]];
  }
}

static void count_all(shape_of_graph *s, const situ_problem *p) {
  const situ_graph *g = p->graph;
  for (int32_t v = 0; v < g->n_operators; v++) {
    int64_t bytes = 0;
    bool result = true;
    for (int32_t t = g->out_start[v]; t < g->out_start[v + 1]; t++) {
      bytes = sat_add(bytes, g->size_bytes[t]);
      s->widest_tensor_bytes = max64(s->widest_tensor_bytes, g->size_bytes[t]);
      result &= g->use_start[t] == g->use_start[t + 1];
    }
    s->result_count += result;
    s->source_count += g->in_start[v] == g->in_start[v + 1];
    s->phase_count[g->phase[v]]++;
    const kind_sum one = {NULL,
                          1,
                          g->flops[v],
                          g->moved_bytes[v],
                          g->weight_bytes[v],
                          bytes,
                          p->unknown.single && p->unknown.single[v],
                          fastest(p, v)};
    sum_add(&s->all, &one);
    sum_add(&s->kinds[g->kind[v]], &one);
  }
  qsort(s->kinds, (size_t)s->n_kinds, sizeof *s->kinds, by_work);
}

/* False without memory. s->kinds lives in the arena. */
static bool measure(shape_of_graph *s, const situ_problem *p, arena *a) {
  const situ_graph *g = p->graph;
  *s = (shape_of_graph){.n_kinds = g->n_kinds, .kinds = ARENA_ZERO(a, kind_sum, g->n_kinds)};
  int32_t *level = ARENA_NEW(a, int32_t, g->n_operators), *length = ARENA_NEW(a, int32_t, g->n_operators);
  int32_t *at_level = ARENA_ZERO(a, int32_t, g->n_operators);
  int64_t *finish = ARENA_NEW(a, int64_t, g->n_operators);
  if (!s->kinds || !level || !length || !at_level || !finish) return false;
  for (int32_t k = 0; k < g->n_kinds; k++) s->kinds[k].kind = g->kind_name[k];
  count_all(s, p);
  measure_chains(s, p, level, length, finish, at_level);
  return true;
}

/* What a report is about, and how it looks. */
typedef struct inspection {
  shape_of_graph shape;
  const situ_problem *problem;
  const situ_model *model;
  const situ_report_options *options;
} inspection;

enum { KINDS_SHOWN = 24 };

/* A row of the table or list; without rows, the same as an object without its kind. */
static json_value *add_sum(row_list *out, const inspection *of, const char *kind, const kind_sum *s, style st) {
  const kind_sum *all = &of->shape.all;
  double share = all->time_ns > 0 ? (double)s->time_ns / (double)all->time_ns : 0;
  char flops[TEXT_UNIT_BYTES], bar[64], of_all[96] = "";
  bar_text(bar, sizeof bar, share, 6, of->options);
  if (s != all) c_locale_print(of_all, sizeof of_all, "%3.0f %% %s", share * 100, bar);
  const field fields[] = {
      {"kind", AS_NAME, "kind", .text = kind, .style = st, .max = 26, .skip = !out},
      {"count", AS_COUNT, "count", .n = s->count, .style = st},
      {"flops", AS_COUNT, "FLOPs", .n = s->flops, .shown = text_count(flops, (double)s->flops), .style = st},
      {"moved_bytes", AS_BYTES, "bytes", .n = s->moved_bytes, .style = st},
      {"weight_bytes", AS_BYTES, "weights", .n = s->weight_bytes, .style = st},
      {"output_bytes", AS_COUNT, .n = s->output_bytes},
      {"time_ns", AS_ROUGH_TIME, "time", .n = s->time_ns, .style = st},
      {NULL, AS_TEXT, "of all", .text = of_all, .style = st == STYLE_PLAIN ? STYLE_ACCENT : st},
      {"not_inferred", AS_COUNT, "unknown", .n = s->unknown, .shown = s->unknown ? NULL : "-",
       .style = s->unknown ? STYLE_WARN : STYLE_DIM}};
  if (!out) return fields_object(fields, sizeof fields / sizeof fields[0]);
  rows_add(out, fields, sizeof fields / sizeof fields[0]);
  return NULL;
}

static void add_kinds(row_list *out, const void *inspected) {
  const inspection *of = inspected;
  const shape_of_graph *s = &of->shape;
  kind_sum rest = {0};
  char name[64];
  int32_t shown = out->list || s->n_kinds < KINDS_SHOWN ? s->n_kinds : KINDS_SHOWN;
  for (int32_t k = 0; k < shown; k++) add_sum(out, of, s->kinds[k].kind, &s->kinds[k], STYLE_PLAIN);
  for (int32_t k = shown; k < s->n_kinds; k++) sum_add(&rest, &s->kinds[k]);
  snprintf(name, sizeof name, "%d other kinds", (int)(s->n_kinds - shown));
  if (shown < s->n_kinds) add_sum(out, of, name, &rest, STYLE_DIM);
  if (!out->list) add_sum(out, of, "all", &s->all, STYLE_BOLD);
}

static char *inspect_json(const inspection *of) {
  const shape_of_graph *s = &of->shape;
  const situ_graph *g = of->problem->graph;
  const situ_costs *costs = of->problem->costs;
  json_value *root = json_new_object(), *phases = json_new_object();
  bool ok = report_problem_json(root, of->problem, of->model), fused = costs->fusion;
  for (int i = 0; i <= SITU_PHASE_RECOMPUTE; i++)
    ok &= json_set(phases, situ_phase_name((situ_phase)i), json_new_int(s->phase_count[i]));
  ok &= FIELDS(root, {"total", AS_TREE, .tree = add_sum(NULL, of, NULL, &s->all, STYLE_PLAIN)},
               {"flops", AS_COUNT, .n = s->all.flops}, {"bytes", AS_COUNT, .n = s->all.moved_bytes},
               {"weight_bytes", AS_COUNT, .n = s->all.weight_bytes}, {"edges", AS_COUNT, .n = g->n_edges},
               {"uses", AS_COUNT, .n = g->n_uses}, {"layers", AS_COUNT, .n = g->n_layers},
               {"colocation_groups", AS_COUNT, .n = of->problem->given->n_colocations},
               {"fusion", .text = costs->fusion, .skip = !fused},
               {"kernels", AS_COUNT, .n = costs->n_kernels, .skip = !fused},
               {"kernel_bytes", AS_COUNT, .n = costs->moved_bytes, .skip = !fused},
               {"nested_operators", AS_COUNT, .n = of->model ? of->model->n_nested_operators : 0, .skip = !of->model},
               {"depth", AS_COUNT, .n = s->depth}, {"width", AS_COUNT, .n = s->width},
               {"critical_path", AS_TREE,
                .tree = OBJECT({"operators", AS_COUNT, .n = s->path_length}, {"time_ns", AS_COUNT, .n = s->path_ns})},
               {"work_ns", AS_COUNT, .n = s->all.time_ns},
               {"largest_tensor_bytes", AS_COUNT, .n = s->widest_tensor_bytes}, {"phases", AS_TREE, .tree = phases},
               {"not_inferred", AS_COUNT, .n = s->all.unknown}, {"kinds", AS_TREE, .tree = rows_json(add_kinds, of)});
  return report_finish(root, ok && report_notes_json(root, of->model));
}

static void chain_facts(const fact_lines *f, const shape_of_graph *s, const situ_problem *p) {
  char a[TEXT_UNIT_BYTES], b[TEXT_UNIT_BYTES], c[TEXT_UNIT_BYTES], ratio[TEXT_UNIT_BYTES] = "";
  FACT(f, "depth, width", "%s operator%s in the longest chain; at most %s in parallel", grouped(a, s->depth),
       s->depth == 1 ? "" : "s", grouped(b, s->width));
  if (s->path_ns > 0) c_locale_print(ratio, sizeof ratio, " (%.2fx)", (double)s->all.time_ns / (double)s->path_ns);
  FACT(f, "critical path", "%s over %s operator%s, out of %s of work%s", text_time(a, s->path_ns),
       grouped(b, s->path_length), s->path_length == 1 ? "" : "s", text_time(c, s->all.time_ns), ratio);
  fact_start(f, "");
  text_add(f->t, "on the fastest device of ");
  text_add_clean(f->t, p->platform->name);
  text_add(f->t, ", without transfers\n");
}

static void inspect_facts(const fact_lines *f, const inspection *of) {
  const shape_of_graph *s = &of->shape;
  const situ_problem *p = of->problem;
  char a[TEXT_UNIT_BYTES], b[TEXT_UNIT_BYTES], c[TEXT_UNIT_BYTES], d[TEXT_UNIT_BYTES];
  FACT(f, "tensors", "%s (%s in total, the largest %s), %s edges", grouped(a, p->graph->n_tensors),
       text_size(b, s->all.output_bytes), text_size(c, s->widest_tensor_bytes), grouped(d, p->graph->n_edges));
  chain_facts(f, s, p);
  if (s->phase_count[SITU_PHASE_FORWARD] < p->n_operators)
    FACT(f, "phases", "%s forward, %s recomputed, %s backward, %s update",
         grouped(a, s->phase_count[SITU_PHASE_FORWARD]), grouped(d, s->phase_count[SITU_PHASE_RECOMPUTE]),
         grouped(b, s->phase_count[SITU_PHASE_BACKWARD]), grouped(c, s->phase_count[SITU_PHASE_UPDATE]));
  if (p->given->n_colocations > 0 || p->graph->n_layers > 0)
    FACT(f, "groups", "%s layers, %s colocation groups", grouped(a, p->graph->n_layers),
         grouped(b, p->given->n_colocations));
  if (p->costs->fusion)
    FACT(f, "fusion", "%s kernels (%s), which move %s", grouped(a, p->costs->n_kernels), p->costs->fusion,
         text_size(b, p->costs->moved_bytes));
  if (of->model && of->model->n_nested_operators > 0)
    FACT(f, "nested", "%s operators in sub-graphs and functions, included in the costs of their owners",
         grouped(a, of->model->n_nested_operators));
  if (p->unknown.n == 0)
    FACT(f, "unknown", "nothing: every shape and kind is known");
  else
    report_unknown(f, p);
}

static char *inspect_text(const inspection *of) {
  const situ_problem *p = of->problem;
  text_buffer t = {0};
  char a[TEXT_UNIT_BYTES];
  style_add(&t, of->options, STYLE_BOLD, p->graph->model);
  text_add(&t, ": %s operator%s", grouped(a, p->n_operators), p->n_operators == 1 ? "" : "s");
  if (of->model) text_add(&t, ", read by %s", of->model->reader);
  text_add(&t, "\n\n");
  rows_text(&t, add_kinds, of, of->options);
  text_add(&t, "\n");
  inspect_facts(&(fact_lines){&t, of->options, 13}, of);
  report_notes(&t, of->model, of->options);
  return text_take(&t);
}

situ_status situ_report_inspect(char **out, const situ_problem *problem, const situ_model *model,
                                situ_report_format format, const situ_report_options *options, situ_error *error) {
  situ_report_options look;
  TRY(report_open(out, &look, format, REPORT_TABLE | REPORT_JSON, options, error));
  TRY(GIVEN(error, problem));
  inspection of = {.problem = problem, .model = model, .options = &look};
  arena *a = arena_new();
  char *text = !a || !measure(&of.shape, problem, a) ? NULL
               : format == SITU_REPORT_JSON          ? inspect_json(&of)
                                                     : inspect_text(&of);
  arena_free(a);
  return report_close(out, text, error);
}
