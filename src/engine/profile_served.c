#include "engine/profile_served.h"

#include <stdio.h>
#include <string.h>

#include "base/checked.h"
#include "base/fail.h"
#include "cost/cost_models.h"
#include "engine/llamacpp_program.h"
#include "engine/profile.h"
#include "engine/profile_class.h"
#include "graph/graph.h"
#include "platform/catalogue.h"
#include "platform/platform_sources.h"
#include "read/reader.h"

enum { USUAL_RUNS = 5, MAX_RUNS = 64, DECODED = 32 };

typedef struct benching {
  situ_profile *p;
  measuring *m;
  const char *program, *path;
  situ_platform *platform;
  bool *apart;          /* [device] takes no part in what is measured */
  situ_costs *costs[2]; /* of one step of the graph, and of the other */
  int32_t class;
  int64_t median_ns[2], half_ns[2]; /* of one step of each kind; 0: not measured */
  situ_error *error;
} benching;

static bool report_progress(void *context) {
  measuring *m = context;
  return m->options.progress && m->options.progress(m->options.context, m->phase, m->done, m->total);
}

/* "RPC[host:port]" is a device of a server that the program does not know by itself. */
static void add_device(text_buffer *t, const char *device) {
  size_t n = device ? strlen(device) : 0;
  if (!device || strcmp(device, "CPU") == 0)
    text_add(t, " -dev none -ngl 0");
  else if (n > 5 && strncmp(device, "RPC[", 4) == 0)
    text_add(t, " -rpc '%.*s' -dev RPC0 -ngl 999", (int)n - 5, device + 4);
  else
    text_add(t, " -dev '%s' -ngl 999", device);
}

/* The times of one test, each for `tokens` tokens: prompts, or tokens generated behind `depth` others. */
static situ_status bench(benching *b, int kind, bool prefill, int64_t tokens, int64_t depth, double steps) {
  const measure_options *o = &b->m->options;
  const char *type = b->p->model->graph->cache_type;
  text_buffer line = {0}, answer = {0};
  int n;
  text_add(&line, "-p %lld -n %lld -d %lld", (long long)(prefill ? tokens : 0), (long long)(prefill ? 0 : tokens),
           (long long)depth);
  text_add(&line, " -b %lld -ub %lld -fa on -t %d -r %d -o jsonl",
           (long long)max64(2048, b->p->model->graph->micro_batch), (long long)b->p->model->graph->micro_batch,
           (int)o->threads, (int)o->items);
  if (type) text_add(&line, " -ctk %s -ctv %s", type, type);
  add_device(&line, o->device);
  const char **words = line.failed ? NULL : llamacpp_program_words(&n, line.bytes, 4, b->p->arena);
  text_free(&line);
  if (!words) return fail_no_memory(b->error);
  memmove(words + 3, words, (size_t)(n + 1) * sizeof *words);
  words[0] = b->program;
  words[1] = "-m";
  words[2] = b->path;
  wait_limit wait = {.limit_s = o->time_limit_s, .stop = report_progress, .context = b->m};
  situ_status status = llamacpp_program_ask(&answer, words, &wait, b->error);
  const char *row = answer.bytes ? strstr(answer.bytes, "{\"build_commit\"") : NULL;
  json_value *json = NULL;
  if (status == SITU_STATUS_OK && row)
    status = json_parse(&json, row, strcspn(row, "\n"), "the answer of llama-bench", b->error);
  const json_value *samples = json_get(json, "samples_ns");
  int64_t times_ns[MAX_RUNS];
  int32_t n_times = 0;
  for (size_t i = 0; i < json_size(samples) && n_times < MAX_RUNS; i++)
    times_ns[n_times++] = json_int(json_at(samples, i), 0);
  if (status == SITU_STATUS_OK && n_times == 0) {
    size_t last = answer.length; /* of a failure the last line says why */
    while (last > 0 && answer.bytes[last - 1] == '\n') answer.bytes[--last] = '\0';
    const char *why = last > 0 ? strrchr(answer.bytes, '\n') : NULL;
    status = fail_with(b->error, SITU_STATUS_ENGINE, "llama-bench", "gave no times: %.200s",
                       why        ? why + 1
                       : last > 0 ? answer.bytes
                                  : "no answer");
  }
  if (status == SITU_STATUS_OK) {
    b->p->n_runs = n_times;
    snprintf(b->p->engine, sizeof b->p->engine, "llama.cpp %.40s", json_text(json_get(json, "build_commit"), "?"));
    b->median_ns[kind] = sat_round((double)median_of(times_ns, n_times, &b->half_ns[kind]) / steps);
    b->half_ns[kind] = sat_round((double)b->half_ns[kind] / steps);
  }
  json_free(json);
  text_free(&answer);
  return status;
}

/* Estimates of a step by which its time is divided among operators. */
static situ_status estimate(benching *b, int kind) {
  const read_steps *s = &b->p->model->steps;
  const situ_cost_options options = {.size = sizeof options, .engine = s->engine};
  const cost_step step = {kind == 0 ? b->p->model->graph : s->other, 1, (kind == 0) == s->prefill_first};
  /* The host computes alone, as it was measured. */
  const cost_scene scene = {.unused = b->apart};
  return costs_estimate(&b->costs[kind], &step, 1, b->platform, &options, NULL, &scene, b->error);
}

