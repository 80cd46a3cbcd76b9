/* What a command of llama.cpp places, by its own rule: with L blocks (those that predict further tokens included) and N
 * = -ngl, the first L + 1 - N blocks are on the CPU; block i of the rest goes to the first device whose share of -ts,
 * summed up, is above its share of the rest; the head counts as block L, and the embedding is on the CPU. Then the
 * first rule of -ot that fits the name of a weight moves it. docs/formats/language-models.md */
#include <errno.h>
#include <float.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/file.h"
#include "base/os.h"
#include "base/text.h"
#include "write/command_words.h"
#include "write/layer_reading.h"
#include "write/llamacpp_options.h"
#include "write/runner_words.h"

enum { MAX_LISTED = 128, MAX_RULES = 256, NAME_BYTES = 256, PATTERN_BYTES = 4096, POSIX_BYTES = 2 * PATTERN_BYTES };
/* Names of options, and the variables that llama-server takes for them. */
static const char DEVICES[] = "-dev --device LLAMA_ARG_DEVICE", SPLIT[] = "-ts --tensor-split LLAMA_ARG_TENSOR_SPLIT",
                  MODE[] = "-sm --split-mode LLAMA_ARG_SPLIT_MODE",
                  LAYERS[] = "-ngl --n-gpu-layers --gpu-layers LLAMA_ARG_N_GPU_LAYERS",
                  MAIN[] = "-mg --main-gpu LLAMA_ARG_MAIN_GPU",
                  RULES[] = "-ot --override-tensor LLAMA_ARG_OVERRIDE_TENSOR",
                  ALL_EXPERTS[] = "-cmoe --cpu-moe LLAMA_ARG_CPU_MOE",
                  SOME_EXPERTS[] = "-ncmoe --n-cpu-moe LLAMA_ARG_N_CPU_MOE", SERVERS[] = "--rpc LLAMA_ARG_RPC",
                  TYPES[] = "-ctk --cache-type-k LLAMA_ARG_CACHE_TYPE_K",
                  VALUE_TYPES[] = "-ctv --cache-type-v LLAMA_ARG_CACHE_TYPE_V",
                  BATCH[] = "-b --batch-size LLAMA_ARG_BATCH", MICRO_BATCH[] = "-ub --ubatch-size LLAMA_ARG_UBATCH",
                  FIT[] = "-fit --fit LLAMA_ARG_FIT", HOST_CACHES[] = "-nkvo --no-kv-offload LLAMA_ARG_NO_KV_OFFLOAD";

/* ---- the request ---- */

static int64_t count_items(const char *list) {
  int64_t n = list && *list;
  for (const char *c = list; c && *c; c++) n += *c == ',' || *c == '/';
  return n;
}

/* CUDA_VISIBLE_DEVICES that is empty, or -1: the program sees no GPU. */
static bool hides_all(const command_words *w) {
  const char *seen = command_words_variable(w, "CUDA_VISIBLE_DEVICES");
  return seen && (!*seen || strcmp(seen, "-1") == 0);
}

static bool is_bench(const command_words *w) {
  for (int32_t k = 0; k < w->n; k++)
    if (strstr(w->word[k], "llama-bench") && w->word[k][0] != '-') return true;
  return false;
}

typedef struct asked {
  bool cut;            /* llama-bench measures each combination of what lists name: the first of each counts */
  const char *program; /* that runs llama.cpp under words of its own, or NULL */
} asked;

static situ_status split_words(command_words *w, asked *how, const char *text, arena *a, situ_error *error) {
  static const char lists[] =
      " -p --n-prompt -n --n-gen -d --n-depth -b --batch-size -ub --ubatch-size -ctk --cache-type-k -ctv "
      "--cache-type-v "
      "-ngl --n-gpu-layers -ncmoe --n-cpu-moe -sm --split-mode -mg --main-gpu -ts --tensor-split -dev --device ";
  char name[64];
  *how = (asked){0};
  TRY(runner_words_open(&text, text, a, error));
  TRY(command_words_split(w, text, a, error));
  TRY(runner_words_translate(w, &how->program, a, error));
  for (int32_t k = 1; k < w->n && is_bench(w); k++) {
    size_t n = strcspn(w->word[k], ",");
    snprintf(name, sizeof name, " %.60s ", w->word[k - 1]);
    if (!w->word[k][n] || !strstr(lists, name)) continue;
    char *first = ARENA_COPY(a, w->word[k], char, (int64_t)n + 1);
    if (!first) return fail_no_memory(error);
    first[n] = '\0';
    w->word[k] = first;
    how->cut = true;
  }
  return SITU_STATUS_OK;
}

