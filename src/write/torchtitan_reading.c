/* What a [parallelism] section of torchtitan, or options such as --parallelism.pipeline_parallel_degree, place: stages
 * of modules by name or, without names, of layers in parts as torchtitan cuts them, where embedding and head count as a
 * layer each. docs/run-your-plan.md */
#include <stdio.h>
#include <string.h>

#include "base/ascii.h"
#include "base/fail.h"
#include "base/text.h"
#include "write/layer_reading.h"
#include "write/writer.h"

enum { MAX_STAGES = 512, NAME_BYTES = 200 };
static const char STAGES[] = "pipeline_parallel_degree", GROUPS[] = "tensor_parallel_degree",
                  PARTS[] = "module_fqns_per_model_part", POINTS[] = "pipeline_parallel_split_points";

static bool is_word(char c) { return ascii_is_alnum(c) || c == '_'; }

/* The value of a key, behind its '=' or a blank; NULL without one. Of several the last. */
static const char *value_of(const char *text, const char *key) {
  const char *found = NULL;
  size_t n = strlen(key);
  for (const char *at = text; (at = strstr(at, key)); at += n) {
    if ((at > text && is_word(at[-1])) || is_word(at[n])) continue;
    found = at + n;
    while (ascii_is_space(*found) || *found == '=') found++;
  }
  return found;
}

static situ_status take_degree(int64_t *out, const char *text, const char *key, situ_error *error) {
  const char *value = value_of(text, key), *end = value ? text_scan_int(value, 0, out) : NULL;
  if (!value) return SITU_STATUS_OK;
  if (end && !is_word(*end) && *end != '.' && *out >= 1 && *out <= MAX_STAGES) return SITU_STATUS_OK;
  return fail_with(error, SITU_STATUS_BAD_INPUT, key, "expected a whole number from 1 to %d", MAX_STAGES);
}

static situ_status request(plan_request *out, const char *text, arena *a, situ_error *error) {
  static const char *const others[] = {"data_parallel_replicate_degree", "data_parallel_shard_degree",
                                       "context_parallel_degree", "expert_parallel_degree"};
  text_buffer notes = {0};
  int64_t degree;
  out->group = 1;
  TRY(take_degree(&out->group, text, GROUPS, error));
  text_add(&notes, "the request is that of the options: --training --prompt N is a step of training\n");
  for (size_t k = 0; k < sizeof others / sizeof others[0]; k++) {
    const char *value = value_of(text, others[k]);
    if (value && text_scan_int(value, 0, &degree) && degree > 1) text_add(&notes, "%s is not modelled\n", others[k]);
  }
  const char *schedule = value_of(text, "pipeline_parallel_schedule");
  if (schedule && (strstr(schedule, "Interleaved") || strstr(schedule, "ZBV") || strstr(schedule, "Looped")))
    text_add(&notes,
             "several stages for each rank need a list of their modules; their passes are those of --schedule "
             "interleaved or zb-v\n");
  if (!notes.failed) out->notes = arena_string(a, notes.bytes);
  text_free(&notes);
  return out->notes ? SITU_STATUS_OK : fail_no_memory(error);
}

typedef struct stages {
  layer_reading *r;
  int32_t n, device[MAX_STAGES]; /* -1: not named */
  int64_t count[MAX_STAGES];
  int32_t next; /* layer */
} stages;

static situ_status bad_parts(situ_error *error) {
  return fail_with(error, SITU_STATUS_BAD_INPUT, PARTS, "expected a list of lists of names, a list for each stage");
}

/* A text in quotes at *at, which moves behind it. False where there is none. */
static bool take_quoted(char into[NAME_BYTES], const char **at) {
  const char *end = **at == '"' || **at == '\'' ? strchr(*at + 1, **at) : NULL;
  if (!end || end - *at > NAME_BYTES) return false;
  snprintf(into, NAME_BYTES, "%.*s", (int)(end - *at - 1), *at + 1);
  *at = end + 1;
  return true;
}

/* The layer of a module: of that name or, of torchtitan's own models, of "layers.3". -1: it is none. */
static int32_t find_layer(const layer_plan *l, const char *module) {
  int32_t k = layer_reading_find(l, module);
  int64_t number;
  const char *end = strncmp(module, "layers.", 7) == 0 ? text_scan_int(module + 7, 0, &number) : NULL;
  return k < 0 && end && !*end && number >= 0 && number < l->n ? (int32_t)number : k;
}

static situ_status take_module(stages *s, const char *module, situ_error *error) {
  int32_t k = find_layer(&s->r->l, module);
  if (k < 0) return SITU_STATUS_OK; /* an end of the network, or without operators */
  if (k != s->next)
    return fail_with(error, SITU_STATUS_BAD_INPUT, PARTS, "%.100s: expected layer %d here", module, (int)s->next);
  s->next++;
  s->count[s->n - 1]++;
  return SITU_STATUS_OK;
}

