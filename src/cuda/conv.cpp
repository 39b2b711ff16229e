// Convolutions by cuDNN, but for those of single channels, whose results and inputs' gradients have a kernel. Tensors
// are channels-last, weights and their gradients too. cuDNN gets them with channels first where it has nothing for that
// order, which is the case for doubles.
#include "backend/conv.h"

#include "backend/gemm.h"
#include "core/cuda_settings.h"
#include "cuda/conv_graph.h"
#include "cuda/depthwise.h"
#include "cuda/lt_product.h"
#include "cuda/register.h"
#include "cuda/scratch.h"

namespace hb::cuda {
namespace {

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

/// A tensor in the order that a plan wants: in memory of its own if that is another one.
class InOrder {
 public:
  InOrder(const Tensor& t, bool channels_first)
      : t_(t), rows_(rows_of(t) / t.size(0)), copy_(channels_first && rows_ > 1 && t.size(1) > 1 ? bytes_of(t) : 0) {}
  void* data() const { return copy_.get() ? copy_.get() : t_.impl().raw_data(); }
  void read() const {
    if (copy_.get()) transpose(rows_, t_.size(1), copy_.get(), t_.impl().raw_data());
  }
  void write() const {
    if (copy_.get()) transpose(t_.size(1), rows_, t_.impl().raw_data(), copy_.get());
  }

