#include "engine/served.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ascii.h"
#include "base/checked.h"
#include "base/clock.h"
#include "base/contracts.h"
#include "base/fail.h"
#include "base/file.h"
#include "base/rng.h"
#include "engine/engine.h"
#include "engine/llamacpp_program.h"
#include "engine/profile.h"
#include "platform/platform_sources.h"

enum { MIN_REQUESTS = 3, USUAL_REQUESTS = 5, FIRST_TOKEN = 3, TOKENS = 100 }; /* which each vocabulary has */

typedef struct serving {
  situ_run *run;
  run_served *served;
  const served_request *asked;
  measuring m;
  wait_limit wait;
  llamacpp_server server;
  int64_t *prompt_ns, *generate_ns; /* [request] */
  situ_error *error;
} serving;

static bool report_progress(void *context) {
  measuring *m = context;
  return m->options.progress && m->options.progress(m->options.context, m->phase, m->done, m->total);
}

/* ---- starting ---- */

static situ_status find_version(serving *s, const char *program) {
  text_buffer answer = {0};
  const char *ask[] = {program, "--version", NULL};
  TRY(llamacpp_program_ask(&answer, ask, &s->wait, s->error));
  const char *at = answer.bytes ? strstr(answer.bytes, "version: ") : NULL;
  snprintf(s->run->engine, sizeof s->run->engine, "llama.cpp %.*s", at ? (int)strcspn(at + 9, "\r\n") : 1,
           at ? at + 9 : "?");
  text_free(&answer);
  return SITU_STATUS_OK;
}

static situ_status start(serving *s, const char *model) {
  char threads[16];
  int n_options, n = 0;
  arena *a = s->run->arena;
  const char *program, **options = llamacpp_program_words(&n_options, s->asked->options, 0, a);
  const char **words = ARENA_NEW(a, const char *, n_options + 16);
  if (!options || !words) return fail_no_memory(s->error);
  TRY(llamacpp_program_find(&program, "llama-server", s->m.options.library, a, s->error));
  TRY(find_version(s, program));
  snprintf(threads, sizeof threads, "%d", (int)s->m.options.threads);
  words[n++] = program;
  for (int i = 0; i < n_options; i++) words[n++] = options[i];
  TRY(llamacpp_program_check(words, &n, &s->wait, s->error));
  const char *const more[] = {"-m", model, "-t", threads, "-v"};
  for (size_t i = 0; i < sizeof more / sizeof *more; i++) words[n++] = more[i];
  s->m.phase = "loading";
  return llamacpp_server_start(&s->server, words, n, &s->wait, s->error);
}

/* ---- requests ---- */

static situ_status ask(serving *s, int32_t at, rng *random) {
  text_buffer body = {0};
  json_value *answer;
  text_add(&body, "{\"prompt\": [");
  for (int64_t i = 0; i < s->asked->prompt; i++)
    text_add(&body, "%s%d", i ? "," : "", (int)(FIRST_TOKEN + rng_below(random, TOKENS)));
  text_add(&body,
           "], \"n_predict\": %lld, \"ignore_eos\": true, \"cache_prompt\": false, \"temperature\": 0, "
           "\"response_fields\": [\"timings\"]}",
           (long long)s->asked->generate);
  situ_status status = body.failed ? fail_no_memory(s->error)
                                   : llamacpp_server_complete(&answer, &s->server, body.bytes, &s->wait, s->error);
  text_free(&body);
  if (status != SITU_STATUS_OK) return status;
  const json_value *times = json_get(answer, "timings");
  double prompt_ms = json_number(json_get(times, "prompt_ms"), -1),
         ms = json_number(json_get(times, "predicted_ms"), -1);
  int64_t done = json_int(json_get(times, "predicted_n"), 0), read = json_int(json_get(times, "prompt_n"), 0);
  json_free(answer);
  if (!(prompt_ms > 0 && ms >= 0) || done != s->asked->generate || read != s->asked->prompt)
    return fail_with(s->error, SITU_STATUS_ENGINE, "llama-server",
                     "read %lld and generated %lld tokens; expected %lld and %lld", (long long)read, (long long)done,
                     (long long)s->asked->prompt, (long long)s->asked->generate);
  if (at < 0) return SITU_STATUS_OK;
  s->prompt_ns[at] = sat_round(1e6 * prompt_ms);
  s->generate_ns[at] = sat_round(1e6 * ms);
  return SITU_STATUS_OK;
}

