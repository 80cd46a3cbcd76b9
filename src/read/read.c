/* The table of readers, and the choice among them. */
#include "situ/read.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arguments.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/near_name.h"
#include "base/os.h"
#include "graph/graph.h"
#include "read/builtin.h"
#include "read/joined_networks.h"
#include "read/reader.h"

#define ADDRESS(NAME) &NAME##_reader,
const reader *const readers[] = {READER_ROWS(ADDRESS) NULL};

static const char builtin_prefix[] = "builtin:";

static bool has_suffix(const char *path, const char *suffixes) {
  const char *dot = strrchr(path, '.');
  if (!dot || os_last_slash(dot)) return false;
  const char *at = strstr(suffixes, dot);
  size_t n = strlen(dot);
  return at && (at[n] == '\0' || at[n] == ' ');
}

static const reader *by_name(const char *name) {
  for (const reader *const *r = readers; *r; r++)
    if (strcmp((*r)->name, name) == 0) return *r;
  return NULL;
}

/* The reader that is surest of the content. */
static const reader *by_content(const read_source *source) {
  const reader *best = NULL;
  int sure = 0;
  for (const reader *const *r = readers; *r; r++) {
    int s = (*r)->recognise ? (*r)->recognise(source) : 0;
    if (s > sure) {
      sure = s;
      best = *r;
    }
  }
  return best;
}

/* The reader of files with such a name, unless it knows that this is none. */
static const reader *by_suffix(const read_source *source) {
  for (const reader *const *r = readers; *r; r++)
    if (has_suffix(source->path, (*r)->suffixes) && (!(*r)->recognise || (*r)->recognise(source) >= 0)) return *r;
  return NULL;
}

/* "did you mean onnx?", or all names. */
static const char *known_readers(char *into, size_t capacity, const char *word) {
  const char *names[sizeof readers / sizeof readers[0]];
  int32_t n = 0;
  for (; readers[n]; n++) names[n] = readers[n]->name;
  return near_names(into, capacity, word, names, n);
}

/* Options of language models say nothing of others. */
static situ_status refuse_load(const reader *r, const situ_read_options *o, const char *path, situ_error *error) {
  bool asked = o->prompt || o->context || o->batch || o->generate || o->draft || o->acceptance > 0 || o->kv_type;
  if (!asked || r->takes_load) return SITU_STATUS_OK;
  return fail_with(error, SITU_STATUS_BAD_ARGUMENT, path,
                   "is not the file of a language model; prompt, context, batch, generate, draft, acceptance and the "
                   "cache type do not apply to it");
}

/* Whether the file is a plan, which is easily taken for the model. */
static bool is_plan(const read_source *source) {
  static const char mark[] = "\"situ_plan\"";
  size_t n = source->size_bytes < 64 ? source->size_bytes : 64;
  for (size_t at = 0; source->bytes && at + sizeof mark - 1 <= n; at++)
    if (memcmp(source->bytes + at, mark, sizeof mark - 1) == 0) return true;
  return false;
}

