/* The targets of fuzz_files.c: a file of each kind, how it is changed, and what is done with what was read. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/file.h"
#include "base/hash.h"
#include "engine/measure.h"
#include "engine/trials.h"
#include "fuzz_targets.h"
#include "learn/learner.h"
#include "mutate_json.h"
#include "plan/plan.h"

enum { MANY = 1 << 16 };

static const char model[] = "builtin:layered?operators=10&width=3";
static const char platform[] = "cpu+2*v100-16g";

const char workload[] =
    "{\"maxSizePerFPGA\": 100.5, \"maxCPUs\": 1, \"maxFPGAs\": 2, \"nodes\": [{\"id\": 0, \"cpuLatency\": 5, "
    "\"fpgaLatency\": 1.5, \"supportedOnFpga\": 1, \"isBackwardNode\": 0, \"size\": 10, \"colorClass\": 0, \"name\": "
    "\"x\", \"layerId\": 3}, {\"id\": 1, \"cpuLatency\": 5, \"fpgaLatency\": 1.5, \"supportedOnFpga\": 0, "
    "\"isBackwardNode\": 0, \"size\": 10}, {\"id\": 7, \"cpuLatency\": 5, \"fpgaLatency\": 2, \"supportedOnFpga\": "
    "1, "
    "\"isBackwardNode\": 1, \"size\": 1, \"colorClass\": 0}], \"edges\": [{\"sourceId\": 0, \"destId\": 1, \"cost\": "
    "1},"
    " {\"sourceId\": 1, \"destId\": 7, \"cost\": 0.25}]}";

void die(const char *what, const situ_error *error) {
  fprintf(stderr, "fuzz-files: %s: %s: %s\n", what, error ? error->where : "", error ? error->text : "");
  exit(1);
}

static void add_base(target *t, char *bytes, size_t n) {
  if (!bytes || t->n_bases == MAX_BASES) die("no room for the bases", NULL);
  t->bases[t->n_bases++] = (base){bytes, n};
}

static void add_text(target *t, const char *text) { add_base(t, strdup(text), strlen(text)); }

char *read_whole(const char *path, size_t *n) {
  FILE *f = fopen(path, "rb");
  if (!f) return NULL;
  text_buffer t = {0};
  char part[4096];
  while ((*n = fread(part, 1, sizeof part, f)) > 0) text_add_bytes(&t, part, *n);
  fclose(f);
  *n = t.length;
  return text_take(&t);
}

void put_file(const char *path, const char *bytes, size_t n) {
  unlink(path); /* some file systems write out what replaces a file */
  FILE *f = fopen(path, "wb");
  bool good = f && fwrite(bytes, 1, n, f) == n;
  if (f) good = fclose(f) == 0 && good;
  if (!good) die(path, NULL);
}

static base by_json(const base *from, rng *random) {
  char *text = mutate_json(from->bytes, random);
  return (base){text, strlen(text)};
}

/* A short search in the problem, judged and reported. */
static situ_status use_problem(const situ_instance *i, situ_error *error) {
  const situ_problem *p = situ_instance_problem(i);
  situ_solve_options effort = {.size = sizeof effort, .solvers = "single", .max_steps = 20, .no_bounds = true};
  situ_plan *plan = NULL;
  char *text = NULL;
  situ_status status = situ_solve(&plan, p, &effort, error);
  if (status == SITU_STATUS_OK) status = situ_plan_text(&text, plan, i, error);
  situ_text_free(text);
  situ_plan_free(plan);
  return status;
}

/* ---- plans ---- */

static void add_plan(target *t, situ_instance_options o, situ_problem_options p, const char *solvers) {
  situ_solve_options effort = {.size = sizeof effort, .solvers = solvers, .max_steps = 50};
  situ_instance *instance = NULL;
  situ_plan *plan = NULL;
  situ_error error = {0};
  char *text = NULL;
  o.size = sizeof o;
  p.size = sizeof p;
  o.problem = &p;
  if (!o.model) o.model = model;
  if (!o.platform) o.platform = platform;
  if (situ_place(&plan, &instance, &o, &effort, &error) != SITU_STATUS_OK ||
      situ_plan_text(&text, plan, instance, &error) != SITU_STATUS_OK)
    die("a plan to begin with", &error);
  add_base(t, text, strlen(text));
  situ_plan_free(plan);
  situ_instance_free(instance);
}

