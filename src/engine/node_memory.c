#include "engine/node_memory.h"

#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "base/fail.h"
#include "base/file.h"

static const char HEAD[] = "#name,input_sizes,initializers_sizes,total_dynamic_sizes,total_temp_allocations";
enum { NUMBERS = 4 };

typedef struct reading {
  const model_file *file;
  string_map *by_name; /* node + 1, by its name */
  node_memory *out;
  const char *path;
} reading;

/* The node of "NAME_NUMBER"; -1: none, as of nodes without a name, which the engine calls after their kind. */
static int32_t node_of(const reading *r, char *name) {
  char *mark = strrchr(name, '_');
  if (!mark) return -1;
  *mark = '\0';
  int64_t node = string_map_get(r->by_name, name);
  return node > 0 ? (int32_t)node - 1 : -1;
}

/* Names may hold commas: the numbers are read from the end. */
static situ_status read_row(reading *r, char *line, int number, situ_error *error) {
  int64_t values[NUMBERS];
  for (int i = NUMBERS - 1; i >= 0; i--) {
    char *comma = strrchr(line, ','), *end = comma;
    values[i] = comma ? strtoll(comma + 1, &end, 10) : -1;
    if (!comma || end == comma + 1 || *end || values[i] < 0)
      return fail_with(error, SITU_STATUS_BAD_INPUT, r->path, "line %d does not end in four sizes in bytes", number);
    *comma = '\0';
  }
  int32_t node = node_of(r, line);
  r->out->n_rows++;
  if (node < 0) return SITU_STATUS_OK;
  r->out->n_named++;
  r->out->workspace_bytes[node] = max64(r->out->workspace_bytes[node], values[NUMBERS - 1]);
  return SITU_STATUS_OK;
}

static situ_status read_rows(reading *r, char *text, situ_error *error) {
  int number = 1;
  if (strncmp(text, HEAD, strlen(HEAD)) != 0)
    return fail_with(error, SITU_STATUS_BAD_INPUT, r->path, "does not begin with \"%s\"", HEAD);
  for (char *line = strchr(text, '\n'); line; number++) {
    char *next = strchr(++line, '\n'), *end = next ? next : line + strlen(line);
    if (end > line && end[-1] == '\r') end--;
    *end = '\0';
    if (*line) TRY(read_row(r, line, number + 1, error));
    line = next;
  }
  if (r->out->n_named == 0)
    return fail_with(error, SITU_STATUS_BAD_INPUT, r->path, "names no node of %s", r->file->path);
  return SITU_STATUS_OK;
}

situ_status node_memory_read(node_memory *out, const char *path, const model_file *file, arena *a, situ_error *error) {
  reading r = {.file = file, .by_name = string_map_new(a, file->n_nodes), .out = out, .path = path};
  *out = (node_memory){.workspace_bytes = ARENA_NEW(a, int64_t, file->n_nodes)};
  if (!r.by_name || !out->workspace_bytes) return fail_no_memory(error);
  for (int32_t v = 0; v < file->n_nodes; v++) {
    out->workspace_bytes[v] = -1;
    if (*file->nodes[v].name && string_map_put(r.by_name, file->nodes[v].name, v + 1) < 0) return fail_no_memory(error);
  }
  char *text;
  TRY(file_read_text(&text, path, a, error));
  return read_rows(&r, text, error);
}
