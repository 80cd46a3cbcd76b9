#define _GNU_SOURCE
#define _DARWIN_C_SOURCE
#include <langinfo.h>
#include <locale.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>
#ifdef __APPLE__
#include <xlocale.h>
#endif

#include "console.h"

char **console_begin(int argc, char **argv) {
  (void)argc;
  return argv;
}

bool console_is_terminal(FILE *file) { return isatty(fileno(file)) == 1; }

int console_width(FILE *file) {
  struct winsize size;
  return ioctl(fileno(file), TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

bool console_is_unicode(void) {
  locale_t user = newlocale(LC_CTYPE_MASK, "", (locale_t)0);
  if (!user) return false;
  bool utf8 = strcmp(nl_langinfo_l(CODESET, user), "UTF-8") == 0;
  freelocale(user);
  return utf8;
}

static const int interrupts[] = {SIGINT, SIGTERM, SIGHUP};
enum { N_INTERRUPTS = sizeof interrupts / sizeof *interrupts };
static volatile sig_atomic_t *asked;

static void on_interrupt(int number) {
  (void)number;
  *asked = 1;
  for (int i = 0; i < N_INTERRUPTS; i++) signal(interrupts[i], SIG_DFL);
}

void console_catch(volatile sig_atomic_t *stop_asked) {
  struct sigaction action, old;
  asked = stop_asked;
  memset(&action, 0, sizeof action);
  action.sa_handler = on_interrupt;
  for (int i = 0; i < N_INTERRUPTS; i++) sigaddset(&action.sa_mask, interrupts[i]);
  for (int i = 0; i < N_INTERRUPTS; i++) {
    bool kept = interrupts[i] == SIGHUP && sigaction(SIGHUP, NULL, &old) == 0 && old.sa_handler == SIG_IGN; /* nohup */
    if (!kept) sigaction(interrupts[i], &action, NULL);
  }
}

/* It has no name but that of its descriptor. */
FILE *console_spool(const char **path) {
  static char name[32];
  FILE *file = tmpfile();
  if (file) snprintf(name, sizeof name, "/dev/fd/%d", fileno(file));
  *path = name;
  return file;
}

bool console_spooled(FILE *file) { return fflush(file) == 0; } /* it stays open: its path needs it */

console_kind console_look(const char *path) {
  struct stat is;
  if (stat(path, &is) != 0) return CONSOLE_ABSENT;
  return S_ISREG(is.st_mode) ? CONSOLE_FILE : S_ISDIR(is.st_mode) ? CONSOLE_FOLDER : CONSOLE_SPECIAL;
}

bool console_is_same(const char *path, const char *other) {
  struct stat a, b;
  return stat(path, &a) == 0 && stat(other, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}