static situ_status measure(serving *s) {
  measuring *m = &s->m;
  situ_run *run = s->run;
  rng random = rng_new(m->options.seed);
  int32_t max = m->options.items;
  if (!ARENA_ARRAYS(run->arena, ZEROS(s->prompt_ns, max), ZEROS(s->generate_ns, max))) return fail_no_memory(s->error);
  m->phase = "requests";
  m->total = max + 1;
  TRY(ask(s, -1, &random));
  for (run->n_items = 0; run->n_items < max;) {
    m->done = run->n_items + 1;
    TRY(ask(s, run->n_items, &random));
    if (++run->n_items >= MIN_REQUESTS && measure_is_late(m)) break;
  }
  s->served->prompt_ns = median_of(s->prompt_ns, run->n_items, NULL);
  s->served->generate_ns = median_of(s->generate_ns, run->n_items, &s->served->half_ns);
  run->half_ns = s->served->half_ns;
  run->measured_ns = run->latency_ns = sat_add(s->served->prompt_ns, s->served->generate_ns);
  return SITU_STATUS_OK;
}

/* ---- the log ---- */

/* The device of a layer by the last line that names it, or of the layer of the highest number, which is the head
 * (layer < 0); NULL: none does. */
static const char *device_of(const char *text, int32_t layer, arena *a) {
  static const char before[] = "layer ", after[] = " assigned to device ";
  const char *found = NULL;
  long highest = -1;
  for (const char *at = text; (at = strstr(at, after)); at += sizeof after - 1) {
    const char *digit = at;
    while (digit > text && ascii_is_digit(digit[-1])) digit--;
    const char *word = digit;
    while (word > text && word[-1] == ' ') word--;
    if (digit == at || word - text < 5 || strncmp(word - 5, before, 5) != 0) continue;
    long number = strtol(digit, NULL, 10);
    if (layer < 0 ? number >= highest : number == layer) found = at + sizeof after - 1;
    if (number > highest) highest = number;
  }
  return found ? arena_string_n(a, found, strcspn(found, ", \r\n")) : NULL;
}

static double mib_at(const char *at) {
  char word[32];
  double mib = 0;
  while (*at == ' ') at++;
  snprintf(word, sizeof word, "%.*s", (int)strspn(at, "0123456789."), at);
  return text_scan_number(word, &mib) ? mib : 0;
}

/* All buffers of a device: weights, caches and states add up; of what is reserved again for each graph the last counts.
 * Those of the CPU have several names. */
static int64_t bytes_of(const char *text, const char *name) {
  static const struct {
    const char *words;
    bool again;
  } kinds[] = {{" model buffer size = ", false},
               {" KV buffer size = ", false},
               {" RS buffer size = ", false},
               {" compute buffer size = ", true},
               {" output buffer size = ", true}};
  double sum = 0;
  size_t n = strlen(name);
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    double mib = 0;
    for (const char *at = text; (at = strstr(at, kinds[i].words)); at += strlen(kinds[i].words)) {
      const char *end = at, *word;
      while (end > text && end[-1] == ' ') end--;
      for (word = end; word > text && !ascii_is_space(word[-1]);) word--;
      if (strncmp(word, name, n) != 0 || (word + n != end && word[n] != '_')) continue;
      double found = mib_at(at + strlen(kinds[i].words));
      mib = kinds[i].again ? found : mib + found;
    }
    sum += mib;
  }
  return sat_round(sum * 1024 * 1024);
}

