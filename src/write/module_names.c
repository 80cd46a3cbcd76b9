#include "write/module_names.h"

#include <string.h>

#include "base/json.h"

void module_names_quote(text_buffer *out, const char *path) {
  text_buffer module = {0};
  if (*path != '/') {
    json_quote(out, path);
    return;
  }
  for (size_t n; *path; path += n) {
    path += *path == '/';
    n = strcspn(path, "/");
    bool repeated = path[n] == '/' && strncmp(path + n + 1, path, n) == 0 && path[2 * n + 1] == '.';
    if (!repeated && n > 0) text_add(&module, "%s%.*s", module.length > 0 ? "." : "", (int)n, path);
  }
  out->failed |= module.failed;
  json_quote(out, module.bytes ? module.bytes : "");
  text_free(&module);
}

int32_t module_names_gpu(const situ_problem *p, int32_t device) {
  int32_t n = 0;
  if (problem_is_host(p, device)) return -1;
  for (int32_t d = 0; d < device; d++)
    if (!problem_is_host(p, d)) n += platform_members(p->platform, d);
  return n;
}

void module_names_add_splits(text_buffer *out, const layer_plan *l) {
  for (int32_t i = 1, k = l->count[0]; i < l->n_runs; k += l->count[i++]) {
    text_add(out, "%s", i > 1 ? ", " : "");
    module_names_quote(out, l->layers.name[k]);
    text_add(out, ": \"BEGINNING\"");
  }
}
