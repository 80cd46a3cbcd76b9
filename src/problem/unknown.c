#include "problem/unknown.h"

#include <stdlib.h>

#include "base/c_locale.h"
#include "base/checked.h"
#include "base/compare.h"

enum { NAMED = 3, NAME_COLUMNS = 48 };

/* ---- shares ---- */

typedef struct counting {
  const situ_graph *graph;
  const situ_costs *costs;
  bool *guessed;    /* [operator] its time is no measured one */
  int32_t *counted; /* [operator] by the row of that number, from 1 on: as the head of a kernel */
  int64_t whole_ns; /* of all kernels */
} counting;

/* The work that an operator stands for: the time of its kernel on the fastest class, or itself where there are no
 * times. */
static int64_t weight_of(const counting *c, int32_t head) {
  const int64_t *time_ns = c->costs->time_ns + (int64_t)head * c->costs->n_classes;
  int64_t best = SITU_NEVER_NS;
  for (int32_t k = 0; k < c->costs->n_classes; k++) best = min64(best, time_ns[k]);
  return best == SITU_NEVER_NS ? 0 : best;
}

static int32_t head_of(const counting *c, int32_t v) { return c->costs->group ? c->costs->group[v] : v; }

/* Sums of one row, or of all. */
typedef struct tally {
  int32_t n_operators, stamp;
  int64_t time_ns;
} tally;

static void count(const counting *c, tally *t, int32_t v) {
  int32_t head = head_of(c, v);
  if (!c->guessed[v]) return;
  t->n_operators++;
  if (c->counted[head] == t->stamp) return;
  c->counted[head] = t->stamp;
  t->time_ns = sat_add(t->time_ns, weight_of(c, head));
}

static double share_of(const counting *c, const tally *t) {
  if (c->whole_ns > 0) return (double)t->time_ns / (double)c->whole_ns;
  return (double)t->n_operators / (double)c->graph->n_operators;
}

static tally count_guess(const counting *c, const graph_guess *guess, int32_t stamp) {
  tally t = {.stamp = stamp};
  bool all = guess->n_operators == GUESS_OF_ALL;
  int32_t n = all ? c->graph->n_operators : guess->n_operators;
  for (int32_t i = 0; i < n; i++) count(c, &t, all ? i : guess->operators[i]);
  return t;
}

typedef struct keyed_row {
  double share;
  int32_t order;
  unknown_row row;
} keyed_row;

COMPARATOR(by_share, keyed_row, DOWN(share) UP(order))

/* All operators of a guess that is still one: every one of `n` rows. */
static void count_all(unknown_list *out, const counting *c, const bool *any, int32_t stamp) {
  tally t = {.stamp = stamp};
  for (int32_t v = 0; v < c->graph->n_operators; v++)
    if (any[v]) count(c, &t, v);
  out->n_operators = t.n_operators;
  out->share = share_of(c, &t);
}

/* Marks the operators of a guess. */
static void mark(bool *any, bool *single, const counting *c, const graph_guess *guess) {
  bool all = guess->n_operators == GUESS_OF_ALL;
  int32_t n = all ? c->graph->n_operators : guess->n_operators;
  for (int32_t i = 0; i < n; i++) {
    int32_t v = all ? i : guess->operators[i];
    any[v] = true;
    single[v] = single[v] || (!all && c->guessed[v]);
  }
}

