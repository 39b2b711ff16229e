// Products of matrices by cuBLASLt, whose matrices lie by columns: what lies by rows is its transpose, so that
// c^T = b^T a^T is asked for.
#include "backend/gemm_epilogue.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

#include <halfbridge/error.h>

#include "core/cuda_settings.h"
#include "cuda/cublas_lt.h"
#include "cuda/gemm.h"
#include "cuda/register.h"
#include "cuda/scratch.h"
#include "cuda/streams.h"

namespace hb::cuda {

const Library& cublas_lt() {
  static const auto* const library = new Library("cuBLASLt", {"libcublasLt.so.13", "libcublasLt.so.12"}, "cublas");
  return *library;
}
void fail_cublas(cublasStatus_t status, const char* call) {
  HB_CHECK(false, "[", current_function(), "] ", call, " failed with cuBLAS's status ", static_cast<int>(status));
  __builtin_unreachable();
}
cublasLtHandle_t cublas_lt_handle() {
  static std::mutex mutex;
  static auto& handles = *new std::map<DeviceIndex, cublasLtHandle_t>;
  const std::lock_guard lock(mutex);
  cublasLtHandle_t& handle = handles[current_device()];
  const Unrecorded guard;
  if (!handle) HB_CUBLAS_LT(cublasLtCreate, &handle);
  return handle;
}

namespace {

struct Types {
  cudaDataType_t data, scale;
  cublasComputeType_t compute;
};
Types types_of(ScalarType dtype) {
  switch (dtype) {
    case kDouble:
      return {CUDA_R_64F, CUDA_R_64F, CUBLAS_COMPUTE_64F};
    case kHalf:
      return {CUDA_R_16F, CUDA_R_32F, CUBLAS_COMPUTE_32F};
    case kBFloat16:
      return {CUDA_R_16BF, CUDA_R_32F, CUBLAS_COMPUTE_32F};
    default:
      HB_CHECK(dtype == kFloat, "[", current_function(), "] expected a floating dtype, got ", dtype);
      return {CUDA_R_32F, CUDA_R_32F, cuda_settings().cublas_tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F};
  }
}

/// One operand as cuBLASLt sees it: columns of `rows` elements, `ld` apart.
struct Operand {
  void* data;
  int64_t rows, cols, ld, stride;
  bool transposed;
};
// m: (rows, cols) by rows, of which one stride is 1.
Operand transpose_of(const GemmMatrix& m, int64_t rows, int64_t cols, int64_t stride) {
  const bool by_rows = m.col == 1 && (m.row >= cols || rows == 1);
  if (by_rows) return {m.data, cols, rows, rows == 1 ? std::max<int64_t>(m.row, cols) : m.row, stride, false};
  return {m.data, rows, cols, cols == 1 ? std::max<int64_t>(m.col, rows) : m.col, stride, true};
}
bool is_dense(const GemmMatrix& m, int64_t rows, int64_t cols) {
  return (m.col == 1 && (m.row >= cols || rows == 1)) || (m.row == 1 && (m.col >= rows || cols == 1));
}

uint32_t alignment(const void* data) {
  const auto low = reinterpret_cast<uintptr_t>(data) & 255;
  return low == 0 ? 256 : static_cast<uint32_t>(low & -low);
}

/// What decides which algorithm is best.
using Key = std::array<int64_t, 25>;

struct Plan {
  cublasLtMatmulDesc_t product = nullptr;
  cublasLtMatrixLayout_t a = nullptr, b = nullptr, c = nullptr;
  cublasLtMatmulAlgo_t algorithm;
  size_t workspace = 0;
  bool usable = true;
  Plan() = default;
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;
  ~Plan() {
    if (product) HB_CUDA_SYMBOL(cublas_lt(), cublasLtMatmulDescDestroy)(product);
    for (auto layout : {a, b, c})
      if (layout) HB_CUDA_SYMBOL(cublas_lt(), cublasLtMatrixLayoutDestroy)(layout);
  }
};

template <class T>
void set(cublasLtMatmulDesc_t desc, cublasLtMatmulDescAttributes_t attribute, const T& value) {
  HB_CUBLAS_LT(cublasLtMatmulDescSetAttribute, desc, attribute, &value, sizeof value);
}
cublasLtMatrixLayout_t layout_of(cudaDataType_t type, const Operand& o, int64_t batch) {
  cublasLtMatrixLayout_t layout;
  HB_CUBLAS_LT(cublasLtMatrixLayoutCreate, &layout, type, static_cast<uint64_t>(o.rows), static_cast<uint64_t>(o.cols),
               o.ld);
  if (batch > 1) {
    const auto count = static_cast<int32_t>(batch);
    HB_CUBLAS_LT(cublasLtMatrixLayoutSetAttribute, layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &count, sizeof count);
    HB_CUBLAS_LT(cublasLtMatrixLayoutSetAttribute, layout, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &o.stride,
                 sizeof o.stride);
  }
  return layout;
}

/// c^T (n, m) = alpha b^T a^T + beta c^T, with something that is done beside: a plain or strided batch.
struct Product {
  ScalarType dtype;
  Operand b, a, c;
  int64_t batch;
  cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  const void* vector = nullptr;  // a bias that is read, or sums that are written
  void* beside = nullptr;        // what an epilogue reads or writes for each element
  int64_t beside_ld = 0;
};
void set_addresses(Plan& plan, const Product& p) {
  if (p.vector) set(plan.product, CUBLASLT_MATMUL_DESC_BIAS_POINTER, p.vector);
  if (p.beside) set(plan.product, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, p.beside);
}

// Sums of halves may be rounded between parts of k where the program allows it.
uint32_t reductions_allowed(ScalarType dtype) {
  const bool any = (dtype != kHalf || cuda_settings().cublas_fp16_reduction) &&
                   (dtype != kBFloat16 || cuda_settings().cublas_bf16_reduction);
  if (any) return CUBLASLT_REDUCTION_SCHEME_MASK;
  return CUBLASLT_REDUCTION_SCHEME_NONE | CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE;
}

/// False: cuBLASLt has none.
bool choose_algorithm(Plan& plan, const Product& p) {
  constexpr size_t kWorkspace = size_t{32} << 20;
  cublasLtMatmulPreference_t wish;
  HB_CUBLAS_LT(cublasLtMatmulPreferenceCreate, &wish);
  const std::unique_ptr<cublasLtMatmulPreferenceOpaque_t, void (*)(cublasLtMatmulPreference_t)> owner(
      wish, [](cublasLtMatmulPreference_t w) {
        HB_CUDA_SYMBOL(cublas_lt(), cublasLtMatmulPreferenceDestroy)
        (w);
      });
  const auto prefer = [&](cublasLtMatmulPreferenceAttributes_t attribute, const auto& value) {
    HB_CUBLAS_LT(cublasLtMatmulPreferenceSetAttribute, wish, attribute, &value, sizeof value);
  };
  prefer(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, kWorkspace);
  prefer(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, reductions_allowed(p.dtype));
  prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, alignment(p.b.data));
  prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, alignment(p.a.data));
  prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, alignment(p.c.data));
  prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, alignment(p.c.data));
  cublasLtMatmulHeuristicResult_t result{};
  int found = 0;
  const cublasStatus_t status = HB_CUDA_SYMBOL(cublas_lt(), cublasLtMatmulAlgoGetHeuristic)(
      cublas_lt_handle(), plan.product, plan.b, plan.a, plan.c, plan.c, wish, 1, &result, &found);
  if (status == CUBLAS_STATUS_NOT_SUPPORTED || (status == CUBLAS_STATUS_SUCCESS && found == 0)) return false;
  if (status == CUBLAS_STATUS_INVALID_VALUE && p.epilogue != CUBLASLT_EPILOGUE_DEFAULT) return false;
  if (status != CUBLAS_STATUS_SUCCESS) fail_cublas(status, "cublasLtMatmulAlgoGetHeuristic");
  plan.algorithm = result.algo;
  plan.workspace = result.workspaceSize;
  return true;
}

