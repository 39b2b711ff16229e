// Recurrent networks by cuDNN: all layers, directions and steps in one call.
#include "backend/rnn.h"

#include <map>
#include <memory>
#include <vector>

#include "core/cuda_settings.h"
#include "cuda/cudnn.h"
#include "cuda/register.h"
#include "cuda/scratch.h"

namespace hb::cuda {
namespace {

/// What decides how cuDNN computes a network.
using Key = std::vector<int64_t>;

struct Plan {
  cudnnRNNDescriptor_t rnn = nullptr;
  cudnnDropoutDescriptor_t dropout = nullptr;
  cudnnRNNDataDescriptor_t x = nullptr, y = nullptr;
  cudnnTensorDescriptor_t h = nullptr, c = nullptr;
  size_t weights = 0, workspace = 0, reserve = 0;
  std::vector<RnnPlan::Run> runs;
  bool usable = true;
  Plan() = default;
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;
  ~Plan() {
    if (rnn) HB_CUDA_SYMBOL(cudnn(), cudnnDestroyRNNDescriptor)(rnn);
    if (dropout) HB_CUDA_SYMBOL(cudnn(), cudnnDestroyDropoutDescriptor)(dropout);
    for (auto data : {x, y})
      if (data) HB_CUDA_SYMBOL(cudnn(), cudnnDestroyRNNDataDescriptor)(data);
    for (auto tensor : {h, c})
      if (tensor) HB_CUDA_SYMBOL(cudnn(), cudnnDestroyTensorDescriptor)(tensor);
  }
};

/// False where cuDNN has no such thing; its other answers are errors.
bool supported(cudnnStatus_t status, const char* call) {
  constexpr int kFamily = 1000;  // CUDNN_STATUS_NOT_SUPPORTED and its particular reasons
  if (status == CUDNN_STATUS_SUCCESS) return true;
  if (static_cast<int>(status) / kFamily != CUDNN_STATUS_NOT_SUPPORTED / kFamily) fail_cudnn(status, call);
  return false;
}

int narrowed(int64_t n) {
  HB_CHECK(n <= INT32_MAX, "[", current_function(), "] expected sizes below 2^31, got ", n);
  return static_cast<int>(n);
}

cudnnRNNMode_t mode_of(RnnMode mode) {
  switch (mode) {
    case RnnMode::tanh:
      return CUDNN_RNN_TANH;
    case RnnMode::relu:
      return CUDNN_RNN_RELU;
    case RnnMode::gru:
      return CUDNN_GRU;
    default:
      return CUDNN_LSTM;
  }
}
int64_t gates_of(RnnMode mode) { return mode == RnnMode::lstm ? 4 : mode == RnnMode::gru ? 3 : 1; }

/// One kernel for all steps, which keeps the weights on chip, where the hidden state is as small as PyTorch has it
/// there. It does not take sequences of different lengths. Its sigmoid and tanh of floats are within 1e-5 or so: that
/// is for programs that allow TF32, too.
cudnnRNNAlgo_t algorithm_of(const RnnNetwork& net, bool even) {
  const bool gated = net.mode == RnnMode::lstm || net.mode == RnnMode::gru;
  const int64_t most = (gated ? 128 : 256) * (net.trained ? 2 : 3) / 2;
  const bool rounds = net.dtype == kHalf || (net.dtype == kFloat && cuda_settings().cudnn_tf32);
  const bool fits = rounds && net.hidden <= most && net.out == net.hidden && even;
  return fits ? CUDNN_RNN_ALGO_PERSIST_STATIC_SMALL_H : CUDNN_RNN_ALGO_STANDARD;
}

bool describe_network(Plan& plan, const RnnNetwork& net, cudnnRNNAlgo_t algorithm) {
  HB_CUDNN(cudnnCreateDropoutDescriptor, &plan.dropout);
  HB_CUDNN(cudnnSetDropoutDescriptor, plan.dropout, cudnn_handle(), 0.0f, nullptr, 0, 0ull);
  HB_CUDNN(cudnnCreateRNNDescriptor, &plan.rnn);
  const cudnnMathType_t math = net.dtype == kHalf                                   ? CUDNN_TENSOR_OP_MATH
                               : net.dtype == kFloat && !cuda_settings().cudnn_tf32 ? CUDNN_FMA_MATH
                                                                                    : CUDNN_DEFAULT_MATH;
  return supported(HB_CUDA_SYMBOL(cudnn(), cudnnSetRNNDescriptor_v8)(
                       plan.rnn, algorithm, mode_of(net.mode), net.biased ? CUDNN_RNN_DOUBLE_BIAS : CUDNN_RNN_NO_BIAS,
                       net.bidirectional ? CUDNN_BIDIRECTIONAL : CUDNN_UNIDIRECTIONAL, CUDNN_LINEAR_INPUT,
                       cudnn_type(net.dtype), net.dtype == kDouble ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT, math,
                       narrowed(net.features), narrowed(net.hidden), narrowed(net.out), narrowed(net.layers),
                       plan.dropout, net.batch_first ? CUDNN_RNN_PADDED_IO_ENABLED : CUDNN_RNN_PADDED_IO_DISABLED),
                   "cudnnSetRNNDescriptor_v8");
}

cudnnRNNDataDescriptor_t describe_data(const RnnNetwork& net, ArrayRef<int64_t> batch_sizes, int64_t width) {
  std::vector<int> lengths(static_cast<size_t>(batch_sizes[0]));
  for (const int64_t alive : batch_sizes)
    for (int64_t i = 0; i < alive; ++i) ++lengths[static_cast<size_t>(i)];
  cudnnRNNDataDescriptor_t made;
  HB_CUDNN(cudnnCreateRNNDataDescriptor, &made);
  HB_CUDNN(cudnnSetRNNDataDescriptor, made, cudnn_type(net.dtype),
           net.batch_first ? CUDNN_RNN_DATA_LAYOUT_BATCH_MAJOR_UNPACKED : CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_PACKED,
           narrowed(static_cast<int64_t>(batch_sizes.size())), narrowed(batch_sizes[0]), narrowed(width),
           lengths.data(), nullptr);
  return made;
}
cudnnTensorDescriptor_t describe_state(const RnnNetwork& net, int64_t batch, int64_t width) {
  const int sizes[] = {narrowed(net.layers * net.directions()), narrowed(batch), narrowed(width)};
  const int strides[] = {narrowed(batch * width), sizes[2], 1};
  cudnnTensorDescriptor_t made;
  HB_CUDNN(cudnnCreateTensorDescriptor, &made);
  HB_CUDNN(cudnnSetTensorNdDescriptor, made, cudnn_type(net.dtype), 3, sizes, strides);
  return made;
}

/// Where cuDNN keeps the matrices and biases of each gate, as runs of our parameters, which hold all gates of a kind.
class Runs {
 public:
  Runs(Plan& plan, const RnnNetwork& net)
      : plan_(plan), net_(net), buffer_(static_cast<int64_t>(plan.weights)), handle_(cudnn_handle()) {
    HB_CUDNN(cudnnCreateTensorDescriptor, &matrix_);
    HB_CUDNN(cudnnCreateTensorDescriptor, &bias_);
  }
  ~Runs() {
    for (auto tensor : {matrix_, bias_}) HB_CUDA_SYMBOL(cudnn(), cudnnDestroyTensorDescriptor)(tensor);
  }
  Runs(const Runs&) = delete;
  Runs& operator=(const Runs&) = delete;

