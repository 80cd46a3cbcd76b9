/* Replicas and calls by chance, which only plan files can state: a file that the library wrote gets other rows. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attack_import.h"

static void draw_replicas(attack_placement *at, const attack_facts *f, attack_dice *dice) {
  uint32_t used = 0;
  for (int32_t v = 0; v < f->p->n; v++) used |= 1U << at->device[v];
  for (int32_t d = 0; d < f->p->n_devices; d++) {
    int32_t leader = dice_below(dice, f->p->n_devices);
    bool wild = dice_chance(dice, 5);
    at->replica_of[d] = -1;
    if (leader != d && (wild || (!(used >> d & 1) && (used >> leader & 1))) && dice_chance(dice, 60))
      at->replica_of[d] = leader;
  }
}

/* Calls of each accelerator, numbered from 0 over all of them: mostly along the paths, now and then against them. */
static void draw_calls(attack_placement *at, const attack_facts *f, attack_dice *dice) {
  int32_t n = 0;
  for (int32_t d = 0; d < f->p->n_devices; d++) {
    int32_t number[MAX_OPS], most = 0;
    for (int32_t v = 0; v < f->p->n; v++) {
      at->call[v] = f->p->device[d].is_host && at->device[v] == d ? -1 : at->call[v];
      if (at->device[v] != d || f->p->device[d].is_host) continue;
      number[v] = dice_chance(dice, 60) ? most : dice_below(dice, most + 1);
      if (dice_chance(dice, 30)) number[v] = most + 1;
      if (number[v] > most) most = number[v];
      at->call[v] = n + number[v];
    }
    n += most + 1;
  }
}

/* Numbers 0 .. n-1 without gaps, in the same order. */
static void close_gaps(attack_placement *at, const attack_facts *f) {
  for (int32_t c = 0, next = 0; c < 3 * MAX_OPS; c++) {
    bool any = false;
    for (int32_t v = 0; v < f->p->n; v++) {
      if (at->call[v] != c) continue;
      at->call[v] = next;
      any = true;
    }
    next += any;
  }
}

static void write_rows(FILE *f, const attack_facts *facts, const attack_placement *at) {
  bool calls = facts->p->execution == SITU_EXECUTION_CALLS;
  fputs("\"operators\": [", f);
  for (int32_t v = 0; v < facts->p->n; v++) {
    fprintf(f, "%s[\"o%d\", \"d%d\"", v ? ", " : "", (int)v, (int)at->device[v]);
    if (calls && at->call[v] < 0) fputs(", 0, 0, null", f);
    if (calls && at->call[v] >= 0) fprintf(f, ", 0, 0, %d", (int)at->call[v]);
    fputs("]", f);
  }
  fputs("], \"devices\": [", f);
  for (int32_t d = 0; d < facts->p->n_devices; d++) {
    int32_t of = at->replica_of[d], n = 0;
    for (int32_t v = 0; v < facts->p->n; v++) n += at->device[v] == (of >= 0 ? of : d);
    fprintf(
        f, "%s{\"name\": \"d%d\", \"operators\": %d, \"load_ns\": 0, \"memory_bytes\": 0, \"memory_limit_bytes\": null",
        d ? ", " : "", (int)d, (int)n);
    if (of >= 0) fprintf(f, ", \"replica_of\": \"d%d\"", (int)of);
    fputs("}", f);
  }
  fputs("], ", f);
}

/* The file at `path` with other rows; false where it cannot be read or written. */
static bool change_file(const char *path, const attack_facts *f, const attack_placement *at) {
  char *text = NULL, block[4096];
  size_t size = 0, n;
  FILE *in = fopen(path, "r"), *out = open_memstream(&text, &size);
  while (in && out && (n = fread(block, 1, sizeof block, in)) > 0) fwrite(block, 1, n, out);
  if (in) fclose(in);
  if (!out || fclose(out) != 0) return false;
  char *rows = strstr(text, "\"operators\": ["), *rest = strstr(text, "\"instance\": {");
  FILE *file = rows && rest ? fopen(path, "w") : NULL;
  if (file) {
    fwrite(text, 1, (size_t)(rows - text), file);
    write_rows(file, f, at);
    fputs(rest, file);
  }
  free(text);
  return file && fclose(file) == 0;
}