 private:
  static int64_t bytes_of(const Tensor& t) { return t.numel() * static_cast<int64_t>(element_size(t.scalar_type())); }
  void transpose(int64_t rows, int64_t cols, void* out, const void* in) const {
    transpose_kernel(t_.device())(element_size(t_.scalar_type()), t_.size(0), rows, cols, out, in);
  }
  const Tensor& t_;
  int64_t rows_;
  Scratch<char> copy_;
};

/// What cuDNN's three functions take.
struct Memory {
  void *x, *w, *y, *workspace;
};

template <class Call>
cudnnStatus_t attempt(const ConvTask& task, const ConvPlan& plan, const Call& call) {
  const InOrder x(task.x, plan.channels_first), w(task.w, plan.channels_first), y(task.y, plan.channels_first);
  const InOrder& result = task.direction == ConvDirection::forward ? y : task.direction == ConvDirection::data ? x : w;
  for (const InOrder* t : {&x, &w, &y})
    if (t != &result) t->read();
  const ConvAlgorithm& best = plan.algorithms.front();
  const Scratch<char> workspace(static_cast<int64_t>(best.workspace));
  const cudnnStatus_t status = call(*plan.described, best, Memory{x.data(), w.data(), y.data(), workspace.get()});
  if (status == CUDNN_STATUS_SUCCESS) result.write();
  return status;
}

/// cuDNN refuses before it queues anything, which leaves a recording valid: the next attempt is recorded in its place.
/// Should a recording not have survived, no attempt can succeed, and the first status says more than that of the last.
bool recording_was_lost() {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  return current_stream() && (cudaStreamIsCapturing(current_stream(), &status) != cudaSuccess ||
                              status == cudaStreamCaptureStatusInvalidated);
}

void fail(const ConvTask& task, cudnnStatus_t status) {
  const ConvParams& p = task.p;
  const auto list = [&](const int64_t* values) { return IntArrayRef(values, static_cast<size_t>(p.dims)); };
  HB_CHECK(false, "[", current_function(), "] cuDNN has no algorithm for this convolution of ", task.x.scalar_type(),
           ": input ", task.x.sizes(), ", weight ", task.w.sizes(), ", result ", task.y.sizes(), ", stride ",
           list(p.stride), ", padding ", list(p.padding), ", dilation ", list(p.dilation), ", groups ", p.groups,
           status == CUDNN_STATUS_SUCCESS ? "" : "; its last status was ",
           status == CUDNN_STATUS_SUCCESS ? "" : std::to_string(static_cast<int>(status)));
}

/// By a graph, or by `call` with the plan's algorithms in turn, until cuDNN accepts one; the plan remembers which.
template <class Call>
void run(const ConvTask& task, const char* name, const Call& call) {
  if (convolve_by_graph(task)) return;
  ConvPlan& plan = conv_plan(task);
  cudnnStatus_t status = CUDNN_STATUS_SUCCESS;
  while (!plan.algorithms.empty()) {
    status = attempt(task, plan, call);
    if (status == CUDNN_STATUS_SUCCESS) return;
    if (!is_refusal(status) || recording_was_lost()) fail_cudnn(status, name);
    cudaGetLastError();  // not for the next kernel's launch to find
    give_up_first(plan, task);
  }
  fail(task, status);
}

/// Whether a convolution is a product of its rows of channels: cuBLASLt has more for few channels or few rows.
bool is_product(const Tensor& x, const Tensor& weight, const ConvParams& p) {
  bool plain = p.groups == 1 && x.numel() > 0 && weight.numel() > 0;
  for (int d = 0; d < p.dims; ++d) plain = plain && weight.size(d + 2) == 1 && p.stride[d] == 1 && p.padding[d] == 0;
  return plain;
}
/// Rows of channels, or their transpose.
GemmMatrix rows(const Tensor& t, bool transposed = false) {
  const int64_t width = t.size(1);
  return {t.impl().raw_data(), transposed ? 1 : width, transposed ? width : 1, {}};
}
void multiply(int64_t m, int64_t n, int64_t k, const GemmMatrix& a, const GemmMatrix& b, const Tensor& to,
              const Tensor& bias = {}) {
  const Tf32Guard as_convolutions(cuda_settings().cudnn_tf32);
  gemm_kernel(to.device())(
      {to.scalar_type(), {1, 1}, m, n, k, a, b, rows(to), bias.defined() ? bias.impl().raw_data() : nullptr});
}

void forward(const Tensor& y, const Tensor& x, const Tensor& weight, const Tensor& bias, const ConvParams& p) {
  if (is_product(x, weight, p)) return multiply(rows_of(x), y.size(1), x.size(1), rows(x), rows(weight, true), y, bias);
  if (is_depthwise(x, weight, p)) return depthwise(y, x, weight, bias, p);
  const Factors factors(x);
  run({ConvDirection::forward, x, weight, y, p}, "cudnnConvolutionForward",
      [&](const ConvDescriptors& d, const ConvAlgorithm& a, const Memory& at) {
        return HB_CUDA_SYMBOL(cudnn(), cudnnConvolutionForward)(
            cudnn_handle(), factors.one(), d.x, at.x, d.w, at.w, d.convolution,
            static_cast<cudnnConvolutionFwdAlgo_t>(a.number), at.workspace, a.workspace, factors.zero(), d.y, at.y);
      });
  if (bias.defined())
    add_bias_kernel(y.device())(y.scalar_type(), rows_of(y), y.size(1), y.impl().raw_data(), bias.impl().raw_data());
}

void backward_data(const Tensor& grad_x, const Tensor& grad_y, const Tensor& weight, const ConvParams& p) {
  if (is_product(grad_x, weight, p))
    return multiply(rows_of(grad_x), grad_x.size(1), grad_y.size(1), rows(grad_y), rows(weight), grad_x);
  if (is_depthwise(grad_x, weight, p)) return depthwise_backward_data(grad_x, grad_y, weight, p);
  const Factors factors(grad_x);
  run({ConvDirection::data, grad_x, weight, grad_y, p}, "cudnnConvolutionBackwardData",
      [&](const ConvDescriptors& d, const ConvAlgorithm& a, const Memory& at) {
        return HB_CUDA_SYMBOL(cudnn(), cudnnConvolutionBackwardData)(
            cudnn_handle(), factors.one(), d.w, at.w, d.y, at.y, d.convolution,
            static_cast<cudnnConvolutionBwdDataAlgo_t>(a.number), at.workspace, a.workspace, factors.zero(), d.x, at.x);
      });
}

void weight_gradient(const Tensor& grad_weight, const Tensor& x, const Tensor& grad_y, const ConvParams& p) {
  if (is_product(x, grad_weight, p))
    return multiply(grad_y.size(1), x.size(1), rows_of(x), rows(grad_y, true), rows(x), grad_weight);
  const Factors factors(x);
  run({ConvDirection::weight, x, grad_weight, grad_y, p}, "cudnnConvolutionBackwardFilter",
      [&](const ConvDescriptors& d, const ConvAlgorithm& a, const Memory& at) {
        return HB_CUDA_SYMBOL(cudnn(), cudnnConvolutionBackwardFilter)(
            cudnn_handle(), factors.one(), d.x, at.x, d.y, at.y, d.convolution,
            static_cast<cudnnConvolutionBwdFilterAlgo_t>(a.number), at.workspace, a.workspace, factors.zero(), d.w,
            at.w);
      });
}
void backward_weight(const Tensor& grad_weight, const Tensor& grad_bias, const Tensor& x, const Tensor& grad_y,
                     const ConvParams& p) {
  weight_gradient(grad_weight, x, grad_y, p);
  if (grad_bias.defined())
    column_sum_kernel(x.device())(grad_y.scalar_type(), grad_bias.impl().raw_data(), grad_y.impl().raw_data(),
                                  rows_of(grad_y), grad_y.size(1), grad_y.size(1));
}
HB_REGISTER_CUDA(conv_forward_kernel, forward);
HB_REGISTER_CUDA(conv_backward_data_kernel, backward_data);
HB_REGISTER_CUDA(conv_backward_weight_kernel, backward_weight);

}  // namespace
}  // namespace hb::cuda
