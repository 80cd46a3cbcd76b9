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

#define NO_SYNC \
  { 0, 0, 0, 0 }
#define LLAMACPP_SYNC \
  { 75000, 150000, 300000, 150000 }

static const cost_engine engines[] = {
    {"generic", "a fusing engine with the launch overhead of the device", "generic", 1.0, 1.0, false, SITU_OVERLAP_FULL,
     NO_SYNC, false, 0, 0, 15000},
    {"accelerate", "PyTorch by a device_map of accelerate: what is on the CPU streams to a GPU", "none", 6.0, 0.7,
     false, SITU_OVERLAP_NONE, NO_SYNC, false, 0.5, 0, 15000},
    {"eager", "PyTorch, operator by operator", "none", 6.0, 0.7, false, SITU_OVERLAP_HOST_BLOCKING, NO_SYNC, false, 0,
     0, 15000},
    {"llama.cpp", "llama.cpp, and tools built on it", "none", 1.0, 1.0, true, SITU_OVERLAP_NONE, LLAMACPP_SYNC, true, 0,
     0.8, 15000},
    {"onnxruntime", "ONNX Runtime", "onnxruntime", 1.2, 0.7, false, SITU_OVERLAP_HOST_BLOCKING, NO_SYNC, false, 0, 0,
     15000},
    {"openvino", "OpenVINO", "openvino", 1.0, 1.0, false, SITU_OVERLAP_NONE, NO_SYNC, false, 0, 0, 15000},
    {"pytorch", "same as eager", "none", 6.0, 0.7, false, SITU_OVERLAP_HOST_BLOCKING, NO_SYNC, false, 0, 0, 15000},
    {"tensorflow", "TensorFlow 1, operator by operator", "none", 4.0, 0.4, false, SITU_OVERLAP_FULL, NO_SYNC, false, 0,
     0, 15000},
    {"tensorrt", "TensorRT", "tensorrt", 0.7, 1.0, false, SITU_OVERLAP_HOST_BLOCKING, NO_SYNC, false, 0, 0, 15000},
    {"torchscript", "PyTorch, compiled by torch.jit", "none", 2.0, 1.0, false, SITU_OVERLAP_HOST_BLOCKING, NO_SYNC,
     false, 0, 0, 15000},
    {"xla", "TensorFlow 2, compiled by XLA", "generic", 4.0, 0.5, false, SITU_OVERLAP_FULL, NO_SYNC, false, 0, 0,
     15000},
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
