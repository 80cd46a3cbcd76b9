/* write/command_words.h - a command line of another program, as people paste it. */
#ifndef SITU_WRITE_COMMAND_WORDS_H
#define SITU_WRITE_COMMAND_WORDS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "situ/error.h"

typedef struct command_words {
  const char **word; /* [n] without quotes, of the arena */
  int32_t n;
} command_words;

/* Splits a text as a shell does: quotes, backslashes, comments to the end of the line, and a backslash at its end that
 * joins it with the next; options of `docker run` itself are left out. Lists of YAML, as manifests have
 * them ("- WORD" in lines, ["WORD", "WORD"], key: [WORD, WORD]), are words in turn. Nothing is run or replaced.
 * BAD_INPUT for a quote that does not end, and above 4096 words. */
situ_status command_words_split(command_words *out, const char *text, arena *a, situ_error *error);

/* Whether a word is one of the names, up to an '='; *value is then what follows that, or NULL. In names of several
 * letters '-' and '_' are alike, as they are for llama.cpp and vLLM. */
bool command_words_is(const char *word, const char *names, const char **value);
/* The value of an option by any of its names, "-c --ctx-size", the last one where it is given more than once: the next
 * word, or what follows "=". NULL if it is not there. */
const char *command_words_value(const command_words *w, const char *names);
/* Whether one of these words is there: an option without a value. */
bool command_words_has(const command_words *w, const char *names);
/* The same as command_words_value for a variable, "NAME=VALUE" before the program, or of a manifest: "NAME: VALUE", or
 * "name: NAME" and "value: VALUE". */
const char *command_words_variable(const command_words *w, const char *name);
/* The whole numbers, separated by commas, of a variable; *n is 0 without it. BAD_INPUT for anything else, and above
 * max numbers. */
situ_status command_words_numbers(int64_t *out, int32_t *n, int32_t max, const command_words *w, const char *name,
                                  situ_error *error);
/* Puts the options of a file of YAML, whose keys are their names, before the words: those are stronger. What is false
 * there is left out. IO where it cannot be read. */
situ_status command_words_include(command_words *w, const char *path, arena *a, situ_error *error);
/* A whole number, at least min; BAD_INPUT with the name and the value otherwise. *out stays if the option is not
 * there. */
situ_status command_words_int(int64_t *out, const command_words *w, const char *names, int64_t min, situ_error *error);

#endif
