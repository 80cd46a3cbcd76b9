/* engine/llamacpp_program.h - programs of llama.cpp as child processes, and the server's answers.
 *
 * They are found beside each other: the folder or one of its programs that the caller or SITU_LLAMACPP names, else
 * PATH.
 */
#ifndef SITU_ENGINE_LLAMACPP_PROGRAM_H
#define SITU_ENGINE_LLAMACPP_PROGRAM_H

#include "base/arena.h"
#include "base/json.h"
#include "base/text.h"
#include "engine/worker.h"

/* The path of a program such as "llama-server", in the arena. ENGINE where it is not there. */
situ_status llamacpp_program_find(const char **out, const char *program, const char *given, arena *a,
                                  situ_error *error);

/* Words of a line as a shell reads them, quotes of either kind included; ended by NULL, in the arena. NULL without
 * memory. At the end n_extra elements are free for more. */
const char **llamacpp_program_words(int *n, const char *line, int n_extra, arena *a);

/* What a program writes to both outputs, which ends by itself. */
situ_status llamacpp_program_ask(text_buffer *out, const char *const *argv, const wait_limit *wait, situ_error *error);

/* Options change their names: what the program, words[0], does not list in its --help is refused here, not by an unlike
 * run. One that only older programs lack, and that switches off what they have not, is left out; *n is what stays. */
situ_status llamacpp_program_check(const char **words, int *n, const wait_limit *wait, situ_error *error);

/* A running llama-server. */
typedef struct llamacpp_server {
  long process; /* 0: none */
  int port;
  char log[256]; /* path of the file with its output */
} llamacpp_server;

/* Starts it with these words, the path of the program first, behind which 5 elements are free, and waits until it
 * answers. ENGINE with the last line of its log where it ends before. llamacpp_server_stop, after failures too. */
situ_status llamacpp_server_start(llamacpp_server *out, const char **argv, int n, const wait_limit *wait,
                                  situ_error *error);
/* Posts a request to /completion; *answer is the caller's. */
situ_status llamacpp_server_complete(json_value **answer, const llamacpp_server *s, const char *body,
                                     const wait_limit *wait, situ_error *error);
/* Ends it, and removes its log. */
void llamacpp_server_stop(llamacpp_server *s);

#endif
