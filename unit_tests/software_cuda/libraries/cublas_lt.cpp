// cuBLASLt's stand-in: interprets the descriptors that it is given, refuses what cuBLASLt would, and computes through
// the CPU back end.
#include "software_cuda/cublas_lt.h"

#include <algorithm>
#include <cstring>

#include "backend/gemm.h"
#include "formulas/activation_formulas.h"
#include "software_cuda/libraries/symbols.h"
#include "software_cuda/memory.h"
#include "software_cuda/queue.h"

struct cublasLtContext {};
struct cublasLtMatrixLayoutOpaque_t {
  cudaDataType_t type;
  int64_t rows, cols, ld;
  int32_t batch = 1;
  int64_t stride = 0;
};
struct cublasLtMatmulDescOpaque_t {
  cublasComputeType_t compute;
  cudaDataType_t scale;
  cublasOperation_t a = CUBLAS_OP_N, b = CUBLAS_OP_N;
  cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  const void* bias = nullptr;
  void* aux = nullptr;
  int64_t aux_ld = 0;
  bool has(int bits) const { return (epilogue & bits) == bits; }
};
struct cublasLtMatmulPreferenceOpaque_t {
  uint64_t most_workspace = 0;
  uint32_t alignment[4] = {256, 256, 256, 256};
};

