/* Sizes for the dimensions that a model leaves open and the caller does not give.
 *
 * One is right for a batch, and for a decoder's next token. A picture of one pixel, or a recording of one sample, is
 * not: windows do not fit, and all costs are those of launches. So sides of pictures get a usual size, and where some
 * operator does not fit, larger ones are tried, also for the lengths of other inputs. */
#include "read/assume.h"

#include <stdlib.h>
#include <string.h>

#include "base/ascii.h"
#include "base/fail.h"
#include "base/near_name.h"
#include "graph/builder.h"
#include "graph/graph.h"

enum { SIDE = 1, LENGTH = 2 };

/* In the order in which they are tried until all operators fit. A later one is tried where it changes what the model
 * has: sides of pictures, or lengths. 224 is a picture of ImageNet, 48 a line of text; multiples of 32 suit detectors.
 * Where none fits
 * all dimensions count as one. */
static const struct assumption {
  int64_t side, length;
  int changes;
} assumptions[] = {{224, 1, SIDE | LENGTH}, {320, 1, SIDE},       {640, 1, SIDE},       {48, 1, SIDE},
                   {224, 512, LENGTH},      {224, 16000, LENGTH}, {1, 1, SIDE | LENGTH}};

int32_t assume_next(int32_t at, int kinds) {
  int32_t n = (int32_t)(sizeof assumptions / sizeof *assumptions);
  for (at++; at < n; at++)
    if (assumptions[at].changes & kinds) return at;
  return -1;
}

/* The first of the two sides of a picture: a tensor of rank 4 with one to four channels, before or behind the sides. */
static int32_t first_side(const assume_input *in) {
  bool numbers = in->dtype == SITU_DTYPE_F32 || in->dtype == SITU_DTYPE_F16 || in->dtype == SITU_DTYPE_U8;
  if (in->rank != 4 || !numbers) return -1;
  if (in->dims[1] >= 1 && in->dims[1] <= 4) return 2;
  return in->dims[3] >= 1 && in->dims[3] <= 4 ? 1 : -1;
}

static bool names_batch(const char *name) {
  static const char batch[] = "batch";
  for (size_t i = 0; i < sizeof batch - 1; i++)
    if (!name || ascii_lower(name[i]) != batch[i]) return false;
  return true;
}

int64_t assume_size(const assume_input *in, int32_t d, const char *name, int32_t at, int *kinds) {
  const struct assumption *a = &assumptions[at];
  int32_t side = first_side(in);
  if (side >= 0 && d != side && d != side + 1) return 1;
  if (side >= 0) {
    int64_t other = in->dims[d == side ? side + 1 : side];
    if (other >= 0) return other > 0 ? other : 1;
    *kinds |= SIDE;
    return a->side;
  }
  bool real = in->dtype == SITU_DTYPE_F32 || in->dtype == SITU_DTYPE_F16;
  if (!in->first || !real || in->rank > 3 || (d == 0 && in->rank > 1) || names_batch(name)) return 1;
  *kinds |= LENGTH;
  return a->length;
}

/* Whether the name of a dimension says that it is a length. */
static bool names_length(const char *name) {
  static const char *const words[] = {"seq",   "len",    "time",  "past",   "token",
                                      "frame", "sample", "point", "height", "width"};
  for (size_t i = 0; name && i < sizeof words / sizeof *words; i++) {
    size_t n = strlen(words[i]);
    for (const char *at = name; *at; at++) {
      size_t same = 0;
      while (same < n && ascii_lower(at[same]) == words[i][same]) same++;
      if (same == n) return true;
    }
  }
  return false;
}

bool assume_is_batch(const assume_input *in, int32_t d, const char *name) {
  return names_batch(name) || (d == 0 && in->rank > 1 && !names_length(name));
}

situ_status assume_state(situ_graph_builder *b, const assumed *sizes, const situ_read_options *options,
                         const string_map *asked, situ_error *error) {
  for (const assumed *s = sizes; s && options->default_dim < 1; s = s->next)
    if (!s->of_batch) TRY(builder_add_guess(b, SITU_GUESS_SIZE, s->dim.name, GUESS_OF_ALL, error));
  for (const char *const *name = options->assumed; name && *name; name++)
    if (string_map_get(asked, *name) >= 0) TRY(builder_add_guess(b, SITU_GUESS_SIZE, *name, GUESS_OF_ALL, error));
  return SITU_STATUS_OK;
}

situ_status assume_given(string_map **out, const situ_read_options *options, arena *a, situ_error *error) {
  *out = string_map_new(a, 16);
  if (!*out) return fail_no_memory(error);
  for (int32_t i = 0; i < options->n_dims; i++) {
    const situ_dim *dim = &options->dims[i];
    if (dim->value < 0)
      return fail_with(error, SITU_STATUS_BAD_ARGUMENT, dim->name, "has size %lld; a dimension is at least 0",
                       (long long)dim->value);
    if (string_map_set(*out, dim->name, dim->value) < 0) return fail_no_memory(error);
  }
  return SITU_STATUS_OK;
}

situ_status assume_refuse_unknown(const situ_read_options *options, const string_map *asked, const char *const *names,
                                  const char *path, situ_error *error) {
  char near[256];
  int32_t n = string_map_count(asked) < ASSUME_NAMES ? (int32_t)string_map_count(asked) : ASSUME_NAMES;
  for (int32_t i = 0; i < options->n_dims; i++) {
    const char *name = options->dims[i].name;
    if (string_map_get(asked, name) >= 0) continue;
    return fail_with(error, SITU_STATUS_BAD_ARGUMENT, path, "has no dynamic dimension %s; %s", name,
                     n ? near_names(near, sizeof near, name, names, n) : "all its sizes are fixed");
  }
  return SITU_STATUS_OK;
}

situ_status assume_keep(read_result *result, const assumed *sizes, const situ_read_options *options,
                        situ_error *error) {
  size_t bytes = 0;
  int32_t n = 0;
  for (const assumed *s = sizes; s && options->default_dim < 1; s = s->next)
    if (s->dim.value != 1) n++, bytes += sizeof s->dim + strlen(s->dim.name) + 1;
  if (n == 0) return SITU_STATUS_OK;
  result->dims = malloc(bytes);
  if (!result->dims) return fail_no_memory(error);
  result->n_dims = n;
  char *text = (char *)(result->dims + n);
  for (const assumed *s = sizes; s; s = s->next) {
    if (s->dim.value == 1) continue;
    result->dims[--n] = (situ_dim){strcpy(text, s->dim.name), s->dim.value};
    text += strlen(text) + 1;
  }
  return SITU_STATUS_OK;
}
