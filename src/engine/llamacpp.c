/* llama.cpp: programs, not a library. Its server runs whole plans of GGUF files (engine/served.h), so requests for
 * parts get an explanation. */
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "engine/engine.h"
#include "engine/llamacpp_program.h"

static char program[512];

static situ_status load(const char *path, situ_error *error) {
  arena *a = arena_new();
  const char *found = NULL;
  situ_status status = a ? llamacpp_program_find(&found, "llama-server", strchr(path, '/') ? path : NULL, a, error)
                         : fail_no_memory(error);
  if (!found && !strchr(path, '/')) status = fail_with(error, SITU_STATUS_ENGINE, "", "llama-server is not in PATH");
  if (found) snprintf(program, sizeof program, "%s", found);
  arena_free(a);
  return status;
}

static situ_status hello(json_value *answer, situ_error *error) {
  text_buffer text = {0};
  wait_limit wait = {.limit_s = 30};
  json_value *list = json_new_array();
  char version[64] = "?";
  const char *ask[] = {program, "--version", NULL}, *devices[] = {program, "--list-devices", NULL};
  situ_status status = llamacpp_program_ask(&text, ask, &wait, error);
  const char *at = text.bytes ? strstr(text.bytes, "version: ") : NULL;
  if (at) snprintf(version, sizeof version, "%.*s", (int)strcspn(at + 9, "\r\n"), at + 9);
  text_free(&text);
  if (status == SITU_STATUS_OK) status = llamacpp_program_ask(&text, devices, &wait, error);
  bool ok = list && json_push(list, json_new_text("CPU"));
  /* Lines such as "  CUDA0: NVIDIA ...". */
  for (at = text.bytes ? strstr(text.bytes, "Available devices:") : NULL; ok && at && (at = strchr(at, '\n')); at++) {
    size_t blank = strspn(at + 1, " "), n = strcspn(at + 1 + blank, ":\n");
    if (blank > 0 && at[1 + blank + n] == ':') {
      char name[64];
      snprintf(name, sizeof name, "%.*s", (int)n, at + 1 + blank);
      ok = json_push(list, json_new_text(name));
    }
  }
  text_free(&text);
  ok = json_set(answer, "version", json_new_text(version)) && ok;
  ok = json_set(answer, "providers", list) && ok;
  return status != SITU_STATUS_OK ? status : ok ? SITU_STATUS_OK : fail_no_memory(error);
}

static situ_status open_session(void **session, const driver_options *o, situ_error *error) {
  *session = NULL;
  return fail_with(error, SITU_STATUS_UNSUPPORTED, o->path,
                   "llama.cpp runs whole plans of GGUF files (situ run), no parts of models");
}

const engine llamacpp_engine = {.name = "llama.cpp",
                                .title = "llama.cpp, whose server runs GGUF files",
                                .place = {.variable = "SITU_LLAMACPP",
                                          .package = "llama_cpp/bin",
                                          .file = "llama-server",
                                          .system = "llama-server"},
                                .install = "tools/setup.sh llamacpp",
                                .reads = "gguf",
                                .driver = {.load = load, .hello = hello, .open = open_session}};