namespace {

template <class T>
bool take(T& to, const void* value, size_t bytes) {
  if (bytes != sizeof(T)) return false;
  std::memcpy(&to, value, sizeof(T));
  return true;
}
cublasStatus_t status(bool good) { return good ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INVALID_VALUE; }

/// The workspace that an algorithm wants: its contents are spoilt by each call.
constexpr size_t kWorkspace = 1024;

bool fits(const cublasLtMatmulDescOpaque_t& desc, const cublasLtMatrixLayoutOpaque_t& a,
          const cublasLtMatrixLayoutOpaque_t& b, const cublasLtMatrixLayoutOpaque_t& c) {
  const auto rows = [](const auto& m, cublasOperation_t op) { return op == CUBLAS_OP_N ? m.rows : m.cols; };
  const auto cols = [](const auto& m, cublasOperation_t op) { return op == CUBLAS_OP_N ? m.cols : m.rows; };
  const bool sizes = rows(a, desc.a) == c.rows && cols(b, desc.b) == c.cols && cols(a, desc.a) == rows(b, desc.b);
  const bool types = a.type == b.type && a.type == c.type;
  const bool wide = a.type == CUDA_R_64F, computed = (desc.compute == CUBLAS_COMPUTE_64F) == wide;
  const bool tf32 = desc.compute != CUBLAS_COMPUTE_32F_FAST_TF32 || a.type == CUDA_R_32F;
  bool dense = true;
  for (const auto* m : {&a, &b, &c}) dense = dense && m->ld >= m->rows && m->rows > 0 && m->cols > 0;
  // Results may lie one behind the other, or side by side in the rows of a wider matrix, as heads do.
  const bool apart = c.batch == 1 || c.stride >= c.ld * (c.cols - 1) + c.rows ||
                     (c.stride >= c.rows && c.ld >= c.stride * (c.batch - 1) + c.rows);
  return sizes && types && computed && tf32 && dense && desc.scale == (wide ? CUDA_R_64F : CUDA_R_32F) &&
         a.batch == c.batch && b.batch == c.batch && apart;
}

hb::ScalarType dtype_of(cudaDataType_t type) {
  return type == CUDA_R_64F    ? hb::kDouble
         : type == CUDA_R_16F  ? hb::kHalf
         : type == CUDA_R_16BF ? hb::kBFloat16
                               : hb::kFloat;
}
// Columns of `layout` as rows of the transpose.
hb::GemmMatrix transposed(const void* data, const cublasLtMatrixLayoutOpaque_t& layout, cublasOperation_t op) {
  hb::GemmMatrix m;
  m.data = const_cast<void*>(data);
  m.row = op == CUBLAS_OP_N ? layout.ld : 1, m.col = op == CUBLAS_OP_N ? 1 : layout.ld;
  m.batch[1] = layout.stride;
  return m;
}

/// Gradients of biases are summed along k where it is the outer dimension of memory, for one matrix of floats or
/// halves; what stands beside a result has rows as long as the result's columns.
bool supported(const cublasLtMatmulDescOpaque_t& desc, const cublasLtMatrixLayoutOpaque_t& a,
               const cublasLtMatrixLayoutOpaque_t& d) {
  if (desc.has(CUBLASLT_EPILOGUE_BIAS) && !desc.bias) return false;
  if (desc.epilogue == CUBLASLT_EPILOGUE_DEFAULT || desc.epilogue == CUBLASLT_EPILOGUE_BIAS) return true;
  if (a.batch != 1 || a.type == CUDA_R_64F) return false;
  switch (desc.epilogue) {
    case CUBLASLT_EPILOGUE_RELU:
    case CUBLASLT_EPILOGUE_RELU_BIAS:
      return true;
    case CUBLASLT_EPILOGUE_RELU_AUX:
    case CUBLASLT_EPILOGUE_RELU_AUX_BIAS:
    case CUBLASLT_EPILOGUE_DRELU:
      return desc.aux && desc.aux_ld % 128 == 0 && desc.aux_ld >= d.rows;
    case CUBLASLT_EPILOGUE_GELU_AUX:
    case CUBLASLT_EPILOGUE_GELU_AUX_BIAS:
    case CUBLASLT_EPILOGUE_DGELU:
      return desc.aux && desc.aux_ld % 8 == 0 && desc.aux_ld >= d.rows;
    default:
      break;
  }
  if (!desc.bias) return false;
  return desc.epilogue == CUBLASLT_EPILOGUE_BGRADA   ? desc.a == CUBLAS_OP_N
         : desc.epilogue == CUBLASLT_EPILOGUE_BGRADB ? desc.b == CUBLAS_OP_T
                                                     : false;
}

template <class T>
float as_float(T x) {
  return static_cast<float>(x);
}
/// What an epilogue does with each element of a result that the product has written, already rounded.
template <class T>
void finish(const cublasLtMatmulDescOpaque_t& desc, const cublasLtMatrixLayoutOpaque_t& d, T* result) {
  auto* const bits = static_cast<uint8_t*>(desc.aux);
  auto* const given = static_cast<T*>(desc.aux);
  for (int64_t c = 0; c < d.cols; ++c) {
    for (int64_t r = 0; r < d.rows; ++r) {
      T& x = result[c * d.ld + r];
      const int64_t bit = c * desc.aux_ld + r, at = c * desc.aux_ld + r;
      const auto mask = static_cast<uint8_t>(1u << (bit % 8));
      if (desc.has(CUBLASLT_EPILOGUE_DRELU)) {
        if (!(bits[bit / 8] & mask)) x = T(0.0f);
      } else if (desc.has(CUBLASLT_EPILOGUE_DGELU)) {
        x = T(hb::formula::gelu_tanh_backward::apply<float>(nullptr, as_float(x), as_float(given[at])));
      } else if (desc.has(CUBLASLT_EPILOGUE_GELU_AUX)) {
        given[at] = x;
        x = T(hb::formula::gelu_tanh::apply<float>(nullptr, as_float(x)));
      } else {
        const bool positive = !(as_float(x) <= 0);
        if (desc.has(CUBLASLT_EPILOGUE_RELU_AUX))
          bits[bit / 8] = positive ? bits[bit / 8] | mask : bits[bit / 8] & ~mask;
        if (as_float(x) < 0) x = T(0.0f);
      }
    }
  }
}
void finish_as(hb::ScalarType dtype, const cublasLtMatmulDescOpaque_t& desc, const cublasLtMatrixLayoutOpaque_t& d,
               void* result) {
  constexpr int kElementwise = CUBLASLT_EPILOGUE_RELU | (CUBLASLT_EPILOGUE_DRELU & 127) |
                               (CUBLASLT_EPILOGUE_GELU_AUX & 127) | (CUBLASLT_EPILOGUE_DGELU & 127);
  if (!(desc.epilogue & kElementwise)) return;
  if (dtype == hb::kHalf) return finish(desc, d, static_cast<hb::Half*>(result));
  if (dtype == hb::kBFloat16) return finish(desc, d, static_cast<hb::BFloat16*>(result));
  finish(desc, d, static_cast<float*>(result));
}

bool aligned(const void* pointer, uint64_t to) { return reinterpret_cast<uintptr_t>(pointer) % to == 0; }

}  // namespace

