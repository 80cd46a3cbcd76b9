/* situ/error.h - how calls report what happened.
 *
 * Each function that can fail returns a situ_status and takes, last, a situ_error that may be NULL. Nothing is
 * printed, nothing is global, and no call aborts. A call that fails sets its `out` to NULL. A NULL argument that is not
 * said to be optional is BAD_ARGUMENT; functions without a status return what their comment says, else 0, NULL or "".
 * The status of a call (did it work?) is kept apart from the outcome of a solve (is there a plan, and how good?), see
 * situ/solve.h. */
#ifndef SITU_ERROR_H
#define SITU_ERROR_H

#if defined(__GNUC__)
#define SITU_API __attribute__((visibility("default")))
#else
#define SITU_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* The result of a call. */
typedef enum situ_status {
  SITU_STATUS_OK = 0,
  SITU_STATUS_NO_MEMORY,    /* an allocation failed, or a stated memory limit was reached */
  SITU_STATUS_BAD_ARGUMENT, /* the caller broke the contract of the function, or an option has no such value */
  SITU_STATUS_BAD_INPUT,    /* a file is malformed or contradicts itself */
  SITU_STATUS_UNSUPPORTED,  /* understood, but this build or this version cannot do it */
  SITU_STATUS_IO,           /* a file could not be opened, read or written */
  SITU_STATUS_INTERNAL,     /* a defect of situ: please report it */
  SITU_STATUS_ENGINE,       /* an engine is absent, refused a model, crashed, hung or answered nonsense */
  SITU_STATUS_CANCELLED     /* a callback asked to stop */
} situ_status;

/* One clear line: what, where, what was expected. Filled only when a call fails. Closed: it never grows. */
typedef struct situ_error {
  situ_status status;
  char where[256]; /* the file with line or offset, or the operator; empty when there is no such place */
  char text[512];  /* what is wrong and what was expected; never empty after a failure */
} situ_error;

/* The name of a status ("ok", "bad_input", ...); "unknown" for any other value. Static storage. */
SITU_API const char *situ_status_name(situ_status status);

#ifdef __cplusplus
}
#endif
#endif
