/* Forward and backward of the network of gdp on one core: `nn_speed OPERATORS [FILE]`. Prints one line of JSON; FILE
 * gets what another program needs to do the same (bench/nn_speed.py does, in PyTorch). The loss is the mean over
 * operators of -log(chance of a device drawn from those allowed). Seconds are CPU time, the best of several runs. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "learn/gdp_net.h"
#include "learn/softmax_draw.h"
#include "situ.h"

enum { MAX_RUNS = 50 };
static const double ENOUGH = 10; /* seconds in all */

typedef struct pass {
  environment env;
  gdp_view *view;
  gdp_net *net;
  params *params;
  nn_real *latent;
  int32_t *device; /* [unit] */
} pass;

static double cpu_seconds(void) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return (double)usage.ru_utime.tv_sec + (double)usage.ru_stime.tv_sec +
         1e-6 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

static double peak_megabytes(void) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return (double)usage.ru_maxrss / 1024;
}

static bool make(pass *s, const situ_problem *problem, arena *a) {
  rng random = rng_new(1);
  if (!environment_init(&s->env, problem, a)) return false;
  int32_t n = s->env.n_devices;
  s->view = gdp_look(&s->env, a);
  s->params = params_new(a);
  s->net = s->params ? gdp_net_make(s->params, &random, a) : NULL;
  s->latent = ARENA_ZERO(a, nn_real, (int64_t)n * GDP_LATENT);
  s->device = ARENA_NEW(a, int32_t, s->env.n_units);
  nn_real *equal = ARENA_ZERO(a, nn_real, (int64_t)s->env.n_units * n);
  if (!s->view || !s->net || !s->latent || !s->device || !equal) return false;
  for (int32_t i = 0; i < n * GDP_LATENT; i++) s->latent[i] = (nn_real)(2 * rng_unit(&random) - 1);
  softmax_draw(&s->env, equal, &random, s->device, NULL);
  return true;
}

/* One forward and backward pass; the loss, or NAN without memory. */
static double run(pass *s, tape *t) {
  tape_reset(t);
  params_clear_gradients(s->params);
  nn_var scores = gdp_net_scores(s->net, s->params, t, s->view, s->latent, NULL, 1);
  nn_var chances = nn_log_softmax(t, scores, s->env.allowed);
  nn_var loss = nn_scale(t, nn_sum(t, nn_pick(t, chances, s->device)), -1 / (nn_real)s->env.n_units);
  return tape_backward(t, loss) ? (double)tape_number(t, loss) : (double)NAN;
}

/* A line "NAME TYPE ROWS COLS", then the numbers as they are. */
static void put(FILE *file, const char *name, char type, int64_t rows, int64_t cols, const void *numbers, size_t size) {
  fprintf(file, "%s %c %lld %lld\n", name, type, (long long)rows, (long long)cols);
  fwrite(numbers, size, (size_t)(rows * cols), file);
}

static void put_segments(FILE *file, const char *name, const nn_segments *s) {
  char text[64];
  snprintf(text, sizeof text, "%s.start", name);
  put(file, text, 'q', s->n + 1, 1, s->start, sizeof *s->start);
  snprintf(text, sizeof text, "%s.item", name);
  put(file, text, 'i', s->start[s->n], 1, s->item, sizeof *s->item);
  snprintf(text, sizeof text, "%s.weight", name);
  if (s->weight) put(file, text, 'f', s->start[s->n], 1, s->weight, sizeof *s->weight);
}

static bool write_all(const pass *s, const char *path) {
  FILE *file = fopen(path, "wb");
  if (!file) return false;
  const gdp_view *v = s->view;
  put(file, "unit", 'f', v->n_units, GDP_UNIT_FEATURES, v->unit, sizeof *v->unit);
  put(file, "device", 'f', v->n_devices, GDP_DEVICE_FEATURES, v->device, sizeof *v->device);
  put(file, "slowness", 'f', v->n_units, v->n_devices, v->slowness, sizeof *v->slowness);
  put(file, "latent", 'f', v->n_devices, GDP_LATENT, s->latent, sizeof *s->latent);
  put(file, "allowed", '?', v->n_units, v->n_devices, s->env.allowed, sizeof *s->env.allowed);
  put(file, "chosen", 'i', v->n_units, 1, s->device, sizeof *s->device);
  put_segments(file, "kinds", &v->kinds);
  put_segments(file, "before", &v->before);
  put_segments(file, "after", &v->after);
  for (int32_t k = 0; k < params_count(s->params); k++) {
    nn_matrix x = params_at(s->params, k);
    put(file, "parameter", 'f', x.rows, x.cols, x.value, sizeof *x.value);
  }
  return fclose(file) == 0;
}

static double gradient_norm(const params *p) {
  double sum = 0;
  for (int32_t k = 0; k < params_count(p); k++) {
    nn_matrix x = params_at(p, k);
    for (int64_t i = 0; i < (int64_t)x.rows * x.cols; i++) sum += (double)x.grad[i] * (double)x.grad[i];
  }
  return sqrt(sum);
}

static int measure(pass *s, const char *path) {
  tape *t = tape_new();
  double best = (double)HUGE_VAL, loss = 0, spent = 0;
  for (int k = 0; t && k < MAX_RUNS && spent < ENOUGH; k++) {
    double start = cpu_seconds();
    loss = run(s, t);
    double took = cpu_seconds() - start;
    spent += took;
    if (k > 0 || took > ENOUGH) best = took < best ? took : best; /* the first one gets its memory from the system */
  }
  if (!t || isnan(loss) || (path && !write_all(s, path))) {
    fprintf(stderr, "nn_speed: no memory, or %s cannot be written\n", path ? path : "");
    return 1;
  }
  printf(
      "{\"operators\": %d, \"units\": %d, \"devices\": %d, \"segment\": %d, \"heads\": %d, \"rounds\": %d, "
      "\"seconds\": %.6f, "
      "\"loss\": %.9g, \"gradient_norm\": %.9g, \"peak_mb\": %.1f, \"tape_mb\": %.1f}\n",
      (int)s->env.problem->n_operators, (int)s->env.n_units, (int)s->env.n_devices, GDP_SEGMENT, GDP_HEADS, GDP_ROUNDS,
      best, loss, gradient_norm(s->params), peak_megabytes(), (double)tape_held_bytes(t) / (1 << 20));
  tape_free(t);
  return 0;
}

int main(int argc, char **argv) {
  char model[64];
  situ_error error = {0};
  situ_instance *instance = NULL;
  if (argc < 2 || argc > 3) return fprintf(stderr, "usage: nn_speed OPERATORS [FILE]\n"), 2;
  snprintf(model, sizeof model, "builtin:layered?operators=%ld", strtol(argv[1], NULL, 10));
  situ_cost_options unfused = {.size = sizeof unfused, .fusion = "none"};
  situ_instance_options options = {
      .size = sizeof options, .model = model, .platform = "cpu+4*v100-16g", .cost = &unfused};
  if (situ_instance_open(&instance, &options, &error) != SITU_STATUS_OK)
    return fprintf(stderr, "nn_speed: %s %s\n", error.where, error.text), 1;
  arena *a = arena_new();
  pass s;
  int status = a && make(&s, situ_instance_problem(instance), a) ? measure(&s, argc > 2 ? argv[2] : NULL) : 1;
  arena_free(a);
  situ_instance_free(instance);
  return status;
}