std::shared_ptr<Plan> make_plan(const Product& p) {
  const Types types = types_of(p.dtype);
  auto plan = std::make_shared<Plan>();
  HB_CUBLAS_LT(cublasLtMatmulDescCreate, &plan->product, types.compute, types.scale);
  set(plan->product, CUBLASLT_MATMUL_DESC_TRANSA, p.b.transposed ? CUBLAS_OP_T : CUBLAS_OP_N);
  set(plan->product, CUBLASLT_MATMUL_DESC_TRANSB, p.a.transposed ? CUBLAS_OP_T : CUBLAS_OP_N);
  set(plan->product, CUBLASLT_MATMUL_DESC_EPILOGUE, p.epilogue);
  if (p.beside) set(plan->product, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, p.beside_ld);
  set_addresses(*plan, p);
  plan->b = layout_of(types.data, p.b, p.batch);
  plan->a = layout_of(types.data, p.a, p.batch);
  plan->c = layout_of(types.data, p.c, p.batch);
  plan->usable = choose_algorithm(*plan, p);
  return plan;
}

Key key_of(const Product& p) {
  const auto flags = (cuda_settings().cublas_tf32 ? 1 : 0) | (cuda_settings().cublas_fp16_reduction ? 2 : 0) |
                     (cuda_settings().cublas_bf16_reduction ? 4 : 0);
  return {static_cast<int64_t>(p.dtype),
          current_device(),
          flags,
          p.batch,
          p.b.rows,
          p.b.cols,
          p.b.ld,
          p.b.stride,
          p.b.transposed,
          alignment(p.b.data),
          p.a.rows,
          p.a.cols,
          p.a.ld,
          p.a.stride,
          p.a.transposed,
          alignment(p.a.data),
          p.c.rows,
          p.c.cols,
          p.c.ld,
          p.c.stride,
          alignment(p.c.data),
          p.epilogue,
          p.beside_ld,
          p.beside ? alignment(p.beside) : 0,
          p.vector ? alignment(p.vector) : 0};
}

