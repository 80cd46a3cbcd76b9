/* Composed names: "cpu+2*a100-80g@nvlink", "2*(cpu+8*a100-80g)+4*(cpu+4*v100-16g)@ethernet-25g". */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ascii.h"
#include "base/checked.h"
#include "base/fail.h"
#include "platform/catalogue.h"
#include "platform/platform_sources.h"
#include "platform/spelling.h"
#include "platform/stated.h"

enum { MAX_TERMS = SITU_MAX_DEVICES, MAX_WORD = 64 };
static const char *const NETWORK = "ethernet-100g"; /* between servers, where the name says nothing */

/* One term: COUNT * KEY MEMORY @ LINK. */
typedef struct term {
  const situ_device_kind_info *row;
  const situ_link_kind_info *bus;    /* to the host, or between hosts */
  const situ_link_kind_info *fabric; /* among the term, or NULL */
  int64_t memory_bytes;              /* as stated, or 0 */
  int32_t count, first_device, server;
} term;

typedef struct server {
  const situ_link_kind_info *network; /* to other servers */
  int32_t host;                       /* its first host, or -1 */
} server;

typedef struct composer {
  arena *arena;
  const char *name;
  term *terms;
  server *servers;
  int32_t n_terms, n_servers, n_hosts, n_devices, n_links, link_capacity, n_channels;
  situ_device *devices;
  const term **term_of; /* of each device */
  situ_link *links;
} composer;

static situ_status bad_name(const composer *c, situ_error *error, const char *text, const char *word) {
  return fail_with(
      error, SITU_STATUS_BAD_ARGUMENT, c->name,
      "%s \"%.60s\"; a platform is a platform file, this-host, or terms such as cpu+2*a100-80g and servers such as "
      "2*(cpu+8*a100-80g)",
      text, word);
}

/* Skips spaces, which are allowed around every sign. */
static void skip_blanks(const char **at) {
  while (ascii_is_blank(**at)) ++*at;
}

/* Whether `sign` comes next; if so it is passed. */
static bool take_sign(const char **at, char sign) {
  skip_blanks(at);
  if (**at != sign) return false;
  ++*at;
  return true;
}

/* Reads a word up to one of `stops`; false when it is empty or too long. */
static bool take_word(char into[MAX_WORD], const char **at, const char *stops) {
  skip_blanks(at);
  size_t n = strcspn(*at, stops), end = n;
  while (n > 0 && ascii_is_blank((*at)[n - 1])) n--;
  if (n == 0 || n >= MAX_WORD) return false;
  memcpy(into, *at, n);
  into[n] = '\0';
  *at += end;
  return true;
}

/* The kind of link that a term asks for: a key of the table, or "nvlink" and "fabric" for the device's own fabric. */
static situ_status take_link(const composer *c, term *t, const char *word, situ_error *error) {
  const situ_link_kind_info *kind = link_kind_find(word);
  bool own = strcmp(word, "fabric") == 0 || strcmp(word, "nvlink") == 0;
  if (own && t->row->fabric && (word[0] == 'f' || strncmp(t->row->fabric, "nvlink", 6) == 0))
    kind = link_kind_find(t->row->fabric);
  if (!kind && own)
    return fail_with(error, SITU_STATUS_BAD_ARGUMENT, c->name, "%s has no links of the kind \"%s\"", t->row->name,
                     word);
  if (!kind) {
    char hint[CATALOGUE_HINT_BYTES];
    return fail_with(error, SITU_STATUS_BAD_ARGUMENT, c->name, "no kind of link is called \"%s\"; %s", word,
                     catalogue_nearest_link(hint, word));
  }
  if (kind->fabric && strcmp(t->row->kind, "cpu") == 0)
    return fail_with(error, SITU_STATUS_BAD_ARGUMENT, c->name, "%s joins accelerators, not hosts such as %s",
                     kind->name, t->row->name);
  if (kind->fabric)
    t->fabric = kind;
  else
    t->bus = kind;
  return SITU_STATUS_OK;
}

