/* Parts in words: "the beginning, layers 0-23", "layers 24-31, the end", "the whole model". */
#include <stdlib.h>
#include <string.h>

#include "base/ascii.h"
#include "base/text.h"
#include "graph/layers.h"
#include "plan/part_list.h"

/* A section is a layer, or everything before (-1) or after (n) all layers. Members of a part are sorted by section,
 * those without work last: constants can be anywhere, and do not show where a part begins and ends. */
typedef struct member {
  int32_t part, section, op;
  bool idle;
} member;

typedef struct naming {
  const situ_graph *graph;
  layer_list layers;
  int32_t *size;        /* [section + 1] operators with work in it */
  int32_t *number;      /* [layer] where names differ in one number only; NULL otherwise */
  const member *member; /* of the part at hand */
  int32_t n, n_all;     /* operators with work: in the part, in the graph */
} naming;

/* The number at the end of a name and the bytes before it; false where there is none. */
static bool number_at_end(const char *name, size_t *prefix, int32_t *number) {
  size_t n = name ? strlen(name) : 0, at = n;
  while (at > 0 && ascii_is_digit(name[at - 1])) at--;
  *prefix = at;
  if (at == n || n - at > 6) return false;
  *number = (int32_t)strtol(name + at, NULL, 10);
  return true;
}

/* Whether layers are best described by number: their names differ only in the number at their end, or they have no
 * names. */
static bool find_numbers(naming *w, arena *a) {
  const layer_list *l = &w->layers;
  int32_t *number = ARENA_NEW(a, int32_t, l->n);
  size_t prefix = 0, first = 0;
  if (!number) return false;
  for (int32_t k = 0; k < l->n; k++) {
    number[k] = k;
    if (!l->name || !l->name[k]) continue;
    if (!number_at_end(l->name[k], &prefix, &number[k])) return true;
    if (k == 0) first = prefix;
    if (!l->name[0] || prefix != first || strncmp(l->name[0], l->name[k], prefix) != 0) return true;
  }
  w->number = number;
  return true;
}

static void add_section(const naming *w, text_buffer *t, int32_t from, int32_t to) {
  const layer_list *l = &w->layers;
  if (from < 0 || from == l->n)
    text_add(t, "%s", from < 0 ? "the beginning" : "the end");
  else if (w->number && from == to)
    text_add(t, "layer %d", (int)w->number[from]);
  else if (w->number)
    text_add(t, "layers %d-%d", (int)w->number[from], (int)w->number[to]);
  else if (from == to)
    text_add(t, "%s", l->name[from]);
  else
    text_add(t, "%s to %s", l->name[from], l->name[to]);
}

static void add_range(const naming *w, text_buffer *t, int32_t first, int32_t last) {
  text_add(t, "%s", w->graph->name[first]);
  if (last != first) text_add(t, " to %s", w->graph->name[last]);
}

/* Runs of whole layers, and layers of which the part has only some operators. What it has of the beginning or the end,
 * and a part within one layer, is named by operators: several parts may lie there. */
static void add_sections(const naming *w, text_buffer *t) {
  int32_t open = -2, last = -2; /* a run of whole layers that may grow; -2: none */
  const char *comma = "";
  for (int32_t i = 0; i <= w->n;) {
    int32_t section = i < w->n ? w->member[i].section : -3, count = 0;
    while (i < w->n && w->member[i].section == section) i++, count++;
    bool layer = section >= 0 && section < w->layers.n, whole = section >= -1 && count == w->size[section + 1];
    bool grows = open >= 0 && layer && whole && section == last + 1;
    if (open > -2 && !grows) {
      text_add(t, "%s", comma);
      add_section(w, t, open, last);
      comma = ", ";
      open = -2;
    }
    if (section == -3) break;
    if (whole && open == -2) open = section;
    last = section;
    if (whole) continue;
    text_add(t, "%s", comma);
    bool named = layer && count > 1;
    if (named) {
      text_add(t, "some of ");
      add_section(w, t, section, section);
    }
    if (!named || count == w->n) {
      text_add(t, "%s", named ? ": " : "");
      add_range(w, t, w->member[i - count].op, w->member[i - 1].op);
    }
    comma = ", ";
  }
}

