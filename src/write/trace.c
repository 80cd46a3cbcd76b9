/* Trace events (the JSON of chrome://tracing and ui.perfetto.dev): a row for each device and each link, arrows from
 * producers to the hops of their tensors, a counter for each memory. A pipeline is drawn as several inputs, each a
 * period behind the last. */
#include <stdio.h>

#include "base/fail.h"
#include "base/json.h"
#include "sim/simulate.h"
#include "write/writer.h"

enum { DEVICES = 1, LINKS = 2, MEMORIES = 3, INPUTS_DRAWN = 6 };

typedef struct trace {
  text_buffer *out;
  const situ_plan *plan;
  const situ_problem *problem;
  bool begun;
} trace;

/* Begins an event with its name; the caller adds members and the closing brace. */
static void begin(trace *t, const char *phase, const char *name, int process, int32_t thread) {
  text_add(t->out, "%s\n{\"ph\":\"%s\",\"pid\":%d,\"tid\":%d,\"name\":", t->begun ? "," : "", phase, process,
           (int)thread);
  t->begun = true;
  json_quote(t->out, name);
}

/* A time of the plan as microseconds, exact to the nanosecond. */
static void add_time(trace *t, const char *key, int64_t time_ns) {
  text_add(t->out, ",\"%s\":%lld.%03d", key, (long long)(time_ns / 1000), (int)(time_ns % 1000));
}

static void add_slice(trace *t, const char *name, int process, int32_t thread, int64_t start_ns, int64_t finish_ns) {
  begin(t, "X", name, process, thread);
  add_time(t, "ts", start_ns);
  add_time(t, "dur", finish_ns - start_ns);
}

static const char *kind_of(const trace *t, int32_t v) {
  return t->problem->graph->kind_name[t->problem->graph->kind[v]];
}

static void name_rows(trace *t) {
  const situ_problem *p = t->problem;
  static const char *const processes[] = {[DEVICES] = "devices", [LINKS] = "links", [MEMORIES] = "memories"};
  int last = p->execution == SITU_EXECUTION_STREAM ? MEMORIES : LINKS;
  for (int process = DEVICES; process <= last; process++) {
    begin(t, "M", "process_name", process, 0);
    text_add(t->out, ",\"args\":{\"name\":\"%s\"}}", processes[process]);
  }
  for (int32_t d = 0; d < p->n_devices; d++) {
    begin(t, "M", "thread_name", DEVICES, d);
    text_add(t->out, ",\"args\":{\"name\":");
    json_quote(t->out, p->platform->devices[d].name);
    text_add(t->out, "}}");
  }
  for (int32_t l = 0; t->plan->n_transfers > 0 && l < p->platform->n_links; l++) {
    const situ_link *link = &p->platform->links[l];
    text_buffer name = {0};
    text_add(&name, "%s > %s", p->platform->devices[link->from_device].name,
             p->platform->devices[link->to_device].name);
    begin(t, "M", "thread_name", LINKS, l);
    text_add(t->out, ",\"args\":{\"name\":");
    json_quote(t->out, name.bytes);
    text_add(t->out, "}}");
    text_free(&name);
  }
}

static void add_kind(trace *t, int32_t v) {
  text_add(t->out, ",\"args\":{\"kind\":");
  json_quote(t->out, kind_of(t, v));
  text_add(t->out, ",\"operator\":%d}}", (int)v);
}

static void draw_stream(trace *t) {
  const situ_plan *plan = t->plan;
  const situ_graph *g = t->problem->graph;
  for (int32_t i = 0; i < plan->n_operators; i++) {
    int32_t v = plan->order ? plan->order[i] : i;
    add_slice(t, g->name[v], DEVICES, plan->device[v], plan->start_ns[v], plan->finish_ns[v]);
    add_kind(t, v);
  }
  for (int32_t i = 0; i < plan->n_transfers; i++) {
    const situ_transfer *x = &plan->transfers[i];
    int32_t v = g->producer[x->tensor];
    add_slice(t, g->name[v], LINKS, x->link, x->start_ns, x->finish_ns);
    text_add(t->out, ",\"args\":{\"bytes\":%lld,\"tensor\":%d,\"to_memory\":%d}}", (long long)g->size_bytes[x->tensor],
             (int)x->tensor, (int)x->to_memory);
    begin(t, "s", "sent", DEVICES, plan->device[v]);
    add_time(t, "ts", plan->finish_ns[v] > plan->start_ns[v] ? plan->finish_ns[v] - 1 : plan->start_ns[v]);
    text_add(t->out, ",\"cat\":\"tensor\",\"id\":%d}", (int)i);
    begin(t, "f", "sent", LINKS, x->link);
    add_time(t, "ts", x->start_ns);
    text_add(t->out, ",\"cat\":\"tensor\",\"bp\":\"e\",\"id\":%d}", (int)i);
  }
}

/* A counter for each memory, named by the first device that uses it. */
static situ_status draw_memory(trace *t, situ_error *error) {
  const situ_problem *p = t->problem;
  arena *a = arena_new();
  simulator *s = a ? simulator_new(p, a) : NULL;
  memory_change *changes;
  int64_t n = 0;
  situ_status status = s ? SITU_STATUS_OK : fail_no_memory(error);
  placement where = {.device = t->plan->device, .order = t->plan->order};
  if (status == SITU_STATUS_OK) status = simulator_memory(&changes, &n, s, &where, a, error);
  for (int64_t i = 0; i < n; i++) {
    int32_t d = 0;
    while (p->memory_of[d] != changes[i].memory) d++;
    text_buffer name = {0};
    text_add(&name, "memory of %s", p->platform->devices[d].name);
    begin(t, "C", name.bytes ? name.bytes : "memory", MEMORIES, changes[i].memory);
    add_time(t, "ts", changes[i].time_ns);
    text_add(t->out, ",\"args\":{\"bytes\":%lld}}", (long long)changes[i].held_bytes);
    text_free(&name);
  }
  arena_free(a);
  return status;
}

