/* Windows: programs that are started, pipes to them, connections to this machine. There is no fork: work that may crash
 * cannot have a process of its own. */
#define _WIN32_WINNT 0x0601
#include <errno.h>
#include <fcntl.h>
#include <io.h>
#include <string.h>
#include <winsock2.h>

#include "base/os.h"
#include "base/os_wide.h"
#include "base/text.h"

const char OS_PROGRAM_SUFFIX[] = ".exe";

/* ---- processes ---- */

long os_fork(int (*work)(void *context), void *context) {
  errno = ENOSYS;
  return -1;
}

/* One word of a command line as the C runtime takes it apart: backslashes count only before a quote. */
static void add_word(text_buffer *line, const char *word) {
  if (line->length > 0) text_add(line, " ");
  text_add(line, "\"");
  for (const char *at = word; *at;) {
    int n = (int)strspn(at, "\\");
    at += n;
    bool quote = *at == '"' || !*at;
    for (int k = 0; k < (quote ? 2 * n : n); k++) text_add(line, "\\");
    if (*at) text_add(line, *at == '"' ? "\\%c" : "%c", *at);
    if (*at) at++;
  }
  text_add(line, "\"");
}

/* What is in this job ends with this process. */
static HANDLE own_job(void) {
  static HANDLE shared;
  HANDLE job = CreateJobObjectW(NULL, NULL), none = NULL;
  JOBOBJECT_EXTENDED_LIMIT_INFORMATION limits = {.BasicLimitInformation.LimitFlags =
                                                     JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE};
  if (!job) return __atomic_load_n(&shared, __ATOMIC_ACQUIRE);
  SetInformationJobObject(job, JobObjectExtendedLimitInformation, &limits, sizeof limits);
  if (__atomic_compare_exchange_n(&shared, &none, job, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) return job;
  CloseHandle(job);
  return none;
}

long os_start(const char *const *argv, int output) {
  text_buffer line = {0};
  for (const char *const *word = argv; *word; word++) add_word(&line, *word);
  wchar_t *words = line.bytes && !line.failed ? os_wide(line.bytes) : NULL;
  text_free(&line);
  HANDLE out = NULL, self = GetCurrentProcess();
  DuplicateHandle(self, (HANDLE)_get_osfhandle(output), self, &out, 0, TRUE, DUPLICATE_SAME_ACCESS);
  STARTUPINFOW how = {.cb = sizeof how, .dwFlags = STARTF_USESTDHANDLES, .hStdOutput = out, .hStdError = out};
  PROCESS_INFORMATION made = {0};
  DWORD flags = CREATE_NO_WINDOW | CREATE_SUSPENDED;
  bool good = words && out && CreateProcessW(NULL, words, NULL, NULL, TRUE, flags, NULL, NULL, &how, &made);
  if (good) {
    AssignProcessToJobObject(own_job(), made.hProcess);
    ResumeThread(made.hThread);
    CloseHandle(made.hThread);
  }
  if (out) CloseHandle(out);
  free(words);
  return good ? (long)(intptr_t)made.hProcess : -1; /* handles have 32 significant bits */
}

bool os_has_ended(long process, int *killed_by) {
  HANDLE h = (HANDLE)(intptr_t)process;
  *killed_by = 0;
  if (WaitForSingleObject(h, 0) == WAIT_TIMEOUT) return false;
  CloseHandle(h);
  return true;
}

int os_kill(long process) {
  HANDLE h = (HANDLE)(intptr_t)process;
  TerminateProcess(h, 1);
  WaitForSingleObject(h, INFINITE);
  CloseHandle(h);
  return 0;
}

long os_own_process(void) { return (long)GetCurrentProcessId(); }

bool os_is_program(const char *path) { return os_look(path).kind == OS_FILE; }

int os_keep_only(int handle) { return handle; }

void os_limit_memory(int64_t more_bytes) {}

/* ---- pipes and sockets ---- */

bool os_pipe(int ends[2]) {
  HANDLE from, to;
  if (!CreatePipe(&from, &to, NULL, 0)) return false;
  ends[0] = _open_osfhandle((intptr_t)from, _O_RDONLY | _O_BINARY | _O_NOINHERIT);
  ends[1] = _open_osfhandle((intptr_t)to, _O_WRONLY | _O_BINARY | _O_NOINHERIT);
  return ends[0] >= 0 && ends[1] >= 0;
}

bool os_unblock(int handle) { return true; } /* os_read looks first */

bool os_line(int ends[2]) {
  errno = ENOSYS;
  return false;
}

int os_wait(const int *handles, int n, int64_t max_ns) {
  os_nap(max_ns);
  return -1;
}

static SOCKET open_socket(void) {
  WSADATA is;
  if (WSAStartup(MAKEWORD(2, 2), &is) != 0) return INVALID_SOCKET; /* counts its calls */
  return socket(AF_INET, SOCK_STREAM, 0);
}

static struct sockaddr_in local(int port) {
  return (struct sockaddr_in){
      .sin_family = AF_INET, .sin_port = htons((u_short)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
}

int os_free_port(void) {
  struct sockaddr_in at = local(0);
  int size = sizeof at, port = 0;
  SOCKET s = open_socket();
  if (s != INVALID_SOCKET && bind(s, (struct sockaddr *)&at, size) == 0 &&
      getsockname(s, (struct sockaddr *)&at, &size) == 0)
    port = ntohs(at.sin_port);
  if (s != INVALID_SOCKET) closesocket(s);
  return port;
}

int os_connect(int port, int64_t patience_ns) {
  DWORD patience_ms = (DWORD)((patience_ns + 999999) / 1000000);
  struct sockaddr_in to = local(port);
  SOCKET s = open_socket();
  if (s == INVALID_SOCKET) return -1;
  if (setsockopt(s, SOL_SOCKET, SO_RCVTIMEO, (const char *)&patience_ms, sizeof patience_ms) == 0 &&
      connect(s, (struct sockaddr *)&to, sizeof to) == 0)
    return (int)s; /* likewise 32 bits */
  closesocket(s);
  return -1;
}

static bool send_all(int line, const char *bytes, size_t n) {
  enum { MAX_PIECE = 1 << 30 };
  while (n > 0) {
    int sent = send((SOCKET)line, bytes, n < MAX_PIECE ? (int)n : MAX_PIECE, 0);
    if (sent <= 0) return false;
    bytes += sent;
    n -= (size_t)sent;
  }
  return true;
}

bool os_send(int line, const void *head, size_t n_head, const void *bytes, size_t n) {
  return send_all(line, head, n_head) && send_all(line, bytes, n);
}

ptrdiff_t os_receive(int line, void *into, size_t n, bool waits) {
  int got = recv((SOCKET)line, into, n < INT_MAX ? (int)n : INT_MAX, 0), why = got < 0 ? WSAGetLastError() : 0;
  errno = why == WSAETIMEDOUT || why == WSAEWOULDBLOCK ? EAGAIN : why == WSAEINTR ? EINTR : EIO;
  return got;
}

void os_hang_up(int line) { closesocket((SOCKET)line); }
