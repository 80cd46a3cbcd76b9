/* platform/grouped.h - the platform whose devices are groups of devices of another one, equal ones or with shares. */
#ifndef SITU_PLATFORM_GROUPED_H
#define SITU_PLATFORM_GROUPED_H

#include "platform/platform.h"

/* Of `platform`, the same with groups of `k` (at least 2) devices that act as one (situ_device.members). k equal
 * devices that follow each other, of one server, make a group; hosts, devices that share a memory and what is left over
 * stay as they are. A group stands where its first member stood: links of the others go, and what arrives is passed on
 * to them, which takes as long as ceil(log2 k) steps of a collective without bytes. A step is the slowest transfer
 * between two members. Of the memory of a group, extra_bytes are taken off (copies of what does not split).
 * `alone`: [device] that are in no group; may be NULL.
 * BAD_ARGUMENT where no group can be made; BAD_INPUT where devices cannot be reached without the others. */
situ_status platform_grouped(situ_platform **out, const situ_platform *platform, int32_t k, int64_t extra_bytes,
                             const bool *alone, situ_error *error);

/* The largest k that platform_grouped takes; 1 where it takes none, and without memory. */
int32_t platform_max_group(const situ_platform *platform, const bool *alone);

/* The same of the first k devices, equal or not, of the longest run of those that follow each other in a server, are of
 * one vendor and could be in a group: they split operators by shares ([k], above 0, with the sum 1). Member i holds its
 * share of what is on the group, and extra_bytes[i] ([k]) more. Others stay single. */
situ_status platform_grouped_by_shares(situ_platform **out, const situ_platform *platform, int32_t k,
                                       const double *share, const int64_t *extra_bytes, const bool *alone,
                                       situ_error *error);

/* The largest k that this takes; 1 where it takes none, and without memory. */
int32_t platform_max_together(const situ_platform *platform, const bool *alone);
/* The first of these k devices; -1: there are not so many. */
int32_t platform_first_together(const situ_platform *platform, int32_t k, const bool *alone);

#endif
