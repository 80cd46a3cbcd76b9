/* What llama.cpp calls the devices of a platform, and which caches its back ends compute with. */
#include <stdio.h>
#include <string.h>

#include "base/ascii.h"
#include "base/fail.h"
#include "write/llamacpp_options.h"

enum { USUAL_PORT = 50052, MAX_NAME = 128 };

/* Back ends: the first of a family is the one that its devices usually have. `caches`: types of caches that builds
 * without special options compute with (supports_op of GGML_OP_FLASH_ATTN_EXT, ggml/src, October 2026); other types
 * would be computed on the CPU. */
typedef struct back_end {
  const char *name;
  unsigned families;
  const char *caches;
} back_end;
#define OF(FAMILY) (1u << SITU_FAMILY_##FAMILY)
#define ALL_CACHES " f16 f32 bf16 q8_0 q5_1 q5_0 q4_1 q4_0 iq4_nl "
static const back_end back_ends[] = {
    {"CUDA", OF(GPU) | OF(GPU_LOW_POWER), " f16 bf16 q8_0 q4_0 "},
    {"ROCm", OF(GPU_AMD), " f16 bf16 q8_0 q4_0 "},
    {"SYCL", OF(GPU_INTEL), " f16 f32 bf16 q8_0 q4_0 "},
    {"MTL", OF(GPU_APPLE), " f16 f32 bf16 q8_0 q5_1 q5_0 q4_1 q4_0 "},
    {"Vulkan", 0, ALL_CACHES},
    {"CPU", OF(CPU) | OF(CPU_AMX) | OF(CPU_AVX512), ALL_CACHES},
};
enum { N_BACK_ENDS = sizeof back_ends / sizeof *back_ends };

static const back_end *named(const char *name) {
  for (int i = 0; i < N_BACK_ENDS; i++)
    if (strncmp(name, back_ends[i].name, strlen(back_ends[i].name)) == 0) return &back_ends[i];
  return NULL;
}

static const back_end *usual(const situ_device *d) {
  static const char *const integrated[] = {"radeon", "uhd", "iris", "arc"}; /* others are NVIDIA's */
  for (size_t i = 0; i < sizeof integrated / sizeof *integrated && d->family == SITU_FAMILY_GPU_INTEGRATED; i++)
    if (strncmp(d->class_name, integrated[i], strlen(integrated[i])) == 0) return named("Vulkan");
  for (int i = 0; i < N_BACK_ENDS; i++)
    if (back_ends[i].families >> d->family & 1) return &back_ends[i];
  return &back_ends[0];
}

/* ---- --names ---- */

typedef struct naming {
  const situ_problem *p;
  arena *a;
  const back_end *all;     /* of a name alone; NULL */
  char (*given)[MAX_NAME]; /* [device] or "" */
  situ_error *error;
} naming;

static bool is_plain(const char *s, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (!ascii_is_alnum(s[i]) && !strchr("._-:[]", s[i])) return false;
  return n > 0 && n < MAX_NAME;
}

static situ_status take_pair(naming *f, const char *item, size_t n) {
  const char *equal = memchr(item, '=', n);
  const char *name = equal ? equal + 1 : item;
  size_t n_name = n - (size_t)(name - item);
  char device[MAX_NAME], near[256];
  if (!is_plain(name, n_name))
    return fail_with(f->error, SITU_STATUS_BAD_ARGUMENT, NULL,
                     "--names: \"%.*s\" is no name of a device of llama.cpp; expected letters, digits and . _ - : [ ]",
                     (int)(n_name < MAX_NAME ? n_name : MAX_NAME), name);
  if (!equal) {
    bool metal = n == 5 && ascii_same_n(name, "metal", n);
    f->all = named(metal ? "MTL" : name);
    if (f->all && (metal || strlen(f->all->name) == n)) return SITU_STATUS_OK;
    return fail_with(f->error, SITU_STATUS_BAD_ARGUMENT, NULL,
                     "--names: %.*s is no back end; expected CUDA, ROCm, SYCL, MTL, Vulkan, or DEVICE=NAME", (int)n,
                     item);
  }
  snprintf(device, sizeof device, "%.*s", (int)(equal - item), item);
  int32_t d = situ_platform_find(f->p->platform, device);
  if (d < 0)
    return fail_with(f->error, SITU_STATUS_BAD_ARGUMENT, NULL, "--names: platform %s has no device %s; %s",
                     f->p->platform->name, device, platform_near_devices(near, sizeof near, f->p->platform, device));
  snprintf(f->given[d], MAX_NAME, "%.*s", (int)n_name, name);
  bool remote = strncmp(f->given[d], "RPC", 3) == 0;
  if (remote && (strncmp(f->given[d], "RPC[", 4) != 0 || name[n_name - 1] != ']' || !strchr(f->given[d], ':')))
    return fail_with(f->error, SITU_STATUS_BAD_ARGUMENT, NULL,
                     "--names: %s does not say where the server is; expected %s=RPC[HOST:PORT]", f->given[d], device);
  return SITU_STATUS_OK;
}