/* What llama-bench measures: a prompt, and tokens behind it. */
static situ_status request_bench(plan_request *out, const command_words *w, situ_error *error) {
  int64_t prompt = 512, generate = 128, depth = 0;
  TRY(command_words_int(&prompt, w, "-p --n-prompt", 0, error));
  TRY(command_words_int(&generate, w, "-n --n-gen", 0, error));
  TRY(command_words_int(&depth, w, "-d --n-depth", 0, error));
  out->prompt = prompt + depth;
  out->generate = generate;
  out->trained = false;
  return SITU_STATUS_OK;
}

static bool has_unequal_shares(const char *list) {
  size_t n = list ? strcspn(list, ",/") : 0;
  for (const char *at = list; at && at[n]; at += n + 1)
    if (strcspn(at + n + 1, ",/") != n || strncmp(at, at + n + 1, n) != 0) return true;
  return false;
}

/* Whether options keep a draft model, or a projector, on the host. */
static bool is_on_host(const command_words *w, bool draft) {
  const char *device = command_words_value(w, "-devd --device-draft --spec-draft-device");
  const char *layers = command_words_value(w, "-ngld --gpu-layers-draft --n-gpu-layers-draft --spec-draft-ngl");
  if (!draft) return command_words_has(w, "--no-mmproj-offload");
  return (device && strcmp(device, "none") == 0) || (layers && strcmp(layers, "0") == 0);
}

/* Files beside the model, whose weights are on the first GPU: their size is known where they are here. */
static void take_files(plan_request *out, text_buffer *notes, const command_words *w) {
  static const struct {
    const char *names, *says, *lacks;
  } rows[] = {{"-md --model-draft --spec-draft-model", "the draft model", ", but not its cache, and no time for it"},
              {"--mmproj -mm", "the projector", ""}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    const char *path = command_words_value(w, rows[i].names);
    long long bytes = path && !is_on_host(w, i == 0) ? file_size(path) : -1;
    char size[TEXT_UNIT_BYTES];
    if (!path) continue;
    if (bytes < 0)
      text_add(notes, "%s takes memory%s that is not counted\n", rows[i].says, *rows[i].lacks ? " and time" : "");
    else
      text_add(notes, "%s of %s is kept free on the first GPU%s\n", text_size(size, bytes), rows[i].says,
               rows[i].lacks);
    out->beside_bytes += bytes > 0 ? bytes : 0;
  }
}

static situ_status take_notes(plan_request *out, const command_words *w, const asked *how, arena *a,
                              situ_error *error) {
  text_buffer notes = {0};
  const char *fit = command_words_value(w, FIT);
  bool places = command_words_has(w, LAYERS) || command_words_has(w, SPLIT) || command_words_has(w, RULES) ||
                command_words_has(w, ALL_EXPERTS) || command_words_has(w, SOME_EXPERTS) || command_words_has(w, MODE);
  if (!places && !is_bench(w) && !(fit && strcmp(fit, "off") == 0))
    text_add(
        &notes,
        "all layers are taken to be on the GPUs; where they do not fit there, llama.cpp (--fit) leaves some on the "
        "CPU: --solver llamacpp_fit of situ place shows that plan\n");
  if (how->program) text_add(&notes, "%s runs llama.cpp; what it says is read as \"", how->program);
  for (int32_t k = 0; k < w->n && how->program; k++) text_add(&notes, "%s%.60s", k > 0 ? " " : "", w->word[k]);
  if (how->program) text_add(&notes, "\"\n");
  if (how->cut) text_add(&notes, "llama-bench tries every combination of its lists; the first of each is judged\n");
  const char *keys = command_words_value(w, TYPES), *values = command_words_value(w, VALUE_TYPES);
  const char *mode = command_words_value(w, MODE);
  if (out->trained)
    text_add(&notes,
             "without -c llama.cpp takes the context that the model was trained for, or with --fit what fits\n");
  if (strcmp(keys ? keys : "f16", values ? values : "f16") != 0)
    text_add(&notes, "caches of two types (%.20s, %.20s) are taken as two of the first\n", keys ? keys : "f16",
             values ? values : "f16");
  if (mode && strcmp(mode, "row") == 0)
    text_add(&notes,
             "-sm row is taken as -sm layer: builds of 2026 do not load with it; -sm tensor is what splits layers "
             "now\n");
  if (mode && strcmp(mode, "graph") == 0) text_add(&notes, "-sm graph of ik_llama.cpp is taken as -sm tensor\n");
  if (command_words_has(w, HOST_CACHES))
    text_add(&notes, "-nkvo: caches are in the memory of the host, which computes attention\n");
  if (command_words_has(w, "-t --threads LLAMA_ARG_THREADS"))
    text_add(&notes, "-t is taken to be all cores of the host that share its memory\n");
  take_files(out, &notes, w);
  if (!notes.failed) out->notes = arena_string(a, notes.bytes ? notes.bytes : "");
  text_free(&notes);
  return out->notes ? SITU_STATUS_OK : fail_no_memory(error);
}

