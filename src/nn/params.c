#include "nn/params.h"

#include <math.h>
#include <string.h>

#include "base/contracts.h"
#include "base/fail.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/text.h"

enum { MAX_PARAMS = 256, MAX_SIDE = 1 << 20 };

typedef struct parameter {
  const char *name;
  int32_t rows, cols;
  nn_real *value, *grad, *mean, *square; /* the moments of Adam */
} parameter;

struct params {
  arena *arena;
  parameter at[MAX_PARAMS];
  int32_t n;
  int64_t n_steps;
};

static int64_t size_of(const parameter *x) { return (int64_t)x->rows * x->cols; }

params *params_new(arena *a) {
  params *p = ARENA_ZERO(a, params, 1);
  if (p) p->arena = a;
  return p;
}

int32_t params_add(params *p, const char *name, int32_t rows, int32_t cols, params_start start, rng *random) {
  for (int32_t k = 0; k < p->n; k++) REQUIRE(strcmp(p->at[k].name, name) != 0);
  REQUIRE(start != PARAMS_GLOROT || random);
  if (p->n == MAX_PARAMS || rows < 1 || cols < 1 || rows > MAX_SIDE || cols > MAX_SIDE) return -1;
  parameter x = {.name = name, .rows = rows, .cols = cols};
  int64_t n = size_of(&x);
  if (!ARENA_ARRAYS(p->arena, ZEROS(x.value, n), ZEROS(x.grad, n), ZEROS(x.mean, n), ZEROS(x.square, n))) return -1;
  double reach = sqrt(6.0 / ((double)rows + cols));
  for (int64_t i = 0; i < n; i++)
    x.value[i] = start == PARAMS_ONE ? 1 : start == PARAMS_GLOROT ? (nn_real)(reach * (2 * rng_unit(random) - 1)) : 0;
  p->at[p->n] = x;
  return p->n++;
}

int32_t params_count(const params *p) { return p->n; }

int64_t params_size(const params *p) {
  int64_t n = 0;
  for (int32_t k = 0; k < p->n; k++) n += size_of(&p->at[k]);
  return n;
}

nn_matrix params_at(const params *p, int32_t number) {
  REQUIRE(number >= 0 && number < p->n);
  const parameter *x = &p->at[number];
  return (nn_matrix){x->rows, x->cols, x->value, x->grad};
}

nn_var params_var(const params *p, int32_t number, tape *t) {
  const parameter *x = &p->at[number];
  return tape_leaf(t, x->rows, x->cols, x->value, x->grad);
}

void params_clear_gradients(params *p) {
  for (int32_t k = 0; k < p->n; k++) memset(p->at[k].grad, 0, (size_t)size_of(&p->at[k]) * sizeof(nn_real));
}

double params_clip(params *p, double max) {
  REQUIRE(max > 0);
  double sum = 0;
  for (int32_t k = 0; k < p->n; k++)
    for (int64_t i = 0; i < size_of(&p->at[k]); i++) sum += (double)p->at[k].grad[i] * (double)p->at[k].grad[i];
  double norm = sqrt(sum);
  if (!(norm > max)) return norm;
  nn_real by = (nn_real)(max / norm);
  for (int32_t k = 0; k < p->n; k++)
    for (int64_t i = 0; i < size_of(&p->at[k]); i++) p->at[k].grad[i] *= by;
  return norm;
}

void params_step(params *p, double rate) {
  REQUIRE(rate > 0);
  const double keep_mean = 0.9, keep_square = 0.999, min = 1e-8;
  p->n_steps++;
  double mean_scale = 1 / (1 - pow(keep_mean, (double)p->n_steps)),
         square_scale = 1 / (1 - pow(keep_square, (double)p->n_steps));
  for (int32_t k = 0; k < p->n; k++) {
    parameter *x = &p->at[k];
    for (int64_t i = 0; i < size_of(x); i++) {
      double g = (double)x->grad[i], mean = keep_mean * (double)x->mean[i] + (1 - keep_mean) * g;
      double square = keep_square * (double)x->square[i] + (1 - keep_square) * g * g;
      x->mean[i] = (nn_real)mean;
      x->square[i] = (nn_real)square;
      x->value[i] -= (nn_real)(rate * mean * mean_scale / (sqrt(square * square_scale) + min));
    }
  }
}

int64_t params_n_steps(const params *p) { return p->n_steps; }

void params_restart(params *p) {
  p->n_steps = 0;
  for (int32_t k = 0; k < p->n; k++) {
    memset(p->at[k].mean, 0, (size_t)size_of(&p->at[k]) * sizeof(nn_real));
    memset(p->at[k].square, 0, (size_t)size_of(&p->at[k]) * sizeof(nn_real));
  }
}

/* ---- checkpoints: a head, the notes, the parameters with their moments, a hash of all that ----
 *
 * Numbers are little-endian: int64 or IEEE binary32. docs/formats/policy.md is the same in words. */

