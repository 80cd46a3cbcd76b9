#include "write/command_words.h"

#include <stdio.h>
#include <string.h>

#include "base/ascii.h"
#include "base/fail.h"
#include "base/file.h"
#include "base/text.h"

enum { MAX_WORDS = 4096 };

/* `docker run OPTION... IMAGE ARGUMENT...`: the image is the first word that is neither an option nor the value of one
 * and names an engine. Of what is before it only variables (-e NAME=VALUE) are for the program. */
static void skip_container(command_words *w) {
  static const char flags[] = " --rm -it -ti -i -t -d --detach --init --privileged -dit ";
  int32_t k = 0, kept = 0;
  char word[32];
  while (k < w->n && strcmp(w->word[k], "docker") != 0 && strcmp(w->word[k], "podman") != 0) k++;
  if (k + 1 >= w->n || strcmp(w->word[k + 1], "run") != 0) return;
  for (int32_t i = k + 2; i < w->n; i++) {
    const char *before = w->word[i - 1];
    snprintf(word, sizeof word, " %.28s ", before);
    bool value = before[0] == '-' && !strchr(before, '=') && !strstr(flags, word);
    bool variable = value && (strcmp(before, "-e") == 0 || strcmp(before, "--env") == 0);
    if (variable) w->word[kept++] = w->word[i];
    if (value || w->word[i][0] == '-' || !(strstr(w->word[i], "llama") || strstr(w->word[i], "vllm"))) continue;
    while (i < w->n) w->word[kept++] = w->word[i++];
    w->n = kept;
    return;
  }
}

/* The '-' of an item of a list of YAML: alone in front of what stands in a line. */
static bool is_item(const char *text, const char *at) {
  const char *line = at;
  while (line > text && (line[-1] == ' ' || line[-1] == '\t')) line--;
  return at[0] == '-' && at[1] == ' ' && (line == text || line[-1] == '\n');
}

/* A list in brackets: of quoted words, or behind a key of YAML. */
static bool opens_list(const command_words *w, const char *at) {
  const char *key = w->n > 0 ? w->word[w->n - 1] : "";
  size_t n = strlen(key);
  if (at[0] != '[') return false;
  at += 1 + strspn(at + 1, " ");
  return *at == '"' || *at == '\'' || (n > 1 && key[n - 1] == ':');
}

/* Copies a word to `to`, without its quotes, and returns where it ends; `listed`: also before a comma or a bracket. */
static const char *copy_word(char **to, const char *at, bool listed, situ_error *error) {
  for (char quote = 0; *at && (quote || !(ascii_is_space(*at) || (listed && strchr(",]", *at)))); at++) {
    if (*at == quote)
      quote = 0;
    else if (!quote && (*at == '\'' || *at == '"'))
      quote = *at;
    else if (*at == '\\' && quote != '\'' && at[1])
      *(*to)++ = *++at;
    else
      *(*to)++ = *at;
    if (quote && !at[1]) {
      fail_with(error, SITU_STATUS_BAD_INPUT, "command", "a quote (%c) does not end", quote);
      return NULL;
    }
  }
  *(*to)++ = '\0';
  return at;
}

situ_status command_words_split(command_words *out, const char *text, arena *a, situ_error *error) {
  size_t bytes = strlen(text) + 1;
  bool listed = false;
  char *to = ARENA_NEW(a, char, (int64_t)bytes);
  *out = (command_words){.word = ARENA_NEW(a, const char *, MAX_WORDS)};
  if (!to || !out->word) return fail_no_memory(error);
  for (const char *at = text; *at;) {
    if (ascii_is_space(*at) || (at[0] == '\\' && at[1] == '\n')) {
      at += *at == '\\' ? 2 : 1;
      continue;
    }
    if (*at == '#') {
      at += strcspn(at, "\n");
      continue;
    }
    bool opens = opens_list(out, at);
    listed |= opens;
    if (opens || is_item(text, at) || (listed && strchr(",]", *at))) {
      listed &= *at != ']';
      at++;
      continue;
    }
    if (out->n == MAX_WORDS)
      return fail_with(error, SITU_STATUS_BAD_INPUT, "command", "has more than %d words", MAX_WORDS);
    out->word[out->n++] = to;
    at = copy_word(&to, at, listed, error);
    if (!at) return SITU_STATUS_BAD_INPUT;
  }
  skip_container(out);
  return SITU_STATUS_OK;
}