/* Unequal parts of what devices split: each has one. */
static situ_status take_shares(plan_request *out, const char *shares, const char *mode, situ_error *error) {
  bool fits = out->group == 0 || count_items(shares) == out->group;
  for (const char *at = shares; fits; at++) {
    double share = 0;
    at = text_scan_number(at, &share);
    fits = at && share > 0 && (!*at || *at == ',' || *at == '/');
    if (!fits || !*at) break;
  }
  out->shares = shares;
  return fits ? SITU_STATUS_OK
              : fail_with(error, SITU_STATUS_BAD_INPUT, "command",
                          "-ts %.60s: with -sm %.20s each device needs a share above 0, and there is one for each",
                          shares, mode);
}

static situ_status request(plan_request *out, const char *text, arena *a, situ_error *error) {
  command_words w;
  int64_t tokens = 0, batch = 2048, micro_batch = 512;
  asked how;
  TRY(split_words(&w, &how, text, a, error));
  out->model = command_words_value(&w, "-m --model LLAMA_ARG_MODEL");
  out->streams = 1;
  TRY(command_words_int(&tokens, &w, "-c --ctx-size LLAMA_ARG_CTX_SIZE", 0, error));
  TRY(command_words_int(&out->streams, &w, "-np --parallel LLAMA_ARG_N_PARALLEL", 1, error));
  out->context = tokens / out->streams;
  out->trained = out->context == 0;
  out->kv_type = command_words_value(&w, TYPES);
  TRY(command_words_int(&micro_batch, &w, MICRO_BATCH, 1, error));
  TRY(command_words_int(&batch, &w, BATCH, 1, error));
  out->micro_batch = batch < micro_batch ? batch : micro_batch;
  if (is_bench(&w)) TRY(request_bench(out, &w, error));
  const char *mode = command_words_value(&w, MODE), *devices = command_words_value(&w, DEVICES);
  out->hosts_alone = (devices && strcmp(devices, "none") == 0) || hides_all(&w);
  bool splits = mode && (strcmp(mode, "tensor") == 0 || strcmp(mode, "graph") == 0);
  if (mode && !splits && strcmp(mode, "layer") != 0 && strcmp(mode, "row") != 0 && strcmp(mode, "none") != 0)
    return fail_with(error, SITU_STATUS_BAD_INPUT, "command", "-sm %.60s: expected none, layer, row or tensor", mode);
  out->group = splits ? count_items(devices) : 1; /* 0: all devices */
  const char *shares = command_words_value(&w, SPLIT);
  if (splits && has_unequal_shares(shares)) TRY(take_shares(out, shares, mode, error));
  return take_notes(out, &w, &how, a, error);
}

/* ---- the placement ---- */

typedef struct reading {
  layer_reading layers;
  const command_words *w;
  arena *arena;
  llamacpp_device *names; /* [device] */
  int32_t listed[MAX_LISTED], n_listed, host;
  situ_error *error;
} reading;

static situ_status bad(const reading *r, const char *option, const char *value, const char *why) {
  return fail_with(r->error, SITU_STATUS_BAD_INPUT, "command", "%.*s %.100s: %s", (int)strcspn(option, " "), option,
                   value, why);
}

