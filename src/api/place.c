/* The main path: an instance is opened and its problem solved. Everything else of situ hangs on an arrow of
 * api/instance.c, or on this one:
 *
 *     problem --solve--> plan
 *
 * Where devices may split operators (tensor parallelism) in groups of any size, or any number of layers may be
 * recomputed in training, each choice is a problem of its own, and the best plan is the answer. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/granularity.h"
#include "api/place_instance.h"
#include "api/place_recompute.h"
#include "api/place_streamed.h"
#include "api/variants.h"
#include "base/arguments.h"
#include "base/ascii.h"
#include "base/checked.h"
#include "base/fail.h"
#include "plan/plan.h"
#include "platform/platform_sources.h"
#include "read/reader.h"

/* The instance of the options without groups. */
static situ_status open_whole(situ_instance **out, const instance_options *o, situ_error *error) {
  instance_options whole = *o;
  whole.call.tensor_parallel = NULL;
  return instance_open(out, &whole, error);
}

/* "; gpu0 alone takes 60 ms": the best single device, whatever groups there are. */
static void add_single(text_buffer *t, const situ_plan *whole) {
  char a[TEXT_UNIT_BYTES];
  if (whole->best_single_device < 0)
    text_add(t, "; no device alone can run everything");
  else
    text_add(t, "; %.64s alone takes %s", whole->problem->platform->devices[whole->best_single_device].name,
             text_time(a, whole->best_single_ns));
}

static situ_status place_all(situ_plan **out, situ_instance **its, const instance_options *o,
                             const situ_solve_options *solve, situ_instance *whole, variant *rows, int32_t n,
                             text_buffer *single, situ_error *error) {
  situ_solve_options each = *solve;
  double spent_s = 0;
  if (each.time_limit_s > 0 || each.max_steps == 0)
    each.time_limit_s = (each.time_limit_s > 0 ? each.time_limit_s : PLACE_USUAL_S) / n;
  for (int32_t i = 0; i < n; i++) {
    situ_plan *plan = NULL;
    situ_instance *instance = i == 0 ? whole : NULL;
    instance_options own = *o;
    own.call.tensor_parallel = rows[i].name;
    if (i > 0) { /* plans to start from are of other devices */
      own.call.start = NULL;
      each.n_starts = 0;
    }
    situ_status status = i == 0 ? SITU_STATUS_OK : instance_open(&instance, &own, error);
    if (status == SITU_STATUS_UNSUPPORTED && i > 0) { /* a writer takes no such groups */
      rows[i] = (variant){0};
      continue;
    }
    if (status == SITU_STATUS_OK) status = place_instance(&plan, instance, &each, error);
    if (status != SITU_STATUS_OK) {
      situ_instance_free(instance);
      return status;
    }
    spent_s += plan->seconds;
    if (i == 0) add_single(single, plan);
    bool stopped = plan->outcome == SITU_OUTCOME_CANCELLED;
    variants_keep_best(out, its, plan, instance, &rows[i]);
    for (int32_t j = i + 1; stopped && j < n; j++) rows[j].value_ns = SITU_NEVER_NS;
    if (stopped) break;
  }
  (*out)->seconds = spent_s;
  return SITU_STATUS_OK;
}

/* Adds the note of groups, and what a single device takes. */
static situ_status add_note(situ_instance *i, text_buffer *note, text_buffer *single, situ_error *error) {
  char *tail = text_take(single), *line;
  text_add(note, "%s", tail ? tail : "");
  line = text_take(note);
  situ_status status = tail && line ? instance_add_note(i, line, error) : fail_no_memory(error);
  free(tail);
  free(line);
  return status;
}

static int64_t min_verified(const situ_instance *i, const variant *row) {
  return i->all_verified_ns < 0 ? row->verified_ns : min64(i->all_verified_ns, row->verified_ns);
}

/* Adds the group of all devices where they are unlike, with shares by speed, and by memory. Returns how many rows there
 * are. */
enum { UNLIKE_ROWS = 2 };
static int32_t add_unlike(variant *rows, int32_t n, const situ_instance *whole) {
  int32_t k = instance_max_together(whole);
  if (k <= instance_max_group(whole)) return n;
  for (int32_t m = 0; m < UNLIKE_ROWS; m++) {
    rows[n] = (variant){.number = k};
    bool same = !instance_shares_text(rows[n].name, whole, k, m == 1) || strcmp(rows[n].name, rows[n - 1].name) == 0;
    if (!same) n++;
  }
  return n;
}

