/* situ/write.h - writes plans in the formats of other tools. situ_plan_write (situ/instance.h) writes plan files.
 *
 * Any number of threads may write at once, to different files. Texts in info structs are static. */
#ifndef SITU_WRITE_H
#define SITU_WRITE_H

#include "situ/plan.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The table of writers. */
typedef struct situ_writer_info {
  size_t size;
  const char *name, *title;
  const char *suffix; /* ".json" */
  int32_t folder;     /* 1: it writes several files derived from the model; call it through situ_instance_export only.
                         Else 0 */
  int32_t form;       /* the form of the plans that its target can run: a sum of situ_form values (situ/plan.h), 0 for
                         any */
  const char *marks;  /* texts with one of these words are read back (situ/judge.h); NULL: this format is not */
} situ_writer_info;
#define SITU_WRITER_INFO_INIT SITU_SIZED(situ_writer_info)
SITU_API int32_t situ_writer_count(void);
/* Row `index`; false when there is none. */
SITU_API bool situ_writer_at(int32_t index, situ_writer_info *out);

/* Writes a plan as text; free *out with situ_text_free. BAD_ARGUMENT if there is no such writer or the plan has no
 * placement; UNSUPPORTED if the format cannot represent the plan. */
SITU_API situ_status situ_write(char **out, const char *writer, const situ_plan *plan, situ_error *error);

#ifdef __cplusplus
}
#endif
#endif