static bool is_in_list(const char *list, const char *item) {
  size_t n = item ? strlen(item) : 0;
  for (const char *at = list; at && *at; at += strspn(at, ",")) {
    size_t length = strcspn(at, ",");
    if (length == n && strncmp(at, item, n) == 0) return true;
    at += length;
  }
  return false;
}

/* The number of a device's machine among those that are not the first. */
static int64_t other_machine(const situ_problem *p, int32_t d) {
  const situ_device *devices = p->platform->devices;
  int64_t n = 0;
  for (int32_t e = 0; e < p->n_devices; e++) {
    bool first =
        devices[e].server < devices[d].server && devices[e].server != devices[platform_home(p->platform)].server;
    for (int32_t b = 0; first && b < e; b++) first = devices[b].server != devices[e].server;
    n += first;
  }
  return n;
}

/* Devices are this machine's, and those of the servers of --rpc. */
static situ_status find_names(reading *r) {
  const situ_problem *p = r->layers.problem;
  const char *servers = command_words_value(r->w, SERVERS);
  if (servers && p->platform->n_servers == 1)
    return bad(r, SERVERS, servers,
               "the platform is one machine; describe the others as in (cpu+rtx3090)+(cpu+rtx4090)");
  bool *used = ARENA_ZERO(r->arena, bool, p->n_devices);
  if (!used) return fail_no_memory(r->error);
  TRY(llamacpp_devices_find(&r->names, p, used, r->arena, r->error)); /* addresses, to see which are meant */
  bool named = false; /* an address of the command stands in --names; else they are those of the machines in turn */
  for (int32_t d = 0; d < p->n_devices; d++) named |= r->names[d].server && is_in_list(servers, r->names[d].server);
  for (int32_t d = 0; d < p->n_devices; d++) {
    bool reached = named ? is_in_list(servers, r->names[d].server)
                         : !p->platform->devices[d].is_host && other_machine(p, d) < count_items(servers);
    used[d] = !problem_is_home(p, d) && (!r->names[d].server || reached);
  }
  r->host = layer_reading_host(p);
  TRY(llamacpp_devices_find(&r->names, p, used, r->arena, r->error));
  for (int pass = 0; pass < 2; pass++) /* without -dev: servers first, then what is here */
    for (int32_t d = 0; d < p->n_devices && r->n_listed < MAX_LISTED; d++)
      if (used[d] && !p->unused[d] && (r->names[d].server != NULL) == (pass == 0)) r->listed[r->n_listed++] = d;
  return SITU_STATUS_OK;
}

/* Of the GPUs of this machine the program sees those that CUDA_VISIBLE_DEVICES lists, numbered in its order. */
static situ_status hide_devices(reading *r) {
  const situ_problem *p = r->layers.problem;
  int64_t gpu[MAX_LISTED];
  int32_t n, kept = 0;
  llamacpp_device *named = ARENA_NEW(r->arena, llamacpp_device, p->n_devices);
  if (!named) return fail_no_memory(r->error);
  n = 0;
  if (!hides_all(r->w)) {
    TRY(command_words_numbers(gpu, &n, MAX_LISTED, r->w, "CUDA_VISIBLE_DEVICES", r->error));
    if (n == 0) return SITU_STATUS_OK;
  }
  memcpy(named, r->names, sizeof *named * (size_t)p->n_devices);
  for (int32_t d = 0; d < p->n_devices; d++)
    if (!named[d].server && !problem_is_host(p, d)) r->names[d].name = r->names[d].buffer = "";
  for (int32_t k = 0; k < r->n_listed; k++)
    if (named[r->listed[k]].server) r->listed[kept++] = r->listed[k];
  for (int32_t k = 0; k < n && kept < MAX_LISTED; k++) {
    int32_t d = layer_reading_gpu(p, gpu[k]), as = layer_reading_gpu(p, k);
    if (d < 0 || as < 0 || named[d].server || p->platform->devices[d].members > 1)
      return fail_with(r->error, SITU_STATUS_BAD_INPUT, "CUDA_VISIBLE_DEVICES", "%s has no single GPU %lld",
                       p->platform->name, (long long)gpu[k]);
    r->names[d].name = named[as].name;
    r->names[d].buffer = named[as].buffer;
    r->listed[kept++] = d;
  }
  r->n_listed = kept;
  return SITU_STATUS_OK;
}

