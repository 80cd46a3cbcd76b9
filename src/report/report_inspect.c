#include <stdio.h>
#include <stdlib.h>

#include "base/c_locale.h"
#include "base/checked.h"
#include "report/report.h"

/* Sums over the operators of one kind, or over all. */
typedef struct kind_sum {
  const char *kind;
  int64_t count, flops, moved_bytes, weight_bytes, output_bytes, uninferred;
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
  int32_t n_layers, n_colocations;
  int64_t phase_count[3];
} shape_of_graph;

static int64_t fastest(const situ_problem *p, int32_t v) {
  int64_t best = SITU_NEVER_NS;
  for (int32_t c = 0; c < p->n_classes; c++) best = min64(best, p->time_ns[(int64_t)v * p->n_classes + c]);
  return best == SITU_NEVER_NS ? 0 : best;
}

static void count_operator(kind_sum *sum, const situ_graph *g, int32_t v, int64_t output_bytes, int64_t time_ns) {
  sum->count++;
  sum->flops = sat_add(sum->flops, g->flops[v]);
  sum->moved_bytes = sat_add(sum->moved_bytes, g->moved_bytes[v]);
  sum->weight_bytes = sat_add(sum->weight_bytes, g->weight_bytes[v]);
  sum->output_bytes = sat_add(sum->output_bytes, output_bytes);
  sum->uninferred += !g->inferred[v];
  sum->time_ns = sat_add(sum->time_ns, time_ns);
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
    s->phase_count[g->phase[v] < 3 ? g->phase[v] : 0]++;
    count_operator(&s->all, g, v, bytes, fastest(p, v));
    count_operator(&s->kinds[g->kind[v]], g, v, bytes, fastest(p, v));
  }
  qsort(s->kinds, (size_t)s->n_kinds, sizeof *s->kinds, by_work);
  s->n_layers = g->n_layers;
  s->n_colocations = p->given->n_colocations;
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

static bool sum_json(json_value *o, const kind_sum *sum) {
  bool ok = json_set(o, "count", json_new_int(sum->count)) && json_set(o, "flops", json_new_int(sum->flops));
  ok = ok && json_set(o, "moved_bytes", json_new_int(sum->moved_bytes));
  ok = ok && json_set(o, "weight_bytes", json_new_int(sum->weight_bytes));
  ok = ok && json_set(o, "output_bytes", json_new_int(sum->output_bytes));
  ok = ok && json_set(o, "time_ns", json_new_int(sum->time_ns));
  return ok && json_set(o, "not_inferred", json_new_int(sum->uninferred));
}

static json_value *kinds_json(const shape_of_graph *s) {
  json_value *list = json_new_array();
  bool ok = list != NULL;
  for (int32_t k = 0; ok && k < s->n_kinds; k++) {
    json_value *o = json_new_object();
    ok = o && json_set(o, "kind", json_new_text(s->kinds[k].kind)) && sum_json(o, &s->kinds[k]);
    ok = json_push(list, o) && ok;
  }
  if (ok) return list;
  json_free(list);
  return NULL;
}

static bool inspect_json(json_value *root, const shape_of_graph *s, const situ_problem *p, const situ_model *model) {
  const situ_graph *g = p->graph;
  json_value *total = json_new_object(), *path = json_new_object(), *phases = json_new_object();
  bool ok = report_problem_json(root, p, model) && total && sum_json(total, &s->all);
  ok = json_set(root, "total", total) && ok;
  ok = ok && json_set(root, "flops", json_new_int(s->all.flops));
  ok = ok && json_set(root, "bytes", json_new_int(s->all.moved_bytes));
  ok = ok && json_set(root, "weight_bytes", json_new_int(s->all.weight_bytes));
  ok = ok && json_set(root, "edges", json_new_int(g->n_edges)) && json_set(root, "uses", json_new_int(g->n_uses));
  ok = ok && json_set(root, "layers", json_new_int(s->n_layers));
  ok = ok && json_set(root, "colocation_groups", json_new_int(s->n_colocations));
  if (p->costs->fusion) {
    ok = ok && json_set(root, "fusion", json_new_text(p->costs->fusion));
    ok = ok && json_set(root, "kernels", json_new_int(p->costs->n_kernels));
    ok = ok && json_set(root, "kernel_bytes", json_new_int(p->costs->moved_bytes));
  }
  if (model) ok = ok && json_set(root, "nested_operators", json_new_int(model->n_nested_operators));
  ok = ok && json_set(root, "depth", json_new_int(s->depth)) && json_set(root, "width", json_new_int(s->width));
  ok = ok && path && json_set(path, "operators", json_new_int(s->path_length));
  ok = ok && json_set(path, "time_ns", json_new_int(s->path_ns));
  ok = json_set(root, "critical_path", path) && ok;
  ok = ok && json_set(root, "work_ns", json_new_int(s->all.time_ns));
  ok = ok && json_set(root, "largest_tensor_bytes", json_new_int(s->widest_tensor_bytes));
  for (int i = 0; ok && phases && i < 3; i++)
    ok = json_set(phases, situ_phase_name((situ_phase)i), json_new_int(s->phase_count[i]));
  ok = json_set(root, "phases", phases) && ok;
  ok = ok && json_set(root, "not_inferred", json_new_int(s->all.uninferred));
  ok = ok && json_set(root, "kinds", kinds_json(s));
  return ok && report_notes_json(root, model);
}

