/* base/resize.h - arrays from malloc that grow. */
#ifndef SITU_BASE_RESIZE_H
#define SITU_BASE_RESIZE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/* Gives the array that *array points to room for n objects of `size` bytes; false without memory: then it is as it
 * was. `array` is the address of a pointer to objects. */
static inline bool array_resize(void *array, int64_t n, size_t size) {
  void **at = array;
  void *moved = realloc(*at, (size_t)n * size);
  if (moved) *at = moved;
  return moved != NULL;
}

#endif
