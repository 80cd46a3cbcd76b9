#include "write/llamacpp_options.h"

#include <string.h>

#include "base/ascii.h"
#include "base/c_locale.h"
#include "base/checked.h"
#include "base/fail.h"
#include "cost/streamed.h"
#include "platform/platform.h"

typedef struct writing {
  text_buffer *out;
  const situ_problem *p;
  const layer_plan *l;
  const llamacpp_program *program;
  const llamacpp_device *device; /* [device] */
  bool *used;                    /* [device] by a layer, the head or the embedding */
  bool head_alone;               /* on a device of its own behind those of the layers */
  int32_t from;                  /* the first run that is not on the CPU */
  int32_t n_ahead;               /* blocks that predict further tokens */
} writing;

static const char *name_of(const writing *w, int32_t d) { return w->device[d].name; }

/* The name of a list of devices, which programs separate in their own way. */
static void add_list(writing *w, const char *names) {
  for (; *names; names++) text_add(w->out, "%.*s", 1, *names == ',' ? w->program->list : names);
}

/* The first device of the plan that a server has. */
static bool is_first(const writing *w, int32_t d) {
  if (!w->used[d] || !w->device[d].server) return false;
  for (int32_t e = 0; e < d; e++)
    if (w->used[e] && w->device[e].server && strcmp(w->device[e].server, w->device[d].server) == 0) return false;
  return true;
}

static void add_servers(writing *w) {
  const char *joint = NULL;
  for (int32_t d = 0; d < w->p->n_devices; d++) {
    if (!is_first(w, d)) continue;
    text_add(w->out, "%s%s%s", joint ? joint : w->program->servers, joint ? "" : " ", w->device[d].server);
    joint = ",";
  }
  if (joint) text_add(w->out, " ");
}

/* Of a group with unequal shares, in percent. */
static void add_shares(writing *w, int32_t d) {
  const uneven_group *g = &w->p->platform->uneven;
  char number[32];
  for (int32_t i = 0; g->device == d && i < w->p->platform->devices[d].members; i++) {
    c_locale_print(number, sizeof number, "%.7g", 100 * g->share[i]);
    text_add(w->out, "%s%s", i > 0 ? w->program->list : " -ts ", number);
  }
}

static void add_split(writing *w) {
  const layer_plan *l = w->l;
  int32_t n_gpu_layers = 0, n_runs = l->n_runs;
  for (int32_t i = w->from; i < n_runs; i++) n_gpu_layers += l->count[i];
  if (n_gpu_layers == 0 && !w->head_alone) {
    int32_t helper =
        w->p->costs->offloads ? streamed_to(w->p->platform, platform_home(w->p->platform), w->p->unused) : -1;
    text_add(w->out, "-dev ");
    add_list(
        w, helper < 0 || w->device[helper].server ? "none" : name_of(w, helper)); /* it computes prompts for the CPU */
    text_add(w->out, " -ngl 0");
    return;
  }
  int32_t n_ahead = n_gpu_layers > 0 ? w->n_ahead : 0; /* they follow the last layer */
  text_add(w->out, "-dev ");
  if (n_runs > w->from && w->p->platform->devices[l->run[w->from]].members > 1) { /* a group, the only one */
    add_list(w, name_of(w, l->run[w->from]));
    text_add(w->out, " -sm tensor");
    add_shares(w, l->run[w->from]);
    text_add(w->out, " -ngl %d%s", (int)(n_gpu_layers + n_ahead + 1),
             w->p->graph->cache_tokens > 0 ? "" : " -fa on"); /* which splitting needs */
    return;
  }
  for (int32_t i = w->from; i < n_runs; i++) {
    if (i > w->from) text_add(w->out, "%s", w->program->list);
    add_list(w, name_of(w, l->run[i]));
  }
  if (w->head_alone) {
    if (n_runs > w->from) text_add(w->out, "%s", w->program->list);
    add_list(w, name_of(w, l->head));
  }
  text_add(w->out, " -sm layer -ts ");
  for (int32_t i = w->from; i < n_runs; i++)
    text_add(w->out, "%s%d", i > w->from ? w->program->list : "",
             (int)(l->count[i] + (i + 1 == n_runs ? n_ahead + !w->head_alone : 0)));
  if (w->head_alone) text_add(w->out, "%s1", n_runs > w->from ? w->program->list : "");
  text_add(w->out, " -ngl %d", (int)(n_gpu_layers + n_ahead + 1));
}

