/* The table of engines, and the search for their libraries. */
#define _GNU_SOURCE
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arguments.h"
#include "base/contracts.h"
#include "base/text.h"
#include "engine/engine.h"

#define ADDRESS(NAME) &NAME##_engine,
const engine *const engines[] = {ENGINE_ROWS(ADDRESS) NULL};

static bool reads(const engine *e, const model_format *format) {
  size_t n = format ? strlen(format->reader) : 0;
  if (!format) return true;
  for (const char *at = e->reads; at && *at; at += strcspn(at, " "), at += *at == ' ')
    if (strncmp(at, format->reader, n) == 0 && (at[n] == ' ' || !at[n])) return true;
  return false;
}

situ_status engine_find(const engine **out, const char *name, const model_format *format, situ_error *error) {
  int i = 0;
  while (engines[i] && (name ? strcmp(engines[i]->name, name) != 0 : !reads(engines[i], format))) i++;
  *out = engines[i];
  if (!engines[i]) return fail_with(error, SITU_STATUS_BAD_ARGUMENT, name, "there is no engine of this name");
  if (!engines[i]->reads || reads(engines[i], format)) return SITU_STATUS_OK;
  return fail_with(error, SITU_STATUS_UNSUPPORTED, engines[i]->name, "runs no %s models", format->title);
}

/* ---- finding ---- */

typedef struct finding {
  const engine *engine;
  arena *arena;
  const char *path; /* once found */
} finding;

/* The file in `folder` whose name begins like that of the library; of several the last by name. */
static bool search_folder(finding *f, const char *folder) {
  char best[256] = "";
  size_t n = strlen(f->engine->file);
  DIR *all = opendir(folder);
  for (struct dirent *at; all && (at = readdir(all));)
    if (strncmp(at->d_name, f->engine->file, n) == 0 && strlen(at->d_name) < sizeof best &&
        strcmp(at->d_name, best) > 0)
      snprintf(best, sizeof best, "%s", at->d_name);
  if (all) closedir(all);
  text_buffer path = {0};
  text_add(&path, "%s/%s", folder, best);
  if (*best && path.bytes) f->path = arena_string(f->arena, path.bytes);
  text_free(&path);
  return f->path != NULL;
}

/* The library in its Python package, below a folder of packages. */
static bool search_packages(finding *f, const char *packages) {
  text_buffer folder = {0};
  text_add(&folder, "%s/%s", packages, f->engine->package);
  bool found = folder.bytes && search_folder(f, folder.bytes);
  text_free(&folder);
  return found;
}

/* VIRTUAL_ENV/lib/pythonX.Y/site-packages, whatever X.Y is. */
static bool search_environment(finding *f, const char *root) {
  text_buffer lib = {0};
  text_add(&lib, "%s/lib", root);
  DIR *all = lib.bytes ? opendir(lib.bytes) : NULL;
  bool found = false;
  for (struct dirent *at; all && !found && (at = readdir(all));) {
    text_buffer packages = {0};
    text_add(&packages, "%s/%s/site-packages", lib.bytes, at->d_name);
    if (strncmp(at->d_name, "python3", 7) == 0 && packages.bytes) found = search_packages(f, packages.bytes);
    text_free(&packages);
  }
  if (all) closedir(all);
  text_free(&lib);
  return found;
}

/* Asks python3, isolated from the current folder and the user's settings of paths, for its folders of packages. */
static bool ask_python(finding *f) {
  FILE *answer = popen(
      "python3 -I -c 'import sysconfig, site\n"
      "for p in [sysconfig.get_path(\"platlib\"), *site.getsitepackages(), site.getusersitepackages()]: print(p)' "
      "2>/dev/null",
      "re");
  char line[1024];
  bool found = false;
  while (answer && fgets(line, sizeof line, answer)) {
    line[strcspn(line, "\n")] = '\0';
    if (!found && line[0] == '/') found = search_packages(f, line);
  }
  if (answer) pclose(answer);
  return found;
}

