/* Differences between the outputs of two executors. */
#include <math.h>
#include <string.h>

#include "engine/executor.h"

static double half_value(uint16_t bits) {
  int exponent = bits >> 10 & 31, mantissa = bits & 1023;
  double size = exponent == 31 ? (mantissa ? (double)NAN : (double)INFINITY)
                : exponent     ? ldexp(1024 + mantissa, exponent - 25)
                               : ldexp(mantissa, -24);
  return bits >> 15 ? -size : size;
}

/* The upper half of a single float. */
static double brain_value(uint16_t bits) {
  float f;
  uint32_t single = (uint32_t)bits << 16;
  memcpy(&f, &single, sizeof f);
  return (double)f;
}

/* Element i as a number; other types are compared byte by byte. */
static double element(const unsigned char *at, int32_t type, int64_t i) {
  float f;
  double d;
  int64_t l;
  int32_t w;
  uint16_t h;
  switch (type) {
    case 1: return memcpy(&f, at + 4 * i, sizeof f), (double)f;
    case 11: return memcpy(&d, at + 8 * i, sizeof d), d;
    case 7: return memcpy(&l, at + 8 * i, sizeof l), (double)l;
    case 6: return memcpy(&w, at + 4 * i, sizeof w), (double)w;
    case 10: return memcpy(&h, at + 2 * i, sizeof h), half_value(h);
    case 16: return memcpy(&h, at + 2 * i, sizeof h), brain_value(h);
    default: return at[i];
  }
}

static bool is_number(int32_t type) {
  return type == 1 || type == 6 || type == 7 || type == 10 || type == 11 || type == 16;
}

static double difference(const unsigned char *a, const unsigned char *b, const tensor_place *place) {
  int32_t type = place->port.type;
  int64_t n = is_number(type) ? place->bytes / engine_type_bytes(type) : place->bytes;
  double max = 0, apart = 0;
  for (int64_t i = 0; i < n; i++) {
    double x = element(a, type, i), y = element(b, type, i);
    if (isnan(x) != isnan(y) || isinf(x) != isinf(y) || (isinf(x) && x != y)) return (double)INFINITY;
    if (isnan(x) || isinf(x)) continue;
    max = fmax(max, fabs(y));
    apart = fmax(apart, fabs(x - y));
  }
  return apart == 0 ? 0 : max > 0 ? apart / max : (double)INFINITY;
}

double executor_difference(const executor *x, const executor *other) {
  const model_file *f = x->parts->file;
  double max = 0;
  for (int32_t i = 0; i < f->n_outputs; i++) {
    const tensor_place *a = &x->places[f->outputs[i]], *b = &other->places[f->outputs[i]];
    bool same = a->at >= 0 && b->at >= 0 && a->bytes == b->bytes && a->port.type == b->port.type &&
                a->port.rank == b->port.rank;
    for (int32_t d = 0; same && d < a->port.rank; d++) same = a->port.dims[d] == b->port.dims[d];
    if (!same) return (double)INFINITY;
    max = fmax(max, difference(x->shared + a->at, other->shared + b->at, a));
  }
  return max;
}

double executor_tolerance(const executor *x) {
  static const double SINGLE = 1e-4, HALF = 16.0 / 2048, BRAIN = 16.0 / 256; /* 16 roundings of 11 and of 8 bits */
  double tolerance = SINGLE;
  for (int32_t v = 0; v < x->parts->file->n_values; v++) {
    if (x->places[v].at < 0) continue;
    if (x->places[v].port.type == 10) tolerance = fmax(tolerance, HALF);
    if (x->places[v].port.type == 16) tolerance = fmax(tolerance, BRAIN);
  }
  return tolerance;
}
