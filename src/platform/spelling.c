#include "platform/spelling.h"

#include <stdio.h>
#include <string.h>

#include "base/ascii.h"
#include "base/c_locale.h"
#include "base/text.h"
#include "platform/catalogue.h"

enum { MAX_TERMS = 16, MAX_WORDS = 24, WORD_BYTES = 32, NAME_BYTES = 64, TEXT_BYTES = 512, MAX_COUNT = 64 };

/* What is said of one device, or of the memory of the machine. */
typedef struct term {
  char name[NAME_BYTES], link[WORD_BYTES];
  const char *machine; /* of the table below, or NULL */
  int count, rate, generation, channels;
  double gb;
} term;

typedef struct words {
  char text[TEXT_BYTES];
  const char *at[MAX_WORDS + 1]; /* ends with "" */
  int n;
} words;

/* Machines, and processors with the large GPU that people mean by their name: what is in them, "%s" the memory. */
static const struct {
  const char *name, *parts;
} machines[] = {{"framework desktop", "ryzen-ai-max-395%s+radeon8060s"},
                {"gmktec evo-x2", "ryzen-ai-max-395%s+radeon8060s"},
                {"evo-x2", "ryzen-ai-max-395%s+radeon8060s"},
                {"hp z2 mini g1a", "ryzen-ai-max-395%s+radeon8060s"},
                {"rog flow z13", "ryzen-ai-max-395%s+radeon8060s"},
                {"strix halo", "ryzen-ai-max-395%s+radeon8060s"},
                {"amd strix halo", "ryzen-ai-max-395%s+radeon8060s"},
                {"ryzen ai max+ 395", "ryzen-ai-max-395%s+radeon8060s"},
                {"ryzen ai max 395", "ryzen-ai-max-395%s+radeon8060s"},
                {"amd ryzen ai max+ 395", "ryzen-ai-max-395%s+radeon8060s"},
                {"ai max+ 395", "ryzen-ai-max-395%s+radeon8060s"},
                {"ai max 395", "ryzen-ai-max-395%s+radeon8060s"},
                {"ryzen ai max 385", "ryzen-ai-max-385%s+radeon8050s"},
                {"ryzen ai max+ 385", "ryzen-ai-max-385%s+radeon8050s"},
                {"steam deck", "steamdeck-cpu%s+steamdeck"}};
static const struct {
  const char *word;
  int n;
} numbers[] = {{"a", 1},    {"an", 1},   {"one", 1},   {"single", 1}, {"my", 1},     {"two", 2},
               {"dual", 2}, {"twin", 2}, {"three", 3}, {"triple", 3}, {"four", 4},   {"quad", 4},
               {"six", 6},  {"hexa", 6}, {"eight", 8}, {"octa", 8},   {"twelve", 12}};
/* Words that say nothing that counts here. */
static const char idle[] =
    " ram memory vram card cards gpus rig build pc workstation machine box system each of the in on over via through "
    "using at slot slots riser risers lanes es qs mhz mt/s nvlinked linked connected running ";

static bool is_in(const char *list, const char *word) {
  char padded[WORD_BYTES + 2];
  snprintf(padded, sizeof padded, " %s ", word);
  return strstr(list, padded);
}

static int number_of(const char *word) {
  for (size_t k = 0; k < sizeof numbers / sizeof numbers[0]; k++)
    if (strcmp(numbers[k].word, word) == 0) return numbers[k].n;
  return 0;
}

/* The number that a word begins with, and what follows it; 0 where it begins with none. */
static int leading(const char *word, const char **rest) {
  int n = 0, digits = 0;
  for (; ascii_is_digit(word[digits]) && digits < 5; digits++) n = 10 * n + (word[digits] - '0');
  *rest = word + digits;
  return ascii_is_digit(**rest) ? 0 : n;
}

/* ---- words of one term; each returns how many it takes ---- */

static int take_channels(term *t, const char *const *w) {
  const char *rest;
  int n = leading(w[0], &rest), named = number_of(w[0]);
  bool inside = n > 0 && (strcmp(rest, "ch") == 0 || strncmp(rest, "-ch", 3) == 0 || strncmp(rest, "channel", 7) == 0);
  bool next = strncmp(w[1], "channel", 7) == 0 && ((n > 0 && !*rest) || named > 0);
  bool joined = strstr(w[0], "-channel") && strlen(w[0]) < WORD_BYTES;
  char head[WORD_BYTES];
  snprintf(head, sizeof head, "%.*s", (int)strcspn(w[0], "-"), w[0]);
  if (joined && n == 0) named = number_of(head);
  if (!inside && !next && !(joined && named > 0)) return 0;
  t->channels = n > 0 ? n : named;
  return inside || joined ? 1 : 2;
}

