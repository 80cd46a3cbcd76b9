/* GDP: a policy network over the operator graph, trained by proximal policy optimisation on the simulated time (Zhou et
 * al., "GDP: Generalized device placement for dataflow graphs", 2019). docs/theory/learned/gdp.md lists what is theirs
 * and what is ours. */
#include <math.h>
#include <string.h>

#include "base/checked.h"
#include "learn/gdp_net.h"
#include "learn/learner.h"
#include "learn/ppo.h"
#include "learn/softmax_draw.h"
#include "learn/trial_window.h"

/* Draws in a step: with several cases, with one case, and in the published recipe. Then windows for each draw, and
 * updates in a step. */
enum { DRAWS = 8, DRAWS_OF_ONE = 4, PAPER_DRAWS = 16, WINDOWS = 3, EPOCHS = 3 };
static const double RATE = 1e-3, RATE_STEPS = 1000, CLIP = 0.2, ENTROPY = 0.01, PAPER_ENTROPY = 0.05,
                    ENTROPY_STEPS = 100, MAX_NORM = 0.5, SHOWN = 0.5, MAX_ADVANTAGE = 3, KEPT = 0.7;
/* indices of the numbers that checkpoints keep for a case */
enum { NOTE_STEPS, NOTE_MEAN, NOTE_SQUARE };

/* An environment as the policy sees it, with space for the trials of a step. */
typedef struct outlook {
  gdp_view *view;
  int32_t max; /* maximum placements at once: drawn and shown */
  int32_t *device;
  bool *open;
  nn_real *chance, *advantage, *score, *latent, *firmness;
  double *reward;
  trial_window *window;
} outlook;

static void *make(trainer *tr) { return gdp_net_make(tr->params, &tr->random, tr->arena); }

static void *see(trainer *tr, const environment *env) {
  arena *a = tr->arena;
  outlook *o = ARENA_ZERO(a, outlook, 1);
  if (!o || !(o->view = gdp_look(env, a))) return NULL;
  int64_t units = env->n_units, pairs = units * env->n_devices;
  o->max = PAPER_DRAWS + 1;
  o->window = trial_window_new(o->view->n_units, &o->view->before, &o->view->after, a);
  bool made = ARENA_ARRAYS(a, ARRAY(o->device, o->max * units), ARRAY(o->open, o->max * pairs),
                           ARRAY(o->chance, o->max * units), ARRAY(o->advantage, o->max), ARRAY(o->score, pairs),
                           ARRAY(o->latent, (int64_t)o->max * env->n_devices * GDP_LATENT),
                           ARRAY(o->firmness, (int64_t)o->max * env->n_devices), ARRAY(o->reward, o->max));
  return made && o->window ? o : NULL;
}

static bool vary(trainer *tr, const char *word, size_t n) {
  static const char *const words[GDP_RECIPE] = {[GDP_WITHOUT_ATTENTION] = "without=attention",
                                                [GDP_WITHOUT_GATE] = "without=superposition",
                                                [GDP_STILL_MEMORY] = "memory=still",
                                                [GDP_SHORT_SEGMENTS] = "segments=short"};
  static const char ungrouped[] = "groups=none";
  for (int k = 0; k < GDP_RECIPE; k++)
    if (strlen(words[k]) == n && memcmp(words[k], word, n) == 0)
      return gdp_net_vary(tr->own, tr->params, &tr->random, (gdp_change)k);
  bool alone = strlen(ungrouped) == n && memcmp(ungrouped, word, n) == 0;
  if (alone) tr->max_units = INT32_MAX;
  return alone;
}

/* ---- trials ---- */

/* A normally distributed number (Box and Muller, 1958). */
static nn_real normal(rng *random) {
  double u = 1 - rng_unit(random), v = rng_unit(random);
  return (nn_real)(sqrt(-2 * log(u)) * cos(6.283185307179586 * v));
}