/* The device of that name (`buffers`: of that buffer), or -1; of a group, by its first member. */
static int32_t find_device(const reading *r, const char *name, size_t n, bool buffers) {
  const situ_problem *p = r->layers.problem;
  bool pinned = buffers && n > 5 && strncmp(name + n - 5, "_Host", 5) == 0; /* "CUDA_Host": memory of the host */
  if (pinned || (n == 3 && strncmp(name, "CPU", 3) == 0)) return r->host;
  for (int32_t d = 0; d < p->n_devices; d++) {
    const char *known = buffers ? r->names[d].buffer : r->names[d].name;
    if (!problem_is_home(p, d) && strcspn(known, ",") == n && strncmp(known, name, n) == 0) return d;
  }
  return -1;
}

static situ_status take_devices(reading *r) {
  const char *list = command_words_value(r->w, DEVICES);
  if (!list) return SITU_STATUS_OK;
  r->n_listed = 0;
  if (strcmp(list, "none") == 0) return SITU_STATUS_OK;
  for (const char *at = list; *at; at += strspn(at, ",/")) {
    size_t n = strcspn(at, ",/");
    int32_t d = find_device(r, at, n, false);
    bool again = false; /* a member of a group that is there already */
    for (int32_t k = 0; k < r->n_listed; k++) again |= strstr(r->names[r->listed[k]].name, ",") != NULL;
    if (d < 0 && !again) return bad(r, DEVICES, list, "names a device that the platform has not; see --names");
    if (r->n_listed == MAX_LISTED) return bad(r, DEVICES, list, "names too many devices");
    if (d >= 0) r->listed[r->n_listed++] = d;
    at += n;
  }
  return SITU_STATUS_OK;
}

/* Shares of the devices; without -ts by their memory, as llama.cpp takes what is free. */
static situ_status find_shares(const reading *r, float *sum) {
  const situ_problem *p = r->layers.problem;
  const char *list = command_words_value(r->w, SPLIT), *at = list;
  float total = 0;
  for (int32_t k = 0; k < r->n_listed; k++) {
    int32_t members = platform_members(p->platform, r->listed[k]); /* of a group each has a share */
    for (int32_t m = 0; m < members; m++) {
      double share = 0;
      if (!list)
        share = (double)situ_platform_memory_bytes(p->platform, p->memory_of[r->listed[k]]) / 1e6 / members;
      else if (*at && !(at = text_scan_number(at, &share)))
        return bad(r, SPLIT, list, "expected numbers with commas");
      if (list && *at && *at != ',' && *at != '/') return bad(r, SPLIT, list, "expected numbers with commas");
      if (list && *at) at++;
      total += (float)share;
    }
    sum[k] = total;
  }
  if (list && *at) return bad(r, SPLIT, list, "has more shares than there are devices");
  if (r->n_listed > 0 && !(total > 0 && total < FLT_MAX))
    return bad(r, SPLIT, list ? list : "", "gives no device a share");
  for (int32_t k = 0; k < r->n_listed; k++) sum[k] /= total;
  return SITU_STATUS_OK;
}

/* How many of the blocks and the head are not on the CPU. */
static situ_status find_offloaded(const reading *r, int64_t *n, int32_t n_blocks) {
  const char *text = command_words_value(r->w, LAYERS);
  *n = n_blocks + 1;
  if (r->n_listed == 0) *n = 0;
  if (r->n_listed == 0 || !text || strcmp(text, "all") == 0 || strcmp(text, "auto") == 0 || strcmp(text, "-1") == 0)
    return SITU_STATUS_OK;
  double share; /* of the layers, as ollama and LM Studio say it */
  const char *end = text_scan_number(text, &share);
  if (end && strcmp(end, "%") == 0 && share >= 0 && share <= 100) {
    *n = (int64_t)(share / 100 * (double)(n_blocks + 1) + 0.5);
    return SITU_STATUS_OK;
  }
  TRY(command_words_int(n, r->w, LAYERS, 0, r->error));
  if (*n > n_blocks + 1) *n = n_blocks + 1;
  return SITU_STATUS_OK;
}