static bool is_same(const char *name, const char *word, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (name[i] != word[i] && !(i > 1 && strchr("-_", name[i]) && strchr("-_", word[i]))) return false;
  return true;
}

bool command_words_is(const char *word, const char *names, const char **value) {
  size_t length = strcspn(word, "=");
  *value = word[length] ? word + length + 1 : NULL;
  for (const char *name = names; *name; name += strspn(name, " ")) {
    size_t n = strcspn(name, " ");
    if (n == length && is_same(name, word, n)) return true;
    name += n;
  }
  return false;
}

const char *command_words_value(const command_words *w, const char *names) {
  const char *found = NULL, *value;
  for (int32_t k = 0; k < w->n; k++) {
    if (!command_words_is(w->word[k], names, &value)) continue;
    if (value)
      found = value;
    else if (k + 1 < w->n)
      found = w->word[k + 1];
  }
  return found;
}

bool command_words_has(const command_words *w, const char *names) {
  const char *value;
  for (int32_t k = 0; k < w->n; k++)
    if (command_words_is(w->word[k], names, &value)) return true;
  return false;
}

const char *command_words_variable(const command_words *w, const char *name) {
  size_t n = strlen(name);
  for (int32_t k = 0; k < w->n; k++)
    if (strncmp(w->word[k], name, n) == 0 && w->word[k][n] == '=') return w->word[k] + n + 1;
  for (int32_t k = 0; k + 1 < w->n; k++) {
    if (strncmp(w->word[k], name, n) != 0) continue;
    if (strcmp(w->word[k] + n, ":") == 0) return w->word[k + 1];
    if (!w->word[k][n] && k + 2 < w->n && strcmp(w->word[k + 1], "value:") == 0) return w->word[k + 2];
  }
  return NULL;
}

static bool is_false(const char *word) { return strcmp(word, "false") == 0 || strcmp(word, "False") == 0; }

situ_status command_words_include(command_words *w, const char *path, arena *a, situ_error *error) {
  char *text;
  command_words said, all = {.word = ARENA_NEW(a, const char *, 2 * MAX_WORDS)};
  TRY(file_read_text(&text, path, a, error));
  TRY(command_words_split(&said, text, a, error));
  if (!all.word) return fail_no_memory(error);
  for (int32_t k = 0; k < said.n; k++) {
    size_t n = strlen(said.word[k]);
    bool key = n > 1 && said.word[k][n - 1] == ':', off = key && k + 1 < said.n && is_false(said.word[k + 1]);
    k += off;
    if (off) continue;
    char *name = key ? ARENA_NEW(a, char, (int64_t)n + 2) : NULL;
    if (key && !name) return fail_no_memory(error);
    if (key) snprintf(name, n + 2, "--%.*s", (int)n - 1, said.word[k]);
    all.word[all.n++] = key ? name : said.word[k];
  }
  for (int32_t k = 0; k < w->n; k++) all.word[all.n++] = w->word[k];
  *w = all;
  return SITU_STATUS_OK;
}

situ_status command_words_int(int64_t *out, const command_words *w, const char *names, int64_t min, situ_error *error) {
  const char *text = command_words_value(w, names);
  int64_t number;
  if (!text) return SITU_STATUS_OK;
  const char *end = text_scan_int(text, 0, &number);
  if (!end || *end || number < min)
    return fail_with(error, SITU_STATUS_BAD_INPUT, "command", "%.*s %.60s: expected a whole number, at least %lld",
                     (int)strcspn(names, " "), names, text, (long long)min);
  *out = number;
  return SITU_STATUS_OK;
}

situ_status command_words_numbers(int64_t *out, int32_t *n, int32_t max, const command_words *w, const char *name,
                                  situ_error *error) {
  const char *text = command_words_variable(w, name);
  *n = 0;
  for (const char *at = text; at && *at;) {
    const char *end = *n < max ? text_scan_int(at, 0, &out[*n]) : NULL;
    if (!end || (*end && *end != ','))
      return fail_with(error, SITU_STATUS_BAD_INPUT, name, "%.100s: expected whole numbers with commas", text);
    ++*n;
    at = end + (*end == ',');
  }
  return SITU_STATUS_OK;
}
