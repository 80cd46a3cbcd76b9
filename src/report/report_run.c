#include <math.h>
#include <stdlib.h>

#include "engine/measure.h"
#include "report/report.h"

static const double POOR_SHARE = 0.1;
enum { ROWS_SHOWN = 24 };

static json_value *stage_json(const run_stage *s, const situ_problem *p) {
  json_value *o = json_new_object();
  bool ok =
      o && json_set(o, "device", json_new_text(p->platform->devices[s->device].name)) &&
      json_set(o, "core", s->core >= 0 ? json_new_int(s->core) : json_new_null()) &&
      json_set(o, "first", s->first >= 0 ? json_new_text(p->graph->name[s->first]) : json_new_null()) &&
      json_set(o, "last", s->last >= 0 ? json_new_text(p->graph->name[s->last]) : json_new_null()) &&
      json_set(o, "nodes", json_new_int(s->n_nodes)) && json_set(o, "predicted_ns", json_new_int(s->predicted_ns)) &&
      json_set(o, "measured_ns", json_new_int(s->measured_ns)) && json_set(o, "spread_ns", json_new_int(s->half_ns));
  if (ok) return o;
  json_free(o);
  return NULL;
}

static json_value *transfer_json(const run_transfer *t) {
  json_value *o = json_new_object();
  bool ok = o && json_set(o, "tensor", json_new_text(t->name)) && json_set(o, "bytes", json_new_int(t->bytes)) &&
            json_set(o, "from_part", json_new_int(t->from_part)) && json_set(o, "to_part", json_new_int(t->to_part)) &&
            json_set(o, "predicted_ns", json_new_int(t->predicted_ns)) &&
            json_set(o, "measured_ns", t->measured_ns >= 0 ? json_new_int(t->measured_ns) : json_new_null());
  if (ok) return o;
  json_free(o);
  return NULL;
}

static json_value *link_json(const run_link *l) {
  json_value *o = json_new_object();
  bool ok = o && json_set(o, "from_rank", json_new_int(l->from)) && json_set(o, "to_rank", json_new_int(l->to)) &&
            json_set(o, "latency_ns", json_new_int(l->latency_ns)) &&
            json_set(o, "bytes_per_s", json_new_number(l->bytes_per_s));
  if (ok) return o;
  json_free(o);
  return NULL;
}

/* What only runs of several ranks have. */
static bool add_ranks(json_value *root, const situ_run *r, const situ_problem *p) {
  json_value *rank_of = json_new_object(), *links = json_new_array();
  bool ok = json_set(root, "ranks", json_new_int(r->n_ranks)) && rank_of && links;
  for (int32_t d = 0; ok && d < p->n_devices; d++)
    ok = json_set(rank_of, p->platform->devices[d].name, json_new_int(r->rank_of[d]));
  for (int32_t i = 0; ok && i < r->n_links; i++) ok = json_push(links, link_json(&r->links[i]));
  ok = json_set(root, "rank_of", rank_of) && ok;
  return json_set(root, "links", links) && ok;
}

static char *run_json(const situ_run *r) {
  const situ_problem *p = r->problem;
  json_value *root = json_new_object(), *stages = json_new_array(), *transfers = json_new_array();
  bool ok = root && stages && transfers && json_set(root, "model", json_new_text(p->graph->model)) &&
            json_set(root, "engine", json_new_text(r->engine)) && json_set(root, "threads", json_new_int(r->threads)) &&
            json_set(root, "level", json_new_int(r->level)) &&
            json_set(root, "kind", json_new_text(r->pipeline ? "period" : "latency")) &&
            json_set(root, "predicted_ns", report_amount(r->predicted_ns)) &&
            json_set(root, "measured_ns", json_new_int(r->measured_ns)) &&
            json_set(root, "spread_ns", json_new_int(r->half_ns)) &&
            json_set(root, "items", json_new_int(r->n_items)) &&
            json_set(root, "latency_ns", json_new_int(r->latency_ns)) &&
            json_set(root, "whole_ns", json_new_int(r->whole_ns)) &&
            json_set(root, "whole_spread_ns", json_new_int(r->whole_half_ns)) &&
            json_set(root, "outputs_equal", json_new_bool(r->difference <= r->tolerance)) &&
            json_set(root, "max_relative_error", json_new_number(r->difference));
  for (int32_t k = 0; ok && k < r->n_parts; k++) ok = json_push(stages, stage_json(&r->parts[k], p));
  for (int32_t x = 0; ok && x < r->n_transfers; x++) ok = json_push(transfers, transfer_json(&r->transfers[x]));
  ok = json_set(root, "stages", stages) && ok;
  ok = json_set(root, "transfers", transfers) && ok;
  if (r->by_parts_ns > 0) ok = ok && json_set(root, "by_parts_ns", json_new_int(r->by_parts_ns));
  if (r->made_up) ok = ok && json_set(root, "made_up_weights", json_new_text(r->made_up));
  if (r->rank_of) ok = ok && add_ranks(root, r, p);
  return report_finish(root, ok);
}

static void off_cell(table *rows, int64_t predicted_ns, int64_t measured_ns) {
  double off = measured_ns > 0 ? (double)(predicted_ns - measured_ns) / (double)measured_ns : 0;
  table_cellf(rows, fabs(off) > POOR_SHARE ? STYLE_WARN : STYLE_PLAIN, "%+.1f %%", 100 * off);
}

