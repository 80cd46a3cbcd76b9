#include "write/runner_words.h"

#include <stdio.h>
#include <string.h>

#include "base/ascii.h"
#include "base/c_locale.h"
#include "base/fail.h"
#include "base/text.h"

enum { MAX_PUT = 256, VALUE_BYTES = 64 };

/* How many words follow an option: none, one, or all up to the next option. */
typedef enum takes { NONE, ONE, LIST, QUANT } takes;
typedef struct rule {
  const char *words, *meaning; /* "-b -ub": the value stands behind each */
  takes takes;
} rule;

static const rule koboldcpp[] = {{"--model", "-m", ONE},
                                 {"--gpulayers", "-ngl", ONE},
                                 {"--contextsize", "-c", ONE},
                                 {"--tensor_split", "-ts", LIST},
                                 {"--moecpu", "-ncmoe", ONE},
                                 {"--overridetensors", "-ot", ONE},
                                 {"--blasbatchsize --batchsize", "-b -ub", ONE},
                                 {"--quantkv", "-ctk -ctv", QUANT},
                                 {"--lowvram", "-nkvo", NONE},
                                 {"--threads", "-t", ONE},
                                 {"--draftmodel", "-md", ONE},
                                 {"--mmproj", "--mmproj", ONE},
                                 {NULL, NULL, NONE}};
static const rule llama_cpp_python[] = {
    {"--model", "-m", ONE},          {"--n_gpu_layers", "-ngl", ONE}, {"--n_ctx", "-c", ONE},
    {"--tensor_split", "-ts", LIST}, {"--main_gpu", "-mg", ONE},      {"--n_batch", "-b", ONE},
    {"--n_ubatch", "-ub", ONE},      {"--n_threads", "-t", ONE},      {NULL, NULL, NONE}};
static const rule lm_studio[] = {{"--gpu", "-ngl", ONE}, {"--context-length -c", "-c", ONE}, {NULL, NULL, NONE}};
static const rule ollama[] = {{"num_gpu", "-ngl", ONE},
                              {"num_ctx", "-c", ONE},
                              {"num_batch", "-b -ub", ONE},
                              {"num_thread", "-t", ONE},
                              {NULL, NULL, NONE}};
static const struct {
  const char *mark, *program;
  bool whole; /* the word is the mark, not only contains it */
  const rule *rules;
} programs[] = {{"koboldcpp", "koboldcpp", false, koboldcpp},
                {"llama_cpp.server", "llama-cpp-python", false, llama_cpp_python},
                {"lms", "LM Studio", true, lm_studio},
                {"num_gpu", "ollama", true, ollama},
                {"PROCESSOR", "ollama", true, NULL}};

typedef struct translation {
  command_words made;
  arena *arena;
} translation;

static bool put(translation *t, const char *word) {
  if (t->made.n == MAX_PUT) return true; /* more than anyone says */
  char *kept = arena_string(t->arena, word);
  if (kept) t->made.word[t->made.n++] = kept;
  return kept;
}

/* "-b -ub" with the same value behind each. */
static bool put_option(translation *t, const char *names, const char *value) {
  bool ok = true;
  char name[VALUE_BYTES];
  for (const char *at = names; *at; at += strspn(at, " ")) {
    size_t n = strcspn(at, " ");
    snprintf(name, sizeof name, "%.*s", (int)n, at);
    ok = ok && put(t, name) && (!value || put(t, value));
    at += n;
  }
  return ok;
}

static const rule *find_rule(const rule *rules, const char *word, const char **value) {
  for (; rules && rules->words; rules++)
    if (command_words_is(word, rules->words, value)) return rules;
  return NULL;
}

/* LM Studio's "0.5", "max" and "off" are shares of the layers, "auto" and -1 leave the choice to it. What is none of
 * these stays as it is, for the reader of -ngl to refuse. */
static void make_share(char into[VALUE_BYTES], const char *value) {
  double share = strcmp(value, "max") == 0;
  const char *end = text_scan_number(value, &share);
  bool known = (end && !*end && share >= 0 && share <= 1) || strcmp(value, "max") == 0 || strcmp(value, "off") == 0;
  if (known)
    c_locale_print(into, VALUE_BYTES, "%.4g%%", 100 * share);
  else
    snprintf(into, VALUE_BYTES, "%s", value);
}

static const char *quantised(const char *value) { return *value == '1' ? "q8_0" : *value == '2' ? "q4_0" : "f16"; }

