/* api/instance.h - the contents of an instance. */
#ifndef SITU_API_INSTANCE_H
#define SITU_API_INSTANCE_H

#include "api/instance_options.h"
#include "base/arena.h"
#include "base/json.h"
#include "cost/cost_models.h"
#include "cost/tensor_split.h"
#include "problem/problem.h"
#include "situ/instance.h"

struct situ_instance {
  arena *arena;
  instance_options options; /* as given, strings and arrays in the arena; pins and unused are below */
  situ_model *model;
  situ_platform *own_platform; /* NULL when the model brings its own */
  situ_platform *ungrouped;    /* what was named, where the devices of own_platform are groups; else NULL */
  bool *alone;                 /* [device of that] in no group, for it stays unused; NULL without groups */
  situ_costs *own_costs;       /* likewise */
  situ_graph *copies;          /* of the model's graph, with their costs; NULL where there is one input only */
  situ_costs *copied_costs;
  situ_costs *secondary_costs; /* of the steps that a limit applies to; NULL: no limit */
  const situ_graph *graph;
  const situ_platform *platform;
  const situ_costs *costs;
  situ_problem *problem;
  int32_t *pins;             /* [n_operators], or NULL when nothing is pinned */
  bool *unused;              /* [n_devices], or NULL when every device may be used */
  const char *left_out;      /* devices that instance_leave_smaller added to these; NULL: none */
  int32_t *together;         /* [n_operators] keys of what stays together, or NULL */
  rule_set *rules;           /* of the model's graph; NULL: none */
  const tensor_split *split; /* of the model's graph, in the arena, where devices are groups; else NULL */
  int32_t form;              /* of the plans that the targets of all writers can run: situ_form */
  cost_scene scene;          /* `unused` is that below */
  int64_t all_verified_ns;   /* where several sizes of groups were tried, what is verified of the plans of all of them:
                                SITU_NEVER_NS, that there is none; -1: one was tried */
  bool may_split;            /* layers are whole by default, not by request: instance_split_layers may change that */
  size_t own_notes;          /* bytes of the notes of the model without that of the default */
};

/* The size of the groups of devices that the options name: 1 without, INSTANCE_AUTO_GROUPS for "auto". BAD_ARGUMENT for
 * any other text than a number or shares, as in "3,1" (of 2 to INSTANCE_MAX_SHARES devices). */
enum { INSTANCE_AUTO_GROUPS = 0, INSTANCE_MAX_SHARES = 16, INSTANCE_SHARES_BYTES = 80 };
situ_status instance_group_size(int32_t *out, const instance_options *options, situ_error *error);
/* The largest group that an instance without groups could have; 1 for training steps and for times of the model. */
int32_t instance_max_group(const situ_instance *instance);
/* The same of devices that may be unlike, for engines that give them unequal shares. */
int32_t instance_max_together(const situ_instance *instance);
/* Shares of the first k such devices in percent, "52,48", by the speed of their memories, or by their sizes. False
 * where there are not k, or too many. */
bool instance_shares_text(char into[INSTANCE_SHARES_BYTES], const situ_instance *instance, int32_t k, bool by_memory);
/* The sizes of groups to try, and how many they are: powers of two, and the whole of what is equal (six GPUs: 1, 2, 4,
 * 6). */
enum { INSTANCE_GROUP_SIZES = 16 };
int32_t instance_group_sizes(int32_t sizes[INSTANCE_GROUP_SIZES], int32_t max);
/* Replaces the platform of an instance, whose model is read, by that of its groups (platform/grouped.h), if the options
 * name a size. BAD_ARGUMENT for times of the model. */
situ_status instance_make_groups(situ_instance *instance, situ_error *error);
/* Training steps in groups: sizes of tensors count as split over the largest of them, which overstates them on a device
 * of another size. So that no proof says that it is too small, such a device must have memory for everything, as often
 * as inputs can be in flight. The first that has not, and may be used; -1: none. */
int32_t instance_find_smaller(const situ_instance *instance, const situ_platform *platform);
int32_t instance_max_members(const situ_platform *platform);
/* UNSUPPORTED, with what to do. */
situ_status instance_refuse_smaller(const situ_platform *platform, int32_t device, situ_error *error);
/* Leaves those devices unused (left_out), unless no group remains or operators are pinned: then they are refused. */
situ_status instance_leave_smaller(situ_instance *instance, situ_error *error);
/* Replaces a platform by that which the costs of the instance are for: with classes by network distance, and links of
 * accelerators through their host. */
situ_status instance_scene(situ_platform **platform, const situ_instance *instance, situ_error *error);

/* Reads the rules that the options name, if any, resolves them for the model, and applies them to the platform. Their
 * text is kept in options.rules_text. */
situ_status instance_read_rules(situ_instance *instance, situ_error *error);
/* Adds what rules keep together, and operators that groups of devices split with those that use their parts, to the
 * keys of the instance, which are created if there are none. */
situ_status instance_join_rules(situ_instance *instance, situ_error *error);

/* Language models, if options limit one kind of step: the other kind becomes the objective. BAD_ARGUMENT if the model
 * has no such steps, and for two limits. */
situ_status instance_take_limits(situ_instance *instance, situ_error *error);
/* The costs of the limited steps on a platform; NULL without a limit. */
situ_status instance_estimate_secondary(situ_costs **out, const situ_instance *instance, const situ_platform *platform,
                                        situ_error *error);
/* The costs of the model of an instance on a platform, as its options say, and those of limited steps. */
situ_status instance_estimate(situ_costs **out, situ_costs **secondary, const situ_instance *instance,
                              const situ_platform *platform, situ_error *error);
/* Puts the limit, if any, with these costs into options of a problem. */
void instance_limit(situ_problem_options *posed, const situ_instance *instance, const situ_costs *other);

/* Poses the problem of an instance whose other members are there. */
situ_status instance_pose(situ_instance *instance, situ_error *error);

/* A default must not make a problem infeasible: where may_split, drops the layers, so that the granularity is FUSED,
 * notes why, and poses the problem again; the old one is freed. `proved`: that no plan keeps layers whole. */
situ_status instance_split_layers(situ_instance *instance, bool proved, situ_error *error);

/* Adds a line to the notes of the instance. */
situ_status instance_add_note(situ_instance *instance, const char *note, situ_error *error);

/* As situ_instance_open. */
situ_status instance_open(situ_instance **out, const instance_options *options, situ_error *error);

/* Opens the instance that the member "instance" of a plan file describes. With `given`, whose model must be named, that
 * holds, and the member only where `given` leaves something open. A model, platform or cost table that the member names
 * must not have changed since. BAD_INPUT where the member is not as it should be. */
situ_status instance_from_json(situ_instance **out, const instance_options *given, const json_value *member,
                               const char *path, situ_error *error);

#endif