bool unknown_find(unknown_list *out, const situ_graph *g, const situ_costs *costs, arena *a) {
  counting c = {.graph = g, .costs = costs};
  int32_t n = g->n_operators;
  bool *any, *single;
  keyed_row *keyed;
  unknown_row *rows;
  *out = (unknown_list){0};
  if (g->n_guesses == 0) return true;
  if (!ARENA_ARRAYS(a, ARRAY(c.guessed, n), ZEROS(c.counted, n), ZEROS(any, n), ZEROS(single, n),
                    ARRAY(keyed, g->n_guesses), ARRAY(rows, g->n_guesses)))
    return false;
  for (int32_t v = 0; v < n; v++) {
    c.guessed[v] = !costs_is_measured(costs, v);
    if (head_of(&c, v) == v) c.whole_ns = sat_add(c.whole_ns, weight_of(&c, v));
  }
  for (int32_t i = 0; i < g->n_guesses; i++) {
    const graph_guess *guess = &g->guesses[i];
    tally t = count_guess(&c, guess, i + 1);
    if (t.n_operators == 0) continue;
    unknown_row row = {guess->kind, guess->subject, t.n_operators, share_of(&c, &t)};
    keyed[out->n] = (keyed_row){row.share, out->n, row};
    out->n++;
    mark(any, single, &c, guess);
  }
  if (out->n == 0) return true;
  qsort(keyed, (size_t)out->n, sizeof *keyed, by_share);
  for (int32_t i = 0; i < out->n; i++) rows[i] = keyed[i].row;
  out->rows = rows;
  out->single = single;
  count_all(out, &c, any, g->n_guesses + 1);
  return true;
}

bool unknown_copy(unknown_list *out, const unknown_list *list, arena *a) {
  *out = (unknown_list){.n = list->n, .n_operators = list->n_operators, .share = list->share};
  if (list->n == 0) return true;
  unknown_row *rows = ARENA_COPY(a, list->rows, unknown_row, list->n);
  out->rows = rows;
  for (int32_t i = 0; rows && i < list->n; i++)
    if (!(rows[i].subject = arena_string(a, list->rows[i].subject))) return false;
  return rows != NULL;
}

/* ---- words ---- */

/* What is said before and behind the subjects of a kind. */
static const struct {
  const char *before, *behind;
} words[] = {[SITU_GUESS_KIND] = {"no cost rule for ", ""}, [SITU_GUESS_SHAPE] = {"shapes of ", ""},
             [SITU_GUESS_SIZE] = {"size of ", " assumed"},  [SITU_GUESS_CONTROL] = {"control flow of ", ""},
             [SITU_GUESS_TYPE] = {"element types of ", ""}, [SITU_GUESS_PACKING] = {"packing of ", ""},
             [SITU_GUESS_ROLE] = {"role of ", ""},          [SITU_GUESS_STRUCTURE] = {"", " by names and shapes"},
             [SITU_GUESS_WORK] = {"work of ", ""}};
enum { KINDS = sizeof words / sizeof *words };

static void add_subjects(text_buffer *t, const unknown_list *list, situ_guess_kind kind) {
  int32_t n = 0;
  for (int32_t i = 0; i < list->n; i++) {
    const char *subject = list->rows[i].subject;
    if (list->rows[i].kind != kind || n++ >= NAMED) continue;
    text_add(t, "%s%.*s", n > 1 ? ", " : "", (int)text_bytes(subject, NAME_COLUMNS), subject);
  }
  if (n > NAMED) text_add(t, " and %d more", (int)n - NAMED);
}

static void add_all_words(text_buffer *t, const unknown_list *list) {
  char share[TEXT_UNIT_BYTES];
  const char *between = ": ";
  c_locale_print(share, sizeof share, list->share > 0 && list->share < 0.001 ? "below 0.1" : "%.3g", 100 * list->share);
  text_add(t, "%d operator%s, %s %% of the time", (int)list->n_operators, list->n_operators == 1 ? "" : "s", share);
  for (int k = 0; k < KINDS; k++) {
    bool any = false;
    for (int32_t i = 0; i < list->n; i++) any |= (int)list->rows[i].kind == k;
    if (!any) continue;
    text_add(t, "%s%s", between, words[k].before);
    add_subjects(t, list, (situ_guess_kind)k);
    text_add(t, "%s", words[k].behind);
    between = "; ";
  }
}

void unknown_add_words(text_buffer *t, const unknown_list *list) {
  text_buffer line = {0};
  if (list->n == 0) return;
  add_all_words(&line, list);
  char *text = text_take(&line);
  if (text) text_make_line(text);
  t->failed |= !text;
  text_add(t, "%s", text ? text : "");
  free(text);
}
