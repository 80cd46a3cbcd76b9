/* base/arguments.h - what public functions do with the arguments of callers whom situ does not know: none is NULL that
 * must not be, and structs may be of an older or a later version (include/situ/types.h says how they grow). */
#ifndef SITU_BASE_ARGUMENTS_H
#define SITU_BASE_ARGUMENTS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/fail.h"

/* BAD_ARGUMENT with the name of the first pointer that is NULL: TRY(GIVEN(error, out, problem, plan)). */
#define GIVEN(error, ...)                                                              \
  arguments_given((error), __func__, #__VA_ARGS__, (const void *const[]){__VA_ARGS__}, \
                  sizeof((const void *const[]){__VA_ARGS__}) / sizeof(void *))
situ_status arguments_given(situ_error *error, const char *function, const char *names, const void *const *pointers,
                            size_t n);

/* Copies a caller's struct into `own`, zeroes the fields that the caller does not know, and sets own.size to its own
 * size. `given` may be NULL: then all fields are 0. BAD_ARGUMENT names the initialiser when the size is 0, and when the
 * caller set a field that this version does not know. TRY(TAKE(mine, options, SITU_SOLVE_OPTIONS_INIT, error)). */
#define TAKE(own, given, INITIALISER, error) arguments_take(&(own), sizeof(own), (given), #INITIALISER, (error))
situ_status arguments_take(void *own, size_t own_size, const void *given, const char *initialiser, situ_error *error);

/* Copies the fields of `own` that a caller's struct has; its size stays, and fields beyond `own` become 0. False, and
 * nothing is written, if `to` is NULL or has no size. */
#define GIVE(to, own) arguments_give((to), &(own), sizeof(own))
bool arguments_give(void *to, const void *own, size_t own_size);

#endif
