/* What options of Megatron-LM place: a layout names the layers of each stage, and stage s is on rank s modulo the size
 * of the pipeline; without one all stages have as many layers, but for those whose number is stated.
 * docs/run-your-plan.md */
#include <string.h>

#include "base/ascii.h"
#include "base/fail.h"
#include "base/text.h"
#include "write/command_words.h"
#include "write/layer_reading.h"
#include "write/writer.h"

enum { MAX_STAGES = 512, MAX_LAYOUT = 16384 };
static const char STAGES[] = "--pipeline-model-parallel-size", GROUPS[] = "--tensor-model-parallel-size",
                  VIRTUAL[] = "--num-virtual-stages-per-pipeline-rank",
                  EACH[] = "--num-layers-per-virtual-pipeline-stage", LAYOUT[] = "--pipeline-model-parallel-layout",
                  FIRST[] = "--decoder-first-pipeline-num-layers", LAST[] = "--decoder-last-pipeline-num-layers";

static situ_status request(plan_request *out, const char *text, arena *a, situ_error *error) {
  command_words w;
  text_buffer notes = {0};
  TRY(command_words_split(&w, text, a, error));
  out->group = 1;
  TRY(command_words_int(&out->group, &w, GROUPS, 1, error));
  text_add(&notes, "the request is that of the options: --training --prompt N is a step of training\n");
  if (command_words_has(&w, "--num-layers-per-virtual-pipeline-stage --num-virtual-stages-per-pipeline-rank"))
    text_add(&notes, "the passes of virtual stages are those of --schedule interleaved --chunks V --micro-batches M\n");
  if (command_words_has(&w, "--context-parallel-size --expert-model-parallel-size"))
    text_add(&notes, "context and expert parallelism are not modelled\n");
  if (!notes.failed) out->notes = arena_string(a, notes.bytes);
  text_free(&notes);
  return out->notes ? SITU_STATUS_OK : fail_no_memory(error);
}

static situ_status bad_layout(const char *layout, situ_error *error) {
  return fail_with(error, SITU_STATUS_BAD_INPUT, "command",
                   "--pipeline-model-parallel-layout %.100s: expected stages such as Et*3|(tt|)*2,t|L", layout);
}

/* Writes "t*3" and "(tt|)*2" out: one letter for each layer, '|' between stages. */
static situ_status expand(char out[MAX_LAYOUT], const char *layout, situ_error *error) {
  int32_t n = 0, open = -1, unit = 0; /* unit: where what a '*' repeats begins */
  for (const char *at = layout; *at; at++) {
    int64_t times;
    if (*at == ',' || ascii_is_blank(*at)) continue;
    if (*at == '(' && open < 0) {
      open = n;
    } else if (*at == ')' && open >= 0) {
      unit = open;
      open = -1;
    } else if (*at == '*' && n > unit) {
      const char *end = text_scan_int(at + 1, 0, &times);
      if (!end || times < 1 || times > MAX_LAYOUT) return bad_layout(layout, error);
      int32_t length = n - unit;
      if (n + length * (times - 1) >= MAX_LAYOUT) return bad_layout(layout, error);
      for (int64_t k = 1; k < times; k++, n += length) memcpy(out + n, out + unit, (size_t)length);
      unit = n;
      at = end - 1;
    } else if (strchr("EtmL|", *at) && n + 1 < MAX_LAYOUT) {
      unit = n;
      out[n++] = *at;
    } else {
      return bad_layout(layout, error);
    }
  }
  out[n] = '\0';
  return open < 0 && n > 0 ? SITU_STATUS_OK : bad_layout(layout, error);
}

typedef struct command {
  command_words words;
  const char *text;
} command;

/* The device of a rank of the pipeline: by the comment that the writer adds, else by its number. */
static situ_status find_rank(int32_t *device, const layer_reading *r, const command *c, int32_t rank, int64_t group,
                             situ_error *error) {
  static const char RANKS[] = "# ranks:";
  const char *at = strstr(c->text, RANKS);
  char name[200] = "";
  at = at ? at + strlen(RANKS) : "";
  for (int32_t k = 0; k <= rank && *at && *at != '\n'; k++) {
    at += strspn(at, " ");
    size_t n = strcspn(at, " \n");
    if (k == rank && n < sizeof name) memcpy(name, at, n), name[n] = '\0';
    at += n;
  }
  *device = *name ? situ_platform_find(r->problem->platform, name) : layer_reading_gpu(r->problem, rank * group);
  if (*device >= 0) return SITU_STATUS_OK;
  return fail_with(error, SITU_STATUS_BAD_INPUT, r->problem->platform->name, "has no GPU %lld, where stage %d is",
                   (long long)(rank * group), (int)rank);
}