static situ_status place_layers(reading *r) {
  layer_reading *out = &r->layers;
  int32_t n_blocks = out->l.n + out->problem->graph->n_ahead;
  float sum[MAX_LISTED];
  int64_t offloaded, only = -1;
  const char *mode = command_words_value(r->w, MODE);
  TRY(find_shares(r, sum));
  TRY(find_offloaded(r, &offloaded, n_blocks));
  if (mode && strcmp(mode, "none") == 0) {
    only = 0;
    TRY(command_words_int(&only, r->w, MAIN, 0, r->error));
    if (only >= r->n_listed) return bad(r, MAIN, command_words_value(r->w, MAIN), "is not among the devices");
  }
  int64_t start = n_blocks + 1 - offloaded;
  out->first = r->host >= 0 ? r->host : r->n_listed > 0 ? r->listed[0] : -1;
  for (int32_t i = 0; i <= n_blocks; i++) {
    int32_t device = r->host, k = 0;
    if (i >= start) {
      float share = (float)(i - start) / (float)offloaded;
      while (k + 1 < r->n_listed && !(sum[k] > share)) k++;
      device = r->listed[only >= 0 ? only : k];
    }
    if (device < 0)
      return fail_with(r->error, SITU_STATUS_BAD_INPUT, out->problem->platform->name,
                       "has no host, but the command leaves block %d on the CPU", (int)i);
    if (i < out->l.n) out->l.device[i] = device;
    if (i == n_blocks) out->head = device;
  }
  return SITU_STATUS_OK;
}

/* ---- rules for weights ---- */

/* A pattern of llama.cpp, which has those of ECMAScript, in the words of POSIX: \d and the like as classes, groups that
 * nothing refers to as plain ones, in brackets no backslash. False for what POSIX has not. */
static bool to_posix(char out[POSIX_BYTES], const char *pattern) {
  static const char *const classes[][3] = {/* outside and inside of brackets */
                                           {"d", "[0-9]", "0-9"},
                                           {"D", "[^0-9]", NULL},
                                           {"w", "[[:alnum:]_]", "[:alnum:]_"},
                                           {"W", "[^[:alnum:]_]", NULL},
                                           {"s", "[[:space:]]", "[:space:]"}};
  size_t n = 0;
  bool inside = false;
  for (const char *at = pattern; *at; at++) {
    char kept[3] = {at[0]};
    const char *put = kept;
    if (*at == '\\' && at[1]) {
      kept[inside ? 0 : 1] = *++at;
      for (size_t k = 0; k < sizeof classes / sizeof *classes; k++)
        if (*at == classes[k][0][0]) put = classes[k][inside ? 2 : 1];
    } else if (!inside && strncmp(at, "(?", 2) == 0) {
      if (at[2] != ':') return false;
      at += 2;
    } else if (*at == '[' || *at == ']') {
      inside = *at == '[';
    }
    if (!put || n + strlen(put) >= POSIX_BYTES) return false;
    memcpy(out + n, put, strlen(put));
    n += strlen(put);
  }
  out[n] = '\0';
  return true;
}

/* Moves the operators whose weight's name fits a pattern and that no rule has moved yet. */
static situ_status apply_rule(const reading *r, const char *pattern, int32_t to, int32_t *device, bool *moved) {
  const situ_problem *p = r->layers.problem;
  char name[NAME_BYTES], posix[POSIX_BYTES];
  errno = 0;
  os_pattern *compiled = to_posix(posix, pattern) ? os_pattern_new(posix) : NULL;
  if (!compiled)
    return bad(r, RULES, pattern,
               errno == ENOSYS ? "patterns are read on Linux and macOS only" : "is no pattern that situ understands");
  for (int32_t v = 0; v < p->n_operators; v++) {
    snprintf(name, sizeof name, "%.240s.weight", p->graph->name[v]);
    bool fits = p->graph->weight_bytes[v] > 0 && os_pattern_fits(compiled, name);
    if (fits && !moved[v]) {
      device[v] = to;
      moved[v] = true;
    }
  }
  os_pattern_free(compiled);
  return SITU_STATUS_OK;
}