/* A call is one slice; hosts run operators side by side, so theirs are drawn as asynchronous ones. */
static situ_status draw_calls(trace *t, situ_error *error) {
  const situ_plan *plan = t->plan;
  int32_t n = plan->n_operators;
  arena *scratch = arena_new();
  int32_t *members = scratch ? ARENA_ZERO(scratch, int32_t, n) : NULL; /* [call] */
  if (!members) {
    arena_free(scratch);
    return fail_no_memory(error);
  }
  for (int32_t v = 0; v < n; v++)
    if (plan->call && plan->call[v] >= 0) members[plan->call[v]]++;
  for (int32_t v = 0; v < n; v++) {
    int32_t call = plan->call ? plan->call[v] : -1, d = plan->device[v];
    const char *name = t->problem->graph->name[v];
    if (call >= 0 && members[call] > 0) {
      add_slice(t, name, DEVICES, d, plan->start_ns[v], plan->finish_ns[v]);
      text_add(t->out, ",\"args\":{\"call\":%d,\"operators\":%d}}", (int)call, (int)members[call]);
      members[call] = 0;
    }
    for (int end = 0; call < 0 && end < 2; end++) {
      begin(t, end ? "e" : "b", name, DEVICES, d);
      add_time(t, "ts", end ? plan->finish_ns[v] : plan->start_ns[v]);
      text_add(t->out, ",\"cat\":\"host\",\"id\":%d}", (int)v);
    }
  }
  arena_free(scratch);
  return SITU_STATUS_OK;
}

/* The device that runs input k of the part of d: the replicas take turns. */
static int32_t turn(const situ_plan *plan, int32_t d, int32_t k) {
  int32_t left = k % plan_n_sharing(plan, d), e = d;
  for (int32_t x = 0; x < plan->n_devices && left > 0; x++)
    if (x != d && plan_leader(plan, x) == d && left-- == 1) e = x;
  return e;
}

/* Stages in order of their first operator; input k enters a stage k periods after the first, when it has passed those
 * before: each takes a period, and where r devices share it r periods, by turns. Operators stand one after the other in
 * the time that their device computes. */
static situ_status draw_pipeline(trace *t, situ_error *error) {
  const situ_plan *plan = t->plan;
  const situ_problem *p = t->problem;
  arena *scratch = arena_new();
  int32_t *stage = scratch ? ARENA_NEW(scratch, int32_t, p->n_devices) : NULL, n_periods = 0;
  int64_t *at_ns = stage ? ARENA_NEW(scratch, int64_t, p->n_devices) : NULL;
  if (!at_ns) {
    arena_free(scratch);
    return fail_no_memory(error);
  }
  for (int32_t d = 0; d < p->n_devices; d++) stage[d] = -1;
  for (int32_t v = 0; v < p->n_operators; v++)
    if (stage[plan->device[v]] < 0) {
      stage[plan->device[v]] = n_periods;
      n_periods += plan_n_sharing(plan, plan->device[v]);
    }
  for (int32_t k = 0; k < INPUTS_DRAWN && plan->uses; k++) {
    char name[32];
    snprintf(name, sizeof name, "input %d", (int)k);
    for (int32_t d = 0; d < p->n_devices; d++) {
      if (stage[d] < 0) continue;
      at_ns[d] = plan->value_ns * (k + stage[d]);
      add_slice(t, name, DEVICES, turn(plan, d, k), at_ns[d],
                at_ns[d] + plan->uses[d].load_ns * plan_n_sharing(plan, d));
      text_add(t->out, ",\"args\":{\"stage\":%d}}", (int)stage[d]);
    }
    for (int32_t v = 0; v < p->n_operators; v++) {
      int32_t d = plan->device[v];
      int64_t finish = at_ns[d] + problem_time_ns(p, v, d);
      add_slice(t, p->graph->name[v], DEVICES, turn(plan, d, k), at_ns[d], finish);
      add_kind(t, v);
      at_ns[d] = finish;
    }
  }
  arena_free(scratch);
  return SITU_STATUS_OK;
}

static situ_status write(text_buffer *out, const situ_plan *plan, situ_error *error) {
  const situ_problem *p = plan->problem;
  trace t = {out, plan, p, false};
  situ_status status = SITU_STATUS_OK;
  bool pipeline = p->execution == SITU_EXECUTION_PIPELINE;
  if (plan->value_ns >= INT64_MAX / 8192 || (!pipeline && (!plan->start_ns || !plan->finish_ns)))
    return fail_with(error, SITU_STATUS_UNSUPPORTED, "trace", "the plan has no times to draw");
  text_add(out, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[");
  name_rows(&t);
  if (p->execution == SITU_EXECUTION_STREAM) {
    draw_stream(&t);
    status = draw_memory(&t, error);
  }
  if (p->execution == SITU_EXECUTION_CALLS) status = draw_calls(&t, error);
  if (pipeline) status = draw_pipeline(&t, error);
  text_add(out, "\n]}\n");
  return status;
}

const writer trace_writer = {.name = "trace",
                             .title = "the schedule for ui.perfetto.dev and chrome://tracing",
                             .groups = true,
                             .shares = true,
                             .suffix = ".json",
                             .write = write};