static void make_plans(target *t) {
  situ_instance_options o = {0};
  add_plan(t, o, (situ_problem_options){0}, "single,heft");
  add_plan(t, o, (situ_problem_options){.max_period_ns = 1000000000, .contention = SITU_CONTENTION_NONE}, "heft");
  add_plan(t, o, (situ_problem_options){.execution = SITU_EXECUTION_CALLS}, "auto");
  add_plan(t, o, (situ_problem_options){.objective = SITU_OBJECTIVE_THROUGHPUT, .replicate = true, .in_flight = 2},
           "auto");
  add_plan(t, o, (situ_problem_options){.copies = 2}, "heft");
  static const char *const rules[] = {"reserve gpu0=1GB"};
  add_plan(t, (situ_instance_options){.rules = rules, .n_rules = 1}, (situ_problem_options){0}, "heft");
}

static situ_status tell(const situ_plan *plan, situ_error *error) {
  char *text[6] = {NULL};
  situ_explanation *x = NULL;
  situ_status status = situ_report_plan(&text[0], plan, NULL, SITU_REPORT_TABLE, NULL, error);
  if (status == SITU_STATUS_OK) status = situ_report_plan(&text[1], plan, NULL, SITU_REPORT_JSON, NULL, error);
  if (status == SITU_STATUS_OK) status = situ_report_plan(&text[2], plan, NULL, SITU_REPORT_SVG, NULL, error);
  if (status == SITU_STATUS_OK) status = situ_report_plan(&text[3], plan, NULL, SITU_REPORT_PARTS, NULL, error);
  if (status == SITU_STATUS_OK) status = situ_report_page(&text[4], plan, NULL, NULL, error);
  if (status == SITU_STATUS_OK) status = situ_report_plan(&text[5], plan, NULL, SITU_REPORT_GANTT, NULL, error);
  if (status == SITU_STATUS_OK) status = situ_explain(&x, plan, error);
  situ_explanation_free(x);
  for (int k = 0; k < 6; k++) situ_text_free(text[k]);
  return status;
}

static situ_status use_plan(const target *t, situ_error *error) {
  situ_plan *plan = NULL, *again = NULL;
  situ_instance *instance = NULL;
  situ_verdict *verdict = NULL;
  TRY(situ_plan_read(&plan, &instance, t->path, error));
  situ_status status = situ_check(&verdict, plan, error);
  char *text = NULL;
  if (status == SITU_STATUS_OK) status = situ_report_verdict(&text, verdict, SITU_REPORT_TABLE, NULL, error);
  situ_text_free(text);
  /* of plans that break rules too: a program may tell a plan without asking whether it is valid */
  if (status == SITU_STATUS_OK) status = tell(plan, error);
  if (status == SITU_STATUS_OK && plan_exists(plan)) status = situ_replay(&again, plan, error);
  for (int32_t w = 0; w < situ_writer_count() && status == SITU_STATUS_OK && plan_exists(plan); w++) {
    situ_writer_info info = SITU_WRITER_INFO_INIT;
    char *written = NULL;
    situ_writer_at(w, &info);
    if (!info.folder) (void)situ_write(&written, info.name, plan, NULL);
    situ_text_free(written);
  }
  situ_plan_free(again);
  situ_verdict_free(verdict);
  situ_plan_free(plan);
  situ_instance_free(instance);
  return status;
}

/* ---- files beside a model ---- */

static situ_status open_with(situ_instance_options o, bool solve, situ_error *error) {
  situ_instance *instance = NULL;
  o.size = sizeof o;
  if (!o.model) o.model = model;
  if (!o.platform) o.platform = platform;
  TRY(situ_instance_open(&instance, &o, error));
  situ_status status = solve ? use_problem(instance, error) : SITU_STATUS_OK;
  situ_instance_free(instance);
  return status;
}

