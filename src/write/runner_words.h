/* write/runner_words.h - programs that run llama.cpp under words of their own, and what these mean there. */
#ifndef SITU_WRITE_RUNNER_WORDS_H
#define SITU_WRITE_RUNNER_WORDS_H

#include "write/command_words.h"

/* Options of a request to ollama are JSON: `plain` is then the text without its signs, in the arena; else the text. */
situ_status runner_words_open(const char **plain, const char *text, arena *a, situ_error *error);
/* Replaces the words of koboldcpp, llama-cpp-python and `lms load`, of a Modelfile or the options of a request to
 * ollama, and of what `ollama ps` prints, by those of llama.cpp; others stay as they are. A share of the layers is a
 * number with a '%'. *program: whose they were; NULL: none of these. Texts in the arena. */
situ_status runner_words_translate(command_words *w, const char **program, arena *a, situ_error *error);

#endif