/* Cuts "64GB", "64 GB RAM" or "-64g" off the end of a word, unless it is the whole. Returns bytes; 0: there is none. */
static int64_t cut_memory(char *word) {
  size_t n = strlen(word);
  if (n > 4 && ascii_same(word + n - 4, " ram"))
    for (n -= 4; n > 0 && ascii_is_blank(word[n - 1]);) n--;
  if (n > 0 && ascii_lower(word[n - 1]) == 'b') n--;
  if (n == 0 || ascii_lower(word[n - 1]) != 'g') return 0;
  for (n--; n > 0 && ascii_is_blank(word[n - 1]);) n--;
  size_t begin = n;
  while (begin > 0 && ascii_is_digit(word[begin - 1])) begin--;
  long gb = strtol(word + begin, NULL, 10);
  if (begin < 2 || begin == n || n - begin > 6 || gb < 1 || !strchr(" \t-", word[begin - 1])) return 0;
  while (begin > 0 && strchr(" \t-", word[begin - 1])) begin--;
  word[begin] = '\0';
  return gb * INT64_C(1000000000);
}

/* Cuts "x 2" or "x2" off the end of a word, unless it is the whole; returns the number, 1 without one. */
static int32_t cut_count(char *word) {
  size_t n = strlen(word), begin = n;
  while (begin > 0 && ascii_is_digit(word[begin - 1])) begin--;
  size_t end = begin;
  while (end > 0 && ascii_is_blank(word[end - 1])) end--;
  long count = strtol(word + begin, NULL, 10);
  if (begin == n || n - begin > 4 || end < 2 || word[end - 1] != 'x' || count < 1 || count > SITU_MAX_DEVICES) return 1;
  for (end--; end > 0 && ascii_is_blank(word[end - 1]);) end--;
  word[end] = '\0';
  return (int32_t)count;
}

/* The row that a word names, with what users append to names: memory size and count. NULL: none. */
static const situ_device_kind_info *find_row(term *t, const char *word) {
  char name[MAX_WORD];
  const situ_device_kind_info *row = catalogue_find(word);
  snprintf(name, sizeof name, "%s", word);
  if (row) return row;
  int32_t count = t->count == 1 ? cut_count(name) : 1;
  int64_t memory_bytes = (row = catalogue_find(name)) ? 0 : cut_memory(name);
  if (!row && !(row = catalogue_find(name))) return NULL;
  t->memory_bytes = memory_bytes;
  t->count *= count;
  return row;
}

/* Memory may be given for hosts, and for devices that hold the memory of a machine without a host; other devices have
 * their own. */
static situ_status check_memory(const composer *c, const term *t, situ_error *error) {
  bool own = strcmp(t->row->kind, "cpu") == 0 || t->row->integrated;
  return t->memory_bytes == 0 || own
             ? SITU_STATUS_OK
             : fail_with(error, SITU_STATUS_BAD_ARGUMENT, c->name,
                         "%s has %lld GB of its own; specify the memory of the machine after its host, as in \"cpu "
                         "64GB\"",
                         t->row->name, (long long)(t->row->memory_bytes / 1000000000));
}

/* An optional count, and the sign after it. */
static situ_status take_count(const composer *c, int32_t *count, const char **at, situ_error *error) {
  const char *word_at = *at;
  char word[MAX_WORD];
  *count = 1;
  skip_blanks(at);
  if (!ascii_is_digit(**at)) return SITU_STATUS_OK;
  if (take_word(word, &word_at, "+@(),;") && find_row(&(term){.count = 1}, word))
    return SITU_STATUS_OK; /* "7900xtx" is not a count */
  char *end;
  long stated = strtol(*at, &end, 10);
  if (stated < 1 || stated > SITU_MAX_DEVICES)
    return fail_with(error, SITU_STATUS_BAD_ARGUMENT, c->name, "a count must be between 1 and %d", SITU_MAX_DEVICES);
  const char *rest = end, *name_at = end;
  bool sign = take_sign(&rest, '*') || take_sign(&rest, 'x');
  bool blank = !sign && ascii_is_blank(*end) && take_word(word, &name_at, "+@(),;");
  bool named = blank && (ascii_is_letter(word[0]) || find_row(&(term){.count = 1}, word)); /* "4 T4", "2 3090" */
  if (!sign && !named) return bad_name(c, error, "expected \"*\" after the count of", *at);
  *count = (int32_t)stated;
  *at = sign ? rest : end;
  return SITU_STATUS_OK;
}

/* The rest of a name that has a "+" of its own, as in "Ryzen AI Max+ 395". */
static const situ_device_kind_info *find_with_sign(term *t, const char *word, const char **at) {
  char next[MAX_WORD], both[2 * MAX_WORD];
  const char *rest = *at + 1;
  if (**at != '+' || ascii_is_blank((*at)[-1]) || !ascii_is_blank(*rest) || !take_word(next, &rest, "+@(),;"))
    return NULL;
  snprintf(both, sizeof both, "%s %s", word, next);
  const situ_device_kind_info *row = strlen(both) < MAX_WORD ? find_row(t, both) : NULL;
  if (row) *at = rest;
  return row;
}

