/* write/writer.h - writers. Each is one file with one const struct, listed in write/writers.c. */
#ifndef SITU_WRITE_WRITER_H
#define SITU_WRITE_WRITER_H

#include "base/text.h"
#include "plan/plan.h"
#include "situ/write.h"
#include "split/model_file.h"

typedef struct writer {
  const char *name, *title, *suffix;
  /* Adds the plan, which has a placement, to `out`. Running out of memory for text is seen by the caller. */
  situ_status (*write)(text_buffer *out, const situ_plan *plan, situ_error *error);
  /* The same for formats of several files, made from the model; one of the two is NULL. */
  situ_status (*write_folder)(const char *folder, const situ_plan *plan, const char *model, situ_error *error);
  const model_format *format; /* of that model; NULL: ONNX */
  int32_t form;               /* of the plans that its target can run: situ_form, 0 for any */
  bool groups;                /* its target can split operators over groups of devices */
  /* May be NULL. UNSUPPORTED where no plan of the problem can be written, which is known before the search. */
  situ_status (*serves)(const situ_problem *problem, situ_error *error);
} writer;

/* The table of writers: one file that exports NAME_writer, and one line here. */
#define WRITER_ROWS(ROW) \
  ROW(trace)             \
  ROW(csv)               \
  ROW(dot)               \
  ROW(split)             \
  ROW(llamacpp)          \
  ROW(llamacpp_bench)    \
  ROW(vllm)              \
  ROW(device_map)        \
  ROW(exo)               \
  ROW(onnx_parts)        \
  ROW(openvino_parts)    \
  ROW(onnx_multidevice)  \
  ROW(ort_annotation)    \
  ROW(ort_names)         \
  ROW(openvino_affinity) \
  ROW(torch_pipelining)  \
  ROW(torchtitan)        \
  ROW(iree)
#define WRITER_DECLARE(NAME) extern const writer NAME##_writer;
WRITER_ROWS(WRITER_DECLARE)

/* The same as situ_write, to a file, completely or not at all. */
situ_status writer_write_file(const writer *w, const situ_plan *plan, const char *path, situ_error *error);

/* The row of that name, of a plan of the problem that has a placement; BAD_ARGUMENT otherwise. */
situ_status writer_find(const writer **out, const char *name, const situ_plan *plan, situ_error *error);

/* Whether the writer can write any plan of the problem, whose model was read from `path`: UNSUPPORTED if not,
 * BAD_ARGUMENT if there is no such writer. Can be decided before the search. */
situ_status writer_serves(const writer **out, const char *name, const situ_problem *problem, const char *reader,
                          const char *path, situ_error *error);

#endif
