/* The public way to a platform of one's own: devices and links one by one, the first failure kept for the end. */
#include <stdlib.h>

#include "base/arguments.h"
#include "base/resize.h"
#include "platform/platform.h"

struct situ_platform_builder {
  arena *arena; /* of all strings */
  const char *name;
  situ_device *devices;
  situ_link *links;
  int32_t n_devices, n_links, devices_room, links_room;
  situ_error failed; /* the first failure; status OK before */
};

situ_status situ_platform_builder_new(situ_platform_builder **out, const char *name, situ_error *error) {
  if (out) *out = NULL;
  TRY(GIVEN(error, out));
  situ_platform_builder *b = NOUN_NEW(situ_platform_builder, NULL);
  if (!b || !(b->name = arena_string(b->arena, name ? name : "platform"))) {
    situ_platform_builder_free(b);
    return fail_no_memory(error);
  }
  *out = b;
  return SITU_STATUS_OK;
}

void situ_platform_builder_free(situ_platform_builder *b) {
  if (!b) return;
  free(b->devices);
  free(b->links);
  arena_free(b->arena);
}

/* Makes room for one more of at most `most`; false, with the failure kept, where there is none. */
static bool make_room(situ_platform_builder *b, void *items, int32_t n, int32_t *room, size_t bytes, int32_t max) {
  if (n >= max) {
    fail_with(&b->failed, SITU_STATUS_BAD_INPUT, b->name, "has more than %d of a kind; see situ/platform.h", (int)max);
    return false;
  }
  if (n < *room) return true;
  if (!array_resize(items, 2 * (int64_t)n + 8, bytes)) {
    fail_no_memory(&b->failed);
    return false;
  }
  *room = 2 * n + 8;
  return true;
}

static bool keep(situ_platform_builder *b, const char **text) {
  if (!*text) return true;
  *text = arena_string(b->arena, *text);
  if (!*text) fail_no_memory(&b->failed);
  return *text != NULL;
}

int32_t situ_platform_builder_add_device(situ_platform_builder *b, const situ_device *device) {
  situ_device own;
  if (!b || b->failed.status != SITU_STATUS_OK || GIVEN(&b->failed, device) != SITU_STATUS_OK ||
      TAKE(own, device, SITU_DEVICE_INIT, &b->failed) != SITU_STATUS_OK || !keep(b, &own.name) ||
      !keep(b, &own.class_name) ||
      !make_room(b, &b->devices, b->n_devices, &b->devices_room, sizeof own, SITU_MAX_DEVICES))
    return -1;
  b->devices[b->n_devices] = own;
  return b->n_devices++;
}

int32_t situ_platform_builder_add_link(situ_platform_builder *b, const situ_link *link) {
  if (!b || b->failed.status != SITU_STATUS_OK || GIVEN(&b->failed, link) != SITU_STATUS_OK ||
      !make_room(b, &b->links, b->n_links, &b->links_room, sizeof *link, SITU_MAX_LINKS))
    return -1;
  b->links[b->n_links] = *link;
  return b->n_links++;
}

situ_status situ_platform_builder_status(const situ_platform_builder *b, situ_error *error) {
  TRY(GIVEN(error, b));
  if (error && b->failed.status != SITU_STATUS_OK) *error = b->failed;
  return b->failed.status;
}

situ_status situ_platform_freeze(situ_platform **out, const situ_platform_builder *b, situ_error *error) {
  if (out) *out = NULL;
  TRY(GIVEN(error, out, b));
  TRY(situ_platform_builder_status(b, error));
  return platform_new(out, b->name, b->devices, b->n_devices, b->links, b->n_links, error);
}
