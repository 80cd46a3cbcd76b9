/* base/system_program.h - asks programs of the system (nvidia-smi, llama-bench) for what they print. */
#ifndef SITU_BASE_SYSTEM_PROGRAM_H
#define SITU_BASE_SYSTEM_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/text.h"

/* The path of a program in a folder, in the arena; NULL if there is none that can be run. */
const char *system_program_in_folder(const char *folder, size_t n, const char *name, arena *a);
/* The first of that name in the folders of PATH, likewise. */
const char *system_program_find(const char *name, arena *a);

/* Runs a program and adds what it prints, on both of its outputs, up to max_bytes, to `into`; what follows is dropped.
 * `stop` is asked every few milliseconds and may be NULL: true ends the program. It ends with its output. False if it
 * could not be started. */
bool system_program_output(text_buffer *into, const char *const *argv, size_t max_bytes, bool (*stop)(void *context),
                           void *context);

#endif