static situ_status read_source_with(situ_model *model, const read_source *source, situ_error *error) {
  const reader *r;
  char known[128];
  if (source->options->reader) {
    r = by_name(source->options->reader);
    if (!r)
      return fail_with(error, SITU_STATUS_BAD_ARGUMENT, source->options->reader, "there is no reader of this name; %s",
                       known_readers(known, sizeof known, source->options->reader));
  } else {
    r = source->bytes ? by_content(source) : &builtin_reader;
    const char *advice = r ? NULL : read_no_model(source);
    if (advice) return fail_with(error, SITU_STATUS_UNSUPPORTED, source->path, "%s", advice);
    if (!r) r = by_suffix(source);
  }
  if (!r && is_plan(source))
    return fail_with(error, SITU_STATUS_UNSUPPORTED, source->path,
                     "is a plan; expected a model (`situ explain` and `situ check` read plans)");
  if (!r)
    return fail_with(error, SITU_STATUS_UNSUPPORTED, source->path, "no reader recognises this file; %s",
                     known_readers(known, sizeof known, ""));
  if (source->options->n_dims > 0 && !r->names_dims)
    return fail_with(error, SITU_STATUS_BAD_ARGUMENT, source->path,
                     r == &builtin_reader
                         ? "has no dynamic dimension %s; its sizes are part of its name, as in builtin:gpt2?batch=8"
                         : "has no dynamic dimension %s; files of the reader %s have no named dimensions",
                     source->options->dims[0].name, r->name);
  TRY(refuse_load(r, source->options, source->path, error));
  read_result result = {0};
  if (source->view && !r->in_parts) TRY(file_need_text(source->view, source->path, error));
  situ_status status = r->read(&result, source, error);
  if (source->view && file_result(source->view, source->path, NULL) != SITU_STATUS_OK)
    status = file_result(source->view, source->path, error);
  model->graph = result.graph;
  model->platform = result.platform;
  model->costs = result.costs;
  model->trained = result.trained;
  model->measured_ns = result.measured_ns;
  model->measured_on = result.measured_on;
  model->reader = r->name;
  model->n_nested_operators = result.n_nested_operators;
  model->header_bytes = result.header_bytes;
  model->steps = result.steps;
  model->dims = result.dims;
  model->n_dims = result.n_dims;
  model->notes = text_take(&result.notes);
  if (status == SITU_STATUS_OK && !model->notes) status = fail_no_memory(error);
  return status;
}

situ_status read_check_dims(const situ_read_options *o, situ_error *error) {
  if ((unsigned)o->precision > SITU_PRECISION_I8)
    return fail_with(error, SITU_STATUS_BAD_ARGUMENT, NULL, "precision is not a value of situ_precision");
  if (o->training && o->precision == SITU_PRECISION_I8)
    return fail_with(error, SITU_STATUS_BAD_ARGUMENT, NULL,
                     "a training step computes gradients in floating point, so it cannot use precision i8");
  if ((unsigned)o->optimizer > SITU_OPTIMIZER_ADAM_8BIT)
    return fail_with(error, SITU_STATUS_BAD_ARGUMENT, NULL, "optimizer is not a value of situ_optimizer");
  if (o->recompute && (!o->training || strcmp(o->recompute, "auto") != 0)) /* situ_place takes auto */
    TRY(read_recompute(&(recompute_choice){0}, o, error));
  if (o->optimizer && !o->training)
    return fail_with(error, SITU_STATUS_BAD_ARGUMENT, NULL, "an optimizer is for training steps; add training");
  if (o->offload_optimizer && !o->training)
    return fail_with(error, SITU_STATUS_BAD_ARGUMENT, NULL, "offload_optimizer is for training steps; add training");
  if (o->micro_batches < 0) return fail_with(error, SITU_STATUS_BAD_ARGUMENT, NULL, "micro_batches must be at least 0");
  if (o->prompt < 0 || o->context < 0 || o->batch < 0 || o->generate < 0 || o->draft < 0)
    return fail_with(error, SITU_STATUS_BAD_ARGUMENT, NULL,
                     "prompt, context, batch, generate and draft must be at least 0");
  bool good = o->n_dims == 0 || (o->n_dims > 0 && o->dims);
  for (int32_t k = 0; good && k < o->n_dims; k++) good = o->dims[k].name && o->dims[k].value >= 0;
  return good ? SITU_STATUS_OK
              : fail_with(error, SITU_STATUS_BAD_ARGUMENT, NULL,
                          "n_dims is not the number of dims, or one has no name or a value below 0");
}

situ_status read_take_assumed(situ_read_options *options, const situ_model *model, arena *a, situ_error *error) {
  if (model->n_dims == 0) return SITU_STATUS_OK;
  situ_dim *dims = ARENA_NEW(a, situ_dim, (int64_t)options->n_dims + model->n_dims);
  if (!dims) return fail_no_memory(error);
  if (options->n_dims > 0) memcpy(dims, options->dims, (size_t)options->n_dims * sizeof *dims);
  memcpy(dims + options->n_dims, model->dims, (size_t)model->n_dims * sizeof *dims);
  options->dims = dims;
  options->n_dims += model->n_dims;
  return SITU_STATUS_OK;
}

