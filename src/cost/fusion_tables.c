/* The tables of fusion: kinds, profiles, engines. Sources: docs/theory/models/fusion.md. */
#include <string.h>

#include "cost/fusion.h"
#include "situ/costs.h"

enum {
  FUSE_ALL = FUSE_FREE | FUSE_BIAS | FUSE_CONV | FUSE_MATMUL | FUSE_NORM | FUSE_CHAIN | FUSE_RESIDUAL | FUSE_DIAMOND |
             FUSE_ATTENTION | FUSE_LAYOUT | FUSE_QDQ,
  FUSE_ORT_CUDA = FUSE_FREE | FUSE_BIAS | FUSE_DIAMOND | FUSE_ATTENTION | FUSE_LAYOUT,
  FUSE_ORT_CPU = FUSE_ORT_CUDA | FUSE_CONV | FUSE_MATMUL | FUSE_RESIDUAL | FUSE_QDQ
};

static const fusion_profile profiles[] = {
    {"generic", "fusions that most engines share; the default", FUSE_ALL},
    {"none", "no fusion: every operator is a separate kernel", 0},
    {"onnxruntime", "ONNX Runtime on a CPU, all optimisations", FUSE_ORT_CPU},
    {"openvino", "OpenVINO", FUSE_ALL & ~FUSE_ATTENTION},
    {"ort-cpu", "same as onnxruntime", FUSE_ORT_CPU},
    {"ort-cuda", "ONNX Runtime on CUDA: activations stay separate kernels", FUSE_ORT_CUDA},
    {"tensorrt", "TensorRT", FUSE_ALL},
};

#define PYTORCH .fusion = "none", .launch = 2, .language_kernels = 3, .narrow = 0.7, .tf32 = true

#define LLAMA_CPP                                                                              \
  .fusion = "none", .launch = 1, .narrow = 1, .own_rates = true, .overlap = SITU_OVERLAP_NONE, \
  .sync = {75000, 150000, 300000, 150000}, .central = true, .offloaded = 0.8

/* Fields that are not named are none. */
static const cost_engine engines[] = {
    {.name = "generic",
     .title = "a fusing engine with the launch overhead of the device",
     .fusion = "generic",
     .launch = 1,
     .narrow = 1,
     .overlap = SITU_OVERLAP_FULL},
    {.name = "accelerate",
     .title = "PyTorch by a device_map of accelerate: what is on the CPU streams to a GPU",
     PYTORCH,
     .overlap = SITU_OVERLAP_NONE,
     .streamed = 1},
    {.name = "eager", .title = "PyTorch, operator by operator", PYTORCH, .overlap = SITU_OVERLAP_HOST_BLOCKING},
    {.name = "ik_llama.cpp",
     .title = "ik_llama.cpp: faster products on GPUs, most of all those of experts",
     LLAMA_CPP,
     .narrow_sums = true,
     .products = 1.3,
     .experts = 1.9},
    {.name = "llama.cpp", .title = "llama.cpp, and tools built on it", LLAMA_CPP, .products = 1, .experts = 1},
    {.name = "onnxruntime",
     .title = "ONNX Runtime",
     .fusion = "onnxruntime",
     .launch = 1.2,
     .narrow = 0.7,
     .overlap = SITU_OVERLAP_HOST_BLOCKING},
    {.name = "openvino",
     .title = "OpenVINO",
     .fusion = "openvino",
     .launch = 1,
     .narrow = 1,
     .overlap = SITU_OVERLAP_NONE},
    {.name = "pytorch", .title = "same as eager", PYTORCH, .overlap = SITU_OVERLAP_HOST_BLOCKING},
    {.name = "tensorflow",
     .title = "TensorFlow 1, operator by operator",
     .fusion = "none",
     .launch = 4,
     .narrow = 0.4,
     .overlap = SITU_OVERLAP_FULL},
    {.name = "tensorrt",
     .title = "TensorRT",
     .fusion = "tensorrt",
     .launch = 0.7,
     .narrow = 1,
     .overlap = SITU_OVERLAP_HOST_BLOCKING},
    {.name = "torchscript",
     .title = "PyTorch, compiled by torch.jit",
     .fusion = "none",
     .launch = 2,
     .narrow = 1,
     .overlap = SITU_OVERLAP_HOST_BLOCKING},
    {.name = "xla",
     .title = "TensorFlow 2, compiled by XLA",
     .fusion = "generic",
     .launch = 4,
     .narrow = 0.5,
     .overlap = SITU_OVERLAP_FULL},
};

