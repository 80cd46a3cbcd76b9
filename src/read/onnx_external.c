/* External data: where they lie, whether they may, and the few that are read. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/file.h"
#include "base/os.h"
#include "read/onnx_model.h"

/* A file that contains weights, examined once. */
typedef struct data_file {
  const char *location;
  char *path;           /* in the arena */
  long long size_bytes; /* -1: absent */
  file_view view;       /* opened when first read */
} data_file;

typedef struct finding {
  arena *a;
  const char *path, *folder;
  char *real_folder; /* free it; NULL when the folder cannot be resolved */
  string_map *by_location;
  data_file *files;
  int64_t n_files;
  situ_error *error;
} finding;

/* Whether a path is relative and never climbs. Both slashes separate: files travel between systems. */
static bool stays_below(const char *location) {
  if (!*location || *location == '/' || *location == '\\' || (location[1] == ':')) return false;
  while (*location) {
    size_t n = strcspn(location, "/\\");
    if (n == 2 && location[0] == '.' && location[1] == '.') return false;
    location += n;
    location += *location != '\0';
  }
  return true;
}

static situ_status look_at(finding *f, data_file *d, const char *location) {
  size_t folder_length = strlen(f->folder), length = strlen(location);
  d->location = location;
  d->path = ARENA_NEW(f->a, char, (int64_t)(folder_length + length + 1));
  if (!d->path) return fail_no_memory(f->error);
  memcpy(d->path, f->folder, folder_length);
  memcpy(d->path + folder_length, location, length + 1);
  d->size_bytes = file_size(d->path);
  if (d->size_bytes < 0) return SITU_STATUS_OK;
  char *real = os_real_path(d->path);
  if (!real && errno == ENOMEM) return fail_no_memory(f->error);
  size_t n = f->real_folder ? strlen(f->real_folder) : 0;
  bool inside =
      real && n > 0 && strncmp(real, f->real_folder, n) == 0 && (real[n] == '/' || f->real_folder[n - 1] == '/');
  free(real);
  return inside ? SITU_STATUS_OK
                : fail_with(f->error, SITU_STATUS_BAD_INPUT, f->path,
                            "external data '%s' lie outside the model's folder, through a link", location);
}

static situ_status find_file(finding *f, const onnx_weight *w, data_file **out) {
  if (!stays_below(w->location))
    return fail_with(f->error, SITU_STATUS_BAD_INPUT, f->path,
                     "the external data of tensor '%s' are at '%s'; the path must be relative and stay in the model's "
                     "folder",
                     w->name, w->location);
  int64_t i = string_map_put(f->by_location, w->location, f->n_files);
  if (i < 0) return fail_no_memory(f->error);
  *out = &f->files[i];
  if (i < f->n_files) return SITU_STATUS_OK;
  f->n_files++;
  return look_at(f, *out, w->location);
}

static situ_status check(finding *f, onnx_weight *w) {
  data_file *d = NULL;
  TRY(find_file(f, w, &d));
  if (w->length >= 0 && w->length != w->size_bytes && w->tensor.dtype != SITU_DTYPE_UNKNOWN)
    return fail_with(f->error, SITU_STATUS_BAD_INPUT, f->path,
                     "tensor '%s' has %lld bytes of external data; its shape and type need %lld", w->name,
                     (long long)w->length, (long long)w->size_bytes);
  int64_t need = w->length >= 0 ? w->length : w->size_bytes;
  if (d->size_bytes < 0) return SITU_STATUS_OK;
  if (w->offset > d->size_bytes || need > d->size_bytes - w->offset)
    return fail_with(f->error, SITU_STATUS_BAD_INPUT, f->path,
                     "tensor '%s' takes %lld bytes at %lld of external file '%s', which has only %lld", w->name,
                     (long long)need, (long long)w->offset, d->location, d->size_bytes);
  bool exact = true, shape_like = w->tensor.dtype == SITU_DTYPE_I64 || w->tensor.dtype == SITU_DTYPE_I32;
  if (!shape_like || ops_elements(&w->tensor, &exact) > OPS_MAX_VALUES || need == 0) return SITU_STATUS_OK;
  if (!d->view.bytes) TRY(file_begin(&d->view, d->path, f->error));
  if ((size_t)w->offset + (size_t)need > d->view.size_bytes) return SITU_STATUS_OK;
  file_need(&d->view, (size_t)w->offset, (size_t)need);
  TRY(file_result(&d->view, d->path, f->error));
  return onnx_decode(&w->tensor, f->a, d->view.bytes + w->offset, (size_t)need, f->error);
}

situ_status onnx_external(onnx_model *model, arena *a, const char *path, situ_error *error) {
  int64_t n = 0;
  for (const onnx_weight *w = model->externals; w; w = w->next_external) n++;
  if (n == 0) return SITU_STATUS_OK;
  finding f = {.a = a, .path = path, .error = error};
  f.folder = file_folder(a, path);
  f.by_location = string_map_new(a, 4);
  f.files = ARENA_ZERO(a, data_file, n);
  if (!f.folder || !f.by_location || !f.files) return fail_no_memory(error);
  f.real_folder = os_real_path(*f.folder ? f.folder : ".");
  if (!f.real_folder && errno == ENOMEM) return fail_no_memory(error);
  situ_status status = SITU_STATUS_OK;
  for (onnx_weight *w = model->externals; w && status == SITU_STATUS_OK; w = w->next_external) status = check(&f, w);
  for (int64_t i = 0; i < f.n_files; i++)
    if (f.files[i].view.bytes) file_close(&f.files[i].view);
  free(f.real_folder);
  return status;
}