/* Opens instances with groups of 1, 2, 4, ... devices, as many as are equal, and of all that are unlike, and gives the
 * plan of the minimum value with its instance, whose notes say what the others take. Limits of time are shared evenly.
 */
static situ_status place_best_groups(situ_plan **out, situ_instance **instance, const instance_options *options,
                                     const situ_solve_options *solve, situ_error *error) {
  variant rows[INSTANCE_GROUP_SIZES + UNLIKE_ROWS];
  int32_t sizes[INSTANCE_GROUP_SIZES];
  situ_instance *whole;
  text_buffer note = {0}, single = {0};
  TRY(open_whole(&whole, options, error));
  int32_t n = instance_group_sizes(sizes, instance_max_group(whole));
  for (int32_t i = 0; i < n; i++) {
    rows[i] = (variant){.number = sizes[i]};
    snprintf(rows[i].name, sizeof rows[i].name, "%d", (int)sizes[i]);
  }
  n = add_unlike(rows, n, whole);
  situ_status status = place_all(out, instance, options, solve, whole, rows, n, &single, error);
  const situ_plan *found = *out;
  if (status == SITU_STATUS_OK) status = place_streamed(out, instance, options, solve, error);
  bool hidden = status == SITU_STATUS_OK && *out != found;
  for (int32_t i = 0; status == SITU_STATUS_OK && n > 1 && i < n; i++)
    if (*rows[i].name) (*instance)->all_verified_ns = min_verified(*instance, &rows[i]);
  if (hidden && n > 1)
    (*instance)->all_verified_ns = min64((*instance)->all_verified_ns, max64((*out)->verified_ns, 0));
  if (status == SITU_STATUS_OK && n > 1) {
    const char *beside = ""; /* what no bound covers */
    char tail[320];
    for (int32_t i = 0; i < n; i++)
      if (*rows[i].left_out) beside = rows[i].left_out;
    snprintf(tail, sizeof tail, "no plan whose groups are all of one of these%s%s%s takes", *beside ? ", without " : "",
             beside, *beside ? " beside them," : "");
    variants_describe(&note, rows, n, "devices that split operators, and the best plan", tail);
    status = add_note(*instance, &note, &single, error);
  }
  text_free(&note);
  text_free(&single);
  return status;
}

/* The best single device of the options without groups, as add_single says it. Pins and unused devices may name groups:
 * the former do not concern it, the latter are forgotten if the platform does not know them. */
static situ_status find_single(text_buffer *out, const instance_options *o, situ_error *error) {
  situ_instance *whole;
  situ_plan *plan = NULL;
  instance_options free_of = *o;
  situ_solve_options quick = SITU_SOLVE_OPTIONS_INIT;
  quick.solvers = "single";
  quick.no_bounds = true;
  free_of.call.fix = free_of.call.start = NULL;
  free_of.problem.pins = NULL;
  free_of.call.n_writers = 0;
  if (open_whole(&whole, &free_of, NULL) != SITU_STATUS_OK) {
    free_of.call.n_unused = 0;
    TRY(open_whole(&whole, &free_of, error));
  }
  situ_status status = situ_solve(&plan, whole->problem, &quick, error);
  if (status == SITU_STATUS_OK) add_single(out, plan);
  situ_plan_free(plan);
  situ_instance_free(whole);
  return status;
}

/* Whether people would split the operators of this model over these devices, and nobody asked. */
static bool is_for_groups(const situ_instance *i) {
  return !i->options.call.tensor_parallel && i->form == 0 &&
         (instance_max_group(i) > 1 || instance_max_together(i) > 1) &&
         granularity_is_decoder(i->model->graph, i->arena);
}

/* Devices that hold nothing, though a device of their class works; *first is the first of them. */
static int32_t count_idle(const situ_plan *plan, int32_t *first) {
  const situ_problem *p = plan->problem;
  int32_t n = 0;
  for (int32_t d = p->n_devices - 1; d >= 0; d--) {
    bool alike = false;
    for (int32_t e = 0; e < p->n_devices; e++)
      alike |= p->class_of[e] == p->class_of[d] && plan_use(plan, e).n_operators > 0;
    if (!alike || p->unused[d] || problem_is_host(p, d) || plan_use(plan, d).n_operators > 0) continue;
    *first = d;
    n++;
  }
  return n;
}

