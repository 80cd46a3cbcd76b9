#include "read/module_net.h"

#include <stdio.h>
#include <string.h>

#include "base/c_locale.h"
#include "base/checked.h"
#include "base/fail.h"
#include "read/quantisers.h"

enum { MAX_SIZE = 1 << 20, USUAL_SIDE = 224 };

/* Buffers that no operator has to read, or that only training does. */
static bool is_buffer(const char *name) {
  return lm_has_word(name, " position_ids num_batches_tracked relative_position_index inv_freq bn_tracked ");
}

/* Remembers every path that begins the name. */
static situ_status add_folders(module_net *m, const char *name, situ_error *error) {
  for (const char *dot = strchr(name, '.'); dot; dot = strchr(dot + 1, '.')) {
    char *folder = arena_string_n(m->a, name, (size_t)(dot - name));
    if (!folder || string_map_put(m->folders, folder, 1) < 0) return fail_no_memory(error);
  }
  return SITU_STATUS_OK;
}

/* A weight in two parts, its direction and its length. */
static bool cut_normalised(char *name, bool *companion) {
  static const char *const ends[] = {".parametrizations.weight.original1", ".weight_v",
                                     ".parametrizations.weight.original0", ".weight_g"};
  size_t n = strlen(name);
  for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
    size_t length = strlen(ends[i]);
    if (n <= length || strcmp(name + n - length, ends[i]) != 0) continue;
    name[n - length] = '\0';
    *companion = i >= 2;
    return true;
  }
  return false;
}

static situ_status add_tensor(module_net *m, const lm_tensor *t, situ_error *error) {
  bool companion, cut;
  char *name = arena_string(m->a, t->name);
  if (!name) return fail_no_memory(error);
  cut = cut_normalised(name, &companion) || quantisers_cut(name, &companion);
  bool bias = companion && strcmp(t->name + strlen(name), ".bias") == 0;
  if (companion && !bias && strcmp(t->name + strlen(name), "_bias") == 0) { /* a parameter of its own: in_proj_bias */
    strcpy(name, t->name);
    cut = companion = false;
  }
  int64_t at = string_map_put(m->by_name, name, m->n);
  if (at < 0) return fail_no_memory(error);
  module *made = &m->all[at];
  if (at == m->n) {
    m->n++;
    *made = (module){.name = name};
    TRY(add_folders(m, name, error));
  }
  if (bias)
    made->bias = t;
  else if (companion)
    made->more_bytes = sat_add(made->more_bytes, t->bytes);
  else if (!made->weight || cut)
    made->weight = t;
  return SITU_STATUS_OK;
}

situ_status module_net_init(module_net *m, net *n, const lm *file, arena *a, situ_error *error) {
  m->net = n;
  m->a = a;
  m->all = ARENA_NEW(a, module, file->n_tensors);
  m->by_name = string_map_new(a, file->n_tensors);
  m->folders = string_map_new(a, file->n_tensors);
  if (!m->all || !m->by_name || !m->folders) return fail_no_memory(error);
  for (int32_t i = 0; i < file->n_tensors; i++) {
    const lm_tensor *t = &file->tensors[i];
    for (int32_t d = 0; d < t->rank; d++)
      if (t->dims[d] > INT32_MAX) /* so that no small multiple overflows */
        return fail_with(error, SITU_STATUS_UNSUPPORTED, m->source->path, "has %.100s with a dimension of %lld",
                         t->name, (long long)t->dims[d]);
    if (!is_buffer(t->name)) TRY(add_tensor(m, t, error));
  }
  return SITU_STATUS_OK;
}

/* ---- where ---- */

void module_enter(module_net *m, const char *format, ...) {
  char step[MODULE_PATH] = "";
  va_list arguments;
  va_start(arguments, format);
  int length = c_locale_vprint(step, sizeof step, format, arguments);
  va_end(arguments);
  size_t at = m->path_ends[m->depth];
  bool fits = length >= 0 && at + (size_t)length + 2 < sizeof m->path && m->depth < MODULE_DEPTH;
  if (!fits) {
    net_refuse(m->net, "names of modules are too long");
    return;
  }
  size_t dot = at > 0 && length > 0;
  snprintf(m->path + at, sizeof m->path - at, "%s%s", dot ? "." : "", step);
  m->path_ends[++m->depth] = at + dot + (size_t)length;
}

void module_leave(module_net *m) {
  if (m->depth == 0) return;
  m->path[m->path_ends[--m->depth]] = '\0';
}

__attribute__((format(printf, 3, 0))) static const char *put_together(module_net *m, const char *path,
                                                                      const char *format, va_list arguments) {
  char text[2 * MODULE_PATH];
  size_t at = (size_t)snprintf(text, sizeof text, "%s%s", path, *path ? "." : "");
  c_locale_vprint(text + at, sizeof text - at, format, arguments);
  const char *kept = arena_string(m->a, text);
  if (!kept) net_no_memory(m->net);
  return kept ? kept : "";
}

const char *module_text(module_net *m, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const char *text = put_together(m, "", format, arguments);
  va_end(arguments);
  return text;
}

const char *module_name(module_net *m, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const char *name = put_together(m, m->path, format, arguments);
  va_end(arguments);
  return name;
}

/* Writes the path of the first `n` bytes of `names` below the place where we are. */
static bool full_name(const module_net *m, char *into, const char *names, size_t n) {
  size_t at = m->path_ends[m->depth];
  int length = snprintf(into, MODULE_PATH, "%s%s%.*s", m->path, at > 0 && n > 0 ? "." : "", (int)n, names);
  return length >= 0 && length < MODULE_PATH;
}