/// Plans of this thread, the last used first: a plan's descriptors hold addresses, which each call sets.
class Plans {
 public:
  Plan& find(const Product& p) {
    const Key key = key_of(p);
    if (const auto known = places_.find(key); known != places_.end()) {
      plans_.splice(plans_.begin(), plans_, known->second);
      Plan& plan = *plans_.front().second;
      if (plan.usable) set_addresses(plan, p);
      return plan;
    }
    constexpr size_t kMost = 1024;
    plans_.emplace_front(key, make_plan(p));
    places_[key] = plans_.begin();
    if (plans_.size() > kMost) {
      places_.erase(plans_.back().first);
      plans_.pop_back();
    }
    return *plans_.front().second;
  }

 private:
  std::list<std::pair<Key, std::shared_ptr<Plan>>> plans_;
  std::map<Key, std::list<std::pair<Key, std::shared_ptr<Plan>>>::iterator> places_;
};

Plans& plans() {
  thread_local auto* const made = new Plans;  // libraries may be gone when a thread's objects are destroyed
  return *made;
}

/// False, and nothing is done: cuBLASLt cannot do this epilogue for such operands.
bool multiply(const Product& p, double alpha, double beta) {
  Plan& plan = plans().find(p);
  if (!plan.usable) {
    HB_CHECK(p.epilogue != CUBLASLT_EPILOGUE_DEFAULT, "[", current_function(),
             "] cuBLASLt has no algorithm for this product of ", p.dtype);
    return false;
  }
  const float narrow[2] = {static_cast<float>(alpha), static_cast<float>(beta)};
  const bool wide = p.dtype == kDouble;
  const Scratch<char> workspace(static_cast<int64_t>(plan.workspace));
  HB_CUBLAS_LT(cublasLtMatmul, cublas_lt_handle(), plan.product, wide ? static_cast<const void*>(&alpha) : &narrow[0],
               p.b.data, plan.b, p.a.data, plan.a, wide ? static_cast<const void*>(&beta) : &narrow[1], p.c.data,
               plan.c, p.c.data, plan.c, &plan.algorithm, workspace.get(), plan.workspace, current_stream());
  return true;
}

