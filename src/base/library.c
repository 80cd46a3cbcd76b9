#include "base/library.h"

#include <dlfcn.h>

#include "base/fail.h"

situ_status library_load(void **library, const char *path, bool open, situ_error *error) {
  *library = dlopen(path, RTLD_NOW | (open ? RTLD_GLOBAL : RTLD_LOCAL));
  return *library ? SITU_STATUS_OK : fail_with(error, SITU_STATUS_ENGINE, path, "cannot be loaded: %s", dlerror());
}

void *library_entry(void *library, const char *name) { return dlsym(library, name); }
