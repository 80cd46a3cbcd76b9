/* api/instance_json.h - the member "instance" of a plan file (docs/formats/plan.md). */
#ifndef SITU_API_INSTANCE_JSON_H
#define SITU_API_INSTANCE_JSON_H

#include "api/instance.h"

enum { INSTANCE_HASH_BYTES = 24 };
/* A hash as plan files write it. */
const char *instance_hash_text(char into[INSTANCE_HASH_BYTES], uint64_t hash);

/* The options that an instance was opened with, including defaults, and its pins. NULL without memory. */
json_value *instance_to_json(const situ_instance *instance);

/* The options in the member, without pins, for which the caller needs the graph. Texts are borrowed from `member`, the
 * rest is in the arena. A member that is missing, unknown, of a wrong type or out of range is BAD_INPUT, with its name.
 * `path` is the plan file, for messages and relative paths. */
situ_status instance_options_from_json(instance_options *options, const json_value *object, const char *path, arena *a,
                                       situ_error *error);

#endif
