/* A link from measured transfers: weighted least squares of time = latency + bytes / rate. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/arguments.h"
#include "base/ascii.h"
#include "base/c_locale.h"
#include "base/compare.h"
#include "base/fail.h"
#include "base/file.h"
#include "base/text.h"
#include "situ/platform.h"

static const double MAX_BYTES = 1e18, MAX_NS = 1e15;

struct situ_link_fit {
  arena *arena;
  situ_link_line line;
  situ_link_sample *samples;
};

typedef struct measurement {
  double bytes, time_ns;
} measurement;

typedef struct reader {
  const char *path;
  situ_error *error;
  arena *arena;
  int64_t line;
  int32_t bytes_column, time_column;
  double unit_ns;
  measurement *all;
  int64_t n, capacity;
} reader;

static situ_status bad(const reader *r, const char *text) {
  return fail_with(r->error, SITU_STATUS_BAD_INPUT, r->path, "line %lld: %s", (long long)r->line, text);
}

static bool is_separator(char c) { return c == ',' || c == ';' || c == '\t'; }

/* The cell at `at` without blanks and quotes around it, and where the next begins (NULL: none). */
static const char *cell(const char *at, const char **from, size_t *length) {
  size_t n = 0;
  while (at[n] && !is_separator(at[n])) n++;
  const char *next = at[n] ? at + n + 1 : NULL;
  while (n > 0 && (*at == ' ' || *at == '"')) at++, n--;
  while (n > 0 && (at[n - 1] == ' ' || at[n - 1] == '"' || at[n - 1] == '\r')) n--;
  *from = at;
  *length = n;
  return next;
}

static bool is_title(const char *text, size_t n, const char *title) {
  return n == strlen(title) && ascii_same_n(text, title, n);
}

static situ_status read_titles(reader *r, const char *at) {
  static const struct {
    const char *title;
    double unit_ns;
  } times[] = {{"time_ns", 1}, {"time_us", 1e3}, {"time_ms", 1e6}, {"time_s", 1e9}};
  for (int32_t column = 0; at; column++) {
    const char *text;
    size_t n;
    at = cell(at, &text, &n);
    if (is_title(text, n, "bytes") || is_title(text, n, "size_bytes")) {
      if (r->bytes_column >= 0) return bad(r, "two columns are called bytes");
      r->bytes_column = column;
    }
    for (size_t k = 0; k < sizeof times / sizeof times[0]; k++) {
      if (!is_title(text, n, times[k].title)) continue;
      if (r->time_column >= 0) return bad(r, "two columns are times; keep only one");
      r->time_column = column;
      r->unit_ns = times[k].unit_ns;
    }
  }
  if (r->bytes_column < 0 || r->time_column < 0)
    return bad(r, "expected the names of the columns: bytes, and time_ns, time_us, time_ms or time_s");
  return SITU_STATUS_OK;
}

static situ_status read_number(const reader *r, const char *text, size_t n, const char *what, double max, double *out) {
  const char *end = n > 0 ? text_scan_number(text, out) : NULL;
  char line[96];
  if (end == text + n && isfinite(*out) && *out <= max) return SITU_STATUS_OK;
  c_locale_print(line, sizeof line, "expected a number from 0 to %g as %s", max, what);
  return bad(r, line);
}

static situ_status read_row(reader *r, const char *at) {
  measurement m = {-1, -1};
  for (int32_t column = 0; at; column++) {
    const char *text;
    size_t n;
    at = cell(at, &text, &n);
    if (column == r->bytes_column) TRY(read_number(r, text, n, "bytes", MAX_BYTES, &m.bytes));
    if (column == r->time_column) {
      TRY(read_number(r, text, n, "time", MAX_NS / r->unit_ns, &m.time_ns));
      m.time_ns *= r->unit_ns;
      if (m.time_ns <= 0) return bad(r, "the time of a transfer must be above 0");
    }
  }
  if (m.bytes < 0 || m.time_ns < 0) return bad(r, "has too few columns");
  if (r->n == r->capacity) {
    int64_t capacity = r->capacity ? 2 * r->capacity : 256;
    measurement *all = ARENA_NEW(r->arena, measurement, capacity);
    if (!all) return fail_no_memory(r->error);
    if (r->n > 0) memcpy(all, r->all, (size_t)r->n * sizeof *all);
    r->all = all;
    r->capacity = capacity;
  }
  r->all[r->n++] = m;
  return SITU_STATUS_OK;
}

/* Blank lines and lines that begin with '#' are skipped. */
static situ_status read_lines(reader *r, char *text) {
  bool titled = false;
  if (strncmp(text, "\xef\xbb\xbf", 3) == 0) text += 3;
  for (char *next; text; text = next) {
    next = strchr(text, '\n');
    if (next) *next++ = '\0';
    r->line++;
    if (text[0] == '#' || text[strspn(text, " \t\r")] == '\0') continue;
    TRY(titled ? read_row(r, text) : read_titles(r, text));
    titled = true;
  }
  if (!titled) return bad(r, "expected the names of the columns: bytes, and time_ns, time_us, time_ms or time_s");
  return SITU_STATUS_OK;
}

static situ_status read_file(reader *r) {
  char *text;
  TRY(file_read_text(&text, r->path, r->arena, r->error));
  return read_lines(r, text);
}

COMPARATOR(by_size, measurement, UP(bytes) UP(time_ns))