static bool may_be(const attack_facts *f, const attack_placement *at) {
  uint32_t used = 0;
  for (int32_t v = 0; v < f->p->n; v++) {
    if (at->device[v] != at->device[f->unit_of[v]] || !f->allowed[f->unit_of[v]][at->device[v]]) return false;
    used |= 1U << at->device[v];
  }
  for (int32_t d = 0; d < f->p->n_devices; d++) {
    int32_t of = at->replica_of[d];
    if (of < 0) continue;
    if (!f->p->replicate || (used >> d & 1) || at->replica_of[of] >= 0 || !facts_may_share(f, of, d)) return false;
  }
  return true;
}

static bool verify_imported(attack_failure *failure, const attack_facts *f, const attack_placement *at,
                            const situ_instance_options *options, const char *path) {
  situ_plan *plan;
  situ_instance *instance;
  situ_verdict *verdict;
  situ_error error;
  attack_value mine;
  bool allowed = may_be(f, at), good = true;
  value_find(&mine, f, at, true);
  bool valid = allowed && value_valid(&mine);
  if (situ_plan_import(&plan, &instance, options, path, &error))
    return !valid || failure_set(failure, "import-status", "%s: %s", situ_status_name(error.status), error.text);
  if (valid && plan_says(plan).value_ns != mine.value_ns) {
    good = failure_set(failure, "import-value", "the plan takes %lld ns, not %lld", (long long)mine.value_ns,
                       (long long)plan_says(plan).value_ns);
  } else if (situ_check(&verdict, plan, &error)) {
    good = failure_set(failure, "import-check", "%s: %s", situ_status_name(error.status), error.text);
  } else {
    situ_violation first = situ_verdict_violation(verdict, 0);
    bool accepted = verdict_says(verdict).n_found == 0;
    if (accepted != valid)
      good = failure_set(failure, accepted ? "import-accepted" : "import-rejected",
                         "runs %d, fits %d, keeps %d, allowed %d; %s: %s", mine.runs, mine.fits, mine.keeps, allowed,
                         first.rule, first.text);
    situ_verdict_free(verdict);
  }
  situ_plan_free(plan);
  situ_instance_free(instance);
  return good;
}

bool verify_rows(attack_failure *failure, const attack_facts *f, const situ_instance_options *options, const char *path,
                 uint64_t seed) {
  attack_dice dice = {.state = seed};
  if (f->p->execution == SITU_EXECUTION_STREAM) return true;
  for (int32_t k = 0; k < 8; k++) {
    attack_placement at = {.device = {0}};
    for (int32_t v = 0; v < f->p->n; v++) {
      int32_t u = f->unit_of[v], d = dice_below(&dice, f->p->n_devices);
      for (int32_t i = 0; i < f->p->n_devices && !f->allowed[u][d]; i++) d = (d + 1) % f->p->n_devices;
      at.device[v] = u == v ? d : at.device[u];
      at.call[v] = -1;
    }
    for (int32_t d = 0; d < MAX_DEVICES; d++) at.replica_of[d] = -1;
    if (f->p->execution == SITU_EXECUTION_CALLS) draw_calls(&at, f, &dice);
    if (f->p->execution == SITU_EXECUTION_CALLS) close_gaps(&at, f);
    if (f->p->replicate) draw_replicas(&at, f, &dice);
    if (!change_file(path, f, &at)) return failure_set(failure, "files-io", "cannot change %s", path);
    if (!verify_imported(failure, f, &at, options, path)) return false;
  }
  return true;
}
