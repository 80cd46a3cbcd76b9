#include "api/what_if_groups.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "platform/catalogue.h"
#include "platform/grouped.h"
#include "platform/platform.h"
#include "read/reader.h"

/* The first device that stands in the group, and how many there are. */
static int32_t first_member(const situ_instance *i, int32_t device) {
  int32_t first = 0;
  for (int32_t d = 0; d < device; d++) first += platform_members(i->platform, d);
  return first;
}

int32_t what_if_joints(const situ_link_kind_info *kind[WHAT_IF_JOINTS], const situ_instance *i, int32_t device) {
  const situ_device *group = &i->platform->devices[device];
  int32_t n = 0;
  if (i->platform->uneven.device >= 0 || !i->ungrouped || !i->own_costs || i->rules || i->copies ||
      i->model->measured_ns || group->members < 2)
    return 0;
  const situ_device_kind_info *row = catalogue_find(i->ungrouped->devices[first_member(i, device)].class_name);
  bool old = row && row->bus && strcmp(row->bus, "pcie3") == 0;
  const situ_link_kind_info *bus = link_kind_find(old ? "pcie3-p2p" : "pcie4-p2p");
  const situ_link_kind_info *fabric = row && row->fabric ? link_kind_find(row->fabric) : NULL;
  if (fabric && group->members > 2 && strcmp(fabric->name, "nvlink-bridge") == 0) fabric = NULL; /* it joins two */
  if (bus && group->sync_links > 1) kind[n++] = bus;
  if (fabric && fabric->bytes_per_s > group->sync_bytes_per_s) kind[n++] = fabric;
  return n;
}

/* The links of a platform and those among the members of each group, in memory of the caller's; *n: how many. */
static situ_link *add_links(const situ_instance *i, const situ_link_kind_info *kind, int32_t size, int32_t *n) {
  const situ_platform *from = i->ungrouped;
  situ_link *links = calloc((size_t)from->n_links + (size_t)from->n_devices * (size_t)size + 1, sizeof *links);
  *n = from->n_links;
  if (links && from->n_links > 0) memcpy(links, from->links, (size_t)from->n_links * sizeof *links);
  for (int32_t d = 0, first = 0; links && d < i->platform->n_devices; d++) {
    int32_t end = first + platform_members(i->platform, d);
    for (int32_t e = first; e < end; e++)
      for (int32_t f = first; f < end; f++)
        if (e != f) links[(*n)++] = (situ_link){e, f, kind->latency_ns, kind->bytes_per_s, -1};
    first = end;
  }
  return links;
}

situ_status what_if_join(situ_platform **out, const situ_instance *i, const situ_link_kind_info *kind,
                         situ_error *error) {
  int32_t size, n_links;
  situ_platform *joined = NULL, *grouped = NULL;
  *out = NULL;
  TRY(instance_group_size(&size, &i->options, error));
  situ_link *links = add_links(i, kind, size, &n_links);
  if (!links) return fail_no_memory(error);
  situ_status status =
      platform_new_like(&joined, i->ungrouped, i->ungrouped->devices, i->ungrouped->n_devices, links, n_links, error);
  free(links);
  if (status == SITU_STATUS_OK)
    status = platform_grouped(&grouped, joined, size, tensor_split_extra_bytes(i->split, size), i->alone, error);
  situ_platform_free(joined);
  if (status == SITU_STATUS_OK) status = instance_scene(&grouped, i, error);
  HAND_OUT(out, grouped, status, situ_platform_free);
}