static char *whole_json(const situ_problem *problem, const situ_model *model) {
  arena *a = arena_new();
  json_value *root = json_new_object();
  shape_of_graph s;
  bool ok = a && root && measure(&s, problem, a) && inspect_json(root, &s, problem, model);
  arena_free(a);
  return report_finish(root, ok);
}

enum { KINDS_SHOWN = 24, FACT_COLUMNS = 13 };

static void kind_row(table *t, style st, const char *name, const kind_sum *s, const kind_sum *all,
                     const situ_report_options *o) {
  char a[TEXT_UNIT_BYTES], bar[64], cell[96];
  double share = all->time_ns > 0 ? (double)s->time_ns / (double)all->time_ns : 0;
  table_cell(t, st == STYLE_PLAIN ? STYLE_BOLD : st, name);
  table_cell(t, st, grouped(a, s->count));
  table_cell(t, st, text_count(a, (double)s->flops));
  table_cell(t, st, text_size(a, s->moved_bytes));
  table_cell(t, st, text_size(a, s->weight_bytes));
  table_cell(t, st, text_time(a, s->time_ns));
  c_locale_print(cell, sizeof cell, "%3.0f %% %s", share * 100, bar_text(bar, sizeof bar, share, 6, o));
  table_cell(t, st == STYLE_PLAIN ? STYLE_ACCENT : st, s == all ? "" : cell);
  table_cell(t, s->uninferred ? STYLE_WARN : STYLE_DIM, s->uninferred ? grouped(a, s->uninferred) : "-");
}

static void kinds_table(text_buffer *out, const shape_of_graph *s, const situ_report_options *options) {
  table t;
  if (!table_begin(&t, out)) return;
  table_column(&t, "kind", ALIGN_LEFT, 26);
  table_column(&t, "count", ALIGN_RIGHT, 0);
  table_column(&t, "FLOPs", ALIGN_RIGHT, 0);
  table_column(&t, "bytes", ALIGN_RIGHT, 0);
  table_column(&t, "weights", ALIGN_RIGHT, 0);
  table_column(&t, "time", ALIGN_RIGHT, 0);
  table_column(&t, "of all", ALIGN_LEFT, 0);
  table_column(&t, "unsure", ALIGN_RIGHT, 0);
  int32_t shown = s->n_kinds > KINDS_SHOWN ? KINDS_SHOWN : s->n_kinds;
  for (int32_t k = 0; k < shown; k++) kind_row(&t, STYLE_PLAIN, s->kinds[k].kind, &s->kinds[k], &s->all, options);
  if (shown < s->n_kinds) {
    char name[64];
    kind_sum rest = {0};
    for (int32_t k = shown; k < s->n_kinds; k++) {
      rest.count += s->kinds[k].count;
      rest.flops = sat_add(rest.flops, s->kinds[k].flops);
      rest.moved_bytes = sat_add(rest.moved_bytes, s->kinds[k].moved_bytes);
      rest.weight_bytes = sat_add(rest.weight_bytes, s->kinds[k].weight_bytes);
      rest.uninferred += s->kinds[k].uninferred;
      rest.time_ns = sat_add(rest.time_ns, s->kinds[k].time_ns);
    }
    snprintf(name, sizeof name, "%d other kinds", (int)(s->n_kinds - shown));
    kind_row(&t, STYLE_DIM, name, &rest, &s->all, options);
  }
  kind_row(&t, STYLE_BOLD, "all", &s->all, &s->all, options);
  table_render(out, &t, options);
  table_stop(&t);
}