/// A stack of two dimensions whose outer one goes on where the inner one ends, in all operands.
bool is_one_stack(const Gemm& g) {
  const auto goes_on = [&](const GemmMatrix& m) { return m.batch[0] == m.batch[1] * g.batch[1]; };
  return g.batch[0] == 1 || g.batch[1] == 1 || (goes_on(g.a) && goes_on(g.b) && goes_on(g.c));
}

Product product_of(const Gemm& g, int64_t batch, int which) {
  Product p{g.dtype, transpose_of(g.b, g.k, g.n, g.b.batch[which]), transpose_of(g.a, g.m, g.k, g.a.batch[which]),
            transpose_of(g.c, g.m, g.n, g.c.batch[which]), batch};
  if (g.bias) p.epilogue = CUBLASLT_EPILOGUE_BIAS, p.vector = g.bias;
  return p;
}
void multiply_stack(const Gemm& g, int64_t batch, int which) {
  Product p = product_of(g, batch, which);
  if (multiply(p, g.alpha, g.beta)) return;
  p.epilogue = CUBLASLT_EPILOGUE_DEFAULT, p.vector = nullptr;
  multiply(p, g.alpha, g.beta);
  Gemm stack = g;
  stack.batch[1 - which] = 1, stack.batch[which] = batch;
  add_bias_to_product(stack);
}

// The stride of a dimension of one element says nothing: it becomes one that cuBLASLt takes.
void settle_strides(GemmMatrix& m, int64_t rows, int64_t cols) {
  if (cols == 1 && m.row >= 1)
    m.col = 1;
  else if (rows == 1 && m.col >= 1)
    m.row = m.col == 1 ? cols : 1;
}

/// A copy whose rows are dense, where neither stride is 1; with one batch dimension or two.
GemmMatrix dense_copy(const Gemm& g, const GemmMatrix& m, int64_t rows, int64_t cols, void* memory) {
  gather_matrices(element_size(g.dtype), memory, m, g.batch, rows, cols);
  GemmMatrix copy;
  copy.data = memory;
  copy.row = cols, copy.col = 1;
  copy.batch[1] = rows * cols, copy.batch[0] = rows * cols * g.batch[1];
  return copy;
}

void gemm(const Gemm& asked) {
  if (asked.m * asked.n * asked.batch_count() == 0) return;
  if (asked.k == 0 || is_integral_type(asked.dtype, true)) return plain_gemm(asked);
  Gemm g = asked;
  settle_strides(g.a, g.m, g.k);
  settle_strides(g.b, g.k, g.n);
  const auto bytes = [&](bool needed, int64_t elements) {
    return needed ? elements * g.batch_count() * static_cast<int64_t>(element_size(g.dtype)) : 0;
  };
  const bool copy_a = !is_dense(g.a, g.m, g.k), copy_b = !is_dense(g.b, g.k, g.n);
  const Scratch<char> of_a(bytes(copy_a, g.m * g.k)), of_b(bytes(copy_b, g.k * g.n));
  if (copy_a) g.a = dense_copy(g, g.a, g.m, g.k, of_a.get());
  if (copy_b) g.b = dense_copy(g, g.b, g.k, g.n, of_b.get());
  if (is_one_stack(g)) return multiply_stack(g, g.batch_count(), g.batch[1] == 1 ? 0 : 1);
  const auto size = static_cast<int64_t>(element_size(g.dtype));
  for (int64_t i = 0; i < g.batch[0]; ++i) {
    Gemm part = g;
    for (GemmMatrix* m : {&part.a, &part.b, &part.c}) m->data = static_cast<char*>(m->data) + i * m->batch[0] * size;
    multiply_stack(part, g.batch[1], 1);
  }
}