#define COUNT(rows) ((int32_t)(sizeof(rows) / sizeof(rows)[0]))

const fusion_profile *fusion_profile_find(const char *name) {
  if (!name) return &profiles[0];
  for (int32_t i = 0; i < COUNT(profiles); i++)
    if (strcmp(profiles[i].name, name) == 0) return &profiles[i];
  return NULL;
}

const cost_engine *cost_engine_find(const char *name) {
  if (!name) return &engines[0];
  for (int32_t i = 0; i < COUNT(engines); i++)
    if (strcmp(engines[i].name, name) == 0) return &engines[i];
  return NULL;
}

const char *situ_fusion_profile_at(int32_t index) {
  return index >= 0 && index < COUNT(profiles) ? profiles[index].name : NULL;
}

const char *situ_overlap_name(situ_overlap o) {
  static const char *const names[] = {"default", "full", "host-blocking", "none"};
  return (unsigned)o < 4 ? names[o] : "unknown";
}

const char *situ_cost_engine_at(int32_t index) {
  return index >= 0 && index < COUNT(engines) ? engines[index].name : NULL;
}

/* The kinds of a class, each with a space before and after it. */
static const struct {
  fusion_class class;
  const char *kinds;
} classes[] = {
    {FUSION_CONV,
     " Conv ConvTranspose ConvInteger QLinearConv DeformConv FusedConv NhwcConv NhwcFusedConv "
     "BinaryConvolution Convolution ConvolutionBackpropData Deconvolution GroupConvolution "
     "GroupConvolutionBackpropData "},
    {FUSION_MATMUL,
     " MatMul ExpertsMatMul Gemm FullyConnected FusedGemm FusedMatMul TransposeMatMul FusedMatMulActivation "
     "GemmFastGelu GemmFloat8 MatMulBnb4 MatMulFpQ4 MatMulInteger MatMulIntegerToFloat MatMulNBits "
     "DynamicQuantizeMatMul QGemm QLinearMatMul "},
    {FUSION_POOL,
     " AveragePool AvgPool MaxPool Pooling GlobalAveragePool GlobalMaxPool AdaptiveAvgPool "
     "AdaptiveMaxPool LRN Norm MVN NormalizeL2 LayerNormalization SimplifiedLayerNormalization "
     "RMSNormalization SkipLayerNormalization SkipSimplifiedLayerNormalization EmbedLayerNormalization "
     "InstanceNormalization GroupNormalization GroupNorm LpNormalization MeanVarianceNormalization "
     "Resize Interpolate "},
    {FUSION_SOFTMAX, " Softmax SoftMax "},
    {FUSION_REDUCE, " ReduceMean ReduceSum ReduceMax ReduceMin ReduceL1 ReduceL2 ReduceSumSquare ReduceProd "},
    {FUSION_EACH,
     " Relu ReLU LeakyRelu PRelu PReLU Elu Selu Celu Gelu FastGelu QuickGelu Sigmoid HardSigmoid HSigmoid "
     "HardSwish HSwish Swish Silu Mish Tanh Softplus SoftPlus Softsign SoftSign ThresholdedRelu Clip Clamp "
     "Erf Exp Log Sqrt Rsqrt Reciprocal Pow Power Abs Neg Negative Sign Floor Ceil Ceiling Round Sin Cos "
     "Not And Or Xor LogicalNot LogicalAnd LogicalOr LogicalXor Equal NotEqual Greater GreaterEqual "
     "GreaterOrEqual Less LessEqual LessOrEqual Where Select Cast CastLike Convert ConvertLike "
     "QuantizeLinear FakeQuantize FakeConvert Quant Dropout "},
    {FUSION_ADD,
     " Add Sub Mul Div Sum Mean Max Min Maximum Minimum Subtract Multiply Divide Eltwise "
     "SquaredDifference BiasGelu BiasAdd "},
    {FUSION_SCALE, " BatchNormalization BatchNormInference ScaleShift Affine ImageScaler "},
    {FUSION_DEQUANT, " DequantizeLinear "},
    {FUSION_LAYOUT, " Transpose Permute "},
    {FUSION_SHAPE, " Constant Const ConstantOfShape Shape ShapeOf Size "},
};

fusion_class fusion_class_of(const char *kind) {
  size_t n = strlen(kind);
  for (int32_t i = 0; n > 0 && i < COUNT(classes); i++)
    for (const char *at = strstr(classes[i].kinds, kind); at; at = strstr(at + 1, kind))
      if (at > classes[i].kinds && at[-1] == ' ' && at[n] == ' ') return classes[i].class;
  return FUSION_NONE;
}