static situ_status measure(benching *b, int kind) {
  const read_steps *s = &b->p->model->steps;
  const situ_graph *g = b->p->model->graph;
  bool prefill = (kind == 0) == s->prefill_first;
  int64_t cells = g->cache_tokens, tokens = prefill ? g->prompt : min64(g->generate > 0 ? g->generate : DECODED, cells);
  if (s->repeats[kind] == 0) return SITU_STATUS_OK;
  TRY(estimate(b, kind));
  b->m->phase = prefill ? "prefill" : "decoding";
  /* The depth at which the estimate has its mean. */
  int64_t depth = prefill ? 0 : g->prompt > 0 ? g->prompt : max64(0, cells - tokens);
  return bench(b, kind, prefill, tokens, depth, prefill ? (double)s->repeats[kind] : (double)tokens);
}

static situ_status divide(benching *b) {
  situ_profile *p = b->p;
  const read_steps *s = &p->model->steps;
  int32_t n = p->model->graph->n_operators;
  if (!ARENA_ARRAYS(p->arena, ZEROS(p->time_ns, n), ZEROS(p->spread, n), ARRAY(p->kernel, n), ARRAY(p->next, n)))
    return fail_no_memory(b->error);
  for (int32_t v = 0; v < n; v++) p->kernel[v] = v, p->next[v] = -1;
  for (int kind = 0; kind < 2; kind++) {
    const situ_costs *c = b->costs[kind];
    double whole = 0;
    if (!c) continue;
    for (int32_t v = 0; v < n; v++) whole += (double)c->time_ns[(int64_t)v * c->n_classes + b->class];
    double share = whole > 0 ? (double)b->median_ns[kind] / whole : 0;
    int64_t *step_ns = p->step_ns[(kind == 0) == s->prefill_first] = ARENA_NEW(p->arena, int64_t, n);
    if (!step_ns) return fail_no_memory(b->error);
    for (int32_t v = 0; v < n; v++) {
      step_ns[v] = sat_round(share * (double)c->time_ns[(int64_t)v * c->n_classes + b->class]);
      p->time_ns[v] = sat_add(p->time_ns[v], sat_mul(step_ns[v], s->repeats[kind]));
    }
    p->whole_ns = sat_add(p->whole_ns, sat_mul(b->median_ns[kind], s->repeats[kind]));
    p->whole_half_ns = sat_add(p->whole_half_ns, sat_mul(b->half_ns[kind], s->repeats[kind]));
  }
  for (int32_t v = 0; v < n; v++) p->n_timed += p->time_ns[v] > 0;
  p->kernels_ns = p->whole_ns;
  return SITU_STATUS_OK;
}

static situ_status run(benching *b) {
  measuring *m = b->m;
  const char *device = m->options.device;
  bool host = !device || strcmp(device, "CPU") == 0 || strncmp(device, "RPC", 3) == 0;
  char name[PROFILE_CLASS_BYTES + 8], class_name[PROFILE_CLASS_BYTES];
  bool known = !host && profile_class_find(class_name, device, NULL) == SITU_STATUS_OK && catalogue_find(class_name);
  snprintf(name, sizeof name, "cpu+%s", known ? class_name : "rtx3090");
  TRY(situ_platform_read(&b->platform, host ? "this-host" : name, b->error));
  if (!(b->apart = ARENA_ZERO(b->p->arena, bool, b->platform->n_devices))) return fail_no_memory(b->error);
  for (int32_t d = 0; d < b->platform->n_devices; d++) {
    if (b->platform->devices[d].is_host == host) b->class = b->platform->class_of[d];
    b->apart[d] = host && !b->platform->devices[d].is_host;
  }
  int32_t threads = host ? this_host_threads(b->platform) : 0;
  if (!m->threads_given && threads > 0) m->options.threads = threads;
  b->p->threads = m->options.threads;
  if (!(b->p->device = arena_string(b->p->arena, device ? device : "CPU"))) return fail_no_memory(b->error);
  for (int kind = 0; kind < 2; kind++) TRY(measure(b, kind));
  return divide(b);
}

situ_status profile_served(situ_profile *p, const char *path, measuring *m, situ_error *error) {
  const situ_graph *g = p->model->graph;
  benching b = {.p = p, .m = m, .path = path, .error = error};
  if (m->options.engine && strcmp(m->options.engine, "llama.cpp") != 0)
    return fail_with(error, SITU_STATUS_UNSUPPORTED, m->options.engine, "runs no GGUF models; llama.cpp does");
  if (g->streams != 1 || g->cache_tokens <= 0)
    return fail_with(error, SITU_STATUS_UNSUPPORTED, path,
                     "is not one stream of a model that generates; only these are profiled");
  if (m->options.items > MAX_RUNS || m->options.items == 0) m->options.items = USUAL_RUNS;
  TRY(llamacpp_program_find(&b.program, "llama-bench", m->options.library, p->arena, error));
  situ_status status = run(&b);
  for (int kind = 0; kind < 2; kind++) situ_costs_free(b.costs[kind]);
  situ_platform_free(b.platform);
  return status;
}