static situ_status take_term(composer *c, const char **at, situ_error *error) {
  term t = {.server = c->n_servers - 1};
  char word[MAX_WORD];
  TRY(take_count(c, &t.count, at, error));
  if (!take_word(word, at, "+@(),;"))
    return bad_name(c, error,
                    **at == '(' ? "expected the name of a device, or all servers in parentheses, at"
                                : "expected the name of a device at",
                    *at);
  t.row = find_with_sign(&t, word, at);
  if (!t.row) t.row = find_row(&t, word);
  if ((t.row || stated_kind(word)) && take_sign(at, '('))
    TRY(stated_row(&t.row, at, word, t.row, c->name, c->arena, error));
  if (!t.row && strcmp(word, THIS_HOST) == 0)
    return fail_with(
        error, SITU_STATUS_BAD_ARGUMENT, c->name,
        "this-host is the whole machine with its GPUs and stands alone; to add devices, name its parts, as "
        "in cpu+2*a100-80g");
  if (!t.row && situ_nearest_name(word, (const char *const[]){THIS_HOST}, 1) && strchr(word, '-'))
    return fail_with(error, SITU_STATUS_BAD_ARGUMENT, c->name,
                     "no known device is called \"%s\"; did you mean this-host?", word);
  if (!t.row) {
    char hint[CATALOGUE_HINT_BYTES];
    return fail_with(error, SITU_STATUS_BAD_ARGUMENT, c->name, "no known device is called \"%s\"; %s", word,
                     catalogue_nearest_device(hint, word));
  }
  TRY(check_memory(c, &t, error));
  t.bus = link_kind_find(t.row->bus);
  if (take_sign(at, '@')) {
    if (!take_word(word, at, "+(),;")) return bad_name(c, error, "expected a kind of link at", *at);
    TRY(take_link(c, &t, word, error));
  }
  c->n_devices += t.count;
  if (c->n_devices > SITU_MAX_DEVICES)
    return fail_with(error, SITU_STATUS_BAD_ARGUMENT, c->name, "a platform has at most %d devices", SITU_MAX_DEVICES);
  c->terms[c->n_terms++] = t; /* a term has a device at least, so there is room */
  return SITU_STATUS_OK;
}

/* Terms up to `end`, which is 0 or a bracket. */
static situ_status take_terms(composer *c, const char **at, char end, situ_error *error) {
  do TRY(take_term(c, at, error));
  while (take_sign(at, '+'));
  if (**at != end) return bad_name(c, error, end ? "expected \"+\" or \")\" at" : "expected \"+\" at", *at);
  return SITU_STATUS_OK;
}

/* COUNT * ( terms ) @ LINK: equal servers. */
static situ_status take_server(composer *c, const char **at, situ_error *error) {
  int32_t count, first = c->n_servers;
  TRY(take_count(c, &count, at, error));
  if (!take_sign(at, '(')) return bad_name(c, error, "expected a server in parentheses, like the others, at", *at);
  const char *inside = *at;
  for (int32_t i = 0; i < count; i++) {
    *at = inside;
    c->servers[c->n_servers++] = (server){.network = link_kind_find(NETWORK), .host = -1};
    TRY(take_terms(c, at, ')', error));
  }
  ++*at;
  if (!take_sign(at, '@')) return SITU_STATUS_OK;
  char word[MAX_WORD], hint[CATALOGUE_HINT_BYTES];
  if (!take_word(word, at, "+(),;")) return bad_name(c, error, "expected a kind of link at", *at);
  const situ_link_kind_info *network = link_kind_find(word);
  if (!network)
    return fail_with(error, SITU_STATUS_BAD_ARGUMENT, c->name, "no kind of link is called \"%s\"; %s", word,
                     catalogue_nearest_link(hint, word));
  if (network->fabric)
    return fail_with(error, SITU_STATUS_BAD_ARGUMENT, c->name,
                     "%s joins the accelerators of one server, not servers; write it inside the parentheses",
                     network->name);
  for (int32_t i = first; i < c->n_servers; i++) c->servers[i].network = network;
  return SITU_STATUS_OK;
}

/* Whether a server comes: an optional count and a parenthesis. That behind a name has the figures of a device. */
static bool begins_server(const char *at) {
  skip_blanks(&at);
  while (ascii_is_digit(*at)) at++;
  skip_blanks(&at);
  if (*at == '*' || *at == 'x') at++;
  skip_blanks(&at);
  return *at == '(';
}

