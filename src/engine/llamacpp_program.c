#include "engine/llamacpp_program.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ascii.h"
#include "base/clock.h"
#include "base/fail.h"
#include "base/file.h"
#include "base/os.h"
#include "base/system_program.h"

enum { LOOK_NS = 10000000, MAX_ANSWER = 1 << 26 };

/* ---- finding ---- */

situ_status llamacpp_program_find(const char **out, const char *program, const char *given, arena *a,
                                  situ_error *error) {
  const char *variable = getenv("SITU_LLAMACPP");
  if (!given && variable && *variable) given = variable;
  *out = NULL;
  if (given) {
    const char *end = os_last_slash(given);
    *out = system_program_in_folder(given, strlen(given), program, a);
    if (!*out && end && system_program_in_folder(given, (size_t)(end - given), end + 1, a))
      *out = system_program_in_folder(given, (size_t)(end - given), program, a);
    if (*out) return SITU_STATUS_OK;
    return fail_with(error, SITU_STATUS_ENGINE, given, "holds no %s of llama.cpp", program);
  }
  *out = system_program_find(program, a);
  if (*out) return SITU_STATUS_OK;
  return fail_with(error, SITU_STATUS_ENGINE, "llama.cpp",
                   "%s is not in PATH; set SITU_LLAMACPP to the folder of its programs, or build them: "
                   "tools/setup.sh llamacpp",
                   program);
}

const char **llamacpp_program_words(int *n, const char *line, int n_extra, arena *a) {
  size_t length = strlen(line);
  const char **words = ARENA_NEW(a, const char *, (int64_t)length / 2 + 2 + n_extra);
  char *to = ARENA_NEW(a, char, (int64_t)length + 2);
  *n = 0;
  if (!words || !to) return NULL;
  while (*line) {
    while (ascii_is_space(*line)) line++;
    if (!*line) break;
    words[(*n)++] = to;
    for (char quote = 0; *line && (quote || !ascii_is_space(*line)); line++) {
      if (*line == quote)
        quote = 0;
      else if (!quote && (*line == '\'' || *line == '"'))
        quote = *line;
      else
        *to++ = *line;
    }
    *to++ = '\0';
  }
  words[*n] = NULL;
  return words;
}

/* ---- processes ---- */

static bool is_open(ptrdiff_t received) {
  return received > 0 || (received < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR));
}

static situ_status look(const wait_limit *wait, int64_t begun_ns, const char *what, situ_error *error) {
  if (wait->stop && wait->stop(wait->context))
    return fail_with(error, SITU_STATUS_CANCELLED, "llama.cpp", "stopped by the caller");
  if ((double)(clock_now_ns() - begun_ns) > wait_limit_s(wait) * 1e9)
    return fail_with(error, SITU_STATUS_ENGINE, "llama.cpp", "%s takes longer than %g s", what, wait_limit_s(wait));
  return SITU_STATUS_OK;
}

typedef struct asking {
  const wait_limit *wait;
  int64_t begun_ns;
  situ_status status;
  situ_error *error;
} asking;

static bool stop_asking(void *context) {
  asking *q = context;
  q->status = look(q->wait, q->begun_ns, "an answer", q->error);
  return q->status != SITU_STATUS_OK;
}

situ_status llamacpp_program_ask(text_buffer *out, const char *const *argv, const wait_limit *wait, situ_error *error) {
  asking q = {.wait = wait, .begun_ns = clock_now_ns(), .error = error};
  if (!system_program_output(out, argv, MAX_ANSWER, stop_asking, &q))
    return fail_with(error, SITU_STATUS_ENGINE, argv[0], "cannot be started");
  return q.status;
}

/* ---- the server ---- */

/* One request, and the whole answer with its head; an empty answer where nobody listens. */
static situ_status talk(text_buffer *out, int port, const char *request, const wait_limit *wait, situ_error *error) {
  int line = os_connect(port, LOOK_NS);
  int64_t begun_ns = clock_now_ns();
  char bytes[4096];
  situ_status status = SITU_STATUS_OK;
  bool open = line >= 0 && os_send(line, request, strlen(request), NULL, 0);
  while (open && status == SITU_STATUS_OK) {
    ptrdiff_t n = os_receive(line, bytes, sizeof bytes, true);
    open = is_open(n);
    if (n > 0 && out->length < MAX_ANSWER) text_add_bytes(out, bytes, (size_t)n);
    status = look(wait, begun_ns, "an answer of llama-server", error);
  }
  if (line >= 0) os_hang_up(line);
  return status;
}

static bool is_good(const text_buffer *answer) {
  bool whole = !answer->failed && answer->length > 12;
  return whole && strncmp(answer->bytes, "HTTP/1.", 7) == 0 && strncmp(answer->bytes + 8, " 200", 4) == 0;
}

/* A line of the log that reports a failure. */
static bool reports_failure(const char *line) {
  return strstr(line, " E ") || strstr(line, "error") || strstr(line, "failed");
}

