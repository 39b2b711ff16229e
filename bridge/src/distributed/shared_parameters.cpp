#include "distributed/shared_parameters.h"

#include <halfbridge/distributed/objects.h>

#include <atomic>
#include <mutex>
#include <unordered_map>

#include "autograd/weak_tensor.h"

namespace hb::distributed {

namespace {

struct Entry {
  WeakTensor tensor;
  intrusive_ptr<ProcessGroup> group;
};
std::mutex mutex;
std::unordered_map<TensorImpl*, Entry>& entries() {
  static auto& all = *new std::unordered_map<TensorImpl*, Entry>;  // threads may ask while the process ends
  return all;
}
std::atomic<bool> any{false};

}  // namespace

void share_parameters(const std::vector<Tensor>& parameters, const intrusive_ptr<ProcessGroup>& group) {
  if (group->getSize() == 1) return;
  const std::lock_guard<std::mutex> lock(mutex);
  auto& all = entries();
  for (auto it = all.begin(); it != all.end();) it = it->second.tensor.is_gone() ? all.erase(it) : std::next(it);
  for (const Tensor& p : parameters) all[p.unsafeGetTensorImpl()] = {WeakTensor(p), group};
  any = true;
}

intrusive_ptr<ProcessGroup> group_of(const bridge::optim::Optimizer& optimizer) {
  if (!any.load(std::memory_order_relaxed)) return {};
  const std::lock_guard<std::mutex> lock(mutex);
  for (const auto& group : optimizer.param_groups())
    for (const Tensor& p : group.params()) {
      const auto found = entries().find(p.unsafeGetTensorImpl());
      if (found != entries().end() && !found->second.tensor.is_gone()) return found->second.group;
    }
  return {};
}

void share_overflow(const bridge::optim::Optimizer& optimizer, const Tensor& flag) {
  if (const auto group = group_of(optimizer)) all_reduce(*group, flag, ReduceOp::MAX);
}

}  // namespace hb::distributed
