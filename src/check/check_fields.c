#include "check/check_fields.h"

#include <stdio.h>
#include <string.h>

#include "base/contracts.h"

#define BITS(N) ((int64_t)1 << (N))
#define ONE .per = PER_CERTIFICATE, .min_n = 1, .max_n = 1
#define EACH(WHAT) .per = PER_##WHAT, .min_n = 1, .max_n = 1
#define SOME(MIN, MAX) .per = PER_CERTIFICATE, .min_n = (MIN), .max_n = (MAX)
#define AMOUNT(MIN, MAX) .holds = HOLDS_AMOUNTS, .min = (MIN), .max = (MAX)
#define BYTE_PRICES(MAX) .per = PER_MEMORY, .min_n = 1, .max_n = 1, .holds = HOLDS_BYTE_PRICES, .max = (MAX)
#define INSTANT "instant", .need = FIELD_OPTIONAL_OF_STREAMS, ONE, .holds = HOLDS_OPERATORS

static const certificate_field fields[] = {
    {"area_price", "time_prices", EACH(DEVICE), AMOUNT(0, BITS(52))},
    {"area_price", "byte_prices", BYTE_PRICES(BITS(52))},
    {"area_price", INSTANT},
    {"critical_path", "operator", ONE, .holds = HOLDS_OPERATORS},
    {"critical_path", INSTANT},
    {"cut_vertex", "deleted", SOME(0, FIELD_OPERATORS), .holds = HOLDS_OPERATORS},
    {"cut_vertex", "cuts", SOME(0, FIELD_OPERATORS), .holds = HOLDS_OPERATORS},
    {"cut_vertex", "rests", .per = PER_DEVICE, .min_n = 1, .max_n = FIELD_MANY, AMOUNT(0, SITU_NEVER_NS)},
    {"destructive", "rounds", ONE, AMOUNT(0, FIELD_ROUNDS)},
    {"destructive", "prices", .per = PER_DEVICE, .min_n = 0, .max_n = FIELD_PRICE_LISTS, AMOUNT(0, BITS(20))},
    {"destructive", "interval", .per = PER_INTERVAL, .min_n = 0, .max_n = 1, AMOUNT(0, SITU_NEVER_NS)},
    {"destructive", "window", ONE, AMOUNT(0, FIELD_WINDOW)},
    {"destructive", "free_rounds", ONE, AMOUNT(0, FIELD_ROUNDS)},
    {"join", "operator", ONE, .holds = HOLDS_OPERATORS},
    {"join", "window", ONE, AMOUNT(1, FIELD_WINDOW)},
    {"join", INSTANT},
    {"largest_operator", "operator", ONE, .holds = HOLDS_OPERATORS},
    {"linear_relaxation", "within_ns", ONE, AMOUNT(0, SITU_NEVER_NS)},
    {"linear_relaxation", "edge_prices", EACH(USE), AMOUNT(0, BITS(54))},
    {"linear_relaxation", "tail_prices", EACH(OPERATOR), AMOUNT(0, BITS(54))},
    {"linear_relaxation", "time_prices", EACH(DEVICE), AMOUNT(0, BITS(54))},
    {"linear_relaxation", "byte_prices", BYTE_PRICES(BITS(54))},
    {"linear_relaxation", "from_prices", EACH(USE_MEMORY), AMOUNT(0, BITS(54))},
    {"linear_relaxation", "to_prices", EACH(USE_MEMORY), AMOUNT(0, BITS(54))},
    {"memory_cut", "memory", ONE, .holds = HOLDS_MEMORIES},
    {"memory_cut", "byte_prices", BYTE_PRICES(BITS(52))},
    {"memory_cut", "out", EACH(USE), AMOUNT(0, PROBLEM_MAX_NS)},
    {"memory_cut", "in", EACH(USE), AMOUNT(0, PROBLEM_MAX_NS)},
    {"packing", "operators", SOME(1, FIELD_MANY), .holds = HOLDS_ORIGINALS},
    {"runs", "chain", SOME(1, FIELD_OPERATORS), .holds = HOLDS_OPERATORS},
    {"side_cut", "inside", EACH(MEMORY), AMOUNT(0, 1)},
    {"side_cut", "time_prices", EACH(DEVICE), AMOUNT(0, BITS(24))},
    {"side_cut", "byte_prices", BYTE_PRICES(BITS(52))},
    {"side_cut", "out", EACH(USE), AMOUNT(0, BITS(58))},
    {"side_cut", "in", EACH(USE), AMOUNT(0, BITS(58))},
    {"unit_chain", "chain", SOME(1, FIELD_OPERATORS), .holds = HOLDS_OPERATORS},
    {"unit_chain", "byte_prices", BYTE_PRICES(BITS(52))},
    {"unit_chain", "other_price", .need = FIELD_OPTIONAL, ONE, .holds = HOLDS_OTHER_PRICE, .max = BITS(58)},
    {"visit_labels", "chain", SOME(1, FIELD_OPERATORS), .holds = HOLDS_OPERATORS},
    {"visit_labels", "from", SOME(0, FIELD_OPERATORS), AMOUNT(0, SITU_MAX_OPERATORS)},
    {"visit_labels", "to", SOME(0, FIELD_OPERATORS), AMOUNT(0, SITU_MAX_OPERATORS)},
    {"visit_labels", "counts", SOME(0, FIELD_OPERATORS), AMOUNT(0, SITU_MAX_OPERATORS)},
    {"visit_labels", "beside", SOME(0, FIELD_OPERATORS), .holds = HOLDS_OPERATORS},
    {"visit_labels", "unit_bytes", ONE, AMOUNT(1, SITU_UNLIMITED_BYTES)},
};

