/* api/instance_options.h - the options of an instance with the structs that they point to, as one value. */
#ifndef SITU_API_INSTANCE_OPTIONS_H
#define SITU_API_INSTANCE_OPTIONS_H

#include "base/arena.h"
#include "option/option.h"
#include "situ/instance.h"

/* situ_instance_options of this version. */
typedef struct instance_options {
  situ_instance_options call; /* without pointers to the next three */
  situ_read_options read;
  situ_cost_options cost;
  situ_problem_options problem;
  const char *rules_text; /* a JSON array of what rules files hold, where no rules are named; or NULL */
  const char
      *host_text; /* the platform file of what this-host was when the plan was made; NULL: this machine as it is */
  bool reopened;  /* of a plan file: its costs stand, whatever writers are asked for */
} instance_options;

/* The struct of a part; NULL for SITU_OPTION_SOLVE, which an instance has not. */
void *instance_options_part(instance_options *o, situ_option_part part);

/* Takes the options of a caller of any version; texts and arrays are borrowed. BAD_ARGUMENT for invalid options. */
situ_status instance_options_take(instance_options *own, const situ_instance_options *given, situ_error *error);
/* A copy whose texts and lists are in the arena; arrays of the problem are still borrowed. False without memory. */
bool instance_options_keep(instance_options *out, const instance_options *from, arena *a);
/* Sets what `options` leave at its default (0, false or NULL) to what `from` says; of the problem only where `options`
 * name neither objective nor execution model, since other constraints belong to those. */
void instance_options_fill(instance_options *options, const instance_options *from);

#endif