  void find() {
    const bool projected = net_.out != net_.hidden;
    const int64_t gates = gates_of(net_.mode), each = 2 + (net_.biased ? 2 : 0) + (projected ? 1 : 0);
    for (int64_t layer = 0; layer < net_.layers * net_.directions(); ++layer) {
      const int64_t in = layer < net_.directions() ? net_.features : net_.directions() * net_.out;
      for (int64_t kind = 0; kind < 2; ++kind) {  // of the input, of the hidden state
        const int64_t width = kind == 0 ? in : net_.out;
        for (int64_t gate = 0; gate < gates; ++gate) {
          ask(layer, kind * gates + gate);
          add(layer * each + kind, gate * net_.hidden * width, net_.hidden * width, matrix_at_);
          if (net_.biased) add(layer * each + 2 + kind, gate * net_.hidden, net_.hidden, bias_at_);
        }
      }
      if (!projected) continue;
      ask(layer, 2 * gates);
      add(layer * each + each - 1, 0, net_.out * net_.hidden, matrix_at_);
    }
  }

 private:
  void ask(int64_t layer, int64_t id) {
    HB_CUDNN(cudnnGetRNNWeightParams, handle_, plan_.rnn, static_cast<int>(layer), plan_.weights, buffer_.get(),
             static_cast<int>(id), matrix_, &matrix_at_, bias_, &bias_at_);
  }
  void add(int64_t parameter, int64_t first, int64_t count, const void* at) {
    const auto size = static_cast<int64_t>(element_size(net_.dtype));
    const int64_t place = static_cast<const char*>(at) - buffer_.get();
    HB_CHECK(at && place >= 0 && place + count * size <= static_cast<int64_t>(plan_.weights), "[", current_function(),
             "] cuDNN has no place for weight ", parameter);
    // Gates mostly follow one another: then they are one run.
    for (RnnPlan::Run& r : plan_.runs) {
      if (r.parameter != parameter || r.first + r.count != first || r.place + r.count * size != place) continue;
      r.count += count;
      return;
    }
    plan_.runs.push_back({parameter, first, count, place});
  }

