#include <string.h>

#include "engine/measure.h"
#include "report/report.h"

enum { ROWS_SHOWN = 12 };

static void add_operators(row_list *out, const void *profile) {
  const situ_profile *p = profile;
  const situ_graph *g = p->model->graph;
  for (int32_t v = 0; v < g->n_operators; v++)
    ROW(out, {"name", .text = g->name[v]}, {"kind", .text = g->kind_name[g->kind[v]]},
        {"time_ns", AS_COUNT, .n = p->time_ns[v]}, {"spread", AS_NUMBER, .x = p->spread[v]},
        {"workspace_bytes", AS_COUNT, .n = p->workspace_bytes ? p->workspace_bytes[v] : 0,
         .skip = !p->workspace_bytes});
}

static char *profile_json(const situ_profile *p) {
  bool cut = p->cut.n_cuts > 0, memory = p->workspace_bytes;
  return report_finish(
      OBJECT({"model", .text = p->model->graph->model}, {"engine", .text = p->engine},
             {"threads", AS_COUNT, .n = p->threads}, {"level", AS_COUNT, .n = p->level},
             {"items", AS_COUNT, .n = p->n_runs}, {"measured_ns", AS_COUNT, .n = p->whole_ns},
             {"spread_ns", AS_COUNT, .n = p->whole_half_ns}, {"kernels_ns", AS_COUNT, .n = p->kernels_ns},
             {"operators", AS_COUNT, .n = p->model->graph->n_operators}, {"timed", AS_COUNT, .n = p->n_timed},
             {"handover_ns", AS_COUNT, .n = p->cut.handover_ns, .skip = !cut},
             {"part_start_ns", AS_COUNT, .n = p->cut.start_ns, .skip = !cut},
             {"part_dispatch_ns", AS_COUNT, .n = p->cut.dispatch_ns, .skip = !cut},
             {"part_bytes_per_s", AS_NUMBER, .x = p->cut.bytes_per_s, .skip = !cut},
             {"cuts", AS_COUNT, .n = p->cut.n_cuts, .skip = !cut},
             {"memory_rows", AS_COUNT, .n = p->n_memory_rows, .skip = !memory},
             {"memory_rows_named", AS_COUNT, .n = p->n_memory_named, .skip = !memory},
             {"made_up_weights", .text = p->made_up, .skip = !p->made_up},
             {"times", AS_TREE, .tree = rows_json(add_operators, p)}),
      true);
}

/* The operator with the largest time below that of `after` (-1: none); ties by number. */
static int32_t next_longest(const situ_profile *p, int32_t after) {
  int32_t best = -1;
  for (int32_t v = 0; v < p->model->graph->n_operators; v++) {
    bool later = after < 0 || p->time_ns[v] < p->time_ns[after] || (p->time_ns[v] == p->time_ns[after] && v > after);
    if (later && (best < 0 || p->time_ns[v] > p->time_ns[best])) best = v;
  }
  return best;
}

static void memory_fact(const fact_lines *f, const situ_profile *p) {
  char a[TEXT_UNIT_BYTES];
  int64_t max = 0;
  int32_t n = 0;
  for (int32_t v = 0; v < p->model->graph->n_operators; v++) {
    n += p->workspace_bytes[v] > 0;
    max = p->workspace_bytes[v] > max ? p->workspace_bytes[v] : max;
  }
  FACT(f, "memory", "%d operators use scratch memory, at most %s; %d of %d rows name a node", (int)n, text_size(a, max),
       (int)p->n_memory_named, (int)p->n_memory_rows);
}

static void cut_fact(const fact_lines *f, const situ_profile *p) {
  text_buffer line = {0};
  char a[TEXT_UNIT_BYTES], b[TEXT_UNIT_BYTES];
  text_add(&line, "%s per hand-over, %s to start a part", text_time(a, p->cut.handover_ns),
           text_time(b, p->cut.start_ns));
  if (p->cut.bytes_per_s > 0) text_add(&line, ", bytes at %s/s", text_size(a, (int64_t)p->cut.bytes_per_s));
  text_add(&line, ", %s between two parts; measured at %d cuts", text_time(b, p->cut.dispatch_ns), (int)p->cut.n_cuts);
  fact_wrapped(f, "a cut", text_take(&line));
}

static void add_slowest(row_list *out, const void *profile) {
  const situ_profile *p = profile;
  const situ_graph *g = p->model->graph;
  for (int32_t i = 0, v = next_longest(p, -1); i < ROWS_SHOWN && v >= 0 && (i == 0 || p->time_ns[v] > 0);
       i++, v = next_longest(p, v))
    ROW(out, {NULL, AS_TEXT, "operator", .text = g->name[v], .max = 36},
        {NULL, AS_TEXT, "kind", .text = g->kind_name[g->kind[v]], .style = STYLE_DIM, .max = 16},
        {NULL, AS_TIME, "time", .n = p->time_ns[v]},
        {NULL, AS_PERCENT, "share", .x = p->whole_ns > 0 ? (double)p->time_ns[v] / (double)p->whole_ns : 0},
        {NULL, AS_PERCENT, "+-", .x = p->spread[v], .style = STYLE_DIM});
}

static char *profile_text(const situ_profile *p, const situ_report_options *options) {
  text_buffer t = {0};
  const fact_lines f = {&t, options, 9};
  char a[TEXT_UNIT_BYTES], b[TEXT_UNIT_BYTES];
  rows_text(&t, add_slowest, p, options);
  text_add(&t, "\n");
  if (p->threads > 0)
    FACT(&f, "whole", "%s +- %s, median of %d runs without profiling", exact_time(a, p->whole_ns),
         text_time(b, p->whole_half_ns), (int)p->n_runs);
  else
    FACT(&f, "whole", "%s, the sum of the medians of %d runs", exact_time(a, p->whole_ns), (int)p->n_runs);
  FACT(&f, "kernels", "%s in %d of %d operators; the others are folded or fused", exact_time(a, p->kernels_ns),
       (int)p->n_timed, (int)p->model->graph->n_operators);
  if (p->kernels_ns < p->whole_ns / 2)
    fact_wrapped(
        &f, "note",
        strdup("the whole model takes far longer than the profiler reports for its kernels: a GPU runs them after "
               "their launch was timed. Operator times are proportional to launch times; the whole time is right"));
  if (p->cut.n_cuts > 0) cut_fact(&f, p);
  if (p->workspace_bytes) memory_fact(&f, p);
  if (p->made_up) FACT(&f, "weights", "random: %s is missing", p->made_up);
  if (p->threads > 0)
    FACT(&f, "engine", "%s, %d thread%s, level %d", p->engine, (int)p->threads, p->threads == 1 ? "" : "s",
         (int)p->level);
  else
    FACT(&f, "engine", "%s", p->engine);
  return text_take(&t);
}

situ_status situ_report_profile(char **out, const situ_profile *profile, situ_report_format format,
                                const situ_report_options *options, situ_error *error) {
  situ_report_options look;
  TRY(report_open(out, &look, format, REPORT_TABLE | REPORT_JSON, options, error));
  TRY(GIVEN(error, profile));
  return report_close(out, format == SITU_REPORT_JSON ? profile_json(profile) : profile_text(profile, &look), error);
}
