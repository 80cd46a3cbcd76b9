/* base/arena.h - memory that is freed all at once, with mark and release for scratch.
 *
 * One noun owns one arena. Memory from an arena is aligned for any type. arena_alloc returns NULL when memory runs out
 * or the size is negative or overflows; a request for 0 bytes gives a valid, unique pointer.
 *
 * In debug mode (built with -Darena_debug=true) each object is allocated separately, so that AddressSanitizer sees
 * overruns.
 *
 * An arena counts its references, so that a frozen noun lives as long as something needs it: the arena of a noun holds
 * those of the nouns that it points to. Holding and freeing are safe in any thread. */
#ifndef SITU_BASE_ARENA_H
#define SITU_BASE_ARENA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct arena arena;

typedef struct arena_mark {
  void *block;
  size_t used;
} arena_mark;

/* A new arena with one reference, or NULL. */
arena *arena_new(void);
/* Drops a reference. The last one frees the arena and drops those that it holds. NULL is allowed. */
void arena_free(arena *a);
/* From now on `a` holds a reference to `other`, until it is freed. Not between a mark of `a` and its release. False
 * without memory. */
bool arena_hold(arena *a, arena *other);
/* `count` objects of `size` bytes, uninitialised / all zero. */
void *arena_alloc(arena *a, int64_t count, size_t size);
void *arena_zero(arena *a, int64_t count, size_t size);
/* A copy of a string (of its first n bytes); NULL in gives NULL out. */
char *arena_string(arena *a, const char *text);
char *arena_string_n(arena *a, const char *text, size_t n);
/* A copy of `count` objects. */
void *arena_copy(arena *a, const void *from, int64_t count, size_t size);
/* A noun, all zero, in an arena of its own, which also holds `held` unless it is NULL: its member `arena`. NULL without
 * memory. */
#define NOUN_NEW(type, held) ((type *)arena_noun(sizeof(type), offsetof(type, arena), (held)))
void *arena_noun(size_t size, size_t offset_of_arena, arena *held);
/* Frees all that was allocated since the mark. */
arena_mark arena_get_mark(const arena *a);
void arena_release(arena *a, arena_mark mark);
/* Bytes held from the system now. */
size_t arena_held_bytes(const arena *a);

#define ARENA_NEW(a, type, count) ((type *)arena_alloc((a), (count), sizeof(type)))
#define ARENA_ZERO(a, type, count) ((type *)arena_zero((a), (count), sizeof(type)))
#define ARENA_COPY(a, from, type, count) ((type *)arena_copy((a), (from), (count), sizeof(type)))

/* One array of several that are made together: the address of the pointer to it, and whether it starts as zeros. */
typedef struct arena_array {
  void *pointer;
  int64_t count;
  size_t size;
  bool zero;
} arena_array;

/* Makes the arrays up to the first row without a pointer. False without memory: pointers from the one that failed on
 * are as they were. */
bool arena_arrays(arena *a, const arena_array *rows);

/* Many arrays at once, each with the type of its own pointer, uninitialised or all zero:
 *
 *     if (!ARENA_ARRAYS(a, ARRAY(s->rank, n), ZEROS(s->seen, n))) return false; */
#define ARENA_ARRAYS(a, ...) arena_arrays((a), (const arena_array[]){__VA_ARGS__, {NULL, 0, 0, false}})
#define ARRAY(pointer, count) \
  { &(pointer), (count), sizeof *(pointer), false }
#define ZEROS(pointer, count) \
  { &(pointer), (count), sizeof *(pointer), true }

#endif