extern "C" {

cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle) {
  static cublasLtContext context;
  *handle = &context;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* desc, cublasComputeType_t compute, cudaDataType_t scale) {
  *desc = new cublasLtMatmulDescOpaque_t{compute, scale};
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t desc) { return delete desc, CUBLAS_STATUS_SUCCESS; }
cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t desc, cublasLtMatmulDescAttributes_t attribute,
                                              const void* value, size_t bytes) {
  switch (attribute) {
    case CUBLASLT_MATMUL_DESC_TRANSA:
      return status(take(desc->a, value, bytes));
    case CUBLASLT_MATMUL_DESC_TRANSB:
      return status(take(desc->b, value, bytes));
    case CUBLASLT_MATMUL_DESC_EPILOGUE:
      return status(take(desc->epilogue, value, bytes));
    case CUBLASLT_MATMUL_DESC_BIAS_POINTER:
      return status(take(desc->bias, value, bytes));
    case CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER:
      return status(take(desc->aux, value, bytes));
    case CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD:
      return status(take(desc->aux_ld, value, bytes));
  }
  return CUBLAS_STATUS_INVALID_VALUE;
}

cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* layout, cudaDataType_t type, uint64_t rows,
                                          uint64_t cols, int64_t ld) {
  *layout = new cublasLtMatrixLayoutOpaque_t{type, static_cast<int64_t>(rows), static_cast<int64_t>(cols), ld};
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout) {
  return delete layout, CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t layout,
                                                cublasLtMatrixLayoutAttribute_t attribute, const void* value,
                                                size_t bytes) {
  if (attribute == CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT) return status(take(layout->batch, value, bytes));
  return status(take(layout->stride, value, bytes));
}

cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t* wish) {
  *wish = new cublasLtMatmulPreferenceOpaque_t;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t wish) {
  return delete wish, CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t wish,
                                                    cublasLtMatmulPreferenceAttributes_t attribute, const void* value,
                                                    size_t bytes) {
  if (attribute == CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES) return status(take(wish->most_workspace, value, bytes));
  if (attribute == CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK) return status(bytes == sizeof(uint32_t));
  return status(take(wish->alignment[attribute - CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES], value, bytes));
}