static bool knows(const text_buffer *help, const char *option) {
  size_t n = strlen(option);
  for (const char *at = help->bytes; at && (at = strstr(at, option)); at += n)
    if ((at == help->bytes || ascii_is_space(at[-1])) && (ascii_is_space(at[n]) || at[n] == ',')) return true;
  return false;
}

situ_status llamacpp_program_check(const char **words, int *n, const wait_limit *wait, situ_error *error) {
  text_buffer help = {0};
  const char *ask[] = {words[0], "--help", NULL};
  TRY(llamacpp_program_ask(&help, ask, wait, error));
  situ_status status = help.failed ? fail_no_memory(error) : SITU_STATUS_OK;
  int kept = 1;
  for (int i = 1; i < *n && status == SITU_STATUS_OK; i++) {
    bool option = words[i][0] == '-' && !ascii_is_digit(words[i][1]);
    if (option && !knows(&help, words[i])) {
      if (strcmp(words[i], "--fit") != 0)
        status = fail_with(error, SITU_STATUS_ENGINE, words[0], "has no option %s, which the plan needs", words[i]);
      i++; /* and its value */
      continue;
    }
    words[kept++] = words[i];
  }
  *n = kept;
  text_free(&help);
  return status;
}

/* What the server said last before it ended. */
static situ_status fail_ended(const llamacpp_server *s, situ_error *error) {
  char *text = NULL, last[300] = "", line[300];
  arena *a = arena_new();
  if (a && file_read_text(&text, s->log, a, NULL) == SITU_STATUS_OK)
    for (const char *at = text; *at; at += strcspn(at, "\n"), at += *at == '\n') {
      snprintf(line, sizeof line, "%.*s", (int)strcspn(at, "\n"), at);
      if (reports_failure(line)) memcpy(last, line, sizeof last);
    }
  arena_free(a);
  return fail_with(error, SITU_STATUS_ENGINE, "llama-server", "ended while it loaded the model%s%s", *last ? ": " : "",
                   last);
}

situ_status llamacpp_server_start(llamacpp_server *s, const char **argv, int n, const wait_limit *wait,
                                  situ_error *error) {
  static const char health[] = "GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
  char port[16];
  int64_t begun_ns = clock_now_ns();
  *s = (llamacpp_server){.port = os_free_port()};
  int log = os_temporary_file(s->log, sizeof s->log, "situ-llama-");
  if (log < 0 || s->port == 0) return fail_with(error, SITU_STATUS_ENGINE, s->log, "no file or port for llama-server");
  snprintf(port, sizeof port, "%d", s->port);
  const char *const more[] = {"--host", "127.0.0.1", "--port", port, NULL};
  for (int i = 0; i < 5; i++) argv[n + i] = more[i];
  long child = os_start(argv, log);
  os_close(log);
  s->process = child > 0 ? child : 0;
  if (child < 0) return fail_with(error, SITU_STATUS_ENGINE, argv[0], "cannot be started");
  int killed_by = 0;
  for (bool ready = false; !ready;) {
    text_buffer answer = {0};
    situ_status status = talk(&answer, s->port, health, wait, error);
    ready = is_good(&answer);
    text_free(&answer);
    if (status == SITU_STATUS_OK && !ready) status = look(wait, begun_ns, "loading the model", error);
    if (status != SITU_STATUS_OK) return status;
    if (!ready && os_has_ended(child, &killed_by)) {
      s->process = 0;
      return fail_ended(s, error);
    }
    if (!ready) os_nap(LOOK_NS);
  }
  return SITU_STATUS_OK;
}

situ_status llamacpp_server_complete(json_value **answer, const llamacpp_server *s, const char *body,
                                     const wait_limit *wait, situ_error *error) {
  text_buffer request = {0}, got = {0};
  *answer = NULL;
  text_add(&request,
           "POST /completion HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json\r\n"
           "Content-Length: %zu\r\n\r\n",
           strlen(body));
  text_add(&request, "%s", body);
  situ_status status = request.failed ? fail_no_memory(error) : talk(&got, s->port, request.bytes, wait, error);
  const char *content = status == SITU_STATUS_OK && got.bytes ? strstr(got.bytes, "\r\n\r\n") : NULL;
  if (status == SITU_STATUS_OK && (!content || !is_good(&got)))
    status = fail_with(error, SITU_STATUS_ENGINE, "llama-server", "refuses the request: %.200s",
                       content ? content + 4 : "no answer");
  if (status == SITU_STATUS_OK)
    status = json_parse(answer, content + 4, strlen(content + 4), "the answer of llama-server", error);
  text_free(&request);
  text_free(&got);
  return status;
}

void llamacpp_server_stop(llamacpp_server *s) {
  if (s->process > 0) os_kill(s->process);
  if (*s->log) os_remove(s->log);
  *s = (llamacpp_server){0};
}