/* Notes, line by line; a size that was assumed changes every figure, so it is a warning. */
static void tell(log_to to, const char *notes) {
  while (to.callback && *notes) {
    size_t n = strcspn(notes, "\n");
    bool assumed = strncmp(notes, "dimension", 9) == 0;
    log_line(to, assumed ? SITU_LOG_WARNING : SITU_LOG_NOTE, "%.*s", (int)(n < 1000 ? n : 1000), notes);
    notes += n + (notes[n] == '\n');
  }
}

/* A folder means the Hugging Face model in it, or what stands in its place. `room` receives the path. */
static const char *within_folder(const char *path, char *room, size_t capacity) {
  static const char *const names[] = {"model.safetensors.index.json",
                                      "model.safetensors",
                                      "model_index.json",
                                      "diffusion_pytorch_model.safetensors.index.json",
                                      "diffusion_pytorch_model.safetensors",
                                      "adapter_model.safetensors",
                                      "model.onnx",
                                      "openvino_model.xml",
                                      "model.tflite"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    int n = snprintf(room, capacity, "%s/%s", path, names[i]);
    if (n > 0 && (size_t)n < capacity && file_exists(room)) return room;
  }
  return path;
}

enum { MAX_HASHED = 1 << 26 };

/* Of the header of a file of weights, of the first MAX_HASHED bytes of any other, with the size. */
static situ_status hash_file(situ_model *model, file_view *view, const char *path, situ_error *error) {
  size_t n = model->header_bytes > 0 ? model->header_bytes : MAX_HASHED;
  if (n > view->size_bytes) n = view->size_bytes;
  file_need(view, 0, n);
  TRY(file_result(view, path, error));
  model->hash = hash_bytes(view->bytes, n, view->size_bytes);
  return SITU_STATUS_OK;
}

/* ---- pipelines of several networks ---- */

static const char pipeline_index[] = "/model_index.json";

typedef struct pipeline_reading {
  pipeline_part parts[PIPELINE_PARTS];
  situ_model *models[PIPELINE_PARTS];
  int32_t n;
  int64_t steps;
  text_buffer notes;
} pipeline_reading;

/* Whether a path is the index of such a pipeline; `folder` receives where it is. */
static bool is_pipeline(char folder[4096], const char *path) {
  size_t n = strlen(path), end = sizeof pipeline_index - 1;
  if (strcmp(path, pipeline_index + 1) == 0) {
    snprintf(folder, 4096, ".");
    return true;
  }
  if (n < end || n >= 4096 || strcmp(path + n - end, pipeline_index) != 0) return false;
  snprintf(folder, 4096, "%.*s", (int)(n - end), path);
  return true;
}

/* The options of a part: of the sizes those that are given to it, "PART.NAME". */
static situ_status read_part(pipeline_reading *r, int32_t k, const char *folder, const situ_read_options *o,
                             situ_error *error) {
  enum { MAX_DIMS = 32 };
  char path[4096], room[4096], nested[4096];
  situ_dim dims[MAX_DIMS];
  situ_read_options own = *o;
  size_t n = strlen(r->parts[k].name);
  own.dims = dims;
  own.n_dims = 0;
  own.log = NULL;
  own.reader = NULL;
  own.training = false;
  for (int32_t i = 0; i < o->n_dims && own.n_dims < MAX_DIMS; i++)
    if (strncmp(o->dims[i].name, r->parts[k].name, n) == 0 && o->dims[i].name[n] == '.')
      dims[own.n_dims++] = (situ_dim){o->dims[i].name + n + 1, o->dims[i].value};
  if (snprintf(path, sizeof path, "%s/%s", folder, r->parts[k].name) >= (int)sizeof path)
    return fail_with(error, SITU_STATUS_BAD_ARGUMENT, folder, "has a path that is too long");
  if (is_pipeline(nested, within_folder(path, room, sizeof room)))
    return fail_with(error, SITU_STATUS_UNSUPPORTED, path, "is a pipeline within a pipeline");
  TRY(situ_model_read(&r->models[k], path, &own, error));
  for (const char *at = r->models[k]->notes; *at; at += strspn(at, "\n")) {
    int length = (int)strcspn(at, "\n");
    text_add(&r->notes, "%s: %.*s\n", r->parts[k].name, length < 1000 ? length : 1000, at);
    at += length;
  }
  return SITU_STATUS_OK;
}

