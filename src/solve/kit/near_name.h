/* solve/kit/near_name.h - for a name that does not exist: which are near. */
#ifndef SITU_SOLVE_KIT_NEAR_NAME_H
#define SITU_SOLVE_KIT_NEAR_NAME_H

#include <stddef.h>
#include <stdint.h>

/* "did you mean heft or peft?", or "there are: ..." when none is near. Written into `into`, returned. */
const char *near_names(char *into, size_t capacity, const char *name, const char *const *names, int32_t n);

#endif
