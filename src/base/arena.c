#include "base/arena.h"

#include <stdalign.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/contracts.h"

typedef struct block {
  struct block *previous;
  size_t capacity, used;
  alignas(max_align_t) unsigned char bytes[];
} block;

typedef struct held_arena {
  struct held_arena *next;
  arena *arena;
} held_arena;

struct arena {
  block *top;
  size_t held_bytes;
  held_arena *others; /* in its own memory */
  atomic_int n_references;
};

enum { FIRST_BLOCK_BYTES = 1 << 12, LARGEST_STEP_BYTES = 1 << 24 };

arena *arena_new(void) {
  arena *a = calloc(1, sizeof *a);
  if (a) atomic_init(&a->n_references, 1);
  return a;
}

void arena_free(arena *a) {
  if (!a || atomic_fetch_sub_explicit(&a->n_references, 1, memory_order_acq_rel) > 1) return;
  for (held_arena *h = a->others; h; h = h->next) arena_free(h->arena);
  arena_release(a, (arena_mark){NULL, 0});
  free(a);
}

bool arena_hold(arena *a, arena *other) {
  REQUIRE(other && other != a);
  held_arena *h = ARENA_NEW(a, held_arena, 1);
  if (!h) return false;
  *h = (held_arena){a->others, other};
  a->others = h;
  atomic_fetch_add_explicit(&other->n_references, 1, memory_order_relaxed);
  return true;
}

static block *push_block(arena *a, size_t need) {
  size_t capacity = a->top ? a->top->capacity * 2 : FIRST_BLOCK_BYTES;
  if (capacity > LARGEST_STEP_BYTES) capacity = LARGEST_STEP_BYTES;
#ifdef SITU_ARENA_DEBUG
  capacity = 0;
#endif
  if (capacity < need) capacity = need;
  block *b = malloc(sizeof(block) + capacity);
  if (!b) return NULL;
  *b = (block){.previous = a->top, .capacity = capacity};
  a->top = b;
  a->held_bytes += sizeof(block) + capacity;
  return b;
}

void *arena_alloc(arena *a, int64_t count, size_t size) {
  size_t bytes;
  if (!a || count < 0 || __builtin_mul_overflow((size_t)count, size, &bytes)) return NULL;
  if (bytes > SIZE_MAX / 4) return NULL;
#ifdef SITU_ARENA_DEBUG
  block *fresh = push_block(a, bytes ? bytes : 1);
  if (!fresh) return NULL;
  fresh->used = fresh->capacity;
  return fresh->bytes;
#else
  size_t step = (bytes + alignof(max_align_t) - 1) / alignof(max_align_t) * alignof(max_align_t);
  if (step == 0) step = alignof(max_align_t);
  block *b = a->top;
  if (!b || b->capacity - b->used < step) b = push_block(a, step);
  if (!b) return NULL;
  void *at = b->bytes + b->used;
  b->used += step;
  return at;
#endif
}

void *arena_zero(arena *a, int64_t count, size_t size) {
  void *at = arena_alloc(a, count, size);
  if (at) memset(at, 0, (size_t)count * size);
  return at;
}

void *arena_copy(arena *a, const void *from, int64_t count, size_t size) {
  void *at = arena_alloc(a, count, size);
  if (at && count > 0) memcpy(at, from, (size_t)count * size);
  return at;
}

bool arena_arrays(arena *a, const arena_array *rows) {
  for (; rows->pointer; rows++) {
    void *at = rows->zero ? arena_zero(a, rows->count, rows->size) : arena_alloc(a, rows->count, rows->size);
    if (!at) return false;
    memcpy(rows->pointer, &at, sizeof at); /* pointers to objects of any type have one form */
  }
  return true;
}

char *arena_string_n(arena *a, const char *text, size_t n) {
  if (!text) return NULL;
  char *at = arena_alloc(a, (int64_t)n + 1, 1);
  if (!at) return NULL;
  memcpy(at, text, n);
  at[n] = '\0';
  return at;
}

char *arena_string(arena *a, const char *text) { return text ? arena_string_n(a, text, strlen(text)) : NULL; }

void *arena_noun(size_t size, size_t offset_of_arena, arena *held) {
  arena *a = arena_new();
  char *noun = a && (!held || arena_hold(a, held)) ? arena_zero(a, 1, size) : NULL;
  if (noun)
    memcpy(noun + offset_of_arena, &a, sizeof a);
  else
    arena_free(a);
  return noun;
}

arena_mark arena_get_mark(const arena *a) { return (arena_mark){a->top, a->top ? a->top->used : 0}; }

void arena_release(arena *a, arena_mark mark) {
  while (a->top && a->top != mark.block) {
    block *b = a->top;
    a->top = b->previous;
    a->held_bytes -= sizeof(block) + b->capacity;
    free(b);
  }
  REQUIRE(a->top == mark.block && (!a->top || mark.used <= a->top->used)); /* a mark of this arena, not yet released */
  if (a->top) a->top->used = mark.used;
}

size_t arena_held_bytes(const arena *a) { return a->held_bytes; }