/* Draws the latent numbers of n placements. Those from `plain` on are 0. */
static void draw_latent(outlook *o, int32_t n, int32_t plain, rng *random) {
  int64_t of_one = (int64_t)o->view->n_devices * GDP_LATENT;
  for (int64_t i = 0; i < n * of_one; i++) o->latent[i] = i < plain * of_one ? normal(random) : 0;
}

/* The scores of one of several placements stored side by side. */
static const nn_real *scores_of(outlook *o, nn_matrix all, int32_t k) {
  int32_t n = o->view->n_devices;
  for (int32_t u = 0; u < all.rows; u++)
    memcpy(o->score + (int64_t)u * n, all.value + (int64_t)u * all.cols + (int64_t)k * n, (size_t)n * sizeof *o->score);
  return o->score;
}

/* Draws placement k, or with random NULL takes the most likely one, and tries it. Returns its time. */
static int64_t attempt(train_case *s, nn_matrix all, int32_t k, rng *random) {
  outlook *o = s->seen;
  int64_t units = o->view->n_units;
  int32_t *device = o->device + k * units;
  softmax_draw(&s->env, scores_of(o, all, k), random, device, o->open + k * units * o->view->n_devices);
  int64_t time = environment_try(&s->env, device);
  o->reward[k] = environment_reward(&s->env, time);
  return time;
}

/* ---- training ---- */

static double rate_of(const trainer *tr) { return RATE / sqrt(1 + (double)tr->n_steps / RATE_STEPS); }

/* Permutes equal devices into their order of first use. A policy for several graphs must not learn which of them a
 * search happened to choose first. */
static void rename_equals(int32_t *device, const gdp_view *v) {
  int32_t to[SITU_MAX_DEVICES], taken = 0;
  bool is_taken[SITU_MAX_DEVICES] = {false};
  for (int32_t d = 0; d < v->n_devices; d++) to[d] = -1;
  for (int32_t u = 0; u < v->n_units && taken < v->n_devices; u++) {
    int32_t d = device[u], e = 0;
    if (to[d] >= 0) continue;
    while (is_taken[e] || v->equal_to[e] != v->equal_to[d]) e++;
    to[d] = e;
    is_taken[e] = true;
    taken++;
  }
  for (int32_t u = 0; u < v->n_units; u++) device[u] = to[device[u]];
}

/* Makes placement k a copy of `device` by unit, with equal devices renamed if `renamed`. All allowed devices are open
 * to it. */
static void show(train_case *s, int32_t k, const int32_t *device, bool renamed) {
  outlook *o = s->seen;
  int32_t n = o->view->n_devices;
  int64_t units = o->view->n_units, pairs = units * n;
  memcpy(o->device + k * units, device, (size_t)units * sizeof *o->device);
  memcpy(o->open + k * pairs, s->env.allowed, (size_t)pairs * sizeof *o->open);
  if (renamed) rename_equals(o->device + k * units, o->view);
  for (int64_t u = 0; u < units; u++) o->open[k * pairs + u * n + o->device[k * units + u]] = true;
}

/* Trials that hardly need the policy: first each device alone, in a case that has had only its first draws, unless a
 * solver tried them; then windows. */
static void gdp_search(trainer *tr, train_case *s, int32_t draws, const nn_real *score) {
  outlook *o = s->seen;
  int32_t *device = o->device + (int64_t)(o->max - 1) * o->view->n_units;
  bool alone = s->note[NOTE_STEPS] == 0 && (!s->env.run || s->env.n_trials == draws);
  for (int32_t k = 0; k < WINDOWS * draws && !environment_over(&s->env); k++) {
    if (alone && k < o->view->n_devices)
      trial_window_single(device, &s->env, k);
    else
      trial_window_draw(o->window, device, &s->env, score, &tr->random);
    environment_try(&s->env, device);
  }
}

