#include "cuda/lt_product.h"

#include <array>
#include <list>
#include <map>
#include <memory>

#include <halfbridge/error.h>

#include "core/cuda_settings.h"
#include "cuda/scratch.h"
#include "cuda/streams.h"

namespace hb::cuda {

uint32_t alignment(const void* data) {
  const auto low = reinterpret_cast<uintptr_t>(data) & 255;
  return low == 0 ? 256 : static_cast<uint32_t>(low & -low);
}

namespace {

thread_local int guarded_tf32 = -1;  // -1: as the settings say
bool rounds_to_tf32() { return guarded_tf32 < 0 ? cuda_settings().cublas_tf32.load() : guarded_tf32 == 1; }

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
      return {CUDA_R_32F, CUDA_R_32F, rounds_to_tf32() ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F};
  }
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
cublasLtMatrixLayout_t layout_of(cudaDataType_t type, const LtOperand& o, int64_t batch) {
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

void set_addresses(Plan& plan, const LtProduct& p) {
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
bool choose_algorithm(Plan& plan, const LtProduct& p) {
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

std::shared_ptr<Plan> make_plan(const LtProduct& p) {
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

Key key_of(const LtProduct& p) {
  const auto flags = (rounds_to_tf32() ? 1 : 0) | (cuda_settings().cublas_fp16_reduction ? 2 : 0) |
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
  Plan& find(const LtProduct& p) {
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

}  // namespace

Tf32Guard::Tf32Guard(bool allowed) : before_(guarded_tf32) { guarded_tf32 = allowed ? 1 : 0; }
Tf32Guard::~Tf32Guard() { guarded_tf32 = before_; }

bool has_algorithm(const LtProduct& p) { return plans().find(p).usable; }

bool multiply(const LtProduct& p, double alpha, double beta) {
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

}  // namespace hb::cuda