/* Either terms, which are one server, or servers. */
static situ_status take_name(composer *c, situ_error *error) {
  const char *at = c->name;
  if (!begins_server(at)) {
    c->servers[c->n_servers++] = (server){.host = -1};
    return take_terms(c, &at, '\0', error);
  }
  do TRY(take_server(c, &at, error));
  while (take_sign(&at, '+'));
  return *at == '\0' ? SITU_STATUS_OK : bad_name(c, error, "expected \"+\" at", at);
}

static bool is_host(const term *t) { return strcmp(t->row->kind, "cpu") == 0; }

/* Devices in the order of the name, hosts first. A lone host is "cpu"; all else is numbered. */
static situ_status make_devices(composer *c, situ_error *error) {
  if (!ARENA_ARRAYS(c->arena, ARRAY(c->devices, c->n_devices), ARRAY(c->term_of, c->n_devices)))
    return fail_no_memory(error);
  for (int32_t i = 0; i < c->n_terms; i++)
    if (is_host(&c->terms[i])) c->n_hosts += c->terms[i].count;
  int32_t n = 0;
  for (int hosts = 1; hosts >= 0; hosts--) {
    int32_t number = 0;
    for (int32_t i = 0; i < c->n_terms; i++) {
      term *t = &c->terms[i];
      if (is_host(t) != (hosts == 1)) continue;
      t->first_device = n;
      for (int32_t k = 0; k < t->count; k++, n++, number++) {
        char name[MAX_WORD];
        snprintf(name, sizeof name, hosts && c->n_hosts == 1 ? "cpu" : "%s%d", t->row->kind, (int)number);
        c->devices[n] = catalogue_device(t->row);
        c->devices[n].name = arena_string(c->arena, name);
        if (!c->devices[n].name) return fail_no_memory(error);
        server *s = &c->servers[t->server];
        if (hosts && s->host < 0) s->host = n;
        if (t->memory_bytes > 0) c->devices[n].memory_bytes = catalogue_granted_bytes(t->row, t->memory_bytes);
        if (t->memory_bytes > 0 && t->row->integrated && s->host >= 0)
          return fail_with(error, SITU_STATUS_BAD_ARGUMENT, c->name,
                           "%s shares the memory of its host: specify the memory after the host", t->row->name);
        c->devices[n].separate_address_space = t->row->integrated && s->host >= 0;
        if (t->row->integrated) c->devices[n].shares_memory_with = s->host;
        c->devices[n].server = t->server;
        c->term_of[n] = t;
      }
    }
  }
  return SITU_STATUS_OK;
}

static situ_status push_link(composer *c, int32_t from, int32_t to, int64_t latency_ns, double rate, int32_t channel,
                             situ_error *error) {
  if (c->n_links == c->link_capacity) {
    int32_t capacity = c->link_capacity ? c->link_capacity * 2 : 64;
    if (c->n_links >= SITU_MAX_LINKS)
      return fail_with(error, SITU_STATUS_BAD_ARGUMENT, c->name, "this platform has more than %d links",
                       SITU_MAX_LINKS);
    situ_link *links = ARENA_NEW(c->arena, situ_link, capacity);
    if (!links) return fail_no_memory(error);
    if (c->n_links) memcpy(links, c->links, (size_t)c->n_links * sizeof *links);
    c->links = links;
    c->link_capacity = capacity;
  }
  c->links[c->n_links++] = (situ_link){from, to, latency_ns, rate, channel};
  return SITU_STATUS_OK;
}

/* Joins a (the host, if there is one) with b. */
static situ_status join(composer *c, int32_t a, int32_t b, int64_t latency_ns, int64_t back_ns, double rate,
                        situ_error *error) {
  TRY(push_link(c, a, b, latency_ns, rate, -1, error));
  return push_link(c, b, a, back_ns, rate, -1, error);
}

/* Direct links between all of a term; through a switch, what one device sends shares a channel. */
static situ_status join_term(composer *c, const term *t, situ_error *error) {
  for (int32_t a = 0; a < t->count; a++) {
    int32_t channel = t->fabric->switched ? c->n_channels++ : -1;
    for (int32_t b = 0; b < t->count; b++)
      if (a != b)
        TRY(push_link(c, t->first_device + a, t->first_device + b, t->fabric->latency_ns, t->fabric->bytes_per_s,
                      channel, error));
  }
  return SITU_STATUS_OK;
}

static bool owns_memory(const composer *c, int32_t d) {
  return c->devices[d].shares_memory_with < 0 || c->devices[d].separate_address_space;
}