// The algorithm carries what was promised, to be held against what is then given.
cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t, cublasLtMatmulDesc_t desc, cublasLtMatrixLayout_t a,
                                              cublasLtMatrixLayout_t b, cublasLtMatrixLayout_t c,
                                              cublasLtMatrixLayout_t d, cublasLtMatmulPreference_t wish, int wanted,
                                              cublasLtMatmulHeuristicResult_t* results, int* found) {
  *found = 0;
  if (wanted < 1 || !fits(*desc, *a, *b, *c) || !fits(*desc, *a, *b, *d)) return CUBLAS_STATUS_INVALID_VALUE;
  if (!supported(*desc, *a, *d)) return CUBLAS_STATUS_NOT_SUPPORTED;
  *results = {};
  for (int i = 0; i < 4; ++i) results->algo.data[i] = wish->alignment[i];
  results->workspaceSize = std::min<size_t>(kWorkspace, wish->most_workspace);
  results->algo.data[4] = results->workspaceSize;
  *found = 1;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t, cublasLtMatmulDesc_t desc, const void* alpha, const void* a,
                              cublasLtMatrixLayout_t a_layout, const void* b, cublasLtMatrixLayout_t b_layout,
                              const void* beta, const void* c, cublasLtMatrixLayout_t c_layout, void* d,
                              cublasLtMatrixLayout_t d_layout, const cublasLtMatmulAlgo_t* algo, void* workspace,
                              size_t workspace_bytes, cudaStream_t stream) {
  const void* const pointers[] = {a, b, c, d};
  for (int i = 0; i < 4; ++i)
    if (!aligned(pointers[i], algo->data[i])) return CUBLAS_STATUS_INVALID_VALUE;
  if (workspace_bytes < algo->data[4] || !fits(*desc, *a_layout, *b_layout, *d_layout) || c != d)
    return CUBLAS_STATUS_INVALID_VALUE;
  if (!aligned(desc->aux, 16)) return CUBLAS_STATUS_INVALID_VALUE;
  if (!supported(*desc, *a_layout, *d_layout)) return CUBLAS_STATUS_NOT_SUPPORTED;
  const bool biased = desc->has(CUBLASLT_EPILOGUE_BIAS);
  hb::Gemm g;
  g.dtype = dtype_of(d_layout->type);
  g.batch[1] = d_layout->batch;
  g.m = d_layout->cols, g.n = d_layout->rows, g.k = desc->a == CUBLAS_OP_N ? a_layout->cols : a_layout->rows;
  g.a = transposed(b, *b_layout, desc->b), g.b = transposed(a, *a_layout, desc->a);
  g.c = transposed(d, *d_layout, CUBLAS_OP_N);
  g.bias = biased ? desc->bias : nullptr;
  const auto number = [&](const void* p) {
    return desc->scale == CUDA_R_64F ? *static_cast<const double*>(p) : double{*static_cast<const float*>(p)};
  };
  g.alpha = number(alpha), g.beta = number(beta);
  (void)c_layout;
  const bool sums_of_a = desc->epilogue == CUBLASLT_EPILOGUE_BGRADA,
             sums_of_b = desc->epilogue == CUBLASLT_EPILOGUE_BGRADB;
  void* const sums = const_cast<void*>(desc->bias);
  const auto wanted = *desc;  // its addresses may be others when this runs
  const auto result = *d_layout;
  software_cuda::enqueue_library_call(stream, "cublasLtMatmul", [=] {
    if (workspace_bytes) software_cuda::fill_garbage(workspace, workspace_bytes);
    hb::gemm_kernel(hb::kCPU)(g);
    finish_as(g.dtype, wanted, result, d);
    // Of the transposes: cuBLASLt's a is our b, whose columns are summed, its b is our a, whose rows are.
    if (sums_of_a) hb::column_sum_kernel(hb::kCPU)(g.dtype, sums, g.b.data, g.k, g.n, g.b.row);
    if (sums_of_b) hb::column_sum_kernel(hb::kCPU)(g.dtype, sums, g.a.data, g.k, g.m, g.a.col);
  });
  return CUBLAS_STATUS_SUCCESS;
}

}  // extern "C"

SOFTWARE_CUDA_SYMBOL(cublasLtCreate);
SOFTWARE_CUDA_SYMBOL(cublasLtMatmulDescCreate);
SOFTWARE_CUDA_SYMBOL(cublasLtMatmulDescDestroy);
SOFTWARE_CUDA_SYMBOL(cublasLtMatmulDescSetAttribute);
SOFTWARE_CUDA_SYMBOL(cublasLtMatrixLayoutCreate);
SOFTWARE_CUDA_SYMBOL(cublasLtMatrixLayoutDestroy);
SOFTWARE_CUDA_SYMBOL(cublasLtMatrixLayoutSetAttribute);
SOFTWARE_CUDA_SYMBOL(cublasLtMatmulPreferenceCreate);
SOFTWARE_CUDA_SYMBOL(cublasLtMatmulPreferenceDestroy);
SOFTWARE_CUDA_SYMBOL(cublasLtMatmulPreferenceSetAttribute);
SOFTWARE_CUDA_SYMBOL(cublasLtMatmulAlgoGetHeuristic);
SOFTWARE_CUDA_SYMBOL(cublasLtMatmul);