static bool is_rate(int n) { return n >= 800 && n <= 12800; }

/* "ddr5", "ddr5-6000", "ddr5 6000", "6000mhz", "6000mt/s"; a bare number only behind the generation. */
static int take_rate(term *t, const char *const *w) {
  const char *rest;
  const char *at = strncmp(w[0], "lp", 2) == 0 ? w[0] + 2 : w[0];
  int used = 0;
  if (strncmp(at, "ddr", 3) == 0 && ascii_is_digit(at[3])) {
    t->generation = at[3] - '0';
    at += 4;
    at += *at == 'x';
    at += strspn(at, "-@:");
    used = 1;
    if (!*at) at = w[1];
  }
  int n = leading(at, &rest);
  bool unit = strcmp(rest, "mhz") == 0 || strcmp(rest, "mt/s") == 0 || strcmp(rest, "mts") == 0;
  if (!is_rate(n) || !(unit || (used && !*rest))) return used;
  t->rate = n;
  return used && at != w[1] ? 1 : used + 1;
}

/* "64gb", "64 gb", "1.5tb", "2x32gb". */
static int take_memory(term *t, const char *const *w) {
  double n = 0;
  const char *word = w[0], *rest;
  int modules = leading(word, &rest);
  if (modules > 0 && modules <= MAX_COUNT && *rest == 'x' && ascii_is_digit(rest[1]))
    word = rest + 1;
  else
    modules = 1;
  const char *end = ascii_is_digit(word[0]) ? text_scan_number(word, &n) : NULL;
  if (!end || n <= 0) return 0;
  bool apart = !*end;
  const char *unit = apart ? w[1] : end;
  double factor = strcmp(unit, "gb") == 0 || strcmp(unit, "gib") == 0 || (!apart && strcmp(unit, "g") == 0) ? 1
                  : strcmp(unit, "tb") == 0                                                                 ? 1000
                                                                                                            : 0;
  if (factor == 0 || n * factor > 1e6) return 0;
  t->gb = modules * n * factor;
  return 1 + apart;
}

/* PCI Express by generation and lanes: "pcie4", "pcie 4.0 x8", "gen3 x4". */
static int take_pcie(term *t, const char *const *w) {
  const char *at = strncmp(w[0], "pcie", 4) == 0 ? w[0] + 4 : strncmp(w[0], "pci-e", 5) == 0 ? w[0] + 5 : NULL, *rest;
  int used = 1, generation = 0, lanes = 16;
  if (!at && strncmp(w[0], "gen", 3) == 0) at = w[0] + 3;
  if (!at) return 0;
  if (!*at && strncmp(w[used], "gen", 3) == 0) at = w[used++] + 3;
  if (!*at && ascii_is_digit(w[used][0])) at = w[used++];
  generation = leading(at, &rest);
  if (strncmp(rest, ".0", 2) == 0) rest += 2;
  if (*rest != 'x' && !*rest) rest = w[used][0] == 'x' && ascii_is_digit(w[used][1]) ? w[used++] : "";
  if (*rest == 'x') lanes = leading(rest + 1, &rest);
  if (generation == 0) generation = 4;
  if (*rest || generation > 9 || lanes > 16) return 0;
  snprintf(t->link, sizeof t->link, lanes == 16 ? "pcie%d" : "pcie%dx%d", generation, lanes);
  return used;
}

static int take_link(term *t, const char *const *w) {
  const char *rest;
  bool egpu = strcmp(w[0], "egpu") == 0, oculink = strcmp(w[0], "oculink") == 0 || strcmp(w[0], "usb4") == 0;
  bool bolt = strncmp(w[0], "thunderbolt", 11) == 0, tb = strncmp(w[0], "tb", 2) == 0 && ascii_is_digit(w[0][2]);
  if (strncmp(w[0], "nvlink", 6) == 0 || oculink) {
    snprintf(t->link, sizeof t->link, "%s", oculink ? w[0] : "nvlink");
    return 1;
  }
  if (egpu && !t->link[0]) snprintf(t->link, sizeof t->link, "thunderbolt4");
  if (!bolt && !tb) return egpu ? 1 : take_pcie(t, w);
  const char *at = w[0] + (bolt ? 11 : 2);
  bool next = bolt && !*at && ascii_is_digit(w[1][0]);
  int n = leading(next ? w[1] : at, &rest);
  snprintf(t->link, sizeof t->link, "thunderbolt%d", n > 0 ? n : 4);
  return 1 + next;
}