static const char magic[8] = {'s', 'i', 't', 'u', 'n', 'e', 't', '\n'};
enum { VERSION = 1, MAX_NAME = 256 };
static const int64_t MAX_STEPS = (int64_t)1 << 53;

typedef struct writer {
  text_buffer text;
} writer;

static void put(writer *w, const void *bytes, size_t n) { text_add_bytes(&w->text, bytes, n); }

static void put_int(writer *w, int64_t x) {
  unsigned char bytes[8];
  for (int i = 0; i < 8; i++) bytes[i] = (unsigned char)((uint64_t)x >> (8 * i));
  put(w, bytes, sizeof bytes);
}

static void put_text(writer *w, const char *text) {
  put_int(w, (int64_t)strlen(text));
  put(w, text, strlen(text));
}

static void put_reals(writer *w, const nn_real *at, int64_t n) {
  for (int64_t i = 0; i < n; i++) {
    float x = (float)at[i];
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    unsigned char bytes[4] = {(unsigned char)bits, (unsigned char)(bits >> 8), (unsigned char)(bits >> 16),
                              (unsigned char)(bits >> 24)};
    put(w, bytes, sizeof bytes);
  }
}

situ_status params_write(const params *p, const char *kind, const void *notes, int64_t n_notes, const char *path,
                         situ_error *error) {
  writer w = {0};
  put(&w, magic, sizeof magic);
  put_int(&w, VERSION);
  put_text(&w, kind);
  put_int(&w, p->n_steps);
  put_int(&w, n_notes);
  put(&w, notes, (size_t)n_notes);
  put_int(&w, p->n);
  for (int32_t k = 0; k < p->n; k++) {
    const parameter *x = &p->at[k];
    put_text(&w, x->name);
    put_int(&w, x->rows);
    put_int(&w, x->cols);
    put_reals(&w, x->value, size_of(x));
    if (p->n_steps > 0) put_reals(&w, x->mean, size_of(x));
    if (p->n_steps > 0) put_reals(&w, x->square, size_of(x));
  }
  put_int(&w, (int64_t)hash_bytes(w.text.bytes, w.text.length, 0));
  situ_status status = w.text.failed ? fail_no_memory(error) : file_write(path, w.text.bytes, w.text.length, error);
  text_free(&w.text);
  return status;
}

typedef struct reader_at {
  const unsigned char *at, *end;
  const char *path;
  situ_error *error;
} reader_at;

static situ_status bad(const reader_at *r, const char *what) {
  return fail_with(r->error, SITU_STATUS_BAD_INPUT, r->path, "%s", what);
}

static situ_status take(reader_at *r, int64_t n, const unsigned char **bytes) {
  if (n < 0 || n > r->end - r->at) return bad(r, "is truncated");
  *bytes = r->at;
  r->at += n;
  return SITU_STATUS_OK;
}

static uint64_t word(const unsigned char *bytes, int n) {
  uint64_t x = 0;
  for (int i = n - 1; i >= 0; i--) x = x << 8 | bytes[i];
  return x;
}

static situ_status take_int(reader_at *r, int64_t *x) {
  const unsigned char *bytes = NULL;
  TRY(take(r, 8, &bytes));
  *x = (int64_t)word(bytes, 8);
  return SITU_STATUS_OK;
}

/* The next text must be this one. */
static situ_status expect(reader_at *r, const char *text, const char *what) {
  int64_t n;
  const unsigned char *bytes = NULL;
  TRY(take_int(r, &n));
  if (n < 0 || n > MAX_NAME) return bad(r, "has a name that does not end");
  TRY(take(r, n, &bytes));
  if ((size_t)n != strlen(text) || memcmp(bytes, text, (size_t)n) != 0)
    return fail_with(r->error, SITU_STATUS_BAD_INPUT, r->path, "%s %s, not %.*s", what, text, (int)n,
                     (const char *)bytes);
  return SITU_STATUS_OK;
}

/* Numbers from `least` to `most`. No number of a policy comes near MAX_NUMBER. */
static const double MAX_NUMBER = 1e9;

static bool take_reals(reader_at *r, nn_real *to, int64_t n, double min, double max) {
  for (int64_t i = 0; i < n; i++, r->at += 4) {
    uint32_t bits = (uint32_t)word(r->at, 4);
    float x;
    memcpy(&x, &bits, sizeof x);
    if (!((double)x >= min && (double)x <= max)) return false;
    to[i] = (nn_real)x;
  }
  return true;
}

