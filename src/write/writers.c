/* The table of writers. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arguments.h"
#include "base/fail.h"
#include "base/file.h"
#include "base/near_name.h"
#include "plan/layer_plan.h"
#include "read/joined_networks.h"
#include "write/writer.h"

#define ADDRESS(NAME) &NAME##_writer,
static const writer *const writers[] = {WRITER_ROWS(ADDRESS) NULL};

int32_t situ_writer_count(void) {
  int32_t n = 0;
  while (writers[n]) n++;
  return n;
}

bool situ_writer_at(int32_t index, situ_writer_info *out) {
  if (index < 0 || index >= situ_writer_count()) return false;
  const writer *w = writers[index];
  situ_writer_info info = {.name = w->name,
                           .title = w->title,
                           .suffix = w->suffix,
                           .folder = w->write_folder != NULL,
                           .form = w->form,
                           .marks = w->reading ? w->reading->marks : NULL};
  return GIVE(out, info);
}

static situ_status unknown_name(const char *name, situ_error *error) {
  const char *names[sizeof writers / sizeof writers[0]];
  char near[256];
  int32_t n = 0;
  for (; writers[n]; n++) names[n] = writers[n]->name;
  return fail_with(error, SITU_STATUS_BAD_ARGUMENT, NULL, "there is no writer '%s'; %s", name,
                   near_names(near, sizeof near, name, names, n));
}

static situ_status row_find(const writer **out, const char *name, situ_error *error) {
  const writer *const *w = writers;
  *out = NULL;
  while (*w && strcmp((*w)->name, name) != 0) w++;
  if (!*w) return unknown_name(name, error);
  *out = *w;
  return SITU_STATUS_OK;
}

/* Whether the target can run the groups of the platform, if there are any. */
static situ_status check_groups(const writer *w, const situ_problem *p, situ_error *error) {
  for (int32_t d = 0; d < p->n_devices && !w->groups; d++)
    if (p->platform->devices[d].members > 1)
      return fail_with(error, SITU_STATUS_UNSUPPORTED, p->platform->devices[d].name,
                       "is a group of devices that split operators, which %s cannot express", w->name);
  int32_t uneven = p->platform->uneven.device;
  if (uneven >= 0 && !w->shares)
    return fail_with(error, SITU_STATUS_UNSUPPORTED, p->platform->devices[uneven].name,
                     "is a group with unequal shares, but %s gives its GPUs equal ones", w->name);
  return SITU_STATUS_OK;
}

situ_status writer_find(const writer **out, const char *name, const situ_plan *plan, situ_error *error) {
  TRY(row_find(out, name, error));
  TRY(check_groups(*out, plan->problem, error));
  if (!plan->device) return fail_with(error, SITU_STATUS_BAD_ARGUMENT, name, "the plan has no placement to write");
  return SITU_STATUS_OK;
}

situ_status writer_serves(const writer **out, const char *name, const situ_problem *problem, const char *reader,
                          const char *path, situ_error *error) {
  const writer *w;
  layer_plan l;
  TRY(row_find(&w, name, error));
  *out = w;
  const model_format *format = w->format ? w->format : &onnx_format;
  bool fits = strcmp(reader, format->reader) == 0 || (w->or_format && strcmp(reader, w->or_format->reader) == 0);
  if (w->write_folder && !fits)
    return fail_with(error, SITU_STATUS_UNSUPPORTED, path, "is not an %s%s%s model, which %s needs", format->title,
                     w->or_format ? " or " : "", w->or_format ? w->or_format->title : "", name);
  if (w->form && strcmp(reader, READ_PIPELINE) == 0)
    return fail_with(error, SITU_STATUS_UNSUPPORTED, path,
                     "is a pipeline of several networks, and %s places the layers of one: name its folder", name);
  TRY(check_groups(w, problem, error));
  if (w->serves) TRY(w->serves(problem, error));
  if (!w->form) return SITU_STATUS_OK;
  situ_status status = layer_plan_open(&l, problem, w->form, name, error);
  layer_plan_free(&l);
  return status;
}

const char *writer_engine(const char *const *names, int32_t n) {
  for (int32_t i = 0; i < n; i++)
    for (int32_t k = 0; writers[k]; k++)
      if (writers[k]->engine && strcmp(writers[k]->name, names[i]) == 0) return writers[k]->engine;
  return NULL;
}

/* The length of the longest of the words that a text contains, where '~' is a blank; 0: of none. */
static size_t longest_mark(const char *text, const char *words) {
  char word[64];
  size_t longest = 0;
  for (const char *at = words; *at; at += strspn(at, " ")) {
    size_t n = strcspn(at, " ");
    snprintf(word, sizeof word, "%.*s", (int)n, at);
    for (char *c = word; *c; c++)
      if (*c == '~') *c = ' ';
    if (n > longest && strstr(text, word)) longest = n;
    at += n;
  }
  return longest;
}

