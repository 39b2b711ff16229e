// Convolutions by cuDNN. Tensors are channels-last, weights and their gradients too.
#include "backend/conv.h"

#include <array>
#include <map>
#include <memory>
#include <vector>

#include "backend/gemm.h"
#include "core/cuda_settings.h"
#include "cuda/cudnn.h"
#include "cuda/register.h"
#include "cuda/scratch.h"

namespace hb::cuda {

const Library& cudnn() {
  static const auto* const library = new Library("cuDNN 9", {"libcudnn.so.9"}, "cudnn");
  return *library;
}
void fail_cudnn(cudnnStatus_t status, const char* call) {
  HB_CHECK(false, "[", current_function(), "] ", call, " failed with cuDNN's status ", static_cast<int>(status));
  __builtin_unreachable();
}
cudnnHandle_t cudnn_handle() {
  thread_local auto* const handles = new std::map<DeviceIndex, cudnnHandle_t>;  // cuDNN may end before the thread
  cudnnHandle_t& handle = (*handles)[current_device()];
  if (!handle) HB_CUDNN(cudnnCreate, &handle);
  HB_CUDNN(cudnnSetStream, handle, current_stream());
  return handle;
}

cudnnDataType_t cudnn_type(ScalarType dtype) {
  switch (dtype) {
    case kDouble:
      return CUDNN_DATA_DOUBLE;
    case kHalf:
      return CUDNN_DATA_HALF;
    case kBFloat16:
      return CUDNN_DATA_BFLOAT16;
    default:
      return CUDNN_DATA_FLOAT;
  }
}

namespace {

enum class Direction { forward, data, weight };

/// What decides which algorithm is best.
using Key = std::vector<int64_t>;

struct Plan {
  cudnnTensorDescriptor_t x = nullptr, y = nullptr;
  cudnnFilterDescriptor_t w = nullptr;
  cudnnConvolutionDescriptor_t convolution = nullptr;
  int algorithm = 0;
  size_t workspace = 0;
  Plan() = default;
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;
  ~Plan() {
    for (auto tensor : {x, y})
      if (tensor) HB_CUDA_SYMBOL(cudnn(), cudnnDestroyTensorDescriptor)(tensor);
    if (w) HB_CUDA_SYMBOL(cudnn(), cudnnDestroyFilterDescriptor)(w);
    if (convolution) HB_CUDA_SYMBOL(cudnn(), cudnnDestroyConvolutionDescriptor)(convolution);
  }
};

/// Sizes for cuDNN: one spatial dimension is the second of two.
using Sizes = std::array<int, 5>;
int rank(const ConvParams& p) { return p.dims == 1 ? 4 : p.dims + 2; }
Sizes sizes_of(const Tensor& t, const ConvParams& p) {
  Sizes out{1, 1, 1, 1, 1};
  const int skipped = p.dims == 1 ? 1 : 0;
  for (int64_t d = 0; d < t.dim(); ++d) {
    HB_CHECK(t.size(d) <= INT32_MAX, "[convolution] expected sizes below 2^31, got ", t.sizes());
    out[static_cast<size_t>(d < 2 ? d : d + skipped)] = static_cast<int>(t.size(d));
  }
  return out;
}

cudnnTensorDescriptor_t describe_tensor(const Tensor& t, const ConvParams& p) {
  const Sizes sizes = sizes_of(t, p);
  Sizes strides{};
  int64_t next = sizes[1];
  strides[1] = 1;
  for (int d = rank(p) - 1; d >= 2; --d) strides[static_cast<size_t>(d)] = static_cast<int>(next), next *= sizes[d];
  HB_CHECK(next <= INT32_MAX, "[convolution] expected images of fewer than 2^31 elements, got ", t.sizes());
  strides[0] = static_cast<int>(next);
  cudnnTensorDescriptor_t made;
  HB_CUDNN(cudnnCreateTensorDescriptor, &made);
  HB_CUDNN(cudnnSetTensorNdDescriptor, made, cudnn_type(t.scalar_type()), rank(p), sizes.data(), strides.data());
  return made;
}
cudnnFilterDescriptor_t describe_weight(const Tensor& t, const ConvParams& p) {
  const Sizes sizes = sizes_of(t, p);
  cudnnFilterDescriptor_t made;
  HB_CUDNN(cudnnCreateFilterDescriptor, &made);
  HB_CUDNN(cudnnSetFilterNdDescriptor, made, cudnn_type(t.scalar_type()), CUDNN_TENSOR_NHWC, rank(p), sizes.data());
  return made;
}
cudnnConvolutionDescriptor_t describe_convolution(ScalarType dtype, const ConvParams& p) {
  int padding[3] = {0, 0, 0}, stride[3] = {1, 1, 1}, dilation[3] = {1, 1, 1};
  const int skipped = p.dims == 1 ? 1 : 0;
  for (int d = 0; d < p.dims; ++d) {
    padding[d + skipped] = static_cast<int>(p.padding[d]), stride[d + skipped] = static_cast<int>(p.stride[d]);
    dilation[d + skipped] = static_cast<int>(p.dilation[d]);
  }
  cudnnConvolutionDescriptor_t made;
  HB_CUDNN(cudnnCreateConvolutionDescriptor, &made);
  HB_CUDNN(cudnnSetConvolutionNdDescriptor, made, rank(p) - 2, padding, stride, dilation, CUDNN_CROSS_CORRELATION,
           dtype == kDouble ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT);
  HB_CUDNN(cudnnSetConvolutionGroupCount, made, static_cast<int>(p.groups));
  const bool exact = dtype == kDouble || (dtype == kFloat && !cuda_settings().cudnn_tf32);
  HB_CUDNN(cudnnSetConvolutionMathType, made,
           exact             ? CUDNN_FMA_MATH
           : dtype == kFloat ? CUDNN_DEFAULT_MATH
                             : CUDNN_TENSOR_OP_MATH);
  return made;
}

// The first that can compute it; one whose result is the same each time, where the program wants that.
template <class Perf, size_t n>
void choose(Plan& plan, const std::array<Perf, n>& found, int count) {
  for (int i = 0; i < count; ++i) {
    const Perf& perf = found[static_cast<size_t>(i)];
    if (perf.status != CUDNN_STATUS_SUCCESS) continue;
    if (cuda_settings().cudnn_deterministic && perf.determinism != CUDNN_DETERMINISTIC) continue;
    plan.algorithm = static_cast<int>(perf.algo), plan.workspace = perf.memory;
    HB_CUDNN(cudnnSetConvolutionMathType, plan.convolution, perf.mathType);
    return;
  }
  HB_CHECK(false, "[", current_function(), "] cuDNN has no algorithm for this convolution");
}
template <class Perf, class Find>
void choose_by(Plan& plan, const Find& find) {
  std::array<Perf, 8> found{};
  int count = 0;
  find(static_cast<int>(found.size()), &count, found.data());
  choose(plan, found, count);
}

std::unique_ptr<Plan> make_plan(Direction direction, const Tensor& x, const Tensor& w, const Tensor& y,
                                const ConvParams& p) {
  auto plan = std::make_unique<Plan>();
  plan->x = describe_tensor(x, p), plan->y = describe_tensor(y, p);
  plan->w = describe_weight(w, p);
  plan->convolution = describe_convolution(x.scalar_type(), p);
  const cudnnHandle_t handle = cudnn_handle();
  if (direction == Direction::forward) {
    choose_by<cudnnConvolutionFwdAlgoPerf_t>(*plan, [&](int most, int* count, auto* found) {
      HB_CUDNN(cudnnGetConvolutionForwardAlgorithm_v7, handle, plan->x, plan->w, plan->convolution, plan->y, most,
               count, found);
    });
  } else if (direction == Direction::data) {
    choose_by<cudnnConvolutionBwdDataAlgoPerf_t>(*plan, [&](int most, int* count, auto* found) {
      HB_CUDNN(cudnnGetConvolutionBackwardDataAlgorithm_v7, handle, plan->w, plan->y, plan->convolution, plan->x, most,
               count, found);
    });
  } else {
    choose_by<cudnnConvolutionBwdFilterAlgoPerf_t>(*plan, [&](int most, int* count, auto* found) {
      HB_CUDNN(cudnnGetConvolutionBackwardFilterAlgorithm_v7, handle, plan->x, plan->y, plan->convolution, plan->w,
               most, count, found);
    });
  }
  return plan;
}

Plan& plan_for(Direction direction, const Tensor& x, const Tensor& w, const Tensor& y, const ConvParams& p) {
  Key key{static_cast<int64_t>(direction),
          static_cast<int64_t>(x.scalar_type()),
          current_device(),
          p.dims,
          p.groups,
          (cuda_settings().cudnn_tf32 ? 1 : 0) | (cuda_settings().cudnn_deterministic ? 2 : 0)};
  for (const Tensor* t : {&x, &w, &y}) key.insert(key.end(), t->sizes().begin(), t->sizes().end());
  for (int d = 0; d < p.dims; ++d) key.insert(key.end(), {p.stride[d], p.padding[d], p.dilation[d]});
  constexpr size_t kMost = 1024;
  thread_local auto* const plans = new std::map<Key, std::unique_ptr<Plan>>;  // cuDNN may end before the thread
  if (plans->size() > kMost) plans->clear();
  std::unique_ptr<Plan>& plan = (*plans)[key];
  if (!plan) plan = make_plan(direction, x, w, y, p);
  return *plan;
}

/// 1 and 0, in the type that cuDNN wants.
struct Factors {
  double wide[2] = {1, 0};
  float narrow[2] = {1, 0};
  bool is_wide;
  explicit Factors(const Tensor& t) : is_wide(t.scalar_type() == kDouble) {}
  const void* one() const { return is_wide ? static_cast<const void*>(&wide[0]) : &narrow[0]; }
  const void* zero() const { return is_wide ? static_cast<const void*>(&wide[1]) : &narrow[1]; }
};

int64_t rows_of(const Tensor& t) { return t.numel() / t.size(1); }

void forward(const Tensor& y, const Tensor& x, const Tensor& weight, const Tensor& bias, const ConvParams& p) {
  const Plan& plan = plan_for(Direction::forward, x, weight, y, p);
  const Scratch<char> workspace(static_cast<int64_t>(plan.workspace));
  const Factors factors(x);
  HB_CUDNN(cudnnConvolutionForward, cudnn_handle(), factors.one(), plan.x, x.impl().raw_data(), plan.w,
           weight.impl().raw_data(), plan.convolution, static_cast<cudnnConvolutionFwdAlgo_t>(plan.algorithm),
           workspace.get(), plan.workspace, factors.zero(), plan.y, y.impl().raw_data());
  if (bias.defined())
    add_bias_kernel(y.device())(y.scalar_type(), rows_of(y), y.size(1), y.impl().raw_data(), bias.impl().raw_data());
}

void backward_data(const Tensor& grad_x, const Tensor& grad_y, const Tensor& weight, const ConvParams& p) {
  const Plan& plan = plan_for(Direction::data, grad_x, weight, grad_y, p);
  const Scratch<char> workspace(static_cast<int64_t>(plan.workspace));
  const Factors factors(grad_x);
  HB_CUDNN(cudnnConvolutionBackwardData, cudnn_handle(), factors.one(), plan.w, weight.impl().raw_data(), plan.y,
           grad_y.impl().raw_data(), plan.convolution, static_cast<cudnnConvolutionBwdDataAlgo_t>(plan.algorithm),
           workspace.get(), plan.workspace, factors.zero(), plan.x, grad_x.impl().raw_data());
}

void backward_weight(const Tensor& grad_weight, const Tensor& grad_bias, const Tensor& x, const Tensor& grad_y,
                     const ConvParams& p) {
  const Plan& plan = plan_for(Direction::weight, x, grad_weight, grad_y, p);
  const Scratch<char> workspace(static_cast<int64_t>(plan.workspace));
  const Factors factors(x);
  HB_CUDNN(cudnnConvolutionBackwardFilter, cudnn_handle(), factors.one(), plan.x, x.impl().raw_data(), plan.y,
           grad_y.impl().raw_data(), plan.convolution, static_cast<cudnnConvolutionBwdFilterAlgo_t>(plan.algorithm),
           workspace.get(), plan.workspace, factors.zero(), plan.w, grad_weight.impl().raw_data());
  if (grad_bias.defined())
    column_sum_kernel(x.device())(grad_y.scalar_type(), grad_bias.impl().raw_data(), grad_y.impl().raw_data(),
                                  rows_of(grad_y), grad_y.size(1), grad_y.size(1));
}
HB_REGISTER_CUDA(conv_forward_kernel, forward);
HB_REGISTER_CUDA(conv_backward_data_kernel, backward_data);
HB_REGISTER_CUDA(conv_backward_weight_kernel, backward_weight);

}  // namespace
}  // namespace hb::cuda