static situ_status take_names(naming *f) {
  for (const char *item = f->p->names; item && *item; item += strspn(item, ",")) {
    size_t n = strcspn(item, ",");
    if (n > 0) TRY(take_pair(f, item, n));
    item += n;
  }
  return SITU_STATUS_OK;
}

static situ_status open_names(naming *f, const situ_problem *p, arena *a, situ_error *error) {
  *f = (naming){.p = p, .a = a, .error = error};
  f->given = a ? arena_alloc(a, p->n_devices, MAX_NAME) : NULL;
  if (!f->given) return fail_no_memory(error);
  for (int32_t d = 0; d < p->n_devices; d++) f->given[d][0] = '\0';
  return take_names(f);
}

/* The device number d of its machine among those of its back end, of a group its first member. */
static const back_end *back_end_of(const naming *f, int32_t d) {
  const situ_device *device = &f->p->platform->devices[d];
  const char *given = f->given[d];
  if (*given && strncmp(given, "RPC", 3) != 0 && named(given)) return named(given);
  return f->all && !device->is_host ? f->all : usual(device);
}

static int32_t number_of(const naming *f, int32_t d) {
  const situ_device *devices = f->p->platform->devices;
  int32_t number = 0;
  for (int32_t e = 0; e < d; e++)
    if (devices[e].server == devices[d].server && !devices[e].is_host && back_end_of(f, e) == back_end_of(f, d))
      number += platform_members(f->p->platform, e);
  return number;
}

/* "CUDA2", of a group "CUDA2,CUDA3"; of a host "CPU". */
static const char *local_name(const naming *f, int32_t d) {
  text_buffer t = {0};
  const char *name = back_end_of(f, d)->name;
  int32_t number = number_of(f, d), members = platform_members(f->p->platform, d);
  if (f->p->platform->devices[d].is_host)
    text_add(&t, "CPU");
  else if (*f->given[d] && strncmp(f->given[d], "RPC", 3) != 0)
    text_add(&t, "%s", f->given[d]);
  else
    for (int32_t k = 0; k < members; k++) text_add(&t, "%s%s%d", k > 0 ? "," : "", name, (int)number + k);
  const char *kept = t.failed ? NULL : arena_string(f->a, t.bytes);
  text_free(&t);
  return kept;
}

/* "host:port" of a device that RPC reaches: what --names says, or the number of its server. */
static const char *server_of(const naming *f, int32_t d) {
  char text[MAX_NAME];
  const situ_device *device = &f->p->platform->devices[d];
  size_t n = strlen(f->given[d]);
  if (strncmp(f->given[d], "RPC[", 4) == 0)
    snprintf(text, sizeof text, "%.*s", (int)n - 5, f->given[d] + 4);
  else
    snprintf(text, sizeof text, "server%d:%d", (int)device->server, USUAL_PORT);
  return arena_string(f->a, text);
}

situ_status llamacpp_devices_find(llamacpp_device **out, const situ_problem *p, const bool *used, arena *a,
                                  situ_error *error) {
  naming f;
  TRY(open_names(&f, p, a, error));
  llamacpp_device *all = *out = ARENA_ZERO(a, llamacpp_device, p->n_devices);
  if (!all) return fail_no_memory(error);
  for (int32_t d = 0; d < p->n_devices; d++) {
    bool remote = strncmp(f.given[d], "RPC[", 4) == 0 || !problem_is_near(p, d);
    all[d].name = all[d].buffer = local_name(&f, d);
    if (remote && !*f.given[d]) all[d].there = all[d].name;
    if (remote) all[d].server = server_of(&f, d);
    if (!all[d].name || (remote && !all[d].server)) return fail_no_memory(error);
  }
  /* Servers are named in the order of their first device, and their devices are numbered in that order. */
  int32_t number = 0;
  for (int32_t d = 0; d < p->n_devices; d++) {
    bool first = used[d] && all[d].server;
    for (int32_t e = 0; first && e < d; e++)
      first = !(used[e] && all[e].server && strcmp(all[e].server, all[d].server) == 0);
    int32_t within = 0;
    for (int32_t e = d; first && e < p->n_devices; e++) {
      if (!used[e] || !all[e].server || strcmp(all[e].server, all[d].server) != 0) continue;
      char text[2 * MAX_NAME];
      snprintf(text, sizeof text, "RPC%d", (int)number++);
      all[e].name = arena_string(a, text);
      snprintf(text, sizeof text, "RPC%d[%s]", (int)within++, all[e].server);
      all[e].buffer = arena_string(a, text);
      if (!all[e].name || !all[e].buffer) return fail_no_memory(error);
    }
  }
  return SITU_STATUS_OK;
}

