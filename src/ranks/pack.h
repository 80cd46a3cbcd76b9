/* ranks/pack.h - values as bytes, for messages between processes of one program on machines of one kind. Reading past
 * the end gives zeros and is remembered. */
#ifndef SITU_RANKS_PACK_H
#define SITU_RANKS_PACK_H

#include "base/arena.h"
#include "base/text.h"

void pack_int(text_buffer *to, int64_t value);
/* n values of `size` bytes each; NULL is another thing than none. */
void pack_array(text_buffer *to, const void *values, int64_t n, size_t size);
void pack_text(text_buffer *to, const char *text); /* NULL is another thing than "" */

typedef struct unpack {
  const unsigned char *at;
  int64_t n_left; /* bytes */
  bool failed;
} unpack;

int64_t unpack_int(unpack *from);
/* Reads an array into the arena; NULL where NULL was written or memory ran out (which `failed` says). *n is its
 * length. */
void *unpack_array(unpack *from, int64_t *n, size_t size, arena *a);
/* The same with exactly n values that go to `into`; whether there were any. */
bool unpack_into(unpack *from, void *into, int64_t n, size_t size);
/* The same of numbers that must be at least `min` and below `end`: any other is a failure. */
bool unpack_within(unpack *from, int32_t *into, int64_t n, int32_t min, int32_t end);
/* A number from `min` to `max`; any other is a failure, and gives `min`. */
int64_t unpack_from_to(unpack *from, int64_t min, int64_t max);
char *unpack_text(unpack *from, arena *a);

#endif
