/* The numbers behind a page. Arrays are compact: names without the prefix shared with the previous name, starts as
 * distances from the previous end, tensors as distances from the reader's own. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "graph/layers.h"
#include "plan/waited_for.h"
#include "report/chart.h"
#include "report/draw.h"
#include "report/lanes.h"
#include "report/page.h"
#include "report/report_explain.h"
#include "sim/simulate.h"

/* Bytes of a name that a page keeps; points of a curve of memory. */
enum { MAX_NAME = 200, MAX_POINTS = 1500 };

typedef struct data {
  text_buffer *t;
  const situ_plan *plan;
  const situ_problem *p;
  const situ_explanation *why;
  arena *arena;
  lane_list lanes;
} data;

/* ---- pieces of JSON ---- */

static void begin_list(data *d, const char *key) { text_add(d->t, ",\"%s\":[", key); }

static void end_list(data *d) {
  if (d->t->length > 0 && d->t->bytes[d->t->length - 1] == ',') d->t->length--;
  text_add_bytes(d->t, "]", 1);
}

static void add_number(data *d, int64_t n) {
  char digits[24];
  int at = sizeof digits;
  uint64_t left = n < 0 ? 0 - (uint64_t)n : (uint64_t)n;
  digits[--at] = ',';
  do digits[--at] = (char)('0' + left % 10);
  while (left /= 10);
  if (n < 0) digits[--at] = '-';
  text_add_bytes(d->t, digits + at, sizeof digits - (size_t)at);
}

static void add_amount(data *d, const char *key, int64_t n) {
  if (n == INT64_MAX)
    text_add(d->t, ",\"%s\":null", key);
  else
    text_add(d->t, ",\"%s\":%lld", key, (long long)n);
}

/* ,"key":[...] of the numbers `value` for i from 0 to n - 1. */
#define LIST(d, key, i, n, value)                           \
  do {                                                      \
    begin_list(d, key);                                     \
    for (int64_t i = 0; i < (n); i++) add_number(d, value); \
    end_list(d);                                            \
  } while (0)

/* A name as a page shows it: at most MAX_NAME bytes, cut between characters. */
static void cut_name(char into[MAX_NAME + 4], const char *name) {
  size_t n = strnlen(name, MAX_NAME + 1);
  if (n > MAX_NAME) {
    n = MAX_NAME;
    while (n > 0 && ((unsigned char)name[n] & 0xc0) == 0x80) n--;
    memcpy(into, name, n);
    memcpy(into + n, "\xe2\x80\xa6", 4);
    return;
  }
  memcpy(into, name, n + 1);
}

static void add_name(data *d, const char *name) {
  char cut[MAX_NAME + 4];
  cut_name(cut, name);
  json_quote(d->t, cut);
}

void page_add_tree(text_buffer *t, const char *key, json_value *tree, bool ok) {
  char *text = ok && tree ? json_print(tree, 0) : NULL;
  t->failed |= !text;
  if (text) text_add(t, ",\"%s\":%s", key, text);
  free(text);
  json_free(tree);
}

/* ---- operators and tensors ---- */

/* Names in order, each without the letters, ASCII alone, that it shares with the one before: "cut" says how many. */
static void add_names(data *d) {
  int32_t n = d->p->n_operators, *shared = ARENA_NEW(d->arena, int32_t, n);
  char now[MAX_NAME + 4], before[MAX_NAME + 4] = "";
  if (!shared) {
    d->t->failed = true;
    return;
  }
  begin_list(d, "name");
  for (int32_t v = 0; v < n; v++) {
    int32_t same = 0;
    cut_name(now, d->p->graph->name[v]);
    while (now[same] && now[same] == before[same] && now[same] >= ' ' && now[same] < 0x7f) same++;
    shared[v] = same;
    json_quote(d->t, now + same);
    text_add_bytes(d->t, ",", 1);
    memcpy(before, now, sizeof before);
  }
  end_list(d);
  LIST(d, "cut", i, n, shared[i]);
}

