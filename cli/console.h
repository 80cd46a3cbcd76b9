/* cli/console.h - what the tool asks of the operating system: console_posix.c, or console_windows.c. */
#ifndef SITU_CONSOLE_H
#define SITU_CONSOLE_H

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>

/* Before anything else: words are UTF-8, and what is printed is as it was written. Returns them. */
char **console_begin(int argc, char **argv);
bool console_is_terminal(FILE *file);
int console_width(FILE *file); /* 0: unknown */
/* Whether the user's locale uses UTF-8. The locale of the process itself stays "C", so that numbers do not change. */
bool console_is_unicode(void);

/* Sets the flag at Ctrl-C and the signals that end a program; the second one, whichever it is, kills. */
void console_catch(volatile sig_atomic_t *stop_asked);

/* A file for the time being, gone when the process ends, and its path, by which it can be read once all is written;
 * NULL: errno says why. */
FILE *console_spool(const char **path);
bool console_spooled(FILE *file);

typedef enum console_kind { CONSOLE_ABSENT, CONSOLE_FILE, CONSOLE_FOLDER, CONSOLE_SPECIAL } console_kind;
console_kind console_look(const char *path);
bool console_is_same(const char *path, const char *other); /* both exist and are one file */

#endif
