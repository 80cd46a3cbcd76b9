/* Devices by the names that people use ("RTX 4090", "NVIDIA A100-SXM4-80GB", "Ryzen 9 7950X"), and what is nearest to
 * names that nothing has. */
#include <stdio.h>
#include <string.h>

#include "base/ascii.h"
#include "base/near_name.h"
#include "platform/catalogue.h"

enum { PLAIN_BYTES = 64 };

/* Words that vendors put around the name of a device, and that names here do without. */
static const char idle_words[] =
    " nvidia geforce tesla quadro rtx gtx rx amd radeon instinct intel core arc apple jetson gpu graphics "
    "sxm sxm2 sxm3 sxm4 sxm5 hbm2 hbm2e hbm3 blackwell workstation edition gold platinum silver bronze r tm "
    "naples rome milan genoa turin ";
/* Names of machines and chips for what is in them, without signs. */
static const struct {
  const char *alias, *name;
} aliases[] = {{"dgxspark", "gb10-128g"},
               {"strixhalo", "radeon8060s"},
               {"agxorin", "orin-64g"},
               {"agxxavier", "xavier-32g"},
               {"arcprob60", "b60-24g"},
               {"arcprob70", "b70-32g"},
               {"rtxa4000", "a4000-16g"},
               {"rtxa5000", "a5000-24g"},
               {"rtxa6000", "a6000-48g"},
               {"raspberrypi5", "rpi5"},
               {"pro6000", "rtxpro6000-96g"},
               {"p100", "p100-16g"},
               {"a100pcie40g", "a100-40g-pcie"},
               {"a100pcie80g", "a100-80g-pcie"},
               {"v100pcie16g", "v100-16g-pcie"},
               {"v100pcie32g", "v100-32g-pcie"},
               {"pro6000maxq", "rtxpro6000-96g"},
               {"rtx6000pro", "rtxpro6000-96g"},
               {"pro4000sff", "rtxpro4000sff-24g"},
               {"pro4000", "rtxpro4000-24g"},
               {"rtx2000eada", "rtx2000ada-16g"},
               {"raspberrypi4", "rpi4"},
               {"h100nvl", "h100-94g-nvl"},
               {"h100pcie", "h100-80g-pcie"},
               {"pro4500", "rtxpro4500-32g"},
               {"h100sxm", "h100-80g"},
               {"h100sxm5", "h100-80g"},
               {"orinnanosuper", "orin-nano-super-8g"},
               {"mi50", "mi50-32g"},
               {"rtx2060", "rtx2060-6g"},
               {"2060", "rtx2060-6g"},
               {"6000promaxq", "rtxpro6000-96g"},
               {"pro5000", "rtxpro5000-48g"},
               {"pro2000", "rtxpro2000-16g"},
               {"arcprob50", "b50-16g"},
               {"radeonaipror9700", "r9700-32g"},
               {"aipror9700", "r9700-32g"},
               {"r9700aipro", "r9700-32g"},
               {"provii", "radeonprovii-16g"},
               {"ryzenai9hx370", "ryzen-ai-hx370"},
               {"ai9hx370", "ryzen-ai-hx370"},
               {"hx370", "ryzen-ai-hx370"},
               {"xeonmax9480", "xeonmax9480"},
               {"max9480", "xeonmax9480"},
               {"rk3588s", "rk3588"},
               {"orangepi5", "rk3588"},
               {"orangepi5plus", "rk3588"},
               {"rock5b", "rk3588"},
               {"rknpu", "rk3588-npu"},
               {"npu3720", "npu-165h"},
               {"npu4000", "npu-200v"}};

static bool is_idle(const char *word, const char *before) {
  char padded[PLAIN_BYTES + 2];
  snprintf(padded, sizeof padded, " %s ", word);
  bool of_series = strcmp(word, "pro") == 0 && (strcmp(before, "radeon") == 0 || strcmp(before, "arc") == 0);
  return of_series || strstr(idle_words, padded) ||
         (ascii_is_digit(word[0]) && !word[1] && strcmp(before, "ryzen") == 0);
}

/* The letters and digits of the first n bytes of a name, small, "24gb" as "24g", "laptop" as "m"; loose: without idle
 * words. Longer names are cut off. */
