/* The search for a shared library that Python packages bring along. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/contracts.h"
#include "base/fail.h"
#include "base/library.h"
#include "base/os.h"
#include "base/system_program.h"
#include "base/text.h"

typedef struct finding {
  const library_place *place;
  arena *arena;
  const char *path; /* once found */
} finding;

/* The file in `folder` whose name begins like that of the library; of several the last by name. */
static bool search_folder(finding *f, const char *folder) {
  char best[256] = "";
  size_t n = strlen(f->place->file);
  os_folder *all = os_folder_open(folder);
  for (const char *name; (name = os_folder_next(all));)
    if (strncmp(name, f->place->file, n) == 0 && strlen(name) < sizeof best && strcmp(name, best) > 0)
      snprintf(best, sizeof best, "%s", name);
  os_folder_close(all);
  text_buffer path = {0};
  text_add(&path, "%s/%s", folder, best);
  if (*best && path.bytes) f->path = arena_string(f->arena, path.bytes);
  text_free(&path);
  return f->path != NULL;
}

/* The library in its Python package, below a folder of packages. */
static bool search_packages(finding *f, const char *packages) {
  text_buffer folder = {0};
  text_add(&folder, "%s/%s", packages, f->place->package);
  bool found = folder.bytes && search_folder(f, folder.bytes);
  text_free(&folder);
  return found;
}

/* VIRTUAL_ENV/lib/pythonX.Y/site-packages, whatever X.Y is. */
static bool search_environment(finding *f, const char *root) {
  text_buffer lib = {0};
  text_add(&lib, "%s/lib", root);
  os_folder *all = lib.bytes ? os_folder_open(lib.bytes) : NULL;
  bool found = false;
  for (const char *name; !found && (name = os_folder_next(all));) {
    text_buffer packages = {0};
    text_add(&packages, "%s/%s/site-packages", lib.bytes, name);
    if (strncmp(name, "python3", 7) == 0 && packages.bytes) found = search_packages(f, packages.bytes);
    text_free(&packages);
  }
  os_folder_close(all);
  text_free(&lib);
  return found;
}

/* Asks python3, isolated from the current folder and the user's settings of paths, for its folders of packages. */
static bool ask_python(finding *f) {
  static const char question[] =
      "import sysconfig, site\n"
      "for p in [sysconfig.get_path('platlib'), *site.getsitepackages(), site.getusersitepackages()]: print(p)";
  enum { MAX_ANSWER = 1 << 16 };
  const char *program = system_program_find("python3", f->arena);
  const char *const words[] = {program, "-I", "-c", question, NULL};
  text_buffer answer = {0};
  bool found = false, asked = program && system_program_output(&answer, words, MAX_ANSWER, NULL, NULL);
  for (char *line = asked && !answer.failed ? answer.bytes : NULL; line && *line && !found;) {
    size_t n = strcspn(line, "\r\n");
    char *next = line + n + (line[n] != '\0');
    line[n] = '\0';
    found = os_is_absolute(line) && search_packages(f, line);
    line = next;
  }
  text_free(&answer);
  return found;
}

/* A path given by the caller or a variable: the library, the folder that holds it, or a Python environment. */
static situ_status use_given_path(finding *f, const char *given, const char *who, situ_error *error) {
  os_kind kind = os_look(given).kind;
  if (kind == OS_FILE) f->path = arena_string(f->arena, given);
  if (kind == OS_FOLDER && !search_folder(f, given) && !search_packages(f, given)) search_environment(f, given);
  if (f->path) return SITU_STATUS_OK;
  return fail_with(error, SITU_STATUS_ENGINE, given, "%s names this path, but %s is not there", who, f->place->file);
}

static situ_status locate(finding *f, const char *given, situ_error *error) {
  const char *variable = getenv(f->place->variable), *environment = getenv("VIRTUAL_ENV");
  if (given) return use_given_path(f, given, "the caller", error);
  if (variable && *variable) return use_given_path(f, variable, f->place->variable, error);
  if (environment && *environment && search_environment(f, environment)) return SITU_STATUS_OK;
  if (ask_python(f)) return SITU_STATUS_OK;
  f->path = f->place->system; /* the worker will see whether it exists */
  return SITU_STATUS_OK;
}

situ_status library_locate(const char **path, const library_place *place, const char *given, arena *a,
                           situ_error *error) {
  REQUIRE(path && place && a);
  finding f = {.place = place, .arena = a};
  situ_status status = locate(&f, given, error);
  *path = f.path;
  return status;
}
