#include "cuda/conv_plan.h"

#include <algorithm>
#include <array>
#include <map>

#include <halfbridge/more_errors.h>

#include "core/cuda_settings.h"
#include "cuda/scratch.h"

namespace hb::cuda {

ConvDescriptors::~ConvDescriptors() {
  for (auto tensor : {x, y})
    if (tensor) HB_CUDA_SYMBOL(cudnn(), cudnnDestroyTensorDescriptor)(tensor);
  if (w) HB_CUDA_SYMBOL(cudnn(), cudnnDestroyFilterDescriptor)(w);
  if (convolution) HB_CUDA_SYMBOL(cudnn(), cudnnDestroyConvolutionDescriptor)(convolution);
}

namespace {

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

cudnnTensorDescriptor_t describe_tensor(const Tensor& t, bool channels_first, const ConvParams& p) {
  const Sizes sizes = sizes_of(t, p);
  Sizes strides{};
  int64_t next = 1;
  const auto place = [&](int d) {
    strides[static_cast<size_t>(d)] = static_cast<int>(next);
    next *= sizes[static_cast<size_t>(d)];
    HB_CHECK(next <= INT32_MAX, "[convolution] expected images of fewer than 2^31 elements, got ", t.sizes());
  };
  if (!channels_first) place(1);
  for (int d = rank(p) - 1; d >= 2; --d) place(d);
  if (channels_first) place(1);
  strides[0] = static_cast<int>(next);
  cudnnTensorDescriptor_t made;
  HB_CUDNN(cudnnCreateTensorDescriptor, &made);
  HB_CUDNN(cudnnSetTensorNdDescriptor, made, cudnn_type(t.scalar_type()), rank(p), sizes.data(), strides.data());
  return made;
}
cudnnFilterDescriptor_t describe_weight(const Tensor& t, bool channels_first, const ConvParams& p) {
  const Sizes sizes = sizes_of(t, p);
  cudnnFilterDescriptor_t made;
  HB_CUDNN(cudnnCreateFilterDescriptor, &made);
  HB_CUDNN(cudnnSetFilterNdDescriptor, made, cudnn_type(t.scalar_type()),
           channels_first ? CUDNN_TENSOR_NCHW : CUDNN_TENSOR_NHWC, rank(p), sizes.data());
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

std::unique_ptr<ConvDescriptors> describe(const ConvTask& task, bool channels_first) {
  auto made = std::make_unique<ConvDescriptors>();
  made->x = describe_tensor(task.x, channels_first, task.p), made->y = describe_tensor(task.y, channels_first, task.p);
  made->w = describe_weight(task.w, channels_first, task.p);
  made->convolution = describe_convolution(task.x.scalar_type(), task.p);
  return made;
}

/// What cuDNN says about its algorithms.
template <class Perf>
struct Findings {
  std::array<Perf, 16> all{};
  int count = 0;
  static constexpr int kMost = 16;
  bool is_suitable(int i) const {
    return all[i].status == CUDNN_STATUS_SUCCESS &&
           (!cuda_settings().deterministic() || all[i].determinism == CUDNN_DETERMINISTIC);
  }
  size_t most_memory() const {
    size_t most = 0;
    for (int i = 0; i < count; ++i)
      if (is_suitable(i)) most = std::max(most, all[i].memory);
    return most;
  }
  std::vector<ConvAlgorithm> suitable(size_t room) const {
    std::vector<ConvAlgorithm> out;
    for (int i = 0; i < count; ++i)
      if (is_suitable(i) && all[i].memory <= room)
        out.push_back({static_cast<int>(all[i].algo), all[i].memory, all[i].mathType});
    return out;
  }
};

/// The suitable ones of what `heuristics` name, or, if `timed`, of what `find` found by running each of them. Where
/// cuDNN has none, it may say so in a list without good ones, in an empty list, or by a status.
template <class Perf, class Heuristics, class Find>
std::vector<ConvAlgorithm> choose(bool timed, const Heuristics& heuristics, const Find& find) {
  Findings<Perf> named;
  const cudnnStatus_t status = heuristics(named.kMost, &named.count, named.all.data());
  if (is_refusal(status)) return {};
  if (status != CUDNN_STATUS_SUCCESS) fail_cudnn(status, "cudnnGetConvolutionAlgorithm");
  const size_t room = named.most_memory();
  if (timed) {
    try {
      const Scratch<char> workspace(static_cast<int64_t>(room));
      Findings<Perf> tried;
      if (find(tried.kMost, &tried.count, tried.all.data(), workspace.get(), room) == CUDNN_STATUS_SUCCESS)
        return tried.suitable(room);
    } catch (const OutOfMemoryError&) {  // the heuristics' first may want less
    }
  }
  return named.suitable(room);
}

// cuDNN's functions for one direction each.
std::vector<ConvAlgorithm> forward_algorithms(const ConvTask& task, const ConvDescriptors& d, bool timed) {
  const cudnnHandle_t handle = cudnn_handle();
  return choose<cudnnConvolutionFwdAlgoPerf_t>(
      timed,
      [&](int most, int* count, auto* found) {
        return HB_CUDA_SYMBOL(cudnn(), cudnnGetConvolutionForwardAlgorithm_v7)(handle, d.x, d.w, d.convolution, d.y,
                                                                               most, count, found);
      },
      [&](int most, int* count, auto* found, void* room, size_t bytes) {
        return HB_CUDA_SYMBOL(cudnn(), cudnnFindConvolutionForwardAlgorithmEx)(
            handle, d.x, task.x.impl().raw_data(), d.w, task.w.impl().raw_data(), d.convolution, d.y,
            task.y.impl().raw_data(), most, count, found, room, bytes);
      });
}
std::vector<ConvAlgorithm> data_algorithms(const ConvTask& task, const ConvDescriptors& d, bool timed) {
  const cudnnHandle_t handle = cudnn_handle();
  return choose<cudnnConvolutionBwdDataAlgoPerf_t>(
      timed,
      [&](int most, int* count, auto* found) {
        return HB_CUDA_SYMBOL(cudnn(), cudnnGetConvolutionBackwardDataAlgorithm_v7)(handle, d.w, d.y, d.convolution,
                                                                                    d.x, most, count, found);
      },
      [&](int most, int* count, auto* found, void* room, size_t bytes) {
        return HB_CUDA_SYMBOL(cudnn(), cudnnFindConvolutionBackwardDataAlgorithmEx)(
            handle, d.w, task.w.impl().raw_data(), d.y, task.y.impl().raw_data(), d.convolution, d.x,
            task.x.impl().raw_data(), most, count, found, room, bytes);
      });
}
std::vector<ConvAlgorithm> weight_algorithms(const ConvTask& task, const ConvDescriptors& d, bool timed) {
  const cudnnHandle_t handle = cudnn_handle();
  return choose<cudnnConvolutionBwdFilterAlgoPerf_t>(
      timed,
      [&](int most, int* count, auto* found) {
        return HB_CUDA_SYMBOL(cudnn(), cudnnGetConvolutionBackwardFilterAlgorithm_v7)(handle, d.x, d.y, d.convolution,
                                                                                      d.w, most, count, found);
      },
      [&](int most, int* count, auto* found, void* room, size_t bytes) {
        return HB_CUDA_SYMBOL(cudnn(), cudnnFindConvolutionBackwardFilterAlgorithmEx)(
            handle, d.x, task.x.impl().raw_data(), d.y, task.y.impl().raw_data(), d.convolution, d.w,
            task.w.impl().raw_data(), most, count, found, room, bytes);
      });
}

/// Runs that are timed cannot be part of a graph.
bool may_time() {
  const cudaStream_t stream = current_stream();
  if (!stream) return true;  // the default stream cannot be recorded
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  check(cudaStreamIsCapturing(stream, &status), "cudaStreamIsCapturing");
  return status == cudaStreamCaptureStatusNone;
}

void use_first(const ConvPlan& plan) {
  if (!plan.algorithms.empty())
    HB_CUDNN(cudnnSetConvolutionMathType, plan.described->convolution, plan.algorithms.front().math);
}

// Trials read and write the tensors as they are, in whatever order they are described: what they compute is
// overwritten.
ConvPlan make_plan(const ConvTask& task, bool channels_first, bool timed) {
  const Unrecorded guard;
  ConvPlan plan{channels_first, timed, describe(task, channels_first), {}};
  const auto algorithms = task.direction == ConvDirection::forward ? forward_algorithms
                          : task.direction == ConvDirection::data  ? data_algorithms
                                                                   : weight_algorithms;
  plan.algorithms = algorithms(task, *plan.described, timed && may_time());
  if (plan.algorithms.empty() && !channels_first) return make_plan(task, true, timed);
  use_first(plan);
  return plan;
}

}  // namespace

ConvKey key_of(const ConvTask& task) {
  const ConvParams& p = task.p;
  ConvKey key{static_cast<int64_t>(task.direction),
              static_cast<int64_t>(task.x.scalar_type()),
              current_device(),
              p.dims,
              p.groups,
              (cuda_settings().cudnn_tf32 ? 1 : 0) | (cuda_settings().deterministic() ? 2 : 0)};
  for (const Tensor* t : {&task.x, &task.w, &task.y}) key.insert(key.end(), t->sizes().begin(), t->sizes().end());
  for (int d = 0; d < p.dims; ++d) key.insert(key.end(), {p.stride[d], p.padding[d], p.dilation[d]});
  return key;
}

ConvPlan& conv_plan(const ConvTask& task) {
  const ConvKey key = key_of(task);
  constexpr size_t kMost = 1024;
  using Plans = std::map<ConvKey, std::unique_ptr<ConvPlan>>;
  thread_local auto* const plans = new std::array<Plans, 2>;  // cuDNN may end before the thread
  bool timed = cuda_settings().cudnn_benchmark;
  if (timed && !(*plans)[1].count(key)) timed = may_time();
  Plans& kept = (*plans)[timed ? 1 : 0];
  if (kept.size() > kMost) kept.clear();
  std::unique_ptr<ConvPlan>& plan = kept[key];
  // cuDNN has gradients of doubles only with channels first, and hardly any convolution over three dimensions.
  if (!plan) plan = std::make_unique<ConvPlan>(make_plan(task, task.x.scalar_type() == kDouble, timed));
  return *plan;
}

void give_up_first(ConvPlan& plan, const ConvTask& task) {
  if (plan.algorithms.size() == 1 && !plan.channels_first) {
    plan = make_plan(task, true, plan.timed);
    return;
  }
  plan.algorithms.erase(plan.algorithms.begin());
  use_first(plan);
}

}  // namespace hb::cuda