static void add_operators(data *d) {
  const situ_graph *g = d->p->graph;
  int32_t n = d->p->n_operators;
  layer_list layers;
  add_names(d);
  begin_list(d, "kinds");
  for (int32_t k = 0; k < g->n_kinds; k++) {
    add_name(d, g->kind_name[k]);
    text_add(d->t, ",");
  }
  end_list(d);
  LIST(d, "kind", i, n, g->kind[i]);
  LIST(d, "device", i, n, d->plan->device[i]);
  LIST(d, "part", v, n, situ_explanation_part_of(d->why, v));
  bool found = layers_find(&layers, g, d->arena);
  d->t->failed |= !found;
  if (found && layers.n > 0) {
    LIST(d, "layer", i, n, layers.of[i]);
    begin_list(d, "layers");
    for (int32_t k = 0; k < layers.n; k++) {
      char number[24];
      snprintf(number, sizeof number, "layer %d", (int)k);
      add_name(d, layers.name && layers.name[k] ? layers.name[k] : number);
      text_add(d->t, ",");
    }
    end_list(d);
  }
  LIST(d, "time", v, n, problem_time_ns(d->p, v, d->plan->device[v]));
  LIST(d, "weights", v, n, g->weight_bytes[v]);
  if (d->plan->call) LIST(d, "call", i, n, d->plan->call[i]);
}

/* Tensors by producer: how many each operator makes, their sizes, and which ones each operator reads. */
static void add_tensors(data *d) {
  const situ_graph *g = d->p->graph;
  LIST(d, "makes", v, g->n_operators, g->out_start[v + 1] - g->out_start[v]);
  LIST(d, "size", t, g->n_tensors, g->size_bytes[t]);
  LIST(d, "reads", v, g->n_operators, g->in_start[v + 1] - g->in_start[v]);
  begin_list(d, "read");
  for (int32_t v = 0; v < g->n_operators; v++)
    for (int64_t i = g->in_start[v]; i < g->in_start[v + 1]; i++) add_number(d, g->out_start[v] - g->in[i]);
  end_list(d);
  begin_list(d, "everywhere");
  for (int32_t t = 0; t < g->n_tensors; t++)
    if (problem_is_everywhere(d->p, t)) add_number(d, t);
  end_list(d);
}

/* ---- parts ---- */

static void add_parts(data *d) {
  const situ_explanation_summary of = report_explanation(d->why);
  int32_t n = of.n_parts;
  begin_list(d, "parts");
  for (int32_t k = 0; k < n; k++) {
    situ_part part = situ_explanation_part(d->why, k);
    text_add(d->t, "[%d,%d,%d,%d,%d,%lld,", (int)part.device, (int)part.first_operator, (int)part.last_operator,
             (int)part.n_operators, (int)part.n_working, (long long)part.work_ns);
    add_name(d, situ_explanation_part_name(d->why, k));
    text_add(d->t, "],");
  }
  end_list(d);
  chart c;
  if (!chart_find(&c, d->why, d->plan, d->arena)) {
    d->t->failed = true;
    return;
  }
  LIST(d, "column", i, c.n, c.column[i]);
  LIST(d, "row", i, c.n, c.row[i]);
  begin_list(d, "bands");
  for (int32_t i = 0; i < c.n_lanes; i++) text_add(d->t, "[%d,%d],", (int)c.lane[i], (int)c.rows[c.lane[i]]);
  end_list(d);
  begin_list(d, "edges");
  for (int32_t i = 0; i < c.n_edges; i++) {
    const chart_edge *e = &c.edges[i];
    text_add(d->t, "[%d,%d,%d,%lld],", (int)e->from, (int)e->to, (int)e->n_tensors, (long long)e->bytes);
  }
  end_list(d);
}

/* ---- the machine ---- */

static void add_devices(row_list *out, const void *context) {
  const data *d = context;
  const situ_problem *p = d->p;
  int32_t *colour = ARENA_NEW(d->arena, int32_t, p->n_devices);
  out->failed |= !colour;
  if (colour) draw_device_colours(colour, d->plan);
  for (int32_t k = 0; colour && k < p->n_devices; k++) {
    situ_device_use use = plan_use(d->plan, k);
    char name[MAX_NAME + 4], class_name[MAX_NAME + 4];
    cut_name(name, report_device(p, k));
    cut_name(class_name, p->platform->class_name[p->class_of[k]]);
    ROW(out, {"name", .text = name}, {"class", .text = class_name}, {"colour", AS_COUNT, .n = colour[k]},
        {"memory", AS_COUNT, .n = p->memory_of[k]}, {"host", AS_BOOL, .n = p->platform->devices[k].is_host},
        {"server", AS_COUNT, .n = p->platform->devices[k].server}, {"replica_of", AS_COUNT, .n = use.replica_of},
        {"operators", AS_COUNT, .n = use.n_operators}, {"load_ns", AS_TIME, .n = use.load_ns},
        {"memory_bytes", AS_BYTES, .n = use.memory_bytes},
        {"memory_limit_bytes", AS_BYTES, .n = use.memory_limit_bytes});
  }
}

