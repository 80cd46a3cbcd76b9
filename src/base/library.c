#include "base/library.h"

#include <string.h>

#include "base/c_locale.h"
#include "base/fail.h"
#include "base/os.h"

enum library_state { NOT_TRIED, LOADED, MISSING };

situ_status library_load(void **library, const char *path, bool open, situ_error *error) {
  *library = os_library_load(path, open);
  if (*library) return SITU_STATUS_OK;
  c_locale c = c_locale_begin(); /* it translates */
  const char *why = os_library_error();
  c_locale_end(&c);
  return fail_with(error, SITU_STATUS_ENGINE, path, "cannot be loaded: %s", why);
}

void *library_entry(void *library, const char *name) { return os_library_entry(library, name); }

static situ_status load_from(void **library, lazy_library *l) {
  if (!l->place) return library_load(library, l->path, false, &l->why);
  const char *path;
  arena *a = arena_new();
  situ_status status = a ? library_locate(&path, l->place, NULL, a, &l->why) : fail_no_memory(&l->why);
  if (status == SITU_STATUS_OK) status = library_load(library, path, false, &l->why);
  arena_free(a);
  return status;
}

static situ_status find_functions(lazy_library *l) {
  void *loaded;
  TRY(load_from(&loaded, l));
  for (int32_t i = 0; i < l->n; i++) {
    void *function = library_entry(loaded, l->names[i]);
    if (!function) return fail_with(&l->why, SITU_STATUS_ENGINE, l->path, "has no function %s", l->names[i]);
    memcpy((char *)l->functions + (size_t)i * sizeof function, &function, sizeof function);
  }
  return SITU_STATUS_OK;
}

const char *library_missing(lazy_library *l) {
  int state = __atomic_load_n(&l->state, __ATOMIC_ACQUIRE);
  if (state == NOT_TRIED) {
    pthread_mutex_lock(&l->lock);
    state = l->state;
    if (state == NOT_TRIED) {
      state = find_functions(l) == SITU_STATUS_OK ? LOADED : MISSING;
      __atomic_store_n(&l->state, state, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&l->lock);
  }
  return state == LOADED ? NULL : l->why.text;
}