static void make_fixes(target *t) {
  situ_instance_options o = {0};
  add_plan(t, o, (situ_problem_options){0}, "heft");
}

static void make_pins(target *t) {
  add_text(t, "{\"layer0.0.matmul\": \"gpu0\", \"layer2.0.norm\": \"cpu\", \"layer3.0.matmul\": \"gpu1\"}");
}

static situ_status use_pins(const target *t, situ_error *error) {
  return open_with((situ_instance_options){.fix = t->path}, true, error);
}

static void make_splits(target *t) { add_text(t, "{\"fpgas\": [{\"nodes\": [0, 7]}], \"cpus\": [{\"nodes\": [1]}]}"); }

static situ_status use_split(const target *t, situ_error *error) {
  situ_instance_options o = {.size = sizeof o, .model = "fuzz-split.model.json", .fix = t->path};
  situ_instance *instance = NULL;
  TRY(situ_instance_open(&instance, &o, error));
  situ_status status = use_problem(instance, error);
  situ_instance_free(instance);
  return status;
}

static situ_status use_fix(const target *t, situ_error *error) {
  situ_plan *plan = NULL;
  situ_instance *instance = NULL;
  situ_instance_options o = {.size = sizeof o, .model = model, .platform = platform, .start = t->path};
  situ_status status = open_with((situ_instance_options){.fix = t->path}, true, error);
  if (status != SITU_STATUS_OK) return status;
  status = situ_plan_import(&plan, &instance, &o, t->path, error);
  situ_plan_free(plan);
  situ_instance_free(instance);
  return status;
}

static void make_costs(target *t) {
  situ_instance *instance = NULL;
  situ_instance_options o = {.size = sizeof o, .model = model, .platform = platform};
  situ_error error = {0};
  char *text = NULL;
  if (situ_instance_open(&instance, &o, &error) != SITU_STATUS_OK ||
      situ_report_costs(&text, situ_instance_problem(instance), SITU_REPORT_JSON, NULL, &error) != SITU_STATUS_OK)
    die("a cost table", &error);
  situ_instance_free(instance);
  if (strstr(text, "\"situ_costs\"")) add_text(t, text);
  situ_text_free(text);
  add_text(
      t,
      "{\"situ_costs\": 1, \"source\": \"s\", \"unit\": \"us\", \"classes\": [\"v100\", \"other\"], \"operators\": "
      "{\"layer0.0.matmul\": {\"v100-16g\": 12.5, \"cpu\": null}, \"layer2.0.norm\": {\"cpu\": 3, \"other\": 7}},"
      " \"groups\": [{\"operators\": [\"layer2.1.matmul\", \"layer2.2.act\"], \"times\": {\"cpu\": 9}}], "
      "\"links\": [{\"from\": \"cpu\", \"to\": \"v100-16g\", \"latency\": 10, \"bytes_per_s\": 1e10}], \"parts\": "
      "[{\"class\": \"v100-16g\", \"start\": 5, \"dispatch\": 2, \"bytes_per_s\": 5e9}, {\"class\": \"cpu\", "
      "\"start\": 0}], \"workspace_bytes\": {\"layer0.0.matmul\": 4096}}");
}

static situ_status use_costs(const target *t, situ_error *error) {
  situ_cost_options c = {.size = sizeof c, .table_path = t->path};
  return open_with((situ_instance_options){.cost = &c}, true, error);
}