static void add_links(row_list *out, const void *context) {
  const data *d = context;
  for (int32_t k = 0; k < d->p->platform->n_links; k++) {
    const situ_link *l = &d->p->platform->links[k];
    ROW(out, {"from", AS_COUNT, .n = l->from_device}, {"to", AS_COUNT, .n = l->to_device},
        {"channel", AS_COUNT, .n = l->channel}, {"latency_ns", AS_COUNT, .n = l->latency_ns},
        {"bytes_per_s", AS_NUMBER, .x = l->bytes_per_s},
        {"busy_ns", AS_COUNT, .n = d->lanes.lanes[d->p->n_devices + k].load_ns});
  }
}

/* ---- times ---- */

/* Boxes of a lane: starts relative to the end of the previous box, lengths, and contents: an operator, -2 - item for a
 * transfer, -1 for unspecified. */
static void add_lane(data *d, const lane *l, int32_t number) {
  int64_t end = 0;
  text_add(d->t, "{\"lane\":%d", (int)number);
  begin_list(d, "start");
  for (int64_t i = 0; i < l->n; i++) {
    add_number(d, l->boxes[i].start_ns - end);
    end = l->boxes[i].finish_ns;
  }
  end_list(d);
  LIST(d, "length", i, l->n, l->boxes[i].finish_ns - l->boxes[i].start_ns);
  LIST(d, "item", i, l->n, l->boxes[i].op >= 0 ? l->boxes[i].op : l->boxes[i].item >= 0 ? -2 - l->boxes[i].item : -1);
  text_add(d->t, "},");
}

static void add_times(data *d) {
  const lane_list *lanes = &d->lanes;
  const situ_explanation_summary of = report_explanation(d->why);
  const situ_plan *plan = d->plan;
  path_waits waits;
  text_add(d->t, ",\"span_ns\":%lld", (long long)lanes->span_ns);
  begin_list(d, "lanes");
  for (int32_t i = 0; i < lanes->n_drawn; i++) add_lane(d, &lanes->lanes[lanes->drawn[i]], lanes->drawn[i]);
  end_list(d);
  LIST(d, "transfer_tensor", i, plan->n_transfers, plan->transfers[i].tensor);
  LIST(d, "transfer_memory", i, plan->n_transfers, plan->transfers[i].to_memory);
  arena *scratch = arena_new();
  bool found = scratch && path_find_waits(&waits, plan, d->arena, scratch);
  arena_free(scratch);
  d->t->failed |= !found;
  if (found && waits.of_op) {
    LIST(d, "waited", i, d->p->n_operators, waits.of_op[i]);
    LIST(d, "transfer_waited", i, plan->n_transfers, waits.of_transfer[i]);
  }
  begin_list(d, "path");
  for (int32_t k = 0; k < of.n_steps; k++) {
    situ_path_step s = situ_explanation_step(d->why, k);
    add_number(d, s.op >= 0 ? s.op : -2 - s.transfer);
  }
  end_list(d);
}

/* The curve of one memory; if it has more changes than a page can show, the maximum of each interval of time. */
static void add_curve(data *d, const memory_change *changes, int64_t n, int32_t memory) {
  int64_t mine = 0, stretch = 1;
  for (int64_t i = 0; i < n; i++) mine += changes[i].memory == memory;
  stretch = mine / MAX_POINTS + 1;
  for (int pass = 0; pass < 2; pass++) {
    int64_t seen = 0, at_ns = 0, max = 0, before = 0;
    begin_list(d, pass ? "bytes" : "at");
    for (int64_t i = 0; i < n; i++) {
      if (changes[i].memory != memory) continue;
      if (seen % stretch == 0) at_ns = changes[i].time_ns, max = 0;
      max = max64(max, changes[i].held_bytes);
      if (++seen % stretch != 0 && seen < mine) continue;
      add_number(d, pass ? max : at_ns - before);
      before = at_ns;
    }
    end_list(d);
  }
}

static void add_memories(data *d) {
  const situ_platform *f = d->p->platform;
  placement where = {.device = d->plan->device, .order = d->plan->order};
  simulator *s = simulator_new(d->p, d->arena);
  memory_change *changes = NULL;
  int64_t n = 0;
  situ_error error;
  if (!s || simulator_memory(&changes, &n, s, &where, d->arena, &error) != SITU_STATUS_OK) {
    d->t->failed = true;
    return;
  }
  begin_list(d, "memories");
  for (int32_t m = 0; m < f->n_memories; m++) {
    int64_t peak = 0;
    for (int32_t k = 0; k < d->p->n_devices; k++)
      if (d->p->memory_of[k] == m) peak = max64(peak, plan_use(d->plan, k).memory_bytes);
    text_add(d->t, "{\"name\":");
    add_name(d, situ_platform_memory_name(f, m));
    add_amount(d, "limit_bytes", f->memory_bytes[m]);
    add_amount(d, "peak_bytes", peak);
    if (n > 0 && peak > 0) add_curve(d, changes, n, m);
    text_add(d->t, "},");
  }
  end_list(d);
}

