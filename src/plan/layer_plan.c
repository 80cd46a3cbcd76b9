#include "plan/layer_plan.h"

#include <string.h>

#include "base/fail.h"

static bool asks(const layer_plan *l, situ_form bit) { return l->form & (int32_t)bit; }

static const char *name_of(const situ_problem *p, int32_t d) { return p->platform->devices[d].name; }

/* Whether some layers are an encoder's and others its decoder's: formats that count layers know one stack. */
static bool has_two_stacks(const layer_list *l) {
  bool encoder = false, decoder = false;
  for (int32_t k = 0; l->name && k < l->n; k++) {
    if (!l->name[k]) continue;
    encoder |= strstr(l->name[k], "encoder.") != NULL;
    decoder |= strstr(l->name[k], "decoder.") != NULL;
  }
  return encoder && decoder;
}

/* Routed experts, and what has no weights and stays with them, as where the parts of split experts are added up. */
static void mark_experts(layer_plan *l, const situ_problem *p) {
  const situ_graph *g = p->given;
  for (int32_t v = 0; v < g->n_operators; v++)
    l->expert[v] = l->layers.of[v] >= 0 && strncmp(g->kind_name[g->kind[v]], "Experts", 7) == 0;
  for (int32_t u = 0; u < p->units.n; u++) {
    unit_members of = unit_list_members(&p->units, u);
    int32_t layer = -1;
    for (int32_t i = 0; i < of.n && layer < 0; i++)
      if (l->expert[of.member[i]]) layer = l->layers.of[of.member[i]];
    for (int32_t i = 0; i < of.n && layer >= 0; i++)
      l->expert[of.member[i]] |= l->layers.of[of.member[i]] == layer && g->weight_bytes[of.member[i]] == 0;
  }
}

situ_status layer_plan_open(layer_plan *out, const situ_problem *p, int32_t form, const char *format,
                            situ_error *error) {
  const situ_graph *g = p->given;
  *out = (layer_plan){.form = form, .first = -1, .head = -1, .arena = arena_new()};
  if (!format) format = "the target";
  if (!out->arena || !layers_find(&out->layers, g, out->arena)) return fail_no_memory(error);
  int32_t n = out->n = out->layers.n;
  if (n == 0) return fail_with(error, SITU_STATUS_UNSUPPORTED, g->model, "has no layers, but %s places layers", format);
  if (asks(out, SITU_FORM_NAMES) && !out->layers.name)
    return fail_with(error, SITU_STATUS_UNSUPPORTED, g->model, "has no named layers, but %s names them", format);
  if (asks(out, SITU_FORM_BLOCKS) && !asks(out, SITU_FORM_NAMES) && has_two_stacks(&out->layers))
    return fail_with(error, SITU_STATUS_UNSUPPORTED, g->model,
                     "has an encoder and a decoder, but %s counts the layers of one stack", format);
  arena *a = out->arena;
  if (!ARENA_ARRAYS(a, ARRAY(out->device, n), ZEROS(out->spilled, n), ARRAY(out->run, n), ARRAY(out->count, n),
                    ZEROS(out->expert, g->n_operators)))
    return fail_no_memory(error);
  mark_experts(out, p);
  if (p->chunks > 0 && (!(out->chunks = ARENA_NEW(a, chunk_layout, 1)) || !chunk_layout_find(out->chunks, p, a)))
    return fail_no_memory(error);
  return SITU_STATUS_OK;
}

void layer_plan_free(layer_plan *l) { arena_free(l->arena); }

static situ_status refuse_split(const situ_problem *p, int32_t v, int32_t d, const char *format, situ_error *error) {
  return fail_with(error, SITU_STATUS_UNSUPPORTED, p->graph->name[v],
                   "is on %s, but part of it is on %s; %s places whole layers", name_of(p, d), "another device",
                   format);
}

static situ_status find_devices(layer_plan *l, const situ_problem *p, const int32_t *device, const char *format,
                                situ_error *error) {
  l->first = l->head = -1;
  for (int32_t k = 0; k < l->n; k++) l->device[k] = -1;
  for (int32_t v = 0; v < p->n_operators; v++) {
    int32_t k = l->layers.of[v], d = device[v];
    int32_t *of = k >= 0 ? &l->device[k] : l->layers.before[v] ? &l->first : &l->head;
    bool forward = p->graph->phase[v] == SITU_PHASE_FORWARD; /* the others are on the device of their layer */
    if (!forward || (l->expert[v] && !asks(l, SITU_FORM_EXPERTS))) continue;
    if (*of >= 0 && *of != d && (k >= 0 || asks(l, SITU_FORM_BLOCKS))) return refuse_split(p, v, d, format, error);
    *of = d;
  }
  int32_t inside = -1; /* the layer whose experts were seen last, and whether all of them are away */
  for (int32_t v = 0; asks(l, SITU_FORM_SPILL) && v < p->n_operators; v++) {
    int32_t k = l->layers.of[v], d = device[v];
    if (!l->expert[v]) continue;
    bool away = d != l->device[k];
    if ((away && !problem_is_home(p, d)) || (inside == k && away != l->spilled[k]))
      return refuse_split(p, v, d, format, error);
    inside = k;
    l->spilled[k] = away;
  }
  return SITU_STATUS_OK;
}

