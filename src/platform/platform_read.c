#include <string.h>

#include "base/arguments.h"
#include "base/ascii.h"
#include "base/file.h"
#include "platform/machine_text.h"
#include "platform/platform_sources.h"

static situ_status read_file(situ_platform **out, const char *path, situ_error *error) {
  json_value *root = NULL;
  char *text = NULL;
  arena *a = arena_new();
  situ_status status = a ? file_read_text(&text, path, a, error) : fail_no_memory(error);
  bool is_json = text && text[strspn(text, " \t\r\n")] == '{' && !strstr(text, "\"card0\""); /* of rocm-smi --json */
  if (status == SITU_STATUS_OK)
    status = is_json ? json_parse(&root, text, strlen(text), path, error) : platform_from_text(out, text, path, error);
  if (status == SITU_STATUS_OK && is_json) status = platform_from_json(out, root, path, error);
  json_free(root);
  arena_free(a);
  return status;
}

/* Whether a text is a path: it has a slash, other than among figures (900GB/s, 6000 MT/s) and in "CPU w/ GPU". */
static bool has_slash(const char *text) {
  int depth = 0;
  for (const char *at = text; *at; at++) {
    depth += *at == '(' ? 1 : *at == ')' ? -1 : 0;
    bool rate = at > text && at[1] == 's' && (depth > 0 || ascii_lower(at[-1]) == 't');
    bool with = at - text > 1 && ascii_lower(at[-1]) == 'w' && ascii_is_blank(at[-2]);
    if (*at == '/' && !rate && !with) return true;
  }
  return false;
}

situ_status situ_platform_read(situ_platform **out, const char *name_or_path, situ_error *error) {
  if (out) *out = NULL;
  TRY(GIVEN(error, out));
  if (!name_or_path || !name_or_path[0])
    return fail_with(error, SITU_STATUS_BAD_ARGUMENT, NULL, "a platform is needed, such as cpu+2*a100-80g");
  size_t n = strlen(name_or_path);
  bool looks_like_a_file = has_slash(name_or_path) || (n >= 5 && strcmp(name_or_path + n - 5, ".json") == 0);
  if (looks_like_a_file || file_exists(name_or_path)) return read_file(out, name_or_path, error);
  if (strcmp(name_or_path, THIS_HOST) == 0) return platform_from_this_host(out, error);
  return platform_from_name(out, name_or_path, error);
}