  Plan& plan_;
  const RnnNetwork& net_;
  const Scratch<char> buffer_;
  const cudnnHandle_t handle_;
  cudnnTensorDescriptor_t matrix_ = nullptr, bias_ = nullptr;
  void *matrix_at_ = nullptr, *bias_at_ = nullptr;
};

cudnnForwardMode_t forward_mode(const RnnNetwork& net) {
  return net.trained ? CUDNN_FWD_MODE_TRAINING : CUDNN_FWD_MODE_INFERENCE;
}

std::unique_ptr<Plan> make_plan(const RnnNetwork& net, ArrayRef<int64_t> batch_sizes, cudnnRNNAlgo_t algorithm) {
  auto plan = std::make_unique<Plan>();
  plan->usable = describe_network(*plan, net, algorithm);
  if (!plan->usable) return plan;
  plan->x = describe_data(net, batch_sizes, net.features);
  plan->y = describe_data(net, batch_sizes, net.directions() * net.out);
  plan->h = describe_state(net, batch_sizes[0], net.out);
  if (net.mode == RnnMode::lstm) plan->c = describe_state(net, batch_sizes[0], net.hidden);
  const cudnnHandle_t handle = cudnn_handle();
  plan->usable = supported(HB_CUDA_SYMBOL(cudnn(), cudnnGetRNNTempSpaceSizes)(
                               handle, plan->rnn, forward_mode(net), plan->x, &plan->workspace, &plan->reserve),
                           "cudnnGetRNNTempSpaceSizes");
  if (!plan->usable) return plan;
  HB_CUDNN(cudnnGetRNNWeightSpaceSize, handle, plan->rnn, &plan->weights);
  Runs(*plan, net).find();
  return plan;
}

Plan& plan_for(const RnnNetwork& net, ArrayRef<int64_t> batch_sizes) {
  const bool even = batch_sizes.front() == batch_sizes.back();
  Key key{current_device(),
          static_cast<int64_t>(net.dtype),
          static_cast<int64_t>(net.mode),
          (net.bidirectional ? 1 : 0) | (net.biased ? 2 : 0) | (net.batch_first ? 4 : 0) | (net.trained ? 8 : 0) |
              (cuda_settings().cudnn_tf32 ? 16 : 0) | (even ? 32 : 0),
          net.features,
          net.hidden,
          net.out,
          net.layers,
          static_cast<int64_t>(batch_sizes.size())};
  key.insert(key.end(), batch_sizes.begin(), even ? batch_sizes.begin() + 1 : batch_sizes.end());
  constexpr size_t kMost = 256;
  thread_local auto* const plans = new std::map<Key, std::unique_ptr<Plan>>;  // cuDNN may end before the thread
  if (plans->size() > kMost) plans->clear();
  std::unique_ptr<Plan>& plan = (*plans)[key];
  if (plan) return *plan;
  const cudnnRNNAlgo_t algorithm = algorithm_of(net, even);
  plan = make_plan(net, batch_sizes, algorithm);
  if (!plan->usable && algorithm != CUDNN_RNN_ALGO_STANDARD)
    plan = make_plan(net, batch_sizes, CUDNN_RNN_ALGO_STANDARD);
  return *plan;
}

bool query(const Device& device, const RnnNetwork& net, ArrayRef<int64_t> batch_sizes, RnnPlan& found) {
  if (!device.is_cuda() || !cudnn().found()) return false;
  const OnDevice guard(device.index());
  const Plan& plan = plan_for(net, batch_sizes);
  if (!plan.usable) return false;
  found = {static_cast<int64_t>(plan.weights), static_cast<int64_t>(plan.reserve), plan.runs};
  return true;
}

void forward(const RnnForward& s, ArrayRef<int64_t> batch_sizes) {
  const Plan& plan = plan_for(s.net, batch_sizes);
  const Scratch<char> workspace(static_cast<int64_t>(plan.workspace));
  HB_CUDNN(cudnnRNNForward, cudnn_handle(), plan.rnn, forward_mode(s.net), nullptr, plan.x, s.x, plan.y, s.y, plan.h,
           s.h, s.last_h, plan.c, s.c, s.last_c, plan.weights, s.weights, plan.workspace, workspace.get(),
           s.net.trained ? plan.reserve : 0, s.reserve);
}

void backward(const RnnBackward& s, ArrayRef<int64_t> batch_sizes) {
  const Plan& plan = plan_for(s.net, batch_sizes);
  const Scratch<char> workspace(static_cast<int64_t>(plan.workspace));
  const cudnnHandle_t handle = cudnn_handle();
  HB_CUDNN(cudnnRNNBackwardData_v8, handle, plan.rnn, nullptr, plan.y, s.y, s.grad_y, plan.x, s.grad_x, plan.h, s.h,
           s.grad_last_h, s.grad_h, plan.c, s.c, s.grad_last_c, s.grad_c, plan.weights, s.weights, plan.workspace,
           workspace.get(), plan.reserve, s.reserve);
  if (!s.grad_weights) return;
  HB_CUDNN(cudnnRNNBackwardWeights_v8, handle, plan.rnn, CUDNN_WGRAD_MODE_ADD, nullptr, plan.x, s.x, plan.h, s.h,
           plan.y, s.y, plan.weights, s.grad_weights, plan.workspace, workspace.get(), plan.reserve, s.reserve);
}

[[maybe_unused]] const bool query_is_there = (plan_rnn.store(query, std::memory_order_release), true);
HB_REGISTER_CUDA(rnn_forward_kernel, forward);
HB_REGISTER_CUDA(rnn_backward_kernel, backward);

}  // namespace
}  // namespace hb::cuda
