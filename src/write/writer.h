/* write/writer.h - writers. Each is one file with one const struct, listed in write/writers.c. */
#ifndef SITU_WRITE_WRITER_H
#define SITU_WRITE_WRITER_H

#include "base/text.h"
#include "plan/layer_plan.h"
#include "situ/write.h"
#include "split/model_file.h"

/* What a text in a format says besides the placement. */
typedef struct plan_request {
  const char *model;        /* a path, or NULL */
  int64_t context;          /* tokens of each stream; 0: not said */
  int64_t streams;          /* 0: not said */
  int64_t micro_batch;      /* tokens of a prompt at once; 0: not said */
  int64_t prompt, generate; /* tokens of each stream; 0: not said */
  const char *kv_type;      /* NULL: not said */
  bool trained;             /* the context is that which the model was trained for */
  int64_t group;            /* devices that split operators; 0: all of a machine, 1: none do */
  const char *shares;       /* of them, "3,1"; NULL: equal ones */
  bool hosts_alone;         /* the program uses no accelerator, not even for what hosts have */
  int64_t beside_bytes;     /* on the first accelerator, of what is loaded beside the model */
  double unused_share;      /* of every memory, by the program's own limit; 0: none */
  const char *notes;        /* what was not understood or is not modelled, a line each; "" */
} plan_request;

/* The inverse of a writer: what a text in its format means. */
typedef struct plan_reading {
  const char *marks; /* words, separated by blanks, of which such a text contains one */
  /* May be NULL: the text says nothing but the placement. Texts in the arena. */
  situ_status (*request)(plan_request *out, const char *text, arena *a, situ_error *error);
  /* The device of each operator, [operator]. BAD_INPUT where the text is malformed or names what is not there. */
  situ_status (*devices)(int32_t *device, const situ_problem *problem, const char *text, situ_error *error);
  /* The same for placements that stand in the file of the model; NULL: they do not. */
  situ_status (*model_devices)(int32_t *device, const situ_problem *problem, const char *text, const char *model,
                               situ_error *error);
} plan_reading;

typedef struct writer {
  const char *name, *title, *suffix;
  /* Adds the plan, which has a placement, to `out`. Running out of memory for text is seen by the caller. */
  situ_status (*write)(text_buffer *out, const situ_plan *plan, situ_error *error);
  /* The same of a plan by layers, in the form of the row, which is found first; `target` is who asks for it, in
   * messages. */
  const char *target;
  situ_status (*write_layers)(text_buffer *out, const layer_plan *l, const situ_plan *plan, situ_error *error);
  /* The same for formats of several files, made from the model; of the three two are NULL. */
  situ_status (*write_folder)(const char *folder, const situ_plan *plan, const char *model, situ_error *error);
  const model_format *format;    /* of that model; NULL: ONNX */
  const model_format *or_format; /* another one that it may have, or NULL */
  int32_t form;                  /* of the plans that its target can run: situ_form, 0 for any */
  bool groups;                   /* its target can split operators over groups of devices */
  bool shares;                   /* of unequal shares too */
  /* May be NULL. UNSUPPORTED where no plan of the problem can be written, which is known before the search. */
  situ_status (*serves)(const situ_problem *problem, situ_error *error);
  const plan_reading *reading; /* NULL: not read back */
  const char *engine;          /* what runs what it writes, as costs know it; NULL: as the model says */
} writer;

/* The table of writers: one file that exports NAME_writer, and one line here. */
#define WRITER_ROWS(ROW)     \
  ROW(trace)                 \
  ROW(csv)                   \
  ROW(dot)                   \
  ROW(split)                 \
  ROW(llamacpp)              \
  ROW(llamacpp_bench)        \
  ROW(vllm)                  \
  ROW(device_map)            \
  ROW(exo)                   \
  ROW(onnx_parts)            \
  ROW(openvino_parts)        \
  ROW(onnx_multidevice)      \
  ROW(ort_annotation)        \
  ROW(ort_names)             \
  ROW(openvino_affinity)     \
  ROW(torch_pipelining)      \
  ROW(torch_tensor_parallel) \
  ROW(torchtitan)            \
  ROW(megatron)              \
  ROW(iree)
/* Those that are read back. */
extern const plan_reading llamacpp_reading, vllm_reading, exo_reading, torch_pipelining_reading, device_map_reading,
    torchtitan_reading, megatron_reading, ort_names_reading, openvino_affinity_reading, ort_annotation_reading,
    onnx_multidevice_reading, csv_reading;
#define WRITER_DECLARE(NAME) extern const writer NAME##_writer;
WRITER_ROWS(WRITER_DECLARE)

/* The same as situ_write, to a file, completely or not at all. */
situ_status writer_write_file(const writer *w, const situ_plan *plan, const char *path, situ_error *error);

/* The row of that name, of a plan of the problem that has a placement; BAD_ARGUMENT otherwise. */
situ_status writer_find(const writer **out, const char *name, const situ_plan *plan, situ_error *error);

/* The engine of the first of these writers that has one, or NULL. */
const char *writer_engine(const char *const *names, int32_t n);

/* The row whose format a text has, or that of the name; one that is read back. BAD_ARGUMENT otherwise. */
situ_status writer_of_text(const writer **out, const char *name, const char *text, situ_error *error);

/* Whether the writer can write any plan of the problem, whose model was read from `path`: UNSUPPORTED if not,
 * BAD_ARGUMENT if there is no such writer. Can be decided before the search. */
situ_status writer_serves(const writer **out, const char *name, const situ_problem *problem, const char *reader,
                          const char *path, situ_error *error);

#endif
