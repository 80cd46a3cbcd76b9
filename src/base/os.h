/* base/os.h - what situ asks of the operating system. Only the files behind this header include the system's own:
 * os_posix.c and os_process.c, beside them os_linux.c or os_darwin.c for what POSIX lacks, and os_windows.c instead of
 * all of them.
 *
 * Paths and words are UTF-8. Where a verb fails, errno says why; ENOSYS: this system has no such thing. A handle is a
 * small number of an open file, pipe or socket, -1 where opening failed; child processes that run other programs do not
 * inherit it. */
#ifndef SITU_BASE_OS_H
#define SITU_BASE_OS_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- files ---- */

typedef enum os_kind { OS_ABSENT, OS_FILE, OS_FOLDER, OS_SPECIAL } os_kind; /* SPECIAL: a device, a pipe, a socket */
typedef struct os_about {
  os_kind kind;
  int64_t size_bytes; /* of a FILE */
} os_about;

os_about os_look(const char *path); /* links are followed */
os_about os_look_at(int handle);
bool os_is_same(const char *path, const char *other); /* both exist and are one file */

int os_open(const char *path);   /* to read; a pipe is not waited for */
int os_create(const char *path); /* to write; EEXIST where it exists */
/* To write to what exists; a pipe is waited for, or ENXIO where nobody reads from it yet. */
int os_open_existing(const char *path, bool waits);
bool os_close(int handle);
ptrdiff_t os_read(int handle, void *into, size_t n);
ptrdiff_t os_write(int handle, const void *bytes, size_t n);
bool os_flush(int handle); /* onto the disk */

bool os_rename(const char *from, const char *to); /* also over an existing file */
bool os_remove(const char *path);
bool os_make_folder(const char *path);
bool os_remove_folder(const char *path);
/* A new folder or file for the time being, whose name begins with `prefix`; its path goes to `into`. */
bool os_temporary_folder(char *into, size_t n, const char *prefix);
int os_temporary_file(char *into, size_t n, const char *prefix);

/* The names in a folder, "." and ".." among them, in any order; NULL at the end. NULL has no names. */
typedef struct os_folder os_folder;
os_folder *os_folder_open(const char *path);
const char *os_folder_next(os_folder *folder);
void os_folder_close(os_folder *folder);

/* An absolute path without links and with / between folders, allocated by malloc. */
char *os_real_path(const char *path);
bool os_is_absolute(const char *path);
const char *os_last_slash(const char *path); /* where the last name of a path begins, less 1; NULL: it is one name */
char os_path_separator(void);                /* in the variable PATH */

/* A file in memory: zero, or its bytes already; os_view_read puts them there. What others do to the file does not raise
 * a signal. NULL where it fails. */
void *os_view_new(int handle, size_t bytes);
ptrdiff_t os_view_read(int handle, void *into, size_t n, size_t at);
void os_view_free(void *view, size_t bytes);

/* ---- memory, time, threads ---- */

/* Zeros, shared with processes forked later; free until written. NULL where it fails. */
void *os_shared_new(size_t bytes);
void os_shared_free(void *memory, size_t bytes);

int64_t os_now_ns(void);         /* monotonic */
int64_t os_thread_time_ns(void); /* what the calling thread has computed; 0: unknown */
void os_nap(int64_t ns);
/* Reads a block of memory as fast as one core can. */
void os_read_through(const void *bytes, size_t n);
int os_nap_slack(int slack_ns); /* how late naps of this thread may end; returns what held before */

void os_condition_new(pthread_cond_t *out);
void os_condition_wait(pthread_cond_t *condition, pthread_mutex_t *lock, int64_t max_ns);

/* Signals to the calling thread and to those it starts wait in between. */
typedef struct os_signals {
  uint64_t mask[16];
} os_signals;
void os_signals_hold(os_signals *before);
void os_signals_release(const os_signals *before);