static void make_platforms(target *t) {
  add_text(
      t,
      "{\"situ_platform\": 1, \"name\": \"n\", \"devices\": [{\"name\": \"cpu\", \"base\": \"cpu\", \"server\": "
      "\"a\"}, "
      "{\"name\": \"npu\", \"count\": 2, \"concurrent_operators\": 2, \"memory_gb\": 8, \"memory_gb_per_s\": 60, "
      "\"launch_us\": 20, "
      "\"efficiency\": 0.5, \"peak_tflops\": {\"f32\": 1, \"i8\": 32}}, {\"name\": \"gpu\", \"base\": \"v100-16g\", "
      "\"reserve_gb\": 1}], \"links\": [{\"from\": \"cpu\", \"to\": \"npu\", \"kind\": \"pcie4\"}, {\"from\": \"npu\", "
      "\"to\": \"npu\", \"latency_us\": 15, \"gb_per_s\": 6.4, \"channel\": \"bus\"}, {\"from\": \"cpu\", \"to\": "
      "\"gpu\", \"latency_ns\": 900, \"bytes_per_s\": 1e10, \"bidirectional\": true}]}");
  add_text(
      t,
      "{\"situ_platform\": 1, \"devices\": [{\"name\": \"a\", \"host\": true, \"memory_bytes\": 1000000000, "
      "\"memory_bytes_per_s\": 1e9, \"peak_flops\": {\"f32\": 1e9}}, {\"name\": \"b\", \"class\": \"k\", "
      "\"shares_memory_with\": \"a\", \"memory_bytes_per_s\": 1e9, \"peak_flops\": {\"f32\": 1e9}}, {\"name\": \"c\", "
      "\"shares_capacity_with\": \"a\", \"memory_bytes_per_s\": 1e9, \"peak_flops\": {\"f16\": 1e9}, \"family\": "
      "\"npu\"}], \"links\": [{\"from\": \"a\", \"to\": \"c\", \"bytes_per_s\": 1e9}]}");
}

static situ_status use_platform(const target *t, situ_error *error) {
  return open_with((situ_instance_options){.platform = t->path}, true, error);
}

static void make_rules(target *t) {
  add_text(
      t,
      "{\"situ_rules\": 1, \"source\": \"s\", \"operators\": [{\"kind\": \"MatMul\", \"name\": [\"layer0*\", "
      "\"layer1*\"], \"not_on\": [\"gpu1\"]}, {\"name\": \"layer2*\", \"on\": \"gpu\", \"time_factor\": {\"gpu0\": "
      "1.5, "
      "\"cpu\": 2}}], \"keep_together\": [\"layer0.*\", [\"layer1.0*\", \"layer1.1*\"]], \"cuts_only_after\": "
      "[\"layer1.*\"], \"devices\": {\"gpu0\": {\"reserve\": \"1 GiB\", \"efficiency\": 0.5, \"precision\": [\"f32\", "
      "\"f16\"]}, \"cpu\": {\"reserve\": 1000000}}}");
}

static situ_status use_rules(const target *t, situ_error *error) {
  const char *rules[] = {t->path};
  return open_with((situ_instance_options){.rules = rules, .n_rules = 1}, true, error);
}

/* ---- models ---- */

static void make_graphs(target *t) {
  add_text(
      t,
      "{\"situ_graph\": 1, \"name\": \"n\", \"operators\": [{\"name\": \"a\", \"kind\": \"Conv\", \"layer\": \"l\", "
      "\"phase\": \"forward\", \"dtype\": \"f32\", \"flops\": 2000, \"moved_bytes\": 96, \"colocation\": 3}, "
      "{\"name\": "
      "\"b\", \"weight_bytes\": 40, \"workspace_bytes\": 8, \"inferred\": false}, {\"name\": \"c\", \"colocation\": "
      "3}], "
      "\"tensors\": [{\"name\": \"t\", \"from\": \"a\", \"to\": [\"b\", \"c\"], \"dtype\": \"f16\", \"dims\": [10, "
      "-1], "
      "\"bytes\": 4000}, {\"from\": \"b\", \"to\": [\"c\"], \"bytes\": 100}]}");
}

static void make_workloads(target *t) { add_text(t, workload); }

static situ_status use_model(const target *t, situ_error *error) {
  return open_with((situ_instance_options){.model = t->path}, true, error);
}

static situ_status use_workload(const target *t, situ_error *error) {
  situ_instance_options o = {.size = sizeof o, .model = t->path};
  situ_instance *instance = NULL;
  TRY(situ_instance_open(&instance, &o, error));
  situ_status status = use_problem(instance, error);
  situ_instance_free(instance);
  return status;
}

