#include "engine/fit_memory.h"

#include <stdlib.h>
#include <string.h>

#include "base/ascii.h"
#include "base/checked.h"
#include "base/fail.h"
#include "engine/llamacpp_program.h"

static const char PROGRAM[] = "llama-fit-params";
static const double SECONDS = 60;

/* A line "CUDA0 4096 512 300", in MiB; false for others. */
static bool take_line(fit_memory *out, const char *line, arena *a) {
  size_t n = strcspn(line, " \n");
  const char *at = line + n;
  int64_t mib = 0;
  if (n == 0 || *at != ' ' || out->n == FIT_MEMORY_DEVICES) return false;
  for (int k = 0; k < 3; k++) {
    char *end;
    while (*at == ' ') at++;
    if (!ascii_is_digit(*at)) return false;
    mib = sat_add(mib, strtoll(at, &end, 10));
    at = end;
  }
  while (*at == ' ') at++;
  if (*at && *at != '\n') return false;
  out->device[out->n].name = arena_string_n(a, line, n);
  out->device[out->n].bytes = sat_mul(mib, 1 << 20);
  return out->device[out->n++].name;
}

situ_status fit_memory_ask(fit_memory *out, const char *options, const char *model, const char *library, arena *a,
                           situ_error *error) {
  int n_options, n = 0;
  wait_limit wait = {.limit_s = SECONDS};
  text_buffer answer = {0};
  *out = (fit_memory){.n = 0};
  const char **given = llamacpp_program_words(&n_options, options, 0, a);
  const char **words = ARENA_NEW(a, const char *, n_options + 8);
  if (!given || !words) return fail_no_memory(error);
  TRY(llamacpp_program_find(&words[n++], PROGRAM, library, a, error));
  for (int i = 0; i < n_options; i++) {
    bool fits = strcmp(given[i], "--fit") == 0; /* which it does not, with -fitp */
    if (!fits) words[n++] = given[i];
    i += fits;
  }
  TRY(llamacpp_program_check(words, &n, &wait, error));
  const char *const more[] = {"-m", model, "-fitp", "on", NULL};
  for (size_t i = 0; i < sizeof more / sizeof *more; i++) words[n++] = more[i];
  situ_status status = llamacpp_program_ask(&answer, words, &wait, error);
  const char *at = status == SITU_STATUS_OK && answer.bytes ? answer.bytes : "";
  for (; *at; at += strcspn(at, "\n"), at += *at == '\n') take_line(out, at, a);
  text_free(&answer);
  if (status == SITU_STATUS_OK && out->n == 0)
    status = fail_with(error, SITU_STATUS_ENGINE, PROGRAM, "does not say what the plan takes: are its devices here?");
  return status;
}