/* "2x", "2*", "x2", "2" and "two" in front of a name. */
static int take_count(term *t, const char *const *w) {
  const char *rest;
  int n = leading(w[0], &rest), named = number_of(w[0]);
  bool sign = (*rest == 'x' || *rest == '*') && !rest[1];
  bool apart = !*rest && (strcmp(w[1], "x") == 0 || strcmp(w[1], "*") == 0);
  bool plain = !*rest && n > 0 && n <= MAX_COUNT && w[1][0] && !t->name[0];
  if (named > 0 && !t->name[0] && w[1][0]) {
    t->count = named;
    return 1;
  }
  if (n < 1 || n > MAX_COUNT || t->name[0] || !(sign || apart || plain)) return 0;
  t->count = n;
  return 1 + apart;
}

/* "x2" behind a name. */
static int take_count_behind(term *t, const char *word) {
  const char *rest;
  int n = word[0] == 'x' ? leading(word + 1, &rest) : 0;
  if (n < 1 || n > MAX_COUNT || *rest || !t->name[0] || t->count > 1) return 0;
  t->count = n;
  return 1;
}

static void split_words(words *w, const char *text, size_t n) {
  bool inside = false;
  snprintf(w->text, sizeof w->text, "%.*s", (int)(n < TEXT_BYTES ? n : TEXT_BYTES - 1), text);
  w->n = 0;
  for (char *c = w->text; *c; c++) {
    *c = ascii_lower(*c);
    bool blank = ascii_is_blank(*c);
    if (blank) *c = '\0';
    if (!blank && !inside && w->n < MAX_WORDS) w->at[w->n++] = c;
    inside = !blank;
  }
  w->at[w->n] = "";
  if (w->n == MAX_WORDS) w->n = 0;
}

static bool add_name(term *t, const char *word) {
  size_t n = strlen(t->name), more = strlen(word);
  if (n + more + 2 > sizeof t->name) return false;
  snprintf(t->name + n, sizeof t->name - n, "%s%s", n > 0 ? " " : "", word);
  return true;
}

static bool read_term(term *t, const char *text, size_t n) {
  words w;
  *t = (term){.count = 1};
  split_words(&w, text, n);
  for (int i = 0; i < w.n;) {
    const char *const *at = w.at + i;
    int used = take_channels(t, at);
    if (used == 0) used = take_rate(t, at);
    if (used == 0) used = take_memory(t, at);
    if (used == 0) used = take_link(t, at);
    if (used == 0) used = take_count(t, at);
    if (used == 0) used = take_count_behind(t, at[0]);
    if (used == 0 && is_in(idle, at[0])) used = 1;
    if (used == 0 && !add_name(t, at[0])) return false;
    i += used > 0 ? used : 1;
  }
  size_t end = strlen(t->name);
  for (size_t k = 0; k < sizeof machines / sizeof machines[0] && w.n > 1; k++)
    if (strcmp(t->name, machines[k].name) == 0) t->machine = machines[k].parts;
  if (end > 1 && t->name[end - 1] == '+') t->name[end - 1] = '\0'; /* "Xeon 8480+" */
  if (!t->name[0] && t->gb > 0) {                                  /* modules of memory */
    t->gb *= t->count;
    t->count = 1;
  }
  return w.n > 0;
}

/* ---- the terms ---- */

/* How many bytes of a sign or word that separates terms are here; 0: none. "Max+ 395" has a sign of its own. */
static size_t separator(const char *text, size_t at) {
  static const char *const joints[] = {" w/ ", " w/", " with ", " and ", " & ", " plus "};
  const char *c = text + at;
  if (*c == ',' || *c == ';' || *c == '&') return 1;
  if (*c == '+') {
    const char *next = c + 1 + strspn(c + 1, " \t");
    bool tight = at > 0 && ascii_is_alnum(text[at - 1]), ends = !*next || *next == '+' || *next == ',' || *next == ')';
    bool max = at >= 3 && ascii_same_n(c - 3, "max", 3);
    return (tight && ends && ascii_is_digit(text[at - 1])) || (tight && max) ? 0 : 1;
  }
  for (size_t k = 0; k < sizeof joints / sizeof joints[0]; k++)
    if (ascii_same_n(c, joints[k], strlen(joints[k]))) return strlen(joints[k]);
  return 0;
}