/* Advantages: rewards minus the running mean, divided by the running deviation. */
static void judge(const trainer *tr, train_case *s, int32_t n) {
  outlook *o = s->seen;
  double mean = 0, square = 0, keep = s->note[NOTE_STEPS] > 0 ? KEPT : 0;
  for (int32_t k = 0; k < n; k++) mean += o->reward[k] / n;
  for (int32_t k = 0; k < n; k++) square += (o->reward[k] - mean) * (o->reward[k] - mean) / n;
  s->note[NOTE_MEAN] = keep * s->note[NOTE_MEAN] + (1 - keep) * mean;
  s->note[NOTE_SQUARE] = keep * s->note[NOTE_SQUARE] + (1 - keep) * square;
  double scale = sqrt(s->note[NOTE_SQUARE]) + 1e-4, base = s->note[NOTE_MEAN];
  if (tr->paper && s->n_rewards > 0) base = s->mean_reward;
  for (int32_t k = 0; k < n; k++) {
    double a = (o->reward[k] - base) / scale;
    o->advantage[k] = (nn_real)fmin(fmax(a, -MAX_ADVANTAGE), MAX_ADVANTAGE);
    train_case_note(s, o->reward[k]);
  }
}

/* The trials of a step: draws, whose rewards update the case, then windows. False if the time ran out before all
 * draws. */
static bool explore(trainer *tr, train_case *s, nn_matrix all, ppo_batch *batch, train_step *step) {
  outlook *o = s->seen;
  int32_t n = 0, draws = batch->n_draws;
  for (; n < draws && !environment_over(&s->env); n++) {
    step->best_ns = min64(step->best_ns, attempt(s, all, n, &tr->random));
    step->reward += o->reward[n] / draws;
  }
  step->n_trials = n;
  if (n < draws) return false;
  judge(tr, s, n);
  if (batch->n_shown) {
    gdp_search(tr, s, draws, scores_of(o, all, draws));
    show(s, draws, s->env.best, tr->n_cases > 1);
    o->advantage[draws] = (nn_real)SHOWN;
  }
  ppo_remember(batch, all.value);
  return true;
}

/* One step of imitation. The loss is the negative mean log-likelihood of the teacher's plans, so probabilities move to
 * the frequencies in them. The one trial is the most likely placement. */
static bool imitate(trainer *tr, train_case *s, train_step *step) {
  outlook *o = s->seen;
  int32_t n = s->n_taught < o->max ? s->n_taught : o->max;
  ppo_batch batch = {.n_units = o->view->n_units,
                     .n_devices = o->view->n_devices,
                     .n_shown = n,
                     .device = o->device,
                     .open = o->open,
                     .chance = o->chance,
                     .advantage = o->advantage};
  draw_latent(o, n, 0, &tr->random);
  tape_reset(tr->tape);
  params_clear_gradients(tr->params);
  nn_var scores = gdp_net_scores(tr->own, tr->params, tr->tape, o->view, o->latent, NULL, n);
  if (scores == NN_NONE) return false;
  if (!environment_over(&s->env)) {
    *step =
        (train_step){.index = step->index, .n_trials = 1, .best_ns = attempt(s, tape_at(tr->tape, scores), 0, NULL)};
    step->reward = o->reward[0];
    train_case_note(s, step->reward);
  }
  for (int32_t k = 0; k < n; k++) {
    show(s, k, s->taught + (int64_t)k * o->view->n_units, true);
    o->advantage[k] = 1 / (nn_real)n;
  }
  if (!tape_backward(tr->tape, ppo_loss(tr->tape, scores, &batch))) return false;
  params_clip(tr->params, MAX_NORM);
  params_step(tr->params, rate_of(tr));
  return true;
}