static void make_weights(target *t) {
  add_text(
      t,
      "{\"model.embed_tokens.weight\":{\"dtype\":\"F32\",\"shape\":[10,8],\"data_offsets\":[0,320]},"
      "\"model.layers.0.self_attn.qkv_proj.weight\":{\"dtype\":\"F32\",\"shape\":[24,8],\"data_offsets\":[320,1088]},"
      "\"model.layers.0.self_attn.o_proj.weight\":{\"dtype\":\"F32\",\"shape\":[8,8],\"data_offsets\":[1088,1344]},"
      "\"model.layers.0.mlp.experts.0.w1.weight\":{\"dtype\":\"F32\",\"shape\":[4,8],\"data_offsets\":[1344,1472]},"
      "\"model.layers.0.mlp.experts.0.w2.weight\":{\"dtype\":\"F32\",\"shape\":[8,4],\"data_offsets\":[1472,1600]},"
      "\"model.layers.0.mlp.gate.weight\":{\"dtype\":\"F32\",\"shape\":[1,8],\"data_offsets\":[1600,1632]}}");
}

base with_length(const char *json, size_t n_json, rng *random) {
  char *bytes = malloc(n_json + 9);
  if (!bytes) abort();
  uint64_t n = rng_below(random, 50) ? n_json : (uint64_t)rng_below(random, INT64_MAX);
  for (int i = 0; i < 8; i++) bytes[i] = (char)(n >> (8 * i));
  memcpy(bytes + 8, json, n_json + 1);
  return (base){bytes, n_json + 8};
}

base by_header(const base *from, rng *random) {
  base json = by_json(from, random), out = with_length(json.bytes, json.n, random);
  free(json.bytes);
  return out;
}

static void make_configs(target *t) {
  add_text(t,
           "{\"model_type\": \"llama\", \"hidden_size\": 8, \"num_hidden_layers\": 1, \"num_attention_heads\": 2, "
           "\"num_key_value_heads\": 1, \"head_dim\": 4, \"intermediate_size\": 16, \"vocab_size\": 10, "
           "\"sliding_window\": 5, "
           "\"layer_types\": [\"sliding_attention\"], \"num_local_experts\": 2, \"num_experts_per_tok\": 1, "
           "\"torch_dtype\": "
           "\"bfloat16\", \"kv_lora_rank\": 0, \"max_position_embeddings\": 100, \"quantization_config\": null}");
}

/* The configuration beside an index whose parts are absent: shapes come from it. */
static situ_status use_config(const target *t, situ_error *error) {
  (void)t;
  return open_with((situ_instance_options){.model = "fuzz-config/model.safetensors.index.json"}, true, error);
}

/* ---- logs of measurements ---- */

static void open_instance(target *t) {
  situ_instance_options o = {.size = sizeof o, .model = model, .platform = platform};
  situ_error error = {0};
  static const char *const solvers[] = {"single", "heft"};
  if (situ_instance_open(&t->instance, &o, &error) != SITU_STATUS_OK) die("an instance", &error);
  for (int k = 0; k < 2; k++) {
    situ_solve_options effort = {.size = sizeof effort, .solvers = solvers[k], .max_steps = 10, .no_bounds = true};
    if (situ_solve(&t->plans[k], situ_instance_problem(t->instance), &effort, &error) != SITU_STATUS_OK)
      die("a plan", &error);
  }
}

static situ_status race(const target *t, const char *from, const char *to, situ_error *error) {
  static const char *const names[] = {"first", "second"};
  measure_options o = {.replay = from, .log = to};
  situ_race *r = NULL;
  char *text = NULL, *json = NULL;
  TRY(race_plans(&r, (const situ_plan *const *)t->plans, names, 2, situ_instance_problem(t->instance), "none.onnx", &o,
                 error));
  if (r->winner < 0 || r->winner > 1) die("a race without a winner", NULL);
  situ_status status = situ_report_race(&text, r, SITU_REPORT_TABLE, NULL, error);
  if (status == SITU_STATUS_OK) status = situ_report_race(&json, r, SITU_REPORT_JSON, NULL, error);
  situ_text_free(text);
  situ_text_free(json);
  situ_race_free(r);
  return status;
}