/* One rule after the other: the first that fits a name counts. */
static void add_rules(writing *w) {
  const layer_plan *l = w->l;
  const char *joint = " -ot '";
  if (l->first >= 0 && !problem_is_home(w->p, l->first) && platform_members(w->p->platform, l->first) == 1) {
    text_add(w->out, "%s^token_embd\\.weight$=%s", joint, w->device[l->first].buffer);
    joint = w->program->rules;
  }
  bool any = false;
  for (int32_t k = 0; k < l->n; k++) {
    if (!l->spilled[k]) continue;
    if (any)
      text_add(w->out, "|%d", (int)k);
    else
      text_add(w->out, "%s^blk\\.(%d", joint, (int)k);
    any = true;
  }
  if (any) text_add(w->out, ")\\.ffn_(up|down|gate|gate_up)_(ch|)exps=CPU");
  if (any || joint == w->program->rules) text_add(w->out, "'");
}

static void add_conditions(writing *w) {
  const situ_graph *g = w->p->graph;
  const char *type = g->cache_type;
  if (g->cache_tokens > 0 && w->program->serves)
    text_add(w->out, " -c %lld -np %lld", (long long)g->cache_tokens, (long long)g->streams);
  if (g->cache_tokens > 0)
    text_add(w->out, " -b %lld -ub %lld -fa on", (long long)max64(2048, g->micro_batch), (long long)g->micro_batch);
  if (type) text_add(w->out, " -ctk %s -ctv %s", type, type);
  if (w->program->serves) text_add(w->out, " --fit off");
  if (w->program->serves || g->cache_tokens == 0) return;
  int64_t prompt = g->prompt > 0 ? g->prompt : g->micro_batch, generate = g->generate > 0 ? g->generate : 64;
  text_add(w->out, " -p %lld -n %lld", (long long)prompt, (long long)generate);
  if (g->prompt == 0 && g->cache_tokens / g->streams > generate)
    text_add(w->out, " -d %lld", (long long)(g->cache_tokens / g->streams - generate));
}

/* ---- what the options presume ---- */

/* A name from a platform file, which may hold anything, in a comment that a shell reads. */
static void add_plain(writing *w, const char *name) {
  for (; *name; name++) text_add(w->out, "%c", ascii_is_alnum(*name) || strchr("._-", *name) ? *name : '?');
}

/* What to start on a machine whose address nobody gave: the number of its server stands in the options. */
static void add_server_note(writing *w, int32_t d) {
  const char *server = w->device[d].server, *name = w->p->platform->devices[d].name;
  text_add(w->out, "# %s: expects rpc-server -H 0.0.0.0 -d ", server);
  for (int32_t e = d; e < w->p->n_devices; e++)
    if (w->used[e] && w->device[e].server && strcmp(w->device[e].server, server) == 0)
      text_add(w->out, "%s%s", e > d ? "," : "", w->device[e].there);
  text_add(w->out, " in the machine of ");
  add_plain(w, name);
  text_add(w->out, "; give its address with --names ");
  add_plain(w, name);
  text_add(w->out, "=RPC[HOST:PORT]\n");
}

static void add_device_notes(writing *w) {
  for (int32_t d = 0; d < w->p->n_devices; d++) {
    const llamacpp_device *device = &w->device[d];
    if (!w->used[d]) continue;
    text_add(w->out, "# ");
    add_plain(w, w->p->platform->devices[d].name);
    text_add(w->out, " is %s%s%s\n", device->name, device->server ? " at " : "", device->server ? device->server : "");
    if (is_first(w, d) && device->there) add_server_note(w, d);
  }
}