/* Sizes that are given name a part, or are the number of steps. */
static situ_status take_sizes(pipeline_reading *r, const char *folder, const situ_read_options *o, situ_error *error) {
  r->steps = PIPELINE_STEPS;
  for (int32_t i = 0; i < o->n_dims; i++) {
    const char *name = o->dims[i].name, *dot = strchr(name, '.');
    bool known = false;
    for (int32_t k = 0; k < r->n && dot; k++)
      known |= strlen(r->parts[k].name) == (size_t)(dot - name) &&
               strncmp(name, r->parts[k].name, (size_t)(dot - name)) == 0;
    if (strcmp(name, "steps") == 0 && o->dims[i].value < 1)
      return fail_with(error, SITU_STATUS_BAD_ARGUMENT, folder, "takes at least one step; steps=%lld was given",
                       (long long)o->dims[i].value);
    if (strcmp(name, "steps") == 0)
      r->steps = o->dims[i].value;
    else if (!known)
      return fail_with(error, SITU_STATUS_BAD_ARGUMENT, folder,
                       "has no dimension %.60s; sizes are those of a network of the pipeline, as in %s.height=64, or "
                       "steps=%d",
                       name, r->parts[r->n - 1].name, PIPELINE_STEPS);
  }
  return SITU_STATUS_OK;
}

static situ_status read_parts(situ_model *model, pipeline_reading *r, const char *folder, const situ_read_options *o,
                              situ_error *error) {
  const situ_graph *graphs[PIPELINE_PARTS];
  TRY(take_sizes(r, folder, o, error));
  text_add(&r->notes,
           "a pipeline of %d networks, each whole on one device; those that repeat run %lld times (--dim steps=N)\n",
           (int)r->n, (long long)r->steps);
  for (int32_t k = 0; k < r->n; k++) {
    TRY(read_part(r, k, folder, o, error));
    graphs[k] = r->models[k]->graph;
    model->hash = hash_bytes(&r->models[k]->hash, sizeof r->models[k]->hash, model->hash);
  }
  TRY(pipeline_join(&model->graph, read_base_name(folder), r->parts, graphs, r->n, r->steps, error));
  model->reader = READ_PIPELINE;
  model->notes = text_take(&r->notes);
  return model->notes ? SITU_STATUS_OK : fail_no_memory(error);
}

static situ_status read_pipeline(situ_model *model, const char *folder, const char *index, const situ_read_options *o,
                                 situ_error *error) {
  pipeline_reading r = {0};
  json_value *root = NULL;
  if (o->training)
    return fail_with(error, SITU_STATUS_UNSUPPORTED, index, "is a pipeline; name the folder of the network to train");
  TRY(json_read(&root, index, error));
  situ_status status = pipeline_find(r.parts, &r.n, root, index, error);
  if (status == SITU_STATUS_OK) status = read_parts(model, &r, folder, o, error);
  for (int32_t k = 0; k < r.n; k++) situ_model_free(r.models[k]);
  text_free(&r.notes);
  json_free(root);
  return status;
}