static bool train(trainer *tr, train_case *s, train_step *step) {
  outlook *o = s->seen;
  if (s->n_taught > 0 && !tr->paper && trainer_imitates(tr)) return imitate(tr, s, step);
  int32_t draws = tr->paper ? PAPER_DRAWS : tr->n_cases > 1 ? DRAWS : DRAWS_OF_ONE;
  bool shown = !tr->paper && s->env.best_ns < SITU_NEVER_NS;
  draw_latent(o, draws + shown, tr->paper ? 0 : draws, &tr->random);
  ppo_batch batch = {.n_units = o->view->n_units,
                     .n_devices = o->view->n_devices,
                     .n_draws = draws,
                     .n_shown = shown,
                     .device = o->device,
                     .open = o->open,
                     .chance = o->chance,
                     .advantage = o->advantage,
                     .clip = CLIP,
                     .entropy = (tr->paper ? PAPER_ENTROPY : ENTROPY) / (1 + s->note[NOTE_STEPS] / ENTROPY_STEPS)};
  for (int epoch = 0; epoch < EPOCHS; epoch++) {
    tape_reset(tr->tape);
    params_clear_gradients(tr->params);
    nn_var scores = gdp_net_scores(tr->own, tr->params, tr->tape, o->view, o->latent, NULL, draws + shown);
    if (scores == NN_NONE) return false;
    if (epoch == 0 && !explore(tr, s, tape_at(tr->tape, scores), &batch, step)) return true;
    if (!tape_backward(tr->tape, ppo_loss(tr->tape, scores, &batch))) return false;
    params_clip(tr->params, MAX_NORM);
    params_step(tr->params, rate_of(tr));
  }
  s->note[NOTE_STEPS]++;
  return true;
}

/* ---- serving ---- */

/* Alternates most likely placements and draws, while the weight of the neighbours' preferences grows: from the policy
 * as it is to everything on few devices. The first is the most likely placement. Latent numbers are drawn from the
 * second pass on. */
static bool serve(trainer *tr, train_case *s, int32_t draws, rng *random) {
  outlook *o = s->seen;
  for (int32_t done = 0; done < draws && !environment_over(&s->env);) {
    int32_t n = draws - done < DRAWS ? draws - done : DRAWS;
    draw_latent(o, n, done == 0 ? 0 : n, random);
    for (int32_t c = 0; c < n * o->view->n_devices; c++)
      o->firmness[c] = (nn_real)(1 << c / o->view->n_devices / 2 % 4);
    tape_reset(tr->tape);
    nn_var found = gdp_net_scores(tr->own, tr->params, tr->tape, o->view, o->latent, o->firmness, n);
    if (found == NN_NONE) return false;
    for (int32_t k = 0; k < n && !environment_over(&s->env); k++)
      attempt(s, tape_at(tr->tape, found), k, k % 2 ? random : NULL);
    done += n;
  }
  return true;
}

static bool refine(trainer *tr, train_case *s, int32_t trials, rng *random) {
  outlook *o = s->seen;
  int32_t *device = o->device + o->view->n_units;
  if (s->env.best_ns == SITU_NEVER_NS || trials < 1 || environment_over(&s->env)) return true;
  draw_latent(o, 1, 0, random);
  tape_reset(tr->tape);
  nn_var found = gdp_net_scores(tr->own, tr->params, tr->tape, o->view, o->latent, NULL, 1);
  if (found == NN_NONE) return false;
  const nn_real *score = scores_of(o, tape_at(tr->tape, found), 0);
  for (int32_t k = 0; k < trials && !environment_over(&s->env); k++) {
    trial_window_draw(o->window, device, &s->env, score, random);
    environment_try(&s->env, device);
  }
  return true;
}

const learner gdp_learner = {
    .name = "gdp",
    .title = "graph embedding and attention over segments; trained by PPO",
    .source = "Zhou et al., GDP, 2019",
    .make = make,
    .see = see,
    .train = train,
    .serve = serve,
    .refine = refine,
    .vary = vary,
    .variants = "without=attention, without=superposition, memory=still, segments=short, groups=none",
    .max_units = ENVIRONMENT_GROUPS,
    .note_min = {[NOTE_MEAN] = -1e9}, /* a mean of rewards */
};