enum { N_FIELDS = sizeof fields / sizeof *fields };

const certificate_field *check_fields_all(int32_t *n) {
  *n = N_FIELDS;
  return fields;
}

/* At most SITU_MAX_USES * SITU_MAX_DEVICES < 2^41. */
static int64_t count_of(field_per per, const situ_problem *p) {
  switch (per) {
    case PER_DEVICE: return p->n_devices;
    case PER_MEMORY: return p->n_memories;
    case PER_OPERATOR: return p->n_operators;
    case PER_USE: return p->graph->n_uses;
    case PER_USE_MEMORY: return p->graph->n_uses * p->n_memories;
    case PER_INTERVAL: return 3;
    default: return 1;
  }
}

void check_fields_length(int64_t *min, int64_t *max, int64_t *step, const certificate_field *f, const situ_problem *p) {
  *step = count_of(f->per, p);
  *min = f->min_n * *step;
  *max = f->max_n == FIELD_MANY ? INT64_MAX : f->max_n == FIELD_OPERATORS ? p->n_operators : f->max_n * *step;
}

void check_fields_range(int64_t *min, int64_t *max, const certificate_field *f, int64_t i, const situ_problem *p) {
  *min = f->min;
  *max = f->max;
  if (f->holds == HOLDS_OPERATORS) *max = p->n_operators - 1;
  if (f->holds == HOLDS_ORIGINALS) *max = p->n_operators / p->n_copies - 1;
  if (f->holds == HOLDS_MEMORIES) *max = p->n_memories - 1;
  if (f->holds == HOLDS_BYTE_PRICES && p->platform->memory_bytes[i] == SITU_UNLIMITED_BYTES) *max = 0;
  if (f->holds == HOLDS_OTHER_PRICE && !p->secondary) *max = 0;
}

/* ---- messages ---- */

static bool is_power_of_two(int64_t x) { return x >= BITS(20) && (x & (x - 1)) == 0; }

static field_words amount(int64_t x) {
  field_words w;
  if (x == SITU_NEVER_NS)
    snprintf(w.text, sizeof w.text, "never");
  else if (is_power_of_two(x))
    snprintf(w.text, sizeof w.text, "2^%d", __builtin_ctzll((unsigned long long)x));
  else
    snprintf(w.text, sizeof w.text, "%lld", (long long)x);
  return w;
}

