/* problem/certificate.h - the evidence of a bound, with which it can be checked independently: a kind and lists of
 * integers. Bounds make certificates, plans carry them, and check/check_certificate.c computes what they prove from the
 * problem and these numbers alone. docs/theory/bounds/certificates.md describes the kinds and the proofs.
 */
#ifndef SITU_PROBLEM_CERTIFICATE_H
#define SITU_PROBLEM_CERTIFICATE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "ranks/pack.h"

enum { CERTIFICATE_LISTS = 16 };

typedef struct certificate_list {
  const char *name;
  bool of_operators;  /* its numbers are operators: plan files name them */
  int64_t n, *values; /* 0 or more each */
} certificate_list;

typedef struct certificate {
  const char *kind;  /* what rule it is judged by; NULL: no certificate */
  const char *bound; /* the name of the bound or solver that found it */
  int64_t lower_ns;  /* the claimed bound on every plan; SITU_NEVER_NS: there is no plan */
  const char *fault; /* NULL, or why the content of a file is not a certificate */
  int32_t n_lists;
  certificate_list list[CERTIFICATE_LISTS];
  /* No part of the evidence: the memories where what attains the bound could have each operator, -1: anywhere. For
   * solvers, which may make a plan of it; n_placed 0: nothing is known. */
  int32_t *memory;
  int64_t n_placed;
} certificate;

/* Begins a certificate; lists are added to it. */
void certificate_start(certificate *c, const char *kind, int64_t lower_ns);
/* Adds a list of n zeroes and returns it, to be filled; NULL without memory. `name` is kept. */
int64_t *certificate_add(certificate *c, const char *name, int64_t n, arena *a);
/* The same with a list of operators. */
int64_t *certificate_add_operators(certificate *c, const char *name, int64_t n, arena *a);
/* The list of that name; n < 0 allows any length. NULL if there is none, or if it has another length. */
const int64_t *certificate_get(const certificate *c, const char *name, int64_t n);
/* The length of the list of that name, 0 without one. */
int64_t certificate_size(const certificate *c, const char *name);
/* A copy with everything in the arena. False without memory; *to is then no certificate. */
bool certificate_copy(certificate *to, const certificate *from, arena *a);

/* The same through bytes: `bound` and names of lists too are then in the arena. No certificate is packed as one without
 * a kind. Failures are remembered by the buffers. */
void certificate_pack(text_buffer *to, const certificate *c);
void certificate_unpack(certificate *c, unpack *from, arena *a);

#endif
