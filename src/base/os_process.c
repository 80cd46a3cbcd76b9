/* Processes, pipes and sockets of POSIX. */
#define _GNU_SOURCE
#define _DARWIN_C_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/os.h"

const char OS_PROGRAM_SUFFIX[] = "";

/* ---- processes ---- */

/* In a fork: from here on it dies with its parent, signals to the group of processes do not reach it, and its output is
 * discarded. */
static void settle(pid_t parent) {
  static const int ignored[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE};
  sigset_t none;
  int nowhere = open("/dev/null", O_RDWR);
  os_die_with(parent);
  for (int number = 1; number < NSIG; number++) signal(number, SIG_DFL);
  for (size_t k = 0; k < sizeof ignored / sizeof *ignored; k++) signal(ignored[k], SIG_IGN);
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
  if (nowhere >= 0)
    for (int fd = 0; fd <= 2; fd++) dup2(nowhere, fd);
}

/* What the parent has buffered must not be printed twice: hence _exit. */
long os_fork(int (*work)(void *context), void *context) {
  pid_t parent = getpid(), child = fork();
  if (child != 0) return child;
  settle(parent);
  _exit(work(context));
}

long os_start(const char *const *argv, int output) {
  pid_t parent = getpid(), child = fork();
  if (child != 0) return child;
  settle(parent);
  for (int fd = 1; fd <= 2; fd++) dup2(output, fd);
  execv(argv[0], (char *const *)(uintptr_t)argv);
  _exit(127);
}

bool os_has_ended(long process, int *killed_by) {
  int status = 0;
  if (waitpid((pid_t)process, &status, WNOHANG) == 0) return false;
  *killed_by = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  return true;
}

int os_kill(long process) {
  int status = 0;
  kill((pid_t)process, SIGKILL);
  while (waitpid((pid_t)process, &status, 0) < 0 && errno == EINTR) continue;
  return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

long os_own_process(void) { return getpid(); }

bool os_is_program(const char *path) {
  struct stat is;
  return stat(path, &is) == 0 && S_ISREG(is.st_mode) && access(path, X_OK) == 0;
}

int os_keep_only(int handle) {
  enum { FIRST = 3 };
  dup2(handle, FIRST);
  os_close_from(FIRST + 1);
  setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
  return FIRST;
}

/* ---- pipes and sockets ---- */

bool os_unblock(int handle) { return fcntl(handle, F_SETFL, O_NONBLOCK) == 0; }

bool os_line(int ends[2]) {
  if (socketpair(AF_UNIX, os_stream_type(), 0, ends) != 0) return false;
  setsockopt(ends[0], SOL_SOCKET, SO_SNDTIMEO, &(struct timeval){.tv_sec = 10}, sizeof(struct timeval));
  return true;
}

bool os_send(int line, const void *head, size_t n_head, const void *bytes, size_t n) {
  struct iovec pieces[2] = {{(void *)(uintptr_t)head, n_head}, {(void *)(uintptr_t)bytes, n}};
  struct msghdr message = {.msg_iov = pieces, .msg_iovlen = 2};
  int flags = os_send_flags(line);
  while (pieces[0].iov_len + pieces[1].iov_len > 0) {
    ssize_t sent = sendmsg(line, &message, flags);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    for (int i = 0; i < 2; i++) {
      size_t done = (size_t)sent < pieces[i].iov_len ? (size_t)sent : pieces[i].iov_len;
      pieces[i].iov_base = (char *)pieces[i].iov_base + done;
      pieces[i].iov_len -= done;
      sent -= (ssize_t)done;
    }
  }
  return true;
}

ptrdiff_t os_receive(int line, void *into, size_t n, bool waits) {
  return recv(line, into, n, waits ? 0 : MSG_DONTWAIT);
}

static struct sockaddr_in local(int port) {
  return (struct sockaddr_in){
      .sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
}

int os_free_port(void) {
  struct sockaddr_in at = local(0);
  socklen_t size = sizeof at;
  int fd = socket(AF_INET, os_stream_type(), 0), port = 0;
  if (fd >= 0 && bind(fd, (struct sockaddr *)&at, size) == 0 && getsockname(fd, (struct sockaddr *)&at, &size) == 0)
    port = ntohs(at.sin_port);
  if (fd >= 0) close(fd);
  return port;
}

int os_connect(int port, int64_t patience_ns) {
  struct timeval brief = {.tv_sec = patience_ns / 1000000000, .tv_usec = patience_ns / 1000 % 1000000};
  struct sockaddr_in to = local(port);
  int fd = socket(AF_INET, os_stream_type(), 0);
  bool good = fd >= 0 && setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &brief, sizeof brief) == 0 &&
              connect(fd, (struct sockaddr *)&to, sizeof to) == 0;
  if (good || fd < 0) return fd;
  close(fd);
  return -1;
}

void os_hang_up(int line) { close(line); }
