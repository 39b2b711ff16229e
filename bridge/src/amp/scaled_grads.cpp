#include "scaled_grads.h"

#include <algorithm>
#include <mutex>

#include "scaler_state.h"

namespace hb::amp {

namespace {
// The scalers that have scaled a loss and were not updated since.
std::mutex mutex;
std::vector<const GradScaler::State*>& pending_scalers() {
  static std::vector<const GradScaler::State*> scalers;
  return scalers;
}
std::atomic<bool> any_pending{false}, warned{false};
}  // namespace

void GradScaler::State::set_pending(bool now) {
  if (now == pending) return;
  pending = now;
  std::lock_guard<std::mutex> lock(mutex);
  auto& all = pending_scalers();
  if (now)
    all.push_back(this);
  else
    all.erase(std::remove(all.begin(), all.end(), this), all.end());
  any_pending = !all.empty();
}

bool GradScaler::State::unscaled(const Tensor& tensor) const {
  for (const auto& [optimizer, state] : optimizers)
    for (const TensorImpl* grad : state.unscaled)
      if (grad == &tensor.impl()) return true;
  return false;
}

void warn_if_scaled(TensorList tensors, const char* function) {
  if (!any_pending.load(std::memory_order_relaxed) || warned.load(std::memory_order_relaxed)) return;
  for (const Tensor& t : tensors) {
    if (!t.defined()) continue;
    const Tensor& grad = t.grad().defined() ? t.grad() : t;
    if (!t.grad().defined() && t.requires_grad()) continue;
    std::lock_guard<std::mutex> lock(mutex);
    for (const auto* scaler : pending_scalers())
      if (scaler->unscaled(grad)) return;
    if (warned.exchange(true)) return;
    detail::warn(detail::str(
        function,
        " works on gradients that a GradScaler has not unscaled: they are larger by the factor of its scale. Call "
        "scaler.unscale_(optimizer) after backward() and before clipping. (This warning is given once.)"));
    return;
  }
}

void reset_scaled_warning() { warned = false; }

}  // namespace hb::amp