static void make_plain(char out[PLAIN_BYTES], const char *name, size_t n, bool loose) {
  char before[PLAIN_BYTES] = "", word[PLAIN_BYTES];
  size_t at = 0;
  bool begins_mobile = false; /* "laptop RTX 4090" */
  for (size_t i = 0; i < n;) {
    size_t length = 0;
    for (; i < n && ascii_is_alnum(name[i]); i++)
      if (length + 1 < sizeof word) word[length++] = ascii_lower(name[i]);
    for (; i < n && !ascii_is_alnum(name[i]); i++)
      ;
    bool size = length >= 2 && strncmp(word + length - 2, "gb", 2) == 0;
    if (size && (length == 2 ? ascii_is_digit(before[0]) : ascii_is_digit(word[length - 3]))) length--;
    word[length] = 0;
    bool mobile = strcmp(word, "laptop") == 0 || strcmp(word, "mobile") == 0;
    if (mobile && !before[0] && i < n && (begins_mobile = true)) continue;
    if (mobile) memcpy(word, "m", (length = 1) + 1);
    if (!(loose && is_idle(word, before)) && at + length < PLAIN_BYTES) {
      memcpy(out + at, word, length);
      at += length;
    }
    memcpy(before, word, length + 1);
  }
  if (begins_mobile && at + 1 < PLAIN_BYTES) out[at++] = 'm';
  out[at] = 0;
}

/* Letters in which a processor differs from its row by nothing that is counted: Intel's F has no graphics, AMD's P one
 * socket, PRO and WX are a Threadripper's. */
static void drop_variant(char *key) {
  static const char pro[] = "threadripperpro";
  size_t n = strlen(key), make = sizeof pro - 1;
  if (strncmp(key, pro, make) == 0) memmove(key + make - 3, key + make, n + 1 - make);
  n = strlen(key);
  if (n > 2 && strncmp(key, "threadripper", 12) == 0 && strcmp(key + n - 2, "wx") == 0) key[n - 2] = 0;
  bool epyc = n > 8 && strncmp(key, "epyc", 4) == 0 && key[n - 1] == 'p';
  bool core = n > 6 && key[0] == 'i' && ascii_is_digit(key[1]) && key[n - 1] == 'f';
  if (epyc || core) key[n - 1] = 0;
}

/* Without the "mod" of a size that is sold beside the usual one: "rtx3060mod8g" is called "RTX 3060 8 GB". */
static void drop_mod(char *stem) {
  char *mod = strstr(stem, "mod");
  if (mod && ascii_is_digit(mod[3])) memmove(mod, mod + 3, strlen(mod + 3) + 1);
}

/* Whether a row's name, or its part before a "-", is the plain key; 2: all of it. Loose: but for a make in front. */
static int is_called(const situ_device_kind_info *row, const char *key, bool loose) {
  static const char *const makes[] = {"rtx", "gtx", "rx", "radeon", "ryzen", "epyc", "arc", "threadripper", "xeon"};
  size_t whole = strlen(row->name);
  for (size_t n = 1; n <= whole; n++) {
    char stem[PLAIN_BYTES];
    if (n < whole && row->name[n] != '-') continue;
    make_plain(stem, row->name, n, false);
    if (!strstr(key, "mod")) drop_mod(stem);
    bool same = strcmp(stem, key) == 0;
    for (size_t i = 0; loose && !same && i < sizeof makes / sizeof makes[0]; i++) {
      size_t make = strlen(makes[i]);
      bool number = ascii_is_digit(stem[make]) || (makes[i][0] == 'x' && ascii_is_digit(stem[make + 1]));
      same = strncmp(stem, makes[i], make) == 0 && number && strcmp(stem + make, key) == 0; /* "E5-2680 v4" */
    }
    if (same) return n == whole ? 2 : 1;
  }
  return 0;
}

/* A name without the Mac in front: "Mac Studio M2 Max". */
static const char *without_mac(const char *name) {
  static const char *const macs[] = {"mac studio",  "mac mini", "mac pro", "macbook pro",
                                     "macbook air", "macbook",  "imac"};
  for (size_t i = 0; i < sizeof macs / sizeof macs[0]; i++) {
    size_t n = strlen(macs[i]);
    if (strlen(name) > n && ascii_same_n(name, macs[i], n) && ascii_is_blank(name[n])) return name + n + 1;
  }
  return name;
}

/* Whether a name says another make than the row's: "Ryzen 5 5600XT" is no Radeon. */
static bool is_of_other_make(const situ_device_kind_info *row, const char *name) {
  static const char *const of_cpus[] = {"ryzen", "epyc", "threadripper", "xeon"}, *const of_gpus[] = {"rtx", "gtx",
                                                                                                      "geforce",
                                                                                                      "radeon"};
  bool cpu = strcmp(row->kind, "cpu") == 0;
  for (; *name; name++)
    for (size_t k = 0; k < 4; k++) {
      const char *make = (cpu ? of_gpus : of_cpus)[k];
      if (ascii_same_n(name, make, strlen(make))) return true;
    }
  return false;
}

