/* api/what_if_groups.h - groups of devices whose members are joined by other links. */
#ifndef SITU_API_WHAT_IF_GROUPS_H
#define SITU_API_WHAT_IF_GROUPS_H

#include "api/instance.h"

/* Kinds of link that could join the members of a group and would be faster than their route to each other: peer access
 * over their bus, and the fabric of the devices. Returns how many, at most WHAT_IF_JOINTS; 0 where nothing is known. */
enum { WHAT_IF_JOINTS = 2 };
int32_t what_if_joints(const situ_link_kind_info *kind[WHAT_IF_JOINTS], const situ_instance *instance, int32_t device);

/* The platform of an instance with groups, where the members of each have direct links of a kind. */
situ_status what_if_join(situ_platform **out, const situ_instance *instance, const situ_link_kind_info *kind,
                         situ_error *error);

#endif