static void take_log(target *t, const char *path, const situ_error *error) {
  size_t n;
  char *text = read_whole(path, &n);
  if (!text) die("a log", error);
  add_base(t, text, n);
  unlink(path);
}

static void make_races(target *t) {
  text_buffer b = {0};
  situ_error error = {0};
  open_instance(t);
  text_add(&b, "{\"situ_race\": 1, \"engine\": \"e\", \"rounds\": 5, \"plans\": [");
  for (int k = 0; k < 2; k++)
    text_add(&b, "%s{\"hash\": \"%016llx\", \"times_ns\": [9, 8, 7, 6, %d]}", k ? "," : "",
             (unsigned long long)measure_hash(t->plans[k]->device, t->plans[k]->order, t->plans[k]->n_operators), k);
  text_add(&b, "]}");
  if (file_write(t->path, b.bytes, b.length, &error) != SITU_STATUS_OK ||
      race(t, t->path, "fuzz-race.log", &error) != SITU_STATUS_OK)
    die("a race", &error);
  text_free(&b);
  take_log(t, "fuzz-race.log", &error);
}

static situ_status use_race(const target *t, situ_error *error) { return race(t, t->path, NULL, error); }

static situ_status replay_trials(const target *t, const char *from, const char *to, situ_error *error) {
  trials r;
  const situ_problem *p = situ_instance_problem(t->instance);
  measure_options o = {.replay = from, .log = to};
  situ_status status = trials_begin(&r, p, "none.onnx", 5, &o, error);
  for (int k = 0; k < 2 && status == SITU_STATUS_OK; k++)
    (void)trials_time(&r, &(placement){.device = t->plans[k]->device, .order = t->plans[k]->order});
  if (status == SITU_STATUS_OK && r.status != SITU_STATUS_OK) {
    *error = r.failure;
    status = r.status;
  }
  if (status == SITU_STATUS_OK) status = trials_race(&r, error);
  if (status == SITU_STATUS_OK) status = trials_write(&r, error);
  trials_end(&r);
  return status;
}

static void add_trial(text_buffer *b, const int32_t *device, const int32_t *order, int32_t n) {
  text_add(b,
           "%s{\"hash\": \"%016llx\", \"times_ns\": [300, 310, 290], \"reference_ns\": [300, 310, 290], \"why\": \"\"}",
           b->bytes[b->length - 1] == '}' ? "," : "", (unsigned long long)measure_hash(device, order, n));
}

static void make_trials(target *t) {
  text_buffer b = {0};
  situ_error error = {0};
  open_instance(t);
  const situ_problem *p = situ_instance_problem(t->instance);
  int32_t n = p->n_operators, *device = calloc((size_t)n, sizeof *device);
  text_add(&b, "{\"situ_trials\": 1, \"engine\": \"e\", \"budget\": 5, \"trials\": [");
  for (int32_t d = 0; device && d < p->n_devices; d++) {
    for (int32_t v = 0; v < n; v++) device[v] = d;
    add_trial(&b, device, NULL, n);
  }
  for (int k = 0; k < 2; k++) add_trial(&b, t->plans[k]->device, t->plans[k]->order, n);
  text_add(&b, "], \"final_ns\": [");
  for (int k = 0; k < 4; k++) {
    text_add(&b, "%s[", k ? "," : "");
    for (int r = 0; r < 30; r++) text_add(&b, "%s%d", r ? "," : "", 100 + 10 * k + r % 3);
    text_add(&b, "]");
  }
  text_add(&b, "]}");
  if (file_write(t->path, b.bytes, b.length, &error) != SITU_STATUS_OK ||
      replay_trials(t, t->path, "fuzz-trials.log", &error) != SITU_STATUS_OK)
    die("trials", &error);
  text_free(&b);
  free(device);
  take_log(t, "fuzz-trials.log", &error);
}

static situ_status use_trials(const target *t, situ_error *error) { return replay_trials(t, t->path, NULL, error); }

/* ---- policies ---- */

#ifdef SITU_LEARN

/* Whole numbers, real numbers and bits at places of the training state and of the parameters; then the right checksum.
 * Now and then a file is cut off, or its checksum is wrong. */