enum { FEW = 2, MAX_BYTES = 160 };

/* A few operators, and parts of a graph without layers, by the names of operators. */
static void add_operators(const naming *w, text_buffer *t) {
  const char *const *name = w->graph->name;
  int32_t first = w->member[0].op, last = first;
  for (int32_t i = 1; i < w->n; i++) {
    if (w->member[i].op < first) first = w->member[i].op;
    if (w->member[i].op > last) last = w->member[i].op;
  }
  if (w->n == FEW && last != first)
    text_add(t, "%s, %s", name[first], name[last]);
  else
    add_range(w, t, first, last);
}

/* Long lists are cut: the table of parts says how many operators there are. */
static const char *name_of(const naming *w, arena *a) {
  text_buffer t = {0};
  if (w->n == w->n_all)
    text_add(&t, "the whole model");
  else if (w->layers.n == 0 || w->n <= FEW)
    add_operators(w, &t);
  else
    add_sections(w, &t);
  char *text = text_take(&t);
  if (!text) return NULL;
  if (strlen(text) > MAX_BYTES) {
    size_t at = MAX_BYTES;
    while (at > 0 && text[at] != ',' && text[at] != ' ') at--;
    strcpy(text + (at > 0 ? at : MAX_BYTES), " ...");
  }
  const char *kept = arena_string(a, text);
  free(text);
  return kept;
}

/* The key of a member in one of the two passes of sort_members. */
static int32_t key_of(const member *m, bool by_part, int32_t n_sections) {
  return by_part ? m->part : m->section + 1 + (m->idle ? n_sections : 0);
}

/* Sorts members that are in order of operators by part, work, section: by counting, since they may be a million. */
static bool sort_members(member *all, int32_t n, int32_t n_parts, int32_t n_sections, arena *a) {
  int32_t n_keys[2] = {2 * n_sections, n_parts};
  member *from = all, *to = ARENA_NEW(a, member, n);
  for (int32_t pass = 0; to && pass < 2; pass++) {
    int32_t *start = ARENA_ZERO(a, int32_t, n_keys[pass] + 1);
    if (!start) return false;
    for (int32_t i = 0; i < n; i++) start[key_of(&from[i], pass, n_sections) + 1]++;
    for (int32_t k = 0; k < n_keys[pass]; k++) start[k + 1] += start[k];
    for (int32_t i = 0; i < n; i++) to[start[key_of(&from[i], pass, n_sections)]++] = from[i];
    member *sorted = to;
    to = from;
    from = sorted;
  }
  return to != NULL;
}

static bool make_names(const char **out, const part_list *parts, const situ_problem *p, arena *a, arena *scratch) {
  naming w = {.graph = p->graph};
  int32_t n = p->n_operators;
  member *all = ARENA_NEW(scratch, member, n);
  if (!all || !layers_find(&w.layers, p->graph, scratch) || !find_numbers(&w, scratch)) return false;
  w.size = ARENA_ZERO(scratch, int32_t, w.layers.n + 2);
  if (!w.size) return false;
  for (int32_t v = 0; v < n; v++) {
    int32_t section = w.layers.of[v] >= 0 ? w.layers.of[v] : w.layers.before[v] ? -1 : w.layers.n;
    all[v] = (member){parts->of[v], section, v, !problem_works(p, v)};
    w.size[section + 1] += !all[v].idle;
    w.n_all += !all[v].idle;
  }
  if (!sort_members(all, n, parts->n, w.layers.n + 2, scratch)) return false;
  for (int32_t k = 0, at = 0; k < parts->n; k++) {
    w.member = all + at;
    w.n = 0;
    while (w.n < parts->part[k].n_operators && !w.member[w.n].idle) w.n++;
    if (w.n == 0) w.n = parts->part[k].n_operators;
    at += parts->part[k].n_operators;
    out[k] = name_of(&w, a);
    if (!out[k]) return false;
  }
  return true;
}

bool part_list_name(const char ***out, const part_list *parts, const situ_problem *problem, arena *a) {
  arena *scratch = arena_new();
  *out = ARENA_NEW(a, const char *, parts->n);
  bool made = *out && scratch && make_names(*out, parts, problem, a, scratch);
  arena_free(scratch);
  return made;
}
