/* What a cost table says of its measurement, against this machine. */
#include <string.h>

#include "base/fail.h"
#include "cost/cost_models.h"
#include "platform/platform.h"
#include "platform/platform_sources.h"

/* Whether times of that class apply to the CPU of this machine. */
static bool is_host_cpu(const situ_platform *p, const char *name) {
  for (int32_t k = 0; k < p->n_classes; k++)
    if (this_host_is_cpu(p, k) && (strcmp(name, "cpu") == 0 || strcmp(name, p->class_name[k]) == 0)) return true;
  return false;
}

situ_status cost_table_check_machine(const situ_platform *p, const char *path, const json_value *root,
                                     situ_error *error) {
  const json_value *rows = json_get(root, "measured");
  if (rows && json_kind_of(rows) != JSON_ARRAY_KIND)
    return fail_with(error, SITU_STATUS_BAD_INPUT, path, "\"measured\" must be a list");
  for (size_t i = 0; i < json_size(rows); i++) {
    const json_value *row = json_at(rows, i);
    const char *of = json_text(json_get(row, "class"), NULL), *machine = json_text(json_get(row, "machine"), NULL);
    if (!of) return fail_with(error, SITU_STATUS_BAD_INPUT, path, "\"measured\" must have objects with a \"class\"");
    if (!p->machine || !machine || strcmp(machine, p->machine) == 0 || !is_host_cpu(p, of)) continue;
    return fail_with(error, SITU_STATUS_BAD_INPUT, path,
                     "\"%.60s\" was measured on another machine (%.110s) than this-host (%.110s): measure here (situ "
                     "profile), or name the platform that was measured",
                     of, machine, p->machine);
  }
  return SITU_STATUS_OK;
}
