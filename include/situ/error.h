/* situ/error.h - how calls report failures.
 *
 * Each function that can fail returns a situ_status and has a situ_error as its last parameter, which may be NULL.
 * Nothing is printed, nothing is global, and no call aborts. A call that fails sets its `out` to NULL. A NULL argument
 * gives BAD_ARGUMENT unless the comment says that it may be NULL; functions without a status then return the value in
 * their comment, else 0, NULL or "". The status of a call (did it work?) is separate from the outcome of a solve (is
 * there a plan, and how good is it?), see situ/plan.h. */
#ifndef SITU_ERROR_H
#define SITU_ERROR_H

#if defined(_WIN32) && defined(SITU_BUILDS_DLL)
#define SITU_API __declspec(dllexport)
#elif defined(__GNUC__) && !defined(_WIN32)
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
  SITU_STATUS_BAD_ARGUMENT, /* the caller broke the contract of the function, or an option has an invalid value */
  SITU_STATUS_BAD_INPUT,    /* a file is malformed or contradicts itself */
  SITU_STATUS_UNSUPPORTED,  /* understood, but this build or this version cannot do it */
  SITU_STATUS_IO,           /* a file could not be opened, read or written */
  SITU_STATUS_INTERNAL,     /* a defect of situ: please report it */
  SITU_STATUS_ENGINE,       /* an engine is missing, rejected a model, crashed, hung or gave a malformed answer */
  SITU_STATUS_CANCELLED,    /* a callback asked to stop */
  SITU_STATUS_GUESSED       /* more of the costs is guessed than a strict caller allows */
} situ_status;

/* One line: what is wrong, where, and what was expected. Filled only if a call fails. Closed: it never grows. */
typedef struct situ_error {
  situ_status status;
  char where[256]; /* the file with line or offset, or the operator; empty if there is no such place */
  char text[512];  /* what is wrong and what was expected; never empty after a failure */
} situ_error;

/* The name of a status ("ok", "bad_input", ...); "unknown" for any other value. Static storage. */
SITU_API const char *situ_status_name(situ_status status);

#ifdef __cplusplus
}
#endif
#endif