/* "PATTERN=BUFFER,PATTERN=BUFFER". */
static situ_status apply_list(const reading *r, const char *list, int32_t *device, bool *moved) {
  for (const char *at = list; *at; at += strspn(at, ",;")) {
    size_t n = strcspn(at, ",;");
    const char *equal = memchr(at, '=', n);
    char pattern[PATTERN_BYTES];
    if (!equal || (size_t)(equal - at) >= sizeof pattern) return bad(r, RULES, list, "expected PATTERN=BUFFER");
    snprintf(pattern, sizeof pattern, "%.*s", (int)(equal - at), at);
    int32_t to = find_device(r, equal + 1, n - (size_t)(equal + 1 - at), true);
    if (to < 0) return bad(r, RULES, list, "names a buffer that the platform has not");
    TRY(apply_rule(r, pattern, to, device, moved));
    at += n;
  }
  return SITU_STATUS_OK;
}

static situ_status apply_rules(const reading *r, int32_t *device) {
  bool *moved = ARENA_ZERO(r->arena, bool, r->layers.problem->n_operators);
  int64_t n_experts = 0;
  if (!moved) return fail_no_memory(r->error);
  for (int32_t k = 0; k < r->w->n; k++) {
    const char *value, *next = k + 1 < r->w->n ? r->w->word[k + 1] : NULL;
    if (command_words_is(r->w->word[k], RULES, &value) && (value || next))
      TRY(apply_list(r, value ? value : next, device, moved));
  }
  TRY(command_words_int(&n_experts, r->w, SOME_EXPERTS, 0, r->error));
  if (command_words_has(r->w, ALL_EXPERTS)) n_experts = r->layers.l.n;
  for (int32_t v = 0; v < r->layers.problem->n_operators && n_experts > 0; v++)
    if (r->layers.l.expert[v] && !moved[v] && r->layers.l.layers.of[v] < n_experts && r->host >= 0) device[v] = r->host;
  return SITU_STATUS_OK;
}

/* What has no weights among the experts of a layer runs where these do, if all are on one device. */
static void follow_experts(const reading *r, int32_t *device) {
  const situ_problem *p = r->layers.problem;
  const layer_plan *l = &r->layers.l;
  for (int32_t k = 0; k < l->n; k++) {
    int32_t of = -1;
    for (int32_t v = 0; v < p->n_operators; v++)
      if (l->layers.of[v] == k && l->expert[v] && p->graph->weight_bytes[v] > 0)
        of = of == -1 || of == device[v] ? device[v] : -2;
    for (int32_t v = 0; v < p->n_operators && of >= 0; v++)
      if (l->layers.of[v] == k && l->expert[v]) device[v] = of;
  }
}

/* Without KV offload caches are in the memory of the host, which computes attention there. */
static void keep_caches(const reading *r, int32_t *device) {
  const situ_problem *p = r->layers.problem;
  for (int32_t v = 0; v < p->n_operators && r->host >= 0 && command_words_has(r->w, HOST_CACHES); v++)
    if (strstr(p->graph->kind_name[p->graph->kind[v]], "Attention") && platform_members(p->platform, device[v]) == 1)
      device[v] = r->host;
}

static situ_status read_all(reading *r, int32_t *device) {
  TRY(find_names(r));
  TRY(hide_devices(r));
  TRY(take_devices(r));
  TRY(place_layers(r));
  TRY(layer_reading_devices(device, &r->layers, r->error));
  TRY(apply_rules(r, device));
  follow_experts(r, device);
  keep_caches(r, device);
  return SITU_STATUS_OK;
}

static situ_status devices(int32_t *device, const situ_problem *problem, const char *text, situ_error *error) {
  command_words w;
  arena *a = arena_new();
  reading r = {.w = &w, .arena = a, .error = error};
  asked how;
  situ_status status = a ? split_words(&w, &how, text, a, error) : fail_no_memory(error);
  if (status == SITU_STATUS_OK) {
    status = layer_reading_open(&r.layers, problem, "llama.cpp", error);
    if (status == SITU_STATUS_OK) status = read_all(&r, device);
    layer_reading_close(&r.layers);
  }
  arena_free(a);
  return status;
}

const plan_reading llamacpp_reading = {
    .marks =
        "llama-server llama-cli llama-bench llama-run llama.cpp -ngl --n-gpu-layers --gpu-layers --tensor-split -sm "
        "-ts~ -ot~ -ncmoe~ --override-tensor --n-cpu-moe --cpu-moe "
        "koboldcpp llama_cpp.server lms~load num_gpu~ num_gpu\" PROCESSOR",
    .request = request,
    .devices = devices};
