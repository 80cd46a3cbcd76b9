/* attack_import.h - plan files with rows by chance. */
#ifndef SITU_ATTACK_IMPORT_H
#define SITU_ATTACK_IMPORT_H

#include "attack_verify.h"

/* Changes the plan file at `path` some times and reads it for the same problem: value and verdict against the model of
 * this folder. */
bool verify_rows(attack_failure *failure, const attack_facts *f, const situ_instance_options *options, const char *path,
                 uint64_t seed);

#endif