static void parts_table(text_buffer *t, const situ_run *r, const situ_problem *p, const situ_report_options *options) {
  char a[TEXT_UNIT_BYTES];
  table rows;
  if (!table_begin(&rows, t)) return;
  table_column(&rows, "part", ALIGN_RIGHT, 0);
  table_column(&rows, "device", ALIGN_LEFT, 12);
  table_column(&rows, "core", ALIGN_RIGHT, 0);
  table_column(&rows, "nodes", ALIGN_RIGHT, 0);
  table_column(&rows, "predicted", ALIGN_RIGHT, 0);
  table_column(&rows, "measured", ALIGN_RIGHT, 0);
  table_column(&rows, "off", ALIGN_RIGHT, 0);
  for (int32_t k = 0; k < r->n_parts && k < ROWS_SHOWN; k++) {
    const run_stage *s = &r->parts[k];
    table_cellf(&rows, STYLE_DIM, "%d", (int)k);
    table_cell(&rows, STYLE_BOLD, p->platform->devices[s->device].name);
    if (s->core >= 0)
      table_cellf(&rows, STYLE_PLAIN, "%d", (int)s->core);
    else
      table_cell(&rows, STYLE_DIM, "any");
    table_cell(&rows, STYLE_PLAIN, grouped(a, s->n_nodes));
    table_cell(&rows, STYLE_PLAIN, exact_time(a, s->predicted_ns));
    table_cell(&rows, STYLE_PLAIN, exact_time(a, s->measured_ns));
    off_cell(&rows, s->predicted_ns, s->measured_ns);
  }
  table_render(t, &rows, options);
  table_stop(&rows);
  if (r->n_parts > ROWS_SHOWN) text_add(t, "  and %d more parts\n", (int)r->n_parts - ROWS_SHOWN);
}

/* All hand-overs together. */
static void transfers_fact(text_buffer *t, const situ_run *r, const situ_report_options *options) {
  int64_t predicted_ns = 0, measured_ns = 0, bytes = 0;
  char a[TEXT_UNIT_BYTES];
  for (int32_t x = 0; x < r->n_transfers; x++) {
    predicted_ns += r->transfers[x].predicted_ns;
    bytes += r->transfers[x].bytes;
    bool again = false; /* tensors from one part to another come together */
    for (int32_t y = 0; y < x && !again; y++)
      again =
          r->transfers[y].from_part == r->transfers[x].from_part && r->transfers[y].to_part == r->transfers[x].to_part;
    if (r->transfers[x].measured_ns > 0 && !again) measured_ns += r->transfers[x].measured_ns;
  }
  fact_start(t, options, "handed on", 9);
  text_add(t, "%d tensors, %s", (int)r->n_transfers, text_size(a, bytes));
  text_add(t, ": predicted %s", text_time(a, predicted_ns));
  text_add(t, ", measured %s\n", text_time(a, measured_ns));
}

static char *run_text(const situ_run *r, const situ_report_options *options) {
  const situ_problem *p = r->problem;
  text_buffer t = {0};
  char a[TEXT_UNIT_BYTES];
  double off = r->measured_ns > 0 ? (double)(r->predicted_ns - r->measured_ns) / (double)r->measured_ns : 0;
  parts_table(&t, r, p, options);
  text_add(&t, "\n");
  fact_start(&t, options, r->pipeline ? "period" : "latency", 9);
  text_add(&t, "predicted %s", exact_time(a, r->predicted_ns));
  text_add(&t, ", measured %s", exact_time(a, r->measured_ns));
  text_add(&t, " +- %s (%+.1f %%)\n", text_time(a, r->half_ns), 100 * off);
  if (r->by_parts_ns > 0) {
    fact_start(&t, options, "by parts", 9);
    text_add(&t, "predicted %s", exact_time(a, r->by_parts_ns));
    text_add(&t, " with the overhead of each part (%+.1f %%)\n",
             r->measured_ns > 0 ? 100 * ((double)r->by_parts_ns / (double)r->measured_ns - 1) : 0);
  }
  if (r->pipeline) {
    fact_start(&t, options, "latency", 9);
    text_add(&t, "%s for a single input\n", exact_time(a, r->latency_ns));
  }
  fact_start(&t, options, "whole", 9);
  text_add(&t, "%s +- ", exact_time(a, r->whole_ns));
  text_add(&t, "%s on a single device of the engine\n", text_time(a, r->whole_half_ns));
  if (r->n_transfers > 0) transfers_fact(&t, r, options);
  for (int32_t i = 0; i < r->n_links && i < ROWS_SHOWN; i++) {
    const run_link *l = &r->links[i];
    fact_start(&t, options, "link", 9);
    text_add(&t, "rank %d to %d: %s, ", (int)l->from, (int)l->to, text_time(a, l->latency_ns));
    text_add(&t, "%s/s\n", text_size(a, (int64_t)l->bytes_per_s));
  }
  fact_start(&t, options, "outputs", 9);
  text_add(&t, "%s those of the whole model, maximum relative difference %.2g\n",
           r->difference <= r->tolerance ? "equal to" : "DIFFER from", r->difference);
  if (r->made_up) {
    fact_start(&t, options, "weights", 9);
    text_add(&t, "random: %s is missing\n", r->made_up);
  }
  fact_start(&t, options, "engine", 9);
  text_add(&t, "%s, %d thread%s for each device, level %d, %d inputs\n", r->engine, (int)r->threads,
           r->threads == 1 ? "" : "s", (int)r->level, (int)r->n_items);
  return text_take(&t);
}

situ_status situ_report_run(char **out, const situ_run *run, situ_report_format format,
                            const situ_report_options *options, situ_error *error) {
  situ_report_options look;
  TRY(report_open(out, &look, format, REPORT_TABLE | REPORT_JSON, options, error));
  TRY(GIVEN(error, run));
  return report_close(out, format == SITU_REPORT_JSON ? run_json(run) : run_text(run, &look), error);
}
