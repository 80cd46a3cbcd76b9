#include <stdlib.h>

#include "engine/measure.h"
#include "report/report.h"

enum { ROWS_SHOWN = 12 };

static char *profile_json(const situ_profile *p) {
  const situ_graph *g = p->model->graph;
  json_value *root = json_new_object(), *list = json_new_array();
  bool ok = root && list && json_set(root, "model", json_new_text(g->model)) &&
            json_set(root, "engine", json_new_text(p->engine)) && json_set(root, "threads", json_new_int(p->threads)) &&
            json_set(root, "level", json_new_int(p->level)) && json_set(root, "items", json_new_int(p->n_runs)) &&
            json_set(root, "measured_ns", json_new_int(p->whole_ns)) &&
            json_set(root, "spread_ns", json_new_int(p->whole_half_ns)) &&
            json_set(root, "kernels_ns", json_new_int(p->kernels_ns)) &&
            json_set(root, "operators", json_new_int(g->n_operators)) &&
            json_set(root, "timed", json_new_int(p->n_timed));
  if (p->cut.n_cuts > 0)
    ok = ok && json_set(root, "handover_ns", json_new_int(p->cut.handover_ns)) &&
         json_set(root, "part_start_ns", json_new_int(p->cut.start_ns)) &&
         json_set(root, "part_dispatch_ns", json_new_int(p->cut.dispatch_ns)) &&
         json_set(root, "part_bytes_per_s", json_new_number(p->cut.bytes_per_s)) &&
         json_set(root, "cuts", json_new_int(p->cut.n_cuts));
  if (p->workspace_bytes)
    ok = ok && json_set(root, "memory_rows", json_new_int(p->n_memory_rows)) &&
         json_set(root, "memory_rows_named", json_new_int(p->n_memory_named));
  if (p->made_up) ok = ok && json_set(root, "made_up_weights", json_new_text(p->made_up));
  for (int32_t v = 0; ok && v < g->n_operators; v++) {
    json_value *o = json_new_object();
    ok = json_push(list, o) && json_set(o, "name", json_new_text(g->name[v])) &&
         json_set(o, "kind", json_new_text(g->kind_name[g->kind[v]])) &&
         json_set(o, "time_ns", json_new_int(p->time_ns[v])) && json_set(o, "spread", json_new_number(p->spread[v]));
    if (p->workspace_bytes) ok = ok && json_set(o, "workspace_bytes", json_new_int(p->workspace_bytes[v]));
  }
  ok = json_set(root, "times", list) && ok;
  return report_finish(root, ok);
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

static const char REST[] = "             "; /* below the words of a fact */

static void add_memory(text_buffer *t, const situ_profile *p, const situ_report_options *options) {
  char a[TEXT_UNIT_BYTES];
  int64_t max = 0;
  int32_t n = 0;
  for (int32_t v = 0; v < p->model->graph->n_operators; v++) {
    n += p->workspace_bytes[v] > 0;
    max = p->workspace_bytes[v] > max ? p->workspace_bytes[v] : max;
  }
  fact_start(t, options, "memory", 9);
  text_add(t, "%d operators use scratch memory, at most %s; %d of %d rows name a node\n", (int)n, text_size(a, max),
           (int)p->n_memory_named, (int)p->n_memory_rows);
}

static void add_cut(text_buffer *t, const situ_profile *p, const situ_report_options *options) {
  text_buffer line = {0};
  char a[TEXT_UNIT_BYTES], b[TEXT_UNIT_BYTES];
  text_add(&line, "%s per hand-over, %s to start a part", text_time(a, p->cut.handover_ns),
           text_time(b, p->cut.start_ns));
  if (p->cut.bytes_per_s > 0) text_add(&line, ", bytes at %s/s", text_size(a, (int64_t)p->cut.bytes_per_s));
  text_add(&line, ", %s between two parts; measured at %d cuts", text_time(b, p->cut.dispatch_ns), (int)p->cut.n_cuts);
  char *words = text_take(&line);
  if (words) text_add_wrapped(t, words, "  a cut      ", REST, report_width(options));
  t->failed |= !words;
  free(words);
}

static char *profile_text(const situ_profile *p, const situ_report_options *options) {
  const situ_graph *g = p->model->graph;
  text_buffer t = {0};
  char a[TEXT_UNIT_BYTES];
  table rows;
  if (!table_start(&rows)) return NULL;
  table_column(&rows, "operator", ALIGN_LEFT, 36);
  table_column(&rows, "kind", ALIGN_LEFT, 16);
  table_column(&rows, "time", ALIGN_RIGHT, 0);
  table_column(&rows, "share", ALIGN_RIGHT, 0);
  table_column(&rows, "+-", ALIGN_RIGHT, 0);
  for (int32_t i = 0, v = next_longest(p, -1); i < ROWS_SHOWN && v >= 0 && (i == 0 || p->time_ns[v] > 0);
       i++, v = next_longest(p, v)) {
    table_cell(&rows, STYLE_PLAIN, g->name[v]);
    table_cell(&rows, STYLE_DIM, g->kind_name[g->kind[v]]);
    table_cell(&rows, STYLE_PLAIN, exact_time(a, p->time_ns[v]));
    table_cell(&rows, STYLE_PLAIN, percent_text(a, p->whole_ns > 0 ? (double)p->time_ns[v] / (double)p->whole_ns : 0));
    table_cell(&rows, STYLE_DIM, percent_text(a, p->spread[v]));
  }
  table_render(&t, &rows, options);
  table_stop(&rows);
  text_add(&t, "\n");
  fact_start(&t, options, "whole", 9);
  text_add(&t, "%s", exact_time(a, p->whole_ns));
  if (p->threads > 0)
    text_add(&t, " +- %s, median of %d runs without profiling\n", text_time(a, p->whole_half_ns), (int)p->n_runs);
  else
    text_add(&t, ", the sum of the medians of %d runs\n", (int)p->n_runs);
  fact_start(&t, options, "kernels", 9);
  text_add(&t, "%s in %d of %d operators; the others are folded or fused\n", exact_time(a, p->kernels_ns),
           (int)p->n_timed, (int)g->n_operators);
  if (p->kernels_ns < p->whole_ns / 2)
    text_add_wrapped(
        &t,
        "the whole model takes far longer than the profiler reports for its kernels: a GPU runs them after "
        "their launch was timed. Operator times are proportional to launch times; the whole time is right",
        "  note       ", REST, report_width(options));
  if (p->cut.n_cuts > 0) add_cut(&t, p, options);
  if (p->workspace_bytes) add_memory(&t, p, options);
  if (p->made_up) {
    fact_start(&t, options, "weights", 9);
    text_add(&t, "random: %s is missing\n", p->made_up);
  }
  fact_start(&t, options, "engine", 9);
  text_add(&t, "%s", p->engine);
  if (p->threads > 0)
    text_add(&t, ", %d thread%s, level %d", (int)p->threads, p->threads == 1 ? "" : "s", (int)p->level);
  text_add(&t, "\n");
  return text_take(&t);
}

situ_status situ_report_profile(char **out, const situ_profile *profile, situ_report_format format,
                                const situ_report_options *options, situ_error *error) {
  situ_report_options look;
  TRY(report_open(out, &look, format, REPORT_TABLE | REPORT_JSON, options, error));
  TRY(GIVEN(error, profile));
  return report_close(out, format == SITU_REPORT_JSON ? profile_json(profile) : profile_text(profile, &look), error);
}