/* The head up to the notes. */
static situ_status take_head(reader_at *r, const char *kind, int64_t *n_steps, const unsigned char **notes,
                             int64_t *n_notes) {
  const unsigned char *bytes = NULL;
  int64_t version;
  if (r->end - r->at < (int64_t)sizeof magic || memcmp(r->at, magic, sizeof magic) != 0)
    return bad(r, "is not a situ policy file");
  TRY(take(r, sizeof magic, &bytes));
  TRY(take_int(r, &version));
  if (version != VERSION)
    return fail_with(r->error, SITU_STATUS_BAD_INPUT, r->path, "has version %lld; this situ reads version %d",
                     (long long)version, VERSION);
  if (r->end - r->at < 8) return bad(r, "is truncated");
  r->end -= 8;
  if (word(r->end, 8) != hash_bytes(r->at - 16, (size_t)(r->end - r->at) + 16, 0))
    return bad(r, "is damaged: its checksum does not match");
  TRY(expect(r, kind, "must hold a policy of kind"));
  TRY(take_int(r, n_steps));
  if (*n_steps < 0 || *n_steps > MAX_STEPS)
    return fail_with(r->error, SITU_STATUS_BAD_INPUT, r->path, "has made %lld steps of training; expected 0 to 2^53",
                     (long long)*n_steps);
  TRY(take_int(r, n_notes));
  return take(r, *n_notes, notes);
}

/* `state`: the moments of Adam are there too. */
static situ_status take_params(reader_at *r, params *p, bool state) {
  int64_t n, rows, cols;
  TRY(take_int(r, &n));
  if (n != p->n) return bad(r, "has a different number of parameters from this policy");
  for (int32_t k = 0; k < p->n; k++) {
    parameter *x = &p->at[k];
    const unsigned char *bytes = NULL;
    TRY(expect(r, x->name, "must hold the parameter"));
    TRY(take_int(r, &rows));
    TRY(take_int(r, &cols));
    if (rows != x->rows || cols != x->cols)
      return fail_with(r->error, SITU_STATUS_BAD_INPUT, r->path,
                       "parameter %s is %lld x %lld; this policy has it %d x %d", x->name, (long long)rows,
                       (long long)cols, (int)x->rows, (int)x->cols);
    TRY(take(r, (state ? 12 : 4) * size_of(x), &bytes));
    reader_at inner = {.at = bytes, .end = r->at};
    if (!take_reals(&inner, x->value, size_of(x), -MAX_NUMBER, MAX_NUMBER) ||
        (state && (!take_reals(&inner, x->mean, size_of(x), -MAX_NUMBER, MAX_NUMBER) ||
                   !take_reals(&inner, x->square, size_of(x), 0, MAX_NUMBER * MAX_NUMBER))))
      return fail_with(r->error, SITU_STATUS_BAD_INPUT, r->path,
                       "parameter %s has a number that is none, or out of range: expected -1e9 to 1e9, squares from 0",
                       x->name);
  }
  return r->at == r->end ? SITU_STATUS_OK : bad(r, "has bytes after its end");
}

/* Into a copy first, so that a bad file changes nothing. */
static situ_status read_view(params *p, const char *kind, const void **notes, int64_t *n_notes, arena *a, reader_at r) {
  int64_t n_steps = 0;
  const unsigned char *noted = NULL;
  TRY(take_head(&r, kind, &n_steps, &noted, n_notes));
  params *copy = ARENA_COPY(a, p, params, 1);
  if (!copy) return fail_no_memory(r.error);
  for (int32_t k = 0; k < copy->n; k++) {
    int64_t n = size_of(&copy->at[k]);
    if (!ARENA_ARRAYS(a, ARRAY(copy->at[k].value, n), ZEROS(copy->at[k].mean, n), ZEROS(copy->at[k].square, n)))
      return fail_no_memory(r.error);
  }
  TRY(take_params(&r, copy, n_steps > 0));
  if (!(*notes = arena_copy(a, noted, *n_notes, 1))) return fail_no_memory(r.error);
  for (int32_t k = 0; k < p->n; k++) {
    size_t bytes = (size_t)size_of(&p->at[k]) * sizeof(nn_real);
    memcpy(p->at[k].value, copy->at[k].value, bytes);
    memcpy(p->at[k].mean, copy->at[k].mean, bytes);
    memcpy(p->at[k].square, copy->at[k].square, bytes);
  }
  p->n_steps = n_steps;
  return SITU_STATUS_OK;
}

situ_status params_read_bytes(params *p, const char *kind, const void **notes, int64_t *n_notes, arena *a,
                              const unsigned char *bytes, int64_t size, const char *where, situ_error *error) {
  return read_view(p, kind, notes, n_notes, a,
                   (reader_at){.at = bytes, .end = bytes + size, .path = where, .error = error});
}

situ_status params_read(params *p, const char *kind, const void **notes, int64_t *n_notes, arena *a, const char *path,
                        situ_error *error) {
  file_view view;
  TRY(file_open(&view, path, error));
  situ_status status = params_read_bytes(p, kind, notes, n_notes, a, view.bytes, (int64_t)view.size_bytes, path, error);
  file_close(&view);
  return status;
}