/* Who asks for many streams and gets idle devices may have meant the rate. */
static situ_status note_idle(situ_instance *i, const situ_plan *plan, situ_error *error) {
  int32_t first = -1, n;
  char line[400], others[32] = "";
  int64_t batch = i->options.read.batch;
  if (batch <= 1 || !plan_exists(plan) || plan->problem->objective != SITU_OBJECTIVE_LATENCY) return SITU_STATUS_OK;
  if ((n = count_idle(plan, &first)) == 0) return SITU_STATUS_OK;
  if (n > 1) snprintf(others, sizeof others, " and %d more", (int)n - 1);
  snprintf(line, sizeof line,
           "%.100s%s %s idle: this is the shortest time of one step of %lld streams; --objective throughput finds the "
           "highest rate of all devices",
           plan->problem->platform->devices[first].name, others, n > 1 ? "are" : "is", (long long)batch);
  return instance_add_note(i, line, error);
}

/* Who asks about this machine can measure it. */
static situ_status note_measuring(situ_instance *i, situ_error *error) {
  static const char *const runnable[] = {"onnx", "openvino", "gguf"};
  bool runs = false;
  for (size_t k = 0; k < sizeof runnable / sizeof *runnable; k++) runs |= strcmp(i->model->reader, runnable[k]) == 0;
  if (!runs || i->platform->n_devices == 0 || this_host_threads(i->platform) == 0 || i->options.cost.table_path)
    return SITU_STATUS_OK;
  return instance_add_note(
      i,
      "times of this host are estimates; `situ profile` measures them where an engine is installed "
      "(situ list engines), and --cost-table reads what it writes",
      error);
}

/* Who trains and finds no plan may not know that activations need not be kept. */
static situ_status note_recompute(situ_instance *i, const situ_plan *plan, situ_error *error) {
  bool none = !plan_exists(plan) && plan->outcome != SITU_OUTCOME_CANCELLED;
  if (!none || !i->graph->made_training || i->options.read.recompute) return SITU_STATUS_OK;
  return instance_add_note(i, "all activations are kept; --recompute auto also computes some again where that helps",
                           error);
}

/* Without a host the first device counts as one: it leads no replicas and is none (docs/model.md, replication). */
static situ_status note_no_host(situ_instance *i, situ_error *error) {
  const situ_problem *p = i->problem;
  const situ_device *host = &i->platform->devices[p->host];
  char line[256];
  if (!p->replicate || host->is_host || p->n_devices < 2) return SITU_STATUS_OK;
  snprintf(line, sizeof line,
           "no device is a host, so %.64s counts as one and shares no part with replicas; with a host, as in cpu+..., "
           "which --unused cpu keeps free, it may",
           host->name);
  return instance_add_note(i, line, error);
}

static bool is_desktop_card(const situ_device *d) {
  static const char *const makes[] = {"rtx", "gtx", "rx"};
  for (size_t k = 0; k < sizeof makes / sizeof *makes; k++) {
    size_t n = strlen(makes[k]);
    if (!d->is_host && strncmp(d->class_name, makes[k], n) == 0 && ascii_is_digit(d->class_name[n])) return true;
  }
  return false;
}

/* Layers of a language model on the generic CPU, which is a server's, beside cards that desktops have. */
static situ_status note_generic_host(situ_instance *i, const situ_plan *plan, situ_error *error) {
  const situ_platform *m = i->platform;
  const situ_costs *c = i->costs;
  bool desktop = false;
  int64_t on_it = 0, all = 0;
  if (i->graph->streams == 0 || !plan_exists(plan)) return SITU_STATUS_OK;
  for (int32_t d = 0; d < m->n_devices; d++) desktop |= is_desktop_card(&m->devices[d]);
  for (int32_t v = 0; desktop && v < i->problem->n_operators; v++) {
    int64_t time_ns = c->time_ns[(int64_t)v * c->n_classes + m->class_of[plan->device[v]]];
    all = sat_add(all, time_ns);
    if (strcmp(m->devices[plan->device[v]].class_name, "cpu") == 0) on_it = sat_add(on_it, time_ns);
  }
  if (on_it <= all / 20) return SITU_STATUS_OK;
  return instance_add_note(
      i,
      "cpu is a generic server CPU (256 GB/s, 256 GB), which has part of the model here: name yours "
      "(situ list devices), or desktop, a generic one of 77 GB/s",
      error);
}