static bool holds_operators(const certificate_field *f) {
  return f->holds == HOLDS_OPERATORS || f->holds == HOLDS_ORIGINALS;
}

/* "2 numbers", "1 to 5 operators", "a multiple of 2 numbers". */
static field_words length_of(const certificate_field *f, const situ_problem *p) {
  field_words w;
  int64_t min, max, step;
  check_fields_length(&min, &max, &step, f, p);
  const char *what = holds_operators(f) ? "operator" : "number", *plural = max == 1 ? "" : "s";
  if (min == max)
    snprintf(w.text, sizeof w.text, "%lld %s%s", (long long)min, what, plural);
  else if (step > 1)
    snprintf(w.text, sizeof w.text, "%s multiple of %lld %s%s", min == 0 ? "nothing or a" : "a", (long long)step, what,
             plural);
  else if (max == INT64_MAX)
    snprintf(w.text, sizeof w.text, "%lld or more %s%s", (long long)min, what, plural);
  else
    snprintf(w.text, sizeof w.text, "%lld to %lld %s%s", (long long)min, (long long)max, what, plural);
  return w;
}

/* " from 0 to 2^52", nothing for operators. */
static field_words range_of(const certificate_field *f, const situ_problem *p) {
  field_words w = {""}, from = amount(f->min);
  field_words to = amount(f->holds == HOLDS_MEMORIES ? p->n_memories - 1 : f->max);
  if (!holds_operators(f)) snprintf(w.text, sizeof w.text, " from %.24s to %.24s", from.text, to.text);
  return w;
}

static bool refuse(field_words *wrong, const certificate_field *f, const situ_problem *p, field_words found) {
  const char *but = f->holds == HOLDS_BYTE_PRICES          ? ", 0 for a memory without a limit"
                    : f->holds == HOLDS_OTHER_PRICE        ? ", 0 without a limit by secondary costs"
                    : f->need == FIELD_OPTIONAL_OF_STREAMS ? ", of a stream alone"
                                                           : "";
  field_words length = length_of(f, p), range = range_of(f, p);
  snprintf(wrong->text, sizeof wrong->text, "%s, %.80s%.64s%s; %.64s", f->name, length.text, range.text, but,
           found.text);
  return false;
}

static bool is_right(const certificate_field *f, const certificate *c, const situ_problem *p, field_words *wrong) {
  int64_t n = certificate_size(c, f->name), min, max, step;
  const int64_t *values = certificate_get(c, f->name, -1);
  field_words found = {"there is no such list"};
  if (f->need != FIELD_NEEDED && n == 0) return true;
  if (f->need == FIELD_OPTIONAL_OF_STREAMS && p->execution != SITU_EXECUTION_STREAM)
    return refuse(wrong, f, p, (field_words){"this is none"});
  if (!values) return refuse(wrong, f, p, found);
  check_fields_length(&min, &max, &step, f, p);
  if (n < min || n > max || (n > 0 && n % step != 0)) {
    snprintf(found.text, sizeof found.text, "there are %lld", (long long)n);
    return refuse(wrong, f, p, found);
  }
  for (int64_t i = 0; i < n; i++) {
    check_fields_range(&min, &max, f, i, p);
    if (values[i] >= min && values[i] <= max) continue;
    snprintf(found.text, sizeof found.text, "number %lld is %.24s", (long long)i + 1, amount(values[i]).text);
    return refuse(wrong, f, p, found);
  }
  return true;
}

bool check_fields(const certificate *c, const situ_problem *p, field_words *wrong) {
  REQUIRE(c->kind);
  for (int32_t k = 0; k < N_FIELDS; k++)
    if (strcmp(fields[k].kind, c->kind) == 0 && !is_right(&fields[k], c, p, wrong)) return false;
  return true;
}