/* A path given by the caller or a variable: the library, the folder that holds it, or a Python environment. */
static situ_status use_given_path(finding *f, const char *given, const char *who, situ_error *error) {
  struct stat is;
  bool there = stat(given, &is) == 0;
  if (there && S_ISREG(is.st_mode)) f->path = arena_string(f->arena, given);
  if (there && S_ISDIR(is.st_mode) && !search_folder(f, given) && !search_packages(f, given))
    search_environment(f, given);
  if (f->path) return SITU_STATUS_OK;
  return fail_with(error, SITU_STATUS_ENGINE, given, "%s names this path, but %s is not there", who, f->engine->file);
}

static situ_status locate(finding *f, const char *given, situ_error *error) {
  const char *variable = getenv(f->engine->variable), *environment = getenv("VIRTUAL_ENV");
  if (given) return use_given_path(f, given, "the caller", error);
  if (variable && *variable) return use_given_path(f, variable, f->engine->variable, error);
  if (environment && *environment && search_environment(f, environment)) return SITU_STATUS_OK;
  if (ask_python(f)) return SITU_STATUS_OK;
  f->path = f->engine->system; /* the worker will see whether it exists */
  return SITU_STATUS_OK;
}

situ_status engine_locate(const char **path, const engine *e, const char *given, arena *a, situ_error *error) {
  REQUIRE(path && e && a);
  finding f = {.engine = e, .arena = a};
  situ_status status = locate(&f, given, error);
  *path = f.path;
  return status;
}

situ_status engine_hello(json_value **answer, worker *w, const engine *e, const char *library, const wait_limit *wait,
                         situ_error *error) {
  situ_error own = {0};
  situ_status status = worker_call(answer, w, "hello", json_new_object(), wait, &own);
  if (status == SITU_STATUS_OK) return status;
  if (status != SITU_STATUS_ENGINE || library != e->system) return fail_with(error, status, own.where, "%s", own.text);
  return fail_with(error, status, e->name,
                   "not found in VIRTUAL_ENV, in the packages of python3, or by the system's loader (%s); set the "
                   "environment variable %s to its path, or install it: %s",
                   own.text, e->variable, e->install);
}

/* ---- the public table ---- */

int32_t situ_engine_count(void) { return (int32_t)(sizeof engines / sizeof engines[0]) - 1; }

/* Fills version and providers of an info with the answer of a worker. */
static situ_status fill_info(situ_engine_info *info, const engine *e, const char *library, situ_error *error) {
  worker *w;
  json_value *answer = NULL;
  engine_context context = {.library = library};
  worker_options options = {.name = e->name, .core = -1};
  wait_limit wait = {.limit_s = 60};
  TRY(engine_start(&w, e, &context, &options, error));
  situ_status status = engine_hello(&answer, w, e, library, &wait, error);
  if (status == SITU_STATUS_OK) {
    const json_value *list = json_get(answer, "providers");
    snprintf(info->version, sizeof info->version, "%s", json_text(json_get(answer, "version"), "?"));
    for (size_t i = 0; i < json_size(list); i++) {
      size_t n = strlen(info->providers);
      snprintf(info->providers + n, sizeof info->providers - n, "%s%s", i ? " " : "", json_text(json_at(list, i), "?"));
    }
  }
  json_free(answer);
  worker_stop(w);
  return status;
}

bool situ_engine_at(int32_t index, situ_engine_info *out) {
  if (index < 0 || index >= situ_engine_count()) return false;
  const engine *e = engines[index];
  situ_engine_info info = {.name = e->name, .title = e->title};
  const char *library = NULL;
  situ_error error = {0};
  arena *a = arena_new();
  situ_status status = a ? engine_locate(&library, e, NULL, a, &error) : fail_no_memory(&error);
  if (status == SITU_STATUS_OK) status = fill_info(&info, e, library, &error);
  if (status == SITU_STATUS_OK)
    snprintf(info.library, sizeof info.library, "%s", library);
  else
    snprintf(info.missing, sizeof info.missing, "%s%s%s", error.where, *error.where ? ": " : "", error.text);
  arena_free(a);
  return GIVE(out, info);
}
