#include <exception>
#include <mutex>

#include <halfbridge/bridge/autograd/custom_node.h>
#include <halfbridge/bridge/nn/parallel.h>
#include <halfbridge/bridge/thread_state.h>
#include <halfbridge/ops.h>

namespace hb::bridge::nn::parallel::detail {
namespace {

/// The gradients of a parameter's replicas, summed on the parameter's device.
struct ReduceAdd : autodiff::Node {
  explicit ReduceAdd(const Device& device) : device(device) {}
  autodiff::variable_list apply(autodiff::variable_list&& gradients) override {
    Tensor sum;
    for (const Tensor& g : gradients) {
      if (!g.defined()) continue;
      const Tensor here = g.to(device);
      sum = sum.defined() ? sum + here : here;
    }
    return {sum};
  }
  Device device;
};

using Tensors = OrderedDict<std::string, Tensor>;

void join(const Tensors& own, const std::vector<Tensors>& replicas) {
  for (const auto& item : own) {
    if (!item.value().requires_grad()) continue;
    auto sum = std::shared_ptr<ReduceAdd>(new ReduceAdd(item.value().device()), autodiff::deleteNode);
    sum->set_next_edges(autodiff::collect_next_edges(item.value()));
    for (const Tensors& replica : replicas) autodiff::set_history(replica[item.key()], sum);
  }
}

}  // namespace

void join_gradients(const Module& module, const std::vector<std::shared_ptr<Module>>& replicas) {
  std::vector<Tensors> parameters, buffers;
  for (const auto& replica : replicas) {
    parameters.push_back(replica->named_parameters(/*recurse=*/false));
    buffers.push_back(replica->named_buffers(/*recurse=*/false));
  }
  join(module.named_parameters(/*recurse=*/false), parameters);
  join(module.named_buffers(/*recurse=*/false), buffers);
  for (const auto& child : module.named_children()) {
    std::vector<std::shared_ptr<Module>> children;
    for (const auto& replica : replicas) children.push_back(replica->named_children()[child.key()]);
    join_gradients(*child.value(), children);
  }
}

void each_in_parallel(size_t count, const std::function<void(size_t)>& call) {
  const ThreadLocalState modes;
  std::mutex mutex;
  std::exception_ptr failure;
  parallel_for(0, static_cast<int64_t>(count), 1, [&](int64_t from, int64_t to) {
    const ThreadLocalStateGuard guard(modes);
    for (; from < to; ++from) {
      try {
        call(static_cast<size_t>(from));
      } catch (...) {
        std::lock_guard<std::mutex> lock(mutex);
        if (!failure) failure = std::current_exception();
      }
    }
  });
  if (failure) std::rethrow_exception(failure);
}

std::vector<Tensor> scatter(const Tensor& input, const std::vector<Device>& devices, int64_t dim) {
  std::vector<Tensor> parts = input.chunk(static_cast<int64_t>(devices.size()), dim);
  for (size_t i = 0; i < parts.size(); ++i) parts[i] = parts[i].to(devices[i]);
  return parts;
}

Tensor gather(const std::vector<Tensor>& parts, const Device& device, int64_t dim) {
  std::vector<Tensor> here;
  for (const Tensor& part : parts) here.push_back((part.dim() ? part : part.view({1})).to(device));
  return cat(here, here.at(0).dim() == 1 && parts[0].dim() == 0 ? 0 : dim);
}

std::vector<Device> all_devices() {
  const DeviceIndex count = cuda::device_count();
  HB_CHECK(count > 0, "Expected at least one CUDA device to be available");
  std::vector<Device> devices;
  for (DeviceIndex i = 0; i < count; ++i) devices.emplace_back(kCUDA, i);
  return devices;
}

}  // namespace hb::bridge::nn::parallel::detail