/* ---- the whole ---- */

/* The members of `place --json`, except those in other members: placement, devices, parts. */
static bool set_name(json_value *o, const char *key, const char *name) {
  char cut[MAX_NAME + 4];
  cut_name(cut, name);
  return json_set(o, key, json_new_text(cut));
}

/* A pair of a list of them. */
static void add_pair(void *to, const char *label, char *words) {
  row_list *out = to;
  json_value *pair = json_new_array();
  bool ok = words && json_push(pair, json_new_text(label)) && json_push(pair, json_new_text(words));
  out->failed |= !(json_push(out->list, pair) && ok);
  free(words);
}

static void add_facts(data *d, const situ_model *model, const situ_what_if_list *what_ifs) {
  json_value *root = json_new_object(), *against = json_new_array();
  row_list says = {.list = json_new_array()};
  char words[64];
  bool ok = report_problem_json(root, d->p, model) && report_plan_fields(root, d->plan) &&
            explain_limit_fields(root, d->why, d->plan) && explain_path_fields(root, d->why, d->plan, what_ifs) &&
            report_notes_json(root, model) && set_name(root, "model", d->p->graph->model) &&
            set_name(root, "platform", d->p->platform->name);
  page_add_tree(d->t, "facts", root, ok);
  explain_facts(add_pair, &says, d->why, d->plan);
  page_add_tree(d->t, "says", says.list, !says.failed);
  ok = true;
  for (int32_t k = 0; ok && k < situ_what_if_count(what_ifs); k++) {
    situ_what_if w = situ_what_if_at(what_ifs, k);
    ok = json_push(against, json_new_text(explain_against_plan(words, &w, d->plan->value_ns)));
  }
  page_add_tree(d->t, "what_if_words", against, ok);
}

/* The text that the two commands print. */
static void add_texts(data *d, const situ_model *model, const situ_what_if_list *what_ifs) {
  situ_report_options look = SITU_REPORT_OPTIONS_INIT;
  char *text[2] = {NULL, NULL};
  look.unicode = true;
  look.width = 100;
  if (situ_report_plan(&text[0], d->plan, model, SITU_REPORT_TABLE, &look, NULL) != SITU_STATUS_OK ||
      situ_report_explain(&text[1], d->plan, what_ifs, SITU_REPORT_TABLE, &look, NULL) != SITU_STATUS_OK)
    d->t->failed = true;
  for (int k = 0; k < 2 && text[k]; k++) {
    text_add(d->t, ",\"%s\":", k ? "explained" : "placed");
    json_quote(d->t, text[k]);
  }
  free(text[0]);
  free(text[1]);
}

static bool add_all(data *d, const situ_model *model, const situ_what_if_list *what_ifs) {
  int32_t *colour;
  bool found = lanes_find(&d->lanes, d->plan, d->arena) && draw_kind_colours(&colour, d->plan, d->arena);
  text_add(d->t, "{\"n\":%d", (int)d->p->n_operators);
  if (found) {
    add_facts(d, model, what_ifs);
    add_texts(d, model, what_ifs);
    page_add_tree(d->t, "devices", rows_json(add_devices, d), true);
    page_add_tree(d->t, "links", rows_json(add_links, d), true);
    add_parts(d);
    add_operators(d);
    LIST(d, "kind_colour", i, d->p->graph->n_kinds, colour[i]);
    add_tensors(d);
    add_times(d);
    add_memories(d);
  }
  text_add(d->t, "}");
  lanes_free(&d->lanes);
  return found;
}

void page_add_plan(text_buffer *t, const situ_plan *plan, const situ_model *model, const situ_what_if_list *what_ifs) {
  const situ_problem *problem = plan->problem;
  situ_explanation *why = NULL;
  data d = {.t = t, .plan = plan, .p = problem, .arena = arena_new()};
  bool made = d.arena && situ_explain(&why, plan, NULL) == SITU_STATUS_OK;
  d.why = why;
  if (!made || !add_all(&d, model, what_ifs)) t->failed = true;
  situ_explanation_free(why);
  arena_free(d.arena);
}