static situ_status place_one_size(situ_plan **out, situ_instance **instance, const instance_options *options,
                                  const situ_solve_options *solve, int32_t size, situ_error *error) {
  text_buffer note = {0}, single = {0};
  TRY(instance_open(instance, options, error));
  situ_status status = place_instance(out, *instance, solve, error);
  if (status == SITU_STATUS_OK) status = place_streamed(out, instance, options, solve, error);
  if (status == SITU_STATUS_OK && size == 1 && is_for_groups(*instance))
    status = instance_add_note(*instance, "--tensor-parallel auto also splits operators over several devices", error);
  if (status == SITU_STATUS_OK) status = note_idle(*instance, *out, error);
  if (status == SITU_STATUS_OK) status = note_no_host(*instance, error);
  if (status == SITU_STATUS_OK) status = note_recompute(*instance, *out, error);
  if (status == SITU_STATUS_OK) status = note_generic_host(*instance, *out, error);
  if (status == SITU_STATUS_OK) status = note_measuring(*instance, error);
  if (status == SITU_STATUS_OK && size > 1) {
    text_add(&note, "%d devices split operators", (int)size);
    status = find_single(&single, options, error);
    if (status == SITU_STATUS_OK) status = add_note(*instance, &note, &single, error);
  }
  text_free(&note);
  text_free(&single);
  return status;
}

/* Whoever gives all times of a class and gets a plan that has none of them would take its value for measured. A table
 * of single operators asks what they would change, so it may change nothing. */
static situ_status check_measured(const situ_instance *i, const situ_plan *plan, situ_error *error) {
  const situ_costs *c = i->costs;
  const situ_platform *m = i->platform;
  text_buffer theirs = {0}, ours = {0};
  bool any = false, used = false;
  if (!c->measured || !i->options.cost.table_path || !plan_exists(plan)) return SITU_STATUS_OK;
  for (int32_t k = 0; k < m->n_classes; k++) {
    bool timed = true, holds = false, works = false;
    for (int32_t v = 0; v < c->n_operators; v++) {
      int64_t at = (int64_t)v * c->n_classes + k;
      if (c->time_ns[at] == 0) continue;
      bool here = m->class_of[plan->device[v]] == k;
      works = true;
      timed &= c->measured[at];
      holds |= here;
      used |= here && c->measured[at];
    }
    timed &= works;
    any |= timed;
    if (timed) text_add(&theirs, "%s\"%.60s\"", theirs.length ? ", " : "", m->class_name[k]);
    if (holds) text_add(&ours, "%s\"%.60s\"", ours.length ? ", " : "", m->class_name[k]);
  }
  situ_status status = theirs.failed || ours.failed ? fail_no_memory(error) : SITU_STATUS_OK;
  if (status == SITU_STATUS_OK && any && !used && ours.length > 0)
    status = fail_with(error, SITU_STATUS_BAD_INPUT, i->options.cost.table_path,
                       "has times of %.200s, but the best plan is on %.200s alone, whose times are estimates: measure "
                       "these, too (situ profile --device --class), give their estimates as a table (situ costs), or "
                       "leave them out (--unused)",
                       theirs.bytes, ours.bytes);
  text_free(&theirs);
  text_free(&ours);
  return status;
}

situ_status situ_place(situ_plan **out, situ_instance **instance, const situ_instance_options *options,
                       const situ_solve_options *solve, situ_error *error) {
  instance_options given;
  situ_solve_options own;
  int32_t group_size;
  if (out) *out = NULL;
  if (instance) *instance = NULL;
  TRY(GIVEN(error, out, instance));
  TRY(instance_options_take(&given, options, error));
  TRY(TAKE(own, solve, SITU_SOLVE_OPTIONS_INIT, error));
  own.size = sizeof own;
  TRY(instance_group_size(&group_size, &given, error));
  situ_status status = place_recompute_is_open(&given) ? place_best_recompute(out, instance, &given, &own, error)
                       : group_size == INSTANCE_AUTO_GROUPS
                           ? place_best_groups(out, instance, &given, &own, error)
                           : place_one_size(out, instance, &given, &own, group_size, error);
  if (status == SITU_STATUS_OK) status = check_measured(*instance, *out, error);
  if (status == SITU_STATUS_OK) return status;
  situ_plan_free(*out);
  situ_instance_free(*instance);
  *out = NULL;
  *instance = NULL;
  return status;
}