/* The rows that a name may mean, at most `most` of them, as it is written, else without idle words; a row whose name is
 * all of it is the only one. */
static int find_called(const situ_device_kind_info *found[], int max, const char *name) {
  const situ_device_kind_info *row;
  char key[PLAIN_BYTES];
  int n = 0;
  name = without_mac(name);
  for (size_t i = 0; i < 2 * (sizeof aliases / sizeof aliases[0]); i++) {
    make_plain(key, name, strlen(name), i % 2);
    if (strcmp(key, aliases[i / 2].alias) == 0) name = aliases[i / 2].name;
  }
  for (int loose = 0; loose < 3 && n == 0; loose++) {
    make_plain(key, name, strlen(name), loose > 0);
    if (loose == 2) drop_variant(key);
    for (int32_t i = 0; key[0] && (row = catalogue_row(i)); i++) {
      int called = loose && is_of_other_make(row, name) ? 0 : is_called(row, key, loose);
      if (called == 2) n = 0;
      if (called && n < max) found[n++] = row;
      if (called == 2) return n;
    }
  }
  return n;
}

const situ_device_kind_info *catalogue_find(const char *key) {
  const situ_device_kind_info *found[2];
  return find_called(found, 2, key) == 1 ? found[0] : NULL;
}

enum { N_NEAREST = 3, MAX_WRONG = 3, MAX_WORDS = 8 };
static const char DIGITS[] = "0123456789";

typedef struct nearest {
  const char *best[N_NEAREST];
  int score[N_NEAREST], n;
} nearest;

/* Whether two names may be of one series, so that a slip separates them: letters before the first number agree, or that
 * number has as many digits, and the first two are the same. "t1000" is far from "n100", "b300" near "b200". */
static bool same_series(const char *wanted, const char *name) {
  size_t a = strcspn(wanted, DIGITS), b = strcspn(name, DIGITS);
  size_t n = strspn(wanted + a, DIGITS), m = strspn(name + b, DIGITS);
  if (n == 0 || (a > 0 && a == b && ascii_same_n(wanted, name, a))) return true;
  return n == m && strncmp(wanted + a, name + b, n < 2 ? n : 2) == 0;
}

/* Keeps the names that are similar to the wanted one: few letters differ, or half of the letters and at least three are
 * a common prefix. Names that begin with the wanted one come first, since they only extend it. `shown` is the text
 * displayed for `name`. */
static void offer(nearest *found, const char *wanted, const char *name, const char *shown) {
  int n = (int)strlen(wanted), same = 0, distance = name_distance(wanted, name);
  while (same < n && ascii_lower(wanted[same]) == ascii_lower(name[same])) same++;
  bool near = distance <= (n / 2 < MAX_WRONG ? n / 2 : MAX_WRONG) || (same >= 3 && 2 * same >= n);
  near = near && same_series(wanted, shown);
  int score = distance - same, at = found->n;
  while (at > 0 && score < found->score[at - 1]) at--;
  for (int k = 0; k < found->n; k++) near = near && found->best[k] != shown;
  if (!near || at == N_NEAREST) return;
  if (found->n < N_NEAREST) found->n++;
  for (int k = found->n - 1; k > at; k--) {
    found->best[k] = found->best[k - 1];
    found->score[k] = found->score[k - 1];
  }
  found->best[at] = shown;
  found->score[at] = score;
}

static const char *hint(char into[CATALOGUE_HINT_BYTES], const nearest *found, const char *otherwise) {
  int n = snprintf(into, CATALOGUE_HINT_BYTES, "%s", found->n > 0 ? "did you mean " : otherwise);
  for (int k = 0; k < found->n; k++)
    n += snprintf(into + n, CATALOGUE_HINT_BYTES - (size_t)n, "%.40s%s", found->best[k],
                  k + 2 < found->n    ? ", "
                  : k + 2 == found->n ? " or "
                                      : "?");
  return into;
}

/* The rows named by the longest run of words of a text that contains a number: "h100" of "DGX H100". Returns how
 * many. */
