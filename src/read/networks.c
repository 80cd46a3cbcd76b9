/* The table of families, and the reading of a file as one of them. */
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/near_name.h"
#include "read/network.h"

#define ADDRESS(NAME) &network_##NAME,
static const network *const networks[] = {NETWORK_ROWS(ADDRESS) NULL};

enum { NAMED = 3, MAX_BATCH = 1 << 20 };

static bool is_listed(const char *list, const char *word, size_t n) {
  for (const char *at = list; (at = strchr(at, ' ')) && at[1]; at++)
    if (strncmp(at + 1, word, n) == 0 && at[1 + n] == ' ') return true;
  return false;
}

const network *network_find(const json_value *config) {
  const char *keys[] = {"model_type", "_class_name", "architecture"};
  for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) {
    const char *type = json_text(json_get(config, keys[k]), NULL);
    if (!type || !*type) continue;
    size_t n = k == 2 ? strcspn(type, "_.") : strlen(type);
    for (const network *const *f = networks; *f; f++)
      if (is_listed((*f)->types, type, n)) return *f;
    return NULL;
  }
  return NULL;
}

/* Whether the module of a weight ends in one of the names. */
static bool ends_in_one(const char *weight, const char *names) {
  static const char end[] = ".weight";
  size_t length = strlen(weight);
  if (length < sizeof end || strcmp(weight + length - (sizeof end - 1), end) != 0) return false;
  length -= sizeof end - 1;
  for (const char *at = names; *at;) {
    size_t n = strcspn(at, "|");
    bool same = length >= n && strncmp(weight + length - n, at, n) == 0;
    if (same && (length == n || weight[length - n - 1] == '.')) return true;
    at += n + (at[n] == '|');
  }
  return false;
}

const network *network_like(const lm *file) {
  for (const network *const *f = networks; *f; f++)
    for (int32_t i = 0; (*f)->marks && i < file->n_tensors; i++)
      if (ends_in_one(file->tensors[i].name, (*f)->marks)) return *f;
  return NULL;
}

/* The type of the largest part of weights: that in which the network computes. */
static situ_dtype usual_type(const lm *file) {
  static const situ_dtype types[] = {SITU_DTYPE_BF16, SITU_DTYPE_F16, SITU_DTYPE_F32};
  int64_t bytes[3] = {0}, largest = 0;
  for (int32_t i = 0; i < file->n_tensors; i++)
    for (int32_t k = 0; k < 3; k++)
      if (file->tensors[i].dtype == types[k]) bytes[k] += file->tensors[i].bytes / 4;
  for (int32_t k = 1; k < 3; k++)
    if (bytes[k] > bytes[largest]) largest = k;
  return types[largest];
}

/* What no operator reads: then the network is another. */
static situ_status check_used(const module_net *m, const network *family, const char *architecture, situ_error *error) {
  text_buffer left = {0};
  int64_t n = 0;
  for (int32_t i = 0; i < m->n; i++) {
    if (m->all[i].used || lm_has_word(m->all[i].name, " mask_token masked_spec_embed ")) continue; /* of training */
    if (n++ < NAMED) text_add(&left, "%s%.80s", n > 1 ? ", " : "", m->all[i].name);
  }
  situ_status status = SITU_STATUS_OK;
  if (n > NAMED) text_add(&left, " and %lld more", (long long)n - NAMED);
  if (n > 0 && left.failed)
    status = fail_no_memory(error);
  else if (n > 0)
    status = fail_with(error, SITU_STATUS_UNSUPPORTED, m->source->path,
                       "is no network that situ knows (architecture %.60s): as %s it has weights without a role: %s",
                       architecture, family->title, left.bytes);
  text_free(&left);
  return status;
}

/* Options that say nothing of such a network. */
static situ_status check_options(const read_source *source, const network *family, situ_error *error) {
  const situ_read_options *o = source->options;
  if (o->prompt || o->context || o->generate || o->draft || o->acceptance > 0 || o->kv_type)
    return fail_with(error, SITU_STATUS_BAD_ARGUMENT, source->path,
                     "is %s, which generates no text; expected only batch and sizes of its input (--dim)",
                     family->title);
  if (o->batch > MAX_BATCH)
    return fail_with(error, SITU_STATUS_BAD_ARGUMENT, source->path, "takes at most %d inputs at once", MAX_BATCH);
  return SITU_STATUS_OK;
}