/* Copies a text without round brackets; false for those of servers and figures, which are grammar. */
static bool open_brackets(char out[TEXT_BYTES], const char *name) {
  size_t n = strlen(name);
  int depth = 0;
  if (n >= TEXT_BYTES || strchr(name, '@')) return false;
  for (size_t i = 0; i < n && depth >= 0; i++) depth += name[i] == '(' ? 1 : name[i] == ')' ? -1 : 0;
  if (depth != 0) return false;
  for (const char *at = strchr(name, '('); at; at = strchr(at + 1, '(')) {
    size_t inside = strcspn(at + 1, ")");
    const char *before = at;
    while (before > name && ascii_is_blank(before[-1])) before--;
    if (before == name || !ascii_is_alnum(before[-1])) return false;
    for (size_t i = 0; i < inside; i++)
      if (strchr("+*(", at[1 + i]) || ascii_same_n(at + 1 + i, "b/s", 3)) return false;
  }
  for (size_t i = 0; i <= n; i++) out[i] = name[i] == '(' || name[i] == ')' ? ' ' : name[i];
  return true;
}

/* The channels that the source of a row names: "8 channels DDR4-3200". 0: none. */
static int channels_of(const situ_device_kind_info *row) {
  const char *at = strstr(row->source, " channel");
  int n = 0, factor = 1;
  for (; at && at > row->source && ascii_is_digit(at[-1]); at--, factor *= 10) n += factor * (at[-1] - '0');
  return n;
}

/* The transfers of a channel in millions a second: as stated, else those of the row, or usual ones of another
 * generation. */
static int rate_of(const term *t, const situ_device_kind_info *row) {
  static const int usual[] = {[3] = 1600, [4] = 3200, [5] = 4800};
  int channels = channels_of(row);
  char mark[8];
  snprintf(mark, sizeof mark, "DDR%d", t->generation);
  if (t->rate > 0) return t->rate;
  if (t->generation >= 3 && t->generation <= 5 && !strstr(row->source, mark)) return usual[t->generation];
  return channels > 0 ? (int)(row->memory_bytes_per_s / 8e6 / channels + 0.5) : 0;
}

static bool is_host(const term *t) {
  const situ_device_kind_info *row = t->name[0] && !t->machine ? catalogue_find(t->name) : NULL;
  return row && strcmp(row->kind, "cpu") == 0;
}

/* Memory alone belongs to the host, or to a desktop that nobody named. */
static int give_memory(term *t, int n) {
  int host = -1, kept = 0, n_named = 0;
  for (int k = 0; k < n; k++) n_named += t[k].name[0] != '\0';
  if (n_named == 0) return 0;
  for (int k = 0; k < n && host < 0; k++)
    if (is_host(&t[k]) || t[k].machine) host = k;
  for (int k = 0; k < n; k++) {
    bool alone = !t[k].name[0];
    if (alone && !(t[k].gb > 0 || t[k].rate > 0 || t[k].generation > 0 || t[k].channels > 0)) continue;
    if (alone && host < 0) snprintf(t[k].name, sizeof t[k].name, "desktop");
    if (!alone || host < 0) {
      if (alone || host == k) host = kept;
      t[kept++] = t[k];
      continue;
    }
    term *h = &t[host];
    if (t[k].gb > 0) h->gb = t[k].gb;
    if (t[k].rate > 0) h->rate = t[k].rate;
    if (t[k].generation > 0) h->generation = t[k].generation;
    if (t[k].channels > 0) h->channels = t[k].channels;
  }
  return kept;
}

static int add(char out[SPELLING_BYTES], int n, const char *text) {
  return n + snprintf(out + n, n < SPELLING_BYTES ? (size_t)(SPELLING_BYTES - n) : 0, "%s", text);
}

/* Figures of the memory of a host, "(64GB,89.6GB/s)"; of several sockets each has its part. */
static void host_figures(char into[NAME_BYTES], const term *t, const situ_device_kind_info *row) {
  int channels = t->channels > 0 ? t->channels : channels_of(row), rate = rate_of(t, row);
  bool stated = (t->channels > 0 || t->rate > 0 || t->generation > 0) && channels > 0 && rate > 0;
  char gb[24] = "", speed[24] = "";
  if (t->gb > 0) c_locale_print(gb, sizeof gb, "%.6gGB", t->gb / t->count);
  if (stated) c_locale_print(speed, sizeof speed, "%.6gGB/s", channels * 8e-3 * rate);
  if (gb[0] || speed[0])
    snprintf(into, NAME_BYTES, "(%s%s%s)", gb, gb[0] && speed[0] ? "," : "", speed);
  else
    into[0] = '\0';
}

