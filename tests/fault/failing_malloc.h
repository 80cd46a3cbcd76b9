/* fault/failing_malloc.h - malloc, calloc and realloc that fail once, after `countdown` others. For programs of one
 * file, linked with -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc. */
#ifndef SITU_TESTS_FAILING_MALLOC_H
#define SITU_TESTS_FAILING_MALLOC_H

#include <stdbool.h>
#include <stddef.h>

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *at, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *at, size_t size);

static long long countdown = -1; /* allocations left before one fails; -1: none fails */
static long long counted;

static bool fails(void) {
  counted++;
  return countdown >= 0 && countdown-- == 0;
}

void *__wrap_malloc(size_t size) { return fails() ? NULL : __real_malloc(size); }
void *__wrap_calloc(size_t n, size_t size) { return fails() ? NULL : __real_calloc(n, size); }
void *__wrap_realloc(void *at, size_t size) { return fails() ? NULL : __real_realloc(at, size); }

#endif