/* Whether devices d and e are in the same server. */
static bool together(const composer *c, int32_t d, int32_t e) { return c->term_of[d]->server == c->term_of[e]->server; }

/* Whether d is what its server sends from: its first host, or without hosts each accelerator. */
static bool has_port(const composer *c, int32_t d) {
  int32_t host = c->servers[c->term_of[d]->server].host;
  return host >= 0 ? d == host : owns_memory(c, d);
}

/* All traffic from a server to other servers shares a channel; the slower of two networks counts. */
static situ_status join_servers(composer *c, situ_error *error) {
  int32_t first_channel = c->n_channels;
  c->n_channels += c->n_servers;
  for (int32_t d = 0; c->n_servers > 1 && d < c->n_devices; d++)
    for (int32_t e = 0; e < c->n_devices; e++) {
      if (together(c, d, e) || !has_port(c, d) || !has_port(c, e)) continue;
      const situ_link_kind_info *from = c->servers[c->term_of[d]->server].network;
      const situ_link_kind_info *to = c->servers[c->term_of[e]->server].network;
      double rate = from->bytes_per_s < to->bytes_per_s ? from->bytes_per_s : to->bytes_per_s;
      TRY(push_link(c, d, e, max64(from->latency_ns, to->latency_ns), rate, first_channel + c->term_of[d]->server,
                    error));
    }
  return SITU_STATUS_OK;
}

static situ_status make_links(composer *c, situ_error *error) {
  for (int32_t d = 1; d < c->n_hosts; d++)
    for (int32_t h = 0; h < d; h++)
      if (together(c, h, d))
        TRY(join(c, h, d, c->term_of[d]->bus->latency_ns, c->term_of[d]->bus->latency_ns,
                 c->term_of[d]->bus->bytes_per_s, error));

  for (int32_t d = c->n_hosts; d < c->n_devices; d++) {
    const term *t = c->term_of[d];
    int32_t host = c->servers[t->server].host;
    if (host >= 0) {
      if (owns_memory(c, d)) TRY(join(c, host, d, t->bus->latency_ns, t->bus->to_host_ns, t->bus->bytes_per_s, error));
      continue;
    }
    /* Without a host, accelerators copy to each other over PCIe; the slower of two ends counts. */
    for (int32_t e = c->n_hosts; e < d; e++) {
      const term *u = c->term_of[e];
      if (!together(c, d, e) || (t == u && t->fabric)) continue;
      double rate = t->bus->bytes_per_s < u->bus->bytes_per_s ? t->bus->bytes_per_s : u->bus->bytes_per_s;
      int64_t latency_ns = max64(t->bus->latency_ns, u->bus->latency_ns);
      TRY(join(c, e, d, latency_ns, latency_ns, rate, error));
    }
  }

  for (int32_t i = 0; i < c->n_terms; i++)
    if (c->terms[i].fabric && owns_memory(c, c->terms[i].first_device)) TRY(join_term(c, &c->terms[i], error));
  return join_servers(c, error);
}

/* `name` is that of the platform, `terms` what it means. */
static situ_status compose(situ_platform **out, const char *name, const char *terms, situ_error *error) {
  arena *a = arena_new();
  composer c = {.arena = a,
                .name = terms,
                .terms = ARENA_NEW(a, term, MAX_TERMS),
                .servers = ARENA_NEW(a, server, (int64_t)MAX_TERMS + 1)};
  situ_status status = c.terms && c.servers ? take_name(&c, error) : fail_no_memory(error);
  if (status == SITU_STATUS_OK) status = make_devices(&c, error);
  if (status == SITU_STATUS_OK) status = make_links(&c, error);
  if (status == SITU_STATUS_OK) status = platform_new(out, name, c.devices, c.n_devices, c.links, c.n_links, error);
  arena_free(a);
  return status;
}

situ_status platform_from_name(situ_platform **out, const char *name, situ_error *error) {
  char meant[SPELLING_BYTES];
  situ_error as_written = {0};
  bool machine, other = spelling_resolve(meant, &machine, name);
  *out = NULL;
  if (machine && other && compose(out, name, meant, NULL) == SITU_STATUS_OK) return SITU_STATUS_OK;
  situ_status status = compose(out, name, name, &as_written);
  if (status == SITU_STATUS_BAD_ARGUMENT && other && compose(out, name, meant, NULL) == SITU_STATUS_OK)
    return SITU_STATUS_OK;
  if (status != SITU_STATUS_OK && error) *error = as_written;
  return status;
}