static base by_policy(const base *from, rng *random) {
  static const int64_t wholes[] = {0,      1, -1, 2, 255, INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN, (int64_t)1 << 53,
                                   1 << 20};
  static const double reals[] = {0,      -1,    1,  1e9, -1e9, 1e38, (double)NAN, (double)INFINITY, -(double)INFINITY,
                                 5e-324, 1e300, 0.5};
  unsigned char *copy = malloc(from->n);
  if (!copy) abort();
  memcpy(copy, from->bytes, from->n);
  size_t n = from->n, early = n < 700 ? n : 700;
  for (int64_t k = 1 + rng_below(random, 3); k > 0; k--) {
    size_t room = rng_below(random, 4) ? early : n, at = (size_t)rng_below(random, (int64_t)room - 8);
    if (rng_below(random, 8)) at = at / 4 * 4 + (rng_below(random, 2) ? from->bytes[16] % 4 : 0);
    if (at > n - 16) at = n - 16;
    int64_t whole = wholes[rng_below(random, 11)];
    double real = reals[rng_below(random, 12)];
    float small = (float)real;
    switch (rng_below(random, 5)) {
      case 0: memcpy(copy + at, &whole, sizeof whole); break;
      case 1: memcpy(copy + at, &whole, sizeof(int32_t)); break;
      case 2: memcpy(copy + at, &real, sizeof real); break;
      case 3: memcpy(copy + at, &small, sizeof small); break;
      default: copy[at] ^= (unsigned char)(1u << rng_below(random, 8)); break;
    }
  }
  if (rng_below(random, 20) == 0) n = 8 + (size_t)rng_below(random, (int64_t)n - 8);
  uint64_t hash = hash_bytes(copy, n - 8, 0);
  if (rng_below(random, 30)) memcpy(copy + n - 8, &hash, sizeof hash);
  return (base){(char *)copy, n};
}

static situ_status train(const char *name, const target *t, int64_t steps, bool resume, situ_error *error) {
  const situ_problem *p = situ_instance_problem(t->instance);
  situ_learn_options o = {.size = sizeof o, .out = t->path, .steps = steps, .resume = resume, .seed = 3};
  situ_learn_report report = SITU_LEARN_REPORT_INIT;
  return situ_learn(&report, NULL, name, &p, 1, &o, error);
}

static void make_policy(target *t) {
  situ_error error = {0};
  size_t n;
  open_instance(t);
  unlink(t->path);
  if (train(t->name, t, 2, false, &error) != SITU_STATUS_OK) die("a policy", &error);
  char *bytes = read_whole(t->path, &n);
  add_base(t, bytes, n);
}

/* Trains on, and serves as a solver does. */
static situ_status use_policy(const target *t, situ_error *error) {
  situ_solve_options effort = {
      .size = sizeof effort, .solvers = t->name, .policy = t->path, .max_steps = 4, .no_bounds = true};
  situ_plan *plan = NULL;
  situ_status status = situ_solve(&plan, situ_instance_problem(t->instance), &effort, error);
  situ_plan_free(plan);
  return status == SITU_STATUS_OK ? train(t->name, t, 3, true, error) : status;
}

#endif

/* ---- profiles ---- */

const char onnx_chain[] = "tests/fuzz/corpus/onnx-chain";