static situ_status find_runs(layer_plan *l, const situ_problem *p, const char *format, situ_error *error) {
  l->n_runs = 0;
  for (int32_t k = 0; k < l->n; k++) {
    if (k > 0 && l->device[k] == l->device[k - 1]) {
      l->count[l->n_runs - 1]++;
      continue;
    }
    for (int32_t i = 0; i < l->n_runs; i++)
      if (l->run[i] == l->device[k])
        return fail_with(
            error, SITU_STATUS_UNSUPPORTED, name_of(p, l->device[k]),
            "has layers that are not consecutive, %d among them; %s allows one run of layers for each device", (int)k,
            format);
    l->run[l->n_runs] = l->device[k];
    l->count[l->n_runs++] = 1;
  }
  return SITU_STATUS_OK;
}

/* Of several chunks on each device: the layers of each chunk, in order. */
static situ_status find_chunks(layer_plan *l, const situ_problem *p, const int32_t *device, const char *format,
                               situ_error *error) {
  const char *broken = chunk_layout_take(l->chunks, device) ? NULL : "has no chunks in order";
  bool many = l->chunks->n_used > 1;
  for (int32_t v = p->n_operators - 1; v >= 0 && !broken; v--) {
    int32_t k = l->layers.of[v];
    if (k < 0 || l->expert[v] || p->graph->phase[v] != SITU_PHASE_FORWARD) continue;
    l->run[k] = many ? l->chunks->chunk[l->chunks->classes.class_of[v]] : 0;
  }
  l->n_runs = 0;
  for (int32_t k = 0, before = -1; k < l->n && !broken; k++) { /* runs take the places of chunks that are read */
    int32_t here = l->run[k];
    if (here != before && here != before + 1) broken = "has chunks that are not in the order of its layers";
    if (here != before) {
      l->run[l->n_runs] = l->device[k];
      l->count[l->n_runs++] = 0;
    }
    before = here;
    l->count[l->n_runs - 1]++;
  }
  if (!broken && many && l->n_runs < l->chunks->n_used * p->chunks) broken = "has a chunk without layers";
  return broken
             ? fail_with(error, SITU_STATUS_UNSUPPORTED, p->graph->model, "%s, which %s cannot express", broken, format)
             : SITU_STATUS_OK;
}

static bool has_run(const layer_plan *l, int32_t device) {
  for (int32_t i = 0; i < l->n_runs; i++)
    if (l->run[i] == device) return true;
  return false;
}

/* Where hosts have layers. */
static situ_status check_hosts(const layer_plan *l, const situ_problem *p, const char *format, situ_error *error) {
  for (int32_t k = 0; k < l->n; k++) {
    int32_t d = l->device[k];
    if (problem_is_host(p, d) && asks(l, SITU_FORM_NO_HOST))
      return fail_with(error, SITU_STATUS_UNSUPPORTED, name_of(p, d),
                       "has layers, but is a host; the stages of %s are GPUs", format);
    if (problem_is_home(p, d) && asks(l, SITU_FORM_HOST_FIRST) && k > 0 && l->device[k - 1] != d)
      return fail_with(error, SITU_STATUS_UNSUPPORTED, name_of(p, d),
                       "has layers after those of %s; %s can keep only the first layers on the CPU",
                       name_of(p, l->device[k - 1]), format);
  }
  return SITU_STATUS_OK;
}

