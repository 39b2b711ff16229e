#include "cuda/conv_plan.h"

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <vector>

#include <halfbridge/more_errors.h>

#include "core/cuda_settings.h"
#include "cuda/scratch.h"

namespace hb::cuda {

ConvPlan::~ConvPlan() {
  for (auto tensor : {x, y})
    if (tensor) HB_CUDA_SYMBOL(cudnn(), cudnnDestroyTensorDescriptor)(tensor);
  if (w) HB_CUDA_SYMBOL(cudnn(), cudnnDestroyFilterDescriptor)(w);
  if (convolution) HB_CUDA_SYMBOL(cudnn(), cudnnDestroyConvolutionDescriptor)(convolution);
}

namespace {

/// What decides which algorithm is best.
using Key = std::vector<int64_t>;

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

template <class Perf>
bool is_suitable(const Perf& perf, size_t room) {
  return perf.status == CUDNN_STATUS_SUCCESS && perf.memory <= room &&
         (!cuda_settings().cudnn_deterministic || perf.determinism == CUDNN_DETERMINISTIC);
}
/// The first suitable one of what `heuristics` name, or, if `timed`, of what `find` found by running each of them.
template <class Perf, class Heuristics, class Find>
void choose(ConvPlan& plan, bool timed, const Heuristics& heuristics, const Find& find) {
  std::array<Perf, 8> found{};
  constexpr int kMost = static_cast<int>(found.size());
  int count = 0;
  heuristics(kMost, &count, found.data());
  size_t room = 0;
  for (int i = 0; i < count; ++i)
    if (is_suitable(found[i], SIZE_MAX)) room = std::max(room, found[i].memory);
  if (timed) {
    try {
      const Scratch<char> workspace(static_cast<int64_t>(room));
      find(kMost, &count, found.data(), workspace.get(), room);
    } catch (const OutOfMemoryError&) {  // the heuristics' first may want less
    }
  }
  for (int i = 0; i < count; ++i) {
    if (!is_suitable(found[i], room)) continue;
    plan.algorithm = static_cast<int>(found[i].algo), plan.workspace = found[i].memory;
    HB_CUDNN(cudnnSetConvolutionMathType, plan.convolution, found[i].mathType);
    return;
  }
  HB_CHECK(false, "[", current_function(), "] cuDNN has no algorithm for this convolution");
}

std::unique_ptr<ConvPlan> make_plan(ConvDirection direction, bool timed, const Tensor& x, const Tensor& w,
                                    const Tensor& y, const ConvParams& p) {
  auto made = std::make_unique<ConvPlan>();
  ConvPlan& plan = *made;
  plan.x = describe_tensor(x, p), plan.y = describe_tensor(y, p);
  plan.w = describe_weight(w, p);
  plan.convolution = describe_convolution(x.scalar_type(), p);
  const cudnnHandle_t handle = cudnn_handle();
  void *const at_x = x.impl().raw_data(), *const at_w = w.impl().raw_data(), *const at_y = y.impl().raw_data();
  if (direction == ConvDirection::forward) {
    choose<cudnnConvolutionFwdAlgoPerf_t>(
        plan, timed,
        [&](int most, int* count, auto* found) {
          HB_CUDNN(cudnnGetConvolutionForwardAlgorithm_v7, handle, plan.x, plan.w, plan.convolution, plan.y, most,
                   count, found);
        },
        [&](int most, int* count, auto* found, void* room, size_t bytes) {
          HB_CUDNN(cudnnFindConvolutionForwardAlgorithmEx, handle, plan.x, at_x, plan.w, at_w, plan.convolution, plan.y,
                   at_y, most, count, found, room, bytes);
        });
  } else if (direction == ConvDirection::data) {
    choose<cudnnConvolutionBwdDataAlgoPerf_t>(
        plan, timed,
        [&](int most, int* count, auto* found) {
          HB_CUDNN(cudnnGetConvolutionBackwardDataAlgorithm_v7, handle, plan.w, plan.y, plan.convolution, plan.x, most,
                   count, found);
        },
        [&](int most, int* count, auto* found, void* room, size_t bytes) {
          HB_CUDNN(cudnnFindConvolutionBackwardDataAlgorithmEx, handle, plan.w, at_w, plan.y, at_y, plan.convolution,
                   plan.x, at_x, most, count, found, room, bytes);
        });
  } else {
    choose<cudnnConvolutionBwdFilterAlgoPerf_t>(
        plan, timed,
        [&](int most, int* count, auto* found) {
          HB_CUDNN(cudnnGetConvolutionBackwardFilterAlgorithm_v7, handle, plan.x, plan.y, plan.convolution, plan.w,
                   most, count, found);
        },
        [&](int most, int* count, auto* found, void* room, size_t bytes) {
          HB_CUDNN(cudnnFindConvolutionBackwardFilterAlgorithmEx, handle, plan.x, at_x, plan.y, at_y, plan.convolution,
                   plan.w, at_w, most, count, found, room, bytes);
        });
  }
  return made;
}

/// Runs that are timed cannot be part of a graph.
bool may_time() {
  const cudaStream_t stream = current_stream();
  if (!stream) return true;  // the default stream cannot be recorded
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  check(cudaStreamIsCapturing(stream, &status), "cudaStreamIsCapturing");
  return status == cudaStreamCaptureStatusNone;
}

}  // namespace

const ConvPlan& conv_plan(ConvDirection direction, const Tensor& x, const Tensor& w, const Tensor& y,
                          const ConvParams& p) {
  Key key{static_cast<int64_t>(direction),
          static_cast<int64_t>(x.scalar_type()),
          current_device(),
          p.dims,
          p.groups,
          (cuda_settings().cudnn_tf32 ? 1 : 0) | (cuda_settings().cudnn_deterministic ? 2 : 0)};
  for (const Tensor* t : {&x, &w, &y}) key.insert(key.end(), t->sizes().begin(), t->sizes().end());
  for (int d = 0; d < p.dims; ++d) key.insert(key.end(), {p.stride[d], p.padding[d], p.dilation[d]});
  constexpr size_t kMost = 1024;
  using Plans = std::map<Key, std::unique_ptr<ConvPlan>>;
  thread_local auto* const plans = new std::array<Plans, 2>;  // cuDNN may end before the thread
  bool timed = cuda_settings().cudnn_benchmark;
  if (timed && !(*plans)[1].count(key)) timed = may_time();
  Plans& kept = (*plans)[timed ? 1 : 0];
  if (kept.size() > kMost) kept.clear();
  std::unique_ptr<ConvPlan>& plan = kept[key];
  if (!plan) plan = make_plan(direction, timed, x, w, y, p);
  return *plan;
}

}  // namespace hb::cuda