/* Fills devices by a layout that is written out. */
static situ_status take_layout(layer_reading *r, const char *stages, const int32_t *device, int64_t n_ranks,
                               situ_error *error) {
  int32_t stage = 0, layer = 0;
  for (const char *at = stages; *at; at++) {
    int32_t here = device[stage % n_ranks];
    if (*at == '|') stage++;
    if (*at == 'E') r->first = here;
    if (*at == 'L') r->head = here;
    if (*at == 't' && layer++ < r->l.n) r->l.device[layer - 1] = here;
  }
  if (layer != r->l.n)
    return fail_with(error, SITU_STATUS_BAD_INPUT, r->problem->graph->model, "has %d layers, but the layout has %d",
                     (int)r->l.n, (int)layer);
  if ((stage + 1) % n_ranks != 0)
    return fail_with(error, SITU_STATUS_BAD_INPUT, "command", "the layout has %d stages, no multiple of %lld",
                     (int)stage + 1, (long long)n_ranks);
  if (r->first < 0) r->first = r->l.device[0];
  if (r->head < 0) r->head = r->l.device[r->l.n - 1];
  return SITU_STATUS_OK;
}

/* Layers without a layout: the rest, after what first and last stage state, in equal parts. */
static situ_status count_layers(int64_t *count, const layer_reading *r, const command *c, int64_t n,
                                situ_error *error) {
  int64_t first = 0, last = 0;
  TRY(command_words_int(&first, &c->words, FIRST, 1, error));
  TRY(command_words_int(&last, &c->words, LAST, 1, error));
  int64_t stages = n - (first > 0) - (last > 0), rest = r->l.n - first - last;
  if (rest < 0 || (stages == 0 ? rest > 0 : rest % stages != 0))
    return fail_with(error, SITU_STATUS_BAD_INPUT, r->problem->graph->model,
                     "has %d layers, which %lld stages cannot share evenly", (int)r->l.n, (long long)n);
  for (int64_t s = 0; s < n; s++)
    count[s] = s == 0 && first > 0 ? first : s == n - 1 && last > 0 ? last : rest / stages;
  return SITU_STATUS_OK;
}

/* How many stages all ranks have together. */
static situ_status count_stages(int64_t *n, const layer_reading *r, const command *c, int64_t n_ranks,
                                situ_error *error) {
  int64_t rounds = 1, each = 0;
  TRY(command_words_int(&rounds, &c->words, VIRTUAL, 1, error));
  TRY(command_words_int(&each, &c->words, EACH, 1, error));
  if (each > 0 && r->l.n % (each * n_ranks) != 0)
    return fail_with(error, SITU_STATUS_BAD_INPUT, r->problem->graph->model,
                     "has %d layers, no multiple of %lld for each of %lld ranks", (int)r->l.n, (long long)each,
                     (long long)n_ranks);
  *n = each > 0 ? r->l.n / each : rounds * n_ranks;
  if (*n > MAX_STAGES) return fail_with(error, SITU_STATUS_BAD_INPUT, "command", "more than %d stages", MAX_STAGES);
  return SITU_STATUS_OK;
}

static situ_status find_stages(layer_reading *r, const void *from, situ_error *error) {
  const command *c = from;
  int64_t n = 1, group = 1, count[MAX_STAGES], n_stages = 0;
  int32_t device[MAX_STAGES];
  char stages[MAX_LAYOUT];
  TRY(command_words_int(&n, &c->words, STAGES, 1, error));
  TRY(command_words_int(&group, &c->words, GROUPS, 1, error));
  if (n > MAX_STAGES || group > MAX_STAGES)
    return fail_with(error, SITU_STATUS_BAD_INPUT, "command", "more than %d stages, or GPUs of one", MAX_STAGES);
  for (int32_t s = 0; s < n; s++) TRY(find_rank(&device[s], r, c, s, group, error));
  const char *layout = command_words_value(&c->words, LAYOUT);
  if (layout) {
    TRY(expand(stages, layout, error));
    return take_layout(r, stages, device, n, error);
  }
  TRY(count_stages(&n_stages, r, c, n, error));
  TRY(count_layers(count, r, c, n_stages, error));
  for (int64_t s = n; s < n_stages; s++) device[s] = device[s % n];
  return layer_reading_stages(r, device, count, (int32_t)n_stages, error);
}

static situ_status devices(int32_t *device, const situ_problem *problem, const char *text, situ_error *error) {
  command c = {.text = text};
  arena *a = arena_new();
  situ_status status = a ? command_words_split(&c.words, text, a, error) : fail_no_memory(error);
  if (status == SITU_STATUS_OK) status = layer_reading_read(device, problem, "Megatron-LM", find_stages, &c, error);
  arena_free(a);
  return status;
}

const plan_reading megatron_reading = {
    .marks = "--pipeline-model-parallel-size --tensor-model-parallel-size --pipeline-model-parallel-layout",
    .request = request,
    .devices = devices};