/* One sample for each size: the median of its times. */
static void take_medians(situ_link_fit *fit, measurement *all, int64_t n) {
  qsort(all, (size_t)n, sizeof *all, by_size);
  for (int64_t first = 0, end; first < n; first = end) {
    for (end = first + 1; end < n && all[end].bytes == all[first].bytes;) end++;
    double median = (all[(first + end - 1) / 2].time_ns + all[(first + end) / 2].time_ns) / 2;
    fit->samples[fit->line.n_sizes++] =
        (situ_link_sample){.size_bytes = all[first].bytes, .time_ns = median, .n_measured = end - first};
  }
  fit->line.n_measured = n;
}

static double weight_of(const situ_link_sample *s, bool absolute) {
  return absolute ? 1 : 1 / (s->time_ns * s->time_ns);
}

/* Latency and time of a byte. */
static situ_status fit_line(situ_link_fit *fit, bool absolute, const reader *r) {
  situ_link_line *line = &fit->line;
  double w = 0, mean_bytes = 0, mean_ns = 0, var = 0, cov = 0, squares = 0, products = 0;
  for (int32_t i = 0; i < line->n_sizes; i++) {
    const situ_link_sample *s = &fit->samples[i];
    double wi = weight_of(s, absolute);
    w += wi;
    mean_bytes += wi * s->size_bytes;
    mean_ns += wi * s->time_ns;
    squares += wi * s->size_bytes * s->size_bytes;
    products += wi * s->size_bytes * s->time_ns;
  }
  mean_bytes /= w;
  mean_ns /= w;
  for (int32_t i = 0; i < line->n_sizes; i++) {
    const situ_link_sample *s = &fit->samples[i];
    double d = s->size_bytes - mean_bytes;
    var += weight_of(s, absolute) * d * d;
    cov += weight_of(s, absolute) * d * (s->time_ns - mean_ns);
  }
  double slope = cov / var, latency = mean_ns - slope * mean_bytes;
  line->latency_raised = latency < 0;
  if (line->latency_raised) {
    latency = 0;
    slope = products / squares;
  }
  double rate = slope > 0 ? 1e9 / slope : 0;
  if (!(rate >= 1 && rate <= 1e18))
    return fail_with(r->error, SITU_STATUS_BAD_INPUT, r->path,
                     "the times do not grow with the size, so no rate can be fitted");
  line->latency_ns = (int64_t)floor(latency + 0.5);
  line->bytes_per_s = rate;
  return SITU_STATUS_OK;
}

static void judge_line(situ_link_fit *fit, bool absolute) {
  situ_link_line *line = &fit->line;
  double w = 0, mean_ns = 0, left = 0, all = 0;
  for (int32_t i = 0; i < line->n_sizes; i++) {
    w += weight_of(&fit->samples[i], absolute);
    mean_ns += weight_of(&fit->samples[i], absolute) * fit->samples[i].time_ns;
  }
  mean_ns /= w;
  for (int32_t i = 0; i < line->n_sizes; i++) {
    situ_link_sample *s = &fit->samples[i];
    s->fitted_ns = (double)line->latency_ns + s->size_bytes * 1e9 / line->bytes_per_s;
    double off = s->time_ns - s->fitted_ns, from_mean = s->time_ns - mean_ns, share = fabs(off) / s->time_ns;
    left += weight_of(s, absolute) * off * off;
    all += weight_of(s, absolute) * from_mean * from_mean;
    if (share < line->worst_share) continue;
    line->worst_share = share;
    line->worst_bytes = s->size_bytes;
  }
  line->r_squared = all > 0 ? 1 - left / all : 1;
}

static situ_status make(situ_link_fit *fit, reader *r, bool absolute) {
  TRY(read_file(r));
  if (!(fit->samples = ARENA_NEW(r->arena, situ_link_sample, r->n))) return fail_no_memory(r->error);
  if (r->n > 0) take_medians(fit, r->all, r->n);
  if (fit->line.n_sizes < 2)
    return fail_with(r->error, SITU_STATUS_BAD_INPUT, r->path,
                     "has %s; fitting a line needs transfers of at least two sizes",
                     r->n == 0 ? "no transfers" : "transfers of one size only");
  TRY(fit_line(fit, absolute, r));
  judge_line(fit, absolute);
  return SITU_STATUS_OK;
}

situ_status situ_link_fit_read(situ_link_fit **out, const char *path, bool absolute, situ_error *error) {
  if (out) *out = NULL;
  TRY(GIVEN(error, out, path));
  situ_link_fit *fit = NOUN_NEW(situ_link_fit, NULL);
  if (!fit) return fail_no_memory(error);
  reader r = {.path = path, .error = error, .arena = fit->arena, .bytes_column = -1, .time_column = -1};
  HAND_OUT(out, fit, make(fit, &r, absolute), situ_link_fit_free);
}

void situ_link_fit_free(situ_link_fit *fit) {
  if (fit) arena_free(fit->arena);
}

bool situ_link_fit_line(const situ_link_fit *fit, situ_link_line *out) { return fit && GIVE(out, fit->line); }

situ_link_sample situ_link_fit_sample(const situ_link_fit *fit, int32_t index) {
  return fit && index >= 0 && index < fit->line.n_sizes ? fit->samples[index] : (situ_link_sample){0};
}
