/* check/check_fields.h - what a certificate of each kind holds: one table of its lists, with their lengths and the
 * range of their numbers. check_certificate.c refuses a certificate with a number out of range before any rule reads
 * it, so the rules of the kinds may rely on these ranges. With them, and with the limits of a posed problem
 * (problem/problem.h), each rule says in a comment why its sums and products do not overflow. */
#ifndef SITU_CHECK_CHECK_FIELDS_H
#define SITU_CHECK_CHECK_FIELDS_H

#include "problem/certificate.h"
#include "problem/problem.h"

/* Of what a list has one number each. */
typedef enum field_per {
  PER_CERTIFICATE,
  PER_DEVICE,
  PER_MEMORY,
  PER_OPERATOR,
  PER_USE,        /* of a tensor by an operator */
  PER_USE_MEMORY, /* each use and memory */
  PER_INTERVAL    /* three: from, to, and a number of a list of prices */
} field_per;

/* What its numbers are: 0 or more each. */
typedef enum field_holds {
  HOLDS_AMOUNTS,     /* min .. max */
  HOLDS_OPERATORS,   /* of the problem */
  HOLDS_ORIGINALS,   /* operators of the first copy */
  HOLDS_MEMORIES,    /* numbers of them */
  HOLDS_BYTE_PRICES, /* 0 .. max, and 0 of a memory without a limit */
  HOLDS_OTHER_PRICE  /* 0 .. max, and 0 without a limit by secondary costs */
} field_holds;

typedef enum field_need { FIELD_NEEDED, FIELD_OPTIONAL, FIELD_OPTIONAL_OF_STREAMS } field_need;

typedef struct certificate_field {
  const char *kind, *name;
  field_need need;
  field_per per;
  int32_t min_n, max_n; /* how many times that; FIELD_OPERATORS: as many as operators; FIELD_MANY: any number */
  field_holds holds;
  int64_t min, max; /* of amounts and prices */
} certificate_field;
enum { FIELD_OPERATORS = -1, FIELD_MANY = -2 };

/* The limits of numbers that rules rely on. */
enum {
  FIELD_ROUNDS = 16,     /* of destructive */
  FIELD_PRICE_LISTS = 8, /* of destructive, for each device */
  FIELD_WINDOW = 256,    /* of joins */
};

/* All fields of all kinds, those of one kind together; *n says how many. */
const certificate_field *check_fields_all(int32_t *n);
/* The numbers that the list may have at least and at most, for a problem, and of what its length is a multiple. */
void check_fields_length(int64_t *min, int64_t *max, int64_t *step, const certificate_field *f, const situ_problem *p);
/* The range of number i of the list, for a problem. */
void check_fields_range(int64_t *min, int64_t *max, const certificate_field *f, int64_t i, const situ_problem *p);

/* A piece of a message, cut where it would be longer. */
typedef struct field_words {
  char text[256];
} field_words;

/* Whether the certificate, of a kind that is known, has every list that its kind needs, in its length, and no number
 * out of range. If not, `wrong` says what was expected and what was found. Lists of other names do not count. */
bool check_fields(const certificate *c, const situ_problem *p, field_words *wrong);

#endif