static void add_notes(writing *w) {
  const layer_plan *l = w->l;
  const situ_graph *g = w->p->graph;
  text_add(w->out,
           "# %s of llama.cpp as of October 2026; check the names with %s --list-devices, or set them (--names)\n",
           w->program->name, w->program->name);
  text_add(w->out, "# %d layers:", (int)l->n);
  for (int32_t i = 0, k = 0; i < l->n_runs; k += l->count[i++])
    text_add(w->out, " %d-%d %s,", (int)k, (int)(k + l->count[i] - 1),
             problem_is_home(w->p, l->run[i]) ? "CPU" : name_of(w, l->run[i]));
  int32_t head = l->head >= 0 ? l->head : l->run[l->n_runs - 1];
  text_add(w->out, " head %s\n", problem_is_home(w->p, head) ? "CPU" : name_of(w, head));
  add_device_notes(w);
  bool moved = l->first >= 0 && !problem_is_home(w->p, l->first), whole = w->from == 0 && l->n_runs + w->head_alone > 1;
  if (moved && whole)
    text_add(
        w->out,
        "# the rule for token_embd switches the overlap of micro-batches off: leave it out if prefill matters more; "
        "the embedding is then on the CPU\n");
  if (w->n_ahead > 0)
    text_add(w->out,
             "# %d blocks behind the layers predict further tokens: -ngl and -ts count them; they stay in the file\n",
             (int)w->n_ahead);
  if (g->streams > 1 && w->program->serves)
    text_add(w->out, "# %lld streams of %lld tokens each\n", (long long)g->streams,
             (long long)(g->cache_tokens / g->streams));
}

/* ---- the whole ---- */

/* The devices of the plan, but for the CPU here, and their names. */
static situ_status find_devices(writing *w, arena *a, situ_error *error) {
  const situ_problem *p = w->p;
  const layer_plan *l = w->l;
  llamacpp_device *device;
  w->used = ARENA_ZERO(a, bool, p->n_devices);
  if (!w->used) return fail_no_memory(error);
  for (int32_t i = 0; i < l->n_runs; i++) w->used[l->run[i]] = true;
  if (l->head >= 0) w->used[l->head] = true;
  if (l->first >= 0) w->used[l->first] = true;
  for (int32_t d = 0; d < p->n_devices; d++) w->used[d] &= !problem_is_home(p, d);
  TRY(llamacpp_devices_find(&device, p, w->used, a, error));
  w->device = device;
  return SITU_STATUS_OK;
}

situ_status llamacpp_write(text_buffer *out, const layer_plan *l, const situ_problem *p,
                           const llamacpp_program *program, situ_error *error) {
  writing own = {.out = out, .p = p, .l = l, .program = program}, *w = &own;
  TRY(find_devices(w, l->arena, error));
  w->from = problem_is_home(p, l->run[0]);
  w->head_alone = l->head >= 0 && l->head != l->run[l->n_runs - 1];
  w->n_ahead = p->graph->n_ahead;
  add_servers(w);
  add_split(w);
  add_rules(w);
  add_conditions(w);
  text_add(w->out, "\n");
  add_notes(w);
  return SITU_STATUS_OK;
}

static situ_status name_places(llamacpp_places *out, writing *w, arena *a, situ_error *error) {
  const situ_problem *p = w->p;
  const layer_plan *l = w->l;
  TRY(find_devices(w, a, error));
  out->n_layers = l->n;
  if (!ARENA_ARRAYS(a, ARRAY(out->layer, l->n), ZEROS(out->buffer, p->n_devices))) return fail_no_memory(error);
  for (int32_t k = 0; k < l->n; k++)
    out->layer[k] = problem_is_home(p, l->device[k]) ? "CPU" : name_of(w, l->device[k]);
  int32_t head = l->head >= 0 ? l->head : l->device[l->n - 1];
  out->head = problem_is_home(p, head) ? "CPU" : name_of(w, head);
  for (int32_t d = 0; d < p->n_devices; d++)
    out->buffer[d] = w->used[d] ? w->device[d].buffer : problem_is_home(p, d) ? "CPU" : NULL;
  return SITU_STATUS_OK;
}

situ_status llamacpp_places_find(llamacpp_places *out, const situ_plan *plan, arena *a, situ_error *error) {
  layer_plan l;
  writing w = {.p = plan->problem, .l = &l};
  *out = (llamacpp_places){0};
  situ_status status = layer_plan_find(&l, plan, LLAMACPP_FORM, "llama.cpp", error);
  if (status == SITU_STATUS_OK) status = name_places(out, &w, a, error);
  layer_plan_free(&l);
  return status;
}