static bool translate(translation *t, const command_words *w, const rule *rules) {
  bool ok = true, shares = rules == lm_studio;
  for (int32_t i = 0; ok && i < w->n; i++) {
    char value[VALUE_BYTES], list[4 * VALUE_BYTES] = "";
    const char *given;
    const rule *r = find_rule(rules, w->word[i], &given);
    if (!r) continue;
    if (r->takes == NONE) {
      ok = put(t, r->meaning);
      continue;
    }
    if (!given && i + 1 < w->n) given = w->word[++i];
    snprintf(list, sizeof list, "%s", given ? given : "");
    for (; r->takes == LIST && i + 1 < w->n && ascii_is_digit(w->word[i + 1][0]); i++) {
      size_t n = strlen(list);
      snprintf(list + n, sizeof list - n, ",%s", w->word[i + 1]);
    }
    bool share = shares && strcmp(r->meaning, "-ngl") == 0;
    if (share) make_share(value, list);
    ok = put_option(t, r->meaning, r->takes == QUANT ? quantised(list) : share ? value : list);
  }
  return ok;
}

/* A row of `ollama ps`: "52%/48% CPU/GPU", "100% GPU" or "100% CPU", and the context behind it. */
static bool translate_table(translation *t, const command_words *w) {
  bool ok = true;
  for (int32_t i = 1; ok && i < w->n; i++) {
    const char *of = w->word[i], *share = w->word[i - 1], *second = strchr(share, '/');
    bool both = strcmp(of, "CPU/GPU") == 0, one = strcmp(of, "GPU") == 0 || strcmp(of, "CPU") == 0;
    if (!strchr(share, '%') || !(both || one)) continue;
    char value[VALUE_BYTES];
    snprintf(value, sizeof value, "%s", both && second ? second + 1 : *of == 'C' ? "0%" : "100%");
    ok = put_option(t, "-ngl", value);
    if (ok && i + 1 < w->n && ascii_is_digit(w->word[i + 1][0])) ok = put_option(t, "-c", w->word[i + 1]);
    break;
  }
  return ok;
}

/* Variables of ollama's server. Its context is that of each request, llama.cpp's of all. */
static bool take_variables(translation *t, const command_words *w) {
  const char *parallel = command_words_variable(w, "OLLAMA_NUM_PARALLEL");
  const char *type = command_words_variable(w, "OLLAMA_KV_CACHE_TYPE"), *context = command_words_value(&t->made, "-c");
  if (!context) context = command_words_variable(w, "OLLAMA_CONTEXT_LENGTH");
  int64_t n = 1, tokens = 0;
  if (parallel) text_scan_int(parallel, 0, &n);
  if (context) text_scan_int(context, 0, &tokens);
  bool ok = true;
  char total[VALUE_BYTES];
  snprintf(total, sizeof total, "%lld", (long long)(n > 0 && n < 4096 && tokens < 1 << 30 ? n * tokens : tokens));
  if (parallel) ok = put_option(t, "-np", parallel);
  if (tokens > 0) ok = ok && put_option(t, "-c", total);
  return ok && (!type || put_option(t, "-ctk -ctv", type));
}

situ_status runner_words_open(const char **plain, const char *text, arena *a, situ_error *error) {
  *plain = text;
  if (!strstr(text, "\"num_gpu\"")) return SITU_STATUS_OK;
  const char *options = strstr(text, "\"options\""), *open = options ? strchr(options, '{') : NULL;
  if (open) text = open; /* of a request only they count, not what its prompt says */
  char *copy = arena_string_n(a, text, open ? strcspn(open, "}") : strlen(text));
  if (!copy) return fail_no_memory(error);
  for (char *c = copy; *c; c++)
    if (strchr("{}\"':,[]", *c)) *c = ' ';
  *plain = copy;
  return SITU_STATUS_OK;
}

situ_status runner_words_translate(command_words *w, const char **program, arena *a, situ_error *error) {
  translation t = {.arena = a};
  *program = NULL;
  for (size_t k = 0; k < sizeof programs / sizeof *programs && !*program; k++)
    for (int32_t i = 0; i < w->n && !*program; i++) {
      bool found =
          programs[k].whole ? strcmp(w->word[i], programs[k].mark) == 0 : strstr(w->word[i], programs[k].mark) != NULL;
      if (!found || strstr(w->word[0], "llama-")) continue;
      *program = programs[k].program;
      t.made.word = ARENA_NEW(a, const char *, MAX_PUT + 1);
      bool ok = t.made.word && put(&t, "llama-server");
      ok = ok && (programs[k].rules ? translate(&t, w, programs[k].rules) : translate_table(&t, w));
      if (ok && strcmp(*program, "ollama") == 0) ok = take_variables(&t, w);
      if (!ok) return fail_no_memory(error);
      if (!programs[k].rules && !command_words_value(&t.made, "-ngl"))
        return fail_with(error, SITU_STATUS_BAD_INPUT, "ollama ps", "lists no model that is loaded");
    }
  if (*program) *w = t.made;
  return SITU_STATUS_OK;
}
