/* The table of built-in models, and the reader that makes them. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arguments.h"
#include "base/near_name.h"
#include "read/builtin.h"
#include "read/reader.h"

/* Images, text, sound, and the made-up one. */
#define ADDRESS(NAME) &builtin_##NAME,
const builtin *const builtins[] = {BUILTIN_ROWS(ADDRESS) NULL};

static const char prefix[] = "builtin:";

static const builtin *find(const char *name, size_t length) {
  for (const builtin *const *b = builtins; *b; b++)
    if (strlen((*b)->name) == length && memcmp((*b)->name, name, length) == 0) return *b;
  return NULL;
}

bool builtin_lacks_prefix(const char *text) { return find(text, strcspn(text, "?")) != NULL; }

static situ_status refuse_name(const char *path, const char *name, size_t length, situ_error *error) {
  const char *names[sizeof builtins / sizeof builtins[0]];
  int32_t n = 0;
  for (; builtins[n]; n++) names[n] = builtins[n]->name;
  char word[64], near[256];
  snprintf(word, sizeof word, "%.*s", (int)(length < sizeof word ? length : sizeof word - 1), name);
  return fail_with(error, SITU_STATUS_BAD_INPUT, path, "there is no built-in model of this name; %s",
                   near_names(near, sizeof near, word, names, n));
}

/* Whether a parameter has two values, and none between. */
static bool ends_only(const builtin_parameter *p) { return strcmp(p->name, "bits") == 0; }

/* Refuses a setting, with the list of those that there are. */
static situ_status refuse(const builtin *b, const char *path, const char *what, size_t length, situ_error *error) {
  text_buffer list = {0};
  for (const builtin_parameter *p = b->parameters; p->name; p++)
    text_add(&list, "%s%s=%lld%s%lld", list.length ? ", " : "", p->name, (long long)p->min,
             ends_only(p) ? " or " : "..", (long long)p->max);
  char *taken = text_take(&list);
  if (!taken) return fail_no_memory(error);
  situ_status status = fail_with(error, SITU_STATUS_BAD_INPUT, path,
                                 "'%.*s' is not a parameter with an integer value in range; %s has %s",
                                 (int)(length < 80 ? length : 80), what, b->name, taken);
  free(taken);
  return status;
}

/* Reads one "key=value" of `length` bytes. */
static bool set_value(const builtin *b, int64_t *values, const char *setting, size_t length) {
  const char *equals = memchr(setting, '=', length);
  if (!equals) return false;
  size_t key = (size_t)(equals - setting), digits = length - key - 1;
  char number[24];
  if (digits == 0 || digits >= sizeof number || strspn(equals + 1, "0123456789") < digits) return false;
  memcpy(number, equals + 1, digits);
  number[digits] = '\0';
  errno = 0;
  long long value = strtoll(number, NULL, 10);
  for (const builtin_parameter *p = b->parameters; p->name; p++) {
    if (strlen(p->name) != key || memcmp(p->name, setting, key) != 0) continue;
    values[p - b->parameters] = value;
    bool within = value >= p->min && value <= p->max, between = value > p->min && value < p->max;
    return errno == 0 && within && !(ends_only(p) && between);
  }
  return false;
}

static situ_status read_values(const builtin *b, int64_t *values, const char *path, const char *settings,
                               situ_error *error) {
  for (const builtin_parameter *p = b->parameters; p->name; p++) values[p - b->parameters] = p->default_value;
  while (*settings) {
    size_t length = strcspn(settings, "&");
    if (!set_value(b, values, settings, length)) return refuse(b, path, settings, length, error);
    settings += length;
    if (*settings == '&') settings++;
  }
  return SITU_STATUS_OK;
}