/* ---- what no plan can have ---- */

static situ_status check_caches(const naming *f, situ_error *error) {
  const situ_problem *p = f->p;
  const char *type = p->graph->cache_type;
  for (int32_t d = 0; type && d < p->n_devices; d++) {
    const back_end *b = back_end_of(f, d);
    char word[32];
    snprintf(word, sizeof word, " %s ", type);
    if (p->unused[d] || strstr(b->caches, word)) continue;
    return fail_with(error, SITU_STATUS_UNSUPPORTED, p->platform->devices[d].name,
                     "computes with caches of type %s only on the CPU (back end %s of llama.cpp, as it is usually "
                     "built); expected --kv-type%.*s, or another back end (--names)",
                     type, b->name, (int)strlen(b->caches) - 1, b->caches);
  }
  return SITU_STATUS_OK;
}

/* Architectures whose operators llama.cpp does not split (October 2026, and what earlier releases refused), without
 * signs between letters and digits; those with "_" as Hugging Face names them. */
static const char unsplit[] =
    " bailingmoe3 bitnet deepseek2 deepseek32 deepseekv2 deepseekv3 deepseekv32 dots3note falconh1 gemma3n gemma3ntext "
    "glm5next glmdsa glmmoedsa granitehybrid granitemoehybrid grok grok1 hyv4 jamba kimik3 kimilinear lfm2moe mamba "
    "mamba2 minicpm3 minimax01 minimaxm2 minimaxm3 mistral4 mpt nemotronh nemotronhmoe olmo2 olmoe plamo2 qwen3tts "
    "qwen4exp t5 ";
enum { MAX_SPLIT = 16 };

static bool is_unsplit(const char *architecture) {
  char word[64] = " ";
  size_t n = 1;
  for (; architecture && *architecture && n + 2 < sizeof word; architecture++)
    if (ascii_is_alnum(*architecture)) word[n++] = ascii_lower(*architecture);
  word[n] = ' ';
  return n > 1 && strstr(unsplit, word);
}

/* Caches whose rows -sm tensor splits (since June 2026); others end the program at its start. */
static const char split_caches[] = " f16 f32 bf16 q8_0 q4_0 ";

static situ_status check_groups(const situ_problem *p, situ_error *error) {
  const char *type = p->graph->cache_type;
  int32_t size = 1;
  char word[32];
  for (int32_t d = 0; d < p->n_devices; d++)
    if (platform_members(p->platform, d) > size) size = platform_members(p->platform, d);
  if (size == 1) return SITU_STATUS_OK;
  snprintf(word, sizeof word, " %s ", type ? type : "f16");
  if (!strstr(split_caches, word))
    return fail_with(error, SITU_STATUS_UNSUPPORTED, p->graph->model,
                     "has a cache of type %s, which llama.cpp does not split over devices; expected --kv-type%.*s",
                     type, (int)sizeof split_caches - 2, split_caches);
  if (is_unsplit(p->graph->architecture))
    return fail_with(error, SITU_STATUS_UNSUPPORTED, p->graph->model,
                     "has the architecture %s, whose operators llama.cpp does not split over devices",
                     p->graph->architecture);
  if (size > MAX_SPLIT)
    return fail_with(error, SITU_STATUS_UNSUPPORTED, p->platform->name,
                     "has groups of %d, but llama.cpp splits over %d "
                     "devices at most",
                     (int)size, MAX_SPLIT);
  return SITU_STATUS_OK;
}

situ_status llamacpp_serves(const situ_problem *p, situ_error *error) {
  naming f;
  arena *a = arena_new();
  situ_status status = open_names(&f, p, a, error);
  if (status == SITU_STATUS_OK) status = check_groups(p, error);
  if (status == SITU_STATUS_OK) status = check_caches(&f, error);
  arena_free(a);
  return status;
}
