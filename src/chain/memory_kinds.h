/* chain/memory_kinds.h - memories that are alike for operators, wherever their routes lead. */
#ifndef SITU_CHAIN_MEMORY_KINDS_H
#define SITU_CHAIN_MEMORY_KINDS_H

#include "chain/visit_chain.h"

/* Memories of equal capacity on which each operator takes the same minimum time are one kind. */
typedef struct memory_kinds {
  int32_t n;
  int32_t *of;             /* [memory] */
  int32_t *members, *some; /* [kind] how many memories it has, and one of them */
} memory_kinds;
/* False without memory. */
bool memory_kinds_find(memory_kinds *out, const visits *v, arena *a);

#endif