/* [["tok_embeddings", "layers.0"], # "gpu0"
 *  ["layers.1", "output"]] */
static situ_status take_parts(stages *s, const char *at, situ_error *error) {
  char name[NAME_BYTES];
  int depth = 0;
  if (*at == '\'') at++; /* of a shell */
  if (*at != '[') return bad_parts(error);
  do {
    if (*at == '[' && ++depth == 2) {
      if (s->n == MAX_STAGES) return bad_parts(error);
      s->device[s->n++] = -1;
    }
    if (*at == ']') depth--;
    if (*at == '#') {
      at += strspn(at, "# ");
      if (s->n > 0 && take_quoted(name, &at)) s->device[s->n - 1] = situ_platform_find(s->r->problem->platform, name);
      at += strcspn(at, "\n");
      continue;
    }
    if (depth == 2 && take_quoted(name, &at)) {
      TRY(take_module(s, name, error));
      continue;
    }
    if (!*at || depth > 2) return bad_parts(error);
    at++;
  } while (depth > 0);
  return s->n > 0 ? SITU_STATUS_OK : bad_parts(error);
}

/* The first module of each stage but the first: "layers.2", "layers.4" in a list, or layers.2,layers.4. */
static situ_status take_points(stages *s, const char *at, situ_error *error) {
  int32_t before = 0;
  s->n = 1;
  for (at += strspn(at, "[ \"'"); *at && *at != ']' && !ascii_is_space(*at); at += strspn(at, ", \"'")) {
    char name[NAME_BYTES];
    size_t n = strcspn(at, ", \"']\n");
    snprintf(name, sizeof name, "%.*s", (int)n, at);
    int32_t k = find_layer(&s->r->l, name);
    if (k <= before - (s->n == 1) || s->n == MAX_STAGES)
      return fail_with(error, SITU_STATUS_BAD_INPUT, POINTS, "%.100s is no layer behind the one before", name);
    s->count[s->n - 1] = k - before;
    s->n++;
    before = k;
    at += n;
  }
  s->count[s->n - 1] = s->r->l.n - before;
  return SITU_STATUS_OK;
}

/* Embedding and head count as a layer each, and the first stages have what is left over. */
static situ_status cut_evenly(stages *s, int64_t n, situ_error *error) {
  int64_t whole = s->r->l.n + 2;
  if (whole / n < 2)
    return fail_with(error, SITU_STATUS_BAD_INPUT, STAGES, "%lld stages are too many for %d layers", (long long)n,
                     (int)s->r->l.n);
  s->n = (int32_t)n;
  for (int64_t k = 0; k < n; k++) s->count[k] = whole / n + (k < whole % n) - (k == 0) - (k == n - 1);
  return SITU_STATUS_OK;
}

static situ_status find_stages(layer_reading *r, const void *text, situ_error *error) {
  stages s = {.r = r};
  int64_t n = 1, group = 1;
  const char *parts = value_of(text, PARTS), *points = value_of(text, POINTS);
  for (int32_t k = 0; k < MAX_STAGES; k++) s.device[k] = -1;
  TRY(take_degree(&n, text, STAGES, error));
  TRY(take_degree(&group, text, GROUPS, error));
  bool empty = points && (*points == '"' || *points == '\'' || strncmp(points, "[]", 2) == 0) &&
               (points[1] == *points || points[1] == ']');
  if (parts)
    TRY(take_parts(&s, parts, error));
  else if (points && !empty)
    TRY(take_points(&s, points, error));
  else
    TRY(cut_evenly(&s, n, error));
  if (s.n % n != 0)
    return fail_with(error, SITU_STATUS_BAD_INPUT, STAGES, "is %lld, but %d stages are named", (long long)n, (int)s.n);
  const char *schedule = value_of(text, "pipeline_parallel_schedule");
  bool back = schedule && strncmp(schedule + strspn(schedule, "\"'"), "ZBV", 3) ==
                              0; /* of two stages of each rank, there and back */
  for (int32_t k = 0; k < s.n; k++) {
    int64_t rank = back && k >= n ? 2 * n - 1 - k : k % n;
    if (s.device[k] < 0) s.device[k] = layer_reading_gpu(r->problem, rank * group);
    if (s.device[k] < 0)
      return fail_with(error, SITU_STATUS_BAD_INPUT, r->problem->platform->name, "has no GPU %lld, where stage %d is",
                       (long long)(rank * group), (int)k);
  }
  return layer_reading_stages(r, s.device, s.count, s.n, error);
}

static situ_status devices(int32_t *device, const situ_problem *problem, const char *text, situ_error *error) {
  return layer_reading_read(device, problem, "torchtitan", find_stages, text, error);
}

const plan_reading torchtitan_reading = {
    .marks =
        "pipeline_parallel_degree module_fqns_per_model_part pipeline_parallel_split_points tensor_parallel_degree",
    .request = request,
    .devices = devices};