static void make_profiles(target *t) {
  add_text(t,
           "[{\"cat\":\"Session\",\"name\":\"model_run\",\"ts\":0,\"dur\":90},{\"cat\":\"Node\",\"name\":\"a_kernel_"
           "time\",\"ts\":1,"
           "\"dur\":5,\"args\":{\"op_name\":\"Relu\"}},{\"cat\":\"Node\",\"name\":\"b_kernel_time\",\"ts\":7,\"dur\":6,"
           "\"args\":"
           "{\"op_name\":\"Tanh\"}},{\"cat\":\"Session\",\"name\":\"model_run\",\"ts\":100,\"dur\":90},{\"cat\":"
           "\"Node\",\"name\":"
           "\"a_kernel_time\",\"ts\":101,\"dur\":4,\"args\":{\"op_name\":\"Relu\"}},{\"cat\":\"Session\",\"name\":"
           "\"model_run\","
           "\"ts\":200,\"dur\":80}]");
  add_text(t,
           "{\"traceEvents\":[{\"cat\":\"cpu_op\",\"name\":\"aten::relu\",\"ts\":10,\"dur\":5,\"tid\":1,\"args\":{"
           "\"External id\":4}},"
           "{\"cat\":\"cpu_op\",\"name\":\"aten::tanh\",\"ts\":20,\"dur\":5,\"tid\":1,\"args\":{\"External "
           "id\":5}},{\"cat\":\"kernel\","
           "\"name\":\"k\",\"ts\":21,\"dur\":3,\"args\":{\"External "
           "id\":5}},{\"cat\":\"user_annotation\",\"name\":\"a\",\"ts\":9,"
           "\"dur\":7,\"tid\":1}]}");
  add_text(t,
           "[{\"name\":\"a\",\"timeMs\":1.5,\"averageMs\":0.5,\"medianMs\":0.5,\"percentage\":50},{\"name\":\"b\","
           "\"timeMs\":1.5,"
           "\"averageMs\":0.5,\"medianMs\":0.5,\"percentage\":50},{\"count\":3}]");
}

static situ_status use_profile(const target *t, situ_error *error) {
  situ_profile *profile = NULL;
  situ_profile_options o = SITU_PROFILE_OPTIONS_INIT;
  char *text = NULL;
  TRY(situ_profile_read(&profile, "fuzz-chain.onnx", t->path, &o, error));
  situ_status status = situ_report_profile(&text, profile, SITU_REPORT_TABLE, NULL, error);
  if (status == SITU_STATUS_OK && situ_profile_time_ns(profile, 0) % 16 == 0) /* its fsync is slow */
    status = situ_profile_write(profile, "cpu", "fuzz-profile.costs", error);
  situ_text_free(text);
  situ_profile_free(profile);
  return status;
}

/* ---- all of them ---- */

target targets[] = {
    {.name = "plan", .file = "json", .make = make_plans, .mutate = by_json, .use = use_plan, .share = 40},
    {.name = "fix", .file = "json", .make = make_fixes, .mutate = by_json, .use = use_fix, .share = 100},
    {.name = "pins", .file = "json", .make = make_pins, .mutate = by_json, .use = use_pins, .share = 100},
    {.name = "split", .file = "json", .make = make_splits, .mutate = by_json, .use = use_split, .share = 100},
    {.name = "costs", .file = "json", .make = make_costs, .mutate = by_json, .use = use_costs, .share = 100},
    {.name = "platform", .file = "json", .make = make_platforms, .mutate = by_json, .use = use_platform, .share = 100},
    {.name = "rules", .file = "json", .make = make_rules, .mutate = by_json, .use = use_rules, .share = 100},
    {.name = "graph", .file = "json", .make = make_graphs, .mutate = by_json, .use = use_model, .share = 100},
    {.name = "workload", .file = "json", .make = make_workloads, .mutate = by_json, .use = use_workload, .share = 100},
    {.name = "weights",
     .file = "safetensors",
     .make = make_weights,
     .mutate = by_header,
     .use = use_model,
     .share = 100},
    {.name = "config", .file = "json", .make = make_configs, .mutate = by_json, .use = use_config, .share = 100},
    {.name = "race", .file = "json", .make = make_races, .mutate = by_json, .use = use_race, .share = 100},
    {.name = "trials", .file = "json", .make = make_trials, .mutate = by_json, .use = use_trials, .share = 100},
    {.name = "profile", .file = "json", .make = make_profiles, .mutate = by_json, .use = use_profile, .share = 100},
#ifdef SITU_LEARN
    {.name = "gdp", .file = "policy", .make = make_policy, .mutate = by_policy, .use = use_policy, .share = 5},
    {.name = "hsdag", .file = "policy", .make = make_policy, .mutate = by_policy, .use = use_policy, .share = 5},
#endif
};
const int n_targets = sizeof targets / sizeof *targets;