static int find_within(const situ_device_kind_info *called[], const char *text) {
  size_t begin[MAX_WORDS], end[MAX_WORDS], n = 0, length = strlen(text);
  for (size_t i = 0; i < length && n < MAX_WORDS;) {
    for (; i < length && ascii_is_blank(text[i]); i++)
      ;
    begin[n] = i;
    for (; i < length && !ascii_is_blank(text[i]); i++)
      ;
    end[n] = i;
    n += end[n] > begin[n];
  }
  for (size_t words = n; words-- > 1;)
    for (size_t k = 0; k + words <= n; k++) {
      char run[2 * PLAIN_BYTES];
      snprintf(run, sizeof run, "%.*s", (int)(end[k + words - 1] - begin[k]), text + begin[k]);
      char plain[PLAIN_BYTES];
      make_plain(plain, run, strlen(run), true);
      int found = strpbrk(plain, DIGITS) ? find_called(called, N_NEAREST, run) : 0;
      if (found > 0) return found;
    }
  return 0;
}

const situ_device_kind_info *catalogue_find_within(const char *text, const char *kind) {
  const situ_device_kind_info *called[N_NEAREST], *found = NULL;
  int n = find_within(called, text), n_of_kind = 0;
  for (int k = 0; k < n; k++)
    if (strcmp(called[k]->kind, kind) == 0 && n_of_kind++ == 0) found = called[k];
  return n_of_kind == 1 ? found : NULL;
}

/* Kinds of devices are written by who does not know yet that each has a name. */
static bool is_kind(const char *key) {
  static const char *const kinds[] = {"gpu", "cuda", "nvidia", "amd", "intel", "npu", "tpu"};
  for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++)
    if (ascii_same(key, kinds[k])) return true;
  return false;
}

/* Whether a name says that it is of an NPU: "Intel Core Ultra NPU". */
static bool says_npu(const char *key) {
  size_t n = strlen(key);
  return n > 4 && ascii_same(key + n - 3, "npu") && !ascii_is_alnum(key[n - 4]);
}

/* Accelerators of which no figures of memory are published, so that times cannot be estimated. */
static bool streams_weights(const char *key) {
  static const char *const names[] = {"coral", "edge tpu", "edgetpu", "hailo"};
  for (; *key; key++)
    for (size_t k = 0; k < sizeof names / sizeof names[0]; k++)
      if (ascii_same_n(key, names[k], strlen(names[k]))) return true;
  return false;
}

const char *catalogue_nearest_device(char into[CATALOGUE_HINT_BYTES], const char *key) {
  nearest found = {0};
  if (streams_weights(key))
    return hint(into, &found,
                "it has a few MB on the chip and streams all else from its host, at rates that nobody publishes: give "
                "figures, npu(8GB,10GB/s,4TOPS), and measured times, --cost-table");
  if (says_npu(key))
    return hint(into, &found,
                "give a name, as in npu-200v, xdna2 or hexagon-x, or figures, as in npu(16GB,135GB/s,45TOPS)");
  if (is_kind(key))
    return hint(into, &found, "give the full name, as in rtx4090 or npu-200v: `situ list devices` shows all");
  char plain[PLAIN_BYTES], name[PLAIN_BYTES];
  const situ_device_kind_info *row, *called[N_NEAREST];
  found.n = find_called(called, N_NEAREST, key);
  if (found.n == 0) found.n = find_within(called, key);
  for (int k = 0; k < found.n; k++) found.best[k] = called[k]->name;
  bool any = found.n > 0;
  make_plain(plain, key, strlen(key), true);
  for (int32_t i = 0; !any && strlen(plain) > 3 && (row = catalogue_row(i)); i++) {
    make_plain(name, row->name, strlen(row->name), true);
    offer(&found, plain, name, row->name);
  }
  for (int32_t i = 0; !any && (row = catalogue_row(i)); i++) offer(&found, key, row->name, row->name);
  return hint(into, &found,
              "`situ list devices` shows them; others by their figures, as in gpu(16GB,900GB/s,90TF), or in a "
              "platform file, named by its path, such as ./own.json");
}

const char *catalogue_nearest_link(char into[CATALOGUE_HINT_BYTES], const char *key) {
  nearest found = {0};
  situ_link_kind_info kind = SITU_LINK_KIND_INFO_INIT;
  for (int32_t i = 0; situ_link_kind_at(i, &kind); i++) offer(&found, key, kind.name, kind.name);
  return hint(into, &found, "`situ list links` shows them");
}

bool catalogue_has_tf32(const char *class_name) {
  const situ_device_kind_info *row = catalogue_find(class_name);
  return row && row->peak_flops[SITU_DTYPE_BF16] > 0 && strncmp(row->title, "NVIDIA ", 7) == 0;
}