static bool write_term(char out[SPELLING_BYTES], int *n, const term *t, bool first) {
  char figures[NAME_BYTES] = "", count[16] = "", memory[24] = "";
  const situ_device_kind_info *row = t->machine ? NULL : catalogue_find(t->name);
  if (t->gb > 0) c_locale_print(memory, sizeof memory, " %.6gGB", t->gb);
  if (t->count > 1) snprintf(count, sizeof count, "%d*", t->count);
  *n = add(out, *n, first ? "" : "+");
  if (t->machine) {
    char parts[TEXT_BYTES]; /* the one place for the memory is in the table */
    const char *place = strstr(t->machine, "%s");
    snprintf(parts, sizeof parts, "%.*s%s%s", (int)(place - t->machine), t->machine, memory, place + 2);
    *n = add(out, *n, parts);
    return t->count == 1 && !t->link[0];
  }
  if (row && strcmp(row->kind, "cpu") == 0)
    host_figures(figures, t, row);
  else
    snprintf(figures, sizeof figures, "%s", memory);
  *n = add(out, *n, count);
  *n = add(out, *n, row ? row->name : t->name);
  if (!row || strcmp(row->kind, "cpu") == 0 || t->gb * 1e9 != (double)row->memory_bytes) *n = add(out, *n, figures);
  if (t->link[0]) *n = add(out, add(out, *n, "@"), t->link);
  return true;
}

/* The terms of a text; 0 if there are too many. */
static int split_terms(term terms[MAX_TERMS], const char *text) {
  int n = 0;
  size_t begin = 0;
  for (size_t at = 0;;) {
    size_t joint = text[at] ? separator(text, at) : 0;
    if (joint == 0 && text[at]) {
      at++;
      continue;
    }
    if (text[at] == '+' && joint > 0 && !text[at + 1 + strspn(text + at + 1, " \t+")]) return 0; /* nothing follows */
    bool some = at > begin && begin + strspn(text + begin, " \t") < at;
    if ((some && n == MAX_TERMS) || (!some && text[at] == '+')) return 0;
    if (some && read_term(&terms[n], text + begin, at - begin)) n++;
    if (joint == 0) return n;
    begin = at += joint;
  }
}

/* A memory size may be what names a card ("RTX 3080 20GB"), and "laptop" what names its GPUs. */
static void name_cards(term *t, int n) {
  bool laptop = false;
  char longer[2 * NAME_BYTES];
  for (int k = 0; k < n; k++) laptop |= strcmp(t[k].name, "laptop") == 0;
  for (int k = 0; k < n; k++) {
    const situ_device_kind_info *row = NULL;
    bool card = t[k].name[0] && !t[k].machine && !is_host(&t[k]);
    c_locale_print(longer, sizeof longer, "%.60s %.6gGB", t[k].name, t[k].gb);
    if (card && t[k].gb > 0 && (row = catalogue_find(longer))) t[k].gb = 0;
    snprintf(longer, sizeof longer, "%.60s laptop", t[k].name);
    if (card && laptop && !row) row = catalogue_find(longer);
    if (row) snprintf(t[k].name, sizeof t[k].name, "%s", row->name);
  }
}

/* Who names the GPU of a machine, too, names both by themselves. Returns whether a machine is left. */
static bool keep_machines(term *t, int n) {
  bool any = false, names_gpu = false;
  for (int k = 0; k < n; k++) names_gpu |= strstr(t[k].name, "8060s") || strstr(t[k].name, "8050s");
  for (int k = 0; k < n; k++) {
    if (names_gpu) t[k].machine = NULL;
    any |= t[k].machine != NULL;
  }
  return any;
}

bool spelling_resolve(char out[SPELLING_BYTES], bool *machine, const char *name) {
  char text[TEXT_BYTES], made[SPELLING_BYTES];
  term terms[MAX_TERMS];
  int n = 0;
  *machine = false;
  if (!open_brackets(text, name)) return false;
  int n_terms = split_terms(terms, text);
  name_cards(terms, n_terms);
  *machine = keep_machines(terms, n_terms);
  n_terms = give_memory(terms, n_terms);
  for (int k = 0; k < n_terms; k++)
    if (!write_term(made, &n, &terms[k], k == 0)) return false;
  if (n == 0 || n >= SPELLING_BYTES || strcmp(made, name) == 0) return false;
  memcpy(out, made, (size_t)n + 1);
  return true;
}
