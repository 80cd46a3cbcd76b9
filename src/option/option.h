/* option/option.h - the table of options inside the library: reading, writing, keeping and comparing structs of options
 * field by field. An option is one row of option_rows.c. */
#ifndef SITU_OPTION_OPTION_H
#define SITU_OPTION_OPTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "situ/options.h"

typedef situ_option_info option;

extern const option option_rows[];
extern const int32_t option_n_rows;

/* The bytes of the field of an option; 0 for lists, which are handled one by one. */
size_t option_bytes(const option *row);
static inline void *option_field(const option *row, void *part) { return (char *)part + row->offset; }
static inline const void *option_value(const option *row, const void *part) { return (const char *)part + row->offset; }
/* Whether the field has a value other than that of a struct that nobody has filled. */
bool option_is_given(const option *row, const void *part);

/* A hash of all options of a part in its struct, texts by their content. Lists are left out. */
uint64_t options_hash(uint64_t seed, situ_option_part part, const void *of);

#endif
