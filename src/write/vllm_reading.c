/* What a command of vLLM places: stages of --pipeline-parallel-size, each of --tensor-parallel-size GPUs, with layers
 * by VLLM_PP_LAYER_PARTITION or evenly, what is left over before the last stage. docs/formats/language-models.md */
#include <string.h>

#include "base/checked.h"
#include "base/fail.h"
#include "base/text.h"
#include "write/command_words.h"
#include "write/layer_reading.h"
#include "write/writer.h"

enum { MAX_STAGES = 512 };
/* Those of SGLang, which places alike, are among them. */
static const char STAGES[] = "--pipeline-parallel-size -pp --pp-size --pp",
                  GROUPS[] = "--tensor-parallel-size -tp --tp-size --tp",
                  CONTEXT[] = "--max-model-len --context-length", STREAMS[] = "--max-num-seqs --max-running-requests",
                  CACHE[] = "--kv-cache-dtype", AT_ONCE[] = "--max-num-batched-tokens --chunked-prefill-size",
                  SHARE[] = "--gpu-memory-utilization --mem-fraction-static", SGLANG[] = "--mem-fraction-static";

/* vLLM takes 0.92 of the memory that a GPU really has, which is 1.074 of what the catalogue counts, for weights,
 * caches, scratch memory, and some 2 % for contexts and graphs. What that leaves of the catalogue's, no less than
 * nothing.
 */
static situ_status find_unused_share(double *out, const command_words *w, situ_error *error) {
  const char *text = command_words_value(w, SHARE);
  double share = 0.92;
  const char *end = text ? text_scan_number(text, &share) : "";
  if (!end || *end || !(share > 0 && share <= 1))
    return fail_with(error, SITU_STATUS_BAD_INPUT, "command", "%.*s %.60s: expected a share of at most 1",
                     (int)strcspn(SHARE, " "), SHARE, text);
  *out = 1.02 - 1.074 * share;
  if (*out < 0) *out = 0;
  return SITU_STATUS_OK;
}

/* A number of tokens as vLLM reads them: 32768, 25.6k for 25,600, 32K for 32,768. */
static situ_status find_tokens(int64_t *out, const command_words *w, const char *names, situ_error *error) {
  static const char UNITS[] = "kKmMgG";
  static const double FACTOR[] = {1e3, 1 << 10, 1e6, 1 << 20, 1e9, 1 << 30};
  const char *text = command_words_value(w, names);
  size_t n = text ? strlen(text) : 0;
  const char *unit = n > 1 ? strchr(UNITS, text[n - 1]) : NULL;
  double number = 0;
  if (!unit) return command_words_int(out, w, names, 1, error);
  if (text_scan_number(text, &number) != text + n - 1 || !(number * FACTOR[unit - UNITS] >= 1 && number < 1e6))
    return fail_with(error, SITU_STATUS_BAD_INPUT, "command",
                     "%.*s %.60s: expected a number of tokens, as in 32768 or 32k", (int)strcspn(names, " "), names,
                     text);
  *out = (int64_t)(number * FACTOR[unit - UNITS] + 0.5);
  return SITU_STATUS_OK;
}

/* Whether vLLM chooses the context itself: the longest that fits. */
static bool chooses_context(const command_words *w) {
  const char *text = command_words_value(w, CONTEXT);
  return text && (strcmp(text, "auto") == 0 || strcmp(text, "-1") == 0);
}

/* The words of the command, behind those of the file that it names. */
static situ_status open_words(command_words *w, const char *text, arena *a, situ_error *error) {
  TRY(command_words_split(w, text, a, error));
  const char *file = command_words_value(w, "--config");
  return file ? command_words_include(w, file, a, error) : SITU_STATUS_OK;
}

/* The model: of --model, or the word behind "serve". */
static const char *model_of(const command_words *w) {
  const char *model = command_words_value(w, "--model --model-path");
  for (int32_t k = 0; k + 1 < w->n && !model; k++)
    if (strcmp(w->word[k], "serve") == 0 && w->word[k + 1][0] != '-') model = w->word[k + 1];
  return model;
}

static bool is_sglang(const command_words *w) {
  for (int32_t k = 0; k < w->n; k++)
    if (strstr(w->word[k], "sglang")) return true;
  return command_words_has(w, SGLANG);
}

/* Options that change what fits, or how fast it is, in ways that are not modelled: without a word the verdict would be
 * wrong. */
static situ_status take_unmodelled(text_buffer *notes, const command_words *w, situ_error *error) {
  const char *fetched = command_words_value(w, "--cpu-offload-gb"),
             *packed = command_words_value(w, "--quantization -q");
  if (fetched && strspn(fetched, "0.") < strlen(fetched))
    return fail_with(error, SITU_STATUS_UNSUPPORTED, "command",
                     "--cpu-offload-gb %.20s: weights that vLLM fetches from the CPU at each step are not modelled; "
                     "judge the command without it",
                     fetched);
  if (packed) text_add(notes, "--quantization %.40s: weights are taken as they are in the file\n", packed);
  if (command_words_has(w, "--kv-cache-memory-bytes"))
    text_add(notes, "--kv-cache-memory-bytes is not modelled: --gpu-memory-utilization limits the memory\n");
  if (command_words_has(w, "--speculative-config --speculative-algorithm"))
    text_add(notes, "speculative decoding is not modelled: see --draft\n");
  return SITU_STATUS_OK;
}