/* The head as one more layer, and everything before the layers on a device of some layer or on the host. */
static situ_status check_head(const layer_plan *l, const situ_problem *p, const char *format, situ_error *error) {
  int32_t last = l->device[l->n - 1];
  if (l->head >= 0 && l->head != last && (problem_is_home(p, l->head) || has_run(l, l->head)))
    return fail_with(error, SITU_STATUS_UNSUPPORTED, name_of(p, l->head),
                     "has the head, but the last layers are on %s; %s keeps the head with the last device",
                     name_of(p, last), format);
  bool moved = l->first >= 0 && !problem_is_home(p, l->first) && l->first != l->head;
  if (moved && !has_run(l, l->first))
    return fail_with(error, SITU_STATUS_UNSUPPORTED, name_of(p, l->first),
                     "has the embedding but no layer; %s cannot express that", format);
  if (moved && p->graph->tied_head)
    return fail_with(error, SITU_STATUS_UNSUPPORTED, name_of(p, l->first),
                     "has the embedding, but the head on %s has the same weights; %s keeps them together",
                     name_of(p, l->head), format);
  return SITU_STATUS_OK;
}

static situ_status check_ends(const layer_plan *l, const situ_problem *p, const char *format, situ_error *error) {
  bool kept = (l->first < 0 || l->first == l->device[0]) && (l->head < 0 || l->head == l->device[l->n - 1]);
  return kept ? SITU_STATUS_OK
              : fail_with(error, SITU_STATUS_UNSUPPORTED, p->graph->model,
                          "has its embedding or its head on another device than the first and the last layer; %s "
                          "cannot express that",
                          format);
}

static situ_status check_server(const situ_problem *p, const int32_t *device, const char *format, situ_error *error) {
  const situ_device *devices = p->platform->devices;
  for (int32_t v = 1; v < p->n_operators; v++)
    if (devices[device[v]].server != devices[device[0]].server)
      return fail_with(error, SITU_STATUS_UNSUPPORTED, devices[device[v]].name,
                       "is in another server than %s; %s describes a single machine", devices[device[0]].name, format);
  return SITU_STATUS_OK;
}

/* Devices that have layers, against groups of devices. */
static situ_status check_groups(const layer_plan *l, const situ_problem *p, const char *format, situ_error *error) {
  int32_t first = l->device[0], group = -1;
  for (int32_t k = 0; k < l->n; k++) {
    int32_t d = l->device[k];
    if (asks(l, SITU_FORM_ALIKE) && platform_members(p->platform, d) != platform_members(p->platform, first))
      return fail_with(
          error, SITU_STATUS_UNSUPPORTED, name_of(p, d), "is %d devices, but %s %d; all stages of %s have equally many",
          (int)platform_members(p->platform, d), name_of(p, first), (int)platform_members(p->platform, first), format);
    if (platform_members(p->platform, d) > 1) group = d;
  }
  bool alone = group < 0 || l->head < 0 || l->head == group;
  for (int32_t k = 0; k < l->n && group >= 0; k++)
    alone = alone && (l->device[k] == group || problem_is_home(p, l->device[k]));
  if (asks(l, SITU_FORM_ONE_GROUP) && group >= 0 && !problem_is_near(p, group))
    return fail_with(error, SITU_STATUS_UNSUPPORTED, name_of(p, group),
                     "is a group in another server than the first host, which %s cannot reach", format);
  if (asks(l, SITU_FORM_ONE_GROUP) && group >= 0 && l->first == group && !p->unused[platform_home(p->platform)])
    return fail_with(error, SITU_STATUS_UNSUPPORTED, name_of(p, group),
                     "has the embedding, which %s keeps on the CPU where operators are split", format);
  if (asks(l, SITU_FORM_ONE_GROUP) && !alone)
    return fail_with(error, SITU_STATUS_UNSUPPORTED, name_of(p, group),
                     "splits the operators of some layers only; %s splits all that is not on the CPU, over one group",
                     format);
  return SITU_STATUS_OK;
}

situ_status layer_plan_take(layer_plan *l, const situ_problem *p, const int32_t *device, const char *format,
                            situ_error *error) {
  if (!format) format = "the target";
  TRY(find_devices(l, p, device, format, error));
  if (asks(l, SITU_FORM_RUNS))
    TRY(p->chunks > 0 ? find_chunks(l, p, device, format, error) : find_runs(l, p, format, error));
  TRY(check_hosts(l, p, format, error));
  if (asks(l, SITU_FORM_HEAD)) TRY(check_head(l, p, format, error));
  if (asks(l, SITU_FORM_ENDS)) TRY(check_ends(l, p, format, error));
  TRY(check_groups(l, p, format, error));
  return asks(l, SITU_FORM_ONE_SERVER) ? check_server(p, device, format, error) : SITU_STATUS_OK;
}

situ_status layer_plan_find(layer_plan *out, const situ_plan *plan, int32_t form, const char *format,
                            situ_error *error) {
  const situ_problem *p = plan->problem;
  TRY(layer_plan_open(out, p, form, format, error));
  return layer_plan_take(out, p, plan->device, format, error);
}
