/* learn/shipped.h - the policies of share/policies, built into the library, so that they are there wherever it
 * is. */
#ifndef SITU_LEARN_SHIPPED_H
#define SITU_LEARN_SHIPPED_H

#include <stdint.h>

/* One policy file; `name` is that of its learner. */
typedef struct shipped_policy {
  const char *name;
  const unsigned char *bytes;
  int64_t size;
} shipped_policy;

/* The table, ended by a NULL name; tools/embed.c writes it. */
extern const shipped_policy shipped_policies[];

#endif