static situ_status request(plan_request *out, const char *text, arena *a, situ_error *error) {
  command_words w;
  text_buffer notes = {0};
  int64_t requests = 0;
  TRY(open_words(&w, text, a, error));
  out->model = model_of(&w);
  out->group = 1;
  TRY(command_words_int(&out->group, &w, GROUPS, 1, error));
  if (!chooses_context(&w)) TRY(find_tokens(&out->context, &w, CONTEXT, error));
  out->micro_batch = 2048;
  TRY(find_tokens(&out->micro_batch, &w, AT_ONCE, error));
  TRY(command_words_int(&requests, &w, STREAMS, 0, error));
  TRY(find_unused_share(&out->unused_share, &w, error));
  const char *type = command_words_value(&w, CACHE);
  out->trained = out->context == 0;
  if (chooses_context(&w))
    text_add(&notes, "with --max-model-len auto vLLM takes the longest context that fits; see situ fit\n");
  else if (out->trained)
    text_add(&notes, "without --max-model-len vLLM takes the context that the model was trained for\n");
  if (type && strncmp(type, "fp8", 3) == 0)
    out->kv_type = "q8_0"; /* 8 bits, and 1/16 more: the nearest that is known */
  else if (type && strcmp(type, "auto") != 0)
    text_add(&notes, "--kv-cache-dtype %.40s is taken as f16\n", type);
  situ_status status = take_unmodelled(&notes, &w, error);
  if (status != SITU_STATUS_OK) {
    text_free(&notes);
    return status;
  }
  if (is_sglang(&w)) text_add(&notes, "SGLang is judged as vLLM, and the better command is one of vLLM\n");
  if (requests > 1)
    text_add(&notes,
             "caches are for one request of full length, which vLLM needs memory for; %lld requests share them\n",
             (long long)requests);
  if (command_words_has(&w, "--data-parallel-size -dp"))
    text_add(&notes, "--data-parallel-size is not modelled: one of the replicas is judged\n");
  if (command_words_has(&w, "--enable-expert-parallel -ep"))
    text_add(&notes, "--enable-expert-parallel is not modelled: experts are taken to be split by their hidden units\n");
  if (notes.failed) return fail_no_memory(error);
  out->notes = arena_string(a, notes.bytes ? notes.bytes : "");
  text_free(&notes);
  return out->notes ? SITU_STATUS_OK : fail_no_memory(error);
}

static situ_status find_stages(layer_reading *r, const void *words, situ_error *error) {
  const command_words *w = words;
  int64_t gpu[MAX_STAGES], count[MAX_STAGES], n_stages = 1, group = 1;
  int32_t stage[MAX_STAGES], n_gpus, n_counts;
  TRY(command_words_int(&n_stages, w, STAGES, 1, error));
  TRY(command_words_int(&group, w, GROUPS, 1, error));
  TRY(command_words_numbers(gpu, &n_gpus, MAX_STAGES, w, "CUDA_VISIBLE_DEVICES", error));
  TRY(command_words_numbers(count, &n_counts, MAX_STAGES, w, "VLLM_PP_LAYER_PARTITION", error));
  if (n_stages > MAX_STAGES || group > MAX_STAGES || (n_gpus > 0 && n_gpus < n_stages * group) ||
      (n_counts > 0 && n_counts != n_stages))
    return fail_with(error, SITU_STATUS_BAD_INPUT, "command",
                     "%lld stages of %lld GPUs do not match CUDA_VISIBLE_DEVICES or VLLM_PP_LAYER_PARTITION",
                     (long long)n_stages, (long long)group);
  int64_t rest = r->l.n % n_stages;
  for (int32_t s = 0; s < n_stages; s++) {
    int64_t number = n_gpus > 0 ? gpu[s * group] : s * group;
    for (int64_t k = 1; k < group && n_gpus > 0; k++) number = min64(number, gpu[s * group + k]); /* names the group */
    /* vLLM leaves the last stage, which has the head, without what is left over */
    if (n_counts == 0) count[s] = r->l.n / n_stages + (s < n_stages - 1 && s >= n_stages - 1 - rest);
    stage[s] = layer_reading_gpu(r->problem, number);
    if (stage[s] < 0)
      return fail_with(error, SITU_STATUS_BAD_INPUT, r->problem->platform->name, "has no GPU %lld, where stage %d is",
                       (long long)number, (int)s);
  }
  return layer_reading_stages(r, stage, count, (int32_t)n_stages, error);
}

static situ_status devices(int32_t *device, const situ_problem *problem, const char *text, situ_error *error) {
  command_words w;
  arena *a = arena_new();
  situ_status status = a ? open_words(&w, text, a, error) : fail_no_memory(error);
  if (status == SITU_STATUS_OK) status = layer_reading_read(device, problem, "vLLM", find_stages, &w, error);
  arena_free(a);
  return status;
}

const plan_reading vllm_reading = {
    .marks =
        "vllm VLLM_PP_LAYER_PARTITION --pipeline-parallel-size --tensor-parallel-size --max-model-len "
        "--gpu-memory-utilization --mem-fraction-static sglang",
    .request = request,
    .devices = devices};