static situ_status check_dims(const module_net *m, situ_error *error) {
  const situ_read_options *o = m->source->options;
  const char *names[MODULE_DIMS];
  char near[256];
  for (int32_t k = 0; k < m->n_dims; k++) names[k] = m->dims[k].name;
  for (int32_t i = 0; i < o->n_dims; i++) {
    bool known = false;
    for (int32_t k = 0; k < m->n_dims; k++) known |= strcmp(o->dims[i].name, names[k]) == 0;
    if (!known)
      return fail_with(error, SITU_STATUS_BAD_ARGUMENT, m->source->path, "has no input dimension %s; %s",
                       o->dims[i].name, near_names(near, sizeof near, o->dims[i].name, names, m->n_dims));
  }
  return SITU_STATUS_OK;
}

static void tell(read_result *result, const module_net *m, const network *family, const char *architecture,
                 bool named) {
  text_add(&result->notes, "architecture %.60s: %s;", architecture, family->title);
  for (int32_t k = 0; k < m->n_dims; k++)
    text_add(&result->notes, "%s %s %lld", k ? "," : " input of", m->dims[k].name, (long long)m->dims[k].size);
  text_add(&result->notes, "%s\n", m->n_dims > 0 ? " (set them with --dim)" : "");
  if (!named) text_add(&result->notes, "its architecture is in no list: the order of its modules is guessed\n");
}

/* Says what is missing where the generator found out. */
static situ_status explain(const module_net *m, const network *family, const char *architecture, situ_status status,
                           situ_error *error) {
  if (status == SITU_STATUS_OK || status == SITU_STATUS_NO_MEMORY) return status;
  const char *path = m->source->path;
  if (m->lacks[0]) {
    size_t n = strcspn(m->lacks, "|"), other = n + (m->lacks[n] == '|'); /* one of its names, and another */
    return fail_with(error, SITU_STATUS_UNSUPPORTED, path,
                     "is no network that situ knows (architecture %.60s): as %s it lacks %.*s%s%.*s", architecture,
                     family->title, (int)n, m->lacks, other > n ? " or " : "", (int)strcspn(m->lacks + other, "|"),
                     m->lacks + other);
  }
  char why[200], where[128];
  snprintf(why, sizeof why, "%.199s", error ? error->text : "");
  snprintf(where, sizeof where, "%.127s", error ? error->where : "");
  return fail_with(error, SITU_STATUS_UNSUPPORTED, path,
                   "is no network that situ knows (architecture %.60s): as %s %s%s%.200s", architecture, family->title,
                   where, *where ? ": " : "it ", why);
}

situ_status network_read(read_result *result, const network *family, const lm *file, const json_value *config,
                         const read_source *source, bool named, situ_error *error) {
  net *n;
  json_value *processor = NULL;
  module_net m = {.source = source, .config = config};
  const char *architecture = json_text(json_get(config, "model_type"), file->architecture); /* of all its parts */
  TRY(check_options(source, family, error));
  TRY(net_new(&n, file->model, read_precision(source->options->precision), error));
  char *folder = file_folder(file->arena, source->path), path[4096];
  int length = folder ? snprintf(path, sizeof path, "%spreprocessor_config.json", folder) : -1;
  situ_status status = folder ? SITU_STATUS_OK : fail_no_memory(error);
  if (status == SITU_STATUS_OK && length > 0 && length < (int)sizeof path && file_exists(path))
    status = json_read(&processor, path, error);
  if (status == SITU_STATUS_OK) status = module_net_init(&m, n, file, file->arena, error);
  if (status == SITU_STATUS_OK) {
    m.processor = processor;
    m.batch = source->options->batch > 0 ? source->options->batch : 1;
    net_set_dtype(n, usual_type(file));
    if (!named) net_guess(n, SITU_GUESS_STRUCTURE, "order of modules");
    family->generate(&m);
    status = explain(&m, family, architecture, net_finish(n, &result->graph, error), error);
  }
  if (status == SITU_STATUS_OK) status = check_used(&m, family, architecture, error);
  if (status == SITU_STATUS_OK) status = check_dims(&m, error);
  if (status != SITU_STATUS_OK) {
    situ_graph_free(result->graph);
    result->graph = NULL;
  }
  if (status == SITU_STATUS_OK) tell(result, &m, family, architecture, named);
  net_free(n);
  json_free(processor);
  return status;
}