situ_status builtin_generate(situ_graph **out, const char *path, situ_dtype precision, int64_t *parameters,
                             situ_error *error) {
  *out = NULL;
  if (strncmp(path, prefix, sizeof prefix - 1) != 0)
    return fail_with(error, SITU_STATUS_BAD_ARGUMENT, path, "expected the form builtin:NAME?key=value&...");
  const char *name = path + sizeof prefix - 1;
  size_t length = strcspn(name, "?");
  const builtin *b = find(name, length);
  int64_t values[BUILTIN_MAX_PARAMETERS];
  net *n;
  if (!b) return refuse_name(path, name, length, error);
  TRY(read_values(b, values, path, name + length + (name[length] == '?'), error));
  TRY(net_new(&n, b->name, precision, error));
  b->generate(n, values);
  if (parameters) *parameters = net_parameters(n);
  situ_status status = net_finish(n, out, error);
  if (status != SITU_STATUS_OK && error && error->where[0] == '\0')
    snprintf(error->where, sizeof error->where, "%.255s", path);
  net_free(n);
  return status;
}

static bool counts_tokens(const char *path) {
  const char *name = path + sizeof prefix - 1;
  const builtin *b = find(name, strcspn(name, "?"));
  for (const builtin_parameter *p = b ? b->parameters : NULL; p && p->name; p++)
    if (strcmp(p->name, "tokens") == 0) return true;
  return !b; /* an unknown name is refused as such */
}

/* Writes the load of a language model as parameters: a prompt is that many tokens with an empty cache, a context one
 * token after that many. */
static situ_status add_load(text_buffer *to, const read_source *source, situ_error *error) {
  const situ_read_options *o = source->options;
  const char *separator = strchr(source->path, '?') ? "&" : "?";
  if (o->generate || o->draft || o->acceptance > 0 || o->kv_type || (o->prompt && o->context))
    return fail_with(
        error, SITU_STATUS_BAD_ARGUMENT, source->path,
        "is a single step; requests, tokens to generate, drafts and cache types need the file of a language model");
  if ((o->prompt || o->context) && !counts_tokens(source->path))
    return fail_with(error, SITU_STATUS_BAD_ARGUMENT, source->path,
                     "has no tokens to count; prompt and context are for builtin:llama, builtin:moe and files of "
                     "language models");
  text_add(to, "%s", source->path);
  if (o->prompt) text_add(to, "%stokens=%lld", separator, (long long)o->prompt);
  if (o->context) text_add(to, "%stokens=1&context=%lld", separator, (long long)o->context);
  if (o->batch) text_add(to, "%sbatch=%lld", o->prompt || o->context ? "&" : separator, (long long)o->batch);
  return SITU_STATUS_OK;
}

static situ_status read_builtin(read_result *result, const read_source *source, situ_error *error) {
  text_buffer path = {0};
  TRY(add_load(&path, source, error));
  char *whole = text_take(&path);
  if (!whole) return fail_no_memory(error);
  situ_status status = builtin_generate(&result->graph, whole, read_precision(source->options->precision), NULL, error);
  free(whole);
  return status;
}

const reader builtin_reader = {.name = "builtin",
                               .title = "generated networks (builtin:NAME)",
                               .suffixes = "",
                               .takes_load = true,
                               .read = read_builtin};

int32_t situ_builtin_count(void) { return (int32_t)(sizeof builtins / sizeof builtins[0]) - 1; }

bool situ_builtin_at(int32_t index, situ_builtin_info *out) {
  if (index < 0 || index >= situ_builtin_count()) return false;
  const builtin *b = builtins[index];
  situ_builtin_info info = {.name = b->name, .title = b->title, .source = b->source};
  size_t length = 0;
  for (const builtin_parameter *p = b->parameters; p->name && length < sizeof info.parameters; p++)
    length += (size_t)snprintf(info.parameters + length, sizeof info.parameters - length, "%s%s=%lld",
                               length ? " " : "", p->name, (long long)p->default_value);
  return GIVE(out, info);
}

bool situ_builtin_parameter_at(int32_t index, int32_t parameter, situ_builtin_parameter *out) {
  if (index < 0 || index >= situ_builtin_count() || parameter < 0) return false;
  const builtin_parameter *p = builtins[index]->parameters;
  for (int32_t i = 0; i < parameter && p->name; i++) p++;
  if (!p->name) return false;
  situ_builtin_parameter about = {
      .name = p->name, .about = p->about, .default_value = p->default_value, .min = p->min, .max = p->max};
  return GIVE(out, about);
}