static void chain_facts(text_buffer *t, const shape_of_graph *s, const situ_problem *p,
                        const situ_report_options *options) {
  char a[TEXT_UNIT_BYTES], b[TEXT_UNIT_BYTES], c[TEXT_UNIT_BYTES];
  fact_start(t, options, "depth, width", FACT_COLUMNS);
  text_add(t, "%s operator%s in the longest chain; at most %s in parallel\n", grouped(a, s->depth),
           s->depth == 1 ? "" : "s", grouped(b, s->width));
  fact_start(t, options, "critical path", FACT_COLUMNS);
  text_add(t, "%s over %s operator%s, out of %s of work", text_time(a, s->path_ns), grouped(b, s->path_length),
           s->path_length == 1 ? "" : "s", text_time(c, s->all.time_ns));
  if (s->path_ns > 0) text_add(t, " (%.2fx)", (double)s->all.time_ns / (double)s->path_ns);
  text_add(t, "\n");
  fact_start(t, options, "", FACT_COLUMNS);
  text_add(t, "on the fastest device of ");
  text_add_clean(t, p->platform->name);
  text_add(t, ", without transfers\n");
}

static void inspect_facts(text_buffer *t, const shape_of_graph *s, const situ_problem *p, const situ_model *model,
                          const situ_report_options *options) {
  char a[TEXT_UNIT_BYTES], b[TEXT_UNIT_BYTES], c[TEXT_UNIT_BYTES];
  fact_start(t, options, "tensors", FACT_COLUMNS);
  text_add(t, "%s (%s in total, the largest %s)", grouped(a, p->graph->n_tensors), text_size(b, s->all.output_bytes),
           text_size(c, s->widest_tensor_bytes));
  text_add(t, ", %s edges\n", grouped(a, p->graph->n_edges));
  chain_facts(t, s, p, options);
  if (s->phase_count[1] + s->phase_count[2] > 0) {
    fact_start(t, options, "phases", FACT_COLUMNS);
    text_add(t, "%s forward, %s backward, %s update\n", grouped(a, s->phase_count[0]), grouped(b, s->phase_count[1]),
             grouped(c, s->phase_count[2]));
  }
  if (s->n_colocations > 0 || s->n_layers > 0) {
    fact_start(t, options, "groups", FACT_COLUMNS);
    text_add(t, "%s layers, %s colocation groups\n", grouped(a, s->n_layers), grouped(b, s->n_colocations));
  }
  if (p->costs->fusion) {
    fact_start(t, options, "fusion", FACT_COLUMNS);
    text_add(t, "%s kernels (%s), which move %s\n", grouped(a, p->costs->n_kernels), p->costs->fusion,
             text_size(b, p->costs->moved_bytes));
  }
  if (model && model->n_nested_operators > 0) {
    fact_start(t, options, "nested", FACT_COLUMNS);
    text_add(t, "%s operators in sub-graphs and functions, included in the costs of their owners\n",
             grouped(a, model->n_nested_operators));
  }
  fact_start(t, options, "unsure", FACT_COLUMNS);
  if (s->all.uninferred == 0)
    text_add(t, "nothing: every shape and kind is known\n");
  else
    text_add(t, "%s operators of unknown shape or kind; their FLOPs and bytes are lower bounds\n",
             grouped(a, s->all.uninferred));
}

static char *inspect_text(const situ_problem *problem, const situ_model *model, const situ_report_options *options) {
  text_buffer t = {0};
  char a[TEXT_UNIT_BYTES];
  shape_of_graph s;
  arena *scratch = arena_new();
  if (!scratch || !measure(&s, problem, scratch)) {
    arena_free(scratch);
    return NULL;
  }
  style_add(&t, options, STYLE_BOLD, problem->graph->model);
  text_add(&t, ": %s operator%s", grouped(a, problem->n_operators), problem->n_operators == 1 ? "" : "s");
  if (model) text_add(&t, ", read by %s", model->reader);
  text_add(&t, "\n\n");
  kinds_table(&t, &s, options);
  text_add_bytes(&t, "\n", 1);
  inspect_facts(&t, &s, problem, model, options);
  report_notes(&t, model, options);
  arena_free(scratch);
  return text_take(&t);
}

situ_status situ_report_inspect(char **out, const situ_problem *problem, const situ_model *model,
                                situ_report_format format, const situ_report_options *options, situ_error *error) {
  situ_report_options look;
  TRY(report_open(out, &look, format, REPORT_TABLE | REPORT_JSON, options, error));
  TRY(GIVEN(error, problem));
  return report_close(
      out, format == SITU_REPORT_JSON ? whole_json(problem, model) : inspect_text(problem, model, &look), error);
}
