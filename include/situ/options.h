/* situ/options.h - the table of options: what `situ place`, the keyword arguments of Python and plan files say by name
 * goes into a field of an options struct. Parsing, help, completion, man pages and the Python face unfold from it. */
#ifndef SITU_OPTIONS_H
#define SITU_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "situ/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The struct that an option is a field of. */
typedef enum situ_option_part {
  SITU_OPTION_READ,     /* situ_read_options */
  SITU_OPTION_COST,     /* situ_cost_options */
  SITU_OPTION_PROBLEM,  /* situ_problem_options */
  SITU_OPTION_INSTANCE, /* situ_instance_options */
  SITU_OPTION_SOLVE     /* situ_solve_options */
} situ_option_part;

/* The type of its field, and what people write. */
typedef enum situ_option_kind {
  SITU_OPTION_ON,      /* bool, set by naming the option */
  SITU_OPTION_OFF,     /* bool, cleared; another option of the same field sets it */
  SITU_OPTION_TEXT,    /* const char * */
  SITU_OPTION_PATH,    /* const char *: a file, or a name that is no file */
  SITU_OPTION_CHOICE,  /* an enum: min + the index in `choices` */
  SITU_OPTION_INT64,   /* int64_t, at least min; 0: not given */
  SITU_OPTION_INT32,   /* int32_t, at least min, at most max unless that is 0; 0: not given */
  SITU_OPTION_SEED,    /* uint64_t */
  SITU_OPTION_MS,      /* int64_t nanoseconds; milliseconds above 0, at most max */
  SITU_OPTION_PERCENT, /* double, a share; percent from 0 to max */
  SITU_OPTION_REAL,    /* double above 0, at most max */
  SITU_OPTION_DIMS,    /* NAME=SIZE, repeatable: dims and n_dims of situ_read_options */
  SITU_OPTION_NAMES,   /* names, repeatable: unused and n_unused of situ_instance_options */
  SITU_OPTION_RULES,   /* paths, repeatable: rules and n_rules of situ_instance_options */
  SITU_OPTION_RULE     /* what the row calls its value, repeatable: the rule "NAME VALUE" in the same list */
} situ_option_kind;

typedef struct situ_option_info {
  size_t size;
  const char *name;  /* "max-period", of the command line without dashes; Python has max_period */
  const char *json;  /* the member of `instance`, or of its `costs`, in plan files; NULL: not part of the problem */
  const char *group; /* the heading in help */
  situ_option_part part;
  situ_option_kind kind;
  size_t offset; /* of the field in its struct; that of the count of a list is not stated */
  int64_t min;
  double max;
  const char *const *choices; /* CHOICE: ended by NULL; else NULL */
  const char *value;          /* placeholder of the value in help, or NULL */
  const char *title;          /* help: meaning, unit and default */
  const char *also;           /* words that people type for it, separated by spaces, for suggestions; or NULL */
  const char *old;            /* an earlier name that still works, or NULL */
  const char *family;         /* of its values: a table of situ_report_list, "file" or NULL */
} situ_option_info;
#define SITU_OPTION_INFO_INIT SITU_SIZED(situ_option_info)

SITU_API int32_t situ_option_count(void);
/* Row `index`; false when there is none. */
SITU_API bool situ_option_at(int32_t index, situ_option_info *out);

#ifdef __cplusplus
}
#endif
#endif