/* The number of the first of the names that is there, or -1. */
static int64_t find(const module_net *m, const string_map *map, const char *names, const char **found, size_t *length) {
  char full[MODULE_PATH];
  do {
    size_t n = strcspn(names, "|");
    int64_t at = full_name(m, full, names, n) ? string_map_get(map, full) : -1;
    if (at >= 0) {
      *found = names;
      *length = n;
      return at;
    }
    names += n + (names[n] == '|');
  } while (*names);
  return -1;
}

bool module_has(const module_net *m, const char *names) {
  const char *found;
  size_t n;
  return find(m, m->by_name, names, &found, &n) >= 0;
}

const char *module_folder(const module_net *m, const char *paths) {
  const char *found;
  size_t n;
  return find(m, m->folders, paths, &found, &n) >= 0 ? arena_string_n(m->a, found, n) : NULL;
}

bool module_has_folder(const module_net *m, const char *path) { return module_folder(m, path) != NULL; }

const char *module_prefix(const module_net *m, const char *names) {
  while (*names) {
    size_t n = strcspn(names, "|");
    for (int32_t i = 0; i < m->n; i++) {
      size_t length = strlen(m->all[i].name);
      const char *end = m->all[i].name + length - n;
      if (length < n || strncmp(end, names, n) != 0 || (length > n && end[-1] != '.')) continue;
      return arena_string_n(m->a, m->all[i].name, length > n ? length - n - 1 : 0);
    }
    names += n + (names[n] == '|');
  }
  return NULL;
}

int64_t module_dim_of(const module_net *m, const char *names, int32_t axis) {
  const char *found;
  size_t n;
  int64_t at = find(m, m->by_name, names, &found, &n);
  const lm_tensor *t = at >= 0 ? m->all[at].weight : NULL;
  if (t && axis < 0) axis += t->rank;
  return t && axis >= 0 && axis < t->rank ? t->dims[axis] : 0;
}

/* ---- what the configuration says ---- */

static int64_t number(const json_value *v, int64_t default_value) {
  int64_t n = json_int(v, -1);
  return n >= 0 && n <= 1 << 28 ? n : default_value;
}

int64_t module_config(const module_net *m, const char *key, int64_t default_value) {
  return number(json_get(m->config, key), default_value);
}

int64_t module_config_at(const module_net *m, const char *key, int64_t index, int64_t default_value) {
  const json_value *v = json_get(m->config, key);
  return number(json_kind_of(v) == JSON_ARRAY_KIND ? json_at(v, (size_t)index) : v, default_value);
}

int64_t module_input_dim(module_net *m, const char *name, int64_t usual, int64_t assumed) {
  int64_t size = 0;
  for (int32_t i = 0; i < m->n_dims; i++)
    if (strcmp(m->dims[i].name, name) == 0) return m->dims[i].size;
  const situ_read_options *o = m->source->options;
  for (int32_t i = 0; i < o->n_dims; i++)
    if (strcmp(o->dims[i].name, name) == 0) size = o->dims[i].value;
  bool given = size > 0;
  if (size > MAX_SIZE) net_refuse(m->net, "%s=%lld is too large", name, (long long)size);
  if (!given) size = usual > 0 ? usual : assumed;
  if (!given && usual <= 0) net_guess(m->net, SITU_GUESS_SIZE, name);
  if (m->n_dims < MODULE_DIMS) m->dims[m->n_dims++] = (module_dim){name, size};
  return size;
}

/* A side of the pictures that the processor makes: {"height": 224, "width": 224}, 224, {"shortest_edge": 224}. */
static int64_t side_of(const json_value *size, const char *side) {
  if (json_kind_of(size) != JSON_OBJECT_KIND) return number(size, 0);
  return number(json_get(size, side), number(json_get(size, "shortest_edge"), 0));
}

/* *fixed: every picture has it, not only its shorter side. */
static int64_t picture_side(const module_net *m, const char *key, const char *side, int32_t axis, bool *fixed) {
  const json_value *p = m->processor;
  const json_value *timm = json_get(json_get(m->config, "pretrained_cfg"), "input_size");
  bool crops = json_bool(json_get(p, "do_center_crop"), true), resizes = json_bool(json_get(p, "do_resize"), true);
  int64_t size = crops ? side_of(json_get(p, "crop_size"), side) : 0;
  *fixed = true;
  if (size <= 0 && resizes) {
    size = side_of(json_get(p, "size"), side);
    *fixed = size <= 0 || !json_get(json_get(p, "size"), "shortest_edge");
  }
  if (size <= 0) size = module_config_at(m, key, axis, 0);
  return size > 0 ? size : number(json_at(timm, (size_t)axis + 1), 0);
}

net_value module_picture(module_net *m, int64_t channels, const char *key, int64_t step) {
  bool fixed[2];
  int64_t sides[2] = {picture_side(m, key, "height", 0, &fixed[0]), picture_side(m, key, "width", 1, &fixed[1])};
  for (int32_t i = 0; i < 2; i++) {
    int64_t assumed = sides[i] > 0 ? sides[i] : USUAL_SIDE;
    sides[i] = module_input_dim(m, i ? "width" : "height", fixed[i] ? sides[i] : 0, assumed);
  }
  int64_t height = sides[0], width = sides[1];
  if (step > 1) height = (height + step - 1) / step * step;
  if (step > 1) width = (width + step - 1) / step * step;
  return net_input(m->net, NET_SHAPE(m->batch, channels, height, width));
}