/// Products that a call of cuBLASLt may do as they are, without copies.
bool is_direct(const Gemm& g) {
  const bool plain = g.k == 0 || g.m * g.n == 0 || is_integral_type(g.dtype, true);
  return !plain && g.batch_count() == 1 && is_dense(g.a, g.m, g.k) && is_dense(g.b, g.k, g.n);
}

/// In one call where cuBLASLt can; the operand that is summed has dense rows of k.
void gemm_and_sums(const Gemm& g, const SummedOperand& summed) {
  const GemmMatrix& m = summed.of_a ? g.a : g.b;
  if (is_direct(g) && g.dtype != kDouble) {
    Gemm settled = g;
    settle_strides(settled.a, g.m, g.k);
    settle_strides(settled.b, g.k, g.n);
    Product p = product_of(settled, 1, 0);
    p.epilogue = summed.of_a ? CUBLASLT_EPILOGUE_BGRADB : CUBLASLT_EPILOGUE_BGRADA;
    p.vector = summed.sums;
    if (multiply(p, g.alpha, g.beta)) return;
  }
  gemm(g);
  const int64_t stride = summed.of_a ? m.col : m.row;
  column_sum(g.dtype, summed.sums, m.data, g.k, summed.of_a ? g.m : g.n, stride);
}

cublasLtEpilogue_t with_bias(cublasLtEpilogue_t epilogue, const Gemm& g) {
  return g.bias ? static_cast<cublasLtEpilogue_t>(epilogue | CUBLASLT_EPILOGUE_BIAS) : epilogue;
}
/// Null where cuBLASLt cannot do it as it is.
std::optional<Product> product_with(const Gemm& asked, const GemmEpilogue& e) {
  if (!is_direct(asked) || (e.reads() && asked.bias)) return std::nullopt;
  if (e.beside && alignment(e.beside) < 16) return std::nullopt;
  Gemm g = asked;
  settle_strides(g.a, g.m, g.k);
  settle_strides(g.b, g.k, g.n);
  Product p = product_of(g, 1, 0);
  p.beside = e.beside, p.beside_ld = e.width;
  switch (e.kind) {
    case GemmEpilogue::Kind::relu:
      p.epilogue = with_bias(e.beside ? CUBLASLT_EPILOGUE_RELU_AUX : CUBLASLT_EPILOGUE_RELU, g);
      break;
    case GemmEpilogue::Kind::gelu:
      p.epilogue = with_bias(CUBLASLT_EPILOGUE_GELU_AUX, g);
      break;
    case GemmEpilogue::Kind::relu_gradient:
      p.epilogue = CUBLASLT_EPILOGUE_DRELU;
      break;
    case GemmEpilogue::Kind::gelu_gradient:
      p.epilogue = CUBLASLT_EPILOGUE_DGELU;
      break;
  }
  return p;
}
bool has_epilogue(const Device& device, const Gemm& g, const GemmEpilogue& e) {
  const OnDevice guard(device.index());
  const auto p = product_with(g, e);
  return p && plans().find(*p).usable;
}
void gemm_epilogue(const Gemm& g, const GemmEpilogue& e) {
  const auto p = product_with(g, e);
  HB_CHECK(p && multiply(*p, g.alpha, g.beta), "[", current_function(), "] cuBLASLt has no such product of ", g.dtype);
}

[[maybe_unused]] const bool query_is_there = (has_gemm_epilogue.store(has_epilogue, std::memory_order_release), true);
HB_REGISTER_CUDA(gemm_kernel, gemm);
HB_REGISTER_CUDA(gemm_and_sums_kernel, gemm_and_sums);
HB_REGISTER_CUDA(gemm_epilogue_kernel, gemm_epilogue);

}  // namespace
}  // namespace hb::cuda