/* Programs whose commands do not say what they place, and what to ask instead. */
static const struct {
  const char *word, *instead;
} others[] = {
    {"ollama",
     "ollama chooses the layers itself: judge what ollama ps prints, a Modelfile with num_gpu, or what its log says, "
     "as in \"llama-server -ngl 30 -c 8192\"; or see situ place --solver llamacpp_fit"},
    {"text-generation-launcher",
     "say it in the words of vLLM: --num-shard as --tensor-parallel-size, --max-total-tokens as --max-model-len"},
    {"trtllm-serve",
     "say it in the words of vLLM: --tp_size as --tensor-parallel-size, --pp_size as --pipeline-parallel-size, "
     "--max_seq_len as --max-model-len"},
    {"lmdeploy", "say it in the words of vLLM: --tp as --tensor-parallel-size, --session-len as --max-model-len"},
    {"exllama",
     "exllama fills GPUs in turn, up to the sizes of --gpu-split: judge \"llama-server -ts 22,24 -ngl 99\" with "
     "the sizes, or a device_map"},
    {"--gpu-split", "--gpu-split fills GPUs in turn: judge \"llama-server -ts 22,24 -ngl 99\" with its sizes"},
    {"mlx_lm",
     "MLX runs on one Mac, all of the model on its GPU: situ place MODEL --platform m3-ultra; several by exo"},
    {"ktransformers",
     "experts are on the CPU, all else on the GPU, as by \"llama-server -ngl 99 -cmoe\": judge that, or a device_map"},
    {"deepspeed", "stages of DeepSpeed are not read: situ place --training finds one's own"},
    {"accelerate launch", "what accelerate launches does not say where layers are; a device_map does"},
    {"HETERO:", "HETERO does not say where nodes are: situ place --write openvino-affinity=FILE, or judge such a file"},
};

situ_status writer_of_text(const writer **out, const char *name, const char *text, situ_error *error) {
  text_buffer known = {0};
  *out = NULL;
  if (name) TRY(row_find(out, name, error));
  size_t longest = 0, length;
  for (int32_t k = 0; writers[k] && !name; k++)
    if (writers[k]->reading && (length = longest_mark(text, writers[k]->reading->marks)) > longest) {
      *out = writers[k];
      longest = length;
    }
  if (*out && (*out)->reading) return SITU_STATUS_OK;
  for (size_t k = 0; k < sizeof others / sizeof *others && !name; k++)
    if (strstr(text, others[k].word))
      return fail_with(error, SITU_STATUS_BAD_ARGUMENT, "command", "%s", others[k].instead);
  for (int32_t k = 0; writers[k]; k++)
    if (writers[k]->reading) text_add(&known, "%s%s", known.length > 0 ? ", " : "", writers[k]->name);
  situ_status status = fail_with(error, SITU_STATUS_BAD_ARGUMENT, name ? name : "command",
                                 "is none of the formats that are read back: %s", known.bytes ? known.bytes : "");
  text_free(&known);
  return status;
}

static situ_status write_by_layers(text_buffer *out, const writer *w, const situ_plan *plan, situ_error *error) {
  layer_plan l;
  situ_status status = layer_plan_find(&l, plan, w->form, w->target, error);
  if (status == SITU_STATUS_OK) status = w->write_layers(out, &l, plan, error);
  layer_plan_free(&l);
  return status;
}

situ_status situ_write(char **out, const char *name, const situ_plan *plan, situ_error *error) {
  const writer *w;
  if (out) *out = NULL;
  TRY(GIVEN(error, out, name, plan));
  TRY(writer_find(&w, name, plan, error));
  if (w->write_folder)
    return fail_with(error, SITU_STATUS_BAD_ARGUMENT, name,
                     "writes a folder made from the model; use situ_instance_export");
  text_buffer text = {0};
  situ_status status = w->write ? w->write(&text, plan, error) : write_by_layers(&text, w, plan, error);
  if (status != SITU_STATUS_OK) {
    text_free(&text);
    return status;
  }
  *out = text_take(&text);
  return *out ? SITU_STATUS_OK : fail_no_memory(error);
}

situ_status writer_write_file(const writer *w, const situ_plan *plan, const char *path, situ_error *error) {
  char *text;
  TRY(situ_write(&text, w->name, plan, error));
  situ_status status = file_write(path, text, strlen(text), error);
  free(text);
  return status;
}
