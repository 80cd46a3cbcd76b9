/* Files that people take for models and situ does not read: what they are, and what to do. */
#include "base/ascii.h"
#include "read/reader.h"

static const char LFS[] = "is a pointer of Git LFS in place of the file; `git lfs pull` fetches it";
static const char WEB[] = "is a web page, as a failed download leaves behind; fetch the file again";
static const char ZIP[] =
    "is a zip archive, as PyTorch (.pt, .pth, .pt2, TorchScript) and Keras write; expected a model: load it in Python "
    "and place the module with situ.torch, or export it to ONNX";
static const char PICKLE[] =
    "is a pickle of Python, as old versions of torch.save write; expected a model: load it in Python and place the "
    "module with situ.torch, or export it to ONNX";
static const char KERAS[] = "is an HDF5 file, as Keras writes; expected a model: export it to ONNX or TFLite";
static const char NCNN[] = "is a network of ncnn; expected the ONNX file that it was made from";
static const char GGML[] =
    "is a GGML file of 2023; convert the original model to GGUF (llama.cpp's convert_hf_to_gguf.py)";
static const char GZIP[] = "is compressed with gzip; unpack it first";

static const struct foreign_format {
  const char *mark; /* the first bytes of the file; letters in any case */
  const char *advice;
} formats[] = {
    {"version https://git-lfs", LFS},
    {"<!doctype html", WEB},
    {"<html", WEB},
    {"PK\003\004", ZIP},
    {"\200\002", PICKLE},
    {"\200\003", PICKLE},
    {"\200\004", PICKLE},
    {"\211HDF\r\n", KERAS},
    {"7767517", NCNN},
    {"lmgg", GGML},
    {"fmgg", GGML},
    {"tjgg", GGML},
    {"\037\213", GZIP},
};

const char *read_no_model(const read_source *source) {
  static const size_t LONGEST = 32;
  if (!source->bytes) return NULL;
  read_need(source, source->bytes, source->size_bytes < LONGEST ? source->size_bytes : LONGEST);
  for (size_t k = 0; k < sizeof formats / sizeof *formats; k++) {
    size_t n = strlen(formats[k].mark);
    if (source->size_bytes >= n && ascii_same_n((const char *)source->bytes, formats[k].mark, n))
      return formats[k].advice;
  }
  return NULL;
}