/* The calling thread formats numbers as in C, whatever the program's locale; false: it goes on as it was. */
bool os_locale_enter(void **own, void **before);
void os_locale_leave(void *own, void *before);
const char *os_signal_name(int number);

/* ---- the machine ---- */

int os_cores(void);            /* that this process may use */
int64_t os_memory_bytes(void); /* 0: unknown */
double os_clock_hz(void);      /* of a core: at its base, else at most, else now; 0: unknown */
/* What tells this machine from others, the same in all containers of it; unchanged where nothing does. */
void os_machine_id(char *into, size_t n);
/* The set of cores that this process may use, as bits, and its limit to another. */
bool os_affinity(uint64_t *words, size_t bytes);
void os_set_affinity(const uint64_t *words, size_t bytes);

/* ---- shared libraries ---- */

/* Names of files as the systems have them: OS_LIBRARY("name", ".1"). */
#if defined(_WIN32)
#define OS_LIBRARY(NAME, VERSION) NAME ".dll"
#elif defined(__APPLE__)
#define OS_LIBRARY(NAME, VERSION) "lib" NAME ".dylib"
#else
#define OS_LIBRARY(NAME, VERSION) "lib" NAME ".so" VERSION
#endif

void *os_library_load(const char *path, bool open); /* open: libraries loaded later find its symbols */
void *os_library_entry(void *library, const char *name);
const char *os_library_error(void);

/* ---- regular expressions of POSIX ---- */

typedef struct os_pattern os_pattern;
os_pattern *os_pattern_new(const char *extended);
bool os_pattern_fits(const os_pattern *pattern, const char *text);
void os_pattern_free(os_pattern *pattern);

/* ---- processes ---- */

/* A fork that runs `work` and exits with what it returns: its number, or -1. It dies with this process, signals to the
 * group of processes do not reach it, and what it prints is discarded. */
long os_fork(int (*work)(void *context), void *context);
/* The same for a program: argv[0] is its path, both of its outputs go to the handle. */
long os_start(const char *const *argv, int output);
/* Whether it has ended, and by which signal (else 0). Once true, the number means nothing any more. */
bool os_has_ended(long process, int *killed_by);
/* Kills it and waits for its end; returns which signal ended it. */
int os_kill(long process);
bool os_is_program(const char *path);
extern const char OS_PROGRAM_SUFFIX[]; /* of files that can be started: "" or ".exe" */

long os_own_process(void); /* its number */

/* For a fork: closes all handles but the standard ones and this, which becomes the number that is returned; a crash
 * leaves no file behind. */
int os_keep_only(int handle);
void os_limit_memory(int64_t more_bytes); /* private memory to that of now and so much more; <= 0: the machine's */

/* ---- pipes and sockets ---- */

bool os_pipe(int ends[2]);   /* from the second to the first */
bool os_unblock(int handle); /* reading from it fails with EAGAIN where nothing has come */
bool os_line(int ends[2]);   /* both ways; sending through the first gives up after 10 s */
/* The first of n <= OS_MAX_WAITS handles with something to read, or that was closed; -1: none within this time. */
enum { OS_MAX_WAITS = 256 };
int os_wait(const int *handles, int n, int64_t max_ns);

/* Of lines and connections. Sends two blocks in one message; receives at least 1 byte, or 0 where the other side has
 * closed it; EAGAIN where nothing came at once, or on a connection within its patience. */
bool os_send(int line, const void *head, size_t n_head, const void *bytes, size_t n);
ptrdiff_t os_receive(int line, void *into, size_t n, bool waits);
/* Over TCP on this machine: a port that is free now, and a connection to one. */
int os_free_port(void);
int os_connect(int port, int64_t patience_ns);
void os_hang_up(int line);

/* ---- between the files of POSIX ---- */

void os_die_with(long parent); /* the calling process, which is a child of it */
void os_close_from(int first);
int os_stream_type(void);    /* of a socket */
int os_send_flags(int line); /* for a send that raises no signal */

#endif