static situ_status add_stray(serving *s, int32_t layer, const char *planned, const char *text) {
  run_served *served = s->served;
  const char *found = device_of(text, layer == s->asked->n_layers ? -1 : layer, s->run->arena);
  if (!found) return SITU_STATUS_OK;
  if (strcmp(found, planned) == 0) return SITU_STATUS_OK;
  const char *kept = arena_string(s->run->arena, planned);
  if (!kept) return fail_no_memory(s->error);
  served->strays[served->n_strays++] = (run_stray){.layer = layer, .planned = kept, .found = found};
  return SITU_STATUS_OK;
}

static situ_status read_log(serving *s) {
  const served_request *asked = s->asked;
  run_served *served = s->served;
  arena *a = s->run->arena;
  file_view view;
  TRY(file_open(&view, s->server.log, s->error));
  char *text = malloc(view.size_bytes + 1);
  for (size_t i = 0; text && i < view.size_bytes; i++) text[i] = view.bytes[i] ? (char)view.bytes[i] : ' ';
  if (text) text[view.size_bytes] = '\0';
  file_close(&view);
  int32_t n = s->run->problem->n_devices;
  bool made = text && ARENA_ARRAYS(a, ZEROS(served->strays, asked->n_layers + 1), ZEROS(served->buffers, n));
  situ_status status = made ? SITU_STATUS_OK : fail_no_memory(s->error);
  if (made && !device_of(text, 0, a))
    status = fail_with(s->error, SITU_STATUS_ENGINE, "llama-server", "does not log where layers are");
  for (int32_t k = 0; k < asked->n_layers && status == SITU_STATUS_OK; k++)
    status = add_stray(s, k, asked->layer[k], text);
  if (status == SITU_STATUS_OK) status = add_stray(s, asked->n_layers, asked->head, text);
  for (int32_t d = 0; d < n && status == SITU_STATUS_OK; d++) {
    if (!asked->buffer[d]) continue;
    const char *name = arena_string(a, asked->buffer[d]);
    int64_t bytes = bytes_of(text, asked->buffer[d]);
    if (!name) status = fail_no_memory(s->error);
    if (bytes > 0 || asked->memory_bytes[d] > 0)
      served->buffers[served->n_buffers++] =
          (run_buffer){.device = d, .name = name, .predicted_bytes = asked->memory_bytes[d], .measured_bytes = bytes};
  }
  free(text);
  return status;
}

/* ---- the call ---- */

static situ_status serve(serving *s, const char *model, const measure_options *options) {
  TRY(measure_options_take(&s->m, options, s->error));
  if (options->items == 0) s->m.options.items = USUAL_REQUESTS;
  int32_t threads = this_host_threads(s->run->problem->platform); /* that the costs assume */
  if (!s->m.threads_given && threads > 0) s->m.options.threads = threads;
  s->m.phase = "starting";
  s->wait = (wait_limit){.limit_s = 600, .stop = report_progress, .context = &s->m};
  s->run->threads = s->m.options.threads;
  s->run->predicted_ns = s->asked->predicted_ns;
  situ_status status = start(s, model);
  s->m.begun_ns = clock_now_ns(); /* loading is not measured */
  if (status == SITU_STATUS_OK) status = measure(s);
  if (status == SITU_STATUS_OK) status = read_log(s);
  llamacpp_server_stop(&s->server);
  return status;
}

situ_status served_run(situ_run **out, const situ_problem *problem, const char *model, const served_request *request,
                       const measure_options *options, situ_error *error) {
  REQUIRE(out && problem && model && request && options);
  situ_error own = {0};
  situ_run *run = NOUN_NEW(situ_run, problem->arena);
  serving *s = run ? ARENA_ZERO(run->arena, serving, 1) : NULL;
  if (!s || !(run->served = ARENA_ZERO(run->arena, run_served, 1))) {
    situ_run_free(run);
    return fail_no_memory(error);
  }
  run->problem = problem;
  *run->served = (run_served){.prompt = request->prompt,
                              .generate = request->generate,
                              .prefill = request->prefill,
                              .decode = request->decode,
                              .n_layers = request->n_layers};
  s->run = run;
  s->served = run->served;
  s->asked = request;
  s->error = error ? error : &own;
  HAND_OUT(out, run, serve(s, model, options), situ_run_free);
}