situ_status situ_model_read(situ_model **out, const char *path, const situ_read_options *options, situ_error *error) {
  char room[4096], folder[4096];
  situ_read_options filled;
  if (out) *out = NULL;
  TRY(GIVEN(error, out, path));
  TRY(TAKE(filled, options, SITU_READ_OPTIONS_INIT, error));
  TRY(read_check_dims(&filled, error));
  TRY(read_recompute(&(recompute_choice){0}, &filled, error));
  situ_model *model = calloc(1, sizeof *model);
  if (!model) return fail_no_memory(error);
  situ_status status = SITU_STATUS_OK;
  if (strncmp(path, builtin_prefix, sizeof builtin_prefix - 1) == 0) {
    model->hash = hash_bytes(path, strlen(path), 0);
    status = read_source_with(model, &(read_source){.path = path, .options = &filled}, error);
  } else {
    path = within_folder(path, room, sizeof room);
  }
  if (is_pipeline(folder, path)) {
    status = read_pipeline(model, folder, path, &filled, error);
  } else if (strncmp(path, builtin_prefix, sizeof builtin_prefix - 1) != 0) {
    file_view view;
    status = file_begin(&view, path, error);
    if (status == SITU_STATUS_IO && os_look(path).kind == OS_ABSENT && builtin_lacks_prefix(path))
      status =
          fail_with(error, SITU_STATUS_IO, path, "there is no such file; the built-in network is builtin:%s", path);
    if (status == SITU_STATUS_IO && file_is_folder(path))
      status = fail_with(error, SITU_STATUS_IO, path,
                         "is a folder without model.safetensors, model.onnx, openvino_model.xml or model.tflite; name "
                         "the model's file");
    if (status == SITU_STATUS_OK && view.size_bytes == 0)
      status = fail_with(error, SITU_STATUS_BAD_INPUT, path, "is empty; expected a model");
    if (status == SITU_STATUS_OK && filled.max_file_bytes > 0 && view.size_bytes > (size_t)filled.max_file_bytes)
      status = fail_with(error, SITU_STATUS_BAD_INPUT, path, "has %zu bytes; at most %lld are allowed", view.size_bytes,
                         (long long)filled.max_file_bytes);
    if (status == SITU_STATUS_OK) {
      read_source source = {
          .path = path, .bytes = view.bytes, .size_bytes = view.size_bytes, .view = &view, .options = &filled};
      status = read_source_with(model, &source, error);
      if (status == SITU_STATUS_OK) status = hash_file(model, &view, path, error);
    }
    file_close(&view);
  }
  if (status == SITU_STATUS_OK && filled.precision && model->costs)
    status = fail_with(error, SITU_STATUS_BAD_ARGUMENT, path, "has its own times, which apply to one precision");
  if (status == SITU_STATUS_OK && filled.training) status = read_make_training(model, path, &filled, error);
  if (status != SITU_STATUS_OK) {
    situ_model_free(model);
    return status;
  }
  tell((log_to){filled.log, filled.log_context}, model->notes);
  *out = model;
  return SITU_STATUS_OK;
}

const situ_graph *situ_model_graph(const situ_model *m) { return m ? m->graph : NULL; }
const situ_platform *situ_model_platform(const situ_model *m) { return m ? m->platform : NULL; }
const situ_costs *situ_model_costs(const situ_model *m) { return m ? m->costs : NULL; }
bool situ_model_assumed_dim(const situ_model *m, int32_t index, situ_dim *out) {
  if (!m || !out || index < 0 || index >= m->n_dims) return false;
  *out = m->dims[index];
  return true;
}

int32_t situ_reader_count(void) { return (int32_t)(sizeof readers / sizeof readers[0]) - 1; }

bool situ_reader_at(int32_t index, situ_reader_info *out) {
  if (index < 0 || index >= situ_reader_count()) return false;
  const reader *r = readers[index];
  situ_reader_info info = {.name = r->name, .title = r->title, .suffixes = r->suffixes};
  return GIVE(out, info);
}

void situ_model_free(situ_model *model) {
  if (!model) return;
  situ_graph_free(model->graph);
  situ_graph_free(model->steps.other);
  situ_platform_free(model->platform);
  situ_costs_free(model->costs);
  free(model->measured_ns);
  free((void *)(uintptr_t)model->notes);
  free(model->dims);
  free(model);
}

bool situ_model_get_summary(const situ_model *m, situ_model_summary *out) {
  if (!m) return false;
  situ_model_summary summary = {.reader = m->reader,
                                .notes = m->notes,
                                .hash = m->hash,
                                .n_nested_operators = m->n_nested_operators,
                                .n_assumed_dims = m->n_dims};
  return GIVE(out, summary);
}
